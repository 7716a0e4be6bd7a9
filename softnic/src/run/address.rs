// SPDX-License-Identifier: MIT OR Apache-2.0
//! GIDs of the fabric: `fe80::5af7:0:HOST:DEVICE`, so that an address alone says which run and which of its devices.

use crate::model::host::Gid;

pub const fn gid(host: u16, device: u8) -> Gid {
    let [high, low] = host.to_be_bytes();
    Gid([0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0x5a, 0xf7, 0, 0, high, low, 0, device])
}

/// Host and device, if the GID is one of a fabric.
pub fn place(gid: Gid) -> Option<(u16, u8)> {
    const ALL_BUT_PLACE: u128 = !(0xffff << 16 | 0xff);
    let all = u128::from_be_bytes(gid.0);
    (all & ALL_BUT_PLACE == u128::from_be_bytes(self::gid(0, 0).0)).then_some(((all >> 16) as u16, all as u8))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_leads_back() {
        assert_eq!(place(gid(0xabcd, 31)), Some((0xabcd, 31)));
        assert_eq!(place(gid(0, 0)), Some((0, 0)));
        assert_eq!(place(Gid([0; 16])), None);
        for byte in (0..12).chain([14]) {
            let mut other = gid(0x123, 4);
            other.0[byte] ^= 1;
            assert_eq!(place(other), None, "{byte}");
        }
    }
}
