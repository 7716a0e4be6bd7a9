// SPDX-License-Identifier: MIT OR Apache-2.0
//! Paths in sysfs and /dev, written into fixed buffers.

use std::ffi::CStr;
use std::fmt;

use super::text::Writer;

const PATH_SIZE: usize = 320;

/// A path written into a fixed buffer.
pub fn path(write: impl FnOnce(&mut Writer<'_>) -> fmt::Result) -> [u8; PATH_SIZE] {
    let mut buffer = [0; PATH_SIZE];
    // The writer cuts what does not fit; such a path exists nowhere.
    let _ = write(&mut Writer::new(&mut buffer));
    buffer
}

pub fn text_of(path: &[u8; PATH_SIZE]) -> &CStr {
    CStr::from_bytes_until_nul(path).unwrap_or(c"")
}
