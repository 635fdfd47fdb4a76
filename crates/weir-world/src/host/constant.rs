//! Unresponsive traffic: packets of one size at a rate that may change at given times.

use weir_net::Time;
use weir_units::{DataRate, DataSize};

use super::pauses::Pauses;
use super::{Life, UDP_OVERHEAD, World, packet_meta};
use crate::traffic::Unresponsive;

/// Sends packets as a fluid of the present rate fills them; where the rate rises from zero, a packet leaves at once.
#[derive(Debug)]
pub struct ConstantSource {
    life: Life,
    wire_size: u32,
    payload: u32,
    /// The rates in bit/s, each with the time from which on it holds; pauses are rates of zero.
    changes: Vec<(Time, u64)>,
    /// The next change, and its time; [`Time::MAX`] without one.
    change: usize,
    until: Time,
    /// Present rate in bit/s.
    rate: u64,
    /// Whole nanoseconds between two packets, and the remainder, in 1/rate of a nanosecond.
    interval: u64,
    rest: u64,
    next: Time,
    rests: u64,
}

impl ConstantSource {
    /// Packets of `traffic`, none in the pauses.
    pub fn new(life: Life, traffic: &Unresponsive, pauses: Vec<(Time, Time)>) -> Self {
        let wire_size = u32::try_from(traffic.packet_size.bytes()).unwrap_or(u32::MAX);
        let changes = changes(&traffic.steps, pauses);
        let mut source = Self {
            life,
            wire_size,
            payload: wire_size.saturating_sub(traffic.headers),
            until: changes.first().map_or(Time::MAX, |&(at, _)| at),
            changes,
            change: 0,
            rate: 0,
            interval: 0,
            rest: 0,
            next: life.start,
            rests: 0,
        };
        while source.until <= life.start && source.until < Time::MAX {
            source.take_change();
        }
        if source.rate == 0 {
            source.next = source.start_again();
        }
        source
    }

    /// Packets of one size at one rate, including headers of IPv4 and UDP.
    pub fn steady(life: Life, rate: DataRate, packet_size: DataSize, pauses: Vec<(Time, Time)>) -> Self {
        let steps = vec![(Time::ZERO, rate)];
        Self::new(life, &Unresponsive { steps, packet_size, headers: UDP_OVERHEAD }, pauses)
    }

    /// Time of the first packet.
    pub fn first_wake(&self) -> Time {
        self.next
    }

    /// Sends the packet that is due at `now`. Returns the time of the next call.
    #[inline]
    pub fn wake(&mut self, now: Time, world: &mut impl World) -> Time {
        if now >= self.life.stop {
            return Time::MAX;
        }
        if now < self.next {
            return self.next;
        }
        let meta = packet_meta(now, self.wire_size, self.payload, false);
        world.send_constant(now, self.life.flow, meta);
        self.advance();
        self.next
    }

    /// Advances from the time of a packet to that of the next one.
    #[inline]
    fn advance(&mut self) {
        let rests = self.rests + self.rest;
        let whole = u64::from(rests >= self.rate);
        let due = Time::from_nanos(self.next.nanos().saturating_add(self.interval + whole));
        if due < self.until {
            self.rests = rests - whole * self.rate;
            self.next = due;
        } else {
            self.next = self.across_changes();
        }
    }

    /// The time at which the next packet is full if the rate changes before.
    #[cold]
    fn across_changes(&mut self) -> Time {
        // The part still to be filled, in bits · 10⁻⁹.
        let mut missing = u128::from(self.rests) + u128::from(self.wire_size) * 8_000_000_000;
        let mut from = self.next;
        loop {
            let due = u128::from(from.nanos()) + missing / u128::from(self.rate);
            if due < u128::from(self.until.nanos()) {
                self.rests = (missing % u128::from(self.rate)) as u64;
                return Time::from_nanos(due as u64);
            }
            if self.until == Time::MAX {
                return Time::MAX;
            }
            let filled = u128::from(self.until.nanos() - from.nanos()) * u128::from(self.rate);
            missing = missing.saturating_sub(filled);
            from = self.until;
            self.take_change();
            if self.rate == 0 {
                return self.start_again();
            }
        }
    }

    /// The next time at which the rate is above zero.
    fn start_again(&mut self) -> Time {
        self.rests = 0;
        while self.rate == 0 {
            if self.until == Time::MAX {
                return Time::MAX;
            }
            let at = self.until;
            self.take_change();
            if self.rate > 0 {
                return at;
            }
        }
        Time::MAX
    }

    fn take_change(&mut self) {
        if let Some(&(_, rate)) = self.changes.get(self.change) {
            self.rate = rate;
            let nanobits = u64::from(self.wire_size).saturating_mul(8_000_000_000);
            self.interval = nanobits.checked_div(rate).unwrap_or(0);
            self.rest = nanobits.checked_rem(rate).unwrap_or(0);
            self.change += 1;
        }
        self.until = self.changes.get(self.change).map_or(Time::MAX, |&(at, _)| at);
    }
}

/// The rates with the time from which on each holds, in order: `steps`, and zero in the pauses.
fn changes(steps: &[(Time, DataRate)], pauses: Vec<(Time, Time)>) -> Vec<(Time, u64)> {
    let mut times: Vec<Time> = steps.iter().map(|&(at, _)| at).collect();
    times.extend(pauses.iter().flat_map(|&(from, to)| [from, to]));
    times.sort_unstable();
    times.dedup();
    let mut pauses = Pauses::new(pauses);
    let mut steps = steps.iter().peekable();
    let mut rate = 0;
    let at_each = times.into_iter().map(|at| {
        while let Some((_, step)) = steps.next_if(|step| step.0 <= at) {
            rate = step.bps();
        }
        while pauses.next_due(at).is_some() {}
        (at, if pauses.paused() { 0 } else { rate })
    });
    at_each.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIFE: Life = Life { flow: 0, start: Time::ZERO, stop: Time::MAX };

    fn ms(ms: u64) -> Time {
        Time::from_millis(ms)
    }

    /// The times of the first packets of 1000 bytes, in microseconds.
    fn times(steps: &[(u64, u64)], pauses: &[(u64, u64)], life: Life, packets: usize) -> Vec<u64> {
        let steps = steps.iter().map(|&(at, kbps)| (ms(at), DataRate::from_kbps(kbps))).collect();
        let traffic = Unresponsive { steps, packet_size: DataSize::from_bytes(1000), headers: 28 };
        let pauses = pauses.iter().map(|&(from, to)| (ms(from), ms(to))).collect();
        let mut source = ConstantSource::new(life, &traffic, pauses);
        let next = |_| {
            let at = source.next;
            if at < Time::MAX {
                source.advance();
            }
            at.nanos() / 1000
        };
        (0..packets).map(next).collect()
    }

    #[test]
    fn there_is_none_before_the_first_step() {
        assert_eq!(times(&[(5, 8000)], &[], LIFE, 2), [5000, 6000]);
        let late = Life { start: ms(7), ..LIFE };
        assert_eq!(times(&[(5, 8000)], &[], late, 2), [7000, 8000]);
    }

    #[test]
    fn the_rate_is_kept_to_the_nanosecond_over_any_time() {
        // 8000 bits at 3 Mbit/s are 2 666 666 ns and 2/3: three packets take 8 ms.
        let mut source =
            ConstantSource::steady(LIFE, DataRate::from_mbps(3), DataSize::from_bytes(1000), Vec::new());
        assert_eq!((source.interval, source.rest), (2_666_666, 2_000_000));
        for _ in 0..3000 {
            source.advance();
        }
        assert_eq!(source.next, ms(8000));
        let none = ConstantSource::steady(LIFE, DataRate::ZERO, DataSize::from_bytes(1), Vec::new());
        assert_eq!(none.first_wake(), Time::MAX);
    }

    #[test]
    fn a_packet_that_is_half_full_at_a_step_is_filled_at_the_new_rate() {
        // 8000 bits at 1 Mbit/s: 0, 8 ms; 4 ms later half of the third is there, and 2 Mbit/s fill the other in 2 ms.
        assert_eq!(times(&[(0, 1000), (12, 2000)], &[], LIFE, 5), [0, 8000, 14_000, 18_000, 22_000]);
        // Two steps within a packet: 2 ms at 1, 2 ms at 2 Mbit/s, the last 2000 bits at 500 kbit/s.
        assert_eq!(times(&[(0, 1000), (2, 2000), (4, 500)], &[], LIFE, 3), [0, 8000, 24_000]);
    }

    #[test]
    fn after_a_silence_a_packet_leaves_at_once() {
        assert_eq!(
            times(&[(0, 1000)], &[(9, 100), (105, 200)], LIFE, 6),
            [0, 8000, 100_000, 200_000, 208_000, 216_000]
        );
        assert_eq!(times(&[(0, 0), (50, 1000), (60, 0)], &[], LIFE, 3), [50_000, 58_000, u64::MAX / 1000]);
    }

    #[test]
    fn a_flow_that_starts_later_begins_with_the_rate_of_that_moment() {
        let late = Life { start: ms(20), ..LIFE };
        assert_eq!(times(&[(0, 1000), (10, 2000)], &[], late, 3), [20_000, 24_000, 28_000]);
        assert_eq!(times(&[(0, 1000)], &[(15, 30)], late, 2), [30_000, 38_000]);
    }
}
