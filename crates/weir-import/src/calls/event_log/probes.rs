//! Assignment of packets to probe clusters: a log does not say to which cluster a packet belongs.

use weir_world::recorded::{OptionalInteger, RecordedCall};

/// Time after which libwebrtc's pacer drops a cluster.
const TIMEOUT_US: i64 = 5_000_000;

/// Gives each cluster the next packets after its creation, padding and retransmissions included, until they are as many
/// and have as many bytes as it needs. A cluster begins when the one before it has all of its packets. Packets of the
/// very millisecond of its creation waited in the pacer before it.
pub(super) fn assign(call: &mut RecordedCall) {
    let mut clusters = call.probe_clusters.rows();
    let Some(mut cluster) = clusters.next() else { return };
    let (mut packets, mut bytes) = (0, 0_u64);
    let assigned: Vec<(usize, u32)> = call
        .packets
        .rows()
        .enumerate()
        .map_while(|(row, packet)| {
            let sent = packet.sent_us.get()?;
            while sent > cluster.time_us + TIMEOUT_US
                || packets > 0 && packets >= cluster.min_packets && bytes >= cluster.min_bytes.into()
            {
                cluster = clusters.next()?;
                (packets, bytes) = (0, 0);
            }
            if sent <= cluster.time_us || !packet.number.is_known() {
                return Some(None);
            }
            packets += 1;
            bytes += u64::from(packet.rtp_bytes());
            Some(Some((row, cluster.id)))
        })
        .flatten()
        .collect();
    for (row, id) in assigned {
        call.packets.probe[row] = OptionalInteger::new(id.into());
    }
}
