//! Classifies the fault that a wrong answer shows.

use crate::reference;
use crate::wire::{Data, Reply, Request, Rule};
use carryline_verification::FaultKind;
use serde::{Deserialize, Serialize};
use std::fmt;

/// The longest IP packet, except for jumbograms.
pub const LONGEST_PACKET_BYTES: usize = 65_535;

/// A class of faults.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Class {
    /// A carry is lost: the sum is too small by one.
    LostCarry,
    /// Correct up to the length of an IP packet, wrong for longer input: an accumulator overflows.
    LongInput,
    /// An odd last byte is put in the wrong half of its word, or ignored.
    OddLength,
    /// A piece of odd length, or at an odd offset, is added as if it started a word.
    OddPiece,
    /// `0000` and `ffff`, the two zeros of one's-complement arithmetic, are confused.
    TwoZeros,
    /// UDP: a computed `0000` is sent, or a received `0000` is treated as a checksum.
    UdpZero,
    /// The sum to which a message is added is lost or added incorrectly.
    Seed,
    /// An incremental update results in a checksum that does not match the data.
    Update,
    /// The sum of a pseudo-header is wrong.
    PseudoHeader,
    /// The checksum of a packet is wrong.
    Packet,
    /// The verdict on a received packet is wrong.
    Verdict,
    /// A well-formed packet is rejected.
    Malformed,
    /// The bytes of the result are swapped.
    ByteOrder,
    /// The result is complemented although it should not be, or vice versa.
    Complement,
    /// The sum is wrong in another way.
    WrongSum,
    /// The implementation returned an error or panicked.
    Error,
    /// Its process crashed.
    Crash,
    /// It did not answer in time.
    TimedOut,
    /// It sent a line that is not an answer.
    Garbage,
    /// Verification in memory found a fault: in bytes, registers or other threads.
    Memory(FaultKind),
}

impl Class {
    /// True for faults of sums that occur at any length; a fault of long input is then not reported
    /// separately.
    #[must_use]
    pub const fn shows_at_any_length(self) -> bool {
        matches!(
            self,
            Class::LostCarry | Class::OddLength | Class::ByteOrder | Class::Complement | Class::WrongSum
        )
    }

    /// The word in JSON; printed with spaces instead of underscores.
    #[must_use]
    pub fn word(self) -> String {
        let value = match self {
            Class::Memory(kind) => serde_json::to_value(kind),
            class => serde_json::to_value(class),
        };
        value.ok().and_then(|value| value.as_str().map(str::to_owned)).unwrap_or_default()
    }
}

impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.word().replace('_', " "))
    }
}

/// The class of the fault that a wrong answer shows.
#[must_use]
pub fn of(request: &Request, right: &Reply, got: &Reply) -> Class {
    let input = request.input();
    let (Reply::Field(expected), Reply::Field(got)) = (right, got) else {
        return match (request, got) {
            (Request::Sum(_) | Request::Onto { .. }, Reply::Error(_))
                if input.len() > LONGEST_PACKET_BYTES =>
            {
                Class::LongInput
            }
            (_, Reply::Error(_)) => Class::Error,
            (Request::Verify(_), _) if matches!(right, Reply::Absent) => Class::UdpZero,
            (Request::Verify(_), _) => Class::Verdict,
            _ => Class::Malformed,
        };
    };
    let zeros = [*expected, *got].iter().all(|field| matches!(field, [0, 0] | [0xff, 0xff]));
    match request {
        Request::Update { rule: Rule::Udp, .. } if zeros => Class::UdpZero,
        Request::Packet(_) if zeros => Class::UdpZero,
        _ if zeros => Class::TwoZeros,
        Request::Update { .. } => Class::Update,
        Request::Pseudo { .. } => Class::PseudoHeader,
        Request::Packet(_) => Class::Packet,
        _ if input.len() > LONGEST_PACKET_BYTES => Class::LongInput,
        Request::Pieces(pieces) if begins_odd(pieces) => Class::OddPiece,
        Request::Onto { .. } => Class::Seed,
        _ => of_sum(&input, *expected, *got),
    }
}

/// True if a non-empty piece starts at an odd offset.
fn begins_odd(pieces: &[Data]) -> bool {
    let mut before = 0;
    pieces.iter().any(|piece| {
        let odd = before % 2 == 1 && !piece.is_empty();
        before += piece.len();
        odd
    })
}

fn of_sum(input: &Data, expected: [u8; 2], got: [u8; 2]) -> Class {
    if input.len() % 2 == 1 {
        let bytes = input.bytes();
        let (even, last) = bytes.split_at(bytes.len() - 1);
        let without = reference::answer(&Request::Sum(Data::literal(even)));
        let before = reference::answer(&Request::Sum(Data::literal(&[even, &[0], last].concat())));
        if [without, before].contains(&Some(Reply::Field(got))) {
            return Class::OddLength;
        }
    }
    let (right, wrong) = (!u16::from_ne_bytes(expected), !u16::from_ne_bytes(got));
    if right == !wrong {
        return Class::Complement;
    }
    let short_by_one =
        |right: u16, wrong: u16| (u32::from(right) + 65_534) % 65_535 == u32::from(wrong) % 65_535;
    if short_by_one(right, wrong) || short_by_one(right.swap_bytes(), wrong.swap_bytes()) {
        return Class::LostCarry;
    }
    if right == wrong.swap_bytes() { Class::ByteOrder } else { Class::WrongSum }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn class(request: &Request, wrong: [u8; 2]) -> Class {
        let right = reference::answer(request).expect("the reference knows");
        assert_ne!(right, Reply::Field(wrong));
        of(request, &right, &Reply::Field(wrong))
    }

    #[test]
    fn answers_determine_the_class_of_the_fault() {
        let sum = |bytes: &[u8]| Request::Sum(Data::literal(bytes));
        // ff ff + 01 00 is 01 00; without the carry, 00 00.
        assert_eq!(class(&sum(&[0xff, 0xff, 1, 0, 1, 0]), [0xfe, 0xff]), Class::LostCarry);
        assert_eq!(class(&sum(&[0xff, 0xff]), [0xff, 0xff]), Class::TwoZeros);
        assert_eq!(class(&sum(&[0x12, 0x34]), [0x12, 0x34]), Class::Complement);
        assert_eq!(class(&sum(&[0x12, 0x34]), [0xcb, 0xed]), Class::ByteOrder);
        // 12 34 56: the last byte is lost, or taken as the second byte of its word.
        assert_eq!(class(&sum(&[0x12, 0x34, 0x56]), [0xed, 0xcb]), Class::OddLength);
        assert_eq!(class(&sum(&[0x12, 0x34, 0x56]), [0xed, 0x75]), Class::OddLength);
        assert_eq!(class(&sum(&[0x12, 0x34]), [0x77, 0x77]), Class::WrongSum);
        let long = Request::Sum(Data::repeated(&[0xff, 0xfe], 131_078));
        assert_eq!(class(&long, [0x77, 0x77]), Class::LongInput);
        let pieces = Request::Pieces(vec![Data::literal(&[1]), Data::literal(&[0xff; 4])]);
        assert_eq!(class(&pieces, [0xff, 0]), Class::OddPiece);
    }
}
