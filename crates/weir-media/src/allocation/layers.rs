//! Layers of a video stream, and the rule by which they are switched.

use weir_units::DataRate;

/// Largest number of simulcast or spatial layers in a stream (`kMaxSpatialLayers` of libwebrtc).
pub const MAX_LAYERS: usize = 5;

/// A simulcast or spatial layer of an encoder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct VideoLayer {
    /// Least useful rate.
    pub min: DataRate,
    /// Rate at which the layer is good enough that the next one may be switched on. A lower one than the minimum
    /// counts as the minimum.
    pub target: DataRate,
    /// Highest useful rate. A lower one than the target counts as the target.
    pub max: DataRate,
    /// Whether the application wants the layer.
    pub is_active: bool,
}

impl VideoLayer {
    /// A layer that the application wants.
    pub const fn new(min: DataRate, target: DataRate, max: DataRate) -> Self {
        Self { min, target, max, is_active: true }
    }

    /// The layer with its rates in order.
    pub(super) fn in_order(self) -> Self {
        let target = self.target.max(self.min);
        Self { target, max: self.max.max(target), ..self }
    }
}

/// The kind of video: it decides on margins, and on the rates of spatial layers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
pub enum VideoContent {
    /// Moving pictures (`kRealtimeVideo`).
    Camera,
    /// A shared screen (`kScreensharing`).
    Screen,
}

/// Rule by which the layers of a stream are switched.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct LayerSwitching {
    /// Kind of the video.
    pub content: VideoContent,
    /// Factor on the rate at which a layer is switched on, over that at which it stays on. A factor below 1 and NaN
    /// count as 1.
    pub hysteresis: f64,
}

impl LayerSwitching {
    /// libwebrtc's rule for simulcast: a factor of 1.2 for a camera, of 1.35 for a screen
    /// (`StableTargetRateExperiment`).
    pub const fn simulcast(content: VideoContent) -> Self {
        let hysteresis = match content {
            VideoContent::Camera => 1.2,
            VideoContent::Screen => 1.35,
        };
        Self { content, hysteresis }
    }

    /// libwebrtc's rule for spatial layers. Without the field trial `WebRTC-StableTargetRate` there is no hysteresis;
    /// with it, the factors are those of [`Self::simulcast`].
    pub const fn svc(content: VideoContent) -> Self {
        Self { content, hysteresis: 1.0 }
    }

    /// The factor, at least 1.
    pub(super) fn factor(&self) -> f64 {
        self.hysteresis.max(1.0)
    }
}

/// Rates of a stream's layers, and the state of the rule that computed them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct LayerRates {
    pub(super) rates: [DataRate; MAX_LAYERS],
    pub(super) on: [bool; MAX_LAYERS],
    /// Whether a layer that the application wants is off because the rate is too low (`is_bw_limited`).
    pub is_limited: bool,
    /// Stable rate of the stream at which the next layer is switched on; `None` if all are on.
    pub next: Option<DataRate>,
}

impl LayerRates {
    /// All layers are off.
    pub(super) const OFF: Self =
        Self { rates: [DataRate::ZERO; MAX_LAYERS], on: [false; MAX_LAYERS], is_limited: false, next: None };

    /// The layer's rate; `None` if it is off.
    pub fn rate(&self, layer: usize) -> Option<DataRate> {
        self.rates.get(layer).copied().filter(|rate| !rate.is_zero())
    }

    /// Number of layers that are on.
    pub fn layers_on(&self) -> usize {
        self.on.iter().filter(|&&on| on).count()
    }

    /// Rate of all layers together.
    pub fn total(&self) -> DataRate {
        self.rates.iter().copied().sum()
    }
}
