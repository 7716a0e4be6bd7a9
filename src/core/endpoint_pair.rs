// SPDX-License-Identifier: MIT OR Apache-2.0
//! Whether two endpoints fit together, and by which of their addresses.

use std::fmt::{self, Display};

use super::endpoint_info::*;
use super::error::{Error, Reason, Result};
use super::gid::*;
use super::qp_create::{VBN_QPT_RC, VBN_QPT_UC, VBN_QPT_UD};
use super::status::VBN_ERR_ARGUMENT;

/// Mismatch: the queue pairs are of different types.
pub const VBN_MISMATCH_TRANSPORT: u64 = 1 << 0;
/// Mismatch: VBN_QP_UNSOLICITED_WRITE_RECV is set on one side only.
pub const VBN_MISMATCH_UNSOLICITED: u64 = 1 << 1;
/// Mismatch: generations of EFA that can't READ from each other.
pub const VBN_MISMATCH_EFA_GENERATION: u64 = 1 << 2;
/// Mismatch: no GID of this side reaches one of the peer's.
pub const VBN_MISMATCH_GID: u64 = 1 << 3;
/// Mismatch: both sides have vendor options for connections (ECE), of different vendors.
pub const VBN_MISMATCH_ECE: u64 = 1 << 4;

/// Why two endpoints don't fit together: all reasons at once, with what is needed to tell them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mismatch {
    bits: u8,
    unsolicited_here: bool,
    transports: [u8; 2],
    generations: [u32; 2],
    vendors: [u32; 2],
    no_way: NoWay,
}

/// Why no GID of one side leads to one of the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum NoWay {
    /// One side tells a LID alone.
    Untold { here: bool },
    /// VBN_GID_TYPE_* of the best one here and there.
    Types(u8, u8),
    /// VBN_GID_FAMILY_* of them.
    Families(u8, u8),
    /// A loopback address.
    Host { here: bool },
}

impl NoWay {
    /// The first thing that all pairs lack; of two that have one there is none.
    fn between(local: &vbn_endpoint_info, remote: &vbn_endpoint_info) -> Self {
        let ([mine, ..], [theirs, ..]) = (local.addresses(), remote.addresses()) else {
            return Self::Untold { here: local.num_gids == 0 };
        };
        let some = |fits: fn(&vbn_endpoint_gid, &vbn_endpoint_gid) -> bool| {
            local.addresses().iter().any(|mine| remote.addresses().iter().any(|theirs| fits(mine, theirs)))
        };
        if !some(|mine, theirs| mine.r#type == theirs.r#type) {
            Self::Types(mine.r#type as u8, theirs.r#type as u8)
        } else if !some(|mine, theirs| mine.r#type == theirs.r#type && mine.family == theirs.family) {
            Self::Families(mine.family as u8, theirs.family as u8)
        } else {
            Self::Host { here: local.addresses().iter().any(|mine| reach(&mine.gid) == Reach::Host) }
        }
    }
}

impl Display for NoWay {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let side = |here| if here { "this side" } else { "the peer" };
        match *self {
            Self::Untold { here } => {
                write!(
                    out,
                    "{} tells no GID, only a LID, and not both sides have one (InfiniBand with RoCE?)",
                    side(here)
                )
            }
            Self::Types(mine, theirs) => write!(
                out,
                "no GID of this side is of a type that the peer has too: {} here, {} there",
                type_name(mine),
                type_name(theirs)
            ),
            Self::Families(mine, theirs) => write!(
                out,
                "no GID of this side is of a family that the peer has too: {} here, {} there",
                family_name(mine),
                family_name(theirs)
            ),
            Self::Host { here } => write!(
                out,
                "no GID of this side reaches one of the peer's: that of {} is a loopback address, which leads to its own host only",
                side(here)
            ),
        }
    }
}

const EFA_FIRST_GENERATION: u32 = 0xefa0;

impl Mismatch {
    /// Only what both sides tell is compared.
    fn between(local: &vbn_endpoint_info, remote: &vbn_endpoint_info) -> Option<Self> {
        let both = local.set & remote.set;
        let generations = [local.efa_generation, remote.efa_generation];
        let first = generations.map(|generation| generation == EFA_FIRST_GENERATION);
        let mut bits = 0;
        for (differs, bit) in [
            (local.qp_type != remote.qp_type, VBN_MISMATCH_TRANSPORT),
            (
                both & VBN_ENDPOINT_SET_UNSOLICITED != 0 && local.unsolicited != remote.unsolicited,
                VBN_MISMATCH_UNSOLICITED,
            ),
            (both & VBN_ENDPOINT_SET_EFA_GENERATION != 0 && first[0] != first[1], VBN_MISMATCH_EFA_GENERATION),
            (both & VBN_ENDPOINT_SET_LID == 0 && best_pair(local, remote).is_none(), VBN_MISMATCH_GID),
            (both_have_ece(local, remote) && local.ece_vendor_id != remote.ece_vendor_id, VBN_MISMATCH_ECE),
        ] {
            bits |= if differs { bit as u8 } else { 0 };
        }
        (bits != 0).then_some(Self {
            bits,
            unsolicited_here: local.unsolicited != 0,
            transports: [local.qp_type as u8, remote.qp_type as u8],
            generations,
            vendors: [local.ece_vendor_id, remote.ece_vendor_id],
            no_way: NoWay::between(local, remote),
        })
    }
}

impl Display for Mismatch {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("the endpoints don't fit together: ")?;
        let mut between = "";
        for bit in [
            VBN_MISMATCH_TRANSPORT,
            VBN_MISMATCH_UNSOLICITED,
            VBN_MISMATCH_EFA_GENERATION,
            VBN_MISMATCH_GID,
            VBN_MISMATCH_ECE,
        ] {
            if u64::from(self.bits) & bit == 0 {
                continue;
            }
            out.write_str(std::mem::replace(&mut between, "; "))?;
            match bit {
                VBN_MISMATCH_TRANSPORT => {
                    let [local, remote] = self.transports.map(transport_name);
                    write!(out, "this queue pair is {local}, the peer's {remote}")
                }
                VBN_MISMATCH_UNSOLICITED => {
                    let (with, without) =
                        if self.unsolicited_here { ("this side", "the peer") } else { ("the peer", "this side") };
                    write!(
                        out,
                        "{with} was made with VBN_QP_UNSOLICITED_WRITE_RECV and {without} without it, so that writes with \
                         immediate would fail (EFA status 18)"
                    )
                }
                VBN_MISMATCH_EFA_GENERATION => {
                    let [local, remote] = self.generations;
                    write!(
                        out,
                        "an EFA {local:#x} and an EFA {remote:#x} can't READ from each other (to do without, clear \
                         VBN_ENDPOINT_SET_EFA_GENERATION in set)"
                    )
                }
                VBN_MISMATCH_ECE => {
                    let [local, remote] = self.vendors;
                    write!(
                        out,
                        "this side has connection options (ECE) of vendor {local:#x}, the peer of vendor {remote:#x} (to \
                         connect without, clear VBN_ENDPOINT_SET_ECE in both sides' records)"
                    )
                }
                _ => write!(out, "{}", self.no_way),
            }?;
        }
        Ok(())
    }
}

/// Whether both sides offer vendor options for a connection. One that has no options to offer, or no connections, needs none
/// of the other's.
pub fn both_have_ece(local: &vbn_endpoint_info, remote: &vbn_endpoint_info) -> bool {
    let offers = |info: &vbn_endpoint_info| {
        info.set & VBN_ENDPOINT_SET_ECE != 0
            && info.ece_vendor_id != 0
            && info.ece_options != 0
            && matches!(info.qp_type, VBN_QPT_RC | VBN_QPT_UC)
    };
    offers(local) && offers(remote)
}

fn transport_name(qp_type: u8) -> &'static str {
    match i32::from(qp_type) {
        VBN_QPT_RC => "RC",
        VBN_QPT_UC => "UC",
        VBN_QPT_UD => "UD",
        _ => "SRD",
    }
}

fn type_name(r#type: u8) -> &'static str {
    match i32::from(r#type) {
        VBN_GID_TYPE_ROCE_V1 => "RoCE v1",
        VBN_GID_TYPE_ROCE_V2 => "RoCE v2",
        _ => "IB",
    }
}

fn family_name(family: u8) -> &'static str {
    match i32::from(family) {
        VBN_GID_FAMILY_IPV4 => "IPv4",
        VBN_GID_FAMILY_IPV6 => "IPv6",
        _ => "none (not of RoCE)",
    }
}

/// Whether the two can talk to each other, as far as their records tell; all that speaks against it is named. What can be
/// settled (the smaller MTU, message size and read depth) is no mismatch.
pub fn check_pair(local: &vbn_endpoint_info, remote: &vbn_endpoint_info) -> Result<()> {
    local.check()?;
    remote.check()?;
    match Mismatch::between(local, remote) {
        None => Ok(()),
        Some(mismatch) => Err(Error::argument(Reason::Mismatch(mismatch)).value(mismatch.bits.into(), 0)),
    }
}

/// The GIDs to use, as places in `local.gids` and `remote.gids`. Both sides choose the same pair without talking about it.
pub fn pair_gids(local: &vbn_endpoint_info, remote: &vbn_endpoint_info) -> Result<(usize, usize)> {
    local.check()?;
    remote.check()?;
    best_pair(local, remote).ok_or(
        Error::text(
            VBN_ERR_ARGUMENT,
            "no GID of this side has a counterpart of its type, family and reach at the peer's",
        )
        .value(local.num_gids.into(), remote.num_gids.into()),
    )
}

fn best_pair(local: &vbn_endpoint_info, remote: &vbn_endpoint_info) -> Option<(usize, usize)> {
    let pairs = local.addresses().iter().enumerate().flat_map(|(i, mine)| {
        remote
            .addresses()
            .iter()
            .enumerate()
            .filter_map(move |(j, theirs)| Some(((rank(mine, theirs)?, i + j, order(mine, theirs)), i, j)))
    });
    pairs.min_by_key(|(key, ..)| *key).map(|(_, i, j)| (i, j))
}

/// A pair of GIDs in an order that doesn't depend on whose is whose.
fn order(mine: &vbn_endpoint_gid, theirs: &vbn_endpoint_gid) -> ([u8; 16], [u8; 16]) {
    (mine.gid.min(theirs.gid), mine.gid.max(theirs.gid))
}

/// How far an address reaches on RoCE.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reach {
    Global,
    Link,
    Host,
}

fn reach(gid: &[u8; 16]) -> Reach {
    match *gid {
        [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 127, ..] | [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1] => {
            Reach::Host
        }
        [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 169, 254, ..] => Reach::Link,
        [0xfe, second, ..] if second & 0xc0 == 0x80 => Reach::Link,
        _ => Reach::Global,
    }
}

/// How good it is to go from one GID to the other: first the kind, then by how many bits the subnets may differ; `None` where
/// there is no way. The same in both directions.
fn rank(mine: &vbn_endpoint_gid, theirs: &vbn_endpoint_gid) -> Option<(u8, u32)> {
    if mine.r#type != theirs.r#type {
        return None;
    }
    let apart = |mine: u64, theirs: u64| 64 - (mine ^ theirs).leading_zeros();
    let [mine_high, mine_low] = halves(&mine.gid);
    let [their_high, their_low] = halves(&theirs.gid);
    if mine.r#type == VBN_GID_TYPE_IB {
        return Some((0, apart(mine_high, their_high)));
    }
    if mine.family != theirs.family {
        return None;
    }
    // RoCE v1 and far addresses last, IPv4 before IPv6: the order of `gid::select`.
    let kind = match (reach(&mine.gid), reach(&theirs.gid)) {
        (Reach::Global, Reach::Global) if mine.family == VBN_GID_FAMILY_IPV4 => 0,
        (Reach::Global, Reach::Global) => 1,
        (Reach::Host, Reach::Host) => 2,
        (Reach::Link, Reach::Link) => 3,
        (Reach::Host, _) | (_, Reach::Host) => return None,
        _ => 4,
    };
    let old = if mine.r#type == VBN_GID_TYPE_ROCE_V1 { 8 } else { 0 };
    let far = if mine.family == VBN_GID_FAMILY_IPV4 {
        apart(mine_low & 0xffff_ffff, their_low & 0xffff_ffff)
    } else {
        apart(mine_high, their_high)
    };
    Some((kind + old, far))
}

fn halves(gid: &[u8; 16]) -> [u64; 2] {
    let whole = u128::from_be_bytes(*gid);
    [(whole >> 64) as u64, whole as u64]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::cold::Cold;
    use crate::core::error::{Record, describe};
    use crate::core::op::Op;
    use crate::core::text::until_zero;

    const V4: i32 = VBN_GID_FAMILY_IPV4;
    const V6: i32 = VBN_GID_FAMILY_IPV6;

    fn v4(a: u8, b: u8, c: u8, d: u8) -> [u8; 16] {
        [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, a, b, c, d]
    }

    fn v6(prefix: u64, host: u64) -> [u8; 16] {
        (u128::from(prefix) << 64 | u128::from(host)).to_be_bytes()
    }

    const LINK: u64 = 0xfe80 << 48;
    const SITE: u64 = 0x2001_0db8 << 32;

    fn ud(gids: &[([u8; 16], i32, i32)]) -> vbn_endpoint_info {
        let mut info = vbn_endpoint_info::zeroed();
        (info.qp_type, info.qp_num, info.set) = (VBN_QPT_UD, 7, VBN_ENDPOINT_SET_QKEY);
        info.num_gids = gids.len() as u8;
        for (place, (gid, r#type, family)) in info.gids.iter_mut().zip(gids) {
            *place = vbn_endpoint_gid { gid: *gid, r#type: *r#type, family: *family };
        }
        info
    }

    /// The pair that both sides choose.
    fn chosen(a: &vbn_endpoint_info, b: &vbn_endpoint_info) -> Option<(usize, usize)> {
        let (here, there) = (pair_gids(a, b), pair_gids(b, a));
        assert_eq!(here.is_ok(), there.is_ok());
        assert_eq!(check_pair(a, b).is_ok(), here.is_ok());
        let pair = here.ok()?;
        let (mine, theirs) = there.unwrap();
        let of = |info: &vbn_endpoint_info, i: usize| info.gids[i].gid;
        assert_eq!((of(a, pair.0), of(b, pair.1)), (of(a, theirs), of(b, mine)), "both sides choose the same");
        Some(pair)
    }

    #[test]
    fn gids_are_paired_by_type_family_and_subnet() {
        let a =
            ud(&[(v4(10, 0, 0, 1), 2, V4), (v4(192, 168, 1, 1), 2, V4), (v6(SITE, 1), 2, V6), (v6(LINK, 1), 2, V6)]);
        // The same subnet before the order of the lists.
        assert_eq!(chosen(&a, &ud(&[(v4(10, 200, 0, 1), 2, V4), (v4(192, 168, 1, 2), 2, V4)])), Some((1, 1)));
        // IPv4 before IPv6, whatever the list says.
        assert_eq!(chosen(&a, &ud(&[(v6(SITE, 9), 2, V6), (v4(172, 16, 0, 1), 2, V4)])), Some((1, 1)));
        assert_eq!(chosen(&a, &ud(&[(v6(SITE, 9), 2, V6)])), Some((2, 0)));
        assert_eq!(chosen(&a, &ud(&[(v6(LINK, 9), 2, V6)])), Some((3, 0)));
        // Version 1 only if there is nothing else, and never with version 2.
        assert_eq!(chosen(&a, &ud(&[(v4(10, 0, 0, 2), 1, V4)])), None);
        let both = ud(&[(v4(10, 0, 0, 2), 1, V4), (v4(10, 0, 0, 2), 2, V4)]);
        assert_eq!(chosen(&both, &both), Some((1, 1)));
        assert_eq!(chosen(&both, &ud(&[(v4(10, 0, 0, 3), 1, V4)])), Some((0, 0)));
        // A loopback address leads nowhere but to itself.
        let host = ud(&[(v4(127, 0, 0, 1), 2, V4)]);
        assert_eq!(chosen(&host, &host), Some((0, 0)));
        assert_eq!(chosen(&a, &host), None);
        // A link's address and a global one are the last resort.
        assert_eq!(chosen(&ud(&[(v4(169, 254, 0, 1), 2, V4)]), &ud(&[(v4(10, 0, 0, 1), 2, V4)])), Some((0, 0)));
    }

    #[test]
    fn infiniband_and_efa_go_by_the_subnet_prefix() {
        let a = ud(&[(v6(LINK, 1), 0, 0), (v6(7, 1), 0, 0)]);
        assert_eq!(chosen(&a, &ud(&[(v6(LINK, 2), 0, 0)])), Some((0, 0)));
        assert_eq!(chosen(&a, &ud(&[(v6(8, 2), 0, 0), (v6(7, 2), 0, 0)])), Some((1, 1)));
        assert_eq!(chosen(&a, &ud(&[(v6(9, 2), 0, 0)])), Some((1, 0)), "a router may know the way");
        assert_eq!(chosen(&a, &ud(&[(v6(LINK, 2), 2, V6)])), None);
        // The first of equal ones, not the one whose number happens to be near.
        let two = ud(&[(v6(LINK, 0xf0), 0, 0), (v6(LINK, 1), 0, 0)]);
        assert_eq!(chosen(&two, &ud(&[(v6(LINK, 1), 0, 0)])), Some((0, 0)));
    }

    #[test]
    fn both_sides_agree_whatever_the_lists() {
        let pool = [
            (v4(10, 0, 0, 1), 2, V4),
            (v4(10, 0, 0, 2), 2, V4),
            (v4(10, 0, 0, 1), 1, V4),
            (v4(127, 0, 0, 1), 2, V4),
            (v6(SITE, 1), 2, V6),
            (v6(LINK, 1), 2, V6),
            (v6(LINK, 1), 0, 0),
        ];
        let mut lists = Vec::new();
        for i in 0..pool.len() {
            lists.push(ud(&[pool[i]]));
            for j in (0..pool.len()).filter(|j| *j != i) {
                lists.push(ud(&[pool[i], pool[j]]));
                for k in (0..pool.len()).filter(|k| *k != i && *k != j) {
                    lists.push(ud(&[pool[i], pool[j], pool[k]]));
                }
            }
        }
        let step = if cfg!(miri) { 50 } else { 1 };
        let found = lists.iter().step_by(step).flat_map(|a| lists.iter().step_by(step).map(|b| chosen(a, b)));
        assert!(found.flatten().count() > 10);
    }

    fn refused(local: &vbn_endpoint_info, remote: &vbn_endpoint_info) -> (u64, String) {
        let error = check_pair(local, remote).unwrap_err();
        assert_eq!(error.status, VBN_ERR_ARGUMENT);
        let mut buffer = [0; 1024];
        describe(&Record { op: Op::None, error }, &mut buffer);
        (error.value, String::from_utf8(until_zero(&buffer).to_vec()).unwrap())
    }

    fn srd() -> vbn_endpoint_info {
        let mut info = ud(&[(v6(LINK, 1), 0, 0)]);
        info.qp_type = super::super::qp_create::VBN_QPT_SRD;
        info.set |= VBN_ENDPOINT_SET_UNSOLICITED | VBN_ENDPOINT_SET_EFA_GENERATION;
        info.efa_generation = 0xefa2;
        info
    }

    #[test]
    fn each_mismatch_is_named_and_all_of_them() {
        check_pair(&srd(), &srd()).unwrap();
        check_pair(&srd(), &vbn_endpoint_info { efa_generation: 0xefa4, ..srd() }).unwrap();

        let unsolicited = vbn_endpoint_info { unsolicited: 1, ..srd() };
        let (bits, text) = refused(&srd(), &unsolicited);
        assert_eq!(bits, VBN_MISMATCH_UNSOLICITED);
        assert!(text.contains("the peer was made with VBN_QP_UNSOLICITED_WRITE_RECV and this side without"), "{text}");
        assert!(refused(&unsolicited, &srd()).1.contains("this side was made with"));

        let first = vbn_endpoint_info { efa_generation: 0xefa0, ..srd() };
        let (bits, text) = refused(&first, &srd());
        assert_eq!(bits, VBN_MISMATCH_EFA_GENERATION);
        assert!(text.contains("0xefa0 and an EFA 0xefa2"), "{text}");
        check_pair(&first, &first).unwrap();
        let untold = vbn_endpoint_info { set: srd().set & !VBN_ENDPOINT_SET_EFA_GENERATION, ..srd() };
        check_pair(&first, &untold).unwrap();

        let (bits, text) = refused(&ud(&[(v6(LINK, 1), 0, 0)]), &srd());
        assert_eq!(bits, VBN_MISMATCH_TRANSPORT);
        assert!(text.contains("this queue pair is UD, the peer's SRD"), "{text}");

        let roce = vbn_endpoint_info { gids: ud(&[(v4(10, 0, 0, 1), 2, V4)]).gids, ..unsolicited };
        let all = vbn_endpoint_info { qp_type: VBN_QPT_RC, psn: 1, set: SET_ALL, ..roce };
        let (bits, text) = refused(&first, &all);
        assert_eq!(bits, 15);
        for part in ["RC", "VBN_QP_UNSOLICITED_WRITE_RECV", "0xefa0", "no GID"] {
            assert!(text.contains(part), "{part}: {text}");
        }
        assert_eq!(text.matches("; ").count(), 3, "{text}");
    }

    const SET_ALL: u64 =
        VBN_ENDPOINT_SET_PSN | VBN_ENDPOINT_SET_QKEY | VBN_ENDPOINT_SET_UNSOLICITED | VBN_ENDPOINT_SET_EFA_GENERATION;

    #[test]
    fn vendor_options_are_of_one_vendor() {
        let rc = |vendor, options| {
            let mut info = ud(&[(v6(LINK, 1), 0, 0)]);
            (info.qp_type, info.set) = (VBN_QPT_RC, VBN_ENDPOINT_SET_PSN | VBN_ENDPOINT_SET_ECE);
            (info.ece_vendor_id, info.ece_options) = (vendor, options);
            info
        };
        check_pair(&rc(7, 1), &rc(7, 2)).unwrap();
        let (bits, text) = refused(&rc(7, 1), &rc(8, 1));
        assert_eq!(bits, VBN_MISMATCH_ECE);
        assert!(text.contains("of vendor 0x7, the peer of vendor 0x8"), "{text}");
        // Without options, untold, or without a connection there is nothing to agree on.
        let untold = vbn_endpoint_info { set: VBN_ENDPOINT_SET_PSN, ..rc(8, 1) };
        for other in [rc(8, 0), rc(0, 1), untold] {
            check_pair(&rc(7, 1), &other).unwrap();
            check_pair(&other, &rc(7, 1)).unwrap();
            assert!(!both_have_ece(&rc(7, 1), &other));
        }
        let set = VBN_ENDPOINT_SET_QKEY | VBN_ENDPOINT_SET_ECE;
        let of_ud = |vendor| vbn_endpoint_info { qp_type: VBN_QPT_UD, psn: 0, set, ..rc(vendor, 1) };
        check_pair(&of_ud(7), &of_ud(8)).unwrap();
    }

    #[test]
    fn the_longest_sentence_fits_the_error_record() {
        let all = vbn_endpoint_info { efa_generation: u32::MAX, ..srd() };
        let mismatch = Mismatch {
            bits: 31,
            unsolicited_here: true,
            transports: [2, 255],
            generations: [0xefa0, all.efa_generation],
            vendors: [u32::MAX; 2],
            no_way: NoWay::Host { here: false },
        };
        assert!(format!("{mismatch}").len() < 900, "{mismatch}");
    }

    #[test]
    fn what_keeps_addresses_apart_is_named() {
        let lid = vbn_endpoint_info { set: VBN_ENDPOINT_SET_QKEY | VBN_ENDPOINT_SET_LID, lid: 3, ..ud(&[]) };
        let (version_1, version_2) = (ud(&[(v4(10, 0, 0, 1), 1, V4)]), ud(&[(v4(10, 0, 0, 1), 2, V4)]));
        let v6 = ud(&[(v6(SITE, 1), 2, V6), (v4(10, 0, 0, 1), 1, V4)]);
        let host = ud(&[(v4(127, 0, 0, 1), 2, V4)]);
        for (local, remote, part) in [
            (&version_2, &lid, "the peer tells no GID"),
            (&lid, &version_2, "this side tells no GID"),
            (&version_2, &version_1, "RoCE v2 here, RoCE v1 there"),
            (&version_1, &version_2, "RoCE v1 here, RoCE v2 there"),
            (&version_2, &v6, "IPv4 here, IPv6 there"),
            (&v6, &version_2, "IPv6 here, IPv4 there"),
            (&version_2, &host, "that of the peer is a loopback address"),
            (&host, &version_2, "that of this side is a loopback address"),
        ] {
            let (bits, text) = refused(local, remote);
            assert_eq!(bits, VBN_MISMATCH_GID);
            assert!(text.contains(part), "{part}: {text}");
        }
    }

    #[test]
    fn lids_do_without_gids() {
        let mut a = ud(&[]);
        assert!(check_pair(&a, &a).is_err(), "no address at all");
        (a.set, a.lid) = (a.set | VBN_ENDPOINT_SET_LID, 3);
        check_pair(&a, &a).unwrap();
        assert!(pair_gids(&a, &a).is_err());
        let (bits, _) = refused(&a, &ud(&[(v6(LINK, 1), 0, 0)]));
        assert_eq!(bits, VBN_MISMATCH_GID);
    }

    #[test]
    fn wrong_structs_are_refused_first() {
        let wrong = vbn_endpoint_info { qp_num: 1 << 24, ..srd() };
        assert_eq!(check_pair(&wrong, &srd()).unwrap_err().value, 1 << 24);
        assert_eq!(check_pair(&srd(), &wrong).unwrap_err().value, 1 << 24);
        assert!(pair_gids(&srd(), &vbn_endpoint_info { num_gids: 200, ..srd() }).is_err());
    }
}
