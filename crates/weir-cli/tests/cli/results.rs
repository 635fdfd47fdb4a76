//! The output of a run: tables for people, JSON for programs.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::support::{GOOD, Place};

fn json_of(place: &Place, arguments: &str) -> Value {
    serde_json::from_str(&place.weir(arguments).stdout).unwrap()
}

fn keys(json: &Value) -> Vec<&str> {
    json.as_object().unwrap().keys().map(String::as_str).collect()
}

#[test]
fn json_has_the_documented_keys_and_conforms_to_the_schema() {
    let place = Place::new();
    let schema = json_of(&place, "schema results");
    let run = "run gcc-2016/variable-capacity --runs 2 --duration 10s --json";
    for arguments in [run.to_owned(), format!("{run} --controller gcc-2016,nada --seed 5")] {
        let json = json_of(&place, &arguments);
        let several = json["controllers"].as_array().unwrap().len() > 1;
        let ranking = if several { &["ranking"][..] } else { &[] };
        assert_eq!(keys(&json), [&["scenario", "runs", "seeds"], ranking, &["controllers"]].concat());
        for controller in json["controllers"].as_array().unwrap() {
            assert_eq!(keys(controller), ["name", "flows", "media", "links", "jain"]);
        }
        assert_eq!(conforms(&json, &schema, &schema), Ok(()));
    }
    let json = json_of(&place, &format!("{run} --seed 5"));
    assert_eq!(json["scenario"], "gcc-2016/variable-capacity");
    assert_eq!((&json["runs"], &json["seeds"]), (&json!(2), &json!([5, 6])));
    assert_eq!(json["controllers"][0]["name"], "gcc-2016");
}

#[test]
fn json_that_breaks_the_schema_is_distinguished_from_json_that_keeps_it() {
    let place = Place::new();
    let schema = json_of(&place, "schema results");
    let json = json_of(&place, "run bench/cbr --duration 1s --json");
    assert_eq!(conforms(&json, &schema, &schema), Ok(()));
    let mut more = json.clone();
    more["controllers"][0]["extra"] = json!(1);
    let mut less = json;
    less.as_object_mut().unwrap().remove("seeds");
    for wrong in [more, less] {
        assert!(conforms(&wrong, &schema, &schema).is_err());
    }
}

/// The part of JSON Schema that results and rows use; objects have no keys that the schema does not name, unless
/// it allows others.
pub(crate) fn conforms(json: &Value, schema: &Value, root: &Value) -> Result<(), String> {
    if let Some(reference) = schema["$ref"].as_str() {
        let target = root.pointer(reference.trim_start_matches('#')).ok_or("dangling reference")?;
        return conforms(json, target, root);
    }
    if let Some(choices) = schema["anyOf"].as_array().or(schema["oneOf"].as_array()) {
        let fits = choices.iter().any(|choice| conforms(json, choice, root).is_ok());
        return if fits { Ok(()) } else { Err(format!("{json} fits none of {schema}")) };
    }
    if let Some(constant) = schema.get("const") {
        return if json == constant { Ok(()) } else { Err(format!("{json} is not {constant}")) };
    }
    let types: BTreeSet<&str> = match &schema["type"] {
        Value::String(name) => [name.as_str()].into(),
        Value::Array(names) => names.iter().filter_map(Value::as_str).collect(),
        _ => return Err(format!("{schema} has no type")),
    };
    let actual = match json {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if types.contains("integer") && number.is_u64() => "integer",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    };
    if !types.contains(actual) {
        return Err(format!("{json} is none of {types:?}"));
    }
    for element in json.as_array().into_iter().flatten() {
        conforms(element, &schema["items"], root)?;
    }
    let Some(object) = json.as_object() else { return Ok(()) };
    for required in schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str) {
        object.get(required).ok_or(format!("{required} is missing"))?;
    }
    for (key, value) in object {
        let others = &schema["additionalProperties"];
        if others == true {
            continue;
        }
        let property = schema["properties"].get(key).or(others.is_object().then_some(others));
        let property = property.ok_or(format!("{key} is unknown"))?;
        conforms(value, property, root).map_err(|error| format!("{key}: {error}"))?;
    }
    Ok(())
}

/// The values of the column `name` of a file of series.
fn column(csv: &str, name: &str) -> Vec<String> {
    let mut lines = csv.lines();
    let index = lines.next().unwrap_or_default().split(',').position(|column| column == name).unwrap();
    lines.filter_map(|line| line.split(',').nth(index)).map(str::to_owned).collect()
}

#[test]
fn all_controllers_see_the_same_network() {
    let place = Place::new();
    let run = "run cellular/att-lte-uplink-2016 --controller gcc-2016,nada --runs 1 --duration 10s";
    place.weir(&format!("{run} --out first --seed 1"));
    place.weir(&format!("{run} --out second --seed 2"));
    let capacity = |file| column(&place.read(file), "uplink.capacity_bps");
    let first = capacity("first/series-gcc-2016.csv");
    assert!(first.len() > 50 && first.iter().collect::<BTreeSet<_>>().len() > 10, "the capacity varies");
    assert_eq!(first, capacity("first/series-nada.csv"));
    assert_ne!(first, capacity("second/series-gcc-2016.csv"), "another seed is another stretch of the trace");
}

#[test]
fn all_controllers_send_the_same_video() {
    // An encoder that has one rate, below what every controller allows: what is sent is the video alone.
    let place = Place::new();
    let rates = "flows.video.rates={min='600kbps',start='600kbps',max='600kbps'}";
    let encoder = "flows.video.encoder={preset='papers',min_rate='300kbps',max_rate='300kbps',size_noise=0.3,key_frames={every=3000,size=3.0}}";
    let arguments = ["run", "gcc-2016/variable-capacity", "--controller", "gcc-2016,nada", "--json"];
    let rest = ["--runs", "2", "--duration", "10s", "--set", rates, "--set", encoder];
    let outcome = place.call(&[&arguments[..], &rest[..]].concat());
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
    let json: Value = serde_json::from_str(&outcome.stdout).unwrap();
    let flow = |index: usize| &json["controllers"][index]["flows"][0];
    assert!(flow(0)["frames_sent"]["mean"].as_f64().is_some_and(|frames| frames > 200.0), "{}", flow(0));
    assert_eq!(flow(0)["frames_sent"], flow(1)["frames_sent"]);
    let sent = &flow(0)["sent"]["payload_bytes"];
    assert_eq!(sent, &flow(1)["sent"]["payload_bytes"]);
    assert!(sent["ci95"].as_f64().is_some_and(|half| half > 0.0), "another seed is another video: {sent}");
}

#[test]
fn a_controller_named_twice_is_run_once() {
    let json = json_of(&Place::new(), "run bench/cbr --duration 1s --json");
    assert_eq!(json["controllers"][0]["name"], "none");
    let json = json_of(
        &Place::new(),
        "run gcc-2016/variable-capacity --controller nada,nada --runs 1 --duration 2s --json",
    );
    assert_eq!(json["controllers"].as_array().map(Vec::len), Some(1));
}

/// The printed lines, split at spaces.
fn words(stdout: &str) -> Vec<Vec<&str>> {
    stdout.lines().map(|line| line.split_whitespace().collect()).collect()
}

#[test]
fn one_controller_is_reported_in_plain_numbers() {
    let place = Place::new();
    let one = place.weir("run gcc-2016/variable-capacity --runs 1 --duration 10s");
    let sentence = one.last_line();
    assert!(sentence.starts_with("gcc-2016 carried ") && sentence.ends_with(" % in one run."), "{sentence}");
    assert!(!one.stdout.contains('±'), "one run has no interval");
    let heading = "gcc-2016/variable-capacity: 1 run of 10s, seed 1, skip_above never\n";
    assert!(one.stdout.contains(heading), "{}", one.stdout);
    let three = place.weir("run gcc-2016/variable-capacity --runs 3 --duration 10s");
    assert!(three.last_line().ends_with(" over 3 runs (mean ± 95 % interval)."), "{}", three.last_line());
    assert!(three.stdout.contains("3 runs of 10s, seeds 1 to 3, mean ± 95 % interval"), "{}", three.stdout);
}

#[test]
fn two_controllers_are_ranked_by_five_runs_and_not_by_one() {
    let place = Place::new();
    let run = "run gcc-2016/variable-capacity --controller gcc-2016,nada --duration 10s";
    let one = place.weir(&format!("{run} --runs 1"));
    assert!(one.last_line().starts_with("One run cannot tell which controller leads"), "{}", one.last_line());
    let five = place.weir(&format!("{run} --runs 5"));
    let sentence = five.last_line();
    assert!(sentence.contains(" of video within 150 ms over 5 runs; "), "{sentence}");
    assert!(!five.stdout.contains(" drives"), "that is the demo's");
}

#[test]
fn where_runs_are_alike_that_is_said_instead_of_intervals() {
    let place = Place::new();
    place.write("constant.toml", GOOD);
    let outcome = place.weir("run constant.toml --controller nada --runs 5 --duration 20s");
    assert!(
        outcome.stdout.contains("seeds 1 to 5, all alike: hardly anything here depends on the seed"),
        "{}",
        outcome.stdout
    );
    assert!(!outcome.stdout.contains('±'), "{}", outcome.stdout);
    let page = place.read("weir-out/constant/report.html");
    assert!(page.contains("All runs are alike"), "and so does the report");
}

#[test]
fn without_media_the_flows_and_the_bottleneck_are_reported() {
    let outcome = Place::new().weir("run bench/cbr --duration 5s");
    let lines = words(&outcome.stdout);
    for start in [&["flow"][..], &["first"], &["others", "×", "2"]] {
        assert!(lines.iter().any(|line| line.starts_with(start)), "{start:?}:\n{}", outcome.stdout);
    }
    assert!(!outcome.stdout.contains("controller"), "{}", outcome.stdout);
    let sentence = outcome.last_line();
    assert!(sentence.starts_with("The link `") && sentence.contains("was used to "), "{sentence}");
}

#[test]
fn flows_beside_the_call_have_a_table_of_their_own() {
    let run =
        "run cellular/att-lte-uplink-2016-beside-cubic --runs 1 --duration 5s --controller gcc-2016,nada";
    let outcome = Place::new().weir(run);
    let lines = words(&outcome.stdout);
    for title in [["flows,", "gcc-2016"], ["flows,", "nada"]] {
        assert!(lines.iter().any(|line| line.starts_with(&title)), "{title:?}:\n{}", outcome.stdout);
    }
}

#[test]
fn output_without_a_terminal_is_plain_text() {
    let outcome = Place::new().weir("run bench/cbr --duration 1s");
    assert!(!outcome.stdout.contains('\u{1b}'));
    assert_eq!(outcome.stderr, "", "neither a progress bar");
    assert!(outcome.stdout.lines().all(|line| line == line.trim_end()), "{}", outcome.stdout);
}

#[test]
fn differences_of_variants_stand_below_the_table_of_the_report() {
    let place = Place::new();
    place.write("call.toml", GOOD);
    let controllers = "gcc,nada,gcc{trendline.window=40}";
    place.weir(&format!("run call.toml --runs 2 --quiet --controller {controllers} --out out"));
    let page = place.read("out/report.html");
    let [table, less] =
        ["id=\"table\"", "<th>less gcc, run by run</th>"].map(|head| page.find(head).unwrap());
    assert!(table < less && less < page.find("id=\"time\"").unwrap());
    let rows = page[less..].split_once("</table>").unwrap().0;
    assert_eq!(rows.matches("<tr><th>").count(), 1);
    assert!(
        rows.contains("<tr><th>gcc{trendline.window=40}</th><td")
            && rows.contains(" ± ") | rows.contains(">± ")
    );
    assert!(page.contains("Differences are those of runs of the same seed"));
    // Drawn again it is the same, and unknown controllers are not subtracted.
    place.weir("report out --out again.html");
    assert!(place.read("again.html").contains("<th>less gcc, run by run</th>"));
    place.weir("run call.toml --runs 2 --quiet --controller gcc,nada --out two");
    assert!(!place.read("two/report.html").contains("run by run</th>"));
}
