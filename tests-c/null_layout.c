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

/* struct_size comes first and is a size_t; no size ends in padding of 4 bytes that a later field would fall into. */
#define COLD(type) \
    AT(type, struct_size, 0, sizeof(size_t)); \
    _Static_assert(sizeof(type) % 8 == 0, #type " has a tail of padding")
COLD(vbn_adopt_attr);
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
COLD(vbn_port_attr);
COLD(vbn_qp_attr);
COLD(vbn_qp_info);
COLD(vbn_qp_init_attr);
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
#define OPERATION(name) _Static_assert((uint64_t)(VBN_QP_OP_##name) == (uint64_t)(IBV_QP_EX_WITH_##name), "VBN_QP_OP_" #name)
OPERATION(RDMA_WRITE);
OPERATION(RDMA_WRITE_WITH_IMM);
OPERATION(SEND);
OPERATION(SEND_WITH_IMM);
OPERATION(RDMA_READ);
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

static const struct test tests[] = {
    {"record_on_the_wire", record_on_the_wire},
    {"completion_as_ibv_wc", completion_as_ibv_wc},
    {"the_numbers_are_those_of_the_library", the_numbers_are_those_of_the_library},
    {NULL, NULL},
};

int main(int argc, char **argv) { return test_main("null_layout", tests, argc, argv); }
