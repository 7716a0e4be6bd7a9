// SPDX-License-Identifier: MIT OR Apache-2.0
//! Memory windows: a part of a region with a key of its own, which can be given to a peer and taken back at the cost of a
//! request, while region and memory stay registered.

use std::ffi::c_void;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, Ordering};

use super::adopt::{self, Ownership, vbn_adopt_attr};
use super::cold::cold_structs;
use super::context::Context;
use super::error::{Error, Reason, Result};
use super::handle::vbn_mr;
use super::mr::*;
use super::pd::Pd;
use super::post::{VBN_SEND_FENCE, VBN_SEND_SIGNALED, state_hint};
use super::qp::Qp;
use super::qp_create::{VBN_QPT_RC, VBN_QPT_XRC_SEND};
use super::slab::{Kind, Object, Ref, Slab, Slot};
use super::status::*;
use crate::sys::ibv::{self, ibv_mw, ibv_mw_bind, ibv_mw_bind_info, ibv_pd};
use crate::sys::{convert, inline, os};

/// Bound by vbn_mw_bind; open to every queue pair of its PD.
pub const VBN_MW_TYPE_1: i32 = 1;
/// Bound by VBN_WR_BIND_MW, and on most devices open only to the peer of the queue pair that it was bound on (type 2B); taken
/// back by VBN_WR_LOCAL_INV or the peer's VBN_WR_SEND_WITH_INV.
pub const VBN_MW_TYPE_2: i32 = 2;

/// What `vbn_mw_alloc` may be told. All-zero is the default.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct vbn_mw_attr {
    /// sizeof(vbn_mw_attr).
    pub struct_size: usize,
    /// Comes back in queries.
    pub user_data: u64,
}

/// What `vbn_mw_query` tells.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct vbn_mw_info {
    /// sizeof(vbn_mw_info), set by the caller.
    pub struct_size: usize,
    /// As given at creation.
    pub user_data: u64,
    /// The key that the window got by the bind posted last, whether that has succeeded or not.
    pub rkey: u32,
    /// The kernel's number of the window.
    pub handle: u32,
    /// VBN_MW_TYPE_1 or VBN_MW_TYPE_2.
    pub mw_type: i32,
    /// 0.
    pub reserved0: u32,
}

/// What `vbn_mw_bind` is told.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct vbn_mw_bind_attr {
    /// sizeof(vbn_mw_bind_attr).
    pub struct_size: usize,
    /// Comes back in the completion, VBN_WC_BIND_MW.
    pub wr_id: u64,
    /// VBN_SEND_SIGNALED, VBN_SEND_FENCE.
    pub flags: u64,
    /// The region behind the window, of the same PD and with VBN_ACCESS_MW_BIND. Not kept alive.
    pub mr: *mut vbn_mr,
    /// Where the window begins, as the region's own addresses count (vbn_mr_remote_addr).
    pub addr: u64,
    /// Bytes. 0 takes the window back.
    pub length: u64,
    /// VBN_ACCESS_REMOTE_WRITE, VBN_ACCESS_REMOTE_READ, VBN_ACCESS_REMOTE_ATOMIC.
    pub access: u64,
}
cold_structs!(vbn_mw_attr, vbn_mw_info, vbn_mw_bind_attr);

/// A memory window.
pub struct Mw {
    native: NonNull<ibv_mw>,
    pd: Ref<Pd>,
    ownership: Ownership,
    mw_type: i32,
    user_data: u64,
}

// SAFETY: libibverbs' control calls are thread-safe; the one field of the native window that changes is used as an atomic.
unsafe impl Send for Mw {}
// SAFETY: as above.
unsafe impl Sync for Mw {}

static SLAB: Slab<Mw> = Slab::new();

impl Object for Mw {
    const KIND: Kind = Kind::Mw;
    const LEAF: bool = true;

    fn slab() -> &'static Slab<Self> {
        &SLAB
    }

    fn context(&self) -> Option<&Context> {
        Some(self.device())
    }

    fn native_address(&self) -> *const c_void {
        self.native.as_ptr().cast()
    }

    fn destroy(&self) -> Result<()> {
        self.ownership.destroy(self.native.as_ptr(), || {
            // SAFETY: the window is ours, and its handle is being closed.
            self.device().ret("ibv_dealloc_mw", || unsafe { inline::dealloc_mw(self.native.as_ptr()) })
        })
    }

    fn ownership(&self) -> Ownership {
        self.ownership
    }
}

impl Mw {
    pub fn alloc(pd: Ref<Pd>, mw_type: i32, attr: &vbn_mw_attr) -> Result<&'static Slot<Mw>> {
        if !matches!(mw_type, VBN_MW_TYPE_1 | VBN_MW_TYPE_2) {
            return Err(Error::range_signed("type", mw_type.into(), "VBN_MW_TYPE_1 (1) or VBN_MW_TYPE_2 (2)"));
        }
        let context = pd.context();
        if !has_type(context, mw_type) {
            return Err(Error::text(VBN_ERR_NOT_SUPPORTED, "the device reports no memory windows of this type")
                .value(mw_type as u64, 0)
                .on(context.name())
                .hint("device_cap_flags of vbn_context_query_device has the types"));
        }
        let vacant = SLAB.take()?;
        // SAFETY: the PD is live.
        let native = context.made("ibv_alloc_mw", || unsafe { inline::alloc_mw(pd.native(), mw_type as u32) })?;
        Ok(vacant.publish(Mw { native, pd, ownership: Ownership::Own, mw_type, user_data: attr.user_data }))
    }

    /// Takes in a window made by raw verbs in the same PD.
    pub fn adopt(pd: Ref<Pd>, native: *mut ibv_mw, attr: &vbn_adopt_attr) -> Result<&'static Slot<Mw>> {
        let (native, ownership) = adopt::check::<Mw, _>(native, attr, 0)?;
        // SAFETY: the caller says that this is a live ibv_mw.
        let raw = unsafe { native.as_ref() };
        if raw.pd != pd.native() {
            return Err(Error::argument(Reason::Unrelated("the ibv_mw", "ibv_pd")));
        }
        let mw_type = match raw.r#type {
            ibv::IBV_MW_TYPE_1 => VBN_MW_TYPE_1,
            ibv::IBV_MW_TYPE_2 => VBN_MW_TYPE_2,
            other => return Err(Error::range("the ibv_mw's type", other.into(), "IBV_MW_TYPE_1 or IBV_MW_TYPE_2")),
        };
        Ok(SLAB.take()?.publish(Mw { native, pd, ownership, mw_type, user_data: attr.user_data }))
    }

    pub fn device(&self) -> &Ref<Context> {
        self.pd.context()
    }

    pub fn native(&self) -> *mut ibv_mw {
        self.native.as_ptr()
    }

    /// The key where providers read it and, binding a window of type 1, write it.
    fn key(&self) -> &AtomicU32 {
        // SAFETY: the window lives as long as this object, and the field is aligned.
        unsafe { AtomicU32::from_ptr(&raw mut (*self.native.as_ptr()).rkey) }
    }

    /// The key of the bind that was posted last.
    pub fn rkey(&self) -> u32 {
        self.key().load(Ordering::Relaxed)
    }

    /// The key of the next bind, unless another one is wanted.
    pub fn next_rkey(&self) -> u32 {
        inline::inc_rkey(self.rkey())
    }

    pub fn set_key(&self, rkey: u32) {
        self.key().store(rkey, Ordering::Relaxed);
    }

    /// Puts back the key that the window had before a bind that failed.
    pub fn set_rkey(&self, rkey: u32) -> Result<()> {
        self.check_rkey(rkey)?;
        self.set_key(rkey);
        Ok(())
    }

    /// Of a window's key only the low byte is free.
    pub fn check_rkey(&self, rkey: u32) -> Result<()> {
        let own = self.rkey();
        if (rkey ^ own) >> 8 != 0 {
            return Err(Error::text(VBN_ERR_ARGUMENT, "rkey differs from the window's in more than its low byte")
                .value(rkey.into(), own.into())
                .hint("take vbn_mw_rkey and change the low byte, or give 0"));
        }
        Ok(())
    }

    pub fn must_be(&self, mw_type: i32) -> Result<()> {
        if self.mw_type == mw_type {
            return Ok(());
        }
        let text = if mw_type == VBN_MW_TYPE_1 {
            "a window of type 2 is bound by a request, VBN_WR_BIND_MW"
        } else {
            "a window of type 1 is bound by vbn_mw_bind, not by a request"
        };
        Err(Error::text(VBN_ERR_ARGUMENT, text).value(self.mw_type as u64, mw_type as u64))
    }

    /// Checks what a window shall stand for; `pd` is that of the queue pair.
    pub fn bind_info(&self, mr: &Mr, pd: *mut ibv_pd, addr: u64, length: u64, access: u64) -> Result<ibv_mw_bind_info> {
        for (what, of) in [("mw", self.pd.native()), ("mr", mr.native_pd())] {
            if of != pd {
                return Err(Error::argument(Reason::Unrelated(what, "protection domain than the queue pair")));
            }
        }
        let remote = VBN_ACCESS_REMOTE_WRITE | VBN_ACCESS_REMOTE_READ | VBN_ACCESS_REMOTE_ATOMIC;
        let known = if self.mw_type == VBN_MW_TYPE_2 { remote | VBN_ACCESS_ZERO_BASED } else { remote };
        if access & !known != 0 {
            return Err(Error::unknown_bits("access", access, known));
        }
        if let Some(of_mr) = mr.known_access() {
            if of_mr & VBN_ACCESS_MW_BIND == 0 {
                return Err(Error::text(VBN_ERR_ARGUMENT, "the region was registered without VBN_ACCESS_MW_BIND")
                    .value(of_mr, 0));
            }
            let writes = access & (VBN_ACCESS_REMOTE_WRITE | VBN_ACCESS_REMOTE_ATOMIC) != 0;
            if writes && of_mr & VBN_ACCESS_LOCAL_WRITE == 0 {
                let text = "a window to write through needs a region with VBN_ACCESS_LOCAL_WRITE";
                return Err(Error::text(VBN_ERR_ARGUMENT, text).value(of_mr, 0));
            }
        }
        let inside = addr.checked_sub(mr.remote_addr()).and_then(|offset| mr.length().checked_sub(offset));
        match inside {
            None => {
                return Err(Error::range("addr", addr, "inside the region").value(addr, mr.remote_addr()).hint(
                    "addr counts as the region's own addresses do (vbn_mr_remote_addr, which is the limit here)",
                ));
            }
            Some(room) if length > room => {
                return Err(Error::argument(Reason::Exceeds("length"))
                    .value(length, room)
                    .hint("the limit is what the region has left behind addr"));
            }
            Some(_) => {}
        }
        Ok(ibv_mw_bind_info { mr: mr.native(), addr, length, mw_access_flags: access as u32 })
    }

    /// Posts the bind of a window of type 1. Returns the new key.
    pub fn bind(&self, qp: &Qp, mr: &Mr, attr: &vbn_mw_bind_attr) -> Result<u32> {
        const FLAGS: u64 = VBN_SEND_SIGNALED | VBN_SEND_FENCE;
        self.must_be(VBN_MW_TYPE_1)?;
        if !matches!(qp.qp_type(), VBN_QPT_RC | VBN_QPT_XRC_SEND) {
            return Err(Error::text(VBN_ERR_ARGUMENT, "windows are bound on RC queue pairs (or XRC ones that send)")
                .on(self.device().name()));
        }
        if attr.flags & !FLAGS != 0 {
            return Err(Error::unknown_bits("flags", attr.flags, FLAGS));
        }
        let bind_info = self.bind_info(mr, qp.pd().native(), attr.addr, attr.length, attr.access)?;
        let mut bind = ibv_mw_bind { wr_id: attr.wr_id, send_flags: attr.flags as u32, bind_info };
        os::set_errno(0);
        // SAFETY: queue pair, window and region are live and of one PD.
        let ret = unsafe { inline::bind_mw(qp.native(), self.native(), &mut bind) };
        match convert::ret_errno(ret, os::errno()) {
            Ok(()) => Ok(self.rkey()),
            Err(errno) => Err(refused(qp, errno).on(self.device().name())),
        }
    }

    pub fn info(&self) -> vbn_mw_info {
        vbn_mw_info {
            struct_size: size_of::<vbn_mw_info>(),
            user_data: self.user_data,
            rkey: self.rkey(),
            // SAFETY: the window lives as long as this object.
            handle: unsafe { self.native.as_ref() }.handle,
            mw_type: self.mw_type,
            reserved0: 0,
        }
    }
}

/// Why a bind was not posted.
fn refused(qp: &Qp, errno: i32) -> Error {
    if errno == libc::ENOMEM {
        let depth = qp.path().max_send_wr.into();
        let full = Error::new(VBN_ERR_QUEUE_FULL, Reason::QueueFull("send")).value(depth, depth);
        return Error { errno, ..full }.hint("poll completions, then bind");
    }
    Error::call("ibv_bind_mw", errno).hint(state_hint(qp.path()))
}

/// Whether the device reports windows of a type.
pub fn has_type(context: &Context, mw_type: i32) -> bool {
    let device = context.device();
    let flags = if mw_type == VBN_MW_TYPE_1 {
        ibv::IBV_DEVICE_MEM_WINDOW
    } else {
        ibv::IBV_DEVICE_MEM_WINDOW_TYPE_2A | ibv::IBV_DEVICE_MEM_WINDOW_TYPE_2B
    };
    device.max_mw > 0 && device.device_cap_flags & flags != 0
}

const _: () = assert!(VBN_MW_TYPE_1 as u32 == ibv::IBV_MW_TYPE_1 && VBN_MW_TYPE_2 as u32 == ibv::IBV_MW_TYPE_2);
