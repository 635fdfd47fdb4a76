//! Shared bottleneck detection (SBD): groups of flows that pass the same bottleneck, by the shape of their one-way
//! delays (RFC 8382).
//!
//! Flows through one queue have delays of the same shape, though their base delays, the lag of their paths and the
//! clocks of their receivers differ. Three figures describe the shape, each about the flow's own mean delay: its
//! skewness (`skew_est`), its variability (`var_est`) and its oscillation (`freq_est`); loss (`pkt_loss`) is a fourth.
//! Clock offsets cancel.
//!
//! * [`FlowStatistics`] computes the [`Statistics`](crate::coupled::Statistics) of one flow, one each interval `T`, by
//!   the fates of its packets. [`ArrivalStatistics`] does so at the receiver, which sees no lost packet, and
//!   [`SegmentStatistics`] for a TCP sender.
//! * [`Grouping`] divides flows into groups by the statistics of one interval (RFC 8382 §3.3.1).
//! * [`Detector`] turns groupings that come and go into lasting groups.
//! * [`Detected`] puts a detector before a coupler.
//!
//! Only measured one-way delays serve: round-trip times include the noise of the reverse path. Detection finds queues
//! that are mostly full, not queues that active queue management keeps short.
//!
//! **Resolutions**, where RFC 8382 leaves room:
//!
//! 1. Intervals are those of the sender's clock, `[k T, (k + 1) T)` of the time of sending. One ends with the first news
//!    of a packet that was sent after it, and the detector waits for a flow at most two intervals longer than for the
//!    others. A packet whose fate is told later counts for loss, in its own interval, but gives no sample.
//! 2. A flow's test for a bottleneck goes before the rest, so that this interval's result decides whether it counts for
//!    `var_est` and `freq_est` (§4.2). Samples of intervals that do not count are left out of `var_est`'s number, too.
//!    `mean_delay` and `var_est` of a crossing include the interval.
//! 3. An idle path has skew 0, below `c_s`. To pass a bottleneck by its skew a flow's delay has to vary by more than a
//!    quarter of the clock's resolution besides, by its mean absolute deviation over all of the window's intervals.
//! 4. `p_l`, without value in RFC 8382, is the draft's 0.1. A pair of which neither loses more is not divided by loss, nor
//!    one whose losses differ by less than twice the standard deviation of that difference, where it is known of how many
//!    packets they are: step 5 asks for loss that is high enough to be reliable.
//! 5. If the least delay leaps within an interval by more than 1 s, or by more than 100 times `var_est` and the
//!    interval's length (a queue may fill as fast as that), a clock was set: all is forgotten. So it is after more than
//!    `M` empty intervals.
//! 6. Before `M` intervals exist `mean_delay` is the mean of those that do.
//! 7. Intervals in which neither flow passes a bottleneck say nothing of a pair: they count neither for nor against it.
//!    Nor do those in which one passes a bottleneck and the other does not, while their skews differ by less than `p_s`:
//!    the threshold lies between flows that are alike. If they differ by more they are apart. A pair is judged by the
//!    last 60 intervals that say something, once there are 20; after 30 s without any, what was known is forgotten.
//! 8. Coupling is dropped again where it *clearly* raises delay or loss (RFC 8699 §5.1): a rise of the mean queuing delay
//!    has to exceed twice its standard deviation, too, for which the delays of four intervals count as one, and a rise is
//!    one above the maximum of the last 60 intervals before: where others come in bursts a mean of 10 s rises by half
//!    of itself without any coupling. Where it is known that neither flow sends a twentieth more
//!    than before, the cause is another.
//! 9. `var_est` is compared as it stands in step 3, whose text sorts by its mean over `M` once more.
//! 10. RFC 8382 does not say what a sample is. Of the packets sent in one slot of 50 ms (7 an interval) the first gives
//!     one. What a flow sends at once waits behind itself; and a law sends most while the queue is short, so that with
//!     every packet's delay the statistics of a path would weigh the flow's own reaction.
//! 11. A pair joins that was together in at least half of the intervals that say something, and parts below a quarter.
//!     RFC 8382 §3.3 names 90 % as an example. Of all intervals two calls that share a bottleneck are together in 15 to
//!     76 %, two CUBIC flows in 15 to 76 %, and two flows that share none in at most 7 % (docs/coupling.md, "Detection").
//! 12. `c_s` is 0.2, the upper end of what §2.2 allows: a path whose queue is busy half of the time counts, and not only
//!     one whose queue is mostly full.
//!
//! **Divergences** from RFC 8382:
//!
//! 1. The skew between clocks is taken out by the line below all delays of the last minute (ours; §5.2 leaves it open).
//!    What a path's first seconds measured keeps its skew until it leaves the window. The line is found anew every
//!    eighth interval.
//! 2. Low packet rates do not lengthen `T` (§2.2): give `interval` a value that holds ten packets.
//! 3. Flows of one five-tuple are one unit. Its statistics are the means of its members', weighted by their samples, not
//!    those of the pooled samples.
//! 4. ECN marks are no loss (§5.3 leaves it open).
//! 5. `var_est` is of all intervals, not only of those in which the path has a bottleneck (§4.2), which two flows of one
//!    bottleneck do not agree on where the skew is near the threshold. Crossings are counted as there.
//! 6. The messages in which both ends agree on metrics and parameters (§3.1) are up to the application's signalling.

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
