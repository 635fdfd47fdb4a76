//! Tests of weir-study as its users see it: scenarios, comparisons, captures, and requirements on every controller.

mod attack;
mod capture;
mod comparison;
mod coupling;
mod detection;
mod drives;
mod encoders;
mod every_controller;
mod fluid;
mod marks;
mod omniscient;
mod own_controller;
mod padded;
mod parking_lots;
mod parquet_files;
mod pause_and_audio;
mod priorities;
mod recording;
mod scenario;
mod sharing;
mod suite_parts;
mod tcp_flows;
mod transfers;
mod whole_path;
