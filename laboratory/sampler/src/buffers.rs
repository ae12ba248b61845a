//! The memory of a worker process, reused by all benches so that every page is faulted in only once, and the
//! CPUs that it may use.

use super::streamer::Kept;
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
    /// The start pages of destination and source in their arenas: part of a replicate's layout.
    pub(super) start_page: [usize; 2],
    /// The measuring CPU, if this thread is pinned, and all CPUs that may be used.
    pub(super) cpus: (Option<usize>, Vec<usize>),
}

#[derive(Debug)]
pub(super) struct Held {
    pub(super) arena: Arena,
    pages: Pages,
}

impl Buffers {
    /// Starts without buffers. The layout seed determines the start pages of the operands.
    #[must_use]
    pub fn new(layout_seed: u64) -> Buffers {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(layout_seed);
        let start_page = [below(&mut rng, START_PAGES), below(&mut rng, START_PAGES)];
        let cpus = (None, process::allowed_cpus());
        Buffers { dst: None, src: None, evict: None, victim: None, stream: Kept::default(), start_page, cpus }
    }

    /// Sets the measuring CPU and all CPUs that may be used, for concurrent work on another core. Required if
    /// this thread is already pinned: the kernel then reports only that CPU.
    pub fn set_cpus(&mut self, measuring: Option<usize>, allowed: Vec<usize>) {
        self.cpus = (measuring, allowed);
    }

    /// The arena in `place` if it suffices; otherwise a new one, after freeing the old one. Filling it counts
    /// as progress.
    pub(super) fn hold<'h>(
        place: &'h mut Option<Held>,
        bytes: usize,
        pages: Pages,
        status: &StatusPage,
    ) -> Result<&'h mut Arena, MapError> {
        // An arena that does not suffice is unmapped before another one is mapped.
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

    /// At least `bytes` of memory for measuring the limits. It is later reused for the destinations of
    /// benches.
    ///
    /// # Errors
    /// If there is not enough memory.
    pub fn for_limits(&mut self, bytes: u64, status: &StatusPage) -> Result<&mut Arena, MapError> {
        Buffers::hold(&mut self.dst, bytes as usize, Pages::Base, status)
    }
}
