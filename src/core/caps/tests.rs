// SPDX-License-Identifier: MIT OR Apache-2.0
//! The judgement of made-up devices.

use super::*;
use crate::core::context::{VBN_LINK_LAYER_ETHERNET, VBN_LINK_LAYER_INFINIBAND, VBN_LINK_LAYER_UNSPECIFIED};
use crate::core::device::VBN_TRANSPORT_UNSPECIFIED;
use crate::core::text::{text, until_zero};

const YES_TO_ALL: Tried = Tried {
    notify: Answer::Yes,
    dmabuf: Answer::Yes,
    rc: Answer::Yes,
    uc: Answer::Yes,
    ud: Answer::Yes,
    inline: Answer::Yes,
    inline_granted: 64,
    windows: Answer::Yes,
    atomic_write: Answer::Yes,
    flush: Answer::Yes,
};

const READ: u32 = EFADV_DEVICE_ATTR_CAPS_RDMA_READ;
const WRITE: u32 = EFADV_DEVICE_ATTR_CAPS_RDMA_WRITE;

fn port(link_layer: i32, max_msg_sz: u32) -> ibv_port_attr {
    let mut port = ibv_port_attr::zeroed();
    (port.link_layer, port.max_msg_sz, port.active_mtu) = (link_layer as u8, max_msg_sz, 5);
    port
}

fn efa(device_caps: u32, min: u32, below: u32) -> Facts {
    let mut attr = efadv_device_attr::zeroed();
    (attr.device_caps, attr.max_rdma_size, attr.inline_buf_size) = (device_caps, 1 << 30, 32);
    (attr.max_sq_wr, attr.max_rq_wr, attr.max_sq_sge, attr.max_rq_sge) = (4096, 8192, 2, 3);
    let mut device = vbn_device_attr::zeroed();
    (device.max_sge_rd, device.max_qp_wr, device.has_extended) = (1, 4096, 1);
    Facts {
        name: chars(b"rdmap0s6"),
        transport: VBN_TRANSPORT_UNSPECIFIED,
        device,
        port: port(VBN_LINK_LAYER_UNSPECIFIED, 8928),
        efa: Some(Efa { attr, release: Release { min, below }, sq_depth: None }),
        tried: Tried { rc: Answer::Unclear(0), ..YES_TO_ALL },
        num_comp_vectors: 8,
    }
}

fn roce() -> Facts {
    let mut device = vbn_device_attr::zeroed();
    (device.max_sge, device.max_sge_rd, device.max_qp_wr) = (30, 16, 32768);
    (device.max_qp_init_rd_atom, device.atomic_cap, device.has_extended) = (16, 1, 1);
    (device.max_srq, device.completion_timestamp_mask) = (100, u64::MAX);
    Facts {
        name: chars(b"mlx5_0"),
        transport: VBN_TRANSPORT_IB,
        device,
        port: port(VBN_LINK_LAYER_ETHERNET, 1 << 30),
        efa: None,
        tried: YES_TO_ALL,
        num_comp_vectors: 8,
    }
}

fn absence(caps: &vbn_caps, cap: u64) -> (u8, u16) {
    let place = cap.trailing_zeros() as usize;
    (caps.absence[place], caps.detail[place])
}

fn said(caps: &vbn_caps, cap: u64) -> String {
    let mut room = [0; 512];
    let needed = describe(caps, cap, &mut room).unwrap();
    let text = String::from_utf8(until_zero(&room).to_vec()).unwrap();
    assert_eq!(needed, text.len() + 1);
    text
}

#[test]
fn a_bit_is_set_or_has_a_reason() {
    let mut nothing = roce();
    nothing.tried.rc = Answer::Unclear(libc::ENOMEM);
    nothing.device = vbn_device_attr::zeroed();
    for facts in [efa(READ, 65, 0), efa(0, 26, 43), roce(), nothing] {
        let caps = facts.judge();
        assert_eq!(caps.asked, ALL);
        for place in 0..64 {
            let there = caps.caps >> place & 1 == 1;
            let asked = ALL >> place & 1 == 1;
            assert_eq!(asked, there || caps.absence[place] != VBN_ABSENCE_NONE, "bit {place}");
        }
        CAPS.iter().for_each(|(cap, name)| assert!(said(&caps, *cap).contains(name), "{}", said(&caps, *cap)));
    }
}

#[test]
fn a_device_without_write_under_a_library_that_would_say_so() {
    let caps = efa(READ, 65, 0).judge();
    assert_eq!(caps.caps & (VBN_CAP_READ | VBN_CAP_WRITE | VBN_CAP_WRITE_IMM), VBN_CAP_READ);
    for cap in [VBN_CAP_WRITE, VBN_CAP_WRITE_IMM, VBN_CAP_INLINE_WRITE] {
        assert_eq!(absence(&caps, cap), (VBN_ABSENCE_DEVICE, 0));
    }
    let text = said(&caps, VBN_CAP_WRITE);
    assert!(text.starts_with("efa device rdmap0s6 has RDMA READ only (p4d class): no RDMA WRITE"), "{text}");
    assert_eq!((caps.max_rdma_size, caps.max_read_sge, caps.max_write_sge), (1 << 30, 1, 0));
    assert!(said(&efa(0, 65, 0).judge(), VBN_CAP_WRITE).contains("neither RDMA READ nor WRITE"));
    assert_eq!(efa(0, 65, 0).judge().max_rdma_size, 0);
    assert!(said(&efa(0, 65, 0).judge(), VBN_CAP_READ).ends_with("; use SEND"));
    assert!(said(&efa(WRITE, 65, 0).judge(), VBN_CAP_READ).ends_with("; let the peer WRITE, or use SEND"));
}

#[test]
fn a_library_that_cannot_say_is_named_with_its_release() {
    let caps = efa(READ, 44, 45).judge();
    assert_eq!(absence(&caps, VBN_CAP_WRITE), (VBN_ABSENCE_LIBRARY, 46));
    let text = said(&caps, VBN_CAP_WRITE);
    assert!(text.starts_with("libefa of rdma-core 44 has no RDMA WRITE; it needs rdma-core 46 or newer"), "{text}");
    assert_eq!(absence(&caps, VBN_CAP_UNSOLICITED_WRITE_RECV), (VBN_ABSENCE_LIBRARY, 52));
    assert_eq!(absence(&caps, VBN_CAP_PROCESSING_HINTS), (VBN_ABSENCE_LIBRARY, 64));
    assert_eq!(absence(&caps, VBN_CAP_INLINE_WRITE), (VBN_ABSENCE_LIBRARY, 63));
    assert_eq!(absence(&caps, VBN_CAP_WC_SGID), (VBN_ABSENCE_DEVICE, 0));

    // Functions alone leave 43 to 49, and WRITE came in between.
    let caps = efa(READ, 43, 50).judge();
    assert_eq!(absence(&caps, VBN_CAP_WRITE), (VBN_ABSENCE_LIBRARY_OR_DEVICE, 46));
    assert!(said(&caps, VBN_CAP_WRITE).contains("rdma-core 43 to 49 is older than 46"));
    assert_eq!(absence(&caps, VBN_CAP_UNSOLICITED_WRITE_RECV), (VBN_ABSENCE_LIBRARY, 52));
}

#[test]
fn a_device_with_write_has_inline_write_by_its_wide_entries() {
    let mut facts = efa(READ | WRITE, 65, 0);
    assert_eq!(absence(&facts.judge(), VBN_CAP_INLINE_WRITE), (VBN_ABSENCE_DEVICE, 0));
    assert!(said(&facts.judge(), VBN_CAP_INLINE_WRITE).contains("no wide entries"));
    if let Some(efa) = &mut facts.efa {
        efa.attr.inline_buf_size_ex = 80;
        efa.sq_depth = Some((4096, 2048));
    }
    let caps = facts.judge();
    let all = VBN_CAP_WRITE | VBN_CAP_WRITE_IMM | VBN_CAP_INLINE_WRITE | VBN_CAP_PROCESSING_HINTS;
    assert_eq!(caps.caps & all, all);
    assert_eq!((caps.max_inline, caps.max_inline_ex, caps.max_sq_depth, caps.max_sq_depth_ex), (32, 80, 4096, 2048));
    assert_eq!((caps.max_send_size, caps.max_datagram_size, caps.max_recv_segment), (8928, 8928, 65535));
    // Under an older library the wide entries are out of reach.
    let caps = efa(READ | WRITE, 56, 57).judge();
    assert_eq!(absence(&caps, VBN_CAP_INLINE_WRITE), (VBN_ABSENCE_LIBRARY, 63));
    assert_eq!((caps.max_inline_ex, caps.max_sq_depth_ex), (32, 4096));
}

#[test]
fn what_srd_is_not() {
    let caps = efa(READ | WRITE, 65, 0).judge();
    let never = VBN_CAP_RC | VBN_CAP_UC | VBN_CAP_XRC | VBN_CAP_ATOMICS | VBN_CAP_UNSIGNALED | VBN_CAP_FENCE;
    let never = never | VBN_CAP_SOLICITED | VBN_CAP_ORDERED | VBN_CAP_NOTIFY_SOLICITED;
    assert_eq!(caps.caps & never, 0);
    for place in (0..64).filter(|place| never >> place & 1 == 1) {
        assert_eq!(caps.absence[place], VBN_ABSENCE_TRANSPORT, "bit {place}");
    }
    assert!(said(&caps, VBN_CAP_RC).contains("SRD"));
    assert!(said(&caps, VBN_CAP_UNSIGNALED).contains("sq_sig_all"));
    assert_ne!(caps.caps & VBN_CAP_ERRORS_ISOLATED, 0);
    assert_eq!(roce().judge().caps & VBN_CAP_ERRORS_ISOLATED, 0);
}

#[test]
fn notifications_and_dma_bufs_are_tried() {
    let mut facts = efa(READ, 65, 0);
    facts.tried.notify = Answer::Refused(libc::EOPNOTSUPP);
    facts.tried.dmabuf = Answer::Unclear(libc::ENOMEM);
    let caps = facts.judge();
    assert_eq!(absence(&caps, VBN_CAP_NOTIFY), (VBN_ABSENCE_DRIVER, libc::EOPNOTSUPP as u16));
    assert!(said(&caps, VBN_CAP_NOTIFY).contains("refuses completion notifications: "));
    assert_eq!(absence(&caps, VBN_CAP_DMABUF), (VBN_ABSENCE_UNKNOWN, libc::ENOMEM as u16));
    assert!(said(&caps, VBN_CAP_DMABUF).contains("could not be tried on efa device rdmap0s6"));
    facts.tried.dmabuf = Answer::NoFunction(34);
    assert_eq!(absence(&facts.judge(), VBN_CAP_DMABUF), (VBN_ABSENCE_LIBRARY, 34));
    assert!(said(&facts.judge(), VBN_CAP_DMABUF).contains("rdma-core 34"));
    // Such a libefa makes the queue and never sends an event.
    let caps = efa(READ, 33, 34).judge();
    assert_eq!(absence(&caps, VBN_CAP_NOTIFY), (VBN_ABSENCE_LIBRARY, 38));
    assert_eq!(absence(&efa(READ, 26, 43).judge(), VBN_CAP_NOTIFY), (VBN_ABSENCE_LIBRARY_OR_DEVICE, 38));
}

#[test]
fn roce_infiniband_and_iwarp() {
    let caps = roce().judge();
    let all = VBN_CAP_RC | VBN_CAP_WRITE_IMM | VBN_CAP_READ | VBN_CAP_ORDERED | VBN_CAP_FENCE | VBN_CAP_INLINE_WRITE;
    assert_eq!(caps.caps & all, all);
    assert_eq!(absence(&caps, VBN_CAP_SRD).0, VBN_ABSENCE_TRANSPORT);
    assert_eq!(absence(&caps, VBN_CAP_ATOMICS_GLOBAL).0, VBN_ABSENCE_DEVICE);
    assert_eq!(absence(&caps, VBN_CAP_RELAXED_ORDERING).0, VBN_ABSENCE_UNKNOWN);
    assert_eq!((caps.max_datagram_size, caps.max_rdma_size, caps.max_read_sge), (4096, 1 << 30, 16));
    assert_eq!((caps.max_inline, caps.release_min), (64, 0));
    assert_eq!(said(&caps, VBN_CAP_READ), "RoCE device mlx5_0 has RDMA READ");

    let mut facts = roce();
    facts.port = port(VBN_LINK_LAYER_INFINIBAND, 1 << 30);
    facts.device.has_extended = 0;
    facts.device.completion_timestamp_mask = 0;
    let caps = facts.judge();
    assert_eq!(absence(&caps, VBN_CAP_WC_TIMESTAMP), (VBN_ABSENCE_UNKNOWN, 0));
    assert!(said(&caps, VBN_CAP_SRD).starts_with("InfiniBand device mlx5_0 has no SRD"));

    facts.transport = VBN_TRANSPORT_IWARP;
    facts.tried.uc = Answer::Refused(libc::EINVAL);
    facts.tried.ud = Answer::Refused(libc::EOPNOTSUPP);
    let caps = facts.judge();
    assert_eq!(caps.caps & (VBN_CAP_RC | VBN_CAP_UC | VBN_CAP_UD | VBN_CAP_WRITE), VBN_CAP_RC | VBN_CAP_WRITE);
    assert_eq!(absence(&caps, VBN_CAP_WRITE_IMM), (VBN_ABSENCE_UNKNOWN, 0));
    assert_eq!(absence(&caps, VBN_CAP_RNR_RETRY).0, VBN_ABSENCE_TRANSPORT);
    assert_eq!(caps.max_datagram_size, 0);

    // Nothing is promised by a transport that nobody knows.
    facts.transport = VBN_TRANSPORT_UNSPECIFIED;
    let caps = facts.judge();
    assert_eq!(caps.caps & (VBN_CAP_RC | VBN_CAP_WRITE | VBN_CAP_ORDERED), VBN_CAP_RC);
    assert_eq!(absence(&caps, VBN_CAP_WRITE), (VBN_ABSENCE_UNKNOWN, 0));
}

#[test]
fn without_rc_its_operations_say_why() {
    let mut facts = roce();
    facts.tried.rc = Answer::Refused(libc::EOPNOTSUPP);
    facts.tried.uc = Answer::Refused(libc::EINVAL);
    let caps = facts.judge();
    assert_eq!(caps.caps & (VBN_CAP_SEND | VBN_CAP_WRITE | VBN_CAP_READ), VBN_CAP_SEND);
    assert_eq!(absence(&caps, VBN_CAP_WRITE), (VBN_ABSENCE_DRIVER, libc::EOPNOTSUPP as u16));
    assert_eq!(absence(&caps, VBN_CAP_READ), (VBN_ABSENCE_DRIVER, libc::EOPNOTSUPP as u16));
}

#[test]
fn what_the_kernel_reports_the_driver_must_know() {
    let mut facts = roce();
    let all = VBN_CAP_MW | VBN_CAP_ATOMIC_WRITE | VBN_CAP_FLUSH;
    assert_eq!(facts.judge().caps & all, 0);
    facts.device.max_mw = 1;
    facts.device.device_cap_flags_ex = WINDOWS | DEVICE_ATOMIC_WRITE | DEVICE_FLUSH_GLOBAL;
    assert_eq!(facts.judge().caps & all, all);
    let no = Answer::Refused(libc::EOPNOTSUPP);
    (facts.tried.windows, facts.tried.atomic_write, facts.tried.flush) = (no, no, Answer::Unclear(libc::ENOMEM));
    let caps = facts.judge();
    assert_eq!(caps.caps & all, 0);
    for cap in [VBN_CAP_MW, VBN_CAP_ATOMIC_WRITE] {
        assert_eq!(absence(&caps, cap), (VBN_ABSENCE_DRIVER, libc::EOPNOTSUPP as u16));
    }
    assert_eq!(absence(&caps, VBN_CAP_FLUSH), (VBN_ABSENCE_UNKNOWN, libc::ENOMEM as u16));
}

#[test]
fn releases_are_told_by_functions_and_file_names() {
    let mut missing = MissingSet::new();
    for (index, symbol) in SYMBOLS.iter().enumerate() {
        if symbol.since.parse::<u32>().unwrap() > 43 {
            missing.insert(index);
        }
    }
    let release = Release::of(SYMBOLS, &missing);
    assert_eq!(release, Release { min: 43, below: 50 });
    let narrow = |name: &[u8]| release.narrowed(name);
    assert_eq!(narrow(b"../libefa.so.1.2.44.0"), Release { min: 44, below: 45 });
    assert_eq!(narrow(b"/usr/lib64/libefa.so.1.2.49.3"), Release { min: 49, below: 50 });
    // A name that contradicts, and names that say nothing.
    for name in [&b"libefa.so.1.3.56.1"[..], b"libefa-rdmav34.so", b"libefa.so.1", b"libefa.so.1.2.x", b""] {
        assert_eq!(narrow(name), release);
    }
    let newest = Release::of(SYMBOLS, &MissingSet::new());
    assert_eq!(newest, Release { min: 65, below: 0 });
    assert_eq!(newest.narrowed(b"libefa.so.1.7.66.0"), Release { min: 66, below: 67 });
}

#[test]
fn texts_are_cut_and_wrong_questions_refused() {
    let caps = efa(READ, 65, 0).judge();
    let mut room = [0xff; 12];
    let needed = describe(&caps, VBN_CAP_WRITE, &mut room).unwrap();
    assert_eq!(&room, b"efa device \0");
    assert_eq!(describe(&caps, VBN_CAP_WRITE, &mut []).unwrap(), needed);
    for cap in [0, VBN_CAP_RC | VBN_CAP_UC, 1 << 63] {
        assert!(describe(&caps, cap, &mut room).is_err(), "{cap:#x}");
    }
    // What a caller wrote into the struct himself.
    let mut junk = caps;
    (junk.name, junk.absence) = ([-1; 64], [200; 64]);
    assert!(!said(&junk, VBN_CAP_WRITE).is_empty() && text(&junk.name).len() == 64);
}
