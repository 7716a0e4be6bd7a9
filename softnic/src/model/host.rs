// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a device needs from the process it lives in. The model itself has no clock, no memory of the user, no threads
//! and no system calls: everything comes through [`Host`], so a test can be the host and every run can be repeated.

use super::packet::Packet;
use super::window::Window;
use core::fmt;

/// A positive errno number.
pub type Errno = i32;

/// A 128-bit port address.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Gid(pub [u8; 16]);

impl fmt::Debug for Gid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, pair) in self.0.chunks(2).enumerate() {
            if i > 0 {
                f.write_str(":")?;
            }
            for byte in pair {
                write!(f, "{byte:02x}")?;
            }
        }
        Ok(())
    }
}

/// A queue pair anywhere in the fabric.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Default)]
pub struct Address {
    pub gid: Gid,
    pub qpn: u32,
}

/// One opened device (one uverbs fd, one memfd). Numbers are given out by `Device::context_open`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct ContextId(pub u32);

/// A piece of this process's memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Segment {
    pub addr: u64,
    pub len: u32,
}

/// What became of a packet given to [`Host::send`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Sent {
    /// On its way; it will arrive unless the peer dies.
    Ok,
    /// No room now. Nothing was sent; the device tries again in a later step.
    Full,
    /// Nobody has this GID (completion status 15; 13 if it has ever answered).
    Unreachable,
    /// The GID is there, but no process holds this QP number (status 9).
    NoQp,
    /// The process that held this QP number died (status 13).
    Dead,
    /// A `Payload::User` piece could not be read (status 5).
    Fault,
}

/// An asynchronous event. The number is `enum ibv_event_type`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AsyncEvent {
    /// CQ overflow; element is the CQ's user handle.
    CqError {
        user_handle: u64,
    },
    /// Element is the QP's user handle.
    QpFatal {
        user_handle: u64,
    },
    PortActive {
        port: u8,
    },
    PortError {
        port: u8,
    },
    DeviceFatal,
}

impl AsyncEvent {
    /// (`element`, `event_type`) of `struct ib_uverbs_async_event_desc`.
    pub fn record(self) -> (u64, u32) {
        match self {
            AsyncEvent::CqError { user_handle } => (user_handle, 0),
            AsyncEvent::QpFatal { user_handle } => (user_handle, 1),
            AsyncEvent::DeviceFatal => (0, 8),
            AsyncEvent::PortActive { port } => (u64::from(port), 9),
            AsyncEvent::PortError { port } => (u64::from(port), 10),
        }
    }
}

/// The process around the device. Calls may come from any control call, `step` or `receive`, always one at a time.
///
/// User memory is named by address and may be gone at any time: these calls return false then and never fault.
/// Shared memory is the memfd of one context; offsets come from `shm_alloc` and are in bounds by construction.
pub trait Host {
    /// User memory to `out`.
    fn read(&mut self, addr: u64, out: &mut [u8]) -> bool;
    /// `data` to user memory.
    fn write(&mut self, addr: u64, data: &[u8]) -> bool;
    /// User memory to user memory of this process. Ranges may overlap (as `memmove`).
    fn copy(&mut self, from: u64, to: u64, len: usize) -> bool;

    /// A zeroed, page-aligned piece of the context's memfd; the offset is the mmap key. None when there is no room.
    fn shm_alloc(&mut self, ctx: ContextId, bytes: u64) -> Option<u64>;
    /// Gives a piece back. The user may still have it mapped: it must not be reused while it is (keep it until the context closes).
    fn shm_free(&mut self, ctx: ContextId, offset: u64, bytes: u64);
    /// The context's memfd.
    fn shm(&self, ctx: ContextId) -> Window<'_>;

    /// Is the destination a device object of this process? Then `Payload::User` goes through as it is, else it is read while sending.
    fn is_local(&mut self, dest: &Address) -> bool;
    /// Hands a packet to the device that serves `packet.dest`. Never called for a packet that the device can deliver to itself.
    /// Must not call back into any device: a packet to another device of this process is kept (`Packet::into_owned`) and
    /// delivered with `Device::receive` afterwards.
    fn send(&mut self, packet: &Packet<'_>) -> Sent;

    /// One completion event on a channel; `channel` and `cq_user_handle` are what `CqSpec` said.
    fn completion_event(&mut self, channel: u64, cq_user_handle: u64);
    fn async_event(&mut self, ctx: ContextId, event: AsyncEvent);

    /// Milliseconds of a clock that never goes back.
    fn now_ms(&mut self) -> u64;
    /// How often the program has taken or left a lock of its provider, ever; wraps.
    fn program_passes(&mut self) -> u32;
    /// Whether `trace` does anything: the lines are only made if so.
    fn tracing(&self) -> bool {
        false
    }
    /// One line, readable, without a newline.
    fn trace(&mut self, _line: &str) {}
}
