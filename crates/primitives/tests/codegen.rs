//! What the compiler made of it: no call of `memcpy` and relatives inside the kernels, no wide register outside
//! the kernels that ask for it, and an entry that is loads and a jump.
//!
//! The crate is compiled anew to assembly, as a `no_std` library, by the `rustc` on the path.

#![cfg(target_arch = "x86_64")]

use std::path::{Path, PathBuf};
use std::process::Command;

/// A folder that goes when the test ends.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Scratch {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder in the target folder");
        Scratch(folder)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // Left-overs in the target folder harm nobody.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn compile(scratch: &Scratch, source: &Path, more: &[&str]) {
    let output = Command::new("rustc")
        .args(["--edition=2024", "--crate-type=rlib", "-Ccodegen-units=1", "--emit=asm,link"])
        .args(more)
        .arg("-L")
        .arg(&scratch.0)
        .arg("--out-dir")
        .arg(&scratch.0)
        .arg(source)
        .output()
        .expect("rustc is on the path, as cargo is");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// Compiles the crate.
fn compile_crate(scratch: &Scratch, optimisation: &str) {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/lib.rs");
    compile(scratch, &source, &["--crate-name=carryline", &format!("-Copt-level={optimisation}")]);
}

/// The functions of an assembly file: symbol and instructions.
fn functions(file: &Path) -> Vec<(String, Vec<String>)> {
    let text = std::fs::read_to_string(file).expect("rustc has written the assembly");
    let mut all: Vec<(String, Vec<String>)> = Vec::new();
    for line in text.lines() {
        if let Some(symbol) = line.strip_suffix(':').filter(|symbol| !symbol.starts_with(['.', '\t'])) {
            all.push((symbol.to_owned(), Vec::new()));
        } else if let Some((_, instructions)) = all.last_mut()
            && line.starts_with('\t')
            && !line.starts_with("\t.")
        {
            instructions.push(line.trim().to_owned());
        }
    }
    all.retain(|(_, instructions)| !instructions.is_empty());
    all
}

#[test]
fn kernels_call_no_memory_function_and_keep_wide_registers_to_themselves() {
    for optimisation in ["2", "3", "s"] {
        let scratch = Scratch::new(&format!("kernels-{optimisation}"));
        compile_crate(&scratch, optimisation);
        let functions = functions(&scratch.0.join("carryline.s"));
        let is_kernel = |symbol: &str| {
            ["4zero", "4copy", "8checksum"]
                .iter()
                .any(|module| symbol.contains(&format!("9carryline{module}")))
        };
        let kernels = functions.iter().filter(|(symbol, _)| is_kernel(symbol)).count();
        assert!(kernels >= 14, "the assembly has only {kernels} functions of the kernels' modules");
        for (symbol, instructions) in &functions {
            for instruction in instructions {
                let at = format!("opt-level {optimisation}, {symbol}: {instruction}");
                let calls = ["memcpy", "memmove", "memset", "memcmp", "bcmp"];
                assert!(!is_kernel(symbol) || !calls.iter().any(|name| instruction.contains(name)), "{at}");
                let (ymm, zmm) = (instruction.contains("%ymm"), instruction.contains("%zmm"));
                let (avx2, avx512) = (symbol.contains("avx2"), symbol.contains("avx512"));
                assert!(!ymm || avx2 || avx512, "{at}");
                assert!(!zmm || avx512, "{at}");
            }
        }
        let uses = |kernel: &str, what: &str| {
            functions.iter().any(|(symbol, instructions)| {
                symbol.contains(kernel) && instructions.iter().any(|instruction| instruction.contains(what))
            })
        };
        assert!(uses("8checksum6avx5127partial", "vpdpwssd"), "the dot product is gone");
        assert!(uses("8checksum3adc7partial", "adcq"), "the carry chain is gone");
        assert!(uses("4zero6avx5124zero", "vzeroupper"), "dirty upper halves would slow the caller down");
    }
}

#[test]
fn the_entry_is_loads_and_a_jump() {
    let scratch = Scratch::new("entry");
    compile_crate(&scratch, "3");
    let source = scratch.0.join("entry.rs");
    let text = "
        pub unsafe extern \"C\" fn entry_zero(dst: *mut u8, len: usize) {
            unsafe { carryline::zero::fill_raw(dst, len) }
        }
        pub unsafe extern \"C\" fn entry_checksum(data: *const u8, len: usize, seed: u32) -> u32 {
            unsafe { carryline::checksum::partial_raw(data, len, seed) }
        }
        pub fn entry_copy(dst: *mut u8, src: *const u8, len: usize) {
            unsafe { carryline::copy::copy_raw(dst, src, len) }
        }
    ";
    std::fs::write(&source, text).expect("a file in the target folder");
    let library = format!("carryline={}", scratch.0.join("libcarryline.rlib").display());
    compile(&scratch, &source, &["-Copt-level=3", "--extern", &library]);
    let functions = functions(&scratch.0.join("entry.s"));
    let entries: Vec<_> = functions.iter().filter(|(symbol, _)| symbol.contains("entry_")).collect();
    assert_eq!(entries.len(), 3);
    for (symbol, instructions) in entries {
        let (last, loads) = instructions.split_last().expect("not empty");
        assert!(last.starts_with("jmpq\t*"), "{symbol}: {instructions:?}");
        // One load of the pointer; another of the table's address where code is position-independent.
        assert!(
            loads.len() <= 2 && loads.iter().all(|load| load.starts_with("movq\t")),
            "{symbol}: {instructions:?}"
        );
    }
}
