//! Recorded calls from the files that a command names.

use std::path::Path;

use weir_import::calls::{self, CallOptions, EndSelection, ExtensionOverrides};
use weir_world::RecordedCall;

use crate::args::{CallDirection, CallSourceArgs, ExtensionName};
use crate::failure::Failure;

/// The call of the files: one recording, or two captures, that of the sender first.
pub(crate) fn read_call(source: &CallSourceArgs) -> Result<RecordedCall, Failure> {
    let refused = |path: &Path| {
        let path = path.display().to_string();
        move |error| Failure::Call { path, error }
    };
    match &source.files[..] {
        [sender, receiver, ..] => calls::read_two_files(sender, receiver, &options(source))
            .map_err(|fault| refused(if fault.of_receiver { receiver } else { sender })(fault.error)),
        [file] => calls::read_file(file, &options(source)).map_err(refused(file)),
        [] => Ok(RecordedCall::default()),
    }
}

/// Name of the call in the names of files: that of its first file without the endings.
pub(crate) fn call_name(source: &CallSourceArgs) -> String {
    let name = source.files.first().and_then(|file| file.file_name()).unwrap_or_default();
    let name = name.to_string_lossy();
    name.split('.').find(|part| !part.is_empty()).unwrap_or("call").to_owned()
}

fn options(source: &CallSourceArgs) -> CallOptions {
    let mut extensions = ExtensionOverrides::default();
    for extension in &source.extension_id {
        match extension.name {
            ExtensionName::TransportSequence => extensions.transport_sequence = Some(extension.id),
            ExtensionName::AbsSendTime => extensions.abs_send_time = Some(extension.id),
        }
    }
    CallOptions {
        direction: match source.direction {
            None => EndSelection::Larger,
            Some(CallDirection::Sent) => EndSelection::Sent,
            Some(CallDirection::Received) => EndSelection::Received,
        },
        ssrc: source.ssrc,
        extensions,
        feedback_interval: source.feedback_interval,
    }
}
