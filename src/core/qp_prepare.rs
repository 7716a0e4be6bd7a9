// SPDX-License-Identifier: MIT OR Apache-2.0
//! Brings connectionless queue pairs (UD, SRD) from RESET to RTS.

use super::cold::cold_structs;
use super::error::{Error, Result};
use super::qp::Qp;
use super::qp_create::VBN_QPT_SRD;
use super::status::*;
use crate::sys::efa::EFADV_DEVICE_ATTR_CAPS_RNR_RETRY;
use crate::sys::ibv::{self, Zeroed, ibv_qp_attr};
use crate::sys::os;

/// `vbn_qp_prepare_attr.set`: qkey. Required.
pub const VBN_QP_PREPARE_SET_QKEY: u64 = 1 << 0;
/// `vbn_qp_prepare_attr.set`: rnr_retry.
pub const VBN_QP_PREPARE_SET_RNR_RETRY: u64 = 1 << 1;
/// cbindgen:ignore
const SET: u64 = VBN_QP_PREPARE_SET_QKEY | VBN_QP_PREPARE_SET_RNR_RETRY;

/// What `vbn_qp_prepare` is told.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct vbn_qp_prepare_attr {
    /// sizeof(vbn_qp_prepare_attr).
    pub struct_size: usize,
    /// VBN_QP_PREPARE_SET_*.
    pub set: u64,
    /// The key that senders must show; vbn_qkey_random makes one. From 0x80000000 on it is for privileged users.
    pub qkey: u32,
    /// 24 bits: where one's own numbering starts. Default 0.
    pub psn: u32,
    /// Index in the port's pkey table. Default 0.
    pub pkey_index: u16,
    /// Port, from 1. 0: 1.
    pub port_num: u8,
    /// SRD: retries when the peer has no receive posted, 0 to 6; 7: for ever, which is the default.
    pub rnr_retry: u8,
    /// 0.
    pub reserved0: u32,
}
cold_structs!(vbn_qp_prepare_attr);

/// The whole way from RESET, INIT or RTR to RTS. One that is up is fine if it has the same QKEY.
pub fn prepare(qp: &Qp, attr: &vbn_qp_prepare_attr) -> Result<()> {
    qp.must_be_connectionless()?;
    check(qp, attr)?;
    let port_num = attr.port_num.max(1);
    qp.device().check_port(port_num.into())?;
    let _alone = qp.exclusive();
    let mut native = ibv_qp_attr::zeroed();
    (native.qkey, native.port_num, native.pkey_index) = (attr.qkey, port_num, attr.pkey_index);
    (native.sq_psn, native.rnr_retry) = (attr.psn, attr.rnr_retry);
    let init = ibv::IBV_QP_PKEY_INDEX | ibv::IBV_QP_PORT | ibv::IBV_QP_QKEY;
    let retry = if attr.set & VBN_QP_PREPARE_SET_RNR_RETRY != 0 { ibv::IBV_QP_RNR_RETRY } else { 0 };
    let steps = [(ibv::IBV_QPS_INIT, init), (ibv::IBV_QPS_RTR, 0), (ibv::IBV_QPS_RTS, ibv::IBV_QP_SQ_PSN | retry)];
    let present = qp.state()?;
    match present {
        ibv::IBV_QPS_RESET | ibv::IBV_QPS_INIT => {}
        ibv::IBV_QPS_RTR | ibv::IBV_QPS_RTS => same_key(qp, attr.qkey)?,
        state => {
            return Err(Error::text(VBN_ERR_ARGUMENT, "the queue pair is in a state from which it can't be prepared")
                .value(state.into(), ibv::IBV_QPS_RESET.into())
                .on(qp.device().name())
                .hint("take it to RESET with vbn_qp_modify first"));
        }
    }
    // From INIT the first step is taken again, since its key may be another.
    for (state, mask) in steps.into_iter().filter(|(state, _)| *state > present || *state == ibv::IBV_QPS_INIT) {
        if state == ibv::IBV_QPS_INIT && present > ibv::IBV_QPS_INIT {
            continue;
        }
        native.qp_state = state;
        qp.modify_native(&mut native, ibv::IBV_QP_STATE | mask)?;
    }
    Ok(())
}

fn check(qp: &Qp, attr: &vbn_qp_prepare_attr) -> Result<()> {
    if attr.set & !SET != 0 {
        return Err(Error::unknown_bits("set", attr.set, SET));
    }
    if attr.reserved0 != 0 {
        return Err(Error::reserved());
    }
    if attr.set & VBN_QP_PREPARE_SET_QKEY == 0 {
        return Err(Error::text(VBN_ERR_ARGUMENT, "VBN_QP_PREPARE_SET_QKEY is not in set").hint(
            "set qkey to what vbn_qkey_random returns: a key that others can't guess keeps their late packets out",
        ));
    }
    if attr.psn > 0xff_ffff {
        return Err(Error::range("psn", attr.psn.into(), "a 24-bit number"));
    }
    if attr.set & VBN_QP_PREPARE_SET_RNR_RETRY == 0 {
        return Ok(());
    }
    if attr.rnr_retry > 7 {
        return Err(Error::range("rnr_retry", attr.rnr_retry.into(), "0..7"));
    }
    let device = qp.device().efa().filter(|_| qp.qp_type() == VBN_QPT_SRD);
    if device.is_none_or(|device| device.attr.device_caps & EFADV_DEVICE_ATTR_CAPS_RNR_RETRY == 0) {
        return Err(Error::text(
            VBN_ERR_NOT_SUPPORTED,
            "rnr_retry can't be set here: only SRD on devices that say so has it",
        )
        .on(qp.device().name())
        .hint("leave VBN_QP_PREPARE_SET_RNR_RETRY out"));
    }
    Ok(())
}

fn same_key(qp: &Qp, qkey: u32) -> Result<()> {
    let present = qp.qkey()?;
    if present == qkey {
        return Ok(());
    }
    Err(Error::text(VBN_ERR_ARGUMENT, "the queue pair is already up with another QKEY")
        .value(qkey.into(), present.into())
        .on(qp.device().name())
        .hint("take it to RESET with vbn_qp_modify first"))
}

/// A QKEY that nobody else guesses: 31 bits, since the highest one is for privileged users, and never 0.
pub fn random_qkey() -> u32 {
    (os::random_u32() & 0x7fff_ffff).max(1)
}
