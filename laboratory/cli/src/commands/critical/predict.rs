//! Predicts the time of a routine of the collection, in an object file, or given as bytes.

use super::traced::{Overlapping, overlapping, traced};
use crate::cli::{Critical, Moves};
use carryline_chain::analysis::{self, LoopBound};
use carryline_chain::remedies::{self, Followed};
use carryline_chain::suggest::{self, Change, Suggestion};
use carryline_chain::trace::Trace;
use carryline_chain::{Analysis, ChainError, Image, Key, Latencies, Options, Scope, Signature, decode};
use carryline_conditions::Dependence;
use carryline_engine::failure::{Failure, usage};
use carryline_variants::landing::Landing;
use carryline_variants::{Family, Lengths, Variant};
use carryline_verification::subject::SubjectId;
use std::path::Path;

/// The default size of a call: an IPv6 header.
pub const SIZE: usize = 40;

/// The analysis of a routine, before it is measured.
pub struct Prediction {
    /// The name of the variant or symbol, or `bytes`.
    pub name: String,
    /// The variant, if the routine is one.
    pub variant: Option<&'static Variant>,
    /// The size of the call, in bytes.
    pub size: Option<usize>,
    /// The meaning of the registers.
    pub signature: Signature,
    /// The call: straight-line code, a trace, or else every path.
    pub call: Analysis,
    /// The code, with its loops, if the call is a trace.
    pub code: Option<Analysis>,
    /// Successive calls, if a call was traced and is completely modelled.
    pub overlapping: Option<Overlapping>,
    /// Deviations from the request.
    pub notes: Vec<String>,
}

impl Prediction {
    /// Predicts code given in hexadecimal.
    pub fn of_bytes(hex: &str, args: &Critical, latencies: &Latencies) -> Result<Prediction, Failure> {
        let refused = |error: ChainError| usage(format!("--bytes: {error}"));
        let image = Image::from_hex(hex).map_err(refused)?;
        Prediction::of_image("bytes", &image, args, latencies).map_err(refused)
    }

    /// Predicts a function in an object file.
    pub fn of_object(
        path: &Path,
        symbol: &str,
        args: &Critical,
        latencies: &Latencies,
    ) -> Result<Prediction, Failure> {
        let refused = |error: ChainError| usage(error.to_string());
        let image = Image::from_object(path, symbol).map_err(refused)?;
        Prediction::of_image(symbol, &image, args, latencies)
            .map_err(|error| usage(format!("{}, {symbol}: {error}", path.display())))
    }

    fn of_image(
        name: &str,
        image: &Image,
        args: &Critical,
        latencies: &Latencies,
    ) -> Result<Prediction, ChainError> {
        let signature = match args.family.first().and_then(|family| Family::from_name(family)) {
            Some(family) => signature(family),
            None => Signature::unknown(),
        };
        let function = decode::follow(image)?;
        let call = analysis::of_function(function, &signature, options(args, latencies));
        Ok(Prediction {
            name: name.to_owned(),
            variant: None,
            size: None,
            signature,
            call,
            code: None,
            overlapping: None,
            notes: Vec::new(),
        })
    }

    /// Predicts a variant, from this program's own code. If its path depends on the size, a call of that size
    /// is traced.
    pub fn of_variant(
        variant: &'static Variant,
        args: &Critical,
        latencies: &Latencies,
    ) -> Result<Prediction, Failure> {
        let id = SubjectId { family: variant.family(), name: variant.name.to_owned() };
        let size = size(variant, args.size)?;
        let signature = signature_of(variant);
        let mut notes = Vec::new();
        let code = code(variant)
            .and_then(|image| decode::follow(&image))
            .map(|function| analysis::of_function(function, &signature, options(args, latencies)));
        let needs_trace = match &code {
            Ok(code) => code.scope == Scope::Branching || !code.function.stops.is_empty(),
            Err(_) => true,
        };
        // Always trace a call: how calls overlap depends on its addresses.
        let executed = match traced(variant, &id, size)? {
            Ok(executed) => Some(executed),
            Err(reason) => {
                notes.push(format!("no call could be traced: {reason}"));
                None
            }
        };
        let overlapping =
            executed.as_ref().and_then(|trace| overlapping(trace, &signature, size, args, latencies));
        let trace = executed.filter(|_| needs_trace);
        let name = variant.name.to_owned();
        // A dispatcher has no loops; the function that it calls may have some.
        let code = match (&trace, code) {
            (Some(trace), Ok(code)) if code.loops.is_empty() => {
                Ok(entered(variant, trace, &signature, args, latencies).unwrap_or(code))
            }
            (_, code) => code,
        };
        let of_trace = trace.map(|trace| analysis::of_trace(&trace, &signature, options(args, latencies)));
        let (call, code) = match (of_trace, code) {
            (Some(call), Ok(code)) => (call, Some(code)),
            (Some(call), Err(error)) => {
                // The C library's code is not part of this program, so there is only the trace.
                if matches!(variant.landing(), Landing::Routine(_)) {
                    notes.push(format!("the code could not be read as a whole: {error}"));
                }
                (call, None)
            }
            (None, Ok(code)) => (code, None),
            (None, Err(error)) => return Err(usage(format!("{id}: {error}"))),
        };
        // Without a model of every instruction, a simulation is a guess.
        let overlapping = overlapping.filter(|_| call.not_modelled().is_empty());
        let size = Some(size);
        Ok(Prediction { name, variant: Some(variant), size, signature, call, code, overlapping, notes })
    }

    /// Every latency that the analysis used.
    pub fn keys(&self) -> impl Iterator<Item = &Key> {
        self.call.latencies.keys().chain(self.code.iter().flat_map(|code| code.latencies.keys()))
    }

    /// The routine and the size of the call.
    pub fn title(&self) -> String {
        let family = self.variant.map(|variant| format!("{}/", variant.family())).unwrap_or_default();
        let size = self.size.map(|size| format!(", {size} bytes")).unwrap_or_default();
        format!("{family}{}{size}", self.name)
    }

    /// The loop that long calls spend their time in, with the analysis that it belongs to.
    pub fn main_loop(&self) -> Option<(&Analysis, &LoopBound)> {
        let code = self.code.as_ref().unwrap_or(&self.call);
        code.main_loop().map(|found| (code, found))
    }

    /// All loops.
    pub fn loops(&self) -> &[LoopBound] {
        &self.code.as_ref().unwrap_or(&self.call).loops
    }

    /// The cycles of a call with this dependence: simulated, but never below the bound. Fenced calls are
    /// predicted by their bound.
    pub fn predicted(&self, dependence: Dependence) -> Option<f64> {
        let bound = self.bound(dependence)?;
        match (dependence, &self.overlapping) {
            (Dependence::Fenced, _) => Some(bound),
            (_, None) => None,
            (_, Some(overlapping)) => {
                overlapping.of(dependence).map(|found| found.simulated.cycles.max(bound))
            }
        }
    }

    /// The bound on the cycles of a call with this dependence; `None` if the analysis is not of one call, or
    /// if a part of it is not modelled.
    pub fn bound(&self, dependence: Dependence) -> Option<f64> {
        if self.call.scope == Scope::Branching || !self.call.not_modelled().is_empty() {
            return None;
        }
        let throughput = self.call.throughput.cycles;
        let path = match dependence {
            Dependence::Independent => None,
            Dependence::Chained => {
                self.signature.chained.and_then(|name| self.call.input(name)).and_then(|i| i.path_cycles)
            }
            Dependence::Fenced => self.call.longest().and_then(|input| input.path_cycles),
        };
        Some(path.unwrap_or(0.0).max(throughput))
    }

    /// Changes that would make the call faster; omits gains too small to measure.
    pub fn suggest(&self, args: &Critical, latencies: &Latencies) -> Vec<Suggestion> {
        let options = options(args, latencies);
        let mut found = suggest::for_call(&self.call, &self.signature, options);
        let chained = self.predicted(Dependence::Chained);
        if let Some((code, main)) = self.main_loop() {
            let turns = match self.call.scope {
                Scope::Trace => remedies::turns(&self.call, main.offset),
                // No call was traced: the suggestion is for one iteration.
                _ => 1,
            };
            for mut split in suggest::for_loop(code, main, options).into_iter().filter(|_| turns > 0) {
                let saved = split
                    .bounds
                    .iter()
                    .filter_map(|change| Some(change.before? - change.after?))
                    .sum::<f64>();
                let total = chained.map(|cycles| (cycles, cycles - saved * turns as f64));
                if let Some((before, after)) = total.filter(|_| self.call.scope == Scope::Trace) {
                    let name = "a chained call".to_owned();
                    split.bounds.push(Change { name, before: Some(before), after: Some(after) });
                    if before - after < suggest::WORTH * before {
                        continue;
                    }
                }
                found.push(split);
            }
        }
        if let (Some(calls), Some(chained), Some(bytes)) = (&self.overlapping, chained, self.size) {
            let followed = Followed {
                call: &self.call,
                independent: &calls.independent.ops,
                chained_cycles: chained,
                independent_cycles: calls.independent.simulated.cycles,
                bytes,
            };
            let (code, main) = match self.main_loop() {
                Some((code, main)) => (code, Some(main)),
                None => (&self.call, None),
            };
            // Only sums can be split, widened and reordered.
            if self.signature.returns {
                found.extend(remedies::of(followed, main, code, latencies));
            }
        }
        found
    }
}

fn options<'a>(args: &Critical, latencies: &'a Latencies) -> Options<'a> {
    let mut options = Options::new(latencies);
    options.eliminates_moves = args.moves.map(|moves| moves == Moves::Eliminated);
    options
}

/// The meaning of the registers in a family's routines.
fn signature(family: Family) -> Signature {
    match family {
        Family::Zero => Signature::zero(),
        Family::Copy => Signature::copy(),
        Family::Checksum => Signature::checksum(),
        Family::CopyChecksum => Signature::copy_checksum(),
    }
}

/// The meaning of the registers at a variant's entry point.
fn signature_of(variant: &Variant) -> Signature {
    match variant.landing() {
        Landing::Set(_) => Signature::set(),
        Landing::Move(_) | Landing::Routine(_) => signature(variant.family()),
    }
}

/// The size of the call to analyse.
fn size(variant: &Variant, requested: Option<usize>) -> Result<usize, Failure> {
    match (requested, variant.lengths) {
        (Some(requested), lengths) if !lengths.contains(requested) => {
            let supported = match lengths {
                Lengths::Only(only) | Lengths::OnlyUnseeded(only) => format!("exactly {only}"),
                Lengths::UpTo(most) => format!("at most {most}"),
                Lengths::Any => "any number of".to_owned(),
            };
            Err(usage(format!("--size {requested}: {} supports {supported} bytes", variant.name)))
        }
        (Some(requested), _) => Ok(requested),
        (None, Lengths::Only(only) | Lengths::OnlyUnseeded(only)) => Ok(only),
        (None, Lengths::UpTo(most)) => Ok(SIZE.min(most)),
        (None, Lengths::Any) => Ok(SIZE),
    }
}

/// The main function called in a trace: of those with loops, the one with the most bytes per iteration.
fn entered(
    variant: &Variant,
    trace: &Trace,
    signature: &Signature,
    args: &Critical,
    latencies: &Latencies,
) -> Option<Analysis> {
    let analyses = trace.entered().into_iter().filter_map(|distance| {
        let function = decode::follow(&code_at(entry(variant).wrapping_add_signed(distance)).ok()?).ok()?;
        Some(analysis::of_function(function, signature, options(args, latencies)))
    });
    let with_loops = analyses.filter(|found| found.main_loop().is_some());
    with_loops.max_by_key(|found| found.main_loop().and_then(|main| main.bytes_per_iteration))
}

/// The address of a variant's code in this process, at which a timed call lands.
pub fn entry(variant: &Variant) -> u64 {
    variant.landing().address() as u64
}

fn code(variant: &Variant) -> Result<Image, ChainError> {
    code_at(entry(variant))
}

/// This program's code at an address.
#[cfg(target_os = "linux")]
pub fn code_at(address: u64) -> Result<Image, ChainError> {
    Image::from_this_program(address)
}

/// This program's code at an address.
#[cfg(not(target_os = "linux"))]
pub fn code_at(_address: u64) -> Result<Image, ChainError> {
    let reason = "its own code is read on Linux only; give --object and --symbol".to_owned();
    Err(ChainError::Object { file: "this program".to_owned(), reason })
}
