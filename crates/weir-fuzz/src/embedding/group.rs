//! Endpoints of one peer under a coupler, with one far end.

use weir_cc::SendTime;
use weir_cc::coupled::FlowId;
use weir_media::{
    DesiredRate, Endpoint, EndpointError, EndpointGroup, GroupError, PacketFormat, PacketNumbering,
    PayloadHandle, StreamConfig, StreamId,
};
use weir_registry::{CouplerSetting, coupler, couplers};
use weir_units::TimeDelta;

use super::far_end::FarEnd;
use super::ledger::PayloadLedger;
use super::settings;
use crate::input::Input;

/// Most times that timers are served at one moment.
const MOST_ROUNDS: usize = 20;
/// Most packets that leave at one moment.
const MOST_PACKETS: usize = 40_000;

/// An endpoint of the group.
struct GroupMember {
    flow: FlowId,
    streams: Vec<StreamId>,
    configs: Vec<StreamConfig>,
    ledger: PayloadLedger,
}

/// The group under test.
pub(super) struct FuzzedGroup {
    now: SendTime,
    group: EndpointGroup<PayloadHandle>,
    members: Vec<GroupMember>,
    far_end: FarEnd,
}

impl FuzzedGroup {
    pub(super) fn any(input: &mut Input<'_>) -> Self {
        let names: Vec<&str> = couplers().map(|info| info.name).collect();
        let setting = CouplerSetting { testbed: true, ..CouplerSetting::default() };
        let built = |name| coupler(name, None, &setting).ok().flatten();
        // One of them leaves flows alone, and some need another setting.
        let chosen = built(input.one_of(&names)).or_else(|| names.iter().find_map(|name| built(name)));
        let coupler = chosen.expect("a coupler without a setting");
        let (mut group, now) = (EndpointGroup::new(coupler), SendTime::ZERO);
        let (mut members, mut all) = (Vec::new(), Vec::new());
        let format = if input.flag() { PacketFormat::TransportWide } else { PacketFormat::Rfc8888 };
        for place in 0..=u32::from(input.byte() % 3) {
            let config = settings::config(PacketNumbering::Given, format, input);
            let mut endpoint = Endpoint::new(settings::controller(input), config, input.u64());
            let configs = settings::streams(1 + 10 * place, input);
            let add = |config: &StreamConfig| endpoint.add_stream(*config).expect("sources differ");
            let streams: Vec<StreamId> = configs.iter().map(add).collect();
            let mut ledger = PayloadLedger::default();
            for config in &configs {
                ledger.add(config);
            }
            let desired = input.one_of(&[DesiredRate::Limits, DesiredRate::Unlimited, DesiredRate::Measured]);
            // A coupler may refuse a controller.
            let Ok(flow) = group.add(now, endpoint, f64::from(1 + input.byte() % 4), desired) else {
                continue;
            };
            all.extend_from_slice(&configs);
            members.push(GroupMember { flow, streams, configs, ledger });
        }
        let far_end = FarEnd::any(format, &all, input);
        Self { now, group, members, far_end }
    }

    /// A call with any arguments, or time goes on.
    pub(super) fn step(&mut self, input: &mut Input<'_>) {
        if input.flag() {
            self.advance(input);
        } else {
            self.call(input);
        }
        self.poll_events();
        self.check();
    }

    /// The application stops: no payload is left.
    pub(super) fn end(mut self) {
        for place in 0..self.members.len() {
            let paused = self.group.pause(self.now, self.members[place].flow);
            refused(paused.as_ref().err());
        }
        self.poll_events();
        self.check();
        self.members.iter().for_each(|member| member.ledger.check_empty());
    }

    fn call(&mut self, input: &mut Input<'_>) {
        let before = TimeDelta::from_millis(i64::from(input.byte()));
        let now = if input.byte() == 0 { self.now - before } else { self.now };
        let count = self.members.len().max(1);
        let Some(member) = self.members.get_mut(usize::from(input.byte()) % count) else { return };
        let endpoint = self.group.endpoint_mut(member.flow).expect("a member");
        let error = match input.byte() % 10 {
            0..=3 => {
                let streams = member.streams.len().max(1);
                let Some(&stream) = member.streams.get(usize::from(input.byte()) % streams) else { return };
                let meta = settings::meta(now, input);
                for _ in 0..=input.byte() % 16 {
                    let payload = member.ledger.next(input.u16() % 1500);
                    if endpoint.queue(now, stream, payload, meta).is_ok() {
                        member.ledger.on_queued(stream, payload);
                    }
                }
                None
            }
            4 => {
                let length = usize::from(input.byte());
                self.group.on_rtcp(now, input.bytes(length)).err()
            }
            5 if input.flag() => self.group.pause(now, member.flow).err(),
            5 => self.group.resume(now, member.flow).err(),
            6 => endpoint.add_encoder(now, settings::encoder(input)).err().map(GroupError::from),
            7 => self.group.weigh(now, member.flow, f64::from(input.byte())).err(),
            8 => {
                if let Some(config) = member.configs.first() {
                    self.far_end.request_key_frame(self.now, config.ssrc);
                }
                self.far_end.change(input);
                None
            }
            _ => {
                self.now += TimeDelta::from_millis(i64::from(input.byte()));
                None
            }
        };
        refused(error.as_ref());
    }

    /// Time goes on to the next timer, or by a step; everything that is due is taken.
    fn advance(&mut self, input: &mut Input<'_>) {
        let step = self.now + TimeDelta::from_micros(i64::from(input.u16()));
        let due = self.group.next_timeout().unwrap_or(step);
        self.now = due.clamp(self.now, step.max(self.now));
        for report in self.far_end.deliver(self.now) {
            self.group.on_rtcp(self.now, &report).expect("time goes on");
            self.poll_events();
        }
        for round in 0.. {
            let next = self.group.next_timeout();
            assert!(round < MOST_ROUNDS, "{next:?} is due at {:?} without end", self.now);
            self.serve();
            if self.group.next_timeout().is_none_or(|next| next > self.now) {
                break;
            }
        }
    }

    fn serve(&mut self) {
        self.group.on_timeout(self.now).expect("time goes on");
        let mut out = [0; 1600];
        for left in 0.. {
            assert!(left < MOST_PACKETS, "packets leave without end");
            let departure = self.group.poll_packet(self.now, &mut out).expect("the buffer is large");
            let Some((flow, departure)) = departure else { break };
            self.members[flow.number()].ledger.on_departure(&departure);
            self.far_end.send_datagram(self.now, &out[..departure.length]);
        }
        while let Some(length) = self.group.poll_rtcp(self.now, &mut out).expect("time goes on") {
            self.far_end.send_datagram(self.now, &out[..length]);
        }
        self.poll_events();
    }

    fn poll_events(&mut self) {
        loop {
            match self.group.poll_event(self.now) {
                Ok(Some((flow, event))) => self.members[flow.number()].ledger.on_event(&event),
                Ok(None) => break,
                // Some couplers have windows alone.
                error => refused(error.as_ref().err()),
            }
        }
    }

    fn check(&self) {
        for member in &self.members {
            let endpoint = self.group.endpoint(member.flow).expect("a member");
            member.ledger.check(&endpoint.stats());
            assert!(endpoint.target().media_rate <= settings::limits().max(), "{:?}", endpoint.target());
        }
    }
}

/// Times that run back and weights out of range are refused.
fn refused(error: Option<&GroupError>) {
    let fine = matches!(
        error,
        None | Some(GroupError::Endpoint(EndpointError::TimeWentBack { .. }) | GroupError::Refused(_))
    );
    assert!(fine, "{error:?}");
}
