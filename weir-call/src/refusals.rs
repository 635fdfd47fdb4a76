//! Refusals of the page's server, and their counts.

/// Something that the server refuses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RequestRefusal {
    /// A request for another host.
    Host,
    /// A WebSocket of another page.
    Origin,
    /// A first message without the token of this call.
    Token,
    /// A page beside another one.
    SecondPage,
    /// A header above 8 kB.
    Header,
    /// A message above 64 kB, one that is no text, or a violation of the WebSocket protocol.
    Message,
    /// Any other request.
    Request,
    /// The oldest connection without the token when there are too many.
    Connections,
}

impl RequestRefusal {
    /// All refusals.
    pub(crate) const ALL: [Self; 8] = [
        Self::Host,
        Self::Origin,
        Self::Token,
        Self::SecondPage,
        Self::Header,
        Self::Message,
        Self::Request,
        Self::Connections,
    ];

    /// The status line of the answer.
    pub(crate) const fn status(self) -> &'static str {
        match self {
            Self::Host => "421 Misdirected Request",
            Self::Header => "431 Request Header Fields Too Large",
            Self::Request => "400 Bad Request",
            _ => "403 Forbidden",
        }
    }

    /// The sentence of the answer.
    pub(crate) const fn sentence(self) -> &'static str {
        match self {
            Self::Host => "This address is not that of the page.",
            Self::Origin => "Another page may not use this call.",
            Self::Token => {
                "The address lacks the token of this call: open the one that `weir call` has printed."
            }
            Self::SecondPage => "Another tab has this call: close it, and load this page again.",
            Self::Header => "The request's header is larger than 8 kB.",
            Self::Message => "A message must be text of at most 64 kB.",
            Self::Request => "There is one page here, at /.",
            Self::Connections => "There are too many connections.",
        }
    }

    /// The name in the list of counts.
    const fn name(self) -> &'static str {
        match self {
            Self::Host => "foreign hosts",
            Self::Origin => "foreign pages",
            Self::Token => "wrong tokens",
            Self::SecondPage => "second pages",
            Self::Header => "large headers",
            Self::Message => "wrong messages",
            Self::Request => "other requests",
            Self::Connections => "connections beyond the most",
        }
    }
}

/// How often each has happened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct RefusalCounts([u64; RequestRefusal::ALL.len()]);

impl RefusalCounts {
    /// Counts a refusal.
    pub(crate) fn count(&mut self, refusal: RequestRefusal) {
        self.0[refusal as usize] += 1;
    }

    /// All together.
    pub(crate) fn total(&self) -> u64 {
        self.0.iter().sum()
    }

    /// The counts as a part of a sentence; `None` if there are none.
    pub(crate) fn listed(&self) -> Option<String> {
        let counts = RequestRefusal::ALL.iter().zip(self.0).filter(|(_, count)| *count > 0);
        let parts: Vec<String> =
            counts.map(|(refusal, count)| format!("{count} {}", refusal.name())).collect();
        (!parts.is_empty()).then(|| parts.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_by_kind() {
        let mut counts = RefusalCounts::default();
        assert_eq!(counts.listed(), None);
        for refusal in RequestRefusal::ALL {
            counts.count(refusal);
        }
        counts.count(RequestRefusal::Host);
        assert_eq!(counts.total(), 9);
        assert!(counts.listed().unwrap().starts_with("2 foreign hosts, 1 foreign pages, 1 wrong tokens"));
    }
}
