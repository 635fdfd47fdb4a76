//! Former names of keys, which are still read.

use std::borrow::Cow;

use toml::Table;

/// Keys of flows: the former name, and the present one.
const OF_FLOWS: [(&str, &str); 1] = [("law", "algorithm")];
/// The table of flows.
const FLOWS: &str = "flows";

/// The present name of the former key `key`.
pub(super) fn former_key(key: &str) -> Option<&'static str> {
    OF_FLOWS.iter().find(|(former, _)| *former == key).map(|(_, present)| *present)
}

/// Gives former keys of the flows in `table` their present names; a key under both names stays, and is refused later.
pub fn rename_former_keys(table: &mut Table) {
    let flows = table.get_mut(FLOWS).and_then(toml::Value::as_table_mut);
    for flow in flows.into_iter().flatten().filter_map(|(_, flow)| flow.as_table_mut()) {
        for (former, present) in OF_FLOWS {
            if !flow.contains_key(present)
                && let Some(value) = flow.remove(former)
            {
                flow.insert(present.to_owned(), value);
            }
        }
    }
}

/// `assignment` with the present name in place of a former key: `flows.NAME.law=cubic`.
pub fn with_present_key(assignment: &str) -> Cow<'_, str> {
    let Some((path, value)) = assignment.split_once('=') else { return Cow::Borrowed(assignment) };
    for (former, present) in OF_FLOWS {
        if let Some(flow) = path.trim().strip_suffix(former)
            && flow.starts_with("flows.")
            && flow.ends_with('.')
            && flow != "flows."
        {
            return Cow::Owned(format!("{flow}{present}={value}"));
        }
    }
    Cow::Borrowed(assignment)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_former_key_of_a_flow_gets_its_present_name() {
        let mut table: Table =
            toml::from_str("law = 1\n[flows.a]\nlaw = 'cubic'\n[flows.b]\nlaw = 'x'\nalgorithm = 'y'")
                .unwrap();
        rename_former_keys(&mut table);
        let expected = "law = 1\n[flows.a]\nalgorithm = 'cubic'\n[flows.b]\nlaw = 'x'\nalgorithm = 'y'";
        assert_eq!(table, toml::from_str(expected).unwrap());
    }

    #[test]
    fn a_former_key_of_an_assignment_gets_its_present_name() {
        for (given, expected) in [
            ("flows.tcp.law=cubic", "flows.tcp.algorithm=cubic"),
            ("flows.\"a b\".law = cubic", "flows.\"a b\".algorithm= cubic"),
            ("flows.law={ kind = 'tcp' }", "flows.law={ kind = 'tcp' }"),
            ("links.a.law=1", "links.a.law=1"),
            ("flows.a.outlaw=1", "flows.a.outlaw=1"),
            ("law", "law"),
        ] {
            assert_eq!(with_present_key(given), expected);
        }
    }
}
