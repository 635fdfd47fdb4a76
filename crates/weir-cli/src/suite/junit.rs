//! The verdicts of a suite as JUnit's XML, which build and test servers can show.

use std::io;

use quick_xml::Writer;
use quick_xml::events::{BytesDecl, BytesText, Event};
use weir_study::judge::Verdict;
use weir_study::suite::{CaseResult, CheckResult, ControllerResult, SuiteResult};

use crate::terminal::printable;

/// A test suite for each controller, with a test for each case: failed where the case is missed, skipped where it is open or
/// not judged.
///
/// # Errors
/// Only the errors of writing into memory.
pub(super) fn report(title: &str, result: &SuiteResult) -> io::Result<Vec<u8>> {
    let names: Vec<&str> = result.controllers().collect();
    let count = |verdict| (0..names.len()).map(|index| result.count(index, verdict)).sum::<usize>();
    let mut writer = Writer::new_with_indent(Vec::new(), b' ', 2);
    writer.write_event(Event::Decl(BytesDecl::new("1.0", Some("UTF-8"), None)))?;
    let all = [
        ("name", printable(title)),
        ("tests", (names.len() * result.cases.len()).to_string()),
        ("failures", count(Verdict::Missed).to_string()),
        ("skipped", (count(Verdict::Open) + count(Verdict::NotJudged)).to_string()),
    ];
    element(&mut writer, "testsuites", &all, |writer| {
        for (index, name) in names.iter().enumerate() {
            controller(writer, result, index, &printable(name))?;
        }
        Ok(())
    })?;
    let mut text = writer.into_inner();
    text.push(b'\n');
    Ok(text)
}

type Xml = Writer<Vec<u8>>;

fn controller(writer: &mut Xml, result: &SuiteResult, index: usize, name: &str) -> io::Result<()> {
    let skipped = result.count(index, Verdict::Open) + result.count(index, Verdict::NotJudged);
    let of_all = [
        ("name", format!("{}/{name}", printable(&result.suite))),
        ("tests", result.cases.len().to_string()),
        ("failures", result.count(index, Verdict::Missed).to_string()),
        ("skipped", skipped.to_string()),
    ];
    element(writer, "testsuite", &of_all, |writer| {
        for case in &result.cases {
            if let Some(own) = case.controllers.get(index) {
                test(writer, &result.suite, case, own)?;
            }
        }
        Ok(())
    })
}

fn test(writer: &mut Xml, suite: &str, case: &CaseResult, own: &ControllerResult) -> io::Result<()> {
    let class = format!("{}.{}", printable(suite), printable(&own.name));
    let named = [("classname", class), ("name", printable(&case.name))];
    let decides = printable(&own.in_words());
    let mut lines = vec![case.title.clone()];
    let of_check =
        |check: &CheckResult| format!("{} {} ({})", check.mark(), check.in_words(), check.limit_in_words());
    lines.extend(own.checks.iter().map(of_check));
    let checks = lines.iter().map(|line| printable(line)).collect::<Vec<_>>().join("\n");
    let of_checks = |writer: &mut Xml| writer.write_event(Event::Text(BytesText::new(&checks)));
    element(writer, "testcase", &named, |writer| match own.verdict() {
        verdict if verdict.is_met() => element(writer, "system-out", &[], of_checks),
        Verdict::Missed => {
            let message = [("message", decides.clone()), ("type", "missed".to_owned())];
            element(writer, "failure", &message, of_checks)
        }
        verdict => {
            let message = if verdict == Verdict::Open { format!("open: {decides}") } else { decides.clone() };
            element(writer, "skipped", &[("message", message)], |_| Ok(()))?;
            element(writer, "system-out", &[], of_checks)
        }
    })
}

fn element(
    writer: &mut Xml,
    name: &str,
    attributes: &[(&str, String)],
    within: impl FnOnce(&mut Xml) -> io::Result<()>,
) -> io::Result<()> {
    let attributes = attributes.iter().map(|(key, value)| (*key, value.as_str()));
    writer.create_element(name).with_attributes(attributes).write_inner_content(within)?;
    Ok(())
}
