// SPDX-License-Identifier: MIT OR Apache-2.0
//! errno, messages, and the system calls softnic makes for itself: straight to the kernel, past its own hooks.

use libc::c_int;
use std::ffi::CStr;
use std::sync::atomic::{AtomicU64, Ordering};

pub fn errno() -> c_int {
    // SAFETY: glibc's errno location is valid in every thread.
    unsafe { *libc::__errno_location() }
}

pub fn set_errno(value: c_int) {
    // SAFETY: as in `errno`.
    unsafe { *libc::__errno_location() = value }
}

/// Sets errno and returns -1, the way a failed call of the C library ends.
pub fn fail(errno: c_int) -> c_int {
    set_errno(errno);
    -1
}

pub fn close(fd: c_int) -> c_int {
    // SAFETY: closing a number has no memory effect.
    unsafe { libc::syscall(libc::SYS_close, fd) as c_int }
}

/// For cleaning up behind an error that is told already.
pub fn close_quietly(fd: c_int) {
    close(fd);
}

pub fn pid() -> u32 {
    // SAFETY: no arguments. A raw call: a vfork or clone child must see its own number.
    unsafe { libc::syscall(libc::SYS_getpid) as u32 }
}

/// 0 if the descriptor is not open.
pub fn inode(fd: c_int) -> u64 {
    // SAFETY: an all-zero stat is a valid value.
    let mut stat: libc::stat = unsafe { std::mem::zeroed() };
    // SAFETY: the struct is live, the path a C string.
    let result = unsafe { crate::real::fstatat(fd, c"".as_ptr(), &mut stat, libc::AT_EMPTY_PATH) };
    if result == 0 { stat.st_ino } else { 0 }
}

/// What /proc says that a descriptor leads to.
pub fn link_of(fd: c_int, room: &mut [u8]) -> Option<usize> {
    read_link(&std::ffi::CString::new(format!("/proc/self/fd/{fd}")).ok()?, room)
}

/// How long the text is that a link holds.
pub fn read_link(path: &CStr, room: &mut [u8]) -> Option<usize> {
    // SAFETY: a C string, and a buffer with its size.
    let n =
        unsafe { libc::syscall(libc::SYS_readlinkat, libc::AT_FDCWD, path.as_ptr(), room.as_mut_ptr(), room.len()) };
    usize::try_from(n).ok()
}

/// A copy of `fd` above what programs usually choose themselves, or as high as the limit of descriptors allows, close-on-exec.
pub fn copy_high(fd: c_int) -> Result<c_int, c_int> {
    for base in [700, 200, 64, 32, 16, 0] {
        // SAFETY: numbers only.
        let high = unsafe { libc::syscall(libc::SYS_fcntl, fd, libc::F_DUPFD_CLOEXEC, base) } as c_int;
        if high >= 0 {
            return Ok(high);
        }
    }
    Err(errno())
}

/// The same, of one that is not needed any more.
pub fn move_high(fd: c_int) -> c_int {
    let Ok(high) = copy_high(fd) else { return fd };
    close(fd);
    high
}

pub fn write_all(fd: c_int, mut bytes: &[u8]) -> bool {
    while !bytes.is_empty() {
        // SAFETY: the pointer and length are those of a live slice.
        let n = unsafe { libc::syscall(libc::SYS_write, fd, bytes.as_ptr(), bytes.len()) };
        match usize::try_from(n) {
            Ok(n) if n > 0 => bytes = bytes.get(n..).unwrap_or_default(),
            Err(_) if errno() == libc::EINTR => {}
            _ => return false,
        }
    }
    true
}

/// What errno says, in words.
pub fn why(errno: c_int) -> std::io::Error {
    std::io::Error::from_raw_os_error(errno)
}

/// One line on stderr, in one write.
pub fn say(text: std::fmt::Arguments<'_>) {
    let errno = errno();
    write_all(2, format!("softnic: {text}\n").as_bytes());
    set_errno(errno);
}

/// The same, once for each `flag` bit: a program that polls in a loop must not flood the terminal.
pub fn say_once(bit: u32, text: std::fmt::Arguments<'_>) {
    static SAID: AtomicU64 = AtomicU64::new(0);
    let mask = 1u64 << (bit & 63);
    if SAID.fetch_or(mask, Ordering::Relaxed) & mask == 0 {
        say(text);
    }
}

/// Each pass asks: it is the clock that costs a fifth of the exact one, and is up to some milliseconds behind it.
pub fn now_ms() -> u64 {
    read_clock(libc::CLOCK_MONOTONIC_COARSE) / 1000
}

pub fn now_us() -> u64 {
    read_clock(libc::CLOCK_MONOTONIC)
}

fn read_clock(clock: libc::clockid_t) -> u64 {
    // SAFETY: an all-zero timespec is a valid value.
    let mut t: libc::timespec = unsafe { std::mem::zeroed() };
    // SAFETY: `t` is a live timespec.
    unsafe { libc::clock_gettime(clock, &mut t) };
    (t.tv_sec as u64).wrapping_mul(1_000_000).wrapping_add(t.tv_nsec as u64 / 1000)
}
