//! Packets through real sockets and devices. Each test says aloud what the machine does not allow.
#![cfg(target_os = "linux")]

mod common;
mod run;
mod tun;
mod udp;
