// SPDX-License-Identifier: MIT OR Apache-2.0
//! What all records that grow have in common: `VBN1`, length, kind, and items that a reader may or must know. docs/records.md has
//! the bytes. Nothing here knows what an item means.

use super::error::{Error, Reason, Result};
use super::status::*;

/// Largest record that grows, in bytes, whatever its kind: a slot of this size holds any.
pub const VBN_RECORD_MAX_SIZE: usize = 1024;

/// Bytes of its header, which tell how long it is: bytes 4 and 5, big-endian, are the length of the whole.
pub const VBN_RECORD_HEADER_SIZE: usize = 8;

const MAGIC: [u8; 4] = *b"VBN1";

/// The bit in an item's type by which a writer says that a reader who doesn't know the item must not go on.
const MUST_UNDERSTAND: u16 = 0x8000;

/// Bytes of an item before its value.
const ITEM_HEADER: usize = 4;

/// What a record describes.
#[derive(Clone, Copy)]
#[repr(u16)]
pub enum RecordKind {
    Endpoint = 1,
    Region = 2,
}

/// Whether a reader that doesn't know an item may skip it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unknown {
    Skip,
    Refuse,
}

/// A record that is being written.
pub struct RecordWriter {
    bytes: [u8; VBN_RECORD_MAX_SIZE],
    used: usize,
}

impl RecordWriter {
    pub fn new(kind: RecordKind) -> Result<Self> {
        let mut writer = Self { bytes: [0; VBN_RECORD_MAX_SIZE], used: 0 };
        writer.put(&MAGIC)?;
        writer.put(&[0; 2])?;
        writer.put(&(kind as u16).to_be_bytes())?;
        Ok(writer)
    }

    /// Appends an item, whose value is put together from parts.
    pub fn item(&mut self, number: u16, unknown: Unknown, parts: &[&[u8]]) -> Result<()> {
        let length = parts.iter().fold(0usize, |sum, part| sum.saturating_add(part.len()));
        let length = u16::try_from(length).map_err(|_| too_long(length))?;
        let bit = if unknown == Unknown::Refuse { MUST_UNDERSTAND } else { 0 };
        self.put(&(number & !MUST_UNDERSTAND | bit).to_be_bytes())?;
        self.put(&length.to_be_bytes())?;
        parts.iter().try_for_each(|part| self.put(part))
    }

    /// Writes the length and lends the whole.
    pub fn finish(&mut self) -> &[u8] {
        let length = (self.used as u16).to_be_bytes();
        if let Some(place) = self.bytes.get_mut(4..6) {
            place.copy_from_slice(&length);
        }
        self.bytes.get(..self.used).unwrap_or_default()
    }

    /// Copies the whole into a caller's room, if there is any, and tells its length.
    pub fn copy_to(&mut self, room: &mut [u8]) -> Result<usize> {
        let record = self.finish();
        let capacity = room.len();
        match room.get_mut(..record.len()) {
            Some(place) => place.copy_from_slice(record),
            None if capacity == 0 => {}
            None => {
                return Err(Error::argument(Reason::Below("capacity"))
                    .value(capacity as u64, record.len() as u64)
                    .hint("VBN_RECORD_MAX_SIZE is enough for any record"));
            }
        }
        Ok(record.len())
    }

    fn put(&mut self, part: &[u8]) -> Result<()> {
        let end = self.used.saturating_add(part.len());
        let place = self.bytes.get_mut(self.used..end).ok_or(too_long(end))?;
        place.copy_from_slice(part);
        self.used = end;
        Ok(())
    }
}

const fn too_long(length: usize) -> Error {
    Error::range("the length of the record", length as u64, "within 1024 bytes")
}

/// An item as it was received.
pub struct RecordItem<'a> {
    pub number: u16,
    pub unknown: Unknown,
    pub value: &'a [u8],
}

impl RecordItem<'_> {
    /// The value of an item that has one size.
    pub fn exactly<const N: usize>(&self) -> Result<[u8; N]> {
        self.value.try_into().map_err(|_| {
            Error::range("the record's item", self.number.into(), "as long as it must be (limit has the bytes)")
                .value(self.number.into(), N as u64)
        })
    }

    /// What to do with an item that this library doesn't know.
    pub fn pass_over(&self) -> Result<()> {
        match self.unknown {
            Unknown::Skip => Ok(()),
            Unknown::Refuse => {
                let error = Error::range("the record's item", self.number.into(), "known here, and must be understood");
                Err(Error { status: VBN_ERR_TOO_NEW, ..error }.hint("use a libverbena at least as new as the peer's"))
            }
        }
    }

    pub fn twice(&self) -> Error {
        Error::range("the record's item", self.number.into(), "to be there twice")
    }
}

/// The items of a record, in the order in which they came. After a failure there are no more.
pub struct RecordItems<'a> {
    rest: &'a [u8],
}

/// Checks the header. What lies behind the end of the record isn't looked at.
pub fn open(bytes: &[u8], kind: RecordKind) -> Result<RecordItems<'_>> {
    let Some((header, _)) = bytes.split_first_chunk::<VBN_RECORD_HEADER_SIZE>() else {
        return Err(
            Error::range("the size of the record", bytes.len() as u64, "8 or more").hint("it was cut on its way here")
        );
    };
    let [m0, m1, m2, m3, l0, l1, k0, k1] = *header;
    match [m0, m1, m2, m3] {
        MAGIC => {}
        [b'V', b'B', b'N', version] => {
            let error = Error::range("the record's version", version.into(), "VBN1, the one known here");
            return Err(
                Error { status: VBN_ERR_TOO_NEW, ..error }.hint("use a libverbena at least as new as the peer's")
            );
        }
        found => {
            return Err(Error::text(VBN_ERR_ARGUMENT, "the record doesn't begin with VBN1")
                .value(u32::from_be_bytes(found).into(), u32::from_be_bytes(MAGIC).into())
                .hint("records of 28 and 24 bytes are read by vbn_rc_record_decode and vbn_endpoint_decode"));
        }
    }
    let length = usize::from(u16::from_be_bytes([l0, l1]));
    if !(VBN_RECORD_HEADER_SIZE..=VBN_RECORD_MAX_SIZE).contains(&length) {
        return Err(Error::range("the length in the record", length as u64, "8..1024"));
    }
    let Some(rest) = bytes.get(VBN_RECORD_HEADER_SIZE..length) else {
        return Err(Error::text(VBN_ERR_ARGUMENT, "the record is longer than the bytes given")
            .value(length as u64, bytes.len() as u64)
            .hint("it was cut on its way here; its bytes 4 and 5 tell how many must be read"));
    };
    let found = u16::from_be_bytes([k0, k1]);
    if found != kind as u16 {
        return Err(Error::range("the record's kind", found.into(), "the one asked for (limit)")
            .value(found.into(), (kind as u16).into()));
    }
    Ok(RecordItems { rest })
}

impl<'a> Iterator for RecordItems<'a> {
    type Item = Result<RecordItem<'a>>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.rest.is_empty() {
            return None;
        }
        let rest = std::mem::take(&mut self.rest);
        let cut = Error::text(VBN_ERR_ARGUMENT, "an item of the record reaches beyond its end");
        let Some((&[t0, t1, l0, l1], rest)) = rest.split_first_chunk::<ITEM_HEADER>() else {
            return Some(Err(cut.value(0, rest.len() as u64)));
        };
        let kind = u16::from_be_bytes([t0, t1]);
        let number = kind & !MUST_UNDERSTAND;
        let length = usize::from(u16::from_be_bytes([l0, l1]));
        let Some((value, rest)) = rest.split_at_checked(length) else {
            return Some(Err(cut.value(length as u64, rest.len() as u64)));
        };
        self.rest = rest;
        let unknown = if kind & MUST_UNDERSTAND != 0 { Unknown::Refuse } else { Unknown::Skip };
        Some(Ok(RecordItem { number, unknown, value }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn items(bytes: &[u8]) -> Result<Vec<(u16, Unknown, Vec<u8>)>> {
        open(bytes, RecordKind::Endpoint)?
            .map(|item| item.map(|item| (item.number, item.unknown, item.value.to_vec())))
            .collect()
    }

    #[test]
    fn items_come_back_as_they_were_written() {
        let mut writer = RecordWriter::new(RecordKind::Endpoint).unwrap();
        writer.item(7, Unknown::Refuse, &[b"ab", b"", b"c"]).unwrap();
        writer.item(0x7fff, Unknown::Skip, &[]).unwrap();
        let bytes = writer.finish();
        assert_eq!(bytes, b"VBN1\x00\x13\x00\x01\x80\x07\x00\x03abc\x7f\xff\x00\x00");
        let wanted = vec![(7, Unknown::Refuse, b"abc".to_vec()), (0x7fff, Unknown::Skip, vec![])];
        assert_eq!(items(bytes).unwrap(), wanted);
        let mut slot = bytes.to_vec();
        slot.resize(2048, 0xee);
        assert_eq!(items(&slot).unwrap(), wanted, "what lies behind the record isn't part of it");
    }

    #[test]
    fn an_empty_record_is_one() {
        assert!(items(b"VBN1\x00\x08\x00\x01").unwrap().is_empty());
    }

    #[test]
    fn a_record_has_at_most_1024_bytes() {
        let mut writer = RecordWriter::new(RecordKind::Endpoint).unwrap();
        let room = VBN_RECORD_MAX_SIZE - VBN_RECORD_HEADER_SIZE - ITEM_HEADER;
        writer.item(1, Unknown::Skip, &[&vec![1; room]]).unwrap();
        assert_eq!(writer.finish().len(), 1024);
        let whole = writer.finish().to_vec();
        assert_eq!(items(&whole).unwrap()[0].2.len(), room);
        assert_eq!(writer.item(2, Unknown::Skip, &[]).unwrap_err().value, 1026);

        let mut writer = RecordWriter::new(RecordKind::Endpoint).unwrap();
        assert_eq!(writer.item(1, Unknown::Skip, &[&vec![1; room + 1]]).unwrap_err().value, 1025);
        assert!(writer.item(1, Unknown::Skip, &[&vec![1; 70_000]]).is_err());

        let mut long = whole;
        long.push(0);
        long[4..6].copy_from_slice(&1025u16.to_be_bytes());
        let error = items(&long).unwrap_err();
        assert_eq!((error.status, error.value), (VBN_ERR_ARGUMENT, 1025));
    }

    #[test]
    fn wrong_headers_are_told_apart() {
        let good = *b"VBN1\x00\x08\x00\x01";
        for size in 0..8 {
            assert_eq!(items(&good[..size]).unwrap_err().value, size as u64);
        }
        assert_eq!(items(b"VBN2\x00\x08\x00\x01").unwrap_err().status, VBN_ERR_TOO_NEW);
        assert_eq!(items(b"XBN1\x00\x08\x00\x01").unwrap_err().status, VBN_ERR_ARGUMENT);
        assert_eq!(items(b"VBN1\x00\x07\x00\x01").unwrap_err().value, 7);
        let error = items(b"VBN1\x00\x09\x00\x01").unwrap_err();
        assert_eq!((error.value, error.limit), (9, 8));
        let error = items(b"VBN1\x00\x08\x00\x02").unwrap_err();
        assert_eq!((error.value, error.limit), (2, 1));
    }

    #[test]
    fn items_that_reach_beyond_the_end_are_refused() {
        for (tail, value, limit) in [
            (&b"\x00"[..], 0, 1),
            (b"\x00\x01\x00", 0, 3),
            (b"\x00\x01\x00\x01", 1, 0),
            (b"\x00\x01\xff\xffxy", 65535, 2),
        ] {
            let mut bytes = b"VBN1\x00\x00\x00\x01".to_vec();
            bytes.extend_from_slice(tail);
            bytes[5] = bytes.len() as u8;
            let error = items(&bytes).unwrap_err();
            assert_eq!((error.status, error.value, error.limit), (VBN_ERR_ARGUMENT, value, limit));
            // The same behind the end of the record is nobody's business.
            bytes[5] = 8;
            assert!(items(&bytes).unwrap().is_empty());
        }
    }
}
