//! Images: filters over windows, histograms, sizes, colours. An image is a plane in the last two
//! dimensions, what stands before them are more planes; pixels are u8 or f32.

pub mod file;
pub mod padding;

use wick_core::kernels::elementwise::Scalar;
use wick_core::kernels::image::color::{Lookup, Mix, Mixing};
use wick_core::kernels::image::histogram::{Bins, Count, VALUES, equalize};
use wick_core::kernels::image::{Stencil, StencilOp};
use wick_core::kernels::reduce::ReduceOp;
use wick_core::ops::UnaryOp;
use wick_core::{BorderMode, DType, Kernel, Layout, LayoutError, Rect, Sides, Window};

use crate::context::Context;
use crate::error::{Error, Result};
use crate::ops::array::contiguous;
use crate::ops::backward::made;
use crate::ops::creation::{check_value, fill_values, full};
use crate::ops::elementwise::{Out, cast, unary};
use crate::ops::pool::adaptive_avg_pool;
use crate::ops::promote::{Overlap, check_writable, overlap};
use crate::ops::reduce::{Over, reduce};
use crate::ops::resample::{Interpolation, interpolate};
use crate::ops::window::check_part;
use crate::tensor::Tensor;

/// What a filter finds at the edges of planes.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub struct Edges {
    pub mode: BorderMode,
    /// The pixels of each plane that are valid; none: all of them. It may reach beyond the plane
    /// where the mode is undefined and there is memory around it.
    pub region: Option<Rect>,
}

/// Height and width of an image's planes.
fn plane(op: &'static str, x: &Tensor) -> Result<(i64, i64)> {
    let n = x.rank();
    if n < 2 {
        return Err(Error::shape(op, &[x], "expected an image [height, width] or planes of them"));
    }
    Ok((x.shape()[n - 2], x.shape()[n - 1]))
}

fn check_pixels(op: &'static str, x: &Tensor) -> Result<()> {
    if x.dtype() != DType::U8 && x.dtype() != DType::F32 {
        return Err(Error::dtype(op, &[x], "pixels are u8 or f32: cast first"));
    }
    Ok(())
}

/// The same first element with room around each plane; an error where the storage has none.
pub(crate) fn around(op: &'static str, x: &Tensor, region: &Rect) -> Result<Tensor> {
    let (mut shape, strides) = (x.shape().to_vec(), x.layout().strides());
    let n = shape.len();
    let missing = || Error::shape(op, &[x], format!("there is no memory around it for {region:?}"));
    let far = |at: i64, stride: i64| at.checked_mul(stride).ok_or_else(missing);
    let offset = far(region.top, strides[n - 2])?
        .checked_add(far(region.left, strides[n - 1])?)
        .and_then(|by| x.layout().offset().checked_add(by))
        .filter(|offset| *offset >= 0)
        .ok_or_else(missing)?;
    shape[n - 2] = region.bottom.checked_sub(region.top).ok_or_else(missing)?;
    shape[n - 1] = region.right.checked_sub(region.left).ok_or_else(missing)?;
    x.with_layout(op, Layout::strided(&shape, strides, offset)).map_err(|_| missing())
}

/// A filter configured on an image and the targets of its results.
pub fn stencil(
    ctx: &Context,
    op: StencilOp,
    x: &Tensor,
    outs: &[&Tensor],
    edges: Edges,
) -> Result<Stencil> {
    let name = op.name();
    check_pixels(name, x)?;
    let (height, width) = plane(name, x)?;
    let image = Rect::of(height, width);
    if let BorderMode::Constant(v) = edges.mode {
        check_value(name, x.dtype(), x.shape(), Scalar::Float(v))?;
    }
    if outs.len() != op.results() {
        let text = format!("expected {} targets, got {}", op.results(), outs.len());
        return Err(Error::shape(name, &[x], text));
    }
    for (i, out) in outs.iter().enumerate() {
        let wanted = op.result(x.dtype());
        if out.shape() != x.shape() {
            return Err(Error::shape(name, &[x, out], "the result has the image's shape"));
        }
        if out.dtype() != wanted {
            return Err(Error::dtype(name, &[x, out], format!("the result has type {wanted}")));
        }
        check_writable(name, out, &[x])?;
        let read = overlap(out, x) != Overlap::None;
        if read || outs[..i].iter().any(|o| overlap(out, o) != Overlap::None) {
            let text = "the target overlaps the image or another target: clone it first";
            return Err(Error::shape(name, &[x, out], text));
        }
    }
    let region = edges.region.unwrap_or(image);
    let undefined = edges.mode == BorderMode::Undefined;
    let window = if region.is_empty() {
        Rect::of(0, 0)
    } else if undefined {
        if !image.contains(&region) {
            around(name, x, &region)?;
        }
        region.shrink(&Sides::all(op.radius())).intersect(&image)
    } else if image.contains(&region) {
        region
    } else {
        let text = format!("the valid {region:?} reaches beyond the image");
        return Err(Error::shape(name, &[x], text));
    };
    let window = if window.is_empty() { Rect::of(0, 0) } else { window };
    let to = [outs[0].view_mut(), outs[outs.len() - 1].view_mut()];
    Ok(Stencil { op, arch: ctx.arch(), from: x.view(), to, mode: edges.mode, region, window })
}

/// A filter on a whole image. What is not computed, for want of valid neighbours, is 0.
pub fn filter(ctx: &Context, op: StencilOp, x: &Tensor, edges: Edges) -> Result<Vec<Tensor>> {
    check_pixels(op.name(), x)?;
    let (height, width) = plane(op.name(), x)?;
    let apart = x.layout().strides()[x.rank() - 1] != 1;
    let alone = edges.region.is_none_or(|r| Rect::of(height, width).contains(&r));
    // Rows whose pixels lie apart, as in a transposed image, would be gathered once for each row of
    // the filter; a copy goes by tiles.
    let x = &if apart && alone { contiguous(ctx, x)? } else { x.clone() };
    let make = || Tensor::empty(ctx, op.name(), op.result(x.dtype()), x.shape());
    let outs = (0..op.results()).map(|_| make()).collect::<Result<Vec<_>>>()?;
    let kernel = stencil(ctx, op, x, &outs.iter().collect::<Vec<_>>(), edges)?;
    for out in &outs {
        clear_outside(ctx, out, &kernel.window)?;
    }
    ctx.run(&kernel);
    Ok(outs)
}

/// A filter into targets: over its whole window, or over a part of it on the caller alone. Nothing
/// else of the targets is written.
pub fn filter_into(
    ctx: &Context,
    op: StencilOp,
    x: &Tensor,
    outs: &[&Tensor],
    edges: Edges,
    part: Option<&Window>,
) -> Result<()> {
    let kernel = stencil(ctx, op, x, outs, edges)?;
    match part {
        None => ctx.run_window(&kernel, &kernel.window()),
        Some(part) => {
            check_part(op.name(), &[x], &kernel.window(), part)?;
            if part.iterations() > 0 {
                ctx.run_part(&kernel, part);
            }
        }
    }
    Ok(())
}

/// Zeros around a part of each plane.
fn clear_outside(ctx: &Context, out: &Tensor, inside: &Rect) -> Result<()> {
    let (height, width) = plane("zeros", out)?;
    let (row, column) = (out.rank() as i64 - 2, out.rank() as i64 - 1);
    let pieces = [
        (row, 0, inside.top),
        (row, inside.bottom, height - inside.bottom),
        (column, 0, inside.left),
        (column, inside.right, width - inside.right),
    ];
    for (dim, start, length) in pieces.into_iter().filter(|p| p.2 > 0) {
        let piece = out.with_layout("zeros", out.layout().narrow(dim, start, length))?;
        fill_values(ctx, &piece, Scalar::Int(0));
    }
    Ok(())
}

/// Pixels of each part of a plane that is counted on its own.
const COUNTED: i64 = 1 << 16;

/// How many pixels of each plane fall into each of `bins` equal parts of `[from, from + range)`:
/// i64 `[…, bins]`.
pub fn histogram(ctx: &Context, x: &Tensor, bins: i64, from: f64, range: f64) -> Result<Tensor> {
    let op = "histogram";
    check_pixels(op, x)?;
    let (height, width) = plane(op, x)?;
    if !(1..=1 << 20).contains(&bins) {
        return Err(Error::shape(op, &[x], format!("{bins} bins: expected 1 to {}", 1 << 20)));
    }
    if !(from.is_finite() && range.is_finite() && range > 0.0) {
        let text = format!("a range of {range} from {from}: expected a positive one");
        return Err(Error::shape(op, &[x], text));
    }
    let outer = &x.shape()[..x.rank() - 2];
    let planes: i64 = outer.iter().product();
    let parts = (height * width / COUNTED).clamp(1, height.clamp(1, 64));
    let counts = full(ctx, DType::I64, &[planes, parts, bins], Scalar::Int(0))?;
    let kernel = Count {
        from: x.view(),
        bins: Bins { bins: bins as usize, from, range },
        parts,
        counts: counts.view_mut().start().cast(),
    };
    ctx.run(&kernel);
    let over = Over { dims: Some(&[1]), keep_dim: false };
    let sums = made(reduce(ctx, ReduceOp::Sum, &counts, over, None, 0.0, Out::New))?;
    let layout = Layout::contiguous(&[outer, &[bins]].concat());
    sums.with_layout(op, layout)
}

/// Each u8 plane with its values spread over all of 0 to 255; see [`equalize`].
pub fn equalize_hist(ctx: &Context, x: &Tensor) -> Result<Tensor> {
    let op = "equalize_hist";
    if x.dtype() != DType::U8 {
        return Err(Error::dtype(op, &[x], "defined for u8 pixels"));
    }
    plane(op, x)?;
    let counts = histogram(ctx, x, VALUES as i64, 0.0, VALUES as f64)?;
    let planes = counts.numel() as usize / VALUES;
    let tables = Tensor::empty(ctx, op, DType::U8, &[planes as i64, VALUES as i64])?;
    let to = tables.view_mut().start().cast::<[u8; VALUES]>();
    // SAFETY: dense tensors of so many tables, the second one ours alone.
    let tables = unsafe {
        let counts = counts.view().start().cast::<[i64; VALUES]>();
        for i in 0..planes {
            to.add(i).write(equalize(&*counts.add(i)));
        }
        std::slice::from_raw_parts(to, planes)
    };
    let out = Tensor::empty(ctx, op, DType::U8, x.shape())?;
    ctx.run(&Lookup { from: x.view(), to: out.view_mut(), tables });
    Ok(out)
}

wick_core::named_ops! {
    /// How the pixels of another size come about.
    Resize {
        /// The nearest, as `upsample_nearest`.
        Nearest "nearest",
        /// Between four, as `upsample_linear`.
        Bilinear "bilinear",
        /// The mean of those that a pixel covers, as `adaptive_avg_pool`.
        Area "area",
    }
}

/// Each plane in another size. u8 pixels are computed in f32 and rounded to the nearest, halves to
/// even.
pub fn resize(ctx: &Context, mode: Resize, x: &Tensor, size: [i64; 2]) -> Result<Tensor> {
    let op = "resize";
    check_pixels(op, x)?;
    let (height, width) = plane(op, x)?;
    if size[0] < 1 || size[1] < 1 || height < 1 || width < 1 {
        let text = format!("a size of {size:?}: both sizes must be positive");
        return Err(Error::shape(op, &[x], text));
    }
    let outer = &x.shape()[..x.rank() - 2];
    let planes = Layout::contiguous(&[outer.iter().product(), 1, height, width]);
    let dense = contiguous(ctx, x)?;
    let from = dense.with_layout(op, planes.and_then(|l| at(l, &dense)))?;
    let from = if x.dtype() == DType::U8 { cast(ctx, &from, DType::F32)? } else { from };
    let resized = match mode {
        Resize::Nearest => interpolate(ctx, Interpolation::Nearest, &from, &size, false, &[])?,
        Resize::Bilinear => interpolate(ctx, Interpolation::Linear, &from, &size, false, &[])?,
        Resize::Area => adaptive_avg_pool(ctx, op, &from, &size)?,
    };
    if x.dtype() == DType::U8 && mode != Resize::Nearest {
        unary(ctx, UnaryOp::Round, &resized, [0.0; 3], Out::InPlace)?;
    }
    let shape = Layout::contiguous(&[outer, &size].concat());
    let out = resized.with_layout(op, shape.and_then(|l| at(l, &resized)))?;
    if x.dtype() == DType::U8 { cast(ctx, &out, DType::U8) } else { Ok(out) }
}

/// A dense layout where a tensor begins.
fn at(layout: Layout, t: &Tensor) -> std::result::Result<Layout, LayoutError> {
    Layout::strided(layout.shape(), layout.strides(), t.layout().offset())
}

wick_core::named_ops! {
    /// From one set of colours to another.
    Color {
        /// Luma alone: one plane.
        Gray "rgb_to_gray",
        /// Luma and chroma, whose zero is 128 in u8 and 0 in f32.
        Yuv "rgb_to_yuv",
        /// Back.
        Rgb "yuv_to_rgb",
    }
}

/// Weights of red and blue in luma: ITU-R BT.709 and BT.601.
pub const BT709: [f64; 2] = [0.2126, 0.0722];
/// See [`BT709`].
pub const BT601: [f64; 2] = [0.299, 0.114];

/// Images `[…, 3, height, width]` in other colours.
pub fn color(ctx: &Context, color: Color, x: &Tensor, [red, blue]: [f64; 2]) -> Result<Tensor> {
    let op = color.name();
    check_pixels(op, x)?;
    plane(op, x)?;
    let n = x.rank();
    if n < 3 || x.shape()[n - 3] != 3 {
        return Err(Error::shape(op, &[x], "expected colours in [3, height, width]"));
    }
    let green = 1.0 - red - blue;
    let luma = [red, green, blue];
    // Chroma is the distance of blue and red from luma, brought to a range of 1.
    let (far_blue, far_red) = (2.0 * (1.0 - blue), 2.0 * (1.0 - red));
    let chroma = |k: usize, range: f64| {
        std::array::from_fn(|c| (f64::from(u8::from(c == k)) - luma[c]) / range)
    };
    let (none, middle) = ([0.0; 3], [0.0, 128.0, 128.0]);
    let (results, mixing) = match color {
        Color::Gray => (1, Mixing { weights: [luma; 3], offset: none, before: none }),
        Color::Yuv => {
            let weights = [luma, chroma(2, far_blue), chroma(0, far_red)];
            (3, Mixing { weights, offset: middle, before: none })
        }
        Color::Rgb => {
            let middle_row = [1.0, -far_blue * blue / green, -far_red * red / green];
            let weights = [[1.0, 0.0, far_red], middle_row, [1.0, far_blue, 0.0]];
            (3, Mixing { weights, offset: none, before: middle })
        }
    };
    let mut shape = x.shape().to_vec();
    shape[n - 3] = results;
    let out = Tensor::empty(ctx, op, x.dtype(), &shape)?;
    ctx.run(&Mix { arch: ctx.arch(), mixing, from: x.view(), to: out.view_mut() });
    Ok(out)
}
