//! Convolutions of groups with so few channels that products would be too thin: sums of shifted
//! runs.
//!
//! What a box of places sees of the larger side is copied into a *patch*, where a step of the
//! smaller side is a step in memory whatever the stride: positions that differ by a stride stand side
//! by side, those of another remainder in another *phase*. Padding is there as zeros, so that each
//! tap of the kernel is one shift of a whole run, and the runs have no edges.

use core::slice;

use pulp::{Arch, Simd, WithSimd};

use super::Geometry;
use crate::number::Number;

/// Taps that one pass over a run takes at most; the rest goes by fives, threes and ones.
const PASS: usize = 9;
/// Runs are worked on up to a multiple of this, which all vectors divide; what stands behind their
/// ends is some number.
const LANES: usize = 16;
/// Elements of patches beyond which the direct way is not worth its memory.
const LIMIT: i64 = 1 << 20;

/// Numbers that vectors of any width hold.
pub trait Lanes: Number {
    /// A vector.
    type Vector<S: Simd>: Copy;
    /// Whole vectors of a slice.
    fn vectors<S: Simd>(x: &[Self]) -> &[Self::Vector<S>];
    /// Whole vectors of a slice, to be written.
    fn vectors_mut<S: Simd>(x: &mut [Self]) -> &mut [Self::Vector<S>];
    /// A vector of one number.
    fn splat<S: Simd>(simd: S, x: Self) -> Self::Vector<S>;
    /// `a * b + c`, rounded once where the level has the instruction.
    fn mul_add<S: Simd>(
        simd: S,
        a: Self::Vector<S>,
        b: Self::Vector<S>,
        c: Self::Vector<S>,
    ) -> Self::Vector<S>;
    /// The sum of a vector's numbers.
    fn sum<S: Simd>(simd: S, x: Self::Vector<S>) -> Self;
}

macro_rules! lanes {
    ($t:ident $vector:ident $all:ident $all_mut:ident $splat:ident $mul_add:ident $sum:ident) => {
        impl Lanes for $t {
            type Vector<S: Simd> = S::$vector;
            #[inline(always)]
            fn vectors<S: Simd>(x: &[$t]) -> &[S::$vector] {
                S::$all(x).0
            }
            #[inline(always)]
            fn vectors_mut<S: Simd>(x: &mut [$t]) -> &mut [S::$vector] {
                S::$all_mut(x).0
            }
            #[inline(always)]
            fn splat<S: Simd>(simd: S, x: $t) -> S::$vector {
                simd.$splat(x)
            }
            #[inline(always)]
            fn mul_add<S: Simd>(
                simd: S,
                a: S::$vector,
                b: S::$vector,
                c: S::$vector,
            ) -> S::$vector {
                simd.$mul_add(a, b, c)
            }
            #[inline(always)]
            fn sum<S: Simd>(simd: S, x: S::$vector) -> $t {
                simd.$sum(x)
            }
        }
    };
}
lanes!(f32 f32s as_simd_f32s as_mut_simd_f32s splat_f32s mul_add_e_f32s reduce_sum_f32s);
lanes!(f64 f64s as_simd_f64s as_mut_simd_f64s splat_f64s mul_add_e_f64s reduce_sum_f64s);

/// How patches lie. A patch covers `band` places along one axis and all of the others.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    geometry: Geometry,
    axis: usize,
    band: i64,
    /// Remainders of the stride that taps meet, by dimension.
    phases: [i64; 3],
    /// Elements of a phase, by dimension.
    extent: [i64; 3],
}

fn divisor(a: i64, b: i64) -> i64 {
    if b == 0 { a } else { divisor(b, a % b) }
}

impl Plan {
    /// Patches of about `wanted` elements; none where they would have to be far larger.
    pub fn new(geometry: Geometry, wanted: i64) -> Option<Plan> {
        let Geometry { small, kernel, stride, dilation, .. } = geometry;
        let axis = small.iter().position(|n| *n > 1).unwrap_or(2);
        let (mut phases, mut more) = ([1; 3], [0; 3]);
        let mut line = 1i64;
        for d in 0..3 {
            phases[d] = kernel[d].min(stride[d] / divisor(stride[d], dilation[d]));
            more[d] = (kernel[d] - 1).checked_mul(dilation[d])? / stride[d];
            let extent = if d == axis { 1 } else { small[d].checked_add(more[d])? };
            line = line.checked_mul(phases[d])?.checked_mul(extent)?;
        }
        let band = (wanted / line.max(1) - more[axis]).max(more[axis]).clamp(1, small[axis].max(1));
        let bands = (small[axis].max(1) + band - 1) / band;
        let band = (small[axis] + bands - 1) / bands;
        let mut extent = small;
        extent[axis] = band;
        for d in 0..3 {
            extent[d] += more[d];
        }
        let size = line.checked_mul(extent[axis])?;
        (size <= LIMIT).then_some(Plan { geometry, axis, band, phases, extent })
    }

    /// Number of bands.
    pub fn bands(&self) -> usize {
        let n = self.geometry.small[self.axis];
        ((n + self.band - 1) / self.band) as usize
    }

    fn phase(&self) -> usize {
        self.extent.iter().product::<i64>() as usize
    }

    /// Elements of a patch of one channel.
    pub fn patch(&self) -> usize {
        self.phases.iter().product::<i64>() as usize * self.phase()
    }

    /// Elements of a channel of the smaller side, laid out as a phase with zeros around it.
    fn run(&self) -> usize {
        self.margin() + self.phase() + LANES
    }

    /// The farthest shift inside a phase.
    fn margin(&self) -> usize {
        let Geometry { kernel, stride, dilation, .. } = self.geometry;
        (0..3).fold(0, |at, d| {
            at * self.extent[d] as usize + ((kernel[d] - 1) * dilation[d] / stride[d]) as usize
        })
    }

    /// Where in a patch the elements start that a tap sees.
    pub fn offset(&self, tap: usize) -> usize {
        let (t, g) = (self.geometry.tap(tap), &self.geometry);
        let (mut phase, mut at) = (0, 0);
        for d in 0..3 {
            phase = phase * self.phases[d] + t[d] % self.phases[d];
            at = at * self.extent[d] + t[d] * g.dilation[d] / g.stride[d];
        }
        phase as usize * self.phase() + at as usize
    }

    /// The first place of a band, and its sizes.
    fn places(&self, band: usize) -> ([i64; 3], [i64; 3]) {
        let (mut start, mut size) = ([0; 3], self.geometry.small);
        start[self.axis] = band as i64 * self.band;
        size[self.axis] = self.band.min(size[self.axis] - start[self.axis]);
        (start, size)
    }

    /// Elements of a run from the first place of a band to its last, up to whole vectors.
    fn length(&self, size: [i64; 3]) -> usize {
        let n = ((size[0] - 1) * self.extent[1] + size[1] - 1) * self.extent[2] + size[2];
        (n as usize).next_multiple_of(LANES)
    }

    /// Calls `f(row of the patch, row of the larger side, from, to)` for the rows of a patch
    /// whose elements `[from, to)` are on the larger side, where the first of them is `row`.
    #[inline(always)]
    fn rows(&self, start: [i64; 3], mut f: impl FnMut(usize, isize, usize, usize)) {
        let g = &self.geometry;
        let [depth, height, width] = self.extent;
        let first = |d: usize, phase: i64| {
            start[d] * g.stride[d] + phase * g.dilation[d] % g.stride[d] - g.padding[d]
        };
        let step = g.stride[2];
        let mut to = 0;
        for p0 in 0..self.phases[0] {
            for p1 in 0..self.phases[1] {
                for p2 in 0..self.phases[2] {
                    let (z, y, x) = (first(0, p0), first(1, p1), first(2, p2));
                    // Least column whose position is at least a bound.
                    let least = |bound: i64| ((bound - x).max(0) + step - 1) / step;
                    let from = least(0).min(width);
                    let end = least(g.large[2]).clamp(from, width);
                    for i in 0..depth {
                        let z = z + i * g.stride[0];
                        for j in 0..height {
                            let y = y + j * g.stride[1];
                            let inside = (0..g.large[0]).contains(&z)
                                && (0..g.large[1]).contains(&y)
                                && from < end;
                            if inside {
                                let row = (z * g.large[1] + y) * g.large[2] + x + from * step;
                                f(to, row as isize, from as usize, end as usize);
                            }
                            to += width as usize;
                        }
                    }
                }
            }
        }
    }

    /// Calls `f(place in a run, place on the smaller side)` for the rows of a band.
    #[inline(always)]
    fn lines(&self, start: [i64; 3], size: [i64; 3], mut f: impl FnMut(usize, usize)) {
        let [_, height, width] = self.geometry.small;
        for i in 0..size[0] {
            for j in 0..size[1] {
                let run = (i * self.extent[1] + j) * self.extent[2];
                let at = ((start[0] + i) * height + start[1] + j) * width + start[2];
                f(run as usize, at as usize);
            }
        }
    }
}

/// One band of one group of one sample.
#[derive(Clone, Copy)]
#[allow(missing_docs)]
pub struct Direct<'a, T> {
    pub plan: &'a Plan,
    /// [`Plan::offset`] of each tap.
    pub offsets: &'a [usize],
    pub band: usize,
    /// Channels of the larger side.
    pub few: usize,
    /// Channels of the smaller side.
    pub many: usize,
    pub large: *mut T,
    pub small: *mut T,
    pub kernel: *mut T,
    /// Room for [`Direct::room`] elements.
    pub scratch: *mut T,
}

impl<T: Number> Direct<'_, T> {
    /// Elements of scratch: patches of the one side, runs of the other.
    pub fn room(plan: &Plan, few: usize, many: usize) -> usize {
        few * plan.patch() + LANES + many * plan.run()
    }

    /// Where the runs stand, behind the patches and the end of their last vector.
    fn runs(&self) -> *mut T {
        self.scratch.wrapping_add(self.few * self.plan.patch() + LANES)
    }

    /// The patches of all channels.
    ///
    /// # Safety
    /// The pointers cover the sizes.
    #[inline(always)]
    unsafe fn gather(&self, start: [i64; 3]) {
        let (plan, volume) = (self.plan, self.plan.geometry.volume());
        let step = plan.geometry.stride[2] as usize;
        let all = self.few * plan.patch() + LANES;
        // SAFETY: the scratch has room.
        unsafe { slice::from_raw_parts_mut(self.scratch, all) }.fill(T::ZERO);
        for c in 0..self.few {
            let x = self.large.wrapping_add(c * volume);
            let to = self.scratch.wrapping_add(c * plan.patch());
            plan.rows(start, |at, row, from, end| {
                // SAFETY: a row of the patch; `rows` keeps the elements inside the larger side.
                unsafe {
                    let to = slice::from_raw_parts_mut(to.add(at + from), end - from);
                    let x = x.offset(row).cast_const();
                    match step {
                        1 => to.copy_from_slice(slice::from_raw_parts(x, to.len())),
                        2 => pick::<T, 2>(to, x),
                        3 => pick::<T, 3>(to, x),
                        _ => {
                            for (i, to) in to.iter_mut().enumerate() {
                                *to = *x.add(i * step);
                            }
                        }
                    }
                }
            });
        }
    }

    /// Adds a patch of channel `c` to the larger side.
    ///
    /// # Safety
    /// As [`Direct::gather`].
    #[inline(always)]
    unsafe fn scatter(&self, patch: *const T, start: [i64; 3], c: usize) {
        let plan = self.plan;
        let x = self.large.wrapping_add(c * plan.geometry.volume());
        let step = plan.geometry.stride[2] as usize;
        plan.rows(start, |at, row, from, end| {
            // SAFETY: as in `gather`.
            unsafe {
                let n = end - from;
                let from = slice::from_raw_parts(patch.add(at + from), n);
                let x = x.offset(row);
                match step {
                    1 => {
                        let to = slice::from_raw_parts_mut(x, n);
                        for i in 0..n {
                            to[i] = to[i].add(from[i]);
                        }
                    }
                    _ => {
                        for (i, from) in from.iter().enumerate() {
                            *x.add(i * step) = (*x.add(i * step)).add(*from);
                        }
                    }
                }
            }
        });
    }

    /// Channels of the smaller side as runs, zeros between the rows and around them.
    ///
    /// # Safety
    /// As [`Direct::gather`].
    #[inline(always)]
    unsafe fn lay(&self, start: [i64; 3], size: [i64; 3]) {
        let (plan, places) = (self.plan, self.plan.geometry.places());
        for k in 0..self.many {
            // SAFETY: promised by the caller.
            unsafe {
                let run = slice::from_raw_parts_mut(self.runs().add(k * plan.run()), plan.run());
                run.fill(T::ZERO);
                let run = &mut run[plan.margin()..];
                plan.lines(start, size, |to, at| {
                    let row = self.small.add(k * places + at).cast_const();
                    let n = size[2] as usize;
                    run[to..to + n].copy_from_slice(slice::from_raw_parts(row, n));
                });
            }
        }
    }
}

/// Every `STEP`th element.
///
/// # Safety
/// They are there.
#[inline(always)]
unsafe fn pick<T: Number, const STEP: usize>(to: &mut [T], x: *const T) {
    let n = to.len();
    // SAFETY: the caller's promise; not empty.
    let x = unsafe { slice::from_raw_parts(x, ((n - 1) * STEP) + 1) };
    for i in 0..n {
        to[i] = x[i * STEP];
    }
}

/// Adds `N` runs times numbers to a run; gives `N`.
#[inline(always)]
fn mix<S: Simd, T: Lanes, const N: usize>(
    simd: S,
    to: &mut [T],
    from: *const T,
    taps: &[(usize, T)],
) -> usize {
    let n = to.len();
    let taps: &[(usize, T); N] = taps.first_chunk().expect("as many taps");
    // SAFETY: the callers' runs have all elements that taps see.
    let from = taps.map(|(at, _)| unsafe { slice::from_raw_parts(from.add(at), n) });
    let (from, to) = (from.map(T::vectors::<S>), T::vectors_mut::<S>(to));
    let (from, weights) = (from.map(|x| &x[..to.len()]), taps.map(|(_, w)| T::splat(simd, w)));
    for i in 0..to.len() {
        let mut sum = to[i];
        for t in 0..N {
            sum = T::mul_add(simd, weights[t], from[t][i], sum);
        }
        to[i] = sum;
    }
    N
}

/// Collects taps for passes over a run.
struct Passes<'a, S, T> {
    simd: S,
    to: &'a mut [T],
    from: *const T,
    taps: [(usize, T); PASS],
    n: usize,
}

impl<'a, S: Simd, T: Lanes> Passes<'a, S, T> {
    #[inline(always)]
    fn new(simd: S, to: &'a mut [T], from: *const T) -> Self {
        Passes { simd, to, from, taps: [(0, T::ZERO); PASS], n: 0 }
    }

    /// # Safety
    /// As many elements as the run has are there at `from + at`.
    #[inline(always)]
    unsafe fn tap(&mut self, at: usize, weight: T) {
        self.taps[self.n] = (at, weight);
        self.n += 1;
        if self.n == PASS {
            mix::<S, T, PASS>(self.simd, self.to, self.from, &self.taps);
            self.n = 0;
        }
    }

    #[inline(always)]
    fn finish(self) {
        let Passes { simd, to, from, taps, n } = self;
        let mut rest = &taps[..n];
        while !rest.is_empty() {
            let taken = match rest.len() {
                5.. => mix::<S, T, 5>(simd, to, from, rest),
                3.. => mix::<S, T, 3>(simd, to, from, rest),
                _ => mix::<S, T, 1>(simd, to, from, rest),
            };
            rest = &rest[taken..];
        }
    }
}

struct Forward<'a, T>(Direct<'a, T>, *const T);

impl<T: Lanes> WithSimd for Forward<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Forward(c, bias) = self;
        let (plan, taps) = (c.plan, c.offsets.len());
        let (start, size) = plan.places(c.band);
        let (places, n) = (plan.geometry.places(), plan.length(size));
        let patch = c.scratch;
        // SAFETY: the promises of `Direct::forward`.
        unsafe {
            c.gather(start);
            let run = slice::from_raw_parts_mut(c.runs(), n);
            for k in 0..c.many {
                run.fill(if bias.is_null() { T::ZERO } else { *bias.add(k) });
                let mut passes = Passes::new(simd, run, patch);
                for i in 0..c.few {
                    let kernel = c.kernel.add((k * c.few + i) * taps);
                    for (t, at) in c.offsets.iter().enumerate() {
                        passes.tap(i * plan.patch() + at, *kernel.add(t));
                    }
                }
                passes.finish();
                plan.lines(start, size, |from, at| {
                    let n = size[2] as usize;
                    let row = slice::from_raw_parts_mut(c.small.add(k * places + at), n);
                    row.copy_from_slice(&run[from..from + n]);
                });
            }
        }
    }
}

struct Spread<'a, T>(Direct<'a, T>);

impl<T: Lanes> WithSimd for Spread<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Spread(c) = self;
        let (plan, taps) = (c.plan, c.offsets.len());
        let (start, size) = plan.places(c.band);
        let (phase, margin) = (plan.phase(), plan.margin());
        let (patch, runs) = (c.scratch, c.runs());
        // SAFETY: the promises of `Direct::spread`.
        unsafe {
            c.lay(start, size);
            for i in 0..c.few {
                for first in (0..plan.patch()).step_by(phase) {
                    let n = phase.next_multiple_of(LANES);
                    let to = slice::from_raw_parts_mut(patch.add(first), n);
                    to.fill(T::ZERO);
                    let mut passes = Passes::new(simd, to, runs.cast_const());
                    for k in 0..c.many {
                        let kernel = c.kernel.add((k * c.few + i) * taps);
                        for (t, at) in c.offsets.iter().enumerate() {
                            if (first..first + phase).contains(at) {
                                let shift = margin - (at - first);
                                passes.tap(k * plan.run() + shift, *kernel.add(t));
                            }
                        }
                    }
                    passes.finish();
                }
                c.scatter(patch, start, i);
            }
        }
    }
}

/// Adds the products of a run with `N` others to `N` numbers; gives `N`.
///
/// # Safety
/// The runs that taps see are there, and so are the numbers.
#[inline(always)]
unsafe fn dots<S: Simd, T: Lanes, const N: usize>(
    simd: S,
    y: &[T],
    from: *const T,
    taps: &[usize],
    to: *mut T,
) -> usize {
    let taps: &[usize; N] = taps.first_chunk().expect("as many taps");
    // SAFETY: the caller's promise.
    let x = taps.map(|at| unsafe { slice::from_raw_parts(from.add(at), y.len()) });
    let (x, y) = (x.map(T::vectors::<S>), T::vectors::<S>(y));
    let x = x.map(|x| &x[..y.len()]);
    let mut sums = [T::splat(simd, T::ZERO); N];
    for i in 0..y.len() {
        for t in 0..N {
            sums[t] = T::mul_add(simd, x[t][i], y[i], sums[t]);
        }
    }
    for t in 0..N {
        // SAFETY: the caller's promise.
        unsafe { *to.add(t) = (*to.add(t)).add(T::sum(simd, sums[t])) };
    }
    N
}

struct Weigh<'a, T>(Direct<'a, T>);

impl<T: Lanes> WithSimd for Weigh<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Weigh(c) = self;
        let (plan, taps) = (c.plan, c.offsets.len());
        let (start, size) = plan.places(c.band);
        let n = plan.length(size);
        let (patch, runs) = (c.scratch, c.runs());
        // SAFETY: the promises of `Direct::weigh`.
        unsafe {
            c.gather(start);
            c.lay(start, size);
            for k in 0..c.many {
                let y = slice::from_raw_parts(runs.add(k * plan.run() + plan.margin()), n);
                for i in 0..c.few {
                    let kernel = c.kernel.add((k * c.few + i) * taps);
                    let from = patch.add(i * plan.patch()).cast_const();
                    let mut t = 0;
                    while t < taps {
                        let (seen, to) = (&c.offsets[t..], kernel.add(t));
                        t += match taps - t {
                            PASS.. => dots::<S, T, PASS>(simd, y, from, seen, to),
                            5.. => dots::<S, T, 5>(simd, y, from, seen, to),
                            3.. => dots::<S, T, 3>(simd, y, from, seen, to),
                            _ => dots::<S, T, 1>(simd, y, from, seen, to),
                        };
                    }
                }
            }
        }
    }
}

impl<T: Lanes> Direct<'_, T> {
    /// The smaller side from the larger and one number a channel, or null.
    ///
    /// # Safety
    /// The pointers cover the sizes, and the smaller side is ours to write.
    pub unsafe fn forward(self, arch: Arch, bias: *const T) {
        arch.dispatch(Forward(self, bias));
    }

    /// Adds to the larger side from the smaller.
    ///
    /// # Safety
    /// The pointers cover the sizes, and the larger side is ours to write.
    pub unsafe fn spread(self, arch: Arch) {
        arch.dispatch(Spread(self));
    }

    /// Adds to the kernel from both sides.
    ///
    /// # Safety
    /// The pointers cover the sizes, and the kernel is ours to write.
    pub unsafe fn weigh(self, arch: Arch) {
        arch.dispatch(Weigh(self));
    }
}
