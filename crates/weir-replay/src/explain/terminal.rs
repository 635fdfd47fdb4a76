//! The explanation as lines for a terminal.

use core::fmt::{self, Display, Formatter};

use super::{Explanation, FallCause};

/// Falls that are listed on a terminal.
const LISTED: usize = 12;

impl Display for Explanation {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if let Some(quality) = &self.quality {
            let frozen = quality.freezes.iter().map(|freeze| freeze.length_us).sum::<i64>() as f64 / 1e6;
            writeln!(
                f,
                "In {:.0} s the viewer got {:.0} kbit/s; {:.2} % of the packets were lost; {} freezes, {frozen:.1} s together.",
                self.length_s,
                quality.received_bps / 1e3,
                100.0 * quality.lost_share,
                quality.freezes.len()
            )?;
        }
        for finding in &self.counted {
            writeln!(f, "{} [{}]", finding.sentence, finding.cites)?;
        }
        match self.main_cause {
            Some(cause) => writeln!(f, "Main cause of its falls: {}.", cause.name())?,
            None if self.quality.is_some() => {
                writeln!(f, "No fall of the rate has a cause that the recording shows.")?;
            }
            None => {}
        }
        for share in &self.shares {
            writeln!(
                f,
                "  {:>5.1} % of the time: {} ({} falls)",
                100.0 * share.share,
                share.cause.name(),
                share.falls
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
