//! Findings in the runs of a suite are computed for each run by itself, so that machines can divide them.

use std::sync::atomic::{AtomicUsize, Ordering};

use weir_import::traces::TraceStore;
use weir_scenario::registry::Registry;
use weir_scenario::scenario::Candidate;
use weir_study::runs::{NoStore, ResultLog, Shard, Shardable};
use weir_study::suite::{self, SuiteRequest, SuiteRun, find};

#[test]
fn the_results_of_shards_add_up_to_those_of_one_machine() {
    let registry = &Registry::standard();
    let suite = find("rfc8867").unwrap();
    let controllers = &["nada", "omniscient"].map(Candidate::named);
    let request = SuiteRequest { suite, registry, controllers, seeds: &[3, 4], cases: &["5.1", "5.6"] };
    let plan = request.plan().unwrap();
    // The omniscient sender at four points, and `nada`; as a controller the omniscient sender is not run again.
    assert_eq!(plan.runs(), 2 * 2 * (4 + 1));

    let traces = TraceStore::at(None);
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name);
    let parts = ["1/2", "2/2"].map(|text| (text.parse::<Shard>().unwrap(), path(&text.replace('/', "-"))));
    for (shard, path) in &parts {
        let made = AtomicUsize::new(0);
        let done = || {
            made.fetch_add(1, Ordering::Relaxed);
        };
        plan.run_shard(*shard, 2, &traces, &ResultLog::open(path, &[]).unwrap(), &done).unwrap();
        assert_eq!((made.into_inner(), plan.runs_of(*shard)), (10, 10));
    }
    let merged = ResultLog::open(&path("merged"), &parts.map(|(_, path)| path)).unwrap();
    let of_parts = plan.run(1, &traces, &merged, &|| {}).unwrap();
    assert_eq!(merged.taken(), plan.runs(), "none is made again");

    let whole = plan.run(2, &traces, &NoStore, &|| {}).unwrap();
    assert_eq!(of_parts.result, whole.result);
    let page = |run: &SuiteRun| suite::page("title", run, &[]);
    assert!(page(&of_parts) == page(&whole), "a plot differs");
}
