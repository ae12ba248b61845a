//! A choice of the first screen in sentences.

use super::{Choice, Line};
use crate::text::enumerate;
use crate::units::{percent_fine, times};
use carryline_variants::c_library::Thresholds;
use carryline_variants::find;

impl Choice {
    /// True for a baseline that needs no setting.
    fn is_in_use(&self) -> bool {
        let needs_setting = find(self.family, &self.variant)
            .is_some_and(|variant| variant.thresholds() == Some(Thresholds::Raised));
        self.baselines.contains(&self.variant) && !needs_setting
    }

    /// The choice: `zero: call carryline::zero (carryline)`.
    pub(crate) fn headline(&self) -> String {
        let own = match find(self.family, &self.variant).and_then(|variant| variant.call) {
            _ if self.is_in_use() => "keep",
            Some(_) => "call",
            None => "use",
        };
        let name = if self.call == self.variant { String::new() } else { format!(" ({})", self.variant) };
        format!("{}: {own} {}{name}", self.family, self.call)
    }

    /// The baselines of ratios; of a C library function with two rows, the better one.
    fn compared(&self) -> String {
        let raised = |name: &String| {
            let variant = find(self.family, name)?;
            let other = variant.with_other_thresholds()?;
            (variant.thresholds() == Some(Thresholds::Raised)).then_some(other.name)
        };
        match self.baselines.as_slice() {
            [one, other] if raised(other) == Some(one) => format!("the better {one}"),
            [one, other] if raised(one) == Some(other) => format!("the better {other}"),
            several => enumerate(several).replace(" and ", " or "),
        }
    }

    /// The gains, ties and losses, a line of at most `width` columns each if possible.
    pub(crate) fn sentences(&self, width: usize) -> Vec<Line> {
        let mut lines = vec![];
        let baselines = self.compared();
        let in_all = |count: usize| match (count, self.measured) {
            (1, 1) => "in the one situation".to_owned(),
            (2, 2) => "in both situations".to_owned(),
            (count, all) if count == all => format!("in all {all} situations"),
            (count, all) => format!("in {count} of {all} situations"),
        };
        match (self.gains.first(), self.gains.last()) {
            (Some((most, at)), Some((least, _))) => {
                let range = match times(*least) == times(*most) {
                    true => times(*most),
                    false => format!("{} to {}", times(*least), times(*most)),
                };
                let same = match self.same.len() {
                    0 => String::new(),
                    same => format!(", the same in {same}"),
                };
                let place = match self.gains.len() {
                    1 => format!("at {at}"),
                    gains => in_all(gains),
                };
                lines.push((0, format!("{range} as fast as {baselines} {place}{same}")));
                if self.gains.len() > 1 {
                    let words = self.gains.iter().map(|(by, at)| format!("{} at {at}", times(*by)));
                    lines.push((3, listed("most: ", words.collect(), width)));
                }
            }
            _ if !self.same.is_empty() && !self.baselines.contains(&self.variant) => {
                lines.push((0, format!("no different from {baselines} {}", in_all(self.same.len()))));
            }
            _ => {}
        }
        if self.losses.is_empty() {
            let anywhere = if self.measured > 1 && self.complete { " anywhere" } else { "" };
            lines.push((1, format!("nothing measured is faster{anywhere}")));
        } else {
            let words = self.losses.iter().map(|(by, to, at)| {
                let longer = if *by < 1.0 { percent_fine(*by) } else { times(1.0 + by) };
                format!("{longer} to {to} at {at}")
            });
            let prefix = match self.losses.len() {
                1 => "loses ".to_owned(),
                count => format!("loses in {count} of {}: ", self.measured),
            };
            lines.push((0, listed(&prefix, words.collect(), width)));
        }
        lines
    }
}

/// As many items as fit into a line, but at least one.
fn listed(prefix: &str, items: Vec<String>, width: usize) -> String {
    let mut line = format!("{prefix}{}", items[0]);
    for item in &items[1..] {
        // Two columns are for the indentation.
        if line.chars().count() + 2 + item.chars().count() + 2 > width {
            break;
        }
        line.push_str("; ");
        line.push_str(item);
    }
    line
}
