//! The simulation.

use super::front::Delivery;
use super::ops::{Op, Ops};
use super::ports::Ports;
use super::{Assigns, Core};
use crate::effects::{Location, Stack};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// The parts of the core whose limits apply; removing one shows its cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The front end.
    pub front: bool,
    /// Dispatch and retirement.
    pub width: bool,
    /// Execution ports.
    pub ports: bool,
    /// Dependencies on inputs.
    pub inputs: bool,
    /// The reorder buffer, the schedulers and the store queue.
    pub window: bool,
}

impl Limits {
    /// All limits of the core.
    pub const ALL: Limits = Limits { front: true, width: true, ports: true, inputs: true, window: true };
}

/// The result of a simulation.
#[derive(Clone, Debug, PartialEq)]
pub struct Simulated {
    /// Cycles per call.
    pub cycles: f64,
    /// Operations per call on each port.
    pub ports: Vec<f64>,
    /// Dispatch slots per call.
    pub slots: f64,
}

/// The least number of instructions and of calls to simulate.
const LEAST: usize = 6_000;
const LEAST_CALLS: usize = 12;
/// Stores before this many later ones have left the store queue.
const FORWARDED: usize = 128;

/// Simulates many calls and returns the cycles of one in the middle.
#[must_use]
pub fn simulate(ops: &Ops, core: &Core, port_count: usize, limits: Limits) -> Simulated {
    let ops = &ops.0;
    if ops.is_empty() {
        return Simulated { cycles: 0.0, ports: vec![0.0; port_count], slots: 0.0 };
    }
    let calls = (LEAST / ops.len()).max(LEAST_CALLS);
    let mut run = Simulation::new(core, port_count, limits);
    let mut ends = Vec::with_capacity(calls);
    for _ in 0..calls {
        for op in ops {
            run.step(op);
        }
        ends.push(run.retire.cycle);
    }
    let first = calls / 3;
    let per_call = |count: u64| count as f64 / calls as f64;
    Simulated {
        cycles: (ends[calls - 1] - ends[first]) / (calls - 1 - first) as f64,
        ports: run.ports.used().iter().map(|count| per_call(*count)).collect(),
        slots: ops.iter().map(|op| op.slots).sum(),
    }
}

/// A store that later loads may read from.
#[derive(Clone, Copy, Debug)]
struct Stored {
    address: u64,
    bytes: u64,
    ready: f64,
    retired: f64,
    forwards: bool,
    /// The cycle in which a pop can use the register that was pushed, if the core does not forward it like any store.
    pushed: Option<f64>,
}

/// A stage that instructions pass in order: its last cycle, and the slots used in it.
#[derive(Clone, Copy, Debug, Default)]
struct Stage {
    cycle: f64,
    slots: f64,
}

impl Stage {
    /// The cycle in which an instruction passes: `at`, or a later one if the slots of the last cycle are used up.
    fn pass(&mut self, at: f64, slots: f64, width: f64) -> f64 {
        let used = if at > self.cycle { 0.0 } else { self.slots };
        *self = match used + slots > width {
            true => Stage { cycle: at.max(self.cycle + 1.0), slots },
            false => Stage { cycle: at, slots: used + slots },
        };
        self.cycle
    }
}

/// The state of a simulation.
struct Simulation<'a> {
    core: &'a Core,
    limits: Limits,
    delivery: Delivery,
    ports: Ports,
    ready: Vec<f64>,
    dispatch: Stage,
    retire: Stage,
    /// The instructions in the reorder buffer: slots and cycle of retirement.
    reorder: VecDeque<(f64, f64)>,
    held: f64,
    /// For each scheduler, the cycles in which its entries leave.
    waiting: Vec<BinaryHeap<Reverse<u64>>>,
    /// The cycles in which stores leave the store queue.
    store_queue: VecDeque<f64>,
    written: f64,
    stored: VecDeque<Stored>,
    /// Dispatch cycles of the last instructions, as many as the front-end queue holds.
    ahead: VecDeque<f64>,
}

impl<'a> Simulation<'a> {
    fn new(core: &'a Core, port_count: usize, limits: Limits) -> Simulation<'a> {
        Simulation {
            core,
            limits,
            delivery: Delivery::new(core.front),
            ports: Ports::new(port_count),
            ready: vec![0.0; Location::COUNT],
            dispatch: Stage::default(),
            retire: Stage::default(),
            reorder: VecDeque::new(),
            held: 0.0,
            waiting: core.schedulers.iter().map(|_| BinaryHeap::new()).collect(),
            store_queue: VecDeque::new(),
            written: 0.0,
            stored: VecDeque::new(),
            ahead: VecDeque::new(),
        }
    }

    fn start(&mut self, ports: u32, ready: f64) -> f64 {
        let scheduler = self.core.schedulers.iter().position(|s| s.ports & ports != 0);
        let assigns = scheduler.map_or(Assigns::First, |index| self.core.schedulers[index].assigns);
        let cycle = match (self.limits.ports, assigns) {
            (false, _) => ready,
            (true, Assigns::First) => self.ports.start(ports, ready),
            (true, Assigns::InTurn) => self.ports.start_in_turn(ports, ready),
            (true, Assigns::FewestWaiting) => {
                self.ports.start_where_fewest_wait(ports, ready, self.dispatch.cycle)
            }
        };
        if let Some(scheduler) = scheduler {
            self.waiting[scheduler].push(Reverse(cycle as u64));
        }
        cycle
    }

    /// The slots per cycle of a stage, if widths are limited.
    fn width(&self, slots: f64) -> f64 {
        if self.limits.width { slots } else { f64::INFINITY }
    }

    /// The cycle in which an instruction is dispatched.
    fn dispatched(&mut self, op: &Op) -> f64 {
        let mut at = self.dispatch.cycle;
        if self.limits.front {
            let room = match self.ahead.len() >= self.core.front.queue {
                true => self.ahead.pop_front().unwrap_or(0.0),
                false => 0.0,
            };
            at = at.max(self.delivery.next(op.address, op.leaves, room));
        }
        if self.limits.window {
            while self.held + op.slots > self.core.reorder as f64 {
                let Some((slots, leaves)) = self.reorder.pop_front() else { break };
                self.held -= slots;
                at = at.max(leaves);
            }
            for (index, scheduler) in self.core.schedulers.iter().enumerate() {
                let needed = [&op.loads, &op.work, &op.stores].into_iter().flatten();
                let needed = needed.filter(|ports| scheduler.ports & **ports != 0).count();
                // Entries that started earlier have left.
                while self.waiting[index].len() + needed > scheduler.entries {
                    let Some(Reverse(first)) = self.waiting[index].pop() else { break };
                    at = at.max(first as f64);
                }
            }
            if !op.stores.is_empty() && self.store_queue.len() >= self.core.stores {
                at = at.max(self.store_queue.pop_front().unwrap_or(0.0));
            }
        }
        let at = self.dispatch.pass(at, op.slots, self.width(self.core.dispatch));
        self.ahead.push_back(at);
        at
    }

    fn step(&mut self, op: &Op) {
        let at = self.dispatched(op) + 1.0;
        let ready = |run: &Simulation<'_>, is_address: bool| {
            let of = op.inputs.iter().filter(|input| input.is_address == is_address);
            of.map(|input| run.ready[input.location.index()]).fold(at, f64::max)
        };
        let limited = self.limits.inputs;
        let address = if limited { ready(self, true) } else { at };
        let data = if limited { ready(self, false) } else { at };

        // Loads, and the earlier stores that they read from.
        let mut loaded = address;
        for ports in &op.loads {
            loaded = loaded.max(self.start(*ports, address));
        }
        let forwarded = if limited { self.forwarded(op) } else { f64::NEG_INFINITY };
        let popped = if limited { self.popped(op) } else { None };
        let operands = match op.work.is_empty() {
            true => data,
            false if op.loads.is_empty() => data.max(address),
            false => data.max(loaded + op.load_cycles).max(forwarded),
        };
        let mut started = operands;
        for ports in &op.work {
            started = started.max(self.start(*ports, operands));
        }
        let mut sent = address;
        for ports in &op.stores {
            // The address and the data of a store share one slot of its port.
            sent = sent.max(self.start(*ports, address));
        }
        let late = started - operands;
        let mut done = started.max(loaded);
        let mut stored = at;
        let mut values = Vec::with_capacity(op.outputs.len());
        for index in 0..op.outputs.len() {
            let mut value = at;
            let is_popped = popped.is_some() && op.from_memory[index].is_finite();
            for input in op.inputs.iter().filter(|_| limited && !is_popped) {
                let from = match input.is_address && !op.loads.is_empty() {
                    true => loaded,
                    false => self.ready[input.location.index()].max(at),
                };
                value = value.max(from + input.cycles[index]);
            }
            values.push(match popped {
                Some(ready) if is_popped => ready.max(at),
                _ => value.max(forwarded + op.from_memory[index]) + late,
            });
        }
        for (index, ((_, locations), value)) in op.outputs.iter().zip(values).enumerate() {
            for location in locations {
                self.ready[location.index()] = value;
            }
            if locations.is_empty() {
                // Data is forwarded from the store queue, which a store enters through its port.
                let after = op.inputs.iter().map(|input| input.cycles[index]).fold(0.0, f64::max);
                stored = value.max(sent + after);
            } else {
                done = done.max(value);
            }
        }
        self.retire(op, done.max(data));
        let pushed = self.core.pushed.filter(|_| op.stack == Stack::Push).map(|cycles| data + cycles);
        self.remember(op, stored, sent, pushed);
    }

    /// The cycle in which the forwarded bytes of a load are ready; minus infinity if none are.
    fn forwarded(&self, op: &Op) -> f64 {
        let mut latest = f64::NEG_INFINITY;
        for access in op.memory.iter().filter(|access| access.is_read) {
            let end = access.address + access.bytes.max(1);
            let last =
                self.stored.iter().rev().find(|s| s.address < end && access.address < s.address + s.bytes);
            let Some(stored) = last else { continue };
            let is_whole = stored.address <= access.address && end <= stored.address + stored.bytes;
            latest = latest.max(if is_whole && stored.forwards {
                stored.ready
            } else {
                stored.retired + self.core.unforwarded
            });
        }
        latest
    }

    /// The cycle in which a pop has the register that a push has stored, where it does not wait for the store.
    fn popped(&self, op: &Op) -> Option<f64> {
        let read = op.memory.first().filter(|_| op.stack == Stack::Pop)?;
        let last = self.stored.iter().rev();
        let mut last =
            last.filter(|s| s.address < read.address + read.bytes && read.address < s.address + s.bytes);
        last.next().filter(|s| s.address == read.address && s.bytes == read.bytes)?.pushed
    }

    fn retire(&mut self, op: &Op, done: f64) {
        let at = (done + 1.0).max(self.retire.cycle);
        let at = self.retire.pass(at, op.slots, self.width(self.core.retire));
        self.reorder.push_back((op.slots, at));
        self.held += op.slots;
    }

    fn remember(&mut self, op: &Op, ready: f64, sent: f64, pushed: Option<f64>) {
        for access in op.memory.iter().filter(|access| access.is_written) {
            if self.stored.len() == FORWARDED {
                self.stored.pop_front();
            }
            let (address, bytes) = (access.address, access.bytes.max(1));
            self.stored.push_back(Stored {
                address,
                bytes,
                ready,
                retired: self.retire.cycle.max(sent),
                forwards: !op.is_masked,
                pushed,
            });
            self.written = self.written.max(self.retire.cycle).max(sent);
            self.store_queue.push_back(self.written);
        }
    }
}
