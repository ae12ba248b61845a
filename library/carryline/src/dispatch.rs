//! Kernel dispatch. Each function selects its kernel once: the first in an ordered list whose features the
//! CPU has, unless the active profile ([`tuning`]) prefers another.
//!
//! Every public function is one relaxed load from a table of pointers and an indirect jump. Each pointer
//! initially points to a resolver. It examines the CPU and, with the crate feature `environment`, the
//! environment (see [`environment`](crate::environment)), stores its choice, and calls it. If two threads
//! race here, both store the same pointer. When another profile is loaded, all choices are made and stored
//! again ([`choose_again`]); a resolver that is still running does not overwrite them.
//!
//! Kernels are `extern "C"` for two reasons: a C wrapper around a call that cannot unwind compiles to a jump
//! without a frame, and their types are those of the C ABI and of plug-ins. Their cold paths are `extern "C"`
//! too: rustc 1.95 ignores `#[inline(never)]` on a `#[target_feature]` function if a call of it would have to
//! catch a panic.
//!
//! ```
//! use carryline::internals::dispatch::{self, Function};
//! for choice in dispatch::chosen() {
//!     assert!(dispatch::kernels(choice.function).any(|(name, _)| name == choice.kernel));
//! }
//! assert_eq!(dispatch::kernels(Function::Zero).last().map(|(name, _)| name), Some("portable"));
//! ```

use crate::checksum::kernels as checksum;
use crate::copy::kernels as copy;
use crate::cpu::{self, Features};
#[cfg(feature = "environment")]
use crate::environment;
use crate::intent::Plan;
use crate::tuning;
use crate::zero::kernels as zero;
use core::sync::atomic::{AtomicPtr, AtomicU8, Ordering};

/// `zero(dst, len)`.
pub type ZeroFn = unsafe extern "C" fn(dst: *mut u8, len: usize);
/// `copy(dst, src, len)`.
pub type CopyFn = unsafe extern "C" fn(dst: *mut u8, src: *const u8, len: usize);
/// `zero(dst, len, plan)`.
pub type PlannedZeroFn = unsafe extern "C" fn(dst: *mut u8, len: usize, plan: Plan);
/// `copy(dst, src, len, plan)`.
pub type PlannedCopyFn = unsafe extern "C" fn(dst: *mut u8, src: *const u8, len: usize, plan: Plan);
/// `zero_if_dirty(dst, len)`: returns the number of bytes written.
pub type ZeroIfDirtyFn = unsafe extern "C" fn(dst: *mut u8, len: usize) -> usize;
/// `partial(data, len, seed)`.
pub type ChecksumFn = unsafe extern "C" fn(data: *const u8, len: usize, seed: u32) -> u32;
/// `copy_and_sum(dst, src, len, seed)`.
pub type CopyAndSumFn = unsafe extern "C" fn(dst: *mut u8, src: *const u8, len: usize, seed: u32) -> u32;

/// One implementation of a function, with everything that is needed to call it directly.
#[derive(Clone, Copy, Debug)]
pub struct Kernel<F> {
    /// The name in `CARRYLINE_FORCE` and in listings, unique in its list.
    pub name: &'static str,
    /// The CPU features without which a call is undefined behaviour.
    pub needs: Features,
    /// The code. Its safety contract is that of the public `_raw` function, and the CPU must have `needs`.
    pub function: F,
}

/// The code of a zero kernel, with one entry point for each kind of call.
#[derive(Clone, Copy, Debug)]
pub struct ZeroCode {
    /// [`zero::fill_raw`](crate::zero::fill_raw); the length decides which stores are non-temporal.
    pub zero: ZeroFn,
    /// [`zero::fill_raw_with`](crate::zero::fill_raw_with) for a caller who reads the bytes immediately.
    pub read_here: ZeroFn,
    /// [`zero::fill_raw_with`](crate::zero::fill_raw_with), with the intent resolved to a plan.
    pub planned: PlannedZeroFn,
    /// [`zero::fill_raw_unfenced`](crate::zero::fill_raw_unfenced): as `planned`, without a fence after
    /// non-temporal stores.
    pub unfenced: PlannedZeroFn,
    /// [`zero::if_dirty`](crate::zero::if_dirty).
    pub if_dirty: ZeroIfDirtyFn,
}

/// The code of a copy kernel, with one entry point for each kind of call.
#[derive(Clone, Copy, Debug)]
pub struct CopyCode {
    /// [`copy::bytes_raw`](crate::copy::bytes_raw); the length decides which stores are non-temporal.
    pub copy: CopyFn,
    /// [`copy::bytes_raw_with`](crate::copy::bytes_raw_with) for a caller who reads the bytes immediately.
    pub read_here: CopyFn,
    /// [`copy::bytes_raw_with`](crate::copy::bytes_raw_with), with the intent resolved to a plan.
    pub planned: PlannedCopyFn,
    /// [`copy::bytes_raw_unfenced`](crate::copy::bytes_raw_unfenced): as `planned`, without a fence after
    /// non-temporal stores.
    pub unfenced: PlannedCopyFn,
    /// [`copy::within_raw`](crate::copy::within_raw): the buffers may overlap.
    pub overlapping: CopyFn,
}

/// The dispatched functions.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Function {
    /// All of [`crate::zero`], whose kernels are [`zero::KERNELS`].
    Zero,
    /// All of [`crate::copy`], overlapping copies included, whose kernels are [`copy::KERNELS`].
    Copy,
    /// [`partial_raw`](crate::checksum::partial_raw), whose kernels are [`checksum::KERNELS`].
    Checksum,
    /// [`copy_and_sum_raw`](crate::checksum::copy_and_sum_raw), whose kernels are
    /// [`checksum::COPY_AND_SUM_KERNELS`].
    CopyAndSum,
}

impl Function {
    /// All functions, in the order of listings.
    pub const ALL: [Function; 4] = [Function::Zero, Function::Copy, Function::Checksum, Function::CopyAndSum];

    /// The name in messages and listings.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Function::Zero => "zero",
            Function::Copy => "copy",
            Function::Checksum => "checksum",
            Function::CopyAndSum => "copy_and_sum",
        }
    }
}

/// The kernel that a function uses in this process.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Choice {
    /// The function.
    pub function: Function,
    /// The name of its kernel.
    pub kernel: &'static str,
}

/// The names and needs of a function's kernels, in the order of its list. The lists themselves, with the
/// code, are [`zero::KERNELS`], [`copy::KERNELS`], [`checksum::KERNELS`] and
/// [`checksum::COPY_AND_SUM_KERNELS`].
pub fn kernels(function: Function) -> impl Iterator<Item = (&'static str, Features)> {
    fn nth<F>(list: &'static [Kernel<F>], index: usize) -> Option<(&'static str, Features)> {
        list.get(index).map(|kernel| (kernel.name, kernel.needs))
    }
    (0..).map_while(move |index| match function {
        Function::Zero => nth(zero::KERNELS, index),
        Function::Copy => nth(copy::KERNELS, index),
        Function::Checksum => nth(checksum::KERNELS, index),
        Function::CopyAndSum => nth(checksum::COPY_AND_SUM_KERNELS, index),
    })
}

/// The kernel that each function uses, in the order of [`Function::ALL`].
#[must_use]
pub fn chosen() -> [Choice; 4] {
    let name = |function| match function {
        Function::Zero => resolve(function, zero::KERNELS).name,
        Function::Copy => resolve(function, copy::KERNELS).name,
        Function::Checksum => resolve(function, checksum::KERNELS).name,
        Function::CopyAndSum => resolve(function, checksum::COPY_AND_SUM_KERNELS).name,
    };
    Function::ALL.map(|function| Choice { function, kernel: name(function) })
}

/// The index of the kernel to use: the forced one if the list has it, otherwise the preferred one if the list
/// has it and `features` suffice, otherwise the first that `features` suffice for.
pub(crate) fn select<F>(
    list: &[Kernel<F>],
    features: Features,
    force: Option<&str>,
    preferred: Option<&str>,
) -> usize {
    let named = |name: Option<&str>| name.and_then(|name| list.iter().position(|kernel| kernel.name == name));
    let preferred = named(preferred).filter(|index| features.contains(list[*index].needs));
    let first = || list.iter().position(|kernel| features.contains(kernel.needs));
    named(force).or(preferred).or_else(first).unwrap_or(list.len() - 1)
}

/// The best kernel of a function's list for this CPU, ignoring `CARRYLINE_FORCE`: the one that the active
/// profile prefers, otherwise the first that `features` suffice for. The last kernel of every list needs no
/// features.
///
/// ```
/// use carryline::internals::{cpu, dispatch, kernels};
/// let kernel = dispatch::best(dispatch::Function::Copy, kernels::COPY, cpu::features());
/// assert!(cpu::features().contains(kernel.needs));
/// let weakest = dispatch::best(dispatch::Function::Copy, kernels::COPY, cpu::Features::NONE);
/// assert_eq!(weakest.name, "portable");
/// ```
#[must_use]
pub fn best<F>(function: Function, list: &'static [Kernel<F>], features: Features) -> &'static Kernel<F> {
    &list[select(list, features, None, tuning::preferred(function))]
}

/// Indices into the lists, plus one; zero before the choice has been made.
static CHOSEN: [AtomicU8; 4] = [const { AtomicU8::new(0) }; 4];

/// Chooses a function's kernel, unless that has been done, and stores the choice.
fn resolve<F>(function: Function, list: &'static [Kernel<F>]) -> &'static Kernel<F> {
    let stored = &CHOSEN[function as usize];
    let mut known = stored.load(Ordering::Relaxed);
    if known == 0 {
        let picked = pick(function, list, cpu::features()) as u8 + 1;
        // Another thread's choice has priority: it may follow a profile that was loaded meanwhile.
        known = match stored.compare_exchange(0, picked, Ordering::Relaxed, Ordering::Relaxed) {
            Ok(_) => picked,
            Err(other) => other,
        };
    }
    &list[usize::from(known) - 1]
}

/// Chooses a function's kernel again.
fn resolve_again<F>(function: Function, list: &'static [Kernel<F>]) -> &'static Kernel<F> {
    let index = pick(function, list, cpu::features());
    CHOSEN[function as usize].store(index as u8 + 1, Ordering::Relaxed);
    &list[index]
}

/// The index of the kernel to use, taking the environment into account.
#[cfg(feature = "environment")]
fn pick<F>(function: Function, list: &[Kernel<F>], features: Features) -> usize {
    let preferred = tuning::preferred(function);
    let forced = environment::with_force(|force| {
        let force = force?;
        environment::check_force(force, features).map(|()| select(list, features, force, preferred))
    });
    forced.unwrap_or_else(|error| {
        static REPORTED: core::sync::atomic::AtomicBool = core::sync::atomic::AtomicBool::new(false);
        environment::ignore(&REPORTED, &error);
        select(list, features, None, preferred)
    })
}

/// The index of the kernel to use.
#[cfg(not(feature = "environment"))]
fn pick<F>(function: Function, list: &[Kernel<F>], features: Features) -> usize {
    select(list, features, None, tuning::preferred(function))
}

/// Defines the table of pointers and their initial resolvers. Each line has the pointer's name, the arguments
/// and result, the type, the function whose list is used, the list, and the field of the kernel's code.
macro_rules! table {
    ($($field:ident($($argument:ident: $of:ty),*) $(-> $result:ty)?:
        $type:ident = $function:ident, $list:path $(, $part:ident)?;)*) => {
        /// The pointers behind the public functions, on cache lines of their own, so that writes to
        /// neighbouring data do not evict them. Those called for small sizes come first and share a line; see
        /// [`routines`].
        #[repr(C, align(64))]
        pub(crate) struct Table {
            $($field: AtomicPtr<()>,)*
        }

        pub(crate) static TABLE: Table =
            Table { $($field: AtomicPtr::new(first::$field as $type as *mut ()),)* };

        impl Table {
            $(
                /// The kernel in use, or the resolver.
                #[inline(always)]
                pub(crate) fn $field(&self) -> $type {
                    let pointer = self.$field.load(Ordering::Relaxed);
                    // SAFETY: only the resolver and kernels of this very type are ever stored in this field.
                    unsafe { core::mem::transmute::<*mut (), $type>(pointer) }
                }
            )*
        }

        /// Makes every choice again, for the active profile, and stores the kernels in the table.
        pub(crate) fn choose_again() {
            $(
                let kernel: $type = resolve_again(Function::$function, $list).function$(.$part)?;
                TABLE.$field.store(kernel as *mut (), Ordering::Release);
            )*
        }

        /// The resolvers: each stores the chosen kernel in the table and calls it.
        mod first {
            use super::*;
            $(
                /// # Safety
                /// The requirements of the public function.
                #[cold]
                pub(super) unsafe extern "C" fn $field($($argument: $of),*) $(-> $result)? {
                    // The current value is the resolver or another thread's kernel. The exchange fails if a
                    // concurrent `choose_again` has replaced it.
                    let before = TABLE.$field.load(Ordering::Acquire);
                    let kernel: $type = resolve(Function::$function, $list).function$(.$part)?;
                    let _ = TABLE.$field.compare_exchange(
                        before, kernel as *mut (), Ordering::Relaxed, Ordering::Relaxed,
                    );
                    // SAFETY: the caller meets the requirements of every kernel in the list; this one was
                    // chosen for this CPU.
                    unsafe { kernel($($argument),*) }
                }
            )*
        }
    };
}

/// The pointers to the routines that take no intent, for callers in other languages: of the types of this struct's
/// fields, in their order.
///
/// Each is always a routine that may be called; any may be replaced at any time by one atomic store, when another
/// profile is loaded. They are valid for the life of the process.
#[repr(C)]
#[derive(Debug)]
pub struct Routines {
    /// [`zero::fill_raw`](crate::zero::fill_raw).
    pub zero: ZeroFn,
    /// [`copy::bytes_raw`](crate::copy::bytes_raw).
    pub copy: CopyFn,
    /// [`copy::within_raw`](crate::copy::within_raw).
    pub overlapping: CopyFn,
    /// [`checksum::partial_raw`](crate::checksum::partial_raw).
    pub checksum: ChecksumFn,
    /// [`checksum::copy_and_sum_raw`](crate::checksum::copy_and_sum_raw).
    pub copy_and_sum: CopyAndSumFn,
}

const _: () = {
    use core::mem::offset_of;
    assert!(offset_of!(Table, zero) == offset_of!(Routines, zero));
    assert!(offset_of!(Table, copy) == offset_of!(Routines, copy));
    assert!(offset_of!(Table, overlapping) == offset_of!(Routines, overlapping));
    assert!(offset_of!(Table, checksum) == offset_of!(Routines, checksum));
    assert!(offset_of!(Table, copy_and_sum) == offset_of!(Routines, copy_and_sum));
};

/// The [`Routines`] in force. A pointer, not a reference: its fields must be read atomically.
///
/// ```
/// use carryline::internals::dispatch::routines;
/// let zero = unsafe { (&raw const (*routines()).zero).read_volatile() };
/// let mut bytes = [1_u8; 3];
/// unsafe { zero(bytes.as_mut_ptr(), 2) };
/// assert_eq!(bytes, [0, 0, 1]);
/// ```
#[must_use]
pub fn routines() -> *const Routines {
    (&raw const TABLE).cast()
}

table! {
    zero(dst: *mut u8, len: usize): ZeroFn = Zero, zero::KERNELS, zero;
    copy(dst: *mut u8, src: *const u8, len: usize): CopyFn = Copy, copy::KERNELS, copy;
    overlapping(dst: *mut u8, src: *const u8, len: usize): CopyFn = Copy, copy::KERNELS, overlapping;
    checksum(data: *const u8, len: usize, seed: u32) -> u32: ChecksumFn = Checksum, checksum::KERNELS;
    copy_and_sum(dst: *mut u8, src: *const u8, len: usize, seed: u32) -> u32:
        CopyAndSumFn = CopyAndSum, checksum::COPY_AND_SUM_KERNELS;
    zero_read_here(dst: *mut u8, len: usize): ZeroFn = Zero, zero::KERNELS, read_here;
    copy_read_here(dst: *mut u8, src: *const u8, len: usize): CopyFn = Copy, copy::KERNELS, read_here;
    zero_planned(dst: *mut u8, len: usize, plan: Plan): PlannedZeroFn = Zero, zero::KERNELS, planned;
    copy_planned(dst: *mut u8, src: *const u8, len: usize, plan: Plan):
        PlannedCopyFn = Copy, copy::KERNELS, planned;
    zero_if_dirty(dst: *mut u8, len: usize) -> usize: ZeroIfDirtyFn = Zero, zero::KERNELS, if_dirty;
    zero_unfenced(dst: *mut u8, len: usize, plan: Plan): PlannedZeroFn = Zero, zero::KERNELS, unfenced;
    copy_unfenced(dst: *mut u8, src: *const u8, len: usize, plan: Plan):
        PlannedCopyFn = Copy, copy::KERNELS, unfenced;
}
