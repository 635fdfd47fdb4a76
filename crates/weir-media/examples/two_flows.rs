//! Two flows of one session over a path in memory, with each decision of their controllers; without sockets, clocks or
//! a runtime: `cargo run -p weir-media --example two_flows`.

mod path;

use path::Path;
use weir_cc::gcc::goog_cc::{Config, GoogCc};
use weir_cc::packet_feedback::PacketFeedback;
use weir_cc::{DataRate, Decision, RateLimits, SendTime, TimeDelta};
use weir_media::{
    EncoderConfig, FlowId, MediaConfig, MediaReceiver, MediaSender, Output, SenderSeeds, Session,
};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    call(|now, flow, decision| {
        let at = (now - SendTime::ZERO).secs_f64();
        let Decision { rate, base, why, .. } = decision;
        println!("{at:>6.2} s, flow {}: {base} → {rate}, {}", flow.number(), why.name());
    })
}

/// Runs a call of 30 s; passes each decision to `observe`.
pub(crate) fn call(
    mut observe: impl FnMut(SendTime, FlowId, &Decision),
) -> Result<(), Box<dyn std::error::Error>> {
    let limits = RateLimits::new(DataRate::from_kbps(50), DataRate::from_kbps(300), DataRate::from_mbps(3))?;
    let config = MediaConfig::new(limits, EncoderConfig::papers());
    let (mut session, mut receivers) = (Session::new(), Vec::new());
    for ssrc in 0..2 {
        let seeds = SenderSeeds { encoder: u64::from(ssrc), rtcp: 10 + u64::from(ssrc) };
        let controller = Box::new(GoogCc::new(Config::default(), limits)?);
        let flow =
            session.add(MediaSender::new(controller, config, ssrc, seeds)).map_err(|_| "one SSRC twice")?;
        session.start(SendTime::ZERO, flow);
        let controller = Box::new(PacketFeedback::new(TimeDelta::from_millis(50)));
        receivers.push(MediaReceiver::new(controller, config, 100 + ssrc, ssrc, 20));
    }
    let (mut path, mut now, mut room) = (Path::new(receivers), SendTime::ZERO, [0; 1472]);
    while now <= SendTime::from_millis(30_000) {
        path.deliver(now, &mut session);
        // Sends the outputs. Sender reports are dropped, as nothing here asks for them.
        let wake = loop {
            match session.poll(now, &mut room) {
                Output::Packet(flow, packet) => path.send(now, flow, packet),
                Output::Decision(flow, decision) => observe(now, flow, &decision),
                Output::Wake(wake) => break wake,
                Output::Rtcp(..)
                | Output::Rtt(..)
                | Output::Statistics(..)
                | Output::Alarm(..)
                | Output::Frame(..)
                | Output::Target(..) => {}
            }
        };
        now = path.next(now, wake.map(|wake| wake.at));
    }
    Ok(())
}
