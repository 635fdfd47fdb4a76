//! Links and paths.

use super::{GOOD, check, errors_of};

#[test]
fn a_link_has_one_capacity() {
    check(
        "rate = \"1Mbps\"\nqueue",
        "queue",
        "4:8: `links.forward` has no capacity",
        "add one of `rate`, `steps`, `trace` and `cell`",
    );
    check(
        "rate = \"1Mbps\"\nqueue",
        "rate = \"1Mbps\"\ntrace = \"x\"\nqueue",
        "9:1: `links.forward` has both `rate` and `trace`",
        "a link has one of `rate`, `steps`, `trace` and `cell`",
    );
    check(
        "rate = \"1Mbps\"\nqueue",
        "rate = \"0bps\"\nqueue",
        "8:8: `links.forward.rate` is 0bps",
        "write a rate above 0bps",
    );
    check(
        "loss = 0.01",
        "trace_offset = \"random\"",
        "11:1: `links.forward.trace_offset` has no meaning without a trace",
        "leave it out, or add `trace`",
    );
}

#[test]
fn steps_begin_at_zero_and_increase() {
    check("at = \"0s\"", "at = \"1s\"", "15:17: the first step is at 1s", "let the first step be at 0s");
    check(
        "at = \"5s\"",
        "at = \"0s\"",
        "15:48: the step at 0ns comes after the one at 0ns",
        "let each step be later than the one before",
    );
    let outage = GOOD.replace(
        "steps = [{ at = \"0s\", rate = \"1Mbps\" }, { at = \"5s\", rate = \"2Mbps\" }]",
        "steps = [{ at = \"0s\", rate = \"0bps\" }]",
    );
    assert_eq!(errors_of(&outage)[0].to_string(), "call.toml:15:9: `links.backward.steps` never has a rate");
}

#[test]
fn flows_need_a_way_there_and_back() {
    check(
        "to = \"left\"\nsteps",
        "to = \"nowhere\"\nsteps",
        "16:8: there is no way from `right` to `left`",
        "add a link from `right` towards `left`",
    );
    check(
        "to = \"left\"\nsteps",
        "to = \"right\"\nsteps",
        "14:6: the link `backward` leads to where it begins, `right`",
        "let `from` and `to` be different nodes",
    );
    check(
        "to = \"right\"\ncontroller",
        "to = \"rihgt\"\ncontroller",
        "19:6: no link touches the node `rihgt`",
        "did you mean `right`?",
    );
    check(
        "to = \"right\"\ncontroller",
        "to = \"right\"\nroute = [\"foward\"]\ncontroller",
        "20:10: there is no link `foward`",
        "did you mean `forward`?",
    );
    check(
        "to = \"right\"\ncontroller",
        "to = \"right\"\nroute = [\"backward\"]\ncontroller",
        "20:10: the link `backward` begins at `right`, not at `left`",
        "name the links in the order in which packets pass them",
    );
    check(
        "from = \"left\"\nto = \"right\"\ncontroller",
        "to = \"right\"\ncontroller",
        "16:8: `flows.video.from` is missing",
        "add `from`; the links have the nodes `left` and `right`",
    );
}

#[test]
fn a_scenario_has_one_network_and_some_flow() {
    let empty = errors_of("title = \"x\"\nduration = \"1s\"\n");
    let messages: Vec<String> = empty.iter().map(ToString::to_string).collect();
    assert_eq!(
        messages,
        ["call.toml:1:1: the scenario has no network", "call.toml:1:1: the scenario has no flow"]
    );
    let both = GOOD.replace(
        "[links.forward]",
        "[dumbbell]\naccess = { rate = \"1Gbps\" }\nbottleneck = { rate = \"1Mbps\" }\n[links.forward]",
    );
    assert_eq!(errors_of(&both)[0].to_string(), "call.toml:4:2: a scenario has either `dumbbell` or `links`");
}
