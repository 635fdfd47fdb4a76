//! Spatial layers of scalable video: the rule of libwebrtc's `modules/video_coding/svc/svc_rate_allocator.cc`.
//!
//! Divergence: libwebrtc searches the threshold of a layer below the sum of the lower layers' highest rates and the
//! layer's minimum, and asserts that this sum is enough. The split between layers is fixed, so it may not be enough.
//! Here the bound is doubled until it is.

use weir_units::DataRate;

use super::layers::{LayerRates, LayerSwitching, MAX_LAYERS, VideoContent, VideoLayer};

/// Rate of a spatial layer over that of the layer above (`kSpatialLayeringRateScalingFactor`).
const SPATIAL_FACTOR: f64 = 0.55_f32 as f64;

impl LayerSwitching {
    /// Rates of spatial layers at a rate of the stream, after the rates of `before`; `None` for the first allocation.
    /// Each layer's rate is its own, without those below.
    ///
    /// The layers are those from the first active one to the next inactive one, at most [`MAX_LAYERS`]. Each number of
    /// layers has a [rate from which it is possible](Self::svc_threshold). Layers stay on at this rate of `stable`, and
    /// are switched on at [`Self::hysteresis`] times it. `stable` is a rate that varies less than `rate`, if there is
    /// one. The lowest layer is always on.
    ///
    /// * Camera: a layer has 0.55 times the rate of the layer above. The rate above a highest rate goes to the layer
    ///   above.
    /// * Screen: each layer has its target, and the highest the rest, up to its highest rate.
    pub fn svc_rates(
        &self,
        rate: DataRate,
        stable: Option<DataRate>,
        layers: &[VideoLayer],
        before: Option<&LayerRates>,
    ) -> LayerRates {
        let mut result = LayerRates::OFF;
        let (first, active) = active_layers(layers);
        let Some(lowest) = active.first() else { return result };
        let thresholds: [DataRate; MAX_LAYERS] =
            std::array::from_fn(|below| self.threshold(active, below + 1));
        let layers_possible_at = |rate: DataRate| {
            let further = (1..active.len()).take_while(|&below| thresholds[below] <= rate);
            further.count() + 1
        };
        let stable = stable.map_or(rate, |stable| stable.min(rate));
        let before = before.map_or(0, LayerRates::layers_on);
        let with_margin = layers_possible_at(DataRate::from_bps_f64(stable.bps_f64() / self.factor()));
        let number = if with_margin >= before { with_margin } else { before.min(layers_possible_at(stable)) };

        let own = &mut result.rates[first..first + active.len()];
        let number = match self.content {
            VideoContent::Camera => split(rate, &active[..number], own),
            VideoContent::Screen => fill(rate, &active[..number], own),
        };
        // Not even the lowest layer has its minimum: it stays on at the rate that there is.
        if number == 0 {
            own.fill(DataRate::ZERO);
            own[0] = rate.min(lowest.in_order().max);
        }
        result.on[first..first + number.max(1)].fill(true);
        result.is_limited = number.max(1) < active.len();
        result.next = result.is_limited.then(|| thresholds[number.max(1)].scale(self.factor()));
        result
    }

    /// Lowest rate at which `number` of the active layers can be on: for a camera the lowest that gives each of them
    /// its minimum, for a screen the targets of those below the highest and its minimum. Zero if there are fewer.
    pub fn svc_threshold(&self, layers: &[VideoLayer], number: usize) -> DataRate {
        self.threshold(active_layers(layers).1, number)
    }

    fn threshold(&self, active: &[VideoLayer], number: usize) -> DataRate {
        let Some(active) = active.get(..number) else { return DataRate::ZERO };
        let Some((top, below)) = active.split_last() else { return DataRate::ZERO };
        let sum = |rate: fn(VideoLayer) -> DataRate| {
            below.iter().map(|&layer| rate(layer.in_order())).sum::<DataRate>()
        };
        if self.content == VideoContent::Screen || below.is_empty() {
            return sum(|layer| layer.target) + top.min;
        }
        let mut rates = [DataRate::ZERO; MAX_LAYERS];
        // A first bound: the highest rates of the layers below, and the minimum of the highest layer.
        let (mut too_low, mut enough) = (sum(|layer| layer.min), sum(|layer| layer.max) + top.min);
        while enough < DataRate::MAX && split(enough, active, &mut rates) < number {
            (too_low, enough) = (enough, enough + enough);
        }
        while enough.saturating_sub(too_low) > DataRate::from_bps(1) {
            let middle = DataRate::from_bps(too_low.bps().midpoint(enough.bps()));
            if split(middle, active, &mut rates) == number {
                enough = middle;
            } else {
                too_low = middle;
            }
        }
        enough
    }
}

/// The layers from the first active one to the next inactive one, and the place of the first.
fn active_layers(layers: &[VideoLayer]) -> (usize, &[VideoLayer]) {
    let layers = &layers[..layers.len().min(MAX_LAYERS)];
    let first = layers.iter().position(|layer| layer.is_active).unwrap_or(layers.len());
    let number = layers[first..].iter().take_while(|layer| layer.is_active).count();
    (first, &layers[first..first + number])
}

/// Splits `rate` over the layers by powers of [`SPATIAL_FACTOR`]. Returns the number of layers below the first whose
/// minimum is not reached.
fn split(rate: DataRate, layers: &[VideoLayer], out: &mut [DataRate]) -> usize {
    let power = |at: usize| (0..at).fold(1.0, |power, _| power * SPATIAL_FACTOR);
    let sum: f64 = (0..layers.len()).map(power).sum();
    let (mut left, mut excess) = (rate, DataRate::ZERO);
    for (at, (layer, out)) in layers.iter().zip(&mut *out).enumerate() {
        let layer = layer.in_order();
        let above = layers.len() - 1 - at;
        // Rounded twice, as in the source: thresholds then agree to the bit. The highest layer has the rest.
        let rounded = DataRate::from_bps_f64(rate.scale(power(above)).bps_f64() / sum);
        let part = if above == 0 { left } else { rounded.min(left) };
        left = left.saturating_sub(part);
        let part = part + excess;
        if part < layer.min {
            return at;
        }
        *out = part.min(layer.max);
        excess = part.saturating_sub(*out);
    }
    layers.len()
}

/// Fills the layers up to their targets, from the lowest, and the highest of them up to its highest rate. Returns the
/// number of layers with a rate.
fn fill(rate: DataRate, layers: &[VideoLayer], out: &mut [DataRate]) -> usize {
    let mut left = rate;
    let mut number = 0_usize;
    for (layer, out) in layers.iter().zip(&mut *out) {
        if left < layer.min {
            break;
        }
        *out = layer.in_order().target.min(left);
        left = left.saturating_sub(*out);
        number += 1;
    }
    if let Some(top) = number.checked_sub(1) {
        out[top] = (out[top] + left).min(layers[top].in_order().max);
    }
    number
}

#[cfg(test)]
mod tests;
