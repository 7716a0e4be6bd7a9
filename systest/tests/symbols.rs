// SPDX-License-Identifier: MIT OR Apache-2.0
//! The table of functions against the libibverbs that is installed.

use std::{ffi::CStr, fs};
use verbena_systest::sys::{dl, verbs::SYMBOLS, verbs::Verbs};

/// The rdma-core release in the name of the library's file: 44 of `libibverbs.so.1.14.44.0`.
fn release(library: dl::Handle) -> u32 {
    let link = library.path().unwrap().to_str().unwrap();
    let file = fs::canonicalize(link).unwrap();
    let name = file.file_name().unwrap().to_str().unwrap();
    let numbers = name.strip_prefix("libibverbs.so.1.").expect("libibverbs.so.1.X.RELEASE.Y");
    numbers.split('.').nth(1).and_then(|n| n.parse().ok()).expect("a release number")
}

#[test]
fn every_symbol_has_its_version_since_its_release() {
    let Some(library) = dl::open(c"libibverbs.so.1", dl::NOW_LOCAL) else {
        let mut buf = [0; 256];
        println!("SKIP symbols: {}", dl::last_error(&mut buf).to_string_lossy());
        return;
    };
    let installed = release(library);
    let mut wrong = Vec::new();
    for symbol in SYMBOLS {
        let there = !library.vsym(symbol.name, symbol.version).is_null();
        let expected = symbol.since.parse::<u32>().unwrap() <= installed;
        if there != expected {
            wrong.push(format!("{:?}@{:?} since {}: there {there}", symbol.name, symbol.version, symbol.since));
        }
    }
    assert!(wrong.is_empty(), "rdma-core {installed} disagrees:\n{}", wrong.join("\n"));

    let mut lookup = |name: &CStr, version: &CStr| library.vsym(name, version);
    // SAFETY: the symbols of the real library, whose types build.rs compared.
    let (verbs, missing) = unsafe { Verbs::load(&mut lookup) };
    let verbs = verbs.unwrap();
    assert!(missing.iter().all(|symbol| symbol.since.parse::<u32>().unwrap() > installed));
    let status = verbs.wc_status_str.unwrap();
    // SAFETY: any number is allowed; the answer is a static string.
    assert_eq!(unsafe { CStr::from_ptr(status(5)) }, c"Work Request Flushed Error");
}

#[test]
fn the_default_version_is_ours() {
    let Some(library) = dl::open(c"libibverbs.so.1", dl::NOW_LOCAL) else {
        println!("SKIP symbols: no libibverbs.so.1");
        return;
    };
    for symbol in SYMBOLS {
        let ours = library.vsym(symbol.name, symbol.version);
        assert!(ours.is_null() || ours == library.sym(symbol.name), "{:?} has a newer ABI", symbol.name);
    }
}
