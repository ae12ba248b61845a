//! The standard matrix: typical situations, with sizes chosen from the machine's caches.

use carryline_conditions::sizes::{SizeError, Sizes};
use carryline_conditions::{Beside, Cache, CacheMethod, Condition, Dependence, Offsets};
use carryline_machine::environment::CacheSizes;
use carryline_machine::process::allowed_cpus;
use carryline_results::gather::Situation;
use carryline_variants::Family;

/// A situation of the matrix, without subjects.
struct Entry {
    family: Family,
    sizes: String,
    offsets: Offsets,
    cache: Cache,
    dependence: Dependence,
    beside: Beside,
    weight: f64,
    /// Whether it is part of the tour.
    tour: bool,
}

const CLFLUSH: Cache = Cache::cold(CacheMethod::Clflush);
const MIXED: Cache = Cache::cold(CacheMethod::Mixed { hot_percent: 50 });
const EVICT: Cache = Cache::cold(CacheMethod::Evict);

fn entries(caches: &CacheSizes) -> Vec<Entry> {
    let cold = if cfg!(target_arch = "x86_64") { CLFLUSH } else { EVICT };
    // Whole MiB, for a short label.
    let too_large = format!("{}M", caches.too_large() >> 20);
    let aligned = Offsets::ALIGNED;
    let random = Offsets::Random;
    let chained = Dependence::Chained;
    let plain = Dependence::Independent;
    let mut entries = Vec::new();
    let mut add = |family, sizes: &str, offsets, cache, dependence, weight, tour| {
        let beside = Beside::Nothing;
        entries.push(Entry {
            family,
            sizes: sizes.to_owned(),
            offsets,
            cache,
            dependence,
            beside,
            weight,
            tour,
        });
    };

    let zero = Family::Zero;
    add(zero, "fleet:memset-A", random, Cache::HOT, plain, 1.0, false);
    add(zero, "4K", aligned, Cache::HOT, plain, 1.0, true);
    add(zero, "256K", aligned, Cache::HOT, plain, 1.0, false);
    add(zero, "4K,256K", random, Cache::HOT, plain, 0.7, false);
    for offsets in [aligned, random] {
        add(zero, "4K", offsets, cold, plain, 1.0, false);
    }
    // Zeroing and sums beyond the second level, and everything beyond the caches, at one offset: such calls take long, and offsets
    // count little. Sums of 8 MiB by three routines took 3 to 10 % more at random offsets on Granite Rapids; of zeroing and of
    // copies beyond the caches, docs/benchmarks.md has both (zero-trap, copy-trap).
    add(zero, "8M", aligned, Cache::HOT, plain, 2.0, false);
    add(zero, &too_large, aligned, Cache::HOT, plain, 5.0, false);

    let copy = Family::Copy;
    add(copy, "fleet:memcpy-A", random, Cache::HOT, plain, 1.0, true);
    // A routine that is fast at one distance of the buffers may be slow at another.
    for offsets in [aligned, random, Offsets::Alias] {
        add(copy, "1500,4K,64K,256K", offsets, Cache::HOT, plain, 0.7, false);
        add(copy, "8M", offsets, Cache::HOT, plain, 2.0, false);
        add(copy, "4K", offsets, cold, plain, 1.0, false);
    }
    add(copy, "4K,64K", random, MIXED, plain, 0.7, false);
    add(copy, &too_large, aligned, Cache::HOT, plain, 6.0, false);

    let checksum = Family::Checksum;
    add(checksum, "20", aligned, Cache::HOT, plain, 1.0, false);
    add(checksum, "40", aligned, Cache::HOT, plain, 1.0, false);
    add(checksum, "40", aligned, Cache::HOT, chained, 1.0, false);
    add(checksum, "1..64", random, Cache::HOT, plain, 1.0, false);
    add(checksum, "1..1500", random, Cache::HOT, plain, 1.0, false);
    add(checksum, "1500", aligned, Cache::HOT, plain, 1.0, true);
    add(checksum, "1500", random, Cache::HOT, plain, 1.0, false);
    add(checksum, "1500", random, cold, plain, 1.0, false);
    add(checksum, "4K", aligned, Cache::HOT, plain, 1.0, false);
    add(checksum, "9000", aligned, Cache::HOT, plain, 1.0, false);
    add(checksum, "256K", aligned, Cache::HOT, plain, 1.5, false);
    add(checksum, "4K,9000,256K", random, Cache::HOT, plain, 0.7, false);
    add(checksum, "8M", aligned, Cache::HOT, plain, 4.0, false);
    add(checksum, &too_large, aligned, Cache::HOT, plain, 8.0, false);

    let both = Family::CopyChecksum;
    for offsets in [aligned, random, Offsets::Alias] {
        add(both, "1500,9000,256K", offsets, Cache::HOT, plain, 0.7, false);
    }
    add(both, "1500", random, cold, plain, 1.0, false);

    let busy: Vec<Entry> = entries
        .iter()
        .filter(|entry| entry.cache == MIXED)
        .map(|entry| Entry { sizes: entry.sizes.clone(), beside: Beside::Stream, weight: 1.0, ..*entry })
        .collect();
    // Load on another CPU needs a second CPU.
    if allowed_cpus().len() > 1 {
        entries.extend(busy);
    }
    entries
}

/// The situations of the standard matrix for some families, or only those of the tour.
///
/// `sizes` are added to the matrix, hot and independent, unless the matrix has them: at random offsets, and above 1 KiB at
/// offset 0 and as near-aliases too.
pub fn situations(
    caches: &CacheSizes,
    families: &[Family],
    tour: bool,
    sizes: &[Sizes],
    subjects: &dyn Fn(Family) -> (Vec<String>, Option<usize>),
) -> Result<Vec<Situation>, SizeError> {
    let mut made = Vec::new();
    for entry in entries(caches) {
        if families.contains(&entry.family) && (!tour || entry.tour) {
            for sizes in Sizes::parse_list(&entry.sizes)? {
                let condition = Condition {
                    sizes,
                    offsets: entry.offsets,
                    cache: entry.cache,
                    dependence: entry.dependence,
                    beside: entry.beside,
                    ..Condition::plain(0)
                };
                made.push(situation(entry.family, condition, entry.weight, subjects));
            }
        }
    }
    for family in families {
        for sizes in sizes {
            for offsets in offsets_of(*family, sizes) {
                let condition = Condition { sizes: sizes.clone(), offsets: *offsets, ..Condition::plain(0) };
                if !made.iter().any(|known| is_of(known, *family, &condition)) {
                    made.push(situation(*family, condition, 1.0, subjects));
                }
            }
        }
    }
    Ok(made)
}

/// The offsets at which sizes that are added to the matrix are measured.
fn offsets_of(family: Family, sizes: &Sizes) -> &'static [Offsets] {
    const ALL: [Offsets; 3] = [Offsets::Random, Offsets::ALIGNED, Offsets::Alias];
    match sizes.max() > 1 << 10 {
        true if family.reads() && family.writes() => &ALL,
        true => &ALL[..2],
        false => &ALL[..1],
    }
}

/// True if a situation already has this condition, whatever the label of its sizes.
fn is_of(known: &Situation, family: Family, condition: &Condition) -> bool {
    let same_label = Condition { sizes: known.condition.sizes.clone(), ..condition.clone() };
    known.family == family
        && known.condition.sizes.draws_as(&condition.sizes)
        && known.condition == same_label
}

/// A situation with its name, its subjects and its A/A twin.
pub fn situation(
    family: Family,
    condition: Condition,
    weight: f64,
    subjects: &dyn Fn(Family) -> (Vec<String>, Option<usize>),
) -> Situation {
    let (subjects, baseline) = subjects(family);
    let mut situation = Situation {
        name: name(family, &condition),
        family,
        twins: baseline.or(if subjects.is_empty() { None } else { Some(0) }).into_iter().collect(),
        subjects,
        baseline,
        condition,
        weight,
    };
    // Processes with other thresholds need an A/A pair of their own.
    situation.twins.extend(baseline.and_then(|baseline| situation.with_other_thresholds(baseline)));
    situation
}

/// A situation's name: the family, the size, and every field that differs from the default.
pub fn name(family: Family, condition: &Condition) -> String {
    let plain = Condition::plain(0);
    let mut words = vec![family.name().to_owned(), condition.sizes.label.clone()];
    if !condition.segments.is_empty() {
        words[1] = format!(
            "segments {}",
            condition.segments.iter().map(u32::to_string).collect::<Vec<_>>().join(",")
        );
    }
    if condition.offsets != plain.offsets {
        words.push(format!("offset {}", condition.offsets));
    }
    words.push(condition.cache.to_string());
    words.push(condition.dependence.to_string());
    if condition.pages != plain.pages {
        words.push(format!("pages {}", condition.pages));
    }
    if condition.then != plain.then {
        words.push(format!("then {}", condition.then));
    }
    if condition.beside != plain.beside {
        words.push(format!("beside {}", condition.beside));
    }
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_of_the_matrix_are_not_added_again() {
        let caches = CacheSizes { l1: 32 << 10, l2: 1 << 20, l3: 16 << 20, l3_held: None };
        let made = |sizes: &str| {
            let sizes = Sizes::parse_list(sizes).expect("sizes");
            let subjects = |_| (vec!["sse2".to_owned()], None);
            situations(&caches, &[Family::Checksum], false, &sizes, &subjects).expect("situations").len()
        };
        let alone = made("77") - 1;
        assert_eq!(
            [made("1500"), made("262144"), made("77,1500"), made("41,42"), made("1024"), made("1025")],
            [alone, alone, alone + 1, alone + 2, alone + 1, alone + 2]
        );
    }
}
