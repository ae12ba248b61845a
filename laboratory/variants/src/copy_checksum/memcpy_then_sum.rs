//! Two passes: the C library's `memcpy`, then the kernel's form of the sum over the source, which is then in
//! the cache if it fits.

use crate::c_library::CLibrary;
use crate::{Role, Routine, Variant, checksum::adc_1_stream, ones_complement};

/// See the module.
pub static VARIANT: Variant = Variant {
    name: "memcpy_then_sum",
    routine: Routine::CopyChecksum(run),
    role: Role::Baseline,
    summary: "the C library's memcpy, then one add-with-carry chain",
    provenance: "vandeven-2021 (Linux csum_partial of 2021) after ISO C's memcpy",
    call: Some("memcpy, then a sum"),
    c_library: Some(CLibrary::AsInstalled),
    ..Variant::PLAIN
};

/// # Safety
/// See [the family](super).
pub(super) unsafe extern "C" fn run(dst: *mut u8, src: *const u8, len: usize, seed: u32) -> u32 {
    // SAFETY: the caller owns len bytes on both sides, which do not overlap.
    unsafe {
        libc::memcpy(dst.cast(), src.cast(), len);
        ones_complement::reduce(adc_1_stream::chain(u64::from(seed), src, len))
    }
}
