//! The progress line: the fraction done and the time left, on a terminal only.
//!
//! The total time is an estimate that is corrected by the speed of the verification and by the time of the
//! first worker processes. While work continues, the line always shows some time left.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::IsTerminal;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Steps of the bar: tenths of a percent.
const STEPS: u64 = 1000;

/// A progress line on standard error.
pub struct Progress {
    bar: ProgressBar,
    pace: Mutex<Pace>,
}

/// The progress of work and its estimated total time.
#[derive(Clone, Copy, Debug)]
struct Pace {
    begin: Instant,
    /// The estimated total time.
    expected: Duration,
    /// When the current verification began.
    verification_from: Duration,
    /// The least time of what follows the verification.
    after_verification: Duration,
    /// The time budget, which what follows the verification uses up.
    budget: Duration,
    /// The most steps shown so far.
    shown: u64,
}

impl Pace {
    /// What is shown after `elapsed`: the steps done, and the whole seconds left, at least one.
    fn at(&mut self, elapsed: Duration) -> (u64, u64) {
        if elapsed + Duration::from_secs(1) > self.expected {
            // It takes longer than estimated; how much longer is unknown.
            self.expected = elapsed.mul_f64(1.05) + Duration::from_secs(1);
        }
        let share = elapsed.as_secs_f64() / self.expected.as_secs_f64();
        // The bar never moves back.
        self.shown = self.shown.max((share * STEPS as f64) as u64).min(STEPS - 1);
        let left = self.expected.saturating_sub(elapsed).as_secs_f64().ceil();
        (self.shown, (left as u64).max(1))
    }

    /// Corrects the estimate: after `elapsed`, `done` subjects of `of` are verified.
    fn verified(&mut self, elapsed: Duration, done: usize, of: usize) {
        // The first few subjects are no basis for an estimate.
        if done * 8 >= of {
            let so_far = elapsed.saturating_sub(self.verification_from);
            let verification = so_far.mul_f64(of as f64 / done.max(1) as f64);
            let all = self.verification_from + verification + self.after_verification;
            self.expected = self.budget.max(all);
        }
    }
}

impl Progress {
    /// A progress line for work of about `expected`; hidden if `quiet` or not on a terminal.
    pub fn new(expected: Duration, quiet: bool) -> Progress {
        Progress::with_verification(expected, expected, Duration::ZERO, quiet)
    }

    /// A progress line for work that begins with the verification of many subjects. What follows takes at
    /// least `after`, or the rest of the `budget`.
    pub fn with_verification(expected: Duration, budget: Duration, after: Duration, quiet: bool) -> Progress {
        let shown = !quiet && std::io::stderr().is_terminal();
        let target = if shown { ProgressDrawTarget::stderr_with_hz(5) } else { ProgressDrawTarget::hidden() };
        let bar = ProgressBar::with_draw_target(Some(STEPS), target);
        if let Ok(style) =
            ProgressStyle::with_template("{bar:24} {percent:>3} % {prefix:>6} left  {wide_msg}")
        {
            bar.set_style(style.progress_chars("=> "));
        }
        let begin = Instant::now();
        let pace = Pace {
            begin,
            expected,
            verification_from: Duration::ZERO,
            after_verification: after,
            budget,
            shown: 0,
        };
        Progress { bar, pace: Mutex::new(pace) }
    }

    /// Sets the message.
    pub fn say(&self, what: impl Into<String>) {
        self.bar.set_message(what.into());
        self.tick();
    }

    /// The current message.
    pub fn said(&self) -> String {
        self.bar.message()
    }

    /// Corrects the estimate: `left` remains.
    pub fn expect_left(&self, left: Duration) {
        let mut pace = self.pace.lock().unwrap_or_else(PoisonError::into_inner);
        pace.expected = pace.begin.elapsed() + left;
    }

    /// The verification of many subjects begins.
    pub fn verification_begins(&self) {
        let mut pace = self.pace.lock().unwrap_or_else(PoisonError::into_inner);
        pace.verification_from = pace.begin.elapsed();
    }

    /// Corrects the estimate by the speed of the verification: `done` subjects of `of` are verified.
    pub fn verified(&self, done: usize, of: usize) {
        let mut pace = self.pace.lock().unwrap_or_else(PoisonError::into_inner);
        let elapsed = pace.begin.elapsed();
        pace.verified(elapsed, done, of);
    }

    /// Updates the bar to the current time.
    pub fn tick(&self) {
        let (position, left) = {
            let mut pace = self.pace.lock().unwrap_or_else(PoisonError::into_inner);
            let elapsed = pace.begin.elapsed();
            pace.at(elapsed)
        };
        self.bar.set_position(position);
        self.bar.set_prefix(format!("{left} s"));
    }

    /// Removes the line.
    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn pace(expected: u32, budget: u32, after: u32) -> Pace {
        Pace {
            begin: Instant::now(),
            expected: expected * SECOND,
            verification_from: Duration::ZERO,
            after_verification: after * SECOND,
            budget: budget * SECOND,
            shown: 0,
        }
    }

    #[test]
    fn time_is_left_until_the_end_and_the_bar_never_moves_back() {
        let mut pace = pace(10, 10, 0);
        assert_eq!(pace.at(Duration::ZERO), (0, 10));
        assert_eq!(pace.at(5 * SECOND), (500, 5));
        let mut before = 500;
        for seconds in 6..40 {
            let (steps, left) = pace.at(seconds * SECOND);
            assert!(steps >= before && steps < STEPS && left >= 1, "{seconds}: {steps}, {left}");
            before = steps;
        }
        pace.expected = 100 * SECOND;
        assert_eq!(pace.at(40 * SECOND), (before, 60));
    }

    #[test]
    fn the_speed_of_the_verification_corrects_the_estimate() {
        let mut pace = pace(10, 10, 4);
        pace.verified(SECOND, 1, 40);
        assert_eq!(pace.expected, 10 * SECOND, "one of forty is no basis");
        pace.verified(5 * SECOND, 10, 40);
        assert_eq!(pace.expected, 24 * SECOND);
        pace.verified(SECOND, 20, 40);
        assert_eq!(pace.expected, 10 * SECOND, "the rest of the budget is used");
        pace.verification_from = 30 * SECOND;
        pace.verified(31 * SECOND, 10, 20);
        assert_eq!(pace.expected, 36 * SECOND, "a later verification has its own speed");
    }
}
