//! Senders of wrong checksums, and whether their network cards compute them.
//!
//! A capture on the sender's machine shows packets before its network card has completed them. Linux leaves
//! the sum of the pseudo-header in the field, which identifies such packets; other systems leave zero or
//! arbitrary values. Such a sender is identified by its traffic: all its checksums of one protocol are wrong,
//! and yet it receives replies with correct ones.

use crate::judge::Protocol;
use std::collections::HashMap;
use std::net::IpAddr;

/// A sender that receives replies has checksum offload if it sent at least this many wrong checksums and no
/// correct one.
const LEAST_WRONG: u64 = 3;

/// The protocol and address of a sender.
pub(crate) type Key = (Protocol, IpAddr);

/// What is known about a sender.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Sender {
    has_right: bool,
    is_answered: bool,
    /// Wrong checksums that are not recognisably left for the network card: in outermost packets, and in all.
    pub(crate) wrong: [u64; 2],
    /// Checksums left for the network card.
    pub(crate) left_for_card: u64,
}

impl Sender {
    /// True if its wrong checksums are an artefact of the capture.
    pub(crate) fn has_offload(&self) -> bool {
        self.wrong[1] >= LEAST_WRONG && !self.has_right && self.is_answered
    }
}

/// The senders of a capture, up to a maximum; wrong checksums of other senders always count as wrong.
pub(crate) struct Senders {
    known: HashMap<Key, Sender>,
    most: usize,
    /// Pairs whose correct checksums have been recorded, indexed by a few bits of both addresses: most
    /// packets belong to few pairs.
    noted: Vec<Option<(Protocol, IpAddr, IpAddr)>>,
}

const NOTED: usize = 4096;

impl Senders {
    pub(crate) fn new(most: usize) -> Senders {
        Senders { known: HashMap::new(), most, noted: vec![None; NOTED] }
    }

    /// Records a correct checksum.
    #[inline]
    pub(crate) fn right(&mut self, protocol: Protocol, src: IpAddr, dst: IpAddr) {
        let pair = Some((protocol, src, dst));
        let slot = slot(protocol, src, dst);
        if self.noted[slot] == pair {
            return;
        }
        self.noted[slot] = pair;
        if let Some(sender) = self.sender((protocol, src)) {
            sender.has_right = true;
        }
        if let Some(receiver) = self.sender((protocol, dst)) {
            receiver.is_answered = true;
        }
    }

    /// The entry of a sender, if there is one or room for one.
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

    /// The entry of a sender, if there is one.
    pub(crate) fn known(&self, key: &Key) -> Option<&Sender> {
        self.known.get(key)
    }

    /// All senders, in no particular order.
    pub(crate) fn all(&self) -> impl Iterator<Item = (&Key, &Sender)> {
        self.known.iter()
    }
}

/// Hashes the last bytes of both addresses, in which those of a network differ most.
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
    fn a_sender_has_offload_only_if_all_it_sends_is_wrong_and_it_receives_replies() {
        for (wrong, right, answered, has_offload) in [
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
            // Traffic of another protocol has no influence.
            senders.right(Protocol::Udp, host(1), host(2));
            senders.right(Protocol::Udp, host(2), host(1));
            assert_eq!(senders.known(&key).expect("known").has_offload(), has_offload);
        }
    }

    #[test]
    fn the_number_of_senders_is_limited() {
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
