//! Zeroing with 16-byte stores, without CPU-specific instructions; plans have no effect. In programs for x86-64 without
//! vectors, such as operating systems, this is the only kernel; there it uses `rep stosb` where the profile says so, and `clzero`
//! where the plan does.

use crate::blocks::{
    Block16, zero_aligned_loop, zero_head_tail, zero_if_dirty, zero_mixed_up_to_64, zero_up_to_32,
};
#[cfg(all(target_arch = "x86_64", not(target_feature = "sse2")))]
use crate::blocks::{fence, zero_by_clzero, zero_rep_stosb};
use crate::dispatch::ZeroCode;
use crate::intent::{LOOPS_BELOW_BYTES, Plan};
#[cfg(all(target_arch = "x86_64", not(target_feature = "sse2")))]
use crate::{
    intent::{NON_TEMPORAL_LEAST_BYTES, STRINGS_FROM_BYTES, Way},
    profile::Decision,
    tuning::known,
};

pub(super) const CODE: ZeroCode = ZeroCode { zero, read_here, planned, unfenced, if_dirty };

/// Up to 128 bytes with overlapping stores at both ends; above, a loop of 64 bytes.
///
/// # Safety
/// As [`fill_raw`](super::fill_raw).
pub(crate) unsafe extern "C" fn zero(dst: *mut u8, len: usize) {
    // SAFETY: each branch has the bounds that its block requires.
    unsafe {
        match len {
            0..=64 => zero_mixed_up_to_64(dst, len),
            65..=128 => zero_head_tail::<Block16, 4>(dst, len),
            #[cfg(all(target_arch = "x86_64", not(target_feature = "sse2")))]
            STRINGS_FROM_BYTES.. if known(Decision::RepStosb).is_some_and(|from| len >= from) => {
                zero_rep_stosb(dst, len)
            }
            _ => zero_aligned_loop::<Block16>(dst, len),
        }
    }
}

/// As `zero`, for a caller who reads the bytes immediately: a load of 8 bytes can be forwarded from one store
/// of 8, but not from two of 4.
///
/// # Safety
/// As [`fill_raw`](super::fill_raw).
pub(super) unsafe extern "C" fn read_here(dst: *mut u8, len: usize) {
    // SAFETY: each branch has the bounds that its block requires.
    unsafe {
        match len {
            0..=32 => zero_up_to_32(dst, len),
            33..=64 => zero_head_tail::<Block16, 2>(dst, len),
            129..LOOPS_BELOW_BYTES => zero_aligned_loop::<Block16>(dst, len),
            _ => zero(dst, len),
        }
    }
}

/// # Safety
/// As [`fill_raw`](super::fill_raw).
unsafe extern "C" fn planned(dst: *mut u8, len: usize, plan: Plan) {
    // SAFETY: the same contract; the fence orders the stores.
    unsafe { unfenced(dst, len, plan) };
    #[cfg(all(target_arch = "x86_64", not(target_feature = "sse2")))]
    if plan.way == Way::Clzero {
        fence();
    }
}

/// # Safety
/// As [`fill_raw_unfenced`](super::fill_raw_unfenced).
unsafe extern "C" fn unfenced(dst: *mut u8, len: usize, plan: Plan) {
    #[cfg(all(target_arch = "x86_64", not(target_feature = "sse2")))]
    // SAFETY: `dst` is valid for writes of `len` bytes by contract.
    if plan.way == Way::Clzero && len >= NON_TEMPORAL_LEAST_BYTES && unsafe { zero_by_clzero(dst, len) } {
        return;
    }
    let _ = plan;
    // SAFETY: `dst` is valid for writes of `len` bytes by contract.
    unsafe { zero(dst, len) }
}

/// # Safety
/// As [`if_dirty_raw`](super::if_dirty_raw).
unsafe extern "C" fn if_dirty(dst: *mut u8, len: usize) -> usize {
    // SAFETY: `dst` is valid for reads and writes of `len` initialised bytes by contract.
    unsafe { zero_if_dirty::<Block16>(dst, len) }
}
