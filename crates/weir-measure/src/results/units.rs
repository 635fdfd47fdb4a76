//! Units of metrics and of columns, in the codes of UCUM.

/// Code of a ratio or a number.
pub const NO_UNIT: &str = "1";

/// Ends of keys that name a unit, and its code.
pub const UNIT_ENDS: [(&str, &str); 5] =
    [("_bps", "bit/s"), ("_ms", "ms"), ("_seconds", "s"), ("seconds", "s"), ("bytes", "By")];

/// Keys whose ends name no unit, or another one.
const OTHER_KEYS: [(&str, &str); 6] = [
    ("time_per_limiting_factor", "s"),
    ("stopped", "s"),
    ("slow_seconds", NO_UNIT),
    ("frame_rate", "1/s"),
    ("harmonic_frame_rate", "1/s"),
    ("feedback_packet_rate", "1/s"),
];

/// The unit of a metric by its name in the results, as a UCUM code; [`NO_UNIT`] for ratios and numbers.
pub fn metric_unit(name: &str) -> &'static str {
    let of_key = |key: &str| {
        let other = OTHER_KEYS.iter().find(|(own, _)| *own == key);
        let unit = other.or_else(|| UNIT_ENDS.iter().find(|(end, _)| key.ends_with(end)));
        unit.map(|(_, unit)| *unit)
    };
    name.split('.').rev().find_map(of_key).unwrap_or(NO_UNIT)
}

/// The UCUM code of a unit as columns of series and signals name it; other units stay as they are.
pub fn ucum(unit: &str) -> &str {
    match unit {
        "" => NO_UNIT,
        "B" | "byte" | "bytes" => "By",
        "ms²" => "ms2",
        "packets" => "{packet}",
        "segments" => "{segment}",
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_key_with_a_unit_decides() {
        for (name, unit) in [
            ("flows[].owd_excess_ms.p95", "ms"),
            ("flows[].rate_bps", "bit/s"),
            ("flows[].sent.payload_bytes", "By"),
            ("flows[].sent.packets", "1"),
            ("flows[].pictures.slow_seconds", "1"),
            ("flows[].pictures.harmonic_frame_rate", "1/s"),
            ("flows[].time_per_limiting_factor.ramp-up", "s"),
            ("flows[].convergence[].seconds", "s"),
            ("links[].utilisation.bits", "1"),
        ] {
            assert_eq!(metric_unit(name), unit, "{name}");
        }
        assert_eq!(["", "B", "ms²", "bit/s"].map(ucum), ["1", "By", "ms2", "bit/s"]);
    }
}
