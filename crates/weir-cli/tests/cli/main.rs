//! The command as its callers meet it: a process with arguments, two streams, an exit code and files.

mod analyse;
mod bad_input;
mod ci;
mod compare;
mod demo;
mod docs;
mod figures;
mod listings;
mod manual;
mod open;
mod pcap;
mod report;
mod reproduce;
mod results;
mod same_bytes;
mod stated;
mod suite;
mod suite_ci;
mod suite_file;
mod suite_parts;
mod support;
mod sweep;
mod terminal;
mod trace;
mod watch;
mod why;
