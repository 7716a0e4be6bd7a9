// SPDX-License-Identifier: MIT OR Apache-2.0
//! What can be asked of a device and its ports, as structs of the ABI.

use std::ffi::c_char;

use crate::core::cold::{Cold, cold_structs};
use crate::sys::ibv::*;

/// What a device can do: `ibv_device_attr_ex`, flattened, in host byte order.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct vbn_device_attr {
    /// sizeof(vbn_device_attr), set by the caller.
    pub struct_size: usize,
    /// Firmware version.
    pub fw_ver: [c_char; 64],
    /// Number of the node, in host byte order.
    pub node_guid: u64,
    /// Number of the system image, in host byte order.
    pub sys_image_guid: u64,
    /// Largest memory region.
    pub max_mr_size: u64,
    /// Page sizes that can be used, a bit each.
    pub page_size_cap: u64,
    /// Vendor.
    pub vendor_id: u32,
    /// Vendor's number of the part.
    pub vendor_part_id: u32,
    /// Hardware version.
    pub hw_ver: u32,
    /// IBV_DEVICE_* of libibverbs (vbn_device_cap_name).
    pub device_cap_flags: u32,
    /// Queue pairs.
    pub max_qp: i32,
    /// Requests on a send or receive queue.
    pub max_qp_wr: i32,
    /// Segments of a request.
    pub max_sge: i32,
    /// Segments of a READ.
    pub max_sge_rd: i32,
    /// Completion queues.
    pub max_cq: i32,
    /// Entries of a completion queue.
    pub max_cqe: i32,
    /// Memory regions.
    pub max_mr: i32,
    /// Protection domains.
    pub max_pd: i32,
    /// READs and atomics that a QP can serve at once.
    pub max_qp_rd_atom: i32,
    /// The same for an end-to-end context.
    pub max_ee_rd_atom: i32,
    /// READs and atomics that the device can serve at once.
    pub max_res_rd_atom: i32,
    /// READs and atomics that a QP can have under way.
    pub max_qp_init_rd_atom: i32,
    /// The same for an end-to-end context.
    pub max_ee_init_rd_atom: i32,
    /// 0 none, 1 atomic among this device's QPs, 2 atomic with the CPU too.
    pub atomic_cap: i32,
    /// End-to-end contexts.
    pub max_ee: i32,
    /// Reliable datagram domains.
    pub max_rdd: i32,
    /// Memory windows.
    pub max_mw: i32,
    /// Raw IPv6 QPs.
    pub max_raw_ipv6_qp: i32,
    /// Raw Ethertype QPs.
    pub max_raw_ethy_qp: i32,
    /// Multicast groups.
    pub max_mcast_grp: i32,
    /// QPs in a multicast group.
    pub max_mcast_qp_attach: i32,
    /// QPs in all multicast groups.
    pub max_total_mcast_qp_attach: i32,
    /// Address handles.
    pub max_ah: i32,
    /// Fast memory regions (obsolete).
    pub max_fmr: i32,
    /// Remaps of a fast memory region (obsolete).
    pub max_map_per_fmr: i32,
    /// Shared receive queues.
    pub max_srq: i32,
    /// Requests on a shared receive queue.
    pub max_srq_wr: i32,
    /// Segments of a request on a shared receive queue.
    pub max_srq_sge: i32,
    /// Partition keys of a port.
    pub max_pkeys: u16,
    /// How long the device may take to acknowledge: 4.096 us * 2^n.
    pub local_ca_ack_delay: u8,
    /// Ports, as an 8-bit number; see `phys_port_cnt_ex`.
    pub phys_port_cnt: u8,
    /// 1 if the driver filled in any of the fields below.
    pub has_extended: u8,
    /// RSS: hash functions, a bit each.
    pub rss_rx_hash_function: u8,
    /// 0.
    pub reserved0: [u8; 10],
    /// On-demand paging: IBV_ODP_SUPPORT and so on.
    pub odp_general_caps: u64,
    /// On-demand paging with RC.
    pub odp_rc_caps: u32,
    /// On-demand paging with UC.
    pub odp_uc_caps: u32,
    /// On-demand paging with UD.
    pub odp_ud_caps: u32,
    /// On-demand paging with XRC.
    pub odp_xrc_caps: u32,
    /// Bits of a completion timestamp that count; 0: none.
    pub completion_timestamp_mask: u64,
    /// Clock of the timestamps in kHz.
    pub hca_core_clock: u64,
    /// IBV_DEVICE_* of libibverbs, 64 bits of them (vbn_device_cap_name).
    pub device_cap_flags_ex: u64,
    /// Segmentation offload: largest message.
    pub tso_max: u32,
    /// Segmentation offload: QP types, a bit each.
    pub tso_supported_qpts: u32,
    /// RSS: hash fields, a bit each.
    pub rss_rx_hash_fields_mask: u64,
    /// RSS: QP types, a bit each.
    pub rss_supported_qpts: u32,
    /// RSS: indirection tables.
    pub rss_max_rwq_indirection_tables: u32,
    /// RSS: entries of an indirection table.
    pub rss_max_rwq_indirection_table_size: u32,
    /// Receive work queues.
    pub max_wq_type_rq: u32,
    /// Rate limit: lowest, in kbit/s.
    pub rate_limit_min: u32,
    /// Rate limit: highest, in kbit/s.
    pub rate_limit_max: u32,
    /// Rate limit: QP types, a bit each.
    pub rate_limit_supported_qpts: u32,
    /// IBV_RAW_PACKET_CAP_* of libibverbs.
    pub raw_packet_caps: u32,
    /// Tag matching: largest rendezvous header.
    pub tm_max_rndv_hdr_size: u32,
    /// Tag matching: tags.
    pub tm_max_num_tags: u32,
    /// Tag matching: flags.
    pub tm_flags: u32,
    /// Tag matching: operations under way.
    pub tm_max_ops: u32,
    /// Tag matching: segments.
    pub tm_max_sge: u32,
    /// Completion moderation: completions for one event.
    pub cq_moderation_max_count: u16,
    /// Completion moderation: microseconds.
    pub cq_moderation_max_period: u16,
    /// Bytes of device memory.
    pub max_dm_size: u64,
    /// PCI atomics: fetch and add, sizes.
    pub pci_atomic_fetch_add: u16,
    /// PCI atomics: swap, sizes.
    pub pci_atomic_swap: u16,
    /// PCI atomics: compare and swap, sizes.
    pub pci_atomic_compare_swap: u16,
    /// 0.
    pub reserved1: u16,
    /// Ports.
    pub phys_port_cnt_ex: u32,
    /// 0.
    pub reserved2: u32,
}

/// `vbn_port_attr.state`: nothing is known.
pub const VBN_PORT_NOP: i32 = 0;
/// `vbn_port_attr.state`: no link.
pub const VBN_PORT_DOWN: i32 = 1;
/// `vbn_port_attr.state`: there is a link, and no subnet manager has been there yet.
pub const VBN_PORT_INIT: i32 = 2;
/// `vbn_port_attr.state`: configured, not yet enabled.
pub const VBN_PORT_ARMED: i32 = 3;
/// `vbn_port_attr.state`: usable.
pub const VBN_PORT_ACTIVE: i32 = 4;
/// `vbn_port_attr.state`: the link is lost for a moment.
pub const VBN_PORT_ACTIVE_DEFER: i32 = 5;

/// `vbn_port_attr.link_layer`: not told (EFA).
pub const VBN_LINK_LAYER_UNSPECIFIED: i32 = 0;
/// `vbn_port_attr.link_layer`: InfiniBand.
pub const VBN_LINK_LAYER_INFINIBAND: i32 = 1;
/// `vbn_port_attr.link_layer`: Ethernet: RoCE or iWARP.
pub const VBN_LINK_LAYER_ETHERNET: i32 = 2;

/// `vbn_port_attr.valid`: `port_cap_flags2` says something.
pub const VBN_PORT_VALID_CAP_FLAGS2: u64 = 1;
/// `vbn_port_attr.valid`: `active_speed_ex` says something, and `active_speed` is only the part of it that fits 8 bits.
pub const VBN_PORT_VALID_SPEED_EX: u64 = 2;
/// `vbn_port_attr.valid`: `speed_100mbps` says something.
pub const VBN_PORT_VALID_SPEED: u64 = 4;

/// State of a port: `ibv_port_attr`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct vbn_port_attr {
    /// sizeof(vbn_port_attr), set by the caller.
    pub struct_size: usize,
    /// VBN_PORT_VALID_*: which of the fields that not every library and device has are filled in.
    pub valid: u64,
    /// VBN_PORT_*: libibverbs' numbers.
    pub state: i32,
    /// VBN_MTU_*: libibverbs' numbers.
    pub max_mtu: i32,
    /// VBN_MTU_*: libibverbs' numbers.
    pub active_mtu: i32,
    /// VBN_LINK_LAYER_*: libibverbs' numbers.
    pub link_layer: i32,
    /// Entries of the GID table, empty ones included.
    pub gid_tbl_len: i32,
    /// IBV_PORT_* capability bits of libibverbs (vbn_port_cap_name).
    pub port_cap_flags: u32,
    /// Largest message.
    pub max_msg_sz: u32,
    /// Count of bad partition keys.
    pub bad_pkey_cntr: u32,
    /// Count of Q_Key violations.
    pub qkey_viol_cntr: u32,
    /// Speed of a lane, wider than `active_speed` (vbn_port_speed_name). rdma-core tells it since 49.
    pub active_speed_ex: u32,
    /// What the whole port carries now, in units of 100 Mbit/s. rdma-core tells it since 62, of some drivers.
    pub speed_100mbps: u64,
    /// Entries of the partition key table.
    pub pkey_tbl_len: u16,
    /// Local identifier; 0 on Ethernet.
    pub lid: u16,
    /// Local identifier of the subnet manager.
    pub sm_lid: u16,
    /// Second set of capability bits (vbn_port_cap2_name).
    pub port_cap_flags2: u16,
    /// Number of low LID bits that choose a path.
    pub lmc: u8,
    /// Virtual lanes.
    pub max_vl_num: u8,
    /// Service level of the subnet manager.
    pub sm_sl: u8,
    /// Subnet propagation delay: 4.096 us * 2^n.
    pub subnet_timeout: u8,
    /// What the subnet manager did at start.
    pub init_type_reply: u8,
    /// Lanes: 1 is 1, 2 is 4, 4 is 8, 8 is 12, 16 is 2 (vbn_port_width_name).
    pub active_width: u8,
    /// Speed of a lane (vbn_port_speed_name).
    pub active_speed: u8,
    /// Physical state.
    pub phys_state: u8,
    /// Bit 0: every address needs a GRH.
    pub flags: u8,
    /// 0.
    pub reserved0: [u8; 7],
}
cold_structs!(vbn_device_attr, vbn_port_attr);

pub(super) fn flatten(attr: &ibv_device_attr_ex) -> vbn_device_attr {
    let a = &attr.orig_attr;
    let mut flat = vbn_device_attr {
        struct_size: size_of::<vbn_device_attr>(),
        fw_ver: a.fw_ver,
        node_guid: u64::from_be(a.node_guid),
        sys_image_guid: u64::from_be(a.sys_image_guid),
        max_mr_size: a.max_mr_size,
        page_size_cap: a.page_size_cap,
        vendor_id: a.vendor_id,
        vendor_part_id: a.vendor_part_id,
        hw_ver: a.hw_ver,
        device_cap_flags: a.device_cap_flags,
        max_qp: a.max_qp,
        max_qp_wr: a.max_qp_wr,
        max_sge: a.max_sge,
        max_sge_rd: a.max_sge_rd,
        max_cq: a.max_cq,
        max_cqe: a.max_cqe,
        max_mr: a.max_mr,
        max_pd: a.max_pd,
        max_qp_rd_atom: a.max_qp_rd_atom,
        max_ee_rd_atom: a.max_ee_rd_atom,
        max_res_rd_atom: a.max_res_rd_atom,
        max_qp_init_rd_atom: a.max_qp_init_rd_atom,
        max_ee_init_rd_atom: a.max_ee_init_rd_atom,
        atomic_cap: a.atomic_cap as i32,
        max_ee: a.max_ee,
        max_rdd: a.max_rdd,
        max_mw: a.max_mw,
        max_raw_ipv6_qp: a.max_raw_ipv6_qp,
        max_raw_ethy_qp: a.max_raw_ethy_qp,
        max_mcast_grp: a.max_mcast_grp,
        max_mcast_qp_attach: a.max_mcast_qp_attach,
        max_total_mcast_qp_attach: a.max_total_mcast_qp_attach,
        max_ah: a.max_ah,
        max_fmr: a.max_fmr,
        max_map_per_fmr: a.max_map_per_fmr,
        max_srq: a.max_srq,
        max_srq_wr: a.max_srq_wr,
        max_srq_sge: a.max_srq_sge,
        max_pkeys: a.max_pkeys,
        local_ca_ack_delay: a.local_ca_ack_delay,
        phys_port_cnt: a.phys_port_cnt,
        ..Cold::zeroed()
    };
    flatten_extension(&mut flat, attr);
    flat
}

fn flatten_extension(flat: &mut vbn_device_attr, attr: &ibv_device_attr_ex) {
    let (odp, rss, pacing, tm) = (&attr.odp_caps, &attr.rss_caps, &attr.packet_pacing_caps, &attr.tm_caps);
    flat.rss_rx_hash_function = rss.rx_hash_function;
    flat.odp_general_caps = odp.general_caps;
    flat.odp_rc_caps = odp.per_transport_caps.rc_odp_caps;
    flat.odp_uc_caps = odp.per_transport_caps.uc_odp_caps;
    flat.odp_ud_caps = odp.per_transport_caps.ud_odp_caps;
    flat.odp_xrc_caps = attr.xrc_odp_caps;
    flat.completion_timestamp_mask = attr.completion_timestamp_mask;
    flat.hca_core_clock = attr.hca_core_clock;
    flat.device_cap_flags_ex = attr.device_cap_flags_ex;
    flat.tso_max = attr.tso_caps.max_tso;
    flat.tso_supported_qpts = attr.tso_caps.supported_qpts;
    flat.rss_rx_hash_fields_mask = rss.rx_hash_fields_mask;
    flat.rss_supported_qpts = rss.supported_qpts;
    flat.rss_max_rwq_indirection_tables = rss.max_rwq_indirection_tables;
    flat.rss_max_rwq_indirection_table_size = rss.max_rwq_indirection_table_size;
    flat.max_wq_type_rq = attr.max_wq_type_rq;
    flat.rate_limit_min = pacing.qp_rate_limit_min;
    flat.rate_limit_max = pacing.qp_rate_limit_max;
    flat.rate_limit_supported_qpts = pacing.supported_qpts;
    flat.raw_packet_caps = attr.raw_packet_caps;
    flat.tm_max_rndv_hdr_size = tm.max_rndv_hdr_size;
    flat.tm_max_num_tags = tm.max_num_tags;
    flat.tm_flags = tm.flags;
    flat.tm_max_ops = tm.max_ops;
    flat.tm_max_sge = tm.max_sge;
    flat.cq_moderation_max_count = attr.cq_mod_caps.max_cq_count;
    flat.cq_moderation_max_period = attr.cq_mod_caps.max_cq_period;
    flat.max_dm_size = attr.max_dm_size;
    flat.pci_atomic_fetch_add = attr.pci_atomic_caps.fetch_add;
    flat.pci_atomic_swap = attr.pci_atomic_caps.swap;
    flat.pci_atomic_compare_swap = attr.pci_atomic_caps.compare_swap;
    // rdma-core older than 35 doesn't know the field.
    let count = attr.phys_port_cnt_ex;
    flat.phys_port_cnt_ex = if count == 0 { flat.phys_port_cnt.into() } else { count };
    // A driver that answers the extended query fills in one of these at the least.
    let filled = attr.device_cap_flags_ex | u64::from(attr.phys_port_cnt_ex) | attr.hca_core_clock | odp.general_caps;
    flat.has_extended = (filled | attr.completion_timestamp_mask | attr.max_dm_size != 0).into();
}

pub(super) fn port_attr(a: &ibv_port_attr) -> vbn_port_attr {
    let mut valid = 0;
    if a.port_cap_flags & IBV_PORT_CAP_MASK2_SUP != 0 {
        valid |= VBN_PORT_VALID_CAP_FLAGS2;
    }
    if a.active_speed_ex != 0 {
        valid |= VBN_PORT_VALID_SPEED_EX;
    }
    vbn_port_attr {
        struct_size: size_of::<vbn_port_attr>(),
        valid,
        state: a.state as i32,
        max_mtu: a.max_mtu as i32,
        active_mtu: a.active_mtu as i32,
        link_layer: a.link_layer.into(),
        gid_tbl_len: a.gid_tbl_len,
        port_cap_flags: a.port_cap_flags,
        max_msg_sz: a.max_msg_sz,
        bad_pkey_cntr: a.bad_pkey_cntr,
        qkey_viol_cntr: a.qkey_viol_cntr,
        active_speed_ex: a.active_speed_ex,
        speed_100mbps: 0,
        pkey_tbl_len: a.pkey_tbl_len,
        lid: a.lid,
        sm_lid: a.sm_lid,
        port_cap_flags2: a.port_cap_flags2,
        lmc: a.lmc,
        max_vl_num: a.max_vl_num,
        sm_sl: a.sm_sl,
        subnet_timeout: a.subnet_timeout,
        init_type_reply: a.init_type_reply,
        active_width: a.active_width,
        active_speed: a.active_speed,
        phys_state: a.phys_state,
        flags: a.flags,
        reserved0: [0; 7],
    }
}
