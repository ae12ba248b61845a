//! The exits of kernels, and how others see them: every non-temporal store must be fenced, and the upper halves of the vector
//! registers clean.
//!
//! The machine code of each kernel's entry points is followed along every path, through jumps and calls,
//! tracking the state that an exit would leave behind. Only an unfenced entry point may leave stores
//! unfenced.

#![cfg(all(target_arch = "x86_64", target_os = "linux"))]

use carryline::internals::kernels;
use iced_x86::{
    Code, Decoder, DecoderOptions, FlowControl, Instruction, InstructionInfoFactory, Mnemonic, OpAccess,
};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::OnceLock;

/// The state that the instructions so far leave behind.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
struct State {
    /// A weakly ordered store not followed by `sfence`.
    unfenced: bool,
    /// A write to the upper half of one of the first sixteen vector registers, not followed by `vzeroupper`.
    dirty: bool,
}

/// The exits of an entry point, and the instructions that it can reach.
#[derive(Default)]
struct Followed {
    exits: BTreeSet<State>,
    mnemonics: BTreeSet<Mnemonic>,
    addresses: BTreeSet<usize>,
}

fn decode(address: usize) -> Instruction {
    const LONGEST_BYTES: usize = 15;
    // SAFETY: code of this program, which is readable and does not change; other code follows every kernel.
    let bytes =
        unsafe { std::slice::from_raw_parts(std::ptr::with_exposed_provenance(address), LONGEST_BYTES) };
    let instruction = Decoder::with_ip(64, bytes, address as u64, DecoderOptions::NONE).decode();
    assert!(!instruction.is_invalid(), "no instruction at {address:#x}");
    instruction
}

fn is_weak_store(instruction: &Instruction) -> bool {
    use Mnemonic as M;
    matches!(
        instruction.mnemonic(),
        M::Movntdq
            | M::Vmovntdq
            | M::Movntps
            | M::Vmovntps
            | M::Movntpd
            | M::Vmovntpd
            | M::Movnti
            | M::Clzero
    )
}

fn after(mut state: State, instruction: &Instruction, info: &mut InstructionInfoFactory) -> State {
    match instruction.mnemonic() {
        Mnemonic::Sfence | Mnemonic::Mfence => state.unfenced = false,
        Mnemonic::Vzeroupper | Mnemonic::Vzeroall => state.dirty = false,
        _ => {
            state.unfenced |= is_weak_store(instruction);
            // The operand decides: in the register usage, a 16-byte write in VEX form counts as a write of
            // the whole register, because it clears the rest.
            let (to, access) = (instruction.op0_register(), info.info(instruction).op0_access());
            let written = !matches!(access, OpAccess::Read | OpAccess::CondRead | OpAccess::None);
            state.dirty |= written && (to.is_ymm() || to.is_zmm()) && to.number() < 16;
        }
    }
    state
}

/// The functions of this program.
struct Functions {
    /// The start addresses of the library's functions.
    ours: BTreeSet<usize>,
    /// The start addresses of the functions that panic, which never return.
    panics: BTreeSet<usize>,
    /// The end addresses of all functions.
    ends: BTreeSet<usize>,
}

fn functions() -> &'static Functions {
    use object::{Object, ObjectSymbol};
    static FUNCTIONS: OnceLock<Functions> = OnceLock::new();
    FUNCTIONS.get_or_init(|| {
        let program = std::env::current_exe().expect("the path of the test program");
        let name = program.to_str().expect("a path in UTF-8");
        let maps = std::fs::read_to_string("/proc/self/maps").expect("this process' mappings");
        let first = maps.lines().find(|line| line.ends_with(name)).expect("the program is mapped");
        let base = first.split('-').next().and_then(|start| usize::from_str_radix(start, 16).ok());
        let base = base.expect("a mapping begins with its address");
        let bytes = std::fs::read(&program).expect("the test program");
        let file = object::File::parse(&*bytes).expect("an executable");
        let mut found = Functions { ours: BTreeSet::new(), panics: BTreeSet::new(), ends: BTreeSet::new() };
        for symbol in file.symbols().filter(|symbol| symbol.kind() == object::SymbolKind::Text) {
            let start = base + symbol.address() as usize;
            found.ends.insert(start + symbol.size() as usize);
            if symbol.name().is_ok_and(|name| name.contains("carryline")) {
                found.ours.insert(start);
            }
            if symbol.name().is_ok_and(|name| name.contains("4core9panicking")) {
                found.panics.insert(start);
            }
        }
        found
    })
}

/// The target of a jump or call through the table that the dynamic linker has filled.
fn through_table(instruction: &Instruction) -> Option<usize> {
    let slot =
        instruction.is_ip_rel_memory_operand().then(|| instruction.ip_rel_memory_address() as usize)?;
    // SAFETY: the slot of an instruction of this program, which the linker has filled and nothing writes
    // later.
    Some(unsafe { std::ptr::with_exposed_provenance::<usize>(slot).read() })
}

/// Follows the code at `start` in `state`. A call is followed for its exit states, and the code after it
/// continues in each of them. An instruction without a target in the code, like a jump through a table,
/// counts as an exit.
fn follow(
    start: usize,
    state: State,
    known: &mut BTreeMap<(usize, State), BTreeSet<State>>,
    all: &mut Followed,
) -> BTreeSet<State> {
    if let Some(exits) = known.get(&(start, state)) {
        return exits.clone();
    }
    known.insert((start, state), BTreeSet::new());
    let mut info = InstructionInfoFactory::new();
    let (mut exits, mut seen, mut open) = (BTreeSet::new(), BTreeSet::new(), vec![(start, state)]);
    while let Some((address, before)) = open.pop() {
        if !seen.insert((address, before)) {
            continue;
        }
        let instruction = decode(address);
        all.mnemonics.insert(instruction.mnemonic());
        all.addresses.insert(address);
        let state = after(before, &instruction, &mut info);
        let (next, target) = (instruction.next_ip() as usize, instruction.near_branch_target() as usize);
        match instruction.flow_control() {
            FlowControl::Next => open.push((next, state)),
            FlowControl::UnconditionalBranch => open.push((target, state)),
            FlowControl::ConditionalBranch => open.extend([(next, state), (target, state)]),
            FlowControl::Call => {
                open.extend(follow(target, state, known, all).into_iter().map(|left| (next, left)))
            }
            // Other code than the library's is not followed. A call at the end of a function never returns.
            FlowControl::IndirectCall => match through_table(&instruction) {
                _ if functions().ends.contains(&next) => {}
                Some(panic) if functions().panics.contains(&panic) => {}
                Some(ours) if functions().ours.contains(&ours) => {
                    open.extend(follow(ours, state, known, all).into_iter().map(|left| (next, left)));
                }
                _ => open.push((next, state)),
            },
            FlowControl::IndirectBranch => match through_table(&instruction) {
                Some(ours) if functions().ours.contains(&ours) => open.push((ours, state)),
                _ => _ = exits.insert(state),
            },
            FlowControl::Return => _ = exits.insert(state),
            FlowControl::Interrupt | FlowControl::XbeginXabortXend | FlowControl::Exception => {
                assert!(
                    matches!(instruction.code(), Code::Ud2 | Code::Int3),
                    "{:?} at {address:#x}",
                    instruction.code()
                );
            }
        }
    }
    known.insert((start, state), exits.clone());
    exits
}

fn followed(start: usize) -> Followed {
    let mut all = Followed::default();
    all.exits = follow(start, State::default(), &mut BTreeMap::new(), &mut all);
    assert!(!all.exits.is_empty(), "{start:#x} never ends");
    all
}

/// Every entry point of every kernel, also of those that this CPU cannot run, whether it contains non-temporal stores,
/// and whether it may leave them unfenced.
fn entries() -> Vec<(String, usize, bool, bool)> {
    let mut all = Vec::new();
    for kernel in kernels::ZERO.iter() {
        let (name, code) = (kernel.name, kernel.function);
        let non_temporal = name != "portable";
        all.push((format!("zero {name}"), code.zero as usize, non_temporal, false));
        all.push((format!("zero {name} read_here"), code.read_here as usize, false, false));
        all.push((format!("zero {name} planned"), code.planned as usize, non_temporal, false));
        all.push((format!("zero {name} unfenced"), code.unfenced as usize, non_temporal, true));
        all.push((format!("zero {name} if_dirty"), code.if_dirty as usize, false, false));
    }
    for kernel in kernels::SET.iter() {
        let (name, non_temporal) = (kernel.name, kernel.name != "portable");
        all.push((format!("set {name}"), kernel.function as usize, non_temporal, false));
    }
    for kernel in kernels::COPY.iter() {
        let (name, code) = (kernel.name, kernel.function);
        let non_temporal = name != "portable";
        all.push((format!("copy {name}"), code.copy as usize, non_temporal, false));
        all.push((format!("copy {name} read_here"), code.read_here as usize, false, false));
        all.push((format!("copy {name} planned"), code.planned as usize, non_temporal, false));
        all.push((format!("copy {name} unfenced"), code.unfenced as usize, non_temporal, true));
        all.push((format!("copy {name} overlapping"), code.overlapping as usize, non_temporal, false));
    }
    all
}

#[test]
fn non_temporal_stores_are_fenced_at_every_exit() {
    for (name, start, non_temporal, may_leave_unfenced) in entries() {
        let followed = followed(start);
        let leaves_unfenced = followed.exits.iter().any(|exit| exit.unfenced);
        assert_eq!(leaves_unfenced, may_leave_unfenced && non_temporal, "{name}: {:?}", followed.exits);
        let weak =
            [Mnemonic::Movntdq, Mnemonic::Vmovntdq].iter().any(|store| followed.mnemonics.contains(store));
        assert_eq!(weak, non_temporal, "{name} has non-temporal stores");
    }
}

#[test]
fn no_exit_leaves_upper_halves_dirty() {
    for (name, start, ..) in entries() {
        let followed = followed(start);
        assert!(followed.exits.iter().all(|exit| !exit.dirty), "{name}: {:?}", followed.exits);
        let wide = name.contains("avx");
        assert_eq!(followed.mnemonics.contains(&Mnemonic::Vzeroupper), wide, "{name}");
    }
}

/// Debuggers, profilers and crash reports find the caller of every instruction: it lies in a function whose frame is
/// described in the program.
#[cfg(target_env = "gnu")]
#[test]
fn frames_are_described_at_every_instruction() {
    use std::ffi::c_void;
    unsafe extern "C" {
        /// Of the unwinder that Rust's standard library links.
        fn _Unwind_Find_FDE(address: *const c_void, bases: *mut [*const c_void; 3]) -> *const c_void;
    }
    let is_described = |address: usize| {
        let mut bases = [std::ptr::null(); 3];
        // SAFETY: takes any address, and writes to `bases`, which has its layout.
        unsafe { !_Unwind_Find_FDE(std::ptr::with_exposed_provenance(address), &raw mut bases).is_null() }
    };
    let sums =
        kernels::CHECKSUM.iter().map(|kernel| (format!("sum {}", kernel.name), kernel.function as usize));
    let both = kernels::COPY_AND_SUM.iter();
    let both = both.map(|kernel| (format!("copy and sum {}", kernel.name), kernel.function as usize));
    let moves = entries().into_iter().map(|(name, start, ..)| (name, start));
    for (name, start) in moves.chain(sums).chain(both) {
        for address in followed(start).addresses {
            assert!(is_described(address), "{name}: {:?}", decode(address));
        }
    }
    assert!(!is_described(0x1000), "nothing is there");
}

/// The check itself detects wrong code.
#[test]
fn missing_fences_and_missing_vzeroupper_are_detected() {
    use core::arch::naked_asm;
    #[unsafe(naked)]
    extern "C" fn fence_on_one_of_two_paths() {
        naked_asm!("movnti [rdi], eax", "test esi, esi", "je 2f", "sfence", "2:", "ret")
    }
    #[unsafe(naked)]
    extern "C" fn dirty_after_a_call() {
        naked_asm!("vpxor xmm0, xmm0, xmm0", "call 2f", "ret", "2:", "vmovdqu ymm15, [rdi]", "ret")
    }
    #[unsafe(naked)]
    extern "C" fn clean() {
        naked_asm!("vmovdqu64 zmm16, [rdi]", "vmovntdq [rdi], ymm1", "call 2f", "ret", "2:", "sfence", "ret")
    }
    let left = |function: extern "C" fn()| followed(function as usize).exits;
    let state = |unfenced, dirty| State { unfenced, dirty };
    assert_eq!(left(fence_on_one_of_two_paths), BTreeSet::from([state(false, false), state(true, false)]));
    assert_eq!(left(dirty_after_a_call), BTreeSet::from([state(false, true)]));
    assert_eq!(left(clean), BTreeSet::from([state(false, false)]));
}

/// Small calls must not save the registers of a slow path: a compiler that inlines the slow path moves its
/// pushes to the start.
#[test]
#[cfg_attr(debug_assertions, ignore = "overflow checks use registers: cargo test --release")]
fn small_calls_save_no_register() {
    let zeros = kernels::ZERO.iter();
    let copies = kernels::COPY.iter();
    let sums = kernels::CHECKSUM.iter();
    let entries = zeros
        .flat_map(|kernel| {
            [kernel.function.zero as usize, kernel.function.read_here as usize].map(|at| (kernel.name, at))
        })
        .chain(copies.flat_map(|kernel| {
            let code = kernel.function;
            [code.copy as usize, code.read_here as usize, code.overlapping as usize]
                .map(|at| (kernel.name, at))
        }))
        .chain(
            sums.filter(|kernel| kernel.name.starts_with("avx"))
                .map(|kernel| (kernel.name, kernel.function as usize)),
        );
    for (name, start) in entries {
        let first = decode(start);
        assert_ne!(first.mnemonic(), Mnemonic::Push, "{name} at {start:#x} begins with {first:?}");
    }
}

/// The cache lines of code that a call runs through if no conditional jump is taken.
fn lines_of_the_straight_path(start: usize) -> BTreeSet<usize> {
    let mut lines = BTreeSet::new();
    let mut address = start;
    loop {
        let instruction = decode(address);
        lines.extend([address / 64, (instruction.next_ip() as usize - 1) / 64]);
        match instruction.flow_control() {
            FlowControl::Return => return lines,
            FlowControl::Next | FlowControl::ConditionalBranch => address = instruction.next_ip() as usize,
            other => panic!("{other:?} on the way from {start:#x} to the first return"),
        }
    }
}

/// The sizes that are called most are the first path of their kernel, in as few lines of code as possible: on
/// Zen 5 a call of up to two lines takes a cycle less than one of more (METHODOLOGY.md, null call), and on Zen 4 each line costs one.
#[test]
#[cfg_attr(debug_assertions, ignore = "unoptimised code is longer: cargo test --release")]
fn small_calls_run_through_few_lines_of_code() {
    let is_of_zen_4 = |name: &str| name == "avx512_prefer_256";
    let zeros = kernels::ZERO.iter().filter_map(|kernel| {
        let most = match kernel.name {
            "avx512" => 2,
            "avx512_prefer_256" | "avx2" | "sse2" => 1,
            _ => return None,
        };
        Some(("zero", kernel.function.zero as usize, most))
    });
    let copies = kernels::COPY.iter().filter_map(|kernel| {
        let most = match kernel.name {
            "avx512" | "avx512_prefer_256" => 2,
            "avx2" => 1,
            _ => return None,
        };
        Some(
            [kernel.function.copy as usize, kernel.function.overlapping as usize]
                .map(|at| ("copy", at, most)),
        )
    });
    let sums =
        kernels::CHECKSUM.iter().filter(|kernel| kernel.name.starts_with("avx") || kernel.name == "adc");
    let entries = zeros.chain(copies.flatten()).chain(sums.map(|kernel| {
        let most = if is_of_zen_4(kernel.name) || kernel.name == "adc" { 2 } else { 3 };
        (kernel.name, kernel.function as usize, most)
    }));
    // As C's `memset`, zeroing returns `dst`, by an instruction more.
    let entries =
        entries.chain([("memset", kernels::returning::avx512_prefer_256::zero as *const () as usize, 1)]);
    for (name, start, most) in entries {
        let lines = lines_of_the_straight_path(start).len();
        assert!(lines <= most, "{name} at {start:#x}: {lines} lines of code, not {most}");
    }
}
