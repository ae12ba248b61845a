//! What a person sees while it works: one line with the time left, on a terminal only.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::IsTerminal;
use std::time::{Duration, Instant};

/// A progress line on standard error.
pub struct Progress {
    bar: ProgressBar,
    begin: Instant,
    expected: Duration,
}

impl Progress {
    /// A line for work that should take `expected`; silent if `quiet` or not on a terminal.
    pub fn new(expected: Duration, quiet: bool) -> Progress {
        let shown = !quiet && std::io::stderr().is_terminal();
        let target = if shown { ProgressDrawTarget::stderr_with_hz(5) } else { ProgressDrawTarget::hidden() };
        let bar = ProgressBar::with_draw_target(Some(expected.as_millis().max(1) as u64), target);
        if let Ok(style) = ProgressStyle::with_template("{bar:24} {prefix:>6} left  {wide_msg}") {
            bar.set_style(style.progress_chars("=> "));
        }
        Progress { bar, begin: Instant::now(), expected }
    }

    /// Says what is being done now.
    pub fn say(&self, what: impl Into<String>) {
        self.bar.set_message(what.into());
        self.tick();
    }

    /// What is being done now.
    pub fn said(&self) -> String {
        self.bar.message()
    }

    /// Moves the bar on with the time.
    pub fn tick(&self) {
        let elapsed = self.begin.elapsed();
        self.bar.set_position(elapsed.min(self.expected).as_millis() as u64);
        self.bar.set_prefix(format!("{} s", self.expected.saturating_sub(elapsed).as_secs()));
    }

    /// Takes the line away.
    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }
}
