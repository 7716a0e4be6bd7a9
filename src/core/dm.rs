// SPDX-License-Identifier: MIT OR Apache-2.0
//! Memory on the device itself: peers reach it without the way over PCIe.

use std::ffi::c_void;
use std::ptr::NonNull;

use super::adopt::{self, Ownership, vbn_adopt_attr};
use super::cold::cold_structs;
use super::context::Context;
use super::error::{Error, Reason, Result};
use super::gpu::VBN_GPU_KIND_ANY;
use super::import;
use super::mr::*;
use super::pd::Pd;
use super::slab::{Kind, Object, Ref, Slab, Slot};
use super::status::{VBN_ERR_ARGUMENT, VBN_ERR_SYMBOL_MISSING};
use crate::sys::ibv::{IBV_DM_MASK_HANDLE, Zeroed, ibv_alloc_dm_attr, ibv_dm};
use crate::sys::inline;

/// What `vbn_dm_alloc` is told.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct vbn_dm_attr {
    /// sizeof(vbn_dm_attr).
    pub struct_size: usize,
    /// Bytes. Required.
    pub length: u64,
    /// Comes back in queries.
    pub user_data: u64,
    /// Alignment, as a power of two; 0: none wanted.
    pub log_align: u32,
    /// Must be 0.
    pub reserved0: u32,
}

/// What `vbn_dm_query` tells.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct vbn_dm_info {
    /// sizeof(vbn_dm_info), set by the caller.
    pub struct_size: usize,
    /// As given at allocation.
    pub user_data: u64,
    /// Bytes, as given at allocation.
    pub length: u64,
    /// The kernel's number of it; 0 where libibverbs doesn't tell (before rdma-core 35).
    pub handle: u32,
    /// 0.
    pub reserved0: u32,
}
cold_structs!(vbn_dm_attr, vbn_dm_info);

/// Memory on the device.
pub struct Dm {
    native: NonNull<ibv_dm>,
    context: Ref<Context>,
    ownership: Ownership,
    /// Of another process's, which goes on: how it is ended here.
    unimport: Option<unsafe extern "C" fn(*mut ibv_dm)>,
    length: u64,
    user_data: u64,
}

// SAFETY: libibverbs' control calls are thread-safe, and the pointer is used for nothing else.
unsafe impl Send for Dm {}
// SAFETY: as above.
unsafe impl Sync for Dm {}

static DM_SLAB: Slab<Dm> = Slab::new();

impl Object for Dm {
    const KIND: Kind = Kind::Dm;
    const LEAF: bool = false;

    fn slab() -> &'static Slab<Self> {
        &DM_SLAB
    }

    fn context(&self) -> Option<&Context> {
        Some(&self.context)
    }

    fn native_address(&self) -> *const c_void {
        self.native.as_ptr().cast()
    }

    fn destroy(&self) -> Result<()> {
        self.ownership.destroy(self.native(), || {
            if let Some(unimport) = self.unimport {
                // SAFETY: as below.
                unsafe { unimport(self.native()) };
                return Ok(());
            }
            // SAFETY: the memory is ours and no region of ours is on it any more.
            self.context
                .ret("ibv_free_dm", || unsafe { inline::free_dm(self.native()) })
                .map_err(|error| error.if_busy("deregister what raw verbs registered of it"))
        })
    }

    fn ownership(&self) -> Ownership {
        self.ownership
    }
}

impl Dm {
    pub fn alloc(context: Ref<Context>, attr: &vbn_dm_attr) -> Result<&'static Slot<Dm>> {
        if attr.reserved0 != 0 {
            return Err(Error::range("reserved0", attr.reserved0.into(), "0"));
        }
        if attr.length == 0 {
            return Err(Error::range("length", 0, "at least 1"));
        }
        if attr.log_align > 63 {
            return Err(Error::range("log_align", attr.log_align.into(), "0..63"));
        }
        // A device that has none tells no limit, and its driver refuses.
        let most = context.query_device()?.max_dm_size;
        if most != 0 && attr.length > most {
            return Err(Error::limit("length", attr.length, most).on(context.name()));
        }
        let vacant = DM_SLAB.take()?;
        let mut init = ibv_alloc_dm_attr::zeroed();
        init.length = attr.length as usize;
        init.log_align_req = attr.log_align;
        // SAFETY: the context is open, and the struct is ours.
        let native = context.made("ibv_alloc_dm", || unsafe { inline::alloc_dm(context.native(), &mut init) });
        let native = native.map_err(|error| match error.errno {
            libc::EOPNOTSUPP => error.hint("the device has no memory of its own (max_dm_size): use the host's"),
            _ => error,
        })?;
        let (ownership, unimport) = (Ownership::Own, None);
        Ok(vacant.publish(Dm { native, context, ownership, unimport, length: attr.length, user_data: attr.user_data }))
    }

    /// Takes in memory allocated by raw verbs on the same context. Nothing tells its length, so that must be said.
    pub fn adopt(
        context: Ref<Context>,
        native: *mut ibv_dm,
        length: u64,
        attr: &vbn_adopt_attr,
    ) -> Result<&'static Slot<Dm>> {
        let (native, ownership) = adopt::check::<Dm, _>(native, attr, 0)?;
        if length == 0 {
            return Err(Error::range("length", 0, "what the memory was allocated with"));
        }
        // SAFETY: the caller says that this is a live ibv_dm.
        if unsafe { native.as_ref() }.context != context.native() {
            return Err(Error::argument(Reason::Unrelated("the ibv_dm", "ibv_context")));
        }
        let user_data = attr.user_data;
        Ok(DM_SLAB.take()?.publish(Dm { native, context, ownership, unimport: None, length, user_data }))
    }

    /// The memory with the kernel's number `handle`, allocated by any process in the imported context.
    pub fn import(context: Ref<Context>, handle: u32, attr: &vbn_dm_attr) -> Result<&'static Slot<Dm>> {
        if attr.reserved0 != 0 || attr.log_align != 0 {
            return Err(Error::text(
                VBN_ERR_ARGUMENT,
                "log_align and reserved0 must be 0: the memory is there already",
            ));
        }
        if attr.length == 0 {
            return Err(Error::range("length", 0, "what the memory was allocated with"));
        }
        let verbs = context.verbs();
        let (Some(import), Some(unimport)) = (verbs.import_dm, verbs.unimport_dm) else {
            return Err(
                Error::new(VBN_ERR_SYMBOL_MISSING, Reason::Symbol("ibv_import_dm", "35")).hint("update rdma-core")
            );
        };
        let vacant = DM_SLAB.take()?;
        // SAFETY: the context is open.
        let native = context.made("ibv_import_dm", || unsafe { import(context.native(), handle) });
        let native = native.map_err(import::explain)?;
        let (ownership, unimport) = (Ownership::Own, Some(unimport));
        Ok(vacant.publish(Dm { native, context, ownership, unimport, length: attr.length, user_data: attr.user_data }))
    }

    pub fn native(&self) -> *mut ibv_dm {
        self.native.as_ptr()
    }

    /// The kernel's number of it, where libibverbs tells.
    fn handle(&self) -> u32 {
        // SAFETY: the memory lives as long as this object, and the mask says whether the field is there.
        unsafe {
            let native = self.native();
            if (*native).comp_mask & IBV_DM_MASK_HANDLE != 0 { (*native).handle } else { 0 }
        }
    }

    pub fn info(&self) -> vbn_dm_info {
        vbn_dm_info {
            struct_size: size_of::<vbn_dm_info>(),
            user_data: self.user_data,
            length: self.length,
            handle: self.handle(),
            reserved0: 0,
        }
    }

    /// Copies bytes of this process to the device.
    pub fn copy_to(&self, offset: u64, from: &[u8]) -> Result<()> {
        let length = from.len();
        self.check(offset, length as u64)?;
        let from = from.as_ptr().cast();
        // SAFETY: the memory is live, and the range lies inside of it.
        self.copied("memcpy_to_dm", || unsafe { inline::memcpy_to_dm(self.native.as_ptr(), offset, from, length) })
    }

    /// Copies bytes of the device to this process.
    pub fn copy_from(&self, offset: u64, to: &mut [u8]) -> Result<()> {
        let length = to.len();
        self.check(offset, length as u64)?;
        let to = to.as_mut_ptr().cast();
        // SAFETY: as in `copy_to`.
        self.copied("memcpy_from_dm", || unsafe { inline::memcpy_from_dm(to, self.native.as_ptr(), offset, length) })
    }

    fn check(&self, offset: u64, length: u64) -> Result<()> {
        if length == 0 {
            return Err(Error::range("length", 0, "at least 1"));
        }
        match self.length.checked_sub(offset) {
            Some(room) if length <= room => Ok(()),
            Some(room) if room > 0 => Err(Error::argument(Reason::Exceeds("length"))
                .value(length, room)
                .hint("the limit is what the memory has left behind offset")),
            _ => Err(Error::range("offset", offset, "inside the memory").value(offset, self.length)),
        }
    }

    fn copied(&self, function: &'static str, call: impl FnOnce() -> i32) -> Result<()> {
        self.context.ret(function, call).map_err(|error| match error.errno {
            libc::EINVAL | libc::EFAULT => error.hint("the device may want offset and length to be multiples of 4"),
            _ => error,
        })
    }
}

impl Mr {
    /// Registers a part of a device's memory. Its addresses count from 0.
    pub fn reg_dm(
        pd: Ref<Pd>,
        dm: Ref<Dm>,
        offset: u64,
        length: u64,
        access: u64,
        attr: &vbn_mr_attr,
    ) -> Result<&'static Slot<Mr>> {
        if attr.set != 0 {
            return Err(Error::unknown_bits("set", attr.set, 0).hint("addresses in such a region count from 0"));
        }
        check_access(access)?;
        dm.check(offset, length)?;
        let context = pd.context();
        if !dm.context.is(context.slot()) {
            return Err(Error::argument(Reason::Unrelated("dm", "context than pd")));
        }
        let vacant = SLAB.take()?;
        // The kernel takes no other.
        let access = access | VBN_ACCESS_ZERO_BASED;
        // SAFETY: PD and memory are live and of one context.
        let native = context.made("ibv_reg_dm_mr", || unsafe {
            inline::reg_dm_mr(pd.native(), dm.native.as_ptr(), offset, length as usize, access as u32)
        });
        let native = native.map_err(|error| match error.errno {
            libc::EOPNOTSUPP => error.hint("the device can't register memory of its own, or not with this access"),
            _ => error,
        })?;
        let (owner, user_data) = (attr.owner, attr.user_data);
        let request = Request { iova: 0, length, access, kind: VBN_MR_DM, gpu: VBN_GPU_KIND_ANY, owner, user_data };
        let mut mr = request.finish(native, pd);
        mr.dm = Some(dm);
        Ok(vacant.publish(mr))
    }
}
