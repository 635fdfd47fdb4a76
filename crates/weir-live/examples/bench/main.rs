//! Figures of this machine, as a table: `bench`.
//!
//! Two hundred calls of 2 Mbit/s in one process; then a forwarder over one link at 10 and 100 Mbit/s, and the highest rate that the
//! emulator carries. `bench MBPS [SECONDS [LOAD]]` runs one forwarder, and prints all of it.

#[cfg(target_os = "linux")]
mod calls;
#[cfg(target_os = "linux")]
mod forward;

#[cfg(target_os = "linux")]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    let numbers: Vec<f64> = std::env::args().skip(1).map(|text| text.parse()).collect::<Result<_, _>>()?;
    if let Some(&mbps) = numbers.first() {
        let number = |place: usize, default: f64| numbers.get(place).copied().unwrap_or(default);
        let forwarded = forward::forward(mbps, number(1, 10.0), number(2, 1.5))?;
        forwarded.print();
        return Ok(());
    }
    table()
}

#[cfg(not(target_os = "linux"))]
fn main() {
    println!("{}", weir_live::NEEDS_LINUX);
}

/// Rates between which the ceiling is looked for, and their step, in Mbit/s.
#[cfg(target_os = "linux")]
const CEILING: (u32, u32, usize) = (150, 1000, 50);

#[cfg(target_os = "linux")]
fn table() -> Result<(), Box<dyn std::error::Error>> {
    let row = |name: &str, p50: f64, p99: f64, cpu: f64, note: &str| {
        println!("| {name} | {p50:.3} | {p99:.3} | {cpu:.2} | {note} |");
    };
    println!("| what | late p50, ms | late p99, ms | cores | |");
    println!("|---|---|---|---|---|");
    let calls = calls::calls(200, 2, 20)?;
    for (name, [p50, p99, _], cpu) in calls.rows() {
        row(name, p50, p99, cpu, &calls.note());
    }
    for mbps in [10.0, 100.0] {
        let one = forward::forward(mbps, 10.0, 1.5)?;
        let [p50, p99, _] = one.lateness().summary_ms();
        let note =
            format!("{:.4} Mbit/s came out, {} packets lost outside", one.rate_mbps(), one.lost_outside());
        row(&format!("emulator, {mbps:.0} Mbit/s and half as much again"), p50, p99, one.cpu_share(), &note);
    }
    let (from, to, step) = CEILING;
    let mut best = None;
    for mbps in (from..=to).step_by(step) {
        let one = forward::forward(f64::from(mbps), 4.0, 0.98)?;
        if one.lost_outside() > 0 {
            break;
        }
        best = Some((mbps, one));
    }
    match best {
        Some((mbps, one)) => {
            let [p50, p99, _] = one.lateness().summary_ms();
            row(
                &format!("emulator, ceiling {mbps} Mbit/s"),
                p50,
                p99,
                one.cpu_share(),
                "no packet lost outside",
            );
        }
        None => println!("| emulator, ceiling below {from} Mbit/s | | | | |"),
    }
    Ok(())
}
