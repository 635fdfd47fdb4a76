//! Columns that hold no capacity: what a sender estimates or aims at.

/// Words in the name of what a sender estimates or aims at.
const ESTIMATING: [&str; 6] = ["estimate", "estimated", "estimates", "estimation", "bwe", "target"];
/// What the statistics of WebRTC call such quantities, without case and punctuation.
const ESTIMATES: [&str; 4] =
    ["availableoutgoingbitrate", "availableincomingbitrate", "googavailablesendbandwidth", "targetbitrate"];

/// Whether a column of this name holds no capacity but what a sender estimates or aims at.
pub(super) fn is_estimate(name: &str) -> bool {
    let plain: String = name.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_lowercase();
    words(name).iter().any(|word| ESTIMATING.contains(&word.as_str()))
        || ESTIMATES.iter().any(|estimate| plain.contains(estimate))
}

/// The words of a name in lower case: between other characters than letters, and from each capital letter behind a small one.
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut behind_small = false;
    for letter in name.chars() {
        if !letter.is_alphabetic() || (letter.is_uppercase() && behind_small) {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut().filter(|_| letter.is_alphabetic()) {
            word.extend(letter.to_lowercase());
        }
        behind_small = letter.is_lowercase();
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn estimates_are_known_by_the_words_of_their_names() {
        for name in [
            "estimate_bps",
            "bweBitrate_bps",
            "BWE (kbit/s)",
            "estimatedBandwidth",
            "send-side target",
            "googTargetEncBitrate",
            "targetbitrate",
            "available_outgoing_bitrate",
            "googAvailableSendBandwidth",
        ] {
            assert!(is_estimate(name), "{name}");
        }
        for name in
            ["bitrate_bps", "rx_bytes", "estimator", "targeted", "Throughput (Mbit/s)", "available_bandwidth"]
        {
            assert!(!is_estimate(name), "{name}");
        }
    }
}
