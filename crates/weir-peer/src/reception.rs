//! Statistics of received flows. One-way delays count from their base: no common clock is assumed.

use weir_cc::Ecn;
use weir_live::lateness::Lateness;
use weir_net::Time;
use weir_units::TimeDelta;
use weir_wire::AbsSendTime;
use weir_wire::abs_send_time::AbsSendTimeUnwrapper;
use weir_wire::media::MediaHeader;
use weir_wire::seq::Unwrapper;

use crate::message::ReceivedFigures;

/// A least delay older than this is forgotten after as much again, so that a drift of the clocks does not count as delay.
const BASE_LIFE: TimeDelta = TimeDelta::from_secs(60);
/// RTP streams of a flow: video, audio, retransmissions.
const STREAMS: usize = 3;

/// Statistics of a received flow.
#[derive(Debug, Default)]
pub(crate) struct FlowReception {
    figures: ReceivedFigures,
    streams: [Option<StreamCount>; STREAMS],
    delay: DelayAboveBase,
    delays: Lateness,
    /// Sum and number of delays of the present interval.
    interval: (i64, i64),
}

#[derive(Clone, Copy, Debug)]
struct StreamCount {
    numbers: Unwrapper,
    first: u64,
    received: u64,
}

/// A packet as it arrived.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PacketArrival {
    pub(crate) at: Time,
    pub(crate) ecn: Ecn,
    /// Bytes on the wire.
    pub(crate) wire_size: u64,
    pub(crate) payload: u64,
}

impl FlowReception {
    /// A packet of media or padding.
    pub(crate) fn on_media(&mut self, arrival: PacketArrival, header: &MediaHeader) {
        // Audio has the highest bit of the source identifier changed, retransmissions the second.
        let stream = (header.ssrc >> 30) as usize & 3;
        self.on_packet(arrival, stream.min(STREAMS - 1), header.sequence, header.abs_send_time);
    }

    /// A packet of the stream `stream` with this number.
    pub(crate) fn on_packet(
        &mut self,
        arrival: PacketArrival,
        stream: usize,
        number: u16,
        departure: AbsSendTime,
    ) {
        let figures = &mut self.figures;
        figures.packets += 1;
        figures.bytes += arrival.wire_size;
        figures.payload += arrival.payload;
        figures.marked += u64::from(arrival.ecn == Ecn::Ce);
        let count = self.streams[stream].get_or_insert_with(|| {
            let mut numbers = Unwrapper::new();
            let first = numbers.unwrap(number);
            StreamCount { numbers, first, received: 0 }
        });
        count.first = count.first.min(count.numbers.unwrap(number));
        count.received += 1;
        let delay = self.delay.on_packet(arrival.at, departure);
        self.delays.record(delay);
        self.interval = (self.interval.0 + delay.nanos(), self.interval.1 + 1);
    }

    /// The sender may have begun anew, with other numbers and on another path.
    pub(crate) fn on_route_changed(&mut self) {
        self.delay = DelayAboveBase::default();
    }

    /// The figures so far; the mean delay is that since the last call.
    pub(crate) fn take_figures(&mut self) -> ReceivedFigures {
        let (sum, count) = core::mem::take(&mut self.interval);
        self.figures.delay_now = TimeDelta::from_nanos(sum.checked_div(count).unwrap_or(0));
        self.figures()
    }

    /// The figures so far; the mean delay is that of the last call of [`Self::take_figures`].
    pub(crate) fn figures(&mut self) -> ReceivedFigures {
        self.figures.delay_p50 = self.delays.percentile(0.5);
        self.figures.delay_p95 = self.delays.percentile(0.95);
        let missing = |count: &StreamCount| {
            let expected = count.numbers.newest().unwrap_or(count.first) - count.first + 1;
            expected.saturating_sub(count.received)
        };
        self.figures.lost = self.streams.iter().flatten().map(missing).sum();
        self.figures
    }

    /// Bytes on the wire so far.
    pub(crate) fn bytes(&self) -> u64 {
        self.figures.bytes
    }
}

/// One-way delays above the least one of the last minutes.
#[derive(Clone, Copy, Debug, Default)]
struct DelayAboveBase {
    departures: AbsSendTimeUnwrapper,
    last: Option<Time>,
    /// Least difference of arrival and departure of the present minute and of the one before, in ns.
    least: [Option<i64>; 2],
    /// Begin of the present minute.
    since: Time,
}

impl DelayAboveBase {
    fn on_packet(&mut self, at: Time, departure: AbsSendTime) -> TimeDelta {
        let elapsed = self.last.map_or(TimeDelta::ZERO, |last| at - last);
        self.last = Some(at);
        let apparent = at.nanos() as i64 - self.departures.unwrap_after(departure, elapsed.nanos());
        if at - self.since >= BASE_LIFE {
            self.since = at;
            self.least = [None, self.least[0]];
        }
        self.least[0] = Some(self.least[0].map_or(apparent, |least| least.min(apparent)));
        let base = self.least.into_iter().flatten().min().unwrap_or(apparent);
        TimeDelta::from_nanos(apparent - base)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOURS_OFF: i64 = 7_200_000_000_000;

    /// A packet that left at `sent` and took `delay`, in ms; the sender's clock is hours ahead.
    fn packet(flow: &mut FlowReception, number: u16, sent: i64, delay: i64) {
        let departure = AbsSendTime::from_nanos(HOURS_OFF + sent * 1_000_000);
        let at = Time::from_millis((sent + delay) as u64);
        let arrival = PacketArrival { at, ecn: Ecn::NotEct, wire_size: 1100, payload: 1000 };
        flow.on_packet(arrival, 0, number, departure);
    }

    #[test]
    fn delays_count_from_the_least_one_and_need_no_common_clock() {
        let mut flow = FlowReception::default();
        for n in 0..100 {
            packet(&mut flow, n, i64::from(n) * 10, if n == 50 { 80 } else { 30 });
        }
        let figures = flow.take_figures();
        assert_eq!(
            (figures.packets, figures.bytes, figures.payload, figures.lost),
            (100, 110_000, 100_000, 0)
        );
        // The resolution of abs-send-time is 3.8 µs. Only one of 100 packets waited, for 50 ms.
        assert!(figures.delay_p95 < TimeDelta::from_micros(8), "{:?}", figures.delay_p95);
        let mean = figures.delay_now.millis_f64();
        assert!((0.5..0.51).contains(&mean), "{mean}");
        assert_eq!(flow.take_figures().delay_now, TimeDelta::ZERO, "no packet since");
    }

    #[test]
    fn clocks_that_drift_for_an_hour_add_no_delay() {
        let mut flow = FlowReception::default();
        // 100 parts per million are 360 ms an hour; within two minutes 12 ms.
        for n in 0..36_000_i64 {
            packet(&mut flow, n as u16, n * 100, 30 + n * 100 / 10_000);
        }
        let most = flow.take_figures().delay_now.millis_f64();
        let last = flow.delays.max().millis_f64();
        assert!(most < 12.1 && last < 13.0, "mean {most} ms, most {last} ms");
    }

    #[test]
    fn packets_that_have_not_come_are_lost_until_they_come() {
        let mut flow = FlowReception::default();
        for n in (65_500..65_536).chain(0..64).filter(|n| n % 10 != 5) {
            packet(&mut flow, n as u16, 0, 30);
        }
        // 65505, 65515, 65525, 65535, 5, 15, 25, 35, 45, 55.
        assert_eq!(flow.take_figures().lost, 10);
        packet(&mut flow, 25, 10, 30);
        assert_eq!(flow.take_figures().lost, 9);
    }
}
