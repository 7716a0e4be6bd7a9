// SPDX-License-Identifier: MIT OR Apache-2.0
//! How queue pairs are made: what is asked for is compared with what the device has, so that a refusal can name both.

use std::ptr::{self, NonNull};

use super::cold::cold_structs;
use super::context::Context;
use super::cq::Cq;
use super::efa;
use super::error::{Error, Reason, Result};
use super::handle::{vbn_cq, vbn_srq};
use super::pd::Pd;
use super::post::{
    BY_WR, VBN_WR_RDMA_READ, VBN_WR_RDMA_WRITE, VBN_WR_RDMA_WRITE_WITH_IMM, VBN_WR_SEND, VBN_WR_SEND_WITH_IMM,
};
use super::post_ops::WR_ONLY;
use super::qp;
use super::qp_ops;
use super::srq::{Srq, VBN_SRQT_XRC};
use super::status::*;
use super::wc_ext::VBN_WC_EX_UNSOLICITED;
use crate::sys::efa::*;
use crate::sys::ibv::{self, Zeroed, ibv_qp, ibv_qp_cap, ibv_qp_init_attr, ibv_qp_init_attr_ex, ibv_srq};
use crate::sys::inline;

/// Reliable connected.
pub const VBN_QPT_RC: i32 = 2;
/// Unreliable connected.
pub const VBN_QPT_UC: i32 = 3;
/// Unreliable datagram.
pub const VBN_QPT_UD: i32 = 4;
/// Raw Ethernet.
pub const VBN_QPT_RAW_PACKET: i32 = 8;
/// Extended reliable connected, sending side.
pub const VBN_QPT_XRC_SEND: i32 = 9;
/// Extended reliable connected, receiving side.
pub const VBN_QPT_XRC_RECV: i32 = 10;
/// The driver's own type; on EFA, SRD.
pub const VBN_QPT_DRIVER: i32 = 255;
/// EFA's scalable reliable datagrams: VBN_QPT_DRIVER by the name of what it is there.
pub const VBN_QPT_SRD: i32 = 255;

/// `send_ops`: VBN_WR_RDMA_WRITE.
pub const VBN_QP_OP_RDMA_WRITE: u64 = 1 << VBN_WR_RDMA_WRITE;
/// `send_ops`: VBN_WR_RDMA_WRITE_WITH_IMM.
pub const VBN_QP_OP_RDMA_WRITE_WITH_IMM: u64 = 1 << VBN_WR_RDMA_WRITE_WITH_IMM;
/// `send_ops`: VBN_WR_SEND.
pub const VBN_QP_OP_SEND: u64 = 1 << VBN_WR_SEND;
/// `send_ops`: VBN_WR_SEND_WITH_IMM.
pub const VBN_QP_OP_SEND_WITH_IMM: u64 = 1 << VBN_WR_SEND_WITH_IMM;
/// `send_ops`: VBN_WR_RDMA_READ.
pub const VBN_QP_OP_RDMA_READ: u64 = 1 << VBN_WR_RDMA_READ;

/// What RC queue pairs can do on every device.
/// cbindgen:ignore
pub const RC_OPS: u64 = UD_OPS | VBN_QP_OP_RDMA_WRITE | VBN_QP_OP_RDMA_WRITE_WITH_IMM | VBN_QP_OP_RDMA_READ;
/// What UC queue pairs can do: it has no answers, so nothing that asks for one.
/// cbindgen:ignore
pub const UC_OPS: u64 = UD_OPS | VBN_QP_OP_RDMA_WRITE | VBN_QP_OP_RDMA_WRITE_WITH_IMM;
/// What UD queue pairs can do.
/// cbindgen:ignore
pub const UD_OPS: u64 = VBN_QP_OP_SEND | VBN_QP_OP_SEND_WITH_IMM;

/// `vbn_qp_init_attr.set`: max_send_wr counts even if it is 0.
pub const VBN_QP_INIT_SET_MAX_SEND_WR: u64 = 1;
/// `vbn_qp_init_attr.set`: max_recv_wr counts even if it is 0.
pub const VBN_QP_INIT_SET_MAX_RECV_WR: u64 = 2;
/// `vbn_qp_init_attr.set`: max_recv_sge counts even if it is 0.
pub const VBN_QP_INIT_SET_MAX_RECV_SGE: u64 = 4;

/// `vbn_qp_init_attr.flags`, SRD: RDMA writes with immediate that come in use up no receive. Both peers must have it, and
/// recv_cq must have VBN_WC_EX_UNSOLICITED. Nothing paces such completions: size the queue for all that may come.
pub const VBN_QP_UNSOLICITED_WRITE_RECV: u64 = 1;
/// `vbn_qp_init_attr.flags`, SRD: RDMA writes may be inline too. Halves the depth of the send queue (rdma-core 63).
pub const VBN_QP_INLINE_WRITE: u64 = 2;
/// `vbn_qp_init_attr.flags`, SRD: requests may carry VBN_SEND_BURST (rdma-core 64).
pub const VBN_QP_PROCESSING_HINTS: u64 = 4;
/// cbindgen:ignore
const FLAGS: u64 = VBN_QP_UNSOLICITED_WRITE_RECV | VBN_QP_INLINE_WRITE | VBN_QP_PROCESSING_HINTS;

/// `vbn_qp_init_attr.post_path`: what is proven for the driver: ibv_post_send, and ibv_wr_* on EFA.
pub const VBN_POST_PATH_AUTO: i32 = 0;
/// `vbn_qp_init_attr.post_path`: ibv_post_send. Not for SRD.
pub const VBN_POST_PATH_POST_SEND: i32 = 1;
/// `vbn_qp_init_attr.post_path`: ibv_wr_*. Not every driver's can be trusted: up to rdma-core 63.0 soft-RoCE's sends wrong
/// data from segment lists and inline data, with success.
pub const VBN_POST_PATH_WR: i32 = 2;

/// Depth of a queue that the caller leaves open.
const DEFAULT_DEPTH: u32 = 128;

/// What `vbn_qp_create` is told.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct vbn_qp_init_attr {
    /// sizeof(vbn_qp_init_attr).
    pub struct_size: usize,
    /// VBN_QP_INIT_SET_*: fields whose zero is meant.
    pub set: u64,
    /// Comes back in events and queries.
    pub user_data: u64,
    /// Where sends complete. Required; kept alive.
    pub send_cq: *mut vbn_cq,
    /// Where receives complete. NULL: send_cq. Kept alive.
    pub recv_cq: *mut vbn_cq,
    /// VBN_QPT_RC, VBN_QPT_UC, VBN_QPT_UD, or on EFA VBN_QPT_SRD. 0: RC.
    pub qp_type: i32,
    /// Requests that the send queue holds. 0: 128, or the device's limit if lower.
    pub max_send_wr: u32,
    /// Requests that the receive queue holds. 0: likewise.
    pub max_recv_wr: u32,
    /// Segments of a send request. 0: 1.
    pub max_send_sge: u32,
    /// Segments of a receive request. 0: 1.
    pub max_recv_sge: u32,
    /// Bytes that VBN_SEND_INLINE may carry. 0: none asked for; the device may grant some.
    pub max_inline_data: u32,
    /// VBN_QP_OP_*: the operations that will be posted. 0: all that the type and device have, but for VBN_QP_OP_FLUSH and
    /// VBN_QP_OP_ATOMIC_WRITE, and with VBN_POST_PATH_WR on RC the first five only.
    pub send_ops: u64,
    /// 1: every request completes, as if it had VBN_SEND_SIGNALED.
    pub sq_sig_all: u8,
    /// SRD: service level; 8 is EFA's low latency class (rdma-core 55). Otherwise 0.
    pub sl: u8,
    /// 0.
    pub reserved0: [u8; 2],
    /// VBN_POST_PATH_*.
    pub post_path: i32,
    /// SRD: VBN_QP_UNSOLICITED_WRITE_RECV, ... Otherwise 0.
    pub flags: u64,
    /// RC, UC, UD: where receives are taken from, instead of a receive queue of its own; max_recv_wr and max_recv_sge must
    /// then be 0. Kept alive. NULL: none.
    pub srq: *mut vbn_srq,
}
cold_structs!(vbn_qp_init_attr);

/// A queue pair to be made: the caller's wishes, checked, with the defaults filled in.
pub struct Plan {
    /// VBN_QPT_*, never 0.
    pub qp_type: i32,
    /// VBN_QP_OP_*.
    pub ops: u64,
    /// VBN_QP_UNSOLICITED_WRITE_RECV, ...
    pub flags: u64,
    pub sl: u8,
    pub sq_sig_all: bool,
    /// Whether requests go through ibv_wr_*.
    pub by_wr: bool,
    /// VBN_FLUSH_*: what the device has, if flushes were asked for.
    pub flushes: u32,
    pub cap: ibv_qp_cap,
    /// NULL, or where receives are taken from.
    pub srq: *mut ibv_srq,
}

impl Plan {
    pub fn new(context: &Context, recv_cq: &Cq, srq: Option<&Srq>, attr: &vbn_qp_init_attr) -> Result<Self> {
        check_fields(attr)?;
        let qp_type = if attr.qp_type == 0 { VBN_QPT_RC } else { attr.qp_type };
        let on_device = |error: Error| error.on(context.name());
        let mut ops = operations(context, qp_type, attr.send_ops).map_err(on_device)?;
        let by_wr = check_path(context, qp_type, attr.post_path).map_err(on_device)?;
        if by_wr && attr.send_ops == 0 {
            // Few providers build all of the others, and a refusal would not say which one is too much.
            ops &= RC_OPS;
        }
        let flushes = qp_ops::flushes(context, ops)?;
        check_flags(context, recv_cq, qp_type, attr).map_err(on_device)?;
        check_srq(srq, attr).map_err(on_device)?;
        let mut cap = wanted_cap(context, attr);
        if srq.is_some() {
            (cap.max_recv_wr, cap.max_recv_sge) = (0, 0);
        }
        match context.efa() {
            Some(device) if !is_connected(qp_type) => check_efa_cap(device, &cap, attr.flags).map_err(on_device)?,
            _ => check_cap(context, &cap)?,
        }
        let sq_sig_all = attr.sq_sig_all != 0;
        let srq = srq.map_or(ptr::null_mut(), Srq::native);
        Ok(Self { qp_type, ops, flags: attr.flags, sl: attr.sl, sq_sig_all, by_wr, flushes, cap, srq })
    }

    /// Makes it. `cap` becomes what was granted.
    pub fn make(&mut self, pd: &Pd, send_cq: &Cq, recv_cq: &Cq) -> Result<NonNull<ibv_qp>> {
        let context = pd.context();
        let made = if self.qp_type == VBN_QPT_SRD {
            self.make_srd(pd, send_cq, recv_cq)
        } else if self.by_wr || self.ops & WR_ONLY != 0 {
            let mut init = self.extended(pd, send_cq, recv_cq);
            let (verbs, context_of) = (context.verbs(), context.native());
            // SAFETY: PD and queues are live and of one context.
            let made =
                context.made("ibv_create_qp_ex", || unsafe { inline::create_qp_ex(verbs, context_of, &mut init) });
            self.cap = init.cap;
            made
        } else {
            let mut init = ibv_qp_init_attr {
                qp_context: ptr::null_mut(),
                send_cq: send_cq.native(),
                recv_cq: recv_cq.native(),
                srq: self.srq,
                cap: self.cap,
                qp_type: self.native_type(),
                sq_sig_all: self.sq_sig_all.into(),
            };
            // SAFETY: as above.
            let made = context.made("ibv_create_qp", || unsafe { (context.verbs().create_qp)(pd.native(), &mut init) });
            self.cap = init.cap;
            made
        };
        let native = made.map_err(|error| explain(error, context, self))?;
        self.cap = true_depth(context, native, self.cap);
        Ok(native)
    }

    fn make_srd(&mut self, pd: &Pd, send_cq: &Cq, recv_cq: &Cq) -> Result<NonNull<ibv_qp>> {
        let context = pd.context();
        let device = context.efa().ok_or(no_srd(context))?;
        let create = device.function(device.provider.functions.create_qp_ex, "efadv_create_qp_ex")?;
        let mut init = self.extended(pd, send_cq, recv_cq);
        let mut own = efadv_qp_init_attr::zeroed();
        own.driver_qp_type = EFADV_QP_DRIVER_TYPE_SRD;
        own.sl = self.sl;
        // The flags have libefa's numbers, but for the last.
        own.flags = (self.flags & (VBN_QP_UNSOLICITED_WRITE_RECV | VBN_QP_INLINE_WRITE)) as u16;
        // Up to rdma-core 63 the struct ends before wr_flags, and the shorter length is understood by all.
        let mut size = std::mem::offset_of!(efadv_qp_init_attr, wr_flags);
        if self.flags & VBN_QP_PROCESSING_HINTS != 0 {
            own.wr_flags = EFADV_WR_EX_WITH_PROCESSING_HINTS.into();
            size = size_of::<efadv_qp_init_attr>();
        }
        // SAFETY: PD and queues are live and of one context, and both structs are ours.
        let made = context
            .made("efadv_create_qp_ex", || unsafe { create(context.native(), &mut init, &mut own, size as u32) });
        self.cap = init.cap;
        made
    }

    fn extended(&self, pd: &Pd, send_cq: &Cq, recv_cq: &Cq) -> ibv_qp_init_attr_ex {
        let mut init = ibv_qp_init_attr_ex::zeroed();
        init.send_cq = send_cq.native();
        init.recv_cq = recv_cq.native();
        init.srq = self.srq;
        init.cap = self.cap;
        init.qp_type = self.native_type();
        init.sq_sig_all = self.sq_sig_all.into();
        init.comp_mask = ibv::IBV_QP_INIT_ATTR_PD | ibv::IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
        init.pd = pd.native();
        init.send_ops_flags = qp_ops::to_native(self.ops);
        init
    }

    fn native_type(&self) -> u32 {
        self.qp_type as u32
    }
}

const _: () = {
    assert!(VBN_QPT_RC as u32 == ibv::IBV_QPT_RC && VBN_QPT_UD as u32 == ibv::IBV_QPT_UD);
    assert!(VBN_QPT_UC as u32 == ibv::IBV_QPT_UC);
    assert!(VBN_QPT_SRD as u32 == ibv::IBV_QPT_DRIVER);
    assert!(VBN_QP_OP_RDMA_WRITE == ibv::IBV_QP_EX_WITH_RDMA_WRITE && VBN_QP_OP_SEND == ibv::IBV_QP_EX_WITH_SEND);
    assert!(VBN_QP_OP_RDMA_WRITE_WITH_IMM == ibv::IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM);
    assert!(VBN_QP_OP_SEND_WITH_IMM == ibv::IBV_QP_EX_WITH_SEND_WITH_IMM);
    assert!(VBN_QP_OP_RDMA_READ == ibv::IBV_QP_EX_WITH_RDMA_READ);
    assert!(VBN_QP_UNSOLICITED_WRITE_RECV == EFADV_QP_FLAGS_UNSOLICITED_WRITE_RECV as u64);
    assert!(VBN_QP_INLINE_WRITE == EFADV_QP_FLAGS_INLINE_WRITE as u64);
};

fn check_fields(attr: &vbn_qp_init_attr) -> Result<()> {
    const SET: u64 = VBN_QP_INIT_SET_MAX_SEND_WR | VBN_QP_INIT_SET_MAX_RECV_WR | VBN_QP_INIT_SET_MAX_RECV_SGE;
    if attr.set & !SET != 0 {
        return Err(Error::unknown_bits("set", attr.set, SET));
    }
    if attr.flags & !FLAGS != 0 {
        return Err(Error::unknown_bits("flags", attr.flags, FLAGS));
    }
    if attr.sq_sig_all > 1 {
        return Err(Error::range("sq_sig_all", attr.sq_sig_all.into(), "0 or 1"));
    }
    if attr.reserved0 != [0; 2] {
        return Err(Error::reserved());
    }
    Ok(())
}

/// Whether a queue pair of this type has one peer for life.
pub const fn is_connected(qp_type: i32) -> bool {
    matches!(qp_type, VBN_QPT_RC | VBN_QPT_UC)
}

/// The operations to allow: those asked for, or all that type and device have.
fn operations(context: &Context, qp_type: i32, asked: u64) -> Result<u64> {
    if asked & !qp_ops::KNOWN != 0 {
        return Err(Error::unknown_bits("send_ops", asked, qp_ops::KNOWN));
    }
    let (all, absent) = match (qp_type, context.efa()) {
        (VBN_QPT_RC, _) => {
            let all = qp_ops::of_rc_asked(context, asked)?;
            (all, qp_ops::absent(asked & !all))
        }
        (VBN_QPT_UC, _) => (UC_OPS, qp_ops::absent_on_uc(asked & !UC_OPS)),
        (VBN_QPT_UD, _) => (UD_OPS, "UD only sends: use RC or UC"),
        (VBN_QPT_SRD, Some(device)) => srd_operations(device, asked),
        (VBN_QPT_SRD, None) => return Err(NO_SRD),
        (VBN_QPT_XRC_SEND | VBN_QPT_XRC_RECV, _) => return Err(NO_XRC.on(context.name())),
        _ => {
            return Err(Error::new(
                VBN_ERR_NOT_SUPPORTED,
                Reason::NotOneOfSigned("qp_type", "RC (2), UC (3), UD (4) or SRD (255)"),
            )
            .value(i64::from(qp_type) as u64, 0));
        }
    };
    if asked & !all != 0 {
        return Err(Error::new(
            VBN_ERR_NOT_SUPPORTED,
            Reason::Lacks("send_ops", "this type of queue pair on this device"),
        )
        .value(asked & !all, all)
        .hint(absent));
    }
    Ok(if asked == 0 { all } else { asked })
}

/// What SRD can do on the device, and why not more.
fn srd_operations(device: &efa::Device, asked: u64) -> (u64, &'static str) {
    let mut ops = UD_OPS;
    if device.attr.device_caps & EFADV_DEVICE_ATTR_CAPS_RDMA_READ != 0 {
        ops |= VBN_QP_OP_RDMA_READ;
    }
    if device.attr.device_caps & EFADV_DEVICE_ATTR_CAPS_RDMA_WRITE != 0 {
        ops |= VBN_QP_OP_RDMA_WRITE | VBN_QP_OP_RDMA_WRITE_WITH_IMM;
    }
    (
        ops,
        // Every libefa from the oldest on tells of READ.
        if device.may_hide_write() && asked & !ops & VBN_QP_OP_RDMA_READ == 0 {
            efa::WRITE_NEEDS
        } else {
            "the device has no such operation: see vbn_context_caps"
        },
    )
}

const NO_XRC: Error = Error::text(VBN_ERR_NOT_SUPPORTED, "XRC queue pairs can be taken in, but are not made here")
    .hint("where the device has XRC, make it with ibv_create_qp_ex and give it to vbn_qp_adopt");

const NO_SRD: Error = Error::text(VBN_ERR_NOT_SUPPORTED, "SRD is offered by EFA devices only, and this is none");

fn no_srd(context: &Context) -> Error {
    NO_SRD.on(context.name())
}

/// Whether requests go through ibv_wr_*: where nothing else can (SRD), where the caller wants it, and by default for datagrams
/// of the drivers on the list.
fn check_path(context: &Context, qp_type: i32, post_path: i32) -> Result<bool> {
    match post_path {
        VBN_POST_PATH_AUTO => {
            let listed = || BY_WR.iter().any(|(driver, ..)| *driver == context.driver());
            Ok(qp_type == VBN_QPT_SRD || (qp_type == VBN_QPT_UD && listed()))
        }
        VBN_POST_PATH_WR => Ok(true),
        VBN_POST_PATH_POST_SEND if qp_type == VBN_QPT_SRD => Err(Error::text(
            VBN_ERR_NOT_SUPPORTED,
            "post_path VBN_POST_PATH_POST_SEND can't carry SRD: libefa's ibv_post_send knows no RDMA",
        )),
        VBN_POST_PATH_POST_SEND => Ok(false),
        other => Err(Error::range_signed("post_path", other.into(), "one of VBN_POST_PATH_*")),
    }
}

/// A queue pair on a shared receive queue has none of its own.
fn check_srq(srq: Option<&Srq>, attr: &vbn_qp_init_attr) -> Result<()> {
    let Some(srq) = srq else { return Ok(()) };
    if srq.srq_type() == VBN_SRQT_XRC {
        return Err(Error::text(VBN_ERR_ARGUMENT, "srq is of the XRC type, which XRC queue pairs find by its number")
            .hint("give a basic one"));
    }
    const OWN: u64 = VBN_QP_INIT_SET_MAX_RECV_WR | VBN_QP_INIT_SET_MAX_RECV_SGE;
    let own = attr.max_recv_wr != 0 || attr.max_recv_sge != 0;
    if own || attr.set & OWN != 0 {
        return Err(Error::text(
            VBN_ERR_ARGUMENT,
            "srq is set together with max_recv_wr or max_recv_sge, and a queue pair on a shared receive queue has none of its own",
        )
        .value(attr.max_recv_wr.into(), attr.max_recv_sge.into())
        .hint("depth and segments of receives are those of the shared queue: leave both 0"));
    }
    Ok(())
}

/// What only SRD has.
fn check_flags(context: &Context, recv_cq: &Cq, qp_type: i32, attr: &vbn_qp_init_attr) -> Result<()> {
    let device = match context.efa() {
        Some(device) if qp_type == VBN_QPT_SRD => device,
        _ if attr.flags != 0 || attr.sl != 0 => {
            return Err(Error::text(VBN_ERR_ARGUMENT, "flags and sl are for SRD queue pairs only"));
        }
        _ => return Ok(()),
    };
    let lacks = |what, hint| Err(Error::text(VBN_ERR_NOT_SUPPORTED, what).hint(hint));
    if attr.flags & VBN_QP_UNSOLICITED_WRITE_RECV != 0 {
        if device.attr.device_caps & EFADV_DEVICE_ATTR_CAPS_UNSOLICITED_WRITE_RECV == 0 {
            return lacks(
                "the device has no unsolicited receives of RDMA writes with immediate",
                "they need a device that has them (p5en and later) and rdma-core 52 or newer",
            );
        }
        if recv_cq.fields() & VBN_WC_EX_UNSOLICITED == 0 {
            return Err(Error::text(
                VBN_ERR_ARGUMENT,
                "an unsolicited completion could not be told from others on this recv_cq, and its wr_id means nothing",
            )
            .hint("create recv_cq with VBN_WC_EX_UNSOLICITED in fields"));
        }
    }
    // From rdma-core 63 on libefa tells a size even where there are no writes.
    let writes = device.attr.device_caps & EFADV_DEVICE_ATTR_CAPS_RDMA_WRITE != 0;
    if attr.flags & VBN_QP_INLINE_WRITE != 0 && (!writes || device.attr.inline_buf_size_ex == 0) {
        return lacks(
            "the device has no inline RDMA writes",
            "they need a device that has RDMA WRITE and rdma-core 63 or newer",
        );
    }
    if attr.flags & VBN_QP_PROCESSING_HINTS != 0 {
        device.function(device.provider.functions.qp_from_ibv_qp_ex, "efadv_qp_from_ibv_qp_ex")?;
    }
    Ok(())
}

/// The capacities asked for, with the defaults filled in.
fn wanted_cap(context: &Context, attr: &vbn_qp_init_attr) -> ibv_qp_cap {
    let open = DEFAULT_DEPTH.min(context.device().max_qp_wr as u32);
    let or = |value: u32, default: u32, bit: u64| if value == 0 && attr.set & bit == 0 { default } else { value };
    ibv_qp_cap {
        max_send_wr: or(attr.max_send_wr, open, VBN_QP_INIT_SET_MAX_SEND_WR),
        max_recv_wr: or(attr.max_recv_wr, open, VBN_QP_INIT_SET_MAX_RECV_WR),
        max_send_sge: or(attr.max_send_sge, 1, 0),
        max_recv_sge: or(attr.max_recv_sge, 1, VBN_QP_INIT_SET_MAX_RECV_SGE),
        max_inline_data: attr.max_inline_data,
    }
}

/// Compares the capacities with the device's limits, so that the message can name both.
fn check_cap(context: &Context, cap: &ibv_qp_cap) -> Result<()> {
    let device = context.device();
    let (wr, sge) = (device.max_qp_wr as u32, device.max_sge as u32);
    within(cap, wr, wr, sge, sge)
        .map_err(|error| error.on(context.name()).hint("vbn_context_query_device has the limits"))
}

/// The same on EFA, whose two queues have limits of their own, and which tells that of inline data.
fn check_efa_cap(device: &efa::Device, cap: &ibv_qp_cap, flags: u64) -> Result<()> {
    let limits = &device.attr;
    within(cap, limits.max_sq_wr, limits.max_rq_wr, limits.max_sq_sge.into(), limits.max_rq_sge.into())
        .map_err(|error| error.hint("vbn_context_caps has the limits"))?;
    let inline = limits.inline_buf_size.max(limits.inline_buf_size_ex);
    if cap.max_inline_data > inline.into() {
        return Err(Error::limit("max_inline_data", cap.max_inline_data.into(), inline.into()));
    }
    if cap.max_recv_sge == 0 {
        return Err(Error::text(VBN_ERR_ARGUMENT, "max_recv_sge 0 makes libefa divide by zero")
            .hint("leave it 1, and set max_recv_wr to 0 for a queue pair that only sends"));
    }
    let wide = flags & VBN_QP_INLINE_WRITE != 0 || cap.max_inline_data > limits.inline_buf_size.into();
    if wide && cap.max_send_wr > limits.max_sq_wr / 2 {
        return Err(Error::limit("max_send_wr", cap.max_send_wr.into(), (limits.max_sq_wr / 2).into()).hint(
            "inline data above inline_buf_size, and inline writes, double the size of a request and halve the queue: ask for less of either",
        ));
    }
    Ok(())
}

fn within(cap: &ibv_qp_cap, send_wr: u32, recv_wr: u32, send_sge: u32, recv_sge: u32) -> Result<()> {
    let checks = [
        ("max_send_wr", cap.max_send_wr, send_wr),
        ("max_recv_wr", cap.max_recv_wr, recv_wr),
        ("max_send_sge", cap.max_send_sge, send_sge),
        ("max_recv_sge", cap.max_recv_sge, recv_sge),
    ];
    match checks.into_iter().find(|(_, asked, limit)| asked > limit) {
        Some((what, asked, limit)) => Err(Error::limit(what, asked.into(), limit.into())),
        None => Ok(()),
    }
}

/// A refused creation, and the usual suspect.
fn explain(error: Error, context: &Context, plan: &Plan) -> Error {
    match error.errno {
        libc::EINVAL if plan.qp_type == VBN_QPT_SRD && plan.sl != 0 => {
            error.value(plan.sl.into(), 0).hint("sl needs rdma-core 55 or newer and a device that knows it; try 0")
        }
        libc::EINVAL if plan.qp_type == VBN_QPT_SRD => error.value(plan.cap.max_recv_wr.into(), 0).hint(
            "the queues may be too deep together with their segments: max_recv_wr * max_recv_sge counts (vbn_efa_max_rq_depth)",
        ),
        libc::EINVAL if plan.cap.max_inline_data > 0 => error.value(plan.cap.max_inline_data.into(), 0).hint(
            "max_inline_data may be too large: no device tells its limit, so ask for less (value has what was asked)",
        ),
        libc::EOPNOTSUPP if context.efa().is_some() && is_connected(plan.qp_type) => {
            error.hint("an EFA has no RC or UC queue pairs: ask for VBN_QPT_SRD or VBN_QPT_UD")
        }
        libc::EOPNOTSUPP if plan.ops & WR_ONLY != 0 => error.value(plan.ops & WR_ONLY, 0).hint(
            "the device reports what send_ops asks for, but the loaded rdma-core or its driver may not know it: flushes need \
             rdma-core 45, atomic writes 44",
        ),
        libc::EOPNOTSUPP => error.hint("the device or its driver lacks this type of queue pair: see vbn_context_caps"),
        libc::ENOMEM => {
            error.hint("the device is out of queue pairs or memory, or RLIMIT_MEMLOCK is too low for the queues")
        }
        _ => error,
    }
}

/// Some drivers round the depths up and say so only when queried (rxe of kernel 6.1: 128 asked for and returned, 255 there).
fn true_depth(context: &Context, native: NonNull<ibv_qp>, granted: ibv_qp_cap) -> ibv_qp_cap {
    let queried = qp::query(context, native, ibv::IBV_QP_STATE | ibv::IBV_QP_CAP).map_or(granted, |(attr, _)| attr.cap);
    ibv_qp_cap {
        max_send_wr: granted.max_send_wr.max(queried.max_send_wr),
        max_recv_wr: granted.max_recv_wr.max(queried.max_recv_wr),
        ..granted
    }
}
