//! Values that take effect at given times.

/// Values that take effect one after the other.
#[derive(Clone, Debug)]
pub(crate) struct Schedule<T> {
    /// Times in ns and values; the next one is last.
    coming: Vec<(u64, T)>,
}

impl<T: Copy> Schedule<T> {
    /// Values with their times in ns, in order of time, or `None` if there is no value.
    pub(crate) fn new(values: impl DoubleEndedIterator<Item = (u64, T)>) -> Option<Self> {
        let coming: Vec<_> = values.rev().collect();
        (!coming.is_empty()).then_some(Self { coming })
    }

    /// The value that has newly taken effect by `now` ns, if any.
    #[inline]
    pub(crate) fn due(&mut self, now: u64) -> Option<T> {
        let mut newest = None;
        while let Some(&(_, value)) = self.coming.last().filter(|&&(at, _)| at <= now) {
            self.coming.pop();
            newest = Some(value);
        }
        newest
    }

    /// Replaces all values from `at` ns on by one.
    pub(crate) fn replace_from(&mut self, at: u64, value: T) {
        self.coming.retain(|&(own, _)| own < at);
        self.coming.insert(0, (at, value));
    }
}
