// SPDX-License-Identifier: MIT OR Apache-2.0
//! Everything of one process: devices, open contexts, channels. One lock guards it all.

use crate::channel::Channels;
use crate::counters::CounterFiles;
use crate::env::{EnvOf, Memory};
use crate::gpu::Regions;
use crate::lock::Lock;
use crate::path;
use crate::shared::{Shared, Word};
use crate::sys;
use crate::trace::Trace;
use crate::world::{HostOf, World};
use nic::abi::{OnModel, RDMA_VERBS_IOCTL, Session};
use nic::fabric::{Event, Fabric, LIVENESS_MS, Place, Waiter};
use nic::fault::Faults;
use nic::model::host::{ContextId, Errno};
use nic::model::packet::Packet;
use nic::model::types::{NEVER, Progress};
use nic::model::{Device, DeviceConfig};
use nic::run::config::{self, Config};
use nic::run::tree;
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::atomic::Ordering;

pub struct Context {
    device: usize,
    id: ContextId,
    session: Session,
    /// Descriptors of the program that lead here.
    references: u32,
}

pub struct State {
    devices: Vec<Device>,
    /// Open contexts of each device: one that nobody opened needs no attention.
    opened: Vec<usize>,
    files: Vec<CounterFiles>,
    contexts: Vec<Option<Context>>,
    channels: RefCell<Channels>,
    regions: RefCell<Regions>,
    /// Whether each device has a peer-memory module.
    peer_memory: Vec<bool>,
    pub world: World,
    counted_ms: u64,
    watched: Vec<Watched>,
    /// The last pass found a doorbell rung.
    rung: bool,
    /// Objects came or went: `watched` is to be made anew.
    watch_stale: bool,
    /// What the last pass left behind.
    last: Progress,
    /// Passes that were skipped since, and the one that is not skipped even if nothing happens.
    skipped: u32,
    skip: u32,
    /// When the peers are to be looked after.
    peers_due_ms: u64,
    /// How long a peer may stand still; 0: for ever.
    peer_timeout_ms: u64,
    /// The peers that do, while they are dealt with.
    silent: Vec<Place>,
}

/// A doorbell, and what it said before the last pass.
struct Watched {
    word: Word,
    seen: u32,
    device: usize,
    /// Whose send doorbell it is, if it is one.
    qpn: Option<u32>,
}

/// How much one pass does at most before it lets others at the lock.
const PACKETS: usize = 64;
/// Passes that may be skipped in a row: dead peers are noticed only by a whole one.
const SKIP_AT_MOST: u32 = 256;
const COUNTERS_EVERY_MS: u64 = 500;
/// The fabric does it less often than it is asked to.
const PEERS_EVERY_MS: u64 = LIVENESS_MS / 8;

impl State {
    /// Joins the run. The error is a line for the user.
    pub fn join() -> Result<State, String> {
        let run = path::run_dir().ok_or("not under `softnic run`")?;
        let run = Path::new(OsStr::from_bytes(run.to_bytes()));
        let file = run.join("config");
        let text = std::fs::read_to_string(&file).map_err(|e| format!("{}: {e}", file.display()))?;
        let config = Config::parse(&text)?;
        let fabric = Fabric::join(Path::new(&config.fabric), config.run, false).map_err(|e| e.to_string())?;
        let place = fabric.place();
        let faults = match &config.fault {
            Some(file) => config::fault_rules(file).map_err(|e| format!("--fault {file}: {e}"))?,
            None => String::new(),
        };
        let mut devices = Vec::new();
        let mut files = Vec::new();
        let mut peer_memory = Vec::new();
        for (n, line) in config.devices.iter().enumerate() {
            let profile = nic::kind::find(&line.kind, &line.profile)
                .ok_or_else(|| format!("no profile {} of kind {}", line.profile, line.kind))?;
            devices.push(Device::new(DeviceConfig {
                name: line.name.clone(),
                profile,
                gid: line.gid,
                slot: place.slot,
                seed: seed_of(config.seed, place, n),
                faults: Faults::parse(&faults, n as u32, config.seed)?,
            }));
            let sysfs = profile.kind.sysfs(profile);
            peer_memory.push(line.peermem.serves(&sysfs));
            files.push(CounterFiles::new(&tree::device_dir(run, n, &line.name), &sysfs));
        }
        let mut world = World::new(place.host, place.slot, fabric, devices.len());
        world.trace = config.trace.as_deref().and_then(Trace::open);
        crate::pump::TRACING.store(world.trace.is_some(), Ordering::Relaxed);
        Ok(State {
            opened: vec![0; devices.len()],
            devices,
            files,
            contexts: Vec::new(),
            channels: RefCell::new(Channels::new()),
            regions: RefCell::default(),
            peer_memory,
            world,
            counted_ms: sys::now_ms(),
            watched: Vec::new(),
            rung: false,
            watch_stale: true,
            last: Progress::default(),
            skipped: 0,
            skip: 0,
            peers_due_ms: 0,
            peer_timeout_ms: config.peer_timeout_ms,
            silent: Vec::new(),
        })
    }

    pub fn waiter(&self) -> Option<Waiter> {
        self.world.fabric.as_ref().map(Fabric::waiter)
    }

    /// A new context of a device: its place in the table, and the memfd.
    pub fn open(&mut self, device: usize, cloexec: bool) -> Result<(u16, libc::c_int), Errno> {
        let place = match self.contexts.iter().position(Option::is_none) {
            Some(free) => free,
            None => self.contexts.len(),
        };
        let context = u16::try_from(place).map_err(|_| libc::EMFILE)?;
        let nic = self.devices.get_mut(device).ok_or(libc::ENODEV)?;
        let id = nic.context_open()?;
        let (fd, shared) = match Shared::create(device, cloexec) {
            Ok(made) => made,
            Err(errno) => {
                let mut host = HostOf { world: &mut self.world, channels: &self.channels, device };
                nic.context_close(&mut host, id);
                return Err(errno);
            }
        };
        self.world.maps.push((device, id, context, shared));
        self.watch_stale = true;
        if let Some(opened) = self.opened.get_mut(device) {
            *opened += 1;
        }
        let kind = self.devices.get(device).map(|d| d.profile().kind).ok_or(libc::ENODEV)?;
        let mut session = Session::new(kind.calls());
        session.set_tracing(self.world.trace.is_some());
        let entry = Some(Context { device, id, session, references: 1 });
        match self.contexts.get_mut(place) {
            Some(slot) => *slot = entry,
            None => self.contexts.push(entry),
        }
        Ok((context, fd))
    }

    /// The open context whose memfd this is.
    pub fn by_inode(&self, inode: u64) -> Option<u16> {
        self.world.maps.iter().find(|(.., map)| map.inode == inode).map(|(_, _, context, _)| *context)
    }

    pub fn share(&mut self, context: u16) {
        if let Some(Some(c)) = self.contexts.get_mut(usize::from(context)) {
            c.references += 1;
        }
    }

    /// One descriptor less; with the last one everything of the context is destroyed.
    pub fn release(&mut self, context: u16) {
        let Some(slot) = self.contexts.get_mut(usize::from(context)) else { return };
        let Some(c) = slot else { return };
        c.references = c.references.saturating_sub(1);
        if c.references > 0 {
            return;
        }
        let Some(mut c) = slot.take() else { return };
        if let Some(device) = self.devices.get_mut(c.device) {
            let mut host = HostOf { world: &mut self.world, channels: &self.channels, device: c.device };
            let mut env = EnvOf {
                channels: &self.channels,
                context,
                device: c.device,
                regions: &self.regions,
                peer_memory: self.peer_memory.get(c.device) == Some(&true),
            };
            c.session.close(&mut env, &mut OnModel { device, host: &mut host, ctx: c.id });
            device.context_close(&mut host, c.id);
        }
        if let Some(opened) = self.opened.get_mut(c.device) {
            *opened -= 1;
        }
        self.world.maps.retain(|(d, id, ..)| *d != c.device || *id != c.id);
        self.watch_stale = true;
        self.step();
        self.count(true);
    }

    pub fn share_channel(&mut self, channel: u16) {
        self.channels.get_mut().share(channel);
    }

    pub fn release_channel(&mut self, channel: u16) {
        self.channels.get_mut().release(channel);
    }

    pub fn ioctl(&mut self, context: u16, request: u64, argument: u64) -> Result<(), Errno> {
        let Some(Some(c)) = self.contexts.get_mut(usize::from(context)) else { return Err(libc::EBADF) };
        let Some(device) = self.devices.get_mut(c.device) else { return Err(libc::EIO) };
        if request != u64::from(RDMA_VERBS_IOCTL) {
            sys::say_once(3, format_args!("ioctl {request:#x} on a uverbs file: only RDMA_VERBS_IOCTL is known"));
            return Err(libc::EOPNOTSUPP);
        }
        let index = c.device;
        self.world.now_ms = sys::now_ms();
        let mut host = HostOf { world: &mut self.world, channels: &self.channels, device: index };
        let mut env = EnvOf {
            channels: &self.channels,
            context,
            device: index,
            regions: &self.regions,
            peer_memory: self.peer_memory.get(index) == Some(&true),
        };
        let mut model = OnModel { device, host: &mut host, ctx: c.id };
        let result = c.session.ioctl_at(argument, &mut Memory, &mut env, &mut model);
        complain(&c.session);
        self.trace_call(context, index);
        self.watch_stale = true;
        // A control call can release work (a modify to RTS, a destroy that flushes): do it now rather than at the next post.
        self.step();
        result
    }

    pub fn write(&mut self, context: u16, bytes: &[u8]) -> Result<(), Errno> {
        let Some(Some(c)) = self.contexts.get_mut(usize::from(context)) else { return Err(libc::EBADF) };
        let index = c.device;
        let Some(device) = self.devices.get_mut(index) else { return Err(libc::EIO) };
        self.world.now_ms = sys::now_ms();
        let mut host = HostOf { world: &mut self.world, channels: &self.channels, device: index };
        let result = c.session.write(bytes, &mut OnModel { device, host: &mut host, ctx: c.id });
        complain(&c.session);
        self.trace_call(context, index);
        if result.is_ok() {
            // It rang: what else that has set in motion is done as well.
            self.step();
        }
        result
    }

    /// The memory behind a region of peer memory is freed: as the module's callback does, the region is taken from the device.
    pub fn gpu_memory_freed(&mut self, region: usize) {
        let Some((device, mapped)) = self.regions.borrow().find(region) else { return };
        let keys = self.devices.get_mut(device).map(|device| device.mr_lost(mapped)).unwrap_or_default();
        if let Some(trace) = &mut self.world.trace {
            trace.line(device, &format!("memory of a GPU was freed: keys {keys:#x?} are taken from the device"));
        }
    }

    fn trace_call(&mut self, context: u16, device: usize) {
        let Some(Some(c)) = self.contexts.get(usize::from(context)) else { return };
        if let Some(trace) = &mut self.world.trace {
            trace.line(device, &c.session.line());
        }
    }

    /// Whether a pass would find nothing to do; costs far less than one.
    pub fn is_quiet(&mut self) -> bool {
        self.skipped += 1;
        if self.skipped >= self.skip || self.watch_stale {
            return false;
        }
        self.watched.iter().all(|w| w.word.load() == w.seen)
            && !self.world.fabric.as_ref().is_some_and(Fabric::has_packets)
            && (self.last.wake_at_ms == NEVER || sys::now_ms() < self.last.wake_at_ms)
    }

    /// Whether the last pass left a CQ armed, and something that should not wait long.
    pub fn has_left(&self, armed: bool, restless: bool) -> bool {
        (self.last.armed, self.last.restless) == (armed, restless)
    }

    /// What the last pass left, if there was nothing to do since.
    pub fn left(&self) -> Progress {
        Progress { busy: false, wake_at_ms: NEVER, ..self.last }
    }

    pub fn was_rung(&self) -> bool {
        self.rung
    }

    /// Notes what the doorbells say, before the devices look at them.
    fn watch(&mut self) {
        self.rung = false;
        if std::mem::take(&mut self.watch_stale) {
            self.watched.clear();
            let tracing = self.world.trace.is_some();
            for (n, device) in self.devices.iter().enumerate() {
                device.doorbells(tracing, &mut |ctx, offset, qpn| {
                    let map = self.world.maps.iter().find(|(d, c, ..)| *d == n && *c == ctx);
                    if let Some(word) = map.and_then(|(.., map)| map.word(offset)) {
                        self.watched.push(Watched { word, seen: 0, device: n, qpn });
                    }
                });
            }
        }
        for w in &mut self.watched {
            let says = w.word.load();
            if says == w.seen {
                continue;
            }
            (self.rung, w.seen) = (true, says);
            if let (Some(device), Some(qpn)) = (self.devices.get_mut(w.device), w.qpn) {
                device.rung(qpn);
            }
        }
    }

    /// One pass: what was posted, packets in, dead peers, what else is due, packets between devices.
    pub fn step(&mut self) -> Progress {
        let steps = std::mem::take(&mut self.skipped).max(1);
        let fresh = self.watch_stale;
        self.watch();
        if let Some(fabric) = &mut self.world.fabric {
            fabric.hold_calls();
        }
        self.world.now_ms = sys::now_ms();
        self.last = Progress::default();
        // What was posted goes out first: somebody waits for it.
        let rung = fresh || self.rung;
        if rung {
            self.work(steps, fresh);
        }
        let received = self.receive();
        if received || !rung {
            let Progress { busy, more, .. } = self.last;
            self.last = Progress { busy: busy || received, more, ..Progress::default() };
            self.work(if rung { 0 } else { steps }, false);
        }
        self.deliver();
        if let Some(fabric) = &mut self.world.fabric {
            fabric.call();
        }
        if self.channels.get_mut().flush() {
            self.last.wake_at_ms = self.last.wake_at_ms.min(self.world.now_ms + 1);
        }
        self.skip = match self.last {
            Progress { more: true, .. } => 0,
            Progress { restless: true, held, .. } => u32::from(held),
            _ => SKIP_AT_MOST + 1,
        };
        self.last
    }

    /// The work of each device that has any. `fresh`: all doorbells are looked at.
    fn work(&mut self, steps: u32, fresh: bool) {
        let tracing = self.world.trace.is_some();
        for (n, device) in self.devices.iter_mut().enumerate() {
            if !fresh && device.is_calm(tracing) || self.opened.get(n) == Some(&0) {
                continue;
            }
            let mut host = HostOf { world: &mut self.world, channels: &self.channels, device: n };
            device.count_steps(steps);
            let progress = if fresh { device.step(&mut host) } else { device.work(&mut host) };
            self.last.add(&progress);
        }
    }

    /// Packets in, and who died. True if anything came.
    fn receive(&mut self) -> bool {
        let now = self.world.now_ms;
        let mut received = false;
        for _ in 0..PACKETS {
            let Some(loan) = self.world.fabric.as_mut().and_then(Fabric::borrow) else { break };
            received = true;
            // What the sender had taken before it sent this.
            self.take_receipts();
            let bytes = loan.bytes();
            let receipt = match Packet::decode(bytes) {
                Some(packet) => self.hand_over_for_receipt(&packet),
                None => {
                    sys::say_once(5, format_args!("fabric: a packet of {} bytes makes no sense", bytes.len()));
                    false
                }
            };
            if let Some(fabric) = &mut self.world.fabric {
                fabric.give_back(loan, receipt);
            }
        }
        if now >= self.peers_due_ms {
            self.peers_due_ms = now + PEERS_EVERY_MS;
            if let Some(fabric) = &mut self.world.fabric {
                fabric.look_after_peers();
            }
            received |= self.give_up_silent_peers();
        }
        // What a peer has taken before it died counts.
        received |= self.take_receipts();
        received | self.mourn()
    }

    #[inline(always)]
    fn take_receipts(&mut self) -> bool {
        let mut taken = false;
        while let Some((n, request)) = self.world.fabric.as_mut().and_then(Fabric::next_receipt) {
            taken = true;
            self.take_receipt(usize::from(n), request);
        }
        taken
    }

    fn take_receipt(&mut self, n: usize, request: u64) {
        let Some(device) = self.devices.get_mut(n) else { return };
        let mut host = HostOf { world: &mut self.world, channels: &self.channels, device: n };
        device.receipt(&mut host, request);
    }

    /// True if a message was taken and its sender is to know that all is well.
    fn hand_over_for_receipt(&mut self, packet: &Packet<'_>) -> bool {
        let Some(n) = self.world.local_device(packet.dest.gid) else { return false };
        let Some(device) = self.devices.get_mut(n) else { return false };
        let mut host = HostOf { world: &mut self.world, channels: &self.channels, device: n };
        device.receive_for_receipt(&mut host, packet)
    }

    /// Requests to processes that have not moved for too long end here. True if there were any.
    fn give_up_silent_peers(&mut self) -> bool {
        if self.peer_timeout_ms > 0
            && let Some(fabric) = &mut self.world.fabric
        {
            self.silent.extend(fabric.silent_peers(self.peer_timeout_ms));
        }
        let found = !self.silent.is_empty();
        for place in self.silent.drain(..) {
            for (n, device) in self.devices.iter_mut().enumerate() {
                let mut host = HostOf { world: &mut self.world, channels: &self.channels, device: n };
                device.peer_silent(&mut host, &mut |to| World::verdict(place, to).is_some());
            }
        }
        found
    }

    /// Requests to processes that died end here. True if there were any.
    fn mourn(&mut self) -> bool {
        let mut died = false;
        while let Some(Event::Gone(place)) = self.world.fabric.as_mut().and_then(Fabric::next_event) {
            for (n, device) in self.devices.iter_mut().enumerate() {
                let mut host = HostOf { world: &mut self.world, channels: &self.channels, device: n };
                device.peer_gone(&mut host, &mut |to| World::verdict(place, to));
            }
            died = true;
        }
        died
    }

    fn deliver(&mut self) {
        for _ in 0..PACKETS {
            let Some(packet) = self.world.outbox.pop_front() else { return };
            // Who gets it has had its step.
            (self.last.busy, self.last.more) = (true, true);
            self.hand_over(&packet);
        }
    }

    fn hand_over(&mut self, packet: &Packet<'_>) {
        let Some(n) = self.world.local_device(packet.dest.gid) else { return };
        let Some(device) = self.devices.get_mut(n) else { return };
        let mut host = HostOf { world: &mut self.world, channels: &self.channels, device: n };
        device.receive(&mut host, packet);
    }

    /// Brings the hw_counters files up to date, at times or `now`.
    pub fn count(&mut self, now: bool) {
        let ms = sys::now_ms();
        if now || ms.saturating_sub(self.counted_ms) >= COUNTERS_EVERY_MS {
            self.counted_ms = ms;
            crate::guard::look_after();
            self.write_counters();
        }
    }

    pub fn write_counters(&mut self) {
        for (files, device) in self.files.iter_mut().zip(&self.devices) {
            files.update(device.counters());
        }
    }

    /// The process ends or becomes another program: peers should not wait until they notice.
    pub fn leave(&mut self) {
        self.count(true);
        self.world.fabric = None;
    }
}

/// Tells what the program asked for and softnic doesn't have: each thing once, and not more of them than can be read.
fn complain(session: &Session) {
    static TOLD: Lock<BTreeSet<String>> = Lock::new(BTreeSet::new());
    const MOST: usize = 32;
    let Some(line) = session.complaint() else { return };
    let mut told = TOLD.lock();
    if told.len() >= MOST || !told.insert(line.clone()) {
        return;
    }
    sys::say(format_args!("{line}"));
    if told.len() == MOST {
        sys::say(format_args!("further unknown calls are not told; --trace shows them all"));
    }
}

/// Each device of each process draws its own numbers. 0 stays 0: everything in order.
fn seed_of(seed: u64, place: Place, device: usize) -> u64 {
    if seed == 0 {
        return 0;
    }
    let own = u64::from(place.host) << 24 | (device as u64) << 8 | u64::from(place.slot);
    (seed ^ own.wrapping_mul(0x9e37_79b9_7f4a_7c15)).max(1)
}
