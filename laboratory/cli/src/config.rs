//! `carryline.toml`: options that hold unless the command line says otherwise.
//!
//! The file is looked for in the working directory and upward, then as `carryline/config.toml` in the user's configuration
//! folder. A key is an option's long name. At the top it holds for every command that has the option, in a table of a
//! command's name for that command:
//!
//! ```toml
//! seed = 1
//! [measure]
//! variants = ["carryline*", "libc_memcpy"]
//! budget = "60s"
//! ```

use carryline_engine::failure::{Failure, usage};
use carryline_machine::nearest::{did_you_mean, nearest};
use clap::Command;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// The file in a working directory.
const HERE: &str = "carryline.toml";
/// The file in the user's configuration folder.
const USERS: &str = "carryline/config.toml";

/// The words of the command line with those of the file behind the command's name. Options that are on the command line are
/// not taken from the file.
pub fn with_file(words: Vec<OsString>, command: &Command) -> Result<Vec<OsString>, Failure> {
    let place = words.iter().skip(1).position(|word| {
        word.to_str()
            .is_some_and(|word| command.find_subcommand(word).is_some_and(|found| !found.is_hide_set()))
    });
    // A worker does what its job says, and the tour has no name behind which options could stand.
    let Some(place) = place.map(|place| place + 1) else { return Ok(words) };
    let Some(path) = find() else { return Ok(words) };
    let text = std::fs::read_to_string(&path)
        .map_err(|error| usage(format!("cannot read {}: {error}", path.display())))?;
    let name = words[place].to_string_lossy().into_owned();
    let options = read(&text, &path, command, &name, &words)?;
    let mut words = words;
    words.splice(place + 1..place + 1, options);
    Ok(words)
}

/// The file that counts.
fn find() -> Option<PathBuf> {
    let here = std::env::current_dir().ok()?;
    let upward = here.ancestors().map(|folder| folder.join(HERE));
    let folder = |name| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let users = folder("XDG_CONFIG_HOME").or_else(|| Some(folder("HOME")?.join(".config")));
    upward.chain(users.map(|folder| folder.join(USERS))).find(|path| path.is_file())
}

/// The options that the file gives to a command.
fn read(
    text: &str,
    path: &Path,
    command: &Command,
    name: &str,
    words: &[OsString],
) -> Result<Vec<OsString>, Failure> {
    let line = |at: usize| text[..at.min(text.len())].matches('\n').count() + 1;
    let wrong = |at: usize, what: String| usage(format!("{}, line {}: {what}", path.display(), line(at)));
    let table = DeTable::parse(text)
        .map_err(|error| wrong(error.span().map_or(0, |span| span.start), error.message().to_owned()))?;
    let mut found = Vec::new();
    for (key, value) in table.get_ref() {
        let (key, at) = (key.get_ref().as_ref(), key.span().start);
        if let DeValue::Table(options) = value.get_ref() {
            let Some(sub) = command.find_subcommand(key) else {
                let near = did_you_mean(&nearest(key, command.get_subcommands().map(Command::get_name)));
                return Err(wrong(at, format!("'{key}' is no command{near}")));
            };
            for (option, value) in options {
                let at = option.span().start;
                let option = option.get_ref().as_ref();
                if !has(command, sub, option) {
                    let near = did_you_mean(&nearest(option, longs(command, sub)));
                    return Err(wrong(at, format!("'{option}' is no option of 'carryline {key}'{near}")));
                }
                let values = written(option, value).map_err(|what| wrong(at, what))?;
                if key == name && !is_given(words, option) {
                    found.extend(values);
                }
            }
            continue;
        }
        let mut known = command.get_subcommands().filter(|sub| has(command, sub, key)).peekable();
        if known.peek().is_none() {
            let all: Vec<&str> = command.get_subcommands().flat_map(|sub| longs(command, sub)).collect();
            let near = did_you_mean(&nearest(key, all));
            return Err(wrong(at, format!("'{key}' is no option of any command{near}")));
        }
        let values = written(key, value).map_err(|what| wrong(at, what))?;
        // A command's own table comes first.
        let own = table.get_ref().get(name).is_some_and(|own| own.get_ref().get(key).is_some());
        if known.any(|sub| sub.get_name() == name) && !own && !is_given(words, key) {
            found.extend(values);
        }
    }
    Ok(found)
}

/// The long names of a command's options, the common ones with them.
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

/// True if the command line says it.
fn is_given(words: &[OsString], option: &str) -> bool {
    let mut options = words.iter().filter_map(|word| word.to_str()).take_while(|word| *word != "--");
    options.any(|word| {
        word.strip_prefix("--")
            .and_then(|word| word.strip_prefix(option))
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('='))
    })
}

/// A value as the command line has it: `true` is the option alone, `false` none, a list its words with commas.
fn written(option: &str, value: &Spanned<DeValue<'_>>) -> Result<Vec<OsString>, String> {
    let one = |value: &DeValue<'_>| match value {
        DeValue::String(text) => Ok(text.to_string()),
        DeValue::Integer(number) => Ok(number.to_string()),
        DeValue::Float(number) => Ok(number.to_string()),
        _ => Err(format!("'{option}' is a text, a number, true or false, or a list of these")),
    };
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
    Ok(vec![format!("--{option}={text}").into()])
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
    fn a_commands_table_comes_before_the_top_and_the_command_line_before_both() {
        let of = |line| {
            options(FILE, line).map(|mut words| {
                words.sort_unstable();
                words.join(" ")
            })
        };
        assert_eq!(of("carryline measure").as_deref(), Ok("--budget=3s --quiet --seed=7 --variants=a,b*"));
        assert_eq!(of("carryline run --seed=1").as_deref(), Ok("--budget=9s --quiet"));
        assert_eq!(of("carryline measure --variants x --budget 1s").as_deref(), Ok("--quiet --seed=7"));
        assert_eq!(of("carryline list").as_deref(), Ok("--quiet --seed=7"), "it has no budget");
        assert_eq!(options("quiet = false", "carryline list"), Ok(vec![]));
    }

    #[test]
    fn a_wrong_key_is_named_with_its_line() {
        for (text, line, word) in [
            ("seed = 7\nbugdet = \"9s\"", "line 2", "did you mean 'budget'"),
            ("[measure]\n\nvariant = \"x\"", "line 3", "'variants'"),
            ("[mesure]\nseed = 1", "line 1", "'measure'"),
            ("seed = 1\nseed = 2", "line 2", "duplicate"),
            ("seed = 1979-05-27", "line 1", "'seed'"),
            ("seed = ", "line 1", ""),
        ] {
            let error = options(text, "carryline measure").expect_err(text);
            assert!(
                error.contains(&format!("carryline.toml, {line}: ")) && error.contains(word),
                "{text}: {error}"
            );
        }
    }
}
