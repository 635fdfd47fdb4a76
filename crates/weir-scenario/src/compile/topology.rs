//! From links, dumbbells and routes to lists of link numbers.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use weir_world::stream;

use super::copies::{FlowCopy, copies, numbered};
use crate::scenario::{Dumbbell, Flow, FlowTraffic, LinkModel, Queue, Scenario};
use weir_form::{KeyPath, Problem, advice, list};

/// The network of a scenario, every shorthand expanded.
#[derive(Debug, Default)]
pub(crate) struct Network<'s> {
    pub(crate) links: Vec<PlannedLink>,
    pub(crate) flows: Vec<PlannedFlow<'s>>,
}

/// A link of the network.
#[derive(Clone, Debug)]
pub(crate) struct PlannedLink {
    pub(crate) name: String,
    pub from: String,
    pub to: String,
    pub(crate) model: LinkModel,
    /// Its path in the scenario.
    pub path: KeyPath,
}

/// A flow, or a copy of one.
#[derive(Clone, Debug)]
pub(crate) struct PlannedFlow<'s> {
    pub(crate) copy: FlowCopy,
    pub(crate) flow: &'s Flow,
    /// Its path in the scenario.
    pub path: KeyPath,
    /// Numbers of the links on its path.
    pub(crate) forward: Vec<usize>,
    /// Numbers of the links on its return path; empty for flows without feedback.
    pub(crate) reverse: Vec<usize>,
}

impl PlannedFlow<'_> {
    /// The name of its five-tuple, which its path is hashed from; flows of one five-tuple go together.
    pub(crate) fn five_tuple(&self) -> &str {
        self.flow.five_tuple(&self.copy)
    }
}

/// The two ends of a dumbbell.
pub(super) const LEFT: &str = "left";
pub(super) const RIGHT: &str = "right";

/// The network of `scenario` in the run of this `seed`.
pub(crate) fn network(scenario: &Scenario, seed: u64) -> Result<Network<'_>, Problem> {
    match &scenario.dumbbell {
        Some(dumbbell) => DumbbellBuilder::new(dumbbell).build(scenario),
        None => directed(scenario, seed),
    }
}

impl Flow {
    /// Whether it needs a return path.
    fn has_feedback(&self) -> bool {
        !matches!(self.carried, FlowTraffic::Constant(_) | FlowTraffic::Audio(_))
    }

    /// The five-tuple of one of its copies.
    fn five_tuple<'a>(&'a self, copy: &'a FlowCopy) -> &'a str {
        self.five_tuple.as_deref().or(self.call()).unwrap_or(&copy.name)
    }
}

fn directed(scenario: &Scenario, seed: u64) -> Result<Network<'_>, Problem> {
    let links = planned_links(scenario)?;
    let salt = scenario.multipath.map(|multipath| multipath.salt.unwrap_or(seed));
    let mut flows = Vec::new();
    for (name, flow) in scenario.flows.iter() {
        let path = KeyPath::of(&["flows", name]);
        if flow.access_delay.is_some() {
            let path = path.with("access_delay");
            return Err(Problem::key(&path, format!("`{path}` has no meaning outside a dumbbell"))
                .help("leave it out, or give the flow links of its own"));
        }
        for copy in copies(name, flow, scenario.duration) {
            let (mut forward, mut reverse) = routes(&links, flow, copy.number, &path)?;
            if let (Some(salt), Some(from), Some(to)) = (salt, &flow.from, &flow.to) {
                let (from, to) = (numbered(from, copy.number), numbered(to, copy.number));
                let hashed = |ends| hashed(&links, ends, flow.five_tuple(&copy), salt);
                if flow.route.is_none() {
                    forward = hashed((&from, &to)).unwrap_or(forward);
                }
                if flow.reverse_route.is_none() && flow.has_feedback() {
                    reverse = hashed((&to, &from)).unwrap_or(reverse);
                }
            }
            flows.push(PlannedFlow { copy, flow, path: path.clone(), forward, reverse });
        }
    }
    Ok(Network { links, flows })
}

/// The links of `[links]`: the copies of each, and both directions of duplex links.
fn planned_links(scenario: &Scenario) -> Result<Vec<PlannedLink>, Problem> {
    let (mut links, mut names) = (Vec::new(), BTreeSet::new());
    for (name, link) in scenario.links.iter() {
        let path = KeyPath::of(&["links", name]);
        let numbers: Vec<Option<i64>> = match link.count {
            None => vec![None],
            Some(count) => (1..=i64::from(count)).map(Some).collect(),
        };
        for number in numbers {
            let own = number.map_or_else(|| name.to_owned(), |number| format!("{name}-{number}"));
            let back = link.duplex.then(|| (format!("{own}-back"), &link.to, &link.from));
            for (name, from, to) in [(own, &link.from, &link.to)].into_iter().chain(back) {
                if !names.insert(name.clone()) {
                    return Err(Problem::key(&path, format!("there are two links `{name}`")).help(
                        "a copy takes the link's name and its number, a way back the name and `-back`; \
                         give one of the two another name",
                    ));
                }
                links.push(PlannedLink {
                    name,
                    from: numbered(from, number).into_owned(),
                    to: numbered(to, number).into_owned(),
                    model: link.model.clone(),
                    path: path.clone(),
                });
            }
        }
    }
    Ok(links)
}

/// The forward and the return path of the copy `number` of a flow.
fn routes(
    links: &[PlannedLink],
    flow: &Flow,
    number: Option<i64>,
    path: &KeyPath,
) -> Result<(Vec<usize>, Vec<usize>), Problem> {
    let own = |text: &String| numbered(text, number).into_owned();
    let from = end(links, flow.from.as_ref().map(own), &path.with("from"))?;
    let to = end(links, flow.to.as_ref().map(own), &path.with("to"))?;
    if from == to {
        return Err(Problem::value(&path.with("to"), format!("`{path}` ends where it begins, at `{from}`"))
            .help("let `from` and `to` be different nodes"));
    }
    let given = |route: &Option<Vec<String>>| route.as_ref().map(|names| names.iter().map(own).collect());
    let forward = route(links, (&from, &to), given(&flow.route), &path.with("route"))?;
    if !flow.has_feedback() {
        return Ok((forward, Vec::new()));
    }
    let back = given(&flow.reverse_route);
    let reverse = route(links, (&to, &from), back, &path.with("reverse_route"))?;
    Ok((forward, reverse))
}

/// A node that a flow begins or ends at.
fn end(links: &[PlannedLink], node: Option<String>, path: &KeyPath) -> Result<String, Problem> {
    let mut nodes: Vec<&str> = links.iter().flat_map(|link| [link.from.as_str(), link.to.as_str()]).collect();
    nodes.sort_unstable();
    nodes.dedup();
    match node {
        Some(node) if nodes.contains(&node.as_str()) => Ok(node),
        Some(node) => {
            Err(Problem::value(path, format!("no link touches the node `{node}`")).help(advice(&node, nodes)))
        }
        None => Err(Problem::value(path, format!("`{path}` is missing")).help(format!(
            "add `{}`; the links have the nodes {}",
            path.last(),
            list(&nodes)
        ))),
    }
}

/// The path from `from` to `to`: the links `given`, else the fewest.
fn route(
    links: &[PlannedLink],
    (from, to): (&str, &str),
    given: Option<Vec<String>>,
    path: &KeyPath,
) -> Result<Vec<usize>, Problem> {
    match given {
        Some(names) => given_route(links, (from, to), &names, path),
        None => shortest(links, from, to).ok_or_else(|| {
            Problem::value(path, format!("there is no way from `{from}` to `{to}`"))
                .help(format!("add a link from `{from}` towards `{to}`"))
        }),
    }
}

fn given_route(
    links: &[PlannedLink],
    (from, to): (&str, &str),
    names: &[String],
    path: &KeyPath,
) -> Result<Vec<usize>, Problem> {
    let mut here = from;
    let mut route = Vec::with_capacity(names.len());
    for (i, name) in names.iter().enumerate() {
        let at = path.item(i);
        let number = links.iter().position(|link| link.name == *name).ok_or_else(|| {
            let known = links.iter().map(|link| link.name.as_str());
            Problem::value(&at, format!("there is no link `{name}`")).help(advice(name, known))
        })?;
        if links[number].from != here {
            let starts = &links[number].from;
            return Err(Problem::value(
                &at,
                format!("the link `{name}` begins at `{starts}`, not at `{here}`"),
            )
            .help("name the links in the order in which packets pass them"));
        }
        here = &links[number].to;
        route.push(number);
    }
    if here == to && !route.is_empty() {
        return Ok(route);
    }
    Err(Problem::value(path, format!("the route ends at `{here}`, not at `{to}`"))
        .help("name every link of the way, the last one included"))
}

/// Breadth-first search; of several shortest paths the one whose links come first in the file.
fn shortest(links: &[PlannedLink], from: &str, to: &str) -> Option<Vec<usize>> {
    let mut came_by: BTreeMap<&str, usize> = BTreeMap::new();
    let mut queue = VecDeque::from([from]);
    while let Some(node) = queue.pop_front().filter(|_| !came_by.contains_key(to)) {
        for (number, link) in links.iter().enumerate().filter(|(_, link)| link.from == node) {
            if link.to != from && !came_by.contains_key(link.to.as_str()) {
                came_by.insert(&link.to, number);
                queue.push_back(&link.to);
            }
        }
    }
    let mut route = Vec::new();
    let mut here = to;
    while here != from {
        let number = *came_by.get(here)?;
        route.push(number);
        here = &links[number].from;
    }
    route.reverse();
    Some(route)
}

/// The shortest path from `from` to `to` that `five_tuple` takes under `salt`.
fn hashed(
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

/// Number of links between each node and `to`.
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

/// The links of the forward and of the return path.
type Ways = (Vec<usize>, Vec<usize>);

/// Expands a dumbbell. The shared links exist if a flow uses them. Each flow has links of its own at both ends, and the flows of
/// a call have those of its first.
struct DumbbellBuilder<'d> {
    dumbbell: &'d Dumbbell,
    links: Vec<PlannedLink>,
    bottleneck: Option<usize>,
    reverse: Option<usize>,
}

impl<'d> DumbbellBuilder<'d> {
    fn new(dumbbell: &'d Dumbbell) -> Self {
        Self { dumbbell, links: Vec::new(), bottleneck: None, reverse: None }
    }

    fn build(mut self, scenario: &Scenario) -> Result<Network<'_>, Problem> {
        let mut flows = Vec::new();
        let mut calls: BTreeMap<&str, Ways> = BTreeMap::new();
        for (name, flow) in scenario.flows.iter() {
            let path = KeyPath::of(&["flows", name]);
            let rightwards = direction(flow, &path)?;
            for copy in copies(name, flow, scenario.duration) {
                let (forward, reverse) = match flow.call() {
                    None => self.ways(&copy.name, flow, rightwards),
                    Some(call) => {
                        calls.entry(call).or_insert_with(|| self.ways(&copy.name, flow, rightwards)).clone()
                    }
                };
                flows.push(PlannedFlow { copy, flow, path: path.clone(), forward, reverse });
            }
        }
        Ok(Network { links: self.links, flows })
    }

    /// The forward and the return path of a flow, over access links of its own, which take the name `host`.
    fn ways(&mut self, host: &str, flow: &Flow, rightwards: bool) -> Ways {
        let forward = self.way(host, "", rightwards);
        let reverse = if flow.has_feedback() { self.way(host, "back-", !rightwards) } else { Vec::new() };
        if let Some(delay) = flow.access_delay {
            // The link at the sender, first on the forward path and last on the return path.
            for &number in forward.first().into_iter().chain(reverse.last()) {
                self.links[number].model.delay = delay;
            }
        }
        (forward, reverse)
    }

    /// Access, shared link and exit of the flow at `host`; `prefix` distinguishes the return path from the forward path.
    fn way(&mut self, host: &str, prefix: &str, rightwards: bool) -> Vec<usize> {
        let (near, far) = if rightwards { (LEFT, RIGHT) } else { (RIGHT, LEFT) };
        let access = self.dumbbell.access.clone();
        let exit = self.dumbbell.exit.clone().unwrap_or_else(|| access.clone());
        let exit_key = if self.dumbbell.exit.is_some() { "exit" } else { "access" };
        let (sender, receiver) = (format!("{host}-{prefix}sender"), format!("{host}-{prefix}receiver"));
        let first = self.add(&format!("{prefix}access-{host}"), (&sender, near), access, "access");
        let middle = if rightwards { self.shared_bottleneck() } else { self.shared_reverse() };
        let last = self.add(&format!("{prefix}exit-{host}"), (far, &receiver), exit, exit_key);
        vec![first, middle, last]
    }

    fn shared_bottleneck(&mut self) -> usize {
        self.bottleneck.unwrap_or_else(|| {
            let model = self.dumbbell.bottleneck.clone();
            let number = self.add("bottleneck", (LEFT, RIGHT), model, "bottleneck");
            self.bottleneck = Some(number);
            number
        })
    }

    fn shared_reverse(&mut self) -> usize {
        self.reverse.unwrap_or_else(|| {
            let (model, key) = match &self.dumbbell.reverse {
                Some(model) => (model.clone(), "reverse"),
                None => (self.default_reverse(), "access"),
            };
            let number = self.add("reverse", (RIGHT, LEFT), model, key);
            self.reverse = Some(number);
            number
        })
    }

    fn default_reverse(&self) -> LinkModel {
        let delay = self.dumbbell.bottleneck.delay;
        LinkModel { delay, queue: Queue::UNLIMITED, ..self.dumbbell.access.clone() }
    }

    fn add(&mut self, name: &str, (from, to): (&str, &str), model: LinkModel, key: &str) -> usize {
        let path = KeyPath::of(&["dumbbell", key]);
        self.links.push(PlannedLink {
            name: name.to_owned(),
            from: from.to_owned(),
            to: to.to_owned(),
            model,
            path,
        });
        self.links.len() - 1
    }
}

/// Whether a flow of a dumbbell goes from left to right.
fn direction(flow: &Flow, path: &KeyPath) -> Result<bool, Problem> {
    for (key, given) in [("route", &flow.route), ("reverse_route", &flow.reverse_route)] {
        if given.is_some() {
            let path = path.with(key);
            return Err(Problem::key(&path, format!("`{path}` has no meaning in a dumbbell"))
                .help("leave it out: there is one way only"));
        }
    }
    let side = |node: Option<&str>, key: &str, default| match node.unwrap_or(default) {
        LEFT => Ok(true),
        RIGHT => Ok(false),
        other => Err(Problem::value(&path.with(key), format!("a dumbbell has no node `{other}`"))
            .help(advice(other, [LEFT, RIGHT]))),
    };
    let from_left = side(flow.from.as_deref(), "from", LEFT)?;
    let to_left = side(flow.to.as_deref(), "to", if from_left { RIGHT } else { LEFT })?;
    if from_left == to_left {
        return Err(Problem::value(&path.with("to"), format!("`{path}` ends on the side where it begins"))
            .help("let `from` and `to` be different ends"));
    }
    Ok(from_left)
}
