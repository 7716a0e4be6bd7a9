// SPDX-License-Identifier: MIT OR Apache-2.0
//! The system calls that the fabric needs, as safe functions. Errors are errno numbers.
//!
//! `libc::syscall` instead of `libc::open` and friends: those names are interposed by the object this code is part of.

use std::ffi::{CStr, CString};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

fn errno() -> i32 {
    std::io::Error::last_os_error().raw_os_error().unwrap_or(libc::EIO)
}

fn checked(result: libc::c_long) -> Result<libc::c_long, i32> {
    if result < 0 { Err(errno()) } else { Ok(result) }
}

/// A path as C wants it.
pub fn c_path(path: &Path) -> Result<CString, i32> {
    CString::new(path.as_os_str().as_bytes()).map_err(|_| libc::EINVAL)
}

/// An open file, closed on drop.
pub struct File(libc::c_int);

/// What the fabric checks of a file.
pub struct Status {
    pub uid: u32,
    pub mode: u32,
    pub size: u64,
    pub inode: u64,
    pub device: u64,
}

impl File {
    /// Never follows a link in the last component, never survives exec.
    pub fn open(path: &CStr, flags: libc::c_int, mode: u32) -> Result<Self, i32> {
        let flags = flags | libc::O_CLOEXEC | libc::O_NOFOLLOW;
        // SAFETY: `path` is a terminated string that lives through the call.
        let fd = unsafe { libc::syscall(libc::SYS_openat, libc::AT_FDCWD, path.as_ptr(), flags, mode) };
        Ok(Self(checked(fd)? as libc::c_int))
    }

    pub fn status(&self) -> Result<Status, i32> {
        // SAFETY: `stat` is plain numbers, for which zero is valid.
        let mut stat: libc::stat = unsafe { std::mem::zeroed() };
        // SAFETY: `stat` has the layout of the kernel's struct on the 64-bit targets this crate is built for.
        checked(unsafe { libc::syscall(libc::SYS_fstat, self.0, &raw mut stat) })?;
        Ok(Status {
            uid: stat.st_uid,
            mode: stat.st_mode,
            size: stat.st_size.unsigned_abs(),
            inode: stat.st_ino,
            device: stat.st_dev,
        })
    }

    pub fn read(&self, buffer: &mut [u8]) -> Result<usize, i32> {
        // SAFETY: the kernel writes at most `buffer.len()` bytes to `buffer`.
        let got = unsafe { libc::syscall(libc::SYS_read, self.0, buffer.as_mut_ptr(), buffer.len()) };
        Ok(checked(got)? as usize)
    }

    /// Bytes that its file system still has; 0 if it does not tell.
    pub fn free_space(&self) -> u64 {
        // SAFETY: `statfs` is plain numbers, for which zero is valid.
        let mut stat: libc::statfs = unsafe { std::mem::zeroed() };
        // SAFETY: `stat` has the layout of the kernel's struct on the 64-bit targets this crate is built for.
        let done = checked(unsafe { libc::syscall(libc::SYS_fstatfs, self.0, &raw mut stat) });
        match (done, u64::try_from(stat.f_bsize)) {
            (Ok(_), Ok(block)) => stat.f_bavail.saturating_mul(block),
            _ => 0,
        }
    }

    /// Gives the range real memory: a page of tmpfs that can't be had later would be a SIGBUS at its first use.
    pub fn reserve(&self, offset: u64, length: u64) -> Result<(), i32> {
        loop {
            // SAFETY: no memory of this process is involved.
            match checked(unsafe { libc::syscall(libc::SYS_fallocate, self.0, 0, offset, length) }) {
                Err(libc::EINTR) => {}
                other => return other.map(|_| ()),
            }
        }
    }

    /// Calls `each` with every name in this directory.
    pub fn names(&self, mut each: impl FnMut(&[u8])) -> Result<(), i32> {
        const NAME: usize = 19;
        let mut buffer = [0u8; 4096];
        loop {
            // SAFETY: the kernel writes at most `buffer.len()` bytes to `buffer`.
            let got = unsafe { libc::syscall(libc::SYS_getdents64, self.0, buffer.as_mut_ptr(), buffer.len()) };
            let mut rest = buffer.get(..checked(got)? as usize).unwrap_or(&[]);
            if rest.is_empty() {
                return Ok(());
            }
            while let Some(&[low, high]) = rest.get(16..18) {
                let length = usize::from(u16::from_ne_bytes([low, high]));
                let (Some(record), Some(next)) = (rest.get(NAME..length), rest.get(length..)) else { break };
                each(record.split(|byte| *byte == 0).next().unwrap_or(&[]));
                rest = next;
            }
        }
    }
}

impl Drop for File {
    fn drop(&mut self) {
        // SAFETY: this value owns the descriptor.
        unsafe { libc::syscall(libc::SYS_close, self.0) };
    }
}

pub fn make_directory(path: &CStr) -> Result<(), i32> {
    // SAFETY: `path` is a terminated string that lives through the call.
    checked(unsafe { libc::syscall(libc::SYS_mkdirat, libc::AT_FDCWD, path.as_ptr(), 0o700) }).map(|_| ())
}

pub fn remove_directory(path: &CStr) -> Result<(), i32> {
    // SAFETY: `path` is a terminated string that lives through the call.
    checked(unsafe { libc::syscall(libc::SYS_unlinkat, libc::AT_FDCWD, path.as_ptr(), libc::AT_REMOVEDIR) }).map(|_| ())
}

pub fn remove_file(path: &CStr) -> Result<(), i32> {
    // SAFETY: `path` is a terminated string that lives through the call.
    checked(unsafe { libc::syscall(libc::SYS_unlinkat, libc::AT_FDCWD, path.as_ptr(), 0) }).map(|_| ())
}

/// A second name for a file; fails with EEXIST instead of replacing.
pub fn link(from: &CStr, to: &CStr) -> Result<(), i32> {
    // SAFETY: both are terminated strings that live through the call.
    checked(unsafe { libc::syscall(libc::SYS_linkat, libc::AT_FDCWD, from.as_ptr(), libc::AT_FDCWD, to.as_ptr(), 0) })
        .map(|_| ())
}

pub fn read_link(path: &CStr, text: &mut [u8]) -> Result<usize, i32> {
    // SAFETY: `path` is a terminated string; the kernel writes at most `text.len()` bytes to `text`.
    let got =
        unsafe { libc::syscall(libc::SYS_readlinkat, libc::AT_FDCWD, path.as_ptr(), text.as_mut_ptr(), text.len()) };
    Ok(checked(got)? as usize)
}

pub fn effective_uid() -> u32 {
    // SAFETY: takes nothing and can't fail.
    unsafe { libc::geteuid() }
}

pub fn process_id() -> u32 {
    // SAFETY: takes nothing and can't fail.
    unsafe { libc::getpid() }.unsigned_abs()
}

/// Whether a process (or a zombie) has this id, as far as signals can tell.
pub fn process_exists(pid: u32) -> bool {
    // SAFETY: signal 0 is only a check.
    pid != 0 && (unsafe { libc::kill(pid as libc::pid_t, 0) } == 0 || errno() != libc::ESRCH)
}

/// A number that differs between two images of one process; 0 where the kernel has none to give.
pub fn random() -> u32 {
    let mut bytes = [0u8; 4];
    // SAFETY: the kernel writes at most four bytes to `bytes`.
    unsafe { libc::syscall(libc::SYS_getrandom, bytes.as_mut_ptr(), bytes.len(), libc::GRND_NONBLOCK) };
    u32::from_ne_bytes(bytes)
}

/// Has the cache line of `at` fetched, which is about to be read.
pub fn prefetch(at: *const u8) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a prefetch never faults.
    unsafe {
        std::arch::x86_64::_mm_prefetch::<{ std::arch::x86_64::_MM_HINT_T0 }>(at.cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = at;
}

/// As `prefetch`, and taken from the other processors, since it is about to be written.
pub fn prefetch_to_write(at: *const u8) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a prefetch never faults. (The intrinsic makes this instruction only where the target is said to have it; others take it for
    // no operation.)
    unsafe {
        std::arch::asm!("prefetchw [{}]", in(reg) at, options(nostack, preserves_flags, readonly));
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = at;
}

/// Milliseconds of a clock that costs a few nanoseconds to read and is exact to about 4 ms.
pub fn coarse_ms() -> u64 {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `now` is a valid place for the result.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC_COARSE, &raw mut now) };
    now.tv_sec.unsigned_abs() * 1000 + now.tv_nsec.unsigned_abs() / 1_000_000
}

/// Sleeps while the word has the value `expected`. False if the time ran out.
pub fn futex_wait(word: &AtomicU32, expected: u32, timeout: Option<Duration>) -> bool {
    let time = timeout.map(|time| libc::timespec {
        tv_sec: libc::time_t::try_from(time.as_secs()).unwrap_or(libc::time_t::MAX),
        tv_nsec: libc::c_long::from(time.subsec_nanos() as i32),
    });
    let time = time.as_ref().map_or(std::ptr::null(), std::ptr::from_ref);
    // SAFETY: the word is in a mapping that `word` keeps borrowed, `time` is null or points to a live timespec. Not
    // FUTEX_PRIVATE: the waker is another process.
    let result = unsafe { libc::syscall(libc::SYS_futex, word.as_ptr(), libc::FUTEX_WAIT, expected, time) };
    result == 0 || errno() != libc::ETIMEDOUT
}

/// Changes the word and wakes all that sleep on it.
pub fn futex_wake(word: &AtomicU32) {
    word.fetch_add(1, Ordering::SeqCst);
    // SAFETY: the word is in a mapping that `word` keeps borrowed; waking touches no memory.
    unsafe { libc::syscall(libc::SYS_futex, word.as_ptr(), libc::FUTEX_WAKE, libc::c_int::MAX) };
}

/// Shared memory of a file, not inherited by fork.
pub struct Mapping {
    base: NonNull<u8>,
    length: usize,
    /// Who mapped it: in a child the range may be something else by now.
    process: u32,
}

// SAFETY: a mapping is an address range that belongs to this value alone; what is shared inside it is atomics or is
// handed over by them.
unsafe impl Send for Mapping {}
// SAFETY: as above; `&Mapping` gives out nothing but its address.
unsafe impl Sync for Mapping {}

impl Mapping {
    pub fn base(&self) -> NonNull<u8> {
        self.base
    }

    /// The first `length` bytes of the file.
    pub fn whole(file: &File, length: usize) -> Result<Self, i32> {
        let mapping = Self::reserve(length)?;
        mapping.place(file, 0, 0, length)?;
        mapping.keep_from_children()?;
        Ok(mapping)
    }

    /// The first `header` bytes and behind them, twice in a row, the `data` bytes that follow in the file: what starts
    /// near the end of the data can be read and written in one piece.
    pub fn with_data_twice(file: &File, header: usize, data: usize) -> Result<Self, i32> {
        let mapping = Self::reserve(header + 2 * data)?;
        mapping.place(file, 0, 0, header + data)?;
        mapping.place(file, header + data, header, data)?;
        mapping.keep_from_children()?;
        Ok(mapping)
    }

    fn reserve(length: usize) -> Result<Self, i32> {
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
        // SAFETY: a new range at an address of the kernel's choice touches no memory in use.
        let base = unsafe { libc::mmap(std::ptr::null_mut(), length, libc::PROT_NONE, flags, -1, 0) };
        if base == libc::MAP_FAILED {
            return Err(errno());
        }
        Ok(Self { base: NonNull::new(base.cast()).ok_or(libc::ENOMEM)?, length, process: process_id() })
    }

    fn place(&self, file: &File, at: usize, offset: usize, length: usize) -> Result<(), i32> {
        let protection = libc::PROT_READ | libc::PROT_WRITE;
        let flags = libc::MAP_SHARED | libc::MAP_FIXED;
        let offset = libc::off_t::try_from(offset).map_err(|_| libc::EINVAL)?;
        if at.checked_add(length).is_none_or(|end| end > self.length) {
            return Err(libc::EINVAL);
        }
        // SAFETY: the range lies inside the reservation of this value (checked above), which nobody else uses.
        let base = unsafe { libc::mmap(self.base.as_ptr().add(at).cast(), length, protection, flags, file.0, offset) };
        if base == libc::MAP_FAILED { Err(errno()) } else { Ok(()) }
    }

    fn keep_from_children(&self) -> Result<(), i32> {
        // SAFETY: the range is this value's own; MADV_DONTFORK changes no byte of it.
        match unsafe { libc::madvise(self.base.as_ptr().cast(), self.length, libc::MADV_DONTFORK) } {
            0 => Ok(()),
            _ => Err(errno()),
        }
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        if process_id() == self.process {
            // SAFETY: the range is this value's own and nothing that borrows from it is left.
            unsafe { libc::munmap(self.base.as_ptr().cast(), self.length) };
        }
    }
}
