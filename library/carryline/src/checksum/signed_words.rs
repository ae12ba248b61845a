//! Words made signed: the constants and the last steps of kernels in assembly that multiply words.
//!
//! The instructions that multiply words and add the products in pairs take signed words. An exclusive or with 0x8000 makes signed
//! ones, each less by 32768. What that subtracts from a sum, the bias, is added again: to the sum, or to each of its lanes before
//! the first word, where the number of vectors is fixed.
//!
//! ```text
//! len 99:  [       0 .. 64       ]
//!               35 [       35 .. 99       ]    of these, only 64 .. 99 are added
//! ```
//!
//! Vectors that end with data of an odd length hold its words shifted by one byte. Their factors are 256 instead of 1, which is as
//! good as to swap the bytes of each word: 2^16 is 1 modulo 65535. With its bias, a sum of 256 bytes, half of them shifted, is below
//! 2^31, so that it is right in lanes of 32 bits.

use core::mem::offset_of;

/// Makes two words signed, less 32768, by an exclusive or, or by an addition in each byte.
const FLIP: u32 = 0x8000_8000;

/// The factors of two words.
const ONES: u32 = 0x0001_0001;

/// What [`FLIP`] subtracts from a lane, by its two words.
const LANE_BIAS: u32 = 2 * 0x8000;

/// What [`FLIP`] subtracts from the sum of 64 bytes.
pub(super) const BIAS_OF_64_BYTES: u32 = 16 * LANE_BIAS;

/// The constants. Of a pair, the second is for shifted words, or for as many words in place as shifted ones.
#[repr(C, align(64))]
pub(super) struct Constants {
    flip: u32,
    factors: [u32; 2],
    lanes_of_1: u32,
    lanes_of_2: [u32; 2],
    lanes_of_4: [u32; 2],
    bias_of_64: [u32; 2],
    bias_of_128: [u32; 2],
}

/// Those that the kernels load. Aligned, so that no load crosses a cache line.
pub(super) static CONSTANTS: Constants = Constants {
    flip: FLIP,
    factors: [ONES, 256 * ONES],
    lanes_of_1: LANE_BIAS,
    lanes_of_2: [2 * LANE_BIAS, (1 + 256) * LANE_BIAS],
    lanes_of_4: [4 * LANE_BIAS, (2 + 2 * 256) * LANE_BIAS],
    bias_of_64: [BIAS_OF_64_BYTES, 256 * BIAS_OF_64_BYTES],
    bias_of_128: [2 * BIAS_OF_64_BYTES, (1 + 256) * BIAS_OF_64_BYTES],
};

/// The offset of the factors of two words.
pub(super) const FACTORS: usize = offset_of!(Constants, factors);
/// The offset of what the lanes of a sum of one vector start with.
pub(super) const LANES_OF_1: usize = offset_of!(Constants, lanes_of_1);
/// The same for two vectors, or for one in place and one shifted.
pub(super) const LANES_OF_2: usize = offset_of!(Constants, lanes_of_2);
/// The same for four vectors, or for two in place and two shifted.
pub(super) const LANES_OF_4: usize = offset_of!(Constants, lanes_of_4);
/// The offset of the bias of 64 bytes.
pub(super) const BIAS_OF_64: usize = offset_of!(Constants, bias_of_64);
/// The same for 128 bytes, or for 64 in place and 64 shifted.
pub(super) const BIAS_OF_128: usize = offset_of!(Constants, bias_of_128);

/// Swaps the bytes of the sum in `eax`, as words shifted by one byte require, if the lowest bit of `$shifted` is set. Uses the
/// register `$other`.
macro_rules! swap_if_shifted {
    ($shifted:literal, $other:literal) => {
        concat!("rorx ", $other, ", eax, 24\ntest ", $shifted, ", 1\ncmovnz eax, ", $other, "\n")
    };
}
pub(super) use swap_if_shifted;

/// Returns the one's-complement sum of `eax` and of the register `$seed`.
macro_rules! return_with {
    ($seed:literal) => {
        concat!("add eax, ", $seed, "\nadc eax, 0\nret\n")
    };
}
pub(super) use return_with;
