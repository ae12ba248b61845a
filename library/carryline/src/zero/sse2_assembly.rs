//! [`sse2`](super::sse2) with assembly for up to 256 bytes, in which every branch leads to the start of a cache line of code; see
//! [`avx2_assembly`](super::avx2_assembly).
//!
//! LLVM's code and this in one process on Zen 4, called by pointer, gross ticks at offset 0: 0 to 15 bytes 9.8 and 9.2, 65 and 80 9.8 and
//! 9.1, 128 10.2 and 9.8, others the same; at random offsets 1 to 256 bytes 22.2 and 21.6, unpredictable sizes of memset-A, -B, -D, -L and
//! -Q 19.7, 18.9, 36.9, 16.2 and 24.6, and 19.5, 18.7, 36.8, 16.6 and 24.4.

use super::assembly::{entries, up_to_16_blocks, up_to_64};
use super::sse2::large_by_size;
use crate::blocks::{
    Block16, assembly_function, begin_on_a_line, unlikely, zero_aligned_loop, zero_rep_stosb,
};
use crate::dispatch::ZeroCode;
use crate::intent::{NARROW_LOOPS_BELOW_BYTES, Plan};

/// The code of this kernel.
pub(super) const CODE: ZeroCode = ZeroCode { zero, ..super::sse2::CODE };

/// Defines an entry point that zeroes up to 256 bytes, and jumps to `above_256` for more. The code is the same whether
/// or not the declaration says that `dst` is returned.
macro_rules! entry {
    ($(#[$attribute:meta])* $visible:vis $entry:ident $(-> $returned:ty)?) => {
        assembly_function! {
            $(#[$attribute])*
            ///
            /// # Safety
            /// As [`fill_raw`](super::fill_raw).
            $visible unsafe extern "C" fn $entry(dst: *mut u8, len: usize) $(-> $returned)? {
                up_to_64!("xorps xmm0, xmm0", "movups"),
                // 65 to 128, in one line: four stores at each end.
                "4:",
                "lea rcx, [rsi - 1]",
                "shr rcx, 7",
                "jnz 5f",
                "mov rax, rdi",
                "xorps xmm0, xmm0",
                "movups [rdi], xmm0",
                "movups [rdi + 16], xmm0",
                "movups [rdi + 32], xmm0",
                "movups [rdi + 48], xmm0",
                "movups [rdi + rsi - 64], xmm0",
                "movups [rdi + rsi - 48], xmm0",
                "movups [rdi + rsi - 32], xmm0",
                "movups [rdi + rsi - 16], xmm0",
                "ret",
                ".p2align 6",
                "5:",
                "cmp rsi, 256",
                "ja {above_256}",
                up_to_16_blocks!("xorps xmm0, xmm0", "movups", "movaps", "xmm0", "");
                above_256 = sym above_256,
                block = const 16,
            }
        }
    };
}

entries!(entry);

/// Returns `dst`.
///
/// # Safety
/// `len > 256`; otherwise as [`fill_raw`](super::fill_raw).
unsafe extern "C" fn above_256(dst: *mut u8, len: usize) -> *mut u8 {
    // SAFETY: len exceeds what each requires.
    unsafe {
        if len < NARROW_LOOPS_BELOW_BYTES {
            zero_aligned_loop::<Block16>(dst, len);
        } else if Plan::is_zero_by_string(len) {
            zero_rep_stosb(dst, len);
        } else {
            unlikely();
            begin_on_a_line();
            large_by_size(dst, len);
        }
    }
    dst
}
