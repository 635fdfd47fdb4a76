//! Assignment of numbers to connections.

use super::{ConnectionId, Ports, Setup};

/// The maximum segment lifetime of TCP (RFC 9293 §3.4.2): 2 min.
pub const MSL_NANOS: i64 = 120_000_000_000;

/// Lifetime of the number of a half-open connection, accepted without a further segment: as long as its SYN/ACK is
/// sent again (Linux: five times, 63 s).
pub const HALF_OPEN_NANOS: i64 = 63_000_000_000;

/// The connections of one pair of hosts on one pair of UDP ports, as seen by one of the hosts. Ports are as in
/// the host's own segments: [`Ports::reversed`] for received ones.
///
/// While a connection has a number, plain TCP between its ports must ignore a SYN or SYN/ACK. This segment is
/// the copy for peers and paths without TCP in UDP.
#[derive(Clone, Debug)]
pub struct Connections {
    places: [Option<ConnectionSlot>; ConnectionId::COUNT as usize],
    msl_nanos: i64,
    unknown: u64,
}

#[derive(Clone, Copy, Debug)]
struct ConnectionSlot {
    ports: Ports,
    state: State,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// This host requested the number, and has no answer yet.
    Asked,
    /// The other host requested the number, and has not used it in a segment yet. The number is free after this
    /// time.
    HalfOpen { free_nanos: i64 },
    /// The connection is established.
    Established,
    /// The connection is closed. Its number is free then.
    Closed { free_nanos: i64 },
}

impl Default for Connections {
    fn default() -> Self {
        Self::new(MSL_NANOS)
    }
}

impl Connections {
    /// No connection yet; a number is free again two segment lifetimes after the close.
    pub const fn new(msl_nanos: i64) -> Self {
        Self { places: [None; ConnectionId::COUNT as usize], msl_nanos, unknown: 0 }
    }

    /// The number to open a connection with: the one it has already, if this is another SYN for it, else the
    /// lowest that is free. Returns `None` if no number is free: the connection is to be plain TCP.
    pub fn open(&mut self, now_nanos: i64, ports: Ports) -> Option<ConnectionId> {
        self.expire(now_nanos);
        let held = self.id(now_nanos, ports);
        let id = held.or_else(|| self.first_free())?;
        if self.place(id).is_none_or(|place| place.is_closed()) {
            self.take(id, ports, State::Asked);
        }
        Some(id)
    }

    /// The SYN/ACK uses the number that this host requested; a later refusal is ignored.
    pub fn on_accepted(&mut self, ports: Ports) {
        for place in self.places.iter_mut().flatten().filter(|place| place.ports == ports) {
            place.establish();
        }
    }

    /// A SYN with this number arrives; returns the answer of the SYN/ACK.
    pub fn accept(&mut self, now_nanos: i64, id: ConnectionId, ports: Ports) -> Setup {
        self.expire(now_nanos);
        let holder = self.place(id).map(|place| place.ports);
        let held = self.id(now_nanos, ports);
        if holder.is_some_and(|holder| holder != ports) || held.is_some_and(|held| held != id) {
            return Setup::Refused;
        }
        let opened = now_nanos.saturating_add(HALF_OPEN_NANOS);
        match self.place(id).map(|place| place.state) {
            None => self.take(id, ports, State::HalfOpen { free_nanos: opened }),
            // Another SYN does not shorten the time for which a number is reserved.
            Some(State::Closed { free_nanos }) => {
                self.take(id, ports, State::HalfOpen { free_nanos: opened.max(free_nanos) });
            }
            Some(_) => {}
        }
        Setup::Use(id)
    }

    /// The SYN/ACK refused the number: it is free at once, because no segment has used it. A later refusal, or one
    /// to a host that did not request the number, is ignored.
    pub fn on_refused(&mut self, ports: Ports) {
        for place in &mut self.places {
            if place.is_some_and(|place| place.ports == ports && place.state == State::Asked) {
                *place = None;
            }
        }
    }

    /// The connection is closed; its number is free after twice the lifetime of a segment.
    pub fn close(&mut self, now_nanos: i64, id: ConnectionId) {
        let free_nanos = now_nanos.saturating_add(self.msl_nanos.saturating_mul(2));
        if let Some(Some(place)) = self.places.get_mut(usize::from(id.number()))
            && !place.is_closed()
        {
            place.state = State::Closed { free_nanos };
        }
    }

    /// The connection to which a received segment belongs. Returns `None` if the segment is to be dropped because
    /// its number is unused; [`Self::unknown`] counts these.
    pub fn on_segment(&mut self, now_nanos: i64, id: ConnectionId) -> Option<Ports> {
        let place = self.places.get_mut(usize::from(id.number())).and_then(Option::as_mut);
        let place = place.filter(|place| place.holds_at(now_nanos));
        self.unknown += u64::from(place.is_none());
        let place = place?;
        place.establish();
        Some(place.ports)
    }

    /// The number of the connection with these ports, if it has one.
    pub fn id(&self, now_nanos: i64, ports: Ports) -> Option<ConnectionId> {
        ConnectionId::all()
            .find(|&id| self.place(id).is_some_and(|place| place.ports == ports && place.holds_at(now_nanos)))
    }

    /// Number of received segments with an unused number.
    pub const fn unknown(&self) -> u64 {
        self.unknown
    }

    fn place(&self, id: ConnectionId) -> Option<ConnectionSlot> {
        self.places.get(usize::from(id.number())).copied().flatten()
    }

    fn first_free(&self) -> Option<ConnectionId> {
        ConnectionId::all().find(|&id| self.place(id).is_none())
    }

    fn take(&mut self, id: ConnectionId, ports: Ports, state: State) {
        if let Some(place) = self.places.get_mut(usize::from(id.number())) {
            *place = Some(ConnectionSlot { ports, state });
        }
    }

    fn expire(&mut self, now_nanos: i64) {
        for place in &mut self.places {
            *place = place.filter(|place| place.holds_at(now_nanos));
        }
    }
}

impl ConnectionSlot {
    fn holds_at(&self, now_nanos: i64) -> bool {
        match self.state {
            State::Asked | State::Established => true,
            State::HalfOpen { free_nanos } | State::Closed { free_nanos } => now_nanos < free_nanos,
        }
    }

    const fn is_closed(&self) -> bool {
        matches!(self.state, State::Closed { .. })
    }

    /// A segment with its number has arrived.
    const fn establish(&mut self) {
        if !self.is_closed() {
            self.state = State::Established;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn ports(source: u16) -> Ports {
        Ports { source, destination: 443 }
    }

    fn id(number: u8) -> ConnectionId {
        ConnectionId::new(number).unwrap()
    }

    #[test]
    fn both_hosts_know_a_connection_by_its_number() {
        let (mut client, mut server) = (Connections::default(), Connections::default());
        let number = client.open(0, ports(1000)).unwrap();
        assert_eq!(server.accept(1, number, ports(1000).reversed()), Setup::Use(number));
        assert_eq!(client.on_segment(2, number), Some(ports(1000)));
        assert_eq!(server.on_segment(2, number), Some(Ports { source: 443, destination: 1000 }));
        assert_eq!(client.open(3, ports(1001)), Some(id(1)));
        assert_eq!((client.id(3, ports(1001)), client.id(3, ports(1002))), (Some(id(1)), None));
    }

    #[test]
    fn another_syn_of_a_connection_uses_its_number_again() {
        let (mut client, mut server) = (Connections::default(), Connections::default());
        assert_eq!((client.open(0, ports(1)), client.open(1, ports(1))), (Some(id(0)), Some(id(0))));
        assert_eq!(
            (server.accept(0, id(0), ports(1)), server.accept(1, id(0), ports(1))),
            (Setup::Use(id(0)), Setup::Use(id(0)))
        );
    }

    #[test]
    fn a_number_in_use_is_refused_and_free_for_who_asked_at_once() {
        let mut server = Connections::default();
        assert_eq!(server.accept(0, id(5), ports(1)), Setup::Use(id(5)));
        assert_eq!(server.accept(1, id(5), ports(2)), Setup::Refused);
        assert_eq!(server.accept(1, id(6), ports(1)), Setup::Refused, "a connection has one number");
        assert_eq!(server.on_segment(2, id(5)), Some(ports(1)));
        let mut client = Connections::default();
        client.open(0, ports(2));
        client.on_refused(ports(2));
        assert_eq!((client.id(1, ports(2)), client.open(1, ports(3))), (None, Some(id(0))));
    }

    #[test]
    fn a_number_is_free_two_segment_lifetimes_after_the_close() {
        let mut table = Connections::new(10);
        let first = table.open(0, ports(1)).unwrap();
        table.close(100, first);
        table.close(110, first);
        assert_eq!(
            table.on_segment(119, first),
            Some(ports(1)),
            "what is on its way still finds its connection"
        );
        assert_eq!(
            (table.accept(119, first, ports(2)), table.on_segment(120, first)),
            (Setup::Refused, None)
        );
        assert_eq!((table.unknown(), table.accept(120, first, ports(2))), (1, Setup::Use(first)));
    }

    #[test]
    fn the_thirty_third_connection_is_plain() {
        let mut table = Connections::default();
        assert!((0..32).all(|port| table.open(0, ports(port)).is_some()));
        assert_eq!(table.open(0, ports(32)), None);
        table.close(0, id(7));
        assert_eq!(
            (table.open(2 * MSL_NANOS - 1, ports(32)), table.open(2 * MSL_NANOS, ports(32))),
            (None, Some(id(7)))
        );
    }

    #[test]
    fn segments_for_no_connection_are_counted() {
        let mut table = Connections::default();
        assert_eq!((table.on_segment(0, id(0)), table.on_segment(0, id(31))), (None, None));
        assert_eq!(table.unknown(), 2);
        table.close(0, id(3));
        assert_eq!(table.id(0, ports(0)), None);
    }

    #[test]
    fn half_open_connections_do_not_hold_numbers_for_ever() {
        let mut server = Connections::default();
        for (id, port) in ConnectionId::all().zip(1000..) {
            assert_eq!(server.accept(0, id, ports(port)), Setup::Use(id));
        }
        assert!(server.on_segment(1, id(7)).is_some(), "this one is no longer half open");
        assert_eq!(server.accept(HALF_OPEN_NANOS - 1, id(3), ports(1)), Setup::Refused);
        assert_eq!(server.accept(HALF_OPEN_NANOS, id(3), ports(1)), Setup::Use(id(3)));
        assert_eq!(server.accept(HALF_OPEN_NANOS, id(7), ports(2)), Setup::Refused);
        // Another SYN of an established connection does not open it again.
        assert_eq!(server.accept(HALF_OPEN_NANOS, id(7), ports(1007)), Setup::Use(id(7)));
        assert_eq!(server.accept(3 * HALF_OPEN_NANOS, id(7), ports(2)), Setup::Refused);
    }

    #[test]
    fn a_refusal_concerns_who_asked_and_was_not_answered_yet() {
        let (mut client, mut server) = (Connections::default(), Connections::default());
        client.open(0, ports(1));
        client.on_accepted(ports(1));
        client.open(0, ports(2));
        client.on_segment(1, id(1));
        server.accept(0, id(4), ports(4));
        for port in [1, 2] {
            client.on_refused(ports(port));
            assert!(client.id(2, ports(port)).is_some());
        }
        server.on_refused(ports(4));
        assert_eq!(server.id(2, ports(4)), Some(id(4)));
    }
}
