//! The call sizes of memcpy, memmove and memset in a production fleet.
//!
//! A fixed size trains the branch predictor and flatters routines with a size ladder. These eighteen
//! distributions (three functions, six services) show the sizes that a general-purpose routine meets in
//! practice. They come from the LLVM project's libc benchmarks; see [`ATTRIBUTION`]. They contain no
//! alignments, no cache states, and no order of sizes.

/// The source of the figures, to be shown with results that use them.
pub const ATTRIBUTION: &str = "LLVM project, libc benchmarks (Apache-2.0 WITH LLVM-exception); \
     Guillaume Chatelet et al., \"automemcpy\", ISMM 2021";

/// The names after `fleet:`, in the order of the data file.
pub const NAMES: [&str; 18] = [
    "memcpy-A",
    "memcpy-B",
    "memcpy-D",
    "memcpy-L",
    "memcpy-M",
    "memcpy-Q",
    "memmove-A",
    "memmove-B",
    "memmove-D",
    "memmove-L",
    "memmove-M",
    "memmove-Q",
    "memset-A",
    "memset-B",
    "memset-D",
    "memset-L",
    "memset-M",
    "memset-Q",
];

/// The data; the file describes its format.
const DATA: &str = include_str!("../data/fleet.txt");

/// The sizes of a distribution with their probabilities, in ascending order without zeros; `None` if the name
/// is not in [`NAMES`].
///
/// ```
/// let sizes = carryline_conditions::fleet::distribution("memcpy-A").expect("a known name");
/// assert_eq!(sizes[0], (0, 0.00594645));
/// assert!(carryline_conditions::fleet::distribution("memcpy-Z").is_none());
/// ```
#[must_use]
pub fn distribution(name: &str) -> Option<Vec<(u64, f64)>> {
    if !NAMES.contains(&name) {
        return None;
    }
    let title = format!("[{name}]");
    let section = DATA.lines().skip_while(|line| *line != title).skip(1);
    let mut sizes = Vec::new();
    let mut next_size = 0;
    for entry in section.take_while(|line| !line.starts_with('[')).flat_map(str::split_whitespace) {
        let (step, probability) = match entry.split_once(':') {
            Some((step, probability)) => (step.parse::<u64>().ok()?, probability),
            None => (1, entry),
        };
        let size = next_size + step.checked_sub(1)?;
        sizes.push((size, probability.parse().ok()?));
        next_size = size + 1;
    }
    Some(sizes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_eighteen_distributions_add_up_to_one() {
        assert_eq!(DATA.lines().filter(|line| line.starts_with('[')).count(), NAMES.len());
        for name in NAMES {
            let sizes = distribution(name).expect("well-formed data");
            let total: f64 = sizes.iter().map(|(_, probability)| probability).sum();
            assert!((total - 1.0).abs() < 1e-6, "{name} adds up to {total}");
            assert!(sizes.windows(2).all(|pair| pair[0].0 < pair[1].0), "{name} ascends");
            assert!(sizes.iter().all(|(size, probability)| *size < 4096 && *probability > 0.0), "{name}");
        }
    }

    /// The number of sizes, the largest size with its probability, and two sizes from the middle, taken from
    /// the published files.
    #[test]
    fn values_match_the_published_files() {
        let check = |name: &str, count: usize, spots: &[(u64, f64)]| {
            let sizes = distribution(name).expect("a known name");
            assert_eq!(sizes.len(), count, "{name}");
            assert_eq!(sizes.last(), spots.last(), "{name}");
            for (size, probability) in spots {
                let found =
                    sizes.iter().find(|(other, _)| other == size).map(|(_, probability)| *probability);
                assert_eq!(found, Some(*probability), "{name}, size {size}");
            }
        };
        check("memcpy-A", 567, &[(375, 3.56075e-05), (790, 3.56075e-05), (4091, 0.000569719)]);
        check("memcpy-B", 951, &[(1409, 2.0712e-05), (2245, 8.87658e-06), (4091, 2.95886e-05)]);
        check("memcpy-D", 981, &[(2574, 4.15528e-05), (3859, 0.000207764), (4091, 0.133385)]);
        check("memcpy-L", 936, &[(1199, 2.00852e-05), (1730, 5.35604e-05), (4091, 2.00852e-05)]);
        check("memcpy-M", 766, &[(29, 0.00437486), (970, 2.60408e-05), (4091, 0.000598939)]);
        check("memcpy-Q", 974, &[(568, 1.4266e-05), (2504, 7.13298e-07), (4091, 4.99309e-05)]);
        check("memmove-A", 71, &[(6, 0.0376002), (33, 0.000552944), (2925, 0.000138236)]);
        check("memmove-B", 457, &[(58, 0.00707351), (81, 0.00614815), (2308, 1.56841e-05)]);
        check("memmove-D", 136, &[(646, 0.000652742), (1547, 0.000326371), (2102, 0.000326371)]);
        check("memmove-L", 220, &[(63, 0.00107066), (97, 0.000535332), (3640, 0.000267666)]);
        check("memmove-M", 130, &[(26, 0.00623806), (76, 6.36537e-05), (676, 6.36537e-05)]);
        check("memmove-Q", 452, &[(6, 0.0997198), (841, 2.94942e-05), (4075, 2.94942e-05)]);
        check("memset-A", 182, &[(143, 0.00497054), (368, 0.000184094), (3979, 0.000184094)]);
        check("memset-B", 234, &[(50, 3.05493e-05), (87, 9.16478e-05), (4091, 0.00180241)]);
        check("memset-D", 390, &[(82, 0.000482859), (688, 0.000241429), (4075, 0.00289715)]);
        check("memset-L", 146, &[(21, 0.000248139), (39, 0.000992556), (2046, 0.00645161)]);
        check("memset-M", 339, &[(1022, 0.00360748), (2624, 5.3843e-05), (3995, 2.69215e-05)]);
        check("memset-Q", 303, &[(65, 0.000592754), (68, 0.00353182), (4091, 0.00466793)]);
    }

    #[test]
    fn the_data_states_its_source() {
        for word in ["LLVM", "Apache-2.0 WITH LLVM-exception", "automemcpy", "Guillaume Chatelet"] {
            assert!(DATA.contains(word) && ATTRIBUTION.contains(word), "{word}");
        }
        assert!(DATA.len() < 150_000);
    }
}
