// SPDX-License-Identifier: MIT OR Apache-2.0
//! The run's stand-ins for /sys and /dev/infiniband, laid out like a kernel's: real directories under `devices/pci5af7:00`, links
//! to them under `class` and `bus`. The PCI domain 5af7 exists on no machine, so the paths can be told from real ones.

use super::config::{Config, Peermem};
use crate::kind::Sysfs;
use crate::model::host::Gid;
use crate::profile::Profile;
use std::fs;
use std::io;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

/// What the devices of all runs lie below.
pub const PCI_ROOT: &str = "pci5af7:00";

/// The PCI address of device `n`.
pub fn pci_address(n: usize) -> String {
    format!("5af7:00:{n:02x}.0")
}

/// Where the tree has the device's own directory.
pub fn device_dir(run: &Path, n: usize, name: &str) -> PathBuf {
    run.join(format!("sys/devices/pci5af7:00/{}/infiniband/{name}", pci_address(n)))
}

pub fn build(run: &Path, config: &Config) -> io::Result<()> {
    for dir in ["sys/class/infiniband", "sys/class/infiniband_verbs", "sys/bus/pci/devices", "dev/infiniband"] {
        fs::create_dir_all(run.join(dir))?;
    }
    fs::write(run.join("sys/class/infiniband_verbs/abi_version"), "6\n")?;
    for (n, device) in config.devices.iter().enumerate() {
        let profile = crate::kind::find(&device.kind, &device.profile)
            .ok_or_else(|| io::Error::other(format!("no profile {} {}", device.kind, device.profile)))?;
        one_device(run, n, &device.name, device.gid, profile)?;
        peer_memory(run, n, device.peermem, &profile.kind.sysfs(profile))?;
    }
    Ok(())
}

fn one_device(run: &Path, n: usize, name: &str, gid: Gid, profile: &Profile) -> io::Result<()> {
    let pci = run.join(format!("sys/devices/pci5af7:00/{}", pci_address(n)));
    let sysfs = profile.kind.sysfs(profile);
    fs::create_dir_all(&pci)?;
    let file = |dir: &Path, name: &str, text: &str| fs::write(dir.join(name), format!("{text}\n"));
    for (name, text) in [("numa_node", "0"), ("local_cpulist", "0"), ("local_cpus", "1")] {
        file(&pci, name, text)?;
    }
    if let Some(ids) = sysfs.pci {
        pci_function(run, n, &pci, ids, sysfs.driver)?;
    }

    let dev = device_dir(run, n, name);
    let port = dev.join("ports/1");
    for dir in ["gids", "pkeys", "gid_attrs/types", "gid_attrs/ndevs", "hw_counters", "counters"] {
        fs::create_dir_all(port.join(dir))?;
    }
    fs::create_dir_all(dev.join("hw_counters"))?;
    let guid = groups(gid.0.get(8..).unwrap_or_default());
    for (name, text) in [
        ("node_type", sysfs.node_type),
        ("node_guid", guid.as_str()),
        ("sys_image_guid", guid.as_str()),
        ("node_desc", name),
        ("fw_ver", "0.0.0.0"),
        ("hca_type", sysfs.hca_type),
        ("board_id", "softnic"),
    ] {
        file(&dev, name, text)?;
    }
    for (name, text) in [
        ("state", "4: ACTIVE".to_string()),
        ("phys_state", "5: LinkUp".into()),
        ("link_layer", sysfs.link_layer.into()),
        ("rate", format!("{} Gb/sec", profile.link_gbps.value)),
        ("lid", "0x0".into()),
        ("sm_lid", "0x0".into()),
        ("lid_mask_count", "0".into()),
        ("sm_sl", "0".into()),
        ("cap_mask", "0x00000000".into()),
        ("gids/0", groups(&gid.0)),
        ("pkeys/0", "0xffff".into()),
        ("gid_attrs/types/0", sysfs.gid_type.into()),
    ] {
        file(&port, name, &text)?;
    }
    for counter in sysfs.port_counters {
        file(&port, &format!("hw_counters/{counter}"), "0")?;
    }
    for counter in sysfs.device_counters {
        file(&dev, &format!("hw_counters/{counter}"), "0")?;
    }
    file(&port, "hw_counters/lifespan", "10")?;
    // Programs read the PCI address off the end of this link.
    symlink(format!("../../../{}", pci_address(n)), dev.join("device"))?;
    symlink("../../../../../class/infiniband", dev.join("subsystem"))?;
    symlink(
        format!("../../devices/pci5af7:00/{}/infiniband/{name}", pci_address(n)),
        run.join("sys/class/infiniband").join(name),
    )?;

    let verbs = pci.join(format!("infiniband_verbs/uverbs{n}"));
    fs::create_dir_all(&verbs)?;
    for (key, text) in [
        ("ibdev", name.to_string()),
        ("dev", format!("231:{}", 192 + n)),
        ("abi_version", sysfs.abi_version.to_string()),
    ] {
        file(&verbs, key, &text)?;
    }
    symlink(format!("../../../{}", pci_address(n)), verbs.join("device"))?;
    symlink(
        format!("../../devices/pci5af7:00/{}/infiniband_verbs/uverbs{n}", pci_address(n)),
        run.join("sys/class/infiniband_verbs").join(format!("uverbs{n}")),
    )?;
    fs::write(run.join(format!("dev/infiniband/uverbs{n}")), "")
}

/// What makes the directory that of a PCI function.
fn pci_function(run: &Path, n: usize, pci: &Path, (vendor, product): (u16, u16), driver: &str) -> io::Result<()> {
    for (name, text) in [
        ("vendor", format!("0x{vendor:04x}")),
        ("device", format!("0x{product:04x}")),
        ("subsystem_vendor", format!("0x{vendor:04x}")),
        ("subsystem_device", format!("0x{product:04x}")),
        ("class", "0x020000".into()),
        ("revision", "0x00".into()),
        ("max_link_speed", "16.0 GT/s PCIe".into()),
        ("max_link_width", "16".into()),
        ("current_link_speed", "16.0 GT/s PCIe".into()),
        ("current_link_width", "16".into()),
        ("modalias", format!("pci:v{vendor:08X}d{product:08X}sv{vendor:08X}sd{product:08X}bc02sc00i00")),
        ("uevent", format!("DRIVER={driver}\nPCI_ID={vendor:04X}:{product:04X}\nPCI_SLOT_NAME={}", pci_address(n))),
    ] {
        fs::write(pci.join(name), format!("{text}\n"))?;
    }
    symlink(
        format!("../../../devices/pci5af7:00/{}", pci_address(n)),
        run.join("sys/bus/pci/devices").join(pci_address(n)),
    )?;
    fs::create_dir_all(run.join("sys/bus/pci/drivers").join(driver))?;
    // Programs read the driver's name off the end of this link, as a kernel writes it.
    symlink(format!("../../../bus/pci/drivers/{driver}"), pci.join("driver"))
}

/// The module that is loaded, and what the device's driver tells of it.
fn peer_memory(run: &Path, n: usize, loaded: Peermem, sysfs: &Sysfs) -> io::Result<()> {
    if let Some(module) = loaded.module() {
        let module = run.join("sys/module").join(module);
        fs::create_dir_all(&module)?;
        fs::write(module.join("initstate"), "live\n")?;
    }
    if let Some((file, text)) = sysfs.peer_file {
        let text = if loaded.serves(sysfs) { text } else { "" };
        fs::write(run.join(format!("sys/devices/pci5af7:00/{}/{file}", pci_address(n))), format!("{text}\n"))?;
    }
    Ok(())
}

/// Bytes as sysfs writes addresses: groups of four digits.
fn groups(bytes: &[u8]) -> String {
    let pairs: Vec<String> = bytes.chunks(2).map(|p| p.iter().map(|b| format!("{b:02x}")).collect()).collect();
    pairs.join(":")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kind::{KINDS, tiny};

    /// What a file of the device says; None without it.
    fn shown(profile: &Profile) -> impl Fn(&str) -> Option<String> {
        let run = std::env::temp_dir().join(format!("softnic-tree-{}-{}", std::process::id(), profile.kind.name()));
        for dir in ["sys/class/infiniband", "sys/class/infiniband_verbs", "sys/bus/pci/devices", "dev/infiniband"] {
            fs::create_dir_all(run.join(dir)).unwrap();
        }
        one_device(&run, 3, "x_3", Gid(*b"\xfe\x80\0\0\0\0\0\0\0\0\0\0\0\0\0\x07"), profile).unwrap();
        peer_memory(&run, 3, Peermem::Efa, &profile.kind.sysfs(profile)).unwrap();
        let mut files = std::collections::BTreeMap::new();
        for file in [
            "node_type",
            "device/modalias",
            "device/vendor",
            "device/p2p",
            "device/gpus",
            "ports/1/link_layer",
            "ports/1/gid_attrs/types/0",
        ] {
            files.insert(file, fs::read_to_string(run.join("sys/class/infiniband/x_3").join(file)).ok());
        }
        let driver = fs::read_link(run.join("sys/class/infiniband/x_3/device/driver")).ok();
        files.insert("driver", driver.map(|d| d.display().to_string()));
        files.insert("abi", fs::read_to_string(run.join("sys/class/infiniband_verbs/uverbs3/abi_version")).ok());
        let counter = run.join("sys/class/infiniband/x_3/ports/1/hw_counters/rx_pkts");
        files.insert("rx_pkts", fs::read_to_string(counter).ok());
        fs::remove_dir_all(&run).unwrap();
        move |file| files.get(file).cloned().flatten().map(|text| text.trim_end().to_string())
    }

    #[test]
    fn each_kind_shows_its_own() {
        let efa = shown(KINDS[0].default_profile());
        assert_eq!(efa("node_type").as_deref(), Some("7: unspecified"));
        assert_eq!(efa("device/modalias").as_deref(), Some("pci:v00001D0Fd0000EFA2sv00001D0Fsd0000EFA2bc02sc00i00"));
        assert!(efa("driver").unwrap().ends_with("/drivers/efa"));
        assert_eq!((efa("abi").as_deref(), efa("rx_pkts").as_deref()), (Some("1"), Some("0")));
        assert_eq!((efa("device/p2p").as_deref(), efa("device/gpus")), (Some("NVIDIA peermem"), None));
        let tiny = shown(&tiny::PROFILE);
        assert_eq!(tiny("node_type").as_deref(), Some("1: CA"));
        assert_eq!(
            (tiny("device/modalias"), tiny("device/vendor"), tiny("driver")),
            (None, None, None),
            "no PCI function"
        );
        assert_eq!(tiny("ports/1/link_layer").as_deref(), Some("Ethernet"));
        assert_eq!(tiny("ports/1/gid_attrs/types/0").as_deref(), Some("RoCE v2"));
        assert_eq!((tiny("abi").as_deref(), tiny("rx_pkts")), (Some("7"), None));
        assert_eq!((tiny("device/p2p"), tiny("device/gpus").as_deref()), (None, Some("")), "served by another module");
    }
}
