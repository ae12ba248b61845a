//! Asking every compiler, under every set of flags, what it makes of the probes.

use super::bounded::{self, NoResult};
use super::cache::{Cache, Known};
use super::compilers::{Candidate, Compiler, without_twins};
use super::object_code;
use super::probes::{BUILTIN_BCOPY, Function, Language};
use super::rows;
use carryline_report::inlining::InliningRow;
use rayon::prelude::*;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

/// What is asked.
pub struct Question<'a> {
    /// Whom.
    pub candidates: &'a [Candidate],
    /// Under which flags, instead of the usual sets.
    pub flags: &'a [String],
    /// How long a compiler may take for one file.
    pub patience: Duration,
    /// What is known already.
    pub cache: &'a Cache,
    /// True if what is known is not to be believed.
    pub refresh: bool,
    /// A folder for sources and objects.
    pub folder: &'a Path,
    /// True once the user has interrupted.
    pub stop: &'a (dyn Fn() -> bool + Sync),
    /// Told what is going on: a step and how many of how many are done.
    pub progress: &'a (dyn Fn(&str, usize, usize) + Sync),
}

/// A compiler, and what it makes of the probes.
pub struct Answer {
    /// Which one.
    pub compiler: Compiler,
    /// Flags by flags, function by function.
    pub rows: Vec<InliningRow>,
    /// What is known of it, to be kept.
    pub known: Known,
}

/// One run of a compiler.
struct Task {
    compiler: usize,
    flags: String,
}

impl Question<'_> {
    /// The sets of flags for a compiler, the plain one first.
    pub fn flag_sets(&self, compiler: &Compiler) -> Vec<String> {
        match self.flags {
            [] => compiler.language.flag_sets().iter().map(|flags| (*flags).to_owned()).collect(),
            given => given.to_vec(),
        }
    }
}

/// Asks them all. Beside the answers, the rows of those that do not even say who they are.
pub fn survey(question: &Question<'_>) -> (Vec<Answer>, Vec<InliningRow>) {
    let (stop, candidates) = (question.stop, question.candidates);
    (question.progress)("querying compiler versions", 0, candidates.len());
    carryline_engine::parallel::prepare();
    let asked = candidates.par_iter().enumerate().map(|(index, candidate)| {
        let folder = question.folder.join(format!("version-{index}"));
        candidate.ask(&folder, question.patience, stop)
    });
    let asked: Vec<_> = asked.collect();
    let mut compilers = Vec::new();
    let mut silent = Vec::new();
    for (candidate, answer) in candidates.iter().zip(asked) {
        match answer {
            Ok(compiler) => compilers.push(compiler),
            Err(reason) => {
                let reason = format!("does not say its version: {reason}");
                let nobody = Compiler {
                    name: candidate.name.clone(),
                    path: candidate.path.clone(),
                    language: candidate.language,
                    version: "unknown".to_owned(),
                    identity: String::new(),
                };
                silent.push(rows::of_failure(&nobody, &question.flag_sets(&nobody)[0], &reason));
            }
        }
    }
    let compilers = without_twins(compilers);
    (compile_all(question, compilers), silent)
}

fn compile_all(question: &Question<'_>, compilers: Vec<Compiler>) -> Vec<Answer> {
    let mut known: Vec<Known> = compilers.iter().map(|compiler| question.cache.look_up(compiler)).collect();
    if question.refresh {
        for known in &mut known {
            known.rows.clear();
            known.limits.clear();
        }
    }
    let mut tasks: Vec<Task> = Vec::new();
    for (compiler, known) in known.iter().enumerate() {
        let flag_sets = question.flag_sets(&compilers[compiler]).into_iter();
        let unknown = flag_sets.filter(|flags| !known.rows.contains_key(flags));
        tasks.extend(unknown.map(|flags| Task { compiler, flags }));
    }
    let hung: Vec<AtomicBool> = compilers.iter().map(|_| AtomicBool::new(false)).collect();
    let begun = AtomicUsize::new(0);
    let results = tasks.par_iter().enumerate().map(|(index, task)| {
        let compiler = &compilers[task.compiler];
        if hung[task.compiler].load(Ordering::Relaxed) {
            return Err("not tried: it did not end with other flags".to_owned());
        }
        let step = format!("compiling probes: {} {}", compiler.name, task.flags);
        (question.progress)(&step, begun.fetch_add(1, Ordering::Relaxed), tasks.len());
        let scratch = question.folder.join(format!("probe-{index}"));
        let compiled = compile(compiler, &task.flags, &scratch, question);
        if matches!(compiled, Err(NoResult::TimedOut(_))) {
            hung[task.compiler].store(true, Ordering::Relaxed);
        }
        compiled.map_err(|reason| reason.to_string())
    });
    let results: Vec<_> = results.collect();
    let mut failed: Vec<Vec<InliningRow>> = compilers.iter().map(|_| Vec::new()).collect();
    for (task, result) in tasks.iter().zip(results) {
        match result {
            Ok(rows) => {
                known[task.compiler].rows.insert(task.flags.clone(), rows);
            }
            Err(reason) => {
                failed[task.compiler].push(rows::of_failure(&compilers[task.compiler], &task.flags, &reason));
            }
        }
    }
    let answers = compilers.into_iter().zip(known).zip(failed);
    answers.map(|((compiler, known), failed)| answer(question, compiler, known, &failed)).collect()
}

/// Puts rows that are known and rows that failed into the order of the flags.
fn answer(question: &Question<'_>, compiler: Compiler, known: Known, failed: &[InliningRow]) -> Answer {
    let mut rows = Vec::new();
    for flags in question.flag_sets(&compiler) {
        rows.extend(known.rows.get(&flags).into_iter().flatten().cloned());
        rows.extend(failed.iter().filter(|row| row.flags == flags).cloned());
    }
    // What is known may have been asked under another name.
    rows.iter_mut().for_each(|row| row.compiler.clone_from(&compiler.name));
    Answer { compiler, rows, known }
}

/// Compiles the probes under a set of flags and reads the object. A compiler that trips over the one builtin that some
/// know by name alone is asked again without it.
fn compile(
    compiler: &Compiler,
    flags: &str,
    scratch: &Path,
    question: &Question<'_>,
) -> Result<Vec<InliningRow>, NoResult> {
    let functions = compiler.language.functions();
    let reason = match attempt(compiler, flags, functions, scratch, question) {
        Err(NoResult::Failed(reason)) if compiler.language == Language::C => reason,
        other => return other,
    };
    let others: Vec<Function> =
        functions.iter().copied().filter(|function| function.name != BUILTIN_BCOPY).collect();
    match attempt(compiler, flags, &others, scratch, question) {
        Ok(mut rows) => {
            let reason = format!("does not compile: {reason}");
            rows.push(rows::of_missing(compiler, flags, BUILTIN_BCOPY, &reason));
            Ok(rows)
        }
        Err(NoResult::Failed(_)) => Err(NoResult::Failed(reason)),
        Err(other) => Err(other),
    }
}

fn attempt(
    compiler: &Compiler,
    flags: &str,
    functions: &[Function],
    scratch: &Path,
    question: &Question<'_>,
) -> Result<Vec<InliningRow>, NoResult> {
    std::fs::create_dir_all(scratch)?;
    let (source, object) = (compiler.language.file_name(), "probe.o");
    std::fs::write(scratch.join(source), compiler.language.source(functions))?;
    let mut command = Command::new(&compiler.path);
    command.current_dir(scratch);
    command.args(flags.split_whitespace()).args(compiler.language.object_flags());
    command.args(["-o", object, source]);
    bounded::run(&mut command, question.patience, &scratch.join("run"), question.stop)?;
    let bytes = match std::fs::read(scratch.join(object)) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return Err(NoResult::Failed("it succeeds but writes no object".to_owned()));
        }
        Err(error) => return Err(error.into()),
    };
    let found = object_code::read(&bytes, "probe_").map_err(|error| NoResult::Failed(error.to_string()))?;
    Ok(rows::of_object(compiler, flags, functions, &found))
}
