//! Tables on terminals of any width (`table`).

use weir_report::page::{Best, Row, SummaryCell, SummaryColumn};

use super::*;

fn column(label: &str, unit: &str, decimals: usize, best: Best) -> SummaryColumn {
    let definition = String::new();
    SummaryColumn { label: label.to_owned(), unit: unit.to_owned(), definition, decimals, best }
}

fn table() -> SummaryTable {
    let cell = |mean, ci95| Some(SummaryCell { ci95: Some(ci95), ..SummaryCell::new(mean) });
    let best = |mean, ci95| Some(SummaryCell { ci95: Some(ci95), best: true, ..SummaryCell::new(mean) });
    SummaryTable {
        columns: vec![
            column("useful rate", "kbit/s", 0, Best::Highest),
            column("freezes", "", 1, Best::Lowest),
            column("time lost to delay", "%", 0, Best::Neither),
        ],
        rows: vec![
            Row::of("gcc-2016", vec![cell(529.0, 215.0), cell(14.1, 3.4), None]),
            Row::of("nada", vec![best(1552.4, 8.0), best(3.5, 13.1), cell(9.0, 1.0)]),
        ],
    }
}

fn without_escapes(text: &str) -> String {
    text.replace("\u{1b}[1m", "").replace("\u{1b}[0m", "")
}

#[test]
fn columns_align_below_headers_that_stand_on_the_rule() {
    let drawn = without_escapes(&summary("controller", &table(), None));
    let expected = [
        "                 useful                 time lost",
        "                   rate       freezes    to delay",
        "controller       kbit/s                         %",
        "─────────────────────────────────────────────────",
        "gcc-2016      529 ± 215   14.1 ±  3.4       –",
        "nada         1552 ±   8    3.5 ± 13.1       9 ± 1",
    ];
    assert_eq!(drawn.lines().collect::<Vec<_>>(), expected, "{drawn}");
}

#[test]
fn on_a_narrow_terminal_there_is_a_row_per_metric() {
    let mut table = table();
    // A fourth metric makes a row per controller too wide.
    let values = [(1.0, 0.5), (2.0, 0.5)]
        .map(|(mean, half)| Some(SummaryCell { ci95: Some(half), ..SummaryCell::new(mean) }));
    table.columns.push(column("loss", "%", 2, Best::Neither));
    for (row, value) in table.rows.iter_mut().zip(values) {
        row.cells.push(value);
    }
    let drawn = without_escapes(&summary("controller", &table, Some(60)));
    let expected = [
        "controller                     gcc-2016              nada",
        "─────────────────────────────────────────────────────────",
        "useful rate, kbit/s     529    ± 215      1552    ±  8",
        "freezes                  14.1  ±   3.4       3.5  ± 13.1",
        "time lost to delay, %     –                  9    ±  1",
        "loss, %                   1.00 ±   0.50      2.00 ±  0.50",
    ];
    assert_eq!(drawn.lines().collect::<Vec<_>>(), expected, "{drawn}");
}

#[test]
fn controllers_that_do_not_fit_beside_each_other_follow_each_other() {
    let drawn = summary("controller", &table(), Some(30));
    let names: Vec<usize> = ["gcc-2016", "nada"].map(|name| drawn.find(name).unwrap()).to_vec();
    assert!(names[0] < names[1]);
    assert_eq!(drawn.matches("useful rate").count(), 2, "{drawn}");
}

#[test]
fn many_controllers_stand_below_each_other_with_the_metrics_in_a_few_tables() {
    let mut table = table();
    table.rows = table.rows.iter().cycle().take(14).cloned().collect();
    let drawn = without_escapes(&summary("controller", &table, Some(40)));
    // Two metrics fit beside the names, the third follows; as columns the controllers would take 14 tables.
    let heads: Vec<&str> = drawn.lines().filter(|line| line.starts_with("controller")).collect();
    assert_eq!(heads.len(), 2, "{drawn}");
    assert_eq!(drawn.lines().filter(|line| line.starts_with("gcc-2016")).count(), 14, "{drawn}");
    assert!(columns(&drawn) <= 40, "{drawn}");
}

#[test]
fn no_line_is_wider_than_the_terminal_if_one_controller_fits() {
    for width in [40, 60, 80, 200] {
        let drawn = summary("controller", &table(), Some(width));
        assert!(columns(&drawn) <= width, "{width}:\n{drawn}");
    }
}

#[test]
fn only_the_best_is_bold_whichever_way_the_table_lies() {
    for width in [None, Some(53), Some(40)] {
        let drawn = summary("controller", &table(), width);
        let bold: Vec<&str> = drawn
            .split("\u{1b}[1m")
            .skip(1)
            .filter_map(|rest| rest.split("\u{1b}[0m").next())
            .filter_map(|text| text.split_whitespace().next())
            .collect();
        assert_eq!(bold, ["1552", "3.5"], "{drawn}");
    }
}

#[test]
fn labels_break_at_words() {
    assert_eq!(broken("time lost to delay", 9), ["time lost", "to delay"]);
    assert_eq!(broken("utilisation", 9), ["utilisation"]);
    assert_eq!(broken("share beside CUBIC", 12), ["share beside", "CUBIC"]);
}

#[test]
fn a_sentence_wraps_at_words_where_there_is_a_terminal() {
    assert_eq!(sentence("nada serves this call best.", Some(12)), "nada serves\nthis call\nbest.");
    assert_eq!(sentence("nada serves this call best.", None), "nada serves this call best.");
}

#[test]
fn escapes_take_no_room() {
    assert_eq!(visible("\u{1b}[1m9 ± 1\u{1b}[0m"), 5);
}

#[test]
fn words_stand_in_columns_of_their_own() {
    let rows = [["a", "first"], ["longer", "second"]].map(|row| row.map(str::to_owned).to_vec());
    let lines: Vec<String> =
        without_escapes(&plain(&["name", "title"], rows.to_vec())).lines().map(str::to_owned).collect();
    assert_eq!(lines, ["name    title", "a       first", "longer  second"]);
}

#[test]
fn a_width_of_no_column_is_none_that_is_known() {
    assert_eq!((known(Some(0)), known(Some(80)), known(None)), (None, Some(80), None));
    let row = vec![vec!["name", "words that go on and on"]];
    assert_eq!(wrapped(&[], row.clone(), None), "name  words that go on and on");
    assert_eq!(wrapped(&[], row, Some(17)), "name  words\n      that go\n      on and on");
}

#[test]
fn one_line_each_has_the_columns_that_fit_and_ends_with_a_word() {
    let rows = [["gcc", "what browsers do, today", "draft"], ["nada", "RFC", "RFC 8698"]];
    let rows: Vec<Vec<String>> = rows.map(|row| row.map(str::to_owned).to_vec()).to_vec();
    let drawn = |width| {
        let (text, whole) = one_line_each(&["name", "summary", "source"], &rows, width);
        (without_escapes(&text), whole)
    };
    let all = "name  summary                  source\ngcc   what browsers do, today  draft\nnada  RFC                      RFC 8698";
    assert_eq!(drawn(None), (all.to_owned(), true));
    assert_eq!(drawn(Some(39)), (all.to_owned(), true));
    let two = "name  summary\ngcc   what browsers do, today\nnada  RFC";
    assert_eq!(drawn(Some(38)), (two.to_owned(), false));
    assert_eq!(drawn(Some(27)), ("name  summary\ngcc   what browsers do …\nnada  RFC".to_owned(), false));
}

#[test]
fn rows_that_are_too_wide_are_paragraphs() {
    let rows = [["kappa", "0.5", "number", "the gain of the update"], ["", "", "\"wire\"", "where it ends"]];
    let rows: Vec<Vec<String>> = rows.map(|row| row.map(str::to_owned).to_vec()).to_vec();
    let drawn = |width| without_escapes(&or_paragraphs(&["option", "default", "may be", "is"], &rows, width));
    assert_eq!(
        drawn(Some(24)),
        "kappa   0.5   number\n    the gain of the\n    update\n    \"wire\": where it\n    ends"
    );
    assert_eq!(drawn(None), drawn(Some(200)));
    assert_eq!(drawn(None).lines().count(), 3);
}
