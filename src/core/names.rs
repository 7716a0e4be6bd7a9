// SPDX-License-Identifier: MIT OR Apache-2.0
//! Names of enum values. Each text ends with a zero, so that C can have it as it is.

use super::qp::*;
use super::qp_attr::*;
use super::wc::*;
use super::{adopt, device, error, event, gid, library, mr, post};
use crate::sys::ibv;

type Names = &'static [(i32, &'static str)];

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
    (VBN_QPT_DRIVER, "DRIVER\0"),
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

pub const MR_KINDS: Names =
    &[(mr::VBN_MR_HOST, "HOST\0"), (mr::VBN_MR_DMABUF, "DMABUF\0"), (mr::VBN_MR_ADOPTED, "ADOPTED\0")];

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
];

pub const OWNERSHIPS: Names =
    &[(adopt::VBN_ADOPT_BORROW, "BORROW\0"), (adopt::VBN_ADOPT_OWN, "OWN\0"), (adopt::VBN_ADOPT_CUSTOM, "CUSTOM\0")];

pub const VENDOR_DOMAINS: Names = &[(error::VBN_VENDOR_NONE, "NONE\0"), (error::VBN_VENDOR_WC, "WC\0")];

/// Single bits.
type Bits = &'static [(u64, &'static str)];

/// The name of the only bit in `value`; "unknown" for none, several or another one.
pub fn find_bit(names: Bits, value: u64) -> &'static str {
    names.iter().find(|(bit, _)| *bit == value).map_or("unknown\0", |(_, name)| name)
}

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

pub const EVENT_TYPES: Names = event::NAMES;
pub const GID_TYPES: Names = gid::TYPE_NAMES;

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
    fn bits_are_single_and_their_names_unique() {
        for names in [ACCESS_FLAGS, SEND_FLAGS, WC_FLAGS, QP_ATTRS] {
            for (i, (bit, name)) in names.iter().enumerate() {
                assert!(bit.is_power_of_two() && name.ends_with('\0'), "{name}");
                assert!(names.iter().skip(i + 1).all(|(b, n)| b != bit && n != name), "{name}");
                assert_eq!(find_bit(names, *bit), *name);
            }
            assert_eq!(find_bit(names, 3), "unknown\0");
        }
    }
}
