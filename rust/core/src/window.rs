//! The iteration space of a kernel, how it is split and walked, and what a kernel says of itself.

use crate::border::{Access, Border};

/// The most dimensions of a window.
pub const MAX_DIMS: usize = 6;

/// One dimension of a window: the iterations start, start + step, … below end. Step 0 stands for an
/// operand that has one place there and stays on it: one iteration, unless the range is empty.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub struct Dim {
    pub start: i64,
    pub end: i64,
    pub step: i64,
}

impl Dim {
    /// `[0, n)` by 1.
    pub const fn upto(n: i64) -> Dim {
        Dim { start: 0, end: n, step: 1 }
    }

    /// How many iterations; none where the range is empty or the step is negative.
    #[inline]
    pub fn iterations(&self) -> i64 {
        if self.end <= self.start || self.step < 0 {
            return 0;
        }
        if self.step == 0 { 1 } else { (self.end - self.start - 1) / self.step + 1 }
    }

    /// One of the iterations as a range of its own, which keeps the step.
    fn only(&self, iteration: i64) -> Dim {
        let start = self.start + iteration * self.step;
        Dim { start, end: self.end.min(start + self.step.max(1)), step: self.step }
    }
}

/// What a part must keep to; see [`Window::broken`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Rule {
    /// As many dimensions as the whole.
    Rank,
    /// Starts inside the whole.
    Start,
    /// Ends inside the whole.
    End,
    /// Has the whole's step.
    Step,
    /// Starts on a step of the whole, unless it is empty.
    Alignment,
    /// Covers whole steps, unless it ends where the whole does.
    Length,
}

/// Start, end and step of each dimension.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Window {
    rank: usize,
    dims: [Dim; MAX_DIMS],
}

impl Window {
    /// A window of the given dimensions, outermost first; at most [`MAX_DIMS`].
    #[inline]
    pub fn new(dims: &[Dim]) -> Window {
        let mut out = Window { rank: dims.len(), dims: [Dim::upto(1); MAX_DIMS] };
        out.dims[..dims.len()].copy_from_slice(dims);
        out
    }

    /// One dimension `[0, n)`.
    #[inline]
    pub fn flat(n: i64) -> Window {
        Window::new(&[Dim::upto(n)])
    }

    /// The dimensions.
    #[inline]
    pub fn dims(&self) -> &[Dim] {
        &self.dims[..self.rank]
    }

    /// One dimension.
    #[inline]
    pub fn dim(&self, d: usize) -> Dim {
        self.dims[d]
    }

    /// Iterations in all.
    #[inline]
    pub fn iterations(&self) -> i64 {
        self.dims().iter().map(Dim::iterations).product()
    }

    /// Part `id` of `total` along one dimension. Parts differ by at most one iteration, follow each
    /// other without gaps and start on a step; `total` beyond the iterations leaves the last ones empty.
    pub fn split(&self, dim: usize, id: usize, total: usize) -> Window {
        let whole = self.dims[dim];
        let (n, total, id) = (whole.iterations(), total.max(1) as i64, id as i64);
        let (share, extra) = (n / total, n % total);
        let first = id * share + id.min(extra);
        let count = share + (id < extra) as i64;
        let mut out = *self;
        let end = whole.end.max(whole.start);
        let place = |iteration: i64| {
            if iteration == n { end } else { whole.start + iteration * whole.step }
        };
        out.dims[dim] = Dim { start: place(first), end: place(first + count), step: whole.step };
        out
    }

    /// Part `id` of a grid of parts, `(dimension, parts)` each; ids count its last dimension fastest.
    pub fn split_nd(&self, grid: &[(usize, usize)], id: usize) -> Window {
        let (mut out, mut left) = (*self, id);
        for &(dim, total) in grid.iter().rev() {
            let total = total.max(1);
            out = out.split(dim, left % total, total);
            left /= total;
        }
        out
    }

    /// The first dimension where a part breaks one of the five rules of [`Rule`], if there is one.
    pub fn broken(&self, part: &Window) -> Option<(usize, Rule)> {
        if self.rank != part.rank {
            return Some((self.rank.min(part.rank), Rule::Rank));
        }
        self.dims().iter().zip(part.dims()).enumerate().find_map(|(d, (whole, part))| {
            let step = whole.step.max(1);
            let rule = if part.start < whole.start {
                Rule::Start
            } else if part.end > whole.end.max(whole.start) {
                Rule::End
            } else if part.step != whole.step {
                Rule::Step
            } else if part.iterations() > 0 && (part.start - whole.start) % step != 0 {
                Rule::Alignment
            } else if part.end.saturating_sub(part.start) % step != 0 && part.end != whole.end {
                Rule::Length
            } else {
                return None;
            };
            Some((d, rule))
        })
    }

    /// Whether a part keeps all rules.
    pub fn contains(&self, part: &Window) -> bool {
        self.broken(part).is_none()
    }

    /// With another range for a dimension.
    pub fn with(&self, dim: usize, range: Dim) -> Window {
        let mut out = *self;
        out.dims[dim] = range;
        out
    }

    /// A dimension moved.
    pub fn shift(&self, dim: usize, by: i64) -> Window {
        let Dim { start, end, step } = self.dims[dim];
        self.with(dim, Dim { start: start + by, end: end + by, step })
    }

    /// A dimension with its start or its end moved.
    pub fn adjust(&self, dim: usize, by: i64, at_start: bool) -> Window {
        let Dim { start, end, step } = self.dims[dim];
        let (start, end) = if at_start { (start + by, end) } else { (start, end + by) };
        self.with(dim, Dim { start, end, step })
    }

    /// A dimension on a grid `times` as fine over `per` as coarse: the start is rounded down, the
    /// end up, so that what was covered still is.
    pub fn scale(&self, dim: usize, times: i64, per: i64) -> Window {
        let Dim { start, end, step } = self.dims[dim];
        let start = (start * times).div_euclid(per);
        let end = -(-end * times).div_euclid(per);
        self.with(dim, Dim { start, end, step })
    }

    /// Dimensions `[first, last]` as one, where each is the whole of `full` from 0 by 1.
    pub fn collapse(&self, full: &Window, first: usize, last: usize) -> Option<Window> {
        let whole =
            |d: usize| self.dims[d] == full.dims[d] && self.dims[d] == Dim::upto(self.dims[d].end);
        if self.rank != full.rank || first > last || last >= self.rank || !(first..=last).all(whole)
        {
            return None;
        }
        let mut out = *self;
        out.dims[first] = Dim::upto((first..=last).map(|d| self.dims[d].iterations()).product());
        out.dims.copy_within(last + 1.., first + 1);
        out.rank -= last - first;
        out.dims[out.rank..].fill(Dim::upto(1));
        Some(out)
    }

    /// The window of an operand of this shape that is walked along: it stays (step 0) where its
    /// size is 1. Dimensions are aligned at the last one; those that it does not have go away.
    pub fn broadcast(&self, shape: &[i64]) -> Window {
        let skip = self.rank.saturating_sub(shape.len());
        let mut out = Window::new(&self.dims()[skip..]);
        for (d, size) in shape[shape.len() - out.rank..].iter().enumerate() {
            if *size == 1 {
                out.dims[d] = Dim { start: 0, end: 1, step: 0 };
            }
        }
        out
    }

    /// Windows of one iteration in all but the last `inner` dimensions, in order.
    pub fn slices(&self, inner: usize) -> impl Iterator<Item = Window> + use<> {
        let (whole, outer) = (*self, self.rank.saturating_sub(inner));
        let count = if whole.iterations() == 0 {
            0
        } else {
            whole.dims[..outer].iter().map(Dim::iterations).product()
        };
        (0..count).map(move |n: i64| {
            let (mut out, mut left) = (whole, n);
            for d in (0..outer).rev() {
                let all = whole.dims[d].iterations();
                out.dims[d] = whole.dims[d].only(left % all);
                left /= all;
            }
            out
        })
    }

    /// Calls `f(place, row)` for each row, the last dimension, in order: `place` is where the row
    /// starts.
    #[inline(always)]
    pub fn for_each_row(&self, mut f: impl FnMut(&[i64], Dim)) {
        if self.iterations() == 0 || self.rank == 0 {
            return;
        }
        let inner = self.rank - 1;
        let mut at = self.dims.map(|d| d.start);
        loop {
            f(&at[..self.rank], self.dims[inner]);
            let mut d = inner;
            loop {
                if d == 0 {
                    return;
                }
                d -= 1;
                let Dim { start, end, step } = self.dims[d];
                at[d] += step;
                if step > 0 && at[d] < end {
                    break;
                }
                at[d] = start;
            }
        }
    }
}

/// Which of how many parallel workers runs a kernel.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub struct ThreadInfo {
    pub id: usize,
    pub total: usize,
}

/// Work configured on its operands: it says its iteration space and runs any part of it without
/// allocating, locking or threading. Parts write disjoint elements.
pub trait Kernel: Sync {
    /// The whole iteration space.
    fn window(&self) -> Window;

    /// The dimension to split; none: only as a whole.
    fn split_dim(&self) -> Option<usize> {
        Some(0)
    }

    /// Rough nanoseconds an iteration of the split dimension takes on one core.
    fn cost(&self) -> f64;

    /// What timings of it are kept under; nothing: they are not kept.
    fn id(&self) -> &'static str {
        ""
    }

    /// What it takes for elements beyond the edge of its input, and how far it reaches there.
    fn border(&self) -> Border {
        Border::NONE
    }

    /// Which elements of its input one iteration reads.
    fn access(&self) -> Access {
        Access::Element
    }

    /// Bytes of scratch each worker needs.
    fn scratch(&self) -> usize {
        0
    }

    /// Runs a part of the window.
    fn run(&self, part: &Window, info: ThreadInfo, scratch: &mut [u8]);
}
