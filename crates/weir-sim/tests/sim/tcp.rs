//! TCP: its endpoints step by step, and its flows on links.

mod behaviour;
mod bench;
mod by_time;
mod ecn;
mod goodput;
mod hostile;
mod kernel;
mod peer;
mod properties;
mod rig;
mod sharing;
mod timeouts;
