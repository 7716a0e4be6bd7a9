// SPDX-License-Identifier: MIT OR Apache-2.0
//! Flow steering: rules by which packets of an Ethernet port go to a queue pair.

use std::ffi::c_void;
use std::ptr::NonNull;

use super::adopt::{self, Ownership, vbn_adopt_attr};
use super::alloc;
use super::cold::cold_structs;
use super::context::Context;
use super::counters::Counters;
use super::error::{Error, Reason, Result};
use super::flow_spec::*;
use super::handle::vbn_counters;
use super::lock::Lock;
use super::qp::Qp;
use super::slab::{Kind, Object, Ref, Slab, Slot};
use crate::sys::ibv::*;
use crate::sys::inline;

/// `type` of vbn_flow_attr: what the specs say.
pub const VBN_FLOW_NORMAL: i32 = 0;
/// `type` of vbn_flow_attr: all that no other rule takes.
pub const VBN_FLOW_ALL_DEFAULT: i32 = 1;
/// `type` of vbn_flow_attr: all multicast packets that no other rule takes.
pub const VBN_FLOW_MC_DEFAULT: i32 = 2;
/// `type` of vbn_flow_attr: everything that the port receives, whoever else gets it.
pub const VBN_FLOW_SNIFFER: i32 = 3;

/// `flags` of vbn_flow_attr: packets go on to rules of lower priority, too.
pub const VBN_FLOW_DONT_TRAP: u32 = 1 << 1;
/// `flags` of vbn_flow_attr: a rule for what is sent.
pub const VBN_FLOW_EGRESS: u32 = 1 << 2;

/// What `vbn_flow_create` is told.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct vbn_flow_attr {
    /// sizeof(vbn_flow_attr).
    pub struct_size: usize,
    /// VBN_FLOW_NORMAL, ...
    pub r#type: i32,
    /// VBN_FLOW_DONT_TRAP, VBN_FLOW_EGRESS.
    pub flags: u32,
    /// The rule with the lowest number is asked first.
    pub priority: u16,
    /// Port, from 1. 0: 1.
    pub port_num: u8,
    /// Must be 0.
    pub reserved0: [u8; 5],
}
cold_structs!(vbn_flow_attr);

const _: () = {
    assert!(VBN_FLOW_DONT_TRAP == IBV_FLOW_ATTR_FLAGS_DONT_TRAP && VBN_FLOW_EGRESS == IBV_FLOW_ATTR_FLAGS_EGRESS);
    assert!(VBN_FLOW_SNIFFER as u32 == IBV_FLOW_ATTR_SNIFFER);
};

/// A rule.
pub struct Flow {
    native: NonNull<ibv_flow>,
    context: Ref<Context>,
    ownership: Ownership,
    /// The number of its queue pair, which can't be destroyed before it.
    qp_num: u32,
    counters: Lock<Vec<Ref<Counters>>>,
}

// SAFETY: libibverbs' control calls are thread-safe, and the pointer is used for nothing else.
unsafe impl Send for Flow {}
// SAFETY: as above.
unsafe impl Sync for Flow {}

static SLAB: Slab<Flow> = Slab::new();

impl Object for Flow {
    const KIND: Kind = Kind::Flow;
    const LEAF: bool = true;

    fn slab() -> &'static Slab<Self> {
        &SLAB
    }

    fn context(&self) -> Option<&Context> {
        Some(&self.context)
    }

    fn native_address(&self) -> *const c_void {
        self.native.as_ptr().cast()
    }

    fn number(&self) -> u32 {
        self.qp_num
    }

    fn destroy(&self) -> Result<()> {
        self.ownership.destroy(self.native(), || {
            // SAFETY: the rule is ours, and its handle is being closed.
            self.context.ret("ibv_destroy_flow", || unsafe { inline::destroy_flow(self.native()) })
        })
    }

    fn ownership(&self) -> Ownership {
        self.ownership
    }
}

impl Flow {
    /// `pin` makes a reference of a handle in a spec.
    pub fn create(
        qp: &Qp,
        attr: &vbn_flow_attr,
        specs: &[vbn_flow_spec],
        pin: impl Fn(*mut vbn_counters) -> Result<Ref<Counters>>,
    ) -> Result<&'static Slot<Flow>> {
        check(attr)?;
        if specs.len() > VBN_FLOW_MAX_SPECS {
            return Err(Error::limit("the number of specs", specs.len() as u64, VBN_FLOW_MAX_SPECS as u64));
        }
        let context = qp.device().clone();
        let ports = context.ports();
        let port = attr.port_num.max(1);
        if port > ports {
            return Err(Error::limit("port_num", port.into(), ports.into()).on(context.name()));
        }
        let counters = counters_of(&context, specs, pin)?;
        let mut rule = Rule::new(attr, port, specs, &counters)?;
        let vacant = SLAB.take()?;
        // SAFETY: the queue pair is live, and the rule has as many specs as it says.
        let made = context.made("ibv_create_flow", || unsafe { inline::create_flow(qp.native(), rule.head()) });
        let native = made.map_err(|error| match error.errno {
            libc::EOPNOTSUPP => error.hint("the device steers no flows: packets reach queue pairs by their numbers alone"),
            libc::EPERM => error.hint("rules need CAP_NET_RAW"),
            libc::EINVAL => error.hint(
                "rules are for UD and raw packet queue pairs; and not every device matches every header, mask and priority",
            ),
            _ => error,
        })?;
        let (ownership, counters) = (Ownership::Own, Lock::new(counters));
        Ok(vacant.publish(Flow { native, context, ownership, qp_num: qp.qp_num(), counters }))
    }

    /// Takes in a rule that raw verbs made for the queue pair. Nothing tells its counters, so they aren't kept.
    pub fn adopt(qp: &Qp, native: *mut ibv_flow, attr: &vbn_adopt_attr) -> Result<&'static Slot<Flow>> {
        let (native, ownership) = adopt::check::<Flow, _>(native, attr, 0)?;
        let context = qp.device().clone();
        // SAFETY: the caller says that this is a live ibv_flow.
        if unsafe { native.as_ref() }.context != context.native() {
            return Err(Error::argument(Reason::Unrelated("the ibv_flow", "ibv_context")));
        }
        let counters = Lock::new(Vec::new());
        Ok(SLAB.take()?.publish(Flow { native, context, ownership, qp_num: qp.qp_num(), counters }))
    }

    pub fn native(&self) -> *mut ibv_flow {
        self.native.as_ptr()
    }

    pub fn context(&self) -> &Ref<Context> {
        &self.context
    }

    /// Attaches counters, which then live at least as long as the rule.
    pub fn keep(&self, set: &Ref<Counters>, attach: impl FnOnce(*mut ibv_flow) -> Result<()>) -> Result<()> {
        let mut kept = self.counters.lock();
        let new = !kept.iter().any(|known| known.is(set.slot()));
        if new {
            alloc::push(&mut kept, set.clone())?;
        }
        let done = attach(self.native());
        if done.is_err() && new {
            kept.pop();
        }
        done
    }

    /// Whether there are rules for a queue pair.
    pub fn any_for(context: &Ref<Context>, qp_num: u32) -> bool {
        SLAB.live_with(context.slot(), qp_num).next().is_some()
    }
}

fn check(attr: &vbn_flow_attr) -> Result<()> {
    if attr.reserved0 != [0; 5] {
        return Err(Error::reserved());
    }
    if !(VBN_FLOW_NORMAL..=VBN_FLOW_SNIFFER).contains(&attr.r#type) {
        let known = "VBN_FLOW_NORMAL (0), _ALL_DEFAULT (1), _MC_DEFAULT (2) or _SNIFFER (3)";
        return Err(Error::range_signed("type", attr.r#type.into(), known));
    }
    let known = VBN_FLOW_DONT_TRAP | VBN_FLOW_EGRESS;
    if attr.flags & !known != 0 {
        return Err(Error::unknown_bits("flags", attr.flags.into(), known.into()));
    }
    Ok(())
}

/// References to the counters that specs name, in their order.
fn counters_of(
    context: &Ref<Context>,
    specs: &[vbn_flow_spec],
    pin: impl Fn(*mut vbn_counters) -> Result<Ref<Counters>>,
) -> Result<Vec<Ref<Counters>>> {
    let mut all = Vec::new();
    for (index, spec) in specs.iter().enumerate() {
        let at = |error: Error| Error { index: index as u64, ..error };
        if spec.r#type != VBN_FLOW_SPEC_ACTION_COUNT {
            continue;
        }
        let counters = pin(spec.counters).map_err(at)?;
        if !counters.context().is(context.slot()) {
            return Err(at(Error::argument(Reason::Unrelated("counters", "context than qp"))));
        }
        alloc::push(&mut all, counters)?;
    }
    Ok(all)
}
