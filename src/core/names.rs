// SPDX-License-Identifier: MIT OR Apache-2.0
//! Names of enum values. Each text ends with a zero, so that C can have it as it is.

use super::event;
use super::gid;
use super::qp::*;
use super::qp_attr::*;
use super::wc::*;
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
        ] {
            for (i, (value, name)) in names.iter().enumerate() {
                assert!(name.ends_with('\0') && !name[..name.len() - 1].contains('\0'), "{name}");
                assert!(names.iter().skip(i + 1).all(|(v, n)| v != value && n != name), "{name}");
                assert_eq!(find(names, *value), *name);
            }
            assert_eq!(find(names, -77), "unknown\0");
        }
    }
}
