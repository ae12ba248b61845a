//! Measures the cost of a hard-coded limit: `if (__builtin_constant_p(n) && n <= 64) builtin(...) else
//! function(...)`, added to a kernel in 2018, calls the function for every larger size, even where the
//! compiler would have inlined it.
//!
//! For each size above the limit that a C compiler inlines under its plain flags, a shared object gets three
//! loops: one with the inlined code, one with the call, and the call again for the noise floor. Worker
//! processes time them in rounds, after their machine code was checked to be what their names say.

use super::bounded;
use super::compilers::Compiler;
use super::object_code::{self, Lowering};
use super::probes::{C_DECLARATIONS, Function, LARGEST_BYTES, Language, c_call};
use carryline_engine::protocol::LoopsAnswer;
use carryline_engine::supervise::{End, Supervisor};
use carryline_machine::process;
use carryline_report::inlining::{InliningRow, LimitRow, LimitSize, SizeRange, ranges};
use carryline_sampler::object_loops::{Compared, Comparison, LoopsJob};
use carryline_statistics::{self as statistics, Order};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// The limit of that change.
pub const USUAL_LIMIT_BYTES: u32 = 64;
/// Number of worker processes, each with its own memory layout.
const REPLICATES: u32 = 5;

/// Lowering the loops are timed.
pub struct Timing<'a> {
    /// Starts workers.
    pub supervisor: &'a Supervisor,
    /// The flags that the loops are compiled with.
    pub flags: &'a str,
    /// Time for all loops of a compiler.
    pub budget: Duration,
    /// Time limit of a compilation.
    pub patience: Duration,
    /// The logical CPU to measure on.
    pub cpu: Option<usize>,
    /// Determines order and offsets.
    pub seed: u64,
    /// A folder for sources and objects.
    pub folder: &'a Path,
    /// True once the user has interrupted.
    pub stop: &'a (dyn Fn() -> bool + Sync),
    /// Receives progress messages.
    pub progress: &'a dyn Fn(&str),
}

/// A function's loops, with its row except for the timings.
struct Part {
    function: Function,
    row: LimitRow,
    sizes: Vec<(u32, Lowering)>,
}

/// The cost of the limit for users of this compiler, by function. Empty if the compiler is not a C compiler
/// or did not compile the probes.
pub fn cost(compiler: &Compiler, rows: &[InliningRow], limit: u32, timing: &Timing<'_>) -> Vec<LimitRow> {
    let mut parts = parts(compiler, rows, timing.flags, limit);
    if parts.iter().all(|part| part.sizes.is_empty()) {
        return parts.into_iter().map(|part| part.row).collect();
    }
    let measured = compile(compiler, &parts, timing).and_then(|file| time(&file, &mut parts, timing));
    if let Err(reason) = measured {
        for part in parts.iter_mut().filter(|part| !part.sizes.is_empty()) {
            part.row.reason = Some(format!("not measured: {reason}"));
        }
    }
    parts.into_iter().map(|part| part.row).collect()
}

/// The builtins compiled with these flags, with the sizes to time.
fn parts(compiler: &Compiler, rows: &[InliningRow], flags: &str, limit: u32) -> Vec<Part> {
    if compiler.language != Language::C {
        return Vec::new();
    }
    let mut parts = Vec::new();
    for function in compiler.language.functions() {
        let wanted = matches!(function.name, "__builtin_memmove" | "__builtin_memcpy" | "__builtin_memset");
        let row =
            rows.iter().find(|row| row.flags == flags && row.function.as_deref() == Some(function.name));
        let (true, Some(row)) = (wanted, row.filter(|row| row.status == "ok")) else { continue };
        let sizes: Vec<(u32, Lowering)> = (limit + 1..=LARGEST_BYTES)
            .filter_map(|size| match () {
                () if contains(&row.rep_ranges, size) => Some((size, Lowering::Rep)),
                () if contains(&row.loop_ranges, size) => Some((size, Lowering::Loop)),
                () if contains(&row.inlined_ranges, size) => Some((size, Lowering::Inlined)),
                () => None,
            })
            .collect();
        let within = (1..=limit).filter(|size| contains(&row.call_ranges, *size));
        parts.push(Part {
            function: *function,
            row: LimitRow {
                compiler: row.compiler.clone(),
                version: row.version.clone(),
                flags: row.flags.clone(),
                function: function.name.to_owned(),
                limit_bytes: limit,
                call_within_ranges: ranges(within),
                in_place_above_ranges: ranges(sizes.iter().map(|(size, _)| *size)),
                ..LimitRow::default()
            },
            sizes,
        });
    }
    parts
}

fn contains(ranges: &[SizeRange], size: u32) -> bool {
    ranges.iter().any(|(first, last)| (*first..=*last).contains(&size))
}

/// The names of a size's three loops: inlined, the call, the call again.
fn loops(function: &Function, size: u32) -> [String; 3] {
    ["in_place", "call", "call_again"].map(|kind| format!("loop_{kind}_{}_{size}", function.name))
}

fn source(parts: &[Part]) -> String {
    let mut text = C_DECLARATIONS.to_owned();
    for part in parts {
        for (size, _) in &part.sizes {
            let in_place = c_call(&part.function, *size);
            // With -fno-builtin, the name without the prefix is always a call.
            let call = in_place.trim_start_matches("__builtin_");
            for (name, body) in loops(&part.function, *size).iter().zip([in_place.as_str(), call, call]) {
                text.push_str(&format!(
                    "void {name}(char *to, const char *from, unsigned long long turns) {{\n\
                     \twhile (turns--) {{ {body}; __asm__ volatile(\"\" : \"+r\"(to), \"+r\"(from) :: \"memory\"); }}\n}}\n"
                ));
            }
        }
    }
    text
}

/// Compiles the loops into a shared object and checks their machine code.
fn compile(compiler: &Compiler, parts: &[Part], timing: &Timing<'_>) -> Result<PathBuf, String> {
    (timing.progress)(&format!("compiling loops with {}", compiler.name));
    let scratch = tempfile::tempdir_in(timing.folder).map_err(|error| error.to_string())?.keep();
    let so = scratch.join("loops.so");
    std::fs::write(scratch.join("loops.c"), source(parts)).map_err(|error| error.to_string())?;
    let mut command = Command::new(&compiler.path);
    command.current_dir(&scratch).args(timing.flags.split_whitespace());
    command.args(["-w", "-fno-builtin", "-fPIC", "-shared", "-o", "loops.so", "loops.c"]);
    bounded::run(&mut command, timing.patience, &scratch.join("run"), timing.stop)
        .map_err(|reason| reason.to_string())?;
    let bytes = std::fs::read(&so).map_err(|error| error.to_string())?;
    let found = object_code::read(&bytes, "loop_").map_err(|error| error.to_string())?;
    for part in parts {
        for (size, how) in &part.sizes {
            let [in_place, call, again] = loops(&part.function, *size);
            // The surrounding loop always jumps back.
            let wanted = (*how).max(Lowering::Loop);
            for (name, wanted) in [(in_place, wanted), (call, Lowering::Call), (again, Lowering::Call)] {
                match found.get(&name) {
                    Some(found) if *found == wanted => {}
                    found => return Err(format!("'{name}' was compiled as {found:?}, not as {wanted:?}")),
                }
            }
        }
    }
    Ok(so)
}

/// Times of one comparison: by replicate, then round, then member.
type Rounds = Vec<Vec<Vec<f64>>>;

fn time(file: &Path, parts: &mut [Part], timing: &Timing<'_>) -> Result<(), String> {
    let comparison = |function: &Function, size: u32| Comparison {
        members: loops(function, size).into(),
        size,
        zeroes: function.name.ends_with("memset"),
    };
    let comparisons: Vec<Comparison> = parts
        .iter()
        .flat_map(|part| part.sizes.iter().map(|(size, _)| comparison(&part.function, *size)))
        .collect();
    let mut rounds: Vec<Rounds> = comparisons.iter().map(|_| Vec::new()).collect();
    let mut refused = None;
    let _kept_off = timing.cpu.map(process::keep_off);
    for replicate in 0..REPLICATES {
        (timing.progress)(&format!(
            "timing {} sizes, process {} of {REPLICATES}",
            rounds.len(),
            replicate + 1
        ));
        let seed = timing.seed.wrapping_add(u64::from(replicate).wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let job = LoopsJob {
            file: file.to_owned(),
            comparisons: comparisons.clone(),
            seed,
            total_ms: (timing.budget / REPLICATES).as_millis() as u64,
            cpu: timing.cpu,
        };
        let end = timing.supervisor.run(job, (seed % 4096) as usize, &timing.stop, &mut |answer| {
            let LoopsAnswer { comparison, compared } = answer;
            match compared {
                Compared::Rounds(found) => rounds[comparison].push(found),
                Compared::Refused(reason) => refused = Some(reason),
            }
        });
        match end {
            Ok(End::Done) => {}
            Ok(End::Stopped) => return Err("interrupted".to_owned()),
            Ok(End::Crashed { signal, now }) => {
                return Err(format!("signal {signal} ended the loops, at {} bytes", now.len));
            }
            Ok(End::Exited { code, now, .. }) => {
                return Err(format!("exit status {code} ended the loops, at {} bytes", now.len));
            }
            Ok(lost @ End::Lost { .. }) => return Err(format!("the worker process ended {}", lost.how())),
            Ok(End::TimedOut { now }) => return Err(format!("the loops hung, at {} bytes", now.len)),
            Err(error) => return Err(error.to_string()),
        }
    }
    let mut rounds = rounds.iter();
    for part in parts {
        for (size, how) in &part.sizes {
            let measured = rounds.next().and_then(|rounds| judge(*size, *how, rounds, timing.seed));
            part.row.sizes.extend(measured);
        }
        let those = |verdict: &str| {
            ranges(part.row.sizes.iter().filter(|size| size.verdict == verdict).map(|size| size.size))
        };
        (part.row.slower_ranges, part.row.faster_ranges, part.row.tie_ranges) =
            (those("slower"), those("faster"), those("tie"));
        if part.row.sizes.len() < part.sizes.len() {
            part.row.reason = refused.clone().or_else(|| Some("not all sizes were measured".to_owned()));
        }
    }
    Ok(())
}

/// Compares the call of one size with the inlined code.
fn judge(size: u32, how: Lowering, rounds: &Rounds, seed: u64) -> Option<LimitSize> {
    let member = |index: usize| -> Vec<Vec<f64>> {
        let of_round = |round: &Vec<f64>| round.get(index).copied().unwrap_or(f64::NAN);
        rounds.iter().map(|replicate| replicate.iter().map(of_round).collect()).collect()
    };
    let [in_place, call, again] = [0, 1, 2].map(member);
    let ratio = statistics::paired_ratio(&call, &in_place, seed)?;
    let noise_floor = statistics::noise_floor(&[statistics::paired_ratio(&again, &call, seed)?]);
    let verdict = match statistics::compare(&ratio, noise_floor) {
        Order::Slower => "slower",
        Order::Faster => "faster",
        Order::Tie => "tie",
    };
    Some(LimitSize {
        size,
        how: if how == Lowering::Rep { "rep" } else { "inlined" }.to_owned(),
        inlined_ticks: statistics::estimate(&in_place, seed)?.median,
        call_ticks: statistics::estimate(&call, seed)?.median,
        ratio,
        noise_floor,
        verdict: verdict.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verdicts_of_constructed_rounds() {
        let rounds = |in_place: f64, call: f64| vec![vec![vec![in_place, call, call]; 10]; 5];
        let verdict = |rounds: Rounds| judge(96, Lowering::Inlined, &rounds, 1).expect("rounds").verdict;
        assert_eq!(verdict(rounds(4.0, 8.0)), "slower");
        assert_eq!(verdict(rounds(8.0, 4.0)), "faster");
        assert_eq!(verdict(rounds(8.0, 8.0)), "tie");
        let noisy = vec![vec![vec![4.0, 8.0, 20.0]; 10]; 5];
        assert_eq!(verdict(noisy), "tie", "the two calls differ by more");
        assert!(judge(96, Lowering::Rep, &vec![], 1).is_none());
    }
}
