//! What a CPU renames as one: a general register with all its widths, a high byte where it is apart, a vector
//! register, a mask register, one flag.

use iced_x86::{Register, RflagsBits};

/// What is renamed as one.
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
    /// How many there are.
    pub const COUNT: usize = FLAG as usize + FLAGS.len();
    /// The stack pointer.
    pub const RSP: Location = Location(GENERAL + 4);

    /// The location of a register, in full; `None` for those that are not followed (segments, x87).
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

    /// Where `ah`, `ch`, `dh`, `bh` are, if they are renamed apart.
    pub(crate) fn high(register: Register) -> Option<Location> {
        let number = register.full_register().number();
        (register.full_register().is_gpr() && number < 4).then(|| Location(HIGH + number as u8))
    }

    /// The location of the flag of that name.
    pub(crate) fn of_flag(name: &str) -> Location {
        let place = FLAGS.iter().position(|(_, known)| *known == name).unwrap_or(0);
        Location(FLAG + place as u8)
    }

    /// Its place among all.
    #[must_use]
    pub const fn index(self) -> usize {
        self.0 as usize
    }

    /// The location at a place.
    ///
    /// # Panics
    /// If there is none.
    #[must_use]
    pub fn at(index: usize) -> Location {
        assert!(index < Location::COUNT);
        Location(index as u8)
    }

    /// True for a high byte that is renamed apart.
    #[must_use]
    pub const fn is_high(self) -> bool {
        self.0 >= HIGH && self.0 < VECTOR
    }

    /// The register that a high byte is part of; any other location is itself.
    #[must_use]
    pub const fn whole(self) -> Location {
        if self.is_high() { Location(GENERAL + (self.0 - HIGH)) } else { self }
    }

    /// True for a flag.
    #[must_use]
    pub const fn is_flag(self) -> bool {
        self.0 >= FLAG
    }

    /// True for a register that a function must leave as it found it.
    #[must_use]
    pub const fn is_callee_saved(self) -> bool {
        matches!(self.0, 3 | 4 | 5 | 12..=15)
    }

    /// `rax`, `zmm3`, `k1`, `CF`.
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
