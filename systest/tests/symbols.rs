// SPDX-License-Identifier: MIT OR Apache-2.0
//! The tables of functions against the libibverbs, libefa and librdmacm that are installed.

use std::{ffi::CStr, fs};
use verbena_systest::sys::dl;
use verbena_systest::sys::efa::{self, Efa};
use verbena_systest::sys::rdmacm::{self, RdmaCm};
use verbena_systest::sys::verbs::{self, Symbol, Verbs};

/// A library and the rdma-core release in its file's name: 44 of `libibverbs.so.1.14.44.0`. Without one, says so.
fn installed(soname: &CStr) -> Option<(dl::Handle, u32)> {
    let Some(library) = dl::open(soname, dl::NOW_LOCAL) else {
        let mut buf = [0; 256];
        println!("SKIP symbols: {}", dl::last_error(&mut buf).to_string_lossy());
        return None;
    };
    let link = library.path().unwrap().to_str().unwrap();
    let file = fs::canonicalize(link).unwrap();
    let name = file.file_name().unwrap().to_str().unwrap();
    let numbers = name.strip_prefix(soname.to_str().unwrap()).expect("SONAME.X.RELEASE.Y");
    let release = numbers.split('.').nth(2).and_then(|n| n.parse().ok());
    Some((library, release.expect("a release number")))
}

fn since(symbol: &Symbol) -> u32 {
    symbol.since.parse().unwrap()
}

/// Each symbol is there exactly from its release on, and its version is the default one: no newer ABI goes unnoticed.
fn check(table: &[Symbol], library: dl::Handle, release: u32) {
    let mut wrong = Vec::new();
    for symbol in table {
        let ours = library.vsym(symbol.name, symbol.version);
        if ours.is_null() != (since(symbol) > release) {
            wrong.push(format!("{symbol:?}: there {}", !ours.is_null()));
        } else if !ours.is_null() && ours != library.sym(symbol.name) {
            wrong.push(format!("{symbol:?}: not the default version"));
        }
    }
    assert!(wrong.is_empty(), "rdma-core {release} disagrees:\n{}", wrong.join("\n"));
}

#[test]
fn libibverbs() {
    let Some((library, release)) = installed(c"libibverbs.so.1") else { return };
    check(verbs::SYMBOLS, library, release);
    // SAFETY: the symbols of the real library, whose types build.rs compared.
    let (verbs, missing) = unsafe { Verbs::load(&mut |name, version| library.vsym(name, version)) };
    let verbs = verbs.unwrap();
    assert!(missing.of(verbs::SYMBOLS).all(|symbol| since(symbol) > release));
    let status = verbs.wc_status_str.unwrap();
    // SAFETY: any number is allowed; the answer is a static string.
    assert_eq!(unsafe { CStr::from_ptr(status(5)) }, c"Work Request Flushed Error");
}

#[test]
fn libefa() {
    let Some((library, release)) = installed(c"libefa.so.1") else { return };
    check(efa::SYMBOLS, library, release);
    // SAFETY: the symbols of the real library, whose types build.rs compared.
    let (efa, missing) = unsafe { Efa::load(&mut |name, version| library.vsym(name, version)) };
    assert!(efa.is_ok_and(|efa| efa.create_qp_ex.is_some() && efa.query_ah.is_some()));
    assert_eq!(missing.len(), efa::SYMBOLS.iter().filter(|symbol| since(symbol) > release).count());
}

#[test]
fn librdmacm() {
    let Some((library, release)) = installed(c"librdmacm.so.1") else { return };
    check(rdmacm::SYMBOLS, library, release);
    // SAFETY: the symbols of the real library, whose types build.rs compared.
    let (cm, missing) = unsafe { RdmaCm::load(&mut |name, version| library.vsym(name, version)) };
    assert!(cm.is_ok() && missing.is_empty());
}
