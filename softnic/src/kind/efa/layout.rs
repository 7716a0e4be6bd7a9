// SPDX-License-Identifier: MIT OR Apache-2.0
//! What EFA's requests, completions and doorbells look like in memory (rdma-core: `efa_io_defs.h`, `efa_io_regs_defs.h`).

/// Bytes of a receive descriptor.
pub const RX_DESC: u32 = 16;
/// "No address handle" in a receive completion.
pub const NO_AH: u16 = 0xffff;
/// Where the doorbells are in what a QP has for them.
pub const SQ_DOORBELL: u32 = 0;
pub const RQ_DOORBELL: u32 = 32;

#[inline(always)]
pub fn field<const N: usize>(bytes: &[u8], at: usize) -> [u8; N] {
    bytes.get(at..).and_then(|b| b.first_chunk::<N>()).copied().unwrap_or([0; N])
}

pub fn u16_at(bytes: &[u8], at: usize) -> u16 {
    u16::from_le_bytes(field(bytes, at))
}

pub fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(field(bytes, at))
}

/// A 64-bit address stored as low and high word.
pub fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(field(bytes, at))
}
