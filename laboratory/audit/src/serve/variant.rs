//! A checksum of the collection, by its C form.

use super::Adapter;
use crate::wire::{Hello, Reply, Request};
use carryline_variants::{ChecksumFn, Family, Routine, Variant};

struct OfVariant {
    variant: &'static Variant,
    routine: ChecksumFn,
}

/// The adapter of the checksum of that name.
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
        // SAFETY: a buffer's pointer and length; the variant supports the length and the seed, and the CPU has what it
        // needs.
        let sum = unsafe { (self.routine)(data.as_ptr(), data.len(), seed) };
        let once = (sum & 0xffff) + (sum >> 16);
        let folded = ((once & 0xffff) + (once >> 16)) as u16;
        Reply::Field((!folded).to_ne_bytes())
    }
}
