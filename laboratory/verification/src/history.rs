//! The same call again: a routine may remember nothing.
//! A routine that caches results by address and length is right as long as the data does not change. So each call is
//! made again with one byte of the source changed, with the destination soiled again, and with other bytes around the
//! source; a checksum that follows those reads what is not its own.

use super::Depth;
use super::bench::{Prefill, Trial, Window};
use super::call::Call;
use super::counterexample::{Kind, Stage, sums};
use super::ground::{Caught, Stop};
use super::images::checksum_of;
use super::memory::Region;
use super::patterns::Random;
use super::places::note;
use super::sweep::Proof;

/// Two pages whose contents change between calls: the source, and the destination with its picture.
struct Desk {
    source: Region,
    target: Region,
    picture: Vec<u8>,
    data: Vec<u8>,
}

impl Proof<'_> {
    /// Calls repeated for lengths up to 300.
    pub fn repeated(&mut self) -> Result<(), Stop> {
        let every = if self.depth == Depth::Full { 1 } else { 7 };
        let first = 1 + self.random.below(every);
        let mut desk = Desk {
            source: Region::new(3 * 4096)?,
            target: Region::new(3 * 4096)?,
            picture: Vec::new(),
            data: Vec::new(),
        };
        let mut random = Random::new(self.seed ^ 0x6869_7374_6f72_7921);
        for len in self.supported((first..=300).step_by(every)) {
            self.repeat(&mut desk, len, &mut random)?;
        }
        Ok(())
    }

    fn repeat(&mut self, desk: &mut Desk, len: usize, random: &mut Random) -> Result<(), Stop> {
        let (dst_at, src_at) = (512 + random.below(64), 512 + random.below(64));
        desk.source.bytes_mut().fill_with(|| random.next() as u8);
        desk.target.bytes_mut().fill_with(|| random.next() as u8);
        let seed = self.checksum_seed();
        self.again(desk, dst_at, src_at, len, seed, "")?;
        for place in [0, len - 1, random.below(len)] {
            desk.source.bytes_mut()[src_at + place] ^= 1 << random.below(8);
            desk.target.bytes_mut()[dst_at + place] |= 0x40;
            let about = format!(
                "an earlier call with the same arguments still decides, after byte {place} was changed"
            );
            self.again(desk, dst_at, src_at, len, seed, &about)?;
        }
        let source = desk.source.bytes_mut();
        source[..src_at].fill_with(|| random.next() as u8);
        source[src_at + len..].fill_with(|| random.next() as u8);
        self.again(desk, dst_at, src_at, len, seed, "bytes outside the source decide")
    }

    fn again(
        &mut self,
        desk: &mut Desk,
        dst_at: usize,
        src_at: usize,
        len: usize,
        seed: u32,
        about: &str,
    ) -> Result<(), Stop> {
        desk.data.clear();
        desk.data.extend_from_slice(&desk.source.bytes()[src_at..src_at + len]);
        desk.picture.clear();
        desk.picture.extend_from_slice(desk.target.bytes());
        let (reads, writes) = (self.family.reads(), self.family.writes());
        let base = desk.target.start();
        let trial = Trial {
            call: Call {
                dst: if writes { base.wrapping_add(dst_at) } else { std::ptr::dangling_mut() },
                src: if reads { desk.source.start().wrapping_add(src_at) } else { std::ptr::dangling() },
                len,
                seed,
            },
            window: writes.then(|| Window { base, shadow: desk.picture.as_ptr(), size: desk.target.len() }),
            prefill: Prefill::Plain,
            content: desk.data.as_ptr(),
            sum: if sums(self.family) { checksum_of(&desk.data, seed) } else { 0 },
            note: note(Stage::Repeated),
            step: false,
        };
        self.bench.check(&trial).map_err(|mismatch| {
            let mut caught = Caught::new(*mismatch, &trial, self.family, true);
            let data = matches!(
                caught.mismatch.kind,
                Kind::WrongResult | Kind::WrongBytes | Kind::LeftBytesUnwritten
            );
            if data && !about.is_empty() {
                caught.reducible = false;
                caught.mismatch.kind =
                    if about.starts_with("bytes outside") { Kind::ReadDependence } else { Kind::History };
                caught.mismatch.about = format!("{about}: {}", caught.mismatch.what());
            }
            Stop::Caught(Box::new(caught))
        })
    }
}
