//! Serialised forms of values of the wire, whose crate has no serialisation.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// IDs of header extensions by their names; IDs that [`ExtensionIds::new`](weir_wire::ExtensionIds::new) refuses are an
/// error.
pub(crate) mod extension_ids {
    use serde::de::Error;
    use weir_wire::ExtensionIds;

    use super::{Deserialize, Deserializer, Serialize, Serializer};

    #[derive(Serialize, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct IdsByName {
        abs_send_time: u8,
        transport_sequence: u8,
        stamp: u8,
        frame_marking: u8,
    }

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
    pub(crate) fn serialize<S: Serializer>(ids: &ExtensionIds, serializer: S) -> Result<S::Ok, S::Error> {
        let ids = IdsByName {
            abs_send_time: ids.abs_send_time(),
            transport_sequence: ids.transport_sequence(),
            stamp: ids.stamp(),
            frame_marking: ids.frame_marking(),
        };
        ids.serialize(serializer)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<ExtensionIds, D::Error> {
        let ids = IdsByName::deserialize(deserializer)?;
        ExtensionIds::new(ids.abs_send_time, ids.transport_sequence, ids.stamp, ids.frame_marking)
            .map_err(D::Error::custom)
    }
}

/// abs-send-time as its 24 bits.
pub(crate) mod abs_send_time {
    use weir_wire::AbsSendTime;

    use super::{Deserialize, Deserializer, Serialize, Serializer};

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
    pub(crate) fn serialize<S: Serializer>(time: &AbsSendTime, serializer: S) -> Result<S::Ok, S::Error> {
        time.ticks().serialize(serializer)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<AbsSendTime, D::Error> {
        u32::deserialize(deserializer).map(AbsSendTime::from_ticks)
    }
}

/// A frame marking as its byte.
pub(crate) mod frame_marking {
    use weir_wire::FrameMarking;

    use super::{Deserialize, Deserializer, Serialize, Serializer};

    #[expect(clippy::trivially_copy_pass_by_ref, clippy::ref_option, reason = "serde passes references")]
    pub(crate) fn serialize<S: Serializer>(
        marking: &Option<FrameMarking>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        marking.map(FrameMarking::byte).serialize(serializer)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<FrameMarking>, D::Error> {
        Ok(Option::deserialize(deserializer)?.map(FrameMarking::from_byte))
    }
}

/// A stamp as its round-trip time and its rate.
pub(crate) mod stamp {
    use weir_wire::StampExtension;

    use super::{Deserialize, Deserializer, Serialize, Serializer};

    #[expect(clippy::ref_option, reason = "serde passes references")]
    pub(crate) fn serialize<S: Serializer>(
        stamp: &Option<StampExtension>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        stamp.map(|stamp| (stamp.rtt, stamp.rate)).serialize(serializer)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<StampExtension>, D::Error> {
        Ok(Option::deserialize(deserializer)?.map(|(rtt, rate)| StampExtension { rtt, rate }))
    }
}
