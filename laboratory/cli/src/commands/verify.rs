//! `carryline verify`: verify variants, or show the smallest input for which they fail.

use crate::cli::{Common, Format, Verify};
use crate::output;
use carryline_engine::failure::{Failure, status};
use carryline_engine::forecast::PROOF;
use carryline_engine::progress::Progress;
use carryline_engine::prove::{self, Proof, Verdict};
use carryline_engine::session::{self, is_known_bad};
use carryline_engine::{interrupt, select};
use carryline_report::listing::{self, ProofLine, ProofList, to_json};
use carryline_verification::subject::SubjectId;
use carryline_verification::{Counterexample, ProofSummary};

/// Verifies what was requested.
pub fn run(args: &Verify, common: &Common) -> Result<u8, Failure> {
    let families = select::families(&args.family)?;
    let supervisor = session::supervisor(args.patience)?;
    let plugins = select::plugins(&args.plugin, &supervisor)?;
    let variants = match (args.names.is_empty(), plugins.is_empty()) {
        (false, _) => select::variants(&args.names, &families)?,
        (true, true) => carryline_variants::all().filter(|v| families.contains(&v.family())).collect(),
        (true, false) => Vec::new(),
    };
    let mut subjects: Vec<SubjectId> = variants
        .iter()
        .map(|variant| SubjectId { family: variant.family(), name: variant.name.to_owned() })
        .collect();
    subjects.extend(plugins.iter().map(|(_, id)| id.clone()));

    let progress = Progress::new(PROOF * subjects.len() as u32, common.quiet);
    let proofs = prove::all(&supervisor, &plugins, &subjects, session::seed(common.seed), &progress)?;
    progress.finish();
    let list = ProofList { results: proofs.iter().map(line).collect() };
    match common.format {
        Format::Table => output::print(&list.to_text(output::style()))?,
        Format::Json => output::print(&to_json(&list)?)?,
    }
    let wrong = proofs.iter().any(|proof| is_shown_wrong(&proof.verdict) && !is_known_bad(proof));
    Ok(match (interrupt::requested(), wrong, list.results.iter().all(|line| line.good)) {
        (true, ..) => status::INTERRUPTED,
        (false, true, _) => status::WRONG,
        (false, false, false) => status::FAILED,
        (false, false, true) => 0,
    })
}

/// True if a fault was found, and found again.
fn is_shown_wrong(verdict: &Verdict) -> bool {
    matches!(verdict, Verdict::Wrong(_) | Verdict::Crashed(_) | Verdict::TimedOut(_))
}

/// A verification as a line of the list.
fn line(proof: &Proof) -> ProofLine {
    let known_bad = is_known_bad(proof);
    let (verdict, good, detail, found) = match &proof.verdict {
        Verdict::Proved(_) if known_bad => {
            let detail = "declared wrong, and yet nothing wrong was found";
            ("known-bad, NOT caught", false, Some(detail.to_owned()), None)
        }
        Verdict::Proved(summary) => ("right", true, Some(covered(summary)), None),
        Verdict::Wrong(found) if known_bad => ("known-bad, caught", true, None, Some(found)),
        Verdict::Wrong(found) => ("wrong", false, None, Some(found)),
        Verdict::Crashed(found) | Verdict::TimedOut(found) if known_bad => {
            ("known-bad, caught", true, None, Some(found))
        }
        Verdict::Crashed(found) => ("crashed", false, None, Some(found)),
        Verdict::TimedOut(found) => ("timed_out", false, None, Some(found)),
        Verdict::Unsupported(reason) => ("unsupported", true, Some(reason.clone()), None),
        Verdict::NotProved(reason) => ("not verified", false, Some(reason.clone()), None),
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

/// What a verification did, in words.
fn covered(summary: &ProofSummary) -> String {
    let calls = format!("{} calls in {} ms", summary.calls, summary.elapsed_ns / 1_000_000);
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
        sentence: found.sentence.clone(),
    }
}

/// A failed verification in one sentence.
pub fn sentence(proof: &Proof) -> String {
    let line = line(proof);
    let found = line.counterexample.map(|found| found.sentence);
    let parts: Vec<String> = line.detail.into_iter().chain(found).collect();
    format!("{} is {}: {}", proof.subject, line.verdict, parts.join("; "))
}
