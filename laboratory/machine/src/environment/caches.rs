//! Cache sizes, from the kernel or, if it does not report them, from CPUID.

use super::{cpus_in_list, line, number};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// The content of a cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CacheKind {
    /// Only data.
    Data,
    /// Only instructions.
    Instruction,
    /// Both.
    Unified,
}

/// A cache. In a virtual machine this is the hypervisor's report: it may be a whole shared cache of which a
/// guest gets a part, or an invented size.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Cache {
    /// The level; 1 is the nearest.
    pub level: u8,
    /// Its content.
    pub kind: CacheKind,
    /// Its size in bytes.
    pub size_bytes: u64,
    /// The line size in bytes.
    pub line_bytes: Option<u32>,
    /// Lines per set; `None` also if it is fully associative.
    pub ways: Option<u32>,
    /// The number of logical CPUs that share it.
    pub shared_by: Option<u32>,
}

/// The caches of a CPU, the nearest first.
pub(super) fn here(cpu: u32) -> Vec<Cache> {
    let mut caches = from_folder(Path::new(&format!("/sys/devices/system/cpu/cpu{cpu}/cache")));
    if caches.is_empty() {
        caches = from_cpuid();
    }
    caches.sort();
    caches
}

fn from_folder(folder: &Path) -> Vec<Cache> {
    (0..16)
        .map_while(|index| {
            let folder = folder.join(format!("index{index}"));
            folder.is_dir().then(|| one_from_folder(&folder.to_string_lossy()))
        })
        .flatten()
        .collect()
}

fn one_from_folder(folder: &str) -> Option<Cache> {
    let count = |name: &str| number(&format!("{folder}/{name}")).and_then(|n| n.try_into().ok());
    Some(Cache {
        level: number(&format!("{folder}/level"))?.try_into().ok()?,
        kind: match line(&format!("{folder}/type"))?.as_str() {
            "Data" => CacheKind::Data,
            "Instruction" => CacheKind::Instruction,
            "Unified" => CacheKind::Unified,
            _ => return None,
        },
        size_bytes: crate::words::parse_bytes(&line(&format!("{folder}/size"))?).ok().filter(|n| *n > 0)?,
        line_bytes: count("coherency_line_size").filter(|n| *n > 0),
        ways: count("ways_of_associativity").filter(|n| *n > 0),
        shared_by: line(&format!("{folder}/shared_cpu_list"))
            .and_then(|list| cpus_in_list(&list))
            .map(|cpus| cpus.len() as u32),
    })
}

#[cfg(not(target_arch = "x86_64"))]
fn from_cpuid() -> Vec<Cache> {
    Vec::new()
}

/// From leaf 4 (or AMD's equivalent), else from AMD's older leaves.
#[cfg(target_arch = "x86_64")]
fn from_cpuid() -> Vec<Cache> {
    use raw_cpuid::{CacheType, CpuId};
    let cpuid = CpuId::new();
    let described: Vec<Cache> = cpuid
        .get_cache_parameters()
        .into_iter()
        .flatten()
        .take(16)
        .filter_map(|cache| {
            let kind = match cache.cache_type() {
                CacheType::Data => CacheKind::Data,
                CacheType::Instruction => CacheKind::Instruction,
                CacheType::Unified => CacheKind::Unified,
                _ => return None,
            };
            let (line, ways) = (cache.coherency_line_size(), cache.associativity());
            let size = [line, ways, cache.physical_line_partitions(), cache.sets()]
                .into_iter()
                .try_fold(1_u64, |product, factor| product.checked_mul(factor as u64))?;
            Some(Cache {
                level: cache.level(),
                kind,
                size_bytes: size,
                line_bytes: line.try_into().ok(),
                ways: (!cache.is_fully_associative()).then_some(ways as u32),
                shared_by: None,
            })
        })
        .collect();
    if !described.is_empty() {
        return described;
    }
    let cache = |level, kind, size_bytes: u64, line_bytes: u32| Cache {
        level,
        kind,
        size_bytes,
        line_bytes: Some(line_bytes),
        ways: None,
        shared_by: None,
    };
    let mut caches = Vec::new();
    if let Some(l1) = cpuid.get_l1_cache_and_tlb_info() {
        let (data, code) = (u64::from(l1.dcache_size()) << 10, u64::from(l1.icache_size()) << 10);
        caches.push(cache(1, CacheKind::Data, data, l1.dcache_line_size().into()));
        caches.push(cache(1, CacheKind::Instruction, code, l1.icache_line_size().into()));
    }
    if let Some(outer) = cpuid.get_l2_l3_cache_and_tlb_info() {
        let (l2, l3) = (u64::from(outer.l2cache_size()) << 10, u64::from(outer.l3cache_size()) << 19);
        caches.push(cache(2, CacheKind::Unified, l2, outer.l2cache_line_size().into()));
        caches.push(cache(3, CacheKind::Unified, l3, outer.l3cache_line_size().into()));
    }
    caches.retain(|cache| cache.size_bytes > 0);
    caches
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(folder: &Path, index: usize, fields: &[(&str, &str)]) {
        let folder = folder.join(format!("index{index}"));
        std::fs::create_dir(&folder).expect("a folder");
        for (name, value) in fields {
            std::fs::write(folder.join(name), format!("{value}\n")).expect("written");
        }
    }

    #[test]
    fn invalid_folders_of_the_kernel_are_skipped() {
        let folder = tempfile::tempdir().expect("a folder");
        let whole = [
            ("level", "3"),
            ("type", "Unified"),
            ("size", "32768K"),
            ("coherency_line_size", "64"),
            ("ways_of_associativity", "16"),
            ("shared_cpu_list", "0-1,4"),
        ];
        write(folder.path(), 0, &whole);
        write(folder.path(), 1, &[("level", "1"), ("type", "Data"), ("size", "0K")]);
        write(folder.path(), 2, &[("level", "1"), ("type", "Data"), ("size", "48K")]);
        write(folder.path(), 3, &[("level", "1"), ("type", "Odd"), ("size", "48K")]);
        let l3 = Cache {
            level: 3,
            kind: CacheKind::Unified,
            size_bytes: 32 << 20,
            line_bytes: Some(64),
            ways: Some(16),
            shared_by: Some(3),
        };
        let l1 = Cache {
            level: 1,
            kind: CacheKind::Data,
            size_bytes: 48 << 10,
            line_bytes: None,
            ways: None,
            shared_by: None,
        };
        assert_eq!(from_folder(folder.path()), [l3, l1]);
        assert_eq!(from_folder(Path::new("/nonexistent")), []);
    }

    #[test]
    #[cfg(target_arch = "x86_64")]
    fn cpuid_agrees_with_the_kernel() {
        let kernel = from_folder(Path::new("/sys/devices/system/cpu/cpu0/cache"));
        for cache in from_cpuid() {
            assert!(cache.size_bytes >= 1 << 10 && cache.level <= 4, "{cache:?}");
            if let Some(same) = kernel.iter().find(|k| (k.level, k.kind) == (cache.level, cache.kind))
                && cache.level == 1
            {
                assert_eq!(same.size_bytes, cache.size_bytes, "{cache:?}");
            }
        }
    }
}
