use super::*;
use crate::fixture::{self, cell, rank};
use crate::table::Style;
use carryline_conditions::Condition;
use carryline_statistics::Ratio;

const NARROW: Style = Style { colour: false, width: Some(80) };

fn text(unit: Unit, width: u16, pick: &str) -> String {
    let all = rankings(&fixture::run(), unit, &fixture::roles()).expect("nothing mixed");
    let picked = all.iter().filter(|ranking| ranking.situation.starts_with(pick));
    let style = Style { colour: false, width: Some(width) };
    let text = picked.map(|ranking| ranking.to_text(style, Rows::Folded)).collect::<Vec<_>>().join("\n");
    assert!(text.lines().all(|line| line.chars().count() <= usize::from(width)), "{text}");
    text
}

/// Fourteen ways of zeroing 4 KiB with names of all lengths: overlapping ties, and a tail of slow ones.
fn many() -> RunResult {
    let named = [
        ("carryline", 70.0),
        ("avx512", 71.0),
        ("avx2", 72.2),
        ("avx512_nontemporal", 90.0),
        ("libc_memset_no_rep", 91.0),
        ("libc_memset", 140.0),
        ("carryline_not_soon", 142.0),
        ("sse2", 160.0),
        ("rep_stosb", 190.0),
        ("clzero", 400.0),
        ("movntps", 420.0),
        ("mov32_loop", 900.0),
        ("mov32_unroll_16_preallocate", 1_300.0),
        ("x87_fstl", 2_900.0),
    ];
    let cells = named.map(|(name, ticks)| cell(Family::Zero, name, Condition::plain(4096), ticks));
    RunResult { cells: rank(cells.to_vec(), Some("libc_memset")), ..fixture::empty() }
}

fn only(run: &RunResult) -> Ranking {
    rankings(run, Unit::Ticks, &fixture::roles()).expect("nothing mixed").remove(0)
}

#[test]
fn rankings_in_ticks_at_80_columns() {
    insta::assert_snapshot!(text(Unit::Ticks, 80, ""), @"
    zero, independent calls: 40 bytes, offset 0, hot (L1)
    fastest: avx512, tied with carryline; 2.96x as fast as libc_memset; 50 % of the
      limit; noise floor ±0.8 %
         variant      gross  95 %           as fast as  95 %             of    net
                      ticks  interval      libc_memset  interval      limit  ticks
    ──────────────────────────────────────────────────────────────────────────────
    a    avx512        4.05  [4.01, 4.13]        2.96x  [2.93, 2.99]   50 %   0.05
    a    carryline     4.06  [4.02, 4.14]        2.96x  [2.93, 2.99]   50 %   0.06
     b   libc_memset  12.0   [11.9, 12.2]        1.00x  baseline       50 %   8.00
      c  rep_stosb    34.0   [33.7, 34.7]        0.35x  [0.35, 0.36]   50 %  30.0
    plugin:fill: crashed: signal 11 (SIGSEGV) at length 33
    plugin:slow: timed out: no answer for 10 s
    plugin:short: wrong: length 5, offset 3: byte 4 is 0x55, expected 0x00
    unsupported here: clzero (the CPU lacks clzero)

    zero, independent calls: 1500 bytes, offset 0, hot (L1)
    fastest: carryline, tied with avx512; 2.01x as fast as libc_memset; 50 % of the
      limit; noise floor ±1.2 %
         variant      gross  95 %           as fast as  95 %             of    net
                      ticks  interval      libc_memset  interval      limit  ticks
    ──────────────────────────────────────────────────────────────────────────────
    a    carryline     22.0  [21.8, 22.4]        2.01x  [1.99, 2.03]   50 %   18.0
    a    avx512        22.1  [21.9, 22.5]        2.00x  [1.98, 2.02]   50 %   18.1
     b   libc_memset   44.2  [43.8, 45.1]        1.00x  baseline       50 %   40.2
      c  rep_stosb     59.0  [58.4, 60.2]        0.75x  [0.74, 0.76]   50 %   55.0

    zero, independent calls: 256 KiB, offset 0, hot (L2)
    fastest: rep_stosb; 1.12x as fast as libc_memset; 50 % of the limit; noise floor
      ±1.2 %
         variant      gross  95 %             as fast as  95 %             of    net
                      ticks  interval        libc_memset  interval      limit  ticks
    ────────────────────────────────────────────────────────────────────────────────
    a    rep_stosb    2 954  [2 924, 3 013]        1.12x  [1.11, 1.13]   50 %  2 950
     b   libc_memset  3 304  [3 271, 3 370]        1.00x  baseline       50 %  3 300
     b   avx512       3 314  [3 281, 3 380]        1.00x  [0.99, 1.01]   50 %  3 310
      c  carryline    3 904  [3 865, 3 982]        0.85x  [0.84, 0.85]   50 %  3 900

    checksum, independent calls: 1500 bytes, offset 0, hot (L1)
    fastest: carryline; 5.52x as fast as adc_1_stream; 50 % of the limit; noise
      floor ±1.2 %
         variant       gross  95 %            as fast as  95 %             of
                       ticks  interval      adc_1_stream  interval      limit
    ─────────────────────────────────────────────────────────────────────────
    a    carryline      10.2  [10.1, 10.4]         5.52x  [5.46, 5.58]   50 %
     b   avx512_dot     11.1  [11.0, 11.3]         5.07x  [5.02, 5.12]   50 %
      c  adc_1_stream   56.3  [55.7, 57.4]         1.00x  baseline       50 %
    -    reference     904    [895, 922]               -                    -

    checksum, chained calls: 1500 bytes, offset 0, hot (L1)
    fastest: carryline; 2.53x as fast as adc_1_stream; 50 % of the limit; noise
      floor ±1.2 %
         variant       gross  95 %            as fast as  95 %             of    net
                       ticks  interval      adc_1_stream  interval      limit  ticks
    ────────────────────────────────────────────────────────────────────────────────
    a    carryline      30.2  [29.9, 30.8]         2.53x  [2.50, 2.55]   50 %   26.2
     b   avx512_dot     31.1  [30.8, 31.7]         2.45x  [2.43, 2.48]   50 %   27.1
      c  adc_1_stream   76.3  [75.5, 77.8]         1.00x  baseline       50 %   72.3
    -    reference     904    [895, 922]               -                    -  900

    copy, independent calls: 1..200 (1 to 200 bytes, mean 100, 200 distinct), random
      offsets, hot (L1, footprint 16 KiB)
    fastest: avx512; noise floor ±1.2 %
        variant  gross  95 %            net
                 ticks  interval      ticks
    ───────────────────────────────────────
    a   avx512    13.0  [12.9, 13.3]   9.00
     b  avx2      16.0  [15.8, 16.3]  12.0
    ");
}

#[test]
fn many_rows_at_three_widths_and_without_one() {
    let ranking = only(&many());
    let at = |width: Option<u16>| ranking.to_text(Style { colour: false, width }, Rows::Folded);
    for width in [80, 100, 160] {
        assert!(at(Some(width)).lines().all(|line| line.chars().count() <= usize::from(width)));
    }
    insta::assert_snapshot!(at(Some(80)), @"
    zero, independent calls: 4 KiB, offset 0, hot (L1)
    fastest: carryline, tied with avx512; 1.95x as fast as libc_memset; 50 % of the
      limit; noise floor ±1.2 %
        variant             gross  95 %           as fast as  95 %             of
                            ticks  interval      libc_memset  interval      limit
    ─────────────────────────────────────────────────────────────────────────────
    a   carryline            74.0  [73.3, 75.5]        1.95x  [1.93, 1.97]   50 %
    ab  avx512               75.0  [74.2, 76.5]        1.92x  [1.90, 1.94]   50 %
    b   avx2                 76.2  [75.4, 77.7]        1.89x  [1.87, 1.91]   50 %
    c   avx512_nontemporal   94.0  [93.1, 95.9]        1.53x  [1.52, 1.55]   50 %
    c   libc_memset_no_rep   95.0  [94.0, 96.9]        1.52x  [1.50, 1.53]   50 %
    d   libc_memset         144    [143, 147]          1.00x  baseline       50 %
    d   carryline_not_soon  146    [145, 149]          0.99x  [0.98, 1.00]   50 %
    e   sse2                164    [162, 167]          0.88x  [0.87, 0.89]   50 %
    ...6 slower: rep_stosb 0.74x, clzero 0.36x, movntps 0.34x, mov32_loop 0.16x,
        mov32_unroll_16_preallocate 0.11x, x87_fstl 0.05x
    ");
    insta::assert_snapshot!(at(Some(100)), @"
    zero, independent calls: 4 KiB, offset 0, hot (L1)
    fastest: carryline, tied with avx512; 1.95x as fast as libc_memset; 50 % of the limit; noise floor
      ±1.2 %
        variant             gross  95 %           as fast as  95 %             of    net
                            ticks  interval      libc_memset  interval      limit  ticks
    ────────────────────────────────────────────────────────────────────────────────────────────────────
    a   carryline            74.0  [73.3, 75.5]        1.95x  [1.93, 1.97]   50 %   70.0  ██████████████
    ab  avx512               75.0  [74.2, 76.5]        1.92x  [1.90, 1.94]   50 %   71.0  █████████████▉
    b   avx2                 76.2  [75.4, 77.7]        1.89x  [1.87, 1.91]   50 %   72.2  █████████████▋
    c   avx512_nontemporal   94.0  [93.1, 95.9]        1.53x  [1.52, 1.55]   50 %   90.0  ███████████
    c   libc_memset_no_rep   95.0  [94.0, 96.9]        1.52x  [1.50, 1.53]   50 %   91.0  ██████████▉
    d   libc_memset         144    [143, 147]          1.00x  baseline       50 %  140    ███████▎
    d   carryline_not_soon  146    [145, 149]          0.99x  [0.98, 1.00]   50 %  142    ███████▏
    e   sse2                164    [162, 167]          0.88x  [0.87, 0.89]   50 %  160    ██████▍
    ...6 slower: rep_stosb 0.74x, clzero 0.36x, movntps 0.34x, mov32_loop 0.16x,
        mov32_unroll_16_preallocate 0.11x, x87_fstl 0.05x
    ");
    insta::assert_snapshot!(at(Some(160)), @"
    zero, independent calls: 4 KiB, offset 0, hot (L1)
    fastest: carryline, tied with avx512; 1.95x as fast as libc_memset; 50 % of the limit; noise floor ±1.2 %
        variant             gross  95 %           as fast as  95 %             of    net
                            ticks  interval      libc_memset  interval      limit  ticks
    ──────────────────────────────────────────────────────────────────────────────────────────────────────────────
    a   carryline            74.0  [73.3, 75.5]        1.95x  [1.93, 1.97]   50 %   70.0  ████████████████████████
    ab  avx512               75.0  [74.2, 76.5]        1.92x  [1.90, 1.94]   50 %   71.0  ███████████████████████▋
    b   avx2                 76.2  [75.4, 77.7]        1.89x  [1.87, 1.91]   50 %   72.2  ███████████████████████▎
    c   avx512_nontemporal   94.0  [93.1, 95.9]        1.53x  [1.52, 1.55]   50 %   90.0  ██████████████████▉
    c   libc_memset_no_rep   95.0  [94.0, 96.9]        1.52x  [1.50, 1.53]   50 %   91.0  ██████████████████▊
    d   libc_memset         144    [143, 147]          1.00x  baseline       50 %  140    ████████████▍
    d   carryline_not_soon  146    [145, 149]          0.99x  [0.98, 1.00]   50 %  142    ████████████▏
    e   sse2                164    [162, 167]          0.88x  [0.87, 0.89]   50 %  160    ██████████▉
    ...6 slower: rep_stosb 0.74x, clzero 0.36x, movntps 0.34x, mov32_loop 0.16x, mov32_unroll_16_preallocate 0.11x, x87_fstl 0.05x
    ");
    insta::assert_snapshot!(at(None), @"
    zero, independent calls: 4 KiB, offset 0, hot (L1)
    fastest: carryline, tied with avx512; 1.95x as fast as libc_memset; 50 % of the limit; noise floor ±1.2 %
        variant             gross  95 %           as fast as  95 %             of    net
                            ticks  interval      libc_memset  interval      limit  ticks
    ────────────────────────────────────────────────────────────────────────────────────
    a   carryline            74.0  [73.3, 75.5]        1.95x  [1.93, 1.97]   50 %   70.0
    ab  avx512               75.0  [74.2, 76.5]        1.92x  [1.90, 1.94]   50 %   71.0
    b   avx2                 76.2  [75.4, 77.7]        1.89x  [1.87, 1.91]   50 %   72.2
    c   avx512_nontemporal   94.0  [93.1, 95.9]        1.53x  [1.52, 1.55]   50 %   90.0
    c   libc_memset_no_rep   95.0  [94.0, 96.9]        1.52x  [1.50, 1.53]   50 %   91.0
    d   libc_memset         144    [143, 147]          1.00x  baseline       50 %  140
    d   carryline_not_soon  146    [145, 149]          0.99x  [0.98, 1.00]   50 %  142
    e   sse2                164    [162, 167]          0.88x  [0.87, 0.89]   50 %  160
    ...6 slower: rep_stosb 0.74x, clzero 0.36x, movntps 0.34x, mov32_loop 0.16x, mov32_unroll_16_preallocate 0.11x, x87_fstl 0.05x
    ");
}

#[test]
fn all_rows_are_followed_by_their_ties() {
    insta::assert_snapshot!(only(&many()).to_text(NARROW, Rows::AllAndPairs), @"
    zero, independent calls: 4 KiB, offset 0, hot (L1)
    fastest: carryline, tied with avx512; 1.95x as fast as libc_memset; 50 % of the
      limit; noise floor ±1.2 %
        variant                        gross   as fast as  95 %
                                       ticks  libc_memset  interval
    ───────────────────────────────────────────────────────────────────
    a   carryline                       74.0        1.95x  [1.93, 1.97]
    ab  avx512                          75.0        1.92x  [1.90, 1.94]
    b   avx2                            76.2        1.89x  [1.87, 1.91]
    c   avx512_nontemporal              94.0        1.53x  [1.52, 1.55]
    c   libc_memset_no_rep              95.0        1.52x  [1.50, 1.53]
    d   libc_memset                    144          1.00x  baseline
    d   carryline_not_soon             146          0.99x  [0.98, 1.00]
    e   sse2                           164          0.88x  [0.87, 0.89]
    f   rep_stosb                      194          0.74x  [0.73, 0.75]
    g   clzero                         404          0.36x  [0.35, 0.36]
    h   movntps                        424          0.34x  [0.34, 0.34]
    i   mov32_loop                     904          0.16x  [0.16, 0.16]
    j   mov32_unroll_16_preallocate  1 304          0.11x  [0.11, 0.11]
    k   x87_fstl                     2 904          0.05x  [0.05, 0.05]
    carryline ties with avx512
    avx512 ties with carryline, avx2
    avx2 ties with avx512
    avx512_nontemporal ties with libc_memset_no_rep
    libc_memset_no_rep ties with avx512_nontemporal
    libc_memset ties with carryline_not_soon
    carryline_not_soon ties with libc_memset
    ");
}

#[test]
fn what_had_no_time_did_not_time_out() {
    assert_eq!(status_word(Status::TimedOut, Some(NO_TIME)), "not measured");
    // As runs stored before say it.
    assert_eq!(status_word(Status::TimedOut, Some("no time was left to measure it")), "not measured");
    assert_eq!(status_word(Status::TimedOut, Some("no answer for 10 s")), "timed out");
}

#[test]
fn no_winner_is_named_if_most_tie() {
    let tied = |ticks: [f64; 4]| {
        let named = ["libc_memset", "carryline", "avx2", "sse2"].into_iter().zip(ticks);
        let cells = named.map(|(name, ticks)| cell(Family::Zero, name, Condition::plain(4096), ticks));
        only(&RunResult { cells: rank(cells.collect(), Some("libc_memset")), ..fixture::empty() }).summary()
    };
    insta::assert_snapshot!(tied([50.0, 50.1, 50.2, 50.3]), @"no difference found between these 4; noise floor ±1.2 %");
    insta::assert_snapshot!(tied([50.0, 50.1, 50.2, 90.0]), @"no difference found between the best 3 of 4 (libc_memset, carryline and avx2); noise floor ±1.2 %");
    insta::assert_snapshot!(tied([50.0, 50.1, 70.0, 90.0]), @"fastest: libc_memset, tied with carryline; the baseline itself; 50 % of the limit; noise floor ±1.2 %");
    insta::assert_snapshot!(tied([50.0, 90.1, 70.0, 90.0]), @"fastest: libc_memset; the baseline itself; 50 % of the limit; noise floor ±1.2 %");
}

/// The leader is the one whose interval ends first, not the one with the lowest median.
#[test]
fn the_fastest_is_the_leader_of_the_first_rank() {
    let named = [("flip", 10.0), ("steady", 10.1), ("slow", 40.0), ("slower", 60.0), ("slowest", 80.0)];
    let cells = named.map(|(name, ticks)| cell(Family::Zero, name, Condition::plain(64), ticks));
    let mut cells = rank(cells.to_vec(), None);
    cells[1].ratio_to_leader = Some(Ratio { median: 1.0, low: 1.0, high: 1.0 });
    let ranking = only(&RunResult { cells, ..fixture::empty() });
    let Finding::Fastest(leader, ties) = ranking.finding() else { panic!("two of five tie") };
    assert_eq!(leader.variant, "steady");
    assert_eq!(ties.iter().map(|row| row.variant.as_str()).collect::<Vec<_>>(), ["flip"]);
}

#[test]
fn a_ratio_that_contradicts_its_medians_is_marked_and_explained() {
    let mut run = many();
    // Slower by the median over all processes, but faster in every round.
    run.cells[7].ratio_to_baseline = Some(Ratio { median: 0.93, low: 0.92, high: 0.94 });
    let ranking = only(&run);
    let marked: Vec<&str> =
        ranking.rows.iter().filter(|row| row.contradicts).map(|row| row.variant.as_str()).collect();
    assert_eq!(marked, ["sse2"]);
    let text = ranking.to_text(NARROW, Rows::Folded);
    assert!(text.contains("1.08x~") && text.contains("\n~ this ratio"), "{text}");
}

#[test]
fn letters_of_many_groups_have_no_columns_of_their_own() {
    let names = ["a", "b", "c", "d", "e", "f", "g", "h", "i"];
    let cells = names.iter().enumerate().map(|(at, name)| {
        // Each ties with its neighbours.
        cell(Family::Zero, name, Condition::plain(4096), 1000.0 * 1.015_f64.powi(at as i32))
    });
    let ranking = only(&RunResult { cells: rank(cells.collect(), None), ..fixture::empty() });
    let letters: Vec<String> = ranking.cells().into_iter().map(|[letters, ..]| letters).collect();
    assert_eq!(letters, ["a", "ab", "bc", "cd", "de", "ef", "fg", "gh", "h"]);
}

#[test]
fn rates_are_gross() {
    insta::assert_snapshot!(text(Unit::GbPerS, 80, "zero 40"), @"
    zero, independent calls: 40 bytes, offset 0, hot (L1)
    fastest: avx512, tied with carryline; 2.96x as fast as libc_memset; 50 % of the
      limit; noise floor ±0.8 %
         variant      gross  95 %           as fast as  95 %             of    net
                       GB/s  interval      libc_memset  interval      limit   GB/s
    ──────────────────────────────────────────────────────────────────────────────
    a    avx512       25.7   [25.2, 25.9]        2.96x  [2.93, 2.99]   50 %   -
    a    carryline    25.6   [25.1, 25.9]        2.96x  [2.93, 2.99]   50 %   -
     b   libc_memset   8.67  [8.50, 8.75]        1.00x  baseline       50 %  13.0
      c  rep_stosb     3.06  [3.00, 3.09]        0.35x  [0.35, 0.36]   50 %   3.47
    plugin:fill: crashed: signal 11 (SIGSEGV) at length 33
    plugin:slow: timed out: no answer for 10 s
    plugin:short: wrong: length 5, offset 3: byte 4 is 0x55, expected 0x00
    unsupported here: clzero (the CPU lacks clzero)
    ");
}

#[test]
fn counted_cycles_are_labelled_and_come_from_the_counter() {
    let mut run = fixture::run();
    for cell in &mut run.cells {
        cell.basis = Some(carryline_results::CycleBasis::Pmu);
        cell.bytes_per_cycle = cell.bytes_per_cycle.map(|rate| rate / 2.0);
    }
    let all = rankings(&run, Unit::Cycles, &fixture::roles()).expect("nothing mixed");
    assert_eq!(all[1].scale.unit_name(), "cycles pmu");
    let winner = all[1].rows[0].headline.expect("a figure").value;
    assert!((winner - 18.0 / 0.6 * 2.0).abs() < 1e-9, "{winner}");
}

#[test]
fn missing_factor_floor_and_baseline_are_handled() {
    let mut run = fixture::run();
    (run.ticks_per_ns, run.noise_floor) = (None, None);
    run.cells.iter_mut().for_each(|cell| cell.baseline = None);
    let all = rankings(&run, Unit::Ns, &Roles::default()).expect("nothing mixed");
    insta::assert_snapshot!(all[1].to_text(NARROW, Rows::Folded), @"
    zero, independent calls: 1500 bytes, offset 0, hot (L1)
    fastest: carryline, tied with avx512; 50 % of the limit; noise floor unknown
         variant      gross  95 %         of
                         ns  interval  limit
    ────────────────────────────────────────
    a    carryline        -             50 %
    a    avx512           -             50 %
     b   libc_memset      -             50 %
      c  rep_stosb        -             50 %
    no figures in seconds: this run has no ticks per nanosecond; try --unit ticks
    ");
}

#[test]
fn the_header_names_the_baseline_of_the_cell() {
    let mut run = fixture::run();
    for cell in run.cells.iter_mut().filter(|cell| cell.situation == "zero 1500 independent") {
        cell.baseline = Some("libc_memset_no_rep".to_owned());
    }
    let all = rankings(&run, Unit::Ticks, &fixture::roles()).expect("nothing mixed");
    let named: Vec<_> = all.iter().take(3).map(|ranking| ranking.baseline.as_deref()).collect();
    assert_eq!(named, [Some("libc_memset"), Some("libc_memset_no_rep"), Some("libc_memset")]);
    assert!(all[1].summary().contains("2.01x as fast as libc_memset_no_rep"), "{}", all[1].summary());
    // Cells stored without a baseline use the family's.
    run.cells.iter_mut().for_each(|cell| cell.baseline = None);
    let all = rankings(&run, Unit::Ticks, &fixture::roles()).expect("nothing mixed");
    assert_eq!(all[1].baseline.as_deref(), Some("libc_memset"));
}

#[test]
fn a_situation_with_only_failures_has_no_winner() {
    let mut run = fixture::run();
    run.cells.retain(|cell| cell.status != Status::Ok);
    let all = rankings(&run, Unit::Ticks, &fixture::roles()).expect("nothing mixed");
    insta::assert_snapshot!(all[0].to_text(NARROW, Rows::Folded), @"
    zero, independent calls: 40 bytes, offset 0, hot
    nothing could be ranked; noise floor ±0.8 %
    plugin:fill: crashed: signal 11 (SIGSEGV) at length 33
    plugin:slow: timed out: no answer for 10 s
    plugin:short: wrong: length 5, offset 3: byte 4 is 0x55, expected 0x00
    unsupported here: clzero (the CPU lacks clzero)
    ");
}

#[test]
fn mixed_dependence_is_an_error() {
    let mut run = fixture::run();
    for cell in &mut run.cells {
        cell.situation = "same".into();
    }
    let error = rankings(&run, Unit::Ticks, &fixture::roles()).expect_err("mixed");
    run.cells.retain(|cell| cell.family == Family::Checksum);
    let mixed = rankings(&run, Unit::Ticks, &fixture::roles()).expect_err("mixed");
    assert!(matches!(mixed, RankingError::MixedDependence { .. }));
    insta::assert_snapshot!(format!("{error}\n{mixed}"), @"
    situation 'same' mixes conditions, '40 bytes, offset 0, hot' and '1500 bytes, offset 0, hot'
    situation 'same' mixes chained and independent calls, which are not comparable
    ");
}

#[test]
fn control_characters_in_a_name_are_escaped() {
    let mut run = fixture::run();
    run.cells[1].variant = "evil\u{1b}[2J\nname".into();
    let all = rankings(&run, Unit::Ticks, &fixture::roles()).expect("nothing mixed");
    assert!(!all[0].to_text(NARROW, Rows::Folded).contains('\u{1b}'));
    assert!(all[0].to_text(NARROW, Rows::Folded).contains("evil\\u{1b}[2J name"));
}

#[test]
fn the_legend_fits() {
    insta::assert_snapshot!(legend(Unit::Ticks, NARROW), @"
    Gross includes the null call, a call that does nothing; net excludes it; '<null'
    means no slower than the null call.
    Rows that share a letter tie. Letters and ratios come from gross times, paired
    within rounds, but for libc's two rows, which are measured in different
    processes. The limit is the time of the bytes at the best rate in this run, but
    at least a null call.
    ");
    assert!(legend(Unit::GbPerS, NARROW).contains("Rates"));
}
