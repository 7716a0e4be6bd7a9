// SPDX-License-Identifier: MIT OR Apache-2.0
//! The outside world as it is: types and symbols of libibverbs and of GPU libraries, the dynamic linker, the operating system. No logic,
//! and no allocation. `inline` has the headers' inline functions of windows, device memory, extended
//! queues and the like too, which have no caller yet.

pub mod convert;
#[allow(non_camel_case_types, non_snake_case, non_upper_case_globals, missing_docs)] // C's names; C's header explains.
pub mod cuda;
pub mod dl;
#[allow(non_camel_case_types, non_snake_case, non_upper_case_globals, missing_docs)] // C's names; C's header explains.
pub mod efa;
#[allow(non_camel_case_types, non_snake_case, non_upper_case_globals, missing_docs)] // C's names; C's header explains.
pub mod efadv;
#[allow(non_camel_case_types, non_snake_case, non_upper_case_globals, missing_docs)] // C's names; C's header explains.
pub mod ibv;
pub mod inline;
mod note;
pub mod os;
#[allow(non_camel_case_types, non_snake_case, non_upper_case_globals, missing_docs)] // C's names; C's header explains.
pub mod rdma_cma;
#[allow(non_camel_case_types, non_snake_case, non_upper_case_globals, missing_docs)] // C's names; C's header explains.
pub mod rdmacm;
#[allow(non_camel_case_types, non_snake_case, non_upper_case_globals, missing_docs)] // C's names; C's header explains.
pub mod rocm;
pub mod verbs;
