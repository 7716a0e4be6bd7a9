// SPDX-License-Identifier: MIT OR Apache-2.0
//! The program's memory. Memory that was freed while registered gives an error, not a crash: `guard` copies, or else the kernel does.

use crate::{guard, sys};
use libc::{c_int, c_void};
use std::sync::atomic::{AtomicBool, Ordering};

const PAGE: u64 = 4096;

/// process_vm_writev is forbidden in some containers; then /proc/self/mem does it.
static FORBIDDEN: AtomicBool = AtomicBool::new(false);

pub fn read(addr: u64, out: &mut [u8]) -> bool {
    copy_apart(addr, out.as_mut_ptr() as u64, out.len())
}

pub fn write(addr: u64, data: &[u8]) -> bool {
    copy_apart(data.as_ptr() as u64, addr, data.len())
}

/// Both addresses may be bad.
pub fn copy(from: u64, to: u64, length: usize) -> bool {
    if to > from && to - from < length as u64 {
        return copy_up(from, to, length);
    }
    copy_apart(from, to, length)
}

/// The target does not begin within the source: what is softnic's own is no memory of the program's.
fn copy_apart(from: u64, to: u64, length: usize) -> bool {
    guard::copy(from, to, length).unwrap_or_else(|| kernel_copy(from, to, length))
}

/// Overlapping, and the target is higher: from the end, through a buffer.
fn copy_up(from: u64, to: u64, length: usize) -> bool {
    let mut buffer = [0u8; 4096];
    let mut left = length;
    while left > 0 {
        let n = buffer.len().min(left);
        left -= n;
        let Some(piece) = buffer.get_mut(..n) else { return false };
        if !read(from + left as u64, piece) || !write(to + left as u64, piece) {
            return false;
        }
    }
    true
}

#[inline(never)]
fn kernel_copy(from: u64, to: u64, length: usize) -> bool {
    if length == 0 {
        return true;
    }
    if FORBIDDEN.load(Ordering::Relaxed) {
        return slow_copy(from, to, length);
    }
    let mut done = 0usize;
    while done < length {
        let source = libc::iovec { iov_base: (from + done as u64) as *mut c_void, iov_len: length - done };
        let target = libc::iovec { iov_base: (to + done as u64) as *mut c_void, iov_len: length - done };
        // Full words: what lies above a short variadic argument is not zero.
        let (one, none): (libc::c_ulong, libc::c_ulong) = (1, 0);
        let pid = crate::glue::owner();
        // SAFETY: the vectors are on this stack; the addresses in them are checked by the kernel.
        let n = unsafe {
            libc::syscall(libc::SYS_process_vm_writev, pid, &raw const source, one, &raw const target, one, none)
        };
        match usize::try_from(n) {
            Ok(n) if n > 0 => done += n,
            _ if matches!(sys::errno(), libc::EPERM | libc::ENOSYS) => {
                FORBIDDEN.store(true, Ordering::Relaxed);
                return slow_copy(from, to, length);
            }
            _ => return false,
        }
    }
    true
}

/// Touches all pages as a pin would, changing nothing. Before Linux 5.14 only both ends are looked at.
pub fn pin(addr: u64, length: u64, writable: bool) -> bool {
    let within = addr % PAGE;
    let advice = if writable { libc::MADV_POPULATE_WRITE } else { libc::MADV_POPULATE_READ };
    let Some(bytes) = length.checked_add(within) else { return false };
    if populate(addr - within, bytes, advice) {
        return true;
    }
    // The kernel says EINVAL for what it doesn't know as well as for memory without the right.
    let mut byte = [0];
    let known = populate(byte.as_ptr() as u64 / PAGE * PAGE, 1, libc::MADV_POPULATE_READ);
    !known && read(addr, &mut byte) && read(addr.saturating_add(length - 1), &mut byte)
}

fn populate(start: u64, bytes: u64, advice: c_int) -> bool {
    loop {
        // SAFETY: the kernel checks the range, and the bytes stay what they are.
        let result = unsafe { libc::syscall(libc::SYS_madvise, start, bytes, libc::c_long::from(advice)) };
        if result == 0 || !matches!(sys::errno(), libc::EAGAIN | libc::EINTR) {
            return result == 0;
        }
    }
}

fn slow_copy(from: u64, to: u64, length: usize) -> bool {
    // SAFETY: a C string.
    let fd = unsafe {
        libc::syscall(libc::SYS_openat, libc::AT_FDCWD, c"/proc/self/mem".as_ptr(), libc::O_RDWR | libc::O_CLOEXEC, 0)
    } as c_int;
    let mut buffer = [0u8; 4096];
    let mut done = 0usize;
    while done < length && fd >= 0 {
        let n = buffer.len().min(length - done);
        // SAFETY: the buffer holds `n` bytes; the other side is a file offset.
        let moved = unsafe {
            libc::syscall(libc::SYS_pread64, fd, buffer.as_mut_ptr(), n, from + done as u64) == n as libc::c_long
                && libc::syscall(libc::SYS_pwrite64, fd, buffer.as_ptr(), n, to + done as u64) == n as libc::c_long
        };
        if !moved {
            break;
        }
        done += n;
    }
    if fd >= 0 {
        sys::close(fd);
    }
    done == length
}
