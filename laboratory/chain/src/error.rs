//! Errors of the analysis.

/// The reason code cannot be analysed, and the place.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum ChainError {
    /// A character that is not a hexadecimal digit.
    #[error("'{found}' at character {position} is not a hexadecimal digit; write bytes as in 'f3 48 ab c3'")]
    Hex {
        /// The character.
        found: char,
        /// Its position, counted from 1.
        position: usize,
    },
    /// An odd number of digits.
    #[error("{digits} hexadecimal digits are not a whole number of bytes")]
    HalfByte {
        /// The number of digits.
        digits: usize,
    },
    /// No code at all.
    #[error("there are no bytes of code")]
    Empty,
    /// Bytes that are not an instruction.
    #[error("offset {offset:#x}: the bytes {bytes} are not an x86-64 instruction")]
    NotAnInstruction {
        /// Offset from the start of the code.
        offset: u64,
        /// The bytes, in hexadecimal.
        bytes: String,
    },
    /// The code continues past its last byte.
    #[error(
        "offset {offset:#x}: the code runs past its last byte; it must end in a return or a jump (append c3, 'ret')"
    )]
    RunsOut {
        /// Offset of the end of the bytes.
        offset: u64,
    },
    /// A jump to an address outside the code.
    #[error("offset {offset:#x}: a jump to {target:#x}, outside the code")]
    JumpsOut {
        /// Offset of the jump.
        offset: u64,
        /// The target, relative to the start of the code.
        target: i64,
    },
    /// No path reaches an end.
    #[error("no path through the code ends: from offset {offset:#x} on it loops without a return")]
    Endless {
        /// Offset of the last instruction found.
        offset: u64,
    },
    /// Too much code.
    #[error("offset {offset:#x}: more than {limit} bytes of code")]
    TooLong {
        /// Offset at which the limit was exceeded.
        offset: u64,
        /// The limit, in bytes.
        limit: usize,
    },
    /// The file cannot be read as an object file.
    #[error("{file}: {reason}")]
    Object {
        /// The file name.
        file: String,
        /// The reason given by the reader of object files.
        reason: String,
    },
    /// The file is for another architecture.
    #[error("{file}: built for {found}; only x86-64 code can be analysed")]
    Architecture {
        /// The file name.
        file: String,
        /// Its architecture.
        found: String,
    },
    /// The file has no function of this name.
    #[error("{file}: no function '{symbol}'; it has: {known}")]
    Symbol {
        /// The file name.
        file: String,
        /// The requested name.
        symbol: String,
        /// The names in the file.
        known: String,
    },
}
