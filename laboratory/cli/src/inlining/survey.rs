//! Compiles the probes with every compiler under every set of flags.

use super::bounded::{self, RunError};
use super::cache::{Cache, Entry};
use super::compilers::{Candidate, Compiler, without_duplicates};
use super::object_code;
use super::probes::{BUILTIN_BCOPY, Function, Language};
use super::rows;
use carryline_report::inlining::InliningRow;
use rayon::prelude::*;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

/// What to survey, and how.
pub struct Settings<'a> {
    /// The compilers.
    /// Whom.
    pub candidates: &'a [Candidate],
    /// Flags that replace the usual sets; none for the usual sets.
    pub flags: &'a [String],
    /// Time limit of a compilation.
    pub patience: Duration,
    /// Results of earlier surveys.
    pub cache: &'a Cache,
    /// True to ignore cached results.
    pub refresh: bool,
    /// A folder for sources and objects.
    pub folder: &'a Path,
    /// True once the user has interrupted.
    pub stop: &'a (dyn Fn() -> bool + Sync),
    /// Receives progress: the step, the number done and the total.
    pub progress: &'a (dyn Fn(&str, usize, usize) + Sync),
}

/// The results of a compiler.
pub struct Surveyed {
    /// The compiler.
    pub compiler: Compiler,
    /// Its rows, by flags, then by function.
    pub rows: Vec<InliningRow>,
    /// Its cache entry, to be stored.
    pub entry: Entry,
}

/// One run of a compiler.
struct Task {
    compiler: usize,
    flags: String,
}

impl Settings<'_> {
    /// The sets of flags for a compiler, the plain one first.
    pub fn flag_sets(&self, compiler: &Compiler) -> Vec<String> {
        match self.flags {
            [] => compiler.language.flag_sets().iter().map(|flags| (*flags).to_owned()).collect(),
            given => given.to_vec(),
        }
    }
}

/// Surveys all compilers; also returns the rows of those that do not report a version.
pub fn survey(settings: &Settings<'_>) -> (Vec<Surveyed>, Vec<InliningRow>) {
    let (stop, candidates) = (settings.stop, settings.candidates);
    (settings.progress)("querying compiler versions", 0, candidates.len());
    carryline_engine::parallel::prepare();
    let identified = candidates.par_iter().enumerate().map(|(index, candidate)| {
        let folder = settings.folder.join(format!("version-{index}"));
        candidate.identify(&folder, settings.patience, stop)
    });
    let identified: Vec<_> = identified.collect();
    let mut compilers = Vec::new();
    let mut silent = Vec::new();
    for (candidate, result) in candidates.iter().zip(identified) {
        match result {
            Ok(compiler) => compilers.push(compiler),
            Err(reason) => {
                let reason = format!("does not report its version: {reason}");
                let unknown = Compiler {
                    name: candidate.name.clone(),
                    path: candidate.path.clone(),
                    language: candidate.language,
                    version: "unknown".to_owned(),
                    identity: String::new(),
                };
                silent.push(rows::of_failure(&unknown, &settings.flag_sets(&unknown)[0], &reason));
            }
        }
    }
    let compilers = without_duplicates(compilers);
    (compile_all(settings, compilers), silent)
}

fn compile_all(settings: &Settings<'_>, compilers: Vec<Compiler>) -> Vec<Surveyed> {
    let mut entries: Vec<Entry> = compilers.iter().map(|compiler| settings.cache.look_up(compiler)).collect();
    if settings.refresh {
        for entry in &mut entries {
            entry.rows.clear();
            entry.limits.clear();
        }
    }
    let mut tasks: Vec<Task> = Vec::new();
    for (compiler, entry) in entries.iter().enumerate() {
        let flag_sets = settings.flag_sets(&compilers[compiler]).into_iter();
        let missing = flag_sets.filter(|flags| !entry.rows.contains_key(flags));
        tasks.extend(missing.map(|flags| Task { compiler, flags }));
    }
    let hung: Vec<AtomicBool> = compilers.iter().map(|_| AtomicBool::new(false)).collect();
    let begun = AtomicUsize::new(0);
    let results = tasks.par_iter().enumerate().map(|(index, task)| {
        let compiler = &compilers[task.compiler];
        if hung[task.compiler].load(Ordering::Relaxed) {
            return Err("not tried: it hung with other flags".to_owned());
        }
        let step = format!("compiling probes: {} {}", compiler.name, task.flags);
        (settings.progress)(&step, begun.fetch_add(1, Ordering::Relaxed), tasks.len());
        let scratch = settings.folder.join(format!("probe-{index}"));
        let compiled = compile(compiler, &task.flags, &scratch, settings);
        if matches!(compiled, Err(RunError::TimedOut(_))) {
            hung[task.compiler].store(true, Ordering::Relaxed);
        }
        compiled.map_err(|reason| reason.to_string())
    });
    let results: Vec<_> = results.collect();
    let mut failed: Vec<Vec<InliningRow>> = compilers.iter().map(|_| Vec::new()).collect();
    for (task, result) in tasks.iter().zip(results) {
        match result {
            Ok(rows) => {
                entries[task.compiler].rows.insert(task.flags.clone(), rows);
            }
            Err(reason) => {
                failed[task.compiler].push(rows::of_failure(&compilers[task.compiler], &task.flags, &reason));
            }
        }
    }
    let results = compilers.into_iter().zip(entries).zip(failed);
    results.map(|((compiler, entry), failed)| surveyed(settings, compiler, entry, &failed)).collect()
}

/// Orders a compiler's rows, compiled and failed, by flags.
fn surveyed(settings: &Settings<'_>, compiler: Compiler, entry: Entry, failed: &[InliningRow]) -> Surveyed {
    let mut rows = Vec::new();
    for flags in settings.flag_sets(&compiler) {
        rows.extend(entry.rows.get(&flags).into_iter().flatten().cloned());
        rows.extend(failed.iter().filter(|row| row.flags == flags).cloned());
    }
    // The entry may have been stored under another name of the compiler.
    rows.iter_mut().for_each(|row| row.compiler.clone_from(&compiler.name));
    Surveyed { compiler, rows, entry }
}

/// Compiles the probes with a set of flags and classifies the object. If that fails, tries again without
/// [`BUILTIN_BCOPY`].
fn compile(
    compiler: &Compiler,
    flags: &str,
    scratch: &Path,
    settings: &Settings<'_>,
) -> Result<Vec<InliningRow>, RunError> {
    let functions = compiler.language.functions();
    let reason = match attempt(compiler, flags, functions, scratch, settings) {
        Err(RunError::Failed(reason)) if compiler.language == Language::C => reason,
        other => return other,
    };
    let others: Vec<Function> =
        functions.iter().copied().filter(|function| function.name != BUILTIN_BCOPY).collect();
    match attempt(compiler, flags, &others, scratch, settings) {
        Ok(mut rows) => {
            let reason = format!("does not compile: {reason}");
            rows.push(rows::of_missing(compiler, flags, BUILTIN_BCOPY, &reason));
            Ok(rows)
        }
        Err(RunError::Failed(_)) => Err(RunError::Failed(reason)),
        Err(other) => Err(other),
    }
}

fn attempt(
    compiler: &Compiler,
    flags: &str,
    functions: &[Function],
    scratch: &Path,
    settings: &Settings<'_>,
) -> Result<Vec<InliningRow>, RunError> {
    std::fs::create_dir_all(scratch)?;
    let (source, object) = (compiler.language.file_name(), "probe.o");
    std::fs::write(scratch.join(source), compiler.language.source(functions))?;
    let mut command = Command::new(&compiler.path);
    command.current_dir(scratch);
    command.args(flags.split_whitespace()).args(compiler.language.object_flags());
    command.args(["-o", object, source]);
    bounded::run(&mut command, settings.patience, &scratch.join("run"), settings.stop)?;
    let bytes = match std::fs::read(scratch.join(object)) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return Err(RunError::Failed("it succeeded but wrote no object".to_owned()));
        }
        Err(error) => return Err(error.into()),
    };
    let found = object_code::read(&bytes, "probe_").map_err(|error| RunError::Failed(error.to_string()))?;
    Ok(rows::of_object(compiler, flags, functions, &found))
}
