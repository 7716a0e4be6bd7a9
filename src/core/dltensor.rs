// SPDX-License-Identifier: MIT OR Apache-2.0
//! DLPack's tensors: what one looks like, where its bytes are, and their registration as memory of the host or of a GPU.

use std::ffi::c_void;
use std::fmt::{self, Write};

use super::detail::{self, Detail};
use super::error::{Error, Reason, Result};
use super::gpu::{VBN_GPU_KIND_ANY, VBN_GPU_KIND_CUDA, VBN_GPU_KIND_ROCM};
use super::gpu_mr::{self, vbn_gpu_mr_attr, vbn_gpu_mr_report};
use super::mr::{Mr, vbn_mr_attr};
use super::mr_set::{Builder, MrSet, Place, VBN_MEMORY_HOST};
use super::pd::Pd;
use super::slab::{Ref, Slot};
use super::status::*;

/// `vbn_dltensor.device_type`: memory of the host (DLPack's kDLCPU).
pub const VBN_DL_CPU: i32 = 1;
/// `vbn_dltensor.device_type`: CUDA (kDLCUDA).
pub const VBN_DL_CUDA: i32 = 2;
/// `vbn_dltensor.device_type`: memory of the host that CUDA has pinned (kDLCUDAHost).
pub const VBN_DL_CUDA_HOST: i32 = 3;
/// `vbn_dltensor.device_type`: ROCm (kDLROCM).
pub const VBN_DL_ROCM: i32 = 10;
/// `vbn_dltensor.device_type`: memory of the host that ROCm has pinned (kDLROCMHost).
pub const VBN_DL_ROCM_HOST: i32 = 11;
/// `vbn_dltensor.device_type`: CUDA's managed memory (kDLCUDAManaged), which no NIC can be given.
pub const VBN_DL_CUDA_MANAGED: i32 = 13;

/// More dimensions than any framework has: beyond them it is no tensor.
const MOST_DIMENSIONS: i32 = 64;

/// A tensor as DLPack describes it: the layout of its `DLTensor`, to which a pointer can be cast. Frozen.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct vbn_dltensor {
    /// Where the allocation begins, as the device sees it.
    pub data: *mut c_void,
    /// VBN_DL_*: where it lives (DLDevice.device_type).
    pub device_type: i32,
    /// Which of these devices (DLDevice.device_id). Not looked at: the GPU's library tells by `data` which it is.
    pub device_id: i32,
    /// Dimensions.
    pub ndim: i32,
    /// The kind of number (DLDataType.code).
    pub dtype_code: u8,
    /// Bits of an element's lane (DLDataType.bits).
    pub dtype_bits: u8,
    /// Lanes of an element (DLDataType.lanes).
    pub dtype_lanes: u16,
    /// Elements in each dimension; may be NULL without dimensions.
    pub shape: *const i64,
    /// Elements from one to the next in each dimension; NULL: row by row, without gaps.
    pub strides: *const i64,
    /// Bytes from `data` to the first element.
    pub byte_offset: u64,
}

const _: () = assert!(size_of::<vbn_dltensor>() == 48);

/// As many dimensions as a message tells.
const TOLD: usize = 8;

/// Shape and strides, to be told.
#[derive(Clone, Copy)]
pub struct Shape {
    ndim: usize,
    shape: [i64; TOLD],
    strides: Option<[i64; TOLD]>,
}

impl Shape {
    fn of(shape: &[i64], strides: Option<&[i64]>) -> Self {
        let first = |list: &[i64]| {
            let mut told = [0; TOLD];
            for (to, from) in told.iter_mut().zip(list) {
                *to = *from;
            }
            told
        };
        Self { ndim: shape.len(), shape: first(shape), strides: strides.map(first) }
    }

    pub fn write(&self, out: &mut dyn Write) -> fmt::Result {
        out.write_str(": shape ")?;
        self.list(&self.shape, out)?;
        match &self.strides {
            None => Ok(()),
            Some(strides) => {
                out.write_str(", strides ")?;
                self.list(strides, out)
            }
        }
    }

    fn list(&self, list: &[i64; TOLD], out: &mut dyn Write) -> fmt::Result {
        out.write_char('[')?;
        for (index, number) in list.iter().take(self.ndim).enumerate() {
            write!(out, "{}{number}", if index == 0 { "" } else { ", " })?;
        }
        out.write_str(if self.ndim > TOLD { ", ...]" } else { "]" })
    }
}

/// A tensor's dimensions, as its caller's memory has them.
pub fn dimensions(tensor: &vbn_dltensor) -> Result<usize> {
    if !(0..=MOST_DIMENSIONS).contains(&tensor.ndim) {
        return Err(Error::range_signed("ndim", tensor.ndim.into(), "0..64"));
    }
    Ok(tensor.ndim as usize)
}

/// How many bytes it has, if it is in one piece.
fn bytes(tensor: &vbn_dltensor, shape: &[i64], strides: Option<&[i64]>) -> Result<u64> {
    let wrong = |text| {
        detail::keep(Detail::Tensor(Shape::of(shape, strides)));
        Error::argument(Reason::Detail(text))
    };
    if tensor.dtype_bits == 0 {
        return Err(Error::range("dtype_bits", 0, "at least 1"));
    }
    if tensor.dtype_lanes == 0 {
        return Err(Error::range("dtype_lanes", 0, "at least 1"));
    }
    if shape.iter().any(|size| *size < 0) {
        return Err(wrong("the tensor has a negative dimension"));
    }
    if shape.contains(&0) {
        return Err(wrong("the tensor is empty").hint("there is nothing to register"));
    }
    let too_large = || wrong("the tensor is larger than 2^63 bytes");
    // From the last dimension on each stride is what all behind it take. That of a dimension of one element means nothing.
    let mut elements: i64 = 1;
    for (index, size) in shape.iter().enumerate().rev() {
        let stride = strides.and_then(|strides| strides.get(index)).copied().unwrap_or(elements);
        if *size != 1 && stride != elements {
            return Err(wrong("the tensor is not contiguous").hint(
                "register a contiguous copy, or the whole of what it is a view of: its bytes would be in pieces",
            ));
        }
        elements = elements.checked_mul(*size).ok_or_else(too_large)?;
    }
    let bits = i64::from(tensor.dtype_bits) * i64::from(tensor.dtype_lanes);
    let bits = i128::from(elements) * i128::from(bits);
    i64::try_from((bits + 7) / 8).map(|bytes| bytes as u64).map_err(|_| too_large())
}

/// Registers a tensor's bytes: by way of the host's memory or of the GPU's, whichever it lives in.
pub fn reg(
    pd: &Ref<Pd>,
    tensor: &vbn_dltensor,
    shape: &[i64],
    strides: Option<&[i64]>,
    access: u64,
    attr: &vbn_gpu_mr_attr,
    report: &mut vbn_gpu_mr_report,
) -> Result<&'static Slot<MrSet>> {
    attr.check()?;
    if attr.kind != VBN_GPU_KIND_ANY {
        return Err(Error::range_signed("kind", attr.kind.into(), "0: the tensor tells its own"));
    }
    let length = bytes(tensor, shape, strides)?;
    if tensor.data.is_null() {
        return Err(Error::argument(Reason::Null("data")));
    }
    let Some(addr) = (tensor.data as u64).checked_add(tensor.byte_offset) else {
        return Err(Error::argument(Reason::ExceedsNamed("byte_offset", "the room from data to 2^64"))
            .value(tensor.byte_offset, u64::MAX - tensor.data as u64));
    };
    let kind = match tensor.device_type {
        VBN_DL_CPU | VBN_DL_CUDA_HOST | VBN_DL_ROCM_HOST => return reg_host(pd, addr, length, access, attr),
        VBN_DL_CUDA => VBN_GPU_KIND_CUDA,
        VBN_DL_ROCM => VBN_GPU_KIND_ROCM,
        VBN_DL_CUDA_MANAGED => {
            return Err(Error::text(
                VBN_ERR_ARGUMENT,
                "the tensor is in managed memory, which the driver moves between host and GPU: no NIC can be given it",
            )
            .value(addr, 0)
            .hint("copy it to memory of the GPU or of the host"));
        }
        other => {
            return Err(Error::new(
                VBN_ERR_NOT_SUPPORTED,
                Reason::NotOneOfSigned(
                    "device_type",
                    "one that is known here: CPU (1), CUDA (2), CUDAHost (3), ROCm (10), ROCmHost (11)",
                ),
            )
            .value(other as u64, 0)
            .hint("export a dma-buf by the device's own functions and register that (vbn_mr_reg_dmabuf)"));
        }
    };
    gpu_mr::reg(pd, addr, length, access, &vbn_gpu_mr_attr { kind, ..*attr }, report)
}

fn reg_host(pd: &Ref<Pd>, addr: u64, length: u64, access: u64, attr: &vbn_gpu_mr_attr) -> Result<&'static Slot<MrSet>> {
    if attr.paths != 0 || attr.flags != 0 {
        return Err(Error::text(
            VBN_ERR_ARGUMENT,
            "paths and flags are for memory of a GPU, and the tensor is the host's",
        ));
    }
    let mr_attr = vbn_mr_attr {
        struct_size: size_of::<vbn_mr_attr>(),
        set: 0,
        iova: 0,
        owner: attr.owner,
        user_data: attr.user_data,
    };
    let place = Place { memory: VBN_MEMORY_HOST, ..Place::default() };
    let mr = Mr::reg(pd.clone(), addr, length, access, &mr_attr)?;
    let set = mr.pin().and_then(|held| {
        let mut builder = Builder::new(true);
        builder.add(held)?;
        builder.finish(place, attr.owner, attr.user_data, None)
    });
    set.inspect_err(|_| {
        // It is new, and nothing can be in the way of its end.
        let _ = mr.close();
    })
}

#[cfg(test)]
mod tests {
    use super::super::error::{Record, describe};
    use super::super::op::Op;
    use super::super::text::until_zero;
    use super::*;

    fn tensor(bits: u8, lanes: u16) -> vbn_dltensor {
        vbn_dltensor {
            data: std::ptr::without_provenance_mut(4096),
            device_type: VBN_DL_CPU,
            device_id: 0,
            ndim: 0,
            dtype_code: 2,
            dtype_bits: bits,
            dtype_lanes: lanes,
            shape: std::ptr::null(),
            strides: std::ptr::null(),
            byte_offset: 0,
        }
    }

    fn refused(bits: u8, lanes: u16, shape: &[i64], strides: Option<&[i64]>) -> String {
        let error = bytes(&tensor(bits, lanes), shape, strides).unwrap_err();
        assert_eq!(error.status, VBN_ERR_ARGUMENT);
        let mut buffer = [0u8; 512];
        describe(&Record { op: Op::MrRegDltensor, error }, &mut buffer);
        String::from_utf8(until_zero(&buffer).to_vec()).unwrap()
    }

    #[test]
    fn sizes() {
        for (bits, lanes, shape, strides, wanted) in [
            (32, 1, &[][..], None, 4),
            (32, 1, &[2, 3, 5], None, 120),
            (32, 1, &[2, 3, 5], Some(&[15, 5, 1][..]), 120),
            (16, 4, &[10], Some(&[1]), 80),
            (8, 1, &[1, 7, 1], Some(&[99, 1, -3]), 7),
            (4, 1, &[3], None, 2),
            (1, 1, &[9], None, 2),
            (64, 1, &[1 << 33, 2], Some(&[2, 1]), 1 << 37),
            (8, 1, &[i64::MAX], None, i64::MAX as u64),
        ] {
            assert_eq!(bytes(&tensor(bits, lanes), shape, strides).unwrap(), wanted, "{shape:?} {strides:?}");
        }
    }

    #[test]
    fn what_is_no_piece_of_memory_is_told_with_shape_and_strides() {
        let text = refused(32, 1, &[2, 3], Some(&[1, 2]));
        assert!(
            text.contains("vbn_mr_reg_dltensor: the tensor is not contiguous: shape [2, 3], strides [1, 2]; "),
            "{text}"
        );
        for strides in [[4, 1], [3, 2], [3, -1], [0, 0], [-3, 1]] {
            assert!(refused(32, 1, &[2, 3], Some(&strides)).contains("not contiguous"));
        }
        assert!(refused(32, 1, &[2, 0, 5], None).contains("the tensor is empty: shape [2, 0, 5]; "));
        assert!(refused(32, 1, &[2, -1], Some(&[1, 1])).contains("negative dimension: shape [2, -1], strides [1, 1]"));
        let many = refused(8, 1, &[2, 2, 2, 2, 2, 2, 2, 2, 0], None);
        assert!(many.contains("shape [2, 2, 2, 2, 2, 2, 2, 2, ...]"), "{many}");
        assert!(refused(32, 1, &[i64::MAX, 2], None).contains("larger than 2^63"));
        assert!(refused(16, 1, &[i64::MAX], None).contains("larger than 2^63"));
        assert!(refused(0, 1, &[1], None).contains("dtype_bits 0"));
        assert!(refused(8, 0, &[1], None).contains("dtype_lanes 0"));
    }

    #[test]
    fn dimensions_are_bounded() {
        for (ndim, fits) in [(0, true), (64, true), (65, false), (-1, false), (i32::MAX, false), (i32::MIN, false)] {
            assert_eq!(dimensions(&vbn_dltensor { ndim, ..tensor(8, 1) }).is_ok(), fits);
        }
    }
}
