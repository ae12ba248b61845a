//! The kinds of work that instructions cause on the execution ports.
//!
//! Latencies depend on the exact form; throughput bounds depend only on which ports compete. A
//! microarchitecture's table lists the ports of each class.

use crate::form::{Form, Operand, is_shift};
use iced_x86::Mnemonic as M;

macro_rules! classes {
    ($($(#[$doc:meta])* $variant:ident = $name:literal,)*) => {
        /// A kind of work.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        pub enum Class {
            $($(#[$doc])* $variant,)*
        }

        impl Class {
            /// Every class.
            pub const ALL: &[Class] = &[$(Class::$variant,)*];

            /// The name in the tables.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Class::$variant => $name,)* }
            }
        }
    };
}

classes! {
    /// Add, subtract, logic, compare, conditional move.
    Alu = "alu",
    /// Additions of a constant to a register of 64 bits.
    AddConstant = "add-constant",
    /// Add and subtract with carry.
    Carry = "carry",
    /// Shifts and rotates.
    Shift = "shift",
    /// Address arithmetic.
    Lea = "lea",
    /// Address arithmetic that adds a constant to a register of 64 bits.
    LeaConstant = "lea-constant",
    /// Address arithmetic with an index.
    LeaIndexed = "lea-indexed",
    /// Integer multiplication.
    Multiply = "multiply",
    /// Bit counts and bit scans.
    BitCount = "bit-count",
    /// Jumps, calls and returns.
    Branch = "branch",
    /// Loads of up to 64 bits.
    Load = "load",
    /// Loads of vectors up to 256 bits.
    VectorLoad = "vector-load",
    /// Loads of 512 bits.
    VectorLoad512 = "vector-load-512",
    /// Stores of up to 64 bits.
    Store = "store",
    /// Stores of vectors up to 256 bits.
    VectorStore = "vector-store",
    /// Stores of 512 bits.
    VectorStore512 = "vector-store-512",
    /// Integer arithmetic and logic on vectors up to 256 bits.
    Vector = "vector",
    /// Integer arithmetic and logic on 512-bit vectors.
    Vector512 = "vector-512",
    /// Shifts of vectors up to 256 bits.
    VectorShift = "vector-shift",
    /// Shifts of 512-bit vectors.
    VectorShift512 = "vector-shift-512",
    /// Vector multiplication, dot products and sums of absolute differences.
    VectorMultiply = "vector-multiply",
    /// Multiplication and the like on 512-bit vectors.
    VectorMultiply512 = "vector-multiply-512",
    /// Shuffles within 128-bit lanes.
    ShuffleInLane = "shuffle-in-lane",
    /// Shuffles within lanes of 512-bit vectors.
    ShuffleInLane512 = "shuffle-in-lane-512",
    /// Shuffles and permutations across lanes.
    Shuffle = "shuffle",
    /// Shuffles and permutations of 512-bit vectors.
    Shuffle512 = "shuffle-512",
    /// Moves from a vector or mask register to a general one, and back.
    Cross = "cross",
    /// Moves from a vector register to a general one, where these differ from moves back.
    FromVector = "from-vector",
    /// Arithmetic on mask registers.
    Mask = "mask",
    /// No work for the ports: eliminated, or only decoded.
    Nothing = "nothing",
}

impl Class {
    /// The class whose ports apply if a table does not list this one.
    #[must_use]
    pub const fn broader(self) -> Option<Class> {
        match self {
            Class::AddConstant => Some(Class::Alu),
            Class::LeaConstant | Class::LeaIndexed => Some(Class::Lea),
            Class::VectorShift => Some(Class::Vector),
            Class::VectorShift512 => Some(Class::Vector512),
            Class::ShuffleInLane => Some(Class::Shuffle),
            Class::ShuffleInLane512 => Some(Class::Shuffle512),
            Class::FromVector => Some(Class::Cross),
            _ => None,
        }
    }

    /// True for loads.
    #[must_use]
    pub const fn is_load(self) -> bool {
        matches!(self, Class::Load | Class::VectorLoad | Class::VectorLoad512)
    }

    /// True for stores.
    #[must_use]
    pub const fn is_store(self) -> bool {
        matches!(self, Class::Store | Class::VectorStore | Class::VectorStore512)
    }

    /// The class called `name`.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Class> {
        Class::ALL.iter().copied().find(|class| class.name() == name)
    }
}

/// The classes of an instruction: its load or store, and its operation.
#[must_use]
pub fn classes(form: &Form) -> Vec<Class> {
    let mut found = Vec::with_capacity(3);
    let vector = form.operands.iter().map(|operand| match operand {
        Operand::Vector(bits) => *bits,
        _ => 0,
    });
    let vector = vector.max().unwrap_or(0);
    let name = form.mnemonic_name();
    let memory = form.memory();
    if let Some(memory) = memory {
        let bits = match form.operands[memory] {
            Operand::Memory(bits) => bits.max(if vector > 0 { vector.min(bits.max(128)) } else { 0 }),
            _ => 0,
        };
        let (load, store) = match (vector, bits) {
            (0, _) => (Class::Load, Class::Store),
            (_, 512) => (Class::VectorLoad512, Class::VectorStore512),
            _ => (Class::VectorLoad, Class::VectorStore),
        };
        let is_written = memory == 0 && !only_reads(form.mnemonic);
        if !is_written || reads_destination(form.mnemonic) {
            found.push(load);
        }
        if is_written {
            found.push(store);
        }
    }
    match form.mnemonic {
        M::Push => found.push(Class::Store),
        M::Pop => found.push(Class::Load),
        M::Call => found.extend([Class::Store, Class::Branch]),
        M::Ret => found.extend([Class::Load, Class::Branch]),
        _ if memory.is_some() && is_plain_move(&name) => {}
        _ if memory == Some(0) && stores_part(&name) => {}
        _ => found.push(operation(form, &name, vector)),
    }
    found
}

/// True for loads, stores and moves between registers of one kind.
fn is_plain_move(name: &str) -> bool {
    const MOVES: [&str; 10] =
        ["mov", "movzx", "movsx", "movsxd", "movd", "movq", "vmovd", "vmovq", "lddqu", "vlddqu"];
    MOVES.contains(&name)
        || [
            "movdq",
            "vmovdq",
            "movap",
            "movup",
            "vmovap",
            "vmovup",
            "movnt",
            "vmovnt",
            "prefetch",
            "vpbroadcast",
        ]
        .iter()
        .any(|start| name.starts_with(start))
}

/// True for instructions that store part of a vector, or a mask, without any other work.
fn stores_part(name: &str) -> bool {
    ["vextracti", "vextractf", "kmov", "movh", "movl", "vmovh", "vmovl"]
        .iter()
        .any(|start| name.starts_with(start))
}

/// True for instructions that read a memory operand that they write.
fn reads_destination(mnemonic: M) -> bool {
    matches!(
        mnemonic,
        M::Add
            | M::Sub
            | M::And
            | M::Or
            | M::Xor
            | M::Adc
            | M::Sbb
            | M::Inc
            | M::Dec
            | M::Neg
            | M::Not
            | M::Xchg
            | M::Xadd
            | M::Cmpxchg
            | M::Bts
            | M::Btr
            | M::Btc
    ) || is_shift(mnemonic)
}

/// True for instructions that read their first operand and do not write it.
fn only_reads(mnemonic: M) -> bool {
    matches!(
        mnemonic,
        M::Cmp | M::Test | M::Bt | M::Push | M::Mul | M::Imul | M::Jmp | M::Call | M::Div | M::Idiv
    ) || matches!(mnemonic, M::Prefetcht0 | M::Prefetcht1 | M::Prefetcht2 | M::Prefetchnta | M::Prefetchw)
}

/// True for an address with a second or a scaled register.
fn has_index(form: &Form) -> bool {
    form.operands.iter().any(
        |operand| matches!(operand, Operand::Address { registers, scaled, .. } if *registers > 1 || *scaled),
    )
}

fn operation(form: &Form, name: &str, vector: u16) -> Class {
    let wide = vector == 512;
    let pick = |narrow, is_wide| if wide { is_wide } else { narrow };
    match form.mnemonic {
        M::Adc | M::Sbb | M::Adcx | M::Adox => Class::Carry,
        M::Shl | M::Sal | M::Shr | M::Sar | M::Rol | M::Ror | M::Rcl | M::Rcr | M::Shld | M::Shrd => {
            Class::Shift
        }
        M::Shlx | M::Shrx | M::Sarx | M::Rorx => Class::Shift,
        M::Add | M::Sub
            if matches!(form.operands[..], [Operand::General(64), Operand::Zero | Operand::Immediate]) =>
        {
            Class::AddConstant
        }
        M::Inc | M::Dec if form.operands == [Operand::General(64)] => Class::AddConstant,
        M::Lea if has_index(form) => Class::LeaIndexed,
        M::Lea
            if matches!(
                form.operands[..],
                [Operand::General(64), Operand::Address { registers: 1, displaced: true, .. }]
            ) =>
        {
            Class::LeaConstant
        }
        M::Lea => Class::Lea,
        M::Imul | M::Mul | M::Mulx | M::Pdep | M::Pext => Class::Multiply,
        M::Popcnt | M::Lzcnt | M::Tzcnt | M::Bsf | M::Bsr => Class::BitCount,
        M::Nop | M::Endbr64 | M::Vzeroupper | M::Endbr32 => Class::Nothing,
        M::Call | M::Ret | M::Jmp => Class::Branch,
        _ if form.operands.contains(&Operand::Target) => Class::Branch,
        _ if vector == 0 && form.operands.contains(&Operand::Mask) => {
            if form.operands.iter().any(|operand| matches!(operand, Operand::General(_))) {
                Class::Cross
            } else {
                Class::Mask
            }
        }
        _ if vector == 0 => Class::Alu,
        _ if matches!(form.operands.first(), Some(Operand::General(_))) => Class::FromVector,
        _ if form.operands.iter().any(|operand| matches!(operand, Operand::General(_))) => Class::Cross,
        _ if ["psll", "psrl", "psra", "prol", "pror"].iter().any(|part| name.contains(part))
            && !name.ends_with("dq") =>
        {
            pick(Class::VectorShift, Class::VectorShift512)
        }
        _ if ["pmadd", "pmul", "psadbw", "pdp", "fmadd"].iter().any(|part| name.contains(part)) => {
            pick(Class::VectorMultiply, Class::VectorMultiply512)
        }
        _ if ["pshuf", "unpck", "shufp", "palignr", "slldq", "srldq"]
            .iter()
            .any(|part| name.contains(part)) =>
        {
            pick(Class::ShuffleInLane, Class::ShuffleInLane512)
        }
        _ if ["pmovzx", "pmovsx", "shuf", "perm", "extract", "insert", "align", "pack", "broadcast"]
            .iter()
            .any(|part| name.contains(part)) =>
        {
            pick(Class::Shuffle, Class::Shuffle512)
        }
        _ => pick(Class::Vector, Class::Vector512),
    }
}
