// SPDX-License-Identifier: MIT OR Apache-2.0
//! Kinds of devices and their profiles, as data. Each value carries where it comes from, so that `softnic devices` can
//! print `assumed` beside everything that was not read somewhere.

use std::fmt::Display;

/// Where a value comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Source {
    /// Public source code, a manual or a public issue that states it.
    Stated(&'static str),
    /// softnic's own design needs this value; a real device has another one.
    Design(&'static str),
    /// Plausible, and unconfirmed.
    Assumed,
}

/// A value and its source.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Fact<T> {
    pub value: T,
    pub source: Source,
}

const fn stated<T>(value: T, whence: &'static str) -> Fact<T> {
    Fact { value, source: Source::Stated(whence) }
}

const fn assumed<T>(value: T) -> Fact<T> {
    Fact { value, source: Source::Assumed }
}

const fn design<T>(value: T, why: &'static str) -> Fact<T> {
    Fact { value, source: Source::Design(why) }
}

/// Device capability bits as the EFA driver reports them (`EFA_QUERY_DEVICE_CAPS_*`).
pub mod caps {
    pub const RDMA_READ: u32 = 1;
    pub const RNR_RETRY: u32 = 1 << 1;
    pub const CQ_NOTIFICATIONS: u32 = 1 << 2;
    pub const CQ_WITH_SGID: u32 = 1 << 3;
    pub const DATA_POLLING_128: u32 = 1 << 4;
    pub const RDMA_WRITE: u32 = 1 << 5;
    pub const UNSOLICITED_WRITE_RECV: u32 = 1 << 6;
}

/// What kind of device a profile belongs to; more kinds will come.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    Efa,
}

impl Kind {
    pub fn name(self) -> &'static str {
        match self {
            Kind::Efa => "efa",
        }
    }
}

macro_rules! profile {
    ($($(#[$doc:meta])* $field:ident: $type:ty,)*) => {
        /// The numbers of one device model.
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub struct Profile {
            pub kind: Kind,
            pub name: &'static str,
            pub about: &'static str,
            $($(#[$doc])* pub $field: Fact<$type>,)*
        }

        impl Profile {
            /// Every value with its name and source, in the order of the declaration.
            pub fn each(&self, mut visit: impl FnMut(&'static str, &dyn Display, Source)) {
                $(visit(stringify!($field), &self.$field.value, self.$field.source);)*
            }
        }
    };
}

profile! {
    pci_vendor: u16,
    pci_device: u16,
    /// `EFA_QUERY_DEVICE_CAPS_*`.
    device_caps: u32,
    max_qp: u32,
    max_cq: u32,
    max_mr: u32,
    max_pd: u32,
    max_ah: u32,
    /// Entries of a CQ.
    max_cqe: u32,
    /// Bytes of a send ring.
    max_llq_size: u32,
    max_sq_wr: u32,
    max_rq_wr: u32,
    max_sq_sge: u16,
    max_rq_sge: u16,
    /// Local pieces of a READ or WRITE.
    max_rdma_sge: u16,
    inline_buf_size: u16,
    /// With 128-byte requests; 0 = the device has none.
    inline_buf_size_ex: u16,
    max_rdma_size: u32,
    /// The longest SEND.
    mtu: u32,
    max_mr_pages: u64,
    max_tx_batch: u16,
    min_sq_wr: u16,
    comp_vectors: u32,
    /// For `rate` and the port's speed.
    link_gbps: u32,
    /// Between two attempts after "receiver not ready".
    rnr_timer_ms: u32,
}

impl Profile {
    pub fn has(&self, cap: u32) -> bool {
        self.device_caps.value & cap == cap
    }
}

const IO_DEFS: &str = "rdma-core providers/efa/efa_io_defs.h";
const VERBS_C: &str = "rdma-core providers/efa/verbs.c";
const ISSUE_READ_ONLY: &str = "libfabric pull request 8186: p4d has RDMA READ and no WRITE";
const QPN: &str = "a QP number tells the process: 16 slots of 4096";
const P5_CAPS: u32 = caps::RDMA_READ | caps::RNR_RETRY | caps::CQ_NOTIFICATIONS | caps::CQ_WITH_SGID | caps::RDMA_WRITE;

const P4D: Profile = Profile {
    kind: Kind::Efa,
    name: "p4d",
    about: "first generation: SEND and RDMA READ, no WRITE",
    pci_vendor: stated(0x1d0f, VERBS_C),
    pci_device: stated(0xefa0, ISSUE_READ_ONLY),
    device_caps: stated(
        caps::RDMA_READ | caps::RNR_RETRY | caps::CQ_NOTIFICATIONS | caps::CQ_WITH_SGID,
        ISSUE_READ_ONLY,
    ),
    max_qp: design(65536, QPN),
    max_cq: assumed(65535),
    max_mr: assumed(262_144),
    max_pd: assumed(4096),
    max_ah: assumed(4096),
    max_cqe: assumed(32768),
    max_llq_size: stated(262_144, "Mooncake issue 3296: 4096 send requests of 64 bytes"),
    max_sq_wr: stated(4096, "Mooncake issue 3296"),
    max_rq_wr: stated(8192, "libfabric prov/efa comments: 8k receive requests"),
    max_sq_sge: stated(2, IO_DEFS),
    max_rq_sge: assumed(3),
    max_rdma_sge: stated(1, IO_DEFS),
    inline_buf_size: stated(32, IO_DEFS),
    inline_buf_size_ex: assumed(0),
    max_rdma_size: stated(1 << 30, "NCCL issue 2333"),
    mtu: stated(8928, "libfabric man/fi_efa.7.md"),
    max_mr_pages: stated(24_000_000, "libfabric issue 9739: 95 GB of 4 KiB pages"),
    max_tx_batch: assumed(0),
    min_sq_wr: assumed(0),
    comp_vectors: assumed(8),
    link_gbps: stated(100, "AWS instance type table"),
    rnr_timer_ms: assumed(1),
};

const P5: Profile = Profile {
    name: "p5",
    about: "second generation: RDMA READ and WRITE",
    pci_device: stated(0xefa2, "perftest issue 180"),
    device_caps: stated(P5_CAPS, "libfabric prov/efa: READ and WRITE on by default"),
    inline_buf_size_ex: assumed(80),
    ..P4D
};

const P5EN: Profile = Profile {
    name: "p5en",
    about: "third generation: also unsolicited write-with-immediate (needs rdma-core 53 for its PCI id)",
    pci_device: stated(0xefa3, "amzn-drivers efa r2.12.0"),
    device_caps: stated(P5_CAPS | caps::UNSOLICITED_WRITE_RECV, "rdma-core 52, efadv_query_device(3)"),
    link_gbps: stated(200, "AWS instance type table"),
    max_mr_pages: stated(50_331_648, "Mooncake issue 1912: max_mr_size 192 GB"),
    ..P5
};

/// All profiles.
pub const PROFILES: &[Profile] = &[P4D, P5, P5EN];

/// The profile that a kind has when none is named.
pub fn default_profile(kind: Kind) -> &'static Profile {
    match kind {
        Kind::Efa => &P5,
    }
}

/// Finds a profile by kind and name.
pub fn find(kind: &str, name: &str) -> Option<&'static Profile> {
    PROFILES.iter().find(|p| p.kind.name() == kind && p.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn profiles_are_found_by_name_and_list_their_sources() {
        let p = find("efa", "p4d").unwrap();
        assert!(p.has(caps::RDMA_READ) && !p.has(caps::RDMA_WRITE));
        assert!(find("efa", "p9").is_none() && find("rxe", "p5").is_none());
        assert!(find("efa", "p5en").unwrap().has(caps::UNSOLICITED_WRITE_RECV));
        let (mut n, mut unconfirmed) = (0, 0);
        p.each(|name, value, source| {
            assert!(!name.is_empty() && !value.to_string().is_empty());
            n += 1;
            unconfirmed += usize::from(source == Source::Assumed);
        });
        assert!(n > 20 && unconfirmed > 0 && unconfirmed < n);
    }

    #[test]
    fn rings_of_every_profile_are_addressable_by_16_bit_counters() {
        for p in PROFILES {
            assert!(p.max_cqe.value <= 32768 && p.max_sq_wr.value <= 32768 && p.max_rq_wr.value <= 32768, "{}", p.name);
            assert!(p.max_sq_wr.value * 64 <= p.max_llq_size.value, "{}", p.name);
            assert!(p.max_sq_sge.value <= 2 && p.max_rq_sge.value <= 4, "{}", p.name);
        }
    }
}
