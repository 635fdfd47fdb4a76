//! When packets were sent, by clocks that they carry: TCP's timestamps, RTP's.

use super::arrival::Arrival;

/// Ticks per second that clocks have: of TCP (RFC 7323 §5.4, and Linux' in µs), and of RTP's audio and video.
const RATES: [f64; 11] =
    [10.0, 100.0, 250.0, 1000.0, 8000.0, 16_000.0, 24_000.0, 44_100.0, 48_000.0, 90_000.0, 1_000_000.0];
/// A clock may seem to differ so much from its rate by what packets wait at the ends.
const SEEMING: f64 = 0.1;
/// Packets and seconds that tell how fast a clock ticks.
const ENOUGH: (u64, f64) = (100, 1.0);
/// The part of a flow's packets that have to tell when they were sent.
const MOST: f64 = 0.5;

/// The clocks of all streams.
#[derive(Debug, Default)]
pub(super) struct Clocks(Vec<Clock>);

#[derive(Clone, Copy, Debug, Default)]
struct Clock {
    /// Time in ns and ticks of its first packet, and of its last.
    first: Option<(i64, i64)>,
    last: (i64, i64),
    packets: u64,
    /// The last ticks as they were told.
    told: u32,
}

impl Clocks {
    /// The ticks since the beginning of `stream` where a packet says `told`.
    pub(super) fn ticks(&mut self, stream: usize, nanos: i64, told: u32) -> i64 {
        if self.0.len() <= stream {
            self.0.resize(stream + 1, Clock::default());
        }
        let clock = &mut self.0[stream];
        let ticks = match clock.first {
            None => 0,
            Some(_) => clock.last.1 + i64::from(told.wrapping_sub(clock.told) as i32),
        };
        clock.first.get_or_insert((nanos, ticks));
        (clock.last, clock.told) = ((nanos, ticks), told);
        clock.packets += 1;
        ticks
    }

    /// How long each packet waited on its way, in s, beyond the least of its stream; none where it does not tell. `None`
    /// where too few tell.
    pub(super) fn waits(&self, arrivals: &[Arrival]) -> Option<Vec<Option<f64>>> {
        let rates: Vec<Option<f64>> = self.0.iter().map(Clock::rate).collect();
        let late = |arrival: &Arrival| {
            let rate = rates.get(arrival.stream as usize).copied().flatten()?;
            Some(arrival.nanos as f64 / 1e9 - arrival.ticks as f64 / rate)
        };
        let mut least = vec![f64::INFINITY; self.0.len()];
        for arrival in arrivals {
            if let Some(late) = late(arrival) {
                let least = &mut least[arrival.stream as usize];
                *least = least.min(late);
            }
        }
        let wait = |arrival: &Arrival| Some(late(arrival)? - least[arrival.stream as usize]);
        let waits: Vec<Option<f64>> = arrivals.iter().map(wait).collect();
        (waits.iter().flatten().count() as f64 >= MOST * waits.len() as f64).then_some(waits)
    }
}

impl Clock {
    fn rate(&self) -> Option<f64> {
        let (nanos, ticks) = self.first?;
        let seconds = (self.last.0 - nanos) as f64 / 1e9;
        let seeming = (self.last.1 - ticks) as f64 / seconds;
        let enough = self.packets >= ENOUGH.0 && seconds >= ENOUGH.1;
        let near = |rate: &&f64| (seeming / **rate - 1.0).abs() < SEEMING;
        let distance = |rate: &f64| (seeming / rate - 1.0).abs();
        RATES
            .iter()
            .filter(near)
            .min_by(|a, b| distance(a).total_cmp(&distance(b)))
            .copied()
            .filter(|_| enough)
    }
}
