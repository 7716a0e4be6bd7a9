// SPDX-License-Identifier: MIT OR Apache-2.0
//! What can be done to a registered region: registering it anew, fetching its pages; and the region without memory.

use std::ffi::c_void;
use std::mem;
use std::ptr;
use std::sync::atomic::Ordering;

use super::cold::cold_structs;
use super::error::{Error, Reason, Result};
use super::gpu::VBN_GPU_KIND_ANY;
use super::handle::vbn_pd;
use super::mr::*;
use super::pd::Pd;
use super::post::vbn_sge;
use super::slab::{Ref, Slot};
use super::status::*;
use crate::sys::ibv::*;
use crate::sys::{convert, inline, os};

/// `vbn_mr_rereg_attr.set`: addr, length and owner. Where the region begins for peers moves to `addr`, too.
pub const VBN_MR_REREG_TRANSLATION: u64 = 1;
/// `vbn_mr_rereg_attr.set`: pd.
pub const VBN_MR_REREG_PD: u64 = 2;
/// `vbn_mr_rereg_attr.set`: access.
pub const VBN_MR_REREG_ACCESS: u64 = 4;
const REREG_KNOWN: u64 = VBN_MR_REREG_TRANSLATION | VBN_MR_REREG_PD | VBN_MR_REREG_ACCESS;

/// `advice`: fetch the pages to be read.
pub const VBN_ADVISE_PREFETCH: i32 = 0;
/// `advice`: fetch the pages to be written.
pub const VBN_ADVISE_PREFETCH_WRITE: i32 = 1;
/// `advice`: tell the device of the pages that are there already.
pub const VBN_ADVISE_PREFETCH_NO_FAULT: i32 = 2;
/// `flags` of vbn_mr_advise: come back when it is done, and tell how it went.
pub const VBN_ADVISE_FLUSH: u32 = 1;

/// What `vbn_mr_rereg` is told.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct vbn_mr_rereg_attr {
    /// sizeof(vbn_mr_rereg_attr).
    pub struct_size: usize,
    /// What changes: VBN_MR_REREG_*. One at least.
    pub set: u64,
    /// The protection domain to move to, of the same context.
    pub pd: *mut vbn_pd,
    /// The new memory...
    pub addr: *mut c_void,
    /// ... its bytes...
    pub length: u64,
    /// ... and whatever keeps it alive, instead of what was given before.
    pub owner: *mut c_void,
    /// VBN_ACCESS_*.
    pub access: u64,
}
cold_structs!(vbn_mr_rereg_attr);

impl Mr {
    /// Changes memory, domain or access of a region. `pd` is that of `attr`.
    pub fn rereg(&self, pd: Option<Ref<Pd>>, attr: &vbn_mr_rereg_attr) -> Result<()> {
        self.check_rereg(pd.as_ref(), attr)?;
        let context = self.device();
        let has = |bit| attr.set & bit != 0;
        let native_pd = pd.as_ref().map_or(ptr::null_mut(), |pd| pd.native());
        let (addr, length) =
            if has(VBN_MR_REREG_TRANSLATION) { (attr.addr, attr.length) } else { (ptr::null_mut(), 0) };
        let access = if has(VBN_MR_REREG_ACCESS) { attr.access as i32 } else { 0 };
        // Two at a time would each leave half of what they want.
        let mut own_pd = self.pd.lock();
        if self.state.lost.load(Ordering::Relaxed) {
            return Err(Error::text(VBN_ERR_ARGUMENT, "an earlier vbn_mr_rereg has lost the region").hint("close it"));
        }
        os::set_errno(0);
        // SAFETY: region and PD are live and of one context; whether the memory is there is the kernel's to check.
        let ret = unsafe {
            (context.verbs().rereg_mr)(self.native(), attr.set as i32, native_pd, addr, length as usize, access)
        };
        let failed = convert::neg_code(ret, os::errno()).err();
        match failed {
            None | Some((IBV_REREG_MR_ERR_DO_FORK_OLD, _)) => {}
            Some((code, errno)) => return Err(self.rereg_failed(code, errno, attr)),
        }
        if let Some(pd) = pd {
            self.state.native_pd.store(pd.native(), Ordering::Relaxed);
            drop(mem::replace(&mut *own_pd, pd));
        }
        if has(VBN_MR_REREG_TRANSLATION) {
            self.state.iova.store(addr as u64, Ordering::Relaxed);
            self.state.length.store(length, Ordering::Relaxed);
            self.state.owner.store(attr.owner, Ordering::Relaxed);
        }
        if has(VBN_MR_REREG_ACCESS) {
            self.state.access.store(attr.access, Ordering::Relaxed);
        }
        // SAFETY: the region lives, and nobody else registers it anew now.
        let (lkey, rkey) = unsafe { ((*self.native()).lkey, (*self.native()).rkey) };
        self.state.lkey.store(lkey, Ordering::Relaxed);
        self.state.rkey.store(rkey, Ordering::Relaxed);
        match failed {
            None => Ok(()),
            Some((_, errno)) => Err(because("the old memory could not be given back to forked children", errno)
                .on(context.name())
                .hint("the region IS changed as asked; children of later forks will not see the old memory")),
        }
    }

    fn check_rereg(&self, pd: Option<&Ref<Pd>>, attr: &vbn_mr_rereg_attr) -> Result<()> {
        let has = |bit| attr.set & bit != 0;
        if attr.set & !REREG_KNOWN != 0 {
            return Err(Error::unknown_bits("set", attr.set, REREG_KNOWN));
        }
        if attr.set == 0 {
            return Err(Error::text(VBN_ERR_ARGUMENT, "set is 0, so there is nothing to change")
                .hint("name what changes: VBN_MR_REREG_*"));
        }
        if !matches!(self.kind, VBN_MR_HOST | VBN_MR_ADOPTED) {
            return Err(Error::text(VBN_ERR_ARGUMENT, "only regions of this process's memory can be registered anew")
                .value(self.kind as u64, 0)
                .hint("close this one and make another"));
        }
        if has(VBN_MR_REREG_PD) {
            let pd = pd.ok_or(Error::argument(Reason::Null("pd")))?;
            if !pd.context().is(self.device().slot()) {
                return Err(Error::argument(Reason::Unrelated("pd", "context than the region")));
            }
        }
        if has(VBN_MR_REREG_TRANSLATION) {
            if attr.addr.is_null() {
                return Err(Error::argument(Reason::Null("addr")));
            }
            if attr.length == 0 {
                return Err(Error::range("length", 0, "at least 1"));
            }
            check_range("the room from addr to 2^64", attr.addr as u64, attr.length)?;
            let most = self.device().device().max_mr_size;
            if most != 0 && attr.length > most {
                return Err(Error::limit("length", attr.length, most).on(self.device().name()));
            }
        }
        if has(VBN_MR_REREG_ACCESS) {
            check_access(attr.access)?;
            if attr.access & VBN_ACCESS_ZERO_BASED != 0 {
                return Err(Error::text(VBN_ERR_ARGUMENT, "VBN_ACCESS_ZERO_BASED can't be had by vbn_mr_rereg")
                    .hint("register a region of its own"));
            }
        }
        Ok(())
    }

    /// What the function's code says of the region after a failure.
    fn rereg_failed(&self, code: i32, errno: i32, attr: &vbn_mr_rereg_attr) -> Error {
        let error = match code {
            // Nothing was asked of the kernel.
            IBV_REREG_MR_ERR_CMD if errno == libc::EOPNOTSUPP => Error::call("ibv_rereg_mr", errno)
                .hint("the driver can't do this: the region is as it was; make another"),
            IBV_REREG_MR_ERR_INPUT => Error::call("ibv_rereg_mr", errno).hint("the region is as it was"),
            IBV_REREG_MR_ERR_DONT_FORK_NEW => {
                because("the new memory could not be kept from forked children", errno).hint("the region is as it was")
            }
            _ => {
                self.state.lost.store(true, Ordering::Relaxed);
                let error = if errno == libc::ENOMEM && attr.set & VBN_MR_REREG_TRANSLATION != 0 {
                    memlock_error("ibv_rereg_mr", errno, attr.length)
                } else {
                    Error::call("ibv_rereg_mr", errno)
                };
                error.hint("nothing is known of the region now: don't use its keys, close it and make another")
            }
        };
        error.on(self.device().name())
    }

    /// A region that has no memory: what is read from it is 0, what is written to it is dropped.
    pub fn alloc_null(pd: Ref<Pd>, attr: &vbn_mr_attr) -> Result<&'static Slot<Mr>> {
        if attr.set != 0 {
            return Err(Error::unknown_bits("set", attr.set, 0));
        }
        let vacant = SLAB.take()?;
        let context = pd.context();
        // SAFETY: the PD is live.
        let native = context.made("ibv_alloc_null_mr", || unsafe { inline::alloc_null_mr(pd.native()) });
        let native = native.map_err(|error| match error.errno {
            libc::EOPNOTSUPP => error.hint("the device has no null region: use a scratch buffer of your own"),
            _ => error,
        })?;
        let (owner, user_data) = (attr.owner, attr.user_data);
        let access = VBN_ACCESS_LOCAL_WRITE;
        let request =
            Request { iova: 0, length: u64::MAX, access, kind: VBN_MR_NULL, gpu: VBN_GPU_KIND_ANY, owner, user_data };
        Ok(vacant.publish(request.finish(native, pd)))
    }
}

fn because(why: &'static str, errno: i32) -> Error {
    Error { reason: Reason::CallBecause("ibv_rereg_mr", why), ..Error::call("ibv_rereg_mr", errno) }
}

/// Asks for pages of on-demand regions before the device stumbles over them.
pub fn advise(pd: &Pd, advice: i32, flags: u32, sges: &[vbn_sge]) -> Result<()> {
    if !matches!(advice, VBN_ADVISE_PREFETCH | VBN_ADVISE_PREFETCH_WRITE | VBN_ADVISE_PREFETCH_NO_FAULT) {
        return Err(Error::range_signed("advice", advice.into(), "one of VBN_ADVISE_*"));
    }
    if flags & !VBN_ADVISE_FLUSH != 0 {
        return Err(Error::unknown_bits("flags", flags.into(), VBN_ADVISE_FLUSH.into()));
    }
    if sges.is_empty() {
        return Err(Error::range("num_sge", 0, "at least 1"));
    }
    let context = pd.context();
    let count = u32::try_from(sges.len()).unwrap_or(u32::MAX);
    // SAFETY: the PD is live; vbn_sge has ibv_sge's layout, and the segments are only read.
    let advised = context.ret("ibv_advise_mr", || unsafe {
        inline::advise_mr(pd.native(), advice as u32, flags, sges.as_ptr().cast_mut().cast(), count)
    });
    advised.map_err(|error| match error.errno {
        libc::EOPNOTSUPP => {
            error.hint("the device can't fetch pages ahead: it has no on-demand paging, or not this advice")
        }
        libc::EINVAL | libc::ENOENT => {
            error.hint("each segment must lie inside a region of this PD that was registered with VBN_ACCESS_ON_DEMAND")
        }
        libc::EFAULT => error.hint("not all of the memory is mapped, or it may not be written"),
        _ => error,
    })
}

const _: () = {
    assert!(VBN_MR_REREG_TRANSLATION == IBV_REREG_MR_CHANGE_TRANSLATION as u64);
    assert!(
        VBN_MR_REREG_PD == IBV_REREG_MR_CHANGE_PD as u64 && VBN_MR_REREG_ACCESS == IBV_REREG_MR_CHANGE_ACCESS as u64
    );
    assert!(
        VBN_ADVISE_PREFETCH as u32 == IBV_ADVISE_MR_ADVICE_PREFETCH && VBN_ADVISE_FLUSH == IBV_ADVISE_MR_FLAG_FLUSH
    );
    assert!(VBN_ADVISE_PREFETCH_WRITE as u32 == IBV_ADVISE_MR_ADVICE_PREFETCH_WRITE);
    assert!(VBN_ADVISE_PREFETCH_NO_FAULT as u32 == IBV_ADVISE_MR_ADVICE_PREFETCH_NO_FAULT);
};
