// SPDX-License-Identifier: MIT OR Apache-2.0
//! Kinds of devices. All that makes one kind differ from another lies in its folder here: what its provider library writes and reads in
//! memory ([`Queues`]), the private structs, methods and commands of its driver ([`Calls`]), its types of queue pairs
//! ([`QpType`](crate::model::types::QpType)), its profiles, its part of sysfs ([`Sysfs`]).
//! The rest of softnic asks the profile of a device for its kind, and knows none by name. A new kind is a folder beside `efa`, and a line in
//! [`KINDS`]; `tiny`, a kind for tests, shows all that it needs.
#![forbid(unsafe_code)]

pub mod efa;
#[cfg(test)]
pub(crate) mod tiny;

pub use crate::abi::private::Calls;
pub use crate::model::wire::Queues;
use crate::profile::Profile;
use std::fmt;

/// One kind of device.
pub trait Kind: Sync {
    /// Of `--device`.
    fn name(&self) -> &'static str;
    /// How the file name of the provider's library begins: inside of its posting and polling calls softnic works.
    fn provider(&self) -> &'static str;
    fn profiles(&self) -> &'static [Profile];
    /// The one that is meant when none is named.
    fn default_profile(&self) -> &'static Profile;
    fn queues(&self) -> &'static dyn Queues;
    fn calls(&self) -> &'static dyn Calls;
    fn sysfs(&self, profile: &Profile) -> Sysfs;
}

/// What the kernel shows of a kind of device.
pub struct Sysfs {
    /// The name of the kernel's driver.
    pub driver: &'static str,
    /// Vendor and device of a PCI function; None for a device that is none.
    pub pci: Option<(u16, u16)>,
    /// Of the driver's private structs.
    pub abi_version: u32,
    pub node_type: &'static str,
    pub hca_type: &'static str,
    pub link_layer: &'static str,
    pub gid_type: &'static str,
    /// The files of a port and of the device, which are names of `model::counters`. Processes add theirs up in them.
    pub port_counters: &'static [&'static str],
    pub device_counters: &'static [&'static str],
    /// The module that gives the driver memory of GPUs, as /sys/module has it.
    pub peer_module: &'static str,
    /// The file beside the PCI device that tells of it, and what it says with the module; it is an empty line without.
    pub peer_file: Option<(&'static str, &'static str)>,
}

impl Sysfs {
    /// The folder below the device's in which a counter is shown.
    pub fn counter_folder(&self, name: &str) -> Option<&'static str> {
        if self.port_counters.contains(&name) {
            Some("ports/1/hw_counters")
        } else {
            self.device_counters.contains(&name).then_some("hw_counters")
        }
    }
}

/// All kinds.
pub const KINDS: &[&dyn Kind] = &[&efa::Efa];

/// All profiles of all kinds.
pub fn profiles() -> impl Iterator<Item = &'static Profile> {
    KINDS.iter().flat_map(|kind| kind.profiles())
}

/// Finds a profile by kind and name.
pub fn find(kind: &str, name: &str) -> Option<&'static Profile> {
    profiles().find(|p| p.kind.name() == kind && p.name == name)
}

impl fmt::Debug for dyn Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
