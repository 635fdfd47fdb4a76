//! The network as its users see it.

mod link;
mod wifi;
