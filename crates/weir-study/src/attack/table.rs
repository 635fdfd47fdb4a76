//! Effect of each attack on each controller, compared with the limits of the effect.

use rayon::prelude::*;
use serde::Serialize;
use weir_cc::{DataRate, SendTime, TimeDelta};
use weir_media::Alarm;

use super::attacks::{Attack, ForgedFeedback, Role};
use super::forge::Forger;
use super::pair::FlowPair;
use super::path::{CallConfig, CallSeries, RATE_STEP};
use super::setting::AttackSpan;
use weir_scenario::registry::{Registry, RegistryError};

/// Time for which a call continues after the attack.
const AFTERWARDS: TimeDelta = TimeDelta::from_secs(65);
/// Longest recovery time that is within the limits, in s.
const MAX_RECOVERY_S: f64 = 60.0;
/// Greatest relative change of the rate that an off-path attacker may cause.
const MAX_OFF_PATH_CHANGE: f64 = 0.02;
/// Greatest ratio of the peak rate under an on-path attack to that without it, for controllers with per-packet
/// feedback.
const MAX_ON_PATH_PEAK: f64 = 1.25;
/// Greatest ratio of the recovery time to that from the same rate without an attack.
const MAX_RECOVERY_RATIO: f64 = 1.25;
/// Least ratio of a coupled pair's rate under an attack to that of the uncoupled pair under the same attack.
const MIN_COUPLED_RATIO: f64 = 0.8;
/// Ratio of the rate to that without an attack at which a controller has recovered.
const RECOVERED_SHARE: f64 = 0.9;
/// Time in s within which one forged packet has its effect. A recovery within it is always fast enough.
const SINGLE_PACKET_S: f64 = 5.0;
/// Time in s at the end of the attack in which a call without the attack has reached its rate.
const SETTLED_S: f64 = 20.0;
/// Least share of the rate that a controller keeps after one forged packet in a format that does not affect it.
const MIN_KEPT_SHARE: f64 = 0.8;

/// Judgement of an attack: whether its effect stayed within the limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Aim {
    /// The effect stayed within the limits.
    Met,
    /// The effect exceeded a limit.
    Missed,
    /// The attack has no limits.
    None,
}

/// Effect of an attack on a controller.
#[derive(Clone, Debug, Serialize)]
pub struct AttackOutcome {
    /// Name of the controller.
    pub controller: String,
    /// Name of the attack.
    pub attack: &'static str,
    /// Role of the attacker.
    pub role: &'static str,
    /// Media rate sent during the attack, in kbit/s; for a coupled pair that of both flows.
    pub rate_kbps: f64,
    /// Media rate without the attack; for a pair the rate under the attack without coupling.
    pub honest_kbps: f64,
    /// Peak of the rate over five seconds during the attack, over the peak without it. For a coupled pair the share of
    /// the uncoupled rate that it keeps.
    pub peak_ratio: f64,
    /// Least ratio of the rate after one forged packet to that without it, over two seconds that begin within five
    /// seconds after it. No value for an attack that lasts.
    pub least_ratio: Option<f64>,
    /// Seconds from the end of the attack until recovery, or from a single forged packet. No value without recovery
    /// within 60 s, or if media had stopped.
    pub recovery_s: Option<f64>,
    /// Recovery time without an attack, in seconds, from the rate at which the attack left the controller.
    pub own_recovery_s: f64,
    /// Reports, or parts of them, that were refused.
    pub refused: u64,
    /// Alarms that the application received.
    pub alarms: Vec<String>,
    /// Whether the controller uses per-packet feedback.
    pub per_packet: bool,
    /// Whether circuit breakers were on; they are off if they trip without an attack.
    pub breakers: bool,
    /// Judgement of the attack.
    pub aim: Aim,
    /// Limits that were exceeded.
    pub missed: Vec<String>,
}

/// Attacks and controllers to run, with a number of threads.
#[derive(Clone, Debug)]
pub struct AttackRequest<'a> {
    /// Registry of the controllers.
    pub registry: &'a Registry,
    /// Names of the controllers.
    pub controllers: Vec<&'a str>,
    /// The attacks.
    pub attacks: Vec<Attack>,
    /// Beginning of the attacks, from the start of the call: 0 s to an hour.
    pub from: TimeDelta,
    /// Number of threads.
    pub jobs: usize,
}

/// Reason why attacks were not run.
#[derive(Debug, thiserror::Error)]
pub enum AttackError {
    /// An unknown controller.
    #[error(transparent)]
    Controller(#[from] RegistryError),
    /// The threads could not be started.
    #[error("no threads: {0}")]
    Threads(#[from] rayon::ThreadPoolBuildError),
}

impl AttackRequest<'_> {
    /// Number of outcomes.
    pub fn len(&self) -> usize {
        self.controllers.len() * self.attacks.len()
    }

    /// Whether there is no outcome.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Effect of each attack on each controller, controller by controller. `done` is called after each, from any
    /// thread.
    ///
    /// # Errors
    /// [`AttackError`].
    pub fn run(&self, done: &(dyn Fn() + Sync)) -> Result<Vec<AttackOutcome>, AttackError> {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(self.jobs).build()?;
        let (registry, span) = (self.registry, AttackSpan::beginning(self.from));
        let call = |controller| CallConfig {
            registry,
            controller,
            afterwards: AFTERWARDS,
            span,
            breakers: true,
            narrowed: None,
        };
        // A controller that trips a circuit breaker without an attack is judged without circuit breakers.
        let alone = |controller| -> Result<(CallConfig<'_>, CallSeries), RegistryError> {
            let course = call(controller).run(None)?;
            let trips = course.alarms.iter().any(|(_, alarm)| matches!(alarm, Alarm::Stopped(_)));
            let call = CallConfig { breakers: !trips, ..call(controller) };
            Ok((call, if trips { call.run(None)? } else { course }))
        };
        pool.install(|| {
            let honest: Vec<(CallConfig<'_>, CallSeries)> =
                self.controllers.par_iter().map(|controller| alone(controller)).collect::<Result<_, _>>()?;
            let tasks = self.controllers.iter().zip(&honest);
            let tasks: Vec<_> =
                tasks.flat_map(|task| self.attacks.iter().map(move |attack| (task, attack))).collect();
            let made = tasks.par_iter().map(|&((controller, (call, honest)), attack)| {
                let outcome = outcome(call, controller, attack, honest);
                done();
                outcome
            });
            Ok(made.collect::<Result<_, _>>()?)
        })
    }
}

fn outcome(
    call: &CallConfig<'_>,
    controller: &str,
    attack: &Attack,
    honest: &CallSeries,
) -> Result<AttackOutcome, RegistryError> {
    if matches!(attack.feedback, ForgedFeedback::Slander) {
        return of_pair(call, controller, attack);
    }
    let course = call.run(Some(Forger::new(*attack, call.span)))?;
    let (from, to) = call.span.seconds();
    let honest_kbps = CallSeries::rate(&honest.sent, from, to);
    let rate_kbps = CallSeries::rate(&course.sent, from, to);
    let peak_ratio = peak(&course.sent, call.span) / peak(&honest.sent, call.span);
    let level = RECOVERED_SHARE * CallSeries::rate(&honest.arrived, from, to);
    let recovery_s = recovery(&course, to, level);
    // The last forged reports still have an effect after the attack has ended.
    let left = (-2..=3).map(|s| CallSeries::rate(&course.arrived, to + f64::from(s), to + f64::from(s + 2)));
    let left = left.fold(f64::INFINITY, f64::min);
    let single = (attack.interval_ms == 0).then(|| ForgedDecrease::after(from, &course, honest));
    let recovery_s = single.as_ref().map_or(recovery_s, |fall| fall.recovery_s);
    let left = single.as_ref().map_or(left, |fall| fall.left_kbps);
    let own_recovery_s = if left >= level || recovery_s == Some(0.0) {
        0.0
    } else {
        // Without an attack a path of this capacity brings the controller to the same rate.
        let narrowed = Some(DataRate::from_bps_f64((left * 1.05e3).max(30e3)));
        // After one forged packet the level is that of the call without it, which may have reached a higher rate by
        // then.
        let level = if single.is_some() {
            RECOVERED_SHARE * CallSeries::rate(&honest.arrived, to - SETTLED_S, to)
        } else {
            level
        };
        recovery(&CallConfig { narrowed, ..*call }.run(None)?, to, level).unwrap_or(f64::INFINITY)
    };
    let mut missed = Vec::new();
    if course.outside {
        missed.push("a target outside the limits".to_owned());
    }
    let judges_recovery = matches!(attack.role, Role::Reader | Role::OnPath);
    match attack.role {
        Role::Blind if (rate_kbps / honest_kbps - 1.0).abs() > MAX_OFF_PATH_CHANGE => {
            missed.push(format!("{:+.1} % of rate", 100.0 * (rate_kbps / honest_kbps - 1.0)));
        }
        Role::Reader | Role::OnPath if course.per_packet && peak_ratio > MAX_ON_PATH_PEAK => {
            missed.push(format!("{peak_ratio:.2} times the rate"));
        }
        _ => {}
    }
    if judges_recovery {
        // Rates are measured over two seconds, so that a recovery is seen no earlier.
        let least = if single.is_some() { SINGLE_PACKET_S } else { 2.0 };
        let most = (MAX_RECOVERY_RATIO * own_recovery_s).clamp(least, MAX_RECOVERY_S);
        match recovery_s {
            None => missed.push("not back within 60 s".to_owned()),
            Some(s) if s > most => missed.push(format!("back after {s:.1} s, by itself {own_recovery_s:.1}")),
            Some(_) => {}
        }
    }
    if let Some(fall) = &single
        && fall.least_ratio < MIN_KEPT_SHARE
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
    Ok(AttackOutcome {
        controller: controller.to_owned(),
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

/// Effect of an attack on one flow of a coupled pair, compared with an uncoupled one.
fn of_pair(call: &CallConfig<'_>, controller: &str, attack: &Attack) -> Result<AttackOutcome, RegistryError> {
    let every = TimeDelta::from_millis(attack.interval_ms);
    let pair =
        |coupled| FlowPair { registry: call.registry, controller, coupled, every, span: call.span }.run();
    let (rate_kbps, honest_kbps) = (pair(true)?, pair(false)?);
    let share = rate_kbps / honest_kbps;
    let missed = if share < MIN_COUPLED_RATIO {
        vec![format!("{:.0} % of what both keep uncoupled", 100.0 * share)]
    } else {
        vec![]
    };
    Ok(AttackOutcome {
        controller: controller.to_owned(),
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

/// Greatest rate over five seconds of the attack.
fn peak(bytes: &[u64], span: AttackSpan) -> f64 {
    let (from, to) = span.seconds();
    let starts = (from as u32)..(to as u32 - 4);
    starts.map(|s| CallSeries::rate(bytes, f64::from(s), f64::from(s + 5))).fold(0.0, f64::max)
}

/// Decrease of the rate after one forged packet.
struct ForgedDecrease {
    /// Least ratio of the rate to that without the packet.
    least_ratio: f64,
    /// Rate at that time, in kbit/s.
    left_kbps: f64,
    /// Seconds from the packet until the rate recovered to that without it.
    recovery_s: Option<f64>,
}

impl ForgedDecrease {
    /// Decrease after a packet at `from` seconds.
    fn after(from: f64, course: &CallSeries, honest: &CallSeries) -> Self {
        let rate = |course: &CallSeries, after: f64| {
            CallSeries::rate(&course.arrived, from + after, from + after + 2.0)
        };
        let ratio = |after: f64| rate(course, after) / rate(honest, after).max(1.0);
        let times = |seconds: f64| {
            let steps = (seconds / RATE_STEP.secs_f64()) as u32;
            (0..=steps).map(|step| f64::from(step) * RATE_STEP.secs_f64())
        };
        let least = times(SINGLE_PACKET_S).min_by(|a, b| ratio(*a).total_cmp(&ratio(*b))).unwrap_or_default();
        let back = |after: &f64| *after >= least && ratio(*after) >= RECOVERED_SHARE;
        let fell = ratio(least) < RECOVERED_SHARE;
        Self {
            least_ratio: ratio(least),
            left_kbps: if fell { rate(course, least) } else { f64::INFINITY },
            recovery_s: if fell { times(MAX_RECOVERY_S).find(back) } else { Some(0.0) },
        }
    }
}

/// Seconds from the `end` of the attack until two seconds of arrivals reach `level` (kbit/s).
fn recovery(course: &CallSeries, end: f64, level: f64) -> Option<f64> {
    let steps = (MAX_RECOVERY_S / RATE_STEP.secs_f64()) as u32;
    (0..=steps)
        .map(|step| f64::from(step) * RATE_STEP.secs_f64())
        .find(|&after| CallSeries::rate(&course.arrived, end + after, end + after + 2.0) >= level)
}
