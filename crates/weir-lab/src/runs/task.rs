//! One run.

#[cfg(test)]
mod tests;

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::LazyLock;
use std::{env, fs, io};

use weir_media::MediaConfig;
use weir_net::Time;
use weir_world::Traffic;

use super::capture::Capture;
use super::error::RunError;
use super::fingerprint::fingerprint;
use super::store::Store;
use crate::compile::{Run, RunOptions, TraceUse};
use crate::registry::{Registry, with_references};
use crate::scenario::{Carried, Scenario};
use crate::traces::TraceStore;
use weir_measure::metrics::{BlockStorage, MeasurePlan, Measured, Recorder};

/// A run to be made.
#[derive(Clone, Debug)]
pub struct Task<'a> {
    /// Which run it is.
    pub name: String,
    /// What its result depends on besides the run: what is made of it, where that is not the same for all tasks.
    pub folding: String,
    /// What is run.
    pub scenario: &'a Scenario,
    /// Which of its runs.
    pub options: RunOptions<'a>,
    /// How the run is watched, where that is to be other than the scenario says.
    pub watched: Option<Watched>,
    /// Which packets are captured on the way.
    pub capture: Option<Capture<'a>>,
}

/// How a run is watched.
#[derive(Clone, Copy, Debug)]
pub struct Watched {
    /// Changes the plan of the scenario; the time is [`Self::from`].
    pub plan: fn(&mut MeasurePlan, Time),
    /// The time from which on the run is about its subject.
    pub from: Time,
}

/// A run that was made.
#[derive(Debug)]
pub struct Ran {
    /// What was to be measured.
    pub plan: MeasurePlan,
    /// What was measured.
    pub measured: Measured,
    /// The traces in use.
    pub traces: Vec<TraceUse>,
}

impl<'a> Task<'a> {
    /// A run that is watched as `scenario` says and of which no packets are captured.
    pub fn new(name: String, scenario: &'a Scenario, options: RunOptions<'a>) -> Self {
        Self { name, folding: String::new(), scenario, options, watched: None, capture: None }
    }

    /// What `fold` makes of the run: out of `store` if it is there, else made, and put there.
    ///
    /// # Errors
    /// As for [`Self::run`], and what is made cannot be kept.
    pub fn make<T>(
        &self,
        traces: &TraceStore,
        store: &impl Store<T>,
        fold: impl FnOnce(Ran) -> Result<T, RunError>,
    ) -> Result<T, RunError> {
        let run = self.planned(traces)?;
        let key = if store.keeps() { self.key(&run) } else { None };
        kept_or_made(key, store, || self.simulated(run).and_then(fold))
    }

    /// What a store keeps its result under: its name, and a hash of everything that the result depends on. That is the
    /// scenario with whatever was set, which run of it, the traces as they were read, what is measured, what is made of it,
    /// and what the command was built from: with a law that does not ship, the command itself. `None` if packets are captured,
    /// which no store brings back, or that command cannot be read.
    pub(super) fn key(&self, run: &Run) -> Option<String> {
        if self.capture.is_some() {
            return None;
        }
        let command = if self.has_own_law() { Some(command()?) } else { None };
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
        let own = command.map_or_else(String::new, |command| format!("\n{command:016x}"));
        Some(key(name, format_args!("{folding}\n{options:?}\n{scenario}\n{plan:?}\n{world:?}{own}")))
    }

    /// Whether a law takes part that does not ship.
    fn has_own_law(&self) -> bool {
        let Self { scenario, options, .. } = self;
        let media = scenario.flows.iter().filter_map(|(_, flow)| match &flow.carried {
            Carried::Media(media) => {
                let other = options.controller.filter(|_| !media.competitor);
                Some(scenario.controller_of(other.unwrap_or(&media.controller)))
            }
            _ => None,
        });
        let shipped = with_references(Registry::standard());
        media.into_iter().any(|law| shipped.find(law).is_err())
    }

    pub(super) fn planned(&self, traces: &TraceStore) -> Result<Run, RunError> {
        let mut run = self.scenario.build(&self.options, traces)?;
        if let Some(Watched { plan, from }) = self.watched {
            plan(&mut run.plan, from);
        }
        Ok(run)
    }

    /// Makes the run.
    ///
    /// # Errors
    /// The scenario names something that is not there, or makes no sense to the simulator; packets cannot be captured.
    pub fn run(&self, traces: &TraceStore) -> Result<Ran, RunError> {
        self.simulated(self.planned(traces)?)
    }

    fn simulated(&self, run: Run) -> Result<Ran, RunError> {
        let Run { spec, plan, traces, witness } = run;
        let recorder = Recorder::with_storage(plan.clone(), temporary_file).beside(witness);
        let recorder = match self.capture {
            Some(capture) => capture.simulate(spec, recorder)?,
            None => weir_measure::simulate(spec, recorder)?,
        };
        Ok(Ran { plan, measured: recorder.finish(), traces })
    }
}

/// A file without a name in the directory for temporary files (`TMPDIR`): a recording of hours does not stay in memory.
fn temporary_file() -> io::Result<Box<dyn BlockStorage>> {
    Ok(Box::new(tempfile::tempfile()?))
}

/// A hash of the command that runs, which has the laws of its own in it.
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

/// The key of a result: a name, and a hash of what it depends on, of the version of this crate and of the sources that it and
/// the crates below it were built from.
pub fn key(name: &str, depends_on: std::fmt::Arguments<'_>) -> String {
    let [version, sources] = BUILT_FROM;
    format!("{name}/{:016x}", fingerprint(format_args!("{version}\n{sources}\n{depends_on}")))
}

/// What is kept under `key`, else what `make` makes, which is kept; without a key nothing is.
///
/// # Errors
/// Those of `make`, and what is made cannot be kept.
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
