//! The interposer: a shared library for `LD_PRELOAD` that provides the memory functions of unmodified
//! programs. `carryline real` compares a program with and without it.
//!
//! It defines `memcpy`, `memmove`, `mempcpy`, `bcopy`, `memset`, `bzero`, `explicit_bzero`, glibc's aliases
//! `__mempcpy` and `__bzero`, and the checked forms called by `_FORTIFY_SOURCE`. The symbols have no version,
//! so they serve calls of any version, including `memcpy@GLIBC_2.2.5`. Calls inlined by a compiler, calls
//! inside the C library and calls in static programs are not served.
//!
//! The constructor reads five environment variables:
//! - `CARRYLINE_PRELOAD=zero,copy`: the families to serve; both if not set. The functions of other families
//!   jump to the C library's own;
//! - `CARRYLINE_FORCE_ZERO=movntps`, `CARRYLINE_FORCE_COPY=rep_movsb`: a variant of the collection to use
//!   instead of the library's best for this CPU (`table` describes which can serve). `memset` with other
//!   bytes than 0 is not affected, because variants only zero;
//! - `CARRYLINE_MASK=avx512f`: CPU features not to use, as in the Rust library;
//! - `CARRYLINE_TUNING=FILE`, `CARRYLINE_TUNING=builtin:NAME`: the profile to use, as in the Rust library.
//!   Without it, the profile in `/etc/carryline/tuning.toml`, if there is one, applies to all programs.
//!
//! A sixth variable, `CARRYLINE_PRELOAD_RECORD=FILE`, names a page of counters made by `carryline real` (the
//! crate `carryline-served`). Without it, nothing is counted and counting costs nothing.
//!
//! An unknown name or a rejected profile is ignored with a message on standard error; the interposer never
//! ends the program because of its settings. `carryline real` rejects such names before it starts a program,
//! and discards results if there is such a message. Programs that run with elevated privileges (`AT_SECURE`)
//! ignore the environment and use the defaults, and the machine's own profile.
//!
//! **All copies support overlap.** glibc's `memcpy` on x86-64 is its `memmove`, and programs have come to
//! rely on that (the Flash player was a famous one). Small copies load everything before they store anything, so only
//! longer ones compare the addresses.
//!
//! **Before the constructor has run** (in constructors of other libraries, and in resolvers of indirect
//! functions while the dynamic linker is still relocating), calls are served by plain code that reads no
//! relocated data: `table`. No function allocates, locks, uses thread-local storage or calls the dynamic
//! linker, so they work in signal handlers, in threads and in the child of a `vfork`.
#![cfg_attr(target_os = "linux", no_std)]
// LLVM recognises memcpy, and would turn the loops that implement it into calls to it.
#![no_builtins]

#[cfg(target_os = "linux")]
mod abort;
#[cfg(target_os = "linux")]
mod broken_pipe;
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
