//! Which kernel runs: picked once per function, the first in an ordered list whose features the CPU has, unless the
//! profile in force ([`tuning`]) prefers another.
//!
//! Every public function is one relaxed load from a table of pointers and an indirect jump. Each pointer starts at a
//! resolver that looks at the CPU, with the crate feature `environment` at the environment too (see
//! [`environment`](crate::environment)), stores its choice and goes on with it. Two threads that race there store the same
//! pointer. Where another profile is loaded, the choices are made again and stored ([`choose_again`]); a resolver that
//! still runs leaves these alone.
//!
//! Kernels are `extern "C"` for two reasons: a C wrapper around a call that cannot unwind is a jump and needs no
//! frame, and their types are those of the C ABI and of plug-ins. Their cold paths are too: rustc 1.95 forgets the
//! `#[inline(never)]` of a `#[target_feature]` function where a call of it would have to catch a panic.
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
/// `zero_if_dirty(dst, len)`: how many bytes were written.
pub type ZeroIfDirtyFn = unsafe extern "C" fn(dst: *mut u8, len: usize) -> usize;
/// `partial(data, len, seed)`.
pub type ChecksumFn = unsafe extern "C" fn(data: *const u8, len: usize, seed: u32) -> u32;
/// `copy_and_sum(dst, src, len, seed)`.
pub type CopyAndSumFn = unsafe extern "C" fn(dst: *mut u8, src: *const u8, len: usize, seed: u32) -> u32;

/// One implementation of a function, with everything a caller must know to use it directly.
#[derive(Clone, Copy, Debug)]
pub struct Kernel<F> {
    /// The name in `CARRYLINE_FORCE` and in listings; unique in its list.
    pub name: &'static str,
    /// CPU features without which calling it is undefined behaviour.
    pub needs: Features,
    /// The code. Its safety contract is that of the public `_raw` function, and that the CPU has `needs`.
    pub function: F,
}

/// The code of a zero kernel: one entry point for each kind of call.
#[derive(Clone, Copy, Debug)]
pub struct ZeroCode {
    /// [`zero::fill_raw`](crate::zero::fill_raw); the length decides which stores are non-temporal.
    pub zero: ZeroFn,
    /// [`zero::fill_raw_with`](crate::zero::fill_raw_with) for a caller who reads the bytes immediately.
    pub read_here: ZeroFn,
    /// [`zero::fill_raw_with`](crate::zero::fill_raw_with), with the intent resolved to a plan.
    pub planned: PlannedZeroFn,
    /// [`zero::fill_raw_unfenced`](crate::zero::fill_raw_unfenced): as `planned`, without a fence after non-temporal
    /// stores.
    pub unfenced: PlannedZeroFn,
    /// [`zero::if_dirty`](crate::zero::if_dirty).
    pub if_dirty: ZeroIfDirtyFn,
}

/// The code of a copy kernel: one entry point for each kind of call.
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

/// The functions that are dispatched.
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
    /// All of them, in the order of listings.
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

/// Which kernel a function uses in this process.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Choice {
    /// The function.
    pub function: Function,
    /// The name of its kernel.
    pub kernel: &'static str,
}

/// The names and needs of a function's kernels, in the order of its list. The lists themselves, with the code,
/// are [`zero::KERNELS`], [`copy::KERNELS`], [`checksum::KERNELS`] and [`checksum::COPY_AND_SUM_KERNELS`].
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

/// The index of the kernel to use: the one forced, if the list has it, or the one preferred, if the list has it and
/// `features` suffice, or the first that needs no more than these.
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

/// The kernel of a function's list that this CPU is best off with, whatever `CARRYLINE_FORCE` says: the one that the
/// profile in force prefers, else the first that needs no more than `features`. The last kernel of every list needs
/// nothing.
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

/// Indices into the lists, plus one; zero where the choice has not been made.
static CHOSEN: [AtomicU8; 4] = [const { AtomicU8::new(0) }; 4];

/// Makes the choice for one function, unless it has been made, and remembers it.
fn resolve<F>(function: Function, list: &'static [Kernel<F>]) -> &'static Kernel<F> {
    let remembered = &CHOSEN[function as usize];
    let mut known = remembered.load(Ordering::Relaxed);
    if known == 0 {
        let picked = pick(function, list, cpu::features()) as u8 + 1;
        // Another thread's choice counts: it may go by a profile that was loaded meanwhile.
        known = match remembered.compare_exchange(0, picked, Ordering::Relaxed, Ordering::Relaxed) {
            Ok(_) => picked,
            Err(other) => other,
        };
    }
    &list[usize::from(known) - 1]
}

/// Makes the choice for one function, whether it has been made or not.
fn resolve_again<F>(function: Function, list: &'static [Kernel<F>]) -> &'static Kernel<F> {
    let index = pick(function, list, cpu::features());
    CHOSEN[function as usize].store(index as u8 + 1, Ordering::Relaxed);
    &list[index]
}

/// The index of the kernel to use, as the environment has it.
#[cfg(feature = "environment")]
fn pick<F>(function: Function, list: &[Kernel<F>], features: Features) -> usize {
    let preferred = tuning::preferred(function);
    let forced = environment::with_force(|force| {
        let force = force?;
        environment::check_force(force, features).map(|()| select(list, features, force, preferred))
    });
    forced.unwrap_or_else(|error| {
        static SAID: core::sync::atomic::AtomicBool = core::sync::atomic::AtomicBool::new(false);
        environment::ignore(&SAID, &error);
        select(list, features, None, preferred)
    })
}

/// The index of the kernel to use.
#[cfg(not(feature = "environment"))]
fn pick<F>(function: Function, list: &[Kernel<F>], features: Features) -> usize {
    select(list, features, None, tuning::preferred(function))
}

/// Makes the table of pointers, and for each the resolver that it starts with. A line is the pointer's name, the
/// arguments and result, the type, the function whose list is asked, the list, and the part of a kernel's code.
macro_rules! table {
    ($($field:ident($($argument:ident: $of:ty),*) $(-> $result:ty)?:
        $type:ident = $function:ident, $list:path $(, $part:ident)?;)*) => {
        /// The pointers behind the public functions, on cache lines of their own so that no neighbour's writes
        /// evict them; those that are called for small sizes come first and share a line.
        #[repr(align(64))]
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

        /// Makes every choice again, by the profile that is in force now, and stores the kernels into the table.
        pub(crate) fn choose_again() {
            $(
                let kernel: $type = resolve_again(Function::$function, $list).function$(.$part)?;
                TABLE.$field.store(kernel as *mut (), Ordering::Release);
            )*
        }

        /// The resolvers: they store the chosen kernel into the table and go on with it.
        mod first {
            use super::*;
            $(
                /// # Safety
                /// What the public function asks of its caller.
                #[cold]
                pub(super) unsafe extern "C" fn $field($($argument: $of),*) $(-> $result)? {
                    // What is there now is the resolver, or what another thread has put there; in whose place that of a
                    // later `choose_again` must not be taken.
                    let before = TABLE.$field.load(Ordering::Acquire);
                    let kernel: $type = resolve(Function::$function, $list).function$(.$part)?;
                    let _ = TABLE.$field.compare_exchange(
                        before, kernel as *mut (), Ordering::Relaxed, Ordering::Relaxed,
                    );
                    // SAFETY: what every kernel of the list asks of its caller, by contract; this one was picked for the CPU.
                    unsafe { kernel($($argument),*) }
                }
            )*
        }
    };
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
