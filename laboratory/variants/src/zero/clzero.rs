//! AMD's `clzero`: zeroes the cache line that holds the address in rax, without reading it.
//!
//! CPUID function 8000_0005 reports the length of the line in ECX bits 7..0 (the L1 data cache's line size).
//! It is 64 bytes on every CPU that has the instruction; the test below checks this. The stores are weakly
//! ordered, like non-temporal ones, so `sfence` follows (AMD64 Architecture Programmer's Manual, volume 3,
//! CLZERO). The bytes before the first and after the last whole line are written by ordinary stores.

use crate::{Routine, Variant, edges};
use carryline::internals::cpu::Features;

/// See the module.
pub static VARIANT: Variant = Variant {
    name: "clzero",
    routine: Routine::Zero(run),
    needs: Features::CLZERO,
    summary: "one clzero for each whole line, then sfence",
    provenance: "AMD64 Architecture Programmer's Manual, volume 3",
    ..Variant::PLAIN
};

/// # Safety
/// See [the family](super).
unsafe extern "C" fn run(dst: *mut u8, len: usize) {
    let head = edges::bytes_to_boundary(dst, 64, len);
    // SAFETY: head is less than 64 and at most len. After it every line starts at a multiple of 64 and has
    // 64 bytes left, so that clzero writes nothing else; fewer than 64 bytes remain. sfence orders the
    // stores.
    unsafe {
        edges::zero_below_64(dst, head);
        let mut line = dst.add(head);
        let mut left = len - head;
        while left >= 64 {
            core::arch::asm!("clzero", in("rax") line, options(nostack, preserves_flags));
            line = line.add(64);
            left = edges::keep_loop(left - 64);
        }
        edges::zero_below_64(line, left);
        core::arch::x86_64::_mm_sfence();
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn lines_have_64_bytes_if_clzero_exists() {
        if super::VARIANT.runs_here() {
            let l1_data = core::arch::x86_64::__cpuid(0x8000_0005).ecx;
            assert_eq!(l1_data & 0xff, 64);
        }
    }
}
