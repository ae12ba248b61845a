//! `carryline real`: compares a whole program with and without the interposer.

use crate::cli::{Common, Format, Real};
use crate::output;
use anyhow::Context;
use carryline_engine::failure::{Failure, status, usage};
use carryline_engine::machine::Here;
use carryline_engine::real::{
    self, Difference, Disagreement, Interposer, Job, LEAST_ROUNDS, Metric, MetricFigure, RealWork, ServedRow,
    Which,
};
use carryline_engine::session;
use carryline_machine::c_library;
use carryline_machine::environment::Environment;
use carryline_report::table::{ColumnKind, Emphasis, Style, Table, bold};
use carryline_report::text::wrap;
use carryline_report::units::{byte_size_rough, number, number_with, percent_fine};
use carryline_results::SCHEMA_VERSION;
use carryline_statistics::Estimate;
use serde::Serialize;
use std::path::{Path, PathBuf};

/// Compares the command with and without the interposer.
pub fn run(args: &Real, common: &Common) -> Result<u8, Failure> {
    let interposer = Interposer::new(args.preload.as_deref(), &args.family, &args.variant)?.with_tunables(
        match args.tunables.as_deref() {
            Some("none") => None,
            Some(text) => Some(tunables(text)?),
            None => without_strings(),
        },
    );
    let records = args.record.iter().map(|word| record(word)).collect::<Result<Vec<_>, Failure>>()?;
    let job = Job {
        command: args.command.clone(),
        runs: args.runs,
        interposer,
        compare_output: !args.ignore_output,
        seed: session::seed(common.seed),
    };
    let work = real::compare(&job, common.quiet)?;
    for (which, file) in &records {
        write_histogram(&work, *which, file, common)?;
    }
    match common.format {
        Format::Json => {
            #[derive(Serialize)]
            struct Public<'a> {
                schema_version: u32,
                environment: Environment,
                #[serde(flatten)]
                work: &'a RealWork,
            }
            let environment = Here::look().environment;
            let public = Public { schema_version: SCHEMA_VERSION, environment, work: &work };
            output::print_json("real", &public, common)?;
        }
        Format::Table => {
            output::print(&text(&work, output::style()))?;
            for remark in &work.remarks {
                output::note(remark, common);
            }
        }
    }
    output::end_of_partial(common)?;
    Ok(match &work {
        work if work.disagreement.is_some() => status::WRONG,
        work if work.interrupted => status::INTERRUPTED,
        _ => 0,
    })
}

/// The tunables with which the C library uses no string instructions, if it has them. What a user can have by that variable
/// alone is no gain of the interposer.
fn without_strings() -> Option<String> {
    let thresholds = c_library::here();
    let own = thresholds.glibc_tunables.as_deref();
    thresholds.not_raised.is_none().then(|| c_library::raising(own))
}

/// Checks tunables, because glibc silently ignores wrong ones.
fn tunables(text: &str) -> Result<String, Failure> {
    for setting in text.split(':') {
        let Some((name, value)) =
            setting.split_once('=').filter(|(name, value)| !name.is_empty() && !value.is_empty())
        else {
            return Err(usage(format!("--tunables: '{setting}' is neither NAME=VALUE nor 'none'")));
        };
        match c_library::tunables(&[name]).ok().as_deref() {
            Some([None]) => {
                return Err(usage(format!(
                    "--tunables: the C library here has no tunable '{name}' with a range"
                )));
            }
            Some([Some(tunable)]) if tunable_value(value).is_none_or(|value| !tunable.contains(value)) => {
                return Err(usage(format!(
                    "--tunables: the C library ignores '{setting}', whose value must be a number from {} to {}",
                    tunable.least, tunable.most
                )));
            }
            _ => {}
        }
    }
    Ok(text.to_owned())
}

/// A tunable's value, decimal, octal or hexadecimal as in C.
fn tunable_value(text: &str) -> Option<u64> {
    let hexadecimal = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X"));
    let (digits, radix) = match (hexadecimal, text.strip_prefix('0')) {
        (Some(digits), _) => (digits, 16),
        (None, Some(digits)) if !digits.is_empty() => (digits, 8),
        _ => (text, 10),
    };
    u64::from_str_radix(digits, radix).ok()
}

/// Parses `FILE` or `copy=FILE`.
fn record(word: &str) -> Result<(Which, PathBuf), Failure> {
    let (which, file) = match word.split_once('=') {
        Some(("zero", file)) => (Which::Zero, file),
        Some(("copy", file)) => (Which::Copy, file),
        _ => (Which::All, word),
    };
    if file.is_empty() {
        return Err(usage(format!("--record {word}: no file name given")));
    }
    let path = PathBuf::from(file);
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    match folder {
        Some(folder) if !folder.is_dir() => {
            Err(usage(format!("--record {word}: {}: no such folder", folder.display())))
        }
        _ if path.is_dir() => Err(usage(format!("--record {word}: a folder, not a file"))),
        _ => Ok((which, path)),
    }
}

fn write_histogram(work: &RealWork, which: Which, file: &Path, common: &Common) -> Result<(), Failure> {
    let Some(histogram) = work.served.histogram(which, &work.command) else {
        output::note(&format!("{} was not written: no such call was served", file.display()), common);
        return Ok(());
    };
    Ok(std::fs::write(file, histogram).with_context(|| format!("--record {}", file.display()))?)
}

fn text(work: &RealWork, style: Style) -> String {
    let mut text = format!("{}\n", bold(&carryline_report::text::safe(&work.command), style));
    let mut serves = format!(
        "The interposer serves zeroing with {}, copying with {}",
        work.served_by.zero, work.served_by.copy
    );
    if !work.figures.is_empty() {
        serves.push_str(&format!("; {} in random order", plural(work.runs as u64, "pair")));
    }
    text.push_str(&paragraph(&format!("{serves}."), style));
    text.push('\n');
    if !work.figures.is_empty() {
        text.push_str(&figures(&work.figures, work.runs).render_in_parts(style));
        text.push('\n');
        text.push_str(&paragraph(&conclusion(work), style));
        if let Some(tuned) = tuned(work) {
            text.push_str(&paragraph(&tuned, style));
        }
    }
    text.push_str(&paragraph(&agreement(work), style));
    text.push('\n');
    let served = &work.served;
    text.push_str(&format!(
        "Served in one run: {} of {} in {}\n",
        plural(served.calls, "call"),
        byte_size_rough(served.bytes),
        plural(served.processes, "program")
    ));
    text.push_str(&sizes(&served.rows).render_in_parts(style));
    text
}

fn paragraph(text: &str, style: Style) -> String {
    wrap(text, style.width, 0) + "\n"
}

fn plural(count: u64, word: &str) -> String {
    format!("{} {word}{}", number_with(count as f64, 0), if count == 1 { "" } else { "s" })
}

fn figures(figures: &[MetricFigure], rounds: usize) -> Table {
    let is_tuned = figures.iter().any(|figure| figure.tuned.is_some());
    let head = [
        ("", ColumnKind::Name),
        ("\nwithout", ColumnKind::Number),
        ("\nwith", ColumnKind::Number),
        ("with /\nwithout", ColumnKind::Number),
        ("95 %\ninterval", ColumnKind::Number),
        ("\nfloor", ColumnKind::Number),
        ("", ColumnKind::Name),
    ];
    let tuned_head = [
        ("with\ntunables", ColumnKind::Number),
        ("tunables /\nwithout", ColumnKind::Number),
        ("", ColumnKind::Name),
    ];
    let mut table = Table::new(head.into_iter().chain(tuned_head.into_iter().filter(|_| is_tuned)));
    for figure in figures {
        let value = |estimate: &Estimate| match figure.metric {
            Metric::RealS | Metric::UserS | Metric::SystemS | Metric::CpuS => {
                format!("{} s", number_with(estimate.median, 3))
            }
            Metric::PeakMemoryBytes => byte_size_rough(estimate.median as u64),
            _ => number_with(estimate.median, 0),
        };
        let ratio = figure.ratio;
        let interval = ratio.map(|r| format!("{:.3} .. {:.3}", r.low, r.high)).unwrap_or_default();
        let emphasis = match figure.verdict {
            Some("less") => Emphasis::Strong,
            Some("more") => Emphasis::Bad,
            _ => Emphasis::None,
        };
        let mut cells = vec![
            figure.metric.name().to_owned(),
            value(&figure.without),
            value(&figure.with),
            ratio.map_or_else(|| "-".to_owned(), |ratio| format!("{:.3}", ratio.median)),
            interval,
            match figure.floor {
                Some(floor) if rounds >= LEAST_ROUNDS => percent_fine(floor),
                Some(_) => "-".to_owned(),
                None => String::new(),
            },
            figure.verdict.unwrap_or_default().to_owned(),
        ];
        if let Some(tuned) = &figure.tuned {
            cells.extend([
                value(&tuned.with),
                tuned.ratio.map_or_else(|| "-".to_owned(), |ratio| format!("{:.3}", ratio.median)),
                tuned.verdict.unwrap_or_default().to_owned(),
            ]);
        }
        table.push(cells, emphasis);
    }
    table
}

/// The result in one sentence, against the faster of the two forms without the interposer.
fn conclusion(work: &RealWork) -> String {
    let Some(figure) = work.figures.iter().find(|figure| figure.metric == Metric::RealS) else {
        return "The runs are too short to compare.".to_owned();
    };
    let faster = figure.tuned.filter(|tuned| tuned.verdict == Some("less"));
    let (ratio, verdict, against) = match faster {
        Some(tuned) => {
            (tuned.interposer_ratio, tuned.interposer_verdict, " against the C library with these tunables")
        }
        None => (figure.ratio, figure.verdict, ""),
    };
    let Some((ratio, floor)) = ratio.zip(figure.floor) else {
        return "The runs are too short to compare.".to_owned();
    };
    let Some(verdict) = verdict else {
        return "One pair of runs cannot show a difference.".to_owned();
    };
    let change = percent_fine((ratio.median - 1.0).abs());
    let has_floor = work.runs >= LEAST_ROUNDS;
    let (more, of, than) = match has_floor {
        true => {
            let floor = percent_fine(floor);
            (
                format!(", more than the floor of {floor}"),
                format!(" (floor {floor})"),
                format!("the floor of {floor}"),
            )
        }
        false => (String::new(), String::new(), "the noise floor".to_owned()),
    };
    match verdict {
        "less" => {
            format!("The interposer saves {change} of the real time{against}{more}.")
        }
        "more" => {
            format!("The interposer costs {change} of the real time{against}{more}.")
        }
        _ if ratio.low <= 1.0 && ratio.high >= 1.0 => format!(
            "No difference in real time{against}: the median differs by {change}, but the rounds disagree on the \
             direction{of}."
        ),
        _ => format!(
            "No difference in real time{against}: {change} does not exceed {than}, the difference between \
             two runs without the interposer."
        ),
    }
}

/// The result of the runs with other tunables.
fn tuned(work: &RealWork) -> Option<String> {
    let real = work.figures.iter().find(|figure| figure.metric == Metric::RealS)?;
    let (tuned, floor) = (real.tuned?, real.floor?);
    let ratio = tuned.ratio?;
    let interval = format!("{:.3} [{:.3}, {:.3}]", ratio.median, ratio.low, ratio.high);
    let variable = format!("GLIBC_TUNABLES={}", work.tunables.as_deref().unwrap_or_default());
    Some(match tuned.verdict? {
        "less" => format!("Without the interposer, {variable} saves real time: ratio {interval}."),
        "more" => format!("Without the interposer, {variable} costs real time: ratio {interval}."),
        _ => {
            let floor = match work.runs >= LEAST_ROUNDS {
                true => format!(", floor {}", percent_fine(floor)),
                false => String::new(),
            };
            format!(
                "Without the interposer, {variable} makes no difference in real time: ratio {interval}{floor}."
            )
        }
    })
}

/// The agreement of outputs and exit statuses, in one or two sentences.
fn agreement(work: &RealWork) -> String {
    let Some(disagreement) = &work.disagreement else {
        // Interrupted before the first comparison.
        return match work.runs {
            0 if work.interrupted => "No runs were compared.".to_owned(),
            _ => format!("All runs agree in standard output and end with {}.", work.exit_status),
        };
    };
    let Disagreement { interposed, differs_by_itself, what } = disagreement;
    let run = if *interposed { "A run with the interposer" } else { "A second run without the interposer" };
    let difference = match what {
        Difference::Exit { expected, found } => {
            format!("DISAGREEMENT. {run} ends with {found}; the first run, without it, with {expected}.")
        }
        Difference::Output(place) => format!(
            "DISAGREEMENT. {run} differs in output from the first run, without it, at byte {} (line {}): '{}' \
             instead of '{}'.",
            place.byte, place.line, place.found, place.expected
        ),
    };
    let cause = if *differs_by_itself {
        "Runs without the interposer disagree too, as with programs that print times, process ids or random \
         names, so the interposer is not to blame. --ignore-output compares exit statuses only."
    } else {
        "Runs without the interposer agree: the interposer changed the program's behaviour, or the \
         program prints its environment or its libraries."
    };
    format!("{difference} {cause}")
}

/// The columns of the table of sizes: upper limit and name.
const COLUMNS: [(u64, &str); 9] = [
    (0, "0"),
    (16, "to 16"),
    (64, "to 64"),
    (256, "to 256"),
    (1 << 10, "to 1K"),
    (4 << 10, "to 4K"),
    (64 << 10, "to 64K"),
    (1 << 20, "to 1M"),
    (u64::MAX, "above"),
];

fn sizes(rows: &[ServedRow]) -> Table {
    let head = [("", ColumnKind::Name), ("calls", ColumnKind::Number), ("bytes", ColumnKind::Number)];
    let mut table = Table::new(head.into_iter().chain(COLUMNS.map(|(_, name)| (name, ColumnKind::Number))));
    for row in rows {
        let mut cells =
            vec![row.function.to_owned(), number_with(row.calls as f64, 0), byte_size_rough(row.bytes)];
        let mut from = 0;
        for (to, _) in COLUMNS {
            let share = row.calls_within(from..=to) as f64 / row.calls as f64;
            from = to.saturating_add(1);
            cells.push(if share == 0.0 { "-".to_owned() } else { format!("{} %", number(share * 100.0)) });
        }
        table.push(cells, Emphasis::None);
    }
    table
}
