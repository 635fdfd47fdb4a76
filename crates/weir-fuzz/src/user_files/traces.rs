//! Traces of links in every form, and frame sizes.

use weir_import::traces::edit::{cut, scale};
use weir_import::traces::forms::{bin_from, rates_over_time};
use weir_import::traces::{Imported, RateUnit, ReadOptions, TimeUnit, TraceForm, import};
use weir_media::FrameTraces;
use weir_net::Time;
use weir_units::TimeDelta;

use super::{refused, text};
use crate::file;
use crate::input::Input;

/// Most opportunities of a trace that is processed.
const MOST_OPPORTUNITIES: usize = 20_000;

/// The first four bytes choose how the file is read.
pub(crate) fn traces(data: &[u8]) {
    let (how, content) = data.split_at(data.len().min(4));
    let mut input = Input::new(how);
    let ending = input.one_of(&["", ".csv", ".json", ".up", ".pcap"]);
    let asked = asked(&mut input);
    match file::holding(content, ending, |path| import(path, &asked)) {
        Ok(imported) => use_it(&imported),
        Err(error) => refused(&error),
    }
}

fn asked(input: &mut Input<'_>) -> ReadOptions {
    // Without a byte the reader gets no options.
    let choice = input.byte();
    let mut column = |bit: u8, names: &[&str]| (choice & bit > 0).then(|| input.one_of(names).to_owned());
    ReadOptions {
        time: column(1, &["time", "seconds"]),
        rate: column(2, &["rate", "sum", "bits_per_second"]),
        time_unit: if choice & 4 > 0 { unit::<TimeUnit>(TimeUnit::names(), input) } else { None },
        rate_unit: if choice & 8 > 0 { unit::<RateUnit>(RateUnit::names(), input) } else { None },
        flow: (choice & 16 > 0).then_some(usize::from(choice >> 5)),
    }
}

fn unit<U: core::str::FromStr>(
    names: impl Iterator<Item = &'static str>,
    input: &mut Input<'_>,
) -> Option<U> {
    let names: Vec<&str> = names.collect();
    input.one_of(&names).parse().ok()
}

/// A trace that was imported can be written, read again, cut and scaled.
fn use_it(imported: &Imported) {
    let trace = &imported.trace;
    assert!(!trace.is_empty() && trace.duration() > TimeDelta::ZERO);
    assert!(trace.opportunities().is_sorted());
    assert!(trace.opportunities().last().is_none_or(|last| last <= Time::ZERO + trace.duration()));
    assert!(imported.one_way.is_none_or(|one_way| !one_way.is_negative()), "{:?}", imported.one_way);
    if trace.len() > MOST_OPPORTUNITIES {
        return;
    }
    let bin = bin_from(trace, TimeDelta::from_millis(100));
    assert!(rates_over_time(trace, bin).is_ok_and(|rates| rates.iter().all(|rate| rate.is_finite())));
    let again = |text: &str, ending| {
        file::holding(text.as_bytes(), ending, |path| import(path, &ReadOptions::default()))
    };
    for (form, ending) in [(TraceForm::Csv, ".csv"), (TraceForm::Json, ".json")] {
        let text = imported.write(form, bin).expect("a bin that can be");
        let read = again(&text, ending).unwrap_or_else(|error| panic!("{error}\n{text}"));
        if imported.rates.is_some() {
            assert_eq!((&read.trace, &read.rates), (trace, &imported.rates), "{text}");
        } else {
            assert_eq!(read.trace.duration(), trace.duration());
        }
    }
    let text = imported.write(TraceForm::Mahimahi, bin).expect("it has no bins");
    let read = again(&text, ".up").unwrap_or_else(|error| panic!("{error}\n{text}"));
    assert!(read.trace.opportunities().eq(trace.opportunities()));
    let (mean, peak) = (trace.mean_rate(), trace.peak_rate());
    // For a trace shorter than the averaging window of the peak rate, the mean may be the higher one.
    let short = trace.duration() < TimeDelta::from_millis(200);
    assert!(short || mean <= peak, "{mean} on average, {peak} at most");
    let half = TimeDelta::from_nanos(trace.duration().nanos() / 2);
    for part in [cut(trace, TimeDelta::ZERO, half), cut(trace, half, trace.duration()), scale(trace, 0.5)] {
        // With few opportunities a part may have none.
        match part {
            Ok(part) => assert!(!part.is_empty() && part.len() <= trace.len()),
            Err(error) => refused(&error),
        }
    }
}

/// Frame sizes of both forms.
pub(crate) fn frames(data: &[u8]) {
    let Some(text) = text(data) else { return };
    match FrameTraces::parse(text) {
        Ok(traces) => {
            assert!(traces.frames() > 0 && traces.lowest() <= traces.highest());
            let written = traces.to_text();
            assert_eq!(FrameTraces::parse(&written).as_ref(), Ok(&traces), "{written}");
        }
        Err(error) => refused(&error),
    }
    match FrameTraces::parse_sequence(text) {
        Ok(sizes) => assert!(!sizes.is_empty() && sizes.len() <= text.lines().count()),
        Err(error) => refused(&error),
    }
}
