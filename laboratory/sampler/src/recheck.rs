//! Checks after the timing that the timed routines still behave as verified.

use super::Bench;
use super::loops::{self, Batch, Follow};
use carryline_variants::Family;
use carryline_variants::checksum::reference::folded_sum;
use carryline_variants::landing::Landing;
use carryline_verification::forked;
use carryline_verification::status::{Now, Phase, StatusPage};
use rand_core::Rng;

impl Bench<'_> {
    /// Calls every member once more with the arguments of its last batch and compares with the reference: the
    /// timed routine must still be the verified one. Returns the indices of members that now give wrong
    /// results.
    pub fn recheck(&mut self, status: &StatusPage) -> Vec<usize> {
        let mut wrong = Vec::new();
        let call = self.fixed_call().unwrap_or(self.calls[0]);
        let len = call.len as usize;
        let dst = self.dst_start.wrapping_add(call.dst as usize);
        let src = self.src_start.wrapping_add(call.src as usize);
        // Filled, called and compared, or summed by the reference.
        let now = |subject| Now {
            subject,
            phase: Phase::Time as u64,
            len: call.len,
            detail: 4 * call.len,
            ..Now::default()
        };
        // The reference processes one byte at a time: once for all members.
        let unseeded = matches!(self.family, Family::Checksum | Family::CopyChecksum).then(|| {
            status.set(now(u64::MAX));
            // SAFETY: a call's source, inside its arena; nothing writes it while the slice exists.
            folded_sum(unsafe { std::slice::from_raw_parts(src, len) }, 0)
        });
        for member in 1..self.members.len() {
            status.set(now(self.members[member].subject));
            let seed = self.members[member].lengths.seed(self.rng.next_u64() as u32);
            let sum = unseeded.map_or(0, |sum| with_seed(sum, seed));
            let landing = &self.members[member].landing;
            // SAFETY: the same arguments as in a batch, inside the arenas; nothing else uses them.
            if !unsafe { is_still_correct(landing, self.family, dst, src, len, (seed, sum)) } {
                wrong.push(member - 1);
            }
            forked::exit_if_child();
        }
        if self.condition.segments.len() > 1 {
            wrong.extend(self.recheck_messages());
            forked::exit_if_child();
            wrong.sort_unstable();
            wrong.dedup();
        }
        wrong
    }

    /// Compares a message's sum, segment by segment, with the reference's over the joined bytes.
    fn recheck_messages(&self) -> Vec<usize> {
        let segments = self.condition.segments.len();
        let mut joined = Vec::new();
        for call in &self.calls[..segments] {
            let start = self.src_start.wrapping_add(call.src as usize);
            // SAFETY: a call's source is inside the source arena, which nothing is writing.
            joined.extend_from_slice(unsafe { std::slice::from_raw_parts(start, call.len as usize) });
        }
        let expected = folded_sum(&joined, 0);
        let batch = Batch {
            dst: self.dst_start,
            src: self.src_start,
            fixed: None,
            calls: &self.calls[..segments],
            count: 1,
            segments,
            seed: 0,
            dependence: loops::INDEPENDENT,
            follow: Follow::Nothing,
            placement: 0,
        };
        let is_wrong = |member: &usize| {
            // SAFETY: calls of this bench's own list; the routine is verified, and sums, since only such
            // families have segments.
            let sum = unsafe { loops::message_sum_of(&self.members[*member].landing, &batch) };
            sum != expected
        };
        (1..self.members.len()).filter(is_wrong).map(|member| member - 1).collect()
    }
}

/// The folded sum with a seed, from the one with seed zero: zero only if both are.
fn with_seed(unseeded: u16, seed: u32) -> u16 {
    let mut sum = u64::from(unseeded) + u64::from(seed);
    while sum >> 16 != 0 {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    sum as u16
}

/// Whether all bytes are zero, many at a time: buffers may have gigabytes.
fn is_zero(bytes: &[u8]) -> bool {
    bytes.chunks(4096).all(|chunk| chunk.iter().fold(0, |any, byte| any | byte) == 0)
}

/// Calls a routine once and compares its effects with the reference. With `seed`, its sum must be `wanted`.
///
/// # Safety
/// The arguments must meet the routine's contract, and the buffers must not be shared.
unsafe fn is_still_correct(
    landing: &Landing,
    family: Family,
    dst: *mut u8,
    src: *const u8,
    len: usize,
    (seed, wanted): (u32, u16),
) -> bool {
    if family.writes() {
        // SAFETY: len mapped bytes that we own.
        unsafe { dst.write_bytes(0xa5, len) };
    }
    // SAFETY: the arguments meet the contract, by the caller's contract.
    let sum = unsafe { loops::call(landing, dst, src, len, seed) };
    // SAFETY: len mapped bytes that we own and that nothing writes from here on; the two buffers are
    // distinct.
    let source = || unsafe { std::slice::from_raw_parts(src, len) };
    // SAFETY: len mapped bytes that we own and that nothing writes from here on; the two buffers are
    // distinct.
    let destination = || unsafe { std::slice::from_raw_parts(dst, len) };
    let sums = || carryline::checksum::fold(sum) == wanted;
    match family {
        Family::Zero => is_zero(destination()),
        Family::Copy => destination() == source(),
        Family::Checksum => sums(),
        Family::CopyChecksum => sums() && destination() == source(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_added_later_gives_the_reference_s_sum() {
        let messages: [&[u8]; 5] = [&[], &[0; 8], &[0xff; 8], &[0xff, 0xff, 0xff, 0xfe, 1], b"packet"];
        for message in messages {
            for seed in [0, 1, 0xffff, 0x1_0000, 0xffff_0000, u32::MAX] {
                let direct = folded_sum(message, seed);
                assert_eq!(with_seed(folded_sum(message, 0), seed), direct, "{message:?} {seed:#x}");
            }
        }
    }

    #[test]
    fn any_nonzero_byte_is_detected() {
        let mut bytes = vec![0; 3 * 4096 + 5];
        assert!(is_zero(&bytes) && is_zero(&[]));
        for at in [0, 4095, 4096, 2 * 4096 + 7, 3 * 4096 + 4] {
            bytes[at] = 0x80;
            assert!(!is_zero(&bytes), "{at}");
            bytes[at] = 0;
        }
    }
}
