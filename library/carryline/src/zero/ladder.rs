//! The code for larger sizes, shared by all vector levels; it executes a [`Plan`](crate::intent::Plan).

/// Defines `CODE` from the level's own `zero` and `short_read_here`, and `large`, its code for larger sizes.
/// The arguments are the attributes of the level, its block and its loop of stores.
macro_rules! ladder {
    ($(#[$level:meta])* $block:ty, $stores:path) => {
        /// The code of this kernel.
        pub(super) const CODE: $crate::dispatch::ZeroCode =
            $crate::dispatch::ZeroCode { zero, read_here, planned, unfenced, if_dirty };

        /// As `zero`, for a caller who reads the bytes immediately.
        ///
        /// # Safety
        /// The CPU has the level; otherwise as [`fill_raw`](super::fill_raw).
        $(#[$level])*
        unsafe extern "C" fn read_here(dst: *mut u8, len: usize) {
            // SAFETY: the same contract; `large_read_here` gets more bytes than it requires.
            unsafe {
                match len {
                    ..$crate::intent::LOOPS_BELOW_BYTES => short_read_here(dst, len),
                    _ => {
                        $crate::blocks::begin_on_a_line();
                        large_read_here(dst, len);
                    }
                }
            }
        }

        /// As `zero`, for a caller with an intent.
        ///
        /// # Safety
        /// The CPU has the level; otherwise as [`fill_raw`](super::fill_raw).
        $(#[$level])*
        unsafe extern "C" fn planned(dst: *mut u8, len: usize, plan: $crate::intent::Plan) {
            // SAFETY: the same contract; len is what `large` requires.
            unsafe {
                match len {
                    ..$crate::intent::NON_TEMPORAL_LEAST_BYTES => zero(dst, len),
                    _ => large(dst, len, plan),
                }
            }
        }

        /// The code for larger sizes.
        ///
        /// # Safety
        /// The CPU has the level; `len >= NON_TEMPORAL_LEAST_BYTES`; otherwise as
        /// [`fill_raw`](super::fill_raw).
        $(#[$level])*
        #[inline(never)]
        unsafe extern "C" fn large(dst: *mut u8, len: usize, plan: $crate::intent::Plan) {
            // SAFETY: len exceeds what each path requires; the level by contract.
            unsafe {
                if plan.way.is_non_temporal() {
                    non_temporal(dst, len, plan.way);
                    $crate::blocks::fence();
                } else {
                    kept(dst, len, plan);
                }
            }
        }

        /// The code for larger sizes with ordinary stores.
        ///
        /// # Safety
        /// The CPU has the level; `len >= NON_TEMPORAL_LEAST_BYTES`; otherwise as
        /// [`fill_raw`](super::fill_raw).
        $(#[$level])*
        #[inline]
        unsafe extern "C" fn kept(dst: *mut u8, len: usize, plan: $crate::intent::Plan) {
            // SAFETY: len exceeds what each path requires; the level by contract.
            unsafe {
                if plan.way == $crate::intent::Way::String {
                    $crate::blocks::zero_rep_stosb(dst, len);
                } else if plan.fetched && len >= $crate::intent::LOOPS_BELOW_BYTES {
                    $crate::blocks::fill_prefetched_loop::<$block>(dst, len, $crate::blocks::Zero);
                } else {
                    $stores(dst, len);
                }
            }
        }

        /// Non-temporal stores, or `clzero`, unfenced.
        ///
        /// # Safety
        /// The CPU has the level; `len >= NON_TEMPORAL_LEAST_BYTES`; otherwise as
        /// [`fill_raw_unfenced`](super::fill_raw_unfenced).
        $(#[$level])*
        #[inline]
        unsafe fn non_temporal(dst: *mut u8, len: usize, way: $crate::intent::Way) {
            // SAFETY: the same contract.
            unsafe {
                if way != $crate::intent::Way::Clzero || !$crate::blocks::zero_by_clzero(dst, len) {
                    $crate::blocks::zero_non_temporal::<$block>(dst, len);
                }
            }
        }

        /// As `planned`, without the fence after non-temporal stores.
        ///
        /// # Safety
        /// The CPU has the level; otherwise as [`fill_raw_unfenced`](super::fill_raw_unfenced).
        $(#[$level])*
        unsafe extern "C" fn unfenced(dst: *mut u8, len: usize, plan: $crate::intent::Plan) {
            // SAFETY: the same contract; len is what `non_temporal` requires where it is called.
            unsafe {
                if plan.way.is_non_temporal() && len >= $crate::intent::NON_TEMPORAL_LEAST_BYTES {
                    non_temporal(dst, len, plan.way);
                } else {
                    planned(dst, len, plan);
                }
            }
        }

        /// The code for larger sizes for a caller without an intent. Not inlined: its registers would be
        /// saved at every small call.
        ///
        /// # Safety
        /// The CPU has the level; `len >= NON_TEMPORAL_LEAST_BYTES`; otherwise as
        /// [`fill_raw`](super::fill_raw).
        $(#[$level])*
        #[cold]
        #[inline(never)]
        pub(super) unsafe extern "C" fn large_by_size(dst: *mut u8, len: usize) {
            use $crate::intent::{Intent, Plan};
            // SAFETY: the same contract.
            unsafe { large(dst, len, Plan::of_zero(Intent::default(), len)) }
        }

        /// The code for larger sizes for a caller who reads the bytes immediately. Not inlined, as
        /// `large_by_size`.
        ///
        /// # Safety
        /// The CPU has the level; `len >= NON_TEMPORAL_LEAST_BYTES`; otherwise as
        /// [`fill_raw`](super::fill_raw).
        $(#[$level])*
        #[cold]
        #[inline(never)]
        pub(super) unsafe extern "C" fn large_read_here(dst: *mut u8, len: usize) {
            use $crate::intent::{Next, Plan};
            // SAFETY: the same contract.
            unsafe { kept(dst, len, Plan::of_zero(Next::ReadHere.into(), len)) }
        }

        /// # Safety
        /// The CPU has the level; otherwise as [`if_dirty_raw`](super::if_dirty_raw).
        $(#[$level])*
        unsafe extern "C" fn if_dirty(dst: *mut u8, len: usize) -> usize {
            // SAFETY: the same contract.
            unsafe { $crate::blocks::zero_if_dirty::<$block>(dst, len) }
        }
    };
}

pub(super) use ladder;
