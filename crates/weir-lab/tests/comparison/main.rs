//! From runs to tables, sentences and the report's panels, on metrics made by hand.

mod hand_made;
mod panels;
mod runs;
mod tables;
mod verdicts;
