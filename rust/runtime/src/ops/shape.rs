//! Views, which share storage with what they are taken of, and `reshape`, which copies only where
//! no view will do. Operations that rearrange elements stand in [`super::rearrange`].

use wick_core::layout::{Layout, LayoutError, MAX_RANK, wrap_dim};
use wick_core::named_ops;

use crate::context::Context;
use crate::error::{Error, Result};
use crate::ops::array::contiguous;
use crate::ops::rearrange;
use crate::tensor::Tensor;

named_ops! {
    /// Operations on one tensor and a few numbers; the comments name the numbers.
    ShapeOp {
        /// dim, start, length
        Narrow "narrow",
        /// dim, start, end, step
        Slice "slice",
        /// dim, index
        Select "select",
        /// dim, dim
        Transpose "transpose",
        /// (none)
        T "t",
        /// from, to
        Movedim "movedim",
        /// n, n dimensions to move, n places for them
        MovedimList "movedim_list",
        /// the dimensions in their new order
        Permute "permute",
        /// sizes, -1 keeps one
        Expand "expand",
        /// sizes, one may be -1
        View "view",
        /// sizes, one may be -1
        Reshape "reshape",
        /// first and last dimension
        Flatten "flatten",
        /// dim, the sizes that it becomes, one may be -1
        Unflatten "unflatten",
        /// dim
        Squeeze "squeeze",
        /// dimensions
        SqueezeDims "squeeze_dims",
        /// (none)
        SqueezeAll "squeeze_all",
        /// dim
        Unsqueeze "unsqueeze",
        /// offset, dim, dim
        Diagonal "diagonal",
        /// dim, size, step
        Unfold "unfold",
        /// n, n sizes, n strides, offset in the storage
        AsStrided "as_strided",
        /// (none)
        Alias "alias",
        /// four numbers an index: see [`IndexKind`]
        Index "index",
        /// (none): itself where it lies in row-major order, else a copy
        Contiguous "contiguous",
        /// (none)
        Clone "clone",
        /// dimensions
        Flip "flip",
        /// the shift of the flattened tensor
        RollFlat "roll_flat",
        /// n shifts, n dimensions
        Roll "roll",
        /// how often along each dimension, new ones in front
        Repeat "repeat",
        /// diagonal
        Tril "tril",
        /// diagonal
        Triu "triu",
        /// diagonal; in place
        TrilInPlace "tril_",
        /// diagonal; in place
        TriuInPlace "triu_",
        /// diagonal
        Diag "diag",
        /// (none)
        Trace "trace",
    }
}

named_ops! {
    /// What one index of [`ShapeOp::Index`] does; its code comes first, then three numbers.
    IndexKind {
        /// index
        At "at",
        /// start, end, step
        Slice "slice",
        /// one whole dimension
        All "all",
        /// as many whole dimensions as the other indices leave
        Rest "rest",
        /// a new dimension of size 1
        New "new",
    }
}

/// Runs an operation; none: it wrote into `a`.
pub fn apply(ctx: &Context, op: ShapeOp, a: &Tensor, p: &[i64]) -> Result<Option<Tensor>> {
    let name = op.name();
    let layout = a.layout();
    let view = |l: std::result::Result<Layout, LayoutError>| a.with_layout(name, l).map(Some);
    // A caller that sends too few numbers is ours and wrong.
    let few = || Error::internal(format!("{name}: {} numbers do not do", p.len()).into());
    let need = |n: usize| if p.len() < n { Err(few()) } else { Ok(()) };
    need(numbers(op))?;
    match op {
        ShapeOp::Narrow => view(layout.narrow(p[0], p[1], p[2])),
        ShapeOp::Slice => view(layout.slice(p[0], p[1], p[2], p[3])),
        ShapeOp::Select => view(layout.select(p[0], p[1])),
        ShapeOp::Transpose => view(layout.transpose(p[0], p[1])),
        ShapeOp::T => match a.rank() {
            0 | 1 => view(Ok(*layout)),
            2 => view(layout.transpose(0, 1)),
            _ => Err(Error::shape(name, &[a], "expected at most 2 dimensions")),
        },
        ShapeOp::Movedim => view(layout.movedim(p[0], p[1])),
        ShapeOp::MovedimList => {
            let n = usize::try_from(p[0]).map_err(|_| few())?;
            need(1 + 2 * n)?;
            view(movedim_list(layout, &p[1..1 + n], &p[1 + n..1 + 2 * n]))
        }
        ShapeOp::Permute => view(layout.permute(p)),
        ShapeOp::Expand => view(layout.expand(p)),
        ShapeOp::View => view(layout.view(p)),
        ShapeOp::Reshape => reshape(ctx, name, a, p).map(Some),
        ShapeOp::Flatten => {
            let fail = |e| Error::layout(name, a, e);
            let (sizes, rank) = layout.flatten_sizes(p[0], p[1]).map_err(fail)?;
            reshape(ctx, name, a, &sizes[..rank]).map(Some)
        }
        ShapeOp::Unflatten => view(layout.unflatten(p[0], &p[1..])),
        ShapeOp::Squeeze => view(layout.squeeze(p[0])),
        ShapeOp::SqueezeDims => view(layout.squeeze_dims(p)),
        ShapeOp::SqueezeAll => view(Ok(layout.squeeze_all())),
        ShapeOp::Unsqueeze => view(layout.unsqueeze(p[0])),
        ShapeOp::Diagonal => view(layout.diagonal(p[0], p[1], p[2])),
        ShapeOp::Unfold => view(layout.unfold(p[0], p[1], p[2])),
        ShapeOp::AsStrided => {
            let n = usize::try_from(p[0]).map_err(|_| few())?;
            need(2 + 2 * n)?;
            let (sizes, strides) = (&p[1..1 + n], &p[1 + n..1 + 2 * n]);
            view(Layout::strided(sizes, strides, p[1 + 2 * n]))
        }
        ShapeOp::Alias => Ok(Some(a.clone())),
        ShapeOp::Index => view(index(a, p)?),
        ShapeOp::Contiguous => contiguous(ctx, a).map(Some),
        ShapeOp::Clone => {
            let copy = rearrange::clone(ctx, name, a)?;
            copy.storage().annotate(a.storage().annotation());
            Ok(Some(copy))
        }
        ShapeOp::Flip => rearrange::flip(ctx, a, p).map(Some),
        ShapeOp::RollFlat => rearrange::roll_flat(ctx, a, p[0]).map(Some),
        ShapeOp::Roll => rearrange::roll(ctx, a, &p[..p.len() / 2], &p[p.len() / 2..]).map(Some),
        ShapeOp::Repeat => rearrange::repeat(ctx, a, p).map(Some),
        ShapeOp::Tril => rearrange::triangle(ctx, name, a, p[0], true, false),
        ShapeOp::Triu => rearrange::triangle(ctx, name, a, p[0], false, false),
        ShapeOp::TrilInPlace => rearrange::triangle(ctx, name, a, p[0], true, true),
        ShapeOp::TriuInPlace => rearrange::triangle(ctx, name, a, p[0], false, true),
        ShapeOp::Diag => rearrange::diag(ctx, a, p[0]).map(Some),
        ShapeOp::Trace => rearrange::trace(ctx, a).map(Some),
    }
}

/// How many numbers an operation reads at least.
fn numbers(op: ShapeOp) -> usize {
    match op {
        ShapeOp::Slice => 4,
        ShapeOp::Narrow | ShapeOp::Diagonal | ShapeOp::Unfold => 3,
        ShapeOp::Select | ShapeOp::Transpose | ShapeOp::Movedim | ShapeOp::Flatten => 2,
        ShapeOp::Squeeze | ShapeOp::Unsqueeze | ShapeOp::Unflatten | ShapeOp::AsStrided => 1,
        ShapeOp::Tril | ShapeOp::Triu | ShapeOp::TrilInPlace | ShapeOp::TriuInPlace => 1,
        ShapeOp::Diag | ShapeOp::RollFlat | ShapeOp::MovedimList => 1,
        _ => 0,
    }
}

/// The same elements in another shape, shared where the strides allow it.
pub fn reshape(ctx: &Context, op: &'static str, a: &Tensor, shape: &[i64]) -> Result<Tensor> {
    match a.layout().view(shape) {
        Err(LayoutError::Incompatible) => {
            let copy = contiguous(ctx, a)?;
            copy.with_layout(op, copy.layout().view(shape))
        }
        layout => a.with_layout(op, layout),
    }
}

fn movedim_list(
    layout: &Layout,
    from: &[i64],
    to: &[i64],
) -> std::result::Result<Layout, LayoutError> {
    let rank = layout.rank();
    let mut source = [None; MAX_RANK];
    let mut moved = [false; MAX_RANK];
    for (&f, &t) in from.iter().zip(to) {
        let (f_dim, t_dim) = (wrap_dim(f, rank)?, wrap_dim(t, rank)?);
        if moved[f_dim] {
            return Err(LayoutError::RepeatedDim { dim: f });
        }
        if source[t_dim].is_some() {
            return Err(LayoutError::RepeatedDim { dim: t });
        }
        moved[f_dim] = true;
        source[t_dim] = Some(f_dim);
    }
    let mut rest = (0..rank).filter(|d| !moved[*d]);
    let mut dims = [0i64; MAX_RANK];
    for (d, place) in dims[..rank].iter_mut().enumerate() {
        *place = source[d].or_else(|| rest.next()).unwrap_or(d) as i64;
    }
    layout.permute(&dims[..rank])
}

/// One view for a list of indices, each four numbers: its kind and what the kind takes.
fn index(a: &Tensor, p: &[i64]) -> Result<std::result::Result<Layout, LayoutError>> {
    let wrong = || Error::internal("index: malformed list".into());
    let kind = |code: i64| IndexKind::from_code(code as i32).ok_or_else(wrong);
    if !p.len().is_multiple_of(4) {
        return Err(wrong());
    }
    let (mut used, mut rests) = (0, 0);
    for quad in p.chunks_exact(4) {
        match kind(quad[0])? {
            IndexKind::At | IndexKind::Slice | IndexKind::All => used += 1,
            IndexKind::Rest => rests += 1,
            IndexKind::New => {}
        }
    }
    if rests > 1 {
        return Err(Error::index("index", &[a], "more than one ellipsis"));
    }
    let Some(left) = a.rank().checked_sub(used) else {
        let text = format!("{used} indices for {} dimensions", a.rank());
        return Err(Error::index("index", &[a], text));
    };
    let mut layout = Ok(*a.layout());
    // The next dimension of the result, and of the tensor itself, which messages speak of.
    let (mut dim, mut source) = (0, 0);
    for quad in p.chunks_exact(4) {
        layout = layout.and_then(|l| match kind(quad[0]) {
            Ok(IndexKind::At) => l.select(dim, quad[1]),
            Ok(IndexKind::Slice) => l.slice(dim, quad[1], quad[2], quad[3]),
            Ok(IndexKind::New) => l.unsqueeze(dim),
            _ => Ok(l),
        });
        if let Err(LayoutError::Index { dim, .. }) = &mut layout {
            *dim = source;
        }
        let (out, taken) = match kind(quad[0])? {
            IndexKind::At => (0, 1),
            IndexKind::Slice | IndexKind::All => (1, 1),
            IndexKind::Rest => (left, left),
            IndexKind::New => (1, 0),
        };
        dim += out as i64;
        source += taken;
    }
    Ok(layout)
}
