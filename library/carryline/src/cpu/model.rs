//! The CPU's model, from CPUID.
//!
//! A hypervisor may report the number of an older model, so that a guest can move between hosts. Where the features that it
//! leaves visible exist on newer models only, [`Model::here`] is the oldest of those.

use core::fmt;

/// A CPU's model: `vendor_id`, `cpu family` and `model` in `/proc/cpuinfo`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Model {
    /// The vendor's identification string of 12 characters, like `AuthenticAMD`.
    pub vendor: [u8; 12],
    /// The family, including the extended family.
    pub family: u32,
    /// The model within the family, including the extended model.
    pub model: u32,
}

impl Model {
    /// The model of this CPU; `None` without CPUID. It differs from [`Model::reported`] if that cannot be true.
    ///
    /// ```
    /// use carryline::internals::cpu::Model;
    /// if let Some(here) = Model::here() {
    ///     assert!(here.vendor.is_ascii());
    /// }
    /// ```
    #[must_use]
    pub fn here() -> Option<Model> {
        #[cfg(all(target_arch = "x86_64", not(miri)))]
        {
            Some(Model::reported()?.with_avx10(super::x86_64::has_avx10()))
        }
        #[cfg(not(all(target_arch = "x86_64", not(miri))))]
        {
            None
        }
    }

    /// The model that CPUID reports; `None` without CPUID.
    #[must_use]
    pub fn reported() -> Option<Model> {
        #[cfg(all(target_arch = "x86_64", not(miri)))]
        {
            Some(super::x86_64::model())
        }
        #[cfg(not(all(target_arch = "x86_64", not(miri))))]
        {
            None
        }
    }

    /// The model, with what AVX10 tells: the first CPU with it was Granite Rapids (Intel SDM, volume 1, chapter 16), and in
    /// its family no lower number has it.
    #[cfg_attr(not(target_arch = "x86_64"), allow(dead_code, reason = "no other CPU has AVX10"))]
    fn with_avx10(self, has_avx10: bool) -> Model {
        const GRANITE_RAPIDS: u32 = 0xad;
        match self {
            Model { vendor, family: 6, model } if has_avx10 && &vendor == b"GenuineIntel" => {
                Model { model: model.max(GRANITE_RAPIDS), ..self }
            }
            _ => self,
        }
    }

    /// Decodes the registers of leaf 0 (EBX, ECX, EDX) and leaf 1 (EAX).
    #[cfg_attr(not(target_arch = "x86_64"), allow(dead_code, reason = "no other CPU has CPUID"))]
    pub(crate) fn decode([ebx, ecx, edx]: [u32; 3], leaf1_eax: u32) -> Model {
        // Byte by byte: the first call of a kernel gets here, and must not call `memcpy`.
        let registers = [ebx, edx, ecx].map(u32::to_le_bytes);
        let vendor = core::array::from_fn(|at| registers[at / 4][at % 4]);
        let (base, extended) = (leaf1_eax >> 8 & 0xf, leaf1_eax >> 20 & 0xff);
        let family = if base == 0xf { base + extended } else { base };
        let model = (leaf1_eax >> 4 & 0xf) | if base >= 6 { leaf1_eax >> 12 & 0xf0 } else { 0 };
        Model { vendor, family, model }
    }
}

/// `AuthenticAMD family 26 model 2`.
impl fmt::Display for Model {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} family {} model {}", self.vendor.escape_ascii(), self.family, self.model)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn registers_decode_as_in_the_manuals() {
        let amd = [0x6874_7541, 0x444d_4163, 0x6974_6e65];
        let intel = [0x756e_6547, 0x6c65_746e, 0x4965_6e69];
        let decoded = |registers, leaf1_eax| Model::decode(registers, leaf1_eax).to_string();
        assert_eq!(decoded(amd, 0x00b0_0f21), "AuthenticAMD family 26 model 2");
        assert_eq!(decoded(amd, 0x00a0_0f11), "AuthenticAMD family 25 model 1");
        assert_eq!(decoded(intel, 0x0008_06f8), "GenuineIntel family 6 model 143");
        assert_eq!(decoded(intel, 0x0000_0f29), "GenuineIntel family 15 model 2");
        assert_eq!(Model::decode([0; 3], 0), Model { vendor: [0; 12], family: 0, model: 0 });
    }

    #[test]
    fn an_older_number_with_avx10_is_a_granite_rapids() {
        let intel = |family, model| Model { vendor: *b"GenuineIntel", family, model };
        // Rocket Lake, whose number a virtual machine on a Granite Rapids reported, and Sapphire Rapids.
        for reported in [intel(6, 0xa7), intel(6, 0x8f)] {
            assert_eq!(reported.with_avx10(true), intel(6, 0xad));
            assert_eq!(reported.with_avx10(false), reported);
        }
        let amd = Model { vendor: *b"AuthenticAMD", ..intel(6, 0xa7) };
        for true_model in [intel(6, 0xad), intel(6, 0xae), intel(19, 1), amd] {
            assert_eq!(true_model.with_avx10(true), true_model);
        }
        assert_eq!(Model::here().map(|here| here.vendor), Model::reported().map(|reported| reported.vendor));
    }
}
