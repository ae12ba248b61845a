//! Tests the vendored library: programs built from its files without Rust, for C and C++, static and shared,
//! pass the vectors and print the expected output.

use super::{PROGRAMS, STRICT, cc, is_cpp, output_of, present, succeeds, vectors};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use tempfile::TempDir;
use xtask::VendorC;

/// The files in a temporary folder, which is removed with this value.
struct Files {
    folder: TempDir,
    sources: Vec<PathBuf>,
}

impl Files {
    fn new(prefix: &str) -> Files {
        let folder = tempfile::Builder::new().prefix("vendored C").tempdir().expect("a temporary folder");
        let job = VendorC { folder: folder.path().join("carryline"), prefix: prefix.to_owned() };
        let vendored = xtask::vendor_c(&job).expect("the files can be written");
        let (header, sources) = vendored.files.split_first().expect("at least the header");
        assert!(header.ends_with("carryline/carryline.h"));
        assert!(!sources.is_empty(), "no architecture: {:?}", vendored.left_out);
        Files { sources: sources.to_vec(), folder }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Runs a compiler with these arguments and the header's folder, and returns the output file.
    fn compile(&self, compiler: &str, arguments: &[&str], inputs: &[&Path], name: &str) -> PathBuf {
        let made = self.path(name);
        let mut command = Command::new(compiler);
        command.args(arguments).arg("-I").arg(self.path("carryline"));
        for input in inputs {
            // The language option of C++ must not apply to assembly sources and objects.
            let language = match input.extension().and_then(|extension| extension.to_str()) {
                Some("c") if is_cpp(compiler) => "c++",
                _ => "none",
            };
            command.args(["-x", language]).arg(input);
        }
        let output = command.args(["-x", "none", "-o"]).arg(&made).output().expect("it is present");
        assert!(output.status.success(), "{command:?}\n{}", String::from_utf8_lossy(&output.stderr));
        made
    }

    fn sources(&self) -> Vec<&Path> {
        self.sources.iter().map(PathBuf::as_path).collect()
    }

    fn write_vectors(&self, prefix: &str) -> PathBuf {
        let source = self.path("vectors.c");
        let program = vectors::program().replace("carryline_", &format!("{prefix}carryline_"));
        std::fs::write(&source, program).expect("a file of ours");
        source
    }
}

fn run(program: &Path) -> Output {
    Command::new(program).output().expect("it has been linked")
}

#[test]
fn the_vectors_pass_in_c_and_cpp_programs_built_from_the_files() {
    let files = Files::new("");
    let source = files.write_vectors("");
    let cpp = std::env::var("CXX").unwrap_or_else(|_| "g++".to_owned());
    for (compiler, standard) in
        [(cc().as_str(), "-std=c99"), (&cpp, "-std=c++11"), ("clang", "-std=c99"), ("clang++", "-std=c++11")]
    {
        let Some(compiler) = present(compiler) else { continue };
        let flags = [STRICT, &[standard, "-c", "-fPIE"]].concat();
        let vectors = files.compile(compiler, &flags, &[&source], "vectors.o");
        let with_sources = [&[vectors.as_path()], files.sources().as_slice()].concat();
        for (way, name) in [("-no-pie", "fixed"), ("-pie", "independent"), ("-static", "static")] {
            // The linker must not warn, for example about text relocations.
            let program =
                files.compile(compiler, &[way, "-Wl,--fatal-warnings,-z,text"], &with_sources, name);
            succeeds(&run(&program), "", &format!("{compiler} {way}"));
        }
        let strict = ["-shared", "-fPIC", "-Wl,--fatal-warnings,-z,text,-z,defs"];
        let shared = files.compile(compiler, &strict, &files.sources(), "libvendored.so");
        let program = files.compile(compiler, &["-pie"], &[&vectors, &shared], "with_shared");
        succeeds(&run(&program), "", &format!("{compiler}, shared"));
    }
}

#[test]
fn the_programs_print_the_same_as_with_the_installed_library() {
    let files = Files::new("");
    let objects: Vec<PathBuf> = files
        .sources()
        .iter()
        .enumerate()
        .map(|(at, source)| files.compile(&cc(), &["-c"], &[source], &format!("{at}.o")))
        .collect();
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    for (source, expected) in PROGRAMS {
        let source = here.join(source);
        let inputs: Vec<&Path> =
            std::iter::once(source.as_path()).chain(objects.iter().map(PathBuf::as_path)).collect();
        let flags = [STRICT, &["-std=c99", "-O2"]].concat();
        let program = files.compile(&cc(), &flags, &inputs, "program");
        succeeds(&run(&program), expected, &source.display().to_string());
    }
}

/// Two libraries, each with its own copy, in one program.
#[test]
fn copies_with_and_without_a_prefix_can_be_linked_together() {
    let (plain, prefixed) = (Files::new(""), Files::new("my_"));
    let vectors = prefixed.write_vectors("my_");
    let vectors = prefixed.compile(&cc(), &["-std=c99", "-c"], &[&vectors], "vectors.o");
    let source = plain.path("other.c");
    let other = "#include <carryline.h>\nuint32_t other(const void *data, size_t len);\n\
                 uint32_t other(const void *data, size_t len) { return carryline_checksum_partial(data, len, 0); }\n";
    std::fs::write(&source, other).expect("a file of ours");
    let other = plain.compile(&cc(), &["-std=c99", "-c"], &[&source], "other.o");
    let inputs = [&[vectors.as_path(), &other], plain.sources().as_slice(), &prefixed.sources()].concat();
    succeeds(&run(&prefixed.compile(&cc(), &[], &inputs, "both")), "", "both");

    let object = prefixed.compile(&cc(), &["-shared", "-fPIC"], &prefixed.sources(), "libprefixed.so");
    if let Some(symbols) = output_of("nm", &["-D", "--defined-only"], &object) {
        let names: Vec<&str> = symbols.lines().filter_map(|line| line.rsplit(' ').next()).collect();
        assert!(names.len() > 50 && names.iter().all(|name| name.starts_with("my_carryline_")), "{names:?}");
    }
    let hides = ["-shared", "-fPIC", "-DMY_CARRYLINE_HIDDEN"];
    let object = prefixed.compile(&cc(), &hides, &prefixed.sources(), "libhidden.so");
    if let Some(symbols) = output_of("nm", &["-D", "--defined-only"], &object) {
        assert!(!symbols.contains("carryline_"), "{symbols}");
    }
}

/// Passes the vectors on another architecture, if its compiler and emulator are installed.
#[test]
fn the_vectors_pass_on_aarch64() {
    let (Some(cc), Some(emulator)) = (present("aarch64-linux-gnu-gcc"), present("qemu-aarch64")) else {
        return;
    };
    let files = Files::new("");
    if !files.sources.iter().any(|source| source.ends_with("carryline-aarch64.S")) {
        eprintln!(
            "remark: the Rust target aarch64-unknown-linux-gnu is not installed; its source is skipped"
        );
        return;
    }
    let source = files.write_vectors("");
    let inputs = [&[source.as_path()], files.sources().as_slice()].concat();
    let program = files.compile(cc, &["-std=c99", "-static", "-Wl,--fatal-warnings"], &inputs, "program");
    let output = Command::new(emulator).arg(&program).output().expect("it is present");
    succeeds(&output, "", "aarch64");
}

/// Users compare versions of the files, so the same code must give the same text.
#[test]
fn the_files_are_reproducible() {
    let (first, second) = (Files::new(""), Files::new(""));
    for (one, other) in first.sources.iter().zip(&second.sources) {
        let same = std::fs::read(one).expect("a source") == std::fs::read(other).expect("a source");
        assert!(same, "{}", one.display());
    }
}
