//! Reduces a failing request to a minimal one.

mod packets;

use crate::wire::{Data, Request};
use std::time::{Duration, Instant};

/// The budget of a reduction.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    /// The maximum number of requests.
    pub requests: u32,
    /// The maximum duration.
    pub time: Duration,
}

impl Default for Effort {
    fn default() -> Effort {
        Effort { requests: 4000, time: Duration::from_secs(5) }
    }
}

struct Budget<'f> {
    left: u32,
    end: Instant,
    fails: &'f mut dyn FnMut(&Request) -> bool,
}

impl Budget<'_> {
    fn fails(&mut self, request: &Request) -> bool {
        if self.left == 0 || Instant::now() > self.end {
            return false;
        }
        self.left -= 1;
        (self.fails)(request)
    }
}

/// Returns a request that also fails and is as small and simple as possible.
pub fn reduce(request: &Request, effort: Effort, fails: &mut dyn FnMut(&Request) -> bool) -> Request {
    let mut budget = Budget { left: effort.requests, end: Instant::now() + effort.time, fails };
    match request {
        Request::Sum(data) => reduce_data(&mut budget, data, &|data| Request::Sum(data)),
        Request::Onto { sum, data } => {
            let sum = *sum;
            reduce_data(&mut budget, data, &|data| Request::Onto { sum, data })
        }
        Request::Pieces(pieces) => reduce_pieces(&mut budget, pieces.clone()),
        Request::Update { .. } => packets::update(&mut budget, request),
        Request::Pseudo { .. } => packets::pseudo_header(&mut budget, request),
        Request::Packet(packet) => packets::packet(&mut budget, packet, &Request::Packet),
        Request::Verify(packet) => packets::packet(&mut budget, packet, &Request::Verify),
        Request::Hello => Request::Hello,
    }
}

/// The smallest number that fails, by bisection, given that `most` fails.
fn smallest(most: usize, fails: &mut dyn FnMut(usize) -> bool) -> usize {
    let (mut right, mut wrong) = (0, most);
    if most == 0 || fails(0) {
        return 0;
    }
    while wrong - right > 1 {
        let middle = right + (wrong - right) / 2;
        if fails(middle) { wrong = middle } else { right = middle }
    }
    wrong
}

/// Removes or joins pieces, then reduces each.
fn reduce_pieces(budget: &mut Budget<'_>, mut pieces: Vec<Data>) -> Request {
    let mut at = 0;
    while at < pieces.len() {
        let mut without = pieces.clone();
        without.remove(at);
        let mut joined = without.clone();
        if at < without.len() {
            joined[at] = pieces[at].clone().then(pieces[at + 1].clone());
        }
        if budget.fails(&Request::Pieces(without.clone())) {
            pieces = without;
        } else if at < without.len() && budget.fails(&Request::Pieces(joined.clone())) {
            pieces = joined;
        } else {
            at += 1;
        }
    }
    for at in 0..pieces.len() {
        let with = |piece: Data| {
            let mut with = pieces.clone();
            with[at] = piece;
            Request::Pieces(with)
        };
        let Request::Pieces(reduced) = reduce_data(budget, &pieces[at], &with) else { continue };
        pieces = reduced;
    }
    Request::Pieces(pieces)
}

/// Reduces the number and values of bytes; `with` makes a request of them.
fn reduce_data(budget: &mut Budget<'_>, data: &Data, with: &dyn Fn(Data) -> Request) -> Request {
    if let Some(len) = all_ones(budget, data.len(), with) {
        return with(Data::repeated(&[0xff], len));
    }
    let mut bytes = data.bytes();
    shorten(budget, &mut bytes, with);
    simplify(budget, &mut bytes, with);
    shorten(budget, &mut bytes, with);
    with(Data::literal(&bytes))
}

/// The smallest length at which bytes of ff fail, if `most` of them fail.
fn all_ones(budget: &mut Budget<'_>, most: usize, with: &dyn Fn(Data) -> Request) -> Option<usize> {
    let fails = |budget: &mut Budget<'_>, len| budget.fails(&with(Data::repeated(&[0xff], len)));
    if most < 2 || !fails(budget, most) {
        return None;
    }
    let wrong = smallest(most, &mut |len| len > 0 && fails(budget, len));
    // Bisection misses a fault that only some lengths show.
    let near = (wrong.saturating_sub(64)..wrong).find(|len| fails(budget, *len));
    Some(near.unwrap_or(wrong))
}

/// Removes as many bytes as possible, in ever smaller parts.
fn shorten(budget: &mut Budget<'_>, bytes: &mut Vec<u8>, with: &dyn Fn(Data) -> Request) {
    let mut part = bytes.len().next_power_of_two() / 2;
    while part > 0 {
        let mut at = bytes.len().saturating_sub(part);
        loop {
            if bytes.len() >= at + part {
                let mut candidate = bytes.clone();
                candidate.drain(at..at + part);
                if budget.fails(&with(Data::literal(&candidate))) {
                    *bytes = candidate;
                }
            }
            if at == 0 {
                break;
            }
            at = at.saturating_sub(part);
        }
        part /= 2;
    }
}

/// Sets as many bytes as possible to 00, then to ff, 01 or 80.
fn simplify(budget: &mut Budget<'_>, bytes: &mut [u8], with: &dyn Fn(Data) -> Request) {
    let mut part = bytes.len().next_power_of_two() / 2;
    while part > 0 {
        for at in (0..bytes.len()).step_by(part) {
            let range = at..(at + part).min(bytes.len());
            if bytes[range.clone()].iter().all(|byte| *byte == 0) {
                continue;
            }
            let kept = bytes[range.clone()].to_vec();
            bytes[range.clone()].fill(0);
            if !budget.fails(&with(Data::literal(bytes))) {
                bytes[range].copy_from_slice(&kept);
            }
        }
        part /= 2;
    }
    for at in 0..bytes.len() {
        for plain in [0xff, 0x01, 0x80] {
            let kept = bytes[at];
            if matches!(kept, 0 | 0xff | 0x01) {
                break;
            }
            bytes[at] = plain;
            if budget.fails(&with(Data::literal(bytes))) {
                break;
            }
            bytes[at] = kept;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn relevant_bytes_are_kept() {
        let start = Request::Sum(Data::literal(&(0..=255).collect::<Vec<u8>>()));
        let mut fails = |request: &Request| {
            let bytes = request.input().bytes();
            bytes.contains(&0xa5) && bytes.len() >= 3
        };
        let Request::Sum(data) = reduce(&start, Effort::default(), &mut fails) else { panic!() };
        assert_eq!((data.len(), data.bytes().iter().filter(|byte| **byte == 0).count()), (3, 2));
    }

    #[test]
    fn an_overflow_is_reduced_to_its_smallest_length() {
        let mut fails = |request: &Request| request.input_len() >= 131_076;
        let start = Request::Sum(Data::literal(&vec![7; 262_144]));
        assert_eq!(
            reduce(&start, Effort::default(), &mut fails),
            Request::Sum(Data::repeated(&[0xff], 131_076))
        );
    }

    #[test]
    fn pieces_are_joined_and_shortened() {
        let piece = |bytes: &[u8]| Data::literal(bytes);
        let start =
            Request::Pieces(vec![piece(&[1, 2, 3, 4]), piece(&[9; 7]), piece(&[5, 6]), piece(&[7; 9])]);
        let mut fails = |request: &Request| match request {
            Request::Pieces(pieces) => {
                pieces.len() > 1 && pieces[..pieces.len() - 1].iter().any(|piece| piece.len() % 2 == 1)
            }
            _ => false,
        };
        let Request::Pieces(pieces) = reduce(&start, Effort::default(), &mut fails) else { panic!() };
        assert_eq!(pieces.iter().map(Data::len).collect::<Vec<_>>(), [1, 0]);
    }
}
