//! What the library goes by.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The profile that is in force in the library.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Tuning {
    /// Its name, and where it comes from: `AMD Zen 5 (EPYC 9005), built in`.
    pub profile: String,
    /// Its decisions in bytes; null for never.
    pub decisions: BTreeMap<String, Option<u64>>,
}

impl Tuning {
    pub(super) fn here() -> Tuning {
        let active = carryline::tuning::active();
        let bytes = |bytes: usize| (bytes != usize::MAX).then_some(bytes as u64);
        Tuning {
            profile: active.to_string(),
            decisions: active.decisions().map(|(name, value)| (name.to_owned(), bytes(value))).collect(),
        }
    }
}
