//! A TCP sender and receiver without IO, complete enough to compete with media for a bottleneck.
//!
//! Sources: RFC 9293 (the protocol), RFC 5681 (slow start, fast retransmit, delayed acknowledgements), RFC 6582
//! (NewReno recovery), RFC 2018 and RFC 6675 (SACK recovery), RFC 6937 (proportional rate reduction), RFC 3042 (limited
//! transmit), RFC 6298 (retransmission timer), RFC 8985 (RACK and TLP), RFC 9937 (its window in recovery), RFC 5682
//! (F-RTO), RFC 3522 and RFC 3708 (Eifel and D-SACK: spurious reductions), RFC 6928 (initial window), RFC 7323
//! (timestamps), RFC 3168 and RFC 9768 (ECN). Growth and reduction of the window are a
//! [`WindowAlgorithm`](weir_cc::window::WindowAlgorithm) from weir-cc.
//!
//! Divergences, all deliberate:
//! 1. Segments are counted, not bytes: every segment but the last of a transfer is full.
//! 2. The handshake is a SYN and a SYN-ACK; the third packet is the first data segment. There is no FIN.
//! 3. Data flows one way, and the application never pauses: it has everything to send from the beginning.
//! 4. Marks of what was SACKed outlive a timeout, and a retransmission is remembered from one SACK recovery to
//!    the next, so that nothing is sent twice without reason (RFC 6675 §5.1 and §5 step 4.3 would forget).
//! 5. SACK recovery begins as soon as the first outstanding segment is known to be lost, also on the
//!    acknowledgement that ends the recovery before.
//! 6. By default the timer's deviation term is at least 200 ms, as in Linux, instead of 1 s for the whole
//!    timer (RFC 6298 §2.4).
//! 7. Where the timer runs out in recovery, or again for a later segment of the same loss, `ssthresh` comes from
//!    what is in flight (`pipe`, or without SACK all but the segments that duplicates have acknowledged) and not from all that is outstanding (RFC 5681 eq. (4)).
//! 8. Round trips are measured by timestamps on every acknowledgement that advances (RFC 7323 §4), also where
//!    [`TcpConfig::header`](weir_world::tcp::TcpConfig::header) leaves no room for them.
//! 9. Whether ECN is used is agreed beforehand, not in the handshake. With exact counts, retransmissions and data of
//!    any algorithm are ECN-capable (as RFC 8311 §4.3 allows), and the count is 16 bits wide (RFC 9768 §3.2.2 has 3).
//! 10. After idle time the window falls to the initial one (RFC 5681 §4.1) at once; Linux halves it per timeout of idle time.
//!
//! Where losses are found by time, the endpoints are Linux 6's, but for this:
//! 1. The receive window is worked out at either end, by the rules of the kernel's, as acknowledgements carry none.
//! 2. Where segments overtake each other the tolerance is a quarter of the least round-trip time and at most the smoothed one; Linux
//!    lets it grow by as much for each round trip with a D-SACK.
//! 3. Timers go by ticks of 4 ms, those of all hosts at the same time; timestamps are not rounded to milliseconds.
//! 4. The application's writes end no burst: Linux pushes the last segment of each write, too. Retransmissions leave one by one, Linux
//!    sends two that left together again together, and pushes the second. There are no window updates.
//! 5. A delayed acknowledgement waits for ten ticks and the rest of one; in Linux for longer, up to a round trip, where segments come
//!    more than 20 ms apart (on a shared link of 2 Mbit/s 8 % of those that wait).
//! 6. Where 44 acknowledgements wait for each other the kernel sends one at once; it takes 530 Mbit/s for that.
//! 7. Once a probe has proved a loss no older reduction is undone; in Linux a late D-SACK would give back the probe's. It takes a
//!    sender without new data, so that none of the kernel's scenarios (`tests/sim/tcp/kernel.rs`) has it.
//! 8. Of D-SACKs that report more than was retransmitted none acquits a probe; Linux bounds them for the undo alone.
//! 9. A reduction for a timeout that was undone still answers for losses found in its window, where marks count as losses; Linux
//!    reduces for them. Without this, in Reno's stalls on the fast link: goodput 17.46 instead of 17.78 Mbit/s, mean queue 26.4 instead of
//!    29.2 ms (the kernel's: 17.48 and 26.7).

mod bits;
pub(crate) mod chromium;
mod ecn;
mod pacing;
mod prr;
mod rack;
mod receive_window;
mod receiver;
mod rtt;
mod scoreboard;
mod sender;
mod signals;
mod stats;
mod ticks;
mod transfer;

pub use chromium::ChromiumSender;
pub use receiver::TcpReceiver;
pub use sender::{AckResult, TcpSender};
pub use stats::TcpStats;
