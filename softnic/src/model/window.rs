// SPDX-License-Identifier: MIT OR Apache-2.0
//! The memory that a context shares with its provider, as the device reads and writes it.
//!
//! The provider may write at any time and anywhere in it, so every access is an atomic one of a whole word. What lies out of range, or
//! askew where whole words are asked for, reads as zeros and is not written.

use std::sync::atomic::{AtomicU64, Ordering, fence};

/// Bytes of a word.
const WORD: usize = 8;

/// All shared memory of a context, from offset 0 on. Without words: that of a context which is not there.
#[derive(Clone, Copy, Default, Debug)]
pub struct Window<'a> {
    words: &'a [AtomicU64],
}

impl<'a> Window<'a> {
    pub fn new(words: &'a [AtomicU64]) -> Window<'a> {
        Window { words }
    }

    /// The word with the 32 bits at `offset`, and whether they are its second half.
    #[inline(always)]
    fn half(self, offset: u64) -> Option<(&'a AtomicU64, bool)> {
        // Rotated, the bits of an offset that is no multiple of 4 lead far out of range.
        let place = offset.rotate_right(2);
        Some((self.words.get((place / 2) as usize)?, !place.is_multiple_of(2)))
    }

    /// The words from `offset` on.
    #[inline(always)]
    fn chunk<const N: usize>(self, offset: u64) -> Option<&'a [AtomicU64; N]> {
        // As above, for multiples of 8.
        self.words.get(offset.rotate_right(3) as usize..)?.first_chunk()
    }

    /// The words in which these bytes lie, and how far in the first of them they begin.
    fn around(self, offset: u64, bytes: usize) -> Option<(&'a [AtomicU64], usize)> {
        let (first, skip) = ((offset / WORD as u64) as usize, (offset % WORD as u64) as usize);
        let count = skip.checked_add(bytes)?.div_ceil(WORD);
        Some((self.words.get(first..)?.get(..count)?, skip))
    }

    /// What is read later is no older.
    #[inline(always)]
    pub fn load32(self, offset: u64) -> u32 {
        let Some((word, second)) = self.half(offset) else { return 0 };
        let word = word.load(Ordering::Acquire);
        // Where the lowest byte comes first, the second half is the upper one.
        (if second == cfg!(target_endian = "little") { word >> 32 } else { word }) as u32
    }

    /// `N` words. Others may have written meanwhile: the caller checks what it got.
    #[inline(always)]
    pub fn load<const N: usize>(self, offset: u64) -> [u64; N] {
        let Some(words) = self.chunk::<N>(offset) else { return [0; N] };
        let words = words.each_ref().map(|word| word.load(Ordering::Relaxed));
        fence(Ordering::Acquire);
        words
    }

    /// Seldom used: the other half of the word is the provider's.
    pub fn store32(self, offset: u64, value: u32) {
        if let Some((word, second)) = self.half(offset) {
            replace(word, if second { WORD / 2 } else { 0 }, &value.to_ne_bytes());
        }
    }

    /// Stores words so that who sees the first one sees all: it goes last.
    #[inline(always)]
    pub fn publish<const N: usize>(self, offset: u64, values: [u64; N]) {
        let Some(([first, rest @ ..], [value, values @ ..])) =
            self.chunk::<N>(offset).map(|words| (words.as_slice(), values.as_slice())).filter(|_| N > 0)
        else {
            return;
        };
        for (word, value) in rest.iter().zip(values) {
            word.store(*value, Ordering::Relaxed);
        }
        first.store(*value, Ordering::Release);
    }

    /// Bytes from anywhere, read as by `load`.
    pub fn read(self, offset: u64, out: &mut [u8]) {
        let Some((words, mut skip)) = self.around(offset, out.len()) else { return out.fill(0) };
        let mut rest = out;
        for word in words {
            let bytes = word.load(Ordering::Relaxed).to_ne_bytes();
            let bytes = bytes.get(std::mem::take(&mut skip)..).unwrap_or(&[]);
            let (now, later) = rest.split_at_mut(bytes.len().min(rest.len()));
            for (to, from) in now.iter_mut().zip(bytes) {
                *to = *from;
            }
            rest = later;
        }
        fence(Ordering::Acquire);
    }

    /// Bytes to anywhere. What lies beside them in the first and the last word stays.
    pub fn write(self, offset: u64, data: &[u8]) {
        let Some((words, mut skip)) = self.around(offset, data.len()) else { return };
        let mut rest = data;
        for word in words {
            let skip = std::mem::take(&mut skip);
            let (now, later) = rest.split_at(rest.len().min(WORD - skip));
            match now.first_chunk() {
                Some(whole) => word.store(u64::from_ne_bytes(*whole), Ordering::Release),
                None => replace(word, skip, now),
            }
            rest = later;
        }
    }
}

/// Puts bytes into a word whose others may change meanwhile.
fn replace(word: &AtomicU64, skip: usize, data: &[u8]) {
    let change = |old: u64| {
        let mut bytes = old.to_ne_bytes();
        for (to, from) in bytes.iter_mut().skip(skip).zip(data) {
            *to = *from;
        }
        Some(u64::from_ne_bytes(bytes))
    };
    // It never gives up.
    let _ = word.fetch_update(Ordering::Release, Ordering::Relaxed, change);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bytes that differ, from 1 on.
    fn memory() -> Vec<AtomicU64> {
        let bytes: Vec<u8> = (1..=32).collect();
        bytes.chunks(8).map(|word| AtomicU64::new(u64::from_ne_bytes(word.try_into().unwrap()))).collect()
    }

    fn bytes(words: &[AtomicU64]) -> Vec<u8> {
        words.iter().flat_map(|word| word.load(Ordering::Relaxed).to_ne_bytes()).collect()
    }

    #[test]
    fn bytes_go_in_and_out_wherever_they_begin_and_end() {
        for start in 0..=32usize {
            for len in 0..=32 - start {
                let words = memory();
                let window = Window::new(&words);
                let mut out = vec![0; len];
                window.read(start as u64, &mut out);
                assert_eq!(out, bytes(&words)[start..start + len], "{len} bytes at {start}");
                let mut after = bytes(&words);
                after[start..start + len].fill(0xee);
                window.write(start as u64, &vec![0xee; len]);
                assert_eq!(bytes(&words), after, "{len} bytes at {start}");
            }
        }
    }

    #[test]
    fn words_and_halves_lie_where_their_bytes_do() {
        let words = memory();
        let window = Window::new(&words);
        assert_eq!(window.load32(8), u32::from_ne_bytes([9, 10, 11, 12]));
        assert_eq!(window.load32(28), u32::from_ne_bytes([29, 30, 31, 32]));
        let word = |n: usize| words[n].load(Ordering::Relaxed);
        assert_eq!(window.load(8), [word(1), word(2)]);
        assert_eq!(window.load::<4>(0), [word(0), word(1), word(2), word(3)]);
    }

    #[test]
    fn a_store_of_half_a_word_leaves_the_other() {
        for at in (0..32).step_by(4) {
            let words = memory();
            let mut after = bytes(&words);
            after[at..at + 4].copy_from_slice(&[0xa0, 0xa1, 0xa2, 0xa3]);
            Window::new(&words).store32(at as u64, u32::from_ne_bytes([0xa0, 0xa1, 0xa2, 0xa3]));
            assert_eq!(bytes(&words), after);
        }
    }

    #[test]
    fn halves_of_a_word_can_be_written_at_the_same_time() {
        let words = memory();
        let window = Window::new(&words);
        std::thread::scope(|scope| {
            for at in [0, 4] {
                scope.spawn(move || {
                    for n in 0..100_000 {
                        window.store32(at, n);
                        assert_eq!(window.load32(at), n);
                    }
                });
            }
        });
    }

    #[test]
    fn an_entry_is_published_whole_and_nothing_else() {
        let words = memory();
        let before = words[3].load(Ordering::Relaxed);
        Window::new(&words).publish(8, [7, 8]);
        assert_eq!(words[1..].iter().map(|w| w.load(Ordering::Relaxed)).collect::<Vec<_>>(), [7, 8, before]);
        Window::new(&words).publish::<0>(0, []);
        assert_eq!(bytes(&words[..1]), [1, 2, 3, 4, 5, 6, 7, 8]);
    }

    /// Who sees the first word of an entry sees the others.
    #[test]
    fn the_first_word_of_an_entry_comes_last() {
        const LAST: u64 = 100_000;
        let words = memory();
        let window = Window::new(&words);
        window.publish(0, [0; 4]);
        std::thread::scope(|scope| {
            scope.spawn(move || (1..=LAST).for_each(|n| window.publish(0, [n; 4])));
            let mut seen = 0;
            while seen < LAST {
                [seen] = window.load(0);
                let rest: [u64; 3] = window.load(8);
                assert!(rest.iter().all(|word| *word >= seen), "{seen}: {rest:?}");
            }
        });
    }

    #[test]
    fn out_of_range_reads_as_zeros_and_writes_nothing() {
        let words = memory();
        let (window, before) = (Window::new(&words), bytes(&words));
        for offset in [25, 31, 33, 1000, u64::MAX - 7, u64::MAX] {
            let mut out = [9; 8];
            window.read(offset, &mut out);
            assert_eq!(out, [0; 8], "{offset}");
            window.write(offset, &[0; 8]);
        }
        for offset in [32, 36, u64::MAX - 3, 2, 5, u64::MAX] {
            assert_eq!(window.load32(offset), 0, "{offset}");
            window.store32(offset, 0);
        }
        for offset in [24, 32, u64::MAX - 7, 1, 4, u64::MAX] {
            assert_eq!(window.load(offset), [0, 0], "{offset}");
            window.publish(offset, [0, 0]);
        }
        assert_eq!(bytes(&words), before);
        assert_eq!(Window::default().load(0), [0]);
    }
}
