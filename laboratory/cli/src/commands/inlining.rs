//! `carryline inlining`: at which constant sizes the compilers of this machine write memmove and its like in place, and
//! what a hard-coded limit on those sizes costs.

use crate::cli::{Common, Format, Inlining};
use crate::inlining::{Language, Question, cache, compilers, limit, survey};
use crate::output;
use anyhow::anyhow;
use carryline_engine::failure::{Failure, status};
use carryline_engine::machine::Here;
use carryline_engine::progress::Progress;
use carryline_engine::{interrupt, session};
use carryline_report::inlining as report;
use std::time::Duration;

/// What a survey without any cache takes on two idle cores, roughly.
const EXPECTED: Duration = Duration::from_secs(40);

/// Asks the compilers and prints what they do.
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
    let kept = if args.no_cache { None } else { cache::default_folder() };
    let cache = cache::Cache::new(kept);
    let folder = tempfile::Builder::new().prefix("carryline-").tempdir()?;
    let progress = Progress::new(EXPECTED, common.quiet);
    let patience = Duration::from_secs(args.patience);
    let question = Question {
        candidates: &candidates,
        flags: &args.flags,
        patience,
        cache: &cache,
        refresh: args.refresh,
        folder: folder.path(),
        stop: &interrupt::requested,
        progress: &|step, done, all| progress.say(format!("{step} ({done} of {all})")),
    };
    let (mut answers, silent) = survey(&question);

    let here = Here::look();
    let machine = machine(&here);
    let supervisor = session::supervisor(10)?;
    let mut notes = Vec::new();
    let mut limits: Vec<report::LimitRow> = Vec::new();
    let timed = answers.iter().filter(|answer| answer.compiler.language == Language::C).count().max(1) as u32;
    for answer in &mut answers {
        let flags = question.flag_sets(&answer.compiler).swap_remove(0);
        let key = format!("{}|{flags}|{machine}", args.limit);
        let known = answer.known.limits.get(&key).filter(|rows| !rows.is_empty()).cloned();
        if known.iter().flatten().any(|row| !row.sizes.is_empty()) {
            notes.push(format!(
                "the times of {} {} are from an earlier run; --refresh measures them again",
                answer.compiler.name, answer.compiler.version
            ));
        }
        let mut rows = known.unwrap_or_else(|| {
            limit::cost(
                &answer.compiler,
                &answer.rows,
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
        rows.iter_mut().for_each(|row| row.compiler.clone_from(&answer.compiler.name));
        if !rows.is_empty() && rows.iter().all(|row| row.reason.is_none()) {
            answer.known.limits.insert(key, rows.clone());
        }
        limits.extend(rows);
        if let Err(error) = cache.keep(&answer.known) {
            notes.push(format!("the results cannot be cached: {error}"));
        }
    }
    progress.finish();
    notes.dedup();
    let rows = answers.into_iter().flat_map(|answer| answer.rows).chain(silent).collect();
    let found = report::Inlining { schema_version: 1, rows, limits, notes };
    match common.format {
        Format::Table => output::print(&found.to_text(output::style()))?,
        Format::Json => output::print_json("inlining", &found, common)?,
    }
    Ok(if interrupt::requested() { status::INTERRUPTED } else { 0 })
}

/// What times depend on beside the compiler.
fn machine(here: &Here) -> String {
    let (cpu, system) = (&here.environment.cpu, &here.environment.system);
    format!("{:?}|{:?}|{:?}", cpu.brand, cpu.microcode, system.libc)
}
