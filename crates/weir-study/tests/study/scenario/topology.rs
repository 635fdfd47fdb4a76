//! Networks with several paths, chains of bottlenecks, and their short forms.

use weir_import::traces::TraceStore;
use weir_scenario::compile::{Run, RunOptions};
use weir_scenario::scenario::Scenario;
use weir_units::TimeDelta;

fn build(scenario: &Scenario, seed: u64) -> Run {
    scenario.build(&RunOptions { seed, ..RunOptions::default() }, &TraceStore::at(None)).unwrap()
}

/// Names of the links on each flow's forward and return path.
fn ways(run: &Run) -> Vec<(String, Vec<&str>, Vec<&str>)> {
    let names = |way: &[usize]| way.iter().map(|&link| run.spec.links[link].name.as_str()).collect();
    run.spec
        .flows
        .iter()
        .map(|flow| (flow.name.clone(), names(&flow.forward), names(&flow.reverse)))
        .collect()
}

fn two_paths() -> Scenario {
    Scenario::open("network/two-paths", &["flows.call.count=200".to_owned()]).unwrap()
}

#[test]
fn flows_spread_over_equal_ways_and_those_of_one_five_tuple_stay_together() {
    let run = build(&two_paths(), 1);
    let ways = ways(&run);
    let upper = ways.iter().filter(|(_, there, _)| there[1] == "upper").count();
    // Binomial, n = 202, p = 1/2: standard deviation 7.
    assert!((80..=122).contains(&upper), "{upper} of {}", ways.len());
    for (name, there, back) in &ways {
        assert!(
            there == &["enter", "upper", "upper-out"] || there == &["enter", "lower", "lower-out"],
            "{name}"
        );
        assert_eq!((back.len(), back[2]), (3, "enter-back"), "{name}");
    }
    let ways_of =
        |flow: &str| ways.iter().find(|(name, ..)| name == flow).map(|(_, there, back)| (there, back));
    assert_eq!(ways_of("camera"), ways_of("screen"));
}

#[test]
fn the_salt_decides_and_without_one_the_seed() {
    let there = |scenario: &Scenario, seed| -> Vec<bool> {
        ways(&build(scenario, seed)).iter().map(|(_, there, _)| there[1] == "upper").collect()
    };
    let by_seed = two_paths();
    assert_eq!(there(&by_seed, 1), there(&by_seed, 1));
    assert_ne!(there(&by_seed, 1), there(&by_seed, 2));
    let overrides = ["flows.call.count=200", "multipath.salt=7"].map(str::to_owned);
    let salted = Scenario::open("network/two-paths", &overrides).unwrap();
    assert_eq!(there(&salted, 1), there(&salted, 2));
}

#[test]
fn without_multipath_the_first_way_in_the_file_is_taken() {
    let text = std::fs::read_to_string("../../scenarios/network/two-paths.toml").unwrap();
    let scenario = Scenario::parse("plain", &text.replace("multipath = {}", ""), &[]).unwrap();
    assert!(ways(&build(&scenario, 1)).iter().all(|(_, there, _)| there[1] == "upper"));
}

#[test]
fn in_a_parking_lot_each_flow_crosses_its_bottlenecks() {
    let run = build(&Scenario::open("network/parking-lot", &[]).unwrap(), 1);
    let crossed: Vec<Vec<&str>> = ways(&run)
        .into_iter()
        .map(|(_, there, _)| there.into_iter().filter(|name| name.contains("bottleneck")).collect())
        .collect();
    assert_eq!(
        crossed,
        [vec!["first-bottleneck", "second-bottleneck"], vec!["first-bottleneck"], vec!["second-bottleneck"]]
    );
    // RFC 8867 §6.3: 100, 40 and 40 ms.
    let delays: Vec<TimeDelta> = run.plan.flows.iter().map(|flow| flow.propagation).collect();
    assert_eq!(delays, [100, 40, 40].map(TimeDelta::from_millis));
    // The long flow is limited by the second bottleneck.
    let limits: Vec<&str> =
        run.plan.flows.iter().map(|flow| run.spec.links[flow.bottleneck.unwrap()].name.as_str()).collect();
    assert_eq!(limits, ["second-bottleneck", "first-bottleneck", "second-bottleneck"]);
}

#[test]
fn in_topology_1_of_dccc_2017_three_flows_and_a_constant_one_share_a_bottleneck() {
    let run = build(&Scenario::open("dccc-2017/three-flows-delay", &[]).unwrap(), 1);
    let flows = ["constant", "video-1", "video-2", "video-3"];
    for (flow, (name, there, _)) in flows.iter().zip(ways(&run)) {
        assert_eq!((name.as_str(), there[1]), (*flow, "bottleneck"));
        assert!(there[0].starts_with("access") && there[2].starts_with("exit"), "{there:?}");
    }
    assert!(run.plan.flows.iter().all(|flow| flow.propagation == TimeDelta::from_millis(25)));
    let bottlenecks = run.spec.links.iter().filter(|link| link.bottleneck);
    assert_eq!(bottlenecks.map(|link| link.name.as_str()).collect::<Vec<_>>(), ["bottleneck"]);
}

#[test]
fn in_topology_2_of_dccc_2017_the_first_flow_meets_another_on_each_link() {
    let text = std::fs::read_to_string("../../experiments/templates/dccc-parking-lot.toml").unwrap();
    let run = build(&Scenario::parse("parking-lot", &text, &[]).unwrap(), 1);
    let crossed: Vec<(String, Vec<&str>)> = ways(&run)
        .into_iter()
        .map(|(name, there, _)| {
            (name, there.into_iter().filter(|&link| ["first", "second"].contains(&link)).collect())
        })
        .collect();
    let expected = [
        ("constant", vec!["first", "second"]),
        ("video-1", vec!["first", "second"]),
        ("video-2", vec!["first"]),
        ("video-3", vec!["second"]),
    ];
    assert_eq!(crossed, expected.map(|(name, links)| (name.to_owned(), links)));
    let delays: Vec<TimeDelta> = run.plan.flows.iter().map(|flow| flow.propagation).collect();
    assert_eq!(delays, [50, 50, 25, 25].map(TimeDelta::from_millis));
}

#[test]
fn flows_of_a_dumbbell_may_stand_at_different_distances() {
    let text = r#"title = "RTT fairness"
duration = "1s"
[dumbbell]
access = { rate = "100Mbps" }
bottleneck = { rate = "4Mbps", delay = "10ms" }
[flows.near]
kind = "tcp"
[flows.far]
kind = "tcp"
access_delay = "140ms"
"#;
    let run = build(&Scenario::parse("rtt", text, &[]).unwrap(), 1);
    let delay =
        |way: &[usize]| -> TimeDelta { way.iter().map(|&link| run.spec.links[link].config.delay).sum() };
    let delays: Vec<_> =
        run.spec.flows.iter().map(|flow| (delay(&flow.forward), delay(&flow.reverse))).collect();
    let ms = TimeDelta::from_millis;
    assert_eq!(delays, [(ms(10), ms(10)), (ms(150), ms(150))]);
}

/// Two flows of the call `c`, and one without a call.
fn call_of_two(words: &str) -> String {
    let media = |name: &str, words: &str| {
        format!("[flows.{name}]\nkind = \"media\"\ncontroller = \"gcc\"\n{words}\n")
    };
    let in_call = |name, own| media(name, &format!("call = \"c\"\n{words}\n{own}"));
    [in_call("video", ""), in_call("screen", "count = 2"), media("alone", words)].concat()
}

#[test]
fn the_flows_of_a_call_take_one_of_several_equal_ways() {
    let middles = (1..=24).map(|link| {
        format!("[links.way-{link}]\nfrom = \"l\"\nto = \"r\"\nduplex = true\nrate = \"1Mbps\"\n")
    });
    let flows = call_of_two("from = \"l\"\nto = \"r\"");
    let text = format!(
        "title = \"t\"\nduration = \"1s\"\nmultipath = {{ salt = 1 }}\n{}{flows}",
        middles.collect::<String>()
    );
    let run = build(&Scenario::parse("call.toml", &text, &[]).unwrap(), 1);
    let own: Vec<_> = run.spec.flows.iter().map(|flow| (&flow.forward, &flow.reverse)).collect();
    assert!(own[0] == own[1] && own[0] == own[2], "{own:?}");
    assert_ne!(own[0], own[3]);
}

#[test]
fn in_a_dumbbell_the_flows_of_a_call_share_the_links_of_the_first() {
    let dumbbell = "title = \"t\"\nduration = \"1s\"\n[dumbbell]\naccess = { rate = \"100Mbps\" }\n\
        bottleneck = { rate = \"4Mbps\", delay = \"10ms\" }\n";
    let flows = call_of_two("access_delay = \"7ms\"").replace("count = 2", "count = 2\nfrom = \"left\"");
    let run = build(&Scenario::parse("call.toml", &format!("{dumbbell}{flows}"), &[]).unwrap(), 1);
    let way = |host: &str| {
        let names = |names: [&str; 3]| names.map(|name| name.replace('#', host)).to_vec();
        (names(["access-#", "bottleneck", "exit-#"]), names(["back-access-#", "reverse", "back-exit-#"]))
    };
    let ways: Vec<_> = ways(&run)
        .into_iter()
        .map(|(_, there, back)| {
            let owned = |names: Vec<&str>| names.into_iter().map(str::to_owned).collect::<Vec<_>>();
            (owned(there), owned(back))
        })
        .collect();
    assert_eq!(ways, [way("video"), way("video"), way("video"), way("alone")]);
    let of_call = &run.spec.flows[0];
    for link in [of_call.forward[0], of_call.reverse[2]] {
        assert_eq!(run.spec.links[link].config.delay, TimeDelta::from_millis(7));
    }
}

#[test]
fn keys_without_meaning_are_refused() {
    let message = |from: &str, to: &str| {
        let text = std::fs::read_to_string("../../scenarios/network/two-paths.toml").unwrap();
        assert!(text.contains(from));
        Scenario::parse("wrong", &text.replacen(from, to, 1), &[]).unwrap_err().to_string()
    };
    let error = message("five_tuple = \"meeting\"", "access_delay = \"5ms\"");
    assert!(error.contains("`flows.camera.access_delay` has no meaning outside a dumbbell"), "{error}");
    let error = message("[links.upper-out]", "[links.enter-back]");
    assert!(error.contains("there are two links `enter-back`"), "{error}");
}

/// Three stations by one entry of `links`, and flows to and from each.
fn numbered(links: &str, flows: &str) -> String {
    format!(
        r#"title = "Copies"
duration = "10s"
[links.station]
from = "station-#"
to = "hub"
duplex = true
rate = "1Mbps"
{links}
[links.wire]
from = "hub"
to = "peer"
duplex = true
rate = "9Mbps"
[flows.flow]
kind = "media"
controller = "gcc"
{flows}
"#
    )
}

#[test]
fn the_copies_of_a_flow_begin_and_end_at_copies_of_a_link() {
    let flows = "from = \"station-#\"\nto = \"peer\"\ncount = 2\nfirst = 2\nreverse_route = [\"wire-back\", \"station-#-back\"]";
    let scenario = Scenario::parse("copies.toml", &numbered("count = 3", flows), &[]).unwrap();
    let run = build(&scenario, 1);
    let names: Vec<&str> = run.spec.links.iter().map(|link| link.name.as_str()).collect();
    assert_eq!(names[..4], ["station-1", "station-1-back", "station-2", "station-2-back"]);
    let way = |name: &str, station: &'static str, back: &'static str| {
        (name.to_owned(), vec![station, "wire"], vec!["wire-back", back])
    };
    let expected =
        [way("flow-2", "station-2", "station-2-back"), way("flow-3", "station-3", "station-3-back")];
    assert_eq!(ways(&run), expected);
}

#[test]
fn copies_that_cannot_be_are_named() {
    let error = |links: &str, flows: &str| {
        Scenario::parse("copies.toml", &numbered(links, flows), &[]).unwrap_err().message().to_owned()
    };
    let both = "from = \"station-#\"\nto = \"peer\"";
    assert_eq!(error("count = 2", &format!("{both}\ncount = 3")), "no link touches the node `station-3`");
    assert_eq!(
        error("count = 2", &format!("{both}\nfirst = 2")),
        "`flows.flow.first` has no meaning without copies"
    );
    assert_eq!(
        error("count = 2", &format!("{both}\ncount = 2\nstop_spread = \"1s\"")),
        "`flows.flow.stop_spread` has no meaning without `stop`"
    );
    let twice = "count = 2\n[links.station-2]\nfrom = \"a\"\nto = \"b\"\nrate = \"1Mbps\"";
    assert_eq!(error(twice, &format!("{both}\ncount = 2")), "there are two links `station-2`");
}
