//! The first screen of a run: the machine, how far to trust the run, and for each family what to call, with
//! its gains and losses.
//!
//! One choice is named for each family: the simplest variant that ties with the best in every situation, or
//! else the simplest of those with the least loss over all situations. Simplicity is the effort of adoption:
//! first what the program has, then a plain call of a library, then a call with an intent or a setting, then
//! a technique to implement.

mod choice;

use crate::figure::{baseline, speed};
use crate::grouping::distinct;
use crate::labels;
use crate::recommend::tuning;
use crate::recommend::{Situation, isolated, isolated_note, situations, slower_by};
use crate::roles::Roles;
use crate::table::{Style, bold};
use crate::text::{enumerate, safe, wrap};
use crate::units::{percent_fine, times};
use carryline_conditions::{Condition, Dependence};
use carryline_machine::environment::Environment;
use carryline_results::{Cell, RunResult, Status};
use carryline_variants::{Family, Role, find};
use carryline_warnings::is_interrupted;
use carryline_warnings::trust::{Trust, condensed, median_floor, trust};

/// The maximum number of lines of the screen.
pub const MOST_LINES: usize = 24;
/// The maximum width of the screen; longer lines are hard to read.
const MOST_COLUMNS: u16 = 100;
/// Above this noise floor, no advice is given.
const MOST_FLOOR: f64 = 0.10;
/// Smaller losses are not reported, whatever the noise.
const LEAST_LOSS: f64 = 0.01;
/// A tie counts as the loss that its interval allows if that is more than this.
const MUCH: f64 = 0.10;

/// The first screen of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Advice {
    /// The machine, in words.
    pub machine: String,
    /// The run's number in the store.
    pub run_id: Option<i64>,
    /// How far to trust the run.
    pub trust: Trust,
    /// The median noise floor of the situations, and the largest with its situation.
    pub floor: Option<(f64, f64, String)>,
    /// The number of warnings.
    pub warnings: usize,
    /// Why there is no advice, in sentences; `None` if there is some.
    pub withheld: Option<String>,
    /// The choice for each family.
    pub choices: Vec<Choice>,
    /// The largest gain by other thresholds of the C library, and where.
    pub c_library: Option<(f64, String)>,
    /// The number of situations measured.
    pub situations: usize,
    /// How many of them are of isolated calls, from which no advice is derived.
    pub isolated: usize,
}

/// The choice for a family.
#[derive(Clone, Debug, PartialEq)]
pub struct Choice {
    /// The family.
    pub family: Family,
    /// The variant.
    pub variant: String,
    /// The call that a program makes, or the variant's name.
    pub call: String,
    /// The number of situations in which it was measured.
    pub measured: usize,
    /// The baselines of its ratios.
    pub baselines: Vec<String>,
    /// Speed relative to the baseline where it is faster, and where; the largest gain first.
    pub gains: Vec<(f64, String)>,
    /// Where it ties with the baseline.
    pub same: Vec<String>,
    /// Where another variant is faster: relative extra time, the faster variant, and where; the largest loss
    /// first.
    pub losses: Vec<(f64, String, String)>,
    /// Whether the run measured everything that was planned.
    pub complete: bool,
}

/// Derives the advice from a run.
#[must_use]
pub fn advice(run: &RunResult, roles: &Roles) -> Advice {
    let families = distinct(run.cells.iter().map(|cell| cell.family)).into_iter();
    let by_family: Vec<(Family, Vec<Situation<'_>>)> =
        families.map(|family| (family, situations(run, family))).collect();
    let largest = run.noise_floor.as_ref().and_then(|floor| {
        let largest = floor.by_situation.iter().max_by(|a, b| a.1.total_cmp(&b.1))?;
        Some((median_floor(run)?, largest.1, safe(&largest.0)))
    });
    let tolerance = median_floor(run).unwrap_or(LEAST_LOSS);
    let isolated = isolated(run);
    let gains = by_family.iter().filter_map(|(_, situations)| tuning::c_library(situations, place));
    let chosen = || by_family.iter().filter_map(|(family, of)| choice(*family, of, roles, tolerance));
    let chosen = || chosen().map(|choice| Choice { complete: run.complete, ..choice });
    let unreliable = unreliable(run);
    let choices: Vec<Choice> = if unreliable.is_some() { vec![] } else { chosen().collect() };
    let is_advice = unreliable.is_none() && !choices.is_empty();
    Advice {
        machine: machine(run),
        run_id: run.run_id,
        trust: trust(run),
        floor: largest,
        warnings: condensed(&run.warnings).len(),
        c_library: gains.max_by(|a, b| a.0.total_cmp(&b.0)).filter(|_| is_advice),
        situations: by_family.iter().map(|(_, situations)| situations.len()).sum::<usize>() + isolated,
        isolated,
        withheld: unreliable.or_else(|| {
            // Of isolated calls alone, their note says why there is none.
            let is_told = isolated > 0 && by_family.iter().all(|(_, of)| of.is_empty());
            (!is_advice && !is_told).then(|| nothing_to_compare(&by_family))
        }),
        choices,
    }
}

/// Why the run supports no advice, if so.
pub(crate) fn unreliable(run: &RunResult) -> Option<String> {
    if is_interrupted(&run.warnings) {
        return Some("Interrupted: partial results.".to_owned());
    }
    let floor = median_floor(run).filter(|floor| *floor > MOST_FLOOR)?;
    Some(format!(
        "A routine differs from itself by {}, so there is no advice; use a larger --budget, or a quieter machine.",
        percent_fine(floor)
    ))
}

/// Why no family has a choice.
fn nothing_to_compare(by_family: &[(Family, Vec<Situation<'_>>)]) -> String {
    let ranked = by_family.iter().flat_map(|(_, situations)| situations).flat_map(|s| &s.cells);
    let ranked = distinct(ranked.filter(|cell| cell.rank.is_some()).map(|cell| safe(&cell.variant)));
    match ranked.as_slice() {
        [] => "Nothing could be ranked, so there is no advice.".to_owned(),
        names => format!(
            "Only {} could be ranked, with nothing to compare, so there is no advice.",
            enumerate(names)
        ),
    }
}

/// The machine, with the library's environment variables: `AMD EPYC (Zen 5), 2 CPUs, virtual machine (KVM),
/// glibc 2.36`.
#[must_use]
pub fn machine(run: &RunResult) -> String {
    let Ok(here) = serde_json::from_value::<Environment>(run.environment.clone()) else {
        let is_redacted = run.environment["cpu"]
            .as_object()
            .is_some_and(|cpu| cpu.contains_key("vendor") && !cpu.contains_key("brand"));
        return match is_redacted {
            true => "a machine whose description was left out".to_owned(),
            false => "a machine described by another version of this program".to_owned(),
        };
    };
    described(&here)
}

/// A machine in a line: its CPU, the number of CPUs, the C library.
#[must_use]
pub fn described(here: &Environment) -> String {
    let cpu = &here.cpu;
    let name = cpu.brand.as_deref().unwrap_or("an unnamed CPU");
    let core = cpu.core().map(|core| format!(" ({core})")).unwrap_or_default();
    let cpus = if cpu.logical_cpus == 1 { "1 CPU".to_owned() } else { format!("{} CPUs", cpu.logical_cpus) };
    let mut parts = vec![format!("{name}{core}"), cpus];
    parts.extend(cpu.hypervisor.as_ref().map(|by| match by.as_str() {
        "unknown" => "virtual machine".to_owned(),
        by => format!("virtual machine ({by})"),
    }));
    parts.push(here.system.libc.clone());
    if !cpu.masked_features.is_empty() {
        parts.push(format!("without {}", cpu.masked_features.join(", ")));
    }
    if let Some(tuning) = &here.tuning {
        parts.extend(tuning.forced.as_ref().map(|kernel| format!("CARRYLINE_FORCE={kernel}")));
        // The built-in profile follows from the CPU.
        parts.extend((!tuning.profile.ends_with("built in")).then(|| format!("profile {}", tuning.profile)));
    }
    safe(&parts.join(", "))
}

/// The effort of adopting a variant in a program; less is simpler.
pub(crate) fn effort(family: Family, name: &str, roles: &Roles) -> u32 {
    let Some(variant) = find(family, name) else { return 4 };
    match variant.role {
        _ if roles.baseline(family) == Some(name) => 0,
        _ if roles.ours(family) == Some(name) => 1,
        Role::Baseline if variant.with_other_thresholds().is_some() => 2,
        _ if variant.is_c_library_function() => 1,
        _ if variant.call.is_some() => 3,
        Role::Peer => 3,
        _ => 5,
    }
}

fn choice(family: Family, all: &[Situation<'_>], roles: &Roles, tolerance: f64) -> Option<Choice> {
    let ranked = all.iter().flat_map(|situation| &situation.cells).filter(|cell| cell.rank.is_some());
    let names = distinct(ranked.map(|cell| cell.variant.as_str()));
    // Of one routine nothing follows, neither that it is fast nor that it is slow.
    if names.len() < 2 {
        return None;
    }
    let count = |name: &str| all.iter().filter(|situation| measured(situation, name).is_some()).count();
    let most = names.iter().map(|name| count(name)).max()?;
    // The mean logarithm of the time relative to the best, over all situations.
    let regret = |name: &str| -> f64 {
        let losses = all.iter().filter_map(|situation| {
            let own = measured(situation, name)?;
            loss(situation, own).map(|(by, _)| by).or_else(|| possible_loss(own))
        });
        losses.map(f64::ln_1p).sum::<f64>() / most as f64
    };
    let entered: Vec<(&str, f64)> =
        names.into_iter().filter(|name| count(name) == most).map(|name| (name, regret(name))).collect();
    let least = entered.iter().map(|(_, regret)| *regret).fold(f64::INFINITY, f64::min);
    // A variant that is never beaten needs no tolerance.
    let bound = if least == 0.0 { 0.0 } else { least + tolerance };
    let (name, _) = entered.into_iter().filter(|(_, regret)| *regret <= bound).min_by(|a, b| {
        effort(family, a.0, roles).cmp(&effort(family, b.0, roles)).then(a.1.total_cmp(&b.1))
    })?;
    let mut choice = Choice {
        family,
        variant: safe(name),
        call: find(family, name).and_then(|variant| variant.call).map_or_else(|| safe(name), str::to_owned),
        measured: most,
        baselines: vec![],
        gains: vec![],
        same: vec![],
        losses: vec![],
        complete: true,
    };
    for situation in all {
        let Some(own) = measured(situation, name) else { continue };
        let place = place(situation);
        if let Some(baseline) = baseline(situation.cells.iter().copied(), roles) {
            if !choice.baselines.iter().any(|known| known == baseline) {
                choice.baselines.push(safe(baseline));
            }
            let ties = own.variant == baseline || own.ties_with.iter().any(|other| other == baseline);
            match speed(own) {
                _ if ties => choice.same.push(place.clone()),
                Some(speed) if speed > 1.0 => choice.gains.push((speed, place.clone())),
                _ => {}
            }
        }
        if let Some((by, winner)) = loss(situation, own).filter(|(by, _)| *by >= LEAST_LOSS) {
            choice.losses.push((by, winner, place));
        }
    }
    choice.gains.sort_by(|a, b| b.0.total_cmp(&a.0));
    choice.losses.sort_by(|a, b| b.0.total_cmp(&a.0));
    Some(choice)
}

fn measured<'a>(situation: &Situation<'a>, name: &str) -> Option<&'a Cell> {
    situation.cells.iter().copied().find(|cell| cell.variant == name && cell.status == Status::Ok)
}

/// The extra time relative to the fastest variant, and that variant; `None` if they tie.
fn loss(situation: &Situation<'_>, own: &Cell) -> Option<(f64, String)> {
    let leader = situation.first();
    if own.rank.is_none_or(|rank| rank == 1) {
        return None;
    }
    slower_by(own, leader).map(|by| (by.max(0.0), safe(&leader.variant)))
}

/// The extra time that the interval of a tie allows, if it is much: a routine that is slow in some processes ties with the
/// fastest, but is not as good.
fn possible_loss(own: &Cell) -> Option<f64> {
    own.ratio_to_leader.map(|ratio| ratio.high - 1.0).filter(|by| *by > MUCH)
}

/// A condition without its default fields: `4 KiB`, `fleet:memcpy-A, random offsets`.
fn place(situation: &Situation<'_>) -> String {
    let condition = &situation.first().condition;
    let plain = labels::fields(&Condition::plain(0));
    let fields = labels::fields(condition).into_iter().zip(plain);
    let mut words = vec![labels::size_phrase(condition)];
    for ((name, word), (_, usual)) in fields {
        match name {
            "size" => {}
            _ if word == usual => {}
            "offset" => words.push(format!("{word} offset")),
            _ => words.push(word),
        }
    }
    if condition.dependence != Dependence::Independent {
        words.push(format!("{} calls", condition.dependence));
    }
    safe(&words.join(", "))
}

/// A line, and its priority: 0 always stays; the highest number is dropped first if there is no room.
pub(crate) type Line = (u32, String);

impl Advice {
    /// The screen, of at most [`MOST_LINES`] lines.
    #[must_use]
    pub fn to_text(&self, style: Style) -> String {
        let width = style.width.unwrap_or(MOST_COLUMNS).clamp(40, MOST_COLUMNS);
        let mut lines: Vec<Line> = vec![];
        let run = self.run_id.map(|id| format!(", run {id}")).unwrap_or_default();
        let mut push = |order: u32, text: &str, indent: usize| {
            let wrapped = wrap(text, Some(width - indent as u16), 2);
            lines.extend(wrapped.split('\n').map(|line| (order, format!("{}{line}", " ".repeat(indent)))));
        };
        push(0, &format!("{}{run}", self.machine), 0);
        push(0, &self.trust_line(), 0);
        push(1, "", 0);
        if let Some(why) = &self.withheld {
            push(0, why, 0);
        }
        for choice in &self.choices {
            push(0, &choice.headline(), 0);
            for (order, sentence) in choice.sentences(usize::from(width)) {
                push(order, &sentence, 2);
            }
        }
        if let Some(text) = self.c_library_line() {
            push(2, &text, 0);
        }
        if let Some(text) = self.isolated_note() {
            push(u32::from(!self.choices.is_empty()) * 2, &text, 0);
        }
        let mut out = String::new();
        for (_, line) in fitting(lines, MOST_LINES - 2) {
            let is_headline = self.choices.iter().any(|choice| line == choice.headline());
            out.push_str(
                if is_headline { bold(line.trim_end(), style) } else { line.trim_end().to_owned() }.as_str(),
            );
            out.push('\n');
        }
        out
    }

    /// The gain by other thresholds of the C library.
    #[must_use]
    pub fn c_library_line(&self) -> Option<String> {
        let (by, place) = self.c_library.as_ref()?;
        let times = times(1.0 + by);
        Some(format!("your libc: {times} as fast with other thresholds at {place}: carryline tune --libc"))
    }

    /// A sentence on the situations of isolated calls.
    #[must_use]
    pub fn isolated_note(&self) -> Option<String> {
        isolated_note(self.isolated)
    }

    /// The grade of trust with its reason, the noise floor, and the number of warnings.
    #[must_use]
    pub fn trust_line(&self) -> String {
        let reason = self.trust.reason.as_ref().map(|reason| format!(" ({reason})")).unwrap_or_default();
        let mut parts = vec![format!("trust: {}{reason}", self.trust.grade)];
        if let Some((median, largest, place)) = &self.floor {
            let median = percent_fine(*median);
            parts.push(match percent_fine(*largest) {
                largest if self.situations < 2 || largest == median => format!("noise floor {median}"),
                largest => format!("noise floor {median} (median), {largest} ({place})"),
            });
        }
        parts.push(match self.warnings {
            0 => "no warnings".to_owned(),
            1 => "1 warning".to_owned(),
            count => format!("{count} warnings"),
        });
        parts.join("; ")
    }
}

/// Drops the lines with the highest numbers until at most `most` are left.
fn fitting(mut lines: Vec<Line>, most: usize) -> Vec<Line> {
    while lines.len() > most {
        let Some(order) = lines.iter().map(|(order, _)| *order).max().filter(|order| *order > 0) else {
            break;
        };
        let Some(at) = lines.iter().rposition(|(own, _)| *own == order) else { break };
        lines.remove(at);
    }
    lines
}

#[cfg(test)]
mod tests;
