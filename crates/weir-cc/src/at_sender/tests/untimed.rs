//! Packets whose arrival times are not reported.

use super::*;

#[test]
fn a_packet_at_an_unknown_time_has_the_delay_of_the_one_before() {
    #[derive(Debug, Default)]
    struct SeenArrivals(Vec<(u64, i64, bool)>);
    impl Observer for SeenArrivals {
        fn on_arrival(&mut self, packet: &Arrival) {
            self.0.push((packet.id, packet.at.nanos() / 1_000_000, true));
        }
        fn on_untimed(&mut self, packet: &Arrival) {
            self.0.push((packet.id, packet.at.nanos() / 1_000_000, false));
        }
        fn next_report(&self) -> Option<ArrivalTime> {
            None
        }
        fn report(&mut self, _: ArrivalTime) -> Option<NativeReport> {
            None
        }
        fn on_route_changed(&mut self) {}
    }
    let mut sender = AtSender::new(SeenArrivals::default(), Clerk::new(), Clerk::SIGNALS);
    (0..20).for_each(|id| sender.on_sent(&sent(id, 10 * id as i64), &SendState::default()));
    let untimed = |id: u64| PacketResult {
        sent: sent(id, 10 * id as i64),
        fate: PacketFate::Arrived { at: None, ecn: Ecn::NotEct },
    };
    let late = |id: u64| PacketResult {
        sent: sent(id, 10 * id as i64),
        fate: PacketFate::Recovered { at: None, ecn: Ecn::NotEct },
    };
    // Before any time is reported there is no delay; then it is 40 ms, then 55.
    deliver(&mut sender, &[untimed(0), came(1, 10, 50), untimed(2), came(3, 30, 85), untimed(4)], None);
    assert_eq!(sender.observer.0, [(1, 50, true), (2, 60, false), (3, 85, true), (4, 95, false)]);
    // A late packet arrives no earlier than the times already reported.
    sender.observer.0.clear();
    deliver(&mut sender, &[late(0), untimed(5)], None);
    assert_eq!(sender.observer.0, [(0, 85, false), (5, 105, false)]);
    // On another path no delay is known.
    sender.on_event(ms(0), PathEvent::RouteChanged);
    sender.observer.0.clear();
    deliver(&mut sender, &[untimed(6)], None);
    assert_eq!(sender.observer.0, []);
}
