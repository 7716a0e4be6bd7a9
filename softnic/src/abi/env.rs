// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the ABI needs from outside: the caller's memory, the process, the device. Each is a trait, so that the whole
//! dispatcher runs in a unit test.

use super::structs::{DeviceResp, PortResp};
use crate::model::host::Errno;
use crate::model::types::{AhInfo, AhSpec, CqInfo, CqSpec, MrInfo, MrSpec, PdInfo, QpAttr, QpInfo, QpQuery, QpSpec};
use crate::profile::Profile;

/// The caller's memory, by address. A bad address is `false`, never a fault.
pub trait UserMemory {
    fn read(&mut self, addr: u64, out: &mut [u8]) -> bool;
    fn write(&mut self, addr: u64, data: &[u8]) -> bool;
    /// Whether the memory could be pinned: all of it is mapped and may be read, and written if `writable`. No byte changes.
    fn pin(&mut self, addr: u64, length: u64, writable: bool) -> bool;
}

/// Whose asynchronous events are meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventSource {
    Cq { user_handle: u64 },
    Qp { user_handle: u64 },
}

/// The process around one uverbs descriptor.
pub trait Env {
    /// A new completion channel: its descriptor, and the name under which the device sends events to it.
    fn channel_open(&mut self) -> Result<(i32, u64), Errno>;
    /// The channel behind a descriptor, if it is one of this session.
    fn channel_of(&mut self, fd: i32) -> Option<u64>;
    /// The CQ is gone: throws away its unread events and says how many of its events the user has read in all. libibverbs
    /// waits in `ibv_destroy_cq` until that many were acknowledged.
    fn channel_forget(&mut self, channel: u64, cq_user_handle: u64) -> u32;

    /// A new async event file.
    fn async_open(&mut self) -> Result<i32, Errno>;
    /// Is it an async event file of this session?
    fn is_async(&mut self, fd: i32) -> bool;
    /// Closes a descriptor that was just made: the call failed after all and nobody heard of it.
    fn discard_fd(&mut self, fd: i32);
    /// As `channel_forget`, for asynchronous events.
    fn async_forget(&mut self, source: EventSource) -> u32;

    /// Maps `length` bytes at `offset` of a dma-buf (any descriptor that mmap takes); the answer is the address. EBADF
    /// for what is no descriptor, EINVAL for a range that it doesn't have.
    fn dmabuf_map(&mut self, fd: i32, offset: u64, length: u64, writable: bool) -> Result<u64, Errno>;
    /// Undoes `dmabuf_map` and `peer_map`.
    fn dmabuf_unmap(&mut self, addr: u64, length: u64);
    /// Maps memory of a GPU, by a peer-memory module, where the device has one: its address. None: it is no such memory.
    fn peer_map(&mut self, _start: u64, _length: u64, _writable: bool) -> Option<u64> {
        None
    }
}

/// The control face of the device, bound to the context of the session.
pub trait Nic {
    /// Asked before every call that has no call of its own below: the fault file may fail it, a removed device does.
    fn command(&mut self, name: &'static str) -> Result<(), Errno>;
    /// EIO once the device is gone. For calls that take something of the caller's before they reach the device.
    fn is_there(&mut self) -> Result<(), Errno> {
        Ok(())
    }

    fn profile(&mut self) -> &'static Profile;
    fn device(&mut self) -> DeviceResp;
    fn port(&mut self) -> PortResp;
    fn gid(&mut self) -> [u8; 16];

    fn pd_alloc(&mut self) -> Result<PdInfo, Errno>;
    fn pd_free(&mut self, pd: u32) -> Result<(), Errno>;
    fn mr_reg(&mut self, spec: &MrSpec) -> Result<MrInfo, Errno>;
    fn mr_dereg(&mut self, mr: u32) -> Result<(), Errno>;
    fn mr_query(&mut self, mr: u32) -> Result<MrInfo, Errno>;
    fn ah_create(&mut self, spec: &AhSpec) -> Result<AhInfo, Errno>;
    fn ah_destroy(&mut self, ah: u32) -> Result<(), Errno>;
    fn cq_create(&mut self, spec: &CqSpec) -> Result<CqInfo, Errno>;
    /// The provider will never tell how far it has read.
    fn cq_without_doorbell(&mut self, cq: u32) -> Result<(), Errno>;
    /// The user wants an event for the next completion, where a call says so.
    fn cq_arm(&mut self, cq: u32) -> Result<(), Errno>;
    fn cq_destroy(&mut self, cq: u32) -> Result<(), Errno>;
    fn qp_create(&mut self, spec: &QpSpec) -> Result<QpInfo, Errno>;
    fn qp_destroy(&mut self, qp: u32) -> Result<(), Errno>;
    /// Requests were posted, where a call says so.
    fn qp_rung(&mut self, qp: u32) -> Result<(), Errno>;
    fn qp_modify(&mut self, qp: u32, mask: u32, attr: &QpAttr) -> Result<(), Errno>;
    fn qp_query(&mut self, qp: u32) -> Result<QpQuery, Errno>;
}
