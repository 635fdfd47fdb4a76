//! The arguments of the command line.

use std::net::IpAddr;
use std::path::PathBuf;

use clap::Parser;
use weir_units::{DataRate, TimeDelta};

/// Call a browser on this machine under any congestion controller: a page shows the picture, a chart and each decision.
#[derive(Debug, Parser)]
#[command(name = "weir call", bin_name = "weir call", version)]
pub(crate) struct CallArguments {
    /// Controllers, of which the page chooses; the first one begins [default: all that a browser's feedback suffices,
    /// from gcc on].
    pub(crate) controller: Vec<String>,
    /// Capacity of the emulated link to the browser.
    #[arg(long, value_name = "RATE", default_value = "2.5Mbps")]
    pub(crate) capacity: DataRate,
    /// Propagation delay each way.
    #[arg(long, value_name = "TIME", default_value = "25ms")]
    pub(crate) delay: TimeDelta,
    /// Longest queuing delay on the way to the browser.
    #[arg(long, value_name = "TIME", default_value = "300ms")]
    pub(crate) queue: TimeDelta,
    /// Random loss on the way to the browser.
    #[arg(long, value_name = "SHARE", default_value = "0%", value_parser = share)]
    pub(crate) loss: f64,
    /// Rate of simulated cross traffic through the same link.
    #[arg(long, value_name = "RATE", default_value = "0kbps")]
    pub(crate) cross: DataRate,
    /// First target.
    #[arg(long, value_name = "RATE", default_value = "300kbps")]
    pub(crate) start_rate: DataRate,
    /// Highest target.
    #[arg(long, value_name = "RATE", default_value = "5Mbps")]
    pub(crate) max_rate: DataRate,
    /// Clip of VP8 in IVF in place of the ones that ship; given several times, the same video at several rates.
    #[arg(long, value_name = "FILE")]
    pub(crate) clip: Vec<PathBuf>,
    /// Port of the page on the loopback interface [default: a free one].
    #[arg(long, value_name = "PORT", default_value_t = 0, hide_default_value = true)]
    pub(crate) port: u16,
    /// Address of the call's UDP socket [default: the machine's own].
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) address: Option<IpAddr>,
}

/// A share such as `5%`, as a number from 0 to 1.
fn share(text: &str) -> Result<f64, String> {
    let number = text.strip_suffix('%').and_then(|number| number.trim().parse::<f64>().ok());
    let share = number.filter(|number| (0.0..=50.0).contains(number)).map(|number| number / 100.0);
    share.ok_or_else(|| "a share in per cent from 0% to 50%, such as 2%".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_is_per_cent() {
        assert_eq!(share("2.5%"), Ok(0.025));
        for wrong in ["2", "51%", "-1%", "x%", "NaN%"] {
            assert!(share(wrong).is_err(), "{wrong}");
        }
    }
}
