// SPDX-License-Identifier: MIT OR Apache-2.0
//! What one side tells the other about a queue pair of any type, as a record that can grow.

use super::cold::{Cold, cold_structs};
use super::container::{self, RecordItem, RecordKind, RecordWriter, Unknown};
use super::context::Context;
use super::endpoint::check_24;
use super::error::{Error, Reason, Result};
use super::gid::{self, *};
use super::qp::Qp;
use super::qp_attr::{VBN_MTU_256, VBN_MTU_4096};
use super::qp_create::{VBN_QP_UNSOLICITED_WRITE_RECV, VBN_QPT_RC, VBN_QPT_SRD, VBN_QPT_UC, VBN_QPT_UD};
use super::status::*;
use crate::sys::{ibv, os};

/// How many GIDs a vbn_endpoint_info has room for.
pub const VBN_ENDPOINT_MAX_GIDS: usize = 8;

/// One of the addresses of an endpoint. Frozen.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct vbn_endpoint_gid {
    /// The GID, as it goes over the wire.
    pub gid: [u8; 16],
    /// VBN_GID_TYPE_*.
    pub r#type: i32,
    /// VBN_GID_FAMILY_*; VBN_GID_FAMILY_ANY unless on RoCE.
    pub family: i32,
}

/// `vbn_endpoint_info.set`: psn. Needed for RC and UC.
pub const VBN_ENDPOINT_SET_PSN: u64 = 1 << 0;
/// `vbn_endpoint_info.set`: qkey. Needed for UD and SRD.
pub const VBN_ENDPOINT_SET_QKEY: u64 = 1 << 1;
/// `vbn_endpoint_info.set`: lid.
pub const VBN_ENDPOINT_SET_LID: u64 = 1 << 2;
/// `vbn_endpoint_info.set`: port_num.
pub const VBN_ENDPOINT_SET_PORT_NUM: u64 = 1 << 3;
/// `vbn_endpoint_info.set`: mtu.
pub const VBN_ENDPOINT_SET_MTU: u64 = 1 << 4;
/// `vbn_endpoint_info.set`: max_message.
pub const VBN_ENDPOINT_SET_MAX_MESSAGE: u64 = 1 << 5;
/// `vbn_endpoint_info.set`: max_rd_atomic and max_dest_rd_atomic.
pub const VBN_ENDPOINT_SET_READ_DEPTH: u64 = 1 << 6;
/// `vbn_endpoint_info.set`: unsolicited.
pub const VBN_ENDPOINT_SET_UNSOLICITED: u64 = 1 << 7;
/// `vbn_endpoint_info.set`: efa_generation.
pub const VBN_ENDPOINT_SET_EFA_GENERATION: u64 = 1 << 8;
/// `vbn_endpoint_info.set`: ece_vendor_id, ece_options and ece_comp_mask.
pub const VBN_ENDPOINT_SET_ECE: u64 = 1 << 9;
/// `vbn_endpoint_info.set`: incarnation.
pub const VBN_ENDPOINT_SET_INCARNATION: u64 = 1 << 10;

const SET: u64 = (1 << 11) - 1;

/// What one side tells the other about its queue pair, of type RC, UC, UD or SRD. qp_type, qp_num and gids count always, any
/// other field only if its VBN_ENDPOINT_SET_* bit is in `set`.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct vbn_endpoint_info {
    /// sizeof(vbn_endpoint_info).
    pub struct_size: usize,
    /// VBN_ENDPOINT_SET_*: what is known.
    pub set: u64,
    /// A random number that tells this endpoint from an earlier one of the same address and number.
    pub incarnation: u64,
    /// Largest message that the port takes in one request, in bytes.
    pub max_message: u64,
    /// VBN_QPT_RC, VBN_QPT_UC, VBN_QPT_UD or VBN_QPT_SRD.
    pub qp_type: i32,
    /// The queue pair's number, 24 bits.
    pub qp_num: u32,
    /// Where its send numbering starts, 24 bits.
    pub psn: u32,
    /// What its senders must show.
    pub qkey: u32,
    /// The EFA's vendor_part_id. 0xefa0 can't READ from later ones, nor they from it.
    pub efa_generation: u32,
    /// Enhanced connection establishment: the vendor,
    pub ece_vendor_id: u32,
    /// its options,
    pub ece_options: u32,
    /// and which of them count.
    pub ece_comp_mask: u32,
    /// The port's LID (InfiniBand).
    pub lid: u16,
    /// The port, from 1.
    pub port_num: u8,
    /// VBN_MTU_* that the port has now.
    pub mtu: u8,
    /// Reads and atomics that this side may have in flight.
    pub max_rd_atomic: u8,
    /// Reads and atomics of the peer that this side answers at once.
    pub max_dest_rd_atomic: u8,
    /// 1: the queue pair was made with VBN_QP_UNSOLICITED_WRITE_RECV.
    pub unsolicited: u8,
    /// How many of `gids` there are.
    pub num_gids: u8,
    /// The addresses of its port, the best first.
    pub gids: [vbn_endpoint_gid; 8],
}

/// `vbn_endpoint_info_attr.set`: psn.
pub const VBN_ENDPOINT_ATTR_SET_PSN: u64 = 1 << 0;
/// `vbn_endpoint_info_attr.set`: sgid_index.
pub const VBN_ENDPOINT_ATTR_SET_SGID_INDEX: u64 = 1 << 1;
/// `vbn_endpoint_info_attr.set`: max_rd_atomic.
pub const VBN_ENDPOINT_ATTR_SET_MAX_RD_ATOMIC: u64 = 1 << 2;
/// `vbn_endpoint_info_attr.set`: max_dest_rd_atomic.
pub const VBN_ENDPOINT_ATTR_SET_MAX_DEST_RD_ATOMIC: u64 = 1 << 3;

/// `vbn_endpoint_info_attr.set`: unsolicited.
pub const VBN_ENDPOINT_ATTR_SET_UNSOLICITED: u64 = 1 << 4;

const ATTR_SET: u64 = (1 << 5) - 1;

/// What vbn_endpoint_info_local is to put into the record. A field with a VBN_ENDPOINT_ATTR_SET_* bit counts only if that is in
/// `set`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct vbn_endpoint_info_attr {
    /// sizeof(vbn_endpoint_info_attr).
    pub struct_size: usize,
    /// VBN_ENDPOINT_ATTR_SET_*.
    pub set: u64,
    /// 24 bits, for RC and UC: where one's own numbering starts. Default: random.
    pub psn: u32,
    /// Only this place of the port's GID table. Default: all that will do, the best first.
    pub sgid_index: u32,
    /// Port, from 1. 0: the queue pair's, or 1 if it has none yet.
    pub port_num: u8,
    /// For RC. Default: the device's limit, at most 16.
    pub max_rd_atomic: u8,
    /// For RC. Default: the device's limit, at most 16.
    pub max_dest_rd_atomic: u8,
    /// 1: the SRD queue pair has VBN_QP_UNSOLICITED_WRITE_RECV. Default: as vbn_qp_create was told; an adopted queue pair doesn't
    /// tell, and counts as made without.
    pub unsolicited: u8,
    /// 0.
    pub reserved0: [u8; 4],
}
cold_structs!(vbn_endpoint_info, vbn_endpoint_info_attr);

const _: () = assert!(size_of::<vbn_endpoint_gid>() == 24);

const DEFAULT_RD_ATOMIC: i32 = 16;

/// The items of an endpoint's record. A number is never used for something else, and an item never changes its length: what is
/// new gets a new number. 32 to 47 are those of memory regions (region.rs).
/// cbindgen:ignore
mod number {
    pub const TRANSPORT: u16 = 1;
    pub const QP_NUM: u16 = 2;
    pub const GID: u16 = 3;
    pub const PSN: u16 = 4;
    pub const QKEY: u16 = 5;
    pub const LID: u16 = 6;
    pub const PORT_NUM: u16 = 7;
    pub const MTU: u16 = 8;
    pub const MAX_MESSAGE: u16 = 9;
    pub const READ_DEPTH: u16 = 10;
    pub const UNSOLICITED: u16 = 11;
    pub const EFA_GENERATION: u16 = 12;
    pub const ECE: u16 = 13;
    pub const INCARNATION: u16 = 14;
}

impl vbn_endpoint_info {
    fn has(&self, bit: u64) -> bool {
        self.set & bit != 0
    }

    /// The addresses that count.
    pub fn addresses(&self) -> &[vbn_endpoint_gid] {
        self.gids.get(..self.num_gids.into()).unwrap_or(&self.gids)
    }

    /// What must hold of any such struct, made here, filled by a caller or received.
    pub fn check(&self) -> Result<()> {
        if self.set & !SET != 0 {
            return Err(Error::unknown_bits("set", self.set, SET));
        }
        let (needed, lacking) = match self.qp_type {
            VBN_QPT_RC | VBN_QPT_UC => (VBN_ENDPOINT_SET_PSN, "the endpoint of an RC or UC queue pair needs a psn"),
            VBN_QPT_UD | VBN_QPT_SRD => (VBN_ENDPOINT_SET_QKEY, "the endpoint of a UD or SRD queue pair needs a qkey"),
            other => {
                return Err(Error::range_signed(
                    "qp_type",
                    other.into(),
                    "one of VBN_QPT_RC (2), UC (3), UD (4), SRD (255)",
                ));
            }
        };
        if !self.has(needed) {
            return Err(Error::text(VBN_ERR_ARGUMENT, lacking).value(self.set, needed).hint("its bit must be in set"));
        }
        check_24("qp_num", self.qp_num)?;
        if self.has(VBN_ENDPOINT_SET_PSN) {
            check_24("psn", self.psn)?;
        }
        if self.has(VBN_ENDPOINT_SET_PORT_NUM) && self.port_num == 0 {
            return Err(Error::range("port_num", 0, "1..255"));
        }
        if self.has(VBN_ENDPOINT_SET_MTU) && !(VBN_MTU_256..=VBN_MTU_4096).contains(&i32::from(self.mtu)) {
            return Err(Error::range("mtu", self.mtu.into(), "one of VBN_MTU_256 (1)..VBN_MTU_4096 (5)"));
        }
        if self.has(VBN_ENDPOINT_SET_UNSOLICITED) && self.unsolicited > 1 {
            return Err(Error::range("unsolicited", self.unsolicited.into(), "0 or 1"));
        }
        self.check_addresses()
    }

    fn check_addresses(&self) -> Result<()> {
        if usize::from(self.num_gids) > VBN_ENDPOINT_MAX_GIDS {
            return Err(Error::range("num_gids", self.num_gids.into(), "0..8"));
        }
        if self.num_gids == 0 && !self.has(VBN_ENDPOINT_SET_LID) {
            return Err(Error::text(VBN_ERR_ARGUMENT, "the endpoint has no address: neither a GID nor a LID"));
        }
        for (at, address) in self.addresses().iter().enumerate() {
            let wrong = if address.gid == [0; 16] {
                Error::text(VBN_ERR_ARGUMENT, "the GID is all zero")
            } else if !(VBN_GID_TYPE_IB..=VBN_GID_TYPE_ROCE_V2).contains(&address.r#type) {
                Error::range_signed(
                    "type",
                    address.r#type.into(),
                    "one of VBN_GID_TYPE_IB (0)..VBN_GID_TYPE_ROCE_V2 (2)",
                )
            } else if !(VBN_GID_FAMILY_ANY..=VBN_GID_FAMILY_IPV6).contains(&address.family) {
                Error::range_signed(
                    "family",
                    address.family.into(),
                    "one of VBN_GID_FAMILY_ANY (0)..VBN_GID_FAMILY_IPV6 (2)",
                )
            } else {
                continue;
            };
            return Err(wrong.at(at as u64));
        }
        Ok(())
    }

    /// As a record. A reader must know what traffic can't do without.
    pub fn encode(&self) -> Result<RecordWriter> {
        use Unknown::{Refuse, Skip};
        self.check()?;
        let mut out = RecordWriter::new(RecordKind::Endpoint)?;
        out.item(number::TRANSPORT, Refuse, &[&[self.qp_type as u8]])?;
        out.item(number::QP_NUM, Refuse, &[&self.qp_num.to_be_bytes()])?;
        for address in self.addresses() {
            out.item(number::GID, Refuse, &[&[address.r#type as u8, address.family as u8], &address.gid])?;
        }
        let depth = [self.max_rd_atomic, self.max_dest_rd_atomic];
        let ece = [self.ece_vendor_id, self.ece_options, self.ece_comp_mask].map(u32::to_be_bytes);
        let rest: [(u64, u16, Unknown, &[u8]); 11] = [
            (VBN_ENDPOINT_SET_PSN, number::PSN, Refuse, &self.psn.to_be_bytes()),
            (VBN_ENDPOINT_SET_QKEY, number::QKEY, Refuse, &self.qkey.to_be_bytes()),
            (VBN_ENDPOINT_SET_LID, number::LID, Skip, &self.lid.to_be_bytes()),
            (VBN_ENDPOINT_SET_PORT_NUM, number::PORT_NUM, Skip, &[self.port_num]),
            (VBN_ENDPOINT_SET_MTU, number::MTU, Skip, &[self.mtu]),
            (VBN_ENDPOINT_SET_MAX_MESSAGE, number::MAX_MESSAGE, Skip, &self.max_message.to_be_bytes()),
            (VBN_ENDPOINT_SET_READ_DEPTH, number::READ_DEPTH, Skip, &depth),
            (VBN_ENDPOINT_SET_UNSOLICITED, number::UNSOLICITED, Refuse, &[self.unsolicited]),
            (VBN_ENDPOINT_SET_EFA_GENERATION, number::EFA_GENERATION, Skip, &self.efa_generation.to_be_bytes()),
            (VBN_ENDPOINT_SET_ECE, number::ECE, Skip, ece.as_flattened()),
            (VBN_ENDPOINT_SET_INCARNATION, number::INCARNATION, Skip, &self.incarnation.to_be_bytes()),
        ];
        for (bit, number, unknown, value) in rest {
            if self.has(bit) {
                out.item(number, unknown, &[value])?;
            }
        }
        Ok(out)
    }

    pub fn decode(bytes: &[u8]) -> Result<Self> {
        let mut info = Self { struct_size: size_of::<Self>(), ..Self::zeroed() };
        let (mut transport, mut qp_num) = (None, None);
        for item in container::open(bytes, RecordKind::Endpoint)? {
            let item = item?;
            match item.number {
                number::TRANSPORT => once(&item, &mut transport, u8::from_be_bytes(item.exactly()?))?,
                number::QP_NUM => once(&item, &mut qp_num, u32::from_be_bytes(item.exactly()?))?,
                number::GID => info.take_gid(item.exactly()?)?,
                _ => info.take(&item)?,
            }
        }
        let lacks = |what| Error::text(VBN_ERR_ARGUMENT, what);
        info.qp_type = transport.ok_or(lacks("the record lacks item 1, the transport"))?.into();
        info.qp_num = qp_num.ok_or(lacks("the record lacks item 2, the queue pair's number"))?;
        info.check()?;
        Ok(info)
    }

    fn take_gid(&mut self, [r#type, family, gid @ ..]: [u8; 18]) -> Result<()> {
        let Some(place) = self.gids.get_mut(usize::from(self.num_gids)) else {
            return Err(Error::text(VBN_ERR_ARGUMENT, "the record has more than 8 GIDs (item 3)"));
        };
        *place = vbn_endpoint_gid { gid, r#type: r#type.into(), family: family.into() };
        self.num_gids += 1;
        Ok(())
    }

    fn take(&mut self, item: &RecordItem<'_>) -> Result<()> {
        let bit = match item.number {
            number::PSN => VBN_ENDPOINT_SET_PSN,
            number::QKEY => VBN_ENDPOINT_SET_QKEY,
            number::LID => VBN_ENDPOINT_SET_LID,
            number::PORT_NUM => VBN_ENDPOINT_SET_PORT_NUM,
            number::MTU => VBN_ENDPOINT_SET_MTU,
            number::MAX_MESSAGE => VBN_ENDPOINT_SET_MAX_MESSAGE,
            number::READ_DEPTH => VBN_ENDPOINT_SET_READ_DEPTH,
            number::UNSOLICITED => VBN_ENDPOINT_SET_UNSOLICITED,
            number::EFA_GENERATION => VBN_ENDPOINT_SET_EFA_GENERATION,
            number::ECE => VBN_ENDPOINT_SET_ECE,
            number::INCARNATION => VBN_ENDPOINT_SET_INCARNATION,
            _ => return item.pass_over(),
        };
        if self.has(bit) {
            return Err(item.twice());
        }
        self.set |= bit;
        match item.number {
            number::PSN => self.psn = u32::from_be_bytes(item.exactly()?),
            number::QKEY => self.qkey = u32::from_be_bytes(item.exactly()?),
            number::LID => self.lid = u16::from_be_bytes(item.exactly()?),
            number::PORT_NUM => [self.port_num] = item.exactly()?,
            number::MTU => [self.mtu] = item.exactly()?,
            number::MAX_MESSAGE => self.max_message = u64::from_be_bytes(item.exactly()?),
            number::READ_DEPTH => [self.max_rd_atomic, self.max_dest_rd_atomic] = item.exactly()?,
            number::UNSOLICITED => [self.unsolicited] = item.exactly()?,
            number::EFA_GENERATION => self.efa_generation = u32::from_be_bytes(item.exactly()?),
            number::ECE => {
                let [v0, v1, v2, v3, o0, o1, o2, o3, m0, m1, m2, m3] = item.exactly()?;
                self.ece_vendor_id = u32::from_be_bytes([v0, v1, v2, v3]);
                self.ece_options = u32::from_be_bytes([o0, o1, o2, o3]);
                self.ece_comp_mask = u32::from_be_bytes([m0, m1, m2, m3]);
            }
            _ => self.incarnation = u64::from_be_bytes(item.exactly()?),
        }
        Ok(())
    }

    /// What one's own queue pair is to be known by.
    pub fn local(qp: &Qp, attr: &vbn_endpoint_info_attr) -> Result<Self> {
        check_attr(attr)?;
        let context = qp.device();
        let mut info = Self { struct_size: size_of::<Self>(), ..Self::zeroed() };
        info.qp_type = qp.qp_type();
        info.qp_num = qp.qp_num();
        match info.qp_type {
            VBN_QPT_RC | VBN_QPT_UC => {
                let psn = attr.has(VBN_ENDPOINT_ATTR_SET_PSN).then_some(attr.psn);
                info.psn = psn.unwrap_or_else(|| os::random_u32() & 0xff_ffff);
                info.set |= VBN_ENDPOINT_SET_PSN;
            }
            VBN_QPT_UD | VBN_QPT_SRD => {
                info.qkey = qp.qkey()?;
                info.set |= VBN_ENDPOINT_SET_QKEY;
            }
            other => {
                let reason = Reason::NotOneOfSigned("qp_type", "one that has such a record: RC, UC, UD or SRD");
                return Err(Error::new(VBN_ERR_NOT_SUPPORTED, reason).value(other as u64, 0).on(context.name()));
            }
        }
        if info.qp_type == VBN_QPT_RC {
            let limits = context.device();
            info.max_rd_atomic = attr.depth(
                VBN_ENDPOINT_ATTR_SET_MAX_RD_ATOMIC,
                "max_rd_atomic",
                attr.max_rd_atomic,
                limits.max_qp_init_rd_atom,
                context,
            )?;
            info.max_dest_rd_atomic = attr.depth(
                VBN_ENDPOINT_ATTR_SET_MAX_DEST_RD_ATOMIC,
                "max_dest_rd_atomic",
                attr.max_dest_rd_atomic,
                limits.max_qp_rd_atom,
                context,
            )?;
            info.set |= VBN_ENDPOINT_SET_READ_DEPTH;
        }
        info.port_num = if attr.port_num != 0 { attr.port_num } else { qp.port_num()? };
        let index = attr.has(VBN_ENDPOINT_ATTR_SET_SGID_INDEX).then_some(attr.sgid_index);
        let gids = Gids::of(context, info.port_num, index)?;
        (info.gids, info.num_gids) = (gids.list, gids.count);
        let port = context.port(info.port_num)?;
        info.max_message = port.max_msg_sz.into();
        info.incarnation = u64::from(os::random_u32()) << 32 | u64::from(os::random_u32());
        info.set |= VBN_ENDPOINT_SET_PORT_NUM | VBN_ENDPOINT_SET_MAX_MESSAGE | VBN_ENDPOINT_SET_INCARNATION;
        if let Ok(mtu @ 1..=5) = u8::try_from(port.active_mtu) {
            info.mtu = mtu;
            info.set |= VBN_ENDPOINT_SET_MTU;
        }
        if port.lid != 0 {
            info.lid = port.lid;
            info.set |= VBN_ENDPOINT_SET_LID;
        }
        // Most devices have no such options, and then there is nothing to tell.
        if let Ok(ece) = qp.ece()
            && ece.vendor_id != 0
        {
            (info.ece_vendor_id, info.ece_options, info.ece_comp_mask) = (ece.vendor_id, ece.options, ece.comp_mask);
            info.set |= VBN_ENDPOINT_SET_ECE;
        }
        if context.efa().is_some() {
            info.efa_generation = context.device().vendor_part_id;
            info.set |= VBN_ENDPOINT_SET_EFA_GENERATION;
            if info.qp_type == VBN_QPT_SRD {
                let told = attr.has(VBN_ENDPOINT_ATTR_SET_UNSOLICITED).then_some(attr.unsolicited);
                info.unsolicited = told.unwrap_or(u8::from(qp.flags() & VBN_QP_UNSOLICITED_WRITE_RECV != 0));
                info.set |= VBN_ENDPOINT_SET_UNSOLICITED;
            }
        }
        info.check()?;
        Ok(info)
    }
}

/// For an item that may be there once.
fn once<T>(item: &RecordItem<'_>, place: &mut Option<T>, value: T) -> Result<()> {
    match place.replace(value) {
        None => Ok(()),
        Some(_) => Err(item.twice()),
    }
}

impl vbn_endpoint_info_attr {
    fn has(&self, bit: u64) -> bool {
        self.set & bit != 0
    }

    fn depth(&self, bit: u64, what: &'static str, wanted: u8, limit: i32, context: &Context) -> Result<u8> {
        if !self.has(bit) {
            return Ok(limit.clamp(0, DEFAULT_RD_ATOMIC) as u8);
        }
        if i32::from(wanted) > limit {
            return Err(Error::limit(what, wanted.into(), limit.max(0) as u64).on(context.name()));
        }
        Ok(wanted)
    }
}

fn check_attr(attr: &vbn_endpoint_info_attr) -> Result<()> {
    if attr.set & !ATTR_SET != 0 {
        return Err(Error::unknown_bits("set", attr.set, ATTR_SET));
    }
    if attr.has(VBN_ENDPOINT_ATTR_SET_PSN) {
        check_24("psn", attr.psn)?;
    }
    if attr.has(VBN_ENDPOINT_ATTR_SET_UNSOLICITED) && attr.unsolicited > 1 {
        return Err(Error::range("unsolicited", attr.unsolicited.into(), "0 or 1"));
    }
    if attr.reserved0 != [0; 4] {
        return Err(Error::reserved());
    }
    Ok(())
}

/// The addresses of a port that a peer may use, the best first.
pub struct Gids {
    list: [vbn_endpoint_gid; VBN_ENDPOINT_MAX_GIDS],
    count: u8,
}

impl Gids {
    /// On RoCE what `gid::select` thinks usable, elsewhere the port's own address; or the one at `index`.
    pub fn of(context: &Context, port_num: u8, index: Option<u32>) -> Result<Self> {
        let none = vbn_endpoint_gid { gid: [0; 16], r#type: VBN_GID_TYPE_IB, family: VBN_GID_FAMILY_ANY };
        let mut gids = Self { list: [none; VBN_ENDPOINT_MAX_GIDS], count: 0 };
        if context.port(port_num)?.link_layer != ibv::IBV_LINK_LAYER_ETHERNET {
            let gid = context.query_gid(port_num.into(), index.unwrap_or(0))?;
            if gid == [0; 16] {
                return Err(Error::text(VBN_ERR_NOT_FOUND, "the port has no GID at this place")
                    .value(index.unwrap_or(0).into(), 0)
                    .on(context.name()));
            }
            gids.add(vbn_endpoint_gid { gid, ..none });
            return Ok(gids);
        }
        let mut wish = vbn_gid_select_attr::zeroed();
        if let Some(index) = index {
            (wish.set, wish.index) = (VBN_GID_SET_INDEX, index);
        }
        let selection = gid::select(context, port_num.into(), &wish)?;
        selection.choice().map_err(|error| error.on(context.name()))?;
        for code in [VBN_GID_CHOSEN, VBN_GID_USABLE, VBN_GID_LAST_RESORT, VBN_GID_ROCE_V1_UNASKED] {
            for entry in selection.verdicts.iter().filter(|entry| entry.code == code) {
                gids.add(vbn_endpoint_gid { gid: entry.gid, r#type: entry.r#type, family: entry.family });
            }
        }
        Ok(gids)
    }

    pub fn first(&self) -> [u8; 16] {
        let [first, ..] = &self.list;
        first.gid
    }

    /// Those that there is no room for are the worst and left out.
    fn add(&mut self, gid: vbn_endpoint_gid) {
        if let Some(place) = self.list.get_mut(usize::from(self.count)) {
            *place = gid;
            self.count += 1;
        }
    }
}

#[cfg(test)]
mod tests;
