// SPDX-License-Identifier: MIT OR Apache-2.0
//! Destroying, in order and not, and what is left behind by calls that fail half-way.

use super::*;

#[test]
fn what_is_in_use_is_busy_and_stays() {
    let mut rig = Rig::new();
    let pd = rig.pd();
    let (cq, mr, ah) = (rig.cq(1, None), rig.mr(pd).handle, rig.ah(pd).unwrap());
    let qp = rig.qp(pd, cq, 2);
    assert_eq!(rig.destroy(object::PD, pd), Err(EBUSY));
    assert_eq!(rig.destroy_cq(cq), Err(EBUSY));
    rig.destroy_qp(qp).unwrap();
    rig.destroy_cq(cq).unwrap();
    rig.destroy(object::MR, mr).unwrap();
    assert_eq!(rig.destroy(object::PD, pd), Err(EBUSY));
    rig.destroy(object::AH, ah).unwrap();
    rig.destroy(object::PD, pd).unwrap();
    assert!(rig.nic.live.is_empty() && rig.session.open_objects() == 0);
}

#[test]
fn a_handle_dies_with_its_object_and_is_not_given_again() {
    let mut rig = Rig::new();
    let pd = rig.pd();
    rig.destroy(object::PD, pd).unwrap();
    assert_eq!(rig.destroy(object::PD, pd), Err(ENOENT));
    assert_ne!(rig.pd(), pd);
}

#[test]
fn a_handle_of_another_kind_is_refused() {
    let mut rig = Rig::new();
    let pd = rig.pd();
    let cq = rig.cq(1, None);
    for kind in [object::MR, object::AH] {
        assert_eq!(rig.destroy(kind, pd), Err(EINVAL));
    }
    assert_eq!(rig.destroy_qp(cq), Err(EINVAL));
    assert_eq!(rig.destroy_cq(pd), Err(EINVAL));
    assert_eq!(rig.nic.live.len(), 2);
}

#[test]
fn destroy_reports_the_events_that_were_read() {
    let mut rig = Rig::new();
    let fd = rig.channel();
    let pd = rig.pd();
    let (cq, other) = (rig.cq(0x11, Some(fd)), rig.cq(0x22, Some(fd)));
    let qp = rig.qp(pd, cq, 0x33);
    rig.env.read_events.insert((fd as u64 * 10, 0x11), 5);
    rig.env.read_events.insert((fd as u64 * 10, 0x22), 9);
    rig.env.read_async.insert(0x11, 2);
    rig.env.read_async.insert(0x33, 1);
    assert_eq!(rig.destroy_qp(qp), Ok(1));
    assert_eq!(rig.destroy_cq(cq), Ok(DestroyCqResp { comp_events: 5, async_events: 2 }));
    assert_eq!(rig.destroy_cq(other), Ok(DestroyCqResp { comp_events: 9, async_events: 0 }));
    assert_eq!(
        rig.env.forgotten,
        [
            EventSource::Qp { user_handle: 0x33 },
            EventSource::Cq { user_handle: 0x11 },
            EventSource::Cq { user_handle: 0x22 }
        ]
    );
}

fn everything(rig: &mut Rig) {
    let pd = rig.pd();
    let fd = rig.channel();
    let cq = rig.cq(1, Some(fd));
    rig.qp(pd, cq, 2);
    rig.qp(pd, cq, 3);
    rig.mr(pd);
    rig.ah(pd).unwrap();
    let mut dmabuf = Ioctl::new(object::MR, 4);
    dmabuf.object(0, 0);
    dmabuf.object(1, u64::from(pd));
    for (id, value) in [(2, 0), (3, 4096), (4, 0)] {
        dmabuf.u64(id, value);
    }
    dmabuf.u32(5, 7);
    dmabuf.u32(6, 1);
    dmabuf.out(&mut rig.memory, 7, 4);
    dmabuf.out(&mut rig.memory, 8, 4);
    dmabuf.run(rig).unwrap();
}

#[test]
fn close_destroys_all_in_an_order_that_works() {
    let mut rig = Rig::new();
    everything(&mut rig);
    rig.session.close(&mut rig.env, &mut rig.nic);
    assert!(rig.nic.live.is_empty(), "{:?}", rig.nic.live);
    assert!(rig.env.mapped.is_empty());
    assert_eq!(rig.session.open_objects(), 0);
}

#[test]
fn close_lets_go_even_if_the_device_refuses() {
    let mut rig = Rig::new();
    everything(&mut rig);
    // The device forgot everything: each destroy fails.
    rig.nic.live.clear();
    rig.session.close(&mut rig.env, &mut rig.nic);
    assert!(rig.env.mapped.is_empty() && rig.session.open_objects() == 0);
    assert_eq!(rig.env.forgotten.len(), 3, "the events of one CQ and two QPs");
}

#[test]
fn an_answer_that_cannot_be_written_takes_the_object_back() {
    let mut rig = Rig::new();
    let pd = rig.pd();
    let fd_count = rig.env.channels.len();
    let (live, open) = (rig.nic.live.len(), rig.session.open_objects());
    for (number, request) in [
        (3, vec![0; 8]),
        (5, CreateAh { pd, is_global: 1, port: 1, ..CreateAh::default() }.bytes().to_vec()),
        (17, vec![0; 8]),
    ] {
        for bad in [1, 0x1001] {
            if number == 17 && bad == 0x1001 {
                continue;
            }
            let mut call = Ioctl::new(object::DEVICE, 0);
            call.u64(2, number);
            call.input(&mut rig.memory, 0, &request);
            call.out(&mut rig.memory, 1, 8);
            call.out(&mut rig.memory, 0x1001, 8);
            call.attr(bad).data = 8;
            assert_eq!(call.run(&mut rig), Err(EFAULT), "command {number} attribute {bad:#x}");
            assert_eq!((rig.nic.live.len(), rig.session.open_objects()), (live, open));
        }
    }
    assert_eq!(rig.env.channels.len(), fd_count);
    assert_eq!(rig.env.discarded.len(), 1);
}

#[test]
fn a_request_that_cannot_be_answered_in_place_takes_the_object_back() {
    let mut rig = Rig::new();
    let mut call = queues::cq_call(&mut rig.memory, 16, 1, None, &queues::private_cq().bytes(), 40);
    rig.memory.readonly_from = rig.memory.alloc(8);
    assert_eq!(call.run(&mut rig), Err(EFAULT));
    assert!(rig.nic.live.is_empty(), "the handle went nowhere, so nobody can destroy it");
    assert_eq!(rig.session.open_objects(), 0);
}
