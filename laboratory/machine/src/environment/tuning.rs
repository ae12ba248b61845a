//! The library's tuning, and the part of it set by the user.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The library's active profile, and the kernel forced by the user.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Tuning {
    /// The profile's name and origin, such as `AMD Zen 5 (EPYC 9005), built in`.
    pub profile: String,
    /// Its decisions in bytes; null for never.
    pub decisions: BTreeMap<String, Option<u64>>,
    /// The kernel in `CARRYLINE_FORCE`; `None` if it is not set.
    #[serde(default)]
    pub forced: Option<String>,
}

impl Tuning {
    pub(super) fn here() -> Tuning {
        let active = carryline::tuning::active();
        let bytes = |bytes: usize| (bytes != usize::MAX).then_some(bytes as u64);
        let forced = std::env::var("CARRYLINE_FORCE").map(|name| name.trim().to_owned());
        Tuning {
            profile: active.to_string(),
            decisions: active.decisions().map(|(name, value)| (name.to_owned(), bytes(value))).collect(),
            forced: forced.ok().filter(|name| !name.is_empty()),
        }
    }
}
