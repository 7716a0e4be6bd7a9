// SPDX-License-Identifier: MIT OR Apache-2.0
//! The modules of `src/sys` under test, as they are. The tests and `build.rs` say what is compared.

#[path = "../../src/sys"]
pub mod sys {
    #[allow(non_camel_case_types, non_snake_case, non_upper_case_globals, missing_docs)]
    pub mod cuda;
    pub mod dl;
    #[allow(non_camel_case_types, non_snake_case, non_upper_case_globals, missing_docs)]
    pub mod efa;
    #[allow(non_camel_case_types, non_snake_case, non_upper_case_globals, missing_docs)]
    pub mod efadv;
    #[allow(non_camel_case_types, non_snake_case, non_upper_case_globals, missing_docs)]
    pub mod ibv;
    #[allow(non_camel_case_types, non_snake_case, non_upper_case_globals, missing_docs)]
    pub mod rdma_cma;
    #[allow(non_camel_case_types, non_snake_case, non_upper_case_globals, missing_docs)]
    pub mod rdmacm;
    pub mod verbs;
}
