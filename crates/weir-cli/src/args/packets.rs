//! Arguments that keep the packets of a run.

/// Files with the packets of a run.
#[derive(Debug, clap::Args)]
pub(crate) struct PacketArgs {
    /// Also write packets-CONTROLLER.pcapng: the packets that come out of these links in the run of the first seed.
    #[arg(long, value_name = "LINK", value_delimiter = ',', requires = "scenario")]
    pub(crate) pcap: Vec<String>,
    /// Also write call-CONTROLLER-FLOW.call.json: packets, feedback and targets of each media flow in the run of the first seed.
    #[arg(long, requires = "scenario", conflicts_with = "sweep")]
    pub(crate) record: bool,
}
