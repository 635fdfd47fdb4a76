//! The family of NADA.

use weir_cc::nada::v2016::{self, Nada2016, Nada2016Observer};
use weir_cc::nada::zhu_03::{self, Zhu03Observer};
use weir_cc::nada::{self, Nada, NadaObserver};
use weir_cc::packet_feedback::PacketFeedback;
use weir_cc::{AtReceiver, Controller, RateLimits, Receiver};

use super::words;
use crate::factory::Half;
use crate::info::{ControllerInfo, MarkResponse};
use crate::kind::{ControllerKind, Preset};

/// A preset of both placements.
fn ns3_rmcat() -> Preset<nada::Config> {
    Preset {
        name: "ns3-rmcat",
        summary: "as NADA's authors compute it in their ns-3 model: losses never expire, no bound at equilibrium, no drains",
        config: nada::Config::ns3_rmcat(),
    }
}

pub(super) struct NadaRfc8698;

impl ControllerKind for NadaRfc8698 {
    type Config = nada::Config;

    fn info() -> ControllerInfo {
        ControllerInfo {
            name: "nada".into(),
            sender_side_twin: Some("nada-at-sender".into()),
            summary: "Network-Assisted Dynamic Adaptation: one congestion signal from delay, loss and marks"
                .into(),
            source: "RFC 8698".into(),
            placement: "receiver (signal) and sender (rate)".into(),
            feedback: "the controller's own report each 100 ms".into(),
            marks: MarkResponse::Scalable,
            ..ControllerInfo::default()
        }
    }

    fn presets() -> Vec<Preset<Self::Config>> {
        vec![
            Preset {
                name: "rfc-literal",
                summary: "RFC 8698 as it is printed, without the divergences that the default makes from its text",
                config: nada::Config::rfc_literal(),
            },
            ns3_rmcat(),
        ]
    }

    fn prioritised(config: Self::Config, priority: f64) -> Self::Config {
        Self::Config { priority: config.priority * priority, ..config }
    }

    fn sender(config: Self::Config, limits: RateLimits) -> Half<dyn Controller> {
        Ok(Box::new(Nada::new(config, limits).map_err(words)?))
    }

    fn receiver(config: Self::Config, _: RateLimits) -> Half<dyn Receiver> {
        Ok(Box::new(AtReceiver::new(NadaObserver::new(config).map_err(words)?)))
    }
}

pub(super) struct NadaAtSender;

impl ControllerKind for NadaAtSender {
    type Config = nada::Config;

    fn info() -> ControllerInfo {
        ControllerInfo {
            name: "nada-at-sender".into(),
            summary: "NADA with its observer at the sender: the same controller over per-packet feedback"
                .into(),
            source: "RFC 8698 §5.3".into(),
            placement: "sender".into(),
            feedback: "the fate of each packet, two reports in one interval of the controller".into(),
            ..ControllerInfo::default()
        }
    }

    fn presets() -> Vec<Preset<Self::Config>> {
        vec![ns3_rmcat()]
    }

    fn prioritised(config: Self::Config, priority: f64) -> Self::Config {
        Self::Config { priority: config.priority * priority, ..config }
    }

    fn sender(config: Self::Config, limits: RateLimits) -> Half<dyn Controller> {
        Ok(Box::new(nada::at_sender(config, limits).map_err(words)?))
    }

    fn receiver(config: Self::Config, _: RateLimits) -> Half<dyn Receiver> {
        Ok(Box::new(PacketFeedback::new(config.feedback_interval / 2)))
    }
}

pub(super) struct Nada2016Draft;

impl ControllerKind for Nada2016Draft {
    type Config = v2016::Config;

    fn info() -> ControllerInfo {
        ControllerInfo {
            name: "nada-2016".into(),
            summary: "NADA as it was compared with GCC in 2016: loss in proportion, delay always warped"
                .into(),
            source: "Carlucci, De Cicco, Ilharco, Mascolo 2016; draft-zhu-rmcat-nada-06".into(),
            placement: "receiver (signal) and sender (rate)".into(),
            feedback: "the controller's own report each 100 ms".into(),
            marks: MarkResponse::Scalable,
            ..ControllerInfo::default()
        }
    }

    fn presets() -> Vec<Preset<Self::Config>> {
        vec![
            Preset {
                name: "reproduction",
                summary: "what comes nearest to the figures of nada-vs-gcc-2016: x_ref 10 ms, κ 1, unpaced",
                config: v2016::Config::reproduction(),
            },
            Preset {
                name: "framework",
                summary: "as the code of the simulation framework had it, whole numbers included",
                config: v2016::Config::framework(),
            },
        ]
    }

    fn prioritised(config: Self::Config, priority: f64) -> Self::Config {
        Self::Config { priority: config.priority * priority, ..config }
    }

    fn sender(config: Self::Config, limits: RateLimits) -> Half<dyn Controller> {
        Ok(Box::new(Nada2016::new(config, limits).map_err(words)?))
    }

    fn receiver(config: Self::Config, _: RateLimits) -> Half<dyn Receiver> {
        Ok(Box::new(AtReceiver::new(Nada2016Observer::new(config).map_err(words)?)))
    }
}

pub(super) struct NadaZhu03;

impl ControllerKind for NadaZhu03 {
    type Config = zhu_03::Config;

    fn info() -> ControllerInfo {
        ControllerInfo {
            name: "nada-dccc".into(),
            summary: "NADA as DCCC was compared with it in 2017: rate by the inverse of a delay; needs synchronised clocks".into(),
            source: "draft-zhu-rmcat-nada-03, as in D'Aronco, Toni, Mena, Zhu, Frossard 2017".into(),
            placement: "receiver (signal) and sender (rate)".into(),
            feedback: "the controller's own report each 100 ms".into(),
            marks: MarkResponse::Scalable,
            ..ControllerInfo::default()
        }
    }

    fn prioritised(config: Self::Config, priority: f64) -> Self::Config {
        Self::Config { priority: config.priority * priority, ..config }
    }

    fn sender(config: Self::Config, limits: RateLimits) -> Half<dyn Controller> {
        Ok(Box::new(zhu_03::NadaZhu03::new(config, limits).map_err(words)?))
    }

    fn receiver(config: Self::Config, _: RateLimits) -> Half<dyn Receiver> {
        Ok(Box::new(AtReceiver::new(Zhu03Observer::new(config).map_err(words)?)))
    }
}
