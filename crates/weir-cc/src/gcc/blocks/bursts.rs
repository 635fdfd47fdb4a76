//! Grouping of packets into bursts and the deltas between bursts (draft-ietf-rmcat-gcc-02 §5.1, §5.2; libwebrtc).

use weir_units::{DataSize, TimeDelta};

use crate::time::{ArrivalTime, SendTime};

/// Rules of a burst, and of a restart of the grouping.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BurstConfig {
    /// `burst_time`: time from a burst's first departure within which packets belong to it. A packet also belongs
    /// to it if it arrives within that time after the burst while the delay falls. draft-ietf-rmcat-gcc-02 table 1.
    /// With `None` each packet is a burst of its own.
    pub burst_time: Option<TimeDelta>,
    /// Longest time from its first arrival for which a burst may grow by falling delay (libwebrtc since 2019).
    pub longest: Option<TimeDelta>,
    /// Number of successive packets that are ignored before grouping restarts (libwebrtc: 3). Packets are ignored
    /// that would begin a burst while the arrivals of the two bursts before ran backwards. With `None` they begin a
    /// burst without a sample.
    pub backward_limit: Option<u32>,
    /// Excess of an arrival delta over the departure delta from which on grouping restarts, because the receiver's
    /// clock was set (libwebrtc: 3 s). A queue does not have this effect, because a queue that long delays the
    /// feedback by as much. A departure this long before the burst's first one has the same effect: the sender's
    /// clock was set back.
    pub clock_jump: Option<TimeDelta>,
}

impl BurstConfig {
    /// Bursts as in the draft: 5 ms. The draft has no checks. Here arrivals that run backwards give no sample, nor do
    /// those between which the receiver's clock jumped.
    pub(crate) const DRAFT_02: Self = Self {
        burst_time: Some(TimeDelta::from_millis(5)),
        longest: None,
        backward_limit: None,
        clock_jump: Some(TimeDelta::from_secs(3)),
    };

    /// Bursts and guards of libwebrtc in 2025.
    pub(crate) const LIBWEBRTC_2025: Self = Self {
        burst_time: Some(TimeDelta::from_millis(5)),
        longest: Some(TimeDelta::from_millis(100)),
        backward_limit: Some(3),
        clock_jump: Some(TimeDelta::from_secs(3)),
    };
}

/// A packet reported as arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ReportedPacket {
    /// When it left, by the sender's clock.
    pub departure: SendTime,
    /// When it arrived, by the receiver's clock.
    pub arrival: ArrivalTime,
    /// Its bytes.
    pub size: DataSize,
}

/// Sample of the queuing delay gradient from two consecutive bursts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BurstSample {
    /// `T(i) − T(i−1)`: between the departures of the bursts' last packets. draft-ietf-rmcat-gcc-02 §5.1.
    pub inter_departure: TimeDelta,
    /// `t(i) − t(i−1)`: between the arrivals of the bursts' last packets, not negative.
    pub inter_arrival: TimeDelta,
    /// `ΔL`: size difference to the burst before, in bytes.
    pub size_delta: f64,
    /// `t(i)`: arrival of the burst's last packet.
    pub arrival: ArrivalTime,
}

impl BurstSample {
    /// `d(i) = (t(i) − t(i−1)) − (T(i) − T(i−1))`: positive while the queue grows. draft-ietf-rmcat-gcc-02 §5.1.
    pub fn gradient(&self) -> TimeDelta {
        self.inter_arrival - self.inter_departure
    }
}

/// Grouping of packets that leave or arrive together. A burst is complete when the first packet of the next one is
/// known, so that the first packet of the third burst gives the first sample.
#[derive(Clone, Debug)]
pub(crate) struct Bursts {
    config: BurstConfig,
    current: Option<ArrivalBurst>,
    previous: Option<ArrivalBurst>,
    /// Number of consecutive backward arrivals.
    backward: u32,
}

#[derive(Clone, Copy, Debug)]
struct ArrivalBurst {
    first_departure: SendTime,
    last_departure: SendTime,
    first_arrival: ArrivalTime,
    last_arrival: ArrivalTime,
    /// Time at which the sender was informed of its last packet.
    reported_at: SendTime,
    size: DataSize,
}

impl ArrivalBurst {
    fn begin(packet: &ReportedPacket, reported_at: SendTime) -> Self {
        Self {
            first_departure: packet.departure,
            last_departure: packet.departure,
            first_arrival: packet.arrival,
            last_arrival: packet.arrival,
            reported_at,
            size: packet.size,
        }
    }

    fn join(&mut self, packet: &ReportedPacket, reported_at: SendTime) {
        self.last_departure = self.last_departure.max(packet.departure);
        self.last_arrival = packet.arrival;
        self.reported_at = reported_at;
        self.size += packet.size;
    }
}

impl Bursts {
    /// Grouping without any packet.
    pub(crate) fn new(config: BurstConfig) -> Self {
        Self { config, current: None, previous: None, backward: 0 }
    }

    /// Takes the next packet in order of arrival, reported at `now`. A packet that left before the current burst is
    /// ignored. If it left too long before, the sender's clock was set back, and grouping restarts with the next
    /// packet.
    pub(crate) fn on_packet(&mut self, packet: &ReportedPacket, now: SendTime) -> Option<BurstSample> {
        let Some(current) = &mut self.current else {
            self.current = Some(ArrivalBurst::begin(packet, now));
            return None;
        };
        let late = current.first_departure - packet.departure;
        if late > TimeDelta::ZERO {
            if self.config.clock_jump.is_some_and(|jump| late >= jump) {
                self.restart();
            }
            return None;
        }
        if self.config.holds(current, packet) {
            current.join(packet, now);
            return None;
        }
        let complete = *current;
        let verdict =
            self.previous.map_or(BurstAction::Begin, |previous| self.action_for(&previous, &complete));
        if matches!(verdict, BurstAction::Begin | BurstAction::Sample(_)) {
            self.previous = Some(complete);
            self.current = Some(ArrivalBurst::begin(packet, now));
        }
        match verdict {
            BurstAction::Sample(sample) => return Some(sample),
            BurstAction::Restart => self.restart(),
            BurstAction::Begin | BurstAction::Ignore => {}
        }
        None
    }

    /// Removes every burst.
    pub(crate) fn restart(&mut self) {
        *self = Self::new(self.config);
    }

    fn action_for(&mut self, previous: &ArrivalBurst, complete: &ArrivalBurst) -> BurstAction {
        let inter_arrival = complete.last_arrival - previous.last_arrival;
        let passed = complete.reported_at - previous.reported_at;
        if self.config.clock_jump.is_some_and(|jump| inter_arrival - passed >= jump) {
            return BurstAction::Restart;
        }
        if inter_arrival.is_negative() {
            self.backward = self.backward.saturating_add(1);
            return match self.config.backward_limit {
                Some(limit) if self.backward >= limit => BurstAction::Restart,
                Some(_) => BurstAction::Ignore,
                None => BurstAction::Begin,
            };
        }
        self.backward = 0;
        BurstAction::Sample(BurstSample {
            inter_departure: complete.last_departure - previous.last_departure,
            inter_arrival,
            size_delta: complete.size.bytes_f64() - previous.size.bytes_f64(),
            arrival: complete.last_arrival,
        })
    }
}

/// Treatment of a packet that does not belong to the current burst.
#[derive(Clone, Copy, Debug)]
enum BurstAction {
    /// The packet begins the next burst, and the two before make a sample.
    Sample(BurstSample),
    /// The packet begins the next burst, without a sample.
    Begin,
    /// The packet is ignored; backward arrivals are counted.
    Ignore,
    /// All bursts are removed.
    Restart,
}

impl BurstConfig {
    /// Whether `packet` belongs to the burst.
    fn holds(&self, burst: &ArrivalBurst, packet: &ReportedPacket) -> bool {
        let Some(burst_time) = self.burst_time else { return false };
        let departed = packet.departure - burst.last_departure;
        let arrived = packet.arrival - burst.last_arrival;
        let young = self.longest.is_none_or(|longest| packet.arrival - burst.first_arrival < longest);
        departed == TimeDelta::ZERO
            || (arrived < departed && arrived <= burst_time && young)
            || packet.departure - burst.first_departure <= burst_time
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A reported packet, with times in µs.
    fn packet(departure_us: i64, arrival_us: i64, bytes: u64) -> ReportedPacket {
        ReportedPacket {
            departure: SendTime::from_nanos(departure_us * 1000),
            arrival: ArrivalTime::from_nanos(arrival_us * 1000),
            size: DataSize::from_bytes(bytes),
        }
    }

    /// The samples that packets (departure and arrival in ms, 1000 bytes) make, each reported as it arrives.
    fn samples(config: BurstConfig, packets: &[(i64, i64)]) -> Vec<BurstSample> {
        let mut bursts = Bursts::new(config);
        let take = |&(departure, arrival): &(i64, i64)| {
            bursts.on_packet(&packet(departure * 1000, arrival * 1000, 1000), SendTime::from_millis(arrival))
        };
        packets.iter().filter_map(take).collect()
    }

    fn gradients(config: BurstConfig, packets: &[(i64, i64)]) -> Vec<i64> {
        samples(config, packets).iter().map(|sample| sample.gradient().nanos() / 1_000_000).collect()
    }

    #[test]
    fn deltas_span_last_departures_and_last_arrivals() {
        // Bursts: {0, 2, 5} arriving at 100, 104, 108; {20} at 130; the third begins at 40. Last to last:
        // departures 20 - 5 = 15, arrivals 130 - 108 = 22, d = 7 ms; sizes 1000 - 3000.
        let config = BurstConfig::DRAFT_02;
        let sent = [(0, 100), (2, 104), (5, 108), (20, 130), (40, 150)];
        let [sample] = samples(config, &sent)[..] else { panic!("one sample") };
        assert_eq!(sample.inter_departure, TimeDelta::from_millis(15));
        assert_eq!(sample.inter_arrival, TimeDelta::from_millis(22));
        assert_eq!(sample.gradient(), TimeDelta::from_millis(7));
        assert_eq!(sample.size_delta, -2000.0);
        assert_eq!(sample.arrival, ArrivalTime::from_millis(130));
    }

    #[test]
    fn a_packet_later_than_the_burst_time_joins_only_while_the_delay_falls() {
        // 20 arrives 3 ms after 0 though it left 20 ms later: it queued behind it. One burst {0, 20}, then {40}.
        let joined = [(0, 100), (20, 103), (40, 141), (60, 160)];
        assert_eq!(samples(BurstConfig::DRAFT_02, &joined)[0].inter_departure, TimeDelta::from_millis(20));
        // 5 ms after: still.
        let just = [(0, 100), (20, 105), (40, 141), (60, 160)];
        assert_eq!(samples(BurstConfig::DRAFT_02, &just)[0].inter_departure, TimeDelta::from_millis(20));
        // 6 ms after: no burst. 6 ms after the departure too: the delay does not fall, no burst either.
        let apart = [(0, 100), (20, 106), (40, 141)];
        assert_eq!(gradients(BurstConfig::DRAFT_02, &apart), [-14]);
        let even = [(0, 100), (6, 106), (40, 141)];
        assert_eq!(gradients(BurstConfig::DRAFT_02, &even), [0]);
    }

    #[test]
    fn packets_that_leave_at_once_are_one_burst_however_they_arrive() {
        let at_once = [(0, 100), (20, 120), (20, 140), (20, 160), (40, 180)];
        // {0}, {20 20 20} until 160: d = 60 - 20.
        assert_eq!(gradients(BurstConfig::DRAFT_02, &at_once), [40]);
    }

    #[test]
    fn a_burst_by_falling_delay_has_its_longest_in_2025() {
        // Every packet leaves 6 ms after the one before and arrives 5 ms after: the delay falls. The draft lets the
        // burst grow on; libwebrtc ends it 100 ms after its first arrival: {0 … 114} and {120 … 234}, 24 · 5 apart.
        let falling: Vec<_> = (0..60).map(|n| (6 * n, 5 * n)).collect();
        assert!(samples(BurstConfig::DRAFT_02, &falling).is_empty());
        let capped = samples(BurstConfig::LIBWEBRTC_2025, &falling);
        assert_eq!(capped[0].inter_arrival, TimeDelta::from_millis(100));
        assert_eq!(capped.len(), 1);
    }

    #[test]
    fn each_packet_alone_is_an_option() {
        let config = BurstConfig { burst_time: None, ..BurstConfig::DRAFT_02 };
        assert_eq!(gradients(config, &[(0, 100), (0, 101), (1, 104), (33, 133)]), [1, 2]);
    }

    #[test]
    fn a_packet_that_left_before_the_burst_is_ignored() {
        let late = [(0, 100), (20, 120), (10, 121), (40, 141), (60, 161)];
        assert_eq!(gradients(BurstConfig::DRAFT_02, &late), [0, 1]);
    }

    #[test]
    fn arrivals_that_run_backwards_make_no_sample() {
        // The clock is set back by 50 ms before the third packet, which seems to come together with the second one:
        // {0} until 100, {20, 40} until 90: no sample; {60} until 110: d = 0.
        let set_back = [(0, 100), (20, 120), (40, 90), (60, 110), (80, 130)];
        let [sample] = samples(BurstConfig::DRAFT_02, &set_back)[..] else { panic!("one sample") };
        assert_eq!((sample.arrival, sample.gradient()), (ArrivalTime::from_millis(110), TimeDelta::ZERO));
        // libwebrtc looks at {0} and {20, 40} until three packets in a row (60, 80, 100) were ignored, and forgets;
        // {120} and {140} make the first sample, due with 160.
        let longer: Vec<_> = (0..9).map(|n| (20 * n, 20 * n + if n < 2 { 100 } else { 50 })).collect();
        let [sample] = samples(BurstConfig::LIBWEBRTC_2025, &longer)[..] else { panic!("one sample") };
        assert_eq!(sample.arrival, ArrivalTime::from_millis(190));
    }

    #[test]
    fn a_departure_clock_set_back_by_three_seconds_begins_anew() {
        // 20 ms apart all along. A packet that left 2999 ms before the one before it is ignored, and so are the
        // next ones.
        let set_back = |by: i64| -> Vec<_> {
            (0..8).map(|n| (20 * n - if n < 3 { 0 } else { by }, 100 + 20 * n)).collect()
        };
        assert_eq!(gradients(BurstConfig::DRAFT_02, &set_back(2999 + 20)), [0]);
        // {0} and {20} make one; the one at 60 begins anew; {80} and {100} make the next, due with 120, {120} one
        // more.
        assert_eq!(gradients(BurstConfig::DRAFT_02, &set_back(3000 + 20)), [0, 0, 0]);
    }

    #[test]
    fn an_arrival_clock_that_leaps_begins_anew() {
        let mut bursts = Bursts::new(BurstConfig::LIBWEBRTC_2025);
        // 3 s more at the receiver than at the sender between {20} and {40}.
        let mut seen = Vec::new();
        for n in 0..7 {
            let leap = if n < 2 { 0 } else { 3000 };
            let received = packet(20_000 * n, 20_000 * n + leap * 1000, 1000);
            seen.push(bursts.on_packet(&received, SendTime::from_millis(20 * n)).is_some());
        }
        // The sample {20, 40}, due with 60, is left out; 80, 100, 120 are the next three.
        assert_eq!(seen, [false, false, true, false, false, false, true]);
    }
}
