//! A controller in a media stack of your own: no socket, no clock, no runtime. A simulated link replaces your
//! sockets, and a loop over milliseconds your timers: `cargo run --release -p weir-cc --example sans_io`.

use std::collections::VecDeque;

use weir_cc::gcc::goog_cc::{Config, GoogCc};
use weir_cc::history::SendHistory;
use weir_cc::packet_feedback::PacketFeedback;
use weir_cc::{Arrival, ArrivalTime, Controller, DataRate, DataSize, RateLimits, Receiver, SendState};
use weir_cc::{SendTime, StreamsConfig, Target, TimeDelta, pacer::Pacer, prober::Prober};

const HEADER: DataSize = DataSize::from_bytes(24);
const PADDING: DataSize = DataSize::from_bytes(255);
const PROPAGATION: TimeDelta = TimeDelta::from_millis(50);
const QUEUE: TimeDelta = TimeDelta::from_millis(300);

fn main() -> Result<(), Box<dyn std::error::Error>> {
    call(|second, capacity, target, wait| {
        let (rate, factor, wait) =
            (target.media_rate.bps() / 1000, target.limiting_factor.name(), wait.millis_f64());
        println!("{second:>2} s: {rate:>4} kbit/s of {capacity}, {wait:>3.0} ms queued, limited by {factor}");
    })
}

/// A call of 30 s; reports the capacity, the target and the queuing delay each second.
pub(crate) fn call(
    mut observe: impl FnMut(i64, DataRate, Target, TimeDelta),
) -> Result<(), Box<dyn std::error::Error>> {
    // State that your stack owns for each path: a controller, the send history, and when the next packet may leave.
    let limits = RateLimits::new(DataRate::from_kbps(50), DataRate::from_kbps(300), DataRate::from_mbps(10))?;
    // Receiver reports of your RTCP go in as `Feedback::Reception`. None come here: losses and round-trip times are
    // those of the feedback.
    let config = Config { report_patience: TimeDelta::ZERO, ..Config::default() };
    let mut controller = GoogCc::new(config, limits)?;
    let mut history = SendHistory::new(TimeDelta::from_secs(2));
    let mut pacer = Pacer::new(TimeDelta::from_millis(1));
    let mut prober = Prober::new();
    let mut queued: VecDeque<DataSize> = VecDeque::new();
    let mut saved = 0.0;
    // The far end reports which packets arrived when.
    let mut receiver = PacketFeedback::new(TimeDelta::from_millis(50));
    let (mut on_the_way, mut link_free) = (VecDeque::<Arrival>::new(), SendTime::ZERO);

    // The usable rate of the streams bounds the probes; the first probes are requested before the first frame
    // leaves.
    controller.on_streams(SendTime::ZERO, StreamsConfig::camera(limits.max()));
    while let Some(probe) = controller.poll_probe() {
        prober.push(SendTime::ZERO, probe);
    }

    // Instead of each millisecond, wake for the earliest `next_timeout`, `next_departure` and packet that comes.
    for ms in 1..=30_000 {
        let now = SendTime::from_millis(ms);
        let capacity = DataRate::from_mbps(if ms <= 15_000 { 3 } else { 1 });

        // 1. A frame, 30 times a second, as large as the target allows; whole frames are left out where the
        //    controller asks for it.
        let due = ms * 30 / 1000 != (ms - 1) * 30 / 1000;
        saved += if due { controller.target().frame_drop.min(0.5) } else { 0.0 };
        if due && saved >= 1.0 {
            saved -= 1.0;
        } else if due {
            let frame = controller.target().media_rate.bps() / 8 / 30;
            let packets = frame.div_ceil(1200);
            if queued.is_empty() {
                pacer.on_queued(now);
            }
            queued.extend((0..packets).map(|_| DataSize::from_bytes(frame / packets)));
            prober.on_queued(DataSize::from_bytes(frame));
        }

        // 2. Packets leave: media when the pacer allows it, probe packets when they are due, padded where media
        //    is short.
        let waiting = queued.iter().copied().sum();
        let state = SendState { in_flight: history.in_flight(), queued: waiting, application_limited: false };
        pacer.apply(now, &controller.target());
        prober.expire(now);
        loop {
            let probing = prober.next_departure().is_some_and(|due| due <= now);
            let media = if probing || pacer.next_departure() <= now { queued.pop_front() } else { None };
            let Some(size) = media.or(probing.then_some(PADDING)) else { break };
            let sent =
                history.on_sent(now, HEADER, size, media.is_none(), prober.current().map(|probe| probe.id));
            pacer.on_sent(now, size);
            prober.on_sent(now, size);
            controller.on_sent(&sent, &state);
            // Your socket would take it here. This one is a link with a queue that drops packets that would wait
            // too long.
            let begin = link_free.max(now);
            if begin - now <= QUEUE {
                link_free = begin + sent.size / capacity;
                let at = ArrivalTime::ZERO + (link_free - SendTime::ZERO) + PROPAGATION;
                on_the_way.push_back(Arrival::new(sent.id, sent.at, at, size));
            }
        }

        // 3. Packets arrive, reports come back: as RTCP on a network (`weir_media::feedback`), at once in this one.
        let there = ArrivalTime::ZERO + (now - SendTime::ZERO);
        while let Some(packet) = on_the_way.front().filter(|packet| packet.at <= there) {
            receiver.on_arrival(packet);
            on_the_way.pop_front();
        }
        while let Some(report) = receiver.poll_report(there) {
            if let Some(feedback) = history.join(now, &report) {
                controller.on_feedback(now, &feedback, &state);
            }
        }

        // 4. Timers, and the probes that the controller asks for.
        if controller.next_timeout().is_some_and(|due| due <= now) {
            controller.on_timeout(now, &state);
        }
        while let Some(probe) = controller.poll_probe() {
            prober.push(now, probe);
        }
        if ms % 1000 == 0 {
            observe(ms / 1000, capacity, controller.target(), (link_free - now).max(TimeDelta::ZERO));
        }
    }
    Ok(())
}
