//! Verification of plug-ins: wrong ones must be caught, unusual but correct ones must pass, and the
//! documentation's examples must work as described. Needs a C compiler as `cc`.
#![cfg(all(target_arch = "x86_64", target_os = "linux"))]

mod child;
mod corpus;
mod docs;
mod without_vectors;

use std::path::Path;
use std::process::Command;

/// Runs the C compiler.
fn compile(arguments: &[&str], folder: &Path) {
    let output = Command::new("cc").args(arguments).current_dir(folder).output().expect("a C compiler, cc");
    assert!(output.status.success(), "cc {arguments:?}:\n{}", String::from_utf8_lossy(&output.stderr));
}
