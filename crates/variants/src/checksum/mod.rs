//! checksum: contract and list.

use crate::Variant;

pub mod carryline;
pub mod reference;

/// The family's variants.
pub static VARIANTS: &[&Variant] = &[&reference::VARIANT, &carryline::VARIANT];
