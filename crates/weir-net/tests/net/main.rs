//! Tests of the public interface of the network.

mod link;
mod wifi;
