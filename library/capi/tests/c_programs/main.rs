//! Compiles C and C++ programs against an installation, links them with the shared and the static library,
//! and runs them alone, with the compiler's sanitizers and, as a deep check, under valgrind.
//!
//! Needs a C compiler (`CC`, or `cc`), as building Rust does. Other tools (a C++ compiler, valgrind,
//! sanitizers, pkg-config) are skipped with a remark on standard error if they are not installed.
#![cfg(target_os = "linux")]

mod vectors;
mod vendored;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use tempfile::TempDir;
use xtask::{Install, Installed};

const STRICT: &[&str] = &["-Wall", "-Wextra", "-Wpedantic", "-Werror"];

/// The programs and their output. The checksums in the examples' output were computed without this library,
/// by the definition in RFC 1071.
const PROGRAMS: [(&str, &str); 7] = [
    ("examples/packet.c", PACKET_OUTPUT),
    ("examples/segments.c", SEGMENTS_OUTPUT),
    ("tests/contract.c", "kept\n"),
    ("tests/memory.c", "kept\n"),
    ("tests/sums.c", "kept\n"),
    ("tests/inline.c", "equal\n"),
    ("tests/tuning.c", "kept\n"),
];

const PACKET_OUTPUT: &str = "\
UDP: IPv4 header checksum: 32 35
UDP checksum: 1f d3
TCP: IPv4 header checksum: 32 33
TCP checksum: ed 6b
after NAT and router: UDP: IPv4 header checksum: b9 2e
UDP checksum: 0d 57
TCP: IPv4 header checksum: b9 2c
TCP checksum: da ef
IPv4 headers are intact and intact
UDP datagram is intact
TCP segment is intact
TCP segment with a flipped bit is damaged
version of the header
";

const SEGMENTS_OUTPUT: &str = "\
UDP checksum: a6 95
of two sums: a6 95
datagram is intact
for the card: 5b b3
from the card: a6 95
";

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Link {
    Shared,
    Static,
}

/// The library, installed in a temporary folder that is removed with this value.
struct Prefix {
    folder: TempDir,
    installed: Installed,
}

impl Prefix {
    fn new() -> Prefix {
        // The space is part of the test.
        let folder =
            tempfile::Builder::new().prefix("carryline prefix").tempdir().expect("a temporary folder");
        let job = Install { prefix: folder.path().join("usr"), destdir: None };
        let installed = xtask::install_library(&job).expect("the library can be built and installed");
        Prefix { folder, installed }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join("usr").join(name)
    }

    /// Compiles `source` of this crate and returns the program, or the compiler's messages.
    fn compile(&self, compiler: &str, flags: &[&str], source: &str, link: Link) -> Result<PathBuf, String> {
        let program = self.folder.path().join("program");
        let mut command = Command::new(compiler);
        command.args(flags).arg("-I").arg(self.path("include"));
        if is_cpp(compiler) {
            command.args(["-x", "c++"]);
        }
        command
            .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join(source))
            .args(["-x", "none", "-o"])
            .arg(&program);
        match link {
            Link::Static => command.arg(self.path("lib/libcarryline.a")),
            Link::Shared => command.arg("-L").arg(self.path("lib")).arg("-lcarryline"),
        };
        let output = command.output().map_err(|error| format!("{compiler}: {error}"))?;
        if output.status.success() {
            Ok(program)
        } else {
            Err(format!("{command:?}\n{}", String::from_utf8_lossy(&output.stderr)))
        }
    }

    /// Runs `program` so that it finds the shared library; `under` is a command to run it with.
    fn run(&self, under: &[&str], program: &Path) -> Output {
        let mut words = under.iter().map(std::ffi::OsStr::new).chain([program.as_os_str()]);
        let mut command = Command::new(words.next().expect("at least the program"));
        // The programs allocate nothing, and leak detection fails under a debugger.
        command.args(words).env("ASAN_OPTIONS", "detect_leaks=0").env("LD_LIBRARY_PATH", self.path("lib"));
        // The installed library must ignore these variables.
        command.env("CARRYLINE_FORCE", "zz").env("CARRYLINE_MASK", "zz").env("CARRYLINE_TUNING", "zz");
        command.output().expect("the program exists")
    }

    /// Compiles and runs all programs, and compares their output.
    fn check(&self, compiler: &str, flags: &[&str], link: Link) {
        for (source, expected) in PROGRAMS {
            let program =
                self.compile(compiler, flags, source, link).unwrap_or_else(|error| panic!("{error}"));
            succeeds(&self.run(&[], &program), expected, &format!("{compiler} {flags:?} {source} {link:?}"));
        }
    }

    /// True if the compiler supports an option.
    fn takes(&self, compiler: &str, flag: &str) -> bool {
        let source = self.folder.path().join(if is_cpp(compiler) { "empty.cc" } else { "empty.c" });
        std::fs::write(&source, "int main(void);\n").expect("a file of ours");
        let mut command = Command::new(compiler);
        command.args([flag, "-Werror", "-fsyntax-only"]).arg(source);
        command.output().is_ok_and(|output| output.status.success())
    }
}

fn succeeds(output: &Output, expected: &str, what: &str) {
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success() && out == expected, "{what}: {}\n{out}{err}", output.status);
    assert!(!err.contains("CARRYLINE"), "{what}: {err}");
}

fn cc() -> String {
    std::env::var("CC").unwrap_or_else(|_| "cc".to_owned())
}

fn cpp() -> String {
    std::env::var("CXX").unwrap_or_else(|_| "g++".to_owned())
}

fn is_cpp(compiler: &str) -> bool {
    compiler.contains("++")
}

/// The tool's name if it can be run; otherwise prints a remark.
fn present(tool: &str) -> Option<&str> {
    let found = Command::new(tool).arg("--version").output().is_ok_and(|output| output.status.success());
    if !found {
        eprintln!("remark: {tool} is not installed; tests that need it are skipped");
    }
    found.then_some(tool)
}

/// The output of a tool; `None` with a remark if it is not installed.
fn output_of(tool: &str, arguments: &[&str], file: &Path) -> Option<String> {
    let output = Command::new(present(tool)?).args(arguments).arg(file).output().expect("it is present");
    assert!(output.status.success(), "{tool}: {}", String::from_utf8_lossy(&output.stderr));
    Some(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// All configurations of a language's oldest standard.
fn check_oldest(compiler: &str, standard: &str) {
    let prefix = Prefix::new();
    for (more, link) in [
        (&["-O0"][..], Link::Shared),
        (&["-O2"], Link::Shared),
        (&["-O2", "-DCARRYLINE_NO_INLINE"], Link::Static),
    ] {
        prefix.check(compiler, &[STRICT, &[standard], more].concat(), link);
    }
}

/// The newest standard that a compiler supports, if it is installed.
fn check_newest(compiler: &str, standards: &[&str]) {
    let Some(compiler) = present(compiler) else { return };
    let prefix = Prefix::new();
    if let Some(standard) = standards.iter().find(|standard| prefix.takes(compiler, standard)) {
        prefix.check(compiler, &[STRICT, &[standard, "-O3"]].concat(), Link::Shared);
    }
}

#[test]
fn c_programs_compile_without_warnings_and_work() {
    check_oldest(&cc(), "-std=c99");
}

#[test]
fn cpp_programs_compile_without_warnings_and_work() {
    if let Some(cpp) = present(&cpp()) {
        check_oldest(cpp, "-std=c++11");
    }
}

#[test]
fn programs_of_new_standards_compile_without_warnings_and_work() {
    for compiler in [&cc(), "clang"] {
        check_newest(compiler, &["-std=c23", "-std=c2x", "-std=c17"]);
    }
    for compiler in [&cpp(), "clang++"] {
        check_newest(compiler, &["-std=c++23", "-std=c++20", "-std=c++17"]);
    }
}

#[test]
fn headers_of_constant_size_need_no_call() {
    let prefix = Prefix::new();
    let source = prefix.folder.path().join("inline.c");
    let program = "
        #include <carryline.h>
        int main(int count, char **words) {
            unsigned char data[60] = {0};
            data[0] = (unsigned char)(count + (words == 0));
            return carryline_checksum_internet(data, 20) == carryline_checksum_internet(data, 40)
                && carryline_checksum_partial(data, 60, 0) != 0 ? 0 : 1;
        }";
    std::fs::write(&source, program).expect("a file of ours");
    let links = |more: &[&str]| {
        let mut command = Command::new(cc());
        command.args(more).arg("-I").arg(prefix.path("include")).arg(&source);
        let output = command.arg("-o").arg(prefix.folder.path().join("program")).output();
        output.expect("a C compiler").status.success()
    };
    assert!(links(&["-O2"]), "without the library");
    succeeds(&prefix.run(&[], &prefix.folder.path().join("program")), "", "inline");
    assert!(!links(&["-O2", "-DCARRYLINE_NO_INLINE"]), "calls only");
}

/// Constant sizes compile to code without calls, even to `memcpy`, and without jumps out of the function.
#[test]
fn the_machine_code_of_constant_sizes_has_no_call() {
    let prefix = Prefix::new();
    let source = prefix.folder.path().join("short.c");
    let program = "
        #include <carryline.h>
        uint32_t short_20(const void *p) { return carryline_checksum_partial(p, 20, 0); }
        uint32_t short_40(const void *p, uint32_t seed) { return carryline_checksum_partial(p, 40, seed); }
        uint16_t short_60(const void *p) { return carryline_checksum_internet(p, 60); }
        carryline_csum short_header(const void *p) {
            return carryline_sum_finish(carryline_sum_add_fresh(carryline_sum_new(), p, 20));
        }
        uint32_t called(const void *p) { return carryline_checksum_partial(p, 1500, 0) + 1; }";
    std::fs::write(&source, program).expect("a file of ours");
    for compiler in [cc().as_str(), "gcc", "clang"] {
        let Some(compiler) = present(compiler) else { continue };
        let object = prefix.folder.path().join("short.o");
        let mut command = Command::new(compiler);
        command.args(["-std=c99", "-O2", "-c", "-I"]).arg(prefix.path("include")).arg(&source);
        let compiled = command.arg("-o").arg(&object).status().expect("it is present");
        assert!(compiled.success(), "{compiler}");
        // Calls and jumps out of the file have relocations.
        let Some(code) = output_of("objdump", &["-dr", "--no-show-raw-insn"], &object) else { return };
        let (mut inside, mut seen, mut relocated) = ("", 0, Vec::new());
        for line in code.lines() {
            if let Some(name) = line.strip_suffix(">:") {
                inside = name.split_once('<').expect("a symbol").1;
                seen += usize::from(inside.starts_with("short_"));
            } else if line.contains("R_") || line.split_whitespace().any(|word| word.starts_with("call")) {
                relocated.push(inside);
            }
        }
        assert_eq!(seen, 4, "{compiler}: {code}");
        assert!(!relocated.is_empty(), "{compiler}: a long sum is a call: {code}");
        assert!(relocated.iter().all(|name| *name == "called"), "{compiler}: {code}");
    }
}

#[test]
fn sanitizers_report_nothing() {
    let prefix = Prefix::new();
    let cc = cc();
    // Not optimised: every access of the source is checked, and the inline code of all lengths compiles 40 times faster.
    let sanitizers = ["-O0", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"];
    for (source, expected) in PROGRAMS {
        // The sources compile without sanitizers, as other tests show.
        match prefix.compile(&cc, &sanitizers, source, Link::Static) {
            Ok(program) => succeeds(&prefix.run(&[], &program), expected, &format!("sanitizers {source}")),
            Err(_) => eprintln!("remark: {cc} has no sanitizers; they are skipped"),
        }
    }
}

/// Valgrind runs the programs some twenty times slower.
mod deep {
    use super::*;

    #[test]
    #[ignore = "deep: every program under valgrind"]
    fn valgrind_reports_nothing() {
        let Some(valgrind) = present("valgrind") else { return };
        let prefix = Prefix::new();
        let under = [valgrind, "--quiet", "--error-exitcode=9"];
        for (source, expected) in PROGRAMS {
            // The shared library; the sanitizers run the static one, which is the same code.
            let program = prefix
                .compile(&cc(), &["-O1", "-g"], source, Link::Shared)
                .unwrap_or_else(|error| panic!("{error}"));
            succeeds(&prefix.run(&under, &program), expected, &format!("valgrind {source}"));
        }
    }
}

/// Runs the programs on a big-endian machine, if its compiler, emulator and Rust target are installed.
#[test]
fn a_big_endian_machine_prints_the_same() {
    const TARGET: &str = "s390x-unknown-linux-gnu";
    let (Some(cc), Some(emulator)) = (present("s390x-linux-gnu-gcc"), present("qemu-s390x")) else { return };
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args([
        "rustc",
        "--package",
        "carryline-capi",
        "--lib",
        "--profile",
        "capi",
        "--no-default-features",
    ]);
    cargo.args(["--crate-type", "staticlib", "--target", TARGET, "--target-dir"]).arg(folder.path());
    let built = cargo.current_dir(env!("CARGO_MANIFEST_DIR")).output().expect("cargo runs this test");
    let errors = String::from_utf8_lossy(&built.stderr);
    if errors.contains("target may not be installed") {
        eprintln!("remark: the Rust target {TARGET} is not installed; it is skipped");
        return;
    }
    assert!(built.status.success(), "{errors}");
    let archive = folder.path().join(TARGET).join("capi/libcarryline_c.a");
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    for (source, expected) in PROGRAMS {
        let program = folder.path().join("program");
        let mut command = Command::new(cc);
        command.args(["-static", "-O2", "-I"]).arg(here.join("include")).arg(here.join(source));
        let compiled = command.arg(&archive).arg("-o").arg(&program).output().expect("it is present");
        assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
        let output = Command::new(emulator).arg(&program).output().expect("it is present");
        succeeds(&output, expected, source);
    }
}

#[test]
fn the_installation_has_the_promised_files_symbols_and_dependencies() {
    let prefix = Prefix::new();
    let names = [
        "include/carryline.h",
        "lib/libcarryline.so.0",
        "lib/libcarryline.so",
        "lib/libcarryline.a",
        "lib/pkgconfig/carryline.pc",
    ];
    let expected = names.map(|name| prefix.path(name));
    assert_eq!(prefix.installed.files, expected);
    assert!(expected.iter().all(|file| file.is_file()));
    let link = std::fs::read_link(prefix.path("lib/libcarryline.so")).expect("a link");
    assert_eq!(link, Path::new("libcarryline.so.0"));

    let object = prefix.path("lib/libcarryline.so.0");
    if let Some(dynamic) = output_of("readelf", &["-dW"], &object) {
        let entries = |kind: &str| -> Vec<String> {
            let lines = dynamic.lines().filter(|line| line.contains(kind));
            lines.filter_map(|line| Some(line.split_once('[')?.1.trim_end_matches(']').to_owned())).collect()
        };
        assert_eq!(entries("(SONAME)"), ["libcarryline.so.0"]);
        let needed = entries("(NEEDED)");
        assert!(needed.len() == 1 && needed[0].starts_with("libc."), "needs {needed:?}");
    }
    let header = std::fs::read_to_string(prefix.path("include/carryline.h")).expect("the header");
    for (arguments, file) in [(&["-D"][..], object), (&["-g"], prefix.path("lib/libcarryline.a"))] {
        let Some(symbols) = output_of("nm", arguments, &file) else { break };
        let defined: Vec<&str> = symbols
            .lines()
            .filter_map(|line| line.split_once(" T ").map(|(_, name)| name))
            .filter(|name| !name.starts_with("__"))
            .collect();
        assert!(defined.len() >= 8, "{defined:?}");
        for name in defined {
            let declared = name.starts_with("carryline_") && header.contains(&format!("{name}("));
            assert!(declared || is_hidden(&file, name), "{} exports {name}", file.display());
        }
    }
}

/// Whether a symbol of a static library is global only within the program or shared library that contains it, as
/// functions written in assembly are.
fn is_hidden(file: &Path, name: &str) -> bool {
    let Some(symbols) = output_of("readelf", &["-sW"], file) else { return false };
    let mut found = symbols.lines().filter(|line| line.ends_with(name)).peekable();
    found.peek().is_some() && found.all(|line| line.contains(" HIDDEN ") || line.contains(" LOCAL "))
}

#[test]
fn the_flags_of_pkg_config_suffice() {
    let Some(pkg_config) = present("pkg-config") else { return };
    let prefix = Prefix::new();
    let ask = |what: &[&str]| {
        let mut command = Command::new(pkg_config);
        command.args(what).arg("carryline").env("PKG_CONFIG_PATH", prefix.path("lib/pkgconfig"));
        let output = command.output().expect("it is present");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    };
    assert_eq!(ask(&["--modversion"]), env!("CARGO_PKG_VERSION"));
    let program = prefix.folder.path().join("program");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/packet.c");
    // A shell reads the flags, as it does in a makefile: they quote the blank. With its place in it, as docs/c.md says, the
    // program finds the library by itself.
    let flags = format!("{} -Wl,-rpath,{}", ask(&["--cflags", "--libs"]), ask(&["--variable=libdir"]));
    let compiler = Command::new("sh")
        .args(["-c", &format!("${{CC:-cc}} \"$0\" -o \"$1\" {flags}")])
        .args([source, program.clone()])
        .output()
        .expect("a shell");
    assert!(compiler.status.success(), "{}", String::from_utf8_lossy(&compiler.stderr));
    let output = Command::new(&program).env_remove("LD_LIBRARY_PATH").output().expect("it was compiled");
    succeeds(&output, PACKET_OUTPUT, "pkg-config");
}

#[test]
fn destdir_is_the_root_and_an_older_installation_is_replaced() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let job = Install { prefix: PathBuf::from("/opt/carryline"), destdir: Some(folder.path().to_path_buf()) };
    let first = xtask::install_library(&job).expect("the first time");
    let package = folder.path().join("opt/carryline/lib/pkgconfig/carryline.pc");
    let text = std::fs::read_to_string(&package).expect("the pkg-config file");
    assert!(text.lines().any(|line| line == "prefix=/opt/carryline") && !text.contains('@'), "{text}");
    std::fs::write(&package, "of another version").expect("a file of ours");
    assert_eq!(xtask::install_library(&job).expect("the second time"), first);
    assert_eq!(std::fs::read_to_string(&package).expect("the pkg-config file"), text);
    let left: Vec<_> =
        std::fs::read_dir(folder.path().join("opt/carryline/lib")).expect("a folder").collect();
    assert_eq!(left.len(), 4, "three libraries and a folder: {left:?}");
}
