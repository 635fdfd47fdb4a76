//! Every controller, by name.

mod nada;

use std::sync::Arc;

use weir_cc::dccc::{self, Dccc, DcccObserver};
use weir_cc::gcc::goog_cc::{self, GoogCc};
use weir_cc::gcc::remb::{self, GccReceiver, GccSender};
use weir_cc::gcc::send_side::{self, SendSideGcc};
use weir_cc::gcc::simplified::{self, SimplifiedGccReceiver, SimplifiedGccSender};
use weir_cc::ledbat::{self, Ledbat};
use weir_cc::packet_feedback::PacketFeedback;
use weir_cc::rap::{self, Rap};
use weir_cc::scream::v1::Scream;
use weir_cc::scream::v2::ScreamV2;
use weir_cc::scream::{self, ScreamReceiver};
use weir_cc::tfrc::{self, Tfrc, TfrcObserver};
use weir_cc::{AtReceiver, Controller, PacketFormat, RateLimits, Receiver, TimeDelta};

use crate::factory::{ControllerFactory, Half};
use crate::info::{ControllerInfo, MarkResponse};
use crate::kind::{ControllerKind, Preset, TypedFactory};
use nada::{Nada2016Draft, NadaAtSender, NadaRfc8698, NadaZhu03};

/// The preset of controllers that have a rate among their constants, for 20 times the rates of a call.
const GAMING: &str = "gaming";

/// All factories, in the order of the listing.
pub(crate) fn factories() -> Vec<Arc<dyn ControllerFactory>> {
    vec![
        factory::<Gcc>(),
        factory::<Gcc2016>(),
        factory::<GccSendSide>(),
        factory::<GccDccc>(),
        factory::<NadaRfc8698>(),
        factory::<NadaAtSender>(),
        factory::<Nada2016Draft>(),
        factory::<NadaZhu03>(),
        factory::<ScreamRfc8298>(),
        factory::<ScreamVersion2>(),
        factory::<Dccc2017>(),
        factory::<DcccAtSender>(),
        factory::<LedbatRfc6817>(),
        factory::<TfrcRfc5348>(),
        factory::<Rap1999>(),
    ]
}

fn factory<K: ControllerKind + 'static>() -> Arc<dyn ControllerFactory> {
    Arc::new(TypedFactory::<K>::new())
}

fn words(error: impl std::error::Error) -> String {
    error.to_string()
}

struct Gcc;

impl ControllerKind for Gcc {
    type Config = goog_cc::Config;

    fn info() -> ControllerInfo {
        ControllerInfo {
            name: "gcc".into(),
            summary:
                "Google Congestion Control as browsers run it: trend of the delay, likelihood of loss, probes"
                    .into(),
            source: "libwebrtc of June 2025".into(),
            placement: "sender".into(),
            feedback: "the arrival of each packet (transport-wide feedback), each 50 ms".into(),
            ..ControllerInfo::default()
        }
    }

    fn presets() -> Vec<Preset<Self::Config>> {
        vec![Preset {
            name: "libwebrtc-2024-12",
            summary: "the constants of the loss controller as they stood in the source of December 2024",
            config: goog_cc::Config::libwebrtc_2024_12(),
        }]
    }

    fn sender(config: Self::Config, limits: RateLimits) -> Half<dyn Controller> {
        Ok(Box::new(GoogCc::new(config, limits).map_err(words)?))
    }

    fn receiver(config: Self::Config, _: RateLimits) -> Half<dyn Receiver> {
        Ok(Box::new(PacketFeedback::new(config.feedback_interval)))
    }
}

struct Gcc2016;

impl ControllerKind for Gcc2016 {
    type Config = remb::Config;

    fn info() -> ControllerInfo {
        ControllerInfo {
            name: "gcc-2016".into(),
            summary: "Google Congestion Control: a delay gradient filter at the receiver, loss at the sender"
                .into(),
            source: "Carlucci, De Cicco, Holmer, Mascolo, MMSys 2016".into(),
            placement: "receiver (delay) and sender (loss)".into(),
            feedback: "REMB each second or on a drop, RTCP receiver reports".into(),
            ..ControllerInfo::default()
        }
    }

    fn sender(config: Self::Config, limits: RateLimits) -> Half<dyn Controller> {
        Ok(Box::new(GccSender::new(config, limits).map_err(words)?))
    }

    fn receiver(config: Self::Config, limits: RateLimits) -> Half<dyn Receiver> {
        Ok(Box::new(GccReceiver::new(config, limits).map_err(words)?))
    }
}

struct GccSendSide;

impl ControllerKind for GccSendSide {
    type Config = send_side::Config;

    fn info() -> ControllerInfo {
        ControllerInfo {
            name: "gcc-send-side".into(),
            summary: "Google Congestion Control with all of it at the sender, by a Kalman filter over bursts of packets".into(),
            source: "draft-ietf-rmcat-gcc-02".into(),
            placement: "sender".into(),
            feedback: "the arrival of each packet (transport-wide feedback), each 50 ms".into(),
            ..ControllerInfo::default()
        }
    }

    fn presets() -> Vec<Preset<Self::Config>> {
        vec![Preset {
            name: "nada-vs-gcc-2016",
            summary: "gradient and capacity in one filter, a slower threshold, no pacer: what was compared with NADA in 2016",
            config: send_side::Config::nada_vs_gcc_2016(),
        }]
    }

    fn sender(config: Self::Config, limits: RateLimits) -> Half<dyn Controller> {
        Ok(Box::new(SendSideGcc::new(config, limits).map_err(words)?))
    }

    fn receiver(config: Self::Config, _: RateLimits) -> Half<dyn Receiver> {
        Ok(Box::new(PacketFeedback::new(config.feedback_interval)))
    }
}

struct ScreamRfc8298;

impl ControllerKind for ScreamRfc8298 {
    type Config = scream::v1::Config;

    fn info() -> ControllerInfo {
        ControllerInfo {
            name: "scream".into(),
            summary: "Self-Clocked Rate Adaptation for Multimedia: a window by queuing delay, a media rate by the window".into(),
            source: "RFC 8298".into(),
            placement: "sender".into(),
            feedback: "the fate of each packet (RFC 8888), 2.5 to 50 times a second by the rate".into(),
            packet_format: PacketFormat::Rfc8888,
            marks: MarkResponse::Classic,
            has_window: true,
            ..ControllerInfo::default()
        }
    }

    fn presets() -> Vec<Preset<Self::Config>> {
        vec![Preset {
            name: GAMING,
            summary: "a climb of up to 4 Mbit/s in a second, for rates of up to 50 Mbit/s",
            config: scream::v1::Config::GAMING,
        }]
    }

    fn sender(config: Self::Config, limits: RateLimits) -> Half<dyn Controller> {
        Ok(Box::new(Scream::new(config, limits).map_err(words)?))
    }

    fn receiver(_: Self::Config, _: RateLimits) -> Half<dyn Receiver> {
        Ok(Box::new(ScreamReceiver::v1()))
    }
}

struct ScreamVersion2;

impl ControllerKind for ScreamVersion2 {
    type Config = scream::v2::Config;

    fn info() -> ControllerInfo {
        ControllerInfo {
            name: "scream-v2".into(),
            summary: "SCReAM version 2: a reference window that yields to L4S marks, and to queuing delay like marks".into(),
            source: "EricssonResearch/scream, edition 2026-06; draft-johansson-ccwg-rfc8298bis-screamv2".into(),
            placement: "sender".into(),
            feedback: "the fate of each packet (RFC 8888), at the end of each frame and at least 10 times a second".into(),
            packet_format: PacketFormat::Rfc8888,
            marks: MarkResponse::Scalable,
            has_window: true,
            ..ControllerInfo::default()
        }
    }

    fn sender(config: Self::Config, limits: RateLimits) -> Half<dyn Controller> {
        Ok(Box::new(ScreamV2::new(config, limits).map_err(words)?))
    }

    fn receiver(_: Self::Config, _: RateLimits) -> Half<dyn Receiver> {
        Ok(Box::new(ScreamReceiver::v2()))
    }
}

fn dccc_gaming() -> Preset<dccc::Config> {
    Preset {
        name: GAMING,
        summary: "h of 400 kbit/s, for rates of up to 50 Mbit/s",
        config: dccc::Config::gaming(),
    }
}

struct Dccc2017;

impl ControllerKind for Dccc2017 {
    type Config = dccc::Config;

    fn info() -> ControllerInfo {
        ControllerInfo {
            name: "dccc".into(),
            sender_side_twin: Some("dccc-at-sender".into()),
            summary: "Delay-constrained congestion control: marginal utility against the price of delay, gradient and loss".into(),
            source: "D'Aronco, Toni, Mena, Zhu, Frossard, 2017".into(),
            placement: "receiver (averages) and sender (rate)".into(),
            feedback: "the controller's own report each round trip; rate and RTT in the packets' headers".into(),
            ..ControllerInfo::default()
        }
    }

    fn presets() -> Vec<Preset<Self::Config>> {
        let paper = Preset {
            name: "dccc-2017",
            summary: "a fixed threshold of 100 ms on the one-way delay, for synchronised clocks; stamps of 1 ms",
            config: dccc::Config::dccc_2017(TimeDelta::from_millis(100)),
        };
        vec![paper, dccc_gaming()]
    }

    fn prioritised(config: Self::Config, priority: f64) -> Self::Config {
        Self::Config { utility_weight: config.utility_weight.scale(priority), ..config }
    }

    fn sender(config: Self::Config, limits: RateLimits) -> Half<dyn Controller> {
        Ok(Box::new(Dccc::new(config, limits).map_err(words)?))
    }

    fn receiver(config: Self::Config, _: RateLimits) -> Half<dyn Receiver> {
        Ok(Box::new(AtReceiver::new(DcccObserver::new(config).map_err(words)?)))
    }
}

struct DcccAtSender;

impl ControllerKind for DcccAtSender {
    type Config = dccc::Config;

    fn info() -> ControllerInfo {
        ControllerInfo {
            name: "dccc-at-sender".into(),
            summary: "DCCC with its observer at the sender: the same controller over per-packet feedback"
                .into(),
            source: "D'Aronco, Toni, Mena, Zhu, Frossard, 2017".into(),
            placement: "sender".into(),
            feedback: "the fate of each packet, each 50 ms".into(),
            ..ControllerInfo::default()
        }
    }

    fn presets() -> Vec<Preset<Self::Config>> {
        vec![dccc_gaming()]
    }

    fn prioritised(config: Self::Config, priority: f64) -> Self::Config {
        Self::Config { utility_weight: config.utility_weight.scale(priority), ..config }
    }

    fn sender(config: Self::Config, limits: RateLimits) -> Half<dyn Controller> {
        Ok(Box::new(dccc::at_sender(config, limits).map_err(words)?))
    }

    fn receiver(config: Self::Config, _: RateLimits) -> Half<dyn Receiver> {
        Ok(Box::new(PacketFeedback::new(config.min_interval)))
    }
}

struct GccDccc;

impl ControllerKind for GccDccc {
    type Config = simplified::Config;

    fn info() -> ControllerInfo {
        ControllerInfo {
            name: "gcc-dccc".into(),
            summary: "the simplified GCC that DCCC was compared with: gradient by packet, fixed threshold"
                .into(),
            source: "D'Aronco, Toni, Mena, Zhu, Frossard, 2017, appendix C-B".into(),
            placement: "receiver".into(),
            feedback: "REMB each second or on a drop".into(),
            ..ControllerInfo::default()
        }
    }

    fn sender(config: Self::Config, limits: RateLimits) -> Half<dyn Controller> {
        Ok(Box::new(SimplifiedGccSender::new(config, limits).map_err(words)?))
    }

    fn receiver(config: Self::Config, limits: RateLimits) -> Half<dyn Receiver> {
        Ok(Box::new(SimplifiedGccReceiver::new(config, limits).map_err(words)?))
    }
}

struct LedbatRfc6817;

impl ControllerKind for LedbatRfc6817 {
    type Config = ledbat::Config;

    fn info() -> ControllerInfo {
        ControllerInfo {
            name: "ledbat".into(),
            summary:
                "Low Extra Delay Background Transport: a window that keeps the queuing delay at a target"
                    .into(),
            source: "RFC 6817".into(),
            placement: "sender".into(),
            feedback: "the fate of each packet (RFC 8888), each 10 ms".into(),
            packet_format: PacketFormat::Rfc8888,
            marks: MarkResponse::Classic,
            has_window: true,
            ..ControllerInfo::default()
        }
    }

    fn presets() -> Vec<Preset<Self::Config>> {
        vec![
            Preset {
                name: "dccc-2017",
                summary: "a gain of 0.5 and packets of 1094 bytes, as compared with DCCC",
                config: ledbat::Config::dccc_2017(),
            },
            Preset {
                name: "target-60ms",
                summary: "a target of 60 ms, that of LEDBAT++",
                config: ledbat::Config::with_target(TimeDelta::from_millis(60)),
            },
            Preset {
                name: "target-25ms",
                summary: "a target of 25 ms, that of the first draft",
                config: ledbat::Config::with_target(TimeDelta::from_millis(25)),
            },
        ]
    }

    fn sender(config: Self::Config, limits: RateLimits) -> Half<dyn Controller> {
        Ok(Box::new(Ledbat::new(config, limits).map_err(words)?))
    }

    fn receiver(config: Self::Config, _: RateLimits) -> Half<dyn Receiver> {
        Ok(Box::new(ledbat::receiver(&config).map_err(words)?))
    }
}

struct TfrcRfc5348;

impl ControllerKind for TfrcRfc5348 {
    type Config = tfrc::Config;

    fn info() -> ControllerInfo {
        ControllerInfo {
            name: "tfrc".into(),
            summary:
                "TCP-friendly rate control: what TCP would send at this loss event rate and round-trip time"
                    .into(),
            source: "RFC 5348".into(),
            placement: "receiver (loss event rate) and sender (rate)".into(),
            feedback:
                "the controller's own report each round trip and at a loss event; RTT in the packets' headers"
                    .into(),
            marks: MarkResponse::Classic,
            ..ControllerInfo::default()
        }
    }

    fn presets() -> Vec<Preset<Self::Config>> {
        vec![Preset {
            name: "ns2",
            summary: "what of ns-2.35's TFRC bears on the steady state, with its ticks of 100 ms",
            config: tfrc::Config::ns2(),
        }]
    }

    fn sender(config: Self::Config, limits: RateLimits) -> Half<dyn Controller> {
        Ok(Box::new(Tfrc::new(config, limits).map_err(words)?))
    }

    fn receiver(config: Self::Config, _: RateLimits) -> Half<dyn Receiver> {
        Ok(Box::new(AtReceiver::new(TfrcObserver::new(config).map_err(words)?)))
    }
}

struct Rap1999;

impl ControllerKind for Rap1999 {
    type Config = rap::Config;

    fn info() -> ControllerInfo {
        ControllerInfo {
            name: "rap".into(),
            summary:
                "Rate Adaptation Protocol: a packet per round trip more each round trip, half after a loss"
                    .into(),
            source: "Rejaie, Handley, Estrin, INFOCOM 1999, as in ns-2.35".into(),
            placement: "sender".into(),
            feedback: "the fate of each packet (RFC 8888), each 10 ms".into(),
            packet_format: PacketFormat::Rfc8888,
            marks: MarkResponse::Classic,
            ..ControllerInfo::default()
        }
    }

    fn presets() -> Vec<Preset<Self::Config>> {
        vec![Preset {
            name: "ns2",
            summary: "ns-2.35's start, a report per packet, and packets of 1000 bytes on the link",
            config: rap::Config::ns2(),
        }]
    }

    fn sender(config: Self::Config, limits: RateLimits) -> Half<dyn Controller> {
        Ok(Box::new(Rap::new(config, limits).map_err(words)?))
    }

    fn receiver(config: Self::Config, _: RateLimits) -> Half<dyn Receiver> {
        Ok(Box::new(rap::receiver(&config).map_err(words)?))
    }
}
