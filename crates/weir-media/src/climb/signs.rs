//! Measurements of a climb: the rate of media, and the rise of the delay.

use weir_cc::SendTime;
use weir_units::{DataRate, DataSize, TimeDelta};

/// Nanoseconds of a part of [`MediaRate`].
const PART: i64 = 100_000_000;
/// Parts of a second, and the present one.
const PARTS: usize = 11;
/// Nanoseconds within which the least delay counts.
const SLOT: i64 = 50_000_000;
/// Nanoseconds of a second.
const SECOND: i64 = 1_000_000_000;

/// Rate of media over the last second, in whole parts of 100 ms.
#[derive(Clone, Debug)]
pub(super) struct MediaRate {
    /// Bytes by the number of the part, modulo the count of parts.
    parts: [u64; PARTS],
    /// Number of the present part, from time zero on.
    present: i64,
}

impl MediaRate {
    pub(super) const NONE: Self = Self { parts: [0; PARTS], present: i64::MIN };

    pub(super) fn add(&mut self, now: SendTime, size: DataSize) {
        self.advance(now);
        let slot = &mut self.parts[index(self.present)];
        *slot = slot.saturating_add(size.bytes());
    }

    pub(super) fn get(&mut self, now: SendTime) -> DataRate {
        self.advance(now);
        let present = index(self.present);
        let whole = self.parts.iter().enumerate().filter(|&(part, _)| part != present);
        let bytes = whole.fold(0_u64, |sum, (_, &bytes)| sum.saturating_add(bytes));
        DataRate::from_bps(bytes.saturating_mul(8))
    }

    fn advance(&mut self, now: SendTime) {
        let part = now.nanos().div_euclid(PART);
        let oldest = part.saturating_sub(PARTS as i64);
        for passed in self.present.max(oldest) + 1..=part {
            self.parts[index(passed)] = 0;
        }
        self.present = self.present.max(part);
    }
}

fn index(part: i64) -> usize {
    part.rem_euclid(PARTS as i64) as usize
}

/// Rise of the delay above its least value of one to two seconds. Of the samples of 50 ms the least counts, because
/// packets of a frame wait for each other.
#[derive(Clone, Debug, Default)]
pub(super) struct DelayRise {
    slot: i64,
    /// The least delay of the present slot.
    least: Option<TimeDelta>,
    second: i64,
    /// The least delays of the present second and of the one before.
    base: [Option<TimeDelta>; 2],
}

impl DelayRise {
    /// Takes a delay; only differences of delays count. Returns the rise of the slot that has ended, if one has. While
    /// `pads`, the second does not advance: a slow rise counts from the delay before padding.
    pub(super) fn on_sample(&mut self, now: SendTime, delay: TimeDelta, pads: bool) -> Option<TimeDelta> {
        let slot = now.nanos().div_euclid(SLOT);
        if slot == self.slot {
            self.least = Some(self.least.map_or(delay, |least| least.min(delay)));
            return None;
        }
        self.slot = slot;
        let least = self.least.replace(delay)?;
        let second = now.nanos().div_euclid(SECOND);
        if !pads && second != self.second {
            let before = self.base[0].filter(|_| second == self.second.saturating_add(1));
            (self.base, self.second) = ([None, before], second);
        }
        let base = self.base.iter().flatten().copied().min();
        if !pads || base.is_none_or(|base| least < base) {
            self.base[0] = Some(self.base[0].map_or(least, |own| own.min(least)));
        }
        base.map(|base| least - base)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sender time of `ms` milliseconds.
    fn at(ms: i64) -> SendTime {
        SendTime::from_millis(ms)
    }

    #[test]
    fn the_rate_is_that_of_the_last_whole_second() {
        let mut rate = MediaRate::NONE;
        assert_eq!(rate.get(at(0)), DataRate::ZERO);
        // 1000 bytes each 20 ms are 400 kbit/s; the present tenth does not count.
        (0..75).for_each(|packet| rate.add(at(20 * packet), DataSize::from_bytes(1000)));
        assert_eq!(rate.get(at(1499)).bps(), 400_000);
        assert_eq!(rate.get(at(1999)).bps(), 240_000);
        assert_eq!(rate.get(at(2600)), DataRate::ZERO);
        rate.add(at(1_000_000), DataSize::from_bytes(1000));
        assert_eq!((rate.get(at(1_000_050)).bps(), rate.get(at(1_000_100)).bps()), (0, 8000));
        // A clock that was set back adds to the present tenth.
        rate.add(at(0), DataSize::from_bytes(1000));
        assert_eq!(rate.get(at(1_000_200)).bps(), 16_000);
    }

    #[test]
    fn the_rise_is_that_of_the_least_delay_of_a_slot_above_the_last_seconds() {
        let ms = TimeDelta::from_millis;
        let mut delay = DelayRise::default();
        let mut rise = |now, of, pads| delay.on_sample(at(now), ms(of), pads);
        assert_eq!([rise(10, 31, false), rise(40, 30, false)], [None, None]);
        assert_eq!(rise(60, 50, false), None, "there is no base yet");
        assert_eq!(rise(110, 34, false), Some(ms(20)), "50 ms above 30");
        assert_eq!(rise(130, 60, true), None);
        assert_eq!(rise(160, 60, true), Some(ms(4)), "34 ms, and not 60");
        // Two seconds later the base is the same while padding goes on, and another one without it.
        assert_eq!(rise(2160, 60, true), Some(ms(30)));
        assert_eq!(rise(2210, 60, false), None, "the last seconds have none");
        assert_eq!(rise(2260, 61, false), Some(ms(0)));
        assert_eq!(rise(2310, 61, true), Some(ms(1)));
    }
}
