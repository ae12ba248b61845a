//! Checks of the generated code: no call of `memcpy` and its kin in what a call of the library executes, no wide
//! register outside the kernels that require it, and entry points that are loads and a jump.
//!
//! The crate is compiled to assembly, as a `no_std` library, by the `rustc` on the path.

#![cfg(target_arch = "x86_64")]

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;

/// A folder that is removed when the test ends.
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
        // Leftovers in the target folder are harmless.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn compile(folder: &Path, source: &Path, more: &[&str]) {
    let output = Command::new("rustc")
        .args(["--edition=2024", "--crate-type=rlib", "-Ccodegen-units=1", "--emit=asm,link"])
        .args(more)
        .arg("--out-dir")
        .arg(folder)
        .arg(source)
        .output()
        .expect("rustc is on the path, as cargo is");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// A symbol and its instructions.
type Function = (String, Vec<String>);

/// The crate, compiled once for all tests of a process.
struct Compiled {
    optimisation: &'static str,
    library: PathBuf,
    functions: Vec<Function>,
}

static COMPILED: [LazyLock<Compiled>; 3] = [
    // The weakest for which the crate promises anything.
    LazyLock::new(|| Compiled::with("1")),
    LazyLock::new(|| Compiled::with("3")),
    LazyLock::new(|| Compiled::with("s")),
];

impl Compiled {
    fn with(optimisation: &'static str) -> Compiled {
        // Not a `Scratch`: statics are never dropped.
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("carryline-{optimisation}"));
        std::fs::create_dir_all(&folder).expect("a folder in the target folder");
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/lib.rs");
        let checks = if optimisation == "1" { "on" } else { "off" };
        let (level, checks) = (format!("-Copt-level={optimisation}"), format!("-Cdebug-assertions={checks}"));
        compile(&folder, &source, &["--crate-name=carryline", &level, &checks]);
        let functions = functions(&folder.join("carryline.s"));
        Compiled { optimisation, library: folder.join("libcarryline.rlib"), functions }
    }

    /// All of them, compiled at the same time.
    fn all() -> impl Iterator<Item = &'static Compiled> {
        std::thread::scope(|scope| {
            for compiled in &COMPILED {
                scope.spawn(|| LazyLock::force(compiled));
            }
        });
        COMPILED.iter().map(|compiled| &**compiled)
    }

    /// Compiled for speed.
    fn fast() -> &'static Compiled {
        &COMPILED[1]
    }

    /// The value of `--extern` for it.
    fn to_extern(&self) -> String {
        format!("carryline={}", self.library.display())
    }
}

/// The functions of an assembly file: symbol and instructions.
fn functions(file: &Path) -> Vec<Function> {
    let text = std::fs::read_to_string(file).expect("rustc has written the assembly");
    let mut all: Vec<Function> = Vec::new();
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

/// Whether a function is in a module of kernels.
fn is_kernel(symbol: &str) -> bool {
    ["4zero", "4copy", "8checksum"].iter().any(|module| symbol.contains(&format!("9carryline{module}")))
}

/// The functions of the crate that a call of it can execute: the kernels, the resolvers, and all that those name,
/// of `core` too where it was compiled with the crate.
fn reachable(functions: &[Function]) -> BTreeMap<&str, &[String]> {
    let all: BTreeMap<&str, &[String]> =
        functions.iter().map(|(symbol, instructions)| (&**symbol, &**instructions)).collect();
    let is_resolver = |symbol: &str| symbol.contains("9carryline8dispatch5first");
    let mut to_visit: Vec<&str> =
        all.keys().copied().filter(|symbol| is_kernel(symbol) || is_resolver(symbol)).collect();
    let mut seen: BTreeSet<&str> = to_visit.iter().copied().collect();
    while let Some(symbol) = to_visit.pop() {
        let is_of_name = |byte: char| byte.is_ascii_alphanumeric() || "_$.".contains(byte);
        let words = all[symbol].iter().flat_map(|line| line.split(move |byte| !is_of_name(byte)));
        for (named, _) in words.filter_map(|word| all.get_key_value(word)) {
            if seen.insert(named) {
                to_visit.push(named);
            }
        }
    }
    all.into_iter().filter(|(symbol, _)| seen.contains(symbol)).collect()
}

/// The functions that programs define by this crate would otherwise call themselves.
#[test]
fn no_call_reaches_memory_functions() {
    for Compiled { optimisation, functions, .. } in Compiled::all() {
        let reachable = reachable(functions);
        for part in [
            "8dispatch5first",
            "8dispatch7resolve",
            "8dispatch6select",
            "6tuning6active4fill",
            "3cpu8Features",
        ] {
            assert!(
                reachable.keys().any(|symbol| symbol.contains(&format!("9carryline{part}"))),
                "opt-level {optimisation}: no call executes {part}"
            );
        }
        assert!(
            reachable.len() < functions.len(),
            "opt-level {optimisation}: the reader of profiles is executed too"
        );
        for (symbol, instructions) in reachable {
            for instruction in instructions {
                let calls = ["memcpy", "memmove", "memset"];
                assert!(
                    !calls.iter().any(|name| instruction.contains(name)),
                    "opt-level {optimisation}, {symbol}: {instruction}"
                );
            }
        }
    }
}

#[test]
fn kernels_call_no_memory_functions_and_only_they_use_wide_registers() {
    for Compiled { optimisation, functions, .. } in Compiled::all() {
        let kernels = functions.iter().filter(|(symbol, _)| is_kernel(symbol)).count();
        assert!(kernels >= 14, "the assembly has only {kernels} functions of the kernels' modules");
        for (symbol, instructions) in functions {
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
        assert!(uses("8checksum6avx5128above_64", "vpdpwssd"), "the dot product is gone");
        let chains = ["8checksum12adc_assembly7partial", "8checksum3adc7partial"];
        assert!(chains.iter().any(|kernel| uses(kernel, "adcq")), "the carry chain is gone");
        assert!(uses("4zero6avx5124zero", "vzeroupper"), "dirty upper halves would slow the caller down");
    }
}

/// Calls too short to depend on the CPU's model read no decision: the code that reads one is out of line, and
/// entered from `LOOPS_BELOW_BYTES` on, or `SUM_PREFETCH_LEAST_BYTES` for sums. Zeroing and copying by SSE2 read one in
/// line, from `NARROW_LOOPS_BELOW_BYTES` on.
#[test]
fn kernels_read_decisions_only_in_functions_for_large_calls() {
    const LARGE: [&str; 12] = [
        "large_by_size",
        "large_read_here",
        "large_sse2",
        "large_avx2",
        "large_avx512",
        "prefetch_ahead",
        "is_prefetched_far",
        "beyond_caches",
        "4zero4sse24zero",
        "4zero13sse2_assembly9above_256",
        "4copy4sse24copy",
        "4copy4sse211overlapping",
    ];
    for Compiled { optimisation, functions, .. } in Compiled::all() {
        let mut readers = 0;
        for (symbol, instructions) in functions {
            let is_kernel = ["4zero", "4copy", "8checksum", "3set"]
                .iter()
                .any(|module| symbol.contains(&format!("9carryline{module}")));
            let reads = |instruction: &String| {
                ["9DECISIONS", "6active4find"].iter().any(|of| instruction.contains(of))
            };
            if is_kernel && instructions.iter().any(reads) {
                assert!(LARGE.iter().any(|name| symbol.contains(name)), "opt-level {optimisation}: {symbol}");
                readers += 1;
            }
        }
        assert!(readers >= 5, "opt-level {optimisation}: only {readers} functions read decisions");
    }
}

#[test]
fn entry_points_are_loads_and_a_jump() {
    let scratch = Scratch::new("entry");
    let source = scratch.0.join("entry.rs");
    let text = "
        pub unsafe extern \"C\" fn entry_zero(dst: *mut u8, len: usize) {
            unsafe { carryline::zero::fill_raw(dst, len) }
        }
        pub unsafe extern \"C\" fn entry_checksum(data: *const u8, len: usize, seed: u32) -> u32 {
            unsafe { carryline::checksum::partial_raw(data, len, seed) }
        }
        pub fn entry_copy(dst: *mut u8, src: *const u8, len: usize) {
            unsafe { carryline::copy::bytes_raw(dst, src, len) }
        }
    ";
    std::fs::write(&source, text).expect("a file in the target folder");
    compile(&scratch.0, &source, &["-Copt-level=3", "--extern", &Compiled::fast().to_extern()]);
    let functions = functions(&scratch.0.join("entry.s"));
    let entries: Vec<_> = functions.iter().filter(|(symbol, _)| symbol.contains("entry_")).collect();
    assert_eq!(entries.len(), 3);
    for (symbol, instructions) in entries {
        let (last, loads) = instructions.split_last().expect("not empty");
        assert!(last.starts_with("jmpq\t*"), "{symbol}: {instructions:?}");
        // One load of the pointer; in position-independent code, another of the table's address.
        assert!(
            loads.len() <= 2 && loads.iter().all(|load| load.starts_with("movq\t")),
            "{symbol}: {instructions:?}"
        );
    }
}

/// A program that searches its own stack through the kernel: its exit status is 1 if a key wiped by
/// [`carryline::zero::secret`] is still there, plus 2 if one wiped by plain code is.
#[cfg(target_os = "linux")]
const WIPES: &str = "
    use std::hint::black_box;
    use std::io::{Read, Seek, SeekFrom};

    fn key_byte(salt: u8, at: usize) -> u8 {
        salt.wrapping_mul(at as u8 | 1) ^ 0x5a
    }

    #[inline(never)]
    fn use_key(salt: u8, wipe: impl FnOnce(&mut [u8])) {
        let mut key = [0_u8; 200];
        for (at, byte) in key.iter_mut().enumerate() {
            *byte = key_byte(salt, at);
        }
        black_box(&key);
        wipe(&mut key);
    }

    /// So deep that no later call overwrites it.
    #[inline(never)]
    fn use_key_deep(salt: u8, wipe: impl FnOnce(&mut [u8])) {
        let mut between = [0_u8; 1 << 17];
        black_box(&mut between);
        use_key(salt, wipe);
        black_box(&mut between);
    }

    fn is_left(salt: u8) -> bool {
        let maps = std::fs::read_to_string(\"/proc/self/maps\").unwrap();
        let range = maps.lines().find(|line| line.ends_with(\"[stack]\")).unwrap().split(' ').next().unwrap();
        let (low, high) = range.split_once('-').unwrap();
        let [low, high] = [low, high].map(|text| u64::from_str_radix(text, 16).unwrap());
        let mut stack = vec![0; (high - low) as usize];
        let mut memory = std::fs::File::open(\"/proc/self/mem\").unwrap();
        memory.seek(SeekFrom::Start(low)).unwrap();
        memory.read_exact(&mut stack).unwrap();
        stack.windows(64).any(|seen| seen.iter().enumerate().all(|(at, byte)| *byte == key_byte(salt, at + 64)))
    }

    fn main() {
        let salt = 0x31 + std::env::args().count() as u8;
        use_key_deep(salt, |key| carryline::zero::secret(key));
        let secret_is_left = is_left(salt);
        use_key_deep(salt ^ 0x80, |key| key.fill(0));
        std::process::exit(i32::from(secret_is_left) + 2 * i32::from(is_left(salt ^ 0x80)));
    }
";

#[test]
#[cfg(target_os = "linux")]
fn secrets_are_wiped_even_if_the_compiler_removes_other_wiping() {
    let scratch = Scratch::new("secret");
    let source = scratch.0.join("wipes.rs");
    std::fs::write(&source, WIPES).expect("a file in the target folder");
    let program = scratch.0.join("wipes");
    let output = Command::new("rustc")
        .args(["--edition=2024", "-Copt-level=3", "-Ccodegen-units=1", "-Clto=fat", "-Cpanic=abort"])
        .args(["--extern", &Compiled::fast().to_extern(), "-o"])
        .args([&program, &source])
        .output()
        .expect("rustc is on the path, as cargo is");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let status = Command::new(program).status().expect("the program runs").code();
    assert_eq!(
        status,
        Some(2),
        "1: the secret is left; 0: this compiler removes no wiping, so the test is inconclusive"
    );
}
