/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What the provider is asked for: every attribute of every object, field by field, defaults and all. */
#include <endian.h>
#include "null_help.h"

static struct rig g;

static void begin(void)
{
    null_begin();
    g = rig_open();
}

static void end(void)
{
    rig_close(&g);
    null_clean();
}

/* A device with other limits takes effect when it is opened. */
static void reopen(void)
{
    rig_close(&g);
    g = rig_open();
}

/* ---- Completion queues and regions ---- */

static void completion_queues(void)
{
    struct ibv_cq_init_attr_ex got;
    NEW(vbn_cq_attr, attr);
    NEW(vbn_cq_info, info);
    vbn_cq *cq;

    begin();
    for (int with = 0; with < 2; with++) {
        attr.cqe = 100 + (uint32_t)with;
        attr.comp_vector = (uint32_t)(g.ibv_context->num_comp_vectors - 1);
        attr.channel = with ? g.channel : NULL;
        attr.user_data = 9;
        OK(vbn_cq_create(g.context, &attr, &cq));
        MUST(!null.last_create_cq(&got), "none was made");
        MUST(got.cqe == attr.cqe && got.comp_vector == attr.comp_vector, "cqe %u, comp_vector %u", got.cqe, got.comp_vector);
        MUST(got.channel == (with ? g.ibv_channel : NULL), "channel");
        OK(vbn_cq_query(cq, &info));
        MUST(info.cqe >= attr.cqe && info.user_data == 9 && info.has_channel == with, "info");
        OK(vbn_cq_close(&cq));
    }
    end();
}

static void region(const struct nullv_mr_args *want, vbn_mr *mr, uint64_t memory, int kind)
{
    struct nullv_mr_args got;
    NEW(vbn_mr_info, info);

    MUST(!null.last_reg_mr(&got), "none was registered");
    CHECK_STR(got.fn, want->fn);
    MUST(got.length == want->length && got.iova == want->iova && got.access == want->access, "length %zu, iova 0x%llx, access 0x%x",
         got.length, (unsigned long long)got.iova, got.access);
    MUST(got.fd == want->fd && got.offset == want->offset, "fd %d, offset %llu", got.fd, (unsigned long long)got.offset);
    if (want->fd < 0)
        MUST(got.addr == want->addr, "addr %p", got.addr);
    OK(vbn_mr_query(mr, &info));
    MUST(info.kind == kind && info.length == want->length && info.access == want->access, "info");
    MUST(info.addr == want->iova && info.remote_addr == want->iova && vbn_mr_remote_addr(mr) == want->iova, "addresses");
    MUST((uint64_t)(uintptr_t)info.memory == memory, "memory");
    MUST(info.lkey == vbn_mr_lkey(mr) && info.rkey == vbn_mr_rkey(mr) && info.lkey && info.rkey, "keys");
    OK(vbn_mr_close(&mr));
}

static void regions(void)
{
    struct nullv_mr_args want = {.fn = "ibv_reg_mr_iova2", .fd = -1};
    NEW(vbn_mr_attr, attr);
    uint64_t all = VBN_ACCESS_LOCAL_WRITE | VBN_ACCESS_REMOTE_WRITE | VBN_ACCESS_REMOTE_READ | VBN_ACCESS_REMOTE_ATOMIC |
                   VBN_ACCESS_MW_BIND | VBN_ACCESS_RELAXED_ORDERING;
    vbn_mr *mr;

    begin();
    want.addr = rig_memory + 5;
    want.length = 77;
    want.iova = (uintptr_t)rig_memory + 5;
    want.access = (unsigned)all;
    OK(vbn_mr_reg(g.pd, rig_memory + 5, 77, all, NULL, &mr));
    region(&want, mr, (uintptr_t)rig_memory + 5, VBN_MR_HOST);
    attr.set = VBN_MR_SET_IOVA;
    attr.iova = want.iova = 0x7000000000005u;
    want.access = 0;
    OK(vbn_mr_reg(g.pd, rig_memory + 5, 77, 0, &attr, &mr));
    region(&want, mr, (uintptr_t)rig_memory + 5, VBN_MR_HOST);
    want.addr = rig_memory;
    want.iova = 0;
    want.access = VBN_ACCESS_ZERO_BASED;
    OK(vbn_mr_reg(g.pd, rig_memory, 77, VBN_ACCESS_ZERO_BASED, NULL, &mr));
    region(&want, mr, (uintptr_t)rig_memory, VBN_MR_HOST);
    want = (struct nullv_mr_args){.fn = "ibv_reg_dmabuf_mr", .fd = 33, .offset = 4096 * 3 + 8, .length = 5u << 30, .iova = 0x7f0000000008u,
                                  .access = VBN_ACCESS_REMOTE_READ};
    OK(vbn_mr_reg_dmabuf(g.pd, 33, want.offset, want.length, want.iova, want.access, NULL, &mr));
    region(&want, mr, 0, VBN_MR_DMABUF);
    end();
}

/* On-demand paging: the whole address space, whatever the device's largest region. */
static void the_whole_address_space(void)
{
    struct nullv_mr_args want = {.fn = "ibv_reg_mr_iova2", .fd = -1, .length = SIZE_MAX, .access = VBN_ACCESS_ON_DEMAND | VBN_ACCESS_LOCAL_WRITE};
    vbn_sge sges[8];
    uint32_t count;
    uint64_t covered;
    vbn_mr *mr;

    begin();
    null.device_attr()->orig_attr.max_mr_size = 4096;
    reopen();
    WANT(vbn_mr_reg(g.pd, NULL, 4096, VBN_ACCESS_LOCAL_WRITE, NULL, &mr), VBN_ERR_ARGUMENT);
    OK(vbn_mr_reg(g.pd, NULL, UINT64_MAX, want.access, NULL, &mr));
    OK(vbn_mr_segments(mr, 0x7fff00001000u, 10ull << 30, 0, sges, 8, &count, &covered));
    MUST(count == 8 && covered == 8ull << 30, "%u segments, %llu bytes", count, (unsigned long long)covered);
    for (uint64_t i = 0; i < count; i++)
        MUST(sges[i].addr == 0x7fff00001000u + (i << 30) && sges[i].length == 1u << 30 && sges[i].lkey == vbn_mr_lkey(mr), "segment %llu",
             (unsigned long long)i);
    OK(vbn_mr_segments(mr, UINT64_MAX - 3, 3, 2, sges, 8, &count, &covered));
    MUST(count == 2 && covered == 3 && sges[1].addr == UINT64_MAX - 1 && sges[1].length == 1, "%u segments at the very end", count);
    WANT(vbn_mr_segments(mr, UINT64_MAX - 3, 4, 2, sges, 8, &count, &covered), VBN_ERR_ARGUMENT);
    region(&want, mr, 0, VBN_MR_HOST);
    end();
}

/* ---- Queue pairs ---- */

static struct ibv_qp_init_attr_ex made(const vbn_qp_init_attr *attr)
{
    struct ibv_qp_init_attr_ex got;
    vbn_qp *qp;

    OK(vbn_qp_create(g.pd, attr, &qp));
    MUST(!null.last_create_qp(&got), "none was made");
    MUST(got.qp_type == IBV_QPT_RC && !got.srq, "type %d", got.qp_type);
    OK(vbn_qp_close(&qp));
    return got;
}

static void caps(const struct ibv_qp_init_attr_ex *got, uint32_t send_wr, uint32_t recv_wr, uint32_t send_sge, uint32_t recv_sge, uint32_t inl)
{
    MUST(got->cap.max_send_wr == send_wr && got->cap.max_recv_wr == recv_wr, "depths %u, %u", got->cap.max_send_wr, got->cap.max_recv_wr);
    MUST(got->cap.max_send_sge == send_sge && got->cap.max_recv_sge == recv_sge, "segments %u, %u", got->cap.max_send_sge, got->cap.max_recv_sge);
    MUST(got->cap.max_inline_data == inl, "inline %u", got->cap.max_inline_data);
}

static void queue_pairs(void)
{
    NEW(vbn_qp_init_attr, attr);
    struct ibv_qp_init_attr_ex got;
    struct ibv_cq *other_native;
    NEW(vbn_cq_attr, cq_attr);
    vbn_cq *other;

    begin();
    cq_attr.cqe = 8;
    OK(vbn_cq_create(g.context, &cq_attr, &other));
    OK(vbn_cq_native(other, &other_native));
    attr.send_cq = g.cq;
    got = made(&attr);
    caps(&got, 128, 128, 1, 1, 0);
    MUST(got.send_cq == g.ibv_cq && got.recv_cq == g.ibv_cq && !got.sq_sig_all, "queues or sq_sig_all");
    attr.recv_cq = other;
    attr.sq_sig_all = 1;
    attr.max_send_wr = 8192;
    attr.max_recv_wr = 7;
    attr.max_send_sge = 16;
    attr.max_recv_sge = 3;
    attr.max_inline_data = 220;
    got = made(&attr);
    caps(&got, 8192, 7, 16, 3, 220);
    MUST(got.send_cq == g.ibv_cq && got.recv_cq == other_native && got.sq_sig_all, "queues or sq_sig_all");
    /* Zeros that are meant. */
    attr.max_send_wr = attr.max_recv_wr = attr.max_recv_sge = 0;
    attr.set = VBN_QP_INIT_SET_MAX_SEND_WR | VBN_QP_INIT_SET_MAX_RECV_WR | VBN_QP_INIT_SET_MAX_RECV_SGE;
    got = made(&attr);
    caps(&got, 0, 0, 16, 0, 220);
    OK(vbn_cq_close(&other));
    end();
}

/* A device that has less than the defaults. */
static void a_small_device(void)
{
    struct ibv_qp_init_attr_ex got;
    NEW(vbn_qp_init_attr, attr);

    begin();
    null.device_attr()->orig_attr.max_qp_wr = 600;
    reopen();
    attr.send_cq = g.cq;
    got = made(&attr);
    caps(&got, 128, 128, 1, 1, 0);
    null.device_attr()->orig_attr.max_qp_wr = 10;
    OK(vbn_qp_close(&g.qp));
    {
        vbn_context *small;
        NEW(vbn_cq_attr, cq_attr);
        vbn_pd *pd;
        vbn_cq *cq;
        vbn_qp *qp;

        OK(vbn_context_open("null1", NULL, &small));
        OK(vbn_pd_alloc(small, NULL, &pd));
        cq_attr.cqe = 8;
        OK(vbn_cq_create(small, &cq_attr, &cq));
        attr.send_cq = cq;
        OK(vbn_qp_create(pd, &attr, &qp));
        MUST(!null.last_create_qp(&got), "none");
        caps(&got, 10, 10, 1, 1, 0);
        attr.max_send_wr = 11;
        OK(vbn_qp_close(&qp));
        WANT(vbn_qp_create(pd, &attr, &qp), VBN_ERR_LIMIT);
        WANT_NUMBERS(11, 10);
        OK(vbn_cq_close(&cq));
        OK(vbn_pd_close(&pd));
        OK(vbn_context_close(&small));
    }
    end();
}

/* ---- ibv_modify_qp ---- */

static struct ibv_qp_attr modified(int want_mask)
{
    struct ibv_qp_attr attr;
    int mask;

    MUST(!null.last_modify(&attr, &mask), "it wasn't called");
    MUST(mask == want_mask, "mask 0x%x, not 0x%x", mask, want_mask);
    return attr;
}

static void same_path(const struct ibv_ah_attr *got, const vbn_path *want)
{
    MUST(!memcmp(got->grh.dgid.raw, want->dgid, 16), "dgid");
    MUST(got->grh.flow_label == want->flow_label && got->grh.sgid_index == want->sgid_index, "flow_label or sgid_index");
    MUST(got->grh.hop_limit == want->hop_limit && got->grh.traffic_class == want->traffic_class, "hop_limit or traffic_class");
    MUST(got->dlid == want->dlid && got->sl == want->sl && got->src_path_bits == want->src_path_bits, "dlid, sl or src_path_bits");
    MUST(got->static_rate == want->static_rate && got->is_global == want->is_global && got->port_num == want->port_num, "rate, is_global or port");
}

static vbn_path sample_path(uint8_t from)
{
    vbn_path path = {.flow_label = 0xabc00u + from, .dlid = (uint16_t)(0x1100 + from), .sgid_index = (uint8_t)(from + 1), .hop_limit = (uint8_t)(from + 2),
                     .traffic_class = (uint8_t)(from + 3), .is_global = 1, .sl = (uint8_t)(from + 4), .src_path_bits = (uint8_t)(from + 5),
                     .static_rate = (uint8_t)(from + 6), .port_num = (uint8_t)(from + 7)};

    for (uint8_t i = 0; i < 16; i++)
        path.dgid[i] = (uint8_t)(from + 16 + i);
    return path;
}

static void modify_passes_all_fields_on(void)
{
    NEW(vbn_qp_attr, attr);
    struct ibv_qp_attr got;

    begin();
    attr.set = (VBN_QP_DEST_QPN << 1) - 1;
    attr.qp_state = VBN_QPS_RTS;
    attr.cur_qp_state = VBN_QPS_RTR;
    attr.path_mtu = VBN_MTU_2048;
    attr.path_mig_state = 2;
    attr.qkey = 0x11111111;
    attr.rq_psn = 0x222222;
    attr.sq_psn = 0x333333;
    attr.dest_qp_num = 0x444444;
    attr.qp_access_flags = VBN_ACCESS_REMOTE_READ;
    attr.max_send_wr = 51;
    attr.max_recv_wr = 52;
    attr.max_send_sge = 53;
    attr.max_recv_sge = 54;
    attr.max_inline_data = 55;
    attr.rate_limit = 66;
    attr.pkey_index = 71;
    attr.alt_pkey_index = 72;
    attr.path = sample_path(80);
    attr.alt_path = sample_path(120);
    attr.en_sqd_async_notify = 1;
    attr.max_rd_atomic = 91;
    attr.max_dest_rd_atomic = 92;
    attr.min_rnr_timer = 23;
    attr.port_num = 94;
    attr.timeout = 25;
    attr.retry_cnt = 6;
    attr.rnr_retry = 7;
    attr.alt_timeout = 28;
    OK(vbn_qp_modify(g.qp, &attr));
    got = modified((int)attr.set);
    MUST(got.qp_state == IBV_QPS_RTS && got.cur_qp_state == IBV_QPS_RTR && got.path_mtu == IBV_MTU_2048 && (int)got.path_mig_state == 2, "enums");
    MUST(got.qkey == 0x11111111 && got.rq_psn == 0x222222 && got.sq_psn == 0x333333 && got.dest_qp_num == 0x444444, "qkey, psns, dest_qp_num");
    MUST(got.qp_access_flags == IBV_ACCESS_REMOTE_READ, "qp_access_flags");
    MUST(got.cap.max_send_wr == 51 && got.cap.max_recv_wr == 52 && got.cap.max_send_sge == 53 && got.cap.max_recv_sge == 54 &&
         got.cap.max_inline_data == 55, "cap");
    MUST(got.pkey_index == 71 && got.alt_pkey_index == 72, "pkey_index");
    same_path(&got.ah_attr, &attr.path);
    same_path(&got.alt_ah_attr, &attr.alt_path);
    MUST(got.alt_port_num == attr.alt_path.port_num, "alt_port_num");
    MUST(got.en_sqd_async_notify == 1 && got.max_rd_atomic == 91 && got.max_dest_rd_atomic == 92 && got.min_rnr_timer == 23, "small ones");
    MUST(got.port_num == 94 && got.timeout == 25 && got.retry_cnt == 6 && got.rnr_retry == 7 && got.alt_timeout == 28, "small ones");
    attr.set = VBN_QP_RATE_LIMIT;
    OK(vbn_qp_modify(g.qp, &attr));
    MUST(modified(IBV_QP_RATE_LIMIT).rate_limit == 66, "rate_limit");
    end();
}

/* And back: a query tells what was set. */
static void query_tells_what_was_set(void)
{
    NEW(vbn_qp_attr, attr);
    NEW(vbn_qp_info, info);

    begin();
    attr.set = VBN_QP_STATE | VBN_QP_PATH_MTU | VBN_QP_AV | VBN_QP_DEST_QPN | VBN_QP_RQ_PSN | VBN_QP_SQ_PSN | VBN_QP_TIMEOUT | VBN_QP_PORT;
    attr.qp_state = VBN_QPS_RTR;
    attr.path_mtu = VBN_MTU_512;
    attr.path = sample_path(10);
    attr.dest_qp_num = 0x123456;
    attr.rq_psn = 0x654321;
    attr.sq_psn = 0xabcdef;
    attr.timeout = 17;
    attr.port_num = 1;
    OK(vbn_qp_modify(g.qp, &attr));
    OK(vbn_qp_query(g.qp, &info));
    MUST(info.qp_state == VBN_QPS_RTR && info.path_mtu == VBN_MTU_512 && info.dest_qp_num == 0x123456, "state, path_mtu or dest_qp_num");
    MUST(info.rq_psn == 0x654321 && info.sq_psn == 0xabcdef && info.timeout == 17 && info.port_num == 1, "psns, timeout or port");
    CHECK_MEM(&info.path, &attr.path, sizeof(info.path));
    MUST(info.user_data == QP_DATA && info.qp_num == g.qpn && info.qp_type == VBN_QPT_RC, "user_data, qp_num or qp_type");
    MUST(info.max_send_wr == 512 && info.max_recv_wr == 512 && info.max_send_sge == 4 && info.max_recv_sge == 4 && info.max_inline_data == 64,
         "capacities");
    MUST(info.max_message == 1u << 30 && info.send_ops == 0x3ff && !info.sq_sig_all, "max_message, send_ops or sq_sig_all");
    end();
}

/* ---- Connecting ---- */

enum {
    INIT_MASK = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS,
    RTR_MASK = IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER,
    RTS_MASK = IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC,
};

static vbn_rc_record local, remote;

static void records(void)
{
    OK(vbn_rc_record_local(g.qp, NULL, &local));
    remote = (vbn_rc_record){.qp_num = 0x123456, .psn = 0xabcdef, .lid = 77, .port_num = 2, .mtu = VBN_MTU_512};
    memcpy(remote.gid, local.gid, 16);
    remote.gid[15] ^= 0x40;
}

/* On RoCE: the IPv4 GID of version 2. */
static const uint8_t ipv4_gid[16] = {[10] = 0xff, 0xff, 192, 0, 2, 1};

static void connecting_on_roce(void)
{
    struct ibv_qp_attr got;

    begin();
    records();
    MUST(local.qp_num == g.qpn && local.psn <= 0xffffff && local.port_num == 1 && local.mtu == VBN_MTU_1024 && !local.lid, "the local record");
    CHECK_MEM(local.gid, ipv4_gid, 16);
    OK(vbn_qp_to_init(g.qp, NULL));
    got = modified(INIT_MASK);
    MUST(got.qp_state == IBV_QPS_INIT && got.port_num == 1 && got.pkey_index == 0, "INIT");
    MUST(got.qp_access_flags == (IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ), "access 0x%x", got.qp_access_flags);
    OK(vbn_qp_to_rtr(g.qp, &local, &remote, NULL));
    got = modified(RTR_MASK);
    MUST(got.qp_state == IBV_QPS_RTR && got.path_mtu == IBV_MTU_512 && got.dest_qp_num == 0x123456 && got.rq_psn == 0xabcdef, "RTR");
    MUST(got.max_dest_rd_atomic == 16 && got.min_rnr_timer == 12, "max_dest_rd_atomic %u, min_rnr_timer %u", got.max_dest_rd_atomic, got.min_rnr_timer);
    MUST(got.ah_attr.is_global && !memcmp(got.ah_attr.grh.dgid.raw, remote.gid, 16) && got.ah_attr.port_num == 1, "address");
    MUST(got.ah_attr.grh.sgid_index == 2 && got.ah_attr.grh.hop_limit == 64 && !got.ah_attr.grh.traffic_class && !got.ah_attr.grh.flow_label,
         "sgid_index %u, hop_limit %u", got.ah_attr.grh.sgid_index, got.ah_attr.grh.hop_limit);
    OK(vbn_qp_to_rts(g.qp, &local, NULL));
    got = modified(RTS_MASK);
    MUST(got.qp_state == IBV_QPS_RTS && got.sq_psn == local.psn, "RTS");
    MUST(got.timeout == 14 && got.retry_cnt == 6 && got.rnr_retry == 7 && got.max_rd_atomic == 16, "timeout %u, retry_cnt %u, rnr_retry %u, max_rd_atomic %u",
         got.timeout, got.retry_cnt, got.rnr_retry, got.max_rd_atomic);
    end();
}

/* The smaller MTU is one's own where the peer can do more. */
static void the_smaller_mtu(void)
{
    begin();
    records();
    remote.mtu = VBN_MTU_4096;
    OK(vbn_qp_to_init(g.qp, NULL));
    OK(vbn_qp_to_rtr(g.qp, &local, &remote, NULL));
    MUST(modified(RTR_MASK).path_mtu == IBV_MTU_1024, "path_mtu %d", modified(RTR_MASK).path_mtu);
    end();
}

/* On the second port of two, too. */
static void connecting_with_everything_given(void)
{
    NEW(vbn_rc_attr, attr);
    NEW(vbn_port_attr, port);
    struct ibv_qp_attr got;

    begin();
    null.device_attr()->orig_attr.phys_port_cnt = 2;
    null.port_attr()->lid = 30;
    reopen();
    OK(vbn_context_query_port(g.context, 2, &port));
    MUST(port.lid == 31, "lid %u", port.lid);
    WANT(vbn_context_query_port(g.context, 3, &port), VBN_ERR_LIMIT);
    attr.set = (VBN_RC_SET_PSN << 1) - 1;
    attr.access = VBN_ACCESS_REMOTE_ATOMIC;
    attr.psn = 0x777777;
    attr.path_mtu = VBN_MTU_256;
    attr.flow_label = 0x12345;
    attr.pkey_index = 1;
    attr.port_num = 2;
    attr.sgid_index = 1;
    attr.hop_limit = 3;
    attr.traffic_class = 106;
    attr.sl = 5;
    attr.src_path_bits = 6;
    attr.static_rate = 7;
    attr.is_global = 1;
    attr.min_rnr_timer = 0;
    attr.max_dest_rd_atomic = 0;
    attr.timeout = 0;
    attr.retry_cnt = 0;
    attr.rnr_retry = 0;
    attr.max_rd_atomic = 0;
    OK(vbn_rc_record_local(g.qp, &attr, &local));
    MUST(local.psn == 0x777777 && local.gid[0] == 0xfe && local.lid == 31, "the local record");
    remote = local;
    remote.qp_num ^= 1;
    OK(vbn_qp_to_init(g.qp, &attr));
    got = modified(INIT_MASK);
    MUST(got.qp_access_flags == IBV_ACCESS_REMOTE_ATOMIC && got.pkey_index == 1 && got.port_num == 2, "INIT");
    OK(vbn_qp_to_rtr(g.qp, &local, &remote, &attr));
    got = modified(RTR_MASK);
    MUST(got.path_mtu == IBV_MTU_256 && !got.min_rnr_timer && !got.max_dest_rd_atomic, "RTR");
    MUST(got.ah_attr.grh.flow_label == 0x12345 && got.ah_attr.grh.sgid_index == 1 && got.ah_attr.grh.hop_limit == 3 && got.ah_attr.grh.traffic_class == 106,
         "global header");
    MUST(got.ah_attr.port_num == 2 && got.ah_attr.sl == 5 && got.ah_attr.src_path_bits == 6 && got.ah_attr.static_rate == 7, "address");
    OK(vbn_qp_to_rts(g.qp, &local, &attr));
    got = modified(RTS_MASK);
    MUST(got.sq_psn == 0x777777 && !got.timeout && !got.retry_cnt && !got.rnr_retry && !got.max_rd_atomic, "RTS: zeros that were meant");
    end();
}

/* InfiniBand: by LID; with the global header where the port or the way needs it. */
static void connecting_on_infiniband(void)
{
    struct ibv_qp_attr got;

    for (int way = 0; way < 4; way++) {
        NEW(vbn_rc_attr, attr);

        begin();
        null.port_attr()->link_layer = IBV_LINK_LAYER_INFINIBAND;
        null.port_attr()->lid = 42;
        null.port_attr()->flags = way == 1 ? IBV_QPF_GRH_REQUIRED : 0;
        records();
        MUST(local.lid == 42 && local.gid[0] == 0xfe, "the local record: entry 0");
        if (way == 2)
            remote.gid[0] ^= 1;
        if (way == 3) {
            attr.set = VBN_RC_SET_IS_GLOBAL;
            attr.is_global = 1;
        }
        OK(vbn_qp_to_init(g.qp, NULL));
        OK(vbn_qp_to_rtr(g.qp, &local, &remote, &attr));
        got = modified(RTR_MASK);
        MUST(got.ah_attr.dlid == 77 && got.ah_attr.is_global == (way != 0), "way %d: dlid %u, is_global %u", way, got.ah_attr.dlid,
             got.ah_attr.is_global);
        if (way) {
            uint8_t mine[16];

            MUST(!memcmp(got.ah_attr.grh.dgid.raw, remote.gid, 16), "dgid");
            OK(vbn_context_query_gid(g.context, 1, got.ah_attr.grh.sgid_index, mine));
            CHECK_MEM(mine, local.gid, 16);
        }
        end();
    }
}

/* The depth of reads is the device's where that is below 16. */
static void read_depth_of_the_device(void)
{
    begin();
    null.device_attr()->orig_attr.max_qp_rd_atom = 4;
    null.device_attr()->orig_attr.max_qp_init_rd_atom = 3;
    reopen();
    records();
    OK(vbn_qp_to_init(g.qp, NULL));
    OK(vbn_qp_to_rtr(g.qp, &local, &remote, NULL));
    MUST(modified(RTR_MASK).max_dest_rd_atomic == 4, "max_dest_rd_atomic");
    OK(vbn_qp_to_rts(g.qp, &local, NULL));
    MUST(modified(RTS_MASK).max_rd_atomic == 3, "max_rd_atomic");
    end();
}

/* A PSN is random unless given: two records of one queue pair differ, some time. */
static void random_psns(void)
{
    uint32_t first;
    int differ = 0;

    begin();
    records();
    first = local.psn;
    for (int i = 0; i < 8; i++) {
        records();
        differ |= local.psn != first;
        MUST(local.psn <= 0xffffff, "psn 0x%x", local.psn);
    }
    MUST(differ, "nine times the PSN 0x%x", first);
    end();
}

/* ---- Queries ---- */

static void device_attributes(void)
{
    NEW(vbn_device_attr, attr);
    struct ibv_device_attr_ex *from = null.device_attr();

    begin();
    strcpy(from->orig_attr.fw_ver, "1.2.3");
    from->orig_attr.vendor_id = 101;
    from->orig_attr.max_mr_size = 102;
    from->orig_attr.max_srq_sge = 103;
    from->orig_attr.max_pkeys = 104;
    from->orig_attr.max_total_mcast_qp_attach = 105;
    from->odp_caps.general_caps = 106;
    from->odp_caps.per_transport_caps.rc_odp_caps = 107;
    from->xrc_odp_caps = 108;
    from->tso_caps.max_tso = 109;
    from->rss_caps.rx_hash_fields_mask = 110;
    from->packet_pacing_caps.qp_rate_limit_max = 111;
    from->tm_caps.max_sge = 112;
    from->pci_atomic_caps.compare_swap = 113;
    from->max_dm_size = 114;
    OK(vbn_context_query_device(g.context, &attr));
    CHECK_STR(attr.fw_ver, "1.2.3");
    MUST(attr.node_guid == 0x020000fffe000001u && attr.sys_image_guid == attr.node_guid, "guid 0x%llx", (unsigned long long)attr.node_guid);
    MUST(attr.vendor_id == 101 && attr.max_mr_size == 102 && attr.max_srq_sge == 103 && attr.max_pkeys == 104, "plain ones");
    MUST(attr.max_total_mcast_qp_attach == 105 && attr.max_qp == 4096 && attr.max_cqe == 65536 && attr.local_ca_ack_delay == 15, "plain ones");
    MUST(attr.has_extended && attr.odp_general_caps == 106 && attr.odp_rc_caps == 107 && attr.odp_xrc_caps == 108, "on-demand paging");
    MUST(attr.tso_max == 109 && attr.rss_rx_hash_fields_mask == 110 && attr.rate_limit_max == 111 && attr.tm_max_sge == 112, "extended ones");
    MUST(attr.pci_atomic_compare_swap == 113 && attr.max_dm_size == 114 && attr.completion_timestamp_mask == UINT64_MAX, "extended ones");
    end();
}

static void port_attributes(void)
{
    NEW(vbn_port_attr, attr);
    struct ibv_port_attr *from = null.port_attr();

    begin();
    from->state = IBV_PORT_DOWN;
    from->bad_pkey_cntr = 1;
    from->qkey_viol_cntr = 2;
    from->lid = 3;
    from->sm_lid = 4;
    from->lmc = 5;
    from->sm_sl = 6;
    from->subnet_timeout = 7;
    from->init_type_reply = 8;
    from->active_width = 9;
    from->active_speed = 10;
    from->port_cap_flags = 11;
    OK(vbn_context_query_port(g.context, 1, &attr));
    MUST(attr.state == IBV_PORT_DOWN && attr.max_mtu == VBN_MTU_4096 && attr.active_mtu == VBN_MTU_1024 && attr.link_layer == 2, "enums");
    MUST(attr.gid_tbl_len == 4 && attr.pkey_tbl_len == 2 && attr.max_msg_sz == 1u << 30 && attr.port_cap_flags == 11, "lengths");
    MUST(attr.bad_pkey_cntr == 1 && attr.qkey_viol_cntr == 2 && attr.lid == 3 && attr.sm_lid == 4 && attr.lmc == 5, "counters or lids");
    MUST(attr.sm_sl == 6 && attr.subnet_timeout == 7 && attr.init_type_reply == 8 && attr.active_width == 9 && attr.active_speed == 10, "small ones");
    end();
}

static void gids_and_pkeys(void)
{
    static const int32_t types[] = {VBN_GID_TYPE_ROCE_V1, VBN_GID_TYPE_ROCE_V2, VBN_GID_TYPE_ROCE_V2};
    vbn_gid_entry entries[4];
    NEW(vbn_gid_select_attr, attr);
    NEW(vbn_gid_choice, choice);
    uint32_t count;
    uint8_t gid[16], zero[16] = {0};
    uint16_t pkey = 0;

    begin();
    memset(entries, 0xa5, sizeof(entries));
    OK(vbn_context_gid_table(g.context, entries, sizeof(entries[0]), 4, &count));
    MUST(count == 3, "count %u", count);
    for (uint32_t i = 0; i < 3; i++) {
        MUST(entries[i].index == i && entries[i].port_num == 1 && entries[i].type == types[i], "entry %u", i);
        OK(vbn_context_query_gid(g.context, 1, i, gid));
        CHECK_MEM(gid, entries[i].gid, 16);
    }
    CHECK_MEM(entries[2].gid, ipv4_gid, 16);
    MUST(entries[2].family == VBN_GID_FAMILY_IPV4 && entries[1].family == VBN_GID_FAMILY_IPV6, "families");
    MUST(entries[3].index == 0xa5a5a5a5, "the fourth was written");
    /* With less room the count is the same. */
    memset(entries, 0xa5, sizeof(entries));
    OK(vbn_context_gid_table(g.context, entries, sizeof(entries[0]), 1, &count));
    MUST(count == 3 && entries[0].index == 0 && entries[1].index == 0xa5a5a5a5, "count %u", count);
    OK(vbn_context_query_gid(g.context, 1, 3, gid));
    CHECK_MEM(gid, zero, 16);
    OK(vbn_context_query_pkey(g.context, 1, 0, &pkey));
    MUST(pkey == 0xffff, "pkey 0x%x", pkey);
    OK(vbn_context_query_pkey(g.context, 1, 1, &pkey));
    MUST(pkey == 0x8123, "pkey 0x%x", pkey);
    OK(vbn_gid_select(g.context, 1, NULL, &choice, NULL, 0, 0, &count));
    MUST(choice.index == 2 && choice.type == VBN_GID_TYPE_ROCE_V2 && !choice.last_resort && choice.text[0] && count == 3, "choice %u", choice.index);
    CHECK_MEM(choice.gid, ipv4_gid, 16);
    attr.set = VBN_GID_SET_TYPE;
    attr.type = VBN_GID_TYPE_ROCE_V1;
    OK(vbn_gid_select(g.context, 1, &attr, &choice, NULL, 0, 0, NULL));
    MUST(choice.index == 0 && choice.type == VBN_GID_TYPE_ROCE_V1, "choice %u", choice.index);
    attr.set = 0;
    attr.family = VBN_GID_FAMILY_IPV6;
    OK(vbn_gid_select(g.context, 1, &attr, &choice, NULL, 0, 0, NULL));
    MUST(choice.index == 1 && choice.last_resort, "choice %u", choice.index);
    end();
}

static const struct test tests[] = {
    {"completion_queues", completion_queues},
    {"regions", regions},
    {"the_whole_address_space", the_whole_address_space},
    {"queue_pairs", queue_pairs},
    {"a_small_device", a_small_device},
    {"modify_passes_all_fields_on", modify_passes_all_fields_on},
    {"query_tells_what_was_set", query_tells_what_was_set},
    {"connecting_on_roce", connecting_on_roce},
    {"the_smaller_mtu", the_smaller_mtu},
    {"connecting_with_everything_given", connecting_with_everything_given},
    {"connecting_on_infiniband", connecting_on_infiniband},
    {"read_depth_of_the_device", read_depth_of_the_device},
    {"random_psns", random_psns},
    {"device_attributes", device_attributes},
    {"port_attributes", port_attributes},
    {"gids_and_pkeys", gids_and_pkeys},
    {NULL, NULL},
};

int main(int argc, char **argv)
{
    null_start();
    return test_main("null_attrs", tests, argc, argv);
}
