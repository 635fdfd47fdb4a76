//! `weir emulate`: any programs at the two ends of an emulated path.

#[cfg(target_os = "linux")]
mod ends;
#[cfg(target_os = "linux")]
mod links;
#[cfg(target_os = "linux")]
mod report;

use std::process::ExitCode;

use weir_scenario::registry::Registry;

use crate::args::EmulateArgs;
use crate::failure::Failure;

/// Runs the arguments. The exit code is that of the program.
#[cfg(target_os = "linux")]
pub(crate) fn emulate(args: &EmulateArgs, registry: &Registry) -> Result<ExitCode, Failure> {
    let path = links::path(args, registry)?;
    match (&args.udp, args.program.split_first()) {
        (Some(udp), _) => ends::sockets(args, path, udp),
        (None, Some((program, arguments))) => ends::programs(args, path, program, arguments),
        (None, None) => Err(Failure::Option {
            option: "CMD".to_owned(),
            problem: "there is no program; name one behind `--`, or give --udp LISTEN=PEER".to_owned(),
        }),
    }
}

/// Runs the arguments.
#[cfg(not(target_os = "linux"))]
pub(crate) fn emulate(_: &EmulateArgs, _: &Registry) -> Result<ExitCode, Failure> {
    Err(Failure::Machine(weir_live::NEEDS_LINUX.to_owned()))
}
