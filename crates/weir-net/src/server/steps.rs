//! Service at a rate that changes in steps.

use weir_units::DataRate;

use super::Slot;
use crate::service::rates_between;
use crate::time::Time;

/// A server whose rate changes at given times. Departures are whole nanoseconds, rounded up.
#[derive(Clone, Debug)]
pub(super) struct Steps {
    steps: Box<[(Time, DataRate)]>,
    /// The step in which the latest service began.
    current: usize,
}

impl Steps {
    pub(super) fn new(steps: &[(Time, DataRate)]) -> Self {
        Self { steps: steps.into(), current: 0 }
    }

    /// The slot, or `None` if the rate stays zero before the work is done.
    pub(super) fn serve(&mut self, arrival: u64, start: u64, work: u64) -> Option<Slot> {
        while self.beginning(self.current + 1).is_some_and(|at| at <= start) {
            self.current += 1;
        }
        let (departure, rate) = self.departure(start, work)?;
        // The wait excludes the packet's own serialisation, taken at the rate at which its last bit leaves.
        let serialisation = work.div_ceil(rate);
        // At a faster earlier rate, service may have taken less than that.
        Some(Slot { departure, wait: (departure - arrival).saturating_sub(serialisation), position: 0 })
    }

    /// Completion time of `work` nanobits begun at `start` in the current step, and the rate of that moment.
    fn departure(&self, start: u64, work: u64) -> Option<(u64, u64)> {
        let (mut at, mut left) = (start, work);
        for step in self.current..self.steps.len() {
            let rate = self.steps[step].1.bps();
            let end = self.beginning(step + 1).unwrap_or(u64::MAX);
            if rate > 0 {
                let needed = left.div_ceil(rate);
                if needed <= end - at {
                    return Some((at + needed, rate));
                }
                // More time is needed than there is, so the product is below what is left.
                left -= rate * (end - at);
            }
            at = end;
        }
        None
    }

    /// The rate at `now`, which may lie before the latest service.
    pub(super) fn rate_at(&self, now: u64) -> DataRate {
        let begun = self.steps.partition_point(|(start, _)| start.nanos() <= now);
        begun.checked_sub(1).map_or(DataRate::ZERO, |step| self.steps[step].1)
    }

    /// Completion time of `work` nanobits begun at `start`, or `None` if the rate stays zero before they are done.
    /// Calls must have non-decreasing `start`.
    pub(super) fn end_of(&mut self, start: u64, work: u64) -> Option<u64> {
        self.serve(start, start, work).map(|slot| slot.departure)
    }

    fn beginning(&self, step: usize) -> Option<u64> {
        self.steps.get(step).map(|(start, _)| start.nanos())
    }

    /// Work done between two times, in nanobits.
    pub(super) fn done(&self, from: u64, to: u64) -> u64 {
        rates_between(&self.steps, from, to)
            .map(|(rate, span)| rate.saturating_mul(span))
            .fold(0, u64::saturating_add)
    }
}
