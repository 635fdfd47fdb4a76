//! The receiver's computations: media packets → `e_r`, `x_r(t − RTT)`, `Δt^a` → feedback every RTT.

use weir_units::{DataRate, DataSize, TimeDelta};

use super::config::{Config, Interarrival, SendingRate};
use crate::config_error::ConfigError;
use crate::controller::{Observer, Signal};
use crate::packet::Arrival;
use crate::report::{DcccReport, NativeReport};
use crate::time::{ApparentDelay, ArrivalTime, SendTime};

/// DCCC's measurements of a path, from the packets that arrive. dccc-2017 appendix C-A.
#[derive(Debug)]
pub struct DcccObserver {
    config: Config,
    /// The newest packet; of two with the same number, the one that was sent later.
    newest: Option<Mark>,
    /// Reports are missing: the packets sent between the newest packet and the next one are unknown.
    unreported: bool,
    /// `T_s` by the newest stamp.
    interval: TimeDelta,
    window: ReportSums,
    /// When the last report was made.
    reported: ArrivalTime,
    due: Option<ArrivalTime>,
    latest: Option<DcccReport>,
}

/// A packet in the sequence of those sent.
#[derive(Clone, Copy, Debug)]
struct Mark {
    id: u64,
    departure: SendTime,
    at: ArrivalTime,
}

/// Sums over the packets since the last report.
#[derive(Clone, Copy, Debug)]
struct ReportSums {
    /// The newest packet before the window: interarrival times count from it.
    begin: Mark,
    packets: u32,
    /// Packets that have an interarrival time, and their bytes: all but the first one of a flow.
    spaced: u32,
    received: DataSize,
    /// Delays as differences from the first one.
    first_delay: Option<ApparentDelay>,
    delays: i128,
    rates: u128,
}

impl ReportSums {
    fn from(begin: Mark) -> Self {
        Self {
            begin,
            packets: 0,
            spaced: 0,
            received: DataSize::ZERO,
            first_delay: None,
            delays: 0,
            rates: 0,
        }
    }

    fn add(&mut self, delay: ApparentDelay, rate: DataRate) {
        let first = *self.first_delay.get_or_insert(delay);
        self.packets = self.packets.saturating_add(1);
        self.delays += i128::from((delay - first).nanos());
        self.rates += u128::from(rate.bps());
    }

    /// Leaves `packets` between two out, because nothing is known of them; their share of the time does not count
    /// either.
    fn leave_out(&mut self, last: Mark, next: Mark, packets: u64) {
        let share = packets as f64 / (packets as f64 + 1.0);
        self.begin.id = self.begin.id.saturating_add(packets);
        self.begin.departure += (next.departure - last.departure).scale(share);
        self.begin.at += (next.at - last.at).scale(share);
    }

    fn add_spaced(&mut self, size: DataSize) {
        self.spaced = self.spaced.saturating_add(1);
        self.received += size;
    }

    /// `e_r`, the mean delay, or `None` before the first packet.
    fn delay(&self) -> Option<ApparentDelay> {
        let above_first = self.delays / i128::from(self.packets.max(1));
        self.first_delay.map(|first| first + TimeDelta::from_nanos(above_first as i64))
    }

    /// `x_r(t − RTT)`, the mean of the rates stamped on the packets.
    fn sending_rate(&self) -> DataRate {
        DataRate::from_bps((self.rates / u128::from(self.packets.max(1))) as u64)
    }

    /// The mean payload of the packets that have an interarrival time.
    fn packet_size(&self) -> DataSize {
        let packets = u64::from(self.spaced.max(1));
        DataSize::from_bytes((self.received.bytes().saturating_add(packets / 2)) / packets)
    }
}

impl DcccObserver {
    pub(super) const SIGNALS: &[Signal] = &[
        Signal { name: "x_sent", unit: "bit/s", meaning: "mean sending rate of the packets of a window" },
        Signal { name: "x_recv", unit: "bit/s", meaning: "rate at which they arrived" },
        Signal { name: "dt_a", unit: "ms", meaning: "mean interarrival time" },
        Signal { name: "T_s", unit: "ms", meaning: "interval between reports" },
    ];

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
            config,
            newest: None,
            unreported: false,
            interval: config.interval(TimeDelta::ZERO),
            window: ReportSums::from(Mark { id: 0, departure: SendTime::ZERO, at: ArrivalTime::ZERO }),
            reported: ArrivalTime::ZERO,
            due: None,
            latest: None,
        }
    }

    /// Advances the sequence to `packet`. Returns whether it begins anew: at the first packet, at the first one
    /// after an outage or a pause, or when a clock was set.
    fn advance(&mut self, packet: Mark) -> bool {
        let Some(newest) = self.newest else {
            self.newest = Some(packet);
            return true;
        };
        let between = packet.at - newest.at;
        let beyond = match self.config.sending_rate {
            // While the source pauses no packet departs either: that time adds no price.
            SendingRate::Departures => between - (packet.departure - newest.departure),
            SendingRate::Stamped => between,
        };
        let silence = self.config.silence(self.interval);
        let begins = beyond >= silence || between <= TimeDelta::ZERO - silence;
        if begins || packet.id > newest.id {
            let unreported = packet.id.saturating_sub(newest.id).saturating_sub(1);
            if core::mem::take(&mut self.unreported) {
                self.window.leave_out(newest, packet, unreported);
            }
            self.newest =
                Some(Mark { at: if begins { packet.at } else { packet.at.max(newest.at) }, ..packet });
        }
        begins
    }

    /// `Δt^a` of the window at a report at `now`; zero while no packet has one.
    fn interarrival(&self, now: ArrivalTime) -> TimeDelta {
        let (Some(newest), true) = (self.newest, self.window.spaced > 0) else { return TimeDelta::ZERO };
        let span = match self.config.interarrival {
            Interarrival::Timestamps => self.config.read(newest.at) - self.config.read(self.window.begin.at),
            Interarrival::Count => self.config.read(now) - self.config.read(self.reported),
        };
        span.max(TimeDelta::ZERO) / i64::from(self.window.spaced) // eq. (20)
    }

    /// `x_r(t − RTT)` of the window; zero while it is not known.
    fn sending_rate(&self, packet_size: DataSize) -> DataRate {
        let (Some(newest), SendingRate::Departures) = (self.newest, self.config.sending_rate) else {
            return self.window.sending_rate();
        };
        let begin = self.window.begin;
        let span = newest.departure - begin.departure;
        if span <= TimeDelta::ZERO {
            return DataRate::ZERO;
        }
        let sent = newest.id.saturating_sub(begin.id) as f64;
        DataRate::from_bps_f64(sent * packet_size.bits_f64() / span.secs_f64())
    }

    /// Takes in an arrival; its time is known where it is `timed`.
    fn arrive(&mut self, packet: &Arrival, timed: bool) {
        let departure = SendTime::from_nanos(self.config.stamped(packet.departure.nanos()));
        let mark = Mark { id: packet.id, departure, at: packet.at };
        let begins = self.advance(mark);
        self.interval = self.config.interval(packet.stamp.rtt);
        if begins {
            self.window = ReportSums::from(mark);
        } else {
            self.window.add_spaced(packet.size);
        }
        if timed {
            let delay = ApparentDelay::between(departure, self.config.read(packet.at));
            self.window.add(delay, packet.stamp.rate);
        }
        // A first packet is reported at once. The next report is never further off than an interval, even if the
        // clock was set back.
        let latest = if begins { packet.at } else { packet.at + self.interval };
        let regular = (self.reported + self.interval).max(packet.at);
        self.due = Some(self.due.unwrap_or(regular).min(latest));
    }
}

impl Observer for DcccObserver {
    fn on_arrival(&mut self, packet: &Arrival) {
        self.arrive(packet, true);
    }

    fn on_untimed(&mut self, packet: &Arrival) {
        self.arrive(packet, false);
    }

    fn on_unreported(&mut self) {
        self.unreported = true;
    }

    fn next_report(&self) -> Option<ArrivalTime> {
        self.due
    }

    fn report(&mut self, now: ArrivalTime) -> Option<NativeReport> {
        self.due.filter(|&due| due <= now)?;
        self.due = None;
        let delay = self.window.delay()?;
        let interarrival = self.interarrival(now);
        let packet_size = self.window.packet_size();
        let sending_rate = self.sending_rate(packet_size);
        let by_departures = self.config.sending_rate == SendingRate::Departures;
        let unknown = interarrival <= TimeDelta::ZERO || (by_departures && sending_rate.is_zero());
        if self.window.spaced > 0 && unknown {
            // Packets that arrived or left all at once have no rate; together with the next ones they will.
            self.due = Some(now + self.interval);
            return None;
        }
        let report = DcccReport { delay, sending_rate, interarrival, packet_size, at: self.config.read(now) };
        self.latest = Some(report);
        self.reported = now;
        self.due = Some(now + self.interval);
        self.window = ReportSums::from(self.newest.unwrap_or(self.window.begin));
        Some(NativeReport::Dccc(report))
    }

    fn on_route_changed(&mut self) {
        *self = Self::knowing_nothing(self.config);
    }

    fn signals(&self) -> &'static [Signal] {
        Self::SIGNALS
    }

    fn read_signals(&self, out: &mut [f64]) {
        let rated = self.latest.as_ref().filter(|report| report.receive_rate().is_some());
        let value_of = |value: fn(&DcccReport) -> f64| rated.map_or(f64::NAN, value);
        let values = [
            value_of(|report| report.sending_rate.bps_f64()),
            value_of(|report| report.receive_rate().unwrap_or(f64::NAN)),
            value_of(|report| report.interarrival.millis_f64()),
            self.interval.millis_f64(),
        ];
        out.iter_mut().zip(values).for_each(|(slot, value)| *slot = value);
    }
}

#[cfg(test)]
mod tests;
