//! The capacity of a path from the packets of a transfer that filled it.

mod arrival;
mod arrivals;
mod choice;
mod clocks;
mod copies;
mod losses;
mod saturation;

use std::path::Path;

use weir_net::Trace;

use super::asked::{Asked, Finding};
use super::error::FormError;
use super::rates::{LONGEST, RateFrom, trace_of};
use arrival::Arrival;
use arrivals::Arrivals;

/// The share of time that a path may be idle in a transfer that is taken for one that filled it.
const MOST_IDLE: f64 = 0.2;
/// Below this share the path was full for certain.
const HARDLY_IDLE: f64 = 0.02;
/// Fewest packets and least time, in s, that tell something.
const FEWEST: usize = 100;
const SHORTEST: f64 = 1.0;
/// Least length of a step, in s, and least number of packets that it has on average.
const STEP: f64 = 0.1;
const PACKETS_PER_STEP: f64 = 8.0;
/// Rates rise at first: a step is of the beginning while it has less than this share of the middle one of so many after it.
const RISEN: f64 = 0.75;
const AFTERWARDS: usize = 20;

/// What a capture tells of a path.
#[derive(Debug)]
pub(super) struct Captured {
    /// Its rates; the last is 0.
    pub(super) rates: Vec<RateFrom>,
    pub(super) trace: Trace,
    /// Least round trip in seconds.
    pub(super) round_trip: Option<f64>,
    /// Share of what was sent.
    pub(super) loss: Option<f64>,
    /// The longest wait of a packet in seconds, where packets tell when they were sent.
    pub(super) longest_wait: Option<f64>,
    /// Whether the path could have carried more: the transfer left it idle for a part of the time.
    pub(super) is_lower_bound: bool,
}

/// Reads the capture at `path`.
///
/// # Errors
/// It cannot be read; which flow is meant is not clear; the transfer did not fill the path.
pub(super) fn read(path: &Path, asked: &Asked, findings: &mut Vec<Finding>) -> Result<Captured, FormError> {
    let chosen = choice::choose(path, asked, findings)?;
    let Arrivals { all: arrivals, clocks, round_trip, loss } = Arrivals::read(path, &chosen, findings)?;
    let seconds = |arrival: &Arrival| arrival.nanos as f64 / 1e9;
    let end = arrivals.last().map_or(0.0, seconds);
    enough(arrivals.len(), end)?;
    if end > LONGEST {
        return Err(FormError::whole(format!(
            "its times lie {end:.0} s apart, and {LONGEST} is the most; cut it with `editcap`"
        )));
    }
    let step = step(arrivals.len(), end);
    let bins = bins(&arrivals, step, end)?;
    let begin = beginning(&bins);
    let from = (begin as f64 * step * 1e9) as i64;
    let counted = &arrivals[arrivals.partition_point(|arrival| arrival.nanos < from)..];
    enough(counted.len(), end)?;
    let Saturation { longest_wait, is_lower_bound } = saturated(counted, &clocks, &bins[begin..], findings)?;
    if begin > 0 {
        let is = format!("from {:.1} s on", begin as f64 * step);
        findings.push(Finding::guess("beginning", is, "the rate rises until then"));
    }
    findings.push(Finding::sure("steps", format!("{step:.1} s"), "whole tenths with 8 packets on average"));
    let rate = |(index, bytes): (usize, &u64)| RateFrom {
        seconds: tenths(index as f64 * step),
        bits_per_second: (*bytes as f64 * 8.0 / step).round(),
    };
    let mut rates: Vec<RateFrom> = bins[begin..].iter().enumerate().map(rate).collect();
    rates.push(RateFrom { seconds: tenths(rates.len() as f64 * step), bits_per_second: 0.0 });
    let trace = trace_of(&rates, |_, problem| FormError::whole(problem))?;
    Ok(Captured { rates, trace, round_trip, loss, longest_wait, is_lower_bound })
}

/// A gap that has more than half of the time, and what can be done about it.
fn pause(arrivals: &[Arrival]) -> String {
    let gap = |pair: &&[Arrival]| pair[1].nanos - pair[0].nanos;
    let (Some(first), Some(last)) = (arrivals.first(), arrivals.last()) else { return String::new() };
    match arrivals.windows(2).max_by_key(gap) {
        Some(pair) if 2 * gap(&pair) > last.nanos - first.nanos => format!(
            ". Most of the time is one gap, from {:.1} s to {:.1} s: a pause, or the clock was set forward; cut the file there \
             with `editcap`",
            pair[0].nanos as f64 / 1e9,
            pair[1].nanos as f64 / 1e9
        ),
        _ => String::new(),
    }
}

fn enough(packets: usize, seconds: f64) -> Result<(), FormError> {
    if packets < FEWEST || seconds < SHORTEST {
        let problem = format!(
            "{packets} packets in {seconds:.3} s say too little; record {FEWEST} packets and {SHORTEST} s at least"
        );
        return Err(FormError::whole(problem));
    }
    Ok(())
}

fn tenths(seconds: f64) -> f64 {
    (seconds * 10.0).round() / 10.0
}

/// The length of a step in s, whole tenths.
fn step(packets: usize, seconds: f64) -> f64 {
    let needed = PACKETS_PER_STEP * seconds / packets as f64;
    tenths((needed / STEP).ceil().max(1.0) * STEP)
}

/// The bytes of each whole step.
fn bins(arrivals: &[Arrival], step: f64, end: f64) -> Result<Vec<u64>, FormError> {
    let count = (end / step) as usize;
    if count > super::error::MOST_BINS as usize {
        return Err(FormError::whole("it is too long; cut it with `editcap`"));
    }
    let mut bins = vec![0; count];
    for arrival in arrivals {
        if let Some(bin) = bins.get_mut((arrival.nanos as f64 / 1e9 / step) as usize) {
            *bin += u64::from(arrival.bytes);
        }
    }
    Ok(bins)
}

/// How many steps the beginning has; not more than a fifth of all.
fn beginning(bins: &[u64]) -> usize {
    let risen = |index: &usize| {
        let mut after = bins[index + 1..].iter().take(AFTERWARDS).copied().collect::<Vec<_>>();
        after.sort_unstable();
        after.get(after.len() / 2).is_none_or(|&middle| bins[*index] as f64 >= RISEN * middle as f64)
    };
    (0..bins.len() / 5).find(risen).unwrap_or(0)
}

/// How far a transfer filled its path.
struct Saturation {
    longest_wait: Option<f64>,
    is_lower_bound: bool,
}

/// Refuses what did not fill the path, and says whether it was full or what went through is a lower bound.
fn saturated(
    arrivals: &[Arrival],
    clocks: &clocks::Clocks,
    bins: &[u64],
    findings: &mut Vec<Finding>,
) -> Result<Saturation, FormError> {
    let waits = clocks.waits(arrivals);
    let (idle, how) = match &waits {
        Some(waits) => {
            (saturation::idle_time(arrivals, waits), "by when packets were sent and how long they waited")
        }
        None => (
            saturation::idle_steps(bins),
            "by steps with far less than those around them; nothing tells when packets were sent",
        ),
    };
    let percent = 100.0 * idle;
    if idle.is_nan() || idle > MOST_IDLE {
        let problem = format!(
            "the transfer did not fill the path: {percent:.0} % of the time it was idle ({how}), and {:.0} % is the most. What \
             went through is not what could have; record a bulk transfer, such as `iperf3`{}",
            100.0 * MOST_IDLE,
            pause(arrivals)
        );
        return Err(FormError::whole(problem));
    }
    let is_lower_bound = waits.is_none() || idle > HARDLY_IDLE;
    findings.push(if is_lower_bound {
        let is = format!("not always full, idle {percent:.1} % of the time: the rates are a lower bound");
        Finding::guess("path", is, how)
    } else {
        Finding::sure("path", format!("full, idle {percent:.1} % of the time"), how)
    });
    let longest_wait = waits.map(|waits| waits.into_iter().flatten().fold(0.0, f64::max));
    Ok(Saturation { longest_wait, is_lower_bound })
}

#[cfg(test)]
mod tests;
