//! A call over one path, with an attacker that sends RTCP to its sender.

use weir_cc::{DataRate, DataSize, Ecn, RateLimits, ReportKind, SendTime, TimeDelta};
use weir_media::{Alarm, EncoderConfig, MediaConfig, MediaPacket, MediaReceiver, MediaSender, SenderSeeds};
use weir_net::{LinkConfig, Path, QueueConfig, Sent, Service, Time};

use super::attacks::Role;
use super::forge::Forger;
use super::seen::ObservedCall;
use super::setting::{AttackSpan, CAPACITY, ONE_WAY, RECEIVER, SENDER, clock};
use weir_scenario::registry::{Registry, RegistryError};

const QUEUE_LIMIT: TimeDelta = TimeDelta::from_millis(300);
/// Time until the application resumes media that a circuit breaker has stopped.
const RESUME: TimeDelta = TimeDelta::from_secs(5);
/// Number of bytes of the IPv4 and UDP headers.
const HEADER_BYTES: u64 = 28;
/// Length of a step over which rates are measured.
pub(super) const RATE_STEP: TimeDelta = TimeDelta::from_millis(100);
pub(super) const MAX_RTCP_BYTES: usize = 1472;

/// Time series of a call, in steps of [`RATE_STEP`].
#[derive(Debug, Default)]
pub(super) struct CallSeries {
    /// Payload bytes sent in each step.
    pub(super) sent: Vec<u64>,
    /// Payload bytes received in each step.
    pub(super) arrived: Vec<u64>,
    /// Target media rate at the end of each step.
    pub(super) target: Vec<f64>,
    /// Number of refused reports, or parts of them.
    pub(super) refused: u64,
    pub(super) alarms: Vec<(SendTime, Alarm)>,
    /// Whether the controller uses per-packet feedback.
    pub(super) per_packet: bool,
    /// Whether the attack has a form that affects the controller.
    pub(super) own_form: bool,
    /// Whether a target rate was outside the limits, or not a number.
    pub(super) outside: bool,
}

impl CallSeries {
    /// Mean rate in kbit/s from `from` to `to` seconds.
    pub(super) fn rate(bytes: &[u64], from: f64, to: f64) -> f64 {
        let step = RATE_STEP.secs_f64();
        let place = |s: f64| ((s / step) as usize).min(bytes.len());
        let total: u64 = bytes[place(from)..place(to)].iter().sum();
        total as f64 * 8e-3 / (to - from)
    }
}

/// Configuration of a call.
#[derive(Clone, Copy)]
pub(super) struct CallConfig<'a> {
    pub(super) registry: &'a Registry,
    pub(super) controller: &'a str,
    /// Time after the attack until the call ends.
    pub(super) afterwards: TimeDelta,
    /// Time of the attack.
    pub(super) span: AttackSpan,
    /// Whether circuit breakers are on.
    pub(super) breakers: bool,
    /// Capacity during the time of the attack, if it differs from that at other times.
    pub(super) narrowed: Option<DataRate>,
}

pub(super) fn limits() -> RateLimits {
    let kbps = DataRate::from_kbps;
    RateLimits::new(kbps(50), kbps(300), kbps(5000)).expect("they are in order")
}

impl CallConfig<'_> {
    /// Runs the call, under the attack of `forger` if there is one.
    ///
    /// # Errors
    /// An unknown controller.
    pub(super) fn run(&self, mut forger: Option<Forger>) -> Result<CallSeries, RegistryError> {
        let halves = self.registry.build(self.controller, None, limits(), 1.0)?;
        let config = MediaConfig {
            packet_format: halves.packet_format,
            breakers: self.breakers,
            ..MediaConfig::new(limits(), EncoderConfig::papers())
        };
        let accepts = |kind| halves.controller.accepts(kind);
        let mut course = CallSeries {
            per_packet: accepts(ReportKind::Packets),
            own_form: forger.as_ref().is_some_and(|forger| forger.is_form_of(accepts)),
            ..CallSeries::default()
        };
        let seeds = SenderSeeds { encoder: 1, rtcp: 2 };
        let mut sender = MediaSender::new(halves.controller, config, SENDER, seeds);
        sender.believe_only(&[RECEIVER]);
        let mut receiver = MediaReceiver::new(halves.receiver, config, RECEIVER, SENDER, 3);
        let mut path = CallPath::<MediaPacket>::new(self.service());
        let mut seen = ObservedCall::new(halves.packet_format);
        let (end, mut now) = (self.span.to + self.afterwards, SendTime::ZERO);
        let (mut step_end, mut room) = (SendTime::ZERO + RATE_STEP, [0; MAX_RTCP_BYTES]);
        let mut resume = None;
        course.sent.push(0);
        course.arrived.push(0);
        sender.start(now);
        while now < end {
            while now >= step_end {
                course.end_step(sender.target().media_rate);
                step_end += RATE_STEP;
            }
            // Forward path: arrivals at the receiver.
            while let Some(arrived) = path.arrival(now) {
                match arrived {
                    ForwardPacket::Media(packet) => {
                        *course.arrived.last_mut().expect("a step is open") += u64::from(packet.payload);
                        let ecn = forger.as_ref().map_or(Ecn::NotEct, |forger| forger.ecn(now));
                        receiver.on_packet(clock(now), &packet.header, packet.payload, ecn);
                    }
                    ForwardPacket::Rtcp(bytes) => receiver.on_rtcp(clock(now), &bytes),
                }
            }
            if let Some(packet) = forger.as_ref().and_then(|forger| forger.media(now, &seen)) {
                receiver.on_packet(clock(now), &packet.header, packet.payload, Ecn::NotEct);
            }
            while let Some(length) = receiver.poll_rtcp(clock(now), &mut room) {
                let at = now + ONE_WAY;
                let at = forger.as_ref().map_or(at, |forger| forger.held_back(at));
                path.answer_at(at, &room[..length]);
            }
            // Return path: honest reports, unless the receiver is the attacker, and forged ones.
            let alone = forger
                .as_ref()
                .is_some_and(|forger| forger.is_active(now) && forger.role() == Role::Receiver);
            while let Some(bytes) = path.answered(now) {
                seen.on_report(now, &bytes);
                let replaced = forger.as_mut().filter(|_| alone).map(|forger| forger.replace(&bytes));
                if let Some(bytes) = replaced.unwrap_or(Some(bytes)) {
                    sender.on_rtcp(now, &bytes);
                }
            }
            if let Some(forger) = &mut forger {
                while let Some(bytes) = forger.poll(now, &seen) {
                    sender.on_rtcp(now, &bytes);
                }
            }
            // Sender: frames, packets, sender reports and alarms.
            sender.on_timeout(now);
            while sender.poll_frame(now).is_some() {}
            while let Some(packet) = sender.poll_packet(now) {
                *course.sent.last_mut().expect("a step is open") += u64::from(packet.payload);
                seen.on_packet(now, &packet);
                path.send(now, wire_bytes(&packet), packet);
            }
            while let Some(length) = sender.poll_rtcp(now, &mut room) {
                seen.on_sender_report(&room[..length]);
                path.send_report(now, &room[..length]);
            }
            while let Some(alarm) = sender.take_alarm() {
                resume = if matches!(alarm, Alarm::Stopped(_)) { Some(now + RESUME) } else { resume };
                // Refused reports are counted, and not listed one by one.
                if alarm != Alarm::ReportsRefused {
                    course.alarms.push((now, alarm));
                }
            }
            if resume.is_some_and(|at| at <= now) {
                resume = None;
                sender.resume(now);
            }
            let waits = [
                sender.next_timeout(),
                receiver.next_timeout().map(|at| now + (at - clock(now))),
                path.next_event(),
                forger.as_ref().and_then(|forger| forger.next(now)),
                Some(step_end),
                resume,
            ];
            let next = waits.into_iter().flatten().min().unwrap_or(end);
            // The clock always advances, even if a timer is already due.
            now = next.max(now + TimeDelta::from_micros(10));
        }
        course.refused = sender.refused_reports().total();
        Ok(course)
    }

    fn service(&self) -> Service {
        let Some(narrowed) = self.narrowed else { return Service::Constant(CAPACITY) };
        let AttackSpan { from, to } = self.span;
        Service::Steps(vec![(Time::ZERO, CAPACITY), (true_time(from), narrowed), (true_time(to), CAPACITY)])
    }
}

impl CallSeries {
    fn end_step(&mut self, target: DataRate) {
        self.sent.push(0);
        self.arrived.push(0);
        self.target.push(target.bps_f64() / 1e3);
        self.outside |= limits().clamp(target) != target;
    }
}

/// Bytes of a packet on the link.
pub(super) fn wire_bytes(packet: &MediaPacket) -> u64 {
    packet.header.wire_len() as u64 + u64::from(packet.payload) + HEADER_BYTES
}

/// A packet on its way to the receivers.
#[derive(Clone, Debug)]
pub(super) enum ForwardPacket<P> {
    Media(P),
    /// A sender report.
    Rtcp(Vec<u8>),
}

/// The path of a call, with the receiver's reports on the way back.
pub(super) struct CallPath<P>(Path<ForwardPacket<P>, Vec<u8>>);

impl<P> CallPath<P> {
    pub(super) fn new(service: Service) -> Self {
        let queue = QueueConfig { limit_time: Some(QUEUE_LIMIT), ..QueueConfig::default() };
        let link = LinkConfig { queue, ..LinkConfig::new(service, ONE_WAY) };
        Self(Path::new(&link, 0, ONE_WAY).expect("the rates are above zero"))
    }

    /// Sends a media packet of `bytes`; a full queue drops it.
    pub(super) fn send(&mut self, now: SendTime, bytes: u64, packet: P) {
        let _ =
            self.0.send(true_time(now), Sent::new(ForwardPacket::Media(packet), DataSize::from_bytes(bytes)));
    }

    /// Sends a sender report.
    pub(super) fn send_report(&mut self, now: SendTime, report: &[u8]) {
        let size = DataSize::from_bytes(report.len() as u64 + HEADER_BYTES);
        let _ = self.0.send(true_time(now), Sent::new(ForwardPacket::Rtcp(report.to_vec()), size));
    }

    /// The next packet that has arrived by `now`.
    pub(super) fn arrival(&mut self, now: SendTime) -> Option<ForwardPacket<P>> {
        self.0.arrival(true_time(now)).map(|arrived| arrived.packet)
    }

    /// Sends a receiver's report back, which arrives at `at`.
    pub(super) fn answer_at(&mut self, at: SendTime, report: &[u8]) {
        self.0.answer_at(true_time(at), report.to_vec());
    }

    /// The next report that has come back by `now`.
    pub(super) fn answered(&mut self, now: SendTime) -> Option<Vec<u8>> {
        self.0.answered(true_time(now))
    }

    pub(super) fn next_event(&self) -> Option<SendTime> {
        self.0.next_event().map(|at| SendTime::from_nanos(at.nanos() as i64))
    }
}

/// The sender's clock shows the true time.
fn true_time(at: SendTime) -> Time {
    Time::from_nanos(at.nanos().max(0) as u64)
}
