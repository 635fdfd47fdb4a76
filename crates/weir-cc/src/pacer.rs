//! The pacer, which computes the times at which packets may leave. Packets stay with the embedder.

use weir_units::{DataRate, DataSize, TimeDelta};

use crate::controller::{Burst, Pacing, Target};
use crate::time::SendTime;

/// Longest time of a rate below the padding rate that padding makes up for.
const PADDING_MEMORY: TimeDelta = TimeDelta::from_millis(100);
/// Longest time for which media sent above the padding rate counts against padding.
const PADDING_DEBT: TimeDelta = TimeDelta::from_secs(1);

/// Pacer that spaces packets according to a rate.
///
/// A packet may leave when the time of the previous packet at the pacing rate has passed. Idle time gives no credit,
/// except for the configured lateness: after a pause the first packet leaves at once, and the next after the time of
/// the first.
///
/// A target may allow a [`Burst`] ahead of the pace. Packets then leave at once until the burst is used, and the next
/// one when the time of all of them has passed, as in libwebrtc's pacer. A packet that arrives while none waits
/// begins another burst ([`Self::on_queued`]).
#[derive(Clone, Debug)]
pub struct Pacer {
    rate: Option<DataRate>,
    lateness: TimeDelta,
    burst: Burst,
    /// Time at which the time of all departed bytes at the pacing rate has passed.
    paid: SendTime,
    /// Whether a burst has ended, so that no packet may leave until that time.
    drains: bool,
    padding: Padding,
}

/// Number of bytes by which media is below the padding rate.
#[derive(Clone, Copy, Debug)]
struct Padding {
    rate: DataRate,
    /// Bytes missing from the padding rate; negative after media was above it.
    owed: f64,
    since: Option<SendTime>,
}

impl Pacer {
    /// A pacer that lets packets leave at once until [`Self::apply`] sets a rate. It makes up for a lateness of up to
    /// `lateness`, which real timers have.
    pub fn new(lateness: TimeDelta) -> Self {
        let padding = Padding { rate: DataRate::ZERO, owed: 0.0, since: None };
        let paid = SendTime::from_nanos(i64::MIN);
        Self { rate: None, lateness, burst: Burst::NONE, paid, drains: true, padding }
    }

    /// Applies a controller's target at `now`. The remaining time of departed bytes is computed with the new rate.
    pub fn apply(&mut self, now: SendTime, target: &Target) {
        let rate = match target.pacing {
            Pacing::Unpaced => None,
            Pacing::Factor(factor) => Some(target.sending_rate.scale(factor)),
            Pacing::Exact(rate) => Some(rate),
        };
        if rate != self.rate {
            let unpaid = self.paid - now;
            if let (Some(old), Some(new)) = (self.rate, rate)
                && unpaid > TimeDelta::ZERO
                && !new.is_zero()
            {
                self.paid = now + unpaid.scale(old.bps_f64() / new.bps_f64());
            } else if rate.is_none() {
                self.paid = now;
            }
            self.rate = rate;
        }
        self.burst = target.burst;
        self.drains |= self.burst == Burst::NONE;
        self.padding.accrue(now);
        self.padding.rate = target.padding;
    }

    /// Takes a packet that waits while none did: the end of the last burst does not delay it.
    pub fn on_queued(&mut self, now: SendTime) {
        self.drains &= !self.is_within_burst(now);
    }

    /// Time at which the next packet may leave, whatever its size.
    pub fn next_departure(&self) -> SendTime {
        if self.drains { self.paid } else { SendTime::from_nanos(i64::MIN) }
    }

    /// Takes `size` bytes that left at `now`.
    pub fn on_sent(&mut self, now: SendTime, size: DataSize) {
        if let Some(rate) = self.rate {
            self.paid = self.paid.max(now - self.lateness) + size / rate;
            self.drains = !self.is_within_burst(now);
        }
        if self.padding.rate.is_zero() {
            (self.padding.since, self.padding.owed) = (Some(now), 0.0);
        } else {
            self.padding.accrue(now);
            self.padding.pay(size);
        }
    }

    /// Time at which a padding packet of `size` bytes is due if nothing else is sent, or `None` without padding.
    pub fn next_padding(&self, size: DataSize) -> Option<SendTime> {
        let padding = &self.padding;
        let since = padding.since.filter(|_| !padding.rate.is_zero())?;
        let lacking = (size.bytes_f64() - padding.owed).max(0.0);
        let due = since + TimeDelta::from_secs_f64(lacking * 8.0 / padding.rate.bps_f64());
        Some(due.max(self.paid))
    }

    /// Whether less than the burst has left ahead of the pace.
    fn is_within_burst(&self, now: SendTime) -> bool {
        let Some(rate) = self.rate else { return true };
        self.burst.time > TimeDelta::ZERO && self.paid - now < self.burst.time.min(self.burst.size / rate)
    }
}

impl Padding {
    fn accrue(&mut self, now: SendTime) {
        let elapsed = self.since.replace(now).map_or(TimeDelta::ZERO, |since| now - since);
        let bytes_per_second = self.rate.bps_f64() / 8.0;
        let most = bytes_per_second * PADDING_MEMORY.secs_f64();
        self.owed = (self.owed + elapsed.secs_f64().max(0.0) * bytes_per_second).min(most);
    }

    fn pay(&mut self, size: DataSize) {
        let least = -self.rate.bps_f64() / 8.0 * PADDING_DEBT.secs_f64();
        self.owed = (self.owed - size.bytes_f64()).max(least);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::controller::LimitingFactor;

    fn target(kbps: u64, pacing: Pacing, padding_kbps: u64) -> Target {
        let padding = DataRate::from_kbps(padding_kbps);
        Target { padding, ..Target::at(DataRate::from_kbps(kbps), pacing, LimitingFactor::RampUp) }
    }

    /// Sender time of `ms` milliseconds.
    fn at(ms: i64) -> SendTime {
        SendTime::from_millis(ms)
    }

    const PACKET: DataSize = DataSize::from_bytes(1000);

    #[test]
    fn packets_leave_at_the_factor_times_the_rate() {
        let mut pacer = Pacer::new(TimeDelta::ZERO);
        pacer.apply(at(0), &target(800, Pacing::Factor(1.25), 0));
        assert!(pacer.next_departure() <= at(0));
        // 8000 bit at 1.25 · 800 kbit/s = 8 ms.
        pacer.on_sent(at(0), PACKET);
        assert_eq!(pacer.next_departure(), at(8));
        pacer.on_sent(at(8), PACKET);
        assert_eq!(pacer.next_departure(), at(16));
    }

    #[test]
    fn idle_time_earns_nothing_without_a_burst() {
        let mut pacer = Pacer::new(TimeDelta::ZERO);
        pacer.apply(at(0), &target(800, Pacing::Exact(DataRate::from_mbps(1)), 0));
        pacer.on_sent(at(100), PACKET);
        assert_eq!(pacer.next_departure(), at(108));
        let mut lenient = Pacer::new(TimeDelta::from_millis(5));
        lenient.apply(at(0), &target(800, Pacing::Exact(DataRate::from_mbps(1)), 0));
        lenient.on_sent(at(100), PACKET);
        assert_eq!(lenient.next_departure(), at(103));
    }

    #[test]
    fn a_new_rate_holds_for_what_is_still_unpaid() {
        let mut pacer = Pacer::new(TimeDelta::ZERO);
        pacer.apply(at(0), &target(1000, Pacing::Factor(1.0), 0));
        pacer.on_sent(at(0), PACKET);
        // At 4 ms half is paid; the other 4 ms at 1 Mbit/s are 8 ms at 0.5 Mbit/s.
        pacer.apply(at(4), &target(500, Pacing::Factor(1.0), 0));
        assert_eq!(pacer.next_departure(), at(12));
        pacer.apply(at(6), &target(500, Pacing::Unpaced, 0));
        assert_eq!(pacer.next_departure(), at(6));
    }

    const BURST: Burst = Burst { time: TimeDelta::from_millis(40), size: DataSize::from_bytes(63_000) };

    /// How many packets of 1000 bytes leave at `now`.
    fn leaving(pacer: &mut Pacer, now: SendTime) -> u32 {
        let mut left = 0;
        while pacer.next_departure() <= now {
            pacer.on_sent(now, PACKET);
            left += 1;
        }
        left
    }

    #[test]
    fn a_burst_leaves_at_once_and_the_next_when_it_is_paid_for() {
        let mut pacer = Pacer::new(TimeDelta::ZERO);
        // 1000 bytes are 8 ms: after five packets 40 ms are unpaid for.
        pacer.apply(at(0), &Target { burst: BURST, ..target(1000, Pacing::Factor(1.0), 0) });
        assert_eq!(leaving(&mut pacer, at(0)), 5);
        assert_eq!(pacer.next_departure(), at(40));
        assert_eq!(leaving(&mut pacer, at(39)), 0);
        assert_eq!(leaving(&mut pacer, at(40)), 5);
    }

    #[test]
    fn a_packet_after_an_empty_queue_begins_another_burst() {
        let mut pacer = Pacer::new(TimeDelta::ZERO);
        pacer.apply(at(0), &Target { burst: BURST, ..target(1000, Pacing::Factor(1.0), 0) });
        assert_eq!(leaving(&mut pacer, at(0)), 5);
        // 24 ms are unpaid for: two packets make it 40.
        pacer.on_queued(at(16));
        assert_eq!(leaving(&mut pacer, at(16)), 2);
        assert_eq!(pacer.next_departure(), at(56));
        let mut plain = Pacer::new(TimeDelta::ZERO);
        plain.apply(at(0), &target(1000, Pacing::Factor(1.0), 0));
        assert_eq!(leaving(&mut plain, at(0)), 1);
        plain.on_queued(at(4));
        assert_eq!(plain.next_departure(), at(8), "without a burst it waits");
    }

    #[test]
    fn a_burst_is_bounded_in_bytes() {
        let mut pacer = Pacer::new(TimeDelta::ZERO);
        // 63 000 bytes are 5 ms at 100 Mbit/s.
        pacer.apply(at(0), &Target { burst: BURST, ..target(100_000, Pacing::Factor(1.0), 0) });
        assert_eq!(leaving(&mut pacer, at(0)), 63);
        // The unpaid bytes of a burst are waited for at any rate.
        pacer.apply(at(0), &Target { burst: BURST, ..target(200_000, Pacing::Factor(1.0), 0) });
        assert_eq!(pacer.next_departure(), SendTime::from_nanos(2_520_000));
        pacer.apply(at(0), &target(200_000, Pacing::Unpaced, 0));
        assert_eq!(pacer.next_departure(), at(0));
    }

    #[test]
    fn padding_fills_what_media_leaves() {
        let mut pacer = Pacer::new(TimeDelta::ZERO);
        pacer.apply(at(0), &target(800, Pacing::Unpaced, 800));
        let padding = DataSize::from_bytes(255);
        // 800 kbit/s is 100 bytes per ms: media of 50 bytes per ms leaves half to padding.
        let mut padded = 0;
        for ms in 1..=1000 {
            while pacer.next_padding(padding).is_some_and(|due| due <= at(ms)) {
                pacer.on_sent(at(ms), padding);
                padded += 255;
            }
            pacer.on_sent(at(ms), DataSize::from_bytes(50));
        }
        assert!((49_000..=50_500).contains(&padded), "padding {padded} of 50 000 bytes");
        let mut none = Pacer::new(TimeDelta::ZERO);
        none.apply(at(0), &target(800, Pacing::Unpaced, 0));
        assert_eq!(none.next_padding(padding), None);
    }

    #[test]
    fn media_ahead_of_the_padding_rate_needs_no_padding() {
        let mut pacer = Pacer::new(TimeDelta::ZERO);
        pacer.apply(at(0), &target(800, Pacing::Unpaced, 800));
        pacer.on_sent(at(0), DataSize::from_bytes(10_000));
        // 10 000 + 255 bytes at 100 bytes per ms.
        assert_eq!(pacer.next_padding(DataSize::from_bytes(255)), Some(SendTime::from_nanos(102_550_000)));
    }
}
