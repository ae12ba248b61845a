//! Draws the screen; a pure function of the state.
//!
//! The screen has a title, the current step, a row for each variant, then the null call, the noise, the last
//! remark and the keys. A row shows one column with the difference to the first row, a bar and a sparkline;
//! or all columns, in a block for each dependence with a column for each address. It fits into 80 x 24; more
//! room gives more rows and wider columns.

use super::keys::{HELP, LINE};
use super::plain::{figure, title};
use super::state::{ScreenRow, Sort, State, View};
use carryline_report::ranking::blocks;
use carryline_report::units::{percent_fine, times};
use ratatui::Frame;
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Span};

/// Minimum and maximum width of a figure, including its mark.
const FIGURE: (usize, usize) = (9, 13);
/// Minimum width of a name.
const NAME: usize = 16;
/// Lines that are not rows of variants: title, step, two of header; null, noise, remark, keys.
const OTHER_LINES: usize = 8;

/// Widths of the parts of a row.
struct Widths {
    name: usize,
    figure: usize,
}

/// Draws the state.
pub fn draw(frame: &mut Frame<'_>, state: &State) {
    let area = frame.area();
    let (width, height) = (usize::from(area.width), usize::from(area.height));
    let lines = if state.help { help(width) } else { figures(state, width, height) };
    for (y, line) in lines.into_iter().take(height).enumerate() {
        frame.buffer_mut().set_line(area.x, area.y + y as u16, &line, area.width);
    }
}

fn help(width: usize) -> Vec<Line<'static>> {
    let mut lines = vec![Line::from(cut(" Keys", width)), Line::default()];
    lines.extend(HELP.iter().map(|(keys, text)| Line::from(cut(&format!("  {keys:<8} {text}"), width))));
    lines.push(Line::default());
    for text in [
        " Figures are gross times of one call: weighted medians of rounds whose weight",
        " halves every half-life. * marks the fastest of a column and those within the",
        " noise of it. The noise is the difference between two measurements of the same",
        " routine.",
    ] {
        lines.push(Line::from(cut(text, width)));
    }
    lines.push(Line::default());
    lines.push(Line::from(cut(" h, ? or Esc goes back.", width)));
    lines
}

fn figures(state: &State, width: usize, height: usize) -> Vec<Line<'static>> {
    let bold = Style::default().add_modifier(Modifier::BOLD);
    let faint = Style::default().add_modifier(Modifier::DIM);
    let widths = widths(state, width);
    let (over, head) = match state.view {
        View::Table => (groups(state, &widths), heads(state, &widths)),
        View::Bars => (column_title(state), bar_heads(state, &widths)),
    };
    let mut lines = vec![
        Line::styled(cut(&format!(" {}", title(state)), width), bold),
        Line::from(cut(&format!(" {}", status(state)), width)),
        Line::styled(cut(&over, width), faint),
        Line::styled(cut(&head, width), faint),
    ];
    let rows = state.rows();
    let room = height.saturating_sub(OTHER_LINES).max(1);
    let first = state.scroll.min(rows.len().saturating_sub(room));
    let shown = &rows[first..(first + room).min(rows.len())];
    let scale = Bars::of(state, &rows);
    lines.extend(shown.iter().map(|row| match state.view {
        View::Table => line(state, row, &widths, width),
        View::Bars => bar_line(state, row, &scale, &widths, width),
    }));
    let hidden = rows.len() - shown.len();
    lines.resize_with(OTHER_LINES / 2 + room, Line::default);

    let of = |name: &str, texts: Vec<String>| {
        let mut text = format!(" {}", fit(name, widths.name - 1));
        for figure in texts {
            text.push_str(&format!("{figure:>w$} ", w = widths.figure - 1));
        }
        Line::styled(cut(&text, width), faint)
    };
    let of_view = |column: usize| state.view == View::Table || column == state.column;
    let null = state.null().into_iter().enumerate().filter(|(column, _)| of_view(*column));
    let null = null.map(|(_, ticks)| figure(state, ticks, widths.figure - 1)).collect();
    lines.push(of("null call", null));
    let noise = state.noise().into_iter().enumerate().filter(|(column, _)| of_view(*column));
    let noise = noise.map(|(_, noise)| noise.map_or("-".to_owned(), percent_fine)).collect();
    lines.push(of("noise (A/A)", noise));
    let more = if hidden > 0 { format!("{hidden} more below or above (up, down). ") } else { String::new() };
    lines.push(Line::from(cut(&format!(" {more}{}", state.remark), width)));
    lines.push(Line::styled(cut(&format!(" {LINE}"), width), faint));
    lines
}

/// The current step, and how much was measured.
fn status(state: &State) -> String {
    let step = match (state.paused, state.now.is_empty()) {
        (true, _) => "paused".to_owned(),
        (false, true) => "starting".to_owned(),
        (false, false) => format!("now: {}", state.now),
    };
    format!("{step} | {}, {:.0} s", state.live.counts(), state.clock_s)
}

fn widths(state: &State, width: usize) -> Widths {
    let columns = match state.view {
        View::Table => state.live.situations.len().max(1),
        View::Bars => 1,
    };
    let longest =
        state.live.names().iter().map(|name| name.len()).max().unwrap_or(0).max("noise (A/A)".len());
    let figure = (width.saturating_sub(longest + 3) / columns).clamp(FIGURE.0, FIGURE.1);
    let name = width.saturating_sub(figure * columns).clamp(NAME, longest.max(NAME) + 3);
    Widths { name, figure }
}

/// The dependences above their columns.
fn groups(state: &State, widths: &Widths) -> String {
    let mut text = " ".repeat(widths.name);
    let mut before = None;
    for situation in &state.live.situations {
        let dependence = situation.condition.dependence;
        let word = if before.replace(dependence) == Some(dependence) { "" } else { dependence.word() };
        text.push_str(&format!("{word:>w$} ", w = widths.figure - 1));
    }
    text
}

/// The addresses above their columns, with a mark on the column that rows are sorted by.
fn heads(state: &State, widths: &Widths) -> String {
    let mark = |marked: bool| if marked { "v" } else { " " };
    let mut text =
        format!(" {}", fit(&format!("variant{}", mark(state.sort == Sort::Name)), widths.name - 1));
    for (column, situation) in state.live.situations.iter().enumerate() {
        let offsets = situation.condition.offsets;
        text.push_str(&format!("{:>w$}", format!("at {offsets}"), w = widths.figure - 1));
        text.push_str(mark(state.sort == Sort::Column(column)));
    }
    text
}

/// Width of the difference to the first row, and maximum width of a sparkline.
const DIFFERENCE: usize = 9;
const SPARKS: usize = 20;

/// The scale of the bars.
struct Bars {
    /// The first row's time in ticks, and its name.
    first: Option<(String, f64)>,
    /// The least time in ticks.
    best: f64,
}

impl Bars {
    fn of(state: &State, rows: &[ScreenRow]) -> Bars {
        let ticks = |row: &ScreenRow| row.ticks.get(state.column).copied().flatten();
        Bars {
            first: rows.iter().find_map(|row| Some((row.name.clone(), ticks(row)?))),
            best: rows.iter().filter_map(ticks).fold(f64::INFINITY, f64::min),
        }
    }
}

/// The column that the bars show.
fn column_title(state: &State) -> String {
    let Some(situation) = state.live.situations.get(state.column) else { return String::new() };
    let condition = &situation.condition;
    let of = format!("column {} of {}", state.column + 1, state.live.situations.len());
    format!(" {} calls at offset {} ({of}: < >, all: t)", condition.dependence, condition.offsets)
}

fn bar_heads(state: &State, widths: &Widths) -> String {
    let mark = |marked: bool| if marked { "v" } else { " " };
    let name = fit(&format!("variant{}", mark(state.sort == Sort::Name)), widths.name - 1);
    let by_speed = mark(matches!(state.sort, Sort::Column(_)));
    let figure = format!("{:>w$}{by_speed}", state.unit.word(), w = widths.figure - 1);
    format!(" {name}{figure}{:>DIFFERENCE$}  speed", "to first")
}

/// A row with a bar whose length is the relative speed.
fn bar_line(state: &State, row: &ScreenRow, bars: &Bars, widths: &Widths, width: usize) -> Line<'static> {
    let Some(ticks) = row.ticks.get(state.column).copied().flatten() else {
        return line(state, row, widths, width);
    };
    let leads = row.leads.get(state.column).copied().unwrap_or(false);
    let mark = if leads { "*" } else { " " };
    let name = fit(&row.name, widths.name - 1);
    let own = figure(state, Some(ticks), widths.figure - 1);
    let difference = match &bars.first {
        Some((name, _)) if *name == row.name => "first".to_owned(),
        Some((_, first)) => difference(ticks / first),
        None => "-".to_owned(),
    };
    let text = format!(" {name}{own:>w$}{mark}{difference:>DIFFERENCE$}  ", w = widths.figure - 1);
    let room = width.saturating_sub(text.chars().count() + 1);
    let sparks = SPARKS.min(room / 3);
    let longest = room.saturating_sub(sparks + 2);
    let bar = format!("{:<longest$}  ", blocks(bars.best / ticks, longest));
    let mut style = Style::default();
    if leads {
        style = style.add_modifier(Modifier::BOLD);
        if state.colour {
            style = style.fg(Color::Green);
        }
    }
    let faint = Style::default().add_modifier(Modifier::DIM);
    Line::from(vec![
        Span::styled(text, style),
        Span::styled(bar, style),
        Span::styled(sparkline(&state.recent(&row.name, sparks)), faint),
    ])
}

/// The difference of a time in percent, or as a factor if it is several times as long.
fn difference(ratio: f64) -> String {
    match ratio {
        ratio if !(0.01..3.0).contains(&ratio) => times(ratio),
        ratio => {
            let sign = if ratio >= 1.0 { "+" } else { "" };
            format!("{sign}{}", percent_fine(ratio - 1.0))
        }
    }
}

/// The course of a figure, oldest first, scaled from its minimum to its maximum or to a range of two percent,
/// whichever is wider.
fn sparkline(values: &[f64]) -> String {
    const LEVELS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    const LEAST_RANGE: f64 = 0.02;
    let known = || values.iter().copied().filter(|value| value.is_finite());
    let (low, high) = (known().fold(f64::INFINITY, f64::min), known().fold(f64::NEG_INFINITY, f64::max));
    let range = (high - low).max(high.abs() * LEAST_RANGE);
    let level = |value: f64| {
        let share = if range > 0.0 { (value - low) / range } else { 0.0 };
        LEVELS[((share * LEVELS.len() as f64) as usize).min(LEVELS.len() - 1)]
    };
    values.iter().map(|value| if value.is_finite() { level(*value) } else { ' ' }).collect()
}

fn line(state: &State, row: &ScreenRow, widths: &Widths, width: usize) -> Line<'static> {
    let name = format!(" {}", fit(&row.name, widths.name - 1));
    let mut spans = vec![Span::raw(name)];
    if let Some(reason) = &row.reason {
        let text = cut(reason, width.saturating_sub(widths.name + 2));
        spans.push(Span::styled(format!("  {text}"), Style::default().add_modifier(Modifier::DIM)));
        return Line::from(spans);
    }
    for (ticks, leads) in row.ticks.iter().zip(&row.leads) {
        let mark = if *leads { "*" } else { " " };
        let text = format!("{:>w$}{mark}", figure(state, *ticks, widths.figure - 1), w = widths.figure - 1);
        let mut style = Style::default();
        if *leads {
            style = style.add_modifier(Modifier::BOLD);
            if state.colour {
                style = style.fg(Color::Green);
            }
        }
        spans.push(Span::styled(text, style));
    }
    Line::from(spans)
}

/// Cuts or pads the text to the width.
fn fit(text: &str, width: usize) -> String {
    let text = cut(text, width.saturating_sub(1));
    format!("{text:<width$}")
}

/// Cuts the text to the width; a cut text ends in a tilde.
fn cut(text: &str, width: usize) -> String {
    let text: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    if text.trim_end().chars().count() <= width {
        return text.trim_end().to_owned();
    }
    let mut short: String = text.chars().take(width.saturating_sub(1)).collect();
    short.push('~');
    short
}

#[cfg(test)]
mod tests {
    use super::super::state::tests::state;
    use super::*;
    use ratatui::Terminal;
    use ratatui::backend::TestBackend;

    fn drawn(state: &State, width: u16, height: u16) -> String {
        let mut terminal = Terminal::new(TestBackend::new(width, height)).expect("a terminal in memory");
        terminal.draw(|frame| draw(frame, state)).expect("drawn");
        let buffer = terminal.backend().buffer();
        let line = |y: u16| (0..width).map(|x| buffer[(x, y)].symbol()).collect::<String>();
        (0..height).map(|y| line(y).trim_end().to_owned()).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn eighty_by_twenty_four() {
        insta::assert_snapshot!(drawn(&state(), 80, 24));
    }

    #[test]
    fn a_hundred_and_twenty_by_forty() {
        let mut state = state();
        state.sort = Sort::Column(1);
        state.unit = carryline_report::units::Unit::Ns;
        state.paused = true;
        insta::assert_snapshot!(drawn(&state, 120, 40));
    }

    #[test]
    fn bars_of_one_column() {
        let bars = State { view: View::Bars, ..state() };
        insta::assert_snapshot!(drawn(&bars, 80, 14));
        let fastest_first = State { sort: Sort::Column(2), ..bars };
        insta::assert_snapshot!(drawn(&fastest_first, 100, 14));
        insta::assert_snapshot!(drawn(&fastest_first, 160, 14));
    }

    #[test]
    fn a_difference_is_a_percentage_or_a_factor() {
        assert_eq!(
            [1.0, 1.123, 0.5, 12.0, 0.001].map(difference),
            ["+0.0 %", "+12 %", "-50 %", "12.00x", "0.00x"]
        );
    }

    #[test]
    fn noise_below_a_percent_draws_a_flat_sparkline() {
        assert_eq!(sparkline(&[100.0, 100.1, 100.0]), "▁▁▁");
        assert_eq!(sparkline(&[100.0, 150.0, 200.0]), "▁▅█");
        assert_eq!(sparkline(&[]), "");
        assert_eq!(sparkline(&[f64::NAN, 1.0]), " ▁");
    }

    #[test]
    fn the_keys() {
        let state = State { help: true, ..state() };
        insta::assert_snapshot!(drawn(&state, 80, 24));
    }

    #[test]
    fn hidden_rows_are_counted_and_can_be_scrolled_to() {
        let mut state = state();
        // Room for two of the three rows.
        let short = OTHER_LINES as u16 + 2;
        let text = drawn(&state, 80, short);
        assert!(text.contains("adc_1_stream") && !text.contains("made_for_20"), "{text}");
        assert!(text.contains("1 more below"), "{text}");
        state.scroll = 2;
        let text = drawn(&state, 80, short);
        assert!(!text.contains("adc_1_stream") && text.contains("made_for_20"), "{text}");
    }

    #[test]
    fn no_size_is_too_small_to_draw() {
        for (width, height) in [(1, 1), (10, 3), (20, 8), (40, 9), (79, 23), (300, 100)] {
            drawn(&state(), width, height);
            drawn(&State { help: true, ..state() }, width, height);
            drawn(&State { view: View::Bars, ..state() }, width, height);
        }
    }
}
