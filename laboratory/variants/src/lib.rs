//! Every implementation worth comparing of zeroing, copying and checksumming memory.
//!
//! A variant is one file with one `static VARIANT`, which holds everything specific to it, and its name in
//! its family's list. Its contract is its family's, stated at the top of the family's module. Verification,
//! measurement, listings and tests all iterate the lists.
#![cfg_attr(not(any(feature = "std", test)), no_std)]

use c_library::CLibrary;
use carryline::internals::cpu::Features;
use core::fmt;
use landing::Landing;

/// Declares the modules of a family's variants and the list `VARIANTS`, in the order of listings.
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

/// Documentation for users of the peers; its examples are tested if the peers are enabled.
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

/// A routine of a family, with the C calling convention that plug-ins use too.
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

    /// The address of its code.
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

/// The role of a variant in listings and rankings.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Role {
    /// The naive form that verification compares with; not a candidate in rankings.
    Reference,
    /// A technique.
    Technique,
    /// A form measured by a source document, kept for its experiment. It is used elsewhere only if named.
    Historical,
    /// What a user has today without this project. Rankings state ratios to the family's baseline, or to the
    /// faster of its two rows if it calls the C library (see [`c_library`]).
    Baseline,
    /// Another project's library.
    Peer,
    /// The `carryline` crate's own public function.
    Ours,
}

/// An implementation of a family's job.
#[derive(Debug)]
pub struct Variant {
    /// Unique in its family; also the file's name. Letters, digits and underscores.
    pub name: &'static str,
    /// The code.
    pub routine: Routine,
    /// Its role.
    pub role: Role,
    /// CPU features without which calling it is illegal.
    pub needs: Features,
    /// The lengths its authors support; verification covers these and the sampler refuses others.
    pub lengths: Lengths,
    /// The technique in one sentence.
    pub summary: &'static str,
    /// Its source: document, paper, crate and version, RFC.
    pub provenance: &'static str,
    /// The call by which a program gets it, if it is a library's.
    pub call: Option<&'static str>,
    /// The reason why it is known to be wrong, if it is. Verification must catch it, and it is never ranked.
    pub known_bad: Option<&'static str>,
    /// The code that a program's call reaches, if the routine only forwards to code found at run time; see
    /// [`landing`].
    pub lands: Option<fn() -> Landing>,
    /// Its relation to the C library's thresholds, if it calls the C library; see [`c_library`].
    pub c_library: Option<CLibrary>,
}

/// The lengths that a variant supports, and whether it uses the seed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Lengths {
    /// Any.
    Any,
    /// From 0 up to this many bytes.
    UpTo(usize),
    /// Exactly this many bytes.
    Only(usize),
    /// Exactly this many bytes, with a seed of 0, which is ignored.
    OnlyUnseeded(usize),
}

impl Lengths {
    /// Whether the variant supports calls of `len` bytes.
    #[must_use]
    pub const fn contains(self, len: usize) -> bool {
        match self {
            Lengths::Any => true,
            Lengths::UpTo(most) => len <= most,
            Lengths::Only(only) | Lengths::OnlyUnseeded(only) => len == only,
        }
    }

    /// The seed to use in place of `seed`: the same, or 0 if the variant supports only that.
    #[must_use]
    pub const fn seed(self, seed: u32) -> u32 {
        match self {
            Lengths::OnlyUnseeded(_) => 0,
            Lengths::Any | Lengths::UpTo(_) | Lengths::Only(_) => seed,
        }
    }
}

impl Variant {
    /// The default fields of a variant: any length, no CPU features, not known to be wrong, not forwarding.
    /// Name and routine must be replaced.
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

    /// Whether the CPU, as masked, can run it.
    #[must_use]
    pub fn runs_here(&self) -> bool {
        carryline::internals::cpu::features().contains(self.needs)
    }

    /// The reason why it cannot replace `memset` or `memcpy` in the interposer, as the rest of a sentence;
    /// `None` if it can: it supports every length, is not known to be wrong, and calls neither of these
    /// functions, which would call it again. `carryline` is excluded because it goes through a dispatch that
    /// the interposer replaces.
    #[must_use]
    pub fn cannot_interpose(&self) -> Option<&'static str> {
        if self.is_c_library_function() {
            return Some("is the C library's, whose name there is libc");
        }
        match (self.family(), self.c_library, self.role) {
            (Family::Checksum | Family::CopyChecksum, ..) => Some("neither zeroes nor only copies"),
            (_, Some(CLibrary::Raised(_)), _) => {
                Some("is the C library of a process that was started with GLIBC_TUNABLES")
            }
            (_, Some(CLibrary::AsInstalled), _) => Some("calls the functions that it would replace"),
            (.., Role::Ours) => Some("goes through the library's dispatch, whose name there is carryline"),
            (.., Role::Peer) => Some("is from another library"),
            (.., Role::Historical | Role::Baseline) => Some("is kept for an experiment"),
            (.., Role::Technique | Role::Reference) if self.known_bad.is_some() => {
                Some("is known to be wrong")
            }
            (.., Role::Technique | Role::Reference) if self.lengths != Lengths::Any => {
                Some("does not support every length")
            }
            (.., Role::Technique | Role::Reference) => None,
        }
    }

    /// Whether it can replace `memset` or `memcpy` in the interposer; see [`Variant::cannot_interpose`].
    #[must_use]
    pub fn can_interpose(&self) -> bool {
        self.cannot_interpose().is_none()
    }

    /// Whether the row is a function of the C library as installed, not code that calls one.
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

/// The variant of that name in a family.
#[must_use]
pub fn find(family: Family, name: &str) -> Option<&'static Variant> {
    of(family).iter().copied().find(|variant| variant.name == name)
}
