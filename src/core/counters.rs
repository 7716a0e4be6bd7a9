// SPDX-License-Identifier: MIT OR Apache-2.0
//! Counters of the device: each place of a set adds up what a flow steering rule sees.

use std::ffi::c_void;
use std::ptr::{self, NonNull};

use super::adopt::{self, Ownership, vbn_adopt_attr};
use super::cold::cold_structs;
use super::context::Context;
use super::error::{Error, Reason, Result};
use super::flow::Flow;
use super::slab::{Kind, Object, Ref, Slab, Slot};
use crate::sys::ibv::{
    IBV_COUNTER_BYTES, IBV_COUNTER_PACKETS, IBV_READ_COUNTERS_ATTR_PREFER_CACHED, Zeroed, ibv_counter_attach_attr,
    ibv_counters, ibv_counters_init_attr,
};
use crate::sys::inline;

/// `counter` of vbn_counters_attach: packets.
pub const VBN_COUNTER_PACKETS: i32 = 0;
/// `counter` of vbn_counters_attach: bytes.
pub const VBN_COUNTER_BYTES: i32 = 1;

/// `flags` of vbn_counters_read: what the driver knows already is fresh enough.
pub const VBN_COUNTERS_PREFER_CACHED: u32 = 1;

/// What `vbn_counters_create` may be told. All-zero is the default.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct vbn_counters_attr {
    /// sizeof(vbn_counters_attr).
    pub struct_size: usize,
    /// Must be 0.
    pub reserved0: u64,
}
cold_structs!(vbn_counters_attr);

/// A set of counters.
pub struct Counters {
    native: NonNull<ibv_counters>,
    context: Ref<Context>,
    ownership: Ownership,
}

// SAFETY: libibverbs' control calls are thread-safe, and the pointer is used for nothing else.
unsafe impl Send for Counters {}
// SAFETY: as above.
unsafe impl Sync for Counters {}

static SLAB: Slab<Counters> = Slab::new();

impl Object for Counters {
    const KIND: Kind = Kind::Counters;
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
        self.ownership.destroy(self.native(), || {
            // SAFETY: the counters are ours and no rule of ours uses them any more.
            self.context
                .ret("ibv_destroy_counters", || unsafe { inline::destroy_counters(self.native()) })
                .map_err(|error| error.if_busy("destroy the rules that raw verbs made with them"))
        })
    }

    fn ownership(&self) -> Ownership {
        self.ownership
    }
}

impl Counters {
    pub fn create(context: Ref<Context>, attr: &vbn_counters_attr) -> Result<&'static Slot<Counters>> {
        if attr.reserved0 != 0 {
            return Err(Error::reserved());
        }
        let vacant = SLAB.take()?;
        let mut init = ibv_counters_init_attr::zeroed();
        // SAFETY: the context is open, and the struct is ours.
        let made =
            context.made("ibv_create_counters", || unsafe { inline::create_counters(context.native(), &mut init) });
        let native = made.map_err(|error| match error.errno {
            libc::EOPNOTSUPP => error.hint("the device has no counters for rules (mlx5 has): count in the program"),
            _ => error,
        })?;
        Ok(vacant.publish(Counters { native, context, ownership: Ownership::Own }))
    }

    /// Takes in counters made by raw verbs on the same context.
    pub fn adopt(
        context: Ref<Context>,
        native: *mut ibv_counters,
        attr: &vbn_adopt_attr,
    ) -> Result<&'static Slot<Counters>> {
        let (native, ownership) = adopt::check::<Counters, _>(native, attr, 0)?;
        // SAFETY: the caller says that this is a live ibv_counters.
        if unsafe { native.as_ref() }.context != context.native() {
            return Err(Error::argument(Reason::Unrelated("the ibv_counters", "ibv_context")));
        }
        Ok(SLAB.take()?.publish(Counters { native, context, ownership }))
    }

    pub fn native(&self) -> *mut ibv_counters {
        self.native.as_ptr()
    }

    pub fn context(&self) -> &Ref<Context> {
        &self.context
    }

    /// Says what the place `index` counts: of a rule that is there, which then keeps the counters alive, or of those made
    /// with them later.
    pub fn attach(set: &Ref<Counters>, flow: Option<&Flow>, counter: i32, index: u32) -> Result<()> {
        if !matches!(counter, VBN_COUNTER_PACKETS | VBN_COUNTER_BYTES) {
            let known = "VBN_COUNTER_PACKETS (0) or VBN_COUNTER_BYTES (1)";
            return Err(Error::range_signed("counter", counter.into(), known));
        }
        let mut attr = ibv_counter_attach_attr { counter_desc: counter as u32, index, comp_mask: 0 };
        let context = &set.context;
        let mut attach = |native| {
            // SAFETY: the counters are live, the rule is NULL or live and of the same context, and the struct is ours.
            context.ret("ibv_attach_counters_point_flow", || unsafe {
                inline::attach_counters_point_flow(set.native(), &mut attr, native)
            })
        };
        match flow {
            None => attach(ptr::null_mut()).map_err(|error| match error.errno {
                libc::EOPNOTSUPP => error.hint("the device doesn't count this"),
                _ => error.if_busy("a rule uses the counters already: say what they count before the first one is made"),
            }),
            Some(flow) if !flow.context().is(context.slot()) => {
                Err(Error::argument(Reason::Unrelated("flow", "context than counters")))
            }
            Some(flow) => flow.keep(set, attach).map_err(|error| match error.errno {
                libc::EOPNOTSUPP => error.hint(
                    "the driver can't add counters to a rule that is there (mlx5), or doesn't count this: attach with flow \
                     NULL, then make the rule with VBN_FLOW_SPEC_ACTION_COUNT",
                ),
                _ => error,
            }),
        }
    }

    /// Reads the places from the first one on.
    pub fn read(&self, values: &mut [u64], flags: u32) -> Result<()> {
        if flags & !VBN_COUNTERS_PREFER_CACHED != 0 {
            return Err(Error::unknown_bits("flags", flags.into(), VBN_COUNTERS_PREFER_CACHED.into()));
        }
        let count = match u32::try_from(values.len()) {
            Ok(count) if count != 0 => count,
            _ => return Err(Error::range("count", values.len() as u64, "1..2^32-1")),
        };
        let to = values.as_mut_ptr();
        // SAFETY: the counters are live, and there is room for `count` numbers.
        let read =
            self.context.ret("ibv_read_counters", || unsafe { inline::read_counters(self.native(), to, count, flags) });
        read.map_err(|error| match error.errno {
            libc::EINVAL => {
                error.hint("count must reach the highest index that was attached, and a rule must use them")
            }
            _ => error,
        })
    }
}

const _: () = {
    assert!(VBN_COUNTER_PACKETS as u32 == IBV_COUNTER_PACKETS && VBN_COUNTER_BYTES as u32 == IBV_COUNTER_BYTES);
    assert!(VBN_COUNTERS_PREFER_CACHED == IBV_READ_COUNTERS_ATTR_PREFER_CACHED);
};
