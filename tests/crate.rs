// SPDX-License-Identifier: MIT OR Apache-2.0
//! The crate in a Rust program: the functions of the header are there as those of `verbena::capi`, and each thread has its own error.

#![allow(clippy::disallowed_methods, clippy::disallowed_types, clippy::unwrap_used)]

use std::ffi::{CStr, c_char};
use std::mem::zeroed;
use std::ptr;

use verbena::capi::context::vbn_context_open;
use verbena::capi::device::{vbn_device_list, vbn_device_list_reason};
use verbena::capi::error::vbn_error_info;
use verbena::capi::error::vbn_last_error;
use verbena::capi::library::{vbn_library_init, vbn_version_string};
use verbena::core::device::{VBN_REASON_LIBRARY_MISSING, vbn_device_info, vbn_device_list_reason_info};
use verbena::core::library::{VBN_LIBRARY_IBVERBS, vbn_library_attr};
use verbena::core::status::{VBN_ERR_LIBRARY_MISSING, VBN_OK};

fn text(chars: &[c_char]) -> String {
    // SAFETY: the library ends its texts with a zero.
    unsafe { CStr::from_ptr(chars.as_ptr()) }.to_str().unwrap().to_string()
}

/// This thread's.
fn last_error() -> vbn_error_info {
    // SAFETY: zeros are a valid value, and the struct says how long it is.
    unsafe {
        let mut error = vbn_error_info { struct_size: size_of::<vbn_error_info>(), ..zeroed() };
        vbn_last_error(&mut error);
        error
    }
}

#[test]
fn the_version_is_the_packages() {
    // SAFETY: a constant that ends with a zero.
    let version = unsafe { CStr::from_ptr(vbn_version_string()) };
    assert_eq!(version.to_str(), Ok(env!("CARGO_PKG_VERSION")));
}

#[test]
fn without_libibverbs_there_is_a_reason_and_each_thread_has_its_own_error() {
    let path = c"/nowhere/libibverbs.so.1";
    // SAFETY: all-zero structs with their size are the default, and every pointer is to a live value or NULL.
    unsafe {
        let attr = vbn_library_attr {
            struct_size: size_of::<vbn_library_attr>(),
            library: VBN_LIBRARY_IBVERBS,
            path: path.as_ptr(),
            ..zeroed()
        };
        assert_eq!(vbn_library_init(&attr), VBN_OK);
        let mut count = 7;
        assert_eq!(vbn_device_list(ptr::null_mut(), size_of::<vbn_device_info>(), 0, &mut count), VBN_OK);
        assert_eq!(count, 0);
        let size = size_of::<vbn_device_list_reason_info>();
        let mut reason = vbn_device_list_reason_info { struct_size: size, ..zeroed() };
        assert_eq!(vbn_device_list_reason(&mut reason), VBN_OK);
        assert_eq!(reason.reason, VBN_REASON_LIBRARY_MISSING);
        assert!(text(&reason.message).contains("/nowhere/libibverbs.so.1"), "{}", text(&reason.message));

        let mut context = ptr::dangling_mut();
        assert_eq!(vbn_context_open(ptr::null(), ptr::null(), &mut context), VBN_ERR_LIBRARY_MISSING);
        assert!(context.is_null());
    }
    let here = last_error();
    assert_eq!((here.status, text(&here.op_name).as_str()), (VBN_ERR_LIBRARY_MISSING, "vbn_context_open"));
    assert!(text(&here.message).contains("/nowhere/libibverbs.so.1"), "{}", text(&here.message));
    let there = std::thread::spawn(|| last_error().status).join().unwrap();
    assert_eq!((there, last_error().status), (VBN_OK, VBN_ERR_LIBRARY_MISSING));
}
