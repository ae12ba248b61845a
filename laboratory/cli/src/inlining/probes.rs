//! What compilers are asked: one file with a function for every routine and every constant size, and the sets of flags
//! that it is compiled under.
//!
//! The source declares what it calls by itself and needs no header, so a 32-bit object can be had where the 32-bit
//! headers are not installed. The pointers say nothing about alignment.

use std::fmt::Write;

/// The largest constant size.
pub const LARGEST_BYTES: u32 = 512;
/// To be raised with any change to the sources, the flags or the way objects are read: older answers are forgotten.
pub const VERSION: u32 = 1;

/// What a compiler compiles.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Language {
    /// C, by a command that understands the flags of gcc.
    C,
    /// Rust.
    Rust,
}

/// A way to write the copy or the fill down.
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

/// The one that a compiler may know by name and still not be able to compile.
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
    /// The routines requested.
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

    /// What source files are called.
    pub const fn file_name(self) -> &'static str {
        match self {
            Language::C => "probe.c",
            Language::Rust => "probe.rs",
        }
    }

    /// What has to be said beside a set of flags to get an object and no remarks.
    pub const fn object_flags(self) -> &'static [&'static str] {
        match self {
            Language::C => &["-w", "-c"],
            Language::Rust => {
                &["--emit", "obj", "--crate-type", "lib", "-C", "panic=abort", "-C", "codegen-units=1"]
            }
        }
    }

    /// The source for these functions.
    pub fn source(self, functions: &[Function]) -> String {
        match self {
            Language::C => c_source(functions),
            Language::Rust => rust_source(functions),
        }
    }
}

/// The name of the function's symbol for a size.
pub fn symbol(function: &Function, size: u32) -> String {
    let plain: String =
        function.name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    format!("probe_{plain}_{size}")
}

/// Declarations of the routines, as the C standard and POSIX have them.
pub const C_DECLARATIONS: &str = "\
typedef __SIZE_TYPE__ size_t;
void *memmove(void *, const void *, size_t);
void *memcpy(void *, const void *, size_t);
void *memset(void *, int, size_t);
void bcopy(const void *, void *, size_t);
";

/// A call of the function in C.
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
    fn every_size_of_every_function_has_its_own_symbol() {
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
    fn the_plain_set_comes_first() {
        assert_eq!(Language::C.flag_sets()[0], "-O2");
        assert_eq!(Language::Rust.flag_sets()[0], "-C opt-level=2");
    }
}
