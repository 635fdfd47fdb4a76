//! Times and traffic of flows.

use super::check;

#[test]
fn times_make_sense() {
    check(
        "duration = \"20s\"",
        "duration = \"0s\"\n#",
        "2:12: `duration` is 0ns",
        "write a time longer than 0s",
    );
    check(
        "delay = \"25ms\"",
        "delay = \"-25ms\"",
        "7:9: `links.forward.delay` is -25ms, less than no time",
        "write 0s or longer",
    );
    check(
        "stop = \"10s\"",
        "stop = \"4s\"",
        "29:8: the flow stops at 4s, before it starts at 5s",
        "let `stop` be later than `start`",
    );
    check(
        "from = \"5s\"",
        "from = \"20s\"",
        "3:20: the window begins at 20s, the run ends at 20s",
        "let the window begin before the run ends",
    );
    check(
        "to = \"20s\"",
        "to = \"5s\"",
        "3:31: the window ends at 5s, before it begins at 5s",
        "let `to` be later than `from`",
    );
}

#[test]
fn two_flows_cannot_have_one_name() {
    check(
        "[flows.bulk]\nkind = \"tcp\"",
        "count = 2\n[flows.cross-2]\nkind = \"tcp\"",
        "31:8: there are two flows `cross-2`",
        "a copy takes the flow's name and its number; give one of the two another name",
    );
}

#[test]
fn pauses_come_one_after_the_other_and_not_to_tcp() {
    check(
        "start = \"5s\"",
        "start = \"5s\"\npauses = [{ from = \"8s\", to = \"7s\" }]",
        "29:31: the pause ends at 7s, before it begins at 8s",
        "let `to` be later than `from`",
    );
    check(
        "start = \"5s\"",
        "start = \"5s\"\npauses = [{ from = \"6s\", to = \"8s\" }, { from = \"7s\", to = \"9s\" }]",
        "29:48: the pause from 7s on begins before the one before ends, at 8s",
        "let each pause begin after the one before",
    );
    check(
        "law = \"cubic\"",
        "law = \"cubic\"\npauses = [{ from = \"6s\", to = \"8s\" }]",
        "35:1: `flows.bulk.pauses` has no meaning: TCP does not pause",
        "leave it out, or let the flow `stop` and another one start",
    );
}

#[test]
fn unresponsive_traffic_has_one_rate_or_steps_and_takes_turns_by_two_times() {
    let right = "rate = \"1Mbps\"\nstart = \"5s\"";
    check(right, "start = \"5s\"", "23:8: `flows.cross` has no rate", "add `rate` or `steps`");
    check(
        right,
        "rate = \"1Mbps\"\nsteps = [{ at = \"0s\", rate = \"1Mbps\" }]",
        "28:1: `flows.cross` has both `rate` and `steps`",
        "leave out one of them",
    );
    check(
        right,
        "steps = [{ at = \"1s\", rate = \"1Mbps\" }]",
        "27:17: the first step is at 1s",
        "let the first step be at 0s",
    );
    check(
        right,
        "rate = \"1Mbps\"\non = \"1s\"",
        "23:8: `flows.cross.off` is missing",
        "`on` and `off` take turns: write both, or neither",
    );
    check(
        right,
        "rate = \"1Mbps\"\non = \"1s\"\noff = \"1ms\"",
        "29:7: `flows.cross.off` is 1ms",
        "write at least 10ms",
    );
}

#[test]
fn downloads_have_sizes_and_stand_in_place_of_one_transfer() {
    check(
        "law = \"cubic\"",
        "downloads = { size = { min = \"2MB\", max = \"1MB\" } }",
        "34:22: sizes from 2MB to 1MB are none",
        "let 0B < `min` ≤ `max`",
    );
    check(
        "law = \"cubic\"",
        "size = \"1MB\"\ndownloads = { size = { min = \"1MB\", max = \"1MB\" } }",
        "35:1: a TCP flow has either one `size` or `downloads`",
        "leave out one of them",
    );
    check(
        "law = \"cubic\"",
        "downloads = { size = { min = \"1MB\", max = \"1MB\" }, begin = \"of\" }",
        "34:60: `flows.bulk.downloads.begin` cannot be \"of\"",
        "did you mean `on`?",
    );
}
