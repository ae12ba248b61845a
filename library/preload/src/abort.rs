//! How a process ends that cannot go on.

/// What ends a program whose buffer is too small for what it requested: glibc says so on standard error and aborts,
/// as for its own checked functions.
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
        // SAFETY: may be called at any time.
        unsafe { libc::abort() }
    }
}

/// A panic ends the process. Only the constructor's messages could lead here.
#[cfg(panic = "abort")]
#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    // SAFETY: may be called at any time.
    unsafe { libc::abort() }
}

// Builds whose panics unwind, those of cargo's profiles for development, need what only std has for it. Nothing else
// of it is used.
#[cfg(panic = "unwind")]
extern crate std;

// The one library to link; with std, that would ask for it.
#[cfg(panic = "abort")]
#[link(name = "c")]
unsafe extern "C" {}
