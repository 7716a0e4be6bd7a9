// SPDX-License-Identifier: MIT OR Apache-2.0
//! Flow steering, and the counters that rules can have. Numbers in filters are big-endian.

use super::{__be16, __be32, ibv_context, zeroed};

pub const IBV_FLOW_ATTR_FLAGS_DONT_TRAP: u32 = 1 << 1;
pub const IBV_FLOW_ATTR_FLAGS_EGRESS: u32 = 1 << 2;

pub type ibv_flow_attr_type = u32;
pub const IBV_FLOW_ATTR_NORMAL: ibv_flow_attr_type = 0;
pub const IBV_FLOW_ATTR_ALL_DEFAULT: ibv_flow_attr_type = 1;
pub const IBV_FLOW_ATTR_MC_DEFAULT: ibv_flow_attr_type = 2;
pub const IBV_FLOW_ATTR_SNIFFER: ibv_flow_attr_type = 3;

pub type ibv_flow_spec_type = u32;
pub const IBV_FLOW_SPEC_ETH: ibv_flow_spec_type = 0x20;
pub const IBV_FLOW_SPEC_IPV4: ibv_flow_spec_type = 0x30;
pub const IBV_FLOW_SPEC_IPV6: ibv_flow_spec_type = 0x31;
pub const IBV_FLOW_SPEC_IPV4_EXT: ibv_flow_spec_type = 0x32;
pub const IBV_FLOW_SPEC_ESP: ibv_flow_spec_type = 0x34;
pub const IBV_FLOW_SPEC_TCP: ibv_flow_spec_type = 0x40;
pub const IBV_FLOW_SPEC_UDP: ibv_flow_spec_type = 0x41;
pub const IBV_FLOW_SPEC_VXLAN_TUNNEL: ibv_flow_spec_type = 0x50;
pub const IBV_FLOW_SPEC_GRE: ibv_flow_spec_type = 0x51;
pub const IBV_FLOW_SPEC_MPLS: ibv_flow_spec_type = 0x60;
pub const IBV_FLOW_SPEC_INNER: ibv_flow_spec_type = 0x100;
pub const IBV_FLOW_SPEC_ACTION_TAG: ibv_flow_spec_type = 0x1000;
pub const IBV_FLOW_SPEC_ACTION_DROP: ibv_flow_spec_type = 0x1001;
pub const IBV_FLOW_SPEC_ACTION_HANDLE: ibv_flow_spec_type = 0x1002;
pub const IBV_FLOW_SPEC_ACTION_COUNT: ibv_flow_spec_type = 0x1003;

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ibv_flow_eth_filter {
    pub dst_mac: [u8; 6],
    pub src_mac: [u8; 6],
    pub ether_type: __be16,
    pub vlan_tag: __be16,
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ibv_flow_spec_eth {
    pub r#type: ibv_flow_spec_type,
    pub size: u16,
    pub val: ibv_flow_eth_filter,
    pub mask: ibv_flow_eth_filter,
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ibv_flow_ipv4_filter {
    pub src_ip: __be32,
    pub dst_ip: __be32,
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ibv_flow_spec_ipv4 {
    pub r#type: ibv_flow_spec_type,
    pub size: u16,
    pub val: ibv_flow_ipv4_filter,
    pub mask: ibv_flow_ipv4_filter,
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ibv_flow_ipv4_ext_filter {
    pub src_ip: __be32,
    pub dst_ip: __be32,
    pub proto: u8,
    pub tos: u8,
    pub ttl: u8,
    pub flags: u8,
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ibv_flow_spec_ipv4_ext {
    pub r#type: ibv_flow_spec_type,
    pub size: u16,
    pub val: ibv_flow_ipv4_ext_filter,
    pub mask: ibv_flow_ipv4_ext_filter,
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ibv_flow_ipv6_filter {
    pub src_ip: [u8; 16],
    pub dst_ip: [u8; 16],
    pub flow_label: __be32,
    pub next_hdr: u8,
    pub traffic_class: u8,
    pub hop_limit: u8,
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ibv_flow_spec_ipv6 {
    pub r#type: ibv_flow_spec_type,
    pub size: u16,
    pub val: ibv_flow_ipv6_filter,
    pub mask: ibv_flow_ipv6_filter,
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ibv_flow_esp_filter {
    pub spi: __be32,
    pub seq: __be32,
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ibv_flow_spec_esp {
    pub r#type: ibv_flow_spec_type,
    pub size: u16,
    pub val: ibv_flow_esp_filter,
    pub mask: ibv_flow_esp_filter,
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ibv_flow_tcp_udp_filter {
    pub dst_port: __be16,
    pub src_port: __be16,
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ibv_flow_spec_tcp_udp {
    pub r#type: ibv_flow_spec_type,
    pub size: u16,
    pub val: ibv_flow_tcp_udp_filter,
    pub mask: ibv_flow_tcp_udp_filter,
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ibv_flow_gre_filter {
    pub c_ks_res0_ver: __be16,
    pub protocol: __be16,
    pub key: __be32,
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ibv_flow_spec_gre {
    pub r#type: ibv_flow_spec_type,
    pub size: u16,
    pub val: ibv_flow_gre_filter,
    pub mask: ibv_flow_gre_filter,
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ibv_flow_mpls_filter {
    pub label: __be32,
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ibv_flow_spec_mpls {
    pub r#type: ibv_flow_spec_type,
    pub size: u16,
    pub val: ibv_flow_mpls_filter,
    pub mask: ibv_flow_mpls_filter,
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ibv_flow_tunnel_filter {
    pub tunnel_id: __be32,
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ibv_flow_spec_tunnel {
    pub r#type: ibv_flow_spec_type,
    pub size: u16,
    pub val: ibv_flow_tunnel_filter,
    pub mask: ibv_flow_tunnel_filter,
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ibv_flow_spec_action_tag {
    pub r#type: ibv_flow_spec_type,
    pub size: u16,
    pub tag_id: u32,
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ibv_flow_spec_action_drop {
    pub r#type: ibv_flow_spec_type,
    pub size: u16,
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ibv_flow_spec_counter_action {
    pub r#type: ibv_flow_spec_type,
    pub size: u16,
    pub counters: *mut ibv_counters,
}

/// `num_of_specs` specs of their own `size` each follow it without a gap.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ibv_flow_attr {
    pub comp_mask: u32,
    pub r#type: ibv_flow_attr_type,
    /// Of it and all specs, in bytes.
    pub size: u16,
    pub priority: u16,
    pub num_of_specs: u8,
    pub port: u8,
    /// `IBV_FLOW_ATTR_FLAGS_*`
    pub flags: u32,
}

#[repr(C)]
pub struct ibv_flow {
    pub comp_mask: u32,
    pub context: *mut ibv_context,
    pub handle: u32,
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ibv_counters_init_attr {
    pub comp_mask: u32,
}

#[repr(C)]
pub struct ibv_counters {
    pub context: *mut ibv_context,
}

pub type ibv_counter_description = u32;
pub const IBV_COUNTER_PACKETS: ibv_counter_description = 0;
pub const IBV_COUNTER_BYTES: ibv_counter_description = 1;

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ibv_counter_attach_attr {
    pub counter_desc: ibv_counter_description,
    pub index: u32,
    pub comp_mask: u32,
}

pub const IBV_READ_COUNTERS_ATTR_PREFER_CACHED: u32 = 1 << 0;

zeroed!(
    ibv_flow_spec_eth,
    ibv_flow_spec_ipv4,
    ibv_flow_spec_ipv4_ext,
    ibv_flow_spec_ipv6,
    ibv_flow_spec_esp,
    ibv_flow_spec_tcp_udp,
    ibv_flow_spec_gre,
    ibv_flow_spec_mpls,
    ibv_flow_spec_tunnel,
    ibv_flow_spec_action_tag,
    ibv_flow_spec_action_drop,
    ibv_flow_spec_counter_action,
    ibv_flow_attr,
    ibv_counters_init_attr,
    ibv_counter_attach_attr,
    // Also the objects, since fake providers in tests build them.
    ibv_flow,
    ibv_counters,
);
