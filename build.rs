// SPDX-License-Identifier: MIT OR Apache-2.0
//! Link flags of the cdylib that cargo makes. The shipped libverbena.so is linked from the archive by scripts/link-so,
//! which adds the version script.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,libverbena.so.0");
    println!("cargo:rustc-cdylib-link-arg=-Wl,-z,nodelete");
    if std::env::var_os("CARGO_FEATURE_LINK_VERBS").is_some() {
        println!("cargo:rustc-cdylib-link-arg=-Wl,--push-state,--no-as-needed,-l:libibverbs.so.1,--pop-state");
    }
}
