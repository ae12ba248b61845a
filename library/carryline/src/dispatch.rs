//! Which kernel runs: picked once per function, the first in an ordered list whose features the CPU has, unless the CPU's
//! [profile](cpu::Profile) names another.
//!
//! Every public function is one relaxed load from a table of pointers and an indirect jump. Each pointer starts at a resolver that looks at the CPU and at the environment, stores its choice and goes on
//! with it. Two threads that race there store the same pointer.
//!
//! With the crate feature `std` two variables of the environment are read, at the first call of each function:
//!
//! - `CARRYLINE_MASK=avx512f,erms` takes CPU features away (see [`cpu`]);
//! - `CARRYLINE_FORCE=avx2` makes every function that has a kernel of this name use it; functions that have
//!   none keep their default, so that `CARRYLINE_FORCE=adc` changes checksums and leaves copies alone.
//!
//! A word that names nothing, or a kernel that cannot run here, is an error, never ignored: the first call
//! panics and, as kernels have the C calling convention, through which nothing unwinds, ends the process.
//! [`check_environment`] says the same as a [`DispatchError`] to programs that call it first.
//!
//! Kernels are `extern "C"` for two reasons: a C wrapper around a call that cannot unwind is a jump and needs no
//! frame, and their types are those of the C ABI and of plug-ins. Their cold paths are too: rustc 1.95 forgets the
//! `#[inline(never)]` of a `#[target_feature]` function where a call of it would have to catch a panic.
//!
//! ```
//! use carryline::dispatch::{self, Function};
//! dispatch::check_environment()?;
//! for choice in dispatch::chosen() {
//!     assert!(dispatch::kernels(choice.function).any(|(name, _)| name == choice.kernel));
//! }
//! assert_eq!(dispatch::kernels(Function::Zero).last().map(|(name, _)| name), Some("portable"));
//! # Ok::<(), dispatch::DispatchError>(())
//! ```

use crate::cpu::{self, Features, Profile};
use crate::intent::Plan;
use crate::word::Word;
use crate::{checksum, copy, zero};
use core::fmt;
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

/// One implementation of a function, with all that a caller must know to use it directly.
#[derive(Clone, Copy, Debug)]
pub struct Kernel<F> {
    /// The name in `CARRYLINE_FORCE` and in listings; unique in its list.
    pub name: &'static str,
    /// CPU features without which calling it is undefined behaviour.
    pub needs: Features,
    /// The code. Its safety contract is that of the public `_raw` function, and that the CPU has `needs`.
    pub function: F,
}

/// The code of a zero kernel: one entry for each way to ask.
#[derive(Clone, Copy, Debug)]
pub struct ZeroCode {
    /// [`zero::fill_raw`]; the length decides what goes around the caches.
    pub zero: ZeroFn,
    /// [`zero::fill_raw_with`] for a caller who reads the bytes at once.
    pub read_here: ZeroFn,
    /// [`zero::fill_raw_with`], the intent turned into a plan.
    pub planned: PlannedZeroFn,
    /// [`zero::fill_raw_unfenced`]: as `planned`, and stores around the caches are not fenced.
    pub unfenced: PlannedZeroFn,
    /// [`zero::if_dirty`].
    pub if_dirty: ZeroIfDirtyFn,
}

/// The code of a copy kernel: one entry for each way to ask.
#[derive(Clone, Copy, Debug)]
pub struct CopyCode {
    /// [`copy::copy_raw`]; the length decides what goes around the caches.
    pub copy: CopyFn,
    /// [`copy::copy_raw_with`] for a caller who reads the bytes at once.
    pub read_here: CopyFn,
    /// [`copy::copy_raw_with`], the intent turned into a plan.
    pub planned: PlannedCopyFn,
    /// [`copy::copy_raw_unfenced`]: as `planned`, and stores around the caches are not fenced.
    pub unfenced: PlannedCopyFn,
    /// [`copy::overlapping_raw`]: the buffers may overlap.
    pub overlapping: CopyFn,
}

/// The functions that are dispatched.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Function {
    /// All of [`mod@zero`], whose kernels are [`zero::KERNELS`].
    Zero,
    /// All of [`mod@copy`], overlapping copies included, whose kernels are [`copy::KERNELS`].
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
///
/// # Panics
/// When the environment asks for what is not there; see [`check_environment`].
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

/// Says whether the first call will find what `CARRYLINE_MASK` and `CARRYLINE_FORCE` ask for. A program that
/// calls this first can end with a message and a status of its own; one that does not aborts with the same words.
///
/// # Errors
/// A mask that names an unknown feature, a kernel name that no function has, or a kernel that this CPU, as
/// masked, cannot run.
pub fn check_environment() -> Result<(), DispatchError> {
    cpu::mask_from_environment().map_err(|error| DispatchError(Fault::Mask(error)))?;
    with_force_from_environment(|force| check_force(force?, cpu::features()))
}

/// The environment asks for a kernel or a mask that is not there. The message names the word and the valid ones.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DispatchError(Fault);

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Fault {
    Mask(cpu::UnknownFeature),
    Unknown { word: Word, usable: Features },
    Missing { function: Function, kernel: &'static str, missing: Features, usable: Features },
}

impl fmt::Display for DispatchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let usable = match &self.0 {
            Fault::Mask(error) => return error.fmt(f),
            Fault::Unknown { word, usable } => {
                write!(f, "CARRYLINE_FORCE={word} names no kernel")?;
                usable
            }
            Fault::Missing { function, kernel, missing, usable } => {
                write!(f, "CARRYLINE_FORCE={kernel}: the {} kernel needs", function.name())?;
                missing.names().try_for_each(|name| write!(f, " {name}"))?;
                f.write_str(", which this CPU lacks or CARRYLINE_MASK takes away")?;
                usable
            }
        };
        f.write_str("; usable here are")?;
        distinct_names()
            .filter(|name| check_force(Some(name), *usable).is_ok())
            .try_for_each(|name| write!(f, " {name}"))
    }
}

impl core::error::Error for DispatchError {}

/// Every kernel of every function, as (function, name, needs).
fn all_kernels() -> impl Iterator<Item = (Function, &'static str, Features)> {
    Function::ALL
        .into_iter()
        .flat_map(|function| kernels(function).map(move |(name, needs)| (function, name, needs)))
}

/// Every kernel name once, in the order of first appearance.
fn distinct_names() -> impl Iterator<Item = &'static str> {
    all_kernels().enumerate().filter_map(|(index, (_, name, _))| {
        all_kernels().take(index).all(|(_, earlier, _)| earlier != name).then_some(name)
    })
}

/// Whether `force` names a kernel, and every kernel of this name can run with `features`.
pub(crate) fn check_force(force: Option<&str>, features: Features) -> Result<(), DispatchError> {
    let Some(word) = force else { return Ok(()) };
    let mut named = all_kernels().filter(|(_, name, _)| *name == word).peekable();
    if named.peek().is_none() {
        return Err(DispatchError(Fault::Unknown { word: Word::new(word), usable: features }));
    }
    match named.find(|(_, _, needs)| !features.contains(*needs)) {
        Some((function, kernel, needs)) => Err(DispatchError(Fault::Missing {
            function,
            kernel,
            missing: needs.without(features),
            usable: features,
        })),
        None => Ok(()),
    }
}

/// The index of the kernel to use: the one named, if the list has it, or the [`best`].
pub(crate) fn select<F>(
    list: &[Kernel<F>],
    features: Features,
    force: Option<&str>,
    profile: &Profile,
) -> usize {
    let named = |name: Option<&str>| name.and_then(|name| list.iter().position(|kernel| kernel.name == name));
    let preferred = named(profile.kernel).filter(|index| features.contains(list[*index].needs));
    let first = || list.iter().position(|kernel| features.contains(kernel.needs));
    named(force).or(preferred).or_else(first).unwrap_or(list.len() - 1)
}

/// The kernel of a list that this CPU is best off with, whatever the environment says: the one that its
/// [profile](cpu::Profile) names, else the first that needs no more than `features`. The last kernel of every list needs
/// nothing.
///
/// ```
/// use carryline::{copy, cpu, dispatch};
/// let kernel = dispatch::best(copy::KERNELS, cpu::features());
/// assert!(cpu::features().contains(kernel.needs));
/// assert_eq!(dispatch::best(copy::KERNELS, cpu::Features::NONE).name, "portable");
/// ```
#[must_use]
pub fn best<F>(list: &'static [Kernel<F>], features: Features) -> &'static Kernel<F> {
    &list[select(list, features, None, cpu::profile())]
}

/// Calls `then` with what `CARRYLINE_FORCE` says; not set, empty, or built without `std` is `None`.
fn with_force_from_environment<T>(then: impl FnOnce(Result<Option<&str>, DispatchError>) -> T) -> T {
    #[cfg(feature = "std")]
    if let Some(value) = std::env::var_os("CARRYLINE_FORCE") {
        let Some(text) = value.to_str() else {
            let word = Word::new(&value.to_string_lossy());
            return then(Err(DispatchError(Fault::Unknown { word, usable: cpu::features() })));
        };
        let text = text.trim();
        return then(Ok((!text.is_empty()).then_some(text)));
    }
    then(Ok(None))
}

/// Indices into the lists, plus one; zero where the choice has not been made.
static CHOSEN: [AtomicU8; 4] = [const { AtomicU8::new(0) }; 4];

/// Makes the choice for one function, once, and remembers it.
fn resolve<F>(function: Function, list: &'static [Kernel<F>]) -> &'static Kernel<F> {
    let remembered = &CHOSEN[function as usize];
    let known = usize::from(remembered.load(Ordering::Relaxed));
    if known != 0 {
        return &list[known - 1];
    }
    let features = cpu::features();
    let index = with_force_from_environment(|force| {
        force.and_then(|force| {
            check_force(force, features).map(|()| select(list, features, force, cpu::profile()))
        })
    });
    match index {
        Ok(index) => {
            remembered.store(index as u8 + 1, Ordering::Relaxed);
            &list[index]
        }
        Err(error) => panic!("{error}"),
    }
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

        /// The resolvers: they store the chosen kernel into the table and go on with it.
        mod first {
            use super::*;
            $(
                #[cold]
                pub(super) unsafe extern "C" fn $field($($argument: $of),*) $(-> $result)? {
                    let kernel: $type = resolve(Function::$function, $list).function$(.$part)?;
                    TABLE.$field.store(kernel as *mut (), Ordering::Relaxed);
                    // SAFETY: the caller's obligation is the kernel's, and the kernel was picked for this CPU.
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
