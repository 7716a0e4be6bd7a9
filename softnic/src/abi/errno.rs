// SPDX-License-Identifier: MIT OR Apache-2.0
//! Errors of a uverbs call: the errno that the caller gets, and a reason for the trace.

use crate::model::host::Errno;
use std::borrow::Cow;

pub const ENOENT: Errno = 2;
pub const EIO: Errno = 5;
pub const EBADF: Errno = 9;
pub const ENOMEM: Errno = 12;
pub const EFAULT: Errno = 14;
pub const EBUSY: Errno = 16;
pub const EINVAL: Errno = 22;
pub const ENOTTY: Errno = 25;
pub const ENOSPC: Errno = 28;
pub const ENODATA: Errno = 61;
pub const EPROTONOSUPPORT: Errno = 93;
pub const EOPNOTSUPP: Errno = 95;

/// Why a call failed. Without a reason of our own the device said no.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fail {
    pub errno: Errno,
    pub why: Cow<'static, str>,
}

pub type Res<T> = Result<T, Fail>;

/// A failure with a reason.
pub fn fail<T>(errno: Errno, why: impl Into<Cow<'static, str>>) -> Res<T> {
    Err(Fail { errno, why: why.into() })
}

impl From<Errno> for Fail {
    fn from(errno: Errno) -> Self {
        // ENOTTY would turn libibverbs's whole ioctl path off for the context, whatever the device meant by it.
        let errno = if errno == ENOTTY { EOPNOTSUPP } else { errno };
        Fail { errno, why: Cow::Borrowed("refused by the device") }
    }
}

/// The symbol of an errno that a call here can answer.
pub fn errno_name(errno: Errno) -> &'static str {
    match errno {
        1 => "EPERM",
        ENOENT => "ENOENT",
        EIO => "EIO",
        EBADF => "EBADF",
        11 => "EAGAIN",
        ENOMEM => "ENOMEM",
        13 => "EACCES",
        EFAULT => "EFAULT",
        EBUSY => "EBUSY",
        19 => "ENODEV",
        EINVAL => "EINVAL",
        24 => "EMFILE",
        ENOTTY => "ENOTTY",
        ENOSPC => "ENOSPC",
        ENODATA => "ENODATA",
        EPROTONOSUPPORT => "EPROTONOSUPPORT",
        EOPNOTSUPP => "EOPNOTSUPP",
        110 => "ETIMEDOUT",
        _ => "errno",
    }
}
