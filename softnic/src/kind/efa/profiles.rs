// SPDX-License-Identifier: MIT OR Apache-2.0
//! EFA's profiles.

use super::Efa;
use crate::profile::caps::{self, Caps};
use crate::profile::{Own, Profile, Visitor, assumed, design, facts, stated};
use std::any::Any;
use std::fmt;

facts! {
    /// What only EFA has.
    EfaFacts {} {
    pci_vendor: u16,
    pci_device: u16,
    /// Bytes of a send ring.
    max_llq_size: u32,
    inline_buf_size: u16,
    /// With 128-byte requests; 0 = the device has none.
    inline_buf_size_ex: u16,
    max_tx_batch: u16,
    min_sq_wr: u16,
    /// Interconnects that receives, RDMA READs and incoming RDMA WRITEs use for a region, as efadv_query_mr tells them.
    recv_ic_id: Interconnect,
    rdma_read_ic_id: Interconnect,
    rdma_recv_ic_id: Interconnect,
    }
}

/// Its number, if the device tells it.
#[derive(Clone, Copy, Debug)]
pub struct Interconnect(pub Option<u16>);

impl fmt::Display for Interconnect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(id) => f.pad(&id.to_string()),
            None => f.pad("none"),
        }
    }
}

impl Own for EfaFacts {
    fn each(&self, visit: Visitor<'_>) {
        self.facts(visit);
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// EFA's part of a profile of this kind.
pub fn own(profile: &Profile) -> &'static EfaFacts {
    profile.own.as_any().downcast_ref().unwrap_or(&P4D_OWN)
}

const IO_DEFS: &str = "rdma-core providers/efa/efa_io_defs.h";
const VERBS_C: &str = "rdma-core providers/efa/verbs.c";
const ISSUE_READ_ONLY: &str = "libfabric pull request 8186: p4d has RDMA READ and no WRITE";
const QPN: &str = "a QP number tells the process: 16 slots of 4096";
const BOTH_ON: &str = "libfabric prov/efa: READ and WRITE on by default";
const DEPTH: &str = "Mooncake issue 3296, a p5.48xlarge: 4096 send requests";

static P4D_OWN: EfaFacts = EfaFacts {
    pci_vendor: stated(0x1d0f, VERBS_C),
    pci_device: stated(0xefa0, ISSUE_READ_ONLY),
    max_llq_size: assumed(262_144),
    inline_buf_size: stated(32, IO_DEFS),
    inline_buf_size_ex: assumed(0),
    max_tx_batch: assumed(0),
    min_sq_wr: assumed(0),
    recv_ic_id: assumed(Interconnect(None)),
    rdma_read_ic_id: assumed(Interconnect(None)),
    rdma_recv_ic_id: assumed(Interconnect(None)),
};

static P3DN_OWN: EfaFacts = EfaFacts { pci_device: assumed(0xefa0), ..P4D_OWN };

/// What a program must do without on the oldest devices and drivers.
static P3DN: Profile = Profile {
    name: "p3dn",
    about: "before RDMA: SEND alone, and no completion notifications",
    own: &P3DN_OWN,
    caps: Caps {
        cap_rdma_read: assumed(0),
        cap_cq_notifications: assumed(0),
        cap_cq_with_sgid: assumed(0),
        cap_rdma_write: assumed(0),
        ..P4D_CAPS
    },
    max_rdma_size: assumed(0),
    link_gbps: stated(100, "AWS instance type table"),
    ..P4D
};

const P4D_CAPS: Caps = Caps {
    cap_rdma_read: stated(caps::RDMA_READ, ISSUE_READ_ONLY),
    cap_rnr_retry: assumed(caps::RNR_RETRY),
    cap_cq_notifications: assumed(caps::CQ_NOTIFICATIONS),
    cap_cq_with_sgid: assumed(caps::CQ_WITH_SGID),
    cap_data_polling_128: assumed(0),
    cap_rdma_write: stated(0, ISSUE_READ_ONLY),
    cap_unsolicited_write_recv: assumed(0),
};

pub static P4D: Profile = Profile {
    kind: &Efa,
    own: &P4D_OWN,
    name: "p4d",
    about: "first generation: SEND and RDMA READ, no WRITE",
    caps: P4D_CAPS,
    max_qp: design(65536, QPN),
    max_cq: assumed(65535),
    max_mr: assumed(262_144),
    max_pd: assumed(4096),
    max_ah: assumed(4096),
    max_cqe: assumed(32768),
    max_sq_wr: assumed(4096),
    max_rq_wr: stated(8192, "libfabric prov/efa comments: 8k receive requests"),
    max_sq_sge: stated(2, IO_DEFS),
    max_rq_sge: assumed(3),
    max_rdma_sge: stated(1, IO_DEFS),
    max_rdma_size: assumed(1 << 30),
    mtu: stated(8928, "libfabric man/fi_efa.7.md"),
    max_mr_pages: assumed(24_000_000),
    comp_vectors: assumed(8),
    link_gbps: stated(100, "AWS instance type table"),
    rnr_timer_ms: assumed(1),
};

static P5_OWN: EfaFacts = EfaFacts {
    pci_device: stated(0xefa2, "perftest issue 180"),
    max_llq_size: stated(262_144, DEPTH),
    inline_buf_size_ex: assumed(80),
    recv_ic_id: assumed(Interconnect(Some(1))),
    rdma_read_ic_id: assumed(Interconnect(Some(2))),
    rdma_recv_ic_id: assumed(Interconnect(Some(3))),
    ..P4D_OWN
};

const P5_CAPS: Caps = Caps {
    cap_rdma_read: stated(caps::RDMA_READ, BOTH_ON),
    cap_rdma_write: stated(caps::RDMA_WRITE, BOTH_ON),
    ..P4D_CAPS
};

pub static P5: Profile = Profile {
    own: &P5_OWN,
    name: "p5",
    about: "second generation: RDMA READ and WRITE",
    caps: P5_CAPS,
    max_sq_wr: stated(4096, DEPTH),
    max_rdma_size: stated(1 << 30, "NCCL issue 2333"),
    ..P4D
};

static P5EN_OWN: EfaFacts =
    EfaFacts { pci_device: stated(0xefa3, "amzn-drivers efa r2.12.0"), max_llq_size: assumed(262_144), ..P5_OWN };

pub static P5EN: Profile = Profile {
    own: &P5EN_OWN,
    name: "p5en",
    about: "third generation: also unsolicited write-with-immediate (needs rdma-core 53 for its PCI id)",
    caps: Caps { cap_unsolicited_write_recv: assumed(caps::UNSOLICITED_WRITE_RECV), ..P5_CAPS },
    max_sq_wr: assumed(4096),
    link_gbps: stated(200, "AWS instance type table"),
    max_mr_pages: stated(50_331_648, "Mooncake issue 1912: max_mr_size 192 GB"),
    ..P5
};

pub static PROFILES: &[Profile] = &[P3DN, P4D, P5, P5EN];
