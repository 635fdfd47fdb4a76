//! Files and command-line values written by users: each is read or refused with a message, and what was read is
//! written and read the same.

mod calls;
mod readers;
mod recordings;
mod results;
mod scenarios;
mod suites;
mod traces;

pub(crate) use calls::calls;
pub(crate) use readers::{counters, packets, tables};
pub(crate) use recordings::run as recordings;
pub(crate) use results::run as results;
pub(crate) use scenarios::{scenarios, settings};
pub(crate) use suites::{rows, suites};
pub(crate) use traces::{frames, traces};

/// Bytes as text, or `None` for bytes that are not UTF-8, which every reader refuses first.
fn text(data: &[u8]) -> Option<&str> {
    core::str::from_utf8(data).ok()
}

/// Checks that an error has a message.
fn refused(error: &impl core::fmt::Display) {
    assert!(!error.to_string().is_empty());
}
