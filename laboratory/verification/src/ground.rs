//! The memory of the sweeps, and the assembly of trials from it.

use super::call::Call;
use super::checker::{Mismatch, Prefill, Trial, Window};
use super::counterexample::sums;
use super::images::{Album, Image};
use super::memory::Region;
use super::note::{Note, Place, Spot, Stage};
use super::replay::Earlier;
use carryline_machine::arena::MapError;
use carryline_variants::Family;

/// A destination: writable memory with the contents of an image, which every trial restores.
#[derive(Debug)]
pub(super) struct Field<'a> {
    region: Region,
    picture: &'a Image,
}

impl<'a> Field<'a> {
    pub fn new(picture: &'a Image) -> Result<Field<'a>, MapError> {
        Field::on(Region::new(picture.len())?, picture)
    }

    /// As `new`, in the given memory, which must not be larger than the image.
    pub fn on(mut region: Region, picture: &'a Image) -> Result<Field<'a>, MapError> {
        let len = region.len();
        region.bytes_mut().copy_from_slice(&picture.bytes()[..len]);
        Ok(Field { region, picture })
    }

    pub fn len(&self) -> usize {
        self.region.len()
    }

    pub fn picture(&self) -> &'a Image {
        self.picture
    }

    pub fn start(&self) -> *mut u8 {
        self.region.start()
    }

    /// The whole field as a window.
    pub fn whole(&self) -> Window {
        Window { base: self.region.start(), shadow: self.picture.start(), size: self.len() }
    }

    /// Everything within a page of the destination, or the whole field if it is small.
    fn window(&self, at: usize, len: usize) -> Window {
        const REACH: usize = 4096;
        let small = self.len() <= 2 * REACH;
        let from = if small { 0 } else { at.saturating_sub(REACH) };
        let to = if small { self.len() } else { self.len().min(at + len + REACH) };
        Window {
            base: self.region.start().wrapping_add(from),
            shadow: self.picture.start().wrapping_add(from),
            size: to - from,
        }
    }
}

/// The memory of a stage: an album of sources, which is never written, and the destinations.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ground<'g> {
    pub album: &'g Album,
    pub fields: &'g [Field<'g>],
}

/// The source of a trial.
#[derive(Clone, Copy, Debug)]
pub(super) struct Source<'g> {
    pub image: &'g Image,
    pub at: usize,
    pub spot: Spot,
    pub shift: usize,
}

/// The destination of a trial.
#[derive(Clone, Copy, Debug)]
pub(super) struct Destination<'g> {
    pub field: &'g Field<'g>,
    pub at: usize,
    pub spot: Spot,
    pub prefill: Prefill,
}

/// The choices that determine a trial.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pick<'g> {
    pub stage: Stage,
    pub len: usize,
    pub seed: u32,
    pub src: Option<Source<'g>>,
    pub dst: Option<Destination<'g>>,
}

impl<'g> Source<'g> {
    /// A buffer of `len` bytes in the album's image of a pattern. With `follow`, the image whose words begin
    /// at the start of the buffer.
    pub fn in_album(album: &'g Album, pattern: usize, follow: bool, place: Place, len: usize) -> Source<'g> {
        let Place { spot, offset, .. } = place;
        let image = if follow { album.following(pattern, offset) } else { album.of(pattern) };
        let shift = if std::ptr::eq(image, album.of(pattern)) { 0 } else { offset % 8 };
        Source { image, at: place.within(image.len(), len), spot, shift }
    }
}

impl<'g> Destination<'g> {
    pub fn in_field(field: &'g Field<'g>, prefill: Prefill, place: Place, len: usize) -> Destination<'g> {
        Destination { field, at: place.within(field.len(), len), spot: place.spot, prefill }
    }
}

impl Pick<'_> {
    /// The trial with its expected outcome.
    pub fn trial(&self, family: Family) -> Trial {
        let src = self.src.map_or(std::ptr::dangling(), |src| src.image.start().wrapping_add(src.at));
        let sum = match self.src {
            Some(src) if sums(family) => src.image.checksum(src.at, self.len, self.seed),
            _ => 0,
        };
        Trial {
            call: Call {
                dst: self
                    .dst
                    .map_or(std::ptr::dangling_mut(), |dst| dst.field.region.start().wrapping_add(dst.at)),
                src,
                len: self.len,
                seed: self.seed,
            },
            window: self.dst.map(|dst| dst.field.window(dst.at, self.len)),
            prefill: self.dst.map_or(Prefill::Plain, |dst| dst.prefill),
            content: src,
            sum,
            note: Note {
                stage: self.stage,
                pattern: self.src.map_or(0, |src| src.image.pattern),
                shift: self.src.map_or(0, |src| src.shift),
                prefill: self.dst.map_or(0, |dst| dst.field.picture.pattern),
                dst: self.dst.map_or(Spot::None, |dst| dst.spot),
                src: self.src.map_or(Spot::None, |src| src.spot),
            },
            step: false,
        }
    }
}

/// A failed trial with its data, so that it can be repeated elsewhere and reduced.
#[derive(Clone, Debug)]
pub(super) struct Caught {
    pub mismatch: Mismatch,
    pub call: Call,
    pub note: Note,
    /// The source's bytes at the call; empty if the family reads nothing or they are unknown.
    pub data: Vec<u8>,
    /// The destination's bytes before the call; otherwise as `data`.
    pub prefill: Vec<u8>,
    /// The earlier calls on the same buffers, if they may matter.
    pub earlier: Vec<Earlier>,
    /// The source's and the destination's bytes before the first of these calls.
    pub at_first: Option<[Vec<u8>; 2]>,
    /// False if the failure depends on circumstances around the call, so that the call alone does not
    /// reproduce it.
    pub reducible: bool,
}

impl Caught {
    /// Captures `trial` before any of its memory changes.
    pub fn new(mismatch: Mismatch, trial: &Trial, family: Family, reducible: bool) -> Caught {
        let len = trial.call.len;
        // SAFETY: `content` has the call's length if the family reads; the shadow has the window's size.
        let bytes = |from: *const u8| unsafe { std::slice::from_raw_parts(from, len) }.to_vec();
        let data = if family.reads() && reducible { bytes(trial.content) } else { Vec::new() };
        let prefill = match trial.window {
            Some(window) if reducible => match trial.prefill {
                Prefill::Plain => {
                    bytes(window.shadow.wrapping_add(trial.call.dst as usize - window.base as usize))
                }
                other => (0..len).map(|i| other.byte(&data, i).unwrap_or(0)).collect(),
            },
            _ => Vec::new(),
        };
        let (call, note) = (trial.call, trial.note);
        Caught { mismatch, call, note, data, prefill, earlier: Vec::new(), at_first: None, reducible }
    }
}

/// The reason that a stage of verification ended early.
#[derive(Debug)]
pub(super) enum Stop {
    /// The routine is wrong.
    Caught(Box<Caught>),
    /// There is not enough memory for the stage.
    Memory(MapError),
}

/// A failure that a plain call on a buffer cannot reproduce.
pub(super) fn caught_around(mismatch: Mismatch, call: Call, note: Note) -> Stop {
    let (data, prefill, earlier) = (Vec::new(), Vec::new(), Vec::new());
    let caught = Caught { mismatch, call, note, data, prefill, earlier, at_first: None, reducible: false };
    Stop::Caught(Box::new(caught))
}

impl From<MapError> for Stop {
    fn from(error: MapError) -> Stop {
        Stop::Memory(error)
    }
}
