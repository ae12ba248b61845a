//! Four ways to write to a page, in every order, and each again with its state prepared explicitly.
//!
//! The four, as their author numbered them: (1) 4 KB by `rep stosl`, (2) 4 KB by libc's bzero, (3) a 32-bit
//! write to a page written before, (4) the first 32-bit write to an untouched page. He ran them in the order
//! 4, 3, 2, 1 on one page after the other, so each found the caches as the previous one had left them. Here
//! every order runs on its own fresh pages; whatever runs first takes the page fault, regardless of its
//! number.
//!
//! Times are gross: like the published ones, they include the clock's own cost; the series [`CLOCK`] is that
//! cost alone. Series: `order ABCD: N` for every order, `N at place P` (the mean over the orders with N at
//! that place), and one for each of [`STATES`] (`drained`: until the stores are in the cache). Frames are
//! released flushed, so the kernel clears cold lines, except where a state says hot.

use crate::pages::{self, Lines, Resident, Writes, drain};
use carryline_engine::probe::{Impossible, Probe, Rounds, Series, Setup, time};
use carryline_machine::arena::{Arena, Pages, page_bytes};
use carryline_statistics::shuffle;
use carryline_verification::Zeroing;
use carryline_verification::status::StatusPage;
use rand_core::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::{Deserialize, Serialize};

/// See the module.
pub static PROBE: Probe =
    Probe { name: "four_numbers", what: "four ways to write to a page, in every order and state", start };

/// The clock alone.
pub const CLOCK: &str = "clock alone";

/// The timed action.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum What {
    Nothing,
    Stosl,
    Bzero,
    Write,
}

/// The state of the page before the action.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Before {
    /// Mapped, with its lines hot or cold.
    Mapped(Lines),
    /// Not mapped; its frame was hot or cold when released.
    Untouched(Lines),
    /// Not mapped, but resident in a file.
    Resident,
}

/// An action to time, and the state prepared for it.
#[derive(Clone, Copy, Debug)]
pub struct TimedState {
    /// The name of its series.
    pub name: &'static str,
    what: What,
    before: Before,
    /// Whether the time ends when the stores are in the cache instead of when they have left the pipeline.
    drained: bool,
}

const fn state(name: &'static str, what: What, before: Before, drained: bool) -> TimedState {
    TimedState { name, what, before, drained }
}

const HOT: Before = Before::Mapped(Lines::Hot);
const COLD: Before = Before::Mapped(Lines::Cold);

/// The states, in the order of the table; the twin of the second follows it.
pub const STATES: [TimedState; 19] = [
    state(CLOCK, What::Nothing, HOT, false),
    state("rep stosl, hot", What::Stosl, HOT, false),
    state("rep stosl, hot, again", What::Stosl, HOT, false),
    state("rep stosl, cold", What::Stosl, COLD, false),
    state("rep stosl, hot, drained", What::Stosl, HOT, true),
    state("rep stosl, cold, drained", What::Stosl, COLD, true),
    state("rep stosl, untouched", What::Stosl, Before::Untouched(Lines::Cold), false),
    state("bzero, hot", What::Bzero, HOT, false),
    state("bzero, cold", What::Bzero, COLD, false),
    state("bzero, hot, drained", What::Bzero, HOT, true),
    state("bzero, cold, drained", What::Bzero, COLD, true),
    state("bzero, untouched", What::Bzero, Before::Untouched(Lines::Cold), false),
    state("write, hot line", What::Write, HOT, false),
    state("write, cold line", What::Write, COLD, false),
    state("write, hot line, drained", What::Write, HOT, true),
    state("write, cold line, drained", What::Write, COLD, true),
    state("first write, frame hot", What::Write, Before::Untouched(Lines::Hot), false),
    state("first write, frame cold", What::Write, Before::Untouched(Lines::Cold), false),
    state("write, ready page not mapped", What::Write, Before::Resident, false),
];
/// Bytes zeroed by (1) and (2).
pub const ZEROED_BYTES: usize = 4096;

/// Pages for each order and each state of a round.
const PAGES_EACH: usize = 16;

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

/// The name of the series of a number in an order.
#[must_use]
pub fn name(order: [u8; 4], number: u8) -> String {
    let [a, b, c, d] = order;
    format!("order {a}{b}{c}{d}: {number}")
}

/// The name of the series of a number at a place (1 to 4).
#[must_use]
pub fn name_at(number: u8, place: u8) -> String {
    format!("{number} at place {place}")
}

/// Facts about pages and faults.
#[derive(Deserialize, Serialize)]
pub(super) struct Facts {
    /// Pages that were written for the first time by some order.
    pub first_writes: u64,
    /// How many of them were already mapped; `None` if the kernel does not report it.
    pub mapped_before: Option<u64>,
    /// Their faults.
    pub faults: u64,
    /// The number of frames released flushed, and how many of them the next fault got again; `None` if the
    /// kernel does not show frames.
    pub frames: Option<(u64, u64)>,
}

struct FourNumbers {
    arena: Arena,
    resident: Resident,
    stosl: Zeroing,
    bzero: Zeroing,
    rng: Xoshiro256PlusPlus,
    /// First writes so far; how many of their pages were already mapped; their faults.
    first_writes: u64,
    touched_before: Option<u64>,
    faults: u64,
    /// Frames released, and how many the next fault got again; `None` if the kernel does not show frames.
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
    // bzero is no longer in POSIX; the C library implements it as memset.
    let (_, bzero) = setup.zeroing(&["libc_memset"])?;
    Ok(Box::new(FourNumbers {
        arena: Arena::new(orders().len() * PAGES_EACH * ZEROED_BYTES, Pages::Base)?,
        resident: Resident::new(PAGES_EACH * ZEROED_BYTES, Writes::Shared)?,
        stosl,
        bzero,
        rng: Xoshiro256PlusPlus::seed_from_u64(setup.seed),
        first_writes: 0,
        touched_before: Some(0),
        faults: 0,
        frames: None,
    }))
}

/// A 32-bit write to a line in the middle of the page, the same for all.
///
/// # Safety
/// `page` must be a page that this thread may write.
#[inline(always)]
unsafe fn write(page: *mut u8) {
    // SAFETY: aligned, inside the page.
    unsafe { page.add(2048).cast::<u32>().write_volatile(1) }
}

/// The mean of the middle half, which excludes disturbances and is finer than the clock's steps.
fn interquartile_mean(mut ticks: Vec<f64>) -> f64 {
    ticks.sort_by(f64::total_cmp);
    let quarter = ticks.len() / 4;
    let half = &ticks[quarter..ticks.len() - quarter];
    half.iter().sum::<f64>() / half.len() as f64
}

impl FourNumbers {
    fn page(&self, index: usize) -> *mut u8 {
        self.arena.start().wrapping_add(index * ZEROED_BYTES)
    }

    /// The ticks of one action on one page.
    fn act(&self, what: What, page: *mut u8, drained: bool) -> f64 {
        let fence = || {
            if drained {
                drain();
            }
        };
        match what {
            What::Nothing => time(0.0, fence),
            What::Stosl | What::Bzero => {
                let zero = if what == What::Stosl { self.stosl } else { self.bzero };
                time(0.0, || {
                    // SAFETY: a page of this probe, which only this thread uses; the routines are verified.
                    unsafe { zero.call(page, ZEROED_BYTES) };
                    fence();
                })
            }
            What::Write => time(0.0, || {
                // SAFETY: a page of this probe, which only this thread uses.
                unsafe { write(page) };
                fence();
            }),
        }
    }

    /// Releases every page of the arena with cold frames.
    fn release(&mut self) -> Result<(), Impossible> {
        // SAFETY: the arena's own pages, whose contents are not needed.
        unsafe { pages::release(self.arena.start(), self.arena.len(), Lines::Cold) }
    }

    /// Releases one page with a hot or cold frame.
    fn release_one(&mut self, page: *mut u8, left: Lines) -> Result<(), Impossible> {
        // SAFETY: a page of the arena, whose contents are not needed.
        unsafe {
            write(page);
            pages::release(page, ZEROED_BYTES, left)
        }
    }

    /// Runs every order on its own pages; returns a sample for each order and number.
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
                    let what = [What::Stosl, What::Bzero, What::Write, What::Write][usize::from(number) - 1];
                    ticks[usize::from(number) - 1].push(self.act(what, page, false));
                }
            }
            for (number, ticks) in ticks.into_iter().enumerate() {
                samples[order * 4 + number] = interquartile_mean(ticks);
            }
        }
        self.faults += pages::minor_faults() - before;
        self.first_writes += pages as u64;
        status.beat();
        Ok(samples)
    }

    /// Times a state, which is prepared again for every page.
    fn in_state(&mut self, state: &TimedState) -> Result<f64, Impossible> {
        let mut ticks = Vec::with_capacity(PAGES_EACH);
        for at in 0..PAGES_EACH {
            let mut page = self.page(at);
            let mut given = None;
            match state.before {
                Before::Mapped(left) => {
                    // Warms the code.
                    self.act(state.what, page, false);
                    // SAFETY: a page of the arena, which only this thread uses.
                    unsafe { pages::leave(page, ZEROED_BYTES, Lines::Hot) };
                    if left == Lines::Cold {
                        // SAFETY: a page of the arena, which only this thread uses.
                        unsafe { pages::leave(page, ZEROED_BYTES, left) };
                    }
                    drain();
                }
                Before::Untouched(left) => {
                    // SAFETY: a page of the arena, which only this thread uses.
                    unsafe { write(page) };
                    given = pages::frame(page);
                    self.release_one(page, left)?;
                }
                Before::Resident => {
                    page = self.resident.start().wrapping_add(at * ZEROED_BYTES);
                    // SAFETY: a page of the file.
                    unsafe { pages::release(page, ZEROED_BYTES, Lines::Hot) }?;
                }
            }
            ticks.push(self.act(state.what, page, state.drained));
            if let Some((given, got)) = given.zip(pages::frame(page)) {
                let (all, same) = self.frames.unwrap_or((0, 0));
                self.frames = Some((all + 1, same + u64::from(given == got)));
            }
        }
        Ok(interquartile_mean(ticks))
    }
}

impl Rounds for FourNumbers {
    fn series(&self) -> Vec<Series> {
        let of_orders = orders().into_iter().flat_map(|order| (1..=4).map(move |number| name(order, number)));
        let of_places = (1..=4).flat_map(|number| (1..=4).map(move |place| name_at(number, place)));
        let of_states = STATES.iter().map(|state| state.name.to_owned());
        of_orders.chain(of_places).chain(of_states).map(Series::ticks).collect()
    }

    fn twins(&self) -> Vec<(usize, usize)> {
        let first = orders().len() * 4 + 16;
        vec![(first + 1, first + 2)]
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
            states[state] = self.in_state(&STATES[state])?;
            status.beat();
        }
        samples.extend(states);
        Ok(samples)
    }

    fn facts(&mut self) -> serde_json::Value {
        crate::json(&Facts {
            first_writes: self.first_writes,
            mapped_before: self.touched_before,
            faults: self.faults,
            frames: self.frames,
        })
    }
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::*;
    use crate::testing::setup;
    use std::collections::BTreeSet;

    #[test]
    fn there_are_24_orders_including_the_original() {
        let orders = orders();
        assert_eq!(orders.iter().collect::<BTreeSet<_>>().len(), 24);
        assert!(orders.contains(&[4, 3, 2, 1]));
        assert!(orders.iter().all(|order| order.iter().collect::<BTreeSet<_>>().len() == 4));
    }

    #[test]
    fn pages_are_untouched_before_every_order_and_each_faults_once() {
        let status = StatusPage::create().expect("a page");
        let setup = setup(&serde_json::Value::Null, &status);
        let mut rounds = start(&setup).expect("an x86-64 CPU");
        let samples = rounds.round(&status).expect("a round");
        assert_eq!(samples.len(), rounds.series().len());
        assert!(samples.iter().all(|sample| sample.is_finite()));
        let (one, other) = rounds.twins()[0];
        let series = rounds.series();
        assert_eq!(format!("{}, again", series[one].name), series[other].name);
        let facts: Facts = serde_json::from_value(rounds.facts()).expect("its own");
        assert_eq!((facts.first_writes, facts.mapped_before.unwrap_or(0)), (24 * 16, 0));
        // Kernels that do not count faults report 0.
        assert!(facts.faults == 0 || facts.faults >= 24 * 16, "{} faults", facts.faults);
    }
}
