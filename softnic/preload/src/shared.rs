// SPDX-License-Identifier: MIT OR Apache-2.0
//! The memfd of a context, mapped once. The provider maps pieces of it by itself; a piece's offset is its mmap key.

use crate::sys;
use libc::c_int;
use nic::model::host::Errno;
use nic::model::window::Window;
use std::collections::HashMap;
use std::collections::VecDeque;
use std::ffi::CString;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// The first that the limits of the process allow (`ulimit -v`, `ulimit -f`). Sparse: only pages that are touched cost memory.
pub const SIZES: [u64; 3] = [4 << 30, 256 << 20, 32 << 20];
const PAGE: u64 = 4096;
/// Freed pieces of one size that rest before the oldest is used again: providers unmap after the destroy call.
const RESTING: usize = 64;

pub struct Shared {
    mapping: Arc<Mapping>,
    /// Of the memfd: by it a descriptor is recognised that came by another way than open and dup.
    pub inode: u64,
    next: u64,
    free: HashMap<u64, VecDeque<u64>>,
}

struct Mapping {
    base: *mut u8,
    size: u64,
}

// SAFETY: the mapping belongs to the process; all access goes through the state's lock.
unsafe impl Send for Mapping {}
// SAFETY: as above.
unsafe impl Sync for Mapping {}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: nobody else has pointers into this mapping; the provider's own mappings are others.
        unsafe { libc::munmap(self.base.cast(), self.size as usize) };
    }
}

impl Mapping {
    /// What the limits allow of a new file, or the call that failed for the least.
    fn largest(fd: c_int) -> Result<Mapping, (&'static str, Errno)> {
        let mut made = Err(("mmap", libc::ENOMEM));
        for size in SIZES {
            made = Mapping::of(fd, size);
            if made.is_ok() {
                break;
            }
        }
        made
    }

    /// Gives the file its size and maps it.
    fn of(fd: c_int, size: u64) -> Result<Mapping, (&'static str, Errno)> {
        if size > longest_file() {
            return Err(("ftruncate", libc::EFBIG));
        }
        // SAFETY: numbers only.
        if unsafe { libc::ftruncate(fd, size as libc::off_t) } != 0 {
            return Err(("ftruncate", sys::errno()));
        }
        let protection = libc::PROT_READ | libc::PROT_WRITE;
        let flags = libc::MAP_SHARED | libc::MAP_NORESERVE;
        // SAFETY: a fresh mapping of the new file.
        let base = unsafe { libc::mmap(std::ptr::null_mut(), size as usize, protection, flags, fd, 0) };
        if base == libc::MAP_FAILED {
            return Err(("mmap", sys::errno()));
        }
        // SAFETY: the mapping just made. A forked child has no device.
        unsafe { libc::madvise(base, size as usize, libc::MADV_DONTFORK) };
        Ok(Mapping { base: base.cast(), size })
    }
}

/// A longer one ends the process by a signal.
fn longest_file() -> u64 {
    let mut limit = libc::rlimit { rlim_cur: libc::RLIM_INFINITY, rlim_max: libc::RLIM_INFINITY };
    // SAFETY: `limit` is a live struct.
    unsafe { libc::getrlimit(libc::RLIMIT_FSIZE, &mut limit) };
    limit.rlim_cur
}

/// A word that is looked at all the time. It keeps the memory mapped.
pub struct Word {
    at: *const AtomicU32,
    _mapping: Arc<Mapping>,
}

// SAFETY: as for `Mapping`.
unsafe impl Send for Word {}

impl Word {
    pub fn load(&self) -> u32 {
        // SAFETY: aligned and within the mapping, which `self` keeps.
        unsafe { &*self.at }.load(Ordering::Acquire)
    }
}

impl Shared {
    /// The memfd that becomes the program's uverbs descriptor, and its mapping.
    pub fn create(device: usize, cloexec: bool) -> Result<(c_int, Shared), Errno> {
        let flags = if cloexec { libc::MFD_CLOEXEC } else { 0 };
        let name = CString::new(format!("softnic-uverbs-{device}")).unwrap_or_default();
        // SAFETY: a C string and flags.
        let fd = unsafe { libc::syscall(libc::SYS_memfd_create, name.as_ptr(), flags) } as c_int;
        if fd < 0 {
            let errno = sys::errno();
            sys::say_once(12, format_args!("can't open a device: memfd_create: {}", sys::why(errno)));
            return Err(errno);
        }
        let inode = sys::inode(fd);
        let mapping = Mapping::largest(fd).map_err(|(call, errno)| {
            sys::close(fd);
            let [.., least] = SIZES.map(|size| size >> 20);
            let why = sys::why(errno);
            sys::say_once(
                13,
                format_args!(
                    "can't open a device: {call} of {least} MiB: {why}; raise the limits (ulimit -v, ulimit -f)"
                ),
            );
            errno
        })?;
        // Offset 0 stays unused: a key of 0 would look like "none".
        Ok((fd, Shared { mapping: Arc::new(mapping), inode, next: PAGE, free: HashMap::new() }))
    }

    pub fn alloc(&mut self, bytes: u64) -> Option<u64> {
        let bytes = bytes.max(1).checked_next_multiple_of(PAGE)?;
        if let Some(rested) = self.free.get_mut(&bytes)
            && (rested.len() > RESTING || self.next.checked_add(bytes)? > self.mapping.size)
            && let Some(offset) = rested.pop_front()
        {
            return Some(offset);
        }
        let end = self.next.checked_add(bytes)?;
        if end > self.mapping.size {
            let has = self.mapping.size >> 20;
            let limits = if SIZES.first() == Some(&self.mapping.size) { "" } else { " (see ulimit -v, ulimit -f)" };
            sys::say_once(14, format_args!("the {has} MiB for a context's queues are used up{limits}"));
            return None;
        }
        Some(std::mem::replace(&mut self.next, end))
    }

    pub fn free(&mut self, offset: u64, bytes: u64) {
        let bytes = bytes.max(1).next_multiple_of(PAGE);
        if !offset.is_multiple_of(PAGE) {
            return;
        }
        if let Some(start) = self.at(offset, bytes) {
            // SAFETY: within the mapping; the pages go back to the system and read as zeros from now on.
            unsafe { libc::madvise(start.cast(), bytes as usize, libc::MADV_REMOVE) };
            self.free.entry(bytes).or_default().push_back(offset);
        }
    }

    fn at(&self, offset: u64, bytes: u64) -> Option<*mut u8> {
        let end = offset.checked_add(bytes)?;
        // SAFETY: the sum stays within the mapping.
        (end <= self.mapping.size).then(|| unsafe { self.mapping.base.add(offset as usize) })
    }

    fn word32(&self, offset: u64) -> Option<&AtomicU32> {
        let at = self.at(offset, 4).filter(|p| p.cast::<u32>().is_aligned())?;
        // SAFETY: aligned, within the mapping, which lives as long as self; the program is a concurrent writer.
        Some(unsafe { AtomicU32::from_ptr(at.cast()) })
    }

    pub fn word(&self, offset: u64) -> Option<Word> {
        Some(Word { at: self.word32(offset)?, _mapping: Arc::clone(&self.mapping) })
    }

    /// All of the memory, for the device.
    pub fn window(&self) -> Window<'_> {
        let words = self.mapping.size as usize / size_of::<AtomicU64>();
        // SAFETY: the mapping begins at a page, has so many words, and lives as long as self; the program is a concurrent writer.
        Window::new(unsafe { std::slice::from_raw_parts(self.mapping.base.cast::<AtomicU64>(), words) })
    }
}
