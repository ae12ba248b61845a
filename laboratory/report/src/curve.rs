//! Curves: a figure against size, for several variants.
//!
//! For fixed sizes under one condition, a curve shows more than a table. The horizontal axis is logarithmic;
//! the vertical axis too for times, which span decades, while rates begin at zero. In the terminal, lines are
//! drawn with braille dots, or with points if only ASCII can be printed; letters mark the measured points of
//! each variant. The page draws rates with the machine's limits, on logarithmic axes.

mod canvas;

use crate::figure::Scale;
use crate::grouping::{distinct, grouped};
use crate::labels;
use crate::roles::Roles;
use crate::table::{Style, bold};
use crate::text::{safe, wrap};
use crate::units::{Unit, byte_size, number};
use canvas::{Canvas, cell_at};
use carryline_conditions::Condition;
use carryline_results::{Cell, RunResult, Status, limits};
use carryline_variants::Family;

/// The characters that lines are drawn with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Glyphs {
    /// Braille: two by four dots per character.
    Braille,
    /// One point per character.
    Ascii,
}

/// Figures against size under one condition.
#[derive(Clone, Debug, PartialEq)]
pub struct Curve {
    /// Family, dependence and the fixed fields of the condition.
    pub title: String,
    /// The unit, with its basis.
    pub unit: String,
    /// True if the vertical axis is logarithmic.
    pub log_y: bool,
    /// A series for each variant, at most [`MOST_SERIES`].
    pub series: Vec<Series>,
}

/// A curve of rates, with the machine's limits.
#[derive(Clone, Debug, PartialEq)]
pub struct RateCurve {
    /// The family.
    pub family: Family,
    /// The rates.
    pub curve: Curve,
    /// The limits: name of the level and rate.
    pub limits: Vec<(String, f64)>,
}

/// The points of a variant.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// The variant's name.
    pub name: String,
    /// Size in bytes and figure, ascending by size.
    pub points: Vec<(u64, f64)>,
}

/// The maximum number of series that can be told apart.
pub const MOST_SERIES: usize = 6;

const FEWEST_SIZES: usize = 3;

/// The curves of a run: one for each condition with at least three fixed sizes. If there are more than
/// [`MOST_SERIES`] variants, this project's own and the baseline are kept, then those that win most often.
#[must_use]
pub fn curves(run: &RunResult, unit: Unit, roles: &Roles) -> Vec<Curve> {
    let groups = groups(run).into_iter();
    groups
        .filter_map(|((family, condition), cells)| {
            let scale = Scale::of(run, unit, cells.iter().copied());
            let log_y = !unit.is_rate();
            let figure = |cell: &Cell| {
                // Always gross: the net time of a small call may be zero, which has no logarithm.
                let figure = if log_y { scale.secondary(cell) } else { scale.headline(cell) };
                figure.map(|figure| figure.value)
            };
            let unit = format!("gross {}", scale.unit_name());
            curve(roles, family, &condition, &cells, Drawn { figure: &figure, unit, log_y })
        })
        .collect()
}

/// The same curves in bytes per core cycle, or per tick if cycles are unknown, with the limits.
#[must_use]
pub fn rate_curves(run: &RunResult, roles: &Roles) -> Vec<RateCurve> {
    let of_group = |((family, condition), cells): (_, Vec<&Cell>)| {
        let scale = Scale::of(run, Unit::BytesPerCycle, cells.iter().copied());
        let has_cycles = scale.missing_factor().is_none();
        let figure = |cell: &Cell| match has_cycles {
            true => scale.headline(cell).map(|figure| figure.value),
            false => cell.gross.map(|gross| cell.bytes_per_call / gross.median),
        };
        let unit = if has_cycles { scale.unit_name() } else { "B/tick" }.to_owned();
        let curve = curve(roles, family, &condition, &cells, Drawn { figure: &figure, unit, log_y: true })?;
        let factor = if has_cycles { run.ticks_per_cycle? } else { 1.0 };
        let limit = |limit| Some(limits::rate(limit, family) * factor).filter(|rate| rate.is_finite());
        let limits = run.limits.iter().filter_map(|one| Some((one.level.to_string(), limit(one)?)));
        Some(RateCurve { family, curve, limits: limits.collect() })
    };
    groups(run).into_iter().filter_map(of_group).collect()
}

/// The measured cells with fixed sizes, grouped by family and the rest of the condition; only groups with
/// enough sizes.
fn groups(run: &RunResult) -> Vec<((Family, Condition), Vec<&Cell>)> {
    let sizeless = |cell: &Cell| {
        let plain = Condition::plain(1).sizes;
        (cell.family, Condition { sizes: plain, ..cell.condition.clone() })
    };
    let size = |cell: &Cell| labels::fixed_size(&cell.condition);
    let measured = run.cells.iter().filter(|cell| cell.status == Status::Ok && size(cell) > Some(0));
    let keyed = measured.map(|cell| (sizeless(cell), cell));
    grouped(keyed, |(one, _), (other, _)| one == other)
        .into_iter()
        .filter(|cells| distinct(cells.iter().map(|(_, cell)| size(cell))).len() >= FEWEST_SIZES)
        .map(|cells| (cells[0].0.clone(), cells.into_iter().map(|(_, cell)| cell).collect()))
        .collect()
}

/// The figures that a curve shows.
struct Drawn<'a> {
    figure: &'a dyn Fn(&Cell) -> Option<f64>,
    unit: String,
    log_y: bool,
}

fn curve(
    roles: &Roles,
    family: Family,
    condition: &Condition,
    cells: &[&Cell],
    Drawn { figure, unit, log_y }: Drawn<'_>,
) -> Option<Curve> {
    let mut names = distinct(cells.iter().map(|cell| cell.variant.as_str()));
    let wins = |name: &str| cells.iter().filter(|c| c.variant == name && c.rank == Some(1)).count();
    let compared = |name: &str| cells.iter().any(|cell| cell.baseline.as_deref() == Some(name));
    let singled = |name: &str| {
        Some(name) == roles.ours(family) || Some(name) == roles.baseline(family) || compared(name)
    };
    names.sort_by_key(|name| (!singled(name), std::cmp::Reverse(wins(name))));
    names.truncate(MOST_SERIES);
    let series = names.into_iter().filter_map(|name| {
        let own = cells.iter().filter(|cell| cell.variant == name);
        let mut points: Vec<(u64, f64)> = own
            .filter_map(|cell| Some((labels::fixed_size(&cell.condition)?, figure(cell)?)))
            .filter(|(_, value)| *value > 0.0)
            .collect();
        points.sort_by_key(|(size, _)| *size);
        (!points.is_empty()).then(|| Series { name: safe(name), points })
    });
    let series: Vec<Series> = series.collect();
    let fields = labels::fields(condition);
    let fixed = fields[1..].iter().filter(|(_, word)| !word.is_empty());
    let fixed = fixed
        .map(|(name, word)| if *name == "offset" { format!(", offset {word}") } else { format!(", {word}") });
    let title = format!("{family}, {} calls{}", condition.dependence, fixed.collect::<String>());
    (!series.is_empty()).then(|| Curve { title: safe(&title), unit, log_y, series })
}

/// An axis that maps values to 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Axis {
    low: f64,
    high: f64,
    log: bool,
}

impl Axis {
    /// An axis for the values; a logarithmic one begins at the least value, a linear one at zero.
    pub(crate) fn over(values: impl Iterator<Item = f64> + Clone, log: bool) -> Axis {
        let high = values.clone().fold(f64::MIN_POSITIVE, f64::max);
        let low = if log { values.fold(high, f64::min) } else { 0.0 };
        // A single value gets space on both sides.
        if low < high { Axis { low, high, log } } else { Axis { low: low / 2.0, high: high * 2.0, log } }
    }

    /// The share of the axis below the value.
    #[must_use]
    pub fn place(&self, value: f64) -> f64 {
        let share = if self.log {
            (value / self.low).ln() / (self.high / self.low).ln()
        } else {
            (value - self.low) / (self.high - self.low)
        };
        share.clamp(0.0, 1.0)
    }

    /// The value at a position on the axis.
    #[must_use]
    pub fn value(&self, share: f64) -> f64 {
        if self.log {
            self.low * (self.high / self.low).powf(share)
        } else {
            self.low + (self.high - self.low) * share
        }
    }
}

impl Curve {
    /// The horizontal axis.
    #[must_use]
    pub fn x_axis(&self) -> Axis {
        Axis::over(self.series.iter().flat_map(|series| &series.points).map(|(size, _)| *size as f64), true)
    }

    /// The vertical axis.
    #[must_use]
    pub fn y_axis(&self) -> Axis {
        Axis::over(self.series.iter().flat_map(|series| &series.points).map(|(_, value)| *value), self.log_y)
    }

    /// All sizes in ascending order.
    #[must_use]
    pub fn sizes(&self) -> Vec<u64> {
        let mut sizes: Vec<u64> = self.series.iter().flat_map(|s| &s.points).map(|(size, _)| *size).collect();
        sizes.sort_unstable();
        sizes.dedup();
        sizes
    }

    /// The plot with title, axes and legend; as wide as the style (80 columns by default), with a plot area
    /// of `height` lines.
    #[must_use]
    pub fn to_text(&self, style: Style, glyphs: Glyphs, height: u16) -> String {
        const MARGIN: usize = 9;
        let width = usize::from(style.width.unwrap_or(80)).clamp(MARGIN + 20, 160) - MARGIN;
        let height = usize::from(height).clamp(4, 60);
        let mut canvas = Canvas::new(width, height, glyphs);
        let (x, y) = (self.x_axis(), self.y_axis());
        for (index, series) in self.series.iter().enumerate() {
            canvas.draw(series, index, x, y);
        }
        for (index, series) in self.series.iter().enumerate() {
            canvas.mark(series, index, x, y);
        }
        let mut out = format!("{}\n", bold(&wrap(&self.title, style.width, 2), style));
        out.push_str(&format!("{}{}\n", self.unit, if self.log_y { ", both axes logarithmic" } else { "" }));
        let bar = if glyphs == Glyphs::Braille { '│' } else { '|' };
        for (row, line) in canvas.lines(style.colour).into_iter().enumerate() {
            let labelled = row == 0 || row + 1 == height || row == height / 2;
            let share = 1.0 - row as f64 / (height - 1) as f64;
            let label = if labelled { number(y.value(share)) } else { String::new() };
            out.push_str(format!("{label:>7} {bar}{line}").trim_end());
            out.push('\n');
        }
        let (corner, rule) = if glyphs == Glyphs::Braille { ("└", "─") } else { ("+", "-") };
        out.push_str(&format!("{:>8}{corner}{}\n", "", rule.repeat(width)));
        out.push_str(&self.size_labels(x, width, MARGIN));
        let legend = self.series.iter().enumerate();
        let legend = legend.map(|(index, series)| format!("{} {}", letter(index), series.name));
        let legend = format!("{}{}", " ".repeat(MARGIN), legend.collect::<Vec<_>>().join("  "));
        out.push_str(&wrap(&legend, style.width, MARGIN));
        out.push('\n');
        out
    }

    /// The labels below the axis, as many as fit.
    fn size_labels(&self, x: Axis, width: usize, margin: usize) -> String {
        let mut line = " ".repeat(margin);
        let mut used = 0;
        for size in self.sizes() {
            let label = byte_size(size).replace(' ', "");
            let at = margin + cell_at(x.place(size as f64), width);
            let begin = (at.saturating_sub(label.len() / 2)).min(margin + width - label.len());
            if used == 0 || begin > used {
                line.push_str(&" ".repeat(begin.saturating_sub(line.len())));
                line.push_str(&label);
                used = line.len();
            }
        }
        format!("{} bytes\n", line.trim_end())
    }
}

/// The letter of a series.
#[must_use]
pub fn letter(index: usize) -> char {
    u32::try_from(index).ok().and_then(|index| char::from_u32('a' as u32 + index % 26)).unwrap_or('?')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;

    const NARROW: Style = Style { colour: false, width: Some(72) };

    fn one(unit: Unit) -> Curve {
        let mut all = curves(&fixture::run(), unit, &fixture::roles());
        assert_eq!(all.len(), 1, "zero alone has three sizes");
        all.remove(0)
    }

    #[test]
    fn ticks_in_braille() {
        insta::assert_snapshot!(one(Unit::Ticks).to_text(NARROW, Glyphs::Braille, 12), @"
        zero, independent calls, offset 0, hot
        gross ticks, both axes logarithmic
          3 904 │                                                           ⣀⣤⣶*
                │                                                       ⣀⣤⠶⠛⠋⠁
                │                                                  ⣀⣤⡴⠞⠋⠉
                │                                            ⢀⣀⣤⣶⡾⠟⠋⠁
                │                                       ⣀⣠⡤⢖⣻⠽⠚⠉
                │                                 ⢀⣀⢤⡴⠮⣛⡩⠔⠚⠉
           92.0 │                            ⢀⡠⢤⡲⠮⠓⣉⡥⠖⠋⠁
                │    ⢀⣀⣀⣀⣀⣀⣀⣀⣀⡠⠤⠤⠤⠤⠤⠤⠤⠤⠒⠒⠒⣒*⠭⠓⠊⣁⠤⠒⠉⠁
                │d⠉⠉⠉⠁        ⢀⣀⣀⠤⠤⠤⠒⠒⠒⠉⠉⠉⣀*⠤⠒⠉
                │b⢀⣀⣀⡠⠤⠤⠔⠒⠒⠊⠉⠉⠁  ⢀⣀⡠⠤⠤⠒⠒⠉⠉
                │⠉⠁      ⣀⣀⠤⠤⠒⠒⠊⠉⠁
           4.05 │*⡠⠤⠔⠒⠊⠉⠉
                └───────────────────────────────────────────────────────────────
                 40                      1500                             256KiB bytes
        a carryline  b libc_memset  c avx512  d rep_stosb
        ");
    }

    #[test]
    fn rates_in_ascii() {
        let text = one(Unit::GbPerS).to_text(NARROW, Glyphs::Ascii, 10);
        assert!(text.is_ascii());
        insta::assert_snapshot!(text, @"
        zero, independent calls, offset 0, hot
        gross GB/s
            231 |                                                            ..d
                |                                             .................*
                |                        ..*...................................a
                |                    ....                  ..........
                |                ....                .........
            103 |           .....              .......
                |       ....           ....*...
                |   ....       ........
                |*..  .........
           0.00 |*....
                +---------------------------------------------------------------
                 40                      1500                             256KiB bytes
        a carryline  b libc_memset  c avx512  d rep_stosb
        ");
    }

    #[test]
    fn colour_is_optional_and_moves_nothing() {
        let curve = one(Unit::Ticks);
        let coloured = curve.to_text(Style { colour: true, ..NARROW }, Glyphs::Braille, 12);
        let mut bare = String::new();
        let mut inside = false;
        for c in coloured.chars() {
            match (inside, c) {
                (false, '\u{1b}') => inside = true,
                (true, 'm') => inside = false,
                (true, _) => {}
                (false, c) => bare.push(c),
            }
        }
        assert_ne!(bare, coloured);
        assert_eq!(bare, curve.to_text(NARROW, Glyphs::Braille, 12));
    }

    #[test]
    fn axes_place_their_ends_and_survive_a_single_value() {
        let axis = Axis::over([1.0, 100.0].into_iter(), true);
        assert_eq!([1.0, 10.0, 100.0, 1e9].map(|value| axis.place(value)), [0.0, 0.5, 1.0, 1.0]);
        assert!((axis.value(0.5) - 10.0).abs() < 1e-9);
        let single = Axis::over(std::iter::once(7.0), true);
        assert!((single.place(7.0) - 0.5).abs() < 1e-9);
        assert_eq!(Axis::over([2.0, 4.0].into_iter(), false).place(2.0), 0.5);
    }

    #[test]
    fn the_number_of_series_is_limited_and_includes_ours() {
        let mut run = fixture::empty();
        for size in [64, 128, 256] {
            let names = (0..9).map(|n| format!("v{n}")).chain(["carryline".to_owned()]);
            run.cells
                .extend(names.map(|name| fixture::cell(Family::Zero, &name, Condition::plain(size), 5.0)));
        }
        let curve = curves(&run, Unit::Ticks, &fixture::roles()).remove(0);
        assert_eq!(curve.series.len(), MOST_SERIES);
        assert_eq!(curve.series[0].name, "carryline");
    }
}
