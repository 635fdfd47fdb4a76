//! Flows that pause, audio, and unresponsive traffic whose rate changes: from the scenario's keys to the measurements.

use weir_import::traces::TraceStore;
use weir_measure::metrics::Recorder;
use weir_measure::results::{FlowKind, RunMetrics, Value};
use weir_measure::simulate;
use weir_scenario::compile::RunOptions;
use weir_scenario::scenario::Scenario;

const NETWORK: &str = r#"
[links.forward]
from = "left"
to = "right"
delay = "50ms"
rate = "3.5Mbps"
queue = { time = "300ms" }
[links.backward]
from = "right"
to = "left"
delay = "50ms"
rate = "100Mbps"
"#;

/// Metrics of `flows` over [`NETWORK`]; checks that the scenario can be written and read again.
fn run(seconds: u32, flows: &str) -> RunMetrics {
    let text = format!("title = \"t\"\nduration = \"{seconds}s\"\n{NETWORK}\n{flows}");
    let scenario = Scenario::parse("test.toml", &text, &[]).unwrap_or_else(|e| panic!("{e}"));
    let written = scenario.to_toml().expect("every scenario can be written");
    let again = Scenario::parse("again.toml", &written, &[]).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(
        (&again.flows, &again.links),
        (&scenario.flows, &scenario.links),
        "what is written is what was read"
    );
    let run =
        scenario.build(&RunOptions { seed: 1, ..RunOptions::default() }, &TraceStore::at(None)).unwrap();
    simulate(run.spec, Recorder::new(run.plan)).unwrap().finish().metrics
}

#[track_caller]
fn near(actual: Value, expected: f64, tolerance: f64) {
    let actual = actual.expect("a value");
    assert!((actual - expected).abs() <= tolerance, "{actual} instead of {expected}");
}

/// RFC 8867 §5.8: three flows on 3.5 Mbit/s, of which the second pauses from 40 to 60 s.
#[test]
fn while_one_flow_pauses_the_others_take_its_share_and_give_it_back() {
    let call = |name: &str, pauses: &str| {
        format!(
            "[flows.{name}]\nkind = \"media\"\nfrom = \"left\"\nto = \"right\"\ncontroller = \"nada\"\n{pauses}\n\
             encoder = {{ min_rate = \"150kbps\", max_rate = \"1.5Mbps\" }}\n\
             rates = {{ min = \"150kbps\", start = \"150kbps\" }}\n"
        )
    };
    let pause = "pauses = [{ from = \"40s\", to = \"60s\" }]";
    let flows = [call("first", ""), call("second", pause), call("third", "")].concat();
    let metrics = run(120, &flows);
    let second = &metrics.flows[1];
    // 100 s of activity, frames included: 30 in each second.
    near(second.frames_sent, 3000.0, 2.0);
    assert_eq!(second.freezes, Some(0.0), "a pause is no freeze");
    near(second.sent_rate_bps, second.sent.bytes.unwrap() * 8.0 / 100.0, 1e-6);
    let factors = &second.time_per_limiting_factor;
    let under_a_cause: f64 =
        weir_cc::LimitingFactor::ALL.iter().filter_map(|&factor| *factors.get(factor)).sum();
    near(Some(under_a_cause), 100.0, 0.1);
    // The shares change when the second flow leaves, and when it is back: each flow is judged after each change.
    let changes: Vec<f64> = metrics.flows[0].convergence.iter().filter_map(|c| c.at_seconds).collect();
    assert_eq!(changes, [0.0, 40.0, 60.0]);
    let share = |at: usize| metrics.flows[0].convergence[at].share_bps.unwrap();
    // A third of the link; the wire rate of 1.5 Mbit/s of payload, two of which fit; a third.
    assert!((share(0) - 3.5e6 / 3.0).abs() < 2e3 && (share(1) - 1.565e6).abs() < 1e3, "{}", share(1));
    let own: Vec<f64> = second.convergence.iter().filter_map(|c| c.at_seconds).collect();
    assert_eq!(own, [0.0, 60.0]);
    assert!(metrics.flows[0].convergence[1].not_converged == Some(0.0), "{:?}", metrics.flows[0].convergence);
}

#[test]
fn audio_of_its_own_is_a_steady_flow_of_90_bytes() {
    let audio = "[flows.audio]\nkind = \"audio\"\nfrom = \"left\"\nto = \"right\"\n\
                 pauses = [{ from = \"2s\", to = \"4s\" }]\n";
    let metrics = run(10, audio);
    let flow = &metrics.flows[0];
    assert_eq!(flow.kind, FlowKind::Audio);
    // 8 s of 50 packets a second, of 50 bytes in 90.
    assert_eq!((flow.sent.packets, flow.sent.bytes), (Some(400.0), Some(36_000.0)));
    assert_eq!((flow.sent.payload_bytes, flow.sent_rate_bps), (Some(20_000.0), Some(36_000.0)));
    assert_eq!(flow.frames_sent, None);
}

#[test]
fn audio_in_a_stream_is_part_of_what_the_controller_may_send() {
    let call = |audio: &str| {
        let flow = format!(
            "[flows.call]\nkind = \"media\"\nfrom = \"left\"\nto = \"right\"\ncontroller = \"gcc\"\n{audio}\n\
             encoder = {{ max_rate = \"1Mbps\" }}\nrates = {{ max = \"400kbps\", start = \"400kbps\" }}\n"
        );
        run(20, &flow).flows.remove(0)
    };
    let (with, without) = (call("audio = {}"), call(""));
    // 400 kbit/s of payload in both; with audio 50 packets a second more.
    near(without.payload_rate_bps, 400e3, 4e3);
    near(with.payload_rate_bps, 400e3, 4e3);
    let more = with.sent.packets.unwrap() - without.sent.packets.unwrap();
    assert!((more - 1000.0).abs() < 30.0, "{more} packets more");
    assert_eq!(with.frames_sent, without.frames_sent);
    assert_eq!(with.loss_ratio, Some(0.0));
    near(with.target_rate_bps, 400e3, 4e3);
}

#[test]
fn a_staircase_and_turns_send_what_they_say() {
    let flows = "[flows.stairs]\nkind = \"constant\"\nfrom = \"left\"\nto = \"right\"\n\
         steps = [{ at = \"0s\", rate = \"500kbps\" }, { at = \"4s\", rate = \"0bps\" }, { at = \"6s\", rate = \"2Mbps\" }]\n\
         [flows.turns]\nkind = \"constant\"\nfrom = \"left\"\nto = \"right\"\nstart = \"1s\"\n\
         rate = \"400kbps\"\non = \"500ms\"\noff = \"1.5s\"\n";
    let metrics = run(9, flows);
    let (stairs, turns) = (&metrics.flows[0], &metrics.flows[1]);
    // 4 s · 500 + 3 s · 2000 = 8 Mbit, in packets of 8000 bits.
    near(stairs.sent.packets, 1000.0, 1.0);
    assert_eq!(stairs.kind, FlowKind::Constant);
    // From 1, 3, 5 and 7 s on half a second at 50 packets a second.
    assert_eq!(turns.sent.packets, Some(100.0));
    // Activity is the four half seconds.
    near(turns.sent_rate_bps, 400e3, 1.0);
}
