// SPDX-License-Identifier: MIT OR Apache-2.0
//! A ring of packets in shared memory, from one process to one other.
//!
//! Positions count bytes and never wrap; a record is an 8-byte head (length, check) and the packet, padded to whole cache
//! lines. The data are mapped twice in a row, so that each record is in one piece. The reader looks at the place of the next
//! record, whose head is 0 until the rest is there: a small packet costs one cache line on its way to the other processor, and a
//! writer that dies in the middle of one has not shown it. What the other side stores is checked before it is used as a
//! length or position, so a mad peer costs the ring, not the process.
//!
//! The reader leaves a word in the head of what it has read: that it took the packet, or that it took it and all was well, which is a
//! receipt. For a packet that is mostly answered by just that, it spares the answer.

use super::directory::{End, ring_path};
use super::sys::{self, File, Mapping};
use std::collections::VecDeque;
use std::path::Path;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::*, fence};

/// The longest packet: 32 KiB of payload and room for its description.
pub const MAX_PACKET: usize = 33 * 1024;
/// Where the data begin: a multiple of every page size in use.
const HEADER: usize = 64 * 1024;
/// Bytes of data, and what is tried when /dev/shm has not that much: never less than two of the longest packets. The first takes a message
/// of 1 MiB in one go, which else waits for the reader to wake up and make room; it is for where memory is plentiful.
const CAPACITIES: [u64; 4] = [1 << 21, 1 << 20, 1 << 18, 1 << 17];
/// There must be room for so many rings of the first size.
const PLENTY: u64 = 256;
const RECORD_HEAD: u64 = 8;
/// Of a record: a cache line.
const ALIGN: u64 = 64;
const READY: u64 = u64::from_le_bytes(*b"ring-v2\0");
/// In the head of a record that has been read: shorter than a head, so no record's.
const TAKEN: u64 = 1;
const RECEIPT: u64 = 2;

#[repr(C, align(64))]
struct Own<T>(T);

#[repr(C)]
struct Header {
    /// READY, once the rest counts.
    ready: AtomicU64,
    capacity: AtomicU64,
    /// Written by the writer: all bytes before it are records. Read only when the writer waits.
    tail: Own<AtomicU64>,
    /// Written by the reader: all bytes before it may be overwritten.
    head: Own<AtomicU64>,
    /// Set by a writer that found the ring full and wants to be woken.
    waiting: Own<AtomicU32>,
}

struct Ring {
    mapping: Mapping,
    capacity: u64,
}

impl Ring {
    fn map(file: &File, capacity: u64) -> Result<Self, i32> {
        Ok(Self { mapping: Mapping::with_data_twice(file, HEADER, capacity as usize)?, capacity })
    }

    fn base(&self) -> usize {
        self.mapping.base().as_ptr() as usize
    }

    fn header(&self) -> &Header {
        // SAFETY: the mapping begins with a page that the file has memory for, is page-aligned and lives as long as
        // `self`; the header is atomics only, for which every bit pattern is valid.
        unsafe { self.mapping.base().cast::<Header>().as_ref() }
    }

    /// Where the byte at `position` is.
    fn at(&self, position: u64) -> *mut u8 {
        // Below HEADER + capacity; the mapping is HEADER + 2 * capacity long.
        let offset = position & self.capacity.wrapping_sub(1);
        self.mapping.base().as_ptr().wrapping_add(HEADER).wrapping_add(offset as usize)
    }

    /// The head of the record at `position`.
    fn head_at(&self, position: u64) -> &AtomicU64 {
        // SAFETY: positions are multiples of ALIGN, so the word is aligned and inside the mapping, which lives as long as `self`. As
        // a head it is only ever used as an atomic.
        unsafe { AtomicU64::from_ptr(self.at(position).cast()) }
    }
}

/// Bytes that a packet takes in the ring.
fn record_size(packet: usize) -> u64 {
    (RECORD_HEAD + packet as u64 + (ALIGN - 1)) & !(ALIGN - 1)
}

/// The head of a packet's record: never 0. It is tied to its place, so that a reader that has lost its way notices.
fn head_word(position: u64, packet: usize) -> u64 {
    let length = packet as u32 + RECORD_HEAD as u32;
    let check = ((position >> 3) as u32 ^ length.rotate_left(16)).wrapping_mul(0x9e37_79b1) ^ 0x736e_6963;
    u64::from(check) << 32 | u64::from(length)
}

/// What became of a packet.
#[derive(Debug, PartialEq, Eq)]
pub enum Push {
    Done,
    Full,
    TooLong,
    /// Whoever was to fill in the packet did not.
    Refused,
    /// The reader stored nonsense.
    Broken,
}

pub struct Writer {
    ring: Ring,
    tail: u64,
    /// The reader's position, as last seen.
    head: u64,
    /// Packets, by position, of which a receipt may come, and those of which it has.
    awaited: VecDeque<(u64, Tag)>,
    receipts: VecDeque<Tag>,
}

/// What the sender of a packet calls it.
pub type Tag = (u8, u64);

impl Writer {
    /// Makes the ring file. Its memory is taken at once: /dev/shm may be small, and a full one kills by SIGBUS.
    pub fn create(directory: &Path, from: End, to: End) -> Result<Self, i32> {
        let path = sys::c_path(&ring_path(directory, from, to))?;
        let file = File::open(&path, libc::O_RDWR | libc::O_CREAT | libc::O_EXCL, 0o600)?;
        let plenty = CAPACITIES.first().is_some_and(|most| file.free_space() / PLENTY >= *most);
        let made =
            CAPACITIES.iter().skip(usize::from(!plenty)).find_map(|capacity| match Self::fill(&file, *capacity) {
                Err(libc::ENOSPC) => None,
                other => Some(other),
            });
        let made = made.unwrap_or(Err(libc::ENOSPC));
        if made.is_err() {
            let _ = sys::remove_file(&path);
        }
        made
    }

    fn fill(file: &File, capacity: u64) -> Result<Self, i32> {
        file.reserve(0, size_of::<Header>() as u64)?;
        file.reserve(HEADER as u64, capacity)?;
        let ring = Ring::map(file, capacity)?;
        ring.header().capacity.store(capacity, Relaxed);
        ring.header().ready.store(READY, Release);
        Ok(Self { ring, tail: 0, head: 0, awaited: VecDeque::new(), receipts: VecDeque::new() })
    }

    /// What has been read is free, once its receipt has been seen.
    fn free(&self) -> u64 {
        let from = self.awaited.front().map_or(self.head, |(position, _)| self.head.min(*position));
        self.ring.capacity.saturating_sub(self.tail.wrapping_sub(from))
    }

    /// Looks where the reader is; false if that can't be.
    fn look(&mut self) -> bool {
        self.head = self.ring.header().head.0.load(Acquire);
        while let Some(receipt) = self.next_mark() {
            self.receipts.extend(receipt);
        }
        self.tail.wrapping_sub(self.head) <= self.ring.capacity
    }

    /// What the reader has left in the head of the oldest packet that is waited for.
    fn first_mark(&self) -> Option<u64> {
        let (position, _) = self.awaited.front()?;
        Some(self.ring.head_at(*position).load(Acquire)).filter(|mark| matches!(*mark, TAKEN | RECEIPT))
    }

    /// Ends the wait for the oldest packet if the reader is done with it; the inner value is there if that is a receipt.
    fn next_mark(&mut self) -> Option<Option<Tag>> {
        let mark = self.first_mark()?;
        let (_, tag) = self.awaited.pop_front()?;
        Some((mark == RECEIPT).then_some(tag))
    }

    /// A packet whose receipt has come, in the order in which they were sent.
    pub fn next_receipt(&mut self) -> Option<Tag> {
        // Those that were seen when there was no room.
        if let Some(tag) = self.receipts.pop_front() {
            return Some(tag);
        }
        loop {
            if let Some(tag) = self.next_mark()? {
                return Some(tag);
            }
        }
    }

    /// Whether `next_receipt` is worth a call.
    pub fn is_answered(&self) -> bool {
        !self.receipts.is_empty() || self.first_mark().is_some()
    }

    /// Whether a receipt may come.
    pub fn waits(&self) -> bool {
        !self.awaited.is_empty() || !self.receipts.is_empty()
    }

    /// Puts the parts in as one packet.
    pub fn push(&mut self, parts: &[&[u8]]) -> Push {
        let length = parts.iter().map(|part| part.len()).sum();
        self.push_with(length, |mut room| {
            for part in parts {
                let Some((place, rest)) = std::mem::take(&mut room).split_at_mut_checked(part.len()) else {
                    return false;
                };
                place.copy_from_slice(part);
                room = rest;
            }
            true
        })
    }

    /// As `push_with`, and its receipt is waited for.
    pub fn push_for_receipt(&mut self, tag: Tag, length: usize, fill: impl FnOnce(&mut [u8]) -> bool) -> Push {
        let position = self.tail;
        let pushed = self.push_with(length, fill);
        if pushed == Push::Done {
            self.awaited.push_back((position, tag));
        }
        pushed
    }

    /// Puts in a packet that `fill` writes where it will lie. Says it false, there is no packet.
    pub fn push_with(&mut self, length: usize, fill: impl FnOnce(&mut [u8]) -> bool) -> Push {
        if length > MAX_PACKET {
            return Push::TooLong;
        }
        let need = record_size(length);
        // The line behind a record is the writer's too: there the reader looks next.
        let free = need + ALIGN;
        if self.free() < free
            && let Err(why) = self.look_for(free)
        {
            return why;
        }
        // SAFETY: the record fits into the free bytes from the tail on (checked above), which the reader does not touch, but
        // for the record's head, until that is there. One piece, at most `capacity` long, starts below `capacity`: inside the
        // double mapping.
        let room = unsafe { std::slice::from_raw_parts_mut(self.ring.at(self.tail).add(RECORD_HEAD as usize), length) };
        if !fill(room) {
            return Push::Refused;
        }
        let record = self.ring.head_at(self.tail);
        let word = head_word(self.tail, length);
        self.tail += need;
        self.ring.head_at(self.tail).store(0, Relaxed);
        self.ring.header().tail.0.store(self.tail, Relaxed);
        record.store(word, Release);
        // Where the next payload goes, which nobody has touched for a whole round.
        sys::prefetch_to_write(self.ring.at(self.tail).wrapping_add(ALIGN as usize));
        Push::Done
    }

    /// Looks whether so much is free by now, and says that it is waited for if not.
    #[cold]
    fn look_for(&mut self, free: u64) -> Result<(), Push> {
        let found = |writer: &mut Self| if writer.look() { Ok(writer.free() >= free) } else { Err(Push::Broken) };
        if found(self)? {
            return Ok(());
        }
        // The reader may have made room between the look and the flag: look again behind it.
        self.ring.header().waiting.0.store(1, SeqCst);
        fence(SeqCst);
        if found(self)? { Ok(()) } else { Err(Push::Full) }
    }

    /// Whether a push after `Full` is worth a try: the reader wakes the writer by the same measure.
    pub fn has_room(&mut self) -> bool {
        !self.look() || self.free() >= self.ring.capacity / 2
    }
}

/// What a reader finds.
pub enum Peek<'a> {
    Empty,
    Packet(&'a [u8]),
    /// The writer stored nonsense.
    Broken,
}

/// As `Peek`, without a borrow of the reader.
pub enum Lent {
    Empty,
    Packet(Loan),
    Broken,
}

/// A packet that lies in its ring until it is given back. It takes the ring along: that stays mapped whatever becomes of the reader.
pub struct Loan {
    ring: Box<Ring>,
    at: *const u8,
    length: usize,
}

impl Loan {
    pub fn bytes(&self) -> &[u8] {
        // SAFETY: the bytes were a record of the ring when they were lent, and stay one: the reader moves its head over them
        // only by taking the loan, which ends this borrow, and the ring stays mapped as long as the loan holds it.
        unsafe { std::slice::from_raw_parts(self.at, self.length) }
    }
}

pub struct Reader {
    /// None while a packet is lent. In a box, which moves faster.
    ring: Option<Box<Ring>>,
    /// Where it is mapped: by that a loan is known that comes back.
    base: usize,
    head: u64,
}

impl Reader {
    /// Opens the ring that another process has made. ENOENT also while it is not ready.
    pub fn open(directory: &Path, from: End, to: End) -> Result<Self, i32> {
        let path = sys::c_path(&ring_path(directory, from, to))?;
        let file = File::open(&path, libc::O_RDWR, 0)?;
        let size = file.status()?.size;
        let capacity = size.saturating_sub(HEADER as u64);
        if !CAPACITIES.contains(&capacity) {
            return Err(libc::ENOENT);
        }
        let ring = Ring::map(&file, capacity)?;
        if ring.header().ready.load(Acquire) != READY || ring.header().capacity.load(Relaxed) != capacity {
            return Err(libc::ENOENT);
        }
        Ok(Self { base: ring.base(), ring: Some(Box::new(ring)), head: 0 })
    }

    pub fn is_empty(&self) -> bool {
        self.ring.as_ref().is_some_and(|ring| ring.head_at(self.head).load(Acquire) == 0)
    }

    /// The next packet, which stays in the ring until `advance`.
    pub fn peek(&self) -> Peek<'_> {
        let Some(ring) = &self.ring else { return Peek::Empty };
        let word = ring.head_at(self.head).load(Acquire);
        if word == 0 {
            return Peek::Empty;
        }
        let length = (word as u32 as usize).wrapping_sub(RECORD_HEAD as usize);
        if length > MAX_PACKET || word != head_word(self.head, length) {
            return Peek::Broken;
        }
        let at = ring.at(self.head);
        // The payload, which is looked at last.
        sys::prefetch(at.wrapping_add(ALIGN as usize));
        // SAFETY: no ring is shorter than a record of MAX_PACKET, so this one is inside, in one piece of the double mapping; and the
        // writer, which follows the same protocol, leaves its bytes alone until the head has moved.
        Peek::Packet(unsafe { std::slice::from_raw_parts(at.add(RECORD_HEAD as usize), length) })
    }

    /// The next packet. One at a time: Empty while there is one.
    pub fn lend(&mut self) -> Lent {
        let (at, length) = match self.peek() {
            Peek::Packet(packet) => (packet.as_ptr(), packet.len()),
            Peek::Empty => return Lent::Empty,
            Peek::Broken => return Lent::Broken,
        };
        match self.ring.take() {
            Some(ring) => Lent::Packet(Loan { ring, at, length }),
            None => Lent::Empty,
        }
    }

    /// Ends the loan and frees the packet, with a receipt or without.
    pub fn give_back(&mut self, loan: Loan, receipt: bool) {
        if loan.ring.base() == self.base {
            self.ring = Some(loan.ring);
            self.advance(loan.length, receipt);
        }
    }

    /// Frees a packet of this length, the one last seen.
    pub fn advance(&mut self, length: usize, receipt: bool) {
        let read = self.head;
        self.head += record_size(length);
        if let Some(ring) = &self.ring {
            ring.head_at(read).store(if receipt { RECEIPT } else { TAKEN }, Release);
            ring.header().head.0.store(self.head, Release);
        }
    }

    /// True, once, if the writer waits for room and there is enough now. A writer says that it waits and then looks once more: between
    /// `advance` and this there must be a full barrier.
    pub fn is_awaited(&self) -> bool {
        let Some(ring) = &self.ring else { return false };
        let header = ring.header();
        if header.waiting.0.load(SeqCst) == 0 {
            return false;
        }
        let used = header.tail.0.load(Acquire).wrapping_sub(self.head);
        used <= ring.capacity / 2 && header.waiting.0.swap(0, SeqCst) != 0
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::Scratch;
    use super::*;

    fn pair(scratch: &Scratch) -> (Writer, Reader) {
        let (from, to) = (End { index: 1, generation: 2 }, End { index: 3, generation: 4 });
        let writer = Writer::create(scratch.path(), from, to).unwrap();
        (writer, Reader::open(scratch.path(), from, to).unwrap())
    }

    fn take(reader: &mut Reader) -> Option<Vec<u8>> {
        let packet = match reader.peek() {
            Peek::Packet(bytes) => bytes.to_vec(),
            Peek::Empty => return None,
            Peek::Broken => panic!("broken"),
        };
        reader.advance(packet.len(), false);
        Some(packet)
    }

    #[test]
    fn every_length_at_every_offset_comes_out_as_it_went_in() {
        let scratch = Scratch::new();
        let (mut writer, mut reader) = pair(&scratch);
        for round in 0..20_000usize {
            let length = [0, 1, 7, 8, 9, 4095, MAX_PACKET][round % 7] % (MAX_PACKET + 1);
            let packet: Vec<u8> = (0..length).map(|i| (i * 7 + round) as u8).collect();
            let (a, b) = packet.split_at(length / 3);
            assert_eq!(writer.push(&[a, b]), Push::Done);
            assert_eq!(take(&mut reader), Some(packet));
        }
        assert_eq!(take(&mut reader), None);
        assert!(reader.head > 3 * writer.ring.capacity, "it never wrapped");
    }

    #[test]
    fn full_is_said_and_room_wakes() {
        let scratch = Scratch::new();
        let (mut writer, mut reader) = pair(&scratch);
        assert_eq!(writer.push(&[&[0; MAX_PACKET + 1]]), Push::TooLong);
        let packet = [5u8; 1000];
        let mut pushed = 0;
        while writer.push(&[&packet]) == Push::Done {
            pushed += 1;
        }
        assert_eq!(pushed, (writer.ring.capacity - ALIGN) / record_size(1000));
        assert!(!writer.has_room());
        let woken = (0..pushed).filter(|_| {
            assert!(matches!(reader.peek(), Peek::Packet(bytes) if bytes == packet));
            reader.advance(1000, false);
            fence(SeqCst);
            reader.is_awaited()
        });
        assert_eq!(woken.count(), 1, "woken once, when half is free");
        assert!(writer.has_room() && reader.is_empty());
        assert_eq!(writer.push(&[&packet]), Push::Done);
    }

    #[test]
    fn a_packet_that_is_not_filled_in_is_none() {
        let scratch = Scratch::new();
        let (mut writer, mut reader) = pair(&scratch);
        let half = |room: &mut [u8]| {
            room[..500].fill(1);
            false
        };
        assert_eq!(writer.push_with(1000, half), Push::Refused);
        assert!(reader.is_empty());
        let whole = |room: &mut [u8]| {
            room.copy_from_slice(b"yes");
            true
        };
        assert_eq!(writer.push_with(3, whole), Push::Done);
        assert_eq!(take(&mut reader), Some(b"yes".to_vec()));
        assert!(reader.is_empty());
    }

    #[test]
    fn receipts_come_in_order_and_are_not_written_over() {
        let scratch = Scratch::new();
        let (mut writer, mut reader) = pair(&scratch);
        let (mut sent, mut got) = (0u64, Vec::new());
        for round in 0..3000u64 {
            while writer.push_for_receipt((3, sent), 4000, |room| !room.is_empty()) == Push::Done {
                sent += 1;
            }
            let read = round % 7;
            for _ in 0..read {
                let number = reader.head / record_size(4000);
                assert!(matches!(reader.peek(), Peek::Packet(bytes) if bytes.len() == 4000));
                reader.advance(4000, !number.is_multiple_of(3));
            }
            // Those that are not asked for now are kept when the ring is full, and goes on all the same.
            while round.is_multiple_of(2) && writer.is_answered() {
                got.extend(writer.next_receipt());
            }
        }
        while let Some(tag) = writer.next_receipt() {
            got.push(tag);
        }
        let read = reader.head / record_size(4000);
        assert!(reader.head > 3 * writer.ring.capacity, "it never wrapped");
        assert_eq!(
            got,
            (0..read).filter(|number| !number.is_multiple_of(3)).map(|number| (3, number)).collect::<Vec<_>>()
        );
        assert!(writer.waits() && !writer.is_answered());
    }

    #[test]
    fn nonsense_of_the_other_side_is_noticed() {
        let scratch = Scratch::new();
        let (mut writer, reader) = pair(&scratch);
        assert_eq!(writer.push(&[b"hello"]), Push::Done);
        assert!(matches!(reader.peek(), Peek::Packet(b"hello")));
        let good = head_word(0, 5);
        for (bad, why) in [
            (good & !0xffff_ffff | 7, "shorter than a head"),
            (head_word(0, MAX_PACKET + 1), "more than there can be"),
            (good ^ 1, "another length"),
            (head_word(64, 5), "another place"),
        ] {
            writer.ring.head_at(0).store(bad, SeqCst);
            assert!(matches!(reader.peek(), Peek::Broken), "{why}");
        }
        writer.ring.header().head.0.store(1 << 50, SeqCst);
        writer.tail = writer.head + writer.ring.capacity;
        assert_eq!(writer.push(&[b"x"]), Push::Broken);
    }

    #[test]
    fn a_ring_that_is_not_ready_is_not_there() {
        let scratch = Scratch::new();
        let (from, to) = (End { index: 1, generation: 2 }, End { index: 3, generation: 4 });
        let opened = |why| assert_eq!(Reader::open(scratch.path(), from, to).err(), Some(libc::ENOENT), "{why}");
        opened("no file");
        let path = ring_path(scratch.path(), from, to);
        std::fs::write(&path, []).unwrap();
        opened("its maker died after open");
        std::fs::File::create(&path).unwrap().set_len(HEADER as u64 + CAPACITIES[2]).unwrap();
        opened("its maker died before it was ready");
    }
}
