//! The empty routine of each family: the cost of the call itself, which net figures subtract.

use crate::{Family, Routine};

/// # Safety
/// No requirements: nothing is accessed.
unsafe extern "C" fn zero(_dst: *mut u8, _len: usize) {}
/// # Safety
/// As [`zero`].
unsafe extern "C" fn copy(_dst: *mut u8, _src: *const u8, _len: usize) {}
/// # Safety
/// As [`zero`].
unsafe extern "C" fn checksum(_data: *const u8, _len: usize, seed: u32) -> u32 {
    seed
}
/// # Safety
/// As [`zero`].
unsafe extern "C" fn copy_checksum(_dst: *mut u8, _src: *const u8, _len: usize, seed: u32) -> u32 {
    seed
}

/// The null call of a family. It does no work, so it is not a variant and cannot be verified; only the
/// sampler uses it.
#[must_use]
pub const fn routine(family: Family) -> Routine {
    match family {
        Family::Zero => Routine::Zero(zero),
        Family::Copy => Routine::Copy(copy),
        Family::Checksum => Routine::Checksum(checksum),
        Family::CopyChecksum => Routine::CopyChecksum(copy_checksum),
    }
}
