//! The server side of the protocol for implementations in this program: the crates under comparison, checksum
//! variants, and symbols of shared libraries.

mod carryline;
#[cfg(feature = "peers")]
mod etherparse;
#[cfg(feature = "peers")]
mod internet_checksum;
mod object;
#[cfg(feature = "peers")]
mod pnet;
#[cfg(feature = "peers")]
mod s2n_quic;
#[cfg(feature = "peers")]
mod smoltcp;
mod variant;

use crate::wire::{Hello, Reply, Request};
use std::io::{BufRead, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;

pub use object::ObjectError;

/// An implementation that answers requests in this process.
pub trait Adapter {
    /// Its name, version and features.
    fn hello(&self) -> Hello;

    /// The answer to any request but [`Request::Hello`]; [`Reply::Unsupported`] if there is no such function.
    fn answer(&mut self, request: &Request) -> Reply;
}

/// Creates an adapter.
pub type Make = fn() -> Box<dyn Adapter>;

/// The crates under comparison that compute checksums: name, variant, version, and adapter.
pub(crate) const CRATES: &[(&str, &str, &str, Make)] = &[
    ("carryline", "carryline", env!("CARGO_PKG_VERSION"), || Box::new(carryline::Carryline)),
    #[cfg(feature = "peers")]
    ("internet-checksum", "internet_checksum", env!("CARRYLINE_AUDITED_INTERNET_CHECKSUM"), || {
        Box::new(internet_checksum::InternetChecksum)
    }),
    #[cfg(feature = "peers")]
    ("smoltcp", "smoltcp", env!("CARRYLINE_AUDITED_SMOLTCP"), || Box::new(smoltcp::Smoltcp)),
    #[cfg(feature = "peers")]
    ("etherparse", "etherparse", env!("CARRYLINE_AUDITED_ETHERPARSE"), || Box::new(etherparse::Etherparse)),
    #[cfg(feature = "peers")]
    ("s2n-quic-core", "s2n_quic", env!("CARRYLINE_AUDITED_S2N_QUIC_CORE"), || Box::new(s2n_quic::S2nQuic)),
    #[cfg(feature = "peers")]
    ("pnet_packet", "pnet", env!("CARRYLINE_AUDITED_PNET_PACKET"), || Box::new(pnet::Pnet)),
];

/// A crate's answer to [`Request::Hello`].
fn hello(name: &str) -> Hello {
    let version = CRATES.iter().find(|(known, ..)| *known == name).map_or("", |(_, _, version, _)| version);
    let version = if version.is_empty() { "unknown" } else { version };
    Hello { name: name.to_owned(), version: version.to_owned(), repeat: true, udp: false }
}

/// The adapter for `crate NAME`, `variant NAME` or `object FILE SYMBOL FORM`.
///
/// # Errors
/// The reason there is no such adapter.
pub fn adapter(words: &[String]) -> Result<Box<dyn Adapter>, String> {
    match words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["crate", name] => CRATES
            .iter()
            .find(|(known, ..)| *known == name)
            .map(|(.., make)| make())
            .ok_or_else(|| format!("no crate '{name}' is under comparison")),
        ["variant", name] => variant::find(name).ok_or_else(|| format!("there is no checksum '{name}'")),
        ["object", file, symbol, form] => object::load(file, symbol, form).map_err(|error| error.to_string()),
        _ => Err("'adapter' is internal to the command".to_owned()),
    }
}

/// Answers requests until the input ends. Panics are answered as errors; if there is no adapter, the reason
/// is sent once.
///
/// # Errors
/// If standard input or output fails.
pub fn serve(adapter: Result<Box<dyn Adapter>, String>) -> std::io::Result<()> {
    static PANIC: Mutex<String> = Mutex::new(String::new());
    std::panic::set_hook(Box::new(|panic| {
        if let Ok(mut kept) = PANIC.lock() {
            let payload = panic.payload();
            let text = payload.downcast_ref::<String>().map(String::as_str);
            let text =
                text.or_else(|| payload.downcast_ref::<&str>().copied()).unwrap_or("without a message");
            *kept = format!("panicked: {text}");
        }
    }));
    let (input, mut output) = (std::io::stdin().lock(), std::io::stdout().lock());
    let mut adapter = match adapter {
        Ok(adapter) => adapter,
        Err(reason) => {
            writeln!(output, "{}", Reply::Error(reason).line())?;
            return output.flush();
        }
    };
    for line in input.lines() {
        let reply = match Request::read(&line?) {
            None => Reply::Error("not a request".to_owned()),
            Some(Request::Hello) => Reply::Hello(adapter.hello()),
            Some(request) => {
                catch_unwind(AssertUnwindSafe(|| adapter.answer(&request))).unwrap_or_else(|_| {
                    Reply::Error(PANIC.lock().map_or_else(|_| "panicked".to_owned(), |text| text.clone()))
                })
            }
        };
        writeln!(output, "{}", reply.line())?;
        output.flush()?;
    }
    Ok(())
}

/// The checksum field of a packet, at offset `at`.
#[cfg(feature = "peers")]
fn field_at(bytes: &[u8], at: usize) -> Reply {
    match bytes.get(at..at + 2) {
        Some(&[high, low]) => Reply::Field([high, low]),
        _ => Reply::None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vectors;
    use crate::wire::Data;

    #[test]
    fn versions_are_known_from_the_lock_file() {
        for (name, _, version, make) in CRATES {
            assert!(version.split('.').count() == 3, "{name}: {version}");
            assert_eq!(make().hello().name, *name);
        }
    }

    #[test]
    fn carryline_passes_every_vector_of_up_to_a_mebibyte() {
        let mut ours = carryline::Carryline;
        for case in vectors::cases() {
            for (request, right) in &case.requests {
                if request.input().len() <= 1 << 20 {
                    assert_eq!(ours.answer(request), right[0], "{}: {}", case.name, request.line(true));
                }
            }
        }
    }

    #[test]
    fn every_crate_computes_the_example_of_rfc_1071() {
        let request = Request::Sum(Data::literal(&[0, 1, 0xf2, 3, 0xf4, 0xf5, 0xf6, 0xf7]));
        for (name, .., make) in CRATES {
            assert_eq!(make().answer(&request), Reply::Field([0x22, 0x0d]), "{name}");
        }
    }

    #[test]
    fn unknown_adapters_are_errors() {
        for words in [&["crate", "smoltpc"][..], &["variant", "none"], &["object", "a"], &[]] {
            let words: Vec<String> = words.iter().map(|&word| word.to_owned()).collect();
            assert!(adapter(&words).is_err(), "{words:?}");
        }
    }
}
