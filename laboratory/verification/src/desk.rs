//! A source and a destination whose contents change between calls.

use super::call::Call;
use super::checker::{Prefill, Trial, Window};
use super::counterexample::sums;
use super::images::checksum_of;
use super::memory::Region;
use super::note::{Note, PAGE};
use super::patterns::Random;
use super::replay::Change;
use carryline_machine::arena::MapError;
use carryline_variants::Family;

/// The buffers, a copy of the source's data, and the destination's contents before a call.
#[derive(Debug)]
pub(super) struct Desk {
    pub source: Region,
    pub target: Region,
    picture: Vec<u8>,
    data: Vec<u8>,
}

/// The parts of the buffers that a call uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Spread {
    pub dst_at: usize,
    pub src_at: usize,
    pub len: usize,
    pub seed: u32,
}

impl Desk {
    /// Allocates `bytes` for each buffer.
    pub fn new(bytes: usize) -> Result<Desk, MapError> {
        let (source, target) = (Region::new(bytes)?, Region::new(bytes)?);
        let picture = vec![0; target.len()];
        Ok(Desk { source, target, picture, data: Vec::new() })
    }

    /// Changes the buffers between two calls. `salt` makes each change different.
    pub fn change(&mut self, change: Change, spread: Spread, salt: u64) -> Result<(), MapError> {
        let Spread { dst_at, src_at, len, .. } = spread;
        let mut random = Random::new(salt ^ 0x6368_616e_6765);
        match change {
            Change::Nothing => {}
            Change::Byte(at) if len > 0 => {
                let at = (at as usize).min(len - 1);
                self.source.bytes_mut()[src_at + at] ^= 0x20;
                self.target.bytes_mut()[dst_at + at] |= 0x40;
            }
            Change::Byte(_) => {}
            Change::Contents => self.fill(&mut random),
            Change::Buffers => {
                self.source.renew()?;
                self.target.renew()?;
                self.fill(&mut random);
            }
            Change::Surroundings => {
                let source = self.source.bytes_mut();
                random.fill(&mut source[..src_at]);
                random.fill(&mut source[src_at + len..]);
            }
        }
        Ok(())
    }

    /// Fills both buffers with random bytes.
    pub fn fill(&mut self, random: &mut Random) {
        random.fill(self.source.bytes_mut());
        random.fill(self.target.bytes_mut());
    }

    /// The call with its expected outcome, from the current contents. Everything within a page of the
    /// destination is compared.
    pub fn trial(&mut self, family: Family, spread: Spread, note: Note) -> Trial {
        let Spread { dst_at, src_at, len, seed } = spread;
        let (reads, writes) = (family.reads(), family.writes());
        self.data.clear();
        if reads {
            self.data.extend_from_slice(&self.source.bytes()[src_at..src_at + len]);
        }
        let from = dst_at.saturating_sub(PAGE);
        let to = self.target.len().min(dst_at + len + PAGE);
        if writes {
            self.picture[from..to].copy_from_slice(&self.target.bytes()[from..to]);
        }
        Trial {
            call: Call {
                dst: if writes { self.target.start().wrapping_add(dst_at) } else { std::ptr::dangling_mut() },
                src: if reads { self.source.start().wrapping_add(src_at) } else { std::ptr::dangling() },
                len,
                seed,
            },
            window: writes.then(|| Window {
                base: self.target.start().wrapping_add(from),
                shadow: self.picture[from..].as_ptr(),
                size: to - from,
            }),
            prefill: Prefill::Plain,
            content: self.data.as_ptr(),
            sum: if sums(family) { checksum_of(&self.data, seed) } else { 0 },
            note,
            step: false,
        }
    }
}
