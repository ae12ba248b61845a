//! Texts that the library accepts as profiles are TOML, with the same values.

use carryline::internals::dispatch::Function;
use carryline::internals::tuning::{Decision, Profile, VERSION, built_in, built_in_names, parse};
use toml::{Table, Value};

fn check(text: &str, profile: &Profile<'_>) {
    let table: Table = text.parse().unwrap_or_else(|error| panic!("{}: {error}", profile.name));
    let string = |value: Option<&Value>| value.and_then(Value::as_str).map(str::to_owned);
    assert_eq!(table["version"].as_integer(), Some(VERSION.into()));
    assert_eq!(string(table.get("name")).as_deref(), Some(profile.name));
    assert_eq!(string(table.get("source")).as_deref(), Some(profile.source));
    assert_eq!(string(table.get("run")).as_deref(), profile.run);
    let cpu = profile.cpu.map(|cpu| {
        let mut expected = Table::new();
        expected.insert("vendor".to_owned(), String::from_utf8_lossy(&cpu.vendor).into_owned().into());
        expected.extend(cpu.family.map(|family| ("family".to_owned(), family.into())));
        expected.extend(cpu.models.map(|models| ("models".to_owned(), models.to_vec().into())));
        Value::Table(expected)
    });
    assert_eq!(table.get("cpu"), cpu.as_ref(), "{}", profile.name);
    for function in Function::ALL {
        let kernel = table.get("kernels").and_then(|kernels| kernels.get(function.name()));
        assert_eq!(string(kernel).as_deref(), profile.kernel(function), "{}", function.name());
    }
    let decisions = table["decisions"].as_table().expect("a table");
    assert_eq!(decisions.len(), Decision::ALL.len());
    for decision in Decision::ALL {
        let bytes = match &decisions[decision.name()] {
            Value::String(value) => {
                decision.word().filter(|(word, _)| value == word).map(|(_, of_word)| of_word)
            }
            value => value.as_integer().and_then(|bytes| usize::try_from(bytes).ok()),
        };
        assert_eq!(bytes, Some(profile.decisions.get(*decision)), "{}", decision.name());
    }
    assert_eq!(
        table.len(),
        4 + usize::from(profile.run.is_some())
            + usize::from(profile.cpu.is_some())
            + usize::from(profile.kernels.iter().any(Option::is_some))
    );
}

#[test]
fn built_in_profiles_are_toml_with_the_same_values() {
    for name in built_in_names() {
        let path = format!("{}/profiles/{name}.toml", env!("CARGO_MANIFEST_DIR"));
        check(
            &std::fs::read_to_string(path).expect("a built-in file"),
            built_in(name).expect("a built-in profile"),
        );
    }
}

/// All alternative spellings.
#[test]
fn alternative_spellings_are_toml_with_the_same_values() {
    let text = Profile {
        source: "a\tb \u{e4}",
        run: Some("7"),
        ..*built_in("amd-zen5").expect("a built-in profile")
    }
    .to_string();
    for (from, to) in [
        ("", ""),
        ("\n", "\r\n"),
        (" = ", "=\t"),
        ("\n", " # \"remark\" \u{e4}\n"),
        ("1_048_576", "1048576"),
        ("[2, 2]", "[ 2,2 ]"),
        ("source = \"a\tb \u{e4}\"", "source = \"\"\"a\n\n [cpu]\n#b\"\"\""),
        ("source = \"a\tb \u{e4}\"", "source = \"\"\"\r\nb\n\"\"\""),
        ("source = \"a\tb \u{e4}\"", "source = \"\""),
    ] {
        let text = if from.is_empty() { text.clone() } else { text.replace(from, to) };
        check(&text, &parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}")));
    }
}

#[test]
fn the_profile_in_the_readme_is_valid() {
    let readme = include_str!("../../README.md");
    let blocks = readme.split("```toml\n").skip(1).filter_map(|rest| rest.split("```").next());
    let [example] = blocks.filter(|block| block.starts_with("version")).collect::<Vec<_>>()[..] else {
        panic!("the README has one profile")
    };
    check(example, &parse(example).unwrap_or_else(|error| panic!("{error}")));
}
