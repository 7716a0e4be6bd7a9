// SPDX-License-Identifier: MIT OR Apache-2.0
//! Protection domains.

use std::ffi::c_void;
use std::ptr::NonNull;

use super::adopt::{self, Ownership, vbn_adopt_attr};
use super::ah_cache;
use super::cold::cold_structs;
use super::context::Context;
use super::error::{Error, Reason, Result};
use super::slab::{Kind, Object, Ref, Slab, Slot};
use super::td::Td;
use crate::sys::ibv::ibv_pd;

/// What `vbn_pd_alloc` may be told. All-zero is the default.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct vbn_pd_attr {
    /// sizeof(vbn_pd_attr).
    pub struct_size: usize,
    /// Comes back in queries.
    pub user_data: u64,
}

/// What `vbn_pd_query` tells.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct vbn_pd_info {
    /// sizeof(vbn_pd_info), set by the caller.
    pub struct_size: usize,
    /// As given at creation.
    pub user_data: u64,
    /// The kernel's number of the PD.
    pub handle: u32,
    /// 0.
    pub reserved0: u32,
}
cold_structs!(vbn_pd_attr, vbn_pd_info);

/// A protection domain: what ties memory regions to the queue pairs that may use them.
pub struct Pd {
    native: NonNull<ibv_pd>,
    context: Ref<Context>,
    ownership: Ownership,
    user_data: u64,
    origin: Origin,
}

/// Where a domain is from, and what it keeps alive.
pub enum Origin {
    Alloc,
    /// A parent domain of these.
    Parent(Ref<Pd>, Option<Ref<Td>>),
    /// Another process's, which goes on: ended by this function.
    Import(unsafe extern "C" fn(*mut ibv_pd)),
}

// SAFETY: libibverbs' control calls are thread-safe, and the pointer is used for nothing else.
unsafe impl Send for Pd {}
// SAFETY: as above.
unsafe impl Sync for Pd {}

static SLAB: Slab<Pd> = Slab::new();

impl Object for Pd {
    const KIND: Kind = Kind::Pd;
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
        // A PD with address handles in it can't go, and nobody else knows of the idle ones.
        self.trim_all()?;
        self.ownership.destroy(self.native.as_ptr(), || {
            if let Origin::Import(unimport) = self.origin {
                // SAFETY: as below.
                unsafe { unimport(self.native.as_ptr()) };
                return Ok(());
            }
            // SAFETY: the PD is ours and nothing of ours uses it any more.
            self.context
                .ret("ibv_dealloc_pd", || unsafe { (self.context.verbs().dealloc_pd)(self.native.as_ptr()) })
                .map_err(|error| error.if_busy("destroy what raw verbs made in it"))
        })
    }

    fn ownership(&self) -> Ownership {
        self.ownership
    }
}

impl Pd {
    pub fn alloc(context: Ref<Context>, attr: &vbn_pd_attr) -> Result<&'static Slot<Pd>> {
        let vacant = SLAB.take()?;
        // SAFETY: the context is open.
        let native = context.made("ibv_alloc_pd", || unsafe { (context.verbs().alloc_pd)(context.native()) })?;
        Ok(vacant.publish(Pd::new(native, context, Ownership::Own, attr.user_data, Origin::Alloc)))
    }

    pub fn new(
        native: NonNull<ibv_pd>,
        context: Ref<Context>,
        ownership: Ownership,
        user_data: u64,
        origin: Origin,
    ) -> Self {
        Self { native, context, ownership, user_data, origin }
    }

    pub fn origin(&self) -> &Origin {
        &self.origin
    }

    /// Destroys the idle address handles. Those of a parent domain are its PD's, which lives on.
    fn trim_all(&self) -> Result<()> {
        match self.origin {
            Origin::Parent(..) => Ok(()),
            _ => ah_cache::trim(self, 0).map(drop),
        }
    }

    /// The PD behind a parent domain, or this one.
    pub fn root(&self) -> *mut ibv_pd {
        match &self.origin {
            Origin::Parent(pd, _) => pd.native(),
            _ => self.native(),
        }
    }

    /// Takes in a PD made by raw verbs on the same context.
    pub fn adopt(context: Ref<Context>, native: *mut ibv_pd, attr: &vbn_adopt_attr) -> Result<&'static Slot<Pd>> {
        let (native, ownership) = adopt::check::<Pd, _>(native, attr, 0)?;
        // SAFETY: the caller says that this is a live ibv_pd.
        if unsafe { native.as_ref() }.context != context.native() {
            return Err(Error::argument(Reason::Unrelated("the ibv_pd", "ibv_context")));
        }
        Ok(SLAB.take()?.publish(Pd::new(native, context, ownership, attr.user_data, Origin::Alloc)))
    }

    pub fn context(&self) -> &Ref<Context> {
        &self.context
    }

    pub fn native(&self) -> *mut ibv_pd {
        self.native.as_ptr()
    }

    /// The native PD, to be given away: without the idle address handles, of which nobody will know then.
    pub fn give_away(&self) -> *mut ibv_pd {
        // One that can't be destroyed now stays in the way of the PD's end, as it would have done here.
        let _ = self.trim_all();
        self.native()
    }

    /// The kernel's number of it; a parent domain is nothing to the kernel, and has that of the PD behind it.
    pub fn kernel_handle(&self) -> u32 {
        // SAFETY: the PD lives as long as this object.
        unsafe { (*self.root()).handle }
    }

    pub fn info(&self) -> vbn_pd_info {
        vbn_pd_info {
            struct_size: size_of::<vbn_pd_info>(),
            user_data: self.user_data,
            handle: self.kernel_handle(),
            reserved0: 0,
        }
    }
}
