//! Sets, queries, saves and restores register state.

use carryline_engine::probe::Impossible;
use carryline_machine::clock;
use core::arch::asm;
use core::arch::x86_64::__cpuid_count;

/// The components used here: x87, vector and mask registers.
pub(super) const TOUCHED: u64 = 0b1110_0111;
const YMM: u64 = 1 << 2;
const ZMM: u64 = 0b1110_0000;

/// The XSAVE features of the CPU and the system.
#[derive(Clone, Copy, Debug)]
pub(super) struct Offered {
    /// The enabled components among [`TOUCHED`].
    pub components: u64,
    /// Bytes of a save area.
    pub area_bytes: usize,
    /// Whether there is `XSAVEOPT`.
    pub xsaveopt: bool,
    /// Whether there is `XSAVEC`.
    pub xsavec: bool,
    /// Whether user mode can query the components in use.
    pub in_use: bool,
}

impl Offered {
    /// Detects the features.
    pub(super) fn look() -> Result<Offered, Impossible> {
        if !std::arch::is_x86_feature_detected!("xsave") {
            return Err(Impossible("the CPU or the system has no XSAVE".to_owned()));
        }
        let (low, high): (u32, u32);
        // SAFETY: the CPU has XSAVE and the system has enabled it; register 0 always exists.
        unsafe {
            asm!("xgetbv", in("ecx") 0, out("eax") low, out("edx") high, options(nomem, nostack, preserves_flags));
        }
        // SAFETY: a CPU with XSAVE has this leaf. In some toolchains the call is already safe.
        #[allow(unused_unsafe, reason = "depends on the toolchain")]
        let (sizes, more) = unsafe { (__cpuid_count(0xd, 0), __cpuid_count(0xd, 1)) };
        Ok(Offered {
            components: (u64::from(high) << 32 | u64::from(low)) & TOUCHED,
            area_bytes: sizes.ecx as usize,
            xsaveopt: more.eax & 1 != 0,
            xsavec: more.eax & 2 != 0,
            in_use: more.eax & 4 != 0,
        })
    }

    /// Checks that the registers that a state writes exist.
    pub(super) fn has(&self, state: &str) -> Result<(), String> {
        let needed = match state {
            "ymm" => YMM,
            _ if state.starts_with("zmm") => YMM | ZMM,
            _ => 0,
        };
        if self.components & needed == needed {
            Ok(())
        } else {
            Err(format!("this CPU or system has no {} registers", &state[..3]))
        }
    }
}

/// A save area, aligned as the instructions require, with a valid header.
#[derive(Debug)]
pub(super) struct Area {
    words: Vec<u64>,
    skip: usize,
}

impl Area {
    /// An area from which `XRSTOR` loads the initial state: all zero except for the control words.
    pub(super) fn initial(bytes: usize) -> Area {
        let words = vec![0_u64; bytes.max(576) / 8 + 16];
        let skip = (words.as_ptr().addr().wrapping_neg() % 64) / 8;
        let mut area = Area { words, skip };
        // MXCSR is loaded even if the rest is initial; x87 exceptions are masked.
        area.words[area.skip] = 0x037f;
        area.words[area.skip + 3] = 0x1f80;
        area
    }

    fn start(&mut self) -> *mut u8 {
        self.words[self.skip..].as_mut_ptr().cast()
    }
}

/// Sets every register of the components to its initial state, then writes those of the state.
///
/// # Safety
/// `initial` comes from [`Area::initial`], the components are enabled, and [`Offered::has`] the state.
#[inline(always)]
pub(super) unsafe fn set(state: usize, initial: &mut Area, components: u64) {
    let area = initial.start();
    macro_rules! set {
        ($($line:literal),*) => {
            // SAFETY: the area is aligned and its header valid; every register that changes is declared as
            // clobbered, and the x87 stack is empty afterwards.
            unsafe {
                asm!(
                    "xrstor64 [{area}]",
                    $($line,)*
                    area = in(reg) area,
                    inout("eax") components as u32 => _,
                    inout("edx") (components >> 32) as u32 => _,
                    clobber_abi("sysv64"),
                )
            }
        };
    }
    match super::STATES[state] {
        "x87" => set!("fld1", "fstp st(0)"),
        "xmm" => set!(
            "pcmpeqd xmm0, xmm0",
            ".irp n, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15",
            "movdqa xmm\\n, xmm0",
            ".endr"
        ),
        "ymm" => set!(
            "vpcmpeqd xmm0, xmm0, xmm0",
            "vinsertf128 ymm0, ymm0, xmm0, 1",
            ".irp n, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15",
            "vmovaps ymm\\n, ymm0",
            ".endr"
        ),
        "zmm" => set!(
            "vpternlogd zmm0, zmm0, zmm0, 255",
            ".irp n, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31",
            "vmovdqa64 zmm\\n, zmm0",
            ".endr",
            ".irp n, 1, 2, 3, 4, 5, 6, 7",
            "kxnorw k\\n, k\\n, k\\n",
            ".endr"
        ),
        "zmm, then vzeroupper" => set!(
            "vpternlogd zmm0, zmm0, zmm0, 255",
            ".irp n, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15",
            "vmovdqa64 zmm\\n, zmm0",
            ".endr",
            "vzeroupper"
        ),
        _ => set!(),
    }
}

/// The components in use. Call it right after [`set`]: it is inlined and uses no vector registers.
///
/// # Safety
/// [`Offered::in_use`] must hold.
#[inline(always)]
pub(super) unsafe fn in_use() -> u64 {
    let (low, high): (u32, u32);
    // SAFETY: by the caller's contract `Offered::in_use` holds, so XGETBV accepts ECX = 1.
    unsafe {
        asm!("xgetbv", in("ecx") 1, out("eax") low, out("edx") high, options(nomem, nostack, preserves_flags));
    }
    u64::from(high) << 32 | u64::from(low)
}

/// Ticks of `count` executions of an instruction, given by its index in `INSTRUCTIONS`, on these components;
/// the registers hold what the caller has just set.
///
/// # Safety
/// The CPU has the instruction, the components are enabled, and the area has room for them. Restoring needs
/// an area into which the present contents of the registers were saved, or an initial one.
#[inline(always)]
pub(super) unsafe fn repeat(instruction: usize, area: &mut Area, components: u64, count: u32) -> u64 {
    let start = area.start();
    macro_rules! repeat {
        ($line:literal) => {
            // SAFETY: by the caller's contract the CPU has the instruction, the components are enabled, the
            // area has room for them, and what is restored was saved there; every register that changes is
            // declared as clobbered.
            unsafe {
                asm!(
                    "2:",
                    $line,
                    "dec ecx",
                    "jnz 2b",
                    area = in(reg) start,
                    inout("ecx") count => _,
                    inout("eax") components as u32 => _,
                    inout("edx") (components >> 32) as u32 => _,
                    clobber_abi("sysv64"),
                )
            }
        };
    }
    let begin = clock::start();
    match super::INSTRUCTIONS[instruction] {
        "XSAVE" => repeat!("xsave64 [{area}]"),
        "XSAVEOPT" => repeat!("xsaveopt64 [{area}]"),
        "XSAVEC" => repeat!("xsavec64 [{area}]"),
        _ => repeat!("xrstor64 [{area}]"),
    }
    clock::stop().wrapping_sub(begin)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The components in use in each state that this machine has.
    fn used(offered: &Offered) -> Vec<(&'static str, u64)> {
        let mut initial = Area::initial(offered.area_bytes);
        let known =
            (0..super::super::STATES.len()).filter(|at| offered.has(super::super::STATES[*at]).is_ok());
        known
            .map(|state| {
                // SAFETY: the machine has the state, and `Offered::in_use` holds.
                let bits = unsafe {
                    set(state, &mut initial, offered.components);
                    in_use()
                };
                (super::super::STATES[state], bits & TOUCHED)
            })
            .collect()
    }

    #[test]
    fn dirty_states_are_in_use_and_the_clean_one_is_not() {
        let offered = match Offered::look() {
            Ok(offered) if offered.in_use => offered,
            // The CPU does not report what is in use.
            _ => return,
        };
        for (state, bits) in used(&offered) {
            match state {
                "ymm" => assert_ne!(bits & YMM, 0, "{state}: {bits:#b}"),
                "zmm" => assert_eq!(bits & (YMM | ZMM), YMM | ZMM, "{state}: {bits:#b}"),
                "clean" | "clean again" | "xmm" => {
                    assert_eq!(bits & (YMM | ZMM), 0, "{state}: {bits:#b}");
                }
                _ => {}
            }
        }
    }

    #[test]
    fn a_saved_dirty_state_is_restored() {
        let Ok(offered) = Offered::look() else { return };
        let mut initial = Area::initial(offered.area_bytes);
        let mut saved = Area::initial(offered.area_bytes);
        let last: u64;
        // SAFETY: every x86-64 CPU has xmm registers; the area is saved just before it is restored.
        unsafe {
            set(3, &mut initial, offered.components);
            repeat(0, &mut saved, offered.components, 1);
            set(0, &mut initial, offered.components);
            repeat(3, &mut saved, offered.components, 1);
            asm!("movq {last}, xmm15", last = out(reg) last, options(nomem, nostack, preserves_flags));
        }
        assert_eq!(last, u64::MAX);
    }
}
