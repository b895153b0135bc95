//! Normalisation: moments of rows and channels, the application, and the gradients. All slices are
//! dense and of one float type; sums are made in f64, in an order that only sizes decide.

use pulp::{Arch, Simd, WithSimd};

use crate::number::Number;
use crate::scalar::Real;

/// Independent chains of a sum, and columns that are summed together.
pub const LANES: usize = 32;

/// What is summed, two sums at once.
trait Term<T> {
    fn of(&self, x: T, g: T) -> (f64, f64);
}

/// x.
struct Plain;
/// (x - mean)^2.
struct Square(f64);
/// g, and g * (x - mean).
struct Slope(f64);

impl<T: Real> Term<T> for Plain {
    #[inline(always)]
    fn of(&self, x: T, _: T) -> (f64, f64) {
        (x.to_f64(), 0.0)
    }
}

impl<T: Real> Term<T> for Square {
    #[inline(always)]
    fn of(&self, x: T, _: T) -> (f64, f64) {
        let d = x.to_f64() - self.0;
        (d * d, 0.0)
    }
}

impl<T: Real> Term<T> for Slope {
    #[inline(always)]
    fn of(&self, x: T, g: T) -> (f64, f64) {
        let g = g.to_f64();
        (g, g * (x.to_f64() - self.0))
    }
}

#[inline(always)]
fn sum<T: Real>(x: &[T], g: &[T], term: impl Term<T>) -> (f64, f64) {
    let (mut first, mut second) = ([0f64; LANES], [0f64; LANES]);
    let g = &g[..x.len()];
    let (xs, gs) = (x.chunks_exact(LANES), g.chunks_exact(LANES));
    for (i, (x, g)) in xs.remainder().iter().zip(gs.remainder()).enumerate() {
        let (a, b) = term.of(*x, *g);
        first[i] += a;
        second[i] += b;
    }
    for (x, g) in xs.zip(gs) {
        for i in 0..LANES {
            let (a, b) = term.of(x[i], g[i]);
            first[i] += a;
            second[i] += b;
        }
    }
    let mut half = LANES / 2;
    while half > 0 {
        for i in 0..half {
            first[i] += first[i + half];
            second[i] += second[i + half];
        }
        half /= 2;
    }
    (first[0], second[0])
}

/// Normalises rows of `n` elements: `(x - mean) * rstd * weight + bias`.
#[derive(Clone, Copy)]
#[allow(missing_docs)]
pub struct Rows<'a, T> {
    pub n: usize,
    pub eps: f64,
    /// Without: the mean counts as 0, as in RMS normalisation.
    pub centred: bool,
    /// One a column, or none.
    pub weight: Option<&'a [T]>,
    pub bias: Option<&'a [T]>,
}

struct Forward<'a, T> {
    rows: Rows<'a, T>,
    x: &'a [T],
    out: &'a mut [T],
    mean: &'a mut [T],
    rstd: &'a mut [T],
}

impl<T: Real + Number> WithSimd for Forward<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let Rows { n, eps, centred, weight, bias } = self.rows;
        for r in 0..self.mean.len() {
            let (x, out) = (&self.x[r * n..r * n + n], &mut self.out[r * n..r * n + n]);
            let (mean, rstd) = moments(x, eps, centred);
            (self.mean[r], self.rstd[r]) = (Real::from_f64(mean), Real::from_f64(rstd));
            let (mean, rstd) = (self.mean[r], self.rstd[r]);
            match (weight, bias) {
                (Some(w), Some(b)) => {
                    let (w, b) = (&w[..n], &b[..n]);
                    for i in 0..n {
                        out[i] = (x[i] - mean) * rstd * w[i] + b[i];
                    }
                }
                (Some(w), None) => {
                    let w = &w[..n];
                    for i in 0..n {
                        out[i] = (x[i] - mean) * rstd * w[i];
                    }
                }
                (None, Some(b)) => {
                    let b = &b[..n];
                    for i in 0..n {
                        out[i] = (x[i] - mean) * rstd + b[i];
                    }
                }
                (None, None) => {
                    for i in 0..n {
                        out[i] = (x[i] - mean) * rstd;
                    }
                }
            }
        }
    }
}

/// Mean and one over the standard deviation.
#[inline(always)]
fn moments<T: Real>(x: &[T], eps: f64, centred: bool) -> (f64, f64) {
    let n = x.len() as f64;
    let mean = if centred { sum(x, x, Plain).0 / n } else { 0.0 };
    let var = sum(x, x, Square(mean)).0 / n;
    (mean, 1.0 / Real::sqrt(var + eps))
}

struct Backward<'a, T> {
    rows: Rows<'a, T>,
    grad: &'a [T],
    x: &'a [T],
    mean: &'a [T],
    rstd: &'a [T],
    out: &'a mut [T],
}

impl<T: Real + Number> WithSimd for Backward<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let Rows { n, centred, weight, .. } = self.rows;
        for r in 0..self.mean.len() {
            let (x, grad) = (&self.x[r * n..r * n + n], &self.grad[r * n..r * n + n]);
            let out = &mut self.out[r * n..r * n + n];
            let (mean, rstd) = (self.mean[r], self.rstd[r]);
            // The weighted gradient goes through the output.
            match weight {
                Some(w) => {
                    let w = &w[..n];
                    for i in 0..n {
                        out[i] = grad[i] * w[i];
                    }
                }
                None => out.copy_from_slice(grad),
            }
            let (s, t) = sum(x, out, Slope(Real::to_f64(mean)));
            let (wide, count) = (Real::to_f64(rstd), n as f64);
            let shift: T = Real::from_f64(if centred { s / count } else { 0.0 });
            let slope: T = Real::from_f64(t * wide * wide / count);
            for i in 0..n {
                out[i] = rstd * (out[i] - shift - (x[i] - mean) * slope);
            }
        }
    }
}

impl<'a, T: Real + Number> Rows<'a, T> {
    /// Rows of `x` into `out`; a mean and an rstd a row.
    pub fn forward(
        self,
        arch: Arch,
        x: &'a [T],
        out: &'a mut [T],
        mean: &'a mut [T],
        rstd: &'a mut [T],
    ) {
        arch.dispatch(Forward { rows: self, x, out, mean, rstd });
    }

    /// The gradient for `x`.
    pub fn backward(
        self,
        arch: Arch,
        grad: &'a [T],
        x: &'a [T],
        (mean, rstd): (&'a [T], &'a [T]),
        out: &'a mut [T],
    ) {
        arch.dispatch(Backward { rows: self, grad, x, mean, rstd, out });
    }
}

/// The gradients of weight and bias for columns `[start, start + count)`, `count <= LANES`: sums
/// of `g * (x - mean) * rstd` and of `g` over the rows of `n` elements.
pub struct Weights<'a, T> {
    /// Elements of a row.
    pub n: usize,
    /// The result's gradient.
    pub grad: &'a [T],
    /// The operand.
    pub x: &'a [T],
    /// One a row.
    pub mean: &'a [T],
    /// One a row.
    pub rstd: &'a [T],
    /// First column.
    pub start: usize,
    /// Columns.
    pub count: usize,
}

impl<T: Real + Number> WithSimd for Weights<'_, T> {
    type Output = ([f64; LANES], [f64; LANES]);

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> Self::Output {
        let (mut first, mut second) = ([0f64; LANES], [0f64; LANES]);
        let Weights { n, start, count, .. } = self;
        let count = count.min(LANES);
        for r in 0..self.mean.len() {
            let at = r * n + start;
            let (x, g) = (&self.x[at..at + count], &self.grad[at..at + count]);
            let (mean, rstd) = (Real::to_f64(self.mean[r]), Real::to_f64(self.rstd[r]));
            for i in 0..count {
                let g = Real::to_f64(g[i]);
                first[i] += g * (Real::to_f64(x[i]) - mean) * rstd;
                second[i] += g;
            }
        }
        (first, second)
    }
}

/// Tensors `[samples, channels, places]`.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub struct Channels {
    pub samples: usize,
    pub channels: usize,
    pub places: usize,
}

/// What a channel's elements are summed to.
#[derive(Clone, Copy)]
pub enum Sums {
    /// The elements.
    Plain,
    /// The squares of their distances from the channel's number.
    Square,
    /// The gradient, and the gradient times that distance.
    Slope,
}

/// Sums over channels `[start, start + count)`, `count <= LANES`.
struct OfChannels<'a, T> {
    sizes: Channels,
    which: Sums,
    x: &'a [T],
    grad: &'a [T],
    start: usize,
    mean: &'a [f64],
    out: &'a mut [(f64, f64)],
}

impl<T: Real> WithSimd for OfChannels<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let Channels { samples, channels, places } = self.sizes;
        let count = self.out.len().min(LANES);
        if places == 1 {
            let (mut first, mut second) = ([0f64; LANES], [0f64; LANES]);
            let mut means = [0f64; LANES];
            means[..count].copy_from_slice(&self.mean[..count]);
            for s in 0..samples {
                let at = s * channels + self.start;
                let (x, g) = (&self.x[at..at + count], &self.grad[at..at + count]);
                for i in 0..count {
                    let (a, b) = match self.which {
                        Sums::Plain => Plain.of(x[i], g[i]),
                        Sums::Square => Square(means[i]).of(x[i], g[i]),
                        Sums::Slope => Slope(means[i]).of(x[i], g[i]),
                    };
                    first[i] += a;
                    second[i] += b;
                }
            }
            for i in 0..count {
                self.out[i] = (first[i], second[i]);
            }
            return;
        }
        for i in 0..count {
            let mut total = (0.0, 0.0);
            for s in 0..samples {
                let at = (s * channels + self.start + i) * places;
                let (x, g) = (&self.x[at..at + places], &self.grad[at..at + places]);
                let (a, b) = match self.which {
                    Sums::Plain => sum(x, g, Plain),
                    Sums::Square => sum(x, g, Square(self.mean[i])),
                    Sums::Slope => sum(x, g, Slope(self.mean[i])),
                };
                total.0 += a;
                total.1 += b;
            }
            self.out[i] = total;
        }
    }
}

impl Channels {
    /// Sums of the channels from `start` on, one a place of `out`, which is no longer than
    /// [`LANES`]; `mean` has their numbers.
    #[allow(clippy::too_many_arguments)]
    pub fn sums<T: Real>(
        self,
        arch: Arch,
        which: Sums,
        x: &[T],
        grad: &[T],
        start: usize,
        mean: &[f64],
        out: &mut [(f64, f64)],
    ) {
        arch.dispatch(OfChannels { sizes: self, which, x, grad, start, mean, out });
    }
}

/// `out = g * a + x * b + c` of each channel, for one sample (`a` 0: without the gradient).
struct Affine<'a, T> {
    places: usize,
    x: &'a [T],
    grad: Option<&'a [T]>,
    numbers: &'a [[T; 3]],
    out: &'a mut [T],
}

impl<T: Real> WithSimd for Affine<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let places = self.places;
        let channels = self.numbers.len();
        if places == 1 {
            let (x, out) = (&self.x[..channels], &mut self.out[..channels]);
            match self.grad {
                Some(g) => {
                    let g = &g[..channels];
                    for i in 0..channels {
                        let [a, b, c] = self.numbers[i];
                        out[i] = g[i] * a + x[i] * b + c;
                    }
                }
                None => {
                    for i in 0..channels {
                        let [_, b, c] = self.numbers[i];
                        out[i] = x[i] * b + c;
                    }
                }
            }
            return;
        }
        for (i, [a, b, c]) in self.numbers.iter().copied().enumerate() {
            let range = i * places..i * places + places;
            let (x, out) = (&self.x[range.clone()], &mut self.out[range.clone()]);
            match self.grad {
                Some(g) => {
                    let g = &g[range];
                    for i in 0..places {
                        out[i] = g[i] * a + x[i] * b + c;
                    }
                }
                None => {
                    for i in 0..places {
                        out[i] = x[i] * b + c;
                    }
                }
            }
        }
    }
}

/// `out = grad * a + x * b + c` with `[a, b, c]` of each channel, for the channels of `numbers`;
/// without a gradient `x * b + c`.
pub fn affine<T: Real>(
    arch: Arch,
    places: usize,
    x: &[T],
    grad: Option<&[T]>,
    numbers: &[[T; 3]],
    out: &mut [T],
) {
    arch.dispatch(Affine { places, x, grad, numbers, out });
}
