//! The list of zeroing kernels.

use super::portable;
#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
use super::{avx2_assembly, avx512, avx512_assembly, avx512_prefer_256_assembly, sse2_assembly};
use crate::cpu::Features;
use crate::dispatch::{Kernel, ZeroCode};

/// The kernels. The active [profile](crate::tuning) may select one; otherwise the first that the CPU supports
/// is used.
///
/// The order follows store width, which was confirmed on Zen 5, Sapphire Rapids and Emerald Rapids. Zen 4
/// executes a 64-byte store as two of 32, and its profile selects `avx512_prefer_256`. The laboratory ranks the
/// kernels of the machine it runs on.
pub static KERNELS: &[Kernel<ZeroCode>] = &[
    #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
    Kernel { name: "avx512", needs: Features::AVX512, function: avx512::CODE },
    #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
    Kernel { name: "avx512_branched", needs: Features::AVX512, function: avx512_assembly::CODE },
    #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
    Kernel {
        name: "avx512_prefer_256",
        needs: Features::AVX512.union(Features::AVX2),
        function: avx512_prefer_256_assembly::CODE,
    },
    #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
    Kernel { name: "avx2", needs: Features::AVX2, function: avx2_assembly::CODE },
    #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
    Kernel { name: "sse2", needs: Features::SSE2, function: sse2_assembly::CODE },
    Kernel { name: "portable", needs: Features::NONE, function: portable::CODE },
];
