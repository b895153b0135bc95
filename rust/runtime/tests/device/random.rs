//! Random sequences of accesses on whole tensors and parts, against a plain vector.

use std::time::Duration;

use proptest::prelude::*;
use wick_runtime::Tensor;
use wick_runtime::device::Work;

use super::{Machine, part};

#[derive(Clone, Debug)]
enum Step {
    Read { there: bool, span: (i64, i64) },
    Add { there: bool, span: (i64, i64), value: i8 },
    Fill { there: bool, span: (i64, i64), value: i8 },
    Prefetch { there: bool },
    Delay { upload: bool, micros: u64 },
    Fail { upload: bool },
}

const SIZE: i64 = 6;

fn step() -> impl Strategy<Value = Step> {
    let span = prop_oneof![Just((0, SIZE)), (0..SIZE).prop_flat_map(|s| (Just(s), 1..=SIZE - s)),];
    let there = any::<bool>();
    prop_oneof![
        4 => (there, span.clone()).prop_map(|(there, span)| Step::Read { there, span }),
        3 => (there, span.clone(), any::<i8>())
            .prop_map(|(there, span, value)| Step::Add { there, span, value }),
        3 => (there, span, any::<i8>())
            .prop_map(|(there, span, value)| Step::Fill { there, span, value }),
        3 => there.prop_map(|there| Step::Prefetch { there }),
        1 => (there, 0u64..400).prop_map(|(upload, micros)| Step::Delay { upload, micros }),
        1 => there.prop_map(|upload| Step::Fail { upload }),
    ]
}

fn work(upload: bool) -> Work {
    if upload { Work::Upload } else { Work::Download }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// DL-03, DL-06 … DL-10: whatever the order, both sides show what was written last; a transfer
    /// that fails changes nothing.
    #[test]
    fn dl_03_sequences_equal_the_model(steps in prop::collection::vec(step(), 1..40)) {
        let m = Machine::new();
        let mut model = vec![0.0; SIZE as usize];
        let host = m.tensor(&model);
        let sides = [host.clone(), m.there(&host)];
        let at = |there: bool, (start, length): (i64, i64)| -> Tensor {
            part(&sides[there as usize], start, length)
        };
        let range = |(start, length): (i64, i64)| start as usize..(start + length) as usize;
        for step in steps {
            match step {
                Step::Read { there, span } => {
                    if let Ok(seen) = m.read(&at(there, span)) {
                        prop_assert_eq!(&seen, &model[range(span)]);
                    }
                }
                Step::Add { there, span, value } => {
                    if m.add(&at(there, span), value.into()).is_ok() {
                        model[range(span)].iter_mut().for_each(|v| *v += f64::from(value));
                    }
                }
                Step::Fill { there, span, value } => {
                    if m.fill(&at(there, span), value.into()).is_ok() {
                        model[range(span)].fill(value.into());
                    }
                }
                Step::Prefetch { there } => sides[there as usize].prefetch("prefetch").unwrap(),
                Step::Delay { upload, micros } => {
                    m.sim.delay(work(upload), Duration::from_micros(micros));
                }
                Step::Fail { upload } => m.sim.fail(work(upload), 1),
            }
        }
        // An upload that failed with nobody waiting for it is told of once.
        m.device.upload_queue().unwrap().sync().unwrap();
        m.device.compute_queue().unwrap().sync().unwrap();
        m.sim.reset();
        for t in &sides {
            let seen = m.read(t).or_else(|_| m.read(t)).unwrap();
            prop_assert_eq!(&seen, &model);
        }
    }
}
