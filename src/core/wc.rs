// SPDX-License-Identifier: MIT OR Apache-2.0
//! Completions.

use super::error::{Error, Reason, Result, VBN_VENDOR_WC};
use super::explain;
use super::status::VBN_ERR_COMPLETION;
use crate::sys::ibv::{self, ibv_wc};

/// A completion. The layout is ibv_wc's; see `imm` for the one difference. Frozen.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct vbn_wc {
    /// The request's wr_id.
    pub wr_id: u64,
    /// VBN_WC_SUCCESS or another VBN_WC_* status. After an error only wr_id, status, vendor_err and qp_num count.
    pub status: i32,
    /// VBN_WC_SEND, VBN_WC_RECV, ...
    pub opcode: i32,
    /// The device's own code of an error.
    pub vendor_err: u32,
    /// Bytes received (receives) or transferred.
    pub byte_len: u32,
    /// With VBN_WC_WITH_IMM the immediate value in host byte order; with VBN_WC_WITH_INV the rkey that was invalidated.
    pub imm: u32,
    /// Number of the queue pair that the completion is of.
    pub qp_num: u32,
    /// UD: number of the sender's queue pair.
    pub src_qp: u32,
    /// VBN_WC_GRH, VBN_WC_WITH_IMM, ...
    pub wc_flags: u32,
    /// UD on InfiniBand.
    pub pkey_index: u16,
    /// UD on InfiniBand: the sender's LID.
    pub slid: u16,
    /// UD: service level.
    pub sl: u8,
    /// UD on InfiniBand: path bits of the destination LID.
    pub dlid_path_bits: u8,
    /// Not written.
    pub reserved0: u16,
}

const _: () = {
    use std::mem::offset_of;
    assert!(size_of::<vbn_wc>() == 48 && size_of::<vbn_wc>() == size_of::<ibv_wc>());
    assert!(offset_of!(vbn_wc, status) == offset_of!(ibv_wc, status));
    assert!(offset_of!(vbn_wc, qp_num) == offset_of!(ibv_wc, qp_num));
    assert!(offset_of!(vbn_wc, wc_flags) == offset_of!(ibv_wc, wc_flags));
    assert!(offset_of!(vbn_wc, dlid_path_bits) == offset_of!(ibv_wc, dlid_path_bits));
};

/// The operation succeeded.
pub const VBN_WC_SUCCESS: i32 = 0;
/// A message is longer than the receive buffer, or than the port allows.
pub const VBN_WC_LOC_LEN_ERR: i32 = 1;
/// The request is malformed for this queue pair.
pub const VBN_WC_LOC_QP_OP_ERR: i32 = 2;
/// Reliable datagram only.
pub const VBN_WC_LOC_EEC_OP_ERR: i32 = 3;
/// A local segment is outside its region, or its lkey is wrong.
pub const VBN_WC_LOC_PROT_ERR: i32 = 4;
/// The queue pair went into the error state before this request was done. Another completion has the cause.
pub const VBN_WC_WR_FLUSH_ERR: i32 = 5;
/// A memory window could not be bound.
pub const VBN_WC_MW_BIND_ERR: i32 = 6;
/// The peer's answer made no sense.
pub const VBN_WC_BAD_RESP_ERR: i32 = 7;
/// Access to local memory failed while a write with immediate came in.
pub const VBN_WC_LOC_ACCESS_ERR: i32 = 8;
/// The peer found the request invalid (receive buffer too small, operation not allowed, ...).
pub const VBN_WC_REM_INV_REQ_ERR: i32 = 9;
/// The peer refused access to its memory: wrong rkey, range, or access flags.
pub const VBN_WC_REM_ACCESS_ERR: i32 = 10;
/// The peer could not complete the operation.
pub const VBN_WC_REM_OP_ERR: i32 = 11;
/// The peer did not answer within the retries.
pub const VBN_WC_RETRY_EXC_ERR: i32 = 12;
/// The peer had no receive posted within the RNR retries.
pub const VBN_WC_RNR_RETRY_EXC_ERR: i32 = 13;
/// Reliable datagram only.
pub const VBN_WC_LOC_RDD_VIOL_ERR: i32 = 14;
/// Reliable datagram only; EFA: bad destination queue pair.
pub const VBN_WC_REM_INV_RD_REQ_ERR: i32 = 15;
/// The peer aborted the operation.
pub const VBN_WC_REM_ABORT_ERR: i32 = 16;
/// Reliable datagram only.
pub const VBN_WC_INV_EECN_ERR: i32 = 17;
/// Reliable datagram only.
pub const VBN_WC_INV_EEC_STATE_ERR: i32 = 18;
/// The device failed.
pub const VBN_WC_FATAL_ERR: i32 = 19;
/// The peer did not answer.
pub const VBN_WC_RESP_TIMEOUT_ERR: i32 = 20;
/// Something else; vendor_err says what.
pub const VBN_WC_GENERAL_ERR: i32 = 21;
/// Tag matching failed.
pub const VBN_WC_TM_ERR: i32 = 22;
/// Tag matching: the rendezvous must be completed in software.
pub const VBN_WC_TM_RNDV_INCOMPLETE: i32 = 23;

/// A send completed.
pub const VBN_WC_SEND: i32 = 0;
/// An RDMA write completed.
pub const VBN_WC_RDMA_WRITE: i32 = 1;
/// An RDMA read completed.
pub const VBN_WC_RDMA_READ: i32 = 2;
/// A compare-and-swap completed.
pub const VBN_WC_COMP_SWAP: i32 = 3;
/// A fetch-and-add completed.
pub const VBN_WC_FETCH_ADD: i32 = 4;
/// A memory window was bound.
pub const VBN_WC_BIND_MW: i32 = 5;
/// A local invalidate completed.
pub const VBN_WC_LOCAL_INV: i32 = 6;
/// A segmentation offload send completed.
pub const VBN_WC_TSO: i32 = 7;
/// A flush completed.
pub const VBN_WC_FLUSH: i32 = 8;
/// An atomic write completed.
pub const VBN_WC_ATOMIC_WRITE: i32 = 9;
/// A receive completed. Every receive opcode has this bit.
pub const VBN_WC_RECV: i32 = 128;
/// An RDMA write with immediate came in.
pub const VBN_WC_RECV_RDMA_WITH_IMM: i32 = 129;

/// The receive buffer begins with a 40-byte global route header.
pub const VBN_WC_GRH: u32 = 1;
/// `imm` holds an immediate value.
pub const VBN_WC_WITH_IMM: u32 = 2;
/// The checksum was right.
pub const VBN_WC_IP_CSUM_OK: u32 = 4;
/// `imm` holds an invalidated rkey. (Soft-RoCE of Linux 6.1 sets VBN_WC_IP_CSUM_OK instead.)
pub const VBN_WC_WITH_INV: u32 = 8;

const _: () = {
    assert!(VBN_WC_TM_RNDV_INCOMPLETE == ibv::IBV_WC_TM_RNDV_INCOMPLETE as i32);
    assert!(VBN_WC_RNR_RETRY_EXC_ERR == ibv::IBV_WC_RNR_RETRY_EXC_ERR as i32);
    assert!(VBN_WC_RECV_RDMA_WITH_IMM == ibv::IBV_WC_RECV_RDMA_WITH_IMM as i32);
    assert!(VBN_WC_WITH_IMM == ibv::IBV_WC_WITH_IMM && VBN_WC_WITH_INV == ibv::IBV_WC_WITH_INV);
};

/// Turns a failed completion into an error.
pub fn check(wc: &vbn_wc) -> Result<()> {
    if wc.status == VBN_WC_SUCCESS {
        return Ok(());
    }
    let (what, hint) = explain::brief(wc.status);
    let mut error =
        Error::new(VBN_ERR_COMPLETION, Reason::Completion(what, wc.qp_num)).value(i64::from(wc.status) as u64, 0);
    error.vendor_domain = VBN_VENDOR_WC;
    error.vendor_code = wc.vendor_err.into();
    Err(error.hint(hint))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_completion_becomes_an_error_with_the_vendor_code() {
        // SAFETY: all numbers.
        let mut wc: vbn_wc = unsafe { std::mem::zeroed() };
        assert!(check(&wc).is_ok());
        (wc.status, wc.vendor_err, wc.qp_num) = (VBN_WC_RETRY_EXC_ERR, 129, 17);
        let error = check(&wc).unwrap_err();
        assert_eq!((error.vendor_domain, error.vendor_code, error.value, error.limit), (VBN_VENDOR_WC, 129, 12, 0));
        let mut text = [0; 512];
        let record = super::super::error::Record { op: super::super::op::Op::WcCheck, error };
        super::super::error::describe(&record, &mut text);
        assert!(String::from_utf8_lossy(&text).contains("queue pair 17 failed"));
    }
}
