//! Generated drives have the statistics of the recordings that they imitate.

use weir_import::traces::synthetic::MODELS;
use weir_import::traces::{TraceStatistics, TraceStore};

/// The statistics that are closest, and their tolerance: the mean, the deviation and the short autocorrelation.
const CLOSE: ([&str; 3], f64) =
    (["mean rate (Mbit/s)", "deviation (Mbit/s)", "autocorrelation at 0.1 s"], 0.15);
/// Tolerance of the other statistics.
const NEAR: f64 = 0.3;

#[test]
fn ten_drives_have_the_statistics_of_the_recording() {
    let store = TraceStore::find(&[]);
    for model in &MODELS {
        let recording = TraceStatistics::of(&store.load(model.like).expect("it is in the repository"));
        let drives: Vec<TraceStatistics> =
            (1..=10).map(|number| TraceStatistics::of(&model.drive(number))).collect();
        for (at, (name, wanted)) in recording.named().into_iter().enumerate() {
            let values = drives.iter().map(|drive| drive.named()[at].1).filter(|value| value.is_finite());
            let values: Vec<f64> = values.collect();
            let mean = values.iter().sum::<f64>() / values.len() as f64;
            let allowed = if CLOSE.0.contains(&name) { CLOSE.1 } else { NEAR };

            assert!((mean / wanted - 1.0).abs() <= allowed, "{}, {name}: {mean} for {wanted}", model.name);
        }
    }
}
