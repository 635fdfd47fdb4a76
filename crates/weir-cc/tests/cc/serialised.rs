//! Values that an embedder logs, as JSON and back.

use std::fmt::Debug;

use proptest::prelude::*;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use weir_cc::coupled::{
    Aggregate, CouplerAction, CouplingMessage, CwndUpdate, FlowId, FlowParameters, Join, Refusal, Statistics,
    Update, WindowEvent, Windowed,
};
use weir_cc::history::{ImpossibleReports, SendHistory};
use weir_cc::window::Window;
use weir_cc::{
    AllocatedRate, ApparentDelay, Arrival, ArrivalTime, Burst, ChangeReason, DataRate, DataSize, DcccReport,
    Decision, Echo, Ecn, Evidence, Feedback, LimitingFactor, NadaDelayReport, NadaReport, NativeReport,
    OwnReport, Pacing, PacketFate, PacketFormat, PacketResult, PathEvent, Probe, ProbeId, RateLimits,
    Reception, ReceptionReport, Record, Report, ReportKind, SendState, SendTime, SentPacket, Signal, Stamp,
    StreamsConfig, Target, TfrcReport, TimeDelta,
};

/// Asserts that `value` is `expected` in JSON, and comes back from it.
fn assert_is<T: Serialize + DeserializeOwned + Copy + PartialEq + Debug>(value: T, expected: Value) {
    let text = serde_json::to_string(&value).unwrap();
    assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), expected, "{value:?}");
    assert_eq!(serde_json::from_value::<T>(expected).unwrap(), value);
}

/// Asserts that `value` comes back from JSON.
fn assert_comes_back<T: Serialize + DeserializeOwned + Copy + PartialEq + Debug>(value: T) {
    let text = serde_json::to_string(&value).unwrap();
    assert_eq!(serde_json::from_str::<T>(&text).unwrap(), value, "{text}");
}

fn kbps(kbps: u64) -> DataRate {
    DataRate::from_kbps(kbps)
}

#[test]
fn a_target_has_rates_with_units_and_names_in_kebab_case() {
    let mut target = Target::at(kbps(2500), Pacing::Factor(2.5), LimitingFactor::RampUp);
    target.burst = Burst { time: TimeDelta::from_millis(5), size: DataSize::from_bytes(3000) };
    target.window = Some(DataSize::from_bytes(20_000));
    let expected = json!({
        "media_rate": "2.5Mbps",
        "sending_rate": "2.5Mbps",
        "pacing": { "factor": 2.5 },
        "burst": { "time": "5ms", "size": "3kB" },
        "window": "20kB",
        "padding": "0bps",
        "frame_drop": 0.0,
        "limiting_factor": "ramp-up",
    });
    assert_is(target, expected);
    assert_is(Pacing::Unpaced, json!("unpaced"));
    assert_is(Pacing::Exact(kbps(300)), json!({ "exact": "300kbps" }));
}

#[test]
fn factors_and_reasons_have_the_names_of_tables() {
    for factor in LimitingFactor::ALL {
        assert_is(factor, json!(factor.name()));
    }
    for reason in ChangeReason::ALL {
        assert_is(reason, json!(reason.name()));
    }
}

#[test]
fn decisions_events_and_inputs_come_back() {
    let decision = Decision { rate: kbps(300), base: kbps(350), why: ChangeReason::Mark, rtt: None };
    assert_is(decision, json!({ "rate": "300kbps", "base": "350kbps", "why": "mark", "rtt": null }));
    let limits = RateLimits::new(kbps(50), kbps(300), DataRate::MAX).unwrap();
    let bounds = json!({ "min": "50kbps", "start": "300kbps", "max": "18446744073709551.615kbps" });
    assert_is(limits, bounds.clone());
    assert_is(PathEvent::Limits(limits), json!({ "limits": bounds }));
    assert_is(PathEvent::RouteChanged, json!("route-changed"));
    for event in [PathEvent::Paused, PathEvent::Resumed, PathEvent::DelayRefuted] {
        assert_comes_back(event);
    }
    let id = ProbeId::new(7).unwrap();
    let probe = Probe { id, rate: kbps(900), packets: 5, size: DataSize::from_bytes(1800) };
    assert_is(probe, json!({ "id": 7, "rate": "900kbps", "packets": 5, "size": "1.8kB" }));
    let state = SendState { application_limited: true, ..SendState::default() };
    assert_is(state, json!({ "in_flight": "0B", "queued": "0B", "application_limited": true }));
    assert_comes_back(StreamsConfig::screen(kbps(1000)));
    assert_comes_back(AllocatedRate { rate: kbps(1000) });
    assert_comes_back(Stamp { rtt: TimeDelta::from_millis(50), rate: kbps(100) });
    assert_comes_back(Arrival::new(3, SendTime::ZERO, ArrivalTime::from_nanos(-1), DataSize::from_bytes(9)));
}

#[test]
fn limits_that_are_out_of_order_are_refused() {
    let limits = json!({ "min": "50kbps", "start": "30kbps", "max": "2Mbps" });
    let error = serde_json::from_value::<RateLimits>(limits).unwrap_err().to_string();
    assert_eq!(error, "rates must satisfy 0 < min ≤ start ≤ max");
}

#[test]
fn packets_and_their_fates_come_back() {
    let sent = SentPacket {
        padding: true,
        ..SentPacket::new(4, SendTime::from_nanos(-5), DataSize::from_bytes(1200))
    };
    let at = Some(ArrivalTime::from_nanos(12_345_678_901));
    let expected = json!({
        "sent": { "id": 4, "at": -5, "size": "1.2kB", "payload": "1.2kB", "padding": true, "probe": null },
        "fate": { "arrived": { "at": 12_345_678_901_i64, "ecn": "ce" } },
    });
    assert_is(PacketResult { sent, fate: PacketFate::Arrived { at, ecn: Ecn::Ce } }, expected);
    assert_is(PacketFate::Missing, json!("missing"));
    assert_is(
        PacketFate::Recovered { at: None, ecn: Ecn::NotEct },
        json!({ "recovered": { "at": null, "ecn": "not-ect" } }),
    );
    for (ecn, name) in [(Ecn::Ect0, "ect0"), (Ecn::Ect1, "ect1")] {
        assert_is(ecn, json!(name));
    }
    let refused = ImpossibleReports { early: 3, marks: u64::MAX, ..ImpossibleReports::default() };
    assert_comes_back(refused);
}

#[test]
fn reports_come_back() {
    assert_is(Reception::At(ArrivalTime::from_millis(1)), json!({ "at": 1_000_000 }));
    let record = Record { ecn: Ecn::Ect1, ..Record::new(65_535, None) };
    assert_is(record, json!({ "sequence": 65_535, "reception": "missing", "ecn": "ect1" }));
    assert_comes_back(Reception::Untimed);
    assert_comes_back(Echo { sequence: 9, held: TimeDelta::from_micros(7) });
    assert_comes_back(ReceptionReport { cumulative_lost: -3, jitter: 5, ..ReceptionReport::default() });
    let delay = ApparentDelay::between(SendTime::from_millis(3), ArrivalTime::ZERO);
    assert_is(delay, json!(-3_000_000));
    let (rate, span) = (kbps(700), TimeDelta::from_millis(12));
    let own = OwnReport::new(*b"MINE", &[0, 7]).unwrap();
    assert_is(own, json!({ "name": [77, 73, 78, 69], "bytes": [0, 7] }));
    let error = serde_json::from_value::<OwnReport>(json!({ "name": [1, 2, 3, 4], "bytes": vec![0; 65] }));
    assert!(error.unwrap_err().to_string().contains("at most 64"));
    let packet_size = DataSize::from_bytes(1000);
    let dccc =
        DcccReport { delay, sending_rate: rate, interarrival: span, packet_size, at: ArrivalTime::MAX };
    let native = [
        NativeReport::Nada(NadaReport { ramp_up: true, congestion: span, receive_rate: rate }),
        NativeReport::Dccc(dccc),
        NativeReport::Tfrc(TfrcReport { loss_event_rate: 0.1, receive_rate: rate }),
        NativeReport::NadaDelay(NadaDelayReport { congestion: span, reference: span }),
        NativeReport::Own(own),
    ];
    for report in native {
        assert_comes_back(report);
    }
    assert_is(ReportKind::NadaDelay, json!("nada-delay"));
    assert_is(PacketFormat::TransportWide, json!("transport-wide"));
    assert_is(PacketFormat::Rfc8888, json!("rfc8888"));
}

#[test]
fn coupling_comes_back() {
    let window = Window { cwnd: 10.5, ssthresh: f64::INFINITY };
    assert_is(window, json!({ "cwnd": 10.5, "ssthresh": null }));
    assert_is(CouplerAction::Window(window), json!({ "window": window }));
    let rate = CouplerAction::Rate { rate: kbps(100), epoch: 3 };
    assert_is(rate, json!({ "rate": { "rate": "100kbps", "epoch": 3 } }));
    let windowed = Windowed { window, segment: DataSize::from_bytes(1448), base_rtt: None };
    let parameters = FlowParameters { priority: 0.5, desired: None, least: kbps(50) };
    let join = Join { parameters, start: kbps(300), present: kbps(400), window: Some(windowed) };
    let decision = Decision { rate: kbps(2), base: kbps(1), why: ChangeReason::Route, rtt: None };
    let update = Update { decision, window: None, epoch: 7, has_feedback: true };
    let cwnd = CwndUpdate {
        event: WindowEvent::RecoveryEntered,
        before: window,
        after: Window { cwnd: 5.0, ssthresh: 5.0 },
        acked: 1.0,
        flight: 9.25,
        window_limited: true,
        srtt: Some(TimeDelta::from_millis(30)),
        base_rtt: None,
    };
    let statistics = Statistics {
        interval: 9,
        skew: -0.1,
        variability: 1e-9,
        frequency: 0.3,
        loss: 0.0,
        packets: 20,
        bottleneck: true,
        queuing: 1.5,
        samples: 4,
    };
    let messages = [
        CouplingMessage::Join(join),
        CouplingMessage::FlowParameters(parameters),
        CouplingMessage::Update(update),
        CouplingMessage::Window(cwnd),
        CouplingMessage::Statistics(statistics),
        CouplingMessage::Leave,
    ];
    for message in messages {
        assert_comes_back(message);
    }
    assert_comes_back(Aggregate { group: 1, sum: 2.5e6 });
    assert_is(Refusal::JoinedAlready(FlowId(5)), json!({ "joined-already": 5 }));
}

#[test]
fn borrowed_values_are_written() {
    let json = |value: &dyn Fn() -> serde_json::Result<Value>| value().unwrap();
    let records = [Record::new(1, None)];
    let written = json(&|| serde_json::to_value(Report::packets(&records, 5)));
    let packets = json!({ "records": records, "number": 5, "at": null });
    assert_eq!(written, json!({ "packets": packets }));
    let mut history = SendHistory::new(TimeDelta::from_secs(5));
    history.on_media_sent(SendTime::ZERO, DataSize::ZERO, DataSize::from_bytes(100));
    let records = [Record::new(0, Some(ArrivalTime::from_millis(20)))];
    let feedback = history.join(SendTime::from_millis(40), &Report::packets(&records, 0)).unwrap();
    let Feedback::Packets { results, .. } = feedback else { unreachable!("a report on packets") };
    let written = json(&|| serde_json::to_value(feedback));
    assert_eq!(written["packets"]["rtt"], "40ms");
    let read: Vec<PacketResult> = serde_json::from_value(written["packets"]["results"].clone()).unwrap();
    assert_eq!(read, results);
    let signal = Signal { name: "d_base", unit: "ms", meaning: "the base delay" };
    assert_eq!(json(&|| serde_json::to_value(signal))["unit"], "ms");
    // JSON has no NaN.
    let evidence = Evidence::of("d_base").unwrap();
    assert_eq!(json(&|| serde_json::to_value(evidence)), json!({ "signal": "d_base", "threshold": null }));
}

fn pacing() -> impl Strategy<Value = Pacing> {
    prop_oneof![
        Just(Pacing::Unpaced),
        (0.0..1e3).prop_map(Pacing::Factor),
        any::<u64>().prop_map(|bps| Pacing::Exact(DataRate::from_bps(bps))),
    ]
}

proptest! {
    #[test]
    fn any_target_and_packet_come_back_exactly(
        rates in any::<[u64; 3]>(),
        sizes in any::<[u64; 2]>(),
        times in any::<[i64; 3]>(),
        (pacing, frame_drop, factor) in (pacing(), 0.0..1.0, 0..LimitingFactor::ALL.len()),
        window in any::<Option<u64>>(),
        probe in any::<u16>(),
    ) {
        let [media_rate, sending_rate, padding] = rates.map(DataRate::from_bps);
        let [size, payload] = sizes.map(DataSize::from_bytes);
        let burst = Burst { time: TimeDelta::from_nanos(times[0]), size };
        let (window, limiting_factor) = (window.map(DataSize::from_bytes), LimitingFactor::ALL[factor]);
        assert_comes_back(Target { media_rate, sending_rate, pacing, burst, window, padding, frame_drop, limiting_factor });
        let sent = SentPacket {
            id: sizes[0], at: SendTime::from_nanos(times[1]), size, payload, padding: sizes[1] > 9, probe: ProbeId::new(probe),
        };
        let at = Some(ArrivalTime::from_nanos(times[2]));
        assert_comes_back(PacketResult { sent, fate: PacketFate::Arrived { at, ecn: Ecn::Ce } });
    }
}
