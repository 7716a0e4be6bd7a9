// SPDX-License-Identifier: MIT OR Apache-2.0
//! The trace file: one line a call or request, appended by all processes of the run.

use crate::fdtab::{self, Tag};
use crate::sys;
use libc::c_int;
use std::ffi::CString;

pub struct Trace {
    fd: c_int,
    start_us: u64,
}

impl Trace {
    pub fn open(path: &str) -> Option<Trace> {
        let name = CString::new(path).ok()?;
        let flags = libc::O_WRONLY | libc::O_APPEND | libc::O_CREAT | libc::O_CLOEXEC;
        // SAFETY: a C string, flags and a mode.
        let fd = unsafe { libc::syscall(libc::SYS_openat, libc::AT_FDCWD, name.as_ptr(), flags, 0o644) } as c_int;
        if fd < 0 {
            sys::say(format_args!("--trace {path}: {}", std::io::Error::last_os_error()));
            return None;
        }
        let fd = sys::move_high(fd);
        fdtab::set(fd, Tag::Internal);
        Some(Trace { fd, start_us: sys::now_us() })
    }

    pub fn line(&mut self, device: usize, line: &str) {
        let errno = sys::errno();
        let us = sys::now_us().saturating_sub(self.start_us);
        let line =
            format!("{}.{:06} pid {} dev {device} {line}\n", us / 1_000_000, us % 1_000_000, crate::glue::owner());
        sys::write_all(self.fd, line.as_bytes());
        sys::set_errno(errno);
    }
}

impl Drop for Trace {
    fn drop(&mut self) {
        fdtab::set(self.fd, Tag::None);
        sys::close(self.fd);
    }
}
