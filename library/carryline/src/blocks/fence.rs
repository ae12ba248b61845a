//! The order of non-temporal stores and `clzero`, which a later store, such as that of a flag, may overtake.

use core::arch::asm;

/// Orders all stores so far before all later ones.
#[inline(always)]
pub(crate) fn fence() {
    // SAFETY: every CPU of the architecture has the instruction, which changes neither registers nor memory. Without `nomem`, the
    // compiler moves no access to memory across it.
    unsafe { asm!("sfence", options(nostack, preserves_flags)) };
}
