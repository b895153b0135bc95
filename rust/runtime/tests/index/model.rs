//! Random operands, and tensors as lists.

use wick_core::{DType, Element, Layout};
use wick_runtime::ops::array::from_elements;
use wick_runtime::{Context, Result, Tensor};

/// A small generator: a case is a seed.
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    pub fn below(&mut self, n: usize) -> usize {
        ((self.next() >> 33) as usize) % n.max(1)
    }

    pub fn flip(&mut self) -> bool {
        self.below(2) == 1
    }

    pub fn dtype(&mut self) -> DType {
        DType::ALL[self.below(10)]
    }

    pub fn shape(&mut self, rank: usize, most: usize) -> Vec<i64> {
        (0..rank).map(|_| self.below(most + 1) as i64).collect()
    }

    /// Numbers that every dtype holds exactly.
    pub fn numbers(&mut self, dtype: DType, n: usize) -> Vec<i64> {
        let most = if dtype == DType::Bool { 2 } else { 13 };
        (0..n).map(|_| self.below(most) as i64).collect()
    }

    /// A tensor of some shape, seen through steps, an offset, a permutation or an expansion.
    pub fn tensor(&mut self, ctx: &Context, dtype: DType, shape: &[i64], expand: bool) -> Tensor {
        let rank = shape.len();
        let mut order: Vec<usize> = (0..rank).collect();
        for i in (1..rank).rev() {
            order.swap(i, self.below(i + 1));
        }
        let plain = self.flip();
        let (mut strides, mut stride) = (vec![0; rank], 1);
        if plain {
            order.sort_by(|a, b| b.cmp(a));
        }
        for &d in &order {
            if expand && !plain && self.below(5) == 0 {
                continue;
            }
            strides[d] = stride * if plain { 1 } else { 1 + self.below(3) as i64 };
            stride = strides[d] * shape[d].max(1);
        }
        let offset = if plain { 0 } else { self.below(4) as i64 };
        let layout = Layout::strided(shape, &strides, offset).unwrap();
        let size = layout.span().unwrap().max(offset).max(1);
        let numbers = self.numbers(dtype, size as usize);
        let storage = make(ctx, dtype, &[size], &numbers);
        storage.with_layout("test", Ok(layout)).unwrap()
    }

    pub fn indices(&mut self, ctx: &Context, shape: &[i64], size: i64, wrap: bool) -> Tensor {
        let t = self.tensor(ctx, DType::I64, shape, false);
        let whole = storage_of(&t);
        let numbers: Vec<i64> = (0..whole.numel())
            .map(|_| self.below(size as usize) as i64 - if wrap && self.flip() { size } else { 0 })
            .collect();
        write(&whole, &numbers);
        t
    }
}

pub fn make(ctx: &Context, dtype: DType, shape: &[i64], numbers: &[i64]) -> Tensor {
    let t = from_elements(ctx, dtype, shape, numbers.len(), |_| {}).unwrap();
    write(&t, numbers);
    t
}

/// Writes all elements of a contiguous tensor.
pub fn write(t: &Tensor, numbers: &[i64]) {
    assert!(t.layout().is_contiguous() && t.numel() as usize == numbers.len());
    wick_core::with_dtype!(t.dtype(), T => {
        for (i, n) in numbers.iter().enumerate() {
            // SAFETY: a contiguous tensor that nobody else uses.
            unsafe { t.view_mut().start().cast::<T>().add(i).write(T::store(*n)) };
        }
    });
}

pub fn storage_of(t: &Tensor) -> Tensor {
    let all = Layout::contiguous(&[t.capacity()]);
    t.with_layout("test", all).unwrap()
}

pub fn values(t: &Tensor) -> Vec<i64> {
    tuples(t.shape()).map(|at| get(t, &at)).collect()
}

pub fn get(t: &Tensor, at: &[i64]) -> i64 {
    let offset: i64 = at.iter().zip(t.layout().strides()).map(|(i, s)| i * s).sum();
    wick_core::with_dtype!(t.dtype(), T => {
        // SAFETY: an index tuple of the layout.
        let element = unsafe { t.view().start().cast::<T>().offset(offset as isize).read() };
        wick_core::Number::to_i64(element.load())
    })
}

/// All index tuples of a shape, in row-major order.
pub fn tuples(shape: &[i64]) -> impl Iterator<Item = Vec<i64>> + use<> {
    let shape = shape.to_vec();
    let n: i64 = shape.iter().product();
    (0..n).map(move |mut k| {
        let mut at = vec![0; shape.len()];
        for d in (0..shape.len()).rev() {
            at[d] = k % shape[d];
            k /= shape[d];
        }
        at
    })
}

pub fn flat(shape: &[i64], at: &[i64]) -> usize {
    at.iter().zip(shape).fold(0, |n, (i, size)| n * size + i) as usize
}

pub fn replaced(at: &[i64], d: usize, value: i64) -> Vec<i64> {
    let mut out = at.to_vec();
    out[d] = value;
    out
}

pub fn context(threads: usize) -> Context {
    Context::new(1 << 32, threads)
}

/// Runs an operation out of place and in place (on a copy of the whole storage), and compares both
/// with what a loop gives; nothing but the view may change.
pub fn both(
    ctx: &Context,
    a: &Tensor,
    expected: &[i64],
    run: &dyn Fn(&Tensor, bool) -> Result<Option<Tensor>>,
) {
    let before = values(&storage_of(a));
    let out = run(a, false).unwrap().unwrap();
    assert_eq!(values(&out), expected);
    assert_eq!(out.dtype(), a.dtype());
    assert_eq!(values(&storage_of(a)), before);
    assert!(run(a, true).unwrap().is_none());
    assert_eq!(values(a), expected);
    let after = values(&storage_of(a));
    let whole = storage_of(a);
    let mark = make(ctx, DType::I64, &[whole.numel()], &vec![0; whole.numel() as usize]);
    let seen = mark.with_layout("test", Ok(*a.layout())).unwrap();
    for at in tuples(seen.shape()) {
        let offset: i64 = at.iter().zip(seen.layout().strides()).map(|(i, s)| i * s).sum();
        // SAFETY: an index tuple of the layout.
        unsafe { seen.view_mut().start().cast::<i64>().offset(offset as isize).write(1) };
    }
    for (k, mark) in values(&mark).iter().enumerate() {
        assert!(*mark == 1 || before[k] == after[k], "place {k} lies outside the view");
    }
}

/// Adding in a dtype.
pub fn plus(dtype: DType, a: i64, b: i64) -> i64 {
    match dtype {
        DType::Bool => (a != 0 || b != 0) as i64,
        DType::I8 => (a + b) as i8 as i64,
        DType::U8 => (a + b) as u8 as i64,
        _ => a + b,
    }
}
