// SPDX-License-Identifier: MIT OR Apache-2.0
//! Waiting for something to read from a file descriptor of the kernel's.

use crate::sys::os;

/// How a wait ended without a value.
pub enum Ended {
    /// The time is up.
    Timeout,
    /// The named call failed with this errno.
    Failed(Option<&'static str>, i32),
}

/// Waits until `deadline` (of `os::deadline`) for `fd` to be readable and for `read` to get something from it. `read` answers
/// EAGAIN when another thread was faster, and EINTR at a signal; both mean that the wait goes on.
pub fn for_value<T>(
    fd: i32,
    deadline: Option<i64>,
    mut read: impl FnMut() -> std::result::Result<T, i32>,
) -> std::result::Result<T, Ended> {
    let mut in_vain = false;
    loop {
        // Polled before each read even without time to wait: a descriptor that was adopted may block.
        match os::poll_readable(fd, deadline) {
            Ok(true) => {}
            Ok(false) => return Err(Ended::Timeout),
            Err(errno) => return Err(Ended::Failed(Some("poll"), errno)),
        }
        match read() {
            Ok(value) => return Ok(value),
            Err(libc::EINTR) => {}
            Err(libc::EAGAIN) => {
                // The time is looked at here too, and from the second time on not in a hurry: older kernels show a removed
                // device as readable for ever and then have nothing to read.
                if deadline.is_some_and(|deadline| os::monotonic_ns() >= deadline) {
                    return Err(Ended::Timeout);
                }
                if in_vain {
                    os::sleep_ms(1);
                }
                in_vain = true;
            }
            Err(errno) => return Err(Ended::Failed(None, errno)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_descriptor_that_only_seems_readable_does_not_defeat_the_time_out() {
        let file = std::fs::File::open("/dev/zero").unwrap();
        let fd = std::os::fd::AsRawFd::as_raw_fd(&file);
        let mut reads = 0;
        let ended = for_value::<()>(fd, os::deadline(20_000_000), || {
            reads += 1;
            Err(libc::EAGAIN)
        });
        assert!(matches!(ended, Err(Ended::Timeout)) && (1..=40).contains(&reads), "{reads} reads");
        assert!(matches!(for_value(fd, os::deadline(0), || Ok(7)), Ok(7)));
        let ended = for_value::<()>(fd, None, || Err(libc::EIO));
        assert!(matches!(ended, Err(Ended::Failed(None, libc::EIO))));
    }
}
