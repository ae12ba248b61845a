//! A checksum variant, called through its C interface.

use super::Adapter;
use crate::wire::{Hello, Reply, Request};
use carryline_variants::{ChecksumFn, Family, Routine, Variant};

struct OfVariant {
    variant: &'static Variant,
    routine: ChecksumFn,
}

/// The adapter of the variant called `name`.
pub fn find(name: &str) -> Option<Box<dyn Adapter>> {
    let variant = carryline_variants::find(Family::Checksum, name).filter(|variant| variant.runs_here())?;
    match variant.routine {
        Routine::Checksum(routine) => Some(Box::new(OfVariant { variant, routine })),
        _ => None,
    }
}

impl Adapter for OfVariant {
    fn hello(&self) -> Hello {
        Hello {
            name: self.variant.name.to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            repeat: true,
            udp: false,
        }
    }

    fn answer(&mut self, request: &Request) -> Reply {
        let (data, seed) = match request {
            Request::Sum(data) => (data.bytes(), 0),
            Request::Onto { sum, data } => (data.bytes(), u32::from(u16::from_ne_bytes(*sum))),
            _ => return Reply::Unsupported,
        };
        if !self.variant.lengths.contains(data.len()) || self.variant.lengths.seed(seed) != seed {
            return Reply::Unsupported;
        }
        // SAFETY: a buffer with its length; the variant supports the length and the seed, and the CPU the
        // instructions.
        let sum = unsafe { (self.routine)(data.as_ptr(), data.len(), seed) };
        Reply::Field((!::carryline::checksum::fold(sum)).to_ne_bytes())
    }
}
