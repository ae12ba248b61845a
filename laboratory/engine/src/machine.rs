//! The properties of the machine that a run needs: cache sizes, the CPU to use, and available memory.

use crate::failure::{Failure, usage};
use carryline_conditions::Then;
use carryline_machine::environment::{CacheSizes, Environment};
use carryline_results::gather::Situation;
use carryline_sampler::memory_bytes;

/// Memory used by the processes besides buffers.
const PROGRAM_BYTES: u64 = 16 << 20;

/// This machine.
pub struct Here {
    /// The description stored with a result.
    pub environment: Environment,
    /// Cache sizes; safe assumptions where the machine does not report them.
    pub caches: CacheSizes,
}

impl Here {
    /// Examines the machine.
    pub fn look() -> Here {
        let environment = Environment::here();
        Here { caches: environment.cache_sizes(), environment }
    }

    /// The logical CPU to measure on: the one requested, or the last one allowed (the first ones handle
    /// interrupts).
    pub fn cpu(&self, asked: Option<usize>) -> Result<Option<usize>, Failure> {
        let allowed = &self.environment.cpu.allowed_cpus;
        match asked {
            Some(cpu) if allowed.iter().any(|known| *known as usize == cpu) => Ok(Some(cpu)),
            Some(cpu) => {
                let list: Vec<String> = allowed.iter().map(ToString::to_string).collect();
                Err(usage(format!(
                    "--cpu {cpu}: not one of the CPUs that this process may use ({})",
                    list.join(", ")
                )))
            }
            None => Ok(allowed.last().map(|cpu| *cpu as usize)),
        }
    }

    /// The bytes of memory needed to measure these situations.
    pub fn memory_needed(&self, situations: &[Situation]) -> u64 {
        memory_needed(situations, &self.caches)
    }

    /// True if the buffers of these situations fit into available memory with caches of these sizes.
    pub fn has_room_for(&self, situations: &[Situation], caches: &CacheSizes) -> bool {
        memory_needed(situations, caches) <= self.room()
    }

    /// Fails if the buffers of these situations do not fit into available memory.
    pub fn check_memory(&self, situations: &[Situation]) -> Result<(), Failure> {
        let needed = self.memory_needed(situations);
        let Some(largest) = self.largest(situations).filter(|_| needed > self.room()) else { return Ok(()) };
        let largest = &situations[largest];
        Err(usage(format!(
            "'{}' needs {} MiB of memory, but only {} MiB are available; choose {}",
            largest.name,
            needed >> 20,
            self.room() >> 20,
            match largest.condition.then {
                Then::Victim(bytes) | Then::ReadLater(bytes) if bytes > largest.condition.sizes.max() =>
                    "fewer bytes for --then",
                _ => "a smaller size",
            }
        )))
    }

    /// Removes the largest situation until the rest fit into available memory. Returns those that fit, and
    /// the reason for each one left out.
    pub fn that_fit(&self, mut situations: Vec<Situation>) -> (Vec<Situation>, Vec<String>) {
        let mut left_out = Vec::new();
        while self.memory_needed(&situations) > self.room()
            && let Some(place) = self.largest(&situations)
        {
            let large = situations.remove(place);
            left_out.push(format!(
                "{}: it needs {} MiB of memory, but only {} MiB are available",
                large.name,
                self.memory_needed(std::slice::from_ref(&large)) >> 20,
                self.room() >> 20
            ));
        }
        (situations, left_out)
    }

    /// The index of the situation that needs the most memory by itself.
    fn largest(&self, situations: &[Situation]) -> Option<usize> {
        (0..situations.len())
            .max_by_key(|place| self.memory_needed(std::slice::from_ref(&situations[*place])))
    }

    /// How much of the available memory may be used; the rest is for other programs.
    fn room(&self) -> u64 {
        let available = self.environment.memory.available_bytes;
        available - available / 16
    }
}

/// The bytes of memory needed to measure these situations with caches of these sizes.
fn memory_needed(situations: &[Situation], caches: &CacheSizes) -> u64 {
    let cells = situations.iter().map(|situation| (situation.family, &situation.condition));
    memory_bytes(cells, caches).saturating_add(PROGRAM_BYTES)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::standard;
    use carryline_conditions::Condition;
    use carryline_variants::Family;

    fn with_memory(available_bytes: u64) -> Here {
        let mut here = Here::look();
        here.caches = CacheSizes { l1: 32 << 10, l2: 1 << 20, l3: 16 << 20, l3_held: None };
        here.environment.memory.available_bytes = available_bytes;
        here
    }

    fn zeroing(bytes: u64) -> Situation {
        standard::situation(Family::Zero, Condition::plain(bytes), 1.0, &|_| (vec!["avx2".into()], None))
    }

    #[test]
    fn situations_too_large_for_memory_are_left_out_or_refused() {
        let sizes = [4096, 700 << 20, 300 << 20];
        let situations = || sizes.map(zeroing).to_vec();
        let here = with_memory(512 << 20);
        let (fit, left_out) = here.that_fit(situations());
        assert_eq!(fit, [zeroing(4096), zeroing(300 << 20)]);
        assert_eq!(left_out.len(), 1);
        assert!(left_out[0].contains("480 MiB") && left_out[0].contains("716 MiB"), "{left_out:?}");
        assert!(here.check_memory(&fit).is_ok());
        let refused = here.check_memory(&situations()).expect_err("too large");
        assert!(refused.status() == 2 && refused.to_string().contains("716 MiB"), "{refused}");
        assert_eq!(with_memory(8 << 30).that_fit(situations()).1, [""; 0]);
    }
}
