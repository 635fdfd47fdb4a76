//! The ends of an emulated path: programs in namespaces, or sockets.

use std::ffi::{OsStr, OsString};
use std::io::{self, Write};
use std::net::{SocketAddr, ToSocketAddrs};
use std::process::{Command, ExitCode, Stdio};
use std::sync::Arc;
use std::time::Duration;

use weir_live::caller::Caller;
use weir_live::capture::CapturedPacket;
use weir_live::emulate::{EmulateError, EmulateOptions, Emulation, Path, Program};
use weir_live::interrupts::{Happened, Interrupts, Terminal};
use weir_live::namespace::Namespace;
use weir_units::TimeDelta;

use super::report::{self, LiveLine};
use crate::args::{EmulateArgs, Priority};
use crate::capture::PacketFile;
use crate::failure::Failure;
use crate::output::FileOwner;
use crate::terminal;

/// Longest time until the far program must listen.
const FAR_LIMIT: TimeDelta = TimeDelta::from_secs(3);
/// Time that the far program has after the end of the near one; then as much again after SIGTERM.
const FAR_END: Duration = Duration::from_secs(1);
/// Time between two live lines.
const SECOND: Duration = Duration::from_secs(1);
/// Names of the interfaces of a capture: either side of the bottleneck of each direction.
const INTERFACES: [[&str; 2]; 2] = [
    ["forward-before-bottleneck", "forward-behind-bottleneck"],
    ["back-before-bottleneck", "back-behind-bottleneck"],
];
/// Exit codes of a shell that cannot start a program.
const NOT_STARTED: [u8; 2] = [126, 127];

impl From<EmulateError> for Failure {
    fn from(error: EmulateError) -> Self {
        Self::Machine(error.to_string())
    }
}

#[expect(clippy::needless_pass_by_value, reason = "it is the argument of `map_err`")]
fn machine(error: io::Error) -> Failure {
    Failure::Machine(error.to_string())
}

fn options(
    args: &EmulateArgs,
    capture: Option<std::sync::mpsc::SyncSender<CapturedPacket>>,
) -> EmulateOptions {
    EmulateOptions { seed: args.seed, realtime: args.priority == Priority::Realtime, capture }
}

/// Runs programs at both ends.
pub(super) fn programs(
    args: &EmulateArgs,
    path: Path,
    program: &OsStr,
    arguments: &[OsString],
) -> Result<ExitCode, Failure> {
    let caller = Caller::of_sudo();
    let interrupts = Interrupts::block().map_err(machine)?;
    let own = Terminal::own();
    let (capture, to) = match &args.pcap {
        Some(path) => {
            let interfaces = INTERFACES.map(|names| names.map(str::to_owned));
            let started = PacketFile::start(path, &FileOwner::caller(), &interfaces);
            let (capture, to) =
                started.map_err(|source| Failure::UnwritableFile { path: path.clone(), source })?;
            (Some(capture), Some(to))
        }
        None => (None, None),
    };
    let (emulation, hosts) = Emulation::between_namespaces(path, &options(args, to))?;
    let environment = environment(&hosts);
    let start = |end: usize, mut command: Command, name: &OsStr| {
        command.envs(environment.iter().map(|(name, value)| (name, value)));
        Program::start(&hosts[end], command, caller.as_ref()).map_err(|error| Failure::Option {
            option: name.to_string_lossy().into_owned(),
            problem: format!("the program cannot be started: {error}"),
        })
    };
    let mut far = args.far.as_ref().map(|far| start_far(far, &start)).transpose()?;
    let mut command = Command::new(program);
    command.args(arguments);
    let mut near = start(0, command, program)?;

    // All that needs root is done.
    caller.as_ref().map(Caller::become_for_good).transpose().map_err(machine)?;

    let mut live = LiveLine::new(args);
    let code = attend(&interrupts, &emulation, Some(&mut near), &mut live, own.as_ref())?;
    if let Some(far) = &mut far
        && emulation.is_running()
        && far.wait(FAR_END).map_err(machine)?.is_none()
    {
        far.terminate();
        far.wait(FAR_END).map_err(machine)?;
    }
    drop((near, far));
    if let Some(own) = own {
        own.take_back();
    }
    finish(args, emulation, &live, capture, code)
}

/// Starts the program at the far end, and waits until it listens.
fn start_far(
    far: &OsString,
    start: &impl Fn(usize, Command, &OsStr) -> Result<Program, Failure>,
) -> Result<Program, Failure> {
    let mut command = Command::new("/bin/sh");
    // The input of the terminal is the near program's.
    command.arg("-c").arg(far).stdin(Stdio::null());
    let mut program = start(1, command, far)?;
    program.wait_until_it_listens(FAR_LIMIT).map_err(machine)?;
    match program.code().map_err(machine)? {
        Some(code) if NOT_STARTED.contains(&code) => Err(Failure::Option {
            option: format!("--far {}", far.to_string_lossy()),
            problem: "the shell cannot start it".to_owned(),
        }),
        _ => Ok(program),
    }
}

/// The addresses of both ends.
fn environment(hosts: &[Arc<Namespace>; 2]) -> Vec<(&'static str, String)> {
    let names = [("WEIR_NEAR", "WEIR_NEAR6"), ("WEIR_FAR", "WEIR_FAR6")];
    let of_host = |(host, (ipv4, ipv6)): (&Arc<Namespace>, (&'static str, &'static str))| {
        let ipv6 = host.ipv6().map(|address| (ipv6, address.to_string()));
        std::iter::once((ipv4, host.ipv4().to_string())).chain(ipv6)
    };
    hosts.iter().zip(names).flat_map(of_host).collect()
}

/// Forwards datagrams until a signal comes.
pub(super) fn sockets(args: &EmulateArgs, path: Path, udp: &str) -> Result<ExitCode, Failure> {
    let wrong = |problem: String| Failure::Option { option: format!("--udp {udp}"), problem };
    let (listen, peer) = udp
        .split_once('=')
        .ok_or_else(|| wrong("must be LISTEN=PEER, such as :5000=192.0.2.7:5000".to_owned()))?;
    let (listen, peer) = (address(listen).map_err(wrong)?, address(peer).map_err(wrong)?);
    if peer.ip().is_unspecified() || peer.port() == 0 {
        return Err(wrong("PEER is where packets go: it needs an address and a port".to_owned()));
    }
    let interrupts = Interrupts::block().map_err(machine)?;
    let (emulation, at) = Emulation::between_sockets(path, listen, peer, &options(args, None))?;
    Caller::of_sudo().map_or(Ok(()), |caller| caller.become_for_good()).map_err(machine)?;
    if !args.quiet && !args.json {
        writeln!(terminal::stderr(), "{at} forwards to {peer}; Ctrl-C ends it")?;
    }
    let mut live = LiveLine::new(args);
    attend(&interrupts, &emulation, None, &mut live, None)?;
    finish(args, emulation, &live, None, 0)
}

/// An address and a port; without an address any.
fn address(text: &str) -> Result<SocketAddr, String> {
    let whole = if text.starts_with(':') { format!("0.0.0.0{text}") } else { text.to_owned() };
    let found = whole.to_socket_addrs().ok().and_then(|mut addresses| addresses.next());
    found.ok_or_else(|| format!("`{text}` is no address with a port"))
}

/// Shows the live line until the program ends, or without a program until a signal comes. The result is the exit code.
fn attend(
    interrupts: &Interrupts,
    emulation: &Emulation,
    mut program: Option<&mut Program>,
    live: &mut LiveLine,
    own: Option<&Terminal>,
) -> Result<u8, Failure> {
    let mut signals = 0;
    while emulation.is_running() {
        match interrupts.wait(program.as_deref().map(Program::ended), SECOND).map_err(machine)? {
            Happened::Nothing => live.show(emulation, own),
            Happened::Ended => {}
            Happened::Signal { signal, sent } => match &program {
                None => return Ok(0),
                Some(program) => {
                    signals += 1;
                    if signals > 1 {
                        program.kill();
                    } else if sent {
                        program.signal(signal);
                    }
                }
            },
        }
        if let Some(code) =
            program.as_mut().map(|program| program.code()).transpose().map_err(machine)?.flatten()
        {
            return Ok(code);
        }
    }
    Ok(1)
}

/// Ends the emulation and prints its report.
fn finish(
    args: &EmulateArgs,
    emulation: Emulation,
    live: &LiveLine,
    capture: Option<PacketFile>,
    code: u8,
) -> Result<ExitCode, Failure> {
    live.clear();
    let report = emulation.stop()?;
    capture.map(PacketFile::finish).transpose()?;
    report::print(args, &report, code)?;
    Ok(ExitCode::from(code))
}
