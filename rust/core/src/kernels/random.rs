//! Random elements. Element i of a draw is a function of (seed, offset, i) alone: its step of the
//! stream is `offset + i / width` and its place there `i % width`, where a step has 64 numbers of
//! 32 bits or 32 numbers of 64 bits. Parts of a kernel are whole steps, so neither threads nor
//! vector widths show in the result.

use pulp::{Arch, Simd, WithSimd};

use super::philox::{self, LANES, Words};
use crate::block::gather;
use crate::dtype::{DType, Element};
use crate::nest::Nest;
use crate::number::Number;
use crate::scalar::Real;
use crate::view::{View, ViewMut};
use crate::window::{Kernel, ThreadInfo, Window};
use crate::with_dtype;

/// Elements that a step of the stream is reserved for, whatever their type.
pub const STEP: u64 = 2 * LANES as u64;

/// Steps that a draw of `n` elements takes.
pub fn steps(n: i64) -> u64 {
    (n.max(0) as u64).div_ceil(STEP)
}

/// A distribution with its parameters.
// A view is large, and core has no boxes.
#[allow(missing_docs, clippy::large_enum_variant)]
#[derive(Clone, Copy, Debug)]
pub enum Law {
    /// low + u * span, at most `top`; u has as many bits as the type's significand.
    Uniform { low: f64, span: f64, top: f64 },
    /// By Box and Muller's method.
    Normal { mean: f64, std: f64 },
    /// With a rate: minus the logarithm of a uniform number, never of 0, over the rate.
    Exponential { rate: f64 },
    /// low + a number below `span` (0: 2^64), then held inside bounds that the type can express.
    /// By multiplication and shift: no number is more than span / 2^64 likelier than another.
    Integer { low: i64, span: u64, bottom: i64, top: i64 },
    /// 1 with this probability, else 0.
    Bernoulli { p: f64 },
    /// As Bernoulli, with the probabilities of a tensor of the output's shape, in row-major order.
    BernoulliOf { probs: View },
}

/// Writes random elements to a contiguous tensor.
#[derive(Clone, Copy)]
#[allow(missing_docs)]
pub struct Draw {
    pub arch: Arch,
    pub out: ViewMut,
    pub law: Law,
    pub seed: u64,
    pub offset: u64,
}

/// A law in one compute type.
trait Make: Copy {
    type Value: Number;
    /// Elements a step.
    const WIDTH: usize;
    fn make(&self, words: &Words, out: &mut [Self::Value; 4 * LANES]);
}

/// The steps of a part, compiled for each CPU level.
struct Run<'a, M, D> {
    make: M,
    seed: u64,
    first: u64,
    out: &'a mut [D],
}

impl<M: Make, D: Element> WithSimd for Run<'_, M, D> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let mut values = [M::Value::ZERO; 4 * LANES];
        let mut at = self.first;
        for out in self.out.chunks_mut(M::WIDTH) {
            self.make.make(&philox::step(self.seed, at), &mut values);
            for (to, value) in out.iter_mut().zip(&values[..M::WIDTH]) {
                *to = D::store(*value);
            }
            at = at.wrapping_add(1);
        }
    }
}

/// f32, f16, bf16: `bits` of each word.
#[derive(Clone, Copy)]
struct Uniform32 {
    low: f32,
    span: f32,
    top: f32,
    bits: u32,
}

impl Make for Uniform32 {
    type Value = f32;
    const WIDTH: usize = 4 * LANES;

    #[inline(always)]
    fn make(&self, words: &Words, out: &mut [f32; 4 * LANES]) {
        let (shift, unit) = (32 - self.bits, 1.0 / (1u32 << self.bits) as f32);
        for (row, out) in words.iter().zip(out.chunks_exact_mut(LANES)) {
            for (word, out) in row.iter().zip(out) {
                let u = (word >> shift) as i32 as f32 * unit;
                *out = Real::min(self.low + u * self.span, self.top);
            }
        }
    }
}

/// The upper 53 bits as a number in [0, 1). From two halves, each put under an exponent and freed
/// from it: AVX2 cannot convert 64-bit integers.
#[inline(always)]
fn unit(bits: u64) -> f64 {
    const LOW: f64 = (1u64 << 52) as f64;
    const HIGH: f64 = LOW * (1u64 << 32) as f64;
    let bits = bits >> 11;
    let low = f64::from_bits(LOW.to_bits() | bits & 0xffff_ffff) - LOW;
    let high = f64::from_bits(HIGH.to_bits() | bits >> 32) - HIGH;
    (high + low) * (1.0 / (1u64 << 53) as f64)
}

#[derive(Clone, Copy)]
struct Uniform64 {
    low: f64,
    span: f64,
    top: f64,
}

impl Make for Uniform64 {
    type Value = f64;
    const WIDTH: usize = 2 * LANES;

    #[inline(always)]
    fn make(&self, words: &Words, out: &mut [f64; 4 * LANES]) {
        for (bits, out) in philox::longs(words).iter().zip(out) {
            *out = Real::min(self.low + unit(*bits) * self.span, self.top);
        }
    }
}

/// Sine and cosine of x, ±π/4 at most, by their Taylor series.
macro_rules! sine_cosine {
    ($name:ident $t:ident $sine:expr, $cosine:expr) => {
        #[inline(always)]
        fn $name(x: $t) -> ($t, $t) {
            let z = x * x;
            let series = |terms: &[$t]| {
                let mut sum = 0.0;
                for term in terms.iter().rev() {
                    sum = sum * z + term;
                }
                sum
            };
            (x + x * z * series(&$sine), 1.0 + z * series(&$cosine))
        }
    };
}
sine_cosine!(sine_cosine_32 f32
    [-1.0 / 6.0, 1.0 / 120.0, -1.0 / 5040.0, 1.0 / 362880.0],
    [-1.0 / 2.0, 1.0 / 24.0, -1.0 / 720.0, 1.0 / 40320.0, -1.0 / 3628800.0]);
sine_cosine!(sine_cosine_64 f64
    [-1.0 / 6.0, 1.0 / 120.0, -1.0 / 5040.0, 1.0 / 362880.0, -1.0 / 39916800.0,
        1.0 / 6227020800.0, -1.0 / 1307674368000.0],
    [-1.0 / 2.0, 1.0 / 24.0, -1.0 / 720.0, 1.0 / 40320.0, -1.0 / 3628800.0,
        1.0 / 479001600.0, -1.0 / 87178291200.0, 1.0 / 20922789888000.0]);

#[derive(Clone, Copy)]
struct Normal<T> {
    mean: T,
    std: T,
}

impl Make for Normal<f32> {
    type Value = f32;
    const WIDTH: usize = 4 * LANES;

    /// The first word of a pair gives the radius, never of a uniform 0, the second the angle.
    #[inline(always)]
    fn make(&self, words: &Words, out: &mut [f32; 4 * LANES]) {
        const TURN: f32 = 1.0 / 4_294_967_296.0;
        for pair in 0..2 {
            let at = pair * 2 * LANES;
            for lane in 0..LANES {
                let (a, b) = (words[2 * pair][lane], words[2 * pair + 1][lane]);
                // Halves, each exact, so that the conversion is that of signed integers.
                let a = (a >> 16) as i32 as f32 * 65536.0 + (a & 0xffff) as i32 as f32;
                let u = a * TURN + 0.5 * TURN;
                let radius = Real::sqrt(-2.0 * Real::ln(u)) * self.std;
                // b counts 2^-32 turns: the nearest quarter and the signed rest.
                let rest = (b << 2) as i32;
                let quarter = (b >> 30).wrapping_add((rest < 0) as u32);
                let angle = rest as f32 * (core::f32::consts::FRAC_PI_2 * TURN);
                let (s, c) = sine_cosine_32(angle);
                let (x, y) = if quarter & 1 == 0 { (c, s) } else { (s, c) };
                let x = f32::from_bits(x.to_bits() ^ (quarter.wrapping_add(1) & 2) << 30);
                let y = f32::from_bits(y.to_bits() ^ (quarter & 2) << 30);
                out[at + lane] = self.mean + radius * x;
                out[at + LANES + lane] = self.mean + radius * y;
            }
        }
    }
}

impl Make for Normal<f64> {
    type Value = f64;
    const WIDTH: usize = 2 * LANES;

    #[inline(always)]
    fn make(&self, words: &Words, out: &mut [f64; 4 * LANES]) {
        const ONE: u64 = 1f64.to_bits();
        // Adding this rounds to an integer, which then stands in the low bits.
        const ROUND: f64 = 1.5 * (1u64 << 52) as f64;
        let longs = philox::longs(words);
        for lane in 0..LANES {
            let (a, b) = (longs[lane], longs[LANES + lane]);
            // In (0, 1].
            let u = 2.0 - f64::from_bits(ONE | a >> 12);
            let radius = Real::sqrt(-2.0 * Real::ln(u)) * self.std;
            let turns = 4.0 * (f64::from_bits(ONE | b >> 12) - 1.0);
            let rounded = turns + ROUND;
            let quarter = rounded.to_bits();
            let angle = (turns - (rounded - ROUND)) * core::f64::consts::FRAC_PI_2;
            let (s, c) = sine_cosine_64(angle);
            let (x, y) = if quarter & 1 == 0 { (c, s) } else { (s, c) };
            let x = f64::from_bits(x.to_bits() ^ (quarter.wrapping_add(1) & 2) << 62);
            let y = f64::from_bits(y.to_bits() ^ (quarter & 2) << 62);
            out[lane] = self.mean + radius * x;
            out[LANES + lane] = self.mean + radius * y;
        }
    }
}

#[derive(Clone, Copy)]
struct Exponential<T> {
    rate: T,
}

impl Make for Exponential<f32> {
    type Value = f32;
    const WIDTH: usize = 4 * LANES;

    #[inline(always)]
    fn make(&self, words: &Words, out: &mut [f32; 4 * LANES]) {
        for (row, out) in words.iter().zip(out.chunks_exact_mut(LANES)) {
            for (word, out) in row.iter().zip(out) {
                // Of 25 bits, the lowest always 1: in (0, 1).
                let u = ((word >> 8) as i32 as f32 + 0.5) * (1.0 / (1 << 24) as f32);
                *out = -Real::ln(u) / self.rate;
            }
        }
    }
}

impl Make for Exponential<f64> {
    type Value = f64;
    const WIDTH: usize = 2 * LANES;

    #[inline(always)]
    fn make(&self, words: &Words, out: &mut [f64; 4 * LANES]) {
        for (bits, out) in philox::longs(words).iter().zip(out) {
            *out = -Real::ln(1.0 - unit(*bits)) / self.rate;
        }
    }
}

/// The upper 64 bits of a product: a number below `span`.
#[inline(always)]
fn below(bits: u64, span: u64) -> u64 {
    ((u128::from(bits) * u128::from(span)) >> 64) as u64
}

#[derive(Clone, Copy)]
struct Integer<const SMALL: bool> {
    low: i64,
    span: u64,
    bottom: i64,
    top: i64,
}

impl<const SMALL: bool> Make for Integer<SMALL> {
    type Value = i64;
    const WIDTH: usize = 2 * LANES;

    #[inline(always)]
    fn make(&self, words: &Words, out: &mut [i64; 4 * LANES]) {
        for (bits, out) in philox::longs(words).into_iter().zip(out) {
            let number = if SMALL {
                // The same upper bits from two products that vectors have.
                let (high, low) = (bits >> 32, bits & 0xffff_ffff);
                (high * self.span + ((low * self.span) >> 32)) >> 32
            } else if self.span == 0 {
                bits
            } else {
                below(bits, self.span)
            };
            let value = self.low.wrapping_add(number as i64);
            *out = value.max(self.bottom).min(self.top);
        }
    }
}

#[derive(Clone, Copy)]
struct Bernoulli {
    p: f64,
}

impl Make for Bernoulli {
    type Value = u8;
    const WIDTH: usize = 2 * LANES;

    #[inline(always)]
    fn make(&self, words: &Words, out: &mut [u8; 4 * LANES]) {
        for (bits, out) in philox::longs(words).iter().zip(out) {
            *out = (unit(*bits) < self.p) as u8;
        }
    }
}

impl Draw {
    /// Whether elements are made of 32-bit words.
    fn narrow(&self) -> bool {
        let float =
            matches!(self.law, Law::Uniform { .. } | Law::Normal { .. } | Law::Exponential { .. });
        float && self.out.dtype != DType::F64
    }

    fn width(&self) -> i64 {
        if self.narrow() { 4 * LANES as i64 } else { 2 * LANES as i64 }
    }

    fn write<D: Element>(&self, out: &mut [D], step: u64) {
        match self.law {
            Law::Uniform { low, span, top } if self.narrow() => {
                let bits = match self.out.dtype {
                    DType::F16 => 11,
                    DType::BF16 => 8,
                    _ => 24,
                };
                let [low, span, top] = [low, span, top].map(|v| v as f32);
                let make = Uniform32 { low, span, top, bits };
                self.go(make, out, step);
            }
            Law::Uniform { low, span, top } => self.go(Uniform64 { low, span, top }, out, step),
            Law::Normal { mean, std } if self.narrow() => {
                let (mean, std) = (mean as f32, std as f32);
                self.go(Normal { mean, std }, out, step);
            }
            Law::Normal { mean, std } => self.go(Normal { mean, std }, out, step),
            Law::Exponential { rate } if self.narrow() => {
                self.go(Exponential { rate: rate as f32 }, out, step);
            }
            Law::Exponential { rate } => self.go(Exponential { rate }, out, step),
            Law::Integer { low, span, bottom, top } => {
                if span != 0 && span <= 1 << 32 {
                    let make = Integer::<true> { low, span, bottom, top };
                    self.go(make, out, step);
                } else {
                    let make = Integer::<false> { low, span, bottom, top };
                    self.go(make, out, step);
                }
            }
            Law::Bernoulli { p } => self.go(Bernoulli { p }, out, step),
            Law::BernoulliOf { probs } => {
                let nest = Nest::new(&[&probs.layout]);
                let mut p = [0f64; STEP as usize];
                for (k, out) in out.chunks_mut(p.len()).enumerate() {
                    let at = step + k as u64;
                    let p = &mut p[..out.len()];
                    // SAFETY: contiguous probabilities of the output's shape, alive meanwhile.
                    unsafe { gather(self.arch, &probs, &nest, 0, (at * STEP) as i64, p) };
                    let words = philox::step(self.seed, self.offset.wrapping_add(at));
                    for ((out, p), bits) in out.iter_mut().zip(p).zip(philox::longs(&words)) {
                        *out = D::store((unit(bits) < *p) as u8);
                    }
                }
            }
        }
    }

    fn go<M: Make, D: Element>(&self, make: M, out: &mut [D], step: u64) {
        self.arch.dispatch(Run {
            make,
            seed: self.seed,
            first: self.offset.wrapping_add(step),
            out,
        });
    }
}

impl Kernel for Draw {
    /// Steps of the stream.
    fn window(&self) -> Window {
        let width = self.width();
        let n = self.out.layout.numel();
        Window::flat(n / width + (n % width != 0) as i64)
    }

    fn cost(&self) -> f64 {
        match self.law {
            Law::Normal { .. } | Law::Exponential { .. } => 150.0,
            _ => 80.0,
        }
    }

    fn run(&self, part: &Window, _: ThreadInfo, _: &mut [u8]) {
        let (dim, width) = (part.dim(0), self.width());
        let start = dim.start * width;
        let end = (dim.end * width).min(self.out.layout.numel());
        with_dtype!(self.out.dtype, D => {
            // SAFETY: contiguous and inside the storage; this part's elements are ours to write.
            let out = unsafe {
                let first = self.out.start().cast::<D>().offset(start as isize);
                core::slice::from_raw_parts_mut(first, (end - start) as usize)
            };
            self.write(out, dim.start as u64);
        })
    }
}

/// 0 to n - 1 in random order, to a contiguous tensor: Fisher and Yates' exchange.
#[derive(Clone, Copy)]
#[allow(missing_docs)]
pub struct Shuffle {
    pub out: ViewMut,
    pub seed: u64,
    pub offset: u64,
}

impl Kernel for Shuffle {
    fn window(&self) -> Window {
        Window::flat(self.out.layout.numel())
    }

    fn split_dim(&self) -> Option<usize> {
        None
    }

    fn cost(&self) -> f64 {
        4.0
    }

    fn run(&self, _: &Window, _: ThreadInfo, _: &mut [u8]) {
        let n = self.out.layout.numel() as usize;
        with_dtype!(self.out.dtype, D => {
            // SAFETY: contiguous, inside the storage, ours to write.
            let out = unsafe {
                core::slice::from_raw_parts_mut(self.out.start().cast::<D>(), n)
            };
            for (i, out) in out.iter_mut().enumerate() {
                *out = D::store(i as i64);
            }
            let mut longs = [0; STEP as usize];
            for k in 0..n.saturating_sub(1) {
                let place = k % longs.len();
                if place == 0 {
                    let at = self.offset.wrapping_add((k / longs.len()) as u64);
                    longs = philox::longs(&philox::step(self.seed, at));
                }
                let last = n - 1 - k;
                out.swap(last, below(longs[place], last as u64 + 1) as usize);
            }
        })
    }
}
