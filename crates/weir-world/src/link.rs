//! Links, and the cells that carry some of them.

use weir_net::{LinkConfig, WifiConfig, WifiLink};

/// A directed link.
#[derive(Clone, Debug)]
pub struct LinkSpec {
    /// Name, also the name of its random stream.
    pub name: String,
    /// Rate, queue, delay, jitter, loss.
    pub config: LinkConfig,
    /// Whether waiting here counts as a packet's queuing delay (`queue_wait`).
    pub bottleneck: bool,
}

impl LinkSpec {
    /// A link where waiting counts as queuing delay.
    pub fn bottleneck(name: &str, config: LinkConfig) -> Self {
        Self { name: name.to_owned(), config, bottleneck: true }
    }

    /// A link where waiting does not count.
    pub fn new(name: &str, config: LinkConfig) -> Self {
        Self { name: name.to_owned(), config, bottleneck: false }
    }
}

/// A Wi-Fi cell and its links. These have no server of their own, and the cell ignores their configuration.
#[derive(Clone, Debug)]
pub struct CellSpec {
    /// Name, also the name of its random stream.
    pub name: String,
    /// Common configuration of its links.
    pub config: WifiConfig,
    /// Its links: the index of each among all links, and its configuration in the cell. A link is in one cell at most.
    pub links: Vec<(usize, WifiLink)>,
}
