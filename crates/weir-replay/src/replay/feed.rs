//! The open loop: recorded inputs into a controller.

use std::collections::VecDeque;

use weir_cc::history::{SendHistory, compact_ntp};
use weir_cc::{
    Arrival, ArrivalTime, Controller, DataRate, DataSize, Decision, Ecn, PathEvent, Probe, ProbeId, Receiver,
    Reception, ReceptionReport, Record, Report, SendState, SendTime, Signal, Stamp, StreamsConfig, TimeDelta,
};
use weir_world::RecordedCall;

use super::schedule::{ReplayInput, ReplaySchedule, sizes};
use super::{ReplayDecision, ReplayPoint, SignalValue};

/// Time for which the history waits for feedback on a packet.
const HISTORY_HORIZON: TimeDelta = TimeDelta::from_secs(5);
/// Longest time from a controller's request of a probe to the recorded cluster that stands for it.
const PROBE_PATIENCE_US: i64 = 5_000_000;
/// Most records of one report: longer ones are split.
const MOST_RECORDS: usize = 4096;

/// A controller in the open loop.
pub(super) struct Feed<'a> {
    call: &'a RecordedCall,
    schedule: &'a ReplaySchedule,
    controller: Box<dyn Controller>,
    /// Its receiver half, where that makes the reports.
    receiver: Option<Box<dyn Receiver>>,
    history: SendHistory,
    /// Number in the history by row; rows that have not left have none.
    numbers: Vec<u32>,
    stamps: Vec<Stamp>,
    sent: u32,
    reports: u8,
    application_limited: bool,
    /// Probes that the controller asked for, with the time.
    wanted: VecDeque<(i64, Probe)>,
    /// Probes by recorded cluster.
    clusters: Vec<(u32, ProbeId)>,
    /// Reports of the receiver half on their way: time of arrival, and the report.
    on_the_way: VecDeque<(i64, Report<'static>)>,
    pub(super) points: Vec<ReplayPoint>,
    pub(super) decisions: Vec<ReplayDecision>,
}

/// The number of a row that has not left.
const NOT_SENT: u32 = u32::MAX;

fn send_time(us: i64) -> SendTime {
    SendTime::from_nanos(us.saturating_mul(1000))
}

fn arrival_time(us: i64) -> ArrivalTime {
    ArrivalTime::from_nanos(us.saturating_mul(1000))
}

impl<'a> Feed<'a> {
    pub(super) fn new(
        call: &'a RecordedCall,
        schedule: &'a ReplaySchedule,
        controller: Box<dyn Controller>,
        receiver: Option<Box<dyn Receiver>>,
    ) -> Self {
        let rows = call.packets.len();
        let mut history = SendHistory::new(HISTORY_HORIZON);
        if call.packets.ecn.iter().any(|&ecn| ecn != 0) {
            history.set_ecn(Ecn::Ect1);
        }
        Self {
            call,
            schedule,
            stamps: if receiver.is_some() { vec![Stamp::default(); rows] } else { Vec::new() },
            controller,
            receiver,
            history,
            numbers: vec![NOT_SENT; rows],
            sent: 0,
            reports: 0,
            application_limited: false,
            wanted: VecDeque::new(),
            clusters: Vec::new(),
            on_the_way: VecDeque::new(),
            points: Vec::new(),
            decisions: Vec::new(),
        }
    }

    /// Passes all inputs.
    pub(super) fn run(mut self) -> Self {
        self.controller.on_streams(send_time(0), StreamsConfig::camera(DataRate::ZERO));
        self.after(0, None);
        for (at, input) in &self.schedule.inputs {
            self.timeouts_until(*at);
            let decision = self.input(*at, input);
            self.after(*at, decision);
        }
        self.timeouts_until(self.call.duration_us);
        self
    }

    fn state(&self) -> SendState {
        SendState {
            in_flight: self.history.in_flight(),
            queued: DataSize::ZERO,
            application_limited: self.application_limited,
        }
    }

    /// Serves the timers of both halves and the reports on their way until `end`.
    fn timeouts_until(&mut self, end: i64) {
        loop {
            let own = self.controller.next_timeout().map(|at| at.nanos().div_euclid(1000));
            let report = self.on_the_way.front().map(|&(at, _)| at);
            let receiver = self.receiver.as_ref().and_then(|half| half.next_timeout());
            let receiver = receiver.map(|at| at.nanos().div_euclid(1000));
            let Some(next) = [own, report, receiver].into_iter().flatten().min().filter(|&next| next < end)
            else {
                return;
            };
            let decision = if report == Some(next) {
                let (at, report) = self.on_the_way.pop_front().expect("it was seen");
                self.join(at, &report)
            } else if receiver == Some(next) {
                self.poll_receiver(next);
                None
            } else {
                let state = self.state();
                self.history.expire(send_time(next));
                // Times are rounded down to µs, and a timer must not be early for ever.
                let at = self.controller.next_timeout().unwrap_or(send_time(next));
                self.controller.on_timeout(at, &state)
            };
            self.after(next, decision);
        }
    }

    fn poll_receiver(&mut self, at: i64) {
        let Some(receiver) = &mut self.receiver else { return };
        let due = receiver.next_timeout().unwrap_or(arrival_time(at));
        while let Some(report) = receiver.poll_report(due) {
            // Only reports without borrowed records are made by receiver halves that this feeds.
            let report = match report {
                Report::Native { report, echo } => Report::Native { report, echo },
                Report::Ceiling(rate) => Report::Ceiling(rate),
                Report::Reception(report) => Report::Reception(report),
                Report::Packets { .. } => continue,
            };
            self.on_the_way.push_back((at + self.schedule.way_back, report));
        }
    }

    fn input(&mut self, at: i64, input: &ReplayInput) -> Option<Decision> {
        let now = send_time(at);
        match input {
            ReplayInput::Sent(row) => {
                self.on_sent(now, *row as usize);
                None
            }
            ReplayInput::Arrived(row) => {
                self.on_arrival(*row as usize);
                None
            }
            ReplayInput::Report(places, missed) => {
                self.reports = self.reports.wrapping_add(*missed);
                let rows = &self.schedule.reported[places.start as usize..places.end as usize];
                self.on_report(now, rows)
            }
            ReplayInput::Reception(row) => self.on_reception(at, *row as usize),
            ReplayInput::Ceiling(bps) => self.join(at, &Report::Ceiling(DataRate::from_bps(*bps))),
            ReplayInput::Cluster(row) => {
                self.on_cluster(at, *row as usize);
                None
            }
            ReplayInput::ApplicationLimited(limited) => {
                self.application_limited = *limited;
                None
            }
            ReplayInput::RouteChanged => {
                self.history.change_route(now);
                self.controller.on_event(now, PathEvent::RouteChanged)
            }
        }
    }

    fn on_sent(&mut self, now: SendTime, row: usize) {
        let packet = self.call.packets.row(row);
        let (header, counted) = sizes(self.call, &packet);
        let cluster = packet.probe.get();
        let probe = cluster.and_then(|cluster| {
            let known = self.clusters.iter().rev().find(|(own, _)| i64::from(*own) == cluster)?;
            Some(known.1)
        });
        self.numbers[row] = self.sent;
        self.sent += 1;
        if let Some(stamp) = self.controller.stamp()
            && let Some(own) = self.stamps.get_mut(row)
        {
            *own = stamp;
        }
        let sent = self.history.on_sent(now, header, counted, packet.payload_bytes == 0, probe);
        let state = self.state();
        self.controller.on_sent(&sent, &state);
    }

    fn on_arrival(&mut self, row: usize) {
        let packet = self.call.packets.row(row);
        let (Some(receiver), Some(sent), Some(arrived)) =
            (&mut self.receiver, self.schedule.departures[row], self.schedule.arrivals[row])
        else {
            return;
        };
        let (_, counted) = sizes(self.call, &packet);
        receiver.on_arrival(&Arrival {
            ecn: ecn(packet.ecn),
            media_time: u64::from(packet.timestamp),
            marker: packet.marker != 0,
            stamp: self.stamps[row],
            ..Arrival::new(u64::from(self.numbers[row]), send_time(sent), arrival_time(arrived), counted)
        });
        if receiver.next_timeout().is_some_and(|due| due <= arrival_time(arrived)) {
            self.poll_receiver(arrived);
        }
    }

    fn on_report(&mut self, now: SendTime, rows: &[u32]) -> Option<Decision> {
        let mut records: Vec<(u32, Record)> = Vec::with_capacity(rows.len());
        for &row in rows {
            let number = self.numbers[row as usize];
            if number == NOT_SENT {
                continue;
            }
            let arrival = self.schedule.arrivals[row as usize].map(arrival_time);
            let reception = arrival.map_or(Reception::Missing, Reception::At);
            let ecn = ecn(self.call.packets.ecn[row as usize]);
            records.push((number, Record { sequence: number as u16, reception, ecn }));
        }
        records.sort_by_key(|&(number, _)| number);
        let records: Vec<Record> = records.into_iter().map(|(_, record)| record).collect();
        let mut decision = None;
        for part in records.chunks(MOST_RECORDS) {
            self.reports = self.reports.wrapping_add(1);
            let report = Report::packets(part, self.reports);
            decision = Decision::merged(decision, self.join_at(now, &report));
        }
        decision
    }

    fn on_reception(&mut self, at: i64, row: usize) -> Option<Decision> {
        let row = self.call.receiver_reports.row(row);
        let rtt = self.schedule.round_trip_at(at);
        // The sender report whose echo gives this round trip.
        let last_sender_report = rtt.map_or(0, |rtt| compact_ntp(send_time(at - rtt)));
        self.join(
            at,
            &Report::Reception(ReceptionReport {
                fraction_lost: row.fraction_lost,
                cumulative_lost: row.cumulative_lost,
                highest_sequence: row.highest_sequence,
                jitter: row.jitter,
                last_sender_report,
                delay_since_last_sender_report: 0,
            }),
        )
    }

    fn join(&mut self, at: i64, report: &Report<'_>) -> Option<Decision> {
        self.join_at(send_time(at), report)
    }

    fn join_at(&mut self, now: SendTime, report: &Report<'_>) -> Option<Decision> {
        if !self.controller.accepts(report.kind()) {
            return None;
        }
        let state = self.state();
        let feedback = self.history.join(now, report)?;
        self.controller.on_feedback(now, &feedback, &state)
    }

    /// The cluster of this row stands for the controller's own probe of the nearest rate.
    fn on_cluster(&mut self, at: i64, row: usize) {
        let cluster = self.call.probe_clusters.row(row);
        self.wanted.retain(|&(asked, _)| at - asked <= PROBE_PATIENCE_US);
        let distance = |probe: &Probe| libm::log(probe.rate.bps() as f64 / cluster.bps.max(1) as f64).abs();
        let nearest = self
            .wanted
            .iter()
            .enumerate()
            .min_by(|(_, (_, one)), (_, (_, two))| distance(one).total_cmp(&distance(two)));
        if let Some((index, _)) = nearest
            && let Some((_, probe)) = self.wanted.remove(index)
        {
            self.clusters.push((cluster.id, probe.id));
        }
    }

    /// Notes the target after an input, and a decision.
    fn after(&mut self, at: i64, decision: Option<Decision>) {
        while let Some(probe) = self.controller.poll_probe() {
            self.wanted.push_back((at, probe));
        }
        let target = self.controller.target();
        let bps = target.sending_rate.bps().max(target.media_rate.bps());
        if self.points.last().is_none_or(|last| last.bps != bps) {
            self.points.push(ReplayPoint { time_us: at, bps });
        }
        if let Some(decision) = decision
            && decision.rate != decision.base
        {
            self.decisions.push(self.explained(at, &decision));
        }
    }

    /// The decision with the signals that it rests on.
    fn explained(&self, at: i64, decision: &Decision) -> ReplayDecision {
        let names = self.controller.signals();
        let mut values = vec![f64::NAN; names.len()];
        self.controller.read_signals(&mut values);
        let evidence =
            if decision.why.is_measured() { self.controller.evidence(decision.why) } else { [None; 3] };
        let signals = evidence.into_iter().flatten().filter_map(|evidence| {
            let place = names.iter().position(|signal| signal.name == evidence.signal)?;
            let threshold = (!evidence.threshold.is_nan()).then_some(evidence.threshold);
            let value = values[place];
            let Signal { name, unit, meaning } = names[place];
            Some(SignalValue { name, unit, meaning, value, threshold })
        });
        ReplayDecision {
            time_us: at,
            from_bps: decision.base.bps(),
            bps: decision.rate.bps(),
            reason: decision.why.name(),
            signals: signals.collect(),
        }
    }
}

const fn ecn(bits: u8) -> Ecn {
    match bits & 0b11 {
        0b01 => Ecn::Ect1,
        0b10 => Ecn::Ect0,
        0b11 => Ecn::Ce,
        _ => Ecn::NotEct,
    }
}
