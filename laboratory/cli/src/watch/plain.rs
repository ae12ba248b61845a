//! Output without a terminal: a block of plain lines each time, for other programs to read.

use super::state::{Sort, State};
use carryline_report::table::{ColumnKind, Emphasis, Style, Table};
use carryline_report::units::{number, percent_fine};

/// The title: the choices, order and half-life.
pub fn title(state: &State) -> String {
    let choice = &state.choice;
    let sort = match state.sort {
        Sort::List => "",
        Sort::Name => ", by name",
        Sort::Column(_) => ", fastest first",
    };
    format!(
        "{} of {}, {}, {} per call{sort}, half-life {:.0} s",
        choice.family.get(),
        choice.size.get().label,
        choice.cache.get(),
        state.unit,
        state.half_life_s
    )
    .replace("GB/s per call", "GB/s")
    .replace("GiB/s per call", "GiB/s")
    .replace("B/cycle per call", "B/cycle")
}

/// A figure in the chosen unit, at most `width` characters wide.
pub fn figure(state: &State, ticks: Option<f64>, width: usize) -> String {
    let Some(value) = ticks.and_then(|ticks| state.in_unit(ticks)) else { return "-".to_owned() };
    let text = number(value);
    if text.len() <= width {
        return text;
    }
    let (factor, letter) = if value < 1e9 { (1e6, "M") } else { (1e9, "G") };
    format!("{}{letter}", number(value / factor))
}

/// A block: the title, the number of rounds, a row for each variant, the null call and the noise. Column
/// heads take two lines if one does not fit into the width.
pub fn block(state: &State, width: Option<u16>) -> String {
    let longest = |text: &str| text.lines().map(|line| line.chars().count()).max().unwrap_or(0);
    let text = lines(state, " ");
    match width {
        Some(width) if longest(&text) > usize::from(width) => lines(state, "\n"),
        _ => text,
    }
}

/// A block with `between` separating the two parts of a column's head.
fn lines(state: &State, between: &str) -> String {
    let mut head = vec![("variant".to_owned(), ColumnKind::Name)];
    head.extend(state.live.situations.iter().map(|situation| {
        let condition = &situation.condition;
        (format!("{}{between}at {}", condition.dependence, condition.offsets), ColumnKind::Number)
    }));
    let mut table = Table::new(head.iter().map(|(name, kind)| (name.as_str(), *kind)));
    let width = usize::MAX;
    let mut notes = Vec::new();
    for row in state.rows() {
        if let Some(reason) = &row.reason {
            notes.push(format!("{}: {reason}\n", row.name));
            continue;
        }
        let mut cells = vec![row.name.clone()];
        cells.extend(row.ticks.iter().zip(&row.leads).map(|(ticks, leads)| {
            let mark = if *leads { "*" } else { " " };
            format!("{}{mark}", figure(state, *ticks, width))
        }));
        table.push(cells, Emphasis::None);
    }
    let mut push = |name: &str, texts: Vec<String>| {
        let cells = std::iter::once(name.to_owned()).chain(texts.into_iter().map(|text| format!("{text} ")));
        table.push(cells.collect(), Emphasis::None);
    };
    push("(null call)", state.null().into_iter().map(|ticks| figure(state, ticks, width)).collect());
    push(
        "(noise, A/A)",
        state.noise().into_iter().map(|noise| noise.map_or("-".to_owned(), percent_fine)).collect(),
    );
    format!(
        "{}\n{:.0} s, {}\n{}{}",
        title(state),
        state.clock_s,
        state.live.counts(),
        table.render(Style::default()),
        notes.concat()
    )
}

#[cfg(test)]
mod tests {
    use super::super::state::tests::state;
    use super::*;
    use carryline_report::units::Unit;

    #[test]
    fn a_block_has_every_row_and_no_escape_sequence() {
        let text = block(&state(), None);
        assert_eq!(block(&state(), Some(159)), text);
        let narrow = block(&state(), Some(80));
        assert!(narrow.lines().all(|line| line.chars().count() <= 80), "{narrow}");
        assert!(!text.contains('\u{1b}'), "{text}");
        insta::assert_snapshot!(text);
    }

    #[test]
    fn rates_are_not_per_call_and_long_numbers_are_shortened() {
        let mut state = state();
        state.unit = Unit::BytesPerCycle;
        assert!(title(&state).contains("B/cycle, half-life"), "{}", title(&state));
        state.unit = Unit::Ticks;
        assert_eq!(figure(&state, Some(12_345_678.0), 8), "12.3M");
        assert_eq!(figure(&state, Some(12_345.0), 8), "12 345");
        assert_eq!(figure(&state, None, 8), "-");
    }
}
