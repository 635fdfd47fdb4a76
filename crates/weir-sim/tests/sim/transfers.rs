//! Short transfers: downloads with idle times between them, and web-like traffic.

use weir_cc::window::NewReno;
use weir_cc::{DataRate, DataSize, TimeDelta};
use weir_net::{LossModel, Time};
use weir_sim::Simulation;
use weir_world::tcp::TcpConfig;
use weir_world::{
    DownloadTraffic, FlowSpec, Monitor, PacketMeta, RunSpec, Traffic, TransferMeta, WebSizes, WebTraffic,
    WindowAlgorithms,
};

use crate::common::{flow, spec};

/// Bytes of a request on the wire.
const REQUEST: u32 = 400;

/// Transfers and packets sent, with their times.
#[derive(Debug, Default)]
struct SeenTransfers {
    transfers: Vec<(Time, TransferMeta)>,
    data: Vec<Time>,
    requests: Vec<Time>,
    /// Bytes of data that arrived for the first time.
    payload: u64,
}

impl Monitor for SeenTransfers {
    fn transferred(&mut self, now: Time, _flow: usize, transfer: &TransferMeta) {
        self.transfers.push((now, *transfer));
    }

    fn delivered(&mut self, _now: Time, _flow: usize, packet: &PacketMeta) {
        self.payload += if packet.control { 0 } else { u64::from(packet.payload) };
    }

    fn sent(&mut self, now: Time, _flow: usize, packet: &PacketMeta) {
        if !packet.control {
            self.data.push(now);
        } else if packet.wire_size == REQUEST {
            self.requests.push(now);
        }
    }
}

fn seen(spec: RunSpec) -> SeenTransfers {
    Simulation::new(spec, SeenTransfers::default()).expect("a valid spec").run()
}

fn algorithms() -> WindowAlgorithms {
    WindowAlgorithms::new("reno", || Box::new(NewReno::default()))
}

/// Downloads of 100 kB with a second between them on average.
fn downloads(begins_idle: bool) -> FlowSpec {
    let size = DataSize::from_bytes(100_000);
    let downloads =
        DownloadTraffic { smallest: size, largest: size, idle: TimeDelta::from_secs(1), begins_idle };
    flow("short", Traffic::Downloads { algorithms: algorithms(), config: TcpConfig::default(), downloads })
}

/// Clients without an additional delay of their own, whose responses have 11 579 bytes.
fn web(kbps: u64, requests: f64) -> FlowSpec {
    let web = WebTraffic {
        load: DataRate::from_kbps(kbps),
        requests,
        think: TimeDelta::from_secs(1),
        least_extra: TimeDelta::ZERO,
        most_extra: TimeDelta::ZERO,
        sizes: WebSizes { sigma: 0.0, tail: 0.0, ..WebSizes::default() },
    };
    flow("web", Traffic::Web { algorithms: algorithms(), config: TcpConfig::default(), web })
}

#[test]
fn each_download_takes_as_long_as_the_one_before_and_begins_after_it() {
    let seen = seen(spec(10_000, 60, vec![downloads(false).from(Time::from_millis(500))]));
    let (_, first) = seen.transfers[0];
    assert_eq!(first.started, Time::from_millis(500));
    assert!(seen.transfers.len() > 20, "{}", seen.transfers.len());
    let takes = |&(now, transfer): &(Time, TransferMeta)| now - transfer.started;
    let once = takes(&seen.transfers[0]);
    // 100 kB of 10 Mbit/s in windows of 10, 20 and 40 segments: at least three round trips of 50 ms.
    assert!(once > TimeDelta::from_millis(150) && once < TimeDelta::from_millis(400), "{once}");
    for pair in seen.transfers.windows(2) {
        assert_eq!((takes(&pair[1]), pair[1].1.size), (once, DataSize::from_bytes(100_000)));
        assert!(pair[1].1.started > pair[0].0, "it begins after the last one");
    }
    // Packets are sent only during a download.
    let under_way = |at: &Time| seen.transfers.iter().any(|(now, own)| own.started <= *at && at <= now);
    let last = seen.transfers.last().unwrap().0;
    assert!(seen.data.iter().filter(|at| **at <= last).all(under_way));
}

#[test]
fn downloads_that_begin_idle_begin_later() {
    let seen = seen(spec(10_000, 60, vec![downloads(true)]));
    let began = seen.transfers[0].1.started;
    let handshake = (seen.data[0] - began).millis_f64();
    assert!(began > Time::ZERO && (50.0..51.0).contains(&handshake), "{began} {handshake}");
}

#[test]
fn after_its_stop_no_download_begins_and_none_goes_on() {
    let stop = |ms: u64| seen(spec(10_000, 20, vec![downloads(false).until(Time::from_millis(ms))]));
    // In the middle of the first download: ten segments at 50 ms, and two for each that is acknowledged at 100 ms.
    let within = stop(120);
    assert!(within.data.iter().all(|at| *at <= Time::from_millis(120)) && within.data.len() == 30);
    assert!(within.transfers.is_empty());
    // The same at any time.
    for ms in (1000..8000).step_by(500) {
        let end = Time::from_millis(ms);
        let seen = stop(ms);
        assert!(!seen.transfers.is_empty() && seen.transfers.iter().all(|(_, own)| own.started < end));
        assert!(seen.data.iter().all(|at| *at <= end), "{ms}");
    }
}

#[test]
fn lost_segments_of_a_download_are_retransmitted_until_they_arrive() {
    let mut spec = spec(10_000, 120, vec![downloads(false)]);
    spec.links[0].config.loss = LossModel::Bernoulli(0.2);
    let seen = seen(spec);
    assert!(seen.transfers.len() > 10, "{}", seen.transfers.len());
    // 70 segments each, a fifth of which is retransmitted.
    let sent = seen.data.len() as f64 / seen.transfers.len() as f64;
    assert!((80.0..110.0).contains(&sent), "{sent}");
}

#[test]
fn a_response_takes_two_round_trips() {
    let seen = seen(spec(10_000, 60, vec![web(200, 1.0)]));
    assert!(seen.transfers.len() > 50, "{}", seen.transfers.len());
    assert_eq!(seen.requests.len(), seen.data.len() / 8, "a request for each eight segments");
    for (now, transfer) in &seen.transfers {
        // The request, the handshake and eight segments: 2 · 50 ms and at 10 Mbit/s some 10 ms.
        let ms = (*now - transfer.started).millis_f64();
        assert!(ms > 100.0 && ms < 130.0, "{ms}");
        assert!(seen.requests.contains(&transfer.started), "it begins with the request");
        assert_eq!(transfer.size, DataSize::from_bytes(11_579));
    }
}

#[test]
fn a_session_goes_on_with_its_next_request_after_a_while() {
    let mean = |requests| {
        let seen = seen(spec(10_000, 600, vec![web(50, requests)]));
        // Requests that come within 3 s of a response's end, one session at a time nearly always.
        let follow = |(now, _): &&(Time, TransferMeta)| {
            seen.requests.iter().any(|at| *at > *now && *at - *now < TimeDelta::from_secs(3))
        };
        seen.transfers.iter().filter(follow).count() as f64 / seen.transfers.len() as f64
    };
    // With a session each 40 s of ten requests nine of ten are followed by another, 95 % of them within 3 s; alone a
    // session comes each 2 s, in 3 s with a probability of 1 − e^(−1.5).
    assert!(mean(10.0) > 0.7);
    assert!((0.5..0.9).contains(&mean(1.0)));
}

#[test]
fn without_an_answer_the_interval_doubles_until_the_connection_ends() {
    let mut spec = spec(10_000, 200, vec![web(1, 1.0)]);
    spec.links[1].config.loss = LossModel::Bernoulli(1.0);
    let seen = seen(spec);
    assert!(seen.transfers.is_empty() && seen.data.is_empty());
    let after = |secs: i64| seen.requests.contains(&(seen.requests[0] + TimeDelta::from_secs(secs)));
    assert_eq!([1, 3, 7, 15, 31].map(after), [true; 5]);
    assert_eq!([2, 4, 63].map(after), [false; 3]);
}

#[test]
fn after_its_stop_no_session_and_no_request_begins() {
    let stop = Time::from_millis(20_000);
    let seen = seen(spec(10_000, 60, vec![web(500, 4.0).until(stop)]));
    assert!(seen.requests.iter().all(|at| *at < stop) && seen.requests.len() > 50, "{}", seen.requests.len());
    assert!(seen.requests.last().is_some_and(|last| stop - *last < TimeDelta::from_secs(2)));
    // Responses to earlier requests still come.
    assert_eq!(seen.transfers.len(), seen.requests.len());
}

/// A transfer by the TCP of the WebRTC project's simulator.
fn chromium(size: Option<u64>) -> FlowSpec {
    let size = size.map(DataSize::from_bytes);
    flow("bulk", Traffic::ChromiumTcp { config: TcpConfig::default(), size })
}

#[test]
fn chromiums_tcp_sends_until_its_stop() {
    let (start, stop) = (Time::from_millis(1000), Time::from_millis(3000));
    let seen = seen(spec(10_000, 10, vec![chromium(None).from(start).until(stop)]));
    assert_eq!((seen.data[0], seen.transfers.len()), (start, 0));
    let last = *seen.data.last().unwrap();
    assert!(last <= stop && stop - last < TimeDelta::from_millis(100), "{last}");
}

#[test]
fn chromiums_tcp_completes_a_transfer() {
    let start = Time::from_millis(1000);
    let seen = seen(spec(10_000, 10, vec![chromium(Some(100_000)).from(start)]));
    let [(now, transfer)] = seen.transfers[..] else { panic!("{:?}", seen.transfers) };
    assert_eq!(transfer, TransferMeta { started: start, size: DataSize::from_bytes(100_000) });
    assert!(seen.data.iter().all(|at| *at < now) && now - start > TimeDelta::from_millis(100));
}

#[test]
fn a_second_copy_is_no_payload() {
    // Where acknowledgements are lost, segments are retransmitted that have arrived.
    for traffic in [web(500, 4.0), downloads(false)] {
        let mut spec = spec(10_000, 120, vec![traffic.until(Time::from_millis(40_000))]);
        spec.links[1].config.loss = LossModel::Bernoulli(0.3);
        let seen = seen(spec);
        let sizes: u64 = seen.transfers.iter().map(|(_, own)| own.size.bytes()).sum();
        assert!(seen.transfers.len() > 5 && seen.data.len() as u64 > seen.payload / 1448);
        // A download may be cut off by the stop.
        assert!((sizes..sizes + 100_000).contains(&seen.payload), "{} of {sizes}", seen.payload);
    }
}
