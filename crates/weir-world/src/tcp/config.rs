//! Configuration of a pair of TCP endpoints.

use weir_units::{DataSize, TimeDelta};

use crate::tcp::packet::{Acknowledgement, Segment};

/// Use of ECN by a pair of endpoints. The handshake is assumed to have negotiated it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EcnMode {
    /// No ECN.
    #[default]
    Off,
    /// ECT(0) on new data, ECN-Echo until the sender answers with CWR (RFC 3168 §6.1).
    Classic,
    /// ECT(1) on all data, and every acknowledgement has the number of marked segments so far. The counter is that of
    /// RFC 9768 §3.2.2, but wide enough not to wrap around within a window.
    Accurate,
}

/// A pair of TCP endpoints. The default resembles Linux; values out of range are clamped.
#[derive(Clone, Copy, Debug, PartialEq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "independent switches, each of a mechanism with its own RFC"
)]
pub struct TcpConfig {
    /// Payload of a full segment in bytes, at least 1.
    pub mss: u16,
    /// IP and TCP headers in bytes, 52 with timestamps (RFC 7323 §3.2; round trips are measured by timestamps for any
    /// value). Also the size of a pure acknowledgement without SACK.
    pub header: u16,
    /// Initial window in segments, at least 1 (RFC 6928 §2).
    pub initial_window: u32,
    /// Maximum number of outstanding segments (`rwnd`), 1 to 2²⁴; the default is practically no limit.
    pub receive_window: u32,
    /// Retransmission timeout before the first round-trip sample (RFC 6298 §2.1).
    pub initial_rto: TimeDelta,
    /// Lower bound of the retransmission timeout (RFC 6298 §2.4 recommends 1 s).
    pub min_rto: TimeDelta,
    /// Upper bound of the retransmission timeout, also of its backoff, at least `min_rto` (RFC 6298 §2.5).
    pub max_rto: TimeDelta,
    /// Lower bound of the deviation term of the timeout: the `G` of RFC 6298 §2.3. Linux takes its minimum
    /// timeout here, so that the timeout never comes close to the round-trip time.
    pub min_deviation: TimeDelta,
    /// Number of segments arriving in order per acknowledgement, at least 1 (RFC 5681 §4.2).
    pub ack_every: u32,
    /// Maximum delay of an acknowledgement (RFC 5681 §4.2).
    pub ack_delay: TimeDelta,
    /// Selective acknowledgements and recovery by RFC 6675; otherwise RFC 6582.
    pub sack: bool,
    /// Whether the first duplicate acknowledgements allow new segments (RFC 3042).
    pub limited_transmit: bool,
    /// Explicit congestion notification.
    pub ecn: EcnMode,
    /// Proportional rate reduction in recovery (RFC 6937); only with SACK.
    pub prr: bool,
    /// Whether segments are paced, at 2 or 1.2 times the window per round trip (Linux).
    pub pacing: bool,
    /// Whether losses are found by time, also those of retransmissions (RFC 8985 §6), and repaired as in Linux since
    /// 6.17. In recovery lost segments leave, then new ones, with `prr` by RFC 9937. The window opens by all newly
    /// delivered segments, also with the acknowledgement that ends recovery. A timeout in recovery does not reduce
    /// again. Only with SACK.
    pub rack: bool,
    /// Whether tail loss probes are sent, after two round trips without an acknowledgement (RFC 8985 §7). Only with
    /// `rack`.
    pub tlp: bool,
    /// Whether a spurious reduction is undone: by timestamps (RFC 3522), by D-SACK (RFC 3708), and after a spurious
    /// timeout by F-RTO (RFC 5682). Only with `rack`, and not for a coupled sender.
    pub undo: bool,
    /// Whether the receiver reports segments that arrive again (D-SACK, RFC 2883). Only with SACK.
    pub dsack: bool,
    /// Initial receive window in segments, if it is not `receive_window`. From there it grows to twice the data read
    /// per round trip (and more while that grows), up to `receive_window`. While it opens each segment is acknowledged
    /// at once.
    pub initial_receive_window: Option<u32>,
    /// Number of acknowledgements that leave one by one after each segment that arrives again, as at the beginning.
    pub quick_acks_again: u32,
    /// Whether a sender hands bursts to its device and pushes each (`tcp_tso_autosize` and `tcp_tso_should_defer` of
    /// Linux 6.18), and a receiver acknowledges pushed segments at once. Only with `rack`.
    pub offload: bool,
    /// Whether, from the fourth on, acknowledgements of segments out of order wait for each other, for a millisecond or a twentieth
    /// of the round-trip time, whichever is less (`tcp_comp_sack_delay_ns`). Only with SACK.
    pub compress_sacks: bool,
    /// Number of segments at the beginning that are acknowledged one by one (Linux's "quick acknowledgements").
    pub quick_acks: u32,
    /// Recovery without SACK as in ns-3 up to 3.26. At a loss found by duplicates these are subtracted from the flight
    /// size, not the segments sent by limited transmit (RFC 5681 §3.2 step 2). Duplicates for the first segment after a
    /// recovery begin another (RFC 6582 §3.2 step 2 asks for the second). No timeout during the repair after a timeout
    /// reduces `ssthresh` again.
    pub ns3_recovery: bool,
    /// Whether the deviation term of the retransmission timeout is that of Linux, instead of RFC 6298 §2.3. The term
    /// rises at once, and by an eighth as much for samples below the mean. In each round trip it falls once, by a
    /// quarter of the difference.
    pub linux_deviation: bool,
    /// Tick of the hosts' clocks by which timers expire (Linux); zero for exact timers.
    pub tick: TimeDelta,
}

impl Default for TcpConfig {
    fn default() -> Self {
        Self {
            mss: 1448,
            header: 52,
            initial_window: 10,
            receive_window: 1 << 20,
            initial_rto: TimeDelta::from_secs(1),
            min_rto: TimeDelta::from_millis(200),
            max_rto: TimeDelta::from_secs(60),
            min_deviation: TimeDelta::from_millis(200),
            ack_every: 2,
            ack_delay: TimeDelta::from_millis(40),
            sack: true,
            limited_transmit: true,
            ecn: EcnMode::Off,
            prr: false,
            pacing: false,
            rack: false,
            tlp: false,
            undo: false,
            dsack: false,
            initial_receive_window: None,
            quick_acks: 0,
            quick_acks_again: 0,
            offload: false,
            compress_sacks: false,
            ns3_recovery: false,
            linux_deviation: false,
            tick: TimeDelta::ZERO,
        }
    }
}

/// Maximum of `receive_window`. The scoreboards of a connection then take 6 MB, and with `rack` the transmission times
/// of outstanding segments 270 to 400 MB more.
const MAX_RECEIVE_WINDOW: u32 = 1 << 24;

impl TcpConfig {
    /// The recommendations of the RFCs: RFC 5681, RFC 6298, RFC 6675, RFC 6928, RFC 7323.
    pub fn rfc() -> Self {
        Self {
            min_rto: TimeDelta::from_secs(1),
            min_deviation: TimeDelta::from_millis(1),
            ack_delay: TimeDelta::from_millis(500),
            ..Self::default()
        }
    }

    /// Linux 3.16 (2014), without pacing, as that took a special queue then.
    pub fn linux_3_16() -> Self {
        Self {
            max_rto: TimeDelta::from_secs(120),
            prr: true,
            quick_acks: 16,
            linux_deviation: true,
            ..Self::default()
        }
    }

    /// Linux 6.18 (2025), without pacing, as without the `fq` queue.
    pub fn linux_6() -> Self {
        Self {
            rack: true,
            tlp: true,
            undo: true,
            dsack: true,
            initial_receive_window: Some(45),
            quick_acks: 22,
            quick_acks_again: 16,
            offload: true,
            compress_sacks: true,
            tick: TimeDelta::from_millis(4),
            ..Self::linux_3_16()
        }
    }

    /// ns-3.26 (2016): buffers of 131072 bytes, no SACK; its own segments are of 536 bytes.
    pub fn ns3_26(mss: u16) -> Self {
        Self {
            mss,
            initial_window: 1,
            receive_window: 131_072 / u32::from(mss.max(1)),
            initial_rto: TimeDelta::from_secs(3),
            min_rto: TimeDelta::from_secs(1),
            min_deviation: TimeDelta::from_millis(1),
            ack_delay: TimeDelta::from_millis(200),
            sack: false,
            ns3_recovery: true,
            ..Self::default()
        }
    }

    /// The configuration with every value in its range.
    pub fn in_range(self) -> Self {
        Self {
            mss: self.mss.max(1),
            initial_window: self.initial_window.max(1),
            receive_window: self.receive_window.clamp(1, MAX_RECEIVE_WINDOW),
            ack_every: self.ack_every.max(1),
            ..self
        }
    }

    /// The size of `segment` on the wire.
    pub fn segment_size(&self, segment: &Segment) -> DataSize {
        DataSize::from_bytes(u64::from(self.header) + u64::from(segment.payload))
    }

    /// The size of `ack` on the wire: a SACK option takes 2 bytes and 8 per block, padded to 4 (RFC 2018 §3).
    pub fn acknowledgement_size(&self, ack: &Acknowledgement) -> DataSize {
        let blocks = ack.sacks.iter().filter(|block| !block.is_empty()).count() as u64;
        let option = if blocks == 0 { 0 } else { (2 + 8 * blocks).next_multiple_of(4) };
        DataSize::from_bytes(u64::from(self.header) + option)
    }
}

#[cfg(test)]
mod tests {
    use weir_cc::{ArrivalTime, SendTime};

    use super::*;
    use crate::tcp::packet::{SackBlock, Timestamps};

    #[test]
    fn sack_blocks_lengthen_the_acknowledgement() {
        // 52 bytes; one block: 2 + 8 = 10, padded 12; three: 2 + 24 = 26, padded 28.
        let config = TcpConfig::default();
        let block = SackBlock { start: 4, end: 7 };
        let sacks = [SackBlock::EMPTY; 3];
        let stamps = Timestamps::new(SendTime::ZERO, ArrivalTime::ZERO);
        let mut ack = Acknowledgement { cumulative: 0, syn: false, sacks, stamps, ece: false, marked: 0 };
        assert_eq!(config.acknowledgement_size(&ack), DataSize::from_bytes(52));
        ack.sacks[0] = block;
        assert_eq!(config.acknowledgement_size(&ack), DataSize::from_bytes(64));
        ack.sacks = [block; 3];
        assert_eq!(config.acknowledgement_size(&ack), DataSize::from_bytes(80));
    }
}
