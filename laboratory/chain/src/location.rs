//! The units of register renaming: a general register in all its widths, a high byte where it is renamed
//! separately, a vector register, a mask register, or a flag.

use iced_x86::{Register, RflagsBits};

/// A unit of register renaming.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Location(u8);

const GENERAL: u8 = 0;
const HIGH: u8 = 16;
const VECTOR: u8 = 20;
const MASK: u8 = 52;
const FLAG: u8 = 60;
pub(crate) const FLAGS: [(u32, &str); 7] = [
    (RflagsBits::CF, "CF"),
    (RflagsBits::PF, "PF"),
    (RflagsBits::AF, "AF"),
    (RflagsBits::ZF, "ZF"),
    (RflagsBits::SF, "SF"),
    (RflagsBits::OF, "OF"),
    (RflagsBits::DF, "DF"),
];

impl Location {
    /// The number of locations.
    pub const COUNT: usize = FLAG as usize + FLAGS.len();
    /// The stack pointer.
    pub const RSP: Location = Location(GENERAL + 4);

    /// The location of a register in full; `None` for registers that are not tracked (segments, x87).
    #[must_use]
    pub fn of(register: Register) -> Option<Location> {
        let full = register.full_register();
        if full.is_gpr() {
            Some(Location(GENERAL + full.number() as u8))
        } else if full.is_vector_register() {
            Some(Location(VECTOR + full.number() as u8))
        } else if full.is_k() {
            Some(Location(MASK + full.number() as u8))
        } else {
            None
        }
    }

    /// The location of the register's high byte (`ah`, `ch`, `dh`, `bh`) where it is renamed separately.
    pub(crate) fn high(register: Register) -> Option<Location> {
        let number = register.full_register().number();
        (register.full_register().is_gpr() && number < 4).then(|| Location(HIGH + number as u8))
    }

    /// The location of the flag called `name`.
    pub(crate) fn of_flag(name: &str) -> Location {
        let place = FLAGS.iter().position(|(_, known)| *known == name).unwrap_or(0);
        Location(FLAG + place as u8)
    }

    /// Its index among all locations.
    #[must_use]
    pub const fn index(self) -> usize {
        self.0 as usize
    }

    /// The location with this index.
    ///
    /// # Panics
    /// If the index is out of range.
    #[must_use]
    pub fn at(index: usize) -> Location {
        assert!(index < Location::COUNT);
        Location(index as u8)
    }

    /// True for a separately renamed high byte.
    #[must_use]
    pub const fn is_high(self) -> bool {
        self.0 >= HIGH && self.0 < VECTOR
    }

    /// The register that a high byte is part of; other locations are returned unchanged.
    #[must_use]
    pub const fn whole(self) -> Location {
        if self.is_high() { Location(GENERAL + (self.0 - HIGH)) } else { self }
    }

    /// True for a flag.
    #[must_use]
    pub const fn is_flag(self) -> bool {
        self.0 >= FLAG
    }

    /// True for a register that a function must preserve.
    #[must_use]
    pub const fn is_callee_saved(self) -> bool {
        matches!(self.0, 3 | 4 | 5 | 12..=15)
    }

    /// The name: `rax`, `zmm3`, `k1`, `CF`.
    #[must_use]
    pub fn name(self) -> String {
        const NAMES: [&str; 16] = [
            "rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi", "r8", "r9", "r10", "r11", "r12", "r13",
            "r14", "r15",
        ];
        match self.0 {
            n if n < HIGH => NAMES[usize::from(n)].to_owned(),
            n if n < VECTOR => ["ah", "ch", "dh", "bh"][usize::from(n - HIGH)].to_owned(),
            n if n < MASK => format!("zmm{}", n - VECTOR),
            n if n < FLAG => format!("k{}", n - MASK),
            n => FLAGS[usize::from(n - FLAG)].1.to_owned(),
        }
    }
}
