//! The conformance vectors of `vectors/` as a C program, in which a C compiler compiles every call.

use super::{Link, Prefix, STRICT, cc, succeeds};
use serde_json::Value;
use std::fmt::Write as _;
use std::net::IpAddr;
use std::path::Path;

const PREAMBLE: &str = r#"
#include <carryline.h>
#include <stdio.h>
#include <string.h>
#include <sys/uio.h>

static int wrong = 0;

static void check(int holds, const char *what, const char *name) {
    if (!holds) {
        printf("wrong: %s: %s\n", what, name);
        wrong = 1;
    }
}

static unsigned wire(carryline_csum checksum) {
    return checksum.b[0] * 256U + checksum.b[1];
}

static carryline_csum field(unsigned number) {
    carryline_csum checksum;
    checksum.b[0] = (uint8_t)(number >> 8);
    checksum.b[1] = (uint8_t)number;
    return checksum;
}

static carryline_csum as_field(uint16_t loaded) {
    carryline_csum checksum;
    memcpy(&checksum, &loaded, sizeof checksum);
    return checksum;
}

static void in_two(struct iovec *iov, const void *data, size_t len, size_t first) {
    iov[0].iov_base = (void *)data;
    iov[0].iov_len = first;
    iov[1].iov_base = (char *)data + first;
    iov[1].iov_len = len - first;
}

static unsigned char data[MOST + 64];

/* Appends the pattern, repeated to len bytes. */
static size_t put(size_t at, const void *pattern, size_t pattern_len, size_t len) {
    size_t done = pattern_len < len ? pattern_len : len;
    memcpy(data + at, pattern, done);
    while (done < len) {
        size_t more = done < len - done ? done : len - done;
        memcpy(data + at + done, data + at, more);
        done += more;
    }
    return at + len;
}

int main(void) {
    size_t len;
    struct iovec iov[64];
    carryline_csum computed = {{0, 0}};
    carryline_sum sum;
    (void)iov;
    (void)len;
"#;

/// The longest data, so that the program is fast; the library's own tests sum longer data.
const MOST: usize = 17 << 20;

fn cases(kind: &str) -> Vec<Value> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../vectors").join(format!("{kind}.json"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let file: Value = serde_json::from_str(&text).expect("the vectors are JSON");
    assert_eq!((&file["version"], &file["kind"]), (&Value::from(1), &Value::from(kind)));
    file["cases"].as_array().expect("a list of cases").clone()
}

fn text<'c>(case: &'c Value, key: &str) -> &'c str {
    case[key].as_str().unwrap_or_else(|| panic!("{}: no text {key}", case["name"]))
}

/// Hexadecimal digits as a C string literal, and the number of bytes.
fn literal(digits: &str) -> (String, usize) {
    let bytes: Vec<String> = digits
        .as_bytes()
        .chunks(2)
        .map(|pair| format!("\\x{}", std::str::from_utf8(pair).expect("ASCII")))
        .collect();
    (format!("\"{}\"", bytes.concat()), bytes.len())
}

/// The name of a case as a C string literal.
fn name(case: &Value) -> String {
    format!("{:?}", text(case, "name"))
}

/// The two addresses as C arguments, and the suffix of the function's name.
fn addresses(case: &Value) -> (String, &'static str) {
    let address = |key| match text(case, key).parse::<IpAddr>().expect("an address") {
        IpAddr::V4(address) => (address.octets().to_vec(), "_v4"),
        IpAddr::V6(address) => (address.octets().to_vec(), "_v6"),
    };
    let escaped = |bytes: Vec<u8>| bytes.iter().map(|byte| format!("\\x{byte:02x}")).collect::<String>();
    let ((src, version), (dst, _)) = (address("source"), address("destination"));
    (format!("\"{}\", \"{}\", ", escaped(src), escaped(dst)), version)
}

fn packet(case: &Value) -> String {
    let (name, (data, len)) = (name(case), literal(text(case, "bytes")));
    let protocol = text(case, "protocol");
    let expected = case["checksum"].as_str();
    let verdict = match text(case, "verdict") {
        "intact" => 1,
        "absent" => 2,
        _ => 0,
    };
    let (addresses, version) = match protocol {
        "ipv4_header" | "icmp" => (String::new(), ""),
        "icmpv6" => (addresses(case).0, ""),
        _ => addresses(case),
    };
    let mut code = String::new();
    let pieces: &[usize] = if protocol == "ipv4_header" { &[] } else { &[1, 6, 7, 17] };
    let whole = (format!("{data}, {len}"), "", String::new());
    let ways = pieces.iter().map(|first| {
        let first = first.min(&len);
        ("iov, 2".to_owned(), "_iov", format!("in_two(iov, {data}, {len}, {first}); "))
    });
    for (arguments, form, before) in std::iter::once(whole).chain(ways) {
        let function = format!("{protocol}{version}{form}");
        let holds = match (protocol, expected) {
            ("icmp", Some(digits)) => {
                format!("wire(carryline_checksum_icmp{form}({arguments})) == 0x{digits}")
            }
            (_, None) => format!("!carryline_checksum_{function}({arguments}, &computed)"),
            (_, Some(digits)) => format!(
                "carryline_checksum_{function}({addresses}{arguments}, &computed) && wire(computed) == 0x{digits}"
            ),
        };
        let _ = writeln!(code, "    {before}check({holds}, \"{function}\", {name});");
        let verify = format!("(int)carryline_checksum_verify_{function}({addresses}{arguments})");
        let _ = writeln!(code, "    check({verify} == {verdict}, \"verify_{function}\", {name});");
    }
    code
}

fn update(case: &Value) -> String {
    let name = name(case);
    let udp = if text(case, "rule") == "udp" { "_udp" } else { "" };
    let ((old, len), (new, _)) = (literal(text(case, "old")), literal(text(case, "new")));
    let offset = case["offset"].as_u64().expect("an offset");
    let (before, after) = (text(case, "checksum"), text(case, "updated"));
    let range =
        format!("carryline_csum_replace_range{udp}(field(0x{before}), {offset}, {old}, {new}, {len})");
    let mut code = format!("    check(wire({range}) == 0x{after}, \"replace_range{udp}\", {name});\n");
    if matches!(len, 2 | 4) && offset.is_multiple_of(2) {
        let bits = 8 * len;
        let _ = writeln!(
            code,
            "    {{ uint{bits}_t a, b; memcpy(&a, {old}, {len}); memcpy(&b, {new}, {len});\n      \
             check(wire(carryline_csum_replace{bits}{udp}(field(0x{before}), a, b)) == 0x{after}, \
             \"replace{bits}{udp}\", {name}); }}"
        );
    }
    code
}

fn pseudo_header(case: &Value) -> String {
    let (addresses, version) = addresses(case);
    let (protocol, length, sum) = (&case["protocol"], &case["length"], text(case, "sum"));
    let rest =
        if version == "_v4" { format!("{protocol}, {length}") } else { format!("{length}U, {protocol}") };
    format!(
        "    check(wire(carryline_sum_offload_seed(carryline_sum_pseudo{version}({addresses}{rest}))) == 0x{sum}, \
         \"pseudo{version}\", {});\n",
        name(case)
    )
}

fn segments(case: &Value) -> Option<String> {
    let name = name(case);
    let list = case["segments"].as_array().expect("a list of segments");
    let mut code = String::from("    sum = carryline_sum_new();\n");
    for (index, segment) in list.iter().enumerate() {
        // Patterns are for long data, which the library's own tests sum.
        let parts = segment.as_array().expect("a list of parts").iter().map(|part| part["hex"].as_str());
        let (data, len) = literal(&parts.collect::<Option<String>>()?);
        let _ = writeln!(code, "    in_two(iov + {index}, {data}, {len}, {len});");
        let _ = writeln!(
            code,
            "    sum = carryline_sum_combine(sum, carryline_sum_add(carryline_sum_new(), {data}, {len}));"
        );
    }
    for (way, sum) in [
        ("then", "sum".to_owned()),
        ("add_iov", format!("carryline_sum_add_iov(carryline_sum_new(), iov, {})", list.len())),
    ] {
        let (finished, udp) = (text(case, "checksum"), text(case, "udp_checksum"));
        let _ = writeln!(
            code,
            "    check(wire(carryline_sum_finish({sum})) == 0x{finished}, \"{way}\", {name});"
        );
        let _ = writeln!(
            code,
            "    check(wire(carryline_sum_finish_udp({sum})) == 0x{udp}, \"{way}, UDP\", {name});"
        );
    }
    (list.len() < 60).then_some(code)
}

/// `None` if the data is too long.
fn sums(case: &Value) -> Option<String> {
    let name = name(case);
    let mut code = String::from("    len = 0;\n");
    let mut bytes = 0;
    for part in case["data"].as_array().expect("a list of parts") {
        let repeated = part["bytes"].as_u64().map(|len| usize::try_from(len).expect("it fits into memory"));
        let (data, pattern_len) = literal(text(part, if repeated.is_some() { "repeat" } else { "hex" }));
        let len = repeated.unwrap_or(pattern_len);
        bytes += len;
        let _ = writeln!(code, "    len = put(len, {data}, {pattern_len}, {len});");
    }
    let (sum, finished, udp) = (text(case, "sum"), text(case, "checksum"), text(case, "udp_checksum"));
    for (what, is) in [
        ("offload_seed", format!("wire(carryline_sum_offload_seed(sum)) == 0x{sum}")),
        ("finish", format!("wire(carryline_sum_finish(sum)) == 0x{finished}")),
        ("finish_udp", format!("wire(carryline_sum_finish_udp(sum)) == 0x{udp}")),
        ("internet", format!("wire(as_field(carryline_checksum_internet(data, len))) == 0x{finished}")),
    ] {
        let before = if what == "offload_seed" {
            "sum = carryline_sum_add(carryline_sum_new(), data, len); "
        } else {
            ""
        };
        let _ = writeln!(code, "    {before}check({is}, \"{what}\", {name});");
    }
    (bytes <= MOST).then_some(code)
}

/// A program that prints nothing if all vectors pass.
pub(super) fn program() -> String {
    let mut code = format!("#define MOST {MOST}\n{PREAMBLE}");
    code.extend(cases("packets").iter().map(packet));
    code.extend(cases("updates").iter().map(update));
    code.extend(cases("pseudo_headers").iter().map(pseudo_header));
    for (kind, write) in [("segments", segments as fn(&Value) -> Option<String>), ("sums", sums)] {
        let cases = cases(kind);
        let in_c: Vec<String> = cases.iter().filter_map(write).collect();
        assert!(in_c.len() * 2 > cases.len(), "{} of {} {kind}", in_c.len(), cases.len());
        code.extend(in_c);
    }
    code + "    return wrong;\n}\n"
}

#[test]
fn the_conformance_vectors_pass_in_c() {
    let prefix = Prefix::new();
    let source = prefix.folder.path().join("vectors.c");
    std::fs::write(&source, program()).expect("a file of ours");
    let source = source.to_str().expect("a name in Unicode");
    let flags = [STRICT, &["-std=c99", "-O1"]].concat();
    let program =
        prefix.compile(&cc(), &flags, source, Link::Shared).unwrap_or_else(|error| panic!("{error}"));
    succeeds(&prefix.run(&[], &program), "", "the vectors");
}
