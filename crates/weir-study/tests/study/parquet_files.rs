//! Series, decisions and tables as Apache Parquet.

use std::fs::File;

use ::parquet::file::reader::{FileReader, SerializedFileReader};
use ::parquet::record::Field;
use weir_import::traces::TraceStore;
use weir_report::parquet::{write_columns, write_decisions, write_series};
use weir_scenario::compile::RunOptions;
use weir_scenario::scenario::Scenario;
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
    let scenario = Scenario::open("quality/steady", &["duration=10s".to_owned()]).unwrap();
    let options = RunOptions { series: true, ..RunOptions::new(1) };
    let ran = Task::new(String::new(), &scenario, options).run(&TraceStore::at(None)).unwrap();
    let series = ran.measured.series.unwrap();
    let (mut csv, mut file) = (Vec::new(), tempfile::tempfile().unwrap());
    series.write_csv(&mut csv).unwrap();
    write_series(&series, &mut file).unwrap();
    assert_eq!(rows_that_agree(&csv, file), 100);
    let (mut csv, mut file) = (Vec::new(), tempfile::tempfile().unwrap());
    series.decisions().write_csv(&mut csv).unwrap();
    write_decisions(series.decisions(), &mut file).unwrap();
    assert!(rows_that_agree(&csv, file) > 10);
}

#[test]
fn columns_of_numbers_are_a_table() {
    let mut file = tempfile::tempfile().unwrap();
    let columns = [("a".to_owned(), [1.0, f64::NAN].as_slice()), ("b".to_owned(), [2.0, 3.0].as_slice())];
    write_columns(&mut file, "grid", columns.into_iter()).unwrap();
    assert_eq!(rows_that_agree(b"a,b\n1,2\n,3\n", file), 2);
}
