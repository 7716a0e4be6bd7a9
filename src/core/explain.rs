// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a failed completion, or one that doesn't come, means and what to do about it. Needs no device and no library.

mod efa;
mod errno;
mod verbs;

use std::ffi::c_char;
use std::fmt::{self, Write};
use std::net::Ipv6Addr;

use super::cold::cold_structs;
use super::error::{self, Error, Result, VBN_VENDOR_CUDA, VBN_VENDOR_HSA, VBN_VENDOR_WC};
use super::handle::vbn_context;
use super::names;
use super::post::{VBN_WR_RDMA_READ, VBN_WR_RDMA_WRITE, VBN_WR_RDMA_WRITE_WITH_IMM, VBN_WR_SEND, VBN_WR_SEND_WITH_IMM};
use super::status::{STATUS_TABLE, VBN_ERR_NO_MEMORY, VBN_OK, vbn_status};
use super::text::{Name, Writer, write_bytes};
use super::wc::*;
use crate::sys::os;
use efa::Code;
use errno::Kind;

/// `driver`: not known, or one that nothing special is known of.
pub const VBN_DRIVER_UNKNOWN: i32 = 0;
/// `driver`: mlx5 (NVIDIA ConnectX-4 and later).
pub const VBN_DRIVER_MLX5: i32 = 1;
/// `driver`: soft-RoCE.
pub const VBN_DRIVER_RXE: i32 = 14;
/// `driver`: AWS EFA.
pub const VBN_DRIVER_EFA: i32 = 17;

/// `vbn_explain_attr.status`: no completion has come. Not a status that completions have.
pub const VBN_EXPLAIN_SILENCE: i32 = 0x10000;

/// `vbn_explain_attr.set`: `opcode` counts.
pub const VBN_EXPLAIN_SET_OPCODE: u64 = 1;

/// Room for every text of this version, its terminating zero included.
pub const VBN_EXPLAIN_TEXT_SIZE: usize = 8192;

/// What `vbn_explain` is told. All that isn't known stays zero.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct vbn_explain_attr {
    /// sizeof(vbn_explain_attr).
    pub struct_size: usize,
    /// VBN_EXPLAIN_SET_*: fields whose zero is meant.
    pub set: u64,
    /// If `driver` is 0: the driver by name, such as "efa", "mlx5_core" or "rdma_rxe"; others are fine, and explained as unknown.
    pub driver_name: *const c_char,
    /// VBN_DRIVER_*, the kernel's RDMA_DRIVER_* numbers; others are fine.
    pub driver: i32,
    /// VBN_WC_*, or VBN_EXPLAIN_SILENCE. On EFA VBN_WC_SUCCESS beside a vendor_err means that only the latter is known.
    pub status: i32,
    /// The completion's vendor_err.
    pub vendor_err: u32,
    /// With VBN_EXPLAIN_SET_OPCODE: VBN_WR_* of the request (a failed completion doesn't tell it), or VBN_WC_RECV for a
    /// receive. What can't apply to it is left out.
    pub opcode: u32,
    /// Number of one's own queue pair.
    pub qp_num: u32,
    /// Number of the peer's queue pair.
    pub peer_qp_num: u32,
    /// The peer's GID.
    pub peer_gid: [u8; 16],
    /// If `driver` and `driver_name` are 0: where it happened, if that is still open.
    pub context: *const vbn_context,
}
cold_structs!(vbn_explain_attr);

/// What may be behind it, and what to do then.
#[derive(Clone, Copy)]
struct Case {
    /// The operations that it applies to.
    ops: u8,
    cause: &'static str,
    remedy: &'static str,
}

const SEND: u8 = 1;
const WRITE: u8 = 2;
const READ: u8 = 4;
const ATOMIC: u8 = 8;
const RECV: u8 = 16;
const ANY: u8 = 31;

const fn case(ops: u8, cause: &'static str, remedy: &'static str) -> Case {
    Case { ops, cause, remedy }
}

const fn any(cause: &'static str, remedy: &'static str) -> Case {
    case(ANY, cause, remedy)
}

/// What a status means in a few words, and the first thing to look at.
pub fn brief(status: i32) -> (&'static str, &'static str) {
    let fact = fact(status);
    (fact.what, fact.hint)
}

fn fact(status: i32) -> &'static verbs::Fact {
    verbs::FACTS.iter().find(|fact| fact.status == status).unwrap_or(&verbs::UNKNOWN)
}

/// The driver that a name means; what begins with it is as good ("efa_0", "mlx5_core").
pub fn driver_of(name: &[u8]) -> i32 {
    let known: [(&[u8], i32); 4] =
        [(b"efa", VBN_DRIVER_EFA), (b"mlx5", VBN_DRIVER_MLX5), (b"rxe", VBN_DRIVER_RXE), (b"rdma_rxe", VBN_DRIVER_RXE)];
    known.iter().find(|(known, _)| name.starts_with(known)).map_or(VBN_DRIVER_UNKNOWN, |(_, driver)| *driver)
}

/// The operations that the request may be of.
fn ops_of(attr: &vbn_explain_attr) -> u8 {
    if attr.set & VBN_EXPLAIN_SET_OPCODE == 0 {
        return ANY;
    }
    match attr.opcode {
        VBN_WR_SEND | VBN_WR_SEND_WITH_IMM => SEND,
        VBN_WR_RDMA_WRITE | VBN_WR_RDMA_WRITE_WITH_IMM => WRITE,
        VBN_WR_RDMA_READ => READ,
        // libibverbs' numbers of compare-and-swap and fetch-and-add.
        5 | 6 => ATOMIC,
        opcode if opcode == VBN_WC_RECV as u32 => RECV,
        _ => ANY,
    }
}

fn check_set(attr: &vbn_explain_attr) -> Result<()> {
    if attr.set & !VBN_EXPLAIN_SET_OPCODE != 0 {
        return Err(Error::unknown_bits("set", attr.set, VBN_EXPLAIN_SET_OPCODE));
    }
    Ok(())
}

/// Writes the text into `buffer`, cut to what fits. Returns the room that all of it takes, its terminating zero included.
pub fn explain(attr: &vbn_explain_attr, driver_name: Option<&[u8]>, buffer: &mut [u8]) -> Result<usize> {
    check_set(attr)?;
    let name = Name::new(driver_name.unwrap_or_default());
    let driver = if attr.driver == 0 { driver_of(name.bytes()) } else { attr.driver };
    let mut text = Text { out: Writer::new(buffer), attr, driver, name, ops: ops_of(attr) };
    // The writer cuts what does not fit and never fails.
    let _ = text.all();
    Ok(text.out.wanted().saturating_add(1))
}

/// A recorded failure: what is wanted of it here.
pub struct Failure<'a> {
    pub status: vbn_status,
    pub errno: i32,
    pub vendor_domain: i32,
    pub vendor_code: i64,
    pub value: u64,
    pub limit: u64,
    /// The function that failed.
    pub function: &'a [u8],
    /// The sentence; may be empty.
    pub message: &'a [u8],
}

/// The same for a failed call. `more` is what else is known.
pub fn explain_error(
    failure: &Failure<'_>,
    more: &vbn_explain_attr,
    driver_name: Option<&[u8]>,
    buffer: &mut [u8],
) -> Result<usize> {
    let mut attr = *more;
    if failure.vendor_domain == VBN_VENDOR_WC {
        // vbn_wc_check's record: the completion is in it.
        attr.status = failure.value as i32;
        attr.vendor_err = failure.vendor_code as u32;
        return explain(&attr, driver_name, buffer);
    }
    check_set(&attr)?;
    let name = Name::new(driver_name.unwrap_or_default());
    let driver = if attr.driver == 0 { driver_of(name.bytes()) } else { attr.driver };
    let (kind, ops) = errno::kind_of(failure.function);
    let mut text = Text { out: Writer::new(buffer), attr: &attr, driver, name, ops };
    // The writer cuts what does not fit and never fails.
    let _ = text.failure(failure, kind);
    Ok(text.out.wanted().saturating_add(1))
}

struct Text<'a> {
    out: Writer<'a>,
    attr: &'a vbn_explain_attr,
    driver: i32,
    name: Name,
    ops: u8,
}

impl Text<'_> {
    fn all(&mut self) -> fmt::Result {
        match (self.attr.status, self.driver) {
            (VBN_EXPLAIN_SILENCE, _) => self.silence(),
            (_, VBN_DRIVER_EFA) => self.efa(),
            _ => self.verbs(),
        }
    }

    /// A failed call: its sentence, what the errno means, causes and remedies.
    fn failure(&mut self, failure: &Failure<'_>, kind: Kind) -> fmt::Result {
        let Failure { status, errno, .. } = *failure;
        if failure.message.is_empty() {
            write_bytes(&mut self.out, if failure.function.is_empty() { b"a call" } else { failure.function })?;
            self.out.write_str(if status == VBN_OK && errno == 0 { " has not failed" } else { " failed" })?;
            let known = STATUS_TABLE.iter().find(|(code, ..)| *code == status);
            if errno != 0 {
                self.out.write_str(": ")?;
                error::write_errno(errno, &mut self.out)?;
            } else if let Some((_, name, what)) = known.filter(|_| status != VBN_OK) {
                write!(self.out, ": {} ({})", what.trim_end_matches('\0'), name.trim_end_matches('\0'))?;
            } else if status != VBN_OK {
                write!(self.out, " with status {status}")?;
            }
            self.out.write_str(".\n")?;
        } else {
            write_bytes(&mut self.out, failure.message)?;
            self.out.write_str("\n")?;
        }
        if errno == 0 {
            if status == VBN_OK {
                return Ok(());
            }
            let of_gpu = failure.function.starts_with(b"vbn_gpu_")
                || matches!(failure.vendor_domain, VBN_VENDOR_CUDA | VBN_VENDOR_HSA);
            let gpus = if of_gpu { errno::GPU_STATUSES } else { &[] };
            let known = gpus.iter().chain(errno::STATUSES).find(|(code, _)| *code == status);
            self.ops = ANY;
            return self.cases(&[known.map_or(errno::UNKNOWN.cases, |(_, case)| std::slice::from_ref(case))]);
        }
        let of = |kind: Kind| errno::FACTS.iter().find(|fact| fact.kind == kind && fact.errnos.contains(&errno));
        let fact = of(kind).or_else(|| of(Kind::Other)).unwrap_or(&errno::UNKNOWN);
        self.says(fact.says)?;
        if kind == Kind::Registration && matches!(errno, libc::ENOMEM | libc::EPERM) {
            self.memlock(failure)?;
        }
        if fact.kind != kind {
            self.ops = ANY;
        }
        self.cases(&[fact.cases])?;
        if matches!(kind, Kind::Transition | Kind::Address) { self.gid_note() } else { Ok(()) }
    }

    /// How much was asked for, how much may be locked, and how much is.
    fn memlock(&mut self, failure: &Failure<'_>) -> fmt::Result {
        if failure.value != 0 {
            writeln!(self.out, "The region asked for has {} bytes.", failure.value)?;
        }
        let now = os::memlock_limit().unwrap_or(u64::MAX);
        // Other failures put the device's limit there.
        if failure.status == VBN_ERR_NO_MEMORY && failure.limit != 0 && failure.limit != now {
            self.limit("At the time of the failure RLIMIT_MEMLOCK (ulimit -l) was", failure.limit)?;
        }
        self.limit("In this process RLIMIT_MEMLOCK (ulimit -l) is", now)?;
        match os::pinned_memory() {
            Some(pinned) => writeln!(self.out, "It has {pinned} bytes pinned now (VmPin in /proc/self/status)."),
            None => Ok(()),
        }
    }

    fn limit(&mut self, what: &str, limit: u64) -> fmt::Result {
        if limit == u64::MAX {
            writeln!(self.out, "{what} unlimited.")
        } else {
            writeln!(self.out, "{what} {limit} bytes.")
        }
    }

    /// "efa: a request (RDMA_WRITE) of queue pair 17 to queue pair 5 at fe80::1"
    fn subject(&mut self) -> fmt::Result {
        match self.driver {
            VBN_DRIVER_EFA => self.out.write_str("efa: ")?,
            VBN_DRIVER_MLX5 => self.out.write_str("mlx5: ")?,
            VBN_DRIVER_RXE => self.out.write_str("soft-RoCE: ")?,
            _ if self.name.is_empty() => {}
            _ => write!(self.out, "{}: ", self.name)?,
        }
        let receive = self.ops == RECV;
        if self.attr.set & VBN_EXPLAIN_SET_OPCODE == 0 {
            self.out.write_str("a request")?;
        } else if receive {
            self.out.write_str("a receive")?;
        } else {
            match names::find(names::WR_OPCODES, self.attr.opcode as i32).trim_end_matches('\0') {
                "unknown" => write!(self.out, "a request with opcode {}", self.attr.opcode)?,
                name => write!(self.out, "a request ({name})")?,
            }
        }
        if self.attr.qp_num != 0 {
            write!(self.out, " of queue pair {}", self.attr.qp_num)?;
        }
        let to = if receive { "from" } else { "to" };
        match (self.attr.peer_qp_num, self.peer_gid()) {
            (0, None) => Ok(()),
            (number, None) => write!(self.out, " {to} queue pair {number}"),
            (0, Some(gid)) => write!(self.out, " {to} {gid}"),
            (number, Some(gid)) => write!(self.out, " {to} queue pair {number} at {gid}"),
        }
    }

    fn peer_gid(&self) -> Option<Ipv6Addr> {
        (self.attr.peer_gid != [0; 16]).then(|| Ipv6Addr::from(self.attr.peer_gid))
    }

    fn silence(&mut self) -> fmt::Result {
        self.subject()?;
        self.out.write_str(": no completion has come.\n")?;
        if self.driver == VBN_DRIVER_EFA {
            self.out.write_str(
                "An EFA reports nothing by asynchronous events: what goes wrong shows in completions, in the device's hw_counters, or \
                 not at all.\n",
            )?;
            self.cases(&[efa::SILENCE])?;
        } else {
            let own = self.own_case();
            self.cases(&[own.as_slice(), verbs::SILENCE])?;
        }
        self.gid_note()
    }

    /// An EFA's own code says more than libibverbs' status, which depends on the release.
    fn efa(&mut self) -> fmt::Result {
        let (status, code) = (self.attr.status, self.attr.vendor_err);
        if code == 0 && status != VBN_WC_SUCCESS {
            return self.efa_without_code();
        }
        let Some(known) = efa::CODES.iter().find(|known| known.code == code) else {
            return self.efa_unknown();
        };
        self.subject()?;
        let name = status_name(known.status);
        if code == 0 {
            writeln!(self.out, " succeeded: status 0, OK.\n{}", known.says)?;
            return Ok(());
        }
        writeln!(self.out, " failed: vendor code {code} ({}), VBN_WC_{name}.\n{}", known.name, known.says)?;
        self.cases(&[known.cases])?;
        self.gid_note()?;
        if known.since != 0 {
            writeln!(
                self.out,
                "Note: before rdma-core {} the status is VBN_WC_GENERAL_ERR; the vendor code is the same.",
                known.since
            )?;
        }
        let expected =
            status == known.status || status == VBN_WC_SUCCESS || (known.since != 0 && status == VBN_WC_GENERAL_ERR);
        if !expected {
            writeln!(
                self.out,
                "Note: the status given is {} ({status}), which doesn't go with this code. The code is the device's word, and was \
                 explained.",
                status_name(status)
            )?;
        }
        Ok(())
    }

    /// Only libibverbs' status: all codes that it may stand for.
    fn efa_without_code(&mut self) -> fmt::Result {
        let status = self.attr.status;
        self.failed(status)?;
        // An rdma-core older than a code's status reports it as a general error.
        let unnamed = |code: &Code| status == VBN_WC_GENERAL_ERR && code.since > 0;
        let may_be = |code: &&Code| code.status == status || unnamed(code);
        match efa::CODES.iter().filter(may_be).count() {
            0 => {
                let known = fact(status);
                self.says(known.says)?;
                self.out.write_str("No code of an EFA's is known to be reported so; only the vendor code tells what it is.\n")?;
                return self.cases(&[known.cases]);
            }
            1 => {}
            _ => self.out.write_str("Several of the device's codes are reported so, and the vendor code, which tells them apart, wasn't given.\n")?,
        }
        for code in efa::CODES.iter().filter(may_be) {
            writeln!(self.out, "Vendor code {} ({}): {}", code.code, code.name, code.says)?;
            self.cases(&[code.cases])?;
        }
        self.gid_note()
    }

    fn efa_unknown(&mut self) -> fmt::Result {
        let (status, code) = (self.attr.status, self.attr.vendor_err);
        self.subject()?;
        write!(self.out, " failed: vendor code {code}")?;
        if status != VBN_WC_SUCCESS {
            write!(self.out, ", VBN_WC_{} ({status})", status_name(status))?;
        }
        write!(
            self.out,
            ".\nThis code isn't known to this version of libverbena. EFA's list as of rdma-core 65 ends at {}, with 16 and 17 left \
             out.\n",
            efa::LAST
        )?;
        self.cases(&[&[any(
            "A device or driver newer than this library.",
            "Look for the code in efa_io_defs.h of the newest rdma-core, and update libverbena.",
        )]])
    }

    /// Any driver but EFA's.
    fn verbs(&mut self) -> fmt::Result {
        let status = self.attr.status;
        let known = fact(status);
        if status == VBN_WC_SUCCESS {
            self.subject()?;
            return writeln!(self.out, " succeeded: status 0, SUCCESS.\n{}", known.says);
        }
        self.failed(status)?;
        self.says(known.says)?;
        let own = self.own_case();
        self.cases(&[own.as_slice(), known.cases])?;
        if matches!(status, VBN_WC_RETRY_EXC_ERR | VBN_WC_RESP_TIMEOUT_ERR) {
            self.gid_note()?;
        }
        self.vendor_note()
    }

    fn failed(&mut self, status: i32) -> fmt::Result {
        self.subject()?;
        write!(self.out, " failed: VBN_WC_{} ({status})", status_name(status))?;
        if self.attr.vendor_err != 0 {
            write!(self.out, ", vendor code {0} ({0:#x})", self.attr.vendor_err)?;
        }
        writeln!(self.out, ": {}.", fact(status).what)
    }

    fn says(&mut self, says: &str) -> fmt::Result {
        if says.is_empty() { Ok(()) } else { writeln!(self.out, "{says}") }
    }

    /// What only this driver does.
    fn own_case(&self) -> Option<Case> {
        let list: &[(i32, Case)] = if self.driver == VBN_DRIVER_RXE { verbs::RXE } else { &[] };
        list.iter().find(|(status, _)| *status == self.attr.status).map(|(_, case)| *case)
    }

    /// The causes that can apply, each with its remedy. All of them if none seems to.
    fn cases(&mut self, lists: &[&[Case]]) -> fmt::Result {
        let all = || lists.iter().copied().flatten();
        if all().next().is_none() {
            return Ok(());
        }
        let ops = if all().any(|case| case.ops & self.ops != 0) { self.ops } else { ANY };
        self.out.write_str("Likely causes, and what to do:\n")?;
        for case in all().filter(|case| case.ops & ops != 0) {
            writeln!(self.out, "- {}\n  -> {}", case.cause, case.remedy)?;
        }
        Ok(())
    }

    /// Whether the peer's GID is of the right kind.
    fn gid_note(&mut self) -> fmt::Result {
        let Some(gid) = self.peer_gid() else { return Ok(()) };
        let link_local = gid.is_unicast_link_local();
        match self.driver {
            VBN_DRIVER_EFA if !link_local => {
                writeln!(
                    self.out,
                    "Note: an EFA's GID begins with fe80::, and {gid} doesn't: is the record of another device?"
                )
            }
            VBN_DRIVER_EFA => Ok(()),
            _ if link_local => writeln!(
                self.out,
                "Note: {gid} is link-local. On InfiniBand that is usual; on RoCE it reaches only the same link, and not all devices take \
                 it: prefer a routable GID."
            ),
            _ => Ok(()),
        }
    }

    fn vendor_note(&mut self) -> fmt::Result {
        let code = self.attr.vendor_err;
        if code == 0 {
            return Ok(());
        }
        if self.driver != VBN_DRIVER_MLX5 {
            return writeln!(
                self.out,
                "Note: vendor code {code} ({code:#x}) is the driver's own; libverbena has no table of this driver's."
            );
        }
        match verbs::MLX5.iter().find(|(known, _)| *known == code) {
            Some((_, says)) => writeln!(self.out, "Note: vendor code {code} ({code:#x}): {says}"),
            None => {
                writeln!(
                    self.out,
                    "Note: vendor code {code} ({code:#x}) isn't known to libverbena; NVIDIA publishes no list of these."
                )
            }
        }
    }
}

fn status_name(status: i32) -> &'static str {
    names::find(names::WC_STATUSES, status).trim_end_matches('\0')
}

#[cfg(test)]
mod tests;
