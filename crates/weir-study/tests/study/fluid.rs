//! Packets against the fluid model: one DCCC flow, from its start to its equilibrium.

use weir_import::traces::TraceStore;
use weir_measure::metrics::Recorder;
use weir_measure::simulate;
use weir_scenario::compile::RunOptions;
use weir_scenario::scenario::Scenario;
use weir_theory::fluid::{FluidFlow, FluidLink, Integration, integrate};

const STEP: f64 = 0.5e-3;
const SECONDS: usize = 60;

/// Bins of the series and of the received data, per second.
const PER_SECOND: usize = 10;

/// A flow of dccc-2017 on 1.5 Mbit/s, 50 ms there and back, as a video of 30 frames a second.
struct Packets {
    /// Rate received in each second on the wire, bit/s.
    rates: Vec<f64>,
    /// Mean queuing delay of the last 20 s, ms.
    wait: f64,
    /// The controller's rate (bit/s) and round-trip time (ms) at the end of each bin.
    x: Vec<f64>,
    rtt: Vec<f64>,
}

/// Measurements of the packet simulation of one DCCC flow.
fn packets() -> Packets {
    let overrides = [
        "duration=60s",
        "measure={ from = '40s' }",
        "flows.video.encoder={ preset = 'papers', min_rate = '10kbps', max_rate = '10Mbps' }",
        "flows.video.payload_limit=1024B",
    ]
    .map(str::to_owned);
    let scenario = Scenario::open("dccc-2017/one-flow", &overrides).expect("it ships");
    let options = RunOptions { seed: 1, controller: None, series: true };
    let run = scenario.build(&options, &TraceStore::at(None)).expect("it is complete");
    let recorder = simulate(run.spec, Recorder::new(run.plan)).expect("it is valid");
    let measured = recorder.finish();
    let rate = |bins: &[u32]| bins.iter().map(|&bytes| f64::from(bytes) * 8.0).sum();
    let series = measured.series.expect("it was asked for").whole().unwrap();
    let signal = |name: &str| {
        let signals = &series.flows[0].signals;
        signals.iter().find(|signal| signal.name == name).expect("DCCC has it").max.clone()
    };
    Packets {
        rates: measured.receipts[0].chunks(PER_SECOND).map(rate).collect(),
        wait: measured.metrics.flows[0].queue_wait_ms.mean.expect("packets arrived"),
        x: signal("x"),
        rtt: signal("RTT"),
    }
}

/// The mean of a series between two seconds.
fn mean(series: &[f64], from: usize, to: usize) -> f64 {
    let values: Vec<f64> =
        series[from * PER_SECOND..to * PER_SECOND].iter().copied().filter(|v| v.is_finite()).collect();
    values.iter().sum::<f64>() / values.len() as f64
}

/// The fluid, its packets taking `serialisation` seconds to be sent.
fn fluid(serialisation: f64) -> Integration {
    let propagation = 0.025 + serialisation;
    let link = FluidLink { capacity: 1.5e6, cross_traffic: 0.0, queue_limit: 2.0, propagation };
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
    integrate(&[link], &[flow], SECONDS as f64, STEP).expect("it is in range")
}

#[test]
fn one_flow_rests_where_the_fluid_does_within_five_per_cent() {
    let (fluid, packets) = (fluid(0.0), packets());
    let per_second = (1.0 / STEP) as usize;
    // The data received in a second was sent 25 ms before.
    let sent = |second: usize| {
        let from = second * per_second - (0.025 / STEP) as usize;
        fluid.rates[0][from..from + per_second].iter().sum::<f64>() / per_second as f64
    };
    for (second, &received) in packets.rates.iter().enumerate().skip(12) {
        let expected = sent(second);
        assert!(
            (received - expected).abs() <= 0.05 * expected,
            "second {second}: {received:.0} bit/s, and the fluid {expected:.0}"
        );
    }
    let (wait, rest) = (packets.wait, fluid.queue(0, 59.0) * 1e3);
    assert!((wait - rest).abs() <= 0.05 * rest, "{wait:.1} ms, and the fluid {rest:.1}");
}

/// The controller's rate grows by η·h per round trip as long as the gradient is zero. The gradient of packets, measured report by
/// report, is above zero on average: `docs/simulator.md`.
#[test]
fn one_flow_climbs_at_nine_tenths_of_the_fluids_pace() {
    let packets = packets();
    let serialisation = mean(&packets.rtt, 2, 8) / 1e3 - 0.050;
    // 1068 bytes at most.
    assert!((4.5e-3..=1068.0 * 8.0 / 1.5e6).contains(&serialisation), "{serialisation}");
    let climb = (mean(&packets.x, 7, 8) - mean(&packets.x, 2, 3)) / 5.0;
    let fluid = fluid(serialisation);
    let expected = (fluid.rate(0, 7.5) - fluid.rate(0, 2.5)) / 5.0;
    let ratio = climb / expected;
    assert!((ratio - 0.87).abs() <= 0.02, "{climb:.0} and {expected:.0} bit/s per second: {ratio:.3}");
}
