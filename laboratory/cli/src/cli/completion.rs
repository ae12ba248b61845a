//! Completions of option values: variants, words of the vocabulary, stored runs, files.

use carryline_audit::subjects::{Subject, collection};
use carryline_conditions::{Beside, Cache, Dependence, Offsets, Then, fleet};
use carryline_engine::kept;
use carryline_engine::real::FAMILIES;
use carryline_engine::session::open_kept;
use carryline_report::units::Unit;
use carryline_variants::{Family, Variant};
use clap::{Arg, Command};
use clap_complete::engine::{
    ArgValueCandidates, ArgValueCompleter, CompletionCandidate, PathCompleter, ValueCompleter,
};
use std::ffi::OsStr;

/// The number of runs offered.
const RUNS: usize = 20;

/// Adds completions of values to a command and its subcommands.
pub fn completing(command: Command) -> Command {
    let name = command.get_name().to_owned();
    command.mut_args(|argument| with_values(&name, argument)).mut_subcommands(completing)
}

/// Adds completions to an argument whose values clap cannot derive from its type.
fn with_values(command: &str, argument: Arg) -> Arg {
    let id = argument.get_id().as_str().to_owned();
    let candidates: fn() -> Vec<CompletionCandidate> = match (command, id.as_str()) {
        ("real", "family") => || families(&FAMILIES),
        (_, "family") => || families(&Family::ALL),
        ("real", "variant") => interposing,
        ("verify" | "critical", "names") | (_, "variants") => variants,
        ("audit", "names") => audited,
        (_, "offsets") => || words(Offsets::WORDS),
        (_, "cache") => || words(Cache::WORDS),
        (_, "dependence") => || words(Dependence::WORDS),
        (_, "then") => || words(Then::WORDS),
        (_, "beside") => || words(Beside::WORDS),
        (_, "pages") => || words(PAGES),
        (_, "unit") => || words(Unit::WORDS),
        ("critical", "microarchitecture") => microarchitectures,
        ("reproduce", "ids") => experiments,
        ("explain", "word") => || plain(carryline_warnings::explain::known()),
        ("schema", "name") => || plain(crate::commands::schema::names()),
        ("history", "show") | ("rerun", "id") | ("export" | "report", "run") | ("reproduce", "from") => runs,
        ("compare", "runs") | ("gate", "base") => {
            return argument.add(ArgValueCompleter::new(runs_and_files));
        }
        ("tune", "from" | "check") => return argument.add(ArgValueCompleter::new(profiles)),
        (_, "sizes") => return argument.add(ArgValueCompleter::new(sizes)),
        (_, "plugin") => return argument.add(ArgValueCompleter::new(PathCompleter::file())),
        _ => return argument,
    };
    argument.add(ArgValueCandidates::new(candidates))
}

/// The words of `--pages`.
const PAGES: &[(&str, &str)] = &[("4k", "pages of the usual size"), ("huge", "huge pages")];

fn plain<'w>(words: impl IntoIterator<Item = &'w str>) -> Vec<CompletionCandidate> {
    words.into_iter().map(CompletionCandidate::new).collect()
}

fn with_help(word: &str, help: &str) -> CompletionCandidate {
    CompletionCandidate::new(word).help((!help.is_empty()).then(|| help.to_owned().into()))
}

/// The words of a vocabulary, up to the first placeholder: `read-later:` for `read-later:BYTES`, nothing for
/// `N`.
fn words(vocabulary: &[(&str, &str)]) -> Vec<CompletionCandidate> {
    let is_placeholder = |part: &str| part.chars().all(|c| c.is_ascii_uppercase());
    let mut offered: Vec<CompletionCandidate> = Vec::new();
    for (word, help) in vocabulary {
        let fixed = word.split_inclusive(':').take_while(|part| !is_placeholder(part.trim_end_matches(':')));
        let fixed: String = fixed.collect();
        if !fixed.is_empty() && offered.iter().all(|known| known.get_value() != fixed.as_str()) {
            offered.push(with_help(&fixed, help));
        }
    }
    offered
}

fn families(of: &[Family]) -> Vec<CompletionCandidate> {
    plain(of.iter().map(|family| family.name()))
}

/// Every variant by its name, and by its family and name, because a name may occur in several families.
fn variants() -> Vec<CompletionCandidate> {
    let all = Family::ALL
        .into_iter()
        .flat_map(|family| carryline_variants::of(family).iter().map(move |variant| (family, *variant)));
    let offered = |(family, variant): (Family, &Variant)| {
        let long = format!("{}/{}", family.name(), variant.name);
        [with_help(variant.name, variant.summary), with_help(&long, variant.summary)]
    };
    let mut found: Vec<CompletionCandidate> = all.flat_map(offered).collect();
    found.sort_by(|a, b| a.get_value().cmp(b.get_value()));
    found.dedup_by(|a, b| a.get_value() == b.get_value());
    found
}

/// `zero=movntps`.
fn interposing() -> Vec<CompletionCandidate> {
    let of = |family: Family| {
        let usable = carryline_variants::of(family).iter().filter(|variant| variant.can_interpose());
        let names =
            usable.map(|variant| (variant.name, variant.summary)).chain([("libc", "the program's own")]);
        names.map(move |(name, help)| with_help(&format!("{}={name}", family.name()), help))
    };
    FAMILIES.into_iter().flat_map(of).collect()
}

fn audited() -> Vec<CompletionCandidate> {
    let names = collection().into_iter().filter_map(|subject| match subject {
        Subject::Crate { name, .. } | Subject::Memory { name, .. } => Some(name),
        _ => None,
    });
    plain(names.chain(["libc"]))
}

fn microarchitectures() -> Vec<CompletionCandidate> {
    let tables = carryline_chain::table::all().iter().map(|table| table.name.as_str());
    plain(tables.chain([crate::commands::critical::MEASURED]))
}

fn experiments() -> Vec<CompletionCandidate> {
    let all = carryline_experiments::EXPERIMENTS.iter();
    all.map(|experiment| with_help(experiment.id, experiment.title)).chain([with_help("all", "")]).collect()
}

/// The latest runs of the default database; none if it cannot be read.
fn runs() -> Vec<CompletionCandidate> {
    let Ok(Some(store)) = open_kept(None) else { return Vec::new() };
    let runs = store.runs(RUNS).unwrap_or_default();
    let help = |command: &[String]| match kept::label(command) {
        Some(label) => label,
        None => command.join(" "),
    };
    runs.iter().map(|run| with_help(&run.id.0.to_string(), &help(&run.command))).collect()
}

fn starting_with(current: &OsStr, offered: Vec<CompletionCandidate>) -> Vec<CompletionCandidate> {
    let current = current.to_string_lossy();
    let fits =
        |candidate: &CompletionCandidate| candidate.get_value().to_string_lossy().starts_with(&*current);
    offered.into_iter().filter(fits).collect()
}

fn runs_and_files(current: &OsStr) -> Vec<CompletionCandidate> {
    let mut found = starting_with(current, runs());
    found.extend(PathCompleter::file().complete(current));
    found
}

/// A file, or `builtin:NAME`.
fn profiles(current: &OsStr) -> Vec<CompletionCandidate> {
    let built_in = carryline::internals::tuning::built_in_names().map(|name| format!("builtin:{name}"));
    let mut found = starting_with(current, built_in.map(CompletionCandidate::new).collect());
    found.extend(PathCompleter::file().complete(current));
    found
}

/// Completes the last item of a list of sizes: a distribution, or a source with a file.
fn sizes(current: &OsStr) -> Vec<CompletionCandidate> {
    let Some(text) = current.to_str() else { return Vec::new() };
    let (before, last) = text.split_at(text.rfind(',').map_or(0, |comma| comma + 1));
    let of_files = ["histogram:", "capture:"];
    if let Some((source, path)) =
        of_files.iter().find_map(|source| Some((source, last.strip_prefix(source)?)))
    {
        let files = PathCompleter::file().complete(OsStr::new(path));
        return files.into_iter().map(|file| file.add_prefix(format!("{before}{source}"))).collect();
    }
    let distributions = fleet::NAMES.into_iter().map(|name| format!("fleet:{name}"));
    let sources = of_files.into_iter().map(str::to_owned);
    let fits = distributions.chain(sources).filter(|word| word.starts_with(last));
    fits.map(|word| CompletionCandidate::new(format!("{before}{word}"))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::Cli;
    use clap::CommandFactory;

    /// The completions of the last word of a line.
    fn offered(line: &[&str]) -> Vec<String> {
        let words = ["carryline"].iter().chain(line).map(|word| (*word).into()).collect();
        let found = clap_complete::engine::complete(&mut completing(Cli::command()), words, line.len(), None);
        let found = found.expect("it can be completed");
        found.into_iter().map(|candidate| candidate.get_value().to_string_lossy().into_owned()).collect()
    }

    #[test]
    fn words_and_lists_of_words_are_completed() {
        for (line, expected) in [
            (&["meas"][..], "measure"),
            (&["measure", "--vari"], "--variants"),
            (&["measure", "--variants", "adc_1"], "adc_1_stream"),
            (&["measure", "--variants", "zero/avx2,copy/rep_m"], "zero/avx2,copy/rep_movsb"),
            (&["run", "--family", "checksum,cop"], "checksum,copy_checksum"),
            (&["measure", "--cache", "hot,cold:cl"], "hot,cold:clflush"),
            (&["measure", "--then", "read-l"], "read-later:"),
            (&["measure", "--sizes", "40,fleet:memcpy"], "40,fleet:memcpy-A"),
            (&["history", "--unit", "GB"], "GB/s"),
            (&["verify", "avx512_d"], "avx512_dot"),
            (&["critical", "--microarchitecture", "zen"], "zen3"),
            (&["reproduce", "csu"], "csum40"),
            (&["explain", "W0"], "W01"),
            (&["schema", "ga"], "gate"),
            (&["export", "1", "--to", "gi"], "github-action-benchmark"),
            (&["tune", "--from", "builtin:un"], "builtin:unmeasured"),
            (&["tune", "--check", "builtin:un"], "builtin:unmeasured"),
            (&["real", "--variant", "zero=movntp"], "zero=movntps"),
            (&["audit", "smol"], "smoltcp"),
        ] {
            let found = offered(line);
            assert!(found.iter().any(|word| word == expected), "{line:?}: {found:?}");
        }
    }

    #[test]
    fn no_placeholders_are_offered() {
        for line in
            [&["measure", "--offsets", ""][..], &["measure", "--cache", ""], &["measure", "--then", ""]]
        {
            let found = offered(line);
            let is_placeholder = |word: &String| word.contains(|c: char| c.is_ascii_uppercase());
            assert!(found.len() > 1 && !found.iter().any(is_placeholder), "{line:?}: {found:?}");
        }
    }

    /// Names of values without completions, or that clap completes because they are paths or an enum.
    const FREE: [&str; 24] = [
        "BYTES",
        "COMMAND",
        "FILE",
        "FILE.csv",
        "FILE.dot",
        "FILE.html",
        "FILE.md",
        "FILE.svg",
        "FOLDER",
        "FORM",
        "HEX",
        "LENGTHS",
        "N",
        "NAME=VALUE:...",
        "PATH",
        "PERCENT",
        "REPEATS LENGTHS",
        "SECONDS",
        "TEXT",
        "TIME",
        "[FAMILY=]FILE",
        "FILE.so:SYMBOL[:FORM]",
        "slower:PERCENT%",
        "FLAGS",
    ];

    #[test]
    fn every_option_with_words_has_completions() {
        fn look(command: &Command, missing: &mut Vec<String>) {
            for argument in command.get_arguments().filter(|argument| !argument.is_hide_set()) {
                let name = argument.get_value_names().map(|names| names[0].to_string()).unwrap_or_default();
                let is_completed = argument.get::<ArgValueCandidates>().is_some()
                    || argument.get::<ArgValueCompleter>().is_some()
                    || !argument.get_possible_values().is_empty();
                let takes_one = argument.get_action().takes_values();
                // A new name: a symbol or a profile of the user's own.
                let is_new = matches!(argument.get_id().as_str(), "symbol" | "emit");
                if takes_one && !is_completed && !is_new && !FREE.contains(&name.as_str()) {
                    missing.push(format!("{} {}: {name}", command.get_name(), argument.get_id()));
                }
            }
            command.get_subcommands().filter(|sub| !sub.is_hide_set()).for_each(|sub| look(sub, missing));
        }
        let mut command = completing(Cli::command());
        command.build();
        let mut missing = Vec::new();
        look(&command, &mut missing);
        assert!(missing.is_empty(), "{missing:#?}");
    }
}
