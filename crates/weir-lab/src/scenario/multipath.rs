//! Equal-cost ways: at each node a flow takes one of the next links by a hash of its five-tuple.

use std::collections::{BTreeMap, VecDeque};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use weir_world::stream;

use super::topology::PlannedLink;

/// Nodes with several shortest ways to the same place spread the flows over them, each flow by a hash of its
/// five-tuple (ECMP). Flows with a `route` keep it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Multipath {
    /// What the hash is salted with; the run's seed unless given, so that runs differ.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub salt: Option<u64>,
}

/// The shortest way from `from` to `to` that `five_tuple` takes under `salt`.
pub(super) fn hashed(
    links: &[PlannedLink],
    (from, to): (&str, &str),
    five_tuple: &str,
    salt: u64,
) -> Option<Vec<usize>> {
    let hops = hops_to(links, to);
    let mut left = *hops.get(from)?;
    let mut here = from;
    let mut route = Vec::with_capacity(left);
    while left > 0 {
        let nearer =
            |link: &PlannedLink| link.from == here && hops.get(link.to.as_str()) == Some(&(left - 1));
        let choices: Vec<usize> = (0..links.len()).filter(|&number| nearer(&links[number])).collect();
        let hash = stream(salt, five_tuple, here);
        let number = *choices.get((hash % choices.len().max(1) as u64) as usize)?;
        route.push(number);
        here = &links[number].to;
        left -= 1;
    }
    Some(route)
}

/// How many links lie between each node and `to`.
fn hops_to<'a>(links: &'a [PlannedLink], to: &'a str) -> BTreeMap<&'a str, usize> {
    let mut hops = BTreeMap::from([(to, 0)]);
    let mut queue = VecDeque::from([to]);
    while let Some(node) = queue.pop_front() {
        let next = hops[node] + 1;
        for link in links.iter().filter(|link| link.to == node) {
            if !hops.contains_key(link.from.as_str()) {
                hops.insert(&link.from, next);
                queue.push_back(&link.from);
            }
        }
    }
    hops
}
