//! The C library as files that a C program takes along: the header, and for each architecture one assembly
//! source, which any C compiler of the last ten years assembles. No Rust is needed there.
//!
//! The sources are what the compiler makes of `library/capi`, cleaned: see [`assembly`] and [`machine_code`].

mod assembly;
mod machine_code;
mod names;

use crate::install::{naming, read, replace, workspace};
use assembly::Dialect;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// What is written where.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct VendorC {
    /// The folder, which is made if it does not exist.
    pub folder: PathBuf,
    /// Goes in front of every name that C or the linker sees; empty for the names as they are.
    pub prefix: String,
}

/// What has been written.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Vendored {
    /// The header, then one source for each architecture.
    pub files: Vec<PathBuf>,
    /// For which targets there is no source, and what would help.
    pub left_out: Vec<String>,
}

/// An architecture for which there is a source.
struct Architecture {
    /// As in the file's name.
    name: &'static str,
    target: &'static str,
    dialect: Dialect,
    /// Flags of the compiler. Atomics in line, as the functions that would be called are those of a
    /// compiler's own library.
    flags: &'static [&'static str],
    /// What the preprocessor knows where the source applies.
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

/// What the code may call. All of it is in every C library of a POSIX system on Linux.
const OF_LIBC: [&str; 9] =
    ["__errno_location", "__xpg_strerror_r", "abort", "bcmp", "close", "memcpy", "memset", "open", "read"];

/// Whether names of C can begin with it.
pub(crate) fn is_prefix(text: &str) -> bool {
    !text.starts_with(|first: char| first.is_ascii_digit())
        && text.chars().all(|character| character.is_ascii_alphanumeric() || character == '_')
}

/// Compiles the C library for each architecture whose Rust library is installed, and writes `carryline.h` and
/// `carryline-ARCHITECTURE.S` into the folder. Files of the same names are replaced.
///
/// # Errors
/// A build that fails (cargo has said why on standard error), a file that cannot be written, and what must
/// not happen: compiled code that calls more than libc, or that these modules do not understand.
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
    // The names in it are the same every time. Whoever else writes sources waits.
    let lock = build.join("lock");
    let lock = File::create(&lock).map_err(|error| naming(&lock, &error))?;
    lock.lock()?;
    let mut vendored = Vendored { files: vec![to], left_out: Vec::new() };
    for architecture in &ARCHITECTURES {
        if !is_installed(architecture.target)? {
            let target = architecture.target;
            vendored.left_out.push(format!("no source for {target}: `rustup target add {target}` helps"));
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

/// The header as it is used beside the sources, every name with the prefix.
fn vendored_header(text: &str, prefix: &str) -> io::Result<String> {
    let installed = "Link with -lcarryline (pkg-config: carryline).";
    if !text.contains(installed) {
        return Err(io::Error::other(format!("carryline.h: no sentence `{installed}`")));
    }
    let text =
        text.replace(installed, "Compile and link carryline-*.S with it: all of them, or the processor's.");
    Ok(names::with_prefix(&text, prefix))
}

/// Whether rustc can compile for the target.
fn is_installed(target: &str) -> io::Result<bool> {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| OsString::from("rustc"));
    let output = Command::new(rustc).args(["--print", "target-libdir", "--target", target]).output()?;
    let folder = String::from_utf8_lossy(&output.stdout);
    Ok(output.status.success() && Path::new(folder.trim_end()).is_dir())
}

fn cargo(workspace: &Path) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| OsString::from("cargo")));
    command.current_dir(workspace).stderr(Stdio::inherit());
    command
}

/// A folder for building in, apart from other builds, whose flags may differ.
fn build_folder() -> io::Result<PathBuf> {
    let build = crate::target_folder()?.join("vendor-c");
    fs::create_dir_all(&build).map_err(|error| naming(&build, &error))?;
    Ok(build)
}

/// Compiles the C library: its assembly source, and the object that the compiler makes of the same code. No
/// linker is needed.
fn compile(workspace: &Path, build: &Path, architecture: &Architecture) -> io::Result<(String, Vec<u8>)> {
    let emitted = build.join(architecture.name);
    let (text, object) = (emitted.with_extension("s"), emitted.with_extension("o"));
    let mut emit = OsString::from("--emit=asm=");
    emit.push(&text);
    emit.push(",obj=");
    emit.push(&object);
    let mut compile = cargo(workspace);
    compile
        .args(["rustc", "--quiet", "--locked", "--package", "carryline-capi", "--lib", "--profile", "capi"])
        .args(["--no-default-features", "--crate-type", "staticlib", "--target", architecture.target])
        .arg("--target-dir")
        .arg(build)
        .arg("--")
        .arg(emit)
        // The caller's flags, such as `-C target-cpu=native`, are for the caller's machine.
        .env("CARGO_ENCODED_RUSTFLAGS", architecture.flags.join("\x1f"));
    let mut status = compile.status()?;
    if status.success() && !(text.is_file() && object.is_file()) {
        // Somebody has removed them, but not what tells cargo that there is nothing to do.
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

/// The C compiler for x86-64 of machines that are something else.
const CROSS_COMPILER: &str = "x86_64-linux-gnu-gcc";

fn compiler() -> OsString {
    if cfg!(target_arch = "x86_64") {
        std::env::var_os("CC").unwrap_or_else(|| OsString::from("cc"))
    } else {
        OsString::from(CROSS_COMPILER)
    }
}

/// Whether this machine can be expected to have an assembler for x86-64.
fn has_assembler() -> bool {
    cfg!(target_arch = "x86_64") || Command::new(CROSS_COMPILER).arg("--version").output().is_ok()
}

/// What this machine's assembler makes of a source for x86-64.
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
            "{compiler}: {error}; the C compiler (CC, or cc) must be one for x86-64 that knows AVX-512"
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
            return Err(io::Error::other("the code is another where instructions are written as bytes"));
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
    fn a_prefix_is_what_names_of_c_begin_with() {
        for good in ["", "my_", "_", "x9"] {
            assert!(is_prefix(good), "{good}");
        }
        for bad in ["9x", "my-", "a b", "ä", "$"] {
            assert!(!is_prefix(bad), "{bad}");
        }
    }

    #[test]
    fn a_header_whose_advice_has_changed_is_an_error() {
        assert!(vendored_header("#define X\n", "").is_err());
    }
}
