//! The front end: which instructions are delivered in which cycle.

/// The limits of the front end. Cycles are core cycles.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Front {
    /// The size of the aligned blocks of code that are fetched, in bytes.
    pub block_bytes: u64,
    /// Instructions delivered from a block per cycle.
    pub block_instructions: u32,
    /// Blocks per cycle, if no taken branch is between them.
    pub blocks: u32,
    /// Cycles from a taken jump to its target.
    pub taken_cycles: f64,
    /// Cycles from a backward jump, such as that of a loop, to its target.
    pub back_cycles: f64,
    /// Cycles from a call or jump through a register that has had several targets.
    pub indirect_cycles: f64,
    /// Cycles from a return to its target.
    pub return_cycles: f64,
    /// Instructions that are delivered but not yet dispatched.
    pub queue: usize,
}

impl Front {
    /// A front end without known limits, except that a taken jump ends the delivery of a cycle.
    pub const UNLIMITED: Front = Front {
        block_bytes: u64::MAX,
        block_instructions: u32::MAX,
        blocks: 1,
        taken_cycles: 1.0,
        back_cycles: 1.0,
        indirect_cycles: 2.0,
        return_cycles: 2.0,
        queue: 64,
    };
}

/// The way control leaves an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Leaves {
    /// To the next instruction.
    Not,
    /// By a taken jump or call with a fixed target.
    Taken,
    /// By a taken backward jump.
    Back,
    /// By a jump or call through a register or memory that has had several targets.
    Indirect,
    /// By a return.
    Return,
}

/// The state of delivery.
#[derive(Debug)]
pub(super) struct Delivery {
    front: Front,
    cycle: f64,
    block: u64,
    in_block: u32,
    in_cycle: u32,
    is_fresh: bool,
}

impl Delivery {
    pub fn new(front: Front) -> Delivery {
        Delivery { front, cycle: 0.0, block: u64::MAX, in_block: 0, in_cycle: 0, is_fresh: true }
    }

    /// The cycle in which the instruction at `address` is delivered, at least `room`.
    pub fn next(&mut self, address: u64, leaves: Leaves, room: f64) -> f64 {
        let block = address / self.front.block_bytes;
        if room > self.cycle {
            (self.cycle, self.in_cycle, self.in_block) = (room, 0, 0);
            self.is_fresh = true;
        }
        if self.is_fresh || block != self.block || self.in_block == self.front.block_instructions {
            if self.in_cycle == self.front.blocks {
                self.cycle += 1.0;
                self.in_cycle = 0;
            }
            self.in_cycle += 1;
            self.in_block = 0;
            self.block = block;
            self.is_fresh = false;
        }
        self.in_block += 1;
        let at = self.cycle;
        let pause = match leaves {
            Leaves::Not => return at,
            Leaves::Taken => self.front.taken_cycles,
            Leaves::Back => self.front.back_cycles,
            Leaves::Indirect => self.front.indirect_cycles,
            Leaves::Return => self.front.return_cycles,
        };
        self.cycle += pause;
        (self.in_cycle, self.in_block, self.is_fresh) = (0, 0, true);
        at
    }
}
