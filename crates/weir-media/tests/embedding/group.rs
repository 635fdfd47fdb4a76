//! Members of a group that are silent, paused or resumed.

use weir_cc::coupled::fse::{self, Fse, InitialGrouping};
use weir_media::{DesiredRate, Endpoint, EndpointConfig, EndpointGroup, FlowId, PacketMeta, PacketNumbering};
use weir_media::{PayloadHandle, StreamConfig, StreamId};

use super::rig::{at, gcc, limits};

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
