//! Each code path for large sizes from its own smallest length on, whatever the thresholds are: moving a
//! threshold must only affect speed.

use super::{copy, zero};
use crate::blocks::{self, Block16, READ_FAR, READ_KEPT, READ_ONCE};
use crate::cpu::{Features, features};
use core::arch::x86_64::{__m256i, __m512i};

/// The fill byte; even, as `check_filling` requires.
const BYTE: u8 = 0x5a;

fn some(first: usize) -> impl Iterator<Item = usize> {
    (first..first + 140).chain((first + 140..3400).step_by(61))
}

fn some_copies(first: usize) -> impl Iterator<Item = usize> {
    (first..first + 66).chain([first + 191, 1023, 1024, 1100, 2111, 3300])
}

/// The paths of one vector level. A macro, because blocks take on the features of the function that they are
/// in.
macro_rules! check_level {
    ($name:literal, $(#[$level:meta])* $block:ty) => {{
        /// # Safety
        /// At least as many bytes as the block requires are accessible; the CPU has the level.
        $(#[$level])*
        unsafe extern "C" fn zero_loop(dst: *mut u8, len: usize) {
            // SAFETY: accessible bytes of at least the block's least length, by contract.
            unsafe { blocks::zero_aligned_loop::<$block>(dst, len) }
        }
        /// # Safety
        /// At least as many bytes as the block requires are accessible; the CPU has the level.
        $(#[$level])*
        unsafe extern "C" fn zero_non_temporal(dst: *mut u8, len: usize) {
            // SAFETY: accessible bytes of at least the block's least length, by contract.
            unsafe { blocks::zero_non_temporal::<$block>(dst, len) }
        }
        /// # Safety
        /// At least as many bytes as the block requires are accessible; the CPU has the level.
        $(#[$level])*
        unsafe extern "C" fn fill_loop(dst: *mut u8, len: usize) {
            // SAFETY: accessible bytes of at least the block's least length, by contract.
            unsafe { blocks::fill_aligned_loop::<$block>(dst, len, BYTE) }
        }
        /// # Safety
        /// At least as many bytes as the block requires are accessible; the CPU has the level.
        $(#[$level])*
        unsafe extern "C" fn fill_non_temporal(dst: *mut u8, len: usize) {
            // SAFETY: accessible bytes of at least the block's least length, by contract.
            unsafe { blocks::fill_non_temporal::<$block>(dst, len, BYTE) }
        }
        /// # Safety
        /// At least as many bytes as the block requires are accessible; the CPU has the level.
        $(#[$level])*
        unsafe extern "C" fn forward(dst: *mut u8, src: *const u8, len: usize) {
            // SAFETY: accessible bytes of at least the block's least length, by contract.
            unsafe { blocks::copy_forward::<$block, READ_KEPT>(dst, src, len) }
        }
        /// # Safety
        /// At least as many bytes as the block requires are accessible; the CPU has the level.
        $(#[$level])*
        unsafe extern "C" fn forward_once(dst: *mut u8, src: *const u8, len: usize) {
            // SAFETY: accessible bytes of at least the block's least length, by contract.
            unsafe { blocks::copy_forward::<$block, READ_ONCE>(dst, src, len) }
        }
        /// # Safety
        /// At least as many bytes as the block requires are accessible; the CPU has the level.
        $(#[$level])*
        unsafe extern "C" fn apart(dst: *mut u8, src: *const u8, len: usize) {
            // SAFETY: accessible bytes of at least the block's least length, by contract.
            unsafe { blocks::copy_apart::<$block>(dst, src, len) }
        }
        /// # Safety
        /// At least as many bytes as the block requires are accessible; the CPU has the level.
        $(#[$level])*
        unsafe extern "C" fn backward(dst: *mut u8, src: *const u8, len: usize) {
            // SAFETY: accessible bytes of at least the block's least length, by contract.
            unsafe { blocks::copy_backward::<$block>(dst, src, len) }
        }
        /// # Safety
        /// At least as many bytes as the block requires are accessible; the CPU has the level.
        $(#[$level])*
        unsafe extern "C" fn by_distance(dst: *mut u8, src: *const u8, len: usize) {
            // SAFETY: accessible bytes of at least the block's least length, by contract.
            unsafe { blocks::copy_by_distance::<$block, { blocks::STORED_AT_ONCE }>(dst, src, len) }
        }
        /// # Safety
        /// At least as many bytes as the block requires are accessible; the CPU has the level.
        $(#[$level])*
        unsafe extern "C" fn non_temporal(dst: *mut u8, src: *const u8, len: usize) {
            // SAFETY: accessible bytes of at least the block's least length, by contract.
            unsafe { blocks::copy_non_temporal::<$block, READ_KEPT>(dst, src, len) }
        }
        /// # Safety
        /// At least as many bytes as the block requires are accessible; the CPU has the level.
        $(#[$level])*
        unsafe extern "C" fn non_temporal_once(dst: *mut u8, src: *const u8, len: usize) {
            // SAFETY: accessible bytes of at least the block's least length, by contract.
            unsafe { blocks::copy_non_temporal::<$block, READ_ONCE>(dst, src, len) }
        }
        /// # Safety
        /// At least as many bytes as the block requires are accessible; the CPU has the level.
        $(#[$level])*
        unsafe extern "C" fn non_temporal_far(dst: *mut u8, src: *const u8, len: usize) {
            // SAFETY: accessible bytes of at least the block's least length, by contract.
            unsafe { blocks::copy_non_temporal::<$block, READ_FAR>(dst, src, len) }
        }
        let above_five = 5 * size_of::<$block>() + 1;
        let above_eight = 8 * size_of::<$block>() + 1;
        let zeros = [("zero_aligned_loop", zero_loop as crate::dispatch::ZeroFn, above_eight), ("zero_non_temporal", zero_non_temporal, 64)];
        for (name, path, first) in zeros {
            // SAFETY: len accessible bytes, at least `first`; the CPU has the level.
            zero::check_everywhere(&format!("{} {name}", $name), &|dst, len| unsafe { path(dst, len) }, some(first));
        }
        let fills = [("fill_aligned_loop", fill_loop as crate::dispatch::ZeroFn, above_eight), ("fill_non_temporal", fill_non_temporal, 64)];
        for (name, path, first) in fills {
            let name = format!("{} {name}", $name);
            // SAFETY: len accessible bytes, at least `first`; the CPU has the level.
            zero::check_filling(BYTE, &name, &|dst, len| unsafe { path(dst, len) }, some(first));
        }
        let copies = [
            ("copy_forward", forward as crate::dispatch::CopyFn, above_five),
            ("copy_forward once", forward_once, above_five),
            ("copy_apart", apart, 6 * size_of::<$block>()),
            ("copy_backward", backward, above_eight),
            ("copy_by_distance", by_distance, above_eight),
            ("copy_non_temporal", non_temporal, 64),
            ("copy_non_temporal once", non_temporal_once, 64),
            ("copy_non_temporal far", non_temporal_far, 64),
        ];
        for (name, path, first) in copies {
            let name = format!("{} {name}", $name);
            // SAFETY: len accessible bytes in both buffers, at least `first`; the CPU has the level.
            copy::check_everywhere(&name, &|dst, src, len| unsafe { path(dst, src, len) }, some_copies(first));
        }
    }};
}

#[test]
fn every_path_is_exact_from_its_smallest_length() {
    check_level!("sse2", Block16);
    if features().contains(Features::AVX2) {
        check_level!(
            "avx2",
            #[target_feature(enable = "avx2")]
            __m256i
        );
    }
    if features().contains(Features::AVX512) {
        check_level!(
            "avx512",
            #[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]
            __m512i
        );
    }
}

#[test]
fn string_instructions_are_exact_from_one_line() {
    // SAFETY: len accessible bytes, at least 64.
    zero::check_everywhere("rep stosb", &|dst, len| unsafe { blocks::zero_rep_stosb(dst, len) }, some(64));
    // SAFETY: len accessible bytes, at least 64.
    let fill = |dst, len| unsafe { blocks::fill_rep_stosb(dst, len, BYTE) };
    zero::check_filling(BYTE, "rep stosb with a byte", &fill, some(64));
    // SAFETY: len accessible bytes in both buffers, at least 64.
    let rep_movsb = |dst: *mut u8, src: *const u8, len| unsafe { blocks::copy_rep_movsb(dst, src, len) };
    copy::check_everywhere("rep movsb", &rep_movsb, some_copies(64));
}

#[test]
fn clzero_is_exact_from_one_line() {
    let has_clzero = features().contains(Features::CLZERO);
    zero::check_everywhere(
        "clzero",
        // SAFETY: len accessible bytes, at least 64.
        &|dst, len| unsafe {
            assert_eq!(blocks::zero_by_clzero(dst, len), has_clzero);
            if !has_clzero {
                blocks::zero_non_temporal::<Block16>(dst, len);
            }
        },
        some(64),
    );
}
