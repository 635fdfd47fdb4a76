//! The Flow State Exchange under each of its algorithms.

use weir_cc::coupled::fse::{Algorithm, Config, Fse, InitialGrouping};
use weir_cc::coupled::sbd::{self, Detected};

use super::kinds::boxed;
use super::{Built, CouplerInfo, CouplerKind, CouplerSetting, Steers};

/// A type for each algorithm: its name, its description, its source, the constants that the name implies.
macro_rules! exchanges {
    ($($kind:ident: $name:literal, $summary:literal, $source:literal, $config:expr;)*) => {
        $(
            #[doc = $summary]
            pub(super) struct $kind;

            impl CouplerKind for $kind {
                type Config = Config;
                const FIXED: &[&str] = &["algorithm", "in_a_testbed"];

                fn info() -> CouplerInfo {
                    CouplerInfo {
                        name: $name,
                        summary: $summary,
                        source: $source,
                        steers: Steers::Rates,
                        testbed_only: is_passive(&$config),
                    }
                }

                fn config() -> Config {
                    $config
                }

                fn build(config: Config, setting: &CouplerSetting) -> Built {
                    exchange(config, setting)
                }
            }
        )*
    };
}

exchanges! {
    Rfc8699Active: "rfc8699-1", "a sum of rates that follows each change; for delay-based controllers",
        "RFC 8699 §5.3.1", Config::rfc8699_active();
    Rfc8699Conservative: "rfc8699-2",
        "a sum of rates that a cut scales and then holds for two round trips; for loss-based controllers",
        "RFC 8699 §5.3.2", Config::rfc8699_conservative();
    Rtp2014Active: "fse-2014-1", "as rfc8699-1, but no flow gets what a limited flow leaves over",
        "coupled-rtp-2014, algorithm 1", Config::rtp_2014_active();
    Rtp2014Conservative: "fse-2014-2", "as rfc8699-2, but no flow gets what a limited flow leaves over",
        "coupled-rtp-2014, algorithm 2", Config::rtp_2014_conservative();
    Rfc8699Passive: "passive", "only the flow that reports its rate is answered; the first one takes what is left over",
        "RFC 8699 appendix C", Config::rfc8699_passive_in_a_testbed();
    PassiveSimple: "passive-simple", "as rfc8699-1, but only the flow that reports its rate is answered",
        "coupling-2018", Config::passive_simple_in_a_testbed();
}

fn is_passive(config: &Config) -> bool {
    matches!(config.algorithm, Algorithm::Rfc8699Passive | Algorithm::PassiveSimple)
}

fn exchange(config: Config, setting: &CouplerSetting) -> Built {
    setting.without_tenants()?;
    let config = Config { in_a_testbed: setting.testbed, ..config };
    if !setting.measured {
        return boxed(Fse::new(config, InitialGrouping::Together));
    }
    let exchange = Fse::new(config, InitialGrouping::Apart).map_err(|error| error.to_string())?;
    boxed(Detected::new(exchange, sbd::Config::default()))
}
