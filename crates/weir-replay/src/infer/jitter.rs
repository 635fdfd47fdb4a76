//! Random delay: the spread of the delay of packets that met no packet of the call.

use super::line::PacketLine;
use super::path::JitterEstimate;

/// Time between the end of the last service and a departure after which a packet met none of the call, in microseconds.
const FRESH_AFTER_US: i64 = 5_000;
/// Length of a window in microseconds.
const WINDOW_US: i64 = 2_000_000;
/// Fewer packets in a window are not counted.
const LEAST: usize = 8;
/// Difference of the 90th and the 10th percentile of the size of a standard normal variable.
const SPREAD_OF_NORMAL: f64 = 1.519;
/// A lesser standard deviation counts as none, in microseconds.
const LEAST_SD_US: f64 = 100.0;

/// Delays in microseconds, by window, of packets that met no packet of the call, without what follows from their sizes.
fn fresh_windows(line: &PacketLine) -> Vec<Vec<f64>> {
    let mut windows: Vec<Vec<(f64, f64)>> = Vec::new();
    let mut window = i64::MIN;
    for (before, packet) in line.served.iter().zip(line.served.iter().skip(1)) {
        if packet.sent_us - before.served_us < FRESH_AFTER_US {
            continue;
        }
        let own = packet.sent_us.div_euclid(WINDOW_US);
        if own != window {
            window = own;
            windows.push(Vec::new());
        }
        if let Some(window) = windows.last_mut() {
            window.push((f64::from(packet.bytes), packet.wait_us() as f64));
        }
    }
    windows.retain(|window| window.len() >= LEAST);
    windows.iter().map(|window| without_service(window)).collect()
}

/// The delays of packets of these bytes less a service in proportion to the bytes (least squares), sorted.
fn without_service(packets: &[(f64, f64)]) -> Vec<f64> {
    let count = packets.len() as f64;
    let mean = |of: fn(&(f64, f64)) -> f64| packets.iter().map(of).sum::<f64>() / count;
    let (bytes, delay) = (mean(|packet| packet.0), mean(|packet| packet.1));
    let (mut squares, mut products) = (0.0, 0.0);
    for packet in packets {
        squares += (packet.0 - bytes) * (packet.0 - bytes);
        products += (packet.0 - bytes) * (packet.1 - delay);
    }
    let per_byte = if squares > 0.0 { (products / squares).max(0.0) } else { 0.0 };
    let mut delays: Vec<f64> =
        packets.iter().map(|packet| packet.1 - per_byte * (packet.0 - bytes)).collect();
    delays.sort_by(f64::total_cmp);
    delays
}

/// The value at a share of a sorted window.
fn at(window: &[f64], share: f64) -> f64 {
    window.get((share * (window.len() - 1) as f64).round() as usize).copied().unwrap_or(0.0)
}

fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied()
}

fn spread(window: &[f64]) -> f64 {
    at(window, 0.9) - at(window, 0.1)
}

/// The jitter, and the usual spread of the delay without a queue in microseconds, from the 10th to the 90th percentile.
pub(super) fn estimate(line: &PacketLine) -> (JitterEstimate, i64) {
    if line.is_weak() {
        return (JitterEstimate::default(), 0);
    }
    let windows = fresh_windows(line);
    let Some(usual) = median(windows.iter().map(|window| spread(window)).collect()) else {
        return (JitterEstimate::default(), 0);
    };
    // Steps of the clocks alone spread delays by their length.
    let sd_us = (usual - 0.8 * line.resolution_us() as f64).max(0.0) / SPREAD_OF_NORMAL;
    if sd_us < LEAST_SD_US {
        return (JitterEstimate::default(), usual as i64);
    }
    let calm = windows.iter().filter(|window| spread(window) <= 1.5 * usual);
    let ranges = calm.map(|window| at(window, 1.0) - at(window, 0.0)).collect();
    let most_us = median(ranges).unwrap_or(0.0).max(sd_us);
    (JitterEstimate { sd_us: sd_us.round() as i64, most_us: most_us.round() as i64 }, usual as i64)
}
