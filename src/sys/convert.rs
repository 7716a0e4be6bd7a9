// SPDX-License-Identifier: MIT OR Apache-2.0
//! From a raw C result to a `Result`: one function per `Convention`. libibverbs has several of them, and providers
//! mix them up, so each takes what can't be meant otherwise too: never a success where something negative came back.
//!
//! How to call: `set_errno(0)`, the C function, `errno()` at once, then the converter. `Err` holds an errno above 0;
//! a failure that set none is EIO, so that it can't look like "no error".

use core::ffi::c_int;
use core::ptr::NonNull;

// The numbers of Linux on every architecture that libibverbs supports (asm-generic).
pub(super) const EPERM: c_int = 1;
pub(super) const EIO: c_int = 5;
pub(super) const EINVAL: c_int = 22;
pub(super) const ENOSYS: c_int = 38;
pub(super) const EOPNOTSUPP: c_int = 95;

fn or_eio(errno: c_int) -> i32 {
    if errno > 0 { errno } else { EIO }
}

/// A negative return: -1 means "see errno", anything below is a negated errno.
fn negative(raw: c_int, errno: c_int) -> i32 {
    if raw == -1 { or_eio(errno) } else { raw.checked_neg().unwrap_or(EIO) }
}

/// `NullErrno`: NULL is a failure.
pub fn pointer<T>(raw: *mut T, errno: c_int) -> Result<NonNull<T>, i32> {
    NonNull::new(raw).ok_or(or_eio(errno))
}

/// `RetErrno`: 0, or an errno. Some providers return -1 or a negated errno instead.
#[inline]
pub fn ret_errno(raw: c_int, errno: c_int) -> Result<(), i32> {
    match raw {
        0 => Ok(()),
        1.. => Err(raw),
        _ => Err(negative(raw, errno)),
    }
}

/// `RetMinus1Errno`: a value from 0 up, or -1 and errno. A value below -1 is taken as a negated errno.
pub fn minus1(raw: c_int, errno: c_int) -> Result<c_int, i32> {
    if raw >= 0 { Ok(raw) } else { Err(negative(raw, errno)) }
}

/// `NegErrno`: a value from 0 up, or a negated errno (so -1 is EPERM).
pub fn neg_errno(raw: isize) -> Result<usize, i32> {
    usize::try_from(raw).map_err(|_| raw.checked_neg().and_then(|e| i32::try_from(e).ok()).unwrap_or(EIO))
}

/// `NegCode`: 0, or a negative code of the function's own and errno. `Err` holds both.
pub fn neg_code(raw: c_int, errno: c_int) -> Result<(), (c_int, i32)> {
    if raw == 0 { Ok(()) } else { Err((raw, or_eio(errno))) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errno_is_never_lost_nor_zero() {
        let null = core::ptr::null_mut::<u8>();
        assert_eq!(pointer(null, 12), Err(12));
        assert_eq!(pointer(null, 0), Err(EIO));
        assert!(pointer(NonNull::<u8>::dangling().as_ptr(), 12).is_ok());

        assert_eq!(ret_errno(0, 12), Ok(()));
        assert_eq!(ret_errno(22, 12), Err(22));
        assert_eq!(ret_errno(-1, 12), Err(12));
        assert_eq!(ret_errno(-1, 0), Err(EIO));
        assert_eq!(ret_errno(-22, 12), Err(22));
        assert_eq!(ret_errno(c_int::MIN, 12), Err(EIO));

        assert_eq!(minus1(7, 12), Ok(7));
        assert_eq!(minus1(-1, 12), Err(12));
        assert_eq!(minus1(-110, 12), Err(110));

        assert_eq!(neg_errno(7), Ok(7));
        assert_eq!(neg_errno(-1), Err(EPERM));
        assert_eq!(neg_errno(isize::MIN), Err(EIO));

        assert_eq!(neg_code(0, 12), Ok(()));
        assert_eq!(neg_code(-4, 12), Err((-4, 12)));
        assert_eq!(neg_code(-4, 0), Err((-4, EIO)));
    }
}
