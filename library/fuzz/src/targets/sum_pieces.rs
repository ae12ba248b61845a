//! `sum_pieces`: a sum of pieces of any length, added in every possible way, compared with the reference over
//! all bytes.
//!
//! The kernel is the one that the library chooses; `CARRYLINE_FORCE` forces another.

use crate::input::{Input, MOST_BYTES};
use carryline::checksum::{Checksum, Sum, fold};
use carryline_variants::checksum::reference::folded_sum;
use std::io::IoSlice;
use std::mem::MaybeUninit;

/// The most pieces of one sum.
const MOST_PIECES: usize = 40;

pub(super) fn check(bytes: &[u8]) {
    let mut input = Input::new(bytes);
    let (mut sum, mut data, mut steps) = (Sum::new(), Vec::new(), Vec::new());
    for _ in 0..MOST_PIECES {
        if input.is_empty() {
            break;
        }
        let way = Way::ALL[usize::from(input.byte()) % Way::ALL.len()];
        let len = input.length(MOST_BYTES - data.len());
        let from = data.len();
        data.resize(from + len, 0);
        if way != Way::Zeros {
            input.fill(&mut data[from..]);
        }
        steps.push((way, len));
        sum = way.add(sum, &data[from..], &mut input);
        if data.len() == MOST_BYTES {
            break;
        }
    }
    check_sum(sum, &data, &steps);
}

/// The way in which a piece is added to the sum.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Way {
    Add,
    Fresh,
    Iov,
    IoSlices,
    Zeros,
    /// Summed separately, in parts of any length, and combined.
    Then,
    Copy,
    CopyOver,
    /// The first bytes as an array, the rest as a slice.
    Const,
    /// After converting the sum to 32 bits or to its raw parts and back.
    Pause,
}

impl Way {
    const ALL: [Way; 10] = [
        Way::Add,
        Way::Fresh,
        Way::Iov,
        Way::IoSlices,
        Way::Zeros,
        Way::Then,
        Way::Copy,
        Way::CopyOver,
        Way::Const,
        Way::Pause,
    ];

    /// The sum with `piece` appended.
    fn add(self, sum: Sum, piece: &[u8], input: &mut Input<'_>) -> Sum {
        match self {
            Way::Add => sum.add(piece),
            Way::Fresh => sum.add_fresh(piece),
            Way::Iov => sum.add_iov(cut(piece, input)),
            Way::IoSlices => sum.add_io_slices(&cut(piece, input).map(IoSlice::new)),
            Way::Zeros => sum.add_zeros(piece.len()),
            Way::Then => {
                let [first, second, third] = cut(piece, input);
                let behind = Sum::new().add(second).combine(Sum::new().add_fresh(third));
                sum.add(first).combine(behind)
            }
            Way::Copy => {
                let mut copied = vec![MaybeUninit::new(0x6b); piece.len()];
                let (sum, copied) = sum.copy(&mut copied, piece);
                assert!(copied == piece, "{} bytes were not copied", piece.len());
                sum
            }
            Way::CopyOver => {
                let mut copied = vec![0x6b; piece.len()];
                let sum = sum.copy_over(&mut copied, piece);
                assert!(copied == piece, "{} bytes were not copied over", piece.len());
                sum
            }
            Way::Const => array::<61>(sum, piece)
                .or_else(|| array::<40>(sum, piece))
                .or_else(|| array::<20>(sum, piece))
                .or_else(|| array::<7>(sum, piece))
                .or_else(|| array::<1>(sum, piece))
                .unwrap_or(sum),
            Way::Pause => {
                let (acc, odd) = sum.into_raw_parts();
                let again =
                    if odd { Sum::from_raw_parts(acc, odd) } else { Sum::from_partial(sum.to_partial()) };
                again.add(piece)
            }
        }
    }
}

/// Splits a piece into three at any places.
fn cut<'a>(piece: &'a [u8], input: &mut Input<'_>) -> [&'a [u8]; 3] {
    let (head, tail) = piece.split_at(input.length(piece.len()));
    let (middle, tail) = tail.split_at(input.length(tail.len()));
    [head, middle, tail]
}

/// Adds the first `N` bytes as an array and the rest as a slice; `None` if there are fewer.
fn array<const N: usize>(sum: Sum, piece: &[u8]) -> Option<Sum> {
    let (first, rest) = piece.split_first_chunk::<N>()?;
    Some(sum.add_const(first).add(rest))
}

/// Checks all results that a sum can give.
fn check_sum(sum: Sum, data: &[u8], steps: &[(Way, usize)]) {
    let expected = folded_sum(data, 0);
    let field = Checksum((!expected).to_ne_bytes());
    let at = || format!("{} bytes as {steps:?}", data.len());
    assert!(sum.finish() == field, "{}: finished {}, not {field}", at(), sum.finish());
    let udp = if field == [0, 0] { Checksum([0xff, 0xff]) } else { field };
    assert!(sum.finish_udp() == udp, "{}: finished for UDP {}, not {udp}", at(), sum.finish_udp());
    assert!(sum.verify() == (expected == 0xffff), "{}: verifies: {}", at(), sum.verify());
    assert!(sum.offload_seed() == expected.to_ne_bytes(), "{}: seed {:x?}", at(), sum.offload_seed());
    assert!(fold(sum.to_partial()) == expected, "{}: as a partial sum {:#x}", at(), sum.to_partial());
    let (whole, more) = (Sum::new().add(data), b"more");
    assert!(sum == whole && sum.add(more) == whole.add(more), "{}: {sum:?}, whole {whole:?}", at());
}
