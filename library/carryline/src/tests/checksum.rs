//! Sums: every length, offset, pattern and seed; lengths at which 32-bit lanes could overflow; page edges.

use super::guarded::Guarded;
use super::patterns::{Pattern, SEEDS, exact_sum, expected};
use super::{long_lengths, usable};
use crate::checksum::kernels::KERNELS;
use crate::checksum::{self, fold};
use crate::dispatch::ChecksumFn;

fn check(data: *const u8, len: usize, exact: u64, seeds: &[u32], context: &dyn std::fmt::Debug) {
    #[cfg(target_arch = "x86_64")]
    let elsewhere = Some(("adc, not in assembly", checksum::adc::partial as ChecksumFn));
    #[cfg(not(target_arch = "x86_64"))]
    let elsewhere = None;
    for (name, kernel) in usable(KERNELS).map(|kernel| (kernel.name, kernel.function)).chain(elsewhere) {
        for seed in seeds {
            // SAFETY: `data` has len readable bytes; the CPU has what the kernel needs.
            let sum = unsafe { kernel(data, len, *seed) };
            assert_eq!(
                fold(sum),
                expected(exact, *seed),
                "{name}: len {len}, address % 64 = {}, seed {seed:#x}, {context:?}",
                data.addr() % 64,
            );
        }
    }
}

#[test]
fn sums_are_exact_at_every_length_offset_pattern_and_seed() {
    let mut buffer = Guarded::new(4096);
    for pattern in Pattern::ALL {
        for len in 0..=600 {
            for distance in 0..64 {
                for data in [buffer.start().wrapping_add(distance), buffer.ending(len, distance)] {
                    let bytes = buffer.at(data, len);
                    pattern.fill(bytes, len * 64 + distance);
                    let exact = exact_sum(bytes);
                    check(data, len, exact, &SEEDS, &pattern);
                }
            }
        }
        // The bytes next to the buffer of the next pattern must not be a pattern themselves.
        super::patterns::fill_random(buffer.all(), 3);
    }
}

#[test]
fn sums_are_exact_at_lengths_where_lanes_could_overflow() {
    #[cfg(target_arch = "x86_64")]
    let blocks = [checksum::avx2_vectors::BLOCK_BYTES, checksum::avx512::BLOCK_BYTES];
    #[cfg(not(target_arch = "x86_64"))]
    let blocks = [];
    let thresholds: Vec<usize> = [131_072, 262_144, 524_288, 1 << 20, 2 << 20]
        .into_iter()
        .chain(blocks.iter().flat_map(|block| [*block, 2 * block, 3 * block]))
        .collect();
    let mut buffer = Guarded::new(3 << 20);
    for pattern in Pattern::ALL {
        pattern.fill(buffer.all(), 12_345);
        let bytes = buffer.all().to_vec();
        for len in long_lengths(1 << 13, &thresholds) {
            for distance in [0, 1, 31, 32, 63] {
                let data = buffer.ending(len, distance);
                let from = buffer.index_of(data);
                check(data, len, exact_sum(&bytes[from..from + len]), &[0, 0xffff_ffff], &pattern);
            }
        }
    }
}

#[test]
fn sums_are_exact_over_64_mebibytes() {
    let len = 64 << 20;
    let mut bytes = vec![0xff; len + 64];
    for odd in [0, 1] {
        let data = &bytes[odd..odd + len];
        check(data.as_ptr(), len, exact_sum(data), &[0, 1, 0xffff_ffff], &"ones");
    }
    bytes.fill(0);
    check(bytes.as_ptr(), len, 0, &[0, 1, 0xffff], &"zeros");
}

#[test]
fn a_sum_split_at_an_even_offset_continues_from_its_seed() {
    let mut message = [0; 301];
    Pattern::Random.fill(&mut message, 9);
    let whole = fold(checksum::partial(&message, 0));
    for at in (0..=300).step_by(2) {
        let (head, tail) = message.split_at(at);
        assert_eq!(fold(checksum::partial(tail, checksum::partial(head, 0))), whole, "split at {at}");
    }
}

#[test]
fn packets_with_their_checksum_sum_to_zero() {
    for len in 2..300 {
        let mut packet = vec![0; len];
        Pattern::Random.fill(&mut packet, len);
        packet[..2].fill(0);
        let finished = checksum::internet(&packet);
        packet[..2].copy_from_slice(&finished.0);
        assert_eq!(checksum::internet(&packet), [0, 0], "len {len}");
        packet[len / 2] ^= 0x10;
        assert_ne!(checksum::internet(&packet), [0, 0], "len {len}, one bit flipped");
    }
    assert_eq!(checksum::internet(&[]), [0xff, 0xff]);
}

#[test]
fn folds_give_the_remainder_of_every_sum() {
    for sum in SEEDS.into_iter().chain([2, 0xfffe, 0x1_fffe, 0xfffe_0001, 0x1234_5678]) {
        assert_eq!(fold(sum), expected(0, sum), "{sum:#x}");
    }
    for sum in
        [0, 1, 0xffff_ffff, 1 << 32, 0xffff_ffff_0000_0000, 0xffff_ffff_0000_0001, u64::MAX - 1, u64::MAX]
    {
        assert_eq!(fold(checksum::fold_64(sum)), expected_u128(u128::from(sum)), "{sum:#x}");
        for high in [0, 1, u64::MAX - 1, u64::MAX] {
            let wide = u128::from(high) << 64 | u128::from(sum);
            assert_eq!(fold(checksum::fold_64(checksum::fold_128(wide))), expected_u128(wide), "{wide:#x}");
        }
    }
}

fn expected_u128(sum: u128) -> u16 {
    if sum == 0 { 0 } else { ((sum - 1) % 0xffff + 1) as u16 }
}

#[test]
fn empty_buffers_may_have_any_pointer() {
    for dangling in super::dangling_pointers() {
        for kernel in usable(KERNELS) {
            // SAFETY: no byte is read.
            assert_eq!(unsafe { (kernel.function)(dangling, 0, 5) }, 5, "{}", kernel.name);
        }
        for kernel in usable(checksum::kernels::COPY_AND_SUM_KERNELS) {
            // SAFETY: no byte is read or written.
            assert_eq!(unsafe { (kernel.function)(dangling, dangling, 0, 5) }, 5, "{}", kernel.name);
        }
    }
}
