// SPDX-License-Identifier: MIT OR Apache-2.0
//! The registry: hosts and processes of a fabric, in shared memory.
//!
//! Nothing but atomics, and no lock: an entry belongs to whoever is in its `owner` word. The words that an owner fills
//! in afterwards count only from `state` LIVE (processes) or a `run_id` (hosts) on. All orderings on the claim path are
//! sequentially consistent, because claims of hosts and of slots check each other.

use super::directory::{REGISTRY, prepare_directory};
use super::error::Error;
use super::owner::Owner;
use super::sys::{self, File, Mapping};
use super::{HOSTS, SLOTS};
use std::ffi::CString;
use std::path::{Path, PathBuf};
use std::sync::atomic::{
    AtomicU32, AtomicU64,
    Ordering::{Relaxed, SeqCst},
};

const MAGIC: u64 = u64::from_le_bytes(*b"softnic\0");
/// Counts changes of the layout of registry and rings, and of the packets in them.
const VERSION: u32 = 5;
pub const PROCESSES: usize = HOSTS * SLOTS;

/// A process's state: claimed, but not to be spoken to.
pub const JOINING: u32 = 0;
pub const LIVE: u32 = 1;
/// About to run another program in its place.
pub const AWAY: u32 = 2;

#[repr(C, align(64))]
struct Header {
    magic: AtomicU64,
    version: AtomicU32,
    size: AtomicU32,
    /// The pid namespace that the owners' pids belong to; 0 if unknown.
    pid_namespace: AtomicU64,
    /// Who is about to remove the directory.
    closed_by: AtomicU64,
}

#[repr(C, align(64))]
pub struct Host {
    pub owner: AtomicU64,
    /// 0: none.
    pub run_id: AtomicU64,
    /// 12 bits, never 0 while there is a run.
    pub generation: AtomicU32,
    /// Where the search for a free slot begins, so that slots are not reused at once.
    pub next_slot: AtomicU32,
}

#[repr(C, align(128))]
pub struct Process {
    pub owner: AtomicU64,
    pub generation: AtomicU32,
    pub state: AtomicU32,
    /// Bit per process that has made a ring to this one. `knocks` counts these, and peers that left.
    pub knocking: [AtomicU64; PROCESSES / 64],
    pub knocks: AtomicU32,
    /// How many threads sleep on `wake`, or are about to.
    pub sleeping: AtomicU32,
    pub wake: AtomicU32,
    /// Changes while the process looks for packets: one that is stopped, or frozen, does not.
    pub beats: Apart<AtomicU32>,
}

/// What its owner writes all the time must not lie in a cache line (or in its neighbour, which processors fetch along) that others read
/// with each packet.
#[repr(C, align(128))]
pub struct Apart<T>(pub T);

#[repr(C)]
struct Layout {
    header: Header,
    hosts: [Host; HOSTS],
    processes: [Process; PROCESSES],
}

const SIZE: usize = size_of::<Layout>();

pub struct Registry {
    mapping: Mapping,
    directory: PathBuf,
    /// Device and inode of the file.
    identity: (u64, u64),
}

impl Registry {
    /// Opens the registry of a directory, made if there is none.
    pub fn open(directory: &Path) -> Result<Self, Error> {
        prepare_directory(directory)?;
        match Self::open_existing(directory) {
            Err(e) if e.errno == libc::ENOENT => {
                create(directory)?;
                Self::open_existing(directory)
            }
            other => other,
        }
    }

    pub fn open_existing(directory: &Path) -> Result<Self, Error> {
        let path = directory.join(REGISTRY);
        let failed = |e: i32| Error::call(e, format_args!("can't use the fabric's registry {}", path.display()));
        let file = File::open(&sys::c_path(&path).map_err(failed)?, libc::O_RDWR, 0).map_err(failed)?;
        let status = file.status().map_err(failed)?;
        let advice = "end the runs that use it, or use another --fabric";
        if status.uid != sys::effective_uid() || status.mode & libc::S_IFMT != libc::S_IFREG {
            return Err(Error::new(libc::EPERM, format!("{} is not a file of this user: {advice}", path.display())));
        }
        if status.size != SIZE as u64 {
            let text = format!("{} has {} bytes, this softnic's have {SIZE}: {advice}", path.display(), status.size);
            return Err(Error::new(libc::EPROTO, text));
        }
        let mapping = Mapping::whole(&file, SIZE).map_err(failed)?;
        let registry = Self { mapping, directory: directory.to_path_buf(), identity: (status.device, status.inode) };
        registry.check()?;
        Ok(registry)
    }

    fn check(&self) -> Result<(), Error> {
        let header = &self.layout().header;
        let shown = self.directory.display();
        let (magic, version) = (header.magic.load(SeqCst), header.version.load(SeqCst));
        if magic != MAGIC || version != VERSION {
            let text = format!(
                "the fabric {shown} has version {version}, this softnic speaks {VERSION}: end the runs that use it, or \
                 use another --fabric"
            );
            return Err(Error::new(libc::EPROTO, text));
        }
        let (theirs, ours) = (header.pid_namespace.load(SeqCst), pid_namespace());
        if theirs != 0 && ours != 0 && theirs != ours {
            let text = format!(
                "the fabric {shown} belongs to pid namespace {theirs}, this process is in {ours} and could not tell \
                 who lives: use another --fabric, or remove the directory if its container is gone"
            );
            return Err(Error::new(libc::EXDEV, text));
        }
        Ok(())
    }

    pub fn directory(&self) -> &Path {
        &self.directory
    }

    fn layout(&self) -> &Layout {
        // SAFETY: the mapping is `SIZE` bytes, page-aligned, lives as long as `self`, and holds only atomics, for which
        // every bit pattern is valid and which other processes may change at any time.
        unsafe { self.mapping.base().cast::<Layout>().as_ref() }
    }

    pub fn host(&self, index: usize) -> Option<&Host> {
        self.layout().hosts.get(index)
    }

    pub fn process(&self, index: usize) -> Option<&Process> {
        self.layout().processes.get(index)
    }

    pub fn hosts(&self) -> &[Host] {
        &self.layout().hosts
    }

    /// The processes of one host.
    pub fn row(&self, host: usize) -> &[Process] {
        self.layout().processes.get(host * SLOTS..(host + 1) * SLOTS).unwrap_or(&[])
    }

    /// Whether any process of the host lives.
    pub fn is_inhabited(&self, host: usize) -> bool {
        self.row(host).iter().any(|process| Owner(process.owner.load(SeqCst)).is_alive())
    }

    /// The id that the host has now, if there is a run.
    pub fn host_id(&self, index: usize) -> Option<u16> {
        let host = self.host(index)?;
        if host.run_id.load(SeqCst) == 0 {
            return None;
        }
        Some((host.generation.load(SeqCst) as u16) << 4 | index as u16)
    }

    /// Frees what this process held before an exec that nobody announced: to all others it still lives.
    pub fn release_former_selves(&self, me: Owner) {
        for process in &self.layout().processes {
            let owner = Owner(process.owner.load(SeqCst));
            if owner.same_process(me) && owner != me {
                let _ = process.owner.compare_exchange(owner.0, Owner::NOBODY.0, SeqCst, SeqCst);
            }
        }
    }

    /// Whether this registry still is the one in the directory, and nobody is about to remove it.
    pub fn is_current(&self) -> bool {
        let closed_by = Owner(self.layout().header.closed_by.load(SeqCst));
        if closed_by != Owner::NOBODY && closed_by.is_alive() {
            return false;
        }
        self.has_path()
    }

    /// Takes the right to remove the directory, if nobody uses it. From then on nobody joins it any more.
    pub fn close_if_unused(&self) -> bool {
        let closed_by = &self.layout().header.closed_by;
        let before = closed_by.load(SeqCst);
        if Owner(before).is_alive() || closed_by.compare_exchange(before, Owner::this().0, SeqCst, SeqCst).is_err() {
            return false;
        }
        let host_used = |host: &Host| host.run_id.load(SeqCst) != 0 && Owner(host.owner.load(SeqCst)).is_alive();
        let used = self.layout().hosts.iter().any(host_used) || (0..HOSTS).any(|host| self.is_inhabited(host));
        if used || !self.has_path() {
            closed_by.store(0, SeqCst);
            return false;
        }
        true
    }

    fn has_path(&self) -> bool {
        let status = sys::c_path(&self.directory.join(REGISTRY))
            .and_then(|path| File::open(&path, libc::O_RDONLY, 0))
            .and_then(|file| file.status());
        status.is_ok_and(|status| (status.device, status.inode) == self.identity)
    }
}

impl Process {
    /// Takes the entry if it is free or its owner is dead.
    pub fn claim(&self, me: Owner) -> bool {
        let before = Owner(self.owner.load(SeqCst));
        if before.is_alive() || self.owner.compare_exchange(before.0, me.0, SeqCst, SeqCst).is_err() {
            return false;
        }
        self.state.store(JOINING, SeqCst);
        self.generation.fetch_add(1, SeqCst);
        self.knocking.iter().for_each(|bits| bits.store(0, SeqCst));
        self.sleeping.store(0, SeqCst);
        true
    }

    /// Gives the entry back.
    pub fn release(&self, me: Owner) {
        self.state.store(JOINING, SeqCst);
        let _ = self.owner.compare_exchange(me.0, Owner::NOBODY.0, SeqCst, SeqCst);
    }

    /// Whether the entry is still, or already, what a peer saw.
    pub fn is(&self, owner: Owner, generation: u32) -> bool {
        self.owner.load(SeqCst) == owner.0
            && self.generation.load(SeqCst) == generation
            && self.state.load(SeqCst) == LIVE
    }

    /// Two threads may count at once: one of the two may not show, which is no matter.
    pub fn beat(&self) {
        self.beats.0.store(self.beats.0.load(Relaxed).wrapping_add(1), Relaxed);
    }

    /// Says that the process `from` has made a ring to this one.
    pub fn knock(&self, from: usize) {
        if let Some(bits) = self.knocking.get(from / 64) {
            bits.fetch_or(1 << (from % 64), SeqCst);
            self.knocks.fetch_add(1, SeqCst);
        }
    }

    /// Says that a peer has left.
    pub fn look_around(&self) {
        self.knocks.fetch_add(1, SeqCst);
        self.wake_if_asleep();
    }

    /// Wakes the process if it sleeps. What it is woken for has been stored before.
    pub fn wake_if_asleep(&self) {
        std::sync::atomic::fence(SeqCst);
        self.wake_sleepers();
    }

    /// As `wake_if_asleep`, behind a full barrier.
    pub fn wake_sleepers(&self) {
        if self.sleeping.load(SeqCst) != 0 {
            sys::futex_wake(&self.wake);
        }
    }
}

fn pid_namespace() -> u64 {
    // The text of the link is "pid:[4026531836]".
    let mut text = [0u8; 64];
    let length = sys::read_link(c"/proc/self/ns/pid", &mut text).unwrap_or(0);
    let text = text.get(..length).and_then(|text| std::str::from_utf8(text).ok()).unwrap_or("");
    text.split(['[', ']']).nth(1).and_then(|number| number.parse().ok()).unwrap_or(0)
}

/// Makes the registry under a name of its own and links it in complete, so that nobody sees it half made.
fn create(directory: &Path) -> Result<(), Error> {
    let scratch = directory.join(format!("new-{}-{:08x}", sys::process_id(), sys::random()));
    let failed = |e: i32| Error::call(e, format_args!("can't make a registry in the fabric {}", directory.display()));
    let (scratch, path) =
        (sys::c_path(&scratch).map_err(failed)?, sys::c_path(&directory.join(REGISTRY)).map_err(failed)?);
    let made = fill(&scratch).and_then(|()| match sys::link(&scratch, &path) {
        Err(libc::EEXIST) => Ok(()),
        other => other,
    });
    let _ = sys::remove_file(&scratch);
    made.map_err(failed)
}

fn fill(path: &CString) -> Result<(), i32> {
    let file = File::open(path, libc::O_RDWR | libc::O_CREAT | libc::O_EXCL, 0o600)?;
    file.reserve(0, SIZE as u64)?;
    let mapping = Mapping::whole(&file, SIZE)?;
    // SAFETY: as in `Registry::layout`.
    let header = unsafe { &mapping.base().cast::<Layout>().as_ref().header };
    header.pid_namespace.store(pid_namespace(), SeqCst);
    header.size.store(SIZE as u32, SeqCst);
    header.version.store(VERSION, SeqCst);
    header.magic.store(MAGIC, SeqCst);
    Ok(())
}
