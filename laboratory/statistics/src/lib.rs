//! Reliable figures, comparisons and rankings from raw samples.
//!
//! **Raw samples.** A cell is `&[Vec<f64>]`: gross ticks per call by replicate (worker process) and round,
//! `NaN` where one is missing. The cells of a situation share their rounds: samples of the same replicate and
//! round were measured moments apart, in random order. This pairing makes a ratio more precise than the two
//! times: drift, clock changes and most interruptions affect the whole round and cancel out.
//!
//! **Processing.** [`estimate`] (one cell) and [`paired_ratio`] (two) -> [`noise_floor`] (from A/A pairs) ->
//! [`compare`] -> [`rank`]. [`steady`] and [`agreement_n_2n`] check the samples themselves.
//!
//! **Intervals** are all computed in the same way. Replicates count as repetitions; rounds within a process
//! do not, because they share its layout. With few replicates, the interval is the hull of Student's t on the
//! replicates' medians and a hierarchical bootstrap; with one it is stretched, because one process gives no
//! information about restarts.
//!
//! **Without common rounds** (cells from processes of different kinds, such as the two C libraries), the
//! ratio is that of the replicates' medians, with each side resampled independently. [`ratio`] pairs where it
//! can; otherwise its interval is wider.
//!
//! **Two runs** share neither rounds nor the time of measurement. [`Difference`], [`between_runs`] and
//! [`discoveries`] provide what their ratios need.
//!
//! Everything is deterministic: the same samples and seed give the same figures, whatever the order of the
//! replicates.

mod compare;
mod difference;
mod draw;
mod estimate;
mod interval;
mod letters;
mod line;
mod order;
mod rank;
mod steady;
mod unpaired;

pub use compare::{LEAST_FLOOR, Order, compare, compare_samples, distance, noise_floor};
pub use difference::{Difference, LEAST_CONTROLS, RunNoise, between_runs, discoveries, median_bounds};
pub use draw::{below, shuffle};
pub use estimate::{Estimate, Ratio, estimate, net, paired_ratio, typical};
pub use interval::{BARE_RELATIVE, LEAST_ROUNDS, LONE_RELATIVE};
pub use letters::letter_groups;
pub use line::{Line, crossing, line};
pub use order::{median, median_in_place, quantile, quantile_of_sorted};
pub use rank::{Standing, rank};
pub use steady::{LEAST_SERIES, agreement_n_2n, agreement_of_nets, by_parity, steady};
pub use unpaired::{ratio, unpaired_ratio};
