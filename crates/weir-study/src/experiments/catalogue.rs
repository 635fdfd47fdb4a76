//! Rows and templates that ship with Weir, as part of the binary.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use toml::{Table, Value};

/// Shipped row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShippedRow {
    /// Name of the row: `PAPER/ROW`.
    pub name: &'static str,
    /// Text of its file.
    pub text: &'static str,
}

/// Whether a shipped row names the test `path`, `crate::module::…::test`; `make test` checks that these tests exist and
/// run.
pub(super) fn is_known_test(path: &str) -> bool {
    static NAMED: LazyLock<BTreeSet<String>> =
        LazyLock::new(|| ROWS.iter().flat_map(|row| named(row.text)).collect());
    NAMED.contains(path)
}

/// Tests that the claims of a row name.
fn named(row: &str) -> Vec<String> {
    let row: Table = toml::from_str(row).unwrap_or_default();
    let claims = row.get("claims").and_then(Value::as_array).into_iter().flatten();
    let tests = claims.filter_map(|claim| claim.get("tests")?.as_array()).flatten();
    tests.filter_map(Value::as_str).map(str::to_owned).collect()
}

macro_rules! files {
    ($($name:literal),* $(,)?) => {
        [$(ShippedRow { name: $name, text: include_str!(concat!("../../experiments/", $name, ".toml")) }),*]
    };
}

/// All rows, sorted by name.
pub const ROWS: &[ShippedRow] = &files![
    "coupled-rtp-2014/alg1",
    "coupled-rtp-2014/alg2",
    "coupled-rtp-2014/claim1",
    "coupled-rtp-2014/claim2",
    "coupled-rtp-2014/claim3",
    "coupled-rtp-2014/claim4",
    "coupled-rtp-2014/claim5",
    "coupled-rtp-2014/claim6",
    "coupled-rtp-2014/fig1",
    "coupled-rtp-2014/fig10",
    "coupled-rtp-2014/fig11",
    "coupled-rtp-2014/fig12",
    "coupled-rtp-2014/fig13",
    "coupled-rtp-2014/fig14",
    "coupled-rtp-2014/fig15",
    "coupled-rtp-2014/fig16",
    "coupled-rtp-2014/fig17",
    "coupled-rtp-2014/fig18",
    "coupled-rtp-2014/fig19",
    "coupled-rtp-2014/fig2",
    "coupled-rtp-2014/fig20",
    "coupled-rtp-2014/fig21",
    "coupled-rtp-2014/fig22",
    "coupled-rtp-2014/fig23",
    "coupled-rtp-2014/fig24",
    "coupled-rtp-2014/fig25",
    "coupled-rtp-2014/fig26",
    "coupled-rtp-2014/fig27",
    "coupled-rtp-2014/fig28",
    "coupled-rtp-2014/fig29",
    "coupled-rtp-2014/fig3",
    "coupled-rtp-2014/fig30",
    "coupled-rtp-2014/fig31",
    "coupled-rtp-2014/fig4",
    "coupled-rtp-2014/fig5",
    "coupled-rtp-2014/fig6",
    "coupled-rtp-2014/fig7",
    "coupled-rtp-2014/fig8",
    "coupled-rtp-2014/fig9",
    "coupled-rtp-2014/table1",
    "coupling-2018/claim1",
    "coupling-2018/claim10",
    "coupling-2018/claim11",
    "coupling-2018/claim12",
    "coupling-2018/claim2",
    "coupling-2018/claim3",
    "coupling-2018/claim4",
    "coupling-2018/claim5",
    "coupling-2018/claim6",
    "coupling-2018/claim7",
    "coupling-2018/claim8",
    "coupling-2018/claim9",
    "coupling-2018/fig1",
    "coupling-2018/fig2",
    "coupling-2018/fig3",
    "coupling-2018/fig4",
    "coupling-2018/fig5",
    "coupling-2018/fig6",
    "coupling-2018/fig7",
    "dccc-2017/claim1",
    "dccc-2017/claim10",
    "dccc-2017/claim2",
    "dccc-2017/claim3",
    "dccc-2017/claim4",
    "dccc-2017/claim5",
    "dccc-2017/claim6",
    "dccc-2017/claim7",
    "dccc-2017/claim8",
    "dccc-2017/claim9",
    "dccc-2017/eq17-19",
    "dccc-2017/eq20-24",
    "dccc-2017/fig1",
    "dccc-2017/fig10",
    "dccc-2017/fig11",
    "dccc-2017/fig12",
    "dccc-2017/fig13",
    "dccc-2017/fig14",
    "dccc-2017/fig15",
    "dccc-2017/fig16",
    "dccc-2017/fig17",
    "dccc-2017/fig18",
    "dccc-2017/fig19",
    "dccc-2017/fig2",
    "dccc-2017/fig3",
    "dccc-2017/fig4",
    "dccc-2017/fig5",
    "dccc-2017/fig6",
    "dccc-2017/fig7",
    "dccc-2017/fig8",
    "dccc-2017/fig9",
    "dccc-2017/sec4A-appendixA",
    "dccc-2017/sec4B",
    "dccc-2017/sec5C-h",
    "dccc-2017/table1",
    "dccc-2017/table2",
    "gcc-2016/claim1",
    "gcc-2016/claim2",
    "gcc-2016/claim3",
    "gcc-2016/claim4",
    "gcc-2016/eq1-2",
    "gcc-2016/fig1",
    "gcc-2016/fig10",
    "gcc-2016/fig11",
    "gcc-2016/fig12",
    "gcc-2016/fig13",
    "gcc-2016/fig14",
    "gcc-2016/fig15",
    "gcc-2016/fig16",
    "gcc-2016/fig17",
    "gcc-2016/fig18",
    "gcc-2016/fig2",
    "gcc-2016/fig3",
    "gcc-2016/fig4",
    "gcc-2016/fig5",
    "gcc-2016/fig6",
    "gcc-2016/fig7",
    "gcc-2016/fig8",
    "gcc-2016/fig9",
    "gcc-2016/prop1",
    "gcc-2016/table1",
    "gcc-2016/table2",
    "gcc-2016/table3",
    "gcc-2016/table4",
    "gcc-2016/table5",
    "gcc-2016/table6",
    "nada-vs-gcc-2016/claim1",
    "nada-vs-gcc-2016/claim2",
    "nada-vs-gcc-2016/claim3",
    "nada-vs-gcc-2016/claim4",
    "nada-vs-gcc-2016/claim5",
    "nada-vs-gcc-2016/eq9",
    "nada-vs-gcc-2016/fig1",
    "nada-vs-gcc-2016/fig2",
    "nada-vs-gcc-2016/fig3",
    "nada-vs-gcc-2016/fig4",
    "nada-vs-gcc-2016/fig5",
    "nada-vs-gcc-2016/fig6",
    "nada-vs-gcc-2016/fig7",
    "nada-vs-gcc-2016/fig8",
    "nada-vs-gcc-2016/fig9",
    "nada-vs-gcc-2016/table1",
    "nada-vs-gcc-2016/table2",
    "nada-vs-gcc-2016/table3",
    "nada-vs-gcc-2016/table4",
    "weir/ledbat-and-tcp",
    "weir/media-and-data",
];

/// Scenarios that several rows share, by their names.
pub(super) const TEMPLATES: &[ShippedRow] = &files![
    "templates/dccc-beside-tcp",
    "templates/dccc-four-paths",
    "templates/dccc-noise",
    "templates/dccc-parking-lot",
    "templates/dumbbell-100ms",
    "templates/dumbbell-10ms",
    "templates/tcp-100ms",
];
