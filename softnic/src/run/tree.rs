// SPDX-License-Identifier: MIT OR Apache-2.0
//! The run's stand-ins for /sys and /dev/infiniband, laid out like a kernel's: real directories under `devices/pci5af7:00`, links
//! to them under `class` and `bus`. The PCI domain 5af7 exists on no machine, so the paths can be told from real ones.

use super::config::Config;
use crate::model::host::Gid;
use crate::profile::Profile;
use std::fs;
use std::io;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

/// Counters of a port and of the device, as the EFA driver names them. Processes add theirs up in these files.
pub const PORT_COUNTERS: &[&str] = &[
    "tx_bytes",
    "tx_pkts",
    "rx_bytes",
    "rx_pkts",
    "rx_drops",
    "send_bytes",
    "send_wrs",
    "recv_bytes",
    "recv_wrs",
    "rdma_read_wrs",
    "rdma_read_bytes",
    "rdma_read_wr_err",
    "rdma_read_resp_bytes",
    "rdma_write_wrs",
    "rdma_write_bytes",
    "rdma_write_wr_err",
    "rdma_write_recv_bytes",
    "retrans_bytes",
    "retrans_pkts",
    "retrans_timeout_events",
    "unresponsive_remote_events",
    "impaired_remote_conn_events",
];
pub const DEVICE_COUNTERS: &[&str] = &[
    "submitted_cmds",
    "completed_cmds",
    "cmds_err",
    "no_completion_cmds",
    "keep_alive_rcvd",
    "alloc_pd_err",
    "create_qp_err",
    "create_cq_err",
    "reg_mr_err",
    "alloc_ucontext_err",
    "create_ah_err",
    "mmap_err",
];

/// The PCI address of device `n`.
pub fn pci_address(n: usize) -> String {
    format!("5af7:00:{n:02x}.0")
}

/// Where the tree has the device's own directory.
pub fn device_dir(run: &Path, n: usize, name: &str) -> PathBuf {
    run.join(format!("sys/devices/pci5af7:00/{}/infiniband/{name}", pci_address(n)))
}

pub fn build(run: &Path, config: &Config) -> io::Result<()> {
    for dir in [
        "sys/class/infiniband",
        "sys/class/infiniband_verbs",
        "sys/bus/pci/devices",
        "sys/bus/pci/drivers/efa",
        "dev/infiniband",
    ] {
        fs::create_dir_all(run.join(dir))?;
    }
    fs::write(run.join("sys/class/infiniband_verbs/abi_version"), "6\n")?;
    for (n, device) in config.devices.iter().enumerate() {
        let profile = crate::profile::find(&device.kind, &device.profile)
            .ok_or_else(|| io::Error::other(format!("no profile {} {}", device.kind, device.profile)))?;
        one_device(run, n, &device.name, device.gid, profile)?;
    }
    Ok(())
}

fn one_device(run: &Path, n: usize, name: &str, gid: Gid, profile: &Profile) -> io::Result<()> {
    let pci = run.join(format!("sys/devices/pci5af7:00/{}", pci_address(n)));
    let (vendor, product) = (profile.pci_vendor.value, profile.pci_device.value);
    fs::create_dir_all(&pci)?;
    let file = |dir: &Path, name: &str, text: &str| fs::write(dir.join(name), format!("{text}\n"));
    for (name, text) in [
        ("vendor", format!("0x{vendor:04x}")),
        ("device", format!("0x{product:04x}")),
        ("subsystem_vendor", format!("0x{vendor:04x}")),
        ("subsystem_device", format!("0x{product:04x}")),
        ("class", "0x020000".into()),
        ("revision", "0x00".into()),
        ("numa_node", "0".into()),
        ("local_cpulist", "0".into()),
        ("local_cpus", "1".into()),
        ("max_link_speed", "16.0 GT/s PCIe".into()),
        ("max_link_width", "16".into()),
        ("current_link_speed", "16.0 GT/s PCIe".into()),
        ("current_link_width", "16".into()),
        ("modalias", format!("pci:v{vendor:08X}d{product:08X}sv{vendor:08X}sd{product:08X}bc02sc00i00")),
        ("uevent", format!("DRIVER=efa\nPCI_ID={vendor:04X}:{product:04X}\nPCI_SLOT_NAME={}", pci_address(n))),
    ] {
        file(&pci, name, &text)?;
    }
    symlink(
        format!("../../../devices/pci5af7:00/{}", pci_address(n)),
        run.join("sys/bus/pci/devices").join(pci_address(n)),
    )?;

    let dev = device_dir(run, n, name);
    let port = dev.join("ports/1");
    for dir in ["gids", "pkeys", "gid_attrs/types", "gid_attrs/ndevs", "hw_counters", "counters"] {
        fs::create_dir_all(port.join(dir))?;
    }
    fs::create_dir_all(dev.join("hw_counters"))?;
    let guid = groups(gid.0.get(8..).unwrap_or_default());
    for (name, text) in [
        ("node_type", "7: unspecified"),
        ("node_guid", guid.as_str()),
        ("sys_image_guid", guid.as_str()),
        ("node_desc", name),
        ("fw_ver", "0.0.0.0"),
        ("hca_type", "EFA"),
        ("board_id", "softnic"),
    ] {
        file(&dev, name, text)?;
    }
    for (name, text) in [
        ("state", "4: ACTIVE".to_string()),
        ("phys_state", "5: LinkUp".into()),
        ("link_layer", "Unspecified".into()),
        ("rate", format!("{} Gb/sec", profile.link_gbps.value)),
        ("lid", "0x0".into()),
        ("sm_lid", "0x0".into()),
        ("lid_mask_count", "0".into()),
        ("sm_sl", "0".into()),
        ("cap_mask", "0x00000000".into()),
        ("gids/0", groups(&gid.0)),
        ("pkeys/0", "0xffff".into()),
        ("gid_attrs/types/0", "IB/RoCE v1".into()),
    ] {
        file(&port, name, &text)?;
    }
    for counter in PORT_COUNTERS {
        file(&port, &format!("hw_counters/{counter}"), "0")?;
    }
    for counter in DEVICE_COUNTERS {
        file(&dev, &format!("hw_counters/{counter}"), "0")?;
    }
    file(&port, "hw_counters/lifespan", "10")?;
    // Programs read the PCI address off the end of this link, as a kernel writes it, and the driver's name off its.
    symlink(format!("../../../{}", pci_address(n)), dev.join("device"))?;
    symlink("../../../bus/pci/drivers/efa", pci.join("driver"))?;
    symlink("../../../../../class/infiniband", dev.join("subsystem"))?;
    symlink(
        format!("../../devices/pci5af7:00/{}/infiniband/{name}", pci_address(n)),
        run.join("sys/class/infiniband").join(name),
    )?;

    let verbs = pci.join(format!("infiniband_verbs/uverbs{n}"));
    fs::create_dir_all(&verbs)?;
    for (key, text) in [("ibdev", name.to_string()), ("dev", format!("231:{}", 192 + n)), ("abi_version", "1".into())] {
        file(&verbs, key, &text)?;
    }
    symlink(format!("../../../{}", pci_address(n)), verbs.join("device"))?;
    symlink(
        format!("../../devices/pci5af7:00/{}/infiniband_verbs/uverbs{n}", pci_address(n)),
        run.join("sys/class/infiniband_verbs").join(format!("uverbs{n}")),
    )?;
    fs::write(run.join(format!("dev/infiniband/uverbs{n}")), "")
}

/// Bytes as sysfs writes addresses: groups of four digits.
fn groups(bytes: &[u8]) -> String {
    let pairs: Vec<String> = bytes.chunks(2).map(|p| p.iter().map(|b| format!("{b:02x}")).collect()).collect();
    pairs.join(":")
}
