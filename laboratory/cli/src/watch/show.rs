//! From the first figure to the last: rounds taken in, the screen drawn or blocks printed, keys obeyed, and measurements
//! begun and ended as they ask.
//!
//! One thread shows, another measures ([`Feed`]); what is measured next begins when what was has ended, and when keys
//! have rested for a moment.

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

/// What a run that makes a watched one again may take.
pub const BUDGET: Duration = Duration::from_secs(20);
/// How often the figures are drawn.
const REDRAW: Duration = Duration::from_secs(1);
/// How often events are polled.
const LOOK: Duration = Duration::from_millis(100);
/// How long no key must have been pressed before something else is measured, so that intermediate choices are
/// skipped.
const QUIET: Duration = Duration::from_millis(400);

/// What stays the same while one watches.
pub struct Watching<'a> {
    /// The options.
    pub args: &'a Watch,
    /// Those of every command.
    pub common: &'a Common,
    /// The machine.
    pub here: &'a Here,
    /// Who takes part, and how workers are started.
    pub prepared: &'a Prepared,
    /// Doubts known before.
    pub warnings: Vec<Warning>,
}

/// A measurement under way.
struct Running<'scope> {
    control: Arc<Control>,
    events: Receiver<Event>,
    thread: ScopedJoinHandle<'scope, Result<Option<Finished>, Failure>>,
    _ends: EndsWith,
}

/// Ends the measurement when it is dropped, such as when the terminal has gone.
struct EndsWith(Arc<Control>);

impl Drop for EndsWith {
    fn drop(&mut self) {
        self.0.stop.store(true, Ordering::Relaxed);
    }
}

impl Running<'_> {
    fn stop(&self, interrupted: bool) {
        self.control.interrupted.store(interrupted, Ordering::Relaxed);
        self.control.stop.store(true, Ordering::Relaxed);
    }

    /// What came of it, and what it told last.
    fn join(self) -> Result<(Option<Finished>, Vec<Event>), Failure> {
        let finished = self.thread.join();
        let finished = finished.unwrap_or_else(|_| Err(anyhow::anyhow!("the measurement failed").into()))?;
        Ok((finished, self.events.try_iter().collect()))
    }
}

impl Watching<'_> {
    /// The columns of a choice, or why there are none.
    pub fn situations(&self, choice: &Choice) -> Result<Vec<Situation>, String> {
        let (situations, refused) = choice.situations(&|family| self.prepared.selection.subjects(family));
        let situations: Vec<Situation> =
            situations.into_iter().filter(|situation| !situation.subjects.is_empty()).collect();
        if situations.is_empty() {
            let nobody = || format!("no variant of {} takes part", choice.family.get());
            return Err(refused.into_iter().next().unwrap_or_else(nobody));
        }
        self.here.check_memory(&situations).map_err(|error| error.to_string())?;
        Ok(situations)
    }

    /// Shows and measures until the end; the last run and the last state.
    ///
    /// # Errors
    /// When no worker can be started, or the terminal is gone.
    pub fn show(&self, state: State) -> Result<(Option<Finished>, State), Failure> {
        let json = self.common.format == Format::Json;
        let dumb = std::env::var_os("TERM").is_none_or(|term| term == "dumb" || term.is_empty());
        let live = !json && !dumb && std::io::stdout().is_terminal() && std::io::stdin().is_terminal();
        let progress = Progress::new(BUDGET, true);
        // Drawing must not disturb what is drawn.
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
                // The first measurement begins immediately.
                due: Some(now),
                last: None,
                begin: now,
                drawn: now,
                printed: 0,
            };
            let outcome = show.run();
            // Whatever ends it: the other thread is waited for when the scope ends.
            if let Some(running) = &show.running {
                running.stop(true);
            }
            let interrupted = outcome?;
            show.leave(interrupted)
        })
    }

    /// Whether everything requested is there.
    fn is_over(&self, state: &State, elapsed: Duration) -> bool {
        let rounds = self.args.rounds.is_some_and(|rounds| state.live.least_rounds() >= rounds);
        let replicates = self.args.effort.replicates.is_some_and(|wanted| state.live.replicates >= wanted);
        let budget = self.args.effort.budget.is_some_and(|budget| elapsed >= budget);
        rounds || replicates || budget
    }

    /// Starts to measure what the state shows.
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
        let plugins: Vec<&(String, _)> =
            selection.plugins.iter().filter(|(_, id)| id.family == family).collect();
        let named = if selection.named { state.live.names() } else { &[] };
        let named: Vec<String> =
            named.iter().filter(|name| !plugins.iter().any(|(_, id)| id.name == **name)).cloned().collect();
        let words: Vec<String> = plugins.iter().map(|(word, _)| word.clone()).collect();
        let feed = Feed {
            plan: self.prepared.plan(state.live.situations.clone(), &self.args.effort, BUDGET, self.common),
            command: state.choice.command(&named, &words),
            prepared: self.prepared,
            here: self.here,
            save: !self.args.effort.no_save,
            db: self.common.db.as_deref(),
            warnings: self.warnings.clone(),
            progress,
        };
        let asked = Arc::clone(&control);
        let thread = scope.spawn(move || feed.run(&asked, &sender));
        let _ends = EndsWith(control.clone());
        Running { control, events, thread, _ends }
    }
}

/// What changes while one watches.
struct Show<'scope, 'env> {
    watch: &'env Watching<'env>,
    scope: &'scope Scope<'scope, 'env>,
    progress: &'env Progress,
    state: State,
    screen: Option<Screen>,
    /// Whether blocks are printed.
    blocks: bool,
    running: Option<Running<'scope>>,
    /// When something else is to be measured; what runs until then belongs to another screen.
    due: Option<Instant>,
    last: Option<Finished>,
    begin: Instant,
    drawn: Instant,
    /// Rounds that the last block had.
    printed: u64,
}

impl Show<'_, '_> {
    /// Goes on until the end; true if the user stopped it before its time.
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
                // It has gone, and reading from it would wait for good.
                return Ok(true);
            }
            if self.drawn.elapsed() >= REDRAW {
                self.redraw()?;
            }
            let effect = match &self.screen {
                None => {
                    std::thread::sleep(LOOK);
                    continue;
                }
                Some(screen) => match screen.input(LOOK)? {
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

    /// Takes in what the measuring tells, and what came of one that has ended.
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

    /// Brings what the measuring tells into the state, unless it is about another screen.
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

    /// Draws the figures as they are now, or prints them if there are new ones.
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

    /// Ends what is measured; what keys have chosen follows.
    fn restart(&mut self) {
        if let Some(running) = &self.running {
            running.stop(false);
        }
        match self.watch.situations(&self.state.choice) {
            Ok(situations) => {
                self.state.restart(situations);
                self.due = Some(Instant::now() + QUIET);
            }
            Err(reason) => {
                self.state.restart(Vec::new());
                self.state.remark = reason;
                self.due = None;
            }
        }
    }

    /// Gives the terminal back, ends what is measured, and waits for what came of it.
    fn leave(mut self, interrupted: bool) -> Result<(Option<Finished>, State), Failure> {
        // The terminal first: what follows takes a moment, and may have something to say.
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
