//! One implementation, asked everything: the vectors, then the adversarial questions; what is wrong is asked again of a new
//! process, reduced and named.

use crate::class::{self, Class, LONGEST_PACKET_BYTES};
use crate::reduce::{self, Effort};
use crate::report::{self, Asked, Fault, Implementation, Status};
use crate::talk::{Talk, Trouble};
use crate::vectors::Case;
use crate::wire::{Reply, Request};
use crate::{reference, trial};
use carryline_engine::interrupt;

/// Data up to this length is sent as hexadecimal digits.
pub const LONGEST_AS_DIGITS: usize = 300_000;
/// Data up to this length is sent where the other side repeats patterns itself: it holds all of it in memory. The vectors of
/// 1 GiB are for those who can sum without a line between.
pub const LONGEST_REPEATED: usize = 80 << 20;
/// After this many troubles an implementation is given up; after one that hangs and hangs again, too.
const MOST_TROUBLES: usize = 3;

/// A wrong answer.
struct Caught {
    request: Request,
    right: Reply,
    got: Got,
    class: Class,
}

/// Longer requests are not shown.
const MOST_SHOWN: usize = 400;
/// After so many questions of a group that are not answered, the rest is not asked.
const MOST_SKIPPED: usize = 100;

/// What came instead of the right answer.
#[derive(Clone)]
enum Got {
    Reply(Reply),
    Trouble(Trouble),
}

/// The state of one examination.
struct Examiner<'a> {
    talk: &'a mut Talk,
    udp: bool,
    longest: usize,
    caught: Vec<Caught>,
    troubles: Vec<Trouble>,
    notes: Vec<String>,
    questions: u64,
}

/// What came of a question.
enum Outcome {
    Right,
    Wrong,
    /// There is no function for it.
    Unsupported,
    /// It was not asked.
    TooLong,
    /// Nothing more can be asked.
    Over,
}

/// Asks everything and completes `row`, of which name and version are taken from the answers where they are not known.
pub fn examine(mut row: Implementation, talk: &mut Talk, cases: &[Case], seed: u64) -> Implementation {
    let hello = match talk.hello() {
        Ok(hello) => hello,
        Err(trouble) => return row.unusable(trouble.to_string()),
    };
    if row.kind == "command" {
        row.name.clone_from(&hello.name);
    }
    if row.kind != "object" {
        row.version.get_or_insert_with(|| hello.version.clone());
    }
    let mut examiner = Examiner {
        talk,
        udp: hello.udp,
        longest: if hello.repeat { LONGEST_REPEATED } else { LONGEST_AS_DIGITS },
        caught: Vec::new(),
        troubles: Vec::new(),
        notes: Vec::new(),
        questions: 0,
    };
    let over = examiner.vectors(&mut row, cases) || examiner.trials(seed);
    let title = row.title();
    let faults = examiner.faults(&title);
    row.faults.extend(faults);
    row.questions = examiner.questions;
    row.notes.append(&mut examiner.notes);
    row.status = status(&row.faults, examiner.troubles.last().filter(|_| over));
    if over && !interrupt::requested() {
        let trouble = examiner.troubles.last().map_or_else(String::new, ToString::to_string);
        row.reason =
            Some(format!("given up after {MOST_TROUBLES} answers that were none; the last: {trouble}"));
    } else if over {
        row.reason = Some("interrupted".to_owned());
    }
    row
}

/// The verdict that faults amount to.
pub fn status(faults: &[Fault], ended: Option<&Trouble>) -> Status {
    match ended {
        Some(Trouble::Died { .. }) => return Status::Crashed,
        Some(Trouble::TimedOut) => return Status::TimedOut,
        Some(Trouble::Garbage(_)) => return Status::Garbage,
        _ => {}
    }
    let is = |fault: &Fault, class: Class| fault.class == class.word();
    if faults.is_empty() {
        Status::Right
    } else if faults.iter().all(|fault| is(fault, Class::LongInput)) {
        Status::Limited
    } else if faults.iter().all(|fault| is(fault, Class::Crash)) {
        Status::Crashed
    } else if faults.iter().all(|fault| is(fault, Class::TimedOut)) {
        Status::TimedOut
    } else if faults.iter().all(|fault| is(fault, Class::Garbage)) {
        Status::Garbage
    } else {
        Status::Wrong
    }
}

impl Examiner<'_> {
    /// Asks one question; a wrong answer is kept.
    fn ask(&mut self, request: &Request, right: &Reply) -> Outcome {
        if request.input_len() > self.longest {
            return Outcome::TooLong;
        }
        self.questions += 1;
        match self.talk.ask(request) {
            Ok(Reply::Unsupported) => Outcome::Unsupported,
            Ok(reply) if is_right(&reply, right) => Outcome::Right,
            Ok(reply) => {
                self.keep(request, right, Got::Reply(reply));
                Outcome::Wrong
            }
            Err(Trouble::Interrupted) => Outcome::Over,
            Err(trouble) => self.trouble(request, right, trouble),
        }
    }

    /// After trouble the question is asked again: once is not enough to blame the implementation.
    fn trouble(&mut self, request: &Request, right: &Reply, trouble: Trouble) -> Outcome {
        let again = self.talk.ask(request);
        let outcome = match again {
            Ok(reply) if is_right(&reply, right) => {
                self.notes.push(format!("once, and not again, at '{}': {trouble}", short(request)));
                Outcome::Right
            }
            Ok(Reply::Unsupported) => Outcome::Unsupported,
            Err(Trouble::Interrupted) => return Outcome::Over,
            Ok(reply) => {
                self.keep(request, right, Got::Reply(reply));
                Outcome::Wrong
            }
            Err(trouble) => {
                self.keep(request, right, Got::Trouble(trouble));
                Outcome::Wrong
            }
        };
        let hangs = trouble == Trouble::TimedOut && matches!(outcome, Outcome::Wrong);
        self.troubles.push(trouble);
        if hangs || self.troubles.len() >= MOST_TROUBLES { Outcome::Over } else { outcome }
    }

    /// Keeps the shortest wrong answer of each class.
    fn keep(&mut self, request: &Request, right: &Reply, got: Got) {
        let class = class_of(request, right, &got);
        let caught = Caught { request: request.clone(), right: right.clone(), got, class };
        match self.caught.iter_mut().find(|known| known.class == class) {
            Some(known) if known.request.input_len() <= caught.request.input_len() => {}
            Some(known) => *known = caught,
            None => self.caught.push(caught),
        }
    }

    /// True if nothing more can be asked.
    fn vectors(&mut self, row: &mut Implementation, cases: &[Case]) -> bool {
        for case in cases {
            let mut asked = None;
            for (request, answers) in &case.asked {
                let expected = if self.udp { answers.last() } else { answers.first() };
                let Some(expected) = expected else { continue };
                // A packet is asked twice, for its field and for its verdict: either may fail, and either may be all that is
                // answered.
                asked = match (self.ask(request, expected), asked) {
                    (Outcome::Over, _) => {
                        row.vectors.count(case.file, Asked::Failed);
                        return true;
                    }
                    (Outcome::Wrong, _) | (_, Some(Asked::Failed)) => Some(Asked::Failed),
                    (Outcome::Right, _) | (_, Some(Asked::Passed)) => Some(Asked::Passed),
                    (Outcome::TooLong, _) => Some(Asked::TooLong),
                    (Outcome::Unsupported, _) => Some(Asked::NoFunction),
                };
            }
            row.vectors.count(case.file, asked.unwrap_or(Asked::NoFunction));
        }
        false
    }

    /// True if nothing more can be asked.
    fn trials(&mut self, seed: u64) -> bool {
        for group in trial::groups(seed, self.longest) {
            let mut answered = false;
            for (turn, request) in group.questions.enumerate() {
                let Some(right) = reference::expected(&request, self.udp) else { continue };
                match self.ask(&request, &right) {
                    Outcome::Right | Outcome::Wrong => answered = true,
                    Outcome::Unsupported if !answered && turn >= MOST_SKIPPED => break,
                    Outcome::Unsupported | Outcome::TooLong => {}
                    Outcome::Over => return true,
                }
            }
        }
        false
    }

    /// What was caught, reduced; one fault of each class.
    fn faults(&mut self, title: &str) -> Vec<Fault> {
        let mut faults: Vec<(Class, usize, Fault)> = Vec::new();
        for caught in std::mem::take(&mut self.caught) {
            let found = if matches!(caught.got, Got::Trouble(_)) { caught } else { self.reduced(caught) };
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

    /// The same with a smaller input, which can turn out to be of another class.
    fn reduced(&mut self, caught: Caught) -> Caught {
        let (udp, talk) = (self.udp, &mut *self.talk);
        let long = caught.class == Class::LongInput;
        let mut answered = |request: &Request| -> Option<(Reply, Reply)> {
            let right = reference::expected(request, udp)?;
            let got = talk.ask(request).ok()?;
            (got != right && got != Reply::Unsupported).then_some((right, got))
        };
        // A fault of long input must not become another one of short input, which is told on its own; and what is swapped or
        // complemented cannot be told from a misplaced last byte where there is one. Packets and updates have a form that a
        // smaller one can lose, which is another fault, or none.
        let even = matches!(caught.class, Class::ByteOrder | Class::Complement);
        let keeps_class = !caught.request.is_message();
        let mut fails = |request: &Request| {
            let len = request.input_len();
            (!long || len > LONGEST_PACKET_BYTES)
                && (!even || len.is_multiple_of(2))
                && answered(request).is_some_and(|(right, got)| {
                    !keeps_class || class::of(request, &right, &got) == caught.class
                })
        };
        let request = reduce::reduce(&caught.request, Effort::default(), &mut fails);
        match answered(&request) {
            Some((right, reply)) => {
                let got = Got::Reply(reply);
                Caught { class: class_of(&request, &right, &got), request, right, got }
            }
            None => caught,
        }
    }
}

/// What is no packet has no checksum, but no harm is done by one: nobody is sent it.
fn is_right(reply: &Reply, right: &Reply) -> bool {
    reply == right || matches!((reply, right), (Reply::Field(_), Reply::None))
}

fn class_of(request: &Request, right: &Reply, got: &Got) -> Class {
    match got {
        Got::Reply(reply) => class::of(request, right, reply),
        Got::Trouble(Trouble::TimedOut) => Class::TimedOut,
        Got::Trouble(Trouble::Garbage(_)) => Class::Garbage,
        Got::Trouble(_) => Class::Crash,
    }
}

fn fault(title: &str, caught: &Caught) -> Fault {
    let input = caught.request.input();
    let got = match &caught.got {
        Got::Reply(Reply::Error(text)) => format!("error: {text}"),
        Got::Reply(reply) => reply.line(),
        Got::Trouble(trouble) => trouble.to_string(),
    };
    let expected = caught.right.line();
    let line = caught.request.line(false);
    let line = if line.len() <= MOST_SHOWN { line } else { caught.request.line(true) };
    let source = match caught.request {
        _ if caught.class == Class::UdpZero => "RFC 768",
        _ if caught.class == Class::Malformed => "it is whole",
        Request::Verify(_) => "as received",
        Request::Update { ref old, ref new, .. } if old == new => "nothing changes",
        Request::Update { .. } => "RFC 1624",
        Request::Pseudo { .. } => "RFC 9293, RFC 8200",
        _ => "RFC 1071",
    };
    let question = report::question(&caught.request);
    Fault {
        class: caught.class.word(),
        input_hex: report::written_out(&input),
        input: report::in_words(&input),
        seed: match caught.request {
            Request::Onto { sum, .. } => Some(crate::wire::hex(&sum)),
            _ => None,
        },
        report: format!("{title}: {question} should be {expected} ({source}), got {got} [{}]", caught.class),
        expected,
        got,
        request: (line.len() <= MOST_SHOWN).then_some(line),
    }
}

fn short(request: &Request) -> String {
    let line = request.line(true);
    match line.char_indices().nth(60) {
        Some((end, _)) => format!("{}...", &line[..end]),
        None => line,
    }
}
