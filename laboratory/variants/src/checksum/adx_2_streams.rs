//! Two sums in interleaved chains: `adcx` uses only CF, `adox` only OF.
//!
//! Steps of 128 bytes. Each clears both flags at its start and adds both carries back at its end, because the
//! loop counter overwrites the flags. Then at most one step of 64 bytes, then the remaining bytes.

use crate::{Routine, Variant, ones_complement};
use carryline::internals::cpu::Features;

/// See the module.
pub static VARIANT: Variant = Variant {
    name: "adx_2_streams",
    routine: Routine::Checksum(run),
    needs: Features::ADX,
    summary: "two interleaved chains by adcx and adox, 128 bytes per iteration",
    provenance: "vandeven-2021, using ADX, for every length",
    ..Variant::PLAIN
};

/// Adds the words at the first distances to `$first` by adcx, those at the second to `$second` by adox.
macro_rules! adx_chains {
    ($first:ident, $second:ident, $data:expr, $($one:literal $other:literal),+) => {
        core::arch::asm!(
            "xor {zero:e}, {zero:e}",
            $(
                concat!("adcx {first}, qword ptr [{data} + ", $one, "]"),
                concat!("adox {second}, qword ptr [{data} + ", $other, "]"),
            )+
            "adcx {first}, {zero}",
            "adox {second}, {zero}",
            zero = out(reg) _,
            first = inout(reg) $first,
            second = inout(reg) $second,
            data = in(reg) $data,
            options(pure, readonly, nostack)
        )
    };
}

/// # Safety
/// See [the family](super).
unsafe extern "C" fn run(data: *const u8, len: usize, seed: u32) -> u32 {
    let mut first = u64::from(seed);
    let mut second = 0_u64;
    let mut at = data;
    let mut left = len;
    // SAFETY: each step reads only what is left: at least 128 bytes in the loop, 64 after it if `left` says
    // so, and fewer than 64 remain. The register cleared first is an `out`, not a `lateout`, so no input
    // shares it.
    unsafe {
        while left >= 128 {
            adx_chains!(first, second, at, 0 8, 16 24, 32 40, 48 56, 64 72, 80 88, 96 104, 112 120);
            at = at.add(128);
            left -= 128;
        }
        if left & 64 != 0 {
            adx_chains!(first, second, at, 0 8, 16 24, 32 40, 48 56);
            at = at.add(64);
        }
        let first = ones_complement::add_rest(first, at, left & 63);
        ones_complement::reduce(ones_complement::add(first, second))
    }
}
