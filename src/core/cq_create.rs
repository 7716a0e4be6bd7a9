// SPDX-License-Identifier: MIT OR Apache-2.0
//! How completion queues are made: plain ones, those with extended fields, and EFA's own.

use std::ptr::NonNull;

use super::channel::Channel;
use super::context::Context;
use super::cq::vbn_cq_attr;
use super::error::{Error, Reason, Result};
use super::slab::{Object, Ref};
use super::status::*;
use super::wc_ext::*;
use crate::sys::efa::*;
use crate::sys::ibv::{Zeroed, ibv_comp_channel, ibv_cq, ibv_cq_ex, ibv_cq_init_attr_ex};
use crate::sys::inline;

/// A new queue, and how to read its fields if it is an extended one.
pub fn make(
    context: &Ref<Context>,
    channel: Option<&Ref<Channel>>,
    attr: &vbn_cq_attr,
) -> Result<(NonNull<ibv_cq>, Option<Extended>)> {
    check(context, attr)?;
    let native_channel = match channel {
        Some(channel) if !channel.context().is_some_and(|own| context.is(own.slot())) => {
            return Err(Error::argument(Reason::Unrelated("channel", "context")));
        }
        Some(channel) => channel.native(),
        None => std::ptr::null_mut(),
    };
    let made = if attr.fields == 0 {
        let vector = attr.comp_vector as i32;
        let create = context.verbs().create_cq;
        // SAFETY: context and channel are live and belong together.
        let made = context.made("ibv_create_cq", || unsafe {
            create(context.native(), attr.cqe as i32, std::ptr::null_mut(), native_channel, vector)
        });
        made.map(|native| (native, None))
    } else {
        make_extended(context, native_channel, attr).map(|extended| (extended.cq.cast(), Some(extended)))
    };
    made.map_err(|error| match error.errno {
        libc::EOPNOTSUPP if channel.is_some() && context.efa().is_some() => error.hint(
            "this EFA has no completion notifications: create the queue without a channel, and vbn_cq_wait polls with growing sleeps",
        ),
        libc::EOPNOTSUPP if attr.fields != 0 => {
            // A driver with extended queues has the standard ones, so that the others are to blame where there are any.
            let others = attr.fields & !VBN_WC_EX_STANDARD;
            let (blamed, hint) = if others != 0 {
                (others, "leave them out; a driver with extended queues has VBN_WC_EX_STANDARD")
            } else {
                (attr.fields, "the driver has no extended queues (soft-RoCE's has them from rdma-core 34 on): leave fields 0")
            };
            let function = if attr.fields & EFA_FIELDS != 0 { "efadv_create_cq" } else { "ibv_create_cq_ex" };
            Error { reason: Reason::CallFields(function), ..error }.value(blamed, VBN_WC_EX_STANDARD).hint(hint)
        }
        _ => error,
    })
}

fn check(context: &Context, attr: &vbn_cq_attr) -> Result<()> {
    let name = context.name();
    let max = context.device().max_cqe as u32;
    if attr.cqe == 0 {
        return Err(Error::range("cqe", 0, "at least 1"));
    }
    if attr.cqe > max {
        return Err(Error::limit("cqe", attr.cqe.into(), max.into()).on(name));
    }
    let vectors = context.num_comp_vectors();
    if attr.comp_vector >= vectors {
        return Err(Error::limit("comp_vector", attr.comp_vector.into(), vectors.saturating_sub(1).into()).on(name));
    }
    let known = NATIVE_FIELDS | EFA_FIELDS;
    if attr.fields & !known != 0 {
        return Err(Error::unknown_bits("fields", attr.fields, known));
    }
    if attr.fields & EFA_FIELDS == 0 {
        return Ok(());
    }
    let Some(device) = context.efa() else {
        return Err(Error::text(
            VBN_ERR_NOT_SUPPORTED,
            "VBN_WC_EX_SGID and VBN_WC_EX_UNSOLICITED are EFA's, and this is none",
        )
        .on(name));
    };
    let caps = device.attr.device_caps;
    let needs = [
        (
            VBN_WC_EX_SGID,
            EFADV_DEVICE_ATTR_CAPS_CQ_WITH_SGID,
            "VBN_WC_EX_SGID is not offered: it needs a device that tells the sender's GID, and rdma-core 43 or newer",
        ),
        (
            VBN_WC_EX_UNSOLICITED,
            EFADV_DEVICE_ATTR_CAPS_UNSOLICITED_WRITE_RECV,
            "VBN_WC_EX_UNSOLICITED is not offered: it needs a device with unsolicited receives, and rdma-core 52 or newer",
        ),
    ];
    match needs.iter().find(|(field, cap, _)| attr.fields & field != 0 && caps & cap == 0) {
        Some((_, _, sentence)) => Err(Error::text(VBN_ERR_NOT_SUPPORTED, sentence).on(name)),
        None => Ok(()),
    }
}

fn make_extended(context: &Context, channel: *mut ibv_comp_channel, attr: &vbn_cq_attr) -> Result<Extended> {
    let mut init = ibv_cq_init_attr_ex::zeroed();
    init.cqe = attr.cqe;
    init.channel = channel;
    init.comp_vector = attr.comp_vector;
    init.wc_flags = attr.fields & NATIVE_FIELDS;
    if attr.fields & EFA_FIELDS == 0 {
        // SAFETY: context and channel are live and belong together.
        let cq = context.made("ibv_create_cq_ex", || unsafe { inline::create_cq_ex(context.native(), &mut init) })?;
        return finish(context, extended(context, cq, std::ptr::null_mut(), attr.fields));
    }
    let device = context.efa().ok_or(Error::new(VBN_ERR_NOT_SUPPORTED, Reason::NoOperation("efadv_create_cq")))?;
    let functions = &device.provider.functions;
    let create = device.function(functions.create_cq, "efadv_create_cq")?;
    let readers = device.function(functions.cq_from_ibv_cq_ex, "efadv_cq_from_ibv_cq_ex")?;
    let mut own = efadv_cq_init_attr::zeroed();
    for (field, flag) in
        [(VBN_WC_EX_SGID, EFADV_WC_EX_WITH_SGID), (VBN_WC_EX_UNSOLICITED, EFADV_WC_EX_WITH_IS_UNSOLICITED)]
    {
        if attr.fields & field != 0 {
            own.wc_flags |= u64::from(flag);
        }
    }
    // The shortest length with the fields in use, which every libefa understands.
    let size = std::mem::offset_of!(efadv_cq_init_attr, flags) as u32;
    // SAFETY: context and channel are live and belong together, and both structs are ours.
    let cq = context.made("efadv_create_cq", || unsafe { create(context.native(), &mut init, &mut own, size) })?;
    // SAFETY: just made by the same provider.
    let efa = unsafe { readers(cq.as_ptr()) };
    finish(context, extended(context, cq, efa, attr.fields))
}

fn extended(context: &Context, cq: NonNull<ibv_cq_ex>, efa: *mut efadv_cq, fields: u64) -> Extended {
    // The oldest symbol that only a libefa with the mended next_poll (rdma-core 58) has is of 59.
    let one_by_one = context.efa().is_some_and(|device| device.provider.functions.query_cq.is_none());
    Extended { cq, efa, fields, one_by_one }
}

/// Makes sure that every reader is there, since reading calls them without looking.
fn finish(context: &Context, extended: Extended) -> Result<Extended> {
    if has_readers(&extended) {
        return Ok(extended);
    }
    // SAFETY: it was just made, and nobody knows it.
    unsafe { (context.verbs().destroy_cq)(extended.cq.as_ptr().cast()) };
    Err(Error::new(VBN_ERR_NOT_SUPPORTED, Reason::NoOperation("ibv_wc_read_*")).on(context.name()))
}

fn has_readers(extended: &Extended) -> bool {
    // SAFETY: both live as long as the queue.
    let (cq, efa): (&ibv_cq_ex, Option<&efadv_cq>) = unsafe { (extended.cq.as_ref(), extended.efa.as_ref()) };
    let wants = |field| extended.fields & field != 0;
    let always = cq.start_poll.is_some()
        && cq.next_poll.is_some()
        && cq.end_poll.is_some()
        && cq.read_opcode.is_some()
        && cq.read_vendor_err.is_some()
        && cq.read_wc_flags.is_some();
    let fields = [
        (VBN_WC_EX_BYTE_LEN, cq.read_byte_len.is_some()),
        (VBN_WC_EX_IMM, cq.read_imm_data.is_some()),
        (VBN_WC_EX_QP_NUM, cq.read_qp_num.is_some()),
        (VBN_WC_EX_SRC_QP, cq.read_src_qp.is_some()),
        (VBN_WC_EX_SLID, cq.read_slid.is_some()),
        (VBN_WC_EX_SL, cq.read_sl.is_some()),
        (VBN_WC_EX_DLID_PATH_BITS, cq.read_dlid_path_bits.is_some()),
        (VBN_WC_EX_TIMESTAMP, cq.read_completion_ts.is_some()),
        (VBN_WC_EX_CVLAN, cq.read_cvlan.is_some()),
        (VBN_WC_EX_FLOW_TAG, cq.read_flow_tag.is_some()),
        (VBN_WC_EX_WALLCLOCK, cq.read_completion_wallclock_ns.is_some()),
        (VBN_WC_EX_SGID, efa.is_some_and(|efa| efa.wc_read_sgid.is_some())),
        // The field is there from rdma-core 52 on, as is the capability that was looked at.
        (
            VBN_WC_EX_UNSOLICITED,
            efa.is_some_and(|efa| !wants(VBN_WC_EX_UNSOLICITED) || efa.wc_is_unsolicited.is_some()),
        ),
    ];
    always && fields.iter().all(|(field, there)| !wants(*field) || *there)
}
