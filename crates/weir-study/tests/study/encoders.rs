//! Every encoder that a scenario can name: its keys, and a call with it.

use std::path::Path;

use weir_import::traces::TraceStore;
use weir_measure::metrics::{Recorder, max_min_shares};
use weir_measure::results::{FlowMeasures, Value};
use weir_measure::simulate;
use weir_media::{EncoderModel, FrameTraces, LateRequests};
use weir_scenario::compile::RunOptions;
use weir_scenario::scenario::Scenario;
use weir_world::{MediaSpec, Traffic};

/// A scenario of a call over 1 Mbit/s for 30 s.
fn text(encoder: &str, controller: &str) -> String {
    format!(
        "title = \"t\"\nduration = \"30s\"\nmeasure = {{ from = \"10s\" }}\n\
         [links.forward]\nfrom = \"left\"\nto = \"right\"\ndelay = \"25ms\"\nrate = \"1Mbps\"\n\
         [links.backward]\nfrom = \"right\"\nto = \"left\"\ndelay = \"25ms\"\nrate = \"10Mbps\"\n\
         [flows.call]\nkind = \"media\"\nfrom = \"left\"\nto = \"right\"\ncontroller = \"{controller}\"\n\
         encoder = {encoder}\nrates = {{ min = \"50kbps\", start = \"300kbps\", max = \"2Mbps\" }}\n"
    )
}

/// Measures of the only flow of [`text`], from 10 s on.
fn call(encoder: &str, controller: &str, store: &TraceStore) -> FlowMeasures<Value> {
    let scenario =
        Scenario::parse("test.toml", &text(encoder, controller), &[]).unwrap_or_else(|e| panic!("{e}"));
    let run = scenario.build(&RunOptions { seed: 1, ..RunOptions::default() }, store).unwrap();
    simulate(run.spec, Recorder::new(run.plan)).unwrap().finish().metrics.flows.remove(0)
}

#[test]
fn a_call_over_one_megabit_works_with_every_encoder() {
    let none = TraceStore::at(None);
    // Least share of the link that each uses. Two of three simulcast streams fit, and content sharing has 5 frames a
    // second.
    let least_shares = [
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
    for (preset, least) in least_shares {
        let flow = call(&format!("\"{preset}\""), "nada", &none);
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
    let Traffic::Media(MediaSpec { config, .. }) = &run.spec.flows[0].traffic else { panic!("media") };
    let EncoderModel::Traces(traced) = config.encoder.model else { panic!("traces") };
    assert_eq!((traced.traces.frames(), traced.skip_frames), (2, 1));
    let error = build("bad").unwrap_err().to_string();
    assert!(error.contains("line 2 has not one size for each rate"), "{error}");
    let error = build("missing").unwrap_err();
    assert!(error.to_string().contains("`missing` was not found"), "{error}");
    assert!(error.advice().unwrap().contains("`talking-head`, which needs no file"));
    assert!(build("../traces").unwrap_err().to_string().contains("was not found"), "names are no paths");
}

#[test]
fn frame_sizes_come_from_files_of_syncodecs_one_for_each_rate() {
    let data = Path::new(env!("CARGO_TARGET_TMPDIR")).join("syncodecs");
    let video = data.join("video");
    std::fs::create_dir_all(&video).unwrap();
    let sequence = |sizes: [u32; 3]| {
        let line =
            |(n, size): (usize, &u32)| format!("{n} {} 28 40.1 {size}\n", if n == 0 { "I" } else { "P" });
        ["% no type qp psnr size\n".to_owned()]
            .into_iter()
            .chain(sizes.iter().enumerate().map(line))
            .collect()
    };
    let write = |name: &str, text: String| std::fs::write(video.join(name), text).unwrap();
    write("clip_720p_1000.txt", sequence([9000, 4000, 4400]));
    write("clip_720p_500.txt", sequence([5000, 2000, 2200]));
    write("clip_540p_500.txt", sequence([1, 2, 3]));
    write("uneven_360p_100.txt", sequence([1, 2, 3]));
    write("uneven_360p_200.txt", "0 I 0 40 9\n".to_owned());
    write("bad_360p_100.txt", "0 I 0 40 9\n1 P 0 40\n".to_owned());
    let store = TraceStore::at(Some(data));
    let traces = store.frame_sizes("clip_720p").unwrap();
    // The form of one file for all rates, as in RFC 8593 §6.1.
    assert_eq!(traces.to_text(), "500 1000\n5000 9000\n2000 4000\n2200 4400\n");
    let error = |name: &str| store.frame_sizes(name).unwrap_err().to_string();
    assert!(error("uneven_360p").ends_with("uneven_360p_*.txt: the sequences differ in length"));
    let bad = error("bad_360p");
    assert!(bad.contains("bad_360p_100.txt: line 2 is no frame"), "{bad}");
    assert!(error("clip").contains("`clip` was not found"));
}

/// Over a short queue the video often breaks. Key frames repair it.
#[test]
fn key_frames_on_request_repair_what_loss_broke() {
    let flow = |requests: &str| {
        let encoder = "{ preset = \"gcc-2016\", key_frames = { every = 100000, size = 3.0 } }";
        let text = text(encoder, "nada")
            .replace("delay = \"25ms\"\nrate = \"1Mbps\"", "delay = \"25ms\"\nrate = \"1Mbps\"\nloss = 0.01");
        let scenario = Scenario::parse("test.toml", &format!("{text}{requests}\n"), &[]).unwrap();
        let run = scenario.build(&RunOptions::default(), &TraceStore::at(None)).unwrap();
        simulate(run.spec, Recorder::new(run.plan)).unwrap().finish().metrics.flows.remove(0)
    };
    let (without, with) = (flow(""), flow("key_frame_requests = \"300ms\""));
    // About 22 packets are lost in 20 s. Each costs some five of 600 frames: those until the request, the round trip
    // and the key frame. A share of 0.8 is left.
    assert_eq!(without.key_frames, Some(0.0), "the only key frame came before the window");
    assert!(without.pictures.decodable.unwrap_or(0.0) < 0.3, "{:?}", without.pictures);
    assert!(with.key_frames.unwrap() >= 15.0, "{:?}", with.key_frames);
    assert!(with.pictures.decodable.unwrap() > 0.75, "{:?}", with.pictures);
}

#[test]
fn frames_that_would_wait_long_are_skipped_and_not_lost() {
    // The encoder can do no less than 1.5 Mbit/s, over a link of 1 Mbit/s.
    let encoder = |more: &str| format!("{{ preset = \"papers\", min_rate = \"1.5Mbps\"{more} }}");
    let flow = |more: &str| call(&encoder(more), "scream", &TraceStore::at(None));
    let (patient, skipping) = (flow(""), flow(", skip_above = \"100ms\""));
    assert_eq!((patient.frames_sent, patient.frames_skipped), (Some(600.0), Some(0.0)));
    let (sent, skipped) = (skipping.frames_sent.unwrap(), skipping.frames_skipped.unwrap());
    // In 20 s 600 frames come due. Frames that are sent have 6250 bytes each.
    assert_eq!(sent + skipped, 600.0);
    let rate = skipping.payload_rate_bps.unwrap();
    assert!((sent * 6250.0 * 8.0 / 20.0 - rate).abs() < 0.03 * rate, "{sent} frames at {rate}");
    assert!(skipping.frame_delay_ms.max.unwrap() < 1000.0 && patient.frame_delay_ms.max.unwrap() > 3000.0);
}

#[test]
fn a_source_whose_maximum_grows_is_used_and_its_fair_share_follows() {
    let encoder = "{ preset = \"papers\", \
                   max_rates = [{ at = \"0s\", rate = \"200kbps\" }, { at = \"20s\", rate = \"600kbps\" }] }";
    let scenario = |more: &str| {
        let text = text(encoder, "nada").replace("measure = { from = \"10s\" }\n", "") + more;
        Scenario::parse("test.toml", &text, &[]).unwrap_or_else(|e| panic!("{e}"))
    };
    let run = |scenario: &Scenario| scenario.build(&RunOptions::default(), &TraceStore::at(None)).unwrap();
    let built =
        run(&scenario("[measure.windows.early]\nto = \"20s\"\n[measure.windows.late]\nfrom = \"22s\"\n"));
    let mbps = |bps: f64| (bps / 1e4).round() / 100.0;
    let shares: Vec<f64> = max_min_shares(&built.plan).iter().map(|piece| mbps(piece.bps[0])).collect();
    assert_eq!(shares, [0.21, 0.63], "with headers");
    let measured = simulate(built.spec, Recorder::new(built.plan)).unwrap().finish();
    let rate = |window: &str| mbps(measured.metrics.windows[window].flows[0].payload_rate_bps.unwrap());
    assert_eq!((rate("early"), rate("late")), (0.2, 0.6));
    // Times in the file count from the start of the run, those of the encoder from the start of its flow.
    let Traffic::Media(MediaSpec { config, .. }) = &run(&scenario("start = \"15s\"\n")).spec.flows[0].traffic
    else {
        panic!("media")
    };
    let steps: Vec<f64> = config.encoder.max_rates.iter().map(|(at, _)| at.secs_f64()).collect();
    assert_eq!(steps, [-15.0, 5.0]);
}

#[test]
fn the_keys_of_an_encoder_become_its_configuration() {
    let config = |encoder: &str| {
        let scenario = Scenario::parse("test.toml", &text(encoder, "nada"), &[]).unwrap();
        let run = scenario.build(&RunOptions::default(), &TraceStore::at(None)).unwrap();
        let Traffic::Media(MediaSpec { config, .. }) = &run.spec.flows[0].traffic else { panic!("media") };
        config.encoder
    };
    let EncoderModel::Statistical(model) = config(
        "{ preset = \"rfc8867\", interval_noise = 0.0, size_noise = 0.1, burst = { frames = 4, first = \"9kB\" } }",
    )
    .model
    else {
        panic!("statistical")
    };
    assert_eq!((model.interval_scale, model.size_scale), (0.0, 0.1));
    assert_eq!(model.late_requests, LateRequests::Kept);
    let EncoderModel::Statistical(late) =
        config("{ preset = \"rfc8867\", late_requests = \"dropped\" }").model
    else {
        panic!()
    };
    assert_eq!(late.late_requests, LateRequests::Dropped);
    let skipping = config("{ preset = \"papers\", skip_above = \"400ms\" }");
    assert_eq!(skipping.skip_above, Some(weir_units::TimeDelta::from_millis(400)));
    assert_eq!(config("{ preset = \"papers\", skip_above = \"never\" }").skip_above, None);
    let burst = model.burst.unwrap();
    assert_eq!((burst.frames, burst.first.bytes(), burst.abrupt), (4, 9000, 0.1));
    let EncoderModel::Hybrid(model, _) = config("{ preset = \"hybrid\", burst = \"none\" }").model else {
        panic!()
    };
    assert_eq!(model.burst, None);
    let ladder = config("{ preset = \"simulcast\", ladder = [\"100kbps\", \"400kbps\"], hysteresis = 0.2 }");
    assert_eq!(ladder.max_rate.bps(), 600_000, "all streams are on at their sum and a fifth");
    let EncoderModel::Packets(packets) = config("{ preset = \"perfect\", packet_size = \"1094B\" }").model
    else {
        panic!()
    };
    assert_eq!(packets.size.bytes(), 1094);
}
