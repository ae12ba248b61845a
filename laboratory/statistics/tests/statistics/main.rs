//! The rules on simulated and on random samples.

mod monte_carlo;
mod properties;
