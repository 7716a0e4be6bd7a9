// SPDX-License-Identifier: MIT OR Apache-2.0
//! Who has ever answered: it tells a peer that is gone from one that was never there.

use super::host::Gid;
use std::collections::{BTreeSet, VecDeque};

/// Peers that are remembered. Beyond that, who came first is forgotten until it answers again.
const MOST: usize = 1024;

#[derive(Debug, Default)]
pub(super) struct Answered {
    /// Mostly it is the same one again.
    last: Gid,
    known: BTreeSet<Gid>,
    order: VecDeque<Gid>,
}

impl Answered {
    #[inline(always)]
    pub fn note(&mut self, gid: Gid) {
        if gid != self.last {
            self.note_other(gid);
        }
    }

    #[inline(never)]
    fn note_other(&mut self, gid: Gid) {
        self.last = gid;
        if !self.known.insert(gid) {
            return;
        }
        if self.order.len() >= MOST
            && let Some(first) = self.order.pop_front()
        {
            self.known.remove(&first);
        }
        self.order.push_back(gid);
    }

    pub fn knows(&self, gid: &Gid) -> bool {
        self.known.contains(gid)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn so_many_are_remembered_and_the_first_is_forgotten() {
        let gid = |n: usize| Gid((n as u128).to_be_bytes());
        let mut answered = Answered::default();
        for n in 1..=2 * MOST {
            answered.note(gid(n));
            answered.note(gid(n));
        }
        assert_eq!((answered.known.len(), answered.order.len()), (MOST, MOST));
        assert!(!answered.knows(&gid(MOST)) && answered.knows(&gid(MOST + 1)) && answered.knows(&gid(2 * MOST)));
        answered.note(gid(1));
        assert!(answered.knows(&gid(1)) && !answered.knows(&gid(MOST + 1)));
    }
}
