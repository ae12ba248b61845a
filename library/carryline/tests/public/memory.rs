//! Zeroing and copying of random pieces with random intents, compared with the standard library.

use carryline::{Intent, Next, copy, drain, zero};
use proptest::prelude::*;

fn intents() -> impl Strategy<Value = Intent> {
    let next = prop::sample::select(vec![
        Next::Unknown,
        Next::ReadHere,
        Next::ReadElsewhere,
        Next::NotSoon,
        Next::Device,
    ]);
    let job = prop_oneof![Just(0), 0..100_000_usize, Just(1 << 20), Just(usize::MAX)];
    (next, job, any::<bool>()).prop_map(|(next, job_bytes, source_done)| {
        let intent = Intent::new(next).part_of(job_bytes);
        if source_done { intent.source_done() } else { intent }
    })
}

/// Mostly small, sometimes above the thresholds.
fn lengths() -> impl Strategy<Value = usize> {
    prop_oneof![4 => 0..300_usize, 3 => 300..3000_usize, 1 => 3000..60_000_usize]
}

/// Bytes that depend only on their offset, in all bits.
fn bytes(len: usize, salt: u8) -> Vec<u8> {
    (0..len).map(|at| (at.wrapping_mul(0x9e37_79b9) >> 11) as u8 ^ salt).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn exactly_the_given_piece_is_zeroed(before in 1..200_usize, len in lengths(), after in 1..200_usize, intent in intents()) {
        let original = bytes(before + len + after, 3);
        let mut expected = original.clone();
        expected[before..before + len].fill(0);
        let mut buffer = original.clone();
        zero::fill_with(&mut buffer[before..before + len], intent);
        prop_assert!(buffer == expected);
        let mut buffer = original.clone();
        // SAFETY: no other thread sees the buffer.
        unsafe { zero::fill_unfenced(&mut buffer[before..before + len], intent) };
        drain();
        prop_assert!(buffer == expected);
        let mut buffer = original;
        zero::secret(&mut buffer[before..before + len]);
        prop_assert!(buffer == expected);
    }

    #[test]
    fn only_dirty_lines_are_written(
        len in lengths(), offset in 0..64_usize, dirty in prop::collection::vec(any::<prop::sample::Index>(), 0..20),
    ) {
        let mut buffer = vec![0; len + offset];
        let piece = &mut buffer[offset..];
        let start = piece.as_ptr().addr();
        for place in dirty.iter().filter(|_| len > 0) {
            piece[place.index(len)] = 0x10;
        }
        let line_of = |at: usize| (start + at) / 64;
        let mut lines: Vec<usize> = (0..len).filter(|at| piece[*at] != 0).map(line_of).collect();
        lines.dedup();
        let expected = (0..len).filter(|at| lines.contains(&line_of(*at))).count();
        prop_assert_eq!(zero::if_dirty(piece), expected);
        prop_assert!(piece.iter().all(|byte| *byte == 0));
    }

    #[test]
    fn exactly_the_given_piece_is_copied(before in 1..200_usize, from in 0..200_usize, len in lengths(), intent in intents()) {
        let (original, source) = (bytes(before + len + 100, 3), bytes(from + len, 0x5a));
        let mut expected = original.clone();
        expected[before..before + len].copy_from_slice(&source[from..]);
        let mut buffer = original.clone();
        copy::bytes_with(&mut buffer[before..before + len], &source[from..], intent);
        prop_assert!(buffer == expected);
        let mut buffer = original;
        // SAFETY: no other thread sees the buffer.
        unsafe { copy::bytes_unfenced(&mut buffer[before..before + len], &source[from..], intent) };
        drain();
        prop_assert!(buffer == expected);
    }

    #[test]
    fn pieces_move_to_any_offset(from in 0..5000_usize, to in 0..5000_usize, len in lengths(), intent in intents()) {
        let original = bytes(5000 + len, 3);
        let mut expected = original.clone();
        expected.copy_within(from..from + len, to);
        let mut buffer = original.clone();
        copy::within(&mut buffer, from..from + len, to);
        prop_assert!(buffer == expected);
        let mut buffer = original;
        copy::within_with(&mut buffer, from..from + len, to, intent);
        prop_assert!(buffer == expected);
    }
}
