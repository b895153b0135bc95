//! Copies between devices.

use std::sync::Arc;

use super::{Accesses, Device, Work, attempt, find};
use crate::error::Result;
use crate::ops::array::contiguous;
use crate::ops::elementwise;
use crate::tensor::Tensor;

/// The device of a tensor: `host`, or one beside it.
fn device_of(host: &Arc<Device>, op: &'static str, t: &Tensor) -> Result<Arc<Device>> {
    if t.device() == host.number() { Ok(Arc::clone(host)) } else { super::get(op, t.device()) }
}

/// A new tensor on a device with a tensor's elements; waits for them. `host` is the default context.
pub fn copy_to(
    host: &Arc<Device>,
    op: &'static str,
    from: &Tensor,
    to: &Arc<Device>,
) -> Result<Tensor> {
    let home = device_of(host, op, from)?;
    let dense = at(&home, op, |d| contiguous(d.context(), from))?;
    let link = match (home.backend(), to.backend()) {
        (Some(_), Some(_)) if home.number() != to.number() => {
            return copy_to(host, op, &copy_to(host, op, &dense, host)?, to);
        }
        (_, Some(_)) if home.number() != to.number() => Some((to, Work::Upload)),
        (Some(_), None) => Some((&home, Work::Download)),
        _ => None,
    };
    let Some((link, work)) = link else {
        return at(to, op, |d| {
            let copy = Tensor::empty(d.context(), op, dense.dtype(), dense.shape())?;
            elementwise::copy(d.context(), &copy, &dense)?;
            Ok(copy)
        });
    };
    let copy = Tensor::empty(to.context(), op, dense.dtype(), dense.shape())?;
    let bytes = copy.storage().bytes();
    attempt(|| {
        let _accesses = Accesses::begin();
        let (x, y) = (dense.place().start as usize, copy.place_mut().start as usize);
        let backend = link.backend();
        let job = move || {
            let Some(backend) = backend else { return Ok(()) };
            backend.wait(work);
            // SAFETY: both tensors are dense and of this size; the accesses that this call holds
            // until the job has ended keep them.
            unsafe { backend.copy(work, x as *const u8, y as *mut u8, bytes) }
        };
        link.submit(work, job).wait()
    })?;
    Ok(copy)
}

/// Gives a tensor the elements of another, whichever devices they are on.
pub fn copy_between(
    host: &Arc<Device>,
    op: &'static str,
    to: &Tensor,
    from: &Tensor,
) -> Result<()> {
    let device = device_of(host, op, to)?;
    let here;
    let from = if from.device() == to.device() {
        from
    } else {
        here = copy_to(host, op, from, &device)?;
        &here
    };
    at(&device, op, |d| elementwise::copy(d.context(), to, from))
}

/// Runs a step on its device; the default context has no turns.
fn at<T>(
    device: &Arc<Device>,
    op: &'static str,
    f: impl FnOnce(&Device) -> Result<T>,
) -> Result<T> {
    if find(device.number()).is_some() {
        return device.run(op, f);
    }
    attempt(|| {
        let _accesses = Accesses::begin();
        f(device)
    })
}
