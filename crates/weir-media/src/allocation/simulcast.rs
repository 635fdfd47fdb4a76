//! Layers of simulcast: the rule of libwebrtc's `modules/video_coding/utility/simulcast_rate_allocator.cc`.
//!
//! Divergence: the lowest active layer is on without a margin, also when it has just become active. In libwebrtc it
//! has the same rate then, but counts as off in the next allocation.

use weir_units::DataRate;

use super::layers::{LayerRates, LayerSwitching, MAX_LAYERS, VideoLayer};

impl LayerSwitching {
    /// Rates of simulcast layers at a rate of the stream, after the rates of `before`; `None` for the first allocation,
    /// which has no hysteresis. Layers beyond [`MAX_LAYERS`] are off.
    ///
    /// Layers go in the order of their highest rates. A layer is on while the stable rate left by the targets of those
    /// below covers its minimum. To be switched on, it needs the minimum times [`Self::hysteresis`], at most its
    /// target. Each layer has its target or the rest, and the highest one the remainder up to its highest rate.
    /// `stable` is a rate that varies less than `rate`, if there is one.
    ///
    /// The lowest active layer has its minimum at any rate. [`RateSharing`](super::RateSharing) pauses streams.
    pub fn simulcast_rates(
        &self,
        rate: DataRate,
        stable: Option<DataRate>,
        layers: &[VideoLayer],
        before: Option<&LayerRates>,
    ) -> LayerRates {
        let mut result = LayerRates::OFF;
        let mut order: [usize; MAX_LAYERS] = std::array::from_fn(|at| at);
        let order = &mut order[..layers.len().min(MAX_LAYERS)];
        order.sort_unstable_by_key(|&at| (layers[at].max, at));
        let active = order.iter().filter(|&&at| layers[at].is_active);
        let Some(&lowest) = active.clone().next() else { return result };

        let least = layers[lowest].min;
        let mut left = rate.max(least);
        let mut stable_left = stable.map_or(rate, |stable| stable.min(rate)).max(least);
        let mut below = DataRate::ZERO;
        let mut top = lowest;
        for &at in active {
            let layer = layers[at].in_order();
            let is_new = at != lowest && before.is_some_and(|before| !before.on[at]);
            let to_switch_on = layer.min.scale(self.factor()).min(layer.target);
            if stable_left < if is_new { to_switch_on } else { layer.min } {
                (result.is_limited, result.next) = (true, Some(below + to_switch_on));
                break;
            }
            top = at;
            result.on[at] = true;
            result.rates[at] = left.min(layer.target);
            left = left.saturating_sub(result.rates[at]);
            stable_left = stable_left.saturating_sub(layer.target);
            below += layer.target;
        }
        let most = layers[top].in_order().max;
        result.rates[top] = (result.rates[top] + left).min(most);
        result
    }
}

#[cfg(test)]
mod tests;
