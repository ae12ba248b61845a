//! Named figures, to which rules refer.

use super::Unit;
use carryline_statistics::{self as statistics, Estimate, Ratio};

/// A figure with its samples, so that figures of the same rounds can be paired.
#[derive(Clone, Debug)]
pub struct Figure {
    unit: Unit,
    samples: Vec<Vec<f64>>,
    estimate: Estimate,
    set: Option<String>,
    floor: f64,
}

impl Figure {
    /// A figure from samples by replicate and round. Figures with the same `set` were sampled in the same
    /// rounds, so their ratios are formed round by round. `floor` is the relative difference up to which two
    /// of them tie. `None` if there is no sample.
    #[must_use]
    pub fn sampled(
        unit: Unit,
        samples: Vec<Vec<f64>>,
        set: Option<&str>,
        floor: f64,
        seed: u64,
    ) -> Option<Figure> {
        let estimate = statistics::estimate(&samples, seed)?;
        Some(Figure { unit, samples, estimate, set: set.map(str::to_owned), floor })
    }

    /// An exact figure, such as a count. `None` if the value is not finite.
    #[must_use]
    pub fn exact(unit: Unit, value: f64) -> Option<Figure> {
        let estimate = Estimate { median: value, low: value, high: value, min: value };
        value.is_finite().then(|| Figure {
            unit,
            samples: vec![vec![value]],
            estimate,
            set: None,
            floor: 0.0,
        })
    }

    /// A figure computed from others of one set, round by round: a difference, the slope of a line, a
    /// crossing. A round with a result that is not finite counts as missing. `None` if the figures are not of
    /// one set, or no round has a result.
    #[must_use]
    pub fn by_round(
        unit: Unit,
        of: &[&Figure],
        seed: u64,
        compute: impl Fn(&[f64]) -> f64,
    ) -> Option<Figure> {
        let (first, rest) = of.split_first()?;
        let set = first.set.as_deref()?;
        if rest.iter().any(|other| other.set.as_deref() != Some(set)) {
            return None;
        }
        let round = |replicate: usize, round: usize| {
            let value = |figure: &&Figure| {
                figure.samples.get(replicate).and_then(|r| r.get(round)).copied().unwrap_or(f64::NAN)
            };
            compute(&of.iter().map(value).collect::<Vec<f64>>())
        };
        let samples = first.samples.iter().enumerate();
        let samples = samples.map(|(r, rounds)| (0..rounds.len()).map(|n| round(r, n)).collect()).collect();
        let floor = of.iter().map(|figure| figure.floor).fold(0.0, f64::max);
        Figure::sampled(unit, samples, Some(set), floor, seed)
    }

    /// The figure multiplied by a constant, in another unit.
    #[must_use]
    pub fn scaled(&self, factor: f64, unit: Unit) -> Figure {
        self.mapped(unit, |value| value * factor)
    }

    /// A constant divided by the figure, such as a rate from a time. The ends of the interval are swapped.
    #[must_use]
    pub fn over(&self, numerator: f64, unit: Unit) -> Figure {
        self.mapped(unit, |value| numerator / value)
    }

    /// A monotonic function of the figure; samples that are not finite afterwards count as missing. An end of
    /// the interval that is not finite (a rate whose time may be zero) is replaced by the sample farthest
    /// from zero.
    fn mapped(&self, unit: Unit, map: impl Fn(f64) -> f64) -> Figure {
        let samples: Vec<Vec<f64>> =
            self.samples.iter().map(|rounds| rounds.iter().map(|v| map(*v)).collect()).collect();
        let Estimate { median, low, high, min } = self.estimate;
        let finite = samples.iter().flatten().copied().filter(|value| value.is_finite());
        let farthest =
            finite.chain([map(median)]).fold(0.0, |far: f64, v| if v.abs() > far.abs() { v } else { far });
        let finite = |value: f64| Some(map(value)).filter(|mapped| mapped.is_finite()).unwrap_or(farthest);
        let (low, high) = (finite(low), finite(high));
        let estimate =
            Estimate { median: finite(median), low: low.min(high), high: low.max(high), min: finite(min) };
        Figure { unit, samples, estimate, ..self.clone() }
    }

    /// The unit.
    #[must_use]
    pub fn unit(&self) -> Unit {
        self.unit
    }

    /// The estimate with its interval.
    #[must_use]
    pub fn estimate(&self) -> Estimate {
        self.estimate
    }

    /// The median.
    #[must_use]
    pub fn value(&self) -> f64 {
        self.estimate.median
    }

    /// The relative difference up to which it ties with others of its set.
    #[must_use]
    pub fn floor(&self) -> f64 {
        self.floor
    }

    /// The samples by replicate and round.
    #[must_use]
    pub fn samples(&self) -> &[Vec<f64>] {
        &self.samples
    }

    /// This figure divided by another, round by round if both are of one set. The interval's upper end is
    /// infinite if the other figure may be zero. `None` if the other figure is not positive.
    #[must_use]
    pub fn ratio_to(&self, other: &Figure, seed: u64) -> Option<Ratio> {
        let positive = |figure: &Figure| figure.samples.iter().flatten().all(|sample| *sample > 0.0);
        if self.set.is_some() && self.set == other.set && positive(self) && positive(other) {
            return statistics::paired_ratio(&self.samples, &other.samples, seed);
        }
        let (a, b) = (self.estimate, other.estimate);
        (b.median > 0.0).then(|| Ratio {
            median: a.median / b.median,
            low: if a.low > 0.0 { a.low / b.high } else { 0.0 },
            high: if b.low > 0.0 { a.high / b.low } else { f64::INFINITY },
        })
    }
}

/// Named figures, with the reasons for missing ones.
#[derive(Clone, Debug, Default)]
pub struct Figures {
    known: Vec<(String, Result<Figure, String>)>,
}

impl Figures {
    /// Adds a figure; `None` if there was no time to measure it.
    pub fn add(&mut self, name: impl Into<String>, figure: Option<Figure>) {
        let figure = figure.ok_or_else(|| "there was no time to measure it".to_owned());
        self.add_or_reason(name, figure);
    }

    /// Adds a figure, or the reason why it is missing.
    pub fn add_or_reason(&mut self, name: impl Into<String>, figure: Result<Figure, String>) {
        let name = name.into();
        self.known.retain(|(known, _)| *known != name);
        self.known.push((name, figure));
    }

    /// Adds the reason why a figure is missing.
    pub fn missing(&mut self, name: impl Into<String>, reason: impl Into<String>) {
        self.add_or_reason(name, Err(reason.into()));
    }

    /// The figure with this name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Figure> {
        self.look(name).ok()
    }

    /// The figure with this name, or the reason why it is missing.
    ///
    /// # Errors
    /// The reason, as text.
    pub fn look(&self, name: &str) -> Result<&Figure, String> {
        match self.known.iter().find(|(known, _)| known == name) {
            Some((_, Ok(figure))) => Ok(figure),
            Some((_, Err(reason))) => Err(reason.clone()),
            None => Err(format!("no figure '{name}' was made")),
        }
    }

    /// All figures, in the order added.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Figure)> {
        self.known.iter().filter_map(|(name, figure)| Some((name.as_str(), figure.as_ref().ok()?)))
    }

    /// The name of the smallest of these figures, ignoring missing ones.
    #[must_use]
    pub fn smallest<'n>(&self, names: &[&'n str]) -> Option<&'n str> {
        self.valued(names).min_by(|a, b| a.1.total_cmp(&b.1)).map(|(name, _)| name)
    }

    /// The name of the largest of these figures, ignoring missing ones.
    #[must_use]
    pub fn largest<'n>(&self, names: &[&'n str]) -> Option<&'n str> {
        self.valued(names).max_by(|a, b| a.1.total_cmp(&b.1)).map(|(name, _)| name)
    }

    fn valued<'n>(&self, names: &[&'n str]) -> impl Iterator<Item = (&'n str, f64)> {
        names.iter().copied().filter_map(|name| Some((name, self.get(name)?.value())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figure(set: Option<&str>, values: [f64; 3]) -> Figure {
        let samples = values.map(|value| vec![value; 4]).into();
        Figure::sampled(Unit::Ticks, samples, set, 0.02, 1).expect("samples")
    }

    #[test]
    fn figures_are_combined_by_round_only_within_a_set() {
        let long = figure(Some("one"), [110.0, 120.0, 130.0]);
        let short = figure(Some("one"), [10.0, 20.0, 30.0]);
        let difference =
            Figure::by_round(Unit::Ticks, &[&long, &short], 1, |v| v[0] - v[1]).expect("a figure");
        assert_eq!(difference.value(), 100.0);
        assert_eq!(difference.samples().concat(), vec![100.0; 12]);
        assert_eq!(difference.floor(), 0.02);
        let other = figure(Some("other"), [1.0; 3]);
        assert!(Figure::by_round(Unit::Ticks, &[&long, &other], 1, |v| v[0] - v[1]).is_none());
        assert!(Figure::by_round(Unit::Ticks, &[&figure(None, [1.0; 3])], 1, |v| v[0]).is_none());
        assert!(Figure::by_round(Unit::Ticks, &[&long], 1, |_| f64::NAN).is_none());
        assert!(Figure::by_round(Unit::Ticks, &[], 1, |_| 1.0).is_none());
    }

    #[test]
    fn a_rate_whose_time_may_be_zero_lies_within_its_interval() {
        let times = vec![vec![1.0; 4], vec![90.0; 4], vec![100.0; 4]];
        let time = Figure::sampled(Unit::Ns, times, None, 0.01, 1).expect("samples");
        assert_eq!(time.estimate().low, 0.0, "so far apart that zero is not excluded");
        let rate = time.over(900.0, Unit::GbPerS);
        let estimate = rate.estimate();
        assert_eq!((estimate.median, estimate.high), (10.0, 900.0));
        assert!(estimate.low < estimate.median, "{estimate:?}");
    }
}
