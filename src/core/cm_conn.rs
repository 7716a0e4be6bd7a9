// SPDX-License-Identifier: MIT OR Apache-2.0
//! What is told when connecting and accepting, and how much private data goes with it.

use std::ffi::c_void;

use super::cm_addr::vbn_cm_addr;
use super::cold::cold_structs;
use super::error::{Error, Reason, Result};
use crate::sys::ibv::{self, Zeroed};
use crate::sys::rdmacm::*;

/// `vbn_cm_conn_attr.set`: responder_resources.
pub const VBN_CM_CONN_SET_RESPONDER_RESOURCES: u64 = 1;
/// `vbn_cm_conn_attr.set`: initiator_depth.
pub const VBN_CM_CONN_SET_INITIATOR_DEPTH: u64 = 2;
/// `vbn_cm_conn_attr.set`: retry_count.
pub const VBN_CM_CONN_SET_RETRY_COUNT: u64 = 4;
/// `vbn_cm_conn_attr.set`: rnr_retry_count.
pub const VBN_CM_CONN_SET_RNR_RETRY_COUNT: u64 = 8;
/// cbindgen:ignore
const SET: u64 = 15;

/// What `vbn_cm_id_connect` and `vbn_cm_id_accept` may be told. All-zero is the default.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct vbn_cm_conn_attr {
    /// sizeof(vbn_cm_conn_attr).
    pub struct_size: usize,
    /// VBN_CM_CONN_SET_*: fields that count.
    pub set: u64,
    /// Handed to the peer's program, which finds it in the event. Copied.
    pub private_data: *const c_void,
    /// Bytes of it. On InfiniBand and RoCE at most 56 when connecting and 196 when accepting; 180 and 136 with VBN_CM_PS_UDP.
    pub private_data_len: u64,
    /// RDMA reads and atomics that this side takes at a time. Default: the device's limit; when accepting, not more than asked for.
    pub responder_resources: u8,
    /// The same that this side will have under way. Default: likewise.
    pub initiator_depth: u8,
    /// Connecting: how often a request is sent again when no answer comes, 0..7. Default: 6 (soft-RoCE takes 7 for "for ever").
    pub retry_count: u8,
    /// How often a request is sent again when the receiver isn't ready, 0..7; 7: for ever. Default: 7.
    pub rnr_retry_count: u8,
    /// 0.
    pub reserved0: [u8; 4],
}
cold_structs!(vbn_cm_conn_attr);

/// The default is the device's limit, which librdmacm fills in for this.
const AS_DEVICE: u8 = RDMA_MAX_RESP_RES as u8;
const _: () = assert!(RDMA_MAX_RESP_RES == RDMA_MAX_INIT_DEPTH);

impl vbn_cm_conn_attr {
    /// `private_data` are the bytes behind the caller's pointer; they must outlive what is returned.
    pub fn to_native(&self, private_data: &[u8]) -> Result<rdma_conn_param> {
        if self.set & !SET != 0 {
            return Err(Error::unknown_bits("set", self.set, SET));
        }
        if self.reserved0 != [0; 4] {
            return Err(Error::reserved());
        }
        let ranges = [("retry_count", self.retry_count), ("rnr_retry_count", self.rnr_retry_count)];
        if let Some((what, value)) = ranges.into_iter().find(|(_, value)| *value > 7) {
            return Err(Error::range(what, value.into(), "0..7"));
        }
        let or = |bit: u64, value: u8, default: u8| if self.set & bit != 0 { value } else { default };
        let mut param = rdma_conn_param::zeroed();
        param.private_data = private_data.as_ptr().cast();
        param.private_data_len = u8::try_from(private_data.len())
            .map_err(|_| Error::limit("private_data_len", private_data.len() as u64, u8::MAX.into()))?;
        param.responder_resources = or(VBN_CM_CONN_SET_RESPONDER_RESOURCES, self.responder_resources, AS_DEVICE);
        param.initiator_depth = or(VBN_CM_CONN_SET_INITIATOR_DEPTH, self.initiator_depth, AS_DEVICE);
        param.flow_control = 1;
        param.retry_count = or(VBN_CM_CONN_SET_RETRY_COUNT, self.retry_count, 6);
        param.rnr_retry_count = or(VBN_CM_CONN_SET_RNR_RETRY_COUNT, self.rnr_retry_count, 7);
        Ok(param)
    }
}

/// Which message carries private data.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Message {
    Connect,
    Accept,
    Reject,
}

/// How many bytes of private data the message has room for (kernel 6.1: ib_cm.h, less what rdma_cm's own header takes).
pub fn room(id: &rdma_cm_id, message: Message) -> u64 {
    // SAFETY: a device that an id is bound to lives as long as the id.
    let transport = unsafe { id.verbs.as_ref().map(|context| (*context.device).transport_type) };
    if transport == Some(ibv::IBV_TRANSPORT_IWARP) {
        return u8::MAX.into();
    }
    let own = if vbn_cm_addr::is_ib(&id.route.addr.src_storage) { 0 } else { 36 };
    match (message, id.qp_type == ibv::IBV_QPT_UD) {
        (Message::Connect, false) => 92 - own,
        (Message::Connect, true) => 216 - own,
        (Message::Accept, false) => 196,
        (Message::Reject, false) => 148,
        (_, true) => 136,
    }
}

/// Refuses what the message has no room for.
pub fn check_room(id: &rdma_cm_id, message: Message, length: usize) -> Result<()> {
    let room = room(id, message);
    if length as u64 <= room {
        return Ok(());
    }
    Err(Error::new(super::status::VBN_ERR_LIMIT, Reason::Exceeds("private_data_len")).value(length as u64, room).hint(
        match message {
            Message::Connect => "a connection request has no more room: send the rest once connected",
            Message::Accept => "an answer has no more room: send the rest once connected",
            Message::Reject => "a refusal has no more room",
        },
    ))
}
