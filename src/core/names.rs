// SPDX-License-Identifier: MIT OR Apache-2.0
//! Names of enum values. Each text ends with a zero, so that C can have it as it is.

use super::qp_attr::*;
use super::qp_create::*;
use super::wc::*;
use super::{
    adopt, caps, cm_id, counters, cq, device, efa_query, endpoint_pair, error, event, explain, flow, flow_spec, gid,
    gpu, gpu_mr, library, mr, mr_ops, mr_set, mw, post, srq, topology, wc_ext,
};
use crate::sys::ibv;

pub type Names = &'static [(i32, &'static str)];

/// The name of `value` in `names`; "unknown" for none.
pub fn find(names: Names, value: i32) -> &'static str {
    names.iter().find(|(number, _)| *number == value).map_or("unknown\0", |(_, name)| name)
}

pub const QP_TYPES: Names = &[
    (VBN_QPT_RC, "RC\0"),
    (VBN_QPT_UC, "UC\0"),
    (VBN_QPT_UD, "UD\0"),
    (VBN_QPT_RAW_PACKET, "RAW_PACKET\0"),
    (VBN_QPT_XRC_SEND, "XRC_SEND\0"),
    (VBN_QPT_XRC_RECV, "XRC_RECV\0"),
    // EFA is the one driver with a type of its own here.
    (VBN_QPT_SRD, "SRD\0"),
];

pub const QP_STATES: Names = &[
    (VBN_QPS_RESET, "RESET\0"),
    (VBN_QPS_INIT, "INIT\0"),
    (VBN_QPS_RTR, "RTR\0"),
    (VBN_QPS_RTS, "RTS\0"),
    (VBN_QPS_SQD, "SQD\0"),
    (VBN_QPS_SQE, "SQE\0"),
    (VBN_QPS_ERR, "ERR\0"),
];

pub const MTUS: Names = &[
    (VBN_MTU_256, "256\0"),
    (VBN_MTU_512, "512\0"),
    (VBN_MTU_1024, "1024\0"),
    (VBN_MTU_2048, "2048\0"),
    (VBN_MTU_4096, "4096\0"),
];

pub const PORT_STATES: Names = &[
    (ibv::IBV_PORT_NOP as i32, "NOP\0"),
    (ibv::IBV_PORT_DOWN as i32, "DOWN\0"),
    (ibv::IBV_PORT_INIT as i32, "INIT\0"),
    (ibv::IBV_PORT_ARMED as i32, "ARMED\0"),
    (ibv::IBV_PORT_ACTIVE as i32, "ACTIVE\0"),
    (ibv::IBV_PORT_ACTIVE_DEFER as i32, "ACTIVE_DEFER\0"),
];

pub const LINK_LAYERS: Names = &[
    (ibv::IBV_LINK_LAYER_UNSPECIFIED as i32, "UNSPECIFIED\0"),
    (ibv::IBV_LINK_LAYER_INFINIBAND as i32, "INFINIBAND\0"),
    (ibv::IBV_LINK_LAYER_ETHERNET as i32, "ETHERNET\0"),
];

pub const NODE_TYPES: Names = &[
    (ibv::IBV_NODE_CA, "CA\0"),
    (ibv::IBV_NODE_SWITCH, "SWITCH\0"),
    (ibv::IBV_NODE_ROUTER, "ROUTER\0"),
    (ibv::IBV_NODE_RNIC, "RNIC\0"),
    (ibv::IBV_NODE_USNIC, "USNIC\0"),
    (ibv::IBV_NODE_USNIC_UDP, "USNIC_UDP\0"),
    (ibv::IBV_NODE_UNSPECIFIED, "UNSPECIFIED\0"),
];

pub const TRANSPORTS: Names = &[
    (ibv::IBV_TRANSPORT_IB, "IB\0"),
    (ibv::IBV_TRANSPORT_IWARP, "IWARP\0"),
    (ibv::IBV_TRANSPORT_USNIC, "USNIC\0"),
    (ibv::IBV_TRANSPORT_USNIC_UDP, "USNIC_UDP\0"),
    (ibv::IBV_TRANSPORT_UNSPECIFIED, "UNSPECIFIED\0"),
];

pub const WC_STATUSES: Names = &[
    (VBN_WC_SUCCESS, "SUCCESS\0"),
    (VBN_WC_LOC_LEN_ERR, "LOC_LEN_ERR\0"),
    (VBN_WC_LOC_QP_OP_ERR, "LOC_QP_OP_ERR\0"),
    (VBN_WC_LOC_EEC_OP_ERR, "LOC_EEC_OP_ERR\0"),
    (VBN_WC_LOC_PROT_ERR, "LOC_PROT_ERR\0"),
    (VBN_WC_WR_FLUSH_ERR, "WR_FLUSH_ERR\0"),
    (VBN_WC_MW_BIND_ERR, "MW_BIND_ERR\0"),
    (VBN_WC_BAD_RESP_ERR, "BAD_RESP_ERR\0"),
    (VBN_WC_LOC_ACCESS_ERR, "LOC_ACCESS_ERR\0"),
    (VBN_WC_REM_INV_REQ_ERR, "REM_INV_REQ_ERR\0"),
    (VBN_WC_REM_ACCESS_ERR, "REM_ACCESS_ERR\0"),
    (VBN_WC_REM_OP_ERR, "REM_OP_ERR\0"),
    (VBN_WC_RETRY_EXC_ERR, "RETRY_EXC_ERR\0"),
    (VBN_WC_RNR_RETRY_EXC_ERR, "RNR_RETRY_EXC_ERR\0"),
    (VBN_WC_LOC_RDD_VIOL_ERR, "LOC_RDD_VIOL_ERR\0"),
    (VBN_WC_REM_INV_RD_REQ_ERR, "REM_INV_RD_REQ_ERR\0"),
    (VBN_WC_REM_ABORT_ERR, "REM_ABORT_ERR\0"),
    (VBN_WC_INV_EECN_ERR, "INV_EECN_ERR\0"),
    (VBN_WC_INV_EEC_STATE_ERR, "INV_EEC_STATE_ERR\0"),
    (VBN_WC_FATAL_ERR, "FATAL_ERR\0"),
    (VBN_WC_RESP_TIMEOUT_ERR, "RESP_TIMEOUT_ERR\0"),
    (VBN_WC_GENERAL_ERR, "GENERAL_ERR\0"),
    (VBN_WC_TM_ERR, "TM_ERR\0"),
    (VBN_WC_TM_RNDV_INCOMPLETE, "TM_RNDV_INCOMPLETE\0"),
];

pub const WC_OPCODES: Names = &[
    (VBN_WC_SEND, "SEND\0"),
    (VBN_WC_RDMA_WRITE, "RDMA_WRITE\0"),
    (VBN_WC_RDMA_READ, "RDMA_READ\0"),
    (VBN_WC_COMP_SWAP, "COMP_SWAP\0"),
    (VBN_WC_FETCH_ADD, "FETCH_ADD\0"),
    (VBN_WC_BIND_MW, "BIND_MW\0"),
    (VBN_WC_LOCAL_INV, "LOCAL_INV\0"),
    (VBN_WC_TSO, "TSO\0"),
    (VBN_WC_FLUSH, "FLUSH\0"),
    (VBN_WC_ATOMIC_WRITE, "ATOMIC_WRITE\0"),
    (VBN_WC_RECV, "RECV\0"),
    (VBN_WC_RECV_RDMA_WITH_IMM, "RECV_RDMA_WITH_IMM\0"),
];

pub const WR_OPCODES: Names = &[
    (ibv::IBV_WR_RDMA_WRITE as i32, "RDMA_WRITE\0"),
    (ibv::IBV_WR_RDMA_WRITE_WITH_IMM as i32, "RDMA_WRITE_WITH_IMM\0"),
    (ibv::IBV_WR_SEND as i32, "SEND\0"),
    (ibv::IBV_WR_SEND_WITH_IMM as i32, "SEND_WITH_IMM\0"),
    (ibv::IBV_WR_RDMA_READ as i32, "RDMA_READ\0"),
    (ibv::IBV_WR_ATOMIC_CMP_AND_SWP as i32, "ATOMIC_CMP_AND_SWP\0"),
    (ibv::IBV_WR_ATOMIC_FETCH_AND_ADD as i32, "ATOMIC_FETCH_AND_ADD\0"),
    (ibv::IBV_WR_LOCAL_INV as i32, "LOCAL_INV\0"),
    (ibv::IBV_WR_BIND_MW as i32, "BIND_MW\0"),
    (ibv::IBV_WR_SEND_WITH_INV as i32, "SEND_WITH_INV\0"),
    (ibv::IBV_WR_FLUSH as i32, "FLUSH\0"),
    (ibv::IBV_WR_ATOMIC_WRITE as i32, "ATOMIC_WRITE\0"),
];

pub const ELEMENTS: Names = &[
    (event::VBN_ELEMENT_NONE, "NONE\0"),
    (event::VBN_ELEMENT_CQ, "CQ\0"),
    (event::VBN_ELEMENT_QP, "QP\0"),
    (event::VBN_ELEMENT_SRQ, "SRQ\0"),
    (event::VBN_ELEMENT_WQ, "WQ\0"),
    (event::VBN_ELEMENT_PORT, "PORT\0"),
    (event::VBN_ELEMENT_DEVICE, "DEVICE\0"),
];

pub const LIST_REASONS: Names = &[
    (device::VBN_REASON_NONE, "NONE\0"),
    (device::VBN_REASON_CANNOT_OPEN, "CANNOT_OPEN\0"),
    (device::VBN_REASON_LIBRARY_MISSING, "LIBRARY_MISSING\0"),
    (device::VBN_REASON_LIBRARY_UNUSABLE, "LIBRARY_UNUSABLE\0"),
    (device::VBN_REASON_NO_MODULE, "NO_MODULE\0"),
    (device::VBN_REASON_NO_DEVICE, "NO_DEVICE\0"),
    (device::VBN_REASON_NO_NODE, "NO_NODE\0"),
    (device::VBN_REASON_NOT_PERMITTED, "NOT_PERMITTED\0"),
    (device::VBN_REASON_NO_PROVIDER, "NO_PROVIDER\0"),
    (device::VBN_REASON_LIST_FAILED, "LIST_FAILED\0"),
];

pub const GID_VERDICTS: Names = &[
    (gid::VBN_GID_CHOSEN, "CHOSEN\0"),
    (gid::VBN_GID_USABLE, "USABLE\0"),
    (gid::VBN_GID_LAST_RESORT, "LAST_RESORT\0"),
    (gid::VBN_GID_ROCE_V1_UNASKED, "ROCE_V1_UNASKED\0"),
    (gid::VBN_GID_OTHER_TYPE, "OTHER_TYPE\0"),
    (gid::VBN_GID_OTHER_FAMILY, "OTHER_FAMILY\0"),
    (gid::VBN_GID_OTHER_INDEX, "OTHER_INDEX\0"),
    (gid::VBN_GID_OTHER_NETDEV, "OTHER_NETDEV\0"),
    (gid::VBN_GID_UNUSED, "UNUSED\0"),
];

pub const GID_FAMILIES: Names =
    &[(gid::VBN_GID_FAMILY_ANY, "ANY\0"), (gid::VBN_GID_FAMILY_IPV4, "IPV4\0"), (gid::VBN_GID_FAMILY_IPV6, "IPV6\0")];

pub const MR_KINDS: Names = &[
    (mr::VBN_MR_HOST, "HOST\0"),
    (mr::VBN_MR_DMABUF, "DMABUF\0"),
    (mr::VBN_MR_ADOPTED, "ADOPTED\0"),
    (mr::VBN_MR_NULL, "NULL\0"),
    (mr::VBN_MR_IMPORTED, "IMPORTED\0"),
    (mr::VBN_MR_DM, "DM\0"),
    (mr::VBN_MR_PEER, "PEER\0"),
];

pub const FORK_STATES: Names = &[
    (library::VBN_FORK_UNKNOWN, "UNKNOWN\0"),
    (library::VBN_FORK_DISABLED, "DISABLED\0"),
    (library::VBN_FORK_ENABLED, "ENABLED\0"),
    (library::VBN_FORK_UNNEEDED, "UNNEEDED\0"),
];

pub const LIBRARY_ORIGINS: Names = &[
    (library::VBN_LIBRARY_FROM_DEFAULT, "DEFAULT\0"),
    (library::VBN_LIBRARY_FROM_ENV, "ENV\0"),
    (library::VBN_LIBRARY_FROM_PATH, "PATH\0"),
    (library::VBN_LIBRARY_FROM_HANDLE, "HANDLE\0"),
    (library::VBN_LIBRARY_FROM_LOOKUP, "LOOKUP\0"),
    (library::VBN_LIBRARY_FROM_PROVIDER, "PROVIDER\0"),
];

pub const OWNERSHIPS: Names =
    &[(adopt::VBN_ADOPT_BORROW, "BORROW\0"), (adopt::VBN_ADOPT_OWN, "OWN\0"), (adopt::VBN_ADOPT_CUSTOM, "CUSTOM\0")];

pub const VENDOR_DOMAINS: Names = &[
    (error::VBN_VENDOR_NONE, "NONE\0"),
    (error::VBN_VENDOR_WC, "WC\0"),
    (error::VBN_VENDOR_CUDA, "CUDA\0"),
    (error::VBN_VENDOR_HSA, "HSA\0"),
];

pub const GPU_KINDS: Names =
    &[(gpu::VBN_GPU_KIND_ANY, "ANY\0"), (gpu::VBN_GPU_KIND_CUDA, "CUDA\0"), (gpu::VBN_GPU_KIND_ROCM, "ROCM\0")];

pub const GPU_MEMORIES: Names = &[
    (gpu::VBN_GPU_MEMORY_UNKNOWN, "UNKNOWN\0"),
    (gpu::VBN_GPU_MEMORY_HOST, "HOST\0"),
    (gpu::VBN_GPU_MEMORY_DEVICE, "DEVICE\0"),
    (gpu::VBN_GPU_MEMORY_MANAGED, "MANAGED\0"),
];

pub const GPU_ALLOCATIONS: Names = &[
    (gpu::VBN_GPU_ALLOCATION_UNKNOWN, "UNKNOWN\0"),
    (gpu::VBN_GPU_ALLOCATION_PLAIN, "PLAIN\0"),
    (gpu::VBN_GPU_ALLOCATION_VMM, "VMM\0"),
    (gpu::VBN_GPU_ALLOCATION_POOL, "POOL\0"),
];

pub const GPU_ATTEMPTS: Names = &[
    (gpu_mr::VBN_GPU_ATTEMPT_NONE, "NONE\0"),
    (gpu_mr::VBN_GPU_ATTEMPT_FAILED, "FAILED\0"),
    (gpu_mr::VBN_GPU_ATTEMPT_WON, "WON\0"),
];

pub const GPU_MR_STATES: Names = &[
    (gpu_mr::VBN_GPU_MR_UNKNOWN, "UNKNOWN\0"),
    (gpu_mr::VBN_GPU_MR_VALID, "VALID\0"),
    (gpu_mr::VBN_GPU_MR_FREED, "FREED\0"),
    (gpu_mr::VBN_GPU_MR_REPLACED, "REPLACED\0"),
];

pub const MEMORIES: Names = &[
    (mr_set::VBN_MEMORY_UNKNOWN, "UNKNOWN\0"),
    (mr_set::VBN_MEMORY_HOST, "HOST\0"),
    (mr_set::VBN_MEMORY_CUDA, "CUDA\0"),
    (mr_set::VBN_MEMORY_ROCM, "ROCM\0"),
];

/// Single bits.
pub type Bits = &'static [(u64, &'static str)];

/// The name of the only bit in `value`; "unknown" for none, several or another one.
pub fn find_bit(names: Bits, value: u64) -> &'static str {
    names.iter().find(|(bit, _)| *bit == value).map_or("unknown\0", |(_, name)| name)
}

pub const GPU_PATHS: Bits = &[
    (gpu_mr::VBN_GPU_PATH_DMABUF as u64, "DMABUF\0"),
    (gpu_mr::VBN_GPU_PATH_SEGMENTS as u64, "SEGMENTS\0"),
    (gpu_mr::VBN_GPU_PATH_PEER as u64, "PEER\0"),
];

pub const ACCESS_FLAGS: Bits = &[
    (mr::VBN_ACCESS_LOCAL_WRITE, "LOCAL_WRITE\0"),
    (mr::VBN_ACCESS_REMOTE_WRITE, "REMOTE_WRITE\0"),
    (mr::VBN_ACCESS_REMOTE_READ, "REMOTE_READ\0"),
    (mr::VBN_ACCESS_REMOTE_ATOMIC, "REMOTE_ATOMIC\0"),
    (mr::VBN_ACCESS_MW_BIND, "MW_BIND\0"),
    (mr::VBN_ACCESS_ZERO_BASED, "ZERO_BASED\0"),
    (mr::VBN_ACCESS_ON_DEMAND, "ON_DEMAND\0"),
    (mr::VBN_ACCESS_HUGETLB, "HUGETLB\0"),
    (mr::VBN_ACCESS_FLUSH_GLOBAL, "FLUSH_GLOBAL\0"),
    (mr::VBN_ACCESS_FLUSH_PERSISTENT, "FLUSH_PERSISTENT\0"),
    (mr::VBN_ACCESS_RELAXED_ORDERING, "RELAXED_ORDERING\0"),
];

pub const SEND_FLAGS: Bits = &[
    (post::VBN_SEND_FENCE, "FENCE\0"),
    (post::VBN_SEND_SIGNALED, "SIGNALED\0"),
    (post::VBN_SEND_SOLICITED, "SOLICITED\0"),
    (post::VBN_SEND_INLINE, "INLINE\0"),
    (post::VBN_SEND_BURST, "BURST\0"),
];

pub const WC_FLAGS: Bits = &[
    (VBN_WC_GRH as u64, "GRH\0"),
    (VBN_WC_WITH_IMM as u64, "WITH_IMM\0"),
    (VBN_WC_IP_CSUM_OK as u64, "IP_CSUM_OK\0"),
    (VBN_WC_WITH_INV as u64, "WITH_INV\0"),
];

pub const QP_ATTRS: Bits = &[
    (VBN_QP_STATE, "STATE\0"),
    (VBN_QP_CUR_STATE, "CUR_STATE\0"),
    (VBN_QP_EN_SQD_ASYNC_NOTIFY, "EN_SQD_ASYNC_NOTIFY\0"),
    (VBN_QP_ACCESS_FLAGS, "ACCESS_FLAGS\0"),
    (VBN_QP_PKEY_INDEX, "PKEY_INDEX\0"),
    (VBN_QP_PORT, "PORT\0"),
    (VBN_QP_QKEY, "QKEY\0"),
    (VBN_QP_AV, "AV\0"),
    (VBN_QP_PATH_MTU, "PATH_MTU\0"),
    (VBN_QP_TIMEOUT, "TIMEOUT\0"),
    (VBN_QP_RETRY_CNT, "RETRY_CNT\0"),
    (VBN_QP_RNR_RETRY, "RNR_RETRY\0"),
    (VBN_QP_RQ_PSN, "RQ_PSN\0"),
    (VBN_QP_MAX_QP_RD_ATOMIC, "MAX_QP_RD_ATOMIC\0"),
    (VBN_QP_ALT_PATH, "ALT_PATH\0"),
    (VBN_QP_MIN_RNR_TIMER, "MIN_RNR_TIMER\0"),
    (VBN_QP_SQ_PSN, "SQ_PSN\0"),
    (VBN_QP_MAX_DEST_RD_ATOMIC, "MAX_DEST_RD_ATOMIC\0"),
    (VBN_QP_PATH_MIG_STATE, "PATH_MIG_STATE\0"),
    (VBN_QP_CAP, "CAP\0"),
    (VBN_QP_DEST_QPN, "DEST_QPN\0"),
    (VBN_QP_RATE_LIMIT, "RATE_LIMIT\0"),
];

pub const CAPS: Bits = &[
    (caps::VBN_CAP_RC, "RC\0"),
    (caps::VBN_CAP_UC, "UC\0"),
    (caps::VBN_CAP_UD, "UD\0"),
    (caps::VBN_CAP_SRD, "SRD\0"),
    (caps::VBN_CAP_XRC, "XRC\0"),
    (caps::VBN_CAP_SEND, "SEND\0"),
    (caps::VBN_CAP_SEND_IMM, "SEND_IMM\0"),
    (caps::VBN_CAP_WRITE, "WRITE\0"),
    (caps::VBN_CAP_WRITE_IMM, "WRITE_IMM\0"),
    (caps::VBN_CAP_READ, "READ\0"),
    (caps::VBN_CAP_ATOMICS, "ATOMICS\0"),
    (caps::VBN_CAP_ATOMICS_GLOBAL, "ATOMICS_GLOBAL\0"),
    (caps::VBN_CAP_ATOMIC_WRITE, "ATOMIC_WRITE\0"),
    (caps::VBN_CAP_FLUSH, "FLUSH\0"),
    (caps::VBN_CAP_INVALIDATE, "INVALIDATE\0"),
    (caps::VBN_CAP_UNSIGNALED, "UNSIGNALED\0"),
    (caps::VBN_CAP_FENCE, "FENCE\0"),
    (caps::VBN_CAP_SOLICITED, "SOLICITED\0"),
    (caps::VBN_CAP_INLINE, "INLINE\0"),
    (caps::VBN_CAP_INLINE_WRITE, "INLINE_WRITE\0"),
    (caps::VBN_CAP_ORDERED, "ORDERED\0"),
    (caps::VBN_CAP_RNR_RETRY, "RNR_RETRY\0"),
    (caps::VBN_CAP_UNSOLICITED_WRITE_RECV, "UNSOLICITED_WRITE_RECV\0"),
    (caps::VBN_CAP_ERRORS_ISOLATED, "ERRORS_ISOLATED\0"),
    (caps::VBN_CAP_PROCESSING_HINTS, "PROCESSING_HINTS\0"),
    (caps::VBN_CAP_NOTIFY, "NOTIFY\0"),
    (caps::VBN_CAP_NOTIFY_SOLICITED, "NOTIFY_SOLICITED\0"),
    (caps::VBN_CAP_WC_SGID, "WC_SGID\0"),
    (caps::VBN_CAP_WC_TIMESTAMP, "WC_TIMESTAMP\0"),
    (caps::VBN_CAP_COMP_CNTR, "COMP_CNTR\0"),
    (caps::VBN_CAP_CQ_DMABUF, "CQ_DMABUF\0"),
    (caps::VBN_CAP_DMABUF, "DMABUF\0"),
    (caps::VBN_CAP_RELAXED_ORDERING, "RELAXED_ORDERING\0"),
    (caps::VBN_CAP_ODP, "ODP\0"),
    (caps::VBN_CAP_MW, "MW\0"),
    (caps::VBN_CAP_DEVICE_MEMORY, "DEVICE_MEMORY\0"),
    (caps::VBN_CAP_SRQ, "SRQ\0"),
    (caps::VBN_CAP_MULTICAST, "MULTICAST\0"),
];

pub const ABSENCES: Names = &[
    (caps::VBN_ABSENCE_NONE as i32, "NONE\0"),
    (caps::VBN_ABSENCE_UNKNOWN as i32, "UNKNOWN\0"),
    (caps::VBN_ABSENCE_TRANSPORT as i32, "TRANSPORT\0"),
    (caps::VBN_ABSENCE_DEVICE as i32, "DEVICE\0"),
    (caps::VBN_ABSENCE_LIBRARY as i32, "LIBRARY\0"),
    (caps::VBN_ABSENCE_LIBRARY_OR_DEVICE as i32, "LIBRARY_OR_DEVICE\0"),
    (caps::VBN_ABSENCE_DRIVER as i32, "DRIVER\0"),
];

pub const EVENT_TYPES: Names = event::NAMES;
pub const CM_EVENT_TYPES: Names = super::cm_event::NAMES;
pub const GID_TYPES: Names = gid::TYPE_NAMES;

pub const ATOMIC_CAPS: Names = &[
    (ibv::IBV_ATOMIC_NONE as i32, "NONE\0"),
    (ibv::IBV_ATOMIC_HCA as i32, "HCA\0"),
    (ibv::IBV_ATOMIC_GLOB as i32, "GLOB\0"),
];

pub const MIG_STATES: Names = &[
    (ibv::IBV_MIG_MIGRATED as i32, "MIGRATED\0"),
    (ibv::IBV_MIG_REARM as i32, "REARM\0"),
    (ibv::IBV_MIG_ARMED as i32, "ARMED\0"),
];

pub const PHYS_STATES: Names = &[
    (1, "SLEEP\0"),
    (2, "POLLING\0"),
    (3, "DISABLED\0"),
    (4, "TRAINING\0"),
    (5, "LINK_UP\0"),
    (6, "ERROR_RECOVERY\0"),
    (7, "PHY_TEST\0"),
];

pub const MW_TYPES: Names = &[(mw::VBN_MW_TYPE_1, "TYPE_1\0"), (mw::VBN_MW_TYPE_2, "TYPE_2\0")];

pub const SRQ_TYPES: Names =
    &[(srq::VBN_SRQT_BASIC, "BASIC\0"), (srq::VBN_SRQT_XRC, "XRC\0"), (srq::VBN_SRQT_TM, "TM\0")];

pub const ADVICE: Names = &[
    (mr_ops::VBN_ADVISE_PREFETCH, "PREFETCH\0"),
    (mr_ops::VBN_ADVISE_PREFETCH_WRITE, "PREFETCH_WRITE\0"),
    (mr_ops::VBN_ADVISE_PREFETCH_NO_FAULT, "PREFETCH_NO_FAULT\0"),
];

pub const POST_PATHS: Names =
    &[(VBN_POST_PATH_AUTO, "AUTO\0"), (VBN_POST_PATH_POST_SEND, "POST_SEND\0"), (VBN_POST_PATH_WR, "WR\0")];

pub const DRIVERS: Names = &[
    (explain::VBN_DRIVER_UNKNOWN, "UNKNOWN\0"),
    (explain::VBN_DRIVER_MLX5, "MLX5\0"),
    (explain::VBN_DRIVER_RXE, "RXE\0"),
    (explain::VBN_DRIVER_EFA, "EFA\0"),
];

pub const MISMATCHES: Bits = &[
    (endpoint_pair::VBN_MISMATCH_TRANSPORT, "TRANSPORT\0"),
    (endpoint_pair::VBN_MISMATCH_UNSOLICITED, "UNSOLICITED\0"),
    (endpoint_pair::VBN_MISMATCH_EFA_GENERATION, "EFA_GENERATION\0"),
    (endpoint_pair::VBN_MISMATCH_GID, "GID\0"),
    (endpoint_pair::VBN_MISMATCH_ECE, "ECE\0"),
];

pub const EFA_CAPS: Bits = &[
    (efa_query::VBN_EFA_CAP_RDMA_READ, "RDMA_READ\0"),
    (efa_query::VBN_EFA_CAP_RNR_RETRY, "RNR_RETRY\0"),
    (efa_query::VBN_EFA_CAP_CQ_WITH_SGID, "CQ_WITH_SGID\0"),
    (efa_query::VBN_EFA_CAP_RDMA_WRITE, "RDMA_WRITE\0"),
    (efa_query::VBN_EFA_CAP_UNSOLICITED_WRITE_RECV, "UNSOLICITED_WRITE_RECV\0"),
    (efa_query::VBN_EFA_CAP_CQ_WITH_EXT_MEM_DMABUF, "CQ_WITH_EXT_MEM_DMABUF\0"),
    (efa_query::VBN_EFA_CAP_COMP_CNTR, "COMP_CNTR\0"),
];

pub const WC_FIELDS: Bits = &[
    (wc_ext::VBN_WC_EX_BYTE_LEN, "BYTE_LEN\0"),
    (wc_ext::VBN_WC_EX_IMM, "IMM\0"),
    (wc_ext::VBN_WC_EX_QP_NUM, "QP_NUM\0"),
    (wc_ext::VBN_WC_EX_SRC_QP, "SRC_QP\0"),
    (wc_ext::VBN_WC_EX_SLID, "SLID\0"),
    (wc_ext::VBN_WC_EX_SL, "SL\0"),
    (wc_ext::VBN_WC_EX_DLID_PATH_BITS, "DLID_PATH_BITS\0"),
    (wc_ext::VBN_WC_EX_TIMESTAMP, "TIMESTAMP\0"),
    (wc_ext::VBN_WC_EX_CVLAN, "CVLAN\0"),
    (wc_ext::VBN_WC_EX_FLOW_TAG, "FLOW_TAG\0"),
    (wc_ext::VBN_WC_EX_WALLCLOCK, "WALLCLOCK\0"),
    (wc_ext::VBN_WC_EX_SGID, "SGID\0"),
    (wc_ext::VBN_WC_EX_UNSOLICITED, "UNSOLICITED\0"),
];

pub const DISTANCES: Names = &[
    (topology::VBN_DISTANCE_SWITCH, "SWITCH\0"),
    (topology::VBN_DISTANCE_SWITCHES, "SWITCHES\0"),
    (topology::VBN_DISTANCE_HOST_BRIDGE, "HOST_BRIDGE\0"),
    (topology::VBN_DISTANCE_NUMA_NODE, "NUMA_NODE\0"),
    (topology::VBN_DISTANCE_PACKAGE, "PACKAGE\0"),
    (topology::VBN_DISTANCE_SYSTEM, "SYSTEM\0"),
    (topology::VBN_DISTANCE_UNKNOWN, "UNKNOWN\0"),
];

pub const FLOW_TYPES: Names = &[
    (flow::VBN_FLOW_NORMAL, "NORMAL\0"),
    (flow::VBN_FLOW_ALL_DEFAULT, "ALL_DEFAULT\0"),
    (flow::VBN_FLOW_MC_DEFAULT, "MC_DEFAULT\0"),
    (flow::VBN_FLOW_SNIFFER, "SNIFFER\0"),
];

const INNER: i32 = flow_spec::VBN_FLOW_SPEC_INNER;

pub const FLOW_SPECS: Names = &[
    (flow_spec::VBN_FLOW_SPEC_ETH, "ETH\0"),
    (flow_spec::VBN_FLOW_SPEC_IPV4, "IPV4\0"),
    (flow_spec::VBN_FLOW_SPEC_IPV6, "IPV6\0"),
    (flow_spec::VBN_FLOW_SPEC_IPV4_EXT, "IPV4_EXT\0"),
    (flow_spec::VBN_FLOW_SPEC_ESP, "ESP\0"),
    (flow_spec::VBN_FLOW_SPEC_TCP, "TCP\0"),
    (flow_spec::VBN_FLOW_SPEC_UDP, "UDP\0"),
    (flow_spec::VBN_FLOW_SPEC_VXLAN, "VXLAN\0"),
    (flow_spec::VBN_FLOW_SPEC_GRE, "GRE\0"),
    (flow_spec::VBN_FLOW_SPEC_MPLS, "MPLS\0"),
    (flow_spec::VBN_FLOW_SPEC_ETH | INNER, "INNER_ETH\0"),
    (flow_spec::VBN_FLOW_SPEC_IPV4 | INNER, "INNER_IPV4\0"),
    (flow_spec::VBN_FLOW_SPEC_IPV6 | INNER, "INNER_IPV6\0"),
    (flow_spec::VBN_FLOW_SPEC_IPV4_EXT | INNER, "INNER_IPV4_EXT\0"),
    (flow_spec::VBN_FLOW_SPEC_ESP | INNER, "INNER_ESP\0"),
    (flow_spec::VBN_FLOW_SPEC_TCP | INNER, "INNER_TCP\0"),
    (flow_spec::VBN_FLOW_SPEC_UDP | INNER, "INNER_UDP\0"),
    (flow_spec::VBN_FLOW_SPEC_MPLS | INNER, "INNER_MPLS\0"),
    (flow_spec::VBN_FLOW_SPEC_ACTION_TAG, "ACTION_TAG\0"),
    (flow_spec::VBN_FLOW_SPEC_ACTION_DROP, "ACTION_DROP\0"),
    (flow_spec::VBN_FLOW_SPEC_ACTION_COUNT, "ACTION_COUNT\0"),
];

pub const PORT_SPACES: Names =
    &[(cm_id::VBN_CM_PS_TCP, "TCP\0"), (cm_id::VBN_CM_PS_UDP, "UDP\0"), (cm_id::VBN_CM_PS_IB, "IB\0")];

pub const LIBRARIES: Names = &[
    (library::VBN_LIBRARY_IBVERBS, "IBVERBS\0"),
    (library::VBN_LIBRARY_EFA, "EFA\0"),
    (library::VBN_LIBRARY_RDMACM, "RDMACM\0"),
    (library::VBN_LIBRARY_CUDA, "CUDA\0"),
    (library::VBN_LIBRARY_ROCM, "ROCM\0"),
];

pub const WAIT_MODES: Names = &[(cq::VBN_CQ_WAIT_SLEEP as i32, "SLEEP\0"), (cq::VBN_CQ_WAIT_EVENT as i32, "EVENT\0")];

pub const COUNTERS: Names = &[(counters::VBN_COUNTER_PACKETS, "PACKETS\0"), (counters::VBN_COUNTER_BYTES, "BYTES\0")];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_ends_with_a_zero_and_is_unique() {
        for names in [
            QP_TYPES,
            QP_STATES,
            MTUS,
            PORT_STATES,
            LINK_LAYERS,
            NODE_TYPES,
            TRANSPORTS,
            WC_STATUSES,
            WC_OPCODES,
            WR_OPCODES,
            EVENT_TYPES,
            CM_EVENT_TYPES,
            GID_TYPES,
            ELEMENTS,
            LIST_REASONS,
            GID_VERDICTS,
            GID_FAMILIES,
            MR_KINDS,
            FORK_STATES,
            LIBRARY_ORIGINS,
            OWNERSHIPS,
            VENDOR_DOMAINS,
            ABSENCES,
            FLOW_TYPES,
            FLOW_SPECS,
            COUNTERS,
            PORT_SPACES,
            LIBRARIES,
            WAIT_MODES,
            GPU_ATTEMPTS,
            GPU_MR_STATES,
            MEMORIES,
            crate::core::cap_names::RATES,
            crate::core::cap_names::PORT_WIDTHS,
            crate::core::cap_names::PORT_SPEEDS,
        ] {
            for (i, (value, name)) in names.iter().enumerate() {
                assert!(name.ends_with('\0') && !name[..name.len() - 1].contains('\0'), "{name}");
                assert!(names.iter().skip(i + 1).all(|(v, n)| v != value && n != name), "{name}");
                assert_eq!(find(names, *value), *name);
            }
            assert_eq!(find(names, -77), "unknown\0");
        }
    }

    #[test]
    fn every_capability_has_a_name() {
        assert_eq!(CAPS.iter().fold(0, |all, (bit, _)| all | bit), caps::ALL);
    }

    #[test]
    fn bits_are_single_and_their_names_unique() {
        for names in [ACCESS_FLAGS, SEND_FLAGS, WC_FLAGS, QP_ATTRS, CAPS, EFA_CAPS, WC_FIELDS, GPU_PATHS] {
            for (i, (bit, name)) in names.iter().enumerate() {
                assert!(bit.is_power_of_two() && name.ends_with('\0'), "{name}");
                assert!(names.iter().skip(i + 1).all(|(b, n)| b != bit && n != name), "{name}");
                assert_eq!(find_bit(names, *bit), *name);
            }
            assert_eq!(find_bit(names, 3), "unknown\0");
        }
    }
}
