// SPDX-License-Identifier: MIT OR Apache-2.0
//! What each file descriptor is to softnic. One relaxed load answers "not ours", without lock or allocation.

use crate::sys;
use libc::c_int;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};

const SLOTS: usize = 65536;
static TABLE: [AtomicU32; SLOTS] = [const { AtomicU32::new(0) }; SLOTS];
/// One past the highest tagged descriptor so far.
static TOP: AtomicUsize = AtomicUsize::new(0);

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Tag {
    None,
    /// A uverbs file: the device's number and the context's place.
    Uverbs {
        device: u8,
        context: u16,
    },
    /// The program's end of a completion channel or asynchronous event file.
    Channel {
        channel: u16,
    },
    /// softnic's own: programs that close everything must not close this.
    Internal,
    /// A uverbs file inherited by fork: the parent's objects are not reachable from here.
    Dead {
        device: u8,
    },
}

impl Tag {
    fn pack(self) -> u32 {
        match self {
            Tag::None => 0,
            Tag::Uverbs { device, context } => 1 << 28 | u32::from(device) << 16 | u32::from(context),
            Tag::Channel { channel } => 2 << 28 | u32::from(channel),
            Tag::Internal => 3 << 28,
            Tag::Dead { device } => 4 << 28 | u32::from(device) << 16,
        }
    }

    fn unpack(word: u32) -> Tag {
        let (device, index) = ((word >> 16) as u8, word as u16);
        match word >> 28 {
            1 => Tag::Uverbs { device, context: index },
            2 => Tag::Channel { channel: index },
            3 => Tag::Internal,
            4 => Tag::Dead { device },
            _ => Tag::None,
        }
    }
}

pub fn get(fd: c_int) -> Tag {
    usize::try_from(fd).ok().and_then(|i| TABLE.get(i)).map_or(Tag::None, |w| Tag::unpack(w.load(Ordering::Acquire)))
}

/// Returns what was there. A descriptor beyond the table can't be tagged: false.
pub fn set(fd: c_int, tag: Tag) -> bool {
    let Some((i, word)) = usize::try_from(fd).ok().and_then(|i| TABLE.get(i).map(|w| (i, w))) else {
        sys::say_once(10, format_args!("descriptor {fd} is too high for softnic, which keeps those below {SLOTS}"));
        return false;
    };
    word.store(tag.pack(), Ordering::Release);
    if tag != Tag::None {
        TOP.fetch_max(i + 1, Ordering::AcqRel);
    }
    true
}

/// Clears and returns the tag in one step, so that two closes of one number can't both have it.
pub fn take(fd: c_int) -> Tag {
    usize::try_from(fd).ok().and_then(|i| TABLE.get(i)).map_or(Tag::None, |w| Tag::unpack(w.swap(0, Ordering::AcqRel)))
}

/// The tagged descriptors in `first..=last`.
pub fn tagged(first: c_int, last: c_int) -> impl Iterator<Item = (c_int, Tag)> {
    let top = TOP.load(Ordering::Acquire) as c_int - 1;
    (first.max(0)..=last.min(top)).filter_map(|fd| match get(fd) {
        Tag::None => None,
        tag => Some((fd, tag)),
    })
}
