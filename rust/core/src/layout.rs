//! Geometry apart from memory: shape, strides and offset in elements, outermost first. A value:
//! every view operation makes a new one and touches no data.

use crate::dtype::DType;

/// The most dimensions a tensor can have.
pub const MAX_RANK: usize = 16;

/// Why a view cannot be made; the runtime adds the operation's name and the shape.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum LayoutError {
    /// More than [`MAX_RANK`] dimensions.
    Rank { rank: usize },
    /// A dimension outside `[-rank, rank)`.
    Dim { dim: i64, rank: usize },
    /// The same dimension twice.
    RepeatedDim { dim: i64 },
    /// A list of dimensions of the wrong length.
    DimCount { expected: usize, got: usize },
    /// An index outside a dimension.
    Index { dim: usize, index: i64, size: i64 },
    /// A range outside a dimension.
    Range { dim: usize, start: i64, length: i64, size: i64 },
    /// A slice step below 1.
    Step { step: i64 },
    /// A negative size.
    NegativeSize { size: i64 },
    /// An element count or offset beyond 2^63.
    Overflow,
    /// A dimension that cannot be stretched.
    Expand { dim: usize, from: i64, to: i64 },
    /// Element counts differ.
    Count { from: i64, to: i64 },
    /// More than one -1, or a -1 that cannot be told.
    Infer,
    /// The strides do not allow this shape without a copy.
    Incompatible,
    /// A view that would reach outside its storage.
    Storage { needed: i64, size: i64 },
    /// A negative stride.
    Stride { stride: i64 },
}

type Result<T> = core::result::Result<T, LayoutError>;

/// Shape, strides and offset of a tensor in its storage.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Layout {
    rank: u8,
    offset: i64,
    sizes: [i64; MAX_RANK],
    strides: [i64; MAX_RANK],
}

impl core::fmt::Debug for Layout {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "{:?} by {:?} at {}", self.shape(), self.strides(), self.offset)
    }
}

/// Product of sizes, checked for negatives and overflow. A zero anywhere makes it 0.
pub fn checked_numel(shape: &[i64]) -> Result<i64> {
    if let Some(&size) = shape.iter().find(|s| **s < 0) {
        return Err(LayoutError::NegativeSize { size });
    }
    // The strides must be representable too, so zeros do not excuse an overflow of the rest.
    let nonzero = shape.iter().filter(|s| **s > 0);
    let all = nonzero.into_iter().try_fold(1i64, |n, &s| n.checked_mul(s));
    let all = all.ok_or(LayoutError::Overflow)?;
    Ok(if shape.contains(&0) { 0 } else { all })
}

/// A dimension counted from the end where negative.
pub fn wrap_dim(dim: i64, rank: usize) -> Result<usize> {
    // A 0-d tensor accepts 0 and -1, as in libtorch.
    let n = rank.max(1) as i64;
    if dim < -n || dim >= n {
        return Err(LayoutError::Dim { dim, rank });
    }
    Ok(if dim < 0 { dim + n } else { dim } as usize)
}

/// A set of dimensions as a bit mask; none listed: all.
pub fn dim_mask(dims: &[i64], rank: usize) -> Result<u32> {
    if dims.is_empty() {
        return Ok(u32::MAX);
    }
    let mut mask = 0u32;
    for &dim in dims {
        let bit = 1 << wrap_dim(dim, rank)?;
        if mask & bit != 0 {
            return Err(LayoutError::RepeatedDim { dim });
        }
        mask |= bit;
    }
    Ok(mask)
}

impl Layout {
    /// Row-major layout of a shape, offset 0.
    pub fn contiguous(shape: &[i64]) -> Result<Layout> {
        if shape.len() > MAX_RANK {
            return Err(LayoutError::Rank { rank: shape.len() });
        }
        checked_numel(shape)?;
        let mut out = Layout {
            rank: shape.len() as u8,
            offset: 0,
            sizes: [1; MAX_RANK],
            strides: [0; MAX_RANK],
        };
        out.sizes[..shape.len()].copy_from_slice(shape);
        let mut stride = 1;
        for d in (0..shape.len()).rev() {
            out.strides[d] = stride;
            stride *= shape[d].max(1);
        }
        Ok(out)
    }

    /// The layout of a scalar.
    pub const fn scalar() -> Layout {
        Layout { rank: 0, offset: 0, sizes: [1; MAX_RANK], strides: [0; MAX_RANK] }
    }

    /// Any shape, strides and offset; the caller checks them against the storage with [`Layout::span`].
    pub fn strided(shape: &[i64], strides: &[i64], offset: i64) -> Result<Layout> {
        if shape.len() != strides.len() {
            return Err(LayoutError::DimCount { expected: shape.len(), got: strides.len() });
        }
        if let Some(&stride) = strides.iter().find(|s| **s < 0) {
            return Err(LayoutError::Stride { stride });
        }
        if offset < 0 {
            return Err(LayoutError::Stride { stride: offset });
        }
        let mut out = Layout::contiguous(shape)?;
        out.strides[..shape.len()].copy_from_slice(strides);
        out.offset = offset;
        out.span()?;
        Ok(out)
    }

    /// Shape and strides from the start of a storage.
    pub fn at_start(&self) -> Layout {
        Layout { offset: 0, ..*self }
    }

    /// Sizes, outermost first.
    pub fn shape(&self) -> &[i64] {
        &self.sizes[..self.rank as usize]
    }

    /// Strides in elements.
    pub fn strides(&self) -> &[i64] {
        &self.strides[..self.rank as usize]
    }

    /// Elements from the start of the storage to the first element.
    pub fn offset(&self) -> i64 {
        self.offset
    }

    /// Bytes from the start of the storage to the first element. It wraps where an empty layout's
    /// offset lies beyond any address: nothing is read there.
    #[inline]
    pub fn byte_offset(&self, dtype: DType) -> isize {
        (self.offset as isize).wrapping_mul(dtype.size() as isize)
    }

    /// Number of dimensions.
    pub fn rank(&self) -> usize {
        self.rank as usize
    }

    /// Number of elements.
    pub fn numel(&self) -> i64 {
        self.shape().iter().product()
    }

    /// One past the greatest element offset reached; 0 for an empty layout.
    pub fn span(&self) -> Result<i64> {
        if self.numel() == 0 {
            return Ok(0);
        }
        let mut last = self.offset;
        for d in 0..self.rank() {
            let reach = (self.sizes[d] - 1).checked_mul(self.strides[d]);
            last = reach.and_then(|r| last.checked_add(r)).ok_or(LayoutError::Overflow)?;
        }
        last.checked_add(1).ok_or(LayoutError::Overflow)
    }

    /// Whether elements lie in row-major order without gaps.
    #[inline]
    pub fn is_contiguous(&self) -> bool {
        let mut stride = 1;
        for d in (0..self.rank()).rev() {
            if self.sizes[d] == 0 {
                return true;
            }
            if self.sizes[d] != 1 {
                if self.strides[d] != stride {
                    return false;
                }
                stride *= self.sizes[d];
            }
        }
        true
    }

    /// Whether two index tuples may reach one element. Exact for layouts made by view operations;
    /// `as_strided` may be called overlapping where a finer analysis would clear it.
    pub fn overlaps_itself(&self) -> bool {
        if self.numel() < 2 {
            return false;
        }
        let mut dims = [(0i64, 0i64); MAX_RANK];
        let mut n = 0;
        for d in 0..self.rank() {
            if self.sizes[d] > 1 {
                dims[n] = (self.strides[d], self.sizes[d]);
                n += 1;
            }
        }
        dims[..n].sort_unstable();
        let mut reach = 0;
        for &(stride, size) in &dims[..n] {
            if stride <= reach {
                return true;
            }
            reach += stride * (size - 1);
        }
        false
    }

    fn dim(&self, dim: i64) -> Result<usize> {
        wrap_dim(dim, self.rank())
    }

    /// Elements `[start, start + length)` of a dimension; a negative start counts from the end.
    pub fn narrow(&self, dim: i64, start: i64, length: i64) -> Result<Layout> {
        if self.rank == 0 {
            return Err(LayoutError::Dim { dim, rank: 0 });
        }
        let d = self.dim(dim)?;
        let size = self.sizes[d];
        let begin = if start < 0 { start.wrapping_add(size) } else { start };
        if start < -size || begin > size || length < 0 || length > size - begin {
            return Err(LayoutError::Range { dim: d, start, length, size });
        }
        let mut out = *self;
        out.offset = out.offset.wrapping_add(begin.wrapping_mul(self.strides[d]));
        out.sizes[d] = length;
        Ok(out)
    }

    /// Python's slice of one dimension: bounds are clamped, negative ones count from the end.
    pub fn slice(&self, dim: i64, start: i64, end: i64, step: i64) -> Result<Layout> {
        if self.rank == 0 {
            return Err(LayoutError::Dim { dim, rank: 0 });
        }
        if step < 1 {
            return Err(LayoutError::Step { step });
        }
        let d = self.dim(dim)?;
        let size = self.sizes[d];
        let clamp = |v: i64| {
            if v < 0 { v.saturating_add(size).max(0) } else { v.min(size) }
        };
        let (start, end) = (clamp(start), clamp(end));
        let length = (end - start).max(0);
        let mut out = *self;
        out.sizes[d] = length / step + (length % step != 0) as i64;
        out.offset = out.offset.wrapping_add(start.wrapping_mul(self.strides[d]));
        // One element or none never steps, so a huge step need not be representable.
        out.strides[d] =
            if out.sizes[d] > 1 { self.strides[d].wrapping_mul(step) } else { self.strides[d] };
        Ok(out)
    }

    /// One index of a dimension, which goes away.
    pub fn select(&self, dim: i64, index: i64) -> Result<Layout> {
        if self.rank == 0 {
            return Err(LayoutError::Dim { dim, rank: 0 });
        }
        let d = self.dim(dim)?;
        let size = self.sizes[d];
        if index < -size || index >= size {
            return Err(LayoutError::Index { dim: d, index, size });
        }
        let mut out = self.remove(d);
        let index = if index < 0 { index + size } else { index };
        out.offset = out.offset.wrapping_add(index.wrapping_mul(self.strides[d]));
        Ok(out)
    }

    fn remove(&self, d: usize) -> Layout {
        let mut out = *self;
        let rank = self.rank();
        out.sizes.copy_within(d + 1..rank, d);
        out.strides.copy_within(d + 1..rank, d);
        out.rank -= 1;
        (out.sizes[rank - 1], out.strides[rank - 1]) = (1, 0);
        out
    }

    fn insert(&self, d: usize, size: i64, stride: i64) -> Result<Layout> {
        let rank = self.rank();
        if rank == MAX_RANK {
            return Err(LayoutError::Rank { rank: rank + 1 });
        }
        let mut out = *self;
        out.sizes.copy_within(d..rank, d + 1);
        out.strides.copy_within(d..rank, d + 1);
        (out.sizes[d], out.strides[d]) = (size, stride);
        out.rank += 1;
        Ok(out)
    }

    /// Two dimensions exchanged.
    pub fn transpose(&self, a: i64, b: i64) -> Result<Layout> {
        let (a, b) = (self.dim(a)?, self.dim(b)?);
        let mut out = *self;
        out.sizes.swap(a, b);
        out.strides.swap(a, b);
        Ok(out)
    }

    /// Dimension `i` of the result is dimension `dims[i]` of this.
    pub fn permute(&self, dims: &[i64]) -> Result<Layout> {
        if dims.len() != self.rank() {
            return Err(LayoutError::DimCount { expected: self.rank(), got: dims.len() });
        }
        if !dims.is_empty() {
            dim_mask(dims, self.rank())?;
        }
        let mut out = *self;
        for (to, &dim) in dims.iter().enumerate() {
            let from = self.dim(dim)?;
            out.sizes[to] = self.sizes[from];
            out.strides[to] = self.strides[from];
        }
        Ok(out)
    }

    /// Dimension `from` moved to place `to`, the others in their order.
    pub fn movedim(&self, from: i64, to: i64) -> Result<Layout> {
        let (from, to) = (self.dim(from)?, self.dim(to)?);
        if self.rank == 0 {
            return Ok(*self);
        }
        self.remove(from).insert(to, self.sizes[from], self.strides[from])
    }

    /// Dimensions of size 1 stretched, new ones put in front; -1 keeps a size.
    pub fn expand(&self, shape: &[i64]) -> Result<Layout> {
        let (rank, new) = (self.rank(), shape.len());
        if new < rank {
            return Err(LayoutError::DimCount { expected: rank, got: new });
        }
        let mut sizes = [1i64; MAX_RANK];
        if new > MAX_RANK {
            return Err(LayoutError::Rank { rank: new });
        }
        let mut strides = [0i64; MAX_RANK];
        for d in 0..new {
            let old = (d + rank).checked_sub(new);
            sizes[d] = match (shape[d], old) {
                (-1, Some(o)) => self.sizes[o],
                (size, _) if size < 0 => return Err(LayoutError::NegativeSize { size }),
                (size, _) => size,
            };
            if let Some(o) = old {
                if self.sizes[o] == sizes[d] {
                    strides[d] = self.strides[o];
                } else if self.sizes[o] != 1 {
                    return Err(LayoutError::Expand { dim: d, from: self.sizes[o], to: sizes[d] });
                }
            }
        }
        checked_numel(&sizes[..new])?;
        Ok(Layout { rank: new as u8, offset: self.offset, sizes, strides })
    }

    /// Without dimension `dim` where its size is 1.
    pub fn squeeze(&self, dim: i64) -> Result<Layout> {
        let d = self.dim(dim)?;
        Ok(if self.rank > 0 && self.sizes[d] == 1 { self.remove(d) } else { *self })
    }

    /// Without all dimensions of size 1.
    pub fn squeeze_all(&self) -> Layout {
        let mut out = *self;
        for d in (0..self.rank()).rev() {
            if out.sizes[d] == 1 {
                out = out.remove(d);
            }
        }
        out
    }

    /// Without those of the dimensions whose size is 1.
    pub fn squeeze_dims(&self, dims: &[i64]) -> Result<Layout> {
        if dims.is_empty() {
            return Ok(*self);
        }
        let mask = dim_mask(dims, self.rank())?;
        let mut out = *self;
        for d in (0..self.rank()).rev() {
            if mask >> d & 1 == 1 && out.sizes[d] == 1 {
                out = out.remove(d);
            }
        }
        Ok(out)
    }

    /// Dimension `dim` as several, the last varying fastest; one size may be -1.
    pub fn unflatten(&self, dim: i64, sizes: &[i64]) -> Result<Layout> {
        if self.rank == 0 {
            return Err(LayoutError::Dim { dim, rank: 0 });
        }
        let d = self.dim(dim)?;
        let parts = Layout::contiguous(&[self.sizes[d]])?.infer(sizes)?;
        let mut out = self.remove(d);
        for (k, (&size, &step)) in parts.shape().iter().zip(parts.strides()).enumerate() {
            out = out.insert(d + k, size, self.strides[d].wrapping_mul(step))?;
        }
        Ok(out)
    }

    /// Dimensions of a mask counted from their end. Strides turn negative, which only loops over
    /// elements understand: not for tensors.
    pub fn reversed(&self, mask: u32) -> Layout {
        let mut out = *self;
        for d in (0..self.rank()).filter(|d| mask >> d & 1 == 1) {
            let last = (self.sizes[d] - 1).wrapping_mul(self.strides[d]);
            out.offset = out.offset.wrapping_add(last);
            out.strides[d] = self.strides[d].wrapping_neg();
        }
        out
    }

    /// With a dimension of size 1 at `dim`, which may be one past the last.
    pub fn unsqueeze(&self, dim: i64) -> Result<Layout> {
        let n = self.rank() as i64 + 1;
        if dim < -n || dim >= n {
            return Err(LayoutError::Dim { dim, rank: self.rank() });
        }
        let d = if dim < 0 { dim + n } else { dim } as usize;
        let stride =
            if d < self.rank() { self.sizes[d].max(1).saturating_mul(self.strides[d]) } else { 1 };
        self.insert(d, 1, stride)
    }

    /// The diagonal of two dimensions as a new last one.
    pub fn diagonal(&self, offset: i64, dim1: i64, dim2: i64) -> Result<Layout> {
        if self.rank < 2 {
            return Err(LayoutError::Dim { dim: dim2, rank: self.rank() });
        }
        let (a, b) = (self.dim(dim1)?, self.dim(dim2)?);
        if a == b {
            return Err(LayoutError::RepeatedDim { dim: dim2 });
        }
        let (rows, cols) = (self.sizes[a], self.sizes[b]);
        let length = if offset >= 0 {
            rows.min(cols.saturating_sub(offset))
        } else {
            rows.saturating_add(offset).min(cols)
        };
        let length = length.max(0);
        let stride = self.strides[a].wrapping_add(self.strides[b]);
        let rest = self.remove(a.max(b)).remove(a.min(b));
        let mut out = rest.insert(rest.rank(), length, stride)?;
        if length > 0 {
            out.offset +=
                if offset >= 0 { offset * self.strides[b] } else { -offset * self.strides[a] };
        }
        Ok(out)
    }

    /// Windows of `size` along `dim`, `step` apart, as a new last dimension.
    pub fn unfold(&self, dim: i64, size: i64, step: i64) -> Result<Layout> {
        let d = self.dim(dim)?;
        let (whole, stride) =
            if self.rank == 0 { (1, 1) } else { (self.sizes[d], self.strides[d]) };
        if size < 0 || size > whole {
            return Err(LayoutError::Range { dim: d, start: 0, length: size, size: whole });
        }
        if step < 1 {
            return Err(LayoutError::Step { step });
        }
        let mut out = self.insert(self.rank(), size, stride)?;
        if self.rank > 0 {
            out.sizes[d] = (whole - size) / step + 1;
            checked_numel(out.shape())?;
            out.strides[d] = if out.sizes[d] > 1 { stride.wrapping_mul(step) } else { stride };
        }
        Ok(out)
    }

    /// Sizes with one -1 replaced by what the element count leaves for it.
    pub fn infer(&self, shape: &[i64]) -> Result<Layout> {
        let numel = self.numel();
        let mut sizes = [1i64; MAX_RANK];
        if shape.len() > MAX_RANK {
            return Err(LayoutError::Rank { rank: shape.len() });
        }
        sizes[..shape.len()].copy_from_slice(shape);
        if let Some(hole) = shape.iter().position(|s| *s == -1) {
            sizes[hole] = 1;
            let known = checked_numel(&sizes[..shape.len()]).map_err(|_| LayoutError::Infer)?;
            if known == 0 || numel % known != 0 {
                return Err(LayoutError::Infer);
            }
            sizes[hole] = numel / known;
        }
        let out = Layout::contiguous(&sizes[..shape.len()])?;
        if out.numel() != numel {
            return Err(LayoutError::Count { from: numel, to: out.numel() });
        }
        Ok(out)
    }

    /// The same elements in another shape without a copy; [`LayoutError::Incompatible`] where the
    /// strides do not allow it.
    pub fn view(&self, shape: &[i64]) -> Result<Layout> {
        let mut out = self.infer(shape)?;
        out.offset = self.offset;
        if self.numel() == 0 || self.is_contiguous() {
            return Ok(out);
        }
        // Walk both shapes from the innermost dimension: a chunk of old dimensions that lies
        // evenly in memory can be cut anew, and no new dimension may cross two chunks.
        let mut d = out.rank();
        let mut chunk_end = self.rank();
        while chunk_end > 0 {
            let mut chunk = chunk_end - 1;
            let base = self.strides[chunk];
            let mut count = self.sizes[chunk];
            while chunk > 0
                && (self.sizes[chunk - 1] == 1
                    || self.strides[chunk - 1] == base.wrapping_mul(count))
            {
                chunk -= 1;
                count *= self.sizes[chunk];
            }
            // The stride of a chunk is that of its innermost dimension larger than 1.
            let base = (chunk..chunk_end)
                .rev()
                .find(|&k| self.sizes[k] != 1)
                .map_or(base, |k| self.strides[k]);
            let mut covered = 1;
            while d > 0 && (covered < count || out.sizes[d - 1] == 1) {
                d -= 1;
                out.strides[d] = base.wrapping_mul(covered);
                covered *= out.sizes[d];
            }
            if covered != count {
                return Err(LayoutError::Incompatible);
            }
            chunk_end = chunk;
        }
        Ok(out)
    }

    /// Dimensions `[start, end]` merged into one, as the sizes of a reshape.
    pub fn flatten_sizes(&self, start: i64, end: i64) -> Result<([i64; MAX_RANK], usize)> {
        let (a, b) = (self.dim(start)?, self.dim(end)?);
        let mut sizes = [1i64; MAX_RANK];
        if self.rank == 0 {
            return Ok((sizes, 1));
        }
        if a > b {
            return Err(LayoutError::Dim { dim: end, rank: self.rank() });
        }
        sizes[..a].copy_from_slice(&self.sizes[..a]);
        sizes[a] = self.sizes[a..=b].iter().product();
        let tail = self.rank() - b - 1;
        sizes[a + 1..a + 1 + tail].copy_from_slice(&self.sizes[b + 1..self.rank()]);
        Ok((sizes, a + 1 + tail))
    }
}

/// The shape that two broadcast to, or the dimension (of the result) at which they do not.
pub fn broadcast(a: &[i64], b: &[i64]) -> core::result::Result<([i64; MAX_RANK], usize), usize> {
    let rank = a.len().max(b.len());
    let mut out = [1i64; MAX_RANK];
    for d in 0..rank {
        let at = |s: &[i64]| (d + s.len()).checked_sub(rank).map_or(1, |i| s[i]);
        out[d] = match (at(a), at(b)) {
            (x, y) if x == y => x,
            (1, y) => y,
            (x, 1) => x,
            _ => return Err(d),
        };
    }
    Ok((out, rank))
}
