//! Packets against the fluid model: one DCCC flow, from its start to its rest.

use weir_lab::fluid::{FluidFlow, FluidLink, integrate};
use weir_lab::metrics::Recorder;
use weir_lab::scenario::{RunOptions, Scenario};
use weir_lab::traces::TraceStore;
use weir_sim::Simulation;

const STEP: f64 = 0.5e-3;
const SECONDS: usize = 60;

/// The received rate of each second, and the mean queuing delay of the last ones in ms.
fn packets() -> (Vec<f64>, f64) {
    let overrides = ["duration=60s".to_owned(), "measure={ from = '40s' }".to_owned()];
    let scenario = Scenario::open("dccc-2017/one-flow", &overrides).expect("it ships");
    let options = RunOptions { seed: 1, controller: None, series: false };
    let run = scenario.build(&options, &TraceStore::at(None)).expect("it is complete");
    let recorder = Simulation::new(run.spec, Recorder::new(run.plan)).expect("it is valid").run();
    let measured = recorder.finish();
    let rate = |bins: &[u32]| bins.iter().map(|&bytes| f64::from(bytes) * 8.0).sum();
    let rates = measured.receipts[0].chunks(10).map(rate).collect();
    (rates, measured.metrics.flows[0].queue_wait_ms.mean.expect("packets arrived"))
}

/// The climb takes packets a fifth longer: their serialisation is part of the round trip, which the fluid has none of.
#[test]
fn one_flow_does_what_the_fluid_does_within_five_per_cent() {
    let link = FluidLink { capacity: 1.5e6, cross_traffic: 0.0, queue_limit: 2.0, propagation: 0.025 };
    let flow = FluidFlow {
        route: vec![0],
        return_delay: 0.025,
        active: (0.0, 100.0),
        start_rate: 200e3,
        utility_weight: 20e3,
        price_scale: 0.1,
        gain: 0.4,
        threshold: 0.1,
    };
    let fluid = integrate(&[link], &[flow], SECONDS as f64, STEP).expect("it is in range");
    let (packets, wait) = packets();
    let per_second = (1.0 / STEP) as usize;
    // What a second receives was sent 25 ms before, and comes no faster than the link is.
    let carried = |second: usize| {
        let from = second * per_second - (0.025 / STEP) as usize;
        fluid.rates[0][from..from + per_second].iter().map(|rate| rate.min(1.5e6)).sum::<f64>()
            / per_second as f64
    };
    for (second, &received) in packets.iter().enumerate().skip(12) {
        let expected = carried(second);
        assert!(
            (received - expected).abs() <= 0.05 * expected,
            "second {second}: {received:.0} bit/s, and the fluid {expected:.0}"
        );
    }
    let rest = fluid.queue(0, 59.0) * 1e3;
    assert!((wait - rest).abs() <= 0.05 * rest, "{wait:.1} ms, and the fluid {rest:.1}");
}
