// SPDX-License-Identifier: MIT OR Apache-2.0
//! exec: same process number, other program. Peers must hear that this one is gone. And `_exit`.

use crate::glue;
use crate::real;
use libc::{c_char, c_int};

type List = *const *const c_char;

/// Leaves the fabric for good if the exec works, else takes it back. In a vfork child nothing happens: the parent lives on.
fn around(exec: impl FnOnce() -> c_int) -> c_int {
    let owner = glue::owner() != 0 && glue::is_owner();
    if owner {
        glue::before_exec();
    }
    let result = exec();
    if owner {
        glue::after_failed_exec();
    }
    result
}

/// Passes by what runs at exit.
///
/// # Safety
/// As in C.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn _exit(status: c_int) -> ! {
    glue::at_quick_exit();
    loop {
        // SAFETY: the process ends here. To look for the C library's own function might not be safe in a signal handler.
        unsafe { libc::syscall(libc::SYS_exit_group, status) };
    }
}

/// # Safety
/// As in C.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn _Exit(status: c_int) -> ! {
    // SAFETY: the same function by another name.
    unsafe { _exit(status) }
}

/// # Safety
/// As in C.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn execve(path: *const c_char, arguments: List, environment: List) -> c_int {
    // SAFETY: the caller's arguments.
    around(|| unsafe { real::execve(path, arguments, environment) })
}

/// # Safety
/// As in C.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn execv(path: *const c_char, arguments: List) -> c_int {
    // SAFETY: the caller's arguments.
    around(|| unsafe { real::execv(path, arguments) })
}

/// # Safety
/// As in C.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn execvp(file: *const c_char, arguments: List) -> c_int {
    // SAFETY: the caller's arguments.
    around(|| unsafe { real::execvp(file, arguments) })
}

/// # Safety
/// As in C.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn execvpe(file: *const c_char, arguments: List, environment: List) -> c_int {
    // SAFETY: the caller's arguments.
    around(|| unsafe { real::execvpe(file, arguments, environment) })
}
