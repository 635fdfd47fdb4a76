//! Audio, video and a shared screen of one call share a common rate by their weights, over a path in memory:
//! `cargo run -p weir-media --example coupled_call`.

mod path;

use path::Path;
use weir_cc::coupled::fse::{self, Fse, InitialGrouping};
use weir_cc::gcc::goog_cc::{Config, GoogCc};
use weir_cc::packet_feedback::PacketFeedback;
use weir_cc::{DataRate, RateLimits, SendTime, TimeDelta};
use weir_media::{
    CoupledFlow, CoupledFlows, DesiredRate, EncoderConfig, MediaConfig, MediaReceiver, MediaSender,
};
use weir_media::{Output, SenderSeeds, Session};

/// Name, weight, highest rate in kbit/s.
const FLOWS: [(&str, f64, u64); 3] = [("audio", 8.0, 100), ("video", 2.0, 3000), ("screen", 4.0, 3000)];

fn main() -> Result<(), Box<dyn std::error::Error>> {
    for ((name, weight, most), rate) in FLOWS.iter().zip(call()?) {
        println!("{name:<7} weight {weight}, at most {most} kbit/s: {rate}");
    }
    Ok(())
}

/// The rates of the flows after a call of 30 s.
pub(crate) fn call() -> Result<Vec<DataRate>, Box<dyn std::error::Error>> {
    let (mut session, mut receivers, mut now) = (Session::new(), Vec::new(), SendTime::ZERO);
    let mut coupled = CoupledFlows::new(Fse::new(fse::Config::rfc8699_active(), InitialGrouping::Together)?);
    for (ssrc, (_, weight, most)) in (0..).zip(FLOWS) {
        let kbps = DataRate::from_kbps;
        let limits = RateLimits::new(kbps(30), kbps(100), kbps(most))?;
        let config = MediaConfig::new(limits, EncoderConfig::papers());
        let controller = Box::new(GoogCc::new(Config::default(), limits)?);
        let sender = MediaSender::new(controller, config, ssrc, SenderSeeds { encoder: 1, rtcp: 2 });
        let id = session.add(sender).map_err(|_| "one SSRC twice")?;
        session.start(now, id);
        coupled.add(now, CoupledFlow::new(id, weight, DesiredRate::Limits, &config), &mut session)?;
        let reports = Box::new(PacketFeedback::new(TimeDelta::from_millis(50)));
        receivers.push(MediaReceiver::new(reports, config, 100 + ssrc, ssrc, 20));
    }
    let (mut path, mut room) = (Path::new(receivers), [0; 1472]);
    while now <= SendTime::from_millis(30_000) {
        path.deliver(now, &mut session);
        coupled.on_timeout(now, &mut session);
        let wake = loop {
            let output = session.poll(now, &mut room);
            coupled.on_output(now, &mut session, &output)?;
            match output {
                Output::Packet(flow, packet) => path.send(now, flow, packet),
                Output::Wake(wake) => break wake.map(|wake| wake.at),
                _ => {}
            }
        };
        now = path.next(now, wake.into_iter().chain(coupled.next_timeout()).min());
    }
    Ok(session.flows().map(|(_, sender)| sender.target().sending_rate).collect())
}
