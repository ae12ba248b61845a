//! The collection: every way ever worth comparing to zero, copy and checksum memory.
//!
//! A variant is one file with one `static VARIANT`, which says all that is special about it, and its name in its family's
//! list. What it promises is its family's contract, written at the top of the family's module; verification, the measurement, the listings and
//! the tests all iterate the lists.
#![cfg_attr(not(any(feature = "std", test)), no_std)]

use c_library::CLibrary;
use carryline::internals::cpu::Features;
use core::fmt;
use landing::Landing;

/// The variants of a family, a name each, in the order of listings: their modules, and the list `VARIANTS`.
macro_rules! family {
    ($($(#[$attribute:meta])* $name:ident;)*) => {
        $($(#[$attribute])* pub mod $name;)*

        /// The family's variants.
        pub static VARIANTS: &[&crate::Variant] = &[$($(#[$attribute])* &$name::VARIANT,)*];
    };
}

pub mod c_library;
#[cfg(target_arch = "x86_64")]
mod chain32;
pub mod checksum;
pub mod copy;
pub mod copy_checksum;
mod edges;
pub mod landing;
pub mod null;
mod ones_complement;
#[cfg(feature = "peers")]
pub mod peer;
#[cfg(test)]
mod tests;
#[cfg(target_arch = "x86_64")]
mod unrolled;
pub mod zero;

/// What users of the peers do: its examples are tested where the peers are there.
#[cfg(all(doctest, feature = "peers"))]
#[doc = include_str!("../../../docs/adopting.md")]
struct Adopting;

/// `void zero(void *dst, size_t len)`.
pub type ZeroFn = unsafe extern "C" fn(dst: *mut u8, len: usize);
/// `void copy(void *dst, const void *src, size_t len)`.
pub type CopyFn = unsafe extern "C" fn(dst: *mut u8, src: *const u8, len: usize);
/// `uint32_t sum(const void *data, size_t len, uint32_t seed)`, the Linux form.
pub type ChecksumFn = unsafe extern "C" fn(data: *const u8, len: usize, seed: u32) -> u32;
/// `uint32_t copy_and_sum(void *dst, const void *src, size_t len, uint32_t seed)`.
pub type CopyChecksumFn = unsafe extern "C" fn(dst: *mut u8, src: *const u8, len: usize, seed: u32) -> u32;

/// The four jobs.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
pub enum Family {
    /// Fill with zero bytes.
    Zero,
    /// Copy between buffers that do not overlap.
    Copy,
    /// Internet checksum (RFC 1071).
    Checksum,
    /// Copy and checksum in one call.
    CopyChecksum,
}

impl Family {
    /// All families, in the order of listings.
    pub const ALL: [Family; 4] = [Family::Zero, Family::Copy, Family::Checksum, Family::CopyChecksum];

    /// The name on the command line and in stored results.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Family::Zero => "zero",
            Family::Copy => "copy",
            Family::Checksum => "checksum",
            Family::CopyChecksum => "copy_checksum",
        }
    }

    /// The family of that name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Family> {
        Family::ALL.into_iter().find(|family| family.name() == name)
    }

    /// True if the family's routine reads a source buffer.
    #[must_use]
    pub const fn reads(self) -> bool {
        !matches!(self, Family::Zero)
    }

    /// True if the family's routine writes a destination buffer.
    #[must_use]
    pub const fn writes(self) -> bool {
        !matches!(self, Family::Checksum)
    }
}

impl fmt::Display for Family {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A routine of some family, behind the C calling convention that plug-ins use too.
#[derive(Clone, Copy, Debug)]
pub enum Routine {
    /// See [`ZeroFn`].
    Zero(ZeroFn),
    /// See [`CopyFn`].
    Copy(CopyFn),
    /// See [`ChecksumFn`].
    Checksum(ChecksumFn),
    /// See [`CopyChecksumFn`].
    CopyChecksum(CopyChecksumFn),
}

impl Routine {
    /// The family whose signature this is.
    #[must_use]
    pub const fn family(&self) -> Family {
        match self {
            Routine::Zero(_) => Family::Zero,
            Routine::Copy(_) => Family::Copy,
            Routine::Checksum(_) => Family::Checksum,
            Routine::CopyChecksum(_) => Family::CopyChecksum,
        }
    }

    /// Where its code begins.
    #[must_use]
    pub fn address(&self) -> usize {
        match *self {
            Routine::Zero(f) => f as usize,
            Routine::Copy(f) => f as usize,
            Routine::Checksum(f) => f as usize,
            Routine::CopyChecksum(f) => f as usize,
        }
    }
}

/// Who a variant is, for grouping in listings and for what rankings compare against.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Role {
    /// The frozen naive form that verifications compare with; not a candidate in rankings.
    Reference,
    /// A technique.
    Technique,
    /// A form that one of the seeds measured, kept for its experiment: it takes part elsewhere only when named.
    Seed,
    /// What a user has today without us; rankings state ratios to the family's baseline, the better of the two where it
    /// ends in the C library (see [`c_library`]).
    Baseline,
    /// Another project's library.
    Peer,
    /// The `carryline` crate's own public function.
    Ours,
}

/// One way to do a family's job.
#[derive(Debug)]
pub struct Variant {
    /// Unique in its family; also the file's name. Letters, digits and underscores.
    pub name: &'static str,
    /// The code.
    pub routine: Routine,
    /// What it is among the others.
    pub role: Role,
    /// CPU features without which calling it is illegal.
    pub needs: Features,
    /// The lengths its authors support; verification covers these and the sampler refuses others.
    pub lengths: Lengths,
    /// The technique in one sentence.
    pub summary: &'static str,
    /// Where it comes from: seed, paper, crate and version, RFC.
    pub provenance: &'static str,
    /// What a program writes to get it, where that is a call of a library.
    pub call: Option<&'static str>,
    /// Why it is known to be wrong, if it is: then verification must catch it, and it is never ranked.
    pub known_bad: Option<&'static str>,
    /// Where a program's call lands, if the routine only hands on to code that is found at run time; see [`landing`].
    pub lands: Option<fn() -> Landing>,
    /// How the C library's thresholds bear on it, if it ends in the C library; see [`c_library`].
    pub c_library: Option<CLibrary>,
}

/// Which lengths a variant is made for, and whether it heeds a seed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Lengths {
    /// Any.
    Any,
    /// From 0 up to this many bytes.
    UpTo(usize),
    /// Exactly this many bytes.
    Only(usize),
    /// Exactly this many bytes, and the seed must be 0: it is not looked at.
    OnlyUnseeded(usize),
}

impl Lengths {
    /// True if a call with `len` bytes is within what the authors support.
    #[must_use]
    pub const fn contains(self, len: usize) -> bool {
        match self {
            Lengths::Any => true,
            Lengths::UpTo(most) => len <= most,
            Lengths::Only(only) | Lengths::OnlyUnseeded(only) => len == only,
        }
    }

    /// The seed that a call gets when `seed` is asked for: the same, unless the variant is made for 0 alone.
    #[must_use]
    pub const fn seed(self, seed: u32) -> u32 {
        match self {
            Lengths::OnlyUnseeded(_) => 0,
            Lengths::Any | Lengths::UpTo(_) | Lengths::Only(_) => seed,
        }
    }
}

impl Variant {
    /// What most variants are where they do not say otherwise: not known to be wrong, of any length, code of their own. Names
    /// and routines are everybody's own.
    pub const PLAIN: Variant = Variant {
        name: "",
        routine: null::routine(Family::Zero),
        role: Role::Technique,
        needs: Features::NONE,
        lengths: Lengths::Any,
        summary: "",
        provenance: "",
        call: None,
        known_bad: None,
        lands: None,
        c_library: None,
    };

    /// The family, from the routine's signature.
    #[must_use]
    pub const fn family(&self) -> Family {
        self.routine.family()
    }

    /// True if the CPU, as masked, can run it.
    #[must_use]
    pub fn runs_here(&self) -> bool {
        carryline::internals::cpu::features().contains(self.needs)
    }

    /// Why it may not stand behind `memset` or `memcpy` themselves, in the words of a message; `None` if it may: it takes
    /// every length, is not known to be wrong, and calls none of these functions, which would then call it. `carryline`
    /// goes through a dispatch that the interposer replaces.
    #[must_use]
    pub fn cannot_interpose(&self) -> Option<&'static str> {
        if self.is_c_library_function() {
            return Some("is the C library's, which is called libc there");
        }
        match (self.family(), self.c_library, self.role) {
            (Family::Checksum | Family::CopyChecksum, ..) => Some("neither zeroes nor only copies"),
            (_, Some(CLibrary::Raised(_)), _) => {
                Some("is the C library of a process that was started with GLIBC_TUNABLES")
            }
            (_, Some(CLibrary::AsInstalled), _) => Some("calls the functions that it would serve"),
            (.., Role::Ours) => {
                Some("goes through the library's own choice, which is called carryline there")
            }
            (.., Role::Peer) => Some("is another library's"),
            (.., Role::Seed | Role::Baseline) => Some("is kept for an experiment"),
            (.., Role::Technique | Role::Reference) if self.known_bad.is_some() => {
                Some("is known to be wrong")
            }
            (.., Role::Technique | Role::Reference) if self.lengths != Lengths::Any => {
                Some("does not take every length")
            }
            (.., Role::Technique | Role::Reference) => None,
        }
    }

    /// True if it may; see [`Variant::cannot_interpose`].
    #[must_use]
    pub fn can_interpose(&self) -> bool {
        self.cannot_interpose().is_none()
    }

    /// True for the rows that are a function of the C library as installed, and not a way to it.
    #[must_use]
    pub fn is_c_library_function(&self) -> bool {
        matches!(self.c_library, Some(CLibrary::AsInstalled)) && self.with_other_thresholds().is_some()
    }
}

/// The variants of one family, in the order of its list.
#[must_use]
pub fn of(family: Family) -> &'static [&'static Variant] {
    match family {
        Family::Zero => zero::VARIANTS,
        Family::Copy => copy::VARIANTS,
        Family::Checksum => checksum::VARIANTS,
        Family::CopyChecksum => copy_checksum::VARIANTS,
    }
}

/// Every variant of every family.
pub fn all() -> impl Iterator<Item = &'static Variant> {
    Family::ALL.into_iter().flat_map(|family| of(family).iter().copied())
}

/// The variant of that name in that family.
#[must_use]
pub fn find(family: Family, name: &str) -> Option<&'static Variant> {
    of(family).iter().copied().find(|variant| variant.name == name)
}
