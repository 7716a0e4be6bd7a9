// SPDX-License-Identifier: MIT OR Apache-2.0
use super::*;
use crate::core::container::{VBN_RECORD_HEADER_SIZE, VBN_RECORD_MAX_SIZE};
use crate::core::endpoint_info::VBN_ENDPOINT_SET_QKEY;
use crate::core::mr_set::{VBN_MEMORY_CUDA, VBN_MEMORY_HOST};
use crate::core::qp_create::VBN_QPT_SRD;

fn host() -> vbn_region_info {
    let mut info = vbn_region_info { struct_size: size_of::<vbn_region_info>(), ..vbn_region_info::zeroed() };
    (info.length, info.memory) = (0x2000, VBN_MEMORY_HOST);
    (info.num_nics, info.num_entries) = (1, 1);
    info.nics[0].gid = std::array::from_fn(|i| i as u8);
    info.entries[0] = vbn_region_entry { addr: 0x7f00_0000_1234, length: 0x2000, rkey: 0xaabb_ccdd, nic: 0 };
    info
}

/// As much as there is room for.
fn whole() -> vbn_region_info {
    let mut info = host();
    (info.set, info.place_set, info.memory) = (SET, 7, VBN_MEMORY_CUDA);
    (info.gpu, info.numa_node, info.pci_domain) = (0x0102_0304, 0x1112_1314, 0x2122_2324);
    (info.pci_bus, info.pci_device, info.pci_function) = (0xc1, 31, 7);
    (info.access, info.length) = (0x8182_8384, 15 << 32);
    (info.num_nics, info.num_entries) = (8, 30);
    for (nic, index) in info.nics.iter_mut().zip(0u8..) {
        nic.gid = [index + 1; 16];
    }
    for (entry, index) in info.entries.iter_mut().zip(0u32..) {
        let nic = index % 8;
        // Six NICs have four entries, two have three, and each covers the whole.
        let many = if nic < 6 { 4 } else { 3 };
        let length = if index < 8 { (15 << 32) - (many - 1) * 5 } else { 5 };
        *entry = vbn_region_entry { addr: u64::from(index) << 40, length, rkey: 0x100 + index, nic };
    }
    info
}

fn bytes_of(info: &vbn_region_info) -> Vec<u8> {
    info.encode().unwrap().finish().to_vec()
}

fn sentence(error: Error) -> String {
    let mut text = [0; 512];
    crate::core::error::describe(&crate::core::error::Record { op: crate::core::op::Op::None, error }, &mut text);
    String::from_utf8(crate::core::text::until_zero(&text).to_vec()).unwrap()
}

/// What any decoder must do with any bytes: fail with a reason, or give what can be written and read again. True if it gave.
fn harmless(bytes: &[u8]) -> bool {
    match vbn_region_info::decode(bytes) {
        Ok(info) => {
            assert_eq!(vbn_region_info::decode(&bytes_of(&info)).unwrap(), info);
            true
        }
        Err(error) => {
            assert!(matches!(error.status, VBN_ERR_ARGUMENT | VBN_ERR_TOO_NEW));
            assert!(!sentence(error).is_empty());
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

fn item(number: u16, value: &[u8]) -> Vec<u8> {
    let mut item = number.to_be_bytes().to_vec();
    item.extend_from_slice(&(value.len() as u16).to_be_bytes());
    item.extend_from_slice(value);
    item
}

fn record(items: &[Vec<u8>]) -> Vec<u8> {
    let mut bytes = b"VBN1\0\0\0\x02".to_vec();
    bytes.extend(items.concat());
    let length = (bytes.len() as u16).to_be_bytes();
    bytes[4..6].copy_from_slice(&length);
    bytes
}

fn entry(nic: u8, addr: u64, length: u64, rkey: u32) -> Vec<u8> {
    item(34, &[&[nic][..], &addr.to_be_bytes(), &length.to_be_bytes(), &rkey.to_be_bytes()].concat())
}

fn nic(index: u8) -> Vec<u8> {
    item(33, &[&[index][..], &[index; 16]].concat())
}

fn length(bytes: u64) -> Vec<u8> {
    item(32, &bytes.to_be_bytes())
}

#[test]
fn the_bytes_are_those_of_the_document() {
    let hex = |bytes: &[u8]| bytes.iter().map(|b| format!("{b:02x}")).collect::<String>();
    let mut small = host();
    (small.set, small.access) = (VBN_REGION_SET_ACCESS, 6);
    assert_eq!(
        hex(&bytes_of(&small)),
        [
            "56424e3100",
            "4f",
            "0002",
            "802000080000000000002000",
            "8021001100000102030405060708090a0b0c0d0e0f",
            "802200150000007f00000012340000000000002000aabbccdd",
            "0023000101",
            "0027000400000006",
        ]
        .concat()
    );
    let tail = hex(&bytes_of(&whole())[8 + 12 + 8 * 21 + 30 * 25..]);
    assert_eq!(
        tail,
        ["0023000102", "0024000401020304", "0025000411121314", "0026000721222324c11f07", "0027000481828384"].concat()
    );
}

#[test]
fn the_largest_fits_and_comes_back() {
    for info in [host(), whole()] {
        let bytes = bytes_of(&info);
        assert!(bytes.len() <= VBN_RECORD_MAX_SIZE, "{}", bytes.len());
        assert_eq!(vbn_region_info::decode(&bytes).unwrap(), info);
        let mut slot = bytes;
        slot.resize(2048, 0xee);
        assert_eq!(vbn_region_info::decode(&slot).unwrap(), info, "what lies behind the record isn't part of it");
    }
}

#[test]
fn the_order_of_items_is_free_but_for_the_entries_of_a_nic() {
    let parts = [length(7), nic(0), nic(1), entry(0, 100, 3, 1), entry(1, 200, 7, 2), entry(0, 300, 4, 3)];
    let want = vbn_region_info::decode(&record(&parts)).unwrap();
    assert_eq!((want.num_nics, want.num_entries, want.entries[2].rkey), (2, 3, 3));
    let [a, b, c, d, e, f] = parts;
    let other = vbn_region_info::decode(&record(&[d.clone(), c, e, f.clone(), b, a])).unwrap();
    assert_eq!(other, want);
    let (count, ranges) = want.ranges(0).unwrap();
    assert_eq!((count, ranges[0].addr, ranges[1].addr, ranges[1].key), (2, 100, 300, 3));
    assert_eq!(want.ranges(1).unwrap().0, 1);
    let error = want.ranges(2).err().unwrap();
    assert_eq!((error.status, error.value, error.limit), (VBN_ERR_ARGUMENT, 2, 2));
}

#[test]
fn unknown_items_are_skipped_or_refused() {
    let mut parts = vec![item(40, b"later"), length(7), nic(0), entry(0, 100, 7, 1), item(0x7fff, b"")];
    assert!(vbn_region_info::decode(&record(&parts)).is_ok());
    // An endpoint's item means nothing here.
    parts.push(item(4, &[0; 4]));
    assert!(vbn_region_info::decode(&record(&parts)).is_ok());
    parts.push(item(0x8000 | 41, b"x"));
    let error = vbn_region_info::decode(&record(&parts)).unwrap_err();
    assert_eq!((error.status, error.value), (VBN_ERR_TOO_NEW, 41));
    // A kind of memory that this library doesn't know is passed on.
    let later = [length(7), nic(0), entry(0, 100, 7, 1), item(35, &[200])];
    assert_eq!(vbn_region_info::decode(&record(&later)).unwrap().memory, 200);
}

#[test]
fn what_is_missing_twice_or_wrong_is_told() {
    let good = [length(7), nic(0), entry(0, 100, 7, 1)];
    assert!(harmless(&record(&good)));
    let [a, b, c] = good;
    let none = Vec::new();
    for (parts, says) in [
        ([none.clone(), b.clone(), c.clone(), none.clone()], "length 0"),
        ([a.clone(), none.clone(), c.clone(), none.clone()], "num_nics 0"),
        ([a.clone(), b.clone(), none.clone(), none.clone()], "num_entries 0"),
        ([a.clone(), b.clone(), c.clone(), a.clone()], "item 32 is not to be there twice"),
        ([a.clone(), b.clone(), c.clone(), b.clone()], "item 33 is not to be there twice"),
        ([a.clone(), b.clone(), c.clone(), c.clone()], "what is left of the region, 0"),
        ([a.clone(), nic(1), entry(1, 100, 7, 1), none.clone()], "aren't numbered from 0"),
        ([a.clone(), b.clone(), c.clone(), nic(8)], "0..7"),
        ([a.clone(), b.clone(), entry(1, 100, 7, 1), none.clone()], "nic 1 is not one of"),
        ([a.clone(), b.clone(), entry(0, 100, 6, 1), none.clone()], "don't cover it"),
        ([a.clone(), b.clone(), entry(0, 100, 8, 1), none.clone()], "exceeds"),
        ([a.clone(), b.clone(), entry(0, 100, 0, 1), c.clone()], "length 0"),
        ([a.clone(), b.clone(), entry(0, u64::MAX - 5, 7, 1), none.clone()], "2^64 6"),
        ([a.clone(), b.clone(), c.clone(), nic(1)], "don't cover it"),
        ([a.clone(), b.clone(), c.clone(), item(36, &[0x80, 0, 0, 0])], "gpu -2147483648"),
        ([a.clone(), b.clone(), c.clone(), item(37, &[0xff; 4])], "numa_node -1"),
        ([a.clone(), b.clone(), c.clone(), item(38, &[0, 0, 0, 0, 0, 32, 0])], "pci_device 32"),
        ([a.clone(), b.clone(), c.clone(), item(38, &[0; 6])], "item 38"),
        ([a.clone(), b.clone(), c.clone(), item(39, &[0; 5])], "item 39"),
        ([a.clone(), b.clone(), item(34, &[0; 20]), c.clone()], "item 34"),
        ([a.clone(), item(33, &[0; 16]), c.clone(), b.clone()], "item 33"),
        ([item(32, &[0; 4]), b.clone(), c.clone(), none.clone()], "item 32"),
    ] {
        let error = vbn_region_info::decode(&record(&parts)).unwrap_err();
        assert_eq!(error.status, VBN_ERR_ARGUMENT);
        let text = sentence(error);
        assert!(text.contains(says), "{says}: {text}");
    }
    assert!(harmless(&record(&[a, b, entry(0, u64::MAX - 6, 7, 1)])));
    let many: Vec<_> = [length(31), nic(0)].into_iter().chain((0..31).map(|at| entry(0, at, 1, 1))).collect();
    assert!(sentence(vbn_region_info::decode(&record(&many)).unwrap_err()).contains("more than 30"));
}

#[test]
fn sums_that_pass_2_64_are_no_way_round() {
    let half = 1u64 << 63;
    let parts = [length(2), nic(0), entry(0, 0, half, 1), entry(0, 0, half, 1), entry(0, 0, 2, 1)];
    assert_eq!(vbn_region_info::decode(&record(&parts)).unwrap_err().limit, 2);
    let most = [length(u64::MAX), nic(0), entry(0, 0, half, 1), entry(0, 0, half - 1, 1)];
    assert!(harmless(&record(&most)));
}

#[test]
fn an_endpoint_is_no_region() {
    let mut bytes = bytes_of(&host());
    bytes[7] = 1;
    let error = vbn_region_info::decode(&bytes).unwrap_err();
    assert_eq!((error.status, error.value, error.limit), (VBN_ERR_ARGUMENT, 1, 2));
}

#[test]
fn what_is_cut_or_changed_does_no_harm() {
    let mut dice = Dice(7);
    for info in [host(), whole()] {
        let bytes = bytes_of(&info);
        for size in 0..bytes.len() {
            assert!(!harmless(&bytes[..size]), "cut to {size}");
        }
        for at in 0..bytes.len() {
            for bit in 0..8 {
                let mut changed = bytes.clone();
                changed[at] ^= 1 << bit;
                harmless(&changed);
            }
        }
        for _ in 0..rounds(20_000) {
            let mut changed = bytes.clone();
            for _ in 0..=dice.below(4) {
                let at = dice.below(changed.len());
                changed[at] = dice.below(256) as u8;
            }
            harmless(&changed);
        }
    }
}

#[test]
fn items_thrown_together_do_no_harm() {
    let mut dice = Dice(77);
    let mut given = 0;
    for _ in 0..rounds(40_000) {
        let mut bytes = vec![0; VBN_RECORD_HEADER_SIZE];
        bytes[..4].copy_from_slice(b"VBN1");
        bytes[7] = 2;
        let plain = [length(dice.below(9) as u64), nic(dice.below(2) as u8), entry(0, 5, dice.below(9) as u64, 1)];
        for _ in 0..dice.below(6) {
            match dice.below(8) {
                at @ 0..=2 => bytes.extend(&plain[at]),
                _ => {
                    let value: Vec<u8> = (0..dice.below(24)).map(|_| dice.below(256) as u8).collect();
                    bytes.extend(item(32 + dice.below(10) as u16, &value));
                }
            }
        }
        let size = (bytes.len() as u16).to_be_bytes();
        bytes[4..6].copy_from_slice(&size);
        given += usize::from(harmless(&bytes));
    }
    assert!(given > 0 || cfg!(miri), "none was any good, so nothing was tried");
}

#[test]
fn entries_are_cut_out_of_ranges() {
    let ranges = [(0x1000, 10), (0x2000, 5), (0x3000, 20)].map(|(addr, length)| Range { addr, length, key: 99 });
    let cut = |offset, length| {
        let mut info = host();
        info.num_entries = 0;
        info.append(3, &ranges, [7, 8, 9].into_iter(), offset, length).unwrap();
        info.entries().iter().map(|e| (e.addr, e.length, e.rkey, e.nic)).collect::<Vec<_>>()
    };
    assert_eq!(cut(0, 35), [(0x1000, 10, 7, 3), (0x2000, 5, 8, 3), (0x3000, 20, 9, 3)]);
    assert_eq!(cut(3, 7), [(0x1003, 7, 7, 3)]);
    assert_eq!(cut(10, 6), [(0x2000, 5, 8, 3), (0x3000, 1, 9, 3)]);
    assert_eq!(cut(14, 2), [(0x2004, 1, 8, 3), (0x3000, 1, 9, 3)]);
    assert_eq!(cut(34, 1), [(0x3013, 1, 9, 3)]);

    let many = [Range { addr: 0, length: 1, key: 0 }; 31];
    let mut info = host();
    info.num_entries = 0;
    assert!(info.append(0, &many, std::iter::repeat_n(1, 31), 0, 30).is_ok());
    let error = info.append(1, &many, std::iter::repeat_n(1, 31), 0, 2).unwrap_err();
    assert_eq!((error.value, error.limit, info.num_entries), (32, 30, 30));
}

#[test]
fn fields_of_a_callers_are_checked() {
    let wrong = |change: fn(&mut vbn_region_info)| {
        let mut info = whole();
        change(&mut info);
        info.encode().err().unwrap()
    };
    assert_eq!(wrong(|info| info.set = 2).value, 2);
    assert_eq!(wrong(|info| info.place_set = 8).value, 8);
    assert_eq!(wrong(|info| info.num_nics = 9).value, 9);
    assert_eq!(wrong(|info| info.num_entries = 31).value, 31);
    assert_eq!(wrong(|info| info.reserved0[2] = 1).status, VBN_ERR_ARGUMENT);
    assert_eq!(wrong(|info| info.access = 1 << 32).value, 1 << 32);
    assert_eq!(wrong(|info| info.memory = 256).value, 256);
    assert_eq!(wrong(|info| info.entries[29].nic = 8).index, 29);
    assert_eq!(wrong(|info| info.entries[3].length += 1).index, 27);
}

/// By any address that the endpoint has, among the NICs that count.
#[test]
fn a_nic_is_found_by_its_gid() {
    let mut region = whole();
    region.nics[2].gid = [0; 16];
    let mut endpoint = vbn_endpoint_info { struct_size: size_of::<vbn_endpoint_info>(), ..vbn_endpoint_info::zeroed() };
    (endpoint.set, endpoint.qp_type) = (VBN_ENDPOINT_SET_QKEY, VBN_QPT_SRD);
    endpoint.num_gids = 2;
    for nic in [0u8, 1, 3, 7] {
        endpoint.gids[0].gid = [0xfe; 16];
        endpoint.gids[1].gid = [nic + 1; 16];
        assert_eq!(region.find_nic(&endpoint).unwrap(), u32::from(nic));
        endpoint.gids.swap(0, 1);
        assert_eq!(region.find_nic(&endpoint).unwrap(), u32::from(nic));
    }
    // One that doesn't count.
    endpoint.num_gids = 1;
    endpoint.gids.swap(0, 1);
    let error = region.find_nic(&endpoint).unwrap_err();
    assert_eq!((error.status, error.value, error.limit), (VBN_ERR_NOT_FOUND, 1, 8));
    let mut one = host();
    one.nics[1].gid = [0xfe; 16];
    assert_eq!(one.find_nic(&endpoint).unwrap_err().status, VBN_ERR_NOT_FOUND);
    one.num_nics = 9;
    assert_eq!(one.find_nic(&endpoint).unwrap_err().status, VBN_ERR_ARGUMENT);
}
