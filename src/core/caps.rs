// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a device can do, and why it can't do the rest. What the device, its driver and its library say is judged here;
//! `probe` asks by trying what nobody says, `words` makes the sentences, `find` looks at all devices.

mod find;
mod probe;
mod words;

pub use find::{find, vbn_device_match};
pub use words::describe;
use words::sentence;

use std::ffi::c_char;

use super::cold::{Cold, cold_structs};
use super::context::{Context, vbn_device_attr};
use super::device::{VBN_TRANSPORT_IB, VBN_TRANSPORT_IWARP};
use super::error::Result;
use super::library;
use super::slab::Ref;
use super::text::chars;
use crate::sys::efa::*;
use crate::sys::ibv::*;
use crate::sys::verbs::{MissingSet, Symbol};
use probe::{Answer, Tried};

/// `vbn_caps.caps`: reliable connected queue pairs.
pub const VBN_CAP_RC: u64 = 1u64 << 0;
/// `vbn_caps.caps`: unreliable connected queue pairs.
pub const VBN_CAP_UC: u64 = 1u64 << 1;
/// `vbn_caps.caps`: unreliable datagram queue pairs.
pub const VBN_CAP_UD: u64 = 1u64 << 2;
/// `vbn_caps.caps`: EFA's scalable reliable datagram queue pairs.
pub const VBN_CAP_SRD: u64 = 1u64 << 3;
/// `vbn_caps.caps`: extended reliable connected queue pairs.
pub const VBN_CAP_XRC: u64 = 1u64 << 4;
/// `vbn_caps.caps`: SEND. Operations are those of the reliable transport, RC or SRD.
pub const VBN_CAP_SEND: u64 = 1u64 << 8;
/// `vbn_caps.caps`: SEND with immediate.
pub const VBN_CAP_SEND_IMM: u64 = 1u64 << 9;
/// `vbn_caps.caps`: RDMA WRITE.
pub const VBN_CAP_WRITE: u64 = 1u64 << 10;
/// `vbn_caps.caps`: RDMA WRITE with immediate.
pub const VBN_CAP_WRITE_IMM: u64 = 1u64 << 11;
/// `vbn_caps.caps`: RDMA READ.
pub const VBN_CAP_READ: u64 = 1u64 << 12;
/// `vbn_caps.caps`: compare-and-swap and fetch-and-add, atomic among requests of this device.
pub const VBN_CAP_ATOMICS: u64 = 1u64 << 13;
/// `vbn_caps.caps`: the same, atomic with the CPU and other devices too.
pub const VBN_CAP_ATOMICS_GLOBAL: u64 = 1u64 << 14;
/// `vbn_caps.caps`: atomic WRITE of 8 bytes.
pub const VBN_CAP_ATOMIC_WRITE: u64 = 1u64 << 15;
/// `vbn_caps.caps`: FLUSH of remote memory to global visibility.
pub const VBN_CAP_FLUSH: u64 = 1u64 << 16;
/// `vbn_caps.caps`: SEND that invalidates a remote key, and local invalidation.
pub const VBN_CAP_INVALIDATE: u64 = 1u64 << 17;
/// `vbn_caps.caps`: requests that complete without a completion when they succeed.
pub const VBN_CAP_UNSIGNALED: u64 = 1u64 << 20;
/// `vbn_caps.caps`: requests that wait for earlier READs and atomics.
pub const VBN_CAP_FENCE: u64 = 1u64 << 21;
/// `vbn_caps.caps`: requests that raise a solicited event at the receiver.
pub const VBN_CAP_SOLICITED: u64 = 1u64 << 22;
/// `vbn_caps.caps`: SENDs whose data is copied when they are posted.
pub const VBN_CAP_INLINE: u64 = 1u64 << 23;
/// `vbn_caps.caps`: WRITEs whose data is copied when they are posted.
pub const VBN_CAP_INLINE_WRITE: u64 = 1u64 << 24;
/// `vbn_caps.caps`: requests of a queue pair take effect at the peer in the order in which they were posted.
pub const VBN_CAP_ORDERED: u64 = 1u64 << 25;
/// `vbn_caps.caps`: how often to try again while the receiver has no receive posted can be set.
pub const VBN_CAP_RNR_RETRY: u64 = 1u64 << 26;
/// `vbn_caps.caps`: WRITEs with immediate that take no receive at the peer.
pub const VBN_CAP_UNSOLICITED_WRITE_RECV: u64 = 1u64 << 27;
/// `vbn_caps.caps`: a failed request leaves the queue pair and its other requests alone.
pub const VBN_CAP_ERRORS_ISOLATED: u64 = 1u64 << 28;
/// `vbn_caps.caps`: hints to the device in a request.
pub const VBN_CAP_PROCESSING_HINTS: u64 = 1u64 << 29;
/// `vbn_caps.caps`: completion queues that report to a channel.
pub const VBN_CAP_NOTIFY: u64 = 1u64 << 32;
/// `vbn_caps.caps`: the same for solicited completions alone.
pub const VBN_CAP_NOTIFY_SOLICITED: u64 = 1u64 << 33;
/// `vbn_caps.caps`: completions that tell the GID of a sender who has no address handle here.
pub const VBN_CAP_WC_SGID: u64 = 1u64 << 34;
/// `vbn_caps.caps`: completions with a time stamp of the device.
pub const VBN_CAP_WC_TIMESTAMP: u64 = 1u64 << 35;
/// `vbn_caps.caps`: counters of completions instead of queues.
pub const VBN_CAP_COMP_CNTR: u64 = 1u64 << 36;
/// `vbn_caps.caps`: completion queues in a dma-buf.
pub const VBN_CAP_CQ_DMABUF: u64 = 1u64 << 37;
/// `vbn_caps.caps`: regions in a dma-buf. Whether an exporter's memory is within reach, registering it tells.
pub const VBN_CAP_DMABUF: u64 = 1u64 << 40;
/// `vbn_caps.caps`: regions with relaxed PCIe ordering. No device has this bit, and each VBN_ABSENCE_UNKNOWN: no query of
/// rdma-core 33 to 65 tells, and VBN_ACCESS_RELAXED_ORDERING is accepted where it changes nothing.
pub const VBN_CAP_RELAXED_ORDERING: u64 = 1u64 << 41;
/// `vbn_caps.caps`: regions that are not pinned but paged in on demand.
pub const VBN_CAP_ODP: u64 = 1u64 << 42;
/// `vbn_caps.caps`: memory windows.
pub const VBN_CAP_MW: u64 = 1u64 << 43;
/// `vbn_caps.caps`: memory of the device's own.
pub const VBN_CAP_DEVICE_MEMORY: u64 = 1u64 << 44;
/// `vbn_caps.caps`: receive queues that queue pairs share.
pub const VBN_CAP_SRQ: u64 = 1u64 << 48;
/// `vbn_caps.caps`: multicast.
pub const VBN_CAP_MULTICAST: u64 = 1u64 << 49;

/// `vbn_caps.absence`: the capability is there, or this library doesn't know it.
pub const VBN_ABSENCE_NONE: u8 = 0;
/// `vbn_caps.absence`: nothing tells, or the attempt failed for another reason; `detail` is its errno, or 0. Try it.
pub const VBN_ABSENCE_UNKNOWN: u8 = 1;
/// `vbn_caps.absence`: the device's transport has no such thing.
pub const VBN_ABSENCE_TRANSPORT: u8 = 2;
/// `vbn_caps.absence`: the device doesn't report it.
pub const VBN_ABSENCE_DEVICE: u8 = 3;
/// `vbn_caps.absence`: the loaded rdma-core is too old to know it; `detail` is the release that brought it. Whether the
/// device has it can't be told before.
pub const VBN_ABSENCE_LIBRARY: u8 = 4;
/// `vbn_caps.absence`: the device doesn't report it, or the loaded rdma-core is older than release `detail`.
pub const VBN_ABSENCE_LIBRARY_OR_DEVICE: u8 = 5;
/// `vbn_caps.absence`: the driver or the kernel refused to try it; `detail` is the errno.
pub const VBN_ABSENCE_DRIVER: u8 = 6;

/// What a device can do, whatever its kind. Limits that don't apply or aren't known are 0.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct vbn_caps {
    /// sizeof(vbn_caps), set by the caller.
    pub struct_size: usize,
    /// VBN_CAP_*: what is there for certain.
    pub caps: u64,
    /// VBN_CAP_*: what this library has looked for.
    pub asked: u64,
    /// Largest SEND of RC or SRD, of port 1.
    pub max_send_size: u64,
    /// Largest SEND of UD, of port 1.
    pub max_datagram_size: u64,
    /// Largest READ and WRITE.
    pub max_rdma_size: u64,
    /// Largest memory region.
    pub max_mr_size: u64,
    /// Name of the device.
    pub name: [c_char; 64],
    /// VBN_TRANSPORT_*: libibverbs' numbers.
    pub transport_type: i32,
    /// VBN_LINK_LAYER_* of port 1.
    pub link_layer: i32,
    /// The rdma-core release of the library that knows the device's own capabilities (libefa) is this or newer...
    pub release_min: u32,
    /// ...and older than this; 0: no newer one is known. Both 0: there is no such library.
    pub release_below: u32,
    /// Inline data that a request can carry: on EFA without making the send queue's entries wider, elsewhere what a queue
    /// pair got that asked for 32 bytes (more may be possible).
    pub max_inline: u32,
    /// The same on EFA with wider entries, which halve the depth. Elsewhere as `max_inline`.
    pub max_inline_ex: u32,
    /// Segments of a SEND.
    pub max_send_sge: u32,
    /// Segments of a receive.
    pub max_recv_sge: u32,
    /// Local segments of a WRITE.
    pub max_write_sge: u32,
    /// Local segments of a READ.
    pub max_read_sge: u32,
    /// Requests on a send queue.
    pub max_sq_depth: u32,
    /// The same with `max_inline_ex` or inline WRITEs.
    pub max_sq_depth_ex: u32,
    /// Requests on a receive queue, with one segment each.
    pub max_rq_depth: u32,
    /// Bytes of a receive's segment that count.
    pub max_recv_segment: u32,
    /// Entries of a completion queue.
    pub max_cqe: u32,
    /// Completion queues.
    pub max_cq: u32,
    /// Queue pairs.
    pub max_qp: u32,
    /// Memory regions.
    pub max_mr: u32,
    /// Protection domains.
    pub max_pd: u32,
    /// Address handles.
    pub max_ah: u32,
    /// READs and atomics that a queue pair can have under way.
    pub max_rd_atomic: u32,
    /// READs and atomics that a queue pair can serve at once.
    pub max_dest_rd_atomic: u32,
    /// Completion vectors.
    pub num_comp_vectors: u32,
    /// Ports.
    pub num_ports: u32,
    /// What VBN_ABSENCE_LIBRARY and so on say more, an element for each bit of `caps`.
    pub detail: [u16; 64],
    /// VBN_ABSENCE_*: why a capability is absent, an element for each bit of `caps`.
    pub absence: [u8; 64],
    /// 1 if the device is an EFA.
    pub efa: u8,
    /// 0.
    pub reserved0: [u8; 7],
}
cold_structs!(vbn_caps);

/// All that is known, with its name in sentences.
const CAPS: [(u64, &str); 38] = [
    (VBN_CAP_RC, "RC queue pairs"),
    (VBN_CAP_UC, "UC queue pairs"),
    (VBN_CAP_UD, "UD queue pairs"),
    (VBN_CAP_SRD, "SRD queue pairs"),
    (VBN_CAP_XRC, "XRC queue pairs"),
    (VBN_CAP_SEND, "SEND"),
    (VBN_CAP_SEND_IMM, "SEND with immediate"),
    (VBN_CAP_WRITE, "RDMA WRITE"),
    (VBN_CAP_WRITE_IMM, "RDMA WRITE with immediate"),
    (VBN_CAP_READ, "RDMA READ"),
    (VBN_CAP_ATOMICS, "atomics"),
    (VBN_CAP_ATOMICS_GLOBAL, "atomics that respect the CPU"),
    (VBN_CAP_ATOMIC_WRITE, "atomic WRITE"),
    (VBN_CAP_FLUSH, "RDMA FLUSH"),
    (VBN_CAP_INVALIDATE, "invalidation of keys"),
    (VBN_CAP_UNSIGNALED, "unsignaled requests"),
    (VBN_CAP_FENCE, "fences"),
    (VBN_CAP_SOLICITED, "solicited requests"),
    (VBN_CAP_INLINE, "inline data"),
    (VBN_CAP_INLINE_WRITE, "inline WRITE"),
    (VBN_CAP_ORDERED, "order between requests"),
    (VBN_CAP_RNR_RETRY, "RNR retry counts"),
    (VBN_CAP_UNSOLICITED_WRITE_RECV, "unsolicited WRITE with immediate"),
    (VBN_CAP_ERRORS_ISOLATED, "errors that stay with their request"),
    (VBN_CAP_PROCESSING_HINTS, "processing hints"),
    (VBN_CAP_NOTIFY, "completion notifications"),
    (VBN_CAP_NOTIFY_SOLICITED, "solicited notifications"),
    (VBN_CAP_WC_SGID, "source GIDs in completions"),
    (VBN_CAP_WC_TIMESTAMP, "time stamps in completions"),
    (VBN_CAP_COMP_CNTR, "completion counters"),
    (VBN_CAP_CQ_DMABUF, "completion queues in a dma-buf"),
    (VBN_CAP_DMABUF, "dma-buf regions"),
    (VBN_CAP_RELAXED_ORDERING, "relaxed ordering"),
    (VBN_CAP_ODP, "on-demand paging"),
    (VBN_CAP_MW, "memory windows"),
    (VBN_CAP_DEVICE_MEMORY, "device memory"),
    (VBN_CAP_SRQ, "shared receive queues"),
    (VBN_CAP_MULTICAST, "multicast"),
];

/// Every VBN_CAP_*.
/// cbindgen:ignore
pub const ALL: u64 = {
    let (mut all, mut rest) = (0, CAPS.as_slice());
    while let [(bit, _), others @ ..] = rest {
        assert!(*bit & all == 0 && bit.count_ones() == 1, "each capability has a bit of its own");
        all |= *bit;
        rest = others;
    }
    all
};

/// IB_UVERBS_DEVICE_* of the kernel's uapi that libibverbs passes on without a name of its own.
/// cbindgen:ignore
pub const DEVICE_FLUSH_GLOBAL: u64 = 1 << 38;
/// cbindgen:ignore
pub const DEVICE_FLUSH_PERSISTENT: u64 = 1 << 39;
/// cbindgen:ignore
pub const DEVICE_ATOMIC_WRITE: u64 = 1 << 40;

/// Windows of type 1, 2A or 2B.
const WINDOWS: u64 = (IBV_DEVICE_MEM_WINDOW | IBV_DEVICE_MEM_WINDOW_TYPE_2A | IBV_DEVICE_MEM_WINDOW_TYPE_2B) as u64;

fn device_flags(device: &vbn_device_attr) -> u64 {
    u64::from(device.device_cap_flags) | device.device_cap_flags_ex
}

/// Between which releases of rdma-core a library lies. `below` 0: no newer one is known.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Release {
    min: u32,
    below: u32,
}

impl Release {
    /// What the functions tell that are there and those that are missing.
    fn of(symbols: &'static [Symbol], missing: &MissingSet) -> Self {
        let (min, below) = library::release(symbols, missing, true);
        Self { min, below }
    }

    fn holds(self, release: u32) -> bool {
        self.min <= release && (self.below == 0 || release < self.below)
    }

    /// rdma-core names a provider's file `libefa.so.1.ABI.RELEASE`, as in `libefa.so.1.2.44.0`. Where that agrees with the
    /// functions, it tells the release.
    fn narrowed(self, file: &[u8]) -> Self {
        let name = file.rsplit(|b| *b == b'/').next().unwrap_or(file);
        let release = name
            .split(|b| *b == b'.')
            .skip_while(|part| *part != b"so")
            .nth(3)
            .and_then(|part| std::str::from_utf8(part).ok())
            .and_then(|part| part.parse().ok());
        match release {
            Some(release) if self.holds(release) => Self { min: release, below: release.saturating_add(1) },
            _ => self,
        }
    }
}

/// What an EFA and its library say.
#[derive(Clone, Copy)]
struct Efa {
    attr: efadv_device_attr,
    release: Release,
    /// Depth of a send queue with narrow and with wide entries, where the library tells.
    sq_depth: Option<(u32, u32)>,
}

/// All that a judgement rests on.
#[derive(Clone, Copy)]
struct Facts {
    name: [c_char; 64],
    transport: i32,
    device: vbn_device_attr,
    port: ibv_port_attr,
    efa: Option<Efa>,
    tried: Tried,
    num_comp_vectors: u32,
}

/// Whether a capability is there, and why not.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Verdict {
    absence: u8,
    detail: u16,
}

const YES: Verdict = Verdict::no(VBN_ABSENCE_NONE);
const TRANSPORT: Verdict = Verdict::no(VBN_ABSENCE_TRANSPORT);
const DEVICE: Verdict = Verdict::no(VBN_ABSENCE_DEVICE);
const UNKNOWN: Verdict = Verdict::no(VBN_ABSENCE_UNKNOWN);

impl Verdict {
    const fn no(absence: u8) -> Self {
        Self { absence, detail: 0 }
    }

    fn with(absence: u8, detail: u32) -> Self {
        Self { absence, detail: u16::try_from(detail).unwrap_or(u16::MAX) }
    }

    fn is_yes(self) -> bool {
        self.absence == VBN_ABSENCE_NONE
    }

    /// `self` if it is a yes, else what stands in the way; else `other`.
    fn and(self, other: Verdict) -> Self {
        if self.is_yes() { other } else { self }
    }

    /// A yes if either is; else the first's reason.
    fn or(self, other: Verdict) -> Self {
        if other.is_yes() { other } else { self }
    }
}

fn reported(there: bool) -> Verdict {
    if there { YES } else { DEVICE }
}

fn of_answer(answer: Answer) -> Verdict {
    match answer {
        Answer::Yes => YES,
        Answer::Refused(errno) => Verdict::with(VBN_ABSENCE_DRIVER, errno.unsigned_abs()),
        Answer::Unclear(errno) => Verdict::with(VBN_ABSENCE_UNKNOWN, errno.unsigned_abs()),
        Answer::NoFunction(since) => Verdict::with(VBN_ABSENCE_LIBRARY, since),
    }
}

impl Efa {
    fn has(&self, bit: u32) -> bool {
        self.attr.device_caps & bit != 0
    }

    /// What a library of release `since` or newer reports.
    fn reports(&self, there: bool, since: u32) -> Verdict {
        let Release { min, below } = self.release;
        if there {
            YES
        } else if min >= since {
            DEVICE
        } else if below != 0 && below <= since {
            Verdict::with(VBN_ABSENCE_LIBRARY, since)
        } else {
            Verdict::with(VBN_ABSENCE_LIBRARY_OR_DEVICE, since)
        }
    }

    /// Some bytes more than the narrow entries have room for, where the device has wide ones.
    fn has_wide(&self) -> bool {
        self.attr.inline_buf_size_ex > self.attr.inline_buf_size
    }

    fn verdict(&self, cap: u64, facts: &Facts) -> Verdict {
        let bit = |bit, since| self.reports(self.has(bit), since);
        match cap {
            VBN_CAP_UD | VBN_CAP_SRD | VBN_CAP_SEND | VBN_CAP_SEND_IMM | VBN_CAP_ERRORS_ISOLATED => YES,
            VBN_CAP_READ => bit(EFADV_DEVICE_ATTR_CAPS_RDMA_READ, 27),
            VBN_CAP_WRITE | VBN_CAP_WRITE_IMM => bit(EFADV_DEVICE_ATTR_CAPS_RDMA_WRITE, 46),
            VBN_CAP_RNR_RETRY => bit(EFADV_DEVICE_ATTR_CAPS_RNR_RETRY, 32),
            VBN_CAP_WC_SGID => bit(EFADV_DEVICE_ATTR_CAPS_CQ_WITH_SGID, 43),
            VBN_CAP_UNSOLICITED_WRITE_RECV => bit(EFADV_DEVICE_ATTR_CAPS_UNSOLICITED_WRITE_RECV, 52),
            VBN_CAP_CQ_DMABUF => bit(EFADV_DEVICE_ATTR_CAPS_CQ_WITH_EXT_MEM_DMABUF, 59),
            VBN_CAP_COMP_CNTR => bit(EFADV_DEVICE_ATTR_CAPS_COMP_CNTR, 65),
            VBN_CAP_INLINE => reported(self.attr.inline_buf_size > 0),
            VBN_CAP_INLINE_WRITE => match bit(EFADV_DEVICE_ATTR_CAPS_RDMA_WRITE, 46) {
                DEVICE => DEVICE,
                _ => self.reports(self.has_wide(), 63),
            },
            VBN_CAP_PROCESSING_HINTS => self.reports(self.release.min >= 64, 64),
            // Before 38 a queue on a channel was made, and no event ever came.
            VBN_CAP_NOTIFY if self.release.min >= 38 => of_answer(facts.tried.notify),
            VBN_CAP_NOTIFY => self.reports(false, 38),
            VBN_CAP_RC
            | VBN_CAP_UC
            | VBN_CAP_XRC
            | VBN_CAP_ATOMICS
            | VBN_CAP_ATOMICS_GLOBAL
            | VBN_CAP_ATOMIC_WRITE
            | VBN_CAP_FLUSH
            | VBN_CAP_INVALIDATE
            | VBN_CAP_UNSIGNALED
            | VBN_CAP_FENCE
            | VBN_CAP_SOLICITED
            | VBN_CAP_ORDERED
            | VBN_CAP_NOTIFY_SOLICITED => TRANSPORT,
            _ => facts.of_any(cap),
        }
    }

    fn limits(&self, caps: &mut vbn_caps, facts: &Facts) {
        let a = &self.attr;
        let rdma_sge = count(facts.device.max_sge_rd);
        let has = |cap| caps.caps & cap != 0;
        caps.max_send_size = facts.port.max_msg_sz.into();
        caps.max_datagram_size = facts.port.max_msg_sz.into();
        caps.max_rdma_size = if has(VBN_CAP_READ | VBN_CAP_WRITE) { a.max_rdma_size.into() } else { 0 };
        caps.max_write_sge = if has(VBN_CAP_WRITE) { rdma_sge } else { 0 };
        caps.max_read_sge = if has(VBN_CAP_READ) { rdma_sge } else { 0 };
        caps.max_inline = a.inline_buf_size.into();
        caps.max_inline_ex = a.inline_buf_size.max(a.inline_buf_size_ex).into();
        caps.max_send_sge = a.max_sq_sge.into();
        caps.max_recv_sge = a.max_rq_sge.into();
        let depth = a.max_sq_wr.min(count(facts.device.max_qp_wr));
        (caps.max_sq_depth, caps.max_sq_depth_ex) = match self.sq_depth {
            Some((narrow, wide)) => (narrow.min(a.max_sq_wr), wide.min(a.max_sq_wr)),
            None => (depth, depth),
        };
        caps.max_rq_depth = a.max_rq_wr;
        // Provider, up to rdma-core 65: the rest of a longer segment is ignored.
        caps.max_recv_segment = 65535;
    }
}

/// A limit of libibverbs', which are signed.
fn count(number: i32) -> u32 {
    u32::try_from(number).unwrap_or(0)
}

impl Facts {
    fn verdict(&self, cap: u64) -> Verdict {
        match &self.efa {
            Some(efa) => efa.verdict(cap, self),
            None => self.of_verbs(cap),
        }
    }

    /// What is asked of every device in the same way.
    fn of_any(&self, cap: u64) -> Verdict {
        let d = &self.device;
        let flags = device_flags(d);
        // Without the extended query its fields say nothing.
        let extended = |there| if d.has_extended != 0 || there { reported(there) } else { UNKNOWN };
        match cap {
            VBN_CAP_XRC => reported(flags & u64::from(IBV_DEVICE_XRC) != 0),
            VBN_CAP_ATOMICS => reported(d.atomic_cap != IBV_ATOMIC_NONE as i32),
            VBN_CAP_ATOMICS_GLOBAL => reported(d.atomic_cap == IBV_ATOMIC_GLOB as i32),
            VBN_CAP_ATOMIC_WRITE => extended(flags & DEVICE_ATOMIC_WRITE != 0).and(of_answer(self.tried.atomic_write)),
            VBN_CAP_FLUSH => extended(flags & DEVICE_FLUSH_GLOBAL != 0).and(of_answer(self.tried.flush)),
            VBN_CAP_INVALIDATE => reported(flags & u64::from(IBV_DEVICE_MEM_MGT_EXTENSIONS) != 0),
            VBN_CAP_NOTIFY => of_answer(self.tried.notify),
            VBN_CAP_WC_TIMESTAMP => extended(d.completion_timestamp_mask != 0),
            VBN_CAP_DMABUF => of_answer(self.tried.dmabuf),
            VBN_CAP_ODP => extended(d.odp_general_caps & IBV_ODP_SUPPORT != 0),
            VBN_CAP_MW => reported(d.max_mw > 0 && flags & WINDOWS != 0).and(of_answer(self.tried.windows)),
            VBN_CAP_DEVICE_MEMORY => extended(d.max_dm_size > 0),
            VBN_CAP_SRQ => reported(d.max_srq > 0),
            VBN_CAP_MULTICAST => reported(d.max_mcast_grp > 0),
            _ => UNKNOWN,
        }
    }

    /// InfiniBand, RoCE, iWARP, and whatever else speaks verbs.
    fn of_verbs(&self, cap: u64) -> Verdict {
        let [rc, uc, ud] = [self.tried.rc, self.tried.uc, self.tried.ud].map(of_answer);
        let iwarp = self.transport == VBN_TRANSPORT_IWARP;
        // What the transport's specification promises of a queue pair says nothing about other transports.
        let promised = |there: Verdict| {
            if self.transport == VBN_TRANSPORT_IB || iwarp { there } else { there.and(UNKNOWN) }
        };
        match cap {
            VBN_CAP_RC => rc,
            VBN_CAP_UC => uc,
            VBN_CAP_UD => ud,
            VBN_CAP_SEND => promised(rc.or(uc).or(ud)),
            VBN_CAP_WRITE => promised(rc.or(uc)),
            VBN_CAP_READ => promised(rc.and(reported(self.device.max_qp_init_rd_atom > 0))),
            // Not in iWARP itself, but some devices add it.
            VBN_CAP_SEND_IMM | VBN_CAP_WRITE_IMM if iwarp => UNKNOWN,
            VBN_CAP_SEND_IMM => promised(rc.or(uc).or(ud)),
            VBN_CAP_WRITE_IMM => promised(rc.or(uc)),
            VBN_CAP_RNR_RETRY if iwarp => TRANSPORT,
            VBN_CAP_UNSIGNALED | VBN_CAP_FENCE | VBN_CAP_SOLICITED | VBN_CAP_ORDERED | VBN_CAP_RNR_RETRY => {
                promised(rc)
            }
            VBN_CAP_NOTIFY_SOLICITED => promised(of_answer(self.tried.notify)),
            VBN_CAP_INLINE | VBN_CAP_INLINE_WRITE => of_answer(self.tried.inline),
            VBN_CAP_SRD
            | VBN_CAP_UNSOLICITED_WRITE_RECV
            | VBN_CAP_ERRORS_ISOLATED
            | VBN_CAP_PROCESSING_HINTS
            | VBN_CAP_WC_SGID
            | VBN_CAP_COMP_CNTR
            | VBN_CAP_CQ_DMABUF => TRANSPORT,
            _ => self.of_any(cap),
        }
    }

    fn limits_of_verbs(&self, caps: &mut vbn_caps) {
        let d = &self.device;
        let has = |cap| caps.caps & cap != 0;
        let message = u64::from(self.port.max_msg_sz);
        let sge = count(d.max_sge);
        caps.max_send_size = if has(VBN_CAP_RC) { message } else { 0 };
        // IBV_MTU_256 is 1, and each further one twice as large.
        let mtu = 128u64.checked_shl(self.port.active_mtu).filter(|mtu| *mtu <= 4096).unwrap_or(0);
        caps.max_datagram_size = if has(VBN_CAP_UD) { mtu } else { 0 };
        caps.max_rdma_size = if has(VBN_CAP_WRITE) { message } else { 0 };
        caps.max_write_sge = if has(VBN_CAP_WRITE) { sge } else { 0 };
        caps.max_read_sge = if has(VBN_CAP_READ) { sge.min(count(d.max_sge_rd)) } else { 0 };
        caps.max_inline = self.tried.inline_granted;
        caps.max_inline_ex = self.tried.inline_granted;
        caps.max_send_sge = sge;
        caps.max_recv_sge = sge;
        caps.max_sq_depth = count(d.max_qp_wr);
        caps.max_sq_depth_ex = count(d.max_qp_wr);
        caps.max_rq_depth = count(d.max_qp_wr);
        caps.max_recv_segment = u32::MAX;
    }

    fn judge(&self) -> vbn_caps {
        let d = &self.device;
        let mut caps = vbn_caps {
            struct_size: size_of::<vbn_caps>(),
            asked: ALL,
            name: self.name,
            transport_type: self.transport,
            link_layer: self.port.link_layer.into(),
            max_mr_size: d.max_mr_size,
            max_cqe: count(d.max_cqe),
            max_cq: count(d.max_cq),
            max_qp: count(d.max_qp),
            max_mr: count(d.max_mr),
            max_pd: count(d.max_pd),
            max_ah: count(d.max_ah),
            max_rd_atomic: count(d.max_qp_init_rd_atom),
            max_dest_rd_atomic: count(d.max_qp_rd_atom),
            num_comp_vectors: self.num_comp_vectors,
            num_ports: d.phys_port_cnt.into(),
            efa: self.efa.is_some().into(),
            ..Cold::zeroed()
        };
        if let Some(efa) = &self.efa {
            (caps.release_min, caps.release_below) = (efa.release.min, efa.release.below);
        }
        let places = caps.absence.iter_mut().zip(caps.detail.iter_mut()).enumerate();
        for (index, (absence, detail)) in places.filter(|(index, _)| ALL >> index & 1 == 1) {
            let verdict = self.verdict(1 << index);
            (*absence, *detail) = (verdict.absence, verdict.detail);
            caps.caps |= u64::from(verdict.is_yes()) << index;
        }
        match &self.efa {
            Some(efa) => efa.limits(&mut caps, self),
            None => self.limits_of_verbs(&mut caps),
        }
        caps
    }
}

/// Asks a device what it can do. Some things are found out by trying them: a few objects are made and destroyed.
pub fn of(context: &Ref<Context>) -> Result<vbn_caps> {
    let device = context.query_device()?;
    let facts = Facts {
        name: chars(context.name().bytes()),
        transport: context.transport(),
        device,
        port: if context.ports() > 0 { context.port(1)? } else { Zeroed::zeroed() },
        efa: context.efa().map(|efa| probe::efa(efa, context)),
        tried: probe::tries(context, &device)?,
        num_comp_vectors: context.num_comp_vectors(),
    };
    Ok(facts.judge())
}

#[cfg(test)]
mod tests;
