//! The keys of links and queues, and the resulting model.

use weir_import::traces::TraceStore;
use weir_net::{
    CoDel, Discipline, DualPi2, FqCoDel, Jitter, LinkChange, LinkConfig, LossModel, Order, Pie, QueueConfig,
    QueueLimits, Red, Scheduler, Service, Time, TokenBucket,
};
use weir_scenario::compile::RunOptions;
use weir_scenario::scenario::Scenario;
use weir_units::{DataRate, DataSize, TimeDelta};

/// A scenario whose link from left to right has these lines besides its ends.
fn text(link: &str) -> String {
    format!(
        r#"title = "Links"
duration = "1s"
[links.there]
from = "left"
to = "right"
{link}
[flows.cross]
kind = "constant"
from = "left"
to = "right"
rate = "1Mbps"
"#
    )
}

/// The configuration of `link`; checks that the scenario can be written and read again.
fn config(link: &str) -> LinkConfig {
    let scenario =
        Scenario::parse("links.toml", &text(link), &[]).unwrap_or_else(|error| panic!("{error:#?}"));
    let again = Scenario::parse("again.toml", &scenario.to_toml().unwrap(), &[]).unwrap();
    let build = |scenario: &Scenario| {
        let store = TraceStore::at(None);
        let run = scenario.build(&RunOptions { seed: 1, ..RunOptions::default() }, &store).unwrap();
        run.spec.links[0].config.clone()
    };
    assert_eq!(build(&scenario), build(&again), "a scenario written out is the same scenario");
    build(&scenario)
}

fn queue(queue: &str) -> QueueConfig {
    config(&format!("rate = \"8Mbps\"\nqueue = {queue}")).queue
}

/// Message and advice of the only error.
fn error(link: &str) -> (String, String) {
    let error = Scenario::parse("links.toml", &text(link), &[]).unwrap_err();
    assert!(error.others().is_empty(), "{error:#?}");
    (error.to_string(), error.advice().unwrap_or_default().to_owned())
}

#[test]
fn a_discipline_named_by_a_string_has_its_usual_limits() {
    let packets = |limit| QueueConfig { limit_packets: Some(limit), ..QueueConfig::default() };
    let queue_named = |word: &str| queue(&format!("{{ discipline = \"{word}\" }}"));
    assert_eq!(queue_named("drop-tail"), QueueConfig::default());
    assert_eq!(queue_named("drop-head").discipline, Discipline::DropHead);
    let codel = Discipline::CoDel(CoDel::default());
    assert_eq!(queue_named("codel"), QueueConfig { discipline: codel, ..packets(1000) });
    let fq_codel = Discipline::FqCoDel(FqCoDel::default());
    assert_eq!(queue_named("fq-codel"), QueueConfig { discipline: fq_codel, ..packets(10_240) });
    assert_eq!(
        queue_named("pie"),
        QueueConfig { discipline: Discipline::Pie(Pie::default()), ..packets(1000) }
    );
    assert_eq!(
        queue_named("red"),
        QueueConfig { discipline: Discipline::Red(Red::default()), ..packets(1000) }
    );
    // 250 ms at 8 Mbit/s are 250 kB.
    let dual = Discipline::DualPi2(DualPi2::default());
    let limit_bytes = Some(DataSize::from_bytes(250_000));
    assert_eq!(
        queue_named("dualpi2"),
        QueueConfig { discipline: dual, limit_bytes, ..QueueConfig::default() }
    );
}

#[test]
fn a_discipline_is_a_table_with_parameters_of_its_own() {
    let ms = TimeDelta::from_millis;
    let of = |table: &str| queue(&format!("{{ time = \"1s\", discipline = {{ {table} }} }}")).discipline;
    let codel = CoDel { target: ms(10), ecn: false, ..CoDel::default() };
    assert_eq!(of(r#"kind = "codel", target = "10ms", ecn = false"#), Discipline::CoDel(codel));
    let quantum = DataSize::from_bytes(300);
    let fq_codel =
        FqCoDel { codel: CoDel { interval: ms(50), ..CoDel::default() }, quantum, queues: Some(1024) };
    let table = r#"kind = "fq-codel", interval = "50ms", quantum = "300B", queues = 1024"#;
    assert_eq!(of(table), Discipline::FqCoDel(fq_codel));
    let pie = Pie { max_burst: ms(0), alpha: 0.25, enhanced: false, ..Pie::default() };
    let table = r#"kind = "pie", max_burst = "0s", alpha = 0.25, enhanced = false"#;
    assert_eq!(of(table), Discipline::Pie(pie));
    let red = Red { min_threshold: 4.0, max_threshold: 20.0, gentle: true, ..Red::default() };
    assert_eq!(of(r#"kind = "red", min = 4, max = 20, gentle = true"#), Discipline::Red(red));
    let scheduler = Scheduler::TimeShifted { shift: ms(50) };
    let dual = DualPi2 { target: ms(10), scheduler, ..DualPi2::default() };
    let table = r#"kind = "dualpi2", target = "10ms", time_shift = "50ms""#;
    assert_eq!(of(table), Discipline::DualPi2(dual));
}

#[test]
fn delay_loss_and_limits_may_change() {
    let change = |changes: &str| format!("rate = \"1Mbps\"\nchanges = [{changes}]");
    let link = config(&change(
        r#"{ at = "5s", delay = "40ms", loss = 0.1 }, { at = "9s", queue = { packets = 7 } }, { at = "10s", queue = {} }"#,
    ));
    let limits = |packets| Some(QueueLimits { packets, ..QueueLimits::default() });
    let at = |ms, change| LinkChange { at: Time::from_millis(ms), ..change };
    let none = LinkChange::default();
    let longer =
        LinkChange { delay: Some(TimeDelta::from_millis(40)), loss: Some(LossModel::Bernoulli(0.1)), ..none };
    let expected = [
        at(5000, longer),
        at(9000, LinkChange { limits: limits(Some(7)), ..none }),
        at(10_000, LinkChange { limits: limits(None), ..none }),
    ];
    assert_eq!(link.changes, expected);
    let wrong = |changes: &str| error(&change(changes));
    let (message, _) = wrong(r#"{ at = "5s", delay = "1ms" }, { at = "5s", delay = "2ms" }"#);
    assert!(message.contains("the change at 5s comes after the one at 5s"), "{message}");
    let (message, advice) = wrong(r#"{ at = "5s" }"#);
    assert!(message.contains("links.there.changes.0` changes nothing"), "{message}");
    assert!(advice.contains("`delay`, `loss` or `queue`"), "{advice}");
    assert!(wrong(r#"{ at = "-5s", loss = 0.1 }"#).0.contains("changes.0.at"));
}

#[test]
fn a_limit_in_bytes_may_come_from_the_rate() {
    let steps = r#"steps = [{ at = "0s", rate = "1Mbps" }, { at = "1s", rate = "4Mbps" }]"#;
    let of = |queue: &str| config(&format!("{steps}\nqueue = {queue}")).queue;
    // 300 ms at 4 Mbit/s.
    assert_eq!(of(r#"{ at_peak_rate = "300ms" }"#).limit_bytes, Some(DataSize::from_bytes(150_000)));
    assert_eq!(of(r#"{ at_rate = "300ms" }"#).limit_at_rate, Some(TimeDelta::from_millis(300)));
}

#[test]
fn loss_jitter_and_order_are_named_by_strings() {
    let of = |line: &str| config(&format!("rate = \"1Mbps\"\n{line}"));
    assert_eq!(of("loss = 0.1").loss, LossModel::Bernoulli(0.1));
    assert_eq!(of("loss = 0").loss, LossModel::None);
    let bursts = of(r#"loss = { kind = "bursts", mean = 0.02, burst = 3 }"#).loss;
    assert_eq!(bursts, LossModel::bursts(0.02, 3.0).unwrap());
    let gilbert = of(r#"loss = { kind = "gilbert-elliott", to_bad = 0.01, to_good = 0.5 }"#).loss;
    let expected =
        LossModel::GilbertElliott { to_bad: 0.01, to_good: 0.5, loss_in_bad: 1.0, loss_in_good: 0.0 };
    assert_eq!(gilbert, expected);
    let jitter = of(r#"jitter = { kind = "trace", delays = ["1ms", "5ms"] }"#).jitter;
    assert_eq!(jitter, Jitter::Trace([1, 5].map(TimeDelta::from_millis).as_slice().into()));
    let orders = ["link", "flow", "none"].map(|word| of(&format!("order = \"{word}\"")).order);
    assert_eq!(orders, [Order::Link, Order::Flow, Order::None]);
}

#[test]
fn a_bucket_takes_its_tokens_from_the_capacity() {
    let bucket = config("rate = \"1Mbps\"\nbucket = { burst = \"20kB\", peak = \"10Mbps\" }").service;
    let rates = vec![(Time::ZERO, DataRate::from_mbps(1))];
    let (burst, peak) = (DataSize::from_bytes(20_000), Some(DataRate::from_mbps(10)));
    assert_eq!(bucket, Service::TokenBucket(TokenBucket { rates, burst, peak }));
}

#[test]
fn the_errors_of_wrong_strings_name_the_right_ones() {
    let of = |line: &str| error(&format!("rate = \"1Mbps\"\n{line}"));
    let (message, advice) = of(r#"queue = { discipline = "coddel" }"#);
    assert_eq!(message, "links.toml:7:24: `links.there.queue.discipline` cannot be \"coddel\"");
    assert_eq!(advice, "did you mean `codel`?");
    let (message, advice) = of(r#"queue = { discipline = { kind = "pie", targt = "10ms" } }"#);
    assert!(message.contains("is not a key that is known here where `kind = \"pie\"`"), "{message}");
    assert_eq!(advice, "did you mean `target`?");
    let (message, advice) = of(r#"queue = { discipline = { kind = "red", min = 15, max = 5 } }"#);
    assert_eq!(message, "links.toml:7:24: the upper threshold of RED is out of range");
    assert_eq!(advice, "let it be above the lower one");
    let (message, _) = of(r#"loss = { kind = "bursts", mean = 0.8, burst = 1 }"#);
    assert_eq!(message, "links.toml:7:8: such bursts cannot make this loss");
    let (message, advice) = of(r#"bucket = { burst = "1kB" }"#);
    assert_eq!(message, "links.toml:7:20: a bucket of 1kB never lets a packet of full size pass");
    assert_eq!(advice, "write a size of at least 1.5kB");
    let (message, _) = of(r#"jitter = { kind = "trace", delays = [] }"#);
    assert_eq!(message, "links.toml:7:37: `links.there.jitter.delays` is empty");
    let (message, _) = error("trace = \"synthetic-lte\"\nbucket = { burst = \"20kB\" }");
    assert!(message.contains("has no meaning with a trace"), "{message}");
}
