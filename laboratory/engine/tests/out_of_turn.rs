//! Answers that violate the protocol are errors and never dropped: about a situation out of turn, or about a
//! subject that is not in the job.
#![cfg(target_os = "linux")]

use carryline_conditions::Condition;
use carryline_engine::measure::{self, MeasureContext, Measurement};
use carryline_engine::plan::RunPlan;
use carryline_engine::progress::Progress;
use carryline_engine::protocol::{CHANNEL_VARIABLE, MeasureAnswer, Message, TOKEN_VARIABLE};
use carryline_engine::standard;
use carryline_engine::supervise::{SuperviseError, Supervisor};
use carryline_machine::environment::CacheSizes;
use carryline_results::Observed;
use carryline_results::round::Round;
use carryline_variants::Family;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::{Duration, Instant};

/// A program that sends these answers whatever its job. Not every shell can write to a three-digit
/// descriptor.
fn worker_that_sends(answers: &[MeasureAnswer], folder: &Path) -> Supervisor {
    let messages = answers.iter().cloned().map(Message::Answer).chain([Message::Done]);
    let lines = messages.map(|message| {
        let json = serde_json::to_string(&message).expect("plain data");
        format!("printf '%s %s\\n' \"${TOKEN_VARIABLE}\" '{json}' >/proc/self/fd/\"${CHANNEL_VARIABLE}\"\n")
    });
    let program = folder.join("worker");
    std::fs::write(&program, format!("#!/bin/sh\n{}", lines.collect::<String>())).expect("written");
    std::fs::set_permissions(&program, PermissionsExt::from_mode(0o755)).expect("a program");
    Supervisor { program, patience: Duration::from_secs(60), environment: Vec::new() }
}

/// Measures one situation, number 0, with a worker that sends these answers.
fn measured(answers: &[MeasureAnswer]) -> Result<Measurement, SuperviseError> {
    let subjects = |_| (vec!["carryline".to_owned()], Some(0));
    let plan = RunPlan {
        situations: vec![standard::situation(Family::Zero, Condition::plain(4096), 1.0, &subjects)],
        plugins: Vec::new(),
        replicates: 1,
        most_replicates: 1,
        budget: Duration::from_secs(1),
        seed: 1,
        patience: Duration::from_secs(1),
    };
    let folder = tempfile::tempdir().expect("a folder");
    let supervisor = worker_that_sends(answers, folder.path());
    let context = MeasureContext {
        supervisor: &supervisor,
        caches: CacheSizes { l1: 32 << 10, l2: 1 << 20, l3: 32 << 20, l3_held: None },
        cpu: None,
        deadline: Instant::now() + Duration::from_secs(1),
        progress: &Progress::new(Duration::from_secs(1), true),
        first_replicate: 0,
        stop: &|| false,
    };
    measure::run(&plan, &[], &context, &mut |_| {})
}

// One test: a concurrent fork would keep the program open for writing when it is started.
#[test]
fn answers_out_of_turn_are_errors() {
    let with = |members| MeasureAnswer::Begin { situation: 0, members, steady: true };
    let begin = |situation| MeasureAnswer::Begin { situation, members: vec![0, 0], steady: true };
    let round =
        |situation| MeasureAnswer::Round { situation, round: Round { null_ticks: 4.0, ..Round::of(2) } };
    let end = |situation| MeasureAnswer::End { situation, observed: Observed::default(), wrong: Vec::new() };

    let in_turn = measured(&[begin(0), round(0), end(0)]).expect("nothing is out of turn");
    let rounds: Vec<f64> = in_turn.gathered[0].null().concat();
    assert_eq!(rounds, [4.0], "the answers are accepted");

    let impossible = MeasureAnswer::Impossible { situation: 3, reason: "no memory".to_owned() };
    for (answers, stray) in [
        (vec![round(0), end(0)], 0),
        (vec![end(0)], 0),
        (vec![begin(0), round(0), end(0), round(0)], 0),
        (vec![begin(0), round(1)], 1),
        (vec![begin(2)], 2),
        (vec![impossible], 3),
    ] {
        let error = measured(&answers).err().unwrap_or_else(|| panic!("dropped: {answers:?}"));
        assert!(
            matches!(error, SuperviseError::Unannounced { situation } if situation == stray),
            "{answers:?}: {error}"
        );
    }

    let wrong = MeasureAnswer::End { situation: 0, observed: Observed::default(), wrong: vec![2] };
    let unproved = MeasureAnswer::Unproved { subject: 1, reason: "no memory".to_owned() };
    for (answers, stray) in [
        (vec![unproved], 1),
        (vec![with(vec![0, 1])], 1),
        (vec![with(vec![0, 0, 0])], 0),
        (vec![begin(0), round(0), wrong], 2),
    ] {
        let error = measured(&answers).err().unwrap_or_else(|| panic!("dropped: {answers:?}"));
        assert!(
            matches!(error, SuperviseError::NotInJob { subject } if subject == stray),
            "{answers:?}: {error}"
        );
    }
}
