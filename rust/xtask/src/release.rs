//! The library that is published: built against an old glibc, and held to it.

use std::path::Path;
use std::process::Command;

use crate::check::{exported, output};

const TARGET: &str = "x86_64-unknown-linux-gnu";
/// The newest glibc that it may ask for.
const GLIBC: [u32; 2] = [2, 17];
/// What it may be linked with.
const LIBRARIES: [&str; 5] =
    ["libc.so.6", "libm.so.6", "libpthread.so.0", "libdl.so.2", "ld-linux-x86-64.so.2"];

/// Builds it by cargo-zigbuild, checks it and says where it is.
pub fn run(root: &Path) -> Result<(), String> {
    let target = format!("{TARGET}.{}.{}", GLIBC[0], GLIBC[1]);
    let status = Command::new("cargo")
        .args(["zigbuild", "--release", "-p", "wick-jni", "--target", &target])
        .current_dir(root)
        .status();
    if !status.is_ok_and(|s| s.success()) {
        return Err("cargo zigbuild failed; pip install ziglang cargo-zigbuild".into());
    }
    let library = crate::check::target(root).join(TARGET).join("release/libwick.so");
    exported(&library)?;
    let needed = output("readelf", &["-d"], &library)?;
    let needed = needed.lines().filter(|l| l.contains("(NEEDED)")).filter_map(|l| {
        let (name, _) = l.split_once('[')?.1.split_once(']')?;
        Some(name.to_owned())
    });
    if let Some(other) = needed.into_iter().find(|name| !LIBRARIES.contains(&name.as_str())) {
        return Err(format!("{} needs {other}", library.display()));
    }
    let newest = newest(&output("nm", &["-D"], &library)?);
    println!("GLIBC_{}.{} is the newest symbol version", newest[0], newest[1]);
    if newest > GLIBC {
        return Err(format!("{} asks for more than {GLIBC:?}", library.display()));
    }
    println!("WICK_NATIVE_LIB={}", library.display());
    Ok(())
}

/// The newest version of glibc in a list of symbols.
fn newest(symbols: &str) -> [u32; 2] {
    let versions = symbols.split("GLIBC_").skip(1).filter_map(|rest| {
        let mut numbers = rest.split(|c: char| !c.is_ascii_digit());
        Some([numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?])
    });
    versions.max().unwrap_or([0, 0])
}

#[cfg(test)]
mod tests {
    #[test]
    fn versions_are_numbers() {
        let symbols = " U memcpy@GLIBC_2.14\n U a@GLIBC_2.2.5\n U b@GLIBC_2.9\n";
        assert_eq!(super::newest(symbols), [2, 14]);
    }
}
