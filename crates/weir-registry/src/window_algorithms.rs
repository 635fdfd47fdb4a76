//! The window algorithms of TCP by name.

use weir_cc::window::{
    Cubic, Dctcp, HighSpeed, HighSpeedResponse, HyStart, HyStartConfig, NewReno, Rules, Westwood,
    WestwoodEstimator, WindowAlgorithm,
};

use crate::advice::advice;
use crate::error::RegistryError;
use crate::tcp_profile::TcpProfile;

/// The description of a window algorithm of TCP.
#[derive(Clone, Copy, Debug)]
pub struct WindowAlgorithmInfo {
    /// Its name in scenarios.
    pub name: &'static str,
    /// Its principle, in a sentence.
    pub summary: &'static str,
    /// The RFC or paper that it implements.
    pub source: &'static str,
    build: fn(&Stack) -> Box<dyn WindowAlgorithm>,
}

/// The sender that a window algorithm is for.
struct Stack {
    profile: TcpProfile,
    /// Whether it paces its segments.
    pacing: bool,
}

static WINDOW_ALGORITHMS: [WindowAlgorithmInfo; 8] = [
    WindowAlgorithmInfo {
        name: "newreno",
        summary: "one segment more per round trip, half after a loss",
        source: "RFC 5681, RFC 6582",
        build: |stack| Box::new(NewReno::with_rules(stack.rules())),
    },
    WindowAlgorithmInfo {
        name: "cubic",
        summary: "growth by the cube of the time since the last loss, 70 % after a loss",
        source: "RFC 9438",
        build: |stack| Box::new(stack.cubic(None)),
    },
    WindowAlgorithmInfo {
        name: "cubic-hystart",
        summary: "CUBIC whose slow start ends when the round-trip time rises or acknowledgements fill half of it",
        source: "RFC 9438; Ha and Rhee 2011, as in Linux",
        build: |stack| Box::new(stack.cubic(Some(stack.hystart()))),
    },
    WindowAlgorithmInfo {
        name: "highspeed",
        summary: "faster growth and smaller reductions the larger the window is",
        source: "RFC 3649",
        build: |stack| Box::new(stack.high_speed()),
    },
    WindowAlgorithmInfo {
        name: "westwood-plus",
        summary: "after a loss as much as the path has carried",
        source: "Grieco and Mascolo 2004, as in Linux",
        build: |stack| Box::new(Westwood::with_rules(stack.westwood(), stack.rules())),
    },
    WindowAlgorithmInfo {
        name: "westwood",
        summary: "the same with a sample per acknowledgement, over the time since the last one",
        source: "Mascolo et al. 2001, as in ns-3.37 and in ns-3 before 3.25",
        build: |stack| Box::new(Westwood::with_rules(WestwoodEstimator::Ns3AckSpacing, stack.rules())),
    },
    WindowAlgorithmInfo {
        name: "westwood-per-ack",
        summary: "the same with a sample per acknowledgement, over the round trip: nearly always ends at two segments",
        source: "ns-3 from 3.25 on, until its commit 0e685cb",
        build: |stack| Box::new(Westwood::with_rules(WestwoodEstimator::Ns3PerAck, stack.rules())),
    },
    WindowAlgorithmInfo {
        name: "dctcp",
        summary: "gives way by half the share of marked segments; for L4S",
        source: "RFC 8257",
        build: |stack| Box::new(Dctcp::with_rules(stack.rules())),
    },
];

/// Every window algorithm of TCP.
pub fn window_algorithms() -> &'static [WindowAlgorithmInfo] {
    &WINDOW_ALGORITHMS
}

impl Stack {
    fn rules(&self) -> Rules {
        match self.profile {
            // The last has a window algorithm of its own, without a name.
            TcpProfile::Plain | TcpProfile::Chromium2015 => Rules::default(),
            TcpProfile::Rfc => Rules::rfc_5681(),
            TcpProfile::Linux316 => Rules::linux(),
            TcpProfile::Linux6 => Rules::linux_6(),
            TcpProfile::Ns326 => Rules::ns3_26(),
        }
    }

    /// Linux looks for the end of slow start under either name.
    fn cubic(&self, hystart: Option<HyStart>) -> Cubic {
        match self.profile {
            TcpProfile::Linux316 => Cubic::linux_3_16(Some(HyStart::new(HyStartConfig::linux_3_16()))),
            TcpProfile::Linux6 => Cubic::linux_6(Some(self.hystart())),
            _ => Cubic::with_rules(self.rules(), hystart),
        }
    }

    fn hystart(&self) -> HyStart {
        HyStart::new(match self.profile {
            TcpProfile::Ns326 => HyStartConfig::ns3(),
            _ if self.pacing => HyStartConfig::linux().paced(),
            _ => HyStartConfig::linux(),
        })
    }

    /// Linux and ns-3 use the table, and both count segments even where their Reno does not.
    fn high_speed(&self) -> HighSpeed {
        let response = match self.profile {
            TcpProfile::Plain | TcpProfile::Rfc | TcpProfile::Chromium2015 => HighSpeedResponse::Formula,
            TcpProfile::Linux316 | TcpProfile::Linux6 | TcpProfile::Ns326 => HighSpeedResponse::Table,
        };
        HighSpeed::with_rules(response, Rules { counts_acknowledgements: false, ..self.rules() })
    }

    fn westwood(&self) -> WestwoodEstimator {
        if self.profile == TcpProfile::Ns326 { WestwoodEstimator::Ns3 } else { WestwoodEstimator::Linux }
    }
}

/// The window algorithm `name`, with the rules of the stack `profile`, for a sender that paces its segments or
/// does not.
///
/// # Errors
/// An unknown name.
pub fn window_algorithm(
    name: &str,
    profile: TcpProfile,
    pacing: bool,
) -> Result<Box<dyn WindowAlgorithm>, RegistryError> {
    Ok((find(name)?.build)(&Stack { profile, pacing }))
}

fn find(name: &str) -> Result<&'static WindowAlgorithmInfo, RegistryError> {
    window_algorithms().iter().find(|algorithm| algorithm.name == name).ok_or_else(|| {
        let advice = advice(name, window_algorithms().iter().map(|algorithm| algorithm.name));
        RegistryError::Unknown { what: "TCP algorithm", name: name.to_owned(), advice }
    })
}

/// A maker of window algorithms as those of [`window_algorithm`], for flows of many connections.
///
/// # Errors
/// An unknown name.
pub fn window_algorithm_factory(
    name: &str,
    profile: TcpProfile,
    pacing: bool,
) -> Result<impl Fn() -> Box<dyn WindowAlgorithm> + Send + Sync + 'static, RegistryError> {
    let algorithm = find(name)?;
    Ok(move || (algorithm.build)(&Stack { profile, pacing }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn built(name: &str, profile: TcpProfile, pacing: bool) -> String {
        format!("{:?}", window_algorithm(name, profile, pacing).unwrap())
    }

    #[test]
    fn cubic_is_that_of_the_profile_and_looks_for_the_end_of_slow_start_as_its_stack_does() {
        let with = |rules, config| format!("{:?}", Cubic::with_rules(rules, Some(HyStart::new(config))));
        let linux = format!("{:?}", Cubic::linux_3_16(Some(HyStart::new(HyStartConfig::linux_3_16()))));
        for name in ["cubic", "cubic-hystart"] {
            for pacing in [false, true] {
                assert_eq!(built(name, TcpProfile::Linux316, pacing), linux);
            }
        }
        let name = "cubic-hystart";
        assert_eq!(built(name, TcpProfile::Plain, false), with(Rules::default(), HyStartConfig::linux()));
        assert_eq!(
            built(name, TcpProfile::Plain, true),
            with(Rules::default(), HyStartConfig::linux().paced())
        );
        assert_eq!(built(name, TcpProfile::Ns326, false), with(Rules::ns3_26(), HyStartConfig::ns3()));
    }
}
