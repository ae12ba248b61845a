//! What tests set a probe up with.

use carryline_engine::probe::Setup;
use carryline_machine::environment::CacheSizes;
use carryline_verification::status::StatusPage;
use std::time::Duration;

/// What the tests set a probe up with; they look at what is made and not at times.
pub(crate) fn setup_for_test<'a>(status: &'a StatusPage, seed: u64, caches: CacheSizes) -> Setup<'a> {
    Setup {
        parameters: &serde_json::Value::Null,
        seed,
        replicate: 0,
        caches,
        cpu: None,
        ticks_per_ns: 1.0,
        time: Duration::ZERO,
        status,
    }
}
