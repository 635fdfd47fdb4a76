//! RTP and RTCP of one port.

use weir_cc::{ArrivalTime, Ecn};
use weir_wire::rtp::{self, Kind};

use super::endpoint::ReceivingEndpoint;
use super::received::ReceivedPacket;
use super::refusal::ReceivingError;

impl ReceivingEndpoint {
    /// A datagram has come on a port that carries RTP and RTCP (RFC 5761): [`Self::on_rtcp`] or [`Self::on_packet`], by
    /// its first bytes. RTCP returns `None`.
    ///
    /// # Errors
    /// As these two.
    pub fn on_datagram(
        &mut self,
        now: ArrivalTime,
        bytes: &[u8],
        ecn: Ecn,
    ) -> Result<Option<ReceivedPacket>, ReceivingError> {
        if rtp::demux(bytes) == Some(Kind::Rtcp) {
            return self.on_rtcp(now, bytes).map(|()| None);
        }
        self.on_packet(now, bytes, ecn)
    }
}
