//! The couplers for which the properties must hold.

use alloc::boxed::Box;

use crate::coupled::ctrl::{self, CoordinatorSelection, CtrlTcp, ETcp, Efcm, Newcomer, Rfc2140, Tenants};
use crate::coupled::fse::{self, Fse, InitialGrouping};
use crate::coupled::mixed::{self, Mixed};
use crate::coupled::sbd::{self, Detected};
use crate::coupled::{Coupler, FlowId};
use crate::testing::{Composition, coupler_tests};

fn fse(config: fse::Config) -> Fse {
    Fse::new(config, InitialGrouping::Together).unwrap()
}

type Build = fn() -> Box<dyn Coupler>;

/// A form of the exchange that allocates to all.
const fn active(name: &'static str, build: Build) -> Composition {
    Composition::of_rates(name, build).flooring_rates()
}

/// A form of the exchange that allocates to the updating flow.
const fn passive(name: &'static str, build: Build) -> Composition {
    active(name, build).allocating_to_one()
}

/// A line for each composition of a coupler.
macro_rules! couplers {
    ($of:path: $($name:ident $build:expr;)*) => {
        $(coupler_tests!($name, $of(stringify!($name), || Box::new($build)));)*
    };
}

couplers! { active:
    fse_2014_active fse(fse::Config::rtp_2014_active());
    fse_2014_conservative fse(fse::Config::rtp_2014_conservative());
    rfc8699_active fse(fse::Config::rfc8699_active());
    rfc8699_conservative fse(fse::Config::rfc8699_conservative());
    behind_a_detector_of_one_bottleneck detected();
}

couplers! { passive:
    rfc8699_passive fse(fse::Config::rfc8699_passive_in_a_testbed());
    passive_simple fse(fse::Config::passive_simple_in_a_testbed());
}

couplers! { Composition::of_rates:
    mixed_by_smoothed_rtt Mixed::new(mixed::Config::default()).unwrap();
    mixed_by_base_rtt Mixed::new(mixed::Config::by_base_rtt()).unwrap();
    mixed_ledbat Mixed::new(mixed::Config::ledbat()).unwrap();
    mixed_ledbat_sum_all Mixed::new(mixed::Config::ledbat_sum_all()).unwrap();
    mixed_partial_loss Mixed::new(mixed::Config { partial_loss: true, ..mixed::Config::default() }).unwrap();
}

couplers! { Composition::of_windows:
    ctrl_tcp_clocked CtrlTcp::new(ctrl::Config::default()).unwrap();
    ctrl_tcp_ramped CtrlTcp::new(ctrl::Config { newcomer: Newcomer::Ramped, ..ctrl::Config::default() }).unwrap();
    ctrl_tcp_as_printed CtrlTcp::new(ctrl::Config::as_printed()).unwrap();
    ctrl_tcp_by_rates CtrlTcp::new(ctrl::Config { by_rates: true, ..ctrl::Config::default() }).unwrap();
    ctrl_tcp_sum_all CtrlTcp::new(sum_all()).unwrap();
    ctrl_tcp_of_tenants CtrlTcp::for_tenants(ctrl::Config::default(), tenants()).unwrap();
    e_tcp ETcp::new();
    efcm Efcm::new();
    rfc2140 Rfc2140::new();
}

fn detected() -> impl Coupler {
    let apart = Fse::new(fse::Config::rfc8699_active(), InitialGrouping::Apart).unwrap();
    // One five-tuple: the flows are in one group without measurement.
    Detected::new(apart, sbd::Config::default()).unwrap().multiplexed((0..10).map(FlowId))
}

fn sum_all() -> ctrl::Config {
    ctrl::Config { lead: CoordinatorSelection::All, rto_counts_as_loss: false, ..ctrl::Config::default() }
}

fn tenants() -> Tenants {
    Tenants::none().with(2.0, [FlowId(0), FlowId(2)]).unwrap()
}
