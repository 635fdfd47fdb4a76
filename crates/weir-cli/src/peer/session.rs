//! Sessions of `weir send` and `weir recv`.

use std::io::Write;
use std::net::SocketAddr;
use std::process::ExitCode;

use weir_live::caller::refuse_set_user_id;
use weir_live::clock::RunClock;
use weir_net::Time;
use weir_peer::drive::{DriveFigures, DriveObserver, DriveWish, PeerSocket, SeenPacket, drive};
use weir_peer::end::{EndConfig, EndOutcome, EndPhase, PeerEnd};
use weir_peer::hosts::SendPlan;
use weir_peer::keys::KeyRing;
use weir_peer::metrics::{MetricsServer, metrics_text};
use weir_peer::offer::ReceiveCeilings;
use weir_peer::random::SystemRandom;
use weir_peer::results::PeerResults;
use weir_scenario::registry::Registry;
use weir_study::runs::RunError;
use weir_units::TimeDelta;
use weir_world::RecordedCall;

use super::calls::CallFiles;
use super::capture::PeerCapture;
use super::flows;
use super::meeting::{MeetingPlace, calling, has_route, wrong};
use super::report::{self, LiveLines};
use crate::args::{Priority, RecvArgs, SendArgs, SessionArgs};
use crate::failure::Failure;
use crate::signals::SignalWatch;
use crate::terminal;

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

/// An end of the command, with the surroundings of all its sessions.
struct CommandEnd<'a> {
    args: &'a SessionArgs,
    registry: &'a Registry,
    keys: KeyRing,
    place: MeetingPlace,
    /// The clock of all sessions.
    clock: RunClock,
    watch: SignalWatch,
    metrics: Option<MetricsServer>,
    capture: Option<PeerCapture>,
    /// Whether there has been a session.
    has_met: bool,
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
        record.write(&calls)?;
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
    let count = first.as_ref().map_or(0, |plan| plan.flows.len());
    let mut record = args.record.as_deref().map(|path| CallFiles::prepare(path, count)).transpose()?;
    let mut command = CommandEnd::start(session, registry, args.address.as_deref(), session.reverse)?;
    loop {
        let plan = match first.take() {
            Some(plan) => Some(plan),
            None => plan()?,
        };
        let record_calls = record.is_some();
        let wishes = SessionWishes {
            plan,
            receives: true,
            ceilings,
            duration: None,
            bytes: None,
            record: record_calls,
        };
        let (results, code, calls) = command.session(wishes)?;
        if let Some(record) = &mut record {
            record.write(&calls)?;
        }
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

impl<'a> CommandEnd<'a> {
    fn start(
        args: &'a SessionArgs,
        registry: &'a Registry,
        address: Option<&str>,
        calls: bool,
    ) -> Result<Self, Failure> {
        refuse_set_user_id().map_err(machine)?;
        let (place, keys) = MeetingPlace::find(args, address, calls)?;
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
        if let MeetingPlace::Listens(socket) = &place {
            writeln!(out, "listening at {}", socket.local_addr().map_err(machine)?)?;
        }
        if let Some(metrics) = &metrics {
            writeln!(out, "metrics at http://{}/metrics", metrics.address())?;
        }
        drop(out);
        Ok(Self {
            args,
            registry,
            keys,
            place,
            clock: RunClock::start(),
            watch,
            metrics,
            capture,
            has_met: false,
        })
    }

    /// One session: its results unless it was interrupted before its start, the exit code, and the recorded calls.
    fn session(
        &mut self,
        wishes: SessionWishes,
    ) -> Result<(Option<PeerResults>, ExitCode, Vec<RecordedCall>), Failure> {
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
        let mut observer = SessionObserver {
            lines: LiveLines::new(self.args),
            watch: &self.watch,
            obeyed: 0,
            metrics: self.metrics.as_ref(),
            metrics_due: Time::ZERO,
            capture: self.capture.as_mut(),
        };
        let realtime = self.args.priority == Priority::Realtime;
        let (mut end, figures, called) = meet(&self.place, self.clock, realtime, config, &mut observer)?;
        let DriveFigures { stopped, .. } = figures;
        if figures.abandoned {
            return Err(machine("interrupted twice; the session was left without a goodbye"));
        }
        let outcome = end.outcome().cloned();
        let mut results = end.results(stopped);
        self.has_met |= results.peer.is_some();
        let calls = end.take_calls().into_iter().map(|(_, call)| call).collect();
        let terms_differ = matches!(outcome, Some(EndOutcome::Terms(_)));
        let interrupted = outcome == Some(EndOutcome::Interrupted);
        let broke_off = terms_differ
            || interrupted
            || matches!(outcome, Some(EndOutcome::Silent | EndOutcome::AboveCeiling));
        report::judge(self.args, &mut results, &figures, broke_off);
        if let Some(metrics) = &self.metrics {
            metrics.set(metrics_text(&results));
        }
        if let Some(called) = called {
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
                return Err(wrong(&called, problem));
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

    /// Gives the capture its place, if there has been a session.
    fn finish(&mut self) -> Result<(), Failure> {
        let capture = self.capture.take().zip(self.args.pcap.as_deref());
        capture.filter(|_| self.has_met).map_or(Ok(()), |(capture, path)| capture.finish(path))
    }
}

/// One session at `place`. A caller calls one address after the other until there is an answer. The last result names the
/// address that has answered, or else all of them.
fn meet(
    place: &MeetingPlace,
    clock: RunClock,
    realtime: bool,
    mut config: EndConfig,
    observer: &mut SessionObserver<'_>,
) -> Result<(PeerEnd, DriveFigures, Option<String>), Failure> {
    let addresses = match place {
        MeetingPlace::Calls(addresses) => addresses,
        MeetingPlace::Listens(socket) => {
            let make = move |now: Time| PeerEnd::listen(now, config, Box::new(SystemRandom));
            let (end, figures) = drive(socket, clock, realtime, make, observer).map_err(machine)?;
            return Ok((end, figures, None));
        }
    };
    let (last, others) = addresses.split_last().expect("a name has an address");
    let mut called = String::new();
    let mut call = |to: SocketAddr, socket: &PeerSocket, config: EndConfig| {
        let make = move |now: Time| PeerEnd::call(now, to, config, Box::new(SystemRandom));
        let (end, figures) = drive(socket, clock, realtime, make, observer).map_err(machine)?;
        let is_unanswered = !figures.abandoned && matches!(end.outcome(), Some(EndOutcome::NoAnswer(_)));
        called = if is_unanswered && !called.is_empty() { format!("{called}, {to}") } else { to.to_string() };
        Ok::<_, Failure>((end, figures, is_unanswered, called.clone()))
    };
    for &to in others.iter().filter(|&&to| has_route(to)) {
        let Ok(socket) = calling(to) else { continue };
        let (end, figures, is_unanswered, called) = call(to, &socket, config)?;
        if !is_unanswered {
            return Ok((end, figures, Some(called)));
        }
        config = end.into_config();
    }
    let socket = calling(*last).map_err(|error| wrong(&last.to_string(), error.to_string()))?;
    let (end, figures, _, called) = call(*last, &socket, config)?;
    Ok((end, figures, Some(called)))
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
