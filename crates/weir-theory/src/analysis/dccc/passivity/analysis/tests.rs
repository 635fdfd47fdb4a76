//! Analysis `dccc-passivity` (dccc-2017 §IV-A, appendix A), with values computed by hand.

use super::super::super::solver::{Link, solve};
use super::*;

/// A system of one flow on 1 Mbit/s: at rest 1 Mbit/s and 106.25 ms of queue.
fn one_flow(alpha: f64) -> System {
    let user = RoutedFlow {
        route: vec![0],
        forward: 0.025,
        back: 0.025,
        threshold: 0.1,
        utility_weight: 20e3,
        price_scale: 0.1,
    };
    let links = vec![Link { capacity: 1e6, constant_traffic: 0.0, buffer: f64::INFINITY }];
    let users = vec![user];
    let found = solve(&links, &users).unwrap();
    System::new(links, users, vec![4.0], alpha, found)
}

/// Checks that `value` is `expected` within 1e-6, relative.
fn close(value: f64, expected: f64) {
    assert!((value - expected).abs() <= 1e-6 * expected.abs(), "{value} is not {expected}");
}

#[test]
fn storage_and_its_change_by_hand() {
    let system = one_flow(0.8);
    let state = State { rates: vec![2e6], queues: vec![0.206_25] };
    let (users, links) = system.storage(&state);
    // 1e6·(1 − ln 2)/(4·0.8), ln 2 = 0.693 147 2; 0.5·0.1²·1e6.
    close(users, 95_891.506_1);
    close(links, 5e3);
    // de/dt = 1, v = 0.1·131.25/256.25 = 0.051 219 5, U' = 0.01: δx·(0.01 − 0.0512195 − 1)/α + δq·(y − c).
    let change = system.excesses(&state)[7];
    close(change, 1e6 * (0.01 - 0.051_219_512_2 - 1.0) / 0.8 + 0.1 * 1e6);
    // V along the motion changes by that.
    let step = 1e-6;
    let after = system.storage(&system.after(&state, step));
    assert!(((after.0 + after.1 - users - links) / step / change - 1.0).abs() < 1e-4);
}

#[test]
fn the_motion_ends_at_rest() {
    let system = one_flow(0.8);
    let mut state = State { rates: vec![2e6], queues: vec![0.0] };
    for _ in 0..20_000 {
        state = system.after(&state, 5e-3);
    }
    close(state.rates[0], 1e6);
    close(state.queues[0], 0.106_25);
}

#[test]
fn networks_come_to_rest_and_what_needs_no_sign_holds_everywhere() {
    let parameters = Parameters { duration: TimeDelta::from_secs(200), ..Parameters::default() };
    let results = Passivity::run(&parameters).unwrap();
    assert_eq!(results.converged, results.networks, "{results:?}");
    for name in ["eq45b", "eq46", "w-user", "eq47b", "eq48", "w-link"] {
        let inequality = results.inequalities.iter().find(|own| own.name == name).unwrap();
        assert_eq!(inequality.violations, 0, "{inequality:?}");
    }
}

/// Eq. (45d) multiplies eq. (46) by `−δx`, whatever its sign. With a rate and a queue above those at rest, a flow's price has
/// grown by less than `α` times the delay.
#[test]
fn even_with_one_flow_the_sum_of_both_functions_rises() {
    let system = one_flow(0.8);
    let state = State { rates: vec![1.05e6], queues: vec![0.3] };
    // U' = 0.019 047 6, v = 0.1·225/350 = 0.064 285 7, de/dt = 0.05: 50e3·(−0.095 238 1)/0.8 + 0.193 75·50e3.
    close(system.excesses(&state)[7], 3_735.119_048);
    let (users, links) = system.storage(&state);
    let mut after = state;
    for _ in 0..100 {
        after = system.after(&after, 1e-3);
    }
    let (users_after, links_after) = system.storage(&after);
    assert!(users_after + links_after > users + links);
}

/// Eq. (45b) is compared with the change of the storage function itself.
#[test]
fn eq45b_does_not_hold_about_a_state_that_is_not_rest() {
    let state = State { rates: vec![2e6], queues: vec![0.0] };
    let system = one_flow(0.8);
    assert!(system.excesses(&state)[0].abs() < 1e-7, "{}", system.excesses(&state)[0]);
    // The inequality does not hold where the price at rest differs from the marginal utility.
    let other = one_flow(0.8).rest.queues[0] - 0.05;
    let moved = System { rest: State { queues: vec![other], ..system.rest.clone() }, ..system };
    assert!(moved.excesses(&state)[0] > 1e-4, "{}", moved.excesses(&state)[0]);
}

#[test]
fn networks_that_take_too_long_are_refused() {
    let random = RandomNetworks { networks: 10_000, ..RandomNetworks::default() };
    let problem = Passivity::run(&Parameters { random, ..Parameters::default() }).unwrap_err();
    assert_eq!(problem.message, "`networks` is out of range");
    assert!(problem.help.unwrap().contains("`duration` over `step`"));
}
