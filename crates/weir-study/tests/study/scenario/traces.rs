//! The shipped trace files, and the search for traces.

use std::path::{Path, PathBuf};

use weir_import::traces::{TraceStore, TraceStoreError};

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
        "synthetic-lte-downlink",
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
fn a_data_directory_of_ones_own_adds_to_the_others() {
    let own = tempfile::tempdir().unwrap();
    std::fs::create_dir(own.path().join("traces")).unwrap();
    for file in ["train.up", "Verizon-LTE-short.up"] {
        std::fs::write(own.path().join("traces").join(file), "12\n").unwrap();
    }
    let store = TraceStore::at([own.path().to_owned(), data()]);
    assert_eq!(store.names().len(), 7);
    assert_eq!(store.load("verizon-lte-short.up").unwrap().mean_rate().bps(), 1_000_000, "the own one");
    let places: Vec<_> = store.listed().into_iter().map(|listed| (listed.name, listed.file)).collect();
    assert_eq!(places[2], ("synthetic-lte".to_owned(), None));
    assert_eq!(places[4], ("train.up".to_owned(), Some(own.path().join("traces/train.up"))));
    let error = store.load("trian.up").unwrap_err().to_string();
    let both =
        format!("not found in {}, {}", own.path().join("traces").display(), data().join("traces").display());
    assert!(error.ends_with(&both), "{error}");
}

#[test]
fn a_path_is_that_of_a_file_and_a_name_may_be_one() {
    let place = tempfile::tempdir().unwrap();
    let at = |name: &str| place.path().join(name);
    std::fs::create_dir(at("sub")).unwrap();
    for (file, text) in [("mine.csv", "seconds,bits_per_second\n0,1e6\n1,0\n"), ("sub/mine.up", "12\n")] {
        std::fs::write(at(file), text).unwrap();
    }
    let store = TraceStore::at([data()]);
    let rate = |name: &str| store.load_beside(name, place.path()).map(|trace| trace.mean_rate().bps() / 1000);
    assert_eq!((rate("./mine.csv"), rate("mine.csv"), rate("sub/mine.up")), (Ok(996), Ok(996), Ok(1000)));
    assert_eq!(rate(at("sub/mine.up").to_str().unwrap()), Ok(1000), "an absolute path");
    assert_eq!(rate("verizon-lte-short.up"), Ok(5945), "a name is one of the data directories first");
    let error = rate("./mien.csv").unwrap_err();
    let whole = at("mien.csv").display().to_string();
    assert!(error.to_string().ends_with(&format!("`./mien.csv` was not found as {whole}")), "{error}");
    let TraceStoreError::NotFound { advice, .. } = error else { panic!("{error}") };
    assert!(advice.starts_with("did you mean `mine.csv` there?"), "{advice}");
    assert!(rate("./sub").unwrap_err().to_string().ends_with("is a directory"));
}
