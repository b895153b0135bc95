//! `cargo xtask gen` writes what is made from the operation table; `cargo xtask check` holds the
//! rules that matter after we have left: freshness, file length, the arrows between crates, one
//! exported symbol, a test for each capability. `cargo xtask release` builds the library to publish.

mod capabilities;
mod check;
mod generate;
mod release;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// The repository's root.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn main() -> ExitCode {
    let result = match std::env::args().nth(1).as_deref() {
        Some("gen") => generate::write(&root()),
        Some("check") => check::run(&root()),
        Some("release") => release::run(&root()),
        _ => Err("usage: cargo xtask gen | check | release".into()),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(text) => {
            eprintln!("{text}");
            ExitCode::FAILURE
        }
    }
}
