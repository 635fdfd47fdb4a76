//! SCReAM as RFC 8298 has it: a window that keeps the queue delay near its target, and a media rate that follows.

mod config;
mod path;
mod rate;
mod sender;
mod trend;
mod window;

#[cfg(test)]
mod closed_loop;

pub use config::{Config, Increment};
pub use sender::Scream;

use super::receiver::ScreamReceiver;

impl ScreamReceiver {
    /// The receiver half of RFC 8298: 2.5 to 50 reports per second, by the rate that arrives.
    pub fn v1() -> Self {
        Self::new(Config::CADENCE)
    }
}
