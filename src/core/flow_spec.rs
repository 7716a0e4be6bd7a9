// SPDX-License-Identifier: MIT OR Apache-2.0
//! What flow steering rules match and do, and how libibverbs wants it told.

use super::counters::Counters;
use super::error::{Error, Reason, Result};
use super::flow::vbn_flow_attr;
use super::handle::vbn_counters;
use super::slab::Ref;
use super::status::*;
use crate::sys::ibv::*;

/// Ethernet: dst_mac, src_mac, ether_type, vlan_tag.
pub const VBN_FLOW_SPEC_ETH: i32 = 0x20;
/// IPv4: src_ip, dst_ip.
pub const VBN_FLOW_SPEC_IPV4: i32 = 0x30;
/// IPv6: src_ip, dst_ip, flow_label, protocol, tos, ttl.
pub const VBN_FLOW_SPEC_IPV6: i32 = 0x31;
/// IPv4: src_ip, dst_ip, protocol, tos, ttl, ip_flags.
pub const VBN_FLOW_SPEC_IPV4_EXT: i32 = 0x32;
/// IPsec: esp_spi, esp_seq.
pub const VBN_FLOW_SPEC_ESP: i32 = 0x34;
/// TCP: src_port, dst_port.
pub const VBN_FLOW_SPEC_TCP: i32 = 0x40;
/// UDP: src_port, dst_port.
pub const VBN_FLOW_SPEC_UDP: i32 = 0x41;
/// VXLAN: tunnel_id.
pub const VBN_FLOW_SPEC_VXLAN: i32 = 0x50;
/// GRE: gre_flags, gre_protocol, gre_key.
pub const VBN_FLOW_SPEC_GRE: i32 = 0x51;
/// MPLS: mpls_label.
pub const VBN_FLOW_SPEC_MPLS: i32 = 0x60;
/// To be added to the type of a header: the one inside the tunnel.
pub const VBN_FLOW_SPEC_INNER: i32 = 0x100;
/// The completions of such packets have `tag` (VBN_WC_EX_FLOW_TAG).
pub const VBN_FLOW_SPEC_ACTION_TAG: i32 = 0x1000;
/// Such packets are dropped.
pub const VBN_FLOW_SPEC_ACTION_DROP: i32 = 0x1001;
/// Such packets are counted in `counters`.
pub const VBN_FLOW_SPEC_ACTION_COUNT: i32 = 0x1003;

/// Specs that a rule may have.
pub const VBN_FLOW_MAX_SPECS: usize = 16;

/// Headers' fields. Addresses are bytes in the order of the wire, numbers are in the order of the host. Frozen.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct vbn_flow_fields {
    /// Ethernet: destination.
    pub dst_mac: [u8; 6],
    /// Ethernet: source.
    pub src_mac: [u8; 6],
    /// Ethernet: type.
    pub ether_type: u16,
    /// Ethernet: priority (3 bits), DEI (1 bit), VLAN (12 bits).
    pub vlan_tag: u16,
    /// IP: source; for IPv4 the first 4 bytes.
    pub src_ip: [u8; 16],
    /// IP: destination; for IPv4 the first 4 bytes.
    pub dst_ip: [u8; 16],
    /// IPv6: 20 bits.
    pub flow_label: u32,
    /// TCP, UDP: source.
    pub src_port: u16,
    /// TCP, UDP: destination.
    pub dst_port: u16,
    /// VXLAN: network identifier, 24 bits.
    pub tunnel_id: u32,
    /// IPsec: security parameters index.
    pub esp_spi: u32,
    /// IPsec: sequence number.
    pub esp_seq: u32,
    /// MPLS: the whole label.
    pub mpls_label: u32,
    /// GRE: key.
    pub gre_key: u32,
    /// GRE: the first 16 bits (C, K, S, version).
    pub gre_flags: u16,
    /// GRE: type of what is inside.
    pub gre_protocol: u16,
    /// IP: what follows: protocol, or next header.
    pub protocol: u8,
    /// IP: type of service, or traffic class.
    pub tos: u8,
    /// IP: time to live, or hop limit.
    pub ttl: u8,
    /// IPv4: flags.
    pub ip_flags: u8,
}

/// One header to match, or one thing to do. Frozen.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct vbn_flow_spec {
    /// VBN_FLOW_SPEC_*.
    pub r#type: i32,
    /// For VBN_FLOW_SPEC_ACTION_TAG.
    pub tag: u32,
    /// For VBN_FLOW_SPEC_ACTION_COUNT. The rule keeps them alive.
    pub counters: *mut vbn_counters,
    /// What the fields of the header must be, where `mask` has ones. Fields of other headers must be 0.
    pub value: vbn_flow_fields,
    /// Which bits count.
    pub mask: vbn_flow_fields,
    /// Must be 0.
    pub reserved: [u64; 4],
}

const _: () = assert!(size_of::<vbn_flow_fields>() == 84 && size_of::<vbn_flow_spec>() == 216);

const HEAD: usize = size_of::<ibv_flow_attr>();
/// In 8 bytes: the head, the largest specs, and 4 bytes in front.
const ROOM: usize = (4 + HEAD + VBN_FLOW_MAX_SPECS * size_of::<ibv_flow_spec_ipv6>()).div_ceil(8);

/// A rule as libibverbs wants it: the head and the specs without gaps. All sizes are multiples of 4, so a pointer in a spec
/// may lie 4 bytes off; then the whole begins 4 bytes later.
pub struct Rule {
    words: [u64; ROOM],
    begin: usize,
    end: usize,
    odd: bool,
}

impl Rule {
    pub fn new(attr: &vbn_flow_attr, port: u8, specs: &[vbn_flow_spec], counters: &[Ref<Counters>]) -> Result<Self> {
        let rule = Self::at(0, attr, port, specs, counters)?;
        if rule.odd { Self::at(4, attr, port, specs, counters) } else { Ok(rule) }
    }

    fn at(
        begin: usize,
        attr: &vbn_flow_attr,
        port: u8,
        specs: &[vbn_flow_spec],
        counters: &[Ref<Counters>],
    ) -> Result<Self> {
        let mut rule = Self { words: [0; ROOM], begin, end: begin + HEAD, odd: false };
        let mut counters = counters.iter();
        for (index, spec) in specs.iter().enumerate() {
            rule.spec(spec, &mut counters).map_err(|error| Error { index: index as u64, ..error })?;
        }
        let head = ibv_flow_attr {
            comp_mask: 0,
            r#type: attr.r#type as u32,
            size: (rule.end - begin) as u16,
            priority: attr.priority,
            num_of_specs: specs.len() as u8,
            port,
            flags: attr.flags,
        };
        // SAFETY: the head's room is the first of the buffer, at a multiple of 4.
        unsafe { rule.head().write(head) };
        Ok(rule)
    }

    pub fn head(&mut self) -> *mut ibv_flow_attr {
        self.words.as_mut_ptr().cast::<u8>().wrapping_add(self.begin).cast()
    }

    fn put<T: Zeroed>(&mut self, spec: T) -> Result<()> {
        let (at, end) = (self.end, self.end + size_of::<T>());
        if end > ROOM * 8 {
            return Err(Error::new(VBN_ERR_INTERNAL, Reason::Panic));
        }
        let to = self.words.as_mut_ptr().cast::<u8>().wrapping_add(at).cast::<T>();
        // SAFETY: the spec's bytes lie inside of the buffer, as was just checked.
        unsafe { to.write_unaligned(spec) };
        self.end = end;
        Ok(())
    }

    fn spec<'a>(&mut self, spec: &vbn_flow_spec, counters: &mut impl Iterator<Item = &'a Ref<Counters>>) -> Result<()> {
        let r#type = spec.r#type as u32;
        let (v, m) = (&spec.value, &spec.mask);
        let inner = spec.r#type & VBN_FLOW_SPEC_INNER != 0;
        let kind = spec.r#type & !VBN_FLOW_SPEC_INNER;
        if spec.reserved != [0; 4] {
            return Err(Error::reserved());
        }
        if !is_known(kind) || (inner && !can_be_inner(kind)) {
            return Err(Error::range_signed("type", spec.r#type.into(), "one of VBN_FLOW_SPEC_*"));
        }
        if spec.tag != 0 && kind != VBN_FLOW_SPEC_ACTION_TAG {
            return Err(
                Error::text(VBN_ERR_ARGUMENT, "tag is for VBN_FLOW_SPEC_ACTION_TAG alone").value(spec.tag.into(), 0)
            );
        }
        if !spec.counters.is_null() && kind != VBN_FLOW_SPEC_ACTION_COUNT {
            return Err(Error::text(VBN_ERR_ARGUMENT, "counters are for VBN_FLOW_SPEC_ACTION_COUNT alone"));
        }
        if v.has_others(kind) || m.has_others(kind) {
            return Err(Error::text(VBN_ERR_ARGUMENT, "value or mask has a field that isn't of the spec's header")
                .value(spec.r#type as u64, 0)
                .hint("the comment of the type in the header lists its fields; another header needs another spec"));
        }
        for (what, value, most) in
            [("flow_label", v.flow_label | m.flow_label, 0xf_ffff), ("tunnel_id", v.tunnel_id | m.tunnel_id, 0xff_ffff)]
        {
            if value > most {
                return Err(Error::limit(what, value.into(), most.into()));
            }
        }
        match kind {
            VBN_FLOW_SPEC_ETH => {
                let size = size_of::<ibv_flow_spec_eth>() as u16;
                self.put(ibv_flow_spec_eth { r#type, size, val: v.eth(), mask: m.eth() })
            }
            VBN_FLOW_SPEC_IPV4 => {
                let size = size_of::<ibv_flow_spec_ipv4>() as u16;
                self.put(ibv_flow_spec_ipv4 { r#type, size, val: v.ipv4(), mask: m.ipv4() })
            }
            VBN_FLOW_SPEC_IPV4_EXT => {
                let size = size_of::<ibv_flow_spec_ipv4_ext>() as u16;
                self.put(ibv_flow_spec_ipv4_ext { r#type, size, val: v.ipv4_ext(), mask: m.ipv4_ext() })
            }
            VBN_FLOW_SPEC_IPV6 => {
                let size = size_of::<ibv_flow_spec_ipv6>() as u16;
                self.put(ibv_flow_spec_ipv6 { r#type, size, val: v.ipv6(), mask: m.ipv6() })
            }
            VBN_FLOW_SPEC_ESP => {
                let size = size_of::<ibv_flow_spec_esp>() as u16;
                self.put(ibv_flow_spec_esp { r#type, size, val: v.esp(), mask: m.esp() })
            }
            VBN_FLOW_SPEC_TCP | VBN_FLOW_SPEC_UDP => {
                let size = size_of::<ibv_flow_spec_tcp_udp>() as u16;
                self.put(ibv_flow_spec_tcp_udp { r#type, size, val: v.ports(), mask: m.ports() })
            }
            VBN_FLOW_SPEC_VXLAN => {
                let size = size_of::<ibv_flow_spec_tunnel>() as u16;
                self.put(ibv_flow_spec_tunnel { r#type, size, val: v.tunnel(), mask: m.tunnel() })
            }
            VBN_FLOW_SPEC_GRE => {
                let size = size_of::<ibv_flow_spec_gre>() as u16;
                self.put(ibv_flow_spec_gre { r#type, size, val: v.gre(), mask: m.gre() })
            }
            VBN_FLOW_SPEC_MPLS => {
                let size = size_of::<ibv_flow_spec_mpls>() as u16;
                self.put(ibv_flow_spec_mpls { r#type, size, val: v.mpls(), mask: m.mpls() })
            }
            VBN_FLOW_SPEC_ACTION_TAG => {
                let size = size_of::<ibv_flow_spec_action_tag>() as u16;
                self.put(ibv_flow_spec_action_tag { r#type, size, tag_id: spec.tag })
            }
            VBN_FLOW_SPEC_ACTION_DROP => {
                self.put(ibv_flow_spec_action_drop { r#type, size: size_of::<ibv_flow_spec_action_drop>() as u16 })
            }
            _ => {
                self.odd |= !self.end.is_multiple_of(align_of::<ibv_flow_spec_counter_action>());
                let size = size_of::<ibv_flow_spec_counter_action>() as u16;
                let counters = counters.next().ok_or(Error::argument(Reason::Null("counters")))?.native();
                self.put(ibv_flow_spec_counter_action { r#type, size, counters })
            }
        }
    }
}

fn is_known(kind: i32) -> bool {
    can_be_inner(kind)
        || matches!(
            kind,
            VBN_FLOW_SPEC_VXLAN
                | VBN_FLOW_SPEC_GRE
                | VBN_FLOW_SPEC_ACTION_TAG
                | VBN_FLOW_SPEC_ACTION_DROP
                | VBN_FLOW_SPEC_ACTION_COUNT
        )
}

/// Headers that libibverbs takes from inside a tunnel, too.
fn can_be_inner(kind: i32) -> bool {
    matches!(
        kind,
        VBN_FLOW_SPEC_ETH
            | VBN_FLOW_SPEC_IPV4
            | VBN_FLOW_SPEC_IPV4_EXT
            | VBN_FLOW_SPEC_IPV6
            | VBN_FLOW_SPEC_ESP
            | VBN_FLOW_SPEC_TCP
            | VBN_FLOW_SPEC_UDP
            | VBN_FLOW_SPEC_MPLS
    )
}

/// The first 4 bytes, as they are.
fn ipv4(address: [u8; 16]) -> u32 {
    let [a, b, c, d, ..] = address;
    u32::from_ne_bytes([a, b, c, d])
}

/// What is behind them.
fn behind_ipv4(address: [u8; 16]) -> [u8; 16] {
    let [_, _, _, _, rest @ ..] = address;
    let mut alone = [0; 16];
    for (to, from) in alone.iter_mut().zip(rest) {
        *to = from;
    }
    alone
}

impl vbn_flow_fields {
    const NONE: Self = Self {
        dst_mac: [0; 6],
        src_mac: [0; 6],
        ether_type: 0,
        vlan_tag: 0,
        src_ip: [0; 16],
        dst_ip: [0; 16],
        flow_label: 0,
        src_port: 0,
        dst_port: 0,
        tunnel_id: 0,
        esp_spi: 0,
        esp_seq: 0,
        mpls_label: 0,
        gre_key: 0,
        gre_flags: 0,
        gre_protocol: 0,
        protocol: 0,
        tos: 0,
        ttl: 0,
        ip_flags: 0,
    };

    /// Whether fields are set that a spec of this kind doesn't have.
    fn has_others(&self, kind: i32) -> bool {
        let none = Self::NONE;
        let rest = match kind {
            VBN_FLOW_SPEC_ETH => {
                let Self { dst_mac, src_mac, ether_type, vlan_tag, .. } = none;
                Self { dst_mac, src_mac, ether_type, vlan_tag, ..*self }
            }
            VBN_FLOW_SPEC_IPV4 => Self { src_ip: behind_ipv4(self.src_ip), dst_ip: behind_ipv4(self.dst_ip), ..*self },
            VBN_FLOW_SPEC_IPV4_EXT => {
                let (src_ip, dst_ip) = (behind_ipv4(self.src_ip), behind_ipv4(self.dst_ip));
                Self { src_ip, dst_ip, protocol: 0, tos: 0, ttl: 0, ip_flags: 0, ..*self }
            }
            VBN_FLOW_SPEC_IPV6 => {
                let Self { src_ip, dst_ip, .. } = none;
                Self { src_ip, dst_ip, flow_label: 0, protocol: 0, tos: 0, ttl: 0, ..*self }
            }
            VBN_FLOW_SPEC_ESP => Self { esp_spi: 0, esp_seq: 0, ..*self },
            VBN_FLOW_SPEC_TCP | VBN_FLOW_SPEC_UDP => Self { src_port: 0, dst_port: 0, ..*self },
            VBN_FLOW_SPEC_VXLAN => Self { tunnel_id: 0, ..*self },
            VBN_FLOW_SPEC_GRE => Self { gre_flags: 0, gre_protocol: 0, gre_key: 0, ..*self },
            VBN_FLOW_SPEC_MPLS => Self { mpls_label: 0, ..*self },
            _ => *self,
        };
        rest != none
    }

    fn eth(&self) -> ibv_flow_eth_filter {
        ibv_flow_eth_filter {
            dst_mac: self.dst_mac,
            src_mac: self.src_mac,
            ether_type: self.ether_type.to_be(),
            vlan_tag: self.vlan_tag.to_be(),
        }
    }

    fn ipv4(&self) -> ibv_flow_ipv4_filter {
        ibv_flow_ipv4_filter { src_ip: ipv4(self.src_ip), dst_ip: ipv4(self.dst_ip) }
    }

    fn ipv4_ext(&self) -> ibv_flow_ipv4_ext_filter {
        ibv_flow_ipv4_ext_filter {
            src_ip: ipv4(self.src_ip),
            dst_ip: ipv4(self.dst_ip),
            proto: self.protocol,
            tos: self.tos,
            ttl: self.ttl,
            flags: self.ip_flags,
        }
    }

    fn ipv6(&self) -> ibv_flow_ipv6_filter {
        ibv_flow_ipv6_filter {
            src_ip: self.src_ip,
            dst_ip: self.dst_ip,
            flow_label: self.flow_label.to_be(),
            next_hdr: self.protocol,
            traffic_class: self.tos,
            hop_limit: self.ttl,
        }
    }

    fn esp(&self) -> ibv_flow_esp_filter {
        ibv_flow_esp_filter { spi: self.esp_spi.to_be(), seq: self.esp_seq.to_be() }
    }

    fn ports(&self) -> ibv_flow_tcp_udp_filter {
        ibv_flow_tcp_udp_filter { dst_port: self.dst_port.to_be(), src_port: self.src_port.to_be() }
    }

    fn tunnel(&self) -> ibv_flow_tunnel_filter {
        ibv_flow_tunnel_filter { tunnel_id: self.tunnel_id.to_be() }
    }

    fn gre(&self) -> ibv_flow_gre_filter {
        ibv_flow_gre_filter {
            c_ks_res0_ver: self.gre_flags.to_be(),
            protocol: self.gre_protocol.to_be(),
            key: self.gre_key.to_be(),
        }
    }

    fn mpls(&self) -> ibv_flow_mpls_filter {
        ibv_flow_mpls_filter { label: self.mpls_label.to_be() }
    }
}
