// SPDX-License-Identifier: MIT OR Apache-2.0
//! The 24-byte record by which connectionless queue pairs are found.

use super::endpoint_info::Gids;
use super::error::{Error, Result};
use super::qp::Qp;

/// Bytes of an encoded endpoint.
pub const VBN_ENDPOINT_SIZE: usize = 24;

/// Where requests of connectionless queue pairs (SRD, UD) go to. Frozen.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct vbn_endpoint {
    /// The GID of its port, as it goes over the wire.
    pub gid: [u8; 16],
    /// The queue pair's number, 24 bits.
    pub qp_num: u32,
    /// What its senders must show.
    pub qkey: u32,
}

const _: () = assert!(size_of::<vbn_endpoint>() == VBN_ENDPOINT_SIZE);

impl vbn_endpoint {
    /// What must hold of any endpoint, made here or received.
    pub fn check(&self) -> Result<()> {
        check_24("qp_num", self.qp_num)
    }

    /// Big-endian: gid, qp_num, qkey.
    pub fn encode(&self) -> Result<[u8; VBN_ENDPOINT_SIZE]> {
        self.check()?;
        let mut bytes = [0; VBN_ENDPOINT_SIZE];
        let fields: [&[u8]; 3] = [&self.gid, &self.qp_num.to_be_bytes(), &self.qkey.to_be_bytes()];
        for (to, from) in bytes.iter_mut().zip(fields.iter().copied().flatten()) {
            *to = *from;
        }
        Ok(bytes)
    }

    pub fn decode(bytes: &[u8]) -> Result<Self> {
        let [gid @ .., q0, q1, q2, q3, k0, k1, k2, k3] = bytes else {
            return Err(wrong_size(bytes.len()));
        };
        let endpoint = Self {
            gid: gid.try_into().map_err(|_| wrong_size(bytes.len()))?,
            qp_num: u32::from_be_bytes([*q0, *q1, *q2, *q3]),
            qkey: u32::from_be_bytes([*k0, *k1, *k2, *k3]),
        };
        endpoint.check()?;
        Ok(endpoint)
    }

    /// The endpoint of one's own queue pair.
    pub fn local(qp: &Qp) -> Result<Self> {
        let qkey = qp.qkey()?;
        let gids = Gids::of(qp.device(), qp.port_num()?, None)?;
        Ok(Self { gid: gids.first(), qp_num: qp.qp_num(), qkey })
    }
}

/// The error for an endpoint that does not have 24 bytes.
pub fn wrong_size(size: usize) -> Error {
    Error::range("the size of the record", size as u64, "24 bytes")
}

pub fn check_24(what: &'static str, value: u32) -> Result<()> {
    if value > 0xff_ffff { Err(Error::range(what, value.into(), "a 24-bit number")) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn endpoint() -> vbn_endpoint {
        vbn_endpoint { gid: std::array::from_fn(|i| i as u8), qp_num: 0x12_3456, qkey: 0xdead_beef }
    }

    #[test]
    fn the_endpoint_has_the_bytes_that_rdma4py_exchanges() {
        let bytes = endpoint().encode().unwrap();
        let hex: String = bytes.iter().map(|b| format!("{b:02x}")).collect();
        assert_eq!(hex, "000102030405060708090a0b0c0d0e0f00123456deadbeef");
        assert_eq!(vbn_endpoint::decode(&bytes).unwrap(), endpoint());
    }

    #[test]
    fn wrong_endpoints_are_refused() {
        for size in 0..=64 {
            let error = vbn_endpoint::decode(&[0; 64][..size]);
            assert!(size == 24 || error.unwrap_err().value == size as u64, "{size}");
        }
        assert_eq!(vbn_endpoint { qp_num: 1 << 24, ..endpoint() }.encode().unwrap_err().value, 1 << 24);
        let good = endpoint().encode().unwrap();
        for at in 0..24 {
            for value in (0..=255).step_by(if cfg!(miri) { 51 } else { 1 }) {
                let mut bytes = good;
                bytes[at] = value;
                let read = vbn_endpoint::decode(&bytes);
                assert_eq!(read.is_ok(), at != 16 || value == 0, "byte {at} = {value}");
                assert!(read.is_err() || read.unwrap().encode().unwrap() == bytes);
            }
        }
    }
}
