//! TCP: its endpoints step by step, and its flows on links.

mod behaviour;
mod ecn;
mod goodput;
mod properties;
mod rig;
mod sharing;
