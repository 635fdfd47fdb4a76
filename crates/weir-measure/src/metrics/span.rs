//! Half-open spans of time: a single one, and several in order.

use weir_net::Time;

/// The time from `from`, included, to `to`, excluded; empty unless `from < to`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ActiveSpan {
    pub(super) from: Time,
    pub(super) to: Time,
}

impl ActiveSpan {
    pub(super) fn new(from: Time, to: Time) -> Self {
        Self { from, to }
    }

    #[inline]
    pub(super) fn contains(self, time: Time) -> bool {
        self.from <= time && time < self.to
    }

    pub(super) fn intersect(self, other: Self) -> Self {
        Self { from: self.from.max(other.from), to: self.to.min(other.to) }
    }

    /// Its length in nanoseconds, zero if empty.
    pub(super) fn nanos(self) -> u64 {
        self.to.nanos().saturating_sub(self.from.nanos())
    }

    /// Its length in seconds, or `None` if empty.
    pub(super) fn seconds(self) -> Option<f64> {
        (self.from < self.to).then(|| self.nanos() as f64 / 1e9)
    }
}

/// Spans of time in order and apart from each other, none of them empty: the times in which a flow could
/// send, and windows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Stretches(Vec<ActiveSpan>);

impl Stretches {
    /// The spans that are not empty.
    pub(super) fn of(spans: impl IntoIterator<Item = ActiveSpan>) -> Self {
        Self(spans.into_iter().filter(|span| span.from < span.to).collect())
    }

    /// The span `whole` without the pauses, which may be in any order.
    pub(super) fn new(whole: ActiveSpan, pauses: &[(Time, Time)]) -> Self {
        let mut pauses = pauses.to_vec();
        pauses.sort_unstable();
        let mut spans = Vec::new();
        let mut from = whole.from;
        for (pause, resume) in pauses.into_iter().filter(|(pause, resume)| pause < resume) {
            spans.push(ActiveSpan::new(from, pause.min(whole.to)));
            from = from.max(resume);
        }
        spans.push(ActiveSpan::new(from, whole.to));
        Self::of(spans)
    }

    /// The time that is in both.
    pub(super) fn within(&self, other: &Self) -> Self {
        let common = |&own: &ActiveSpan| other.0.iter().map(move |&other| own.intersect(other));
        Self::of(self.0.iter().flat_map(common))
    }

    pub(super) fn spans(&self) -> &[ActiveSpan] {
        &self.0
    }

    /// Times at which a span begins or ends.
    pub(super) fn changes(&self) -> impl Iterator<Item = Time> + '_ {
        self.0.iter().flat_map(|span| [span.from, span.to])
    }

    #[inline]
    pub(super) fn contains(&self, time: Time) -> bool {
        self.0.iter().any(|span| span.contains(time))
    }

    /// Whether all of `span` is included.
    pub(super) fn covers(&self, span: ActiveSpan) -> bool {
        self.0.iter().any(|own| own.intersect(span) == span)
    }

    /// The time of `span` that is included, in ns.
    pub(super) fn nanos_in(&self, span: ActiveSpan) -> u64 {
        self.0.iter().map(|own| own.intersect(span).nanos()).sum()
    }

    /// Total length in seconds, or `None` if it is zero.
    pub(super) fn seconds(&self) -> Option<f64> {
        let nanos: u64 = self.0.iter().map(|span| span.nanos()).sum();
        (nanos > 0).then(|| nanos as f64 / 1e9)
    }

    /// Beginning of the first span; [`Time::ZERO`] without one.
    pub(super) fn start(&self) -> Time {
        self.0.first().map_or(Time::ZERO, |span| span.from)
    }

    /// End of the last span; [`Time::ZERO`] without one.
    pub(super) fn end(&self) -> Time {
        self.0.last().map_or(Time::ZERO, |span| span.to)
    }
}

/// Cuts `span` at the given times.
pub(super) fn pieces(span: ActiveSpan, cuts: impl Iterator<Item = Time>) -> impl Iterator<Item = ActiveSpan> {
    let mut edges: Vec<Time> = cuts.filter(|&cut| span.contains(cut)).collect();
    if span.from < span.to {
        edges.extend([span.from, span.to]);
    }
    edges.sort_unstable();
    edges.dedup();
    let ends: Vec<Time> = edges.iter().skip(1).copied().collect();
    edges.into_iter().zip(ends).map(|(from, to)| ActiveSpan::new(from, to))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_cut_the_activity_into_pieces() {
        let t = Time::from_millis;
        let whole = ActiveSpan::new(t(10), t(100));
        let active = Stretches::new(whole, &[(t(60), t(80)), (t(0), t(20)), (t(70), t(90)), (t(95), t(200))]);
        assert_eq!(active.spans(), [ActiveSpan::new(t(20), t(60)), ActiveSpan::new(t(90), t(95))]);
        assert_eq!(active.seconds(), Some(0.045));
        assert_eq!(active.end(), t(95));
        assert!(active.contains(t(20)) && !active.contains(t(60)) && active.contains(t(94)));
        assert!(
            active.covers(ActiveSpan::new(t(30), t(60))) && !active.covers(ActiveSpan::new(t(50), t(92)))
        );
        assert_eq!(active.nanos_in(ActiveSpan::new(t(50), t(92))), 12_000_000);
        assert_eq!(
            active.within(&Stretches::of([ActiveSpan::new(t(0), t(30))])).spans(),
            [ActiveSpan::new(t(20), t(30))]
        );
        let two = Stretches::of([
            ActiveSpan::new(t(0), t(25)),
            ActiveSpan::new(t(30), t(30)),
            ActiveSpan::new(t(50), t(92)),
        ]);
        let common = [(20, 25), (50, 60), (90, 92)].map(|(from, to)| ActiveSpan::new(t(from), t(to)));
        assert_eq!(active.within(&two).spans(), common);
        let none = Stretches::new(ActiveSpan::new(t(5), t(5)), &[]);
        assert_eq!((none.seconds(), none.start()), (None, Time::ZERO));
        let empty_first = Stretches::of([ActiveSpan::new(t(3), t(3)), ActiveSpan::new(t(30), t(40))]);
        assert_eq!((empty_first.start(), empty_first.end()), (t(30), t(40)));
    }

    #[test]
    fn a_span_is_cut_where_something_changes() {
        let t = Time::from_millis;
        let cuts = [t(5), t(0), t(20), t(5), t(10), t(1)];
        let found: Vec<_> = pieces(ActiveSpan::new(t(1), t(10)), cuts.into_iter()).collect();
        assert_eq!(found, [ActiveSpan::new(t(1), t(5)), ActiveSpan::new(t(5), t(10))]);
        assert_eq!(pieces(ActiveSpan::new(t(10), t(1)), cuts.into_iter()).count(), 0);
    }
}
