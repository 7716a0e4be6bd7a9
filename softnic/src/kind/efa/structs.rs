// SPDX-License-Identifier: MIT OR Apache-2.0
//! The private structs of the efa driver (`efa-abi.h`). They only ever grew at the end, so those of older rdma-core
//! are prefixes: requests are zero-extended, answers are cut to the caller's length.

use crate::abi::wire::wire;

/// `RDMA_DRIVER_EFA`
pub const DRIVER_ID: u32 = 17;

/// `EFA_USER_CMDS_SUPP_UDATA_QUERY_DEVICE | EFA_USER_CMDS_SUPP_UDATA_CREATE_AH`; libefa refuses a device without the latter.
pub const SUPP_UDATA: u32 = 3;
/// `EFA_CREATE_CQ_RESP_DB_OFF`
pub const CQ_RESP_DB_OFF: u32 = 1;
/// `EFA_CREATE_CQ_WITH_COMPLETION_CHANNEL`
pub const CQ_WITH_CHANNEL: u8 = 1;
/// `EFA_CREATE_CQ_WITH_SGID`
pub const CQ_WITH_SGID: u8 = 2;
/// `EFA_CREATE_QP_WITH_UNSOLICITED_WRITE_RECV`
pub const QP_UNSOLICITED: u16 = 1;
/// `EFA_QP_DRIVER_TYPE_SRD`
pub const QP_TYPE_SRD: u32 = 0;

wire! {
    /// `struct efa_ibv_alloc_ucontext_cmd`
    AllocContext [8] { 0 supported_caps: u32 }
}

wire! {
    /// `struct efa_ibv_alloc_ucontext_resp`
    AllocContextResp [24] {
        0 comp_mask: u32, 4 cmds_supp_udata_mask: u32, 8 sub_cqs_per_cq: u16, 10 inline_buf_size: u16,
        12 max_llq_size: u32, 16 max_tx_batch: u16, 18 min_sq_wr: u16, 20 inline_buf_size_ex: u16,
    }
}

wire! {
    /// `struct efa_ibv_ex_query_device_resp`
    QueryDeviceResp [24] {
        0 comp_mask: u32, 4 max_sq_wr: u32, 8 max_rq_wr: u32, 12 max_sq_sge: u16, 14 max_rq_sge: u16,
        16 max_rdma_size: u32, 20 device_caps: u32,
    }
}

wire! {
    /// `struct efa_ibv_alloc_pd_resp`
    AllocPdResp [8] { 0 comp_mask: u32, 4 pdn: u16 }
}

wire! {
    /// `struct efa_ibv_create_cq`
    CreateCq [16] { 0 comp_mask: u32, 4 entry_size: u32, 8 sub_cqs: u16, 10 flags: u8, 11 reserved: [u8; 5] }
}

wire! {
    /// `struct efa_ibv_create_cq_resp`
    CreateCqResp [40] {
        0 comp_mask: u32, 8 q_mmap_key: u64, 16 q_mmap_size: u64, 24 cq_idx: u16, 28 db_off: u32, 32 db_mmap_key: u64,
    }
}

wire! {
    /// `struct efa_ibv_create_qp`
    CreateQp [24] {
        0 comp_mask: u32, 4 rq_ring_size: u32, 8 sq_ring_size: u32, 12 driver_qp_type: u32, 16 flags: u16, 18 sl: u8,
        19 reserved: [u8; 5],
    }
}

wire! {
    /// `struct efa_ibv_create_qp_resp`
    CreateQpResp [64] {
        0 comp_mask: u32, 4 rq_db_offset: u32, 8 sq_db_offset: u32, 12 llq_desc_offset: u32, 16 rq_mmap_key: u64,
        24 rq_mmap_size: u64, 32 rq_db_mmap_key: u64, 40 sq_db_mmap_key: u64, 48 llq_desc_mmap_key: u64,
        56 send_sub_cq_idx: u16, 58 recv_sub_cq_idx: u16,
    }
}

wire! {
    /// `struct efa_ibv_create_ah_resp`
    CreateAhResp [8] { 0 comp_mask: u32, 4 ahn: u16 }
}
