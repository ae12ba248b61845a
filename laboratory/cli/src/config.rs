//! Default options from `carryline.toml`, overridden by the command line.
//!
//! The file is searched for in the working directory and its parents, then as `carryline/config.toml` in the
//! user's configuration folder. A key is an option's long name. A key at the top level applies to every
//! command that has the option; a key in a table named after a command applies to that command alone:
//!
//! ```toml
//! seed = 1
//! [measure]
//! variants = ["carryline*", "libc_memcpy"]
//! budget = "60s"
//! ```
//!
//! A relative `db` is relative to the file's folder, so that all folders below use one database.

use carryline_engine::failure::{Failure, usage};
use carryline_machine::nearest::{did_you_mean, nearest};
use clap::Command;
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// The file's name in the working directory and its parents.
const HERE: &str = "carryline.toml";
/// The file's path in the user's configuration folder.
const USER: &str = "carryline/config.toml";

/// Inserts the file's options after the command's name, except those already on the command line; the file, if there is one.
///
/// # Errors
/// If the file cannot be read, or an option in it is unknown or malformed.
pub fn with_file(
    words: Vec<OsString>,
    command: &Command,
) -> Result<(Vec<OsString>, Option<PathBuf>), Failure> {
    let place = words.iter().skip(1).position(|word| {
        word.to_str()
            .is_some_and(|word| command.find_subcommand(word).is_some_and(|found| !found.is_hide_set()))
    });
    // A worker takes its settings from its job, and the tour has no name to insert options after.
    let Some(place) = place.map(|place| place + 1) else { return Ok((words, None)) };
    let Some(path) = find() else { return Ok((words, None)) };
    let text = std::fs::read_to_string(&path)
        .map_err(|error| usage(format!("cannot read {}: {error}", path.display())))?;
    let name = words[place].to_string_lossy().into_owned();
    let options = read(&text, &path, command, &name, &words)?;
    let mut words = words;
    words.splice(place + 1..place + 1, options);
    Ok((words, Some(path)))
}

/// Finds the file to use.
fn find() -> Option<PathBuf> {
    let here = std::env::current_dir().ok()?;
    let upward = here.ancestors().map(|folder| folder.join(HERE));
    let folder = |name| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let user = folder("XDG_CONFIG_HOME").or_else(|| Some(folder("HOME")?.join(".config")));
    upward.chain(user.map(|folder| folder.join(USER))).find(|path| path.is_file())
}

/// Parses the file and returns its options for a command.
fn read(
    text: &str,
    path: &Path,
    command: &Command,
    name: &str,
    words: &[OsString],
) -> Result<Vec<OsString>, Failure> {
    let line = |at: usize| text[..at.min(text.len())].matches('\n').count() + 1;
    let wrong =
        |at: usize, problem: String| usage(format!("{}, line {}: {problem}", path.display(), line(at)));
    let table = DeTable::parse(text)
        .map_err(|error| wrong(error.span().map_or(0, |span| span.start), error.message().to_owned()))?;
    let mut found = Vec::new();
    for (key, value) in table.get_ref() {
        let (key, at) = (key.get_ref().as_ref(), key.span().start);
        if let DeValue::Table(options) = value.get_ref() {
            let Some(sub) = command.find_subcommand(key) else {
                let near = did_you_mean(&nearest(key, command.get_subcommands().map(Command::get_name)));
                return Err(wrong(at, format!("unknown command '{key}'{near}")));
            };
            for (option, value) in options {
                let at = option.span().start;
                let option = option.get_ref().as_ref();
                if !has(command, sub, option) {
                    let near = did_you_mean(&nearest(option, longs(command, sub)));
                    return Err(wrong(at, format!("'carryline {key}' has no option '{option}'{near}")));
                }
                let values = to_arguments(option, value, path).map_err(|problem| wrong(at, problem))?;
                if key == name && applies(name, option, words) {
                    found.extend(values);
                }
            }
            continue;
        }
        let mut known = command.get_subcommands().filter(|sub| has(command, sub, key)).peekable();
        if known.peek().is_none() {
            let all: BTreeSet<&str> = command.get_subcommands().flat_map(|sub| longs(command, sub)).collect();
            let near = did_you_mean(&nearest(key, all));
            return Err(wrong(at, format!("no command has an option '{key}'{near}")));
        }
        let values = to_arguments(key, value, path).map_err(|problem| wrong(at, problem))?;
        // The command's own table takes precedence.
        let own = table.get_ref().get(name).is_some_and(|own| own.get_ref().get(key).is_some());
        if known.any(|sub| sub.get_name() == name) && !own && applies(name, key, words) {
            found.extend(values);
        }
    }
    Ok(found)
}

/// The long names of a command's options, including the global ones.
fn longs<'c>(command: &'c Command, sub: &'c Command) -> impl Iterator<Item = &'c str> {
    let common = command.get_arguments().filter(|argument| argument.is_global_set());
    common
        .chain(sub.get_arguments())
        .filter_map(clap::Arg::get_long)
        .filter(|long| !matches!(*long, "help" | "version"))
}

fn has(command: &Command, sub: &Command, option: &str) -> bool {
    longs(command, sub).any(|long| long == option)
}

/// True if an option of the file is used: it is not on the command line, nor excluded by what is. A default must not be refused
/// as if it had been typed.
fn applies(command: &str, option: &str, words: &[OsString]) -> bool {
    let given = |option| is_given(words, option);
    let excluded = match (command, option) {
        // A rerun has the seed of its run.
        ("rerun", "seed") => true,
        ("history", "full" | "pairs" | "unit") => !given("show"),
        ("history", "most") => given("show"),
        ("measure", "sizes" | "offsets") => given("segments"),
        ("measure", "segments") => given("sizes") || given("offsets"),
        ("critical", "size") => given("object") || given("bytes"),
        _ => false,
    };
    !excluded && !given(option)
}

/// True if the option is on the command line.
fn is_given(words: &[OsString], option: &str) -> bool {
    let mut options = words.iter().filter_map(|word| word.to_str()).take_while(|word| *word != "--");
    options.any(|word| {
        word.strip_prefix("--")
            .and_then(|word| word.strip_prefix(option))
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('='))
    })
}

/// Converts a value in the file `path` to arguments: `true` to the bare option, `false` to none, a list to words joined by
/// commas.
fn to_arguments(option: &str, value: &Spanned<DeValue<'_>>, path: &Path) -> Result<Vec<OsString>, String> {
    let one = |value: &DeValue<'_>| match value {
        DeValue::String(text) => Ok(text.to_string()),
        DeValue::Integer(number) => Ok(number.to_string()),
        DeValue::Float(number) => Ok(number.to_string()),
        _ => Err(format!(
            "'{option}' must be a string, a number, true or false, or a list of strings and numbers"
        )),
    };
    if option == "db" && !matches!(value.get_ref(), DeValue::String(_)) {
        return Err("'db' must be a string: the path of a file".to_owned());
    }
    let text = match value.get_ref() {
        DeValue::Boolean(true) => return Ok(vec![format!("--{option}").into()]),
        DeValue::Boolean(false) => return Ok(Vec::new()),
        DeValue::Array(values) => {
            let words: Result<Vec<String>, String> =
                values.iter().map(|value| one(value.get_ref())).collect();
            words?.join(",")
        }
        value => one(value)?,
    };
    let mut argument: OsString = format!("--{option}=").into();
    match (option, path.parent()) {
        ("db", Some(folder)) => argument.push(folder.join(text)),
        _ => argument.push(text),
    }
    Ok(vec![argument])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::Cli;
    use clap::CommandFactory;

    fn options(text: &str, line: &str) -> Result<Vec<String>, String> {
        let mut command = Cli::command();
        command.build();
        let words: Vec<OsString> = line.split(' ').map(OsString::from).collect();
        let name = words[1].to_string_lossy().into_owned();
        let found = read(text, Path::new("carryline.toml"), &command, &name, &words);
        found
            .map(|words| words.into_iter().map(|word| word.to_string_lossy().into_owned()).collect())
            .map_err(|failure| failure.to_string())
    }

    const FILE: &str =
        "seed = 7\nbudget = \"9s\"\nquiet = true\n[measure]\nbudget = \"3s\"\nvariants = [\"a\", \"b*\"]\n";

    #[test]
    fn the_command_line_precedes_the_commands_table_and_the_top_level() {
        let of = |line| {
            options(FILE, line).map(|mut words| {
                words.sort_unstable();
                words.join(" ")
            })
        };
        assert_eq!(of("carryline measure").as_deref(), Ok("--budget=3s --quiet --seed=7 --variants=a,b*"));
        assert_eq!(of("carryline run --seed=1").as_deref(), Ok("--budget=9s --quiet"));
        assert_eq!(of("carryline measure --variants x --budget 1s").as_deref(), Ok("--quiet --seed=7"));
        assert_eq!(of("carryline list").as_deref(), Ok("--quiet --seed=7"), "list has no --budget");
        assert_eq!(options("quiet = false", "carryline list"), Ok(vec![]));
    }

    #[test]
    fn options_that_the_command_line_excludes_are_left_out() {
        let file =
            "seed = 7\nfull = true\n[measure]\nsizes = \"40\"\noffsets = \"1\"\n[critical]\nsize = 40\n";
        let of = |line| {
            let mut words = options(file, line).expect("a file");
            words.sort_unstable();
            words.join(" ")
        };
        assert_eq!(of("carryline rerun 1"), "");
        assert_eq!(of("carryline history"), "--seed=7");
        assert_eq!(
            options("unit = \"ns\"\n[history]\nmost = 3", "carryline history"),
            Ok(vec!["--most=3".into()])
        );
        assert_eq!(
            options("unit = \"ns\"\n[history]\nmost = 3", "carryline history --show 1"),
            Ok(vec!["--unit=ns".into()])
        );
        assert_eq!(of("carryline history --show 1"), "--full --seed=7");
        assert_eq!(of("carryline measure --segments 1,3"), "--full --seed=7");
        assert_eq!(of("carryline measure"), "--full --offsets=1 --seed=7 --sizes=40");
        assert_eq!(of("carryline critical --bytes c3"), "--full --seed=7");
        assert_eq!(of("carryline critical adc_1_stream"), "--full --seed=7 --size=40");
    }

    #[test]
    fn a_database_is_relative_to_the_files_folder() {
        let of = |text: &str| {
            let mut command = Cli::command();
            command.build();
            let words = ["carryline".into(), "list".into()];
            read(text, Path::new("/above/carryline.toml"), &command, "list", &words).expect("a file")
        };
        assert_eq!(of("db = \"runs/a.sqlite\""), ["--db=/above/runs/a.sqlite"]);
        assert_eq!(of("db = \"/b.sqlite\""), ["--db=/b.sqlite"]);
    }

    #[test]
    fn an_error_names_the_key_and_its_line() {
        for (text, line, word) in [
            ("seed = 7\nbugdet = \"9s\"", "line 2", "did you mean 'budget'"),
            ("[measure]\n\nvariant = \"x\"", "line 3", "'variants'"),
            ("[mesure]\nseed = 1", "line 1", "'measure'"),
            ("seed = 1\nseed = 2", "line 2", "duplicate"),
            ("seed = 1979-05-27", "line 1", "'seed'"),
            ("seed = ", "line 1", ""),
            ("db = 3", "line 1", "'db' must be a string"),
            ("db = true", "line 1", "'db' must be a string"),
        ] {
            let error = options(text, "carryline measure").expect_err(text);
            assert!(
                error.contains(&format!("carryline.toml, {line}: ")) && error.contains(word),
                "{text}: {error}"
            );
        }
    }
}
