//! A constructed run for tests.

use crate::roles::Roles;
use carryline_conditions::sizes::{Draw, Sizes};
use carryline_conditions::{Cache, Condition, Dependence, Offsets};
use carryline_machine::environment::Level;
use carryline_results::claims::{Claim, Datum, ExperimentResult, Figure, Figures, Rule, TableResult, Unit};
use carryline_results::sources::{EVANS_2003, TORVALDS_2000};
use carryline_results::{Cell, Limit, NoiseFloor, Observed, RunResult, SCHEMA_VERSION, Status, Warning};
use carryline_statistics::{Estimate, Ratio};
use carryline_variants::Family;

const TICKS_PER_CYCLE: f64 = 0.6;
const NULL_TICKS: f64 = 4.0;

pub(crate) fn roles() -> Roles {
    let names = [(Family::Zero, "carryline"), (Family::Copy, "carryline"), (Family::Checksum, "carryline")];
    Roles::new(
        &[(Family::Zero, "libc_memset"), (Family::Copy, "libc_memcpy"), (Family::Checksum, "adc_1_stream")],
        &names,
    )
}

pub(crate) fn estimate(median: f64) -> Estimate {
    Estimate { median, low: median * 0.99, high: median * 1.02, min: median * 0.98 }
}

/// A measured cell with this net time in ticks; not yet ranked.
pub(crate) fn cell(family: Family, variant: &str, condition: Condition, net_ticks: f64) -> Cell {
    let bytes = match condition.sizes.draw {
        Draw::Fixed(bytes) => bytes,
        _ => 100,
    };
    let gross = net_ticks + NULL_TICKS;
    let level = if bytes > 32 << 10 { Level::L2 } else { Level::L1 };
    Cell {
        situation: format!("{family} {} {}", condition.sizes.label, condition.dependence),
        variant: variant.to_owned(),
        family,
        status: Status::Ok,
        detail: None,
        observed: Some(Observed {
            calls: 100_000,
            size_min: bytes,
            size_max: bytes,
            size_mean: bytes as f64,
            size_distinct: 1,
            dst_alignments: 1,
            src_alignments: 0,
            footprint_bytes: bytes,
            huge_bytes: Some(0),
            level,
            ..Observed::default()
        }),
        condition,
        bytes_per_call: bytes as f64,
        ticks_per_call: Some(estimate(net_ticks)),
        gross: Some(estimate(gross)),
        cycles_per_call: Some(net_ticks / TICKS_PER_CYCLE),
        basis: Some(carryline_results::CycleBasis::Est),
        bytes_per_cycle: Some(bytes as f64 * TICKS_PER_CYCLE / gross),
        limit_share: Some(0.5),
        ratio_to_baseline: None,
        baseline: None,
        ratio_to_leader: None,
        rank: None,
        ties_with: vec![],
    }
}

/// A cell without figures.
pub(crate) fn failed(
    family: Family,
    variant: &str,
    condition: Condition,
    status: Status,
    detail: &str,
) -> Cell {
    Cell {
        status,
        detail: Some(detail.to_owned()),
        observed: None,
        ticks_per_call: None,
        gross: None,
        cycles_per_call: None,
        basis: None,
        bytes_per_cycle: None,
        limit_share: None,
        ..cell(family, variant, condition, 1.0)
    }
}

/// Ranks the cells of a situation; times within 2 % tie.
pub(crate) fn rank(mut cells: Vec<Cell>, baseline: Option<&str>) -> Vec<Cell> {
    let gross = |cell: &Cell| cell.gross.map(|gross| gross.median);
    let times: Vec<(String, Option<f64>)> =
        cells.iter().map(|cell| (cell.variant.clone(), gross(cell))).collect();
    let base = times.iter().find(|(name, _)| Some(name.as_str()) == baseline).and_then(|(_, time)| *time);
    for cell in &mut cells {
        let Some(own) = gross(cell) else { continue };
        let faster = times.iter().filter(|(_, time)| time.is_some_and(|time| time * 1.02 < own)).count();
        cell.rank = u32::try_from(faster + 1).ok();
        let tied = |time: f64| time.max(own) <= time.min(own) * 1.02;
        let ties = times.iter().filter(|(name, time)| *name != cell.variant && time.is_some_and(tied));
        cell.ties_with = ties.map(|(name, _)| name.clone()).collect();
        cell.ratio_to_baseline = base.map(|base| {
            let median = own / base;
            Ratio { median, low: median * 0.99, high: median * 1.01 }
        });
        cell.baseline = cell.ratio_to_baseline.and(baseline).map(str::to_owned);
    }
    cells
}

fn with(size: u64, dependence: Dependence) -> Condition {
    Condition { dependence, ..Condition::plain(size) }
}

/// A run with ties, failures of each kind, a loss of ours, two dependences and a distribution.
pub(crate) fn run() -> RunResult {
    let mut cells = vec![];
    let zero = |size: u64, ticks: [f64; 4]| {
        let condition = with(size, Dependence::Independent);
        let names = ["libc_memset", "avx512", "carryline", "rep_stosb"];
        let timed = names.into_iter().zip(ticks);
        timed.map(move |(name, ticks)| cell(Family::Zero, name, condition.clone(), ticks)).collect::<Vec<_>>()
    };
    let mut small = zero(40, [8.0, 0.05, 0.06, 30.0]);
    let missing = with(40, Dependence::Independent);
    small.push(failed(Family::Zero, "clzero", missing.clone(), Status::Unsupported, "the CPU lacks clzero"));
    small.push(failed(
        Family::Zero,
        "plugin:fill",
        missing.clone(),
        Status::Crashed,
        "signal 11 (SIGSEGV) at length 33",
    ));
    small.push(failed(Family::Zero, "plugin:slow", missing.clone(), Status::TimedOut, "no answer for 10 s"));
    let wrong = "length 5, offset 3: byte 4 is 0x55, expected 0x00";
    small.push(failed(Family::Zero, "plugin:short", missing, Status::Wrong, wrong));
    cells.extend(rank(small, Some("libc_memset")));
    cells.extend(rank(zero(1500, [40.2, 18.1, 18.0, 55.0]), Some("libc_memset")));
    cells.extend(rank(zero(256 << 10, [3300.0, 3310.0, 3900.0, 2950.0]), Some("libc_memset")));

    for (dependence, extra) in [(Dependence::Independent, 0.0), (Dependence::Chained, 20.0)] {
        let condition = with(1500, dependence);
        let names = [("adc_1_stream", 52.3), ("avx512_dot", 7.1), ("carryline", 6.2)];
        let mut sums: Vec<Cell> = names
            .into_iter()
            .map(|(name, ticks)| cell(Family::Checksum, name, condition.clone(), ticks + extra))
            .collect();
        let mut reference = cell(Family::Checksum, "reference", condition.clone(), 900.0);
        reference.limit_share = None;
        let mut ranked = rank(std::mem::take(&mut sums), Some("adc_1_stream"));
        ranked.push(reference);
        cells.extend(ranked);
    }

    let mixed = Condition {
        sizes: Sizes::new("1..200", Draw::Uniform { low: 1, high: 200 }),
        offsets: Offsets::Random,
        cache: Cache::HOT,
        ..with(1, Dependence::Independent)
    };
    let mut copies =
        vec![cell(Family::Copy, "avx2", mixed.clone(), 12.0), cell(Family::Copy, "avx512", mixed, 9.0)];
    for copy in &mut copies {
        copy.limit_share = None;
        if let Some(observed) = &mut copy.observed {
            (observed.size_min, observed.size_max, observed.size_distinct) = (1, 200, 200);
            observed.footprint_bytes = 1 << 14;
        }
    }
    cells.extend(rank(copies, Some("libc_memcpy")));
    RunResult { cells, ..empty() }
}

fn limit(level: Level, buffer_bytes: u64, [load, store, nt_store]: [f64; 3]) -> Limit {
    Limit { level, buffer_bytes, load, store, nt_store, load_by: None, store_by: None }
}

/// A run without cells.
pub(crate) fn empty() -> RunResult {
    RunResult {
        schema_version: SCHEMA_VERSION,
        run_id: Some(7),
        seed: 42,
        environment: serde_json::json!({
            "cpu": {"model": "Imaginary 9000", "cores": 2},
            "virtual_machine": true,
            "flags": ["avx2", "avx512f"],
            "governor": null,
        }),
        noise_floor: Some(NoiseFloor {
            relative: 0.012,
            pairs: 4,
            by_situation: vec![("zero 40 independent".into(), 0.008)],
        }),
        ticks_per_cycle: Some(TICKS_PER_CYCLE),
        ticks_per_ns: Some(2.6),
        limits: vec![
            limit(Level::L1, 16 << 10, [200.0, 105.0, 40.0]),
            limit(Level::Memory, 1 << 30, [18.0, 12.0, 36.0]),
        ],
        warnings: vec![
            Warning {
                code: "W02".into(),
                cause: "The machine is virtual and shares its cores with others.".into(),
                remedy: "Compare ratios within a run, not figures across runs.".into(),
            },
            Warning {
                code: "W05".into(),
                cause: "No hardware counters: cycles are estimated.".into(),
                remedy: "Allow perf events: sysctl kernel.perf_event_paranoid=1.".into(),
            },
        ],
        cells: vec![],
        experiments: vec![],
        complete: true,
    }
}

static CLAIMS: [Claim; 2] = [
    Claim::new("a", "slow | fast", "3x", Rule::at_least("slow", "fast", 2.0)),
    Claim::new("b", "it is seen", "-", Rule::value_at_least("absent", 1.0)).by(&TORVALDS_2000),
];

/// An experiment with a claim that holds and one whose figure is missing.
pub(crate) fn experiment() -> ExperimentResult {
    let mut figures = Figures::default();
    figures.add("slow", Figure::exact(Unit::Ticks, 300.0));
    figures.add("fast", Figure::exact(Unit::Ticks, 100.0));
    figures.missing("absent", "one CPU alone");
    let mut table =
        TableResult::new("Times", &[("variant", ""), ("size", "bytes"), ("time measured here", "ticks")]);
    table.push(vec!["x".into(), 4096.0.into(), figures.get("slow").into()]);
    table.push(vec!["y".into(), Datum::None, Datum::None]);
    ExperimentResult {
        id: "times".into(),
        source: "evans-2003".into(),
        title: "Two times".into(),
        tables: vec![table],
        plots: vec![],
        notes: vec!["A note.".into()],
        figures: vec![],
        claims: CLAIMS.iter().map(|claim| claim.judge(&figures, &EVANS_2003, 1)).collect(),
    }
}
