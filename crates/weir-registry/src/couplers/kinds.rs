//! Every coupler, by name.

use weir_cc::coupled::ctrl::{self, CtrlTcp, ETcp, Efcm, Rfc2140, Tenants};
use weir_cc::coupled::mixed::{self, Mixed};
use weir_cc::coupled::{Coupler, FlowId};

use super::{Built, CouplerInfo, CouplerKind, CouplerSetting, NoOptions, Steers};

/// The common construction of the algorithms of this file.
pub(super) fn boxed<C: Coupler + 'static, E: ToString>(built: Result<C, E>) -> Built {
    built.map(|coupler| Some(Box::new(coupler) as Box<dyn Coupler>)).map_err(|error| error.to_string())
}

impl CouplerSetting {
    /// Refuses tenants.
    pub(super) fn without_tenants(&self) -> Result<(), String> {
        if self.tenants.is_empty() { Ok(()) } else { Err("it knows no tenants".to_owned()) }
    }

    /// Refuses groups that come from statistics.
    pub(super) fn without_measuring(&self) -> Result<(), String> {
        if self.measured { Err("it does not look for shared bottlenecks".to_owned()) } else { Ok(()) }
    }
}

/// ctrlTCP.
pub(super) struct Ctrl;

impl CouplerKind for Ctrl {
    type Config = ctrl::Config;

    fn info() -> CouplerInfo {
        CouplerInfo {
            name: "ctrltcp",
            summary: "windows that grow, halve and time out like one, newcomers clocked by the others' acknowledgements",
            source: "draft-welzl-tcp-ccc-00",
            steers: Steers::Windows,
            testbed_only: false,
        }
    }

    fn config() -> ctrl::Config {
        ctrl::Config::default()
    }

    fn build(config: ctrl::Config, setting: &CouplerSetting) -> Built {
        setting.without_measuring()?;
        let tenants =
            setting.tenants.iter().enumerate().try_fold(Tenants::none(), |tenants, (place, &weight)| {
                let own = setting.tenant_of.iter().filter(|(_, tenant)| *tenant == place);
                let flows: Vec<FlowId> = own.map(|&(flow, _)| flow).collect();
                tenants.with(weight, flows).map_err(|error| error.to_string())
            })?;
        boxed(CtrlTcp::for_tenants(config, tenants))
    }
}

/// Media and data together.
pub(super) struct MediaAndData;

impl CouplerKind for MediaAndData {
    type Config = mixed::Config;

    fn info() -> CouplerInfo {
        CouplerInfo {
            name: "mixed",
            summary: "media controllers move the sum for all, and the windows of data follow it",
            source: "Weir, after FSE-NG (Flohr et al.)",
            steers: Steers::Rates,
            testbed_only: false,
        }
    }

    fn config() -> mixed::Config {
        mixed::Config::default()
    }

    fn build(config: mixed::Config, setting: &CouplerSetting) -> Built {
        setting.without_tenants()?;
        setting.without_measuring()?;
        boxed(Mixed::new(config))
    }
}

/// A type for each coupler that ctrlTCP is compared with: its name, its description, its source.
macro_rules! comparators {
    ($($kind:ident: $name:literal, $summary:literal, $source:literal, $coupler:expr;)*) => {
        $(
            #[doc = $summary]
            pub(super) struct $kind;

            impl CouplerKind for $kind {
                type Config = NoOptions;

                fn info() -> CouplerInfo {
                    CouplerInfo {
                        name: $name,
                        summary: $summary,
                        source: $source,
                        steers: Steers::Windows,
                        testbed_only: false,
                    }
                }

                fn config() -> NoOptions {
                    NoOptions {}
                }

                fn build(_: NoOptions, setting: &CouplerSetting) -> Built {
                    setting.without_tenants()?;
                    setting.without_measuring()?;
                    Ok(Some(Box::new($coupler)))
                }
            }
        )*
    };
}

comparators! {
    OneWindow: "e-tcp", "one shared window, halved for each loss event of each flow", "Eggert et al. 2000, as far as known",
        ETcp::new();
    MeanWindow: "efcm", "each window is the mean of all", "Savorić et al. 2005, as far as known", Efcm::new();
    Beginnings: "rfc2140", "a newcomer takes its part of the others' windows, and then each goes its own way", "RFC 2140",
        Rfc2140::new();
}
