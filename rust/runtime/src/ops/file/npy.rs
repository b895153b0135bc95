//! NumPy's `.npy` files.

use wick_core::{DType, Layout};

use super::{Source, failure};
use crate::context::Context;
use crate::error::Result;
use crate::ops::elementwise::cast;
use crate::tensor::Tensor;

const OP: &str = "from_npy";
const MAGIC: &[u8] = b"\x93NUMPY";
/// Longer headers than this are refused; NumPy's own have 128 bytes.
const LONGEST: u32 = 1 << 16;

/// The array of a file. Column-major ones become views whose strides say so.
pub fn npy(ctx: &Context, path: &str) -> Result<Tensor> {
    let source = Source::open(OP, path)?;
    let mut start = [0; 12];
    let known = source.size.min(12) as usize;
    source.bytes(&mut start[..known], 0)?;
    if known < 10 || &start[..6] != MAGIC {
        return Err(source.fail("no .npy file"));
    }
    let [major, minor] = [start[6], start[7]];
    let (at, length) = match major {
        1 => (10, u16::from_le_bytes([start[8], start[9]]) as u32),
        2 | 3 if known == 12 => {
            (12, u32::from_le_bytes([start[8], start[9], start[10], start[11]]))
        }
        _ => return Err(source.fail(format!(".npy version {major}.{minor}"))),
    };
    let from = at + length as u64;
    if length > LONGEST || from > source.size {
        let text = format!("a header of {length} bytes in a file of {}", source.size);
        return Err(source.fail(text));
    }
    let mut header = vec![0; length as usize];
    source.bytes(&mut header, at)?;
    let text = String::from_utf8_lossy(&header);
    let Header { dtype, columns, shape } = parse(&text).map_err(|e| failure(OP, path, e))?;
    // In memory the other way round.
    let mut stored = shape;
    if columns {
        stored.reverse();
    }
    let layout = Layout::contiguous(&stored)
        .map_err(|e| failure(OP, path, format!("shape {stored:?}: {e:?}")))?;
    let bytes = layout.numel().checked_mul(dtype.size() as i64);
    if bytes.is_none_or(|n| n as u64 > source.size - from) {
        let text = format!(
            "shape {stored:?} of {dtype} needs more than the {} bytes that are there",
            source.size - from
        );
        return Err(source.fail(text));
    }
    // Truth values are stored as any bytes.
    let read = if dtype == DType::Bool { DType::U8 } else { dtype };
    let array = Tensor::empty(ctx, OP, read, &stored)?;
    source.read(ctx, from, &array)?;
    let array = if read == dtype { array } else { cast(ctx, &array, dtype)? };
    if !columns {
        return Ok(array);
    }
    let order: Vec<i64> = (0..stored.len() as i64).rev().collect();
    array.with_layout(OP, array.layout().permute(&order))
}

struct Header {
    dtype: DType,
    columns: bool,
    shape: Vec<i64>,
}

/// A Python dictionary of the three keys.
fn parse(text: &str) -> std::result::Result<Header, String> {
    let mut rest = Rest(text);
    let (mut dtype, mut columns, mut shape) = (None, None, None);
    rest.expect('{')?;
    while !rest.next_is('}') {
        let key = rest.quoted()?;
        rest.expect(':')?;
        match key {
            "descr" => dtype = Some(element(rest.quoted()?)?),
            "fortran_order" => columns = Some(rest.truth()?),
            "shape" => shape = Some(rest.sizes()?),
            other => return Err(format!("the header has a key {other:?}")),
        }
        if !rest.next_is(',') {
            rest.expect('}')?;
            break;
        }
    }
    let missing = |key: &str| format!("the header has no {key}");
    Ok(Header {
        dtype: dtype.ok_or_else(|| missing("descr"))?,
        columns: columns.ok_or_else(|| missing("fortran_order"))?,
        shape: shape.ok_or_else(|| missing("shape"))?,
    })
}

/// The element type of a description such as `<f4`.
fn element(descr: &str) -> std::result::Result<DType, String> {
    let little = descr.strip_prefix(['<', '|', '=']);
    Ok(match little.unwrap_or(descr) {
        "f8" => DType::F64,
        "f4" => DType::F32,
        "f2" => DType::F16,
        "i8" => DType::I64,
        "i4" => DType::I32,
        "i2" => DType::I16,
        "i1" => DType::I8,
        "u1" => DType::U8,
        "b1" | "?" => DType::Bool,
        _ => return Err(format!("elements of type {descr:?}, which no tensor has")),
    })
}

/// What is left of a header.
struct Rest<'a>(&'a str);

impl<'a> Rest<'a> {
    fn next_is(&mut self, c: char) -> bool {
        self.0 = self.0.trim_start();
        self.0.strip_prefix(c).map(|rest| self.0 = rest).is_some()
    }

    fn expect(&mut self, c: char) -> std::result::Result<(), String> {
        if self.next_is(c) { Ok(()) } else { Err(self.unexpected(&format!("{c:?}"))) }
    }

    fn unexpected(&self, wanted: &str) -> String {
        let near: String = self.0.chars().take(20).collect();
        format!("the header has {near:?} where {wanted} was expected")
    }

    fn quoted(&mut self) -> std::result::Result<&'a str, String> {
        self.0 = self.0.trim_start();
        let whole = |quote| self.0.strip_prefix(quote)?.split_once(quote);
        let found = whole('\'').or_else(|| whole('"'));
        let (text, rest) = found.ok_or_else(|| self.unexpected("a string"))?;
        self.0 = rest;
        Ok(text)
    }

    fn truth(&mut self) -> std::result::Result<bool, String> {
        self.0 = self.0.trim_start();
        for (word, value) in [("True", true), ("False", false)] {
            if let Some(rest) = self.0.strip_prefix(word) {
                self.0 = rest;
                return Ok(value);
            }
        }
        Err(self.unexpected("True or False"))
    }

    fn sizes(&mut self) -> std::result::Result<Vec<i64>, String> {
        let mut sizes = Vec::new();
        self.expect('(')?;
        while !self.next_is(')') {
            self.0 = self.0.trim_start();
            let end = self.0.find(|c: char| !c.is_ascii_digit()).unwrap_or(self.0.len());
            let size = self.0[..end].parse().map_err(|_| self.unexpected("a size"))?;
            sizes.push(size);
            self.0 = &self.0[end..];
            if !self.next_is(',') {
                self.expect(')')?;
                break;
            }
        }
        Ok(sizes)
    }
}
