//! Tasks: single runs with their key in a store.

#[cfg(test)]
mod tests;

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Arc, LazyLock};
use std::{env, fs, io};

use weir_media::MediaConfig;
use weir_net::Time;
use weir_world::Traffic;

use super::capture::Capture;
use super::error::RunError;
use super::fingerprint::fingerprint;
use super::session::{Ran, RunSession};
use super::store::Store;
use super::world::RunWorld;
use weir_import::traces::TraceStore;
use weir_measure::metrics::{BlockStorage, MeasurePlan, NetworkObserver, Recorder};
use weir_scenario::compile::{Run, RunOptions};
use weir_scenario::registry::{ControllerEdition, Registry, with_references};
use weir_scenario::scenario::{FlowTraffic, Scenario};

/// A run to be made.
#[derive(Clone, Debug)]
pub struct Task<'a> {
    /// Name of the run.
    pub name: String,
    /// Further dependency of the result besides the run: how the run is folded, where tasks differ in that.
    pub folding: String,
    /// The scenario to run.
    pub scenario: &'a Scenario,
    /// Seed, controller and series of the run.
    pub options: RunOptions<'a>,
    /// How the run is measured, where that differs from the scenario.
    pub watched: Option<Watched>,
    /// The packets to capture during the run.
    pub capture: Option<Capture<'a>>,
    /// The world of the run; `None` is the simulator.
    pub world: Option<&'a dyn RunWorld>,
    /// Whether its media flows are recorded as calls.
    pub record: bool,
}

/// A changed measurement of a run.
#[derive(Clone, Copy, Debug)]
pub struct Watched {
    /// Changes the plan of the scenario; the time is [`Self::from`].
    pub plan: fn(&mut MeasurePlan, Time),
    /// The time from which the run matters for its subject.
    pub from: Time,
}

impl<'a> Task<'a> {
    /// A run that is measured as `scenario` says, without a capture.
    pub fn new(name: String, scenario: &'a Scenario, options: RunOptions<'a>) -> Self {
        let (folding, watched, capture, world, record) = (String::new(), None, None, None, false);
        Self { name, folding, scenario, options, watched, capture, world, record }
    }

    /// The result of `fold` on the run: taken from `store` if it is there, else made and stored.
    ///
    /// # Errors
    /// As for [`Self::run`], or the result cannot be stored.
    pub fn make<T>(
        &self,
        traces: &TraceStore,
        store: &impl Store<T>,
        fold: impl FnOnce(Ran) -> Result<T, RunError>,
    ) -> Result<T, RunError> {
        let run = self.planned(traces)?;
        let key = if store.keeps() { self.key(&run) } else { None };
        kept_or_made(key, store, || self.made(run, traces).and_then(fold))
    }

    /// The key of its result in a store: its name, and a hash of everything that the result depends on. The hash covers the
    /// scenario with its overrides, the run options, the content of the traces, the measurement, and the folding. The sources of
    /// the build are covered, too. With a controller that does not ship, it covers its [edition](ControllerEdition). The key is
    /// `None` if packets are captured or another world runs it, which no store restores, or if an edition is unknown.
    pub(super) fn key(&self, run: &Run) -> Option<String> {
        if self.capture.is_some() || self.world.is_some_and(|world| !world.is_simulator()) {
            return None;
        }
        let own = self.own_controllers()?;
        let Run { spec, plan, .. } = run;
        let scenario = self.scenario.to_toml().unwrap_or_else(|_| format!("{:?}", self.scenario));
        let encoders = spec.flows.iter().filter_map(|flow| match &flow.traffic {
            Traffic::Media(media) => Some(&media.config),
            _ => None,
        });
        let encoders: Vec<&MediaConfig> = encoders.collect();
        let Self { name, folding, options, .. } = self;
        let places: Vec<_> = spec.flows.iter().map(|flow| &flow.coupled).collect();
        let world = (&spec.links, &spec.cells, &spec.couplings, places, encoders);
        Some(key(name, format_args!("{folding}\n{options:?}\n{scenario}\n{plan:?}\n{world:?}{own}")))
    }

    /// Editions of the controllers that take part and do not ship; empty where all ship, `None` where one has no edition.
    fn own_controllers(&self) -> Option<String> {
        let Self { scenario, options, .. } = self;
        let media = scenario.flows.iter().filter_map(|(_, flow)| match &flow.carried {
            FlowTraffic::Media(media) => {
                let other = options.controller.filter(|_| !media.competitor);
                Some(scenario.controller_of(other.unwrap_or(&media.controller)))
            }
            _ => None,
        });
        let shipped = with_references(Registry::standard());
        let mut own: Vec<&str> =
            media.into_iter().filter(|controller| shipped.find(controller).is_err()).collect();
        own.sort_unstable();
        own.dedup();
        let mut editions = String::new();
        for controller in own {
            let edition = match scenario.registry.edition(controller) {
                ControllerEdition::Executable => format!("{:016x}", command()?),
                ControllerEdition::Version(version) => format!("{controller} {version}"),
                ControllerEdition::Unknown => return None,
            };
            editions.push('\n');
            editions.push_str(&edition);
        }
        Some(editions)
    }

    pub(super) fn planned(&self, traces: &TraceStore) -> Result<Run, RunError> {
        let mut run = self.scenario.build(&self.options, traces)?;
        run.plan.record = self.record;
        if let Some(Watched { plan, from }) = self.watched {
            plan(&mut run.plan, from);
        }
        Ok(run)
    }

    /// Makes the run.
    ///
    /// # Errors
    /// The scenario names something that does not exist, or the simulator refuses it; packets cannot be captured.
    pub fn run(&self, traces: &TraceStore) -> Result<Ran, RunError> {
        self.made(self.planned(traces)?, traces)
    }

    /// Begins the run, which then goes on in steps.
    ///
    /// # Errors
    /// As for [`Self::run`]. Another world than the simulator, or packets to capture: they have no steps.
    pub fn begin(&self, traces: &TraceStore) -> Result<RunSession, RunError> {
        if self.world.is_some() || self.capture.is_some() {
            let problem = "only the simulator makes a run in steps, without a capture of packets".into();
            return Err(RunError::World { run: self.name.clone(), problem });
        }
        let Run { spec, plan, traces, observer } = self.planned(traces)?;
        Ok(RunSession::new(spec, recorder(&plan, observer), plan, traces)?)
    }

    fn made(&self, run: Run, store: &TraceStore) -> Result<Ran, RunError> {
        let Run { spec, plan, traces, observer } = run;
        let before = recorder(&plan, observer);
        let mut counts = true;
        let after = match (self.world, self.capture) {
            (Some(world), _) => {
                let mut first = Some((spec, before));
                let run = world.run(&self.name, &mut || {
                    if let Some(first) = first.take() {
                        return Ok(first);
                    }
                    let Run { spec, plan, observer, .. } = self.planned(store)?;
                    Ok((spec, recorder(&plan, observer)))
                })?;
                counts = run.counts;
                run.recorder
            }
            (None, Some(capture)) => capture.simulate(spec, before)?,
            (None, None) => return Ok(RunSession::new(spec, before, plan, traces)?.finish()),
        };
        Ok(Ran { plan, measured: after.finish(), counts, traces })
    }
}

fn recorder(plan: &MeasurePlan, observer: Option<Arc<NetworkObserver>>) -> Recorder {
    Recorder::with_storage(plan.clone(), temporary_file).beside(observer)
}

/// A file without a name in the directory for temporary files (`TMPDIR`): a recording of hours does not stay in memory.
fn temporary_file() -> io::Result<Box<dyn BlockStorage>> {
    Ok(Box::new(tempfile::tempfile()?))
}

/// A hash of the running executable, which contains the user's own controllers.
fn command() -> Option<u64> {
    static COMMAND: LazyLock<Option<u64>> = LazyLock::new(|| {
        let mut hasher = DefaultHasher::new();
        fs::read(env::current_exe().ok()?).ok()?.hash(&mut hasher);
        Some(hasher.finish())
    });
    *COMMAND
}

/// The version of this crate, and a hash of the sources that it and the crates below it were built from.
pub const BUILT_FROM: [&str; 2] = [env!("CARGO_PKG_VERSION"), env!("WEIR_SOURCES")];

/// The key of a result: a name and a hash. The hash covers the dependencies of the result, the version of this crate, and the
/// sources of it and the crates below it.
pub fn key(name: &str, depends_on: std::fmt::Arguments<'_>) -> String {
    let [version, sources] = BUILT_FROM;
    format!("{name}/{:016x}", fingerprint(format_args!("{version}\n{sources}\n{depends_on}")))
}

/// The stored result under `key`, or else the result of `make`, which is then stored; without a key no result is stored.
///
/// # Errors
/// Errors of `make`, or the result cannot be stored.
pub fn kept_or_made<T>(
    key: Option<String>,
    store: &impl Store<T>,
    make: impl FnOnce() -> Result<T, RunError>,
) -> Result<T, RunError> {
    let Some(key) = key else { return make() };
    if let Some(kept) = store.get(&key) {
        return Ok(kept);
    }
    let made = make()?;
    store.put(&key, &made)?;
    Ok(made)
}
