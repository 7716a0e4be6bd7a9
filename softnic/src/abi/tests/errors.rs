// SPDX-License-Identifier: MIT OR Apache-2.0
//! Framing: headers and attributes that are wrong, unknown calls, plain writes.

use super::*;

fn port_call(rig: &mut Rig) -> Ioctl {
    let mut call = Ioctl::new(object::DEVICE, 2);
    call.u64(0, 1);
    call.out(&mut rig.memory, 1, 48);
    call
}

#[test]
fn attributes_that_nobody_knows() {
    let mut rig = Rig::new();
    let mut call = port_call(&mut rig);
    call.u64(9, 0);
    assert_eq!(call.run(&mut rig), Err(EPROTONOSUPPORT));
    call.optional();
    assert_eq!(call.run(&mut rig), Ok(()));
    // This method has no private structs.
    let mut call = port_call(&mut rig);
    call.u64(0x1000, 0);
    assert_eq!(call.run(&mut rig), Err(EPROTONOSUPPORT));
}

#[test]
fn attributes_that_are_wrong() {
    let mut rig = Rig::new();
    type Spoil = fn(&mut Ioctl);
    let cases: [(&str, Spoil, i32); 9] = [
        ("missing", |call| call.remove(0), EINVAL),
        ("missing output", |call| call.remove(1), EINVAL),
        ("twice", |call| call.u64(0, 1), EINVAL),
        ("too short", |call| call.attr(0).len = 4, EINVAL),
        ("too long", |call| call.attr(0).len = 9, EINVAL),
        ("reserved", |call| call.attr(0).aux = 1, EINVAL),
        ("bad pointer", |call| call.attr(1).data = 1, EFAULT),
        ("other driver", |call| call.header.driver = 14, EINVAL),
        ("reserved in the header", |call| call.header.reserved1 = 1, EPROTONOSUPPORT),
    ];
    for (what, spoil, errno) in cases {
        let mut call = port_call(&mut rig);
        spoil(&mut call);
        assert_eq!(call.run(&mut rig), Err(errno), "{what}: {}", rig.session.line());
        assert!(!call.has(1) || !call.is_valid(1), "{what}");
        assert_eq!(rig.session.complaint(), None);
    }
}

#[test]
fn the_length_must_be_that_of_the_attributes() {
    let mut rig = Rig::new();
    let good = port_call(&mut rig).bytes();
    for (length, count) in [(0u16, 2u16), (24, 2), (55, 2), (57, 2), (56, 1), (56, 3), (56, 0), (u16::MAX, u16::MAX)] {
        let mut bytes = good.clone();
        bytes[0..2].copy_from_slice(&length.to_ne_bytes());
        bytes[6..8].copy_from_slice(&count.to_ne_bytes());
        let addr = rig.memory.put(&bytes);
        let result = rig.session.ioctl_at(addr, &mut rig.memory, &mut rig.env, &mut rig.nic);
        // A header that says more than is mapped faults instead.
        assert!(matches!(result, Err(EINVAL | EFAULT)), "{length} {count}: {result:?}");
        assert_eq!(rig.session.ioctl(&mut bytes, &mut rig.memory, &mut rig.env, &mut rig.nic), Err(EINVAL));
    }
    for len in 0..24 {
        let mut bytes = vec![0; len];
        assert_eq!(rig.session.ioctl(&mut bytes, &mut rig.memory, &mut rig.env, &mut rig.nic), Err(EINVAL));
    }
    assert_eq!(rig.session.ioctl_at(0, &mut rig.memory, &mut rig.env, &mut rig.nic), Err(EFAULT));
}

#[test]
fn unknown_calls_are_named() {
    let mut rig = Rig::new();
    for (object, method, name) in [
        (18, 0, "DMABUF.ALLOC"),
        (object::SRQ, 0, "SRQ.CREATE"),
        (19, 0, "COMP_CNTR.CREATE"),
        (300, 4, "object 0x12c method 0x4"),
    ] {
        assert_eq!(Ioctl::new(object, method).run(&mut rig), Err(EPROTONOSUPPORT));
        let line = format!("unknown call: uverbs {name} -> EPROTONOSUPPORT (93): softnic does not have this method");
        assert_eq!(rig.session.complaint(), Some(line));
    }
    for (command, name) in
        [(14, "alloc_mw"), (32, "create_srq"), (names::EX | 52, "ex create_wq"), (0xff, "command 0xff")]
    {
        assert_eq!(rig.command(command, &[0; 64], 64, 0), Err(EOPNOTSUPP));
        let line = rig.session.complaint().unwrap();
        assert!(line.starts_with(&format!("unknown call: uverbs {name} -> EOPNOTSUPP (95)")), "{line}");
    }
    rig.pd();
    assert!(rig.session.line().starts_with("uverbs alloc_pd handle="), "{}", rig.session.line());
    assert_eq!(rig.session.complaint(), None);
}

#[test]
fn what_rdma_core_only_tries_is_refused_without_a_complaint() {
    let mut rig = Rig::new();
    for (object, method, name) in [(object::DEVICE, 8, "DEVICE.QUERY_COMP_CNTR_CAPS"), (object::MR, 5, "MR.REG")] {
        assert_eq!(Ioctl::new(object, method).run(&mut rig), Err(EPROTONOSUPPORT));
        assert!(rig.session.line().contains(name), "{}", rig.session.line());
        assert_eq!(rig.session.complaint(), None);
    }
}

#[test]
fn an_unknown_attribute_is_complained_of_if_the_caller_counts_on_it() {
    let mut rig = Rig::new();
    for (mandatory, complaint) in [(false, false), (true, true)] {
        let mut call = Ioctl::new(object::DEVICE, 2);
        call.u64(0x77, 0);
        if !mandatory {
            call.optional();
        }
        call.u64(0, 1);
        let result = call.run(&mut rig);
        assert_eq!(result == Err(EPROTONOSUPPORT), mandatory);
        let said = rig.session.complaint();
        assert_eq!(said.is_some_and(|s| s.contains("DEVICE.QUERY_PORT") && s.contains("attribute 0x77")), complaint);
    }
}

#[test]
fn without_tracing_the_line_still_names_call_and_reason() {
    let mut rig = Rig::new();
    rig.session.set_tracing(false);
    assert_eq!(rig.ah(77), Err(ENOENT));
    assert_eq!(rig.session.line(), "uverbs create_ah -> ENOENT (2): handle 77 is not open");
}

#[test]
fn plain_writes_are_refused_by_name() {
    let mut rig = Rig::new();
    let alloc_pd = WriteHeader { command: 3, in_words: 4, out_words: 1 };
    assert_eq!(rig.session.write(&alloc_pd.bytes(), &mut rig.nic), Err(EOPNOTSUPP));
    assert!(rig.session.complaint().unwrap().contains("write(2) alloc_pd"), "{}", rig.session.line());
    assert_eq!(rig.session.write(&[0; 7], &mut rig.nic), Err(EINVAL));
    assert_eq!(rig.session.complaint(), None, "that is no call");
    assert_eq!(rig.session.write(&[], &mut rig.nic), Err(EINVAL));
}

#[test]
fn a_command_number_beyond_32_bits_is_no_command() {
    let mut rig = Rig::new();
    let mut call = Ioctl::new(object::DEVICE, 0);
    call.u64(2, 1 << 40 | 3);
    assert_eq!(call.run(&mut rig), Err(EINVAL));
}
