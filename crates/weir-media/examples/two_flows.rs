//! Two flows of one session over a path in memory, and each decision of their controllers: no socket, no clock, no
//! runtime. Where a queue of packets stands here, a socket would: `cargo run -p weir-media --example two_flows`.

use std::collections::VecDeque;

use weir_cc::gcc::goog_cc::{Config, GoogCc};
use weir_cc::packet_feedback::PacketFeedback;
use weir_cc::{ArrivalTime, DataRate, DataSize, Decision, Ecn, RateLimits, SendTime, TimeDelta};
use weir_media::{
    EncoderConfig, FlowId, MediaConfig, MediaPacket, MediaReceiver, MediaSender, Output, SenderSeeds, Session,
};

const CAPACITY: DataRate = DataRate::from_mbps(2);
const DELAY: TimeDelta = TimeDelta::from_millis(25);

fn main() -> Result<(), Box<dyn std::error::Error>> {
    call(|now, flow, decision| {
        let at = (now - SendTime::ZERO).secs_f64();
        let Decision { rate, base, why, .. } = decision;
        println!("{at:>6.2} s, flow {}: {base} → {rate}, {}", flow.number(), why.name());
    })
}

/// A call of 30 s; tells each decision.
pub(crate) fn call(
    mut tell: impl FnMut(SendTime, FlowId, &Decision),
) -> Result<(), Box<dyn std::error::Error>> {
    let limits = RateLimits::new(DataRate::from_kbps(50), DataRate::from_kbps(300), DataRate::from_mbps(3))?;
    let config = MediaConfig::new(limits, EncoderConfig::papers());
    let (mut session, mut receivers) = (Session::new(), Vec::new());
    for ssrc in 0..2 {
        let seeds = SenderSeeds { encoder: u64::from(ssrc), rtcp: 10 + u64::from(ssrc) };
        let law = Box::new(GoogCc::new(Config::default(), limits)?);
        let flow = session.add(MediaSender::new(law, config, ssrc, seeds)).map_err(|_| "one SSRC twice")?;
        session.start(SendTime::ZERO, flow);
        let law = Box::new(PacketFeedback::new(TimeDelta::from_millis(50)));
        receivers.push(MediaReceiver::new(law, config, 100 + ssrc, ssrc, 20));
    }
    let mut there = VecDeque::<(SendTime, FlowId, MediaPacket)>::new();
    let mut back = VecDeque::<(SendTime, Vec<u8>)>::new();
    let (mut now, mut link_free, mut room) = (SendTime::ZERO, SendTime::ZERO, [0; 1472]);

    while now <= SendTime::from_millis(30_000) {
        // 1. What has come: media at the far end, RTCP at this one.
        let far = ArrivalTime::from_nanos(now.nanos());
        while let Some((_, flow, packet)) = there.front().filter(|(at, ..)| *at <= now) {
            receivers[flow.number()].on_packet(far, &packet.header, packet.payload, Ecn::NotEct);
            there.pop_front();
        }
        while let Some((_, bytes)) = back.front().filter(|(at, _)| *at <= now) {
            session.on_rtcp(now, bytes);
            back.pop_front();
        }
        // 2. What goes out. Sender reports are left out: nothing here asks for them.
        let wake = loop {
            match session.poll(now, &mut room) {
                Output::Packet(flow, packet) => {
                    let size = packet.header.wire_len() as u64 + u64::from(packet.payload);
                    link_free = link_free.max(now) + DataSize::from_bytes(size) / CAPACITY;
                    there.push_back((link_free + DELAY, flow, packet));
                }
                Output::Decision(flow, decision) => tell(now, flow, &decision),
                Output::Wake(wake) => break wake,
                Output::Rtcp(..)
                | Output::Rtt(..)
                | Output::Statistics(..)
                | Output::Frame(..)
                | Output::Target(..) => {}
            }
        };
        for receiver in &mut receivers {
            while let Some(length) = receiver.poll_rtcp(far, &mut room) {
                back.push_back((now + DELAY, room[..length].to_vec()));
            }
        }
        // 3. Nothing happens until the first of these.
        let reports = receivers.iter().filter_map(MediaReceiver::next_timeout).min();
        let next = [wake.map(|wake| wake.at), reports.map(|at| SendTime::from_nanos(at.nanos()))];
        let next =
            next.into_iter().chain([there.front().map(|first| first.0), back.front().map(|first| first.0)]);
        now = now.max(next.flatten().min().unwrap_or(SendTime::MAX));
    }
    Ok(())
}
