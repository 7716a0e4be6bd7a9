// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the kernel shows of an EFA in sysfs.

use super::profiles::own;
use crate::kind::Sysfs;
use crate::profile::Profile;

pub fn of(profile: &Profile) -> Sysfs {
    let own = own(profile);
    Sysfs {
        driver: "efa",
        pci: Some((own.pci_vendor.value, own.pci_device.value)),
        abi_version: 1,
        node_type: "7: unspecified",
        hca_type: "EFA",
        link_layer: "Unspecified",
        gid_type: "IB/RoCE v1",
        port_counters: PORT_COUNTERS,
        device_counters: DEVICE_COUNTERS,
        // As amzn-drivers' efa 3.1.0.
        peer_module: "efa_nv_peermem",
        peer_file: Some(("p2p", "NVIDIA peermem")),
    }
}

const PORT_COUNTERS: &[&str] = &[
    "tx_bytes",
    "tx_pkts",
    "rx_bytes",
    "rx_pkts",
    "rx_drops",
    "send_bytes",
    "send_wrs",
    "recv_bytes",
    "recv_wrs",
    "rdma_read_wrs",
    "rdma_read_bytes",
    "rdma_read_wr_err",
    "rdma_read_resp_bytes",
    "rdma_write_wrs",
    "rdma_write_bytes",
    "rdma_write_wr_err",
    "rdma_write_recv_bytes",
    "retrans_bytes",
    "retrans_pkts",
    "retrans_timeout_events",
    "unresponsive_remote_events",
    "impaired_remote_conn_events",
];
const DEVICE_COUNTERS: &[&str] = &[
    "submitted_cmds",
    "completed_cmds",
    "cmds_err",
    "no_completion_cmds",
    "keep_alive_rcvd",
    "alloc_pd_err",
    "create_qp_err",
    "create_cq_err",
    "reg_mr_err",
    "alloc_ucontext_err",
    "create_ah_err",
    "mmap_err",
];
