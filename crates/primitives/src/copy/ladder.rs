//! The upper parts of the ladders, the same for all levels of vectors.

/// From here on a source that is not needed again is prefetched in a way that keeps it from pushing out others.
/// Below, it is a small part of the first level.
pub(crate) const READ_ONCE_FROM_BYTES: usize = 8 << 10;

/// True if `rep movsb` takes its fast way: the CPU has ERMS, and the buffers are not up to 63 bytes apart in the
/// lower half of their addresses, which some CPUs take for an overlap.
#[inline]
pub(super) fn is_rep_movsb_fast(dst: *const u8, src: *const u8) -> bool {
    use crate::cpu::{Features, known_features};
    known_features().contains(Features::ERMS) && (dst.addr().wrapping_sub(src.addr()) as u32) >= 64
}

/// Makes `CODE` out of a level's own `copy`, `short_read_here` and `small`, and `large`, the upper part of its ladder. The
/// arguments are the attributes of the level and its block. Of the module come the thresholds too: `small` takes up to
/// `SMALL_MOST_BYTES`, at least 5 blocks, and loads all before it stores; from `REP_MOVSB_FROM_BYTES` on `rep movsb`
/// beats a loop of moves on CPUs with ERMS.
macro_rules! above_small {
    ($(#[$level:meta])* $block:ty) => {
        /// The code of this kernel.
        pub(super) const CODE: $crate::dispatch::CopyCode =
            $crate::dispatch::CopyCode { copy, read_here, planned, unfenced, overlapping };

        /// The ladder for a caller who reads the bytes at once: nothing goes around the caches.
        ///
        /// # Safety
        /// The CPU has the level; otherwise as [`copy_raw`](super::copy_raw).
        $(#[$level])*
        unsafe extern "C" fn read_here(dst: *mut u8, src: *const u8, len: usize) {
            // SAFETY: the same contract; `kept` gets more bytes than it asks for.
            unsafe {
                match len {
                    ..REP_MOVSB_FROM_BYTES => short_read_here(dst, src, len),
                    _ => {
                        $crate::blocks::begin_on_a_line();
                        kept(dst, src, len, $crate::intent::Plan::THROUGH);
                    }
                }
            }
        }

        /// The ladder for a caller with an intent.
        ///
        /// # Safety
        /// The CPU has the level; otherwise as [`copy_raw`](super::copy_raw).
        $(#[$level])*
        unsafe extern "C" fn planned(dst: *mut u8, src: *const u8, len: usize, plan: $crate::intent::Plan) {
            // SAFETY: the same contract; len is what `large` asks for.
            unsafe {
                match len {
                    ..$crate::intent::AROUND_LEAST_BYTES => copy(dst, src, len),
                    _ => large(dst, src, len, plan),
                }
            }
        }

        /// The upper part of the ladder.
        ///
        /// # Safety
        /// The CPU has the level; `len >= AROUND_LEAST_BYTES`; otherwise as [`copy_raw`](super::copy_raw).
        $(#[$level])*
        #[inline(never)]
        unsafe extern "C" fn large(dst: *mut u8, src: *const u8, len: usize, plan: $crate::intent::Plan) {
            // SAFETY: len is more than what each path asks for; no overlap and the level by contract.
            unsafe {
                if plan.around {
                    around(dst, src, len, plan);
                    $crate::blocks::fence();
                } else {
                    kept(dst, src, len, plan);
                }
            }
        }

        /// The upper part of the ladder for bytes that do not go around the caches.
        ///
        /// # Safety
        /// The CPU has the level; `len >= AROUND_LEAST_BYTES`; otherwise as [`copy_raw`](super::copy_raw).
        $(#[$level])*
        #[inline]
        unsafe extern "C" fn kept(dst: *mut u8, src: *const u8, len: usize, plan: $crate::intent::Plan) {
            use $crate::blocks::{self, READ_KEPT, READ_ONCE, copy_forward};
            use $crate::copy::ladder::{READ_ONCE_FROM_BYTES, is_rep_movsb_fast};
            let read_once = plan.source_done && len >= READ_ONCE_FROM_BYTES;
            // SAFETY: len is more than what each path asks for; no overlap and the level by contract.
            unsafe {
                if read_once {
                    copy_forward::<$block, READ_ONCE>(dst, src, len);
                } else if (plan.not_soon || len >= REP_MOVSB_FROM_BYTES) && is_rep_movsb_fast(dst, src) {
                    blocks::copy_rep_movsb(dst, src, len);
                } else {
                    copy_forward::<$block, READ_KEPT>(dst, src, len);
                }
            }
        }

        /// Around the caches, unfenced.
        ///
        /// # Safety
        /// The CPU has the level; `len >= AROUND_LEAST_BYTES`; otherwise as
        /// [`copy_raw_unfenced`](super::copy_raw_unfenced).
        $(#[$level])*
        #[inline(never)]
        unsafe extern "C" fn around(dst: *mut u8, src: *const u8, len: usize, plan: $crate::intent::Plan) {
            use $crate::blocks::{READ_KEPT, READ_ONCE, copy_around};
            // SAFETY: len is more than `copy_around` asks for; no overlap and the level by contract.
            unsafe {
                if plan.source_done {
                    copy_around::<$block, READ_ONCE>(dst, src, len);
                } else {
                    copy_around::<$block, READ_KEPT>(dst, src, len);
                }
            }
        }

        /// As `planned`, without the fence behind stores around the caches.
        ///
        /// # Safety
        /// The CPU has the level; otherwise as [`copy_raw_unfenced`](super::copy_raw_unfenced).
        $(#[$level])*
        unsafe extern "C" fn unfenced(dst: *mut u8, src: *const u8, len: usize, plan: $crate::intent::Plan) {
            // SAFETY: the same contract; len is what `around` asks for where it is called.
            unsafe {
                if (plan.around || plan.not_soon) && len >= $crate::intent::AROUND_LEAST_BYTES {
                    around(dst, src, len, plan);
                } else {
                    planned(dst, src, len, plan);
                }
            }
        }

        /// The ladder for buffers that may overlap. `dst` lies `above` bytes behind `src`, modulo the address space: if
        /// that is at least len, nothing is overwritten upwards before it is read.
        ///
        /// # Safety
        /// The CPU has the level; otherwise as [`overlapping_raw`](super::overlapping_raw).
        $(#[$level])*
        unsafe extern "C" fn overlapping(dst: *mut u8, src: *const u8, len: usize) {
            use $crate::blocks::{READ_KEPT, copy_backward, copy_forward};
            let above = dst.addr().wrapping_sub(src.addr());
            // SAFETY: `smallest` and `small` load all before they store. Above them, len is more than what each path
            // asks for. Upwards where dst is outside of the len bytes behind src; downwards where it is inside. The
            // paths that bear no overlap are for buffers that are len bytes apart in both directions.
            unsafe {
                match len {
                    ..=SMALLEST_MOST_BYTES => smallest(dst, src, len),
                    _ if len <= SMALL_MOST_BYTES => small(dst, src, len),
                    REP_MOVSB_FROM_BYTES.. if above >= len && above.wrapping_neg() >= len => {
                        large_by_size(dst, src, len)
                    }
                    _ if above >= len => copy_forward::<$block, READ_KEPT>(dst, src, len),
                    _ => copy_backward::<$block>(dst, src, len),
                }
            }
        }

        /// The upper part of the ladder for a caller without an intent.
        ///
        /// # Safety
        /// The CPU has the level; `len >= AROUND_LEAST_BYTES`; otherwise as [`copy_raw`](super::copy_raw).
        $(#[$level])*
        unsafe extern "C" fn large_by_size(dst: *mut u8, src: *const u8, len: usize) {
            use $crate::intent::{COPY_IN_CACHES_BYTES, Plan};
            // SAFETY: the same contract.
            unsafe {
                match len {
                    ..COPY_IN_CACHES_BYTES => large(dst, src, len, Plan::THROUGH),
                    _ => huge(dst, src, len),
                }
            }
        }

        /// Sizes at which the machine's caches have to be looked at.
        ///
        /// # Safety
        /// As `large_by_size`.
        $(#[$level])*
        #[cold]
        #[inline(never)]
        unsafe extern "C" fn huge(dst: *mut u8, src: *const u8, len: usize) {
            use $crate::intent::{Intent, Plan};
            // SAFETY: the same contract.
            unsafe { large(dst, src, len, Plan::of_copy(Intent::default(), len)) }
        }
    };
}

pub(super) use above_small;

#[cfg(test)]
mod tests {
    use super::is_rep_movsb_fast;
    use crate::cpu::{Features, features};
    use core::ptr::without_provenance as at;

    #[test]
    fn a_distance_that_looks_like_an_overlap_is_known() {
        let far: *const u8 = at(1 << 40);
        for (distance, fast) in
            [(0, false), (1, false), (63, false), (64, true), (1 << 20, true), (1 << 32, false)]
        {
            let expected = fast && features().contains(Features::ERMS);
            assert_eq!(is_rep_movsb_fast(far.wrapping_byte_add(distance), far), expected, "{distance}");
        }
        let expected = features().contains(Features::ERMS);
        assert_eq!(is_rep_movsb_fast(far, far.wrapping_byte_add(1)), expected);
    }
}
