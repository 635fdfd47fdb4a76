//! The crate `goog_cc` behind the calls of a controller of Weir, with the inputs of browsers. Departures and
//! arrivals are in whole milliseconds, the round-trip times of receiver reports are unchanged, and no screen is
//! shared. Its requests are carried out as in browsers: packets leave in bursts of 40 ms, and frames are skipped
//! when its window requires it.

use std::collections::VecDeque;

use goog_cc::experiments::FieldTrials;
use goog_cc::network_control::{NetworkControllerConfig, NetworkControllerInterface};
use goog_cc::transport::{
    NetworkAvailability, NetworkControlUpdate, PacedPacketInfo, PacketResult, ProbeClusterConfig,
    ProcessInterval, RoundTripTimeUpdate, StreamsConfig, TargetRateConstraints, TransportLossReport,
    TransportPacketsFeedback,
};
use goog_cc::units;
use goog_cc::{GoogCcConfig, GoogCcNetworkController, LossBasedBweV2Config};
use weir_cc::packet_feedback::PacketFeedback;
use weir_cc::{
    ArrivalTime, Burst, Controller, Feedback, LimitingFactor, Pacing, PacketFate, Probe, ProbeId, RateLimits,
    Receiver, ReceptionReport, SendState, SendTime, SentPacket, Target,
};
use weir_units::{DataRate, DataSize, TimeDelta};

/// The crate reads the wall clock for the beginning of application-limited regions (in ms since its construction)
/// and compares it with the time of the last probe. Simulated time begins so late that this reading never decides.
const EPOCH: TimeDelta = TimeDelta::from_secs(100_000);
const FEEDBACK_INTERVAL: TimeDelta = TimeDelta::from_millis(50);
const PROCESS_INTERVAL: TimeDelta = TimeDelta::from_millis(25);
/// Burst of libwebrtc's pacer.
const BURST: Burst = Burst { time: TimeDelta::from_millis(40), size: DataSize::from_bytes(63_000) };

/// Interface of a sender half for the closed loop; [`Controller`] defines the calls.
pub(crate) trait Sender {
    fn on_sent(&mut self, packet: &SentPacket, state: &SendState);
    fn on_feedback(&mut self, now: SendTime, feedback: &Feedback<'_>, state: &SendState);
    fn on_timeout(&mut self, now: SendTime, state: &SendState);
    fn next_timeout(&self) -> Option<SendTime>;
    fn target(&self) -> Target;
    fn poll_probe(&mut self) -> Option<Probe>;
}

/// Both halves.
pub(crate) type Halves = (Box<dyn Sender>, Box<dyn Receiver>);

impl<C: Controller> Sender for C {
    fn on_sent(&mut self, packet: &SentPacket, state: &SendState) {
        Controller::on_sent(self, packet, state);
    }

    fn on_feedback(&mut self, now: SendTime, feedback: &Feedback<'_>, state: &SendState) {
        Controller::on_feedback(self, now, feedback, state);
    }

    fn on_timeout(&mut self, now: SendTime, state: &SendState) {
        Controller::on_timeout(self, now, state);
    }

    fn next_timeout(&self) -> Option<SendTime> {
        Controller::next_timeout(self)
    }

    fn target(&self) -> Target {
        Controller::target(self)
    }

    fn poll_probe(&mut self) -> Option<Probe> {
        Controller::poll_probe(self)
    }
}

/// The source of the controller's loss reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LossReports {
    /// RTCP receiver reports besides the per-packet feedback, as in a call of libwebrtc.
    Receiver,
    /// The per-packet feedback alone, with a controller that is configured for it (`GoogCcConfig::feedback_only`).
    PacketsOnly,
    /// The per-packet feedback alone, with a controller that waits for receiver reports.
    Withheld,
}

/// Constants of the loss-based controller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LossModel {
    /// The crate's defaults.
    December2024,
    /// libwebrtc's defaults of June 2025, which the crate takes as configuration.
    June2025,
}

pub(crate) struct GoogCc {
    inner: GoogCcNetworkController,
    reports: LossReports,
    target: DataRate,
    pacing: DataRate,
    padding: DataRate,
    /// The last update to libwebrtc's stack: without a change in it, a new share of frames to drop is not passed
    /// on either.
    applied: Option<(DataRate, units::TimeDelta, f32)>,
    frame_drop: f64,
    window: Window,
    process_due: SendTime,
    probes: VecDeque<Probe>,
    /// Clusters by id − 1.
    clusters: Vec<PacedPacketInfo>,
    /// The last receiver report.
    reception: Option<ReceptionReport>,
}

impl GoogCc {
    fn new(limits: RateLimits, reports: LossReports, model: LossModel) -> Self {
        let start = timestamp(SendTime::ZERO);
        let field_trials = FieldTrials { loss_based_bwe_v2: model.config(), ..FieldTrials::default() };
        let constraints = TargetRateConstraints {
            at_time: start,
            min_data_rate: Some(rate(limits.min())),
            max_data_rate: Some(rate(limits.max())),
            starting_rate: Some(rate(limits.start())),
        };
        let stream_based_config =
            StreamsConfig { at_time: start, requests_alr_probing: Some(false), ..StreamsConfig::default() };
        let config = NetworkControllerConfig { field_trials, constraints, stream_based_config };
        let feedback_only = reports == LossReports::PacketsOnly;
        let mut goog_cc = Self {
            inner: GoogCcNetworkController::new(config, GoogCcConfig { feedback_only }),
            reports,
            target: limits.start(),
            pacing: limits.start(),
            padding: DataRate::ZERO,
            applied: None,
            frame_drop: 0.0,
            window: Window::new(limits),
            process_due: SendTime::ZERO,
            probes: VecDeque::new(),
            clusters: Vec::new(),
            reception: None,
        };
        let available = NetworkAvailability { at_time: start, network_available: true };
        let update = goog_cc.inner.on_network_availability(available);
        goog_cc.apply(&update);
        goog_cc.process(SendTime::ZERO, DataSize::ZERO);
        goog_cc
    }

    /// The controller and feedback for each packet.
    pub(crate) fn halves(limits: RateLimits, reports: LossReports, model: LossModel) -> Halves {
        (Box::new(Self::new(limits, reports, model)), Box::new(PacketFeedback::new(FEEDBACK_INTERVAL)))
    }

    /// Calls the process interval of goog_cc, and applies its update.
    fn process(&mut self, now: SendTime, queued: DataSize) {
        self.process_due = now + PROCESS_INTERVAL;
        self.window.follow(self.target);
        self.window.weigh();
        let message = ProcessInterval { at_time: timestamp(now), pacer_queue: Some(size(queued)) };
        let update = self.inner.on_process_interval(message);
        self.apply(&update);
    }

    /// Applies the target, pacer and probes of an update of goog_cc.
    fn apply(&mut self, update: &NetworkControlUpdate) {
        if let Some(target) = update.target_rate {
            self.target = DataRate::from_bps(target.target_rate.bps().try_into().unwrap());
            let estimate = target.network_estimate;
            let applied = (self.target, estimate.round_trip_time, estimate.loss_rate_ratio);
            if self.applied != Some(applied) {
                (self.applied, self.frame_drop) = (Some(applied), self.window.frame_drop(self.target));
            }
        }
        if let Some(pacer) = update.pacer_config {
            self.pacing = DataRate::from_bps(pacer.data_rate().bps().try_into().unwrap());
            self.padding = DataRate::from_bps(pacer.pad_rate().bps().try_into().unwrap());
        }
        for cluster in &update.probe_cluster_configs {
            self.ask(cluster);
        }
    }

    /// Queues a probe cluster of goog_cc.
    fn ask(&mut self, cluster: &ProbeClusterConfig) {
        let bytes = (cluster.target_data_rate * cluster.target_duration).bytes();
        let packets = cluster.target_probe_count;
        self.clusters.push(PacedPacketInfo::new(cluster.id, packets.into(), bytes));
        assert_eq!(self.clusters.len(), usize::try_from(cluster.id).unwrap(), "ids count from 1");
        self.probes.push_back(Probe {
            id: ProbeId::new(cluster.id.try_into().unwrap()).unwrap(),
            rate: DataRate::from_bps(cluster.target_data_rate.bps().try_into().unwrap()),
            packets: packets.try_into().unwrap(),
            size: DataSize::from_bytes(bytes.try_into().unwrap()),
        });
    }

    /// A sent packet in goog_cc's type.
    fn sent_packet(&self, sent: &SentPacket) -> goog_cc::transport::SentPacket {
        goog_cc::transport::SentPacket {
            send_time: timestamp(sent.at.whole_millis()),
            size: size(sent.size),
            pacing_info: sent
                .probe
                .map_or_else(PacedPacketInfo::default, |id| self.clusters[usize::from(id.get()) - 1]),
            sequence_number: sent.id as i64,
            ..goog_cc::transport::SentPacket::default()
        }
    }

    fn on_reception(&mut self, now: SendTime, report: ReceptionReport, rtt: Option<TimeDelta>) {
        let receive_time = timestamp(now);
        if let Some(rtt) = rtt {
            let millis = (rtt.micros() + 500) / 1000;
            let round_trip_time = units::TimeDelta::from_millis(millis.max(1));
            let message = RoundTripTimeUpdate { receive_time, round_trip_time, smoothed: false };
            let update = self.inner.on_round_trip_time_update(message);
            self.apply(&update);
        }
        if let Some(before) = self.reception.replace(report) {
            let expected = u64::from(report.highest_sequence - before.highest_sequence);
            let lost = (report.cumulative_lost - before.cumulative_lost).max(0) as u64;
            let update = self.inner.on_transport_loss_report(TransportLossReport {
                receive_time,
                packets_lost_delta: lost,
                packets_received_delta: expected.saturating_sub(lost),
                ..TransportLossReport::default()
            });
            self.apply(&update);
        }
    }

    fn on_packets(&mut self, now: SendTime, results: &[weir_cc::PacketResult], state: &SendState) {
        let packet_feedbacks: Vec<PacketResult> = results
            .iter()
            .map(|result| PacketResult {
                sent_packet: self.sent_packet(&result.sent),
                receive_time: match result.fate {
                    PacketFate::Arrived { at: Some(at), .. } | PacketFate::Recovered { at: Some(at), .. } => {
                        arrival(at.whole_millis())
                    }
                    _ => units::Timestamp::plus_infinity(),
                },
                ..PacketResult::default()
            })
            .collect();
        // Without a received packet the crate stops with an error, while libwebrtc has no relevant effect.
        if packet_feedbacks.iter().any(PacketResult::is_received) {
            let sent = results
                .iter()
                .filter(|result| result.fate != PacketFate::Missing)
                .map(|result| result.sent.at);
            self.window.on_round(now - sent.min().unwrap());
            self.window.outstanding = still_in_flight(state, results).bytes_f64();
            self.window.weigh();
            let update = self.inner.on_transport_packets_feedback(TransportPacketsFeedback {
                feedback_time: timestamp(now),
                data_in_flight: size(still_in_flight(state, results)),
                packet_feedbacks,
                sendless_arrival_times: Vec::new(),
            });
            self.apply(&update);
            self.window.follow(self.target);
        }
    }
}

/// libwebrtc's push-back by the bytes in flight. The crate's own uses its last allowance in place of these bytes,
/// at each tick.
#[derive(Debug)]
struct Window {
    /// The longest round-trip times of the last 32 feedbacks, in ms.
    rounds: VecDeque<f64>,
    bytes: Option<f64>,
    outstanding: f64,
    ratio: f64,
    /// No frame is dropped for a rate below this, in bit/s.
    least: f64,
}

impl Window {
    fn new(limits: RateLimits) -> Self {
        let least = limits.min().bps_f64().max(30e3);
        Self { rounds: VecDeque::new(), bytes: None, outstanding: 0.0, ratio: 1.0, least }
    }

    fn on_round(&mut self, longest: TimeDelta) {
        self.rounds.push_back(longest.millis_f64());
        if self.rounds.len() > 32 {
            self.rounds.pop_front();
        }
    }

    /// The target holds for the least of these and 350 ms.
    fn follow(&mut self, target: DataRate) {
        let Some(round) = self.rounds.iter().copied().reduce(f64::min) else { return };
        let bytes = target.bps_f64() * (round + 350.0) / 8000.0;
        self.bytes = Some(self.bytes.map_or(bytes, |before| f64::midpoint(before, bytes)).max(3000.0));
    }

    /// Updates the share of frames by the fill of the congestion window (libwebrtc's
    /// `CongestionWindowPushbackController`).
    fn weigh(&mut self) {
        let Some(bytes) = self.bytes else { return };
        self.ratio = match self.outstanding / bytes {
            fill if fill > 1.5 => self.ratio * 0.9,
            fill if fill > 1.0 => self.ratio * 0.95,
            fill if fill < 0.1 => 1.0,
            _ => (self.ratio * 1.05).min(1.0),
        };
    }

    fn frame_drop(&self, target: DataRate) -> f64 {
        let target = target.bps_f64();
        1.0 - (target * self.ratio).max(target.min(self.least)) / target
    }
}

impl Sender for GoogCc {
    fn on_sent(&mut self, packet: &SentPacket, state: &SendState) {
        let sent = goog_cc::transport::SentPacket {
            data_in_flight: size(state.in_flight),
            ..self.sent_packet(packet)
        };
        self.window.outstanding = state.in_flight.bytes_f64();
        self.window.weigh();
        let update = self.inner.on_sent_packet(sent);
        self.apply(&update);
    }

    fn on_feedback(&mut self, now: SendTime, feedback: &Feedback<'_>, state: &SendState) {
        match *feedback {
            Feedback::Packets { results, .. } => self.on_packets(now, results, state),
            Feedback::Reception { report, rtt } if self.reports == LossReports::Receiver => {
                self.on_reception(now, report, rtt);
            }
            _ => {}
        }
    }

    fn on_timeout(&mut self, now: SendTime, state: &SendState) {
        self.process(now, state.queued);
    }

    fn next_timeout(&self) -> Option<SendTime> {
        Some(self.process_due)
    }

    fn target(&self) -> Target {
        let pacing = Pacing::Exact(self.pacing);
        Target {
            burst: BURST,
            padding: self.padding,
            frame_drop: self.frame_drop,
            ..Target::at(self.target, pacing, LimitingFactor::RampUp)
        }
    }

    fn poll_probe(&mut self) -> Option<Probe> {
        self.probes.pop_front()
    }
}

impl LossModel {
    /// The constants of libwebrtc at this date.
    fn config(self) -> LossBasedBweV2Config {
        let former = LossBasedBweV2Config::default();
        match self {
            Self::December2024 => former,
            Self::June2025 => LossBasedBweV2Config {
                bw_rampup_upper_bound_factor: 1.5,
                bw_rampup_upper_bound_in_hold_factor: 1.2,
                inherent_loss_upper_bound_bw_balance: units::DataRate::from_kilobits_per_sec(100),
                instant_upper_bound_bw_balance: units::DataRate::from_kilobits_per_sec(100),
                loss_threshold_of_high_bandwidth_preference: 0.2,
                observation_window_size: 15,
                lower_bound_by_acked_rate_factor: 1.0,
                hold_duration_factor: 2.0,
                use_byte_loss_rate: true,
                padding_duration: units::TimeDelta::from_millis(2000),
                bound_best_candidate: true,
                use_in_start_phase: true,
                ..former
            },
        }
    }
}

/// Bytes in flight after the feedback `results`; `state` is the state before it.
fn still_in_flight(state: &SendState, results: &[weir_cc::PacketResult]) -> DataSize {
    let settled = results.iter().filter(|result| !matches!(result.fate, PacketFate::Recovered { .. }));
    state.in_flight.saturating_sub(settled.map(|result| result.sent.size).sum())
}

fn timestamp(at: SendTime) -> units::Timestamp {
    units::Timestamp::from_micros((at + EPOCH).nanos() / 1000)
}

fn arrival(at: ArrivalTime) -> units::Timestamp {
    units::Timestamp::from_micros(at.nanos() / 1000)
}

fn rate(rate: DataRate) -> units::DataRate {
    units::DataRate::from_bits_per_sec(rate.bps() as i64)
}

fn size(size: DataSize) -> units::DataSize {
    units::DataSize::from_bytes(size.bytes() as i64)
}
