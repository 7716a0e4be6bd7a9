// SPDX-License-Identifier: MIT OR Apache-2.0
//! The device's control face over the model: profile values become the structs of the ABI, calls are passed on.

use super::env::Nic;
use super::errno::EIO;
use super::structs::{DeviceResp, PortResp};
use crate::model::host::{ContextId, Errno, Host};
use crate::model::types::{AhInfo, AhSpec, CqInfo, CqSpec, MrInfo, MrSpec, PdInfo, QpAttr, QpInfo, QpQuery, QpSpec};
use crate::model::{Device, PAGE};
use crate::profile::Profile;

/// A device for the length of one uverbs call.
pub struct OnModel<'a> {
    pub device: &'a mut Device,
    pub host: &'a mut dyn Host,
    pub ctx: ContextId,
}

/// `IB_PORT_DOWN` and `IB_PORT_ACTIVE`
const PORT_STATE: [u8; 2] = [1, 4];
/// `IB_PORT_PHYS_STATE_DISABLED` and `IB_PORT_PHYS_STATE_LINK_UP`
const PHYS_STATE: [u8; 2] = [3, 5];

/// `enum ib_mtu`, the greatest that fits: it ends at 4096, so the port's `max_msg_sz` is what counts.
fn mtu_code(bytes: u32) -> u8 {
    match bytes {
        4096.. => 5,
        2048.. => 4,
        1024.. => 3,
        512.. => 2,
        _ => 1,
    }
}

/// Width and speed codes that come nearest to a rate, from below.
fn width_and_speed(gbps: u32) -> (u8, u8) {
    let (x1, x4, x8) = (1, 2, 4);
    let (edr, hdr) = (32, 64);
    match gbps {
        400.. => (x8, hdr),
        200.. => (x4, hdr),
        100.. => (x4, edr),
        50.. => (x1, hdr),
        _ => (x1, edr),
    }
}

impl Nic for OnModel<'_> {
    fn command(&mut self, name: &'static str) -> Result<(), Errno> {
        self.device.command(self.host, name)
    }

    fn is_there(&mut self) -> Result<(), Errno> {
        if self.device.removed() { Err(EIO) } else { Ok(()) }
    }

    fn profile(&mut self) -> &'static Profile {
        self.device.profile()
    }

    fn device(&mut self) -> DeviceResp {
        let p = self.device.profile();
        let sges = p.max_sq_sge.value.min(p.max_rq_sge.value);
        let guid = self.node_guid();
        let mut answer = DeviceResp {
            fw_ver: [0; 8],
            node_guid: guid,
            sys_image_guid: guid,
            max_mr_size: p.max_mr_pages.value.saturating_mul(PAGE),
            // Any power of two from a page up.
            page_size_cap: !(PAGE - 1) & u64::from(u32::MAX),
            vendor_id: 0,
            vendor_part_id: 0,
            hw_ver: 0,
            max_qp: p.max_qp.value,
            max_qp_wr: p.max_sq_wr.value.min(p.max_rq_wr.value),
            device_cap_flags: 0,
            max_sge: u32::from(sges),
            max_sge_rd: u32::from(p.max_rdma_sge.value),
            max_cq: p.max_cq.value,
            max_cqe: p.max_cqe.value,
            max_mr: p.max_mr.value,
            max_pd: p.max_pd.value,
            max_ah: p.max_ah.value,
            max_pkeys: 1,
            local_ca_ack_delay: 0,
            phys_port_cnt: 1,
        };
        p.kind.calls().fill_device(p, &mut answer);
        answer
    }

    fn port(&mut self) -> PortResp {
        let port = self.device.port();
        let (active_width, active_speed) = width_and_speed(port.link_gbps);
        let [down, up] = PORT_STATE;
        let [disabled, link_up] = PHYS_STATE;
        let mtu = mtu_code(port.max_msg_size);
        let mut answer = PortResp {
            max_msg_sz: port.max_msg_size,
            gid_tbl_len: 1,
            pkey_tbl_len: 1,
            state: if port.active { up } else { down },
            phys_state: if port.active { link_up } else { disabled },
            max_mtu: mtu,
            active_mtu: mtu,
            lmc: 1,
            max_vl_num: 1,
            active_width,
            active_speed,
            ..PortResp::default()
        };
        let p = self.device.profile();
        p.kind.calls().fill_port(p, &mut answer);
        answer
    }

    fn gid(&mut self) -> [u8; 16] {
        self.device.gid().0
    }

    fn pd_alloc(&mut self) -> Result<PdInfo, Errno> {
        self.device.pd_alloc(self.host, self.ctx)
    }

    fn pd_free(&mut self, pd: u32) -> Result<(), Errno> {
        self.device.pd_free(self.host, self.ctx, pd)
    }

    fn mr_reg(&mut self, spec: &MrSpec) -> Result<MrInfo, Errno> {
        self.device.mr_reg(self.host, self.ctx, spec)
    }

    fn mr_dereg(&mut self, mr: u32) -> Result<(), Errno> {
        self.device.mr_dereg(self.host, self.ctx, mr).map(|_| ())
    }

    fn mr_query(&mut self, mr: u32) -> Result<MrInfo, Errno> {
        self.device.mr_query(self.ctx, mr)
    }

    fn ah_create(&mut self, spec: &AhSpec) -> Result<AhInfo, Errno> {
        self.device.ah_create(self.host, self.ctx, spec)
    }

    fn ah_destroy(&mut self, ah: u32) -> Result<(), Errno> {
        self.device.ah_destroy(self.host, self.ctx, ah)
    }

    fn cq_create(&mut self, spec: &CqSpec) -> Result<CqInfo, Errno> {
        self.device.cq_create(self.host, self.ctx, spec)
    }

    fn cq_without_doorbell(&mut self, cq: u32) -> Result<(), Errno> {
        self.device.cq_without_doorbell(self.ctx, cq)
    }

    fn cq_arm(&mut self, cq: u32) -> Result<(), Errno> {
        self.device.cq_arm(self.ctx, cq)
    }

    fn cq_destroy(&mut self, cq: u32) -> Result<(), Errno> {
        self.device.cq_destroy(self.host, self.ctx, cq)
    }

    fn qp_create(&mut self, spec: &QpSpec) -> Result<QpInfo, Errno> {
        self.device.qp_create(self.host, self.ctx, spec)
    }

    fn qp_destroy(&mut self, qp: u32) -> Result<(), Errno> {
        self.device.qp_destroy(self.host, self.ctx, qp)
    }

    fn qp_rung(&mut self, qp: u32) -> Result<(), Errno> {
        self.device.qp_rung(self.host, self.ctx, qp)
    }

    fn qp_modify(&mut self, qp: u32, mask: u32, attr: &QpAttr) -> Result<(), Errno> {
        self.device.qp_modify(self.host, self.ctx, qp, mask, attr)
    }

    fn qp_query(&mut self, qp: u32) -> Result<QpQuery, Errno> {
        self.device.qp_query(self.ctx, qp)
    }
}

impl OnModel<'_> {
    /// The interface part of the GID.
    fn node_guid(&self) -> [u8; 8] {
        super::wire::array_at(&self.device.gid().0, 8)
    }
}
