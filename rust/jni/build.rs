//! Link flags of the library.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    // A collected class loader makes the JVM close its library; the pool's threads still run in it.
    if std::env::var("CARGO_CFG_TARGET_OS").as_deref() == Ok("linux") {
        println!("cargo::rustc-cdylib-link-arg=-Wl,-z,nodelete");
    }
}
