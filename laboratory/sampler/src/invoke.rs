//! What the timed loops call, by family.
//!
//! **All routines of a family are called from one loop**, also those of the C library, whose signatures differ: where a
//! loop happens to lie moves the smallest calls by two cycles of eight, so that two instances of one loop, of the same
//! instructions, are two conditions. (Seen on Zen 5: 5.1 ticks for a memset of 36 bytes from the loop of the others, 3.1
//! from a loop of its own.)

use carryline_variants::landing::{MoveFn, SetFn};
use carryline_variants::{ChecksumFn, CopyChecksumFn, CopyFn, ZeroFn};

/// A routine that the loops can call.
pub(super) trait Invoke: Copy {
    /// True if the call returns a sum, which then carries the chain.
    const SUMS: bool;
    /// # Safety
    /// The routine's own contract.
    unsafe fn invoke(self, dst: *mut u8, src: *const u8, len: usize, seed: u32) -> u32;
}

#[cfg(all(target_arch = "x86_64", unix))]
pub(super) use by_register::{CopyCall, ZeroCall};
#[cfg(not(all(target_arch = "x86_64", unix)))]
pub(super) use by_type::{CopyCall, ZeroCall};

/// With arguments in the registers that the System V convention has for them. What a routine does not take lies in a
/// register that a call may change anyway.
#[cfg(all(target_arch = "x86_64", unix))]
mod by_register {
    use super::{CopyFn, Invoke, MoveFn, SetFn, ZeroFn};
    use std::arch::asm;

    /// A zero routine of either signature: `(dst, len)`, or memset's `(dst, 0, len)`.
    #[derive(Clone, Copy)]
    pub(in super::super) struct ZeroCall {
        routine: *const (),
        /// What of the length the second argument is: all of it, or nothing.
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
            // SAFETY: the caller keeps the routine's contract, and the routine was made from a function of one of the two
            // signatures, whose arguments these are. Without `nostack` the stack is aligned and nothing lies below it.
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

    /// A copy routine, with memcpy's result or without.
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
            // SAFETY: the caller keeps the routine's contract, and the routine was made from a function of one of the two
            // signatures, whose arguments these are. Without `nostack` the stack is aligned and nothing lies below it.
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

/// With a branch between the signatures, which is predicted.
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
            // SAFETY: the caller keeps the routine's contract; a fill with 0 has the same.
            unsafe {
                match self {
                    ZeroCall::Family(routine) => routine(dst, len),
                    ZeroCall::Libc(routine) => _ = routine(dst.cast(), 0, len),
                }
            }
            0
        }
    }

    /// A copy routine, with memcpy's result or without.
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
            // SAFETY: the caller keeps the routine's contract; a copy of the C library's has the same.
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
        // SAFETY: the caller keeps the routine's contract, and all arguments are passed on unchanged.
        unsafe { self(src, len, seed) }
    }
}

impl Invoke for CopyChecksumFn {
    const SUMS: bool = true;
    #[inline(always)]
    unsafe fn invoke(self, dst: *mut u8, src: *const u8, len: usize, seed: u32) -> u32 {
        // SAFETY: the caller keeps the routine's contract, and all arguments are passed on unchanged.
        unsafe { self(dst, src, len, seed) }
    }
}
