//! Prints how well shared bottlenecks are detected; the first argument says with how many seeds.

use weir_lab::detection::{cases, run, table};

fn main() {
    let seeds = std::env::args().nth(1).and_then(|seeds| seeds.parse().ok()).unwrap_or(2);
    let courses: Result<Vec<_>, _> = cases(seeds).iter().map(run).collect();
    match courses {
        Ok(courses) => print!("{}", table(&courses)),
        Err(error) => eprintln!("{error}"),
    }
}
