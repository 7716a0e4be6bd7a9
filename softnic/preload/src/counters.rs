// SPDX-License-Identifier: MIT OR Apache-2.0
//! The hw_counters files of the run's tree. Each process adds what it counted since its last visit.

use crate::sys;
use libc::c_int;
use std::ffi::CString;
use std::path::{Path, PathBuf};

/// Where one device's files are, and what this process has added to them so far.
pub struct CounterFiles {
    device: PathBuf,
    added: Vec<u64>,
}

impl CounterFiles {
    pub fn new(device: PathBuf) -> CounterFiles {
        CounterFiles { device, added: Vec::new() }
    }

    pub fn update(&mut self, counters: &nic::model::counters::Counters) {
        let mut at = 0;
        counters.each(|name, value| {
            if self.added.len() <= at {
                self.added.push(0);
            }
            let added = self.added.get_mut(at);
            at += 1;
            if let Some(added) = added.filter(|added| **added != value) {
                let place =
                    if nic::run::tree::PORT_COUNTERS.contains(&name) { "ports/1/hw_counters" } else { "hw_counters" };
                if add(&self.device.join(place).join(name), value.wrapping_sub(*added)) {
                    *added = value;
                }
            }
        });
    }
}

fn add(file: &Path, difference: u64) -> bool {
    let Ok(name) = CString::new(file.as_os_str().as_encoded_bytes()) else { return false };
    let errno = sys::errno();
    // SAFETY: a C string and flags.
    let fd = unsafe { libc::syscall(libc::SYS_openat, libc::AT_FDCWD, name.as_ptr(), libc::O_RDWR | libc::O_CLOEXEC) }
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
    let after = format!("{}\n", before.wrapping_add(difference));
    // SAFETY: a live buffer and its length. Counters only grow, so a reader never sees a tail of the old text.
    let n = unsafe { libc::syscall(libc::SYS_pwrite64, fd, after.as_ptr(), after.len(), 0) };
    n == after.len() as libc::c_long
}
