//! The results of machines as files, and the committed document.

use crate::support::{environment, gathered, limit};
use carryline_goals::document::document;
use carryline_goals::goal::{Against, Cells, Goal, Part};
use carryline_goals::judge::{GoalVerdict, judge};
use carryline_goals::results::{Floor, OpponentKind, Order, Results, read_all, write};
use carryline_goals::stored::{Group, Matrix, Stored, StoredRun, StoredSituation};
use carryline_goals::tier::Tier;
use carryline_results::cells::summarise;
use carryline_variants::Family;
use std::path::Path;

fn goals() -> Vec<Goal> {
    ["4K", "8K"]
        .map(|size| {
            let cells = Cells::hot(Family::Zero, [size]);
            Goal::new(size, Part::Memory, cells, Against::Variant("libc_memset"), 1.5, "a test")
        })
        .into()
}

/// A run of that day.
fn run(day: &str) -> StoredRun {
    StoredRun {
        id: 1,
        started: format!("{day}T00:00:00Z"),
        command: vec![],
        seed: 1,
        environment: environment(),
        commit: None,
        ticks_per_cycle: Some(0.6),
        limits: vec![limit()],
        warnings: vec![],
    }
}

/// A machine on which these sizes were measured, ours taking `ours` ticks and libc 20.
fn machine(name: &str, day: &str, sizes: &[&str], ours: f64) -> Results {
    let situation = |size: &&str| {
        let gathered = gathered(Family::Zero, size, &[("libc_memset", 20.0), ("carryline", ours)]);
        let summary = summarise(&gathered, &[limit()], 1);
        let matrix = Matrix::of(&Cells::hot(Family::Zero, [*size]));
        StoredSituation { run: 0, matrix, gathered, cells: summary.cells, floor: summary.floor }
    };
    let stored = Stored { runs: vec![run(day)], situations: sizes.iter().map(situation).collect() };
    let group = Group { machine: name.to_owned(), tier: Tier::Avx2, stored };
    Results::of(&group, &judge(&goals(), &group.stored))
}

#[test]
fn a_share_of_a_limit_is_judged_where_the_buffers_lie_in_one_level() {
    let cells = Cells::hot(Family::Zero, ["8K", "20K"]);
    let goal = Goal::new("store", Part::Memory, cells.clone(), Against::Limit, 0.9, "a test");
    let judged = |between_8k: bool| {
        // 96 and 50 bytes per tick, of at most 100.
        let situation = |(size, ticks, between): (&str, f64, bool)| {
            let mut gathered = gathered(Family::Zero, size, &[("carryline", ticks)]);
            for replicate in &mut gathered.replicates {
                replicate.observed.as_mut().expect("a replicate").between = between;
            }
            let summary = summarise(&gathered, &[limit()], 1);
            let matrix = Matrix::of(&Cells::hot(Family::Zero, [size]));
            StoredSituation { run: 0, matrix, gathered, cells: summary.cells, floor: summary.floor }
        };
        let situations = [("8K", 8192.0 / 96.0, between_8k), ("20K", 20480.0 / 50.0, true)].map(situation);
        let stored = Stored { runs: vec![run("2026-01-01")], situations: situations.into() };
        judge(std::slice::from_ref(&goal), &stored).remove(0)
    };
    let whole = judged(false);
    assert_eq!(whole.cells.iter().map(|cell| &*cell.size).collect::<Vec<_>>(), ["8K"]);
    assert_eq!(whole.verdict, GoalVerdict::Reached);
    let none_whole = judged(true);
    assert_eq!(none_whole.cells.len(), 2, "nothing else to judge");
    assert!(matches!(none_whole.verdict, GoalVerdict::Missed { .. }), "{none_whole:?}");
}

#[test]
fn writing_for_one_machine_touches_no_other_and_the_last_one_measured_is_first() {
    let folder = tempfile::tempdir().expect("a folder");
    let results = folder.path().join("benchmarks");
    // Its last day decides.
    let measured = "2026-01-01 to 2026-01-03".to_owned();
    let later = Results { measured, ..machine("b", "2026-01-01", &["4K", "8K"], 10.0) };
    let path = write(later, &results).expect("written");
    assert!(path.ends_with("b-avx2.json"));
    let before = std::fs::read_to_string(&path).expect("text");
    write(machine("a", "2026-01-02", &["4K", "8K"], 16.0), &results).expect("written");
    assert_eq!(std::fs::read_to_string(&path).expect("text"), before);
    let all = read_all(&results).expect("two machines");
    assert_eq!(all.iter().map(Results::file_name).collect::<Vec<_>>(), ["b-avx2.json", "a-avx2.json"]);
    let text = document(&all);
    assert!(text.contains("0 of 2 goals reached") && text.contains("2 of 2 goals reached"), "{text}");
    assert!(text.contains("Zeroing of single sizes wins in 2 of 2 cells, by up to 2.00 times"), "{text}");
}

#[test]
fn a_difference_is_stated_once_with_the_number_of_runs_that_have_it() {
    let numbered = |id: i64, libc: Option<&str>| {
        let mut run = StoredRun { id, ..run("2026-01-01") };
        if let Some(libc) = libc {
            run.environment["system"]["libc"] = libc.into();
        }
        run
    };
    let runs = vec![numbered(4, None), numbered(3, Some("an old libc")), numbered(2, Some("an old libc"))];
    let runs: Vec<StoredRun> = runs.into_iter().chain([numbered(1, Some("another"))]).collect();
    let group =
        Group { machine: "a".to_owned(), tier: Tier::Avx2, stored: Stored { runs, situations: vec![] } };
    let differences = Results::of(&group, &[]).differences;
    let [two, one] = &differences[..] else { panic!("{differences:?}") };
    assert!(two.starts_with("2 runs: ") && two.contains("an old libc"), "{two}");
    assert!(one.starts_with("run 1: ") && one.contains("another"), "{one}");
}

#[test]
fn what_was_not_measured_again_is_kept_with_its_day() {
    let folder = tempfile::tempdir().expect("a folder");
    write(machine("a", "2026-01-01", &["4K", "8K"], 10.0), folder.path()).expect("written");
    write(machine("a", "2026-02-02", &["8K"], 16.0), folder.path()).expect("written");
    let all = read_all(folder.path()).expect("a machine");
    let [old, new] = &all[0].goals[..] else { panic!("two goals: {:?}", all[0].goals) };
    assert_eq!((&old.outcome, old.measured.as_deref()), (&GoalVerdict::Reached, Some("2026-01-01")));
    assert!(matches!(new.outcome, GoalVerdict::Missed { .. }) && new.measured.is_none(), "{new:?}");
    assert_eq!(all[0].measured, "2026-02-02");
    assert!(document(&all).contains("reached (2026-01-01)"));
}

#[test]
fn a_table_of_a_condition_that_no_goal_has_is_dropped() {
    let mut old = machine("a", "2026-01-01", &["4K", "8K"], 10.0);
    old.commit = Some("0123abcd".to_owned());
    let mut gone = old.tables[0].clone();
    gone.title = "zero: hot, independent, offset random-line".to_owned();
    let mut kept = old.tables[0].clone();
    kept.title = "zero: cold:arena-reused, independent, offset 0".to_owned();
    old.goals[0].condition = "cold:arena-reused, independent".to_owned();
    old.tables.extend([gone, kept.clone()]);
    let titles =
        |results: &Results| results.tables.iter().map(|table| table.title.clone()).collect::<Vec<_>>();
    let merged = machine("a", "2026-02-02", &["8K"], 10.0).over(old.clone());
    assert_eq!(titles(&merged), [kept.title.as_str(), "zero: hot, independent, offset 0"]);
    assert_eq!(merged.commit, None, "another day");
    let mut again = machine("a", "2026-01-01", &["8K"], 10.0);
    again.floor.clone_from(&old.floor);
    let mut later = again.clone();
    later.floor = Some(Floor { median: 0.004, maximum: 0.3, situations: 7 });
    assert_eq!(later.over(old.clone()).commit, None, "other runs of that day");
    assert_eq!(again.over(old).commit.as_deref(), Some("0123abcd"));
}

#[test]
fn an_undecided_trap_and_a_declared_routine_are_told() {
    let mut results = machine("zen3-family25-model1", "2026-01-01", &["4K", "8K"], 10.0);
    let [trap, declared] = &mut results.goals[..] else { panic!("two goals") };
    (trap.kind, trap.want) = (OpponentKind::Trap, 0.95);
    (trap.cells[0].ratio, trap.cells[0].order) = (0.8, Order::Tie);
    declared.routine = "carryline_not_soon".to_owned();
    let text = document(std::slice::from_ref(&results));
    for words in [
        "None of 1 cells up to 128 MiB is proven to be a trap; 1 undecided, with a median over 5 % behind: zero 4K \
         (hot, independent, 0.80).",
        "0 are surely slower than the plain loop or the C library, with a median over 5 % behind; 1 more have such a \
         median, but are not decided (the worst takes 25 % longer: zero 4K, hot, independent; Zen 3, AVX2).",
        "by up to 2.00 times (Zen 3, AVX2, by carryline_not_soon, where the caller declares it)",
        "against libc_memset, by carryline_not_soon, where the caller declares it)",
    ] {
        assert!(text.contains(words), "{words} in {text}");
    }
}

#[test]
fn a_file_of_something_else_is_named_and_left_alone() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("a-avx2.json");
    std::fs::write(&path, "{\"version\": 1}").expect("written");
    let error = write(machine("a", "2026-01-01", &["4K"], 10.0), folder.path()).expect_err("no results");
    assert!(format!("{error:#}").contains("a-avx2.json"), "{error:#}");
    assert_eq!(std::fs::read_to_string(&path).expect("text"), "{\"version\": 1}");
    assert!(read_all(folder.path()).is_err());
}

#[test]
fn the_committed_document_is_what_the_committed_results_say() {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).expect("a workspace").join("docs");
    let folder = docs.join("benchmarks");
    let all = read_all(&folder).expect("results of machines");
    assert!(!all.is_empty());
    for results in &all {
        let path = folder.join(results.file_name());
        let text = std::fs::read_to_string(&path).expect("named after its machine and tier");
        assert!(results.to_text().expect("JSON") == text, "{}: not as it is written", path.display());
    }
    let text = std::fs::read_to_string(docs.join("benchmarks.md")).expect("the document");
    assert!(document(&all) == text, "'cargo xtask benchmarks write' has not been run");
}

#[test]
fn no_committed_goal_counts_as_reached_by_a_tie_that_does_not_suffice() {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).expect("a workspace").join("docs");
    let all = read_all(&docs.join("benchmarks")).expect("results of machines");
    let reached = all.iter().flat_map(|results| {
        let goals = results.goals.iter().filter(|goal| goal.outcome == GoalVerdict::Reached);
        goals.map(|goal| (results.file_name(), goal))
    });
    for (file, goal) in reached {
        let ratio = goal.ratio.as_ref().expect("a reached goal has a ratio");
        // Stored figures are rounded.
        let is_surely_above = ratio.low * 1.001 >= goal.want;
        let is_no_slower = goal.want == 1.0 && ratio.median * 1.021 >= 1.0 && ratio.low >= 0.9;
        assert!(is_surely_above || is_no_slower, "{file}: {}: {ratio:?} for {}", goal.id, goal.want);
    }
}
