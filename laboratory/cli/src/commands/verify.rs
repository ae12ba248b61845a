//! `carryline verify`: verifies variants, or shows the smallest input for which they fail.

use crate::cli::{Common, Format, Verify};
use crate::output;
use carryline_engine::failure::{Failure, status};
use carryline_engine::forecast;
use carryline_engine::progress::Progress;
use carryline_engine::prove::{self, Proof, ProofVerdict};
use carryline_engine::session::{self, is_known_bad};
use carryline_engine::{interrupt, select};
use carryline_report::listing::{self, Coverage, NotTried, ProofLine, ProofList};
use carryline_report::units::{counted, number_with};
use carryline_variants::Family;
use carryline_verification::subject::SubjectId;
use carryline_verification::tally::{self, CANNOT_SEE, Tried};
use carryline_verification::{Counterexample, Depth, ProofSummary};
use std::collections::BTreeMap;
use std::time::Duration;

/// Verifies the chosen subjects.
pub fn run(args: &Verify, common: &Common) -> Result<u8, Failure> {
    let families = select::families(&args.family)?;
    let supervisor = session::supervisor(args.patience)?;
    let plugins = select::plugins(&args.plugin, &supervisor)?;
    select::require_families(&plugins, &families)?;
    let variants = match (args.names.is_empty(), plugins.is_empty()) {
        (false, _) => select::variants(&args.names, &families, &plugins)?,
        (true, true) => carryline_variants::all().filter(|v| families.contains(&v.family())).collect(),
        (true, false) => Vec::new(),
    };
    let mut subjects: Vec<SubjectId> = variants
        .iter()
        .map(|variant| SubjectId { family: variant.family(), name: variant.name.to_owned() })
        .collect();
    subjects.extend(plugins.iter().map(|(_, id)| id.clone()));

    let runs = subjects.iter().filter(|subject| prove::unsupported(subject).is_none()).count();
    let expected = forecast::verification(runs, Depth::Full);
    let progress = Progress::with_verification(expected, Duration::ZERO, Duration::ZERO, common.quiet);
    let proofs = prove::all(&supervisor, &plugins, &subjects, session::seed(common.seed), &progress)?;
    progress.finish();
    let left = interrupt::requested().then(|| subjects.len() - proofs.len());
    let list = ProofList { results: proofs.iter().map(line).collect(), coverage: coverage(&proofs), left };
    output::print_result("verify", &list, |style| list.to_text(style), common)?;
    if interrupt::requested() && common.format == Format::Json {
        output::end_of_partial(common)?;
    }
    let usable = list.results.iter().filter(|line| line.verdict != listing::UNSUPPORTED).count();
    let wrong = proofs.iter().any(|proof| is_confirmed_wrong(&proof.verdict) && !is_known_bad(proof));
    let slow =
        proofs.iter().any(|proof| matches!(proof.verdict, ProofVerdict::TimedOut(_)) && !is_known_bad(proof));
    Ok(if interrupt::requested() {
        status::INTERRUPTED
    } else if wrong {
        status::WRONG
    } else if slow {
        status::UNDECIDED
    } else if usable > 0 && list.results.iter().all(|line| line.good) {
        0
    } else {
        status::FAILED
    })
}

/// True if a fault was found and confirmed.
fn is_confirmed_wrong(verdict: &ProofVerdict) -> bool {
    matches!(verdict, ProofVerdict::Wrong(_) | ProofVerdict::Crashed(_))
}

/// The line of the list for a verification.
fn line(proof: &Proof) -> ProofLine {
    let known_bad = is_known_bad(proof);
    let (verdict, good, detail, found) = match &proof.verdict {
        ProofVerdict::Proved(_) if known_bad => {
            let detail = "marked known-bad, but no failing input was found";
            ("known-bad, NOT caught", false, Some(detail.to_owned()), None)
        }
        ProofVerdict::Proved(summary) => ("right", true, Some(calls_and_notes(summary)), None),
        ProofVerdict::Wrong(found) if known_bad => ("known-bad, caught", true, None, Some(found)),
        ProofVerdict::Wrong(found) => ("wrong", false, None, Some(found)),
        ProofVerdict::Crashed(found) | ProofVerdict::TimedOut(found) if known_bad => {
            ("known-bad, caught", true, None, Some(found))
        }
        ProofVerdict::WrongLater(reason) => ("wrong", false, Some(reason.clone()), None),
        ProofVerdict::Crashed(found) => ("crashed", false, None, Some(found)),
        ProofVerdict::TimedOut(found) => ("timed_out", false, None, Some(found)),
        ProofVerdict::Unsupported(reason) => (listing::UNSUPPORTED, true, Some(reason.clone()), None),
        ProofVerdict::NotProved(reason) => ("not verified", false, Some(reason.clone()), None),
    };
    ProofLine {
        variant: proof.subject.name.clone(),
        family: proof.subject.family,
        verdict: verdict.to_owned(),
        good,
        detail,
        counterexample: found.map(|found| counterexample(found)),
    }
}

/// What was tried on all subjects found right, and what could not be tried.
fn coverage(proofs: &[Proof]) -> Coverage {
    let mut families: Vec<(Family, Vec<Tried>)> = Vec::new();
    let mut lacks: BTreeMap<&str, u64> = BTreeMap::new();
    for proof in proofs {
        let ProofVerdict::Proved(summary) = &proof.verdict else { continue };
        let family = proof.subject.family;
        match families.iter_mut().find(|(name, _)| *name == family) {
            Some((_, tried)) => tally::add(tried, &summary.tried),
            None => families.push((family, summary.tried.clone())),
        }
        for note in summary.notes.iter().filter(|note| note.starts_with("not tried")) {
            *lacks.entry(note).or_default() += 1;
        }
    }
    let words = |family: Family, tried: &Tried| listing::Tried {
        family,
        check: tried.check.to_string(),
        length: tried.length.to_string(),
        offsets: tried.offsets.to_string(),
        placement: tried.placement.to_string(),
        calls: tried.calls,
    };
    for (_, tried) in &mut families {
        tried.sort_by_key(|tried| (tried.check, tried.length, tried.offsets, tried.placement));
    }
    let not_tried = |(what, variants): (&str, u64)| NotTried { what: what.to_owned(), variants };
    Coverage {
        tried: families
            .iter()
            .flat_map(|(family, tried)| tried.iter().map(|one| words(*family, one)))
            .collect(),
        not_tried: lacks.into_iter().map(not_tried).collect(),
        cannot_see: CANNOT_SEE.iter().map(|&what| what.to_owned()).collect(),
    }
}

/// The number of calls and the notes of a verification.
fn calls_and_notes(summary: &ProofSummary) -> String {
    let ms = number_with((summary.elapsed_ns / 1_000_000) as f64, 0);
    let calls = format!("{} in {ms} ms", counted(summary.calls, "call"));
    std::iter::once(calls).chain(summary.notes.iter().cloned()).collect::<Vec<_>>().join("; ")
}

fn counterexample(found: &Counterexample) -> listing::Counterexample {
    listing::Counterexample {
        length: found.len,
        dst_offset: found.dst_offset,
        src_offset: found.src_offset,
        seed: found.seed.map(u64::from),
        bytes: found.bytes.clone().unwrap_or_else(|| found.pattern.clone()),
        expected: found.expected.clone(),
        got: found.got.clone(),
        earlier: found.earlier.iter().map(ToString::to_string).collect(),
        sentence: found.sentence.clone(),
    }
}

/// A failed verification in a sentence.
pub fn sentence(proof: &Proof) -> String {
    let line = line(proof);
    let found = line.counterexample.map(|found| found.sentence);
    let remedy =
        matches!(proof.verdict, ProofVerdict::TimedOut(_)).then(|| "--patience waits longer".to_owned());
    let parts: Vec<String> = line.detail.into_iter().chain(found).chain(remedy).collect();
    let verdict = match proof.verdict {
        ProofVerdict::Crashed(_) => "crashed".to_owned(),
        ProofVerdict::TimedOut(_) => "hung".to_owned(),
        _ => format!("is {}", line.verdict),
    };
    format!("{} {verdict}: {}", proof.subject, parts.join("; "))
}
