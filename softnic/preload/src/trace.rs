// SPDX-License-Identifier: MIT OR Apache-2.0
//! The trace file: one line a call or request, appended by all processes of the run.

use crate::fdtab::{self, Tag};
use crate::sys;
use libc::c_int;
use std::ffi::CString;

pub struct Trace {
    fd: c_int,
    path: String,
    start_us: u64,
}

impl Trace {
    pub fn open(path: &str) -> Option<Trace> {
        let name = CString::new(path).ok()?;
        let flags = libc::O_WRONLY | libc::O_APPEND | libc::O_CREAT | libc::O_CLOEXEC;
        // Not to wait for a reader of a fifo, but for room in it.
        let at_once = flags | libc::O_NONBLOCK;
        // SAFETY: a C string, flags and a mode.
        let fd = unsafe { libc::syscall(libc::SYS_openat, libc::AT_FDCWD, name.as_ptr(), at_once, 0o644) } as c_int;
        if fd < 0 {
            sys::say(format_args!("--trace {path}: {}", std::io::Error::last_os_error()));
            return None;
        }
        // SAFETY: numbers only.
        unsafe { libc::syscall(libc::SYS_fcntl, fd, libc::F_SETFL, libc::O_APPEND) };
        let fd = sys::move_high(fd);
        fdtab::set(fd, Tag::Internal);
        Some(Trace { fd, path: path.to_string(), start_us: sys::now_us() })
    }

    pub fn line(&mut self, device: usize, line: &str) {
        let errno = sys::errno();
        let us = sys::now_us().saturating_sub(self.start_us);
        let line =
            format!("{}.{:06} pid {} dev {device} {line}\n", us / 1_000_000, us % 1_000_000, crate::glue::owner());
        if !sys::write_all(self.fd, line.as_bytes()) {
            let why = sys::why(sys::errno());
            sys::say_once(11, format_args!("--trace {}: {why}: lines of the trace are lost", self.path));
        }
        sys::set_errno(errno);
    }
}

impl Drop for Trace {
    fn drop(&mut self) {
        fdtab::set(self.fd, Tag::None);
        sys::close(self.fd);
    }
}
