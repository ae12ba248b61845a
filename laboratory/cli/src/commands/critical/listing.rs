//! The executed instructions, repeated bodies folded, with those on the longest paths marked.

use carryline_chain::Analysis;
use carryline_chain::analysis::InputPath;
use carryline_chain::fold::{self, Body};
use carryline_report::table::{Emphasis, Style, emphasise};
use carryline_report::text::wrap;

/// Lines that are printed.
const MOST_LINES: usize = 160;

/// A letter for each input: the first of its name, in capitals if another has it.
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

/// The listing; `full` folds nothing and hides nothing.
pub fn print(out: &mut String, call: &Analysis, chained: Option<&str>, full: bool, style: Style) {
    let letters = letters(&call.inputs);
    let main = chained.and_then(|name| call.input(name)).filter(|input| input.path_cycles.is_some());
    let main = main.or_else(|| call.longest());
    let names: Vec<String> =
        letters.iter().map(|(letter, input)| format!("{letter} {}", input.name)).collect();
    if !names.is_empty() {
        let text = format!("on the longest path from: {}; * the critical chain", names.join(", "));
        out.push_str(&wrap(&text, style.width, 2));
        out.push('\n');
    }
    let bodies = match full {
        true => vec![Body { first: 0, length: call.order.len(), times: 1 }],
        false => fold::bodies(&call.order),
    };
    let mut lines = Lines { out, printed: 0, left: 0, style };
    for body in bodies {
        // The turn in the middle stands for all: the first and the last differ by what they are next to.
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
            lines.print(&text, if is_critical { Emphasis::Strong } else { Emphasis::None });
        }
        if !hidden.is_empty() {
            let text = format!("{:>width$}{}: beside it", "", hidden.join(", "), width = 19 + letters.len());
            lines.print(&text, Emphasis::Faint);
        }
    }
    let left = lines.left;
    if left > 0 {
        out.push_str(&format!("  ... and {left} more\n"));
    }
}

/// What was printed, and what no longer fits.
struct Lines<'a> {
    out: &'a mut String,
    printed: usize,
    left: usize,
    style: Style,
}

impl Lines<'_> {
    fn print(&mut self, text: &str, emphasis: Emphasis) {
        if self.printed == MOST_LINES {
            self.left += 1;
            return;
        }
        self.printed += 1;
        self.out.push_str(&emphasise(text.trim_end(), emphasis, self.style));
        self.out.push('\n');
    }
}
