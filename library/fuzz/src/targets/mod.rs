//! The targets: one file each, and one line in [`TARGETS`].

mod capture;
mod copy_and_sum;
mod partial;
mod sum_pieces;
mod tuning;
mod update;
mod zero_copy;

/// One way to call the library, and the check of what it gives.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    /// The file's name here and in `fuzz/fuzz_targets`.
    pub name: &'static str,
    /// What is called.
    pub summary: &'static str,
    /// Makes the calls that the bytes describe. Panics where something is wrong.
    pub check: fn(&[u8]),
}

/// All of them.
pub static TARGETS: &[Target] = &[
    Target { name: "partial", summary: "every kernel of the sum", check: partial::check },
    Target {
        name: "sum_pieces",
        summary: "sums of pieces, added, copied and combined",
        check: sum_pieces::check,
    },
    Target { name: "update", summary: "checksums whose data change", check: update::check },
    Target { name: "copy_and_sum", summary: "every kernel that copies and sums", check: copy_and_sum::check },
    Target { name: "tuning", summary: "profiles, and the kernels that go by them", check: tuning::check },
    Target { name: "zero_copy", summary: "every kernel that zeroes or copies", check: zero_copy::check },
    Target { name: "capture", summary: "capture files, read and judged", check: capture::check },
];

/// Checks the bytes by the target of this name.
///
/// # Panics
/// Where something is wrong, as [`Target::check`] does; and where no target has the name.
pub fn check(name: &str, bytes: &[u8]) {
    let target = TARGETS.iter().find(|target| target.name == name);
    (target.unwrap_or_else(|| panic!("`{name}` is not a target")).check)(bytes);
}

/// The first place where two slices of the same length differ.
fn first_difference(found: &[u8], expected: &[u8]) -> Option<usize> {
    if found == expected {
        return None;
    }
    found.iter().zip(expected).position(|(found, expected)| found != expected)
}
