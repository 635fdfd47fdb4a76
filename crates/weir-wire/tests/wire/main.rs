//! Round trips of the wire formats.

mod arbitrary_bytes;
mod interoperability;
mod numbers;
mod per_packet;
mod rtcp;
mod rtp;
mod tcp_in_udp;
