//! No packet costs an allocation once a run is warm.
#![expect(unsafe_code, reason = "a global allocator that counts is an unsafe trait")]

#[path = "sim/common.rs"]
mod common;

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use common::{Echo, constant, coupled_by, flow, gcc_2016, spec, tcp};
use weir_cc::coupled::ctrl::{self, CtrlTcp};
use weir_cc::coupled::fse::{self, Fse, InitialGrouping};
use weir_cc::coupled::mixed::{self, Mixed};
use weir_cc::coupled::sbd::{self, Detected};
use weir_cc::gcc::goog_cc::{self, GoogCc};
use weir_cc::packet_feedback::PacketFeedback;
use weir_cc::scream::ScreamReceiver;
use weir_cc::scream::v1::{self, Scream};
use weir_cc::scream::v2::{self, ScreamV2};
use weir_cc::window::{Cubic, NewReno};
use weir_cc::{Controller, DataRate, DataSize, RateLimits, TimeDelta};
use weir_media::allocation::{
    EncoderStream, ForwardedTrack, LayerCoding, LayerForwarding, LayerSwitching, RateSharing, VideoContent,
    VideoLayer,
};
use weir_media::chromium::ChromiumConfig;
use weir_media::{
    AudioConfig, BottleneckDetection, CountedBytes, DetectionSide, EncoderConfig, FrameTraces, MediaConfig,
    PacketFormat,
};
use weir_net::{
    CoDel, Discipline, DualPi2, FqCoDel, Jitter, LossModel, Order, Pie, QueueConfig, Red, Time, WifiConfig,
    WifiLink,
};
use weir_sim::Simulation;
use weir_world::tcp::TcpConfig;
use weir_world::{
    CellSpec, CoupledSpec, DownloadTraffic, FlowSpec, MediaSpec, Monitor, RunSpec, Traffic, TransferMeta,
    Unwatched, WebSizes, WebTraffic, WindowAlgorithms,
};

struct Counting;

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

// SAFETY: every call is passed to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.with(|count| count.set(count.get() + 1));
        // SAFETY: the caller's promises are passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Allowed allocations: a ring doubles when a queue is longer than ever before, which is rare and never per packet.
const RINGS_THAT_MAY_DOUBLE: u64 = 4;

/// Number of allocations between 60 and 600 s of a run over 2 Mbit/s, in which some 90 000 packets pass.
fn allocations_when_warm(flows: Vec<FlowSpec>) -> u64 {
    allocations_of(spec(2000, 600, flows))
}

/// Number of allocations of a run after its first minute.
fn allocations_of(spec: RunSpec) -> u64 {
    let mut simulation = Simulation::new(spec, Unwatched).expect("a valid spec");
    simulation.run_until(Time::from_millis(60_000));
    let before = ALLOCATIONS.with(Cell::get);
    assert!(before > 0, "the counter counts");
    simulation.run_until(Time::MAX);
    ALLOCATIONS.with(Cell::get) - before
}

/// A call whose receiver reports per packet each 50 ms; the controller uses receiver reports only.
fn reporting_per_packet(format: PacketFormat) -> Traffic {
    match gcc_2016() {
        Traffic::Media(media) => Traffic::Media(MediaSpec {
            receiver: Some(Box::new(PacketFeedback::new(TimeDelta::from_millis(50)))),
            config: MediaConfig { packet_format: format, ..media.config },
            ..media
        }),
        other => other,
    }
}

#[test]
fn constant_rate_packets_allocate_nothing() {
    assert_eq!(allocations_when_warm(vec![flow("a", constant(1500)), flow("b", constant(700))]), 0);
}

#[test]
fn a_call_allocates_nothing() {
    assert!(allocations_when_warm(vec![flow("video", gcc_2016())]) <= RINGS_THAT_MAY_DOUBLE);
}

#[test]
fn two_flows_of_one_call_allocate_nothing() {
    let of = |call| {
        let flows = ["video", "screen"].map(|name| FlowSpec { call, ..flow(name, gcc_2016()) });
        allocations_when_warm(flows.into())
    };
    // Each flow has rings of its own, on any host.
    let together = of(Some(0));
    assert!(together <= 2 * RINGS_THAT_MAY_DOUBLE, "{together}");
    assert_eq!(together, of(None), "a shared host costs none");
}

#[test]
fn coupling_messages_and_actions_allocate_no_memory() {
    let flows = || vec![flow("video", gcc_2016()), flow("bulk", tcp())];
    for delay in [0, 100] {
        let coupled = allocations_of(coupled_by(Echo::default(), delay, spec(2000, 600, flows())));
        assert!(coupled <= 2 * RINGS_THAT_MAY_DOUBLE, "{coupled}");
    }
}

#[test]
fn couplers_allocate_nothing() {
    let both = || vec![flow("video", gcc_2016()), flow("bulk", tcp())];
    let fse = Fse::new(fse::Config::rfc8699_active(), InitialGrouping::Together).expect("valid");
    let mixed = Mixed::new(mixed::Config::default()).expect("valid");
    let ctrl = CtrlTcp::new(ctrl::Config::default()).expect("valid");
    let run = |flows| spec(2000, 180, flows);
    for (name, coupled) in [
        ("fse", coupled_by(fse, 0, run(both()))),
        ("mixed", coupled_by(mixed, 0, run(both()))),
        ("ctrltcp", coupled_by(ctrl, 0, run(vec![flow("a", tcp()), flow("b", tcp())]))),
    ] {
        let allocations = allocations_of(coupled);
        assert!(allocations <= 2 * RINGS_THAT_MAY_DOUBLE, "{name}: {allocations}");
    }
}

#[test]
fn detection_of_shared_bottlenecks_allocates_nothing() {
    for place in [DetectionSide::Sender, DetectionSide::Receiver] {
        let detection = Some(BottleneckDetection::new(place, &sbd::Config::DEFAULT).expect("valid"));
        let video = |name: &str| {
            let Traffic::Media(media) = reporting_per_packet(PacketFormat::TransportWide) else {
                unreachable!()
            };
            let config = MediaConfig { detection, ..media.config };
            flow(name, Traffic::Media(MediaSpec { config, ..media }))
        };
        let detected = Detected::new(Echo::default(), sbd::Config::default()).expect("valid");
        let spec = spec(2000, 600, vec![video("a"), video("b")]);
        let allocations = allocations_of(coupled_by(detected, 0, spec));
        assert!(allocations <= 2 * RINGS_THAT_MAY_DOUBLE, "{place:?}: {allocations}");
    }
    let detected = Detected::new(Echo::default(), sbd::Config::default()).expect("valid");
    let mut transfers = coupled_by(detected, 0, spec(2000, 600, vec![flow("a", tcp()), flow("b", tcp())]));
    for flow in &mut transfers.flows {
        flow.coupled = Some(CoupledSpec::new(0).telling(&sbd::Config::DEFAULT));
    }
    let allocations = allocations_of(transfers);
    assert!(allocations <= 2 * RINGS_THAT_MAY_DOUBLE, "transfers: {allocations}");
}

#[test]
fn reports_on_single_packets_allocate_nothing() {
    for format in [PacketFormat::TransportWide, PacketFormat::Rfc8888] {
        let flows = vec![flow("video", reporting_per_packet(format))];
        assert!(allocations_when_warm(flows) <= RINGS_THAT_MAY_DOUBLE, "{format:?}");
    }
}

#[test]
fn a_call_with_a_window_allocates_nothing() {
    let kbps = DataRate::from_kbps;
    let limits = RateLimits::new(kbps(50), kbps(300), kbps(2000)).expect("in order");
    let config = MediaConfig {
        packet_format: PacketFormat::Rfc8888,
        ..MediaConfig::new(limits, EncoderConfig::gcc_2016())
    };
    let first = Scream::new(v1::Config::default(), limits).expect("valid");
    let second = ScreamV2::new(v2::Config::default(), limits).expect("valid");
    let controllers: [(Box<dyn Controller>, ScreamReceiver); 2] =
        [(Box::new(first), ScreamReceiver::v1()), (Box::new(second), ScreamReceiver::v2())];
    for (controller, receiver) in controllers {
        let call = Traffic::Media(MediaSpec::new(controller, Box::new(receiver), config));
        assert!(allocations_when_warm(vec![flow("video", call)]) <= RINGS_THAT_MAY_DOUBLE);
    }
}

#[test]
fn the_sender_around_a_controller_allocates_nothing() {
    let kbps = DataRate::from_kbps;
    let limits = RateLimits::new(kbps(30), kbps(300), kbps(2500)).expect("in order");
    let config = MediaConfig {
        chromium: Some(ChromiumConfig::ALL),
        counted: CountedBytes::WithHeaders(28),
        ..MediaConfig::new(limits, EncoderConfig::chromium())
    };
    let controller = GoogCc::new(goog_cc::Config::default(), limits).expect("valid");
    let feedback = PacketFeedback::new(TimeDelta::from_millis(63));
    let call = Traffic::Media(MediaSpec::new(Box::new(controller), Box::new(feedback), config));
    // TCP makes the losses that are sent again. A list of losses, and of packets that wait, doubles with the longest burst.
    let made = allocations_when_warm(vec![flow("video", call), flow("bulk", tcp())]);
    assert!(made <= 2 * RINGS_THAT_MAY_DOUBLE, "{made}");
}

#[test]
fn tcp_beside_a_call_allocates_nothing() {
    let linux_6 = || {
        let algorithm = Box::new(Cubic::linux_6(None));
        Traffic::Tcp { name: "reno".to_owned(), algorithm, config: TcpConfig::linux_6(), size: None }
    };
    for traffic in [tcp(), linux_6()] {
        let flows = vec![flow("bulk", traffic), flow("video", gcc_2016())];
        assert!(allocations_when_warm(flows) <= RINGS_THAT_MAY_DOUBLE);
    }
}

#[test]
fn no_encoder_and_no_audio_allocates_anything() {
    let traces = FrameTraces::talking_head();
    let encoders = [
        EncoderConfig::rfc8867(),
        EncoderConfig::rfc8593_traces(traces),
        EncoderConfig::rfc8593_hybrid(traces),
        EncoderConfig::content_sharing(),
        EncoderConfig::greedy(),
        EncoderConfig::simulcast(),
    ];
    for encoder in encoders {
        let Traffic::Media(media) = gcc_2016() else { unreachable!() };
        // Circuit breakers would stop a source that fills a queue without limits.
        let config =
            MediaConfig { encoder, audio: Some(AudioConfig::default()), breakers: false, ..media.config };
        let call = flow("video", Traffic::Media(MediaSpec { config, ..media }));
        let call = call.pausing(Time::from_millis(100_000), Time::from_millis(120_000));
        // A greedy source fills a queue without limits: the ring of the link and the two of the pool double with it.
        let rings = if encoder == EncoderConfig::greedy() {
            2 * RINGS_THAT_MAY_DOUBLE
        } else {
            RINGS_THAT_MAY_DOUBLE
        };
        let made = allocations_when_warm(vec![call]);
        assert!(made <= rings, "{made} for {encoder:?}");
    }
}

/// Counts transfers.
#[derive(Debug, Default)]
struct Transfers(u64);

impl Monitor for Transfers {
    fn transferred(&mut self, _: Time, _: usize, _: &TransferMeta) {
        self.0 += 1;
    }
}

#[test]
fn a_transfer_takes_over_the_connection_of_another_and_allocates_nothing() {
    let algorithms = WindowAlgorithms::new("reno", || Box::new(NewReno::default()));
    let config = TcpConfig::default();
    let bytes = DataSize::from_bytes;
    let downloads = DownloadTraffic {
        smallest: bytes(500_000),
        largest: bytes(500_000),
        idle: TimeDelta::from_secs(1),
        begins_idle: false,
    };
    let web = WebTraffic {
        load: DataRate::from_mbps(1),
        requests: 4.0,
        think: TimeDelta::from_secs(1),
        least_extra: TimeDelta::ZERO,
        most_extra: TimeDelta::from_millis(50),
        sizes: WebSizes::default(),
    };
    let short = Traffic::Downloads { algorithms: algorithms.clone(), config, downloads };
    // Clients beyond the former maximum get connections of their own: an algorithm and three rings each.
    for (traffic, most) in [(short, 0), (Traffic::Web { algorithms, config, web }, 10 * 4)] {
        let spec = spec(2000, 600, vec![flow("short", traffic)]);
        let mut simulation = Simulation::new(spec, Transfers::default()).expect("a valid spec");
        simulation.run_until(Time::from_millis(60_000));
        let before = (ALLOCATIONS.with(Cell::get), simulation.monitor().0);
        simulation.run_until(Time::MAX);
        let allocations = ALLOCATIONS.with(Cell::get) - before.0;
        let transfers = simulation.monitor().0 - before.1;
        assert!(transfers > 100, "{transfers}");
        assert!(allocations <= most, "{allocations} for {transfers}");
    }
}

#[test]
fn active_queues_and_jitter_that_reorders_allocate_nothing() {
    let disciplines = [
        Discipline::DropHead,
        Discipline::CoDel(CoDel::default()),
        Discipline::FqCoDel(FqCoDel::default()),
        Discipline::FqCoDel(FqCoDel { queues: Some(1024), ..FqCoDel::default() }),
        Discipline::Pie(Pie::default()),
        Discipline::Red(Red::default()),
        Discipline::DualPi2(DualPi2::default()),
    ];
    for discipline in disciplines {
        let mut spec = spec(2000, 600, vec![flow("a", constant(1500)), flow("b", constant(700))]);
        let link = &mut spec.links[0].config;
        link.queue = QueueConfig {
            limit_packets: Some(100),
            limit_time: Some(TimeDelta::from_millis(300)),
            discipline,
            ..QueueConfig::default()
        };
        (link.jitter, link.order) = (Jitter::Uniform { max: TimeDelta::from_millis(20) }, Order::Flow);
        let allocations = allocations_of(spec);
        assert!(allocations <= RINGS_THAT_MAY_DOUBLE, "{discipline:?}: {allocations}");
    }
}

#[test]
fn a_cell_whose_links_share_the_air_allocates_nothing() {
    let flows = || vec![flow("video", gcc_2016()), flow("bulk", tcp())];
    for frames in [1, 32] {
        let queue = QueueConfig { limit_packets: Some(100), ..QueueConfig::default() };
        let member = |transmitter| WifiLink {
            queue,
            loss: LossModel::Bernoulli(0.1),
            ..WifiLink::new(transmitter, WifiLink::MCS_11)
        };
        let config = WifiConfig { frames, ..WifiConfig::default() };
        let links = vec![(0, member(0)), (1, member(1))];
        let cells = vec![CellSpec { name: "home".to_owned(), config, links }];
        let allocations = allocations_of(RunSpec { cells, ..spec(2000, 600, flows()) });
        assert!(allocations <= RINGS_THAT_MAY_DOUBLE, "{allocations}");
    }
}

#[test]
fn allocation_to_streams_and_layers_allocates_nothing() {
    let kbps = DataRate::from_kbps;
    let mut streams = [100, 200, 300].map(|min| EncoderStream::new(kbps(min), kbps(4 * min)));
    let mut tracks = [3, 1, 1].map(|priority| {
        ForwardedTrack::new(priority, LayerCoding::Simulcast, &[kbps(100), kbps(350), kbps(900)])
    });
    let layers =
        [100, 400, 900].map(|target| VideoLayer::new(kbps(target / 2), kbps(target), kbps(2 * target)));
    let (mut shares, mut selections) = (Vec::new(), Vec::new());
    let mut before = 0;
    for round in 0..1000 {
        let rate = kbps(round * 37 % 3000);
        RateSharing::default().share(rate, &streams, &mut shares);
        for (stream, share) in streams.iter_mut().zip(&shares) {
            stream.allocated = Some(*share);
        }
        LayerForwarding::default().select(rate, &tracks, &mut selections);
        for (track, selection) in tracks.iter_mut().zip(&selections) {
            track.present = selection.layer;
        }
        let content = VideoContent::Camera;
        let simulcast = LayerSwitching::simulcast(content).simulcast_rates(rate, None, &layers, None);
        LayerSwitching::svc(content).svc_rates(rate, None, &layers, Some(&simulcast));
        if round == 0 {
            before = ALLOCATIONS.with(Cell::get);
        }
    }
    assert_eq!(ALLOCATIONS.with(Cell::get), before);
}
