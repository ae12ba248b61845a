//! The list of the zeroing kernels.

use super::portable;
#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
use super::{avx2, avx512, avx512_branched, sse2};
use crate::cpu::Features;
use crate::dispatch::{Kernel, ZeroCode};

/// The kernels: the one that the [profile](crate::tuning) in force prefers, else the first that the CPU can run.
/// The order follows store width: every x86-64 CPU so far stores a whole line of 64 bytes in one instruction at least
/// as fast as in two or four. It has been checked on Zen 5 and Sapphire Rapids; the laboratory ranks the kernels of
/// the machine it runs on.
pub static KERNELS: &[Kernel<ZeroCode>] = &[
    #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
    Kernel { name: "avx512", needs: Features::AVX512, function: avx512::CODE },
    #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
    Kernel { name: "avx512_branched", needs: Features::AVX512, function: avx512_branched::CODE },
    #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
    Kernel { name: "avx2", needs: Features::AVX2, function: avx2::CODE },
    #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
    Kernel { name: "sse2", needs: Features::SSE2, function: sse2::CODE },
    Kernel { name: "portable", needs: Features::NONE, function: portable::CODE },
];
