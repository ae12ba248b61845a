//! s2n-quic: `inet::checksum`, which is for UDP and returns `ffff` if the complement is `0000`.

use super::{Adapter, hello};
use crate::wire::{Data, Hello, Reply, Request};
use ::s2n_quic_core::inet::checksum::{Checksum, checksum};
use std::hash::Hasher;

/// `checksum` and `Checksum`.
pub struct S2nQuic;

fn of_pieces(pieces: &[Data]) -> Reply {
    let mut sum = Checksum::default();
    for piece in pieces {
        sum.write(&piece.bytes());
    }
    Reply::Field(Checksum::finish(sum).to_be_bytes())
}

impl Adapter for S2nQuic {
    fn hello(&self) -> Hello {
        Hello { udp: true, ..hello("s2n-quic-core") }
    }

    fn answer(&mut self, request: &Request) -> Reply {
        match request {
            Request::Sum(data) => Reply::Field(checksum(&data.bytes()).to_be_bytes()),
            Request::Pieces(pieces) => of_pieces(pieces),
            Request::Onto { sum, data } => of_pieces(&[Data::literal(sum), data.clone()]),
            _ => Reply::Unsupported,
        }
    }
}
