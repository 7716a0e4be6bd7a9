// SPDX-License-Identifier: MIT OR Apache-2.0
//! Context, queries, channels.

use super::*;

#[test]
fn the_probe_of_libibverbs_is_answered_with_enospc() {
    let mut rig = Rig::closed();
    assert_eq!(rig.command(1, &[], 0, 0), Err(ENOSPC));
    assert_eq!(rig.session.complaint(), None);
}

/// GET_CONTEXT with a private answer of `len` bytes.
fn context(rig: &mut Rig, len: usize) -> Result<Ioctl, i32> {
    let mut call = Ioctl::new(object::DEVICE, 3);
    call.out(&mut rig.memory, 0, 4);
    call.out(&mut rig.memory, 1, 8);
    call.input(&mut rig.memory, 0x1000, &[3, 0, 0, 0, 0, 0, 0, 0]);
    call.out(&mut rig.memory, 0x1001, len);
    call.run(rig)?;
    Ok(call)
}

#[test]
fn get_context_answers_what_the_caller_has_room_for() {
    for len in [20, 24, 40] {
        let mut rig = Rig::closed();
        let mut call = context(&mut rig, len).unwrap();
        assert_eq!(u32::get(&call.output(&rig, 0), 0), 8);
        assert_eq!(u64::get(&call.output(&rig, 1), 0), 3);
        assert!(call.is_valid(0) && call.is_valid(1) && call.is_valid(0x1001));
        let private = call.output(&rig, 0x1001);
        let answer = efa::AllocContextResp::read(&private);
        assert_eq!((answer.cmds_supp_udata_mask, answer.max_llq_size, answer.sub_cqs_per_cq), (3, 262_144, 1));
        assert_eq!(answer.inline_buf_size_ex, if len > 20 { 80 } else { 0 });
        assert!(private.iter().skip(24).all(|byte| *byte == 0), "the rest is zeroed");
    }
}

#[test]
fn a_context_is_made_once_and_needed_by_the_rest() {
    let mut rig = Rig::closed();
    assert_eq!(rig.command(3, &[0; 8], 4, 8), Err(EINVAL));
    let mut port = Ioctl::new(object::DEVICE, 2);
    port.u64(0, 1);
    port.out(&mut rig.memory, 1, 48);
    assert_eq!(port.run(&mut rig), Err(EINVAL));
    context(&mut rig, 24).unwrap();
    assert_eq!(port.run(&mut rig), Ok(()));
    assert_eq!(context(&mut rig, 24).err(), Some(EINVAL));
}

#[test]
fn the_ports_speed_is_in_units_of_100_megabits() {
    let mut rig = Rig::new();
    let speed = |rig: &mut Rig, port: u32| {
        let mut call = Ioctl::new(object::DEVICE, 7);
        call.u32(0, port);
        call.out(&mut rig.memory, 1, 8);
        call.run(rig).map(|()| u64::get(&call.output(rig, 1), 0))
    };
    assert_eq!(speed(&mut rig, 1), Ok(1000));
    assert_eq!(speed(&mut rig, 2), Err(EINVAL));
}

#[test]
fn rdma_core_57_may_name_descriptors_to_import() {
    let mut rig = Rig::closed();
    let mut call = Ioctl::new(object::DEVICE, 3);
    call.out(&mut rig.memory, 0, 4);
    call.input(&mut rig.memory, 2, &[0; 12]);
    assert_eq!(call.run(&mut rig), Ok(()));
}

#[test]
fn query_device_plain_and_extended() {
    let mut rig = Rig::new();
    let (plain, _) = rig.command(1, &[0; 8], 176, 0).unwrap();
    assert_eq!(DeviceResp::read(&plain).vendor_id, 0x1d0f);
    // rdma-core 33 knew fewer fields than 304 bytes hold; a later one may know more.
    for len in [184, 296, 304, 400] {
        let (core, private) = rig.command(names::EX | 1, &[0; 8], len, 24).unwrap();
        let answer = ExDeviceResp::read(&core);
        assert_eq!(answer.base.max_qp, 1024);
        assert_eq!(answer.response_length as usize, len.min(304));
        assert!(core.iter().skip(304).all(|byte| *byte == 0));
        assert_eq!(efa::QueryDeviceResp::read(&private).device_caps, 0x2f);
    }
    assert_eq!(rig.command(names::EX | 1, &[0; 8], 183, 24), Err(ENOSPC));
    assert_eq!(rig.command(names::EX | 1, &[1, 0, 0, 0, 0, 0, 0, 0], 304, 24), Err(EINVAL));
    assert!(rig.session.line().contains("ex query_device"), "{}", rig.session.line());
}

#[test]
fn query_port() {
    let mut rig = Rig::new();
    for (port, len, result) in
        [(1, 48, Ok(())), (1, 64, Ok(())), (1, 40, Err(EINVAL)), (0, 48, Err(EINVAL)), (2, 48, Err(EINVAL))]
    {
        let mut call = Ioctl::new(object::DEVICE, 2);
        call.u64(0, port);
        call.out(&mut rig.memory, 1, len);
        assert_eq!(call.run(&mut rig), result, "port {port} len {len}");
        if result.is_ok() {
            let answer = ExPortResp::read(&call.output(&rig, 1));
            assert_eq!((answer.legacy.max_msg_sz, answer.legacy.state), (8928, 4));
        }
    }
    let (core, _) = rig.command(2, &[0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0], 40, 0).unwrap();
    assert_eq!(PortResp::read(&core).max_msg_sz, 8928);
}

#[test]
fn gid_entry() {
    let mut rig = Rig::new();
    for (port, index, flags, result) in
        [(1, 0, 0, Ok(())), (2, 0, 0, Err(EINVAL)), (1, 1, 0, Err(EINVAL)), (1, 0, 1, Err(EINVAL))]
    {
        let mut call = Ioctl::new(object::DEVICE, 6);
        call.u64(0, port);
        call.u64(1, index);
        call.u32(2, flags);
        call.out(&mut rig.memory, 3, 32);
        assert_eq!(call.run(&mut rig), result);
        if result.is_ok() {
            let entry = GidEntry::read(&call.output(&rig, 3));
            assert_eq!((&entry.gid, entry.port, entry.index), (b"0123456789abcdef", 1, 0));
        }
    }
}

#[test]
fn gid_table() {
    let mut rig = Rig::new();
    for (size, room, result) in [
        (32, 32, Ok(())),
        (32, 320, Ok(())),
        (16, 16, Ok(())),
        (64, 64, Ok(())),
        (32, 31, Err(EINVAL)),
        (32, 0, Err(EINVAL)),
        (0, 32, Err(EINVAL)),
        (u64::MAX, 32, Err(EINVAL)),
    ] {
        let mut call = Ioctl::new(object::DEVICE, 5);
        call.u64(0, size);
        call.u32(1, 0);
        call.out(&mut rig.memory, 2, room);
        call.out(&mut rig.memory, 3, 8);
        assert_eq!(call.run(&mut rig), result, "size {size} room {room}");
        if result.is_ok() {
            assert_eq!(u64::get(&call.output(&rig, 3), 0), 1);
            assert_eq!(&call.output(&rig, 2)[..16], b"0123456789abcdef");
        }
    }
}

#[test]
fn async_file_and_channel_give_descriptors() {
    let mut rig = Rig::new();
    let mut call = Ioctl::new(object::ASYNC_EVENT, 0);
    call.object(0, 0);
    call.run(&mut rig).unwrap();
    assert_eq!(call.attr(0).data, rig.env.asyncs[0] as u64);
    let fd = rig.channel();
    assert!(rig.env.channels.contains(&fd));
}

#[test]
fn the_device_may_refuse_any_call() {
    let mut rig = Rig::new();
    for (number, core, out) in [(1, 8, 176), (names::EX | 1, 8, 304), (2, 16, 40), (3, 8, 4), (17, 8, 4)] {
        rig.nic.fail = Some(EIO);
        let mut request = vec![0; core];
        if number == 2 {
            request[8] = 1;
        }
        assert_eq!(rig.command(number, &request, out, 0), Err(EIO), "command {number:#x}");
    }
    assert!(rig.env.channels.is_empty());
    // Whatever it says, ENOTTY is not passed on.
    rig.nic.fail = Some(ENOTTY);
    assert_eq!(rig.command(3, &[0; 8], 4, 8), Err(EOPNOTSUPP));
}
