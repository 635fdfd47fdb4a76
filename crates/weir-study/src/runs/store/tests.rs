//! Stores of results (`runs::store`).

use super::*;

fn log(directory: &tempfile::TempDir, name: &str) -> ResultLog {
    ResultLog::open(&directory.path().join(name), &[]).unwrap()
}

#[test]
fn a_log_returns_its_records_exactly() {
    let directory = tempfile::tempdir().unwrap();
    let values = [0.1 + 0.2, 1.0 / 3.0, 5e-324, f64::MAX, -0.0];
    log(&directory, "runs").put("a/b: 1\n2", &values.to_vec()).unwrap();
    let log = log(&directory, "runs");
    let found: Vec<f64> = log.get("a/b: 1\n2").unwrap();
    assert!(found.iter().zip(values).all(|(found, value)| found.to_bits() == value.to_bits()), "{found:?}");
    assert_eq!(log.get("a/b: 1"), None::<Vec<f64>>);
}

#[test]
fn a_damaged_line_is_none_and_hurts_no_other() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("runs");
    let (first, second) = ([1.0, 2.5].to_vec(), [4.0].to_vec());
    let whole = {
        let log = log(&directory, "runs");
        log.put("first", &first).unwrap();
        log.put("second", &second).unwrap();
        std::fs::read_to_string(&path).unwrap()
    };
    let damaged = [whole.replace("2.5", "3.5"), whole.replacen('[', "", 1), whole.replacen(' ', "", 1)];
    for text in damaged {
        std::fs::write(&path, &text).unwrap();
        let log = log(&directory, "runs");
        let get = |key: &str| -> Option<Vec<f64>> { log.get(key) };
        assert_eq!((get("first"), get("second")), (None, Some(second.clone())), "{text}");
    }
    // After a truncated line, the log continues on a new line.
    std::fs::write(&path, &whole[..whole.len() - 2]).unwrap();
    log(&directory, "runs").put("third", &second).unwrap();
    let log = log(&directory, "runs");
    let get = |key: &str| -> Option<Vec<f64>> { log.get(key) };
    assert_eq!((get("first"), get("second"), get("third")), (Some(first), None, Some(second)));
}

#[test]
fn results_of_another_kind_count_as_none_and_stay() {
    let directory = tempfile::tempdir().unwrap();
    {
        let log = log(&directory, "runs");
        log.put("a number", &1.5).unwrap();
        log.put("a text", &"one and a half".to_owned()).unwrap();
    }
    let found = |key: &str| -> (Option<f64>, Option<String>) {
        let log = log(&directory, "runs");
        log.in_order().unwrap();
        (log.get(key), log.get(key))
    };
    for _ in 0..2 {
        assert_eq!(found("a number"), (Some(1.5), None));
        assert_eq!(found("a text"), (None, Some("one and a half".to_owned())));
    }
}

#[test]
fn logs_of_several_machines_come_together_in_the_same_bytes() {
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name);
    for (name, keys) in [("one", ["a", "c"]), ("two", ["b", "d"])] {
        let log = log(&directory, name);
        for key in keys {
            log.put(key, &1).unwrap();
        }
        log.in_order().unwrap();
    }
    let merge = |name: &str, of: [&str; 2]| {
        ResultLog::open(&path(name), &of.map(path)).unwrap().in_order().unwrap();
        std::fs::read_to_string(path(name)).unwrap()
    };
    let merged = merge("forth", ["one", "two"]);
    assert_eq!(merged.lines().count(), 4);
    assert_eq!(merged, merge("back", ["two", "one"]));
    assert!(ResultLog::open(&path("none"), &[path("missing")]).unwrap_err().path.ends_with("missing"));
    std::fs::write(path("garbage"), "not a log").unwrap();
    let error = ResultLog::open(&path("none"), &[path("one"), path("garbage")]).unwrap_err();
    assert!(error.path.ends_with("garbage") && error.to_string().contains("it holds no run"), "{error}");
}

#[test]
fn an_open_log_cannot_be_opened_again() {
    let directory = tempfile::tempdir().unwrap();
    let first = log(&directory, "runs");
    let second = ResultLog::open(&directory.path().join("runs"), &[]).unwrap_err();
    assert!(second.to_string().contains("another process"), "{second}");
    drop(first);
    log(&directory, "runs");
}

#[test]
fn a_failed_write_is_an_error_and_leaves_no_file() {
    let directory = tempfile::tempdir().unwrap();
    std::fs::create_dir(directory.path().join("runs")).unwrap();
    let error = ResultLog::open(&directory.path().join("runs"), &[]).unwrap_err();
    assert!(error.path.ends_with("runs"), "{error}");
    let log = log(&directory, "other");
    log.put("key", &1).unwrap();
    std::fs::create_dir(directory.path().join("other.partial")).unwrap();
    log.in_order().unwrap_err();
    assert!(std::fs::read_to_string(directory.path().join("other")).unwrap().contains("key"));
}

#[test]
fn a_cache_beside_a_log_is_found_and_filled_and_may_fail() {
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name);
    let (own, cache) =
        (ResultLog::open(&path("own"), &[]).unwrap(), ResultLog::open(&path("cache"), &[]).unwrap());
    let both = Both(&own, &cache);
    Store::<u32>::put(&both, "a", &1).unwrap();
    Store::<u32>::put(&cache, "b", &2).unwrap();
    let get = |key: &str| -> Option<u32> { both.get(key) };
    assert_eq!((get("a"), get("b"), get("c")), (Some(1), Some(2), None));
    let kept = |log: &ResultLog, key: &str| -> Option<u32> { log.get(key) };
    assert_eq!((kept(&cache, "a"), kept(&own, "b")), (Some(1), Some(2)), "either has both");
    // A log that another process has open can be read, but new results are not stored in it.
    let read = ResultLog::read(&path("cache")).unwrap();
    Store::<u32>::put(&read, "d", &4).unwrap();
    assert_eq!((kept(&read, "a"), kept(&read, "d")), (Some(1), None));
    assert!(Store::<u32>::put(&Both(&own, &read), "d", &4).is_ok());
    assert!(ResultLog::read(&path("nowhere")).is_err());
}
