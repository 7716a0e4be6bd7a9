// SPDX-License-Identifier: MIT OR Apache-2.0
//! The hw_counters files of the run's tree. Each process adds what it counted since its last visit.

use crate::sys;
use libc::c_int;
use nic::kind::Sysfs;
use nic::model::counters::Counters;
use std::ffi::{CStr, CString};
use std::io::Write as _;
use std::path::Path;

/// Where one device's files are, and what this process has added to them so far.
pub struct CounterFiles(Vec<(Option<CString>, u64)>);

impl CounterFiles {
    pub fn new(device: &Path, sysfs: &Sysfs) -> CounterFiles {
        let file = |name: &&str| {
            let path = device.join(sysfs.counter_folder(name)?).join(name);
            CString::new(path.into_os_string().into_encoded_bytes()).ok()
        };
        CounterFiles(Counters::NAMES.iter().map(|name| (file(name), 0)).collect())
    }

    /// Allocates nothing: it may run within a signal handler that ends the process.
    pub fn update(&mut self, counters: &Counters) {
        let mut files = self.0.iter_mut();
        counters.each(|_, value| {
            if let Some((Some(file), added)) = files.next()
                && *added != value
                && add(file, value.wrapping_sub(*added))
            {
                *added = value;
            }
        });
    }
}

fn add(file: &CStr, difference: u64) -> bool {
    let errno = sys::errno();
    // SAFETY: a C string and flags.
    let fd = unsafe { libc::syscall(libc::SYS_openat, libc::AT_FDCWD, file.as_ptr(), libc::O_RDWR | libc::O_CLOEXEC) }
        as c_int;
    let done = fd >= 0 && add_at(fd, difference);
    if fd >= 0 {
        sys::close(fd);
    }
    sys::set_errno(errno);
    done
}

fn add_at(fd: c_int, difference: u64) -> bool {
    let mut text = [0u8; 32];
    // SAFETY: numbers; the lock goes with the descriptor.
    if unsafe { libc::syscall(libc::SYS_flock, fd, libc::LOCK_EX) } != 0 {
        return false;
    }
    // SAFETY: the buffer has 32 bytes.
    let n = unsafe { libc::syscall(libc::SYS_pread64, fd, text.as_mut_ptr(), text.len(), 0) };
    let before = usize::try_from(n).ok().and_then(|n| text.get(..n)).and_then(|t| std::str::from_utf8(t).ok());
    let before: u64 = before.and_then(|t| t.trim().parse().ok()).unwrap_or(0);
    let mut after = [0u8; 32];
    let mut room = after.as_mut_slice();
    if writeln!(room, "{}", before.wrapping_add(difference)).is_err() {
        return false;
    }
    let length = 32 - room.len();
    // SAFETY: a live buffer, and no more than its length. Counters only grow, so a reader never sees a tail of the old text.
    let n = unsafe { libc::syscall(libc::SYS_pwrite64, fd, after.as_ptr(), length, 0) };
    n == length as libc::c_long
}
