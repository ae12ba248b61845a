//! Tables of all variants: one for each family and condition, with the sizes as columns.

use super::Table;
use crate::goal::{is_ours, is_peer};
use crate::stored::{Stored, StoredSituation};
use crate::table::ticks;
use carryline_conditions::sizes::Sizes;
use carryline_results::Status;

/// The maximum number of sizes in a table; more are a sweep, whose worst sizes are shown elsewhere.
const MOST_SIZES: usize = 30;
/// The maximum number of sizes as columns; a table with more is transposed.
const MOST_ACROSS: usize = 10;

/// The tables of all stored situations, sorted by title.
pub(super) fn all_variants(stored: &Stored) -> Vec<Table> {
    let mut groups: Vec<(String, Vec<&StoredSituation>)> = Vec::new();
    for situation in &stored.situations {
        let title = title(situation);
        match groups.iter_mut().find(|(known, _)| *known == title) {
            Some((_, members)) => members.push(situation),
            None => groups.push((title, vec![situation])),
        }
    }
    groups.retain(|(_, members)| members.len() <= MOST_SIZES);
    groups.sort_by(|a, b| a.0.cmp(&b.0));
    let mut tables = Vec::new();
    for (title, mut members) in groups {
        members.sort_by(|a, b| {
            let sizes = |s: &StoredSituation| s.gathered.situation.condition.sizes.clone();
            let (a, b) = (sizes(a), sizes(b));
            a.mean().total_cmp(&b.mean()).then(a.label.cmp(&b.label))
        });
        tables.push(table(title, &members));
    }
    tables
}

fn title(situation: &StoredSituation) -> String {
    let of = &situation.gathered.situation;
    let mut condition = of.condition.clone();
    condition.sizes = Sizes::fixed(0);
    let words = [
        condition.cache.to_string(),
        condition.dependence.to_string(),
        format!("offset {}", condition.offsets),
        format!("then {}", condition.then),
    ];
    let some = if situation.matrix.restricted { ", some variants" } else { "" };
    let others = situation.matrix.families.iter().filter(|family| **family != of.family);
    let mut others: Vec<&str> = others.map(|family| family.name()).collect();
    others.sort_unstable();
    let beside = match others.as_slice() {
        [] => String::new(),
        others => format!(", beside {}", others.join(" and ")),
    };
    let words: Vec<String> = words.into_iter().filter(|w| w != "then nothing").collect();
    format!("{}: {}{some}{beside}", of.family, words.join(", "))
}

fn table(title: String, members: &[&StoredSituation]) -> Table {
    let mut variants: Vec<&str> = Vec::new();
    for name in members.iter().flat_map(|member| &member.gathered.situation.subjects) {
        if !variants.contains(&name.as_str()) {
            variants.push(name);
        }
    }
    let family = members[0].gathered.situation.family;
    let styled = |name: &str| match () {
        () if is_ours(name) => format!("**{name}**"),
        () if is_peer(family, name) => format!("_{name}_"),
        () => name.to_owned(),
    };
    // The names, then a column for each situation; transposed at the end if necessary.
    let mut grid: Vec<Vec<String>> = vec![
        std::iter::once("variant".to_owned())
            .chain(members.iter().map(|m| m.gathered.situation.condition.sizes.label.clone()))
            .collect(),
    ];
    for name in &variants {
        let figure = |member: &&StoredSituation| match member.cells.iter().find(|c| c.variant == *name) {
            Some(cell) => match (cell.status, cell.gross) {
                (Status::Ok, Some(gross)) => {
                    format!("{}{}", ticks(gross.median), if cell.rank == Some(1) { " *" } else { "" })
                }
                _ => "-".to_owned(),
            },
            None => String::new(),
        };
        grid.push(std::iter::once(styled(name)).chain(members.iter().map(figure)).collect());
    }
    let share = |member: &&StoredSituation| {
        let ours = member.cells.iter().find(|cell| cell.variant == "carryline");
        ours.and_then(|cell| cell.limit_share)
            .map_or(String::new(), |share| format!("{:.0} %", share * 100.0))
    };
    grid.push(
        std::iter::once("limit share of carryline".to_owned()).chain(members.iter().map(share)).collect(),
    );
    if members.len() > MOST_ACROSS {
        grid[0][0] = "size".to_owned();
        grid = (0..grid[0].len()).map(|at| grid.iter().map(|row| row[at].clone()).collect()).collect();
    }
    let mut rows = grid.into_iter();
    let header = rows.next().unwrap_or_default();
    Table { title, header, rows: rows.collect() }
}
