// SPDX-License-Identifier: MIT OR Apache-2.0
//! Completion channels: a file descriptor that becomes readable when an armed completion queue has something.

use std::ffi::c_void;
use std::ptr::{self, NonNull};

use super::adopt::{self, Ownership, vbn_adopt_attr};
use super::cold::cold_structs;
use super::context::Context;
use super::error::{Error, Reason, Result};
use super::event::VBN_ELEMENT_CQ;
use super::slab::{Kind, Object, Ref, Slab, Slot};
use super::status::*;
use super::wait::{self, Ended};
use crate::sys::ibv::{ibv_comp_channel, ibv_cq};
use crate::sys::{convert, os};

/// What `vbn_channel_create` may be told. All-zero is the default.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct vbn_channel_attr {
    /// sizeof(vbn_channel_attr).
    pub struct_size: usize,
    /// Comes back in queries.
    pub user_data: u64,
}

/// What `vbn_channel_query` tells.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct vbn_channel_info {
    /// sizeof(vbn_channel_info), set by the caller.
    pub struct_size: usize,
    /// As given at creation.
    pub user_data: u64,
    /// Becomes readable when there is an event. For poll, epoll and the like; don't read from it and don't close it.
    pub fd: i32,
    /// 0.
    pub reserved0: u32,
}

/// A completion queue that was armed has something. A copy: nothing is to be acknowledged or freed.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct vbn_cq_event {
    /// sizeof(vbn_cq_event), set by the caller.
    pub struct_size: usize,
    /// The user_data of the completion queue; 0 if it isn't known.
    pub user_data: u64,
    /// VBN_ELEMENT_CQ.
    pub kind: i32,
    /// The kernel's number of the completion queue, the `handle` of its query.
    pub number: u32,
    /// 1 if the completion queue has a handle of this library; 0 if raw verbs made it on the lent channel.
    pub known: u8,
    /// 0.
    pub reserved0: [u8; 7],
}
cold_structs!(vbn_channel_attr, vbn_channel_info, vbn_cq_event);

/// An event as core sees it. The pointer is for comparing only: the event is acknowledged, so the queue may be gone.
pub struct CqEvent {
    pub native: *const ibv_cq,
    pub user_data: u64,
    pub number: u32,
    pub known: bool,
}

impl CqEvent {
    pub fn to_abi(&self) -> vbn_cq_event {
        vbn_cq_event {
            struct_size: size_of::<vbn_cq_event>(),
            user_data: self.user_data,
            kind: VBN_ELEMENT_CQ,
            number: self.number,
            known: self.known.into(),
            reserved0: [0; 7],
        }
    }
}

/// A completion channel.
pub struct Channel {
    native: NonNull<ibv_comp_channel>,
    context: Ref<Context>,
    ownership: Ownership,
    fd: i32,
    user_data: u64,
}

// SAFETY: libibverbs' calls on a channel are thread-safe, and the pointer is used for nothing else.
unsafe impl Send for Channel {}
// SAFETY: as above.
unsafe impl Sync for Channel {}

static SLAB: Slab<Channel> = Slab::new();

impl Object for Channel {
    const KIND: Kind = Kind::Channel;
    const LEAF: bool = false;

    fn slab() -> &'static Slab<Self> {
        &SLAB
    }

    fn context(&self) -> Option<&Context> {
        Some(&self.context)
    }

    fn native_address(&self) -> *const c_void {
        self.native.as_ptr().cast()
    }

    fn destroy(&self) -> Result<()> {
        self.ownership.destroy(self.native.as_ptr(), || {
            let destroy = self.context.verbs().destroy_comp_channel;
            // SAFETY: the channel is ours and no queue of ours uses it any more.
            let done = self.context.ret("ibv_destroy_comp_channel", || unsafe { destroy(self.native.as_ptr()) });
            done.map_err(|error| error.if_busy("destroy the completion queues that raw verbs made on it"))
        })
    }

    fn ownership(&self) -> Ownership {
        self.ownership
    }
}

impl Channel {
    pub fn create(context: Ref<Context>, attr: &vbn_channel_attr) -> Result<&'static Slot<Channel>> {
        let vacant = SLAB.take()?;
        let create = context.verbs().create_comp_channel;
        // SAFETY: the context is open.
        let native = context.made("ibv_create_comp_channel", || unsafe { create(context.native()) })?;
        // SAFETY: libibverbs has just made it.
        let fd = unsafe { native.as_ref() }.fd;
        let channel = Channel { native, context, ownership: Ownership::Own, fd, user_data: attr.user_data };
        if let Err(errno) = os::set_nonblocking(fd) {
            // Nothing uses the new channel, so there is nothing that its destruction could fail on.
            let _ = channel.destroy();
            return Err(Error::call("fcntl(O_NONBLOCK)", errno).on(channel.context.name()));
        }
        Ok(vacant.publish(channel))
    }

    /// Takes in a channel that raw verbs made on the same context. Its file descriptor stays as it is.
    pub fn adopt(
        context: Ref<Context>,
        native: *mut ibv_comp_channel,
        attr: &vbn_adopt_attr,
    ) -> Result<&'static Slot<Channel>> {
        let (native, ownership) = adopt::check::<Channel, _>(native, attr, 0)?;
        // SAFETY: the caller says that this is a live ibv_comp_channel.
        let channel = unsafe { native.as_ref() };
        if channel.context != context.native() {
            return Err(Error::argument(Reason::Unrelated("the ibv_comp_channel", "ibv_context")));
        }
        let fd = channel.fd;
        Ok(SLAB.take()?.publish(Channel { native, context, ownership, fd, user_data: attr.user_data }))
    }

    pub fn native(&self) -> *mut ibv_comp_channel {
        self.native.as_ptr()
    }

    pub fn fd(&self) -> i32 {
        self.fd
    }

    pub fn info(&self) -> vbn_channel_info {
        vbn_channel_info {
            struct_size: size_of::<vbn_channel_info>(),
            user_data: self.user_data,
            fd: self.fd,
            reserved0: 0,
        }
    }

    /// Waits until `deadline` (of `os::deadline`) for an event, takes it off the channel and acknowledges it.
    pub fn next_event(&self, deadline: Option<i64>) -> Result<CqEvent> {
        wait::for_value(self.fd, deadline, || self.take_event()).map_err(|ended| match ended {
            Ended::Timeout => self.nothing_came(),
            Ended::Failed(Some(call), errno) => Error::call(call, errno).on(self.context.name()),
            Ended::Failed(None, errno) => self.event_error(errno),
        })
    }

    /// Waits until `deadline` for any event. Says whether there was one.
    pub fn wait(&self, deadline: Option<i64>) -> Result<bool> {
        match self.next_event(deadline) {
            Ok(_) => Ok(true),
            Err(error) if error.status == VBN_ERR_TIMEOUT => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// One event off the channel, or an errno.
    fn take_event(&self) -> std::result::Result<CqEvent, i32> {
        let verbs = self.context.verbs();
        let mut native: *mut ibv_cq = ptr::null_mut();
        let mut unused: *mut c_void = ptr::null_mut();
        // A short read fails without setting it.
        os::set_errno(0);
        // SAFETY: the channel is live and both variables are ours.
        let ret = unsafe { (verbs.get_cq_event)(self.native.as_ptr(), &mut native, &mut unused) };
        convert::minus1(ret, os::errno())?;
        // The queue can't be destroyed before its event is acknowledged. Its cq_context may be anybody's, so the queue
        // is looked up by its address.
        let entry = self.context.find(native.cast(), VBN_ELEMENT_CQ);
        // SAFETY: see above.
        let number = unsafe { (*native).handle };
        let event =
            CqEvent { native, user_data: entry.as_ref().map_or(0, |e| e.user_data), number, known: entry.is_some() };
        // SAFETY: one event was read and none of it acknowledged.
        unsafe { (verbs.ack_cq_events)(native, 1) };
        Ok(event)
    }

    fn nothing_came(&self) -> Error {
        Error::text(VBN_ERR_TIMEOUT, "no completion event came in the time given").on(self.context.name())
    }

    fn event_error(&self, errno: i32) -> Error {
        let error = Error::call("ibv_get_cq_event", errno).on(self.context.name());
        match errno {
            // The kernel ends the channel when the device goes.
            libc::EIO | libc::ENODEV => {
                self.context.mark_gone();
                Error { status: VBN_ERR_DEVICE_GONE, ..error }.hint("close all handles of the device")
            }
            libc::EBADF => error.hint("the channel's descriptor was closed by other code"),
            _ => error,
        }
    }
}
