//! The screen: a pure function of the state.
//!
//! Title, what is being done, a block of columns for each dependence with a column for each address, a row for each
//! variant, then the null call, the noise, the last remark and the keys. It fits 80 x 24; more room gives more rows and
//! wider columns.

use super::keys::{HELP, LINE};
use super::plain::{figure, title};
use super::state::{Row, Sort, State};
use carryline_report::units::percent_fine;
use ratatui::Frame;
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Span};

/// Columns that a figure takes, at least and at most; one of them for the mark.
const FIGURE: (usize, usize) = (9, 13);
/// Columns that a name takes, at least.
const NAME: usize = 16;
/// Lines that are not rows of variants: title, doing, two of header; null, noise, remark, keys.
const OTHER_LINES: usize = 8;

/// How wide the parts of a row are.
struct Widths {
    name: usize,
    figure: usize,
}

/// Draws everything.
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
    lines.extend(HELP.iter().map(|(keys, what)| Line::from(cut(&format!("  {keys:<8} {what}"), width))));
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
    let mut lines = vec![
        Line::styled(cut(&format!(" {}", title(state)), width), bold),
        Line::from(cut(&format!(" {}", doing(state)), width)),
        Line::styled(cut(&groups(state, &widths), width), faint),
        Line::styled(cut(&heads(state, &widths), width), faint),
    ];
    let rows = state.rows();
    let room = height.saturating_sub(OTHER_LINES).max(1);
    let first = state.scroll.min(rows.len().saturating_sub(room));
    let shown = &rows[first..(first + room).min(rows.len())];
    lines.extend(shown.iter().map(|row| line(state, row, &widths, width)));
    let hidden = rows.len() - shown.len();
    lines.resize_with(OTHER_LINES / 2 + room, Line::default);

    let of = |name: &str, texts: Vec<String>| {
        let mut text = format!(" {}", fit(name, widths.name - 1));
        for figure in texts {
            text.push_str(&format!("{figure:>w$} ", w = widths.figure - 1));
        }
        Line::styled(cut(&text, width), faint)
    };
    let null = state.null().into_iter().map(|ticks| figure(state, ticks, widths.figure - 1)).collect();
    lines.push(of("null call", null));
    let noise = state.noise().into_iter().map(|noise| noise.map_or("-".to_owned(), percent_fine)).collect();
    lines.push(of("noise (A/A)", noise));
    let more = if hidden > 0 { format!("{hidden} more below or above (up, down). ") } else { String::new() };
    lines.push(Line::from(cut(&format!(" {more}{}", state.remark), width)));
    lines.push(Line::styled(cut(&format!(" {LINE}"), width), faint));
    lines
}

/// What is being done, and how much has been.
fn doing(state: &State) -> String {
    let doing = match (state.paused, state.now.is_empty()) {
        (true, _) => "paused".to_owned(),
        (false, true) => "starting".to_owned(),
        (false, false) => format!("now: {}", state.now),
    };
    let rounds: u64 = state.live.rounds.iter().sum();
    format!("{doing} | {} replicates, {rounds} rounds, {:.0} s", state.live.replicates, state.clock_s)
}

fn widths(state: &State, width: usize) -> Widths {
    let columns = state.live.situations.len().max(1);
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

/// The addresses above their columns; the one that rows are sorted by is marked.
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

fn line(state: &State, row: &Row, widths: &Widths, width: usize) -> Line<'static> {
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

/// The text in exactly that width.
fn fit(text: &str, width: usize) -> String {
    let text = cut(text, width.saturating_sub(1));
    format!("{text:<width$}")
}

/// The text in that width at most; what is longer ends in a tilde.
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
    fn the_keys() {
        let state = State { help: true, ..state() };
        insta::assert_snapshot!(drawn(&state, 80, 24));
    }

    #[test]
    fn rows_beyond_the_screen_are_counted_and_can_be_reached() {
        let mut state = state();
        // Room for two rows of the three.
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
        }
    }
}
