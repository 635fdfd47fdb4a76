//! The statements of docs/security.md: for some controllers, and for all where `WEIR_LONG` is set.

use weir_scenario::registry::Registry;
use weir_study::attack::{ATTACKS, Aim, Attack, AttackOutcome, AttackRequest, Role};
use weir_units::TimeDelta;

/// A controller of each kind of feedback: single packets in both forms, a report of its own, a ceiling.
const SHORT: [&str; 4] = ["gcc", "scream-v2", "nada", "gcc-2016"];

/// Attacks of `role` that begin when the rate of a call has settled.
fn outcomes(role: Role) -> Vec<AttackOutcome> {
    outcomes_from(role, TimeDelta::from_secs(20))
}

/// Outcomes of all attacks of `role` on the controllers under test, begun at `from`.
fn outcomes_from(role: Role, from: TimeDelta) -> Vec<AttackOutcome> {
    let registry = Registry::standard();
    let attacks = ATTACKS.into_iter().filter(|attack| attack.role == role).collect();
    let long = std::env::var_os("WEIR_LONG").is_some();
    let controllers =
        registry.controller_names().filter(|controller| long || SHORT.contains(controller)).collect();
    let request = AttackRequest { registry: &registry, controllers, attacks, from, jobs: 2 };
    let outcomes = request.run(&|| ()).unwrap();
    assert_eq!(outcomes.len(), request.len());
    outcomes
}

#[test]
fn an_off_path_attacker_changes_no_controller() {
    let at_the_start = outcomes_from(Role::Blind, TimeDelta::from_millis(200));
    for outcome in outcomes(Role::Blind).into_iter().chain(at_the_start) {
        assert_eq!(outcome.aim, Aim::Met, "{outcome:?}");
    }
}

#[test]
fn an_on_path_reader_raises_no_controller_with_per_packet_reports_above_its_rate() {
    // docs/engineering/security.md has the causes.
    let slow = [
        ("nada", "all arrived"),
        ("nada", "bit errors, in copies"),
        ("nada", "own report: no congestion, each 100 ms"),
        ("nada-at-sender", "arrivals that creep ahead"),
        ("nada-2016", "all arrived"),
        ("nada-2016", "own report: no congestion, each 100 ms"),
        ("nada-2016", "own report: congestion, each 100 ms"),
        ("scream-v2", "one arrival 25 ms early"),
        ("dccc-at-sender", "bit errors, in copies"),
        ("nada-dccc", "slander of a coupled nada each 100 ms"),
        ("nada-dccc", "slander of a coupled nada each 1 s"),
        ("nada-dccc", "slander of a coupled nada each 5 s"),
    ];
    for outcome in outcomes(Role::Reader).into_iter().chain(outcomes(Role::OnPath)) {
        assert!(!outcome.per_packet || outcome.peak_ratio <= 1.25, "{outcome:?}");
        assert!(outcome.recovery_s.is_some(), "{outcome:?}");
        let known = slow.contains(&(&*outcome.controller, outcome.attack));
        assert_eq!(outcome.aim == Aim::Missed, known, "{outcome:?}");
    }
}

/// Reports in the controller's own form that describe another path than the receiver's, for as long as they do.
#[test]
fn lasting_reports_in_a_controllers_own_form_beside_the_receivers_raise_the_alarm() {
    let registry = Registry::standard();
    let lasting = |attack: &Attack| attack.name.starts_with("own report") && attack.name.ends_with("100 ms");
    let attacks: Vec<Attack> = ATTACKS.into_iter().filter(lasting).collect();
    let controllers = vec!["gcc-2016", "gcc-dccc", "nada", "nada-2016", "nada-dccc", "dccc", "tfrc"];
    let request =
        AttackRequest { registry: &registry, controllers, attacks, from: TimeDelta::from_secs(20), jobs: 2 };
    for outcome in request.run(&|| ()).unwrap() {
        let alarm = outcome.alarms.iter().any(|alarm| alarm.ends_with("reports contradict each other"));
        assert!(alarm, "{outcome:?}");
    }
}
