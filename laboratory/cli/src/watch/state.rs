//! The state of the screen, changed by rounds, time and keys.

use super::choice::Choice;
use super::decay::Series;
use carryline_conditions::Dependence;
use carryline_report::units::{Factors, Unit, counted};
use carryline_results::gather::Situation;
use carryline_results::round::Round;
use std::collections::BTreeMap;

/// The order of rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sort {
    /// The order of the collection.
    List,
    /// By name.
    Name,
    /// By the figures of a column, fastest first.
    Column(usize),
}

/// The layout of figures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum View {
    /// One column, with bars, differences to the first row, and sparklines.
    Bars,
    /// All columns side by side.
    Table,
}

/// The state of the screen.
#[derive(Clone, Debug)]
pub struct State {
    /// The choices.
    pub choice: Choice,
    /// Their measurements.
    pub live: Live,
    /// The order of rows.
    pub sort: Sort,
    /// The layout of figures.
    pub view: View,
    /// The column that bars show.
    pub column: usize,
    /// The unit of the figures.
    pub unit: Unit,
    /// The units of a tick.
    pub factors: Factors,
    /// The number of rows scrolled off the top.
    pub scroll: usize,
    /// Whether the help is shown instead of the figures.
    pub help: bool,
    /// Whether measuring is paused.
    pub paused: bool,
    /// Whether to use colour.
    pub colour: bool,
    /// Seconds since the start.
    pub clock_s: f64,
    /// Seconds in which a sample loses half its weight.
    pub half_life_s: f64,
    /// The current step.
    pub now: String,
    /// The last remark.
    pub remark: String,
}

/// The measurements of the chosen situations.
#[derive(Clone, Debug, Default)]
pub struct Live {
    /// The columns.
    pub situations: Vec<Situation>,
    /// The number of worker processes that measured all columns.
    pub replicates: u32,
    /// The number of rounds, by column.
    pub rounds: Vec<u64>,
    /// The estimates, by column and place.
    cells: Vec<Vec<Series>>,
    /// The null call, by column.
    null: Vec<Series>,
    /// The ratio of the baseline's twin to the baseline, by column.
    twins: Vec<Series>,
    /// Why a subject has no figures in a column.
    lost: BTreeMap<(usize, usize), String>,
}

impl Live {
    /// No measurements yet.
    pub fn new(situations: Vec<Situation>) -> Live {
        let columns = situations.len();
        let cells = situations.iter().map(|s| vec![Series::default(); s.subjects.len()]).collect();
        let none = vec![Series::default(); columns];
        Live {
            rounds: vec![0; columns],
            cells,
            null: none.clone(),
            twins: none,
            situations,
            ..Live::default()
        }
    }

    /// How much was measured: `2 replicates finished, 60 rounds a column`.
    pub fn counts(&self) -> String {
        let replicates = counted(u64::from(self.replicates), "replicate");
        let most = self.rounds.iter().copied().max().unwrap_or(0);
        let rounds = match self.least_rounds() {
            least if least == most => counted(most, "round"),
            least => format!("{least} to {}", counted(most, "round")),
        };
        format!("{replicates} finished, {rounds} a column")
    }

    /// The names of the rows, in the collection's order.
    pub fn names(&self) -> &[String] {
        self.situations.first().map_or(&[], |situation| &situation.subjects)
    }

    /// Adds a round of a column.
    pub fn absorb(&mut self, column: usize, round: &Round) {
        let Some(situation) = self.situations.get(column) else { return };
        let sample = |place: usize| round.samples.get(place).copied().unwrap_or(f64::NAN);
        for (place, series) in self.cells[column].iter_mut().enumerate() {
            series.add(sample(place));
        }
        self.null[column].add(round.null_ticks);
        if let Some(subject) = situation.twins.first() {
            self.twins[column].add(sample(situation.subjects.len()) / sample(*subject));
        }
        self.rounds[column] += 1;
    }

    /// Records why a subject has no figures; keeps the first reason.
    pub fn lose(&mut self, column: usize, place: usize, reason: &str) {
        self.lost.entry((column, place)).or_insert_with(|| reason.to_owned());
    }

    /// The smallest number of rounds of any column that still has a subject.
    pub fn least_rounds(&self) -> u64 {
        let all_lost =
            |column: usize| (0..self.names().len()).all(|place| self.lost.contains_key(&(column, place)));
        (0..self.rounds.len()).filter(|c| !all_lost(*c)).map(|c| self.rounds[c]).min().unwrap_or(u64::MAX)
    }

    fn settle(&mut self, now_s: f64, half_life_s: f64) {
        for series in self.cells.iter_mut().flatten().chain(&mut self.null).chain(&mut self.twins) {
            series.settle(now_s, half_life_s);
        }
    }
}

/// A printed row.
#[derive(Clone, Debug, PartialEq)]
pub struct ScreenRow {
    /// The subject.
    pub name: String,
    /// Its estimates in ticks, by column.
    pub ticks: Vec<Option<f64>>,
    /// Whether it is the fastest or within the noise of it, by column.
    pub leads: Vec<bool>,
    /// Why it has no figures in any column.
    pub reason: Option<String>,
}

impl State {
    /// Sets the time and turns new rounds into points.
    pub fn tick(&mut self, clock_s: f64) {
        self.clock_s = clock_s;
        self.live.settle(clock_s, self.half_life_s);
    }

    /// Discards the measurements and shows these situations.
    pub fn restart(&mut self, situations: Vec<Situation>) {
        if let Sort::Column(column) = self.sort
            && column >= situations.len()
        {
            self.sort = Sort::List;
        }
        self.scroll = 0;
        self.column = self.column.min(situations.len().saturating_sub(1));
        self.live = Live::new(situations);
    }

    /// The initial column of the bars: independent calls, the most common in programs.
    pub fn usual_column(situations: &[Situation]) -> usize {
        let is_usual = |situation: &Situation| situation.condition.dependence == Dependence::Independent;
        situations.iter().position(is_usual).unwrap_or(0)
    }

    /// The last `most` points of a subject in the bars' column, in ticks.
    pub fn recent(&self, name: &str, most: usize) -> Vec<f64> {
        let place = self.live.names().iter().position(|known| known == name);
        let series = place.and_then(|place| self.live.cells.get(self.column)?.get(place));
        series.map_or_else(Vec::new, |series| series.recent(most))
    }

    /// The estimate of a subject in a column, in ticks, including the call.
    fn ticks(&self, column: usize, place: usize) -> Option<f64> {
        if self.live.lost.contains_key(&(column, place)) {
            return None;
        }
        self.live.cells.get(column)?.get(place)?.median(self.clock_s, self.half_life_s)
    }

    /// The estimates of the null call, by column.
    pub fn null(&self) -> Vec<Option<f64>> {
        self.live.null.iter().map(|series| series.median(self.clock_s, self.half_life_s)).collect()
    }

    /// The difference between two measurements of the same routine, by column: the decayed median of the
    /// relative difference, or the difference of the estimates if that is larger.
    pub fn noise(&self) -> Vec<Option<f64>> {
        let noise = |ratio: &Series| {
            let estimates = (ratio.median(self.clock_s, self.half_life_s)? - 1.0).abs();
            Some(ratio.spread(1.0, self.clock_s, self.half_life_s)?.max(estimates))
        };
        self.live.twins.iter().map(noise).collect()
    }

    /// All rows in the chosen order.
    pub fn rows(&self) -> Vec<ScreenRow> {
        let columns = self.live.situations.len();
        let noise = self.noise();
        let mut rows: Vec<ScreenRow> = self
            .live
            .names()
            .iter()
            .enumerate()
            .map(|(place, name)| {
                let reasons: Vec<&String> =
                    (0..columns).filter_map(|column| self.live.lost.get(&(column, place))).collect();
                ScreenRow {
                    name: name.clone(),
                    ticks: (0..columns).map(|column| self.ticks(column, place)).collect(),
                    leads: vec![false; columns],
                    reason: reasons.first().filter(|_| reasons.len() == columns).map(|r| (*r).clone()),
                }
            })
            .collect();
        for (column, noise) in noise.into_iter().enumerate() {
            let best = rows.iter().filter_map(|row| row.ticks[column]).reduce(f64::min);
            let Some(best) = best else { continue };
            let bound = best * (1.0 + noise.unwrap_or(0.0));
            for row in &mut rows {
                row.leads[column] = row.ticks[column].is_some_and(|ticks| ticks <= bound);
            }
        }
        match self.sort {
            Sort::List => {}
            Sort::Name => rows.sort_by(|a, b| a.name.cmp(&b.name)),
            Sort::Column(column) => rows.sort_by(|a, b| {
                let key = |row: &ScreenRow| row.ticks.get(column).copied().flatten().unwrap_or(f64::INFINITY);
                key(a).total_cmp(&key(b))
            }),
        }
        rows
    }

    /// Converts a time to the chosen unit; `None` if a factor is not yet known.
    pub fn in_unit(&self, ticks: f64) -> Option<f64> {
        self.unit.convert(ticks, self.choice.size.get().mean(), self.factors)
    }
}

#[cfg(test)]
pub mod tests {
    use super::super::choice::tests::{CACHES, usual};
    use super::*;

    /// Three subjects; the first is the baseline and has a twin.
    fn subjects() -> (Vec<String>, Option<usize>) {
        (["adc_1_stream", "carryline", "made_for_20"].map(str::to_owned).into(), Some(0))
    }

    /// A screen some seconds after its start, with constructed figures.
    pub fn state() -> State {
        let choice = usual();
        let (situations, _) = choice.situations(&|_| subjects(), &CACHES);
        let mut state = State {
            choice,
            live: Live::new(situations),
            sort: Sort::List,
            view: View::Table,
            column: 2,
            unit: Unit::Ticks,
            factors: Factors { ticks_per_cycle: Some(0.8), ticks_per_ns: Some(2.0) },
            scroll: 0,
            help: false,
            paused: false,
            colour: false,
            clock_s: 0.0,
            half_life_s: 20.0,
            now: "checksum 40 hot fenced".to_owned(),
            remark: "saved as run 7".to_owned(),
        };
        for second in 1..=5_u32 {
            for column in 0..6 {
                let slow = 20.0 + 10.0 * f64::from(column / 2) + f64::from(column % 2);
                let twin = slow * (1.0 + 0.002 * f64::from(second % 3));
                let round = Round {
                    number: 0,
                    multiplier: 1,
                    samples: vec![slow, slow / 2.0, f64::NAN, twin],
                    null_ticks: 4.0,
                    ticks_per_cycle: 0.8,
                    counted: false,
                };
                state.live.absorb(column as usize, &round);
                state.live.lose(column as usize, 2, "it supports 20 bytes only");
            }
            state.tick(f64::from(second));
        }
        state.live.replicates = 2;
        state
    }

    #[test]
    fn rows_have_decayed_figures_and_reasons() {
        let state = state();
        let rows = state.rows();
        assert_eq!(rows[0].ticks, [20.0, 21.0, 30.0, 31.0, 40.0, 41.0].map(Some));
        assert_eq!(rows[1].ticks[0], Some(10.0));
        assert_eq!((rows[0].leads[0], rows[1].leads[0]), (false, true));
        assert_eq!(rows[2].reason.as_deref(), Some("it supports 20 bytes only"));
        assert_eq!(state.null(), [Some(4.0); 6]);
        let noise = state.noise()[0].expect("twins ran");
        assert!((noise - 0.002).abs() < 1e-9, "{noise}");
        assert_eq!(state.live.least_rounds(), 5);
    }

    #[test]
    fn subjects_within_the_noise_lead_together() {
        let mut state = state();
        for column in 0..6 {
            let mut live = state.live.clone();
            // The difference is within the noise.
            let samples = vec![10.01, 10.0, f64::NAN, 10.03];
            live.absorb(
                column,
                &Round {
                    number: 0,
                    multiplier: 1,
                    samples,
                    null_ticks: 4.0,
                    ticks_per_cycle: 0.8,
                    counted: false,
                },
            );
            state.live = live;
        }
        state.half_life_s = 0.01;
        state.tick(6.0);
        let rows = state.rows();
        assert!(rows[0].leads[0] && rows[1].leads[0], "{rows:?}");
    }

    #[test]
    fn the_fastest_is_sorted_first_and_the_lost_last() {
        let mut state = state();
        let names = |state: &State| state.rows().into_iter().map(|row| row.name).collect::<Vec<_>>();
        assert_eq!(names(&state), ["adc_1_stream", "carryline", "made_for_20"]);
        state.sort = Sort::Column(5);
        assert_eq!(names(&state), ["carryline", "adc_1_stream", "made_for_20"]);
        let situations = state.live.situations[..4].to_vec();
        state.restart(situations);
        assert_eq!(state.sort, Sort::List);
        assert!(state.rows().iter().all(|row| row.ticks.iter().all(Option::is_none)));
    }

    #[test]
    fn a_round_of_an_unknown_column_is_ignored() {
        let mut state = state();
        let before = state.live.rounds.clone();
        let round = Round {
            number: 0,
            multiplier: 1,
            samples: Vec::new(),
            null_ticks: 1.0,
            ticks_per_cycle: 0.0,
            counted: false,
        };
        state.live.absorb(17, &round);
        assert_eq!(state.live.rounds, before);
    }
}
