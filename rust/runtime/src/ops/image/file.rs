//! Pictures in files: PNG by the `png` crate, and the Netpbm formats PGM and PPM. Sizes are checked
//! against the file's length before memory for the pixels is taken.

use std::fs::File;
use std::io::{BufRead, BufReader, BufWriter, Read, Write};
use std::path::Path;

use png::{BitDepth, ColorType, Decoder, DecodingError, Encoder, EncodingError, Transformations};
use wick_core::{DType, Layout};

use crate::context::Context;
use crate::error::{Error, Kind, Result};
use crate::ops::array::contiguous;
use crate::tensor::Tensor;

/// More bytes than deflate makes of one.
const DEFLATE: u64 = 1032;

/// Bytes that a PNG file may have pixels of less than they say.
const SLACK: u64 = 1024;

/// Digits and spaces of a Netpbm header's numbers.
const DIGITS: usize = 10;

fn fail(op: &'static str, path: &str, text: impl std::fmt::Display) -> Error {
    Kind::Format { op, path: path.into(), expected: text.to_string().into() }.into()
}

/// A picture as u8 `[channels, height, width]`: 1 channel of grey, 2 with opacity, 3 of red, green
/// and blue, 4 with opacity. Palettes are resolved, 16 bits cut to the upper 8.
pub fn read(ctx: &Context, path: &str) -> Result<Tensor> {
    let op = "read image";
    let io = |e: std::io::Error| fail(op, path, e);
    let file = File::open(Path::new(path)).map_err(io)?;
    let length = file.metadata().map_err(io)?.len();
    let mut from = BufReader::new(file);
    let pixels = match from.fill_buf().map_err(io)? {
        [0x89, b'P', b'N', b'G', ..] => read_png(ctx, op, path, from, length)?,
        [b'P', b'2' | b'3' | b'5' | b'6', ..] => read_netpbm(ctx, op, path, from, length)?,
        _ => return Err(fail(op, path, "neither a PNG nor a PGM or PPM file")),
    };
    contiguous(ctx, &pixels.with_layout(op, pixels.layout().permute(&[2, 0, 1]))?)
}

/// New pixels `[height, width, channels]`, which `fill` writes.
fn pixels(
    ctx: &Context,
    op: &'static str,
    path: &str,
    [height, width, channels]: [u64; 3],
    fill: impl FnOnce(&mut [u8]) -> Result<()>,
) -> Result<Tensor> {
    if height == 0 || width == 0 {
        return Err(fail(op, path, format!("a picture of {width} by {height}")));
    }
    let shape = [height as i64, width as i64, channels as i64];
    let out = Tensor::empty(ctx, op, DType::U8, &shape)?;
    // SAFETY: a fresh dense tensor.
    fill(unsafe { std::slice::from_raw_parts_mut(out.view_mut().start(), out.numel() as usize) })?;
    Ok(out)
}

fn read_png(
    ctx: &Context,
    op: &'static str,
    path: &str,
    from: BufReader<File>,
    length: u64,
) -> Result<Tensor> {
    let bad = |e: DecodingError| fail(op, path, e);
    let mut decoder = Decoder::new(from);
    decoder.set_transformations(Transformations::normalize_to_color8());
    let mut reader = decoder.read_info().map_err(bad)?;
    let (width, height) = reader.info().size();
    let (width, height) = (u64::from(width), u64::from(height));
    let packed = reader.info().raw_row_length() as u64;
    let most = length.saturating_mul(DEFLATE).saturating_add(SLACK);
    if packed.checked_mul(height).is_none_or(|bytes| bytes > most) {
        let text = format!("{width} by {height} pixels in a file of {length} bytes");
        return Err(fail(op, path, text));
    }
    let channels = reader.output_color_type().0.samples() as u64;
    pixels(ctx, op, path, [height, width, channels], |bytes| {
        if reader.output_buffer_size() != Some(bytes.len()) {
            return Err(fail(op, path, "an unknown arrangement of pixels"));
        }
        reader.next_frame(bytes).map_err(bad)?;
        reader.finish().map_err(bad)
    })
}

/// The next number of a Netpbm file, behind spaces and comments; the one byte after it is taken.
fn number(from: &mut impl BufRead) -> std::result::Result<u64, String> {
    let mut comment = false;
    let mut value = None;
    let mut digits = 0;
    loop {
        let mut byte = [0];
        if from.read(&mut byte).map_err(|e| e.to_string())? == 0 {
            return value.ok_or("the file ends too early".into());
        }
        match byte[0] {
            b'\n' if comment => comment = false,
            _ if comment => {}
            b'#' if value.is_none() => comment = true,
            b if b.is_ascii_whitespace() => {
                if let Some(value) = value {
                    return Ok(value);
                }
            }
            b if b.is_ascii_digit() && digits < DIGITS => {
                digits += 1;
                value = Some(value.unwrap_or(0) * 10 + u64::from(b - b'0'));
            }
            b => return Err(format!("byte {b} where a number should be")),
        }
    }
}

fn read_netpbm(
    ctx: &Context,
    op: &'static str,
    path: &str,
    mut from: BufReader<File>,
    length: u64,
) -> Result<Tensor> {
    let bad = |text: String| fail(op, path, text);
    let mut magic = [0; 2];
    from.read_exact(&mut magic).map_err(|e| fail(op, path, e))?;
    let channels = if matches!(magic[1], b'3' | b'6') { 3 } else { 1 };
    let plain = matches!(magic[1], b'2' | b'3');
    let mut sizes = [0; 3];
    for size in &mut sizes {
        *size = number(&mut from).map_err(bad)?;
    }
    let [width, height, most] = sizes;
    if !(1..=65535).contains(&most) {
        return Err(bad(format!("a greatest value of {most}: expected 1 to 65535")));
    }
    // Of plain numbers, a digit and a space each.
    let bytes = if plain || most > 255 { 2 } else { 1 };
    let wanted = width.checked_mul(height).and_then(|n| n.checked_mul(channels * bytes));
    if wanted.is_none_or(|n| n > length + 1) {
        let text = format!("{width} by {height} pixels in a file of {length} bytes");
        return Err(bad(text));
    }
    pixels(ctx, op, path, [height, width, channels], |to| {
        if most == 255 && !plain {
            return from.read_exact(to).map_err(|e| fail(op, path, e));
        }
        for to in to {
            let value = if plain {
                number(&mut from).map_err(bad)?
            } else {
                let mut value = [0; 2];
                let piece = &mut value[if most > 255 { 0 } else { 1 }..];
                from.read_exact(piece).map_err(|e| fail(op, path, e))?;
                u16::from_be_bytes(value).into()
            };
            if value > most {
                return Err(bad(format!("a value of {value}, the greatest is {most}")));
            }
            *to = ((value * 255 + most / 2) / most) as u8;
        }
        Ok(())
    })
}

/// Writes u8 `[height, width]` or `[channels, height, width]`; the path's ending says how.
pub fn write(ctx: &Context, path: &str, x: &Tensor) -> Result<()> {
    let op = "write image";
    let io = |e: std::io::Error| fail(op, path, e);
    if x.dtype() != DType::U8 {
        return Err(Error::dtype(op, &[x], "pixels of files are u8: cast first"));
    }
    let (channels, layout) = match x.shape() {
        [_, _] => (1, x.layout().permute(&[0, 1])),
        [c, _, _] => (*c, x.layout().permute(&[1, 2, 0])),
        _ => (0, Ok(Layout::scalar())),
    };
    let sizes = &x.shape()[x.rank().saturating_sub(2)..];
    let fits = |n: &i64| (1..=i64::from(i32::MAX)).contains(n);
    if !(1..=4).contains(&channels) || !sizes.iter().all(fits) {
        let text = "expected pixels [height, width] or [1 to 4 channels, height, width]";
        return Err(Error::shape(op, &[x], text));
    }
    let ending = Path::new(path).extension().and_then(|e| e.to_str()).unwrap_or("");
    let ending = ending.to_ascii_lowercase();
    let netpbm = match (ending.as_str(), channels) {
        ("png", _) => None,
        ("pgm" | "pnm", 1) => Some(5),
        ("ppm" | "pnm", 3) => Some(6),
        ("pgm" | "ppm" | "pnm", _) => {
            let text = "PGM holds one channel, PPM three";
            return Err(Error::shape(op, &[x], text));
        }
        _ => return Err(fail(op, path, "the ending must be png, pgm, ppm or pnm")),
    };
    let pixels = contiguous(ctx, &x.with_layout(op, layout)?)?;
    // SAFETY: a dense tensor that is kept while it is written.
    let bytes =
        unsafe { std::slice::from_raw_parts(pixels.view().start(), pixels.numel() as usize) };
    let mut to = BufWriter::new(File::create(Path::new(path)).map_err(io)?);
    if let Some(kind) = netpbm {
        write!(to, "P{kind}\n{} {}\n255\n", sizes[1], sizes[0]).map_err(io)?;
        to.write_all(bytes).and_then(|()| to.flush()).map_err(io)
    } else {
        let bad = |e: EncodingError| fail(op, path, e);
        let mut encoder = Encoder::new(to, sizes[1] as u32, sizes[0] as u32);
        encoder.set_depth(BitDepth::Eight);
        encoder.set_color(match channels {
            1 => ColorType::Grayscale,
            2 => ColorType::GrayscaleAlpha,
            3 => ColorType::Rgb,
            _ => ColorType::Rgba,
        });
        let mut writer = encoder.write_header().map_err(bad)?;
        writer.write_image_data(bytes).map_err(bad)?;
        writer.finish().map_err(bad)
    }
}
