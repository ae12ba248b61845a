//! What the library goes by, and what of it a user set.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The profile that is in force in the library, and the kernel that is forced on it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Tuning {
    /// Its name, and where it comes from: `AMD Zen 5 (EPYC 9005), built in`.
    pub profile: String,
    /// Its decisions in bytes; null for never.
    pub decisions: BTreeMap<String, Option<u64>>,
    /// The kernel that `CARRYLINE_FORCE` names; `None` where it is not set.
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
