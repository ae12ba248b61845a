//! Which routines serve, and how calls get to them.
//!
//! Two tables of function pointers, both empty (null) until the constructor fills them. `FAST` is what the entries
//! look at; an empty pointer sends them the slow way, which counts where counting is wanted, takes the routine from
//! `CHOSEN`, and where that is empty too, as the constructor has not run yet, calls plain code directly. So counting
//! costs nothing when it is off, and a call that comes before this library is relocated meets no address that is still
//! to be relocated: the tables are zero bytes in the file, and hold what was computed at run time.
//!
//! What can serve: the library's kernels (the default, best first), and of the collection every variant that takes
//! any length and calls none of the functions that are served ([`carryline_variants::Variant::can_interpose`]).

use crate::kernels::{self, Copy, Fill, Kernels, Zero, fill_portable, move_portable, zero_portable};
use crate::libc_own;
use carryline::internals::cpu::Features;
use carryline_served::Served;
use carryline_variants::{Family, Routine, Variant};
use core::mem::transmute;
use core::ptr::null_mut;
use core::sync::atomic::{AtomicPtr, Ordering};

/// Pointers to routines, alone on a cache line.
#[repr(align(64))]
pub(crate) struct Table {
    copy: AtomicPtr<()>,
    overlapping: AtomicPtr<()>,
    zero: AtomicPtr<()>,
    fill: AtomicPtr<()>,
}

/// What the entries use.
pub(crate) static FAST: Table = Table::empty();
/// What was chosen.
pub(crate) static CHOSEN: Table = Table::empty();
/// The page of counters; null when nothing is counted.
pub(crate) static RECORD: AtomicPtr<Served> = AtomicPtr::new(null_mut());

/// A set of routines that serve everything.
pub(crate) struct Routines {
    /// For buffers that do not overlap.
    pub copy: Copy,
    /// For those that do.
    pub overlapping: Copy,
    /// For the byte 0.
    pub zero: Zero,
    /// For other bytes.
    pub fill: Fill,
}

impl Table {
    const fn empty() -> Table {
        Table {
            copy: AtomicPtr::new(null_mut()),
            overlapping: AtomicPtr::new(null_mut()),
            zero: AtomicPtr::new(null_mut()),
            fill: AtomicPtr::new(null_mut()),
        }
    }

    pub(crate) fn set(&self, routines: &Routines) {
        self.copy.store(routines.copy as *mut (), Ordering::Relaxed);
        self.overlapping.store(routines.overlapping as *mut (), Ordering::Relaxed);
        self.zero.store(routines.zero as *mut (), Ordering::Relaxed);
        self.fill.store(routines.fill as *mut (), Ordering::Relaxed);
    }

    #[inline(always)]
    pub(crate) fn copy(&self) -> Option<Copy> {
        // SAFETY: only null and functions of this type are ever stored there.
        unsafe { transmute::<*mut (), Option<Copy>>(self.copy.load(Ordering::Relaxed)) }
    }

    #[inline(always)]
    pub(crate) fn overlapping(&self) -> Option<Copy> {
        // SAFETY: only null and functions of this type are ever stored there.
        unsafe { transmute::<*mut (), Option<Copy>>(self.overlapping.load(Ordering::Relaxed)) }
    }

    #[inline(always)]
    pub(crate) fn zero(&self) -> Option<Zero> {
        // SAFETY: only null and functions of this type are ever stored there.
        unsafe { transmute::<*mut (), Option<Zero>>(self.zero.load(Ordering::Relaxed)) }
    }

    #[inline(always)]
    pub(crate) fn fill(&self) -> Option<Fill> {
        // SAFETY: only null and functions of this type are ever stored there.
        unsafe { transmute::<*mut (), Option<Fill>>(self.fill.load(Ordering::Relaxed)) }
    }
}

/// The page of counters, if calls are counted.
#[inline(always)]
pub(crate) fn record() -> Option<&'static Served> {
    // SAFETY: null, or a page that the constructor mapped for good; it consists of atomic integers.
    unsafe { RECORD.load(Ordering::Relaxed).as_ref() }
}

impl Routines {
    /// The library's own, for a CPU.
    pub(crate) fn of_the_library(features: Features) -> Routines {
        let Kernels { copy, overlapping, zero, fill } = kernels::best(features);
        Routines { copy, overlapping, zero, fill }
    }

    /// Leaves a family to the C library; to plain code where the dynamic linker knows no such function.
    pub(crate) fn leave(&mut self, family: Family) {
        let found = libc_own::find(family);
        match family {
            Family::Copy => {
                let copy = if found { libc_own::copy } else { move_portable };
                (self.copy, self.overlapping) = (copy, copy);
            }
            _ => {
                self.zero = if found { libc_own::zero } else { zero_portable };
                self.fill = if found { libc_own::fill } else { fill_portable };
            }
        }
    }

    /// Puts a variant in the place of the library's routine of its family. Buffers that overlap stay with the latter.
    pub(crate) fn force(&mut self, variant: &Variant) {
        match variant.routine {
            Routine::Copy(copy) => self.copy = kernels::copy_through(copy),
            Routine::Zero(zero) => self.zero = kernels::zero_through(zero),
            Routine::Checksum(_) | Routine::CopyChecksum(_) => {}
        }
    }
}
