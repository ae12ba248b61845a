//! `carryline` alone: a tour of about 20 seconds.

use super::run::conclude;
use crate::cli::{Common, Effort, Format};
use crate::output;
use carryline_engine::failure::{Failure, usage};
use carryline_engine::machine::Here;
use carryline_engine::plan::Plan;
use carryline_engine::prove::Verdict;
use carryline_engine::select::Selection;
use carryline_engine::session::{self, Finished, Setting, is_known_bad};
use carryline_engine::standard;
use carryline_report::ranking::{legend, rankings};
use carryline_report::roles::Roles;
use carryline_report::units::Unit;
use carryline_variants::Family;
use std::time::Duration;

/// Time for verification and measurement: the whole tour then takes about 20 seconds.
const BUDGET: Duration = Duration::from_secs(19);
const REPLICATES: u32 = 4;

/// Shows the machine, verification, three rankings, and where to go from there.
pub fn run(common: &Common) -> Result<u8, Failure> {
    let here = Here::look();
    let families = Family::ALL.to_vec();
    let variants = carryline_variants::all().collect();
    let selection = Selection { families, variants, plugins: Vec::new(), named: false };
    let subjects = |family| selection.subjects(family);
    let situations = standard::situations(&here.caches, &selection.families, true, &[], &subjects)
        .map_err(|error| usage(error.to_string()))?;
    let supervisor = session::supervisor(10)?;
    let plan = Plan {
        situations,
        plugins: Vec::new(),
        replicates: REPLICATES,
        most_replicates: 2 * REPLICATES,
        budget: BUDGET,
        seed: session::seed(common.seed),
        patience: supervisor.patience,
    };
    here.check_memory(&plan.situations)?;
    let setting = Setting {
        cpu: here.cpu(None)?,
        here: &here,
        supervisor: &supervisor,
        selection: &selection,
        save: true,
        db: common.db.as_deref(),
        quiet: common.quiet,
        warnings: Vec::new(),
    };
    if common.format == Format::Table && !common.quiet {
        output::print(&introduction(&here, plan.subjects().len()))?;
    }
    let finished = session::execute(&plan, &setting)?;
    let text = story(&finished)?;
    let effort = Effort {
        budget: None,
        replicates: None,
        unit: Unit::Ticks,
        plan: false,
        report: None,
        label: None,
        no_save: false,
        cpu: None,
        patience: 10,
    };
    conclude(&finished, &text, Unit::Ticks, &effort, common)
}

fn introduction(here: &Here, subjects: usize) -> String {
    let cpu = &here.environment.cpu;
    let caches = here.caches;
    format!(
        "The machine: {}, {} CPUs, caches {} KiB, {} KiB, {} MiB.\n\
         Verifying {subjects} variants, then measuring three situations; this takes about {} s.\n",
        cpu.brand.as_deref().unwrap_or("an unnamed CPU"),
        cpu.logical_cpus,
        caches.l1 >> 10,
        caches.l2 >> 10,
        caches.l3 >> 20,
        BUDGET.as_secs() + 1,
    )
}

fn story(finished: &Finished) -> Result<String, Failure> {
    let style = output::style();
    let proved = finished.proofs.iter().filter(|proof| matches!(proof.verdict, Verdict::Proved(_))).count();
    let mut text = format!(
        "Verification: {proved} of {} variants are correct on every input tried",
        finished.proofs.len()
    );
    let others: Vec<String> = finished
        .proofs
        .iter()
        .filter(|proof| !matches!(proof.verdict, Verdict::Proved(_)) && !is_known_bad(proof))
        .map(|proof| proof.subject.to_string())
        .collect();
    match others.is_empty() {
        true => text.push_str(".\n\n"),
        false => text.push_str(&format!("; not {}.\n\n", others.join(", "))),
    }
    for ranking in rankings(&finished.result, Unit::Ticks, &Roles::of_collection())? {
        text.push_str(&ranking.to_text(style));
        text.push('\n');
    }
    text.push_str(&legend(Unit::Ticks, style));
    text.push_str(
        "\nWhere to go from here:\n  \
         carryline run                        every situation, and what to use here\n  \
         carryline verify                     full verification, with known-bad routines\n  \
         carryline measure --sizes 40,1500    your own sizes, cache states, alignments\n  \
         carryline list                       the variants and their origin\n  \
         carryline explain gross              the meaning of terms and warnings\n",
    );
    Ok(text)
}
