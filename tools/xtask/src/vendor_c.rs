//! The C library as source files for C programs: the header, and for each architecture one assembly source,
//! which any C compiler of the last ten years assembles without Rust.
//!
//! The sources are the compiler's output for `library/capi`, cleaned: see [`assembly`] and [`machine_code`].

mod assembly;
mod lines;
mod machine_code;
mod names;
mod symbols;

use crate::install::{naming, read, replace, workspace};
use lines::Dialect;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The destination, and the prefix of names.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct VendorC {
    /// The folder, which is created if necessary.
    pub folder: PathBuf,
    /// The prefix of every name visible to C or the linker; may be empty.
    pub prefix: String,
}

/// The written files.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Vendored {
    /// The header, then one source for each architecture.
    pub files: Vec<PathBuf>,
    /// The targets without a source, with remedies.
    pub left_out: Vec<String>,
}

/// A supported architecture.
struct Architecture {
    /// The name in the file's name.
    name: &'static str,
    target: &'static str,
    dialect: Dialect,
    /// Compiler flags. Atomics are inlined, because the out-of-line functions belong to a compiler's own
    /// library.
    flags: &'static [&'static str],
    /// The preprocessor condition under which the source applies.
    condition: &'static str,
}

const ARCHITECTURES: [Architecture; 2] = [
    Architecture {
        name: "x86_64",
        target: "x86_64-unknown-linux-gnu",
        dialect: Dialect::X86,
        flags: &[],
        condition: "defined(__x86_64__) && defined(__ELF__) && !defined(__ILP32__)",
    },
    Architecture {
        name: "aarch64",
        target: "aarch64-unknown-linux-gnu",
        dialect: Dialect::Aarch64,
        flags: &["-Ctarget-feature=-outline-atomics", "-Awarnings"],
        condition: "defined(__aarch64__) && defined(__ELF__) && !defined(__ILP32__) && !defined(__AARCH64EB__)",
    },
];

/// The functions that the code may call. Every C library on Linux has them.
const OF_LIBC: [&str; 9] =
    ["__errno_location", "__xpg_strerror_r", "abort", "bcmp", "close", "memcpy", "memset", "open", "read"];

/// Whether a C name can begin with the text.
pub(crate) fn is_prefix(text: &str) -> bool {
    !text.starts_with(|first: char| first.is_ascii_digit())
        && text.chars().all(|character| character.is_ascii_alphanumeric() || character == '_')
}

/// Compiles the C library for each architecture whose Rust library is installed, and writes `carryline.h` and
/// `carryline-ARCHITECTURE.S` into the folder. Files of the same names are replaced.
///
/// # Errors
/// If a build fails (cargo has printed the reason on standard error), a file cannot be written, or, which
/// must not happen, the compiled code calls more than libc or contains what these modules do not understand.
pub fn vendor_c(job: &VendorC) -> io::Result<Vendored> {
    let workspace = workspace()?;
    fs::create_dir_all(&job.folder).map_err(|error| naming(&job.folder, &error))?;
    let licence = workspace.join("LICENSE-MIT");
    let licence = fs::read_to_string(&licence).map_err(|error| naming(&licence, &error))?;
    let header = workspace.join("library/capi/include/carryline.h");
    let text = fs::read_to_string(&header).map_err(|error| naming(&header, &error))?;
    let to = job.folder.join("carryline.h");
    replace(&to, vendored_header(&text, &job.prefix)?.as_bytes(), 0o644)?;

    let build = build_folder()?;
    // The file names in the folder are fixed, so only one process at a time may use it.
    let lock = build.join("lock");
    let lock = File::create(&lock).map_err(|error| naming(&lock, &error))?;
    lock.lock()?;
    let mut vendored = Vendored { files: vec![to], left_out: Vec::new() };
    for architecture in &ARCHITECTURES {
        if !is_installed(architecture.target)? {
            let target = architecture.target;
            vendored.left_out.push(format!("no source for {target}: run `rustup target add {target}`"));
            continue;
        }
        if architecture.dialect == Dialect::X86 && !has_assembler() {
            let needed = format!("no source for {}: it needs {CROSS_COMPILER}", architecture.target);
            vendored.left_out.push(needed);
            continue;
        }
        let (text, object) = compile(&workspace, &build, architecture)?;
        let source = source(architecture, (&text, &object), &build, &job.prefix, &licence)
            .map_err(|error| io::Error::other(format!("{}: {error}", architecture.target)))?;
        let to = job.folder.join(format!("carryline-{}.S", architecture.name));
        replace(&to, source.as_bytes(), 0o644)?;
        vendored.files.push(to);
    }
    Ok(vendored)
}

/// The header for use with the sources, with the prefix in every name.
fn vendored_header(text: &str, prefix: &str) -> io::Result<String> {
    let installed = "Link with -lcarryline (pkg-config: carryline).";
    if !text.contains(installed) {
        return Err(io::Error::other(format!("carryline.h: no sentence `{installed}`")));
    }
    let text = text.replace(
        installed,
        "Compile and link carryline-*.S with it: all files, or only that of the processor.",
    );
    Ok(names::with_prefix(&text, prefix))
}

/// Whether rustc can compile for the target.
fn is_installed(target: &str) -> io::Result<bool> {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| OsString::from("rustc"));
    let output = Command::new(rustc).args(["--print", "target-libdir", "--target", target]).output()?;
    let folder = String::from_utf8_lossy(&output.stdout);
    Ok(output.status.success() && Path::new(folder.trim_end()).is_dir())
}

/// A separate build folder, because the flags differ from those of other builds.
fn build_folder() -> io::Result<PathBuf> {
    let build = crate::target_folder()?.join("vendor-c");
    fs::create_dir_all(&build).map_err(|error| naming(&build, &error))?;
    Ok(build)
}

/// Compiles the C library; returns its assembly source, and the compiler's object of the same code. No linker
/// is needed.
fn compile(workspace: &Path, build: &Path, architecture: &Architecture) -> io::Result<(String, Vec<u8>)> {
    let emitted = build.join(architecture.name);
    let (text, object) = (emitted.with_extension("s"), emitted.with_extension("o"));
    let mut emit = OsString::from("--emit=asm=");
    emit.push(&text);
    emit.push(",obj=");
    emit.push(&object);
    let mut compile = crate::cargo(workspace);
    compile
        .args(["rustc", "--quiet", "--locked", "--package", "carryline-capi", "--lib", "--profile", "capi"])
        .args(["--no-default-features", "--crate-type", "staticlib", "--target", architecture.target])
        .arg("--target-dir")
        .arg(build)
        .arg("--")
        .arg(emit)
        // Replaces the caller's flags, such as `-C target-cpu=native`, which are for the caller's machine.
        .env("CARGO_ENCODED_RUSTFLAGS", architecture.flags.join("\x1f"));
    let mut status = compile.status()?;
    if status.success() && !(text.is_file() && object.is_file()) {
        // The files were removed, but cargo's record of the build was not.
        fs::remove_dir_all(build.join(architecture.target))?;
        status = compile.status()?;
    }
    if !status.success() {
        return Err(io::Error::other(format!(
            "compiling carryline-capi for {}: {status}",
            architecture.target
        )));
    }
    Ok((String::from_utf8(read(&text)?).map_err(io::Error::other)?, read(&object)?))
}

/// The C compiler for x86-64 on other machines.
const CROSS_COMPILER: &str = "x86_64-linux-gnu-gcc";

fn compiler() -> OsString {
    if cfg!(target_arch = "x86_64") {
        std::env::var_os("CC").unwrap_or_else(|| OsString::from("cc"))
    } else {
        OsString::from(CROSS_COMPILER)
    }
}

/// Whether this machine should have an assembler for x86-64.
fn has_assembler() -> bool {
    cfg!(target_arch = "x86_64") || Command::new(CROSS_COMPILER).arg("--version").output().is_ok()
}

/// Assembles a source for x86-64 with this machine's assembler.
fn assemble(source: &str, build: &Path) -> io::Result<Vec<u8>> {
    let assembled = build.join("assembled");
    let (text, object) = (assembled.with_extension("s"), assembled.with_extension("o"));
    fs::write(&text, source).map_err(|error| naming(&text, &error))?;
    let compiler = compiler();
    let output = Command::new(&compiler).arg("-c").arg(&text).arg("-o").arg(&object).output();
    let made = output.and_then(|output| {
        let said = String::from_utf8_lossy(&output.stderr);
        if output.status.success() { read(&object) } else { Err(io::Error::other(said.into_owned())) }
    });
    made.map_err(|error| {
        let compiler = compiler.display();
        io::Error::other(format!(
            "{compiler}: {error}; the C compiler (CC, or cc) must support x86-64 with AVX-512"
        ))
    })
}

fn source(
    architecture: &Architecture,
    (text, object): (&str, &[u8]),
    build: &Path,
    prefix: &str,
    licence: &str,
) -> io::Result<String> {
    let needs = machine_code::needs(object)?;
    if let Some(name) = needs.iter().find(|name| !OF_LIBC.contains(&name.as_str())) {
        return Err(io::Error::other(format!(
            "the compiled code needs `{name}`, which is not a function of libc"
        )));
    }
    let mut cleaned = assembly::clean(text, architecture.dialect, prefix)?;
    if architecture.dialect == Dialect::X86 {
        let object = assemble(&cleaned.text, build)?;
        cleaned.text = machine_code::in_bytes(&cleaned.text, &object)?;
        if !machine_code::is_same_code(&object, &assemble(&cleaned.text, build)?)? {
            return Err(io::Error::other("the code differs if instructions are written as bytes"));
        }
    }
    let hidden: String = cleaned.exported.iter().map(|name| format!("\t.hidden\t{name}\n")).collect();
    let macros = names::with_prefix("CARRYLINE_HIDDEN", prefix);
    let licence: String =
        licence.lines().map(|line| format!(" * {line}").trim_end().to_owned() + "\n").collect();
    let (name, version, condition) = (architecture.name, env!("CARGO_PKG_VERSION"), architecture.condition);
    Ok(format!(
        "/* carryline {version} for {name}: what carryline.h declares. Compiled from Rust by `cargo xtask vendor-c`; do not edit.
 *
 * Position independent, for GCC and Clang on ELF systems: `cc -c carryline-{name}.S`. It is empty for other processors.
 * Instructions that assemblers of 2016 do not know are written as bytes. With {macros} defined, a shared library that
 * this becomes part of does not export the names.
 *
 * Under the MIT licence below, or the Apache License, Version 2.0, at your option. Parts are of Rust's core library, under
 * the same two licences: Copyright (c) The Rust Project Contributors.
 *
{licence} */
#if {condition}
{}#ifdef {macros}
{hidden}#endif
#endif
#if defined(__linux__) && defined(__ELF__)
\t.section\t.note.GNU-stack,\"\",%progbits
#endif
",
        cleaned.text
    ))
}

#[cfg(test)]
mod tests {
    use super::{is_prefix, vendored_header};

    #[test]
    fn prefixes_are_beginnings_of_c_names() {
        for good in ["", "my_", "_", "x9"] {
            assert!(is_prefix(good), "{good}");
        }
        for bad in ["9x", "my-", "a b", "ä", "$"] {
            assert!(!is_prefix(bad), "{bad}");
        }
    }

    #[test]
    fn a_changed_header_is_an_error() {
        assert!(vendored_header("#define X\n", "").is_err());
    }
}
