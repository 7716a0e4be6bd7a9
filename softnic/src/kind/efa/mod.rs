// SPDX-License-Identifier: MIT OR Apache-2.0
//! AWS EFA, as rdma-core's efa provider and the kernel's efa driver know it.

mod calls;
mod cqe;
mod layout;
mod profiles;
mod queues;
pub mod structs;
mod sysfs;
mod transition;
pub mod wqe;

use super::{Calls, Kind, Queues, Sysfs};
use crate::model::types::{QpType, qp_mask as m};
use crate::profile::Profile;

pub struct Efa;

/// What modify takes, whatever the type.
const ATTRIBUTES: u32 =
    m::STATE | m::CUR_STATE | m::EN_SQD_ASYNC_NOTIFY | m::PKEY_INDEX | m::PORT | m::QKEY | m::RNR_RETRY | m::SQ_PSN;

const DATAGRAMS: QpType = QpType {
    name: "Ud",
    datagram: true,
    connected: false,
    ordered: false,
    fail_stop: false,
    reads: false,
    writes: false,
    rnr_retry: 0,
    attributes: ATTRIBUTES,
};

pub static UD: QpType = DATAGRAMS;
pub static SRD: QpType = QpType { name: "Srd", datagram: false, reads: true, writes: true, rnr_retry: 7, ..DATAGRAMS };

impl Kind for Efa {
    fn name(&self) -> &'static str {
        "efa"
    }

    fn provider(&self) -> &'static str {
        "libefa"
    }

    fn profiles(&self) -> &'static [Profile] {
        profiles::PROFILES
    }

    fn default_profile(&self) -> &'static Profile {
        &profiles::P5
    }

    fn queues(&self) -> &'static dyn Queues {
        &queues::Rings
    }

    fn calls(&self) -> &'static dyn Calls {
        &calls::Driver
    }

    fn sysfs(&self, profile: &Profile) -> Sysfs {
        sysfs::of(profile)
    }
}
