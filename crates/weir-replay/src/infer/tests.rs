//! Tests of the parts on made-up packets.
