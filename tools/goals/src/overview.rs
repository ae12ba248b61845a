//! What the results of all machines have in common: in short, in sentences with figures, and in a table with a row for each
//! machine and tier.

use crate::results::{GoalResult, Interval, OpponentKind, Order, Results};
use crate::standing::{
    Compared, FUNCTIONS, JOBS, Job, Place, behind_a_loop, declared, fleet_mean, heading, of_kind,
    percent_longer, possible_traps, reached,
};
use crate::table::factor;
use crate::{machine, markdown};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// The library outside the collection that has a column of its own.
const OTHER: &str = "aocl_memcpy";

const TABLE: &str = "\
Of each job: the cells in which ours is faster, and slower, of all. Fleet: a fleet's size distributions, drawn or learned by a
branch predictor. One size: the cells over 5 % behind the fastest peer, of all. memcpy, memmove, memset: the C library's times
over ours for a fleet's size distributions, drawn, in the mean; `aocl_memcpy`: the same of AMD's library.

Parts measured on different days are of different versions of the library; each names its commit.
";

/// The paragraphs and the table.
#[must_use]
pub fn overview(all: &[Results]) -> String {
    format!("{}\n\n{}\n{TABLE}\n{}", in_short(all), in_figures(all), table(all))
}

/// Where ours wins, ties and loses, without the conditions.
fn in_short(all: &[Results]) -> String {
    let (mut wins, mut ties, mut loses) = (Vec::new(), Vec::new(), Vec::new());
    for job in &JOBS {
        let compared: Vec<Compared> = all.iter().map(|results| Compared::new(results, job)).collect();
        let sum = |of: &dyn Fn(&Compared) -> usize| compared.iter().map(of).sum::<usize>();
        let cells = sum(&|one| one.cells());
        let [faster, slower] = [Order::Faster, Order::Slower].map(|order| sum(&|one| one.count(order)));
        let best = compared.iter().filter_map(|one| one.best()).map(|(_, cell)| cell.ratio).reduce(f64::max);
        let worst =
            compared.iter().filter_map(|one| one.worst()).map(|(_, cell)| cell.ratio).reduce(f64::min);
        match (best, worst) {
            _ if cells == 0 => {}
            (Some(best), _) if 2 * faster >= cells && faster > slower => {
                wins.push(format!(
                    "{} ({faster} of {cells} cells, by up to {} times; slower in {slower})",
                    job.short,
                    factor(best)
                ));
            }
            (_, Some(worst)) if slower > faster => loses.push(format!(
                "{} ({slower} of {cells} cells, with up to {:.0} % more time)",
                job.short,
                percent_longer(worst)
            )),
            _ => {
                ties.push(format!("{} (faster in {faster} of {cells} cells, slower in {slower})", job.short))
            }
        }
    }
    let sentence = |head: &str, jobs: &[String]| match jobs {
        [] => String::new(),
        [one] => format!("{head} {one}. "),
        [first @ .., last] => format!("{head} {} and {last}. ", first.join(", ")),
    };
    let [behind, _, sizes] = behind_of_all(all);
    let mut out = sentence("In short: ours is faster in", &wins)
        + &sentence("It mostly ties in", &ties)
        + &sentence("It is slower in", &loses);
    if sizes > 0 {
        let _ = write!(
            out,
            "Where one size of up to 4096 bytes is called again and again, it is over 5 % behind the fastest of all peers in \
             {behind} of {sizes} cells."
        );
    }
    out.trim_end().to_owned()
}

fn in_figures(all: &[Results]) -> String {
    let cpus: BTreeSet<&str> = all.iter().map(|results| results.machine.as_str()).collect();
    let masked = all.iter().filter(|results| !results.masked.is_empty()).count();
    let (cpus, tiers) = (counted(cpus.len(), "CPU model"), counted(all.len(), "tier"));
    let mut out = format!(
        "Measured on {cpus} in {tiers}, {masked} of them masked. A cell is a size, or a distribution of sizes, under a \
         condition. Ours is faster or slower in it if the interval and the noise floor leave no doubt; in the other cells they \
         tie. The C library stands \
         for the faster of two rows in each cell: as installed, and with its `rep` thresholds raised.\n\n"
    );
    let jobs = JOBS.iter().filter_map(|job| about(all, job));
    let others = [sizes(all), traps(all), fleets(all), other_libraries(all)].into_iter().flatten();
    for sentence in jobs.chain(others) {
        let _ = writeln!(out, "- {sentence}");
    }
    out
}

/// `1 model`, `2 models`.
fn counted(count: usize, of: &str) -> String {
    format!("{count} {of}{}", if count == 1 { "" } else { "s" })
}

/// The CPU and the tier.
fn place(results: &Results) -> String {
    format!("{}, {}", machine::core(&results.machine), results.tier.title())
}

fn about(all: &[Results], job: &Job) -> Option<String> {
    let compared: Vec<(&Results, Compared)> =
        all.iter().map(|results| (results, Compared::new(results, job))).collect();
    let cells: usize = compared.iter().map(|(_, one)| one.cells()).sum();
    let count = |order| compared.iter().map(|(_, one)| one.count(order)).sum::<usize>();
    let [faster, slower] = [Order::Faster, Order::Slower].map(count);
    let best = compared.iter().filter_map(|(results, one)| Some((results, one.best()?)));
    let worst = compared.iter().filter_map(|(results, one)| Some((results, one.worst()?)));
    let mut sentence = format!("{}: ours is faster in {faster} of {cells} cells", job.compared);
    if let Some((results, (goal, cell))) = best.max_by(|(_, a), (_, b)| a.1.ratio.total_cmp(&b.1.ratio)) {
        let (ratio, place, by) = (factor(cell.ratio), place(results), declared(&goal.routine));
        let _ = write!(sentence, ", by up to {ratio} times ({place}{by})");
    }
    let _ = write!(sentence, ", and slower in {slower}");
    if let Some((results, (goal, cell))) = worst.min_by(|(_, a), (_, b)| a.1.ratio.total_cmp(&b.1.ratio)) {
        let (percent, place, by) = (percent_longer(cell.ratio), place(results), declared(&goal.routine));
        let _ = write!(sentence, ", with up to {percent:.0} % more time ({place}{by})");
    }
    (cells > 0).then(|| sentence + ".")
}

/// The lowest and the highest ratio with their CPUs, and a name before them.
fn range(name: &str, ratios: &[(f64, String)]) -> Option<String> {
    let (least, at_least) = ratios.iter().min_by(|a, b| a.0.total_cmp(&b.0))?;
    let (most, at_most) = ratios.iter().max_by(|a, b| a.0.total_cmp(&b.0))?;
    Some(if least == most {
        format!("{name} {} ({at_least})", factor(*least))
    } else {
        format!("{name} {} ({at_least}) to {} ({at_most})", factor(*least), factor(*most))
    })
}

fn fleets(all: &[Results]) -> Option<String> {
    let words = |sizes: &str| {
        let of_function = |function: &&str| {
            let mean = |results| Some((fleet_mean(results, sizes, function)?.1, place(results)));
            range(function, &all.iter().filter_map(mean).collect::<Vec<_>>())
        };
        let words: Vec<String> = FUNCTIONS.iter().filter_map(of_function).collect();
        (!words.is_empty()).then(|| words.join(", "))
    };
    let mut sentence = format!(
        "For a fleet's size distributions, the C library's times over ours in the mean: {}",
        words("fleet")?
    );
    if let Some(learnt) = words("learnt") {
        let _ = write!(sentence, "; for sizes that a branch predictor has learned {learnt}");
    }
    Some(sentence + ".")
}

/// Where each library is faster for a fleet's size distributions, and by how much.
fn other_libraries(all: &[Results]) -> Option<String> {
    let mut means: BTreeMap<&str, Vec<(&Results, Interval)>> = BTreeMap::new();
    for results in all {
        for other in &results.others {
            if let Some(mean) = other.fleet {
                means.entry(&other.name).or_default().push((results, mean));
            }
        }
    }
    let words = |(name, means): (&&str, &Vec<(&Results, Interval)>)| {
        let (faster, others): (Vec<_>, Vec<_>) = means.iter().partition(|(_, mean)| mean.high < 1.0);
        let others: Vec<(f64, String)> =
            others.into_iter().map(|(results, mean)| (mean.median, place(results))).collect();
        let faster: Vec<String> = faster
            .into_iter()
            .map(|(results, mean)| {
                format!("on {} (ours takes {:.0} % longer)", place(results), percent_longer(mean.median))
            })
            .collect();
        let mut words = match faster.as_slice() {
            [] => format!("`{name}` is nowhere faster than ours"),
            faster => format!("`{name}` is faster than ours {}", faster.join(" and ")),
        };
        if let Some(range) = range("its time over ours is", &others) {
            let _ = write!(words, "{} {range}", if faster.is_empty() { ";" } else { "; elsewhere" });
        }
        words
    };
    let words: Vec<String> = means.iter().map(words).collect();
    (!words.is_empty()).then(|| {
        format!(
            "For a fleet's size distributions in the mean, of the libraries outside the collection, {}. They are not \
             masked: where ours is, they may use instructions that ours may not.",
            words.join(". ")
        )
    })
}

/// Of the cells with one size up to 4096: those behind, those behind by two cycles, and all.
fn behind(results: &Results) -> [usize; 3] {
    of_kind(results, OpponentKind::Sizes).fold([0; 3], |[behind, far, cells], goal| {
        [
            behind + goal.count.below,
            far + goal.count.by_two_cycles.unwrap_or_default(),
            cells + goal.count.cells,
        ]
    })
}

fn behind_of_all(all: &[Results]) -> [usize; 3] {
    all.iter().map(behind).fold([0; 3], |[a, b, c], [d, e, f]| [a + d, b + e, c + f])
}

/// The goal's family, the size and its offsets, and the CPU.
fn cell_at(results: &Results, goal: &GoalResult, size: &str) -> String {
    format!("{} {size}, {}; {}", goal.family, goal.condition, place(results))
}

fn sizes(all: &[Results]) -> Option<String> {
    let [behind, far, cells] = behind_of_all(all);
    let worst = all
        .iter()
        .flat_map(|results| of_kind(results, OpponentKind::Sizes).map(move |goal| (results, goal)))
        .filter_map(|(results, goal)| Some((results, goal, goal.cells.first()?)))
        .filter(|(_, goal, cell)| cell.ratio < goal.want)
        .min_by(|a, b| a.2.ratio.total_cmp(&b.2.ratio));
    let worst = worst.map(|(results, goal, cell)| {
        let place = cell_at(results, goal, &cell.size);
        format!("; the worst takes {:.0} % longer ({place})", percent_longer(cell.ratio))
    });
    (cells > 0).then(|| {
        format!(
            "Of {cells} cells with one size from 0 to 4096 bytes, called again and again, the medians of {behind} are over \
             5 % behind the fastest peer, {far} of them by two core cycles or more{}.",
            worst.unwrap_or_default()
        )
    })
}

fn traps(all: &[Results]) -> Option<String> {
    let cells: usize = all.iter().map(possible_traps).sum();
    let [proven, undecided] = [0, 1].map(|at| {
        let of = |results| behind_a_loop(results).into_iter().nth(at).unwrap_or_default();
        all.iter()
            .flat_map(|results| of(results).into_iter().map(move |place| (results, place)))
            .collect::<Vec<_>>()
    });
    let worst = |cells: &[(&Results, Place)]| {
        let worst = cells.iter().min_by(|a, b| a.1.1.ratio.total_cmp(&b.1.1.ratio));
        let words = worst.map(|(results, (goal, cell))| {
            let place = cell_at(results, goal, &cell.size);
            format!(" (the worst takes {:.0} % longer: {place})", percent_longer(cell.ratio))
        });
        words.unwrap_or_default()
    };
    (cells > 0).then(|| {
        format!(
            "Of {cells} cells from 1500 bytes to 128 MiB that could be traps, {} are surely slower than the plain loop or the \
             C library, with a median over 5 % behind{}; {} more have such a median, but are not decided{}.",
            proven.len(),
            worst(&proven),
            undecided.len(),
            worst(&undecided)
        )
    })
}

fn table(all: &[Results]) -> String {
    let mut header = vec!["CPU", "tier", "measured", "goals reached"];
    header.extend(JOBS.map(|job| job.title));
    header.push("one size");
    header.extend(FUNCTIONS);
    header.push(OTHER);
    let right: Vec<bool> = (0..header.len()).map(|at| at > 2).collect();
    let rows: Vec<Vec<String>> = all.iter().map(row).collect();
    markdown::table(&header, &right, &rows)
}

fn row(results: &Results) -> Vec<String> {
    let [reached, measured] = reached(results);
    let masked = if results.masked.is_empty() { "" } else { ", masked" };
    let link = anchor(&heading(results));
    let mut row = vec![
        machine::core(&results.machine).to_owned(),
        format!("[{}{masked}](#{link})", results.tier.title()),
        results.measured.clone(),
        format!("{reached} of {measured}"),
    ];
    let none = || "-".to_owned();
    row.extend(JOBS.iter().map(|job| {
        let compared = Compared::new(results, job);
        match compared.cells() {
            0 => none(),
            cells => {
                format!("{}, {} of {cells}", compared.count(Order::Faster), compared.count(Order::Slower))
            }
        }
    }));
    row.push(match behind(results) {
        [_, _, 0] => none(),
        [behind, _, cells] => format!("{behind} of {cells}"),
    });
    row.extend(FUNCTIONS.map(|function| {
        fleet_mean(results, "fleet", function).map_or_else(none, |(_, ratio)| factor(ratio))
    }));
    let other = results.others.iter().find(|other| other.name == OTHER).and_then(|other| other.fleet);
    row.push(other.map_or_else(none, |mean| factor(mean.median)));
    row
}

/// The name under which a heading is linked: its letters, digits and hyphens in lower case, and a hyphen for each space.
fn anchor(heading: &str) -> String {
    heading
        .chars()
        .filter(|c| c.is_alphanumeric() || [' ', '-', '_'].contains(c))
        .map(|c| if c == ' ' { '-' } else { c.to_ascii_lowercase() })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_names_both_ends_or_the_only_one() {
        let range = |ratios: &[f64]| {
            let cpus = ["Zen 3", "Zen 4", "Zen 5"].map(str::to_owned);
            range("memcpy", &ratios.iter().copied().zip(cpus).collect::<Vec<_>>())
        };
        assert_eq!(range(&[1.5, 1.224, 2.489]).as_deref(), Some("memcpy 1.22 (Zen 4) to 2.49 (Zen 5)"));
        assert_eq!(range(&[0.9]).as_deref(), Some("memcpy 0.90 (Zen 3)"));
        assert_eq!(range(&[]), None);
    }

    #[test]
    fn headings_are_linked_as_renderers_name_them() {
        let heading = "AMD EPYC, family 26 model 2, virtual machine (KVM): AVX2, masked";
        assert_eq!(anchor(heading), "amd-epyc-family-26-model-2-virtual-machine-kvm-avx2-masked");
        assert_eq!(anchor("Intel(R) Xeon(R): AVX-512"), "intelr-xeonr-avx-512");
    }
}
