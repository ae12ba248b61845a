//! What a function's registers mean at its beginning and end (System V calling convention).

use crate::effects::Location;
use iced_x86::Register;

/// Named inputs, and what counts as output.
#[derive(Clone, Debug)]
pub struct Signature {
    /// The arguments: register and name.
    pub inputs: Vec<(Register, &'static str)>,
    /// It returns a number in `rax`.
    pub returns: bool,
    /// What it stores is a result.
    pub stores: bool,
    /// The argument that a call's result becomes when calls are chained.
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

    /// Code of which nothing is known: every register may be an input, what is written is output.
    #[must_use]
    pub fn unknown() -> Signature {
        Signature { inputs: Vec::new(), returns: true, stores: true, chained: None }
    }

    /// What an input is called; `None` for registers that carry no argument.
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
