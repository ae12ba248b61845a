//! The crates, their functions to edit, and the new bodies. One entry per crate.

/// A crate whose sum can be replaced by ours.
#[derive(PartialEq, Eq, Debug)]
pub struct Adopted {
    pub(super) name: &'static str,
    pub(super) edits: &'static [Edit],
    /// Additional arguments of `cargo test`.
    pub(super) test_arguments: &'static [&'static str],
    /// The crate's public checksum of `data: &[u8]`, as a `u64`.
    pub(super) call: &'static str,
}

/// A function whose body is replaced.
#[derive(PartialEq, Eq, Debug)]
pub(super) struct Edit {
    pub(super) file: &'static str,
    /// The text before its opening brace, long enough to be unique.
    pub(super) function: &'static str,
    pub(super) body: &'static str,
}

impl Edit {
    /// The function's name.
    pub(super) fn name(&self) -> &'static str {
        let signature = self.function.split_once("fn ").map_or(self.function, |(_, name)| name);
        signature.split('(').next().unwrap_or(signature)
    }
}

pub(super) const ALL: [Adopted; 3] = [
    // The sum as a number, folded and not complemented.
    Adopted {
        name: "smoltcp",
        edits: &[Edit {
            file: "src/wire/ip.rs",
            function: "pub fn data(data: &[u8]) -> u16",
            body: "u16::from_be_bytes(carryline::checksum::Sum::new().add(data).offload_seed())",
        }],
        test_arguments: &[],
        call: "u64::from(smoltcp::wire::checksum::data(data))",
    },
    // The sum as loaded, not folded. The helper `u64_16bit_word::add_slice` keeps its body, because two unit
    // tests compare its 64 bits before folding, which depend on how it sums.
    Adopted {
        name: "etherparse",
        edits: &[Edit {
            file: "src/checksum.rs",
            function: "#[cfg(target_pointer_width = \"64\")]\n    pub fn add_slice(self, slice: &[u8]) -> Sum16BitWords",
            body: "let sum = carryline::checksum::partial(slice, 0).to_ne_bytes();
            Sum16BitWords { sum: u64_16bit_word::add_4bytes(self.sum, sum) }",
        }],
        test_arguments: &[],
        call: "u64::from(etherparse::checksum::Sum16BitWords::new().add_slice(data).ones_complement())",
    },
    // The sum as a number, not folded. The word of the checksum field is skipped.
    Adopted {
        name: "pnet_packet",
        edits: &[Edit {
            file: "src/util.rs",
            function: "fn sum_be_words(data: &[u8], skipword: usize) -> u32",
            body: "let field = skipword.saturating_mul(2).min(data.len());
            let (before, rest) = data.split_at(field);
            let after = rest.get(2..).unwrap_or_default();
            let sum = carryline::checksum::Sum::new().add(before).add(after);
            u32::from(u16::from_be_bytes(sum.offload_seed()))",
        }],
        test_arguments: &[],
        call: "u64::from(pnet_packet::util::checksum(data, usize::MAX))",
    },
];
