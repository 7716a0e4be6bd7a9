// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the `ctest` crate reads: it expands this file alone, so nothing but the types may be in it.

#[path = "../../src/sys"]
pub mod sys {
    pub mod efadv;
    pub mod ibv;
    pub mod rdma_cma;
}
pub use sys::efadv::*;
pub use sys::ibv::*;
pub use sys::rdma_cma::*;
