//! Weakly ordered stores: which instructions make them, and which order them.
//!
//! Another thread that sees a flag stored after the call must see what the call stored. Ordinary stores are in order;
//! non-temporal ones, and those of `clzero`, are not until a fence. A call that is stopped after each instruction shows
//! what it executes; this reads so much of an instruction as is needed, in a signal handler, where no decoder may
//! allocate.

/// The effect of an instruction on the order of stores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Effect {
    None,
    /// It may make weakly ordered stores.
    Weak,
    /// All stores before it are visible before all after it.
    Fence,
}

/// The effect of the instruction whose bytes `next` returns, one after the other; it is called only for bytes that belong
/// to the instruction.
pub(super) fn effect(mut next: impl FnMut() -> u8) -> Effect {
    const LOCK: u8 = 0xf0;
    const OPERAND_SIZE: u8 = 0x66;
    let (mut repeated, mut sized) = (false, false);
    let opcode = loop {
        match next() {
            LOCK => return Effect::Fence,
            OPERAND_SIZE => sized = true,
            0xf2 | 0xf3 => repeated = true,
            // Segments, the address size, and REX.
            0x26 | 0x2e | 0x36 | 0x3e | 0x64 | 0x65 | 0x67 | 0x40..=0x4f => {}
            opcode => break opcode,
        }
    };
    let in_memory = |mode: u8| mode >> 6 != 3;
    // The instructions that VEX and EVEX prefixes have in the map that begins with 0f.
    let wide = |opcode: u8| if matches!(opcode, 0x2b | 0xe7 | 0xf7) { Effect::Weak } else { Effect::None };
    match opcode {
        // An exchange with memory is locked.
        0x86 | 0x87 if in_memory(next()) => Effect::Fence,
        0xc5 => {
            let _ = next();
            wide(next())
        }
        0xc4 => {
            let map = next() & 0x1f;
            let _ = next();
            if map == 1 { wide(next()) } else { Effect::None }
        }
        0x62 => {
            let map = next() & 7;
            let _ = (next(), next());
            if map == 1 { wide(next()) } else { Effect::None }
        }
        0x0f => match next() {
            // clzero, serialize.
            0x01 => match next() {
                0xfc => Effect::Weak,
                0xe8 if !repeated && !sized => Effect::Fence,
                _ => Effect::None,
            },
            // movntps and movntpd, movnti, movntq and movntdq, maskmovq and maskmovdqu.
            0x2b | 0xc3 | 0xe7 | 0xf7 => Effect::Weak,
            // movdir64b, movdiri.
            0x38 => match next() {
                0xf8 if sized => Effect::Weak,
                0xf9 if !repeated => Effect::Weak,
                _ => Effect::None,
            },
            // sfence, mfence.
            0xae => match next() {
                0xf0..=0xff if !repeated && !sized => Effect::Fence,
                _ => Effect::None,
            },
            // cpuid.
            0xa2 => Effect::Fence,
            _ => Effect::None,
        },
        _ => Effect::None,
    }
}

/// The number of further single steps if a window ends after a weakly ordered store in the last page that a call reaches:
/// enough for sixteen bytes at a time to the end of the page.
const STEPS_TO_A_FENCE: u32 = 2500;

/// What the single steps of a call have shown.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Order {
    /// A weakly ordered store was executed, and no fence since; false if not all instructions since were seen.
    weak: bool,
    unfenced: bool,
    /// The number of single steps left beyond those of the plan.
    left: u32,
}

impl Order {
    /// Notes the effect of the instruction at `at`.
    ///
    /// # Safety
    /// The processor is about to execute it, so that its bytes are readable.
    pub unsafe fn follow(&mut self, at: usize) {
        let mut at = std::ptr::with_exposed_provenance::<u8>(at);
        let next = || {
            // SAFETY: `effect` reads only bytes of the instruction, which is readable, by contract.
            let byte = unsafe { at.read() };
            at = at.wrapping_add(1);
            byte
        };
        match effect(next) {
            Effect::None => {}
            Effect::Weak => self.weak = true,
            Effect::Fence => self.weak = false,
        }
    }

    /// The call has reached a page, which is the last or not.
    pub fn is_last_page(&mut self, is_last: bool) {
        self.left = if is_last { STEPS_TO_A_FENCE } else { 0 };
    }

    /// Whether single steps go on although the plan has none left.
    pub fn stays(&mut self) -> bool {
        self.weak &= self.left > 0;
        self.left = self.left.saturating_sub(1);
        self.weak
    }

    /// The call has returned, by a single step.
    pub fn returns(&mut self) {
        self.unfenced |= self.weak;
        self.weak = false;
    }

    /// Whether the call returned after a weakly ordered store without a fence.
    pub fn unfenced(self) -> bool {
        self.unfenced
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weak_stores_and_fences_are_told_from_other_instructions() {
        let weak: [&[u8]; 10] = [
            // movntdq [rdi], xmm0; movntdq [r8], xmm9; movntps [rdi], xmm0; movntpd [rdi], xmm0; movnti [rdi], rax
            &[0x66, 0x0f, 0xe7, 0x07],
            &[0x66, 0x45, 0x0f, 0xe7, 0x08],
            &[0x0f, 0x2b, 0x07],
            &[0x66, 0x0f, 0x2b, 0x07],
            &[0x48, 0x0f, 0xc3, 0x07],
            // maskmovdqu xmm0, xmm1; clzero; vmovntdq [rdi], ymm0; vmovntdq [r8], ymm0; vmovntdq [rdi], zmm0
            &[0x66, 0x0f, 0xf7, 0xc1],
            &[0x0f, 0x01, 0xfc],
            &[0xc5, 0xfd, 0xe7, 0x07],
            &[0xc4, 0xc1, 0x7d, 0xe7, 0x00],
            &[0x62, 0xf1, 0x7d, 0x48, 0xe7, 0x07],
        ];
        let fences: [&[u8]; 5] = [
            // sfence; mfence; lock or qword ptr [rsp], 0; xchg [rdi], rax; cpuid
            &[0x0f, 0xae, 0xf8],
            &[0x0f, 0xae, 0xf0],
            &[0xf0, 0x48, 0x83, 0x0c, 0x24, 0x00],
            &[0x48, 0x87, 0x07],
            &[0x0f, 0xa2],
        ];
        let others: [&[u8]; 10] = [
            // movdqu [rdi], xmm0; vmovdqu [rdi], ymm0; vmovdqu64 [rdi], zmm0; rep stosb; xchg rax, rbx; ret
            &[0xf3, 0x0f, 0x7f, 0x07],
            &[0xc5, 0xfe, 0x7f, 0x07],
            &[0x62, 0xf1, 0xfe, 0x48, 0x7f, 0x07],
            &[0xf3, 0xaa],
            &[0x48, 0x87, 0xd8],
            &[0xc3],
            // stmxcsr [rdi]; vzeroupper; pshufb xmm0, xmm1; vpmovsxbw ymm0, xmm1, in another map
            &[0x0f, 0xae, 0x1f],
            &[0xc5, 0xf8, 0x77],
            &[0x66, 0x0f, 0x38, 0x00, 0xc1],
            &[0xc4, 0xe2, 0x7d, 0x20, 0xc1],
        ];
        let all = weak.map(|code| (code, Effect::Weak)).into_iter();
        let all = all.chain(fences.map(|code| (code, Effect::Fence)));
        for (code, right) in all.chain(others.map(|code| (code, Effect::None))) {
            let mut bytes = code.iter();
            let got = effect(|| *bytes.next().expect("no byte behind the instruction is read"));
            assert_eq!(got, right, "{code:02x?}");
        }
    }
}
