//! Commands of the page.

use serde_json::Value;
use weir_call::path::PathSettings;
use weir_units::{DataRate, TimeDelta};

/// A command of the page.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum PageCommand {
    /// A session description of the browser.
    Offer(String),
    /// Another controller.
    Controller(String),
    /// Another path.
    Path(PathSettings),
}

/// The token in the first message.
pub(crate) fn token(text: &str) -> Option<String> {
    let Value::Object(mut object) = serde_json::from_str(text).ok()? else { return None };
    match (object.remove("token"), object.is_empty()) {
        (Some(Value::String(token)), true) => Some(token),
        _ => None,
    }
}

/// Reads a message after the first. `present` has the settings that it does not name.
///
/// # Errors
/// A sentence for a message that is no command.
pub(crate) fn command(text: &str, present: &PathSettings) -> Result<PageCommand, String> {
    let none = || "the message is no command of this page".to_owned();
    let Ok(Value::Object(object)) = serde_json::from_str(text) else { return Err(none()) };
    let mut entries = object.into_iter();
    let (Some((key, value)), None) = (entries.next(), entries.next()) else { return Err(none()) };
    match (key.as_str(), value) {
        ("offer", Value::String(sdp)) => Ok(PageCommand::Offer(sdp)),
        ("controller", Value::String(name)) => Ok(PageCommand::Controller(name)),
        ("path", Value::Object(settings)) => {
            let mut path = *present;
            for (name, value) in settings {
                let number = value.as_f64().filter(|number| (0.0..=1e9).contains(number)).ok_or_else(none)?;
                match name.as_str() {
                    "capacity_kbps" => path.capacity = DataRate::from_bps_f64(number * 1e3),
                    "delay_ms" => path.delay = TimeDelta::from_millis_f64(number),
                    "queue_ms" => path.queue = TimeDelta::from_millis_f64(number),
                    "loss_percent" => path.loss = number / 100.0,
                    "cross_kbps" => path.cross = DataRate::from_bps_f64(number * 1e3),
                    _ => return Err(none()),
                }
            }
            Ok(PageCommand::Path(path))
        }
        _ => Err(none()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<PageCommand, String> {
        command(text, &PathSettings::default())
    }

    #[test]
    fn commands_are_read() {
        assert_eq!(read(r#"{"offer": "v=0"}"#), Ok(PageCommand::Offer("v=0".to_owned())));
        assert_eq!(read(r#"{"controller": "nada"}"#), Ok(PageCommand::Controller("nada".to_owned())));
        let path = PathSettings { capacity: DataRate::from_kbps(500), loss: 0.02, ..PathSettings::default() };
        assert_eq!(
            read(r#"{"path": {"capacity_kbps": 500, "loss_percent": 2}}"#),
            Ok(PageCommand::Path(path))
        );
    }

    #[test]
    fn other_messages_are_refused() {
        let wrong = [
            "",
            "[]",
            "{}",
            "7",
            r#"{"offer": 7}"#,
            r#"{"offer": "a", "controller": "b"}"#,
            r#"{"path": {"delay_ms": -1}}"#,
            r#"{"path": {"delay_ms": "1"}}"#,
            r#"{"path": {"speed": 1}}"#,
            r#"{"path": {"capacity_kbps": 1e300}}"#,
        ];
        for text in wrong {
            assert_eq!(read(text), Err("the message is no command of this page".to_owned()), "{text}");
        }
        assert_eq!(token(r#"{"token": "ab"}"#).as_deref(), Some("ab"));
        assert_eq!(token(r#"{"token": "ab", "more": 1}"#), None);
    }
}
