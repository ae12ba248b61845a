//! chains: the Internet checksum over chains of buffers: the nine of 1996, or one given on the command line.
//!
//! Each chain is laid out several times, with each buffer at a random 4-bit alignment. The output has the
//! form of the author's program: the alignments, the checksum by every implementation (they must agree) and
//! the time of each. The effect of odd addresses is measured through the engine, on 2048 bytes at an even and
//! an odd address.

mod claims;
mod probe;

use super::{Basis, Context, Experiment, In, Outcome, Probed};
use carryline_conditions::{Condition, Offsets};
use carryline_engine::failure::Failure;
use carryline_engine::probe::Unusable;
use carryline_report::units::number;
use carryline_results::claims::{Datum, Figure, Figures, TableResult, Unit};
use carryline_results::sources::HANNUM_1996;
use carryline_variants::Family;
use claims::CLAIMS;
use probe::{Draw, Parameters};

/// See the module.
pub static EXPERIMENT: Experiment = Experiment {
    id: "chains",
    source: &HANNUM_1996,
    title: "The checksum of chains of buffers at random alignments",
    weight: 1.0,
    claims: CLAIMS,
    probe: Some(&probe::PROBE),
    run,
};

/// The implementations: their names in the document, and the variants here; the last is today's.
pub const IMPLEMENTATIONS: [(&str, &str); 6] = [
    ("orig", "words16_c"),
    ("dr1", "dr1"),
    ("bde1", "bde1"),
    ("myc1", "myc1"),
    ("myc2", "myc2"),
    ("now", "carryline"),
];

/// A chain of the document, with the medians of its eight published times for orig, dr1, bde1, myc1, myc2.
/// Their unit is not stated.
struct Published {
    name: &'static str,
    what: &'static str,
    lengths: &'static [u64],
    times: [f64; 5],
}

const fn published(
    name: &'static str,
    what: &'static str,
    lengths: &'static [u64],
    times: [f64; 5],
) -> Published {
    Published { name, what, lengths, times }
}

const NINE: [Published; 9] = [
    published("32 x 1", "degenerate", &[1; 32], [189.5, 118.0, 363.0, 131.0, 131.0]),
    published(
        "1..16 twice",
        "degenerate",
        &[
            1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13,
            14, 15, 16,
        ],
        [481.0, 231.5, 464.0, 217.0, 216.0],
    ),
    published("1 3 1 3 1 3 1", "degenerate", &[1, 3, 1, 3, 1, 3, 1], [49.0, 34.0, 90.0, 34.5, 36.0]),
    published("40", "an IP header", &[40], [54.0, 12.0, 19.0, 12.5, 12.0]),
    published("2048", "for the curve", &[2048], [2757.0, 141.0, 145.0, 128.0, 74.0]),
    published("1536", "a TCP segment", &[1536], [1696.5, 108.5, 113.0, 99.5, 58.5]),
    published("576", "a TCP segment", &[576], [510.0, 47.0, 53.0, 43.5, 28.0]),
    published(
        "5 x 1536 + 640",
        "an NFS packet, reassembled",
        &[1536, 1536, 1536, 1536, 1536, 640],
        [8539.5, 905.5, 828.0, 762.5, 596.0],
    ),
    published(
        "10 x 1536 + 1152",
        "an NFS packet, reassembled",
        &[1536, 1536, 1536, 1536, 1536, 1536, 1536, 1536, 1536, 1536, 1152],
        [19_209.5, 1778.0, 1625.0, 1500.5, 1165.5],
    ),
];

/// Longer chains are laid out only twice, and in fewer processes.
const LONG_BYTES: u64 = 16 << 20;
/// The length measured at an even and at an odd address.
const FIXED_BYTES: u64 = 2048;

fn run(context: &Context<'_>) -> Result<Outcome, Failure> {
    let mut outcome = Outcome::default();
    match context.chain {
        Some(lengths) => given(context, lengths, &mut outcome)?,
        None => {
            let chains: Vec<(&str, Vec<u64>)> =
                NINE.iter().map(|chain| (chain.name, chain.lengths.to_vec())).collect();
            let found = measure(context, &chains, context.chain_repeats, 0.6)?;
            outcome.tables.push(table(&found.probed));
            found.report(&mut outcome, &chains);
            addresses(context, &mut outcome)?;
        }
    }
    Ok(outcome)
}

/// A user-defined chain.
fn given(context: &Context<'_>, lengths: &[u32], outcome: &mut Outcome) -> Result<(), Failure> {
    let lengths: Vec<u64> = lengths.iter().copied().map(u64::from).collect();
    let bytes: u64 = lengths.iter().sum();
    let mut draws = context.chain_repeats;
    if bytes > LONG_BYTES && draws > 2 {
        draws = 2;
        outcome.notes.push(format!("Chains of more than {LONG_BYTES} bytes have two layouts."));
    }
    let chains = [("given", lengths)];
    let found = measure(context, &chains, draws, 1.0)?;
    outcome.beside_the_claims = true;
    found.report(outcome, &chains);
    Ok(())
}

/// The results of a probe of chains.
pub struct Found {
    /// Its series are `IMPLEMENTATION CHAIN` and `IMPLEMENTATION CHAIN draw N`.
    pub probed: Probed,
    /// The alignments and sums by chain and draw.
    pub draws: Vec<Draw>,
}

/// Lays chains out and measures them.
pub fn measure(
    context: &Context<'_>,
    chains: &[(&str, Vec<u64>)],
    draws: u32,
    share: f64,
) -> Result<Found, Failure> {
    let bytes: u64 = chains.iter().flat_map(|(_, lengths)| lengths).sum();
    let available = context.here.environment.memory.available_bytes;
    // The chain itself, a copy for the reference, and room for other programs.
    if bytes.saturating_mul(2) > available - available / 8 {
        return Err(context.impossible(format!(
            "the chain has {bytes} bytes, and {} MiB of memory are available",
            available >> 20
        )));
    }
    let parameters = Parameters {
        chains: chains.iter().map(|(_, lengths)| lengths.clone()).collect(),
        names: chains.iter().map(|(name, _)| (*name).to_owned()).collect(),
        draws,
        labels: IMPLEMENTATIONS.map(|(label, _)| label.to_owned()).into(),
        variants: IMPLEMENTATIONS.map(|(_, variant)| variant.to_owned()).into(),
        seed: context.seed,
    };
    let probed = if bytes > LONG_BYTES {
        context.probe_in("chains", &parameters, share, 2)?
    } else {
        context.probe("chains", &parameters, share)?
    };
    // Every process draws the same alignments.
    let draws = probed.first_facts()?.unwrap_or_default();
    Ok(Found { probed, draws })
}

impl Found {
    /// Adds figures, the printed draws, and failures.
    pub fn report(&self, outcome: &mut Outcome, chains: &[(&str, Vec<u64>)]) {
        for (name, _) in chains {
            for (label, _) in IMPLEMENTATIONS {
                let figure = self.probed.ns(&format!("{label} {name}"));
                outcome.figures.add_or_reason(format!("{label} {name}"), figure);
            }
            outcome.plots.push(self.printed(name));
        }
        outcome.figures.add_or_reason("draws that disagree", self.disagreeing());
        for Unusable { series, reason } in &self.probed.unusable {
            outcome.notes.push(format!("{series} is left out: {reason}."));
        }
        if let Some(reason) = &self.probed.reason {
            outcome.notes.push(format!("Partly measured: {reason}."));
        }
    }

    /// The number of draws whose sums disagree.
    pub fn disagreeing(&self) -> Result<Figure, String> {
        let disagree = self.draws.iter().filter(|draw| !draw.agree).count();
        let counted = (!self.draws.is_empty()).then(|| Figure::exact(Unit::Draws, disagree as f64)).flatten();
        counted.ok_or_else(|| self.probed.reason.clone().unwrap_or("no chain was summed".to_owned()))
    }

    /// The draws of a chain in the form of the author's program.
    fn printed(&self, name: &str) -> String {
        let mut printed = format!("{name} (time: ns)\n");
        for draw in self.draws.iter().filter(|draw| draw.chain == name) {
            let alignments: Vec<String> = draw.alignments.iter().map(|at| format!("{at:x}")).collect();
            printed.push_str(&format!("align={}\nsum: ", alignments.join(",")));
            for (label, _) in IMPLEMENTATIONS {
                printed.push_str(&format!(" {label}={}", checksum(draw, label)));
            }
            let agree = if draw.agree { "" } else { "  THEY DISAGREE" };
            printed.push_str(&format!("{agree}\ntime:"));
            for (label, _) in IMPLEMENTATIONS {
                let time = self.probed.ns(&format!("{label} {name} draw {}", draw.number));
                let time = time.map_or_else(|_| "-".to_owned(), |time| number(time.value()));
                printed.push_str(&format!(" {label}={time}"));
            }
            printed.push('\n');
        }
        printed
    }
}

/// The checksum field by an implementation: the complement of the sum.
pub fn checksum(draw: &Draw, label: &str) -> String {
    draw.sums.get(label).map_or_else(|| "-".to_owned(), |sum| format!("{:04x}", !sum))
}

/// Published next to measured times, one row per chain.
fn table(probed: &Probed) -> TableResult {
    let mut columns: Vec<(String, &str)> =
        vec![("chain".into(), ""), ("what".into(), ""), ("sum of".into(), "bytes")];
    for (label, _) in &IMPLEMENTATIONS[..5] {
        columns.push((format!("{label} published"), ""));
        columns.push((format!("{label} here"), "ns"));
    }
    columns.push(("now".into(), "ns"));
    let columns: Vec<(&str, &str)> = columns.iter().map(|(name, unit)| (name.as_str(), *unit)).collect();
    let mut table = TableResult::new(
        "Time of a chain: the median of the published ones (unit not stated), the mean over the draws here",
        &columns,
    );
    for chain in &NINE {
        let bytes: u64 = chain.lengths.iter().sum();
        let mut row: Vec<Datum> = vec![chain.name.into(), chain.what.into(), (bytes as f64).into()];
        for ((label, _), published) in IMPLEMENTATIONS.iter().zip(chain.times) {
            row.push(published.into());
            row.push(probed.ns(&format!("{label} {}", chain.name)).as_ref().ok().into());
        }
        row.push(probed.ns(&format!("now {}", chain.name)).as_ref().ok().into());
        table.push(row);
    }
    table
}

/// Measures 2048 bytes at an even and at an odd address.
fn addresses(context: &Context<'_>, outcome: &mut Outcome) -> Result<(), Failure> {
    let variants: Vec<&str> = IMPLEMENTATIONS.iter().map(|(_, variant)| *variant).collect();
    let situations = [0, 1].map(|offset| {
        let offsets = Offsets::Fixed { dst: offset, src: offset };
        context.situation(Family::Checksum, Condition { offsets, ..Condition::plain(FIXED_BYTES) }, &variants)
    });
    let measured = context.measure(situations.into(), 0.35)?;
    let mut table = TableResult::new(
        format!("{FIXED_BYTES} bytes at an even and at an odd address"),
        &[
            ("implementation", ""),
            ("even published", ""),
            ("even here", "ns"),
            ("odd published", ""),
            ("odd here", "ns"),
        ],
    );
    let published = [
        [Some(1753.0), Some(2773.0)],
        [Some(140.0), Some(142.0)],
        [Some(145.0), Some(145.0)],
        [Some(128.0), Some(129.0)],
        [Some(74.0), Some(74.0)],
        [None, None],
    ];
    for ((label, variant), [even, odd]) in IMPLEMENTATIONS.iter().zip(published) {
        let times = [0, 1].map(|place| measured.time(place, variant, Basis::Gross, In::Ns));
        let here = times.each_ref().map(|time| Datum::from(time.as_ref().ok()));
        let [here_even, here_odd] = here;
        table.push(vec![(*label).into(), even.into(), here_even, odd.into(), here_odd]);
        add(&mut outcome.figures, label, times);
    }
    outcome.tables.push(table);
    Ok(())
}

fn add(figures: &mut Figures, label: &str, times: [Result<Figure, String>; 2]) {
    for (time, address) in times.into_iter().zip(["even", "odd"]) {
        figures.add_or_reason(format!("{label} {FIXED_BYTES} {address}"), time);
    }
}
