/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Numbers at random, with a liking for the edges: nothing may be answered with VBN_ERR_INTERNAL (a caught panic, such as an
 * arithmetic overflow), and every failure must have its record. The same numbers every time; VBN_TEST_SEED gives others.
 */
#include "null_help.h"
#include "simcuda/simcuda_load.h"

static struct rig g;
static uint64_t state;

static uint64_t next(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

/* Small, near a power of two, near the end, or anything. */
static uint64_t edge(void)
{
    uint64_t power = 1ull << (next() % 64), near = next() % 5;

    switch (next() % 6) {
    case 0: return next() % 8;
    case 1: return power + near - 2;
    case 2: return UINT64_MAX - near;
    case 3: return power * (next() % 4);
    case 4: return next() & next() & next();
    default: return next();
    }
}

static void scatter(void *to, size_t size)
{
    unsigned char *bytes = to;

    for (size_t i = 0; i < size;) {
        uint64_t value = edge();
        size_t n = 1u << (next() % 4);

        n = n < size - i ? n : size - i;
        memcpy(bytes + i, &value, n);
        i += n;
    }
}

static uint64_t edge_or_one(void)
{
    uint64_t value = edge();

    return value ? value : 1;
}

/* How often each status came: a test in which nothing ever succeeds, or nothing fails, proves little. */
static unsigned long good, bad;

static vbn_status note(const char *op, vbn_status status)
{
    if (!status) {
        good++;
        return status;
    }
    bad++;
    MUST(status <= VBN_ERR_ARGUMENT && status != VBN_ERR_INTERNAL, "%s: %s: %s", op, vbn_status_name(status), last()->message);
    MUST(last()->status == status && !strcmp(last()->op_name, op) && last()->message[0], "%s: %s, but the record has %s of %s", op,
         vbn_status_name(status), vbn_status_name(last()->status), last()->op_name);
    return status;
}
#define ANY(call) note(null_op(#call), (call))

static int rounds(void) { return getenv("VBN_TEST_STRIDE") ? 300 : 20000; }

static void with(void (*body)(void))
{
    const char *seed = getenv("VBN_TEST_SEED");

    null_begin();
    g = rig_open();
    state = 0x9e3779b97f4a7c15u ^ (seed ? strtoull(seed, NULL, 0) : 0);
    good = bad = 0;
    for (int i = 0; i < rounds(); i++)
        body();
    MUST(good && bad, "%lu calls succeeded, %lu failed", good, bad);
    test_note("%lu calls succeeded, %lu failed", good, bad);
    rig_close(&g);
    null_clean();
}

static void registration(void)
{
    uint64_t access = next() % 3 ? next() % 1024 : edge(), length = edge(), start = edge();
    NEW(vbn_mr_attr, attr);
    vbn_mr *mr;

    attr.set = next() % 3;
    attr.iova = next() % 2 ? edge() : start;
    if (!ANY(vbn_mr_reg(g.pd, (void *)(uintptr_t)start, length, access, &attr, &mr)))
        OK(vbn_mr_close(&mr));
    attr.set = 0;
    if (!ANY(vbn_mr_reg_dmabuf(g.pd, (int32_t)edge(), start, length, next() % 2 ? start : edge(), access, &attr, &mr)))
        OK(vbn_mr_close(&mr));
}

static void cutting(void)
{
    uint64_t length = edge(), covered, offset, wanted, sum = 0;
    uint32_t capacity = (uint32_t)(next() % 9), count, most = (uint32_t)edge();
    vbn_sge sges[8];
    vbn_mr *mr;

    if (ANY(vbn_mr_reg(g.pd, NULL, length, VBN_ACCESS_ON_DEMAND, NULL, &mr)))
        return;
    offset = edge();
    wanted = edge();
    if (!ANY(vbn_mr_segments(mr, offset, wanted, most, sges, capacity < 8 ? capacity : 8, &count, &covered))) {
        for (uint32_t i = 0; i < count; i++) {
            MUST(sges[i].addr == offset + sum && sges[i].length && (!most || sges[i].length <= most), "segment %u", i);
            sum += sges[i].length;
        }
        MUST(sum == covered && covered <= wanted && offset + wanted <= length, "%llu bytes", (unsigned long long)sum);
    } else {
        MUST(!count && !covered, "outputs");
    }
    OK(vbn_mr_close(&mr));
}

static void splitting(void)
{
    uint32_t capacity = (uint32_t)(next() % 9), count; /* at most 8 */
    uint64_t first = next() % 2 ? next() % 4 : edge(), total, next_local = 0, next_remote = 0;
    vbn_send_wr wrs[8];
    vbn_split_attr attr;

    scatter(&attr, sizeof(attr));
    attr.struct_size = sizeof(attr);
    attr.mr = next() % 8 ? NULL : g.mr;
    attr.peer = NULL;
    attr.mr_set = NULL;
    attr.region = NULL;
    attr.nic = attr.reserved0 = 0;
    attr.opcode = next() % 8 ? (uint32_t)(next() % 5) : (uint32_t)edge();
    attr.chunk = next() % 2 ? 0 : edge();
    attr.offset = next() % 2 ? 0 : edge();
    attr.remote_offset = next() % 2 ? 0 : edge();
    if (next() % 2)
        attr.remote_length = 0;
    if (next() % 2) { /* a good one, as far as that goes */
        attr.local_addr >>= 2;
        attr.local_length = (uint64_t)1 << 40;
        attr.length = 1 + next() % (next() % 2 ? 4096 : (uint64_t)1 << 36);
        attr.remote_addr >>= 2;
        attr.remote_length = 0;
        attr.wr_id >>= 1;
    }
    if (attr.mr)
        attr.local_addr = attr.local_length = attr.lkey = 0;
    if (ANY(vbn_rdma_split(g.qp, &attr, first, wrs, capacity, &count, &total))) {
        MUST(!count && !total, "outputs");
        return;
    }
    MUST(total && first <= total && count == (total - first < capacity ? total - first : capacity), "%u requests", count);
    for (uint32_t i = 0; i < count; i++) {
        const vbn_send_wr *wr = &wrs[i];

        MUST(wr->wr_id == attr.wr_id + first + i, "wr_id of request %u", i);
        MUST(wr->sge.length && wr->sge.length <= attr.length && (!attr.chunk || wr->sge.length <= attr.chunk), "length of request %u", i);
        MUST(!i || (wr->sge.addr == next_local && wr->remote_addr == next_remote), "addresses of request %u", i);
        next_local = wr->sge.addr + wr->sge.length;
        next_remote = wr->remote_addr + wr->sge.length;
    }
    if (count && first + count == total)
        MUST(next_remote == attr.remote_addr + attr.remote_offset + attr.length, "the end of the transfer");
}

static void explaining(void)
{
    static const char *const drivers[] = {NULL, "", "efa", "mlx5_core", "rxe", "another"};
    char text[VBN_EXPLAIN_TEXT_SIZE + 1];
    size_t capacity = next() % VBN_EXPLAIN_TEXT_SIZE, needed;
    vbn_explain_attr attr;

    scatter(&attr, sizeof(attr));
    attr.struct_size = sizeof(attr);
    attr.set &= next() % 8 ? 1 : UINT64_MAX;
    attr.driver_name = drivers[next() % ARRAY_SIZE(drivers)];
    attr.context = next() % 2 ? g.context : NULL;
    if (next() % 2)
        attr.driver = next() % 2 ? VBN_DRIVER_EFA : 0;
    if (next() % 2)
        attr.status = (int32_t)(next() % 26);
    if (next() % 2)
        attr.vendor_err = (uint32_t)(next() % 20);
    text[capacity] = 0x5a;
    if (ANY(vbn_explain(&attr, text, capacity, &needed)))
        return;
    MUST(text[capacity] == 0x5a, "written beyond the room");
    MUST(needed > 40 && needed <= VBN_EXPLAIN_TEXT_SIZE, "room for %zu bytes", needed);
    MUST(!capacity || strlen(text) == (needed <= capacity ? needed : capacity) - 1, "%zu bytes written", strlen(text));
}

static void creation(void)
{
    NEW(vbn_cq_attr, cq_attr);
    vbn_qp_init_attr attr;
    vbn_cq *cq;
    vbn_qp *qp;

    cq_attr.cqe = (uint32_t)edge();
    cq_attr.comp_vector = (uint32_t)(next() % 2 ? 0 : edge());
    if (!ANY(vbn_cq_create(g.context, &cq_attr, &cq)))
        OK(vbn_cq_close(&cq));
    memset(&attr, 0, sizeof(attr));
    if (next() % 4 == 0)
        scatter(&attr, sizeof(attr));
    attr.struct_size = sizeof(attr);
    attr.send_cq = g.cq;
    attr.recv_cq = NULL;
    attr.srq = NULL;
    attr.max_send_wr = (uint32_t)edge();
    attr.max_recv_sge = (uint32_t)edge();
    attr.max_inline_data = (uint32_t)edge();
    if (!ANY(vbn_qp_create(g.pd, &attr, &qp)))
        OK(vbn_qp_close(&qp));
}

static void modification(void)
{
    vbn_qp_attr attr;

    scatter(&attr, sizeof(attr));
    attr.struct_size = sizeof(attr);
    memset(attr.reserved0, 0, sizeof(attr.reserved0));
    memset(attr.path.reserved0, 0, sizeof(attr.path.reserved0));
    memset(attr.alt_path.reserved0, 0, sizeof(attr.alt_path.reserved0));
    attr.set = 1ull << (next() % 26) | (next() % 2 ? 1ull << (next() % 64) : 0);
    if (next() % 4 == 0)
        null.fail("ibv_modify_qp", 1, EINVAL);
    ANY(vbn_qp_modify(g.qp, &attr));
    if (null.pending())
        null.reset();
}

static vbn_rc_record record(void)
{
    vbn_rc_record r;

    scatter(&r, sizeof(r));
    if (next() % 4) {
        r.qp_num = next() % 2 ? g.qpn : r.qp_num & 0xffffff;
        r.psn &= 0xffffff;
        r.port_num = (uint8_t)(next() % 3);
        r.mtu = (uint8_t)(next() % 6);
    }
    return r;
}

static void connecting(void)
{
    vbn_rc_record local = record(), remote = record(), own;
    vbn_rc_attr attr;
    NEW(vbn_qp_attr, reset);

    scatter(&attr, sizeof(attr));
    attr.struct_size = sizeof(attr);
    attr.set &= next() % 4 ? next() & next() & 0x1fff : UINT64_MAX;
    if (next() % 2)
        attr.port_num = (uint8_t)(next() % 3);
    if (next() % 2)
        attr.flow_label = 0;
    ANY(vbn_qp_to_init(g.qp, &attr));
    ANY(vbn_qp_to_rtr(g.qp, &local, &remote, &attr));
    ANY(vbn_qp_to_rts(g.qp, &local, &attr));
    ANY(vbn_qp_connect_rc(g.qp, &local, &remote, next() % 2 ? NULL : &attr));
    if (!ANY(vbn_rc_record_local(g.qp, &attr, &own)))
        ANY(vbn_qp_connect_rc(g.qp, &own, &remote, NULL));
    reset.set = VBN_QP_STATE;
    OK(vbn_qp_modify(g.qp, &reset));
}

static void records(void)
{
    vbn_rc_record r = record(), back;
    uint8_t bytes[64], again[VBN_RC_RECORD_SIZE];

    scatter(bytes, sizeof(bytes));
    if (next() % 2)
        bytes[0] = bytes[4] = 0;
    if (!ANY(vbn_rc_record_decode(bytes, next() % 8 ? VBN_RC_RECORD_SIZE : next() % 64, &back))) {
        OK(vbn_rc_record_encode(&back, again, sizeof(again)));
        CHECK_MEM(again, bytes, sizeof(again));
    }
    if (!ANY(vbn_rc_record_encode(&r, bytes, VBN_RC_RECORD_SIZE)))
        OK(vbn_rc_record_decode(bytes, VBN_RC_RECORD_SIZE, &back));
}

/* Records that grow: noise behind a header, or a good one with a few bytes changed, in memory that ends with it. */
static void growing_records(void)
{
    NEW(vbn_endpoint_info, info);
    NEW(vbn_endpoint_info, back);
    uint8_t bytes[VBN_RECORD_MAX_SIZE];
    size_t size = VBN_RECORD_HEADER_SIZE + next() % 300;
    uint8_t *exact;

    scatter(bytes, size);
    memcpy(bytes, "VBN1", 4);
    bytes[4] = (uint8_t)(size >> 8);
    bytes[5] = (uint8_t)size;
    bytes[6] = 0;
    bytes[7] = 1;
    if (next() % 2) {
        OK(vbn_endpoint_info_local(g.qp, NULL, &info));
        OK(vbn_endpoint_info_encode(&info, bytes, sizeof(bytes), &size));
        for (uint64_t n = next() % 4; n; n--)
            bytes[next() % size] = (uint8_t)next();
    }
    exact = malloc(size);
    MUST(exact, "no memory");
    memcpy(exact, bytes, size);
    if (!ANY(vbn_endpoint_info_decode(exact, size, &info))) {
        OK(vbn_endpoint_info_encode(&info, bytes, sizeof(bytes), &size));
        OK(vbn_endpoint_info_decode(bytes, size, &back));
        CHECK_MEM(&back, &info, sizeof(info));
    }
    free(exact);
    scatter(&info, sizeof(info));
    info.struct_size = sizeof(info);
    ANY(vbn_endpoint_info_encode(&info, bytes, next() % sizeof(bytes), &size));
}

static void posting(void)
{
    static vbn_send_wr sends[70];
    static vbn_recv_wr recvs[70];
    uint32_t n = (uint32_t)(next() % 71), posted = 77;
    vbn_status status;

    for (uint32_t i = 0; i < n; i++) {
        memset(&sends[i], 0, sizeof(sends[i]));
        memset(&recvs[i], 0, sizeof(recvs[i]));
        sends[i].opcode = next() % 5 ? (uint32_t)(next() % 5) : next() % 16 ? 0 : (uint32_t)edge();
        sends[i].flags = next() % 16 ? next() % 8 : next() % 16 ? 0 : edge();
        /* Never inline: the segments name nothing. */
        sends[i].flags &= ~(uint64_t)VBN_SEND_INLINE;
        sends[i].num_sge = recvs[i].num_sge = next() % 64 ? (uint32_t)(next() % 2) : (uint32_t)edge();
        sends[i].sge.length = recvs[i].sge.length = next() % 64 ? (uint32_t)(next() % (1 << 20)) : (uint32_t)edge();
        recvs[i].flags = next() % 64 ? 0 : edge();
    }
    if (next() % 4 == 0)
        null.fail_post((unsigned)(next() % 80), (int)(next() % 140) - 1 - (int)(next() % 2) * 139, (int)(next() % 2));
    status = ANY(vbn_qp_post_send(g.qp, sends, n, &posted));
    MUST(status ? posted <= n : posted == n, "posted %u of %u: %s", posted, n, vbn_status_name(status));
    status = ANY(vbn_qp_post_recv(g.qp, recvs, n, &posted));
    MUST(status ? posted <= n : posted == n, "posted %u of %u: %s", posted, n, vbn_status_name(status));
    null.reset();
}

static void polling(void)
{
    struct ibv_wc wc;
    vbn_wc wcs[4];
    uint32_t got = 77;
    int64_t busy = (int64_t)edge(), timeout = (int64_t)edge();
    NEW(vbn_cq_event, event);
    NEW(vbn_async_event, async);

    scatter(&wc, sizeof(wc));
    wc.qp_num = next() % 2 ? g.qpn : wc.qp_num;
    null.push_wc_to(g.ibv_cq, &wc);
    if (next() % 2)
        OK(vbn_cq_poll(g.cq, 4, wcs, &got));
    else
        OK(vbn_cq_wait(g.cq, 4, wcs, busy, timeout, &got));
    MUST(got == 1 && wcs[0].wr_id == wc.wr_id && wcs[0].status == (int32_t)wc.status, "got %u", got);
    ANY(vbn_wc_check(&wcs[0]));
    ANY(vbn_qp_first_error(g.qp, &wcs[0]));
    /* There is something, so that no time-out waits. */
    null.push_cq_event(g.ibv_cq);
    OK(vbn_channel_get_event(g.channel, (int64_t)edge(), &event));
    null.push_port_event(g.ibv_context, (enum ibv_event_type)(21 + next() % 1000), (int)edge());
    OK(vbn_context_get_async_event(g.context, (int64_t)edge(), &async));
}

static void questions(void)
{
    static const char *(*const names[])(int32_t) = {
        vbn_qp_type_name, vbn_qp_state_name, vbn_mtu_name, vbn_port_state_name, vbn_link_layer_name, vbn_node_type_name,
        vbn_transport_name, vbn_wc_status_name, vbn_wc_opcode_name, vbn_event_type_name, vbn_gid_type_name, vbn_status_name, vbn_status_text,
    };
    uint32_t port = (uint32_t)(next() % 2 ? 1 : edge()), index = (uint32_t)edge(), count;
    vbn_gid_select_attr attr;
    NEW(vbn_gid_choice, choice);
    NEW(vbn_port_attr, port_attr);
    NEW(vbn_symbol_info, symbol);
    uint8_t gid[16];
    uint16_t pkey;

    scatter(&attr, sizeof(attr));
    attr.struct_size = sizeof(attr);
    attr.set &= next() % 2 ? 0 : 3;
    attr.reserved0 = 0;
    attr.family = (int32_t)(next() % 2 ? 0 : edge());
    if (next() % 2)
        memset(attr.ndev, 0, sizeof(attr.ndev));
    ANY(vbn_gid_select(g.context, port, &attr, &choice, NULL, 0, 0, &count));
    ANY(vbn_context_query_port(g.context, port, &port_attr));
    ANY(vbn_context_query_gid(g.context, port, index, gid));
    ANY(vbn_context_query_pkey(g.context, port, index, &pkey));
    ANY(vbn_library_missing((int32_t)(next() % 2), index, &symbol));
    for (size_t i = 0; i < ARRAY_SIZE(names); i++)
        MUST(names[i]((int32_t)edge())[0], "no name");
}

/* Memory of a simulated GPU: a small block, a large one, and segments with a hole. */
static void gpus(void)
{
    static CUdeviceptr memory[3];
    CUmemAllocationProp prop = {.type = 1, .location = {1, 0}, .allocFlags = {.gpuDirectRDMACapable = 1}};
    CUmemGenericAllocationHandle handle;
    CUcontext context;
    uint64_t ptr, length;
    int32_t kind = (int32_t)(next() % 8 ? next() % 2 : edge()), device = (int32_t)(next() % 2 ? next() % 3 : edge()), done;
    NEW(vbn_gpu_pointer_info, info);
    NEW(vbn_gpu_device_info, device_info);
    NEW(vbn_gpu_dmabuf_attr, attr);
    NEW(vbn_gpu_dmabuf, buf);

    if (!memory[0]) {
        MUST(!simcuda_start() && !simcuda_use(0), "no simulated libcuda");
        sim.reset();
        MUST(!sim.cuda.Init(0) && !sim.cuda.CtxCreate(&context, 0, 0), "the simulated driver");
        MUST(!sim.cuda.MemAlloc(&memory[0], 1000) && !sim.cuda.MemAlloc(&memory[1], 3 << 20), "memory");
        MUST(!sim.cuda.MemAddressReserve(&memory[2], 8 << 20, 0, 0, 0), "addresses");
        for (int i = 0; i < 3; i++)
            MUST(i == 1 || (!sim.cuda.MemCreate(&handle, 2 << 20, &prop, 0) &&
                            !sim.cuda.MemMap(memory[2] + (uint64_t)i * (2 << 20), 2 << 20, 0, handle, 0)), "segment");
    }
    ptr = next() % 4 ? memory[next() % 3] + next() % (5 << 20) % edge_or_one() : edge();
    length = next() % 2 ? next() % (6 << 20) : edge();
    attr.flags = next() % 4 ? 0 : edge();
    ANY(vbn_gpu_pointer_query(kind, ptr, &info));
    ANY(vbn_gpu_device_query(kind, device, &device_info));
    ANY(vbn_gpu_flush_writes(kind, device, (int32_t)(next() % 2 ? 100 : edge()), &done));
    ANY(vbn_gpu_synchronize(kind, device));
    if (!ANY(vbn_gpu_dmabuf_export(kind, ptr, length, &attr, &buf))) {
        MUST(buf.base + buf.offset == ptr && buf.offset + length <= buf.length && buf.fd >= 0, "base %llx offset %llx length %llx of %llx+%llx",
             (unsigned long long)buf.base, (unsigned long long)buf.offset, (unsigned long long)buf.length, (unsigned long long)ptr,
             (unsigned long long)length);
        close(buf.fd);
    }
    MUST(sim.contexts() == 1, "contexts: %u", sim.contexts());
}

#define TESTS(X) X(gpus) X(registration) X(cutting) X(splitting) X(explaining) X(creation) X(modification) X(connecting) X(records) X(growing_records) X(posting) X(polling) X(questions)
#define X(name) \
    static void random_##name(void) { with(name); }
TESTS(X)
#undef X

static const struct test tests[] = {
#define X(name) {#name, random_##name},
    TESTS(X)
#undef X
    {NULL, NULL},
};

int main(int argc, char **argv)
{
    null_start();
    return test_main("bad_input_random", tests, argc, argv);
}
