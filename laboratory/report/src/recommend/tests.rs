//! Recommendations for constructed runs.

use super::*;
use crate::fixture::{self, cell, failed, rank};
use carryline_conditions::Condition;

const NARROW: Style = Style { colour: false, width: Some(80) };

fn advice(cells: Vec<Cell>) -> String {
    recommend(&RunResult { cells, ..fixture::empty() }, &fixture::roles()).to_text(NARROW)
}

#[test]
fn ties_losses_and_thresholds() {
    let text = recommend(&fixture::run(), &fixture::roles()).to_text(NARROW);
    assert!(text.lines().all(|line| line.chars().count() <= 80));
    insta::assert_snapshot!(text, @"
    What to use here

    zero, independent calls
    situation                  use                   as fast as
                                                    libc_memset
    ───────────────────────────────────────────────────────────
    40 bytes, offset 0, hot    carryline or avx512        2.96x
    1500 bytes, offset 0, hot  carryline or avx512        2.01x
    256 KiB, offset 0, hot     rep_stosb                  1.12x
    carryline loses in 1 of 3: 256 KiB, offset 0, hot, independent calls: takes 32 %
      longer than rep_stosb.
    No variant is fastest or tied everywhere; carryline and avx512 come closest,
      each in 2 of 3.
    By size (hot, offset 0, independent calls, measured at 40, 1500 and 256 KiB):
      carryline up to 1500 bytes, rep_stosb from 256 KiB.
    Another method is 1.32x as fast as carryline at 256 KiB, offset 0, hot,
      independent calls; 'carryline tune' searches for such gains.

    checksum, chained calls
    situation                  use                as fast as
                                                adc_1_stream
    ────────────────────────────────────────────────────────
    1500 bytes, offset 0, hot  carryline               2.53x

    checksum, independent calls
    situation                  use                as fast as
                                                adc_1_stream
    ────────────────────────────────────────────────────────
    1500 bytes, offset 0, hot  carryline               5.52x
    One choice suffices for both situations: carryline is fastest or tied in each.

    copy, independent calls
    situation                   use
    ────────────────────────────────────────────
    1..200, offset random, hot  avx512
    One situation measured: avx512 is fastest.
    ");
}

#[test]
fn the_gain_by_other_thresholds_is_reported() {
    let of = |raised: f64| {
        let condition = Condition::plain(64 << 10);
        let rows = [("carryline", 55.0), ("libc_memcpy", 100.0), ("libc_memcpy_no_rep", raised)];
        let rows = rows.map(|(name, ticks)| cell(Family::Copy, name, condition.clone(), ticks));
        advice(rank(rows.to_vec(), Some("libc_memcpy"))).replace("\n  ", " ")
    };
    let text = of(50.0);
    assert!(text.contains("x as fast with other thresholds at 64 KiB"), "{text}");
    assert!(text.contains("'carryline tune --libc'"), "{text}");
    assert!(!of(99.0).contains("tune"), "within 5 %");
    assert!(!of(120.0).contains("tune"));
}

#[test]
fn one_choice_for_everything_is_reported() {
    let sizes = [40, 1500].map(|size| {
        let condition = Condition::plain(size);
        let pair = [("carryline", 5.0), ("libc_memset", 20.0)];
        rank(
            pair.map(|(name, ticks)| cell(Family::Zero, name, condition.clone(), ticks)).to_vec(),
            Some("libc_memset"),
        )
    });
    insta::assert_snapshot!(advice(sizes.concat()), @"
    What to use here

    zero, independent calls
    situation                  use               as fast as
                                                libc_memset
    ───────────────────────────────────────────────────────
    40 bytes, offset 0, hot    carryline              2.67x
    1500 bytes, offset 0, hot  carryline              2.67x
    One choice suffices for both situations: carryline is fastest or tied in each.
    ");
}

#[test]
fn each_situation_names_its_baseline_if_they_differ() {
    let names = ["libc_memset", "libc_memset_no_rep"];
    let sizes = [40, 1500].into_iter().zip(names).map(|(size, baseline)| {
        let trio = [("carryline", 5.0), (names[0], 20.0), (names[1], 20.0)];
        let cells = trio.map(|(name, ticks)| cell(Family::Zero, name, Condition::plain(size), ticks));
        rank(cells.to_vec(), Some(baseline))
    });
    insta::assert_snapshot!(advice(sizes.collect::<Vec<_>>().concat()), @"
    What to use here

    zero, independent calls
    situation                  use              speed  compared with
    ─────────────────────────────────────────────────────────────────────
    40 bytes, offset 0, hot    carryline        2.67x  libc_memset
    1500 bytes, offset 0, hot  carryline        2.67x  libc_memset_no_rep
    One choice suffices for both situations: carryline is fastest or tied in each.
    ");
}

#[test]
fn nothing_is_recommended_from_isolated_calls() {
    let at = |cache: &str, raised: f64| {
        let cache = cache.parse().expect("a state");
        let condition = Condition { cache, ..Condition::plain(64 << 10) };
        let rows = [("carryline", 90.0), ("libc_memcpy", 100.0), ("libc_memcpy_no_rep", raised)];
        let rows = rows.map(|(name, ticks)| cell(Family::Copy, name, condition.clone(), ticks));
        let mut cells = rank(rows.to_vec(), Some("libc_memcpy"));
        cells.iter_mut().for_each(|cell| cell.situation.push_str(&condition.cache.to_string()));
        cells
    };
    let alone = advice(at("cold:clflush:single", 50.0));
    insta::assert_snapshot!(alone, @"
    What to use here
    One situation of isolated calls (:single) is left out here: their stores are
      timed until they retire.
    ");
    let both = advice([at("cold:clflush:single", 50.0), at("cold:clflush", 99.0)].concat());
    assert!(both.contains("One situation measured: carryline is fastest."), "{both}");
    assert!(both.contains("left out") && !both.contains("thresholds"), "{both}");
}

#[test]
fn baselines_that_do_not_fit_are_omitted() {
    let names = ["libc_memset", "libc_memset_no_rep"];
    let cells = [40, 1500].into_iter().zip(names).map(|(size, baseline)| {
        let condition =
            Condition { cache: "cold:clflush:src".parse().expect("a state"), ..Condition::plain(size) };
        let trio = [("carryline", 5.0), (names[0], 20.0), (names[1], 20.0)];
        let cells = trio.map(|(name, ticks)| cell(Family::Zero, name, condition.clone(), ticks));
        rank(cells.to_vec(), Some(baseline))
    });
    let run = RunResult { cells: cells.collect::<Vec<_>>().concat(), ..fixture::empty() };
    let text =
        |width| recommend(&run, &fixture::roles()).to_text(Style { colour: false, width: Some(width) });
    assert!(text(100).contains("compared with"));
    let narrow = text(72);
    assert!(!narrow.contains("compared with") && narrow.contains("2.67x"), "{narrow}");
    assert!(narrow.lines().all(|line| line.chars().count() <= 72), "{narrow}");
}

#[test]
fn a_tie_extends_a_span() {
    // a alone, a = b, b alone, c: two changes suffice.
    let figures =
        [(64, [5.0, 9.0, 9.0]), (128, [5.0, 5.0, 9.0]), (256, [9.0, 5.0, 9.0]), (512, [9.0, 9.0, 5.0])];
    let cells = figures.map(|(size, ticks)| {
        let named = ["a", "b", "c"].into_iter().zip(ticks);
        rank(named.map(|(name, t)| cell(Family::Zero, name, Condition::plain(size), t)).collect(), None)
    });
    let advice = recommend(&RunResult { cells: cells.concat(), ..fixture::empty() }, &fixture::roles());
    insta::assert_snapshot!(advice.families[0].sentences.join("\n"), @"
    No variant is fastest or tied everywhere; a and b come closest, each in 2 of 4.
    By size (hot, offset 0, independent calls, measured at 64, 128, 256 and 512): a up to 128 bytes, b at 256 bytes, c from 512 bytes.
    ");
}

#[test]
fn our_own_failure_is_reported() {
    let condition = Condition::plain(40);
    let mut cells =
        rank(vec![cell(Family::Zero, "libc_memset", condition.clone(), 5.0)], Some("libc_memset"));
    cells.push(failed(Family::Zero, "carryline", condition, Status::Wrong, "length 5"));
    insta::assert_snapshot!(advice(cells), @"
    What to use here

    zero, independent calls
    situation                use               as fast as
                                              libc_memset
    ─────────────────────────────────────────────────────
    40 bytes, offset 0, hot  libc_memset            1.00x
    carryline loses in 1 of 1: 40 bytes, offset 0, hot, independent calls: wrong.
    One situation measured: libc_memset is fastest.
    ");
}

#[test]
fn an_incomplete_run_is_marked_and_an_empty_one_recommends_nothing() {
    let run = RunResult { complete: false, ..fixture::empty() };
    insta::assert_snapshot!(recommend(&run, &fixture::roles()).to_text(NARROW), @"
    What to use here
    Not everything was measured: this is based on partial results.
    Nothing could be ranked, so there is nothing to recommend.
    ");
}

#[test]
fn an_interrupted_run_recommends_nothing() {
    let warnings = vec![carryline_warnings::interrupted(0)];
    let run = RunResult { complete: false, warnings, ..fixture::run() };
    insta::assert_snapshot!(recommend(&run, &fixture::roles()).to_text(NARROW), @"
    What to use here
    Interrupted: partial results.
    ");
}
