// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the driver of one kind of device adds to the calls: private requests (`UHW_IN`), private answers (`UHW_OUT`), methods of its own.

use super::call::Call;
use super::env::Nic;
use super::errno::Res;
use super::objects::Objects;
use super::spec::MethodSpec;
use super::structs::{DeviceResp, PortResp, WriteHeader};
use crate::model::types::{AhInfo, CqInfo, PdInfo, QpInfo, QpType};
use crate::profile::Profile;
use core::fmt;

// For kinds that need them: commands beyond the common ones.
pub use super::cq::REQ_NOTIFY;
pub use super::qp::ring_by_write;
pub use super::write::Command;

/// What a provider says of a CQ in its own words.
pub struct CqRequest {
    pub entry_size: u32,
    pub sub_cqs: u16,
    pub with_sgid: bool,
}

/// What a provider says of a QP in its own words.
pub struct QpRequest {
    pub kind: &'static QpType,
    pub sq_ring_bytes: u32,
    pub rq_ring_bytes: u32,
    pub unsolicited_write_recv: bool,
    pub sl: u8,
}

/// The driver's part of each call. Those that end in `_made` and `_told` write the private answer.
pub trait Calls: Sync {
    /// `enum rdma_driver_id`, which each call must name.
    fn driver_id(&self) -> u32;
    /// Methods beyond the common ones.
    fn methods(&self) -> &'static [&'static MethodSpec] {
        &[]
    }
    /// Write commands beyond the common ones.
    fn commands(&self) -> &'static [Command] {
        &[]
    }
    /// A command that the provider writes to the descriptor with write(2), a doorbell as a rule; `body` is what follows its header. None:
    /// there is no such.
    fn write(&self, _: &WriteHeader, _body: &[u8], _: &Objects, _: &mut dyn Nic) -> Option<Res<()>> {
        None
    }
    /// The name of a method of the driver's own.
    fn method_name(&self, _object: u16, _method: u16) -> Option<&'static str> {
        None
    }

    /// GET_CONTEXT. May refuse a provider that lacks what the device needs.
    fn context_told(&self, call: &mut Call<'_>) -> Res<()>;
    /// The extended `query_device`.
    fn device_told(&self, call: &mut Call<'_>) -> Res<()>;
    /// What of the common answer is the kind's: identity, and what only it has.
    fn fill_device(&self, profile: &Profile, answer: &mut DeviceResp);
    fn fill_port(&self, _profile: &Profile, _answer: &mut PortResp) {}
    /// `enum ib_uverbs_gid_type`.
    fn gid_type(&self) -> u32;

    fn pd_made(&self, call: &mut Call<'_>, info: &PdInfo) -> Res<()>;
    fn ah_made(&self, call: &mut Call<'_>, info: &AhInfo) -> Res<()>;
    fn cq_request(&self, call: &mut Call<'_>) -> Res<CqRequest>;
    fn cq_made(&self, call: &mut Call<'_>, info: &CqInfo) -> Res<()>;
    /// `qp_type` is of `enum ib_uverbs_qp_type`.
    fn qp_request(&self, call: &mut Call<'_>, qp_type: u64) -> Res<QpRequest>;
    fn qp_made(&self, call: &mut Call<'_>, info: &QpInfo) -> Res<()>;
}

impl fmt::Debug for dyn Calls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "driver {}", self.driver_id())
    }
}
