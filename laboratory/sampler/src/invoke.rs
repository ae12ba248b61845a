//! The calls that the timed loops make, by family.
//!
//! **All routines of a family are called from one loop**, including those of the C library, whose signatures
//! differ. The placement of a loop changes the smallest calls by two cycles of eight, so two instances of one
//! loop with the same instructions are two conditions. (On Zen 5: 5.1 ticks for a memset of 36 bytes from the
//! common loop, 3.1 from a separate one.)

use carryline_variants::landing::{MoveFn, SetFn};
use carryline_variants::{ChecksumFn, CopyChecksumFn, CopyFn, ZeroFn};

/// A routine that the loops can call.
pub(super) trait Invoke: Copy {
    /// Whether the call returns a sum, which then carries the chain.
    const SUMS: bool;
    /// # Safety
    /// The routine's own contract.
    unsafe fn invoke(self, dst: *mut u8, src: *const u8, len: usize, seed: u32) -> u32;
}

#[cfg(all(target_arch = "x86_64", unix))]
pub(super) use by_register::{CopyCall, ZeroCall};
#[cfg(not(all(target_arch = "x86_64", unix)))]
pub(super) use by_type::{CopyCall, ZeroCall};

/// Arguments in the registers of the System V convention. Arguments that a routine does not take are in
/// registers that a call may change anyway.
#[cfg(all(target_arch = "x86_64", unix))]
mod by_register {
    use super::{CopyFn, Invoke, MoveFn, SetFn, ZeroFn};
    use std::arch::asm;

    /// A zero routine of either signature: `(dst, len)`, or memset's `(dst, 0, len)`.
    #[derive(Clone, Copy)]
    pub(in super::super) struct ZeroCall {
        routine: *const (),
        /// A mask for the length in the second argument: all ones, or zero.
        second: usize,
    }

    impl ZeroCall {
        pub(in super::super) fn of_family(routine: ZeroFn) -> ZeroCall {
            ZeroCall { routine: routine as *const (), second: usize::MAX }
        }

        pub(in super::super) fn of_libc(routine: SetFn) -> ZeroCall {
            ZeroCall { routine: routine as *const (), second: 0 }
        }
    }

    impl Invoke for ZeroCall {
        const SUMS: bool = false;
        #[inline(always)]
        unsafe fn invoke(self, dst: *mut u8, _src: *const u8, len: usize, _seed: u32) -> u32 {
            // SAFETY: the caller meets the routine's contract, and the routine was made from a function with
            // one of the two signatures, which takes these arguments. Without `nostack`, the stack is aligned
            // and has no red zone.
            unsafe {
                asm!(
                    "call {routine}",
                    routine = in(reg) self.routine,
                    in("rdi") dst,
                    in("rsi") len & self.second,
                    in("rdx") len,
                    clobber_abi("C"),
                );
            }
            0
        }
    }

    /// A copy routine, with or without memcpy's result.
    #[derive(Clone, Copy)]
    pub(in super::super) struct CopyCall {
        routine: *const (),
    }

    impl CopyCall {
        pub(in super::super) fn of_family(routine: CopyFn) -> CopyCall {
            CopyCall { routine: routine as *const () }
        }

        pub(in super::super) fn of_libc(routine: MoveFn) -> CopyCall {
            CopyCall { routine: routine as *const () }
        }
    }

    impl Invoke for CopyCall {
        const SUMS: bool = false;
        #[inline(always)]
        unsafe fn invoke(self, dst: *mut u8, src: *const u8, len: usize, _seed: u32) -> u32 {
            // SAFETY: the caller meets the routine's contract, and the routine was made from a function with
            // one of the two signatures, which takes these arguments. Without `nostack`, the stack is aligned
            // and has no red zone.
            unsafe {
                asm!(
                    "call {routine}",
                    routine = in(reg) self.routine,
                    in("rdi") dst,
                    in("rsi") src,
                    in("rdx") len,
                    clobber_abi("C"),
                );
            }
            0
        }
    }
}

/// Branches on the signature; the branch is predicted.
#[cfg(not(all(target_arch = "x86_64", unix)))]
mod by_type {
    use super::{CopyFn, Invoke, MoveFn, SetFn, ZeroFn};

    /// A zero routine of either signature.
    #[derive(Clone, Copy)]
    pub(in super::super) enum ZeroCall {
        Family(ZeroFn),
        Libc(SetFn),
    }

    impl ZeroCall {
        pub(in super::super) fn of_family(routine: ZeroFn) -> ZeroCall {
            ZeroCall::Family(routine)
        }

        pub(in super::super) fn of_libc(routine: SetFn) -> ZeroCall {
            ZeroCall::Libc(routine)
        }
    }

    impl Invoke for ZeroCall {
        const SUMS: bool = false;
        #[inline(always)]
        unsafe fn invoke(self, dst: *mut u8, _src: *const u8, len: usize, _seed: u32) -> u32 {
            // SAFETY: the caller meets the routine's contract; a fill with 0 has the same contract.
            unsafe {
                match self {
                    ZeroCall::Family(routine) => routine(dst, len),
                    ZeroCall::Libc(routine) => _ = routine(dst.cast(), 0, len),
                }
            }
            0
        }
    }

    /// A copy routine, with or without memcpy's result.
    #[derive(Clone, Copy)]
    pub(in super::super) enum CopyCall {
        Family(CopyFn),
        Libc(MoveFn),
    }

    impl CopyCall {
        pub(in super::super) fn of_family(routine: CopyFn) -> CopyCall {
            CopyCall::Family(routine)
        }

        pub(in super::super) fn of_libc(routine: MoveFn) -> CopyCall {
            CopyCall::Libc(routine)
        }
    }

    impl Invoke for CopyCall {
        const SUMS: bool = false;
        #[inline(always)]
        unsafe fn invoke(self, dst: *mut u8, src: *const u8, len: usize, _seed: u32) -> u32 {
            // SAFETY: the caller meets the routine's contract; a copy routine of the C library has the same
            // contract.
            unsafe {
                match self {
                    CopyCall::Family(routine) => routine(dst, src, len),
                    CopyCall::Libc(routine) => _ = routine(dst.cast(), src.cast(), len),
                }
            }
            0
        }
    }
}

impl Invoke for ChecksumFn {
    const SUMS: bool = true;
    #[inline(always)]
    unsafe fn invoke(self, _dst: *mut u8, src: *const u8, len: usize, seed: u32) -> u32 {
        // SAFETY: the caller meets the routine's contract, and all arguments are passed on unchanged.
        unsafe { self(src, len, seed) }
    }
}

impl Invoke for CopyChecksumFn {
    const SUMS: bool = true;
    #[inline(always)]
    unsafe fn invoke(self, dst: *mut u8, src: *const u8, len: usize, seed: u32) -> u32 {
        // SAFETY: the caller meets the routine's contract, and all arguments are passed on unchanged.
        unsafe { self(dst, src, len, seed) }
    }
}
