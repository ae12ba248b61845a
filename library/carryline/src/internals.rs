//! Internals for this project's own laboratory, interposer and fuzzer. Not part of the interface: they may change in
//! any version.

/// What the CPU can do.
pub mod cpu {
    pub use crate::cpu::{
        Features, LOOPS_BELOW_BYTES, Profile, UnknownFeature, features, mask, mask_from_environment,
        parse_mask, profile,
    };
}

/// Which kernel runs.
pub mod dispatch {
    pub use crate::dispatch::{
        ChecksumFn, Choice, CopyAndSumFn, CopyCode, CopyFn, Function, Kernel, PlannedCopyFn, PlannedZeroFn,
        ZeroCode, ZeroFn, ZeroIfDirtyFn, best, chosen, kernels,
    };
}

/// The lists of kernels, the best first.
pub mod kernels {
    pub use crate::checksum::kernels::{COPY_AND_SUM_KERNELS as COPY_AND_SUM, KERNELS as CHECKSUM};
    pub use crate::copy::kernels::KERNELS as COPY;
    pub use crate::set::{KERNELS as SET, SetFn};
    pub use crate::zero::kernels::KERNELS as ZERO;
}

/// What an intent comes to.
pub mod plan {
    pub use crate::intent::{Plan, Way};
}
