//! The text output of `carryline tune`.

use carryline_report::table::{ColumnKind, Emphasis, Style, Table};
use carryline_report::text::wrap;
use carryline_report::units::{byte_size_rough, counted};
use carryline_statistics::{Order, Ratio, compare};
use carryline_tune::change::Entry;
use carryline_tune::confirm::{ChangeVerdict, Confirmed, Judged};
use carryline_tune::{Tuned, c_library};
use carryline_variants::Family;

/// A kept change is reported as slower in a cell if it costs more than this there.
const LEAST_COST: f64 = 0.03;

/// A row of the table: name, value in force, and the judgement of a change if there is one.
type Line<'a> = (String, String, Option<&'a Judged>);

fn table(lines: &[Line<'_>], is_check: bool, interrupted: bool) -> Table {
    let mut table = Table::new([
        ("decision", ColumnKind::Name),
        ("in force", ColumnKind::Number),
        ("found", ColumnKind::Number),
        ("times as fast", ColumnKind::Number),
        ("[95 %]", ColumnKind::Name),
        ("where", ColumnKind::Name),
        ("", ColumnKind::Name),
    ]);
    for (name, in_force, judged) in lines {
        let Some(judged) = judged else {
            // Nothing is known about a decision whose search or confirmation did not end.
            let found = if interrupted { "-" } else { "same" };
            let cells = [name, in_force, found, "-"].map(str::to_owned).to_vec();
            table.push(cells, Emphasis::None);
            continue;
        };
        let (median, interval) = judged.gain.map_or(("-".to_owned(), String::new()), |gain| speed(&gain));
        let (word, emphasis) = match judged.verdict {
            ChangeVerdict::Faster => (if is_check { "faster" } else { "kept" }, Emphasis::Strong),
            ChangeVerdict::Same => ("no difference", Emphasis::None),
            ChangeVerdict::Mixed => ("slower somewhere", Emphasis::None),
            ChangeVerdict::Slower => ("slower", Emphasis::None),
            ChangeVerdict::Unknown => ("could not be measured", Emphasis::Bad),
            ChangeVerdict::NotCompared => ("not compared", Emphasis::Faint),
        };
        let cells = vec![
            name.clone(),
            judged.change.shown[0].clone(),
            judged.change.shown[1].clone(),
            median,
            interval,
            place(judged),
            word.to_owned(),
        ];
        table.push(cells, emphasis);
    }
    table
}

/// Converts a ratio of times and its interval to ratios of speeds.
fn speed(ratio: &Ratio) -> (String, String) {
    (format!("{:.2}", 1.0 / ratio.median), format!("[{:.2}, {:.2}]", 1.0 / ratio.high, 1.0 / ratio.low))
}

/// The range of sizes that a change affects.
fn place(judged: &Judged) -> String {
    let sizes = judged.change.cells.iter().map(|cell| &cell.condition.sizes);
    let (least, most) = (sizes.clone().map(|sizes| sizes.min()).min(), sizes.map(|sizes| sizes.max()).max());
    match (least, most) {
        (Some(least), Some(most)) => format!("{} to {}", byte_size_rough(least), byte_size_rough(most)),
        _ => String::new(),
    }
}

/// The library's table, followed by the conclusions.
pub fn library(tuned: &Tuned, is_check: bool, style: Style) -> String {
    let lines: Vec<Line<'_>> = Entry::all()
        .map(|what| {
            let judged = tuned.judged.iter().find(|judged| judged.change.name == what.name());
            (what.name(), what.shown(&tuned.base), judged)
        })
        .collect();
    let mut text = table(&lines, is_check, tuned.interrupted).render(style);
    text.push('\n');
    let mut say = |sentence: &str| text.push_str(&paragraph(sentence, style));
    if tuned.wrong().next().is_some() {
        say("With the settings found, the library is wrong; nothing was kept.");
        return text;
    }
    if tuned.interrupted {
        say("Interrupted: partial results. Nothing was kept.");
        return text;
    }
    if tuned.unverified().next().is_some() {
        say("With the settings found, the library could not be verified; nothing was kept.");
        return text;
    }
    if tuned.judged.is_empty() {
        say(match is_check {
            true => "The profile makes the same decisions as the library without it.",
            false => "Nothing to gain here: the search found nothing better than the settings in force.",
        });
        return text;
    }
    let not_compared: Vec<&str> = tuned.not_compared().map(|judged| judged.change.name.as_str()).collect();
    if not_compared.len() < tuned.judged.len() {
        say(&confirmed(&tuned.judged));
    }
    for sentence in costs(&tuned.judged) {
        say(&sentence);
    }
    if !not_compared.is_empty() {
        say(&format!("Not compared, because no measurement covers it here: {}.", not_compared.join(", ")));
    }
    if !tuned.whole.is_empty() {
        say(&programs(&tuned.whole));
    }
    if tuned.is_undecided() {
        say("The machine is too noisy to tell: the gain is less than the difference between two \
             measurements of the same settings. Try a longer --budget, or a quiet machine.");
        return text;
    }
    let hidden: Vec<&str> = tuned.hidden().map(|judged| judged.change.name.as_str()).collect();
    if !hidden.is_empty() {
        say(&format!(
            "Too noisy to tell about {}: try a longer --budget, or a quiet machine.",
            hidden.join(", ")
        ));
    }
    if is_check {
        say(&checked(&tuned.judged));
    } else if tuned.settings == tuned.base {
        say("Nothing to gain here: nothing that the search found was confirmed.");
    }
    text
}

/// The conclusion of a check.
fn checked(judged: &[Judged]) -> String {
    let count = |verdict: ChangeVerdict| judged.iter().filter(|judged| judged.verdict == verdict).count();
    let compared = judged.len() - count(ChangeVerdict::NotCompared);
    let holds = match compared == judged.len() {
        true => "The profile holds here",
        false => "As far as it was compared, the profile holds here",
    };
    match (count(ChangeVerdict::Slower), count(ChangeVerdict::Mixed)) {
        _ if compared == 0 => {
            "No decision in which the profile differs was compared: nothing speaks for it or against it."
                .to_owned()
        }
        (0, 0) => format!("{holds}: none of its decisions is slower than without it."),
        (0, mixed) => format!(
            "{holds}: none of its decisions costs time on average, but {mixed} cost time in some cells."
        ),
        (slower, _) => format!("The profile does not hold here: {slower} of its decisions cost time."),
    }
}

/// The basis of the judgements.
fn confirmed(judged: &[Judged]) -> String {
    let cells: usize = judged.iter().map(|judged| judged.cells.len()).sum();
    let compared = judged.iter().filter(|judged| judged.verdict != ChangeVerdict::NotCompared);
    let floor = compared.map(|judged| judged.floor).fold(0.0, f64::max);
    format!(
        "Compared in new processes at sizes and offsets that the search did not use: {}; two \
         measurements of the settings in force differ by at most {:.1} %.",
        counted(cells as u64, "cell"),
        100.0 * floor
    )
}

/// The worst cells of changes that are faster on average but slower in some cells.
fn costs(judged: &[Judged]) -> Vec<String> {
    let is_slower = |judged: &&Judged| {
        let kept = judged.verdict == ChangeVerdict::Faster;
        judged.verdict == ChangeVerdict::Mixed
            || kept && judged.cells.iter().any(|cell| compare(&cell.ratio, LEAST_COST) == Order::Slower)
    };
    let mixed = judged.iter().filter(is_slower);
    let worst = |judged: &Judged| -> Option<String> {
        let worst = judged.cells.iter().max_by(|a, b| a.ratio.median.total_cmp(&b.ratio.median))?;
        let (median, interval) = speed(&worst.ratio);
        Some(format!(
            "{} is slower in some cells, worst {median} {interval} at {}.",
            judged.change.name, worst.situation
        ))
    };
    mixed.filter_map(worst).collect()
}

/// The gain over the sizes of the fleet and of the user.
fn programs(whole: &[Confirmed]) -> String {
    let mean = |pick: &dyn Fn(&&Confirmed) -> bool| -> Option<f64> {
        let logs: Vec<f64> = whole.iter().filter(pick).map(|cell| -cell.ratio.median.ln()).collect();
        (!logs.is_empty()).then(|| (logs.iter().sum::<f64>() / logs.len() as f64).exp())
    };
    let fleet = |name: &str| mean(&|cell| cell.situation.contains(name));
    let own = mean(&|cell| !cell.situation.contains("fleet:"));
    let parts = [
        ("fleet memcpy", fleet("fleet:memcpy")),
        ("fleet memset", fleet("fleet:memset")),
        ("your sizes", own),
    ];
    let parts: Vec<String> =
        parts.iter().filter_map(|(name, mean)| Some(format!("{name} {:.2}", (*mean)?))).collect();
    format!("Mean speed with the settings kept, times that before: {}.", parts.join(", "))
}

/// The C library's table, followed by the conclusions.
pub fn c_library(tuned: &c_library::Tuned, line: Option<&str>, caches_known: bool, style: Style) -> String {
    let there = c_library::NAMES.into_iter().filter(|name| tuned.base.has(name));
    let lines: Vec<Line<'_>> = there
        .map(|name| {
            let judged = tuned.judged.iter().find(|judged| judged.change.name == name);
            (name.to_owned(), c_library::shown(tuned.base.bytes(name)), judged)
        })
        .collect();
    let mut text = table(&lines, false, tuned.interrupted).render(style);
    text.push('\n');
    let mut say = |sentence: &str| text.push_str(&paragraph(sentence, style));
    if tuned.interrupted {
        say("Interrupted: partial results. Nothing is recommended.");
        return text;
    }
    if !tuned.judged.is_empty() {
        say(&confirmed(&tuned.judged));
        for sentence in costs(&tuned.judged) {
            say(&sentence);
        }
    }
    match line {
        Some(line) => {
            for family in [Family::Copy, Family::Zero] {
                let cells =
                    tuned.judged.iter().filter(|judged| judged.verdict == ChangeVerdict::Faster).flat_map(
                        |judged| judged.cells.iter().filter(|cell| cell.situation.starts_with(family.name())),
                    );
                let best = cells.min_by(|a, b| a.ratio.median.total_cmp(&b.ratio.median));
                if let Some(best) = best {
                    let (median, interval) = speed(&best.ratio);
                    say(&format!("Best at {}: {median} times as fast {interval}.", best.situation));
                }
            }
            text.push_str(&format!(
                "\nIn a shell, a service (systemd), a container:\n\n  \
                 export GLIBC_TUNABLES={line}\n  \
                 Environment=GLIBC_TUNABLES={line}\n  \
                 docker run --env GLIBC_TUNABLES={line} ...\n\n\
                 With a program of yours: carryline real --tunables {line} -- COMMAND\n"
            ));
        }
        None if tuned.is_undecided() => {
            say("The machine is too noisy to tell: the gain is less than the difference between two \
                 measurements of the same settings.");
        }
        None => say("Nothing to gain here: no setting of the tunables was confirmed to be faster."),
    }
    if !caches_known {
        text.push_str(&paragraph(
            "No third-level cache is reported here, as under some hypervisors. glibc then computes \
             x86_non_temporal_threshold from zero, and copies may be non-temporal far too early; check its value above.",
            style,
        ));
    }
    text
}

fn paragraph(text: &str, style: Style) -> String {
    wrap(text, style.width.or(Some(100)), 0) + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;
    use carryline_tune::change::Change;

    fn judged(verdict: ChangeVerdict) -> Judged {
        let change = Change {
            name: "last_level_bytes".to_owned(),
            unit: "bytes",
            default: "detected".into(),
            found: 1.into(),
            shown: ["detected", "1 bytes"].map(str::to_owned),
            ladder: 0,
            cells: Vec::new(),
        };
        Judged { change, gain: None, floor: 0.005, cells: Vec::new(), verdict }
    }

    #[test]
    fn a_check_says_what_was_not_compared() {
        use ChangeVerdict::{NotCompared, Same, Slower};
        let of =
            |verdicts: &[ChangeVerdict]| checked(&verdicts.iter().copied().map(judged).collect::<Vec<_>>());
        assert!(of(&[Same]).starts_with("The profile holds here: "));
        assert!(of(&[Same, NotCompared]).starts_with("As far as it was compared, "));
        assert!(of(&[NotCompared]).starts_with("No decision in which the profile differs was compared"));
        assert!(of(&[NotCompared, Slower]).starts_with("The profile does not hold here: 1 "));
        let one = judged(NotCompared);
        let lines = [("last_level_bytes".to_owned(), "detected".to_owned(), Some(&one))];
        let text = table(&lines, true, false).render(Style { colour: false, width: None });
        assert!(text.contains("not compared") && !text.contains("could not be measured"), "{text}");
    }
}
