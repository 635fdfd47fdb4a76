//! The receiver: arrivals → loss event rate and receive rate, once per round trip (RFC 5348 §6).

use weir_units::{DataRate, TimeDelta};

use super::config::{Config, MAX_SIZE};
use super::equation::loss_event_rate;
use super::losses::LossHistory;
use crate::config_error::ConfigError;
use crate::controller::{Observer, Signal};
use crate::packet::{Arrival, Ecn};
use crate::parts::receive_rate::ReceiveRate;
use crate::report::{NativeReport, TfrcReport};
use crate::time::ArrivalTime;

/// Lower and upper bound within which the receiver clamps the sender's round-trip time (divergence 8).
const MIN_RTT: TimeDelta = TimeDelta::from_millis(1);
const MAX_RTT: TimeDelta = TimeDelta::from_secs(2);
/// Weight of the past in the average packet size, which RFC 5348 leaves open.
const SIZE_FILTER: f64 = 0.9;
/// Least `X_target` for the first loss interval, in packets per round trip. RFC 5348 §6.3.1.
const MIN_TARGET: f64 = 0.5;
/// `t_RTO/R` at the receiver, which does not know the sender's.
const T_RTO: f64 = 4.0;

/// Measurements of TFRC's receiver: the loss event rate `p` and the receive rate `X_recv`. RFC 5348 §6.
#[derive(Debug)]
pub struct TfrcObserver {
    config: Config,
    losses: LossHistory,
    received: ReceiveRate,
    /// The greatest `X_recv` reported.
    most_received: DataRate,
    /// `s`, average payload in bytes.
    segment: f64,
    /// The greatest number seen.
    newest: Option<u64>,
    /// The sender's round-trip time, as the newest packet carries it, or `None` while it is unknown.
    rtt: Option<TimeDelta>,
    /// `p` of the last report.
    reported: f64,
    /// The feedback timer. Not set before the first packet, nor when it expired without anything to report.
    due: Option<ArrivalTime>,
    received_any: bool,
}

impl TfrcObserver {
    /// An observer without any measurement of the path.
    ///
    /// # Errors
    /// The first constant of `config` out of its range.
    pub fn new(config: Config) -> Result<Self, ConfigError> {
        config.validate()?;
        Ok(Self::knowing_nothing(config))
    }

    fn knowing_nothing(config: Config) -> Self {
        Self {
            losses: LossHistory::new(config.duplicate_threshold, config.discount_threshold),
            received: ReceiveRate::new(MAX_RTT),
            most_received: DataRate::ZERO,
            segment: config.segment_size.bytes_f64(),
            newest: None,
            rtt: None,
            reported: 0.0,
            due: None,
            received_any: false,
            config,
        }
    }

    /// `X_recv`: the rate of arrivals within the last round trip, and not less than the packet that has just come.
    fn receive_rate(&mut self, now: ArrivalTime) -> DataRate {
        let Some(rtt) = self.rtt else { return self.received.rate(now).unwrap_or_default() };
        let one_packet = DataRate::from_bps_f64(self.segment * 8.0 / rtt.secs_f64());
        self.received.rate(now).unwrap_or(one_packet)
    }

    /// The interval before the first loss event, at which the equation gives the receive rate. RFC 5348 §6.3.1.
    fn first_interval(config: &Config, receive_rate: DataRate, segment: f64, rtt: TimeDelta) -> f64 {
        let packets = receive_rate.bps_f64() / 8.0 / segment * rtt.secs_f64();
        1.0 / loss_event_rate(packets.max(MIN_TARGET), T_RTO, config.timeout_term)
    }

    fn count(&mut self, packet: &Arrival) -> bool {
        let rtt = self.rtt.unwrap_or(MIN_RTT);
        let (config, segment) = (&self.config, self.segment);
        let most = self.received.rate(packet.at).unwrap_or_default().max(self.most_received);
        let first = || Self::first_interval(config, most, segment, rtt);
        self.losses.on_arrival(packet.id, packet.at, packet.ecn == Ecn::Ce, rtt, first)
    }

    fn follow(&mut self, packet: &Arrival) {
        if self.newest.is_none_or(|newest| packet.id >= newest) {
            self.newest = Some(packet.id);
            if packet.stamp.rtt > TimeDelta::ZERO {
                let rtt = packet.stamp.rtt.clamp(MIN_RTT, MAX_RTT);
                self.rtt = Some(rtt);
                self.received.set_window(rtt);
            }
        }
        let size = packet.size.bytes_f64().clamp(1.0, MAX_SIZE);
        self.segment = SIZE_FILTER * self.segment + (1.0 - SIZE_FILTER) * size;
    }
}

impl Observer for TfrcObserver {
    fn on_arrival(&mut self, packet: &Arrival) {
        self.follow(packet);
        self.received.on_arrival(packet.at, packet.size);
        let new_event = self.count(packet);
        self.received_any = true;
        // §6.1: a report at once when `p` has risen.
        let worse = new_event && self.losses.loss_event_rate() > self.reported;
        let timer = match (self.due, self.rtt) {
            // RFC 5348 §6.1: an expiry without anything to report is made up for; §6.3: no round-trip time, a
            // report each.
            (None, _) | (_, None) => packet.at,
            (Some(due), Some(rtt)) => due.min(packet.at + rtt),
        };
        self.due = Some(if worse { packet.at } else { timer.max(packet.at) });
    }

    fn next_report(&self) -> Option<ArrivalTime> {
        self.due
    }

    fn report(&mut self, now: ArrivalTime) -> Option<NativeReport> {
        self.due.filter(|&due| due <= now)?;
        // §6.2: no report without packets since the last one.
        if !core::mem::take(&mut self.received_any) {
            self.due = None;
            return None;
        }
        self.due = Some(now + self.rtt.unwrap_or(MAX_RTT));
        self.reported = self.losses.loss_event_rate();
        let receive_rate = self.receive_rate(now);
        self.most_received = self.most_received.max(receive_rate);
        Some(NativeReport::Tfrc(TfrcReport { loss_event_rate: self.reported, receive_rate }))
    }

    fn on_route_changed(&mut self) {
        *self = Self::knowing_nothing(self.config);
    }

    fn signals(&self) -> &'static [Signal] {
        const SIGNALS: &[Signal] = &[
            Signal { name: "p", unit: "", meaning: "loss event rate now" },
            Signal { name: "I_mean", unit: "packets", meaning: "average loss interval" },
            Signal { name: "I_0", unit: "packets", meaning: "open loss interval" },
            Signal { name: "s", unit: "bytes", meaning: "average payload of a packet" },
            Signal { name: "X_recv_max", unit: "bit/s", meaning: "greatest receive rate reported" },
        ];
        SIGNALS
    }

    fn read_signals(&self, out: &mut [f64]) {
        let values = [
            self.losses.loss_event_rate(),
            self.losses.average_interval(),
            self.losses.open_interval() as f64,
            self.segment,
            self.most_received.bps_f64(),
        ];
        out.iter_mut().zip(values).for_each(|(slot, value)| *slot = value);
    }
}

#[cfg(test)]
mod tests;
