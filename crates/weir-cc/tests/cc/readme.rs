//! The program of the README is the one of the crate's documentation, which is compiled and run, without a hidden line.

/// The lines between ```` ```LANGUAGE ```` and ```` ``` ````.
fn block<'a>(text: &'a str, begin: &str) -> Vec<&'a str> {
    text.lines().skip_while(|line| *line != begin).skip(1).take_while(|line| *line != "```").collect()
}

#[test]
fn the_example_in_the_readme_is_that_of_the_documentation() {
    let documentation: Vec<&str> = include_str!("../../src/lib.rs")
        .lines()
        .map_while(|line| line.strip_prefix("//!"))
        .map(|line| line.strip_prefix(' ').unwrap_or(line))
        .collect();
    let compiled = block(&documentation.join("\n"), "```").join("\n");
    let shown = block(include_str!("../../../../README.md"), "```rust").join("\n");
    assert!(shown.contains("fn main()") && !shown.lines().any(|line| line.starts_with("# ")));
    assert_eq!(shown, compiled);
}
