//! The forms in which libraries export an Internet checksum: the function's arguments, and the meaning of its
//! result.
//!
//! A form is written as the result, a slash and the arguments: `checksum-host/ptr,len` is `uint16_t f(const
//! void *, size_t)`, whose result is the finished field as a number, to be stored after `htons`. A function
//! of any form is called through an adapter with the checksum family's own signature, so that it can be
//! verified like any other routine.

mod bound;

pub use bound::Bound;
use carryline_variants::Family;
use std::fmt;

/// The meaning of a function's result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Answer {
    /// A 32-bit partial sum of words in native byte order, not complemented: Linux' `csum_partial`.
    Partial,
    /// The finished field, complemented, in memory order: stored without `htons`.
    Checksum,
    /// The finished field, complemented, as a number: stored after `htons`.
    ChecksumHost,
    /// A folded sum, not complemented, in memory order.
    Sum,
    /// A folded sum, not complemented, as a number.
    SumHost,
}

/// The arguments of a function. A seed is a sum in the result's byte order, not complemented.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Arguments {
    /// `(const void *, size_t, uint32_t)`.
    PtrLenSeed,
    /// `(size_t, const void *, uint32_t)`.
    LenPtrSeed,
    /// `(uint32_t, const void *, size_t)`.
    SeedPtrLen,
    /// `(const void *, size_t)`.
    PtrLen,
    /// `(size_t, const void *)`.
    LenPtr,
    /// `(const struct iovec *, int)`.
    Iovec,
    /// `(void *dst, const void *src, size_t, uint32_t)`: copies and sums.
    DstSrcLenSeed,
    /// `(const void *src, void *dst, size_t, uint32_t)`.
    SrcDstLenSeed,
    /// `(const void *src, void *dst, size_t)`.
    SrcDstLen,
    /// `(uint16_t checksum, uint16_t old, uint16_t new)`: an update.
    CheckOldNew,
    /// `(uint16_t *checksum, uint16_t old, uint16_t new)`: an update in place.
    FieldOldNew,
}

const ANSWERS: [(Answer, &str); 5] = [
    (Answer::Partial, "partial"),
    (Answer::Checksum, "checksum"),
    (Answer::ChecksumHost, "checksum-host"),
    (Answer::Sum, "sum"),
    (Answer::SumHost, "sum-host"),
];

const ARGUMENTS: [(Arguments, &str); 11] = [
    (Arguments::PtrLenSeed, "ptr,len,seed"),
    (Arguments::LenPtrSeed, "len,ptr,seed"),
    (Arguments::SeedPtrLen, "seed,ptr,len"),
    (Arguments::PtrLen, "ptr,len"),
    (Arguments::LenPtr, "len,ptr"),
    (Arguments::Iovec, "iovec"),
    (Arguments::DstSrcLenSeed, "dst,src,len,seed"),
    (Arguments::SrcDstLenSeed, "src,dst,len,seed"),
    (Arguments::SrcDstLen, "src,dst,len"),
    (Arguments::CheckOldNew, "check,old,new"),
    (Arguments::FieldOldNew, "field,old,new"),
];

/// The form of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Form {
    /// The meaning of its result.
    pub answer: Answer,
    /// Its arguments.
    pub arguments: Arguments,
}

/// Linux' `csum_partial`, which is also the checksum family's own form.
pub const CSUM_PARTIAL: Form = Form { answer: Answer::Partial, arguments: Arguments::PtrLenSeed };

impl Form {
    /// All forms, those with a seed first: tried without a seed, a function that takes one would match a form
    /// without.
    pub fn all() -> impl Iterator<Item = Form> {
        ARGUMENTS
            .into_iter()
            .flat_map(|(arguments, _)| ANSWERS.into_iter().map(move |(answer, _)| Form { answer, arguments }))
            .filter(|form| form.is_valid())
    }

    /// Updates take and return only the finished field.
    fn is_valid(self) -> bool {
        !self.updates() || matches!(self.answer, Answer::Checksum | Answer::ChecksumHost)
    }

    /// The form with this name; `csum_partial` is an alias of `partial/ptr,len,seed`.
    ///
    /// ```
    /// use carryline_verification::forms::{CSUM_PARTIAL, Form};
    /// assert_eq!(Form::from_name("csum_partial"), Some(CSUM_PARTIAL));
    /// assert_eq!(Form::from_name("checksum-host/len,ptr").map(|form| form.to_string()).as_deref(), Some("checksum-host/len,ptr"));
    /// assert_eq!(Form::from_name("partial/check,old,new"), None);
    /// ```
    #[must_use]
    pub fn from_name(name: &str) -> Option<Form> {
        if name == "csum_partial" {
            return Some(CSUM_PARTIAL);
        }
        Form::all().find(|form| form.to_string() == name)
    }

    /// Whether the function updates a finished checksum instead of computing one.
    #[must_use]
    pub const fn updates(self) -> bool {
        matches!(self.arguments, Arguments::CheckOldNew | Arguments::FieldOldNew)
    }

    /// Whether the function copies the data that it sums.
    #[must_use]
    pub const fn copies(self) -> bool {
        matches!(self.arguments, Arguments::DstSrcLenSeed | Arguments::SrcDstLenSeed | Arguments::SrcDstLen)
    }

    /// Whether the function takes a seed.
    #[must_use]
    pub const fn takes_seed(self) -> bool {
        !matches!(
            self.arguments,
            Arguments::PtrLen
                | Arguments::LenPtr
                | Arguments::Iovec
                | Arguments::SrcDstLen
                | Arguments::CheckOldNew
                | Arguments::FieldOldNew
        )
    }

    /// The family that the function belongs to; `None` for updates.
    #[must_use]
    pub const fn family(self) -> Option<Family> {
        match (self.updates(), self.copies()) {
            (true, _) => None,
            (false, true) => Some(Family::CopyChecksum),
            (false, false) => Some(Family::Checksum),
        }
    }
}

impl fmt::Display for Form {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let answer = ANSWERS.iter().find(|(answer, _)| *answer == self.answer).map_or("", |(_, name)| name);
        let arguments =
            ARGUMENTS.iter().find(|(arguments, _)| *arguments == self.arguments).map_or("", |(_, name)| name);
        write!(f, "{answer}/{arguments}")
    }
}

#[cfg(test)]
mod tests {
    use super::Form;

    #[test]
    fn names_of_forms_are_unique_and_parse_back() {
        let names: std::collections::HashSet<String> = Form::all().map(|form| form.to_string()).collect();
        assert_eq!(names.len(), Form::all().count());
        assert!(Form::all().all(|form| Form::from_name(&form.to_string()) == Some(form)));
    }
}
