//! Where carryline is faster or slower on a machine, and by how much.

use crate::goals::fleet;
use crate::judge::GoalVerdict;
use crate::results::{CellResult, GoalResult, OpponentKind, Order, OtherLibrary, Results};
use crate::table::factor;
use carryline_variants::Family;
use std::collections::BTreeMap;
use std::fmt::Write;

/// A job, on single sizes and ranges or on a fleet's size distributions.
#[derive(Clone, Copy)]
pub(crate) struct Job {
    family: Family,
    is_fleet: bool,
    /// The title of its column.
    pub title: &'static str,
    /// Its name after "in".
    pub short: &'static str,
    /// The job and what it is compared with.
    pub compared: &'static str,
    /// The beginning of a sentence about wins, and that of losses.
    words: [&'static str; 2],
}

/// The jobs, in the order of the document.
pub(crate) const JOBS: [Job; 6] = [
    Job {
        family: Family::Checksum,
        is_fleet: false,
        title: "checksum",
        short: "checksums",
        compared: "Checksums, against the fastest peer (their latency against the kernel's classic form, and in the SSE2 \
             tier against its two-stream form)",
        words: ["Checksums win", "they lose"],
    },
    Job {
        family: Family::Copy,
        is_fleet: false,
        title: "copy",
        short: "copies of one size",
        compared: "Copies of single sizes, against the C library",
        words: ["Copies of single sizes win", "they lose"],
    },
    Job {
        family: Family::Copy,
        is_fleet: true,
        title: "copy, fleet",
        short: "copies of a fleet's sizes",
        compared: "Copies of a fleet's size distributions, against the C library",
        words: ["Copies of a fleet's size distributions win", "they lose"],
    },
    Job {
        family: Family::Zero,
        is_fleet: false,
        title: "zero",
        short: "zeroing of one size",
        compared: "Zeroing of single sizes, against the C library",
        words: ["Zeroing of single sizes wins", "it loses"],
    },
    Job {
        family: Family::Zero,
        is_fleet: true,
        title: "zero, fleet",
        short: "zeroing of a fleet's sizes",
        compared: "Zeroing of a fleet's size distributions, against the C library",
        words: ["Zeroing of a fleet's size distributions wins", "it loses"],
    },
    Job {
        family: Family::CopyChecksum,
        is_fleet: false,
        title: "copy and checksum",
        short: "copies with their checksum, compared with the C library's copy alone",
        compared: "Copies with their checksum, against the C library's copy alone",
        words: ["Copies with their checksum win", "they lose"],
    },
];

impl Job {
    fn includes(&self, goal: &GoalResult, cell: &CellResult) -> bool {
        goal.family == self.family && cell.size.starts_with(fleet::PREFIX) == self.is_fleet
    }
}

/// A cell with its goal.
pub(crate) type Place<'a> = (&'a GoalResult, &'a CellResult);

/// The C library functions of a fleet's size distributions.
pub(crate) const FUNCTIONS: [&str; 3] = ["memcpy", "memmove", "memset"];

/// A job's cells compared with what users have without this project, each once, against its strongest opponent.
pub(crate) struct Compared<'a> {
    cells: Vec<Place<'a>>,
}

impl<'a> Compared<'a> {
    pub(crate) fn new(results: &'a Results, job: &Job) -> Self {
        let mut cells: BTreeMap<(&str, &str, &str), Place> = BTreeMap::new();
        for goal in of_kind(results, OpponentKind::Others) {
            for cell in goal.cells.iter().chain(&goal.best).filter(|cell| job.includes(goal, cell)) {
                let known = cells.entry((&goal.routine, &goal.condition, &cell.size)).or_insert((goal, cell));
                if cell.ratio < known.1.ratio {
                    *known = (goal, cell);
                }
            }
        }
        Compared { cells: cells.into_values().collect() }
    }

    pub(crate) const fn cells(&self) -> usize {
        self.cells.len()
    }

    pub(crate) fn count(&self, order: Order) -> usize {
        self.with(order).count()
    }

    fn with(&self, order: Order) -> impl Iterator<Item = Place<'a>> {
        self.cells.iter().copied().filter(move |(_, cell)| cell.order == order)
    }

    /// Of the cells in which ours is faster, the one with the highest ratio.
    pub(crate) fn best(&self) -> Option<Place<'a>> {
        self.with(Order::Faster).max_by(|a, b| a.1.ratio.total_cmp(&b.1.ratio))
    }

    /// Of the cells in which ours is slower, the one with the lowest ratio.
    pub(crate) fn worst(&self) -> Option<Place<'a>> {
        self.with(Order::Slower).min_by(|a, b| a.1.ratio.total_cmp(&b.1.ratio))
    }
}

/// Words on a routine that a plain call does not reach; none for those that it does.
pub(crate) fn declared(routine: &str) -> String {
    match routine {
        "carryline" | fleet::OVERLAPPING => String::new(),
        other => format!(", by {other}, where the caller declares it"),
    }
}

/// By how many percent a routine with this ratio takes longer.
pub(crate) fn percent_longer(ratio: f64) -> f64 {
    (1.0 / ratio - 1.0) * 100.0
}

/// The machine and its tier, as a heading.
#[must_use]
pub fn heading(results: &Results) -> String {
    let cpu = results.environment.iter().find(|[what, _]| what == "CPU");
    let cpu = cpu.map_or(results.machine.as_str(), |[_, is]| is.as_str());
    let masked = if results.masked.is_empty() { "" } else { ", masked" };
    format!("{cpu}: {}{masked}", results.tier.title())
}

/// The goals reached, and those measured.
pub(crate) fn reached(results: &Results) -> [usize; 2] {
    let reached = results.goals.iter().filter(|goal| goal.outcome == GoalVerdict::Reached).count();
    let unmeasured = |goal: &&GoalResult| matches!(goal.outcome, GoalVerdict::NotMeasured(_));
    [reached, results.goals.len() - results.goals.iter().filter(unmeasured).count()]
}

/// The summary of a machine: a list.
#[must_use]
pub fn list(results: &Results) -> String {
    let [reached, measured] = reached(results);
    let mut out = format!("- {reached} of {measured} goals reached.");
    let unmeasured = results.goals.len() - measured;
    if unmeasured > 0 {
        let _ = write!(out, " {unmeasured} more were not measured.");
    }
    let jobs = JOBS.iter().filter_map(|job| about(results, job));
    let others =
        [mixes(results), other_libraries(results), sizes(results), traps(results)].into_iter().flatten();
    for sentence in jobs.chain(others) {
        let _ = write!(out, "\n- {sentence}");
    }
    out
}

pub(crate) fn of_kind(results: &Results, kind: OpponentKind) -> impl Iterator<Item = &GoalResult> {
    results.goals.iter().filter(move |goal| goal.kind == kind && goal.count.cells > 0)
}

/// A job in words.
fn about(results: &Results, job: &Job) -> Option<String> {
    let compared = Compared::new(results, job);
    let all = compared.cells();
    let [win, lose] = job.words;
    let place = |(goal, cell): Place| {
        let routine = declared(&goal.routine);
        format!("{}, {}, against {}{routine}", cell.size, goal.condition, cell.opponent)
    };
    let mut sentence = match compared.best() {
        _ if all == 0 => return None,
        Some(best) => format!(
            "{win} in {} of {all} cells, by up to {} times ({})",
            compared.count(Order::Faster),
            factor(best.1.ratio),
            place(best)
        ),
        None => format!("{win} in none of {all} cells"),
    };
    match compared.worst() {
        Some(worst) => {
            let percent = percent_longer(worst.1.ratio);
            let count = compared.count(Order::Slower);
            let _ = write!(sentence, "; {lose} in {count}, at worst by {percent:.0} % ({}).", place(worst));
        }
        None => {
            let _ = write!(sentence, "; {lose} in none.");
        }
    }
    Some(sentence)
}

/// The mean over a fleet's size distributions, of sizes that are drawn (`fleet`) or learnt (`learnt`): the goal and the ratio.
pub(crate) fn fleet_mean<'a>(
    results: &'a Results,
    sizes: &str,
    function: &str,
) -> Option<(&'a GoalResult, f64)> {
    let goal = results.goals.iter().find(|goal| goal.id == format!("{sizes}-{function}"))?;
    Some((goal, goal.ratio?.median))
}

/// The means over a fleet's size distributions.
fn mixes(results: &Results) -> Option<String> {
    let means = |sizes: &str| {
        let mean = |function: &&str| {
            let (goal, ratio) = fleet_mean(results, sizes, function)?;
            Some((goal, format!("{function} {}", factor(ratio))))
        };
        FUNCTIONS.iter().filter_map(mean).collect::<Vec<_>>()
    };
    let words = |means: &[(&GoalResult, String)]| {
        means.iter().map(|(_, words)| words.clone()).collect::<Vec<_>>().join(", ")
    };
    let (drawn, learnt) = (means("fleet"), means("learnt"));
    let (first, _) = drawn.first()?;
    let mut sentence = format!(
        "A fleet's size distributions against libc in the mean ({}): {}",
        first.condition,
        words(&drawn)
    );
    if !learnt.is_empty() {
        let _ = write!(sentence, "; with sizes that a branch predictor has learned {}", words(&learnt));
    }
    sentence.push('.');
    Some(sentence)
}

/// Libraries outside the collection.
fn other_libraries(results: &Results) -> Option<String> {
    let words = |other: &OtherLibrary| {
        let OtherLibrary { name, cells, faster, slower, .. } = other;
        let fleet = other.fleet.map(|mean| format!(", a fleet's size distributions {}", factor(mean.median)));
        format!(
            "{name}: ours faster in {faster}, slower in {slower} of {cells} cells{}",
            fleet.unwrap_or_default()
        )
    };
    let all: Vec<String> = results.others.iter().map(words).collect();
    (!all.is_empty()).then(|| format!("Against libraries outside the collection: {}.", all.join("; ")))
}

/// The sizes at which a peer is ahead.
fn sizes(results: &Results) -> Option<String> {
    let words: Vec<String> = of_kind(results, OpponentKind::Sizes)
        .map(|goal| {
            let worst = goal.cells.first().filter(|_| goal.count.below > 0);
            let worst = worst.map(|cell| {
                format!(" (worst {}: {} of {}'s speed)", cell.size, factor(cell.ratio), cell.opponent)
            });
            let Some(worst) = worst else { return format!("{} none of {}", goal.id, goal.count.cells) };
            let by_two_cycles =
                goal.count.by_two_cycles.map(|count| format!(", {count} by two cycles or more"));
            let by_two_cycles = by_two_cycles.unwrap_or_default();
            format!("{} {} of {}{by_two_cycles}{worst}", goal.id, goal.count.below, goal.count.cells)
        })
        .collect();
    (!words.is_empty())
        .then(|| format!("Sizes from 0 to 4096 that are over 5 % behind: {}.", words.join("; ")))
}

/// The cells whose median is over 5 % behind the plain loop and libc: those that are surely slower, and those that
/// are not decided.
pub(crate) fn behind_a_loop(results: &Results) -> [Vec<Place<'_>>; 2] {
    let cells = of_kind(results, OpponentKind::Trap)
        .flat_map(|goal| goal.cells.iter().map(move |cell| (goal, cell)))
        .filter(|(goal, cell)| cell.ratio < goal.want && cell.order != Order::Faster);
    let (proven, undecided) = cells.partition(|(_, cell)| cell.order == Order::Slower);
    [proven, undecided]
}

/// The number of cells that could be traps.
pub(crate) fn possible_traps(results: &Results) -> usize {
    of_kind(results, OpponentKind::Trap).map(|goal| goal.count.cells).sum()
}

fn traps(results: &Results) -> Option<String> {
    let words = |(goal, cell): &Place| {
        format!("{} {} ({}, {})", goal.family, cell.size, goal.condition, factor(cell.ratio))
    };
    let [proven, undecided] = behind_a_loop(results);
    let list = |cells: &[Place]| cells.iter().map(words).collect::<Vec<_>>().join(", ");
    let mut sentence = match possible_traps(results) {
        0 => return None,
        all if proven.is_empty() => format!("None of {all} cells up to 128 MiB is proven to be a trap"),
        all => format!(
            "Over 5 % behind the plain loop or libc in {} of {all} cells up to 128 MiB: {}",
            proven.len(),
            list(&proven)
        ),
    };
    if !undecided.is_empty() {
        let (count, list) = (undecided.len(), list(&undecided));
        let _ = write!(sentence, "; {count} undecided, with a median over 5 % behind: {list}");
    }
    Some(sentence + ".")
}
