// SPDX-License-Identifier: MIT OR Apache-2.0
//! The private halves of the calls as the kernel's efa driver has them.

use super::profiles::own;
use super::structs::{
    self, AllocContext, AllocContextResp, AllocPdResp, CreateAhResp, CreateCq, CreateCqResp, CreateQp, CreateQpResp,
    QueryDeviceResp,
};
use super::{SRD, UD};
use crate::abi::call::Call;
use crate::abi::errno::{EINVAL, EOPNOTSUPP, Res, fail};
use crate::abi::names::{DRIVER_NS, object};
use crate::abi::private::{Calls, CqRequest, QpRequest};
use crate::abi::spec::{Kind, MethodSpec, UHW_OUT, required};
use crate::abi::structs::DeviceResp;
use crate::model::types::{AhInfo, CqInfo, PdInfo, QpInfo, access};
use crate::profile::{Profile, caps};

pub struct Driver;

/// `enum ib_uverbs_qp_type`
const TYPE_UD: u64 = 4;
const TYPE_DRIVER: u64 = 255;
/// Up to `num_sub_cqs`: the driver refuses a shorter request.
const CQ_MIN: usize = 10;
/// Up to `driver_qp_type`: all that rdma-core before 52 has.
const QP_MIN: usize = 16;

/// `EFA_QUERY_DEVICE_CAPS_*`
const CAPS: [(u32, u32); 7] = [
    (caps::RDMA_READ, 1),
    (caps::RNR_RETRY, 1 << 1),
    (caps::CQ_NOTIFICATIONS, 1 << 2),
    (caps::CQ_WITH_SGID, 1 << 3),
    (caps::DATA_POLLING_128, 1 << 4),
    (caps::RDMA_WRITE, 1 << 5),
    (caps::UNSOLICITED_WRITE_RECV, 1 << 6),
];

fn device_caps(bits: u32) -> u32 {
    CAPS.iter().filter(|(cap, _)| bits & cap != 0).fold(0, |told, (_, bit)| told | bit)
}

impl Calls for Driver {
    fn driver_id(&self) -> u32 {
        structs::DRIVER_ID
    }

    fn methods(&self) -> &'static [&'static MethodSpec] {
        &[&MR_QUERY]
    }

    fn method_name(&self, object: u16, method: u16) -> Option<&'static str> {
        ((object, method) == (MR_QUERY.object, MR_QUERY.method)).then_some("MR.EFA_QUERY")
    }

    fn context_told(&self, call: &mut Call<'_>) -> Res<()> {
        // libefa up to 65 sends these bits always; a device with such a limit must not be used without them.
        let request = AllocContext::read(&call.uhw_in(0, AllocContext::SIZE)?);
        let own = own(call.nic.profile());
        let needed = u32::from(own.max_tx_batch.value != 0) | (u32::from(own.min_sq_wr.value != 0) << 1);
        if needed & !request.supported_caps != 0 {
            return fail(EOPNOTSUPP, format!("the device needs capabilities {needed:#x} of the provider"));
        }
        let answer = AllocContextResp {
            comp_mask: 0,
            cmds_supp_udata_mask: structs::SUPP_UDATA,
            sub_cqs_per_cq: 1,
            inline_buf_size: own.inline_buf_size.value,
            max_llq_size: own.max_llq_size.value,
            max_tx_batch: own.max_tx_batch.value,
            min_sq_wr: own.min_sq_wr.value,
            inline_buf_size_ex: own.inline_buf_size_ex.value,
        };
        call.uhw_out(&answer.bytes())
    }

    fn device_told(&self, call: &mut Call<'_>) -> Res<()> {
        let p = call.nic.profile();
        let answer = QueryDeviceResp {
            comp_mask: 0,
            max_sq_wr: p.max_sq_wr.value,
            max_rq_wr: p.max_rq_wr.value,
            max_sq_sge: p.max_sq_sge.value,
            max_rq_sge: p.max_rq_sge.value,
            max_rdma_size: p.max_rdma_size.value,
            device_caps: device_caps(p.caps.bits()),
        };
        call.uhw_out(&answer.bytes())
    }

    fn fill_device(&self, profile: &Profile, answer: &mut DeviceResp) {
        let own = own(profile);
        answer.vendor_id = u32::from(own.pci_vendor.value);
        answer.vendor_part_id = u32::from(own.pci_device.value);
        answer.hw_ver = u32::from(own.pci_device.value);
    }

    /// Type IB is what the kernel shows for a link layer that is neither InfiniBand nor Ethernet.
    fn gid_type(&self) -> u32 {
        0
    }

    fn pd_made(&self, call: &mut Call<'_>, info: &PdInfo) -> Res<()> {
        call.uhw_out(&AllocPdResp { comp_mask: 0, pdn: info.number }.bytes())
    }

    fn ah_made(&self, call: &mut Call<'_>, info: &AhInfo) -> Res<()> {
        call.uhw_out(&CreateAhResp { comp_mask: 0, ahn: info.number }.bytes())
    }

    fn cq_request(&self, call: &mut Call<'_>) -> Res<CqRequest> {
        let private = CreateCq::read(&call.uhw_in(CQ_MIN, CreateCq::SIZE)?);
        let known = structs::CQ_WITH_CHANNEL | structs::CQ_WITH_SGID;
        if private.comp_mask != 0 || private.reserved != [0; 5] || private.flags & !known != 0 {
            return fail(EINVAL, format!("the driver's private request has unknown bits: {private:?}"));
        }
        let with_sgid = private.flags & structs::CQ_WITH_SGID != 0;
        Ok(CqRequest { entry_size: private.entry_size, sub_cqs: private.sub_cqs, with_sgid })
    }

    fn cq_made(&self, call: &mut Call<'_>, info: &CqInfo) -> Res<()> {
        // rdma-core before 34 has no doorbell.
        if call.len(UHW_OUT) < CreateCqResp::SIZE {
            call.nic.cq_without_doorbell(info.handle)?;
        }
        let answer = CreateCqResp {
            comp_mask: structs::CQ_RESP_DB_OFF,
            q_mmap_key: info.ring_offset,
            q_mmap_size: info.ring_bytes,
            cq_idx: info.number,
            // libefa 44 unmaps the doorbell by its own address: it must be the start of the page.
            db_off: 0,
            db_mmap_key: info.doorbell_offset,
        };
        call.uhw_out(&answer.bytes())
    }

    fn qp_request(&self, call: &mut Call<'_>, qp_type: u64) -> Res<QpRequest> {
        let kind = match qp_type {
            TYPE_UD => &UD,
            TYPE_DRIVER => &SRD,
            other => {
                return fail(EOPNOTSUPP, format!("QP type {other}: the device has UD (4) and SRD (driver type, 255)"));
            }
        };
        let private = CreateQp::read(&call.uhw_in(QP_MIN, CreateQp::SIZE)?);
        if private.comp_mask != 0 || private.reserved != [0; 5] || private.flags & !structs::QP_UNSOLICITED != 0 {
            return fail(EINVAL, format!("the driver's private request has unknown bits: {private:?}"));
        }
        if qp_type == TYPE_DRIVER && private.driver_qp_type != structs::QP_TYPE_SRD {
            return fail(EOPNOTSUPP, format!("driver QP type {}: only SRD (0)", private.driver_qp_type));
        }
        Ok(QpRequest {
            kind,
            sq_ring_bytes: private.sq_ring_size,
            rq_ring_bytes: private.rq_ring_size,
            unsolicited_write_recv: private.flags & structs::QP_UNSOLICITED != 0,
            sl: private.sl,
        })
    }

    fn qp_made(&self, call: &mut Call<'_>, info: &QpInfo) -> Res<()> {
        let answer = CreateQpResp {
            comp_mask: 0,
            rq_db_offset: info.rq_doorbell.saturating_sub(info.doorbell_page) as u32,
            sq_db_offset: info.sq_doorbell.saturating_sub(info.doorbell_page) as u32,
            llq_desc_offset: 0,
            rq_mmap_key: info.rq_offset,
            rq_mmap_size: info.rq_bytes,
            rq_db_mmap_key: info.doorbell_page,
            sq_db_mmap_key: info.doorbell_page,
            llq_desc_mmap_key: info.sq_offset,
            send_sub_cq_idx: 0,
            recv_sub_cq_idx: 0,
        };
        call.uhw_out(&answer.bytes())
    }
}

const QUERY_HANDLE: u16 = DRIVER_NS;
const QUERY_VALIDITY: u16 = DRIVER_NS + 1;
const QUERY_FIRST_ID: u16 = DRIVER_NS + 2;

/// `EFA_IB_METHOD_MR_QUERY`: which interconnect each kind of access uses.
const MR_QUERY: MethodSpec = MethodSpec {
    object: object::MR,
    method: DRIVER_NS,
    attrs: &[
        required(QUERY_HANDLE, "HANDLE", Kind::Object(object::MR)),
        required(QUERY_VALIDITY, "RESP_IC_ID_VALIDITY", Kind::OUT_U16),
        required(QUERY_FIRST_ID, "RESP_RECV_IC_ID", Kind::OUT_U16),
        required(QUERY_FIRST_ID + 1, "RESP_RDMA_READ_IC_ID", Kind::OUT_U16),
        required(QUERY_FIRST_ID + 2, "RESP_RDMA_RECV_IC_ID", Kind::OUT_U16),
    ],
    uhw: false,
    needs_context: true,
    run: mr_query,
};

/// The interconnects that receives, RDMA READs and incoming RDMA WRITEs use for a region: each where the device has them and the region
/// allows it.
fn mr_query(call: &mut Call<'_>) -> Res<()> {
    let (handle, mr) = call.object(QUERY_HANDLE, object::MR)?;
    call.note(|| format!(" handle={handle}"));
    call.nic.command("query_mr")?;
    let flags = call.nic.mr_query(mr.nic())?.spec.access;
    let own = own(call.nic.profile());
    let uses = [
        (own.recv_ic_id.value, access::LOCAL_WRITE),
        (own.rdma_read_ic_id.value, access::LOCAL_WRITE),
        (own.rdma_recv_ic_id.value, access::REMOTE_WRITE),
    ];
    let mut validity = 0u16;
    for (((id, needed), attr), bit) in uses.into_iter().zip(QUERY_FIRST_ID..).zip([1, 2, 4]) {
        let id = id.0.filter(|_| flags & needed == needed);
        validity |= if id.is_some() { bit } else { 0 };
        call.output(attr, &id.unwrap_or_default().to_ne_bytes())?;
    }
    call.output(QUERY_VALIDITY, &validity.to_ne_bytes())
}
