// SPDX-License-Identifier: MIT OR Apache-2.0
//! What went wrong. A failure stores numbers and pointers to constant text only; the sentence is made when somebody
//! asks for it, so failing costs little and never allocates.

use std::cell::Cell;
use std::fmt::{self, Write};

use super::detail;
use super::endpoint_pair::Mismatch;
use super::op::Op;
use super::status::*;
use super::text::{Name, Writer, until_zero, write_bytes};
use super::wc_ext;
use crate::sys::{cuda, rocm};

/// `index` of an error that is not about one element of an array.
pub const VBN_INDEX_NONE: u64 = u64::MAX;

/// `vendor_domain`: there is no vendor code.
pub const VBN_VENDOR_NONE: i32 = 0;
/// `vendor_domain`: `vendor_code` is the `vendor_err` of a work completion, and `value` its `VBN_WC_*` status.
pub const VBN_VENDOR_WC: i32 = 1;

/// `vendor_domain`: `vendor_code` is the CUresult of a function of the CUDA driver.
pub const VBN_VENDOR_CUDA: i32 = 2;
/// `vendor_domain`: `vendor_code` is the hsa_status_t of a function of AMD's HSA runtime (ROCm).
pub const VBN_VENDOR_HSA: i32 = 3;

/// Why, in a form that is cheap to store. `value`, `limit` and `object` of the error fill the blanks.
#[derive(Clone, Copy, Debug)]
pub enum Reason {
    /// A whole sentence.
    Text(&'static str),
    Null(&'static str),
    Misaligned(&'static str),
    /// The value is above the limit.
    Exceeds(&'static str),
    /// The value is above the limit, which has a name of its own.
    ExceedsNamed(&'static str, &'static str),
    /// The value is below the limit.
    Below(&'static str),
    /// The value is not among those that the second text lists.
    NotOneOf(&'static str, &'static str),
    /// The same where `value` is a signed number.
    NotOneOfSigned(&'static str, &'static str),
    /// `value` holds the unknown bits, `limit` all known ones.
    UnknownBits(&'static str),
    /// The bits in `value` are not there in the second thing, which has those in `limit`.
    Lacks(&'static str, &'static str),
    /// struct_size `value` is too small to hold itself or out of all proportion.
    StructSize(&'static str),
    /// A byte beyond what this library knows is not zero; `value` is its offset, `limit` the size known.
    StructTail(&'static str),
    NotAHandle(&'static str),
    Closed(&'static str),
    /// A call on the handle is in progress in another thread.
    InCall(&'static str),
    /// A set of regions has the object.
    Held(&'static str),
    Forked(&'static str),
    Gone(&'static str),
    Poisoned(&'static str),
    /// The two don't belong to the same third thing.
    Unrelated(&'static str, &'static str),
    /// A function of another library failed; `errno` says how.
    Call(&'static str),
    /// A function failed, and this attribute is beyond its limit.
    CallExceeds(&'static str, &'static str),
    /// A function failed, and this bit was missing.
    CallWants(&'static str, &'static str),
    /// A function failed, and this bit was one too many.
    CallRejects(&'static str, &'static str),
    /// A function failed, for a reason that can be told.
    CallBecause(&'static str, &'static str),
    /// A function failed, since the driver lacks some of the fields of a completion in `value`.
    CallFields(&'static str),
    /// A symbol is missing from the library; the second text is the rdma-core release that brought it.
    Symbol(&'static str, &'static str),
    /// The same of another library; the second text has its name and release.
    SymbolOf(&'static str, &'static str),
    /// A function of a GPU's library failed; `vendor_domain` and `vendor_code` say how.
    Vendor(&'static str),
    /// About an address, which is in `value`: what stands before it and behind it.
    Address(&'static str, &'static str),
    /// A completion with a failed status, of a queue pair; `value` is the status.
    Completion(&'static str, u32),
    /// A post function failed without naming a request.
    Uncertain(&'static str),
    /// A queue of `limit` entries has no room for the request at `index`.
    QueueFull(&'static str),
    /// Memory could not be pinned; `value` is its size, `limit` what may be locked (u64::MAX: everything).
    Memlock(&'static str),
    /// The driver lacks an operation that every driver should have.
    NoOperation(&'static str),
    /// Two endpoints don't fit together; `value` has the VBN_MISMATCH_* bits.
    Mismatch(Mismatch),
    /// What `detail` keeps for this thread follows.
    Detail(&'static str),
    /// No device has the name in `object`; empty: any.
    NoSuchDevice,
    Panic,
}

/// A failure, ready to be recorded.
#[derive(Clone, Copy, Debug)]
pub struct Error {
    pub status: vbn_status,
    pub errno: i32,
    pub vendor_domain: i32,
    pub vendor_code: i64,
    pub index: u64,
    pub value: u64,
    pub limit: u64,
    pub reason: Reason,
    /// What to do about it; may be empty.
    pub hint: &'static str,
    pub object: Name,
}

pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    pub const fn new(status: vbn_status, reason: Reason) -> Self {
        Self {
            status,
            errno: 0,
            vendor_domain: VBN_VENDOR_NONE,
            vendor_code: 0,
            index: VBN_INDEX_NONE,
            value: 0,
            limit: 0,
            reason,
            hint: "",
            object: Name::EMPTY,
        }
    }

    pub const fn argument(reason: Reason) -> Self {
        Self::new(VBN_ERR_ARGUMENT, reason)
    }

    pub const fn text(status: vbn_status, sentence: &'static str) -> Self {
        Self::new(status, Reason::Text(sentence))
    }

    pub const fn no_memory() -> Self {
        Self::text(VBN_ERR_NO_MEMORY, "this library could not allocate memory")
    }

    /// A device limit that was exceeded.
    pub const fn limit(what: &'static str, value: u64, limit: u64) -> Self {
        Self::new(VBN_ERR_LIMIT, Reason::Exceeds(what)).value(value, limit)
    }

    /// A number outside its range, whatever the device.
    pub const fn range(what: &'static str, value: u64, allowed: &'static str) -> Self {
        Self::argument(Reason::NotOneOf(what, allowed)).value(value, 0)
    }

    /// The same for a field that may be negative.
    pub const fn range_signed(what: &'static str, value: i64, allowed: &'static str) -> Self {
        Self::argument(Reason::NotOneOfSigned(what, allowed)).value(value as u64, 0)
    }

    /// Bytes that will get a meaning in a later version.
    pub const fn reserved() -> Self {
        Self::text(VBN_ERR_ARGUMENT, "reserved0 is not all zero")
    }

    pub const fn unknown_bits(what: &'static str, given: u64, known: u64) -> Self {
        Self::argument(Reason::UnknownBits(what)).value(given & !known, known)
    }

    /// A foreign call that failed with an errno.
    pub fn call(function: &'static str, errno: i32) -> Self {
        let errno = if errno == 0 { libc::EIO } else { errno };
        let hint = if errno == libc::EMFILE { "raise the limit of open files (ulimit -n)" } else { "" };
        Self { errno, hint, ..Self::new(of_errno(errno), Reason::Call(function)) }
    }

    pub const fn value(mut self, value: u64, limit: u64) -> Self {
        self.value = value;
        self.limit = limit;
        self
    }

    pub const fn hint(mut self, hint: &'static str) -> Self {
        self.hint = hint;
        self
    }

    /// A remedy for an object that something else still uses.
    pub const fn if_busy(self, hint: &'static str) -> Self {
        if self.errno == libc::EBUSY { self.hint(hint) } else { self }
    }

    pub const fn on(mut self, object: Name) -> Self {
        self.object = object;
        self
    }

    pub const fn at(mut self, index: u64) -> Self {
        self.index = index;
        self
    }
}

impl From<super::alloc::NoMemory> for Error {
    fn from(_: super::alloc::NoMemory) -> Self {
        Self::no_memory()
    }
}

/// The last failure on this thread.
#[derive(Clone, Copy)]
pub struct Record {
    pub op: Op,
    pub error: Error,
}

thread_local! {
    static LAST: Cell<Record> = const {
        Cell::new(Record { op: Op::None, error: Error::text(VBN_OK, "no call has failed on this thread") })
    };
}

/// Makes `error` this thread's last failure and returns its status.
pub fn record(op: Op, error: Error) -> vbn_status {
    // A thread whose storage is being torn down loses the record, not the status.
    let _ = LAST.try_with(|last| last.set(Record { op, error }));
    error.status
}

/// This thread's last failure.
pub fn last() -> Option<Record> {
    LAST.try_with(Cell::get).ok()
}

/// Writes the sentence for a failure.
pub fn describe(record: &Record, buffer: &mut [u8]) {
    // The writer cuts what does not fit and never fails.
    let _ = write_sentence(record, &mut Writer::new(buffer));
}

fn write_sentence(record: &Record, out: &mut Writer<'_>) -> fmt::Result {
    let error = &record.error;
    if record.op != Op::None {
        write!(out, "{}: ", record.op.name())?;
    }
    if error.index != VBN_INDEX_NONE {
        write!(out, "[{}]: ", error.index)?;
    }
    write_error(error, out)
}

/// The sentence without what was called.
pub fn write_error(error: &Error, out: &mut Writer<'_>) -> fmt::Result {
    write_reason(error, out)?;
    if !error.object.is_empty() && !matches!(error.reason, Reason::NoSuchDevice) {
        write!(out, " on {}", error.object)?;
    }
    // A detail tells each errno beside what it belongs to.
    if error.errno != 0 && !matches!(error.reason, Reason::Detail(_)) {
        out.write_str(": ")?;
        write_errno(error.errno, out)?;
    }
    if !error.hint.is_empty() {
        write!(out, "; {}", error.hint)?;
    }
    Ok(())
}

fn write_reason(error: &Error, out: &mut Writer<'_>) -> fmt::Result {
    let (value, limit) = (error.value, error.limit);
    match error.reason {
        Reason::Text(sentence) => out.write_str(sentence),
        Reason::Null(what) => write!(out, "{what} is NULL"),
        Reason::Misaligned(what) => write!(out, "{what} is not aligned"),
        Reason::Exceeds(what) => write!(out, "{what} {value} exceeds {limit}"),
        Reason::ExceedsNamed(what, name) => write!(out, "{what} {value} exceeds {name} {limit}"),
        Reason::Below(what) => write!(out, "{what} {value} is below {limit}"),
        Reason::NotOneOf(what, allowed) => write!(out, "{what} {value} is not {allowed}"),
        Reason::NotOneOfSigned(what, allowed) => write!(out, "{what} {} is not {allowed}", value as i64),
        Reason::UnknownBits(what) => write!(out, "{what} has unknown bits {value:#x} (known bits: {limit:#x})"),
        Reason::Lacks(what, who) => {
            write!(out, "{what} {value:#x} is not offered by {who}, which has {limit:#x}")
        }
        Reason::StructSize(what) => write!(out, "struct_size {value} of {what} is wrong; set it to sizeof({what})"),
        Reason::StructTail(what) => {
            write!(out, "byte {value} of {what} is set, but this library knows only {limit} bytes of it")
        }
        Reason::NotAHandle(kind) => write!(out, "the handle is not a {kind}"),
        Reason::Closed(kind) => write!(out, "the {kind} is closed"),
        Reason::InCall(kind) => write!(out, "another thread is inside a call on this {kind}"),
        Reason::Held(kind) => write!(out, "a vbn_mr_set has the {kind}"),
        Reason::Forked(kind) => write!(out, "the {kind} was made before fork() and belongs to the parent process"),
        Reason::Gone(kind) => write!(out, "the device of this {kind} has been removed"),
        Reason::Poisoned(kind) => write!(out, "a defect in libverbena was caught on this {kind}; close it"),
        Reason::Unrelated(what, parent) => write!(out, "{what} belongs to another {parent}"),
        Reason::Call(function) => write!(out, "{function} failed"),
        Reason::CallExceeds(function, what) => {
            write!(out, "{function} failed, probably because {what} {value} exceeds {limit}")
        }
        Reason::CallWants(function, bit) => write!(out, "{function} failed, probably because {bit} is not in set"),
        Reason::CallRejects(function, bit) => write!(out, "{function} failed, probably because {bit} is in set"),
        Reason::CallBecause(function, why) => write!(out, "{function} failed, probably because {why}"),
        Reason::CallFields(function) => {
            write!(out, "{function} failed, since the driver doesn't offer all of ")?;
            wc_ext::write_fields(value, out)
        }
        Reason::Symbol(symbol, since) => {
            write!(out, "{symbol} is not in the loaded library; it needs rdma-core {since} or newer")
        }
        Reason::SymbolOf(symbol, since) => {
            write!(out, "{symbol} is not in the loaded library; it needs {since} or newer")
        }
        Reason::Vendor(function) => {
            let code = error.vendor_code;
            let name =
                if error.vendor_domain == VBN_VENDOR_CUDA { cuda::result_name(code) } else { rocm::status_name(code) };
            write!(out, "{function} failed: ")?;
            match (name, error.vendor_domain) {
                (Some(name), VBN_VENDOR_CUDA) => write!(out, "{name} ({code})"),
                (Some(name), _) => write!(out, "{name} ({code:#x})"),
                (None, VBN_VENDOR_CUDA) => write!(out, "CUresult {code}"),
                (None, _) => write!(out, "hsa_status_t {code:#x}"),
            }
        }
        Reason::Address(before, behind) => write!(out, "{before} {value:#x}{behind}"),
        Reason::Completion(what, qp_num) => {
            write!(
                out,
                "work request on queue pair {qp_num} failed: {what} (status {}, vendor {:#x})",
                value as i64, error.vendor_code
            )
        }
        Reason::Uncertain(call) => {
            write!(out, "{call} failed without naming a request: all may be on the queue and run later, or none")
        }
        Reason::QueueFull(what) => write!(out, "the {what} queue of {limit} requests is full"),
        Reason::Memlock(function) if limit == u64::MAX => write!(out, "{function} could not register {value} bytes"),
        Reason::Memlock(function) => {
            write!(out, "{function} could not register {value} bytes, where {limit} bytes of memory may be locked")
        }
        Reason::NoOperation(name) => write!(out, "the driver has no operation {name}"),
        Reason::Mismatch(mismatch) => write!(out, "{mismatch}"),
        Reason::Detail(text) => {
            out.write_str(text)?;
            detail::write(out)
        }
        Reason::NoSuchDevice if error.object.is_empty() => out.write_str("there is no RDMA device"),
        Reason::NoSuchDevice => write!(out, "there is no RDMA device {}", error.object),
        Reason::Panic => out.write_str("a defect in libverbena was caught"),
    }
}

/// Writes "Cannot allocate memory (errno 12)".
pub fn write_errno(errno: i32, out: &mut dyn Write) -> fmt::Result {
    let mut text = [0u8; 128];
    // SAFETY: the buffer is ours and its length is passed.
    unsafe { libc::strerror_r(errno, text.as_mut_ptr().cast(), text.len()) };
    write_bytes(out, until_zero(&text))?;
    write!(out, " (errno {errno})")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sentence(error: Error) -> String {
        let mut buffer = [0u8; 256];
        describe(&Record { op: Op::QpCreate, error }, &mut buffer);
        String::from_utf8(until_zero(&buffer).to_vec()).unwrap()
    }

    #[test]
    fn sentences_name_value_limit_device_and_remedy() {
        let e = Error::limit("max_send_wr", 16384, 4096).on(Name::new(b"rdmap0s6")).hint("ask for less");
        assert_eq!(sentence(e), "vbn_qp_create: max_send_wr 16384 exceeds 4096 on rdmap0s6; ask for less");
        let e = Error::range_signed("path_mtu", -3, "one of VBN_MTU_*");
        assert_eq!(sentence(e), "vbn_qp_create: path_mtu -3 is not one of VBN_MTU_*");
        let e = Error::call("ibv_create_qp", libc::ENOMEM).at(3);
        assert_eq!(sentence(e), "vbn_qp_create: [3]: ibv_create_qp failed: Cannot allocate memory (errno 12)");
        assert_eq!(e.status, VBN_ERR_NO_MEMORY);
    }

    #[test]
    fn a_call_that_failed_without_errno_is_an_io_error() {
        assert_eq!(Error::call("ibv_create_qp", 0).errno, libc::EIO);
    }

    #[test]
    fn the_record_is_kept_per_thread() {
        record(Op::QpCreate, Error::range("port", 9, "1..2"));
        std::thread::spawn(|| assert_eq!(last().unwrap().error.status, VBN_OK)).join().unwrap();
        assert_eq!(last().unwrap().error.value, 9);
    }
}
