//! Every encoder that a scenario can name: its words, and that a call works with it.

use std::path::Path;

use weir_lab::metrics::Recorder;
use weir_lab::results::{FlowMeasures, Value};
use weir_lab::scenario::{RunOptions, Scenario};
use weir_lab::traces::TraceStore;
use weir_media::{FrameTraces, Model};
use weir_sim::{Simulation, Traffic};

fn text(encoder: &str, controller: &str) -> String {
    format!(
        "title = \"t\"\nduration = \"30s\"\nmeasure = {{ from = \"10s\" }}\n\
         [links.forward]\nfrom = \"left\"\nto = \"right\"\ndelay = \"25ms\"\nrate = \"1Mbps\"\n\
         [links.backward]\nfrom = \"right\"\nto = \"left\"\ndelay = \"25ms\"\nrate = \"10Mbps\"\n\
         [flows.call]\nkind = \"media\"\nfrom = \"left\"\nto = \"right\"\ncontroller = \"{controller}\"\n\
         encoder = {encoder}\nrates = {{ min = \"50kbps\", start = \"300kbps\", max = \"2Mbps\" }}\n"
    )
}

fn call(encoder: &str, controller: &str, store: &TraceStore) -> FlowMeasures<Value> {
    let scenario =
        Scenario::parse("test.toml", &text(encoder, controller), &[]).unwrap_or_else(|e| panic!("{e}"));
    let run = scenario.build(&RunOptions { seed: 1, ..RunOptions::default() }, store).unwrap();
    Simulation::new(run.spec, Recorder::new(run.plan)).unwrap().run().finish().metrics.flows.remove(0)
}

#[test]
fn a_call_over_one_megabit_works_with_every_encoder() {
    let none = TraceStore::at(None);
    // How much of the link each can use; the ladder's second stream of three fits, and content sharing has 5 frames a second.
    let uses = [
        ("papers", 0.7),
        ("gcc-2016", 0.6),
        ("statistical", 0.5),
        ("rfc8867", 0.5),
        ("interval-noise", 0.6),
        ("trace-driven", 0.5),
        ("hybrid", 0.4),
        ("content-sharing", 0.05),
        ("perfect", 0.7),
        ("greedy", 0.7),
        ("simulcast", 0.4),
    ];
    for (preset, least) in uses {
        // A law that goes by what it receives never comes to the second stream; one that probes does.
        let controller = if preset == "simulcast" { "gcc" } else { "nada" };
        let flow = call(&format!("\"{preset}\""), controller, &none);
        let rate = flow.payload_rate_bps.unwrap();
        assert!((least * 1e6..1e6).contains(&rate), "{preset}: {rate}");
        assert!(flow.frames_complete.unwrap() > 90.0, "{preset}");
    }
}

#[test]
fn a_greedy_source_fills_what_a_window_lets_out() {
    let flow = call("\"greedy\"", "ledbat", &TraceStore::at(None));
    assert!(flow.rate_bps.unwrap() > 900e3, "{:?}", flow.rate_bps);
}

#[test]
fn the_built_in_sequence_lies_as_text_among_the_data() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../data/video/talking-head.txt");
    let text = std::fs::read_to_string(file).unwrap();
    assert_eq!(&FrameTraces::parse(&text).unwrap(), FrameTraces::talking_head());
    assert!(text.len() < 300_000);
}

#[test]
fn frame_sizes_come_from_a_file_of_the_data_directory() {
    let data = Path::new(env!("CARGO_TARGET_TMPDIR")).join("frame-sizes");
    std::fs::create_dir_all(data.join("video")).unwrap();
    std::fs::write(data.join("video/flat.txt"), "% flat\n500 1000\n2000 4000\n2000 4000\n").unwrap();
    std::fs::write(data.join("video/bad.txt"), "500 1000\n2000\n").unwrap();
    let store = TraceStore::at(Some(data));
    let build = |name: &str| {
        let encoder = format!("{{ preset = \"trace-driven\", traces = \"{name}\", skip_frames = 1 }}");
        let scenario = Scenario::parse("test.toml", &text(&encoder, "nada"), &[]).unwrap();
        scenario.build(&RunOptions::default(), &store)
    };
    let run = build("flat").unwrap();
    let Traffic::Media { config, .. } = &run.spec.flows[0].traffic else { panic!("media") };
    let Model::Traces(traced) = config.encoder.model else { panic!("traces") };
    assert_eq!((traced.traces.frames(), traced.skip_frames), (2, 1));
    let error = build("bad").unwrap_err().to_string();
    assert!(error.contains("line 2 has not one size for each rate"), "{error}");
    let error = build("missing").unwrap_err();
    assert!(error.to_string().contains("`missing` was not found"), "{error}");
    assert!(error.advice().unwrap().contains("`talking-head`, which needs no file"));
    assert!(build("../traces").unwrap_err().to_string().contains("was not found"), "names are no paths");
}

#[test]
fn the_words_of_an_encoder_become_its_configuration() {
    let config = |encoder: &str| {
        let scenario = Scenario::parse("test.toml", &text(encoder, "nada"), &[]).unwrap();
        let run = scenario.build(&RunOptions::default(), &TraceStore::at(None)).unwrap();
        let Traffic::Media { config, .. } = &run.spec.flows[0].traffic else { panic!("media") };
        config.encoder
    };
    let Model::Statistical(model) = config(
        "{ preset = \"rfc8867\", interval_noise = 0.0, size_noise = 0.1, burst = { frames = 4, first = \"9kB\" } }",
    )
    .model
    else {
        panic!("statistical")
    };
    assert_eq!((model.interval_scale, model.size_scale), (0.0, 0.1));
    let burst = model.burst.unwrap();
    assert_eq!((burst.frames, burst.first.bytes(), burst.abrupt), (4, 9000, 0.1));
    let Model::Hybrid(model, _) = config("{ preset = \"hybrid\", burst = \"none\" }").model else { panic!() };
    assert_eq!(model.burst, None);
    let ladder = config("{ preset = \"simulcast\", ladder = [\"100kbps\", \"400kbps\"], hysteresis = 0.2 }");
    assert_eq!(ladder.max_rate.bps(), 600_000, "all streams are on at their sum and a fifth");
    let Model::Packets(packets) = config("{ preset = \"perfect\", packet_size = \"1094B\" }").model else {
        panic!()
    };
    assert_eq!(packets.size.bytes(), 1094);
}
