//! The explanation as lines for a terminal.

use core::fmt::{self, Display, Formatter};

use super::{Explanation, FallCause};

/// The source of freezes that are not the decoder's.
pub(super) const BY_ARRIVALS: &str = "by arrivals of whole pictures (the decoder's may differ)";
/// Falls that are listed on a terminal.
const LISTED: usize = 12;

/// A number of things, in the plural where it is not one.
fn counted(count: usize, thing: &str) -> String {
    if count == 1 { format!("1 {thing}") } else { format!("{count} {thing}s") }
}

impl Display for Explanation {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if let Some(quality) = &self.quality {
            write!(f, "In {:.0} s ", self.length_s)?;
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
                let count = counted(freezes.found.len(), "freeze");
                write!(f, "; {count}, {:.1} s together", freezes.seconds())?;
                if !freezes.of_the_decoder {
                    write!(f, ", {BY_ARRIVALS}")?;
                }
            }
            writeln!(f, ".")?;
        }
        for finding in &self.counted {
            writeln!(f, "{} [{}]", finding.sentence, finding.cites)?;
        }
        match self.main_cause {
            Some(cause) => {
                let falls = self.falls.iter().filter(|fall| fall.cause == Some(cause)).count();
                writeln!(f, "Main cause of its falls: {} ({falls} of {}).", cause.name(), self.falls.len())?;
            }
            None if self.quality.is_some() && self.falls.is_empty() => {
                writeln!(f, "The rate did not fall by 15 %.")?;
            }
            None if self.quality.is_some() => {
                writeln!(f, "No fall of the rate has a cause that the recording shows.")?;
            }
            None => {}
        }
        for share in &self.shares {
            writeln!(
                f,
                "  {:>5.1} % of the time: {} ({})",
                100.0 * share.share,
                share.cause.name(),
                counted(share.falls, "fall")
            )?;
        }
        for fall in self.falls.iter().take(LISTED) {
            let cause = fall.cause.map_or("no sign came before", FallCause::name);
            writeln!(
                f,
                "{:>7.1} s  {:>6.0} -> {:>6.0} kbit/s  {cause}",
                fall.at_us as f64 / 1e6,
                fall.from_bps / 1e3,
                fall.to_bps / 1e3
            )?;
            for (sentence, cites) in &fall.evidence {
                writeln!(f, "           {sentence} [{cites}]")?;
            }
        }
        if self.falls.len() > LISTED {
            writeln!(f, "  and {} more falls (all in --json and on the page)", self.falls.len() - LISTED)?;
        }
        if !self.moments.is_empty() {
            writeln!(f, "Look at:")?;
        }
        for moment in &self.moments {
            writeln!(f, "{:>7.1} s  {} [{}]", moment.at_us as f64 / 1e6, moment.sentence, moment.cites)?;
        }
        self.remarks.iter().try_for_each(|remark| writeln!(f, "{remark}"))
    }
}
