//! SCReAM version 2 as Ericsson published it in June 2026. Its reference window grows additively and by a share of
//! itself. L4S marks reduce it as in DCTCP, and queue delay as if it were marks. The window sets the rate directly.

mod averages;
mod config;
mod drain;
mod losses;
mod path;
mod sender;
mod window;

#[cfg(test)]
mod closed_loop;

pub use config::Config;
pub use sender::ScreamV2;

use super::receiver::ScreamReceiver;

impl ScreamReceiver {
    /// The receiver half of version 2: 10 to 1000 reports per second, by the rate that arrives, and one at the end of
    /// each frame.
    pub fn v2() -> Self {
        Self::new(Config::CADENCE)
    }
}
