// SPDX-License-Identifier: MIT OR Apache-2.0
//! GIDs of the fabric: `fe80::5af7:0:HOST:DEVICE`, so that an address alone says which run and which of its devices.

use crate::model::host::Gid;

pub fn gid(host: u16, device: u8) -> Gid {
    let [high, low] = host.to_be_bytes();
    Gid([0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0x5a, 0xf7, 0, 0, high, low, 0, device])
}

/// Host and device, if the GID is one of a fabric.
pub fn place(gid: Gid) -> Option<(u16, u8)> {
    let [0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0x5a, 0xf7, 0, 0, high, low, 0, device] = gid.0 else { return None };
    Some((u16::from_be_bytes([high, low]), device))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_leads_back() {
        assert_eq!(place(gid(0xabcd, 31)), Some((0xabcd, 31)));
        assert_eq!(place(Gid([0; 16])), None);
    }
}
