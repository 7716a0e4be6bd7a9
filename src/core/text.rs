// SPDX-License-Identifier: MIT OR Apache-2.0
//! Text without allocation: fixed-size names, and a writer into a caller's buffer that cuts instead of failing.

use std::ffi::c_char;
use std::fmt;

/// Longest device or object name kept, its terminating zero included (the kernel's limit for device names is 64).
pub const VBN_NAME_SIZE: usize = 64;

/// A short name, always zero-terminated.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Name(pub [u8; VBN_NAME_SIZE]);

impl Name {
    pub const EMPTY: Self = Self([0; VBN_NAME_SIZE]);

    /// Takes the bytes up to the first zero, cut to what fits.
    pub fn new(bytes: &[u8]) -> Self {
        let mut name = Self::EMPTY;
        for (to, from) in name.0.iter_mut().take(VBN_NAME_SIZE - 1).zip(bytes.iter().take_while(|b| **b != 0)) {
            *to = *from;
        }
        name
    }

    pub fn bytes(&self) -> &[u8] {
        until_zero(&self.0)
    }

    pub fn is_empty(&self) -> bool {
        self.bytes().is_empty()
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_bytes(f, self.bytes())
    }
}

impl fmt::Debug for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// The part of `bytes` before the first zero.
pub fn until_zero(bytes: &[u8]) -> &[u8] {
    bytes.split(|b| *b == 0).next().unwrap_or(bytes)
}

/// What a C character array holds.
pub fn text(array: &[c_char]) -> &[u8] {
    // SAFETY: c_char and u8 have the same size and alignment, and every value is valid in both.
    until_zero(unsafe { std::slice::from_raw_parts(array.as_ptr().cast(), array.len()) })
}

/// Text as a fixed array of C characters, cut to what fits, zero-terminated.
pub fn chars<const N: usize>(text: &[u8]) -> [c_char; N] {
    let mut array = [0; N];
    for (to, from) in array.iter_mut().take(N.saturating_sub(1)).zip(until_zero(text)) {
        *to = *from as c_char;
    }
    array
}

/// The end of a path, which says more than its beginning, as far as a name has room for it.
pub fn tail(path: &[u8]) -> &[u8] {
    path.get(path.len().saturating_sub(VBN_NAME_SIZE - 1)..).unwrap_or(path)
}

/// Writes bytes that should be text; what isn't UTF-8 shows as '?'.
pub fn write_bytes(f: &mut dyn fmt::Write, bytes: &[u8]) -> fmt::Result {
    for chunk in bytes.utf8_chunks() {
        f.write_str(chunk.valid())?;
        if !chunk.invalid().is_empty() {
            f.write_char('?')?;
        }
    }
    Ok(())
}

/// Formats into a buffer; what does not fit is cut at a character, and the text always ends with a zero.
pub struct Writer<'a> {
    buffer: &'a mut [u8],
    used: usize,
    wanted: usize,
}

impl<'a> Writer<'a> {
    pub fn new(buffer: &'a mut [u8]) -> Self {
        buffer.fill(0);
        Self { buffer, used: 0, wanted: 0 }
    }

    pub fn is_empty(&self) -> bool {
        self.used == 0
    }

    /// Bytes of everything written so far, with what was cut.
    pub fn wanted(&self) -> usize {
        self.wanted
    }
}

impl fmt::Write for Writer<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        // Once something was cut nothing follows it.
        let cut = self.wanted > self.used;
        self.wanted = self.wanted.saturating_add(text.len());
        let room = if cut { 0 } else { self.buffer.len().saturating_sub(self.used + 1) };
        let mut take = text.len().min(room);
        while !text.is_char_boundary(take) {
            take -= 1;
        }
        let source = text.as_bytes().get(..take).unwrap_or_default();
        if let Some(target) = self.buffer.get_mut(self.used..self.used + take) {
            target.copy_from_slice(source);
            self.used += take;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fmt::Write;

    #[test]
    fn writer_cuts_at_a_character_and_terminates() {
        let mut buffer = [0xffu8; 6];
        let mut writer = Writer::new(&mut buffer);
        write!(writer, "abcd\u{e9}").unwrap();
        write!(writer, "f").unwrap();
        assert_eq!(writer.wanted(), 7);
        assert_eq!(&buffer, b"abcd\0\0");
        let mut none: [u8; 0] = [];
        write!(Writer::new(&mut none), "x").unwrap();
    }

    #[test]
    fn names_are_cut_and_terminated() {
        assert_eq!(Name::new(&[b'x'; 100]).bytes().len(), VBN_NAME_SIZE - 1);
        assert_eq!(Name::new(b"rxe0\0junk").bytes(), b"rxe0");
    }
}
