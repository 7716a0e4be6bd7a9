// SPDX-License-Identifier: MIT OR Apache-2.0
//! Completion queues.

use std::ffi::c_void;
use std::hint;
use std::mem::MaybeUninit;
use std::ptr::{self, NonNull};
use std::sync::atomic::{AtomicU64, Ordering};

use super::adopt::{self, Ownership, vbn_adopt_attr};
use super::channel::Channel;
use super::cold::cold_structs;
use super::context::Context;
use super::cq_create;
use super::error::{self, Error, Reason, Result};
use super::event::VBN_ELEMENT_CQ;
use super::handle::vbn_channel;
use super::op::Op;
use super::qp;
use super::slab::{Kind, Object, Ref, Slab, Slot};
use super::status::*;
use super::table;
use super::wc::{VBN_WC_SUCCESS, VBN_WC_WITH_IMM, VBN_WC_WR_FLUSH_ERR, vbn_wc};
use super::wc_ext::Extended;
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
    /// VBN_WC_EX_*: what vbn_cq_poll_ext shall tell. 0: a plain queue, of which it tells what vbn_cq_poll does.
    pub fields: u64,
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
    /// VBN_CQ_WAIT_*: how vbn_cq_wait waits.
    pub wait_mode: u8,
    /// 0.
    pub reserved0: [u8; 6],
    /// VBN_WC_EX_*: as given at creation.
    pub fields: u64,
    /// At least so many completions were passed over, since their queue pairs had been destroyed (EFA). libefa drops one that
    /// comes behind good ones of the same vbn_cq_poll without a word. After one that stood in front vbn_cq_poll takes one
    /// completion: poll again.
    pub skipped: u64,
}
cold_structs!(vbn_cq_attr, vbn_cq_info);

/// `wait_mode`: it sleeps between polls, longer and longer up to a millisecond: the queue has no channel (of this library's).
pub const VBN_CQ_WAIT_SLEEP: u8 = 0;
/// `wait_mode`: it sleeps until the device's event comes.
pub const VBN_CQ_WAIT_EVENT: u8 = 1;

/// A completion queue.
pub struct Cq {
    native: NonNull<ibv_cq>,
    context: Ref<Context>,
    channel: Option<Ref<Channel>>,
    ownership: Ownership,
    user_data: u64,
    /// Marks this object's entry in the context's table.
    entry: *const (),
    /// How to read it field by field, if it was made for that.
    extended: Option<Extended>,
    /// Completions of destroyed queue pairs that were passed over.
    skipped: AtomicU64,
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

    fn context(&self) -> Option<&Context> {
        Some(&self.context)
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

    fn ownership(&self) -> Ownership {
        self.ownership
    }
}

impl Cq {
    pub fn create(
        context: Ref<Context>,
        channel: Option<Ref<Channel>>,
        attr: &vbn_cq_attr,
    ) -> Result<&'static Slot<Cq>> {
        has_poll(&context)?;
        let vacant = SLAB.take()?;
        let room = context.reserve()?;
        let entry = std::ptr::from_ref(vacant.slot()).cast();
        let (native, extended) = cq_create::make(&context, channel.as_ref(), attr)?;
        room.insert(native.as_ptr().cast(), table_entry(entry, attr.user_data));
        let user_data = attr.user_data;
        let (ownership, skipped) = (Ownership::Own, AtomicU64::new(0));
        Ok(vacant.publish(Cq { native, context, channel, ownership, user_data, entry, extended, skipped }))
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
        let (user_data, skipped) = (attr.user_data, AtomicU64::new(0));
        Ok(vacant.publish(Cq { native, context, channel, ownership, user_data, entry, extended: None, skipped }))
    }

    pub fn context(&self) -> &Ref<Context> {
        &self.context
    }

    pub fn native(&self) -> *mut ibv_cq {
        self.native.as_ptr()
    }

    /// VBN_WC_EX_*.
    pub fn fields(&self) -> u64 {
        self.extended.map_or(0, |extended| extended.fields)
    }

    #[inline(always)]
    pub fn extended(&self) -> Option<&Extended> {
        self.extended.as_ref()
    }

    /// Whether a failed poll was about a completion of a destroyed queue pair: libefa drops it and says EINVAL. Such are
    /// counted and passed over.
    #[cold]
    pub fn skipped(&self, errno: i32) -> bool {
        let stale = errno == libc::EINVAL && self.context.efa().is_some();
        if stale {
            // No locked instruction: two threads that poll one queue may count one for two.
            self.skipped.store(self.skipped.load(Ordering::Relaxed).wrapping_add(1), Ordering::Relaxed);
        }
        stale
    }

    /// Notes a failure at its queue pair.
    pub fn note(&self, wc: &vbn_wc) {
        if wc.status != VBN_WC_WR_FLUSH_ERR {
            qp::note_failure(self.context.slot(), self.native.as_ptr(), wc);
        }
    }

    /// What it may mean that polling failed.
    pub fn explain_poll(&self, error: Error) -> Error {
        error
            .on(self.context.name())
            .hint("the queue may have overflowed or failed: look for VBN_EVENT_CQ_ERR among the events")
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
            wait_mode: if self.channel.is_some() { VBN_CQ_WAIT_EVENT } else { VBN_CQ_WAIT_SLEEP },
            reserved0: [0; 6],
            fields: self.fields(),
            skipped: self.skipped.load(Ordering::Relaxed),
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
        let armed = self.context.ret("ibv_req_notify_cq", || unsafe {
            inline::req_notify_cq(self.native.as_ptr(), i32::from(solicited_only))
        });
        armed.map_err(|error| match error.status {
            VBN_ERR_NOT_SUPPORTED => error.hint(
                "the driver has no completion notifications (EFA's since rdma-core 38): create the queue without a channel, \
                 and vbn_cq_wait polls",
            ),
            _ => error,
        })
    }

    /// Takes up to `count` completions.
    ///
    /// An empty queue is what a polling program sees most, so that way is the short one: nothing is left to do after the
    /// driver's call. What only the other way needs waits on the stack, volatile, or else the compiler would keep it in
    /// registers that every call must save and restore.
    ///
    /// # Safety
    /// `wcs` must have room for `count` completions.
    #[inline(always)]
    pub unsafe fn poll(&self, count: u32, wcs: *mut vbn_wc, got: &mut u32) -> vbn_status {
        *got = 0;
        let got = ptr::from_mut(got);
        let mut kept_cq = MaybeUninit::<*const Self>::uninit();
        let mut kept_wcs = MaybeUninit::<*mut vbn_wc>::uninit();
        let mut kept_got = MaybeUninit::<*mut u32>::uninit();
        // SAFETY: the three are variables of this function. The queue is live and the caller vouches for the room; vbn_wc has
        // ibv_wc's layout. A count above INT_MAX is out of contract; drivers take it for "nothing wanted".
        unsafe {
            ptr::write_volatile(kept_cq.as_mut_ptr(), ptr::from_ref(self).wrapping_byte_sub(IN_SLOT));
            ptr::write_volatile(kept_wcs.as_mut_ptr(), wcs);
            ptr::write_volatile(kept_got.as_mut_ptr(), got);
            let found = inline::poll_cq(self.native.as_ptr(), count as i32, wcs.cast());
            if is_zero(found) {
                return found; // VBN_OK, in the register where it belongs
            }
            let cq = ptr::read_volatile(kept_cq.as_ptr());
            polled(cq, ptr::read_volatile(kept_wcs.as_ptr()), ptr::read_volatile(kept_got.as_ptr()), found)
        }
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
        // Were it known to be constant, the caller could not end in a jump here.
        hint::black_box(VBN_OK)
    }

    #[cold]
    #[inline(never)]
    extern "C" fn poll_failed(&self, mut found: i32, wcs: *mut vbn_wc, got: *mut u32) -> vbn_status {
        while found < 0 {
            let errno = convert::neg_errno(found as isize).err().unwrap_or(libc::EIO);
            if !self.skipped(errno) {
                return error::record(Op::CqPoll, self.explain_poll(Error::call("ibv_poll_cq", errno)));
            }
            // SAFETY: the queue is live. A driver that fails was asked for one completion at least: there is room for one.
            found = unsafe { inline::poll_cq(self.native.as_ptr(), 1, wcs.cast()) };
        }
        if found == 0 {
            return VBN_OK;
        }
        // SAFETY: what `Cq::poll` was given.
        unsafe { polled(ptr::from_ref(self).wrapping_byte_sub(IN_SLOT), wcs, got, found) }
    }

    /// Waits for completions: polls for `busy_ns`, then arms, polls again and sleeps, until there is one or the time
    /// is up. Without a channel it goes on polling, with sleeps that grow.
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
        let (mut yields, mut pause) = (FEW, 0_i64);
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
                _ if now.saturating_sub(start) < busy_ns || yields > 0 => {
                    yields = yields.saturating_sub(1);
                    os::yield_now();
                }
                _ => {
                    pause = pause.saturating_mul(2).clamp(SHORTEST_PAUSE, LONGEST_PAUSE);
                    os::sleep_ns(deadline.map_or(pause, |deadline| pause.min(deadline.saturating_sub(now))));
                }
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

/// The rest of `Cq::poll` when the driver has filled `found` of `wcs`, or failed. It takes pointers, since of references the
/// compiler loads what is behind them before it is needed.
///
/// # Safety
/// The pointers must be what `Cq::poll` kept.
#[inline(never)]
unsafe extern "C" fn polled(cq: *const Cq, wcs: *mut vbn_wc, got: *mut u32, found: i32) -> vbn_status {
    let cq = cq.wrapping_byte_add(IN_SLOT);
    // SAFETY: see above.
    unsafe {
        if found < 0 {
            return (*cq).poll_failed(found, wcs, got);
        }
        *got = found as u32;
        if has_unusual(wcs, found as usize) { (*cq).unusual(wcs, found as usize) } else { VBN_OK }
    }
}

/// A queue without channel is polled so often before the sleeps begin.
const FEW: u32 = 64;
/// Nanoseconds between two polls of a queue without channel: from, to.
const SHORTEST_PAUSE: i64 = 10_000;
const LONGEST_PAUSE: i64 = 1_000_000;

/// How far behind its handle an object lies. `Cq::poll` keeps the handle's address, which is in a register already.
const IN_SLOT: usize = size_of::<u64>();

/// Whether a number is 0. On x86-64 the compiler isn't told what the answer means, so that it returns the number that it has
/// instead of making a 0.
#[inline(always)]
fn is_zero(number: i32) -> bool {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    // SAFETY: looks at a register.
    unsafe {
        std::arch::asm!("test {0:e}, {0:e}", "jz {1}", in(reg) number, label { return true }, options(nomem, nostack));
        false
    }
    #[cfg(any(not(target_arch = "x86_64"), miri))]
    (number == 0)
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
        if count == 1 {
            return status != VBN_WC_SUCCESS || flags & VBN_WC_WITH_IMM != 0;
        }
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
