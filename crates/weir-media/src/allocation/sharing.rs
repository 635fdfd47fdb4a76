//! Streams of an encoder that share a rate: rules and constants of libwebrtc's `call/bitrate_allocator.cc`.
//!
//! Divergences:
//!
//! 1. A stream with an enforced minimum that had nothing before (the rate was zero) gets its minimum once. libwebrtc
//!    counts it a second time as a stream that resumes.
//! 2. Rates that one stream leaves to others ("elastic" tracks, a field trial) are left out.

use weir_units::DataRate;

use super::margin::SwitchMargin;

/// A stream of an encoder, with its state.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct EncoderStream {
    /// Least useful rate (`min_bitrate_bps`).
    pub min: DataRate,
    /// Rate that is served before streams share by priority, in the order of the list (`priority_bitrate_bps`); zero
    /// if there is none.
    pub target: DataRate,
    /// Highest useful rate (`max_bitrate_bps`). A lower one than the minimum counts as the minimum.
    pub max: DataRate,
    /// Weight for the rate above the minimum (`bitrate_priority`). A weight that is not positive and finite counts as
    /// zero.
    pub priority: f64,
    /// Whether the stream has its minimum at any rate but zero (`enforce_min_bitrate`). Others are paused.
    pub is_min_enforced: bool,
    /// Share of its last rate that went into retransmissions and forward error correction, 0 to 1. The stream needs
    /// its minimum and this share of it.
    pub protection: f64,
    /// Rate allocated before: the state. Zero if it is paused, `None` if it is new.
    pub allocated: Option<DataRate>,
}

impl EncoderStream {
    /// A new stream of these limits, which may be paused, of priority 1.
    pub const fn new(min: DataRate, max: DataRate) -> Self {
        Self {
            min,
            target: DataRate::ZERO,
            max,
            priority: 1.0,
            is_min_enforced: false,
            protection: 0.0,
            allocated: None,
        }
    }

    /// Whether the stream is paused. A new one is not, so that it needs no margin to begin.
    pub fn is_paused(&self) -> bool {
        match self.allocated {
            Some(rate) => rate.is_zero(),
            None => self.min.is_zero(),
        }
    }

    fn most(&self) -> DataRate {
        self.max.max(self.min)
    }

    fn weight(&self) -> f64 {
        if self.priority.is_finite() { self.priority.max(0.0) } else { 0.0 }
    }

    /// Rate that the stream takes on top of `rate`.
    fn capacity(&self, rate: DataRate) -> DataRate {
        self.most().saturating_sub(rate)
    }

    /// Order in which streams that share by weight come to their highest rates: by capacity over weight.
    fn fullness(&self, rate: DataRate) -> u64 {
        // Bits of floats that are not negative have the order of the floats.
        if self.weight() > 0.0 { (self.capacity(rate).bps_f64() / self.weight()).to_bits() } else { u64::MAX }
    }
}

/// Rule by which streams share a rate.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct RateSharing {
    /// Margin above the minimum at which a paused stream resumes.
    pub margin: SwitchMargin,
    /// Most that a stream gets when all have their highest rates, as a multiple of that rate
    /// (`kTransmissionMaxBitrateMultiplier`): room for retransmissions and forward error correction. 1 for media alone.
    pub most_of_max: u32,
}

impl Default for RateSharing {
    /// libwebrtc's constants.
    fn default() -> Self {
        Self { margin: SwitchMargin::default(), most_of_max: 2 }
    }
}

impl RateSharing {
    /// Rate that the stream needs: its minimum, with the margin if it is paused, and its share of protection.
    pub fn needed(&self, stream: &EncoderStream) -> DataRate {
        let min = if stream.is_paused() { self.margin.above(stream.min) } else { stream.min };
        let protected = 0.0 < stream.protection && stream.protection < 1.0;
        let protection = if protected { stream.protection } else { 0.0 };
        // Truncated, as libwebrtc's conversion to a whole number.
        min + DataRate::from_bps((min.bps_f64() * protection) as u64)
    }

    /// Shares `rate` among the streams; `out` has the rate of each afterwards, zero for a paused one. The sum is at
    /// most `rate`, or the sum of the enforced minimums if that is more. The caller keeps the rates in
    /// [`EncoderStream::allocated`].
    ///
    /// 1. All minimums fit, with the margins of paused streams: each stream has its minimum. Targets follow in the
    ///    order of the list, and then priorities share the rest up to the highest rates. A rate beyond these is shared
    ///    evenly up to [`Self::most_of_max`].
    /// 2. Otherwise enforced minimums come first, then streams that are on, and paused ones last, each in the order of
    ///    the list. The rest is shared evenly among streams that are on.
    pub fn share(&self, rate: DataRate, streams: &[EncoderStream], out: &mut Vec<DataRate>) {
        out.clear();
        out.extend(streams.iter().map(|_| DataRate::ZERO));
        if rate.is_zero() || streams.is_empty() {
            return;
        }
        let above = |floor: fn(&EncoderStream) -> DataRate| {
            streams.iter().try_fold(rate.bps(), |left, stream| left.checked_sub(floor(stream).bps()))
        };
        let above_min = above(|stream| stream.min).filter(|&left| {
            // An even share of the rate above the minimums gives each stream its need.
            let each = DataRate::from_bps(left / streams.len() as u64);
            streams.iter().all(|stream| stream.min + each >= self.needed(stream))
        });
        match (above_min, above(EncoderStream::most)) {
            (None, _) => self.share_low(rate, streams, out),
            (Some(left), None | Some(0)) => share_normal(DataRate::from_bps(left), streams, out),
            (Some(_), Some(left)) => {
                for (rate, stream) in out.iter_mut().zip(streams) {
                    *rate = stream.most();
                }
                share_evenly(DataRate::from_bps(left), streams, self.most_of_max.max(1), true, out);
            }
        }
    }

    fn share_low(&self, rate: DataRate, streams: &[EncoderStream], out: &mut [DataRate]) {
        let mut left = rate;
        for (rate, stream) in out.iter_mut().zip(streams).filter(|(_, stream)| stream.is_min_enforced) {
            *rate = stream.min;
            left = left.saturating_sub(stream.min);
        }
        for paused in [false, true] {
            for (rate, stream) in out.iter_mut().zip(streams) {
                let needed = self.needed(stream);
                if !stream.is_min_enforced && stream.is_paused() == paused && left >= needed {
                    *rate = needed;
                    left = left.saturating_sub(needed);
                }
            }
        }
        share_evenly(left, streams, 1, false, out);
    }
}

/// Shares `left` above the minimums.
fn share_normal(mut left: DataRate, streams: &[EncoderStream], out: &mut [DataRate]) {
    for (rate, stream) in out.iter_mut().zip(streams) {
        let more = stream.target.min(stream.most()).saturating_sub(stream.min).min(left);
        *rate = stream.min + more;
        left = left.saturating_sub(more);
    }
    share_by_priority(left, streams, out);
}

/// Shares `left` by priority, up to the highest rates.
fn share_by_priority(mut left: DataRate, streams: &[EncoderStream], out: &mut [DataRate]) {
    let mut weights: f64 = streams.iter().map(EncoderStream::weight).sum();
    let mut place = None;
    // Streams whose part is all that they take.
    while let Some(next) = next_in_order(place, streams.len(), |at| streams[at].fullness(out[at])) {
        let (stream, rate) = (&streams[next.1], &mut out[next.1]);
        let capacity = stream.capacity(*rate);
        let part = stream.weight() / weights * left.bps_f64();
        // A part that is no number is nobody's: no weights are left.
        if part.is_nan() || part < capacity.bps_f64() {
            break;
        }
        let more = capacity.min(left);
        *rate += more;
        left = left.saturating_sub(more);
        weights -= stream.weight();
        place = Some(next);
    }
    // The others share in proportion. Whole numbers are truncated, as libwebrtc's are.
    let whole = left.bps_f64();
    while let Some(next) = next_in_order(place, streams.len(), |at| streams[at].fullness(out[at])) {
        let (stream, rate) = (&streams[next.1], &mut out[next.1]);
        let part = DataRate::from_bps((stream.weight() / weights * whole) as u64);
        let more = part.min(left).min(stream.capacity(*rate));
        *rate += more;
        left = left.saturating_sub(more);
        place = Some(next);
    }
}

/// Shares `left` evenly, up to `most_of_max` times the highest rates; without `paused` only among streams with a rate.
fn share_evenly(
    mut left: DataRate,
    streams: &[EncoderStream],
    most_of_max: u32,
    paused: bool,
    out: &mut [DataRate],
) {
    let mut sharing = out.iter().filter(|rate| paused || !rate.is_zero()).count() as u64;
    let mut place = None;
    while let Some(next) = next_in_order(place, streams.len(), |at| streams[at].most()) {
        place = Some(next);
        let at = next.1;
        if !paused && out[at].is_zero() {
            continue;
        }
        let share = DataRate::from_bps(left.bps() / sharing.max(1));
        let most = DataRate::from_bps(streams[at].most().bps().saturating_mul(u64::from(most_of_max)));
        let rate = (out[at] + share).min(most);
        left = (left.saturating_sub(share) + out[at] + share).saturating_sub(rate);
        out[at] = rate;
        sharing = sharing.saturating_sub(1);
    }
}

/// The place after `place` in rising order of `key`, ties in the order of the list. Lists are short: a search takes the
/// place of a sorted copy.
fn next_in_order<K: Ord + Copy>(
    place: Option<(K, usize)>,
    count: usize,
    key: impl Fn(usize) -> K,
) -> Option<(K, usize)> {
    (0..count).map(|at| (key(at), at)).filter(|&next| place.is_none_or(|place| next > place)).min()
}

#[cfg(test)]
mod tests;
