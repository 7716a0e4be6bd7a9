// SPDX-License-Identifier: MIT OR Apache-2.0
//! Who the peers are: those that come, those that live, and those that are gone.

use super::super::directory::remove_ring;
use super::super::owner::Owner;
use super::super::registry::{LIVE, PROCESSES};
use super::super::ring::Reader;
use super::super::{LIVENESS_MS, Place, SLOTS, sys};
use super::{Event, Fabric, Peer, PeerInfo, Seen};
use std::sync::Arc;
use std::sync::atomic::Ordering::{Relaxed, SeqCst};

impl Fabric {
    /// Opens the rings that others have made to this process.
    pub(super) fn admit(&mut self) {
        let shared = Arc::clone(&self.shared);
        let Some(entry) = shared.entry() else { return };
        self.knocks = entry.knocks.load(SeqCst);
        self.lose_those_who_left();
        for (word, bits) in entry.knocking.iter().enumerate() {
            let mut taken = bits.swap(0, SeqCst);
            while taken != 0 {
                let index = word * 64 + taken.trailing_zeros() as usize;
                taken &= taken - 1;
                if !self.admit_one(index) {
                    // Its predecessor is still here: once that is collected, look again.
                    bits.fetch_or(1 << (index % 64), SeqCst);
                }
            }
        }
    }

    /// Who leaves in order says so, which costs less to notice than a death.
    pub(super) fn lose_those_who_left(&mut self) {
        for index in 0..PROCESSES {
            let Some(Some(peer)) = self.peers.get(index) else { continue };
            let entry = self.shared.registry.process(index);
            if !entry.is_some_and(|entry| entry.is(peer.owner, peer.end.generation)) {
                self.lose(index);
            }
        }
    }

    /// False if it is to be tried again.
    fn admit_one(&mut self, index: usize) -> bool {
        let Some(host) = self.shared.registry.host_id(index / SLOTS) else { return true };
        let Some(entry) = self.shared.registry.process(index) else { return true };
        if let Some(Some(peer)) = self.peers.get(index)
            && (peer.gone || !entry.is(peer.owner, peer.end.generation))
        {
            self.lose(index);
            return false;
        }
        let (directory, mine) = (self.shared.registry.directory().to_path_buf(), self.end);
        let known = self.peers.get(index).is_some_and(Option::is_some);
        // One that died before it was met is gone with all it sent, as if it had died before it sent.
        let Some(peer) = self.meet(host, index) else { return true };
        if peer.reader.is_some() {
            return true;
        }
        match Reader::open(&directory, peer.end, mine) {
            Ok(reader) => {
                peer.reader = Some(reader);
                self.inbound.push(index);
            }
            // A knock of the slot's former process; nothing has been exchanged with this one.
            Err(_) if !known => {
                if let Some(peer) = self.peers.get_mut(index) {
                    *peer = None;
                }
            }
            Err(_) => {}
        }
        true
    }

    /// Notes that a peer is gone. What it sent is still received, be it an answer as its first and last word.
    pub(super) fn lose(&mut self, index: usize) {
        let Some(Some(peer)) = self.peers.get_mut(index) else { return };
        if peer.gone {
            return;
        }
        peer.gone = true;
        peer.blocked = false;
        if let Some(mut writer) = peer.writer.take() {
            self.receipts.extend(std::iter::from_fn(|| writer.next_receipt()));
        }
        let directory = self.shared.registry.directory();
        if peer.reader.is_none()
            && let Ok(reader) = Reader::open(directory, peer.end, self.end)
        {
            peer.reader = Some(reader);
            self.inbound.push(index);
        }
        remove_ring(directory, self.end, peer.end);
        remove_ring(directory, peer.end, self.end);
        if peer.reader.as_ref().is_none_or(Reader::is_empty) {
            self.bury(index);
        }
    }

    /// A lost peer has nothing more to say: its event can be collected.
    pub(super) fn bury(&mut self, index: usize) {
        let Some(Some(peer)) = self.peers.get_mut(index) else { return };
        peer.reader = None;
        let place = peer.place;
        self.inbound.retain(|inbound| *inbound != index);
        if !self.events.contains(&place) {
            self.events.push_back(place);
        }
    }

    /// The next thing that happened to a peer. Collect after receiving.
    pub fn next_event(&mut self) -> Option<Event> {
        let place = self.events.pop_front()?;
        if let Some(peer) = place.index().and_then(|index| self.peers.get_mut(index)) {
            *peer = None;
        }
        // A successor may have knocked already.
        self.knocks = self.knocks.wrapping_sub(1);
        Some(Event::Gone(place))
    }

    /// Whether a process is there and lives. Asks the kernel at most every `LIVENESS_MS`.
    pub fn is_alive(&mut self, place: Place) -> bool {
        if self.shared.entry().is_none() {
            return false;
        }
        let registry = &self.shared.registry;
        let Some((index, entry)) = place.index().and_then(|index| Some((index, registry.process(index)?))) else {
            return false;
        };
        if registry.host_id(index / SLOTS) != Some(place.host) || entry.state.load(SeqCst) != LIVE {
            return false;
        }
        let owner = Owner(entry.owner.load(SeqCst));
        let Some(seen) = self.seen.get_mut(index) else { return false };
        let now = sys::coarse_ms();
        if seen.owner != owner || now.saturating_sub(seen.at_ms) >= LIVENESS_MS {
            *seen = Seen { owner, at_ms: now, alive: owner.is_alive() };
        }
        seen.alive
    }

    /// Looks after the peers, at most every `LIVENESS_MS`. Done by each `receive` that finds nothing.
    pub fn look_after_peers(&mut self) {
        let now = sys::coarse_ms();
        let passed = now.saturating_sub(self.checked_ms);
        if passed < LIVENESS_MS {
            return;
        }
        self.checked_ms = now;
        self.listen_to_beats(passed.min(2 * LIVENESS_MS));
        for index in 0..PROCESSES {
            let Some(Some(peer)) = self.peers.get(index) else { continue };
            let (place, gone) = (peer.place, peer.gone);
            if !gone && !self.is_alive(place) {
                self.lose(index);
            }
        }
        self.lose_those_who_left();
    }

    /// Who counts on lives. Time that this process did not watch is no evidence, so that two that are stopped and continued together
    /// don't give each other up: each look counts for little more than the usual time between two.
    fn listen_to_beats(&mut self, passed_ms: u64) {
        self.checked = true;
        for peer in self.peers.iter_mut().flatten() {
            let beats = self.shared.registry.process(peer.end.index).map_or(0, |entry| entry.beats.0.load(Relaxed));
            peer.silent_ms = if beats == peer.beats { peer.silent_ms + passed_ms } else { 0 };
            peer.beats = beats;
        }
    }

    /// The peers that live and have not moved for so long; nothing before they have been looked after again.
    pub fn silent_peers(&mut self, for_ms: u64) -> impl Iterator<Item = Place> {
        let news = std::mem::take(&mut self.checked);
        let silent = move |peer: &&Peer| news && !peer.gone && peer.silent_ms >= for_ms;
        self.peers.iter().flatten().filter(silent).map(|peer| peer.place)
    }

    /// The other processes that are there now.
    pub fn peers(&mut self) -> Vec<PeerInfo> {
        let mut found = Vec::new();
        if self.shared.entry().is_none() {
            return found;
        }
        let me = self.end.index;
        for index in (0..PROCESSES).filter(|index| *index != me) {
            let Some(host) = self.shared.registry.host_id(index / SLOTS) else { continue };
            let place = Place { host, slot: (index % SLOTS) as u8 };
            if self.is_alive(place)
                && let Some(entry) = self.shared.registry.process(index)
            {
                found.push(PeerInfo { place, pid: Owner(entry.owner.load(SeqCst)).pid() });
            }
        }
        found
    }
}
