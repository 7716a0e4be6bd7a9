// SPDX-License-Identifier: MIT OR Apache-2.0
//! What few queue pairs have: vendor options that two sides agree on, a rate limit, and data that arrives in order.

use super::cold::cold_structs;
use super::error::{Error, Reason, Result};
use super::qp::Qp;
use super::status::*;
use crate::sys::ibv::*;
use crate::sys::inline;

/// Vendor options of a connection ("enhanced connection establishment"), which both sides must know.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct vbn_ece {
    /// sizeof(vbn_ece).
    pub struct_size: usize,
    /// Whose options they are; 0: none.
    pub vendor_id: u32,
    /// The vendor's bits.
    pub options: u32,
    /// The vendor's, too; so far 0.
    pub comp_mask: u32,
    /// 0.
    pub reserved0: u32,
}

/// What `vbn_qp_modify_rate_limit` is told.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct vbn_qp_rate_limit_attr {
    /// sizeof(vbn_qp_rate_limit_attr).
    pub struct_size: usize,
    /// In kbit/s, between rate_limit_min and rate_limit_max of vbn_context_query_device; 0: none.
    pub rate_limit: u32,
    /// Bytes that may go out at once; 0: the device's choice.
    pub max_burst_sz: u32,
    /// Size of most packets in bytes; 0: unknown.
    pub typical_pkt_sz: u16,
    /// Must be 0.
    pub reserved0: u16,
    /// Must be 0.
    pub reserved1: u32,
}
cold_structs!(vbn_ece, vbn_qp_rate_limit_attr);

/// `flags` of vbn_qp_data_in_order: ask for the device's part alone, whatever the processor may reorder (rdma-core 60).
pub const VBN_IN_ORDER_DEVICE_ONLY: u32 = 2;
/// `*caps_out` of vbn_qp_data_in_order: all bytes of a message are visible in order: who sees the last one sees all.
pub const VBN_IN_ORDER_WHOLE_MSG: u32 = 1;
/// `*caps_out` of vbn_qp_data_in_order: so are those of each aligned block of 128 bytes.
pub const VBN_IN_ORDER_ALIGNED_128_BYTES: u32 = 2;

/// Opcodes that libibverbs has numbers for.
const OPCODES: u32 = IBV_WR_ATOMIC_WRITE;

impl Qp {
    /// The options that the queue pair has, or offers.
    pub fn ece(&self) -> Result<vbn_ece> {
        let query = self.device().verbs().query_ece.ok_or(symbol("ibv_query_ece", "31"))?;
        let mut ece = ibv_ece::zeroed();
        // SAFETY: the queue pair is live, and the struct is ours.
        let asked = self.device().ret("ibv_query_ece", || unsafe { query(self.native(), &mut ece) });
        asked.map_err(|error| if error.errno == libc::EOPNOTSUPP { error.hint(NO_ECE) } else { error })?;
        Ok(vbn_ece {
            struct_size: size_of::<vbn_ece>(),
            vendor_id: ece.vendor_id,
            options: ece.options,
            comp_mask: ece.comp_mask,
            reserved0: 0,
        })
    }

    /// Takes over options that the peer has offered or chosen.
    pub fn set_ece(&self, ece: &vbn_ece) -> Result<()> {
        if ece.reserved0 != 0 {
            return Err(Error::range("reserved0", ece.reserved0.into(), "0"));
        }
        if ece.vendor_id == 0 {
            return Err(Error::text(VBN_ERR_ARGUMENT, "vendor_id is 0, so the peer offers no options")
                .hint("don't set any: both sides then do without"));
        }
        let set = self.device().verbs().set_ece.ok_or(symbol("ibv_set_ece", "31"))?;
        let mut native = ibv_ece { vendor_id: ece.vendor_id, options: ece.options, comp_mask: ece.comp_mask };
        // SAFETY: the queue pair is live, and the struct is ours.
        self.device().ret("ibv_set_ece", || unsafe { set(self.native(), &mut native) }).map_err(|error| {
            match error.errno {
                libc::EOPNOTSUPP => error.hint(NO_ECE),
                libc::EINVAL => {
                    error.hint("the options are another vendor's or unknown here, or the queue pair is past INIT")
                }
                _ => error,
            }
        })
    }

    /// In which order the data of an opcode becomes visible in memory: VBN_IN_ORDER_*.
    pub fn data_in_order(&self, opcode: u32, flags: u32) -> Result<u32> {
        if opcode > OPCODES {
            return Err(Error::range("opcode", opcode.into(), "one of VBN_WR_* that libibverbs has, too"));
        }
        if flags & !VBN_IN_ORDER_DEVICE_ONLY != 0 {
            return Err(Error::unknown_bits("flags", flags.into(), VBN_IN_ORDER_DEVICE_ONLY.into()));
        }
        let verbs = self.device().verbs();
        let query = verbs.query_qp_data_in_order.ok_or(symbol("ibv_query_qp_data_in_order", "36"))?;
        // SAFETY: the queue pair is live.
        let ask = |flags| unsafe { query(self.native(), opcode, flags) as u32 };
        let mut caps = ask(flags | IBV_QUERY_QP_DATA_IN_ORDER_RETURN_CAPS) & KNOWN;
        // Before rdma-core 46 there were no flags, and an unknown one means "no".
        if caps == 0 && ask(flags) != 0 {
            caps = VBN_IN_ORDER_WHOLE_MSG;
        }
        if caps & VBN_IN_ORDER_WHOLE_MSG != 0 {
            caps |= VBN_IN_ORDER_ALIGNED_128_BYTES;
        }
        Ok(caps)
    }

    /// Limits how fast the queue pair sends.
    pub fn modify_rate_limit(&self, attr: &vbn_qp_rate_limit_attr) -> Result<()> {
        if attr.reserved0 != 0 || attr.reserved1 != 0 {
            return Err(Error::text(VBN_ERR_ARGUMENT, "reserved0 and reserved1 must be 0"));
        }
        let context = self.device();
        if attr.rate_limit != 0 {
            // A device that tells no limits has its driver check.
            let device = context.query_device()?;
            let (rate, least, most) = (attr.rate_limit, device.rate_limit_min, device.rate_limit_max);
            if most != 0 && rate > most {
                return Err(Error::limit("rate_limit", rate.into(), most.into()).on(context.name()));
            }
            if rate < least {
                let below = Error::new(VBN_ERR_LIMIT, Reason::Below("rate_limit")).value(rate.into(), least.into());
                return Err(below.on(context.name()));
            }
        }
        let mut native = ibv_qp_rate_limit_attr {
            rate_limit: attr.rate_limit,
            max_burst_sz: attr.max_burst_sz,
            typical_pkt_sz: attr.typical_pkt_sz,
            comp_mask: 0,
        };
        // SAFETY: the queue pair is live, and the struct is ours.
        let done = context
            .ret("ibv_modify_qp_rate_limit", || unsafe { inline::modify_qp_rate_limit(self.native(), &mut native) });
        done.map_err(|error| match error.errno {
            libc::EOPNOTSUPP => error.hint("the device has no rate limit for this type of queue pair: pace the posts"),
            libc::EINVAL => {
                error.hint("a rate limit can be set from RTR on, or the device has no such burst or packet size")
            }
            _ => error,
        })
    }
}

const KNOWN: u32 = VBN_IN_ORDER_WHOLE_MSG | VBN_IN_ORDER_ALIGNED_128_BYTES;
const NO_ECE: &str = "the device has no vendor options to agree on: connect without";

const fn symbol(name: &'static str, since: &'static str) -> Error {
    Error::new(VBN_ERR_SYMBOL_MISSING, Reason::Symbol(name, since)).hint("update rdma-core")
}

const _: () = {
    assert!(VBN_IN_ORDER_DEVICE_ONLY == IBV_QUERY_QP_DATA_IN_ORDER_DEVICE_ONLY);
    assert!(VBN_IN_ORDER_WHOLE_MSG == IBV_QUERY_QP_DATA_IN_ORDER_WHOLE_MSG);
    assert!(VBN_IN_ORDER_ALIGNED_128_BYTES == IBV_QUERY_QP_DATA_IN_ORDER_ALIGNED_128_BYTES);
};
