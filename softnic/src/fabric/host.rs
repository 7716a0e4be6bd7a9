// SPDX-License-Identifier: MIT OR Apache-2.0
//! A host of the fabric: one run of programs, whose processes share devices.

use super::error::Error;
use super::owner::Owner;
use super::registry::Registry;
use super::{HOSTS, sys};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering::SeqCst;
use std::time::Duration;

/// How often a claim is tried again that met another's; each time after a millisecond.
pub const ATTEMPTS: u32 = 200;

/// Holds a host for a run, until it is dropped; after that the host lasts as long as a process of it lives.
pub struct HostClaim {
    registry: Arc<Registry>,
    index: usize,
    id: u16,
    me: Owner,
}

impl HostClaim {
    /// Makes a host for the run. `run_id` is any number but 0 that no other run has.
    pub fn create(directory: &Path, run_id: u64) -> Result<Self, Error> {
        if run_id == 0 {
            return Err(Error::new(libc::EINVAL, "run id 0 means none: use a random number"));
        }
        for _ in 0..ATTEMPTS {
            let claim = Self::claim(Arc::new(Registry::open(directory)?), run_id)?;
            if claim.registry.is_current() {
                return Ok(claim);
            }
            drop(claim);
            std::thread::sleep(Duration::from_millis(1));
        }
        Err(Error::new(libc::EBUSY, format!("the fabric {} is being removed: try again", directory.display())))
    }

    pub(super) fn claim(registry: Arc<Registry>, run_id: u64) -> Result<Self, Error> {
        let me = Owner::this();
        // Those of killed runners last: their commands may live, and join yet.
        let hosts = || registry.hosts().iter().enumerate();
        let free = hosts().map(|host| (host, false));
        for ((index, host), orphaned) in free.chain(hosts().map(|host| (host, true))) {
            let before = host.owner.load(SeqCst);
            if (host.run_id.load(SeqCst) != 0) != orphaned
                || Owner(before).is_alive()
                || registry.is_inhabited(index)
                || host.owner.compare_exchange(before, me.0, SeqCst, SeqCst).is_err()
            {
                continue;
            }
            // A process that found the old run may have taken a slot meanwhile. It looks at the owner afterwards, this
            // looks at the slots afterwards: at least one of the two gives way.
            if registry.is_inhabited(index) {
                let _ = host.owner.compare_exchange(me.0, before, SeqCst, SeqCst);
                continue;
            }
            host.run_id.store(0, SeqCst);
            let generation = (host.generation.load(SeqCst) + 1) & 0xfff;
            host.generation.store(generation.max(1), SeqCst);
            host.next_slot.store(0, SeqCst);
            host.run_id.store(run_id, SeqCst);
            let id = registry.host_id(index).unwrap_or(0);
            return Ok(Self { registry, index, id, me });
        }
        let text = format!(
            "the fabric {} has {HOSTS} hosts, which is the most: end a run, or use another --fabric",
            registry.directory().display()
        );
        Err(Error::new(libc::ENOSPC, text))
    }

    pub fn id(&self) -> u16 {
        self.id
    }

    #[cfg(test)]
    pub(super) fn registry(&self) -> &Arc<Registry> {
        &self.registry
    }
}

impl Drop for HostClaim {
    fn drop(&mut self) {
        // A child of the runner that drops its copy is not the owner, and may not have the mapping.
        if sys::process_id() != self.me.pid() {
            return;
        }
        let Some(host) = self.registry.host(self.index) else { return };
        if host.owner.load(SeqCst) != self.me.0 {
            return;
        }
        // Without the run id nobody can join; who joined just before is seen here, and keeps the host.
        let run_id = host.run_id.swap(0, SeqCst);
        if self.registry.is_inhabited(self.index) {
            host.run_id.store(run_id, SeqCst);
        }
        let _ = host.owner.compare_exchange(self.me.0, Owner::NOBODY.0, SeqCst, SeqCst);
    }
}
