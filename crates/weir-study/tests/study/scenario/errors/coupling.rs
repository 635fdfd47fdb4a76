//! Couplings of flows.

use super::check;

/// The good scenario with this coupling behind its last flow, whose last line is 34.
#[track_caller]
fn coupling(table: &str, message: &str, advice: &str) {
    check("law = \"cubic\"", &format!("law = \"cubic\"\n[coupling.calls]\n{table}"), message, advice);
}

#[test]
fn couplings_name_flows_that_are_there_each_once() {
    coupling(
        "flows = [\"video\", \"bluk\"]\nalgorithm = \"none\"",
        "36:19: there is no flow `bluk`",
        "did you mean `bulk`?",
    );
    coupling(
        "flows = [\"video\", \"video\"]\nalgorithm = \"none\"",
        "36:19: the flow `video` is named twice",
        "name it once",
    );
    coupling(
        "flows = []\nalgorithm = \"none\"",
        "36:9: `coupling.calls.flows` is empty",
        "name the flows that are coupled",
    );
    check(
        "law = \"cubic\"",
        "law = \"cubic\"\n[coupling.b]\n\
         flows = [\"bulk\"]\nalgorithm = \"none\"\n[coupling.c]\nflows = [\"bulk\"]\nalgorithm = \"none\"",
        "39:10: the flow `bulk` is in two couplings, `b` and `c`",
        "name it in one of them",
    );
}

#[test]
fn unresponsive_flows_and_those_of_many_connections_are_not_coupled() {
    coupling(
        "flows = [\"video\", \"cross\"]\nalgorithm = \"none\"",
        "36:19: the flow `cross` cannot be coupled: its rate is what it is, whatever happens",
        "couple media flows and TCP flows of one transfer",
    );
    check(
        "law = \"cubic\"",
        "downloads = { size = { min = \"1MB\", max = \"2MB\" } }\n[coupling.calls]\nflows = [\"bulk\"]\nalgorithm = \"none\"",
        "36:10: the flow `bulk` cannot be coupled: each of its downloads has a connection of its own",
        "couple media flows and TCP flows of one transfer",
    );
    check(
        "law = \"cubic\"",
        "profile = \"chromium-2015\"\n[coupling.calls]\nflows = [\"bulk\"]\nalgorithm = \"none\"",
        "36:10: the flow `bulk` cannot be coupled: the stack `chromium-2015` has an algorithm of its own",
        "couple media flows and TCP flows of one transfer",
    );
}

#[test]
fn an_algorithm_and_its_options_are_checked() {
    coupling(
        "flows = [\"bulk\"]\nalgorithm = \"noen\"",
        "37:13: there is no coupling algorithm `noen`",
        "did you mean `none`?",
    );
    coupling(
        "flows = [\"bulk\"]\nalgorithm = \"none\"\noptions = { timer = 2 }",
        "38:13: `coupling.calls.options.timer` is not a key that is known here",
        "there are none here",
    );
    coupling("flows = [\"bulk\"]", "35:11: `coupling.calls.algorithm` is missing", "add `algorithm`: text");
}

#[test]
fn the_delay_of_messages_and_the_kinds_of_groups_are_checked() {
    let begin = "flows = [\"bulk\"]\nalgorithm = \"none\"";
    coupling(
        &format!("{begin}\ndelay = \"501ms\""),
        "38:9: `coupling.calls.delay` is 501ms",
        "write a time from 0s to 500ms",
    );
    coupling(
        &format!("{begin}\ndetection = \"multiplex\""),
        "38:13: `coupling.calls.detection` cannot be \"multiplex\"",
        "did you mean `multiplexed`?",
    );
    coupling(
        &format!("{begin}\nat = \"receiver\""),
        "38:1: `coupling.calls.at` has no meaning unless groups are measured",
        "leave it out, or write `detection = \"measured\"`",
    );
}

#[test]
fn priorities_are_positive_and_come_in_order() {
    let in_coupling = "[coupling.calls]\nflows = [\"bulk\"]\nalgorithm = \"none\"";
    let law = "law = \"cubic\"";
    check(
        law,
        &format!("priority = 0\n{in_coupling}"),
        "34:12: `flows.bulk.priority`: 0 is out of range",
        "write a number from 0.01 to 100",
    );
    check(
        law,
        &format!("priorities = [{{ at = \"5s\", priority = -1 }}]\n{in_coupling}"),
        "34:39: `flows.bulk.priorities.0.priority`: -1 is out of range",
        "write a number from 0.01 to 100",
    );
    check(
        law,
        &format!(
            "priorities = [{{ at = \"5s\", priority = 2 }}, {{ at = \"5s\", priority = 3 }}]\n{in_coupling}"
        ),
        "34:51: the priority at 5s comes after the one at 5s",
        "let each priority be later than the one before",
    );
    check(
        law,
        "priorities = [{ at = \"5s\", priority = 2 }]",
        "34:1: `flows.bulk.priorities` has no meaning: the flow is in no coupling",
        "leave it out, or name the flow in a `[coupling.NAME]`",
    );
}

#[test]
fn each_flow_of_a_coupling_with_tenants_is_one_of_them_and_they_weigh_something() {
    let begin = "[coupling.calls]\nflows = [\"bulk\"]\nalgorithm = \"none\"";
    let law = "law = \"cubic\"";
    check(
        law,
        &format!("tenant = \"vm\"\n{begin}"),
        "34:10: there is no tenant `vm`",
        "add `tenants = { vm = 1.0 }` to its coupling",
    );
    check(
        law,
        &format!("tenant = \"vm3\"\n{begin}\ntenants = {{ vm1 = 1.0, vm2 = 2.0 }}"),
        "34:10: there is no tenant `vm3`",
        "did you mean `vm1`?",
    );
    check(
        law,
        &format!("{law}\n{begin}\ntenants = {{ vm1 = 1.0 }}"),
        "30:8: the flow `bulk` is no tenant's",
        "add `tenant`: one of `vm1`",
    );
    check(
        law,
        &format!("tenant = \"vm1\"\n{begin}\ntenants = {{ vm1 = 0.0 }}"),
        "38:19: `coupling.calls.tenants.vm1` is 0",
        "write a weight above 0",
    );
}
