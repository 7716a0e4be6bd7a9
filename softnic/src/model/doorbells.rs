// SPDX-License-Identifier: MIT OR Apache-2.0
//! Where the doorbells of queue pairs lie. They are looked at all the time, so those of a context share pages: a page for each would spread
//! them over the same few sets of the processor's cache.

use super::PAGE;
use super::host::{ContextId, Host};

/// What a QP gets: a cache line, so that two that post do not disturb each other.
pub const PLACE: u64 = 64;

#[derive(Debug)]
struct Page {
    ctx: ContextId,
    offset: u64,
    /// A bit for each place that is in use.
    used: u64,
}

#[derive(Debug, Default)]
pub(super) struct Doorbells(Vec<Page>);

impl Doorbells {
    /// A place that reads as zeros: its page and where it is. None: the host has no memory.
    pub fn take(&mut self, host: &mut dyn Host, ctx: ContextId) -> Option<(u64, u64)> {
        let page = match self.0.iter().position(|page| page.ctx == ctx && page.used != u64::MAX) {
            Some(place) => self.0.get_mut(place)?,
            None => {
                let offset = host.shm_alloc(ctx, PAGE)?;
                self.0.push(Page { ctx, offset, used: 0 });
                self.0.last_mut()?
            }
        };
        let place = page.used.trailing_ones();
        page.used |= 1 << place;
        let at = page.offset + u64::from(place) * PLACE;
        host.shm(ctx).write(at, &[0; PLACE as usize]);
        Some((page.offset, at))
    }

    pub fn give_back(&mut self, host: &mut dyn Host, ctx: ContextId, at: u64) {
        let offset = at & !(PAGE - 1);
        let Some(page) = self.0.iter_mut().find(|page| page.ctx == ctx && page.offset == offset) else { return };
        page.used &= !(1 << ((at - offset) / PLACE));
        if page.used == 0 {
            host.shm_free(ctx, offset, PAGE);
            self.0.retain(|page| page.used != 0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::world::Proc;
    use super::*;

    #[test]
    fn places_are_one_for_each_in_pages_of_the_context_and_used_again() {
        let mut host = Proc::default();
        let mut doorbells = Doorbells::default();
        let (one, other) = (ContextId(1), ContextId(2));
        let per_page = (PAGE / PLACE) as usize;
        let mut taken: Vec<_> = (0..3 * per_page).map(|_| doorbells.take(&mut host, one).unwrap()).collect();
        assert!(
            taken.iter().all(|(page, at)| page % PAGE == 0 && (*page..page + PAGE).contains(at) && at % PLACE == 0)
        );
        taken.sort();
        taken.dedup_by_key(|(_, at)| *at);
        assert_eq!(
            (taken.len(), host.memfds[&one].len() as u64 * 8),
            (3 * per_page, 3 * PAGE),
            "no place twice, no page too many"
        );
        doorbells.take(&mut host, other).unwrap();
        assert_eq!(host.memfds[&other].len() as u64 * 8, PAGE, "another context has its own");

        let (page, at) = taken[per_page + 7];
        host.shm(one).store32(at, 0xffff_ffff);
        host.shm(one).store32(at + PLACE - 4, 0xffff_ffff);
        doorbells.give_back(&mut host, one, at);
        assert_eq!(doorbells.take(&mut host, one), Some((page, at)), "what is free is used first");
        assert_eq!((host.shm(one).load32(at), host.shm(one).load32(at + PLACE - 4)), (0, 0), "and reads as zeros");

        for (_, at) in taken {
            doorbells.give_back(&mut host, one, at);
        }
        assert_eq!((host.freed[&one], host.freed.get(&other)), (3 * PAGE, None), "empty pages go back");
    }
}
