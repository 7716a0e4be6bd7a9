// SPDX-License-Identifier: MIT OR Apache-2.0
use super::*;
use crate::core::container::{VBN_RECORD_HEADER_SIZE, VBN_RECORD_MAX_SIZE};

pub(crate) fn gid(last: u8) -> [u8; 16] {
    let mut gid = [0; 16];
    (gid[0], gid[1], gid[15]) = (0xfe, 0x80, last);
    gid
}

/// An SRD queue pair of an EFA.
pub(crate) fn srd() -> vbn_endpoint_info {
    let mut info = vbn_endpoint_info { struct_size: size_of::<vbn_endpoint_info>(), ..vbn_endpoint_info::zeroed() };
    info.set = VBN_ENDPOINT_SET_QKEY | VBN_ENDPOINT_SET_UNSOLICITED | VBN_ENDPOINT_SET_EFA_GENERATION;
    info.qp_type = VBN_QPT_SRD;
    info.qp_num = 0x12_3456;
    info.qkey = 0x7ead_beef;
    info.efa_generation = 0xefa2;
    info.num_gids = 1;
    info.gids[0] = vbn_endpoint_gid { gid: gid(1), r#type: VBN_GID_TYPE_IB, family: VBN_GID_FAMILY_ANY };
    info
}

/// Everything that there is, each byte another.
fn whole() -> vbn_endpoint_info {
    let mut info = vbn_endpoint_info {
        struct_size: size_of::<vbn_endpoint_info>(),
        set: SET,
        incarnation: 0x1112_1314_1516_1718,
        max_message: 0x2122_2324_2526_2728,
        qp_type: VBN_QPT_RC,
        qp_num: 0x31_3233,
        psn: 0x41_4243,
        qkey: 0x5152_5354,
        efa_generation: 0x6162_6364,
        ece_vendor_id: 0x7172_7374,
        ece_options: 0x8182_8384,
        ece_comp_mask: 0x9192_9394,
        lid: 0xa1a2,
        port_num: 0xb1,
        mtu: 4,
        max_rd_atomic: 0xc1,
        max_dest_rd_atomic: 0xc2,
        unsolicited: 1,
        num_gids: 8,
        ..vbn_endpoint_info::zeroed()
    };
    for (i, place) in info.gids.iter_mut().enumerate() {
        *place = vbn_endpoint_gid { gid: [i as u8 + 1; 16], r#type: i as i32 % 3, family: i as i32 / 3 };
    }
    info
}

fn bytes_of(info: &vbn_endpoint_info) -> Vec<u8> {
    info.encode().unwrap().finish().to_vec()
}

/// What any decoder must do with any bytes: fail with a reason, or give what can be written and read again. True if it gave.
fn harmless(bytes: &[u8]) -> bool {
    match vbn_endpoint_info::decode(bytes) {
        Ok(info) => {
            assert_eq!(vbn_endpoint_info::decode(&bytes_of(&info)).unwrap(), info);
            true
        }
        Err(error) => {
            assert!(matches!(error.status, VBN_ERR_ARGUMENT | VBN_ERR_TOO_NEW));
            let mut sentence = [0; 512];
            crate::core::error::describe(
                &crate::core::error::Record { op: crate::core::op::Op::None, error },
                &mut sentence,
            );
            assert!(sentence[0] != 0);
            false
        }
    }
}

/// Numbers that look random and are the same each time.
struct Dice(u64);

impl Dice {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % limit as u64) as usize
    }
}

fn rounds(many: usize) -> usize {
    if cfg!(miri) { many / 200 } else { many }
}

#[test]
fn the_bytes_are_those_of_the_document() {
    let mut rc = vbn_endpoint_info::zeroed();
    (rc.qp_type, rc.qp_num, rc.psn, rc.set) = (VBN_QPT_RC, 0x12_3456, 0xab_cdef, VBN_ENDPOINT_SET_PSN);
    rc.num_gids = 1;
    rc.gids[0] = vbn_endpoint_gid { gid: std::array::from_fn(|i| i as u8), r#type: 2, family: 2 };
    let hex: String = bytes_of(&rc).iter().map(|b| format!("{b:02x}")).collect();
    let header = "56424e3100330001";
    let numbers = "8001000102800200040012345680030012";
    assert_eq!(hex, format!("{header}{numbers}0202000102030405060708090a0b0c0d0e0f8004000400abcdef"));

    let hex: String = bytes_of(&whole()).iter().skip(8 + 5 + 8 + 8 * 22).map(|b| format!("{b:02x}")).collect();
    assert_eq!(
        hex,
        [
            "8004000400414243",
            "8005000451525354",
            "00060002a1a2",
            "00070001b1",
            "0008000104",
            "000900082122232425262728",
            "000a0002c1c2",
            "800b000101",
            "000c000461626364",
            "000d000c717273748182838491929394",
            "000e00081112131415161718",
        ]
        .concat()
    );
}

#[test]
fn what_was_written_is_read() {
    for info in [srd(), whole()] {
        let bytes = bytes_of(&info);
        assert_eq!(vbn_endpoint_info::decode(&bytes).unwrap(), info);
        let mut slot = [0xff; VBN_RECORD_MAX_SIZE];
        slot[..bytes.len()].copy_from_slice(&bytes);
        assert_eq!(vbn_endpoint_info::decode(&slot).unwrap(), info);
    }
    // Every subset of what may be left out, for each type.
    for qp_type in [VBN_QPT_RC, VBN_QPT_UC, VBN_QPT_UD, VBN_QPT_SRD] {
        for set in (0..=SET).step_by(if cfg!(miri) { 97 } else { 1 }) {
            let info = vbn_endpoint_info { set, qp_type, ..whole() };
            let needs = if qp_type <= VBN_QPT_UC { VBN_ENDPOINT_SET_PSN } else { VBN_ENDPOINT_SET_QKEY };
            assert_eq!(info.encode().is_ok(), set & needs != 0, "{qp_type} {set:#x}");
            if set & needs != 0 {
                let back = vbn_endpoint_info::decode(&bytes_of(&info)).unwrap();
                assert_eq!((back.set, back.qp_type), (set, qp_type));
                // A field that isn't there reads as zero.
                assert_eq!(back.incarnation != 0, set & VBN_ENDPOINT_SET_INCARNATION != 0);
                assert_eq!(back.ece_options != 0, set & VBN_ENDPOINT_SET_ECE != 0);
                assert_eq!(bytes_of(&back), bytes_of(&info));
            }
        }
    }
    let no_gid = vbn_endpoint_info { num_gids: 0, ..whole() };
    assert_eq!(vbn_endpoint_info::decode(&bytes_of(&no_gid)).unwrap().num_gids, 0, "InfiniBand does with a LID");
}

#[test]
fn fields_out_of_range_are_refused() {
    let wrong: [(&str, vbn_endpoint_info); 13] = [
        ("set", vbn_endpoint_info { set: SET + 1, ..whole() }),
        ("qp_type", vbn_endpoint_info { qp_type: 0, ..whole() }),
        ("qp_type", vbn_endpoint_info { qp_type: 256 + 2, ..whole() }),
        ("qp_type", vbn_endpoint_info { qp_type: -1, ..whole() }),
        ("psn", vbn_endpoint_info { set: SET & !VBN_ENDPOINT_SET_PSN, ..whole() }),
        ("qkey", vbn_endpoint_info { set: 0, ..srd() }),
        ("qp_num", vbn_endpoint_info { qp_num: 1 << 24, ..whole() }),
        ("psn", vbn_endpoint_info { psn: 1 << 24, ..whole() }),
        ("port_num", vbn_endpoint_info { port_num: 0, ..whole() }),
        ("mtu", vbn_endpoint_info { mtu: 6, ..whole() }),
        ("unsolicited", vbn_endpoint_info { unsolicited: 2, ..whole() }),
        ("num_gids", vbn_endpoint_info { num_gids: 9, ..whole() }),
        ("address", vbn_endpoint_info { num_gids: 0, ..srd() }),
    ];
    for (what, info) in wrong {
        let error = info.encode().err().unwrap_or_else(|| panic!("{what} was accepted"));
        assert_eq!(error.status, VBN_ERR_ARGUMENT, "{what}");
        assert!(sentence(error).contains(what), "{what}: {}", sentence(error));
    }
    for (at, wrong) in [
        (0, vbn_endpoint_gid { gid: [0; 16], ..whole().gids[0] }),
        (3, vbn_endpoint_gid { r#type: 3, ..whole().gids[0] }),
        (7, vbn_endpoint_gid { family: -1, ..whole().gids[0] }),
    ] {
        let mut info = whole();
        info.gids[at] = wrong;
        assert_eq!(info.encode().err().unwrap().index, at as u64);
        info.num_gids = at as u8;
        assert!(info.encode().is_ok(), "a GID behind the last doesn't count");
    }
    // Nor does what isn't in `set`.
    let junk = vbn_endpoint_info { psn: u32::MAX, mtu: 200, unsolicited: 9, ..srd() };
    assert!(junk.encode().is_err(), "unsolicited is in set");
    let junk = vbn_endpoint_info { set: VBN_ENDPOINT_SET_QKEY, ..junk };
    let back = vbn_endpoint_info::decode(&bytes_of(&junk)).unwrap();
    assert_eq!((back.psn, back.mtu, back.unsolicited), (0, 0, 0));
}

fn sentence(error: Error) -> String {
    let mut buffer = [0u8; 1024];
    crate::core::error::describe(&crate::core::error::Record { op: crate::core::op::Op::None, error }, &mut buffer);
    String::from_utf8(crate::core::text::until_zero(&buffer).to_vec()).unwrap()
}

fn with_items(items: &[(u16, Unknown, &[u8])]) -> Vec<u8> {
    let mut writer = srd().encode().unwrap();
    for (number, unknown, value) in items {
        writer.item(*number, *unknown, &[value]).unwrap();
    }
    writer.finish().to_vec()
}

#[test]
fn unknown_items_are_skipped_or_named() {
    for number in [0, 15, 32, 47, 0x7fff] {
        let skipped = with_items(&[(number, Unknown::Skip, b"from the future"), (number, Unknown::Skip, b"")]);
        assert_eq!(vbn_endpoint_info::decode(&skipped).unwrap(), srd());
        let error = vbn_endpoint_info::decode(&with_items(&[(number, Unknown::Refuse, b"")])).unwrap_err();
        assert_eq!((error.status, error.value), (VBN_ERR_TOO_NEW, number.into()));
        assert!(sentence(error).contains(&format!("item {number} ")), "{}", sentence(error));
    }
}

#[test]
fn the_order_of_items_is_free_and_known_ones_need_no_bit() {
    let mut writer = RecordWriter::new(RecordKind::Endpoint).unwrap();
    writer.item(number::QKEY, Unknown::Skip, &[&srd().qkey.to_be_bytes()]).unwrap();
    writer.item(number::EFA_GENERATION, Unknown::Refuse, &[&0xefa2u32.to_be_bytes()]).unwrap();
    writer.item(number::GID, Unknown::Skip, &[&[0, 0], &gid(1)]).unwrap();
    writer.item(number::UNSOLICITED, Unknown::Skip, &[&[0]]).unwrap();
    writer.item(number::QP_NUM, Unknown::Skip, &[&srd().qp_num.to_be_bytes()]).unwrap();
    writer.item(number::TRANSPORT, Unknown::Skip, &[&[255]]).unwrap();
    assert_eq!(vbn_endpoint_info::decode(writer.finish()).unwrap(), srd());
}

#[test]
fn items_are_there_once_and_have_their_length() {
    let lengths = [
        (1, 1),
        (2, 4),
        (3, 18),
        (4, 4),
        (5, 4),
        (6, 2),
        (7, 1),
        (8, 1),
        (9, 8),
        (10, 2),
        (11, 1),
        (12, 4),
        (13, 12),
        (14, 8),
    ];
    for (number, length) in lengths {
        for wrong in [0, length - 1, length + 1, 200] {
            if wrong == length {
                continue;
            }
            let bytes = with_items(&[(number, Unknown::Skip, &vec![1; wrong])]);
            let error = vbn_endpoint_info::decode(&bytes).unwrap_err();
            // An item that the record has already may be refused for that.
            assert_eq!(error.value, number.into(), "{}", sentence(error));
        }
        let value = vec![1; length];
        let twice = with_items(&[(number, Unknown::Skip, &value), (number, Unknown::Skip, &value)]);
        match number {
            number::GID => assert_eq!(vbn_endpoint_info::decode(&twice).unwrap().num_gids, 3),
            _ => assert!(sentence(vbn_endpoint_info::decode(&twice).unwrap_err()).contains("twice"), "{number}"),
        }
    }
    let gids = with_items(&[(number::GID, Unknown::Skip, &[1; 18][..]); 7]);
    assert_eq!(vbn_endpoint_info::decode(&gids).unwrap().num_gids, 8);
    let gids = with_items(&[(number::GID, Unknown::Skip, &[1; 18][..]); 8]);
    assert!(sentence(vbn_endpoint_info::decode(&gids).unwrap_err()).contains("more than 8"));
}

#[test]
fn what_a_record_must_have() {
    let whole = bytes_of(&srd());
    // The items one after the other: transport, number, GID, QKEY.
    for (start, end, what) in [(8, 13, "transport"), (13, 21, "number"), (21, 43, "address"), (43, 51, "qkey")] {
        let mut bytes = whole.clone();
        bytes.drain(start..end);
        let length = bytes.len() as u16;
        bytes[4..6].copy_from_slice(&length.to_be_bytes());
        let error = vbn_endpoint_info::decode(&bytes).unwrap_err();
        assert!(sentence(error).contains(what), "{what}: {}", sentence(error));
    }
}

#[test]
fn every_byte_replaced_by_every_value() {
    for info in [srd(), whole()] {
        let good = bytes_of(&info);
        let mut accepted = 0;
        for at in (0..good.len()).step_by(if cfg!(miri) { 13 } else { 1 }) {
            for value in (0..=255u8).step_by(if cfg!(miri) { 127 } else { 1 }) {
                let mut bytes = good.clone();
                bytes[at] = value;
                accepted += usize::from(harmless(&bytes));
                // Magic and kind have one value each.
                let fixed = matches!(at, 0..4 | 6..8);
                assert!(!fixed || value == good[at] || !harmless(&bytes), "byte {at} = {value}");
            }
        }
        assert!(accepted > 0);
    }
}

#[test]
fn every_length_given_and_told() {
    for info in [srd(), whole()] {
        let good = bytes_of(&info);
        for size in 0..good.len() {
            assert!(!harmless(&good[..size]), "{size} bytes");
        }
        for told in (0..=u16::MAX).step_by(if cfg!(miri) { 997 } else { 1 }) {
            let mut bytes = good.clone();
            bytes[4..6].copy_from_slice(&told.to_be_bytes());
            let told = usize::from(told);
            assert!(!harmless(&bytes) || told <= good.len(), "{told}");
            // In a buffer of exactly that size, so that a read beyond it is found by a sanitizer.
            bytes.truncate(told);
            bytes.shrink_to_fit();
            harmless(&bytes);
        }
    }
}

#[test]
fn lengths_of_items_that_lie() {
    let good = bytes_of(&whole());
    // Where the items' lengths stand.
    let mut at = VBN_RECORD_HEADER_SIZE;
    while at < good.len() {
        for lie in (0..=u16::MAX).step_by(if cfg!(miri) { 4999 } else { 7 }) {
            let mut bytes = good.clone();
            bytes[at + 2..at + 4].copy_from_slice(&lie.to_be_bytes());
            harmless(&bytes);
        }
        at += 4 + usize::from(u16::from_be_bytes([good[at + 2], good[at + 3]]));
    }
    assert_eq!(at, good.len());
}

#[test]
fn random_bytes() {
    let mut dice = Dice(0x5eed_5eed_5eed_5eed);
    let good = bytes_of(&whole());
    let mut accepted = 0;
    for round in 0..rounds(60_000) {
        let mut bytes = if round % 2 == 0 {
            // Noise behind a good header.
            let size = VBN_RECORD_HEADER_SIZE + dice.below(400);
            let mut bytes: Vec<u8> = (0..size).map(|_| dice.below(256) as u8).collect();
            bytes[..8].copy_from_slice(&good[..8]);
            bytes[4..6].copy_from_slice(&(size as u16).to_be_bytes());
            // Item numbers and lengths mostly begin with zeros.
            for byte in bytes.iter_mut().skip(8) {
                if dice.below(3) == 0 {
                    *byte = 0;
                }
            }
            bytes
        } else {
            // A good record with up to four bytes changed.
            let mut bytes = good.clone();
            for _ in 0..=dice.below(4) {
                let at = dice.below(bytes.len());
                bytes[at] = dice.below(256) as u8;
            }
            bytes
        };
        bytes.shrink_to_fit();
        accepted += usize::from(harmless(&bytes));
    }
    assert!(accepted > rounds(60_000) / 100, "{accepted}: else the test meets nothing but wrong headers");
}
