//! One byte at a time: the form that verification compares with. It never changes.

use crate::{Role, Routine, Variant};

/// See the module.
pub static VARIANT: Variant = Variant {
    name: "reference",
    routine: Routine::Checksum(run),
    role: Role::Reference,
    summary: "one byte at a time",
    provenance: "RFC 1071, section 1",
    ..Variant::PLAIN
};

/// # Safety
/// See [the family](super).
unsafe extern "C" fn run(data: *const u8, len: usize, seed: u32) -> u32 {
    let mut sum = u128::from(seed);
    let mut at = 0;
    while at < len {
        // SAFETY: at < len.
        let first = unsafe { *data.add(at) };
        // An odd last byte is padded with a zero byte after it (RFC 1071, section 4.1). SAFETY: read only if
        // at + 1 < len.
        let second = if at + 1 < len { unsafe { *data.add(at + 1) } } else { 0 };
        sum += u128::from(u16::from_ne_bytes([first, second]));
        at += 2;
    }
    // 65536 is 1 modulo 65535: adding the halves keeps the value, and only a zero sum gives zero.
    while sum >> 16 != 0 {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    sum as u32
}

/// The sum of `bytes` and `seed` by the reference, folded to 16 bits.
///
/// ```
/// use carryline_variants::checksum::reference::folded_sum;
/// assert_eq!(folded_sum(&[0xff; 4], 0), 0xffff);
/// assert_eq!(folded_sum(&[], 0x1_0002), 3);
/// ```
#[must_use]
pub fn folded_sum(bytes: &[u8], seed: u32) -> u16 {
    // SAFETY: a slice's pointer and length; `run` reduces its sum to 16 bits.
    unsafe { run(bytes.as_ptr(), bytes.len(), seed) as u16 }
}
