//! What runs when the library is loaded: looks at the CPU and at the environment, and fills the tables.

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

/// The profile of all programs on this machine that name none.
const SYSTEM_TUNING: &CStr = c"/etc/carryline/tuning.toml";

/// The name for the C library's own function, in place of a variant's.
const LIBC: &str = "libc";
/// The name for the library's best, in place of a variant's.
const CARRYLINE: &str = "carryline";

#[used]
#[unsafe(link_section = ".init_array")]
static CONSTRUCTOR: extern "C" fn() = construct;

extern "C" fn construct() {
    // SAFETY: the C library is initialised before a library that needs it. Its errno is the program's business.
    let errno = unsafe { *libc::__errno_location() };
    // SAFETY: reads one entry of the auxiliary vector.
    let privileged = unsafe { libc::getauxval(libc::AT_SECURE) } != 0;
    let features = features(privileged);
    choose_profile(privileged);
    let mut routines = Routines::of_the_library(features);
    if !privileged {
        obey_environment(&mut routines, features);
    }
    CHOSEN.set(&routines);
    let page = if privileged { None } else { page() };
    match page {
        Some(page) => {
            page.count_process();
            RECORD.store(core::ptr::from_ref(page).cast_mut(), Ordering::Relaxed);
        }
        None => FAST.set(&routines),
    }
    // SAFETY: the address of this thread's errno, as at the beginning.
    unsafe { *libc::__errno_location() = errno };
}

/// The features that routines are chosen by.
fn features(privileged: bool) -> Features {
    let list = if privileged { None } else { variable(MASK) };
    let mask = list.map_or(Ok(Features::NONE), cpu::parse_mask).unwrap_or_else(|error| {
        ignore(format_args!("{error}"));
        Features::NONE
    });
    cpu::mask(mask)
}

/// Puts the profile in force that the environment names, else the machine's own, else the one that is built in for this
/// CPU. Kernels need it later; it is determined now.
fn choose_profile(privileged: bool) {
    if privileged || !apply_wanted() {
        match file::apply(SYSTEM_TUNING) {
            Err(fault) if !fault.is_absence() => {
                ignore(format_args!("{}: {fault}", SYSTEM_TUNING.to_str().unwrap_or_default()));
            }
            _ => {}
        }
    }
    tuning::fill();
}

/// Puts the profile in force that the environment names, and says whether there is one that can be.
fn apply_wanted() -> bool {
    let Some(wanted) = variable(TUNING) else { return false };
    let applied = match wanted.strip_prefix("builtin:") {
        Some(name) => tuning::apply_built_in(name).map_err(Fault::Refused),
        // SAFETY: the value has just been read; it ends with NUL.
        None => file::apply(unsafe { CStr::from_ptr(libc::getenv(TUNING.as_ptr())) }),
    };
    if let Err(fault) = &applied {
        ignore(format_args!("CARRYLINE_TUNING={wanted}: {fault}"));
    }
    applied.is_ok()
}

/// Families and variants as the environment wants them.
fn obey_environment(routines: &mut Routines, features: Features) {
    let families = variable(FAMILIES).filter(|list| {
        let unknown = words(list).find(|word| *word != "zero" && *word != "copy");
        if let Some(word) = unknown {
            ignore(format_args!("CARRYLINE_PRELOAD names the unknown family {word}; known are zero copy"));
        }
        unknown.is_none()
    });
    for (family, force) in [(Family::Zero, FORCE_ZERO), (Family::Copy, FORCE_COPY)] {
        let served = families.is_none_or(|list| words(list).any(|word| word == family.name()));
        let known = |name| carryline_variants::find(family, name);
        // The C library's function, under its name in listings.
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
                    // A family that is left to the C library stays with it.
                    Some(variant) if served => routines.force(variant),
                    Some(_) => {}
                    None => no_such_variant(family, force, name, features),
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

fn no_such_variant(family: Family, variable: &CStr, name: &str, features: Features) {
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
                "{variable}={name}: that variant cannot serve here, as it {why}; usable are {CARRYLINE} {LIBC}{names}"
            ));
        }
        None => {
            ignore(format_args!(
                "{variable}={name} names no variant that can serve here; usable are {CARRYLINE} {LIBC}{names}"
            ));
        }
    }
}

fn words(list: &str) -> impl Iterator<Item = &str> {
    list.split(',').map(str::trim).filter(|word| !word.is_empty())
}

/// What a variable says; empty is as not set.
fn variable(name: &CStr) -> Option<&'static str> {
    // SAFETY: a name that ends with NUL; nobody changes the environment while libraries are being loaded.
    let value = unsafe { libc::getenv(name.as_ptr()) };
    if value.is_null() {
        return None;
    }
    // SAFETY: the environment's strings end with NUL and stay where they are while the constructor runs.
    let value = unsafe { CStr::from_ptr(value) };
    let Ok(text) = value.to_str() else {
        ignore(format_args!("{} is not UTF-8", name.to_str().unwrap_or_default()));
        return None;
    };
    let text = text.trim();
    (!text.is_empty()).then_some(text)
}

/// The page of counters, if one is wanted and there. A process that may not open it, in a sandbox or under another
/// user, is not counted and not disturbed.
fn page() -> Option<&'static Served> {
    variable(RECORD_FILE)?;
    // SAFETY: the value has just been read; opened, measured and mapped as the manual has it. The mapping stays for
    // good and has the bytes of a page, which are atomic integers.
    unsafe {
        let file = libc::open(libc::getenv(RECORD_FILE.as_ptr()), libc::O_RDWR | libc::O_CLOEXEC);
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

/// Standard error, without a buffer.
struct Stderr;

impl Write for Stderr {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        // SAFETY: the bytes are readable. What cannot be said cannot be said.
        unsafe { libc::write(2, text.as_ptr().cast(), text.len()) };
        Ok(())
    }
}

/// Says why a variable is ignored. The program goes on, as it does where the dynamic linker cannot preload a library.
#[cold]
fn ignore(message: fmt::Arguments<'_>) {
    let _ = writeln!(Stderr, "libcarryline-preload: ignored: {message}");
}
