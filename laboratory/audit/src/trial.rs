//! Questions chosen to be answered wrongly, beyond the vectors; the reference knows their answers.
//!
//! Short before long and plain before strange, so that what fails first is near the smallest input that fails.

use crate::reference;
use crate::wire::{Data, Reply, Request, Rule};
use carryline_verification::adversarial::{self, KINDS, OVERFLOWING};
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// Lengths around those of packets and of unrolled loops.
const MIDDLING: [usize; 24] = [
    127, 128, 129, 255, 256, 257, 511, 512, 513, 576, 1024, 1279, 1280, 1281, 1460, 1499, 1500, 1501, 4095,
    4097, 9000, 16_384, 65_534, 65_535,
];
/// Words at which 16-bit arithmetic turns over.
const WORDS: [[u8; 2]; 12] = [
    [0, 0],
    [0xff, 0xff],
    [0xff, 0xfe],
    [0xfe, 0xff],
    [0, 1],
    [1, 0],
    [0x7f, 0xff],
    [0x80, 0],
    [0, 0xff],
    [0xff, 0],
    [0x12, 0x34],
    [0xab, 0xcd],
];

/// A group of questions that one ability answers; where it is unsupported, the rest of the group is not asked.
pub struct Group {
    /// What they are about, for the progress line.
    pub about: &'static str,
    /// The questions.
    pub questions: Box<dyn Iterator<Item = Request>>,
}

/// All groups; data is at most `longest` bytes long.
#[must_use]
pub fn groups(seed: u64, longest: usize) -> Vec<Group> {
    let group = |about, questions| Group { about, questions };
    vec![
        group("short messages", Box::new(short(seed))),
        group("packets", Box::new(middling(seed))),
        group("pieces", Box::new(pieces(seed))),
        group("seeds", Box::new(onto(seed))),
        group("updates", Box::new(updates(Rule::Internet, seed))),
        group("updates of UDP", Box::new(updates(Rule::Udp, seed))),
        group("messages longer than packets", Box::new(long(seed, longest))),
    ]
}

fn sum(kind: usize, len: usize, seed: u64) -> Request {
    Request::Sum(Data::literal(&adversarial::bytes(kind, len, seed)))
}

fn short(seed: u64) -> impl Iterator<Item = Request> {
    (0..=72).flat_map(move |len| (0..KINDS).map(move |kind| sum(kind, len, seed)))
}

fn middling(seed: u64) -> impl Iterator<Item = Request> {
    MIDDLING.into_iter().flat_map(move |len| (0..KINDS).map(move |kind| sum(kind, len, seed)))
}

/// Around the lengths at which 32-bit accumulators overflow, in one lane or several; the vectors have longer data.
fn long(seed: u64, longest: usize) -> impl Iterator<Item = Request> {
    let around = |base: usize| {
        [base - 2, base - 1, base, base + 1, base + 2, base + 4, base + 16, base + 64, base + 512]
    };
    let lengths = [131_072, 196_608, 262_144, 524_288, 1 << 20, 1 << 21].into_iter().flat_map(around);
    let lengths = (131_068..131_100).step_by(4).chain(lengths).filter(move |len| *len <= longest);
    lengths.flat_map(move |len| {
        let kinds = if len > 1 << 20 { &OVERFLOWING[..1] } else { &OVERFLOWING[..] };
        kinds.iter().map(move |kind| sum(*kind, len, seed))
    })
}

fn pieces(seed: u64) -> impl Iterator<Item = Request> {
    let cut = move |kind: usize, len: usize, cuts: &[usize]| {
        let bytes = adversarial::bytes(kind, len, seed);
        let mut pieces = Vec::new();
        let mut from = 0;
        for &at in cuts.iter().chain([&len]) {
            pieces.push(Data::literal(&bytes[from..at]));
            from = at;
        }
        Request::Pieces(pieces)
    };
    let two = (1..=12)
        .flat_map(|len| (0..=len).map(move |at| (len, at)))
        .flat_map(move |(len, at)| OVERFLOWING.into_iter().map(move |kind| cut(kind, len, &[at])));
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    let many = (0..400).map(move |turn| {
        let len = 8 + (rng.next_u64() % if turn % 8 == 0 { 3000 } else { 120 }) as usize;
        let mut cuts: Vec<usize> =
            (0..2 + turn % 6).map(|_| (rng.next_u64() % (len as u64 + 1)) as usize).collect();
        cuts.sort_unstable();
        cut(turn % KINDS, len, &cuts)
    });
    two.chain(many)
}

fn onto(seed: u64) -> impl Iterator<Item = Request> {
    WORDS.into_iter().flat_map(move |sum| {
        (0..=24).flat_map(move |len| {
            [0, 1, 6, 8, 22, 23].into_iter().map(move |kind| Request::Onto {
                sum,
                data: Data::literal(&adversarial::bytes(kind, len, seed)),
            })
        })
    })
}

/// Changes of one word, and of four bytes, in data that has the checksum before; no change makes all data zero, which no
/// update can see.
fn updates(rule: Rule, seed: u64) -> impl Iterator<Item = Request> {
    let around = adversarial::bytes(6, 6, seed);
    let one =
        WORDS.into_iter().flat_map(|old| WORDS.into_iter().map(move |new| (old.to_vec(), new.to_vec())));
    let two = WORDS.into_iter().map(|word| ([word, [0x45, 0]].concat(), [[0x45, 0], word].concat()));
    one.chain(two).flat_map(move |(old, new)| {
        let others = [around.clone(), vec![0, 1], vec![0xff, 0xfe], {
            // With which the checksum becomes 0000.
            let Some(Reply::Field(field)) = reference::answer(&Request::Sum(Data::literal(&new))) else {
                return Vec::new();
            };
            field.to_vec()
        }];
        let request = |rest: &Vec<u8>| {
            let data = [rest.as_slice(), &old].concat();
            let Some(Reply::Field(field)) = reference::answer(&Request::Sum(Data::literal(&data))) else {
                return None;
            };
            let field = match (rule, field) {
                (Rule::Udp, [0, 0]) => [0xff, 0xff],
                (_, field) => field,
            };
            let becomes_zero = rest.iter().chain(&new).all(|byte| *byte == 0);
            let was_zero = data.iter().all(|byte| *byte == 0);
            let (offset, old, new) = (rest.len(), old.clone(), new.clone());
            (!becomes_zero && !was_zero).then_some(Request::Update {
                rule,
                checksum: field,
                offset,
                old,
                new,
            })
        };
        let mut asked: Vec<Request> = others.iter().filter_map(request).collect();
        if rule == Rule::Udp {
            asked.push(Request::Update {
                rule,
                checksum: [0, 0],
                offset: 2,
                old: old.clone(),
                new: new.clone(),
            });
        }
        asked
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_question_has_an_answer_and_groups_are_large_enough() {
        for group in groups(1, 300_000) {
            let mut asked = 0;
            for request in group.questions {
                assert!(reference::answer(&request).is_some(), "{}", request.line(true));
                assert!(request.input_len() <= 300_000);
                asked += 1;
            }
            assert!(asked >= 100, "{}: {asked}", group.about);
        }
    }

    #[test]
    fn updates_end_at_the_checksum_of_the_new_data() {
        // The rule's own equation against a sum of everything, where neither is zero.
        let Some(request) = updates(Rule::Internet, 1).nth(20) else { panic!("there are more") };
        let Request::Update { checksum, old, new, .. } = &request else { panic!("an update") };
        let sum = |bytes: &[u8]| u64::from(carryline_variants::checksum::reference::folded_sum(bytes, 0));
        let before = u64::from(!u16::from_ne_bytes(*checksum));
        let after = (before + 65_535 - sum(old) + sum(new)) % 65_535;
        let Some(Reply::Field(field)) = reference::answer(&request) else { panic!("a field") };
        assert_eq!(u64::from(!u16::from_ne_bytes(field)) % 65_535, after);
    }
}
