// SPDX-License-Identifier: MIT OR Apache-2.0
//! What goes in and out of the control calls.

use super::host::{Address, Gid};
use core::fmt;

/// Errno numbers that the control calls answer.
pub mod errno {
    use super::super::host::Errno;
    pub const ENOENT: Errno = 2;
    pub const EIO: Errno = 5;
    pub const ENOMEM: Errno = 12;
    pub const EBUSY: Errno = 16;
    pub const EINVAL: Errno = 22;
    pub const ENOSPC: Errno = 28;
    pub const ETIME: Errno = 62;
    pub const EOPNOTSUPP: Errno = 95;
}

/// `IBV_ACCESS_*` bits.
pub mod access {
    pub const LOCAL_WRITE: u32 = 1;
    pub const REMOTE_WRITE: u32 = 1 << 1;
    pub const REMOTE_READ: u32 = 1 << 2;
    pub const REMOTE_ATOMIC: u32 = 1 << 3;
    pub const MW_BIND: u32 = 1 << 4;
    /// The bits that a driver may ignore (relaxed ordering is one of them).
    pub const OPTIONAL: u32 = 0x3ff0_0000;
}

/// `IBV_QP_*` mask bits of modify.
pub mod qp_mask {
    pub const STATE: u32 = 1;
    pub const CUR_STATE: u32 = 1 << 1;
    pub const EN_SQD_ASYNC_NOTIFY: u32 = 1 << 2;
    pub const ACCESS: u32 = 1 << 3;
    pub const PKEY_INDEX: u32 = 1 << 4;
    pub const PORT: u32 = 1 << 5;
    pub const QKEY: u32 = 1 << 6;
    pub const PATH: u32 = 1 << 7;
    pub const PATH_MTU: u32 = 1 << 8;
    pub const TIMEOUT: u32 = 1 << 9;
    pub const RETRY_CNT: u32 = 1 << 10;
    pub const RNR_RETRY: u32 = 1 << 11;
    pub const RQ_PSN: u32 = 1 << 12;
    pub const MAX_RD_ATOMIC: u32 = 1 << 13;
    pub const MIN_RNR_TIMER: u32 = 1 << 15;
    pub const SQ_PSN: u32 = 1 << 16;
    pub const MAX_DEST_RD_ATOMIC: u32 = 1 << 17;
    pub const DEST_QPN: u32 = 1 << 20;
}

/// `enum ibv_qp_state`
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
#[repr(u8)]
pub enum QpState {
    #[default]
    Reset = 0,
    Init = 1,
    Rtr = 2,
    Rts = 3,
    Sqd = 4,
    Sqe = 5,
    Err = 6,
}

impl QpState {
    pub fn from_verbs(value: u32) -> Option<QpState> {
        Some(match value {
            0 => QpState::Reset,
            1 => QpState::Init,
            2 => QpState::Rtr,
            3 => QpState::Rts,
            4 => QpState::Sqd,
            5 => QpState::Sqe,
            6 => QpState::Err,
            _ => return None,
        })
    }
}

/// What the engine must know of a type of queue pair. Each kind of device has its own.
#[derive(PartialEq, Eq)]
pub struct QpType {
    pub name: &'static str,
    /// Messages that nobody answers for; their data begin behind the space for a routing header.
    pub datagram: bool,
    /// Modify names its peer, requests don't; it takes packets from that peer alone, RDMA as far as its own access bits allow.
    /// Else requests name an address handle, the Q-Key is compared, and RDMA is refused to strangers.
    pub connected: bool,
    /// A request begins when the one before it has ended. Else the seed shuffles them.
    pub ordered: bool,
    /// The first request or receive that fails takes the queue pair into the error state.
    pub fail_stop: bool,
    /// RDMA, if the device has it.
    pub reads: bool,
    pub writes: bool,
    /// How often a receiver that is not ready is tried again before modify says another number (7: for ever), if the device has that.
    pub rnr_retry: u8,
    /// The bits of `qp_mask` that modify takes.
    pub attributes: u32,
}

impl fmt::Debug for QpType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PdInfo {
    pub handle: u32,
    /// The device's 16-bit PD number.
    pub number: u16,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MrSpec {
    pub pd: u32,
    /// Where the bytes are in this process: the user's address, or where the host mapped the dma-buf.
    pub start: u64,
    pub length: u64,
    /// The address that requests use (`hca_va`).
    pub iova: u64,
    /// `IBV_ACCESS_*`.
    pub access: u32,
    /// The range is the host's mapping of a dma-buf: the caller unmaps it after `mr_dereg`.
    pub dmabuf: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MrInfo {
    pub handle: u32,
    /// 24 bits, lkey = rkey, with a generation part so that a stale key is noticed.
    pub lkey: u32,
    pub rkey: u32,
    pub spec: MrSpec,
}

/// The parts of `struct ib_uverbs_ah_attr` that the device looks at.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AhSpec {
    pub pd: u32,
    pub is_global: bool,
    pub port: u8,
    pub dgid: Gid,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AhInfo {
    pub handle: u32,
    /// The device's number: the same for each AH of one PD and GID.
    pub number: u16,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CqSpec {
    /// Completions that the user wants room for.
    pub cqe: u32,
    /// Bytes of one, where the provider says it.
    pub entry_size: u32,
    pub sub_cqs: u16,
    /// The user's handle, given back in events.
    pub user_handle: u64,
    /// The host's name of the completion channel; None = no events.
    pub channel: Option<u64>,
    pub comp_vector: u32,
    pub with_sgid: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CqInfo {
    pub handle: u32,
    pub number: u16,
    /// Completions that there is room for.
    pub cqe: u32,
    /// Offset of the ring in the context's memfd and its size, a multiple of the page size.
    pub ring_offset: u64,
    pub ring_bytes: u64,
    /// Offset of the doorbell's page, 0 bytes where the kind has none.
    pub doorbell_offset: u64,
    pub doorbell_bytes: u64,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct QpCaps {
    pub max_send_wr: u32,
    pub max_recv_wr: u32,
    pub max_send_sge: u32,
    pub max_recv_sge: u32,
    pub max_inline_data: u32,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct QpSpec {
    pub kind: &'static QpType,
    pub pd: u32,
    pub send_cq: u32,
    pub recv_cq: u32,
    pub user_handle: u64,
    pub caps: QpCaps,
    /// Bytes of the rings, where the provider says them.
    pub sq_ring_bytes: u32,
    pub rq_ring_bytes: u32,
    pub unsolicited_write_recv: bool,
    pub sl: u8,
    pub sq_sig_all: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct QpInfo {
    pub handle: u32,
    pub qpn: u32,
    pub caps: QpCaps,
    /// Offset of the send ring in the memfd (the provider's `llq_desc_mmap_key`), size rounded to pages.
    pub sq_offset: u64,
    pub sq_bytes: u64,
    /// 0 bytes when the QP has no receive ring.
    pub rq_offset: u64,
    pub rq_bytes: u64,
    /// The page in which both doorbells lie, among those of other QPs; 0 bytes where the kind has none.
    pub doorbell_page: u64,
    pub doorbell_bytes: u64,
    /// The words that change when something is posted: offsets in the memfd.
    pub sq_doorbell: u64,
    pub rq_doorbell: u64,
}

/// The way to the peer of a connected queue pair. The device looks at the GID and remembers the rest.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Path {
    pub dgid: Gid,
    pub flow_label: u32,
    pub dlid: u16,
    pub sgid_index: u8,
    pub hop_limit: u8,
    pub traffic_class: u8,
    pub sl: u8,
    pub src_path_bits: u8,
    pub static_rate: u8,
    pub is_global: bool,
    pub port: u8,
}

/// What modify sets and query returns.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct QpAttr {
    pub state: QpState,
    pub cur_state: QpState,
    pub qkey: u32,
    pub sq_psn: u32,
    pub pkey_index: u16,
    pub port: u8,
    pub rnr_retry: u8,
    pub en_sqd_async_notify: bool,
    /// `IBV_ACCESS_*`: what the peer may do.
    pub access: u32,
    pub path: Path,
    pub dest_qpn: u32,
    pub rq_psn: u32,
    pub path_mtu: u8,
    pub timeout: u8,
    pub retry_cnt: u8,
    pub max_rd_atomic: u8,
    pub max_dest_rd_atomic: u8,
    pub min_rnr_timer: u8,
}

impl QpAttr {
    /// The other end of a connected queue pair.
    pub fn peer(&self) -> Address {
        Address { gid: self.path.dgid, qpn: self.dest_qpn }
    }
}

/// A QP as query shows it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct QpQuery {
    pub attr: QpAttr,
    pub spec: QpSpec,
}

/// No time at all.
pub const NEVER: u64 = u64::MAX;

/// What a step did.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Progress {
    /// Something moved: it is worth stepping again before sleeping.
    pub busy: bool,
    /// There is more to do than one step does.
    pub more: bool,
    /// Something waits that neither a doorbell of `Device::doorbells` nor a packet will tell of: step again soon.
    pub restless: bool,
    /// If that is only for requests that are held back: how many steps from now, this one included, the first of them goes. Steps before
    /// that need not be made, but counted (`Device::count_steps`). Else 0.
    pub held: u8,
    /// Somebody has armed a CQ, and so may sleep until its event.
    pub armed: bool,
    /// When the device wants to be stepped again although nobody rang or sent (RNR timers, full rings), by `Host::now_ms`; or `NEVER`.
    pub wake_at_ms: u64,
}

impl Default for Progress {
    fn default() -> Progress {
        Progress { busy: false, more: false, restless: false, held: 0, armed: false, wake_at_ms: NEVER }
    }
}

impl Progress {
    /// And what another device did.
    #[inline(always)]
    pub fn add(&mut self, other: &Progress) {
        self.busy |= other.busy;
        self.more |= other.more;
        // Requests of one device that are held back can be waited for; of several they are not.
        self.held = if self.restless { 0 } else { other.held };
        self.restless |= other.restless;
        self.armed |= other.armed;
        self.wake_at_ms = self.wake_at_ms.min(other.wake_at_ms);
    }
}
