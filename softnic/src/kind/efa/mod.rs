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
use crate::profile::Profile;

pub struct Efa;

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
