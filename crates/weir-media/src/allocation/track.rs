//! A track that a forwarder sends on, with the measured rates of its layers.

use weir_units::DataRate;

use super::layers::MAX_LAYERS;

/// Largest number of temporal layers in a spatial layer (`kMaxTemporalStreams` of libwebrtc).
pub const MAX_TEMPORAL_LAYERS: usize = 4;

/// Number of the highest layers that can be chosen.
const CHOICES: usize = MAX_LAYERS * MAX_TEMPORAL_LAYERS;

/// Relation of a track's spatial layers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
pub enum LayerCoding {
    /// Streams of their own: a subscriber gets one of them, and each change needs a key frame.
    Simulcast,
    /// Each layer needs those below. A subscriber gets all up to the highest, and the layers above can be left out at
    /// any time.
    Svc,
}

/// The highest layer of a track that is forwarded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct LayerChoice {
    /// Simulcast stream or spatial layer, from 0.
    pub spatial: usize,
    /// Temporal layer, from 0.
    pub temporal: usize,
}

impl LayerChoice {
    fn at(place: usize) -> Self {
        Self { spatial: place / MAX_TEMPORAL_LAYERS, temporal: place % MAX_TEMPORAL_LAYERS }
    }
}

/// A track for one subscriber.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct ForwardedTrack {
    /// Priority: a larger number is served first.
    pub priority: u32,
    /// Relation of its spatial layers.
    pub coding: LayerCoding,
    /// Measured rate of each layer's own packets, by spatial and temporal layer; zero for an absent layer. A caller
    /// leaves out layers that the subscriber does not want by a zero.
    pub rates: [[DataRate; MAX_TEMPORAL_LAYERS]; MAX_LAYERS],
    /// The layer that is forwarded at present: the state. `None` if the track is paused.
    pub present: Option<LayerChoice>,
}

impl ForwardedTrack {
    /// A paused track with these rates of its spatial layers, without temporal layers. Rates beyond [`MAX_LAYERS`] are
    /// left out.
    pub fn new(priority: u32, coding: LayerCoding, rates: &[DataRate]) -> Self {
        let mut track = Self {
            priority,
            coding,
            rates: [[DataRate::ZERO; MAX_TEMPORAL_LAYERS]; MAX_LAYERS],
            present: None,
        };
        for (layer, rate) in track.rates.iter_mut().zip(rates) {
            layer[0] = *rate;
        }
        track
    }

    /// Rate of the track if this is its highest layer; `None` if the layer, or one that it needs, is absent.
    pub fn rate(&self, choice: LayerChoice) -> Option<DataRate> {
        let first = match self.coding {
            LayerCoding::Simulcast => choice.spatial,
            LayerCoding::Svc => 0,
        };
        let mut rate = DataRate::ZERO;
        for (spatial, rates) in self.rates.iter().enumerate().take(choice.spatial + 1).skip(first) {
            let needed = if spatial == choice.spatial { choice.temporal } else { 0 };
            if rates.iter().take(needed + 1).any(|rate| rate.is_zero()) {
                return None;
            }
            rate += rates.iter().take(choice.temporal + 1).copied().sum();
        }
        let is_layer = choice.spatial < MAX_LAYERS && choice.temporal < MAX_TEMPORAL_LAYERS;
        is_layer.then_some(rate)
    }

    /// The layer to keep of the `present` one: this one, or the highest below that is there.
    fn kept(&self) -> Option<usize> {
        let present = self.present?;
        let place = present.spatial.min(MAX_LAYERS - 1) * MAX_TEMPORAL_LAYERS
            + present.temporal.min(MAX_TEMPORAL_LAYERS - 1);
        (0..=place).rev().find(|&place| self.rate(LayerChoice::at(place)).is_some())
    }
}

/// The layers of a track through which it climbs: no layer above one of them costs the same or less, but for the one
/// that is forwarded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct TrackSteps {
    /// Places that are steps, as bits.
    places: u32,
    /// Place of the layer to keep.
    pub(super) kept: Option<usize>,
}

impl TrackSteps {
    pub(super) fn of(track: &ForwardedTrack) -> Self {
        Self::keeping(track, track.kept())
    }

    /// The steps if the layer at `kept` is forwarded.
    pub(super) fn keeping(track: &ForwardedTrack, kept: Option<usize>) -> Self {
        let mut places = kept.map_or(0, |kept| 1 << kept);
        let mut cheapest = None;
        for place in (0..CHOICES).rev() {
            let Some(rate) = track.rate(LayerChoice::at(place)) else { continue };
            if cheapest.is_none_or(|cheapest| rate < cheapest) {
                cheapest = Some(rate);
                places |= 1 << place;
            }
        }
        Self { places, kept }
    }

    /// Keeps the step above in place of a layer that is no step but by being forwarded: it costs no more.
    pub(super) fn leave_crossed(&mut self, track: &ForwardedTrack) {
        let Some(kept) = self.kept else { return };
        let steps = Self::keeping(track, None);
        let kept = if steps.places >> kept & 1 == 1 { Some(kept) } else { steps.after(Some(kept)) };
        *self = Self { kept, ..steps };
    }

    /// The step after `place`; the first if there is none.
    pub(super) fn after(&self, place: Option<usize>) -> Option<usize> {
        let from = place.map_or(0, |place| place + 1);
        let above = self.places.checked_shr(from as u32).unwrap_or(0);
        (above != 0).then(|| from + above.trailing_zeros() as usize)
    }

    /// Number of steps below `place`.
    pub(super) fn below(&self, place: usize) -> u32 {
        (self.places & ((1 << place) - 1)).count_ones()
    }

    /// The layer at `place` and the rate of the track with it.
    pub(super) fn choice(track: &ForwardedTrack, place: usize) -> (LayerChoice, DataRate) {
        let choice = LayerChoice::at(place);
        (choice, track.rate(choice).unwrap_or(DataRate::ZERO))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KBPS: fn(u64) -> DataRate = DataRate::from_kbps;

    fn layer(spatial: usize, temporal: usize) -> LayerChoice {
        LayerChoice { spatial, temporal }
    }

    #[test]
    fn a_layer_costs_its_own_stream_or_all_layers_that_it_needs() {
        let mut track = ForwardedTrack::new(1, LayerCoding::Simulcast, &[]);
        track.rates[0] = [60, 40, 0, 0].map(KBPS);
        track.rates[1] = [180, 120, 200, 0].map(KBPS);
        let of = |track: &ForwardedTrack| {
            [(0, 0), (0, 1), (0, 2), (1, 0), (1, 2), (2, 0), (5, 0), (0, 4)]
                .map(|(spatial, temporal)| track.rate(layer(spatial, temporal)).map(|rate| rate.bps() / 1000))
        };
        // 60, 60 + 40, 180, 180 + 120 + 200.
        assert_eq!(of(&track), [Some(60), Some(100), None, Some(180), Some(500), None, None, None]);
        track.coding = LayerCoding::Svc;
        // 60 + 180; 60 + 40 + 180 + 120 + 200.
        assert_eq!(of(&track), [Some(60), Some(100), None, Some(240), Some(600), None, None, None]);
        track.rates[0] = [DataRate::ZERO; 4];
        assert_eq!(of(&track), [None; 8], "a spatial layer without the one below cannot be decoded");
    }

    #[test]
    fn a_layer_that_costs_more_than_one_above_is_no_step_unless_it_is_forwarded() {
        let mut track = ForwardedTrack::new(1, LayerCoding::Simulcast, &[]);
        track.rates[0] = [80, 70, 0, 0].map(KBPS);
        track.rates[1] = [120, 180, 0, 0].map(KBPS);
        let steps = |track: &ForwardedTrack| {
            let steps = TrackSteps::of(track);
            let places = std::iter::successors(steps.after(None), |&place| steps.after(Some(place)));
            places.map(|place| (place / MAX_TEMPORAL_LAYERS, place % MAX_TEMPORAL_LAYERS)).collect::<Vec<_>>()
        };
        // 80, 150, 120, 300 kbit/s.
        assert_eq!(steps(&track), [(0, 0), (1, 0), (1, 1)]);
        track.present = Some(layer(0, 1));
        assert_eq!(steps(&track), [(0, 0), (0, 1), (1, 0), (1, 1)]);
        track.present = Some(layer(4, 3));
        assert_eq!(TrackSteps::of(&track).kept, Some(5), "the highest layer that is there");
        track.present = Some(layer(usize::MAX, usize::MAX));
        assert_eq!(TrackSteps::of(&track).kept, Some(5));
        track.rates = [[DataRate::ZERO; 4]; MAX_LAYERS];
        assert_eq!((TrackSteps::of(&track).kept, steps(&track)), (None, vec![]));
    }
}
