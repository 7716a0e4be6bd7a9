// SPDX-License-Identifier: MIT OR Apache-2.0
//! Connecting RC and UC queue pairs by the records that can grow: what both sides tell is compared before the first step.

use super::endpoint_info::*;
use super::endpoint_pair::{both_have_ece, check_pair, pair_gids};
use super::error::{Error, Reason, Result};
use super::gid;
use super::qp::Qp;
use super::qp_create::VBN_QPT_RC;
use super::qp_ext::vbn_ece;
use super::rc::{self, *};
use super::status::*;

/// The whole way from wherever the queue pair is to RTS, towards the peer of `remote`. One that is up is fine if it shows the
/// same peer.
pub fn connect(qp: &Qp, local: &vbn_endpoint_info, remote: &vbn_endpoint_info, attr: &vbn_rc_attr) -> Result<()> {
    rc::check_attr(qp, attr)?;
    check_pair(local, remote)?;
    check_own(qp, local)?;
    let mut attr = *attr;
    let (from, to) = records(qp, local, remote, &mut attr)?;
    if qp.qp_type() == VBN_QPT_RC {
        settle_depth(qp, local, remote, &mut attr)?;
    }
    rc::connect(qp, &from, &to, &attr, options(local, remote).as_ref())
}

/// The peer's vendor options, where this side has such, too: each side takes over what the other offers, and the device uses
/// what it knows of that, so that both come to what they have in common.
fn options(local: &vbn_endpoint_info, remote: &vbn_endpoint_info) -> Option<vbn_ece> {
    both_have_ece(local, remote).then_some(vbn_ece {
        struct_size: size_of::<vbn_ece>(),
        vendor_id: remote.ece_vendor_id,
        options: remote.ece_options,
        comp_mask: remote.ece_comp_mask,
        reserved0: 0,
    })
}

/// Whether `local` is about this queue pair. (Its number is compared by `rc::connect`.)
fn check_own(qp: &Qp, local: &vbn_endpoint_info) -> Result<()> {
    if local.qp_type == qp.qp_type() {
        return Ok(());
    }
    Err(Error::argument(Reason::NotOneOfSigned("qp_type of the local record", "that of this queue pair"))
        .value(i64::from(local.qp_type) as u64, i64::from(qp.qp_type()) as u64)
        .on(qp.device().name())
        .hint("make the local record with vbn_endpoint_info_local"))
}

/// What `rc` wants to know of both, with the pair of GIDs that fit together. `attr` gets the place of one's own.
fn records(
    qp: &Qp,
    local: &vbn_endpoint_info,
    remote: &vbn_endpoint_info,
    attr: &mut vbn_rc_attr,
) -> Result<(vbn_rc_record, vbn_rc_record)> {
    let context = qp.device();
    let port_num = if local.set & VBN_ENDPOINT_SET_PORT_NUM != 0 { local.port_num } else { attr.port_num.max(1) };
    let port = context.port(port_num)?;
    let own_mtu = if local.set & VBN_ENDPOINT_SET_MTU != 0 { local.mtu } else { port.active_mtu as u8 };
    let told = |info: &vbn_endpoint_info, bit: u64, value: u16| if info.set & bit != 0 { value } else { 0 };
    let record = |info: &vbn_endpoint_info, port_num: u8, mtu: u8| vbn_rc_record {
        qp_num: info.qp_num,
        psn: info.psn,
        lid: told(info, VBN_ENDPOINT_SET_LID, info.lid),
        port_num,
        mtu,
        gid: [0; 16],
        reserved0: 0,
    };
    let mut from = record(local, port_num, own_mtu);
    let peer_mtu = if remote.set & VBN_ENDPOINT_SET_MTU != 0 { remote.mtu.min(own_mtu) } else { own_mtu };
    let mut to = record(remote, 1, peer_mtu);
    let wish = wished(qp, local, port_num, attr)?;
    if let Some((mine, theirs)) = pair(wish.as_ref().unwrap_or(local), remote)? {
        (from.gid, to.gid) = (mine.gid, theirs.gid);
        attr.set |= VBN_RC_SET_SGID_INDEX;
        attr.sgid_index = match wish {
            Some(_) => attr.sgid_index,
            None => gid::index_of_type(context, port_num, &mine.gid, Some(mine.r#type))?,
        };
    }
    Ok((from, to))
}

/// The two addresses to use; `None` where both sides go by LID and have no fitting GIDs.
fn pair(local: &vbn_endpoint_info, remote: &vbn_endpoint_info) -> Result<Option<(vbn_endpoint_gid, vbn_endpoint_gid)>> {
    match pair_gids(local, remote) {
        Ok((mine, theirs)) => Ok(local.gids.get(mine).copied().zip(remote.gids.get(theirs).copied())),
        Err(_) if local.set & remote.set & VBN_ENDPOINT_SET_LID != 0 => Ok(None),
        Err(error) => Err(error),
    }
}

/// The local record with the one address that `attr` asks for, if it does.
fn wished(qp: &Qp, local: &vbn_endpoint_info, port_num: u8, attr: &vbn_rc_attr) -> Result<Option<vbn_endpoint_info>> {
    if !attr.has(VBN_RC_SET_SGID_INDEX) {
        return Ok(None);
    }
    let context = qp.device();
    let table = gid::table(context, Some(port_num))?;
    let entry = table.iter().find(|entry| entry.index == attr.sgid_index.into());
    let told = entry.and_then(|entry| {
        local.addresses().iter().find(|told| told.gid == entry.gid && told.r#type == entry.r#type).copied()
    });
    let Some(told) = told else {
        return Err(Error::text(VBN_ERR_ARGUMENT, "the local record doesn't have the GID at sgid_index")
            .value(attr.sgid_index.into(), local.num_gids.into())
            .on(context.name())
            .hint("the peer must know it: give sgid_index to vbn_endpoint_info_local, too"));
    };
    let mut wish = *local;
    let [first, ..] = &mut wish.gids;
    *first = told;
    wish.num_gids = 1;
    Ok(Some(wish))
}

/// Reads and atomics: by default what both sides can do; what the caller asks for must not be more than the peer answers.
fn settle_depth(qp: &Qp, local: &vbn_endpoint_info, remote: &vbn_endpoint_info, attr: &mut vbn_rc_attr) -> Result<()> {
    let tells = |info: &vbn_endpoint_info| info.set & VBN_ENDPOINT_SET_READ_DEPTH != 0;
    if !attr.has(VBN_RC_SET_MAX_DEST_RD_ATOMIC) && tells(local) {
        attr.set |= VBN_RC_SET_MAX_DEST_RD_ATOMIC;
        attr.max_dest_rd_atomic = local.max_dest_rd_atomic;
    }
    if attr.has(VBN_RC_SET_MAX_RD_ATOMIC) {
        if tells(remote) && attr.max_rd_atomic > remote.max_dest_rd_atomic {
            let (asked, most) = (attr.max_rd_atomic.into(), remote.max_dest_rd_atomic.into());
            return Err(Error::new(
                VBN_ERR_LIMIT,
                Reason::ExceedsNamed("max_rd_atomic", "the peer's max_dest_rd_atomic"),
            )
            .value(asked, most)
            .on(qp.device().name())
            .hint("requests beyond it would fail: ask for less, or leave it out"));
        }
    } else if tells(remote) {
        attr.set |= VBN_RC_SET_MAX_RD_ATOMIC;
        let own = rc::initiator_limit(qp.device());
        let own = if tells(local) { own.min(local.max_rd_atomic) } else { own };
        attr.max_rd_atomic = own.min(remote.max_dest_rd_atomic);
    } else if tells(local) {
        attr.set |= VBN_RC_SET_MAX_RD_ATOMIC;
        attr.max_rd_atomic = local.max_rd_atomic;
    }
    Ok(())
}
