// SPDX-License-Identifier: MIT OR Apache-2.0
//! Completion queues.

use std::ffi::c_void;
use std::ptr::NonNull;

use super::adopt::{self, Ownership, vbn_adopt_attr};
use super::channel::Channel;
use super::cold::cold_structs;
use super::context::Context;
use super::error::{self, Error, Reason, Result};
use super::event::VBN_ELEMENT_CQ;
use super::handle::vbn_channel;
use super::op::Op;
use super::qp;
use super::slab::{Kind, Object, Ref, Slab, Slot};
use super::status::*;
use super::table;
use super::wc::{VBN_WC_SUCCESS, VBN_WC_WITH_IMM, VBN_WC_WR_FLUSH_ERR, vbn_wc};
use crate::sys::ibv::ibv_cq;
use crate::sys::{convert, inline, os};

/// What `vbn_cq_create` is told.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct vbn_cq_attr {
    /// sizeof(vbn_cq_attr).
    pub struct_size: usize,
    /// Comes back in events and queries.
    pub user_data: u64,
    /// Where armed notifications go; NULL: none. It is kept alive.
    pub channel: *mut vbn_channel,
    /// Room for at least so many completions; the device may round up. Required.
    pub cqe: u32,
    /// Interrupt vector, below the context's num_comp_vectors.
    pub comp_vector: u32,
}

/// What `vbn_cq_query` tells.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct vbn_cq_info {
    /// sizeof(vbn_cq_info), set by the caller.
    pub struct_size: usize,
    /// As given at creation.
    pub user_data: u64,
    /// Room for so many completions.
    pub cqe: u32,
    /// The kernel's number of the queue; events carry it.
    pub handle: u32,
    /// 1 if it has a channel.
    pub has_channel: u8,
    /// 0.
    pub reserved0: [u8; 7],
}
cold_structs!(vbn_cq_attr, vbn_cq_info);

/// A completion queue.
pub struct Cq {
    native: NonNull<ibv_cq>,
    context: Ref<Context>,
    channel: Option<Ref<Channel>>,
    ownership: Ownership,
    user_data: u64,
    /// Marks this object's entry in the context's table.
    entry: *const (),
}

// SAFETY: polling is as thread-safe as the provider; everything else in libibverbs is.
unsafe impl Send for Cq {}
// SAFETY: as above.
unsafe impl Sync for Cq {}

static SLAB: Slab<Cq> = Slab::new();

impl Object for Cq {
    const KIND: Kind = Kind::Cq;
    const LEAF: bool = false;

    fn slab() -> &'static Slab<Self> {
        &SLAB
    }

    fn context(&self) -> *const Slot<Context> {
        self.context.slot()
    }

    fn native_address(&self) -> *const c_void {
        self.native.as_ptr().cast()
    }

    fn destroy(&self) -> Result<()> {
        self.ownership.destroy(self.native.as_ptr(), || {
            // SAFETY: the queue is ours and no queue pair of ours uses it any more.
            self.context
                .ret("ibv_destroy_cq", || unsafe { (self.context.verbs().destroy_cq)(self.native.as_ptr()) })
                .map_err(|error| error.if_busy("destroy the queue pairs that raw verbs made on it"))
        })
    }

    fn forget(&self) {
        self.context.unregister(self.native().cast(), self.entry);
    }

    fn is_borrowed(&self) -> bool {
        self.ownership.is_borrowed()
    }

    fn device_is_gone(&self, told: bool) -> bool {
        self.ownership.is_own() && (told || self.context.is_gone())
    }
}

impl Cq {
    pub fn create(
        context: Ref<Context>,
        channel: Option<Ref<Channel>>,
        attr: &vbn_cq_attr,
    ) -> Result<&'static Slot<Cq>> {
        let name = context.name();
        has_poll(&context)?;
        let max = context.device().max_cqe as u32;
        if attr.cqe == 0 {
            return Err(Error::range("cqe", 0, "at least 1"));
        }
        if attr.cqe > max {
            return Err(Error::limit("cqe", attr.cqe.into(), max.into()).on(name));
        }
        let vectors = context.num_comp_vectors();
        if attr.comp_vector >= vectors {
            return Err(Error::limit("comp_vector", attr.comp_vector.into(), vectors.saturating_sub(1).into()).on(name));
        }
        let native_channel = match &channel {
            Some(channel) if !std::ptr::eq(channel.context(), context.slot()) => {
                return Err(Error::argument(Reason::Unrelated("channel", "context")));
            }
            Some(channel) => channel.native(),
            None => std::ptr::null_mut(),
        };
        let vacant = SLAB.take()?;
        let room = context.reserve()?;
        let entry = std::ptr::from_ref(vacant.slot()).cast();
        let native = context.made("ibv_create_cq", || {
            let vector = attr.comp_vector as i32;
            let create = context.verbs().create_cq;
            // SAFETY: context and channel are live and belong together.
            unsafe { create(context.native(), attr.cqe as i32, std::ptr::null_mut(), native_channel, vector) }
        })?;
        room.insert(native.as_ptr().cast(), table_entry(entry, attr.user_data));
        let user_data = attr.user_data;
        Ok(vacant.publish(Cq { native, context, channel, ownership: Ownership::Own, user_data, entry }))
    }

    /// Takes in a completion queue made by raw verbs on the same context.
    pub fn adopt(context: Ref<Context>, native: *mut ibv_cq, attr: &vbn_adopt_attr) -> Result<&'static Slot<Cq>> {
        let (native, ownership) = adopt::check::<Cq, _>(native, attr, 0)?;
        // SAFETY: the caller says that this is a live ibv_cq.
        let raw = unsafe { native.as_ref() };
        if raw.context != context.native() {
            return Err(Error::argument(Reason::Unrelated("the ibv_cq", "ibv_context")));
        }
        has_poll(&context)?;
        // A channel with a handle here is kept alive, as for a queue made here.
        let channel = Channel::slab().find(context.slot(), raw.channel.cast());
        let vacant = SLAB.take()?;
        let room = context.reserve()?;
        let entry = std::ptr::from_ref(vacant.slot()).cast();
        room.insert(native.as_ptr().cast(), table_entry(entry, attr.user_data));
        Ok(vacant.publish(Cq { native, context, channel, ownership, user_data: attr.user_data, entry }))
    }

    pub fn context(&self) -> &Ref<Context> {
        &self.context
    }

    pub fn native(&self) -> *mut ibv_cq {
        self.native.as_ptr()
    }

    fn raw(&self) -> &ibv_cq {
        // SAFETY: the queue lives as long as this object.
        unsafe { self.native.as_ref() }
    }

    pub fn info(&self) -> vbn_cq_info {
        let native = self.raw();
        vbn_cq_info {
            struct_size: size_of::<vbn_cq_info>(),
            user_data: self.user_data,
            cqe: native.cqe as u32,
            handle: native.handle,
            has_channel: u8::from(!native.channel.is_null()),
            reserved0: [0; 7],
        }
    }

    /// Asks for one event on the channel at the next completion.
    pub fn arm(&self, solicited_only: bool) -> Result<()> {
        if self.raw().channel.is_null() {
            return Err(Error::text(VBN_ERR_ARGUMENT, "the completion queue has no channel")
                .on(self.context.name())
                .hint("give one at creation, or poll"));
        }
        if self.context.content().ops.req_notify_cq.is_none() {
            return Err(no_operation("req_notify_cq", &self.context));
        }
        // SAFETY: the queue is live and has a channel.
        self.context.ret("ibv_req_notify_cq", || unsafe {
            inline::req_notify_cq(self.native.as_ptr(), i32::from(solicited_only))
        })
    }

    /// Takes up to `count` completions.
    ///
    /// # Safety
    /// `wcs` must have room for `count` completions.
    #[inline(always)]
    pub unsafe fn poll(&self, count: u32, wcs: *mut vbn_wc, got: &mut u32) -> vbn_status {
        // SAFETY: the queue is live and the caller vouches for the room; vbn_wc has ibv_wc's layout. A count
        // above INT_MAX is out of contract; drivers take it for "nothing wanted".
        let found = unsafe { inline::poll_cq(self.native.as_ptr(), count as i32, wcs.cast()) };
        if found < 0 {
            return self.poll_failed(found, got);
        }
        *got = found as u32;
        // SAFETY: the provider has filled so many.
        if found > 0 && unsafe { has_unusual(wcs, found as usize) } {
            return self.unusual(wcs, found as usize);
        }
        VBN_OK
    }

    /// Immediate values in host order, failures noted.
    #[cold]
    #[inline(never)]
    extern "C" fn unusual(&self, wcs: *mut vbn_wc, count: usize) -> vbn_status {
        // SAFETY: the provider has filled so many.
        for wc in unsafe { std::slice::from_raw_parts_mut(wcs, count) } {
            match wc.status {
                VBN_WC_SUCCESS if wc.wc_flags & VBN_WC_WITH_IMM != 0 => wc.imm = u32::from_be(wc.imm),
                // Drivers leave the flags of failures as they were.
                VBN_WC_SUCCESS | VBN_WC_WR_FLUSH_ERR => {}
                _ => qp::note_failure(self.context.slot(), self.native.as_ptr(), wc),
            }
        }
        VBN_OK
    }

    #[cold]
    #[inline(never)]
    extern "C" fn poll_failed(&self, found: i32, got: &mut u32) -> vbn_status {
        *got = 0;
        let errno = convert::neg_errno(found as isize).err().unwrap_or(libc::EIO);
        error::record(
            Op::CqPoll,
            Error::call("ibv_poll_cq", errno)
                .on(self.context.name())
                .hint("the queue may have overflowed or failed: look for VBN_EVENT_CQ_ERR among the events"),
        )
    }

    /// Waits for completions: polls for `busy_ns`, then arms, polls again and sleeps, until there is one or the time
    /// is up. Without a channel it polls all the time, giving the processor away in between.
    ///
    /// # Safety
    /// `wcs` must have room for `count` completions.
    pub unsafe fn wait(
        &self,
        count: u32,
        wcs: *mut vbn_wc,
        busy_ns: i64,
        timeout_ns: i64,
        got: &mut u32,
    ) -> Result<()> {
        let start = os::monotonic_ns();
        let deadline = os::deadline(timeout_ns);
        let has_channel = self.exclusive_channel()?;
        let mut armed = false;
        loop {
            // SAFETY: the caller vouches for the room.
            if unsafe { self.poll(count, wcs, got) } != VBN_OK {
                return Err(error::last().map_or(Error::call("ibv_poll_cq", libc::EIO), |record| record.error));
            }
            if *got > 0 {
                return Ok(());
            }
            let now = os::monotonic_ns();
            if deadline.is_some_and(|deadline| now >= deadline) {
                return Err(
                    Error::text(VBN_ERR_TIMEOUT, "no completion came in the time given").on(self.context.name())
                );
            }
            match &self.channel {
                Some(channel) if has_channel && now.saturating_sub(start) >= busy_ns => {
                    // Armed first and polled once more, so that a completion in between is not slept over. The event of
                    // such a one stays behind: so there is one at most to take before the next arming. After a time-out
                    // the queue is looked at once more, since somebody else may have taken the event.
                    if armed {
                        channel.wait(deadline)?;
                    } else {
                        while channel.wait(Some(0))? {}
                        self.arm(false)?;
                    }
                    armed = !armed;
                }
                _ => os::yield_now(),
            }
        }
    }

    /// Whether there is a channel to sleep on. One that other queues share would lose their events here.
    fn exclusive_channel(&self) -> Result<bool> {
        // SAFETY: a queue's channel outlives it.
        let Some(channel) = (unsafe { self.raw().channel.as_ref() }) else { return Ok(false) };
        if self.channel.is_none() {
            return Ok(false);
        }
        if channel.refcnt > 1 {
            return Err(Error::text(VBN_ERR_ARGUMENT, "the channel serves several completion queues")
                .hint(
                    "wait with vbn_channel_get_event and vbn_cq_arm, or give each queue a channel of its own; a closed queue \
                     counts while queue pairs use it",
                ));
        }
        Ok(true)
    }
}

/// Polling calls the driver's operation without looking, so it must be there before there is a handle.
fn has_poll(context: &Context) -> Result<()> {
    if context.content().ops.poll_cq.is_some() { Ok(()) } else { Err(no_operation("poll_cq", context)) }
}

fn no_operation(name: &'static str, context: &Context) -> Error {
    Error::new(VBN_ERR_NOT_SUPPORTED, Reason::NoOperation(name)).on(context.name())
}

/// How events of the context find the handle.
fn table_entry(slot: *const (), user_data: u64) -> table::Entry {
    table::Entry { kind: VBN_ELEMENT_CQ, slot, user_data }
}

/// Whether there is a failure or an immediate value among the completions: one cheap pass, the first by itself, since it is
/// often the only one, the rest four at a time.
///
/// # Safety
/// `wcs` must hold `count` completions, one at least.
#[inline(always)]
unsafe fn has_unusual(mut wcs: *const vbn_wc, mut count: usize) -> bool {
    // SAFETY: never more than `count` are looked at.
    unsafe {
        let (mut status, mut flags) = ((*wcs).status, (*wcs).wc_flags);
        while count > 4 {
            for i in 1..5 {
                status |= (*wcs.add(i)).status;
                flags |= (*wcs.add(i)).wc_flags;
            }
            wcs = wcs.add(4);
            count -= 4;
        }
        while count > 1 {
            wcs = wcs.add(1);
            status |= (*wcs).status;
            flags |= (*wcs).wc_flags;
            count -= 1;
        }
        status != VBN_WC_SUCCESS || flags & VBN_WC_WITH_IMM != 0
    }
}
