//! What is written on the wire and read from it.

mod arbitrary_bytes;
mod interoperability;
mod numbers;
mod per_packet;
mod rtcp;
mod rtp;
mod tcp_in_udp;
