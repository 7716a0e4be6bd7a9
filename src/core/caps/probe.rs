// SPDX-License-Identifier: MIT OR Apache-2.0
//! What no query tells is tried: a channel with a completion queue, the registration of a dma-buf that isn't there, and
//! on devices other than EFA a small queue pair of each type. So is what the kernel reports though the driver below libibverbs may
//! not know it: windows, atomic WRITE, FLUSH. They are made beside the handles, and destroyed at once.

use std::ffi::c_int;
use std::ptr::{self, NonNull};

use super::{DEVICE_ATOMIC_WRITE, DEVICE_FLUSH_GLOBAL, Efa, Release, WINDOWS, device_flags};
use crate::core::context::{Context, vbn_device_attr};
use crate::core::efa;
use crate::core::error::Result;
use crate::core::status::{VBN_ERR_NOT_SUPPORTED, of_errno};
use crate::sys::efa::*;
use crate::sys::ibv::*;
use crate::sys::{convert, inline, os};

/// How an attempt ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Answer {
    Yes,
    /// Not offered; the errno.
    Refused(i32),
    /// It failed, for a reason that says nothing.
    Unclear(i32),
    /// The library has no such function; it needs this release.
    NoFunction(u32),
}

/// All attempts.
#[derive(Clone, Copy, Debug)]
pub struct Tried {
    pub notify: Answer,
    pub dmabuf: Answer,
    pub rc: Answer,
    pub uc: Answer,
    pub ud: Answer,
    pub inline: Answer,
    /// What the queue pair got.
    pub inline_granted: u32,
    pub windows: Answer,
    pub atomic_write: Answer,
    pub flush: Answer,
}

/// Inline data that is asked for.
const INLINE: u32 = 32;

/// Nothing was tried.
const NOTHING: Answer = Answer::Unclear(0);

impl Tried {
    /// None could be made, for this reason.
    fn no_queue_pairs(&mut self, why: Answer) {
        (self.rc, self.uc, self.ud, self.inline) = (why, why, why, why);
        (self.atomic_write, self.flush) = (why, why);
    }
}

/// A call that makes something: the errno of its failure is an answer.
type Made<T> = std::result::Result<T, i32>;

impl Answer {
    /// `also`: errnos that mean the same as "not supported" in this place.
    fn of<T>(result: Made<T>, also: &[i32]) -> Self {
        match result {
            Ok(_) => Self::Yes,
            Err(errno) if of_errno(errno) == VBN_ERR_NOT_SUPPORTED || also.contains(&errno) => Self::Refused(errno),
            Err(errno) => Self::Unclear(errno),
        }
    }
}

/// Calls what returns NULL and sets errno.
fn made<T>(call: impl FnOnce() -> *mut T) -> Made<NonNull<T>> {
    os::set_errno(0);
    let native = call();
    convert::pointer(native, os::errno())
}

/// Tries it all. Fails only if something can't be destroyed again: then the driver holds what no handle stands for.
pub fn tries(context: &Context, device: &vbn_device_attr) -> Result<Tried> {
    let verbs = context.verbs();
    let mut tried = Tried {
        notify: NOTHING,
        dmabuf: NOTHING,
        rc: NOTHING,
        uc: NOTHING,
        ud: NOTHING,
        inline: NOTHING,
        inline_granted: 0,
        windows: NOTHING,
        atomic_write: NOTHING,
        flush: NOTHING,
    };
    // SAFETY: here and below, the context is open, and what is made is destroyed in this function, children first.
    let channel = made(|| unsafe { (verbs.create_comp_channel)(context.native()) });
    let on_channel = channel.and_then(|channel| create_cq(context, channel.as_ptr()));
    tried.notify = Answer::of(on_channel, &[]);
    let in_pd = try_in_pd(context, device_flags(device), on_channel.ok(), &mut tried);
    let cq = on_channel.map_or(Ok(()), |cq| {
        // SAFETY: as above.
        context.ret("ibv_destroy_cq", || unsafe { (verbs.destroy_cq)(cq.as_ptr()) })
    });
    let channel = channel.map_or(Ok(()), |channel| {
        // SAFETY: as above.
        context.ret("ibv_destroy_comp_channel", || unsafe { (verbs.destroy_comp_channel)(channel.as_ptr()) })
    });
    in_pd.and(cq).and(channel).map(|()| tried)
}

fn try_in_pd(context: &Context, flags: u64, cq: Option<NonNull<ibv_cq>>, tried: &mut Tried) -> Result<()> {
    let verbs = context.verbs();
    // SAFETY: the context is open.
    let pd = match made(|| unsafe { (verbs.alloc_pd)(context.native()) }) {
        Ok(pd) => pd,
        Err(errno) => {
            let unclear = Answer::Unclear(errno);
            (tried.dmabuf, tried.windows) = (unclear, unclear);
            tried.no_queue_pairs(unclear);
            return Ok(());
        }
    };
    let dmabuf = try_dmabuf(context, pd, tried);
    let window = if flags & WINDOWS != 0 { try_window(context, flags, pd, tried) } else { Ok(()) };
    let qps = if context.efa().is_none() { try_queue_pairs(context, flags, pd, cq, tried) } else { Ok(()) };
    // SAFETY: allocated above, and nothing is left in it.
    let pd = context.ret("ibv_dealloc_pd", || unsafe { (verbs.dealloc_pd)(pd.as_ptr()) });
    dmabuf.and(window).and(qps).and(pd)
}

fn create_cq(context: &Context, channel: *mut ibv_comp_channel) -> Made<NonNull<ibv_cq>> {
    // SAFETY: context and channel are live and belong together, or there is no channel.
    made(|| unsafe { (context.verbs().create_cq)(context.native(), 2, ptr::null_mut(), channel, 0) })
}

/// A driver that knows dma-bufs looks for this one, and says that the descriptor is bad.
fn try_dmabuf(context: &Context, pd: NonNull<ibv_pd>, tried: &mut Tried) -> Result<()> {
    let Some(reg) = context.verbs().reg_dmabuf_mr else {
        tried.dmabuf = Answer::NoFunction(34);
        return Ok(());
    };
    let access = IBV_ACCESS_LOCAL_WRITE as c_int;
    // SAFETY: the PD is live; there is no memory.
    let mr = made(|| unsafe { reg(pd.as_ptr(), 0, os::page_size(), 0, -1, access) });
    tried.dmabuf = if mr == Err(libc::EBADF) { Answer::Yes } else { Answer::of(mr, &[]) };
    mr.map_or(Ok(()), |mr| {
        // SAFETY: just registered.
        context.ret("ibv_dereg_mr", || unsafe { (context.verbs().dereg_mr)(mr.as_ptr()) })
    })
}

/// Before rdma-core 36 librxe has no windows, whatever the kernel reports.
fn try_window(context: &Context, flags: u64, pd: NonNull<ibv_pd>, tried: &mut Tried) -> Result<()> {
    let two = u64::from(IBV_DEVICE_MEM_WINDOW_TYPE_2A | IBV_DEVICE_MEM_WINDOW_TYPE_2B);
    let kind = if flags & two != 0 { IBV_MW_TYPE_2 } else { IBV_MW_TYPE_1 };
    // SAFETY: the PD is live.
    let mw = made(|| unsafe { inline::alloc_mw(pd.as_ptr(), kind) });
    tried.windows = Answer::of(mw, &[]);
    mw.map_or(Ok(()), |mw| {
        // SAFETY: just allocated, and bound to nothing.
        context.ret("ibv_dealloc_mw", || unsafe { inline::dealloc_mw(mw.as_ptr()) })
    })
}

fn try_queue_pairs(
    context: &Context,
    flags: u64,
    pd: NonNull<ibv_pd>,
    on_channel: Option<NonNull<ibv_cq>>,
    tried: &mut Tried,
) -> Result<()> {
    if let Some(cq) = on_channel {
        return try_types(context, flags, pd, cq, tried);
    }
    let cq = match create_cq(context, ptr::null_mut()) {
        Ok(cq) => cq,
        Err(errno) => {
            tried.no_queue_pairs(Answer::Unclear(errno));
            return Ok(());
        }
    };
    let types = try_types(context, flags, pd, cq, tried);
    // SAFETY: made above, and nothing completes to it any more.
    types.and(context.ret("ibv_destroy_cq", || unsafe { (context.verbs().destroy_cq)(cq.as_ptr()) }))
}

fn try_types(context: &Context, flags: u64, pd: NonNull<ibv_pd>, cq: NonNull<ibv_cq>, tried: &mut Tried) -> Result<()> {
    let attempt = |kind, inline, operations| try_queue_pair(context, pd, cq, kind, inline, operations);
    let with_inline = attempt(IBV_QPT_RC, INLINE, 0)?;
    tried.inline = verdict(with_inline);
    match with_inline {
        Ok(granted) => (tried.rc, tried.inline_granted) = (Answer::Yes, granted),
        // It may have been the inline data.
        Err(_) => {
            tried.rc = verdict(attempt(IBV_QPT_RC, 0, 0)?);
            if tried.rc != Answer::Yes {
                tried.inline = tried.rc;
            }
        }
    }
    tried.uc = verdict(attempt(IBV_QPT_UC, 0, 0)?);
    tried.ud = verdict(attempt(IBV_QPT_UD, 0, 0)?);
    // What the kernel has, a driver of before rdma-core 45 doesn't know.
    if flags & DEVICE_ATOMIC_WRITE != 0 {
        tried.atomic_write = verdict(attempt(IBV_QPT_RC, 0, IBV_QP_EX_WITH_ATOMIC_WRITE)?);
    }
    if flags & DEVICE_FLUSH_GLOBAL != 0 {
        tried.flush = verdict(attempt(IBV_QPT_RC, 0, IBV_QP_EX_WITH_FLUSH)?);
    }
    Ok(())
}

/// Where so little is asked for, EINVAL is about the type.
fn verdict(result: Made<u32>) -> Answer {
    Answer::of(result, &[libc::EINVAL])
}

/// Makes and destroys a queue pair, for these operations if they are not 0; returns the inline data that it got.
fn try_queue_pair(
    context: &Context,
    pd: NonNull<ibv_pd>,
    cq: NonNull<ibv_cq>,
    kind: ibv_qp_type,
    inline: u32,
    operations: u64,
) -> Result<Made<u32>> {
    let mut attr = ibv_qp_init_attr_ex::zeroed();
    attr.send_cq = cq.as_ptr();
    attr.recv_cq = cq.as_ptr();
    attr.qp_type = kind;
    attr.cap = ibv_qp_cap { max_send_wr: 1, max_recv_wr: 1, max_send_sge: 1, max_recv_sge: 1, max_inline_data: inline };
    attr.pd = pd.as_ptr();
    attr.comp_mask = IBV_QP_INIT_ATTR_PD;
    if operations != 0 {
        attr.comp_mask |= IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
        attr.send_ops_flags = operations;
    }
    // SAFETY: PD and queue are live and of this context.
    match made(|| unsafe { inline::create_qp_ex(context.verbs(), context.native(), &mut attr) }) {
        Ok(qp) => {
            // SAFETY: just made.
            context.ret("ibv_destroy_qp", || unsafe { (context.verbs().destroy_qp)(qp.as_ptr()) })?;
            Ok(Ok(attr.cap.max_inline_data))
        }
        Err(errno) => Ok(Err(errno)),
    }
}

/// What the library of an EFA adds.
pub fn efa(device: &efa::Device, context: &Context) -> Efa {
    let provider = device.provider;
    let mut target = [0; 256];
    let file = os::read_link(provider.path, &mut target).unwrap_or(provider.path.to_bytes());
    let release = Release::of(SYMBOLS, &provider.missing).narrowed(file);
    let depth = |inline: u16| {
        let mut attr = efadv_sq_depth_attr::zeroed();
        attr.max_send_sge = 1;
        attr.max_inline_data = inline.into();
        let query = provider.functions.get_max_sq_depth?;
        // SAFETY: the context is open and the provider's.
        let depth = unsafe { query(context.native(), &mut attr, size_of::<efadv_sq_depth_attr>() as u32) };
        u32::try_from(depth).ok()
    };
    let attr = device.attr;
    let narrow = depth(attr.inline_buf_size);
    let wide = depth(attr.inline_buf_size_ex.max(attr.inline_buf_size));
    Efa { attr, release, sq_depth: narrow.zip(wide) }
}
