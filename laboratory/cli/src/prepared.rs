//! The common part of commands that measure: checks the options, then plans and executes the run.

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
use carryline_report::text::wrap;
use carryline_report::units::{Unit, counted};
use carryline_results::Warning;
use carryline_results::gather::Situation;
use carryline_verification::Depth;
use carryline_verification::subject::SubjectId;
use serde::Serialize;
use std::time::Duration;

/// The default number of worker processes, each of which repeats all measurements.
pub const REPLICATES: u32 = 5;

/// The checked options of a run.
pub struct Prepared {
    /// Starts workers.
    pub supervisor: Supervisor,
    /// The families, variants and plug-ins to measure.
    pub selection: Selection,
    /// The unit of printed figures.
    pub unit: Unit,
    /// The logical CPU to measure on; `None` for the default.
    pub cpu: Option<usize>,
}

impl Prepared {
    /// Checks the options.
    ///
    /// # Errors
    /// If the CPU, a family, a variant or a plug-in is unknown or cannot be used.
    pub fn new(subjects: &Subjects, effort: &Effort, here: &Here) -> Result<Prepared, Failure> {
        let cpu = here.cpu(effort.workers.cpu)?;
        let supervisor = session::supervisor(effort.workers.patience)?;
        let families = select::families(&subjects.family)?;
        let plugins = select::plugins(&subjects.plugin, &supervisor)?;
        let named = !subjects.variants.is_empty();
        let variants = match named {
            true => select::variants(&subjects.variants, &families, &plugins)?,
            false => carryline_variants::all().collect(),
        };
        // Named subjects without named families select the families of those subjects.
        let families = match subjects.family.is_empty() && (named || !plugins.is_empty()) {
            true => families
                .into_iter()
                .filter(|family| {
                    let has = |id: &SubjectId| id.family == *family;
                    named && variants.iter().any(|v| v.family() == *family)
                        || plugins.iter().any(|(_, id)| has(id))
                })
                .collect(),
            false => families,
        };
        select::require_families(&plugins, &families)?;
        Ok(Prepared {
            supervisor,
            selection: Selection { families, variants, plugins, named },
            unit: effort.unit,
            cpu,
        })
    }

    /// Plans a run of these situations.
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

    /// Executes a plan, or prints it and returns `None` with `--plan`.
    ///
    /// # Errors
    /// If the plan needs too much memory, the page cannot be written, or the run fails.
    pub fn execute(
        &self,
        plan: &RunPlan,
        effort: &Effort,
        here: &Here,
        warnings: Vec<Warning>,
        common: &Common,
    ) -> Result<Option<Finished>, Failure> {
        let mut plan = plan.clone();
        let usual = plan.budget;
        if plan.situations.is_empty() {
            return Err(usage("nothing to measure: no variant or plug-in is of these families"));
        }
        here.check_memory(&plan.situations)?;
        if let Some(path) = &effort.report {
            if output::is_stdout(path) {
                return Err(usage("--report -: the results go to standard output; name a file"));
            }
            output::check_writable(path)?;
        }
        let speed = std::cell::OnceCell::new();
        let speed = || *speed.get_or_init(Speed::here);
        let mut forecast = Forecast::of(&plan, here, Depth::Full, speed);
        if effort.budget.is_none() {
            // Only a budget that the user has given can be too short.
            plan.budget = forecast.budget_of_at_least(plan.budget);
        }
        let fewer = forecast.replicates_within(plan.budget, plan.replicates);
        if effort.replicates.is_none() && fewer < plan.replicates {
            output::note(
                &format!(
                    "{fewer} of {} replicates, for a budget of {} s",
                    plan.replicates,
                    plan.budget.as_secs_f64()
                ),
                common,
            );
            plan.replicates = fewer;
            forecast = Forecast::of(&plan, here, Depth::Full, speed);
        }
        let grown = plan.budget > usual;
        let plan = &plan;
        if let Some(note) = forecast.against(plan.budget) {
            output::note(&note, common);
        }
        if effort.plan {
            print_plan(plan, &forecast, common)?;
            return Ok(None);
        }
        if grown {
            output::note(&format!("this takes {}, as --plan shows", forecast.expected(plan.budget)), common);
        }
        let setting = RunContext {
            here,
            supervisor: &self.supervisor,
            selection: &self.selection,
            depth: Depth::Full,
            forecast,
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
            forecast: Minimum,
        }
        /// The minimum that the plan needs.
        #[derive(Serialize)]
        struct Minimum {
            verification_s: f64,
            processes: u32,
            process_s: f64,
            filled_bytes: u64,
            total_s: f64,
            holds: bool,
        }
        let forecast = Minimum {
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
        _ => " with each set of C library thresholds",
    };
    let count = |number: usize, thing: &str| counted(number as u64, thing);
    let head = format!(
        "{}, {}, {}, {}{kinds}, {}",
        count(plan.situations.len(), "situation"),
        count(plan.subjects().len(), "subject"),
        count(cells, "cell"),
        counted(u64::from(plan.replicates), "replicate"),
        forecast.expected(plan.budget)
    );
    let width = output::style().width;
    let mut text = wrap(&head, width, 2) + "\n\n";
    for situation in &plan.situations {
        let line = format!("{}: {}", situation.name, situation.subjects.join(", "));
        text.push_str(&wrap(&line, width, 2));
        text.push('\n');
    }
    output::print(&text)
}
