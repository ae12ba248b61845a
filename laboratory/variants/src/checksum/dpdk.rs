//! DPDK's `rte_raw_cksum`, the inline function of its header `rte_ip.h`.
//!
//! Compiled by this crate's build script with the flags of DPDK's package and the `-O3` of DPDK's own
//! examples; another C compiler or level may give another speed. Its 32-bit accumulator overflows from
//! 131,075 bytes of 0xff on; it is made for packets.

use crate::{Lengths, Role, Routine, Variant};
use carryline::internals::cpu::Features;

// The features that the script's `-march=corei7` permits.
const NEEDS: Features =
    if cfg!(target_arch = "x86_64") { Features::SSE42.union(Features::SSSE3) } else { Features::NONE };

/// See the module.
pub static VARIANT: Variant = Variant {
    name: "dpdk",
    routine: Routine::Checksum(carryline_dpdk_sum),
    role: Role::Peer,
    needs: NEEDS,
    lengths: Lengths::UpTo(65_535),
    summary: "DPDK's loop over 16-bit words, as the C compiler vectorises it",
    provenance: concat!(
        "DPDK ",
        env!("CARRYLINE_DPDK_VERSION"),
        ", rte_raw_cksum; C compiler with ",
        env!("CARRYLINE_DPDK_FLAGS")
    ),
    ..Variant::PLAIN
};

unsafe extern "C" {
    // In dpdk_shim.c.
    fn carryline_dpdk_sum(data: *const u8, len: usize, seed: u32) -> u32;
}
