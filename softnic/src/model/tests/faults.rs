// SPDX-License-Identifier: MIT OR Apache-2.0
//! The fault file, seen from a program.

use super::endpoint::*;
use super::world::*;
use crate::kind::efa::{SRD, UD};
use crate::model::host::AsyncEvent;
use crate::model::types::*;

fn two(faults: &'static str, opts: Opts) -> (World, Ep, Ep, AhInfo) {
    let mut w = World::new(&Setup { procs: &[0, 1], faults, ..Setup::default() });
    let a = Ep::new(&mut w, 0, opts.clone());
    let b = Ep::new(&mut w, 1, opts);
    let ah = a.ah(&mut w, 1);
    b.ah(&mut w, 0);
    (w, a, b, ah)
}

fn send_many(w: &mut World, a: &mut Ep, b: &mut Ep, ah: AhInfo, n: u16) {
    for id in 0..n {
        b.recv(w, id, &[(0, 16)]);
        let wr = a.wr(0, id, ah, b, 0, 0, 8);
        a.post(w, &wr);
    }
    w.run();
}

#[test]
fn a_status_of_choice_for_the_kth_request() {
    for code in 1..=18u8 {
        let text = format!("status {code} for request 3 device 0");
        let (mut w, mut a, mut b, ah) = two(text.leak(), Opts::default());
        send_many(&mut w, &mut a, &mut b, ah, 5);
        let done: Vec<_> = a.polls(&mut w).iter().map(|c| (c.id, c.status)).collect();
        assert_eq!(done.len(), 5);
        assert!(done.iter().all(|(id, status)| *status == if *id == 2 { code } else { 0 }), "{done:?}");
        assert_eq!(b.polls(&mut w).len(), 4);
    }
}

#[test]
fn receiver_not_ready_on_demand() {
    let (mut w, mut a, mut b, ah) = two("rnr for request 1 device 0", Opts { rnr_retry: Some(0), ..Opts::default() });
    send_many(&mut w, &mut a, &mut b, ah, 2);
    assert_eq!(a.polls(&mut w).iter().map(|c| (c.id, c.status)).collect::<Vec<_>>(), [(0, 10), (1, 0)]);
    let (mut w, mut a, mut b, ah) = two("rnr for request 1 device 0", Opts::default());
    send_many(&mut w, &mut a, &mut b, ah, 1);
    assert_eq!(a.polls(&mut w), []);
    w.wait(20);
    assert_eq!((a.one(&mut w), b.one(&mut w)), ((0, 0), (0, 0)));
}

#[test]
fn a_stalled_queue_and_a_delayed_request() {
    let (mut w, mut a, mut b, ah) = two("stall 10ms for request 2 device 0", Opts::default());
    send_many(&mut w, &mut a, &mut b, ah, 4);
    assert_eq!(a.polls(&mut w), []);
    w.wait(9);
    assert_eq!(a.polls(&mut w), []);
    w.wait(1);
    assert_eq!(a.polls(&mut w).len(), 4);

    let (mut w, mut a, mut b, ah) = two("delay 10ms for request 1 device 0", Opts::default());
    send_many(&mut w, &mut a, &mut b, ah, 3);
    assert_eq!(a.polls(&mut w).iter().map(|c| c.id).collect::<Vec<_>>(), [1, 2]);
    let (d, p) = w.at(0);
    assert_eq!(d.step(p).wake_at_ms, 10);
    w.wait(10);
    assert_eq!(a.one(&mut w), (0, 0));
}

#[test]
fn a_datagram_is_lost_on_demand_and_nothing_else_is() {
    for (kind, left) in [(&UD, vec![0, 2, 3]), (&SRD, vec![0, 1, 2, 3])] {
        let (mut w, mut a, mut b, ah) = two("drop for request 2 device 0", Opts { kind, ..Opts::default() });
        a.fill(&mut w, 0, &[0, 1, 2, 3]);
        for id in 0..4 {
            b.recv(&mut w, id, &[(0x1000 + 64 * u64::from(id), 64)]);
            let wr = a.wr(0, id, ah, &b, u64::from(id), 0, 1);
            a.post(&mut w, &wr);
        }
        w.run();
        let sent = a.polls(&mut w);
        assert!(sent.len() == 4 && sent.iter().all(|c| c.status == 0), "its sender hears nothing: {sent:?}");
        let grh = if kind.datagram { 40 } else { 0 };
        let came: Vec<u8> =
            b.polls(&mut w).iter().map(|c| b.bytes(&mut w, 0x1000 + 64 * u64::from(c.id) + grh, 1)[0]).collect();
        assert_eq!(came, left);
        let (asked, served) = (*w.at(0).0.counters(), *w.at(1).0.counters());
        assert_eq!((asked.send_wrs, asked.tx_bytes, served.rx_bytes, served.rx_drops), (4, 4, came.len() as u64, 0));
    }
}

#[test]
fn late_dma_writes_after_the_error_was_reported() {
    let (mut w, mut a, b, ah) = two("late-dma 10ms for request 1 op write device 0", Opts::default());
    a.fill(&mut w, 0, b"too late");
    let wr = a.wr(2, 1, ah, &b, 0, 0x5000, 8);
    a.post(&mut w, &wr);
    w.run();
    assert_eq!(a.one(&mut w), (1, 13));
    w.wait(9);
    assert_eq!(b.bytes(&mut w, 0x5000, 8), [0; 8]);
    w.wait(1);
    assert_eq!(b.bytes(&mut w, 0x5000, 8), b"too late");
    assert_eq!(a.polls(&mut w), []);
}

#[test]
fn an_overflowing_cq_loses_a_completion() {
    let (mut w, mut a, mut b, ah) = two("cq-overflow for completion 2 event device 0", Opts::default());
    send_many(&mut w, &mut a, &mut b, ah, 4);
    assert_eq!(a.polls(&mut w).iter().map(|c| c.id).collect::<Vec<_>>(), [0, 2, 3]);
    assert_eq!(w.procs[0].async_events, [AsyncEvent::CqError { user_handle: 0xc0 }]);
}

#[test]
fn commands_fail_on_demand() {
    let (mut w, a, _, _) = two("fail command alloc_pd 2..3 errno 12 device 0", Opts::default());
    let (d, p) = w.at(0);
    let results: Vec<_> = (0..3).map(|_| d.pd_alloc(p, a.ctx).map(|_| ())).collect();
    assert_eq!(results, [Err(12), Err(12), Ok(())]);
    assert_eq!((d.counters().alloc_pd_err, d.counters().cmds_err), (2, 2));
}

#[test]
fn the_device_goes_at_the_kth_request() {
    let (mut w, mut a, mut b, ah) = two("remove device 0 at request 3", Opts::default());
    send_many(&mut w, &mut a, &mut b, ah, 2);
    assert_eq!(a.polls(&mut w).len(), 2);
    send_many(&mut w, &mut a, &mut b, ah, 3);
    assert_eq!(a.polls(&mut w), []);
    assert_eq!(w.procs[0].async_events, [AsyncEvent::DeviceFatal]);
    assert!(w.at(0).0.removed() && !w.at(1).0.removed());
}

#[test]
fn a_port_goes_down_and_comes_back() {
    let (mut w, mut a, mut b, ah) = two("port down device 0 after 5ms\nport up device 0 after 20ms", Opts::default());
    w.run();
    w.wait(5);
    assert!(!w.at(0).0.port().active);
    send_many(&mut w, &mut a, &mut b, ah, 3);
    w.wait(10);
    assert_eq!(a.polls(&mut w), []);
    w.wait(5);
    assert_eq!(a.polls(&mut w).len(), 3);
    assert_eq!(w.procs[0].async_events, [AsyncEvent::PortError { port: 1 }, AsyncEvent::PortActive { port: 1 }]);
}
