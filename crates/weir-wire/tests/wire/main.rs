//! What is written on the wire and read from it.

mod arbitrary_bytes;
mod interoperability;
