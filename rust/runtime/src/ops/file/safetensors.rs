//! Files of named tensors, by the `safetensors` crate.

use safetensors::{Dtype, SafeTensors};
use wick_core::{DType, Layout};

use super::Source;
use crate::context::Context;
use crate::error::Result;
use crate::ops::elementwise::cast;
use crate::tensor::Tensor;

const OP: &str = "from_safetensors";
/// Longer headers than this are refused, as by everybody.
const LONGEST: u64 = 100_000_000;

/// What a file holds, tensors in the order of their bytes.
#[derive(Debug)]
#[allow(missing_docs)]
pub struct Contents {
    pub tensors: Vec<(String, Tensor)>,
    pub metadata: Vec<(String, String)>,
}

/// The tensors of a file, in one storage but for those that are not aligned there.
pub fn safetensors(ctx: &Context, path: &str) -> Result<Contents> {
    let source = Source::open(OP, path)?;
    let mut first = [0; 8];
    if source.size < 8 {
        return Err(source.fail(format!("a file of {} bytes has no header", source.size)));
    }
    source.bytes(&mut first, 0)?;
    let length = u64::from_le_bytes(first);
    if length > LONGEST || length > source.size - 8 {
        let text = format!("a header of {length} bytes in a file of {}", source.size);
        return Err(source.fail(text));
    }
    let size = i64::try_from(source.size).map_err(|e| source.fail(e))?;
    let all = Tensor::empty(ctx, OP, DType::U8, &[size])?;
    source.read(ctx, 0, &all)?;
    // SAFETY: the new tensor's bytes, all of which were read.
    let bytes =
        unsafe { std::slice::from_raw_parts(all.place().start as *const u8, size as usize) };
    let (_, header) = SafeTensors::read_metadata(bytes).map_err(|e| source.fail(e))?;
    let mut tensors = Vec::new();
    for name in header.offset_keys() {
        let info = header.info(&name).ok_or_else(|| source.fail(format!("no tensor {name:?}")))?;
        let dtype = element(info.dtype).ok_or_else(|| {
            source.fail(format!("{name:?} has elements of {:?}, which no tensor has", info.dtype))
        })?;
        let shape: Vec<i64> = info.shape.iter().map(|n| *n as i64).collect();
        let layout = Layout::contiguous(&shape)
            .map_err(|e| source.fail(format!("{name:?} of shape {shape:?}: {e:?}")))?;
        let from = (8 + length) as usize + info.data_offsets.0;
        let size = dtype.size();
        let tensor = if dtype == DType::Bool {
            // Truth values are stored as any bytes.
            cast(ctx, &seen(&all, DType::U8, &layout, from)?, dtype)?
        } else if from.is_multiple_of(size) {
            seen(&all, dtype, &layout, from / size)?
        } else {
            let own = Tensor::empty(ctx, OP, dtype, &shape)?;
            let bytes = &bytes[from..from + layout.numel() as usize * size];
            // SAFETY: as many bytes of a new tensor.
            unsafe {
                let to = own.place_mut().start.cast::<u8>();
                std::ptr::copy_nonoverlapping(bytes.as_ptr(), to, bytes.len());
            }
            own
        };
        tensors.push((name, tensor));
    }
    let mut metadata: Vec<_> =
        header.metadata().iter().flatten().map(|(k, v)| (k.clone(), v.clone())).collect();
    metadata.sort();
    Ok(Contents { tensors, metadata })
}

/// Elements from a place in a tensor of bytes on.
fn seen(all: &Tensor, dtype: DType, layout: &Layout, at: usize) -> Result<Tensor> {
    all.seen_as(OP, dtype, Layout::strided(layout.shape(), layout.strides(), at as i64))
}

fn element(dtype: Dtype) -> Option<DType> {
    Some(match dtype {
        Dtype::BOOL => DType::Bool,
        Dtype::U8 => DType::U8,
        Dtype::I8 => DType::I8,
        Dtype::I16 => DType::I16,
        Dtype::I32 => DType::I32,
        Dtype::I64 => DType::I64,
        Dtype::F16 => DType::F16,
        Dtype::BF16 => DType::BF16,
        Dtype::F32 => DType::F32,
        Dtype::F64 => DType::F64,
        _ => return None,
    })
}
