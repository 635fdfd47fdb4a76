//! TCP in UDP is read as it was written.

use proptest::collection::vec;
use proptest::prelude::*;
use weir_wire::tcp_in_udp::{ConnectionId, ConnectionName, Connections, Flags, Ports, SegmentHeader, Setup};

fn named_by(number: u8) -> ConnectionName {
    ConnectionName::Id(ConnectionId::new(number).unwrap())
}

proptest! {
    #[test]
    fn segments_are_read_as_written(
        (syn, source, destination, flags, window) in any::<(bool, u16, u16, u8, u16)>(),
        (sequence, acknowledgment) in any::<(u32, u32)>(),
        id in 0..32u8,
        options in vec(Just(1u8), 0..=35),
        payload in vec(any::<u8>(), 0..40),
    ) {
        let setup = Setup::Use(ConnectionId::new(id).unwrap());
        let named = if syn { ConnectionName::Ports(Ports { source, destination }) } else { named_by(id) };
        let options = if syn { [options, setup.option().to_vec()].concat() } else { options };
        let flags = Flags::from_bits(flags);
        let header = SegmentHeader { named, flags, window, sequence, acknowledgment, options: &options };
        let mut bytes = vec![0xEE; header.wire_len()];
        prop_assert_eq!(header.write(&mut bytes), Ok(header.wire_len()));
        bytes.extend(&payload);
        let (read, after) = SegmentHeader::parse(&bytes).unwrap();
        prop_assert_eq!(after, &payload[..]);
        let (written_options, filled) = read.options.split_at(options.len());
        prop_assert!(written_options == options && filled.len() < 4 && filled.iter().all(|byte| *byte == 0));
        prop_assert_eq!(read.setup(), syn.then_some(setup));
        prop_assert_eq!(SegmentHeader { options: &options, ..read }, header);
    }

    #[test]
    fn no_two_connections_have_one_number(
        steps in vec((0..5u8, 0..40u16, 0..32u8, 0..50i64), 0..300),
    ) {
        let mut table = Connections::new(100);
        let mut now = 0;
        for (step, port, number, later) in steps {
            now += later;
            let (ports, id) = (Ports { source: port, destination: 443 }, ConnectionId::new(number).unwrap());
            match step {
                0 => prop_assert_eq!(table.open(now, ports), table.id(now, ports)),
                1 => {
                    let taken = table.accept(now, id, ports);
                    prop_assert_eq!(taken == Setup::Use(id), table.id(now, ports) == Some(id));
                }
                2 => table.on_refused(ports),
                3 => table.close(now, id),
                _ => {
                    let unknown = table.unknown();
                    let found = table.on_segment(now, id);
                    prop_assert_eq!(found.and_then(|ports| table.id(now, ports)), found.map(|_| id));
                    prop_assert_eq!(table.unknown() - unknown, u64::from(found.is_none()));
                }
            }
        }
    }
}
