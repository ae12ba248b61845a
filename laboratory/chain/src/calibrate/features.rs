//! Detects the instructions that this machine supports.

use iced_x86::{CpuidFeature, Instruction};
use std::arch::is_x86_feature_detected as has;

/// True if the CPU and the operating system support the instruction. Unlisted features count as unsupported.
pub(super) fn runs(instruction: &Instruction) -> bool {
    instruction.cpuid_features().iter().all(|feature| runs_feature(*feature))
}

fn runs_feature(feature: CpuidFeature) -> bool {
    use CpuidFeature as F;
    match feature {
        // Supported by every x86-64 CPU.
        F::INTEL8086
        | F::INTEL186
        | F::INTEL286
        | F::INTEL386
        | F::INTEL486
        | F::X64
        | F::CMOV
        | F::SSE
        | F::SSE2
        | F::MULTIBYTENOP
        | F::PAUSE
        | F::CET_IBT => true,
        F::SSE3 => has!("sse3"),
        F::SSSE3 => has!("ssse3"),
        F::SSE4_1 => has!("sse4.1"),
        F::SSE4_2 => has!("sse4.2"),
        F::POPCNT => has!("popcnt"),
        F::LZCNT => has!("lzcnt"),
        F::BMI1 => has!("bmi1"),
        F::BMI2 => has!("bmi2"),
        F::ADX => has!("adx"),
        F::MOVBE => has!("movbe"),
        F::AVX => has!("avx"),
        F::AVX2 => has!("avx2"),
        F::FMA => has!("fma"),
        F::PCLMULQDQ => has!("pclmulqdq"),
        F::AVX_VNNI => has!("avxvnni"),
        F::AVX512F => has!("avx512f"),
        F::AVX512VL => has!("avx512vl"),
        F::AVX512BW => has!("avx512bw"),
        F::AVX512DQ => has!("avx512dq"),
        F::AVX512CD => has!("avx512cd"),
        F::AVX512_VNNI => has!("avx512vnni"),
        F::AVX512_VBMI => has!("avx512vbmi"),
        F::AVX512_VBMI2 => has!("avx512vbmi2"),
        F::AVX512_BITALG => has!("avx512bitalg"),
        F::AVX512_VPOPCNTDQ => has!("avx512vpopcntdq"),
        _ => false,
    }
}
