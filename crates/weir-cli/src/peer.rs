//! `weir send`, `weir recv` and `weir keygen`: media flows between two machines.

#[cfg(target_os = "linux")]
mod calls;
#[cfg(target_os = "linux")]
mod capture;
#[cfg(target_os = "linux")]
mod flows;
#[cfg(target_os = "linux")]
mod meeting;
#[cfg(target_os = "linux")]
mod report;
#[cfg(target_os = "linux")]
mod session;

use std::process::ExitCode;

use weir_peer::key_file;
use weir_peer::random::SystemRandom;
use weir_scenario::registry::Registry;

use crate::args::{KeygenArgs, RecvArgs, SendArgs};
use crate::failure::Failure;

/// Sends flows.
#[cfg(target_os = "linux")]
pub(crate) fn send(args: &SendArgs, registry: &Registry) -> Result<ExitCode, Failure> {
    session::send(args, registry)
}

/// Receives flows.
#[cfg(target_os = "linux")]
pub(crate) fn recv(args: &RecvArgs, registry: &Registry) -> Result<ExitCode, Failure> {
    session::recv(args, registry)
}

/// Sends flows.
#[cfg(not(target_os = "linux"))]
pub(crate) fn send(_: &SendArgs, _: &Registry) -> Result<ExitCode, Failure> {
    Err(Failure::Machine(weir_live::NEEDS_LINUX.to_owned()))
}

/// Receives flows.
#[cfg(not(target_os = "linux"))]
pub(crate) fn recv(_: &RecvArgs, _: &Registry) -> Result<ExitCode, Failure> {
    Err(Failure::Machine(weir_live::NEEDS_LINUX.to_owned()))
}

/// Writes a key.
pub(crate) fn keygen(args: &KeygenArgs) -> Result<(), Failure> {
    key_file::generate(&args.file, &mut SystemRandom).map_err(|error| Failure::Machine(error.to_string()))
}
