// SPDX-License-Identifier: MIT OR Apache-2.0
//! What EFA's requests, completions and doorbells look like in memory (rdma-core: `efa_io_defs.h`, `efa_io_regs_defs.h`).

/// Bytes of a receive descriptor.
pub const RX_DESC: u32 = 16;
/// "No address handle" in a receive completion.
pub const NO_AH: u16 = 0xffff;
/// Where the doorbells are in what a QP has for them.
pub const SQ_DOORBELL: u32 = 0;
pub const RQ_DOORBELL: u32 = 32;
