//! `update`: parts of the data change one after the other, and the checksum is updated; compared with a new
//! sum of all data.

use crate::input::Input;
use carryline::checksum::{Checksum, Sum};
use carryline_variants::checksum::reference::folded_sum;

/// The longest data in bytes.
const MOST_BYTES: usize = 2048;
const MOST_CHANGES: usize = 12;

pub(super) fn check(bytes: &[u8]) {
    let mut input = Input::new(bytes);
    let mut data = vec![0; input.length(MOST_BYTES).max(1)];
    input.fill(&mut data);
    let mut field = reference(&data);
    let mut udp = if input.byte() & 1 == 0 { Checksum::NONE } else { Sum::new().add(&data).finish_udp() };
    for _ in 0..MOST_CHANGES {
        if input.is_empty() {
            break;
        }
        let offset = input.below(data.len());
        let most = data.len() - offset;
        let (choice, len) = (input.byte() % 8, input.length(most));
        let place = |size: usize| if size <= most { (offset & !1, size) } else { (offset, len) };
        let (from, size) = match choice {
            0 => place(2),
            1 => place(4),
            2 => place(8),
            3 => place(16),
            _ => (offset, len),
        };
        let old = data[from..from + size].to_vec();
        let mut new = vec![0; size];
        input.fill(&mut new);
        data[from..from + size].copy_from_slice(&new);
        let before = (field, udp);
        (field, udp) = match (choice, size) {
            (0, 2) => arrays::<2>(before, &old, &new),
            (1, 4) => arrays::<4>(before, &old, &new),
            (2, 8) => arrays::<8>(before, &old, &new),
            (3, 16) => arrays::<16>(before, &old, &new),
            _ => (field.replace_range(from, &old, &new), udp.replace_range_udp(from, &old, &new)),
        };
        let at = || format!("{size} bytes at {from} of {}, {old:x?} became {new:x?}", data.len());
        let expected = reference(&data);
        // The documented exception: an update cannot detect that only zeros are left.
        let undetected = old != new && data.iter().all(|byte| *byte == 0);
        let updated = if undetected { Checksum([0, 0]) } else { expected };
        assert!(field == updated, "{}: {} became {field}, not {updated}", at(), before.0);
        field = expected;
        let expected = match before.1 {
            Checksum::NONE => Checksum::NONE,
            _ if expected == [0, 0] => Checksum([0xff, 0xff]),
            _ => expected,
        };
        assert!(udp == expected, "{}: for UDP {} became {udp}, not {expected}", at(), before.1);
    }
}

/// The checksum of the data computed by the reference.
fn reference(data: &[u8]) -> Checksum {
    Checksum((!folded_sum(data, 0)).to_ne_bytes())
}

/// Both fields after a change of arrays of `N` bytes.
fn arrays<const N: usize>(
    (field, udp): (Checksum, Checksum),
    old: &[u8],
    new: &[u8],
) -> (Checksum, Checksum) {
    let (mut before, mut after) = ([0; N], [0; N]);
    before.copy_from_slice(old);
    after.copy_from_slice(new);
    (field.replace(before, after), udp.replace_udp(before, after))
}
