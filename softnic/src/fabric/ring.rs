// SPDX-License-Identifier: MIT OR Apache-2.0
//! A ring of packets in shared memory, from one process to one other.
//!
//! Positions count bytes and never wrap; a record is an 8-byte head (length, check) and the packet, padded to 8 bytes.
//! The data are mapped twice in a row, so that each record is in one piece. A writer that dies in the middle of a
//! record has not moved the tail: nobody sees the record. What the other side stores is checked before it is used as a
//! length or position, so a mad peer costs the ring, not the process.

use super::directory::{End, ring_path};
use super::sys::{self, File, Mapping};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::*, fence};

/// The longest packet: 32 KiB of payload and room for its description.
pub const MAX_PACKET: usize = 33 * 1024;
/// Where the data begin: a multiple of every page size in use.
const HEADER: usize = 64 * 1024;
/// Bytes of data, and what is tried when /dev/shm has not that much: never less than two of the longest packets.
const CAPACITIES: [u64; 3] = [1 << 20, 1 << 18, 1 << 17];
const RECORD_HEAD: u64 = 8;
const READY: u64 = u64::from_le_bytes(*b"ring-v1\0");

#[repr(C, align(64))]
struct Own<T>(T);

#[repr(C)]
struct Header {
    /// READY, once the rest counts.
    ready: AtomicU64,
    capacity: AtomicU64,
    /// Written by the writer: all bytes before it are records.
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

    fn header(&self) -> &Header {
        // SAFETY: the mapping begins with a page that the file has memory for, is page-aligned and lives as long as
        // `self`; the header is atomics only, for which every bit pattern is valid.
        unsafe { self.mapping.base().cast::<Header>().as_ref() }
    }

    /// Where the byte at `position` is.
    fn at(&self, position: u64) -> *mut u8 {
        let offset = HEADER + (position & (self.capacity - 1)) as usize;
        // SAFETY: the offset is below HEADER + capacity, and the mapping is HEADER + 2 * capacity long.
        unsafe { self.mapping.base().as_ptr().add(offset) }
    }
}

/// Bytes that a packet takes in the ring.
fn record_size(packet: usize) -> u64 {
    RECORD_HEAD + (packet as u64).next_multiple_of(8)
}

/// Ties a record's head to its place, so that a reader that has lost its way notices.
fn check_word(position: u64, length: u32) -> u32 {
    ((position >> 3) as u32 ^ length.rotate_left(16)).wrapping_mul(0x9e37_79b1) ^ 0x736e_6963
}

/// What became of a packet.
#[derive(Debug, PartialEq, Eq)]
pub enum Push {
    Done,
    Full,
    TooLong,
    /// The reader stored nonsense.
    Broken,
}

pub struct Writer {
    ring: Ring,
    tail: u64,
    /// The reader's position, as last seen.
    head: u64,
}

impl Writer {
    /// Makes the ring file. Its memory is taken at once: /dev/shm may be small, and a full one kills by SIGBUS.
    pub fn create(directory: &Path, from: End, to: End) -> Result<Self, i32> {
        let path = sys::c_path(&ring_path(directory, from, to))?;
        let file = File::open(&path, libc::O_RDWR | libc::O_CREAT | libc::O_EXCL, 0o600)?;
        let made = CAPACITIES.iter().find_map(|capacity| match Self::fill(&file, *capacity) {
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
        Ok(Self { ring, tail: 0, head: 0 })
    }

    fn free(&self) -> u64 {
        self.ring.capacity.saturating_sub(self.tail.wrapping_sub(self.head))
    }

    /// Looks where the reader is; false if that can't be.
    fn look(&mut self) -> bool {
        self.head = self.ring.header().head.0.load(Acquire);
        self.tail.wrapping_sub(self.head) <= self.ring.capacity
    }

    /// Puts the parts in as one packet.
    pub fn push(&mut self, parts: &[&[u8]]) -> Push {
        let length: usize = parts.iter().map(|part| part.len()).sum();
        if length > MAX_PACKET {
            return Push::TooLong;
        }
        let need = record_size(length);
        if self.free() < need {
            if !self.look() {
                return Push::Broken;
            }
            if self.free() < need {
                // The reader may have made room between the look and the flag: look again behind it.
                self.ring.header().waiting.0.store(1, SeqCst);
                fence(SeqCst);
                if !self.look() {
                    return Push::Broken;
                }
                if self.free() < need {
                    return Push::Full;
                }
            }
        }
        self.write(parts, length as u32);
        self.tail += need;
        self.ring.header().tail.0.store(self.tail, Release);
        Push::Done
    }

    fn write(&mut self, parts: &[&[u8]], length: u32) {
        let mut at = self.ring.at(self.tail);
        let head = u64::from(check_word(self.tail, length)) << 32 | u64::from(length);
        // SAFETY: the caller has made sure that the record fits into the free bytes from the tail on, which the reader
        // does not touch until the tail has moved over them. One piece, at most `capacity` long, starts below
        // `capacity`: inside the double mapping. Positions are multiples of 8, so the head is aligned.
        unsafe {
            at.cast::<u64>().write(head);
            at = at.add(RECORD_HEAD as usize);
            for part in parts {
                std::ptr::copy_nonoverlapping(part.as_ptr(), at, part.len());
                at = at.add(part.len());
            }
        }
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

/// A packet that lies in its ring until it is given back.
pub struct Loan {
    ring: Arc<Ring>,
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
    ring: Arc<Ring>,
    head: u64,
    /// The writer's position, as last seen.
    tail: u64,
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
        Ok(Self { ring: Arc::new(ring), head: 0, tail: 0 })
    }

    pub fn is_empty(&mut self) -> bool {
        if self.tail == self.head {
            self.tail = self.ring.header().tail.0.load(Acquire);
        }
        self.tail == self.head
    }

    /// The next packet, which stays in the ring until `advance`.
    pub fn peek(&mut self) -> Peek<'_> {
        if self.is_empty() {
            return Peek::Empty;
        }
        let available = self.tail.wrapping_sub(self.head);
        if available > self.ring.capacity || available < RECORD_HEAD || !available.is_multiple_of(8) {
            return Peek::Broken;
        }
        let at = self.ring.at(self.head);
        // SAFETY: at least RECORD_HEAD bytes from the head on are the reader's (checked above), and aligned, as
        // positions are multiples of 8.
        let record = unsafe { at.cast::<u64>().read() };
        let (length, check) = (record as u32, (record >> 32) as u32);
        let fits = length as usize <= MAX_PACKET && record_size(length as usize) <= available;
        if !fits || check != check_word(self.head, length) {
            return Peek::Broken;
        }
        // SAFETY: the record lies in the bytes between head and tail, in one piece of the double mapping, and the
        // writer, which follows the same protocol, leaves them alone until the head has moved.
        Peek::Packet(unsafe { std::slice::from_raw_parts(at.add(RECORD_HEAD as usize), length as usize) })
    }

    /// The next packet, kept mapped by the loan whatever becomes of this reader. One at a time: Empty while there is one.
    pub fn lend(&mut self) -> Lent {
        if Arc::strong_count(&self.ring) > 1 {
            return Lent::Empty;
        }
        let (at, length) = match self.peek() {
            Peek::Packet(packet) => (packet.as_ptr(), packet.len()),
            Peek::Empty => return Lent::Empty,
            Peek::Broken => return Lent::Broken,
        };
        Lent::Packet(Loan { ring: Arc::clone(&self.ring), at, length })
    }

    /// Ends the loan and frees the packet; true as of `advance`.
    pub fn give_back(&mut self, loan: Loan) -> bool {
        Arc::ptr_eq(&self.ring, &loan.ring) && self.advance(loan.length)
    }

    /// Frees a packet of this length, the one last seen. True if the writer waits for room and there is enough now.
    pub fn advance(&mut self, length: usize) -> bool {
        self.head += record_size(length);
        let header = self.ring.header();
        header.head.0.store(self.head, Release);
        fence(SeqCst);
        if header.waiting.0.load(Relaxed) == 0 {
            return false;
        }
        let used = header.tail.0.load(Acquire).wrapping_sub(self.head);
        used <= self.ring.capacity / 2 && header.waiting.0.swap(0, SeqCst) != 0
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
        reader.advance(packet.len());
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
        assert!(reader.head > 3 * reader.ring.capacity, "it never wrapped");
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
        assert_eq!(pushed, CAPACITIES[0] / record_size(1000));
        assert!(!writer.has_room());
        let woken = (0..pushed).filter(|_| {
            assert!(matches!(reader.peek(), Peek::Packet(bytes) if bytes == packet));
            reader.advance(1000)
        });
        assert_eq!(woken.count(), 1, "woken once, when half is free");
        assert!(writer.has_room() && reader.is_empty());
        assert_eq!(writer.push(&[&packet]), Push::Done);
    }

    #[test]
    fn nonsense_of_the_other_side_is_noticed() {
        let scratch = Scratch::new();
        let (mut writer, mut reader) = pair(&scratch);
        assert_eq!(writer.push(&[b"hello"]), Push::Done);
        let header = reader.ring.header();
        header.tail.0.store(4, SeqCst);
        assert!(matches!(reader.peek(), Peek::Broken), "shorter than a head");
        reader.tail = 0;
        reader.ring.header().tail.0.store(1 << 40, SeqCst);
        assert!(matches!(reader.peek(), Peek::Broken), "more than there is");
        reader.tail = 0;
        reader.ring.header().tail.0.store(16, SeqCst);
        assert!(matches!(reader.peek(), Peek::Packet(b"hello")));
        // SAFETY: the test owns both ends.
        unsafe { reader.ring.at(0).cast::<u32>().write(6) };
        assert!(matches!(reader.peek(), Peek::Broken), "check word");
        reader.ring.header().head.0.store(1 << 50, SeqCst);
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
