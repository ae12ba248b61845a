//! Four ways to write to a page, in every order, and each of them again in a state that is made and stated.
//!
//! The four, as their author numbered them: (1) 4 KB by `rep stosl`, (2) 4 KB by libc's bzero, (3) a 32-bit write to
//! a page written before, (4) the first 32-bit write to an untouched page. He ran them in the order 4, 3, 2, 1 on one
//! page after the other, so each found the caches as the one before had left them. Here every order runs, each on
//! fresh pages of its own; whatever runs first takes the page fault, whatever its number says.
//!
//! Times are gross: the clock's own cost is in them, as in the published ones; the series [`CLOCK`] is that cost alone.
//! Series: `order ABCD: N` for every order, `N at place P` (the mean over the orders that have it there), and one for each
//! of [`STATES`]. Frames are given back flushed, so the kernel clears cold lines, except where a state says hot.

use super::{Impossible, Rounds, Series, Setup, Special, time};
use crate::arena::{Arena, page_bytes};
use crate::condition::Pages;
use crate::pages::{self, Left, Ready, Writes};
use crate::sampler::shuffle;
use crate::statistics;
use crate::status::StatusPage;
use carryline_variants::ZeroFn;
use rand_core::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;

/// See the module.
pub static SPECIAL: Special =
    Special { name: "four_numbers", what: "four ways to write to a page, in every order and state", start };

/// The clock alone.
pub const CLOCK: &str = "clock alone";
/// The states, in the order of the table.
pub const STATES: [&str; 15] = [
    CLOCK,
    "rep stosl, hot",
    "rep stosl, hot, again",
    "rep stosl, cold",
    "rep stosl, untouched",
    "bzero, hot",
    "bzero, cold",
    "bzero, untouched",
    "write, hot line",
    "write, cold line",
    "write, hot line, drained",
    "write, cold line, drained",
    "first write, frame hot",
    "first write, frame cold",
    "write, ready page not mapped",
];
/// Bytes that are zeroed.
pub const ZEROED_BYTES: usize = 4096;

/// Pages for each order, and for each state, of a round.
const PAGES_EACH: usize = 7;

/// Every order of the four numbers.
#[must_use]
pub fn orders() -> Vec<[u8; 4]> {
    let mut orders = Vec::new();
    for a in 1..=4 {
        for b in (1..=4).filter(|n| *n != a) {
            for c in (1..=4).filter(|n| *n != a && *n != b) {
                orders.push([a, b, c, 10 - a - b - c]);
            }
        }
    }
    orders
}

/// What a series of an order is called.
#[must_use]
pub fn name(order: [u8; 4], number: u8) -> String {
    let [a, b, c, d] = order;
    format!("order {a}{b}{c}{d}: {number}")
}

/// What the series of a number at a place (1 to 4) is called.
#[must_use]
pub fn name_at(number: u8, place: u8) -> String {
    format!("{number} at place {place}")
}

struct FourNumbers {
    arena: Arena,
    ready: Ready,
    stosl: ZeroFn,
    bzero: ZeroFn,
    rng: Xoshiro256PlusPlus,
    /// First writes so far, the pages of them that were mapped already, and the faults they took.
    first_writes: u64,
    touched_before: Option<u64>,
    faults: u64,
    /// Cold frames given back, and how many the next fault got again; `None` where frames are not shown.
    frames: Option<(u64, u64)>,
}

fn start(setup: &Setup<'_>) -> Result<Box<dyn Rounds>, Impossible> {
    if !cfg!(target_arch = "x86_64") {
        return Err(Impossible("rep stosl and clflush are x86-64 instructions".to_owned()));
    }
    if page_bytes() != ZEROED_BYTES {
        return Err(Impossible(format!("pages have {} bytes here, not 4096", page_bytes())));
    }
    let (_, stosl) = setup.zeroing(&["rep_stosl"])?;
    // Since bzero left POSIX the C library has it as memset.
    let (_, bzero) = setup.zeroing(&["libc_memset"])?;
    let impossible = |error: crate::arena::MapError| Impossible(error.to_string());
    Ok(Box::new(FourNumbers {
        arena: Arena::new(orders().len() * PAGES_EACH * ZEROED_BYTES, Pages::Base).map_err(impossible)?,
        ready: Ready::new(PAGES_EACH * ZEROED_BYTES, Writes::Through).map_err(impossible)?,
        stosl,
        bzero,
        rng: Xoshiro256PlusPlus::seed_from_u64(setup.seed),
        first_writes: 0,
        touched_before: Some(0),
        faults: 0,
        frames: None,
    }))
}

/// A 32-bit write at an offset that all of them share: a line in the midst of the page.
///
/// # Safety
/// `page` is a page that this thread may write.
#[inline(always)]
unsafe fn write(page: *mut u8) {
    // SAFETY: aligned, inside the page.
    unsafe { page.add(2048).cast::<u32>().write_volatile(1) }
}

/// Waits until every store before is in the cache.
#[inline(always)]
fn drain() {
    std::sync::atomic::fence(std::sync::atomic::Ordering::SeqCst);
}

fn median(mut ticks: Vec<f64>) -> f64 {
    statistics::median_in_place(&mut ticks).unwrap_or(f64::NAN)
}

impl FourNumbers {
    fn page(&self, index: usize) -> *mut u8 {
        self.arena.start().wrapping_add(index * ZEROED_BYTES)
    }

    /// One number on one page.
    fn number(&self, number: u8, page: *mut u8) -> f64 {
        // SAFETY: a whole page of the arena, which this thread alone has; the routines are proved.
        match number {
            1 => time(0.0, || unsafe { (self.stosl)(page, ZEROED_BYTES) }),
            2 => time(0.0, || unsafe { (self.bzero)(page, ZEROED_BYTES) }),
            // SAFETY: as above.
            _ => time(0.0, || unsafe { write(page) }),
        }
    }

    /// Makes every page of the arena untouched, its frames cold.
    fn release(&mut self) -> Result<(), Impossible> {
        // SAFETY: the arena's own pages, whose contents nobody needs.
        unsafe {
            pages::leave(self.arena.start(), self.arena.len(), Left::Cold);
            pages::give_back(self.arena.start(), self.arena.len())
        }
        .map_err(|error| Impossible(format!("the kernel does not take pages back: {error}")))
    }

    /// Makes one page untouched, its frame left as said.
    fn release_one(&mut self, page: *mut u8, left: Left) -> Result<(), Impossible> {
        // SAFETY: a page of the arena, whose contents nobody needs.
        unsafe {
            write(page);
            pages::leave(page, ZEROED_BYTES, left);
            pages::give_back(page, ZEROED_BYTES)
        }
        .map_err(|error| Impossible(format!("the kernel does not take pages back: {error}")))
    }

    /// Every order on pages of its own: a sample for each order and number.
    fn in_every_order(&mut self, orders: &[[u8; 4]], status: &StatusPage) -> Result<Vec<f64>, Impossible> {
        self.release()?;
        let pages = orders.len() * PAGES_EACH;
        self.touched_before = self
            .touched_before
            .zip(pages::mapped(self.arena.start(), pages))
            .map(|(sum, now)| sum + now as u64);
        let mut turn: Vec<usize> = (0..orders.len()).collect();
        shuffle(&mut self.rng, &mut turn);
        let mut samples = vec![f64::NAN; orders.len() * 4];
        let before = pages::minor_faults();
        for order in turn {
            let mut ticks: [Vec<f64>; 4] = Default::default();
            for at in 0..PAGES_EACH {
                let page = self.page(order * PAGES_EACH + at);
                for number in orders[order] {
                    ticks[usize::from(number) - 1].push(self.number(number, page));
                }
            }
            for (number, ticks) in ticks.into_iter().enumerate() {
                samples[order * 4 + number] = median(ticks);
            }
        }
        self.faults += pages::minor_faults() - before;
        self.first_writes += pages as u64;
        status.beat();
        Ok(samples)
    }

    /// A state, made for every page anew.
    fn in_state(&mut self, state: &str) -> Result<f64, Impossible> {
        let mut ticks = Vec::with_capacity(PAGES_EACH);
        for at in 0..PAGES_EACH {
            let page = self.page(at);
            let number = if state.starts_with("rep stosl") { 1 } else { 2 };
            // SAFETY: pages of the arena or of the file, which this thread alone has.
            ticks.push(unsafe {
                match state {
                    CLOCK => time(0.0, || {}),
                    "rep stosl, hot" | "rep stosl, hot, again" | "bzero, hot" => {
                        self.number(number, page);
                        self.number(number, page);
                        self.number(number, page)
                    }
                    "rep stosl, cold" | "bzero, cold" => {
                        self.number(number, page);
                        pages::leave(page, ZEROED_BYTES, Left::Cold);
                        self.number(number, page)
                    }
                    "rep stosl, untouched" | "bzero, untouched" => {
                        self.release_one(page, Left::Cold)?;
                        self.number(number, page)
                    }
                    "write, hot line" | "write, hot line, drained" => {
                        pages::leave(page, ZEROED_BYTES, Left::Hot);
                        drain();
                        self.write_to(page, state.ends_with("drained"))
                    }
                    "write, cold line" | "write, cold line, drained" => {
                        // The page is mapped and its translation cached; only its lines are not.
                        pages::leave(page, ZEROED_BYTES, Left::Hot);
                        pages::leave(page, ZEROED_BYTES, Left::Cold);
                        page.read_volatile();
                        drain();
                        self.write_to(page, state.ends_with("drained"))
                    }
                    "first write, frame hot" => {
                        self.release_one(page, Left::Hot)?;
                        self.write_to(page, false)
                    }
                    "first write, frame cold" => {
                        write(page);
                        let given = pages::frame(page);
                        self.release_one(page, Left::Cold)?;
                        let ticks = self.write_to(page, false);
                        if let Some((given, got)) = given.zip(pages::frame(page)) {
                            let (all, same) = self.frames.unwrap_or((0, 0));
                            self.frames = Some((all + 1, same + u64::from(given == got)));
                        }
                        ticks
                    }
                    _ => {
                        let page = self.ready.start().add(at * ZEROED_BYTES);
                        pages::leave(page, ZEROED_BYTES, Left::Hot);
                        pages::give_back(page, ZEROED_BYTES)
                            .map_err(|error| Impossible(format!("a mapped page stays: {error}")))?;
                        self.write_to(page, false)
                    }
                }
            });
        }
        Ok(median(ticks))
    }

    fn write_to(&self, page: *mut u8, drained: bool) -> f64 {
        // SAFETY: the callers' pages are theirs to write.
        time(0.0, || unsafe {
            write(page);
            if drained {
                drain();
            }
        })
    }
}

impl Rounds for FourNumbers {
    fn series(&self) -> Vec<Series> {
        let of_orders = orders().into_iter().flat_map(|order| (1..=4).map(move |number| name(order, number)));
        let of_places = (1..=4).flat_map(|number| (1..=4).map(move |place| name_at(number, place)));
        let of_states = STATES.iter().map(|state| (*state).to_owned());
        of_orders.chain(of_places).chain(of_states).map(Series::ticks).collect()
    }

    fn twins(&self) -> Vec<(usize, usize)> {
        let first = orders().len() * 4 + 16;
        let at = |wanted: &str| STATES.iter().position(|state| *state == wanted).map(|place| first + place);
        at("rep stosl, hot").zip(at("rep stosl, hot, again")).into_iter().collect()
    }

    fn round(&mut self, status: &StatusPage) -> Result<Vec<f64>, Impossible> {
        let orders = orders();
        let mut samples = self.in_every_order(&orders, status)?;
        for number in 1..=4_u8 {
            for place in 0..4 {
                let there = orders.iter().enumerate().filter(|(_, order)| order[place] == number);
                let ticks: Vec<f64> =
                    there.map(|(order, _)| samples[order * 4 + usize::from(number) - 1]).collect();
                samples.push(ticks.iter().sum::<f64>() / ticks.len() as f64);
            }
        }
        let mut turn: Vec<usize> = (0..STATES.len()).collect();
        shuffle(&mut self.rng, &mut turn);
        let mut states = [f64::NAN; STATES.len()];
        for state in turn {
            states[state] = self.in_state(STATES[state])?;
            status.beat();
        }
        samples.extend(states);
        Ok(samples)
    }

    fn facts(&mut self) -> serde_json::Value {
        serde_json::json!({
            "first writes": self.first_writes,
            "of pages that were mapped before": self.touched_before,
            "faults": self.faults,
            "frames given back, and got again": self.frames,
        })
    }
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::*;
    use crate::sampler::CacheSizes;
    use std::collections::BTreeSet;
    use std::time::Duration;

    #[test]
    fn there_are_24_orders_and_the_original_is_one_of_them() {
        let orders = orders();
        assert_eq!(orders.iter().collect::<BTreeSet<_>>().len(), 24);
        assert!(orders.contains(&[4, 3, 2, 1]));
        assert!(orders.iter().all(|order| order.iter().collect::<BTreeSet<_>>().len() == 4));
    }

    #[test]
    fn pages_are_untouched_before_every_order_and_each_faults_once() {
        let status = StatusPage::create().expect("a page");
        let setup = Setup {
            parameters: &serde_json::Value::Null,
            seed: 3,
            replicate: 0,
            caches: CacheSizes { l1: 32 << 10, l2: 512 << 10, l3: 8 << 20 },
            cpu: None,
            ticks_per_ns: 1.0,
            time: Duration::ZERO,
            status: &status,
        };
        let mut rounds = start(&setup).expect("an x86-64 CPU");
        let samples = rounds.round(&status).expect("a round");
        assert_eq!(samples.len(), rounds.series().len());
        assert!(samples.iter().all(|sample| sample.is_finite()));
        let (one, other) = rounds.twins()[0];
        let series = rounds.series();
        assert_eq!(format!("{}, again", series[one].name), series[other].name);
        let facts = rounds.facts();
        assert_eq!(facts["first writes"], 24 * 7);
        assert!(facts["of pages that were mapped before"].as_u64().unwrap_or(0) == 0, "{facts}");
        // Kernels that do not count faults say 0.
        let faults = facts["faults"].as_u64().expect("a number");
        assert!(faults == 0 || faults >= 24 * 7, "{facts}");
    }
}
