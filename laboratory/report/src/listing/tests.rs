use super::history::continued;
use super::*;
use crate::fixture;

const NARROW: Style = Style { colour: false, width: Some(80) };

#[test]
fn variants_are_listed_with_needs_and_provenance() {
    let line = |name: &str, needs: &[&str], runs_here, known_bad: Option<&str>| VariantLine {
        name: name.into(),
        family: Family::Checksum,
        needs: needs.iter().map(|need| (*need).to_owned()).collect(),
        provenance: "evans-2018: the kernel's form, as it stood in 2018".into(),
        runs_here,
        known_bad: known_bad.is_some(),
        known_bad_reason: known_bad.map(str::to_owned),
        summary: "adds with carry".into(),
    };
    let list = VariantList {
        variants: vec![
            line("adc_1_stream", &[], true, None),
            line("avx512_dot", &["avx512f", "avx512bw", "avx512_vnni"], false, None),
            line("adc_odd_address", &[], true, Some("an odd address with a seed")),
        ],
    };
    insta::assert_snapshot!(list.to_text(NARROW), @"
    checksum         runs  needs               provenance
                     here
    ────────────────────────────────────────────────────────────────────────────────
    adc_1_stream     yes   nothing             evans-2018: the kernel's form, as it
                                               stood in 2018
    avx512_dot       no    avx512f, avx512bw,  evans-2018: the kernel's form, as it
                           avx512_vnni         stood in 2018
    adc_odd_address  yes   nothing             evans-2018: the kernel's form, as it
                                               stood in 2018 (known bad: an odd
                                               address with a seed)
    ");
    let json: Value = serde_json::from_str(&to_json(&list).expect("serialises")).expect("parses");
    let keys = "family known_bad known_bad_reason name needs provenance runs_here summary";
    let line = json["variants"][1].as_object().expect("an object");
    assert_eq!(line.keys().cloned().collect::<Vec<_>>().join(" "), keys);
    assert_eq!(json["variants"][2]["known_bad"], Value::Bool(true));
}

#[test]
fn verdicts_are_listed_with_their_counterexamples() {
    let line = |variant: &str, verdict: &str, good, counterexample| ProofLine {
        variant: variant.into(),
        family: Family::Checksum,
        verdict: verdict.into(),
        good,
        detail: good.then(|| "any length".to_owned()),
        counterexample,
    };
    let example = Counterexample {
        length: 32,
        dst_offset: None,
        src_offset: Some(1),
        seed: Some(0xffff_0000),
        bytes: "ff ff ff".into(),
        expected: "0xfffe".into(),
        got: "0xffff".into(),
        earlier: vec![],
        sentence: "32 bytes at offset 1, seed 0xffff0000, bytes ff ff ff: expected 0xfffe, got 0xffff".into(),
    };
    let list = ProofList {
        results: vec![
            line("adc_1_stream", "right", true, None),
            line("adc_odd_address", "known-bad, caught", true, Some(example.clone())),
            line("plugin:sum", "wrong", false, Some(example)),
        ],
        coverage: Coverage::default(),
        left: None,
    };
    insta::assert_snapshot!(list.to_text(NARROW), @"
    variant          family    verdict            detail
    ──────────────────────────────────────────────────────────────
    adc_1_stream     checksum  right              any length
    adc_odd_address  checksum  known-bad, caught  any length
    plugin:sum       checksum  wrong
    checksum/adc_odd_address: 32 bytes at offset 1, seed 0xffff0000, bytes ff ff ff:
      expected 0xfffe, got 0xffff
    checksum/plugin:sum: 32 bytes at offset 1, seed 0xffff0000, bytes ff ff ff:
      expected 0xfffe, got 0xffff
    3 variants: 1 failed
    ");
    let json: Value = serde_json::from_str(&to_json(&list).expect("serialises")).expect("parses");
    assert_eq!(json["results"][0]["counterexample"], Value::Null);
    assert_eq!(json["results"][1]["counterexample"]["length"], 32);
    assert_eq!(json["results"][1]["verdict"], "known-bad, caught");
}

#[test]
fn what_cannot_run_here_is_counted_apart_and_interrupted_lists_say_so() {
    let line = |verdict: &str, good| ProofLine {
        variant: "clzero".into(),
        family: Family::Zero,
        verdict: verdict.into(),
        good,
        detail: None,
        counterexample: None,
    };
    let of = |results: Vec<ProofLine>, left| {
        let text = ProofList { results, coverage: Coverage::default(), left }.to_text(NARROW);
        text.lines()
            .skip_while(|line| !line.contains("variant") || line.starts_with("variant"))
            .collect::<Vec<_>>()
            .join("|")
    };
    let unusable = || line(UNSUPPORTED, true);
    assert_eq!(of(vec![line("right", true), unusable()], None), "2 variants: no failures, 1 not usable here");
    assert_eq!(of(vec![unusable()], None), "1 variant: no failures, 1 not usable here");
    assert_eq!(of(vec![line("wrong", false)], None), "1 variant: 1 failed");
    let interrupted = "Interrupted: partial results. 86 variants were not verified.";
    assert_eq!(of(vec![line("right", true)], Some(86)), format!("1 variant: no failures|{interrupted}"));
    assert_eq!(of(vec![], Some(86)), interrupted);
}

#[test]
fn stored_runs_are_listed() {
    let run = |id, status: &str| RunLine {
        id,
        content_hash: (id == 9).then(|| "0123456789abcdef".repeat(4)),
        label: (id == 9).then(|| "before".to_owned()),
        started: "2026-01-02T03:04:05Z".into(),
        command: "run --budget 60s".into(),
        status: status.into(),
        situations: 30,
        cells: 180,
        rounds: 1200,
    };
    let list = RunList { runs: vec![run(10, "incomplete"), run(9, "complete")] };
    insta::assert_snapshot!(list.to_text(NARROW), @"
    run  hash      started               status      situations  cells  rounds
    ──────────────────────────────────────────────────────────────────────────
     10  -         2026-01-02T03:04:05Z  incomplete          30    180   1 200
         run --budget 60s
      9  01234567  2026-01-02T03:04:05Z  complete            30    180   1 200
         label: before
         run --budget 60s
    ");
    assert_eq!(RunList { runs: vec![] }.to_text(NARROW), "no run is stored\n");
    let json: Value = serde_json::from_str(&to_json(&list).expect("serialises")).expect("parses");
    assert_eq!(json["runs"][0]["id"], 10);
    assert_eq!(json["runs"][0]["status"], "incomplete");
}

#[test]
fn a_long_command_is_continued_as_a_shell_reads_it() {
    let command = "carryline measure --variants 'zero/avx*' --label 'a long name with many words' --sizes 40,1500 --budget 20s";
    let text = continued(command, Some(60));
    assert!(text.lines().all(|line| line.chars().count() <= 60), "{text}");
    assert!(text.lines().count() > 1 && text.contains("'a long name with many words'"), "{text}");
    let joined = text.replace("\\\n", "");
    assert_eq!(joined.split_whitespace().collect::<Vec<_>>().join(" "), command);
    assert_eq!(continued(command, None), format!("     {command}\n"));
}

#[test]
fn the_machine_is_listed_with_its_limits_and_assumptions() {
    let why = "the hypervisor offers no counters".to_owned();
    let machine = Machine {
        environment: fixture::run().environment,
        notes: vec![
            "The C library is imaginary; nothing more is to be said of it than fits into one line.".into(),
        ],
        not_measurable: vec![NotMeasurable { what: "cycles by counter".into(), why }],
        assumed: vec!["no last cache level is reported: 32 MiB are assumed".to_owned()],
    };
    insta::assert_snapshot!(machine.to_text(NARROW), @"
    machine
    ─────────────────────────────────
    cpu.cores        2
    cpu.model        Imaginary 9000
    flags            avx2, avx512f
    governor         unknown
    virtual_machine  yes

    The C library is imaginary; nothing more is to be said of it than fits into one
      line.

    Cannot be measured here
    cycles by counter: the hypervisor offers no counters

    Assumed here
    no last cache level is reported: 32 MiB are assumed
    ");
    let nested = serde_json::json!({"caches": [{"level": 1}, {"level": 2}], "none": []});
    assert_eq!(
        flatten(&nested).into_iter().map(|(key, _)| key).collect::<Vec<_>>(),
        ["caches.1.level", "caches.2.level", "none"]
    );
}
