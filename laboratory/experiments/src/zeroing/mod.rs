//! zeroing: sixteen ways to zero memory, hot and never cached.
//!
//! Hot is the same 4 KB repeatedly. Never cached was one buffer of 400 MB; here it is one of four times the
//! last cache level, zeroed whole by every call. Rows of newer instructions follow those of 2003.

mod claims;

use super::{Basis, Context, Experiment, In, Measured, Outcome};
use carryline_conditions::Condition;
use carryline_engine::failure::Failure;
use carryline_results::claims::{Figure, Figures, TableResult, Unit};
use carryline_results::sources::EVANS_2003;
use carryline_variants::Family;
use claims::CLAIMS;

/// See the module.
pub static EXPERIMENT: Experiment = Experiment {
    id: "zeroing",
    source: &EVANS_2003,
    title: "Sixteen ways to zero memory",
    weight: 1.5,
    claims: CLAIMS,
    probe: None,
    run,
};

/// A row of the published tables: its name there, the variant here, and bytes per second hot and never
/// cached.
struct Row {
    name: &'static str,
    what: &'static str,
    variant: &'static str,
    hot: f64,
    cold: f64,
}

const fn row(name: &'static str, what: &'static str, variant: &'static str, hot: f64, cold: f64) -> Row {
    Row { name, what, variant, hot, cold }
}

const ROWS: [Row; 16] = [
    row("zero0", "stosl", "rep_stosl", 5_885_206_293.0, 714_045_391.0),
    row("zero1", "unroll 16", "mov32_unroll_16", 7_842_053_086.0, 705_180_737.0),
    row("zero2", "unroll 16 preallocate", "mov32_unroll_16_preallocate", 7_049_051_312.0, 670_897_998.0),
    row("zero3", "unroll 32", "mov32_unroll_32", 9_377_720_907.0, 690_538_809.0),
    row("zero4", "unroll 32 preallocate", "mov32_unroll_32_preallocate", 7_803_040_290.0, 661_854_647.0),
    row("zero5", "unroll 64", "mov32_unroll_64", 9_802_682_719.0, 670_525_682.0),
    row("zero6", "unroll 64 preallocate", "mov32_unroll_64_preallocate", 8_432_350_664.0, 663_334_877.0),
    row("zero7", "fstl", "x87_fstl", 5_957_318_200.0, 781_025_057.0),
    row("zero8", "movl", "mov32_loop", 3_007_928_933.0, 608_491_547.0),
    row("zero9", "unroll 8", "mov32_unroll_8", 4_011_348_905.0, 696_489_665.0),
    row("zeroA", "generic_bzero", "generic_bzero", 5_835_984_056.0, 713_958_268.0),
    row("zeroB", "i486_bzero", "i486_bzero", 8_334_888_325.0, 689_875_870.0),
    row("zeroC", "i586_bzero", "i586_bzero", 2_545_022_700.0, 721_477_338.0),
    row("zeroD", "i686_pagezero", "i686_pagezero_or", 7_650_723_550.0, 746_453_616.0),
    row("zeroE", "bzero (stosl)", "bzero_stosl", 5_755_535_593.0, 714_016_763.0),
    row("zeroF", "movntps", "movntps", 2_282_741_753.0, 2_240_602_162.0),
];

/// Newer variants, by their names in the collection.
const MODERN: [&str; 11] = [
    "i686_pagezero_scan",
    "rep_stosb",
    "rep_stosq",
    "libc_memset",
    "sse2",
    "avx2",
    "avx512",
    "avx512_nontemporal",
    "clzero",
    "write_bytes",
    "carryline",
];

/// Whether a row writes the whole buffer through the cache. The check of i686_pagezero only reads a zeroed
/// buffer.
fn writes_cached(row: &Row) -> bool {
    !matches!(row.variant, "movntps" | "i686_pagezero_or")
}

const HOT_BYTES: u64 = 4096;

fn run(context: &Context<'_>) -> Result<Outcome, Failure> {
    let mut outcome = Outcome::default();
    let names: Vec<&str> = ROWS.iter().map(|row| row.variant).chain(MODERN).collect();
    let hot = Condition::plain(HOT_BYTES);
    // Whole MiB.
    let cold_bytes = context.here.caches.too_large() >> 20 << 20;
    let cold = Condition::plain(cold_bytes);
    for (state, condition, bytes, share) in [("hot", hot, HOT_BYTES, 0.3), ("cold", cold, cold_bytes, 0.65)] {
        // If one state cannot be measured (usually for lack of memory), the other still is.
        let measured = context.measure(vec![context.situation(Family::Zero, condition, &names)], share);
        if let Err(reason) = &measured {
            outcome.notes.push(format!("Not measured {state}: {reason}."));
        }
        let times = Times { measured: measured.map_err(|reason| reason.to_string()), bytes };
        for row in &ROWS {
            outcome.figures.add_or_reason(format!("{} {state}", row.what), times.of(row.variant));
        }
        best_and_slowest(&mut outcome.figures, state);
        let title = match state {
            "hot" => "4 KB, almost always cached".to_owned(),
            _ => format!("Never cached: {} MiB (published: 400 MB)", cold_bytes >> 20),
        };
        outcome.tables.push(table(title, state, &times));
    }
    outcome.notes.push(
        "Times are gross, of a call through a pointer. i686_pagezero leaves a buffer of zeros unchanged \
         and then only reads."
            .to_owned(),
    );
    Ok(outcome)
}

/// The times of one state, scaled to 4 KB.
struct Times {
    measured: Result<Measured, String>,
    bytes: u64,
}

impl Times {
    fn of(&self, variant: &str) -> Result<Figure, String> {
        let measured = self.measured.as_ref().map_err(Clone::clone)?;
        let time = measured.time(0, variant, Basis::Gross, In::Ns)?;
        Ok(time.scaled(HOT_BYTES as f64 / self.bytes as f64, Unit::NsPer4Kb))
    }
}

fn best_and_slowest(figures: &mut Figures, state: &str) {
    let names: Vec<String> =
        ROWS.iter().filter(|row| writes_cached(row)).map(|row| format!("{} {state}", row.what)).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let reason = figures.look(names[0]).err().unwrap_or_default();
    for (role, name) in [("best", figures.smallest(&names)), ("slowest", figures.largest(&names))] {
        let figure = name.and_then(|name| figures.get(name)).cloned().ok_or_else(|| reason.clone());
        figures.add_or_reason(format!("{role} cached {state}"), figure);
    }
}

fn table(title: String, state: &str, times: &Times) -> TableResult {
    let mut table = TableResult::new(
        title,
        &[
            ("row", ""),
            ("published as", ""),
            ("variant", ""),
            ("published", "GB/s"),
            ("here", "GB/s"),
            ("published", "ns per 4 KB"),
            ("here", "ns per 4 KB"),
            ("published", "times stosl"),
            ("here", "times stosl"),
        ],
    );
    let rate = |row: &Row| if state == "hot" { row.hot } else { row.cold };
    let stosl = times.of(ROWS[0].variant).ok();
    let mut push = |name: &str, what: &str, variant: &str, published: Option<f64>| {
        let here = times.of(variant).ok();
        let gb_per_s = here.as_ref().map(|time| time.over(HOT_BYTES as f64, Unit::GbPerS));
        let speed = here.as_ref().zip(stosl.as_ref()).map(|(time, stosl)| stosl.value() / time.value());
        table.push(vec![
            name.into(),
            what.into(),
            variant.into(),
            published.map(|rate| rate / 1e9).into(),
            gb_per_s.as_ref().into(),
            published.map(|rate| HOT_BYTES as f64 / rate * 1e9).into(),
            here.as_ref().into(),
            published.map(|published| published / rate(&ROWS[0])).into(),
            speed.into(),
        ]);
    };
    for row in &ROWS {
        push(row.name, row.what, row.variant, Some(rate(row)));
    }
    for variant in MODERN {
        push("since", "", variant, None);
    }
    table
}
