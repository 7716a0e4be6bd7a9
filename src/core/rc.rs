// SPDX-License-Identifier: MIT OR Apache-2.0
//! Connecting RC and UC queue pairs: the 28-byte record that two sides exchange, and the way from RESET to RTS.

use super::cold::cold_structs;
use super::context::Context;
use super::error::{Error, Reason, Result};
use super::gid;
use super::qp::Qp;
use super::qp_attr::{VBN_MTU_256, VBN_MTU_4096, check_qp_access};
use super::qp_create::{VBN_QPT_RC, VBN_QPT_UC};
use super::qp_ext::vbn_ece;
use super::status::{VBN_ERR_ARGUMENT, VBN_ERR_LIMIT, VBN_ERR_NOT_FOUND};
use crate::sys::ibv::{self, Zeroed, ibv_ah_attr, ibv_gid, ibv_port_attr, ibv_qp_attr};
use crate::sys::os;

/// Bytes of an encoded record.
pub const VBN_RC_RECORD_SIZE: usize = 28;

/// What one side of an RC connection tells the other. Frozen.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct vbn_rc_record {
    /// The queue pair's number, 24 bits.
    pub qp_num: u32,
    /// Where its send numbering starts, 24 bits.
    pub psn: u32,
    /// The port's LID (InfiniBand; 0 on RoCE).
    pub lid: u16,
    /// The port, from 1.
    pub port_num: u8,
    /// VBN_MTU_* that the port can do.
    pub mtu: u8,
    /// The GID that the peer shall send to.
    pub gid: [u8; 16],
    /// 0.
    pub reserved0: u32,
}

/// `vbn_rc_attr.set`: pkey_index.
pub const VBN_RC_SET_PKEY_INDEX: u64 = 1 << 0;
/// `vbn_rc_attr.set`: access.
pub const VBN_RC_SET_ACCESS: u64 = 1 << 1;
/// `vbn_rc_attr.set`: path_mtu.
pub const VBN_RC_SET_PATH_MTU: u64 = 1 << 2;
/// `vbn_rc_attr.set`: sgid_index.
pub const VBN_RC_SET_SGID_INDEX: u64 = 1 << 3;
/// `vbn_rc_attr.set`: hop_limit.
pub const VBN_RC_SET_HOP_LIMIT: u64 = 1 << 4;
/// `vbn_rc_attr.set`: is_global.
pub const VBN_RC_SET_IS_GLOBAL: u64 = 1 << 5;
/// `vbn_rc_attr.set`: min_rnr_timer.
pub const VBN_RC_SET_MIN_RNR_TIMER: u64 = 1 << 6;
/// `vbn_rc_attr.set`: max_dest_rd_atomic.
pub const VBN_RC_SET_MAX_DEST_RD_ATOMIC: u64 = 1 << 7;
/// `vbn_rc_attr.set`: timeout.
pub const VBN_RC_SET_TIMEOUT: u64 = 1 << 8;
/// `vbn_rc_attr.set`: retry_cnt.
pub const VBN_RC_SET_RETRY_CNT: u64 = 1 << 9;
/// `vbn_rc_attr.set`: rnr_retry.
pub const VBN_RC_SET_RNR_RETRY: u64 = 1 << 10;
/// `vbn_rc_attr.set`: max_rd_atomic.
pub const VBN_RC_SET_MAX_RD_ATOMIC: u64 = 1 << 11;
/// `vbn_rc_attr.set`: psn.
pub const VBN_RC_SET_PSN: u64 = 1 << 12;

const SET: u64 = (1 << 13) - 1;
/// What a UC queue pair doesn't have, since nobody answers there.
const RC_ONLY: [(u64, &str); 6] = [
    (VBN_RC_SET_MIN_RNR_TIMER, "VBN_RC_SET_MIN_RNR_TIMER is in set, and UC has no receiver that asks to wait"),
    (VBN_RC_SET_MAX_DEST_RD_ATOMIC, "VBN_RC_SET_MAX_DEST_RD_ATOMIC is in set, and UC has neither reads nor atomics"),
    (VBN_RC_SET_TIMEOUT, "VBN_RC_SET_TIMEOUT is in set, and UC waits for no answer"),
    (VBN_RC_SET_RETRY_CNT, "VBN_RC_SET_RETRY_CNT is in set, and UC sends nothing twice"),
    (VBN_RC_SET_RNR_RETRY, "VBN_RC_SET_RNR_RETRY is in set, and UC sends nothing twice"),
    (VBN_RC_SET_MAX_RD_ATOMIC, "VBN_RC_SET_MAX_RD_ATOMIC is in set, and UC has neither reads nor atomics"),
];

/// Everything about a connection that has a default. A field counts only if its VBN_RC_SET_* bit is in `set`; those
/// without a bit count always, with 0 as the default. UC queue pairs refuse the bits of min_rnr_timer and all that follow it.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct vbn_rc_attr {
    /// sizeof(vbn_rc_attr).
    pub struct_size: usize,
    /// VBN_RC_SET_*.
    pub set: u64,
    /// VBN_ACCESS_REMOTE_*: what the peer may do. Default: write, and on RC read.
    pub access: u32,
    /// 24 bits: where one's own numbering starts, for vbn_rc_record_local. Default: random.
    pub psn: u32,
    /// VBN_MTU_*, at most that of the peer. Default: the smaller of the port's active MTU and the peer's.
    pub path_mtu: i32,
    /// 20 bits, 0 without a bit in set.
    pub flow_label: u32,
    /// Default 0.
    pub pkey_index: u16,
    /// Port, from 1. 0: 1, or the port of the local record.
    pub port_num: u8,
    /// Index of one's own GID. Default: that of the local record's GID; for vbn_rc_record_local, what vbn_gid_select picks.
    pub sgid_index: u8,
    /// Default 64.
    pub hop_limit: u8,
    /// 0 without a bit in set.
    pub traffic_class: u8,
    /// 0 without a bit in set.
    pub sl: u8,
    /// 0 without a bit in set.
    pub src_path_bits: u8,
    /// 0 without a bit in set.
    pub static_rate: u8,
    /// Whether packets carry the global header. Default: 1 on RoCE; on InfiniBand where the port requires it or the
    /// subnets differ.
    pub is_global: u8,
    /// Default 12 (0.64 ms).
    pub min_rnr_timer: u8,
    /// Default: the device's limit, at most 16.
    pub max_dest_rd_atomic: u8,
    /// Default 14 (67 ms).
    pub timeout: u8,
    /// Default 6. (7 means for ever on soft-RoCE.)
    pub retry_cnt: u8,
    /// Default 7: for ever.
    pub rnr_retry: u8,
    /// Default: the device's limit, at most 16. Must not exceed the peer's max_dest_rd_atomic.
    pub max_rd_atomic: u8,
}
cold_structs!(vbn_rc_attr);

const _: () = assert!(size_of::<vbn_rc_record>() == 32);

const DEFAULT_ACCESS: u32 = ibv::IBV_ACCESS_REMOTE_WRITE | ibv::IBV_ACCESS_REMOTE_READ;
const DEFAULT_UC_ACCESS: u32 = ibv::IBV_ACCESS_REMOTE_WRITE;
const DEFAULT_TIMEOUT: u8 = 14;
const DEFAULT_RETRY: u8 = 6;
const DEFAULT_RNR_RETRY: u8 = 7;
const DEFAULT_RNR_TIMER: u8 = 12;
const DEFAULT_HOP_LIMIT: u8 = 64;
const DEFAULT_RD_ATOMIC: i32 = 16;

impl vbn_rc_record {
    /// What must hold of any record, made here or received.
    pub fn check(&self) -> Result<()> {
        for (what, value) in [("qp_num", self.qp_num), ("psn", self.psn)] {
            if value > 0xff_ffff {
                return Err(Error::range(what, value.into(), "a 24-bit number"));
            }
        }
        if self.port_num == 0 {
            return Err(Error::range("port_num", 0, "1..255"));
        }
        if !(VBN_MTU_256..=VBN_MTU_4096).contains(&i32::from(self.mtu)) {
            return Err(Error::range("mtu", self.mtu.into(), "one of VBN_MTU_256 (1)..VBN_MTU_4096 (5)"));
        }
        if self.reserved0 != 0 {
            return Err(Error::range("reserved0", self.reserved0.into(), "0"));
        }
        Ok(())
    }

    /// Big-endian: qp_num, psn, lid, gid, port, mtu.
    pub fn encode(&self) -> Result<[u8; VBN_RC_RECORD_SIZE]> {
        self.check()?;
        let mut bytes = [0; VBN_RC_RECORD_SIZE];
        let fields: [&[u8]; 6] = [
            &self.qp_num.to_be_bytes(),
            &self.psn.to_be_bytes(),
            &self.lid.to_be_bytes(),
            &self.gid,
            &[self.port_num],
            &[self.mtu],
        ];
        for (to, from) in bytes.iter_mut().zip(fields.iter().copied().flatten()) {
            *to = *from;
        }
        Ok(bytes)
    }

    pub fn decode(bytes: &[u8]) -> Result<Self> {
        let [q0, q1, q2, q3, p0, p1, p2, p3, l0, l1, gid @ .., port_num, mtu] = bytes else {
            return Err(wrong_size(bytes.len()));
        };
        let gid = gid.try_into().map_err(|_| wrong_size(bytes.len()))?;
        let record = Self {
            qp_num: u32::from_be_bytes([*q0, *q1, *q2, *q3]),
            psn: u32::from_be_bytes([*p0, *p1, *p2, *p3]),
            lid: u16::from_be_bytes([*l0, *l1]),
            port_num: *port_num,
            mtu: *mtu,
            gid,
            reserved0: 0,
        };
        record.check()?;
        Ok(record)
    }

    /// The record of one's own queue pair.
    pub fn local(qp: &Qp, attr: &vbn_rc_attr) -> Result<Self> {
        check_attr(qp, attr)?;
        let context = qp.device();
        let port_num = attr.port_num.max(1);
        let port = context.port(port_num)?;
        let index = if attr.has(VBN_RC_SET_SGID_INDEX) {
            attr.sgid_index.into()
        } else if port.link_layer == ibv::IBV_LINK_LAYER_ETHERNET {
            gid::select_default(context, port_num)?
        } else {
            0
        };
        let gid = context.query_gid(port_num.into(), index)?;
        if port.link_layer == ibv::IBV_LINK_LAYER_ETHERNET && gid == [0; 16] {
            return Err(Error::text(VBN_ERR_NOT_FOUND, "the place at sgid_index in the port's GID table is empty")
                .value(index.into(), 0)
                .on(context.name())
                .hint("leave sgid_index out, or see vbn_context_gid_table"));
        }
        let record = Self {
            qp_num: qp.qp_num(),
            psn: if attr.has(VBN_RC_SET_PSN) { attr.psn } else { os::random_u32() & 0xff_ffff },
            lid: port.lid,
            port_num,
            mtu: port.active_mtu as u8,
            gid,
            reserved0: 0,
        };
        record.check()?;
        Ok(record)
    }
}

/// The error for a record that does not have 28 bytes.
pub fn wrong_size(size: usize) -> Error {
    Error::range("the size of the record", size as u64, "28 bytes")
}

impl vbn_rc_attr {
    pub fn has(&self, bit: u64) -> bool {
        self.set & bit != 0
    }

    fn or<T>(&self, bit: u64, value: T, default: T) -> T {
        if self.has(bit) { value } else { default }
    }
}

/// What can be wrong with the parameters, whatever the records say.
pub fn check_attr(qp: &Qp, attr: &vbn_rc_attr) -> Result<()> {
    qp.must_be_connected()?;
    if attr.set & !SET != 0 {
        return Err(Error::unknown_bits("set", attr.set, SET));
    }
    if qp.qp_type() == VBN_QPT_UC
        && let Some((_, why)) = RC_ONLY.iter().find(|(bit, _)| attr.has(*bit))
    {
        return Err(Error::text(VBN_ERR_ARGUMENT, why).on(qp.device().name()).hint("leave it out, or use RC"));
    }
    if attr.has(VBN_RC_SET_PSN) && attr.psn > 0xff_ffff {
        return Err(Error::range("psn", attr.psn.into(), "a 24-bit number"));
    }
    if attr.has(VBN_RC_SET_ACCESS) {
        check_qp_access(attr.access)?;
    }
    if attr.flow_label >= 1 << 20 {
        return Err(Error::range("flow_label", attr.flow_label.into(), "below 2^20"));
    }
    if attr.has(VBN_RC_SET_IS_GLOBAL) && attr.is_global > 1 {
        return Err(Error::range("is_global", attr.is_global.into(), "0 or 1"));
    }
    let codes = [
        (VBN_RC_SET_MIN_RNR_TIMER, "min_rnr_timer", attr.min_rnr_timer, 31, "0..31"),
        (VBN_RC_SET_TIMEOUT, "timeout", attr.timeout, 31, "0..31"),
        (VBN_RC_SET_RETRY_CNT, "retry_cnt", attr.retry_cnt, 7, "0..7"),
        (VBN_RC_SET_RNR_RETRY, "rnr_retry", attr.rnr_retry, 7, "0..7"),
    ];
    match codes.iter().find(|(bit, _, value, max, _)| attr.has(*bit) && value > max) {
        Some((_, what, value, _, allowed)) => Err(Error::range(what, (*value).into(), allowed)),
        None => Ok(()),
    }
}

/// RESET or INIT to INIT.
pub fn to_init(qp: &Qp, attr: &vbn_rc_attr) -> Result<()> {
    check_attr(qp, attr)?;
    let _alone = qp.exclusive();
    to_init_on(qp, attr, attr.port_num.max(1))
}

fn to_init_on(qp: &Qp, attr: &vbn_rc_attr, port_num: u8) -> Result<()> {
    let context = qp.device();
    let port = context.port(port_num)?;
    let mut native = ibv_qp_attr::zeroed();
    native.qp_state = ibv::IBV_QPS_INIT;
    native.pkey_index = attr.or(VBN_RC_SET_PKEY_INDEX, attr.pkey_index, 0);
    native.port_num = port_num;
    let default = if qp.qp_type() == VBN_QPT_UC { DEFAULT_UC_ACCESS } else { DEFAULT_ACCESS };
    native.qp_access_flags = attr.or(VBN_RC_SET_ACCESS, attr.access, default);
    if native.pkey_index >= port.pkey_tbl_len {
        let last = u64::from(port.pkey_tbl_len).saturating_sub(1);
        return Err(Error::limit("pkey_index", native.pkey_index.into(), last).on(context.name()));
    }
    let mask = ibv::IBV_QP_STATE | ibv::IBV_QP_PKEY_INDEX | ibv::IBV_QP_PORT | ibv::IBV_QP_ACCESS_FLAGS;
    qp.modify_native(&mut native, mask)
}

/// INIT to RTR, towards the peer.
pub fn to_rtr(qp: &Qp, local: &vbn_rc_record, remote: &vbn_rc_record, attr: &vbn_rc_attr) -> Result<()> {
    check_attr(qp, attr)?;
    local.check()?;
    remote.check()?;
    let _alone = qp.exclusive();
    to_rtr_checked(qp, local, remote, attr)
}

fn to_rtr_checked(qp: &Qp, local: &vbn_rc_record, remote: &vbn_rc_record, attr: &vbn_rc_attr) -> Result<()> {
    let context = qp.device();
    let port = context.port(local.port_num)?;
    let mut native = ibv_qp_attr::zeroed();
    native.qp_state = ibv::IBV_QPS_RTR;
    native.path_mtu = attr.or(VBN_RC_SET_PATH_MTU, attr.path_mtu as u32, port.active_mtu.min(remote.mtu.into()));
    native.dest_qp_num = remote.qp_num;
    native.rq_psn = remote.psn;
    let mut mask =
        ibv::IBV_QP_STATE | ibv::IBV_QP_AV | ibv::IBV_QP_PATH_MTU | ibv::IBV_QP_DEST_QPN | ibv::IBV_QP_RQ_PSN;
    if qp.qp_type() == VBN_QPT_RC {
        mask |= ibv::IBV_QP_MAX_DEST_RD_ATOMIC | ibv::IBV_QP_MIN_RNR_TIMER;
    }
    native.max_dest_rd_atomic = responder_depth(context, attr)?;
    native.min_rnr_timer = attr.or(VBN_RC_SET_MIN_RNR_TIMER, attr.min_rnr_timer, DEFAULT_RNR_TIMER);
    native.ah_attr = address(context, &port, local, remote, attr)?;
    check_against_port(context, &port, &native)?;
    if native.path_mtu > remote.mtu.into() {
        // No kernel sees that; the peer would drop what is longer, and this side's retries run out.
        let error = Error::new(VBN_ERR_LIMIT, Reason::ExceedsNamed("path_mtu", "the peer's mtu"));
        return Err(error.value(native.path_mtu.into(), remote.mtu.into()).on(context.name()).hint(MTU_CODES));
    }
    qp.modify_native(&mut native, mask)
}

/// RTR to RTS.
pub fn to_rts(qp: &Qp, local: &vbn_rc_record, attr: &vbn_rc_attr) -> Result<()> {
    check_attr(qp, attr)?;
    local.check()?;
    let _alone = qp.exclusive();
    to_rts_checked(qp, local, attr)
}

fn to_rts_checked(qp: &Qp, local: &vbn_rc_record, attr: &vbn_rc_attr) -> Result<()> {
    let context = qp.device();
    let mut native = ibv_qp_attr::zeroed();
    native.qp_state = ibv::IBV_QPS_RTS;
    native.sq_psn = local.psn;
    native.timeout = attr.or(VBN_RC_SET_TIMEOUT, attr.timeout, DEFAULT_TIMEOUT);
    native.retry_cnt = attr.or(VBN_RC_SET_RETRY_CNT, attr.retry_cnt, DEFAULT_RETRY);
    native.rnr_retry = attr.or(VBN_RC_SET_RNR_RETRY, attr.rnr_retry, DEFAULT_RNR_RETRY);
    native.max_rd_atomic = initiator_depth(context, attr)?;
    let mut mask = ibv::IBV_QP_STATE | ibv::IBV_QP_SQ_PSN;
    if qp.qp_type() == VBN_QPT_RC {
        mask |= ibv::IBV_QP_TIMEOUT | ibv::IBV_QP_RETRY_CNT | ibv::IBV_QP_RNR_RETRY | ibv::IBV_QP_MAX_QP_RD_ATOMIC;
    }
    qp.modify_native(&mut native, mask)
}

/// The whole way from wherever the queue pair is to RTS. A queue pair that is already connected is fine if it shows the
/// same peer. After a failure the call may simply be repeated. `ece`: the peer's vendor options, if both sides have such.
pub fn connect(
    qp: &Qp,
    local: &vbn_rc_record,
    remote: &vbn_rc_record,
    attr: &vbn_rc_attr,
    ece: Option<&vbn_ece>,
) -> Result<()> {
    check_attr(qp, attr)?;
    local.check()?;
    remote.check()?;
    if local.qp_num != qp.qp_num() {
        return Err(Error::argument(Reason::NotOneOf("qp_num of the local record", "that of this queue pair"))
            .value(local.qp_num.into(), qp.qp_num().into())
            .hint("make the local record for this queue pair (vbn_rc_record_local, vbn_endpoint_info_local)"));
    }
    if attr.port_num != 0 && attr.port_num != local.port_num {
        return Err(Error::range("port_num", attr.port_num.into(), "the port of the local record"));
    }
    // Before the first step, since there is no way back from RTR.
    responder_depth(qp.device(), attr)?;
    initiator_depth(qp.device(), attr)?;
    let _alone = qp.exclusive();
    let present = qp.attributes()?;
    match present.qp_state {
        ibv::IBV_QPS_RESET | ibv::IBV_QPS_INIT => {
            // They are in force from RTR on, and some devices take them in RESET and INIT alone.
            if let Some(ece) = ece {
                qp.set_ece(ece).map_err(|error| error.hint(WITHOUT_ECE))?;
            }
            to_init_on(qp, attr, local.port_num)?;
            to_rtr_checked(qp, local, remote, attr)?;
            to_rts_checked(qp, local, attr)
        }
        ibv::IBV_QPS_RTR => {
            same_peer(&present, remote)?;
            same_start(&present, remote)?;
            to_rts_checked(qp, local, attr)
        }
        ibv::IBV_QPS_RTS => same_peer(&present, remote),
        state => Err(Error::text(VBN_ERR_ARGUMENT, "the queue pair is in a state from which it can't be connected")
            .value(state.into(), ibv::IBV_QPS_RESET.into())
            .on(qp.device().name())
            .hint("take it to RESET with vbn_qp_modify first")),
    }
}

const WITHOUT_ECE: &str = "these are the connection options (ECE) of the peer's record; to connect without, clear \
                           VBN_ENDPOINT_SET_ECE in both sides' records";

fn same_peer(present: &ibv_qp_attr, remote: &vbn_rc_record) -> Result<()> {
    let address = &present.ah_attr;
    // SAFETY: a GID is 16 bytes, however it is looked at.
    let dgid = unsafe { address.grh.dgid.raw };
    let (what, value, now) = if present.dest_qp_num != remote.qp_num {
        ("the queue pair is already connected to a peer of another number", remote.qp_num, present.dest_qp_num)
    } else if address.is_global == 0 && address.dlid != remote.lid {
        ("the queue pair is already connected to a peer of another LID", remote.lid.into(), address.dlid.into())
    } else if address.is_global != 0 && dgid != remote.gid {
        ("the queue pair is already connected to a peer of another GID", 0, 0)
    } else {
        return Ok(());
    };
    Err(Error::text(VBN_ERR_ARGUMENT, what)
        .value(value.into(), now.into())
        .hint("take it to RESET with vbn_qp_modify first"))
}

/// In RTR the peer's numbering must be that of the record too: a peer that was restarted may have the same number and address.
/// The device tells the number that it expects next, which is ahead of the record's by what the peer has sent already.
fn same_start(present: &ibv_qp_attr, remote: &vbn_rc_record) -> Result<()> {
    if present.rq_psn.wrapping_sub(remote.psn) & 0xff_ffff < 0x80_0000 {
        return Ok(());
    }
    Err(Error::text(VBN_ERR_ARGUMENT, "the queue pair was prepared for another PSN of the peer")
        .value(remote.psn.into(), present.rq_psn.into())
        .hint("take it to RESET with vbn_qp_modify first"))
}

/// Reads and atomics that the peer may have in flight here.
fn responder_depth(context: &Context, attr: &vbn_rc_attr) -> Result<u8> {
    let wanted = attr.has(VBN_RC_SET_MAX_DEST_RD_ATOMIC).then_some(attr.max_dest_rd_atomic);
    depth(context, "max_dest_rd_atomic", wanted, context.device().max_qp_rd_atom)
}

/// Reads and atomics that this side may have in flight.
fn initiator_depth(context: &Context, attr: &vbn_rc_attr) -> Result<u8> {
    let wanted = attr.has(VBN_RC_SET_MAX_RD_ATOMIC).then_some(attr.max_rd_atomic);
    depth(context, "max_rd_atomic", wanted, context.device().max_qp_init_rd_atom)
}

/// The default of it.
pub fn initiator_limit(context: &Context) -> u8 {
    context.device().max_qp_init_rd_atom.clamp(0, DEFAULT_RD_ATOMIC) as u8
}

fn depth(context: &Context, what: &'static str, wanted: Option<u8>, limit: i32) -> Result<u8> {
    match wanted {
        None => Ok(limit.clamp(0, DEFAULT_RD_ATOMIC) as u8),
        Some(wanted) if i32::from(wanted) <= limit => Ok(wanted),
        Some(wanted) => Err(Error::limit(what, wanted.into(), limit.max(0) as u64).on(context.name())),
    }
}

/// The address of the peer, with the global header where the link layer wants it.
fn address(
    context: &Context,
    port: &ibv_port_attr,
    local: &vbn_rc_record,
    remote: &vbn_rc_record,
    attr: &vbn_rc_attr,
) -> Result<ibv_ah_attr> {
    let ethernet = port.link_layer == ibv::IBV_LINK_LAYER_ETHERNET;
    let other_subnet = local.gid.get(..8) != remote.gid.get(..8) && remote.gid != [0; 16];
    let required = port.flags & ibv::IBV_QPF_GRH_REQUIRED != 0;
    let is_global = attr.or(VBN_RC_SET_IS_GLOBAL, attr.is_global, u8::from(ethernet || required || other_subnet));
    if ethernet && is_global == 0 {
        return Err(Error::range("is_global", 0, "possible on RoCE, where every packet carries the global header"));
    }
    let mut ah = ibv_ah_attr::zeroed();
    ah.is_global = is_global;
    ah.dlid = remote.lid;
    ah.sl = attr.sl;
    ah.src_path_bits = attr.src_path_bits;
    ah.static_rate = attr.static_rate;
    ah.port_num = local.port_num;
    if is_global != 0 {
        if remote.gid == [0; 16] {
            return Err(Error::text(VBN_ERR_ARGUMENT, "the peer's GID is all zero")
                .hint("the peer has no address on its port, or the record was not filled"));
        }
        ah.grh.dgid = ibv_gid { raw: remote.gid };
        ah.grh.flow_label = attr.flow_label;
        ah.grh.hop_limit = attr.or(VBN_RC_SET_HOP_LIMIT, attr.hop_limit, DEFAULT_HOP_LIMIT);
        ah.grh.traffic_class = attr.traffic_class;
        ah.grh.sgid_index = match attr.has(VBN_RC_SET_SGID_INDEX) {
            true => attr.sgid_index,
            false => gid::index_of(context, local.port_num, &local.gid)?,
        };
    }
    Ok(ah)
}

/// What the numbers of MTUs mean.
pub const MTU_CODES: &str = "these are VBN_MTU_* codes (1: 256 bytes, 2: 512, 3: 1024, 4: 2048, 5: 4096); left out, the smaller \
                             of both sides is taken";

/// What the kernel would refuse with EINVAL, said with numbers.
fn check_against_port(context: &Context, port: &ibv_port_attr, attr: &ibv_qp_attr) -> Result<()> {
    if attr.path_mtu == 0 || attr.path_mtu > VBN_MTU_4096 as u32 {
        return Err(Error::range_signed(
            "path_mtu",
            (attr.path_mtu as i32).into(),
            "one of VBN_MTU_256 (1)..VBN_MTU_4096 (5)",
        ));
    }
    if attr.path_mtu > port.active_mtu {
        return Err(Error::limit("path_mtu", attr.path_mtu.into(), port.active_mtu.into())
            .on(context.name())
            .hint(MTU_CODES));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record() -> vbn_rc_record {
        let gid = std::array::from_fn(|i| i as u8);
        vbn_rc_record { qp_num: 0x12_3456, psn: 0xab_cdef, lid: 42, port_num: 1, mtu: 5, gid, reserved0: 0 }
    }

    #[test]
    fn the_record_has_the_bytes_that_rdma4py_exchanges() {
        let bytes = record().encode().unwrap();
        let hex: String = bytes.iter().map(|b| format!("{b:02x}")).collect();
        assert_eq!(hex, "0012345600abcdef002a000102030405060708090a0b0c0d0e0f0105");
        assert_eq!(vbn_rc_record::decode(&bytes).unwrap(), record());
    }

    #[test]
    fn the_peer_may_have_sent_before_a_repeated_connect() {
        let mut present = ibv_qp_attr::zeroed();
        let remote = record();
        for (ahead, same) in [(0, true), (1, true), (0x7f_ffff, true), (0x80_0000, false), (0xff_ffff, false)] {
            present.rq_psn = (remote.psn + ahead) & 0xff_ffff;
            assert_eq!(same_start(&present, &remote).is_ok(), same, "{ahead:#x}");
        }
    }

    #[test]
    fn wrong_records_are_refused() {
        let bytes = record().encode().unwrap();
        for size in 0..=64 {
            let data = [0u8; 64];
            assert!(size == 28 || vbn_rc_record::decode(&data[..size]).unwrap_err().value == size as u64);
        }
        for (at, value) in [(0, 1), (4, 1), (26, 0), (27, 0), (27, 6)] {
            let mut bad = bytes;
            bad[at] = value;
            assert!(vbn_rc_record::decode(&bad).is_err(), "byte {at} = {value}");
        }
        assert!(vbn_rc_record { qp_num: 1 << 24, ..record() }.encode().is_err());
        assert!(vbn_rc_record { reserved0: 1, ..record() }.encode().is_err());
    }
}
