// SPDX-License-Identifier: MIT OR Apache-2.0
//! Cuts a transfer into requests that each respect the device's limit. The arithmetic works on lists of ranges, so that
//! memory in several pieces, on either side, needs no other.

use std::ffi::c_void;
use std::ptr;

use super::cold::cold_structs;
use super::error::{Error, Reason, Result};
use super::handle::{vbn_mr, vbn_mr_set, vbn_peer};
use super::mr::Mr;
use super::mr_set::MrSet;
use super::post::{
    self, VBN_SEND_INLINE, VBN_WR_RDMA_READ, VBN_WR_RDMA_WRITE, VBN_WR_RDMA_WRITE_WITH_IMM, vbn_send_wr, vbn_sge,
};
use super::qp::Qp;
use super::qp_create::VBN_QPT_RC;
use super::region::vbn_region_info;
use super::status::*;

/// What `vbn_rdma_split` shall cut into requests.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct vbn_split_attr {
    /// sizeof(vbn_split_attr).
    pub struct_size: usize,
    /// wr_id of the transfer's first request; each further one's is 1 higher.
    pub wr_id: u64,
    /// VBN_SEND_* of every request.
    pub flags: u64,
    /// VBN_SEND_* that the transfer's last request has besides.
    pub last_flags: u64,
    /// The local memory. NULL: local_addr, local_length and lkey tell it.
    pub mr: *const vbn_mr,
    /// Without mr: where the local memory begins, as requests address it.
    pub local_addr: u64,
    /// Without mr: its bytes.
    pub local_length: u64,
    /// Where in the local memory the transfer begins.
    pub offset: u64,
    /// Bytes to transfer.
    pub length: u64,
    /// Where the peer's memory begins, as the peer told.
    pub remote_addr: u64,
    /// Its bytes. 0: not known; then only the end of the address space is a limit.
    pub remote_length: u64,
    /// Where in the peer's memory the transfer begins.
    pub remote_offset: u64,
    /// Most bytes of a request. 0: the limit of device and queue pair.
    pub chunk: u64,
    /// Connectionless queue pairs: the destination.
    pub peer: *mut vbn_peer,
    /// VBN_WR_RDMA_WRITE, VBN_WR_RDMA_READ or VBN_WR_RDMA_WRITE_WITH_IMM.
    pub opcode: u32,
    /// The key of the peer's memory.
    pub rkey: u32,
    /// Without mr: the key of the local memory.
    pub lkey: u32,
    /// With VBN_WR_RDMA_WRITE_WITH_IMM: the immediate value, of the last request.
    pub imm: u32,
    /// The local memory, as a set: instead of mr, local_addr, local_length and lkey.
    pub mr_set: *const vbn_mr_set,
    /// The peer's memory, as the peer's record told: instead of remote_addr, remote_length and rkey.
    pub region: *const vbn_region_info,
    /// With region: which of its NICs the queue pair leads to.
    pub nic: u32,
    /// 0.
    pub reserved0: u32,
}
cold_structs!(vbn_split_attr);

/// No message of InfiniBand's is longer, whatever the port says, and mlx5 uses the highest bit of a segment's length itself.
/// A power of two, so that requests begin where the transfer is aligned.
const MAX_CHUNK: u64 = 1 << 31;

/// A piece of memory under one key.
#[derive(Clone, Copy, Debug)]
pub struct Range {
    pub addr: u64,
    pub length: u64,
    pub key: u32,
}

/// A part of a transfer that lies in one range on both sides.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Span {
    local: u64,
    remote: u64,
    length: u64,
    lkey: u32,
    rkey: u32,
}

/// A place in a list of ranges.
#[derive(Clone, Copy)]
pub(super) struct Cursor<'a> {
    ranges: &'a [Range],
    offset: u64,
}

impl<'a> Cursor<'a> {
    pub fn at(ranges: &'a [Range], offset: u64) -> Self {
        Self { ranges, offset }
    }

    /// The rest of the range that the cursor stands in, past those that end before it.
    pub fn here(&mut self) -> Option<Range> {
        while let Some((first, rest)) = self.ranges.split_first() {
            if self.offset < first.length {
                return Some(Range {
                    addr: first.addr.wrapping_add(self.offset),
                    length: first.length - self.offset,
                    key: first.key,
                });
            }
            self.offset -= first.length;
            self.ranges = rest;
        }
        None
    }

    /// Goes on by `bytes`, of which `here` has told at least so many: the offset doesn't pass 2^64.
    pub fn advance(&mut self, bytes: u64) {
        self.offset = self.offset.wrapping_add(bytes);
    }
}

/// The spans of a transfer. It ends early if a list does: who calls has checked that neither does.
#[derive(Clone, Copy)]
struct Spans<'a> {
    local: Cursor<'a>,
    remote: Cursor<'a>,
    left: u64,
}

impl Iterator for Spans<'_> {
    type Item = Span;

    fn next(&mut self) -> Option<Span> {
        if self.left == 0 {
            return None;
        }
        let (local, remote) = (self.local.here()?, self.remote.here()?);
        let length = local.length.min(remote.length).min(self.left);
        self.left -= length;
        self.local.advance(length);
        self.remote.advance(length);
        Some(Span { local: local.addr, remote: remote.addr, length, lkey: local.key, rkey: remote.key })
    }
}

/// A transfer that has been checked: from memory to memory, in requests of at most `chunk` bytes.
#[derive(Clone, Copy)]
struct Plan<'a> {
    spans: Spans<'a>,
    chunk: u64,
}

/// What one request moves.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Piece {
    local: u64,
    remote: u64,
    length: u32,
    lkey: u32,
    rkey: u32,
}

impl<'a> Plan<'a> {
    /// `chunk` is 1 to 2^32 - 1.
    fn new(local: &'a [Range], offset: u64, remote: &'a [Range], remote_offset: u64, length: u64, chunk: u64) -> Self {
        let spans = Spans { local: Cursor::at(local, offset), remote: Cursor::at(remote, remote_offset), left: length };
        Self { spans, chunk: chunk.max(1) }
    }

    /// How many requests it takes. At most one a byte, so the sum fits.
    fn total(&self) -> u64 {
        self.spans.fold(0, |sum: u64, span| sum.wrapping_add(span.length.div_ceil(self.chunk)))
    }

    /// The requests from number `first` on.
    fn pieces(&self, first: u64) -> Pieces<'a> {
        let mut spans = self.spans;
        let mut skip = first;
        while let Some(mut span) = spans.next() {
            let here = span.length.div_ceil(self.chunk);
            if skip < here {
                // Below span.length, as it is a whole number of chunks and not the last.
                advance(&mut span, skip.wrapping_mul(self.chunk));
                return Pieces { spans, span, chunk: self.chunk };
            }
            skip -= here;
        }
        Pieces { spans, span: Span { local: 0, remote: 0, length: 0, lkey: 0, rkey: 0 }, chunk: self.chunk }
    }
}

fn advance(span: &mut Span, bytes: u64) {
    span.local = span.local.wrapping_add(bytes);
    span.remote = span.remote.wrapping_add(bytes);
    span.length = span.length.saturating_sub(bytes);
}

struct Pieces<'a> {
    spans: Spans<'a>,
    span: Span,
    chunk: u64,
}

impl Iterator for Pieces<'_> {
    type Item = Piece;

    fn next(&mut self) -> Option<Piece> {
        if self.span.length == 0 {
            self.span = self.spans.next()?;
        }
        let Span { local, remote, length, lkey, rkey } = self.span;
        let length = length.min(self.chunk);
        advance(&mut self.span, length);
        Some(Piece { local, remote, length: length as u32, lkey, rkey })
    }
}

/// What the queue pair allows.
struct Limits {
    /// Most bytes of a request.
    chunk: u64,
    /// Bit n is set if opcode n may be posted.
    opcodes: u64,
    /// Whether a missing write may be libefa's fault.
    old_efa: bool,
    /// The requests of a queue pair arrive whole and in order: the last one's completion speaks for all.
    in_order: bool,
}

impl Limits {
    fn of(qp: &Qp) -> Self {
        Self {
            chunk: qp.max_rdma().min(MAX_CHUNK),
            opcodes: qp.path().rules.opcodes,
            old_efa: qp.path().rules.old_efa,
            in_order: qp.qp_type() == VBN_QPT_RC,
        }
    }
}

/// Writes the requests from number `first` on. Returns how many were written, and how many the whole transfer takes.
pub fn split(
    qp: &Qp,
    mr: Option<&Mr>,
    set: Option<&MrSet>,
    region: Option<&vbn_region_info>,
    attr: &vbn_split_attr,
    first: u64,
    wrs: &mut [vbn_send_wr],
) -> Result<(u32, u64)> {
    if attr.reserved0 != 0 {
        return Err(Error::range("reserved0", attr.reserved0.into(), "0"));
    }
    let given = attr.local_addr != 0 || attr.local_length != 0 || attr.lkey != 0;
    if given && (mr.is_some() || set.is_some()) {
        return Err(Error::text(
            VBN_ERR_ARGUMENT,
            "local_addr, local_length and lkey are for a transfer without mr or mr_set",
        ));
    }
    let one;
    let local = match (mr, set) {
        (Some(_), Some(_)) => return Err(Error::text(VBN_ERR_ARGUMENT, "mr and mr_set are both given")),
        (None, Some(set)) => {
            check_inline(attr, set.place().is_gpu(), set.is_unseen())?;
            Side { ranges: set.ranges()?, length: set.length() }
        }
        (Some(mr), None) => {
            check_inline(attr, false, mr.is_unseen())?;
            one = [Range { addr: mr.remote_addr(), length: mr.length(), key: mr.lkey() }];
            Side::of(&one)
        }
        (None, None) => {
            one = [Range { addr: attr.local_addr, length: attr.local_length, key: attr.lkey }];
            Side::of(&one)
        }
    };
    let limits = Limits::of(qp);
    let Some(region) = region else {
        if attr.nic != 0 {
            return Err(Error::range("nic", attr.nic.into(), "0 without region"));
        }
        return fill(&limits, local, Side::of(&[remote_range(attr)]), attr, first, wrs);
    };
    if attr.remote_addr != 0 || attr.remote_length != 0 || attr.rkey != 0 {
        return Err(Error::text(
            VBN_ERR_ARGUMENT,
            "remote_addr, remote_length and rkey are for a transfer without region",
        ));
    }
    region.check()?;
    let (count, ranges) = region.ranges(attr.nic)?;
    let remote = Side { ranges: ranges.get(..count).unwrap_or_default(), length: region.length };
    fill(&limits, local, remote, attr, first, wrs)
}

/// Inline, the CPU copies: not from memory that is a GPU's by its place, or that it can't be known to see.
fn check_inline(attr: &vbn_split_attr, gpu: bool, unseen: bool) -> Result<()> {
    if (attr.flags | attr.last_flags) & VBN_SEND_INLINE == 0 || !(gpu || unseen) {
        return Ok(());
    }
    let text = if gpu {
        "VBN_SEND_INLINE has the CPU copy the data, and the memory is a GPU's, which it can't read"
    } else {
        "VBN_SEND_INLINE has the CPU copy the data from where it is mapped, and memory that was registered as dma-buf or as a GPU's \
         (VBN_MR_DMABUF, VBN_MR_PEER) need not be"
    };
    Err(Error::text(VBN_ERR_ARGUMENT, text).hint("leave VBN_SEND_INLINE out"))
}

/// The memory of one side, in pieces.
#[derive(Clone, Copy)]
struct Side<'a> {
    ranges: &'a [Range],
    /// All pieces together.
    length: u64,
}

impl<'a> Side<'a> {
    fn of(range: &'a [Range; 1]) -> Self {
        let [Range { length, .. }] = range;
        Self { ranges: range, length: *length }
    }
}

fn fill(
    limits: &Limits,
    local: Side<'_>,
    remote: Side<'_>,
    attr: &vbn_split_attr,
    first: u64,
    wrs: &mut [vbn_send_wr],
) -> Result<(u32, u64)> {
    if !matches!(attr.opcode, VBN_WR_RDMA_WRITE | VBN_WR_RDMA_READ | VBN_WR_RDMA_WRITE_WITH_IMM) {
        return Err(Error::range("opcode", attr.opcode.into(), "an RDMA write or read"));
    }
    has_operation(limits, attr.opcode)?;
    if attr.length == 0 {
        return Err(Error::range("length", 0, "at least 1"));
    }
    check_range(["the local range", "offset", "length"], local, attr.offset, attr.length)?;
    check_range(["the peer's range", "remote_offset", "length"], remote, attr.remote_offset, attr.length)?;
    let chunk = chunk(limits, attr.chunk)?;

    let plan = Plan::new(local.ranges, attr.offset, remote.ranges, attr.remote_offset, attr.length, chunk);
    let total = plan.total();
    if attr.opcode == VBN_WR_RDMA_WRITE_WITH_IMM && total > 1 {
        if !limits.in_order {
            return Err(Error::text(
                VBN_ERR_NOT_SUPPORTED,
                "the transfer takes several requests, which this type of queue pair delivers in no order or may lose: an \
                 immediate value with the last of them would not mean that the others' data has arrived",
            )
            .value(total, 1)
            .hint("split a plain VBN_WR_RDMA_WRITE, and send a message when all its requests have completed"));
        }
        has_operation(limits, VBN_WR_RDMA_WRITE)?;
    }
    if attr.wr_id.checked_add(total - 1).is_none() {
        return Err(Error::argument(Reason::Exceeds("the number of requests"))
            .value(total, (u64::MAX - attr.wr_id).saturating_add(1))
            .hint("the limit is what wr_id leaves up to 2^64: begin with a lower one"));
    }
    if first > total {
        return Err(Error::argument(Reason::Exceeds("first"))
            .value(first, total)
            .hint("the transfer has no more requests than that"));
    }

    let mut count: u32 = 0;
    for ((piece, wr), index) in plan.pieces(first).zip(wrs.iter_mut()).zip(first..) {
        let last = index == total - 1;
        *wr = request(attr, piece, index, last);
        count += 1;
    }
    Ok((count, total))
}

fn request(attr: &vbn_split_attr, piece: Piece, index: u64, last: bool) -> vbn_send_wr {
    let (opcode, imm) = match attr.opcode {
        VBN_WR_RDMA_WRITE_WITH_IMM if last => (VBN_WR_RDMA_WRITE_WITH_IMM, attr.imm),
        VBN_WR_RDMA_WRITE_WITH_IMM => (VBN_WR_RDMA_WRITE, 0),
        opcode => (opcode, 0),
    };
    vbn_send_wr {
        wr_id: attr.wr_id.wrapping_add(index),
        flags: if last { attr.flags | attr.last_flags } else { attr.flags },
        opcode,
        num_sge: 1,
        sg_list: ptr::null(),
        sge: vbn_sge { addr: piece.local, length: piece.length, lkey: piece.lkey },
        remote_addr: piece.remote,
        rkey: piece.rkey,
        imm,
        peer: attr.peer,
        invalidate_rkey: 0,
        remote_srqn: 0,
        compare_add: 0,
        swap: 0,
        ext: ptr::null::<c_void>(),
        reserved: [0; 3],
    }
}

fn has_operation(limits: &Limits, opcode: u32) -> Result<()> {
    if opcode < 64 && limits.opcodes >> opcode & 1 == 1 {
        return Ok(());
    }
    Err(Error::new(VBN_ERR_NOT_SUPPORTED, Reason::NotOneOf("opcode", "an operation of this queue pair"))
        .value(opcode.into(), 0)
        .hint(post::absence(limits.old_efa, opcode)))
}

fn chunk(limits: &Limits, wanted: u64) -> Result<u64> {
    if wanted > limits.chunk {
        return Err(Error::limit("chunk", wanted, limits.chunk)
            .hint("that is the most that a request of this queue pair can move; 0 takes it"));
    }
    Ok(if wanted == 0 { limits.chunk } else { wanted })
}

/// The peer's range; up to the end of the address space where its length isn't known.
fn remote_range(attr: &vbn_split_attr) -> Range {
    // From address 0 on that is one byte more than a length can say, and no transfer needs the last one.
    let rest = (u64::MAX - attr.remote_addr).saturating_add(1);
    let length = if attr.remote_length == 0 { rest } else { attr.remote_length };
    Range { addr: attr.remote_addr, length, key: attr.rkey }
}

/// `length` bytes from `offset` lie in the memory, and each piece of it in the address space.
fn check_range(names: [&'static str; 3], side: Side<'_>, offset: u64, length: u64) -> Result<()> {
    let [what, offset_name, length_name] = names;
    for range in side.ranges {
        if range.length != 0 && range.addr.checked_add(range.length - 1).is_none() {
            return Err(Error::argument(Reason::Exceeds(what))
                .value(range.length, (u64::MAX - range.addr).saturating_add(1))
                .hint("the limit is what is left from its address to 2^64"));
        }
    }
    if offset >= side.length {
        return Err(Error::range(offset_name, offset, "inside the range that it is in").value(offset, side.length));
    }
    if length > side.length - offset {
        return Err(Error::argument(Reason::Exceeds(length_name)).value(length, side.length - offset).hint(
            if offset_name == "offset" {
                "the limit is what the local range has left behind offset"
            } else {
                "the limit is what the peer's range has left behind remote_offset"
            },
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::cold::Cold;
    use super::super::error::{Record, describe};
    use super::super::op::Op;
    use super::super::post::{VBN_SEND_SIGNALED, VBN_SEND_SOLICITED, VBN_WR_SEND};
    use super::super::text::until_zero;
    use super::*;

    const GIB: u64 = 1 << 30;
    const LKEY: u32 = 7;
    const SRD: Limits = Limits { chunk: GIB, opcodes: 0b10011, old_efa: false, in_order: false };
    const RC: Limits = Limits { chunk: 1 << 23, opcodes: 0b11111, old_efa: false, in_order: true };

    fn attr(length: u64) -> vbn_split_attr {
        vbn_split_attr {
            wr_id: 1000,
            flags: VBN_SEND_SIGNALED,
            local_addr: 0x7f00_0000_0000,
            local_length: 1 << 40,
            lkey: LKEY,
            length,
            remote_addr: 0x10_0000_0000,
            rkey: 9,
            ..vbn_split_attr::zeroed()
        }
    }

    /// A transfer between one range on each side.
    fn fill(
        limits: &Limits,
        local: Range,
        attr: &vbn_split_attr,
        first: u64,
        wrs: &mut [vbn_send_wr],
    ) -> Result<(u32, u64)> {
        super::fill(limits, Side::of(&[local]), Side::of(&[remote_range(attr)]), attr, first, wrs)
    }

    fn local(attr: &vbn_split_attr) -> Range {
        Range { addr: attr.local_addr, length: attr.local_length, key: attr.lkey }
    }

    fn blank() -> vbn_send_wr {
        // SAFETY: numbers and pointers.
        unsafe { std::mem::zeroed() }
    }

    fn all(limits: &Limits, attr: &vbn_split_attr) -> Vec<vbn_send_wr> {
        let total = fill(limits, local(attr), attr, 0, &mut []).unwrap().1;
        let mut wrs = vec![blank(); total as usize + 1];
        assert_eq!(fill(limits, local(attr), attr, 0, &mut wrs).unwrap(), (total as u32, total));
        wrs.truncate(total as usize);
        wrs
    }

    fn refused(limits: &Limits, attr: &vbn_split_attr, first: u64) -> (Error, String) {
        let error = fill(limits, local(attr), attr, first, &mut [blank(); 4]).unwrap_err();
        let mut text = [0; 512];
        describe(&Record { op: Op::RdmaSplit, error }, &mut text);
        (error, String::from_utf8(until_zero(&text).to_vec()).unwrap())
    }

    /// Every byte is moved once, to its own place, and no request is longer than `chunk`.
    fn check_cover(attr: &vbn_split_attr, wrs: &[vbn_send_wr], chunk: u64) {
        let mut done = 0;
        for (index, wr) in wrs.iter().enumerate() {
            let length = u64::from(wr.sge.length);
            assert_eq!(wr.wr_id, attr.wr_id + index as u64);
            assert_eq!(wr.sge.addr, attr.local_addr + attr.offset + done);
            assert_eq!(wr.remote_addr, attr.remote_addr + attr.remote_offset + done);
            assert_eq!((wr.num_sge, wr.sg_list.is_null(), wr.sge.lkey, wr.rkey), (1, true, attr.lkey, attr.rkey));
            assert!(
                length <= chunk && (length == chunk || index + 1 == wrs.len()),
                "request {index} of {length} bytes"
            );
            done += length;
        }
        assert_eq!(done, attr.length);
    }

    #[test]
    fn exact_boundaries() {
        for chunk in [1, 2, 4095, 4096, 8928, GIB - 1, GIB] {
            for k in [1, 2, 3, 64] {
                for length in [k * chunk - 1, k * chunk, k * chunk + 1] {
                    if length == 0 {
                        continue;
                    }
                    let attr = vbn_split_attr { chunk, offset: 5, remote_offset: 11, ..attr(length) };
                    let wrs = all(&SRD, &attr);
                    assert_eq!(wrs.len() as u64, length.div_ceil(chunk));
                    check_cover(&attr, &wrs, chunk);
                }
            }
        }
    }

    #[test]
    fn five_gib_take_five_requests_of_a_gib() {
        let attr = attr(5 * GIB);
        let wrs = all(&SRD, &attr);
        assert_eq!(wrs.iter().map(|wr| wr.sge.length).collect::<Vec<_>>(), [GIB as u32; 5]);
        check_cover(&attr, &wrs, GIB);
        let longer = super::tests::attr(5 * GIB + 1);
        let wrs = all(&SRD, &longer);
        assert_eq!((wrs.len(), wrs[5].sge.length, wrs[5].sge.addr), (6, 1, longer.local_addr + 5 * GIB));
        assert_eq!(all(&RC, &attr).len(), 640, "the limit is the queue pair's, not a constant");
    }

    #[test]
    fn it_goes_on_at_every_request_with_every_capacity() {
        let attr = vbn_split_attr { chunk: 1000, offset: 3, ..attr(9_001) };
        let whole = all(&SRD, &attr);
        assert_eq!(whole.len(), 10);
        for capacity in 1..=11 {
            for first in 0..=10u64 {
                let mut wrs = vec![blank(); capacity];
                wrs[capacity - 1].wr_id = 77;
                let (count, total) = fill(&SRD, local(&attr), &attr, first, &mut wrs).unwrap();
                assert_eq!((u64::from(count), total), ((10 - first).min(capacity as u64), 10));
                if (count as usize) < capacity {
                    assert_eq!(wrs[capacity - 1].wr_id, 77, "what is behind them stays as it was");
                }
                for (wr, same) in wrs.iter().zip(&whole[first as usize..]).take(count as usize) {
                    assert_eq!(
                        (wr.wr_id, wr.sge.addr, wr.sge.length, wr.remote_addr),
                        (same.wr_id, same.sge.addr, same.sge.length, same.remote_addr)
                    );
                }
            }
        }
        let (error, text) = refused(&SRD, &attr, 11);
        assert_eq!((error.status, error.value, error.limit), (VBN_ERR_ARGUMENT, 11, 10));
        assert!(text.contains("first 11 exceeds 10"), "{text}");
    }

    #[test]
    fn a_transfer_of_exabytes_is_counted_and_resumed_at_once() {
        let attr = vbn_split_attr { local_addr: 0, local_length: u64::MAX, remote_addr: 0, chunk: 1, ..attr(u64::MAX) };
        let attr = vbn_split_attr { wr_id: 0, ..attr };
        let mut wrs = [blank(); 2];
        let (count, total) = fill(&SRD, local(&attr), &attr, u64::MAX - 1, &mut wrs).unwrap();
        assert_eq!((count, total), (1, u64::MAX));
        assert_eq!(
            (wrs[0].sge.addr, wrs[0].remote_addr, wrs[0].wr_id, wrs[0].sge.length),
            (u64::MAX - 1, u64::MAX - 1, u64::MAX - 1, 1)
        );
    }

    #[test]
    fn the_limit_holds_and_is_told() {
        let (error, text) = refused(&SRD, &vbn_split_attr { chunk: GIB + 1, ..attr(5) }, 0);
        assert_eq!((error.status, error.value, error.limit), (VBN_ERR_LIMIT, GIB + 1, GIB));
        assert!(text.contains("chunk 1073741825 exceeds 1073741824"), "{text}");
        all(&SRD, &vbn_split_attr { chunk: GIB, ..attr(5) });
        let boundless = Limits { chunk: u64::from(u32::MAX).min(MAX_CHUNK), ..RC };
        assert_eq!(all(&boundless, &attr(1 << 33)).len(), 4);
    }

    #[test]
    fn ranges_are_held_on_both_sides() {
        let good = vbn_split_attr { local_length: 100, remote_length: 50, offset: 60, remote_offset: 10, ..attr(40) };
        assert_eq!(all(&SRD, &good).len(), 1);
        let numbers = |attr: vbn_split_attr| {
            let (error, text) = refused(&SRD, &attr, 0);
            assert_eq!(error.status, VBN_ERR_ARGUMENT, "{text}");
            (error.value, error.limit, text)
        };
        for (attr, value, limit, says) in [
            (vbn_split_attr { length: 0, ..good }, 0, 0, "length 0"),
            (vbn_split_attr { length: 41, remote_length: 0, ..good }, 41, 40, "behind offset"),
            (vbn_split_attr { offset: 61, ..good }, 40, 39, "behind offset"),
            (vbn_split_attr { offset: 100, ..good }, 100, 100, "offset 100"),
            (vbn_split_attr { offset: u64::MAX, ..good }, u64::MAX, 100, "offset"),
            (vbn_split_attr { length: u64::MAX, ..good }, u64::MAX, 40, "behind offset"),
            (vbn_split_attr { length: 41, offset: 0, ..good }, 41, 40, "behind remote_offset"),
            (vbn_split_attr { remote_offset: 11, ..good }, 40, 39, "behind remote_offset"),
            (vbn_split_attr { remote_offset: 50, ..good }, 50, 50, "remote_offset 50"),
            (vbn_split_attr { local_length: 0, ..good }, 60, 0, "offset 60"),
        ] {
            let (v, l, text) = numbers(attr);
            assert_eq!((v, l), (value, limit), "{text}");
            assert!(text.contains(says), "{text}");
        }
    }

    #[test]
    fn nothing_passes_the_end_of_the_address_space() {
        let top = vbn_split_attr { remote_addr: u64::MAX - 99, ..attr(100) };
        let wrs = all(&SRD, &vbn_split_attr { chunk: 40, ..top });
        assert_eq!((wrs.len(), wrs[2].remote_addr, wrs[2].sge.length), (3, u64::MAX - 19, 20));
        let (error, _) = refused(&SRD, &vbn_split_attr { length: 101, ..top }, 0);
        assert_eq!((error.value, error.limit), (101, 100));
        let (error, text) = refused(&SRD, &vbn_split_attr { remote_length: 101, ..top }, 0);
        assert_eq!((error.value, error.limit), (101, 100), "{text}");
        assert!(text.contains("the peer's range 101 exceeds 100"), "{text}");
        let (_, text) = refused(&SRD, &vbn_split_attr { local_addr: u64::MAX, local_length: 2, ..attr(1) }, 0);
        assert!(text.contains("the local range 2 exceeds 1"), "{text}");
        all(&SRD, &vbn_split_attr { local_addr: u64::MAX, local_length: 1, ..attr(1) });
    }

    #[test]
    fn wr_ids_must_not_wrap() {
        let three = vbn_split_attr { wr_id: u64::MAX - 2, chunk: 1, ..attr(3) };
        assert_eq!(all(&SRD, &three)[2].wr_id, u64::MAX);
        let (error, text) = refused(&SRD, &vbn_split_attr { length: 4, ..three }, 0);
        assert_eq!((error.status, error.value, error.limit), (VBN_ERR_ARGUMENT, 4, 3), "{text}");
        // Also when it is asked for a part that would not wrap.
        refused(&SRD, &vbn_split_attr { length: 4, ..three }, 1);
    }

    #[test]
    fn operations_and_the_immediate() {
        for opcode in [VBN_WR_SEND, 5, 63, 64, u32::MAX] {
            assert_eq!(refused(&RC, &vbn_split_attr { opcode, ..attr(5) }, 0).0.status, VBN_ERR_ARGUMENT);
        }
        let read_only = Limits { opcodes: 1 << VBN_WR_RDMA_READ, ..SRD };
        assert_eq!(refused(&read_only, &attr(5), 0).0.status, VBN_ERR_NOT_SUPPORTED);
        assert_eq!(
            all(&read_only, &vbn_split_attr { opcode: VBN_WR_RDMA_READ, ..attr(5) })[0].opcode,
            VBN_WR_RDMA_READ
        );

        let imm = vbn_split_attr {
            opcode: VBN_WR_RDMA_WRITE_WITH_IMM,
            imm: 0xabcd,
            chunk: 10,
            last_flags: VBN_SEND_SOLICITED,
            ..attr(25)
        };
        let shown: Vec<_> = all(&RC, &imm).iter().map(|wr| (wr.opcode, wr.imm, wr.flags)).collect();
        let other = (VBN_WR_RDMA_WRITE, 0, VBN_SEND_SIGNALED);
        let last = (VBN_WR_RDMA_WRITE_WITH_IMM, 0xabcd, VBN_SEND_SIGNALED | VBN_SEND_SOLICITED);
        assert_eq!(shown, [other, other, last]);
        let only_imm = Limits { opcodes: 1 << VBN_WR_RDMA_WRITE_WITH_IMM, ..RC };
        assert_eq!(refused(&only_imm, &imm, 0).0.status, VBN_ERR_NOT_SUPPORTED);

        let (error, text) = refused(&SRD, &imm, 0);
        assert_eq!((error.status, error.value, error.limit), (VBN_ERR_NOT_SUPPORTED, 3, 1));
        assert!(text.contains("no order"), "{text}");
        // One request has no others that it could overtake.
        assert_eq!(all(&SRD, &vbn_split_attr { length: 10, ..imm })[0].imm, 0xabcd);
    }

    #[test]
    fn ranges_in_pieces_on_both_sides() {
        let ranges = |lengths: &[u64], base: u64| -> Vec<Range> {
            lengths
                .iter()
                .zip(0u32..)
                .map(|(length, key)| Range { addr: base * u64::from(key + 1), length: *length, key })
                .collect()
        };
        let (local, remote) = (ranges(&[10, 0, 7, 100], 1 << 32), ranges(&[5, 12, 1, 1000], 1 << 40));
        for offset in 0..17 {
            for remote_offset in 0..19 {
                for length in [1, 2, 16, 17, 40, 100] {
                    for chunk in [1, 3, 8, 1000] {
                        let plan = Plan::new(&local, offset, &remote, remote_offset, length, chunk);
                        let pieces: Vec<_> = plan.pieces(0).collect();
                        assert_eq!(pieces.len() as u64, plan.total());
                        let mut done = 0;
                        for piece in &pieces {
                            assert!(piece.length >= 1 && u64::from(piece.length) <= chunk);
                            for byte in 0..u64::from(piece.length) {
                                let here = (piece.local + byte, piece.lkey);
                                assert_eq!(here, place(&local, offset + done));
                                assert_eq!((piece.remote + byte, piece.rkey), place(&remote, remote_offset + done));
                                done += 1;
                            }
                        }
                        assert_eq!(done, length);
                        for first in 0..=pieces.len() {
                            assert!(plan.pieces(first as u64).eq(pieces[first..].iter().copied()));
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn sides_in_pieces_beyond_4_gib() {
        let local = [(1u64 << 40, 3 * GIB + 5, 1), (1 << 41, 2 * GIB, 2)];
        let remote = [(1u64 << 44, GIB - 1, 11), (1 << 45, 4 * GIB + 6, 12)];
        let side = |list: &[(u64, u64, u32)]| -> Vec<Range> {
            list.iter().map(|(addr, length, key)| Range { addr: *addr, length: *length, key: *key }).collect()
        };
        let (local, remote) = (side(&local), side(&remote));
        let (l, r) = (Side { ranges: &local, length: 5 * GIB + 5 }, Side { ranges: &remote, length: 5 * GIB + 5 });
        let attr = attr(5 * GIB + 5);
        let mut wrs = [blank(); 16];
        let (count, total) = super::fill(&SRD, l, r, &attr, 0, &mut wrs).unwrap();
        // 1 GiB - 1 until the peer's first piece ends, then up to the end of the local first one, then the rest.
        let shown: Vec<_> =
            wrs[..count as usize].iter().map(|wr| (wr.sge.length, wr.sge.lkey, wr.rkey, wr.wr_id)).collect();
        let gib = GIB as u32;
        assert_eq!(
            shown,
            [
                (gib - 1, 1, 11, 1000),
                (gib, 1, 12, 1001),
                (gib, 1, 12, 1002),
                (6, 1, 12, 1003),
                (gib, 2, 12, 1004),
                (gib, 2, 12, 1005)
            ]
        );
        assert_eq!(total, 6);
        assert_eq!((wrs[4].sge.addr, wrs[4].remote_addr), (1 << 41, (1 << 45) + 2 * GIB + 6));

        for (change, says) in [
            (vbn_split_attr { offset: 1, ..attr }, "behind offset"),
            (vbn_split_attr { remote_offset: 1, ..attr }, "behind remote_offset"),
            (vbn_split_attr { offset: 5 * GIB + 5, length: 1, ..attr }, "offset 5368709125"),
        ] {
            let error = super::fill(&SRD, l, r, &change, 0, &mut wrs).unwrap_err();
            let mut text = [0; 512];
            describe(&Record { op: Op::RdmaSplit, error }, &mut text);
            let text = String::from_utf8(until_zero(&text).to_vec()).unwrap();
            assert!(error.status == VBN_ERR_ARGUMENT && text.contains(says), "{text}");
        }
        let wraps = [Range { addr: u64::MAX, length: 2, key: 0 }];
        let error = super::fill(&SRD, Side::of(&wraps), r, &super::tests::attr(1), 0, &mut wrs).unwrap_err();
        assert_eq!((error.value, error.limit), (2, 1));
    }

    /// Where byte `at` of a list of ranges lies, found the slow way.
    fn place(ranges: &[Range], mut at: u64) -> (u64, u32) {
        for range in ranges {
            if at < range.length {
                return (range.addr + at, range.key);
            }
            at -= range.length;
        }
        panic!("beyond the last range");
    }
}
