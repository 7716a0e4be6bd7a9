// SPDX-License-Identifier: MIT OR Apache-2.0
// Programs that leave libefa out: they write requests into the queues and ring the doorbells themselves, and read completions where
// the device puts them. Two processes send, READ and WRITE, and each byte is checked; softnic's thread has to notice it all.
//
//   bypass raw      without libibverbs, too: ioctls on the uverbs file, mmap of what they answer
//   bypass silent   the same, and never says which completions it has read
//   bypass efadv    queues of efadv_query_qp_wqs and efadv_query_cq, which rdma-core has since 59; exit status 77 where it hasn't
//   bypass mixed    one process as "raw", the other as "efadv"
//   bypass placement shuffled|ordered    as "raw": the target watches its memory while WRITEs are placed. "shuffled": it must see bytes that come before
//                   earlier ones, and bytes that come again after it has cleared them; "ordered": neither. Undisturbed WRITEs must be whole.
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "srd.h"
#include <dlfcn.h>
#include <fcntl.h>
#include <rdma/efa-abi.h>
#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/rdma_user_ioctl_cmds.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>

enum { PAGE = 4096, DEPTH = 8, PIECES = 2, CQES = 32, ROUNDS = 300, LIMIT = 30, INLINE = 32, RDMA = 3000, DRIVER_EFA = 17 };
enum { CAP_WRITE = 1 << 5 };
// Where the pieces of the buffer are: sent, received (one place each WR), READ from, READ into, written to.
enum { SENT = 0, RECEIVED = 4096, PLACE = 2048, SOURCE = 24576, READ_INTO = 28672, WRITTEN = 32768 };
enum op { SEND, READ, WRITE };

struct ring {
    volatile unsigned char *entries;
    volatile uint32_t *doorbell;
    uint32_t count, size;
    uint16_t used;
};

struct direct {
    struct ring sq, rq, cq;
    unsigned char *buffer;
    size_t size; // of the buffer
    uint32_t lkey, rkey, caps;
    uint16_t qpn, ah, completed;
    int silent;
};

static struct shared {
    atomic_int arrived[3];
    uint32_t rkey[2], qpn[2], caps[2];
    uint64_t memory[2];
    atomic_int round[2];
    atomic_int enough;
} *shared;

static void meet(int step)
{
    double end = seconds() + LIMIT;
    for (shared->arrived[step]++; shared->arrived[step] < 2; usleep(1000)) CHECK(seconds() < end);
}

// ---- the device by its file alone ----

struct call {
    struct ib_uverbs_ioctl_hdr header;
    struct ib_uverbs_attr attrs[20];
};

static struct call start_call(int object, int method)
{
    struct call call = {.header = {.object_id = object, .method_id = method, .driver_id = DRIVER_EFA}};
    return call;
}

static void attr(struct call *call, int id, int length, uint64_t data)
{
    struct ib_uverbs_attr *a = &call->attrs[call->header.num_attrs++];
    a->attr_id = id;
    a->len = length;
    a->flags = UVERBS_ATTR_F_MANDATORY;
    a->data = data;
}

static void attr_in(struct call *call, int id, const void *from, int length)
{
    uint64_t data = (uintptr_t)from;
    if (length <= 8) memcpy(&data, from, length);
    attr(call, id, length, data);
}

static void attr_out(struct call *call, int id, void *to, int length) { attr(call, id, length, (uintptr_t)to); }

static int finish_call(int fd, struct call *call)
{
    call->header.length = sizeof(call->header) + call->header.num_attrs * sizeof(call->attrs[0]);
    return ioctl(fd, RDMA_VERBS_IOCTL, call);
}

static void command(int fd, uint64_t number, const void *in, int in_length, void *out, int out_length, void *private_out, int private_length)
{
    struct call call = start_call(UVERBS_OBJECT_DEVICE, UVERBS_METHOD_INVOKE_WRITE);
    attr_in(&call, UVERBS_ATTR_CORE_IN, in, in_length);
    if (out_length) attr_out(&call, UVERBS_ATTR_CORE_OUT, out, out_length);
    attr_in(&call, UVERBS_ATTR_WRITE_CMD, &number, 8);
    if (private_length) attr_out(&call, UVERBS_ATTR_UHW_OUT, private_out, private_length);
    CHECK(finish_call(fd, &call) == 0);
}

static uint32_t create_cq_by_hand(int fd, struct direct *d)
{
    struct efa_ibv_create_cq private = {.cq_entry_size = 32, .num_sub_cqs = 1};
    struct efa_ibv_create_cq_resp answer = {0};
    uint32_t entries = CQES, vector = 0, got;
    uint64_t user = 1;
    struct call call = start_call(UVERBS_OBJECT_CQ, UVERBS_METHOD_CQ_CREATE);
    attr(&call, UVERBS_ATTR_CREATE_CQ_HANDLE, 0, 0);
    attr_in(&call, UVERBS_ATTR_CREATE_CQ_CQE, &entries, 4);
    attr_in(&call, UVERBS_ATTR_CREATE_CQ_USER_HANDLE, &user, 8);
    attr_in(&call, UVERBS_ATTR_CREATE_CQ_COMP_VECTOR, &vector, 4);
    attr_out(&call, UVERBS_ATTR_CREATE_CQ_RESP_CQE, &got, 4);
    attr_in(&call, UVERBS_ATTR_UHW_IN, &private, sizeof private);
    attr_out(&call, UVERBS_ATTR_UHW_OUT, &answer, sizeof answer);
    CHECK(finish_call(fd, &call) == 0 && got == CQES);
    d->cq.entries = mmap(NULL, answer.q_mmap_size, PROT_READ, MAP_SHARED, fd, answer.q_mmap_key);
    CHECK(d->cq.entries != MAP_FAILED);
    unsigned char *page = mmap(NULL, PAGE, PROT_WRITE, MAP_SHARED, fd, answer.db_mmap_key);
    CHECK(page != MAP_FAILED);
    d->cq.doorbell = (uint32_t *)(page + answer.db_off);
    d->cq.count = CQES;
    d->cq.size = 32;
    return call.attrs[0].data;
}

static uint32_t create_qp_by_hand(int fd, struct direct *d, uint32_t pd, uint32_t cq)
{
    struct efa_ibv_create_qp private = {.rq_ring_size = DEPTH * PIECES * 16, .sq_ring_size = DEPTH * 64, .driver_qp_type = EFA_QP_DRIVER_TYPE_SRD};
    struct efa_ibv_create_qp_resp answer = {0};
    struct ib_uverbs_qp_cap cap = {.max_send_wr = DEPTH, .max_recv_wr = DEPTH, .max_send_sge = 2, .max_recv_sge = PIECES}, got;
    uint64_t user = 2;
    uint64_t type = 255;
    uint32_t qpn;
    struct call call = start_call(UVERBS_OBJECT_QP, UVERBS_METHOD_QP_CREATE);
    attr(&call, UVERBS_ATTR_CREATE_QP_HANDLE, 0, 0);
    attr(&call, UVERBS_ATTR_CREATE_QP_PD_HANDLE, 0, pd);
    attr(&call, UVERBS_ATTR_CREATE_QP_SEND_CQ_HANDLE, 0, cq);
    attr(&call, UVERBS_ATTR_CREATE_QP_RECV_CQ_HANDLE, 0, cq);
    attr_in(&call, UVERBS_ATTR_CREATE_QP_USER_HANDLE, &user, 8);
    attr_in(&call, UVERBS_ATTR_CREATE_QP_CAP, &cap, sizeof cap);
    attr_in(&call, UVERBS_ATTR_CREATE_QP_TYPE, &type, 8);
    attr_out(&call, UVERBS_ATTR_CREATE_QP_RESP_CAP, &got, sizeof got);
    attr_out(&call, UVERBS_ATTR_CREATE_QP_RESP_QP_NUM, &qpn, 4);
    attr_in(&call, UVERBS_ATTR_UHW_IN, &private, sizeof private);
    attr_out(&call, UVERBS_ATTR_UHW_OUT, &answer, sizeof answer);
    CHECK(finish_call(fd, &call) == 0);
    d->sq.entries = mmap(NULL, DEPTH * 64, PROT_WRITE, MAP_SHARED, fd, answer.llq_desc_mmap_key);
    d->rq.entries = mmap(NULL, answer.rq_mmap_size, PROT_WRITE, MAP_SHARED, fd, answer.rq_mmap_key);
    unsigned char *send_page = mmap(NULL, PAGE, PROT_WRITE, MAP_SHARED, fd, answer.sq_db_mmap_key);
    unsigned char *recv_page = mmap(NULL, PAGE, PROT_WRITE, MAP_SHARED, fd, answer.rq_db_mmap_key);
    CHECK(d->sq.entries != MAP_FAILED && d->rq.entries != MAP_FAILED && send_page != MAP_FAILED && recv_page != MAP_FAILED);
    d->sq.entries += answer.llq_desc_offset;
    d->sq.doorbell = (uint32_t *)(send_page + answer.sq_db_offset);
    d->rq.doorbell = (uint32_t *)(recv_page + answer.rq_db_offset);
    d->sq.count = DEPTH;
    d->sq.size = 64;
    d->rq.count = DEPTH * PIECES;
    d->rq.size = 16;
    d->qpn = qpn;
    return call.attrs[0].data;
}

static void modify_by_hand(int fd, uint32_t qp, int state, uint32_t mask)
{
    struct ib_uverbs_modify_qp modify = {.qp_handle = qp, .attr_mask = mask, .qp_state = state, .qkey = QKEY, .port_num = 1};
    command(fd, IB_USER_VERBS_CMD_MODIFY_QP, &modify, sizeof modify, NULL, 0, NULL, 0);
}

static void open_by_hand(struct direct *d)
{
    int fd = open("/dev/infiniband/uverbs0", O_RDWR | O_CLOEXEC);
    CHECK(fd >= 0);
    struct efa_ibv_alloc_ucontext_cmd want = {.comp_mask = 3};
    struct efa_ibv_alloc_ucontext_resp context;
    struct call call = start_call(UVERBS_OBJECT_DEVICE, UVERBS_METHOD_GET_CONTEXT);
    attr_in(&call, UVERBS_ATTR_UHW_IN, &want, sizeof want);
    attr_out(&call, UVERBS_ATTR_UHW_OUT, &context, sizeof context);
    CHECK(finish_call(fd, &call) == 0);

    uint64_t nothing = 0;
    unsigned char device[304];
    struct efa_ibv_ex_query_device_resp limits;
    command(fd, IB_USER_VERBS_EX_CMD_QUERY_DEVICE | 0x80000000u, &nothing, 8, device, sizeof device, &limits, sizeof limits);
    d->caps = limits.device_caps;

    uint32_t pd;
    command(fd, IB_USER_VERBS_CMD_ALLOC_PD, &nothing, 8, &pd, 4, NULL, 0);
    // The `response` that each of these structs begins with means nothing here.
    struct ib_uverbs_reg_mr reg = {.start = (uintptr_t)d->buffer, .hca_va = (uintptr_t)d->buffer, .length = d->size, .pd_handle = pd,
                                   .access_flags = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ | (d->caps & CAP_WRITE ? IBV_ACCESS_REMOTE_WRITE : 0)};
    struct ib_uverbs_reg_mr_resp keys;
    command(fd, IB_USER_VERBS_CMD_REG_MR, &reg, sizeof reg, &keys, sizeof keys, NULL, 0);
    d->lkey = keys.lkey;
    d->rkey = keys.rkey;

    uint64_t port = 1;
    uint32_t index = 0, flags = 0;
    struct ib_uverbs_gid_entry gid;
    call = start_call(UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_GID_ENTRY);
    attr_in(&call, UVERBS_ATTR_QUERY_GID_ENTRY_PORT, &port, 4);
    attr_in(&call, UVERBS_ATTR_QUERY_GID_ENTRY_GID_INDEX, &index, 4);
    attr_in(&call, UVERBS_ATTR_QUERY_GID_ENTRY_FLAGS, &flags, 4);
    attr_out(&call, UVERBS_ATTR_QUERY_GID_ENTRY_RESP_ENTRY, &gid, sizeof gid);
    CHECK(finish_call(fd, &call) == 0);
    struct ib_uverbs_create_ah to = {.pd_handle = pd, .attr = {.is_global = 1, .port_num = 1}};
    memcpy(to.attr.grh.dgid, gid.gid, 16);
    struct efa_ibv_create_ah_resp number;
    uint32_t handle;
    command(fd, IB_USER_VERBS_CMD_CREATE_AH, &to, sizeof to, &handle, 4, &number, sizeof number);
    d->ah = number.efa_address_handle;

    uint32_t qp = create_qp_by_hand(fd, d, pd, create_cq_by_hand(fd, d));
    modify_by_hand(fd, qp, IBV_QPS_INIT, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY);
    modify_by_hand(fd, qp, IBV_QPS_RTR, IBV_QP_STATE);
    modify_by_hand(fd, qp, IBV_QPS_RTS, IBV_QP_STATE | IBV_QP_SQ_PSN);
}

// ---- the device by libefa, which is left out once the queues are there ----

// As rdma-core 65 has them; the header may be older.
struct wq_attr {
    uint64_t comp_mask;
    unsigned char *buffer;
    uint32_t entry_size, num_entries;
    uint32_t *doorbell;
    uint32_t max_batch;
    uint16_t caps;
    uint8_t reserved[2];
};
struct cq_attr {
    uint64_t comp_mask;
    unsigned char *buffer;
    uint32_t entry_size, num_entries;
    uint32_t *doorbell;
};
static int (*query_wqs)(struct ibv_qp *, struct wq_attr *, struct wq_attr *, uint32_t);
static int (*query_cq)(struct ibv_cq *, struct cq_attr *, uint32_t);

static int find_queries(void)
{
    *(void **)&query_wqs = dlsym(RTLD_DEFAULT, "efadv_query_qp_wqs");
    *(void **)&query_cq = dlsym(RTLD_DEFAULT, "efadv_query_cq");
    return query_wqs && query_cq;
}

static struct ring ring_of(struct wq_attr a)
{
    struct ring ring = {a.buffer, a.doorbell, a.num_entries, a.entry_size, 0};
    return ring;
}

static void open_by_efadv(struct direct *d)
{
    static struct end e;
    int count;
    struct ibv_device **list = ibv_get_device_list(&count);
    CHECK(list && count > 0);
    CHECK(e.ctx = ibv_open_device(list[0]));
    CHECK(e.pd = ibv_alloc_pd(e.ctx));
    CHECK(e.cq = ibv_create_cq(e.ctx, CQES, NULL, NULL, 0));
    struct efadv_device_attr device = {0};
    CHECK(!efadv_query_device(e.ctx, &device, sizeof device));
    // efadv has bits of its own: WRITE is the fourth.
    d->caps = device.device_caps & 1 << 3 ? CAP_WRITE : 0;
    CHECK(e.mr = ibv_reg_mr(e.pd, d->buffer, SIZE, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ | (d->caps & CAP_WRITE ? IBV_ACCESS_REMOTE_WRITE : 0)));
    struct ibv_qp_init_attr_ex init = {
        .send_cq = e.cq,
        .recv_cq = e.cq,
        .qp_type = IBV_QPT_DRIVER,
        .cap = {.max_send_wr = DEPTH, .max_recv_wr = DEPTH, .max_send_sge = 2, .max_recv_sge = PIECES},
        .pd = e.pd,
        .comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
        .send_ops_flags = IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_RDMA_READ | (d->caps & CAP_WRITE ? IBV_QP_EX_WITH_RDMA_WRITE : 0),
    };
    // The profile's interconnects, as far as the region allows the use.
    struct mr_attr {
        uint64_t comp_mask;
        uint16_t valid, recv, read, written;
    } interconnects = {0};
    int (*query_mr)(struct ibv_mr *, struct mr_attr *, uint32_t);
    *(void **)&query_mr = dlsym(RTLD_DEFAULT, "efadv_query_mr");
    CHECK(query_mr && !query_mr(e.mr, &interconnects, sizeof interconnects));
    CHECK(interconnects.valid == (d->caps & CAP_WRITE ? 7 : 0));
    CHECK(!interconnects.valid || (interconnects.recv == 1 && interconnects.read == 2 && interconnects.written == 3));
    struct efadv_qp_init_attr srd = {.driver_qp_type = EFADV_QP_DRIVER_TYPE_SRD};
    CHECK(e.qp = efadv_create_qp_ex(e.ctx, &init, &srd, sizeof srd));
    make_ready(e.qp, -1);
    CHECK(!ibv_query_gid(e.ctx, 1, 0, &e.gid));
    struct efadv_ah_attr ah = {0};
    CHECK(!efadv_query_ah(address(&e, e.gid), &ah, sizeof ah));
    struct wq_attr sq = {0}, rq = {0};
    struct cq_attr cq = {0};
    CHECK(!query_wqs(e.qp, &sq, &rq, sizeof sq) && !query_cq(e.cq, &cq, sizeof cq));
    d->sq = ring_of(sq);
    d->rq = ring_of(rq);
    d->cq.entries = cq.buffer;
    d->cq.doorbell = cq.doorbell;
    d->cq.count = cq.num_entries;
    d->cq.size = cq.entry_size;
    d->ah = ah.ahn;
    d->qpn = e.qp->qp_num;
    d->lkey = e.mr->lkey;
    d->rkey = e.mr->rkey;
}

// ---- the data path ----

static void put16(unsigned char *at, uint16_t v) { memcpy(at, &v, 2); }
static void put32(unsigned char *at, uint32_t v) { memcpy(at, &v, 4); }
static void put64(unsigned char *at, uint64_t v) { memcpy(at, &v, 8); }
static uint16_t get16(const unsigned char *at) { return at[0] | at[1] << 8; }

static void enter(struct ring *r, const unsigned char *entry)
{
    volatile unsigned char *to = r->entries + (size_t)(r->used % r->count) * r->size;
    for (uint32_t i = 0; i < r->size; i++) to[i] = entry[i];
    r->used++;
}

static void ring_doorbell(struct ring *r)
{
    atomic_thread_fence(memory_order_release);
    *r->doorbell = r->used;
}

// A receive of two pieces, the first of 16 bytes.
static void give_receive(struct direct *d, int id)
{
    uint64_t at = (uintptr_t)d->buffer + RECEIVED + id * PLACE;
    const uint32_t length[PIECES] = {16, PLACE - 16};
    for (int i = 0; i < PIECES; i++, at += 16) {
        unsigned char entry[64] = {0};
        put64(entry, at);
        put16(entry + 8, i ? 0 : id);
        put16(entry + 10, length[i]);
        put32(entry + 12, d->lkey | (i == 0 ? 1u << 30 : 0) | (i == PIECES - 1 ? 1u << 31 : 0));
        enter(&d->rq, entry);
    }
    ring_doorbell(&d->rq);
}

// One request: `pieces` of the buffer (0: its bytes in the request), and for READ and WRITE a place of the peer's.
static void give_send(struct direct *d, enum op op, int id, int peer, size_t at, uint32_t length, int pieces, size_t remote)
{
    unsigned char entry[128] = {0};
    int local = op == SEND ? 32 : 48;
    put16(entry, id);
    entry[2] = op | 1 << 7 | (pieces == 0 ? 1 << 5 : 0);
    entry[3] = (d->sq.used / d->sq.count & 1) | 1 << 2 | 1 << 3 | 1 << 4;
    put16(entry + 4, shared->qpn[peer]);
    put16(entry + 6, pieces ? (uint32_t)pieces : length);
    put16(entry + 12, d->ah);
    put32(entry + 16, QKEY);
    if (op != SEND) {
        put32(entry + 32, length);
        put32(entry + 36, shared->rkey[peer]);
        put64(entry + 40, shared->memory[peer] + remote);
    }
    if (pieces == 0) memcpy(entry + local, d->buffer + at, length);
    for (int i = 0; i < pieces; i++, local += 16) {
        uint32_t part = pieces == 1 ? length : i == 0 ? length / 2 : length - length / 2;
        put32(entry + local, part);
        put32(entry + local + 4, d->lkey);
        put64(entry + local + 8, (uintptr_t)d->buffer + at + (i ? length / 2 : 0));
    }
    enter(&d->sq, entry);
    ring_doorbell(&d->sq);
}

// The next completion, waited for in memory.
static void take(struct direct *d, unsigned char *entry)
{
    volatile unsigned char *from = d->cq.entries + (size_t)(d->cq.used % d->cq.count) * d->cq.size;
    int phase = (d->cq.used / d->cq.count & 1) == 0;
    double end = seconds() + LIMIT;
    for (; (from[3] & 1) != phase; sched_yield()) CHECK(seconds() < end);
    atomic_thread_fence(memory_order_acquire);
    for (int i = 0; i < 16; i++) entry[i] = from[i];
    d->cq.used++;
    if (d->cq.doorbell && !d->silent) *d->cq.doorbell = d->cq.used;
}

static void take_sent(struct direct *d, int id)
{
    unsigned char entry[16];
    take(d, entry);
    CHECK(entry[2] == 0); // status
    CHECK((entry[3] >> 1 & 3) == 1 && get16(entry) == id && get16(entry + 4) == (d->qpn & 0xffff));
}

// Length of a message, and where it is.
static int take_received(struct direct *d, int id, int peer)
{
    unsigned char entry[16];
    take(d, entry);
    CHECK(entry[2] == 0);
    CHECK((entry[3] >> 1 & 3) == 2 && get16(entry) == id && get16(entry + 4) == (d->qpn & 0xffff));
    CHECK(get16(entry + 8) == d->ah && get16(entry + 10) == (shared->qpn[peer] & 0xffff));
    return get16(entry + 6);
}

static unsigned char byte_of(int round, int at) { return round * 31 + at * 13 + at / 256; }

static void fill(unsigned char *at, int round, int length)
{
    for (int i = 0; i < length; i++) at[i] = byte_of(round, i);
}

static void check(const unsigned char *at, int round, int length)
{
    for (int i = 0; i < length; i++) CHECK(at[i] == byte_of(round, i));
}

static int length_of(int round) { return round % 3 == 0 ? 1 + round % INLINE : 1 + round * 37 % PLACE; }

// READ and WRITE, then a message that comes back.
static void ask(struct direct *d, int round, int write)
{
    int length = length_of(round), id = round % DEPTH;
    memset(d->buffer + READ_INTO, 0, RDMA);
    give_send(d, READ, 100, 1, READ_INTO, RDMA, 1, SOURCE);
    take_sent(d, 100);
    check(d->buffer + READ_INTO, -1, RDMA);
    if (write) {
        fill(d->buffer + READ_INTO, round, RDMA);
        give_send(d, WRITE, 101, 1, READ_INTO, RDMA, 1, WRITTEN);
        take_sent(d, 101);
    }
    fill(d->buffer + SENT, round, length);
    give_send(d, SEND, 102, 1, SENT, length, round % 3, 0);
    // The answer may be here before the receipt.
    unsigned char *back = d->buffer + RECEIVED + id * PLACE;
    memset(back, 0, PLACE);
    give_receive(d, id);
    shared->round[0] = round + 1;
    int sent = 0, received = 0;
    while (!sent || !received) {
        unsigned char entry[16];
        take(d, entry);
        CHECK(entry[2] == 0);
        if ((entry[3] >> 1 & 3) == 1) {
            CHECK(!sent++ && get16(entry) == 102);
        } else {
            CHECK(!received++ && get16(entry) == id && get16(entry + 6) == length);
            check(back, round, length);
        }
    }
}

static void answer(struct direct *d, int round, int write)
{
    int id = round % DEPTH;
    int length = take_received(d, id, 0);
    CHECK(length == length_of(round));
    check(d->buffer + RECEIVED + id * PLACE, round, length);
    if (write) check(d->buffer + WRITTEN, round, RDMA);
    // Its receive must be there first; a sender would try again, but this is no test of that.
    double end = seconds() + LIMIT;
    for (; shared->round[0] <= round; sched_yield()) CHECK(seconds() < end);
    give_send(d, SEND, 103, 0, RECEIVED + id * PLACE, length, 1, 0);
    take_sent(d, 103);
    give_receive(d, id);
}

static void open_side(struct direct *d, int me, int by_hand, size_t size)
{
    d->size = size;
    CHECK(!posix_memalign((void **)&d->buffer, PAGE, size));
    memset(d->buffer, 0, size);
    if (by_hand)
        open_by_hand(d);
    else
        open_by_efadv(d);
    shared->rkey[me] = d->rkey;
    shared->qpn[me] = d->qpn;
    shared->caps[me] = d->caps;
    shared->memory[me] = (uintptr_t)d->buffer;
}

static void side(int me, int by_hand, int silent)
{
    static struct direct d;
    d.silent = silent;
    open_side(&d, me, by_hand, SIZE);
    fill(d.buffer + SOURCE, -1, RDMA);
    if (me == 1)
        for (int i = 0; i < DEPTH; i++) give_receive(&d, i);
    meet(0);
    int write = (shared->caps[0] & shared->caps[1] & CAP_WRITE) != 0;
    for (int round = 0; round < ROUNDS; round++) me == 0 ? ask(&d, round, write) : answer(&d, round, write);
    // Asleep, it costs next to nothing, and wakes up again.
    meet(1);
    usleep(300000);
    double before = processor_time();
    usleep(1000000);
    double used = processor_time() - before;
    meet(2);
    me == 0 ? ask(&d, ROUNDS, write) : answer(&d, ROUNDS, write);
    printf("%s: %d rounds%s, %.4f s of processor time in 1 s of rest\n", me ? "answers" : "asks", ROUNDS + 1, write ? " with WRITE" : "", used);
    fflush(stdout);
    CHECK(used < 0.1);
}

// A WRITE goes to another process in packets of this size, in seed 0 too.
enum { PACKET = 32768, PACKETS = 256, WRITES = 32, LARGE = PACKETS * PACKET };

// All words of a WRITE are its number.
static uint64_t number_at(unsigned char *buffer, int packet) { return __atomic_load_n((uint64_t *)(buffer + (size_t)packet * PACKET), __ATOMIC_ACQUIRE); }

static void write_and_wait(struct direct *d, int round)
{
    for (size_t i = 0; i < LARGE; i += 8) memcpy(d->buffer + i, &(uint64_t){round}, 8);
    shared->round[0] = round;
    give_send(d, WRITE, 104, 1, 0, LARGE, 1, 0);
    take_sent(d, 104);
    shared->round[1] = round; // complete
    double end = seconds() + LIMIT;
    for (; shared->round[0] == round; sched_yield()) CHECK(seconds() < end);
}

// Watches one WRITE arrive. Clears what it sees if `clear`, to see it come again.
static void watch(struct direct *d, int round, int clear, int *early, int *again)
{
    int seen[PACKETS] = {0}, gap = 0, back = 0;
    for (int complete = 0; !complete;) {
        complete = shared->round[1] == round;
        // From the end on: what is missing in front of something was missing when that was there already.
        int higher = 0;
        for (int i = PACKETS; i-- > 0;) {
            int there = number_at(d->buffer, i) == (uint64_t)round;
            gap |= higher && !there && !seen[i];
            back |= there && clear && seen[i];
            if (there && clear) *(volatile uint64_t *)(d->buffer + (size_t)i * PACKET) = 0;
            seen[i] |= there;
            higher |= there || seen[i];
        }
    }
    *early += gap;
    *again += back;
    for (int i = 0; i < PACKETS; i++) CHECK(seen[i]);
    for (size_t i = 0; i < LARGE && !clear; i += 8) CHECK(memcmp(d->buffer + i, &(uint64_t){round}, 8) == 0);
}

static void placement(int me, int shuffled)
{
    static struct direct d;
    open_side(&d, me, 1, LARGE);
    CHECK(d.caps & CAP_WRITE);
    meet(0);
    int early = 0, again = 0, round = 0;
    double end = seconds() + LIMIT;
    while (!shared->enough) {
        round++;
        if (me == 0) {
            write_and_wait(&d, round);
            continue;
        }
        for (double late = seconds() + LIMIT; shared->round[0] != round; sched_yield()) CHECK(seconds() < late);
        watch(&d, round, round % 2, &early, &again);
        // Chance, and how much of it is seen depends on how busy the processors are.
        shared->enough = round >= WRITES && (!shuffled || (early && again) || seconds() > end);
        shared->round[0] = 0;
    }
    if (me == 0) return;
    printf("%d WRITEs: in %d of them bytes came before earlier ones, in %d bytes came again\n", round, early, again);
    fflush(stdout);
    CHECK(shuffled ? early && again : !early && !again);
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "";
    int raw = strcmp(how, "raw") == 0, silent = strcmp(how, "silent") == 0, efadv = strcmp(how, "efadv") == 0, mixed = strcmp(how, "mixed") == 0;
    int shuffled = argc == 3 && strcmp(argv[2], "shuffled") == 0, ordered = argc == 3 && strcmp(argv[2], "ordered") == 0;
    int place = strcmp(how, "placement") == 0 && (shuffled || ordered);
    if (!raw && !silent && !efadv && !mixed && !place) return fprintf(stderr, "bypass raw | silent | efadv | mixed | placement shuffled|ordered\n"), 2;
    if ((efadv || mixed) && !find_queries()) return puts("libefa has no efadv_query_qp_wqs and efadv_query_cq: rdma-core has them since 59"), 77;
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(shared != MAP_FAILED);
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        place ? placement(1, shuffled) : side(1, !efadv, silent);
        _exit(0);
    }
    place ? placement(0, shuffled) : side(0, raw || silent, silent);
    int status;
    CHECK(waitpid(child, &status, 0) == child);
    return status != 0;
}
