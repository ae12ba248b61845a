//! The conformance vectors as requests with their correct answers.

use crate::wire::{Data, Packet, Protocol, Reply, Request, Rule, unhex};
use serde::Deserialize;

/// A case from a file of `vectors/`.
#[derive(Clone, Debug)]
pub struct Case {
    /// The file name without its extension, such as `sums`.
    pub file: &'static str,
    /// The file and the name of the case, such as `sums: nothing`.
    pub name: String,
    /// The requests and their correct answers; of two, the second is for implementations that compute UDP
    /// checksums.
    pub requests: Vec<(Request, Vec<Reply>)>,
}

const FILES: [(&str, &str); 5] = [
    ("sums", include_str!("../../../vectors/sums.json")),
    ("segments", include_str!("../../../vectors/segments.json")),
    ("updates", include_str!("../../../vectors/updates.json")),
    ("pseudo_headers", include_str!("../../../vectors/pseudo_headers.json")),
    ("packets", include_str!("../../../vectors/packets.json")),
];

#[derive(Deserialize)]
struct File {
    version: u32,
    kind: String,
    cases: Vec<Stored>,
}

#[derive(Deserialize)]
struct StoredPart {
    hex: Option<String>,
    repeat: Option<String>,
    bytes: Option<usize>,
}

/// A case as stored; every file uses some of the keys.
#[derive(Deserialize)]
struct Stored {
    name: String,
    data: Option<serde_json::Value>,
    segments: Option<Vec<Vec<StoredPart>>>,
    sum: Option<String>,
    checksum: Option<String>,
    udp_checksum: Option<String>,
    rule: Option<String>,
    offset: Option<usize>,
    old: Option<String>,
    new: Option<String>,
    updated: Option<String>,
    source: Option<String>,
    destination: Option<String>,
    protocol: Option<serde_json::Value>,
    length: Option<u32>,
    bytes: Option<String>,
    verdict: Option<String>,
}

/// All cases, in the order of the files.
///
/// # Panics
/// If the embedded vectors are not of the known version; a test reads them.
#[must_use]
pub fn cases() -> Vec<Case> {
    let mut all = Vec::new();
    for (kind, text) in FILES {
        let file: File = serde_json::from_str(text).expect("valid vectors");
        assert_eq!((file.version, file.kind.as_str()), (1, kind));
        for stored in file.cases {
            let name = format!("{kind}: {}", stored.name);
            let requests =
                stored.requests(kind).unwrap_or_else(|| panic!("{name}: a key is missing or unknown"));
            all.push(Case { file: kind, name, requests });
        }
    }
    all
}

fn data(parts: &[StoredPart]) -> Option<Data> {
    parts.iter().try_fold(Data::default(), |data, part| {
        Some(data.then(match part {
            StoredPart { hex: Some(digits), .. } => Data::literal(&unhex(digits)?),
            StoredPart { repeat: Some(pattern), bytes: Some(len), .. } => {
                Data::repeated(&unhex(pattern)?, *len)
            }
            _ => return None,
        }))
    })
}

fn reply(digits: &Option<String>) -> Option<Reply> {
    Some(Reply::Field(unhex(digits.as_ref()?)?.try_into().ok()?))
}

impl Stored {
    fn requests(&self, kind: &str) -> Option<Vec<(Request, Vec<Reply>)>> {
        let results = || Some(vec![reply(&self.checksum)?, reply(&self.udp_checksum)?]);
        Some(match kind {
            "sums" => {
                let parts: Vec<StoredPart> = serde_json::from_value(self.data.clone()?).ok()?;
                vec![(Request::Sum(data(&parts)?), results()?)]
            }
            "segments" => {
                let pieces =
                    self.segments.as_ref()?.iter().map(|parts| data(parts)).collect::<Option<_>>()?;
                vec![(Request::Pieces(pieces), results()?)]
            }
            "updates" => {
                let request = Request::Update {
                    rule: Rule::from_name(self.rule.as_ref()?)?,
                    checksum: unhex(self.checksum.as_ref()?)?.try_into().ok()?,
                    offset: self.offset?,
                    old: unhex(self.old.as_ref()?)?,
                    new: unhex(self.new.as_ref()?)?,
                };
                vec![(request, vec![reply(&self.updated)?])]
            }
            "pseudo_headers" => {
                let request = Request::Pseudo {
                    source: self.source.as_ref()?.parse().ok()?,
                    destination: self.destination.as_ref()?.parse().ok()?,
                    protocol: u8::try_from(self.protocol.as_ref()?.as_u64()?).ok()?,
                    length: self.length?,
                };
                vec![(request, vec![reply(&self.sum)?])]
            }
            _ => {
                let addresses = match (&self.source, &self.destination) {
                    (Some(source), Some(destination)) => {
                        Some((source.parse().ok()?, destination.parse().ok()?))
                    }
                    _ => None,
                };
                let packet = Packet {
                    protocol: Protocol::from_name(self.protocol.as_ref()?.as_str()?)?,
                    addresses,
                    bytes: unhex(self.bytes.as_ref()?)?,
                };
                let verdict = match self.verdict.as_deref()? {
                    "intact" => Reply::Intact,
                    "damaged" => Reply::Damaged,
                    "absent" => Reply::Absent,
                    _ => return None,
                };
                let computed = if self.checksum.is_none() { Reply::None } else { reply(&self.checksum)? };
                vec![
                    (Request::Packet(packet.clone()), vec![computed]),
                    (Request::Verify(packet), vec![verdict]),
                ]
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reference;

    #[test]
    fn every_case_parses_and_agrees_with_the_reference() {
        let cases = cases();
        assert!(cases.len() > 400, "{}", cases.len());
        let mut compared = 0;
        for case in &cases {
            for (request, right) in &case.requests {
                if request.input_len() > 1 << 20 {
                    continue;
                }
                if let Some(computed) = reference::answer(request) {
                    assert_eq!(computed, right[0], "{}", case.name);
                    compared += 1;
                }
            }
        }
        // Sums, segments, updates, pseudo-headers, and packets twice, except for one incomplete header.
        assert!(compared > 400, "{compared}");
    }
}
