//! Records the compiler and profile of the build, which are stored with every result.

use std::process::Command;

fn main() {
    let compiler = std::env::var("RUSTC").unwrap_or_else(|_| "rustc".to_owned());
    let version = Command::new(compiler).arg("-V").output().ok().filter(|output| output.status.success());
    let version = version.and_then(|output| String::from_utf8(output.stdout).ok());
    println!("cargo::rustc-env=CARRYLINE_COMPILER={}", version.as_deref().unwrap_or("unknown").trim());
    for (name, variable) in [("PROFILE", "PROFILE"), ("OPT_LEVEL", "OPT_LEVEL"), ("TARGET", "TARGET")] {
        let value = std::env::var(variable).unwrap_or_else(|_| "unknown".to_owned());
        println!("cargo::rustc-env=CARRYLINE_{name}={value}");
    }
    println!("cargo::rerun-if-changed=build.rs");
}
