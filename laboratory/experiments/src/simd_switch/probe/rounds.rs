//! Rounds of switches between two threads on one CPU.

use super::registers::{self, Area, Offered};
use super::{Facts, INSTRUCTIONS, PARTS, STATES, all_series};
use carryline_engine::probe::{Impossible, Rounds, Series, Setup, Unusable};
use carryline_machine::{clock, process};
use carryline_statistics::shuffle;
use carryline_verification::status::StatusPage;
use rand_core::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use rustix::pipe::pipe;
use std::os::fd::OwnedFd;

/// Round trips per sample, of two switches each.
const TRIPS: usize = 100;
/// How often a state is set, or an instruction executed, per sample.
const REPEATS: u32 = 200;
/// The byte that ends the other thread; all others are states.
const END: u8 = 255;

pub(super) fn start(setup: &Setup<'_>) -> Result<Box<dyn Rounds>, Impossible> {
    let offered = Offered::look()?;
    if setup.cpu.is_none() {
        // SAFETY: has no preconditions; it only returns the number of the CPU.
        let cpu = unsafe { libc::sched_getcpu() };
        process::pin(usize::try_from(cpu).unwrap_or(0)).map_err(Impossible)?;
    }
    let failed = |errno: rustix::io::Errno| Impossible(format!("no pipe: {errno}"));
    let (there_out, there_in) = pipe().map_err(failed)?;
    let (back_out, back_in) = pipe().map_err(failed)?;
    let (own_out, own_in) = pipe().map_err(failed)?;
    // A thread inherits the affinity of the thread that creates it.
    let thread = std::thread::spawn(move || echo(&there_out, &back_in, &offered));
    Ok(Box::new(Switching {
        initial: Area::initial(offered.area_bytes),
        saved: Area::initial(offered.area_bytes),
        offered,
        there: Some(there_in),
        back: back_out,
        own: (own_in, own_out),
        thread: Some(thread),
        overhead_ticks: clock::overhead_ticks(),
        rng: Xoshiro256PlusPlus::seed_from_u64(setup.seed),
        in_use: [None; STATES.len()],
    }))
}

/// The other thread: answers every byte after setting its registers to the state that the byte names.
fn echo(from: &OwnedFd, to: &OwnedFd, offered: &Offered) {
    let mut initial = Area::initial(offered.area_bytes);
    let mut byte = [0];
    while let Ok(1) = rustix::io::read(from, &mut byte) {
        let state = usize::from(byte[0]);
        if byte[0] == END || state >= STATES.len() {
            break;
        }
        // SAFETY: only states that the machine has are requested.
        unsafe { registers::set(state, &mut initial, offered.components) };
        if rustix::io::write(to, &byte) != Ok(1) {
            break;
        }
    }
}

struct Switching {
    offered: Offered,
    initial: Area,
    saved: Area,
    there: Option<OwnedFd>,
    back: OwnedFd,
    own: (OwnedFd, OwnedFd),
    thread: Option<std::thread::JoinHandle<()>>,
    overhead_ticks: f64,
    rng: Xoshiro256PlusPlus,
    in_use: [Option<u64>; STATES.len()],
}

impl Switching {
    /// Ticks of a switch, including the setting of the state.
    fn switches(&mut self, state: usize) -> Result<f64, Impossible> {
        let lost = || Impossible("the second thread ended".to_owned());
        let there = self.there.as_ref().ok_or_else(lost)?;
        let mut byte = [state as u8];
        let begin = clock::start();
        for _ in 0..TRIPS {
            // SAFETY: the caller asks only for states that the machine has.
            unsafe { registers::set(state, &mut self.initial, self.offered.components) };
            let passed =
                rustix::io::write(there, &byte) == Ok(1) && rustix::io::read(&self.back, &mut byte) == Ok(1);
            if !passed {
                return Err(lost());
            }
        }
        let ticks = clock::stop().wrapping_sub(begin) as f64;
        Ok((ticks - self.overhead_ticks) / (2 * TRIPS) as f64)
    }

    /// Ticks of setting a state.
    fn setting(&mut self, state: usize) -> f64 {
        let begin = clock::start();
        for _ in 0..REPEATS {
            // SAFETY: the caller asks only for states that the machine has.
            unsafe { registers::set(state, &mut self.initial, self.offered.components) };
        }
        let ticks = clock::stop().wrapping_sub(begin) as f64;
        if self.offered.in_use {
            // SAFETY: the machine has the state, and `Offered::in_use` holds.
            let bits = unsafe {
                registers::set(state, &mut self.initial, self.offered.components);
                registers::in_use()
            };
            self.in_use[state] = Some(bits & registers::TOUCHED);
        }
        (ticks - self.overhead_ticks) / f64::from(REPEATS)
    }

    /// Ticks of a write and a read of a pipe in one thread.
    fn pipe_alone(&self) -> f64 {
        let mut byte = [1];
        let begin = clock::start();
        for _ in 0..TRIPS {
            let passed = rustix::io::write(&self.own.0, &byte) == Ok(1)
                && rustix::io::read(&self.own.1, &mut byte) == Ok(1);
            if !passed {
                return f64::NAN;
            }
        }
        (clock::stop().wrapping_sub(begin) as f64 - self.overhead_ticks) / TRIPS as f64
    }

    /// Ticks of an instruction on a part of the state; `NaN` if the machine lacks either.
    fn saving(&mut self, instruction: usize, part: usize) -> f64 {
        let (name, bits) = PARTS[part];
        let components = if name.starts_with("all") { self.offered.components } else { bits };
        let has = match INSTRUCTIONS[instruction] {
            "XSAVEOPT" => self.offered.xsaveopt,
            "XSAVEC" => self.offered.xsavec,
            _ => true,
        };
        if !has || components & self.offered.components != components {
            return f64::NAN;
        }
        let dirty = ["zmm", "ymm", "xmm"].into_iter().find(|state| self.offered.has(state).is_ok());
        let state = if name == "all, clean" { "clean" } else { dirty.unwrap_or("xmm") };
        let state = STATES.iter().position(|known| *known == state).unwrap_or(0);
        self.saved = Area::initial(self.offered.area_bytes);
        // SAFETY: the machine has the state and the instruction; restoring follows a save of these registers.
        let ticks = unsafe {
            registers::set(state, &mut self.initial, self.offered.components);
            if INSTRUCTIONS[instruction] == "XRSTOR" {
                registers::repeat(0, &mut self.saved, components, 1);
            }
            registers::repeat(instruction, &mut self.saved, components, REPEATS)
        };
        (ticks as f64 - self.overhead_ticks) / f64::from(REPEATS)
    }
}

impl Drop for Switching {
    fn drop(&mut self) {
        if let Some(there) = self.there.take() {
            // If this fails, closing the pipe ends the thread.
            let _ = rustix::io::write(&there, &[END]);
        }
        if let Some(thread) = self.thread.take() {
            // A panic of the thread is of no interest here.
            let _ = thread.join();
        }
    }
}

impl Rounds for Switching {
    fn series(&self) -> Vec<Series> {
        all_series()
    }

    fn twins(&self) -> Vec<(usize, usize)> {
        vec![(0, 1)]
    }

    fn round(&mut self, status: &StatusPage) -> Result<Vec<f64>, Impossible> {
        let mut switches = [f64::NAN; STATES.len()];
        let mut settings = [f64::NAN; STATES.len()];
        let mut turn: Vec<usize> = (0..STATES.len()).collect();
        shuffle(&mut self.rng, &mut turn);
        for state in turn {
            if self.offered.has(STATES[state]).is_ok() {
                settings[state] = self.setting(state);
                switches[state] = self.switches(state)? - settings[state];
            }
            status.beat();
        }
        let mut samples: Vec<f64> = switches.into_iter().chain(settings).collect();
        samples.push(self.pipe_alone());
        for part in 0..PARTS.len() {
            for instruction in 0..INSTRUCTIONS.len() {
                samples.push(self.saving(instruction, part));
            }
        }
        // Leaves clean registers to the worker's own code. SAFETY: every machine has the first state.
        unsafe { registers::set(0, &mut self.initial, self.offered.components) };
        Ok(samples)
    }

    fn facts(&mut self) -> serde_json::Value {
        let in_use = STATES.iter().zip(self.in_use);
        let in_use = in_use.filter_map(|(state, bits)| Some(((*state).to_owned(), bits?))).collect();
        crate::json(&Facts { in_use })
    }

    fn unusable(&self) -> Vec<Unusable> {
        let mut unusable = Vec::new();
        for state in STATES {
            if let Err(why) = self.offered.has(state) {
                unusable.extend(
                    [super::switch(state), super::setting(state)].map(|series| Unusable::new(series, &why)),
                );
            }
        }
        for (part, bits) in PARTS {
            let components = bits & self.offered.components;
            for (instruction, has) in
                INSTRUCTIONS.into_iter().zip([true, self.offered.xsaveopt, self.offered.xsavec, true])
            {
                if !has {
                    let why = format!("this CPU has no {instruction}");
                    unusable.push(Unusable::new(super::saving(instruction, part), why));
                } else if components != bits && !part.starts_with("all") {
                    let why = "this CPU has no such registers";
                    unusable.push(Unusable::new(super::saving(instruction, part), why));
                }
            }
        }
        unusable
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::setup;

    #[test]
    fn both_threads_stay_on_one_cpu_and_every_series_is_sampled_or_has_a_reason() {
        // In a separate thread, because the affinity persists.
        std::thread::spawn(|| {
            let status = StatusPage::create().expect("a page");
            let setup = setup(&serde_json::Value::Null, &status);
            let Ok(mut rounds) = start(&setup) else {
                assert!(Offered::look().is_err());
                return;
            };
            assert_eq!(process::allowed_cpus().len(), 1);
            let samples = rounds.round(&status).expect("a round");
            let unusable = rounds.unusable();
            for (sample, series) in samples.iter().zip(rounds.series()) {
                let is_unusable = unusable.iter().any(|one| one.series == series.name);
                assert_eq!(sample.is_nan(), is_unusable, "{}", series.name);
            }
        })
        .join()
        .expect("the thread's assertions hold");
    }
}
