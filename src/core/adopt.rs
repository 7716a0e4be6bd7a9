// SPDX-License-Identifier: MIT OR Apache-2.0
//! Objects made elsewhere by raw verbs: who destroys them.

use std::ffi::{c_int, c_void};
use std::ptr::NonNull;

use super::cold::cold_structs;
use super::error::{Error, Reason, Result};
use super::slab::Object;
use super::status::VBN_ERR_ARGUMENT;

/// The caller keeps the object and destroys it after the handle is closed. Several handles may borrow one object.
pub const VBN_ADOPT_BORROW: i32 = 0;
/// The object becomes the handle's: close destroys it with the libibverbs function of its type. That function waits until
/// all events that raw verbs read of the object are acknowledged.
pub const VBN_ADOPT_OWN: i32 = 1;
/// Close calls `destroy(native, destroy_arg)` instead of libibverbs (rdma_destroy_qp, a framework's own, ...). Like
/// VBN_ADOPT_OWN it is refused for an object that has a handle already which will destroy it.
pub const VBN_ADOPT_CUSTOM: i32 = 2;

/// `vbn_adopt_attr.set`: `iova` counts. For vbn_mr_adopt only.
pub const VBN_ADOPT_SET_IOVA: u64 = 1;

/// Destroys an adopted object: 0, or a positive errno, and then the object still exists.
pub type vbn_destroy_fn = Option<unsafe extern "C" fn(native: *mut c_void, arg: *mut c_void) -> c_int>;

/// How an object made by raw verbs is taken in. All-zero: borrowed, no user data.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct vbn_adopt_attr {
    /// sizeof(vbn_adopt_attr).
    pub struct_size: usize,
    /// Which of the optional fields count: VBN_ADOPT_SET_*.
    pub set: u64,
    /// VBN_ADOPT_BORROW, VBN_ADOPT_OWN or VBN_ADOPT_CUSTOM.
    pub ownership: i32,
    /// Must be 0.
    pub reserved0: u32,
    /// For VBN_ADOPT_CUSTOM. Called on the thread that closes the last user of the object; must not call back in.
    pub destroy: vbn_destroy_fn,
    /// Handed to `destroy`.
    pub destroy_arg: *mut c_void,
    /// Comes back in events and queries.
    pub user_data: u64,
    /// Memory regions only, with VBN_ADOPT_SET_IOVA: the address that peers must use. Default: the region's address.
    pub iova: u64,
}
cold_structs!(vbn_adopt_attr);

/// Who destroys the native object of a handle.
#[derive(Clone, Copy)]
pub enum Ownership {
    Borrow,
    Own,
    Custom(unsafe extern "C" fn(*mut c_void, *mut c_void) -> c_int, *mut c_void),
}

// SAFETY: the pointer is the caller's and only handed back.
unsafe impl Send for Ownership {}
// SAFETY: as above.
unsafe impl Sync for Ownership {}

/// The checks that open every adoption: `native` for a handle of type `T`, with the bits of `known` possible in `set`.
pub fn check<T: Object, N>(native: *mut N, attr: &vbn_adopt_attr, known: u64) -> Result<(NonNull<N>, Ownership)> {
    let native = NonNull::new(native).ok_or(Error::argument(Reason::Null("native")))?;
    let ownership = Ownership::from_attr(attr, known)?;
    if !ownership.is_borrowed() && T::slab().has_owner(native.as_ptr().cast()) {
        return Err(Error::text(VBN_ERR_ARGUMENT, "native already has a handle that will destroy it")
            .hint("borrow it, or release it from that handle first"));
    }
    Ok((native, ownership))
}

impl Ownership {
    fn from_attr(attr: &vbn_adopt_attr, known: u64) -> Result<Self> {
        if attr.set & !known != 0 {
            return Err(Error::unknown_bits("set", attr.set, known));
        }
        if attr.reserved0 != 0 {
            return Err(Error::range("reserved0", attr.reserved0.into(), "0"));
        }
        match (attr.ownership, attr.destroy) {
            (VBN_ADOPT_BORROW, None) => Ok(Self::Borrow),
            (VBN_ADOPT_OWN, None) => Ok(Self::Own),
            (VBN_ADOPT_CUSTOM, Some(destroy)) => Ok(Self::Custom(destroy, attr.destroy_arg)),
            (VBN_ADOPT_CUSTOM, None) => Err(Error::argument(Reason::Null("destroy")).hint("VBN_ADOPT_CUSTOM needs it")),
            (VBN_ADOPT_BORROW | VBN_ADOPT_OWN, Some(_)) => {
                Err(Error::text(VBN_ERR_ARGUMENT, "destroy is set but ownership is not VBN_ADOPT_CUSTOM"))
            }
            (other, _) => Err(Error::range_signed("ownership", other.into(), "one of VBN_ADOPT_BORROW, _OWN, _CUSTOM")),
        }
    }

    /// Whether the object is destroyed by libibverbs, whose errnos may say that the device is gone.
    pub fn is_own(&self) -> bool {
        matches!(self, Self::Own)
    }

    /// Whether the object stays its maker's.
    pub fn is_borrowed(&self) -> bool {
        matches!(self, Self::Borrow)
    }

    /// VBN_ADOPT_*.
    pub fn to_abi(self) -> i32 {
        match self {
            Self::Borrow => VBN_ADOPT_BORROW,
            Self::Own => VBN_ADOPT_OWN,
            Self::Custom(..) => VBN_ADOPT_CUSTOM,
        }
    }

    /// Destroys `native` as its owner wants it; `own` is libibverbs' way.
    pub fn destroy<T>(&self, native: *mut T, own: impl FnOnce() -> Result<()>) -> Result<()> {
        match *self {
            Self::Borrow => Ok(()),
            Self::Own => own(),
            Self::Custom(destroy, arg) => {
                // SAFETY: the caller gave both for this purpose when it handed the object over.
                match unsafe { destroy(native.cast(), arg) } {
                    0 => Ok(()),
                    errno => Err(Error::call("the adopted object's destroy function", errno)),
                }
            }
        }
    }
}
