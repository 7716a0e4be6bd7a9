// SPDX-License-Identifier: MIT OR Apache-2.0
//! Requests and completions, whatever they look like in the rings of a device.

use super::host::Gid;
pub use crate::fault::Op;
use core::fmt;

/// Completion statuses; the numbers are EFA's.
pub mod status {
    pub const OK: u8 = 0;
    pub const FLUSHED: u8 = 1;
    pub const QP_INTERNAL: u8 = 2;
    pub const UNSUPPORTED_OP: u8 = 3;
    pub const INVALID_AH: u8 = 4;
    pub const INVALID_LKEY: u8 = 5;
    pub const BAD_LENGTH: u8 = 6;
    pub const REMOTE_BAD_ADDRESS: u8 = 7;
    pub const REMOTE_ABORT: u8 = 8;
    pub const REMOTE_BAD_QPN: u8 = 9;
    pub const REMOTE_RNR: u8 = 10;
    pub const REMOTE_BAD_LENGTH: u8 = 11;
    pub const REMOTE_BAD_STATUS: u8 = 12;
    pub const UNRESPONSIVE: u8 = 13;
    pub const REMOTE_UNKNOWN_PEER: u8 = 14;
    pub const UNREACHABLE: u8 = 15;
    pub const FEATURE_MISMATCH: u8 = 18;
}

/// A piece of registered memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Sge {
    pub addr: u64,
    pub len: u32,
    pub lkey: u32,
}

/// So much lies in a request itself, which makes the usual ones fast; what is more lies in a place of its own.
pub const FEW_SEND_SGES: usize = 2;
pub const FEW_RECV_SGES: usize = 4;
pub const FEW_INLINE: usize = 96;

/// Bytes of all pieces. Mostly there is one.
#[inline(always)]
fn total(sges: &[Sge]) -> u64 {
    match sges {
        [only] => u64::from(only.len),
        _ => sges.iter().map(|s| u64::from(s.len)).sum(),
    }
}

/// Where a request's local bytes are.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Local {
    Sges { sges: [Sge; FEW_SEND_SGES], count: usize },
    Inline { bytes: [u8; FEW_INLINE], len: usize },
    ManySges(Box<[Sge]>),
    LongInline(Box<[u8]>),
}

#[allow(clippy::len_without_is_empty)]
impl Local {
    /// No bytes.
    pub const NONE: Local = Local::Sges { sges: [Sge { addr: 0, len: 0, lkey: 0 }; FEW_SEND_SGES], count: 0 };

    /// However many they are.
    pub fn of_sges(all: &[Sge]) -> Local {
        let mut sges = [Sge::default(); FEW_SEND_SGES];
        match sges.get_mut(..all.len()) {
            Some(few) => {
                few.copy_from_slice(all);
                Local::Sges { sges, count: all.len() }
            }
            None => Local::ManySges(all.into()),
        }
    }

    /// However long they are.
    pub fn of_bytes(all: &[u8]) -> Local {
        let mut bytes = [0; FEW_INLINE];
        match bytes.get_mut(..all.len()) {
            Some(few) => {
                few.copy_from_slice(all);
                Local::Inline { bytes, len: all.len() }
            }
            None => Local::LongInline(all.into()),
        }
    }

    #[inline(always)]
    pub fn sges(&self) -> &[Sge] {
        match self {
            Local::Sges { sges, count } => sges.get(..*count).unwrap_or(&[]),
            Local::ManySges(sges) => sges,
            Local::Inline { .. } | Local::LongInline(_) => &[],
        }
    }

    /// The bytes themselves, where the request brings them.
    pub fn inline(&self) -> Option<&[u8]> {
        match self {
            Local::Inline { bytes, len } => bytes.get(..*len),
            Local::LongInline(bytes) => Some(bytes),
            Local::Sges { .. } | Local::ManySges(_) => None,
        }
    }

    pub fn len(&self) -> u64 {
        match self {
            Local::Inline { len, .. } => *len as u64,
            Local::LongInline(bytes) => bytes.len() as u64,
            Local::Sges { .. } | Local::ManySges(_) => total(self.sges()),
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Remote {
    pub addr: u64,
    pub len: u32,
    pub rkey: u32,
}

/// A send-queue request.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SendRequest {
    /// The provider's id, echoed as it is.
    pub id: u64,
    /// The operation, or the status with which a request that makes no sense completes.
    pub op: Result<Op, u8>,
    pub signaled: bool,
    pub imm: Option<u32>,
    pub local: Local,
    pub remote: Remote,
    pub ah: u16,
    pub dest_qpn: u32,
    pub qkey: u32,
}

impl Default for SendRequest {
    /// What a request is read into.
    fn default() -> SendRequest {
        SendRequest {
            id: 0,
            op: Ok(Op::Send),
            signaled: false,
            imm: None,
            local: Local::NONE,
            remote: Remote::default(),
            ah: 0,
            dest_qpn: 0,
            qkey: 0,
        }
    }
}

/// A receive-queue request.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct RecvRequest {
    pub id: u64,
    pub sges: [Sge; FEW_RECV_SGES],
    pub count: usize,
    /// Instead of `sges`, where they are more.
    pub many: Box<[Sge]>,
}

#[allow(clippy::len_without_is_empty)]
impl RecvRequest {
    /// However many pieces there are.
    pub fn of_sges(id: u64, all: &[Sge]) -> RecvRequest {
        let mut out = RecvRequest { id, count: all.len(), ..RecvRequest::default() };
        match out.sges.get_mut(..all.len()) {
            Some(few) => few.copy_from_slice(all),
            None => out.many = all.into(),
        }
        out
    }

    #[inline(always)]
    pub fn sges(&self) -> &[Sge] {
        self.sges.get(..self.count).unwrap_or(&self.many)
    }

    #[inline(always)]
    pub fn len(&self) -> u64 {
        total(self.sges())
    }
}

/// What a receive completion says beyond the request's id.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Received {
    pub length: u32,
    /// The number of our address handle for the sender, if there is one.
    pub ah: Option<u16>,
    pub source_gid: Gid,
    pub source_qpn: u32,
    pub imm: Option<u32>,
    pub unsolicited: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Completion {
    pub id: u64,
    pub status: u8,
    pub op: Op,
    pub qpn: u32,
    /// None: the completion of a send request.
    pub recv: Option<Received>,
}

impl fmt::Display for Completion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Completion { id, status, op, qpn, recv } = self;
        match recv {
            None => write!(f, "cqe send qp {qpn} id {id:#x} {op:?} status {status}"),
            Some(r) => {
                write!(
                    f,
                    "cqe recv qp {qpn} id {id:#x} {op:?} status {status} length {} from {:?} qp {}",
                    r.length, r.source_gid, r.source_qpn
                )?;
                if let Some(imm) = r.imm {
                    write!(f, " imm {imm:#x}")?;
                }
                f.write_str(if r.unsolicited { " unsolicited" } else { "" })
            }
        }
    }
}

impl fmt::Display for SendRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.op {
            Ok(op) => write!(f, "wqe {op:?}")?,
            Err(status) => write!(f, "wqe malformed (status {status})")?,
        }
        write!(f, " id {:#x} {} bytes", self.id, self.local.len())?;
        match &self.local {
            Local::Inline { .. } | Local::LongInline(_) => f.write_str(" inline")?,
            Local::Sges { .. } | Local::ManySges(_) => write_sges(f, self.local.sges())?,
        }
        if matches!(self.op, Ok(Op::Read | Op::Write)) {
            write!(f, " remote [{:#x} +{} rkey {:#x}]", self.remote.addr, self.remote.len, self.remote.rkey)?;
        }
        if let Some(imm) = self.imm {
            write!(f, " imm {imm:#x}")?;
        }
        write!(f, " to ah {} qp {} qkey {:#x}", self.ah, self.dest_qpn, self.qkey)
    }
}

impl fmt::Display for RecvRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "wqe Recv id {:#x} {} bytes", self.id, self.len())?;
        write_sges(f, self.sges())
    }
}

fn write_sges(f: &mut fmt::Formatter<'_>, sges: &[Sge]) -> fmt::Result {
    for s in sges {
        write!(f, " [{:#x} +{} lkey {:#x}]", s.addr, s.len, s.lkey)?;
    }
    Ok(())
}
