use serde_json::{Value as Json, json};

use super::*;
/// Metrics of two flows, one of which changes its share twice, and a link; each number is another one.
fn metrics() -> RunMetrics {
    let mut number = 0.0;
    let mut next = || {
        number += 1.0;
        json!(number)
    };
    let mut measures = |flows: usize| {
        let mut root = json!({ "flows": [], "media": {}, "links": [], "jain": {} });
        for metric in table_metrics() {
            let path: Vec<&str> = metric.name.split('.').collect();
            match path.as_slice() {
                ["flows[]", rest @ ..] => {
                    for flow in 0..flows {
                        let new =
                            json!({ "name": format!("flow {flow}"), "kind": "media", "convergence": [] });
                        let own = element(&mut root["flows"], flow, new);
                        match rest {
                            ["convergence[]", key] => {
                                for item in 0..2 * flow {
                                    element(&mut own["convergence"], item, json!({}))[*key] = next();
                                }
                            }
                            _ => place(own, rest, next()),
                        }
                    }
                }
                ["links[]", rest @ ..] => {
                    let new = json!({ "name": "forward", "bottleneck": true });
                    place(element(&mut root["links"], 0, new), rest, next());
                }
                all => place(&mut root, all, next()),
            }
        }
        root
    };
    let mut whole = measures(2);
    let mut window = measures(1);
    window["media"]["loss_ratio"] = Json::Null;
    whole["windows"] = json!({ "late": window });
    serde_json::from_value(whole).unwrap()
}

/// The element of a list, which is `new` if it is not there yet.
fn element(list: &mut Json, index: usize, new: Json) -> &mut Json {
    let list = list.as_array_mut().unwrap();
    if list.len() == index {
        list.push(new);
    }
    &mut list[index]
}

fn place(value: &mut Json, path: &[&str], number: Json) {
    match path {
        [] => *value = number,
        [key, rest @ ..] => place(&mut value[*key], rest, number),
    }
}

/// Number of the printed results at the place of a row.
fn printed(results: &Json, table: &TidyTable, row: usize) -> Json {
    let text = |name: &str| table.text_columns().find(|(own, _)| *own == name).unwrap().1.text(row);
    let mut value = match text("window") {
        Some(window) => &results["windows"][window],
        None => results,
    };
    let named = |list: &'_ Json, name: Option<&str>| {
        let all = list.as_array().unwrap();
        all.iter().position(|own| own["name"].as_str() == name).unwrap()
    };
    for key in text("metric").unwrap().split('.') {
        value = match key {
            "flows[]" => &value["flows"][named(&value["flows"], text("flow"))],
            "links[]" => &value["links"][named(&value["links"], text("link"))],
            "convergence[]" => &value["convergence"][text("item").unwrap().parse::<usize>().unwrap()],
            key => &value[key],
        };
    }
    value.clone()
}

#[test]
fn each_number_of_the_results_is_in_the_table_once() {
    let metrics = metrics();
    let mut table = TidyTable::new();
    let run =
        TidyRun { run: 7, scenario: "call", variant: "v", controller: "gcc", seed: 3, metrics: &metrics };
    table.push(run);
    let results = serde_json::to_value(&metrics).unwrap();
    let mut seen = Vec::new();
    for row in 0..table.len() {
        let value = table.values()[row];
        let expected = printed(&results, &table, row).as_f64();
        assert_eq!(value.is_finite().then_some(value), expected, "row {row}");
        seen.extend(expected.map(|value| value as usize));
    }
    // The numbers count from 1 on, and one was removed.
    assert_eq!(seen.len(), table.len() - 1);
    seen.sort_unstable();
    seen.dedup();
    assert_eq!((seen.len(), seen.last()), (table.len() - 1, Some(&table.len())));
    assert!(table.runs().iter().all(|&run| run == 7) && table.seeds().iter().all(|&seed| seed == 3));
    let names: Vec<&str> = table_metrics().iter().map(|metric| metric.name.as_str()).collect();
    for name in ["flows[].owd_excess_ms.p95", "flows[].time_per_limiting_factor.ramp-up", "jain.of_means"] {
        assert!(names.contains(&name), "{name}");
    }
}

#[test]
fn columns_are_those_that_are_documented() {
    let axis = |key: &str, kind| TableAxis { key: key.to_owned(), kind };
    let rate = axis("rate", AxisKind::Numbers(Some("bit/s".to_owned())));
    let mut table = TidyTable::with_axes(&[rate, axis("queue", AxisKind::Texts)]);
    let metrics = metrics();
    let run =
        |run| TidyRun { run, scenario: "a,b", variant: "v", controller: "gcc", seed: 1, metrics: &metrics };
    table.push_at(run(0), &[AxisValue::Number(5e5), AxisValue::Text("codel".to_owned())]);
    table.push_at(run(1), &[AxisValue::Number(1e6), AxisValue::Text("codel".to_owned())]);
    table.push(run(2));
    let mut csv = Vec::new();
    table.write_csv(&mut csv).unwrap();
    let csv = String::from_utf8(csv).unwrap();
    let lines: Vec<&str> = csv.lines().collect();
    assert_eq!(
        lines[0],
        "run,scenario,variant,controller,seed,at.rate,at.queue,flow,link,window,item,metric,value,unit"
    );
    assert_eq!(lines[1], "0,\"a,b\",v,gcc,1,500000,codel,flow 0,,,,flows[].rate_bps,1,bit/s");
    assert!(
        lines[lines.len() - 1].starts_with("2,\"a,b\",v,gcc,1,,,,,late,,jain."),
        "{}",
        lines[lines.len() - 1]
    );
    assert_eq!(lines.len(), table.len() + 1);
    let documented = TABLE_COLUMNS.iter().map(|column| column.name);
    let expected: Vec<&str> = documented
        .flat_map(|name| if name == "at.KEY" { vec!["at.rate", "at.queue"] } else { vec![name] })
        .collect();
    assert_eq!(table.columns().iter().map(|(name, _)| *name).collect::<Vec<_>>(), expected);
    let scenario = table.text_columns().next().unwrap().1;
    assert_eq!((scenario.categories.len(), scenario.codes.len()), (1, table.len()), "one text for all rows");
}
