//! `carryline rerun RUN`: repeats a stored run with its seed.

use crate::cli::{Cli, Common, Format, Rerun};
use crate::output;
use carryline_conditions::cache::EVICTING_PASSES;
use carryline_conditions::{CacheMethod, Offsets, Then};
use carryline_engine::failure::{Failure, usage};
use carryline_engine::kept::{self, Stored};
use carryline_report::text::shell;
use carryline_store::RunId;
use clap::Parser;
use serde_json::Value;
use std::ffi::OsString;

/// Repeats a run with its stored command line and seed.
pub fn run(args: &Rerun, common: &Common) -> Result<u8, Failure> {
    let Stored { id: RunId(id), header, .. } = kept::stored(&args.id, common.db.as_deref())?;
    let mut words = vec!["carryline".to_owned()];
    words.extend(header.command.iter().cloned());
    if let Some(seed) = common.seed {
        return Err(usage(format!(
            "--seed {seed}: a rerun has the seed of its run; for another one give its command: {}",
            shell(with_options(&words, ["--seed".into(), seed.to_string()]).iter().map(String::as_str))
        )));
    }
    if common.db.is_some() {
        // The run is kept where it was found.
        without(&mut words, "--db");
    }
    if without(&mut words, "--report") {
        output::note(
            &format!("the page of run {id} (--report) is left as it is; this run writes none"),
            common,
        );
    }
    if has_old_random_offsets(&header.plan) && !rename_random_offsets(&mut words) {
        output::note(
            &format!(
                "run {id} was measured when 'random' offsets were 0 to 63 in page-aligned buffers (now \
                 'random-line'); its command now draws them from the whole page, so the runs are not comparable"
            ),
            common,
        );
    }
    if has_half_learned_period(&header.plan) {
        output::note(
            &format!(
                "run {id} was measured when sizes with a period ran only twice before each batch (now {} times), \
                 which is too little for branch predictors to learn them; the runs are not comparable there",
                carryline_conditions::sizes::LEARNING_PASSES
            ),
            common,
        );
    }
    if has_reused_arenas(&header.plan) {
        output::note(
            &format!(
                "run {id} was measured when 'cold:arena' and 'mixed' used a part of their lines over and over, which \
                 the last cache level may have kept (now all lines in turn); the runs are not comparable there"
            ),
            common,
        );
    }
    if has_once_evicted_caches(&header.plan) {
        output::note(
            &format!(
                "run {id} was measured when 'cold:evict' read the evicting buffer once between batches (now \
                 {EVICTING_PASSES} times), which left lines in the last cache level; the runs are not comparable \
                 there"
            ),
            common,
        );
    }
    if has_wrapped_reads(&header.plan) {
        output::note(
            &format!(
                "run {id} was measured when '--then read-later' read what had just been written in about half of the \
                 batches; the runs are not comparable there"
            ),
            common,
        );
    }
    // Stored paths lack the home folders of others, which contain users' names, and bytes that are not UTF-8.
    let home = std::env::var("HOME").ok().filter(|home| home.starts_with('/'));
    let expanded: Vec<String> = words.iter().map(|word| expand(word, home.as_deref())).collect();
    if let Some(word) = expanded.iter().find(|word| is_in_part(word, home.as_deref())) {
        let seed = ["--seed".into(), header.seed.to_string()];
        return Err(usage(format!(
            "'{word}' in the command of run {id} is not stored in full; repeat the run manually: {}",
            shell(with_options(&words, seed).iter().map(String::as_str))
        )));
    }
    // The last of equal options counts.
    let mut options: Vec<OsString> = vec!["--seed".into(), header.seed.to_string().into()];
    if let Some(db) = &common.db {
        options.extend(["--db".into(), db.into()]);
    }
    if common.format == Format::Json {
        options.extend(["--format".into(), "json".into()]);
    }
    if common.quiet {
        options.push("--quiet".into());
    }
    let expanded: Vec<OsString> = expanded.into_iter().map(OsString::from).collect();
    let expanded = with_options(&expanded, options);
    let mut cli = Cli::try_parse_from(&expanded)
        .map_err(|error| usage(format!("run {id} is of another version of the command: {error}")))?;
    let line: Vec<String> = expanded.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    output::note(&shell(line.iter().map(String::as_str)), common);
    cli.common.repeats = Some(id);
    crate::run(&cli)
}

/// A command with more options: words after `--` are no options.
fn with_options<T: Clone + AsRef<std::ffi::OsStr>>(
    words: &[T],
    options: impl IntoIterator<Item = T>,
) -> Vec<T> {
    let end = words.iter().position(|word| word.as_ref() == "--").unwrap_or(words.len());
    let mut words = words.to_vec();
    words.splice(end..end, options);
    words
}

/// A stored word with the user's home folder instead of `~`, wherever the store has put one.
fn expand(word: &str, home: Option<&str>) -> String {
    let Some(home) = home else { return word.to_owned() };
    let mut out = String::new();
    let mut rest = word;
    while let Some(at) = rest.find("~/") {
        let begins =
            rest[..at].chars().next_back().or(out.chars().next_back()).is_none_or(|before| !in_name(before));
        out.push_str(&rest[..at]);
        out.push_str(if begins { home } else { "~" });
        out.push('/');
        rest = &rest[at + 2..];
    }
    out.push_str(rest);
    out
}

/// True for a word that lacks a folder or bytes.
fn is_in_part(word: &str, home: Option<&str>) -> bool {
    let is_home = home.is_none() && word.contains("~/");
    is_home || ["/home/*", "/Users/*", "\u{fffd}"].iter().any(|lost| word.contains(lost))
}

/// True if the store takes a character for a part of a file's name.
fn in_name(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '~' | '*' | '@' | '+')
}

/// Removes an option with its value, wherever it is given. False if there is none.
fn without(words: &mut Vec<String>, option: &str) -> bool {
    let mut found = false;
    loop {
        let end = words.iter().position(|word| word == "--").unwrap_or(words.len());
        let is_it = |word: &String| {
            word.strip_prefix(option).is_some_and(|rest| rest.is_empty() || rest.starts_with('='))
        };
        let Some(at) = words[..end].iter().position(is_it) else { return found };
        let last = if words[at] == option { (at + 1).min(end - 1) } else { at };
        words.drain(at..=last);
        found = true;
    }
}

/// The conditions of a stored plan, as they were written then.
fn conditions(plan: &Value) -> impl Iterator<Item = &Value> {
    plan["situations"].as_array().into_iter().flatten().map(|situation| &situation["condition"])
}

/// True for a plan stored when `random` still had the present meaning of `random-line`.
fn has_old_random_offsets(plan: &Value) -> bool {
    let offsets = || {
        conditions(plan)
            .filter_map(|condition| serde_json::from_value::<Offsets>(condition["offsets"].clone()).ok())
    };
    offsets().any(|offsets| offsets == Offsets::RandomInLine)
        && !offsets().any(|offsets| offsets == Offsets::Random)
}

/// True for a plan stored when `cold:evict` read its buffer only once.
fn has_once_evicted_caches(plan: &Value) -> bool {
    cache_methods(plan).any(|method| method == CacheMethod::EvictOnce)
}

/// True for a plan stored when `read-later` read what had just been written.
fn has_wrapped_reads(plan: &Value) -> bool {
    conditions(plan)
        .filter_map(|condition| serde_json::from_value::<Then>(condition["then"].clone()).ok())
        .any(|then| matches!(then, Then::ReadWrapped(_)))
}

/// True for a plan stored when the buffers of an arena used the same lines over and over.
fn has_reused_arenas(plan: &Value) -> bool {
    cache_methods(plan)
        .any(|method| matches!(method, CacheMethod::ArenaReused | CacheMethod::MixedReused { .. }))
}

fn cache_methods(plan: &Value) -> impl Iterator<Item = CacheMethod> {
    conditions(plan).filter_map(|condition| serde_json::from_value(condition["cache"]["method"].clone()).ok())
}

/// True for a plan stored when predictors had too little time to learn sizes with a period.
fn has_half_learned_period(plan: &Value) -> bool {
    conditions(plan)
        .map(|condition| &condition["sizes"])
        .any(|sizes| sizes["period"].is_u64() && sizes["learned"] != true)
}

/// Replaces `random` by `random-line` in the command line's offsets. False if there is none to replace.
fn rename_random_offsets(words: &mut [String]) -> bool {
    let mut named = false;
    let mut is_value = false;
    for word in words {
        let (option, value) = match word.strip_prefix("--offsets=") {
            Some(value) => ("--offsets=", value.to_owned()),
            None if is_value => ("", word.clone()),
            None => {
                is_value = word == "--offsets";
                continue;
            }
        };
        is_value = false;
        let all: Vec<&str> =
            value.split(',').map(|one| if one == "random" { "random-line" } else { one }).collect();
        named |= all.contains(&"random-line");
        *word = format!("{option}{}", all.join(","));
    }
    named
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn plan(offsets: &[Value]) -> Value {
        let situations: Vec<Value> =
            offsets.iter().map(|offsets| json!({"condition": {"offsets": offsets}})).collect();
        json!({ "situations": situations })
    }

    #[test]
    fn the_page_of_a_run_is_not_written_again() {
        let left = |line: &str| {
            let mut words: Vec<String> = line.split(' ').map(str::to_owned).collect();
            let found = without(&mut words, "--report");
            (found, words.join(" "))
        };
        assert_eq!(left("run --report a.html --quiet"), (true, "run --quiet".to_owned()));
        assert_eq!(left("run --report=a.html -- --report b"), (true, "run -- --report b".to_owned()));
        assert_eq!(left("real -- x --report b"), (false, "real -- x --report b".to_owned()));
        assert_eq!(left("run --report"), (true, "run".to_owned()));
        assert_eq!(left("run --report a.html --report=b.html"), (true, "run".to_owned()));
        assert_eq!(left("run --reporter"), (false, "run --reporter".to_owned()));
    }

    #[test]
    fn stored_words_get_back_the_home_folder() {
        let of = |word: &str| expand(word, Some("/home/ada"));
        assert_eq!(of("~/r.sqlite"), "/home/ada/r.sqlite");
        assert_eq!(of("--db=~/a b/r.sqlite"), "--db=/home/ada/a b/r.sqlite");
        assert_eq!(
            of("40,capture:~/x.pcap,histogram:~/h"),
            "40,capture:/home/ada/x.pcap,histogram:/home/ada/h"
        );
        assert_eq!(of("mine=~/mine.so:f:zero"), "mine=/home/ada/mine.so:f:zero");
        for word in ["backup~/x", "~ada/x", "zero/avx*", "/tmp/x"] {
            assert_eq!(of(word), word);
            assert!(!is_in_part(word, Some("/home/ada")), "{word}");
        }
        assert!(is_in_part("~/x", None) && is_in_part("/home/*/x", Some("/home/ada")));
    }

    #[test]
    fn periods_of_old_runs_are_known() {
        let plan = |sizes: Value| json!({ "situations": [{"condition": {"sizes": sizes}}] });
        assert!(has_half_learned_period(&plan(json!({"label": "1..64/period:100", "period": 100}))));
        assert!(!has_half_learned_period(&plan(json!({"period": 100, "learned": true}))));
        assert!(!has_half_learned_period(&plan(json!({"label": "40"}))));
        assert!(!has_half_learned_period(&Value::Null));
    }

    #[test]
    fn plans_from_when_one_pass_evicted_are_known() {
        let plan = |method: &str| json!({ "situations": [{"condition": {"cache": {"method": method}}}] });
        assert!(has_once_evicted_caches(&plan("evict")));
        for other in ["evict_twice", "clflush", "hot"] {
            assert!(!has_once_evicted_caches(&plan(other)), "{other}");
        }
        assert!(!has_once_evicted_caches(&Value::Null));
    }

    #[test]
    fn plans_from_when_reading_later_read_what_was_just_written_are_known() {
        let plan = |then: Value| json!({ "situations": [{"condition": {"then": then}}] });
        assert!(has_wrapped_reads(&plan(json!({"read_later": 4096}))));
        for other in [json!({"read_much_later": 4096}), json!("read"), json!({"victim": 4096}), json!(7)] {
            assert!(!has_wrapped_reads(&plan(other.clone())), "{other}");
        }
        assert!(!has_wrapped_reads(&Value::Null));
    }

    #[test]
    fn plans_from_when_arenas_used_the_same_lines_are_known() {
        let plan = |method: Value| json!({ "situations": [{"condition": {"cache": {"method": method}}}] });
        for old in [json!("arena"), json!({"mixed": {"hot_percent": 50}})] {
            assert!(has_reused_arenas(&plan(old.clone())), "{old}");
        }
        for other in
            [json!("arena_in_turn"), json!({"mixed_in_turn": {"hot_percent": 50}}), json!("evict"), json!(7)]
        {
            assert!(!has_reused_arenas(&plan(other.clone())), "{other}");
        }
        assert!(!has_reused_arenas(&Value::Null));
    }

    #[test]
    fn a_run_with_old_random_offsets_is_repeated_with_them() {
        let aligned = json!({"fixed": {"dst": 0, "src": 0}});
        assert!(has_old_random_offsets(&plan(&[aligned.clone(), json!("random")])));
        assert!(!has_old_random_offsets(&plan(&[aligned, json!("random_page")])));
        assert!(!has_old_random_offsets(&plan(&[json!("random"), json!("random_page")])));
        assert!(!has_old_random_offsets(&Value::Null));
        for (line, expected) in [
            ("measure --offsets 0,random --sizes 40", Some("measure --offsets 0,random-line --sizes 40")),
            ("measure --offsets=random", Some("measure --offsets=random-line")),
            ("measure --offsets random-line", Some("measure --offsets random-line")),
            ("run --budget 5s", None),
            ("measure --segments 1,3", None),
        ] {
            let mut words: Vec<String> = line.split(' ').map(str::to_owned).collect();
            let named = rename_random_offsets(&mut words);
            assert_eq!(named.then(|| words.join(" ")).as_deref(), expected, "{line}");
        }
    }
}
