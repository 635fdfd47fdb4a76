//! A value per flow, where flows are few and their numbers arbitrary.

/// Values by flow, found by bisection. Only a flow's first packet allocates.
#[derive(Clone, Debug)]
pub(crate) struct PerFlow<T> {
    /// Values in order of the flow's number.
    entries: Vec<(u32, T)>,
}

impl<T> Default for PerFlow<T> {
    fn default() -> Self {
        Self { entries: Vec::new() }
    }
}

impl<T> PerFlow<T> {
    /// The value of `flow`, that of `first` if it has none yet.
    pub(crate) fn entry(&mut self, flow: u32, first: impl FnOnce() -> T) -> &mut T {
        let index = match self.entries.binary_search_by_key(&flow, |&(number, _)| number) {
            Ok(index) => index,
            Err(index) => {
                self.entries.insert(index, (flow, first()));
                index
            }
        };
        &mut self.entries[index].1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_flow_has_its_value() {
        let mut counts = PerFlow::default();
        for flow in [9, 2, u32::MAX, 2, 9, 2] {
            *counts.entry(flow, || 0) += 1;
        }
        assert_eq!([2, 9, u32::MAX, 7].map(|flow| *counts.entry(flow, || 0)), [3, 2, 1, 0]);
    }
}
