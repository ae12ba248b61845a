//! Assumptions for machines that do not report their caches, so that conditions keep their meaning.

use super::{CacheKind, Environment};
use crate::environment::CacheSizes;

/// Assumed if the first level is not reported.
const L1: u64 = 32 << 10;
/// Assumed if the second level is not reported.
const L2: u64 = 512 << 10;
/// Assumed if a hypervisor hides the last level, or if no cache is reported. A large value is safe: eviction
/// covers that much, and operands in memory are in a buffer four times as large.
const LAST: u64 = 32 << 20;

/// The environment variable by which tests of a debug build, where figures are not what is tested, do with a last level of
/// at most [`SMALL_LAST`]: buffers that exceed one of 480 MiB take tens of seconds to fill.
const SMALL_VARIABLE: &str = "CARRYLINE_SMALL_CACHES";
/// See [`SMALL_VARIABLE`].
const SMALL_LAST: u64 = 16 << 20;

/// The cache sizes that conditions are based on.
pub(super) fn cache_sizes(here: &Environment) -> CacheSizes {
    let l1 = here.cache_bytes(1).unwrap_or(L1);
    let l2 = here.cache_bytes(2).unwrap_or(L2).max(l1);
    let told = here.last_level_bytes().filter(|_| !hides_last_level(here));
    let l3 = told.unwrap_or(LAST);
    let is_small = cfg!(debug_assertions) && std::env::var_os(SMALL_VARIABLE).is_some();
    CacheSizes { l1, l2, l3: if is_small { l3.min(SMALL_LAST) } else { l3 }.max(l2), l3_held: None }
}

/// True if there may be an unreported level: a virtual machine without a third one, or no data cache at all.
/// A kernel on physical hardware is trusted.
fn hides_last_level(here: &Environment) -> bool {
    let knows_data = here.caches.iter().any(|cache| cache.kind != CacheKind::Instruction);
    !knows_data || here.cpu.hypervisor.is_some() && here.cache_bytes(3).is_none()
}

/// The assumptions, and the features masked by the user, each in a sentence.
pub(super) fn sentences(here: &Environment) -> Vec<String> {
    let mut all = Vec::new();
    let caches = cache_sizes(here);
    for (level, bytes) in [(1, caches.l1), (2, caches.l2)] {
        if here.cache_bytes(level).is_none() {
            all.push(format!(
                "the size of cache level {level} is not reported: {} KiB are assumed",
                bytes >> 10
            ));
        }
    }
    if hides_last_level(here) {
        all.push(format!(
            "no last cache level is reported, but there may be one: {} MiB are assumed, which defines \
             'memory' and 'cold'; cells of level L3 may be in memory",
            caches.l3 >> 20
        ));
    }
    let cpu = &here.cpu;
    if cfg!(target_arch = "x86_64") && (cpu.vendor.is_none() || cpu.family.is_none() || cpu.model.is_none()) {
        all.push("the CPU does not report its model: only its features are known".to_owned());
    }
    if !cpu.masked_features.is_empty() {
        all.push(format!(
            "CARRYLINE_MASK hides {}: the library and the variants run as on a CPU without them; libc \
             and other libraries are not affected",
            cpu.masked_features.join(", ")
        ));
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::environment::Cache;

    fn machine(hypervisor: Option<&str>, levels: &[(u8, u64)]) -> Environment {
        let mut here = Environment::here();
        here.cpu.hypervisor = hypervisor.map(str::to_owned);
        here.cpu.vendor = Some("AuthenticAMD".to_owned());
        (here.cpu.family, here.cpu.model) = (Some(25), Some(1));
        here.cpu.masked_features.clear();
        let cache = |(level, size_bytes): &(u8, u64)| Cache {
            level: *level,
            kind: if *level == 1 { CacheKind::Data } else { CacheKind::Unified },
            size_bytes: *size_bytes,
            line_bytes: Some(64),
            ways: None,
            shared_by: None,
        };
        here.caches = levels.iter().map(cache).collect();
        here
    }

    #[test]
    fn reported_sizes_are_used() {
        let all = machine(Some("KVM"), &[(1, 48 << 10), (2, 2 << 20), (3, 105 << 20)]);
        assert_eq!(all.cache_sizes(), CacheSizes { l1: 48 << 10, l2: 2 << 20, l3: 105 << 20, l3_held: None });
        assert_eq!(all.assumed(), Vec::<String>::new());
        // Some CPUs have two levels; without a hypervisor the kernel's report is complete.
        let two = machine(None, &[(1, 32 << 10), (2, 1 << 20)]);
        assert_eq!(two.cache_sizes().l3, 1 << 20);
        assert_eq!(two.assumed(), Vec::<String>::new());
    }

    #[test]
    fn a_hidden_last_level_is_assumed() {
        let hidden = machine(Some("KVM"), &[(1, 32 << 10), (2, 512 << 10)]);
        let caches = hidden.cache_sizes();
        assert_eq!(caches, CacheSizes { l1: 32 << 10, l2: 512 << 10, l3: 32 << 20, l3_held: None });
        assert!(caches.eviction() >= 64 << 20, "a level of 32 MiB would be evicted");
        assert_eq!(caches.level(8 << 20), crate::environment::Level::L3, "must not count as memory");
        let said = hidden.assumed();
        assert!(said.len() == 1 && said[0].contains("32 MiB are assumed"), "{said:?}");

        let mut code_alone = machine(None, &[]);
        code_alone.caches = vec![Cache {
            level: 1,
            kind: CacheKind::Instruction,
            size_bytes: 64 << 10,
            line_bytes: None,
            ways: None,
            shared_by: None,
        }];
        assert_eq!(code_alone.cache_sizes(), CacheSizes { l1: L1, l2: L2, l3: LAST, l3_held: None });
        assert_eq!(code_alone.assumed().len(), 3, "{:?}", code_alone.assumed());
        // Inconsistent sizes are made monotonic.
        let odd = machine(None, &[(1, 1 << 20), (2, 64 << 10), (3, 4096)]).cache_sizes();
        assert!(odd.l1 <= odd.l2 && odd.l2 <= odd.l3, "{odd:?}");
    }

    #[test]
    fn masked_features_and_an_unknown_cpu_are_reported() {
        let mut here = machine(None, &[(1, 32 << 10), (2, 1 << 20), (3, 8 << 20)]);
        here.cpu.masked_features = vec!["avx512f".to_owned(), "avx512bw".to_owned()];
        let said = here.assumed();
        assert!(said.len() == 1 && said[0].contains("CARRYLINE_MASK hides avx512f, avx512bw"), "{said:?}");
        here.cpu.model = None;
        assert_eq!(here.assumed().len(), if cfg!(target_arch = "x86_64") { 2 } else { 1 });
    }
}
