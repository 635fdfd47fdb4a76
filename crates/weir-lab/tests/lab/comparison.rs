//! From runs to tables, sentences and the report's panels, mostly on metrics made by hand.

mod hand_made;
mod mounts;
mod panels;
mod runs;
mod tables;
mod verdicts;
