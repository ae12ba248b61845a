//! Parses `--sizes`.

use super::histogram::{self, ErrorPosition};
use super::{Draw, MOST_PERIOD, Sizes, possible};
use crate::capture::{self, CaptureError, Skip};
use crate::fleet;
use carryline_machine::nearest::{did_you_mean, nearest};
use carryline_machine::words::parse_bytes;
use std::path::{Path, PathBuf};

/// The forms of an item of `--sizes`, with their meanings.
pub const FORMS: &[(&str, &str)] = &[
    ("N", "always N bytes; 4K, 8M and 1G are binary multiples"),
    ("LOW..HIGH", "uniform from LOW to HIGH, inclusive"),
    ("fleet:NAME", "sizes of a production fleet: memcpy-, memmove- or memset- with A, B, D, L, M or Q"),
    (
        "histogram:FILE",
        "weights of size 0, 1, 2, ... on one line, separated by commas, or 'size,count' lines",
    ),
    ("capture:FILE", "sizes of the packets in a pcap or pcapng file, as covered by transport checksums"),
    ("MIXED/period:N", "N sizes of any mixed form above, repeated in the same order"),
];

const SOURCES: [&str; 3] = ["fleet", "histogram", "capture"];

/// An invalid item of `--sizes`.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SizeError {
    /// An empty item or list.
    #[error("sizes '{list}': item {item} is empty")]
    Empty {
        /// The whole list.
        list: String,
        /// The number of the item, from 1.
        item: usize,
    },
    /// No known form.
    #[error("size '{word}': {reason}{}", did_you_mean(nearest))]
    NotASize {
        /// The item as written.
        word: String,
        /// The reason.
        reason: String,
        /// Suggestions.
        nearest: Vec<String>,
    },
    /// An invalid range.
    #[error("size range '{word}': {reason}{}", did_you_mean(nearest))]
    BadRange {
        /// The item as written.
        word: String,
        /// The reason.
        reason: String,
        /// Suggestions.
        nearest: Vec<String>,
    },
    /// An unknown word before the colon.
    #[error(
        "size '{word}': unknown source '{prefix}'{}; known: fleet, histogram, capture",
        did_you_mean(nearest)
    )]
    UnknownSource {
        /// The item as written.
        word: String,
        /// The word before the colon.
        prefix: String,
        /// Suggestions.
        nearest: Vec<String>,
    },
    /// An unknown fleet distribution.
    #[error("size '{word}': no fleet distribution '{name}'{}; known: {}", did_you_mean(nearest), fleet::NAMES.join(", "))]
    UnknownFleet {
        /// The item as written.
        word: String,
        /// The name after the colon.
        name: String,
        /// Suggestions.
        nearest: Vec<String>,
    },
    /// An invalid period.
    #[error(
        "size '{word}': {reason}; a period is 2 to {MOST_PERIOD} mixed sizes: fleet:memcpy-A/period:4096"
    )]
    BadPeriod {
        /// The item as written.
        word: String,
        /// The reason.
        reason: String,
    },
    /// An invalid histogram file.
    #[error("size '{word}': {}: {at}{reason}", file.display())]
    Histogram {
        /// The item as written.
        word: String,
        /// The file.
        file: PathBuf,
        /// The position in the file.
        at: ErrorPosition,
        /// The reason.
        reason: String,
    },
    /// A histogram or a capture without its file.
    #[error("size '{word}': no file named; write {word}FILE")]
    NoFile {
        /// The item as written.
        word: String,
    },
    /// A capture that cannot be used.
    #[error("size '{word}': {error}")]
    Capture {
        /// The item as written.
        word: String,
        /// The file, byte offset and reason.
        error: CaptureError,
    },
    /// Sizes from a store or message that fail [`Sizes::check`].
    #[error("sizes '{word}': {reason}")]
    NothingToDraw {
        /// Their label.
        word: String,
        /// The reason.
        reason: String,
    },
}

/// The packets of a capture that were not used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SkippedPackets {
    /// The file as it was named.
    pub file: String,
    /// The number of packets used.
    pub packets_used: u64,
    /// The number of packets skipped for each reason.
    pub by_reason: Vec<(Skip, u64)>,
}

impl Sizes {
    /// Parses the argument of `--sizes`: items separated by commas, each of which makes a cell of its own.
    /// See [`FORMS`]. File names cannot contain commas.
    ///
    /// This drops the counts of skipped packets; commands use [`Sizes::parse_list_and_skipped`].
    ///
    /// ```
    /// use carryline_conditions::sizes::{Draw, Sizes};
    /// let sizes = Sizes::parse_list("40,4K,1..64").unwrap();
    /// assert_eq!(sizes[1].draw, Draw::Fixed(4096));
    /// assert_eq!(sizes[2].draw, Draw::Uniform { low: 1, high: 64 });
    /// let error = Sizes::parse_list("flet:memcpy-A").unwrap_err();
    /// assert!(error.to_string().contains("did you mean 'fleet:memcpy-A'?"));
    /// ```
    ///
    /// # Errors
    /// The first invalid item; see [`SizeError`].
    pub fn parse_list(text: &str) -> Result<Vec<Sizes>, SizeError> {
        Ok(Sizes::parse_list_and_skipped(text)?.0)
    }

    /// The same, with the packets skipped in each capture.
    ///
    /// # Errors
    /// The first invalid item; see [`SizeError`].
    pub fn parse_list_and_skipped(text: &str) -> Result<(Vec<Sizes>, Vec<SkippedPackets>), SizeError> {
        let mut skipped = Vec::new();
        let mut list = Vec::new();
        for (index, word) in text.split(',').map(str::trim).enumerate() {
            if word.is_empty() {
                return Err(SizeError::Empty { list: text.to_owned(), item: index + 1 });
            }
            let (of, period) = split_period(word)?;
            let draw = parse_item(of, &mut skipped)?;
            if period.is_some() && matches!(draw, Draw::Fixed(_)) {
                return Err(not_a_period(word, "a fixed size has no period"));
            }
            list.push(Sizes { label: word.to_owned(), draw, period, learned: period.is_some() });
        }
        Ok((list, skipped))
    }
}

/// Splits `/period:N` from an item.
fn split_period(word: &str) -> Result<(&str, Option<u32>), SizeError> {
    let Some((of, number)) = word.rsplit_once("/period:") else { return Ok((word, None)) };
    match number.parse::<u32>() {
        Ok(period) if (2..=MOST_PERIOD).contains(&period) => Ok((of, Some(period))),
        _ => Err(not_a_period(word, &format!("'{number}' is not a period"))),
    }
}

fn not_a_period(word: &str, reason: &str) -> SizeError {
    SizeError::BadPeriod { word: word.to_owned(), reason: reason.to_owned() }
}

fn parse_item(word: &str, skipped: &mut Vec<SkippedPackets>) -> Result<Draw, SizeError> {
    if let Some((prefix, rest)) = word.split_once(':') {
        return match prefix {
            "fleet" => from_fleet(word, rest),
            "histogram" => from_histogram(word, rest),
            "capture" => from_capture(word, rest, skipped),
            _ => {
                let nearest = nearest(prefix, SOURCES).into_iter().map(|known| format!("{known}:{rest}"));
                let (word, prefix) = (word.to_owned(), prefix.to_owned());
                Err(SizeError::UnknownSource { word, prefix, nearest: nearest.collect() })
            }
        };
    }
    if let Some((low, high)) = word.split_once("..") {
        return range(word, low.trim(), high.trim());
    }
    let size = parse_bytes(word).map_err(|reason| not_a_size(word, reason))?;
    possible(size).map(Draw::Fixed).map_err(|reason| SizeError::NotASize {
        word: word.to_owned(),
        reason,
        nearest: Vec::new(),
    })
}

fn not_a_size(word: &str, reason: String) -> SizeError {
    let mut likely: Vec<String> = Vec::new();
    if let Some((low, high)) = word.split_once('-')
        && parse_bytes(low).is_ok()
        && parse_bytes(high).is_ok()
    {
        likely.push(format!("{low}..{high}"));
    }
    likely.extend(nearest(word, fleet::NAMES).into_iter().map(|name| format!("fleet:{name}")));
    if Path::new(word).exists() {
        likely.extend([format!("capture:{word}"), format!("histogram:{word}")]);
    }
    let reason = if likely.is_empty() {
        let forms: Vec<&str> = FORMS.iter().map(|(form, _)| *form).collect();
        format!("{reason}; known forms: {}", forms.join(", "))
    } else {
        reason
    };
    SizeError::NotASize { word: word.to_owned(), reason, nearest: likely }
}

fn range(word: &str, low: &str, high: &str) -> Result<Draw, SizeError> {
    let wrong = |reason: String, nearest: Vec<String>| {
        Err(SizeError::BadRange { word: word.to_owned(), reason, nearest })
    };
    match (parse_bytes(low), parse_bytes(high)) {
        (Ok(low), Ok(high)) if low <= high => match possible(high) {
            Ok(high) => Ok(Draw::Uniform { low, high }),
            Err(reason) => wrong(reason, Vec::new()),
        },
        (Ok(_), Ok(_)) => wrong("it ends before it begins".to_owned(), vec![format!("{high}..{low}")]),
        (Err(_), _) if low.is_empty() => wrong("it has no lower end".to_owned(), Vec::new()),
        (_, Err(_)) if high.is_empty() => wrong("it has no upper end".to_owned(), Vec::new()),
        (_, Err(reason)) | (Err(reason), _) => {
            let plain = high.trim_start_matches(['.', '=']);
            let meant = parse_bytes(low).is_ok() && plain != high && parse_bytes(plain).is_ok();
            wrong(reason, if meant { vec![format!("{low}..{plain}")] } else { Vec::new() })
        }
    }
}

fn from_fleet(word: &str, name: &str) -> Result<Draw, SizeError> {
    fleet::distribution(name).map(Draw::Weighted).ok_or_else(|| {
        let nearest = nearest(name, fleet::NAMES).into_iter().map(|known| format!("fleet:{known}")).collect();
        SizeError::UnknownFleet { word: word.to_owned(), name: name.to_owned(), nearest }
    })
}

fn from_histogram(word: &str, file: &str) -> Result<Draw, SizeError> {
    let wrong = |(at, reason)| SizeError::Histogram { word: word.to_owned(), file: file.into(), at, reason };
    if file.is_empty() {
        return Err(SizeError::NoFile { word: word.to_owned() });
    }
    histogram::read(Path::new(file)).map(Draw::Weighted).map_err(wrong)
}

fn from_capture(word: &str, file: &str, skipped: &mut Vec<SkippedPackets>) -> Result<Draw, SizeError> {
    if file.is_empty() {
        return Err(SizeError::NoFile { word: word.to_owned() });
    }
    let capture = capture::read(file).map_err(|error| SizeError::Capture { word: word.to_owned(), error })?;
    if !capture.skipped.is_empty() {
        skipped.push(SkippedPackets {
            file: file.to_owned(),
            packets_used: capture.packets_used,
            by_reason: capture.skipped,
        });
    }
    Ok(Draw::Weighted(capture.sizes.into_iter().map(|(size, count)| (size, count as f64)).collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(text: &str) -> String {
        Sizes::parse_list(text).expect_err(text).to_string()
    }

    #[test]
    fn all_forms_are_parsed_and_labelled_as_written() {
        let sizes = Sizes::parse_list("40, 4K,8M,0,1..64,1K..4K,fleet:memset-Q").expect("valid");
        let labels: Vec<&str> = sizes.iter().map(|s| s.label.as_str()).collect();
        assert_eq!(labels, ["40", "4K", "8M", "0", "1..64", "1K..4K", "fleet:memset-Q"]);
        assert_eq!(sizes[2].draw, Draw::Fixed(8 << 20));
        assert_eq!(sizes[5].draw, Draw::Uniform { low: 1024, high: 4096 });
        assert!(matches!(&sizes[6].draw, Draw::Weighted(drawn) if drawn.len() == 303));
        assert!(sizes.iter().all(|s| s.check().is_ok()));
    }

    #[test]
    fn every_fleet_name_is_a_size() {
        for name in fleet::NAMES {
            assert_eq!(Sizes::parse_list(&format!("fleet:{name}")).expect(name).len(), 1);
        }
    }

    #[test]
    fn an_invalid_word_is_named_with_the_nearest_valid_one() {
        assert!(error("40,flet:memcpy-A").contains("'flet'; did you mean 'fleet:memcpy-A'?"));
        assert!(error("fleet:memcpy-a").contains("did you mean 'fleet:memcpy-A'"));
        assert!(error("fleet:memcopy-B").contains("did you mean 'fleet:memcpy-B'"));
        assert!(error("memcpy-B").contains("did you mean 'fleet:memcpy-B'"));
        assert!(error("fleet:").contains("memmove-Q"));
        assert!(error("captur:x.pcap").contains("did you mean 'capture:x.pcap'?"));
        assert!(error("64-1500").contains("did you mean '64..1500'?"));
        assert!(error("64..1").contains("did you mean '1..64'?"));
        assert!(error("1..=64").contains("did you mean '1..64'?"));
        assert!(error("1...64").contains("did you mean '1..64'?"));
        assert!(error("fortytwo").contains("LOW..HIGH"));
    }

    #[test]
    fn periods_are_parsed_for_mixed_sizes() {
        let sizes = Sizes::parse_list("fleet:memcpy-A/period:4096,1..64/period:2,1..64").expect("valid");
        assert_eq!(sizes[0].label, "fleet:memcpy-A/period:4096");
        assert_eq!(sizes.iter().map(|s| s.period).collect::<Vec<_>>(), [Some(4096), Some(2), None]);
        assert_eq!(sizes.iter().map(|s| s.learned).collect::<Vec<_>>(), [true, true, false]);
        assert_eq!(sizes[1].draw, sizes[2].draw);
        assert!(sizes.iter().all(|s| s.check().is_ok()));
        for word in ["1..64/period:1", "1..64/period:", "1..64/period:65537", "40/period:64"] {
            assert!(error(word).contains("2 to 65536 mixed sizes"), "{}", error(word));
        }
        assert!(Sizes { period: Some(1), ..sizes[2].clone() }.check().is_err());
    }

    #[test]
    fn invalid_words_are_errors() {
        for text in
            ["", ",", "40,", ",40", "40,,60", "-1", "+1", "1.5K", "4X", "..", "1..", "..4", "1..x", ":", "::"]
        {
            assert!(Sizes::parse_list(text).is_err(), "{text:?}");
        }
        assert!(error("40,,60").contains("item 2"));
        assert!(error("99999999999999999999G").contains("99999999999999999999G"));
    }

    #[test]
    fn sizes_that_no_process_can_hold_are_refused_with_the_limit() {
        let file = tempfile::NamedTempFile::new().expect("a file");
        std::fs::write(file.path(), "40,3\n18446744073709551000,1\n").expect("written");
        let histogram = format!("histogram:{}", file.path().display());
        for word in ["18446744073709551000", "1..18446744073709551000", &histogram] {
            let error = error(word);
            assert!(error.contains("18446744073709551000 bytes are more"), "{error}");
            assert!(error.contains("140737488355328 bytes (128 TiB)"), "{error}");
        }
        assert!(error(&histogram).contains("line 2"), "{}", error(&histogram));
        assert!(Sizes::parse_list("140737488355328,131072G,1..140737488355328").is_ok());
        assert!(Sizes::parse_list("140737488355329").is_err());
    }

    #[test]
    fn histogram_files_are_read_and_errors_located() {
        let file = tempfile::NamedTempFile::new().expect("a file");
        let word = format!("histogram:{}", file.path().display());
        std::fs::write(file.path(), "40,3\n1500,1\n").expect("written");
        let sizes = Sizes::parse_list(&word).expect("a histogram");
        assert_eq!(sizes[0].draw, Draw::Weighted(vec![(40, 3.0), (1500, 1.0)]));
        assert_eq!(sizes[0].mean(), 405.0);
        std::fs::write(file.path(), "40,3\n1500,-1\n").expect("written");
        let message = error(&word);
        assert!(message.contains("line 2: weight '-1' is negative"), "{message}");
        assert!(message.contains(&file.path().display().to_string()), "{message}");
        assert!(error("histogram:").contains("no file named"));
        assert!(error("histogram:/nonexistent/h").contains("/nonexistent/h"));
    }

    #[test]
    fn capture_files_are_read_and_errors_located() {
        let file = tempfile::NamedTempFile::new().expect("a file");
        let word = format!("capture:{}", file.path().display());
        std::fs::write(file.path(), carryline_packets::handmade::example_capture()).expect("written");
        let (sizes, skipped) = Sizes::parse_list_and_skipped(&word).expect("a capture");
        assert_eq!(sizes[0].draw, Draw::Weighted(vec![(28, 2.0), (1480, 1.0)]));
        assert_eq!(skipped.len(), 1, "one packet of it is ARP");
        assert!(capture::skip_list(&skipped[0].by_reason).contains("not IP"), "{skipped:?}");
        std::fs::write(file.path(), "no capture at all").expect("written");
        assert!(error(&word).contains("byte 0"), "{}", error(&word));
    }
}
