//! Fuchsia's internet-checksum.

use super::{Adapter, hello};
use crate::wire::{Hello, Reply, Request, Rule};
use ::internet_checksum::Checksum;

/// `checksum`, `Checksum::add_bytes` and `update`.
pub struct InternetChecksum;

impl Adapter for InternetChecksum {
    fn hello(&self) -> Hello {
        hello("internet-checksum")
    }

    fn answer(&mut self, request: &Request) -> Reply {
        match request {
            Request::Sum(data) => Reply::Field(::internet_checksum::checksum(&data.bytes())),
            Request::Pieces(pieces) => {
                let mut sum = Checksum::new();
                for piece in pieces {
                    sum.add_bytes(&piece.bytes());
                }
                Reply::Field(sum.checksum())
            }
            Request::Onto { sum: before, data } => {
                let mut sum = Checksum::new();
                sum.add_bytes(before);
                sum.add_bytes(&data.bytes());
                Reply::Field(sum.checksum())
            }
            // Documented limits: an even offset, equal lengths, and an odd length only at the end.
            Request::Update { rule: Rule::Internet, checksum, offset, old, new }
                if offset.is_multiple_of(2) && old.len() == new.len() && old.len().is_multiple_of(2) =>
            {
                Reply::Field(::internet_checksum::update(*checksum, old, new))
            }
            _ => Reply::Unsupported,
        }
    }
}
