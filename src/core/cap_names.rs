// SPDX-License-Identifier: MIT OR Apache-2.0
//! Names of what devices and ports tell of themselves in libibverbs' own numbers. A newer kernel can have more of these than any
//! table, so a bit without a name is told by its number.

use super::names::{Bits, Names, find_bit};
use crate::sys::ibv;

/// The name of the only bit in `value`: of a table, or its number; "unknown" for none or several.
pub fn find_or_number(names: Bits, value: u64) -> &'static str {
    let number = || NUMBERS.get(value.trailing_zeros() as usize).copied().unwrap_or("unknown\0");
    match find_bit(names, value) {
        "unknown\0" if value.is_power_of_two() => number(),
        name => name,
    }
}

/// `active_width`: lanes.
pub const PORT_WIDTHS: Names = &[(1, "1X\0"), (2, "4X\0"), (4, "8X\0"), (8, "12X\0"), (16, "2X\0")];

/// `active_speed` and `active_speed_ex`: of one lane.
pub const PORT_SPEEDS: Names = &[
    (1, "SDR (2.5 Gbit/s)\0"),
    (2, "DDR (5 Gbit/s)\0"),
    (4, "QDR (10 Gbit/s)\0"),
    (8, "FDR10 (10 Gbit/s)\0"),
    (16, "FDR (14 Gbit/s)\0"),
    (32, "EDR (25 Gbit/s)\0"),
    (64, "HDR (50 Gbit/s)\0"),
    (128, "NDR (100 Gbit/s)\0"),
    (256, "XDR (200 Gbit/s)\0"),
];

/// `device_cap_flags` and `device_cap_flags_ex`.
pub const DEVICE_CAPS: Bits = &[
    (ibv::IBV_DEVICE_RESIZE_MAX_WR as u64, "RESIZE_MAX_WR\0"),
    (ibv::IBV_DEVICE_BAD_PKEY_CNTR as u64, "BAD_PKEY_CNTR\0"),
    (ibv::IBV_DEVICE_BAD_QKEY_CNTR as u64, "BAD_QKEY_CNTR\0"),
    (ibv::IBV_DEVICE_RAW_MULTI as u64, "RAW_MULTI\0"),
    (ibv::IBV_DEVICE_AUTO_PATH_MIG as u64, "AUTO_PATH_MIG\0"),
    (ibv::IBV_DEVICE_CHANGE_PHY_PORT as u64, "CHANGE_PHY_PORT\0"),
    (ibv::IBV_DEVICE_UD_AV_PORT_ENFORCE as u64, "UD_AV_PORT_ENFORCE\0"),
    (ibv::IBV_DEVICE_CURR_QP_STATE_MOD as u64, "CURR_QP_STATE_MOD\0"),
    (ibv::IBV_DEVICE_SHUTDOWN_PORT as u64, "SHUTDOWN_PORT\0"),
    (ibv::IBV_DEVICE_INIT_TYPE as u64, "INIT_TYPE\0"),
    (ibv::IBV_DEVICE_PORT_ACTIVE_EVENT as u64, "PORT_ACTIVE_EVENT\0"),
    (ibv::IBV_DEVICE_SYS_IMAGE_GUID as u64, "SYS_IMAGE_GUID\0"),
    (ibv::IBV_DEVICE_RC_RNR_NAK_GEN as u64, "RC_RNR_NAK_GEN\0"),
    (ibv::IBV_DEVICE_SRQ_RESIZE as u64, "SRQ_RESIZE\0"),
    (ibv::IBV_DEVICE_N_NOTIFY_CQ as u64, "N_NOTIFY_CQ\0"),
    (ibv::IBV_DEVICE_MEM_WINDOW as u64, "MEM_WINDOW\0"),
    (ibv::IBV_DEVICE_UD_IP_CSUM as u64, "UD_IP_CSUM\0"),
    (ibv::IBV_DEVICE_XRC as u64, "XRC\0"),
    (ibv::IBV_DEVICE_MEM_MGT_EXTENSIONS as u64, "MEM_MGT_EXTENSIONS\0"),
    (ibv::IBV_DEVICE_MEM_WINDOW_TYPE_2A as u64, "MEM_WINDOW_TYPE_2A\0"),
    (ibv::IBV_DEVICE_MEM_WINDOW_TYPE_2B as u64, "MEM_WINDOW_TYPE_2B\0"),
    (ibv::IBV_DEVICE_RC_IP_CSUM as u64, "RC_IP_CSUM\0"),
    (ibv::IBV_DEVICE_RAW_IP_CSUM as u64, "RAW_IP_CSUM\0"),
    (ibv::IBV_DEVICE_MANAGED_FLOW_STEERING as u64, "MANAGED_FLOW_STEERING\0"),
    (ibv::IBV_DEVICE_RAW_SCATTER_FCS, "RAW_SCATTER_FCS\0"),
    (ibv::IBV_DEVICE_PCI_WRITE_END_PADDING, "PCI_WRITE_END_PADDING\0"),
    (ibv::IBV_DEVICE_CC_DMA_BOUNCE, "CC_DMA_BOUNCE\0"),
];

/// `port_cap_flags`.
pub const PORT_CAPS: Bits = &[
    (ibv::IBV_PORT_SM as u64, "SM\0"),
    (ibv::IBV_PORT_NOTICE_SUP as u64, "NOTICE_SUP\0"),
    (ibv::IBV_PORT_TRAP_SUP as u64, "TRAP_SUP\0"),
    (ibv::IBV_PORT_OPT_IPD_SUP as u64, "OPT_IPD_SUP\0"),
    (ibv::IBV_PORT_AUTO_MIGR_SUP as u64, "AUTO_MIGR_SUP\0"),
    (ibv::IBV_PORT_SL_MAP_SUP as u64, "SL_MAP_SUP\0"),
    (ibv::IBV_PORT_MKEY_NVRAM as u64, "MKEY_NVRAM\0"),
    (ibv::IBV_PORT_PKEY_NVRAM as u64, "PKEY_NVRAM\0"),
    (ibv::IBV_PORT_LED_INFO_SUP as u64, "LED_INFO_SUP\0"),
    (ibv::IBV_PORT_SYS_IMAGE_GUID_SUP as u64, "SYS_IMAGE_GUID_SUP\0"),
    (ibv::IBV_PORT_PKEY_SW_EXT_PORT_TRAP_SUP as u64, "PKEY_SW_EXT_PORT_TRAP_SUP\0"),
    (ibv::IBV_PORT_EXTENDED_SPEEDS_SUP as u64, "EXTENDED_SPEEDS_SUP\0"),
    (ibv::IBV_PORT_CAP_MASK2_SUP as u64, "CAP_MASK2_SUP\0"),
    (ibv::IBV_PORT_CM_SUP as u64, "CM_SUP\0"),
    (ibv::IBV_PORT_SNMP_TUNNEL_SUP as u64, "SNMP_TUNNEL_SUP\0"),
    (ibv::IBV_PORT_REINIT_SUP as u64, "REINIT_SUP\0"),
    (ibv::IBV_PORT_DEVICE_MGMT_SUP as u64, "DEVICE_MGMT_SUP\0"),
    (ibv::IBV_PORT_VENDOR_CLASS_SUP as u64, "VENDOR_CLASS_SUP\0"),
    (ibv::IBV_PORT_DR_NOTICE_SUP as u64, "DR_NOTICE_SUP\0"),
    (ibv::IBV_PORT_CAP_MASK_NOTICE_SUP as u64, "CAP_MASK_NOTICE_SUP\0"),
    (ibv::IBV_PORT_BOOT_MGMT_SUP as u64, "BOOT_MGMT_SUP\0"),
    (ibv::IBV_PORT_LINK_LATENCY_SUP as u64, "LINK_LATENCY_SUP\0"),
    (ibv::IBV_PORT_CLIENT_REG_SUP as u64, "CLIENT_REG_SUP\0"),
    (ibv::IBV_PORT_IP_BASED_GIDS as u64, "IP_BASED_GIDS\0"),
];

/// `port_cap_flags2`.
pub const PORT_CAPS2: Bits = &[
    (ibv::IBV_PORT_SET_NODE_DESC_SUP as u64, "SET_NODE_DESC_SUP\0"),
    (ibv::IBV_PORT_INFO_EXT_SUP as u64, "INFO_EXT_SUP\0"),
    (ibv::IBV_PORT_VIRT_SUP as u64, "VIRT_SUP\0"),
    (ibv::IBV_PORT_SWITCH_PORT_STATE_TABLE_SUP as u64, "SWITCH_PORT_STATE_TABLE_SUP\0"),
    (ibv::IBV_PORT_LINK_WIDTH_2X_SUP as u64, "LINK_WIDTH_2X_SUP\0"),
    (ibv::IBV_PORT_LINK_SPEED_HDR_SUP as u64, "LINK_SPEED_HDR_SUP\0"),
    (ibv::IBV_PORT_LINK_SPEED_NDR_SUP as u64, "LINK_SPEED_NDR_SUP\0"),
    (ibv::IBV_PORT_LINK_SPEED_XDR_SUP as u64, "LINK_SPEED_XDR_SUP\0"),
];

/// `static_rate`: how fast packets of an address go out.
pub const RATES: Names = &[
    (ibv::IBV_RATE_MAX as i32, "MAX\0"),
    (ibv::IBV_RATE_2_5_GBPS as i32, "2.5 Gbit/s\0"),
    (ibv::IBV_RATE_5_GBPS as i32, "5 Gbit/s\0"),
    (ibv::IBV_RATE_10_GBPS as i32, "10 Gbit/s\0"),
    (ibv::IBV_RATE_20_GBPS as i32, "20 Gbit/s\0"),
    (ibv::IBV_RATE_30_GBPS as i32, "30 Gbit/s\0"),
    (ibv::IBV_RATE_40_GBPS as i32, "40 Gbit/s\0"),
    (ibv::IBV_RATE_60_GBPS as i32, "60 Gbit/s\0"),
    (ibv::IBV_RATE_80_GBPS as i32, "80 Gbit/s\0"),
    (ibv::IBV_RATE_120_GBPS as i32, "120 Gbit/s\0"),
    (ibv::IBV_RATE_14_GBPS as i32, "14 Gbit/s\0"),
    (ibv::IBV_RATE_56_GBPS as i32, "56 Gbit/s\0"),
    (ibv::IBV_RATE_112_GBPS as i32, "112 Gbit/s\0"),
    (ibv::IBV_RATE_168_GBPS as i32, "168 Gbit/s\0"),
    (ibv::IBV_RATE_25_GBPS as i32, "25 Gbit/s\0"),
    (ibv::IBV_RATE_100_GBPS as i32, "100 Gbit/s\0"),
    (ibv::IBV_RATE_200_GBPS as i32, "200 Gbit/s\0"),
    (ibv::IBV_RATE_300_GBPS as i32, "300 Gbit/s\0"),
    (ibv::IBV_RATE_28_GBPS as i32, "28 Gbit/s\0"),
    (ibv::IBV_RATE_50_GBPS as i32, "50 Gbit/s\0"),
    (ibv::IBV_RATE_400_GBPS as i32, "400 Gbit/s\0"),
    (ibv::IBV_RATE_600_GBPS as i32, "600 Gbit/s\0"),
    (ibv::IBV_RATE_800_GBPS as i32, "800 Gbit/s\0"),
    (ibv::IBV_RATE_1200_GBPS as i32, "1200 Gbit/s\0"),
];

/// `odp_rc_caps` and its like.
pub const ODP_CAPS: Bits = &[
    (ibv::IBV_ODP_SUPPORT_SEND as u64, "SEND\0"),
    (ibv::IBV_ODP_SUPPORT_RECV as u64, "RECV\0"),
    (ibv::IBV_ODP_SUPPORT_WRITE as u64, "WRITE\0"),
    (ibv::IBV_ODP_SUPPORT_READ as u64, "READ\0"),
    (ibv::IBV_ODP_SUPPORT_ATOMIC as u64, "ATOMIC\0"),
    (ibv::IBV_ODP_SUPPORT_SRQ_RECV as u64, "SRQ_RECV\0"),
    (ibv::IBV_ODP_SUPPORT_FLUSH as u64, "FLUSH\0"),
    (ibv::IBV_ODP_SUPPORT_ATOMIC_WRITE as u64, "ATOMIC_WRITE\0"),
];

const NUMBERS: [&str; 64] = [
    "bit 0\0", "bit 1\0", "bit 2\0", "bit 3\0", "bit 4\0", "bit 5\0", "bit 6\0", "bit 7\0", "bit 8\0", "bit 9\0",
    "bit 10\0", "bit 11\0", "bit 12\0", "bit 13\0", "bit 14\0", "bit 15\0", "bit 16\0", "bit 17\0", "bit 18\0",
    "bit 19\0", "bit 20\0", "bit 21\0", "bit 22\0", "bit 23\0", "bit 24\0", "bit 25\0", "bit 26\0", "bit 27\0",
    "bit 28\0", "bit 29\0", "bit 30\0", "bit 31\0", "bit 32\0", "bit 33\0", "bit 34\0", "bit 35\0", "bit 36\0",
    "bit 37\0", "bit 38\0", "bit 39\0", "bit 40\0", "bit 41\0", "bit 42\0", "bit 43\0", "bit 44\0", "bit 45\0",
    "bit 46\0", "bit 47\0", "bit 48\0", "bit 49\0", "bit 50\0", "bit 51\0", "bit 52\0", "bit 53\0", "bit 54\0",
    "bit 55\0", "bit 56\0", "bit 57\0", "bit 58\0", "bit 59\0", "bit 60\0", "bit 61\0", "bit 62\0", "bit 63\0",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_are_single_and_their_names_unique() {
        for names in [DEVICE_CAPS, PORT_CAPS, PORT_CAPS2, ODP_CAPS] {
            for (i, (bit, name)) in names.iter().enumerate() {
                assert!(bit.is_power_of_two() && name.ends_with('\0'), "{name}");
                assert!(names.iter().skip(i + 1).all(|(b, n)| b != bit && n != name), "{name}");
                assert_eq!(find_or_number(names, *bit), *name);
            }
            for bit in 0..64 {
                let name = find_or_number(names, 1 << bit);
                assert!(names.iter().any(|(b, _)| *b == 1 << bit) || name == format!("bit {bit}\0"), "{name}");
            }
            assert!([0, 3, u64::MAX].iter().all(|bits| find_or_number(names, *bits) == "unknown\0"));
        }
    }
}
