//! Who sends wrong checksums, and whether it is their network card that computes them.
//!
//! A capture on the sender's machine shows packets before its card has finished them. Linux leaves the pseudo-header's sum in the
//! field, which tells; other systems leave zero or whatever was there. Such a sender is known by its traffic: all its checksums of
//! one protocol are wrong, and still it is answered with right ones.

use crate::judge::Protocol;
use std::collections::HashMap;
use std::net::IpAddr;

/// So many wrong checksums, and none right, make a sender one whose card computes them, if it is answered.
const ENOUGH: u64 = 3;

/// A sender's checksums of one protocol.
pub(crate) type Key = (Protocol, IpAddr);

/// What is known of a sender.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Sender {
    is_right: bool,
    is_answered: bool,
    /// Wrong, and not left for the card: in the outermost header and what it carries, and in all.
    pub(crate) wrong: [u64; 2],
    /// Left for the card, in all.
    pub(crate) left_for_card: u64,
}

impl Sender {
    /// Whether its wrong checksums are an artefact of the capture.
    pub(crate) fn has_offload(&self) -> bool {
        self.wrong[1] >= ENOUGH && !self.is_right && self.is_answered
    }
}

/// The senders of a capture, up to a number: others are not known, and their wrong checksums are wrong.
pub(crate) struct Senders {
    known: HashMap<Key, Sender>,
    most: usize,
    /// Pairs whose right checksums have been noted, found by a few bits of both: most packets are of few pairs.
    noted: Vec<Option<(Protocol, IpAddr, IpAddr)>>,
}

const NOTED: usize = 4096;

impl Senders {
    pub(crate) fn new(most: usize) -> Senders {
        Senders { known: HashMap::new(), most, noted: vec![None; NOTED] }
    }

    /// A right checksum.
    #[inline]
    pub(crate) fn right(&mut self, protocol: Protocol, src: IpAddr, dst: IpAddr) {
        let pair = Some((protocol, src, dst));
        let slot = slot(protocol, src, dst);
        if self.noted[slot] == pair {
            return;
        }
        self.noted[slot] = pair;
        if let Some(sender) = self.sender((protocol, src)) {
            sender.is_right = true;
        }
        if let Some(receiver) = self.sender((protocol, dst)) {
            receiver.is_answered = true;
        }
    }

    /// The sender's entry, if there is one or room for it.
    pub(crate) fn sender(&mut self, key: Key) -> Option<&mut Sender> {
        let has_room = self.known.len() < self.most;
        match self.known.entry(key) {
            std::collections::hash_map::Entry::Occupied(entry) => Some(entry.into_mut()),
            std::collections::hash_map::Entry::Vacant(entry) if has_room => {
                Some(entry.insert(Sender::default()))
            }
            std::collections::hash_map::Entry::Vacant(_) => None,
        }
    }

    /// What is known of a sender.
    pub(crate) fn known(&self, key: &Key) -> Option<&Sender> {
        self.known.get(key)
    }

    /// All senders, in no order.
    pub(crate) fn all(&self) -> impl Iterator<Item = (&Key, &Sender)> {
        self.known.iter()
    }
}

/// A few bits of the last bytes of both addresses, where those of a network differ most.
#[inline]
fn slot(protocol: Protocol, src: IpAddr, dst: IpAddr) -> usize {
    let last = |address: IpAddr| match address {
        IpAddr::V4(address) => u32::from(address),
        IpAddr::V6(address) => u128::from(address) as u32,
    };
    let mixed = last(src).wrapping_mul(0x9e37_79b1) ^ last(dst).wrapping_mul(0x85eb_ca77) ^ protocol as u32;
    (mixed.wrapping_mul(0x27d4_eb2f) >> 16) as usize % NOTED
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::Ipv4Addr;

    fn host(last: u32) -> IpAddr {
        IpAddr::V4(Ipv4Addr::from(0x0a00_0000 + last))
    }

    #[test]
    fn a_sender_is_excused_only_if_all_it_sends_is_wrong_and_it_is_answered() {
        for (wrong, right, answered, excused) in [
            (3, false, true, true),
            (2, false, true, false),
            (3, true, true, false),
            (3, false, false, false),
        ] {
            let mut senders = Senders::new(10);
            let key = (Protocol::Tcp, host(1));
            senders.sender(key).expect("room").wrong[1] += wrong;
            if answered {
                senders.right(Protocol::Tcp, host(2), host(1));
            }
            if right {
                senders.right(Protocol::Tcp, host(1), host(2));
            }
            // Another protocol's traffic says nothing.
            senders.right(Protocol::Udp, host(1), host(2));
            senders.right(Protocol::Udp, host(2), host(1));
            assert_eq!(senders.known(&key).expect("known").has_offload(), excused);
        }
    }

    #[test]
    fn no_more_senders_are_kept_than_was_said() {
        let mut senders = Senders::new(100);
        for last in 0..1000 {
            senders.right(Protocol::Icmp, host(last), host(last + 1));
            assert!(senders.all().count() <= 100);
        }
        assert!(
            senders.sender((Protocol::Icmp, host(7))).is_some()
                && senders.sender((Protocol::Icmp, host(777))).is_none()
        );
    }
}
