// SPDX-License-Identifier: MIT OR Apache-2.0
//! The GID table, and which of its entries to connect with. Each kind of link has its own rule.

use std::cmp::Reverse;
use std::ffi::{c_char, c_int};
use std::fmt::Write;

use super::alloc;
use super::cold::{Cold, cold_structs};
use super::context::Context;
use super::error::{Error, Reason, Result};
use super::status::*;
use super::sysfs::{path, text_of};
use super::text::{chars, text, write_bytes};
use crate::sys::ibv::*;
use crate::sys::{convert, os};

/// InfiniBand, or a device with addresses of its own.
pub const VBN_GID_TYPE_IB: i32 = 0;
/// RoCE version 1: Ethernet frames, not routable.
pub const VBN_GID_TYPE_ROCE_V1: i32 = 1;
/// RoCE version 2: UDP.
pub const VBN_GID_TYPE_ROCE_V2: i32 = 2;

/// The names of the types, for C.
pub const TYPE_NAMES: &[(i32, &str)] =
    &[(VBN_GID_TYPE_IB, "IB\0"), (VBN_GID_TYPE_ROCE_V1, "ROCE_V1\0"), (VBN_GID_TYPE_ROCE_V2, "ROCE_V2\0")];

/// Not an IP address, or in an attribute: any.
pub const VBN_GID_FAMILY_ANY: i32 = 0;
/// An IPv4 address, written as ::ffff:a.b.c.d.
pub const VBN_GID_FAMILY_IPV4: i32 = 1;
/// An IPv6 address.
pub const VBN_GID_FAMILY_IPV6: i32 = 2;

/// `vbn_gid_select_attr.set`: `index` counts.
pub const VBN_GID_SET_INDEX: u64 = 1;
/// `vbn_gid_select_attr.set`: `type` counts.
pub const VBN_GID_SET_TYPE: u64 = 2;

/// Verdict: this entry is used.
pub const VBN_GID_CHOSEN: i32 = 0;
/// Verdict: would do, but another one comes first.
pub const VBN_GID_USABLE: i32 = 1;
/// Verdict: a last resort, since the address is good on one link or host only.
pub const VBN_GID_LAST_RESORT: i32 = 2;
/// Verdict: RoCE version 1, which is used only when asked for.
pub const VBN_GID_ROCE_V1_UNASKED: i32 = 3;
/// Verdict: not the type asked for.
pub const VBN_GID_OTHER_TYPE: i32 = 4;
/// Verdict: not the address family asked for.
pub const VBN_GID_OTHER_FAMILY: i32 = 5;
/// Verdict: not the index asked for.
pub const VBN_GID_OTHER_INDEX: i32 = 6;
/// Verdict: not of the net device asked for.
pub const VBN_GID_OTHER_NETDEV: i32 = 7;
/// Verdict: the link doesn't use such entries.
pub const VBN_GID_UNUSED: i32 = 8;

/// An entry of a GID table.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct vbn_gid_entry {
    /// The GID, as it goes over the wire.
    pub gid: [u8; 16],
    /// Place in the table of its port.
    pub index: u32,
    /// Port, counted from 1.
    pub port_num: u32,
    /// VBN_GID_TYPE_*.
    pub r#type: i32,
    /// VBN_GID_FAMILY_*: what the bytes look like on RoCE.
    pub family: i32,
    /// Number of the net device that the GID belongs to; 0: none.
    pub ifindex: u32,
    /// 0.
    pub reserved0: u32,
    /// Name of that net device; empty: none, or not visible from here.
    pub ndev: [c_char; 16],
}

/// What `vbn_gid_select` is to look for. All-zero: the best entry by the rule of the link.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct vbn_gid_select_attr {
    /// sizeof(vbn_gid_select_attr).
    pub struct_size: usize,
    /// VBN_GID_SET_*: which of `index` and `type` count.
    pub set: u64,
    /// Only this place of the table.
    pub index: u32,
    /// Only VBN_GID_TYPE_*.
    pub r#type: i32,
    /// Only VBN_GID_FAMILY_*; VBN_GID_FAMILY_ANY for all.
    pub family: i32,
    /// Must be 0.
    pub reserved0: u32,
    /// Only GIDs of this net device; empty for all.
    pub ndev: [c_char; 16],
}

/// The entry that `vbn_gid_select` chose.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct vbn_gid_choice {
    /// sizeof(vbn_gid_choice), set by the caller.
    pub struct_size: usize,
    /// The GID, as it goes over the wire.
    pub gid: [u8; 16],
    /// Place in the table of its port: the sgid_index.
    pub index: u32,
    /// Port.
    pub port_num: u32,
    /// VBN_GID_TYPE_*.
    pub r#type: i32,
    /// VBN_GID_FAMILY_*.
    pub family: i32,
    /// Number of its net device; 0: none.
    pub ifindex: u32,
    /// 1 if it is a last resort, whose reach `text` explains.
    pub last_resort: u8,
    /// 0.
    pub reserved0: [u8; 3],
    /// Name of its net device.
    pub ndev: [c_char; 16],
    /// Why this one.
    pub text: [c_char; 96],
}
cold_structs!(vbn_gid_select_attr, vbn_gid_choice);

/// What `vbn_gid_select` thought of an entry.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct vbn_gid_verdict {
    /// The GID, as it goes over the wire.
    pub gid: [u8; 16],
    /// Place in the table of its port.
    pub index: u32,
    /// Port, counted from 1.
    pub port_num: u32,
    /// VBN_GID_TYPE_*.
    pub r#type: i32,
    /// VBN_GID_FAMILY_*.
    pub family: i32,
    /// Number of the net device that the GID belongs to; 0: none.
    pub ifindex: u32,
    /// VBN_GID_CHOSEN and so on.
    pub code: i32,
    /// Name of that net device.
    pub ndev: [c_char; 16],
    /// The verdict in words.
    pub text: [c_char; 96],
}

const EMPTY: ibv_gid_entry =
    ibv_gid_entry { gid: ibv_gid { raw: [0; 16] }, gid_index: 0, port_num: 0, gid_type: 0, ndev_ifindex: 0 };

/// The GIDs of all ports, or of one; empty places are left out.
pub fn table(context: &Context, port: Option<u8>) -> Result<Vec<vbn_gid_entry>> {
    let native = match context.verbs().query_gid_table {
        Some(_) => whole_table(context)?,
        None => table_by_sysfs(context)?,
    };
    let mut entries = Vec::new();
    entries.try_reserve_exact(native.len()).map_err(|_| Error::no_memory())?;
    for entry in native.iter().filter(|entry| port.is_none_or(|port| entry.port_num == u32::from(port))) {
        alloc::push(&mut entries, convert_entry(entry))?;
    }
    Ok(entries)
}

/// As many places as all tables have together: a shorter list would be refused.
fn places(context: &Context) -> Result<usize> {
    let mut sum = 0;
    for port in 1..=context.ports() {
        sum += usize::try_from(context.port(port)?.gid_tbl_len).unwrap_or(0);
    }
    Ok(sum)
}

fn whole_table(context: &Context) -> Result<Vec<ibv_gid_entry>> {
    let query = context
        .verbs()
        .query_gid_table
        .ok_or(Error::new(VBN_ERR_SYMBOL_MISSING, Reason::Symbol("_ibv_query_gid_table", "32")))?;
    // One more than needed, as the kernel wants it.
    let mut entries = alloc::filled(places(context)? + 1, EMPTY)?;
    // SAFETY: the context is open, and the array is as long as said.
    let got = unsafe { query(context.native(), entries.as_mut_ptr(), entries.len(), 0, size_of::<ibv_gid_entry>()) };
    let got = convert::neg_errno(got).map_err(|errno| Error::call("ibv_query_gid_table", errno).on(context.name()))?;
    entries.truncate(got);
    Ok(entries)
}

/// For a libibverbs without the query: entry by entry, with the type and the net device from sysfs.
fn table_by_sysfs(context: &Context) -> Result<Vec<ibv_gid_entry>> {
    let mut entries = Vec::new();
    for port in 1..=context.ports() {
        let attr = context.port(port)?;
        for index in 0..attr.gid_tbl_len {
            let gid = context.query_gid(port.into(), index.unsigned_abs())?;
            if gid != [0; 16] {
                let gid_type = sysfs_type(context, port, index, attr.link_layer);
                let ndev_ifindex = sysfs_ifindex(context, port, index);
                let gid = ibv_gid { raw: gid };
                let (gid_index, port_num) = (index.unsigned_abs(), port.into());
                alloc::push(&mut entries, ibv_gid_entry { gid, gid_index, port_num, gid_type, ndev_ifindex })?;
            }
        }
    }
    Ok(entries)
}

/// What `gid_attrs/{what}/{index}` of a port says, without its newline.
fn sysfs_attr<'a>(context: &Context, port: u8, what: &str, index: c_int, buffer: &'a mut [u8]) -> Option<&'a [u8]> {
    // SAFETY: an open context has a device, which lives as long.
    let device = unsafe { &*context.content().device };
    let file = path(|out| {
        write_bytes(out, text(&device.ibdev_path))?;
        write!(out, "/ports/{port}/gid_attrs/{what}/{index}")
    });
    os::read_file(text_of(&file), buffer).ok().map(<[u8]>::trim_ascii)
}

fn sysfs_type(context: &Context, port: u8, index: c_int, link_layer: u8) -> ibv_gid_type {
    match sysfs_attr(context, port, "types", index, &mut [0; 64]) {
        Some(b"RoCE v2") => IBV_GID_TYPE_ROCE_V2,
        _ if link_layer == IBV_LINK_LAYER_ETHERNET => IBV_GID_TYPE_ROCE_V1,
        _ => IBV_GID_TYPE_IB,
    }
}

fn sysfs_ifindex(context: &Context, port: u8, index: c_int) -> u32 {
    let mut buffer = [0; 64];
    let length = sysfs_attr(context, port, "ndevs", index, &mut buffer).map_or(0, <[u8]>::len);
    if let Some(end) = buffer.get_mut(length..) {
        end.fill(0);
    }
    // SAFETY: `buffer` holds a zero-terminated name: it is longer than any that sysfs gives.
    if length < 64 { unsafe { libc::if_nametoindex(buffer.as_ptr().cast()) } } else { 0 }
}

fn convert_entry(entry: &ibv_gid_entry) -> vbn_gid_entry {
    // SAFETY: all bytes are a valid GID.
    let gid = unsafe { entry.gid.raw };
    let r#type = entry.gid_type as i32;
    vbn_gid_entry {
        gid,
        index: entry.gid_index,
        port_num: entry.port_num,
        r#type,
        family: if r#type == VBN_GID_TYPE_IB { VBN_GID_FAMILY_ANY } else { family(&gid) },
        ifindex: entry.ndev_ifindex,
        reserved0: 0,
        ndev: interface_name(entry.ndev_ifindex),
    }
}

/// The name of a net device; empty for 0 and for one that is not in this network namespace.
fn interface_name(ifindex: u32) -> [c_char; 16] {
    let mut name = [0; 16];
    // SAFETY: the buffer has IF_NAMESIZE (16) bytes.
    if ifindex == 0 || unsafe { libc::if_indextoname(ifindex, name.as_mut_ptr()) }.is_null() {
        return [0; 16];
    }
    name
}

fn family(gid: &[u8; 16]) -> i32 {
    if gid.starts_with(&[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff]) { VBN_GID_FAMILY_IPV4 } else { VBN_GID_FAMILY_IPV6 }
}

/// How the ports of a device are addressed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Rule {
    /// RoCE: IP addresses of net devices.
    Roce,
    /// InfiniBand: entry 0.
    Infiniband,
    /// The device has one address of its own, in entry 0 (EFA).
    Own,
    /// iWARP connects through the connection manager, by IP addresses.
    Iwarp,
}

impl Rule {
    pub fn of(transport: i32, link_layer: u8) -> Self {
        match (transport, link_layer) {
            (IBV_TRANSPORT_IWARP, _) => Self::Iwarp,
            (IBV_TRANSPORT_IB, IBV_LINK_LAYER_ETHERNET) => Self::Roce,
            (IBV_TRANSPORT_IB, _) => Self::Infiniband,
            _ => Self::Own,
        }
    }
}

/// The outcome: every entry of the port with its verdict, and which one was chosen.
pub struct Selection {
    pub verdicts: Vec<vbn_gid_verdict>,
    chosen: Option<usize>,
    rule: Rule,
}

impl Selection {
    /// The chosen entry, or an error that tells what to do.
    pub fn choice(&self) -> Result<vbn_gid_choice> {
        let Some(entry) = self.chosen.and_then(|place| self.verdicts.get(place)) else {
            return Err(self.failure());
        };
        let last_resort = self.rule == Rule::Roce && entry.r#type == VBN_GID_TYPE_ROCE_V2 && reach(&entry.gid).0 > 1;
        Ok(vbn_gid_choice {
            struct_size: size_of::<vbn_gid_choice>(),
            gid: entry.gid,
            index: entry.index,
            port_num: entry.port_num,
            r#type: entry.r#type,
            family: entry.family,
            ifindex: entry.ifindex,
            last_resort: last_resort.into(),
            reserved0: [0; 3],
            ndev: entry.ndev,
            text: entry.text,
        })
    }

    fn failure(&self) -> Error {
        if self.rule == Rule::Iwarp {
            return Error::text(VBN_ERR_NOT_SUPPORTED, "an iWARP device connects by IP address, not by GID")
                .hint("use the connection manager (librdmacm)");
        }
        if !self.verdicts.is_empty() {
            return Error::text(VBN_ERR_NOT_FOUND, "none of the port's GIDs will do; the verdicts tell why")
                .value(0, self.verdicts.len() as u64)
                .hint("ask for less, or assign an address to the net device: ip addr add ADDRESS/LENGTH dev NETDEV");
        }
        let error = Error::text(VBN_ERR_NOT_FOUND, "the port has no GID");
        match self.rule {
            Rule::Roce => error.hint("assign an address to its net device: ip addr add ADDRESS/LENGTH dev NETDEV"),
            Rule::Infiniband => error.hint("is the subnet manager running?"),
            _ => error,
        }
    }
}

/// Chooses a GID of a port and tells of each one why, or why not.
pub fn select(context: &Context, port: u32, attr: &vbn_gid_select_attr) -> Result<Selection> {
    check(attr)?;
    let port = context.check_port(port)?;
    let rule = Rule::of(context.transport(), context.port(port)?.link_layer);
    judge_all(rule, &table(context, Some(port))?, attr)
}

/// The index that `select` chooses without any wishes.
pub fn select_default(context: &Context, port: u8) -> Result<u32> {
    let selection = select(context, port.into(), &vbn_gid_select_attr::zeroed())?;
    selection.choice().map(|choice| choice.index).map_err(|error| error.on(context.name()))
}

/// Where a GID stands in the table of its port. RoCE has it once for each version, and version 2 is meant.
pub fn index_of(context: &Context, port: u8, gid: &[u8; 16]) -> Result<u8> {
    index_of_type(context, port, gid, None)
}

/// The same for one version alone.
pub fn index_of_type(context: &Context, port: u8, gid: &[u8; 16], r#type: Option<i32>) -> Result<u8> {
    let table = table(context, Some(port))?;
    let wanted = |entry: &&vbn_gid_entry| entry.gid == *gid && r#type.is_none_or(|r#type| entry.r#type == r#type);
    let entry = table.iter().filter(wanted).max_by_key(|entry| (entry.r#type, Reverse(entry.index)));
    let entry = entry.ok_or(
        Error::text(VBN_ERR_NOT_FOUND, "the GID of the local record is not, or no longer, in the port's GID table")
            .on(context.name())
            .hint("make the record anew; addresses of the net device may have changed"),
    )?;
    u8::try_from(entry.index).map_err(|_| Error::limit("sgid_index", entry.index.into(), 255).on(context.name()))
}

fn check(attr: &vbn_gid_select_attr) -> Result<()> {
    let known = VBN_GID_SET_INDEX | VBN_GID_SET_TYPE;
    if attr.set & !known != 0 {
        return Err(Error::unknown_bits("set", attr.set, known));
    }
    if attr.set & VBN_GID_SET_TYPE != 0 && !(VBN_GID_TYPE_IB..=VBN_GID_TYPE_ROCE_V2).contains(&attr.r#type) {
        return Err(Error::range_signed("type", attr.r#type.into(), "one of VBN_GID_TYPE_*"));
    }
    if !(VBN_GID_FAMILY_ANY..=VBN_GID_FAMILY_IPV6).contains(&attr.family) {
        return Err(Error::range_signed("family", attr.family.into(), "one of VBN_GID_FAMILY_*"));
    }
    if attr.reserved0 != 0 {
        return Err(Error::range("reserved0", attr.reserved0.into(), "0"));
    }
    Ok(())
}

/// The pure part: judges the entries of one port. The lowest rank wins, and of equal ones the first.
fn judge_all(rule: Rule, entries: &[vbn_gid_entry], attr: &vbn_gid_select_attr) -> Result<Selection> {
    let mut verdicts = Vec::new();
    let mut best: Option<(u8, usize)> = None;
    for (place, entry) in entries.iter().enumerate() {
        let judgement = judge(rule, entry, attr);
        if let Some(rank) = judgement.rank
            && best.is_none_or(|(other, _)| rank < other)
        {
            best = Some((rank, place));
        }
        alloc::push(&mut verdicts, verdict(entry, &judgement))?;
    }
    let chosen = best.map(|(_, place)| place);
    if let Some(verdict) = chosen.and_then(|place| verdicts.get_mut(place)) {
        verdict.code = VBN_GID_CHOSEN;
    }
    Ok(Selection { verdicts, chosen, rule })
}

fn verdict(entry: &vbn_gid_entry, judgement: &Judgement) -> vbn_gid_verdict {
    vbn_gid_verdict {
        gid: entry.gid,
        index: entry.index,
        port_num: entry.port_num,
        r#type: entry.r#type,
        family: entry.family,
        ifindex: entry.ifindex,
        code: judgement.code,
        ndev: entry.ndev,
        text: chars(judgement.text.as_bytes()),
    }
}

struct Judgement {
    code: i32,
    /// Lower is better; `None` can't be chosen.
    rank: Option<u8>,
    text: &'static str,
}

const fn no(code: i32, text: &'static str) -> Judgement {
    Judgement { code, rank: None, text }
}

fn judge(rule: Rule, entry: &vbn_gid_entry, attr: &vbn_gid_select_attr) -> Judgement {
    let by_index = attr.set & VBN_GID_SET_INDEX != 0;
    let by_type = attr.set & VBN_GID_SET_TYPE != 0;
    if by_index && entry.index != attr.index {
        return no(VBN_GID_OTHER_INDEX, "not the index asked for");
    }
    if by_type && entry.r#type != attr.r#type {
        return no(VBN_GID_OTHER_TYPE, "not the type asked for");
    }
    if attr.family != VBN_GID_FAMILY_ANY && entry.family != attr.family {
        return no(VBN_GID_OTHER_FAMILY, "not the address family asked for");
    }
    if !text(&attr.ndev).is_empty() && text(&attr.ndev) != text(&entry.ndev) {
        return no(VBN_GID_OTHER_NETDEV, "not of the net device asked for");
    }
    match rule {
        Rule::Iwarp => no(VBN_GID_UNUSED, "iWARP connects by IP address through the connection manager"),
        Rule::Infiniband => by_place(entry, by_index, "InfiniBand: entry 0 holds the port's GUID and subnet prefix"),
        Rule::Own => by_place(entry, by_index, "the device's own address is in entry 0"),
        Rule::Roce => judge_roce(entry, by_index || by_type),
    }
}

fn by_place(entry: &vbn_gid_entry, asked: bool, text: &'static str) -> Judgement {
    match entry.index {
        0 => Judgement { code: VBN_GID_USABLE, rank: Some(0), text },
        _ if asked => Judgement { code: VBN_GID_USABLE, rank: Some(1), text: "the index asked for" },
        _ => no(VBN_GID_UNUSED, "not entry 0; ask for it by its index if it is meant"),
    }
}

fn judge_roce(entry: &vbn_gid_entry, asked: bool) -> Judgement {
    match entry.r#type {
        VBN_GID_TYPE_ROCE_V2 => {
            let (rank, text) = reach(&entry.gid);
            let code = if rank > 1 { VBN_GID_LAST_RESORT } else { VBN_GID_USABLE };
            Judgement { code, rank: Some(rank), text }
        }
        _ if asked => {
            Judgement { code: VBN_GID_USABLE, rank: Some(8), text: "RoCE v1: both peers must be on one link" }
        }
        _ => no(VBN_GID_ROCE_V1_UNASKED, "RoCE v1 is used only when asked for by type or index"),
    }
}

/// How far an address reaches, as a rank (0 and 1 are routable) and in words.
fn reach(gid: &[u8; 16]) -> (u8, &'static str) {
    match *gid {
        [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 127, ..] => (2, "IPv4 loopback: works only within this host"),
        [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 169, 254, ..] => {
            (3, "IPv4 link-local: works only if both peers are on one link")
        }
        [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, ..] => (0, "RoCE v2 with a routable IPv4 address"),
        [0xfe, second, ..] if second & 0xc0 == 0x80 => {
            (4, "IPv6 link-local: works only if both peers are on one link, never on a loopback device")
        }
        [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1] => (2, "IPv6 loopback: works only within this host"),
        _ => (1, "RoCE v2 with a routable IPv6 address"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const V4: [u8; 16] = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 192, 0, 2, 1];
    const LOOPBACK: [u8; 16] = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 127, 0, 0, 1];
    const LINK_LOCAL: [u8; 16] = [0xfe, 0x80, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0xff, 0xfe, 0, 0, 1];
    const V6: [u8; 16] = [0x20, 1, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1];

    fn entry(index: u32, gid: [u8; 16], gid_type: i32, ndev: &[u8]) -> vbn_gid_entry {
        let native = ibv_gid_entry {
            gid: ibv_gid { raw: gid },
            gid_index: index,
            port_num: 1,
            gid_type: gid_type as u32,
            ndev_ifindex: 0,
        };
        vbn_gid_entry { ndev: chars(ndev), ..convert_entry(&native) }
    }

    fn chosen(rule: Rule, entries: &[vbn_gid_entry], attr: &vbn_gid_select_attr) -> Result<(u32, bool)> {
        check(attr)?;
        let selection = judge_all(rule, entries, attr)?;
        assert_eq!(selection.verdicts.len(), entries.len());
        let count = selection.verdicts.iter().filter(|v| v.code == VBN_GID_CHOSEN).count();
        assert_eq!(count, usize::from(selection.chosen.is_some()));
        selection.choice().map(|choice| (choice.index, choice.last_resort == 1))
    }

    fn attr() -> vbn_gid_select_attr {
        vbn_gid_select_attr::zeroed()
    }

    /// A ConnectX port with an IPv4 and an IPv6 address, as both versions of RoCE.
    fn mlx5() -> Vec<vbn_gid_entry> {
        let gids = [LINK_LOCAL, LINK_LOCAL, V6, V6, V4, V4];
        let entries = gids.iter().enumerate();
        entries.map(|(i, gid)| entry(i as u32, *gid, 1 + (i as i32 & 1), b"eth0")).collect()
    }

    #[test]
    fn roce_prefers_routable_ipv4_of_version_2() {
        assert_eq!(chosen(Rule::Roce, &mlx5(), &attr()).unwrap(), (5, false));
        let v6 = vbn_gid_select_attr { family: VBN_GID_FAMILY_IPV6, ..attr() };
        assert_eq!(chosen(Rule::Roce, &mlx5(), &v6).unwrap(), (3, false));
        let v1 = vbn_gid_select_attr { set: VBN_GID_SET_TYPE, r#type: VBN_GID_TYPE_ROCE_V1, ..attr() };
        assert_eq!(chosen(Rule::Roce, &mlx5(), &v1).unwrap().0, 0);
        let third = vbn_gid_select_attr { set: VBN_GID_SET_INDEX, index: 1, ..attr() };
        assert_eq!(chosen(Rule::Roce, &mlx5(), &third).unwrap(), (1, true));
    }

    #[test]
    fn rxe_over_lo_uses_the_loopback_address() {
        let lo = [entry(0, LINK_LOCAL, 2, b"lo"), entry(1, LOOPBACK, 2, b"lo")];
        assert_eq!(chosen(Rule::Roce, &lo, &attr()).unwrap(), (1, true));
        assert_eq!(chosen(Rule::Roce, &lo[..1], &attr()).unwrap(), (0, true));
    }

    #[test]
    fn wishes_filter_and_an_unmet_one_is_an_error_with_a_remedy() {
        let eth1 = vbn_gid_select_attr { ndev: chars(b"eth1"), ..attr() };
        let error = chosen(Rule::Roce, &mlx5(), &eth1).unwrap_err();
        assert_eq!((error.status, error.limit), (VBN_ERR_NOT_FOUND, 6));
        assert!(error.hint.contains("ip addr add"));
        assert!(chosen(Rule::Roce, &[], &attr()).unwrap_err().hint.contains("ip addr add"));
        let only_v1 = [entry(0, V4, 1, b"eth0")];
        assert!(chosen(Rule::Roce, &only_v1, &attr()).is_err());
        assert!(check(&vbn_gid_select_attr { set: 4, ..attr() }).is_err());
        assert!(check(&vbn_gid_select_attr { family: 3, ..attr() }).is_err());
        assert!(check(&vbn_gid_select_attr { set: 2, r#type: -1, ..attr() }).is_err());
    }

    #[test]
    fn infiniband_and_efa_use_entry_0() {
        let ib = [entry(0, LINK_LOCAL, 0, b""), entry(1, V6, 0, b"")];
        assert_eq!(chosen(Rule::Infiniband, &ib, &attr()).unwrap(), (0, false));
        let second = vbn_gid_select_attr { set: VBN_GID_SET_INDEX, index: 1, ..attr() };
        assert_eq!(chosen(Rule::Infiniband, &ib, &second).unwrap(), (1, false));
        assert_eq!(chosen(Rule::Own, &ib[..1], &attr()).unwrap(), (0, false));
        assert_eq!(chosen(Rule::Iwarp, &ib, &attr()).unwrap_err().status, VBN_ERR_NOT_SUPPORTED);
    }

    #[test]
    fn rules_follow_transport_and_link() {
        assert_eq!(Rule::of(IBV_TRANSPORT_IB, IBV_LINK_LAYER_ETHERNET), Rule::Roce);
        assert_eq!(Rule::of(IBV_TRANSPORT_IB, IBV_LINK_LAYER_UNSPECIFIED), Rule::Infiniband);
        assert_eq!(Rule::of(IBV_TRANSPORT_UNSPECIFIED, IBV_LINK_LAYER_UNSPECIFIED), Rule::Own);
        assert_eq!(Rule::of(IBV_TRANSPORT_IWARP, IBV_LINK_LAYER_ETHERNET), Rule::Iwarp);
    }

    #[test]
    fn families_are_told_by_the_bytes() {
        assert_eq!(entry(0, V4, 2, b"").family, VBN_GID_FAMILY_IPV4);
        assert_eq!(entry(0, V6, 2, b"").family, VBN_GID_FAMILY_IPV6);
        assert_eq!(entry(0, LINK_LOCAL, 0, b"").family, VBN_GID_FAMILY_ANY);
    }
}
