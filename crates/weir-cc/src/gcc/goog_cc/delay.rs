//! The delay-based estimate: bursts → trend → detector → rate (libwebrtc's `DelayBasedBwe`).

use weir_units::{DataRate, TimeDelta};

use super::config::Config;
use crate::controller::RateLimits;
use crate::gcc::blocks::aimd::Aimd;
use crate::gcc::blocks::bursts::{Bursts, ReportedPacket};
use crate::gcc::blocks::detector::{BandwidthUsage, OveruseDetector};
use crate::gcc::blocks::threshold::Threshold;
use crate::gcc::blocks::trendline::{DelayTrend, Trendline};
use crate::time::SendTime;

/// Number of samples before the detector's first verdict.
const FIRST_VERDICT: u32 = 2;

/// Effects of a feedback on the delay-based estimate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct EstimateChanges {
    /// The estimate in bit/s, if it was computed.
    pub(super) rate: Option<f64>,
    /// Whether a probe set it.
    pub(super) probe: bool,
    /// Whether under-use has ended.
    pub(super) recovered: bool,
}

#[derive(Clone, Debug)]
pub(super) struct DelayBased {
    stream_timeout: TimeDelta,
    /// Threshold and detector in their initial state.
    initial: (Threshold, OveruseDetector),
    bursts: Bursts,
    trendline: Trendline,
    threshold: Threshold,
    detector: OveruseDetector,
    aimd: Aimd,
    trend: DelayTrend,
    /// Time of the last feedback with arrivals.
    last_feedback: Option<SendTime>,
    /// Whether over-use lowered the rate since the last call of `take_cut`.
    cut: bool,
}

impl DelayBased {
    pub(super) fn new(config: &Config, limits: RateLimits) -> Self {
        let initial = (config.threshold(), OveruseDetector::new(config.detector()));
        Self {
            stream_timeout: config.stream_timeout,
            initial,
            bursts: Bursts::new(config.bursts()),
            trendline: Trendline::new(config.trendline),
            threshold: initial.0,
            detector: initial.1,
            aimd: Aimd::new(config.aimd, limits),
            trend: DelayTrend { slope: 0.0, scaled: 0.0 },
            last_feedback: None,
            cut: false,
        }
    }

    /// Whether over-use lowered the rate since the last call.
    pub(super) fn take_cut(&mut self) -> bool {
        core::mem::take(&mut self.cut)
    }

    pub(super) fn aimd(&self) -> &Aimd {
        &self.aimd
    }

    pub(super) fn aimd_mut(&mut self) -> &mut Aimd {
        &mut self.aimd
    }

    pub(super) fn usage(&self) -> BandwidthUsage {
        self.detector.usage()
    }

    pub(super) fn trend(&self) -> DelayTrend {
        self.trend
    }

    pub(super) fn gamma(&self) -> f64 {
        self.threshold.gamma()
    }

    /// Resets everything except the bounds, for another path. The rate is the start rate of `limits`.
    pub(super) fn change_route(&mut self, limits: RateLimits) {
        self.restart();
        self.aimd.restart(limits);
        self.last_feedback = None;
    }

    /// Takes the arrivals in order of arrival, the acknowledged rate and the result of a probe.
    pub(super) fn on_feedback<'a>(
        &mut self,
        packets: impl Iterator<Item = &'a ReportedPacket>,
        acknowledged: Option<DataRate>,
        probe: Option<DataRate>,
        now: SendTime,
    ) -> EstimateChanges {
        if self
            .last_feedback
            .replace(now)
            .is_none_or(|last_feedback| (now - last_feedback).abs() > self.stream_timeout)
        {
            self.restart();
        }
        let mut recovered = false;
        for packet in packets {
            let before = self.usage();
            self.on_packet(packet, now);
            recovered |= before == BandwidthUsage::Under && self.usage() == BandwidthUsage::Normal;
        }
        self.update(acknowledged, probe, recovered, now)
    }

    fn on_packet(&mut self, packet: &ReportedPacket, now: SendTime) {
        // Changed in place: a copy would wait for the store just made (8 ns a packet).
        let mut found = self.bursts.on_packet(packet, now);
        let Some(sample) = &mut found else { return };
        // A burst is known to be complete, and counts as seen, when the next one arrives.
        sample.arrival = packet.arrival;
        self.trend = self.trendline.update(sample);
        if self.trendline.samples() < FIRST_VERDICT {
            return;
        }
        let DelayTrend { slope, scaled } = self.trend;
        self.detector.update(slope, scaled, self.threshold.gamma(), sample.inter_departure);
        self.threshold.update(scaled, sample.arrival);
    }

    fn update(
        &mut self,
        acknowledged: Option<DataRate>,
        probe: Option<DataRate>,
        recovered: bool,
        now: SendTime,
    ) -> EstimateChanges {
        let nothing = EstimateChanges { rate: None, probe: false, recovered: false };
        let aimd = &mut self.aimd;
        if self.detector.usage() == BandwidthUsage::Over {
            // Until a rate is acknowledged each feedback halves the estimate.
            if acknowledged.is_some() && !aimd.may_reduce_again(acknowledged, now) {
                return nothing;
            }
            self.cut = true;
            if acknowledged.is_some() {
                aimd.update(BandwidthUsage::Over, acknowledged, now);
            } else {
                aimd.halve(now);
            }
            return EstimateChanges { rate: Some(aimd.rate()), ..nothing };
        }
        // Without over-use a probe's result replaces the rate.
        if let Some(probe) = probe {
            aimd.set_rate(probe.bps_f64(), now);
            return EstimateChanges { rate: Some(aimd.rate()), probe: true, ..nothing };
        }
        EstimateChanges {
            rate: Some(aimd.update(self.detector.usage(), acknowledged, now)),
            probe: false,
            recovered,
        }
    }

    /// Restarts grouping, trend, detector and γ, because no trend spans a gap without feedback.
    fn restart(&mut self) {
        self.bursts.restart();
        self.trendline.restart();
        (self.threshold, self.detector) = self.initial;
        self.trend = DelayTrend { slope: 0.0, scaled: 0.0 };
    }
}
