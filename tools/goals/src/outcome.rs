//! What a verdict says: a tie is at the bar only if its interval is narrow.

use crate::judge::{Finding, GoalVerdict};
use crate::results::GoalResult;
use carryline_statistics::Ratio;
use std::fmt::Write;

/// How far a median at the bar may be from it.
const NEAR: f64 = 0.05;
/// How far the interval of a tie at the bar may reach from it.
const NARROW: f64 = 0.1;

/// The verdict on a goal with the ratio that it was formed from.
#[derive(Clone, Copy, Debug)]
pub struct Outcome<'a> {
    verdict: &'a GoalVerdict,
    ratio: Option<Ratio>,
    want: f64,
}

/// A verdict in which ties are told apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// As fast as required.
    Reached,
    /// Within 5 % of the required ratio, and surely within a tenth.
    AtTheBar,
    /// A tie whose interval is too wide, or too far from the bar, to say more.
    NotDecided,
    /// Slower than required.
    Missed,
    /// Without figures.
    NotMeasured,
}

impl<'a> From<&'a Finding> for Outcome<'a> {
    fn from(finding: &'a Finding) -> Outcome<'a> {
        Outcome { verdict: &finding.verdict, ratio: finding.ratio, want: finding.goal.want }
    }
}

impl<'a> From<&'a GoalResult> for Outcome<'a> {
    fn from(goal: &'a GoalResult) -> Outcome<'a> {
        let ratio = goal.ratio.map(|of| Ratio { median: of.median, low: of.low, high: of.high });
        Outcome { verdict: &goal.outcome, ratio, want: goal.want }
    }
}

impl Outcome<'_> {
    /// The verdict, with ties told apart.
    #[must_use]
    pub fn decision(self) -> Decision {
        match self.verdict {
            GoalVerdict::Reached => Decision::Reached,
            GoalVerdict::Tie if self.is_at_the_bar() => Decision::AtTheBar,
            GoalVerdict::Tie => Decision::NotDecided,
            GoalVerdict::Missed { .. } => Decision::Missed,
            GoalVerdict::NotMeasured(_) => Decision::NotMeasured,
        }
    }

    fn is_at_the_bar(self) -> bool {
        self.ratio.is_some_and(|ratio| {
            let [low, median, high] = [ratio.low, ratio.median, ratio.high].map(|end| end / self.want - 1.0);
            median.abs() <= NEAR && low >= -NARROW && high <= NARROW
        })
    }

    /// Whether the goal is not decided although the median is more than 5 % below the bar.
    #[must_use]
    pub fn may_be_missed(self) -> bool {
        self.decision() == Decision::NotDecided
            && self.ratio.is_some_and(|ratio| ratio.median < self.want * (1.0 - NEAR))
    }

    /// The verdict in words.
    #[must_use]
    pub fn words(self) -> String {
        match (self.decision(), self.verdict) {
            (_, GoalVerdict::Missed { by, at_most }) => {
                let mut words = format!("missed by {:.0} %", (by * 100.0).max(1.0));
                if let Some(most) = at_most {
                    let _ = write!(words, "; the limit allows {most:.2}");
                }
                words
            }
            (_, GoalVerdict::NotMeasured(why)) => why.clone(),
            (Decision::Reached, _) => "reached".to_owned(),
            (Decision::AtTheBar, _) => "at the bar".to_owned(),
            _ => "not decided".to_owned(),
        }
    }
}

/// The number of goals by decision.
#[must_use]
pub fn summary<'a>(outcomes: impl Iterator<Item = Outcome<'a>>) -> String {
    let decisions: Vec<Decision> = outcomes.map(Outcome::decision).collect();
    let count = |wanted| decisions.iter().filter(|decision| **decision == wanted).count();
    format!(
        "{} goals: {} reached, {} at the bar, {} not decided, {} missed, {} without figures",
        decisions.len(),
        count(Decision::Reached),
        count(Decision::AtTheBar),
        count(Decision::NotDecided),
        count(Decision::Missed),
        count(Decision::NotMeasured)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tie(want: f64, [low, median, high]: [f64; 3]) -> Outcome<'static> {
        Outcome { verdict: &GoalVerdict::Tie, ratio: Some(Ratio { median, low, high }), want }
    }

    #[test]
    fn only_a_narrow_tie_is_at_the_bar() {
        for (want, interval, words, may_be_missed) in [
            (1.0, [0.93, 0.96, 1.02], "at the bar", false),
            (0.87, [0.79, 0.83, 0.90], "at the bar", false),
            (1.0, [0.89, 0.96, 1.02], "not decided", false),
            (2.0, [1.9, 2.0, 2.3], "not decided", false),
            (2.0, [1.85, 1.87, 2.01], "not decided", true),
            (1.1, [0.28, 0.91, 1.41], "not decided", true),
        ] {
            let outcome = tie(want, interval);
            assert_eq!((outcome.words().as_str(), outcome.may_be_missed()), (words, may_be_missed));
        }
    }

    #[test]
    fn goals_are_counted_by_decision() {
        let missed = GoalVerdict::Missed { by: 0.2, at_most: Some(0.9) };
        let missed = Outcome { verdict: &missed, ratio: None, want: 1.0 };
        assert_eq!(missed.words(), "missed by 20 %; the limit allows 0.90");
        let all = [missed, tie(1.0, [0.95, 0.96, 1.0]), tie(1.0, [0.5, 0.96, 1.5])];
        let expected = "3 goals: 0 reached, 1 at the bar, 1 not decided, 1 missed, 0 without figures";
        assert_eq!(summary(all.into_iter()), expected);
    }
}
