//! The meaning of a function's registers at its entry and exit (System V calling convention).

use crate::effects::Location;
use iced_x86::Register;

/// The arguments and results of a function.
#[derive(Clone, Debug)]
pub struct Signature {
    /// The register and name of each argument.
    pub inputs: Vec<(Register, &'static str)>,
    /// True if it returns a number in `rax`.
    pub returns: bool,
    /// True if its stores are results.
    pub stores: bool,
    /// The argument that depends on the previous call's result if calls are chained.
    pub chained: Option<&'static str>,
}

impl Signature {
    /// `uint32_t sum(const void *data, size_t len, uint32_t sum)`.
    #[must_use]
    pub fn checksum() -> Signature {
        Signature {
            inputs: vec![(Register::RDI, "data"), (Register::RSI, "len"), (Register::RDX, "sum")],
            returns: true,
            stores: false,
            chained: Some("sum"),
        }
    }

    /// `void zero(void *dst, size_t len)`.
    #[must_use]
    pub fn zero() -> Signature {
        Signature {
            inputs: vec![(Register::RDI, "dst"), (Register::RSI, "len")],
            returns: false,
            stores: true,
            chained: Some("dst"),
        }
    }

    /// `void *memset(void *dst, int value, size_t len)`, called for its stores.
    #[must_use]
    pub fn set() -> Signature {
        Signature {
            inputs: vec![(Register::RDI, "dst"), (Register::RSI, "value"), (Register::RDX, "len")],
            ..Signature::zero()
        }
    }

    /// `void copy(void *dst, const void *src, size_t len)`.
    #[must_use]
    pub fn copy() -> Signature {
        Signature {
            inputs: vec![(Register::RDI, "dst"), (Register::RSI, "src"), (Register::RDX, "len")],
            returns: false,
            stores: true,
            chained: Some("src"),
        }
    }

    /// `uint32_t copy_and_sum(void *dst, const void *src, size_t len, uint32_t sum)`.
    #[must_use]
    pub fn copy_checksum() -> Signature {
        Signature {
            inputs: vec![
                (Register::RDI, "dst"),
                (Register::RSI, "src"),
                (Register::RDX, "len"),
                (Register::RCX, "sum"),
            ],
            returns: true,
            stores: true,
            chained: Some("sum"),
        }
    }

    /// The signature of unknown code: any register may be an input, everything written is an output.
    #[must_use]
    pub fn unknown() -> Signature {
        Signature { inputs: Vec::new(), returns: true, stores: true, chained: None }
    }

    /// The name of an input; `None` for registers that hold no argument.
    #[must_use]
    pub fn name(&self, location: Location) -> Option<String> {
        if self.inputs.is_empty() {
            let carries = !location.is_callee_saved() && !location.is_flag();
            return carries.then(|| location.name());
        }
        let named = self.inputs.iter().find(|(register, _)| Location::of(*register) == Some(location));
        named.map(|(_, name)| (*name).to_owned())
    }
}
