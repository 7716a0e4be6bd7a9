// SPDX-License-Identifier: MIT OR Apache-2.0
//! What sysfs tells of a PCI device. Addresses are as sysfs writes them, "0000:0f:00.0".

use std::fmt::Write;

use super::text::Writer;
use super::topology::Root;

/// The NUMA node that the device hangs on; -1 where the system has none or doesn't tell.
pub fn numa_node(address: &str) -> i32 {
    Root::new(None).map_or(-1, |root| numa_node_below(&root, address))
}

/// Bytes of the largest range of memory that the device shows on the bus (a GPU's BAR1); 0 if it can't be told.
pub fn bar_size(address: &str) -> u64 {
    Root::new(None).map_or(0, |root| bar_size_below(&root, address))
}

/// Writes an address as sysfs does.
pub fn write_address(out: &mut [u8], domain: u32, bus: u32, device: u32, function: u32) {
    // The writer cuts what does not fit and never fails.
    let _ = write!(Writer::new(out), "{domain:04x}:{bus:02x}:{device:02x}.{function:x}");
}

fn numa_node_below(root: &Root, address: &str) -> i32 {
    let mut buffer = [0; 32];
    let text = read(root, address, "numa_node", &mut buffer);
    text.and_then(|text| text.trim().parse().ok()).unwrap_or(-1)
}

fn bar_size_below(root: &Root, address: &str) -> u64 {
    // "start end flags" for each of the six ranges, and then for those that are no BARs.
    let mut buffer = [0; 1024];
    let text = read(root, address, "resource", &mut buffer).unwrap_or("");
    text.lines().take(6).filter_map(memory_size).max().unwrap_or(0)
}

/// The size of a range if it is memory, by a line of `resource`.
fn memory_size(line: &str) -> Option<u64> {
    const IORESOURCE_MEM: u64 = 0x200;
    let mut numbers = line.split(' ').map(|word| u64::from_str_radix(word.strip_prefix("0x")?, 16).ok());
    let (start, end, flags) = (numbers.next()??, numbers.next()??, numbers.next()??);
    if flags & IORESOURCE_MEM == 0 {
        return None;
    }
    end.checked_sub(start)?.checked_add(1)
}

fn read<'a>(root: &Root, address: &str, file: &str, buffer: &'a mut [u8]) -> Option<&'a str> {
    // Not a path of somebody else's making.
    if address.is_empty() || !address.bytes().all(|b| b.is_ascii_hexdigit() || matches!(b, b':' | b'.')) {
        return None;
    }
    root.read(|out| write!(out, "/bus/pci/devices/{address}/{file}"), buffer)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn a_gpu_as_sysfs_has_it() {
        let root = std::env::temp_dir().join(format!("vbn-pci-{}", std::process::id()));
        let device = root.join("bus/pci/devices/0000:0f:00.0");
        fs::create_dir_all(&device).unwrap();
        fs::write(device.join("numa_node"), "1\n").unwrap();
        let lines = "0x00000000b0000000 0x00000000b0ffffff 0x0000000000040200\n\
                     0x0000380000000000 0x0000381fffffffff 0x000000000014220c\n\
                     0x0000000000000000 0x0000000000000000 0x0000000000000000\n\
                     0x0000000000003000 0x000000000000307f 0x0000000000040101\n\
                     0x0000000000000000 0x0000000000000000 0x0000000000000000\n\
                     0x0000000000000000 0x0000000000000000 0x0000000000000000\n\
                     0x0000000000000000 0x0000ffffffffffff 0x0000000000000200\n";
        fs::write(device.join("resource"), lines).unwrap();
        let sysfs = Root::new(Some(root.to_str().unwrap().as_bytes())).unwrap();
        assert_eq!(numa_node_below(&sysfs, "0000:0f:00.0"), 1);
        assert_eq!(bar_size_below(&sysfs, "0000:0f:00.0"), 128 << 30);
        for address in ["0000:10:00.0", "", "../0000:0f:00.0", "0000:0f:00.0/."] {
            assert_eq!((numa_node_below(&sysfs, address), bar_size_below(&sysfs, address)), (-1, 0), "{address}");
        }
        fs::write(device.join("resource"), "0x1 0x0 0x200\n0x0 0xffffffffffffffff 0x200\nnonsense\n").unwrap();
        fs::write(device.join("numa_node"), "x").unwrap();
        assert_eq!((numa_node_below(&sysfs, "0000:0f:00.0"), bar_size_below(&sysfs, "0000:0f:00.0")), (-1, 0));
        fs::remove_dir_all(root).unwrap();
    }
}
