//! Matrix products that need no packing: small ones, those with a vector, and those of integers.
//! Large float products are left to a library by the runtime.

use pulp::{Arch, Simd, WithSimd};

use crate::dtype::Element;
use crate::number::Number;

/// A matrix in memory: its first element and the steps to the next row and column, in elements.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub struct Mat<S> {
    pub ptr: *mut S,
    pub rows: isize,
    pub cols: isize,
}

// SAFETY: an address with strides; whoever runs a product keeps the memory alive and gives each
// thread its own part of the result.
unsafe impl<S> Send for Mat<S> {}
// SAFETY: as above.
unsafe impl<S> Sync for Mat<S> {}

impl<S> Mat<S> {
    /// Address of an element.
    #[inline(always)]
    pub fn at(&self, i: usize, j: usize) -> *mut S {
        self.ptr.wrapping_offset(i as isize * self.rows + j as isize * self.cols)
    }

    /// The matrix that starts at an element.
    pub fn from(&self, i: usize, j: usize) -> Mat<S> {
        Mat { ptr: self.at(i, j), ..*self }
    }

    /// Rows and columns exchanged.
    pub fn transposed(&self) -> Mat<S> {
        Mat { ptr: self.ptr, rows: self.cols, cols: self.rows }
    }
}

/// `out = alpha * a b + beta * addend`; without an addend beta is not used. `a` is `m` by `k`, `b`
/// `k` by `n`. The addend may be the output itself; else the output lies apart.
#[derive(Clone, Copy)]
#[allow(missing_docs)]
pub struct Product<S: Element> {
    pub m: usize,
    pub n: usize,
    pub k: usize,
    pub a: Mat<S>,
    pub b: Mat<S>,
    pub out: Mat<S>,
    pub addend: Option<Mat<S>>,
    pub alpha: S::Compute,
    pub beta: S::Compute,
}

impl<S: Element> Product<S> {
    /// The part that gives `m` by `n` elements of the result, from row `i` and column `j` on.
    pub fn tile(&self, i: usize, j: usize, m: usize, n: usize) -> Product<S> {
        Product {
            m,
            n,
            a: self.a.from(i, 0),
            b: self.b.from(0, j),
            out: self.out.from(i, j),
            addend: self.addend.map(|c| c.from(i, j)),
            ..*self
        }
    }

    /// The product of the transposed operands in reverse order, which writes the same elements.
    pub fn transposed(&self) -> Product<S> {
        Product {
            m: self.n,
            n: self.m,
            a: self.b.transposed(),
            b: self.a.transposed(),
            out: self.out.transposed(),
            addend: self.addend.map(|c| c.transposed()),
            ..*self
        }
    }

    /// Stores one element of the result from its sum.
    ///
    /// # Safety
    /// The matrices cover the element.
    #[inline(always)]
    pub unsafe fn finish(&self, i: usize, j: usize, sum: S::Compute) {
        let scaled = self.alpha.mul(sum);
        // SAFETY: the caller's promise.
        unsafe {
            let value = match &self.addend {
                Some(c) => scaled.add(self.beta.mul((*c.at(i, j)).load())),
                None => scaled,
            };
            *self.out.at(i, j) = S::store(value);
        }
    }
}

/// The greatest number of columns and of inner elements that [`small`] takes.
pub const SMALL: usize = 16;

struct Small<S: Element, const W: usize>(Product<S>);

impl<S: Element, const W: usize> WithSimd for Small<S, W> {
    type Output = ();

    #[inline(always)]
    fn with_simd<V: Simd>(self, _: V) {
        const ROWS: usize = 4;
        let zero = S::Compute::ZERO;
        let p = &self.0;
        let (n, k) = (p.n.min(W), p.k.min(SMALL));
        // Rows of b at full width, so that the loops below have a length known beforehand.
        let mut b = [[zero; W]; SMALL];
        for (t, row) in b[..k].iter_mut().enumerate() {
            for (j, value) in row[..n].iter_mut().enumerate() {
                // SAFETY: inside b, as k and n are no greater than its sizes.
                *value = unsafe { *p.b.at(t, j) }.load();
            }
        }
        let mut i = 0;
        while i < p.m {
            let rows = ROWS.min(p.m - i);
            let mut sums = [[zero; W]; ROWS];
            for (t, b) in b[..k].iter().enumerate() {
                for (r, sum) in sums.iter_mut().enumerate() {
                    // SAFETY: rows beyond the last stand for the last; their sums are dropped.
                    let x = unsafe { *p.a.at(i + r.min(rows - 1), t) }.load();
                    for j in 0..W {
                        sum[j] = sum[j].add(x.mul(b[j]));
                    }
                }
            }
            for (r, sum) in sums[..rows].iter().enumerate() {
                for (j, sum) in sum[..n].iter().enumerate() {
                    // SAFETY: inside the result.
                    unsafe { p.finish(i + r, j, *sum) };
                }
            }
            i += rows;
        }
    }
}

/// A product of any strides whose `n` and `k` are at most [`SMALL`].
///
/// # Safety
/// The matrices cover their sizes, and nobody else touches the output's elements meanwhile.
pub unsafe fn small<S: Element>(arch: Arch, p: Product<S>) {
    assert!(p.n <= SMALL && p.k <= SMALL);
    match p.n {
        ..=4 => arch.dispatch(Small::<S, 4>(p)),
        5..=8 => arch.dispatch(Small::<S, 8>(p)),
        _ => arch.dispatch(Small::<S, 16>(p)),
    }
}

/// Products summed in one go before they join the total, which keeps the rounding error of long
/// sums small.
const RUN: usize = 4096;

/// The sum of products of a row and a vector, the vector's elements side by side.
///
/// # Safety
/// Both have `n` elements.
#[inline(always)]
unsafe fn dot_row<S: Element>(x: *const S, step: isize, y: *const S, n: usize) -> S::Compute {
    let mut total = S::Compute::ZERO;
    let mut at = 0;
    while at < n {
        let length = RUN.min(n - at);
        // SAFETY: inside both.
        unsafe {
            let (x, y) = (x.offset(at as isize * step), y.add(at));
            let sum = match (step, size_of::<S::Compute>()) {
                (1, 8) => dot_run::<S, 32>(x, y, length),
                (1, _) => dot_run::<S, 64>(x, y, length),
                _ => dot_steps(x, step, y, length),
            };
            total = total.add(sum);
        }
        at += length;
    }
    total
}

/// Both slices added up in lanes, then the lanes in pairs.
#[inline(always)]
unsafe fn dot_run<S: Element, const LANES: usize>(
    x: *const S,
    y: *const S,
    n: usize,
) -> S::Compute {
    // SAFETY: the caller's promise.
    let (x, y) = unsafe { (core::slice::from_raw_parts(x, n), core::slice::from_raw_parts(y, n)) };
    let zero = S::Compute::ZERO;
    let mut sums = [zero; LANES];
    let (xs, x_rest) = x.as_chunks::<LANES>();
    let (ys, y_rest) = y.as_chunks::<LANES>();
    for (x, y) in xs.iter().zip(ys) {
        for l in 0..LANES {
            sums[l] = sums[l].add(x[l].load().mul(y[l].load()));
        }
    }
    for (l, (x, y)) in x_rest.iter().zip(y_rest).enumerate() {
        sums[l] = sums[l].add(x.load().mul(y.load()));
    }
    let mut half = LANES / 2;
    while half > 0 {
        for l in 0..half {
            sums[l] = sums[l].add(sums[l + half]);
        }
        half /= 2;
    }
    sums[0]
}

#[inline(always)]
unsafe fn dot_steps<S: Element>(x: *const S, step: isize, y: *const S, n: usize) -> S::Compute {
    const LANES: usize = 8;
    let mut sums = [S::Compute::ZERO; LANES];
    for t in 0..n {
        // SAFETY: the caller's promise.
        let product = unsafe { (*x.offset(t as isize * step)).load().mul((*y.add(t)).load()) };
        sums[t % LANES] = sums[t % LANES].add(product);
    }
    let [a, b, c, d, e, f, g, h] = sums;
    a.add(b).add(c.add(d)).add(e.add(f).add(g.add(h)))
}

struct Dot<S> {
    x: *const S,
    step: isize,
    y: *const S,
    n: usize,
}

impl<S: Element> WithSimd for Dot<S> {
    type Output = S::Compute;

    #[inline(always)]
    fn with_simd<V: Simd>(self, _: V) -> S::Compute {
        // SAFETY: promised to `dot`.
        unsafe { dot_row(self.x, self.step, self.y, self.n) }
    }
}

/// The sum of products of `n` elements, those of `x` a step apart, those of `y` side by side.
///
/// # Safety
/// Both have `n` elements.
pub unsafe fn dot<S: Element>(
    arch: Arch,
    x: *const S,
    step: isize,
    y: *const S,
    n: usize,
) -> S::Compute {
    arch.dispatch(Dot { x, step, y, n })
}

struct ByVector<S: Element>(Product<S>);

impl<S: Element> WithSimd for ByVector<S> {
    type Output = ();

    #[inline(always)]
    fn with_simd<V: Simd>(self, _: V) {
        let p = &self.0;
        if p.a.rows == 1 && p.a.cols != 1 {
            return columns(p);
        }
        for i in 0..p.m {
            // SAFETY: row i of a and the vector have k elements each.
            unsafe { p.finish(i, 0, dot_row(p.a.at(i, 0), p.a.cols, p.b.ptr, p.k)) };
        }
    }
}

/// Columns of a, whose elements lie side by side, added up a block of rows at a time.
#[inline(always)]
fn columns<S: Element>(p: &Product<S>) {
    const BLOCK: usize = 512;
    const DEPTH: usize = 512;
    const STEP: usize = 4;
    let zero = S::Compute::ZERO;
    let mut i = 0;
    while i < p.m {
        let rows = BLOCK.min(p.m - i);
        let mut total = [zero; BLOCK];
        let mut at = 0;
        while at < p.k {
            let depth = DEPTH.min(p.k - at);
            let mut run = [zero; BLOCK];
            let sums = &mut run[..rows];
            let mut t = at;
            while t < at + depth {
                let steps = STEP.min(at + depth - t);
                // SAFETY: `rows` elements of each column and element t of the vector exist.
                let column = |s: usize| unsafe {
                    let x = (*p.b.ptr.add(t + s)).load();
                    (x, core::slice::from_raw_parts(p.a.at(i, t + s).cast_const(), rows))
                };
                if steps == STEP {
                    let ((x0, c0), (x1, c1)) = (column(0), column(1));
                    let ((x2, c2), (x3, c3)) = (column(2), column(3));
                    for r in 0..rows {
                        let sum = sums[r].add(x0.mul(c0[r].load())).add(x1.mul(c1[r].load()));
                        sums[r] = sum.add(x2.mul(c2[r].load())).add(x3.mul(c3[r].load()));
                    }
                } else {
                    for s in 0..steps {
                        let (x, c) = column(s);
                        for r in 0..rows {
                            sums[r] = sums[r].add(x.mul(c[r].load()));
                        }
                    }
                }
                t += steps;
            }
            for (total, sum) in total.iter_mut().zip(sums) {
                *total = total.add(*sum);
            }
            at += depth;
        }
        for (r, sum) in total[..rows].iter().enumerate() {
            // SAFETY: inside the result.
            unsafe { p.finish(i + r, 0, *sum) };
        }
        i += rows;
    }
}

/// A matrix by a vector: `n` is 1, and the vector's elements lie side by side. Each element's sum
/// is made in the same order however the rows are cut.
///
/// # Safety
/// As [`small`].
pub unsafe fn by_vector<S: Element>(arch: Arch, p: Product<S>) {
    assert!(p.n == 1 && (p.k <= 1 || p.b.rows == 1));
    arch.dispatch(ByVector(p));
}

struct Wide<S: Element>(Product<S>);

impl<S: Element> WithSimd for Wide<S> {
    type Output = ();

    #[inline(always)]
    fn with_simd<V: Simd>(self, _: V) {
        const ROWS: usize = 4;
        const COLS: usize = 256;
        let zero = S::Compute::ZERO;
        let p = &self.0;
        let mut j = 0;
        while j < p.n {
            let cols = COLS.min(p.n - j);
            let mut i = 0;
            while i < p.m {
                let rows = ROWS.min(p.m - i);
                let mut sums = [[zero; COLS]; ROWS];
                let [s0, s1, s2, s3] = &mut sums;
                let [s0, s1, s2, s3] =
                    [&mut s0[..cols], &mut s1[..cols], &mut s2[..cols], &mut s3[..cols]];
                for t in 0..p.k {
                    // SAFETY: rows beyond the last stand for the last; their sums are dropped.
                    let x = |r: usize| unsafe { *p.a.at(i + r.min(rows - 1), t) }.load();
                    let (x0, x1, x2, x3) = (x(0), x(1), x(2), x(3));
                    // SAFETY: `cols` elements of row t from column j on lie side by side.
                    let b = unsafe { core::slice::from_raw_parts(p.b.at(t, j).cast_const(), cols) };
                    for c in 0..cols {
                        let y = b[c].load();
                        s0[c] = s0[c].add(x0.mul(y));
                        s1[c] = s1[c].add(x1.mul(y));
                        s2[c] = s2[c].add(x2.mul(y));
                        s3[c] = s3[c].add(x3.mul(y));
                    }
                }
                for (r, sums) in sums[..rows].iter().enumerate() {
                    for (c, sum) in sums[..cols].iter().enumerate() {
                        // SAFETY: inside the result.
                        unsafe { p.finish(i + r, j + c, *sum) };
                    }
                }
                i += rows;
            }
            j += cols;
        }
    }
}

/// A product of any size where the elements of each row of `b` lie side by side: for integers,
/// whose sums wrap in their own type just as wider sums cut at the end.
///
/// # Safety
/// As [`small`].
pub unsafe fn wide<S: Element>(arch: Arch, p: Product<S>) {
    assert!(p.n <= 1 || p.k == 0 || p.b.cols == 1);
    arch.dispatch(Wide(p));
}
