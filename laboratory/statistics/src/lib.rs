//! From raw samples to figures, comparisons and rankings that can be believed.
//!
//! **Raw samples.** A cell is `&[Vec<f64>]`: gross ticks per call by replicate (worker process) and round, `NaN`
//! where one is missing. The cells of one situation share their rounds: the same replicate and the same round
//! mean measured moments apart, in random order. That pairing is what makes a ratio sharper than two times: drift,
//! clock changes and most interruptions hit the whole round and cancel.
//!
//! **The path.** [`estimate`] (one cell) and [`paired_ratio`] (two) -> [`noise_floor`] (from A/A pairs) ->
//! [`compare`] -> [`rank`]. [`steady`] and [`agreement_n_2n`] judge the samples themselves.
//!
//! **The intervals** come from one place: replicates are what is repeated, rounds within a process are not (they
//! share its layout). With few replicates the interval is the hull of Student's t on the replicates' medians and
//! a hierarchical bootstrap; with one it is stretched, as one process says nothing about restarts.
//!
//! **Without a common round** (cells of processes of different kinds, such as the two C libraries) the ratio is that of
//! the replicates' medians, each side drawn by itself: [`ratio`] pairs where it can and says less where it cannot.
//!
//! Everything is pure: the same samples and the same seed give the same figures, and the order in which replicates
//! arrive does not matter.
//!
//! **Two runs** share neither rounds nor the moment. What more their ratio needs, and what many ratios at once need, is in
//! [`Difference`], [`between_runs`] and [`discoveries`].

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

pub use compare::{LEAST_FLOOR, Order, compare, compare_samples, noise_floor};
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
