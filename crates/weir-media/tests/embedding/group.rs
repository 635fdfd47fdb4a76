//! Members of a group that are silent, paused or resumed.

use weir_cc::coupled::fse::{self, Fse, InitialGrouping};
use weir_cc::coupled::{Aggregate, Coupler, CouplerAction, CouplingMessage, Refusal};
use weir_cc::{DataRate, SendTime};
use weir_media::{
    DesiredRate, Endpoint, EndpointConfig, EndpointEvent, EndpointGroup, FlowId, GroupError, PacketMeta,
    PacketNumbering, PayloadHandle, StreamConfig, StreamId,
};

use super::rig::{Network, VIDEO, at, gcc, limits};

/// A group of two endpoints with a stream of audio each, whose packets leave at once.
fn group() -> (EndpointGroup<PayloadHandle>, Vec<(FlowId, StreamId)>) {
    let coupler = Fse::new(fse::Config::rfc8699_active(), InitialGrouping::Together).unwrap();
    let mut group = EndpointGroup::new(Box::new(coupler));
    let flows = (1..=2).map(|ssrc| {
        let config = EndpointConfig { numbering: PacketNumbering::Given, ..EndpointConfig::new(limits()) };
        let mut endpoint = Endpoint::new(gcc(), EndpointConfig { breakers: false, ..config }, 7);
        let stream = endpoint.add_stream(StreamConfig::audio(ssrc, 96)).unwrap();
        (group.add(at(0), endpoint, 1.0, DesiredRate::Limits).unwrap(), stream)
    });
    let flows = flows.collect();
    (group, flows)
}

fn send(group: &mut EndpointGroup<PayloadHandle>, ms: i64, (flow, stream): (FlowId, StreamId)) -> Vec<u16> {
    let payload = PayloadHandle { place: 0, size: 20 };
    let endpoint = group.endpoint_mut(flow).unwrap();
    endpoint.queue(at(ms), stream, payload, PacketMeta::new(0, true)).unwrap();
    let mut out = [0; 1500];
    let mut numbers = Vec::new();
    while let Some((_, departure)) = group.poll_packet(at(ms), &mut out).unwrap() {
        numbers.push(departure.transport_sequence);
    }
    numbers
}

#[test]
fn a_silent_member_goes_on_after_more_numbers_than_sixteen_bits_have() {
    let (mut group, flows) = group();
    let first = send(&mut group, 0, flows[0]);
    let mut next = u64::from(*first.last().unwrap()) + 1;
    for ms in 1..70_000 {
        for number in send(&mut group, 3 * ms, flows[1]) {
            assert_eq!(number, next as u16);
            next += 1;
        }
        group.on_timeout(at(3 * ms)).unwrap();
        while group.poll_event(at(3 * ms)).unwrap().is_some() {}
    }
    assert!(next > 66_000, "{next}");
    let last = (210_000..210_300).find_map(|ms| send(&mut group, ms, flows[0]).pop());
    assert!(last.is_some_and(|number| number.wrapping_sub(next as u16) < 300), "{last:?} after {next}");
}

#[test]
fn a_paused_member_sends_nothing_until_it_resumes() {
    let (mut group, flows) = group();
    group.pause(at(10), flows[0].0).unwrap();
    let (flow, stream) = flows[0];
    let payload = PayloadHandle { place: 0, size: 20 };
    let refused = group.endpoint_mut(flow).unwrap().queue(at(10), stream, payload, PacketMeta::new(0, true));
    assert!(refused.is_err());
    group.resume(at(20), flow).unwrap();
    assert!((20..200).any(|ms| !send(&mut group, ms, flows[0]).is_empty()));
    group.weigh(at(300), flow, 2.0).unwrap();
    assert!(group.weigh(at(300), flow, f64::NAN).is_err());
}

/// A coupler that lets flows join, and refuses whatever they report.
#[derive(Debug)]
struct RefusingCoupler;

impl Coupler for RefusingCoupler {
    fn on_message(&mut self, _: SendTime, flow: FlowId, message: &CouplingMessage) -> Result<(), Refusal> {
        if matches!(message, CouplingMessage::Join(_)) { Ok(()) } else { Err(Refusal::Kind(flow)) }
    }

    fn poll_action(&mut self) -> Option<(FlowId, CouplerAction)> {
        None
    }

    fn aggregate(&self, _: FlowId) -> Option<Aggregate> {
        None
    }
}

#[test]
fn packets_and_events_come_though_the_coupler_refuses_the_flow() {
    let mut group = EndpointGroup::new(Box::new(RefusingCoupler));
    let config = EndpointConfig { numbering: PacketNumbering::Given, ..EndpointConfig::new(limits()) };
    let mut endpoint = Endpoint::new(gcc(), config, 7);
    let stream = endpoint.add_stream(StreamConfig::audio(VIDEO, 96)).unwrap();
    let flow = group.add(at(0), endpoint, 1.0, DesiredRate::Measured).unwrap();
    let mut network = Network::new(DataRate::from_mbps(2));
    let (mut sent, mut left, mut decisions, mut refusals) = (0, 0, 0, 0);
    for ms in 0..2000 {
        if ms % 20 == 0 {
            let payload = PayloadHandle { place: sent, size: 160 };
            let endpoint = group.endpoint_mut(flow).unwrap();
            endpoint.queue(at(ms), stream, payload, PacketMeta::new(0, true)).unwrap();
            sent += 1;
        }
        for report in network.deliver(at(ms)) {
            group.on_rtcp(at(ms), &report).unwrap();
        }
        group.on_timeout(at(ms)).unwrap();
        while let Some((_, departure)) = group.poll_packet(at(ms), &mut [0; 1500]).unwrap() {
            network.send(at(ms), departure.transport_sequence, departure.length);
            left += 1;
        }
        loop {
            match group.poll_event(at(ms)) {
                Ok(Some((_, EndpointEvent::Decision(_)))) => decisions += 1,
                Ok(Some(_)) => {}
                Ok(None) => break,
                Err(error) => {
                    assert_eq!(error, GroupError::Refused(Refusal::Kind(flow)));
                    refusals += 1;
                }
            }
        }
    }
    assert_eq!((sent, left), (100, 100));
    assert!(decisions > 20 && refusals > 0, "{decisions} decisions, {refusals} refusals");
}
