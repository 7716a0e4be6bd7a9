// SPDX-License-Identifier: MIT OR Apache-2.0
//! Why a device lacks a capability, as a sentence.

use std::fmt::{self, Write};

use super::*;
use crate::core::context::{VBN_LINK_LAYER_ETHERNET, VBN_LINK_LAYER_INFINIBAND};
use crate::core::error::{Error, write_errno};
use crate::core::text::{Writer, text, write_bytes};

/// The device in a sentence: "RoCE device mlx5_0".
struct Device<'a>(&'a vbn_caps);

impl fmt::Display for Device<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let caps = self.0;
        f.write_str(match (caps.efa, caps.transport_type, caps.link_layer) {
            (1.., ..) => "efa device ",
            (_, VBN_TRANSPORT_IB, VBN_LINK_LAYER_ETHERNET) => "RoCE device ",
            (_, VBN_TRANSPORT_IB, VBN_LINK_LAYER_INFINIBAND) => "InfiniBand device ",
            (_, VBN_TRANSPORT_IWARP, _) => "iWARP device ",
            _ => "device ",
        })?;
        write_bytes(f, text(&caps.name))
    }
}

/// The release of the loaded library: "rdma-core 43 to 49".
struct Loaded<'a>(&'a vbn_caps);

impl fmt::Display for Loaded<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.0.release_min, self.0.release_below.saturating_sub(1)) {
            (0, _) => f.write_str("the loaded rdma-core"),
            (min, last) if last == min => write!(f, "libefa of rdma-core {min}"),
            (min, last) if last > min => write!(f, "libefa of rdma-core {min} to {last}"),
            (min, _) => write!(f, "libefa of rdma-core {min} or newer"),
        }
    }
}

/// Writes why `cap`, one bit, is absent, or that it is there.
pub fn sentence(caps: &vbn_caps, cap: u64, out: &mut dyn Write) -> fmt::Result {
    let place = cap.trailing_zeros() as usize;
    let absence = caps.absence.get(place).copied().unwrap_or(VBN_ABSENCE_NONE);
    let detail = caps.detail.get(place).copied().unwrap_or(0);
    let name = CAPS.iter().find(|(bit, _)| *bit == cap).map_or("such capability", |(_, name)| name);
    let device = Device(caps);
    match absence {
        VBN_ABSENCE_NONE if caps.caps & cap != 0 => write!(out, "{device} has {name}"),
        VBN_ABSENCE_TRANSPORT => write!(out, "{device} has no {name}: {}", of_transport(cap, caps.efa != 0)),
        VBN_ABSENCE_DEVICE
            if caps.efa != 0 && cap & (VBN_CAP_WRITE | VBN_CAP_WRITE_IMM | VBN_CAP_INLINE_WRITE) != 0 =>
        {
            if caps.caps & VBN_CAP_WRITE != 0 {
                write!(out, "{device} has no {name}: its send queues have no wide entries")
            } else if caps.caps & VBN_CAP_READ != 0 {
                write!(out, "{device} has RDMA READ only (p4d class): no {name}; let the peer READ, or use SEND")
            } else {
                write!(out, "{device} has neither RDMA READ nor WRITE: no {name}; use SEND")
            }
        }
        VBN_ABSENCE_DEVICE if caps.efa != 0 && cap == VBN_CAP_READ => {
            let instead = if caps.caps & VBN_CAP_WRITE != 0 { "let the peer WRITE, or use SEND" } else { "use SEND" };
            write!(out, "{device} has no {name}: it doesn't report any; {instead}")
        }
        VBN_ABSENCE_DEVICE => write!(out, "{device} has no {name}: it doesn't report any"),
        VBN_ABSENCE_LIBRARY if cap == VBN_CAP_DMABUF => {
            write!(
                out,
                "the loaded libibverbs has no ibv_reg_dmabuf_mr for {name}; it needs rdma-core {detail} or newer"
            )
        }
        VBN_ABSENCE_LIBRARY => {
            let loaded = Loaded(caps);
            write!(out, "{loaded} has no {name}; it needs rdma-core {detail} or newer")?;
            write!(out, ", and before that nothing tells whether {device} has it")
        }
        VBN_ABSENCE_LIBRARY_OR_DEVICE => {
            let loaded = Loaded(caps);
            write!(out, "{device} shows no {name}: it has none, or {loaded} is older than {detail}, which it needs")
        }
        VBN_ABSENCE_DRIVER => {
            write!(out, "the driver of {device} refuses {name}: ")?;
            write_errno(detail.into(), out)
        }
        _ if detail != 0 => {
            write!(out, "{name} could not be tried on {device}: ")?;
            write_errno(detail.into(), out)
        }
        _ if cap == VBN_CAP_RELAXED_ORDERING => write!(
            out,
            "nothing tells whether {device} has {name}: VBN_ACCESS_RELAXED_ORDERING is accepted everywhere, and ignored \
             where there is none"
        ),
        _ => write!(out, "nothing tells whether {device} has {name}: try it"),
    }
}

/// What there is instead.
fn of_transport(cap: u64, efa: bool) -> &'static str {
    match (cap, efa) {
        (VBN_CAP_RC | VBN_CAP_UC | VBN_CAP_XRC, true) => "EFA offers SRD, reliable and without a connection, and UD",
        (VBN_CAP_UNSIGNALED, true) => "on EFA every request completes; set VBN_SEND_SIGNALED or sq_sig_all",
        (VBN_CAP_FENCE | VBN_CAP_ORDERED, true) => {
            "on EFA requests overtake each other; wait for the completions of those that must come first"
        }
        (VBN_CAP_SOLICITED | VBN_CAP_NOTIFY_SOLICITED, true) => "on EFA an armed queue reports every completion",
        (_, true) => "EFA offers none",
        (VBN_CAP_SRD, _) => "only EFA offers them; use RC",
        (VBN_CAP_WC_SGID, _) => "only EFA offers them; a datagram brings the GID in its GRH, and RC has one peer",
        (VBN_CAP_UNSOLICITED_WRITE_RECV, _) => "only EFA offers it; the peer must post a receive for each",
        (VBN_CAP_ERRORS_ISOLATED, _) => "a failed request stops its queue pair, and the others are flushed",
        (VBN_CAP_PROCESSING_HINTS | VBN_CAP_COMP_CNTR | VBN_CAP_CQ_DMABUF, _) => "only EFA offers them",
        (VBN_CAP_RNR_RETRY, _) => "iWARP's TCP makes the sender wait",
        _ => "its transport offers none",
    }
}

/// Writes the sentence into `text`, cut to fit and zero-terminated, and returns how much room all of it takes.
pub fn describe(caps: &vbn_caps, cap: u64, text: &mut [u8]) -> Result<usize> {
    if cap & !ALL != 0 {
        return Err(Error::unknown_bits("cap", cap, ALL));
    }
    if !cap.is_power_of_two() {
        return Err(Error::range("cap", cap, "a single VBN_CAP_*"));
    }
    let mut out = Counted { writer: Writer::new(text), length: 0 };
    // The writer cuts what does not fit and never fails.
    let _ = sentence(caps, cap, &mut out);
    Ok(out.length.saturating_add(1))
}

/// A writer that knows how much there was to write.
struct Counted<'a> {
    writer: Writer<'a>,
    length: usize,
}

impl Write for Counted<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.length = self.length.saturating_add(text.len());
        self.writer.write_str(text)
    }
}
