//! Examines one implementation: the vectors, then the adversarial requests. Failures are repeated in a new
//! process, reduced and classified.

mod end;

pub use end::status;

use crate::class::{self, Class, LONGEST_PACKET_BYTES};
use crate::client::{Client, ClientError};
use crate::reduce::{self, Effort};
use crate::report::{self, Fault, Implementation, VectorOutcome};
use crate::vectors::Case;
use crate::wire::{Reply, Request};
use crate::{reference, trial};
use end::End;

/// The longest data that is sent as hexadecimal digits.
pub const LONGEST_AS_DIGITS: usize = 300_000;
/// The longest data that is sent to implementations that repeat patterns themselves, which hold all of it in
/// memory. The 1 GiB vectors are for programs that use the vectors directly.
pub const LONGEST_REPEATED: usize = 80 << 20;
/// An implementation is abandoned after this many requests without an answer, each asked twice, or after one
/// that times out twice.
const MAX_ERRORS: usize = 3;
/// An examination ends after this many requests that were answered only when they were repeated.
const MAX_FLUKES: usize = 10;

/// A wrong answer.
struct WrongAnswer {
    request: Request,
    expected: Reply,
    actual: Actual,
    class: Class,
}

/// The longest request that is shown in full.
const MAX_SHOWN: usize = 400;
/// The rest of a group is skipped after this many unsupported requests.
const MAX_UNSUPPORTED: usize = 100;

/// What was received instead of the expected answer.
#[derive(Clone)]
enum Actual {
    Reply(Reply),
    Error(ClientError),
}

/// The state of one examination.
struct Examiner<'a> {
    client: &'a mut Client,
    udp: bool,
    longest: usize,
    failures: Vec<WrongAnswer>,
    /// The errors that recurred when the request was repeated.
    errors: Vec<ClientError>,
    /// The errors that did not.
    flukes: Vec<ClientError>,
    notes: Vec<String>,
    questions: u64,
    /// The requests that were answered, rightly or wrongly.
    answered: u64,
    /// Set if the examination must end early.
    end: Option<End>,
}

/// The outcome of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    Right,
    Wrong,
    /// The implementation has no such function.
    Unsupported,
    /// The request was not sent.
    TooLong,
    /// The user interrupted before the answer.
    Interrupted,
}

/// Examines an implementation and completes `row`; a missing name and version are taken from its answer to
/// `hello`.
pub fn examine(mut row: Implementation, client: &mut Client, cases: &[Case], seed: u64) -> Implementation {
    let hello = match client.hello() {
        Ok(hello) => hello,
        Err(ClientError::Interrupted) => return row.interrupted(),
        Err(error) => return row.unusable(error.to_string()),
    };
    if row.kind == "command" {
        row.name.clone_from(&hello.name);
    }
    if row.kind != "object" {
        row.version.get_or_insert_with(|| hello.version.clone());
    }
    let longest = if hello.repeat { LONGEST_REPEATED } else { LONGEST_AS_DIGITS };
    let mut examiner = Examiner::new(client, hello.udp, longest);
    examiner.vectors(&mut row, cases);
    examiner.trials(seed);
    let title = row.title();
    row.faults.extend(examiner.faults(&title));
    row.questions = examiner.questions;
    row.notes.append(&mut examiner.notes);
    examiner.conclude(row)
}

impl<'a> Examiner<'a> {
    fn new(client: &'a mut Client, udp: bool, longest: usize) -> Examiner<'a> {
        Examiner {
            client,
            udp,
            longest,
            failures: Vec::new(),
            errors: Vec::new(),
            flukes: Vec::new(),
            notes: Vec::new(),
            questions: 0,
            answered: 0,
            end: None,
        }
    }

    /// Sends a request and records a wrong answer.
    fn ask(&mut self, request: &Request, expected: &Reply) -> Outcome {
        if request.input_len() > self.longest {
            return Outcome::TooLong;
        }
        self.questions += 1;
        let outcome = match self.client.ask(request) {
            Ok(reply) => self.judge(request, expected, reply),
            Err(ClientError::Interrupted) => self.interrupted(),
            Err(error) => self.retry(request, expected, error),
        };
        self.answered += u64::from(matches!(outcome, Outcome::Right | Outcome::Wrong));
        outcome
    }

    /// The outcome of an answer; a wrong one is recorded.
    fn judge(&mut self, request: &Request, expected: &Reply, reply: Reply) -> Outcome {
        if reply == Reply::Unsupported {
            return Outcome::Unsupported;
        }
        if is_right(request, &reply, expected) {
            return Outcome::Right;
        }
        self.record(request, expected, Actual::Reply(reply));
        Outcome::Wrong
    }

    fn interrupted(&mut self) -> Outcome {
        self.end = Some(End::Interrupted);
        Outcome::Interrupted
    }

    /// Repeats a request after an error. One that does not recur is no fault: it could have another cause.
    fn retry(&mut self, request: &Request, expected: &Reply, first: ClientError) -> Outcome {
        match self.client.ask(request) {
            Err(ClientError::Interrupted) => self.interrupted(),
            Ok(reply) => {
                self.notes.push(format!("once, but not again, at '{}': {first}", excerpt(request)));
                self.flukes.push(first);
                if self.flukes.len() >= MAX_FLUKES {
                    self.end = self.end.or(Some(End::Unreliable));
                }
                self.judge(request, expected, reply)
            }
            Err(again) => {
                let hangs = [&first, &again].into_iter().all(|error| *error == ClientError::TimedOut);
                self.record(request, expected, Actual::Error(again.clone()));
                self.errors.push(again);
                if hangs {
                    self.end = Some(End::Hang);
                } else if self.errors.len() >= MAX_ERRORS {
                    self.end = Some(End::Errors);
                }
                Outcome::Wrong
            }
        }
    }

    /// Records a failure if it is the shortest of its class.
    fn record(&mut self, request: &Request, expected: &Reply, actual: Actual) {
        let class = class_of(request, expected, &actual);
        let failure = WrongAnswer { request: request.clone(), expected: expected.clone(), actual, class };
        match self.failures.iter_mut().find(|known| known.class == class) {
            Some(known) if known.request.input_len() <= failure.request.input_len() => {}
            Some(known) => *known = failure,
            None => self.failures.push(failure),
        }
    }

    /// Sends the vectors. One that was not answered because of an interruption is not counted.
    fn vectors(&mut self, row: &mut Implementation, cases: &[Case]) {
        for case in cases {
            if self.end.is_some() {
                return;
            }
            let mut outcome = None;
            for (request, answers) in &case.requests {
                let expected = if self.udp { answers.last() } else { answers.first() };
                let Some(expected) = expected else { continue };
                // A packet is sent twice, for its field and for its verdict; one of them may fail or be
                // unsupported.
                outcome = match (self.ask(request, expected), outcome) {
                    (Outcome::Interrupted, _) => return,
                    (Outcome::Wrong, _) | (_, Some(VectorOutcome::Failed)) => Some(VectorOutcome::Failed),
                    (Outcome::Right, _) | (_, Some(VectorOutcome::Passed)) => Some(VectorOutcome::Passed),
                    (Outcome::TooLong, _) => Some(VectorOutcome::TooLong),
                    (Outcome::Unsupported, _) => Some(VectorOutcome::NoFunction),
                };
                if self.end.is_some() && outcome == Some(VectorOutcome::Failed) {
                    break;
                }
            }
            row.vectors.count(case.file, outcome.unwrap_or(VectorOutcome::NoFunction));
        }
    }

    /// Sends the adversarial requests.
    fn trials(&mut self, seed: u64) {
        if self.end.is_some() {
            return;
        }
        for group in trial::groups(seed, self.longest) {
            let mut answered = false;
            for (index, request) in group.requests.enumerate() {
                let Some(expected) = reference::expected(&request, self.udp) else { continue };
                match self.ask(&request, &expected) {
                    Outcome::Right | Outcome::Wrong => answered = true,
                    Outcome::Unsupported if !answered && index >= MAX_UNSUPPORTED => break,
                    Outcome::Unsupported | Outcome::TooLong | Outcome::Interrupted => {}
                }
                if self.end.is_some() {
                    return;
                }
            }
        }
    }

    /// The failures, reduced: one fault per class.
    fn faults(&mut self, title: &str) -> Vec<Fault> {
        let mut faults: Vec<(Class, usize, Fault)> = Vec::new();
        for failure in std::mem::take(&mut self.failures) {
            let keeps = matches!(failure.actual, Actual::Error(_)) || self.end == Some(End::Interrupted);
            let found = if keeps { failure } else { self.reduced(failure) };
            let size = found.request.input_len();
            let fault = fault(title, &found);
            match faults.iter_mut().find(|(class, ..)| *class == found.class) {
                Some(known) if known.1 <= size => {}
                Some(known) => *known = (found.class, size, fault),
                None => faults.push((found.class, size, fault)),
            }
        }
        let any = |wanted: fn(Class) -> bool| faults.iter().any(|(class, ..)| wanted(*class));
        let at_any_length = any(Class::shows_at_any_length);
        let of_even_length = any(|class| matches!(class, Class::ByteOrder | Class::Complement));
        faults.retain(|(class, ..)| match class {
            Class::LongInput => !at_any_length,
            Class::OddLength => !of_even_length,
            _ => true,
        });
        faults.sort_by_key(|(_, size, _)| *size);
        faults.into_iter().map(|(.., fault)| fault).collect()
    }

    /// The failure with a smaller input, which may turn out to be of another class.
    fn reduced(&mut self, failure: WrongAnswer) -> WrongAnswer {
        let (udp, client) = (self.udp, &mut *self.client);
        let long = failure.class == Class::LongInput;
        let mut answered = |request: &Request| -> Option<(Reply, Reply)> {
            let expected = reference::expected(request, udp)?;
            let actual = client.ask(request).ok()?;
            (actual != expected && actual != Reply::Unsupported).then_some((expected, actual))
        };
        // A fault of long input must not become one of short input, which is reported separately. With an odd
        // last byte, swapped or complemented results cannot be distinguished from a misplaced byte. Packets
        // and updates can become malformed when reduced, which is another fault, or none.
        let even = matches!(failure.class, Class::ByteOrder | Class::Complement);
        let keeps_class = !failure.request.is_message();
        let mut fails = |request: &Request| {
            let len = request.input_len();
            (!long || len > LONGEST_PACKET_BYTES)
                && (!even || len.is_multiple_of(2))
                && answered(request).is_some_and(|(expected, actual)| {
                    !keeps_class || class::of(request, &expected, &actual) == failure.class
                })
        };
        let request = reduce::reduce(&failure.request, Effort::default(), &mut fails);
        match answered(&request) {
            Some((expected, reply)) => {
                let actual = Actual::Reply(reply);
                WrongAnswer { class: class_of(&request, &expected, &actual), request, expected, actual }
            }
            None => failure,
        }
    }
}

/// True for the expected answer. For a malformed packet, which is never sent, any checksum is accepted too,
/// and so is a refusal.
fn is_right(request: &Request, reply: &Reply, expected: &Reply) -> bool {
    let is_malformed = match request {
        Request::Packet(packet) | Request::Verify(packet) => reference::field_at(packet).is_none(),
        _ => false,
    };
    reply == expected
        || is_malformed
            && matches!(
                (reply, expected),
                (Reply::Field(_), Reply::None) | (Reply::Error(_), Reply::None | Reply::Damaged)
            )
}

fn class_of(request: &Request, expected: &Reply, actual: &Actual) -> Class {
    match actual {
        Actual::Reply(reply) => class::of(request, expected, reply),
        Actual::Error(ClientError::TimedOut) => Class::TimedOut,
        Actual::Error(ClientError::Garbage(_)) => Class::Garbage,
        Actual::Error(_) => Class::Crash,
    }
}

fn fault(title: &str, failure: &WrongAnswer) -> Fault {
    let input = failure.request.input();
    let got = match &failure.actual {
        Actual::Reply(Reply::Error(text)) => format!("error: {text}"),
        Actual::Reply(reply) => reply.line(),
        Actual::Error(ClientError::Garbage(line)) => format!("the answer {line:?}"),
        Actual::Error(error) => error.to_string(),
    };
    let expected = failure.expected.line();
    let line = failure.request.line(false);
    let line = if line.len() <= MAX_SHOWN { line } else { failure.request.line(true) };
    let source = match failure.request {
        _ if failure.class == Class::UdpZero => "RFC 768",
        _ if failure.class == Class::Malformed => "it is well-formed",
        Request::Verify(_) => "as received",
        Request::Update { ref old, ref new, .. } if old == new => "nothing changes",
        Request::Update { .. } => "RFC 1624",
        Request::Pseudo { .. } => "RFC 9293, RFC 8200",
        _ => "RFC 1071",
    };
    let question = report::question(&failure.request);
    Fault {
        class: failure.class.word(),
        input_hex: report::written_out(&input),
        input: report::in_words(&input),
        seed: match failure.request {
            Request::Onto { sum, .. } => Some(crate::wire::hex(&sum)),
            _ => None,
        },
        report: format!("{title}: {question} should be {expected} ({source}), got {got} [{}]", failure.class),
        expected,
        got,
        request: (line.len() <= MAX_SHOWN).then_some(line),
    }
}

fn excerpt(request: &Request) -> String {
    let line = request.line(true);
    match line.char_indices().nth(60) {
        Some((end, _)) => format!("{}...", &line[..end]),
        None => line,
    }
}

#[cfg(test)]
mod tests;
