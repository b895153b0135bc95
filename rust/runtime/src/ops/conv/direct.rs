//! Convolutions of groups with few channels, without products.

use wick_core::kernels::conv::direct::{Direct, Lanes, Plan};

use super::compute::{Conv, Shared, Sum};
use crate::context::Context;
use crate::error::Result;
use crate::ops::scratch::Scratch;
use crate::tensor::Tensor;

/// Elements of a patch that leave room for its runs in the nearest cache.
const PATCH: i64 = 6 << 10;
/// Nanoseconds a product and sum.
const COST: f64 = 0.06;

impl Conv {
    /// The direct way, where products would be thin.
    pub(super) fn plan(&self) -> Option<Plan> {
        if self.few * self.many > 64 || self.geometry.is_pointwise() {
            return None;
        }
        Plan::new(self.geometry, PATCH / self.few.max(1) as i64)
    }

    /// What all bands share. `large`, `small` and `kernel` are those of a sample's group.
    fn direct<'a, T>(&self, plan: &'a Plan, offsets: &'a [usize]) -> Direct<'a, T> {
        let null = std::ptr::null_mut();
        Direct {
            plan,
            offsets,
            band: 0,
            few: self.few,
            many: self.many,
            large: null,
            small: null,
            kernel: null,
            scratch: null,
        }
    }

    fn offsets(&self, plan: &Plan) -> Vec<usize> {
        (0..self.geometry.taps()).map(|tap| plan.offset(tap)).collect()
    }

    /// Bytes of scratch of a task.
    fn room<T: Lanes>(&self, plan: &Plan) -> usize {
        Direct::<T>::room(plan, self.few, self.many) * size_of::<T>()
    }

    /// Nanoseconds of a group of a sample.
    fn cost(&self) -> f64 {
        COST * (self.geometry.places() * self.many * self.depth()) as f64
    }

    pub(super) fn forward_directly<T: Lanes>(
        &self,
        ctx: &Context,
        plan: &Plan,
        large: *mut T,
        kernel: *mut T,
        bias: *const T,
        small: *mut T,
    ) -> Result<()> {
        let (x, y, w) = (Shared(large), Shared(small), Shared(kernel));
        let bias = Shared(bias.cast_mut());
        let (offsets, bands) = (self.offsets(plan), plan.bands());
        let tasks = (self.samples * self.groups * bands) as i64;
        let scratch = Scratch::new(ctx, self.room::<T>(plan), tasks)?;
        let cost = 50.0 + self.cost() / bands as f64;
        ctx.for_ranges(tasks, cost, &|start, end| {
            scratch.with(|held| {
                for task in start as usize..end as usize {
                    let (band, group) = (task % bands, task / bands % self.groups);
                    let sample = task / bands / self.groups;
                    let direct = Direct {
                        band,
                        large: x.at(self.large_at(sample, group)),
                        small: y.at(self.small_at(sample, group)),
                        kernel: w.at(self.weight_at(group)),
                        scratch: held.cast(),
                        ..self.direct(plan, &offsets)
                    };
                    let bias = match bias.0.is_null() {
                        true => std::ptr::null(),
                        false => bias.at(group * self.many).cast_const(),
                    };
                    // SAFETY: dense tensors of these sizes; each band is one task's, and so is the
                    // scratch.
                    unsafe { direct.forward(ctx.arch(), bias) };
                }
            });
        });
        Ok(())
    }

    pub(super) fn spread_directly<T: Lanes>(
        &self,
        ctx: &Context,
        plan: &Plan,
        small: *mut T,
        kernel: *mut T,
        bias: *const T,
        large: *mut T,
    ) -> Result<()> {
        let (x, y, w) = (Shared(large), Shared(small), Shared(kernel));
        let bias = Shared(bias.cast_mut());
        let (offsets, volume) = (self.offsets(plan), self.geometry.volume());
        let tasks = (self.samples * self.groups) as i64;
        let scratch = Scratch::new(ctx, self.room::<T>(plan), tasks)?;
        ctx.for_ranges(tasks, 50.0 + self.cost(), &|start, end| {
            scratch.with(|held| {
                for task in start as usize..end as usize {
                    let (sample, group) = (task / self.groups, task % self.groups);
                    let large = x.at(self.large_at(sample, group));
                    for c in 0..self.few {
                        // SAFETY: dense tensors of these sizes; each group is one task's.
                        unsafe {
                            let value = match bias.0.is_null() {
                                true => T::ZERO,
                                false => *bias.at(group * self.few + c),
                            };
                            let plane = large.wrapping_add(c * volume);
                            std::slice::from_raw_parts_mut(plane, volume).fill(value);
                        }
                    }
                    // Bands overlap on the larger side.
                    for band in 0..plan.bands() {
                        let direct = Direct {
                            band,
                            large,
                            small: y.at(self.small_at(sample, group)),
                            kernel: w.at(self.weight_at(group)),
                            scratch: held.cast(),
                            ..self.direct(plan, &offsets)
                        };
                        // SAFETY: as above, and so is the scratch.
                        unsafe { direct.spread(ctx.arch()) };
                    }
                }
            });
        });
        Ok(())
    }

    pub(super) fn weigh_directly<T: Lanes>(
        &self,
        ctx: &Context,
        plan: &Plan,
        large: *mut T,
        small: *mut T,
        weight: &Tensor,
    ) -> Result<()> {
        let (x, y) = (Shared(large), Shared(small));
        let offsets = self.offsets(plan);
        let room = self.room::<T>(plan);
        self.add_samples(ctx, weight, 1, room, self.cost(), &|part: Sum<T>, held| {
            let kernel = part.kernel.wrapping_add(self.weight_at(part.task));
            // SAFETY: dense tensors of these sizes; each part of a sum is one task's, and so is the
            // scratch.
            unsafe {
                std::slice::from_raw_parts_mut(kernel, self.many * self.depth()).fill(T::ZERO);
                for sample in part.samples {
                    for band in 0..plan.bands() {
                        let direct = Direct {
                            band,
                            large: x.at(self.large_at(sample, part.task)),
                            small: y.at(self.small_at(sample, part.task)),
                            kernel,
                            scratch: held.cast(),
                            ..self.direct(plan, &offsets)
                        };
                        direct.weigh(ctx.arch());
                    }
                }
            }
        })
    }
}
