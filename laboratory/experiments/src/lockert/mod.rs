//! lockert: the other comparison, quoted in the reply that contained the nine chains.
//!
//! One row per chain: the number of buffers and bytes, the checksum of each version, the time of 20,000
//! iterations of each, and the gains. Of the quoted chains only the number of buffers and the sum of their
//! lengths are known, so the lengths are drawn at random here.

mod claims;

use super::chains::{checksum, measure};
use super::{Context, Experiment, Outcome};
use carryline_engine::failure::Failure;
use carryline_results::claims::{Datum, TableResult, Unit};
use carryline_results::sources::HANNUM_1996;
use carryline_statistics::below;
use claims::CLAIMS;
use rand_core::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;

/// See the module.
pub static EXPERIMENT: Experiment = Experiment {
    id: "lockert",
    source: &HANNUM_1996,
    title: "20,000 sums of short chains, the C version against two in assembly",
    weight: 0.3,
    claims: CLAIMS,
    probe: None,
    run,
};

const ITERATIONS: f64 = 20_000.0;

/// A quoted row: buffers, bytes, times in us of the C version, the new assembly (myc1) and OpenBSD's (dr1),
/// and the gains in percent: new over C, OpenBSD's over C, OpenBSD's over new.
struct Row {
    name: &'static str,
    buffers: usize,
    bytes: u64,
    times_us: [f64; 3],
    percent: [f64; 3],
}

const ROWS: [Row; 4] = [
    Row::new("2 of 78", 2, 78, [244_564.0, 173_023.0, 157_536.0], [41.35, 55.24, 9.83]),
    Row::new("12 of 734", 12, 734, [2_205_226.0, 1_746_517.0, 1_443_965.0], [26.26, 52.72, 20.95]),
    Row::new("3 of 196", 3, 196, [559_716.0, 441_021.0, 412_371.0], [26.91, 35.73, 6.95]),
    Row::new("12 of 653", 12, 653, [2_005_957.0, 1_578_730.0, 1_343_478.0], [27.06, 49.31, 17.51]),
];

impl Row {
    const fn new(
        name: &'static str,
        buffers: usize,
        bytes: u64,
        times_us: [f64; 3],
        percent: [f64; 3],
    ) -> Row {
        Row { name, buffers, bytes, times_us, percent }
    }
}

fn run(context: &Context<'_>) -> Result<Outcome, Failure> {
    let mut outcome = Outcome::default();
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(context.seed);
    let chains: Vec<(&str, Vec<u64>)> =
        ROWS.iter().map(|row| (row.name, lengths(&mut rng, row.buffers, row.bytes))).collect();
    let found = measure(context, &chains, 1, 1.0)?;
    let mut table = TableResult::new(
        "20,000 iterations: the C version, the new assembly (myc1), OpenBSD's (dr1); gains: new over C, OpenBSD's \
         over C, OpenBSD's over new",
        &[
            ("buffers", ""),
            ("bytes", ""),
            ("C", "sum"),
            ("new", "sum"),
            ("OpenBSD", "sum"),
            ("C", "us"),
            ("new", "us"),
            ("OpenBSD", "us"),
            ("gain", "%"),
            ("gain", "%"),
            ("gain", "%"),
        ],
    );
    let versions = ["orig", "myc1", "dr1"];
    for (row, draw) in ROWS.iter().zip(found.draws.iter().map(Some).chain(std::iter::repeat(None))) {
        let size = [Datum::Number(row.buffers as f64), Datum::Text(row.bytes.to_string())];
        let mut published: Vec<Datum> = size.to_vec();
        published.extend(["published".into(), Datum::None, Datum::None]);
        published.extend(row.times_us.map(Datum::from));
        published.extend(row.percent.map(Datum::from));
        table.push(published);

        let times = versions.map(|label| found.probed.ns(&format!("{label} {}", row.name)));
        let mut here: Vec<Datum> = size.to_vec();
        here.extend(
            versions
                .map(|label| Datum::Text(draw.map_or_else(|| "-".to_owned(), |draw| checksum(draw, label)))),
        );
        here.extend(times.each_ref().map(|time| {
            let total = time.as_ref().ok().map(|time| time.scaled(ITERATIONS / 1000.0, Unit::Us));
            Datum::from(total.as_ref())
        }));
        let gain = |slow: usize, fast: usize| {
            let (slow, fast) = (times[slow].as_ref().ok()?, times[fast].as_ref().ok()?);
            Some((slow.value() / fast.value() - 1.0) * 100.0)
        };
        here.extend([gain(0, 1), gain(0, 2), gain(1, 2)].map(Datum::from));
        table.push(here);
        for (label, time) in versions.into_iter().zip(times) {
            outcome.figures.add_or_reason(format!("{label} {}", row.name), time);
        }
    }
    outcome.figures.add_or_reason("rows that disagree", found.disagreeing());
    outcome.tables.push(table);
    let drawn = chains.iter().map(|(name, lengths)| {
        format!("{name}: {}", lengths.iter().map(u64::to_string).collect::<Vec<_>>().join(" "))
    });
    outcome.notes.push(format!("The lengths drawn here: {}.", drawn.collect::<Vec<_>>().join("; ")));
    if let Some(reason) = &found.probed.reason {
        outcome.notes.push(format!("Partly measured: {reason}."));
    }
    Ok(outcome)
}

/// Random lengths of `buffers` buffers, each at least 1, that add up to `bytes`.
fn lengths(rng: &mut Xoshiro256PlusPlus, buffers: usize, bytes: u64) -> Vec<u64> {
    let mut lengths = vec![1_u64; buffers];
    for _ in buffers as u64..bytes {
        lengths[below(rng, buffers)] += 1;
    }
    lengths
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drawn_lengths_add_up() {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(3);
        for row in &ROWS {
            let drawn = lengths(&mut rng, row.buffers, row.bytes);
            assert_eq!(drawn.len(), row.buffers);
            assert_eq!(drawn.iter().sum::<u64>(), row.bytes);
            assert!(drawn.iter().all(|length| *length > 0));
        }
    }

    #[test]
    fn the_quoted_percentages_follow_from_the_quoted_times() {
        for Row { times_us: [c, new, openbsd], percent, .. } in &ROWS {
            for (gain, quoted) in [c / new, c / openbsd, new / openbsd].into_iter().zip(percent) {
                assert!(((gain - 1.0) * 100.0 - quoted).abs() < 0.02, "{gain} {quoted}");
            }
        }
    }
}
