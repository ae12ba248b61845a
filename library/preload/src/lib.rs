//! The interposer: a shared library for `LD_PRELOAD` that provides the memory functions of an unmodified program.
//! `carryline real` compares a program with and without it.
//!
//! It defines `memcpy`, `memmove`, `mempcpy`, `bcopy`, `memset`, `bzero`, `explicit_bzero`, glibc's second names
//! `__mempcpy` and `__bzero`, and the checked forms that `_FORTIFY_SOURCE` calls. Names without a version serve calls
//! of any version, `memcpy@GLIBC_2.2.5` included. Calls that a compiler inlined, calls inside the C library and calls
//! in static programs are not served.
//!
//! Four variables are read, once, by the library's constructor:
//! - `CARRYLINE_PRELOAD=zero,copy`: the families to serve; both when it is not set. The functions of another family
//!   are the C library's own, with a jump in between;
//! - `CARRYLINE_FORCE_ZERO=movntps`, `CARRYLINE_FORCE_COPY=rep_movsb`: a variant of the collection (`table` says
//!   which ones can serve) instead of the library's best for this CPU. Non-zero `memset` is not forced: variants only
//!   zero;
//! - `CARRYLINE_MASK=avx512f`: CPU features to do without when choosing, as the Rust library reads it;
//! - `CARRYLINE_TUNING=FILE`, `CARRYLINE_TUNING=builtin:NAME`: the profile to go by, as the Rust library reads it. Where
//!   none is named, that in `/etc/carryline/tuning.toml`, if there is one, is for all programs.
//!
//! A fifth, `CARRYLINE_PRELOAD_RECORD=FILE`, names a page of counters made by `carryline real`
//! (the crate `carryline-served`). Without it nothing is counted and counting costs nothing.
//! A variable with an unknown name and a profile that is refused are ignored, and a message on standard error says so: the
//! interposer never ends the program. `carryline real` rejects such names before it starts a program, and discards the results of one with such
//! a message. Programs that run with elevated privileges (`AT_SECURE`) get the defaults whatever the environment
//! says, and the machine's own profile.
//!
//! **Every copy is safe with overlap.** glibc's `memcpy` on x86-64 is its `memmove`, and programs have come to rely
//! on it (the Flash player was the famous one); not breaking them costs two comparisons per call.
//!
//! **Before the constructor has run** (constructors of other libraries, resolvers of indirect functions while the
//! dynamic linker still relocates) calls are served by plain code that reads no relocated data: `table`. No function
//! allocates, takes a lock, uses thread-local storage or calls the dynamic linker, so they work in signal handlers,
//! threads and the child of a `vfork`.
#![cfg_attr(target_os = "linux", no_std)]
// LLVM recognises memcpy, and would turn the loops that implement it into calls to it.
#![no_builtins]

#[cfg(target_os = "linux")]
mod abort;
#[cfg(target_os = "linux")]
mod constructor;
#[cfg(target_os = "linux")]
mod entries;
#[cfg(target_os = "linux")]
mod file;
#[cfg(target_os = "linux")]
mod kernels;
#[cfg(target_os = "linux")]
mod libc_own;
#[cfg(target_os = "linux")]
mod table;
