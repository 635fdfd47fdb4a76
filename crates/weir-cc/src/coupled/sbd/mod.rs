//! Shared bottleneck detection (SBD): groups of flows that pass the same bottleneck, by the shape of their one-way
//! delays (RFC 8382).
//!
//! Flows through one queue have delays of the same shape, though their base delays, the lags of their paths and the
//! clocks of their receivers differ. Three figures describe the shape, each relative to the flow's own mean delay: its
//! skewness (`skew_est`), its variability (`var_est`) and its oscillation (`freq_est`). Loss (`pkt_loss`) is a fourth.
//! Clock offsets cancel.
//!
//! * [`FlowStatistics`] computes the [`Statistics`](crate::coupled::Statistics) of one flow for each interval `T` from the
//!   fates of its packets. [`ArrivalStatistics`] does so at the receiver, which does not see lost packets, and
//!   [`SegmentStatistics`] for a TCP sender.
//! * [`Grouping`] divides flows into groups by the statistics of one interval (RFC 8382 §3.3.1).
//! * [`Detector`] filters the groupings of single intervals to lasting groups.
//! * [`Detected`] is a coupler with a detector in front of it.
//!
//! Only measured one-way delays can be used, because round-trip times include the noise of the reverse path. Detection
//! finds queues that are mostly full, not queues that active queue management keeps short.
//!
//! **Resolutions**, where RFC 8382 leaves a choice:
//!
//! 1. Intervals are those of the sender's clock, `[k T, (k + 1) T)` of the time of sending. An interval ends with the first
//!    report on a packet that was sent after it. The detector waits for a flow at most two intervals longer than for the
//!    others. A packet whose fate is reported later counts for the loss of its own interval, but is no sample.
//! 2. The test for a bottleneck of a flow comes first, so that its result decides whether this interval counts for
//!    `var_est` and `freq_est` (§4.2). Samples of intervals that do not count are left out of the number of samples of
//!    `var_est`, too. `mean_delay` and `var_est` of a crossing include the interval.
//! 3. An idle path has skew 0, below `c_s`. To pass a bottleneck by its skew, the delay of a flow must also vary by more
//!    than a quarter of the clock's resolution, by its mean absolute deviation over all intervals of the window.
//! 4. `p_l`, without a value in RFC 8382, is 0.1 as in the draft. A pair in which neither flow loses more is not divided by
//!    loss. Neither is one whose losses differ by less than twice the standard deviation of that difference, if the
//!    numbers of packets are known. Step 5 requires a loss that is high enough to be reliable.
//! 5. If the least delay jumps within an interval by more than 1 s, a clock was set, and the history is cleared. The jump
//!    must also exceed 100 times `var_est` and the length of the interval, because a queue may fill as fast as that. The
//!    history is also cleared after more than `M` empty intervals.
//! 6. Before there are `M` intervals, `mean_delay` is the mean of the existing ones.
//! 7. Intervals in which neither flow passes a bottleneck give no verdict on a pair. Nor do those in which only one of them
//!    does, while their skews differ by less than `p_s`, because the threshold lies between two similar flows. If the skews
//!    differ by more, the flows are apart. A pair is judged by the last 60 intervals with a verdict, once there are 20.
//!    After 30 s without any verdict the history is cleared.
//! 8. Coupling is dropped again if it *clearly* raises delay or loss (RFC 8699 §5.1). A rise of the mean queuing delay must
//!    also exceed twice its standard deviation, for which the delays of four intervals count as one. A rise is measured
//!    from the maximum of the last 60 intervals before, because a mean over 10 s rises by half without any coupling if
//!    other traffic comes in bursts. If it is known that neither flow sends a twentieth more than before, there is
//!    another cause.
//! 9. `var_est` is compared as step 3 has it, whose text sorts by the mean of `var_est` over `M` again.
//! 10. RFC 8382 does not define a sample. Of the packets sent in one slot of 50 ms (7 per interval) the first one is a
//!     sample. Packets sent at once wait behind each other. A controller sends most while the queue is short, so that with
//!     every packet as a sample the statistics of a path would depend on the flow's own reaction.
//! 11. A pair joins if it was together in at least half of the intervals with a verdict, and parts below a quarter.
//!     RFC 8382 §3.3 names 90 % as an example. Two calls that share a bottleneck are together in 15 to 76 % of all
//!     intervals, two CUBIC flows in 15 to 76 %, and two flows that share none in at most 7 % (docs/coupling.md,
//!     "Detection").
//! 12. `c_s` is 0.2, the upper end of the range in §2.2. A path whose queue is busy for half of the time then counts, and
//!     not only one whose queue is mostly full.
//!
//! **Divergences** from RFC 8382:
//!
//! 1. The skew between clocks is removed by the line below all delays of the last minute; §5.2 leaves the method open.
//!    Delays of a path's first seconds keep their skew until they leave the window. The line is computed again for every
//!    eighth interval.
//! 2. Low packet rates do not lengthen `T` (§2.2). `interval` must be set so that it contains ten packets.
//! 3. Flows of one five-tuple are one unit. Its statistics are the means of its members' statistics, weighted by their
//!    samples, and not those of the pooled samples.
//! 4. ECN marks do not count as loss (§5.3 leaves it open).
//! 5. `var_est` is of all intervals, not only of those in which the path has a bottleneck (§4.2). Two flows of one
//!    bottleneck differ in these intervals if their skew is near the threshold. Crossings are counted as in §4.2.
//! 6. The messages by which both ends agree on metrics and parameters (§3.1) are part of the application's signalling.

mod arrivals;
mod clock_skew;
mod config;
mod crossings;
mod detected;
mod detector;
mod grouping;
mod identifiers;
mod losses;
mod ring;
mod segments;
mod stability;
mod statistics;
mod unit;
mod weighted;

#[cfg(test)]
mod queues;

pub use arrivals::ArrivalStatistics;
pub use config::{ClockSkewConfig, Config, StabilityConfig};
pub use detected::Detected;
pub use detector::Detector;
pub use grouping::Grouping;
pub use segments::SegmentStatistics;
pub use statistics::FlowStatistics;
