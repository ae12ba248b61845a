//! Runs an audit: queries and verifies every subject, each in processes of its own.

use crate::class::Class;
use crate::client::{BrokenPipesIgnored, Client, ClientError, Launch};
use crate::examine::{self, examine};
use crate::report::{Audit, Fault, Implementation, Status};
use crate::subjects::{self, Subject};
use crate::vectors::{self, Case};
use crate::wire::{Data, Request};
use crate::{reference, wire};
use carryline_engine::interrupt;
use carryline_engine::progress::Progress;
use carryline_engine::prove::{self, ProofVerdict};
use carryline_engine::supervise::{SuperviseError, Supervisor};
use carryline_machine::environment::libc_name;
use carryline_variants::Family;
use carryline_verification::forms::Form;
use carryline_verification::plugin::PluginSpec;
use carryline_verification::subject::SubjectId;
use carryline_verification::{Counterexample, FaultKind};
use rayon::prelude::*;
use std::path::Path;
use std::time::Duration;

/// The settings of an audit.
pub struct Setting<'a> {
    /// Starts workers; its program is also run as an adapter, as `adapter` with arguments.
    pub supervisor: &'a Supervisor,
    /// The time in which each request must be answered.
    pub timeout: Duration,
    /// The seed of all random choices.
    pub seed: u64,
    /// Receives progress messages.
    pub progress: &'a Progress,
}

/// Audits all subjects. If interrupted, it returns the results of those that were started.
///
/// # Errors
/// If a worker process cannot be started, or sends a line that cannot be parsed.
pub fn run(subjects: &[Subject], setting: &Setting<'_>) -> Result<Audit, SuperviseError> {
    let _pipes = BrokenPipesIgnored::begin();
    let cases = vectors::cases();
    let one = |(index, subject): (usize, &Subject)| -> Result<Option<Implementation>, SuperviseError> {
        if interrupt::requested() {
            return Ok(None);
        }
        let row = begin(subject);
        setting.progress.say(format!("auditing {} of {}: {}", index + 1, subjects.len(), row.name));
        setting.audit(subject, row, &cases).map(Some)
    };
    carryline_engine::parallel::prepare();
    let rows: Vec<_> = subjects.par_iter().enumerate().map(one).collect::<Result<_, _>>()?;
    Ok(Audit { seed: setting.seed, implementations: rows.into_iter().flatten().collect() })
}

/// A row that contains only what is known in advance.
fn begin(subject: &Subject) -> Implementation {
    match subject {
        Subject::Crate { name, .. } => Implementation::new(name, "crate"),
        Subject::Memory { name, version, .. } => {
            let version = (!version.is_empty()).then(|| (*version).to_owned());
            Implementation { version, ..Implementation::new(name, "crate") }
        }
        Subject::Variant(variant) => Implementation::new(variant.name, "variant"),
        Subject::Libc(standard) => Implementation {
            version: Some(libc_name()),
            form: Some(standard.to_string()),
            ..Implementation::new(standard.name(), "libc")
        },
        Subject::Object { file, symbol, form } => Implementation {
            form: form.map(|form| form.to_string()),
            ..Implementation::new(&format!("{}:{symbol}", file.display()), "object")
        },
        Subject::Plugin(spec) => Implementation {
            form: spec.shape.word().or_else(|| Some(spec.family.to_string())),
            ..Implementation::new(&format!("{}:{}", spec.file.display(), spec.symbol), "object")
        },
        Subject::Command(command) => Implementation::new(command, "command"),
    }
}

impl Setting<'_> {
    fn audit(
        &self,
        subject: &Subject,
        row: Implementation,
        cases: &[Case],
    ) -> Result<Implementation, SuperviseError> {
        match subject {
            Subject::Crate { name, variant } => {
                let row = self.query(row, &["crate", name], cases);
                let id = SubjectId { family: Family::Checksum, name: (*variant).to_owned() };
                self.verify(row, &[], id)
            }
            Subject::Variant(variant) => {
                let id = SubjectId { family: Family::Checksum, name: variant.name.to_owned() };
                if let Some(ProofVerdict::Unsupported(why)) = prove::unsupported(&id) {
                    return Ok(row.unusable(why));
                }
                let row = self.query(row, &["variant", variant.name], cases);
                self.verify(row, &[], id)
            }
            Subject::Memory { variant, .. } => self.verify(row, &[], variant.clone()),
            Subject::Libc(standard) => match subjects::libc_file() {
                Some(file) => self.verify_plugin(row, &format!("{}:{standard}:{standard}", file.display())),
                None => {
                    Ok(row.unusable("this program's C library is linked statically; name it with --plugin"))
                }
            },
            Subject::Plugin(spec) => self.verify_plugin(row, &spec.to_string()),
            Subject::Object { file, symbol, form } => self.object(row, file, symbol, *form, cases),
            Subject::Command(command) => {
                let mut client = Client::new(Launch::shell(command), self.timeout);
                Ok(examine(row, &mut client, cases, self.seed))
            }
        }
    }

    fn adapter(&self, words: &[&str]) -> Launch {
        let arguments = std::iter::once("adapter").chain(words.iter().copied()).map(Into::into).collect();
        Launch { program: self.supervisor.program.clone().into(), arguments }
    }

    fn query(&self, row: Implementation, words: &[&str], cases: &[Case]) -> Implementation {
        examine(row, &mut Client::new(self.adapter(words), self.timeout), cases, self.seed)
    }

    /// Audits a symbol: determines its form, queries it, and verifies it in memory if it computes sums.
    fn object(
        &self,
        mut row: Implementation,
        file: &Path,
        symbol: &str,
        form: Option<Form>,
        cases: &[Case],
    ) -> Result<Implementation, SuperviseError> {
        let name = file.to_string_lossy();
        let form = match form {
            Some(form) => form,
            None => match self.form_by_trial(&name, symbol) {
                Ok(form) => form,
                Err(_) if interrupt::requested() => return Ok(row.interrupted()),
                Err(reason) => return Ok(row.unusable(reason)),
            },
        };
        let word = form.to_string();
        row.form = Some(word.clone());
        row = self.query(row, &["object", &name, symbol, &word], cases);
        match (form.family(), row.status) {
            (None, _) | (_, Status::Unusable) => Ok(row),
            _ => self.verify_plugin(row, &format!("{name}:{symbol}:{word}")),
        }
    }

    /// The first form in which a symbol answers a few simple requests correctly. A call in a wrong form may
    /// crash or hang, in a process of its own.
    fn form_by_trial(&self, file: &str, symbol: &str) -> Result<Form, String> {
        let timeout = self.timeout.min(Duration::from_secs(1));
        for form in Form::all() {
            if interrupt::requested() {
                return Err("interrupted".to_owned());
            }
            let mut client = Client::new(self.adapter(&["object", file, symbol, &form.to_string()]), timeout);
            if let Err(ClientError::Unusable(reason)) = client.hello() {
                // The file or the symbol is at fault, whatever the form.
                return Err(reason);
            }
            let fits = probes(form).iter().all(|request| {
                let reply = client.ask(request);
                reply.is_ok() && reply.ok() == reference::answer(request)
            });
            if fits {
                return Ok(form);
            }
        }
        let tried = Form::all().count();
        Err(format!(
            "none of the {tried} forms that were tried fits; name the form with --form FORM or \
             FILE.so:{symbol}:FORM, as in {}",
            subjects::FORM_EXAMPLES
        ))
    }

    fn verify_plugin(&self, row: Implementation, word: &str) -> Result<Implementation, SuperviseError> {
        let spec = match PluginSpec::parse(word) {
            Ok(spec) => spec,
            Err(error) => return Ok(row.unusable(error.to_string())),
        };
        let id = SubjectId { family: spec.family, name: spec.name() };
        self.verify(row, &[(spec.to_string(), id.clone())], id)
    }

    /// Adds the result of verification in memory.
    fn verify(
        &self,
        mut row: Implementation,
        plugins: &[(String, SubjectId)],
        id: SubjectId,
    ) -> Result<Implementation, SuperviseError> {
        if row.status == Status::Unusable {
            return Ok(row);
        }
        if interrupt::requested() {
            return Ok(row.interrupted());
        }
        let proofs = prove::all(self.supervisor, plugins, &[id], self.seed, self.progress)?;
        // Only an interruption leaves no result.
        let Some(proof) = proofs.into_iter().next() else { return Ok(row.interrupted()) };
        match proof.verdict {
            ProofVerdict::Proved(summary) => {
                row.calls = summary.calls;
                row.notes.extend(summary.notes);
            }
            ProofVerdict::Wrong(found) | ProofVerdict::Crashed(found) | ProofVerdict::TimedOut(found) => {
                add(&mut row, &found)
            }
            ProofVerdict::Unsupported(why) | ProofVerdict::NotProved(why) | ProofVerdict::WrongLater(why) => {
                if row.questions == 0 {
                    return Ok(row.unusable(why));
                }
                row.notes.push(format!("not verified in memory: {why}"));
            }
        }
        Ok(row)
    }
}

/// Adds a counterexample, unless the requests have already found the same fault.
fn add(row: &mut Implementation, found: &Counterexample) {
    let class = match found.kind {
        FaultKind::Crashed | FaultKind::Exited => Class::Crash,
        FaultKind::TimedOut => Class::TimedOut,
        kind => Class::Memory(kind),
    };
    // The requests have already found and reduced a wrong sum, or a panic in its computation.
    let is_sum = matches!(found.kind, FaultKind::WrongResult | FaultKind::Crashed | FaultKind::Exited);
    let known = row.faults.iter().any(|fault| fault.class != Class::LongInput.word());
    if is_sum && row.questions > 0 && known {
        return;
    }
    let bytes = found.bytes.as_deref().and_then(wire::unhex);
    let known_bytes = bytes.filter(|bytes| bytes.len() as u64 == found.len);
    row.faults.push(Fault {
        class: class.word(),
        input_hex: known_bytes.as_deref().map(wire::hex),
        input: match &known_bytes {
            Some(bytes) => crate::report::in_words(&Data::literal(bytes)),
            None => format!("{} bytes", crate::report::grouped(found.len as usize)),
        },
        seed: found.seed.map(|seed| format!("{seed:08x}")),
        expected: found.expected.clone(),
        got: found.got.clone(),
        request: None,
        report: format!("{}: {} [{class}]", row.title(), found.sentence),
    });
    if matches!(row.status, Status::Right | Status::Limited | Status::Incomplete) {
        row.status = examine::status(&row.faults);
    }
}

/// Requests that a function of the given form answers correctly, even with many faults, and one of another
/// form does not.
fn probes(form: Form) -> Vec<Request> {
    if form.updates() {
        let update = |checksum, old: [u8; 2], new: [u8; 2]| Request::Update {
            rule: wire::Rule::Internet,
            checksum,
            offset: 0,
            old: old.to_vec(),
            new: new.to_vec(),
        };
        return vec![
            update([0x12, 0x34], [0x00, 0x73], [0x01, 0x20]),
            update([0x7a, 0x7c], [0x40, 0x11], [0x3f, 0x11]),
            update([0xdd, 0x2f], [0x12, 0x55], [0x32, 0x84]),
        ];
    }
    let header = Data::literal(&[
        0x45, 0x00, 0x00, 0x73, 0x00, 0x00, 0x40, 0x00, 0x40, 0x11, 0x00, 0x00, 0xc0, 0xa8, 0x00, 0x01, 0xc0,
        0xa8, 0x00, 0xc7,
    ]);
    let word = Data::literal(&[0x12, 0x34]);
    let mut probes = vec![Request::Sum(word.clone()), Request::Sum(header.clone())];
    if form.takes_seed() {
        probes.push(Request::Onto { sum: [0x01, 0x02], data: word });
        probes.push(Request::Onto { sum: [0xa0, 0x0b], data: header });
    }
    probes
}

/// The estimated duration of an audit of this many subjects, for the progress line.
#[must_use]
pub fn forecast(subjects: usize) -> Duration {
    Duration::from_secs(3) * u32::try_from(subjects).unwrap_or(u32::MAX).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::Reply;

    #[test]
    fn probes_have_answers_that_distinguish_forms() {
        for form in Form::all() {
            for probe in probes(form) {
                let Some(Reply::Field(field)) = reference::answer(&probe) else { panic!("{form}") };
                assert_ne!(field[0], field[1], "{form}: an answer with swapped bytes must differ");
            }
        }
    }
}
