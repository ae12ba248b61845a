//! The interposer as it is installed: its object, C programs that check every function, and programs of this machine.
#![cfg(target_os = "linux")]

mod c_programs;
mod object;
mod real_programs;
mod support;
