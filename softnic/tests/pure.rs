// SPDX-License-Identifier: MIT OR Apache-2.0
//! The device model and what it is made of depend on nothing but their arguments: no system, no clock, no threads, no files, no order that
//! differs from run to run. The modules themselves forbid unsafe code, and with it all calls of libc.

#![allow(clippy::disallowed_methods, clippy::disallowed_types, clippy::disallowed_macros)]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use std::path::Path;

const PURE: [&str; 5] = ["model", "kind", "abi", "fault.rs", "profile.rs"];
/// Of std, core and alloc.
const ALLOWED: [&str; 15] = [
    "any",
    "array",
    "borrow",
    "boxed",
    "cmp",
    "collections",
    "fmt",
    "iter",
    "mem",
    "num",
    "ops",
    "slice",
    "str",
    "string",
    "vec",
];
/// The one module that touches memory which others write: it has the atomics that it takes.
const SHARING: &str = "model/window.rs";
/// HashMap and HashSet go through their entries in an order of their own.
const FORBIDDEN: [&str; 6] = ["libc", "unsafe", "extern", "HashMap", "HashSet", "thread_local"];
const MACROS: [&str; 7] = ["print", "println", "eprint", "eprintln", "dbg", "env", "option_env"];

/// What in a source isn't pure.
fn impurities(text: &str) -> Vec<String> {
    let code: Vec<&str> = text.lines().map(|line| line.split("//").next().unwrap_or("")).collect();
    let code = code.join("\n");
    let mut found = Vec::new();
    let mut rest = code.as_str();
    // The word before, if nothing but `::` is between.
    let mut path = "";
    while let Some(start) = rest.find(|c: char| c.is_alphanumeric() || c == '_') {
        let between = rest[..start].trim();
        let joined = between == "::";
        let several = between.starts_with("::") && !joined || between.is_empty() && rest[start..].starts_with("as ");
        if several && ["std", "core", "alloc"].contains(&path) {
            found.push(format!("{path}: not one module of it"));
        }
        rest = &rest[start..];
        let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
        let word = &rest[..end];
        rest = &rest[end..];
        match path {
            "std" | "core" | "alloc" if joined && !ALLOWED.contains(&word) => found.push(format!("{path}::{word}")),
            "crate" if joined && !PURE.iter().any(|p| p.trim_end_matches(".rs") == word) => {
                found.push(format!("crate::{word}"));
            }
            _ if FORBIDDEN.contains(&word) && !joined || MACROS.contains(&word) && rest.starts_with('!') => {
                found.push(word.into())
            }
            _ => {}
        }
        path = word;
    }
    found
}

/// Sources without their tests.
fn visit(path: &Path, seen: &mut usize) {
    if path.is_dir() {
        for entry in std::fs::read_dir(path).unwrap() {
            let entry = entry.unwrap().path();
            if !["tests", "tiny", "tiny.rs"].iter().any(|name| entry.ends_with(name)) {
                visit(&entry, seen);
            }
        }
        return;
    }
    let text = std::fs::read_to_string(path).unwrap();
    let product = text.split("#[cfg(test)]\nmod tests {").next().unwrap();
    let atomics = if path.ends_with(SHARING) { "std::sync::atomic" } else { "" };
    let found = impurities(&product.replace(atomics, ""));
    assert!(found.is_empty(), "{}: {}", path.display(), found.join(", "));
    *seen += 1;
}

#[test]
fn the_model_has_no_world_but_its_host() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut seen = 0;
    for name in PURE {
        visit(&source.join(name), &mut seen);
    }
    assert!(seen > 40, "{seen} files");
    for module in ["model", "kind", "abi"] {
        let text = std::fs::read_to_string(source.join(module).join("mod.rs")).unwrap();
        assert!(text.contains("\n#![forbid(unsafe_code)]\n"), "{module} forbids no unsafe code");
    }
}

#[test]
fn what_is_not_pure_is_found() {
    for text in [
        "use std::fs;",
        "std::time::Instant::now()",
        "use std::{fmt, thread};",
        "use std as s;",
        "let p = ::std::process::id();",
        "use libc::c_int;",
        "core::sync::atomic::AtomicU8",
        "use crate::fabric::Fabric;",
        "use crate::run;",
        "let m: HashMap<u8, u8>;",
        "println!()",
        "env!(\"X\")",
        "let a = std\n    ::env::var(x);",
        "unsafe { f() }",
    ] {
        assert_eq!(impurities(text).len(), 1, "{text}: {:?}", impurities(text));
    }
    for text in [
        "use std::fmt; // std::fs",
        "use crate::abi::env;",
        "use super::env::Nic;",
        "std::mem::take(&mut a)",
        "use crate::model::Device;",
    ] {
        assert!(impurities(text).is_empty(), "{text}: {:?}", impurities(text));
    }
}
