//! Chooses the CPU for work beside the measuring one.

use crate::environment::cpus_in_list;

/// The measuring CPU, another one, and whether they share a core; a CPU of another core is preferred.
///
/// # Errors
/// The reason there is no other CPU, as a sentence.
pub fn choose(
    cpu: Option<usize>,
    allowed: &[usize],
    siblings: &dyn Fn(usize) -> Vec<usize>,
) -> Result<(usize, usize, bool), String> {
    let mine = cpu.or_else(|| allowed.first().copied());
    let mine = mine.ok_or("the kernel does not report the allowed CPUs")?;
    let near = siblings(mine);
    let others = || allowed.iter().copied().filter(|other| *other != mine);
    match others().find(|other| !near.contains(other)).or_else(|| others().next()) {
        Some(other) => Ok((mine, other, near.contains(&other))),
        None => {
            Err("this needs two cores, but only one CPU is allowed (a one-core machine, or an affinity mask)"
                .to_owned())
        }
    }
}

/// The logical CPUs of the same core; empty if the kernel does not report them.
pub fn siblings(cpu: usize) -> Vec<usize> {
    let path = format!("/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list");
    std::fs::read_to_string(path).ok().and_then(|text| cpus_in_list(&text)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_core_is_preferred_and_one_cpu_is_a_reason() {
        let pairs = |cpu: usize| vec![cpu & !1, cpu | 1];
        assert_eq!(choose(Some(0), &[0, 1, 2, 3], &pairs), Ok((0, 2, false)));
        assert_eq!(choose(Some(0), &[0, 1], &pairs), Ok((0, 1, true)));
        assert_eq!(choose(None, &[3, 5], &|_| Vec::new()), Ok((3, 5, false)));
        let one = choose(Some(0), &[0], &pairs).expect_err("one CPU");
        assert!(one.contains("two cores"), "{one}");
        assert!(choose(None, &[], &pairs).is_err());
    }
}
