// SPDX-License-Identifier: MIT OR Apache-2.0
//! How the processes of softnic find each other and exchange packets.
//!
//! A fabric is a directory in `/dev/shm`: one `registry` file with a table of hosts (one per run) and a table of
//! processes, and one ring file per ordered pair of processes that has exchanged anything. Nothing in it needs to be
//! cleaned up for the next run to work: every claim is a single compare-and-swap of an [`owner::Owner`] (pid and start
//! time), so a process may die between any two instructions and leaves at worst a claim by a dead owner, which the
//! next one takes over. Ring files carry the generations of both ends in their names, so what a dead process left is
//! never read by the successor in its slot.
//!
//! All file access goes through raw system calls: this code runs in processes whose `open`, `close` and `stat` are
//! interposed by softnic itself. No descriptor stays open, so an application that closes all descriptors breaks nothing.

mod directory;
mod endpoint;
mod error;
mod host;
mod owner;
mod registry;
mod ring;
mod sys;
#[cfg(test)]
mod tests;
mod waiter;

pub use directory::{prepare_directory, remove_if_unused};
pub use endpoint::{Event, Fabric, Loan, PeerInfo, Sent};
pub use error::Error;
pub use host::HostClaim;
pub use ring::MAX_PACKET;
pub use waiter::{Sleep, Waiter, Woken};

/// Most hosts (runs) in one fabric.
pub const HOSTS: usize = 16;
/// Most processes of one host: a queue pair number has four bits for its process.
pub const SLOTS: usize = 16;
/// How often, at most, a peer's process is looked up to see whether it still lives.
pub const LIVENESS_MS: u64 = 100;

/// A process in the fabric.
///
/// The host id holds the index in the host table (low 4 bits) and the generation of that entry (12 bits), so an id of a
/// run that has ended names nobody, rather than the run that came after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Place {
    pub host: u16,
    pub slot: u8,
}

impl Place {
    /// The index in the process table; `None` if the slot is out of range.
    fn index(self) -> Option<usize> {
        (usize::from(self.slot) < SLOTS).then(|| usize::from(self.host & 15) * SLOTS + usize::from(self.slot))
    }
}
