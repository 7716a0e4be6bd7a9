// SPDX-License-Identifier: MIT OR Apache-2.0
//! Sizes of the structs by the kernel's headers, and that each byte of them is read back from where it was written.

use super::*;

macro_rules! check {
    ($($name:ty: $size:literal),* $(,)?) => {$(
        assert_eq!(<$name>::SIZE, $size, stringify!($name));
        let bytes: Vec<u8> = (1..=$size).map(|at| at as u8).collect();
        let once = <$name>::read(&bytes);
        // Reserved bytes are dropped, all others must survive unchanged and nothing may overlap.
        let written = once.bytes();
        assert_eq!(<$name>::read(&written), once, stringify!($name));
        for (at, (wrote, had)) in written.iter().zip(&bytes).enumerate() {
            assert!(*wrote == 0 || wrote == had, "{} byte {at}", stringify!($name));
        }
        // A caller with an older struct has a prefix.
        assert_eq!(<$name>::read(&[]), <$name>::default());
    )*};
}

#[test]
fn structs_have_the_kernels_sizes() {
    check!(
        IoctlHeader: 24, AttrHeader: 16, DeviceResp: 176, ExDeviceResp: 304, PortResp: 40, ExPortResp: 48, GidEntry: 32,
        RegMr: 40, MrResp: 12, CreateAh: 56, QpCap: 20, QpDest: 32, ModifyQp: 112, QueryQp: 16, QueryQpResp: 128,
        DestroyCqResp: 8, DestroyQpResp: 4, efa::AllocContext: 8, efa::AllocContextResp: 24, efa::QueryDeviceResp: 24,
        efa::AllocPdResp: 8, efa::CreateCq: 16, efa::CreateCqResp: 40, efa::CreateQp: 24, efa::CreateQpResp: 64,
        efa::CreateAhResp: 8,
    );
}

#[test]
fn a_short_struct_is_extended_with_zeros() {
    let whole =
        efa::CreateQp { rq_ring_size: 1, sq_ring_size: 2, driver_qp_type: 3, flags: 4, sl: 5, ..Default::default() };
    let old = efa::CreateQp::read(&whole.bytes()[..16]);
    assert_eq!(old, efa::CreateQp { flags: 0, sl: 0, ..whole });
}

#[test]
fn every_call_has_a_name() {
    assert_eq!(names::method(object::MR, 4), "MR.REG_DMABUF");
    assert_eq!(EFA.calls().method_name(object::MR, 0x1000), Some("MR.EFA_QUERY"));
    assert_eq!(names::method(object::MR, 0x1000), "MR.method 0x1000");
    assert_eq!(names::method(18, 0), "DMABUF.ALLOC");
    assert_eq!(names::method(18, 9), "DMABUF.method 0x9");
    assert_eq!(names::method(99, 1), "object 0x63 method 0x1");
    assert_eq!(names::command(26), "modify_qp");
    assert_eq!(names::command(names::EX | 1), "ex query_device");
    assert_eq!(names::command(names::EX | 52), "ex create_wq");
    assert_eq!(names::command(40), "open_qp");
    assert_eq!(names::command(52), "command 0x34");
}
