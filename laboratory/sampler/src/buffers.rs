//! The memory of a worker process, kept from bench to bench so that every page is faulted in once; and the CPUs that it
//! may use.

use super::company::Kept;
use super::workload::START_PAGES;
use carryline_machine::arena::{Arena, MapError, Pages};
use carryline_machine::process;
use carryline_statistics::below;
use carryline_verification::status::StatusPage;
use rand_core::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;

/// The buffers of a worker process.
#[derive(Debug)]
pub struct Buffers {
    pub(super) dst: Option<Held>,
    pub(super) src: Option<Held>,
    pub(super) evict: Option<Held>,
    pub(super) victim: Option<Held>,
    pub(super) stream: Kept,
    /// At which page of their arenas destination and source start: part of a replicate's layout.
    pub(super) start_page: [usize; 2],
    /// The CPU that measures, if this thread stays on one, and all that may be used.
    pub(super) cpus: (Option<usize>, Vec<usize>),
}

#[derive(Debug)]
pub(super) struct Held {
    pub(super) arena: Arena,
    pages: Pages,
}

impl Buffers {
    /// No buffers yet. The layout seed decides at which page operands start.
    #[must_use]
    pub fn new(layout_seed: u64) -> Buffers {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(layout_seed);
        let start_page = [below(&mut rng, START_PAGES), below(&mut rng, START_PAGES)];
        let cpus = (None, process::allowed_cpus());
        Buffers { dst: None, src: None, evict: None, victim: None, stream: Kept::default(), start_page, cpus }
    }

    /// Says which CPU measures and which may be used in all, for what is to work beside the calls. Needed where this
    /// thread is pinned already: the kernel names that one CPU alone then.
    pub fn set_cpus(&mut self, measuring: Option<usize>, allowed: Vec<usize>) {
        self.cpus = (measuring, allowed);
    }

    /// The arena in `place`, if it serves; else a new one instead, the old one given back first. Filling it counts as
    /// progress.
    pub(super) fn hold<'h>(
        place: &'h mut Option<Held>,
        bytes: usize,
        pages: Pages,
        status: &StatusPage,
    ) -> Result<&'h mut Arena, MapError> {
        // What does not fit is unmapped before anything else is mapped.
        let held = match place.take().filter(|held| held.arena.len() >= bytes && held.pages == pages) {
            Some(held) => held,
            None => {
                let mut arena = Arena::new(bytes, pages)?;
                arena.prefault_telling(&mut || status.beat());
                Held { arena, pages }
            }
        };
        Ok(&mut place.insert(held).arena)
    }

    /// At least `bytes` of memory to measure the limits in. It is kept for the destinations of benches.
    ///
    /// # Errors
    /// When there is not enough.
    pub fn for_limits(&mut self, bytes: u64, status: &StatusPage) -> Result<&mut Arena, MapError> {
        Buffers::hold(&mut self.dst, bytes as usize, Pages::Base, status)
    }
}
