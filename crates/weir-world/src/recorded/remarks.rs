//! Sentences about gaps of a recording: a call has no other text that a reader sees.

use core::fmt::Display;

/// A sentence about a gap of a recording, with `{}` in the place of each number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RemarkSentence(&'static str);

/// Defines the sentences. Each is its own documentation.
macro_rules! sentences {
    ($($name:ident = $text:expr;)*) => {
        impl RemarkSentence {
            $(#[doc = $text] pub const $name: Self = Self($text);)*

            const ALL: &[Self] = &[$(Self::$name),*];
        }
    };
}

sentences! {
    MORE_PACKETS = "The call has {} packets more than the {} that are kept; they are left out.";
    MORE_EVENTS = "The call has more reports, estimates and frames than the {} that are kept; later ones are left out.";
    MORE_STREAMS = "The call has more RTP streams than the {} that are kept; {} packets of the others are left out.";
    MORE_VALUES = "Values after the first {}, or of too many objects, are left out.";
    UNKNOWN_SERIES = "Left out: {} series of statistics with unknown names.";
    UNKNOWN_REMARKS = "Left out: {} of the remarks, as no import of this version makes them.";
    CONNECTIONS = "The file has {} peer connections. Connection {} is taken.";
    CONNECTION = "Connection {} has {} MB of video sent and {} MB received.";
    CUT_LINE = "The file ends within line {}; the call is read up to the line before.";
    SHORT_LINE = "Line {} is the last, has no end and is shorter than the line before: its last value may be cut off.";
    CUT_PACKET = "The file ends within packet {}; the call is read up to the packet before.";
    CUT_RECORD = "The file ends within record {}; the call is read up to the record before.";
    CUT_COMPRESSED = "The compressed file is cut off; the call is read up to the end of its content.";
    CUT_LOG = "The log is cut off within a message; the call ends before it.";
    OPEN_LOG = "The log has no end event: its recording was broken off, and the last seconds may be missing.";
    SEVERAL_LOGS = "The file has several logs, one behind the other; they are read as one call.";
    UNKNOWN_END = "The file does not show at which end it was recorded. Its times are taken as departures; --direction \
                   received takes them as arrivals.";
    DEPARTURES_ALONE = "The capture has departures and sizes of RTP, and no RTCP.";
    ARRIVALS_ALONE = "The capture has arrivals and sizes of RTP, and no RTCP.";
    ENCRYPTED_DEPARTURES = "RTCP is encrypted: the capture has departures, sizes and sequence numbers, and no feedback. \
                            Sizes include the tag of SRTP, 10 or 16 bytes.";
    ENCRYPTED_ARRIVALS = "RTCP is encrypted: the capture has arrivals, sizes and sequence numbers, and no feedback. Sizes \
                          include the tag of SRTP, 10 or 16 bytes.";
    RECEIVERS_END = "The file is of the receiver's end: it has arrivals, and no time at which feedback came to the sender.";
    SWAPPED_HOPS = "The packets have {} hops left (TTL) in the second capture and {} in the first: the two are swapped, or \
                    a relay between them sets the number anew.";
    SWAPPED_PACKETS = "{} packets of the second capture are not in the first, which is that of the sender: it has gaps, or \
                       the two are swapped.";
    CLOCK_OFFSET = "The receiver's clock minus the sender's is {} ms, with the least delay of the path; arrivals count from \
                    the packet that waited least.";
    CLOCK_SKEW = "The receiver's clock gains {} ppm on the sender's by the line below all delays; arrivals are corrected by \
                  it.";
    SHORT_FOR_SKEW = "The call is too short to compare the speeds of the two clocks; they are taken as equal.";
    IMPLAUSIBLE_SKEW = "By the line below all delays, the speeds of the two clocks differ by more than 200 ppm, which is a \
                        change of the path rather than of clocks; arrivals are not corrected by it.";
    MADE_FEEDBACK = "The feedback is made, a report every {} ms, as RTCP with a fate for each packet cannot be read; the way \
                     back takes no time in it.";
}

impl RemarkSentence {
    /// The sentence with these numbers.
    pub fn with(self, numbers: &[&dyn Display]) -> String {
        let mut parts = self.0.split("{}");
        let mut text = parts.next().unwrap_or_default().to_owned();
        for (part, number) in parts.zip(numbers) {
            text.push_str(&number.to_string());
            text.push_str(part);
        }
        text
    }

    /// Whether `text` is the sentence with any numbers.
    pub fn is(self, text: &str) -> bool {
        let mut parts = self.0.split("{}");
        let Some(mut rest) = parts.next().and_then(|begin| text.strip_prefix(begin)) else { return false };
        for part in parts {
            // No sentence has a number before a full stop.
            let behind = rest.trim_start_matches(|symbol| matches!(symbol, '0'..='9' | '-' | '.'));
            let number = &rest[..rest.len() - behind.len()];
            match behind.strip_prefix(part) {
                Some(after) if number.parse::<f64>().is_ok() => rest = after,
                _ => return false,
            }
        }
        rest.is_empty()
    }

    /// Whether `text` is one of the sentences, and so has no other text of a file.
    pub fn is_known(text: &str) -> bool {
        Self::ALL.iter().any(|sentence| sentence.is(text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sentence_is_known_with_any_numbers_and_with_nothing_else() {
        let long = RemarkSentence::CLOCK_OFFSET.with(&[&-3_600_000.5]);
        assert!(long.starts_with("The receiver's clock minus the sender's is -3600000.5 ms, "), "{long}");
        for sentence in RemarkSentence::ALL {
            let numbers: &[&dyn Display] = &[&7, &0.25, &1e9];
            assert!(RemarkSentence::is_known(&sentence.with(numbers)), "{sentence:?}");
            let foreign: &[&dyn Display] = &[&"10.9.8.7", &"<b>", &"x"];
            assert_eq!(sentence.0.contains("{}"), !RemarkSentence::is_known(&sentence.with(foreign)));
            assert!(!RemarkSentence::is_known(&format!("{}x", sentence.with(numbers))));
        }
        assert!(!RemarkSentence::is_known("limited by <b>evil</b> 10.9.8.7"));
        assert!(!RemarkSentence::is_known(""));
    }
}
