// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the `ctest` crate reads: it expands this file alone, so nothing but the types may be in it.

#[path = "../../src/sys"]
pub mod sys {
    pub mod ibv;
}
pub use sys::ibv::*;
