// SPDX-License-Identifier: MIT OR Apache-2.0
//! What only an EFA can be asked: straight from libefa, errors in this library's convention.

use std::ffi::c_void;

use super::ah::Ah;
use super::cold::cold_structs;
use super::context::Context;
use super::cq::Cq;
use super::efa::Device;
use super::error::{Error, Result};
use super::mr::Mr;
use super::qp::Qp;
use super::status::VBN_ERR_NOT_SUPPORTED;
use crate::sys::convert;
use crate::sys::efa::*;
use crate::sys::ibv::Zeroed;

/// SRD queue pairs can READ.
pub const VBN_EFA_CAP_RDMA_READ: u64 = 1;
/// rnr_retry can be set at the transition to RTS.
pub const VBN_EFA_CAP_RNR_RETRY: u64 = 1 << 1;
/// Completions can tell the GID of a sender that has no address handle here.
pub const VBN_EFA_CAP_CQ_WITH_SGID: u64 = 1 << 2;
/// SRD queue pairs can WRITE. libefa tells it, and can do it, since rdma-core 46.
pub const VBN_EFA_CAP_RDMA_WRITE: u64 = 1 << 3;
/// WRITE with immediate can arrive without consuming a receive. libefa tells it since rdma-core 52.
pub const VBN_EFA_CAP_UNSOLICITED_WRITE_RECV: u64 = 1 << 4;
/// A completion queue can lie in a dma-buf. libefa tells it since rdma-core 59.
pub const VBN_EFA_CAP_CQ_WITH_EXT_MEM_DMABUF: u64 = 1 << 5;
/// There are counters of completions. libefa tells it since rdma-core 65.
pub const VBN_EFA_CAP_COMP_CNTR: u64 = 1 << 6;

/// What `vbn_efa_query_device` tells: struct efadv_device_attr.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct vbn_efa_device_info {
    /// sizeof(vbn_efa_device_info), set by the caller.
    pub struct_size: usize,
    /// VBN_EFA_CAP_*: what the device and this libefa can do.
    pub caps: u64,
    /// Bytes of one READ or WRITE at most; 0 if it has neither.
    pub max_rdma_size: u64,
    /// Depth of a send queue at most.
    pub max_sq_wr: u32,
    /// Depth of a receive queue at most, with one segment a receive.
    pub max_rq_wr: u32,
    /// Segments of a SEND at most.
    pub max_sq_sge: u32,
    /// Segments of a receive at most.
    pub max_rq_sge: u32,
    /// Bytes that fit into a request of the usual size.
    pub inline_buf_size: u32,
    /// Bytes that fit into a large request, of which a queue holds half as many. 0 before rdma-core 63.
    pub inline_buf_size_ex: u32,
}

/// `vbn_efa_sq_attr.flags`: inline data in WRITE.
pub const VBN_EFA_SQ_INLINE_WRITE: u64 = 1;

/// The send queue that `vbn_efa_max_sq_depth` is asked about. All-zero: a plain one.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct vbn_efa_sq_attr {
    /// sizeof(vbn_efa_sq_attr).
    pub struct_size: usize,
    /// VBN_EFA_SQ_*.
    pub flags: u64,
    /// Segments of a SEND.
    pub max_send_sge: u32,
    /// Segments of a READ or WRITE.
    pub max_rdma_sge: u32,
    /// Bytes of inline data.
    pub max_inline_data: u32,
    /// Must be 0.
    pub reserved0: u32,
}

/// The receive queue that `vbn_efa_max_rq_depth` is asked about.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct vbn_efa_rq_attr {
    /// sizeof(vbn_efa_rq_attr).
    pub struct_size: usize,
    /// Segments of a receive, 1 or more.
    pub max_recv_sge: u32,
    /// Must be 0.
    pub reserved0: u32,
}

/// What `vbn_efa_query_cq` tells: the queue as it lies in this process's memory.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct vbn_efa_cq_info {
    /// sizeof(vbn_efa_cq_info), set by the caller.
    pub struct_size: usize,
    /// The entries, which the device writes.
    pub buffer: *mut c_void,
    /// The register that arms it; NULL without notifications.
    pub doorbell: *mut u32,
    /// Bytes of an entry.
    pub entry_size: u32,
    /// How many entries there are.
    pub num_entries: u32,
}

/// `vbn_efa_wq_info.caps`: request ids have 64 bits. libefa tells it since rdma-core 65.
pub const VBN_EFA_WQ_64_BIT_REQ_ID: u32 = 1;

/// What `vbn_efa_query_qp` tells of a send or receive queue, as it lies in this process's memory.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct vbn_efa_wq_info {
    /// sizeof(vbn_efa_wq_info), set by the caller.
    pub struct_size: usize,
    /// The descriptors. For a send queue memory of the device, to be written only.
    pub buffer: *mut c_void,
    /// The register that tells the device of new ones.
    pub doorbell: *mut u32,
    /// Bytes of a descriptor.
    pub entry_size: u32,
    /// How many descriptors there are.
    pub num_entries: u32,
    /// How many may be written for one ring of the doorbell.
    pub max_batch: u32,
    /// VBN_EFA_WQ_*.
    pub caps: u32,
}

/// `vbn_efa_mr_info.valid`: recv_ic_id counts.
pub const VBN_EFA_MR_RECV_IC_ID: u32 = 1;
/// `vbn_efa_mr_info.valid`: rdma_read_ic_id counts.
pub const VBN_EFA_MR_RDMA_READ_IC_ID: u32 = 1 << 1;
/// `vbn_efa_mr_info.valid`: rdma_recv_ic_id counts.
pub const VBN_EFA_MR_RDMA_RECV_IC_ID: u32 = 1 << 2;

/// What `vbn_efa_query_mr` tells: by which interconnect the device reaches a region.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct vbn_efa_mr_info {
    /// sizeof(vbn_efa_mr_info), set by the caller.
    pub struct_size: usize,
    /// VBN_EFA_MR_*: which of the others count.
    pub valid: u32,
    /// For what receives write.
    pub recv_ic_id: u32,
    /// For what READs of this process write.
    pub rdma_read_ic_id: u32,
    /// For what WRITEs of peers write.
    pub rdma_recv_ic_id: u32,
}
cold_structs!(vbn_efa_device_info, vbn_efa_sq_attr, vbn_efa_rq_attr, vbn_efa_cq_info, vbn_efa_wq_info, vbn_efa_mr_info,);

/// The part of the context that only an EFA has.
fn device(context: &Context) -> Result<&Device> {
    context.efa().ok_or(
        Error::text(VBN_ERR_NOT_SUPPORTED, "this call is for EFA devices, and was made")
            .on(context.name())
            .hint("if it is one, vbn_library_query(VBN_LIBRARY_EFA) tells what became of libefa"),
    )
}

/// A function of the device's libefa. `None` when that is older.
fn function<F>(context: &Context, pick: impl FnOnce(&Efa) -> Option<F>, name: &'static str) -> Result<F> {
    let device = device(context)?;
    device.function(pick(&device.provider.functions), name).map_err(|error| error.on(context.name()))
}

pub fn device_info(context: &Context) -> Result<vbn_efa_device_info> {
    let attr = device(context)?.attr;
    Ok(vbn_efa_device_info {
        struct_size: size_of::<vbn_efa_device_info>(),
        caps: attr.device_caps.into(),
        max_rdma_size: attr.max_rdma_size.into(),
        max_sq_wr: attr.max_sq_wr,
        max_rq_wr: attr.max_rq_wr,
        max_sq_sge: attr.max_sq_sge.into(),
        max_rq_sge: attr.max_rq_sge.into(),
        inline_buf_size: attr.inline_buf_size.into(),
        inline_buf_size_ex: attr.inline_buf_size_ex.into(),
    })
}

/// The device's number of an address handle.
pub fn ah_number(ah: &Ah) -> Result<u16> {
    let context = ah.device();
    let query = function(context, |efa| efa.query_ah, "efadv_query_ah")?;
    let mut attr = efadv_ah_attr::zeroed();
    // SAFETY: the handle is live.
    context.ret("efadv_query_ah", || unsafe { query(ah.native(), &mut attr, size_of::<efadv_ah_attr>() as u32) })?;
    Ok(attr.ahn)
}

pub fn cq_info(cq: &Cq) -> Result<vbn_efa_cq_info> {
    let context = cq.context();
    let query = function(context, |efa| efa.query_cq, "efadv_query_cq")?;
    let mut attr = efadv_cq_attr::zeroed();
    // SAFETY: the queue is live.
    context.ret("efadv_query_cq", || unsafe { query(cq.native(), &mut attr, size_of::<efadv_cq_attr>() as u32) })?;
    Ok(vbn_efa_cq_info {
        struct_size: size_of::<vbn_efa_cq_info>(),
        buffer: attr.buffer.cast(),
        doorbell: attr.doorbell,
        entry_size: attr.entry_size,
        num_entries: attr.num_entries,
    })
}

/// The send queue and the receive queue.
pub fn wq_infos(qp: &Qp) -> Result<(vbn_efa_wq_info, vbn_efa_wq_info)> {
    let context = qp.device();
    let query = function(context, |efa| efa.query_qp_wqs, "efadv_query_qp_wqs")?;
    let (mut sq, mut rq) = (efadv_wq_attr::zeroed(), efadv_wq_attr::zeroed());
    let size = size_of::<efadv_wq_attr>() as u32;
    // SAFETY: the queue pair is live.
    context.ret("efadv_query_qp_wqs", || unsafe { query(qp.native(), &mut sq, &mut rq, size) })?;
    let info = |attr: efadv_wq_attr| vbn_efa_wq_info {
        struct_size: size_of::<vbn_efa_wq_info>(),
        buffer: attr.buffer.cast(),
        doorbell: attr.doorbell,
        entry_size: attr.entry_size,
        num_entries: attr.num_entries,
        max_batch: attr.max_batch,
        caps: attr.caps.into(),
    };
    Ok((info(sq), info(rq)))
}

pub fn mr_info(mr: &Mr) -> Result<vbn_efa_mr_info> {
    let context = mr.device();
    let query = function(context, |efa| efa.query_mr, "efadv_query_mr")?;
    let mut attr = efadv_mr_attr::zeroed();
    // SAFETY: the region is live.
    let answer =
        context.ret("efadv_query_mr", || unsafe { query(mr.native(), &mut attr, size_of::<efadv_mr_attr>() as u32) });
    answer.map_err(|error| match error.status {
        VBN_ERR_NOT_SUPPORTED => error.hint("the kernel's efa driver is too old for it"),
        _ => error,
    })?;
    Ok(vbn_efa_mr_info {
        struct_size: size_of::<vbn_efa_mr_info>(),
        valid: attr.ic_id_validity.into(),
        recv_ic_id: attr.recv_ic_id.into(),
        rdma_read_ic_id: attr.rdma_read_ic_id.into(),
        rdma_recv_ic_id: attr.rdma_recv_ic_id.into(),
    })
}

/// The limits are the provider's own; it refuses what exceeds them with EINVAL alone.
pub fn max_sq_depth(context: &Context, attr: &vbn_efa_sq_attr) -> Result<u32> {
    let efa = device(context)?;
    if attr.reserved0 != 0 {
        return Err(Error::reserved());
    }
    if attr.flags & !VBN_EFA_SQ_INLINE_WRITE != 0 {
        return Err(Error::unknown_bits("flags", attr.flags, VBN_EFA_SQ_INLINE_WRITE));
    }
    let query = function(context, |efa| efa.get_max_sq_depth, "efadv_get_max_sq_depth")?;
    let rdma_sge = u32::try_from(context.device().max_sge_rd).unwrap_or(0);
    below(context, "max_send_sge", attr.max_send_sge, efa.attr.max_sq_sge.into())?;
    below(context, "max_rdma_sge", attr.max_rdma_sge, rdma_sge)?;
    below(context, "max_inline_data", attr.max_inline_data, efa.attr.inline_buf_size_ex.into())?;
    let mut native = efadv_sq_depth_attr {
        comp_mask: 0,
        flags: attr.flags as u32,
        max_send_sge: attr.max_send_sge,
        max_rdma_sge: attr.max_rdma_sge,
        max_inline_data: attr.max_inline_data,
    };
    let size = size_of::<efadv_sq_depth_attr>() as u32;
    // SAFETY: the context is open.
    depth(context, "efadv_get_max_sq_depth", unsafe { query(context.native(), &mut native, size) })
}

/// A receive without segments would divide by zero in the provider (rdma-core 63 to 65).
pub fn max_rq_depth(context: &Context, attr: &vbn_efa_rq_attr) -> Result<u32> {
    let efa = device(context)?;
    if attr.reserved0 != 0 {
        return Err(Error::reserved());
    }
    if attr.max_recv_sge == 0 {
        return Err(Error::range("max_recv_sge", 0, "1 or more"));
    }
    let query = function(context, |efa| efa.get_max_rq_depth, "efadv_get_max_rq_depth")?;
    below(context, "max_recv_sge", attr.max_recv_sge, efa.attr.max_rq_sge.into())?;
    let mut native = efadv_rq_depth_attr { max_recv_sge: attr.max_recv_sge, ..Zeroed::zeroed() };
    let size = size_of::<efadv_rq_depth_attr>() as u32;
    // SAFETY: the context is open.
    depth(context, "efadv_get_max_rq_depth", unsafe { query(context.native(), &mut native, size) })
}

fn below(context: &Context, what: &'static str, value: u32, limit: u32) -> Result<()> {
    if value <= limit {
        return Ok(());
    }
    Err(Error::limit(what, value.into(), limit.into()).on(context.name()))
}

fn depth(context: &Context, function: &'static str, ret: i32) -> Result<u32> {
    match convert::neg_errno(ret as isize) {
        Ok(depth) => Ok(depth as u32),
        Err(errno) => Err(Error::call(function, errno).on(context.name())),
    }
}
