//! Updates: all 65536 words next to selected others, compared with the sum of the changed data; then random
//! offsets.

use carryline::checksum::{Checksum, Sum, internet};
use proptest::prelude::*;

/// Words at the ends of the range, around its middle, and two between.
const CHOSEN: [u16; 12] = [0, 1, 2, 0x00ff, 0x0100, 0x1234, 0x7fff, 0x8000, 0xedcb, 0xff00, 0xfffe, 0xffff];

fn of_words(words: [u16; 2]) -> Sum {
    Sum::new().add_const(&words[0].to_be_bytes()).add_const(&words[1].to_be_bytes())
}

/// Every old word, every selected new word and every selected sum of the rest; 0000 and ffff occur in all
/// three positions.
#[test]
fn replaced_words_give_the_sum_of_the_changed_data() {
    for rest in CHOSEN {
        for old in 0..=0xffff_u16 {
            let before = of_words([rest, old]);
            for new in CHOSEN {
                let after = of_words([rest, new]);
                let (old, new) = (old.to_be_bytes(), new.to_be_bytes());
                let updated = before.finish().replace(old, new);
                if after != Sum::new() {
                    assert_eq!(updated, after.finish(), "{old:02x?} becomes {new:02x?} next to {rest:04x}");
                    assert!(after.add_const(&updated.0).verify());
                }
                let udp = before.finish_udp().replace_udp(old, new);
                assert_eq!(udp, after.finish_udp(), "UDP: {old:02x?} becomes {new:02x?} next to {rest:04x}");
            }
        }
    }
}

/// Data that becomes all zero: the documented exception of `replace`; UDP has none.
#[test]
fn data_that_becomes_all_zero_is_the_exception() {
    for old in 1..=0xffff_u16 {
        let checksum = of_words([0, old]).finish();
        assert_eq!(checksum.replace(old.to_be_bytes(), [0, 0]), [0, 0]);
        let udp = of_words([0, old]).finish_udp();
        assert_eq!(udp.replace_udp(old.to_be_bytes(), [0, 0]), [0xff, 0xff]);
    }
}

/// Every checksum that verifies, not only those that a sum gives: `ff ff` next to data whose sum is a
/// multiple of 65535.
#[test]
fn the_other_zero_in_the_field_still_verifies_after_updates() {
    let other_zero = Checksum([0xff, 0xff]);
    for old in 0..=0xffff_u16 {
        for new in CHOSEN {
            let before = of_words([!old, old]);
            let after = of_words([!old, new]);
            assert!(before.add_const(&other_zero.0).verify(), "{old:04x}");
            let updated = other_zero.replace(old.to_be_bytes(), new.to_be_bytes());
            assert!(
                after == Sum::new() || after.add_const(&updated.0).verify(),
                "{old:04x} becomes {new:04x}: {updated}"
            );
        }
    }
}

#[test]
fn equal_words_leave_the_checksum_unchanged() {
    for checksum in 0..=0xffff_u16 {
        let checksum = Checksum(checksum.to_be_bytes());
        for word in CHOSEN {
            assert_eq!(checksum.replace(word.to_be_bytes(), word.to_be_bytes()), checksum, "{word:04x}");
        }
        assert_eq!(checksum.replace([0; 0], [0; 0]), checksum);
        assert_eq!(checksum.replace_range(1, &[], &[]), checksum);
    }
}

#[test]
fn datagrams_without_a_checksum_never_get_one() {
    for old in 0..=0xffff_u16 {
        for new in CHOSEN {
            let (old, new) = (old.to_be_bytes(), new.to_be_bytes());
            assert_eq!(Checksum::NONE.replace_udp(old, new), Checksum::NONE);
            assert_eq!(Checksum::NONE.replace_range_udp(1, &old, &new), Checksum::NONE);
            let updated = Checksum(old).replace_udp(old, new);
            assert_eq!(updated == Checksum::NONE, old == [0, 0], "{old:02x?} becomes {updated}");
        }
    }
}

#[test]
#[should_panic(expected = "3 bytes replaced by 2: an update must not change the length")]
fn parts_of_different_lengths_panic() {
    let _ = Checksum([0x12, 0x34]).replace_range(0, &[1, 2, 3], &[1, 2]);
}

proptest! {
    #[test]
    fn updates_give_the_sum_of_the_changed_data(
        (mut data, place) in prop::collection::vec(any::<u8>(), 1..200)
            .prop_flat_map(|data| { let len = data.len(); (Just(data), 0..len) }),
        new in prop::collection::vec(any::<u8>(), 0..64),
    ) {
        data.push(1); // so that the data never becomes all zero
        let new = &new[..new.len().min(data.len() - 1 - place)];
        let range = place..place + new.len();
        let before = internet(&data);
        let before_udp = Sum::new().add(&data).finish_udp();
        let old = data[range.clone()].to_vec();
        data[range].copy_from_slice(new);
        prop_assert_eq!(before.replace_range(place, &old, new), internet(&data));
        prop_assert_eq!(before_udp.replace_range_udp(place, &old, new), Sum::new().add(&data).finish_udp());
    }

    #[test]
    fn consecutive_updates_give_the_sum_of_the_changed_data(
        mut data in prop::collection::vec(any::<u8>(), 40..80),
        changes in prop::collection::vec((0_usize..17, any::<[u8; 4]>()), 0..20),
    ) {
        data.push(1);
        let mut checksum = internet(&data);
        for (word, new) in changes {
            let place: &mut [u8; 4] = (&mut data[2 * word..2 * word + 4]).try_into().unwrap();
            checksum = checksum.replace(*place, new);
            *place = new;
        }
        prop_assert_eq!(checksum, internet(&data));
    }
}
