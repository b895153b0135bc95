//! The cache of device programs.

use std::fs;
use std::path::PathBuf;

use wick_runtime::Error;
use wick_runtime::kernels::KernelCache;

use super::Machine;

fn folder(name: &str) -> PathBuf {
    let path = std::env::temp_dir().join(format!("wick-kernels-{}-{name}", std::process::id()));
    let _ = fs::remove_dir_all(&path);
    path
}

fn built(text: &str) -> impl FnOnce() -> Result<Vec<u8>, Error> {
    let bytes = text.as_bytes().to_vec();
    move || Ok(bytes)
}

fn unbuilt() -> Result<Vec<u8>, Error> {
    Err(Error::internal("it must not be built".into()))
}

/// AC-16: built once, kept in memory and on disk; a file of another device, or cut, or changed is
/// built again.
#[test]
fn ac_16_programs_are_kept() {
    let path = folder("kept");
    let cache = KernelCache::new("sim");
    cache.set_folder(Some(&path)).unwrap();
    assert!(cache.get("add", unbuilt).is_err(), "a build may fail, and leaves nothing");
    assert_eq!(&*cache.get("add", built("one")).unwrap(), b"one");
    assert_eq!(&*cache.get("add", unbuilt).unwrap(), b"one");
    let kept = cache.kept();
    assert_eq!((kept.entries, kept.bytes, kept.built, kept.hits), (1, 3, 1, 1));

    // The next process.
    let next = KernelCache::new("sim");
    next.set_folder(Some(&path)).unwrap();
    assert_eq!(&*next.get("add", unbuilt).unwrap(), b"one");
    assert_eq!(next.kept().read, 1);
    // Another device.
    let other = KernelCache::new("another");
    other.set_folder(Some(&path)).unwrap();
    assert_eq!(&*other.get("add", built("two")).unwrap(), b"two");

    let file = |text: &str| {
        let files = fs::read_dir(&path).unwrap().map(|f| f.unwrap().path());
        files.filter(|f| fs::read(f).unwrap().ends_with(text.as_bytes())).collect::<Vec<_>>()
    };
    let [one] = &file("one")[..] else { panic!("one file") };
    let whole = fs::read(one).unwrap();
    for cut in 0..whole.len() {
        fs::write(one, &whole[..cut]).unwrap();
        let again = KernelCache::new("sim");
        again.set_folder(Some(&path)).unwrap();
        assert_eq!(&*again.get("add", built("new")).unwrap(), b"new", "cut at {cut}");
    }
    let mut changed = whole.clone();
    *changed.last_mut().unwrap() ^= 1;
    fs::write(one, changed).unwrap();
    next.clear();
    assert_eq!(&*next.get("add", built("new")).unwrap(), b"new");
    fs::remove_dir_all(&path).unwrap();
}

/// AC-16: a device builds an operation's program the first time; the processor has none to build.
#[test]
fn ac_16_devices_build_once() {
    let m = Machine::new();
    let there = m.there(&m.tensor(&[1.0]));
    for _ in 0..3 {
        m.add(&there, 1.0).unwrap();
    }
    let kept = m.device.context().kernels().kept();
    assert_eq!((kept.built, kept.hits), (1, 2));
    assert_eq!(m.host.context().kernels().kept().entries, 0);
}
