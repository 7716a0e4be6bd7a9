// SPDX-License-Identifier: MIT OR Apache-2.0
//! Why a process could not join the fabric.

use std::fmt;

/// An errno number and a sentence that names the value, the limit and the remedy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Error {
    pub errno: i32,
    pub message: String,
}

impl Error {
    pub(super) fn new(errno: i32, message: impl Into<String>) -> Self {
        Self { errno, message: message.into() }
    }

    /// For a system call that failed while doing `what`.
    pub(super) fn call(errno: i32, what: impl fmt::Display) -> Self {
        Self::new(errno, format!("{what}: {}", std::io::Error::from_raw_os_error(errno)))
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Error {}
