//! Rules for claims, as data that can be printed as text.

use super::Unit;
use super::figures::{Figure, Figures};
use carryline_statistics::Ratio;
use serde::{Deserialize, Serialize};
use std::fmt;

/// The condition under which a claim holds.
#[derive(Clone, Copy, Debug)]
pub enum Rule {
    /// The ratio of two figures lies within bounds.
    Ratio {
        /// The numerator.
        left: &'static str,
        /// The denominator.
        right: &'static str,
        /// The lower bound.
        at_least: Option<f64>,
        /// The upper bound.
        at_most: Option<f64>,
    },
    /// A figure lies within bounds.
    Value {
        /// The figure.
        figure: &'static str,
        /// The lower bound.
        at_least: Option<f64>,
        /// The upper bound.
        at_most: Option<f64>,
    },
    /// All of these rules.
    All(&'static [Rule]),
}

/// The verdict on a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum ClaimVerdict {
    /// As claimed.
    #[serde(rename = "holds")]
    Holds,
    /// Not as claimed, whatever the machine: the author erred.
    #[serde(rename = "fails")]
    Fails,
    /// Not as claimed on this machine, which differs from the author's.
    #[serde(rename = "does not hold here")]
    DoesNotHoldHere,
    /// The opposite of the claim.
    #[serde(rename = "reversed")]
    Reversed,
    /// The figures do not decide.
    #[serde(rename = "undecided")]
    Undecided,
    /// A figure cannot be measured on this machine.
    #[serde(rename = "cannot be measured here")]
    CannotBeMeasured,
}

impl ClaimVerdict {
    /// All verdicts, in the order of summaries.
    pub const ALL: [ClaimVerdict; 6] = [
        ClaimVerdict::Holds,
        ClaimVerdict::DoesNotHoldHere,
        ClaimVerdict::Reversed,
        ClaimVerdict::Fails,
        ClaimVerdict::Undecided,
        ClaimVerdict::CannotBeMeasured,
    ];
}

impl fmt::Display for ClaimVerdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            ClaimVerdict::Holds => "holds",
            ClaimVerdict::Fails => "fails",
            ClaimVerdict::DoesNotHoldHere => "does not hold here",
            ClaimVerdict::Reversed => "reversed",
            ClaimVerdict::Undecided => "undecided",
            ClaimVerdict::CannotBeMeasured => "cannot be measured here",
        })
    }
}

/// A verdict with its reasons.
#[derive(Clone, Debug)]
pub(super) struct Judged {
    pub verdict: ClaimVerdict,
    pub measured: String,
    pub floor: Option<f64>,
    pub why: String,
}

impl Rule {
    /// `left` over `right` is at least `ratio`.
    #[must_use]
    pub const fn at_least(left: &'static str, right: &'static str, ratio: f64) -> Rule {
        Rule::Ratio { left, right, at_least: Some(ratio), at_most: None }
    }

    /// `left` over `right` is at most `ratio`.
    #[must_use]
    pub const fn at_most(left: &'static str, right: &'static str, ratio: f64) -> Rule {
        Rule::Ratio { left, right, at_least: None, at_most: Some(ratio) }
    }

    /// `left` over `right` is between `low` and `high`.
    #[must_use]
    pub const fn between(left: &'static str, right: &'static str, low: f64, high: f64) -> Rule {
        Rule::Ratio { left, right, at_least: Some(low), at_most: Some(high) }
    }

    /// The figure is at least `value`.
    #[must_use]
    pub const fn value_at_least(figure: &'static str, value: f64) -> Rule {
        Rule::Value { figure, at_least: Some(value), at_most: None }
    }

    /// The figure is at most `value`.
    #[must_use]
    pub const fn value_at_most(figure: &'static str, value: f64) -> Rule {
        Rule::Value { figure, at_least: None, at_most: Some(value) }
    }

    /// The rule in words.
    #[must_use]
    pub fn words(&self) -> String {
        match self {
            Rule::Ratio { left, right, at_least, at_most } => {
                format!("'{left}' over '{right}' is {}", bounds(*at_least, *at_most))
            }
            Rule::Value { figure, at_least, at_most } => {
                format!("'{figure}' is {}", bounds(*at_least, *at_most))
            }
            Rule::All(rules) => rules.iter().map(Rule::words).collect::<Vec<_>>().join(", and "),
        }
    }

    /// The names of its figures.
    #[must_use]
    pub fn names(&self) -> Vec<&'static str> {
        match self {
            Rule::Ratio { left, right, .. } => vec![left, right],
            Rule::Value { figure, .. } => vec![figure],
            Rule::All(rules) => rules.iter().flat_map(Rule::names).collect(),
        }
    }

    /// `otherwise` is the verdict where the rule does not hold.
    pub(super) fn judge(&self, figures: &Figures, otherwise: ClaimVerdict, seed: u64) -> Judged {
        match self {
            Rule::Ratio { left, right, at_least, at_most } => {
                match (figures.look(left), figures.look(right)) {
                    (Ok(a), Ok(b)) => ratio((left, a), (right, b), (*at_least, *at_most), otherwise, seed),
                    (Err(reason), _) => missing(left, &reason),
                    (_, Err(reason)) => missing(right, &reason),
                }
            }
            Rule::Value { figure, at_least, at_most } => match figures.look(figure) {
                Ok(found) => value((figure, found), (*at_least, *at_most), otherwise),
                Err(reason) => missing(figure, &reason),
            },
            Rule::All(rules) => {
                all(rules.iter().map(|rule| rule.judge(figures, otherwise, seed)).collect(), otherwise)
            }
        }
    }
}

fn bounds(at_least: Option<f64>, at_most: Option<f64>) -> String {
    match (at_least, at_most) {
        (Some(low), Some(high)) => format!("from {low} to {high}"),
        (Some(low), None) => format!("at least {low}"),
        (None, Some(high)) => format!("at most {high}"),
        (None, None) => "anything".to_owned(),
    }
}

fn missing(name: &str, reason: &str) -> Judged {
    Judged {
        verdict: ClaimVerdict::CannotBeMeasured,
        measured: "-".to_owned(),
        floor: None,
        why: format!("'{name}' is missing: {reason}"),
    }
}

/// The verdict on an interval, widened by the noise floor.
fn verdict_on(
    low: f64,
    high: f64,
    floor: f64,
    (at_least, at_most): (Option<f64>, Option<f64>),
    otherwise: ClaimVerdict,
) -> ClaimVerdict {
    let (low, high) = (widen_down(low, floor), widen_up(high, floor));
    let above = at_most.is_some_and(|most| low > most);
    let below = at_least.is_some_and(|least| high < least);
    let within = at_least.is_none_or(|least| low >= least) && at_most.is_none_or(|most| high <= most);
    match (above || below, within) {
        (true, _) => otherwise,
        (false, true) => ClaimVerdict::Holds,
        (false, false) => ClaimVerdict::Undecided,
    }
}

fn widen_down(low: f64, floor: f64) -> f64 {
    if low >= 0.0 { low / (1.0 + floor) } else { low * (1.0 + floor) }
}

fn widen_up(high: f64, floor: f64) -> f64 {
    if high >= 0.0 { high * (1.0 + floor) } else { high / (1.0 + floor) }
}

fn ratio(
    (left, a): (&str, &Figure),
    (right, b): (&str, &Figure),
    bounds: (Option<f64>, Option<f64>),
    otherwise: ClaimVerdict,
    seed: u64,
) -> Judged {
    let floor = a.floor().max(b.floor());
    let Some(Ratio { median, low, high }) = a.ratio_to(b, seed) else {
        return Judged {
            verdict: ClaimVerdict::Undecided,
            measured: format!("{} / {}", with_interval(a), with_interval(b)),
            floor: Some(floor),
            why: format!("'{right}' is not above zero ({}), so there is no ratio", with_interval(b)),
        };
    };
    let mut verdict = verdict_on(low, high, floor, bounds, otherwise);
    let other_side = bounds.0.is_some_and(|least| least >= 1.0) && widen_up(high, floor) < 1.0
        || bounds.1.is_some_and(|most| most <= 1.0) && widen_down(low, floor) > 1.0;
    if verdict == otherwise && other_side {
        verdict = ClaimVerdict::Reversed;
    }
    let (low, high) = (short(low), if high.is_finite() { short(high) } else { "any".to_owned() });
    Judged {
        verdict,
        measured: format!("{}x ({low} to {high})", short(median)),
        floor: Some(floor),
        why: format!(
            "'{left}' {} over '{right}' {} is {}x ({low} to {high}), noise floor {}: {verdict}",
            with_interval(a),
            with_interval(b),
            short(median),
            percent(floor)
        ),
    }
}

fn value(
    (name, figure): (&str, &Figure),
    bounds: (Option<f64>, Option<f64>),
    otherwise: ClaimVerdict,
) -> Judged {
    let estimate = figure.estimate();
    let verdict = verdict_on(estimate.low, estimate.high, figure.floor(), bounds, otherwise);
    Judged {
        verdict,
        measured: with_interval(figure),
        floor: Some(figure.floor()),
        why: format!(
            "'{name}' is {}, noise floor {}: {verdict}",
            with_interval(figure),
            percent(figure.floor())
        ),
    }
}

/// All rules must hold. A violated rule decides before an undecided one, and that before one with a missing
/// figure; the first rule that decides is cited.
fn all(judged: Vec<Judged>, otherwise: ClaimVerdict) -> Judged {
    let any = |verdict| judged.iter().any(|one: &Judged| one.verdict == verdict);
    let verdict = if any(otherwise) || any(ClaimVerdict::Reversed) {
        let every = judged.iter().all(|one| one.verdict == ClaimVerdict::Reversed);
        if every { ClaimVerdict::Reversed } else { otherwise }
    } else if any(ClaimVerdict::Undecided) {
        ClaimVerdict::Undecided
    } else if any(ClaimVerdict::CannotBeMeasured) {
        ClaimVerdict::CannotBeMeasured
    } else {
        ClaimVerdict::Holds
    };
    let decides = |one: &&Judged| {
        one.verdict == verdict || (verdict == otherwise && one.verdict == ClaimVerdict::Reversed)
    };
    let decisive = judged.iter().filter(decides).count();
    let cited = judged.iter().find(decides).map_or("", |one| one.why.as_str());
    let first = if decisive > 1 { ", the first" } else { "" };
    let why = format!("{decisive} of {}{first}: {cited}", judged.len());
    Judged {
        verdict,
        measured: judged.iter().map(|one| one.measured.as_str()).collect::<Vec<_>>().join("; "),
        floor: judged.iter().filter_map(|one| one.floor).reduce(f64::max),
        why,
    }
}

fn with_interval(figure: &Figure) -> String {
    let estimate = figure.estimate();
    let unit = if figure.unit() == Unit::None { String::new() } else { format!(" {}", figure.unit()) };
    if estimate.low == estimate.high {
        return match estimate.median {
            1.0 if figure.unit() != Unit::None => format!("1 {}", figure.unit().singular()),
            count if count.fract() == 0.0 => format!("{count:.0}{unit}"),
            value => format!("{}{unit}", short(value)),
        };
    }
    format!("{}{unit} ({} to {})", short(estimate.median), short(estimate.low), short(estimate.high))
}

/// Formats about three significant digits.
fn short(value: f64) -> String {
    let decimals = match value.abs() {
        size if size < 9.995 => 2,
        size if size < 99.95 => 1,
        _ => 0,
    };
    let text = format!("{value:.decimals$}");
    if text.trim_start_matches('-').bytes().all(|byte| matches!(byte, b'0' | b'.')) {
        text.trim_start_matches('-').to_owned()
    } else {
        text
    }
}

fn percent(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}

#[cfg(test)]
mod tests;
