//! What the commands that measure have in common: what the command line decides, checked, and the run made of it.

use crate::cli::{Common, Effort, Format, Subjects};
use crate::output;
use carryline_engine::failure::{Failure, usage};
use carryline_engine::forecast::{Forecast, Speed};
use carryline_engine::machine::Here;
use carryline_engine::plan::RunPlan;
use carryline_engine::prove;
use carryline_engine::select::{self, Selection};
use carryline_engine::session::{self, Finished, RunContext};
use carryline_engine::supervise::Supervisor;
use carryline_engine::thresholds::{Needs, Schedule};
use carryline_report::units::Unit;
use carryline_results::Warning;
use carryline_results::gather::Situation;
use carryline_verification::Depth;
use carryline_verification::subject::SubjectId;
use serde::Serialize;
use std::time::Duration;

/// Worker processes that each measure everything again.
pub const REPLICATES: u32 = 5;

/// Everything about a run that the command line decides, checked.
pub struct Prepared {
    /// How workers are started.
    pub supervisor: Supervisor,
    /// Who takes part.
    pub selection: Selection,
    /// The unit of the figures.
    pub unit: Unit,
    /// The logical CPU to measure on.
    pub cpu: Option<usize>,
}

impl Prepared {
    /// Reads what the user requested.
    pub fn new(subjects: &Subjects, effort: &Effort, here: &Here) -> Result<Prepared, Failure> {
        let cpu = here.cpu(effort.cpu)?;
        let supervisor = session::supervisor(effort.patience)?;
        let families = select::families(&subjects.family)?;
        let named = !subjects.variants.is_empty();
        let variants = match named {
            true => select::variants(&subjects.variants, &families)?,
            false => carryline_variants::all().collect(),
        };
        let plugins = select::plugins(&subjects.plugin, &supervisor)?;
        // Who names subjects without naming families means the families of those subjects.
        let families = match subjects.family.is_empty() && (named || !plugins.is_empty()) {
            true => families
                .into_iter()
                .filter(|family| {
                    let has = |id: &carryline_verification::subject::SubjectId| id.family == *family;
                    named && variants.iter().any(|v| v.family() == *family)
                        || plugins.iter().any(|(_, id)| has(id))
                })
                .collect(),
            false => families,
        };
        if let Some((word, id)) = plugins.iter().find(|(_, id)| !families.contains(&id.family)) {
            return Err(usage(format!(
                "plug-in '{word}' is of family {}, which --family leaves out",
                id.family
            )));
        }
        Ok(Prepared {
            supervisor,
            selection: Selection { families, variants, plugins, named },
            unit: effort.unit,
            cpu,
        })
    }

    /// The plan for these situations.
    pub fn plan(
        &self,
        situations: Vec<Situation>,
        effort: &Effort,
        budget: Duration,
        common: &Common,
    ) -> RunPlan {
        RunPlan {
            situations: situations.into_iter().filter(|situation| !situation.subjects.is_empty()).collect(),
            plugins: self.selection.plugins.clone(),
            replicates: effort.replicates.unwrap_or(REPLICATES),
            most_replicates: effort.replicates.unwrap_or(2 * REPLICATES),
            budget: effort.budget.unwrap_or(budget),
            seed: session::seed(common.seed),
            patience: self.supervisor.patience,
        }
    }

    /// Makes the run; `None` if only the plan was wanted, which is printed.
    pub fn execute(
        &self,
        plan: &RunPlan,
        effort: &Effort,
        here: &Here,
        warnings: Vec<Warning>,
        common: &Common,
    ) -> Result<Option<Finished>, Failure> {
        let mut plan = plan.clone();
        here.check_memory(&plan.situations)?;
        if let Some(path) = &effort.report {
            output::check_writable(path)?;
        }
        let speed = std::cell::OnceCell::new();
        let speed = || *speed.get_or_init(Speed::here);
        let mut forecast = Forecast::of(&plan, here, Depth::Full, speed);
        let fewer = forecast.replicates_within(plan.budget, plan.replicates);
        if effort.replicates.is_none() && fewer < plan.replicates {
            output::note(
                &format!(
                    "{fewer} of {} replicates, for the budget of {:.0} s",
                    plan.replicates,
                    plan.budget.as_secs_f64()
                ),
                common,
            );
            plan.replicates = fewer;
            forecast = Forecast::of(&plan, here, Depth::Full, speed);
        }
        let plan = &plan;
        if let Some(sentence) = forecast.against(plan.budget) {
            output::note(&sentence, common);
        }
        if effort.plan {
            print_plan(plan, &forecast, common)?;
            return Ok(None);
        }
        let setting = RunContext {
            here,
            supervisor: &self.supervisor,
            selection: &self.selection,
            depth: Depth::Full,
            cpu: self.cpu,
            save: !effort.no_save,
            db: common.db.as_deref(),
            quiet: common.quiet,
            warnings,
        };
        session::execute(plan, &setting).map(Some)
    }
}

fn print_plan(plan: &RunPlan, forecast: &Forecast, common: &Common) -> Result<(), Failure> {
    if common.format == Format::Json {
        #[derive(Serialize)]
        struct Public<'a> {
            #[serde(flatten)]
            plan: &'a RunPlan,
            forecast: Least,
        }
        /// What the plan needs at least.
        #[derive(Serialize)]
        struct Least {
            verification_s: f64,
            processes: u32,
            process_s: f64,
            filled_bytes: u64,
            total_s: f64,
            holds: bool,
        }
        let forecast = Least {
            verification_s: forecast.proof.as_secs_f64(),
            processes: forecast.processes,
            process_s: forecast.each.as_secs_f64(),
            filled_bytes: forecast.filled_bytes,
            total_s: forecast.total().as_secs_f64(),
            holds: forecast.against(plan.budget).is_none(),
        };
        return output::print_json("plan", &Public { plan, forecast }, common);
    }
    let cells: usize = plan.situations.iter().map(|situation| situation.subjects.len()).sum();
    let needs = Needs::of(plan);
    let lacks = |id: &SubjectId| prove::unsupported(id).is_some();
    let kinds = match Schedule::of(plan, &needs, |id| !lacks(id)).processes(1) {
        1 => "",
        _ => " with each of the C library's thresholds",
    };
    let mut text = format!(
        "{} situations, {} subjects, {cells} cells, {} replicates{kinds}, about {:.0} s\n\n",
        plan.situations.len(),
        plan.subjects().len(),
        plan.replicates,
        plan.budget.max(forecast.total()).as_secs_f64()
    );
    for situation in &plan.situations {
        text.push_str(&format!("{}: {}\n", situation.name, situation.subjects.join(", ")));
    }
    output::print(&text)
}
