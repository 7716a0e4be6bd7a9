// SPDX-License-Identifier: MIT OR Apache-2.0
//! The completion queue: full rings, and events that are never lost.

use super::endpoint::*;
use super::world::*;
use crate::model::cq::{LONG_PATIENCE_MS, LOOK_MS, PATIENCE_MS, PATIENCE_PASSES, UNREAD_MS};
use crate::model::rng::Rng;
use crate::model::types::*;

/// One device that talks to itself.
fn own(opts: Opts) -> (World, Ep, AhInfo) {
    let mut w = World::new(&Setup::default());
    let a = Ep::new(&mut w, 0, opts);
    let ah = a.ah(&mut w, 0);
    (w, a, ah)
}

#[test]
fn a_full_ring_stalls_and_loses_nothing() {
    let (mut w, mut a, ah) = own(Opts { cqe: 8, ..Opts::default() });
    for id in 0..20 {
        a.recv(&mut w, id, &[(0, 16)]);
        let wr = a.wr(0, 100 + id, ah, &a, 0, 0, 8);
        a.post(&mut w, &wr);
    }
    w.run();
    let mut got = Vec::new();
    for _ in 0..40 {
        got.extend(a.poll(&mut w).map(|c| c.id));
        w.run();
    }
    got.sort_unstable();
    assert_eq!(got, (0..20).chain(100..120).collect::<Vec<u16>>());
    assert_eq!(a.poll(&mut w), None);
}

#[test]
fn a_ring_goes_round_many_times() {
    let (mut w, mut a, ah) = own(Opts { cqe: 4, depth: 4, ..Opts::default() });
    for n in 0..100_000u32 {
        let id = n as u16;
        a.recv(&mut w, id, &[(0, 16)]);
        let wr = a.wr(0, id, ah, &a, 0, 0, 8);
        a.post(&mut w, &wr);
        w.at(0).1.lines.clear();
        let (d, p) = w.at(0);
        d.step(p);
        let got = a.polls(&mut w);
        assert_eq!(got.iter().map(|c| (c.id, c.status)).collect::<Vec<_>>(), [(id, 0), (id, 0)], "round {n}");
    }
}

/// So many requests to itself of which nothing is read; each makes two completions.
fn post_unread(w: &mut World, a: &mut Ep, ah: AhInfo, ids: std::ops::Range<u16>) {
    for id in ids {
        a.recv(w, id, &[(0, 16)]);
        let wr = a.wr(0, 100 + id, ah, a, 0, 0, 8);
        a.post(w, &wr);
    }
    w.run();
}

#[test]
fn who_reads_a_full_ring_has_time() {
    let (mut w, mut a, ah) = own(Opts { cqe: 8, ..Opts::default() });
    // Wherever this counter stands, it may wrap.
    w.at(0).1.passes = u32::MAX - 5000;
    post_unread(&mut w, &mut a, ah, 0..20);
    let mut got = Vec::new();
    while got.len() < 40 {
        let busy = got.len() % 2 == 0;
        let p = w.at(0).1;
        p.passes = p.passes.wrapping_add(if busy { 100 * PATIENCE_PASSES } else { PATIENCE_PASSES - 1 });
        if busy {
            w.wait(PATIENCE_MS - 1);
        } else {
            // The whole process may have been stopped each time.
            for _ in 0..LONG_PATIENCE_MS / LOOK_MS - 1 {
                w.at(0).1.now += 10 * LONG_PATIENCE_MS;
                w.run();
            }
        }
        got.push(a.poll(&mut w).unwrap().id);
        w.run();
    }
    got.sort_unstable();
    assert_eq!(got, (0..20).chain(100..120).collect::<Vec<u16>>());
}

/// One SEND to itself after the other, read in silence, and for each at most so many passes. Returns how many completions came.
fn silent(opts: Opts, rounds: u16, passes: u32, early: bool) -> usize {
    let (mut w, mut a, ah) = own(opts);
    let mut got = 0;
    for round in 0..rounds {
        a.recv(&mut w, round, &[(0, 16)]);
        let wr = a.wr(0, round, ah, &a, 0, 0, 8);
        a.post(&mut w, &wr);
        w.run();
        w.at(0).1.lines.clear();
        let mut new = 0;
        if round == 0 && early {
            new += usize::from(a.poll(&mut w).is_some());
        }
        new += a.reads(&mut w).len();
        for _ in 0..passes / 2 {
            if new == 2 {
                break;
            }
            w.at(0).1.passes += 2;
            w.wait(1);
            new += a.reads(&mut w).len();
        }
        if new < 2 {
            break;
        }
        got += new;
    }
    got
}

#[test]
fn a_ring_that_the_queues_cannot_fill_needs_no_doorbell() {
    let depth = Opts::default().depth;
    for early in [false, true] {
        // The doorbell's 16 bits go round, too.
        let large = Opts { cqe: 2 * depth, ..Opts::default() };
        assert_eq!(silent(large, 33_000, 0, early), 66_000, "rung once: {early}");
    }
}

#[test]
fn who_polls_and_never_rings_is_not_held_up_for_ever() {
    for early in [false, true] {
        let small = Opts { cqe: 64, ..Opts::default() };
        assert!(silent(small.clone(), 500, PATIENCE_PASSES / 2, early) < 70, "rung once: {early}");
        assert_eq!(silent(small, 500, PATIENCE_PASSES, early), 1000, "rung once: {early}");
    }
}

#[test]
fn what_is_held_back_in_vain_is_written_once_and_for_all() {
    for by_time in [false, true] {
        let (mut w, mut a, ah) = own(Opts { cqe: 8, ..Opts::default() });
        for round in 0..10u16 {
            post_unread(&mut w, &mut a, ah, 4 * round..4 * round + 4);
            if round == 1 {
                assert_eq!(a.reads(&mut w).len(), 0, "the doorbell has not said that the first eight were read");
                if by_time {
                    w.wait(LONG_PATIENCE_MS);
                } else {
                    w.at(0).1.passes += PATIENCE_PASSES;
                    w.wait(PATIENCE_MS);
                }
                assert!(w.procs[0].lines.iter().any(|line| line.ends_with("no longer believed")));
            }
            assert_eq!(a.reads(&mut w).len(), 8, "round {round}");
        }
    }
}

#[test]
fn queues_of_pairs_that_are_gone_count_as_well() {
    let (mut w, mut a, ah) = own(Opts { cqe: 128, ..Opts::default() });
    post_unread(&mut w, &mut a, ah, 0..50);
    let (d, p) = w.at(0);
    d.qp_destroy(p, a.ctx, a.qp.handle).unwrap();
    a.qp = d.qp_create(p, a.ctx, &qp_spec(&a.opts, a.pd.handle, a.cq.handle)).unwrap();
    (a.sq_pc, a.rq_pc) = (0, 0);
    w.disturbed();
    a.up(&mut w).unwrap();
    post_unread(&mut w, &mut a, ah, 50..100);
    let mut got: Vec<u16> = Vec::new();
    while let Some(c) = a.poll(&mut w) {
        got.push(c.id);
        w.run();
    }
    got.sort_unstable();
    assert_eq!(got, (0..200).collect::<Vec<u16>>());
}

/// They have no place in a queue, so no ring is too large to be filled by them.
#[test]
fn unsolicited_completions_wait_for_room() {
    for silent in [false, true] {
        let mut w = World::new(&Setup { procs: &[0, 1], ..Setup::default() });
        let opts = Opts { cqe: 64, depth: 32, unsolicited: true, ..Opts::default() };
        let (mut a, mut b) = (Ep::new(&mut w, 0, opts.clone()), Ep::new(&mut w, 1, opts));
        let ah = a.ah(&mut w, 1);
        b.ah(&mut w, 0);
        let mut imms = Vec::new();
        for round in 0..4 {
            for id in 0..100 {
                let mut wr = a.wr(2, id, ah, &b, 0, 0, 8);
                wr.imm = Some(u32::from(100 * round + id));
                a.post(&mut w, &wr);
                w.run();
                assert_eq!(a.one(&mut w), (id, 0));
                if silent {
                    imms.extend(b.reads(&mut w).iter().map(|c| c.imm));
                }
            }
            w.at(1).1.passes += PATIENCE_PASSES;
            w.wait(PATIENCE_MS - 1);
            while let Some(c) = if silent { b.read(&mut w) } else { b.poll(&mut w) } {
                imms.push(c.imm);
                w.run();
            }
            assert!(!silent || round > 0 || imms.len() == 64, "written before its time");
            w.wait(1);
            imms.extend(b.reads(&mut w).iter().map(|c| c.imm));
        }
        assert_eq!(imms, (0..400).collect::<Vec<u32>>(), "silent: {silent}");
    }
}

/// A program that arms, polls until empty, and sleeps on the channel; the device looks at random moments.
fn event_loop(seed: u64) {
    let mut rng = Rng::new(seed);
    let mut w = World::new(&Setup { procs: &[0, 1], ..Setup::default() });
    let mut a = Ep::new(&mut w, 0, Opts::default());
    let mut b = Ep::new(&mut w, 1, Opts { channel: Some(9), ..Opts::default() });
    let ah = a.ah(&mut w, 1);
    let (mut sent, mut got, mut read) = (0u16, 0u16, 0usize);
    let mut sleeping = false;
    let mut armed = false;
    let mut idle = 0;
    while got < 500 {
        // The device may or may not look now.
        let look = |w: &mut World, rng: &mut Rng| {
            if rng.below(3) == 0 {
                w.run();
            }
        };
        if sent < 500 && rng.below(2) == 0 && sent - got < 30 {
            b.recv(&mut w, sent, &[(0, 16)]);
            let wr = a.wr(0, sent, ah, &b, 0, 0, 8);
            a.post(&mut w, &wr);
            sent += 1;
        }
        look(&mut w, &mut rng);
        a.polls(&mut w);
        if sleeping {
            if w.procs[1].comp_events.len() > read {
                read += 1;
                b.cmd_sn = b.cmd_sn.wrapping_add(1);
                sleeping = false;
                armed = false;
                idle = 0;
            } else {
                idle += 1;
                if idle > 1000 {
                    w.wait(UNREAD_MS + 1);
                    assert!(w.procs[1].comp_events.len() > read, "asleep with {got} of {sent}, seed {seed}");
                }
            }
            continue;
        }
        if !armed {
            b.cq_doorbell(&mut w, true);
            armed = true;
            look(&mut w, &mut rng);
        }
        // Poll until empty; each poll that finds something overwrites the doorbell.
        match b.poll(&mut w) {
            Some(_) => got += 1,
            None => sleeping = true,
        }
    }
    assert!(read <= 500, "{read} events");
}

#[test]
fn no_event_is_lost_however_the_device_looks() {
    for seed in 0..60 {
        event_loop(seed);
    }
}

#[test]
fn a_provider_that_tells_nothing_is_not_held_up() {
    let (mut w, mut a, ah) = own(Opts { cqe: 8, ..Opts::default() });
    w.at(0).0.cq_without_doorbell(a.ctx, a.cq.handle).unwrap();
    for round in 0..10u16 {
        for id in 0..4 {
            a.recv(&mut w, id, &[(0, 16)]);
            let wr = a.wr(0, 100 + id, ah, &a, 0, 0, 8);
            a.post(&mut w, &wr);
        }
        w.run();
        assert_eq!(a.polls(&mut w).len(), 8, "round {round}");
        // As if it had not been stored.
        let read = std::mem::take(&mut a.cc);
        a.cq_doorbell(&mut w, false);
        a.cc = read;
    }
}

#[test]
fn one_event_until_it_is_consumed() {
    let mut w = World::new(&Setup::default());
    let mut a = Ep::new(&mut w, 0, Opts { channel: Some(9), ..Opts::default() });
    let ah = a.ah(&mut w, 0);
    a.cq_doorbell(&mut w, true);
    w.run();
    assert_eq!(w.procs[0].comp_events, []);
    for id in 0..5 {
        a.recv(&mut w, id, &[(0, 16)]);
        let wr = a.wr(0, id, ah, &a, 0, 0, 8);
        a.post(&mut w, &wr);
        w.run();
    }
    assert_eq!(w.procs[0].comp_events, [(9, 0xc0)]);
    a.polls(&mut w);
    a.cmd_sn += 1;
    a.cq_doorbell(&mut w, true);
    w.run();
    assert_eq!(w.procs[0].comp_events.len(), 1, "armed with nothing unread");
}

/// As perftest waits: event, arm, and only then one poll, which must find something.
#[test]
fn no_event_comes_early() {
    for looks in [false, true] {
        let mut w = World::new(&Setup::default());
        let mut a = Ep::new(&mut w, 0, Opts { channel: Some(9), ..Opts::default() });
        let ah = a.ah(&mut w, 0);
        a.cq_doorbell(&mut w, true);
        for round in 0..20 {
            let wr = a.wr(2, round, ah, &a, 0, 0, 8);
            a.post(&mut w, &wr);
            w.run();
            if !looks {
                // The "arm" was overwritten by the poll, so the device waits to see whether the program polls by itself.
                w.wait(UNREAD_MS + 1);
            }
            assert_eq!(w.procs[0].comp_events.len(), usize::from(round) + 1);
            a.cmd_sn += 1;
            a.cq_doorbell(&mut w, true);
            if looks {
                w.run();
            }
            assert!(a.poll(&mut w).is_some());
            w.wait(10);
        }
    }
}

#[test]
fn who_sleeps_with_completions_unread_is_woken_soon() {
    for overwritten in [false, true] {
        let mut w = World::new(&Setup::default());
        let mut a = Ep::new(&mut w, 0, Opts { channel: Some(9), ..Opts::default() });
        let ah = a.ah(&mut w, 0);
        for id in 0..2 {
            let wr = a.wr(2, id, ah, &a, 0, 0, 8);
            a.post(&mut w, &wr);
        }
        w.run();
        if overwritten {
            // Another thread's poll, before the device looked.
            a.cq_doorbell(&mut w, true);
            assert!(a.poll(&mut w).is_some());
        } else {
            assert!(a.poll(&mut w).is_some());
            a.cq_doorbell(&mut w, true);
        }
        w.run();
        assert_eq!(w.procs[0].comp_events.len(), 0);
        w.wait(UNREAD_MS + 1);
        assert_eq!(w.procs[0].comp_events.len(), 1);
        w.wait(3 * UNREAD_MS);
        assert_eq!(w.procs[0].comp_events.len(), 1);
    }
}
