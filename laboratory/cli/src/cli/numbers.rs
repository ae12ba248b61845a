//! Parses numbers of the command line; errors name the word and the range.

use carryline_machine::words::{is_whole_number, parse_bytes};
use clap::builder::TypedValueParser;
use std::ops::RangeInclusive;
use std::time::Duration;

/// Parses a whole number in a range.
pub fn whole<T>(range: RangeInclusive<u64>) -> impl TypedValueParser<Value = T>
where
    T: TryFrom<u64> + Clone + Send + Sync + 'static,
{
    clap::builder::StringValueParser::new().try_map(move |word| in_range(&word, &range))
}

fn in_range<T: TryFrom<u64>>(word: &str, range: &RangeInclusive<u64>) -> Result<T, String> {
    let (least, most) = (range.start(), range.end());
    let number = word.parse().ok().filter(|number| range.contains(number) && is_whole_number(word));
    number.and_then(|number| T::try_from(number).ok()).ok_or_else(|| match (is_whole_number(word), *most) {
        (true, u64::MAX) if !word.starts_with('-') && word.parse::<u64>().is_err() => {
            format!("'{word}' is out of range: below 2^64")
        }
        (true, u64::MAX) => format!("'{word}' is out of range: {least} or more"),
        (true, most) => format!("'{word}' is out of range: {least} to {most}"),
        (false, u64::MAX) => format!("'{word}' is not a whole number"),
        (false, most) => format!("'{word}' is not a whole number from {least} to {most}"),
    })
}

/// Parses the size of a call: `40`, `4K`.
pub fn size(text: &str) -> Result<usize, String> {
    let bytes = parse_bytes(text)?;
    usize::try_from(bytes).map_err(|_| format!("'{text}' is too large"))
}

/// Parses `20s`, `2m` or `500ms`; a bare number is in seconds.
pub fn parse_duration(text: &str) -> Result<Duration, String> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let scale = match &text[digits.len()..] {
        "ms" => 0.001,
        "" | "s" => 1.0,
        "m" | "min" => 60.0,
        unit => return Err(format!("unknown unit '{unit}' in '{text}'; use ms, s or m (20s, 2m)")),
    };
    let number: f64 =
        digits.parse().map_err(|_| format!("'{text}' is not a time; write 20s, 2m or 500ms"))?;
    let seconds = number * scale;
    if (0.1..=86_400.0).contains(&seconds) {
        Ok(Duration::from_secs_f64(seconds))
    } else {
        Err(format!("'{text}' is out of range: 100ms to a day"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_numbers_are_parsed_and_their_range_is_named() {
        assert_eq!(in_range::<u32>("64", &(1..=64)), Ok(64));
        for wrong in ["0", "65", "-1", "x", "", "+5", "1e9", "4K"] {
            let error = in_range::<u32>(wrong, &(1..=64)).expect_err(wrong);
            assert!(error.contains(&format!("'{wrong}'")) && error.contains("1 to 64"), "{error}");
        }
        assert_eq!(in_range::<u64>("18446744073709551615", &(0..=u64::MAX)), Ok(u64::MAX));
        for (wrong, word) in [("18446744073709551616", "2^64"), ("-1", "0 or more"), ("x", "whole number")] {
            let error = in_range::<u64>(wrong, &(0..=u64::MAX)).expect_err(wrong);
            assert!(error.contains(word), "{error}");
        }
    }

    #[test]
    fn sizes_have_units() {
        assert_eq!([size("40"), size("4K")], [Ok(40), Ok(4096)]);
        assert!(size("5KB").expect_err("a unit").contains("use K, M or G"));
        assert!(size("1e9").is_err() && size("-1").is_err());
    }

    #[test]
    fn durations_are_parsed() {
        assert_eq!(parse_duration("20s"), Ok(Duration::from_secs(20)));
        assert_eq!(parse_duration("2m"), Ok(Duration::from_secs(120)));
        assert_eq!(parse_duration("500ms"), Ok(Duration::from_millis(500)));
        for wrong in ["", "s", "-1s", "20h", "0", "nan", "1e99"] {
            assert!(parse_duration(wrong).is_err(), "{wrong}");
        }
    }
}
