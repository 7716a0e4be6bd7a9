/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The frozen structs byte by byte, and every number that must be libibverbs'. What fails here fails to compile. */
#include <infiniband/verbs.h>
#include <stddef.h>
#include <stdint.h>
#include "harness.h"

#define SIZE(type, size) _Static_assert(sizeof(type) == (size), #type " has another size"); _Static_assert(_Alignof(type) <= 8, #type)
#define AT(type, field, offset, size) \
    _Static_assert(offsetof(type, field) == (offset) && sizeof(((type *)0)->field) == (size), #type "." #field " has moved")
#define SAME(type, other, field, its) \
    _Static_assert(offsetof(type, field) == offsetof(other, its) && sizeof(((type *)0)->field) == sizeof(((other *)0)->its), \
                   #type "." #field " is not " #other "." #its)

SIZE(vbn_sge, 16);
_Static_assert(sizeof(vbn_sge) == sizeof(struct ibv_sge), "vbn_sge is not ibv_sge");
SAME(vbn_sge, struct ibv_sge, addr, addr);
SAME(vbn_sge, struct ibv_sge, length, length);
SAME(vbn_sge, struct ibv_sge, lkey, lkey);

SIZE(vbn_send_wr, 128);
AT(vbn_send_wr, wr_id, 0, 8);
AT(vbn_send_wr, flags, 8, 8);
AT(vbn_send_wr, opcode, 16, 4);
AT(vbn_send_wr, num_sge, 20, 4);
AT(vbn_send_wr, sg_list, 24, 8);
AT(vbn_send_wr, sge, 32, 16);
AT(vbn_send_wr, remote_addr, 48, 8);
AT(vbn_send_wr, rkey, 56, 4);
AT(vbn_send_wr, imm, 60, 4);
AT(vbn_send_wr, peer, 64, 8);
AT(vbn_send_wr, invalidate_rkey, 72, 4);
AT(vbn_send_wr, remote_srqn, 76, 4);
AT(vbn_send_wr, compare_add, 80, 8);
AT(vbn_send_wr, swap, 88, 8);
AT(vbn_send_wr, ext, 96, 8);
AT(vbn_send_wr, reserved, 104, 24);

SIZE(vbn_recv_wr, 64);
AT(vbn_recv_wr, wr_id, 0, 8);
AT(vbn_recv_wr, flags, 8, 8);
AT(vbn_recv_wr, sg_list, 16, 8);
AT(vbn_recv_wr, sge, 24, 16);
AT(vbn_recv_wr, num_sge, 40, 4);
AT(vbn_recv_wr, reserved0, 44, 4);
AT(vbn_recv_wr, ext, 48, 8);
AT(vbn_recv_wr, reserved1, 56, 8);

SIZE(vbn_wc, 48);
_Static_assert(sizeof(vbn_wc) == sizeof(struct ibv_wc), "vbn_wc is not ibv_wc");
SAME(vbn_wc, struct ibv_wc, wr_id, wr_id);
SAME(vbn_wc, struct ibv_wc, status, status);
SAME(vbn_wc, struct ibv_wc, opcode, opcode);
SAME(vbn_wc, struct ibv_wc, vendor_err, vendor_err);
SAME(vbn_wc, struct ibv_wc, byte_len, byte_len);
SAME(vbn_wc, struct ibv_wc, imm, imm_data);
SAME(vbn_wc, struct ibv_wc, imm, invalidated_rkey);
SAME(vbn_wc, struct ibv_wc, qp_num, qp_num);
SAME(vbn_wc, struct ibv_wc, src_qp, src_qp);
SAME(vbn_wc, struct ibv_wc, wc_flags, wc_flags);
SAME(vbn_wc, struct ibv_wc, pkey_index, pkey_index);
SAME(vbn_wc, struct ibv_wc, slid, slid);
SAME(vbn_wc, struct ibv_wc, sl, sl);
SAME(vbn_wc, struct ibv_wc, dlid_path_bits, dlid_path_bits);
AT(vbn_wc, reserved0, 46, 2);

SIZE(vbn_path, 32);
AT(vbn_path, dgid, 0, 16);
AT(vbn_path, flow_label, 16, 4);
AT(vbn_path, dlid, 20, 2);
AT(vbn_path, sgid_index, 22, 1);
AT(vbn_path, hop_limit, 23, 1);
AT(vbn_path, traffic_class, 24, 1);
AT(vbn_path, is_global, 25, 1);
AT(vbn_path, sl, 26, 1);
AT(vbn_path, src_path_bits, 27, 1);
AT(vbn_path, static_rate, 28, 1);
AT(vbn_path, port_num, 29, 1);
AT(vbn_path, reserved0, 30, 2);

SIZE(vbn_rc_record, 32);
AT(vbn_rc_record, qp_num, 0, 4);
AT(vbn_rc_record, psn, 4, 4);
AT(vbn_rc_record, lid, 8, 2);
AT(vbn_rc_record, port_num, 10, 1);
AT(vbn_rc_record, mtu, 11, 1);
AT(vbn_rc_record, gid, 12, 16);
AT(vbn_rc_record, reserved0, 28, 4);

SIZE(vbn_endpoint, 24);
AT(vbn_endpoint, gid, 0, 16);
AT(vbn_endpoint, qp_num, 16, 4);
AT(vbn_endpoint, qkey, 20, 4);

SIZE(vbn_region_entry, 24);
AT(vbn_region_entry, addr, 0, 8);
AT(vbn_region_entry, length, 8, 8);
AT(vbn_region_entry, rkey, 16, 4);
AT(vbn_region_entry, nic, 20, 4);

SIZE(vbn_dltensor, 48);
AT(vbn_dltensor, data, 0, 8);
AT(vbn_dltensor, device_type, 8, 4);
AT(vbn_dltensor, device_id, 12, 4);
AT(vbn_dltensor, ndim, 16, 4);
AT(vbn_dltensor, dtype_code, 20, 1);
AT(vbn_dltensor, dtype_bits, 21, 1);
AT(vbn_dltensor, dtype_lanes, 22, 2);
AT(vbn_dltensor, shape, 24, 8);
AT(vbn_dltensor, strides, 32, 8);
AT(vbn_dltensor, byte_offset, 40, 8);

SIZE(vbn_gpu_attempt, 352);
AT(vbn_gpu_attempt, reason, 32, 320);

SIZE(vbn_region_nic, 16);
AT(vbn_region_nic, gid, 0, 16);

SIZE(vbn_endpoint_gid, 24);
AT(vbn_endpoint_gid, gid, 0, 16);
AT(vbn_endpoint_gid, type, 16, 4);
AT(vbn_endpoint_gid, family, 20, 4);

SIZE(vbn_cm_addr, 136);
AT(vbn_cm_addr, length, 0, 4);
AT(vbn_cm_addr, reserved0, 4, 4);
AT(vbn_cm_addr, sockaddr, 8, 128);

SIZE(vbn_wc_ext, 128);
AT(vbn_wc_ext, wc, 0, 48);
AT(vbn_wc_ext, fields, 48, 8);
AT(vbn_wc_ext, timestamp, 56, 8);
AT(vbn_wc_ext, wallclock_ns, 64, 8);
AT(vbn_wc_ext, sgid, 72, 16);
AT(vbn_wc_ext, flow_tag, 88, 4);
AT(vbn_wc_ext, cvlan, 92, 2);
AT(vbn_wc_ext, unsolicited, 94, 1);
AT(vbn_wc_ext, reserved0, 95, 1);
AT(vbn_wc_ext, reserved1, 96, 32);

/* struct_size comes first and is a size_t; no size ends in padding of 4 bytes that a later field would fall into. */
#define COLD(type) \
    AT(type, struct_size, 0, sizeof(size_t)); \
    _Static_assert(sizeof(type) % 8 == 0, #type " has a tail of padding")
COLD(vbn_adopt_attr);
COLD(vbn_ah_attr);
COLD(vbn_ah_info);
COLD(vbn_async_event);
COLD(vbn_channel_attr);
COLD(vbn_channel_info);
COLD(vbn_context_attr);
COLD(vbn_context_info);
COLD(vbn_cq_attr);
COLD(vbn_cq_event);
COLD(vbn_cq_info);
COLD(vbn_device_attr);
COLD(vbn_device_list_reason_info);
COLD(vbn_endpoint_info);
COLD(vbn_endpoint_info_attr);
COLD(vbn_mr_set_attr);
COLD(vbn_mr_set_info);
COLD(vbn_mr_entry);
COLD(vbn_region_info);
COLD(vbn_region_info_attr);
COLD(vbn_gpu_mr_attr);
COLD(vbn_gpu_mr_report);
COLD(vbn_error_info);
COLD(vbn_gid_choice);
COLD(vbn_gid_select_attr);
COLD(vbn_library_attr);
COLD(vbn_library_info);
COLD(vbn_live_info);
COLD(vbn_mr_attr);
COLD(vbn_mr_info);
COLD(vbn_pd_attr);
COLD(vbn_pd_info);
COLD(vbn_peer_attr);
COLD(vbn_peer_info);
COLD(vbn_port_attr);
COLD(vbn_qp_attr);
COLD(vbn_qp_info);
COLD(vbn_qp_init_attr);
COLD(vbn_srq_attr);
COLD(vbn_srq_info);
COLD(vbn_srq_modify_attr);
COLD(vbn_qp_prepare_attr);
COLD(vbn_rc_attr);
COLD(vbn_symbol_info);

/* Numbers. The casts: C's enums and the header's unsigned constants are of different types. */
#define NUMBER(name) _Static_assert((uint64_t)(VBN_##name) == (uint64_t)(IBV_##name), "VBN_" #name " is not IBV_" #name)
NUMBER(WR_RDMA_WRITE);
NUMBER(WR_RDMA_WRITE_WITH_IMM);
NUMBER(WR_SEND);
NUMBER(WR_SEND_WITH_IMM);
NUMBER(WR_RDMA_READ);
NUMBER(SEND_FENCE);
NUMBER(SEND_SIGNALED);
NUMBER(SEND_SOLICITED);
NUMBER(SEND_INLINE);
NUMBER(WC_SUCCESS);
NUMBER(WC_LOC_LEN_ERR);
NUMBER(WC_LOC_QP_OP_ERR);
NUMBER(WC_LOC_EEC_OP_ERR);
NUMBER(WC_LOC_PROT_ERR);
NUMBER(WC_WR_FLUSH_ERR);
NUMBER(WC_MW_BIND_ERR);
NUMBER(WC_BAD_RESP_ERR);
NUMBER(WC_LOC_ACCESS_ERR);
NUMBER(WC_REM_INV_REQ_ERR);
NUMBER(WC_REM_ACCESS_ERR);
NUMBER(WC_REM_OP_ERR);
NUMBER(WC_RETRY_EXC_ERR);
NUMBER(WC_RNR_RETRY_EXC_ERR);
NUMBER(WC_LOC_RDD_VIOL_ERR);
NUMBER(WC_REM_INV_RD_REQ_ERR);
NUMBER(WC_REM_ABORT_ERR);
NUMBER(WC_INV_EECN_ERR);
NUMBER(WC_INV_EEC_STATE_ERR);
NUMBER(WC_FATAL_ERR);
NUMBER(WC_RESP_TIMEOUT_ERR);
NUMBER(WC_GENERAL_ERR);
NUMBER(WC_TM_ERR);
NUMBER(WC_TM_RNDV_INCOMPLETE);
NUMBER(WC_SEND);
NUMBER(WC_RDMA_WRITE);
NUMBER(WC_RDMA_READ);
NUMBER(WC_COMP_SWAP);
NUMBER(WC_FETCH_ADD);
NUMBER(WC_BIND_MW);
NUMBER(WC_LOCAL_INV);
NUMBER(WC_TSO);
NUMBER(WC_ATOMIC_WRITE);
NUMBER(WC_RECV);
NUMBER(WC_RECV_RDMA_WITH_IMM);
NUMBER(WC_GRH);
NUMBER(WC_WITH_IMM);
NUMBER(WC_WITH_INV);
_Static_assert(VBN_WC_IP_CSUM_OK == 1 << IBV_WC_IP_CSUM_OK_SHIFT, "VBN_WC_IP_CSUM_OK");
NUMBER(QPT_RC);
NUMBER(QPT_UC);
NUMBER(QPT_UD);
NUMBER(QPT_RAW_PACKET);
NUMBER(QPT_XRC_SEND);
NUMBER(QPT_XRC_RECV);
NUMBER(QPT_DRIVER);
NUMBER(QPS_RESET);
NUMBER(QPS_INIT);
NUMBER(QPS_RTR);
NUMBER(QPS_RTS);
NUMBER(QPS_SQD);
NUMBER(QPS_SQE);
NUMBER(QPS_ERR);
NUMBER(QP_STATE);
NUMBER(QP_CUR_STATE);
NUMBER(QP_EN_SQD_ASYNC_NOTIFY);
NUMBER(QP_ACCESS_FLAGS);
NUMBER(QP_PKEY_INDEX);
NUMBER(QP_PORT);
NUMBER(QP_QKEY);
NUMBER(QP_AV);
NUMBER(QP_PATH_MTU);
NUMBER(QP_TIMEOUT);
NUMBER(QP_RETRY_CNT);
NUMBER(QP_RNR_RETRY);
NUMBER(QP_RQ_PSN);
NUMBER(QP_MAX_QP_RD_ATOMIC);
NUMBER(QP_ALT_PATH);
NUMBER(QP_MIN_RNR_TIMER);
NUMBER(QP_SQ_PSN);
NUMBER(QP_MAX_DEST_RD_ATOMIC);
NUMBER(QP_PATH_MIG_STATE);
NUMBER(QP_CAP);
NUMBER(QP_DEST_QPN);
NUMBER(QP_RATE_LIMIT);
#define FIELD(name) _Static_assert((uint64_t)(VBN_WC_EX_##name) == (uint64_t)(IBV_WC_EX_WITH_##name), "VBN_WC_EX_" #name)
FIELD(BYTE_LEN);
FIELD(IMM);
FIELD(QP_NUM);
FIELD(SRC_QP);
FIELD(SLID);
FIELD(SL);
FIELD(DLID_PATH_BITS);
FIELD(CVLAN);
FIELD(FLOW_TAG);
_Static_assert((uint64_t)(VBN_WC_EX_STANDARD) == IBV_WC_STANDARD_FLAGS, "VBN_WC_EX_STANDARD");
_Static_assert((uint64_t)(VBN_WC_EX_TIMESTAMP) == IBV_WC_EX_WITH_COMPLETION_TIMESTAMP, "VBN_WC_EX_TIMESTAMP");
_Static_assert((uint64_t)(VBN_WC_EX_WALLCLOCK) == IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK, "VBN_WC_EX_WALLCLOCK");
#define OPERATION(name) _Static_assert((uint64_t)(VBN_QP_OP_##name) == (uint64_t)(IBV_QP_EX_WITH_##name), "VBN_QP_OP_" #name)
OPERATION(RDMA_WRITE);
OPERATION(RDMA_WRITE_WITH_IMM);
OPERATION(SEND);
OPERATION(SEND_WITH_IMM);
OPERATION(RDMA_READ);
NUMBER(FLOW_SPEC_ETH);
NUMBER(FLOW_SPEC_IPV4);
NUMBER(FLOW_SPEC_IPV6);
NUMBER(FLOW_SPEC_IPV4_EXT);
NUMBER(FLOW_SPEC_ESP);
NUMBER(FLOW_SPEC_TCP);
NUMBER(FLOW_SPEC_UDP);
NUMBER(FLOW_SPEC_GRE);
NUMBER(FLOW_SPEC_MPLS);
NUMBER(FLOW_SPEC_INNER);
NUMBER(FLOW_SPEC_ACTION_TAG);
NUMBER(FLOW_SPEC_ACTION_DROP);
NUMBER(FLOW_SPEC_ACTION_COUNT);
_Static_assert((uint64_t)(VBN_FLOW_SPEC_VXLAN) == IBV_FLOW_SPEC_VXLAN_TUNNEL, "VBN_FLOW_SPEC_VXLAN");
#define RULE(ours, theirs) _Static_assert((uint64_t)(VBN_FLOW_##ours) == (uint64_t)(IBV_FLOW_ATTR_##theirs), "VBN_FLOW_" #ours)
RULE(NORMAL, NORMAL);
RULE(ALL_DEFAULT, ALL_DEFAULT);
RULE(MC_DEFAULT, MC_DEFAULT);
RULE(SNIFFER, SNIFFER);
RULE(DONT_TRAP, FLAGS_DONT_TRAP);
RULE(EGRESS, FLAGS_EGRESS);
NUMBER(COUNTER_PACKETS);
NUMBER(COUNTER_BYTES);
NUMBER(ACCESS_LOCAL_WRITE);
NUMBER(ACCESS_REMOTE_WRITE);
NUMBER(ACCESS_REMOTE_READ);
NUMBER(ACCESS_REMOTE_ATOMIC);
NUMBER(ACCESS_MW_BIND);
NUMBER(ACCESS_ZERO_BASED);
NUMBER(ACCESS_ON_DEMAND);
NUMBER(ACCESS_HUGETLB);
NUMBER(ACCESS_RELAXED_ORDERING);
NUMBER(MTU_256);
NUMBER(MTU_512);
NUMBER(MTU_1024);
NUMBER(MTU_2048);
NUMBER(MTU_4096);
NUMBER(GID_TYPE_IB);
NUMBER(GID_TYPE_ROCE_V1);
NUMBER(GID_TYPE_ROCE_V2);
NUMBER(EVENT_CQ_ERR);
NUMBER(EVENT_QP_FATAL);
NUMBER(EVENT_QP_REQ_ERR);
NUMBER(EVENT_QP_ACCESS_ERR);
NUMBER(EVENT_COMM_EST);
NUMBER(EVENT_SQ_DRAINED);
NUMBER(EVENT_PATH_MIG);
NUMBER(EVENT_PATH_MIG_ERR);
NUMBER(EVENT_DEVICE_FATAL);
NUMBER(EVENT_PORT_ACTIVE);
NUMBER(EVENT_PORT_ERR);
NUMBER(EVENT_LID_CHANGE);
NUMBER(EVENT_PKEY_CHANGE);
NUMBER(EVENT_SM_CHANGE);
NUMBER(EVENT_SRQ_ERR);
NUMBER(EVENT_SRQ_LIMIT_REACHED);
NUMBER(EVENT_QP_LAST_WQE_REACHED);
NUMBER(EVENT_CLIENT_REREGISTER);
NUMBER(EVENT_GID_CHANGE);
NUMBER(EVENT_WQ_FATAL);

/* Numbers that the headers of rdma-core 44 don't have yet. */
_Static_assert(VBN_WC_FLUSH == 8, "IBV_WC_FLUSH");
_Static_assert(VBN_ACCESS_FLUSH_GLOBAL == 1 << 8 && VBN_ACCESS_FLUSH_PERSISTENT == 1 << 9, "IBV_ACCESS_FLUSH_*");
_Static_assert(VBN_EVENT_DEVICE_SPEED_CHANGE == 20, "IBV_EVENT_DEVICE_SPEED_CHANGE");

/* What a compiler can't tell: the record's bytes are those of the header, and a completion can be read as an ibv_wc. */
static void record_on_the_wire(void)
{
    static const uint8_t wanted[VBN_RC_RECORD_SIZE] = {
        0x00, 0x12, 0x34, 0x56, 0x00, 0xab, 0xcd, 0xef, 0x00, 0x2a, 0x00, 0x01, 0x02, 0x03,
        0x04, 0x05, 0x06, 0x07, 0x08, 0x09, 0x0a, 0x0b, 0x0c, 0x0d, 0x0e, 0x0f, 0x01, 0x05,
    };
    vbn_rc_record record = {.qp_num = 0x123456, .psn = 0xabcdef, .lid = 42, .port_num = 1, .mtu = 5};
    uint8_t bytes[VBN_RC_RECORD_SIZE];

    for (uint8_t i = 0; i < 16; i++)
        record.gid[i] = i;
    CHECK_OK(vbn_rc_record_encode(&record, bytes, sizeof(bytes)));
    CHECK_MEM(bytes, wanted, sizeof(bytes));
}

static void endpoint_on_the_wire(void)
{
    vbn_endpoint endpoint = {.qp_num = 0x123456, .qkey = 0xdeadbeef};
    static const uint8_t numbers[8] = {0x00, 0x12, 0x34, 0x56, 0xde, 0xad, 0xbe, 0xef};
    uint8_t bytes[VBN_ENDPOINT_SIZE];

    for (uint8_t i = 0; i < 16; i++)
        endpoint.gid[i] = i;
    CHECK_OK(vbn_endpoint_encode(&endpoint, bytes, sizeof(bytes)));
    CHECK_MEM(bytes, endpoint.gid, 16);
    CHECK_MEM(bytes + 16, numbers, sizeof(numbers));
}

static void completion_as_ibv_wc(void)
{
    union {
        struct ibv_wc theirs;
        vbn_wc ours;
    } wc = {.theirs = {.wr_id = 1, .status = IBV_WC_RETRY_EXC_ERR, .vendor_err = 3, .qp_num = 4}};
    vbn_error_info info = {.struct_size = sizeof(info)};

    CHECK_STATUS(vbn_wc_check(&wc.ours), VBN_ERR_COMPLETION);
    CHECK_OK(vbn_last_error(&info));
    CHECK_UEQ(info.value, IBV_WC_RETRY_EXC_ERR);
    CHECK_UEQ(info.vendor_code, 3);
    CHECK_UEQ(info.limit, 0);
    CHECK(strstr(info.message, "queue pair 4 failed"));
}

static void the_numbers_are_those_of_the_library(void)
{
    CHECK_STR(vbn_wc_status_name(IBV_WC_RETRY_EXC_ERR), "RETRY_EXC_ERR");
    CHECK_STR(vbn_qp_state_name(IBV_QPS_RTS), "RTS");
    CHECK_STR(vbn_event_type_name(IBV_EVENT_GID_CHANGE), "GID_CHANGE");
}

/* ---- Bits of devices and ports: the names of libibverbs' own (those that rdma-core 33 has) ---- */

#define DEVICE_CAPS(X) \
    X(RESIZE_MAX_WR) X(BAD_PKEY_CNTR) X(BAD_QKEY_CNTR) X(RAW_MULTI) X(AUTO_PATH_MIG) X(CHANGE_PHY_PORT) X(UD_AV_PORT_ENFORCE) \
    X(CURR_QP_STATE_MOD) X(SHUTDOWN_PORT) X(INIT_TYPE) X(PORT_ACTIVE_EVENT) X(SYS_IMAGE_GUID) X(RC_RNR_NAK_GEN) X(SRQ_RESIZE) \
    X(N_NOTIFY_CQ) X(MEM_WINDOW) X(UD_IP_CSUM) X(XRC) X(MEM_MGT_EXTENSIONS) X(MEM_WINDOW_TYPE_2A) X(MEM_WINDOW_TYPE_2B) \
    X(RC_IP_CSUM) X(RAW_IP_CSUM) X(MANAGED_FLOW_STEERING) X(RAW_SCATTER_FCS) X(PCI_WRITE_END_PADDING)
#define PORT_CAPS(X) \
    X(SM) X(NOTICE_SUP) X(TRAP_SUP) X(OPT_IPD_SUP) X(AUTO_MIGR_SUP) X(SL_MAP_SUP) X(MKEY_NVRAM) X(PKEY_NVRAM) X(LED_INFO_SUP) \
    X(SYS_IMAGE_GUID_SUP) X(PKEY_SW_EXT_PORT_TRAP_SUP) X(EXTENDED_SPEEDS_SUP) X(CAP_MASK2_SUP) X(CM_SUP) X(SNMP_TUNNEL_SUP) \
    X(REINIT_SUP) X(DEVICE_MGMT_SUP) X(VENDOR_CLASS_SUP) X(DR_NOTICE_SUP) X(CAP_MASK_NOTICE_SUP) X(BOOT_MGMT_SUP) \
    X(LINK_LATENCY_SUP) X(CLIENT_REG_SUP) X(IP_BASED_GIDS)
#define PORT_CAPS2(X) \
    X(SET_NODE_DESC_SUP) X(INFO_EXT_SUP) X(VIRT_SUP) X(SWITCH_PORT_STATE_TABLE_SUP) X(LINK_WIDTH_2X_SUP) X(LINK_SPEED_HDR_SUP)

#define ODP_CAPS(X) \
    X(SEND) X(RECV) X(WRITE) X(READ) X(ATOMIC) X(SRQ_RECV)

static void names_of_bits(void)
{
#define X(name) CHECK_STR(vbn_device_cap_name((uint64_t)IBV_DEVICE_##name), #name);
    DEVICE_CAPS(X)
#undef X
#define X(name) CHECK_STR(vbn_port_cap_name(IBV_PORT_##name), #name);
    PORT_CAPS(X)
#undef X
#define X(name) CHECK_STR(vbn_port_cap2_name(IBV_PORT_##name), #name);
    PORT_CAPS2(X)
#undef X
#define X(name) CHECK_STR(vbn_odp_cap_name(IBV_ODP_SUPPORT_##name), #name);
    ODP_CAPS(X)
#undef X
    CHECK_STR(vbn_odp_cap_name(1 << 6), "FLUSH");
    CHECK_STR(vbn_odp_cap_name(1 << 7), "ATOMIC_WRITE");
    CHECK_STR(vbn_device_cap_name(1ull << 41), "CC_DMA_BOUNCE");
    CHECK_STR(vbn_port_cap2_name(1 << 10), "LINK_SPEED_NDR_SUP");
    CHECK_STR(vbn_port_cap2_name(1 << 12), "LINK_SPEED_XDR_SUP");
}

/* A rate's name is libibverbs' own number of Gbit/s. */
static void names_of_rates(void)
{
#define X(name, text) CHECK_STR(vbn_rate_name(IBV_RATE_##name), text);
    X(MAX, "MAX")
    X(2_5_GBPS, "2.5 Gbit/s")
    X(5_GBPS, "5 Gbit/s")
    X(10_GBPS, "10 Gbit/s")
    X(20_GBPS, "20 Gbit/s")
    X(30_GBPS, "30 Gbit/s")
    X(40_GBPS, "40 Gbit/s")
    X(60_GBPS, "60 Gbit/s")
    X(80_GBPS, "80 Gbit/s")
    X(120_GBPS, "120 Gbit/s")
    X(14_GBPS, "14 Gbit/s")
    X(56_GBPS, "56 Gbit/s")
    X(112_GBPS, "112 Gbit/s")
    X(168_GBPS, "168 Gbit/s")
    X(25_GBPS, "25 Gbit/s")
    X(100_GBPS, "100 Gbit/s")
    X(200_GBPS, "200 Gbit/s")
    X(300_GBPS, "300 Gbit/s")
    X(28_GBPS, "28 Gbit/s")
    X(50_GBPS, "50 Gbit/s")
    X(400_GBPS, "400 Gbit/s")
    X(600_GBPS, "600 Gbit/s")
#undef X
    CHECK_STR(vbn_rate_name(23), "800 Gbit/s");
    CHECK_STR(vbn_rate_name(24), "1200 Gbit/s");
}

static const struct test tests[] = {
    {"names_of_rates", names_of_rates},
    {"names_of_bits", names_of_bits},
    {"record_on_the_wire", record_on_the_wire},
    {"endpoint_on_the_wire", endpoint_on_the_wire},
    {"completion_as_ibv_wc", completion_as_ibv_wc},
    {"the_numbers_are_those_of_the_library", the_numbers_are_those_of_the_library},
    {NULL, NULL},
};

int main(int argc, char **argv) { return test_main("null_layout", tests, argc, argv); }
