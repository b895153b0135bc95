//! Tensors as lists, and what each operation does to one.

use proptest::prelude::*;
use wick_core::DType;
use wick_runtime::ops::array::{from_elements, with_elements};
use wick_runtime::ops::elementwise::cast;
use wick_runtime::ops::shape::{ShapeOp, apply};
use wick_runtime::{Context, Error, Tensor};

pub fn ctx() -> Context {
    Context::new(2 << 30, 2)
}

/// i64 values 0, 1, 2, … of a shape.
pub fn counted(ctx: &Context, shape: &[i64]) -> Tensor {
    let n: i64 = shape.iter().product();
    let fill = |bytes: &mut [u8]| {
        for (to, v) in bytes.chunks_exact_mut(8).zip(0i64..) {
            to.copy_from_slice(&v.to_ne_bytes());
        }
    };
    from_elements(ctx, DType::I64, shape, n as usize, fill).unwrap()
}

/// The elements as i64, in row-major order.
pub fn values(ctx: &Context, t: &Tensor) -> Vec<i64> {
    let t = cast(ctx, t, DType::I64).unwrap();
    let read = |bytes: &[u8]| {
        let words = bytes.chunks_exact(8);
        words.map(|b| i64::from_ne_bytes(b.try_into().unwrap())).collect()
    };
    with_elements(ctx, &t, DType::I64, t.numel() as usize, read).unwrap()
}

pub fn run(ctx: &Context, op: ShapeOp, a: &Tensor, p: &[i64]) -> Result<Tensor, Error> {
    apply(ctx, op, a, p).map(|t| t.expect("not in place"))
}

/// A tensor as a list: shape and, for each index tuple in row-major order, the value.
#[derive(Clone, Debug, PartialEq)]
pub struct Model {
    pub shape: Vec<i64>,
    pub values: Vec<i64>,
}

pub fn tuples(shape: &[i64]) -> Vec<Vec<i64>> {
    let mut out = vec![vec![]];
    for &size in shape {
        let longer =
            out.iter().flat_map(|t: &Vec<i64>| (0..size).map(move |i| [&t[..], &[i]].concat()));
        out = longer.collect();
    }
    out
}

impl Model {
    pub fn get(&self, index: &[i64]) -> i64 {
        assert_eq!(index.len(), self.shape.len());
        let flat = index.iter().zip(&self.shape).fold(0, |n, (i, s)| {
            assert!((0..*s).contains(i));
            n * s + i
        });
        self.values[flat as usize]
    }

    /// A model of a shape whose values lie where `from` says.
    pub fn map(&self, shape: Vec<i64>, from: impl Fn(&[i64]) -> Vec<i64>) -> Model {
        let values = tuples(&shape).iter().map(|i| self.get(&from(i))).collect();
        Model { shape, values }
    }
}

/// One operation: the native arguments and what it does to a model. Numbers are taken modulo what
/// is valid, so that every sequence runs.
pub fn step(m: &Model, code: u8, r: [u32; 3]) -> Option<(ShapeOp, Vec<i64>, Model)> {
    let rank = m.shape.len();
    let pick = |k: usize, n: usize| r[k] as usize % n.max(1);
    let shape = m.shape.clone();
    // Either way of naming a dimension.
    let name = |d: usize, k: usize| {
        if r[k] & 0x100 == 0 { d as i64 } else { d as i64 - rank as i64 }
    };
    let with = |d: usize, size: i64| {
        let mut s = m.shape.clone();
        s[d] = size;
        s
    };
    let moved = |i: &[i64], d: usize, to: i64| {
        let mut i = i.to_vec();
        i[d] = to;
        i
    };
    if rank == 0 && !matches!(code % 20, 6 | 7 | 9) {
        return None;
    }
    let d = pick(0, rank);
    let e = pick(1, rank);
    Some(match code % 20 {
        0 => {
            let start = pick(1, shape[d] as usize + 1) as i64;
            let length = pick(2, (shape[d] - start) as usize + 1) as i64;
            let out = m.map(with(d, length), |i| moved(i, d, i[d] + start));
            (ShapeOp::Narrow, vec![name(d, 2), start, length], out)
        }
        1 => {
            let size = shape[d];
            let bound = |k: usize| pick(k, 2 * size as usize + 5) as i64 - size - 2;
            let (start, end, by) = (bound(1), bound(2), 1 + pick(1, 4) as i64);
            let clamp = |v: i64| {
                if v < 0 { (v + size).max(0) } else { v.min(size) }
            };
            let kept: Vec<i64> = (clamp(start)..clamp(end)).step_by(by as usize).collect();
            let out = m.map(with(d, kept.len() as i64), |i| moved(i, d, kept[i[d] as usize]));
            (ShapeOp::Slice, vec![name(d, 2), start, end, by], out)
        }
        2 => {
            if shape[d] == 0 {
                return None;
            }
            let at = pick(1, shape[d] as usize) as i64;
            let mut s = shape.clone();
            s.remove(d);
            let out = m.map(s, |i| [&i[..d], &[at], &i[d..]].concat());
            let named = if r[2] & 1 == 0 { at } else { at - shape[d] };
            (ShapeOp::Select, vec![name(d, 2), named], out)
        }
        3 => {
            let mut s = shape.clone();
            s.swap(d, e);
            let out = m.map(s, |i| {
                let mut i = i.to_vec();
                i.swap(d, e);
                i
            });
            (ShapeOp::Transpose, vec![name(d, 2), name(e, 1)], out)
        }
        4 => {
            let mut dims: Vec<usize> = (0..rank).collect();
            dims.rotate_left(d);
            dims.swap(0, e);
            let s = dims.iter().map(|d| shape[*d]).collect();
            let out = m.map(s, |i| {
                let mut from = vec![0; rank];
                for (to, d) in dims.iter().enumerate() {
                    from[*d] = i[to];
                }
                from
            });
            (ShapeOp::Permute, dims.iter().map(|d| name(*d, 2)).collect(), out)
        }
        5 => {
            let mut s = shape.clone();
            let size = s.remove(d);
            s.insert(e, size);
            let out = m.map(s, |i| {
                let mut i = i.to_vec();
                let at = i.remove(e);
                i.insert(d, at);
                i
            });
            if r[2] & 1 == 0 {
                (ShapeOp::Movedim, vec![name(d, 2), name(e, 1)], out)
            } else {
                (ShapeOp::MovedimList, vec![1, name(d, 2), name(e, 1)], out)
            }
        }
        6 => {
            let extra = pick(0, 2);
            let stretched = |k: usize| shape[k] == 1 && r[1] >> k & 1 == 1;
            let s: Vec<i64> = (0..extra)
                .map(|_| 2)
                .chain((0..rank).map(|k| if stretched(k) { 3 } else { shape[k] }))
                .collect();
            if s.iter().product::<i64>() > 3000 {
                return None;
            }
            let out = m.map(s.clone(), |i| {
                let i = i[extra..].iter().enumerate();
                i.map(|(k, i)| if stretched(k) { 0 } else { *i }).collect()
            });
            let mut p = s;
            if rank > 0 && !stretched(rank - 1) && r[2] & 1 == 0 {
                p[extra + rank - 1] = -1;
            }
            (ShapeOp::Expand, p, out)
        }
        7 => {
            let d = pick(0, rank + 1);
            let mut s = shape.clone();
            s.insert(d, 1);
            let out = m.map(s, |i| [&i[..d], &i[d + 1..]].concat());
            let named = if r[2] & 1 == 0 { d as i64 } else { d as i64 - rank as i64 - 1 };
            (ShapeOp::Unsqueeze, vec![named], out)
        }
        8 => {
            let gone = shape[d] == 1;
            let mut s = shape.clone();
            if gone {
                s.remove(d);
            }
            let out =
                m.map(s, |i| if gone { [&i[..d], &[0], &i[d..]].concat() } else { i.to_vec() });
            if r[2] & 1 == 0 {
                (ShapeOp::Squeeze, vec![name(d, 1)], out)
            } else {
                (ShapeOp::SqueezeDims, vec![name(d, 1)], out)
            }
        }
        9 => {
            let s = shape.iter().copied().filter(|s| *s != 1).collect();
            let out = Model { shape: s, values: m.values.clone() };
            (ShapeOp::SqueezeAll, vec![], out)
        }
        10 => {
            if rank < 2 || d == e {
                return None;
            }
            let by = pick(2, 9) as i64 - 4;
            let length = (0..shape[d].max(0)).filter(|i| (0..shape[e]).contains(&(i + by))).count();
            let first = (-by).max(0);
            let mut s: Vec<i64> =
                (0..rank).filter(|k| *k != d && *k != e).map(|k| shape[k]).collect();
            s.push(length as i64);
            let out = m.map(s, |i| {
                let (rest, at) = i.split_at(i.len() - 1);
                let mut rest = rest.iter();
                let place = |k| match k {
                    k if k == d => first + at[0],
                    k if k == e => first + at[0] + by,
                    _ => *rest.next().unwrap(),
                };
                (0..rank).map(place).collect()
            });
            (ShapeOp::Diagonal, vec![by, name(d, 1), name(e, 0)], out)
        }
        11 => {
            let size = pick(1, shape[d] as usize + 1) as i64;
            let by = 1 + pick(2, 3) as i64;
            let mut s = with(d, (shape[d] - size) / by + 1);
            s.push(size);
            let out = m.map(s, |i| {
                let (i, at) = i.split_at(rank);
                moved(i, d, i[d] * by + at[0])
            });
            (ShapeOp::Unfold, vec![name(d, 0), size, by], out)
        }
        12 => {
            let (a, b) = (d.min(e), d.max(e));
            let merged = shape[a..=b].iter().product();
            let s = [&shape[..a], &[merged], &shape[b + 1..]].concat();
            let out = Model { shape: s, values: m.values.clone() };
            (ShapeOp::Flatten, vec![name(a, 2), name(b, 1)], out)
        }
        13 => {
            let parts = (1..=shape[d]).rev().find(|p| shape[d] % p == 0 && *p < shape[d])?;
            let s = [&shape[..d], &[parts, shape[d] / parts], &shape[d + 1..]].concat();
            let out = Model { shape: s, values: m.values.clone() };
            let last = if r[1] & 1 == 0 { shape[d] / parts } else { -1 };
            (ShapeOp::Unflatten, vec![name(d, 2), parts, last], out)
        }
        14 => {
            let dims: Vec<usize> = (0..rank).filter(|k| r[0] >> k & 1 == 1).collect();
            let out = m.map(shape.clone(), |i| {
                let turned = |k| {
                    if dims.contains(&k) { shape[k] - 1 - i[k] } else { i[k] }
                };
                (0..rank).map(turned).collect()
            });
            (ShapeOp::Flip, dims.iter().map(|k| name(*k, 1)).collect(), out)
        }
        15 => {
            let (by, also) = (pick(1, 17) as i64 - 8, pick(2, 5) as i64 - 2);
            let out = m.map(shape.clone(), |i| {
                let first = moved(i, d, (i[d] - by).rem_euclid(shape[d]));
                let at = (first[e] - also).rem_euclid(shape[e]);
                moved(&first, e, at)
            });
            (ShapeOp::Roll, vec![by, also, name(d, 1), name(e, 0)], out)
        }
        16 => {
            let by = pick(1, 33) as i64 - 16;
            let mut values = m.values.clone();
            let n = values.len().max(1) as i64;
            values.rotate_right(by.rem_euclid(n) as usize);
            (ShapeOp::RollFlat, vec![by], Model { shape, values })
        }
        17 => {
            let mut counts = vec![1; rank + pick(2, 2)];
            let extra = counts.len() - rank;
            counts[extra + d] = pick(1, 3) as i64;
            counts[0] *= 1 + pick(2, 2) as i64;
            let size = |k: usize| if k < extra { 1 } else { shape[k - extra] };
            let s: Vec<i64> = counts.iter().enumerate().map(|(k, c)| c * size(k)).collect();
            if s.iter().product::<i64>() > 3000 {
                return None;
            }
            let out = m.map(s, |i| (0..rank).map(|k| i[k + extra] % shape[k]).collect());
            (ShapeOp::Repeat, counts, out)
        }
        18 => {
            if rank < 2 {
                return None;
            }
            let (by, lower) = (pick(1, 9) as i64 - 4, r[2] & 1 == 0);
            let mut out = m.clone();
            for (value, i) in out.values.iter_mut().zip(tuples(&shape)) {
                let right = i[rank - 1] - i[rank - 2];
                if if lower { right > by } else { right < by } {
                    *value = 0;
                }
            }
            let op = if lower { ShapeOp::Tril } else { ShapeOp::Triu };
            (op, vec![by], out)
        }
        _ => {
            if shape[d] == 0 {
                return None;
            }
            // t(…, None, at, a:b) from dimension d on.
            let at = pick(1, shape[d] as usize) as i64;
            let mut s = shape.clone();
            s[d] = 1;
            let out = m.map(s, |i| moved(i, d, at));
            let whole = [2, 0, 0, 0].repeat(d);
            let rest = if r[2] & 1 == 0 { vec![3, 0, 0, 0] } else { vec![] };
            let p = [whole, vec![4, 0, 0, 0, 0, at, 0, 0], rest].concat();
            (ShapeOp::Index, p, out)
        }
    })
}

pub fn steps() -> impl Strategy<Value = Vec<(u8, [u32; 3])>> {
    proptest::collection::vec((any::<u8>(), any::<[u32; 3]>()), 1..8)
}

pub fn shapes() -> impl Strategy<Value = Vec<i64>> {
    prop_oneof![
        6 => proptest::collection::vec(prop_oneof![1 => Just(0i64), 4 => Just(1i64), 12 => 2i64..7], 0..5),
        1 => proptest::collection::vec(9i64..45, 2..3),
    ]
}
