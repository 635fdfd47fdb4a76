//! The explanation as lines for a terminal.

use core::fmt::{self, Display, Formatter};

use super::{CallQuality, Explanation, FallCause};

/// The source of freezes that are not the decoder's.
pub(super) const BY_ARRIVALS: &str = "by arrivals of whole pictures (the decoder's may differ)";
/// Falls that are listed on a terminal.
const LISTED: usize = 12;

/// `count` with the noun `thing`, in the plural unless it is one.
fn number_of(count: usize, thing: &str) -> String {
    if count == 1 { format!("1 {thing}") } else { format!("{count} {thing}s") }
}

impl Display for Explanation {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if let Some(quality) = &self.quality {
            write_quality(f, self.length_s, quality)?;
        }
        for finding in &self.counted {
            writeln!(f, "{} [{}]", finding.sentence, finding.cites)?;
        }
        self.write_causes(f)?;
        self.write_falls(f)?;
        self.write_moments(f)?;
        self.remarks.iter().try_for_each(|remark| writeln!(f, "{remark}"))
    }
}

/// Rates, losses and freezes of a call of `length_s` seconds, as a sentence.
fn write_quality(f: &mut Formatter<'_>, length_s: f64, quality: &CallQuality) -> fmt::Result {
    write!(f, "In {length_s:.0} s ")?;
    match (quality.received_bps, quality.sent_bps) {
        (Some(received), _) => write!(f, "the viewer got {:.0} kbit/s", received / 1e3)?,
        (None, Some(sent)) => {
            write!(f, "{:.0} kbit/s were sent, and what arrived is unknown", sent / 1e3)?;
        }
        (None, None) => write!(f, "no rate is known")?,
    }
    if let Some(lost) = quality.lost_share {
        write!(f, "; {:.2} % of the packets were lost", 100.0 * lost)?;
    }
    if let Some(freezes) = &quality.freezes {
        let count = number_of(freezes.found.len(), "freeze");
        write!(f, "; {count}, {:.1} s together", freezes.seconds())?;
        if !freezes.of_the_decoder {
            write!(f, ", {BY_ARRIVALS}")?;
        }
    }
    writeln!(f, ".")
}

impl Explanation {
    /// The main cause of the falls, and the share of the time of each cause.
    fn write_causes(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self.main_cause {
            Some(cause) => {
                let falls = self.falls.iter().filter(|fall| fall.cause == Some(cause)).count();
                writeln!(f, "Main cause of the falls: {} ({falls} of {}).", cause.name(), self.falls.len())?;
            }
            None if self.quality.is_some() && self.falls.is_empty() => {
                writeln!(f, "The rate did not fall by 15 %.")?;
            }
            None if self.quality.is_some() => {
                writeln!(f, "No fall of the rate has a cause that the recording shows.")?;
            }
            None => {}
        }
        self.shares.iter().try_for_each(|share| {
            let (percent, falls) = (100.0 * share.share, number_of(share.falls, "fall"));
            writeln!(f, "  {percent:>5.1} % of the time: {} ({falls})", share.cause.name())
        })
    }

    /// The first falls of the rate, with the evidence of each.
    fn write_falls(&self, f: &mut Formatter<'_>) -> fmt::Result {
        for fall in self.falls.iter().take(LISTED) {
            let cause = fall.cause.map_or("no sign came before", FallCause::name);
            let (at_s, from, to) = (fall.at_us as f64 / 1e6, fall.from_bps / 1e3, fall.to_bps / 1e3);
            writeln!(f, "{at_s:>7.1} s  {from:>6.0} -> {to:>6.0} kbit/s  {cause}")?;
            for (sentence, cites) in &fall.evidence {
                writeln!(f, "           {sentence} [{cites}]")?;
            }
        }
        if self.falls.len() > LISTED {
            writeln!(f, "  and {} more falls (all in --json and on the page)", self.falls.len() - LISTED)?;
        }
        Ok(())
    }

    /// Moments that are worth a look.
    fn write_moments(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if !self.moments.is_empty() {
            writeln!(f, "Look at:")?;
        }
        self.moments.iter().try_for_each(|moment| {
            writeln!(f, "{:>7.1} s  {} [{}]", moment.at_us as f64 / 1e6, moment.sentence, moment.cites)
        })
    }
}
