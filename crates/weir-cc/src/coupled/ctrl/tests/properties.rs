//! Properties that hold for any sequence of messages.

use proptest::prelude::*;

use super::*;
use crate::coupled::ctrl::{CoordinatorSelection, Tenants};
use crate::testing::cases;
use crate::testing::couplers::messages::{message, window_event};
use crate::window::{Ack, Congestion, Cubic, NewReno, Rules, WindowAlgorithm};

const FLOWS: u32 = 4;

#[derive(Clone, Debug)]
enum Event {
    CouplingMessage(u32, Box<CouplingMessage>),
    Wait(i64),
}

fn events() -> impl Strategy<Value = Vec<Event>> {
    let event = prop_oneof![
        6 => (0..FLOWS, message()).prop_map(|(flow, message)| Event::CouplingMessage(flow, Box::new(message))),
        2 => (0i64..300).prop_map(Event::Wait),
    ];
    prop::collection::vec(event, 1..120)
}

/// Couplers of each form.
fn couplers() -> Vec<CtrlTcp> {
    let configs = [
        Config::default(),
        ramped(),
        Config::as_printed(),
        Config { by_rates: true, ..Config::default() },
        Config { lead: CoordinatorSelection::All, rto_counts_as_loss: false, ..Config::default() },
    ];
    let mut couplers: Vec<_> = configs.into_iter().map(|config| CtrlTcp::new(config).unwrap()).collect();
    let tenants = Tenants::none().with(2.0, [FlowId(0), FlowId(2)]).unwrap();
    couplers.push(CtrlTcp::for_tenants(Config::default(), tenants).unwrap());
    couplers
}

/// Checks that the shares are finite and add up to the aggregate.
fn check_shares(coupler: &CtrlTcp) {
    let shares: Vec<f64> = (0..FLOWS).filter_map(|flow| coupler.share(FlowId(flow))).collect();
    let aggregates = (0..FLOWS).filter_map(|flow| coupler.aggregate(FlowId(flow)));
    for aggregate in aggregates {
        let total: f64 = shares.iter().sum();
        assert!((total / aggregate.sum - 1.0).abs() < 1e-9, "{shares:?} of {aggregate:?}");
    }
    assert!(shares.iter().all(|share| *share >= 0.0 && share.is_finite()), "{shares:?}");
    assert_eq!(coupler.coordinator().is_some(), !shares.is_empty());
}

fn sum(coupler: &CtrlTcp) -> Option<f64> {
    (0..FLOWS).find_map(|flow| coupler.aggregate(FlowId(flow))).map(|aggregate| aggregate.sum)
}

fn count(coupler: &CtrlTcp) -> usize {
    (0..FLOWS).filter(|&flow| coupler.share(FlowId(flow)).is_some()).count()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(256)))]
    #[test]
    fn shares_add_up(events in events()) {
        for mut coupler in couplers() {
            let mut now = SendTime::ZERO;
            for event in &events {
                match event {
                    Event::CouplingMessage(flow, message) => {
                        let _ = coupler.on_message(now, FlowId(*flow), message);
                    }
                    Event::Wait(ms) => {
                        now += TimeDelta::from_millis(*ms);
                        if coupler.next_timeout().is_some_and(|at| at <= now) {
                            coupler.on_timeout(now);
                            prop_assert!(coupler.next_timeout().is_none_or(|at| at > now));
                        }
                    }
                }
                while coupler.poll_action().is_some() {}
                check_shares(&coupler);
            }
        }
    }

    /// For several flows, messages that neither end the episode nor change the members leave the sum as it is. An event
    /// that ends the episode reduces the sum once.
    #[test]
    fn the_sum_stands_still_in_an_episode(messages in prop::collection::vec((0..FLOWS, window_event().prop_map(CouplingMessage::Window)), 1..80)) {
        for mut coupler in couplers() {
            for flow in 0..FLOWS {
                let _ = coupler.on_message(SendTime::ZERO, FlowId(flow), &join(1.0, window(20.0, 10.0)));
            }
            let mut now = SendTime::ZERO;
            for (flow, message) in &messages {
                now += TimeDelta::from_millis(7);
                let (before, present, running) = (sum(&coupler), count(&coupler), coupler.in_loss_event(now));
                let threshold = coupler.threshold();
                let _ = coupler.on_message(now, FlowId(*flow), message);
                while coupler.poll_action().is_some() {}
                let several = present > 1 && count(&coupler) == present;
                if several && running && coupler.in_loss_event(now) {
                    prop_assert_eq!(before, sum(&coupler), "{:?}", message);
                }
                let CouplingMessage::Window(cwnd_update) = message else { continue };
                if several && running && cwnd_update.event == WindowEvent::RecoveryLeft && !coupler.in_loss_event(now) {
                    let (before, threshold) = (before.unwrap(), threshold.unwrap());
                    prop_assert_eq!(sum(&coupler), Some(before.min(threshold)));
                }
            }
        }
    }
}

/// Events of a connection.
#[derive(Clone, Copy, Debug)]
enum ConnectionEvent {
    Acks { acked: u8, limited: bool },
    Loss { partial: u8 },
    Timeout { repaired: u8 },
    Mark,
    Restart,
}

fn course() -> impl Strategy<Value = Vec<ConnectionEvent>> {
    let event = prop_oneof![
        8 => (1u8..5, prop::bool::weighted(0.9)).prop_map(|(acked, limited)| ConnectionEvent::Acks { acked, limited }),
        2 => (0u8..4).prop_map(|partial| ConnectionEvent::Loss { partial }),
        1 => (0u8..8).prop_map(|repaired| ConnectionEvent::Timeout { repaired }),
        1 => Just(ConnectionEvent::Mark),
        1 => Just(ConnectionEvent::Restart),
    ];
    prop::collection::vec(event, 1..200)
}

/// The window of a TCP sender, which obeys its coupler's actions.
struct Connection {
    algorithm: Box<dyn WindowAlgorithm>,
    window: Window,
    now: SendTime,
    coupler: Option<CtrlTcp>,
    recovering: bool,
}

impl Connection {
    fn new(algorithm: Box<dyn WindowAlgorithm>, coupler: Option<CtrlTcp>, priority: f64) -> Self {
        let window = window(10.0, f64::INFINITY);
        let mut connection = Self { algorithm, window, now: SendTime::ZERO, coupler, recovering: false };
        connection.send_message(&join(priority, window));
        connection
    }

    /// Passes `message` to the coupler, if there is one, and applies its actions; a lone flow reacts to a timeout
    /// by itself.
    fn send_message(&mut self, message: &CouplingMessage) {
        let Some(mut coupler) = self.coupler.take() else {
            if let CouplingMessage::Window(CwndUpdate { event: WindowEvent::TimedOut, .. }) = message {
                self.reduce();
            }
            return;
        };
        coupler.on_message(self.now, FlowId(7), message).unwrap();
        let mut reduced = None;
        while let Some((_, action)) = coupler.poll_action() {
            match action {
                CouplerAction::Window(window) if !self.recovering => self.window = window,
                CouplerAction::Reduce => {
                    let before = self.window;
                    self.reduce();
                    reduced = Some(Self::update_between(WindowEvent::Reduced, before, self.window, 0.0));
                }
                _ => {}
            }
        }
        self.coupler = Some(coupler);
        if let Some(update) = reduced {
            self.send_message(&update);
        }
    }

    /// The reaction of the flow to a timeout.
    fn reduce(&mut self) {
        let flight = self.window.cwnd;
        self.algorithm.on_congestion(&mut self.window, self.now, Congestion::Timeout, flight);
        self.window.cwnd = 1.0;
    }

    /// A window event that changed the window from `before` to `after`.
    fn update_between(event: WindowEvent, before: Window, after: Window, acked: f64) -> CouplingMessage {
        let flight = after.cwnd.floor();
        let window_limited = true;
        CouplingMessage::Window(CwndUpdate {
            event,
            before,
            after,
            acked,
            flight,
            window_limited,
            srtt: Some(RTT),
            base_rtt: None,
        })
    }

    /// The flow gets an acknowledgement of `acked` segments, and sends a message on it.
    fn acks(&mut self, acked: u8, limited: bool) {
        let before = self.window;
        let acked = f64::from(acked);
        let ack = Ack { now: self.now, acked, srtt: RTT, min_rtt: RTT, window_limited: limited };
        self.algorithm.on_ack(&mut self.window, &ack);
        self.send_message(&Self::update_between(WindowEvent::Acknowledged, before, self.window, acked));
    }

    /// Advances by 23 ms and applies an event.
    fn go_on(&mut self, course: ConnectionEvent) {
        self.now += TimeDelta::from_millis(23);
        let before = self.window;
        match course {
            ConnectionEvent::Acks { acked, limited } => self.acks(acked, limited),
            ConnectionEvent::Loss { partial } => self.recover(partial),
            ConnectionEvent::Timeout { repaired } => {
                self.send_message(&Self::update_between(WindowEvent::TimedOut, before, before, 0.0));
                for _ in 0..repaired {
                    self.acks(1, true);
                }
            }
            ConnectionEvent::Mark => {
                self.algorithm.on_congestion(&mut self.window, self.now, Congestion::Ecn, before.cwnd);
                self.send_message(&Self::update_between(WindowEvent::Marked, before, self.window, 1.0));
            }
            ConnectionEvent::Restart => {
                self.send_message(&Self::update_between(WindowEvent::Idle, before, before, 0.0));
                self.window.cwnd = self.window.cwnd.min(10.0);
                self.algorithm.on_idle(&mut self.window, RTT);
            }
        }
    }

    /// Fast recovery of NewReno: duplicates inflate the window, and partial acknowledgements deflate it.
    fn recover(&mut self, partial: u8) {
        let before = self.window;
        self.algorithm.on_congestion(&mut self.window, self.now, Congestion::Loss, before.cwnd.floor());
        let target = Window { cwnd: self.window.ssthresh, ..self.window };
        self.recovering = true;
        self.send_message(&Self::update_between(WindowEvent::RecoveryEntered, before, target, 0.0));
        self.window.cwnd += 3.0;
        for _ in 0..partial {
            let before = self.window;
            self.window.cwnd += 1.0;
            self.send_message(&Self::update_between(WindowEvent::Repairing, before, self.window, 2.0));
        }
        let before = self.window;
        self.window.cwnd = self.window.ssthresh.min(before.cwnd / 3.0 + 1.0);
        self.recovering = false;
        self.send_message(&Self::update_between(WindowEvent::RecoveryLeft, before, self.window, 1.0));
    }
}

/// Constructors of the window algorithms under test.
fn algorithms() -> Vec<fn() -> Box<dyn WindowAlgorithm>> {
    vec![
        || Box::new(NewReno::new()),
        || Box::new(NewReno::with_rules(Rules::ns3_26())),
        || Box::new(NewReno::with_rules(Rules::linux())),
        || Box::new(Cubic::new()),
        || Box::new(Cubic::linux_3_16(None)),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn a_lone_connection_goes_as_if_it_were_not_coupled(course in course(), priority in 0.01..100.0f64) {
        for algorithm in algorithms() {
            for coupler in couplers() {
                let mut coupled = Connection::new(algorithm(), Some(coupler), priority);
                let mut plain = Connection::new(algorithm(), None, priority);
                for &event in &course {
                    coupled.go_on(event);
                    plain.go_on(event);
                    let bits = |window: Window| (window.cwnd.to_bits(), window.ssthresh.to_bits());
                    prop_assert_eq!(bits(coupled.window), bits(plain.window), "{:?}", event);
                    if matches!(event, ConnectionEvent::Restart) {
                        continue; // The next acknowledgement reports the restart window.
                    }
                    let sum = coupled.coupler.as_ref().and_then(sum_of_seven).unwrap();
                    prop_assert_eq!(sum, coupled.window.cwnd * MSS);
                }
            }
        }
    }
}

fn sum_of_seven(coupler: &CtrlTcp) -> Option<f64> {
    coupler.aggregate(FlowId(7)).map(|aggregate| aggregate.sum)
}
