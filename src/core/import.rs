// SPDX-License-Identifier: MIT OR Apache-2.0
//! Objects of another process: a context by its file descriptor, what is in it by the kernel's numbers.

use std::ffi::c_int;

use super::adopt::Ownership;
use super::context::Context;
use super::error::{Error, Reason, Result};
use super::gpu::VBN_GPU_KIND_ANY;
use super::mr::*;
use super::pd::{Origin, Pd, vbn_pd_attr};
use super::slab::{Object, Ref, Slot};
use super::status::*;
use crate::sys::os;

impl Context {
    /// A descriptor with which another process, or this one, can import the context.
    pub fn export(&self) -> Result<c_int> {
        os::duplicate(self.content().cmd_fd).map_err(|errno| Error::call("dup", errno).on(self.name()))
    }
}

impl Pd {
    /// The domain with the kernel's number `handle`, made by any process in the imported context.
    pub fn import(context: Ref<Context>, handle: u32, attr: &vbn_pd_attr) -> Result<&'static Slot<Pd>> {
        let verbs = context.verbs();
        let (Some(import), Some(unimport)) = (verbs.import_pd, verbs.unimport_pd) else {
            return Err(symbol("ibv_import_pd"));
        };
        let vacant = Pd::slab().take()?;
        // SAFETY: the context is open.
        let native = context.made("ibv_import_pd", || unsafe { import(context.native(), handle) }).map_err(explain)?;
        let origin = Origin::Import(unimport);
        Ok(vacant.publish(Pd::new(native, context, Ownership::Own, attr.user_data, origin)))
    }
}

impl Mr {
    /// The region with the kernel's number `handle`. Nothing tells where it begins, so that must be said.
    pub fn import(pd: Ref<Pd>, handle: u32, attr: &vbn_mr_attr) -> Result<&'static Slot<Mr>> {
        if attr.set & !VBN_MR_SET_IOVA != 0 {
            return Err(Error::unknown_bits("set", attr.set, VBN_MR_SET_IOVA));
        }
        if attr.set == 0 {
            return Err(Error::text(VBN_ERR_ARGUMENT, "set has no VBN_MR_SET_IOVA").hint(
                "nothing else tells where the region begins: vbn_mr_query's addr in the process that registered it",
            ));
        }
        let context = pd.context().clone();
        let verbs = context.verbs();
        let (Some(import), Some(_)) = (verbs.import_mr, verbs.unimport_mr) else {
            return Err(symbol("ibv_import_mr"));
        };
        let vacant = SLAB.take()?;
        // SAFETY: the PD is live.
        let native = context.made("ibv_import_mr", || unsafe { import(pd.native(), handle) }).map_err(explain)?;
        // SAFETY: libibverbs has just filled it in.
        let length = unsafe { native.as_ref() }.length as u64;
        let request = Request {
            iova: attr.iova,
            length,
            access: 0,
            kind: VBN_MR_IMPORTED,
            gpu: VBN_GPU_KIND_ANY,
            owner: attr.owner,
            user_data: attr.user_data,
        };
        Ok(vacant.publish(request.finish(native, pd)))
    }
}

/// What a refused import means.
pub fn explain(error: Error) -> Error {
    match error.errno {
        libc::EOPNOTSUPP => {
            error.hint("the driver can't share objects between processes (mlx5 can): open the device anew")
        }
        libc::ENOENT | libc::EINVAL => {
            error.hint("the number must be that of an object in the same context's descriptor")
        }
        _ => error,
    }
}

pub const fn symbol(name: &'static str) -> Error {
    Error::new(VBN_ERR_SYMBOL_MISSING, Reason::Symbol(name, "31")).hint("update rdma-core")
}
