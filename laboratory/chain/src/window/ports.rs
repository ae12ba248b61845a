//! Occupancy of the execution ports by cycle.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

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
    /// For each port, the cycles in which the operations that wait for it start.
    waiting: Vec<BinaryHeap<Reverse<usize>>>,
    /// The cycle in which operations are dispatched, and the ports and starts of those so far.
    dispatching: f64,
    joining: Vec<(usize, usize)>,
}

impl Ports {
    pub fn new(count: usize) -> Ports {
        Ports {
            taken: vec![Vec::new(); count],
            full_until: vec![0; count],
            used: vec![0; count],
            turns: HashMap::new(),
            waiting: vec![BinaryHeap::new(); count],
            dispatching: 0.0,
            joining: Vec::new(),
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

    /// Starts an operation on the port for which the fewest operations waited before the cycle `dispatched`. Operations
    /// that are dispatched in one cycle do not see each other; every second one takes the next port instead, unless
    /// three more wait for it. Intel's cores choose ports at dispatch, about in this way (Abel and Reineke, uiCA, 2022).
    pub fn start_where_fewest_wait(&mut self, ports: u32, ready: f64, dispatched: f64) -> f64 {
        if dispatched > self.dispatching {
            for (port, start) in self.joining.drain(..) {
                self.waiting[port].push(Reverse(start));
            }
            self.dispatching = dispatched;
        }
        let mut ranked: Vec<(usize, Reverse<usize>)> = Vec::new();
        for port in (0..self.waiting.len()).filter(|port| ports & 1 << port != 0) {
            let waiting = &mut self.waiting[port];
            while waiting.peek().is_some_and(|Reverse(start)| *start as f64 <= dispatched) {
                waiting.pop();
            }
            ranked.push((waiting.len(), Reverse(port)));
        }
        ranked.sort_unstable();
        let Some((fewest, Reverse(first))) = ranked.first().copied() else { return ready };
        let port = match ranked.get(1) {
            Some((waiting, Reverse(second))) if self.joining.len() % 2 == 1 && *waiting < fewest + 3 => {
                *second
            }
            _ => first,
        };
        let cycle = self.start(1 << port, ready);
        self.joining.push((port, cycle as usize));
        cycle
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_go_where_the_fewest_wait() {
        let (first, second, either) = (0b01, 0b10, 0b11);
        let mut ports = Ports::new(2);
        // Eight operations for the first port, two in each cycle: in cycle 4, three still wait.
        (0..8).for_each(|nth| {
            ports.start_where_fewest_wait(first, 0.0, f64::from(nth / 2));
        });
        for _ in 0..3 {
            ports.start_where_fewest_wait(either, 4.0, 4.0);
        }
        assert_eq!(
            ports.used(),
            [8, 3],
            "every second one too, because at least three more wait for the first port"
        );
        // None waits: of two that are dispatched together, one goes to each port.
        ports.start_where_fewest_wait(either, 100.0, 100.0);
        ports.start_where_fewest_wait(either, 100.0, 100.0);
        assert_eq!(ports.used(), [9, 4]);
        // A wrong choice is not corrected: the second of two waits for its port although the other one is free.
        let mut ports = Ports::new(2);
        ports.start_where_fewest_wait(second, 5.0, 0.0);
        ports.start_where_fewest_wait(first, 0.0, 0.0);
        assert_eq!(ports.start_where_fewest_wait(second, 5.0, 0.0), 6.0);
    }
}
