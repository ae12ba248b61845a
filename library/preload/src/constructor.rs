//! The constructor of the library: detects the CPU, reads the environment, and fills the tables.

use crate::broken_pipe;
use crate::file::{self, Fault};
use crate::table::{CHOSEN, FAST, RECORD, Routines};
use carryline::internals::cpu::{self, Features};
use carryline::internals::tuning;
use carryline_served::Served;
use carryline_variants::{Family, Variant};
use core::ffi::{CStr, c_void};
use core::fmt::{self, Write};
use core::sync::atomic::Ordering;

const FAMILIES: &CStr = c"CARRYLINE_PRELOAD";
const FORCE_ZERO: &CStr = c"CARRYLINE_FORCE_ZERO";
const FORCE_COPY: &CStr = c"CARRYLINE_FORCE_COPY";
const MASK: &CStr = c"CARRYLINE_MASK";
const TUNING: &CStr = c"CARRYLINE_TUNING";
const RECORD_FILE: &CStr = c"CARRYLINE_PRELOAD_RECORD";

/// The profile for all programs on this machine that name none.
const SYSTEM_TUNING: &CStr = c"/etc/carryline/tuning.toml";

/// The name of the C library's own function, accepted like a variant's.
const LIBC: &str = "libc";
/// The name of the library's best kernel, accepted like a variant's.
const CARRYLINE: &str = "carryline";

#[used]
#[unsafe(link_section = ".init_array")]
static CONSTRUCTOR: extern "C" fn() = construct;

extern "C" fn construct() {
    // SAFETY: the C library is initialised before libraries that depend on it. The program's errno must not
    // change.
    let errno = unsafe { *libc::__errno_location() };
    // SAFETY: reads an entry of the auxiliary vector.
    let privileged = unsafe { libc::getauxval(libc::AT_SECURE) } != 0;
    let features = features(privileged);
    choose_profile(privileged);
    let mut routines = Routines::of_the_library(features);
    if !privileged {
        apply_environment(&mut routines, features);
    }
    CHOSEN.set(&routines);
    let page = if privileged { None } else { page() };
    match page {
        Some(page) => {
            page.count_process();
            RECORD.store(core::ptr::from_ref(page).cast_mut(), Ordering::Release);
        }
        None => FAST.set(&routines),
    }
    // SAFETY: the address of this thread's errno, as above.
    unsafe { *libc::__errno_location() = errno };
}

/// The features by which routines are chosen.
fn features(privileged: bool) -> Features {
    let list = if privileged { None } else { variable(MASK) };
    let mask = list.map_or(Ok(Features::NONE), cpu::parse_mask).unwrap_or_else(|error| {
        ignore(format_args!("{error}"));
        Features::NONE
    });
    cpu::mask(mask)
}

/// Puts a profile in force: the one named by the environment, else the machine's, else the one built in for
/// this CPU. The decisions are determined now, because kernels need them later.
fn choose_profile(privileged: bool) {
    if privileged || !apply_requested() {
        match file::apply(SYSTEM_TUNING) {
            Err(fault) if !fault.is_absence() => {
                ignore(format_args!("{}: {fault}", SYSTEM_TUNING.to_str().unwrap_or_default()));
            }
            _ => {}
        }
    }
    tuning::fill();
}

/// Puts the profile named by the environment in force; false if none is named or it is rejected.
fn apply_requested() -> bool {
    let Some(wanted) = value(TUNING) else { return false };
    let built_in = wanted.to_str().ok().and_then(|text| text.strip_prefix("builtin:"));
    let applied = match built_in {
        Some(name) => tuning::apply_built_in(name).map_err(Fault::Refused),
        None => file::apply(wanted),
    };
    if let Err(fault) = &applied {
        ignore(format_args!("CARRYLINE_TUNING={}: {fault}", Shown(wanted)));
    }
    applied.is_ok()
}

/// Applies the families and variants named by the environment.
fn apply_environment(routines: &mut Routines, features: Features) {
    let families = variable(FAMILIES).filter(|list| {
        let unknown = words(list).find(|word| *word != "zero" && *word != "copy");
        if let Some(word) = unknown {
            ignore(format_args!("CARRYLINE_PRELOAD names the unknown family {word}; known: zero copy"));
        }
        let is_empty = words(list).next().is_none();
        if is_empty {
            ignore(format_args!("CARRYLINE_PRELOAD={list} names no family; known: zero copy"));
        }
        unknown.is_none() && !is_empty
    });
    for (family, force) in [(Family::Zero, FORCE_ZERO), (Family::Copy, FORCE_COPY)] {
        let served = families.is_none_or(|list| words(list).any(|word| word == family.name()));
        let known = |name| carryline_variants::find(family, name);
        // The C library's function may be given by its name in listings.
        let forced = variable(force).map(|name| match known(name) {
            Some(variant) if variant.is_c_library_function() => LIBC,
            _ => name,
        });
        if forced.is_some_and(|name| name == LIBC) || !served {
            routines.leave(family);
        }
        match forced {
            None | Some(LIBC | CARRYLINE) => {}
            Some(name) => {
                match usable(family, features).find(|variant| variant.name == name) {
                    // A family left to the C library is not forced.
                    Some(variant) if served => routines.force(variant),
                    Some(_) => {}
                    None => report_unusable(family, force, name, features),
                }
            }
        }
    }
}

/// The variants that can serve on this CPU.
fn usable(family: Family, features: Features) -> impl Iterator<Item = &'static Variant> {
    let variants = carryline_variants::of(family).iter().copied();
    variants.filter(move |variant| variant.can_interpose() && features.contains(variant.needs))
}

fn report_unusable(family: Family, variable: &CStr, name: &str, features: Features) {
    struct Names(Family, Features);
    impl fmt::Display for Names {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            usable(self.0, self.1).try_for_each(|variant| write!(f, " {}", variant.name))
        }
    }
    let variable = variable.to_str().unwrap_or_default();
    let names = Names(family, features);
    let variant = carryline_variants::find(family, name);
    match variant.map(|variant| variant.cannot_interpose().unwrap_or("needs what this CPU lacks")) {
        Some(why) => {
            ignore(format_args!(
                "{variable}={name}: that variant cannot serve here: it {why}; usable: {CARRYLINE} {LIBC}{names}"
            ));
        }
        None => {
            ignore(format_args!(
                "{variable}={name} is not a variant that can serve here; usable: {CARRYLINE} {LIBC}{names}"
            ));
        }
    }
}

fn words(list: &str) -> impl Iterator<Item = &str> {
    list.split(',').map(str::trim).filter(|word| !word.is_empty())
}

/// The value of an environment variable as it is, for paths, in which spaces count; `None` if it is not set or empty.
fn value(name: &CStr) -> Option<&'static CStr> {
    // SAFETY: the name ends with NUL; the environment does not change while libraries are being loaded.
    let value = unsafe { libc::getenv(name.as_ptr()) };
    if value.is_null() {
        return None;
    }
    // SAFETY: strings of the environment end with NUL, and do not move while the constructor runs.
    let value = unsafe { CStr::from_ptr(value) };
    (!value.is_empty()).then_some(value)
}

/// The value of an environment variable that contains names, without spaces at its ends; `None` if it is not set or
/// empty.
fn variable(name: &CStr) -> Option<&'static str> {
    let Ok(text) = value(name)?.to_str() else {
        ignore(format_args!("{} is not UTF-8", name.to_str().unwrap_or_default()));
        return None;
    };
    let text = text.trim();
    (!text.is_empty()).then_some(text)
}

/// The page of counters, if one is named and can be mapped. A process that may not open it, in a sandbox or
/// as another user, is not counted.
fn page() -> Option<&'static Served> {
    let path = value(RECORD_FILE)?;
    // SAFETY: the path ends with NUL. The calls follow their manual pages. The mapping is never removed, and has the
    // size of a page, which consists of atomic integers.
    unsafe {
        let file = libc::open(path.as_ptr(), libc::O_RDWR | libc::O_CLOEXEC);
        if file < 0 {
            return None;
        }
        let bytes = Served::FILE_BYTES;
        let end = libc::lseek(file, 0, libc::SEEK_END);
        let whole = usize::try_from(end).is_ok_and(|end| end == bytes);
        let (protection, sharing) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_SHARED);
        let mapping: *mut c_void = match whole {
            true => libc::mmap(core::ptr::null_mut(), bytes, protection, sharing, file, 0),
            false => libc::MAP_FAILED,
        };
        libc::close(file);
        if mapping == libc::MAP_FAILED {
            return None;
        }
        let page = mapping.cast::<Served>().as_ref()?;
        page.is_one().then_some(page)
    }
}

/// A value in a message: what is not UTF-8 is shown as U+FFFD.
struct Shown<'v>(&'v CStr);

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for chunk in self.0.to_bytes().utf8_chunks() {
            f.write_str(chunk.valid())?;
            if !chunk.invalid().is_empty() {
                f.write_char(char::REPLACEMENT_CHARACTER)?;
            }
        }
        Ok(())
    }
}

/// Standard error, unbuffered.
struct Stderr {
    /// True if it is a pipe or a socket that nobody reads.
    is_broken: bool,
}

impl Write for Stderr {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        // SAFETY: the bytes are readable. Any other failure is ignored.
        let written = unsafe { libc::write(2, text.as_ptr().cast(), text.len()) };
        // SAFETY: the address of this thread's errno is valid.
        self.is_broken |= written < 0 && unsafe { *libc::__errno_location() } == libc::EPIPE;
        if self.is_broken { Err(fmt::Error) } else { Ok(()) }
    }
}

/// Reports why a variable is ignored. The program continues, as it does if the dynamic linker cannot preload
/// a library.
#[cold]
fn ignore(message: fmt::Arguments<'_>) {
    broken_pipe::without_signal(|| {
        let mut stderr = Stderr { is_broken: false };
        let _ = writeln!(stderr, "libcarryline-preload: ignored: {message}");
        stderr.is_broken
    });
}
