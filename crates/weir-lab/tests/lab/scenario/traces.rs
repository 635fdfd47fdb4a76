//! The trace files that ship, and how traces are found.

use std::path::{Path, PathBuf};

use weir_lab::traces::{TraceStore, TraceStoreError};

fn data() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data")
}

#[test]
fn the_recorded_traces_are_found_by_their_names_in_lower_case() {
    let store = TraceStore::at(Some(data()));
    let expected = [
        "att-lte-driving-2016.down",
        "att-lte-driving-2016.up",
        "synthetic-lte",
        "verizon-lte-short.down",
        "verizon-lte-short.up",
    ];
    assert_eq!(store.names(), expected);
    // Opportunities · 12 000 bits over the last time: 19101 in 120.002 s, 45604 in 120.002 s, 58655 in 140 s,
    // 69367 in 140 s.
    for (name, kbps) in [
        ("att-lte-driving-2016.up", 1910),
        ("att-lte-driving-2016.down", 4560),
        ("verizon-lte-short.down", 5027),
        ("verizon-lte-short.up", 5945),
    ] {
        assert_eq!(store.load(name).unwrap().mean_rate().bps() / 1000, kbps, "{name}");
    }
}

#[test]
fn a_trace_is_read_once() {
    let store = TraceStore::at(Some(data()));
    let first = store.load("verizon-lte-short.up").unwrap();
    assert!(std::sync::Arc::ptr_eq(&first, &store.load("verizon-lte-short.up").unwrap()));
}

#[test]
fn a_file_that_is_no_trace_is_named_with_its_line() {
    let directory = std::env::temp_dir().join(format!("weir-traces-{}", std::process::id()));
    std::fs::create_dir_all(directory.join("traces")).unwrap();
    std::fs::write(directory.join("traces/Broken.up"), "1\n2\nx\n").unwrap();
    let error = TraceStore::at(Some(directory.clone())).load("broken.up").unwrap_err();
    std::fs::remove_dir_all(&directory).unwrap();
    assert!(matches!(error, TraceStoreError::Malformed { .. }));
    assert!(error.to_string().contains("Broken.up, line 3, column 1: "), "{error}");
}

#[test]
fn an_unknown_trace_brings_up_the_nearest() {
    let error = TraceStore::at(Some(data())).load("att-lte-driving-2016.upp").unwrap_err();
    let TraceStoreError::NotFound { advice, .. } = error else { panic!("{error}") };
    assert!(advice.starts_with("did you mean `att-lte-driving-2016.up`?"), "{advice}");
}

#[test]
fn a_data_directory_that_is_given_is_the_one() {
    let nowhere = Path::new("/nonexistent");
    assert_eq!(TraceStore::find(Some(nowhere)).names(), ["synthetic-lte"]);
}
