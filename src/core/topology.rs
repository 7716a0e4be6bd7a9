// SPDX-License-Identifier: MIT OR Apache-2.0
//! How far a GPU and a NIC are from each other, from what sysfs tells of the PCI tree and of NUMA nodes. Nothing is
//! opened, so it works for devices that this process may not use.

use std::ffi::c_char;
use std::fmt::{self, Write};
use std::str::FromStr;

use super::alloc;
use super::cold::cold_structs;
use super::error::{Error, Result};
use super::gpu;
use super::handle::vbn_context;
use super::status::*;
use super::sysfs::{path, text_of};
use super::text::{Name, Writer, chars, text, until_zero, write_bytes};
use crate::sys::os;

/// `distance`: behind one PCIe switch, or functions of one card: the data don't come near the processor.
pub const VBN_DISTANCE_SWITCH: i32 = 10;
/// `distance`: behind several PCIe switches below one port of the processor.
pub const VBN_DISTANCE_SWITCHES: i32 = 20;
/// `distance`: through one host bridge (root complex) of the processor.
pub const VBN_DISTANCE_HOST_BRIDGE: i32 = 30;
/// `distance`: between host bridges of one NUMA node.
pub const VBN_DISTANCE_NUMA_NODE: i32 = 40;
/// `distance`: between NUMA nodes of one processor package.
pub const VBN_DISTANCE_PACKAGE: i32 = 50;
/// `distance`: between processor packages (sockets), or between NUMA nodes of which sysfs doesn't tell the package.
pub const VBN_DISTANCE_SYSTEM: i32 = 70;
/// `distance`: sysfs doesn't tell.
pub const VBN_DISTANCE_UNKNOWN: i32 = 200;

/// Longest path of a sysfs tree, its terminating zero included.
pub const VBN_SYSFS_PATH_SIZE: usize = 200;

/// Which GPU and which NIC, for vbn_gpu_nic_distance and vbn_nic_nearest.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct vbn_distance_attr {
    /// sizeof(vbn_distance_attr), set by the caller.
    pub struct_size: usize,
    /// The GPU's PCI address, such as "0000:53:00.0" or "53:00.0", in any of the forms that CUDA, nvidia-smi and lspci print.
    /// NULL: `gpu_kind` and `gpu_device` say which GPU.
    pub gpu: *const c_char,
    /// The NIC: the name of an RDMA device, such as "mlx5_0", or a PCI address. vbn_nic_nearest takes none.
    pub nic: *const c_char,
    /// The NIC as an open device, instead of `nic`.
    pub context: *const vbn_context,
    /// Where the sysfs to read is, such as a copy of another machine's; shorter than VBN_SYSFS_PATH_SIZE. NULL: what
    /// the environment's VBN_SYSFS says, or "/sys".
    pub sysfs: *const c_char,
    /// VBN_GPU_KIND_*; 0 with `gpu`.
    pub gpu_kind: i32,
    /// The ordinal of the GPU, as of vbn_gpu_device_query; 0 with `gpu`.
    pub gpu_device: i32,
}
cold_structs!(vbn_distance_attr);

/// How far a GPU and a NIC are from each other.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct vbn_distance_info {
    /// sizeof(vbn_distance_info), set by the caller.
    pub struct_size: usize,
    /// VBN_DISTANCE_*; a larger number is farther.
    pub distance: i32,
    /// NUMA node of the GPU; -1: not told.
    pub gpu_numa_node: i32,
    /// NUMA node of the NIC; -1: not told.
    pub nic_numa_node: i32,
    /// The kernel's distance between the two nodes (10: the same); 0: not told.
    pub numa_distance: u32,
    /// PCI bridges between the GPU and `common`, `common` not counted.
    pub gpu_bridges: u32,
    /// PCI bridges between the NIC and `common`, `common` not counted.
    pub nic_bridges: u32,
    /// PCI address of the GPU.
    pub gpu: [c_char; 32],
    /// PCI address of the NIC; empty: it has none.
    pub nic: [c_char; 32],
    /// What the two ways have in common last: the PCI address of a bridge, the name of a host bridge such as
    /// "pci0000:40", or empty.
    pub common: [c_char; 32],
    /// Name of the RDMA device; empty if the NIC was given by address.
    pub nic_name: [c_char; 64],
    /// The same as a sentence.
    pub reason: [c_char; 256],
}
cold_structs!(vbn_distance_info);

/// The sysfs to read.
pub struct Root([u8; VBN_SYSFS_PATH_SIZE]);

impl Root {
    /// `given` by the caller, or by the environment, or the machine's own.
    pub fn new(given: Option<&[u8]>) -> Result<Self> {
        let mut root = [0; VBN_SYSFS_PATH_SIZE];
        let Some(given) = given else {
            if os::secure_env(c"VBN_SYSFS", &mut root).is_none() {
                let _ = write!(Writer::new(&mut root), "/sys");
            }
            return Ok(Self(root));
        };
        if given.is_empty() || given.len() >= VBN_SYSFS_PATH_SIZE {
            return Err(Error::range("length of sysfs", given.len() as u64, "1..199"));
        }
        for (to, from) in root.iter_mut().zip(given) {
            *to = *from;
        }
        Ok(Self(root))
    }

    /// A path below it.
    fn below(&self, write: impl FnOnce(&mut Writer<'_>) -> fmt::Result) -> [u8; 320] {
        path(|out| {
            write_bytes(out, until_zero(&self.0))?;
            write(out)
        })
    }

    /// What a link says; empty if there is none.
    fn link(&self, write: impl FnOnce(&mut Writer<'_>) -> fmt::Result) -> Link {
        let mut link = Link { bytes: [0; 1024], length: 0 };
        let at = self.below(write);
        link.length = os::read_link(text_of(&at), &mut link.bytes).map_or(0, <[u8]>::len);
        link
    }

    /// What a file says, as far as there is room for.
    pub fn read<'a>(&self, write: impl FnOnce(&mut Writer<'_>) -> fmt::Result, room: &'a mut [u8]) -> Option<&'a str> {
        str::from_utf8(os::read_file(text_of(&self.below(write)), room).ok()?).ok()
    }

    fn number<T: FromStr>(&self, write: impl FnOnce(&mut Writer<'_>) -> fmt::Result) -> Option<T> {
        self.read(write, &mut [0; 32])?.trim().parse().ok()
    }

    /// Whether a file says something, but for the word that means nothing.
    pub fn has_text(&self, write: impl FnOnce(&mut Writer<'_>) -> fmt::Result, nothing: &[u8]) -> bool {
        let mut content = [0; 64];
        let text = os::read_file(text_of(&self.below(write)), &mut content);
        text.is_ok_and(|text| !text.trim_ascii().is_empty() && text.trim_ascii() != nothing)
    }

    pub fn has(&self, write: impl FnOnce(&mut Writer<'_>) -> fmt::Result) -> bool {
        os::exists(text_of(&self.below(write)))
    }
}

/// Where a link of sysfs leads.
struct Link {
    bytes: [u8; 1024],
    length: usize,
}

impl Link {
    /// The directories below "devices", from the root to the device.
    fn steps(&self) -> impl Iterator<Item = &[u8]> {
        let all = self.bytes.get(..self.length).unwrap_or_default();
        all.split(|byte| *byte == b'/').skip_while(|step| *step != b"devices").skip(1)
    }

    /// The last PCI function on the way.
    fn function(&self) -> Option<Pci> {
        let all = self.bytes.get(..self.length).unwrap_or_default();
        all.split(|byte| *byte == b'/').filter_map(Pci::exact).next_back()
    }
}

/// A PCI address.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Pci {
    pub domain: u32,
    pub bus: u8,
    pub device: u8,
    pub function: u8,
}

impl Pci {
    /// "0000:53:00.0"; without domain it is 0, without function 0.
    pub fn parse(text: &[u8]) -> Option<Self> {
        let text = str::from_utf8(text).ok()?;
        let (place, function) = text.split_once('.').unwrap_or((text, "0"));
        let (bus, device) = place.rsplit_once(':')?;
        let (domain, bus) = bus.split_once(':').unwrap_or(("0", bus));
        let pci = Self {
            domain: hex(domain, 8)?,
            bus: u8::try_from(hex(bus, 2)?).ok()?,
            device: u8::try_from(hex(device, 2)?).ok()?,
            function: u8::try_from(hex(function, 1)?).ok()?,
        };
        (pci.device < 32 && pci.function < 8).then_some(pci)
    }

    /// As the kernel writes it, with everything.
    fn exact(text: &[u8]) -> Option<Self> {
        let colons = text.iter().filter(|byte| **byte == b':').count();
        if colons == 2 && text.contains(&b'.') { Self::parse(text) } else { None }
    }
}

fn hex(digits: &str, most: usize) -> Option<u32> {
    let good = (1..=most).contains(&digits.len()) && digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    if good { u32::from_str_radix(digits, 16).ok() } else { None }
}

impl fmt::Display for Pci {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04x}:{:02x}:{:02x}.{:x}", self.domain, self.bus, self.device, self.function)
    }
}

/// Text of a fixed size, cut to what fits.
fn written<const N: usize>(write: impl FnOnce(&mut Writer<'_>) -> fmt::Result) -> [u8; N] {
    let mut buffer = [0; N];
    // The writer cuts what does not fit and never fails.
    let _ = write(&mut Writer::new(&mut buffer));
    buffer
}

/// A PCI function in the tree.
struct Place {
    pci: Pci,
    way: Link,
    numa_node: i32,
}

impl Place {
    fn find(root: &Root, pci: Pci) -> Option<Self> {
        let way = root.link(|out| write!(out, "/bus/pci/devices/{pci}"));
        let numa_node = root.number(|out| write!(out, "/bus/pci/devices/{pci}/numa_node")).unwrap_or(-1);
        way.function().filter(|last| *last == pci).map(|_| Self { pci, way, numa_node: numa_node.max(-1) })
    }

    /// The same, which must be there.
    pub fn required(root: &Root, pci: Pci) -> Result<Self> {
        Self::find(root, pci).ok_or_else(|| {
            let name = written::<64>(|out| write!(out, "{pci}"));
            Error::text(VBN_ERR_NOT_FOUND, "sysfs has no PCI device of this address")
                .on(Name::new(&name))
                .hint("compare with 'lspci -D'; a container or virtual machine may see other addresses than its host")
        })
    }

    /// Bridges on the way from the step `depth` to the device.
    fn bridges(&self, depth: usize) -> u32 {
        let functions = self.way.steps().skip(depth).filter(|step| Pci::exact(step).is_some()).count();
        functions.saturating_sub(1) as u32
    }
}

/// A NIC: named, found in the tree, or both.
pub struct Nic {
    name: Name,
    place: Option<Place>,
}

impl Nic {
    /// By name, or by PCI address.
    pub fn find(root: &Root, text: &[u8]) -> Result<Self> {
        if let Some(pci) = Pci::parse(text) {
            return Ok(Self { name: Name::EMPTY, place: Some(Place::required(root, pci)?) });
        }
        let name = Name::new(text);
        let whole = name.bytes().len() == text.len() && !text.is_empty() && !text.contains(&b'/') && text != b"..";
        if !whole || !root.has(|out| write!(out, "/class/infiniband/{name}")) {
            return Err(Error::text(
                VBN_ERR_NOT_FOUND,
                "sysfs has no RDMA device of this name, and it is no PCI address",
            )
            .on(name)
            .hint("see vbn_device_list"));
        }
        Ok(Self::named(root, name))
    }

    /// An RDMA device that is there.
    fn named(root: &Root, name: Name) -> Self {
        let class = root.link(|out| write!(out, "/class/infiniband/{name}"));
        // Older kernels, and copies of a tree, have a directory there.
        let device = || root.link(|out| write!(out, "/class/infiniband/{name}/device")).function();
        let place = class.function().or_else(device).and_then(|pci| Place::find(root, pci));
        Self { name, place }
    }
}

/// What tells one NIC from another at the same distance.
fn nearness(info: &vbn_distance_info) -> (i32, u32, u32) {
    (info.distance, info.gpu_bridges.saturating_add(info.nic_bridges), info.numa_distance)
}

/// The GPU whose PCI address the caller gave.
pub fn gpu_at(text: &[u8]) -> Result<Pci> {
    Pci::parse(text).ok_or_else(|| {
        Error::text(VBN_ERR_ARGUMENT, "gpu is no PCI address")
            .on(Name::new(text))
            .hint("it looks like 0000:53:00.0; cuDeviceGetPCIBusId and 'nvidia-smi --query-gpu=pci.bus_id' tell it")
    })
}

/// The GPU that its library shows by this ordinal.
pub fn gpu_of(kind: i32, device: i32) -> Result<Pci> {
    let info = gpu::device(kind, device)?;
    Pci::parse(text(&info.pci_address)).ok_or(
        Error::text(VBN_ERR_NOT_FOUND, "the GPU's library doesn't tell its PCI address").hint("give it as gpu instead"),
    )
}

/// How far the two are from each other.
pub fn distance(root: &Root, gpu: Pci, nic: &[u8]) -> Result<vbn_distance_info> {
    let gpu = Place::required(root, gpu)?;
    Ok(between(root, &gpu, &Nic::find(root, nic)?))
}

/// Shows the first `capacity` RDMA devices of the kernel, the nearest first, and returns how many there are.
pub fn nearest(
    root: &Root,
    gpu: Pci,
    capacity: usize,
    mut show: impl FnMut(usize, &mut vbn_distance_info),
) -> Result<usize> {
    let gpu = Place::required(root, gpu)?;
    let mut found = Vec::new();
    let mut failed = Ok(());
    let class = root.below(|out| write!(out, "/class/infiniband"));
    let listed = os::each_entry(text_of(&class), |entry| {
        let nic = Nic::named(root, Name::new(entry.to_bytes()));
        failed = alloc::push(&mut found, between(root, &gpu, &nic));
        failed.is_ok()
    });
    failed?;
    match listed {
        // The kernel has no RDMA.
        Ok(()) | Err(libc::ENOENT) => {}
        Err(errno) => return Err(Error::call("opendir", errno).on(Name::new(b"class/infiniband of sysfs"))),
    }
    found.sort_unstable_by(|a, b| nearness(a).cmp(&nearness(b)).then_with(|| by_name(&a.nic_name, &b.nic_name)));
    found.iter_mut().take(capacity).enumerate().for_each(|(place, info)| show(place, info));
    Ok(found.len())
}

/// mlx5_2 comes before mlx5_10.
fn by_name(a: &[c_char; 64], b: &[c_char; 64]) -> std::cmp::Ordering {
    let (a, b) = (text(a), text(b));
    let word = |name: &[u8]| name.len() - name.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
    a.get(..word(a)).cmp(&b.get(..word(b))).then(a.len().cmp(&b.len())).then(a.cmp(b))
}

fn between(root: &Root, gpu: &Place, nic: &Nic) -> vbn_distance_info {
    let mut info = vbn_distance_info {
        struct_size: size_of::<vbn_distance_info>(),
        distance: VBN_DISTANCE_UNKNOWN,
        gpu_numa_node: gpu.numa_node,
        nic_numa_node: -1,
        numa_distance: 0,
        gpu_bridges: 0,
        nic_bridges: 0,
        gpu: chars(&written::<32>(|out| write!(out, "{}", gpu.pci))),
        nic: [0; 32],
        common: [0; 32],
        nic_name: chars(nic.name.bytes()),
        reason: [0; 256],
    };
    if let Some(place) = &nic.place {
        info.nic = chars(&written::<32>(|out| write!(out, "{}", place.pci)));
        info.nic_numa_node = place.numa_node;
        info.numa_distance = numa_distance(root, gpu.numa_node, place.numa_node);
        measure(root, gpu, place, &mut info);
    }
    info.reason = chars(&written::<256>(|out| sentence(&info, out)));
    info
}

fn measure(root: &Root, gpu: &Place, nic: &Place, info: &mut vbn_distance_info) {
    let same = gpu.way.steps().zip(nic.way.steps()).take_while(|(a, b)| a == b);
    let (depth, common) = same.fold((0usize, &b""[..]), |(depth, _), (step, _)| (depth + 1, step));
    if Pci::exact(common).is_some() || common.starts_with(b"pci") {
        info.common = chars(common);
        info.gpu_bridges = gpu.bridges(depth);
        info.nic_bridges = nic.bridges(depth);
    }
    info.distance = if Pci::exact(common).is_some() {
        // A switch is a bridge for its upstream port, the common one, and one for each of its downstream ports.
        if info.gpu_bridges.max(info.nic_bridges) <= 1 { VBN_DISTANCE_SWITCH } else { VBN_DISTANCE_SWITCHES }
    } else if common.starts_with(b"pci") {
        VBN_DISTANCE_HOST_BRIDGE
    } else {
        between_nodes(root, gpu.numa_node, nic.numa_node)
    };
}

fn between_nodes(root: &Root, a: i32, b: i32) -> i32 {
    if a < 0 || b < 0 {
        return VBN_DISTANCE_UNKNOWN;
    }
    if a == b {
        return VBN_DISTANCE_NUMA_NODE;
    }
    match (package(root, a), package(root, b)) {
        (Some(a), Some(b)) if a == b => VBN_DISTANCE_PACKAGE,
        _ => VBN_DISTANCE_SYSTEM,
    }
}

/// The package of a node's first processor.
fn package(root: &Root, node: i32) -> Option<u32> {
    let mut content = [0; 32];
    let file = root.below(|out| write!(out, "/devices/system/node/node{node}/cpulist"));
    let list = os::read_file(text_of(&file), &mut content).ok()?;
    let first = list.split(|byte| !byte.is_ascii_digit()).next()?;
    let cpu: u32 = str::from_utf8(first).ok()?.parse().ok()?;
    root.number(|out| write!(out, "/devices/system/cpu/cpu{cpu}/topology/physical_package_id"))
}

/// The kernel lists the distances to all nodes that there are, in the order of their numbers.
fn numa_distance(root: &Root, from: i32, to: i32) -> u32 {
    if from < 0 || to < 0 {
        return 0;
    }
    let mut content = [0; 4096];
    let file = root.below(|out| write!(out, "/devices/system/node/node{from}/distance"));
    let Ok(list) = os::read_file(text_of(&file), &mut content) else { return 0 };
    let before =
        (0..to.min(1024)).filter(|node| root.has(|out| write!(out, "/devices/system/node/node{node}"))).count();
    let numbers = list.split(|byte| byte.is_ascii_whitespace()).filter(|number| !number.is_empty());
    let number = numbers.skip(before).map(|number| str::from_utf8(number).ok()?.parse().ok()).next();
    number.flatten().unwrap_or(0)
}

fn sentence(info: &vbn_distance_info, out: &mut Writer<'_>) -> fmt::Result {
    let (name, nic) = (text(&info.nic_name), text(&info.nic));
    out.write_str("GPU ")?;
    write_bytes(out, text(&info.gpu))?;
    out.write_str(" and ")?;
    write_bytes(out, if name.is_empty() { nic } else { name })?;
    if !name.is_empty() && !nic.is_empty() {
        out.write_str(" (")?;
        write_bytes(out, nic)?;
        out.write_str(")")?;
    }
    let common = text(&info.common);
    let (a, b) = (info.gpu_numa_node, info.nic_numa_node);
    match info.distance {
        VBN_DISTANCE_SWITCH if info.gpu == info.nic => out.write_str(" are the same device"),
        VBN_DISTANCE_SWITCH => {
            out.write_str(" are behind one PCIe switch, below ")?;
            write_bytes(out, common)
        }
        VBN_DISTANCE_SWITCHES => {
            out.write_str(" are behind several PCIe switches, below ")?;
            write_bytes(out, common)?;
            write!(out, " ({} and {} bridges)", info.gpu_bridges, info.nic_bridges)
        }
        VBN_DISTANCE_HOST_BRIDGE => {
            out.write_str(" meet at the host bridge ")?;
            write_bytes(out, common)?;
            out.write_str("; a virtual machine may hide a switch there")
        }
        VBN_DISTANCE_NUMA_NODE => write!(out, " are at different host bridges of NUMA node {a}"),
        VBN_DISTANCE_PACKAGE => write!(out, " are at NUMA nodes {a} and {b} of one processor"),
        VBN_DISTANCE_SYSTEM => write!(out, " are at NUMA nodes {a} and {b}, across processors"),
        _ if nic.is_empty() => out.write_str(": the NIC is no PCI device, so there is no way to measure"),
        _ => write!(
            out,
            ": they have different host bridges, and the kernel doesn't tell their NUMA nodes ({a} and {b}): a virtual \
             machine, or firmware without the table"
        ),
    }
}

#[cfg(test)]
mod tests;
