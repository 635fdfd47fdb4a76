//! What media flows carry beside TCP, against what as many TCP flows get in their places.

use serde::{Deserialize, Serialize};
use weir_measure::metrics::BIN;
use weir_measure::results::Value;
use weir_net::Time;

/// What the media flows of a run carried while all of its TCP flows were active, and what they could have.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(in crate::suite) struct AgainstTcp {
    /// Bits, of all of them together.
    pub(super) carried: f64,
    /// The bins of that time, from one to before another.
    pub(super) bins: (usize, usize),
    /// The place of each among all flows, and the bits that its highest rate allows in that time, if it has one.
    pub(super) media: Vec<(usize, Value)>,
}

impl AgainstTcp {
    /// In per cent of what as many TCP flows get, each of them at most the highest rate of its call; `received` is what each flow
    /// received in the same run with TCP in place of the media flows, in bytes per bin.
    pub(in crate::suite) fn value(&self, received: &[Vec<u32>]) -> Value {
        let could = |&(flow, most): &(usize, Value)| {
            let got = received.get(flow).map_or(0.0, |receipts| bits_of_bins(receipts, self.bins));
            got.min(most.unwrap_or(f64::INFINITY))
        };
        let benchmark: f64 = self.media.iter().map(could).sum();
        (benchmark > 0.0).then(|| 100.0 * self.carried / benchmark)
    }
}

/// The bins from one time to another.
pub(super) fn bins((from, to): (Time, Time)) -> (usize, usize) {
    let bin = |time: Time| (time.nanos() / BIN) as usize;
    (bin(from), bin(to))
}

/// Bits of the bins from one to before another.
pub(super) fn bits_of_bins(receipts: &[u32], (from, to): (usize, usize)) -> f64 {
    let bins = receipts.get(from..to).unwrap_or_default();
    bins.iter().map(|&bytes| f64::from(bytes) * 8.0).sum()
}
