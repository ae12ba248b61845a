use super::*;

fn row(flags: &str, function: &str, largest: u32) -> InliningRow {
    InliningRow {
        compiler: "gcc".into(),
        version: "12.2.0".into(),
        flags: flags.into(),
        function: Some(function.into()),
        status: "ok".into(),
        largest_inlined: Some(largest),
        inlined_ranges: vec![(1, largest)],
        call_ranges: vec![(largest + 1, 512)],
        ..InliningRow::default()
    }
}

fn failed(flags: &str, function: Option<&str>, reason: &str) -> InliningRow {
    InliningRow {
        function: function.map(str::to_owned),
        status: "failed".into(),
        reason: Some(reason.into()),
        ..InliningRow {
            function: None,
            largest_inlined: None,
            inlined_ranges: vec![],
            call_ranges: vec![],
            ..row(flags, "", 0)
        }
    }
}

#[test]
fn functions_with_one_outcome_share_a_row_and_functions_that_never_compile_follow() {
    let rows = vec![
        row("-O2", "memcpy", 256),
        row("-O2", "__builtin_memcpy", 256),
        failed("-O2", Some("__builtin_bcopy"), "not compiled"),
        InliningRow { loop_ranges: vec![(9, 16)], ..row("-Os", "memset", 16) },
        failed("-Os", Some("__builtin_bcopy"), "not compiled"),
    ];
    let mut found = Inlining { schema_version: 1, rows, limits: vec![], notes: vec!["a note".into()] };
    found.rows.push(InliningRow { compiler: "cc".into(), ..failed("-O2", None, "did not end within 1 s") });
    insta::assert_snapshot!(found.to_text(Style::default()), @r"
    gcc 12.2.0: constant sizes inlined
    flags  function                   largest  gaps below it       rep movs/stos    call
                                     in place
    ────────────────────────────────────────────────────────────────────────────────────────────────
    -O2    memcpy, __builtin_memcpy       256  -                   -                257..512
    -Os    memset                          16  -; a loop at 9..16  -                17..512
    __builtin_bcopy under any flags: not compiled

    cc 12.2.0: constant sizes inlined
    flags  function          largest  gaps below it                   rep movs/stos    call
                            in place
    ───────────────────────────────────────────────────────────────────────────────────────────────────
    -O2                               failed: did not end within 1 s

    a note
    ");
}

#[test]
fn rows_that_do_not_fit_are_lists() {
    let flags = "-C opt-level=2 -C target-cpu=x86-64-v3 --target x86_64-unknown-none";
    let rows = vec![row(flags, "ptr::copy", 128), row(flags, "ptr::write_bytes", 64)];
    let limit = LimitRow {
        compiler: "gcc".into(),
        flags: flags.into(),
        function: "memmove".into(),
        ..LimitRow::default()
    };
    let limits = vec![LimitRow { limit_bytes: 64, slower_ranges: vec![(65, 96)], ..limit }];
    let found = Inlining { schema_version: 1, rows, limits, notes: vec![] };
    let text = found.to_text(Style { colour: false, width: Some(80) });
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    for line in ["  largest in place: 128", "  call: 65..512", "  slower by it: 65..96"] {
        assert!(text.lines().any(|shown| shown == line), "{line} in {text}");
    }
}

#[test]
fn a_limit_has_the_sizes_that_it_makes_slower_and_faster() {
    let size = |size, ratio: f64, verdict: &str| LimitSize {
        size,
        how: "inlined".into(),
        inlined_ticks: 4.0,
        call_ticks: 4.0 * ratio,
        ratio: carryline_statistics::Ratio { median: ratio, low: ratio, high: ratio },
        noise_floor: 0.01,
        verdict: verdict.into(),
    };
    let limits = vec![LimitRow {
        compiler: "gcc".into(),
        version: "12.2.0".into(),
        flags: "-O2".into(),
        function: "__builtin_memcpy".into(),
        limit_bytes: 64,
        call_within_ranges: vec![(3, 3)],
        in_place_above_ranges: vec![(65, 68)],
        slower_ranges: vec![(65, 66)],
        faster_ranges: vec![(68, 68)],
        tie_ranges: vec![(67, 67)],
        reason: None,
        sizes: vec![
            size(65, 1.2, "slower"),
            size(66, 1.5, "slower"),
            size(67, 1.0, "tie"),
            size(68, 0.2, "faster"),
        ],
    }];
    let found = Inlining { schema_version: 1, rows: vec![], limits, notes: vec![] };
    insta::assert_snapshot!(found.to_text(Style::default()), @r"
    A hard-coded limit of 64: larger sizes become a call
    compiler    flags  function          in place         slower                faster            no               a call
                                         above it         by it                 by it             difference       within it
    ───────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────
    gcc 12.2.0  -O2    __builtin_memcpy  65..68           65..66 (x1.50 at 66)  68 (x0.20 at 68)  67               3
    Measured: independent calls, buffers in the first-level cache at random offsets; x is the time of the call divided by the time of the inlined code, loop included.
    ");
}

#[test]
fn ranges_are_pairs_in_json() {
    let json = serde_json::to_value(row("-O2", "memcpy", 256)).expect("plain data");
    assert_eq!(json["inlined_ranges"], serde_json::json!([[1, 256]]));
    assert_eq!(json["rep_ranges"], serde_json::json!([]));
}

#[test]
fn many_ranges_are_counted() {
    let many: Vec<SizeRange> = (1..=10).map(|i| (i * 10, i * 10 + 1)).collect();
    assert!(words(&many).ends_with("80..81 and 2 more in 90..101"), "{}", words(&many));
    assert_eq!(words(&[]), "-");
}
