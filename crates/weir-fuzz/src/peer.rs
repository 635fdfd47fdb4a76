//! Sessions between two machines: datagrams of anybody, packets of a peer that lies, terms, and requests for metrics.

mod callers;
mod end;
mod keyed;
mod offers;
mod sessions;

use weir_peer::key_file;
use weir_peer::metrics::request_line;
use weir_peer::offer::{OfferedFlow, SessionTerms};
use weir_registry::Registry;

pub(crate) use callers::callers;
pub(crate) use keyed::keyed;
pub(crate) use sessions::sessions;

/// Terms that were read are written and read again, and a receiver half is made of them or refused.
pub(crate) fn terms(data: &[u8]) {
    let registry = Registry::standard();
    if let Some(terms) = SessionTerms::parse(data) {
        let mut written = Vec::new();
        terms.write(&mut written);
        assert_eq!(SessionTerms::parse(&written).as_ref(), Some(&terms));
        let within = terms.ceilings.within(&terms.flows);
        for (flow, within) in terms.flows.iter().zip(within) {
            if let (Some(within), OfferedFlow::Media(media)) = (within, flow) {
                assert!(within.min() == media.limits.min() && within.max() <= media.limits.max());
            }
            // A refusal is a sentence.
            let _refused = flow.receiver(&registry);
        }
    }
}

/// Requests for metrics, and files of keys.
pub(crate) fn requests(data: &[u8]) {
    if let Some((method, path)) = request_line(data) {
        assert!(!method.contains(' ') && !path.contains(' '));
    }
    if let Ok(text) = core::str::from_utf8(data)
        && let Ok(keys) = key_file::parse(text)
    {
        assert!(!keys.is_open());
    }
}
