//! The forms in which libraries export an Internet checksum: what the function is passed, and what its result means.
//!
//! A form's word is the result, a slash and the arguments: `checksum-host/ptr,len` is `uint16_t f(const void *, size_t)`
//! whose result is the finished field as a number, as `htons` would take it. A function of any form is called through
//! an adapter of the checksum family's own signature, so that everything that verifies a routine verifies it too.

use carryline_variants::{ChecksumFn, CopyChecksumFn, Family, Routine};
use std::fmt;
use std::ptr::null;
use std::sync::OnceLock;

/// What a function's result means.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Answer {
    /// A 32-bit partial sum of words in native byte order, not complemented: Linux' `csum_partial`.
    Partial,
    /// The finished field, complemented, as it stands in memory: to be stored without `htons`.
    Checksum,
    /// The finished field, complemented, as a number: to be stored after `htons`.
    ChecksumHost,
    /// A folded sum that is not complemented, as it stands in memory.
    Sum,
    /// A folded sum that is not complemented, as a number.
    SumHost,
}

/// What a function is passed. A seed is a sum in the result's byte order, not complemented.
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
    /// `(void *dst, const void *src, size_t, uint32_t)`: copies, and sums what it copied.
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

/// A function's form.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Form {
    /// What its result means.
    pub answer: Answer,
    /// What it is passed.
    pub arguments: Arguments,
}

/// Linux' `csum_partial`: also the checksum family's own form.
pub const CSUM_PARTIAL: Form = Form { answer: Answer::Partial, arguments: Arguments::PtrLenSeed };

impl Form {
    /// All forms, those with a seed first: tried without a seed, a function that takes one would pass for one that does not.
    pub fn all() -> impl Iterator<Item = Form> {
        ARGUMENTS
            .into_iter()
            .flat_map(|(arguments, _)| ANSWERS.into_iter().map(move |(answer, _)| Form { answer, arguments }))
            .filter(|form| form.is_sensible())
    }

    /// Updates take and return the finished field alone.
    fn is_sensible(self) -> bool {
        !self.updates() || matches!(self.answer, Answer::Checksum | Answer::ChecksumHost)
    }

    /// The form of that name; `csum_partial` is one more name of `partial/ptr,len,seed`.
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

    /// True if the function changes a finished checksum instead of computing one.
    #[must_use]
    pub const fn updates(self) -> bool {
        matches!(self.arguments, Arguments::CheckOldNew | Arguments::FieldOldNew)
    }

    /// True if the function copies what it sums.
    #[must_use]
    pub const fn copies(self) -> bool {
        matches!(self.arguments, Arguments::DstSrcLenSeed | Arguments::SrcDstLenSeed | Arguments::SrcDstLen)
    }

    /// True if the function is passed a seed.
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

    /// The family whose job it does; `None` for updates.
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

/// A function of some form in a loaded library.
#[derive(Clone, Copy, Debug)]
pub struct Bound {
    target: *const (),
    form: Form,
}

// SAFETY: the address of code, which every thread may call.
unsafe impl Send for Bound {}
// SAFETY: shared, it is the address of code still, and nothing is changed through it.
unsafe impl Sync for Bound {}

impl Bound {
    /// The function at `target`, taken to have that form.
    #[must_use]
    pub const fn new(target: *const (), form: Form) -> Bound {
        Bound { target, form }
    }

    /// The partial sum of `len` bytes onto `seed`; copied to `dst` where the form copies.
    ///
    /// # Safety
    /// The function has the form, which is no update, and `len` bytes are readable from `src` and, where it copies,
    /// writable from `dst` and apart from the source.
    pub unsafe fn sum(self, dst: *mut u8, src: *const u8, len: usize, seed: u32) -> u32 {
        let Form { answer, .. } = self.form;
        let given = match answer {
            Answer::Partial => seed,
            Answer::Checksum | Answer::Sum => u32::from(fold(seed)),
            Answer::ChecksumHost | Answer::SumHost => u32::from(u16::from_be(fold(seed))),
        };
        // SAFETY: the same conditions.
        let sum = unsafe {
            match answer {
                Answer::Partial => self.call::<u32>(dst, src, len, given),
                Answer::Checksum => u32::from(!self.call::<u16>(dst, src, len, given)),
                Answer::ChecksumHost => u32::from(u16::from_be(!self.call::<u16>(dst, src, len, given))),
                Answer::Sum => u32::from(self.call::<u16>(dst, src, len, given)),
                Answer::SumHost => u32::from(u16::from_be(self.call::<u16>(dst, src, len, given))),
            }
        };
        if self.form.takes_seed() { sum } else { onto(seed, sum) }
    }

    /// # Safety
    /// As for `sum`; `R` is what the function returns.
    unsafe fn call<R>(self, dst: *mut u8, src: *const u8, len: usize, seed: u32) -> R {
        // SAFETY: the function has these arguments and this result, by contract; a pointer to code may be made from its
        // address.
        unsafe {
            macro_rules! with {
                ($($type:ty),+ => $($value:expr),+) => {{
                    let function: unsafe extern "C" fn($($type),+) -> R =
                        std::mem::transmute::<*const (), unsafe extern "C" fn($($type),+) -> R>(self.target);
                    function($($value),+)
                }};
            }
            match self.form.arguments {
                Arguments::PtrLenSeed => with!(*const u8, usize, u32 => src, len, seed),
                Arguments::LenPtrSeed => with!(usize, *const u8, u32 => len, src, seed),
                Arguments::SeedPtrLen => with!(u32, *const u8, usize => seed, src, len),
                Arguments::PtrLen => with!(*const u8, usize => src, len),
                Arguments::LenPtr => with!(usize, *const u8 => len, src),
                Arguments::Iovec => {
                    let piece = libc::iovec { iov_base: src.cast_mut().cast(), iov_len: len };
                    with!(*const libc::iovec, i32 => &raw const piece, 1)
                }
                Arguments::DstSrcLenSeed => {
                    with!(*mut u8, *const u8, usize, u32 => dst, src, len, seed)
                }
                Arguments::SrcDstLenSeed => {
                    with!(*const u8, *mut u8, usize, u32 => src, dst, len, seed)
                }
                Arguments::SrcDstLen => with!(*const u8, *mut u8, usize => src, dst, len),
                Arguments::CheckOldNew | Arguments::FieldOldNew => {
                    unreachable!("an update sums nothing")
                }
            }
        }
    }

    /// The partial sum of several pieces, where the form takes them in one call.
    ///
    /// # Safety
    /// The function has the form, and every piece is readable.
    pub unsafe fn sum_pieces(self, pieces: &[&[u8]]) -> Option<u16> {
        if self.form.arguments != Arguments::Iovec {
            return None;
        }
        let list: Vec<libc::iovec> = pieces
            .iter()
            .map(|piece| libc::iovec { iov_base: piece.as_ptr().cast_mut().cast(), iov_len: piece.len() })
            .collect();
        let first = if list.is_empty() { null() } else { list.as_ptr() };
        let count = i32::try_from(list.len()).ok()?;
        // SAFETY: the function has this form, by contract, and the list lives through the call.
        unsafe {
            type Of<R> = unsafe extern "C" fn(*const libc::iovec, i32) -> R;
            let narrow = || std::mem::transmute::<*const (), Of<u16>>(self.target)(first, count);
            Some(match self.form.answer {
                Answer::Partial => fold(std::mem::transmute::<*const (), Of<u32>>(self.target)(first, count)),
                Answer::Checksum => !narrow(),
                Answer::ChecksumHost => u16::from_be(!narrow()),
                Answer::Sum => narrow(),
                Answer::SumHost => u16::from_be(narrow()),
            })
        }
    }

    /// The checksum after `old` has become `new`, all three as they stand in memory.
    ///
    /// # Safety
    /// The function has the form, which is an update.
    pub unsafe fn update(self, checksum: [u8; 2], old: [u8; 2], new: [u8; 2]) -> [u8; 2] {
        let host = self.form.answer == Answer::ChecksumHost;
        let read = |bytes| if host { u16::from_be_bytes(bytes) } else { u16::from_ne_bytes(bytes) };
        let (mut field, old, new) = (read(checksum), read(old), read(new));
        // SAFETY: the function has this form, by contract; the field lives through the call.
        let updated = unsafe {
            match self.form.arguments {
                Arguments::FieldOldNew => {
                    type InPlace = unsafe extern "C" fn(*mut u16, u16, u16);
                    std::mem::transmute::<*const (), InPlace>(self.target)(&raw mut field, old, new);
                    field
                }
                _ => {
                    type ByValue = unsafe extern "C" fn(u16, u16, u16) -> u16;
                    std::mem::transmute::<*const (), ByValue>(self.target)(field, old, new)
                }
            }
        };
        if host { updated.to_be_bytes() } else { updated.to_ne_bytes() }
    }

    /// The function behind its family's own signature; `None` for updates, and if this process has no adapter left.
    #[must_use]
    pub fn routine(self) -> Option<Routine> {
        if self.form == CSUM_PARTIAL {
            // SAFETY: `new` was told that the function has the family's own form.
            return Some(Routine::Checksum(unsafe {
                std::mem::transmute::<*const (), ChecksumFn>(self.target)
            }));
        }
        let family = self.form.family()?;
        let slot = SLOTS.iter().position(|slot| slot.set(self).is_ok())?;
        Some(match family {
            Family::CopyChecksum => Routine::CopyChecksum(COPYING[slot]),
            _ => Routine::Checksum(SUMMING[slot]),
        })
    }
}

/// Functions that adapters call. One is taken for every routine of a foreign form, and never given back.
static SLOTS: [OnceLock<Bound>; 4] = [const { OnceLock::new() }; 4];
const SUMMING: [ChecksumFn; 4] = [summing::<0>, summing::<1>, summing::<2>, summing::<3>];
const COPYING: [CopyChecksumFn; 4] = [copying::<0>, copying::<1>, copying::<2>, copying::<3>];

/// # Safety
/// What the checksum family asks of a caller.
unsafe extern "C" fn summing<const SLOT: usize>(data: *const u8, len: usize, seed: u32) -> u32 {
    let Some(bound) = SLOTS[SLOT].get() else { std::process::abort() };
    // SAFETY: `new` was told that the function has this form; `len` bytes are readable, by contract, and no such form copies.
    unsafe { bound.sum(std::ptr::null_mut(), data, len, seed) }
}

/// # Safety
/// What the family that copies and sums asks of a caller.
unsafe extern "C" fn copying<const SLOT: usize>(dst: *mut u8, src: *const u8, len: usize, seed: u32) -> u32 {
    let Some(bound) = SLOTS[SLOT].get() else { std::process::abort() };
    // SAFETY: `new` was told that the function has this form; the buffers are as it asks, by contract.
    unsafe { bound.sum(dst, src, len, seed) }
}

/// `sum` onto `seed` with end-around carry.
fn onto(seed: u32, sum: u32) -> u32 {
    let (total, carry) = seed.overflowing_add(sum);
    total.wrapping_add(u32::from(carry))
}

fn fold(sum: u32) -> u16 {
    let once = (sum & 0xffff) + (sum >> 16);
    ((once & 0xffff) + (once >> 16)) as u16
}

#[cfg(test)]
mod tests {
    use super::*;
    use carryline_variants::checksum::reference::folded_sum;

    /// # Safety
    /// `data` is valid for reads of `len` bytes.
    unsafe extern "C" fn host(data: *const u8, len: usize) -> u16 {
        // SAFETY: the test passes a slice.
        u16::from_be(!folded_sum(unsafe { std::slice::from_raw_parts(data, len) }, 0))
    }

    /// # Safety
    /// `data` is valid for reads of `len` bytes.
    unsafe extern "C" fn host_seeded(len: usize, data: *const u8, seed: u32) -> u16 {
        // SAFETY: the test passes a slice.
        let data = unsafe { std::slice::from_raw_parts(data, len) };
        u16::from_be(folded_sum(data, u32::from((seed as u16).to_be())))
    }

    /// # Safety
    /// `pieces` are `count` pieces, each valid for reads of its length.
    unsafe extern "C" fn of_pieces(pieces: *const libc::iovec, count: i32) -> u16 {
        let mut all = Vec::new();
        for at in 0..count as usize {
            // SAFETY: the test passes `count` pieces.
            let piece = unsafe { &*pieces.add(at) };
            // SAFETY: the caller's pieces are valid for reads of their lengths.
            all.extend_from_slice(unsafe {
                std::slice::from_raw_parts(piece.iov_base.cast::<u8>(), piece.iov_len)
            });
        }
        !folded_sum(&all, 0)
    }

    /// # Safety
    /// `field` is valid for reads and writes, and nothing else has it.
    unsafe extern "C" fn in_place(field: *mut u16, old: u16, new: u16) {
        // SAFETY: the test passes a field.
        let field = unsafe { &mut *field };
        let sum = u32::from(!*field) + u32::from(!old) + u32::from(new);
        *field = !fold(sum);
    }

    fn bound(target: *const (), name: &str) -> Bound {
        Bound::new(target, Form::from_name(name).expect("a form"))
    }

    #[test]
    fn every_form_has_a_name_of_its_own() {
        let names: std::collections::HashSet<String> = Form::all().map(|form| form.to_string()).collect();
        assert_eq!(names.len(), Form::all().count());
        assert!(Form::all().all(|form| Form::from_name(&form.to_string()) == Some(form)));
    }

    #[test]
    fn a_function_of_another_form_gives_the_familys_sum() {
        let data = [1, 2, 3, 4, 5];
        for seed in [0, 0x1234, 0xffff_fffe] {
            let expected = folded_sum(&data, seed);
            for bound in [
                bound(host as *const (), "checksum-host/ptr,len"),
                bound(host_seeded as *const (), "sum-host/len,ptr,seed"),
                bound(of_pieces as *const (), "checksum/iovec"),
            ] {
                // SAFETY: the functions above have these forms.
                let sum = unsafe { bound.sum(std::ptr::null_mut(), data.as_ptr(), data.len(), seed) };
                assert_eq!(fold(sum), expected, "{bound:?} {seed:#x}");
            }
        }
        let pieces = bound(of_pieces as *const (), "checksum/iovec");
        // SAFETY: the function has this form.
        let sum = unsafe { pieces.sum_pieces(&[&data[..1], &data[1..]]) };
        assert_eq!(sum, Some(folded_sum(&data, 0)));
    }

    #[test]
    fn an_update_goes_from_memory_to_memory() {
        let bound = bound(in_place as *const (), "checksum/field,old,new");
        // SAFETY: the function has this form.
        let updated = unsafe { bound.update([0xdd, 0x2f], [0x55, 0x55], [0x32, 0x85]) };
        assert_eq!(updated, [0, 0]);
        assert!(bound.routine().is_none());
    }
}
