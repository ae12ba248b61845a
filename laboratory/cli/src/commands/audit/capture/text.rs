//! An audit of captures as text.

use super::Audited;
use carryline_packets::Skip;
use carryline_packets::audit::{Counts, Finding, Offload, Report, Tally};
use carryline_packets::judge::Protocol;
use carryline_report::table::{ColumnKind, Emphasis, Style, Table, bold, emphasise};
use carryline_report::text::{safe, wrap};
use carryline_report::units::number_with;

/// The maximum number of senders with offload in the text; JSON has more.
const MOST_SENDERS: usize = 5;

/// The maximum number of reasons for skipped packets in the text; JSON has all.
const MOST_REASONS: usize = 8;

/// The audit of a file, with at most `most` wrong checksums.
pub(super) fn of(audited: &Audited, most: usize, style: Style) -> String {
    let report = &audited.report;
    let mut out = bold(&format!("{}: {}", safe(&audited.file.to_string_lossy()), packets(report)), style);
    out.push('\n');
    if let Some(reason) = audited.reason() {
        let line = match audited.read.as_ref().err().is_some_and(|error| error.format.is_none()) {
            true => safe(&reason),
            false => format!("read only in part: {}", safe(&reason)),
        };
        out.push_str(&emphasise(&line, Emphasis::Bad, style));
        out.push('\n');
    }
    out.push_str(&checksums(report).render(style));
    let shown = &report.findings[..most.min(report.findings.len())];
    if !shown.is_empty() {
        let all = report.wrong();
        let first = match shown.len() as u64 == all {
            true => String::new(),
            false => format!(", the first {} of {}", shown.len(), count(all)),
        };
        out.push_str(&format!("\nwrong checksums{first}:\n"));
        out.push_str(&findings(shown).render(style));
    }
    for protocol in Protocol::ALL {
        let minus_zero = report.all.of(protocol).minus_zero;
        if minus_zero > 0 {
            let line = format!(
                "{}: {} of the good ones contain ffff instead of 0000 (RFC 1624); receivers accept both",
                protocol.name(),
                count(minus_zero)
            );
            out.push_str(&format!("{}\n", wrap(&line, style.width, 2)));
        }
    }
    for sender in report.offload.iter().take(MOST_SENDERS) {
        out.push_str(&format!("{}\n", wrap(&offload(sender), style.width, 2)));
    }
    if let Some(more) = report.offload.len().checked_sub(MOST_SENDERS).filter(|more| *more > 0) {
        out.push_str(&format!(
            "and {} more senders whose network card computes checksums\n",
            count(more as u64)
        ));
    }
    out.push_str(&skipped(report, style));
    out
}

/// The number of packets skipped for each reason, the most frequent reasons first.
fn skipped(report: &Report, style: Style) -> String {
    let mut reasons: Vec<(&Skip, &u64)> =
        report.skipped.iter().filter(|(why, _)| **why != Skip::CutShort).collect();
    reasons.sort_by_key(|(_, packets)| std::cmp::Reverse(**packets));
    let mut named: Vec<String> = reasons
        .iter()
        .take(MOST_REASONS)
        .map(|(why, packets)| format!("{} {why}", count(**packets)))
        .collect();
    if let Some(rest) = reasons.get(MOST_REASONS..).filter(|rest| !rest.is_empty()) {
        named.push(format!("{} for other reasons", count(rest.iter().map(|(_, packets)| **packets).sum())));
    }
    if named.is_empty() {
        return String::new();
    }
    format!(
        "{}\n",
        wrap(&format!("packets not verified, or only in part: {}", named.join(", ")), style.width, 2)
    )
}

fn packets(report: &Report) -> String {
    let mut text = match report.packets {
        1 => "1 packet".to_owned(),
        packets => format!("{} packets", count(packets)),
    };
    for (packets, what) in [(report.truncated_packets, "truncated"), (report.fragments, "fragmented")] {
        if packets > 0 {
            text.push_str(&format!(", {} {what}", count(packets)));
        }
    }
    text
}

/// A row for each protocol that occurs, and for each that occurs in tunnels.
fn checksums(report: &Report) -> Table {
    let columns = ["good", "bad", "of these\noffload", "unverified", "none", "illegal"];
    let columns = columns.map(|column| (column, ColumnKind::Number));
    let mut table = Table::new([("checksums", ColumnKind::Name)].into_iter().chain(columns));
    let nothing = Counts::default();
    for (within, outer, suffix) in
        [(&report.outer, &nothing, ""), (&report.all, &report.outer, ", tunnelled")]
    {
        for protocol in Protocol::ALL {
            let (within, outer) = (within.of(protocol), outer.of(protocol));
            let of = |field: fn(&Tally) -> u64| field(within) - field(outer);
            let figures = [
                of(|tally| tally.good),
                of(|tally| tally.bad),
                of(|tally| tally.offload),
                of(|tally| tally.unverified),
                of(|tally| tally.none),
                of(|tally| tally.illegal),
            ];
            if figures != [0; 6] {
                let wrong =
                    figures[1] > figures[2] || of(|tally| tally.illegal - tally.illegal_in_tunnel) > 0;
                let cells = [format!("{}{suffix}", protocol.name())].into_iter().chain(figures.map(count));
                table.push(cells.collect(), if wrong { Emphasis::Bad } else { Emphasis::None });
            }
        }
    }
    table
}

fn findings(findings: &[Finding]) -> Table {
    let mut table = Table::new([
        ("packet", ColumnKind::Number),
        ("checksum", ColumnKind::Name),
        ("from", ColumnKind::Name),
        ("to", ColumnKind::Name),
        ("found", ColumnKind::Name),
        ("expected", ColumnKind::Name),
    ]);
    for finding in findings {
        let within = if finding.depth == 0 { String::new() } else { format!(", tunnel {}", finding.depth) };
        let cells = vec![
            finding.packet.to_string(),
            format!("{}{within}", finding.protocol.name()),
            finding.source.to_string(),
            finding.destination.to_string(),
            finding.found.to_string(),
            finding.expected.map_or_else(|| "not zero".to_owned(), |expected| expected.to_string()),
        ];
        table.push(cells, Emphasis::None);
    }
    table
}

fn offload(offload: &Offload) -> String {
    let Offload { protocol, sender, pseudo_header, all_wrong } = offload;
    let mut evidence = Vec::new();
    if *pseudo_header > 0 {
        evidence.push(format!("{} contain the pseudo-header's sum", count(*pseudo_header)));
    }
    if *all_wrong > 0 {
        evidence.push(format!("all {} are wrong, yet the sender gets answers", count(*all_wrong)));
    }
    format!(
        "offload: {} from {sender}, computed by its network card: {}",
        protocol.name(),
        evidence.join("; ")
    )
}

fn count(number: u64) -> String {
    number_with(number as f64, 0)
}
