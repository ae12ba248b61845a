//! The probes: a source file with a function for every routine and constant size, and the sets of flags to
//! compile it with.
//!
//! The source declares the functions that it calls and needs no header, so a 32-bit object can be compiled
//! without 32-bit headers. The pointers' alignment is unknown to the compiler.

use std::fmt::Write;

/// The largest constant size.
pub const LARGEST_BYTES: u32 = 512;
/// Increase with any change to the sources, the flags or the classification; invalidates the cache.
pub const VERSION: u32 = 1;

/// A language that probes are written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Language {
    /// C, for compilers that accept gcc's flags.
    C,
    /// Rust.
    Rust,
}

/// A function or builtin that copies or fills.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Function {
    /// Its name in the language.
    pub name: &'static str,
    arguments: &'static str,
}

const C: [Function; 8] = [
    Function { name: "memmove", arguments: "to, from, " },
    Function { name: "__builtin_memmove", arguments: "to, from, " },
    Function { name: "memcpy", arguments: "to, from, " },
    Function { name: "__builtin_memcpy", arguments: "to, from, " },
    Function { name: "memset", arguments: "to, 0, " },
    Function { name: "__builtin_memset", arguments: "to, 0, " },
    Function { name: "bcopy", arguments: "from, to, " },
    Function { name: BUILTIN_BCOPY, arguments: "from, to, " },
];

/// Some compilers know this builtin by name but cannot compile it.
pub const BUILTIN_BCOPY: &str = "__builtin_bcopy";

const RUST: [Function; 3] = [
    Function { name: "ptr::copy", arguments: "from, to, " },
    Function { name: "ptr::copy_nonoverlapping", arguments: "from, to, " },
    Function { name: "ptr::write_bytes", arguments: "to, 0, " },
];

const C_FLAGS: [&str; 10] = [
    "-O2",
    "-Os",
    "-O2 -ffreestanding",
    "-O2 -mno-sse",
    "-O2 -mgeneral-regs-only",
    "-O2 -march=x86-64-v3",
    "-O2 -march=x86-64-v3 -mno-avx",
    "-O2 -march=x86-64-v4",
    "-O2 -m32",
    "-O2 -m32 -mgeneral-regs-only",
];

const RUST_FLAGS: [&str; 6] = [
    "-C opt-level=2",
    "-C opt-level=s",
    "-C opt-level=2 -C target-cpu=x86-64-v3",
    "-C opt-level=2 -C target-cpu=x86-64-v4",
    "-C opt-level=2 --target x86_64-unknown-none",
    "-C opt-level=2 --target i686-unknown-linux-gnu",
];

impl Language {
    /// The functions to probe.
    pub const fn functions(self) -> &'static [Function] {
        match self {
            Language::C => &C,
            Language::Rust => &RUST,
        }
    }

    /// The sets of flags, the plain one first.
    pub const fn flag_sets(self) -> &'static [&'static str] {
        match self {
            Language::C => &C_FLAGS,
            Language::Rust => &RUST_FLAGS,
        }
    }

    /// The name of the source file.
    pub const fn file_name(self) -> &'static str {
        match self {
            Language::C => "probe.c",
            Language::Rust => "probe.rs",
        }
    }

    /// Flags in addition to a set, to get an object without warnings.
    pub const fn object_flags(self) -> &'static [&'static str] {
        match self {
            Language::C => &["-w", "-c"],
            Language::Rust => {
                &["--emit", "obj", "--crate-type", "lib", "-C", "panic=abort", "-C", "codegen-units=1"]
            }
        }
    }

    /// The source that probes these functions.
    pub fn source(self, functions: &[Function]) -> String {
        match self {
            Language::C => c_source(functions),
            Language::Rust => rust_source(functions),
        }
    }
}

/// The symbol of a function's probe for a size.
pub fn symbol(function: &Function, size: u32) -> String {
    let plain: String =
        function.name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    format!("probe_{plain}_{size}")
}

/// Declarations of the functions, as in the C standard and POSIX.
pub const C_DECLARATIONS: &str = "\
typedef __SIZE_TYPE__ size_t;
void *memmove(void *, const void *, size_t);
void *memcpy(void *, const void *, size_t);
void *memset(void *, int, size_t);
void bcopy(const void *, void *, size_t);
";

/// A call of a function in C.
pub fn c_call(function: &Function, size: u32) -> String {
    format!("{}({}{size})", function.name, function.arguments)
}

fn c_source(functions: &[Function]) -> String {
    let mut text = C_DECLARATIONS.to_owned();
    for (function, size) in every(functions) {
        let (name, call) = (symbol(function, size), c_call(function, size));
        let _infallible = writeln!(text, "void {name}(void *to, const void *from) {{ {call}; }}");
    }
    text
}

fn rust_source(functions: &[Function]) -> String {
    let mut text = "#![no_std]\n#![crate_type = \"lib\"]\n".to_owned();
    for (function, size) in every(functions) {
        let name = symbol(function, size);
        let _infallible = writeln!(
            text,
            "#[no_mangle] pub unsafe extern \"C\" fn {name}(to: *mut u8, from: *const u8) \
             {{ let _ = from; ::core::{}({}{size}) }}",
            function.name, function.arguments
        );
    }
    text
}

fn every(functions: &[Function]) -> impl Iterator<Item = (&Function, u32)> {
    functions.iter().flat_map(|function| (1..=LARGEST_BYTES).map(move |size| (function, size)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_function_and_size_has_its_own_symbol() {
        for language in [Language::C, Language::Rust] {
            let source = language.source(language.functions());
            let mut names: Vec<String> =
                every(language.functions()).map(|(function, size)| symbol(function, size)).collect();
            assert_eq!(names.len(), language.functions().len() * LARGEST_BYTES as usize);
            assert!(names.iter().all(|name| source.contains(&format!(" {name}("))));
            names.sort_unstable();
            names.dedup();
            assert_eq!(names.len(), language.functions().len() * LARGEST_BYTES as usize);
        }
    }

    #[test]
    fn plain_flags_come_first() {
        assert_eq!(Language::C.flag_sets()[0], "-O2");
        assert_eq!(Language::Rust.flag_sets()[0], "-C opt-level=2");
    }
}
