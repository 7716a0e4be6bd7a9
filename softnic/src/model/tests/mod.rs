// SPDX-License-Identifier: MIT OR Apache-2.0
//! The device in a world of tests. `SEEDS` runs each with order kept and with SRD's freedom.

mod control;
mod counters;
mod cq;
mod endpoint;
mod faults;
mod fuzz;
mod ops;
mod srd;
mod status;
pub(crate) mod world;

/// In order, and shuffled.
const SEEDS: [u64; 3] = [0, 1, 0x5eed];
