//! The progress line: the fraction done and the time left, on a terminal only.
//!
//! The total time is an estimate that is corrected by the speed of the verification and by the time of the
//! first worker processes. While work continues, the line always shows some time left.
//!
//! A thread updates the line while the command waits, for example for a compiler. It exists only if the line is
//! shown, and stays off the CPU on which workers measure by default.

use carryline_machine::process;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::IsTerminal;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Steps of the bar: tenths of a percent.
const STEPS: u64 = 1000;
/// How often the thread moves the line.
const TICK: Duration = Duration::from_millis(300);
/// The line: beside it, 80 columns leave 50 for what is being done.
const TEMPLATE: &str = "{bar:10} {percent:>3} % {prefix:>6} left  {wide_msg}";

/// A progress line on standard error.
pub struct Progress {
    line: Arc<Line>,
    /// Dropped with the line, which ends the thread.
    _until: Option<Sender<()>>,
}

struct Line {
    bar: ProgressBar,
    pace: Mutex<Pace>,
}

impl Line {
    fn pace(&self) -> MutexGuard<'_, Pace> {
        self.pace.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Moves the bar to the current time.
    fn tick(&self) {
        let mut pace = self.pace();
        if pace.finished {
            return;
        }
        let elapsed = pace.begin.elapsed();
        let (position, left) = pace.at(elapsed);
        self.bar.set_prefix(format!("{left} s"));
        self.bar.set_position(position);
    }

    fn tick_until(&self, end: &Receiver<()>) {
        let _kept_off = process::allowed_cpus().last().map(|cpu| process::keep_off(*cpu));
        while end.recv_timeout(TICK) == Err(RecvTimeoutError::Timeout) {
            self.tick();
        }
    }
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
    /// Whether the line is removed.
    finished: bool,
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
        let progress = Progress::on(target, expected, budget, after);
        match shown {
            true => progress.that_ticks(),
            false => progress,
        }
    }

    fn on(target: ProgressDrawTarget, expected: Duration, budget: Duration, after: Duration) -> Progress {
        let mut pace = Pace {
            begin: Instant::now(),
            expected,
            verification_from: Duration::ZERO,
            after_verification: after,
            budget,
            shown: 0,
            finished: false,
        };
        let (_, left) = pace.at(Duration::ZERO);
        let bar = ProgressBar::with_draw_target(Some(STEPS), target).with_prefix(format!("{left} s"));
        if let Ok(style) = ProgressStyle::with_template(TEMPLATE) {
            bar.set_style(style.progress_chars("=> "));
        }
        Progress { line: Arc::new(Line { bar, pace: Mutex::new(pace) }), _until: None }
    }

    /// This line, moved by a thread. Without one it moves when told to.
    fn that_ticks(mut self) -> Progress {
        let (until, end) = channel();
        let line = Arc::clone(&self.line);
        let ticks = std::thread::Builder::new().name("progress".to_owned());
        if ticks.spawn(move || line.tick_until(&end)).is_ok() {
            self._until = Some(until);
        }
        self
    }

    /// Sets the message.
    pub fn say(&self, what: impl Into<String>) {
        // The message first: what is drawn at first has a time from the beginning, and is not drawn again at once.
        self.line.bar.set_message(what.into());
        self.tick();
    }

    /// The current message.
    pub fn said(&self) -> String {
        self.line.bar.message()
    }

    /// Corrects the estimate: `left` remains.
    pub fn expect_left(&self, left: Duration) {
        let mut pace = self.line.pace();
        pace.expected = pace.begin.elapsed() + left;
    }

    /// The verification of many subjects begins.
    pub fn verification_begins(&self) {
        let mut pace = self.line.pace();
        pace.verification_from = pace.begin.elapsed();
    }

    /// Corrects the estimate by the speed of the verification: `done` subjects of `of` are verified.
    pub fn verified(&self, done: usize, of: usize) {
        let mut pace = self.line.pace();
        let elapsed = pace.begin.elapsed();
        pace.verified(elapsed, done, of);
    }

    /// Updates the bar to the current time.
    pub fn tick(&self) {
        self.line.tick();
    }

    /// Removes the line.
    pub fn finish(&self) {
        let mut pace = self.line.pace();
        pace.finished = true;
        self.line.bar.finish_and_clear();
    }
}

impl Drop for Progress {
    /// A command that fails leaves no line behind.
    fn drop(&mut self) {
        self.finish();
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
            finished: false,
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
    /// What a terminal of 80 columns has been sent since its line was last cleared.
    #[derive(Clone, Debug, Default)]
    struct Sent(Arc<Mutex<String>>);

    impl Sent {
        fn text(&self) -> String {
            self.0.lock().expect("no panic").clone()
        }

        fn write(&self, text: &str) -> std::io::Result<()> {
            self.0.lock().expect("no panic").push_str(text);
            Ok(())
        }
    }

    impl indicatif::TermLike for Sent {
        fn width(&self) -> u16 {
            80
        }
        fn move_cursor_up(&self, _: usize) -> std::io::Result<()> {
            Ok(())
        }
        fn move_cursor_down(&self, _: usize) -> std::io::Result<()> {
            Ok(())
        }
        fn move_cursor_right(&self, _: usize) -> std::io::Result<()> {
            Ok(())
        }
        fn move_cursor_left(&self, _: usize) -> std::io::Result<()> {
            Ok(())
        }
        fn write_line(&self, text: &str) -> std::io::Result<()> {
            self.write(text)
        }
        fn write_str(&self, text: &str) -> std::io::Result<()> {
            self.write(text)
        }
        fn clear_line(&self) -> std::io::Result<()> {
            self.0.lock().expect("no panic").clear();
            Ok(())
        }
        fn flush(&self) -> std::io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn the_line_begins_with_a_time_moves_by_itself_and_leaves_room_for_what_is_done() {
        let terminal = Sent::default();
        let target = ProgressDrawTarget::term_like(Box::new(terminal.clone()));
        let line = Progress::on(target, 100 * SECOND, 100 * SECOND, Duration::ZERO).that_ticks();
        line.say("verifying 12 of 47: copy_checksum/avx512_merged_copy");
        let until = |words: &[&str]| {
            let has_all = |text: &str| words.iter().all(|word| text.contains(word));
            for _ in 0..6000 {
                if has_all(&terminal.text()) {
                    return;
                }
                std::thread::sleep(Duration::from_millis(10));
            }
            panic!("no {words:?} in {:?}", terminal.text());
        };
        let first = terminal.text();
        assert!(first.is_empty() || first.contains(" s left"), "a line without a time: {first:?}");
        until(&[" s left", "verifying 12 of 47: copy_checksum/avx512_merged_"]);
        line.expect_left(5000 * SECOND);
        until(&["5000 s left"]);
        line.finish();
        line.tick();
        assert_eq!(terminal.text(), "", "a removed line stays removed");
    }
}
