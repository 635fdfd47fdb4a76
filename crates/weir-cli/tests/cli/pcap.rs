//! `weir run --pcap`: packets beside the results.

use crate::support::{GOOD, Place};

/// An interface description block in little-endian order, as far as its type.
const INTERFACE: [u8; 4] = [1, 0, 0, 0];

fn blocks(file: &[u8]) -> Vec<[u8; 4]> {
    let mut kinds = Vec::new();
    let mut rest = file;
    while let [kind @ .., _, _, _, _] = rest.get(..8).unwrap_or_default() {
        kinds.push(kind.try_into().unwrap());
        rest = &rest[u32::from_le_bytes(rest[4..8].try_into().unwrap()) as usize..];
    }
    kinds
}

#[test]
fn each_controller_has_a_file_with_the_links_as_interfaces_the_same_each_time() {
    let place = Place::new();
    place.write("call.toml", GOOD);
    let run = "run call.toml -q --controller gcc-2016,nada --runs 2 --pcap forward,backward --out";
    place.weir(&format!("{run} one --jobs 1"));
    place.weir(&format!("{run} two --jobs 2"));
    let (one, two) = (place.tree("one"), place.tree("two"));
    assert!(one == two, "threads change nothing");
    let name = |name: &str| std::path::PathBuf::from(name);
    for controller in ["gcc-2016", "nada"] {
        let file = one[&name(&format!("packets-{controller}.pcapng"))].as_ref().unwrap();
        let kinds = blocks(file);
        assert_eq!(kinds.iter().filter(|kind| **kind == INTERFACE).count(), 2);
        assert!(kinds.len() > 100, "{}", kinds.len());
    }
    let profile = "decode_as_entry: udp.port,5004,(none),RTP\ndecode_as_entry: udp.port,5005,(none),RTCP\n";
    assert_eq!(place.read("one/decode_as_entries"), profile);
    let of_packets = |path: &str| path.starts_with("packets-") || path == "decode_as_entries";
    let without: Vec<_> = one.keys().filter(|path| !of_packets(path.to_str().unwrap())).collect();
    place.weir("run call.toml -q --controller gcc-2016,nada --runs 2 --out one");
    let left = place.tree("one");
    assert!(left.keys().eq(without), "packets of an earlier run go: {:?}", left.keys());
}

#[test]
fn runs_with_a_capture_measure_the_same_as_others() {
    let place = Place::new();
    let run = "run coupling/pair -q --duration 25s --set measure.queues=true --set breakers=true --out";
    place.weir(&format!("{run} without"));
    place.weir(&format!("{run} with --pcap bottleneck"));
    let with = place.tree("with");
    for (path, bytes) in place.tree("without") {
        assert!(bytes == with[&path], "{}", path.display());
    }
}

#[test]
fn series_come_in_the_forms_asked_for() {
    let place = Place::new();
    place.write("call.toml", GOOD);
    let series = |forms: &str| {
        place.weir(&format!("run call.toml -q --out out{forms}"));
        let names = place.tree("out").into_keys().map(|path| path.into_os_string().into_string().unwrap());
        names.filter(|name| name.starts_with("series-")).collect::<Vec<_>>()
    };
    assert_eq!(series(" --series parquet,csv"), ["series-gcc-2016.csv", "series-gcc-2016.parquet"]);
    let file = std::fs::read(place.path().join("out/series-gcc-2016.parquet")).unwrap();
    assert!(file.starts_with(b"PAR1") && file.ends_with(b"PAR1"));
    assert_eq!(series(""), ["series-gcc-2016.csv"]);
    assert_eq!(series(" --series parquet"), ["series-gcc-2016.parquet"]);
}

#[test]
fn impossible_captures_are_refused_before_anything_is_written() {
    let place = Place::new();
    place.write("call.toml", GOOD);
    let cases = [
        ("--pcap up", "--pcap up: there is no link `up`; there are `forward`, `backward`"),
        ("--pcap forward --json", "--pcap forward: with --json files are written only with --out"),
    ];
    for (arguments, message) in cases {
        let arguments = format!("run call.toml -q {arguments}");
        let outcome = place.call(&arguments.split(' ').collect::<Vec<_>>());
        assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(2), ""), "{arguments}");
        assert!(outcome.stderr.contains(message), "{}", outcome.stderr);
        assert!(!place.path().join("weir-out").exists());
    }
    let outcome = place.call(&["run", "--pcap", "forward"]);
    assert_eq!(outcome.code, Some(2), "the demo has no capture: {outcome:?}");
}
