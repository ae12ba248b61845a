//! After the timing: what was timed must still be what was verified.

use super::Bench;
use super::loops::{self, Batch, Follow};
use carryline_variants::Family;
use carryline_variants::checksum::reference::folded_sum;
use carryline_variants::landing::Landing;
use carryline_verification::forked;
use carryline_verification::status::{Now, Phase, StatusPage};
use rand_core::Rng;

impl Bench<'_> {
    /// Calls every member once more on the arguments of its last batch and compares with the reference: what was
    /// timed must still be what was verified. Returns the indices of members that now answer wrong.
    pub fn recheck(&mut self, status: &StatusPage) -> Vec<usize> {
        let mut wrong = Vec::new();
        let call = self.fixed_call().unwrap_or(self.calls[0]);
        let len = call.len as usize;
        let dst = self.dst_start.wrapping_add(call.dst as usize);
        let src = self.src_start.wrapping_add(call.src as usize);
        for member in 1..self.members.len() {
            status.set(Now {
                subject: self.members[member].subject,
                phase: Phase::Time as u64,
                len: call.len,
                // Filled, called, summed by the reference and compared.
                detail: 4 * call.len,
                ..Now::default()
            });
            let seed = self.members[member].lengths.seed(self.rng.next_u64() as u32);
            // SAFETY: the same arguments as in a batch, inside the arenas; nothing else uses them.
            if !unsafe { still_right(&self.members[member].landing, self.family, dst, src, len, seed) } {
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

    /// A message's sum, segment by segment, against the reference's over the joined bytes.
    fn recheck_messages(&self) -> Vec<usize> {
        let segments = self.condition.segments.len();
        let mut joined = Vec::new();
        for call in &self.calls[..segments] {
            let start = self.src_start.wrapping_add(call.src as usize);
            // SAFETY: a call's source lies inside the source arena, which nothing writes now.
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
            // SAFETY: calls of this bench's own list; the routine is verified, and sums, as only such have segments.
            let sum = unsafe { loops::message_sum_of(&self.members[*member].landing, &batch) };
            sum != expected
        };
        (1..self.members.len()).filter(is_wrong).map(|member| member - 1).collect()
    }
}

/// Calls a routine once and compares what it did with the reference.
///
/// # Safety
/// The arguments must be within the routine's contract, and the buffers not shared.
unsafe fn still_right(
    landing: &Landing,
    family: Family,
    dst: *mut u8,
    src: *const u8,
    len: usize,
    seed: u32,
) -> bool {
    if family.writes() {
        // SAFETY: len mapped bytes of ours.
        unsafe { dst.write_bytes(0xa5, len) };
    }
    // SAFETY: the arguments are within the contract, says the caller.
    let sum = unsafe { loops::call(landing, dst, src, len, seed) };
    // SAFETY: len mapped bytes of ours, which nothing writes from here on; the two buffers are distinct.
    let source = || unsafe { std::slice::from_raw_parts(src, len) };
    // SAFETY: len mapped bytes of ours, which nothing writes from here on; the two buffers are distinct.
    let destination = || unsafe { std::slice::from_raw_parts(dst, len) };
    let sums = || carryline::checksum::fold(sum) == folded_sum(source(), seed);
    match family {
        Family::Zero => destination().iter().all(|byte| *byte == 0),
        Family::Copy => destination() == source(),
        Family::Checksum => sums(),
        Family::CopyChecksum => sums() && destination() == source(),
    }
}
