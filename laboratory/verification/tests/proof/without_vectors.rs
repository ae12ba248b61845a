//! Verifies the library as it is compiled for x86-64 without vectors, such as for an operating system: its target has no `std`,
//! and so no tests of its own. The functions take only integers and pointers, which both targets pass alike.

use crate::child::verify_with;
use crate::compile;
use carryline_verification::plugin::PluginSpec;
use std::process::Command;

const TARGET: &str = "x86_64-unknown-none";

/// The functions of [`SOURCE`], with the families that they are verified as.
const ROUTINES: [&str; 6] = [
    "nv_zero:zero",
    "nv_zero_not_soon:zero",
    "nv_copy:memcpy",
    "nv_move:memmove",
    "nv_sum:checksum",
    "nv_copy_and_sum:copy_checksum",
];

const MANIFEST: &str = r#"
[package]
name = "without_vectors"
version = "0.0.0"
edition = "2024"

[lib]
path = "lib.rs"
crate-type = ["staticlib"]

[dependencies]
carryline = { path = "CARRYLINE", default-features = false }

[profile.dev]
opt-level = 2
panic = "abort"

[workspace]
"#;

const SOURCE: &str = include_str!("without_vectors/lib.rs");

#[test]
fn code_without_vectors_is_verified() {
    let folder = tempfile::tempdir().expect("a folder");
    let library = concat!(env!("CARGO_MANIFEST_DIR"), "/../../library/carryline");
    std::fs::write(folder.path().join("Cargo.toml"), MANIFEST.replace("CARRYLINE", library)).expect("a file");
    std::fs::write(folder.path().join("lib.rs"), SOURCE).expect("a file");
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["build", "--offline", "--target", TARGET, "--target-dir", "target"]);
    let built = cargo.current_dir(folder.path()).output().expect("cargo runs this test");
    let errors = String::from_utf8_lossy(&built.stderr);
    if errors.contains("target may not be installed") {
        eprintln!("remark: the Rust target {TARGET} is not installed; it is skipped");
        return;
    }
    assert!(built.status.success(), "{errors}");
    let archive = format!("target/{TARGET}/debug/libwithout_vectors.a");
    // Of the archive only what is named and what that needs: it also has functions for floating-point numbers.
    let named = ROUTINES.map(|routine| format!("-Wl,-u,{}", routine.split(':').next().expect("a name")));
    let mut link = vec!["-shared", "-nostdlib", "-o", "nv.so"];
    link.extend(named.iter().map(String::as_str));
    link.push(&archive);
    compile(&link, folder.path());
    let code = Command::new("objdump").args(["-d", "nv.so"]).current_dir(folder.path()).output();
    let code = code.expect("objdump, which is installed with cc").stdout;
    assert!(code.windows(4).any(|word| word == b"%rdi"));
    assert!(!code.windows(4).any(|word| word == b"%xmm"), "the target has vectors");
    for routine in ROUTINES {
        let spec = PluginSpec::parse(&format!("nv.so:{routine}")).expect("a spec");
        let outcome = verify_with(&spec, folder.path(), 20, false);
        let summary = outcome.unwrap_or_else(|example| panic!("{spec}: {example}"));
        assert!(summary.notes.is_empty(), "{spec}: {:?}", summary.notes);
    }
}
