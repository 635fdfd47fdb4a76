//! What each attack did to each law, beside what it may.

use rayon::prelude::*;
use serde::Serialize;
use weir_cc::{DataRate, SendTime, TimeDelta};
use weir_media::Alarm;

use super::attacks::{Attack, Role, What};
use super::forge::Forger;
use super::pair::Pair;
use super::path::{Call, Course, STEP};
use super::setting::Span;
use crate::registry::{Registry, RegistryError};

/// A call goes on so long after the attack.
const AFTERWARDS: TimeDelta = TimeDelta::from_secs(65);
/// Seconds in which a law must be back.
const LONGEST_RECOVERY: f64 = 60.0;
/// A blind attacker changes no rate by more.
const BLIND: f64 = 0.02;
/// A reader brings no law that knows the fate of each packet further above what it reaches without him.
const READER: f64 = 1.25;
/// A law may take so much longer to come back than from the same rate by itself.
const SLOWER: f64 = 1.25;
/// Of what a pair keeps uncoupled under the same attack it keeps so much coupled.
const COUPLED: f64 = 0.8;
/// It is back at this share of its rate without an attack.
const BACK: f64 = 0.9;
/// Seconds within which one forged packet has its effect, and a law may be back in any case.
const SINGLE: f64 = 5.0;
/// In the last seconds of an attack's time a call without it has climbed.
const SETTLED: f64 = 20.0;
/// One forged packet that is not in a form the law goes by leaves it so much of its rate.
const KEPT: f64 = 0.8;

/// Whether an attack stayed within what it may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Aim {
    /// It did.
    Met,
    /// It did not.
    Missed,
    /// Nothing is asked.
    None,
}

/// What an attack did to a law.
#[derive(Clone, Debug, Serialize)]
pub struct Outcome {
    /// The law.
    pub law: String,
    /// The attack.
    pub attack: &'static str,
    /// Who attacks.
    pub role: &'static str,
    /// kbit/s of media that left while it went on; of a coupled pair those of both flows.
    pub rate_kbps: f64,
    /// The same without the attack; of a pair under it and not coupled.
    pub honest_kbps: f64,
    /// The greatest rate over five seconds while it went on, over the greatest without it; of a coupled pair the share that it keeps of
    /// the uncoupled rate.
    pub peak_ratio: f64,
    /// Of one forged packet the least rate over two seconds, of those that begin within five seconds after it, over that of the same two
    /// seconds without it; `None` of an attack that goes on.
    pub least_ratio: Option<f64>,
    /// Seconds from its end until the law was back, of one forged packet from that packet; `None` if it was not within 60 s, or media had
    /// stopped.
    pub recovery_s: Option<f64>,
    /// Seconds that the law takes by itself from the rate that the attack left it at.
    pub own_recovery_s: f64,
    /// Reports, or parts of them, that were refused.
    pub refused: u64,
    /// What the embedder was told.
    pub alarms: Vec<String>,
    /// Whether the law goes by the fate of single packets.
    pub per_packet: bool,
    /// Whether circuit breakers were on: they are where they do not trip without an attack.
    pub breakers: bool,
    /// Whether the attack stayed within what it may do.
    pub aim: Aim,
    /// Why not.
    pub missed: Vec<String>,
}

/// Attacks and laws to run, on so many threads.
#[derive(Clone, Debug)]
pub struct AttackRequest<'a> {
    /// Where the laws stand.
    pub registry: &'a Registry,
    /// Their names.
    pub laws: Vec<&'a str>,
    /// The attacks.
    pub attacks: Vec<Attack>,
    /// When they begin, from the start of the call: 0 s to an hour.
    pub from: TimeDelta,
    /// Threads.
    pub jobs: usize,
}

/// Why attacks were not run.
#[derive(Debug, thiserror::Error)]
pub enum AttackError {
    /// A law that is not known.
    #[error(transparent)]
    Law(#[from] RegistryError),
    /// No threads.
    #[error("no threads: {0}")]
    Threads(#[from] rayon::ThreadPoolBuildError),
}

impl AttackRequest<'_> {
    /// How many outcomes there will be.
    pub fn len(&self) -> usize {
        self.laws.len() * self.attacks.len()
    }

    /// Whether there is nothing to run.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// What each attack does to each law, law by law. `done` is called after each, from any thread.
    ///
    /// # Errors
    /// [`AttackError`].
    pub fn run(&self, done: &(dyn Fn() + Sync)) -> Result<Vec<Outcome>, AttackError> {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(self.jobs).build()?;
        let (registry, span) = (self.registry, Span::beginning(self.from));
        let call = |law| Call { registry, law, afterwards: AFTERWARDS, span, breakers: true, narrowed: None };
        // Who trips a breaker without an attack is judged without them.
        let alone = |law| -> Result<(Call<'_>, Course), RegistryError> {
            let course = call(law).run(None)?;
            let trips = course.alarms.iter().any(|(_, alarm)| matches!(alarm, Alarm::Stopped(_)));
            let call = Call { breakers: !trips, ..call(law) };
            Ok((call, if trips { call.run(None)? } else { course }))
        };
        pool.install(|| {
            let honest: Vec<(Call<'_>, Course)> =
                self.laws.par_iter().map(|law| alone(law)).collect::<Result<_, _>>()?;
            let tasks = self.laws.iter().zip(&honest);
            let tasks: Vec<_> =
                tasks.flat_map(|task| self.attacks.iter().map(move |attack| (task, attack))).collect();
            let made = tasks.par_iter().map(|&((law, (call, honest)), attack)| {
                let outcome = outcome(call, law, attack, honest);
                done();
                outcome
            });
            Ok(made.collect::<Result<_, _>>()?)
        })
    }
}

fn outcome(call: &Call<'_>, law: &str, attack: &Attack, honest: &Course) -> Result<Outcome, RegistryError> {
    if matches!(attack.what, What::Slander) {
        return of_pair(call, law, attack);
    }
    let course = call.run(Some(Forger::new(*attack, call.span)))?;
    let (from, to) = call.span.seconds();
    let honest_kbps = Course::rate(&honest.sent, from, to);
    let rate_kbps = Course::rate(&course.sent, from, to);
    let peak_ratio = peak(&course.sent, call.span) / peak(&honest.sent, call.span);
    let level = BACK * Course::rate(&honest.arrived, from, to);
    let recovery_s = recovery(&course, to, level);
    // Its last reports are still answered when it is over.
    let left = (-2..=3).map(|s| Course::rate(&course.arrived, to + f64::from(s), to + f64::from(s + 2)));
    let left = left.fold(f64::INFINITY, f64::min);
    let single = (attack.every_ms == 0).then(|| Fall::after(from, &course, honest));
    let recovery_s = single.as_ref().map_or(recovery_s, |fall| fall.recovery_s);
    let left = single.as_ref().map_or(left, |fall| fall.left_kbps);
    let own_recovery_s = if left >= level || recovery_s == Some(0.0) {
        0.0
    } else {
        // Without an attack a path so narrow leaves the law there as well.
        let narrowed = Some(DataRate::from_bps_f64((left * 1.05e3).max(30e3)));
        // One packet is judged beside the call without it, which may have climbed by then.
        let level =
            if single.is_some() { BACK * Course::rate(&honest.arrived, to - SETTLED, to) } else { level };
        recovery(&Call { narrowed, ..*call }.run(None)?, to, level).unwrap_or(f64::INFINITY)
    };
    let mut missed = Vec::new();
    if course.outside {
        missed.push("a target outside the limits".to_owned());
    }
    let judges_recovery = matches!(attack.role, Role::Reader | Role::OnPath);
    match attack.role {
        Role::Blind if (rate_kbps / honest_kbps - 1.0).abs() > BLIND => {
            missed.push(format!("{:+.1} % of rate", 100.0 * (rate_kbps / honest_kbps - 1.0)));
        }
        Role::Reader | Role::OnPath if course.per_packet && peak_ratio > READER => {
            missed.push(format!("{peak_ratio:.2} times the rate"));
        }
        _ => {}
    }
    if judges_recovery {
        // A rate is measured over two seconds: so long it takes to be seen.
        let least = if single.is_some() { SINGLE } else { 2.0 };
        let most = (SLOWER * own_recovery_s).clamp(least, LONGEST_RECOVERY);
        match recovery_s {
            None => missed.push("not back within 60 s".to_owned()),
            Some(s) if s > most => missed.push(format!("back after {s:.1} s, by itself {own_recovery_s:.1}")),
            Some(_) => {}
        }
    }
    if let Some(fall) = &single
        && fall.least_ratio < KEPT
        && !course.own_form
    {
        missed.push(format!("down to {:.0} % by one packet", 100.0 * fall.least_ratio));
    }
    let aim = match attack.role {
        _ if !missed.is_empty() => Aim::Missed,
        Role::Receiver => Aim::None,
        _ => Aim::Met,
    };
    let alarm = |(at, alarm): &(SendTime, Alarm)| {
        let seconds = (*at - SendTime::ZERO).secs_f64();
        match alarm {
            Alarm::Stopped(why) => format!("stopped at {seconds:.1} s: {why}"),
            Alarm::ReceiverLies => format!("{seconds:.1} s: the receiver lies"),
            Alarm::ReportsContradict => format!("{seconds:.1} s: reports contradict each other"),
            _ => format!("{seconds:.1} s: reports agree"),
        }
    };
    Ok(Outcome {
        law: law.to_owned(),
        attack: attack.name,
        role: attack.role.name(),
        rate_kbps,
        honest_kbps,
        peak_ratio,
        least_ratio: single.map(|fall| fall.least_ratio),
        recovery_s,
        own_recovery_s,
        refused: course.refused,
        alarms: course.alarms.iter().map(alarm).collect(),
        per_packet: course.per_packet,
        breakers: call.breakers,
        aim,
        missed,
    })
}

/// What an attack on one flow does to a pair that is coupled, beside one that is not.
fn of_pair(call: &Call<'_>, law: &str, attack: &Attack) -> Result<Outcome, RegistryError> {
    let every = TimeDelta::from_millis(attack.every_ms);
    let pair = |coupled| Pair { registry: call.registry, law, coupled, every, span: call.span }.run();
    let (rate_kbps, honest_kbps) = (pair(true)?, pair(false)?);
    let share = rate_kbps / honest_kbps;
    let missed = if share < COUPLED {
        vec![format!("{:.0} % of what both keep uncoupled", 100.0 * share)]
    } else {
        vec![]
    };
    Ok(Outcome {
        law: law.to_owned(),
        attack: attack.name,
        role: attack.role.name(),
        rate_kbps,
        honest_kbps,
        peak_ratio: share,
        least_ratio: None,
        recovery_s: Some(0.0),
        own_recovery_s: 0.0,
        refused: 0,
        alarms: Vec::new(),
        per_packet: false,
        breakers: false,
        aim: if missed.is_empty() { Aim::Met } else { Aim::Missed },
        missed,
    })
}

/// The greatest rate over five seconds of the attack.
fn peak(bytes: &[u64], span: Span) -> f64 {
    let (from, to) = span.seconds();
    let starts = (from as u32)..(to as u32 - 4);
    starts.map(|s| Course::rate(bytes, f64::from(s), f64::from(s + 5))).fold(0.0, f64::max)
}

/// The fall of the rate after one forged packet.
struct Fall {
    /// The least rate over the same without it.
    least_ratio: f64,
    /// That rate in kbit/s.
    left_kbps: f64,
    /// Seconds from the packet until the rate was back where it would have been.
    recovery_s: Option<f64>,
}

impl Fall {
    /// A packet came at `from` seconds.
    fn after(from: f64, course: &Course, honest: &Course) -> Self {
        let rate =
            |course: &Course, after: f64| Course::rate(&course.arrived, from + after, from + after + 2.0);
        let ratio = |after: f64| rate(course, after) / rate(honest, after).max(1.0);
        let times = |seconds: f64| {
            let steps = (seconds / STEP.secs_f64()) as u32;
            (0..=steps).map(|step| f64::from(step) * STEP.secs_f64())
        };
        let least = times(SINGLE).min_by(|a, b| ratio(*a).total_cmp(&ratio(*b))).unwrap_or_default();
        let back = |after: &f64| *after >= least && ratio(*after) >= BACK;
        let fell = ratio(least) < BACK;
        Self {
            least_ratio: ratio(least),
            left_kbps: if fell { rate(course, least) } else { f64::INFINITY },
            recovery_s: if fell { times(LONGEST_RECOVERY).find(back) } else { Some(0.0) },
        }
    }
}

/// Seconds from `end`, that of the attack, until two seconds of arrivals are at `level` (kbit/s).
fn recovery(course: &Course, end: f64, level: f64) -> Option<f64> {
    let steps = (LONGEST_RECOVERY / STEP.secs_f64()) as u32;
    (0..=steps)
        .map(|step| f64::from(step) * STEP.secs_f64())
        .find(|&after| Course::rate(&course.arrived, end + after, end + after + 2.0) >= level)
}
