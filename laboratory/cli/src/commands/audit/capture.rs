//! `carryline audit capture`: verifies every checksum in capture files.

mod json;
mod text;

use crate::cli::{AuditCapture, Common, Format};
use crate::output;
use carryline_engine::failure::{Failure, status};
use carryline_engine::interrupt;
use carryline_engine::progress::Progress;
use carryline_packets::audit::{Audit, Report};
use carryline_packets::file::{self, Fault, ReadError, Whole};
use carryline_report::listing::to_json;
use carryline_report::units::{byte_size_rough, percent};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::time::Timespec;
use std::fs::{File, OpenOptions};
use std::io::{self, Read};
use std::os::fd::AsFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The expected reading speed, for the estimate of the remaining time.
const EXPECTED_BYTES_PER_SECOND: f64 = 1e9;

/// The number of bytes between updates of the progress.
const STEP_BYTES: u64 = 16 << 20;

/// How long a wait for input lasts before it is checked whether the user interrupts.
const WAIT: Timespec = Timespec { tv_sec: 0, tv_nsec: 50_000_000 };

/// The audit of a file.
struct Audited {
    file: PathBuf,
    /// How reading it ended.
    read: Result<Whole, ReadError>,
    /// The findings in what was read.
    report: Report,
}

/// Whether a file was read completely.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Readable {
    Yes,
    Partial,
    No,
}

impl Audited {
    fn readable(&self) -> Readable {
        match &self.read {
            // The file ends within a record.
            Ok(_) if self.report.skipped.contains_key(&carryline_packets::Skip::CutShort) => {
                Readable::Partial
            }
            Ok(_) => Readable::Yes,
            Err(error) if error.format.is_some() => Readable::Partial,
            Err(_) => Readable::No,
        }
    }

    /// Why the file was not read completely.
    fn reason(&self) -> Option<String> {
        match &self.read {
            Ok(whole) => (self.readable() == Readable::Partial)
                .then(|| format!("byte {}: the file ends in the middle of a record", whole.file_bytes)),
            Err(ReadError { fault: fault @ Fault::Open(_), .. }) => Some(fault.to_string()),
            Err(error) => Some(error.to_string()),
        }
    }
}

/// Audits the files and prints the findings.
pub fn run(args: &AuditCapture, common: &Common) -> Result<u8, Failure> {
    let mut audits = Vec::new();
    for file in &args.files {
        audits.push(audit(file, common));
        if interrupt::requested() {
            break;
        }
    }
    match common.format {
        Format::Table => {
            let style = output::style();
            let texts: Vec<String> = audits.iter().map(|audit| text::of(audit, args.most, style)).collect();
            output::print(&texts.join("\n"))?;
        }
        Format::Json => {
            let rows: Vec<json::Row<'_>> = audits.iter().map(|audit| json::row(audit, args.most)).collect();
            output::print(&to_json(&rows)?)?;
        }
    }
    output::end_of_partial(common)?;
    for audit in &audits {
        if let Some(reason) = audit.reason() {
            output::message(&format!("{}: {reason}", audit.file.display()));
        }
    }
    Ok(if interrupt::requested() {
        status::INTERRUPTED
    } else if audits.iter().any(|audit| audit.report.wrong() > 0) {
        status::WRONG
    } else if audits.iter().any(|audit| audit.readable() != Readable::Yes) {
        status::USAGE
    } else {
        0
    })
}

/// Audits a file; a read error becomes part of the result.
fn audit(path: &Path, common: &Common) -> Audited {
    let mut audit = Audit::new();
    let read = match open(path) {
        Ok(input) => {
            let bytes = input.metadata().ok().filter(std::fs::Metadata::is_file).map(|meta| meta.len());
            file::read(ProgressReader::new(input, path, bytes, common.quiet), &mut audit)
        }
        Err(error) => Err(ReadError { format: None, offset: 0, fault: Fault::Open(error) }),
    };
    Audited { file: path.to_owned(), read, report: audit.finish() }
}

/// Opens a file, or standard input as `-`. It does not wait for a writer if the file is a FIFO: the reader does.
fn open(path: &Path) -> io::Result<File> {
    if path == Path::new("-") {
        return io::stdin().as_fd().try_clone_to_owned().map(File::from);
    }
    OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK).open(path)
}

/// A reader that shows its progress and fails when the user interrupts.
struct ProgressReader {
    reader: File,
    name: String,
    read_bytes: u64,
    file_bytes: Option<u64>,
    next_update: u64,
    progress: Progress,
}

impl ProgressReader {
    fn new(reader: File, path: &Path, file_bytes: Option<u64>, quiet: bool) -> ProgressReader {
        let seconds = file_bytes.map_or(0.0, |bytes| bytes as f64 / EXPECTED_BYTES_PER_SECOND);
        let progress = Progress::new(Duration::from_secs_f64(seconds), quiet);
        let name = carryline_report::text::safe(&path.to_string_lossy());
        ProgressReader { reader, name, read_bytes: 0, file_bytes, next_update: STEP_BYTES, progress }
    }

    fn update(&mut self) -> io::Result<()> {
        self.next_update = self.read_bytes + STEP_BYTES;
        if interrupt::requested() {
            return Err(io::Error::other("interrupted"));
        }
        let read = byte_size_rough(self.read_bytes);
        let share = self.file_bytes.filter(|bytes| *bytes > 0);
        let share =
            share.map_or(String::new(), |all| format!(", {}", percent(self.read_bytes as f64 / all as f64)));
        self.progress.say(format!("{}: {read} read{share}", self.name));
        Ok(())
    }
}

impl Read for ProgressReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            if self.read_bytes >= self.next_update || interrupt::requested() {
                self.update()?;
            }
            // A read of a pipe would continue to wait after a signal.
            if !is_readable(&self.reader)? {
                continue;
            }
            match self.reader.read(buffer) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                got => {
                    self.read_bytes += *got.as_ref().unwrap_or(&0) as u64;
                    return got;
                }
            }
        }
    }
}

/// Waits for a short time until a file can be read, or has ended; false if neither is the case yet.
fn is_readable(file: &File) -> io::Result<bool> {
    match poll(&mut [PollFd::new(file, PollFlags::IN)], Some(&WAIT)) {
        Ok(ready) => Ok(ready > 0),
        Err(Errno::INTR) => Ok(false),
        Err(errno) => Err(errno.into()),
    }
}

impl Drop for ProgressReader {
    fn drop(&mut self) {
        self.progress.finish();
    }
}
