//! Attack on one of two flows of a session on one path, coupled or not: forged reports claim congestion of that flow.

use weir_cc::coupled::fse::{Config, Fse, InitialGrouping};
use weir_cc::{DataRate, Ecn, SendTime, TimeDelta};
use weir_media::{
    CoupledFlow, CoupledFlows, DesiredRate, EncoderConfig, MediaConfig, MediaPacket, MediaReceiver,
    MediaSender, Output, PacketFormat, SenderSeeds, Session,
};
use weir_net::Service;
use weir_wire::rtcp::NadaFeedback;

use super::path::{CallPath, ForwardPacket, MAX_RTCP_BYTES, limits, wire_bytes};
use super::seen::{ObservedCall, number_before};
use super::setting::{AttackSpan, ONE_WAY, RECEIVER, SENDER, clock};
use weir_scenario::registry::{Registry, RegistryError};

/// Capacity of the pair, twice that of one flow.
const CAPACITY: DataRate = DataRate::from_kbps(2000);
/// Controller of the attacked flow.
const ATTACKED: &str = "nada";
/// Age of the packet that a forged report names. The round trip of the path takes 50 ms.
const REPORTED_AGE: TimeDelta = TimeDelta::from_millis(40);
/// Time from the beginning of the attack until rates are measured.
const SETTLING: TimeDelta = TimeDelta::from_secs(5);

/// Two flows on one path; forged reports claim congestion of the second.
pub(super) struct FlowPair<'a> {
    pub(super) registry: &'a Registry,
    pub(super) controller: &'a str,
    /// Whether the flows are coupled by RFC 8699's conservative algorithm.
    pub(super) coupled: bool,
    /// Interval between forged reports.
    pub(super) every: TimeDelta,
    pub(super) span: AttackSpan,
}

impl FlowPair<'_> {
    /// Rate of both flows in kbit/s during the attack. Circuit breakers are off, and no sequence number is left out.
    ///
    /// # Errors
    /// An unknown controller.
    pub(super) fn run(&self) -> Result<f64, RegistryError> {
        let (mut session, mut now) = (Session::new(), SendTime::ZERO);
        let fse =
            Fse::new(Config::rfc8699_conservative(), InitialGrouping::Together).expect("it is a preset");
        let mut coupled = CoupledFlows::new(fse);
        let mut receivers = Vec::new();
        for (place, controller) in (0..).zip([self.controller, ATTACKED]) {
            let halves = self.registry.build(controller, None, limits(), 1.0)?;
            let config = MediaConfig {
                packet_format: halves.packet_format,
                breakers: false,
                leave_out: None,
                ..MediaConfig::new(limits(), EncoderConfig::papers())
            };
            let [source, reporter] = sources(place);
            let seeds = SenderSeeds { encoder: 1 + u64::from(place), rtcp: 12 + u64::from(place) };
            let mut sender = MediaSender::new(halves.controller, config, source, seeds);
            sender.believe_only(&[reporter]);
            receivers.push(MediaReceiver::new(halves.receiver, config, reporter, source, 23));
            let id = session.add(sender).expect("the source identifiers differ");
            session.start(now, id);
            if self.coupled {
                let flow = CoupledFlow::new(id, 1.0, DesiredRate::Limits, &config);
                coupled.add(now, flow, &mut session).expect("its priority is 1");
            }
        }
        let mut seen = ObservedCall::new(PacketFormat::default());
        let mut path = CallPath::<(usize, MediaPacket)>::new(Service::Constant(CAPACITY));
        let (mut bytes, mut forged, mut room) = (0, self.span.from, [0; MAX_RTCP_BYTES]);
        while now < self.span.to {
            while let Some(arrived) = path.arrival(now) {
                match arrived {
                    ForwardPacket::Media((place, packet)) => {
                        let receiver = &mut receivers[place];
                        receiver.on_packet(clock(now), &packet.header, packet.payload, Ecn::NotEct);
                    }
                    ForwardPacket::Rtcp(report) => {
                        for receiver in &mut receivers {
                            receiver.on_rtcp(clock(now), &report);
                        }
                    }
                }
            }
            for receiver in &mut receivers {
                while let Some(length) = receiver.poll_rtcp(clock(now), &mut room) {
                    path.answer_at(now + ONE_WAY, &room[..length]);
                }
            }
            while let Some(report) = path.answered(now) {
                session.on_rtcp(now, &report);
            }
            if forged <= now {
                session.on_rtcp(now, &forged_report(number_before(&seen, now - REPORTED_AGE)));
                forged = now + self.every;
            }
            coupled.on_timeout(now, &mut session);
            let wake = loop {
                let output = session.poll(now, &mut room);
                coupled.on_output(now, &mut session, &output).expect("the flow has joined");
                match output {
                    Output::Packet(id, packet) => {
                        if now >= self.span.from + SETTLING {
                            bytes += u64::from(packet.payload);
                        }
                        if id.number() == 1 {
                            seen.on_packet(now, &packet);
                        }
                        path.send(now, wire_bytes(&packet), (id.number(), packet));
                    }
                    Output::Rtcp(_, length) => {
                        path.send_report(now, &room[..length]);
                    }
                    Output::Wake(wake) => break wake.map(|wake| wake.at),
                    _ => {}
                }
            };
            let reports = receivers.iter().filter_map(MediaReceiver::next_timeout);
            let reports = reports.map(|at| now + (at - clock(now)));
            let waits = [wake, coupled.next_timeout(), path.next_event(), Some(forged)];
            let next = waits.into_iter().flatten().chain(reports).min().unwrap_or(self.span.to);
            // The clock always advances, even if a timer is already due.
            now = next.max(now + TimeDelta::from_micros(10));
        }
        Ok(bytes as f64 * 8e-3 / (self.span.to - self.span.from - SETTLING).secs_f64())
    }
}

/// Source identifiers of the flow at `place` and of its receiver.
const fn sources(place: u32) -> [u32; 2] {
    [SENDER + 16 * place, RECEIVER + 16 * place]
}

/// Report that gives the second flow the greatest congestion.
fn forged_report(number: u16) -> Vec<u8> {
    let [source, ssrc] = sources(1);
    let report = NadaFeedback {
        ssrc,
        source,
        ramp_up: false,
        congestion: (1 << 15) - 1,
        transport_sequence: number,
        receive_rate: 0,
        held: 0,
    };
    let mut out = [0; MAX_RTCP_BYTES];
    let length = report.write(&mut out).expect("there is room");
    out[..length].to_vec()
}
