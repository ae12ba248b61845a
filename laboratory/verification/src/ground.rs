//! The memory of the sweeps, and how a trial is put together from it.

use super::call::Call;
use super::checker::{Mismatch, Prefill, Trial, Window};
use super::counterexample::sums;
use super::images::{Album, Image};
use super::memory::Region;
use super::note::{Note, Place, Spot, Stage};
use super::replay::Earlier;
use carryline_machine::arena::MapError;
use carryline_variants::Family;

/// A destination: writable memory that shows the picture of an image, to which every trial returns it.
#[derive(Debug)]
pub(super) struct Field<'a> {
    region: Region,
    picture: &'a Image,
}

impl<'a> Field<'a> {
    pub fn new(picture: &'a Image) -> Result<Field<'a>, MapError> {
        Field::on(Region::new(picture.len())?, picture)
    }

    /// The same on given memory, which must not be larger than the picture.
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

    /// All of it.
    pub fn whole(&self) -> Window {
        Window { base: self.region.start(), shadow: self.picture.start(), size: self.len() }
    }

    /// Everything within a page of the destination, or the whole field if that is small.
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

/// Where a trial reads.
#[derive(Clone, Copy, Debug)]
pub(super) struct Source<'g> {
    pub image: &'g Image,
    pub at: usize,
    pub spot: Spot,
    pub shift: usize,
}

/// Where a trial writes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Destination<'g> {
    pub field: &'g Field<'g>,
    pub at: usize,
    pub spot: Spot,
    pub prefill: Prefill,
}

/// The choices that make a trial.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pick<'g> {
    pub stage: Stage,
    pub len: usize,
    pub seed: u32,
    pub src: Option<Source<'g>>,
    pub dst: Option<Destination<'g>>,
}

impl<'g> Source<'g> {
    /// A buffer of `len` bytes in the album's image of a pattern. `follow` asks for the image whose words begin with
    /// the buffer.
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
    /// The trial with its right answers.
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

/// A trial that failed, with its data, so that it can be made again elsewhere and smaller.
#[derive(Clone, Debug)]
pub(super) struct Caught {
    pub mismatch: Mismatch,
    pub call: Call,
    pub note: Note,
    /// The source's bytes at the call; empty where the family reads nothing or they are unknown.
    pub data: Vec<u8>,
    /// The destination's bytes before the call; as `data`.
    pub prefill: Vec<u8>,
    /// The calls before it on the same buffers, if they may matter.
    pub earlier: Vec<Earlier>,
    /// The source's bytes and the destination's before the first of these calls.
    pub at_first: Option<[Vec<u8>; 2]>,
    /// False where the failure lies in what goes on around the call, so that the call alone says nothing.
    pub reducible: bool,
}

impl Caught {
    /// What `trial` was, before anything of it is changed.
    pub fn new(mismatch: Mismatch, trial: &Trial, family: Family, reducible: bool) -> Caught {
        let len = trial.call.len;
        // SAFETY: `content` has the call's length where the family reads; the picture has the window's size.
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

/// Why a stage of verification ended early.
#[derive(Debug)]
pub(super) enum Stop {
    /// The routine is wrong.
    Caught(Box<Caught>),
    /// There is no memory for the stage.
    Memory(MapError),
}

/// A failure that cannot be made again by a plain call on a buffer.
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
