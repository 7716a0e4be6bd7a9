// SPDX-License-Identifier: MIT OR Apache-2.0
//! Thread domains, and the parent domains that put queue pairs and queues into them: what is made through one is used by one
//! thread at a time, so that the provider may leave out its locks.

use std::ffi::c_void;
use std::ptr::{self, NonNull};

use super::adopt::{self, Ownership, vbn_adopt_attr};
use super::cold::cold_structs;
use super::context::Context;
use super::error::{Error, Reason, Result};
use super::pd::{Origin, Pd, vbn_pd_attr};
use super::slab::{Kind, Object, Ref, Slab, Slot};
use super::status::*;
use crate::sys::ibv::{Zeroed, ibv_parent_domain_init_attr, ibv_td, ibv_td_init_attr};
use crate::sys::inline;

/// What `vbn_td_alloc` may be told. All-zero is the default.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct vbn_td_attr {
    /// sizeof(vbn_td_attr).
    pub struct_size: usize,
    /// Must be 0.
    pub reserved0: u64,
}
cold_structs!(vbn_td_attr);

/// A thread domain.
pub struct Td {
    native: NonNull<ibv_td>,
    context: Ref<Context>,
    ownership: Ownership,
}

// SAFETY: libibverbs' control calls are thread-safe, and the pointer is used for nothing else.
unsafe impl Send for Td {}
// SAFETY: as above.
unsafe impl Sync for Td {}

static SLAB: Slab<Td> = Slab::new();

impl Object for Td {
    const KIND: Kind = Kind::Td;
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
            // SAFETY: the domain is ours and nothing of ours uses it any more.
            self.context
                .ret("ibv_dealloc_td", || unsafe { inline::dealloc_td(self.native.as_ptr()) })
                .map_err(|error| error.if_busy("destroy what raw verbs made in it"))
        })
    }

    fn ownership(&self) -> Ownership {
        self.ownership
    }
}

impl Td {
    pub fn alloc(context: Ref<Context>, attr: &vbn_td_attr) -> Result<&'static Slot<Td>> {
        if attr.reserved0 != 0 {
            return Err(Error::reserved());
        }
        let vacant = SLAB.take()?;
        let mut init = ibv_td_init_attr::zeroed();
        // SAFETY: the context is open, and the struct is ours.
        let native = context.made("ibv_alloc_td", || unsafe { inline::alloc_td(context.native(), &mut init) });
        let native = native.map_err(|error| match error.errno {
            libc::EOPNOTSUPP => error.hint("the driver has no thread domains (libefa: rdma-core 59): do without"),
            _ => error,
        })?;
        Ok(vacant.publish(Td { native, context, ownership: Ownership::Own }))
    }

    /// Takes in a domain made by raw verbs on the same context.
    pub fn adopt(context: Ref<Context>, native: *mut ibv_td, attr: &vbn_adopt_attr) -> Result<&'static Slot<Td>> {
        let (native, ownership) = adopt::check::<Td, _>(native, attr, 0)?;
        // SAFETY: the caller says that this is a live ibv_td.
        if unsafe { native.as_ref() }.context != context.native() {
            return Err(Error::argument(Reason::Unrelated("the ibv_td", "ibv_context")));
        }
        Ok(SLAB.take()?.publish(Td { native, context, ownership }))
    }

    pub fn native(&self) -> *mut ibv_td {
        self.native.as_ptr()
    }
}

impl Pd {
    /// A second handle on a protection domain, through which what is made is in a thread domain.
    pub fn alloc_parent(pd: Ref<Pd>, td: Option<Ref<Td>>, attr: &vbn_pd_attr) -> Result<&'static Slot<Pd>> {
        if matches!(pd.origin(), Origin::Parent(..)) {
            return Err(Error::text(VBN_ERR_ARGUMENT, "pd is a parent domain itself")
                .hint("give the protection domain that it was made from"));
        }
        let context = pd.context().clone();
        if td.as_ref().is_some_and(|td| !td.context.is(context.slot())) {
            return Err(Error::argument(Reason::Unrelated("td", "context than pd")));
        }
        let vacant = Pd::slab().take()?;
        let mut init = ibv_parent_domain_init_attr::zeroed();
        init.pd = pd.native();
        init.td = td.as_ref().map_or(ptr::null_mut(), |td| td.native());
        // SAFETY: context, PD and thread domain are live and belong together; the struct is ours.
        let native = context
            .made("ibv_alloc_parent_domain", || unsafe { inline::alloc_parent_domain(context.native(), &mut init) });
        let native = native.map_err(|error| match error.errno {
            libc::EOPNOTSUPP => error.hint("the driver has no parent domains (libefa: rdma-core 59): use pd itself"),
            _ => error,
        })?;
        Ok(vacant.publish(Pd::new(native, context, Ownership::Own, attr.user_data, Origin::Parent(pd, td))))
    }
}
