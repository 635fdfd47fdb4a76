//! Tables, sentences and the report's panels from runs, mostly from metrics made by hand.

mod hand_made;
mod mounts;
mod panels;
mod runs;
mod tables;
mod verdicts;
