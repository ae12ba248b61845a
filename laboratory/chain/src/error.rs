//! Why code cannot be analysed.

/// What is wrong with the code given, and where.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum ChainError {
    /// Hexadecimal digits were expected.
    #[error("'{found}' at character {position} is not a hexadecimal digit; write bytes as in 'f3 48 ab c3'")]
    Hex {
        /// What stands there.
        found: char,
        /// Counted from 1.
        position: usize,
    },
    /// Half a byte.
    #[error("{digits} hexadecimal digits are not a whole number of bytes")]
    HalfByte {
        /// How many there are.
        digits: usize,
    },
    /// Nothing.
    #[error("there are no bytes of code")]
    Empty,
    /// No instruction begins with these bytes.
    #[error("offset {offset:#x}: the bytes {bytes} are not an x86-64 instruction")]
    NotAnInstruction {
        /// From the beginning of the code.
        offset: u64,
        /// In hexadecimal.
        bytes: String,
    },
    /// The code runs out of its bytes.
    #[error(
        "offset {offset:#x}: the code runs past its last byte; it must end in a return or a jump (append c3, 'ret')"
    )]
    RunsOut {
        /// Where the bytes end.
        offset: u64,
    },
    /// A jump to where no code is.
    #[error("offset {offset:#x}: a jump to {target:#x}, outside the code")]
    JumpsOut {
        /// Of the jump.
        offset: u64,
        /// Relative to the beginning of the code.
        target: i64,
    },
    /// Every path goes on for ever.
    #[error("no path through the code ends: from offset {offset:#x} on it repeats without a return")]
    Endless {
        /// Of the last instruction found.
        offset: u64,
    },
    /// More than can be analysed.
    #[error("offset {offset:#x}: more than {limit} bytes of code")]
    TooLong {
        /// Where the limit was passed.
        offset: u64,
        /// The limit.
        limit: usize,
    },
    /// The file is not an object file.
    #[error("{file}: {reason}")]
    Object {
        /// Its name.
        file: String,
        /// What the reader of object files says.
        reason: String,
    },
    /// Made for another machine.
    #[error("{file}: made for {found}; only x86-64 is analysed")]
    Architecture {
        /// The file.
        file: String,
        /// The machine.
        found: String,
    },
    /// No function of that name.
    #[error("{file}: no function '{symbol}'; there are: {known}")]
    Symbol {
        /// The file.
        file: String,
        /// The name requested.
        symbol: String,
        /// The names that are there.
        known: String,
    },
}
