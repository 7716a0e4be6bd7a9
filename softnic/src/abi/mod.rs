// SPDX-License-Identifier: MIT OR Apache-2.0
//! The kernel's uverbs ABI: RDMA_VERBS_IOCTL as libibverbs and its providers speak it, from rdma-core 33 on.
//!
//! Bytes in, bytes out, no libc and no unsafe: the caller's memory, the process and the device are the traits of [`env`].
//! [`Session`] is one open uverbs descriptor. A call goes `session` (which method?) -> `request` (are the attributes as
//! `spec` says?) -> one of `device`, `write`, `cq`, `qp`, `mr` (do it) with the help of [`call::Call`]. What the device's driver adds to a call,
//! and its own methods, come from its kind ([`private`]).
//!
//! What decides the answer to something that softnic doesn't have: an unknown method or mandatory attribute is
//! EPROTONOSUPPORT, an unknown write command EOPNOTSUPP, and never ENOTTY, with which libibverbs would give up ioctls
//! altogether. What a caller's struct has beyond ours must be zero; what it lacks is zero.
#![forbid(unsafe_code)]

pub mod call;
mod cq;
mod device;
pub mod env;
pub mod errno;
mod mr;
pub mod names;
pub mod objects;
mod on_model;
pub mod private;
mod qp;
pub mod request;
mod session;
pub mod spec;
pub mod structs;
pub mod wire;
mod write;

#[cfg(test)]
pub(crate) mod tests;

pub use env::{Env, EventSource, Nic, UserMemory};
pub use on_model::OnModel;
pub use request::RDMA_VERBS_IOCTL;
pub use session::Session;
