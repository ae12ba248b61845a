//! real-work: the effect of faster zeroing on a whole job, as once reported for `make world`.
//!
//! The published pair is a build of a system before and after its kernel zeroed pages by movntps. Here the
//! job is one found on the machine and scaled to the available time: a build of C files if there is a
//! compiler, otherwise a sort. It runs with its zeroing done by movntps and without, paired and in random
//! order; then with this library doing both zeroing and copying.
//!
//! Unlike in the published pair, the program's own zeroing is replaced, not the kernel's. What the kernel
//! does for the program (it zeroes every page that the program faults in) is unchanged.

mod claims;

use super::{Context, Experiment, Outcome};
use carryline_engine::failure::Failure;
use carryline_engine::real::{self, Interposer, Job, Metric, RealWork};
use carryline_report::units::{byte_size_rough, counted, number};
use carryline_results::claims::{Datum, Figure, TableResult, Unit};
use carryline_results::sources::EVANS_2003;
use claims::CLAIMS;
use std::ffi::OsString;
use std::fmt::Write as _;
use std::io;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// See the module.
pub static EXPERIMENT: Experiment = Experiment {
    id: "real-work",
    source: &EVANS_2003,
    title: "The effect of faster zeroing on a whole job",
    weight: 1.0,
    claims: CLAIMS,
    probe: None,
    run,
};

/// A line of the output of `time -l`, before and after.
struct Published {
    metric: Metric,
    unit: Unit,
    before: f64,
    after: f64,
}

const PUBLISHED: [Published; 7] = [
    Published { metric: Metric::RealS, unit: Unit::S, before: 1943.14, after: 1929.02 },
    Published { metric: Metric::UserS, unit: Unit::S, before: 1575.25, after: 1576.67 },
    Published { metric: Metric::SystemS, unit: Unit::S, before: 218.88, after: 205.30 },
    Published { metric: Metric::MinorFaults, unit: Unit::Faults, before: 13_039_568.0, after: 13_039_590.0 },
    Published { metric: Metric::MajorFaults, unit: Unit::Faults, before: 11_639.0, after: 11_645.0 },
    Published {
        metric: Metric::VoluntarySwitches,
        unit: Unit::Switches,
        before: 207_588.0,
        after: 208_376.0,
    },
    Published {
        metric: Metric::InvoluntarySwitches,
        unit: Unit::Switches,
        before: 518_358.0,
        after: 512_820.0,
    },
];
/// CPU seconds of the kernel thread that zeroes free pages, before and after.
const PAGEZERO_S: (f64, f64) = (57.0, 28.0);

/// The metrics that claims use.
const CLAIMED: [Metric; 2] = [Metric::RealS, Metric::UserS];

/// A comparison: the name in its figures, its title, and the interposer's variants.
struct Served {
    name: &'static str,
    title: &'static str,
    variants: &'static [&'static str],
}

const SERVED: [Served; 2] = [
    Served {
        name: "movntps",
        title: "Zeroing by movntps (published: make world, the kernel's zeroing)",
        variants: &["zero=movntps", "copy=libc"],
    },
    Served { name: "carryline", title: "Zeroing and copying by carryline", variants: &[] },
];

/// A job that may be available on the machine.
struct Work {
    /// The description for a note.
    what: fn(usize) -> String,
    /// Writes its input of the given number of parts into a folder; returns its command.
    prepare: fn(&Path, usize) -> io::Result<Vec<OsString>>,
}

const WORKS: [Work; 2] = [
    Work { what: |parts| format!("cc compiling {parts} generated C files"), prepare: build },
    Work { what: |parts| format!("sort of {} lines", parts * LINES), prepare: sort },
];

/// The desired number of rounds, in full and quick runs, and the maximum.
const ROUNDS: (u32, u32) = (7, 3);
const MOST_ROUNDS: u32 = 15;
/// The maximum number of parts of a job.
const MOST_PARTS: usize = 64;
/// Lines per part of the sort.
const LINES: usize = 20_000;

fn run(context: &Context<'_>) -> Result<Outcome, Failure> {
    let begin = Instant::now();
    // Without the interposer there is nothing to compare.
    if Interposer::new(None, &[], &[]).is_err() {
        return Err(context.impossible(
            "no usable interposer, libcarryline-preload.so, is next to this program or in ../lib/carryline ('cargo build -p \
             carryline-preload' builds it; 'carryline real -- true' says more)",
        ));
    }
    context.say("looking for a job");
    let folder = tempfile::tempdir()?;
    let Some((work, once)) = find(folder.path())? else {
        return Err(context.impossible("neither a C compiler ('cc') nor 'sort' runs here"));
    };
    let aimed = if context.quick { ROUNDS.1 } else { ROUNDS.0 };
    let time = |shares: usize| context.budget.mul_f64(0.9).saturating_sub(begin.elapsed()) / shares as u32;
    let (parts, mut rounds) = share(time(SERVED.len()), once, aimed);
    let command = (work.prepare)(folder.path(), parts)?;

    let mut outcome = Outcome::default();
    outcome.notes.push(format!("The job: {}.", (work.what)(parts)));
    for (index, served) in SERVED.iter().enumerate() {
        let started = Instant::now();
        context.say(&format!("{} with {} and without", (work.what)(parts), served.name));
        match compare(served, &command, rounds, context.seed) {
            Ok(found) => {
                // The actual duration of a run limits the remaining rounds: the machine may have become
                // busier.
                let each = started.elapsed() / runs(rounds);
                rounds = affordable(time((SERVED.len() - index - 1).max(1)), each);
                add(&mut outcome, served, &found, context.seed);
            }
            Err(reason) => {
                outcome.notes.push(format!("Not measured with {}: {reason}.", served.name));
                for metric in CLAIMED {
                    for form in ["with", "without"] {
                        outcome.figures.missing(figure_name(metric, form, served), reason.clone());
                    }
                }
            }
        }
    }
    outcome.notes.push(
        "The published change was to the kernel; here the program's own zeroing changes, and the kernel still zeroes \
         every page that the job faults in."
            .to_owned(),
    );
    Ok(outcome)
}

/// Compares the job with these variants interposed and without.
fn compare(served: &Served, command: &[OsString], runs: u32, seed: u64) -> Result<RealWork, String> {
    let variants: Vec<String> = served.variants.iter().map(|word| (*word).to_owned()).collect();
    let interposer = Interposer::new(None, &[], &variants).map_err(|failure| failure.to_string())?;
    let job = Job { command: command.to_vec(), runs, interposer, compare_output: true, seed };
    let found = real::compare(&job, true).map_err(|failure| failure.to_string())?;
    if found.disagreement.is_some() {
        return Err("the job's output differs between runs ('carryline real' shows where)".to_owned());
    }
    if found.served.processes == 0 {
        return Err("no process of the job loads the interposer".to_owned());
    }
    if found.runs == 0 {
        return Err("no round was finished".to_owned());
    }
    Ok(found)
}

/// The first job that runs here, and the duration of its smallest form.
fn find(folder: &Path) -> Result<Option<(&'static Work, Duration)>, Failure> {
    for work in &WORKS {
        let command = (work.prepare)(folder, 1)?;
        let Some((program, words)) = command.split_first() else { continue };
        let mut trial = Command::new(program);
        trial.args(words).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        // Runs twice: the first run reads the program from disk.
        let mut once = || {
            let begin = Instant::now();
            trial.status().is_ok_and(|status| status.success()).then(|| begin.elapsed())
        };
        if let Some(first) = once() {
            return Ok(Some((work, once().map_or(first, |second| second.min(first)))));
        }
    }
    Ok(None)
}

/// The runs of a comparison: three per round, and two before the first.
const fn runs(rounds: u32) -> u32 {
    3 * rounds + 2
}

/// The number of rounds that fit in the time if a run takes `each`; at least two.
fn affordable(time: Duration, each: Duration) -> u32 {
    let runs = time.as_secs_f64() / each.as_secs_f64().max(1e-4);
    (((runs - 2.0) / 3.0) as u32).clamp(2, MOST_ROUNDS)
}

/// The number of parts and of rounds that fit in the time: the desired rounds if a job of one part permits
/// them, fewer if it is slower, and more if even the longest job leaves time.
fn share(time: Duration, once: Duration, aimed: u32) -> (usize, u32) {
    let once_s = once.as_secs_f64().max(1e-4);
    let parts = (time.as_secs_f64() / f64::from(runs(aimed)) / once_s) as usize;
    let parts = parts.clamp(1, MOST_PARTS);
    (parts, affordable(time, Duration::from_secs_f64(once_s * parts as f64)))
}

fn figure_name(metric: Metric, form: &str, served: &Served) -> String {
    format!("{} {form} {}", metric.name(), served.name)
}

/// Adds the table of a comparison, and the figures that claims name.
fn add(outcome: &mut Outcome, served: &Served, found: &RealWork, seed: u64) {
    let has_published = served.name == "movntps";
    let mut columns = vec![("what", ""), ("unit", "")];
    if has_published {
        columns.extend([("published", "before"), ("published", "after"), ("published", "change, %")]);
    }
    columns.extend([("here", "without"), ("here", "with"), ("here", "change, %"), ("floor", "%")]);
    let mut table = TableResult::new(served.title, &columns);
    let change = |before: f64, after: f64| Datum::from((after / before - 1.0) * 100.0);
    for line in &PUBLISHED {
        let mut row: Vec<Datum> = vec![line.metric.name().into(), line.unit.word().into()];
        if has_published {
            row.extend([line.before.into(), line.after.into(), change(line.before, line.after)]);
        }
        let here = found.figures.iter().find(|figure| figure.metric == line.metric);
        let floor = here.and_then(|figure| figure.floor);
        row.extend(match here {
            Some(here) => {
                let ratio = here.ratio.map(|ratio| {
                    let percent = |ratio: f64| (ratio - 1.0) * 100.0;
                    let (low, high) = (percent(ratio.low), percent(ratio.high));
                    Datum::Figure { value: percent(ratio.median), low, high }
                });
                let estimate = |e: carryline_statistics::Estimate| Datum::Figure {
                    value: e.median,
                    low: e.low,
                    high: e.high,
                };
                [estimate(here.without), estimate(here.with), ratio.unwrap_or(Datum::None)]
            }
            None => [Datum::None, Datum::None, Datum::None],
        });
        row.push(floor.map(|floor| floor * 100.0).into());
        table.push(row);
    }
    if has_published {
        let (before, after) = PAGEZERO_S;
        let mut row: Vec<Datum> = vec!["the kernel's pagezero".into(), Unit::S.word().into()];
        row.extend([before.into(), after.into(), change(before, after)]);
        row.resize(columns.len(), Datum::None);
        table.push(row);
    }
    outcome.tables.push(table);
    for metric in CLAIMED {
        let here = found.figures.iter().find(|figure| figure.metric == metric);
        let set = format!("{} {}", metric.name(), served.name);
        for (index, form) in ["without", "with"].into_iter().enumerate() {
            let figure = here.and_then(|here| {
                let samples = here.samples[index].clone();
                Figure::sampled(Unit::S, samples, Some(&set), here.floor.unwrap_or(0.0), seed)
            });
            let name = figure_name(metric, form, served);
            outcome.figures.add_or_reason(name, figure.ok_or_else(|| "no round was finished".to_owned()));
        }
    }
    outcome.notes.push(format!(
        "{}: {} of three runs; {} calls in one run, of {} together.",
        served.name,
        counted(found.runs as u64, "round"),
        number(found.served.calls as f64),
        byte_size_rough(found.served.bytes)
    ));
    outcome.notes.extend(found.remarks.iter().map(|remark| format!("{}: {remark}.", served.name)));
}

/// Writes C files; the command compiles each and prints the assembly, so that outputs can be compared.
fn build(folder: &Path, files: usize) -> io::Result<Vec<OsString>> {
    for file in 0..files {
        std::fs::write(folder.join(format!("part{file:02}.c")), source(file))?;
    }
    let script = "cd \"$1\" && for file in part*.c; do cc -O1 -S -o - \"$file\" || exit 1; done";
    Ok(["sh".into(), "-c".into(), script.into(), "build".into(), folder.into()].into())
}

/// A typical C file: structs, switches, loops, strings.
fn source(file: usize) -> String {
    let mut text =
        String::from("struct item { int kind; long value; const char *name; struct item *next; };\n");
    for function in 0..30 {
        let n = file * 30 + function;
        let _never_fails = write!(
            text,
            "static const char *const names_{n}[] = {{ \"alpha {n}\", \"beta {n}\", \"gamma {n}\" }};\n\
             long walk_{n}(struct item *list, long seed) {{\n\
             \x20   long total = seed * {};\n\
             \x20   for (struct item *item = list; item; item = item->next) {{\n\
             \x20       switch ((item->kind + {n}) % 5) {{\n\
             \x20       case 0: total += item->value; item->name = names_{n}[total & 1]; break;\n\
             \x20       case 1: total ^= item->value << {}; break;\n\
             \x20       case 2: for (int i = 0; i < {}; i++) total = total * 31 + i; break;\n\
             \x20       case 3: if (item->next) total -= item->next->value / {}; break;\n\
             \x20       default: item->name = names_{n}[2];\n\
             \x20       }}\n\
             \x20   }}\n\
             \x20   return total;\n\
             }}\n",
            n + 3,
            n % 13,
            n % 50 + 2,
            n % 7 + 2,
        );
    }
    text
}

/// Writes unsorted lines; the command sorts them.
fn sort(folder: &Path, parts: usize) -> io::Result<Vec<OsString>> {
    let file = folder.join("lines");
    let mut text = String::new();
    for line in 0..parts * LINES {
        let _never_fails =
            writeln!(text, "{:016x} line {line}", (line as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    }
    std::fs::write(&file, text)?;
    Ok(["sort".into(), file.into()].into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_published_gain_matches_the_claims() {
        let gain = |before: f64, after: f64| (1.0 - after / before) * 100.0;
        let real = &PUBLISHED[0];
        assert!((gain(real.before, real.after) - 0.7).abs() < 0.05);
        assert!((gain(PAGEZERO_S.0, PAGEZERO_S.1) - 51.0).abs() < 0.5);
    }

    #[test]
    fn parts_and_rounds_fit_in_the_time() {
        let seconds = Duration::from_secs_f64;
        for (time, once, aimed) in [(30.0, 0.05, 7), (6.0, 0.05, 3), (30.0, 1e-3, 7), (10.0, 0.4, 7)] {
            let (parts, rounds) = share(seconds(time), seconds(once), aimed);
            let takes = f64::from(runs(rounds)) * parts as f64 * once;
            assert!(takes <= time, "{time} {once}: {parts} parts, {rounds} rounds, {takes} s");
            assert!(rounds >= 2 && parts >= 1);
        }
        // A job too slow for the budget: the minimum number of rounds.
        assert_eq!(share(seconds(1.0), seconds(2.0), 7), (1, 2));
        assert_eq!(share(Duration::ZERO, Duration::ZERO, 7), (1, 2));
    }

    #[test]
    fn inputs_are_reproducible_and_differ_by_part() {
        assert_eq!(source(3), source(3));
        assert_ne!(source(3), source(4));
        let folder = tempfile::tempdir().expect("a folder");
        let command = sort(folder.path(), 2).expect("written");
        let lines = std::fs::read_to_string(folder.path().join("lines")).expect("lines");
        assert_eq!((command.len(), lines.lines().count()), (2, 2 * LINES));
        build(folder.path(), 3).expect("written");
        assert!(folder.path().join("part02.c").is_file());
    }

    #[test]
    fn claims_name_existing_figures() {
        let made: Vec<String> = SERVED
            .iter()
            .flat_map(|served| CLAIMED.map(|metric| (metric, served)))
            .flat_map(|(metric, served)| ["with", "without"].map(|form| figure_name(metric, form, served)))
            .collect();
        for name in CLAIMS.iter().flat_map(|claim| claim.rule.names()) {
            assert!(made.iter().any(|known| known == name), "{name}: {made:?}");
        }
    }
}
