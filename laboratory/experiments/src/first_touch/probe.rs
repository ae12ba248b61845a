//! The first touch of a page: the cost of the kernel entry, and of clearing or copying the page.
//!
//! Every method gets [`PAGES`] untouched pages. Their frames were flushed before the kernel got them back, so
//! the memory it clears is cold, except where the name says hot. Series are ticks per page:
//! - `write first`: a write to each page, with one fault that clears a page;
//! - `read first` maps the kernel's zero page; `write after read` then needs a second fault;
//!   `read, then write` is the sum;
//! - `ready page`: a page that exists already, in a memory file: a fault with nothing to clear, only the
//!   entry;
//! - `clearing`: `write first` minus `ready page` of the same round;
//! - `copy on write`: the first write to a private mapping of a page that holds data;
//! - `populate`: one call that maps and clears all pages (`MAP_POPULATE`); `map alone` is the call without
//!   it;
//! - `huge page`: a fault that clears 2 MiB, per 4 KB;
//! - `clear by rep stosb, cold` and `..., hot`: the clearing alone, of mapped pages, until the stores are in
//!   the cache.
//!
//! The facts are the faults per page of each method, as the kernel counts them for this thread, and the
//! number of pages found mapped that should have been untouched.

use crate::pages::{self, Lines, Resident, Writes, drain};
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

/// Pages that each method touches in a round.
pub const PAGES: usize = 64;
/// Bytes of a huge page.
const HUGE_BYTES: usize = 2 << 20;

/// The series. All but the last two, which are computed, are measured in random order.
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

/// Facts about the faults.
#[derive(Deserialize, Serialize)]
pub(super) struct Facts {
    /// Faults per page, by method.
    pub faults_per_page: BTreeMap<String, f64>,
    /// Pages found mapped that should have been untouched; `None` if the kernel does not report it.
    pub mapped_before: Option<u64>,
}

struct FirstTouch {
    page: usize,
    arena: Arena,
    through: Resident,
    copied: Resident,
    huge: Result<Arena, String>,
    clear: Zeroing,
    overhead_ticks: f64,
    rng: Xoshiro256PlusPlus,
    /// Touches and faults of each method.
    counts: [(u64, u64); MEASURED],
    mapped_before: Option<u64>,
}

fn start(setup: &Setup<'_>) -> Result<Box<dyn Rounds>, Impossible> {
    if !cfg!(target_arch = "x86_64") {
        return Err(Impossible("frames are made cold by clflush, which is an x86-64 instruction".to_owned()));
    }
    let page = page_bytes();
    Ok(Box::new(FirstTouch {
        page,
        arena: Arena::new(PAGES * page, Pages::Base)?,
        through: Resident::new(PAGES * page, Writes::Shared)?,
        copied: Resident::new(PAGES * page, Writes::Private)?,
        huge: huge(),
        clear: setup.zeroing(&["rep_stosb"])?.1,
        overhead_ticks: clock::overhead_ticks(),
        rng: Xoshiro256PlusPlus::seed_from_u64(setup.seed),
        counts: [(0, 0); MEASURED],
        mapped_before: Some(0),
    }))
}

/// Memory that one fault maps as a huge page, or the reason why the kernel does not.
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
/// `count` pages of `page` bytes from `base` on must be writable, and used by no other thread.
#[inline(never)]
unsafe fn write_each(base: *mut u8, page: usize, count: usize) {
    for at in 0..count {
        // SAFETY: inside the pages. Volatile, so that the access is not removed.
        unsafe { base.add(at * page).cast::<u32>().write_volatile(1) };
    }
}

/// Reads one word of every page.
///
/// # Safety
/// `count` pages of `page` bytes from `base` on must be readable.
#[inline(never)]
unsafe fn read_each(base: *const u8, page: usize, count: usize) {
    for at in 0..count {
        // SAFETY: inside the pages. Volatile, so that the access is not removed.
        unsafe { base.add(at * page).cast::<u32>().read_volatile() };
    }
}

impl FirstTouch {
    /// Releases the pages at `base`, leaving the frames of private pages hot or cold, and counts pages that
    /// are still mapped.
    fn release(&mut self, base: *mut u8, left: Lines) -> Result<(), Impossible> {
        let len = PAGES * self.page;
        // SAFETY: pages of this probe's own memory, whose contents are not needed; all may be written.
        unsafe { pages::release(base, len, left) }?;
        self.mapped_before =
            self.mapped_before.zip(pages::mapped(base, PAGES)).map(|(sum, now)| sum + now as u64);
        Ok(())
    }

    /// Ticks per page of `action`, which touches `count` pages; counts its faults.
    fn touch(&mut self, method: usize, count: usize, action: impl FnOnce()) -> f64 {
        let before = pages::minor_faults();
        let ticks = time(self.overhead_ticks, action);
        let (touches, faults) = &mut self.counts[method];
        *touches += count as u64;
        *faults += pages::minor_faults() - before;
        ticks / count as f64
    }

    /// Creates a mapping; its pages are mapped at once if `populate`.
    fn map(&mut self, method: usize, populate: bool) -> Result<f64, Impossible> {
        let len = PAGES * self.page;
        // The mapping gets the frames that were released last.
        self.release(self.arena.start(), Lines::Cold)?;
        let flags = if populate { MapFlags::PRIVATE | MapFlags::POPULATE } else { MapFlags::PRIVATE };
        let mut map = Err(rustix::io::Errno::NOMEM);
        let ticks = self.touch(method, PAGES, || {
            // SAFETY: a new mapping at an address of the kernel's choice.
            map = unsafe {
                mmap_anonymous(std::ptr::null_mut(), len, ProtFlags::READ | ProtFlags::WRITE, flags)
            };
        });
        let map = map.map_err(|error| Impossible(format!("cannot map {len} bytes: {error}")))?;
        // SAFETY: exactly the mapping just made; populated pages are flushed before they go back.
        unsafe {
            if populate {
                pages::leave(map.cast(), len, Lines::Cold);
            }
            let _ = munmap(map, len);
        }
        Ok(ticks)
    }

    /// Prepares and measures a method; the second result is for the write that follows a read.
    fn measure(&mut self, method: usize) -> Result<(f64, Option<f64>), Impossible> {
        let (page, base) = (self.page, self.arena.start());
        let (through, copied) = (self.through.start(), self.copied.start());
        let ticks = match SERIES[method] {
            "write first" | "write first again" | "write first, frames hot" => {
                let left = if method == 2 { Lines::Hot } else { Lines::Cold };
                self.release(base, left)?;
                // SAFETY: PAGES pages of the arena, which only this thread uses.
                self.touch(method, PAGES, || unsafe { write_each(base, page, PAGES) })
            }
            "read first" => {
                self.release(base, Lines::Cold)?;
                // SAFETY: PAGES pages of the arena, which only this thread uses.
                let read = self.touch(method, PAGES, || unsafe { read_each(base, page, PAGES) });
                // SAFETY: PAGES pages of the arena, which only this thread uses.
                let write = self.touch(WRITE_AFTER_READ, PAGES, || unsafe { write_each(base, page, PAGES) });
                return Ok((read, Some(write)));
            }
            "ready page" => {
                self.release(through, Lines::Cold)?;
                // SAFETY: PAGES pages of the file's shared mapping, which only this thread uses.
                self.touch(method, PAGES, || unsafe { write_each(through, page, PAGES) })
            }
            "copy on write" => {
                self.release(copied, Lines::Cold)?;
                // SAFETY: PAGES pages of the file's private mapping, which only this thread uses.
                self.touch(method, PAGES, || unsafe { write_each(copied, page, PAGES) })
            }
            "populate" => self.map(method, true)?,
            "map alone" => self.map(method, false)?,
            "huge page" => match &self.huge {
                Ok(arena) => {
                    let base = arena.start();
                    // SAFETY: the huge arena's own memory.
                    unsafe { pages::release(base, HUGE_BYTES, Lines::Cold) }?;
                    // SAFETY: the first page of the huge arena, which only this thread uses.
                    self.touch(method, HUGE_BYTES / 4096, || unsafe { write_each(base, page, 1) })
                }
                Err(_) => f64::NAN,
            },
            _ => {
                let left = if SERIES[method].ends_with("cold") { Lines::Cold } else { Lines::Hot };
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
        let mut turn: Vec<usize> = (0..MEASURED).filter(|method| *method != WRITE_AFTER_READ).collect();
        shuffle(&mut self.rng, &mut turn);
        for method in turn {
            let (ticks, then) = self.measure(method)?;
            samples[method] = ticks;
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
        let per_page = |method: &usize| {
            let (touches, faults) = self.counts[*method];
            (touches > 0).then(|| (SERIES[*method], faults as f64 / touches as f64))
        };
        let counted = (0..MEASURED).filter_map(|method| per_page(&method));
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
    fn pages_are_untouched_and_each_method_takes_the_expected_faults() {
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
        let faults = |method: &str| *facts.faults_per_page.get(method).expect("counted");
        // Kernels that do not count faults report 0; the probe itself may add one to a round.
        if faults("write first") > 0.0 {
            let about = |method: &str, wanted: f64| (faults(method) - wanted).abs() < 0.1;
            for method in ["write first", "read first", "write after read", "ready page", "copy on write"] {
                assert!(about(method, 1.0), "{method}: {:?}", facts.faults_per_page);
            }
            assert!(about("map alone", 0.0), "{:?}", facts.faults_per_page);
        }
    }
}
