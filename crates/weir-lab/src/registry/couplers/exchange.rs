//! The Flow State Exchange, an entry for each of its algorithms.

use std::marker::PhantomData;

use weir_cc::coupled::fse::{Config, Fse, Grouping};

use super::kinds::boxed;
use super::{Built, CouplerInfo, CouplerKind, Setting, Steers};

/// An algorithm of the exchange.
pub(super) trait Form {
    const NAME: &'static str;
    const SUMMARY: &'static str;
    const SOURCE: &'static str;

    fn config() -> Config;
}

/// The exchange by algorithm `F`.
pub(super) struct Exchange<F>(PhantomData<F>);

impl<F: Form> CouplerKind for Exchange<F> {
    type Config = Config;
    const NAMED: &'static [&'static str] = &["algorithm", "in_a_testbed"];

    fn info() -> CouplerInfo {
        CouplerInfo {
            name: F::NAME,
            summary: F::SUMMARY,
            source: F::SOURCE,
            steers: Steers::Rates,
            testbed_only: F::config().in_a_testbed,
        }
    }

    fn usual() -> Config {
        F::config()
    }

    fn build(config: Config, setting: &Setting) -> Built {
        setting.without_tenants()?;
        let grouping = if setting.measured { Grouping::Apart } else { Grouping::Together };
        boxed(Fse::new(config, grouping))
    }
}

/// `fse-2014-1`.
pub(super) struct Rtp2014Active;

impl Form for Rtp2014Active {
    const NAME: &'static str = "fse-2014-1";
    const SUMMARY: &'static str = "a sum of rates that follows each change of a flow's, shared by weight";
    const SOURCE: &'static str = "coupled-rtp-2014, algorithm 1";

    fn config() -> Config {
        Config::rtp_2014_active()
    }
}

/// `fse-2014-2`.
pub(super) struct Rtp2014Conservative;

impl Form for Rtp2014Conservative {
    const NAME: &'static str = "fse-2014-2";
    const SUMMARY: &'static str =
        "the same, cut as a whole when a flow hears of congestion, and then left alone for two round trips";
    const SOURCE: &'static str = "coupled-rtp-2014, algorithm 2";

    fn config() -> Config {
        Config::rtp_2014_conservative()
    }
}

/// `rfc8699-1`.
pub(super) struct Rfc8699Active;

impl Form for Rfc8699Active {
    const NAME: &'static str = "rfc8699-1";
    const SUMMARY: &'static str = "a sum of rates that follows each change, shared by weight, what a limited flow leaves over included: for laws that go by delay";
    const SOURCE: &'static str = "RFC 8699 §5.3.1";

    fn config() -> Config {
        Config::rfc8699_active()
    }
}

/// `rfc8699-2`.
pub(super) struct Rfc8699Conservative;

impl Form for Rfc8699Conservative {
    const NAME: &'static str = "rfc8699-2";
    const SUMMARY: &'static str =
        "the same, cut as a whole when a flow hears of congestion: for laws that go by loss";
    const SOURCE: &'static str = "RFC 8699 §5.3.2";

    fn config() -> Config {
        Config::rfc8699_conservative()
    }
}

/// `passive`.
pub(super) struct Rfc8699Passive;

impl Form for Rfc8699Passive {
    const NAME: &'static str = "passive";
    const SUMMARY: &'static str =
        "only the flow that tells is answered; who comes first takes what is left over";
    const SOURCE: &'static str = "RFC 8699, appendix C";

    fn config() -> Config {
        Config::rfc8699_passive_in_a_testbed()
    }
}

/// `passive-simple`.
pub(super) struct PassiveSimple;

impl Form for PassiveSimple {
    const NAME: &'static str = "passive-simple";
    const SUMMARY: &'static str = "the sum follows each change, and only the flow that tells is answered";
    const SOURCE: &'static str = "coupling-2018";

    fn config() -> Config {
        Config::passive_simple_in_a_testbed()
    }
}
