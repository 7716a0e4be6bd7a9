// SPDX-License-Identifier: MIT OR Apache-2.0
//! What needs no tree; tests-c/null_topology.c has the trees.

use super::*;
use std::cmp::Ordering;

fn pci(text: &str) -> Option<String> {
    Pci::parse(text.as_bytes()).map(|pci| pci.to_string())
}

#[test]
fn addresses_in_every_usual_form() {
    assert_eq!(pci("0000:53:00.0").unwrap(), "0000:53:00.0");
    assert_eq!(pci("53:00.1").unwrap(), "0000:53:00.1");
    assert_eq!(pci("53:00").unwrap(), "0000:53:00.0");
    assert_eq!(pci("00000000:CA:1F.7").unwrap(), "0000:ca:1f.7");
    assert_eq!(pci("10000:e1:00.0").unwrap(), "10000:e1:00.0");
    for wrong in ["", ":", ".", "53", "53:", "0:1:2:3.0", "53:20.0", "53:00.8", "53:00.00", "153:00.0", "53:0x1.0"] {
        assert_eq!(pci(wrong), None, "{wrong}");
    }
    assert!(Pci::exact(b"53:00.0").is_none() && Pci::exact(b"pci0000:53").is_none());
    assert!(Pci::exact(b"0000:53:00").is_none() && Pci::exact(b"0000:53:00.0").is_some());
}

#[test]
fn names_are_ordered_by_their_number() {
    let order = |a: &str, b: &str| by_name(&chars(a.as_bytes()), &chars(b.as_bytes()));
    assert_eq!(order("mlx5_2", "mlx5_10"), Ordering::Less);
    assert_eq!(order("mlx5_2", "mlx4_10"), Ordering::Greater);
    assert_eq!(order("", "mlx4_10"), Ordering::Less);
    assert_eq!(order("7", "7"), Ordering::Equal);
}

#[test]
fn links_show_the_way_and_the_last_function() {
    let text = b"../../devices/pci0000:00/0000:00:01.0/0000:01:00.0/mlx5_core.sf.4/infiniband/mlx5_2";
    let mut link = Link { bytes: [0; 1024], length: text.len() };
    link.bytes[..text.len()].copy_from_slice(text);
    assert_eq!(link.function(), Pci::parse(b"01:00.0"));
    assert_eq!(link.steps().count(), 6);
    assert_eq!(link.steps().next(), Some(&b"pci0000:00"[..]));
}
