//! Properties of every coupler: a function for each, which panics where the property does not hold.
//! [`coupler_tests!`](crate::coupler_tests) makes a test of each.
#![allow(clippy::missing_panics_doc, reason = "that is what each of them does")]

use alloc::collections::BTreeMap;
use alloc::vec;
use alloc::vec::Vec;
use core::fmt::Debug;

use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use weir_units::{DataRate, TimeDelta};

use super::Composition;
use super::hosts::{Hosts, SEGMENT, check_action, parameters};
use super::messages::{IMPOSSIBLE, message};
use crate::coupled::{
    CouplerAction, CouplingMessage, CwndUpdate, FlowId, Join, Refusal, Update, WindowEvent, Windowed,
};
use crate::decision::{ChangeReason, Decision};
use crate::testing::cases;
use crate::window::Window;

/// Number of arbitrary cases of a group whose flows behave, and, at full length, of one whose flows may send anything.
const CASES: [u32; 2] = [32, 256];
/// Number of members in an arbitrary case.
const MEMBERS: u32 = 5;

/// Checks `property` for `cases` cases of `strategy`; a panic names the composition.
fn holds<S: Strategy<Value: Debug>>(of: &Composition, cases: u32, strategy: &S, property: impl Fn(S::Value)) {
    let config = ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(cases) };
    let mut runner = TestRunner::new(config);
    let run = runner.run(strategy, |case| {
        property(case);
        Ok(())
    });
    if let Err(error) = run {
        panic!("{}: {error}\n{runner}", of.name);
    }
}

/// A flow that is alone is as if it were not coupled.
pub fn a_flow_that_joins_alone_keeps_what_it_has(of: &Composition) {
    let mut hosts = Hosts::of(of);
    hosts.joins(0, 0.3).expect("the join is possible");
    let joined = hosts.flows[&0];
    assert!((hosts.allocation(0) - hosts.sum(0).expect("it is a member")).abs() < 1.0, "{}", of.name);
    hosts.settle();
    let settled = hosts.flows[&0];
    assert_eq!((settled.rate, settled.window), (joined.rate, joined.window), "{}", of.name);
    let fresh = Hosts::of(of).join_message(0, 0.3);
    let CouplingMessage::Join(Join { present, window, .. }) = fresh else { return };
    assert_eq!(settled.rate, present);
    assert!(window.is_none_or(|windowed| windowed.window == settled.window), "{}", of.name);
}

/// A join of a member is refused, and changes no aggregate and no other flow.
pub fn a_second_join_changes_nothing(of: &Composition) {
    let mut hosts = Hosts::sharing(of, &[1.0, 2.0]);
    let (before, other) = (hosts.sums(), hosts.flows[&1]);
    let again = hosts.join_message(0, 7.0);
    let (result, actions) = hosts.send(0, &again);
    assert!(matches!(result, Err(Refusal::JoinedAlready(_))), "{}: {result:?}", of.name);
    assert!(!actions.is_empty() && actions.iter().all(|(flow, _)| *flow == 0), "{}: {actions:?}", of.name);
    assert_eq!((hosts.sums(), hosts.flows[&1]), (before, other), "{}", of.name);
}

/// Once each flow has its share, the shares are together the aggregate at most, and no more than a rounding per flow
/// above it.
pub fn allocations_are_the_aggregate_at_most(of: &Composition) {
    let priorities = prop::collection::vec(0.5..2.0_f64, 2..5);
    let moves = prop::collection::vec((0..4_usize, 0.7..1.3_f64), 0..8);
    holds(of, CASES[0], &(priorities, moves), |(priorities, moves)| {
        let mut hosts = Hosts::sharing(of, &priorities);
        for &(flow, factor) in &moves {
            hosts.now += TimeDelta::from_millis(250);
            hosts.moves((flow % priorities.len()) as u32, factor);
            hosts.settle();
        }
        let total: f64 = hosts.flows.keys().map(|&flow| hosts.allocation(flow)).sum();
        let sum = hosts.sum(0).expect("it is a member");
        let rounding = hosts.two_segments() * priorities.len() as f64;
        assert!(total <= sum + rounding, "{}: {total} of {sum}", of.name);
    });
}

/// A flow that left, paused or withdrew gets no action, whatever the others do.
pub fn a_flow_that_has_left_gets_no_action(of: &Composition) {
    let goes = vec![CouplingMessage::Leave, CouplingMessage::Pause, CouplingMessage::Withdraw];
    let moves = prop::collection::vec((1..3_u32, 0.5..1.5_f64), 1..20);
    holds(of, CASES[0], &(prop::sample::select(goes), moves), |(goes, moves)| {
        let mut hosts = Hosts::sharing(of, &[1.0, 1.0, 1.0]);
        // An action that waits for it when it goes is not for a later flow of its number.
        let unpolled = hosts.moved(1, 1.3);
        hosts.coupler.on_message(hosts.now, FlowId(1), &unpolled).expect("it is possible");
        let (result, actions) = hosts.send(0, &goes);
        let mut all = actions;
        assert_eq!(result, Ok(()), "{}", of.name);
        hosts.flows.remove(&0);
        for (flow, factor) in moves {
            hosts.now += TimeDelta::from_millis(70);
            hosts.wake();
            all.extend(hosts.moves(flow, factor));
        }
        assert!(all.iter().all(|(flow, _)| *flow != 0), "{}: {all:?}", of.name);
        assert_eq!(hosts.sum(0), None, "{}", of.name);
    });
}

/// Joins, parameters, windows and rates with an amount that is not above zero, or infinite.
fn hostile(hosts: &Hosts, of: &Composition) -> Vec<(u32, CouplingMessage)> {
    let mut all = Vec::new();
    for none in IMPOSSIBLE {
        all.push((9, hosts.join_message(9, none)));
        all.push((1, CouplingMessage::FlowParameters(parameters(none))));
        if let CouplingMessage::Join(join) = hosts.join_message(9, 1.0) {
            let window = join
                .window
                .map(|windowed| Windowed { window: Window { cwnd: none, ..windowed.window }, ..windowed });
            all.push((9, CouplingMessage::Join(Join { window, ..join })));
        }
        for event in [WindowEvent::Acknowledged, WindowEvent::TimedOut] {
            let CouplingMessage::Window(sound) = hosts.moved(1, 1.0) else { continue };
            let cwnd_update = CwndUpdate { event, ..sound };
            let window = Window { cwnd: none, ..sound.before };
            all.push((1, CouplingMessage::Window(CwndUpdate { before: window, ..cwnd_update })));
            all.push((1, CouplingMessage::Window(CwndUpdate { after: window, ..cwnd_update })));
            if none != 0.0 {
                all.push((1, CouplingMessage::Window(CwndUpdate { acked: none, ..cwnd_update })));
                all.push((1, CouplingMessage::Window(CwndUpdate { flight: none, ..cwnd_update })));
            }
        }
        all.extend(hostile_update(hosts, of, none).map(|update| (0, update)));
    }
    all
}

/// An update of flow 0 whose rate or window is impossible.
fn hostile_update(hosts: &Hosts, of: &Composition, none: f64) -> Option<CouplingMessage> {
    let host = hosts.flows[&0];
    let decision = Decision {
        rate: if of.windows { host.rate } else { DataRate::ZERO },
        base: host.rate,
        why: ChangeReason::Growth,
        rtt: None,
    };
    let window = Window { cwnd: none, ssthresh: f64::INFINITY };
    let windowed = Windowed { window, segment: SEGMENT, base_rtt: None };
    let update = Update { decision, window: of.windows.then_some(windowed), epoch: 0, has_feedback: true };
    (of.windows || !of.floors_rates).then_some(CouplingMessage::Update(update))
}

/// An amount that is no number, infinite, negative or zero is refused, and the aggregates stay.
pub fn hostile_amounts_are_refused_and_change_nothing(of: &Composition) {
    let mut hosts = Hosts::sharing(of, &[1.0, 2.0]);
    let before = hosts.sums();
    for (flow, message) in hostile(&hosts, of) {
        let (result, _) = hosts.send(flow, &message);
        let refused = matches!(result, Err(Refusal::Priority(_) | Refusal::Amount(_)));
        assert!(refused, "{}: {message:?} is {result:?}", of.name);
        assert_eq!(hosts.sums(), before, "{}: {message:?}", of.name);
    }
}

/// A flow waits after an update and after a timeout: it gets an action whether its message is refused or not.
pub fn a_flow_that_waits_is_answered(of: &Composition) {
    let mut hosts = Hosts::sharing(of, &[1.0, 2.0]);
    for (flow, message) in hostile(&hosts, of) {
        let answered = hosts.send(flow, &message).1.into_iter().any(|(of, _)| of == flow);
        let waits = match message {
            CouplingMessage::Window(cwnd_update) => cwnd_update.event == WindowEvent::TimedOut,
            CouplingMessage::Update(_) => true,
            _ => false,
        };
        assert!(answered || !waits, "{}: {message:?}", of.name);
    }
    let CouplingMessage::Window(sound) = hosts.moved(1, 1.0) else { return };
    let timed_out = CouplingMessage::Window(CwndUpdate { event: WindowEvent::TimedOut, ..sound });
    // A flow that never joined retransmits, or goes on without coupling.
    let answer = if of.windows { CouplerAction::Uncoupled } else { CouplerAction::Reduce };
    let (result, actions) = hosts.send(9, &timed_out);
    assert!(matches!(result, Err(Refusal::UnknownFlow(_))), "{}: {result:?}", of.name);
    assert_eq!(actions, [(9, answer)], "{}", of.name);
}

/// A member without messages for long leaves its share to the other, and its next update brings it back. A coupler of
/// windows keeps it.
pub fn a_member_that_stays_silent_leaves_its_share_and_comes_back(of: &Composition) {
    // Both are steered by rates, or both by windows.
    let mut hosts = Hosts::of(of);
    for flow in [0, 2] {
        hosts.joins(flow, 1.0).expect("the join is possible");
    }
    hosts.settle();
    let share = hosts.allocation(2);
    for _ in 0..150 {
        hosts.now += TimeDelta::from_millis(100);
        hosts.wake();
        hosts.moves(0, 1.0);
    }
    let sum = hosts.sum(0).expect("it is a member");
    let has_all = (hosts.allocation(0) - sum).abs() < 1.0;
    assert_eq!(has_all, !of.windows, "{}: {} of {sum}", of.name, hosts.allocation(0));
    hosts.moves(2, 1.0);
    hosts.settle();
    assert!(hosts.sum(2).is_some() && hosts.allocation(2) > 0.1 * share, "{}", of.name);
}

/// A later flow may have the number of one that left, and its actions have higher numbers.
pub fn a_number_is_free_once_its_flow_has_left(of: &Composition) {
    let mut hosts = Hosts::sharing(of, &[1.0, 1.0]);
    let mut newest = 0;
    for _ in 0..3 {
        for factor in [1.2, 0.9] {
            hosts.moves(1, factor);
            let numbers = hosts.moves(0, factor).into_iter().filter(|(flow, _)| *flow == 0);
            for epoch in numbers.map(|(_, action)| action.epoch()).filter(|&epoch| epoch > 0) {
                assert!(epoch > newest, "{}: {epoch} after {newest}", of.name);
                newest = epoch;
            }
        }
        assert_eq!(hosts.send(0, &CouplingMessage::Leave).0, Ok(()), "{}", of.name);
        assert_eq!(hosts.sum(0), None, "{}", of.name);
        hosts.joins(0, 1.0).unwrap_or_else(|refusal| panic!("{}: {refusal}", of.name));
        assert!(hosts.sum(0).is_some(), "{}", of.name);
        newest = newest.max(hosts.epoch(0));
    }
}

/// With any messages and timeouts actions are possible and few, numbers of rates rise, aggregates are finite, and a
/// rate is within the aggregate or the flow's least. No call panics.
pub fn actions_are_possible_few_and_numbered_whatever_comes(of: &Composition) {
    let acts = prop::collection::vec((0_i64..700, 0..MEMBERS, message()), 1..120);
    holds(of, cases(CASES[1]), &acts, |acts| {
        let mut hosts = Hosts::of(of);
        let mut numbers = BTreeMap::new();
        for (ms, flow, message) in acts {
            hosts.now += TimeDelta::from_millis(ms);
            hosts.wake();
            let (_, actions) = hosts.send(flow, &message);
            assert!(actions.len() <= 4 * MEMBERS as usize, "{}: {actions:?}", of.name);
            for (flow, action) in actions {
                check_action(&action);
                let newest = numbers.entry(flow).or_insert(0);
                let epoch = action.epoch();
                assert!(epoch == 0 || epoch > *newest, "{}: {epoch} after {newest}", of.name);
                *newest = epoch.max(*newest);
                if let CouplerAction::Rate { rate, epoch: 1.. } = action
                    && !of.passive
                {
                    let sum = hosts.sum(flow).expect("it is a member");
                    let least = DataRate::from_kbps(300).bps_f64();
                    assert!(rate.bps_f64() <= sum.max(least) + 1.0, "{}: {rate:?} of {sum}", of.name);
                }
            }
            let sums = (0..MEMBERS).filter_map(|flow| hosts.sum(flow));
            sums.into_iter().for_each(|sum| assert!(sum.is_finite() && sum >= 0.0, "{}: {sum}", of.name));
        }
    });
}
