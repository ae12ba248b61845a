//! What the kernels in assembly share: their entry points, and the code for sizes that the assembly does not copy.

/// Defines `loops` and `overlapping_loops`, which returns `dst`, to which an entry point in assembly jumps. The arguments
/// are the attributes of the level, its kernel in Rust and its block.
macro_rules! loops_returning {
    ($(#[$level:meta])* $kernel:ident, $block:ty) => {
        use super::$kernel::{BY_DISTANCE_FROM_BYTES, by_distance, large_by_size};

        /// # Safety
        /// The CPU has the level; `len > SMALL_MOST_BYTES` of the kernel; otherwise as
        /// [`bytes_raw`](super::bytes_raw).
        $(#[$level])*
        pub(super) unsafe extern "C" fn loops(dst: *mut u8, src: *const u8, len: usize) {
            use $crate::blocks::{begin_on_a_line, copy_apart, unlikely};
            // SAFETY: the same contract; len is what each requires.
            unsafe {
                if len >= BY_DISTANCE_FROM_BYTES {
                    unlikely();
                    begin_on_a_line();
                    match len {
                        ..$crate::intent::LOOPS_BELOW_BYTES => by_distance(dst, src, len),
                        _ => large_by_size(dst, src, len),
                    }
                } else {
                    copy_apart::<$block>(dst, src, len);
                }
            }
        }

        /// Returns `dst`. If it lies at least len bytes after `src`, modulo the address space, copying upwards
        /// overwrites nothing before it is read.
        ///
        /// # Safety
        /// The CPU has the level; `len > SMALL_MOST_BYTES` of the kernel; otherwise as
        /// [`within_raw`](super::within_raw).
        $(#[$level])*
        pub(super) unsafe extern "C" fn overlapping_loops(dst: *mut u8, src: *const u8, len: usize) -> *mut u8 {
            use $crate::blocks::{begin_on_a_line, copy_apart, copy_backward, unlikely};
            // SAFETY: len exceeds what each path requires. Copies go upwards if dst is not within the len bytes
            // after src, downwards if it is. The last path gets buffers that are len bytes apart in both directions.
            unsafe {
                if dst.addr().wrapping_sub(src.addr()) < len {
                    unlikely();
                    begin_on_a_line();
                    copy_backward::<$block>(dst, src, len);
                    return dst;
                }
                if len >= BY_DISTANCE_FROM_BYTES || src.addr().wrapping_sub(dst.addr()) < len {
                    unlikely();
                    return overlapping_long(dst, src, len);
                }
                copy_apart::<$block>(dst, src, len);
            }
            dst
        }

        /// Returns `dst`. Not inlined: its registers would be saved at every call.
        ///
        /// # Safety
        /// The CPU has the level; `len > SMALL_MOST_BYTES` of the kernel, and `len >= BY_DISTANCE_FROM_BYTES` unless `src` is
        /// within the len bytes after `dst`; `dst` is not within those after `src`; otherwise as [`within_raw`](super::within_raw).
        #[inline(never)]
        $(#[$level])*
        unsafe extern "C" fn overlapping_long(dst: *mut u8, src: *const u8, len: usize) -> *mut u8 {
            use $crate::blocks::{READ_KEPT, copy_forward};
            // SAFETY: the same contract; len is what each requires. Paths that allow no overlap get buffers that are len
            // bytes apart in both directions.
            unsafe {
                if src.addr().wrapping_sub(dst.addr()) < len {
                    copy_forward::<$block, READ_KEPT>(dst, src, len);
                } else if len < $crate::intent::LOOPS_BELOW_BYTES {
                    by_distance(dst, src, len);
                } else {
                    large_by_size(dst, src, len);
                }
            }
            dst
        }
    };
}

pub(super) use loops_returning;

/// Defines the entry points of a kernel in assembly by its macro `$entry`, which takes the attributes, the name, the result if there is
/// one, and the function for more than the assembly copies.
macro_rules! entries {
    ($entry:ident) => {
        $entry! {
            /// Selects the code by length.
            copy, loops
        }

        $entry! {
            /// As `copy`, for buffers that may overlap.
            overlapping, overlapping_loops
        }

        $entry! {
            /// As `overlapping`; returns `dst`.
            pub overlapping_returning -> *mut u8, overlapping_loops
        }
    };
}

pub(super) use entries;
