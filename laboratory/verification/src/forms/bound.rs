//! Calls a function of any form, directly or as a routine of its family.

use super::{Answer, Arguments, CSUM_PARTIAL, Form};
use carryline_variants::{ChecksumFn, CopyChecksumFn, Family, Routine};
use std::ptr::null;
use std::sync::OnceLock;

/// A function of a given form in a loaded library.
#[derive(Clone, Copy, Debug)]
pub struct Bound {
    target: *const (),
    form: Form,
}

// SAFETY: the address of code, which every thread may call.
unsafe impl Send for Bound {}
// SAFETY: a shared reference gives only the address of code, and nothing is changed through it.
unsafe impl Sync for Bound {}

impl Bound {
    /// The function at `target`, which must have this form.
    #[must_use]
    pub const fn new(target: *const (), form: Form) -> Bound {
        Bound { target, form }
    }

    /// The partial sum of `len` bytes and `seed`; copies them to `dst` if the form copies.
    ///
    /// # Safety
    /// The function has this form, which is not an update. `len` bytes are readable at `src` and, if it
    /// copies, writable at `dst` without overlap.
    pub unsafe fn sum(self, dst: *mut u8, src: *const u8, len: usize, seed: u32) -> u32 {
        let Form { answer, .. } = self.form;
        let given = match answer {
            Answer::Partial => seed,
            Answer::Checksum | Answer::Sum => u32::from(fold(seed)),
            Answer::ChecksumHost | Answer::SumHost => u32::from(u16::from_be(fold(seed))),
        };
        // SAFETY: the same contract.
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
    /// As `sum`; `R` is the function's return type.
    unsafe fn call<R>(self, dst: *mut u8, src: *const u8, len: usize, seed: u32) -> R {
        // SAFETY: the function has these arguments and this result, by contract; a pointer to code may be
        // made from its address.
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

    /// The folded sum of several pieces, if the form takes them in one call.
    ///
    /// # Safety
    /// The function has this form, and every piece is readable.
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
        // SAFETY: the function has this form, by contract, and the list outlives the call.
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

    /// The checksum after `old` was replaced by `new`, all three in memory order.
    ///
    /// # Safety
    /// The function has this form, which is an update.
    pub unsafe fn update(self, checksum: [u8; 2], old: [u8; 2], new: [u8; 2]) -> [u8; 2] {
        let host = self.form.answer == Answer::ChecksumHost;
        let read = |bytes| if host { u16::from_be_bytes(bytes) } else { u16::from_ne_bytes(bytes) };
        let (mut field, old, new) = (read(checksum), read(old), read(new));
        // SAFETY: the function has this form, by contract; the field outlives the call.
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

    /// The function with its family's own signature; `None` for updates, and if no adapter is left in this
    /// process.
    #[must_use]
    pub fn routine(self) -> Option<Routine> {
        if self.form == CSUM_PARTIAL {
            // SAFETY: by the contract of `new`, the function has the family's own form.
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

/// The functions that adapters call. Each routine of a foreign form takes one slot, which is never freed.
static SLOTS: [OnceLock<Bound>; 4] = [const { OnceLock::new() }; 4];
const SUMMING: [ChecksumFn; 4] = [summing::<0>, summing::<1>, summing::<2>, summing::<3>];
const COPYING: [CopyChecksumFn; 4] = [copying::<0>, copying::<1>, copying::<2>, copying::<3>];

/// # Safety
/// The requirements of the checksum family.
unsafe extern "C" fn summing<const SLOT: usize>(data: *const u8, len: usize, seed: u32) -> u32 {
    let Some(bound) = SLOTS[SLOT].get() else { std::process::abort() };
    // SAFETY: by the contract of `new`, the function has this form; `len` bytes are readable, by contract,
    // and no such form copies.
    unsafe { bound.sum(std::ptr::null_mut(), data, len, seed) }
}

/// # Safety
/// The requirements of the family that copies and sums.
unsafe extern "C" fn copying<const SLOT: usize>(dst: *mut u8, src: *const u8, len: usize, seed: u32) -> u32 {
    let Some(bound) = SLOTS[SLOT].get() else { std::process::abort() };
    // SAFETY: by the contract of `new`, the function has this form; the buffers meet its requirements, by
    // contract.
    unsafe { bound.sum(dst, src, len, seed) }
}

/// `sum` plus `seed` with end-around carry.
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
    /// `field` is valid for reads and writes, and nothing else accesses it.
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
    fn functions_of_other_forms_give_the_family_s_sum() {
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
    fn updates_use_memory_order() {
        let bound = bound(in_place as *const (), "checksum/field,old,new");
        // SAFETY: the function has this form.
        let updated = unsafe { bound.update([0xdd, 0x2f], [0x55, 0x55], [0x32, 0x85]) };
        assert_eq!(updated, [0, 0]);
        assert!(bound.routine().is_none());
    }
}
