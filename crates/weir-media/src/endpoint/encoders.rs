//! Encoders of an embedder that share the target, with their layers.

use weir_units::DataRate;

use super::event::{EncoderId, LayerAllocation};
use crate::allocation::{
    EncoderStream, LayerCoding, LayerRates, LayerSwitching, RateSharing, SwitchMargin, VideoContent,
    VideoLayer,
};
use crate::climb::NextLayer;

/// An encoder of the embedder: audio, or video with or without layers.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct EncoderDescription {
    /// Its rates and its weight. [`EncoderStream::allocated`] is without effect.
    pub rates: EncoderStream,
    /// Its layers, from the lowest one; empty for an encoder of one layer.
    pub layers: Vec<VideoLayer>,
    /// Relation of the layers.
    pub coding: LayerCoding,
    /// Content of the video.
    pub content: VideoContent,
}

impl EncoderDescription {
    /// An encoder of one layer.
    pub const fn single(rates: EncoderStream) -> Self {
        let (coding, content) = (LayerCoding::Simulcast, VideoContent::Camera);
        Self { rates, layers: Vec::new(), coding, content }
    }

    /// A camera in simulcast: its least rate is that of the lowest layer, its highest that of all layers together.
    pub fn simulcast(layers: Vec<VideoLayer>) -> Self {
        let least = layers.first().map_or(DataRate::ZERO, |layer| layer.min);
        let below: DataRate = layers.iter().rev().skip(1).map(|layer| layer.target).sum();
        let most = below + layers.last().map_or(DataRate::ZERO, |layer| layer.max);
        Self { layers, ..Self::single(EncoderStream::new(least, most)) }
    }
}

/// An encoder with its present allocation.
#[derive(Debug)]
struct SharingEncoder {
    description: EncoderDescription,
    present: Option<LayerAllocation>,
}

/// The encoders of an endpoint.
#[derive(Debug, Default)]
pub(super) struct SharingEncoders {
    encoders: Vec<SharingEncoder>,
    /// Rates of the encoders as the sharing gets them, and its result; reused.
    streams: Vec<EncoderStream>,
    shares: Vec<DataRate>,
}

impl SharingEncoders {
    /// Adds an encoder.
    pub(super) fn add(&mut self, description: EncoderDescription) -> EncoderId {
        self.encoders.push(SharingEncoder { description, present: None });
        EncoderId(self.encoders.len() - 1)
    }

    /// Replaces the description of an encoder. Returns whether there is such an encoder.
    pub(super) fn replace(&mut self, encoder: EncoderId, description: EncoderDescription) -> bool {
        let found = self.encoders.get_mut(encoder.0);
        found.map(|encoder| encoder.description = description).is_some()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.encoders.is_empty()
    }

    /// Highest rate of all encoders together.
    pub(super) fn highest_rate(&self) -> DataRate {
        self.encoders.iter().map(|encoder| encoder.description.rates.max).sum()
    }

    /// The layer that is switched on next, at this rate of all encoders.
    pub(super) fn next_layer(&self) -> Option<NextLayer> {
        let sum: DataRate = self.encoders.iter().filter_map(|encoder| Some(encoder.present?.rate)).sum();
        let next = self.encoders.iter().filter_map(|encoder| {
            let present = encoder.present?;
            let next = match present.layers {
                Some(layers) => layers.next?,
                // A paused encoder goes on with a margin above its least rate.
                None if present.rate.is_zero() => {
                    SwitchMargin::default().above(encoder.description.rates.min)
                }
                None => return None,
            };
            Some(sum.saturating_sub(present.rate) + next)
        });
        Some(NextLayer { layers_on: self.layers_on(), needed: next.min()? })
    }

    /// Number of layers that are on; an encoder without layers has one.
    fn layers_on(&self) -> usize {
        let presents = self.encoders.iter().filter_map(|encoder| encoder.present.as_ref());
        let layers_on = |present: &LayerAllocation| match &present.layers {
            Some(layers) => layers.layers_on(),
            None => usize::from(!present.rate.is_zero()),
        };
        presents.map(layers_on).sum()
    }

    /// Shares the media rate `rate` among the encoders. Changed allocations go to `emit`.
    pub(super) fn share(&mut self, rate: DataRate, mut emit: impl FnMut(LayerAllocation)) {
        let Self { encoders, streams, shares } = self;
        if encoders.is_empty() {
            return;
        }
        streams.clear();
        streams.extend(encoders.iter().map(|encoder| EncoderStream {
            allocated: encoder.present.as_ref().map(|present| present.rate),
            ..encoder.description.rates
        }));
        // Retransmissions and padding are no part of the target of media, so an encoder takes no more than its maximum.
        RateSharing { most_of_max: 1, ..RateSharing::default() }.share(rate, streams, shares);
        for (place, (encoder, &rate)) in encoders.iter_mut().zip(shares.iter()).enumerate() {
            let before = encoder.present.as_ref().and_then(|present| present.layers.as_ref());
            let layers = layers(&encoder.description, rate, before);
            let allocation = LayerAllocation { encoder: EncoderId(place), rate, layers };
            if encoder.present.as_ref() != Some(&allocation) {
                encoder.present = Some(allocation);
                emit(allocation);
            }
        }
    }
}

/// Rates of the encoder's layers at `rate`; none for an encoder without layers, or a paused one.
fn layers(
    description: &EncoderDescription,
    rate: DataRate,
    before: Option<&LayerRates>,
) -> Option<LayerRates> {
    let layers = &description.layers;
    if layers.is_empty() || rate.is_zero() {
        return None;
    }
    Some(match description.coding {
        LayerCoding::Simulcast => {
            LayerSwitching::simulcast(description.content).simulcast_rates(rate, None, layers, before)
        }
        LayerCoding::Svc => LayerSwitching::svc(description.content).svc_rates(rate, None, layers, before),
    })
}
