// SPDX-License-Identifier: MIT OR Apache-2.0
//! Receiver not ready, flushes, and SRD's freedom of order.

use super::endpoint::*;
use super::world::*;
use crate::model::packet::Kind;
use crate::model::send::Taking;
use crate::model::types::*;

fn two(seed: u64, opts: Opts) -> (World, Ep, Ep, AhInfo) {
    let mut w = World::new(&Setup { procs: &[0, 1], seed, ..Setup::default() });
    let a = Ep::new(&mut w, 0, opts.clone());
    let b = Ep::new(&mut w, 1, opts);
    let ah = a.ah(&mut w, 1);
    b.ah(&mut w, 0);
    (w, a, b, ah)
}

#[test]
fn not_ready_waits_for_ever_by_default_and_ends_by_a_receive_request() {
    for imm in [false, true] {
        let (mut w, mut a, mut b, ah) = two(0, Opts::default());
        let mut wr = a.wr(if imm { 2 } else { 0 }, 1, ah, &b, 0, 0x4_0000, 8);
        wr.imm = imm.then_some(3);
        a.post(&mut w, &wr);
        w.wait(100);
        assert_eq!((a.polls(&mut w), b.polls(&mut w)), (vec![], vec![]));
        b.recv(&mut w, 2, &[(0, 100)]);
        w.run();
        assert_eq!((a.one(&mut w), b.one(&mut w)), ((1, 0), (2, 0)), "without waiting for a timer");
    }
}

#[test]
fn not_ready_ends_after_the_retries_that_were_set() {
    for retries in [0u8, 1, 3, 6] {
        let (mut w, mut a, b, ah) = two(0, Opts { rnr_retry: Some(retries), ..Opts::default() });
        let wr = a.wr(0, 1, ah, &b, 0, 0, 8);
        a.post(&mut w, &wr);
        let mut ms = 0;
        w.run();
        while ms < 50 {
            if let Some(wc) = a.poll(&mut w) {
                assert_eq!((wc.id, wc.status), (1, 10));
                break;
            }
            w.wait(1);
            ms += 1;
        }
        assert_eq!(ms, u64::from(retries), "one timer for each retry");
    }
}

/// Posts so many requests, each when the one before has ended. Answers how many did not go out at once.
fn held_one_by_one(w: &mut World, a: &mut Ep, b: &mut Ep, ah: AhInfo, count: u16) -> u16 {
    let mut held = 0;
    for id in 0..count {
        b.recv(w, id, &[(0, 100)]);
        w.run();
        let wr = a.wr(0, id, ah, b, 0, 0, 8);
        a.post(w, &wr);
        let (device, process) = w.at(0);
        device.step(process);
        held += u16::from(process.outgoing.is_empty());
        w.disturbed();
        w.run();
        assert_eq!((a.one(w), b.one(w)), ((id, 0), (id, 0)));
    }
    held
}

#[test]
fn who_waits_for_each_request_before_the_next_is_not_held_up_for_long() {
    for seed in 1..10 {
        let (mut w, mut a, mut b, ah) = two(seed, Opts::default());
        assert!(held_one_by_one(&mut w, &mut a, &mut b, ah, 64) > 0, "seed {seed}: at first it can't be known");
        assert_eq!(held_one_by_one(&mut w, &mut a, &mut b, ah, 200), 0, "seed {seed}");
        for id in 0..2 {
            b.recv(&mut w, id, &[(0, 100)]);
            let wr = a.wr(0, id, ah, &b, 0, 0, 8);
            a.post(&mut w, &wr);
            let (device, process) = w.at(0);
            device.step(process);
        }
        w.disturbed();
        w.run();
        assert_eq!((a.polls(&mut w).len(), b.polls(&mut w).len()), (2, 2));
        assert!(held_one_by_one(&mut w, &mut a, &mut b, ah, 64) > 0, "seed {seed}: two have met");
    }
}

#[test]
fn who_posts_before_it_has_read_the_completion_of_the_last_may_find_another_order() {
    for seed in 1..10 {
        let mut w = World::new(&Setup { seed, ..Setup::default() });
        let mut a = Ep::new(&mut w, 0, Opts::default());
        let ah = a.ah(&mut w, 0);
        let mut held = 0;
        // To itself: each has ended before the next is posted, if it is not held back. From 100 on every second is posted too early.
        for id in 0..300u16 {
            if id < 100 || id % 2 == 0 {
                w.run();
                a.polls(&mut w);
            }
            a.recv(&mut w, id, &[(0, 100)]);
            let wr = a.wr(0, id, ah, &a, 0, 0, 8);
            a.post(&mut w, &wr);
            let (device, process) = w.at(0);
            let sent = device.counters().send_wrs;
            device.step(process);
            held += u16::from(id >= 100 && device.counters().send_wrs == sent);
            w.disturbed();
        }
        assert!(held > 0, "seed {seed}");
    }
}

/// How often a look at one QP that was rung reads shared memory, with so many others.
fn looks_among(others: usize) -> u32 {
    let (mut w, mut a, mut b, ah) = two(0, Opts::default());
    let idle: Vec<_> = (0..others).map(|_| Ep::new(&mut w, 0, Opts::default())).collect();
    b.recv(&mut w, 1, &[(0, 100)]);
    w.run();
    w.at(0).1.untraced = true;
    let wr = a.wr(0, 7, ah, &b, 0, 0, 8);
    a.post(&mut w, &wr);
    let (device, process) = w.at(0);
    process.looks.set(0);
    device.rung(a.qp.qpn);
    assert!(device.work(process).busy);
    let looks = process.looks.get();
    assert!(device.is_calm(false) && process.outgoing.len() == 1, "it went out, and nothing is left to do");
    w.disturbed();
    w.run();
    assert_eq!((a.one(&mut w), b.one(&mut w), idle.len()), ((7, 0), (1, 0), others));
    looks
}

#[test]
fn a_look_at_a_qp_that_was_rung_looks_at_no_other() {
    assert_eq!(looks_among(50), looks_among(0));
}

#[test]
fn a_receipt_ends_a_send_as_an_answer_does_once() {
    let (mut w, mut a, mut b, ah) = two(0, Opts::default());
    b.recv(&mut w, 1, &[(0, 100)]);
    let wr = a.wr(0, 7, ah, &b, 0, 0, 8);
    a.post(&mut w, &wr);
    let (device, process) = w.at(0);
    device.step(process);
    let sent = process.outgoing.pop_front().unwrap();
    assert!(process.outgoing.is_empty());
    for number in [sent.request + 1, sent.request, sent.request] {
        let received = device.counters().rx_pkts;
        device.receipt(process, number);
        assert_eq!(device.counters().rx_pkts, received + 1);
    }
    w.disturbed();
    w.run();
    assert_eq!(a.polls(&mut w).iter().map(|c| (c.id, c.status)).collect::<Vec<_>>(), [(7, 0)]);
}

#[test]
fn a_receipt_takes_the_place_of_the_answer_that_all_is_well() {
    let (mut w, mut a, mut b, ah) = two(0, Opts::default());
    b.recv(&mut w, 1, &[(0, 100)]);
    for id in 0..2 {
        let wr = a.wr(0, id, ah, &b, 0, 0, 8);
        a.post(&mut w, &wr);
    }
    let (device, process) = w.at(0);
    device.step(process);
    let sent = std::mem::take(&mut process.outgoing);
    let (device, process) = w.at(1);
    let receipts: Vec<_> = sent.iter().map(|packet| device.receive_for_receipt(process, packet)).collect();
    assert_eq!(receipts, [true, false], "there was one receive request");
    let answers: Vec<_> = process.outgoing.iter().map(|p| (p.request, p.kind)).collect();
    assert_eq!(answers, [(sent[1].request, Kind::Ack { status: 10 })]);
    assert_eq!(device.counters().tx_pkts, 2, "the receipt is an answer, too");
}

#[test]
fn many_waiting_senders_are_served_one_receive_request_each() {
    let (mut w, mut a, mut b, ah) = two(3, Opts::default());
    for id in 0..20 {
        let wr = a.wr(0, id, ah, &b, 0, 0, 8);
        a.post(&mut w, &wr);
    }
    w.run();
    for n in 0..20 {
        b.recv(&mut w, n, &[(0, 100)]);
        w.run();
        assert_eq!((a.polls(&mut w).len(), b.polls(&mut w).len()), (1, 1));
    }
}

#[test]
fn order_is_kept_with_seed_0_and_shuffled_yet_complete_otherwise() {
    let order = |seed| {
        let (mut w, mut a, mut b, ah) = two(seed, Opts::default());
        for id in 0..60 {
            b.recv(&mut w, id, &[(u64::from(id) * 16, 16)]);
        }
        for id in 0..60u16 {
            a.fill(&mut w, u64::from(id) * 16, &[id as u8; 16]);
            let wr = a.wr(0, id, ah, &b, u64::from(id) * 16, 0, 16);
            a.post(&mut w, &wr);
        }
        w.run();
        let mut sent: Vec<u16> = a.polls(&mut w).iter().map(|c| c.id).collect();
        let arrived: Vec<u8> = b.polls(&mut w).iter().map(|c| b.bytes(&mut w, u64::from(c.id) * 16, 1)[0]).collect();
        let result = arrived.clone();
        sent.sort_unstable();
        assert_eq!(sent, (0..60).collect::<Vec<_>>());
        let mut sorted = arrived;
        sorted.sort_unstable();
        assert_eq!(sorted, (0..60).collect::<Vec<u8>>());
        result
    };
    let in_order: Vec<u8> = (0..60).collect();
    assert_eq!(order(0), in_order);
    assert_ne!(order(1), in_order);
    assert_ne!(order(1), order(2));
    assert_eq!(order(1), order(1));
}

/// Requests posted one by one, with two steps after each, as the preloaded object does.
fn one_by_one(seed: u64) -> Vec<u16> {
    let (mut w, mut a, mut b, ah) = two(seed, Opts::default());
    let mut order = Vec::new();
    for id in 0..60 {
        b.recv(&mut w, id, &[(u64::from(id) * 16, 16)]);
        let wr = a.wr(0, id, ah, &b, 0, 0, 16);
        a.post(&mut w, &wr);
        for _ in 0..2 {
            let (d, p) = w.at(0);
            d.step(p);
        }
        let begun = &w.procs[0].outgoing.drain(..).collect::<Vec<_>>();
        for packet in begun {
            let (d, p) = w.at(1);
            d.receive(p, packet);
        }
        // The answers.
        for packet in w.procs[1].outgoing.drain(..).collect::<Vec<_>>() {
            let (d, p) = w.at(0);
            d.receive(p, &packet);
        }
        order.extend(a.polls(&mut w).iter().map(|c| c.id));
    }
    w.run();
    order.extend(a.polls(&mut w).iter().map(|c| c.id));
    order
}

#[test]
fn requests_that_are_posted_one_by_one_overtake_too() {
    let in_order: Vec<u16> = (0..60).collect();
    assert_eq!(one_by_one(0), in_order);
    for seed in 1..20 {
        let mut order = one_by_one(seed);
        let overtaken = order.windows(2).filter(|w| w[0] > w[1]).count();
        assert!((4..40).contains(&overtaken), "seed {seed}: {overtaken}");
        assert_eq!(order, one_by_one(seed));
        order.sort_unstable();
        assert_eq!(order, in_order);
    }
    assert_ne!(one_by_one(1), one_by_one(2));
}

#[test]
fn a_request_that_is_held_back_goes_after_a_few_steps_or_soon() {
    for (steps, ms) in [(8, 0), (1, 2)] {
        for seed in 1..50 {
            let (mut w, mut a, mut b, ah) = two(seed, Opts::default());
            b.recv(&mut w, 1, &[(0, 16)]);
            let wr = a.wr(0, 1, ah, &b, 0, 0, 16);
            a.post(&mut w, &wr);
            let (d, p) = w.at(0);
            d.step(p);
            p.now += ms;
            for _ in 0..steps {
                d.step(p);
            }
            assert_eq!(p.outgoing.len(), 1, "seed {seed}, {steps} steps, {ms} ms");
        }
    }
}

#[test]
fn no_request_is_passed_over_for_ever() {
    let (mut w, mut a, b, ah) = two(7, Opts::default());
    for id in 0..32 {
        let wr = a.wr(0, id, ah, &b, 0, 0, 16);
        a.post(&mut w, &wr);
    }
    let (d, p) = w.at(0);
    d.take_sends(p, a.qp.qpn, Taking::Keep);
    // Each request that is chosen is replaced by a new one, so there is always another to choose.
    let (mut waited, mut longest, mut shuffled) = (0, 0, 0);
    for id in 100..100_000 {
        let oldest = d.qps.get(&a.qp.qpn).unwrap().pending[0].flight.req.id;
        let mut next = d.choose(a.qp.qpn).unwrap();
        waited = if next.flight.req.id == oldest { 0 } else { waited + 1 };
        longest = longest.max(waited);
        shuffled += u32::from(waited > 0);
        (next.flight.req.id, next.passed) = (id, 0);
        d.qps.get_mut(&a.qp.qpn).unwrap().pending.push_back(next);
    }
    assert!(shuffled > 50_000 && longest <= 32, "{shuffled} out of order, the oldest waited for {longest}");
}

#[test]
fn a_run_is_repeated_by_its_seed_to_the_letter() {
    let trace = |seed| {
        let (mut w, mut a, mut b, ah) = two(seed, Opts::default());
        for id in 0..30u16 {
            b.recv(&mut w, id, &[(0, 1000)]);
            let (op, len) = [(0, 100), (1, 70_000), (2, 70_000)][usize::from(id % 3)];
            let wr = a.wr(op, id, ah, &b, 0, 0x8_0000, len);
            a.post(&mut w, &wr);
            if id % 7 == 0 {
                w.run();
            }
        }
        w.wait(5);
        assert_eq!(a.polls(&mut w).len(), 30);
        (w.procs[0].lines.clone(), w.procs[1].lines.clone())
    };
    let first = trace(11);
    assert!(first.0.len() >= 60, "{} lines", first.0.len());
    assert_eq!(first, trace(11));
    assert_ne!(first, trace(12));
}

/// A program that failed with a seed fails with it on a later softnic, too, unless the order is changed on purpose, and this with it. Some
/// requests are alone when they are begun, and some are not.
#[test]
fn a_seed_means_what_it_meant_before() {
    let order = |seed| {
        let (mut w, mut a, mut b, ah) = two(seed, Opts::default());
        for id in 0..16u16 {
            b.recv(&mut w, id, &[(0, 1000)]);
            let wr = a.wr(0, id, ah, &b, 0, 0, 16);
            a.post(&mut w, &wr);
            if id % 5 != 0 {
                let (d, p) = w.at(0);
                d.step(p);
            }
        }
        w.run();
        a.polls(&mut w).iter().map(|done| done.id).collect::<Vec<_>>()
    };
    assert_eq!(order(11), [1, 0, 4, 6, 7, 3, 8, 5, 9, 2, 10, 11, 12, 13, 14, 15]);
    assert_eq!(order(12), [0, 1, 2, 3, 4, 6, 7, 8, 14, 9, 10, 11, 12, 13, 5, 15]);
}

#[test]
fn the_trace_has_a_line_for_each_ring_that_is_seen() {
    let (mut w, mut a, mut b, ah) = two(0, Opts { recv_sge: 2, ..Opts::default() });
    let rings = |w: &World, p: usize| -> Vec<String> {
        let lines =
            w.procs[p].lines.iter().filter_map(|line| line.split_once(": doorbell ").map(|(_, what)| what.into()));
        lines.collect()
    };
    for count in [3u16, 1, 60, 2] {
        for id in 0..count {
            b.recv(&mut w, id, &[(0, 4), (64, 4)]);
        }
        w.run();
        for id in 0..count {
            let wr = a.wr(0, id, ah, &b, 0, 0, 8);
            a.post(&mut w, &wr);
        }
        w.run();
        assert_eq!((a.polls(&mut w).len(), b.polls(&mut w).len()), (usize::from(count), usize::from(count)));
    }
    assert_eq!(rings(&w, 0), ["sq 3: 3 posted", "sq 4: 1 posted", "sq 64: 60 posted", "sq 66: 2 posted"]);
    assert_eq!(rings(&w, 1), ["rq 6: 6 posted", "rq 8: 2 posted", "rq 128: 120 posted", "rq 132: 4 posted"]);
    b.modify(&mut w, qp_mask::STATE, &QpAttr { state: QpState::Reset, ..QpAttr::default() }).unwrap();
    b.rq_pc = 0;
    b.up(&mut w).unwrap();
    b.recv(&mut w, 0, &[(0, 8)]);
    w.disturbed();
    w.run();
    assert_eq!(rings(&w, 1).last().unwrap(), "rq 1: 1 posted", "from the start after RESET");
}

/// The lines of the trace about receive requests, without what is the same in all.
fn receives_traced(w: &World, p: usize) -> Vec<String> {
    let told = w.procs[p].lines.iter().filter_map(|line| line.split_once(": wqe Recv ").map(|(_, what)| what.into()));
    told.collect()
}

#[test]
fn the_trace_has_a_line_for_each_receive_request() {
    let (mut w, mut a, mut b, ah) = two(0, Opts { recv_sge: 2, ..Opts::default() });
    let key = b.mr.lkey;
    let mut expected = Vec::new();
    // 64 requests of two pieces fill the ring of 128 descriptors, so each round begins elsewhere in it.
    for round in 0..7u16 {
        for id in 0..50 {
            let at = u64::from(round) * 100;
            let (first, second) = (BASE + at, BASE + 0x8000);
            if id % 3 == 0 {
                b.recv(&mut w, id, &[(at, 8)]);
                expected.push(format!("id {id:#x} 8 bytes [{first:#x} +8 lkey {key:#x}]"));
            } else {
                b.recv(&mut w, id, &[(at, 4), (0x8000, 5)]);
                expected
                    .push(format!("id {id:#x} 9 bytes [{first:#x} +4 lkey {key:#x}] [{second:#x} +5 lkey {key:#x}]"));
            }
        }
        for id in 0..50 {
            let wr = a.wr(0, id, ah, &b, 0, 0, 8);
            a.post(&mut w, &wr);
        }
        w.run();
        assert_eq!((a.polls(&mut w).len(), b.polls(&mut w).len()), (50, 50));
    }
    assert_eq!(receives_traced(&w, 1), expected);
}

#[test]
fn the_trace_tells_of_a_receive_request_before_of_its_completion() {
    let (mut w, mut a, mut b, ah) = two(0, Opts::default());
    let wr = a.wr(0, 1, ah, &b, 0, 0, 8);
    a.post(&mut w, &wr);
    let (d, p) = w.at(0);
    d.step(p);
    let message = p.outgoing.pop_front().unwrap();
    b.recv(&mut w, 7, &[(0, 8)]);
    let (d, p) = w.at(1);
    d.receive(p, &message);
    let place = |what: &str| w.procs[1].lines.iter().position(|line| line.contains(what)).unwrap();
    assert!(place("doorbell rq 1: 1 posted") < place("wqe Recv id 0x7 8 bytes"));
    assert!(place("wqe Recv id 0x7 8 bytes") < place("cqe recv"));
    w.run();
    assert_eq!(receives_traced(&w, 1).len(), 1, "and once");
}

#[test]
fn the_trace_kills_nothing_over_a_malformed_receive_request() {
    let (mut w, mut a, mut b, ah) = two(0, Opts { recv_sge: 2, ..Opts::default() });
    let descriptor = |first: bool, last: bool| {
        let mut d = [0; 16];
        d[12..16].copy_from_slice(&(b.mr.lkey | u32::from(first) << 30 | u32::from(last) << 31).to_le_bytes());
        d
    };
    let (begin, end) = (descriptor(true, false), descriptor(false, true));
    b.recv_raw(&mut w, &begin);
    b.ring(&mut w, b.qp.rq_doorbell, b.rq_pc);
    w.run();
    assert_eq!(receives_traced(&w, 1), [""; 0], "half of one");
    b.recv_raw(&mut w, &end);
    b.ring(&mut w, b.qp.rq_doorbell, b.rq_pc);
    w.run();
    assert_eq!(receives_traced(&w, 1).len(), 1, "{:?}", w.procs[1].lines);
    for bad in [vec![end], vec![begin; 2]] {
        bad.iter().for_each(|d| b.recv_raw(&mut w, d));
        b.ring(&mut w, b.qp.rq_doorbell, b.rq_pc);
        w.run();
        assert_eq!(receives_traced(&w, 1).last().unwrap(), "malformed");
    }
    b.ring(&mut w, b.qp.rq_doorbell, b.rq_pc.wrapping_add(1000));
    w.run();
    assert_eq!(receives_traced(&w, 1)[1..], ["malformed"; 3], "more than the ring holds");
    assert_eq!(w.procs[1].async_events, []);
    // Who takes the requests finds out: the first is good.
    for _ in 0..2 {
        let wr = a.wr(0, 1, ah, &b, 0, 0, 0);
        a.post(&mut w, &wr);
    }
    w.run();
    assert_eq!(w.procs[1].async_events, [crate::model::host::AsyncEvent::QpFatal { user_handle: 0x9b }]);
}

#[test]
fn write_pieces_come_in_any_order_and_sometimes_twice() {
    use crate::model::packet::Kind;
    let mut shuffled = 0;
    let mut repeated = 0;
    for seed in 1..40 {
        let (mut w, mut a, b, ah) = two(seed, Opts::default());
        w.procs[0].room = 1000;
        let wr = a.wr(2, 1, ah, &b, 0, 0, 150_000);
        a.post(&mut w, &wr);
        let (d, p) = w.at(0);
        // It may be held back at first.
        for _ in 0..9 {
            d.step(p);
        }
        let offsets: Vec<u32> = p
            .outgoing
            .iter()
            .map(|p| match p.kind {
                Kind::Write { offset, .. } => offset,
                other => panic!("{other:?}"),
            })
            .collect();
        let mut sorted = offsets.clone();
        sorted.sort_unstable();
        shuffled += usize::from(sorted != offsets);
        sorted.dedup();
        repeated += usize::from(sorted.len() < offsets.len());
        w.run();
        assert_eq!(a.one(&mut w), (1, 0));
    }
    assert!(shuffled > 30, "{shuffled} of 39");
    assert!((3..25).contains(&repeated), "{repeated} of 39");
}

/// READs posted one by one to a responder that steps in between: their completions, in order.
fn reads_one_by_one(seed: u64, reverse: bool) -> Vec<u16> {
    // Only the responder shuffles.
    let mut w = World::new(&Setup { procs: &[0, 1], ..Setup::default() });
    w.devices[1].0 = World::new(&Setup { procs: &[0, 1], seed, ..Setup::default() }).devices.remove(1).0;
    let mut a = Ep::new(&mut w, 0, Opts::default());
    let b = Ep::new(&mut w, 1, Opts::default());
    let ah = a.ah(&mut w, 1);
    b.ah(&mut w, 0);
    let mut order = Vec::new();
    for id in 0..60u16 {
        // Every other request is a WRITE over what the READ before it asks for.
        let wr = if reverse && id % 2 == 1 {
            a.fill(&mut w, 0, &[id as u8; 16]);
            a.wr(2, id, ah, &b, 0, 0, 16)
        } else {
            a.wr(1, id, ah, &b, 0x1000 + u64::from(id) * 16, 0, 16)
        };
        a.post(&mut w, &wr);
        for device in [0, 1, 0] {
            let (d, p) = w.at(device);
            d.step(p);
            for packet in w.procs[device].outgoing.drain(..).collect::<Vec<_>>() {
                let (d, p) = w.at(1 - device);
                d.receive(p, &packet);
            }
        }
        order.extend(a.polls(&mut w).iter().map(|c| c.id));
    }
    w.run();
    order.extend(a.polls(&mut w).iter().map(|c| c.id));
    if reverse {
        // A READ that was posted before a WRITE and saw what that one wrote.
        return (0..60)
            .step_by(2)
            .filter(|id| a.bytes(&mut w, 0x1000 + u64::from(*id) * 16, 1)[0] > *id as u8)
            .collect();
    }
    order
}

#[test]
fn the_responder_executes_reads_in_an_order_of_its_own() {
    let in_order: Vec<u16> = (0..60).collect();
    assert_eq!(reads_one_by_one(0, false), in_order);
    assert_eq!(reads_one_by_one(0, true), []);
    let mut late = 0;
    for seed in 1..20 {
        let mut order = reads_one_by_one(seed, false);
        let overtaken = order.windows(2).filter(|w| w[0] > w[1]).count();
        assert!((4..40).contains(&overtaken), "seed {seed}: {overtaken}");
        assert_eq!(order, reads_one_by_one(seed, false));
        order.sort_unstable();
        assert_eq!(order, in_order);
        late += reads_one_by_one(seed, true).len();
    }
    assert!(late > 50, "{late} READs saw a later WRITE");
}

#[test]
fn with_seed_0_reads_keep_their_order_though_there_is_no_room() {
    let (mut w, mut a, b, ah) = two(0, Opts::default());
    w.procs[1].room = 1;
    for id in 0..8 {
        let wr = a.wr(1, id, ah, &b, u64::from(id) * 0x1_0000, 0, 0x1_0000 - 0x2000 * u32::from(id));
        a.post(&mut w, &wr);
    }
    w.run();
    w.wait(50);
    assert_eq!(a.polls(&mut w).iter().map(|c| c.id).collect::<Vec<_>>(), (0..8).collect::<Vec<_>>());
}

#[test]
fn a_read_that_is_held_back_is_answered_soon() {
    for (steps, ms) in [(8, 0), (1, 2)] {
        for seed in 1..50 {
            let (mut w, mut a, b, ah) = two(seed, Opts::default());
            let wr = a.wr(1, 1, ah, &b, 0x1000, 0, 16);
            a.post(&mut w, &wr);
            let (d, p) = w.at(0);
            for _ in 0..9 {
                d.step(p);
            }
            let asked = w.procs[0].outgoing.pop_front().unwrap();
            let (d, p) = w.at(1);
            d.receive(p, &asked);
            p.now += ms;
            for _ in 0..steps {
                d.step(p);
            }
            assert_eq!(p.outgoing.len(), 1, "seed {seed}, {steps} steps, {ms} ms");
        }
    }
}

#[test]
fn the_bytes_of_a_read_come_in_any_order() {
    use crate::model::packet::Kind;
    let mut shuffled = 0;
    for seed in 0..40 {
        let (mut w, mut a, b, ah) = two(seed, Opts::default());
        b.fill(&mut w, 0, &pattern(150_000, 7));
        w.procs[1].room = 1000;
        let wr = a.wr(1, 1, ah, &b, 0x4_0000, 0, 150_000);
        a.post(&mut w, &wr);
        for device in [0, 1] {
            for _ in 0..9 {
                let (d, p) = w.at(device);
                d.step(p);
            }
            if device == 0 {
                let asked = w.procs[0].outgoing.pop_front().unwrap();
                let (d, p) = w.at(1);
                d.receive(p, &asked);
            }
        }
        let offset = |p: &crate::model::packet::Packet<'_>| match p.kind {
            Kind::ReadResp { offset, .. } => offset,
            other => panic!("{other:?}"),
        };
        let offsets: Vec<u32> = w.procs[1].outgoing.iter().map(offset).collect();
        shuffled += usize::from(!offsets.is_sorted());
        assert!(seed > 0 || offsets.is_sorted());
        w.run();
        assert_eq!(a.one(&mut w), (1, 0));
        assert_eq!(a.bytes(&mut w, 0x4_0000, 150_000), pattern(150_000, 7));
    }
    assert!(shuffled > 30, "{shuffled} of 39");
}

#[test]
fn a_qp_that_is_destroyed_leaves_flushed_completions() {
    let (mut w, mut a, mut b, ah) = two(0, Opts::default());
    for id in 0..3 {
        let wr = a.wr(0, id, ah, &b, 0, 0, 8);
        a.post(&mut w, &wr);
    }
    w.run();
    // Not even looked at by the device.
    let wr = a.wr(0, 3, ah, &b, 0, 0, 8);
    a.post(&mut w, &wr);
    a.recv(&mut w, 70, &[(0, 10)]);
    let (d, p) = w.at(0);
    d.qp_destroy(p, a.ctx, a.qp.handle).unwrap();
    let all = a.polls(&mut w);
    assert_eq!(all.iter().map(|c| (c.id, c.status)).collect::<Vec<_>>(), [(0, 1), (1, 1), (2, 1), (3, 1), (70, 1)]);
    assert!(all[4].is_recv() && !all[3].is_recv());
    b.recv(&mut w, 1, &[(0, 10)]);
    w.wait(50);
    assert_eq!((a.polls(&mut w), b.polls(&mut w)), (vec![], vec![]), "nothing of them is sent any more");
}

#[test]
fn destroying_one_handle_aborts_the_requests_of_all_handles_to_that_peer() {
    let (mut w, mut a, mut b, ah) = two(0, Opts::default());
    let again = a.ah(&mut w, 1);
    let me = a.ah(&mut w, 0);
    assert_eq!(again.number, ah.number);
    assert_ne!((again.handle, me.number), (ah.handle, ah.number));
    for (id, handle) in [(1, ah), (2, again)] {
        let wr = a.wr(0, id, handle, &b, 0, 0, 8);
        a.post(&mut w, &wr);
    }
    let other = Wr { ah: me.number, qpn: a.qp.qpn, ..a.wr(0, 3, me, &b, 0, 0, 8) };
    a.post(&mut w, &other);
    w.run();
    assert_eq!(a.polls(&mut w), []);
    let (d, p) = w.at(0);
    d.ah_destroy(p, a.ctx, ah.handle).unwrap();
    let done: Vec<_> = a.polls(&mut w).iter().map(|c| (c.id, c.status)).collect();
    assert_eq!(done, [(1, 1), (2, 1)]);
    // The other handle still names the peer.
    b.recv(&mut w, 9, &[(0, 10)]);
    let wr = a.wr(0, 4, again, &b, 0, 0, 8);
    a.post(&mut w, &wr);
    w.run();
    assert_eq!(a.one(&mut w), (4, 0));
    let (d, p) = w.at(0);
    d.ah_destroy(p, a.ctx, again.handle).unwrap();
    a.post(&mut w, &wr);
    w.run();
    assert_eq!(a.one(&mut w), (4, 4));
}

#[test]
fn reset_forgets_everything_without_a_completion() {
    let (mut w, mut a, mut b, ah) = two(0, Opts::default());
    let wr = a.wr(0, 1, ah, &b, 0, 0, 8);
    a.post(&mut w, &wr);
    a.recv(&mut w, 70, &[(0, 10)]);
    w.run();
    a.modify(&mut w, qp_mask::STATE, &QpAttr::default()).unwrap();
    (a.sq_pc, a.rq_pc) = (0, 0);
    w.run();
    assert_eq!(a.polls(&mut w), []);
    a.up(&mut w).unwrap();
    b.recv(&mut w, 5, &[(0, 10)]);
    a.post(&mut w, &wr);
    w.wait(20);
    assert_eq!((a.one(&mut w), b.one(&mut w)), ((1, 0), (5, 0)));
}

#[test]
fn a_peer_that_does_not_read_holds_up_nobody_else() {
    let mut w = World::new(&Setup { procs: &[0, 1, 2], ..Setup::default() });
    let mut a = Ep::new(&mut w, 0, Opts::default());
    let mut peers = [Ep::new(&mut w, 1, Opts::default()), Ep::new(&mut w, 2, Opts::default())];
    for (n, peer) in peers.iter().enumerate() {
        a.ah(&mut w, n + 1);
        peer.ah(&mut w, 0);
    }
    w.procs[0].jammed.push(gid(1));
    for (n, peer) in peers.iter_mut().enumerate() {
        // Both want answers from the device: verdicts, and the bytes of a READ.
        for (id, op) in [(1, 2), (2, 1), (3, 0)] {
            a.recv(&mut w, id, &[(0, 100)]);
            let ah = peer.ah(&mut w, 0);
            let wr = peer.wr(op, id, ah, &a, 0, 0, 64);
            peer.post(&mut w, &wr);
        }
        let ah = a.ah(&mut w, n + 1);
        peer.recv(&mut w, 50, &[(0, 100)]);
        let wr = a.wr(0, 60 + n as u16, ah, peer, 0, 0, 8);
        a.post(&mut w, &wr);
    }
    w.wait(5);
    let [jammed, free] = &mut peers;
    assert_eq!(jammed.polls(&mut w), []);
    assert_eq!(free.polls(&mut w).len(), 4);
    let done: Vec<u16> = a.polls(&mut w).iter().filter(|c| !c.is_recv()).map(|c| c.id).collect();
    assert_eq!(done, [61]);
    w.procs[0].jammed.clear();
    w.wait(2);
    assert_eq!(jammed.polls(&mut w).len(), 4);
    assert!(a.polls(&mut w).iter().any(|c| (c.id, c.status) == (60, 0)));
}

#[test]
fn a_full_ring_between_processes_only_slows_down() {
    for seed in [0, 5] {
        let (mut w, mut a, mut b, ah) = two(seed, Opts::default());
        (w.procs[0].room, w.procs[1].room) = (1, 1);
        a.fill(&mut w, 0, &pattern(200_000, 1));
        for id in 0..20 {
            b.recv(&mut w, id, &[(0xf_0000, 100)]);
            let (op, len) = [(0, 50), (2, 200_000), (1, 100_000)][usize::from(id % 3)];
            let wr = a.wr(op, id, ah, &b, if op == 1 { 0x8_0000 } else { 0 }, 0x4_0000, len);
            a.post(&mut w, &wr);
        }
        w.wait(3);
        let done = a.polls(&mut w);
        assert_eq!(done.len(), 20);
        assert!(done.iter().all(|c| c.status == 0));
        assert_eq!(b.bytes(&mut w, 0x4_0000, 200_000), pattern(200_000, 1));
    }
}

#[test]
fn steps_for_what_is_held_back_may_be_counted_instead_of_made() {
    let mut seen = 0;
    for seed in 1..40 {
        let (mut w, mut a, mut b, ah) = two(seed, Opts::default());
        b.recv(&mut w, 5, &[(0, 10)]);
        let wr = a.wr(0, 1, ah, &b, 0, 0, 8);
        a.post(&mut w, &wr);
        let (d, host) = w.at(0);
        let held = d.step(host).held;
        assert_eq!(host.outgoing.is_empty(), held > 0);
        if held == 0 {
            continue;
        }
        seen += 1;
        let made = (1..).find(|_| d.step(host).held == 0).unwrap();
        assert_eq!((made, host.outgoing.len()), (held, 1));
        w.run();
        // The next one that is held, with all steps but the last counted.
        for id in 2.. {
            a.polls(&mut w);
            b.recv(&mut w, id, &[(0, 10)]);
            a.post(&mut w, &wr);
            let (d, host) = w.at(0);
            let held = d.step(host).held;
            if held > 0 {
                d.count_steps(u32::from(held) - 1);
                assert_eq!((d.step(host).held, host.outgoing.len()), (1, 0));
                assert_eq!((d.step(host).held, host.outgoing.len()), (0, 1));
                break;
            }
            w.run();
        }
    }
    assert!((5..20).contains(&seen), "{seen}");
}
