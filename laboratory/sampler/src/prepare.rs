//! Establishes the cache state before a batch.

use super::loops::Call;
use super::workload::Operand;
use carryline_conditions::cache::EVICTING_PASSES;

/// The bytes of a cache line.
pub(crate) const LINE: usize = 64;

/// Reads every line of `len` bytes at `base`; writes it back unchanged if `write`.
///
/// # Safety
/// `base` must be valid for reads (and writes) of `len` bytes that nothing else is using.
pub unsafe fn touch(base: *mut u8, len: usize, write: bool) {
    // SAFETY: the same contract.
    unsafe { touch_every(LINE, base, len, write) };
}

/// As [`touch`], with the first byte of every `step`.
///
/// # Safety
/// As [`touch`].
#[inline(always)]
pub(crate) unsafe fn touch_every(step: usize, base: *mut u8, len: usize, write: bool) {
    for at in (0..len).step_by(step) {
        // SAFETY: at < len. Volatile, to keep the access.
        unsafe {
            let byte = base.add(at).read_volatile();
            if write {
                base.add(at).write_volatile(byte);
            }
        }
    }
}

/// Reads every line of an evicting buffer, as often as its size requires; calls `before` before each time.
///
/// # Safety
/// `base` must be valid for reads of `len` bytes that nothing else is using.
pub unsafe fn evict(base: *mut u8, len: usize, before: impl Fn()) {
    for _ in 0..EVICTING_PASSES {
        before();
        // SAFETY: the same contract; nothing is written.
        unsafe { touch(base, len, false) };
    }
}

/// Writes zero to every word of 8 bytes of `len` bytes at `base`, with one store per word.
///
/// # Safety
/// `base` must be aligned to 8 bytes, and valid for writes of `len` bytes that nothing else is using.
pub unsafe fn zero_words(base: *mut u8, len: usize) {
    for at in 0..len / 8 {
        // SAFETY: at * 8 + 8 <= len, and aligned. Volatile, so that the stores are not joined.
        unsafe { base.cast::<u64>().add(at).write_volatile(0) };
    }
}

/// Flushes every line of the operand that the calls touch, and waits for completion.
///
/// # Safety
/// Every call's range, relative to `base`, must be mapped.
pub unsafe fn flush(base: *const u8, calls: &[Call], pick: fn(&Call) -> u32) {
    #[cfg(target_arch = "x86_64")]
    {
        let optimised =
            carryline::internals::cpu::features().contains(carryline::internals::cpu::Features::CLFLUSHOPT);
        for call in calls {
            let start = base.wrapping_add(pick(call) as usize);
            let first = start as usize & !(LINE - 1);
            let end = start as usize + call.len as usize;
            for line in (first..end).step_by(LINE) {
                // SAFETY: a line of a mapped range; flushing does not change contents.
                unsafe { flush_line(line as *const u8, optimised) };
            }
        }
        // SAFETY: MFENCE is part of every x86-64 CPU.
        unsafe { core::arch::x86_64::_mm_mfence() };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (base, calls, pick);
}

/// # Safety
/// `line` is an address in a mapped line; `optimised` only on a CPU with CLFLUSHOPT.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
unsafe fn flush_line(line: *const u8, optimised: bool) {
    // SAFETY: the caller gives an address in a mapped line, and `optimised` only if the CPU has CLFLUSHOPT.
    unsafe {
        if optimised {
            core::arch::asm!("clflushopt [{line}]", line = in(reg) line, options(nostack, preserves_flags));
        } else {
            core::arch::x86_64::_mm_clflush(line);
        }
    }
}

/// The base of the window that batch number `batch` of an operand uses.
pub(crate) fn window_base(start: *mut u8, operand: &Operand, batch: usize) -> *mut u8 {
    match operand.hot_percent {
        // The hot slot is not moved; the calls on other slots are shifted individually.
        Some(_) => start,
        None => start.wrapping_add(operand.shift(batch)),
    }
}
