//! A routine with a known slowdown: a checksum with about 5 % more work. Measurements must find it slower;
//! `carryline selftest` and the tests check that.

use carryline_variants::{Family, Routine, find};
use carryline_verification::subject::{Subject, SubjectId};

/// Its name. It is not in the collection, because it is not a variant.
pub const NAME: &str = "planted_slowdown";

/// The divisor of the part that is summed a second time: 5 %. The second call itself costs little, because it
/// overlaps.
const EXTRA: usize = 20;

/// Message sizes at which the extra work is about 5 %.
pub const SIZES: [u64; 5] = [7000, 8000, 9000, 10_000, 12_000];

/// The variant of which it is a slower copy.
pub const ORIGINAL: &str = "adc_1_stream";

/// The subject, if `id` is its name.
#[must_use]
pub fn subject(id: &SubjectId) -> Option<Subject> {
    (id.name == NAME && id.family == Family::Checksum)
        .then(|| Subject::of_routine(NAME, Routine::Checksum(run)))
}

/// # Safety
/// `len` bytes are readable at `data`.
unsafe extern "C" fn run(data: *const u8, len: usize, seed: u32) -> u32 {
    let Some(Routine::Checksum(original)) = find(Family::Checksum, ORIGINAL).map(|variant| variant.routine)
    else {
        unreachable!("the original is in the collection on every architecture")
    };
    // SAFETY: the first call has the caller's arguments; the second reads the beginning of the same buffer.
    unsafe {
        let sum = original(data, len, seed);
        std::hint::black_box(original(data, len / EXTRA, 0));
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_computes_the_same_sums_as_its_original() {
        let id = SubjectId { family: Family::Checksum, name: NAME.to_owned() };
        assert_eq!(subject(&id).map(|subject| subject.id()), Some(id), "known by name");
        let bytes: Vec<u8> = (0..9000_u32).map(|i| (i * 7 + i / 256) as u8).collect();
        // SAFETY: `bytes` is valid for reads of its length.
        let sum = unsafe { run(bytes.as_ptr(), bytes.len(), 5) };
        assert_eq!(
            carryline::checksum::fold(sum),
            carryline_variants::checksum::reference::folded_sum(&bytes, 5)
        );
        assert!(subject(&SubjectId { family: Family::Zero, name: NAME.to_owned() }).is_none());
    }
}
