//! Every coupler, by name.

use weir_cc::coupled::ctrl::{self, CtrlTcp, Tenants};
use weir_cc::coupled::mixed::{self, Mixed};
use weir_cc::coupled::{Coupler, Member};

use super::{Built, CouplerInfo, CouplerKind, Setting, Steers};

/// What the algorithms of this file have in common.
pub(super) fn boxed<C: Coupler + 'static, E: ToString>(built: Result<C, E>) -> Built {
    built.map(|coupler| Some(Box::new(coupler) as Box<dyn Coupler>)).map_err(|error| error.to_string())
}

impl Setting {
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

    fn build(config: ctrl::Config, setting: &Setting) -> Built {
        setting.without_measuring()?;
        let tenants =
            setting.tenants.iter().enumerate().try_fold(Tenants::none(), |tenants, (place, &weight)| {
                let own = setting.tenant_of.iter().filter(|(_, tenant)| *tenant == place);
                let flows: Vec<Member> = own.map(|&(flow, _)| flow).collect();
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
            summary: "media laws move the sum for all, and the windows of data follow it",
            source: "Weir, after FSE-NG (Flohr et al.)",
            steers: Steers::Rates,
            testbed_only: false,
        }
    }

    fn build(config: mixed::Config, setting: &Setting) -> Built {
        setting.without_tenants()?;
        setting.without_measuring()?;
        boxed(Mixed::new(config))
    }
}
