//! The targets: one file and one line in [`TARGETS`] each.

mod capture;
mod copy_and_sum;
mod partial;
mod sum_pieces;
mod tuning;
mod update;
mod zero_copy;

/// A fuzz target.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    /// The name of its file, here and in `fuzz/fuzz_targets`.
    pub name: &'static str,
    /// What it calls.
    pub summary: &'static str,
    /// Makes the calls that the bytes describe. Panics if a result is wrong.
    pub check: fn(&[u8]),
}

/// All targets.
pub static TARGETS: &[Target] = &[
    Target { name: "partial", summary: "every kernel of the sum", check: partial::check },
    Target {
        name: "sum_pieces",
        summary: "sums of pieces, added, copied and combined",
        check: sum_pieces::check,
    },
    Target { name: "update", summary: "checksums updated after changes of the data", check: update::check },
    Target { name: "copy_and_sum", summary: "every kernel that copies and sums", check: copy_and_sum::check },
    Target { name: "tuning", summary: "profiles, and the kernels that use them", check: tuning::check },
    Target { name: "zero_copy", summary: "every kernel that zeroes or copies", check: zero_copy::check },
    Target { name: "capture", summary: "capture files, read and judged", check: capture::check },
];

/// Runs the target with this name on an input.
///
/// # Panics
/// Panics if a result is wrong, as [`Target::check`] does, or if there is no such target.
pub fn check(name: &str, bytes: &[u8]) {
    let target = TARGETS.iter().find(|target| target.name == name);
    (target.unwrap_or_else(|| panic!("`{name}` is not a target")).check)(bytes);
}

/// The index of the first difference between two slices of the same length.
fn first_difference(found: &[u8], expected: &[u8]) -> Option<usize> {
    if found == expected {
        return None;
    }
    found.iter().zip(expected).position(|(found, expected)| found != expected)
}
