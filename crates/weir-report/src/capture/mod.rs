//! Packets on links as pcapng files, as `tshark` or Wireshark would have captured them at the far end of a link.
//!
//! A packet is recorded when it leaves the link, with its ECN field at that time. Packets that the link has lost or dropped are
//! not in the file, and packets that it has marked are marked. Times are those of the simulation, in nanoseconds from its start.
//! Headers are complete and their checksums hold for the whole packet; media and application data are zeros and cut off.
//!
//! The file completes fields that the simulation does not model:
//! 1. The hosts of flow *n*, counted from 0, are 10.x.y.1 (sender) and 10.x.y.2 (receiver). x and y are the upper and the lower
//!    byte of *n*. The flows of a call have the hosts of its first flow. Further clients of a web flow start at 10.x.y.3. RTP has
//!    the ports 5004, RTCP 5005.
//! 2. TCP counts its stream from sequence number 0. Each segment has the simulation's length. A header of 52 bytes (IPv4's
//!    included) holds timestamps, one of 40 bytes no options, and further bytes are no-operations. A SYN carries the options that
//!    fit: timestamps and "SACK permitted", but neither the segment size nor a window scale. Timestamps count milliseconds; those
//!    of data echo nothing.
//! 3. TCP's advertised window is 65535, and connections are never closed.
//! 4. ECN is negotiated by the flags of the SYN (RFC 3168 §6.1.1, RFC 9768 §3.1.1); the simulation presumes the negotiation.
//!    Exact counts are cut to the 3 bits in the header (RFC 9768 §3.2.2).
//! 5. A client's request is one UDP datagram.

mod datagram;
mod monitor;
mod packet;
mod pcapng;
mod ports;

use std::io::{self, Write};

use weir_net::Time;
use weir_world::{RunSpec, WirePacket};

pub use datagram::ip_datagram;
pub use monitor::Captured;
use packet::PacketBytes;
pub use pcapng::PcapNg;
pub use ports::decode_as_entries;

/// Writes the packets that come out of some links.
#[derive(Debug)]
pub struct PacketCapture<W> {
    file: PcapNg<W>,
    /// The number of each link's interface in the file.
    interfaces: Vec<Option<u32>>,
    packets: PacketBytes,
    error: Option<io::Error>,
}

impl<W: Write> PacketCapture<W> {
    /// A capture of `links`, given by their index in `spec`, with an interface for each in that order.
    ///
    /// # Errors
    /// Errors of `out`.
    pub fn new(out: W, spec: &RunSpec, links: &[usize]) -> io::Result<Self> {
        let mut file = PcapNg::new(out)?;
        let mut interfaces = vec![None; spec.links.len()];
        for &link in links {
            let free = interfaces.get_mut(link).filter(|interface| interface.is_none());
            if let (Some(interface), Some(link)) = (free, spec.links.get(link)) {
                *interface = Some(file.interface(&link.name)?);
            }
        }
        Ok(Self { file, interfaces, packets: PacketBytes::new(spec), error: None })
    }

    /// A packet came out of `link`. Every packet of every link should be passed in, as acknowledgements depend on the segments
    /// before them. After an error no more packets are written.
    pub fn packet(&mut self, now: Time, link: usize, packet: &WirePacket<'_>) {
        self.packets.learn(packet);
        let Some(&Some(interface)) = self.interfaces.get(link) else { return };
        if self.error.is_some() {
            return;
        }
        let bytes = self.packets.write(packet);
        let written = bytes.and_then(|(bytes, whole)| self.file.packet(interface, now.nanos(), bytes, whole));
        self.error = written.err();
    }

    /// Ends the capture and returns the complete output.
    ///
    /// # Errors
    /// The first error that occurred.
    pub fn finish(self) -> io::Result<W> {
        match self.error {
            Some(error) => Err(error),
            None => self.file.finish(),
        }
    }
}
