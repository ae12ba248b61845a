//! `carryline inlining`: the constant sizes at which the compilers of this machine inline memmove and similar
//! functions, and the cost of a hard-coded limit on them.

use crate::cli::{Common, Inlining};
use crate::inlining::{Language, Settings, cache, compilers, limit, survey};
use crate::output;
use anyhow::anyhow;
use carryline_engine::failure::{Failure, status};
use carryline_engine::machine::Here;
use carryline_engine::progress::Progress;
use carryline_engine::{interrupt, session};
use carryline_report::inlining as report;
use std::time::Duration;

/// The approximate CPU time to compile the probes with one set of flags.
const COMPILATION: Duration = Duration::from_millis(1800);

/// The approximate time of a survey without cached results.
fn expected(candidates: &[compilers::Candidate], args: &Inlining) -> Duration {
    let cpus = std::thread::available_parallelism().map_or(1, usize::from) as u32;
    let sets = candidates.iter().map(|candidate| match args.flags.len() {
        0 => candidate.language.flag_sets().len() as u32,
        given => given as u32,
    });
    let timed = candidates.iter().any(|candidate| candidate.language == Language::C);
    COMPILATION * sets.sum::<u32>() / cpus + if timed { args.budget } else { Duration::ZERO }
}

/// Surveys the compilers and prints the result.
pub fn run(args: &Inlining, common: &Common) -> Result<u8, Failure> {
    if !cfg!(target_arch = "x86_64") {
        return Err(
            anyhow!("analysing compiler output is supported on x86-64 only; no compiler was run").into()
        );
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    let candidates = match args.compiler.is_empty() {
        true => compilers::on_path(&path),
        false => compilers::named(&args.compiler, &path)?,
    };
    if candidates.is_empty() {
        return Err(anyhow!("no gcc, clang or rustc on PATH; name a compiler with --compiler PATH").into());
    }
    let cache = cache::Cache::new(if args.no_cache { None } else { cache::default_folder() });
    let folder = tempfile::Builder::new().prefix("carryline-").tempdir()?;
    let progress = Progress::new(expected(&candidates, args), common.quiet);
    let patience = Duration::from_secs(args.patience);
    let settings = Settings {
        candidates: &candidates,
        flags: &args.flags,
        patience,
        cache: &cache,
        refresh: args.refresh,
        folder: folder.path(),
        stop: &interrupt::requested,
        progress: &|step, done, all| progress.say(format!("{done} of {all}: {step}")),
    };
    let (mut surveyed, silent) = survey(&settings);

    let here = Here::look();
    let machine = machine(&here);
    let supervisor = session::supervisor(10)?;
    let mut notes = Vec::new();
    let mut limits: Vec<report::LimitRow> = Vec::new();
    let timed = surveyed.iter().filter(|one| one.compiler.language == Language::C).count().max(1) as u32;
    for one in &mut surveyed {
        let flags = settings.flag_sets(&one.compiler).swap_remove(0);
        let key = format!("{}|{flags}|{machine}", args.limit);
        let cached = one.entry.limits.get(&key).filter(|rows| !rows.is_empty()).cloned();
        if cached.iter().flatten().any(|row| !row.sizes.is_empty()) {
            notes.push(format!(
                "the times of {} {} are from an earlier run; --refresh measures them again",
                one.compiler.name, one.compiler.version
            ));
        }
        let mut rows = cached.unwrap_or_else(|| {
            limit::cost(
                &one.compiler,
                &one.rows,
                args.limit,
                &limit::Timing {
                    supervisor: &supervisor,
                    flags: &flags,
                    budget: args.budget / timed,
                    patience,
                    cpu: here.cpu(None).ok().flatten(),
                    seed: session::seed(common.seed),
                    folder: folder.path(),
                    stop: &interrupt::requested,
                    progress: &|step| progress.say(step),
                },
            )
        });
        rows.iter_mut().for_each(|row| row.compiler.clone_from(&one.compiler.name));
        if !rows.is_empty() && rows.iter().all(|row| row.reason.is_none()) {
            one.entry.limits.insert(key, rows.clone());
        }
        limits.extend(rows);
        if let Err(error) = cache.store(&one.entry) {
            notes.push(format!("the results cannot be cached: {error}"));
        }
    }
    progress.finish();
    notes.dedup();
    let rows: Vec<_> = surveyed.into_iter().flat_map(|one| one.rows).chain(silent).collect();
    let nothing_compiled = rows.iter().all(|row| row.status != "ok");
    let found = report::Inlining { schema_version: 1, rows, limits, notes };
    output::print_result("inlining", &found, |style| found.to_text(style), common)?;
    output::end_of_partial(common)?;
    Ok(if interrupt::requested() {
        status::INTERRUPTED
    } else if nothing_compiled {
        status::FAILED
    } else {
        0
    })
}

/// What times depend on, apart from the compiler.
fn machine(here: &Here) -> String {
    let (cpu, system) = (&here.environment.cpu, &here.environment.system);
    format!("{:?}|{:?}|{:?}", cpu.brand, cpu.microcode, system.libc)
}
