//! What the command's tests share: a fresh folder, the command run in it, and small inputs made on the spot.

#[cfg(target_os = "linux")]
pub mod pty;

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};

/// With this variable, a debug build verifies as thoroughly as every worker does before it times anything, and no more.
pub const SHORT_VERIFICATION: &str = "CARRYLINE_SHORT_VERIFICATION";
/// The variable with which conditions are those of a small last level, so that buffers are soon filled.
pub const SMALL_CACHES: &str = "CARRYLINE_SMALL_CACHES";

/// A fresh folder, gone when the test ends, with a store of its own.
pub struct Place {
    folder: tempfile::TempDir,
    verifies_in_full: bool,
}

impl Place {
    pub fn new() -> Place {
        let folder = tempfile::tempdir().expect("a folder for the test");
        Place { folder, verifies_in_full: false }
    }

    /// Where routines are verified in full before they are measured, as they are for users.
    pub fn with_full_verification() -> Place {
        Place { verifies_in_full: true, ..Place::new() }
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    pub fn file(&self, name: &str) -> PathBuf {
        self.path().join(name)
    }

    pub fn write(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.file(name);
        std::fs::write(&path, bytes).expect("a file in the test's folder");
        path
    }

    /// The command, in this folder, with its store here.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_carryline"));
        command
            .args(arguments)
            .current_dir(self.path())
            .env("XDG_DATA_HOME", self.file("data"))
            .env("XDG_CACHE_HOME", self.file("cache"))
            .env("HOME", self.path())
            .env_remove("CARRYLINE_MASK")
            .env_remove("CARRYLINE_FORCE")
            .env_remove("CARRYLINE_TUNING")
            .env(SMALL_CACHES, "1")
            .stdin(Stdio::null());
        // Set where verification is not what is tested.
        let verifies = matches!(arguments.first(), Some(&"verify" | &"audit"));
        match self.verifies_in_full || verifies {
            true => command.env_remove(SHORT_VERIFICATION),
            false => command.env(SHORT_VERIFICATION, "1"),
        };
        command
    }

    pub fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().expect("the command starts")
    }

    /// Runs it, expects that exit status, and returns standard output and error.
    pub fn expect(&self, arguments: &[&str], status: i32) -> (String, String) {
        let output = self.run(arguments);
        let (out, err) = texts(&output);
        assert_eq!(
            output.status.code(),
            Some(status),
            "carryline {arguments:?}\n--- out\n{out}\n--- err\n{err}"
        );
        (out, err)
    }

    /// Runs it with `--format json`, expects success, and returns the object.
    pub fn json(&self, arguments: &[&str]) -> Value {
        self.json_with_status(arguments, 0)
    }

    pub fn json_with_status(&self, arguments: &[&str], status: i32) -> Value {
        let arguments: Vec<&str> = arguments.iter().copied().chain(["--format", "json"]).collect();
        let (out, _) = self.expect(&arguments, status);
        let object =
            serde_json::from_str(&out).unwrap_or_else(|error| panic!("{arguments:?}: {error}\n{out}"));
        assert_described(&object);
        object
    }

    /// Compiles C into a shared object in this folder.
    pub fn shared_object(&self, name: &str, source: &str) -> PathBuf {
        self.compiled(&format!("{name}.so"), &["-shared", "-fPIC"], &format!("{name}.c"), source)
    }

    /// Compiles C into a program in this folder.
    pub fn program(&self, name: &str, source: &str) -> PathBuf {
        self.compiled(name, &[], &format!("{name}.c"), source)
    }

    fn compiled(&self, to: &str, options: &[&str], from: &str, source: &str) -> PathBuf {
        let (source, to) = (self.write(from, source.as_bytes()), self.file(to));
        let mut compiler = Command::new("cc");
        compiler.arg("-O1").args(options).arg("-o").arg(&to).arg(source);
        let compiled = compiler.output().expect("a C compiler: the README asks for one");
        assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
        to
    }
}

/// True if a program ended because even a few bytes were refused: then Rust's allocator ends it, or glibc does.
#[cfg(unix)]
pub fn refused_a_few_bytes(output: &Output) -> bool {
    use std::os::unix::process::ExitStatusExt;
    let (_, err) = texts(output);
    let by_glibc = err.contains("Fatal glibc error") && err.contains("out of memory");
    output.status.signal() == Some(libc::SIGABRT) && (by_glibc || err.contains("memory allocation of"))
}

/// Every JSON output has the schema that it names, and no field at its top that the schema does not describe.
pub fn assert_described(object: &Value) {
    // The one output that is a list, without a head.
    let listed = object.is_array().then_some("audit-capture");
    let named = || object["schema"].as_str().unwrap_or_else(|| panic!("it names no schema: {object}"));
    let name = listed.unwrap_or_else(named);
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../docs/schema/{name}.json"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let schema: Value = serde_json::from_str(&text).expect("a schema is JSON");
    let validator = jsonschema::validator_for(&schema).expect("a schema");
    let faults: Vec<String> =
        validator.iter_errors(object).map(|error| format!("{}: {error}", error.instance_path())).collect();
    assert!(faults.is_empty(), "{name}: {faults:#?}");
    let (objects, described) = match object.as_array() {
        Some(all) => (all.as_slice(), &schema["items"]["properties"]),
        None => (std::slice::from_ref(object), &schema["properties"]),
    };
    for key in objects.iter().flat_map(|object| object.as_object().expect("an object").keys()) {
        assert!(described.get(key).is_some(), "{name}: '{key}' is not described");
    }
}

pub fn texts(output: &Output) -> (String, String) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (text(&output.stdout), text(&output.stderr))
}

/// Options that keep a measurement short: what it finds does not matter here.
pub const SHORT: [&str; 4] = ["--budget", "400ms", "--replicates", "2"];

/// Arguments with [`SHORT`] behind them.
pub fn short<'a>(arguments: &[&'a str]) -> Vec<&'a str> {
    arguments.iter().copied().chain(SHORT).collect()
}

/// Checks every item, three at a time: for commands that wait, and of which none depends on another.
pub fn three_at_a_time<T: Sync>(items: &[T], check: impl Fn(&T) + Sync) {
    let next = AtomicUsize::new(0);
    let work = || {
        while let Some(item) = items.get(next.fetch_add(1, Ordering::Relaxed)) {
            check(item);
        }
    };
    std::thread::scope(|scope| {
        for worker in [scope.spawn(work), scope.spawn(work), scope.spawn(work)] {
            if let Err(panic) = worker.join() {
                std::panic::resume_unwind(panic);
            }
        }
    });
}

/// A right checksum in C, byte by byte.
pub const RIGHT_SUM: &str = r"
#include <stddef.h>
#include <stdint.h>
uint32_t my_sum(const void *data, size_t len, uint32_t seed) {
    const unsigned char *p = data;
    uint64_t sum = seed;
    for (size_t i = 0; i < len; i++) sum += (i & 1) ? (uint64_t)p[i] << 8 : p[i];
    while (sum >> 32) sum = (sum & 0xffffffff) + (sum >> 32);
    return sum;
}
";

/// A capture of four UDP packets over IPv4 and Ethernet (payload lengths 8 + 32, 100, 500, 1000) with right checksums, one
/// ARP, and one packet whose IP header is cut off.
pub fn capture() -> Vec<u8> {
    let mut file = Vec::new();
    file.extend(0xa1b2_c3d4_u32.to_le_bytes());
    file.extend([2, 0, 4, 0]);
    file.extend([0; 8]);
    file.extend(65_535_u32.to_le_bytes());
    file.extend(1_u32.to_le_bytes());
    let mut record = |packet: &[u8]| {
        file.extend([0; 8]);
        file.extend((packet.len() as u32).to_le_bytes());
        file.extend((packet.len() as u32).to_le_bytes());
        file.extend(packet);
    };
    let ethernet = |kind: u16| [&[2; 12][..], &kind.to_be_bytes()].concat();
    for data in [32_u16, 100, 500, 1000] {
        let mut packet = ethernet(0x0800);
        packet.extend([0x45, 0]);
        packet.extend((20 + 8 + data).to_be_bytes());
        packet.extend([0, 1, 0, 0, 64, 17, 0, 0, 127, 0, 0, 1, 127, 0, 0, 1]);
        let sum = carryline::checksum::ipv4_header(&packet[14..]);
        packet[24..26].copy_from_slice(&sum.0);
        packet.extend([0x30, 0x39, 0x30, 0x3a]);
        packet.extend((8 + data).to_be_bytes());
        packet.extend([0, 0]);
        packet.resize(packet.len() + usize::from(data), 0x5a);
        let sum = carryline::checksum::udp(([127, 0, 0, 1], [127, 0, 0, 1]), [&packet[34..]]);
        packet[40..42].copy_from_slice(&sum.0);
        record(&packet);
    }
    record(&[&ethernet(0x0806)[..], &[0; 28]].concat());
    record(&[&ethernet(0x0800)[..], &[0x45, 0, 0]].concat());
    file
}
