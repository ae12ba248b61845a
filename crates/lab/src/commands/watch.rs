//! `carryline watch`: the live screen.

use super::measure::words;
use super::run::{Prepared, conclude, read_sizes};
use crate::cli::{Common, Format};
use crate::engine::machine::Here;
use crate::engine::progress::Progress;
use crate::engine::session::{self, Finished};
use crate::failure::{Failure, status, usage};
use crate::watch::args::Watch;
use crate::watch::choice::{Choice, Ladder, usual_caches, usual_offsets, usual_sizes};
use crate::watch::feed::{Control, Event, Feed};
use crate::watch::keys::{self, Effect};
use crate::watch::plain;
use crate::watch::state::{Live, Sort, State};
use crate::watch::terminal::{Input, Screen};
use crate::{interrupt, output};
use carryline_measure::condition::Offsets;
use carryline_measure::gather::Situation;
use carryline_measure::process;
use carryline_measure::results::Warning;
use carryline_report::units::Factors;
use carryline_variants::Family;
use std::io::IsTerminal;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, channel};
use std::thread::{Scope, ScopedJoinHandle};
use std::time::{Duration, Instant};

/// What a run that makes a watched one again may take.
const BUDGET: Duration = Duration::from_secs(20);
/// How often the figures are drawn.
const REDRAW: Duration = Duration::from_secs(1);
/// How often events are looked at.
const LOOK: Duration = Duration::from_millis(100);
/// How long keys must have rested before something else is measured: nobody wants all that he only passes by.
const QUIET: Duration = Duration::from_millis(400);

/// Shows the screen, or prints blocks where there is no terminal.
pub fn run(args: &Watch, common: &Common) -> Result<u8, Failure> {
    let here = Here::look();
    let prepared = Prepared::new(&args.subjects, &args.effort, &here)?;
    let (choice, warnings) = choice(args, &prepared)?;
    let watch = Watching { args, common, here: &here, prepared: &prepared, warnings };
    let situations = watch.situations(&choice).map_err(usage)?;
    if args.effort.plan {
        let plan = prepared.plan(situations, &args.effort, BUDGET, common);
        prepared.execute(&plan, &args.effort, &here, Vec::new(), common)?;
        return Ok(0);
    }
    if !args.effort.no_save {
        // What cannot be kept is found out before any time is spent.
        drop(session::open_store(common.db.as_deref()).map_err(|error| usage(error.to_string()))?);
    }
    let state = State {
        choice,
        live: Live::new(situations),
        sort: Sort::List,
        unit: prepared.unit,
        factors: Factors::default(),
        scroll: 0,
        help: false,
        paused: false,
        colour: output::style().colour,
        clock_s: 0.0,
        half_life_s: args.half_life.as_secs_f64(),
        now: String::new(),
        remark: "h shows the keys".to_owned(),
    };
    let (finished, state) = watch.show(state)?;
    let Some(finished) = finished else {
        output::note("nothing was measured", common);
        return Ok(if interrupt::requested() { status::INTERRUPTED } else { 0 });
    };
    conclude(&finished, &plain::block(&state), state.unit, &args.effort, common)
}

/// What may be watched, from the command line and beyond; and what is to be known of its captures.
fn choice(args: &Watch, prepared: &Prepared) -> Result<(Choice, Vec<Warning>), Failure> {
    let (sizes, warnings) = read_sizes(args.sizes.as_deref())?;
    let offsets: Vec<Offsets> = words(&args.offsets)?;
    if offsets.len() > 2 {
        return Err(usage(format!(
            "--offsets {}: a screen has columns for two; 'o' goes through others",
            args.offsets.join(",")
        )));
    }
    let mut families = prepared.selection.families.clone();
    if args.subjects.family.is_empty() {
        // The seed's screen was one of checksums.
        families.sort_by_key(|family| *family != Family::Checksum);
    }
    let usual = usual_sizes().map_err(|error| usage(error.to_string()))?;
    let asked = if offsets.is_empty() { Vec::new() } else { vec![offsets] };
    let nothing = || usage("nothing to watch");
    Ok((
        Choice {
            family: Ladder::new(families, Vec::new()).ok_or_else(nothing)?,
            size: Ladder::new(sizes, usual).ok_or_else(nothing)?,
            offsets: Ladder::new(asked, usual_offsets()).ok_or_else(nothing)?,
            cache: Ladder::new(words(&args.cache)?, usual_caches()).ok_or_else(nothing)?,
        },
        warnings,
    ))
}

/// What stays the same while one watches.
struct Watching<'a> {
    args: &'a Watch,
    common: &'a Common,
    here: &'a Here,
    prepared: &'a Prepared,
    warnings: Vec<Warning>,
}

/// A measurement under way.
struct Running<'scope> {
    control: Arc<Control>,
    events: Receiver<Event>,
    thread: ScopedJoinHandle<'scope, Result<Option<Finished>, Failure>>,
}

impl Running<'_> {
    fn stop(&self, interrupted: bool) {
        self.control.interrupted.store(interrupted, Ordering::Relaxed);
        self.control.stop.store(true, Ordering::Relaxed);
    }

    /// What came of it.
    fn join(self) -> Result<Option<Finished>, Failure> {
        self.thread.join().unwrap_or_else(|_| Err(anyhow::anyhow!("the measuring gave up").into()))
    }
}

impl Watching<'_> {
    /// The columns of a choice, or why there are none.
    fn situations(&self, choice: &Choice) -> Result<Vec<Situation>, String> {
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
    fn show(&self, mut state: State) -> Result<(Option<Finished>, State), Failure> {
        let json = self.common.format == Format::Json;
        let dumb = std::env::var_os("TERM").is_none_or(|term| term == "dumb" || term.is_empty());
        let live = !json && !dumb && std::io::stdout().is_terminal() && std::io::stdin().is_terminal();
        let progress = Progress::new(BUDGET, true);
        let begin = Instant::now();
        // Drawing must not disturb what is drawn.
        let _kept_off = self.prepared.cpu.map(process::keep_off);
        std::thread::scope(|scope| {
            let mut screen = if live { Some(Screen::enter()?) } else { None };
            let mut running = Some(self.start(scope, &state, &progress));
            let mut due: Option<Instant> = None;
            let mut last: Option<Finished> = None;
            let mut drawn = (Instant::now(), 0);
            loop {
                if let Some(now) = running.take() {
                    if now.thread.is_finished() {
                        if let Some(finished) = now.join()? {
                            let kept = finished.result.run_id.map(|id| format!("kept as run {id}"));
                            state.remark = kept.unwrap_or_default();
                            last = Some(finished);
                        }
                    } else {
                        // What is stopped belongs to another screen.
                        if due.is_none() {
                            now.events.try_iter().for_each(|event| take(event, &mut state));
                        }
                        running = Some(now);
                    }
                }
                if running.is_none() && due.is_some_and(|due| Instant::now() >= due) {
                    due = None;
                    running = Some(self.start(scope, &state, &progress));
                }
                let ends = interrupt::requested()
                    || self.is_over(&state, begin.elapsed())
                    || running.is_none() && due.is_none() && screen.is_none();
                let mut effect = if ends { Some(Effect::Quit) } else { None };
                let rounds: u64 = state.live.rounds.iter().sum();
                if drawn.0.elapsed() >= REDRAW || ends {
                    state.tick(begin.elapsed().as_secs_f64());
                    state.now = progress.said();
                    if screen.is_none() && !json && !ends && rounds != drawn.1 {
                        output::print(&format!("{}\n", plain::block(&state)))?;
                    }
                    drawn = (Instant::now(), rounds);
                    if let Some(screen) = &mut screen {
                        screen.draw(&state)?;
                    }
                }
                if effect.is_none() {
                    effect = match &mut screen {
                        None => {
                            std::thread::sleep(LOOK);
                            None
                        }
                        Some(screen) => match screen.input(LOOK)? {
                            Input::Key(action) => {
                                let effect = keys::apply(action, &mut state);
                                screen.draw(&state)?;
                                Some(effect)
                            }
                            Input::Other => Some(Effect::Draw),
                            Input::Nothing => None,
                        },
                    };
                }
                match effect {
                    None => {}
                    Some(Effect::Draw) => {
                        if let Some(now) = &running {
                            now.control.paused.store(state.paused, Ordering::Relaxed);
                        }
                        if let Some(screen) = &mut screen {
                            screen.draw(&state)?;
                        }
                    }
                    Some(Effect::Restart) => {
                        if let Some(now) = &running {
                            now.stop(false);
                        }
                        match self.situations(&state.choice) {
                            Ok(situations) => {
                                state.restart(situations);
                                due = Some(Instant::now() + QUIET);
                            }
                            Err(reason) => {
                                state.restart(Vec::new());
                                state.remark = reason;
                                due = None;
                            }
                        }
                    }
                    Some(Effect::Quit | Effect::Interrupt) => {
                        // The terminal first: what follows takes a moment, and may have something to say.
                        drop(screen);
                        let interrupted = effect == Some(Effect::Interrupt);
                        if let Some(now) = running {
                            now.stop(interrupted);
                            let events_end = due.is_some();
                            let (control, events) = (Arc::clone(&now.control), now.events);
                            drop(control);
                            let joined = now.thread.join();
                            if !events_end {
                                events.try_iter().for_each(|event| take(event, &mut state));
                            }
                            let joined = joined
                                .unwrap_or_else(|_| Err(anyhow::anyhow!("the measuring gave up").into()))?;
                            last = joined.or(last);
                        }
                        if let (true, Some(last)) = (interrupted, &mut last) {
                            last.interrupted = true;
                        }
                        state.tick(begin.elapsed().as_secs_f64());
                        return Ok((last, state));
                    }
                }
            }
        })
    }

    /// Whether everything asked for is there.
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
            selection.plugins.iter().filter(|(_, id)| id.family == family.name()).collect();
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
        Running { control, events, thread }
    }
}

/// Brings what the measuring tells into the state.
fn take(event: Event, state: &mut State) {
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
