//! Occupancy of the execution ports by cycle.

use std::collections::HashMap;

/// The cycles in which each port starts an operation.
#[derive(Debug, Default)]
pub(super) struct Ports {
    /// For each port and cycle, whether the port is taken.
    taken: Vec<Vec<bool>>,
    /// For each port, a cycle before which none is free.
    full_until: Vec<usize>,
    /// Operations started on each port.
    used: Vec<u64>,
    /// Operations assigned in turn, by set of ports.
    turns: HashMap<u32, u32>,
}

impl Ports {
    pub fn new(count: usize) -> Ports {
        Ports {
            taken: vec![Vec::new(); count],
            full_until: vec![0; count],
            used: vec![0; count],
            turns: HashMap::new(),
        }
    }

    /// Starts an operation on one of the ports as early as possible and returns the cycle.
    pub fn start(&mut self, ports: u32, ready: f64) -> f64 {
        let ready = ready.max(0.0).ceil() as usize;
        let mut best: Option<(usize, u64, usize)> = None;
        for port in (0..self.taken.len()).filter(|port| ports & 1 << port != 0) {
            let cycle = self.free(port, ready);
            // Of ports that are free in the same cycle, the one with the least work so far.
            if best.is_none_or(|(known, used, _)| (cycle, self.used[port]) < (known, used)) {
                best = Some((cycle, self.used[port], port));
            }
        }
        let Some((cycle, _, port)) = best else { return ready as f64 };
        let line = &mut self.taken[port];
        if line.len() <= cycle {
            line.resize(cycle + 1, false);
        }
        line[cycle] = true;
        self.used[port] += 1;
        let mut until = self.full_until[port];
        while line.get(until).copied().unwrap_or(false) {
            until += 1;
        }
        self.full_until[port] = until;
        cycle as f64
    }

    /// Starts an operation on the port whose turn it is. Cores that choose ports at dispatch, before they
    /// know which will be free, do this.
    pub fn start_in_turn(&mut self, ports: u32, ready: f64) -> f64 {
        let turn = self.turns.entry(ports).or_default();
        let nth = *turn % ports.count_ones().max(1);
        *turn += 1;
        let mut left = ports;
        for _ in 0..nth {
            left &= left - 1;
        }
        self.start(left & left.wrapping_neg(), ready)
    }

    fn free(&self, port: usize, ready: usize) -> usize {
        let line = &self.taken[port];
        let mut cycle = ready.max(self.full_until[port]);
        while line.get(cycle).copied().unwrap_or(false) {
            cycle += 1;
        }
        cycle
    }

    /// Operations started on each port.
    pub fn used(&self) -> &[u64] {
        &self.used
    }
}
