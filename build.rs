// SPDX-License-Identifier: MIT OR Apache-2.0
//! Link flags of the cdylib that cargo makes. The shipped libverbena.so is linked from the archive by scripts/link-so,
//! which adds the version script.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,libverbena.so.0");
    println!("cargo:rustc-cdylib-link-arg=-Wl,-z,nodelete");
}
