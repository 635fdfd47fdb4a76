//! Whole runs: hosts, emulator and observer together.

use std::sync::mpsc::sync_channel;

use weir_cc::gcc::goog_cc::{Config, GoogCc};
use weir_cc::packet_feedback::PacketFeedback;
use weir_cc::{DataRate, RateLimits};
use weir_live::capture::{CapturePoint, CapturedPacket, captured_links};
use weir_live::face::ip;
use weir_live::run::{FaceKind, LiveError, LiveOptions, LiveReport, run};
use weir_media::{EncoderConfig, MediaConfig};
use weir_net::Time;
use weir_sim::Simulation;
use weir_units::{DataSize, TimeDelta};
use weir_world::tcp::TcpConfig;
use weir_world::{
    DownloadTraffic, FlowSpec, Loss, MediaSpec, Monitor, PacketMeta, RunSpec, Side, Traffic, TransferMeta,
    WindowAlgorithms,
};

use crate::common::{capabilities, has, link};

/// Duration of a run.
const END: Time = Time::from_millis(4000);
const OPTIONS: LiveOptions = LiveOptions { face: None, ipv6: false, realtime: true, capture: None };

/// Packets as an observer sees them.
#[derive(Debug, Default)]
struct Counts {
    sent: [u64; 2],
    delivered: [u64; 2],
    dropped: u64,
    last: Time,
    targets: u64,
    /// Transfers by flow, and when each was complete.
    transfers: Vec<(usize, Time, TransferMeta)>,
    completed: Vec<(usize, Time)>,
    /// Signals by flow: their number, and the latest.
    signals: std::collections::BTreeMap<usize, (u64, Vec<f64>)>,
    rtts: Vec<TimeDelta>,
}

impl Counts {
    fn at(&mut self, now: Time) {
        assert!(now >= self.last, "{now:?} after {:?}", self.last);
        self.last = now;
    }
}

impl Monitor for Counts {
    fn sent(&mut self, now: Time, _: usize, packet: &PacketMeta) {
        self.at(now);
        self.sent[usize::from(packet.control)] += 1;
    }

    fn delivered(&mut self, now: Time, _: usize, packet: &PacketMeta) {
        self.at(now);
        assert!(now - packet.sent_at >= TimeDelta::from_millis(20), "{packet:?} at {now:?}");
        self.delivered[usize::from(packet.control)] += 1;
    }

    fn dropped(&mut self, now: Time, _: usize, _: usize, _: &PacketMeta, _: Loss) {
        self.at(now);
        self.dropped += 1;
    }

    fn target(&mut self, now: Time, _: usize, _: &weir_cc::Target) {
        self.at(now);
        self.targets += 1;
    }

    fn wants_signals(&self) -> bool {
        true
    }

    fn signals(&mut self, now: Time, flow: usize, side: Side, values: &[f64]) {
        self.at(now);
        if side == Side::Sender {
            let (count, latest) = self.signals.entry(flow).or_default();
            *count += 1;
            *latest = values.to_vec();
        }
    }

    fn completed(&mut self, now: Time, flow: usize) {
        self.at(now);
        self.completed.push((flow, now));
    }

    fn transferred(&mut self, now: Time, flow: usize, transfer: &TransferMeta) {
        self.at(now);
        self.transfers.push((flow, now, *transfer));
    }

    fn rtt(&mut self, now: Time, _: usize, rtt: TimeDelta) {
        self.at(now);
        self.rtts.push(rtt);
    }
}

fn spec(flows: Vec<FlowSpec>) -> RunSpec {
    RunSpec::over(vec![link("forward", 1, 20, None), link("reverse", 10, 20, None)], END).with_all(flows)
}

fn video() -> FlowSpec {
    let kbps = DataRate::from_kbps;
    let limits = RateLimits::new(kbps(50), kbps(300), kbps(900)).unwrap();
    let sender = Box::new(GoogCc::new(Config::default(), limits).unwrap());
    let receiver = Box::new(PacketFeedback::new(TimeDelta::from_millis(50)));
    let config = MediaConfig::new(limits, EncoderConfig::rfc8593_statistical());
    FlowSpec::new("video", Traffic::Media(MediaSpec::new(sender, receiver, config)))
}

fn made(flows: Vec<FlowSpec>, options: LiveOptions) -> LiveReport<Counts> {
    run(spec(flows), options, Counts::default(), |_| true).unwrap()
}

/// Everything that entered was delivered, dropped by a link, or is inside; the observer saw the same.
fn assert_balanced(report: &LiveReport<Counts>) {
    let packets = report.packets;
    assert_eq!(packets.entered, packets.delivered + packets.dropped + packets.inside, "{packets:?}");
    assert_eq!(packets.lost_outside, 0, "{packets:?}");
    let seen = &report.monitor;
    assert!(seen.delivered.iter().sum::<u64>() <= packets.delivered);
    assert!(seen.sent.iter().sum::<u64>() <= packets.entered);
    assert!(seen.dropped <= packets.dropped);
}

fn a_call_over(options: LiveOptions) {
    let report = made(vec![video()], options);
    assert_balanced(&report);
    let seen = &report.monitor;
    assert!(seen.sent[0] > 100 && seen.sent[1] > 20, "{seen:?}");
    assert!(seen.targets > 1 && seen.rtts.len() > 20, "feedback was read: {seen:?}");
    // 20 ms each way, and a packet of 1228 bytes takes 10 ms at 1 Mbit/s.
    let least = seen.rtts.iter().min().expect("round trips");
    assert!((40..80).contains(&(least.micros() / 1000)), "{least:?}");
}

#[test]
fn a_call_over_udp_of_ipv4_and_ipv6() {
    a_call_over(OPTIONS);
    if has("ipv6", &capabilities().udp_ipv6) {
        a_call_over(LiveOptions { ipv6: true, ..OPTIONS });
    }
}

#[test]
fn a_call_between_namespaces_beside_the_kernels_cubic() {
    let capabilities = capabilities();
    if !has("tun", &capabilities.tun) {
        return;
    }
    let tcp = |name: &str, size| {
        let algorithm = Box::new(weir_cc::window::NewReno::default());
        Traffic::Tcp { name: name.to_owned(), algorithm, config: TcpConfig::default(), size }
    };
    let short = FlowSpec::new("short", tcp("cubic", Some(DataSize::from_bytes(100_000))));
    let report = made(vec![video(), FlowSpec::new("bulk", tcp("cubic", None)), short], OPTIONS);
    assert_eq!(report.face, FaceKind::Tun);
    assert_balanced(&report);
    let [bulk, short] = report.tcp.as_slice() else { panic!("{:?}", report.tcp) };
    assert!(bulk.received > 20_000 && !bulk.states.is_empty(), "{bulk:?}");
    assert_eq!(short.received, 100_000);
    let (Some(arrived), Some(acknowledged)) = (short.arrived, short.completed) else { panic!("{short:?}") };
    // The last acknowledgement takes at least the 20 ms back.
    assert!(acknowledged - arrived >= TimeDelta::from_millis(19), "{short:?}");
    let seen = &report.monitor;
    assert_eq!(seen.completed, [(2, acknowledged)]);
    let [(2, at, transfer)] = seen.transfers[..] else { panic!("{:?}", seen.transfers) };
    assert_eq!((at, transfer.started, transfer.size.bytes()), (acknowledged, Time::ZERO, 100_000));
    // Beside the first state and the last there is one each 100 ms.
    assert!(seen.signals[&1].0 > 20, "{:?}", seen.signals);
    assert_eq!(seen.signals[&2].1[3], 100_000.0);
}

fn is_captured_over(options: &LiveOptions) {
    let (to, captured) = sync_channel(1 << 15);
    let mut narrow = link("forward", 1, 20, None);
    narrow.config.queue.limit_packets = Some(3);
    let rate = DataRate::from_kbps(1500);
    let constant = Traffic::Constant { rate, packet_size: DataSize::from_bytes(1000) };
    let links = vec![narrow, link("reverse", 10, 20, None)];
    let spec = RunSpec::over(links, Time::from_millis(1500));
    let spec = spec.with(video()).with(FlowSpec::new("steady", constant));
    assert_eq!(captured_links(&spec), [0, 1]);
    let options = LiveOptions { capture: Some(to), ..options.clone() };
    let report = run(spec, options, Counts::default(), |_| true).unwrap();
    assert_balanced(&report);
    assert_eq!(report.not_captured, 0);
    let captured: Vec<CapturedPacket> = captured.iter().collect();
    let count = |point| captured.iter().filter(|packet| packet.point == point).count() as u64;
    let packets = report.packets;
    // One queue drops; the packets that are inside may have left it.
    assert_eq!(count(CapturePoint::Before), packets.entered);
    let behind = count(CapturePoint::Behind);
    assert!(
        (packets.delivered..=packets.delivered + packets.inside).contains(&behind),
        "{behind}, {packets:?}"
    );
    assert!(packets.dropped > 50 && captured.is_sorted_by_key(|packet| packet.at), "{packets:?}");
    for packet in &captured {
        let header = ip::parse(&packet.bytes).expect("a packet of IP");
        assert!(
            header.protocol == ip::UDP && header.source.port() != header.destination.port(),
            "{header:?}"
        );
    }
}

#[test]
fn either_side_of_the_bottlenecks_is_captured_whole() {
    is_captured_over(&OPTIONS);
    let capabilities = capabilities();
    if has("ipv6", &capabilities.udp_ipv6) {
        is_captured_over(&LiveOptions { ipv6: true, ..OPTIONS });
    }
    if has("tun", &capabilities.tun) {
        is_captured_over(&LiveOptions { face: Some(FaceKind::Tun), ..OPTIONS });
    }
}

/// Downloads of 3 to 30 kB by `algorithm`, with 0.1 s between them on average.
fn downloads(algorithm: &str) -> FlowSpec {
    let [smallest, largest] = [3_000, 30_000].map(DataSize::from_bytes);
    let downloads =
        DownloadTraffic { smallest, largest, idle: TimeDelta::from_millis(100), begins_idle: true };
    let algorithms = WindowAlgorithms::new(algorithm, || Box::new(weir_cc::window::NewReno::default()));
    let traffic = Traffic::Downloads { algorithms, config: TcpConfig::default(), downloads };
    FlowSpec::new("short", traffic).until(Time::from_millis(3500))
}

#[test]
fn on_off_downloads_are_those_of_the_simulator() {
    if !has("tun", &capabilities().tun) {
        return;
    }
    let report = made(vec![video(), downloads("cubic")], OPTIONS);
    assert_balanced(&report);
    let mut before = Time::ZERO;
    for (index, trace) in report.tcp.iter().enumerate() {
        assert_eq!((trace.flow, trace.connection), (1, index as u32 + 1), "{trace:?}");
        assert!(trace.started > before, "one after another: {trace:?}");
        let Some(completed) = trace.completed else {
            assert_eq!(index + 1, report.tcp.len(), "the stop may cut the last one: {trace:?}");
            continue;
        };
        let size = trace.size.expect("a size");
        assert!(trace.received == size.bytes() && trace.states.len() >= 2, "{trace:?}");
        assert!(
            trace.arrived.is_some_and(|arrived| trace.started < arrived && arrived < completed),
            "{trace:?}"
        );
        before = completed;
    }
    let seen = &report.monitor;
    let complete = report.tcp.iter().filter_map(|trace| {
        Some((1, trace.completed?, TransferMeta { started: trace.started, size: trace.size? }))
    });
    assert_eq!(seen.transfers, complete.collect::<Vec<_>>());
    // As of simulated ones, there are neither signals nor a completion of the flow.
    assert!(seen.completed.is_empty() && !seen.signals.contains_key(&1), "{seen:?}");

    let simulated = Simulation::new(spec(vec![video(), downloads("cubic")]), Counts::default());
    let simulated = simulated.expect("a valid spec").run();
    let sizes = |counts: &Counts| counts.transfers.iter().map(|(_, _, own)| own.size).collect::<Vec<_>>();
    let (real, simulated) = (sizes(seen), sizes(&simulated));
    let both = real.len().min(simulated.len());
    assert!(both > 0, "{real:?} {simulated:?}");
    assert_eq!(real[..both], simulated[..both]);
}

#[test]
fn a_path_that_loses_everything_ends_no_run() {
    if !has("tun", &capabilities().tun) {
        return;
    }
    let mut lossy = link("forward", 1, 20, None);
    lossy.config.loss = weir_net::LossModel::Bernoulli(1.0);
    let algorithm = Box::new(weir_cc::window::NewReno::default());
    let (config, size) = (TcpConfig::default(), Some(DataSize::from_bytes(1000)));
    let traffic = Traffic::Tcp { name: "reno".to_owned(), algorithm, config, size };
    let mut flow = FlowSpec::new("lost", traffic);
    flow.start = Time::from_millis(500);
    let spec = RunSpec::over(vec![lossy, link("reverse", 10, 20, None)], Time::from_millis(2500)).with(flow);
    let report = run(spec, OPTIONS, Counts::default(), |_| true).unwrap();
    assert_balanced(&report);
    let [trace] = report.tcp.as_slice() else { panic!("{:?}", report.tcp) };
    assert!(trace.states.is_empty() && trace.completed.is_none() && trace.received == 0, "{trace:?}");
    // The handshake is tried anew after a second, from the start of the flow on.
    assert!((1..=4).contains(&report.packets.dropped), "{:?}", report.packets);
}

#[test]
fn a_run_that_is_stopped_early_is_shown_until_then() {
    let stop = Time::from_millis(1000);
    let mut calls = 0;
    let goes_on = |at: Time| {
        calls += 1;
        at < stop
    };
    let report = run(spec(vec![video()]), OPTIONS, Counts::default(), goes_on).unwrap();
    assert!(report.ended >= stop && report.ended < END, "{:?}", report.ended);
    assert!(report.monitor.last <= report.ended && report.monitor.sent[0] > 10, "{report:?}");
    assert!(calls >= 5, "{calls}");
    assert_balanced(&report);
}

#[test]
fn a_packet_that_no_face_carries_is_refused() {
    let constant = |bytes| {
        let (rate, packet_size) = (DataRate::from_kbps(100), DataSize::from_bytes(bytes));
        FlowSpec::new("large", Traffic::Constant { rate, packet_size })
    };
    let refused = |flow, options| run(spec(vec![flow]), options, Counts::default(), |_| true).unwrap_err();
    let sentence = refused(constant(1501), OPTIONS).to_string();
    assert!(sentence.contains("a packet of 1501 bytes is not within 28 to 1500"), "{sentence}");
    let sentence = refused(constant(1481), LiveOptions { ipv6: true, ..OPTIONS }).to_string();
    assert!(sentence.contains("a packet of 1501 bytes is not within 48 to 1500"), "{sentence}");
    let mut large = video();
    if let Traffic::Media(media) = &mut large.traffic {
        media.config.payload_limit = 1450;
    }
    assert!(refused(large, OPTIONS).to_string().contains("not within 28 to 1500"));
}

#[test]
fn impossible_real_runs_are_refused_with_the_reason() {
    let refusal = |flow: FlowSpec, options| {
        let refused = run(spec(vec![flow]), options, Counts::default(), |_| true);
        refused.map(|_| ()).unwrap_err().to_string()
    };
    let chromium = Traffic::ChromiumTcp { config: TcpConfig::default(), size: None };
    assert!(
        refusal(FlowSpec::new("old", chromium), OPTIONS).contains("`old` cannot be made of real packets")
    );
    let algorithm = || Box::new(weir_cc::window::NewReno::default());
    let tcp = |name: &str| {
        let name = name.to_owned();
        Traffic::Tcp { name, algorithm: algorithm(), config: TcpConfig::default(), size: None }
    };
    assert!(refusal(FlowSpec::new("own", tcp("e-tcp")), OPTIONS).contains("no congestion control `e-tcp`"));
    let over_udp = LiveOptions { face: Some(FaceKind::Udp), ..OPTIONS };
    assert!(refusal(FlowSpec::new("bulk", tcp("cubic")), over_udp.clone()).contains("needs the TUN face"));
    assert!(refusal(downloads("e-tcp"), OPTIONS).contains("no congestion control `e-tcp`"));
    assert!(refusal(downloads("cubic"), over_udp).contains("needs the TUN face"));
    let mut drifting = video();
    drifting.receiver_clock.drift_ppm = 50.0;
    assert!(refusal(drifting, OPTIONS).contains("one clock"));
    let many = (0..9).map(|index| FlowSpec { name: format!("video-{index}"), ..video() }).collect();
    let options = LiveOptions { face: Some(FaceKind::Tun), ..OPTIONS };
    let refused = run(spec(many), options, Counts::default(), |_| true);
    assert!(matches!(refused, Err(LiveError::TooManyHosts(18))));
}
