// SPDX-License-Identifier: MIT OR Apache-2.0
//! The attributes of a queue pair, as the ABI and as libibverbs have them.

use super::cold::cold_structs;
use super::error::{Error, Result};
use super::mr::ACCESS_KNOWN;
use crate::sys::ibv::{self, Zeroed, ibv_ah_attr, ibv_qp_attr, ibv_qp_cap};

/// Not yet usable.
pub const VBN_QPS_RESET: i32 = 0;
/// Receives may be posted.
pub const VBN_QPS_INIT: i32 = 1;
/// Ready to receive.
pub const VBN_QPS_RTR: i32 = 2;
/// Ready to send and receive.
pub const VBN_QPS_RTS: i32 = 3;
/// The send queue drains.
pub const VBN_QPS_SQD: i32 = 4;
/// The send queue failed (unreliable types).
pub const VBN_QPS_SQE: i32 = 5;
/// Everything is flushed.
pub const VBN_QPS_ERR: i32 = 6;

/// Path MTU of 256 bytes.
pub const VBN_MTU_256: i32 = 1;
/// Path MTU of 512 bytes.
pub const VBN_MTU_512: i32 = 2;
/// Path MTU of 1024 bytes.
pub const VBN_MTU_1024: i32 = 3;
/// Path MTU of 2048 bytes.
pub const VBN_MTU_2048: i32 = 4;
/// Path MTU of 4096 bytes.
pub const VBN_MTU_4096: i32 = 5;

/// `vbn_qp_attr.set`: qp_state.
pub const VBN_QP_STATE: u64 = 1 << 0;
/// `vbn_qp_attr.set`: cur_qp_state.
pub const VBN_QP_CUR_STATE: u64 = 1 << 1;
/// `vbn_qp_attr.set`: en_sqd_async_notify.
pub const VBN_QP_EN_SQD_ASYNC_NOTIFY: u64 = 1 << 2;
/// `vbn_qp_attr.set`: qp_access_flags.
pub const VBN_QP_ACCESS_FLAGS: u64 = 1 << 3;
/// `vbn_qp_attr.set`: pkey_index.
pub const VBN_QP_PKEY_INDEX: u64 = 1 << 4;
/// `vbn_qp_attr.set`: port_num.
pub const VBN_QP_PORT: u64 = 1 << 5;
/// `vbn_qp_attr.set`: qkey.
pub const VBN_QP_QKEY: u64 = 1 << 6;
/// `vbn_qp_attr.set`: path.
pub const VBN_QP_AV: u64 = 1 << 7;
/// `vbn_qp_attr.set`: path_mtu.
pub const VBN_QP_PATH_MTU: u64 = 1 << 8;
/// `vbn_qp_attr.set`: timeout.
pub const VBN_QP_TIMEOUT: u64 = 1 << 9;
/// `vbn_qp_attr.set`: retry_cnt.
pub const VBN_QP_RETRY_CNT: u64 = 1 << 10;
/// `vbn_qp_attr.set`: rnr_retry.
pub const VBN_QP_RNR_RETRY: u64 = 1 << 11;
/// `vbn_qp_attr.set`: rq_psn.
pub const VBN_QP_RQ_PSN: u64 = 1 << 12;
/// `vbn_qp_attr.set`: max_rd_atomic.
pub const VBN_QP_MAX_QP_RD_ATOMIC: u64 = 1 << 13;
/// `vbn_qp_attr.set`: alt_path, alt_pkey_index, alt_timeout.
pub const VBN_QP_ALT_PATH: u64 = 1 << 14;
/// `vbn_qp_attr.set`: min_rnr_timer.
pub const VBN_QP_MIN_RNR_TIMER: u64 = 1 << 15;
/// `vbn_qp_attr.set`: sq_psn.
pub const VBN_QP_SQ_PSN: u64 = 1 << 16;
/// `vbn_qp_attr.set`: max_dest_rd_atomic.
pub const VBN_QP_MAX_DEST_RD_ATOMIC: u64 = 1 << 17;
/// `vbn_qp_attr.set`: path_mig_state.
pub const VBN_QP_PATH_MIG_STATE: u64 = 1 << 18;
/// `vbn_qp_attr.set`: max_send_wr to max_inline_data.
pub const VBN_QP_CAP: u64 = 1 << 19;
/// `vbn_qp_attr.set`: dest_qp_num.
pub const VBN_QP_DEST_QPN: u64 = 1 << 20;
/// `vbn_qp_attr.set`: rate_limit.
pub const VBN_QP_RATE_LIMIT: u64 = 1 << 25;

const KNOWN: u64 = 0x1f_ffff | VBN_QP_RATE_LIMIT;

/// The way to a peer. Frozen.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct vbn_path {
    /// The peer's GID. Counts if is_global.
    pub dgid: [u8; 16],
    /// 20 bits.
    pub flow_label: u32,
    /// The peer's LID (InfiniBand).
    pub dlid: u16,
    /// Index of one's own GID.
    pub sgid_index: u8,
    /// Routers that a packet may pass.
    pub hop_limit: u8,
    /// Traffic class (DSCP and ECN on RoCE).
    pub traffic_class: u8,
    /// 1: packets carry the global route header. Always so on RoCE.
    pub is_global: u8,
    /// Service level.
    pub sl: u8,
    /// InfiniBand, with several LIDs a port.
    pub src_path_bits: u8,
    /// Rate limit as libibverbs' enum ibv_rate (vbn_rate_name).
    pub static_rate: u8,
    /// One's own port.
    pub port_num: u8,
    /// 0.
    pub reserved0: [u8; 2],
}

/// Attributes to change; `set` says which.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct vbn_qp_attr {
    /// sizeof(vbn_qp_attr).
    pub struct_size: usize,
    /// VBN_QP_*: the fields that count.
    pub set: u64,
    /// VBN_QPS_* to go to.
    pub qp_state: i32,
    /// VBN_QPS_* that the caller assumes.
    pub cur_qp_state: i32,
    /// VBN_MTU_*.
    pub path_mtu: i32,
    /// 0 migrated, 1 rearm, 2 armed.
    pub path_mig_state: i32,
    /// UD: the key that senders must show.
    pub qkey: u32,
    /// 24 bits: where the peer's numbering starts.
    pub rq_psn: u32,
    /// 24 bits: where one's own numbering starts.
    pub sq_psn: u32,
    /// 24 bits.
    pub dest_qp_num: u32,
    /// VBN_ACCESS_REMOTE_*: what the peer may do.
    pub qp_access_flags: u32,
    /// With VBN_QP_CAP: resizes the queues where the device can.
    pub max_send_wr: u32,
    /// With VBN_QP_CAP.
    pub max_recv_wr: u32,
    /// With VBN_QP_CAP.
    pub max_send_sge: u32,
    /// With VBN_QP_CAP.
    pub max_recv_sge: u32,
    /// With VBN_QP_CAP.
    pub max_inline_data: u32,
    /// kbit/s.
    pub rate_limit: u32,
    /// Index in the port's pkey table.
    pub pkey_index: u16,
    /// Likewise for the alternate path.
    pub alt_pkey_index: u16,
    /// The way to the peer.
    pub path: vbn_path,
    /// The alternate way.
    pub alt_path: vbn_path,
    /// 1: an event tells when the send queue has drained.
    pub en_sqd_async_notify: u8,
    /// Reads and atomics that this side may have in flight.
    pub max_rd_atomic: u8,
    /// Reads and atomics that the peer may have in flight here.
    pub max_dest_rd_atomic: u8,
    /// Code of the time that a peer without posted receive asks for (12: 0.64 ms).
    pub min_rnr_timer: u8,
    /// Port, from 1.
    pub port_num: u8,
    /// Code of the time until a retry: 4.096 us * 2^timeout; 0 waits for ever.
    pub timeout: u8,
    /// Retries after a time-out, 0 to 7.
    pub retry_cnt: u8,
    /// Retries when the peer has no receive posted, 0 to 6; 7: for ever.
    pub rnr_retry: u8,
    /// As timeout, for the alternate path.
    pub alt_timeout: u8,
    /// 0.
    pub reserved0: [u8; 7],
}

/// What `vbn_qp_query` tells.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct vbn_qp_info {
    /// sizeof(vbn_qp_info), set by the caller.
    pub struct_size: usize,
    /// As given at creation.
    pub user_data: u64,
    /// VBN_QP_OP_*: operations that may be posted.
    pub send_ops: u64,
    /// Its number, which peers need.
    pub qp_num: u32,
    /// VBN_QPT_*.
    pub qp_type: i32,
    /// VBN_QPS_*, as the device has it.
    pub qp_state: i32,
    /// VBN_MTU_*.
    pub path_mtu: i32,
    /// 0 migrated, 1 rearm, 2 armed.
    pub path_mig_state: i32,
    /// UD and SRD.
    pub qkey: u32,
    /// 24 bits.
    pub rq_psn: u32,
    /// 24 bits.
    pub sq_psn: u32,
    /// 24 bits.
    pub dest_qp_num: u32,
    /// VBN_ACCESS_REMOTE_*.
    pub qp_access_flags: u32,
    /// Granted: requests that the send queue holds.
    pub max_send_wr: u32,
    /// Granted: requests that the receive queue holds.
    pub max_recv_wr: u32,
    /// Granted: segments of a send request.
    pub max_send_sge: u32,
    /// Granted: segments of a receive request.
    pub max_recv_sge: u32,
    /// Granted: bytes that VBN_SEND_INLINE may carry.
    pub max_inline_data: u32,
    /// Largest message in bytes.
    pub max_message: u32,
    /// kbit/s.
    pub rate_limit: u32,
    /// Index in the port's pkey table.
    pub pkey_index: u16,
    /// Likewise for the alternate path.
    pub alt_pkey_index: u16,
    /// The way to the peer.
    pub path: vbn_path,
    /// The alternate way.
    pub alt_path: vbn_path,
    /// 1: every request completes.
    pub sq_sig_all: u8,
    /// 1: the send queue drains.
    pub sq_draining: u8,
    /// See vbn_qp_attr.
    pub max_rd_atomic: u8,
    /// See vbn_qp_attr.
    pub max_dest_rd_atomic: u8,
    /// See vbn_qp_attr.
    pub min_rnr_timer: u8,
    /// See vbn_qp_attr.
    pub port_num: u8,
    /// See vbn_qp_attr.
    pub timeout: u8,
    /// See vbn_qp_attr.
    pub retry_cnt: u8,
    /// See vbn_qp_attr.
    pub rnr_retry: u8,
    /// See vbn_qp_attr.
    pub alt_timeout: u8,
    /// 0.
    pub reserved0: [u8; 2],
    /// Most bytes of one RDMA request.
    pub max_rdma: u32,
    /// VBN_QP_UNSOLICITED_WRITE_RECV, ... as given at creation.
    pub flags: u64,
    /// VBN_POST_PATH_POST_SEND or VBN_POST_PATH_WR: how requests go to the driver.
    pub post_path: i32,
    /// 1: receives come from a shared receive queue.
    pub has_srq: u8,
    /// 0.
    pub reserved1: [u8; 3],
}
cold_structs!(vbn_qp_attr, vbn_qp_info);

impl vbn_path {
    /// Whether nothing of it is set.
    pub fn is_empty(&self) -> bool {
        *self == Self::from_native(&ibv_ah_attr::zeroed())
    }

    pub fn from_native(ah: &ibv_ah_attr) -> Self {
        Self {
            // SAFETY: a GID is 16 bytes, however it is looked at.
            dgid: unsafe { ah.grh.dgid.raw },
            flow_label: ah.grh.flow_label,
            dlid: ah.dlid,
            sgid_index: ah.grh.sgid_index,
            hop_limit: ah.grh.hop_limit,
            traffic_class: ah.grh.traffic_class,
            is_global: ah.is_global,
            sl: ah.sl,
            src_path_bits: ah.src_path_bits,
            static_rate: ah.static_rate,
            port_num: ah.port_num,
            reserved0: [0; 2],
        }
    }

    pub fn to_native(self) -> Result<ibv_ah_attr> {
        if self.is_global > 1 {
            return Err(Error::range("is_global", self.is_global.into(), "0 or 1"));
        }
        if self.reserved0 != [0; 2] {
            return Err(Error::reserved());
        }
        if self.flow_label >= 1 << 20 {
            return Err(Error::range("flow_label", self.flow_label.into(), "below 2^20"));
        }
        let mut ah = ibv_ah_attr::zeroed();
        ah.grh.dgid.raw = self.dgid;
        ah.grh.flow_label = self.flow_label;
        ah.grh.sgid_index = self.sgid_index;
        ah.grh.hop_limit = self.hop_limit;
        ah.grh.traffic_class = self.traffic_class;
        ah.dlid = self.dlid;
        ah.is_global = self.is_global;
        ah.sl = self.sl;
        ah.src_path_bits = self.src_path_bits;
        ah.static_rate = self.static_rate;
        ah.port_num = self.port_num;
        Ok(ah)
    }
}

impl vbn_qp_attr {
    /// As libibverbs wants it. Fields that are not in `set` are taken along and not looked at.
    pub fn to_native(self) -> Result<ibv_qp_attr> {
        if self.set & !KNOWN != 0 {
            return Err(Error::unknown_bits("set", self.set, KNOWN));
        }
        if self.set == 0 {
            return Err(
                Error::range("set", 0, "naming any attribute").hint("set VBN_QP_* bits for the fields to change")
            );
        }
        if self.reserved0 != [0; 7] {
            return Err(Error::reserved());
        }
        self.check_ranges()?;
        if self.set & VBN_QP_ACCESS_FLAGS != 0 {
            check_qp_access(self.qp_access_flags)?;
        }
        let mut attr = ibv_qp_attr::zeroed();
        attr.qp_state = self.qp_state as u32;
        attr.cur_qp_state = self.cur_qp_state as u32;
        attr.path_mtu = self.path_mtu as u32;
        attr.path_mig_state = self.path_mig_state as u32;
        attr.qkey = self.qkey;
        attr.rq_psn = self.rq_psn;
        attr.sq_psn = self.sq_psn;
        attr.dest_qp_num = self.dest_qp_num;
        attr.qp_access_flags = self.qp_access_flags;
        attr.cap = ibv_qp_cap {
            max_send_wr: self.max_send_wr,
            max_recv_wr: self.max_recv_wr,
            max_send_sge: self.max_send_sge,
            max_recv_sge: self.max_recv_sge,
            max_inline_data: self.max_inline_data,
        };
        attr.rate_limit = self.rate_limit;
        attr.pkey_index = self.pkey_index;
        attr.alt_pkey_index = self.alt_pkey_index;
        if self.set & VBN_QP_AV != 0 {
            attr.ah_attr = self.path.to_native()?;
        }
        if self.set & VBN_QP_ALT_PATH != 0 {
            attr.alt_ah_attr = self.alt_path.to_native()?;
            attr.alt_port_num = self.alt_path.port_num;
        }
        attr.en_sqd_async_notify = self.en_sqd_async_notify;
        attr.max_rd_atomic = self.max_rd_atomic;
        attr.max_dest_rd_atomic = self.max_dest_rd_atomic;
        attr.min_rnr_timer = self.min_rnr_timer;
        attr.port_num = self.port_num;
        attr.timeout = self.timeout;
        attr.retry_cnt = self.retry_cnt;
        attr.rnr_retry = self.rnr_retry;
        attr.alt_timeout = self.alt_timeout;
        Ok(attr)
    }

    /// Ranges that hold whatever the device. A value that a narrower field would cut is never passed on.
    fn check_ranges(&self) -> Result<()> {
        let checks: [(u64, &'static str, i64, i64, &'static str); 13] = [
            (VBN_QP_STATE, "qp_state", self.qp_state.into(), 6, "one of VBN_QPS_RESET..VBN_QPS_ERR"),
            (VBN_QP_CUR_STATE, "cur_qp_state", self.cur_qp_state.into(), 6, "one of VBN_QPS_RESET..VBN_QPS_ERR"),
            (VBN_QP_PATH_MTU, "path_mtu", i64::from(self.path_mtu) - 1, 4, "one of VBN_MTU_256 (1)..VBN_MTU_4096 (5)"),
            (VBN_QP_PATH_MIG_STATE, "path_mig_state", self.path_mig_state.into(), 2, "0, 1 or 2"),
            (VBN_QP_RQ_PSN, "rq_psn", self.rq_psn.into(), 0xff_ffff, "a 24-bit number"),
            (VBN_QP_SQ_PSN, "sq_psn", self.sq_psn.into(), 0xff_ffff, "a 24-bit number"),
            (VBN_QP_DEST_QPN, "dest_qp_num", self.dest_qp_num.into(), 0xff_ffff, "a 24-bit number"),
            (VBN_QP_TIMEOUT, "timeout", self.timeout.into(), 31, "0..31"),
            (VBN_QP_ALT_PATH, "alt_timeout", self.alt_timeout.into(), 31, "0..31"),
            (VBN_QP_RETRY_CNT, "retry_cnt", self.retry_cnt.into(), 7, "0..7"),
            (VBN_QP_RNR_RETRY, "rnr_retry", self.rnr_retry.into(), 7, "0..7"),
            (VBN_QP_MIN_RNR_TIMER, "min_rnr_timer", self.min_rnr_timer.into(), 31, "0..31"),
            (VBN_QP_EN_SQD_ASYNC_NOTIFY, "en_sqd_async_notify", self.en_sqd_async_notify.into(), 1, "0 or 1"),
        ];
        let wrong = checks.iter().find(|(bit, _, value, max, _)| self.set & bit != 0 && !(0..=*max).contains(value));
        match wrong {
            Some((bit, what, value, _, allowed)) => {
                let shown = if *bit == VBN_QP_PATH_MTU { value + 1 } else { *value };
                Err(Error::range_signed(what, shown, allowed))
            }
            None => Ok(()),
        }
    }
}

/// What a queue pair may let its peer do: any of VBN_ACCESS_*, as some drivers look at more than the remote ones.
pub fn check_qp_access(access: u32) -> Result<()> {
    let (access, known) = (u64::from(access), ACCESS_KNOWN);
    if access & !known != 0 { Err(Error::unknown_bits("access", access, known)) } else { Ok(()) }
}

impl vbn_qp_info {
    /// What the device tells; the rest is zero.
    pub fn from_native(attr: &ibv_qp_attr) -> Self {
        let mut info: Self = super::cold::Cold::zeroed();
        info.struct_size = size_of::<Self>();
        info.qp_state = attr.qp_state as i32;
        info.path_mtu = attr.path_mtu as i32;
        info.path_mig_state = attr.path_mig_state as i32;
        info.qkey = attr.qkey;
        info.rq_psn = attr.rq_psn;
        info.sq_psn = attr.sq_psn;
        info.dest_qp_num = attr.dest_qp_num;
        info.qp_access_flags = attr.qp_access_flags;
        info.rate_limit = attr.rate_limit;
        info.pkey_index = attr.pkey_index;
        info.alt_pkey_index = attr.alt_pkey_index;
        info.path = vbn_path::from_native(&attr.ah_attr);
        info.alt_path = vbn_path::from_native(&attr.alt_ah_attr);
        info.sq_draining = attr.sq_draining;
        info.max_rd_atomic = attr.max_rd_atomic;
        info.max_dest_rd_atomic = attr.max_dest_rd_atomic;
        info.min_rnr_timer = attr.min_rnr_timer;
        info.port_num = attr.port_num;
        info.timeout = attr.timeout;
        info.retry_cnt = attr.retry_cnt;
        info.rnr_retry = attr.rnr_retry;
        info.alt_timeout = attr.alt_timeout;
        info
    }
}

const _: () = {
    assert!(VBN_QP_DEST_QPN == ibv::IBV_QP_DEST_QPN as u64 && VBN_QP_RATE_LIMIT == ibv::IBV_QP_RATE_LIMIT as u64);
    assert!(VBN_QP_AV == ibv::IBV_QP_AV as u64 && VBN_QPS_ERR == ibv::IBV_QPS_ERR as i32);
    assert!(size_of::<vbn_path>() == 32);
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::cold::Cold;

    #[test]
    fn ranges_are_checked_only_for_what_is_set() {
        let mut attr = vbn_qp_attr { set: VBN_QP_STATE, path_mtu: 99, ..vbn_qp_attr::zeroed() };
        assert!(attr.to_native().is_ok());
        attr.set |= VBN_QP_PATH_MTU;
        let error = attr.to_native().err().unwrap();
        assert_eq!(error.value, 99);
        attr.path_mtu = 5;
        assert!(attr.to_native().is_ok());
        attr.path_mtu = 0;
        assert!(attr.to_native().is_err());
        attr = vbn_qp_attr { set: 1 << 40, ..vbn_qp_attr::zeroed() };
        assert!(attr.to_native().is_err());
    }

    #[test]
    fn a_path_survives_the_way_there_and_back() {
        let mut path = vbn_path::from_native(&ibv_ah_attr::zeroed());
        path.dgid[15] = 9;
        (path.is_global, path.hop_limit, path.dlid, path.port_num, path.sl) = (1, 64, 7, 2, 3);
        assert_eq!(vbn_path::from_native(&path.to_native().unwrap()), path);
        path.flow_label = 1 << 20;
        assert!(path.to_native().is_err());
    }
}
