//! Call over one path with an attacker that sends RTCP to its sender.

use std::collections::VecDeque;

use weir_cc::{DataRate, Ecn, RateLimits, ReportKind, SendTime, TimeDelta};
use weir_media::{Alarm, EncoderConfig, MediaConfig, MediaPacket, MediaReceiver, MediaSender, SenderSeeds};

use super::attacks::Role;
use super::forge::Forger;
use super::seen::ObservedCall;
use super::setting::{CAPACITY, ONE_WAY, RECEIVER, SENDER, Span, clock};
use weir_scenario::registry::{Registry, RegistryError};

const QUEUE: TimeDelta = TimeDelta::from_millis(300);
/// Time until the application resumes media that a circuit breaker has stopped.
const RESUME: TimeDelta = TimeDelta::from_secs(5);
/// Bytes of the IPv4 and UDP headers.
const BELOW: u64 = 28;
/// Length of a step over which rates are measured.
pub(super) const STEP: TimeDelta = TimeDelta::from_millis(100);
pub(super) const ROOM: usize = 1472;

/// Time series of a call, in steps of [`STEP`].
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
        let step = STEP.secs_f64();
        let place = |s: f64| ((s / step) as usize).min(bytes.len());
        let total: u64 = bytes[place(from)..place(to)].iter().sum();
        total as f64 * 8e-3 / (to - from)
    }
}

/// Configuration of a call.
#[derive(Clone, Copy)]
pub(super) struct Call<'a> {
    pub(super) registry: &'a Registry,
    pub(super) law: &'a str,
    /// Time after the attack until the call ends.
    pub(super) afterwards: TimeDelta,
    /// Time of the attack.
    pub(super) span: Span,
    /// Whether circuit breakers are on.
    pub(super) breakers: bool,
    /// Capacity during the time of the attack, if it differs from that at other times.
    pub(super) narrowed: Option<DataRate>,
}

pub(super) fn limits() -> RateLimits {
    let kbps = DataRate::from_kbps;
    RateLimits::new(kbps(50), kbps(300), kbps(5000)).expect("they are in order")
}

impl Call<'_> {
    /// Runs the call, under the attack of `forger` if there is one.
    ///
    /// # Errors
    /// An unknown controller.
    pub(super) fn run(&self, mut forger: Option<Forger>) -> Result<CallSeries, RegistryError> {
        let halves = self.registry.build(self.law, None, limits(), 1.0)?;
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
        let mut path = Wires::<MediaPacket>::default();
        let mut seen = ObservedCall::new(halves.packet_format);
        let (end, mut now) = (self.span.to + self.afterwards, SendTime::ZERO);
        let (mut step_end, mut room) = (SendTime::ZERO + STEP, [0; ROOM]);
        let mut resume = None;
        course.sent.push(0);
        course.arrived.push(0);
        sender.start(now);
        while now < end {
            while now >= step_end {
                course.end_step(sender.target().media_rate);
                step_end += STEP;
            }
            // Forward path: arrivals at the receiver.
            while let Some((_, packet)) = due(&mut path.there, now) {
                *course.arrived.last_mut().expect("a step is open") += u64::from(packet.payload);
                let ecn = forger.as_ref().map_or(Ecn::NotEct, |forger| forger.ecn(now));
                receiver.on_packet(clock(now), &packet.header, packet.payload, ecn);
            }
            if let Some(packet) = forger.as_ref().and_then(|forger| forger.media(now, &seen)) {
                receiver.on_packet(clock(now), &packet.header, packet.payload, Ecn::NotEct);
            }
            while let Some((_, bytes)) = due(&mut path.reports, now) {
                receiver.on_rtcp(clock(now), &bytes);
            }
            while let Some(length) = receiver.poll_rtcp(clock(now), &mut room) {
                let at = now + ONE_WAY;
                let at = forger.as_ref().map_or(at, |forger| forger.held_back(at));
                path.back.push_back((at, room[..length].to_vec()));
            }
            // Return path: honest reports, unless the receiver is the attacker, and forged ones.
            let alone = forger
                .as_ref()
                .is_some_and(|forger| forger.is_active(now) && forger.role() == Role::Receiver);
            while let Some((_, bytes)) = due(&mut path.back, now) {
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
                let under_attack = self.span.contains(now);
                let capacity = self.narrowed.filter(|_| under_attack).unwrap_or(CAPACITY);
                path.send(now, capacity, wire_bytes(&packet), packet);
            }
            while let Some(length) = sender.poll_rtcp(now, &mut room) {
                seen.on_sender_report(&room[..length]);
                path.reports.push_back((now + ONE_WAY, room[..length].to_vec()));
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
                path.next(),
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
}

impl CallSeries {
    fn end_step(&mut self, target: DataRate) {
        self.sent.push(0);
        self.arrived.push(0);
        self.target.push(target.bps_f64() / 1e3);
        self.outside |= limits().clamp(target) != target;
    }
}

/// Next item that has arrived by `now`.
pub(super) fn due<T>(way: &mut VecDeque<(SendTime, T)>, now: SendTime) -> Option<(SendTime, T)> {
    way.front().is_some_and(|(at, _)| *at <= now).then(|| way.pop_front())?
}

/// Bytes of a packet on the link.
pub(super) fn wire_bytes(packet: &MediaPacket) -> u64 {
    packet.header.wire_len() as u64 + u64::from(packet.payload) + BELOW
}

/// Packets and reports in transit.
pub(super) struct Wires<P> {
    free: SendTime,
    pub(super) there: VecDeque<(SendTime, P)>,
    /// Sender reports, which have no queuing delay.
    pub(super) reports: VecDeque<(SendTime, Vec<u8>)>,
    pub(super) back: VecDeque<(SendTime, Vec<u8>)>,
}

impl<P> Default for Wires<P> {
    fn default() -> Self {
        let (reports, back) = (VecDeque::new(), VecDeque::new());
        Self { free: SendTime::ZERO, there: VecDeque::new(), reports, back }
    }
}

impl<P> Wires<P> {
    pub(super) fn send(&mut self, now: SendTime, capacity: DataRate, bytes: u64, packet: P) {
        let begin = self.free.max(now);
        // Drop-tail queue: a packet that would wait longer is dropped.
        if begin - now > QUEUE {
            return;
        }
        self.free = begin + weir_units::DataSize::from_bytes(bytes) / capacity;
        self.there.push_back((self.free + ONE_WAY, packet));
    }

    pub(super) fn next(&self) -> Option<SendTime> {
        let there = self.there.front().map(|(at, _)| *at);
        let rtcp = [&self.reports, &self.back].map(|way| way.front().map(|(at, _)| *at));
        there.into_iter().chain(rtcp.into_iter().flatten()).min()
    }
}
