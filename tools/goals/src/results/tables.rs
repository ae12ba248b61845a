//! Tables of all variants: one for each family and condition, with the sizes as columns.

use super::Table;
use crate::goal::{Cells, is_ours, is_peer};
use crate::stored::{Matrix, Stored, StoredSituation};
use crate::table::ticks;
use carryline_conditions::Condition;
use carryline_results::Status;
use carryline_variants::Family;

/// The maximum number of sizes in a table; more are a sweep, whose worst sizes are shown elsewhere.
const MOST_SIZES: usize = 30;
/// The maximum number of sizes as columns; a table with more is transposed.
const MOST_ACROSS: usize = 10;

/// The tables of all stored situations, sorted by title.
pub(super) fn all_variants(stored: &Stored) -> Vec<Table> {
    let mut groups: Vec<(String, Vec<&StoredSituation>)> = Vec::new();
    for situation in &stored.situations {
        let of = &situation.gathered.situation;
        let title = title(of.family, &of.condition, &situation.matrix);
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

/// The titles of the tables of a goal's cells: one for each family and offset measured together.
pub(super) fn titles(cells: &Cells) -> Vec<String> {
    let matrix = Matrix::of(cells);
    let offsets = std::iter::once(cells.condition.offsets).chain(cells.also_at);
    offsets
        .flat_map(|offsets| {
            let condition = Condition { offsets, ..cells.condition.clone() };
            cells.families.iter().map(|family| title(*family, &condition, &matrix)).collect::<Vec<_>>()
        })
        .collect()
}

/// Whether a table is of a family under a condition in words: the condition of a kept goal may be another than
/// that of today's.
pub(super) fn is_of(title: &str, family: Family, condition: &str) -> bool {
    let end = [", some variants", ", beside "].into_iter().filter_map(|mark| title.find(mark)).min();
    let words = title[..end.unwrap_or(title.len())].replace(", offset 0", "");
    words == format!("{family}: {condition}")
}

fn title(family: Family, condition: &Condition, matrix: &Matrix) -> String {
    let words = [
        condition.cache.to_string(),
        condition.dependence.to_string(),
        format!("offset {}", condition.offsets),
        format!("then {}", condition.then),
    ];
    let some = if matrix.restricted { ", some variants" } else { "" };
    let others = matrix.families.iter().filter(|other| **other != family);
    let mut others: Vec<&str> = others.map(|family| family.name()).collect();
    others.sort_unstable();
    let beside = match others.as_slice() {
        [] => String::new(),
        others => format!(", beside {}", others.join(" and ")),
    };
    let words: Vec<String> = words.into_iter().filter(|w| w != "then nothing").collect();
    format!("{family}: {}{some}{beside}", words.join(", "))
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::goals;
    use crate::tier::Tier;

    #[test]
    fn tables_are_named_by_the_cells_that_they_show() {
        let of = |id: &str| {
            let goals = goals::only(&[id.to_owned()], Tier::Avx512).expect("a goal");
            (titles(&goals[0].cells), goals[0].cells.family(), goals[0].cells.words())
        };
        let (all, family, words) = of("checksum-copy-random-memcpy");
        let rest = "hot, independent, offset random, some variants, beside";
        let expected = [format!("copy_checksum: {rest} copy"), format!("copy: {rest} copy_checksum")];
        assert_eq!(all, expected);
        assert!(is_of(&all[0], family, &words) && !is_of(&all[1], family, &words));
        let (all, family, words) = of("zero-page-end");
        assert_eq!(all[1], "zero: hot, independent, offset 0, some variants");
        assert!(is_of(&all[0], family, &words) && !is_of(&all[1], family, &words));
        let (all, family, words) = of("zero-read-later-4m");
        assert_eq!(all, ["zero: hot, independent, offset 0, then read-later:4194304"]);
        assert!(is_of(&all[0], family, &words));
        assert!(!is_of(
            "zero: hot, independent, offset random-line",
            family,
            "hot, independent, offset random"
        ));
    }
}
