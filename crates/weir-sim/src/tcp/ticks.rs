//! Expiry of timers that run by ticks, as in Linux (`kernel/time/timer.c`). They never expire early, and are coarser
//! the further away they are.

use weir_units::TimeDelta;

/// Number of ticks up to which a timer is exact to a tick (`LVL_START`, `LVL_CLK_SHIFT`). Eight times as far away it is
/// exact to eight, and so on.
const EXACT_TICKS: i64 = 63;

/// Log of the ratio of one level's ticks to the one before (`LVL_CLK_SHIFT`).
const LEVEL_BITS: u32 = 3;

/// Number of levels, beyond which timers get no coarser (`LVL_DEPTH`).
const LEVELS: u32 = 8;

/// The time, since the clock's zero, at which a timer expires that is set at `now` for `delay`. With a tick of zero
/// it is exact.
pub(super) fn expiry(now: TimeDelta, delay: TimeDelta, tick: TimeDelta) -> TimeDelta {
    if tick <= TimeDelta::ZERO {
        return now + delay;
    }
    let (now, delay, tick) = (now.nanos(), delay.nanos().max(0), tick.nanos());
    let ticks = delay / tick + i64::from(delay % tick > 0);
    let level = (0..LEVELS).find(|level| ticks < EXACT_TICKS << (level * LEVEL_BITS)).unwrap_or(LEVELS);
    let shift = level * LEVEL_BITS;
    let end = (((now.div_euclid(tick) + ticks) >> shift) + 1) << shift;
    TimeDelta::from_nanos(end.saturating_mul(tick))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: fn(i64) -> TimeDelta = TimeDelta::from_millis;

    #[test]
    fn without_ticks_timers_are_exact() {
        assert_eq!(expiry(MS(13), MS(40), TimeDelta::ZERO), MS(53));
    }

    #[test]
    fn timers_run_out_with_a_tick_and_never_early() {
        // Set within the third tick of 4 ms, for ten ticks: with the fourteenth at the latest.
        for (now, end) in [(8, 52), (9, 52), (11, 52), (12, 56)] {
            assert_eq!(expiry(MS(now), MS(40), MS(4)), MS(end));
        }
        assert_eq!(expiry(MS(8), MS(38), MS(4)), MS(52), "a begun tick counts whole");
    }

    #[test]
    fn timers_far_off_are_coarser() {
        // 62 ticks are exact to one; 75 to eight: tick 75 becomes the 80th.
        assert_eq!(expiry(MS(0), MS(248), MS(4)), MS(252));
        assert_eq!(expiry(MS(0), MS(300), MS(4)), MS(320));
        // 1000 ticks are exact to 64: the 1024th.
        assert_eq!(expiry(MS(0), MS(4000), MS(4)), MS(4096));
    }

    #[test]
    fn the_sixty_third_tick_is_the_first_that_is_coarser() {
        // Set in tick 1: 62 ticks later is the 63rd, over with the 64th; 63 later is the 64th, and after it comes the
        // 72nd.
        assert_eq!((expiry(MS(4), MS(248), MS(4)), expiry(MS(4), MS(252), MS(4))), (MS(256), MS(288)));
    }
}
