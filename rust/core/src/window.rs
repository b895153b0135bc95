//! The iteration space of a kernel and how it is split.

/// The most dimensions of a window.
pub const MAX_DIMS: usize = 6;

/// One dimension of a window: the iterations start, start + step, … below end.
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

    /// How many iterations; none where the range is empty or the step is not positive.
    #[inline]
    pub fn iterations(&self) -> i64 {
        if self.end <= self.start || self.step < 1 {
            return 0;
        }
        (self.end - self.start - 1) / self.step + 1
    }
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

    /// The five rules: a part starts and ends inside the whole, keeps its step, starts on a step
    /// of the whole, and covers a multiple of it; the last two unless it ends where the whole does
    /// or is empty.
    pub fn contains(&self, part: &Window) -> bool {
        self.rank == part.rank
            && self.dims().iter().zip(part.dims()).all(|(whole, part)| {
                part.start >= whole.start
                    && part.end <= whole.end.max(whole.start)
                    && part.step == whole.step
                    && (part.iterations() == 0 || (part.start - whole.start) % whole.step == 0)
                    && ((part.end - part.start) % whole.step == 0 || part.end == whole.end)
            })
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

    /// Bytes of scratch each worker needs.
    fn scratch(&self) -> usize {
        0
    }

    /// Runs a part of the window.
    fn run(&self, part: &Window, info: ThreadInfo, scratch: &mut [u8]);
}
