//! Rate of media flows beside TCP, against that of as many TCP flows in their places.

use serde::{Deserialize, Serialize};
use weir_measure::metrics::BIN_NANOS;
use weir_measure::results::Value;
use weir_net::Time;

/// Bits of the media flows of a run while all of its TCP flows were active, and the limits of these bits.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(in crate::suite) struct AgainstTcp {
    /// Bits of all media flows together.
    pub(super) carried: f64,
    /// First bin of that time, and the one after the last.
    pub(super) bins: (usize, usize),
    /// Index of each media flow, and the bits that its highest rate allows in that time, if it has one.
    pub(super) media: Vec<(usize, Value)>,
}

impl AgainstTcp {
    /// Ratio in per cent to as many TCP flows, each capped at the highest rate of its call. `received` has the bytes
    /// per bin of each flow in the same run with TCP in place of the media flows.
    pub(in crate::suite) fn value(&self, received: &[Vec<u32>]) -> Value {
        let could = |&(flow, most): &(usize, Value)| {
            let got = received.get(flow).map_or(0.0, |receipts| bits_of_bins(receipts, self.bins));
            got.min(most.unwrap_or(f64::INFINITY))
        };
        let benchmark: f64 = self.media.iter().map(could).sum();
        (benchmark > 0.0).then(|| 100.0 * self.carried / benchmark)
    }
}

/// Bins from one time to another.
pub(super) fn bins((from, to): (Time, Time)) -> (usize, usize) {
    let bin = |time: Time| (time.nanos() / BIN_NANOS) as usize;
    (bin(from), bin(to))
}

/// Bits of the bins from the first to the one before the second.
pub(super) fn bits_of_bins(receipts: &[u32], (from, to): (usize, usize)) -> f64 {
    let bins = receipts.get(from..to).unwrap_or_default();
    bins.iter().map(|&bytes| f64::from(bytes) * 8.0).sum()
}
