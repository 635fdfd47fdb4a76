//! Messages and actions between the hosts of coupled flows and their coupler.

use std::collections::VecDeque;

use crate::common::{Echo, constant, coupled_by, flow, gcc_2016, spec, tcp};
use crate::engine::{Tally, run};
use weir_cc::coupled::ctrl::{Config, CtrlTcp, Newcomer};
use weir_cc::coupled::{Aggregate, Coupler, CouplerAction, CouplingMessage, FlowId, Refusal, WindowEvent};
use weir_cc::window::{NewReno, Rules, Window};
use weir_cc::{DataRate, SendTime, TimeDelta};
use weir_net::{QueueConfig, Time};
use weir_sim::{Simulation, SpecError};
use weir_world::tcp::TcpConfig;
use weir_world::{CoupledSpec, FlowSpec, Monitor, RunSpec};

/// Coupler that sets all flows with rates to this rate, from the first message on.
#[derive(Debug)]
struct Dictator(DataRate, Vec<(FlowId, CouplerAction)>);

impl Coupler for Dictator {
    fn on_message(
        &mut self,
        now: SendTime,
        member: FlowId,
        message: &CouplingMessage,
    ) -> Result<(), Refusal> {
        if matches!(message, CouplingMessage::Join(_) | CouplingMessage::Update(_)) {
            let epoch = (now.nanos() / 1000 + 1) as u32;
            self.1.push((member, CouplerAction::Rate { rate: self.0, epoch }));
        }
        Ok(())
    }

    fn poll_action(&mut self) -> Option<(FlowId, CouplerAction)> {
        self.1.pop()
    }

    fn aggregate(&self, _member: FlowId) -> Option<Aggregate> {
        Some(Aggregate { group: 0, sum: self.0.bps_f64() })
    }
}

/// Coupler that answers a reported timeout, first with an action for the other of two flows, then with two for the flow
/// itself. Other messages are ignored.
#[derive(Debug, Default)]
struct Meddler(VecDeque<(FlowId, CouplerAction)>);

impl Coupler for Meddler {
    fn on_message(
        &mut self,
        _now: SendTime,
        member: FlowId,
        message: &CouplingMessage,
    ) -> Result<(), Refusal> {
        if matches!(message, CouplingMessage::Window(news) if news.event == WindowEvent::TimedOut) {
            let two = CouplerAction::Window(Window { cwnd: 2.0, ssthresh: 2.0 });
            self.0.extend([(FlowId(1 - member.0), two), (member, CouplerAction::Reduce), (member, two)]);
        }
        Ok(())
    }

    fn poll_action(&mut self) -> Option<(FlowId, CouplerAction)> {
        self.0.pop_front()
    }

    fn aggregate(&self, _member: FlowId) -> Option<Aggregate> {
        None
    }
}

/// Coupler that takes messages and has no actions.
#[derive(Debug)]
struct Mute;

impl Coupler for Mute {
    fn on_message(
        &mut self,
        _now: SendTime,
        _member: FlowId,
        _word: &CouplingMessage,
    ) -> Result<(), Refusal> {
        Ok(())
    }

    fn poll_action(&mut self) -> Option<(FlowId, CouplerAction)> {
        None
    }

    fn aggregate(&self, _member: FlowId) -> Option<Aggregate> {
        None
    }
}

/// Record of messages and actions, with their times.
#[derive(Debug, Default)]
struct CouplingLog {
    /// Time, flow, and its message or the action for it.
    entries: Vec<(Time, usize, Result<CouplingMessage, CouplerAction>)>,
    /// Times of data packets, and their flows.
    sent: Vec<(Time, usize)>,
}

impl CouplingLog {
    fn messages(&self) -> Vec<(Time, usize, CouplingMessage)> {
        self.entries.iter().filter_map(|&(at, flow, entries)| Some((at, flow, entries.ok()?))).collect()
    }

    fn actions(&self) -> Vec<(Time, usize, CouplerAction)> {
        self.entries.iter().filter_map(|&(at, flow, entries)| Some((at, flow, entries.err()?))).collect()
    }
}

impl Monitor for CouplingLog {
    fn coupling_message(
        &mut self,
        now: Time,
        flow: usize,
        message: &CouplingMessage,
        _refused: Option<Refusal>,
    ) {
        self.entries.push((now, flow, Ok(*message)));
    }
    fn coupler_action(
        &mut self,
        now: Time,
        flow: usize,
        action: &CouplerAction,
        _aggregate: Option<Aggregate>,
    ) {
        self.entries.push((now, flow, Err(*action)));
    }
    fn sent(&mut self, now: Time, flow: usize, packet: &weir_world::PacketMeta) {
        if !packet.control {
            self.sent.push((now, flow));
        }
    }
}

fn log(spec: RunSpec) -> CouplingLog {
    Simulation::new(spec, CouplingLog::default()).expect("a valid spec").run()
}

/// A queue so short that there are retransmission timeouts as well.
fn short_queue(flows: &dyn Fn() -> Vec<FlowSpec>) -> RunSpec {
    let mut spec = spec(800, 60, flows());
    spec.links[0].config.queue = QueueConfig { limit_packets: Some(3), ..QueueConfig::default() };
    spec
}

#[test]
fn a_coupler_that_allocates_the_present_rates_changes_nothing() {
    let calls = || {
        let screen =
            flow("screen", gcc_2016()).from(Time::from_millis(5000)).until(Time::from_millis(20_000));
        let screen = screen.pausing(Time::from_millis(7000), Time::from_millis(8000));
        vec![flow("video", gcc_2016()).in_call(0), screen.in_call(0)]
    };
    let transfers = || vec![flow("a", tcp()), flow("b", tcp()).from(Time::from_millis(3000))];
    for make in [&calls as &dyn Fn() -> Vec<FlowSpec>, &transfers] {
        assert_eq!(run(coupled_by(Echo::default(), 0, spec(2000, 30, make()))), run(spec(2000, 30, make())));
        assert_eq!(run(coupled_by(Echo::default(), 0, short_queue(make))), run(short_queue(make)));
    }
    let timed_out = log(coupled_by(Echo::default(), 0, short_queue(&transfers)));
    let reduced = |(_, _, message): &&(Time, usize, CouplingMessage)| matches!(message, CouplingMessage::Window(n) if n.event == WindowEvent::Reduced);
    assert!(timed_out.messages().iter().filter(reduced).count() > 3, "timers have run out");
}

#[test]
fn without_delay_an_order_comes_before_the_flow_sends_more() {
    let rate = DataRate::from_kbps(700);
    let log = log(coupled_by(Dictator(rate, Vec::new()), 0, spec(2000, 10, vec![flow("video", gcc_2016())])));
    let (joined, ordered, sent) = (log.messages()[0], log.actions()[0], log.sent[0]);
    assert!(matches!(joined.2, CouplingMessage::Join(_)));
    assert_eq!((joined.0, ordered.0, sent.0), (Time::ZERO, Time::ZERO, Time::ZERO));
    // Frames of 700 / 30 kbit are 2917 bytes: three packets, from the first frame on. At the start rate there would be
    // two.
    let second = log.sent.iter().filter(|(at, _)| *at < Time::from_millis(1000)).count();
    assert!((89..=93).contains(&second), "{second}");
}

#[test]
fn all_actions_of_a_local_coupler_apply_before_the_next_message() {
    let transfers = || vec![flow("a", tcp()), flow("b", tcp()).from(Time::from_millis(3000))];
    let entries = log(coupled_by(Meddler::default(), 0, short_queue(&transfers))).entries;
    let event = |entries: &Result<CouplingMessage, CouplerAction>, wanted| matches!(entries, Ok(CouplingMessage::Window(n)) if n.event == wanted);
    let mut timeouts = 0;
    for (place, &(at, flow, _)) in
        entries.iter().enumerate().filter(|(_, s)| event(&s.2, WindowEvent::TimedOut))
    {
        let [reduce, window, reduced, other] = &entries[place + 1..place + 5] else { unreachable!() };
        for (at_once, of) in [(reduce, flow), (window, flow), (reduced, flow), (other, 1 - flow)] {
            assert_eq!((at_once.0, at_once.1), (at, of), "after the timeout at {at}");
        }
        assert!(
            matches!(reduce.2, Err(CouplerAction::Reduce))
                && matches!(window.2, Err(CouplerAction::Window(_)))
        );
        assert!(event(&reduced.2, WindowEvent::Reduced) && matches!(other.2, Err(CouplerAction::Window(_))));
        timeouts += 1;
    }
    assert!(timeouts > 3, "timers have run out");
    assert_eq!(
        entries.iter().filter(|(.., entries)| entries.is_err()).count(),
        3 * timeouts,
        "no order is lost"
    );
}

#[test]
fn a_remote_coupler_gets_each_message_after_the_configured_delay() {
    let transfers = || vec![flow("a", tcp()), flow("b", tcp()).from(Time::from_millis(3000))];
    let spec = || spec(800, 20, transfers());
    let far = log(coupled_by(Mute, 50, spec())).messages();
    let mut near = log(coupled_by(Mute, 0, spec())).messages();
    for message in &mut near {
        message.0 += TimeDelta::from_millis(50);
    }
    near.retain(|message| message.0 <= Time::from_millis(20_000));
    assert!(near.len() > 500, "{}", near.len());
    assert_eq!(far, near);
}

#[test]
fn messages_and_actions_take_the_configured_delay() {
    let rate = DataRate::from_kbps(700);
    for delay in [1, 50, 500] {
        let log = log(coupled_by(
            Dictator(rate, Vec::new()),
            delay,
            spec(2000, 10, vec![flow("video", gcc_2016())]),
        ));
        let way = Time::from_millis(delay as u64);
        assert_eq!((log.messages()[0].0, log.actions()[0].0), (way, way + TimeDelta::from_millis(delay)));
        assert_eq!(log.messages().len(), log.messages().iter().filter(|(_, flow, _)| *flow == 0).count());
    }
}

#[test]
fn pause_and_end_send_messages_and_a_join_after_a_pause_has_the_start_rate() {
    let paused = flow("video", gcc_2016())
        .pausing(Time::from_millis(10_000), Time::from_millis(12_000))
        .until(Time::from_millis(15_000));
    let log = log(coupled_by(Echo::default(), 0, spec(2000, 20, vec![paused])));
    let at = |wanted: fn(&CouplingMessage) -> bool| {
        let found = log.messages().into_iter().filter(|(.., message)| wanted(message));
        found.map(|(at, ..)| at.nanos() / 1_000_000).collect::<Vec<_>>()
    };
    assert_eq!(at(|message| matches!(message, CouplingMessage::Join(_))), [0, 12_000]);
    assert_eq!(at(|message| matches!(message, CouplingMessage::Pause)), [10_000]);
    assert_eq!(at(|message| matches!(message, CouplingMessage::Leave)), [15_000]);
    let joins: Vec<_> = log
        .messages()
        .iter()
        .filter_map(|(.., w)| if let CouplingMessage::Join(j) = w { Some(*j) } else { None })
        .collect();
    assert_eq!((joins[0].start, joins[0].present), (DataRate::from_kbps(300), DataRate::from_kbps(300)));
    assert_eq!(joins[1].start, DataRate::from_kbps(300));
    assert!(joins[1].present > DataRate::from_kbps(1000), "{}", joins[1].present);
}

#[test]
fn a_transfer_joins_when_its_connection_stands_and_leaves_when_it_is_complete() {
    let weir_world::Traffic::Tcp { name, algorithm, config, .. } = tcp() else { unreachable!() };
    let size = Some(weir_cc::DataSize::from_bytes(100_000));
    let short = weir_world::Traffic::Tcp { name, algorithm, config, size };
    let messages = log(coupled_by(Echo::default(), 0, spec(2000, 20, vec![flow("short", short)]))).messages();
    let Some((at, _, CouplingMessage::Join(join))) = messages.first() else {
        panic!("{:?}", messages.first())
    };
    // A round trip of 50 ms, and the serialisation of two small packets.
    assert!((Time::from_millis(50)..Time::from_millis(52)).contains(at), "{at}");
    assert_eq!(join.window.unwrap().window.cwnd, 10.0);
    assert!(matches!(messages.last(), Some((.., CouplingMessage::Leave))));
}

#[test]
fn priorities_change_when_they_are_to() {
    let later = vec![(Time::from_millis(2000), 0.5), (Time::from_millis(3000), 0.25)];
    let mut spec =
        coupled_by(Echo::default(), 0, spec(2000, 5, vec![flow("video", gcc_2016()), flow("bulk", tcp())]));
    for flow in &mut spec.flows {
        flow.coupled.as_mut().unwrap().later_priorities.clone_from(&later);
    }
    let log = log(spec);
    for flow in [0, 1] {
        let parameters = log.messages().into_iter().filter_map(|(at, of, message)| match message {
            CouplingMessage::FlowParameters(parameters) if of == flow => Some((at, parameters.priority)),
            _ => None,
        });
        assert_eq!(parameters.collect::<Vec<_>>(), later);
    }
}

#[test]
fn an_impossible_coupling_is_named() {
    let mut other = flow("other", constant(100));
    other.reverse.clear();
    let uncoupled = flow("nobody", gcc_2016()).coupled(CoupledSpec::new(1));
    for (flow, name) in [(other.coupled(CoupledSpec::new(0)), "other"), (uncoupled, "nobody")] {
        let spec = coupled_by(Echo::default(), 0, spec(1000, 1, vec![])).with(flow);
        let error = Simulation::new(spec, Tally::default()).unwrap_err();
        assert_eq!(error, SpecError::Coupling { flow: name.to_owned() });
        assert!(error.to_string().contains(name));
    }
}

fn ctrl_tcp(newcomer: Newcomer) -> CtrlTcp {
    CtrlTcp::new(Config { newcomer, ..Config::default() }).expect("valid")
}

#[test]
fn a_lone_tcp_under_ctrl_tcp_goes_as_if_it_were_not_coupled() {
    let alone = || vec![flow("a", tcp()).from(Time::from_millis(300))];
    for spec in [spec(2000, 30, alone()), spec(20_000, 20, alone()), short_queue(&alone)] {
        let (links, end) = (spec.links.clone(), spec.end);
        let uncoupled = run(spec);
        assert!(uncoupled.has_lost(), "nothing was lost");
        for newcomer in [Newcomer::Clocked, Newcomer::Ramped, Newcomer::AddsWindow] {
            let spec = RunSpec::over(links.clone(), end).with_all(alone());
            assert_eq!(run(coupled_by(ctrl_tcp(newcomer), 0, spec)), uncoupled, "{newcomer:?}");
        }
    }
}

#[test]
fn every_recovery_that_is_left_was_entered() {
    let linux = || {
        let algorithm = Box::new(NewReno::with_rules(Rules::linux_6()));
        weir_world::Traffic::Tcp {
            name: "reno".to_owned(),
            algorithm,
            config: TcpConfig::linux_6(),
            size: None,
        }
    };
    for (kbps, packets, count) in [(1000, 12, 3), (1000, 3, 3), (5000, 20, 6)] {
        let flows = (0..count).map(|n| flow(&format!("f{n}"), linux())).collect();
        let mut spec = coupled_by(ctrl_tcp(Newcomer::Clocked), 0, spec(kbps, 60, flows));
        spec.links[0].config.queue = QueueConfig { limit_packets: Some(packets), ..QueueConfig::default() };
        let messages = log(spec).messages();
        for of in 0..count {
            let event = |wanted| {
                let of_flow = messages.iter().filter(|(_, flow, _)| *flow == of);
                of_flow
                    .filter(
                        |(.., message)| matches!(message, CouplingMessage::Window(n) if n.event == wanted),
                    )
                    .count()
            };
            let counts = (event(WindowEvent::RecoveryEntered), event(WindowEvent::RecoveryLeft));
            assert!(counts.0 >= counts.1 && counts.0 > 0, "{of}: {counts:?}");
        }
    }
}

/// Times at which the flow that joins another one's 10 Mbit/s after 20 s has sent.
fn newcomer_sends(newcomer: Newcomer) -> Vec<Time> {
    let flows = vec![flow("first", tcp()), flow("newcomer", tcp()).from(Time::from_millis(20_000))];
    let mut spec = coupled_by(ctrl_tcp(newcomer), 0, spec(10_000, 24, flows));
    for link in &mut spec.links {
        link.config.delay = TimeDelta::from_millis(50);
    }
    spec.links[0].config.queue = QueueConfig { limit_packets: Some(83), ..QueueConfig::default() };
    let sent = log(spec).sent.into_iter().filter(|(_, flow)| *flow == 1);
    sent.map(|(at, _)| at).collect()
}

/// Maximum number of packets that leave within the serialisation time of one at the bottleneck, in the first round
/// trips.
fn back_to_back(sent: &[Time]) -> usize {
    let early = sent.iter().take_while(|at| **at < Time::from_millis(20_800));
    let early: Vec<Time> = early.copied().collect();
    let serialised = TimeDelta::from_micros(1200);
    let within = |from: &Time| early.iter().filter(|at| *from <= **at && **at < *from + serialised).count();
    early.iter().map(within).max().unwrap_or(0)
}

#[test]
fn the_acknowledgement_clock_lets_a_newcomers_share_out_without_a_burst() {
    let (clocked, at_once) = (newcomer_sends(Newcomer::Clocked), newcomer_sends(Newcomer::AddsWindow));
    let (with, without) = (back_to_back(&clocked), back_to_back(&at_once));
    assert!(with <= 3, "{with} with the clock, {without} without");
    assert!(without >= 20, "{without}: the whole share");
    // Within 1.5 round trips of the newcomer's handshake most of a share is in flight, with or without a burst.
    let soon = clocked.iter().filter(|at| **at < Time::from_millis(20_450)).count();
    assert!(soon >= 20, "{soon}");
}

#[test]
fn time_does_not_run_backwards_where_a_couplers_timer_is_due_at_once() {
    // Round-trip times fall as the queue empties, and with them the timeouts of the flows.
    for seed in 1..6 {
        let flows =
            (0..6).map(|n| flow(&format!("f{n}"), tcp()).from(Time::from_millis(n * 97 * seed % 1000)));
        let mut spec = coupled_by(ctrl_tcp(Newcomer::Clocked), 0, spec(10_000, 4, flows.collect()));
        spec.seed = seed;
        assert!(run(spec).has_lost());
    }
}
