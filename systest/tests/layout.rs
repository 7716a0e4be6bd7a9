// SPDX-License-Identifier: MIT OR Apache-2.0
//! Layouts and constants against the headers that `build.rs` found. (Function types were checked when it compiled.)

#[cfg(headers)]
#[allow(clippy::all, clippy::undocumented_unsafe_blocks)] // Generated code that isn't ours.
mod by_ctest {
    use verbena_systest::sys::{efadv::*, ibv::*, rdma_cma::*};

    include!(concat!(env!("OUT_DIR"), "/ctest.rs"));

    pub fn run() {
        main();
    }
}

#[cfg(headers)]
mod own {
    use core::mem::offset_of;
    use verbena_systest::sys::{efadv::*, ibv::*, rdma_cma::*};

    // Its unsafe blocks only name fields of a struct by `&raw const`, in functions that are never called.
    #[allow(clippy::all, clippy::undocumented_unsafe_blocks)]
    mod generated {
        use super::*;
        include!(concat!(env!("OUT_DIR"), "/own.rs"));
    }
    use generated::{COUNT, places};

    #[link(name = "own", kind = "static")]
    unsafe extern "C" {
        static own_offsets: [i64; COUNT];
        static own_sizes: [usize; COUNT];
    }

    fn size_by<S, T>(_: fn(*const S) -> *const T) -> usize {
        size_of::<T>()
    }

    pub fn run() {
        // SAFETY: C's tables are written from the same list, and never change.
        let (offsets, sizes) = unsafe { (&own_offsets, &own_sizes) };
        let mut bad = 0;
        for ((name, offset, size), (c_offset, c_size)) in places().into_iter().zip(offsets.iter().zip(sizes)) {
            if (offset, size) != (*c_offset, *c_size) {
                eprintln!("bad {name}: offset {offset}, size {size} in Rust; {c_offset}, {c_size} in C");
                bad += 1;
            }
        }
        assert_eq!(bad, 0, "fields of src/sys are not where C has them");
        println!("PASSED {COUNT} places in anonymous or longer structs");
    }
}

#[cfg(headers)]
fn main() {
    println!("rdma-core {} headers; they are too old for:", env!("HEADERS_RELEASE"));
    println!("    {}", include_str!(concat!(env!("OUT_DIR"), "/newer.txt")));
    by_ctest::run();
    own::run();
}

#[cfg(not(headers))]
fn main() {
    println!("SKIP layout: no rdma-core headers; install libibverbs-dev");
}
