//! The blob of a finished round.
//!
//! All numbers are little-endian, without padding:
//!
//! | bytes | content |
//! | --- | --- |
//! | 1 | format, 2 |
//! | 8 | run, signed |
//! | 8 | sequence: the number of rounds of the run stored before, signed |
//! | 4 4 4 | replicate, round, multiplier |
//! | 1 | 1 if cycles were counted, else 0; absent in format 1 |
//! | 8 8 | null_ticks, ticks_per_cycle (IEEE 754 binary64) |
//! | 2, then as many | length of the situation's name, and the name in UTF-8 |
//! | 4 | number of samples |
//! | 1 to 5 each | cell indices, LEB128 |
//! | 8 each | gross ticks per call, binary64, in the order of the indices |
//! | 4 | CRC-32 of all preceding bytes |
//!
//! These are postcard's encodings, except that lengths are not LEB128. Run and sequence are also in the
//! table's key: a blob found by a damaged key is not mistaken for another.

use super::crc32::Crc32;
use carryline_results::round::{Round, RoundRecord};
use postcard::{fixint, take_from_bytes, to_extend};
use serde::{Deserialize, Serialize};

const FORMAT: u8 = 2;
/// Without `counted`: rounds stored before version 2 of the schema.
const WITHOUT_COUNTED: u8 = 1;

/// The fields before `counted`.
#[derive(Serialize, Deserialize)]
struct Key {
    format: u8,
    #[serde(with = "fixint::le")]
    run: i64,
    #[serde(with = "fixint::le")]
    sequence: i64,
    #[serde(with = "fixint::le")]
    replicate: u32,
    #[serde(with = "fixint::le")]
    number: u32,
    #[serde(with = "fixint::le")]
    multiplier: u32,
}

/// The fields between `counted` and the name.
#[derive(Serialize, Deserialize)]
struct Clock {
    null_ticks: f64,
    ticks_per_cycle: f64,
    #[serde(with = "fixint::le")]
    name_bytes: u16,
}

#[derive(Serialize, Deserialize)]
struct Count(#[serde(with = "fixint::le")] u32);

/// Encodes the record; `None` if the situation's name is too long for the format.
pub(super) fn encode(record: &RoundRecord, run: i64, sequence: i64) -> Option<Vec<u8>> {
    let RoundRecord { situation, replicate, round } = record;
    let Round { number, multiplier, samples, null_ticks, ticks_per_cycle, counted } = round;
    let (replicate, number, multiplier) = (*replicate, *number, *multiplier);
    let key = Key { format: FORMAT, run, sequence, replicate, number, multiplier };
    let name_bytes = u16::try_from(situation.len()).ok()?;
    let clock = Clock { null_ticks: *null_ticks, ticks_per_cycle: *ticks_per_cycle, name_bytes };
    let count = u32::try_from(samples.len()).ok()?;
    let mut blob = to_extend(&(key, counted, clock), Vec::new()).ok()?;
    blob.extend(situation.as_bytes());
    blob = to_extend(&Count(count), blob).ok()?;
    for place in 0..count {
        blob = to_extend(&place, blob).ok()?;
    }
    blob.extend(samples.iter().flat_map(|ticks| ticks.to_le_bytes()));
    let sum = Crc32::new().bytes(&blob).sum();
    to_extend(&Count(sum), blob).ok()
}

/// Decodes a record, or returns the fault.
pub(super) fn decode(blob: &[u8], run: i64, sequence: i64) -> Result<RoundRecord, &'static str> {
    let (body, sum) = blob.split_last_chunk::<4>().ok_or("a round is truncated")?;
    if Crc32::new().bytes(body).sum() != u32::from_le_bytes(*sum) {
        return Err("a round's checksum does not match");
    }
    // From here on, the bytes are those written; the checks detect an incompatible writer.
    fields(body, run, sequence).ok_or("a round is not of the expected format")
}

fn fields(body: &[u8], run: i64, sequence: i64) -> Option<RoundRecord> {
    let (key, rest): (Key, _) = take_from_bytes(body).ok()?;
    if (key.run, key.sequence) != (run, sequence) {
        return None;
    }
    let (counted, rest) = match key.format {
        FORMAT => take_from_bytes(rest).ok()?,
        WITHOUT_COUNTED => (false, rest),
        _ => return None,
    };
    let (clock, rest): (Clock, _) = take_from_bytes(rest).ok()?;
    let (name, rest) = rest.split_at_checked(clock.name_bytes.into())?;
    let (Count(count), mut rest) = take_from_bytes(rest).ok()?;
    // Every version has written the indices 0, 1, 2 etc.
    for place in 0..count {
        let index: u32;
        (index, rest) = take_from_bytes(rest).ok()?;
        if index != place {
            return None;
        }
    }
    let (samples, []) = rest.as_chunks() else { return None };
    if samples.len() != count as usize {
        return None;
    }
    let round = Round {
        number: key.number,
        multiplier: key.multiplier,
        samples: samples.iter().map(|ticks| f64::from_le_bytes(*ticks)).collect(),
        null_ticks: clock.null_ticks,
        ticks_per_cycle: clock.ticks_per_cycle,
        counted,
    };
    let situation = String::from_utf8(name.to_vec()).ok()?;
    Some(RoundRecord { situation, replicate: key.replicate, round })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The position of `counted`.
    const COUNTED_AT: usize = 1 + 8 + 8 + 12;

    /// The blob with a changed body and a valid checksum.
    fn changed(blob: &[u8], change: impl Fn(&mut Vec<u8>)) -> Vec<u8> {
        let mut body = blob[..blob.len() - 4].to_vec();
        change(&mut body);
        let sum = Crc32::new().bytes(&body).sum();
        body.extend(sum.to_le_bytes());
        body
    }

    fn record() -> RoundRecord {
        let samples = (0..130).map(|place| [4.25, 1e-300, 0.1, 3e9][place % 4]).collect();
        RoundRecord {
            situation: "packets, cold ü".to_owned(),
            replicate: 3,
            round: Round {
                number: 17,
                multiplier: 2,
                samples,
                null_ticks: 4.06,
                ticks_per_cycle: 0.59,
                counted: true,
            },
        }
    }

    fn with_samples(samples: Vec<f64>) -> RoundRecord {
        RoundRecord { round: Round { samples, ..record().round }, ..record() }
    }

    #[test]
    fn records_round_trip_bit_for_bit() {
        let blob = encode(&record(), 9, 4).expect("a short name");
        assert_eq!(decode(&blob, 9, 4), Ok(record()));
        let gap = with_samples(vec![f64::NAN, f64::INFINITY, -0.0]);
        let back = decode(&encode(&gap, 9, 4).expect("a short name"), 9, 4).expect("intact");
        let bits = |r: &RoundRecord| r.round.samples.iter().map(|ticks| ticks.to_bits()).collect::<Vec<_>>();
        assert_eq!(bits(&back), bits(&gap));
        let empty = RoundRecord { situation: String::new(), ..with_samples(vec![]) };
        assert_eq!(decode(&encode(&empty, 1, 0).expect("no name"), 1, 0), Ok(empty));
    }

    #[test]
    fn the_layout_matches_the_documentation() {
        let small = RoundRecord { situation: "s".to_owned(), ..with_samples(vec![1.0; 129]) };
        let blob = encode(&small, 1, 2).expect("a short name");
        assert_eq!(blob.len(), 1 + 8 + 8 + 12 + 1 + 16 + 2 + 1 + 4 + 130 + 129 * 8 + 4);
        assert_eq!(blob[..17], [2, 1, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0]);
        assert_eq!(blob[COUNTED_AT], 1);
        assert_eq!(blob[46..55], [1, 0, b's', 129, 0, 0, 0, 0, 1]);
        assert_eq!(blob[53 + 127..53 + 130], [127, 0x80, 0x01], "the last index takes two bytes");
    }

    /// Existing files contain such blobs: the checksum of the blob from the format's first encoder.
    #[test]
    fn the_encoding_is_unchanged() {
        let blob = encode(&record(), 9, 4).expect("a short name");
        assert_eq!(Crc32::new().bytes(&blob[..blob.len() - 4]).sum(), 311_339_958);
    }

    #[test]
    fn counted_is_preserved() {
        for counted in [false, true] {
            let round = RoundRecord { round: Round { counted, ..record().round }, ..record() };
            let blob = encode(&round, 9, 4).expect("a short name");
            assert_eq!(decode(&blob, 9, 4), Ok(round));
        }
        let blob = encode(&record(), 9, 4).expect("a short name");
        assert!(decode(&changed(&blob, |body| body[COUNTED_AT] = 2), 9, 4).is_err());
    }

    #[test]
    fn rounds_of_format_1_decode() {
        let blob = changed(&encode(&record(), 9, 4).expect("a short name"), |body| {
            body[0] = WITHOUT_COUNTED;
            body.remove(COUNTED_AT);
        });
        let expected = RoundRecord { round: Round { counted: false, ..record().round }, ..record() };
        assert_eq!(decode(&blob, 9, 4), Ok(expected));
    }

    #[test]
    fn flipped_bits_and_truncation_are_detected() {
        let blob = encode(&record(), 9, 4).expect("a short name");
        for bit in 0..blob.len() * 8 {
            let mut flipped = blob.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            assert!(decode(&flipped, 9, 4).is_err(), "bit {bit}");
        }
        for length in 0..blob.len() {
            assert!(decode(&blob[..length], 9, 4).is_err(), "{length} bytes");
        }
    }

    #[test]
    fn rounds_of_another_run_or_sequence_are_rejected() {
        let blob = encode(&record(), 9, 4).expect("a short name");
        assert!(decode(&blob, 8, 4).is_err());
        assert!(decode(&blob, 9, 5).is_err());
    }

    #[test]
    fn wrong_counts_allocate_nothing() {
        let mut body = encode(&record(), 9, 4).expect("a short name");
        body.truncate(body.len() - 4);
        let count_at = 46 + 2 + record().situation.len();
        body[count_at..count_at + 4].copy_from_slice(&u32::MAX.to_le_bytes());
        let sum = Crc32::new().bytes(&body).sum();
        body.extend(sum.to_le_bytes());
        assert!(decode(&body, 9, 4).is_err());
    }

    #[test]
    fn wrong_indices_are_rejected() {
        let mut body = encode(&with_samples(vec![1.0]), 9, 4).expect("a short name");
        body.truncate(body.len() - 4);
        let index_at = body.len() - 9;
        body[index_at] = 1;
        let sum = Crc32::new().bytes(&body).sum();
        body.extend(sum.to_le_bytes());
        assert!(decode(&body, 9, 4).is_err());
    }

    #[test]
    fn names_too_long_for_the_format_are_rejected() {
        let long = |bytes| RoundRecord { situation: "x".repeat(bytes), ..record() };
        assert!(encode(&long(65_535), 1, 0).is_some());
        assert!(encode(&long(65_536), 1, 0).is_none());
    }
}
