//! The code that a call of a variant reaches once the compiler and the dynamic linker have done their part.
//!
//! A variant's [`routine`](crate::Variant::routine) is a function of this crate. For most variants that is
//! the code itself. If it only forwards its arguments to a function found at run time, a program's own call
//! has no such step: a call of `carryline::zero::fill` is compiled to a call through the library's table, and
//! one of `memcpy` to a call through the dynamic linker's. A timed loop that calls through a pointer already
//! *is* that call. If the pointer led to a jump, every call would be timed with one jump more than the
//! program makes, which is a quarter of the cost of the smallest calls.

use crate::{Family, Routine, Variant};
use carryline::internals::dispatch::{self, Function, Kernel};
use core::ffi::{c_int, c_void};

/// `memset`.
pub type SetFn = unsafe extern "C" fn(*mut c_void, c_int, usize) -> *mut c_void;
/// `memcpy` and `memmove`.
pub type MoveFn = unsafe extern "C" fn(*mut c_void, *const c_void, usize) -> *mut c_void;

/// The function that a timed loop calls. Its arguments and effect are those of the variant's routine.
#[derive(Clone, Copy, Debug)]
pub enum Landing {
    /// A routine of the family's own signature.
    Routine(Routine),
    /// A routine of the zero family with the C library's signature, called with a byte of 0.
    Set(SetFn),
    /// A routine of the copy family with the C library's signature.
    Move(MoveFn),
}

impl Landing {
    /// The family of the routine.
    #[must_use]
    pub const fn family(&self) -> Family {
        match self {
            Landing::Routine(routine) => routine.family(),
            Landing::Set(_) => Family::Zero,
            Landing::Move(_) => Family::Copy,
        }
    }

    /// The address of its code.
    #[must_use]
    pub fn address(&self) -> usize {
        match self {
            Landing::Routine(routine) => routine.address(),
            Landing::Set(routine) => *routine as usize,
            Landing::Move(routine) => *routine as usize,
        }
    }
}

impl From<Routine> for Landing {
    fn from(routine: Routine) -> Landing {
        Landing::Routine(routine)
    }
}

impl Variant {
    /// The code that a program's call reaches; see [the module](self).
    ///
    /// ```
    /// use carryline_variants::landing::Landing;
    /// use carryline_variants::{Family, find};
    /// let landing = find(Family::Copy, "libc_memcpy").map(|variant| variant.landing());
    /// assert!(matches!(landing, Some(Landing::Move(_))));
    /// ```
    #[must_use]
    pub fn landing(&self) -> Landing {
        self.lands.map_or(Landing::Routine(self.routine), |landing| landing())
    }
}

/// The kernel of a list that the library uses for a function in this process.
pub(crate) fn kernel<F: Copy>(function: Function, list: &[Kernel<F>]) -> Option<F> {
    let chosen = dispatch::chosen().into_iter().find(|choice| choice.function == function)?;
    list.iter().find(|kernel| kernel.name == chosen.kernel).map(|kernel| kernel.function)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::all;

    #[test]
    fn calls_land_in_the_librarys_kernels_or_the_c_librarys_functions() {
        let mut landed = 0;
        for variant in all() {
            match variant.landing() {
                Landing::Routine(landing) if variant.name.starts_with("carryline") => {
                    assert_eq!(landing.family(), variant.family());
                    landed += usize::from(landing.address() != variant.routine.address());
                }
                Landing::Routine(landing) => {
                    assert_eq!(landing.address(), variant.routine.address(), "{}", variant.name);
                }
                Landing::Set(_) | Landing::Move(_) => landed += 1,
            }
        }
        assert_eq!(landed, all().filter(|variant| variant.lands.is_some()).count());
    }
}
