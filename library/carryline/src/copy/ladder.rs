//! The code for larger sizes, shared by all vector levels; it executes a [`Plan`](crate::intent::Plan).

/// Defines `copy`, which selects the code by length, from the level's own `smallest` and `small`, and `CODE`
/// from that and `short_read_here`. The arguments are the attributes of the level and its block. The module
/// also provides the sizes: `smallest` takes up to `SMALLEST_MOST_BYTES`, `small` up to `SMALL_MOST_BYTES`,
/// at least 5 blocks. In both, all loads come before all stores. From `BY_DISTANCE_FROM_BYTES` on, copies between any two buffers
/// go by [`copy_by_distance`](crate::blocks::copy_by_distance): below, what it gains at some distances is less than what the
/// choice costs at all others.
///
/// Instead of `smallest`, the third argument may name a type with `before_branches(dst, src, len)`, which
/// computes what the moves need for any length, and `copy(self)`, which makes them.
macro_rules! ladder {
    ($(#[$level:meta])* $block:ty) => {
        /// A call of `smallest`.
        struct Smallest {
            dst: *mut u8,
            src: *const u8,
            len: usize,
        }

        impl Smallest {
            #[inline(always)]
            fn before_branches(dst: *mut u8, src: *const u8, len: usize) -> Smallest {
                Smallest { dst, src, len }
            }

            /// # Safety
            /// The CPU has the level; `len <= SMALLEST_MOST_BYTES`; otherwise as
            /// [`within_raw`](super::within_raw).
            #[inline]
            $(#[$level])*
            unsafe fn copy(self) {
                // SAFETY: the same contract.
                unsafe { smallest(self.dst, self.src, self.len) }
            }
        }

        $crate::copy::ladder::ladder!($(#[$level])* $block, Smallest);
    };
    ($(#[$level:meta])* $block:ty, $smallest:ty) => {
        /// The code of this kernel.
        pub(crate) const CODE: $crate::dispatch::CopyCode =
            $crate::dispatch::CopyCode { copy, read_here, planned, unfenced, overlapping };

        /// Selects the code by length.
        ///
        /// # Safety
        /// The CPU has the level; otherwise as [`bytes_raw`](super::bytes_raw).
        #[inline]
        $(#[$level])*
        pub(crate) unsafe extern "C" fn copy(dst: *mut u8, src: *const u8, len: usize) {
            use $crate::blocks::begin_on_a_line;
            use $crate::intent::{LOOPS_BELOW_BYTES, Plan};
            let smallest = <$smallest>::before_branches(dst, src, len);
            // SAFETY: len is within the bounds that each path requires.
            unsafe {
                match len {
                    ..=SMALLEST_MOST_BYTES => smallest.copy(),
                    _ if len <= SMALL_MOST_BYTES => small(dst, src, len),
                    _ if len < LOOPS_BELOW_BYTES => {
                        if Plan::is_short_copy_by_string::<$block>(dst, src, len) {
                            short_by_string(dst, src, len);
                        } else {
                            loops(dst, src, len);
                        }
                    }
                    _ => {
                        begin_on_a_line();
                        large_by_size(dst, src, len);
                    }
                }
            }
        }

        /// [`copy_rep_movsb`](crate::blocks::copy_rep_movsb). Not inlined, because its fixed registers are those of the
        /// arguments, which every copy would move.
        ///
        /// # Safety
        /// `len >= 64`; otherwise as [`bytes_raw`](super::bytes_raw).
        #[cold]
        #[inline(never)]
        unsafe extern "C" fn short_by_string(dst: *mut u8, src: *const u8, len: usize) {
            // SAFETY: the same contract.
            unsafe { $crate::blocks::copy_rep_movsb(dst, src, len) }
        }

        /// The code above `small`, without string instructions and non-temporal stores.
        ///
        /// # Safety
        /// The CPU has the level; `len > SMALL_MOST_BYTES`; otherwise as [`bytes_raw`](super::bytes_raw).
        #[inline]
        $(#[$level])*
        unsafe fn loops(dst: *mut u8, src: *const u8, len: usize) {
            use $crate::blocks::copy_apart;
            // SAFETY: len exceeds what each loop requires; no overlap and the level by contract.
            unsafe {
                match len {
                    ..BY_DISTANCE_FROM_BYTES => copy_apart::<$block>(dst, src, len),
                    _ => by_distance(dst, src, len),
                }
            }
        }

        /// [`copy_by_distance`](crate::blocks::copy_by_distance). Not inlined, because its code is longer than
        /// all that short copies need.
        ///
        /// # Safety
        /// The CPU has the level; `len >= BY_DISTANCE_FROM_BYTES`; otherwise as
        /// [`bytes_raw`](super::bytes_raw).
        #[inline(never)]
        $(#[$level])*
        pub(super) unsafe extern "C" fn by_distance(dst: *mut u8, src: *const u8, len: usize) {
            use $crate::blocks::{STORED_AT_ONCE, copy_by_distance};
            // SAFETY: len exceeds what the loop requires; no overlap and the level by contract.
            unsafe { copy_by_distance::<$block, STORED_AT_ONCE>(dst, src, len) }
        }

        /// As `copy`, for a caller who reads the bytes immediately.
        ///
        /// # Safety
        /// The CPU has the level; otherwise as [`bytes_raw`](super::bytes_raw).
        $(#[$level])*
        unsafe extern "C" fn read_here(dst: *mut u8, src: *const u8, len: usize) {
            // SAFETY: the same contract; `large_read_here` gets more bytes than it requires.
            unsafe {
                match len {
                    ..$crate::intent::LOOPS_BELOW_BYTES => short_read_here(dst, src, len),
                    _ => {
                        $crate::blocks::begin_on_a_line();
                        large_read_here(dst, src, len);
                    }
                }
            }
        }

        /// As `copy`, for a caller with an intent.
        ///
        /// # Safety
        /// The CPU has the level; otherwise as [`bytes_raw`](super::bytes_raw).
        $(#[$level])*
        unsafe extern "C" fn planned(dst: *mut u8, src: *const u8, len: usize, plan: $crate::intent::Plan) {
            // SAFETY: the same contract; len is what `large` requires.
            unsafe {
                match len {
                    ..$crate::intent::NON_TEMPORAL_LEAST_BYTES => copy(dst, src, len),
                    _ => large(dst, src, len, plan),
                }
            }
        }

        /// The code for larger sizes.
        ///
        /// # Safety
        /// The CPU has the level; `len >= NON_TEMPORAL_LEAST_BYTES`; otherwise as
        /// [`bytes_raw`](super::bytes_raw).
        $(#[$level])*
        #[inline(never)]
        unsafe extern "C" fn large(dst: *mut u8, src: *const u8, len: usize, plan: $crate::intent::Plan) {
            // SAFETY: len exceeds what each path requires; no overlap and the level by contract.
            unsafe {
                if plan.way == $crate::intent::Way::NonTemporal {
                    non_temporal(dst, src, len, plan);
                    $crate::blocks::fence();
                } else {
                    kept(dst, src, len, plan);
                }
            }
        }

        /// The code for larger sizes with ordinary stores.
        ///
        /// # Safety
        /// The CPU has the level; `len >= NON_TEMPORAL_LEAST_BYTES`; otherwise as
        /// [`bytes_raw`](super::bytes_raw).
        $(#[$level])*
        #[inline]
        unsafe extern "C" fn kept(dst: *mut u8, src: *const u8, len: usize, plan: $crate::intent::Plan) {
            use $crate::blocks::{self, READ_KEPT, READ_ONCE, STORED_AFTER_FETCHING, copy_backward, copy_forward};
            use $crate::intent::Way;
            // SAFETY: len exceeds what each path requires; no overlap and the level by contract.
            unsafe {
                if plan.way == Way::String {
                    blocks::copy_rep_movsb(dst, src, len);
                } else if plan.fetched && len >= $crate::intent::LOOPS_BELOW_BYTES {
                    blocks::copy_by_distance::<$block, STORED_AFTER_FETCHING>(dst, src, len);
                } else if plan.source_done {
                    copy_forward::<$block, READ_ONCE>(dst, src, len);
                } else if len >= $crate::intent::LOOPS_BELOW_BYTES && blocks::is_downwards_faster(dst, src) {
                    copy_backward::<$block>(dst, src, len);
                } else {
                    copy_forward::<$block, READ_KEPT>(dst, src, len);
                }
            }
        }

        /// Non-temporal stores, unfenced.
        ///
        /// # Safety
        /// The CPU has the level; `len >= NON_TEMPORAL_LEAST_BYTES`; otherwise as
        /// [`bytes_raw_unfenced`](super::bytes_raw_unfenced).
        $(#[$level])*
        #[inline(never)]
        unsafe extern "C" fn non_temporal(dst: *mut u8, src: *const u8, len: usize, plan: $crate::intent::Plan) {
            use $crate::blocks::{READ_FAR, READ_KEPT, READ_ONCE, copy_non_temporal};
            // SAFETY: len exceeds what `copy_non_temporal` requires; no overlap and the level by contract.
            unsafe {
                if plan.source_done {
                    copy_non_temporal::<$block, READ_ONCE>(dst, src, len);
                } else if plan.fetched {
                    copy_non_temporal::<$block, READ_FAR>(dst, src, len);
                } else {
                    copy_non_temporal::<$block, READ_KEPT>(dst, src, len);
                }
            }
        }

        /// As `planned`, without the fence after non-temporal stores.
        ///
        /// # Safety
        /// The CPU has the level; otherwise as [`bytes_raw_unfenced`](super::bytes_raw_unfenced).
        $(#[$level])*
        unsafe extern "C" fn unfenced(dst: *mut u8, src: *const u8, len: usize, plan: $crate::intent::Plan) {
            // SAFETY: the same contract; len is what `non_temporal` requires where it is called.
            unsafe {
                if plan.way == $crate::intent::Way::NonTemporal && len >= $crate::intent::NON_TEMPORAL_LEAST_BYTES {
                    non_temporal(dst, src, len, plan);
                } else {
                    planned(dst, src, len, plan);
                }
            }
        }

        /// As `copy`, for buffers that may overlap. `dst` lies `above` bytes after `src`, modulo the address
        /// space: if that is at least len, copying upwards overwrites nothing before it is read.
        ///
        /// # Safety
        /// The CPU has the level; otherwise as [`within_raw`](super::within_raw).
        $(#[$level])*
        unsafe extern "C" fn overlapping(dst: *mut u8, src: *const u8, len: usize) {
            use $crate::blocks::{READ_KEPT, copy_backward, copy_forward};
            let smallest = <$smallest>::before_branches(dst, src, len);
            let above = dst.addr().wrapping_sub(src.addr());
            // SAFETY: in `smallest` and `small`, all loads come before all stores. Above them, len exceeds
            // what each path requires. Copies go upwards if dst is not within the len bytes after src,
            // downwards if it is. The paths that allow no overlap get buffers that are len bytes apart in
            // both directions.
            unsafe {
                match len {
                    ..=SMALLEST_MOST_BYTES => smallest.copy(),
                    _ if len <= SMALL_MOST_BYTES => small(dst, src, len),
                    BY_DISTANCE_FROM_BYTES.. if above >= len && above.wrapping_neg() >= len => {
                        $crate::blocks::begin_on_a_line();
                        copy(dst, src, len);
                    }
                    _ if above >= len => copy_forward::<$block, READ_KEPT>(dst, src, len),
                    _ => copy_backward::<$block>(dst, src, len),
                }
            }
        }

        /// The code for larger sizes for a caller without an intent. Not inlined: its registers would be
        /// saved at every small call.
        ///
        /// # Safety
        /// The CPU has the level; `len >= NON_TEMPORAL_LEAST_BYTES`; otherwise as
        /// [`bytes_raw`](super::bytes_raw).
        $(#[$level])*
        #[cold]
        #[inline(never)]
        pub(super) unsafe extern "C" fn large_by_size(dst: *mut u8, src: *const u8, len: usize) {
            use $crate::intent::{Intent, Plan};
            // SAFETY: the same contract.
            unsafe { large(dst, src, len, Plan::of_copy(Intent::default(), dst, src, len)) }
        }

        /// The code for larger sizes for a caller who reads the bytes immediately. Not inlined, as
        /// `large_by_size`.
        ///
        /// # Safety
        /// The CPU has the level; `len >= NON_TEMPORAL_LEAST_BYTES`; otherwise as
        /// [`bytes_raw`](super::bytes_raw).
        $(#[$level])*
        #[cold]
        #[inline(never)]
        pub(super) unsafe extern "C" fn large_read_here(dst: *mut u8, src: *const u8, len: usize) {
            use $crate::intent::{Next, Plan};
            // SAFETY: the same contract.
            unsafe { kept(dst, src, len, Plan::of_copy(Next::ReadHere.into(), dst, src, len)) }
        }
    };
}

pub(super) use ladder;
