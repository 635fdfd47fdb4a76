//! Segments of TCP in UDP, and the table of connections that they move.

use weir_wire::tcp_in_udp::{
    ConnectionId, ConnectionName, Connections, Ports, SegmentHeader, Setup, demux, options,
};

use super::answered;
use crate::input::{ClockReadings, Input};

pub(crate) fn run(data: &[u8]) {
    let _kind = demux(data);
    for option in options(data) {
        answered(data, option);
    }
    if let Some((header, payload)) = answered(data, SegmentHeader::parse(data)) {
        write_again(&header, data.len() - payload.len());
    }
    connect(&mut Input::new(data));
}

/// A header that was read from `length` bytes is written and read again.
fn write_again(header: &SegmentHeader<'_>, length: usize) {
    assert_eq!(header.wire_len(), length);
    assert_eq!(header.setup().is_some(), matches!(header.named, ConnectionName::Ports(_)));
    let mut room = [0xEE; 64];
    let written = header.write(&mut room).expect("it has 60 bytes at most");
    assert_eq!(written, length);
    let (again, rest) = SegmentHeader::parse(&room[..written]).expect("what was written can be read");
    assert!(rest.is_empty());
    assert_eq!(again, *header);
}

/// Connections that are opened, accepted, refused, used and closed: no two share a number.
fn connect(input: &mut Input<'_>) {
    let (mut connections, mut course, mut now) = (Connections::default(), ClockReadings::default(), 0_i64);
    while !input.is_empty() {
        now += course.step(input).nanos();
        let ports = Ports { source: input.below(40) as u16, destination: 443 };
        let id = ConnectionId::new(input.byte() % ConnectionId::COUNT).expect("below 32");
        match input.below(6) {
            0 => {
                let opened = connections.open(now, ports);
                assert_eq!(connections.id(now, ports), opened, "it has the number it was given");
            }
            1 => {
                if let Setup::Use(taken) = connections.accept(now, id, ports) {
                    assert_eq!((taken, connections.id(now, ports)), (id, Some(id)));
                }
            }
            2 => connections.on_accepted(ports),
            3 => connections.on_refused(ports),
            4 => connections.close(now, id),
            _ => {
                if let Some(ports) = connections.on_segment(now, id) {
                    assert_eq!(connections.id(now, ports), Some(id), "a segment is of who has the number");
                }
            }
        }
    }
}
