//! What all functions in assembly share.

/// Defines a function in assembly, which begins on a line of code: its attributes and declaration, and in its body the instructions and,
/// after a semicolon, their operands.
macro_rules! assembly_function {
    (
        $(#[$attribute:meta])*
        $visible:vis unsafe extern "C" fn $name:ident($($arguments:tt)*) $(-> $returned:ty)? {
            $($code:expr),+ $(,)?;
            $($operands:tt)*
        }
    ) => {
        $(#[$attribute])*
        #[unsafe(naked)]
        $visible unsafe extern "C" fn $name($($arguments)*) $(-> $returned)? {
            core::arch::naked_asm!(
                // Otherwise a shared library that contains this one would export it.
                ".hidden {this}",
                ".cfi_startproc",
                ".p2align 6",
                $($code,)+
                ".cfi_endproc",
                this = sym $name,
                $($operands)*
            )
        }
    };
}

/// The instruction with which a function of assembly returns `dst`, for a function whose declaration has a result.
#[cfg(target_feature = "sse2")]
macro_rules! returned {
    () => {
        ""
    };
    ($returned:ty) => {
        "mov rax, rdi"
    };
}

pub(crate) use assembly_function;
#[cfg(target_feature = "sse2")]
pub(crate) use returned;
