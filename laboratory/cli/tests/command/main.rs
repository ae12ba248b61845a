//! The `carryline` command as its users run it. One program, so that tests that wait run beside tests that compute.

mod audit;
mod audit_capture;
mod bad_input;
mod c_library;
mod calibration;
mod commands;
mod compare;
mod conditions;
mod critical;
mod examples;
mod inlining;
#[cfg(target_os = "linux")]
mod interrupted;
mod names;
mod one_cpu;
mod private;
mod real;
mod real_work;
mod report;
mod reproduce;
mod reproduce_evans;
mod support;
mod survival;
mod tune;
mod verify;
mod watch;
#[cfg(target_os = "linux")]
mod widths;
