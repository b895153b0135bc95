//! Random elements by rejection: Poisson and gamma variates, each with a parameter of its own.
//! Element i takes as many numbers as it needs from counters that only it uses, so that it depends
//! on seed, offset and i alone, as in `random.rs`.

use pulp::Arch;

use super::philox;
use super::random::STEP;
use crate::block::{BLOCK, Buffer, gather};
use crate::dtype::Element;
use crate::nest::Nest;
use crate::scalar::Real;
use crate::view::{View, ViewMut};
use crate::window::{Kernel, ThreadInfo, Window};
use crate::with_dtype;

/// A distribution with one parameter.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Variate {
    /// Poisson with the parameter as its rate.
    Poisson,
    /// Gamma with the parameter as its shape, and scale 1.
    Gamma,
}

/// Writes a variate for each parameter to a contiguous tensor.
#[derive(Clone, Copy)]
#[allow(missing_docs)]
pub struct Rejection {
    pub arch: Arch,
    pub out: ViewMut,
    /// Contiguous, of the output's shape; neither negative nor NaN.
    pub parameters: View,
    pub variate: Variate,
    pub seed: u64,
    pub offset: u64,
}

/// The numbers of one element.
struct Source {
    key: [u32; 2],
    counter: [u32; 4],
    spare: Option<u64>,
}

impl Source {
    fn new(seed: u64, offset: u64, element: u64) -> Source {
        let [low, high] = philox::halves(offset.wrapping_add(element / STEP));
        // 0 is the word of plain draws, 1 that of splits.
        Source {
            key: philox::halves(seed),
            counter: [low, high, (element % STEP) as u32, 2],
            spare: None,
        }
    }

    /// Uniform on (0, 1).
    fn uniform(&mut self) -> f64 {
        let bits = self.spare.take().unwrap_or_else(|| {
            let [a, b, c, d] = philox::block(self.key, self.counter).map(u64::from);
            self.counter[3] = self.counter[3].wrapping_add(1);
            self.spare = Some(c | d << 32);
            a | b << 32
        });
        ((bits >> 12) as f64 + 0.5) * (1.0 / (1u64 << 52) as f64)
    }

    /// Standard normal, by Box and Muller's method.
    fn normal(&mut self) -> f64 {
        let radius = Real::sqrt(-2.0 * Real::ln(self.uniform()));
        radius * Real::cos(2.0 * core::f64::consts::PI * self.uniform())
    }

    fn poisson(&mut self, rate: f64) -> f64 {
        if rate < 10.0 { self.few(rate) } else { self.many(rate) }
    }

    /// Counts the factors that a product of uniforms survives (Knuth, TAOCP 3.4.1).
    fn few(&mut self, rate: f64) -> f64 {
        let limit = Real::exp(-rate);
        let (mut count, mut product) = (0.0, self.uniform());
        while product > limit {
            count += 1.0;
            product *= self.uniform();
        }
        count
    }

    /// Transformed rejection with squeeze: PTRS of Hörmann, "The transformed rejection method for
    /// generating Poisson random variables" (1993).
    fn many(&mut self, rate: f64) -> f64 {
        if rate.is_infinite() {
            return rate;
        }
        let log_rate = Real::ln(rate);
        let b = 0.931 + 2.53 * Real::sqrt(rate);
        let a = -0.059 + 0.02483 * b;
        let inverse_alpha = 1.1239 + 1.1328 / (b - 3.4);
        let v_r = 0.9277 - 3.6224 / (b - 2.0);
        loop {
            let u = self.uniform() - 0.5;
            let v = self.uniform();
            let us = 0.5 - Real::abs(u);
            let k = Real::floor((2.0 * a / us + b) * u + rate + 0.43);
            if us >= 0.07 && v <= v_r {
                return k;
            }
            if k < 0.0 || (us < 0.013 && v > us) {
                continue;
            }
            let left = Real::ln(v * inverse_alpha / (a / (us * us) + b));
            if left <= k * log_rate - rate - Real::lgamma(k + 1.0) {
                return k;
            }
        }
    }

    /// Marsaglia and Tsang, "A simple method for generating gamma variables" (2000); shapes below 1
    /// by their remark, from the next higher one.
    fn gamma(&mut self, shape: f64) -> f64 {
        if shape == 0.0 {
            return 0.0;
        }
        let (shape, boost) = if shape < 1.0 {
            (shape + 1.0, Real::pow(self.uniform(), 1.0 / shape))
        } else {
            (shape, 1.0)
        };
        if shape.is_infinite() {
            return shape;
        }
        let d = shape - 1.0 / 3.0;
        let c = 1.0 / Real::sqrt(9.0 * d);
        loop {
            let x = self.normal();
            let cube_root = 1.0 + c * x;
            if cube_root <= 0.0 {
                continue;
            }
            let v = cube_root * cube_root * cube_root;
            if Real::ln(self.uniform()) < 0.5 * x * x + d * (1.0 - v + Real::ln(v)) {
                return boost * d * v;
            }
        }
    }
}

impl Kernel for Rejection {
    fn window(&self) -> Window {
        Window::flat(self.out.layout.numel())
    }

    fn cost(&self) -> f64 {
        100.0
    }

    fn run(&self, part: &Window, _: ThreadInfo, _: &mut [u8]) {
        let dim = part.dim(0);
        let nest = Nest::new(&[&self.parameters.layout]);
        let mut buffer = Buffer::<f64>::uninit();
        for at in (dim.start..dim.end).step_by(BLOCK) {
            let n = (dim.end - at).min(BLOCK as i64) as usize;
            // SAFETY: contiguous parameters and output of one shape, alive meanwhile; gather writes
            // the whole slice, and this part's elements are ours to write.
            unsafe {
                let parameters = buffer.slice(n);
                gather(self.arch, &self.parameters, &nest, 0, at, parameters);
                with_dtype!(self.out.dtype, D => {
                    let out = self.out.start().cast::<D>().offset(at as isize);
                    for (i, p) in parameters.iter().enumerate() {
                        let mut source = Source::new(self.seed, self.offset, at as u64 + i as u64);
                        let value = match self.variate {
                            Variate::Poisson => source.poisson(*p),
                            Variate::Gamma => source.gamma(*p),
                        };
                        out.add(i).write(D::store(value));
                    }
                })
            }
        }
    }
}
