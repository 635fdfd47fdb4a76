//! The path behind a call: capacity where packets queued and a band elsewhere, delay, queue limit, loss, jitter.
//!
//! A packet that was sent before the one ahead of it had been served leaves the bottleneck directly behind it. The
//! bytes of such packets over the gaps between their arrivals are the capacity, or the call's share of it beside
//! other traffic. Where no packet queued, the packets that got through give a lower bound, and the upper end is open.

mod bounds;
mod capacity;
mod counted;
mod crowding;
mod delay;
mod jitter;
mod line;
mod loss;
mod occupancy;
mod packet;
mod path;
mod queue;
mod scenario;
#[cfg(test)]
mod tests;

use weir_world::RecordedCall;

pub use counted::counted_bounds;
pub use path::{
    CapacitySecond, CapacitySummary, DelayEstimate, InferError, InferOptions, InferredPath, JitterEstimate,
    LossEstimate, PathEnd, QueueEstimate, QueueLimit, RatePiece,
};

use crate::clock::require_one_day;
use crate::replay::recorded_rate;
use capacity::ServiceBins;
use line::PacketLine;
use occupancy::QueueOccupancy;

/// Passes over the packets with the capacity of the pass before.
const PASSES: usize = 2;

/// The path that `call` went over.
///
/// # Errors
/// The recording has no packets with times, or too few.
pub fn infer(call: &RecordedCall, options: &InferOptions) -> Result<InferredPath, InferError> {
    require_one_day(call).map_err(|_| InferError::TooLong)?;
    let line = PacketLine::of(call, options)?;
    let (jitter, spread_us) = jitter::estimate(&line);
    let margin = line.resolution_us() + spread_us;
    let mut bins = ServiceBins::of(&line, margin);
    let mut seconds = capacity::seconds(&bins, &line);
    if !line.is_weak() {
        // With the capacity known, the end of each service follows from departures, without the noise of arrivals.
        for _ in 0..PASSES {
            bins = ServiceBins::served_by(&line, margin, line.propagation_us(&seconds), &seconds);
            seconds = capacity::seconds(&bins, &line);
        }
        crowding::mark(&line, margin, &mut seconds);
    }
    bounds::set(&line, &bins, line.resolution_us() + spread_us / 4, options, &mut seconds);
    let propagation = line.propagation_us(&seconds);
    let occupancy = QueueOccupancy::of(&line, propagation);
    let has_figures = seconds.iter().any(|second| second.bps.is_some());
    let losses = loss::causes(&line, &occupancy, has_figures);
    Ok(InferredPath {
        duration_us: call.duration_us.max(line.end_us()),
        delay: delay::delays(call, &line, propagation),
        jitter,
        queue: queue::estimate(&occupancy, &losses),
        loss: losses.random,
        start_bps: recorded_rate(call).first().map(|point| point.bps),
        most_bps: line.most_bps(call),
        is_weak: line.is_weak(),
        seconds,
    })
}
