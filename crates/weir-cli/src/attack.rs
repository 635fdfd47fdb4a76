//! `weir attack`: the effect of forged feedback on each controller.

use std::io::Write;

use comfy_table::{Cell, Color};
use weir_scenario::registry::Registry;
use weir_study::attack::{ATTACKS, Aim, Attack, AttackError, AttackOutcome, AttackRequest};

use crate::args::{AttackArgs, Format};
use crate::effective::{each_once, say_repeated, threads};
use crate::failure::Failure;
use crate::terminal;
use crate::{progress, table};

/// Longest recovery that is not printed, in s.
const HIDDEN_RECOVERY_S: f64 = 2.0;

/// Smallest ratio that is not printed: the least rate after one packet, over that without it.
const HIDDEN_LEAST_RATIO: f64 = 0.9;

/// Runs the table and prints it.
pub(crate) fn attack(args: &AttackArgs, registry: &Registry) -> Result<(), Failure> {
    say_repeated("--controller", &args.controller);
    let named = each_once(&args.controller);
    let controllers =
        registry.controller_names().filter(|name| named.is_empty() || named.contains(name)).collect();
    let of_role = |attack: &&Attack| args.role.as_ref().is_none_or(|role| role == attack.role.name());
    let attacks: Vec<Attack> = ATTACKS
        .iter()
        .filter(of_role)
        .filter(|attack| args.attack.as_ref().is_none_or(|part| attack.name.contains(part.as_str())))
        .copied()
        .collect();
    if attacks.is_empty() {
        let names: Vec<&str> = ATTACKS.iter().filter(of_role).map(|attack| attack.name).collect();
        return Err(Failure::Option {
            option: format!("--attack {}", args.attack.as_deref().unwrap_or_default()),
            problem: format!("no attack matches; the attacks are {}", each_once(&names).join(", ")),
        });
    }
    let request =
        AttackRequest { registry, controllers, attacks, from: args.from, jobs: threads(args.table.jobs) };
    let bar = progress::bar(args.table.quiet);
    progress::expect(&bar, "attack", request.len());
    let outcomes = request.run(&|| bar.inc(1)).map_err(|error| match error {
        AttackError::Controller(error) => Failure::from(error),
        threads @ AttackError::Threads(_) => Failure::from(std::io::Error::other(threads)),
    })?;
    bar.finish_and_clear();
    let mut out = terminal::stdout();
    let header = || ["by", "attack"].into_iter().chain(request.controllers.iter().copied());
    let rows = request.attacks.iter().map(|attack| {
        let of = |controller: &&str| outcomes.iter().find(|own| is_of(own, controller, attack));
        let cells = request.controllers.iter().map(of);
        (attack, cells.collect::<Vec<Option<&AttackOutcome>>>())
    });
    match args.table.format() {
        Format::Json => {
            let text = serde_json::to_string_pretty(&outcomes).map_err(std::io::Error::from)?;
            writeln!(out, "{text}")?;
        }
        Format::Table => {
            let line = |(attack, cells): (&Attack, Vec<Option<&AttackOutcome>>)| {
                let names = [attack.role.name(), attack.name].map(Cell::new);
                let cells = cells.into_iter().map(|own| {
                    let cell = Cell::new(own.map_or_else(String::new, cell_text));
                    if own.is_some_and(|own| own.aim == Aim::Missed) { cell.fg(Color::Red) } else { cell }
                });
                names.into_iter().chain(cells).collect()
            };
            let header: Vec<&str> = header().collect();
            writeln!(out, "{}", table::plain(&header, rows.map(line).collect()))?;
            write!(out, "{}", missed_aims(&outcomes, "\n"))?;
        }
        Format::Markdown => {
            writeln!(
                out,
                "| {} |\n|{}",
                header().collect::<Vec<_>>().join(" | "),
                "---|".repeat(2 + request.controllers.len())
            )?;
            for (attack, cells) in rows {
                let cells: Vec<String> =
                    cells.into_iter().map(|own| own.map_or_else(String::new, cell_text)).collect();
                writeln!(out, "| {} | {} | {} |", attack.role.name(), attack.name, cells.join(" | "))?;
            }
            write!(out, "{}", missed_aims(&outcomes, "\n* "))?;
        }
    }
    Ok(())
}

fn is_of(outcome: &AttackOutcome, controller: &str, attack: &Attack) -> bool {
    (&*outcome.controller, outcome.attack, outcome.role) == (controller, attack.name, attack.role.name())
}

/// The rate in % of that without the attack, the least after one packet if below 90 %, the number of stops of
/// media, and the recovery time.
fn cell_text(outcome: &AttackOutcome) -> String {
    let stops = outcome.alarms.iter().filter(|alarm| alarm.starts_with("stopped")).count();
    let rate = format!("{:.0}", 100.0 * outcome.rate_kbps / outcome.honest_kbps);
    let least = outcome.least_ratio.filter(|least| *least < HIDDEN_LEAST_RATIO);
    let least = least.map_or_else(String::new, |least| format!(" (least {:.0})", 100.0 * least));
    let stops = if stops > 0 { format!(" {stops} stops") } else { String::new() };
    let back = match outcome.recovery_s {
        Some(s) if s > HIDDEN_RECOVERY_S => format!(" {s:.0} s"),
        Some(_) => String::new(),
        None => " > 60 s".to_owned(),
    };
    let mark = if outcome.aim == Aim::Missed { " ✗" } else { "" };
    [&rate, &least, &stops, &back, mark].concat()
}

/// The aims that were missed, and the number of outcomes as required.
fn missed_aims(outcomes: &[AttackOutcome], bullet: &str) -> String {
    let judged = outcomes.iter().filter(|own| own.aim != Aim::None).count();
    let missed: Vec<&AttackOutcome> = outcomes.iter().filter(|own| own.aim == Aim::Missed).collect();
    let line = |own: &&AttackOutcome| {
        format!("{bullet}{}, {}, {}: {}", own.controller, own.role, own.attack, own.missed.join("; "))
    };
    let lines: String = missed.iter().map(line).collect();
    format!("\n{} of {judged} are within their aims.\n{lines}", judged - missed.len()).trim_end().to_owned()
        + "\n"
}
