// SPDX-License-Identifier: MIT OR Apache-2.0
//! The core structs of uverbs (`ib_user_verbs.h`, `ib_user_ioctl_verbs.h`). Under INVOKE_WRITE the `response` pointer
//! that begins many of the requests means nothing and is left out.

use super::wire::wire;

wire! {
    /// `struct ib_uverbs_ioctl_hdr`
    IoctlHeader [24] {
        0 length: u16, 2 object: u16, 4 method: u16, 6 attrs: u16, 8 reserved1: u64, 16 driver: u32, 20 reserved2: u32,
    }
}

wire! {
    /// `struct ib_uverbs_attr`
    AttrHeader [16] { 0 id: u16, 2 len: u16, 4 flags: u16, 6 aux: u16, 8 data: u64 }
}

wire! {
    /// `struct ib_uverbs_query_device_resp`
    DeviceResp [176] {
        0 fw_ver: [u8; 8], 8 node_guid: [u8; 8], 16 sys_image_guid: [u8; 8], 24 max_mr_size: u64, 32 page_size_cap: u64,
        40 vendor_id: u32, 44 vendor_part_id: u32, 48 hw_ver: u32, 52 max_qp: u32, 56 max_qp_wr: u32,
        60 device_cap_flags: u32, 64 max_sge: u32, 68 max_sge_rd: u32, 72 max_cq: u32, 76 max_cqe: u32, 80 max_mr: u32,
        84 max_pd: u32, 144 max_ah: u32, 168 max_pkeys: u16, 170 local_ca_ack_delay: u8, 171 phys_port_cnt: u8,
    }
}

wire! {
    /// `struct ib_uverbs_ex_query_device_resp`
    ExDeviceResp [304] { 0 base: DeviceResp, 176 comp_mask: u32, 180 response_length: u32, 224 device_cap_flags_ex: u64 }
}

wire! {
    /// `struct ib_uverbs_ex_query_device`
    ExDevice [8] { 0 comp_mask: u32, 4 reserved: u32 }
}

wire! {
    /// `struct ib_uverbs_query_port_resp`
    PortResp [40] {
        0 port_cap_flags: u32, 4 max_msg_sz: u32, 8 bad_pkey_cntr: u32, 12 qkey_viol_cntr: u32, 16 gid_tbl_len: u32,
        20 pkey_tbl_len: u16, 22 lid: u16, 24 sm_lid: u16, 26 state: u8, 27 max_mtu: u8, 28 active_mtu: u8, 29 lmc: u8,
        30 max_vl_num: u8, 31 sm_sl: u8, 32 subnet_timeout: u8, 33 init_type_reply: u8, 34 active_width: u8,
        35 active_speed: u8, 36 phys_state: u8, 37 link_layer: u8, 38 flags: u8,
    }
}

wire! {
    /// `struct ib_uverbs_query_port_resp_ex`
    ExPortResp [48] { 0 legacy: PortResp, 40 port_cap_flags2: u16, 44 active_speed_ex: u32 }
}

wire! {
    /// `struct ib_uverbs_gid_entry`
    GidEntry [32] { 0 gid: [u8; 16], 16 index: u32, 20 port: u32, 24 gid_type: u32, 28 ifindex: u32 }
}

wire! {
    /// `struct ib_uverbs_alloc_pd_resp`
    PdResp [4] { 0 handle: u32 }
}

wire! {
    /// `struct ib_uverbs_reg_mr`
    RegMr [40] { 8 start: u64, 16 length: u64, 24 iova: u64, 32 pd: u32, 36 access: u32 }
}

wire! {
    /// `struct ib_uverbs_reg_mr_resp`
    MrResp [12] { 0 handle: u32, 4 lkey: u32, 8 rkey: u32 }
}

wire! {
    /// `struct ib_uverbs_create_comp_channel_resp`
    ChannelResp [4] { 0 fd: u32 }
}

wire! {
    /// `struct ib_uverbs_create_ah`, its `struct ib_uverbs_ah_attr` included
    CreateAh [56] {
        8 user_handle: u64, 16 pd: u32, 24 dgid: [u8; 16], 40 flow_label: u32, 44 sgid_index: u8, 45 hop_limit: u8,
        46 traffic_class: u8, 48 dlid: u16, 50 sl: u8, 51 src_path_bits: u8, 52 static_rate: u8, 53 is_global: u8,
        54 port: u8,
    }
}

wire! {
    /// `struct ib_uverbs_create_ah_resp`
    AhResp [4] { 0 handle: u32 }
}

wire! {
    /// `struct ib_uverbs_qp_cap`
    QpCap [20] {
        0 max_send_wr: u32, 4 max_recv_wr: u32, 8 max_send_sge: u32, 12 max_recv_sge: u32, 16 max_inline_data: u32,
    }
}

wire! {
    /// `struct ib_uverbs_qp_dest`
    QpDest [32] {
        0 dgid: [u8; 16], 16 flow_label: u32, 20 dlid: u16, 24 sgid_index: u8, 25 hop_limit: u8, 26 traffic_class: u8,
        27 sl: u8, 28 src_path_bits: u8, 29 static_rate: u8, 30 is_global: u8, 31 port: u8,
    }
}

wire! {
    /// `struct ib_uverbs_modify_qp`
    ModifyQp [112] {
        0 dest: QpDest, 32 alt_dest: QpDest, 64 qp: u32, 68 mask: u32, 72 qkey: u32, 76 rq_psn: u32, 80 sq_psn: u32,
        84 dest_qpn: u32, 88 access: u32, 92 pkey_index: u16, 94 alt_pkey_index: u16, 96 state: u8, 97 cur_state: u8,
        98 path_mtu: u8, 99 path_mig_state: u8, 100 en_sqd_async_notify: u8, 101 max_rd_atomic: u8,
        102 max_dest_rd_atomic: u8, 103 min_rnr_timer: u8, 104 port: u8, 105 timeout: u8, 106 retry_cnt: u8,
        107 rnr_retry: u8, 108 alt_port: u8, 109 alt_timeout: u8,
    }
}

wire! {
    /// `struct ib_uverbs_query_qp`
    QueryQp [16] { 8 qp: u32, 12 mask: u32 }
}

wire! {
    /// `struct ib_uverbs_query_qp_resp`
    QueryQpResp [128] {
        0 dest: QpDest, 32 alt_dest: QpDest, 64 cap: QpCap, 84 qkey: u32, 88 rq_psn: u32, 92 sq_psn: u32,
        96 dest_qpn: u32, 100 access: u32, 104 pkey_index: u16, 106 alt_pkey_index: u16, 108 state: u8,
        109 cur_state: u8, 110 path_mtu: u8, 111 path_mig_state: u8, 112 sq_draining: u8, 113 max_rd_atomic: u8,
        114 max_dest_rd_atomic: u8, 115 min_rnr_timer: u8, 116 port: u8, 117 timeout: u8, 118 retry_cnt: u8,
        119 rnr_retry: u8, 120 alt_port: u8, 121 alt_timeout: u8, 122 sq_sig_all: u8,
    }
}

wire! {
    /// `struct ib_uverbs_destroy_qp_resp`
    DestroyQpResp [4] { 0 events_reported: u32 }
}

wire! {
    /// `struct ib_uverbs_destroy_cq_resp`
    DestroyCqResp [8] { 0 comp_events: u32, 4 async_events: u32 }
}

wire! {
    /// `struct ib_uverbs_req_notify_cq`
    ReqNotifyCq [8] { 0 cq: u32, 4 solicited_only: u32 }
}

wire! {
    /// `struct ib_uverbs_post_send` behind its header: without requests (`wr_count` 0) it is a doorbell
    PostSend [24] { 8 qp: u32, 12 wr_count: u32, 16 sge_count: u32, 20 wqe_size: u32 }
}

wire! {
    /// `struct ib_uverbs_cmd_hdr`, the head of a plain write(2) command
    WriteHeader [8] { 0 command: u32, 4 in_words: u16, 6 out_words: u16 }
}
