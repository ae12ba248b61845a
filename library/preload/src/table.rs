//! The routines that serve, and how calls reach them.
//!
//! There are two tables of function pointers, both empty (null) until the constructor fills them. The entries
//! look at `FAST`. If its pointer is null they take the slow path, which counts the call if counting is on
//! and takes the routine from `CHOSEN`; if that is null too, because the constructor has not run yet, it
//! calls plain code directly. So counting costs nothing when it is off, and a call before this library is
//! relocated uses no address that still has to be relocated: the tables are zero bytes in the file, and are
//! filled at run time.
//!
//! The routines are the library's kernels (by default the best) or a variant of the collection that supports
//! any length and calls none of the functions that are served
//! ([`carryline_variants::Variant::can_interpose`]).

use crate::kernels::{self, Copy, Fill, Kernels, Zero, fill_portable, move_portable, zero_portable};
use crate::libc_own;
use carryline::internals::cpu::Features;
use carryline_served::Served;
use carryline_variants::{Family, Routine, Variant};
use core::mem::transmute;
use core::ptr::null_mut;
use core::sync::atomic::{AtomicPtr, Ordering};

/// Pointers to routines, on a cache line of their own.
#[repr(align(64))]
pub(crate) struct Table {
    copy: AtomicPtr<()>,
    zero: AtomicPtr<()>,
    fill: AtomicPtr<()>,
}

/// The table that the entries use.
pub(crate) static FAST: Table = Table::empty();
/// The chosen routines.
pub(crate) static CHOSEN: Table = Table::empty();
/// The page of counters; null if calls are not counted.
pub(crate) static RECORD: AtomicPtr<Served> = AtomicPtr::new(null_mut());

/// A complete set of routines.
pub(crate) struct Routines {
    /// For buffers that may overlap.
    pub copy: Copy,
    /// For the byte 0.
    pub zero: Zero,
    /// For other bytes.
    pub fill: Fill,
}

impl Table {
    const fn empty() -> Table {
        Table {
            copy: AtomicPtr::new(null_mut()),
            zero: AtomicPtr::new(null_mut()),
            fill: AtomicPtr::new(null_mut()),
        }
    }

    /// A thread that finds a routine here also finds what was stored before, such as the pointers that the routine
    /// calls through: release and acquire, which cost nothing on x86-64.
    pub(crate) fn set(&self, routines: &Routines) {
        self.copy.store(routines.copy as *mut (), Ordering::Release);
        self.zero.store(routines.zero as *mut (), Ordering::Release);
        self.fill.store(routines.fill as *mut (), Ordering::Release);
    }

    #[inline(always)]
    pub(crate) fn copy(&self) -> Option<Copy> {
        // SAFETY: the pointer is null or a function of this type.
        unsafe { transmute::<*mut (), Option<Copy>>(self.copy.load(Ordering::Acquire)) }
    }

    #[inline(always)]
    pub(crate) fn zero(&self) -> Option<Zero> {
        // SAFETY: the pointer is null or a function of this type.
        unsafe { transmute::<*mut (), Option<Zero>>(self.zero.load(Ordering::Acquire)) }
    }

    #[inline(always)]
    pub(crate) fn fill(&self) -> Option<Fill> {
        // SAFETY: the pointer is null or a function of this type.
        unsafe { transmute::<*mut (), Option<Fill>>(self.fill.load(Ordering::Acquire)) }
    }
}

/// The page of counters, if calls are counted.
#[inline(always)]
pub(crate) fn record() -> Option<&'static Served> {
    // SAFETY: null, or a page mapped by the constructor and never unmapped, which consists of atomic
    // integers.
    unsafe { RECORD.load(Ordering::Acquire).as_ref() }
}

impl Routines {
    /// The library's own routines for a CPU.
    pub(crate) fn of_the_library(features: Features) -> Routines {
        let Kernels { copy, zero, fill } = kernels::best(features);
        Routines { copy, zero, fill }
    }

    /// Leaves a family to the C library, or to plain code if the dynamic linker finds no such function.
    pub(crate) fn leave(&mut self, family: Family) {
        let found = libc_own::find(family);
        match family {
            Family::Copy => {
                self.copy = if found { libc_own::copy } else { move_portable };
            }
            _ => {
                self.zero = if found { libc_own::zero } else { zero_portable };
                self.fill = if found { libc_own::fill } else { fill_portable };
            }
        }
    }

    /// Replaces the library's routine of the variant's family. Buffers that overlap keep the library's
    /// routine.
    pub(crate) fn force(&mut self, variant: &Variant) {
        match variant.routine {
            Routine::Copy(copy) => self.copy = kernels::copy_through(copy, self.copy),
            Routine::Zero(zero) => self.zero = kernels::zero_through(zero),
            Routine::Checksum(_) | Routine::CopyChecksum(_) => {}
        }
    }
}
