//! What the front end delivers, and when.

/// How instructions reach the window. Cycles are of the core.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Front {
    /// Bytes of the aligned blocks of code that are fetched as one.
    pub block_bytes: u64,
    /// Instructions of a block that are delivered in a cycle.
    pub block_instructions: u32,
    /// Blocks in a cycle, if no taken branch is between them.
    pub blocks: u32,
    /// From a taken jump to what it leads to.
    pub taken_cycles: f64,
    /// The same for a jump back, as a loop ends with.
    pub back_cycles: f64,
    /// The same for a call or jump through a register that has led to several places.
    pub indirect_cycles: f64,
    /// The same for a return.
    pub return_cycles: f64,
    /// Instructions delivered and not yet dispatched.
    pub queue: usize,
}

impl Front {
    /// Nothing is known that it would limit, but a taken jump ends what is delivered in a cycle.
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

/// How an instruction leaves its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Leaves {
    /// The next one follows.
    Not,
    /// A jump or call with its target in the code.
    Taken,
    /// A jump back.
    Back,
    /// A jump or call through a register or memory that has led to several places.
    Indirect,
    /// A return.
    Return,
}

/// Delivery so far.
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

    /// The cycle in which the instruction at an address is delivered; not before `room`.
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
