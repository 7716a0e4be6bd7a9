// SPDX-License-Identifier: MIT OR Apache-2.0
//! The counters that a device shows in sysfs, with the names that EFA's driver uses. What they mean is AWS's description of them;
//! a few stay 0, as `tests/counters.rs` lists.

use super::host::Errno;
use super::request::Op;
use super::types::errno::ETIME;

macro_rules! counters {
    ($($(#[$doc:meta])* $name:ident,)*) => {
        #[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
        pub struct Counters {
            $($(#[$doc])* pub $name: u64,)*
        }

        impl Counters {
            pub const NAMES: &'static [&'static str] = &[$(stringify!($name),)*];

            /// Name and value of each, in the order of `NAMES`.
            pub fn each(&self, mut visit: impl FnMut(&'static str, u64)) {
                $(visit(stringify!($name), self.$name);)*
            }

            /// The counters of two processes of one device, added.
            pub fn add(&mut self, other: &Counters) {
                $(self.$name = self.$name.wrapping_add(other.$name);)*
            }
        }
    };
}

counters! {
    tx_bytes,
    tx_pkts,
    rx_bytes,
    rx_pkts,
    rx_drops,
    send_bytes,
    send_wrs,
    recv_bytes,
    recv_wrs,
    rdma_read_wrs,
    rdma_read_bytes,
    rdma_read_wr_err,
    rdma_read_resp_bytes,
    rdma_write_wrs,
    rdma_write_bytes,
    rdma_write_wr_err,
    rdma_write_recv_bytes,
    retrans_bytes,
    retrans_pkts,
    retrans_timeout_events,
    unresponsive_remote_events,
    impaired_remote_conn_events,
    submitted_cmds,
    completed_cmds,
    cmds_err,
    no_completion_cmds,
    keep_alive_rcvd,
    alloc_pd_err,
    create_qp_err,
    create_cq_err,
    reg_mr_err,
    alloc_ucontext_err,
    create_ah_err,
    mmap_err,
}

impl Counters {
    /// A request is completed: AWS counts requests, and what they moved, when that went well. There is no count of failed SENDs.
    pub(super) fn completed(&mut self, op: Op, bytes: u64, good: bool) {
        match (op, good) {
            (Op::Send, true) => (self.send_wrs, self.send_bytes) = (self.send_wrs + 1, self.send_bytes + bytes),
            (Op::Send, false) => {}
            (Op::Read, true) => {
                (self.rdma_read_wrs, self.rdma_read_bytes) = (self.rdma_read_wrs + 1, self.rdma_read_bytes + bytes);
            }
            (Op::Read, false) => self.rdma_read_wr_err += 1,
            (Op::Write, true) => {
                (self.rdma_write_wrs, self.rdma_write_bytes) = (self.rdma_write_wrs + 1, self.rdma_write_bytes + bytes);
            }
            (Op::Write, false) => self.rdma_write_wr_err += 1,
        }
    }

    /// Packets that are sent again. `tx_*` and `rx_*` count them as well, since they are packets of the port; what requests moved doesn't.
    pub(super) fn resent(&mut self, packets: u64, bytes: u64) {
        self.retrans_pkts += packets;
        self.retrans_bytes += bytes;
    }

    /// A command that failed. ETIME is what the driver says of one that the device never completed.
    pub(super) fn failed(&mut self, command: &str, errno: Errno) {
        self.cmds_err += 1;
        self.no_completion_cmds += u64::from(errno == ETIME);
        match command {
            "alloc_pd" => self.alloc_pd_err += 1,
            "create_qp" => self.create_qp_err += 1,
            "create_cq" => self.create_cq_err += 1,
            "reg_mr" => self.reg_mr_err += 1,
            "alloc_ucontext" => self.alloc_ucontext_err += 1,
            "create_ah" => self.create_ah_err += 1,
            _ => {}
        }
    }
}
