//! Recommendations: a short table for each family, derived from the rankings of all situations. A tie is
//! shown as a tie, and losses of this project's own function come first, with their size. There is a table
//! for each dependence.

mod elsewhere;
pub(crate) mod tuning;

use crate::advice::{effort, unreliable};
use crate::figure::{baseline, fastest_first, leads, speed};
use crate::grouping::{distinct, grouped};
use crate::labels;
use crate::ranking::status_word;
use crate::roles::Roles;
use crate::table::{ColumnKind, Emphasis, Style, Table, bold};
use crate::text::{enumerate, safe, wrap};
use crate::units::{byte_phrase, byte_size, percent_fine, times};
use carryline_conditions::{Beside, ColdBatch, Dependence, Then};
use carryline_results::{Cell, RunResult, Status};
use carryline_variants::Family;

/// The recommendations for the machine of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Recommendation {
    /// False if something was not measured.
    pub complete: bool,
    /// The number of situations of isolated calls, from which nothing is recommended.
    pub isolated: usize,
    /// Why nothing is recommended, if the run supports no advice.
    pub unreliable: Option<String>,
    /// The recommendations by family, in the order of the run.
    pub families: Vec<FamilyAdvice>,
}

/// The recommendations for a family.
#[derive(Clone, Debug, PartialEq)]
pub struct FamilyAdvice {
    /// The family.
    pub family: Family,
    /// The baselines of the speeds, in the order of the situations, without duplicates; empty if none was
    /// measured.
    pub baselines: Vec<String>,
    /// The situations, by dependence.
    pub tables: Vec<(Dependence, Vec<Choice>)>,
    /// The conclusions in sentences.
    pub sentences: Vec<String>,
}

/// The winners of one situation.
#[derive(Clone, Debug, PartialEq)]
pub struct Choice {
    /// The condition without family and dependence.
    pub condition: String,
    /// The fastest variant and those that tie with it, the simplest first; never empty.
    pub winners: Vec<String>,
    /// Speed of the fastest relative to the baseline.
    pub speed: Option<f64>,
    /// The baseline.
    pub baseline: Option<String>,
}

/// The cells of a situation, winners first.
pub(crate) struct Situation<'a> {
    pub(crate) cells: Vec<&'a Cell>,
    winners: Vec<String>,
}

impl Situation<'_> {
    pub(crate) fn first(&self) -> &Cell {
        self.cells[0]
    }

    fn words(&self) -> String {
        let cell = self.first();
        format!("{}, {} calls", safe(&labels::brief(&cell.condition)), cell.condition.dependence)
    }
}

/// Derives the recommendations from a run, without situations that have no winner.
#[must_use]
pub fn recommend(run: &RunResult, roles: &Roles) -> Recommendation {
    let families = distinct(run.cells.iter().map(|cell| cell.family)).into_iter();
    let unreliable = unreliable(run);
    let families = match unreliable {
        Some(_) => Vec::new(),
        None => families.filter_map(|family| advise(run, roles, family)).collect(),
    };
    Recommendation { complete: run.complete, isolated: isolated(run), unreliable, families }
}

/// The number of ranked situations of isolated calls.
pub(crate) fn isolated(run: &RunResult) -> usize {
    let families = distinct(run.cells.iter().map(|cell| cell.family)).into_iter();
    families.map(|family| ranked(run, family, is_isolated).len()).sum()
}

/// A sentence on the situations of isolated calls; `None` if there are none.
pub(crate) fn isolated_note(situations: usize) -> Option<String> {
    let of = match situations {
        0 => return None,
        1 => "One situation".to_owned(),
        count => format!("{count} situations"),
    };
    let verb = if situations == 1 { "is" } else { "are" };
    Some(format!(
        "{of} of isolated calls (:single) {verb} left out here: their stores are timed until they retire."
    ))
}

fn is_isolated(cell: &Cell) -> bool {
    cell.condition.cache.batch == ColdBatch::Single
}

fn advise(run: &RunResult, roles: &Roles, family: Family) -> Option<FamilyAdvice> {
    let situations = situations(run, family);
    if situations.is_empty() {
        return None;
    }
    let compared = |situation: &Situation| baseline(situation.cells.iter().copied(), roles).map(safe);
    let tables = Dependence::ALL.into_iter().filter_map(|dependence| {
        let here = situations.iter().filter(|s| s.first().condition.dependence == dependence);
        let choices: Vec<Choice> = here
            .map(|situation| Choice {
                condition: safe(&labels::brief(&situation.first().condition)),
                winners: by_effort(family, &situation.winners, roles),
                speed: speed(situation.first()),
                baseline: compared(situation),
            })
            .collect();
        (!choices.is_empty()).then_some((dependence, choices))
    });
    let baselines = distinct(situations.iter().filter_map(compared));
    let mut sentences = vec![];
    sentences.extend(roles.ours(family).and_then(|ours| our_standing(&situations, ours)));
    sentences.push(everywhere(family, roles, &situations));
    sentences.extend(thresholds(family, roles, &situations));
    let singled = [roles.ours(family), roles.baseline(family)];
    let singled: Vec<&str> = singled.into_iter().flatten().collect();
    sentences.extend(elsewhere::sentences(&situations, &singled, roles));
    sentences.extend(tuning::sentences(&situations, roles.ours(family)));
    Some(FamilyAdvice { family, baselines, tables: tables.collect(), sentences })
}

/// The situations from which advice is derived: those of isolated calls are left out.
pub(crate) fn situations(run: &RunResult, family: Family) -> Vec<Situation<'_>> {
    ranked(run, family, |cell| !is_isolated(cell))
}

/// The situations with a winner among the cells that satisfy a condition.
fn ranked(run: &RunResult, family: Family, is: fn(&Cell) -> bool) -> Vec<Situation<'_>> {
    // Mixed conditions are an error in a ranking; here they become separate situations.
    let cells = run.cells.iter().filter(|cell| cell.family == family && is(cell));
    let groups =
        grouped(cells, |one, other| one.situation == other.situation && one.condition == other.condition);
    let ranked = groups.into_iter().filter_map(|mut cells| {
        fastest_first(&mut cells);
        let won = |cell: &Cell| cell.status == Status::Ok && cell.rank == Some(1);
        let winners: Vec<String> =
            cells.iter().filter(|cell| won(cell)).map(|cell| safe(&cell.variant)).collect();
        (!winners.is_empty()).then_some(Situation { cells, winners })
    });
    ranked.collect()
}

/// Where this project's own function loses, and by how much; `None` if nowhere.
fn our_standing(situations: &[Situation], ours: &str) -> Option<String> {
    let entered: Vec<(&Situation, &Cell)> = situations
        .iter()
        .filter_map(|s| Some((s, *s.cells.iter().find(|cell| cell.variant == ours)?)))
        .collect();
    let total = entered.len();
    let mut losses = vec![];
    for (situation, own) in &entered {
        if own.status != Status::Ok {
            losses.push(format!("{}: {}", situation.words(), status_word(own.status, own.detail.as_deref())));
        } else if own.rank.is_some_and(|rank| rank > 1) {
            let winner = situation.first();
            let longer = slower_by(own, winner).map_or_else(
                || format!("slower than {}", safe(&winner.variant)),
                |by| format!("takes {} longer than {}", percent_fine(by), safe(&winner.variant)),
            );
            losses.push(format!("{}: {longer}", situation.words()));
        }
    }
    match losses.len() {
        0 => None,
        lost => Some(format!("{ours} loses in {lost} of {total}: {}.", losses.join("; "))),
    }
}

/// The extra gross time relative to another's: the ratio of the two if that one leads, otherwise from those to the baseline,
/// if there are any.
pub(crate) fn slower_by(own: &Cell, other: &Cell) -> Option<f64> {
    let to_leader = own.ratio_to_leader.filter(|_| leads(other)).map(|ratio| ratio.median);
    let paired =
        || own.ratio_to_baseline.zip(other.ratio_to_baseline).map(|(own, best)| own.median / best.median);
    let gross = || own.gross.zip(other.gross).map(|(own, best)| own.median / best.median);
    to_leader.or_else(paired).or_else(gross).map(|ratio| ratio - 1.0).filter(|by| by.is_finite())
}

/// The variants that win in all situations, or else in most.
fn everywhere(family: Family, roles: &Roles, situations: &[Situation]) -> String {
    let wins = |name: &String| situations.iter().filter(|s| s.winners.contains(name)).count();
    let names = distinct(situations.iter().flat_map(|situation| &situation.winners));
    let most = names.iter().copied().map(wins).max().unwrap_or(0);
    let best: Vec<String> = names.into_iter().filter(|name| wins(name) == most).cloned().collect();
    let best = by_effort(family, &best, roles);
    let (verb, total) = (if best.len() == 1 { "is" } else { "are" }, situations.len());
    let named = if best.len() > 4 { format!("{} variants", best.len()) } else { enumerate(&best) };
    if total == 1 {
        format!(
            "One situation measured: {named} {verb} fastest{}.",
            if best.len() > 1 { ", tied" } else { "" }
        )
    } else if most == total {
        let all = if total == 2 { "both".to_owned() } else { format!("all {total}") };
        let others = match best.len() {
            1 => String::new(),
            2 => format!(" ({} too)", best[1]),
            more => format!(" ({} others too)", more - 1),
        };
        format!("One choice suffices for {all} situations: {} is fastest or tied in each{others}.", best[0])
    } else {
        let come = if best.len() == 1 { "comes closest, in" } else { "come closest, each in" };
        format!("No variant is fastest or tied everywhere; {named} {come} {most} of {total}.")
    }
}

/// For hot buffers of fixed sizes, the winner by range of sizes, with as few changes as the ties allow.
fn thresholds(family: Family, roles: &Roles, situations: &[Situation]) -> Vec<String> {
    let of_fixed_size = situations.iter().filter_map(|situation| {
        let condition = &situation.first().condition;
        let plain = condition.cache.is_hot()
            && condition.segments.is_empty()
            && condition.then == Then::Nothing
            && condition.beside == Beside::Nothing;
        Some((labels::fixed_size(condition).filter(|_| plain)?, situation))
    });
    let key = |situation: &Situation| {
        let condition = &situation.first().condition;
        (condition.offsets, condition.pages, condition.dependence)
    };
    let groups = grouped(of_fixed_size, |(_, one), (_, other)| key(one) == key(other));
    groups.into_iter().filter_map(|group| threshold_sentence(family, roles, group)).collect()
}

/// The names, simplest first.
fn by_effort(family: Family, names: &[String], roles: &Roles) -> Vec<String> {
    let mut names = names.to_vec();
    names.sort_by_key(|name| effort(family, name, roles));
    names
}

/// Abbreviates names that tie: `carryline`, `carryline or avx2`, `carryline or 4 others`.
fn one_of(names: &[String]) -> String {
    match names {
        [] => "-".to_owned(),
        [one] => one.clone(),
        [one, other] => format!("{one} or {other}"),
        [one, others @ ..] => format!("{one} or {} others", others.len()),
    }
}

fn threshold_sentence(family: Family, roles: &Roles, mut group: Vec<(u64, &Situation)>) -> Option<String> {
    group.sort_by_key(|(size, _)| *size);
    group.dedup_by_key(|(size, _)| *size);
    // Each span has its first and last size and the variants that win at all of its sizes.
    let mut spans: Vec<(u64, u64, Vec<String>)> = vec![];
    for (size, situation) in &group {
        let held: Vec<String> = spans.last().map_or_else(Vec::new, |(_, _, names)| {
            names.iter().filter(|name| situation.winners.contains(name)).cloned().collect()
        });
        match spans.last_mut() {
            Some(span) if !held.is_empty() => (span.1, span.2) = (*size, held),
            _ => spans.push((*size, *size, situation.winners.clone())),
        }
    }
    if spans.len() < 2 {
        return None;
    }
    let condition = &group[0].1.first().condition;
    let mut words = vec![];
    for (index, (low, high, names)) in spans.iter().enumerate() {
        let range = match index {
            0 => format!("up to {}", byte_phrase(*high)),
            last if last + 1 == spans.len() => format!("from {}", byte_phrase(*low)),
            _ if low == high => format!("at {}", byte_phrase(*low)),
            _ => format!("from {} to {}", byte_phrase(*low), byte_phrase(*high)),
        };
        words.push(format!("{} {range}", by_effort(family, names, roles)[0]));
    }
    let (offsets, dependence) = (condition.offsets, condition.dependence);
    let sizes = if group.len() > 8 {
        format!("{} sizes", group.len())
    } else {
        enumerate(&group.iter().map(|(size, _)| byte_size(*size)).collect::<Vec<_>>())
    };
    let text = words.join(", ");
    Some(format!("By size (hot, offset {offsets}, {dependence} calls, measured at {sizes}): {text}."))
}

impl Recommendation {
    /// A table and its sentences for each family.
    #[must_use]
    pub fn to_text(&self, style: Style) -> String {
        let mut out = format!("{}\n", bold("What to use here", style));
        if let Some(why) = &self.unreliable {
            out.push_str(&format!("{}\n", wrap(why, style.width, 0)));
            return out;
        }
        if !self.complete {
            let note = "Not everything was measured: this is based on partial results.";
            out.push_str(&format!("{}\n", wrap(note, style.width, 0)));
        }
        let note = isolated_note(self.isolated).map(|note| wrap(&note, style.width, 2) + "\n");
        if self.families.is_empty() && note.is_none() {
            out.push_str("Nothing could be ranked, so there is nothing to recommend.\n");
        }
        for advice in &self.families {
            for (dependence, choices) in &advice.tables {
                out.push_str(&format!("\n{}\n", bold(&advice.title(*dependence), style)));
                out.push_str(&advice.table(choices, style));
            }
            for sentence in &advice.sentences {
                out.push_str(&wrap(sentence, style.width, 2));
                out.push('\n');
            }
        }
        out.extend(note);
        out
    }
}

impl FamilyAdvice {
    /// The title of the table of a dependence.
    #[must_use]
    pub fn title(&self, dependence: Dependence) -> String {
        format!("{}, {dependence} calls", self.family)
    }

    /// The choices as a table, without the baselines if they do not fit.
    fn table(&self, choices: &[Choice], style: Style) -> String {
        let kinds = [ColumnKind::Name, ColumnKind::Text, ColumnKind::Number, ColumnKind::Name];
        let of = |columns: usize| {
            let mut table = Table::new(self.headers("\n").into_iter().zip(kinds).take(columns));
            for choice in choices {
                table.push(choice.cells().to_vec(), Emphasis::None);
            }
            table.render(style)
        };
        let fits = |text: &String| {
            let longest = text.lines().map(|line| line.chars().count()).max().unwrap_or(0);
            style.width.is_none_or(|width| longest <= usize::from(width))
        };
        Some(of(kinds.len())).filter(fits).unwrap_or_else(|| of(kinds.len() - 1))
    }

    /// The headers: the third one names the baseline if all situations have the same; otherwise a fourth
    /// column does.
    #[must_use]
    pub fn headers(&self, line_break: &str) -> Vec<String> {
        let mut headers = vec!["situation".to_owned(), "use".to_owned()];
        match self.baselines.as_slice() {
            [] => {}
            [one] => headers.push(format!("as fast as{line_break}{one}")),
            _ => headers.extend(["speed".to_owned(), "compared with".to_owned()]),
        }
        headers
    }
}

impl Choice {
    /// Situation, simplest winner with the number of others, speed and its baseline; a table takes as many as
    /// it has [headers](FamilyAdvice::headers).
    #[must_use]
    pub fn cells(&self) -> [String; 4] {
        let speed = self.speed.map_or_else(|| "-".to_owned(), times);
        let baseline = self.baseline.clone().unwrap_or_default();
        [self.condition.clone(), one_of(&self.winners), speed, baseline]
    }
}

#[cfg(test)]
mod tests;
