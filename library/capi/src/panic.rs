//! What a panic does without std: it ends the process. No input of a C program leads here.

use core::panic::PanicInfo;

// Also names libc as the one library to link.
#[link(name = "c")]
unsafe extern "C" {
    safe fn abort() -> !;
}

#[panic_handler]
fn panic(_: &PanicInfo<'_>) -> ! {
    abort()
}
