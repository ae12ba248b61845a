//! The executed instructions, with repeated bodies folded and those on the longest paths marked.

use carryline_chain::Analysis;
use carryline_chain::analysis::InputPath;
use carryline_chain::fold::{self, Body};
use carryline_report::table::{Emphasis, Style, emphasise};
use carryline_report::text::wrap;

/// The maximum number of lines.
const MOST_LINES: usize = 160;

/// A letter for each input: the first of its name, or a capital or the last if that is taken.
fn letters(inputs: &[InputPath]) -> Vec<(char, &InputPath)> {
    let mut given: Vec<(char, &InputPath)> = Vec::new();
    for input in inputs.iter().filter(|input| input.path_cycles.is_some()) {
        let first = input.name.chars().next().unwrap_or('?');
        let last = input.name.chars().last().unwrap_or('?');
        let choices = [first, first.to_ascii_uppercase(), last, last.to_ascii_uppercase()];
        let free = choices.into_iter().find(|letter| given.iter().all(|(known, _)| known != letter));
        given.push((free.unwrap_or('?'), input));
    }
    given.truncate(8);
    given
}

/// A listing, before it is laid out for a terminal or a page.
pub struct Listing {
    /// The meaning of the marks; `None` without marks.
    pub legend: Option<String>,
    /// The lines; those of the critical chain are strong.
    pub lines: Vec<(String, Emphasis)>,
    /// The number of omitted lines.
    pub left: usize,
}

/// Prints a listing; `full` disables folding.
pub fn print(out: &mut String, call: &Analysis, chained: Option<&str>, full: bool, style: Style) {
    let listing = of(call, chained, full);
    if let Some(legend) = listing.legend {
        out.push_str(&wrap(&legend, style.width, 2));
        out.push('\n');
    }
    for (text, emphasis) in &listing.lines {
        out.push_str(&emphasise(text, *emphasis, style));
        out.push('\n');
    }
    if listing.left > 0 {
        out.push_str(&format!("  ... and {} more\n", listing.left));
    }
}

/// The listing of a call.
pub fn of(call: &Analysis, chained: Option<&str>, full: bool) -> Listing {
    let letters = letters(&call.inputs);
    let main = chained.and_then(|name| call.input(name)).filter(|input| input.path_cycles.is_some());
    let main = main.or_else(|| call.longest());
    let names: Vec<String> =
        letters.iter().map(|(letter, input)| format!("{letter} {}", input.name)).collect();
    let legend = match names.is_empty() {
        true => None,
        false => Some(format!("on the longest path from: {}; * the critical chain", names.join(", "))),
    };
    let bodies = match full {
        true => vec![Body { first: 0, length: call.order.len(), times: 1 }],
        false => fold::bodies(&call.order),
    };
    let mut listing = Listing { legend, lines: Vec::new(), left: 0 };
    for body in bodies {
        // Show the middle iteration: the first and the last differ in their neighbours.
        let shown = body.first + body.length * (body.times / 2);
        let mut hidden: Vec<String> = Vec::new();
        let mut times = Some(body.times).filter(|times| *times > 1);
        for step in shown..shown + body.length {
            let on = |input: &InputPath| input.steps.iter().any(|known| known.step == step);
            let marks: String =
                letters.iter().map(|(letter, input)| if on(input) { *letter } else { ' ' }).collect();
            let index = call.order[step];
            let is_marked = !marks.trim().is_empty();
            if body.times > 1 && !is_marked && fold::is_housekeeping(&call.function.instructions[index]) {
                let text = call.function.text(index);
                hidden.push(text.split_whitespace().next().unwrap_or_default().to_owned());
                continue;
            }
            let is_critical = main.is_some_and(on);
            let count = times.take().map_or(String::new(), |times| format!("x {times}"));
            let star = if is_critical { '*' } else { ' ' };
            let offset = format!("{:#x}", call.function.offset(call.function.instructions[index].ip()));
            let text = format!("{count:<7}{star} {marks}  {offset:>8}  {}", call.function.text(index));
            listing.push(&text, if is_critical { Emphasis::Strong } else { Emphasis::None });
        }
        if !hidden.is_empty() {
            let text =
                format!("{:>width$}{}: off the paths", "", hidden.join(", "), width = 19 + letters.len());
            listing.push(&text, Emphasis::Faint);
        }
    }
    listing
}

impl Listing {
    fn push(&mut self, text: &str, emphasis: Emphasis) {
        match self.lines.len() {
            MOST_LINES => self.left += 1,
            _ => self.lines.push((text.trim_end().to_owned(), emphasis)),
        }
    }
}
