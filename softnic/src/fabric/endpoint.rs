// SPDX-License-Identifier: MIT OR Apache-2.0
//! A process in the fabric: joining, sending, receiving, leaving. Who the others are: `peers`.

mod peers;

use super::directory::{End, remove_ring, remove_stale_rings};
use super::error::Error;
use super::host::{ATTEMPTS, HostClaim};
use super::owner::Owner;
use super::registry::{AWAY, LIVE, PROCESSES, Process, Registry};
use super::ring::{self, Lent, Push, Reader, Tag, Writer};
use super::waiter::{Shared, Waiter, Woken};
use super::{Place, SLOTS, sys};
use std::collections::VecDeque;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst, fence};
use std::time::Duration;

/// What became of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sent {
    Ok,
    /// No room: try again later. [`Fabric::has_work`] tells when, and a sleeper is woken for it.
    Full,
    /// No run has this host id (any more).
    NoSuchHost,
    /// The host has no process in this slot.
    NoSuchProcess,
    /// The process that this one spoke with is gone. Its [`Event::Gone`] comes, or has yet to be collected.
    Dead,
    /// `fill` said no.
    Refused,
    /// EMSGSIZE for a packet longer than `MAX_PACKET`; otherwise why no ring could be made (ENOSPC: /dev/shm is full).
    Failed(i32),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// A process that this one exchanged packets with has died or left. All it sent before has been received.
    Gone(Place),
}

/// A process that can be spoken to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PeerInfo {
    pub place: Place,
    pub pid: u32,
}

/// A received packet, where it lies.
pub struct Loan {
    pub place: Place,
    index: usize,
    record: ring::Loan,
}

impl Loan {
    pub fn bytes(&self) -> &[u8] {
        self.record.bytes()
    }
}

/// The other end of rings. It is replaced, never reused, when its slot gets another process.
struct Peer {
    place: Place,
    owner: Owner,
    end: End,
    writer: Option<Writer>,
    reader: Option<Reader>,
    /// The last send said Full.
    blocked: bool,
    /// What it last counted, and for how long this process has watched it count nothing.
    beats: u32,
    silent_ms: u64,
    /// Known to be gone; stays until its event is collected, so that nobody takes its successor for it.
    gone: bool,
}

#[derive(Clone, Copy)]
struct Seen {
    owner: Owner,
    at_ms: u64,
    alive: bool,
}

pub struct Fabric {
    shared: Arc<Shared>,
    place: Place,
    end: End,
    host_claim: Option<HostClaim>,
    peers: Vec<Option<Peer>>,
    /// Indices of the peers that have a reader, and whose turn it is.
    inbound: Vec<usize>,
    turn: usize,
    knocks: u32,
    events: VecDeque<Place>,
    seen: Vec<Seen>,
    checked_ms: u64,
    /// Peers were looked after since `silent_peers` was last asked.
    checked: bool,
    /// Between `hold_calls` and `call`.
    holding: bool,
    /// Who may have to be woken: was sent something, or else has more room in its ring.
    to_call: Vec<(usize, bool)>,
    /// Indices of the peers of which receipts may come, and receipts of those who are gone.
    awaited: Vec<usize>,
    receipts: VecDeque<Tag>,
}

/// Who sleeps is called at once for a packet that is longer: it can begin while the rest follows.
const LONG: usize = 4096;

impl Fabric {
    /// Takes a slot in the host of the run. `make_host`: makes the host if the run has none, and holds it until this
    /// process leaves; where a [`HostClaim`] is held elsewhere, false.
    pub fn join(directory: &Path, run_id: u64, make_host: bool) -> Result<Self, Error> {
        let mut last = Error::new(libc::EBUSY, format!("the fabric {} is being removed", directory.display()));
        for _ in 0..ATTEMPTS {
            let registry = Arc::new(Registry::open(directory)?);
            match Self::try_join(&registry, run_id, make_host)? {
                Ok(fabric) => return Ok(fabric),
                Err(error) => last = error,
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        Err(last)
    }

    /// The inner error is one that passes.
    fn try_join(registry: &Arc<Registry>, run_id: u64, make_host: bool) -> Result<Result<Self, Error>, Error> {
        let found = registry.hosts().iter().position(|host| run_id != 0 && host.run_id.load(SeqCst) == run_id);
        match found {
            Some(index) => Self::take_slot(registry, index, None),
            None if make_host && run_id != 0 => {
                let claim = HostClaim::claim(Arc::clone(registry), run_id)?;
                Self::take_slot(registry, usize::from(claim.id() & 15), Some(claim))
            }
            None => {
                let text = format!("run {run_id:#x} has no host in the fabric {}", registry.directory().display());
                Ok(Err(Error::new(libc::ENOENT, text)))
            }
        }
    }

    fn take_slot(
        registry: &Arc<Registry>,
        index: usize,
        host_claim: Option<HostClaim>,
    ) -> Result<Result<Self, Error>, Error> {
        let passing = |text: &str| Ok(Err(Error::new(libc::EBUSY, text)));
        let (Some(host), Some(id)) = (registry.host(index), registry.host_id(index)) else {
            return passing("the run's host is being given up: try again");
        };
        let owner = host.owner.load(SeqCst);
        let me = Owner::this();
        registry.release_former_selves(me);
        let start = host.next_slot.fetch_add(1, SeqCst) as usize;
        let row = registry.row(index);
        let slot = (0..SLOTS).map(|i| (start + i) % SLOTS).find(|slot| row.get(*slot).is_some_and(|p| p.claim(me)));
        let Some((slot, entry)) = slot.and_then(|slot| Some((slot, row.get(slot)?))) else {
            let text = format!("the host has {SLOTS} processes with open devices, which is the most: end one of them");
            return Err(Error::new(libc::ENOSPC, text));
        };
        // Whoever took the host over meanwhile has either seen the slot's claim or is seen here.
        let now = host.owner.load(SeqCst);
        let taken_over = now != owner && Owner(now) != Owner::NOBODY;
        if taken_over || registry.host_id(index) != Some(id) || !registry.is_current() {
            entry.release(me);
            return passing("the run's host changed while a slot was taken: try again");
        }
        let place = Place { host: id, slot: slot as u8 };
        let end = End { index: index * SLOTS + slot, generation: entry.generation.load(SeqCst) };
        remove_stale_rings(registry.directory(), end);
        let knocks = entry.knocks.load(SeqCst);
        entry.state.store(LIVE, SeqCst);
        let shared =
            Arc::new(Shared { registry: Arc::clone(registry), index: end.index, me, closed: AtomicBool::new(false) });
        Ok(Ok(Self::new(shared, place, end, host_claim, knocks)))
    }

    fn new(shared: Arc<Shared>, place: Place, end: End, host_claim: Option<HostClaim>, knocks: u32) -> Self {
        let unseen = Seen { owner: Owner::NOBODY, at_ms: 0, alive: false };
        Self {
            shared,
            place,
            end,
            host_claim,
            peers: (0..PROCESSES).map(|_| None).collect(),
            inbound: Vec::new(),
            turn: 0,
            knocks,
            events: VecDeque::new(),
            seen: vec![unseen; PROCESSES],
            checked_ms: 0,
            checked: false,
            holding: false,
            to_call: Vec::new(),
            awaited: Vec::new(),
            receipts: VecDeque::new(),
        }
    }

    pub fn place(&self) -> Place {
        self.place
    }

    /// To sleep and to be woken from any thread.
    pub fn waiter(&self) -> Waiter {
        Waiter(Arc::clone(&self.shared))
    }

    /// Sends one packet; never blocks.
    pub fn send(&mut self, to: Place, packet: &[u8]) -> Sent {
        self.send_parts(to, &[packet])
    }

    /// Sends the parts as one packet, without a copy in between.
    pub fn send_parts(&mut self, to: Place, parts: &[&[u8]]) -> Sent {
        let length = parts.iter().map(|part| part.len()).sum();
        self.send_by(to, length, |writer| writer.push(parts))
    }

    /// Sends a packet of this length, which `fill` writes where the receiver will find it; nothing if it says false.
    pub fn send_with(&mut self, to: Place, length: usize, fill: impl FnOnce(&mut [u8]) -> bool) -> Sent {
        self.send_by(to, length, |writer| writer.push_with(length, fill))
    }

    /// As `send_with`. If the receiver gives a receipt, `next_receipt` will tell.
    pub fn send_for_receipt(
        &mut self,
        to: Place,
        tag: Tag,
        length: usize,
        fill: impl FnOnce(&mut [u8]) -> bool,
    ) -> Sent {
        let sent = self.send_by(to, length, |writer| writer.push_for_receipt(tag, length, fill));
        if sent == Sent::Ok
            && let Some(index) = to.index()
            && !self.awaited.contains(&index)
        {
            self.awaited.push(index);
        }
        sent
    }

    /// A packet that was sent for a receipt and has got it. Collect those before events.
    #[inline]
    pub fn next_receipt(&mut self) -> Option<Tag> {
        // Asked several times for each packet; mostly none is waited for.
        if self.awaited.is_empty() && self.receipts.is_empty() {
            return None;
        }
        self.find_receipt()
    }

    fn find_receipt(&mut self) -> Option<Tag> {
        if let Some(tag) = self.receipts.pop_front() {
            return Some(tag);
        }
        let mut place = 0;
        while let Some(index) = self.awaited.get(place).copied() {
            let writer = self.peers.get_mut(index).and_then(Option::as_mut).and_then(|peer| peer.writer.as_mut());
            let (tag, waits) = writer.map_or((None, false), |writer| (writer.next_receipt(), writer.waits()));
            if waits {
                place += 1;
            } else {
                self.awaited.swap_remove(place);
            }
            if tag.is_some() {
                return tag;
            }
        }
        None
    }

    fn is_answered(&self) -> bool {
        let Self { awaited, peers, .. } = self;
        let answered = |index: &usize| {
            let peer = peers.get(*index).and_then(Option::as_ref);
            peer.and_then(|peer| peer.writer.as_ref()).is_some_and(Writer::is_answered)
        };
        !self.receipts.is_empty() || awaited.iter().any(answered)
    }

    fn send_by(&mut self, to: Place, length: usize, push: impl FnOnce(&mut Writer) -> Push) -> Sent {
        let Some(index) = to.index().filter(|_| self.shared.entry().is_some()) else { return Sent::NoSuchProcess };
        if !self.has_ring_to(to, index)
            && let Err(refused) = self.ready_to_send(to, index)
        {
            return refused;
        }
        let Some(Some(peer)) = self.peers.get_mut(index) else { return Sent::NoSuchProcess };
        let Some(writer) = peer.writer.as_mut() else { return Sent::NoSuchProcess };
        let pushed = push(writer);
        peer.blocked = pushed == Push::Full;
        if pushed != Push::Done {
            return self.not_pushed(to, index, pushed);
        }
        if self.holding && length <= LONG {
            self.call_later(index, true);
        } else if let Some(entry) = self.shared.registry.process(index) {
            entry.wake_if_asleep();
        }
        Sent::Ok
    }

    #[cold]
    fn not_pushed(&mut self, to: Place, index: usize, why: Push) -> Sent {
        match why {
            Push::Done => Sent::Ok,
            Push::Full if self.is_alive(to) => Sent::Full,
            Push::Full | Push::Broken => {
                self.lose(index);
                Sent::Dead
            }
            Push::TooLong => Sent::Failed(libc::EMSGSIZE),
            Push::Refused => Sent::Refused,
        }
    }

    /// Whether there is a ring to this very process. One that is known to be gone has none.
    fn has_ring_to(&self, to: Place, index: usize) -> bool {
        let (Some(Some(peer)), Some(entry)) = (self.peers.get(index), self.shared.registry.process(index)) else {
            return false;
        };
        peer.place == to && peer.writer.is_some() && entry.is(peer.owner, peer.end.generation)
    }

    /// Sees to it that there is one.
    #[cold]
    fn ready_to_send(&mut self, to: Place, index: usize) -> Result<(), Sent> {
        if let Some(Some(peer)) = self.peers.get(index) {
            if peer.place == to {
                let entry = self.shared.registry.process(index).ok_or(Sent::NoSuchProcess)?;
                if !peer.gone && !entry.is(peer.owner, peer.end.generation) {
                    self.lose(index);
                    return Err(Sent::Dead);
                }
                if peer.gone {
                    return Err(Sent::Dead);
                }
                if peer.writer.is_some() {
                    return Ok(());
                }
            } else if self.shared.registry.host_id(index / SLOTS) != Some(to.host) {
                return Err(Sent::NoSuchHost);
            } else {
                // The slot's former process is to be mourned first.
                self.lose(index);
                return Err(Sent::Full);
            }
        }
        if self.meet(to.host, index).is_none() {
            return Err(self.why_nobody(to));
        }
        self.make_ring(index)
    }

    fn why_nobody(&self, to: Place) -> Sent {
        if self.shared.registry.host_id(usize::from(to.host & 15)) == Some(to.host) {
            Sent::NoSuchProcess
        } else {
            Sent::NoSuchHost
        }
    }

    /// Makes the entry for the process that is at this index now, if it is a living one of this host.
    fn meet(&mut self, host: u16, index: usize) -> Option<&mut Peer> {
        let entry = self.shared.registry.process(index)?;
        let owner = Owner(entry.owner.load(SeqCst));
        let generation = entry.generation.load(SeqCst);
        let place = Place { host, slot: (index % SLOTS) as u8 };
        let there = self.shared.registry.host_id(index / SLOTS) == Some(host) && entry.is(owner, generation);
        let peer = self.peers.get_mut(index)?;
        if peer.is_none() {
            if !there || !owner.is_alive() {
                return None;
            }
            let end = End { index, generation };
            *peer = Some(Peer {
                place,
                owner,
                end,
                writer: None,
                reader: None,
                blocked: false,
                beats: 0,
                silent_ms: 0,
                gone: false,
            });
        }
        peer.as_mut()
    }

    fn make_ring(&mut self, index: usize) -> Result<(), Sent> {
        let Some(Some(peer)) = self.peers.get_mut(index) else { return Err(Sent::NoSuchProcess) };
        let entry = self.shared.registry.process(index).ok_or(Sent::NoSuchProcess)?;
        let writer = Writer::create(self.shared.registry.directory(), self.end, peer.end).map_err(Sent::Failed)?;
        peer.writer = Some(writer);
        entry.knock(self.end.index);
        Ok(())
    }

    /// Receives the next packet, of all senders in turn, and hands it to `with` where it lies.
    pub fn receive_with<R>(&mut self, with: impl FnOnce(Place, &[u8]) -> R) -> Option<R> {
        let Some(loan) = self.borrow() else {
            self.look_after_peers();
            return None;
        };
        let result = with(loan.place, loan.bytes());
        self.give_back(loan, false);
        Some(result)
    }

    /// The next packet, of all senders in turn, where it lies. Give it back, so that the next one can come; until then this
    /// sender is passed over. Who calls this looks after the peers at times, too.
    pub fn borrow(&mut self) -> Option<Loan> {
        let entry = self.shared.entry()?;
        entry.beat();
        if entry.knocks.load(SeqCst) != self.knocks {
            self.admit();
        }
        let mut left = self.inbound.len();
        while left > 0 {
            left -= 1;
            let next = self.turn.wrapping_add(1);
            self.turn = if next < self.inbound.len() { next } else { 0 };
            let Some(index) = self.inbound.get(self.turn).copied() else { break };
            let Some(Some(peer)) = self.peers.get_mut(index) else { continue };
            let place = peer.place;
            let Some(reader) = peer.reader.as_mut() else { continue };
            match reader.lend() {
                Lent::Packet(record) => return Some(Loan { place, index, record }),
                Lent::Empty if peer.gone && reader.is_empty() => self.bury(index),
                Lent::Empty => {}
                Lent::Broken => {
                    self.lose(index);
                    self.bury(index);
                }
            }
        }
        None
    }

    /// The packet has been read: its room is the sender's again. `receipt`: and the sender shall know that all is well.
    pub fn give_back(&mut self, loan: Loan, receipt: bool) {
        let Loan { index, record, .. } = loan;
        let long = record.bytes().len() > LONG;
        if let Some(Some(peer)) = self.peers.get_mut(index)
            && let Some(reader) = peer.reader.as_mut()
        {
            reader.give_back(record, receipt);
            self.call_later(index, receipt);
            if long || !self.holding {
                self.call_all();
            }
        }
    }

    /// From here to `call`, peers that sleep are not woken for short packets: a barrier for each of those, when its cache lines have yet to
    /// come from the other processor, takes longer than all else.
    pub fn hold_calls(&mut self) {
        self.holding = true;
    }

    /// Wakes who is to be woken since `hold_calls`.
    pub fn call(&mut self) {
        self.holding = false;
        if !self.to_call.is_empty() {
            self.call_all();
        }
    }

    fn call_all(&mut self) {
        // Behind what was stored in the rings: those who go to sleep say so, and look at the rings once more.
        fence(SeqCst);
        let Self { peers, .. } = self;
        while let Some((index, sent)) = self.to_call.pop() {
            let Some(entry) = self.shared.registry.process(index) else { continue };
            let reader = || peers.get(index).and_then(Option::as_ref)?.reader.as_ref();
            if sent || reader().is_some_and(Reader::is_awaited) {
                entry.wake_sleepers();
            }
        }
    }

    #[inline]
    fn call_later(&mut self, index: usize, sent: bool) {
        if self.to_call.last() != Some(&(index, sent)) {
            self.to_call.push((index, sent));
        }
    }

    /// Whether `borrow` or `next_receipt` would find anything, short of a peer that died just now. Cheap.
    pub fn has_packets(&self) -> bool {
        let Some(entry) = self.shared.entry() else { return false };
        if !self.events.is_empty() || entry.knocks.load(SeqCst) != self.knocks {
            return true;
        }
        let Self { inbound, peers, .. } = self;
        let packets = inbound.iter().any(|index| {
            let Some(Some(peer)) = peers.get(*index) else { return false };
            peer.gone || peer.reader.as_ref().is_some_and(|reader| !reader.is_empty())
        });
        packets || self.is_answered()
    }

    /// Receives the next packet into `packet`, whose former contents go.
    pub fn receive(&mut self, packet: &mut Vec<u8>) -> Option<Place> {
        self.receive_with(|place, bytes| {
            packet.clear();
            packet.extend_from_slice(bytes);
            place
        })
    }

    /// Whether there is anything to receive or to collect, or room where there was none. For use between
    /// [`Waiter::announce`] and [`Sleep::wait`](super::Sleep::wait).
    pub fn has_work(&mut self) -> bool {
        let Some(entry) = self.shared.entry() else { return false };
        if !self.events.is_empty() || entry.knocks.load(SeqCst) != self.knocks || self.is_answered() {
            return true;
        }
        self.peers.iter_mut().flatten().any(|peer| {
            let packets = peer.reader.as_ref().is_some_and(|reader| !reader.is_empty());
            packets || (peer.blocked && peer.writer.as_mut().is_some_and(Writer::has_room))
        })
    }

    /// Sleeps until there is work or the time has passed. For a process that needs no lock around its fabric.
    pub fn wait(&mut self, timeout: Option<Duration>) -> Woken {
        let waiter = self.waiter();
        let sleep = waiter.announce();
        let woken = if self.has_work() { Woken::Called } else { sleep.wait(timeout) };
        self.look_after_peers();
        woken
    }

    /// Before an exec: the process keeps pid and start time, but its successor knows nothing of the fabric. Peers take
    /// it for gone.
    pub fn before_exec(&self) {
        if let Some(entry) = self.own_entry() {
            entry.state.store(AWAY, SeqCst);
        }
    }

    /// The exec failed. Peers may have given this process up and dropped its rings, so it comes back as a new one in
    /// its place, for which all peers are gone, too: requests in flight fail on both sides.
    pub fn after_failed_exec(&mut self) {
        let shared = Arc::clone(&self.shared);
        let Some(entry) = self.own_entry() else { return };
        self.end.generation = entry.generation.fetch_add(1, SeqCst).wrapping_add(1);
        for index in 0..PROCESSES {
            self.lose(index);
            self.bury(index);
        }
        remove_stale_rings(shared.registry.directory(), self.end);
        if let Some(entry) = shared.entry() {
            entry.state.store(LIVE, SeqCst);
        }
    }

    /// None in a child between vfork and exec, too: it shares this memory, and is not who is meant.
    fn own_entry(&self) -> Option<&Process> {
        self.shared.entry().filter(|_| sys::process_id() == self.shared.me.pid())
    }

    /// Leaves, as dropping does: packets that this process has not received are lost, peers learn of it.
    pub fn leave(self) {}

    /// In a child after fork: forgets everything, without a system call or the heap's locks. The parent stays as it is.
    /// The memory is not mapped in the child; nothing but this (and dropping) works there until a new join.
    pub fn disown_in_child(&mut self) {
        self.shared.closed.store(true, SeqCst);
        std::mem::forget(std::mem::take(&mut self.peers));
        std::mem::forget(self.host_claim.take());
        self.events.clear();
    }

    fn give_up_place(&mut self) {
        if self.shared.entry().is_none() || sys::process_id() != self.shared.me.pid() {
            return;
        }
        let registry = &self.shared.registry;
        let Some(entry) = registry.process(self.end.index) else { return };
        self.shared.closed.store(true, SeqCst);
        entry.state.store(AWAY, SeqCst);
        for peer in std::mem::take(&mut self.peers).into_iter().flatten() {
            remove_ring(registry.directory(), peer.end, self.end);
            let Some(theirs) = registry.process(peer.end.index) else { continue };
            // One that lives may not have opened it yet, and removes it then.
            if !theirs.is(peer.owner, peer.end.generation) || !peer.owner.is_alive() {
                remove_ring(registry.directory(), self.end, peer.end);
            }
            theirs.look_around();
        }
        // The sleepers of this process use the entry: they go before another process gets it.
        for _ in 0..100 {
            entry.wake_if_asleep();
            if entry.sleeping.load(SeqCst) == 0 {
                break;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        entry.release(self.shared.me);
    }
}

impl Drop for Fabric {
    fn drop(&mut self) {
        self.give_up_place();
        self.host_claim = None;
    }
}
