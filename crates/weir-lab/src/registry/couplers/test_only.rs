//! Couplers for tests of what stands around couplers: each member gets as much as any other.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use weir_cc::coupled::{Aggregate, Coupler, Member, Order, Refusal, Word};
use weir_cc::{DataRate, SendTime};

use super::{Built, CouplerInfo, CouplerKind, Setting, Steers};

/// Its constants.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Config {
    /// The sum of all rates.
    sum: DataRate,
}

impl Default for Config {
    fn default() -> Self {
        Self { sum: DataRate::from_mbps(1) }
    }
}

/// All members get the same part of a fixed rate.
#[derive(Debug)]
struct Equal {
    sum: DataRate,
    members: Vec<Member>,
    orders: Vec<(Member, Order)>,
}

impl Coupler for Equal {
    fn on_word(&mut self, _: SendTime, member: Member, word: &Word) -> Result<(), Refusal> {
        match word {
            Word::Join(_) if self.members.contains(&member) => return Err(Refusal::JoinedAlready(member)),
            Word::Join(_) => self.members.push(member),
            Word::Leave | Word::Withdraw | Word::Pause => self.members.retain(|&other| other != member),
            _ => return Ok(()),
        }
        let rate = self.sum.scale(1.0 / self.members.len().max(1) as f64);
        let order = |&member: &Member| (member, Order::Rate { rate, epoch: 1 });
        self.orders.extend(self.members.iter().map(order));
        Ok(())
    }

    fn poll_order(&mut self) -> Option<(Member, Order)> {
        self.orders.pop()
    }

    fn aggregate(&self, member: Member) -> Option<Aggregate> {
        self.members.contains(&member).then(|| Aggregate { group: 0, sum: self.sum.bps_f64() })
    }
}

fn equal(config: &Config) -> Box<dyn Coupler> {
    Box::new(Equal { sum: config.sum, members: Vec::new(), orders: Vec::new() })
}

/// Steers any flow.
pub(super) struct EqualRates;

impl CouplerKind for EqualRates {
    type Config = Config;

    fn info() -> CouplerInfo {
        CouplerInfo {
            name: "equal",
            summary: "a test's",
            source: "–",
            steers: Steers::Rates,
            testbed_only: false,
        }
    }

    fn config() -> Config {
        Config::default()
    }

    fn build(config: Config, _: &Setting) -> Built {
        Ok(Some(equal(&config)))
    }
}

/// Says that it steers windows alone, and that nobody should use it.
pub(super) struct EqualWindows;

impl CouplerKind for EqualWindows {
    type Config = Config;

    fn info() -> CouplerInfo {
        CouplerInfo {
            name: "equal-windows",
            steers: Steers::Windows,
            testbed_only: true,
            ..EqualRates::info()
        }
    }

    fn config() -> Config {
        Config::default()
    }

    fn build(config: Config, _: &Setting) -> Built {
        Ok(Some(equal(&config)))
    }
}
