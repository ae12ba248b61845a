//! The call itself on x86-64: registers are filled with garbage before and checked after, and a crash has an
//! exit.
//!
//! A compiled call hides a routine's effects on the state around it: the compiler keeps nothing in most
//! callee-saved registers, and vector registers happen to be zero where a routine merely assumes it. This
//! call
//!
//! - fills the vector and mask registers, the scratch registers, the upper halves of 32-bit arguments and the
//!   flags with garbage, as the calling convention allows;
//! - puts sentinels into rbx, rbp and r12 to r15, and copies of one value on the stack above the return
//!   address;
//! - afterwards stores their values, with the direction flag, MXCSR and the x87 state, and restores all of
//!   them, so that verification can continue;
//! - has an exit that a signal handler can jump to (`carryline_proof_recover`), with the frame in rcx and the
//!   saved stack pointer.

use std::mem::offset_of;

/// Load garbage into zmm0 to zmm31 and k0 to k7.
pub(super) const MODE_ZMM: u64 = 1;
/// Load garbage into ymm0 to ymm15.
pub(super) const MODE_YMM: u64 = 2;
/// Begin with clean upper halves of the vector registers; their lower halves are garbage.
pub(super) const MODE_CLEAN_UPPER: u64 = 4;
/// Store the upper halves and the whole x87 environment after the call (slow).
pub(super) const MODE_OBSERVE: u64 = 8;
/// Set the trap flag: the processor stops after every instruction.
pub(super) const MODE_STEP: u64 = 16;
/// Execute `vzeroupper` after the call.
pub(super) const MODE_AVX: u64 = 32;

/// The number of copies of the frame's address above the return address; odd, so that the stack stays
/// aligned.
pub(super) const STACK_COPIES: usize = 17;

/// The inputs and outputs of a call.
#[repr(C, align(64))]
#[derive(Debug)]
pub(super) struct Frame {
    pub target: usize,
    pub arguments: [u64; 4],
    pub mode: u64,
    /// The value of rax at the call, whose second byte becomes the flags; also of r8 to r11 and unused
    /// arguments.
    pub scratch: u64,
    pub garbage: *const u8,
    /// rbx, rbp, r13, r14, r15. The sentinel in r12 is the frame's address.
    pub sentinels: [u64; 5],
    pub saved_stack: u64,

    pub result: u64,
    pub after: [u64; 5],
    pub after_r12: u64,
    pub after_stack: u64,
    pub after_flags: u64,
    /// Zero if the copies above the return address are intact.
    pub stack_damage: u64,
    /// 1 if the call ended in a signal handler.
    pub recovered: u64,
    pub mxcsr_before: u32,
    pub mxcsr_after: u32,
    pub control_before: u16,
    pub control_after: u16,
    /// The x87 status word after `fxam`: whether the top of the stack is empty, and which register it is.
    pub x87_after: u16,
    pub environment: [u16; 14],
    pub upper: [u64; 2],

    /// The crash that the signal handler saw, if `recovered`.
    pub fault: Fault,
}

/// A crash inside a routine, as seen by its signal handler.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Fault {
    /// `SIGSEGV` etc.
    pub signal: i32,
    /// False if the processor does not report the address, as for a non-canonical address or an unaligned
    /// access of a vector instruction that requires alignment.
    pub has_address: bool,
    /// Whether the access was a write.
    pub write: bool,
    /// The inaccessible address.
    pub address: usize,
    /// The stack pointer at that moment.
    pub stack: usize,
}

unsafe extern "C" {
    /// Makes the call that `frame` describes.
    pub(super) fn carryline_proof_call(frame: *mut Frame);
    /// The address that the routine returns to; the code from here to the end is not the routine's.
    pub(super) static carryline_proof_after: u8;
    /// The address to which a handler sends a call that crashed.
    pub(super) static carryline_proof_recover: u8;
    /// The first byte after the code.
    pub(super) static carryline_proof_end: u8;
}

std::arch::global_asm!(
    ".pushsection .text.carryline_proof,\"ax\",@progbits",
    ".balign 64",
    ".globl carryline_proof_call, carryline_proof_after, carryline_proof_recover, carryline_proof_end",
    ".hidden carryline_proof_call, carryline_proof_after, carryline_proof_recover, carryline_proof_end",
    ".type carryline_proof_call,@function",
    "carryline_proof_call:",
    "push rbp",
    "push rbx",
    "push r12",
    "push r13",
    "push r14",
    "push r15",
    "mov r12, rdi",
    ".rept {copies}",
    "push rdi",
    ".endr",
    "mov [r12 + {saved_stack}], rsp",
    "stmxcsr [r12 + {mxcsr_before}]",
    "fnstcw [r12 + {control_before}]",
    "mov rdx, [r12 + {garbage}]",
    "mov rax, [r12 + {mode}]",
    "test eax, {zmm}",
    "jz 2f",
    ".set n, 0",
    ".irp r, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31",
    "vmovdqu64 zmm\\r, [rdx + n]",
    ".set n, n + 64",
    ".endr",
    ".irp r, 0,1,2,3,4,5,6,7",
    "kmovw k\\r, [rdx + 8 * \\r]",
    ".endr",
    "jmp 4f",
    "2:",
    "test eax, {ymm}",
    "jz 3f",
    ".set n, 0",
    ".irp r, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15",
    "vmovdqu ymm\\r, [rdx + n]",
    ".set n, n + 64",
    ".endr",
    "jmp 4f",
    "3:",
    ".set n, 0",
    ".irp r, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15",
    "movups xmm\\r, [rdx + n]",
    ".set n, n + 64",
    ".endr",
    "4:",
    "test eax, {clean_upper}",
    "jz 5f",
    "vzeroupper",
    "5:",
    "mov rbx, [r12 + {sentinels}]",
    "mov rbp, [r12 + {sentinels} + 8]",
    "mov r13, [r12 + {sentinels} + 16]",
    "mov r14, [r12 + {sentinels} + 24]",
    "mov r15, [r12 + {sentinels} + 32]",
    "mov rdi, [r12 + {arguments}]",
    "mov rsi, [r12 + {arguments} + 8]",
    "mov rdx, [r12 + {arguments} + 16]",
    "mov rcx, [r12 + {arguments} + 24]",
    "mov r8, [r12 + {scratch}]",
    "mov r9, r8",
    "not r9",
    "mov r10, r8",
    "mov r11, r9",
    "test eax, {step}",
    "mov rax, r8",
    "jz 6f",
    "pushfq",
    "or qword ptr [rsp], 0x100",
    "popfq",
    "jmp 7f",
    "6:",
    // The addition sets OF if al is 40 to bf, and sahf preserves OF; it takes CF, PF, AF, ZF and SF from ah.
    "add al, al",
    "sahf",
    "7:",
    "call [r12 + {target}]",
    "carryline_proof_after:",
    "pushfq",
    "cld",
    // A copy in the middle: a routine for another convention would overwrite the first few, and one that pops
    // too much has moved the stack pointer past them.
    "mov rcx, [rsp + 8 + 64]",
    "pop qword ptr [rcx + {after_flags}]",
    "mov [rcx + {result}], rax",
    "mov [rcx + {after_stack}], rsp",
    "mov [rcx + {after}], rbx",
    "mov [rcx + {after} + 8], rbp",
    "mov [rcx + {after} + 16], r13",
    "mov [rcx + {after} + 24], r14",
    "mov [rcx + {after} + 32], r15",
    "mov [rcx + {after_r12}], r12",
    "mov rsp, [rcx + {saved_stack}]",
    "xor edx, edx",
    ".set n, 0",
    ".rept {copies}",
    "mov rax, [rsp + n]",
    "xor rax, rcx",
    "or rdx, rax",
    ".set n, n + 8",
    ".endr",
    "mov [rcx + {stack_damage}], rdx",
    "stmxcsr [rcx + {mxcsr_after}]",
    "fnstcw [rcx + {control_after}]",
    "fxam",
    "fnstsw ax",
    "mov [rcx + {x87_after}], ax",
    "mov rax, [rcx + {mode}]",
    "test eax, {observe}",
    "jz 8f",
    "fnstenv [rcx + {environment}]",
    "fldenv [rcx + {environment}]",
    "test eax, {avx}",
    "jz 8f",
    ".irp r, 1,2,3,4,5,6,7,8,9,10,11,12,13,14,15",
    "vorps ymm0, ymm0, ymm\\r",
    ".endr",
    "vextractf128 xmm0, ymm0, 1",
    "vmovups [rcx + {upper}], xmm0",
    "8:",
    "test eax, {avx}",
    "jz 9f",
    "vzeroupper",
    "9:",
    "ldmxcsr [rcx + {mxcsr_before}]",
    "add rsp, {copies} * 8",
    "pop r15",
    "pop r14",
    "pop r13",
    "pop r12",
    "pop rbx",
    "pop rbp",
    "ret",
    "carryline_proof_recover:",
    "mov qword ptr [rcx + {recovered}], 1",
    "fninit",
    "fldcw [rcx + {control_before}]",
    "mov rax, [rcx + {mode}]",
    "jmp 8b",
    "carryline_proof_end:",
    ".size carryline_proof_call, . - carryline_proof_call",
    ".popsection",
    copies = const STACK_COPIES,
    zmm = const MODE_ZMM,
    ymm = const MODE_YMM,
    clean_upper = const MODE_CLEAN_UPPER,
    observe = const MODE_OBSERVE,
    step = const MODE_STEP,
    avx = const MODE_AVX,
    target = const offset_of!(Frame, target),
    arguments = const offset_of!(Frame, arguments),
    mode = const offset_of!(Frame, mode),
    scratch = const offset_of!(Frame, scratch),
    garbage = const offset_of!(Frame, garbage),
    sentinels = const offset_of!(Frame, sentinels),
    saved_stack = const offset_of!(Frame, saved_stack),
    result = const offset_of!(Frame, result),
    after = const offset_of!(Frame, after),
    after_r12 = const offset_of!(Frame, after_r12),
    after_stack = const offset_of!(Frame, after_stack),
    after_flags = const offset_of!(Frame, after_flags),
    stack_damage = const offset_of!(Frame, stack_damage),
    recovered = const offset_of!(Frame, recovered),
    mxcsr_before = const offset_of!(Frame, mxcsr_before),
    mxcsr_after = const offset_of!(Frame, mxcsr_after),
    control_before = const offset_of!(Frame, control_before),
    control_after = const offset_of!(Frame, control_after),
    x87_after = const offset_of!(Frame, x87_after),
    environment = const offset_of!(Frame, environment),
    upper = const offset_of!(Frame, upper),
);

/// Empties the x87 registers and resets the control word, after a routine that did not.
pub(super) fn clean_x87() {
    // SAFETY: the state that the calling convention prescribes at every call; nothing else changes.
    unsafe { std::arch::asm!("fninit", options(nostack)) };
}
