use super::*;
use crate::fixture::{self, cell, rank};
use carryline_machine::environment::Tuning;
use carryline_statistics::Ratio;

fn text(run: &RunResult, width: u16) -> String {
    let text = advice(run, &fixture::roles()).to_text(Style { colour: false, width: Some(width) });
    assert!(text.lines().count() <= MOST_LINES - 2, "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= usize::from(width)), "{text}");
    text
}

/// A run on a machine with a known name.
fn run() -> RunResult {
    let mut run = RunResult { run_id: Some(12), ..fixture::run() };
    let mut here = Environment::here();
    here.cpu.brand = Some("AMD EPYC".to_owned());
    here.cpu.vendor = Some("AuthenticAMD".to_owned());
    (here.cpu.family, here.cpu.model) = (Some(0x1a), Some(2));
    (here.cpu.logical_cpus, here.cpu.masked_features) = (2, vec![]);
    here.cpu.hypervisor = Some("KVM".to_owned());
    here.system.libc = "glibc 2.36".to_owned();
    here.tuning = None;
    run.environment = serde_json::to_value(here).expect("an object");
    run
}

#[test]
fn the_first_screen_is_the_same_at_80_and_100_columns() {
    assert_eq!(text(&run(), 80), text(&run(), 100));
    insta::assert_snapshot!(text(&run(), 80), @"
    AMD EPYC (Zen 5), 2 CPUs, virtual machine (KVM), glibc 2.36, run 12
    trust: fair (too few rounds in one place); noise floor 0.8 %; 2 warnings

    zero: use avx512
      2.00x to 2.96x as fast as libc_memset in 2 of 3 situations, the same in 1
      most: 2.96x at 40 bytes; 2.00x at 1500 bytes
      loses 12 % to rep_stosb at 256 KiB
    checksum: call carryline::checksum::internet (carryline)
      2.53x to 5.52x as fast as adc_1_stream in both situations
      most: 5.52x at 1500 bytes; 2.53x at 1500 bytes, chained calls
      nothing measured is faster anywhere
    copy: use avx512
      nothing measured is faster
    ");
}

#[test]
fn nothing_is_said_of_situations_that_were_not_measured() {
    let partial = RunResult { complete: false, ..run() };
    let text = text(&partial, 80);
    assert!(text.contains("nothing measured is faster") && !text.contains("anywhere"), "{text}");
}

#[test]
fn the_machine_includes_the_librarys_environment_variables() {
    let mut run = run();
    let mut here: Environment = serde_json::from_value(run.environment).expect("an environment");
    here.cpu.masked_features = vec!["avx512f".to_owned()];
    here.tuning = Some(Tuning {
        profile: "mine, from CARRYLINE_TUNING".to_owned(),
        decisions: Default::default(),
        forced: Some("avx2".to_owned()),
    });
    run.environment = serde_json::to_value(here).expect("an object");
    let machine = advice(&run, &fixture::roles()).machine;
    for part in ["without avx512f", "CARRYLINE_FORCE=avx2", "profile mine, from CARRYLINE_TUNING"] {
        assert!(machine.contains(part), "no {part} in {machine}");
    }
}

#[test]
fn the_simplest_variant_that_ties_everywhere_is_chosen() {
    let at = |size: u64| {
        let ticks = [("libc_memset", 20.0), ("avx512", 5.0), ("carryline", 5.02), ("sse2", 9.0)];
        let cells = ticks.map(|(name, ticks)| cell(Family::Zero, name, Condition::plain(size), ticks));
        rank(cells.to_vec(), Some("libc_memset"))
    };
    let run = RunResult { cells: [at(40), at(1500)].concat(), ..fixture::empty() };
    let choice = advice(&run, &fixture::roles()).choices.remove(0);
    assert_eq!((choice.variant.as_str(), choice.call.as_str()), ("carryline", "carryline::zero::fill"));
    assert_eq!((choice.gains.len(), choice.losses.len()), (2, 0));
}

#[test]
fn the_baseline_is_kept_if_nothing_is_faster() {
    let ticks = [("libc_memset", 5.0), ("avx512", 5.01), ("carryline", 5.02)];
    let cells = ticks.map(|(name, ticks)| cell(Family::Zero, name, Condition::plain(4096), ticks));
    let run = RunResult { cells: rank(cells.to_vec(), Some("libc_memset")), ..run() };
    assert!(text(&run, 80).contains("zero: keep memset (libc_memset)\n  nothing measured is faster\n"));
}

#[test]
fn the_choice_with_the_least_loss_is_named_with_its_losses() {
    let at = |size: u64, ticks: [f64; 3]| {
        let named = ["libc_memset", "carryline", "rep_stosb"].into_iter().zip(ticks);
        let cells = named.map(|(name, ticks)| cell(Family::Zero, name, Condition::plain(size), ticks));
        rank(cells.collect(), Some("libc_memset"))
    };
    let cells = [at(64, [20.0, 6.0, 40.0]), at(4096, [80.0, 44.0, 40.0]), at(8192, [180.0, 100.0, 140.0])];
    let choice = advice(&RunResult { cells: cells.concat(), ..run() }, &fixture::roles()).choices.remove(0);
    assert_eq!(choice.variant, "carryline");
    assert_eq!(choice.losses.len(), 1);
    assert_eq!((choice.losses[0].1.as_str(), choice.losses[0].2.as_str()), ("rep_stosb", "4 KiB"));
}

/// Ratios to the baseline and to the leader may disagree if they come from different processes; the latter is meant.
#[test]
fn a_loss_is_the_ratio_to_the_leader() {
    let at = |size: u64, ticks: [f64; 2]| {
        let named = ["libc_memset", "rep_stosb"].into_iter().zip(ticks);
        let cells = named.map(|(name, ticks)| cell(Family::Zero, name, Condition::plain(size), ticks));
        let mut cells = rank(cells.collect(), Some("libc_memset"));
        let least =
            cells.iter().filter_map(|cell| cell.gross).map(|g| g.median).fold(f64::INFINITY, f64::min);
        for cell in &mut cells {
            let median = cell.gross.expect("measured").median / least;
            cell.ratio_to_leader = Some(Ratio { median, low: median, high: median });
        }
        cells
    };
    let (mut near, far) = (at(64, [21.0, 20.0]), at(4096, [40.0, 80.0]));
    near[0].rank = Some(2);
    near[0].ratio_to_leader = Some(Ratio { median: 1.07, low: 1.06, high: 1.08 });
    near[1].ratio_to_baseline = Some(Ratio { median: 1.01, low: 1.0, high: 1.02 });
    let choice =
        advice(&RunResult { cells: [near, far].concat(), ..run() }, &fixture::roles()).choices.remove(0);
    assert_eq!(choice.variant, "libc_memset");
    assert_eq!(choice.losses.len(), 1, "{:?}", choice.losses);
    assert!((choice.losses[0].0 - 0.07).abs() < 1e-9, "{:?}", choice.losses);
}

/// A routine that is slow in some processes ties with the fastest, but is not advised.
#[test]
fn a_tie_with_a_wide_interval_is_a_loss() {
    let named = [("libc_memset", 20.0), ("avx512", 20.1), ("carryline", 40.0)];
    let cells = named.map(|(name, ticks)| cell(Family::Zero, name, Condition::plain(64), ticks));
    let mut cells = rank(cells.to_vec(), Some("libc_memset"));
    let ratio = |median, high| Some(Ratio { median, low: median, high });
    cells[1].ratio_to_leader = ratio(1.0, 1.0);
    let mut advised = |high| {
        cells[0].ratio_to_leader = ratio(1.0, high);
        advice(&RunResult { cells: cells.clone(), ..run() }, &fixture::roles()).choices.remove(0).variant
    };
    assert_eq!(advised(1.05), "libc_memset");
    assert_eq!(advised(9.0), "avx512");
}

#[test]
fn a_run_with_many_families_and_long_names_fits() {
    let mut run = run();
    for family in Family::ALL {
        for size in [3, 40, 1500, 4096, 9000, 65_536] {
            let mut condition = Condition::plain(size);
            condition.cache = "cold:clflush:src".parse().expect("a state");
            condition.dependence = Dependence::Chained;
            let named = ["libc_memset", "libc_memset_no_rep", "a_variant_with_a_very_long_name_of_its_own"];
            let cells = named.iter().enumerate().map(|(place, name)| {
                cell(family, name, condition.clone(), 10.0 * (1.0 + ((size as usize + place) % 3) as f64))
            });
            run.cells.extend(rank(cells.collect(), Some("libc_memset")));
        }
    }
    for width in [60, 80, 100, 160] {
        text(&run, width);
    }
}

#[test]
fn no_advice_is_derived_from_isolated_calls() {
    let at = |cache: &str, raised: f64| {
        let condition = Condition { cache: cache.parse().expect("a state"), ..Condition::plain(64 << 10) };
        let rows = [("libc_memset", 100.0), ("libc_memset_no_rep", raised)];
        let rows = rows.map(|(name, ticks)| cell(Family::Zero, name, condition.clone(), ticks));
        let mut cells = rank(rows.to_vec(), Some("libc_memset"));
        cells.iter_mut().for_each(|cell| cell.situation.push_str(&condition.cache.to_string()));
        cells
    };
    let isolated = RunResult { cells: at("cold:clflush:single", 50.0), ..run() };
    let alone = text(&isolated, 80);
    assert!(!alone.contains("thresholds") && !alone.contains("Nothing could be ranked"), "{alone}");
    assert!(alone.contains("(:single) is left out here: their stores are"), "{alone}");
    assert_eq!(advice(&isolated, &fixture::roles()).situations, 1);
    let both = [at("cold:clflush:single", 50.0), at("cold:clflush", 99.0)].concat();
    let both = text(&RunResult { cells: both, ..run() }, 80);
    assert!(both.contains("zero: keep memset") && !both.contains("thresholds"), "{both}");
}

#[test]
fn runs_of_an_unknown_machine_and_without_cells_have_a_screen() {
    insta::assert_snapshot!(text(&fixture::empty(), 80), @"
    a machine described by another version of this program, run 7
    trust: fair (too few rounds in one place); noise floor 0.8 %; 2 warnings

    Nothing could be ranked, so there is no advice.
    ");
}

#[test]
fn an_interrupted_run_gives_no_advice() {
    let run = RunResult { complete: false, warnings: vec![carryline_warnings::interrupted(5)], ..run() };
    insta::assert_snapshot!(text(&run, 80), @"
    AMD EPYC (Zen 5), 2 CPUs, virtual machine (KVM), glibc 2.36, run 12
    trust: poor (interrupted); noise floor 0.8 %; 1 warning

    Interrupted: partial results.
    ");
}

#[test]
fn a_run_with_a_high_noise_floor_gives_no_advice() {
    let of = |relative: f64| {
        let by_situation = vec![("zero 40".to_owned(), relative)];
        let noise_floor = Some(carryline_results::NoiseFloor { relative, pairs: 3, by_situation });
        advice(&RunResult { noise_floor, ..run() }, &fixture::roles())
    };
    let noisy = of(0.4);
    assert!(noisy.choices.is_empty() && noisy.c_library.is_none());
    assert!(noisy.withheld.is_some_and(|why| why.contains("40 %") && why.contains("--budget")));
    let quiet = of(0.05);
    assert!(!quiet.choices.is_empty() && quiet.withheld.is_none());
}

#[test]
fn of_one_routine_nothing_follows() {
    let cells = vec![cell(Family::Checksum, "adc_1_stream", Condition::plain(40), 5.0)];
    let run = RunResult { cells: rank(cells, Some("adc_1_stream")), ..run() };
    let text = text(&run, 80);
    assert!(!text.contains("keep") && !text.contains("faster"), "{text}");
    assert!(text.contains("Only adc_1_stream could be ranked"), "{text}");
}
