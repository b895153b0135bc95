//! The three products behind convolutions, over dense tensors of one float type: the smaller side
//! from the larger, the larger from the smaller, and the kernel from both.
//!
//! Tasks are cut by shape alone, and no sum is cut between threads: results have the same bits
//! however many there are. The columns of a task stay in the cache.

use std::ops::Range;

use wick_core::kernels::conv::direct::Lanes;
use wick_core::kernels::conv::{Columns, Geometry, Place};
use wick_core::kernels::matmul::{Mat, Product};
use wick_core::{DType, Number};

use crate::context::Context;
use crate::error::Result;
use crate::ops::matmul::product::Gemm;
use crate::ops::scratch::Scratch;
use crate::storage::Storage;
use crate::tensor::Tensor;

/// Bytes of columns that a task holds at once, where one row of them is not larger already.
const COLUMN_BYTES: usize = 448 << 10;
/// Positions are cut at multiples of this, which suits faer's kernels.
const UNIT: usize = 48;

/// A convolution: `samples` of `groups` groups, each with `few` channels of the larger side and
/// `many` of the smaller.
#[derive(Clone, Copy, Debug)]
pub(super) struct Conv {
    pub geometry: Geometry,
    pub samples: usize,
    pub groups: usize,
    /// Channels of the larger side in a group.
    pub few: usize,
    /// Channels of the smaller side in a group.
    pub many: usize,
}

fn ptr<T>(t: &Tensor) -> *mut T {
    t.view().start().cast_mut().cast()
}

/// An address that tasks share; each writes its own elements.
pub(super) struct Shared<T>(pub *mut T);

// SAFETY: see the type; whoever shares it keeps the memory alive.
unsafe impl<T> Sync for Shared<T> {}

impl<T> Shared<T> {
    pub fn at(&self, i: usize) -> *mut T {
        self.0.wrapping_add(i)
    }
}

/// `[start, end)` of part `i` of `parts` of `n`, cut at multiples of a unit.
fn part(n: usize, parts: usize, i: usize, unit: usize) -> (usize, usize) {
    let at = |i: usize| if i == parts { n } else { n * i / parts / unit * unit };
    (at(i), at(i + 1))
}

fn mat<T>(ptr: *const T, rows: usize, cols: usize) -> Mat<T> {
    Mat { ptr: ptr.cast_mut(), rows: rows as isize, cols: cols as isize }
}

/// `out = a b`, or added to what is there.
///
/// # Safety
/// As [`Gemm::gemm`].
unsafe fn product<T: Gemm>(
    (m, n, k): (usize, usize, usize),
    a: Mat<T>,
    b: Mat<T>,
    out: Mat<T>,
    add: bool,
) {
    let (alpha, beta) = (T::ONE, T::ONE);
    // SAFETY: the caller's promise.
    unsafe { T::gemm(&Product { m, n, k, a, b, out, addend: None, alpha, beta }, add) }
}

/// Which of the three is computed, into which tensor.
pub(super) fn forward(
    ctx: &Context,
    conv: &Conv,
    large: &Tensor,
    weight: &Tensor,
    bias: Option<&Tensor>,
    small: &Tensor,
) -> Result<()> {
    match small.dtype() {
        DType::F64 => conv.forward::<f64>(ctx, large, weight, bias, small),
        _ => conv.forward::<f32>(ctx, large, weight, bias, small),
    }
}

pub(super) fn spread(
    ctx: &Context,
    conv: &Conv,
    small: &Tensor,
    weight: &Tensor,
    bias: Option<&Tensor>,
    large: &Tensor,
) -> Result<()> {
    match large.dtype() {
        DType::F64 => conv.spread::<f64>(ctx, small, weight, bias, large),
        _ => conv.spread::<f32>(ctx, small, weight, bias, large),
    }
}

pub(super) fn weigh(
    ctx: &Context,
    conv: &Conv,
    large: &Tensor,
    small: &Tensor,
    weight: &Tensor,
) -> Result<()> {
    match weight.dtype() {
        DType::F64 => conv.weigh::<f64>(ctx, large, small, weight),
        _ => conv.weigh::<f32>(ctx, large, small, weight),
    }
}

impl Conv {
    /// Rows of the columns of a group.
    pub(super) fn depth(&self) -> usize {
        self.few * self.geometry.taps()
    }

    /// Elements of the larger side before a sample's group.
    pub(super) fn large_at(&self, sample: usize, group: usize) -> usize {
        (sample * self.groups + group) * self.few * self.geometry.volume()
    }

    pub(super) fn small_at(&self, sample: usize, group: usize) -> usize {
        (sample * self.groups + group) * self.many * self.geometry.places()
    }

    pub(super) fn weight_at(&self, group: usize) -> usize {
        group * self.many * self.depth()
    }

    fn forward<T: Gemm + Lanes>(
        &self,
        ctx: &Context,
        large: &Tensor,
        weight: &Tensor,
        bias: Option<&Tensor>,
        small: &Tensor,
    ) -> Result<()> {
        let (x, w, y) = (ptr::<T>(large), ptr::<T>(weight), Shared(ptr::<T>(small)));
        let bias = bias.map_or(std::ptr::null_mut(), ptr::<T>);
        let (x, w, bias) = (Shared(x), Shared(w), Shared(bias));
        let (geometry, arch) = (self.geometry, ctx.arch());
        let (places, depth, size) = (geometry.places(), self.depth(), size_of::<T>());
        if self.samples * self.groups * self.many * places == 0 {
            return Ok(());
        }
        if let Some(plan) = self.plan() {
            let (w, bias) = (w.0, bias.0.cast_const());
            return self.forward_directly(ctx, &plan, x.0, w, bias, y.0);
        }
        // Tiles of positions: of each sample where columns are the input itself, else of all.
        let direct = geometry.is_pointwise();
        let width = (COLUMN_BYTES / (depth.max(1) * size) / UNIT * UNIT).clamp(UNIT, 16 * UNIT);
        let (lines, all) = if direct { (self.samples, places) } else { (1, self.samples * places) };
        let tiles = ((all + width / 2) / width).max(1);
        let widest = (0..tiles).map(|i| part(all, tiles, i, UNIT)).map(|(a, b)| b - a).max();
        let widest = widest.unwrap_or(0);
        let held = if direct { 0 } else { (depth + self.many) * widest * size };
        let tasks = (lines * tiles * self.groups) as i64;
        let scratch = Scratch::new(ctx, held, tasks)?;
        let cost = 20.0 + 0.004 * (size * self.many * depth * all) as f64 / tiles as f64;
        ctx.for_ranges(tasks, cost, &|start, end| {
            scratch.with(|held| {
                let columns = held.cast::<T>();
                for task in start as usize..end as usize {
                    let (line, tile) = (task / (tiles * self.groups), task % tiles);
                    let group = task / tiles % self.groups;
                    let (from, to) = part(all, tiles, tile, UNIT);
                    let n = to - from;
                    let kernel = mat(w.at(self.weight_at(group)).cast_const(), depth, 1);
                    let sizes = (self.many, n, depth);
                    let biases = match bias.0.is_null() {
                        true => bias.0.cast_const(),
                        false => bias.at(group * self.many).cast_const(),
                    };
                    // SAFETY: dense tensors of these sizes; each tile is one task's, and so is
                    // the scratch.
                    unsafe {
                        if direct {
                            let b = x.at(self.large_at(line, group) + from);
                            let out = y.at(self.small_at(line, group) + from);
                            if !biases.is_null() {
                                for r in 0..self.many {
                                    let row = out.wrapping_add(r * places);
                                    std::slice::from_raw_parts_mut(row, n).fill(*biases.add(r));
                                }
                            }
                            let b = mat(b.cast_const(), places, 1);
                            let out = mat(out.cast_const(), places, 1);
                            product(sizes, kernel, b, out, !biases.is_null());
                            continue;
                        }
                        self.each_sample(from, to, |sample, start, n, at| {
                            let columns = columns.wrapping_add(at);
                            let ld = to - from;
                            let channels = self.few;
                            let part = Columns { geometry, channels, start, n, columns, ld };
                            part.gather(arch, x.at(self.large_at(sample, group)).cast_const());
                        });
                        let result = columns.wrapping_add(depth * n);
                        let out = mat(result.cast_const(), n, 1);
                        product(sizes, kernel, mat(columns.cast_const(), n, 1), out, false);
                        self.each_sample(from, to, |sample, start, count, at| {
                            let place = Place {
                                rows: self.many,
                                n: count,
                                from: result.wrapping_add(at).cast_const(),
                                from_step: n,
                                to: y.at(self.small_at(sample, group) + start),
                                to_step: places,
                                bias: biases,
                            };
                            place.run(arch);
                        });
                    }
                }
            });
        });
        Ok(())
    }

    /// The samples that positions `[from, to)` of all samples together touch: calls
    /// `f(sample, first position, positions, place in the range)`.
    fn each_sample(&self, from: usize, to: usize, mut f: impl FnMut(usize, usize, usize, usize)) {
        let places = self.geometry.places();
        let mut at = from;
        while at < to {
            let (sample, start) = (at / places, at % places);
            let n = (places - start).min(to - at);
            f(sample, start, n, at - from);
            at += n;
        }
    }

    /// Channels of the larger side that a task takes, positions that it holds as columns at once,
    /// and the number of such tasks a group.
    fn chunks(&self, size: usize) -> (usize, usize, usize) {
        let (places, taps) = (self.geometry.places(), self.geometry.taps());
        let width = places.min(16 * UNIT);
        let rows = (COLUMN_BYTES / (width.max(1) * size)).max(64);
        let channels = (rows / taps.max(1)).clamp(1, self.few.max(1));
        // Chunks of nearly one size.
        let chunks = self.few.div_ceil(channels).max(1);
        (self.few.div_ceil(chunks), width, chunks)
    }

    fn spread<T: Gemm + Lanes>(
        &self,
        ctx: &Context,
        small: &Tensor,
        weight: &Tensor,
        bias: Option<&Tensor>,
        large: &Tensor,
    ) -> Result<()> {
        let (y, w, x) = (ptr::<T>(small), ptr::<T>(weight), Shared(ptr::<T>(large)));
        let bias = bias.map_or(std::ptr::null_mut(), ptr::<T>);
        let (y, w, bias) = (Shared(y), Shared(w), Shared(bias));
        let (geometry, arch) = (self.geometry, ctx.arch());
        let (places, volume) = (geometry.places(), geometry.volume());
        let (taps, depth, size) = (geometry.taps(), self.depth(), size_of::<T>());
        if self.samples * self.groups * self.few * volume == 0 {
            return Ok(());
        }
        if let Some(plan) = self.plan() {
            return self.spread_directly(ctx, &plan, y.0, w.0, bias.0.cast_const(), x.0);
        }
        let (channels, width, chunks) = self.chunks(size);
        let direct = geometry.is_pointwise();
        let held = if direct { 0 } else { channels * taps * width * size };
        let tasks = (self.samples * self.groups * chunks) as i64;
        let scratch = Scratch::new(ctx, held, tasks)?;
        let work = (size * self.many * channels * taps * places) as f64;
        ctx.for_ranges(tasks, 50.0 + 0.004 * work, &|start, end| {
            scratch.with(|held| {
                let columns = held.cast::<T>();
                for task in start as usize..end as usize {
                    let (chunk, group) = (task % chunks, task / chunks % self.groups);
                    let sample = task / chunks / self.groups;
                    let first = chunk * channels;
                    let count = channels.min(self.few.saturating_sub(first));
                    let to = x.at(self.large_at(sample, group) + first * volume);
                    let from = y.at(self.small_at(sample, group));
                    let kernel = w.at(self.weight_at(group) + first * taps);
                    // SAFETY: dense tensors of these sizes; each channel is one task's, and so
                    // is the scratch.
                    unsafe {
                        for c in 0..count {
                            let value = match bias.0.is_null() {
                                true => T::ZERO,
                                false => *bias.at(group * self.few + first + c),
                            };
                            let plane = to.wrapping_add(c * volume);
                            std::slice::from_raw_parts_mut(plane, volume).fill(value);
                        }
                        let kernel = mat(kernel.cast_const(), 1, depth);
                        if direct {
                            let from = mat(from.cast_const(), places, 1);
                            let to = mat(to.cast_const(), volume, 1);
                            product((count, places, self.many), kernel, from, to, true);
                            continue;
                        }
                        let mut start = 0;
                        while start < places {
                            let n = width.min(places - start);
                            let from = mat(from.wrapping_add(start).cast_const(), places, 1);
                            let out = mat(columns.cast_const(), n, 1);
                            product((count * taps, n, self.many), kernel, from, out, false);
                            let part =
                                Columns { geometry, channels: count, start, n, columns, ld: n };
                            part.scatter(arch, to);
                            start += n;
                        }
                    }
                }
            });
        });
        Ok(())
    }

    fn weigh<T: Gemm + Lanes>(
        &self,
        ctx: &Context,
        large: &Tensor,
        small: &Tensor,
        weight: &Tensor,
    ) -> Result<()> {
        let (x, y) = (Shared(ptr::<T>(large)), Shared(ptr::<T>(small)));
        if let Some(plan) = self.plan() {
            return self.weigh_directly(ctx, &plan, x.0, y.0, weight);
        }
        let (geometry, arch) = (self.geometry, ctx.arch());
        let places = geometry.places();
        let (taps, depth, size) = (geometry.taps(), self.depth(), size_of::<T>());
        let (channels, width, chunks) = self.chunks(size);
        let direct = geometry.is_pointwise();
        let held = if direct { 0 } else { channels * taps * width * size };
        let work = (size * self.many * channels * taps * places) as f64;
        self.add_samples(ctx, weight, chunks, held, 0.004 * work, &|part: Sum<T>, held| {
            let columns = held.cast::<T>();
            let (chunk, group) = (part.task % chunks, part.task / chunks);
            let first = chunk * channels;
            let count = channels.min(self.few.saturating_sub(first));
            let rows = count * taps;
            let to = part.kernel.wrapping_add(self.weight_at(group) + first * taps);
            let out = mat(to.cast_const(), depth, 1);
            // SAFETY: dense tensors of these sizes; each part of a sum is one task's, and so is the
            // scratch.
            unsafe {
                for k in 0..self.many {
                    let row = to.wrapping_add(k * depth);
                    std::slice::from_raw_parts_mut(row, rows).fill(T::ZERO);
                }
                for sample in part.samples {
                    let x = x.at(self.large_at(sample, group) + first * geometry.volume());
                    let y = y.at(self.small_at(sample, group));
                    let mut start = 0;
                    while start < places {
                        let n = width.min(places - start);
                        let a = mat(y.wrapping_add(start).cast_const(), places, 1);
                        let b = if direct {
                            mat(x.wrapping_add(start).cast_const(), 1, places)
                        } else {
                            let channels = count;
                            let part = Columns { geometry, channels, start, n, columns, ld: n };
                            part.gather(arch, x.cast_const());
                            mat(columns.cast_const(), 1, n)
                        };
                        product((self.many, rows, n), a, b, out, true);
                        start += n;
                    }
                }
            }
        })
    }

    /// The kernel's gradient as `chunks` tasks a group, each a sum over samples. Few tasks are cut by
    /// samples too, each with a sum of its own; these are added up in order.
    pub(super) fn add_samples<T: Number>(
        &self,
        ctx: &Context,
        weight: &Tensor,
        chunks: usize,
        held: usize,
        cost: f64,
        f: &(dyn Fn(Sum<T>, *mut u8) + Sync),
    ) -> Result<()> {
        let elements = self.groups * self.many * self.depth();
        if elements == 0 {
            return Ok(());
        }
        let size = size_of::<T>();
        let tasks = self.groups * chunks;
        let wanted =
            if tasks < 8 && elements * size <= 2 << 20 { 8usize.div_ceil(tasks) } else { 1 };
        let splits = wanted.min(self.samples.max(1));
        let partial = if splits > 1 {
            Some(Storage::allocate(ctx.allocator(), splits * elements * size)?)
        } else {
            None
        };
        let sums = match &partial {
            Some(storage) => Shared(storage.ptr().cast::<T>()),
            None => Shared(ptr::<T>(weight)),
        };
        let all = (tasks * splits) as i64;
        let scratch = Scratch::new(ctx, held, all)?;
        let cost = 50.0 + cost * self.samples.div_ceil(splits) as f64;
        ctx.for_ranges(all, cost, &|start, end| {
            scratch.with(|held| {
                for i in start as usize..end as usize {
                    let (split, task) = (i % splits, i / splits);
                    let (from, to) = part(self.samples, splits, split, 1);
                    f(Sum { task, samples: from..to, kernel: sums.at(split * elements) }, held);
                }
            });
        });
        if partial.is_some() {
            let to = Shared(ptr::<T>(weight));
            ctx.for_ranges(elements as i64, 0.3 * splits as f64, &|start, end| {
                let (start, end) = (start as usize, end as usize);
                // SAFETY: each element is one task's; the sums were written.
                unsafe { add_up(&sums, splits, elements, start, end, to.at(0)) };
            });
        }
        Ok(())
    }
}

/// A task of [`Conv::add_samples`]: its number, its samples, and where the kernel's sums lie.
pub(super) struct Sum<T> {
    pub task: usize,
    pub samples: Range<usize>,
    pub kernel: *mut T,
}

/// Sums of `splits` runs of `elements` elements, for those from `start` to `end`.
///
/// # Safety
/// The sums are there, and so is room at `to`.
unsafe fn add_up<T: Number>(
    sums: &Shared<T>,
    splits: usize,
    elements: usize,
    start: usize,
    end: usize,
    to: *mut T,
) {
    for i in start..end {
        // SAFETY: the caller's promise.
        unsafe {
            let mut sum = *sums.at(i);
            for split in 1..splits {
                sum = sum.add(*sums.at(split * elements + i));
            }
            *to.add(i) = sum;
        }
    }
}

/// Columns of whole samples from their images, or (`back`) added to these.
pub(super) fn unfold(
    ctx: &Context,
    geometry: Geometry,
    channels: usize,
    images: &Tensor,
    columns: &Tensor,
    back: bool,
) {
    match images.dtype() {
        DType::F64 => unfold_as::<f64>(ctx, geometry, channels, images, columns, back),
        _ => unfold_as::<f32>(ctx, geometry, channels, images, columns, back),
    }
}

fn unfold_as<T: Number>(
    ctx: &Context,
    geometry: Geometry,
    channels: usize,
    images: &Tensor,
    columns: &Tensor,
    back: bool,
) {
    let (x, to) = (Shared(ptr::<T>(images)), Shared(ptr::<T>(columns)));
    let (n, rows, volume) = (geometry.places(), geometry.taps(), geometry.volume());
    // A task is one channel of one sample.
    let tasks = if channels == 0 { 0 } else { images.numel() / volume as i64 };
    ctx.for_ranges(tasks, 10.0 + 0.5 * (n * rows) as f64, &|start, end| {
        for task in start as usize..end as usize {
            let columns = to.at(task * rows * n);
            let part = Columns { geometry, channels: 1, start: 0, n, columns, ld: n };
            // SAFETY: dense tensors of these sizes; each channel is one task's.
            unsafe {
                if back {
                    part.scatter(ctx.arch(), x.at(task * volume));
                } else {
                    part.gather(ctx.arch(), x.at(task * volume).cast_const());
                }
            }
        }
    });
}
