//! Ends the process after a fatal error.

/// Ends a program whose buffer is too small for the requested operation: glibc prints a message to standard
/// error and aborts, as in its own checked functions.
#[cold]
pub(crate) fn buffer_overflow() -> ! {
    #[cfg(target_env = "gnu")]
    {
        unsafe extern "C" {
            safe fn __chk_fail() -> !;
        }
        __chk_fail()
    }
    #[cfg(not(target_env = "gnu"))]
    {
        // SAFETY: has no preconditions.
        unsafe { libc::abort() }
    }
}

/// Aborts on a panic, which could only come from the constructor's messages.
#[cfg(panic = "abort")]
#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    // SAFETY: has no preconditions.
    unsafe { libc::abort() }
}

// Builds whose panics unwind, those of cargo's development profiles, need parts of std for unwinding. Nothing
// else of std is used.
#[cfg(panic = "unwind")]
extern crate std;

// The only library to link; with std, std links it.
#[cfg(panic = "abort")]
#[link(name = "c")]
unsafe extern "C" {}
