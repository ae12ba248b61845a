//! `carryline` alone: a tour of about twenty seconds.

use super::run::{conclude, ranked};
use crate::cli::{Common, Detail, Effort, Format, Workers};
use crate::output;
use carryline_engine::failure::{Failure, usage};
use carryline_engine::forecast::{Forecast, Speed};
use carryline_engine::machine::Here;
use carryline_engine::plan::RunPlan;
use carryline_engine::prove::{self, ProofVerdict};
use carryline_engine::select::Selection;
use carryline_engine::session::{self, Finished, RunContext, is_known_bad};
use carryline_engine::standard;
use carryline_report::advice::advice;
use carryline_report::roles::Roles;
use carryline_report::text::{enumerate, wrap};
use carryline_report::units::{Unit, byte_phrase};
use carryline_variants::Family;
use carryline_verification::Depth;
use std::time::Duration;

/// The budget, if it suffices; the whole tour then takes less than twenty seconds.
const BUDGET: Duration = Duration::from_secs(18);
/// Full verification alone would take as long, so the tour tests a sample of the inputs, and says so.
const DEPTH: Depth = Depth::Replicate;
const REPLICATES: u32 = 3;

/// Shows the machine, the verification, three rankings, and further commands.
pub fn run(common: &Common) -> Result<u8, Failure> {
    let here = Here::look();
    let families = Family::ALL.to_vec();
    let variants = carryline_variants::all().collect();
    let selection = Selection { families, variants, plugins: Vec::new(), named: false };
    let subjects = |family| selection.subjects(family);
    let situations = standard::situations(&here.caches, &selection.families, true, &[], &subjects)
        .map_err(|error| usage(error.to_string()))?;
    let supervisor = session::supervisor(10)?;
    let mut plan = RunPlan {
        situations,
        plugins: Vec::new(),
        replicates: REPLICATES,
        most_replicates: 2 * REPLICATES,
        budget: BUDGET,
        seed: session::seed(common.seed),
        patience: supervisor.patience,
    };
    here.check_memory(&plan.situations)?;
    let forecast = Forecast::of(&plan, &here, DEPTH, Speed::here);
    plan.budget = BUDGET.max(forecast.total());
    let context = RunContext {
        cpu: here.cpu(None)?,
        here: &here,
        supervisor: &supervisor,
        selection: &selection,
        depth: DEPTH,
        forecast,
        save: true,
        db: common.db.as_deref(),
        quiet: common.quiet,
        warnings: Vec::new(),
    };
    if common.format == Format::Table && !common.quiet {
        output::print(&introduction(&here, &plan))?;
    }
    let finished = session::execute(&plan, &context)?;
    let text = story(&finished)?;
    let effort = Effort {
        budget: None,
        replicates: None,
        unit: Unit::Ticks,
        plan: false,
        report: None,
        label: None,
        no_save: false,
        workers: Workers { cpu: None, patience: 10 },
    };
    conclude(&finished, &text, Unit::Ticks, &effort, common)
}

fn introduction(here: &Here, plan: &RunPlan) -> String {
    // What cannot run here is not verified, and named at the end.
    let subjects = plan.subjects().iter().filter(|id| prove::unsupported(id).is_none()).count();
    let caches = [here.caches.l1, here.caches.l2, here.caches.l3].map(byte_phrase);
    let machine = format!(
        "The machine: {}, caches {}.",
        carryline_report::advice::described(&here.environment),
        caches.join(", ")
    );
    let next = format!(
        "Verifying {subjects} variants, then measuring three situations; this takes about {} s.",
        plan.budget.as_secs() + 1
    );
    [machine, next].map(|line| wrap(&line, output::style().width, 2) + "\n").concat()
}

/// The subjects with such a verdict, except those known to be wrong.
fn subjects(finished: &Finished, is: impl Fn(&ProofVerdict) -> bool) -> Vec<String> {
    let proofs = finished.proofs.iter().filter(|proof| is(&proof.verdict) && !is_known_bad(proof));
    proofs.map(|proof| proof.subject.to_string()).collect()
}

/// The result of the tour as text.
fn story(finished: &Finished) -> Result<String, Failure> {
    let style = output::style();
    let proved =
        finished.proofs.iter().filter(|proof| matches!(proof.verdict, ProofVerdict::Proved(_))).count();
    let run =
        finished.proofs.iter().filter(|proof| !matches!(proof.verdict, ProofVerdict::Unsupported(_))).count();
    let mut text = format!("Verification: {proved} of {run} variants were right on every input of a sample");
    let lacking: Vec<String> = subjects(finished, |verdict| matches!(verdict, ProofVerdict::Unsupported(_)));
    let others = subjects(finished, |verdict| {
        !matches!(verdict, ProofVerdict::Proved(_) | ProofVerdict::Unsupported(_))
    });
    if !others.is_empty() {
        text.push_str(&format!("; not verified: {}", others.join(", ")));
    }
    text.push('.');
    if !lacking.is_empty() {
        let verb = if lacking.len() == 1 { "needs" } else { "need" };
        text.push_str(&format!(" {} {verb} features that this machine lacks.", enumerate(&lacking)));
    }
    let mut text = wrap(&text, style.width, 2);
    text.push_str("\n\n");
    text.push_str(&ranked(&finished.result, Unit::Ticks, Detail::default())?);
    text.push_str(&format!(
        "\n{}\n",
        wrap(&advice(&finished.result, &Roles::of_collection()).trust_line(), style.width, 2)
    ));
    if finished.interrupted {
        text.push_str(&format!("\n{}\n", output::INTERRUPTED));
        return Ok(text);
    }
    text.push_str(
        "\nNext steps:\n  \
         carryline run                      every situation, and the routine to use\n  \
         carryline verify                   full verification; known-bad routines too\n  \
         carryline measure --sizes 40,1500  your own sizes, cache states, alignments\n  \
         carryline list                     the variants and their origin\n  \
         carryline explain gross            the meaning of terms and warnings\n",
    );
    Ok(text)
}
