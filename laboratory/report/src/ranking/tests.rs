use super::*;
use crate::fixture;

const NARROW: Style = Style { colour: false, width: Some(80) };
const WIDE: Style = Style { colour: false, width: Some(120) };

fn text(unit: Unit, style: Style, pick: &str) -> String {
    let all = rankings(&fixture::run(), unit, &fixture::roles()).expect("nothing mixed");
    let picked = all.iter().filter(|ranking| ranking.situation.starts_with(pick));
    picked.map(|ranking| ranking.to_text(style)).collect::<Vec<_>>().join("\n")
}

#[test]
fn ticks_in_80_columns() {
    let text = text(Unit::Ticks, NARROW, "");
    assert!(text.lines().all(|line| line.chars().count() <= 80));
    insta::assert_snapshot!(text, @"
    zero, independent calls: 40 bytes, offset 0, hot (L1)
     #  variant        net  95 %          gross   as fast as     of
                     ticks  interval      ticks  libc_memset  limit
    ───────────────────────────────────────────────────────────────
    1=  avx512        0.05  [0.05, 0.05]   4.05        2.96x   50 %
    1=  carryline     0.06  [0.06, 0.06]   4.06        2.96x   50 %
    3   libc_memset   8.00  [7.92, 8.16]  12.0         1.00x   50 %
    4   rep_stosb    30.0   [29.7, 30.6]  34.0         0.35x   50 %
    -   clzero: unsupported: the CPU lacks clzero
    -   plugin:fill: crashed: signal 11 (SIGSEGV) at length 33
    -   plugin:slow: timed out: no answer for 10 s
    -   plugin:short: wrong: length 5, offset 3: byte 4 is 0x55, expected 0x00
    winner: avx512, ties with carryline; 2.96x as fast as libc_memset; 50 % of the
      limit; noise floor ±0.8 %

    zero, independent calls: 1500 bytes, offset 0, hot (L1)
     #  variant        net  95 %          gross   as fast as     of
                     ticks  interval      ticks  libc_memset  limit
    ───────────────────────────────────────────────────────────────
    1=  carryline     18.0  [17.8, 18.4]   22.0        2.01x   50 %
    1=  avx512        18.1  [17.9, 18.5]   22.1        2.00x   50 %
    3   libc_memset   40.2  [39.8, 41.0]   44.2        1.00x   50 %
    4   rep_stosb     55.0  [54.5, 56.1]   59.0        0.75x   50 %
    winner: carryline, ties with avx512; 2.01x as fast as libc_memset; 50 % of the
      limit; noise floor ±1.2 %

    zero, independent calls: 256 KiB, offset 0, hot (L2)
     #  variant        net  95 %            gross   as fast as     of
                     ticks  interval        ticks  libc_memset  limit
    ─────────────────────────────────────────────────────────────────
    1   rep_stosb    2 950  [2 920, 3 009]  2 954        1.12x   50 %
    2=  libc_memset  3 300  [3 267, 3 366]  3 304        1.00x   50 %
    2=  avx512       3 310  [3 277, 3 376]  3 314        1.00x   50 %
    4   carryline    3 900  [3 861, 3 978]  3 904        0.85x   50 %
    winner: rep_stosb; 1.12x as fast as libc_memset; 50 % of the limit; noise floor
      ±1.2 %

    checksum, independent calls: 1500 bytes, offset 0, hot (L1)
     #  variant          net  95 %          gross    as fast as     of
                       ticks  interval      ticks  adc_1_stream  limit
    ──────────────────────────────────────────────────────────────────
    1   carryline       6.20  [6.14, 6.32]   10.2         5.52x   50 %
    2   avx512_dot      7.10  [7.03, 7.24]   11.1         5.07x   50 %
    3   adc_1_stream   52.3   [51.8, 53.3]   56.3         1.00x   50 %
    -   reference     900     [891, 918]    904               -      -
    winner: carryline; 5.52x as fast as adc_1_stream; 50 % of the limit; noise floor
      ±1.2 %

    checksum, chained calls: 1500 bytes, offset 0, hot (L1)
     #  variant         net  95 %          gross    as fast as     of
                      ticks  interval      ticks  adc_1_stream  limit
    ─────────────────────────────────────────────────────────────────
    1   carryline      26.2  [25.9, 26.7]   30.2         2.53x   50 %
    2   avx512_dot     27.1  [26.8, 27.6]   31.1         2.45x   50 %
    3   adc_1_stream   72.3  [71.6, 73.7]   76.3         1.00x   50 %
    -   reference     900    [891, 918]    904               -      -
    winner: carryline; 2.53x as fast as adc_1_stream; 50 % of the limit; noise floor
      ±1.2 %

    copy, independent calls: 1..200 (1 to 200 bytes, mean 100, 200 different),
      random offsets, hot (L1, footprint 16 KiB)
     #  variant    net  95 %          gross
                 ticks  interval      ticks
    ───────────────────────────────────────
    1   avx512    9.00  [8.91, 9.18]   13.0
    2   avx2     12.0   [11.9, 12.2]   16.0
    winner: avx512; noise floor ±1.2 %
    ");
}

#[test]
fn a_tie_across_ranks_is_told_in_a_narrow_place_too() {
    let mut run = fixture::run();
    run.cells.retain(|cell| cell.situation == "zero 1500 independent");
    for (index, other) in [(0, "rep_stosb"), (3, "libc_memset")] {
        run.cells[index].ties_with.push(other.into());
    }
    let ranking = rankings(&run, Unit::Ticks, &fixture::roles()).expect("nothing mixed").remove(0);
    insta::assert_snapshot!(ranking.to_text(NARROW), @"
    zero, independent calls: 1500 bytes, offset 0, hot (L1)
     #  variant        net  95 %          gross   as fast as     of
                     ticks  interval      ticks  libc_memset  limit
    ───────────────────────────────────────────────────────────────
    1=  carryline     18.0  [17.8, 18.4]   22.0        2.01x   50 %
    1=  avx512        18.1  [17.9, 18.5]   22.1        2.00x   50 %
    3   libc_memset   40.2  [39.8, 41.0]   44.2        1.00x   50 %
    4   rep_stosb     55.0  [54.5, 56.1]   59.0        0.75x   50 %
    also tied: libc_memset with rep_stosb
    winner: carryline, ties with avx512; 2.01x as fast as libc_memset; 50 % of the
      limit; noise floor ±1.2 %
    ");
    assert!(!ranking.to_text(WIDE).contains("also tied"));
}

#[test]
fn wide_enough_to_name_ties() {
    insta::assert_snapshot!(text(Unit::Cycles, WIDE, "zero"), @"
    zero, independent calls: 40 bytes, offset 0, hot (L1)
     #  variant              net  95 %                gross   as fast as     of  ties with
                     cycles est.  interval      cycles est.  libc_memset  limit
    ─────────────────────────────────────────────────────────────────────────────────────────────
    1=  avx512              0.08  [0.08, 0.09]         6.75        2.96x   50 %  carryline
    1=  carryline           0.10  [0.10, 0.10]         6.77        2.96x   50 %  avx512
    3   libc_memset        13.3   [13.2, 13.6]        20.0         1.00x   50 %
    4   rep_stosb          50.0   [49.5, 51.0]        56.7         0.35x   50 %
    -   clzero: unsupported: the CPU lacks clzero
    -   plugin:fill: crashed: signal 11 (SIGSEGV) at length 33
    -   plugin:slow: timed out: no answer for 10 s
    -   plugin:short: wrong: length 5, offset 3: byte 4 is 0x55, expected 0x00
    winner: avx512, ties with carryline; 2.96x as fast as libc_memset; 50 % of the limit; noise floor ±0.8 %

    zero, independent calls: 1500 bytes, offset 0, hot (L1)
     #  variant              net  95 %                gross   as fast as     of  ties with
                     cycles est.  interval      cycles est.  libc_memset  limit
    ─────────────────────────────────────────────────────────────────────────────────────────────
    1=  carryline           30.0  [29.7, 30.6]         36.7        2.01x   50 %  avx512
    1=  avx512              30.2  [29.9, 30.8]         36.8        2.00x   50 %  carryline
    3   libc_memset         67.0  [66.3, 68.3]         73.7        1.00x   50 %
    4   rep_stosb           91.7  [90.8, 93.5]         98.3        0.75x   50 %
    winner: carryline, ties with avx512; 2.01x as fast as libc_memset; 50 % of the limit; noise floor ±1.2 %

    zero, independent calls: 256 KiB, offset 0, hot (L2)
     #  variant              net  95 %                  gross   as fast as     of  ties with
                     cycles est.  interval        cycles est.  libc_memset  limit
    ───────────────────────────────────────────────────────────────────────────────────────────────
    1   rep_stosb          4 917  [4 868, 5 015]        4 923        1.12x   50 %
    2=  libc_memset        5 500  [5 445, 5 610]        5 507        1.00x   50 %  avx512
    2=  avx512             5 517  [5 462, 5 627]        5 523        1.00x   50 %  libc_memset
    4   carryline          6 500  [6 435, 6 630]        6 507        0.85x   50 %
    winner: rep_stosb; 1.12x as fast as libc_memset; 50 % of the limit; noise floor ±1.2 %
    ");
}

#[test]
fn rates_count_the_whole_call() {
    insta::assert_snapshot!(text(Unit::GbPerS, NARROW, "zero 40"), @"
    zero, independent calls: 40 bytes, offset 0, hot (L1)
     #  variant      gross  95 %            net   as fast as     of
                      GB/s  interval       GB/s  libc_memset  limit
    ───────────────────────────────────────────────────────────────
    1=  avx512       25.7   [25.2, 25.9]   -           2.96x   50 %
    1=  carryline    25.6   [25.1, 25.9]   -           2.96x   50 %
    3   libc_memset   8.67  [8.50, 8.75]  13.0         1.00x   50 %
    4   rep_stosb     3.06  [3.00, 3.09]   3.47        0.35x   50 %
    -   clzero: unsupported: the CPU lacks clzero
    -   plugin:fill: crashed: signal 11 (SIGSEGV) at length 33
    -   plugin:slow: timed out: no answer for 10 s
    -   plugin:short: wrong: length 5, offset 3: byte 4 is 0x55, expected 0x00
    winner: avx512, ties with carryline; 2.96x as fast as libc_memset; 50 % of the
      limit; noise floor ±0.8 %
    ");
}

#[test]
fn counted_cycles_say_so_and_come_from_the_counter() {
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
fn without_factor_floor_or_baseline_it_says_so() {
    let mut run = fixture::run();
    (run.ticks_per_ns, run.noise_floor) = (None, None);
    run.cells.iter_mut().for_each(|cell| cell.baseline = None);
    let all = rankings(&run, Unit::Ns, &Roles::default()).expect("nothing mixed");
    insta::assert_snapshot!(all[1].to_text(NARROW), @"
    zero, independent calls: 1500 bytes, offset 0, hot (L1)
     #  variant      net  95 %      gross     of
                      ns  interval     ns  limit
    ────────────────────────────────────────────
    1=  carryline      -                -   50 %
    1=  avx512         -                -   50 %
    3   libc_memset    -                -   50 %
    4   rep_stosb      -                -   50 %
    no figures in seconds: this run has no ticks per nanosecond; try --unit ticks
    winner: carryline, ties with avx512; 50 % of the limit; noise floor unknown
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
    // What was stored before cells named it is held against the family's own.
    run.cells.iter_mut().for_each(|cell| cell.baseline = None);
    let all = rankings(&run, Unit::Ticks, &fixture::roles()).expect("nothing mixed");
    assert_eq!(all[1].baseline.as_deref(), Some("libc_memset"));
}

#[test]
fn a_situation_where_all_failed_has_no_winner() {
    let mut run = fixture::run();
    run.cells.retain(|cell| cell.status != Status::Ok);
    let all = rankings(&run, Unit::Ticks, &fixture::roles()).expect("nothing mixed");
    insta::assert_snapshot!(all[0].to_text(NARROW), @"
    zero, independent calls: 40 bytes, offset 0, hot
    -   clzero: unsupported: the CPU lacks clzero
    -   plugin:fill: crashed: signal 11 (SIGSEGV) at length 33
    -   plugin:slow: timed out: no answer for 10 s
    -   plugin:short: wrong: length 5, offset 3: byte 4 is 0x55, expected 0x00
    no winner: nothing could be ranked; noise floor ±0.8 %
    ");
}

#[test]
fn different_dependence_is_refused() {
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
    situation 'same' mixes chained and independent calls, which one table must not
    ");
}

#[test]
fn a_hostile_name_cannot_steer_the_terminal() {
    let mut run = fixture::run();
    run.cells[1].variant = "evil\u{1b}[2J\nname".into();
    let all = rankings(&run, Unit::Ticks, &fixture::roles()).expect("nothing mixed");
    assert!(!all[0].to_text(NARROW).contains('\u{1b}'));
    assert!(all[0].to_text(NARROW).contains("evil\\u{1b}[2J name"));
}

#[test]
fn the_legend_fits() {
    insta::assert_snapshot!(legend(Unit::Ticks, NARROW), @"
    Net excludes the null call, gross includes it; '<null' is within the null call:
    no slower than a call that does nothing.
    Ranks and ratios come from gross times, paired within rounds (libc's two rows
    have none in common); '=' marks a rank shared by a tie. The limit is what the
    bytes take at the best rate that this run saw, but at least a null call.
    ");
    assert!(legend(Unit::GbPerS, NARROW).contains("Rates"));
}
