//! The machine as a run needs it: cache sizes to lay buffers out for, the CPU to stay on, the memory there is.

use crate::failure::{Failure, usage};
use carryline_machine::environment::{CacheSizes, Environment};
use carryline_results::gather::Situation;
use carryline_sampler::buffer_bytes;

/// What this machine is like.
pub struct Here {
    /// Everything that is kept with a result.
    pub environment: Environment,
    /// Cache sizes; safe ones where the machine does not tell.
    pub caches: CacheSizes,
}

impl Here {
    /// Looks at the machine.
    pub fn look() -> Here {
        let environment = Environment::here();
        Here { caches: environment.cache_sizes(), environment }
    }

    /// The logical CPU to measure on: the one requested, or the last allowed (the first ones get the interrupts).
    pub fn cpu(&self, asked: Option<usize>) -> Result<Option<usize>, Failure> {
        let allowed = &self.environment.cpu.allowed_cpus;
        match asked {
            Some(cpu) if allowed.iter().any(|known| *known as usize == cpu) => Ok(Some(cpu)),
            Some(cpu) => {
                let list: Vec<String> = allowed.iter().map(ToString::to_string).collect();
                Err(usage(format!(
                    "--cpu {cpu}: not among the CPUs this process may use ({})",
                    list.join(", ")
                )))
            }
            None => Ok(allowed.last().map(|cpu| *cpu as usize)),
        }
    }

    /// Refuses situations whose buffers do not fit into the memory that is free now.
    pub fn check_memory(&self, situations: &[Situation]) -> Result<(), Failure> {
        let available = self.environment.memory.available_bytes;
        for situation in situations {
            let needed = buffer_bytes(situation.family, &situation.condition, &self.caches);
            // Room for the program and for everybody else on the machine.
            if needed > available.saturating_sub(available / 16) {
                return Err(usage(format!(
                    "size '{}' needs {} MiB of buffers for {}, but only {} MiB of memory are available; choose a \
                     smaller size",
                    situation.condition.sizes.label,
                    needed >> 20,
                    situation.family,
                    available >> 20
                )));
            }
        }
        Ok(())
    }
}
