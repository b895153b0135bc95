//! Tensors from files: raw elements, little-endian, and the formats that say what they hold.
//!
//! Files are read, not mapped: whoever shortens or rewrites one afterwards changes nothing here. No
//! mapping is safe from that. The first access beyond the new end kills the process by a signal, in a
//! private mapping too, where only pages that were written are one's own; locks on files bind nobody;
//! and to take the signal is to take the JVM's handler.

pub mod npy;
pub mod safetensors;

use std::fs::File;
use std::io;
use std::path::Path;

use wick_core::{DType, Layout};

use crate::context::Context;
use crate::error::{Error, Kind, Result};
use crate::tensor::Tensor;

/// Where a read may start: a page, as a mapping needs it.
const PAGE: i64 = 4096;

/// Where a tensor may start within what was read: aligned for every element.
const ALIGN: i64 = 8;

/// Rough nanoseconds to read a byte that the system has at hand.
const COST: f64 = 0.2;

/// Bytes of one read.
const CHUNK: usize = 1 << 20;

/// One of the tensors in a file: where its bytes begin, counted from the start of the range that is
/// read, and how many there are.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub struct Part {
    pub dtype: DType,
    pub offset: i64,
    pub bytes: i64,
}

/// One-dimensional tensors from bytes `[offset, offset + length)` of a file, all in one storage.
pub fn tensors_from_file(
    ctx: &Context,
    op: &'static str,
    path: &str,
    offset: i64,
    length: i64,
    parts: &[Part],
) -> Result<Vec<Tensor>> {
    let fail = |text: String| failure(op, path, text);
    if offset < 0 || offset % PAGE != 0 {
        return Err(fail(format!("offset {offset} is no multiple of {PAGE}")));
    }
    let end = offset.checked_add(length).filter(|_| length >= 0);
    let end = end.ok_or_else(|| fail(format!("{length} bytes from {offset}: no such range")))?;
    for (i, part) in parts.iter().enumerate() {
        let Part { dtype, offset, bytes } = *part;
        let size = dtype.size() as i64;
        let inside = offset.checked_add(bytes).is_some_and(|end| end <= length);
        if offset < 0 || bytes < 0 || !inside {
            let text = format!("tensor {i} has bytes {bytes} from {offset}, the range {length}");
            return Err(fail(text));
        }
        if offset % ALIGN != 0 || bytes % size != 0 {
            let text = format!(
                "tensor {i}: {bytes} bytes from {offset}: expected whole elements of {dtype} from a \
                 multiple of {ALIGN}"
            );
            return Err(fail(text));
        }
    }
    let source = Source::open(op, path)?;
    if end as u64 > source.size {
        return Err(fail(format!("bytes {offset} to {end} of a file of {}", source.size)));
    }
    let all = Tensor::empty(ctx, op, DType::U8, &[length])?;
    source.read(ctx, offset as u64, &all)?;
    parts
        .iter()
        .map(|part| {
            let size = part.dtype.size() as i64;
            let layout = Layout::strided(&[part.bytes / size], &[1], part.offset / size);
            all.seen_as(op, part.dtype, layout)
        })
        .collect()
}

fn failure(op: &'static str, path: &str, text: impl std::fmt::Display) -> Error {
    Kind::Format { op, path: path.into(), expected: text.to_string().into() }.into()
}

/// An open file.
struct Source<'a> {
    op: &'static str,
    path: &'a str,
    file: File,
    size: u64,
}

impl<'a> Source<'a> {
    fn open(op: &'static str, path: &'a str) -> Result<Source<'a>> {
        let io = |e: io::Error| failure(op, path, e);
        let file = File::open(Path::new(path)).map_err(io)?;
        let size = file.metadata().map_err(io)?.len();
        Ok(Source { op, path, file, size })
    }

    fn fail(&self, text: impl std::fmt::Display) -> Error {
        failure(self.op, self.path, text)
    }

    fn broken(&self, e: io::Error) -> Error {
        match e.kind() {
            io::ErrorKind::UnexpectedEof => self.fail("the file was shortened while it was read"),
            _ => self.fail(e),
        }
    }

    /// The bytes from a place on.
    fn bytes(&self, to: &mut [u8], at: u64) -> Result<()> {
        read_at(&self.file, to, at).map_err(|e| self.broken(e))
    }

    /// Fills the memory of a new dense tensor from a place in the file.
    fn read(&self, ctx: &Context, from: u64, to: &Tensor) -> Result<()> {
        let first = to.place_mut().start as usize;
        ctx.try_ranges(to.numel() * to.dtype().size() as i64, COST, &|start, end| {
            let (mut at, end) = (start as usize, end as usize);
            while at < end {
                let n = CHUNK.min(end - at);
                // SAFETY: bytes of the new tensor, which no other part touches.
                let bytes = unsafe { std::slice::from_raw_parts_mut((first + at) as *mut u8, n) };
                self.bytes(bytes, from + at as u64)?;
                at += n;
            }
            Ok(())
        })
    }
}

#[cfg(unix)]
fn read_at(file: &File, to: &mut [u8], at: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, to, at)
}

#[cfg(windows)]
fn read_at(file: &File, mut to: &mut [u8], mut at: u64) -> io::Result<()> {
    while !to.is_empty() {
        match std::os::windows::fs::FileExt::seek_read(file, to, at)? {
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            n => (to, at) = (&mut to[n..], at + n as u64),
        }
    }
    Ok(())
}
