//! The main loop of the live screen: collects rounds, draws the screen or prints blocks, handles keys, and
//! starts and stops measurements.
//!
//! One thread draws, another measures ([`Feed`]). After a choice, the next measurement starts once the
//! previous one has ended and no key was pressed for a moment.

use super::choice::Choice;
use super::feed::{Control, Event, Feed};
use super::keys::{self, Effect};
use super::plain;
use super::state::State;
use super::terminal::{Input, Screen};
use crate::cli::{Common, Format, Watch};
use crate::output;
use crate::prepared::Prepared;
use carryline_engine::failure::Failure;
use carryline_engine::interrupt;
use carryline_engine::machine::Here;
use carryline_engine::progress::Progress;
use carryline_engine::session::Finished;
use carryline_machine::process;
use carryline_results::Warning;
use carryline_results::gather::Situation;
use std::io::IsTerminal;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, channel};
use std::thread::{Scope, ScopedJoinHandle};
use std::time::{Duration, Instant};

/// The default budget of a run that repeats a watched one.
pub const BUDGET: Duration = Duration::from_secs(20);
/// The interval between redraws.
const REDRAW: Duration = Duration::from_secs(1);
/// The interval between polls for events.
const POLL: Duration = Duration::from_millis(100);
/// The time without a key before the next measurement starts, so that intermediate choices are skipped.
const SETTLE: Duration = Duration::from_millis(400);

/// The settings of the live screen, which do not change.
pub struct Watching<'a> {
    /// The options of `carryline watch`.
    pub args: &'a Watch,
    /// The options of every command.
    pub common: &'a Common,
    /// The machine.
    pub here: &'a Here,
    /// The subjects, and how to start workers.
    pub prepared: &'a Prepared,
    /// Warnings known before the measurement.
    pub warnings: Vec<Warning>,
}

/// A measurement in progress.
struct Running<'scope> {
    control: Arc<Control>,
    events: Receiver<Event>,
    thread: ScopedJoinHandle<'scope, Result<Option<Finished>, Failure>>,
    _stop: StopOnDrop,
}

/// Stops the measurement when dropped, such as when the terminal is gone.
struct StopOnDrop(Arc<Control>);

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        self.0.stop.store(true, Ordering::Relaxed);
    }
}

impl Running<'_> {
    fn stop(&self, interrupted: bool) {
        self.control.interrupted.store(interrupted, Ordering::Relaxed);
        self.control.stop.store(true, Ordering::Relaxed);
    }

    /// Waits for its end; returns the run and the remaining events.
    fn join(self) -> Result<(Option<Finished>, Vec<Event>), Failure> {
        let finished = self.thread.join();
        let finished = finished.unwrap_or_else(|_| Err(anyhow::anyhow!("the measurement failed").into()))?;
        Ok((finished, self.events.try_iter().collect()))
    }
}

impl Watching<'_> {
    /// The columns of a choice, or the reason why there are none.
    pub fn situations(&self, choice: &Choice) -> Result<Vec<Situation>, String> {
        let subjects = |family| self.prepared.selection.subjects(family);
        let (situations, refused) = choice.situations(&subjects, &self.here.caches);
        let situations: Vec<Situation> =
            situations.into_iter().filter(|situation| !situation.subjects.is_empty()).collect();
        if situations.is_empty() {
            let none = || format!("no {} variant is selected", choice.family.get());
            return Err(refused.into_iter().next().unwrap_or_else(none));
        }
        self.here.check_memory(&situations).map_err(|error| error.to_string())?;
        Ok(situations)
    }

    /// Draws and measures until the end; returns the last run and the last state.
    ///
    /// # Errors
    /// If no worker can be started, or the terminal is gone.
    pub fn show(&self, state: State) -> Result<(Option<Finished>, State), Failure> {
        let json = self.common.format == Format::Json;
        let dumb = std::env::var_os("TERM").is_none_or(|term| term == "dumb" || term.is_empty());
        let live = !json && !dumb && std::io::stdout().is_terminal() && std::io::stdin().is_terminal();
        let progress = Progress::new(BUDGET, true);
        // Drawing must not disturb the measurement.
        let _kept_off = self.prepared.cpu.map(process::keep_off);
        std::thread::scope(|scope| {
            let screen = if live { Some(Screen::enter()?) } else { None };
            let now = Instant::now();
            let mut show = Show {
                watch: self,
                scope,
                progress: &progress,
                state,
                screen,
                blocks: !live && !json,
                running: None,
                // Start the first measurement immediately.
                due: Some(now),
                last: None,
                begin: now,
                drawn: now,
                printed: 0,
            };
            let outcome = show.run();
            // Stop the other thread in any case: the scope waits for it.
            if let Some(running) = &show.running {
                running.stop(true);
            }
            let interrupted = outcome?;
            show.leave(interrupted)
        })
    }

    /// True if the requested rounds, replicates or time are reached.
    fn is_over(&self, state: &State, elapsed: Duration) -> bool {
        let rounds = self.args.rounds.is_some_and(|rounds| state.live.least_rounds() >= rounds);
        let replicates = self.args.effort.replicates.is_some_and(|wanted| state.live.replicates >= wanted);
        let budget = self.args.effort.budget.is_some_and(|budget| elapsed >= budget);
        rounds || replicates || budget
    }

    /// Starts to measure the situations of the state.
    fn start<'scope, 'env>(
        &'env self,
        scope: &'scope Scope<'scope, 'env>,
        state: &State,
        progress: &'env Progress,
    ) -> Running<'scope> {
        let control = Arc::new(Control::default());
        control.paused.store(state.paused, Ordering::Relaxed);
        let (sender, events) = channel();
        let family = *state.choice.family.get();
        let selection = &self.prepared.selection;
        let named = if selection.named { state.live.names() } else { &[] };
        let plugins = selection.plugins.iter().filter(|(_, id)| id.family == family);
        let plugins: Vec<String> = plugins.map(|(word, _)| word.clone()).collect();
        let feed = Feed {
            plan: self.prepared.plan(state.live.situations.clone(), &self.args.effort, BUDGET, self.common),
            command: state.choice.command(named, &plugins),
            prepared: self.prepared,
            here: self.here,
            save: !self.args.effort.no_save,
            db: self.common.db.as_deref(),
            warnings: self.warnings.clone(),
            progress,
        };
        let thread = scope.spawn({
            let control = Arc::clone(&control);
            move || feed.run(&control, &sender)
        });
        Running { _stop: StopOnDrop(Arc::clone(&control)), control, events, thread }
    }
}

/// The changing state of the live screen.
struct Show<'scope, 'env> {
    watch: &'env Watching<'env>,
    scope: &'scope Scope<'scope, 'env>,
    progress: &'env Progress,
    state: State,
    screen: Option<Screen>,
    /// Whether to print blocks.
    blocks: bool,
    running: Option<Running<'scope>>,
    /// When to start the next measurement; until then, events are of the previous one and ignored.
    due: Option<Instant>,
    last: Option<Finished>,
    begin: Instant,
    drawn: Instant,
    /// The number of rounds in the last printed block.
    printed: u64,
}

impl Show<'_, '_> {
    /// Runs until the end; true if the user interrupted.
    fn run(&mut self) -> Result<bool, Failure> {
        loop {
            self.collect()?;
            if self.running.is_none() && self.due.is_some_and(|due| Instant::now() >= due) {
                self.due = None;
                self.running = Some(self.watch.start(self.scope, &self.state, self.progress));
            }
            let idle = self.running.is_none() && self.due.is_none() && self.screen.is_none();
            if idle || interrupt::requested() || self.watch.is_over(&self.state, self.begin.elapsed()) {
                return Ok(interrupt::requested());
            }
            if self.screen.is_some() && !std::io::stdout().is_terminal() {
                // The terminal is gone, and reading from it would block forever.
                return Ok(true);
            }
            if self.drawn.elapsed() >= REDRAW {
                self.redraw()?;
            }
            let effect = match &self.screen {
                None => {
                    std::thread::sleep(POLL);
                    continue;
                }
                Some(screen) => match screen.input(POLL)? {
                    Input::Key(action) => keys::apply(action, &mut self.state),
                    Input::Other => Effect::Draw,
                    Input::Nothing => continue,
                },
            };
            match effect {
                Effect::Draw => {}
                Effect::Restart => self.restart(),
                Effect::Quit => return Ok(false),
                Effect::Interrupt => return Ok(true),
            }
            if let Some(running) = &self.running {
                running.control.paused.store(self.state.paused, Ordering::Relaxed);
            }
            if let Some(screen) = &mut self.screen {
                screen.draw(&self.state)?;
            }
        }
    }

    /// Handles the measurement's events, and its result once it has ended.
    fn collect(&mut self) -> Result<(), Failure> {
        let Some(running) = self.running.take() else { return Ok(()) };
        if !running.thread.is_finished() {
            self.take(running.events.try_iter().collect());
            self.running = Some(running);
            return Ok(());
        }
        let (finished, events) = running.join()?;
        self.take(events);
        if let Some(finished) = finished {
            if let (Some(id), false) = (finished.result.run_id, self.state.live.situations.is_empty()) {
                self.state.remark = format!("saved as run {id}");
            }
            self.last = Some(finished);
        }
        Ok(())
    }

    /// Applies events to the state, unless they are of a previous measurement.
    fn take(&mut self, events: Vec<Event>) {
        if self.due.is_some() || self.state.live.situations.is_empty() {
            return;
        }
        for event in events {
            let state = &mut self.state;
            match event {
                Event::Round(column, round) => state.live.absorb(column, &round),
                Event::Replicate { lost, factors, whole } => {
                    for (column, place, reason) in lost {
                        state.live.lose(column, place, &reason);
                    }
                    state.factors.ticks_per_cycle = factors.ticks_per_cycle.or(state.factors.ticks_per_cycle);
                    state.factors.ticks_per_ns = factors.ticks_per_ns.or(state.factors.ticks_per_ns);
                    state.live.replicates += u32::from(whole);
                }
                Event::Remark(text) => state.remark = text,
            }
        }
    }

    /// Redraws the screen, or prints a block if there are new rounds.
    fn redraw(&mut self) -> Result<(), Failure> {
        self.drawn = Instant::now();
        self.state.tick(self.begin.elapsed().as_secs_f64());
        self.state.now = if self.running.is_some() { self.progress.said() } else { String::new() };
        let rounds: u64 = self.state.live.rounds.iter().sum();
        if self.blocks && rounds != self.printed {
            self.printed = rounds;
            output::print(&format!("{}\n", plain::block(&self.state, output::style().width)))?;
        }
        if let Some(screen) = &mut self.screen {
            screen.draw(&self.state)?;
        }
        Ok(())
    }

    /// Stops the measurement and schedules one of the new choices.
    fn restart(&mut self) {
        if let Some(running) = &self.running {
            running.stop(false);
        }
        match self.watch.situations(&self.state.choice) {
            Ok(situations) => {
                self.state.restart(situations);
                self.due = Some(Instant::now() + SETTLE);
            }
            Err(reason) => {
                self.state.restart(Vec::new());
                self.state.remark = reason;
                self.due = None;
            }
        }
    }

    /// Restores the terminal, stops the measurement, and waits for its run.
    fn leave(mut self, interrupted: bool) -> Result<(Option<Finished>, State), Failure> {
        // First restore the terminal: the rest takes a moment and may print messages.
        self.screen = None;
        if let Some(running) = self.running.take() {
            running.stop(interrupted);
            let (finished, events) = running.join()?;
            self.take(events);
            self.last = finished.or(self.last);
        }
        if let (true, Some(last)) = (interrupted, &mut self.last) {
            last.interrupted = true;
        }
        self.state.tick(self.begin.elapsed().as_secs_f64());
        Ok((self.last, self.state))
    }
}
