//! `carryline gate BASE`: checks whether this build is slower than a base, for continuous integration.

use crate::cli::{Common, Format, Gate};
use crate::output;
use carryline_engine::failure::{Failure, status, usage};
use carryline_engine::gate::{self, Answer, GateContext, GatePlan, GatedCell, Measured};
use carryline_engine::kept::{self, Kept};
use carryline_engine::last_level;
use carryline_engine::machine::Here;
use carryline_engine::measure::MeasureContext;
use carryline_engine::pattern::Pattern;
use carryline_engine::plan::RunPlan;
use carryline_engine::progress::Progress;
use carryline_engine::prove::{self, Proof, ProofVerdict};
use carryline_engine::session::{self, Keeper, assemble, open_store};
use carryline_engine::supervise::Supervisor;
use carryline_engine::{interrupt, session::supervisor};
use carryline_report::gate::{GateLine, GateVerdict, annotations, to_text};
use carryline_report::text::wrap;
use carryline_report::units::{counted, percent_fine};
use carryline_results::comparison::{Between, Pairing};
use carryline_variants::Family;
use carryline_verification::subject::SubjectId;
use serde::Serialize;
use std::path::Path;
use std::time::Instant;

/// The fraction of the budget after which no process may still run.
const FOR_MEASURING: f64 = 0.97;

/// Measures the base's plan again until the gate can decide.
pub fn run(args: &Gate, common: &Common) -> Result<u8, Failure> {
    let begin = Instant::now();
    let base = kept::find(&args.base, common.db.as_deref())?;
    let here = Here::look();
    require_same_machine(&base, &here, args.force)?;
    let plan = base.plan.clone().ok_or_else(|| {
        usage(format!(
            "{} has no plan to measure again; write the base with 'carryline export RUN --to json --raw'",
            base.title
        ))
    })?;
    let supervisor = supervisor(args.workers.patience)?;
    let against = args.against.as_deref().map(|path| old_program(path, &supervisor)).transpose()?;
    let chosen = choose(args, &base, &plan)?;
    let plan = RunPlan { seed: session::seed(common.seed), budget: args.budget, ..chosen.plan.clone() };
    here.check_memory(&plan.situations)?;

    let progress = Progress::new(args.budget, common.quiet);
    let gated: Vec<_> = plan
        .subjects()
        .into_iter()
        .filter(|id| {
            let of_family = |situation: &&carryline_results::gather::Situation| situation.family == id.family;
            let mut situations = plan.situations.iter().filter(of_family);
            situations.any(|s| chosen.gated.contains(&(s.name.clone(), id.name.clone())))
        })
        .collect();
    let proofs = prove::all(&supervisor, &plan.plugins, &gated, plan.seed, &progress)?;
    if let Some(status) = report_failures(&proofs) {
        progress.finish();
        return Ok(status);
    }
    let store = match args.no_save {
        true => None,
        false => Some(open_store(common.db.as_deref()).map_err(|error| usage(error.to_string()))?),
    };
    let environment = serde_json::to_value(&here.environment)?;
    let mut keeper = Keeper::begin(store, plan.seed, &environment, serde_json::to_value(&plan)?);
    let cpu = here.cpu(args.workers.cpu)?;
    let stop = &interrupt::requested;
    let context = GateContext {
        measure: MeasureContext {
            supervisor: &supervisor,
            caches: last_level::measured(&here, &plan, cpu, &supervisor, &progress, stop)?,
            cpu,
            deadline: begin + args.budget.mul_f64(FOR_MEASURING),
            progress: &progress,
            first_replicate: 0,
            stop,
        },
        against: against.as_ref(),
    };
    let mut found: (Vec<GatedCell>, Between) = Default::default();
    let mut decided = |measured: &Measured, look: u32| {
        let new = gate::rows(&measured.new);
        found = match against {
            Some(_) => {
                let old = gate::rows(&measured.old);
                gate::judge(&old, &new, Pairing::Replicates, &chosen.gated, args.fail_if, look)
            }
            None => gate::judge(&base.rows, &new, Pairing::None, &chosen.gated, args.fail_if, look),
        };
        gate::answer(&found.0) != Answer::Undecided
    };
    let measured = gate::measure(&plan, &proofs, &context, &mut |record| keeper.keep(record), &mut decided)?;
    progress.finish();
    if let Some(why) = against.as_ref().and_then(|old| incompatible(old, &measured)) {
        return Err(Failure::Unlike(why));
    }
    let result = assemble(&plan, &here, Vec::new(), &measured.new, keeper.id(), begin.elapsed())?;
    keeper.end(&result, interrupt::requested());
    let took = begin.elapsed();
    let answer = gate::answer(&found.0);
    let report = Report {
        answer,
        fail_if_slower: args.fail_if,
        base: base.name(),
        against: args.against.as_deref().map(|path| path.display().to_string()),
        ratio_of: carryline_report::comparison::RATIO_OF,
        run_id: result.run_id,
        pairing: if against.is_some() { Pairing::Replicates } else { Pairing::None },
        between_runs: found.1,
        replicates: measured.replicates,
        looks: measured.looks,
        took_s: took.as_secs_f64(),
        cells: &found.0,
    };
    report.print(args, common)?;
    if let Some(sentence) = keeper.trouble() {
        output::message(&sentence);
    }
    // Every look measures again, and may find the same.
    let fell = |id: &SubjectId| measured.new.fallen.iter().find(|proof| proof.subject == *id).cloned();
    let fallen: Vec<Proof> = gated.iter().filter_map(fell).collect();
    let failed = report_failures(&fallen);
    Ok(match answer {
        _ if interrupt::requested() => status::INTERRUPTED,
        _ if failed.is_some() => failed.unwrap_or_default(),
        Answer::Held => 0,
        Answer::Regressed => status::REGRESSED,
        Answer::Undecided => status::UNDECIDED,
    })
}

/// Fails if the base is of another machine or build, unless `force` is set.
fn require_same_machine(base: &Kept, here: &Here, force: bool) -> Result<(), Failure> {
    let mut this = base.clone();
    this.environment = serde_json::to_value(&here.environment)?;
    let differing = kept::unlike(base, &this);
    if differing.is_empty() || force {
        return Ok(());
    }
    Err(Failure::Unlike(format!(
        "{} is not comparable with this machine and build (--force compares them anyway):\n  {}",
        base.title,
        differing.join("\n  ")
    )))
}

/// A supervisor that starts workers of the program that measured the base.
fn old_program(path: &Path, new: &Supervisor) -> Result<Supervisor, Failure> {
    let program = path.canonicalize().map_err(|error| {
        usage(format!("--against {}: {error}; give the path of a carryline", path.display()))
    })?;
    let version = std::process::Command::new(&program).arg("--version").output();
    let is_carryline = version.as_ref().is_ok_and(|version| version.stdout.starts_with(b"carryline "));
    match is_carryline {
        true => Ok(Supervisor { program, ..new.clone() }),
        false => Err(usage(format!("--against {}: not an executable carryline", path.display()))),
    }
}

fn choose(args: &Gate, base: &Kept, plan: &RunPlan) -> Result<GatePlan, Failure> {
    let patterns = args.variants.iter().map(|word| Pattern::parse(word)).collect::<Result<Vec<_>, _>>()?;
    for pattern in &patterns {
        if !base.rows.iter().any(|row| pattern.matches(row.family, &row.variant)) {
            return Err(usage(format!("--variants {}: {} has no such row", pattern.word(), base.title)));
        }
    }
    let named = |family: Family, name: &str| patterns.iter().any(|pattern| pattern.matches(family, name));
    let wanted: Option<&gate::Wanted<'_>> = if patterns.is_empty() { None } else { Some(&named) };
    let chosen = gate::choose(plan, &base.rows, wanted, args.against.is_none());
    if chosen.gated.is_empty() {
        return Err(usage(format!("{} has no figures of the rows to check", base.title)));
    }
    let past: Vec<&str> = chosen
        .plan
        .situations
        .iter()
        .filter(|situation| kept::former::is_past(&situation.condition))
        .map(|situation| situation.name.as_str())
        .collect();
    match past.is_empty() {
        true => Ok(chosen),
        false => Err(Failure::Unlike(format!(
            "{} was measured under conditions that have changed since, so nothing can be held against it; measure a new \
             base:\n  {}",
            base.title,
            past.join("\n  ")
        ))),
    }
}

/// Reports routines that are wrong or not verified; the status to exit with if there are any.
fn report_failures(proofs: &[Proof]) -> Option<u8> {
    let mut ends = None;
    for proof in proofs {
        let own = match &proof.verdict {
            ProofVerdict::Wrong(_) | ProofVerdict::WrongLater(_) | ProofVerdict::Crashed(_) => status::WRONG,
            ProofVerdict::TimedOut(_) => status::UNDECIDED,
            ProofVerdict::NotProved(_) => status::FAILED,
            ProofVerdict::Proved(_) | ProofVerdict::Unsupported(_) => continue,
        };
        output::message(&super::verify::sentence(proof));
        if ends.is_none() || own == status::WRONG {
            ends = Some(own);
        }
    }
    ends
}

/// Why the old program's workers gave no figures, if they gave none.
fn incompatible(old: &Supervisor, measured: &Measured) -> Option<String> {
    let any = measured.old.gathered.iter().any(carryline_results::gather::Gathered::is_measured);
    if any || measured.new.gathered.is_empty() {
        return None;
    }
    let how =
        measured.old.lost.first().map_or_else(|| "no figures".to_owned(), |how| format!("they ended {how}"));
    Some(format!(
        "the workers of {} do not accept this build's jobs ({how}); build the base's program from a version with the \
         same 'carryline --version'",
        old.program.display()
    ))
}

/// The result of a gate in JSON.
#[derive(Serialize)]
struct Report<'a> {
    answer: Answer,
    fail_if_slower: f64,
    base: String,
    against: Option<String>,
    ratio_of: &'static str,
    run_id: Option<i64>,
    pairing: Pairing,
    between_runs: Between,
    replicates: u32,
    looks: u32,
    took_s: f64,
    cells: &'a [GatedCell],
}

impl Report<'_> {
    fn print(&self, args: &Gate, common: &Common) -> Result<(), Failure> {
        let lines: Vec<GateLine> = self
            .cells
            .iter()
            .map(|cell| GateLine {
                situation: cell.situation.clone(),
                variant: cell.variant.clone(),
                ratio: cell.ratio.map(|ratio| ratio.median),
                bounds: cell.bounds.map(|bounds| (bounds.low, bounds.high)),
                verdict: cell.verdict,
            })
            .collect();
        let annotations = if args.annotate && !interrupt::requested() {
            annotations(&lines, &self.base, args.fail_if)
        } else {
            String::new()
        };
        match common.format {
            Format::Json => {
                // GitHub's runner reads annotations from both streams.
                if !annotations.is_empty() {
                    eprint!("{annotations}");
                }
                output::end_of_partial(common)?;
                output::print_json("gate", self, common)
            }
            Format::Table => {
                let few = lines.len() <= 12;
                output::print(&format!(
                    "{}{}{annotations}",
                    to_text(&lines, few, output::style()),
                    self.sentences()
                ))
            }
        }
    }

    fn sentences(&self) -> String {
        let count = |verdict| self.cells.iter().filter(|cell| cell.verdict == verdict).count();
        use GateVerdict::{Allowed, Slower, Unknown};
        let limit = percent_fine(self.fail_if_slower);
        let to = self.against.as_deref().unwrap_or(&self.base);
        let how = format!("{}, {:.0} s", counted(u64::from(self.replicates), "replicate"), self.took_s);
        if interrupt::requested() {
            let cells = counted(self.cells.len() as u64, "cell");
            let slower = count(Slower);
            let sentence = format!("No answer: {cells} judged, {slower} slower so far ({how})");
            return format!(
                "{}\n",
                wrap(&format!("{} {sentence}", output::INTERRUPTED), output::style().width, 2)
            );
        }
        let cells = counted(self.cells.len() as u64, "cell");
        let outcome = match self.answer {
            Answer::Held => {
                let allowed = match count(Allowed) {
                    0 => String::new(),
                    1 => "; 1 is slower, but allowed".to_owned(),
                    count => format!("; {count} are slower, but allowed"),
                };
                format!("held: none of {cells} takes {limit} more time than {to}{allowed}")
            }
            Answer::Regressed => format!(
                "regressed: {} of {cells} {} {limit} more time than {to}",
                count(Slower),
                if count(Slower) == 1 { "takes" } else { "take" }
            ),
            Answer::Undecided => format!(
                "undecided: of {cells}, {} may or may not take {limit} more time than {to}",
                count(Unknown)
            ),
        };
        let spread = percent_fine(self.between_runs.core_caches.spread.max(self.between_runs.beyond.spread));
        let between = match self.between_runs.lack() {
            Some(lack) => format!("two runs of one program may differ by {spread} ({lack})"),
            None => format!("two runs of one program differ by {spread}"),
        };
        let width = output::style().width;
        let wrapped = |sentence: &str| wrap(sentence, width, 2) + "\n";
        let remedy = match (self.answer, self.pairing) {
            (Answer::Undecided, Pairing::Replicates) => {
                wrapped("try a longer --budget, fewer --variants or a wider --fail-if")
            }
            (Answer::Undecided, _) => wrapped(&format!(
                "{between}; --against OLD_CARRYLINE measures both alternately, which removes this noise"
            )),
            _ => String::new(),
        };
        wrapped(&format!("{outcome} ({how})")) + &remedy
    }
}
