//! Internals for this project's laboratory, interposer and fuzzer. They are not part of the interface and may
//! change in any version.

/// CPU features and models.
pub mod cpu {
    pub use crate::cpu::{
        Features, Model, UnknownFeature, features, mask, mask_from_environment, parse_mask,
    };
}

/// Kernel dispatch.
pub mod dispatch {
    pub use crate::dispatch::{
        ChecksumFn, Choice, CopyAndSumFn, CopyCode, CopyFn, Function, Kernel, PlannedCopyFn, PlannedZeroFn,
        Routines, ZeroCode, ZeroFn, ZeroIfDirtyFn, best, chosen, kernels, routines,
    };
}

/// The lists of kernels, best first.
pub mod kernels {
    pub use crate::checksum::kernels::{COPY_AND_SUM_KERNELS as COPY_AND_SUM, KERNELS as CHECKSUM};
    pub use crate::copy::kernels::KERNELS as COPY;
    pub use crate::set::{KERNELS as SET, SetFn};
    pub use crate::zero::kernels::KERNELS as ZERO;
    /// The kernels in assembly of overlapping copies and zeroing, returning `dst` as `memmove` and `memset` do.
    #[cfg(all(
        target_arch = "x86_64",
        target_feature = "sse2",
        any(target_os = "linux", target_os = "none")
    ))]
    pub mod returning {
        /// The kernels `avx2`.
        pub mod avx2 {
            pub use crate::copy::avx2_assembly::overlapping_returning as overlapping;
            pub use crate::zero::avx2_assembly::zero_returning as zero;
        }
        /// The kernels `avx512_branched`.
        pub mod avx512_branched {
            pub use crate::copy::avx512_assembly::overlapping_returning as overlapping;
            pub use crate::zero::avx512_assembly::zero_returning as zero;
        }
        /// The kernels `avx512_prefer_256`.
        pub mod avx512_prefer_256 {
            pub use crate::copy::avx512_prefer_256_assembly::overlapping_returning as overlapping;
            pub use crate::zero::avx512_prefer_256_assembly::zero_returning as zero;
        }
        /// The kernel `sse2`, whose copies are not in assembly.
        pub mod sse2 {
            pub use crate::zero::sse2_assembly::zero_returning as zero;
        }
    }
}

/// Resolved intents.
pub mod plan {
    pub use crate::intent::{LOOPS_BELOW_BYTES, NEAR_STRINGS_BELOW_BYTES, Plan, Way};
}

/// Decisions that depend on the CPU's model.
pub mod tuning {
    pub use crate::profile::{
        DETECTED, Decision, Decisions, Models, NAME_MOST_BYTES, NEVER, ParseError, Profile, VERSION,
        built_in, built_in_for, built_in_names, parse,
    };
    pub use crate::tuning::active::{detected_here, fill};
    pub use crate::tuning::checked::{MOST_FILE_BYTES, apply_built_in, apply_bytes, read, text_of};
}
