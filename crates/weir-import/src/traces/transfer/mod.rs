//! Import of the rates of a transfer from a packet capture.

mod arrivals;
mod choice;
pub(crate) mod copies;

use std::path::Path;

use weir_net::Trace;

use super::error::{FormError, MAX_BINS};
use super::options::{ImportFinding, ReadOptions};
use super::rates::{RateFrom, trace_of};

/// Length of an interval of the rates in ns.
const INTERVAL: i64 = 100_000_000;

/// Reads the capture at `path`: the rates of one flow in whole steps, of which the last is 0, and the trace.
///
/// # Errors
/// The capture cannot be read, several flows could be meant, or there is less than one step.
pub(crate) fn read(
    path: &Path,
    options: &ReadOptions,
    findings: &mut Vec<ImportFinding>,
) -> Result<(Vec<RateFrom>, Trace), FormError> {
    let arrivals = arrivals::read(path, &choice::choose(path, options, findings)?)?;
    let steps = arrivals.last().map_or(0, |last| last.nanos / INTERVAL).unsigned_abs();
    if steps == 0 {
        return Err(FormError::whole("its packets are less than 0.1 s apart; record a longer transfer"));
    }
    if steps > MAX_BINS {
        return Err(FormError::whole(format!(
            "it is longer than {} s; cut it with `editcap`",
            MAX_BINS / 10
        )));
    }
    let mut bytes = vec![0_u64; steps as usize];
    for arrival in &arrivals {
        // A last step that is not whole has no rate.
        if let Some(step) = bytes.get_mut((arrival.nanos / INTERVAL) as usize) {
            *step += u64::from(arrival.bytes);
        }
    }
    findings.push(ImportFinding::new("rates", "of IP packets in steps of 0.1 s; the path may carry more"));
    let rate = |(index, bytes): (usize, &u64)| RateFrom {
        seconds: index as f64 / 10.0,
        bits_per_second: (*bytes * 80) as f64,
    };
    let mut rates: Vec<RateFrom> = bytes.iter().enumerate().map(rate).collect();
    rates.push(RateFrom { seconds: steps as f64 / 10.0, bits_per_second: 0.0 });
    let trace = trace_of(&rates, |_, problem| FormError::whole(problem))?;
    Ok((rates, trace))
}

#[cfg(test)]
mod tests;
