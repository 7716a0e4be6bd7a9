// SPDX-License-Identifier: MIT OR Apache-2.0
//! Turns `src/sys` into C that is compiled against the real `infiniband/verbs.h`, `infiniband/efadv.h` and
//! `rdma/rdma_cma.h`:
//! - constants, structs and fields by the `ctest` crate, except the structs that a newer rdma-core made longer;
//! - the longer structs and the parts that are anonymous in C: offsets and sizes, compared by `tests/layout.rs`;
//! - the type of each function in the tables of `verbs.rs`, `efa.rs` and `rdmacm.rs` and of each function pointer in a struct: a
//!   wrong one is a compile error here.
//!
//! What is marked `since N` is left out when the headers are older than N, and named. The headers are those of pkg-config;
//! `SYSTEST_INCLUDE` (a folder) with `SYSTEST_RDMA_CORE` (its release, such as 65) choose others.

#[path = "build/parse.rs"]
mod parse;
#[path = "build/write.rs"]
mod write;

use parse::Source;
use std::{env, fs, path::PathBuf, process::Command};

fn main() {
    println!("cargo::rustc-check-cfg=cfg(headers)");
    for path in [
        "build.rs",
        "build",
        "../src/sys/ibv.rs",
        "../src/sys/ibv",
        "../src/sys/verbs.rs",
        "../src/sys/efadv.rs",
        "../src/sys/efa.rs",
        "../src/sys/rdma_cma.rs",
        "../src/sys/rdmacm.rs",
        "src/types.rs",
    ] {
        println!("cargo::rerun-if-changed={path}");
    }
    println!("cargo::rerun-if-env-changed=SYSTEST_INCLUDE");
    println!("cargo::rerun-if-env-changed=SYSTEST_RDMA_CORE");
    let Some((release, includes)) = headers() else {
        println!("cargo::warning=no rdma-core headers (libibverbs-dev): layouts are not checked");
        return;
    };
    println!("cargo::rustc-cfg=headers");
    println!("cargo::rustc-env=HEADERS_RELEASE={release}");

    let source = Source::read(release);
    let out = PathBuf::from(env::var("OUT_DIR").unwrap());
    fs::write(out.join("newer.txt"), source.newer().join(" ")).unwrap();
    fs::write(out.join("own.c"), write::c(&source)).unwrap();
    fs::write(out.join("own.rs"), write::rust(&source)).unwrap();
    cc::Build::new()
        .file(out.join("own.c"))
        .includes(&includes)
        .flag("-Werror=incompatible-pointer-types")
        .flag("-Werror")
        .compile("own");
    run_ctest(source, &includes);
}

/// The release of the headers and the folders to look for them in.
fn headers() -> Option<(u32, Vec<String>)> {
    if let Ok(dir) = env::var("SYSTEST_INCLUDE") {
        let release = env::var("SYSTEST_RDMA_CORE").expect("SYSTEST_INCLUDE needs SYSTEST_RDMA_CORE, the release");
        return Some((release.parse().expect("SYSTEST_RDMA_CORE is a number such as 65"), vec![dir]));
    }
    let ask = |what| {
        let out = Command::new("pkg-config").args([what, "libibverbs"]).output().ok()?;
        out.status.success().then(|| String::from_utf8(out.stdout).unwrap())
    };
    // "1.14.44.0": libibverbs' own number, then rdma-core's.
    let release = ask("--modversion")?.trim().split('.').nth(2)?.parse().ok()?;
    let includes = ask("--cflags-only-I")?;
    Some((release, includes.split_whitespace().map(|dir| dir.trim_start_matches("-I").to_owned()).collect()))
}

/// C names of fields that are called otherwise in Rust.
fn c_field(rust: &str) -> Option<String> {
    match rust {
        "imm_or_rkey" => Some("imm_data".to_owned()),
        "ext" => Some("bind_mw".to_owned()),
        _ => rust.strip_prefix("r#").map(str::to_owned),
    }
}

fn run_ctest(source: Source, includes: &[String]) {
    let mut cfg = ctest::TestGenerator::new();
    cfg.header("infiniband/verbs.h").header("infiniband/efadv.h").header("rdma/rdma_cma.h").edition(2024);
    for dir in includes {
        cfg.include(dir);
    }
    let source: &'static Source = Box::leak(Box::new(source));
    cfg.rename_type(|ty| source.integer(ty));
    cfg.rename_alias(|alias| Some(format!("enum {}", alias.ident())));
    cfg.rename_struct_ty(|ty| ty.starts_with("pthread_").then(|| ty.to_owned()));
    cfg.rename_struct_field(|_, field| c_field(field.ident()));
    // Not a C enum, or one that C itself passes as another integer.
    cfg.skip_alias(|alias| !source.is_c_enum(alias.ident()));
    cfg.skip_const(|constant| source.is_newer(constant.ident()) || constant.ident() == "__VERBS_ABI_IS_EXTENDED");
    cfg.skip_struct(|s| source.is_newer(s.ident()) || !source.is_whole(s.ident()));
    cfg.skip_union(|u| u.ident() != "ibv_gid");
    // Unions have no name in C, or ctest takes them for structs: `own.c` looks at them.
    cfg.skip_struct_field_type(|s, f| source.field_is_nameless(s.ident(), f.ident()));
    cfg.skip_union_field_type(|_, f| f.ident() == "global");
    cfg.skip_struct_field(|s, f| f.ident() == "ext" && s.ident() == "ibv_send_wr");
    // It returns big structs by value and writes patterns into their padding: without a meaning for these.
    cfg.skip_roundtrip(|ty| ty.starts_with("pthread_"));
    ctest::generate_test(&mut cfg, "src/types.rs", "ctest.rs").unwrap();
}
