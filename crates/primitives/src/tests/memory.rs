//! Zero and copy: every length, every offset of both buffers, next to guards on both sides; thresholds; and each
//! path of the large sizes from its own smallest length on, so that a moved threshold can only cost time.

use super::guarded::Guarded;
use super::{long_lengths, patterns, usable};
use crate::dispatch::{CopyFn, ZeroFn};
use crate::{copy, zero};

const MARGIN_BYTES: usize = 256;

/// Zeroes `len` bytes at `target` and compares them, and what is around, with what must be there.
fn check_zero(name: &str, kernel: ZeroFn, buffer: &mut Guarded, image: &[u8], target: *mut u8, len: usize) {
    let index = buffer.index_of(target);
    let window = index.saturating_sub(MARGIN_BYTES)..(index + len + MARGIN_BYTES).min(image.len());
    buffer.all()[window.clone()].copy_from_slice(&image[window.clone()]);
    // SAFETY: `target` has len accessible bytes; the CPU has what the kernel needs.
    unsafe { kernel(target, len) };
    let after = &buffer.all()[window.clone()];
    let wrong = after.iter().zip(window.clone()).position(|(byte, at)| {
        let inside = at >= index && at < index + len;
        *byte != if inside { 0 } else { image[at] }
    });
    if let Some(wrong) = wrong {
        let at = (window.start + wrong) as isize - index as isize;
        panic!("{name}: len {len}, address % 64 = {}: byte {at} is wrong", target.addr() % 64);
    }
}

fn zero_at_all_places(name: &str, kernel: ZeroFn, lengths: impl Iterator<Item = usize>) {
    let mut buffer = Guarded::new(4096);
    let image = buffer.all().iter().map(|byte| byte | 1).collect::<Vec<u8>>();
    for len in lengths {
        for distance in 0..64 {
            let (first, last) = (buffer.start().wrapping_add(distance), buffer.ending(len, distance));
            check_zero(name, kernel, &mut buffer, &image, first, len);
            check_zero(name, kernel, &mut buffer, &image, last, len);
        }
    }
}

#[test]
fn zero_is_exact_at_every_length_and_offset() {
    for kernel in usable(zero::KERNELS) {
        zero_at_all_places(kernel.name, kernel.function, 0..=600);
    }
}

#[test]
fn zero_is_exact_around_thresholds() {
    #[cfg(target_arch = "x86_64")]
    let thresholds = [zero::avx2::REP_STOSB_FROM_BYTES, zero::avx2::NON_TEMPORAL_FROM_BYTES];
    #[cfg(not(target_arch = "x86_64"))]
    let thresholds = [];
    let mut buffer = Guarded::new(17 << 20);
    let image = buffer.all().to_vec();
    for kernel in usable(zero::KERNELS) {
        for len in long_lengths(1 << 17, &thresholds) {
            for distance in [0, 1, 63] {
                let target = buffer.ending(len, distance);
                check_zero(kernel.name, kernel.function, &mut buffer, &image, target, len);
            }
        }
    }
}

/// Copies and compares the destination, and what is around, with what must be there.
fn check_copy(
    name: &str,
    kernel: CopyFn,
    (buffer, image): (&mut Guarded, &[u8]),
    dst: *mut u8,
    (source, src): (&[u8], *const u8),
) {
    let (index, len) = (buffer.index_of(dst), source.len());
    let window = index.saturating_sub(MARGIN_BYTES)..(index + len + MARGIN_BYTES).min(image.len());
    buffer.all()[window.clone()].copy_from_slice(&image[window.clone()]);
    // SAFETY: `dst` and `src` have len accessible bytes in different mappings; the CPU has what is needed.
    unsafe { kernel(dst, src, len) };
    let all = buffer.all();
    let (before, behind) = (window.start..index, index + len..window.end);
    let right = all[index..index + len] == *source
        && all[before.clone()] == image[before]
        && all[behind.clone()] == image[behind];
    assert!(
        right,
        "{name}: len {len}, destination % 64 = {}, source % 64 = {}: bytes {:?} are wrong",
        dst.addr() % 64,
        src.addr() % 64,
        window
            .filter(|at| all[*at]
                != at.checked_sub(index).and_then(|i| source.get(i).copied()).unwrap_or(image[*at]))
            .map(|at| at as isize - index as isize)
            .collect::<Vec<_>>(),
    );
}

fn copy_at_all_places(name: &str, kernel: CopyFn, lengths: impl Iterator<Item = usize> + Clone) {
    let mut buffer = Guarded::new(8192);
    let image = buffer.all().to_vec();
    let mut sources = Guarded::new(8192);
    patterns::fill_random(sources.all(), 77);
    sources.make_read_only();
    let contents = sources.all().to_vec();
    for len in lengths {
        for src_distance in 0..64 {
            for dst_distance in 0..64 {
                for (dst, src) in [
                    (buffer.start().wrapping_add(dst_distance), sources.start().wrapping_add(src_distance)),
                    (buffer.ending(len, dst_distance), sources.ending(len, src_distance)),
                ] {
                    let from = sources.index_of(src);
                    check_copy(name, kernel, (&mut buffer, &image), dst, (&contents[from..from + len], src));
                }
            }
        }
    }
}

#[test]
fn copy_is_exact_at_every_length_and_offset() {
    for kernel in usable(copy::KERNELS) {
        copy_at_all_places(kernel.name, kernel.function, 0..=600);
    }
}

#[test]
fn copy_is_exact_around_thresholds() {
    #[cfg(target_arch = "x86_64")]
    let thresholds = [copy::avx2::REP_MOVSB_FROM_BYTES, copy::avx2::NON_TEMPORAL_FROM_BYTES];
    #[cfg(not(target_arch = "x86_64"))]
    let thresholds = [];
    let mut buffer = Guarded::new(17 << 20);
    let image = buffer.all().to_vec();
    let mut sources = Guarded::new(17 << 20);
    patterns::fill_random(sources.all(), 78);
    let contents = sources.all().to_vec();
    for kernel in usable(copy::KERNELS) {
        for len in long_lengths(1 << 17, &thresholds) {
            for (dst_distance, src_distance) in [(0, 0), (1, 0), (0, 1), (17, 63), (63, 17)] {
                let (dst, src) = (buffer.ending(len, dst_distance), sources.ending(len, src_distance));
                let from = sources.index_of(src);
                let source = (&contents[from..from + len], src.cast_const());
                check_copy(kernel.name, kernel.function, (&mut buffer, &image), dst, source);
            }
        }
    }
}

#[test]
#[cfg(target_arch = "x86_64")]
fn each_path_of_large_sizes_is_exact_from_its_smallest_length_on() {
    use crate::cpu::{Features, features};
    let some = |first: usize| (first..first + 140).chain((first + 140..3400).step_by(61));
    zero_at_all_places("zero_rep_stosb", zero::avx2::zero_rep_stosb, some(64));
    let some_copies = |first: usize| (first..first + 66).chain([1023, 1024, 1100, 3300]);
    copy_at_all_places("copy_rep_movsb", copy::avx2::copy_rep_movsb, some_copies(64));
    if features().contains(Features::AVX2) {
        zero_at_all_places("avx2 zero_non_temporal", zero::avx2::zero_non_temporal, some(128));
        copy_at_all_places("avx2 copy_non_temporal", copy::avx2::copy_non_temporal, some_copies(128));
    }
    if features().contains(Features::AVX512) {
        zero_at_all_places("avx512 zero_non_temporal", zero::avx512::zero_non_temporal, some(128));
        copy_at_all_places("avx512 copy_non_temporal", copy::avx512::copy_non_temporal, some_copies(128));
    }
}

/// The contract forbids overlap, but blocks that load all before they store are what `memmove` is made of.
#[test]
fn small_copies_load_everything_before_they_store() {
    let template: Vec<u8> = (0..=255).collect();
    for kernel in usable(copy::KERNELS) {
        for len in 0..=128 {
            for to in 0..=128 {
                let mut buffer = template.clone();
                let base = buffer.as_mut_ptr();
                // SAFETY: 64 + 128 and 128 + 128 are within the 256 bytes. Up to 128 bytes, kernels accept an overlap.
                unsafe { (kernel.function)(base.add(to), base.add(64), len) };
                assert_eq!(
                    buffer[to..to + len],
                    template[64..64 + len],
                    "{}: len {len} to {to}",
                    kernel.name
                );
            }
        }
    }
}

#[test]
fn no_bytes_may_be_at_any_pointer() {
    for dangling in
        [std::ptr::null_mut(), std::ptr::dangling_mut(), std::ptr::without_provenance_mut(usize::MAX)]
    {
        // SAFETY: no byte is read or written.
        unsafe {
            usable(zero::KERNELS).for_each(|kernel| (kernel.function)(dangling, 0));
            usable(copy::KERNELS).for_each(|kernel| (kernel.function)(dangling, dangling, 0));
            for kernel in usable(crate::checksum::KERNELS) {
                assert_eq!((kernel.function)(dangling, 0, 5), 5, "{}", kernel.name);
            }
            for kernel in usable(crate::checksum::COPY_AND_SUM_KERNELS) {
                assert_eq!((kernel.function)(dangling, dangling, 0, 5), 5, "{}", kernel.name);
            }
        }
    }
}

#[test]
#[should_panic(expected = "the destination has 3 bytes, the source 4")]
fn a_copy_between_different_lengths_names_both() {
    crate::copy(&mut [0; 3], &[0; 4]);
}
