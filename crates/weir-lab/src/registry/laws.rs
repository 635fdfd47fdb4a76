//! Every controller, by name.

use weir_cc::gcc::remb::{self, GccReceiver, GccSender};
use weir_cc::nada::{self, Nada, NadaObserver};
use weir_cc::{AtReceiver, Controller, RateLimits, Receiver};

use super::law::{Entry, Law};
use super::{ControllerInfo, Halves};

/// In the order in which they are listed.
pub(super) fn entries() -> Vec<Entry> {
    vec![Entry::of::<Gcc2016>(), Entry::of::<NadaRfc8698>()]
}

fn halves(controller: impl Controller + 'static, receiver: impl Receiver + 'static) -> Halves {
    Halves { controller: Box::new(controller), receiver: Box::new(receiver) }
}

fn words(error: impl std::error::Error) -> String {
    error.to_string()
}

struct Gcc2016;

impl Law for Gcc2016 {
    type Config = remb::Config;

    fn info() -> ControllerInfo {
        ControllerInfo {
            name: "gcc-2016",
            summary: "Google Congestion Control: a delay gradient filter at the receiver, loss at the sender",
            source: "Carlucci, De Cicco, Holmer, Mascolo, MMSys 2016",
            placement: "receiver (delay) and sender (loss)",
            feedback: "REMB each second or on a drop, RTCP receiver reports",
            presets: Vec::new(),
        }
    }

    fn halves(config: Self::Config, limits: RateLimits) -> Result<Halves, String> {
        let controller = GccSender::new(config, limits).map_err(words)?;
        Ok(halves(controller, GccReceiver::new(config, limits).map_err(words)?))
    }
}

struct NadaRfc8698;

impl Law for NadaRfc8698 {
    type Config = nada::Config;

    fn info() -> ControllerInfo {
        ControllerInfo {
            name: "nada",
            summary: "Network-Assisted Dynamic Adaptation: one congestion signal from delay, loss and marks",
            source: "RFC 8698",
            placement: "receiver (signal) and sender (rate)",
            feedback: "the law's own report each 100 ms",
            presets: Vec::new(),
        }
    }

    fn halves(config: Self::Config, limits: RateLimits) -> Result<Halves, String> {
        let controller = Nada::new(config, limits).map_err(words)?;
        Ok(halves(controller, AtReceiver::new(NadaObserver::new(config).map_err(words)?)))
    }
}
