//! The rules.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::{capabilities, generate};

/// Lines a source file may have.
const MAX_LINES: usize = 600;

/// Which of our crates each crate may use.
const ARROWS: &[(&str, &[&str])] = &[
    ("core", &[]),
    ("dense", &[]),
    ("runtime", &["wick-core", "wick-dense"]),
    ("jni", &["wick-core", "wick-runtime"]),
    ("xtask", &["wick-core"]),
];

/// Finds the places that break a rule.
type Check = fn(&Path) -> Vec<String>;

/// Runs all checks and says what each found.
pub fn run(root: &Path) -> Result<(), String> {
    let checks: [(&str, Check); 5] = [
        ("generated files are fresh", fresh),
        ("files are short", short),
        ("arrows between crates", arrows),
        ("capabilities are tested", |root| capabilities::check(root, &sources(root))),
        ("one exported symbol", one_symbol),
    ];
    let mut failed = 0;
    for (name, check) in checks {
        let faults = check(root);
        println!("{} {name}", if faults.is_empty() { "ok    " } else { "FAILED" });
        faults.iter().for_each(|f| println!("       {f}"));
        failed += usize::from(!faults.is_empty());
    }
    println!("{} passed, {failed} failed", checks.len() - failed);
    if failed == 0 { Ok(()) } else { Err("cargo xtask check found faults".into()) }
}

fn fresh(root: &Path) -> Vec<String> {
    generate::files()
        .into_iter()
        .filter(|(path, text)| fs::read_to_string(root.join(path)).ok().as_ref() != Some(text))
        .map(|(path, _)| format!("{path} is stale: run cargo xtask gen"))
        .collect()
}

/// Files that git tracks or would track.
fn sources(root: &Path) -> Vec<PathBuf> {
    let listed = Command::new("git")
        .args(["ls-files", "--cached", "--others", "--exclude-standard"])
        .current_dir(root)
        .output();
    let text = listed.map(|o| String::from_utf8_lossy(&o.stdout).into_owned()).unwrap_or_default();
    text.lines().map(|line| root.join(line)).filter(|p| p.is_file()).collect()
}

fn short(root: &Path) -> Vec<String> {
    let generated: Vec<PathBuf> =
        generate::files().into_iter().map(|(path, _)| root.join(path)).collect();
    let source = |p: &PathBuf| {
        let known = ["rs", "scala", "java", "cu", "cuh", "sbt"];
        p.extension().and_then(|e| e.to_str()).is_some_and(|e| known.contains(&e))
            && !generated.contains(p)
    };
    let mut out = Vec::new();
    for path in sources(root).into_iter().filter(source) {
        let lines = fs::read_to_string(&path).map_or(0, |text| text.lines().count());
        if lines > MAX_LINES {
            out.push(format!("{} has {lines} lines, at most {MAX_LINES}", path.display()));
        }
    }
    out
}

fn arrows(root: &Path) -> Vec<String> {
    let mut out = Vec::new();
    for (name, allowed) in ARROWS {
        let path = root.join("rust").join(name).join("Cargo.toml");
        let text = fs::read_to_string(&path).unwrap_or_default();
        let used = text.lines().filter_map(|l| l.split(['.', ' ', '=']).next());
        for dependency in used.filter(|d| d.starts_with("wick-")) {
            if !allowed.contains(&dependency) {
                out.push(format!("rust/{name} must not use {dependency}"));
            }
        }
    }
    let core = fs::read_to_string(root.join("rust/core/src/lib.rs")).unwrap_or_default();
    if !core.contains("#![no_std]") || core.contains("extern crate") {
        out.push("rust/core must be no_std and free of alloc".to_owned());
    }
    out
}

fn one_symbol(root: &Path) -> Vec<String> {
    let built = Command::new(env!("CARGO"))
        .args(["build", "--quiet", "--release", "-p", "wick-jni"])
        .current_dir(root)
        .status();
    if !built.is_ok_and(|s| s.success()) {
        return vec!["cargo build --release -p wick-jni failed".to_owned()];
    }
    exported(&target(root).join("release/libwick.so")).err().into_iter().collect()
}

/// Where cargo builds.
pub fn target(root: &Path) -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or(root.join("target"), PathBuf::from)
}

/// What a program says about a library.
pub fn output(program: &str, arguments: &[&str], library: &Path) -> Result<String, String> {
    match Command::new(program).args(arguments).arg(library).output() {
        Ok(o) if o.status.success() => Ok(String::from_utf8_lossy(&o.stdout).into_owned()),
        _ => Err(format!("{program} could not read {}", library.display())),
    }
}

/// Whether a library exports its one symbol alone.
pub fn exported(library: &Path) -> Result<(), String> {
    let text = output("nm", &["-D", "--defined-only"], library)?;
    let symbols: Vec<&str> = text.lines().filter_map(|l| l.split_whitespace().last()).collect();
    match symbols[..] {
        ["Java_wick_Native_init"] => Ok(()),
        _ => Err(format!("exported: {symbols:?}")),
    }
}
