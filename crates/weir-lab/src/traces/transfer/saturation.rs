//! How much of the time a path was idle.

use super::arrival::Arrival;

/// So long a wait, in s, is none beyond a packet's own time: clocks tick in ms, and links jitter.
const NO_WAIT: f64 = 0.003;
/// The rate of a busy path is that within so many seconds to each side.
const AROUND: f64 = 0.5;
/// So much busy time, in s, tells a rate.
const TELLING: f64 = 0.05;
/// Where fewer packets than this share waited, no rate of a busy path is known.
const FEW: f64 = 0.05;
/// Steps on each side that a step is compared with, and the share of their middle one below which it is idle.
const NEIGHBOURS: usize = 5;
const FAR_LESS: f64 = 0.25;

/// The share of time in which nothing was under way. `waits` are the waits of packets in s, where they are known.
///
/// A packet that waited found the path busy: the gap before it is what the one before took. From these gaps comes the
/// rate of the path around each time. Before a packet that did not wait, the path was idle for as much of the gap as it
/// would not have needed for the packet at this rate.
pub(super) fn idle_time(arrivals: &[Arrival], waits: &[Option<f64>]) -> f64 {
    let at = |index: usize| arrivals[index].nanos as f64 / 1e9;
    let time = at(arrivals.len() - 1) - at(0);
    let bits: f64 = arrivals.iter().map(|arrival| f64::from(arrival.bytes) * 8.0).sum();
    let longest = arrivals.iter().map(|arrival| f64::from(arrival.bytes) * 8.0).fold(0.0, f64::max);
    let no_wait = NO_WAIT.max(0.001 + longest * time / bits);
    let waited = |index: usize| waits[index].is_some_and(|wait| wait > no_wait);
    let known = waits.iter().flatten().count();
    // Bits and time of all packets before an index that waited.
    let mut busy = vec![(0.0, 0.0)];
    for index in 1..arrivals.len() {
        let (bits, time) = busy[index - 1];
        let more = if waited(index) {
            (f64::from(arrivals[index].bytes) * 8.0, at(index) - at(index - 1))
        } else {
            (0.0, 0.0)
        };
        busy.push((bits + more.0, time + more.1));
    }
    let all = busy[busy.len() - 1];
    let few = (0..arrivals.len()).filter(|&index| waited(index)).count() as f64 <= FEW * known as f64;
    let mut idle = 0.0;
    let (mut from, mut to) = (0, 0);
    for index in 1..arrivals.len() {
        while at(index) - at(from) > AROUND {
            from += 1;
        }
        while to + 1 < arrivals.len() && at(to + 1) - at(index) <= AROUND {
            to += 1;
        }
        if waits[index].is_none() || waited(index) {
            continue;
        }
        let gap = at(index) - at(index - 1);
        let near = (busy[to].0 - busy[from].0, busy[to].1 - busy[from].1);
        let (busy_bits, busy_time) = if near.1 > TELLING { near } else { all };
        let needed = if few { 0.0 } else { f64::from(arrivals[index].bytes) * 8.0 * busy_time / busy_bits };
        idle += (gap - needed).max(0.0);
    }
    idle / time
}

/// The share of steps that have far less than those around them.
pub(super) fn idle_steps(bins: &[u64]) -> f64 {
    let is_idle = |index: &usize| {
        let before = &bins[index.saturating_sub(NEIGHBOURS)..*index];
        let after = &bins[index + 1..(index + 1 + NEIGHBOURS).min(bins.len())];
        let mut around = [before, after].concat();
        around.sort_unstable();
        let middle = around.get(around.len() / 2).copied().unwrap_or_default();
        bins[*index] == 0 || (bins[*index] as f64) < FAR_LESS * middle as f64
    };
    (0..bins.len()).filter(is_idle).count() as f64 / bins.len().max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 1250 bytes each, at these times in ms.
    fn arrivals(millis: impl Iterator<Item = f64>) -> Vec<Arrival> {
        millis.map(|ms| Arrival { nanos: (ms * 1e6) as i64, ticks: 0, bytes: 1250, stream: 0 }).collect()
    }

    #[test]
    fn a_path_whose_packets_wait_is_never_idle_whatever_its_gaps() {
        let bursts = arrivals((0..1000).map(|n| f64::from(n / 10 * 100 + n % 10)));
        assert_eq!(idle_time(&bursts, &vec![Some(0.05); 1000]), 0.0);
    }

    #[test]
    fn before_packets_that_did_not_wait_a_path_is_idle_but_for_their_own_time() {
        // Ten packets, 5 ms each, of which nine wait, each 100 ms: half of the time.
        let bursts = arrivals((0..1000).map(|n| f64::from(n / 10 * 100 + n % 10 * 5)));
        let waits: Vec<_> = (0..1000).map(|n| Some(if n % 10 == 0 { 0.0 } else { 0.1 })).collect();
        let idle = idle_time(&bursts, &waits);
        assert!((idle - 0.5).abs() < 0.01, "{idle}");
    }

    #[test]
    fn where_nobody_waits_the_path_is_idle() {
        let paced = arrivals((0..1000).map(|n| f64::from(n) * 10.0));
        assert!((idle_time(&paced, &vec![Some(0.0); 1000]) - 1.0).abs() < 1e-9);
    }

    #[test]
    fn steps_with_far_less_than_their_neighbours_are_idle() {
        assert_eq!(idle_steps(&[100, 90, 110, 20, 100, 0, 95, 100, 105, 100]), 0.2);
        assert_eq!(idle_steps(&[100, 200, 300, 200, 100]), 0.0);
    }
}
