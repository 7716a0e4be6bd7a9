// SPDX-License-Identifier: MIT OR Apache-2.0
//! softnic: RDMA devices in user space, below the unmodified rdma-core.
#![allow(clippy::disallowed_methods, clippy::disallowed_types, clippy::disallowed_macros)]

pub mod abi;
pub mod fabric;
pub mod fault;
pub mod kind;
pub mod model;
pub mod profile;
pub mod run;
