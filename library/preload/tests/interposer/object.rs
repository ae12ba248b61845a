//! Tests the built library: it exports the promised names and no others, and its functions make no calls to
//! other libraries.

#[cfg(target_arch = "x86_64")]
use std::collections::BTreeMap;
use std::collections::BTreeSet;
use std::process::Command;

/// All exported names.
const NAMES: [&str; 14] = [
    "__bzero",
    "__explicit_bzero_chk",
    "__memcpy_chk",
    "__memmove_chk",
    "__mempcpy",
    "__mempcpy_chk",
    "__memset_chk",
    "bcopy",
    "bzero",
    "explicit_bzero",
    "memcpy",
    "memmove",
    "mempcpy",
    "memset",
];

/// The output of a tool on the interposer; `None` with a remark if the tool is not installed.
fn output_of(tool: &str, arguments: &[&str]) -> Option<String> {
    crate::support::find(tool)?;
    let output =
        Command::new(tool).args(arguments).arg(crate::support::interposer()).output().expect("it is there");
    assert!(output.status.success(), "{tool}: {}", String::from_utf8_lossy(&output.stderr));
    Some(String::from_utf8_lossy(&output.stdout).into_owned())
}

#[test]
fn it_exports_the_functions_and_nothing_else() {
    let Some(symbols) = output_of("nm", &["-D", "--defined-only"]) else { return };
    let names: Vec<&str> = symbols.lines().filter_map(|line| line.split_whitespace().nth(2)).collect();
    assert_eq!(names, NAMES);
    let kinds: BTreeSet<&str> = symbols.lines().filter_map(|line| line.split_whitespace().nth(1)).collect();
    assert_eq!(kinds, BTreeSet::from(["T"]), "no indirect functions");
}

#[test]
fn it_needs_only_the_c_library_and_has_no_thread_local_storage() {
    let Some(text) = output_of("readelf", &["-dlW"]) else { return };
    let needed: Vec<&str> = text.lines().filter(|line| line.contains("(NEEDED)")).collect();
    assert!(needed.len() == 1 && needed[0].contains("[libc."), "{needed:?}");
    assert!(text.contains("BIND_NOW") || text.contains("Flags: NOW"), "nothing is resolved lazily");
    assert!(!text.lines().any(|line| line.trim_start().starts_with("TLS ")), "{text}");
    assert!(!text.contains("TEXTREL"), "{text}");
}

#[test]
fn it_imports_nothing_that_allocates_or_locks() {
    let Some(symbols) = output_of("nm", &["-D", "--undefined-only"]) else { return };
    let allowed: BTreeSet<&str> = BTreeSet::from([
        // To end the process.
        "__chk_fail",
        "abort",
        // The constructor.
        "__errno_location",
        "close",
        "dlsym",
        "getauxval",
        "getenv",
        "lseek",
        "lseek64",
        "memcmp",
        "bcmp",
        "mmap",
        "mmap64",
        "open",
        "open64",
        "read",
        "strlen",
        "write",
        // Its messages, if standard error is a broken pipe.
        "sigaddset",
        "sigemptyset",
        "sigismember",
        "sigpending",
        "sigprocmask",
        "sigtimedwait",
        // The C compiler's start-up code; all are weak.
        "_ITM_deregisterTMCloneTable",
        "_ITM_registerTMCloneTable",
        "__cxa_finalize",
        "__gmon_start__",
    ]);
    for line in symbols.lines() {
        let name = line.split_whitespace().last().unwrap_or_default();
        let name = name.split('@').next().unwrap_or_default();
        assert!(allowed.contains(name), "imports {name}");
    }
}

/// The targets of a function's direct calls and jumps, by name and without the function itself; `imported`
/// are those read from the table of imported addresses.
#[cfg(target_arch = "x86_64")]
#[derive(Default, Debug)]
struct Code {
    direct: BTreeSet<String>,
    imported: BTreeSet<String>,
}

/// The functions in a disassembly.
#[cfg(target_arch = "x86_64")]
fn functions(text: &str) -> BTreeMap<String, Code> {
    let mut all: BTreeMap<String, Code> = BTreeMap::new();
    let mut current = String::new();
    for line in text.lines() {
        if let Some(name) = line.strip_suffix(">:").and_then(|line| line.split_once('<')) {
            current = name.1.to_owned();
            all.entry(current.clone()).or_default();
            continue;
        }
        let Some((_, instruction)) = line.split_once(":\t") else { continue };
        let goes = instruction.starts_with("call") || instruction.starts_with('j');
        let Some((_, target)) = instruction.split_once('<').filter(|_| goes) else { continue };
        let target = target.split(['>', '+']).next().unwrap_or_default().to_owned();
        let code = all.entry(current.clone()).or_default();
        if target == "_DYNAMIC" {
            // A pointer without a name, beside that symbol, leads to a hidden function of this object: one in assembly.
            continue;
        }
        if instruction.contains("(%rip)") {
            code.imported.insert(target.split('@').next().unwrap_or_default().to_owned());
        } else if target != current {
            code.direct.insert(target);
        }
    }
    all
}

#[cfg(target_arch = "x86_64")]
#[test]
fn functions_call_other_libraries_only_to_end_the_process() {
    let Some(text) = output_of("objdump", &["-d", "--no-show-raw-insn"]) else { return };
    let functions = functions(&text);
    // Follows direct calls from every entry. Pointers in the tables lead to kernels, which are checked below.
    let mut reached: BTreeSet<&str> = BTreeSet::new();
    let mut open: Vec<&str> = NAMES.to_vec();
    while let Some(name) = open.pop() {
        let Some(code) = functions.get(name).filter(|_| reached.insert(name)) else { continue };
        open.extend(code.direct.iter().map(String::as_str));
        let ends = name.contains("buffer_overflow");
        assert!(code.imported.is_empty() || ends, "{name} reaches {:?}", code.imported);
    }
    let names = |part: &str| reached.iter().filter(|name| name.contains(part)).count();
    assert!(names("slowly") == 3 && names("buffer_overflow") == 1, "{reached:?}");
    assert!(!reached.iter().any(|name| name.contains("panic")), "{reached:?}");

    // The kernels behind the pointers.
    let kernels = [
        "carryline4zero",
        "carryline4copy",
        "variants4zero",
        "variants4copy",
        "carryline3set",
        "preload7kernels",
    ];
    let kernels = || functions.iter().filter(|(name, _)| kernels.iter().any(|kernel| name.contains(kernel)));
    assert!(kernels().count() >= 20, "{:?}", kernels().map(|(name, _)| name).collect::<Vec<_>>());
    // Not checked: variants that are the C library's own functions, which the interposer cannot choose, and
    // the functions that tell a timed loop where to call, which it never uses.
    let left_out = ["libc_mem", "write_bytes", "7landing"];
    for (name, code) in kernels().filter(|(name, _)| !left_out.iter().any(|part| name.contains(part))) {
        assert!(code.imported.is_empty(), "{name} reaches {:?}", code.imported);
        let recursion = code.direct.iter().any(|target| NAMES.contains(&target.as_str()));
        assert!(!recursion, "{name} reaches {:?}", code.direct);
    }
}

mod deep {
    use std::process::Command;

    /// `carryline real` finds it beside the command. Not optimised, its `memcpy` would call `memcpy`.
    #[test]
    #[ignore = "deep: builds the interposer as cargo build does"]
    fn a_development_build_serves_programs() {
        let mut cargo = Command::new(env!("CARGO"));
        cargo.args(["build", "--quiet", "--locked"]).current_dir(env!("CARGO_MANIFEST_DIR"));
        assert!(cargo.status().is_ok_and(|status| status.success()), "cargo builds it");
        let this = std::env::current_exe().expect("this program");
        let file = this.ancestors().nth(2).expect("the folder above deps").join("libcarryline_preload.so");
        assert!(file.is_file(), "{}", file.display());
        let status = Command::new("true").env("LD_PRELOAD", &file).status().expect("true starts");
        assert!(status.success(), "{status}");
    }
}
