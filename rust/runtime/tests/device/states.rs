//! Every access in every state: what it transfers and leaves right.

use std::time::Duration;

use wick_runtime::device::Work;

use super::{Machine, part};

#[derive(Clone, Copy, Debug, PartialEq)]
enum State {
    Host,
    Device,
    Both,
    Uploading,
}
use State::*;

#[derive(Clone, Copy, Debug)]
enum Access {
    Read,
    Write,
    Overwrite,
    OverwritePart,
}
use Access::*;

/// State before; on the device; access; uploads, downloads, state after.
const TABLE: &[(State, bool, Access, u64, u64, State)] = &[
    (Host, false, Read, 0, 0, Host),
    (Host, false, Write, 0, 0, Host),
    (Host, false, Overwrite, 0, 0, Host),
    (Host, false, OverwritePart, 0, 0, Host),
    (Host, true, Read, 1, 0, Both),
    (Host, true, Write, 1, 0, Device),
    (Host, true, Overwrite, 0, 0, Device),
    (Host, true, OverwritePart, 1, 0, Device),
    (Device, false, Read, 0, 1, Both),
    (Device, false, Write, 0, 1, Host),
    (Device, false, Overwrite, 0, 0, Host),
    (Device, false, OverwritePart, 0, 1, Host),
    (Device, true, Read, 0, 0, Device),
    (Device, true, Write, 0, 0, Device),
    (Device, true, Overwrite, 0, 0, Device),
    (Device, true, OverwritePart, 0, 0, Device),
    (Both, false, Read, 0, 0, Both),
    (Both, false, Write, 0, 0, Host),
    (Both, false, Overwrite, 0, 0, Host),
    (Both, false, OverwritePart, 0, 0, Host),
    (Both, true, Read, 0, 0, Both),
    (Both, true, Write, 0, 0, Device),
    (Both, true, Overwrite, 0, 0, Device),
    (Both, true, OverwritePart, 0, 0, Device),
    (Uploading, false, Read, 1, 0, Both),
    (Uploading, false, Write, 0, 0, Host),
    (Uploading, false, Overwrite, 0, 0, Host),
    (Uploading, false, OverwritePart, 0, 0, Host),
    (Uploading, true, Read, 1, 0, Both),
    (Uploading, true, Write, 1, 0, Device),
    (Uploading, true, Overwrite, 0, 0, Device),
    (Uploading, true, OverwritePart, 1, 0, Device),
];

/// DL-03 two copies in step, DL-06 asynchronous upload, DL-07 and DL-09 reading and writing on either
/// side, DL-08 and DL-10 overwriting, through a part too.
#[test]
fn dl_03_to_10_states() {
    for &(before, on_device, access, uploads, downloads, after) in TABLE {
        // The storage's home may be either device.
        for home_there in [false, true] {
            let case = format!("{before:?} device {on_device} {access:?} home there {home_there}");
            let m = Machine::new();
            let host = m.tensor(&[1.0, 2.0, 3.0, 4.0]);
            let (host, there) = if home_there {
                let there = wick_runtime::device::copy_to(&m.host, "to", &host, &m.device).unwrap();
                (there.on("on_device", &m.host).unwrap(), there)
            } else {
                let there = m.there(&host);
                (host, there)
            };
            // Reading on the device and writing there, or on the host, makes any state.
            match before {
                Host | Uploading => m.add(&host, 0.0).unwrap(),
                Device => m.add(&there, 0.0).unwrap(),
                Both => {
                    m.read(&host).unwrap();
                    m.read(&there).unwrap();
                }
            }
            let count = |w| m.sim.done(w);
            let (up, down) = (count(Work::Upload), count(Work::Download));
            if before == Uploading {
                m.sim.delay(Work::Upload, Duration::from_millis(20));
                there.prefetch("async_copy").unwrap();
                assert!(!there.is_ready(m.device.number()), "{case}");
            }
            let (t, mut model) = (if on_device { &there } else { &host }, [1.0, 2.0, 3.0, 4.0]);
            match access {
                Read => assert_eq!(m.read(t).unwrap(), model, "{case}"),
                Write => {
                    m.add(t, 10.0).unwrap();
                    model = model.map(|v| v + 10.0);
                }
                Overwrite => {
                    m.fill(t, 7.0).unwrap();
                    model = [7.0; 4];
                }
                OverwritePart => {
                    m.fill(&part(t, 1, 2), 7.0).unwrap();
                    model[1..3].fill(7.0);
                }
            }
            m.device.upload_queue().unwrap().sync().unwrap();
            let moved = (count(Work::Upload) - up, count(Work::Download) - down);
            assert_eq!(moved, (uploads, downloads), "{case}: uploads, downloads");
            let right = [m.host.number(), m.device.number()].map(|d| t.is_ready(d));
            assert_eq!(right, [after != Device, after != Host], "{case}: right on host, device");
            m.sim.reset();
            assert_eq!(m.read(&host).unwrap(), model, "{case}: host");
            assert_eq!(m.read(&there).unwrap(), model, "{case}: device");
        }
    }
}

/// DL-13: a tensor's device is where its storage was made, and that of its views.
#[test]
fn dl_13_results_live_where_they_were_computed() {
    let m = Machine::new();
    let host = m.tensor(&[1.0, 2.0]);
    let there = wick_runtime::device::copy_to(&m.host, "to", &host, &m.device).unwrap();
    assert_eq!((host.device(), there.device()), (0, m.device.number()));
    assert_eq!(part(&there, 0, 1).device(), m.device.number());
    let live = m.device.context().allocator().memory().live;
    assert!(live > 0, "the device's own allocator has the bytes");
    assert_eq!(there.storage().home(), m.device.number());
    let back = wick_runtime::device::copy_to(&m.host, "to", &there, &m.host).unwrap();
    assert_eq!((back.device(), m.read(&back).unwrap()), (0, vec![1.0, 2.0]));
}

/// LP-06, DL-05: operands on two devices, and a third device for one storage, are errors that name
/// both.
#[test]
fn mixed_devices_are_refused() {
    let (m, other) = (Machine::new(), Machine::new());
    let host = m.tensor(&[1.0]);
    let there = m.there(&host);
    let error = wick_runtime::device::run(m.host.context(), "add", &[&host, &there], |_| Ok(()));
    let text = error.unwrap_err().to_string();
    assert!(text.contains("cpu") && text.contains("sim:0"), "{text}");
    let text = host.on("on_device", &other.device).unwrap_err().to_string();
    assert!(text.contains("already"), "{text}");
    assert!(there.on("on_device", &m.host).is_ok(), "its home is one of its two");
}
