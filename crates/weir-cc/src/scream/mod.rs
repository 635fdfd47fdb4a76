//! SCReAM, Self-Clocked Rate Adaptation for Multimedia: RFC 8298 ([`v1`]) and its second version ([`v2`]).
//!
//! A window in the manner of LEDBAT bounds the bytes in flight and keeps the queue delay near a target;
//! acknowledgements clock the packets out. The rate of the encoder follows: it probes upwards while the queue delay
//! shows no trend, and otherwise falls back to the rate that the path carries. A backlog in the RTP queue lowers
//! it. The receiver only reports the fates of packets; everything is decided at the sender.
//!
//! Version 2 drops the fast increase. Its reference window, which the bytes in flight may exceed, grows by a packet
//! per round trip and a share of itself. L4S marks lower it in proportion to their share, and queue delay lowers it
//! like marks. The window sets the encoder's rate directly.
//!
//! Sources: RFC 8298 (December 2017), and for version 2 `ScreamV2Tx` of EricssonResearch/scream at its state of 30
//! June 2026 (commit c8f84c3), which is later than draft-johansson-ccwg-rfc8298bis-screamv2-07. Where the RFC
//! leaves something open, its authors' reference implementation at its state of May 2018 (*ref-2018*) is followed
//! if nothing else is said. Blocks: bytes in flight, round-trip time, queue delay, the queue-delay target under
//! competition. [`v1`] composes them with the loss detection, the trend, the window and the media rate control of
//! the RFC, [`v2`] with the loss share, the averages and the reference window of its own. Every constant is in the
//! version's `Config`; the bounds of the target bitrate are the [`RateLimits`](crate::RateLimits).
//!
//! Deliberate divergences and readings of what the sources leave open:
//!
//! 1. Rates count payload, as all rates of Weir do: target, transmitted, acknowledged and produced rate. The RFC's
//!    target includes headers, which the application has to subtract. Windows and bytes in flight count RTP
//!    packets with their headers. The pacing rate comes from the window, and Weir's pacer charges payload: packets
//!    leave faster by the share of the header, 1 to 2 %.
//! 2. Bytes in flight are those sent after the highest acknowledged packet (RFC 8298 §4.1.2), as the endpoint's
//!    [history](crate::history::SendHistory) counts them too.
//! 3. Feedback has the fate of each packet once ([`Feedback::Packets`](crate::Feedback::Packets)) instead of the
//!    RFC's loss run-lengths and a counter of marks; its cadence is the RFC's, by the payload received in the last
//!    half second.
//! 4. The reordering window begins at 0, grows to the largest lateness seen, up to a round-trip time as in RFC
//!    8985, and does not shrink. RFC 8298 §4.1.2.4 gives no first value and no bound. At most 128 missing packets
//!    are watched; of more the oldest is lost at once.
//! 5. `loss_event_rate` moves by 1 % per round trip (ref-2018); the RFC defines it in words only. The same for
//!    `target_bitrate_last_max`: the largest of three values of `min(current_rate, target_bitrate)`, taken at loss
//!    and ECN events and at the end of fast increase, at least 2 s apart.
//! 6. Outside fast increase the target moves by the *difference* between what the path showed and itself
//!    (ref-2018). As RFC 8298 §4.1.3 is printed the rate itself is added and the target can only rise to its limit;
//!    [`Increment`](v1::Increment) selects that form. A consequence of the difference: while the encoder fills its
//!    target exactly, the rate rises in fast increase only.
//! 7. `rtp_queue_size` is the least size of the interval: a frame that was captured a moment ago and is about to
//!    leave is not a queue that must be drained. The queue is the endpoint's; the controller never discards it (a
//!    SHOULD of §4.1.3).
//! 8. A packet may leave when the send window holds it whole, not when the window is above 0; an endpoint with
//!    nothing in flight may always send. Before the first round-trip time packets leave at the start rate. However
//!    small the window is, it lets the lowest rate of the limits through, and some headroom in which what waits leaves
//!    (so does `isAutoTuneMinCwnd` of Ericsson's implementation, off unless asked for): beside CUBIC in a queue of 1 s,
//!    with a lowest rate of 150 kbit/s, RFC 8298 carries 163 kbit/s instead of 20 and its median frame delay is 0.9 s
//!    instead of 40; version 2 carries 162 instead of 136, at 0.9 s instead of 8.8.
//! 9. One second without feedback halves window and rate, and so does each further second. Meanwhile the window is
//!    open and packets leave at `RATE_PACE_MIN`, or at the lowest rate of the limits if that is higher: RFC 8298 §1
//!    and §8 ask for a minimum rate and give no rule. The clock runs while packets are in flight, anew from each
//!    feedback; after a halving it counts on only if something leaves.
//! 10. The five seconds after which fast increase resumes begin again at each reaction to congestion (ref-2018). A
//!     loss and a mark within a round-trip time are the same congestion and get one reaction, that to the first of
//!     them (ref-2018, RFC 3168 §6.1.2); RFC 8298 §4.1.2.4 limits each kind by itself.
//! 11. An interval in which nothing was sent, acknowledged or queued changes nothing: an idle flow does not climb.
//! 12. A queue delay of 10 s or more is a clock that was set: the base delay is learnt anew. A round-trip time
//!     counts as 0.1 ms at least and 10 s at most.
//! 13. A change of route begins everything anew, at the start rate at most; packets sent before are no evidence on the
//!     new route.
//!
//! A consequence of the sources' own rules, not of this implementation: a flow that begins beside a standing queue
//! mistakes it for propagation delay. Of several flows the youngest gets most, as with LEDBAT. The base delay is
//! renewed as RFC 6817 has it, over ten minutes. ref-2018 drops it when the queue never empties, which the RFC does
//! not, but version 2 does (19). Nor does the first compensate for skew. Where the receiver's clock is 50 ppm fast,
//! ten minutes are 30 ms, at which the trend's threshold of a fifth of the target ends fast increase. From the
//! tenth minute on a flow alone has 1.3 to 2.9 of 3 Mbit/s by the minute (2.4 in the last two of an hour). A slow
//! clock costs nothing.
//!
//! Divergences of version 2 alone. Its oracle is the C++'s reaction to 36 minutes of feedback (`data/scream-2026`):
//!
//! 14. Before the first round-trip time there is no reference window: packets leave at 1.5 times the start rate.
//!     The first round-trip time makes it the window of the start rate. The C++ begins with a window of given size and
//!     50 ms of round trip, which set a first rate that has nothing to do with the start rate.
//! 15. A CE mark is one of L4S if the last packet without a mark came as ECT(1), else a classic one. The C++ is
//!     configured for one of them. `l4s_alpha` begins at 0, there at 0.1.
//! 16. The controller does not know where frames end. So the window and the rate are updated each 30 ms or round trip,
//!     not at each frame besides; and the pacing rate has no share for frames above the average size.
//! 17. A loss event is answered once in a round trip, whatever the window did about queue delay meanwhile. In the C++ a
//!     reaction to delay begins that round trip anew: in a long queue, with such a reaction each 30 ms, it never answers
//!     a loss ([`v2::Config::delay_puts_off_loss`]).
//! 18. A round trip leaves the time at the receiver out where the report says it. Window and target are not kept from
//!     growing by what the RTP queue holds, and the queue is never discarded: it is the endpoint's.
//! 19. A queue that never empties is drained by the C++'s rule: a slow average of the least queue delay above an eighth
//!     of the target gives the encoder half of the rate for five round trips, 100 ms at least, each 60 s at most; then the
//!     base delay is learnt anew. The base delay itself is kept as by version 1, over ten minutes instead of 500 s. It is learnt
//!     anew, too, where a longer path or a clock that was set shows as it does to [NADA](crate::nada), divergence 13 there
//!     ([`v2::Config::believes_steps`]).
//! 20. The queue-delay target under competition is that of RFC 8298 §4.1.2.3. [`v2::Config::compensation`] is off, as in
//!     the C++.
//!
//! libwebrtc has an implementation of its own, which differs in losses above all. That one counts round trips with
//! a loss, and reduces its window after three in a row. The C++ does so from a share of 1 % of the packets on.

pub mod v1;
pub mod v2;

mod competition;
mod delay;
mod in_flight;
mod loss;
mod network;
mod receiver;
mod recent_max;

#[cfg(test)]
mod fixture;
#[cfg(test)]
mod properties;

pub use receiver::ScreamReceiver;

use weir_units::TimeDelta;

use crate::time::SendTime;

/// `bytes` scaled by coupling's `factor`.
fn scaled(bytes: u64, factor: f64) -> u64 {
    if factor == 1.0 { bytes } else { libm::round(bytes as f64 * factor) as u64 }
}

/// Whether `span` has passed since `since`: also if it never was, and if the clock was set back to before it.
fn passed(now: SendTime, since: Option<SendTime>, span: TimeDelta) -> bool {
    since.is_none_or(|since| now < since || now - since >= span)
}
