//! `carryline run`: prove, measure the standard matrix, rank, recommend, save.

use crate::cli::{Common, Effort, Format, Run, Subjects};
use crate::engine::machine::Here;
use crate::engine::plan::Plan;
use crate::engine::select::{self, Selection};
use crate::engine::session::{self, Finished, Setting};
use crate::engine::thresholds::{Needs, Schedule};
use crate::engine::{prove, standard};
use crate::failure::{Failure, status, usage};
use crate::output;
use carryline_conditions::sizes::Sizes;
use carryline_measure::supervise::Supervisor;
use carryline_report::page::{About, page};
use carryline_report::ranking::{legend, rankings};
use carryline_report::recommend::recommend;
use carryline_report::roles::Roles;
use carryline_report::units::Unit;
use carryline_report::{json, limits};
use carryline_results::gather::Situation;
use carryline_results::{RunResult, Warning};
use carryline_verification::subject::SubjectId;
use carryline_warnings as warning;
use std::time::Duration;

/// Time that a run takes unless told otherwise.
const BUDGET: Duration = Duration::from_secs(60);
/// Worker processes that each measure everything anew.
pub const REPLICATES: u32 = 5;

/// Runs the standard matrix.
pub fn run(args: &Run, common: &Common) -> Result<u8, Failure> {
    let here = Here::look();
    let prepared = Prepared::new(&args.subjects, &args.effort, &here)?;
    let (sizes, warnings) = read_sizes(args.sizes.as_deref())?;
    let subjects = |family| prepared.selection.subjects(family);
    let situations =
        standard::situations(&here.caches, &prepared.selection.families, false, &sizes, &subjects)
            .map_err(|error| usage(error.to_string()))?;
    let plan = prepared.plan(situations, &args.effort, BUDGET, common);
    let Some(finished) = prepared.execute(&plan, &args.effort, &here, warnings, common)? else {
        return Ok(0);
    };
    let text = ranked_result(&finished.result, prepared.unit)?;
    conclude(&finished, &text, prepared.unit, &args.effort, common)
}

/// The rankings, the recommendation and the limits, as text.
pub fn ranked_result(result: &RunResult, unit: Unit) -> Result<String, Failure> {
    let (style, roles) = (output::style(), Roles::of_collection());
    let mut text = String::new();
    for ranking in rankings(result, unit, &roles)? {
        text.push_str(&ranking.to_text(style));
        text.push('\n');
    }
    text.push_str(&legend(unit, style));
    text.push('\n');
    text.push_str(&limits::limits(result, unit).to_text(style));
    text.push('\n');
    text.push_str(&recommend(result, &roles).to_text(style));
    Ok(text)
}

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
    /// Reads what the user asked for.
    pub fn new(subjects: &Subjects, effort: &Effort, here: &Here) -> Result<Prepared, Failure> {
        let unit: Unit = effort
            .unit
            .parse()
            .map_err(|error: carryline_report::units::UnknownUnit| usage(error.to_string()))?;
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
                    let has = |id: &carryline_verification::subject::SubjectId| id.family == family.name();
                    named && variants.iter().any(|v| v.family() == *family)
                        || plugins.iter().any(|(_, id)| has(id))
                })
                .collect(),
            false => families,
        };
        if let Some((word, id)) =
            plugins.iter().find(|(_, id)| !families.iter().any(|f| f.name() == id.family))
        {
            return Err(usage(format!(
                "plug-in '{word}' is of family {}, which --family leaves out",
                id.family
            )));
        }
        Ok(Prepared { supervisor, selection: Selection { families, variants, plugins, named }, unit, cpu })
    }

    /// The plan for these situations.
    pub fn plan(
        &self,
        situations: Vec<Situation>,
        effort: &Effort,
        budget: Duration,
        common: &Common,
    ) -> Plan {
        Plan {
            situations: situations.into_iter().filter(|situation| !situation.subjects.is_empty()).collect(),
            plugins: self.selection.plugins.clone(),
            replicates: effort.replicates.unwrap_or(REPLICATES),
            most_replicates: effort.replicates.unwrap_or(2 * REPLICATES),
            budget: effort.budget.unwrap_or(budget),
            seed: session::seed(common),
            patience: self.supervisor.patience,
        }
    }

    /// Makes the run; `None` if only the plan was wanted, which is printed.
    pub fn execute(
        &self,
        plan: &Plan,
        effort: &Effort,
        here: &Here,
        warnings: Vec<Warning>,
        common: &Common,
    ) -> Result<Option<Finished>, Failure> {
        here.check_memory(&plan.situations)?;
        if effort.plan {
            print_plan(plan, common)?;
            return Ok(None);
        }
        let setting = Setting {
            here,
            supervisor: &self.supervisor,
            selection: &self.selection,
            cpu: self.cpu,
            save: !effort.no_save,
            warnings,
        };
        session::execute(plan, &setting, common).map(Some)
    }
}

fn print_plan(plan: &Plan, common: &Common) -> Result<(), Failure> {
    if common.format == Format::Json {
        return output::print(&serde_json::to_string_pretty(plan)?);
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
        plan.budget.as_secs_f64()
    );
    for situation in &plan.situations {
        text.push_str(&format!("{}: {}\n", situation.name, situation.subjects.join(", ")));
    }
    output::print(&text)
}

/// Reads `--sizes`, with a warning for each capture of which some packets could not be used.
pub fn read_sizes(text: Option<&str>) -> Result<(Vec<Sizes>, Vec<Warning>), Failure> {
    match text {
        None => Ok((Vec::new(), Vec::new())),
        Some(text) => {
            let (sizes, skipped) =
                Sizes::parse_list_and_skipped(text).map_err(|error| usage(error.to_string()))?;
            Ok((sizes, skipped.iter().map(warning::packets_skipped).collect()))
        }
    }
}

/// Prints the result in the format wanted, writes the page if wanted, and decides the exit status.
pub fn conclude(
    finished: &Finished,
    text: &str,
    unit: Unit,
    effort: &Effort,
    common: &Common,
) -> Result<u8, Failure> {
    match common.format {
        Format::Json => output::print(&json::run_json(&finished.result)?)?,
        Format::Table => output::print(text)?,
    }
    output::warn(&finished.result.warnings, common);
    if let Some(path) = &effort.report {
        let about = About {
            started: humantime::format_rfc3339_seconds(std::time::SystemTime::now()).to_string(),
            repeat: format!("{} --seed {}", repeat_command(), finished.result.seed),
            version: env!("CARGO_PKG_VERSION").to_owned(),
        };
        let html = page(&finished.result, unit, &Roles::of_collection(), &about)?;
        std::fs::write(path, html)
            .map_err(|error| anyhow::anyhow!("cannot write {}: {error}", path.display()))?;
        output::note(&format!("wrote {}", path.display()), common);
    }
    if let (Some(id), false) = (finished.result.run_id, common.quiet) {
        output::note(&format!("kept as run {id}; 'carryline history --show {id}' prints it again"), common);
    }
    for proof in &finished.wrong {
        eprintln!("carryline: {}", super::verify::sentence(proof));
    }
    Ok(match (finished.interrupted, finished.wrong.is_empty()) {
        (true, _) => status::INTERRUPTED,
        (false, false) => status::WRONG,
        (false, true) => 0,
    })
}

/// The command that makes this run again, without the seed.
fn repeat_command() -> String {
    let mut words = vec!["carryline".to_owned()];
    let mut arguments = std::env::args().skip(1);
    while let Some(word) = arguments.next() {
        match word.as_str() {
            "--seed" => _ = arguments.next(),
            seed if seed.starts_with("--seed=") => {}
            _ => words.push(word),
        }
    }
    words.join(" ")
}
