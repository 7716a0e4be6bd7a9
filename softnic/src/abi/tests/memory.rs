// SPDX-License-Identifier: MIT OR Apache-2.0
//! PD, MR and AH.

use super::*;
use crate::model::types::access;

#[test]
fn mr_of_user_memory() {
    let mut rig = Rig::new();
    let pd = rig.pd();
    let start = rig.memory.alloc(100);
    let good = RegMr { start, length: 100, iova: start, pd, access: 1 };
    let mr = rig.reg_mr(&good).unwrap();
    let spec = *rig.nic.mrs.last().unwrap();
    assert_eq!((spec.start, spec.length, spec.iova, spec.access, spec.dmabuf), (start, 100, start, 1, false));
    assert_eq!(mr.lkey + 1, mr.rkey);
    assert!(rig.session.line().contains("reg_mr") && rig.session.line().contains("-> ok"), "{}", rig.session.line());
    // Optional access flags are the device's to ignore.
    rig.reg_mr(&RegMr { access: 1 | 1 << 20, ..good.clone() }).unwrap();
    rig.reg_mr(&RegMr { iova: start + 0x1000, ..good.clone() }).unwrap();
    let live = rig.nic.live.len();
    for (request, errno) in [
        (RegMr { iova: start + 1, ..good.clone() }, EINVAL),
        (RegMr { access: access::REMOTE_WRITE, ..good.clone() }, EINVAL),
        (RegMr { access: access::REMOTE_ATOMIC, ..good.clone() }, EINVAL),
        (RegMr { access: 1 | 1 << 15, ..good.clone() }, EINVAL),
        (RegMr { pd: 999, ..good.clone() }, ENOENT),
        (RegMr { pd: mr.handle, ..good.clone() }, EINVAL),
        (RegMr { start: 0x1000, iova: 0x1000, ..good.clone() }, EFAULT),
        (RegMr { length: 1 << 40, ..good.clone() }, EFAULT),
        (RegMr { length: u64::MAX, ..good.clone() }, EINVAL),
    ] {
        assert_eq!(rig.reg_mr(&request), Err(errno), "{request:?}: {}", rig.session.line());
    }
    // Read-only memory can't be registered for writing.
    rig.memory.readonly_from = start + 99;
    assert_eq!(rig.reg_mr(&good), Err(EFAULT), "{}", rig.session.line());
    assert_eq!(rig.nic.live.len(), live, "a refused MR left something behind");
    assert!(rig.session.line().contains("writable"), "{}", rig.session.line());
}

#[test]
fn mr_of_peer_memory() {
    let mut rig = Rig::new();
    let pd = rig.pd();
    let good = RegMr { start: PEER + 0x1010, length: 100, iova: 0x10, pd, access: 1 };
    assert_eq!(rig.reg_mr(&good), Err(EFAULT), "without a module: {}", rig.session.line());
    rig.env.peer = true;
    let mr = rig.reg_mr(&good).unwrap();
    let spec = *rig.nic.mrs.last().unwrap();
    assert_eq!((spec.start, spec.length, spec.iova, spec.dmabuf), (0x6000_1010, 100, 0x10, false));
    for wrong in [
        RegMr { length: 0x10_0000, ..good.clone() },
        RegMr { start: 0x10, ..good.clone() },
        RegMr { length: u64::MAX, ..good.clone() },
    ] {
        assert!(rig.reg_mr(&wrong).is_err(), "{wrong:?}");
    }
    rig.nic.fail = Some(ENOMEM);
    assert_eq!(rig.reg_mr(&RegMr { start: PEER, iova: 0, ..good.clone() }), Err(ENOMEM));
    assert_eq!(rig.env.mapped.len(), 1, "a failed registration is unmapped");
    rig.destroy(object::MR, mr.handle).unwrap();
    assert!(rig.env.mapped.is_empty());
}

#[test]
fn a_driver_that_takes_no_private_request_wants_zeros() {
    let mut rig = Rig::new();
    for (byte, result) in [(0, Ok(())), (1, Err(EINVAL))] {
        let mut call = Ioctl::new(object::DEVICE, 0);
        call.u64(2, 3);
        call.input(&mut rig.memory, 0, &[0; 8]);
        call.out(&mut rig.memory, 1, 4);
        call.input(&mut rig.memory, 0x1000, &[0, 0, 0, byte]);
        assert_eq!(call.run(&mut rig), result);
    }
}

#[test]
fn ah_wants_its_pd_and_port_1() {
    let mut rig = Rig::new();
    let pd = rig.pd();
    rig.ah(pd).unwrap();
    assert_eq!(rig.ah(pd + 50), Err(ENOENT));
    let request = CreateAh { pd, is_global: 1, port: 2, ..CreateAh::default() };
    assert_eq!(rig.command(5, &request.bytes(), 4, 8), Err(EINVAL));
    // Without room for the private answer the call works and the caller knows no AH number.
    let request = CreateAh { port: 1, ..request };
    rig.command(5, &request.bytes(), 4, 0).unwrap();
    // A longer request of a later version must have nothing in the part that we don't know.
    let mut long = request.bytes().to_vec();
    long.extend([0; 8]);
    rig.command(5, &long, 4, 8).unwrap();
    long[60] = 1;
    assert_eq!(rig.command(5, &long, 4, 8), Err(EOPNOTSUPP));
    assert_eq!(rig.command(5, &request.bytes()[..48], 4, 8), Err(ENOSPC));
}

struct Dmabuf {
    pd: u64,
    offset: u64,
    length: u64,
    iova: u64,
    fd: i32,
    access: u32,
}

fn reg_dmabuf(rig: &mut Rig, buf: &Dmabuf) -> Result<Ioctl, i32> {
    let mut call = Ioctl::new(object::MR, 4);
    call.object(0, 0);
    call.out(&mut rig.memory, 7, 4);
    call.out(&mut rig.memory, 8, 4);
    call.object(1, buf.pd);
    call.u64(2, buf.offset);
    call.u64(3, buf.length);
    call.u64(4, buf.iova);
    call.u32(5, buf.fd as u32);
    call.u32(6, buf.access);
    call.run(rig)?;
    Ok(call)
}

#[test]
fn mr_of_a_dmabuf() {
    let mut rig = Rig::new();
    let pd = u64::from(rig.pd());
    let good = || Dmabuf { pd, offset: 0x1010, length: 0x2000, iova: 0x10, fd: 7, access: 7 };
    let mut call = reg_dmabuf(&mut rig, &good()).unwrap();
    let spec = *rig.nic.mrs.last().unwrap();
    assert!(spec.dmabuf && rig.env.mapped.contains_key(&spec.start));
    assert_eq!((spec.iova, spec.length, spec.access), (0x10, 0x2000, 7));
    assert_ne!(u32::get(&call.output(&rig, 7), 0), 0);
    let handle = call.attr(0).data as u32;

    for (buf, errno) in [
        (Dmabuf { iova: 0x11, ..good() }, EINVAL),
        (Dmabuf { fd: -1, ..good() }, EBADF),
        (Dmabuf { fd: 8, ..good() }, EBADF),
        (Dmabuf { length: 0, ..good() }, EINVAL),
        (Dmabuf { length: u64::MAX, ..good() }, EINVAL),
        (Dmabuf { length: 1 << 30, ..good() }, EINVAL),
        (Dmabuf { access: 1 << 6, ..good() }, EINVAL),
        (Dmabuf { access: 2, ..good() }, EINVAL),
        (Dmabuf { pd: 99, ..good() }, ENOENT),
        (Dmabuf { pd: u64::MAX, ..good() }, EINVAL),
        (Dmabuf { pd: 1 << 32 | pd, ..good() }, ENOENT),
    ] {
        assert_eq!(reg_dmabuf(&mut rig, &buf).err(), Some(errno), "{}", rig.session.line());
    }
    rig.nic.fail = Some(ENOMEM);
    assert_eq!(reg_dmabuf(&mut rig, &good()).err(), Some(ENOMEM));
    assert_eq!(rig.env.mapped.len(), 1, "a failed registration is unmapped");
    rig.destroy(object::MR, handle).unwrap();
    assert!(rig.env.mapped.is_empty());
}

#[test]
fn efa_query_mr_gives_the_interconnects() {
    let mut rig = Rig::new();
    let pd = rig.pd();
    let mr = rig.mr(pd).handle;
    for (handle, result) in [(mr, Ok(())), (pd, Err(EINVAL)), (mr + 9, Err(ENOENT))] {
        let mut call = Ioctl::new(object::MR, 0x1000);
        call.object(0x1000, u64::from(handle));
        for id in 0x1001..=0x1004 {
            call.out(&mut rig.memory, id, 2);
        }
        assert_eq!(call.run(&mut rig), result);
        if result.is_ok() {
            let values: Vec<u16> = (0x1001..=0x1004).map(|id| u16::get(&call.output(&rig, id), 0)).collect();
            assert_eq!(values, [0b011, 1, 2, 0], "nobody may WRITE to it");
        }
    }
}
