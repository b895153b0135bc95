//! Devices: coherence of mirrored storages, queues, the simulated device.

// The state machine again, with loom's locks.
#[allow(dead_code)]
#[path = "../../src/device/coherence.rs"]
mod coherence;
#[path = "../common/mod.rs"]
mod common;
mod faults;
mod interleavings;
mod queues;
mod random;
mod states;
mod sync;

use std::sync::Arc;

use wick_core::DType;
use wick_core::kernels::elementwise::Scalar;
use wick_core::ops::BinaryOp;
use wick_runtime::device::{self, Device, Sim};
use wick_runtime::ops::creation::fill;
use wick_runtime::ops::elementwise::{Out, binary};
use wick_runtime::ops::promote::Arg;
use wick_runtime::{Context, Result, Tensor};

/// The default context and a simulated device.
struct Machine {
    host: Arc<Device>,
    device: Arc<Device>,
    sim: Arc<Sim>,
}

impl Machine {
    fn new() -> Machine {
        let sim = Arc::new(Sim::default());
        let context = Context::apart(|_| "sim:0".to_owned(), 1 << 30, 1);
        let device = Device::beside(context, sim.clone());
        Machine { host: Device::host(Context::new(1 << 30, 2)), device, sim }
    }

    fn tensor(&self, values: &[f64]) -> Tensor {
        common::tensor(self.host.context(), DType::F64, &[values.len() as i64], values)
    }

    fn matrix(&self, rows: i64, columns: i64) -> Tensor {
        let values: Vec<f64> = (0..rows * columns).map(|i| i as f64).collect();
        common::tensor(self.host.context(), DType::F64, &[rows, columns], &values)
    }

    fn there(&self, t: &Tensor) -> Tensor {
        t.on("on_device", &self.device).unwrap()
    }

    fn read(&self, t: &Tensor) -> Result<Vec<f64>> {
        device::run(self.host.context(), "read", &[t], |ctx| Ok(common::values(ctx, t)))
    }

    /// Writes all of the tensor without reading it.
    fn fill(&self, t: &Tensor, value: f64) -> Result<()> {
        device::run(self.host.context(), "fill_", &[t], |ctx| fill(ctx, t, Scalar::Float(value)))
    }

    /// Reads and writes the tensor.
    fn add(&self, t: &Tensor, value: f64) -> Result<()> {
        let args = (Arg::Tensor(t), Arg::Scalar(Scalar::Float(value)));
        device::run(self.host.context(), "add", &[t], |ctx| {
            binary(ctx, BinaryOp::Add, &[args.0, args.1], None, Out::InPlace).map(|_| ())
        })
    }
}

fn part(t: &Tensor, start: i64, length: i64) -> Tensor {
    t.with_layout("narrow", t.layout().narrow(0, start, length)).unwrap()
}
