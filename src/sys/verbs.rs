// SPDX-License-Identifier: MIT OR Apache-2.0
//! The functions that libibverbs exports, with what is known about each: its versioned name, since which rdma-core it
//! is there, whether anything works without it, and how it reports failure.

use super::ibv::*;
use core::ffi::{CStr, c_char, c_int, c_void};

/// How a function says that it failed; `convert` has a converter for each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Convention {
    /// NULL, the reason in errno.
    NullErrno,
    /// An errno, 0 for success.
    RetErrno,
    /// -1, the reason in errno. Success is a value from 0 up.
    RetMinus1Errno,
    /// A negated errno. Success is a value from 0 up.
    NegErrno,
    /// A negative code of the function's own, the reason in errno.
    NegCode,
    /// A code of the library's own, 0 for success.
    Code,
    /// It doesn't: the value, if any, is the answer.
    Value,
}

/// One exported function.
#[derive(Debug)]
pub struct Symbol {
    /// The name it is exported under.
    pub name: &'static CStr,
    /// Its symbol version: libibverbs has two ABIs under the same names. Empty where a library has none.
    pub version: &'static CStr,
    /// Without it the library can't be used at all.
    pub required: bool,
    /// The rdma-core release that brought it; "12" was the first one. Of another library its name and release.
    pub since: &'static str,
    /// How it says that it failed.
    pub convention: Convention,
}

/// Which symbols of a table a library lacks, by index.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MissingSet(u128);

impl MissingSet {
    /// Nothing is missing.
    pub const fn new() -> Self {
        Self(0)
    }

    /// Adds the symbol at `index`.
    pub fn insert(&mut self, index: usize) {
        self.0 |= 1 << index;
    }

    /// Whether the symbol at `index` is missing.
    pub fn contains(&self, index: usize) -> bool {
        index < u128::BITS as usize && self.0 >> index & 1 == 1
    }

    /// How many are missing.
    pub fn len(&self) -> usize {
        self.0.count_ones() as usize
    }

    /// Whether the library has all of them.
    pub fn is_empty(&self) -> bool {
        self.0 == 0
    }

    /// The missing symbols of `table`, in its order.
    pub fn of(&self, table: &'static [Symbol]) -> impl Iterator<Item = &'static Symbol> + use<> {
        let set = *self;
        table.iter().enumerate().filter(move |(i, _)| set.contains(*i)).map(|(_, symbol)| symbol)
    }
}

/// Makes the table of functions, the list of symbols and the loader out of one list. Each line: field, type, symbol,
/// its version, the first rdma-core release with it, convention.
macro_rules! functions {
    (
        $(#[$doc:meta])*
        $table:ident
        required { $($r:ident: fn($($ra:ty),*) $(-> $rr:ty)?, $rn:literal, $rv:literal, $rs:literal, $rc:ident;)* }
        optional { $($o:ident: fn($($oa:ty),*) $(-> $or:ty)?, $on:literal, $ov:literal, $os:literal, $oc:ident;)* }
    ) => {
        $(#[$doc])*
        #[allow(missing_docs)] // The manual pages are the documentation.
        #[derive(Clone, Copy, Debug)]
        pub struct $table {
            $(pub $r: unsafe extern "C" fn($($ra),*) $(-> $rr)?,)*
            $(pub $o: Option<unsafe extern "C" fn($($oa),*) $(-> $or)?>,)*
        }

        /// All of them, the required ones first.
        pub static SYMBOLS: &[Symbol] = &[
            $(Symbol { name: $rn, version: $rv, required: true, since: $rs, convention: Convention::$rc },)*
            $(Symbol { name: $on, version: $ov, required: false, since: $os, convention: Convention::$oc },)*
        ];

        const _: () = assert!(SYMBOLS.len() <= 128, "MissingSet has a bit for each symbol");

        impl $table {
            /// Looks every symbol up by name and version (NULL: not there). `Err` is the first required one that is
            /// missing; the set has all that are.
            ///
            /// # Safety
            /// What `lookup` returns is NULL or the library's function of that name and version.
            pub unsafe fn load(
                lookup: &mut dyn FnMut(&CStr, &CStr) -> *mut c_void,
            ) -> (Result<$table, &'static Symbol>, MissingSet) {
                let mut missing = MissingSet::new();
                let mut index = 0;
                let mut get = |name, version| {
                    let address = lookup(name, version);
                    if address.is_null() {
                        missing.insert(index);
                    }
                    index += 1;
                    address
                };
                $(let $r = get($rn, $rv);)*
                $(let $o = get($on, $ov);)*
                if let Some(symbol) = missing.of(SYMBOLS).find(|symbol| symbol.required) {
                    return (Err(symbol), missing);
                }
                // SAFETY: addresses of functions with these types, or NULL where the type is an `Option`: no required
                // one is missing.
                let table = unsafe {
                    $table {
                        $($r: core::mem::transmute::<*mut c_void, unsafe extern "C" fn($($ra),*) $(-> $rr)?>($r),)*
                        $($o: core::mem::transmute::<
                            *mut c_void,
                            Option<unsafe extern "C" fn($($oa),*) $(-> $or)?>,
                        >($o),)*
                    }
                };
                (Ok(table), missing)
            }
        }
    };
}
pub(crate) use functions;

functions! {
    /// libibverbs' functions. The names are C's without `ibv_`; `None` where this library has none.
    Verbs
    required {
        get_device_list: fn(*mut c_int) -> *mut *mut ibv_device, c"ibv_get_device_list", c"IBVERBS_1.1", "12", NullErrno;
        free_device_list: fn(*mut *mut ibv_device), c"ibv_free_device_list", c"IBVERBS_1.1", "12", Value;
        get_device_name: fn(*mut ibv_device) -> *const c_char, c"ibv_get_device_name", c"IBVERBS_1.1", "12", Value;
        get_device_guid: fn(*mut ibv_device) -> __be64, c"ibv_get_device_guid", c"IBVERBS_1.1", "12", Value;
        open_device: fn(*mut ibv_device) -> *mut ibv_context, c"ibv_open_device", c"IBVERBS_1.1", "12", NullErrno;
        close_device: fn(*mut ibv_context) -> c_int, c"ibv_close_device", c"IBVERBS_1.1", "12", RetErrno;
        get_async_event: fn(*mut ibv_context, *mut ibv_async_event) -> c_int, c"ibv_get_async_event", c"IBVERBS_1.1", "12", RetMinus1Errno;
        ack_async_event: fn(*mut ibv_async_event), c"ibv_ack_async_event", c"IBVERBS_1.1", "12", Value;
        query_device: fn(*mut ibv_context, *mut ibv_device_attr) -> c_int, c"ibv_query_device", c"IBVERBS_1.1", "12", RetErrno;
        query_port: fn(*mut ibv_context, u8, *mut _compat_ibv_port_attr) -> c_int, c"ibv_query_port", c"IBVERBS_1.1", "12", RetErrno;
        query_gid: fn(*mut ibv_context, u8, c_int, *mut ibv_gid) -> c_int, c"ibv_query_gid", c"IBVERBS_1.1", "12", RetMinus1Errno;
        query_pkey: fn(*mut ibv_context, u8, c_int, *mut __be16) -> c_int, c"ibv_query_pkey", c"IBVERBS_1.1", "12", RetMinus1Errno;
        alloc_pd: fn(*mut ibv_context) -> *mut ibv_pd, c"ibv_alloc_pd", c"IBVERBS_1.1", "12", NullErrno;
        dealloc_pd: fn(*mut ibv_pd) -> c_int, c"ibv_dealloc_pd", c"IBVERBS_1.1", "12", RetErrno;
        reg_mr: fn(*mut ibv_pd, *mut c_void, usize, c_int) -> *mut ibv_mr, c"ibv_reg_mr", c"IBVERBS_1.1", "12", NullErrno;
        reg_mr_iova2: fn(*mut ibv_pd, *mut c_void, usize, u64, u32) -> *mut ibv_mr, c"ibv_reg_mr_iova2", c"IBVERBS_1.8", "28", NullErrno;
        rereg_mr: fn(*mut ibv_mr, c_int, *mut ibv_pd, *mut c_void, usize, c_int) -> c_int, c"ibv_rereg_mr", c"IBVERBS_1.1", "12", NegCode;
        dereg_mr: fn(*mut ibv_mr) -> c_int, c"ibv_dereg_mr", c"IBVERBS_1.1", "12", RetErrno;
        create_comp_channel: fn(*mut ibv_context) -> *mut ibv_comp_channel, c"ibv_create_comp_channel", c"IBVERBS_1.0", "12", NullErrno;
        destroy_comp_channel: fn(*mut ibv_comp_channel) -> c_int, c"ibv_destroy_comp_channel", c"IBVERBS_1.0", "12", RetErrno;
        create_cq: fn(*mut ibv_context, c_int, *mut c_void, *mut ibv_comp_channel, c_int) -> *mut ibv_cq, c"ibv_create_cq", c"IBVERBS_1.1", "12", NullErrno;
        resize_cq: fn(*mut ibv_cq, c_int) -> c_int, c"ibv_resize_cq", c"IBVERBS_1.1", "12", RetErrno;
        destroy_cq: fn(*mut ibv_cq) -> c_int, c"ibv_destroy_cq", c"IBVERBS_1.1", "12", RetErrno;
        get_cq_event: fn(*mut ibv_comp_channel, *mut *mut ibv_cq, *mut *mut c_void) -> c_int, c"ibv_get_cq_event", c"IBVERBS_1.1", "12", RetMinus1Errno;
        ack_cq_events: fn(*mut ibv_cq, u32), c"ibv_ack_cq_events", c"IBVERBS_1.1", "12", Value;
        create_srq: fn(*mut ibv_pd, *mut ibv_srq_init_attr) -> *mut ibv_srq, c"ibv_create_srq", c"IBVERBS_1.1", "12", NullErrno;
        modify_srq: fn(*mut ibv_srq, *mut ibv_srq_attr, c_int) -> c_int, c"ibv_modify_srq", c"IBVERBS_1.1", "12", RetErrno;
        query_srq: fn(*mut ibv_srq, *mut ibv_srq_attr) -> c_int, c"ibv_query_srq", c"IBVERBS_1.1", "12", RetErrno;
        destroy_srq: fn(*mut ibv_srq) -> c_int, c"ibv_destroy_srq", c"IBVERBS_1.1", "12", RetErrno;
        create_qp: fn(*mut ibv_pd, *mut ibv_qp_init_attr) -> *mut ibv_qp, c"ibv_create_qp", c"IBVERBS_1.1", "12", NullErrno;
        modify_qp: fn(*mut ibv_qp, *mut ibv_qp_attr, c_int) -> c_int, c"ibv_modify_qp", c"IBVERBS_1.1", "12", RetErrno;
        query_qp: fn(*mut ibv_qp, *mut ibv_qp_attr, c_int, *mut ibv_qp_init_attr) -> c_int, c"ibv_query_qp", c"IBVERBS_1.1", "12", RetErrno;
        destroy_qp: fn(*mut ibv_qp) -> c_int, c"ibv_destroy_qp", c"IBVERBS_1.1", "12", RetErrno;
        create_ah: fn(*mut ibv_pd, *mut ibv_ah_attr) -> *mut ibv_ah, c"ibv_create_ah", c"IBVERBS_1.1", "12", NullErrno;
        destroy_ah: fn(*mut ibv_ah) -> c_int, c"ibv_destroy_ah", c"IBVERBS_1.1", "12", RetErrno;
        attach_mcast: fn(*mut ibv_qp, *const ibv_gid, u16) -> c_int, c"ibv_attach_mcast", c"IBVERBS_1.1", "12", RetErrno;
        detach_mcast: fn(*mut ibv_qp, *const ibv_gid, u16) -> c_int, c"ibv_detach_mcast", c"IBVERBS_1.1", "12", RetErrno;
        qp_to_qp_ex: fn(*mut ibv_qp) -> *mut ibv_qp_ex, c"ibv_qp_to_qp_ex", c"IBVERBS_1.6", "24", Value;
    }
    optional {
        init_ah_from_wc: fn(*mut ibv_context, u8, *mut ibv_wc, *mut ibv_grh, *mut ibv_ah_attr) -> c_int, c"ibv_init_ah_from_wc", c"IBVERBS_1.1", "12", RetMinus1Errno;
        create_ah_from_wc: fn(*mut ibv_pd, *mut ibv_wc, *mut ibv_grh, u8) -> *mut ibv_ah, c"ibv_create_ah_from_wc", c"IBVERBS_1.1", "12", NullErrno;
        resolve_eth_l2_from_gid: fn(*mut ibv_context, *mut ibv_ah_attr, *mut u8, *mut u16) -> c_int, c"ibv_resolve_eth_l2_from_gid", c"IBVERBS_1.1", "12", NegErrno;
        fork_init: fn() -> c_int, c"ibv_fork_init", c"IBVERBS_1.1", "12", RetErrno;
        node_type_str: fn(ibv_node_type) -> *const c_char, c"ibv_node_type_str", c"IBVERBS_1.1", "12", Value;
        port_state_str: fn(ibv_port_state) -> *const c_char, c"ibv_port_state_str", c"IBVERBS_1.1", "12", Value;
        event_type_str: fn(ibv_event_type) -> *const c_char, c"ibv_event_type_str", c"IBVERBS_1.1", "12", Value;
        wc_status_str: fn(ibv_wc_status) -> *const c_char, c"ibv_wc_status_str", c"IBVERBS_1.1", "12", Value;
        rate_to_mult: fn(ibv_rate) -> c_int, c"ibv_rate_to_mult", c"IBVERBS_1.0", "12", Value;
        mult_to_rate: fn(c_int) -> ibv_rate, c"mult_to_ibv_rate", c"IBVERBS_1.0", "12", Value;
        rate_to_mbps: fn(ibv_rate) -> c_int, c"ibv_rate_to_mbps", c"IBVERBS_1.1", "12", Value;
        mbps_to_rate: fn(c_int) -> ibv_rate, c"mbps_to_ibv_rate", c"IBVERBS_1.1", "12", Value;
        get_pkey_index: fn(*mut ibv_context, u8, __be16) -> c_int, c"ibv_get_pkey_index", c"IBVERBS_1.5", "20", RetMinus1Errno;
        reg_mr_iova: fn(*mut ibv_pd, *mut c_void, usize, u64, c_int) -> *mut ibv_mr, c"ibv_reg_mr_iova", c"IBVERBS_1.7", "25", NullErrno;
        get_device_index: fn(*mut ibv_device) -> c_int, c"ibv_get_device_index", c"IBVERBS_1.9", "30", RetMinus1Errno;
        import_device: fn(c_int) -> *mut ibv_context, c"ibv_import_device", c"IBVERBS_1.10", "31", NullErrno;
        import_pd: fn(*mut ibv_context, u32) -> *mut ibv_pd, c"ibv_import_pd", c"IBVERBS_1.10", "31", NullErrno;
        unimport_pd: fn(*mut ibv_pd), c"ibv_unimport_pd", c"IBVERBS_1.10", "31", Value;
        import_mr: fn(*mut ibv_pd, u32) -> *mut ibv_mr, c"ibv_import_mr", c"IBVERBS_1.10", "31", NullErrno;
        unimport_mr: fn(*mut ibv_mr), c"ibv_unimport_mr", c"IBVERBS_1.10", "31", Value;
        set_ece: fn(*mut ibv_qp, *mut ibv_ece) -> c_int, c"ibv_set_ece", c"IBVERBS_1.10", "31", RetErrno;
        query_ece: fn(*mut ibv_qp, *mut ibv_ece) -> c_int, c"ibv_query_ece", c"IBVERBS_1.10", "31", RetErrno;
        query_gid_ex: fn(*mut ibv_context, u32, u32, *mut ibv_gid_entry, u32, usize) -> c_int, c"_ibv_query_gid_ex", c"IBVERBS_1.11", "32", RetErrno;
        query_gid_table: fn(*mut ibv_context, *mut ibv_gid_entry, usize, u32, usize) -> isize, c"_ibv_query_gid_table", c"IBVERBS_1.11", "32", NegErrno;
        reg_dmabuf_mr: fn(*mut ibv_pd, u64, usize, u64, c_int, c_int) -> *mut ibv_mr, c"ibv_reg_dmabuf_mr", c"IBVERBS_1.12", "34", NullErrno;
        import_dm: fn(*mut ibv_context, u32) -> *mut ibv_dm, c"ibv_import_dm", c"IBVERBS_1.13", "35", NullErrno;
        unimport_dm: fn(*mut ibv_dm), c"ibv_unimport_dm", c"IBVERBS_1.13", "35", Value;
        is_fork_initialized: fn() -> ibv_fork_status, c"ibv_is_fork_initialized", c"IBVERBS_1.13", "35", Value;
        query_qp_data_in_order: fn(*mut ibv_qp, ibv_wr_opcode, u32) -> c_int, c"ibv_query_qp_data_in_order", c"IBVERBS_1.14", "36", Value;
        reg_mr_ex: fn(*mut ibv_pd, *mut ibv_mr_init_attr) -> *mut ibv_mr, c"ibv_reg_mr_ex", c"IBVERBS_1.15", "59", NullErrno;
        alloc_dmah: fn(*mut ibv_context, *mut ibv_dmah_init_attr) -> *mut ibv_dmah, c"ibv_alloc_dmah", c"IBVERBS_1.15", "59", NullErrno;
        dealloc_dmah: fn(*mut ibv_dmah) -> c_int, c"ibv_dealloc_dmah", c"IBVERBS_1.15", "59", RetErrno;
        query_port_speed: fn(*mut ibv_context, u32, *mut u64) -> c_int, c"ibv_query_port_speed", c"IBVERBS_1.16", "62", RetErrno;
        dm_export_dmabuf_fd: fn(*mut ibv_dm) -> c_int, c"ibv_dm_export_dmabuf_fd", c"IBVERBS_1.16", "62", RetMinus1Errno;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    extern "C" fn nothing() {}

    #[test]
    fn reports_every_missing_symbol_and_the_first_required_one() {
        let absent = [c"ibv_reg_dmabuf_mr", c"ibv_open_device", c"ibv_create_qp"];
        let mut lookup = |name: &CStr, _: &CStr| {
            if absent.contains(&name) { core::ptr::null_mut() } else { nothing as *mut c_void }
        };
        // SAFETY: nothing is called.
        let (verbs, missing) = unsafe { Verbs::load(&mut lookup) };
        assert_eq!(verbs.unwrap_err().name, c"ibv_open_device");
        assert_eq!(missing.len(), 3);
        assert!(missing.of(SYMBOLS).map(|s| s.name).eq([c"ibv_open_device", c"ibv_create_qp", c"ibv_reg_dmabuf_mr"]));
    }

    #[test]
    fn the_floor_suffices() {
        let new = |symbol: &&Symbol| symbol.since.parse::<u32>().unwrap() > 33;
        assert!(SYMBOLS.iter().filter(new).all(|symbol| !symbol.required));
        let mut lookup = |name: &CStr, _: &CStr| {
            let symbol = SYMBOLS.iter().find(|symbol| symbol.name == name).unwrap();
            if new(&symbol) { core::ptr::null_mut() } else { nothing as *mut c_void }
        };
        // SAFETY: nothing is called.
        let (verbs, missing) = unsafe { Verbs::load(&mut lookup) };
        let verbs = verbs.unwrap();
        assert!(verbs.reg_dmabuf_mr.is_none() && verbs.query_gid_ex.is_some());
        assert_eq!(missing.len(), SYMBOLS.iter().filter(new).count());
    }
}
