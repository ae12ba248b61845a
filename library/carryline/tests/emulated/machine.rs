//! The state of an emulated CPU, and its operands.

use crate::PAGE_BYTES;
use iced_x86::{Decoder, DecoderOptions, Instruction, OpKind, Register};
use std::collections::HashMap;
use std::ops::Range;
use std::ptr::{with_exposed_provenance, with_exposed_provenance_mut};

/// Where a function under test returns to.
const RETURN_ADDRESS: u64 = 0xdead_0000;

/// More instructions than any call here needs.
const MOST_INSTRUCTIONS: usize = 100_000;

/// The words of the emulated stack.
const STACK_WORDS: usize = 1024;

/// An emulated CPU that executes functions of this program. Its memory is that of this process, of which it may
/// access its stack, the program itself, and what a call allows.
pub struct Machine {
    pub general: [u64; 16],
    pub vectors: [[u8; 64]; 32],
    pub masks: [u64; 8],
    pub carry: bool,
    pub zero: bool,
    pub sign: bool,
    pub overflow: bool,
    pub next: u64,
    /// How many masked accesses of a call reached into a page of no buffer: hundreds of cycles each if it is not mapped.
    pub slow_masks: usize,
    stack: Vec<u64>,
    program: Vec<Range<usize>>,
    readable: Vec<Range<usize>>,
    writable: Vec<Range<usize>>,
    decoded: HashMap<u64, Instruction>,
}

impl Machine {
    pub fn new() -> Machine {
        let name = std::env::current_exe().expect("the path of the test program");
        let maps = std::fs::read_to_string("/proc/self/maps").expect("this process' mappings");
        let of_program = maps.lines().filter(|line| line.ends_with(name.to_str().expect("a path in UTF-8")));
        let range = |line: &str| {
            let (start, end) = line.split(' ').next()?.split_once('-')?;
            Some(usize::from_str_radix(start, 16).ok()?..usize::from_str_radix(end, 16).ok()?)
        };
        Machine {
            general: [0; 16],
            vectors: [[0; 64]; 32],
            masks: [0; 8],
            carry: false,
            zero: false,
            sign: false,
            overflow: false,
            next: 0,
            slow_masks: 0,
            stack: vec![0; STACK_WORDS],
            program: of_program.map(|line| range(line).expect("an address range")).collect(),
            readable: Vec::new(),
            writable: Vec::new(),
            decoded: HashMap::new(),
        }
    }

    /// Calls the function at `start` with up to four arguments and returns its result. It may read and write only
    /// these ranges of addresses.
    pub fn call(
        &mut self,
        start: usize,
        arguments: &[u64],
        readable: &[Range<usize>],
        writable: &[Range<usize>],
    ) -> u64 {
        // What a caller leaves in registers is arbitrary.
        for (number, register) in self.general.iter_mut().enumerate() {
            *register = 0x1234_5678_9abc_def0_u64.rotate_left(number as u32);
        }
        for (number, vector) in self.vectors.iter_mut().enumerate() {
            vector.fill(0x80 | number as u8);
        }
        self.masks.fill(0x5555_3333_0f0f_00ff);
        for (register, argument) in [7, 6, 2, 1].into_iter().zip(arguments) {
            self.general[register] = *argument;
        }
        self.slow_masks = 0;
        (self.readable, self.writable) = (readable.to_vec(), writable.to_vec());
        let saved = [3, 5, 12, 13, 14, 15].map(|number| self.general[number]);
        let top = self.stack.as_ptr().expose_provenance() + (STACK_WORDS - 1) * size_of::<u64>();
        self.general[4] = top as u64;
        self.store(top as u64, &RETURN_ADDRESS.to_le_bytes());
        self.next = start as u64;
        for _ in 0..MOST_INSTRUCTIONS {
            if self.next == RETURN_ADDRESS {
                assert_eq!(self.general[4], top as u64 + 8, "the stack pointer is restored");
                assert_eq!(
                    saved,
                    [3, 5, 12, 13, 14, 15].map(|number| self.general[number]),
                    "registers are kept"
                );
                return self.general[0];
            }
            let instruction = self.decode();
            self.next = instruction.next_ip();
            assert!(
                self.execute(&instruction) || self.execute_vector(&instruction),
                "{:?} is not emulated: teach it to tests/emulated",
                instruction.code()
            );
        }
        panic!("the function at {start:#x} does not return");
    }

    fn decode(&mut self) -> Instruction {
        const LONGEST_BYTES: usize = 15;
        let address = self.next as usize;
        assert!(self.program.iter().any(|range| range.contains(&address)), "a jump to {address:#x}");
        *self.decoded.entry(self.next).or_insert_with(|| {
            // SAFETY: mapped code of this program, which does not change; more of it follows every function.
            let bytes =
                unsafe { std::slice::from_raw_parts(with_exposed_provenance(address), LONGEST_BYTES) };
            Decoder::with_ip(64, bytes, address as u64, DecoderOptions::NONE).decode()
        })
    }

    /// Loads `N` bytes, all of which must be accessible.
    pub fn load<const N: usize>(&self, address: u64) -> [u8; N] {
        let bytes = address as usize..address as usize + N;
        let stack = self.stack.as_ptr_range();
        let stack = stack.start.expose_provenance()..stack.end.expose_provenance();
        let mut allowed = self.readable.iter().chain(&self.writable).chain(&self.program).chain([&stack]);
        assert!(
            allowed.any(|range| range.start <= bytes.start && bytes.end <= range.end),
            "a load of {N} bytes at {address:#x}, after which comes {:#x}; allowed are {:#x?} and {:#x?}",
            self.next,
            self.readable,
            self.writable
        );
        // SAFETY: the range belongs to a live buffer of the caller, to the program or to the stack.
        unsafe { with_exposed_provenance::<[u8; N]>(bytes.start).read_unaligned() }
    }

    /// Notes a masked access to bytes of which not all are accessed.
    pub fn note_masked(&mut self, address: u64, size: usize) {
        let stack = self.stack.as_ptr_range();
        let stack = stack.start.expose_provenance()..stack.end.expose_provenance();
        let pages =
            |range: &Range<usize>| range.start / PAGE_BYTES..=range.end.saturating_sub(1) / PAGE_BYTES;
        let is_mapped = |page: usize| {
            let mut known = self.readable.iter().chain(&self.writable).chain([&stack]);
            known.any(|range| !range.is_empty() && pages(range).contains(&page))
        };
        let accessed = address as usize..address as usize + size;
        if !pages(&accessed).all(is_mapped) {
            self.slow_masks += 1;
        }
    }

    /// Stores bytes, all of which must be writable.
    pub fn store(&mut self, address: u64, bytes: &[u8]) {
        let range = address as usize..address as usize + bytes.len();
        let stack = self.stack.as_mut_ptr_range();
        let stack = stack.start.expose_provenance()..stack.end.expose_provenance();
        assert!(
            self.writable
                .iter()
                .chain([&stack])
                .any(|allowed| allowed.start <= range.start && range.end <= allowed.end),
            "a store of {} bytes at {address:#x}, after which comes {:#x}; allowed are {:#x?}",
            bytes.len(),
            self.next,
            self.writable
        );
        // SAFETY: the range belongs to a live buffer that the caller lets this call write, or to the stack.
        unsafe { with_exposed_provenance_mut::<u8>(range.start).copy_from(bytes.as_ptr(), bytes.len()) };
    }

    /// The bytes of a scalar operand: an immediate has the size of the first operand, the target of a branch that of an
    /// address.
    pub fn size(instruction: &Instruction, operand: u32) -> usize {
        match instruction.op_kind(operand) {
            OpKind::Register => instruction.op_register(operand).size(),
            OpKind::Memory => instruction.memory_size().size(),
            _ if operand > 0 => Machine::size(instruction, 0),
            _ => size_of::<u64>(),
        }
    }

    /// The address of the memory operand.
    pub fn address(&self, instruction: &Instruction, operand: u32) -> u64 {
        let general = &self.general;
        let value = |register: Register, _, _| match register {
            segment if segment.is_segment_register() => Some(0),
            register => Some(general[register.full_register().number()]),
        };
        instruction.virtual_address(operand, 0, value).expect("a memory operand of general registers")
    }

    /// A general register, a mask, an immediate or a scalar in memory.
    pub fn read(&self, instruction: &Instruction, operand: u32) -> u64 {
        let size = Machine::size(instruction, operand);
        match instruction.op_kind(operand) {
            OpKind::Register => {
                let register = instruction.op_register(operand);
                if register.is_k() {
                    return self.masks[register.number()];
                }
                assert!(register.is_gpr(), "{register:?} is not a general register");
                let shift = if is_high_byte(register) { 8 } else { 0 };
                narrowed(self.general[register.full_register().number()] >> shift, size)
            }
            OpKind::Memory => {
                let address = self.address(instruction, operand);
                match size {
                    1 => u64::from(u8::from_le_bytes(self.load(address))),
                    2 => u64::from(u16::from_le_bytes(self.load(address))),
                    4 => u64::from(u32::from_le_bytes(self.load(address))),
                    _ => u64::from_le_bytes(self.load(address)),
                }
            }
            _ => narrowed(instruction.immediate(operand), size),
        }
    }

    /// Writes to a general register, whose upper half a write of 32 bits clears, to a mask or to memory.
    pub fn write(&mut self, instruction: &Instruction, operand: u32, value: u64) {
        let size = Machine::size(instruction, operand);
        if instruction.op_kind(operand) == OpKind::Memory {
            let address = self.address(instruction, operand);
            return self.store(address, &value.to_le_bytes()[..size]);
        }
        let register = instruction.op_register(operand);
        if register.is_k() {
            self.masks[register.number()] = value;
            return;
        }
        assert!(register.is_gpr(), "{register:?} is not a general register");
        let full = &mut self.general[register.full_register().number()];
        let shift = if is_high_byte(register) { 8 } else { 0 };
        let kept = if size >= 4 { 0 } else { !(narrowed(u64::MAX, size) << shift) };
        *full = *full & kept | narrowed(value, size) << shift;
    }
}

fn is_high_byte(register: Register) -> bool {
    [Register::AH, Register::BH, Register::CH, Register::DH].contains(&register)
}

/// The lowest `size` bytes of a value.
pub fn narrowed(value: u64, size: usize) -> u64 {
    if size >= 8 { value } else { value & ((1 << (8 * size)) - 1) }
}
