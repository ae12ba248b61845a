//! The right answers: the naive reference of the collection, and the RFCs' equations word by word.

use crate::wire::{Reply, Request, Rule};
use carryline_variants::checksum::reference::folded_sum;

/// The right answer; `None` to a request that only vectors answer.
#[must_use]
pub fn answer(request: &Request) -> Option<Reply> {
    let finished = |sum: u16| Reply::Field((!sum).to_ne_bytes());
    Some(match request {
        Request::Sum(data) => finished(folded_sum(&data.bytes(), 0)),
        Request::Pieces(_) => finished(folded_sum(&request.input().bytes(), 0)),
        Request::Onto { sum, data } => {
            finished(folded_sum(&data.bytes(), u32::from(u16::from_ne_bytes(*sum))))
        }
        Request::Update { rule, checksum, offset, old, new } => {
            Reply::Field(update(*rule, *checksum, *offset, old, new))
        }
        _ => return None,
    })
}

/// RFC 1624, equation 3, for a change of any length at any offset: bytes at odd places are the second of their word.
fn update(rule: Rule, checksum: [u8; 2], offset: usize, old: &[u8], new: &[u8]) -> [u8; 2] {
    // Nothing changes; the equation would take ffff, which all-zero data has, to 0000, which it cannot have.
    if old == new || rule == Rule::Udp && checksum == [0, 0] {
        return checksum;
    }
    // Words whose bytes beside the change are 0 before and after.
    let placed = |bytes: &[u8]| {
        let mut all = vec![0; offset % 2];
        all.extend_from_slice(bytes);
        if all.len() % 2 == 1 {
            all.push(0);
        }
        all
    };
    let removed: Vec<u8> = placed(old).iter().map(|byte| !byte).collect();
    let sum = folded_sum(&removed, u32::from(!u16::from_ne_bytes(checksum)));
    let sum = folded_sum(&placed(new), u32::from(sum));
    match (!sum).to_ne_bytes() {
        [0, 0] if rule == Rule::Udp => [0xff, 0xff],
        field => field,
    }
}

/// What UDP sends instead of a computed `0000`.
#[must_use]
pub fn for_udp(reply: Reply) -> Reply {
    if reply == Reply::Field([0, 0]) { Reply::Field([0xff, 0xff]) } else { reply }
}
