//! The lists of checksum kernels.

#[cfg(target_arch = "x86_64")]
use super::adc_assembly;
#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
use super::{
    avx2_assembly, avx2_copy, avx512, avx512_branched, avx512_copy, avx512_merged, avx512_merged_copy,
    avx512_prefer_256, copy_and_sum_prefer_256,
};
use super::{by_blocks, portable};
use crate::cpu::Features;
use crate::dispatch::{ChecksumFn, CopyAndSumFn, Kernel};

/// The kernels of [`partial_raw`](super::partial_raw). The active [profile](crate::tuning) may select one;
/// otherwise the first that the CPU supports is used.
///
/// The order follows the bytes per cycle that the instructions allow, and was confirmed on Zen 5 with 32 KiB
/// in the first-level cache: 512-bit dot products, then 256-bit additions, then chains of additions with
/// carry, of 8 bytes each. The laboratory ranks the kernels of the machine it runs on.
pub static KERNELS: &[Kernel<ChecksumFn>] = &[
    #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
    Kernel { name: "avx512", needs: AVX512_DOT, function: avx512::partial },
    #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
    Kernel { name: "avx512_branched", needs: AVX512_DOT, function: avx512_branched::partial },
    #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
    Kernel { name: "avx512_merged", needs: AVX512_DOT, function: avx512_merged::partial },
    #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
    Kernel { name: "avx512_prefer_256", needs: AVX512_DOT, function: avx512_prefer_256::partial },
    #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
    Kernel { name: "avx2", needs: AVX2_SUM, function: avx2_assembly::partial },
    #[cfg(target_arch = "x86_64")]
    Kernel { name: "adc", needs: Features::NONE, function: adc_assembly::partial },
    Kernel { name: "portable", needs: Features::NONE, function: portable::partial },
];

/// The kernels of [`copy_and_sum_raw`](super::copy_and_sum_raw). The active [profile](crate::tuning) may
/// select one; otherwise the first that the CPU supports is used.
///
/// The vector kernels work in one pass, unless the buffers exceed the caches; the others copy a block and sum it while it is
/// in the first-level cache. The order follows that of [`KERNELS`].
pub static COPY_AND_SUM_KERNELS: &[Kernel<CopyAndSumFn>] = &[
    #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
    Kernel { name: "avx512", needs: AVX512_DOT, function: avx512_copy::copy_and_sum },
    #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
    Kernel { name: "avx512_merged", needs: AVX512_DOT, function: avx512_merged_copy::copy_and_sum },
    #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
    Kernel {
        name: "avx512_prefer_256",
        needs: AVX512_DOT.union(Features::AVX2),
        function: copy_and_sum_prefer_256,
    },
    #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
    Kernel { name: "avx2", needs: Features::AVX2, function: avx2_copy::copy_and_sum },
    #[cfg(target_arch = "x86_64")]
    Kernel { name: "adc", needs: Features::NONE, function: by_blocks::adc },
    Kernel { name: "portable", needs: Features::NONE, function: by_blocks::portable },
];

#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
const AVX2_SUM: Features = Features::AVX2.union(Features::BMI2);

#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
const AVX512_DOT: Features = Features::AVX512.union(Features::AVX512VNNI);
