//! The two endpoints against each other in simulated time, by their interface alone.

mod asleep;
mod breakers;
mod call;
mod clocks;
mod coupled;
mod detection;
mod examples;
mod feedback;
mod forged;
mod forwarder;
mod key_frames;
mod lying;
mod own_report;
mod pause;
mod probing;
mod receiving;
mod retransmissions;
mod rig;
mod route;
mod sender;
mod session;
mod streams;
mod untimed;
mod wire;
