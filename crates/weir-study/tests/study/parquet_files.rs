//! Series, decisions and tables as Apache Parquet.

use std::fs::File;

use ::parquet::file::reader::{FileReader, SerializedFileReader};
use ::parquet::record::Field;
use weir_import::traces::TraceStore;
use weir_measure::results::{AxisKind, AxisValue, TableAxis, TidyRun, TidyTable};
use weir_report::parquet::{write_columns, write_decisions, write_series, write_table};
use weir_scenario::compile::RunOptions;
use weir_scenario::scenario::Scenario;
use weir_study::comparison::decisions::FlowSignals;
use weir_study::runs::Task;

/// The number of rows that a table has as Parquet. Each is that of its comma-separated form, under the same names.
fn rows_that_agree(csv: &[u8], file: File) -> usize {
    // No field of these tables has a comma or a quotation mark.
    let csv = String::from_utf8(csv.to_vec()).unwrap();
    let mut lines = csv.lines();
    let names: Vec<&str> = lines.next().unwrap().split(',').collect();
    let reader = SerializedFileReader::new(file).unwrap();
    let mut rows = 0;
    for row in reader.get_row_iter(None).unwrap() {
        let row = row.unwrap();
        let cells: Vec<&str> = lines.next().unwrap().split(',').collect();
        assert_eq!((row.len(), names.len()), (cells.len(), cells.len()));
        for (((name, field), cell), expected) in row.get_column_iter().zip(cells).zip(&names) {
            assert_eq!(name, expected);
            match field {
                Field::Double(value) => assert_eq!(Ok(*value), cell.parse(), "{name}"),
                Field::UInt(value) => assert_eq!(value.to_string(), cell, "{name}"),
                Field::ULong(value) => assert_eq!(value.to_string(), cell, "{name}"),
                Field::Str(text) => assert_eq!(text, cell, "{name}"),
                Field::Null => assert_eq!(cell, "", "{name}"),
                other => panic!("{name}: {other:?}"),
            }
        }
        rows += 1;
    }
    assert_eq!(lines.next(), None);
    rows
}

#[test]
fn parquet_says_the_same_as_csv() {
    let scenario =
        Scenario::open("quality/steady", &["duration=10s", "flows.video.controller=gcc"].map(str::to_owned))
            .unwrap();
    let options = RunOptions { series: true, ..RunOptions::new(1) };
    let ran = Task::new(String::new(), &scenario, options).run(&TraceStore::at(None)).unwrap();
    let series = ran.measured.series.unwrap();
    let (mut csv, mut file) = (Vec::new(), tempfile::tempfile().unwrap());
    series.write_csv(&mut csv).unwrap();
    let signals = FlowSignals::of(&ran.plan, &scenario.registry);
    write_series(&series, &|flow, side, name| signals.unit(flow, side, name), &mut file).unwrap();
    let units = metadata(file.try_clone().unwrap());
    let (name, unit) = ("unit.video.sender.gamma.max", "ms");
    assert!(units.contains(&(name.to_owned(), unit.to_owned())), "{units:?}");
    let numbers = String::from_utf8(csv.clone()).unwrap();
    let numbers =
        numbers.lines().next().unwrap().split(',').filter(|name| !name.ends_with("limiting_factor")).count();
    assert_eq!(units.len(), numbers, "{units:?}");

    assert_eq!(rows_that_agree(&csv, file), 100);
    let (mut csv, mut file) = (Vec::new(), tempfile::tempfile().unwrap());
    series.decisions().write_csv(&mut csv).unwrap();
    write_decisions(series.decisions(), &mut file).unwrap();
    assert!(rows_that_agree(&csv, file) > 10);
}

/// The metadata of a file, without that of other writers.
fn metadata(file: File) -> Vec<(String, String)> {
    let reader = SerializedFileReader::new(file).unwrap();
    let entries = reader.metadata().file_metadata().key_value_metadata().into_iter().flatten();
    entries.map(|entry| (entry.key.clone(), entry.value.clone().unwrap_or_default())).collect()
}

#[test]
fn a_tidy_table_is_the_same_as_csv_and_has_its_version() {
    let scenario = Scenario::open("quality/steady", &["duration=5s".to_owned()]).unwrap();
    let ran = Task::new(String::new(), &scenario, RunOptions::new(1)).run(&TraceStore::at(None)).unwrap();
    let metrics = &ran.measured.metrics;
    let axis = |key: &str, unit: Option<&str>| TableAxis {
        key: key.to_owned(),
        kind: AxisKind::Numbers(unit.map(str::to_owned)),
    };
    let mut table = TidyTable::with_axes(&[axis("rate", Some("bit/s")), axis("of_a_row", None)]);
    for run in 0..2 {
        let run = TidyRun { run, scenario: "steady", variant: "gcc", controller: "gcc", seed: 1, metrics };
        table.push_at(run, &[AxisValue::Number(5e5), AxisValue::Number(2.0)]);
    }
    let (mut csv, mut file) = (Vec::new(), tempfile::tempfile().unwrap());
    table.write_csv(&mut csv).unwrap();
    write_table(&table, &mut file).unwrap();
    let entries = metadata(file.try_clone().unwrap());
    let expected = [("weir.table.version", "1"), ("unit.at.rate", "bit/s")];
    assert_eq!(entries, expected.map(|(key, value)| (key.to_owned(), value.to_owned())));
    assert_eq!(rows_that_agree(&csv, file), table.len());
}

#[test]
fn columns_of_numbers_are_a_table() {
    let mut file = tempfile::tempfile().unwrap();
    let columns = [("a".to_owned(), [1.0, f64::NAN].as_slice()), ("b".to_owned(), [2.0, 3.0].as_slice())];
    write_columns(&mut file, "grid", columns.into_iter()).unwrap();
    assert_eq!(rows_that_agree(b"a,b\n1,2\n,3\n", file), 2);
}
