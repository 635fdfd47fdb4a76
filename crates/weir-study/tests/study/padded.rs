//! Padding wins no suite: it fills a link without any use for the viewer.
//!
//! `make test` checks some cases, `make test-long` (`WEIR_LONG=1`) every case of every suite in which calls are judged.

use std::collections::BTreeMap;

use weir_cc::{
    AllocatedRate, ChangeReason, Controller, Decision, Evidence, Feedback, PathEvent, Probe, RateLimits,
    Receiver, ReportKind, SendState, SendTime, SentPacket, Signal, Stamp, StreamsConfig, Target,
};
use weir_import::traces::TraceStore;
use weir_measure::results::stats::mean;
use weir_scenario::registry::{ControllerInfo, ControllerKind, Half, Registry};
use weir_scenario::scenario::Candidate;
use weir_study::judge::Verdict;
use weir_study::runs::{NoStore, Shardable as _};
use weir_study::suite::{ControllerResult, SUITES, Suite, SuiteRequest, find};

/// Load over the target.
const LOAD: f64 = 1.25;
/// Controllers, each with its padded form.
const PAIRS: [(&str, &str); 3] =
    [("gcc", "padded-gcc"), ("nada", "padded-nada"), ("scream-v2", "padded-scream-v2")];

/// A controller that adds padding beyond its target, and otherwise behaves like `0`.
#[derive(Debug)]
struct Padded(Box<dyn Controller>);

impl Controller for Padded {
    fn target(&self) -> Target {
        let target = self.0.target();
        let padding = target.sending_rate.max(target.media_rate).scale(LOAD);
        Target { padding, sending_rate: padding, ..target }
    }

    fn on_sent(&mut self, packet: &SentPacket, state: &SendState) {
        self.0.on_sent(packet, state);
    }

    fn accepts(&self, kind: ReportKind) -> bool {
        self.0.accepts(kind)
    }

    fn on_feedback(&mut self, now: SendTime, feedback: &Feedback<'_>, state: &SendState) -> Option<Decision> {
        self.0.on_feedback(now, feedback, state)
    }

    fn on_timeout(&mut self, now: SendTime, state: &SendState) -> Option<Decision> {
        self.0.on_timeout(now, state)
    }

    fn on_event(&mut self, now: SendTime, event: PathEvent) -> Option<Decision> {
        self.0.on_event(now, event)
    }

    fn next_timeout(&self) -> Option<SendTime> {
        self.0.next_timeout()
    }

    fn on_streams(&mut self, now: SendTime, streams: StreamsConfig) {
        self.0.on_streams(now, streams);
    }

    fn stamp(&self) -> Option<Stamp> {
        self.0.stamp()
    }

    fn poll_probe(&mut self) -> Option<Probe> {
        self.0.poll_probe()
    }

    fn apply_allocation(&mut self, now: SendTime, share: AllocatedRate) -> weir_cc::DataRate {
        self.0.apply_allocation(now, share)
    }

    fn signals(&self) -> &'static [Signal] {
        self.0.signals()
    }

    fn read_signals(&self, out: &mut [f64]) {
        self.0.read_signals(out);
    }

    fn evidence(&self, why: ChangeReason) -> [Option<Evidence>; 3] {
        self.0.evidence(why)
    }
}

macro_rules! padded {
    ($type:ident, $own:literal, $name:literal) => {
        /// The padded form of a controller, for the registry.
        struct $type;

        impl ControllerKind for $type {
            type Config = BTreeMap<String, f64>;

            fn info() -> ControllerInfo {
                let shipped = Registry::standard();
                let own = shipped.find($own).unwrap().clone();
                ControllerInfo { name: $name.into(), presets: Vec::new(), ..own }
            }

            fn sender(_: Self::Config, limits: RateLimits) -> Half<dyn Controller> {
                let own = Registry::standard().build_sender($own, None, limits, 1.0);
                Ok(Box::new(Padded(own.map_err(|error| error.to_string())?)))
            }

            fn receiver(_: Self::Config, limits: RateLimits) -> Half<dyn Receiver> {
                Registry::standard()
                    .build_receiver($own, None, limits, 1.0)
                    .map_err(|error| error.to_string())
            }
        }
    };
}

padded!(PaddedGcc, "gcc", "padded-gcc");
padded!(PaddedNada, "nada", "padded-nada");
padded!(PaddedScream, "scream-v2", "padded-scream-v2");

/// Useful rates of the runs, in bit/s.
fn useful(own: &ControllerResult) -> Vec<f64> {
    own.viewed.iter().filter_map(|run| run.useful_bps).collect()
}

/// Whether viewers get significantly more: by more than the 95 % interval of the differences, run by run.
fn gives_more(padded: &ControllerResult, alone: &ControllerResult) -> bool {
    let less: Vec<f64> = useful(padded).iter().zip(useful(alone)).map(|(padded, own)| padded - own).collect();
    let estimate = weir_measure::results::stats::Estimate::of(&less);
    estimate.is_some_and(|own| own.mean - own.half_width.unwrap_or(0.0) > 0.0)
}

/// The cases that a padded controller passes and the same controller without padding fails, with no more useful rate.
fn won_by_padding(suite: &Suite, cases: &[&str], seeds: &[u64]) -> Vec<String> {
    let registry = Registry::standard().with::<PaddedGcc>().with::<PaddedNada>().with::<PaddedScream>();
    let names = PAIRS.iter().flat_map(|&(own, padded)| [own, padded]);
    let controllers: Vec<Candidate> = names.map(Candidate::named).collect();
    let request = SuiteRequest { suite, registry: &registry, controllers: &controllers, seeds, cases };
    let plan = request.plan().expect("it can be read");
    let run = plan.run(2, &TraceStore::find(&[]), &NoStore, &|| {}).expect("it runs");
    let mut won = Vec::new();
    for case in &run.result.cases {
        for pair in case.controllers.chunks(2) {
            let [alone, padded] = pair else { continue };
            let (before, after) = (alone.verdict(), padded.verdict());
            if before != Verdict::Passed && after == Verdict::Passed && !gives_more(padded, alone) {
                let rates = [alone, padded].map(|own| mean(&useful(own)).unwrap_or(0.0) / 1e3);
                won.push(format!("{}/{}: {} {rates:.0?} kbit/s", suite.name, case.name, padded.name));
            }
        }
    }
    won
}

#[test]
fn padding_passes_no_case_that_the_controller_alone_misses() {
    let is_long = std::env::var_os("WEIR_LONG").is_some_and(|value| value == "1");
    let won: Vec<String> = if is_long {
        // The preset for games is not the padded controller's.
        let suites = SUITES.iter().filter(|suite| suite.name != "gaming");
        suites.flat_map(|suite| won_by_padding(suite, &[], &[1, 2, 3, 4, 5])).collect()
    } else {
        let cellular = won_by_padding(find("rfc8869").expect("it ships"), &["2.1 down 1"], &[1, 2]);
        let shared = won_by_padding(find("sharing").expect("it ships"), &["rtt 20ms"], &[1, 2]);
        cellular.into_iter().chain(shared).collect()
    };
    assert!(won.is_empty(), "{}", won.join("\n"));
}

#[test]
fn padding_is_overhead_and_no_rate() {
    let suite = find("quality").expect("it ships");
    let registry = Registry::standard().with::<PaddedGcc>().with::<PaddedNada>().with::<PaddedScream>();
    let names = PAIRS.iter().flat_map(|&(own, padded)| [own, padded]);
    let controllers: Vec<Candidate> = names.map(Candidate::named).collect();
    let request = SuiteRequest {
        suite,
        registry: &registry,
        controllers: &controllers,
        seeds: &[1],
        cases: &["steady"],
    };
    let run = request.plan().expect("it can be read").run(2, &TraceStore::at(None), &NoStore, &|| {});
    let result = run.expect("it runs").result;
    let overhead = |index: usize| result.overhead(index).expect("media arrived");
    for (place, (own, padded)) in PAIRS.iter().enumerate() {
        let (alone, with) = (overhead(2 * place), overhead(2 * place + 1));
        // Headers of 40 bytes beside payloads of 1200 and less; padding on top of that.
        assert!((2.0..8.0).contains(&alone), "{own}: {alone}");
        assert!(with > alone + 5.0, "{padded}: {with} beside {alone}");
    }
}
