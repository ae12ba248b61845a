//! The first touch of a page: what the entry into the kernel costs, and what clearing or copying the page does.
//!
//! Every way gets [`PAGES`] untouched pages; their frames were flushed before the kernel got them back, so what it
//! clears is cold, except where the name says hot. Series are ticks per page:
//! - `write first`: a write to each page: a fault that clears a page, once;
//! - `read first` maps the kernel's page of zeros; `write after read` then needs a second fault; `read, then write` is both;
//! - `ready page`: a page that exists already, in a file in memory: a fault with nothing to clear, the entry alone;
//! - `clearing`: `write first` less `ready page` of the same round;
//! - `copy on write`: the first write to a private mapping of a page that holds data;
//! - `populate`: one call that maps and clears all of them (`MAP_POPULATE`); `map alone` is the call without it;
//! - `huge page`: a fault that clears 2 MiB, per 4 KB;
//! - `clear by rep stosb, cold` and `..., hot`: the clearing alone, of pages that are mapped, until the
//!   stores are in the cache.
//!
//! Facts: faults per page of each way, as the kernel counts them for this thread, and pages found mapped that should
//! have been untouched.

use crate::pages::{self, Left, Ready, Writes, drain};
use carryline_engine::probe::{Impossible, Probe, Rounds, Series, Setup, Unusable, time};
use carryline_machine::arena::{Arena, Pages, page_bytes};
use carryline_machine::clock;
use carryline_statistics::shuffle;
use carryline_verification::Zeroing;
use carryline_verification::status::StatusPage;
use rand_core::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous, munmap};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// See the module.
pub static PROBE: Probe =
    Probe { name: "first_touch", what: "first touches of untouched pages, and their faults", start };

/// Pages that each way touches in a round.
pub const PAGES: usize = 64;
/// Bytes of a huge page.
const HUGE_BYTES: usize = 2 << 20;

/// What is sampled. Those before `clearing` are measured, in random order.
pub const SERIES: [&str; 14] = [
    "write first",
    "write first again",
    "write first, frames hot",
    "read first",
    "write after read",
    "ready page",
    "copy on write",
    "populate",
    "map alone",
    "huge page",
    "clear by rep stosb, cold",
    "clear by rep stosb, hot",
    "read, then write",
    "clearing",
];
const WRITE: usize = 0;
const READ: usize = 3;
const WRITE_AFTER_READ: usize = 4;
const READY: usize = 5;
const MEASURED: usize = 12;

/// What is established besides.
#[derive(Deserialize, Serialize)]
pub(super) struct Facts {
    /// Faults of a page, by way.
    pub faults_per_page: BTreeMap<String, f64>,
    /// Pages found mapped that should have been untouched; `None` where the kernel does not show.
    pub mapped_before: Option<u64>,
}

struct FirstTouch {
    page: usize,
    arena: Arena,
    through: Ready,
    copied: Ready,
    huge: Result<Arena, String>,
    clear: Zeroing,
    overhead_ticks: f64,
    rng: Xoshiro256PlusPlus,
    /// Touches and faults of each way.
    counts: [(u64, u64); MEASURED],
    mapped_before: Option<u64>,
}

fn start(setup: &Setup<'_>) -> Result<Box<dyn Rounds>, Impossible> {
    if !cfg!(target_arch = "x86_64") {
        return Err(Impossible("frames are made cold by clflush, which is an x86-64 instruction".to_owned()));
    }
    let page = page_bytes();
    let impossible = |error: carryline_machine::arena::MapError| Impossible(error.to_string());
    Ok(Box::new(FirstTouch {
        page,
        arena: Arena::new(PAGES * page, Pages::Base).map_err(impossible)?,
        through: Ready::new(PAGES * page, Writes::Through).map_err(impossible)?,
        copied: Ready::new(PAGES * page, Writes::Copied).map_err(impossible)?,
        huge: huge(),
        clear: setup.zeroing(&["rep_stosb"])?.1,
        overhead_ticks: clock::overhead_ticks(),
        rng: Xoshiro256PlusPlus::seed_from_u64(setup.seed),
        counts: [(0, 0); MEASURED],
        mapped_before: Some(0),
    }))
}

/// Memory that one fault maps by a huge page, or why the kernel does not.
fn huge() -> Result<Arena, String> {
    let arena = Arena::new(HUGE_BYTES, Pages::Huge).map_err(|error| error.to_string())?;
    // SAFETY: the arena's first byte.
    unsafe { arena.start().write_volatile(1) };
    match arena.huge_bytes() {
        Some(bytes) if bytes >= HUGE_BYTES => Ok(arena),
        Some(_) => {
            Err("the kernel gave no huge page (transparent huge pages are off, or memory is fragmented)"
                .into())
        }
        None => Err("the kernel does not say whether a page is huge".into()),
    }
}

/// Writes one word of every page.
///
/// # Safety
/// `count` pages of `page` bytes from `base` on are this thread's to write.
#[inline(never)]
unsafe fn write_each(base: *mut u8, page: usize, count: usize) {
    for at in 0..count {
        // SAFETY: inside the pages. Volatile: the access is the point.
        unsafe { base.add(at * page).cast::<u32>().write_volatile(1) };
    }
}

/// Reads one word of every page.
///
/// # Safety
/// `count` pages of `page` bytes from `base` on are readable.
#[inline(never)]
unsafe fn read_each(base: *const u8, page: usize, count: usize) {
    for at in 0..count {
        // SAFETY: inside the pages. Volatile: the access is the point.
        unsafe { base.add(at * page).cast::<u32>().read_volatile() };
    }
}

impl FirstTouch {
    /// Makes `base` untouched, the frames of private pages left hot or cold, and notes pages that are mapped all the same.
    fn release(&mut self, base: *mut u8, left: Left) -> Result<(), Impossible> {
        let len = PAGES * self.page;
        // SAFETY: pages of this probe's own memory, whose contents are not needed; all may be written.
        unsafe {
            pages::leave(base, len, left);
            pages::give_back(base, len)
        }
        .map_err(|error| Impossible(format!("the kernel does not take pages back: {error}")))?;
        self.mapped_before =
            self.mapped_before.zip(pages::mapped(base, PAGES)).map(|(sum, now)| sum + now as u64);
        Ok(())
    }

    /// Ticks per page of `action`, which touches `count` pages; its faults are counted.
    fn touch(&mut self, way: usize, count: usize, action: impl FnOnce()) -> f64 {
        let before = pages::minor_faults();
        let ticks = time(self.overhead_ticks, action);
        let (touches, faults) = &mut self.counts[way];
        *touches += count as u64;
        *faults += pages::minor_faults() - before;
        ticks / count as f64
    }

    /// Maps pages afresh, all at once if `populate`.
    fn map(&mut self, way: usize, populate: bool) -> Result<f64, Impossible> {
        let len = PAGES * self.page;
        // The frames that it gets are those given back last.
        self.release(self.arena.start(), Left::Cold)?;
        let flags = if populate { MapFlags::PRIVATE | MapFlags::POPULATE } else { MapFlags::PRIVATE };
        let mut map = Err(rustix::io::Errno::NOMEM);
        let ticks = self.touch(way, PAGES, || {
            // SAFETY: a new mapping at an address of the kernel's choice.
            map = unsafe {
                mmap_anonymous(std::ptr::null_mut(), len, ProtFlags::READ | ProtFlags::WRITE, flags)
            };
        });
        let map = map.map_err(|error| Impossible(format!("cannot map {len} bytes: {error}")))?;
        // SAFETY: exactly the mapping just made; populated pages are flushed before they go back.
        unsafe {
            if populate {
                pages::leave(map.cast(), len, Left::Cold);
            }
            let _ = munmap(map, len);
        }
        Ok(ticks)
    }

    /// Makes a way's state and measures it; the second figure is of the write that follows a read.
    fn way(&mut self, way: usize) -> Result<(f64, Option<f64>), Impossible> {
        let (page, base) = (self.page, self.arena.start());
        let (through, copied) = (self.through.start(), self.copied.start());
        let ticks = match SERIES[way] {
            "write first" | "write first again" | "write first, frames hot" => {
                let left = if way == 2 { Left::Hot } else { Left::Cold };
                self.release(base, left)?;
                // SAFETY: PAGES pages of the arena, which this thread alone has.
                self.touch(way, PAGES, || unsafe { write_each(base, page, PAGES) })
            }
            "read first" => {
                self.release(base, Left::Cold)?;
                // SAFETY: PAGES pages of the arena, which this thread alone has.
                let read = self.touch(way, PAGES, || unsafe { read_each(base, page, PAGES) });
                // SAFETY: PAGES pages of the arena, which this thread alone has.
                let write = self.touch(WRITE_AFTER_READ, PAGES, || unsafe { write_each(base, page, PAGES) });
                return Ok((read, Some(write)));
            }
            "ready page" => {
                self.release(through, Left::Cold)?;
                // SAFETY: PAGES pages of the file's shared mapping, which this thread alone has.
                self.touch(way, PAGES, || unsafe { write_each(through, page, PAGES) })
            }
            "copy on write" => {
                self.release(copied, Left::Cold)?;
                // SAFETY: PAGES pages of the file's private mapping, which this thread alone has.
                self.touch(way, PAGES, || unsafe { write_each(copied, page, PAGES) })
            }
            "populate" => self.map(way, true)?,
            "map alone" => self.map(way, false)?,
            "huge page" => match &self.huge {
                Ok(arena) => {
                    let base = arena.start();
                    // SAFETY: the huge arena's own memory.
                    unsafe {
                        pages::leave(base, HUGE_BYTES, Left::Cold);
                        pages::give_back(base, HUGE_BYTES)
                    }
                    .map_err(|error| Impossible(format!("a huge page stays: {error}")))?;
                    // SAFETY: the first page of the huge arena, which this thread alone has.
                    self.touch(way, HUGE_BYTES / 4096, || unsafe { write_each(base, page, 1) })
                }
                Err(_) => f64::NAN,
            },
            _ => {
                let left = if SERIES[way].ends_with("cold") { Left::Cold } else { Left::Hot };
                let clear = self.clear;
                let mut sum = 0.0;
                for at in 0..PAGES {
                    let page_start = base.wrapping_add(at * page);
                    // SAFETY: a page of the arena; the routine is verified.
                    unsafe {
                        clear.call(page_start, page);
                        pages::leave(page_start, page, left);
                    }
                    sum += time(self.overhead_ticks, || {
                        // SAFETY: a page of the arena; the routine is verified.
                        unsafe { clear.call(page_start, page) };
                        drain();
                    });
                }
                sum / PAGES as f64
            }
        };
        Ok((ticks, None))
    }
}

impl Rounds for FirstTouch {
    fn series(&self) -> Vec<Series> {
        SERIES.map(Series::ticks).into()
    }

    fn twins(&self) -> Vec<(usize, usize)> {
        vec![(0, 1)]
    }

    fn round(&mut self, status: &StatusPage) -> Result<Vec<f64>, Impossible> {
        let mut samples = vec![f64::NAN; SERIES.len()];
        let mut turn: Vec<usize> = (0..MEASURED).filter(|way| *way != WRITE_AFTER_READ).collect();
        shuffle(&mut self.rng, &mut turn);
        for way in turn {
            let (ticks, then) = self.way(way)?;
            samples[way] = ticks;
            if let Some(then) = then {
                samples[WRITE_AFTER_READ] = then;
            }
            status.beat();
        }
        samples[MEASURED] = samples[READ] + samples[WRITE_AFTER_READ];
        samples[MEASURED + 1] = samples[WRITE] - samples[READY];
        Ok(samples)
    }

    fn facts(&mut self) -> serde_json::Value {
        let per_page = |way: &usize| {
            let (touches, faults) = self.counts[*way];
            (touches > 0).then(|| (SERIES[*way], faults as f64 / touches as f64))
        };
        let counted = (0..MEASURED).filter_map(|way| per_page(&way));
        let faults_per_page = counted.map(|(name, faults)| (name.to_owned(), faults)).collect();
        crate::json(&Facts { faults_per_page, mapped_before: self.mapped_before })
    }

    fn unusable(&self) -> Vec<Unusable> {
        self.huge.as_ref().err().map(|why| Unusable::new("huge page", why)).into_iter().collect()
    }
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::*;
    use crate::testing::setup;

    #[test]
    fn pages_are_untouched_and_each_way_faults_as_often_as_it_should() {
        let status = StatusPage::create().expect("a page");
        let setup = setup(&serde_json::Value::Null, &status);
        let mut rounds = start(&setup).expect("an x86-64 CPU");
        for _ in 0..2 {
            let samples = rounds.round(&status).expect("a round");
            let series = rounds.series();
            assert_eq!(samples.len(), series.len());
            for (sample, series) in samples.iter().zip(series) {
                assert!(sample.is_finite() || series.name == "huge page", "{}", series.name);
            }
        }
        let facts: Facts = serde_json::from_value(rounds.facts()).expect("its own");
        assert_eq!(facts.mapped_before.unwrap_or(0), 0);
        let faults = |way: &str| *facts.faults_per_page.get(way).expect("counted");
        // Kernels that do not count faults say 0; ours may add one of its own to a round.
        if faults("write first") > 0.0 {
            let about = |way: &str, wanted: f64| (faults(way) - wanted).abs() < 0.1;
            for way in ["write first", "read first", "write after read", "ready page", "copy on write"] {
                assert!(about(way, 1.0), "{way}: {:?}", facts.faults_per_page);
            }
            assert!(about("map alone", 0.0), "{:?}", facts.faults_per_page);
        }
    }
}
