//! Without std, a panic ends the process. No input of a C program causes one.

use core::panic::PanicInfo;

// Also names libc as the only library to link.
#[link(name = "c")]
unsafe extern "C" {
    safe fn abort() -> !;
}

#[panic_handler]
fn panic(_: &PanicInfo<'_>) -> ! {
    abort()
}
