//! Sessions of `weir send` and `weir recv`.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, ToSocketAddrs};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use weir_live::caller::refuse_set_user_id;
use weir_net::Time;
use weir_peer::drive::{DriveFigures, DriveObserver, DriveWish, PeerSocket, SeenPacket, drive};
use weir_peer::end::{EndConfig, EndOutcome, EndPhase, PeerEnd};
use weir_peer::hosts::SendPlan;
use weir_peer::key_file;
use weir_peer::keys::KeyRing;
use weir_peer::metrics::{MetricsServer, metrics_text};
use weir_peer::offer::ReceiveCeilings;
use weir_peer::random::SystemRandom;
use weir_peer::results::PeerResults;
use weir_scenario::registry::Registry;
use weir_study::runs::RunError;
use weir_units::TimeDelta;
use weir_world::RecordedCall;

use super::capture::PeerCapture;
use super::flows;
use super::report::{self, LiveLines};
use crate::args::{Priority, RecvArgs, SendArgs, SessionArgs};
use crate::failure::Failure;
use crate::signals::SignalWatch;
use crate::terminal;

/// The usual port of the end that is called.
const PORT: u16 = 5004;
/// Duration of sending unless another one is given.
const DURATION: TimeDelta = TimeDelta::from_secs(10);
/// Exit code of a session that broke off or was disturbed.
const INCONCLUSIVE: u8 = 3;
/// Exit code after Ctrl-C.
const INTERRUPTED: u8 = 2;
/// Time between two updates of the metrics.
const METRICS_INTERVAL: TimeDelta = TimeDelta::from_millis(500);

fn machine(error: impl std::fmt::Display) -> Failure {
    Failure::Machine(error.to_string())
}

fn wrong(option: &str, problem: String) -> Failure {
    Failure::Option { option: option.to_owned(), problem }
}

/// How an end meets the other one.
#[derive(Clone, Copy, Debug)]
enum MeetingPlace {
    Calls(SocketAddr),
    Listens(SocketAddr),
}

/// An end of the command, with the surroundings of all its sessions.
struct CommandEnd<'a> {
    args: &'a SessionArgs,
    registry: &'a Registry,
    keys: KeyRing,
    place: MeetingPlace,
    socket: PeerSocket,
    watch: SignalWatch,
    metrics: Option<MetricsServer>,
    capture: Option<PeerCapture>,
}

/// The own wishes of an end about a session.
struct SessionWishes {
    plan: Option<SendPlan>,
    receives: bool,
    ceilings: ReceiveCeilings,
    duration: Option<TimeDelta>,
    bytes: Option<u64>,
    record: bool,
}

/// Sends.
pub(super) fn send(args: &SendArgs, registry: &Registry) -> Result<ExitCode, Failure> {
    let session = &args.session;
    let usual = if args.bytes.is_some() { None } else { Some(DURATION) };
    let duration = args.duration.or(usual);
    let plan = flows::plan(&args.flows, [args.min_rate, args.start_rate, args.max_rate], duration, registry)?;
    let count = plan.flows.len();
    let mut record = args.record.as_deref().map(|path| CallFiles::prepare(path, count)).transpose()?;
    let mut command = CommandEnd::start(session, registry, args.address.as_deref(), !session.reverse)?;
    let wishes = SessionWishes {
        plan: Some(plan),
        receives: session.bidir,
        ceilings: ReceiveCeilings::default(),
        duration,
        bytes: args.bytes.map(weir_units::DataSize::bytes),
        record: record.is_some(),
    };
    let (results, code, calls) = command.session(wishes)?;
    command.finish()?;
    if let Some(record) = &mut record {
        record.write(calls)?;
    }
    results.map_or(Ok(()), |results| report::print(session, &results))?;
    Ok(code)
}

/// Receives.
pub(super) fn recv(args: &RecvArgs, registry: &Registry) -> Result<ExitCode, Failure> {
    let session = &args.session;
    let ceilings = ReceiveCeilings {
        rate: args.max_rate,
        duration: args.max_duration,
        unresponsive: args.allow_unresponsive,
    };
    let plan = || {
        let plan = || flows::plan(&args.flows, [None; 3], args.max_duration, registry);
        session.bidir.then(plan).transpose()
    };
    // Errors of the flows come before the first session.
    let mut first = plan()?;
    let mut command = CommandEnd::start(session, registry, args.address.as_deref(), session.reverse)?;
    loop {
        let plan = match first.take() {
            Some(plan) => Some(plan),
            None => plan()?,
        };
        let wishes =
            SessionWishes { plan, receives: true, ceilings, duration: None, bytes: None, record: false };
        let (results, code, _) = command.session(wishes)?;
        let Some(results) = results else {
            command.finish()?;
            return Ok(code);
        };
        report::print(session, &results)?;
        if args.once || session.reverse || command.watch.has_signal() {
            command.finish()?;
            return Ok(code);
        }
    }
}

/// The keys of the options, or an error if a network beyond this machine would be used without.
fn keys(args: &SessionArgs, address: SocketAddr) -> Result<KeyRing, Failure> {
    if let Some(file) = &args.key {
        return key_file::read(file).map_err(machine);
    }
    if args.open || address.ip().is_loopback() {
        return Ok(KeyRing::open());
    }
    let problem = "beyond this machine a key is needed: `weir keygen FILE` writes one, and both ends take --key FILE; with --open only \
                   the return path is proved";
    Err(wrong(&address.to_string(), problem.to_owned()))
}

/// The first address of HOST:PORT; the port may be left out.
fn resolve(text: &str) -> Result<SocketAddr, Failure> {
    let with_port = |text: &str| text.to_socket_addrs().map(|mut all| all.next());
    let found = match with_port(text) {
        Err(_) if !text.contains(':') || text.ends_with(']') => with_port(&format!("{text}:{PORT}")),
        found => found,
    };
    let unknown =
        |problem: String| wrong(text, format!("{problem}; write HOST:PORT, such as 192.0.2.7:{PORT}"));
    found
        .map_err(|error| unknown(error.to_string()))?
        .ok_or_else(|| unknown("there is no such host".to_owned()))
}

impl<'a> CommandEnd<'a> {
    fn start(
        args: &'a SessionArgs,
        registry: &'a Registry,
        address: Option<&str>,
        calls: bool,
    ) -> Result<Self, Failure> {
        refuse_set_user_id().map_err(machine)?;
        let trusted = args.key.is_some() || args.open;
        let place = match address {
            Some(address) if calls => MeetingPlace::Calls(resolve(address)?),
            Some(address) => MeetingPlace::Listens(resolve(address)?),
            None => {
                let own = if trusted { Ipv4Addr::UNSPECIFIED } else { Ipv4Addr::LOCALHOST };
                MeetingPlace::Listens((own, PORT).into())
            }
        };
        let (own, far) = match place {
            MeetingPlace::Calls(to) => {
                let any: IpAddr =
                    if to.is_ipv4() { Ipv4Addr::UNSPECIFIED.into() } else { Ipv6Addr::UNSPECIFIED.into() };
                (SocketAddr::new(any, 0), to)
            }
            MeetingPlace::Listens(own) => (own, own),
        };
        let keys = keys(args, far)?;
        let socket = PeerSocket::bind(own).map_err(|error| {
            let problem = match error.kind() {
                io::ErrorKind::AddrInUse => {
                    "the port is in use; end the other program, or name another port".to_owned()
                }
                _ => error.to_string(),
            };
            wrong(&own.to_string(), problem)
        })?;
        // Threads that start later do not obey signals either.
        let watch = SignalWatch::start()?;
        let metrics = args.metrics.map(|address| {
            MetricsServer::start(address)
                .map_err(|error| wrong(&format!("--metrics {address}"), error.to_string()))
        });
        let metrics = metrics.transpose()?;
        let capture = args.pcap.as_deref().map(PeerCapture::start).transpose()?;
        let mut out = terminal::stderr();
        if keys.is_open() {
            writeln!(
                out,
                "no key: only the return path is proved; anybody on the path can read and forge packets"
            )?;
        }
        if let MeetingPlace::Listens(_) = place {
            writeln!(out, "listening at {}", socket.local_addr().map_err(machine)?)?;
        }
        if let Some(metrics) = &metrics {
            writeln!(out, "metrics at http://{}/metrics", metrics.address())?;
        }
        drop(out);
        Ok(Self { args, registry, keys, place, socket, watch, metrics, capture })
    }

    /// One session: its results unless it was interrupted before its start, the exit code, and the recorded calls.
    #[expect(clippy::type_complexity, reason = "three results")]
    fn session(
        &mut self,
        wishes: SessionWishes,
    ) -> Result<(Option<PeerResults>, ExitCode, Vec<(usize, RecordedCall)>), Failure> {
        let SessionWishes { plan, receives, ceilings, duration, bytes, record } = wishes;
        let config = EndConfig {
            keys: self.keys.clone(),
            registry: self.registry.clone(),
            plan,
            receives,
            ceilings,
            duration,
            bytes,
            record,
        };
        let place = self.place;
        let make = move |now: Time| match place {
            MeetingPlace::Calls(to) => PeerEnd::call(now, to, config, Box::new(SystemRandom)),
            MeetingPlace::Listens(_) => PeerEnd::listen(now, config, Box::new(SystemRandom)),
        };
        let mut observer = SessionObserver {
            lines: LiveLines::new(self.args),
            watch: &self.watch,
            obeyed: 0,
            metrics: self.metrics.as_ref(),
            metrics_due: Time::ZERO,
            capture: self.capture.as_mut(),
        };
        let realtime = self.args.priority == Priority::Realtime;
        let (mut end, figures) = drive(&self.socket, realtime, make, &mut observer).map_err(machine)?;
        let DriveFigures { stopped, .. } = figures;
        if figures.abandoned {
            return Err(machine("interrupted twice; the session was left without a goodbye"));
        }
        let outcome = end.outcome().cloned();
        let mut results = end.results(stopped);
        let calls = end.take_calls();
        let terms_differ = matches!(outcome, Some(EndOutcome::Terms(_)));
        let interrupted = outcome == Some(EndOutcome::Interrupted);
        let broke_off = terms_differ
            || interrupted
            || matches!(outcome, Some(EndOutcome::Silent | EndOutcome::AboveCeiling));
        report::judge(self.args, &mut results, &figures, broke_off);
        if let Some(metrics) = &self.metrics {
            metrics.set(metrics_text(&results));
        }
        if let MeetingPlace::Calls(to) = place {
            let problem = match outcome {
                Some(EndOutcome::Refused(refusal) | EndOutcome::NoAnswer(Some(refusal))) => {
                    refusal.to_string()
                }
                Some(EndOutcome::NoAnswer(None)) => {
                    "there is no answer; start `weir recv` there, and let UDP pass".to_owned()
                }
                Some(EndOutcome::Terms(problem)) => problem,
                _ if interrupted && results.peer.is_none() => return Err(RunError::Interrupted.into()),
                _ => String::new(),
            };
            if !problem.is_empty() {
                return Err(wrong(&to.to_string(), problem));
            }
        } else if interrupted && results.peer.is_none() {
            return Ok((None, INTERRUPTED.into(), calls));
        }
        let code = match (results.failed.is_empty(), results.inconclusive.is_empty()) {
            _ if interrupted && self.watch.has_signal() => INTERRUPTED.into(),
            (false, _) => ExitCode::FAILURE,
            (true, false) => INCONCLUSIVE.into(),
            (true, true) => ExitCode::SUCCESS,
        };
        Ok((Some(results), code, calls))
    }

    fn finish(&mut self) -> Result<(), Failure> {
        self.capture.take().map_or(Ok(()), PeerCapture::finish)
    }
}

struct SessionObserver<'a> {
    lines: LiveLines,
    watch: &'a SignalWatch,
    /// Signals that were obeyed.
    obeyed: u32,
    metrics: Option<&'a MetricsServer>,
    metrics_due: Time,
    capture: Option<&'a mut PeerCapture>,
}

impl DriveObserver for SessionObserver<'_> {
    fn progress(&mut self, now: Time, end: &mut PeerEnd) -> DriveWish {
        let signals = self.watch.count();
        if signals > 1 && end.phase() != EndPhase::Ended {
            return DriveWish::Abandon;
        }
        if signals > self.obeyed {
            self.obeyed = signals;
            return DriveWish::Interrupt;
        }
        if end.phase() == EndPhase::Running {
            self.lines.show(now, end);
            if let Some(metrics) = self.metrics.filter(|_| now >= self.metrics_due) {
                self.metrics_due = now + METRICS_INTERVAL;
                metrics.set(metrics_text(&end.results(now)));
            }
        }
        DriveWish::Continue
    }

    fn packet(&mut self, packet: &SeenPacket<'_>) {
        if let Some(capture) = &mut self.capture {
            capture.packet(packet);
        }
    }
}

/// Files of recorded calls, of which an error is found before anything is sent.
struct CallFiles {
    paths: Vec<PathBuf>,
    is_new: bool,
}

impl CallFiles {
    fn prepare(path: &Path, count: usize) -> Result<Self, Failure> {
        let numbered = |number: usize| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            let (stem, ending) =
                name.split_once('.').map_or((&*name, ""), |(stem, _)| (stem, &name[stem.len()..]));
            path.with_file_name(format!("{stem}-{number}{ending}"))
        };
        let paths: Vec<PathBuf> =
            (1..=count).map(|number| if number == 1 { path.to_owned() } else { numbered(number) }).collect();
        let is_new = !path.exists();
        let opened = File::options().append(true).create(true).open(path);
        opened.map_err(|source| Failure::UnwritableFile { path: path.to_owned(), source })?;
        Ok(Self { paths, is_new })
    }

    fn write(&mut self, calls: Vec<(usize, RecordedCall)>) -> Result<(), Failure> {
        for (path, (_, call)) in self.paths.iter().zip(calls) {
            let failed = |source| Failure::Write { path: path.clone(), source };
            let mut file = BufWriter::new(File::create(path).map_err(failed)?);
            serde_json::to_writer(&mut file, &call).map_err(io::Error::from).map_err(failed)?;
            file.flush().map_err(failed)?;
        }
        self.is_new = false;
        Ok(())
    }
}

impl Drop for CallFiles {
    fn drop(&mut self) {
        if let (true, Some(path)) = (self.is_new, self.paths.first()) {
            // The error that ended the session is the one to report.
            let _stays: io::Result<()> = fs::remove_file(path);
        }
    }
}
