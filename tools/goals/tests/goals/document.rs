//! The document and the table of a small made-up set of results, word for word.

use crate::support::{environment, gathered, limit};
use carryline_conditions::Offsets;
use carryline_goals::goal::{Against, Cells, Goal, Part};
use carryline_goals::judge::{GoalVerdict, judge};
use carryline_goals::results::Results;
use carryline_goals::stored::{Group, Matrix, Stored, StoredRun, StoredSituation};
use carryline_goals::tier::Tier;
use carryline_goals::{document::document, machine, table};
use carryline_results::cells::summarise;
use carryline_results::{Limit, Warning};
use carryline_variants::Family;

fn situation(family: Family, size: &str, times: &[(&str, f64)], limits: &[Limit]) -> StoredSituation {
    let mut gathered = gathered(family, size, times);
    if size.starts_with("fleet:") {
        gathered.situation.condition.offsets = Offsets::Random;
    }
    let summary = summarise(&gathered, limits, 1);
    let matrix = Matrix::of(&Cells::hot(family, [size]));
    StoredSituation { run: 0, matrix, gathered, cells: summary.cells, floor: summary.floor }
}

fn group() -> Group {
    let machine = machine::name(&environment());
    Group { machine, tier: Tier::Avx512, stored: stored() }
}

fn results() -> Results {
    let group = group();
    Results::of(&group, &judge(&goals(), &group.stored))
}

fn stored() -> Stored {
    let limits = vec![limit()];
    let run = StoredRun {
        id: 7,
        started: "2026-01-31T23:59:59Z".to_owned(),
        command: vec!["measure".to_owned()],
        seed: 1,
        environment: environment(),
        commit: Some("0123abcd".to_owned()),
        ticks_per_cycle: Some(0.6),
        limits: limits.clone(),
        warnings: vec![Warning {
            code: "W01".to_owned(),
            cause: "a cause".to_owned(),
            remedy: "a remedy".to_owned(),
        }],
    };
    let sums =
        |ours, theirs| [("adc_1_stream", 92.0), ("carryline", ours), ("dpdk", theirs), ("avx512_dot", 11.0)];
    let mut situations = vec![
        situation(Family::Checksum, "1500", &sums(12.0, 24.0), &limits),
        situation(Family::Checksum, "64", &sums(6.0, 5.0), &limits),
        situation(Family::Checksum, "4K", &sums(40.0, 41.0), &limits),
    ];
    let zeros = |theirs| [("libc_memset", 80.0), ("carryline", 42.0), ("plugin:other", theirs)];
    situations.push(situation(Family::Zero, "4K", &zeros(41.0), &limits));
    situations.push(situation(Family::Zero, "fleet:memset-A", &zeros(63.0), &limits));
    situations.push(situation(Family::Zero, "fleet:memset-B", &zeros(84.0), &limits));
    Stored { runs: vec![run], situations }
}

fn goals() -> Vec<Goal> {
    let sums = |sizes: &[&str]| Cells::hot(Family::Checksum, sizes.iter().copied());
    let checksum = |id: &str, sizes: &[&str], against, want| {
        Goal::new(id, Part::Checksum, sums(sizes), against, want, "as fast as can be")
    };
    let zero = Cells::hot(Family::Zero, ["4K"]);
    vec![
        checksum("sum-1500", &["1500"], Against::BestPeer, 1.9).also("adc_1_stream"),
        checksum("sum-64", &["64"], Against::BestPeer, 1.0),
        checksum("sum-call", &["64"], Against::Null(30), 1.0),
        checksum("sum-all", &["64", "1500", "4K"], Against::Variant("adc_1_stream"), 2.0).mean(),
        checksum("sum-worst", &["64", "1500", "4K"], Against::Variant("dpdk"), 1.02),
        checksum("sum-absent", &["9000"], Against::BestPeer, 1.0),
        Goal::new("zero-4k", Part::Memory, zero.clone(), Against::Limit, 0.95, "at the port"),
        Goal::new("zero-not-soon", Part::Memory, zero, Against::Variant("libc_memset"), 2.0, "cold")
            .ours("carryline_not_soon"),
    ]
}

#[test]
fn a_plug_in_is_compared_and_decides_nothing() {
    let others = results().others;
    let [other] = others.as_slice() else { panic!("{others:?}") };
    assert_eq!((other.name.as_str(), other.cells, other.faster, other.slower), ("other", 3, 2, 1));
    // The square root of 1.5 times 2.
    let fleet = other.fleet.expect("two sets").median;
    assert!((fleet - 1.732).abs() < 0.002, "{fleet}");
    let best =
        Goal::new("g", Part::Memory, Cells::hot(Family::Zero, ["4K"]), Against::BestPeer, 1.0, "a test");
    assert_eq!(judge(&[best], &stored())[0].cells[0].opponent, "libc_memset");
}

#[test]
fn each_goal_gets_the_verdict_that_its_figures_deserve() {
    let verdicts: Vec<GoalVerdict> = judge(&goals(), &stored()).into_iter().map(|f| f.verdict).collect();
    let missed = |verdict: &GoalVerdict, low: f64, high: f64| matches!(verdict, GoalVerdict::Missed { by, .. } if (low..high).contains(by));
    assert_eq!(verdicts[0], GoalVerdict::Reached, "24 / 12 is more than 1.9");
    assert!(missed(&verdicts[1], 0.19, 0.21), "6 is 20 % more than 5: {:?}", verdicts[1]);
    assert!(missed(&verdicts[2], 0.38, 0.41), "6 is 39 % more than 4.3: {:?}", verdicts[2]);
    assert_eq!(verdicts[3], GoalVerdict::Reached);
    assert!(missed(&verdicts[4], 0.2, 0.24), "the worst decides: {:?}", verdicts[4]);
    assert_eq!(verdicts[5], GoalVerdict::NotMeasured("checksum 9000 is not measured".to_owned()));
    assert!(matches!(verdicts[6], GoalVerdict::Reached), "40.96 / 42 is 0.975: {:?}", verdicts[6]);
    assert_eq!(verdicts[7], GoalVerdict::NotMeasured("carryline_not_soon is not there".to_owned()));
}

#[test]
fn the_document_word_for_word() {
    let mut masked = results();
    masked.tier = Tier::Avx2;
    masked.masked = vec!["avx512f".to_owned()];
    let all = [results(), masked];
    let text = document(&all);
    assert_eq!(text, document(&all), "the same results give the same document");
    assert!(!text.contains("NaN") && text.lines().all(|line| line.trim_end() == line));
    insta::assert_snapshot!("document", text);
}

#[test]
fn the_results_word_for_word() {
    let text = results().to_text().expect("JSON");
    assert_eq!(Results::from_text(&text).expect("read back"), results());
    insta::assert_snapshot!("results", text);
}

#[test]
fn the_table_word_for_word() {
    let text = table::render(&judge(&goals(), &stored()), Default::default());
    insta::assert_snapshot!("table", text);
    assert_eq!(table::worst_sizes(&results(), Default::default()), "", "no goal over a range of sizes");
}
