// SPDX-License-Identifier: MIT OR Apache-2.0
// Throws nonsense at softnic where a program can reach it, for a while, from several threads:
//   - uverbs calls: real ones, recorded at the start, with random changes, and ones made up altogether
//   - random requests, descriptors and doorbells in the rings of real queue pairs, SRD and UD, completing with and without the sender's GID
// Meanwhile one thread does nothing wrong and must see every byte of its own. At the end the process must have as many
// descriptors as after the first rounds and not much more memory. Whatever goes wrong on demand goes wrong on the second device: there
// creating and asking may fail, destroying may not.
//
//   cc -O2 -rdynamic fuzz.c -o fuzz -libverbs -lefa -lpthread -ldl
//   softnic run --device efa,count=2 [--fault FILE] -- ./fuzz SECONDS [SEED]
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <infiniband/efadv.h>
#include <infiniband/verbs.h>
#include <pthread.h>
#include <rdma/rdma_user_ioctl_cmds.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define CHECK(cond)                                                                                                    \
    do {                                                                                                               \
        if (!(cond)) {                                                                                                 \
            fprintf(stderr, "fuzz.c:%d: %s (errno %d)\n", __LINE__, #cond, errno);                                     \
            _exit(1);                                                                                                  \
        }                                                                                                              \
    } while (0)

enum { QKEY = 0x1234, HONEST_QKEY = 0x5a5a4321, DEPTH = 64, PAGE = 4096, ROUND_MS = 700, CALLERS = 2, RINGERS = 2, SIZE = 4096 };

// Far from everything else, so that a bit that flips in an address finds nothing of the program's.
#define ARENA ((uint8_t *)0x100000000000)
#define ARENA_SIZE (1u << 20)
#define READ_ONLY (ARENA + (64u << 20))

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec / 1e9;
}

static uint64_t seed;
static _Thread_local uint64_t state;
static uint64_t draw(void)
{
    uint64_t z = state += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
}
static unsigned below(unsigned n) { return draw() % n; }
static void sow(unsigned round, unsigned thread) { state = seed ^ (uint64_t)round << 32 ^ thread << 20; }

static double stop_at;
static atomic_ulong calls, accepted, requests, good, queue_pairs, failed;

// --- what the real library does, seen from here -------------------------------------------------------

struct call {
    uint8_t bytes[1024];
    size_t length;
    uint8_t inputs[32][256];
};
static struct call recorded[128];
static unsigned n_recorded;
static int recording;

struct mapping {
    uint8_t *at;
    size_t length;
};
static _Thread_local struct mapping mappings[16];
static _Thread_local int n_mappings = -1; // -1: not asked

// The executable's functions come before those of preloaded objects; these pass all calls on.
int ioctl(int fd, unsigned long request, ...)
{
    static int (*next)(int, unsigned long, ...);
    if (!next) next = dlsym(RTLD_NEXT, "ioctl");
    va_list args;
    va_start(args, request);
    void *argument = va_arg(args, void *);
    va_end(args);
    const struct ib_uverbs_ioctl_hdr *h = argument;
    if (recording && request == RDMA_VERBS_IOCTL && n_recorded < 128 && h->length <= 1024 && h->num_attrs <= 32) {
        struct call *c = &recorded[n_recorded++];
        c->length = h->length;
        memcpy(c->bytes, h, h->length);
        for (int i = 0; i < h->num_attrs; i++) {
            const struct ib_uverbs_attr *a = &h->attrs[i];
            if (a->len > 8 && a->len <= 256 && a->data > PAGE) memcpy(c->inputs[i], (void *)(uintptr_t)a->data, a->len);
        }
    }
    return next(fd, request, argument);
}

void *mmap(void *at, size_t length, int protection, int flags, int fd, off_t offset)
{
    static void *(*next)(void *, size_t, int, int, int, off_t);
    if (!next) next = dlsym(RTLD_NEXT, "mmap");
    if (n_mappings >= 0 && flags & MAP_SHARED) protection |= PROT_READ | PROT_WRITE;
    void *got = next(at, length, protection, flags, fd, offset);
    if (n_mappings >= 0 && n_mappings < 16 && flags & MAP_SHARED && got != MAP_FAILED)
        mappings[n_mappings++] = (struct mapping){got, length};
    return got;
}

// --- objects ----------------------------------------------------------------------------------------------

struct end {
    int faulty; // the second device
    struct ibv_context *ctx;
    struct ibv_pd *pd;
    struct ibv_comp_channel *channel;
    struct ibv_cq *cq;
    struct ibv_qp *qp;
    struct ibv_ah *ah;
    struct ibv_mr *mr;
    uint8_t *buffer;
    uint32_t qkey;
};

// False if the device was made to refuse it.
static int went(struct end *e, int done)
{
    CHECK(done || e->faulty);
    failed += !done;
    return done;
}

static int make_qp(struct end *e, uint32_t qkey, int ud)
{
    struct ibv_qp_init_attr_ex init = {
        .send_cq = e->cq,
        .recv_cq = e->cq,
        .qp_type = ud ? IBV_QPT_UD : IBV_QPT_DRIVER,
        .cap = {.max_send_wr = DEPTH, .max_recv_wr = DEPTH, .max_send_sge = 2, .max_recv_sge = 2},
        .pd = e->pd,
        .comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
        .send_ops_flags = IBV_QP_EX_WITH_SEND | (ud ? 0 : IBV_QP_EX_WITH_RDMA_READ),
    };
    struct efadv_qp_init_attr srd = {.driver_qp_type = EFADV_QP_DRIVER_TYPE_SRD};
    e->qp = ud ? ibv_create_qp_ex(e->ctx, &init) : efadv_create_qp_ex(e->ctx, &init, &srd, sizeof(srd));
    e->qkey = qkey;
    if (!went(e, e->qp != NULL)) return 0;
    struct ibv_qp_attr a = {.qp_state = IBV_QPS_INIT, .port_num = 1, .qkey = qkey};
    int up = !ibv_modify_qp(e->qp, &a, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY);
    a.qp_state = IBV_QPS_RTR;
    up = up && !ibv_modify_qp(e->qp, &a, IBV_QP_STATE);
    a.qp_state = IBV_QPS_RTS;
    up = up && !ibv_modify_qp(e->qp, &a, IBV_QP_STATE | IBV_QP_SQ_PSN);
    if (went(e, up)) return 1;
    CHECK(!ibv_destroy_qp(e->qp));
    return 0;
}

static void close_end(struct end *e)
{
    if (e->ah) CHECK(!ibv_destroy_ah(e->ah));
    if (e->mr) CHECK(!ibv_dereg_mr(e->mr));
    if (e->cq) CHECK(!ibv_destroy_cq(e->cq));
    if (e->channel) CHECK(!ibv_destroy_comp_channel(e->channel));
    if (e->pd) CHECK(!ibv_dealloc_pd(e->pd));
    if (e->ctx) CHECK(!ibv_close_device(e->ctx));
}

static int open_all(struct end *e, uint8_t *buffer, int access, int sgid)
{
    if (!(e->ctx && (e->pd = ibv_alloc_pd(e->ctx)) && (e->channel = ibv_create_comp_channel(e->ctx)))) return 0;
    struct ibv_cq_init_attr_ex wide = {.cqe = 2 * DEPTH, .channel = e->channel};
    struct efadv_cq_init_attr with_sgid = {.wc_flags = EFADV_WC_EX_WITH_SGID};
    struct ibv_cq_ex *cq = sgid ? efadv_create_cq(e->ctx, &wide, &with_sgid, sizeof with_sgid) : NULL;
    e->cq = sgid ? cq ? ibv_cq_ex_to_cq(cq) : NULL : ibv_create_cq(e->ctx, 2 * DEPTH, NULL, e->channel, 0);
    union ibv_gid gid;
    if (!e->cq || ibv_query_gid(e->ctx, 1, 0, &gid)) return 0;
    struct ibv_ah_attr to = {.is_global = 1, .port_num = 1, .grh.dgid = gid};
    e->buffer = buffer;
    return (e->ah = ibv_create_ah(e->pd, &to)) && (e->mr = ibv_reg_mr(e->pd, buffer, SIZE, access));
}

// Of the first or second device.
static int open_end(struct end *e, int device, uint8_t *buffer, int access, int sgid)
{
    int n;
    struct ibv_device **list = ibv_get_device_list(&n);
    CHECK(list && n == 2);
    *e = (struct end){.faulty = device == 1};
    e->ctx = ibv_open_device(list[(strcmp(ibv_get_device_name(list[0]), "efa_0") == 0) ^ (device == 0)]);
    ibv_free_device_list(list);
    if (went(e, open_all(e, buffer, access, sgid))) return 1;
    close_end(e);
    return 0;
}

static void post_recv(struct end *e, uint64_t id, size_t offset, uint32_t length)
{
    struct ibv_sge sge = {(uintptr_t)e->buffer + offset, length, e->mr->lkey};
    struct ibv_recv_wr wr = {.wr_id = id, .sg_list = &sge, .num_sge = 1}, *bad;
    CHECK(!ibv_post_recv(e->qp, &wr, &bad));
}

static void post(struct end *e, uint64_t id, int read, size_t offset, uint32_t length)
{
    struct ibv_qp_ex *qp = ibv_qp_to_qp_ex(e->qp);
    ibv_wr_start(qp);
    qp->wr_id = id;
    qp->wr_flags = IBV_SEND_SIGNALED;
    if (read)
        ibv_wr_rdma_read(qp, e->mr->rkey, (uintptr_t)e->buffer);
    else
        ibv_wr_send(qp);
    ibv_wr_set_sge(qp, e->mr->lkey, (uintptr_t)e->buffer + offset, length);
    ibv_wr_set_ud_addr(qp, e->ah, e->qp->qp_num, e->qkey);
    CHECK(!ibv_wr_complete(qp));
}

// --- uverbs calls -----------------------------------------------------------------------------------------------

static uint64_t odd_number(void)
{
    static const uint64_t odd[] = {0, 1, 7, 8, 0x7fffffff, 0x80000000, 0xffffffff, 1ull << 32, 1ull << 63, ~0ull, 4096};
    switch (below(4)) {
    case 0: return odd[below(sizeof odd / sizeof *odd)];
    case 1: return below(64);
    case 2: return draw() >> below(64);
    default: return (uintptr_t)ARENA + below(ARENA_SIZE);
    }
}

static uint64_t pointer(uint8_t *room)
{
    switch (below(24)) {
    case 0: return (uintptr_t)READ_ONLY;
    case 1: return (uintptr_t)ARENA + (32u << 20); // nothing is there
    case 2: return (uintptr_t)room + 1;
    case 3: return (uintptr_t)ARENA + ARENA_SIZE - below(16); // the end of the mapping
    default: return (uintptr_t)room;
    }
}

static size_t made_up(uint8_t *out, uint8_t *room)
{
    static const uint16_t lengths[] = {0, 1, 2, 4, 4, 8, 8, 8, 10, 16, 24, 32, 40, 64, 128, 200, 4000, 65535};
    struct ib_uverbs_ioctl_hdr *h = (void *)out;
    h->object_id = below(30) ? below(20) : draw();
    h->method_id = below(8) ? below(8) : 0x1000 + below(3);
    h->driver_id = below(20) ? 17 : below(30);
    h->num_attrs = below(12);
    for (int i = 0; i < h->num_attrs; i++)
        h->attrs[i] = (struct ib_uverbs_attr){
            .attr_id = below(5) ? below(13) : 0x1000 + below(6),
            .len = lengths[below(sizeof lengths / sizeof *lengths)],
            .flags = below(3) ? 0 : below(4),
            .data = below(2) ? below(40) : below(2) ? pointer(room + 1024 * i) : odd_number(),
        };
    return sizeof *h + h->num_attrs * sizeof *h->attrs;
}

// A recorded call, its pointers moved to `room`. `harm` 0: otherwise as it was.
static size_t changed(const struct call *c, uint8_t *out, uint8_t *room, int harm)
{
    struct ib_uverbs_ioctl_hdr *h = (void *)out;
    memcpy(out, c->bytes, c->length);
    for (int i = 0; i < h->num_attrs; i++) {
        struct ib_uverbs_attr *a = &h->attrs[i];
        if (a->len > 8 || a->data > PAGE) {
            memcpy(room + 1024 * i, c->inputs[i], a->len <= 256 ? a->len : 0);
            a->data = harm ? pointer(room + 1024 * i) : (uintptr_t)room + 1024 * i;
            if (harm && a->len > 8 && a->len <= 256 && below(3) == 0) {
                uint64_t odd = odd_number();
                unsigned size = 1u << below(4);
                memcpy(room + 1024 * i + below(a->len / size) * size, &odd, size);
            }
        } else if (harm && below(3) == 0) {
            a->data = odd_number();
        }
        if (!harm) continue;
        if (below(40) == 0) a->len = odd_number();
        if (below(60) == 0) a->attr_id ^= 1u << below(16);
        if (below(60) == 0) a->flags ^= 1u << below(16);
    }
    if (harm && below(80) == 0) out[below(sizeof *h)] = draw();
    return c->length;
}

static void *caller(void *argument)
{
    unsigned thread = (uintptr_t)argument & 0xff;
    sow((uintptr_t)argument >> 8, thread);
    uint8_t *room = ARENA + (1 + thread) * 65536, bytes[1024];
    while (now() < stop_at) {
        char name[64];
        int device = below(2);
        snprintf(name, sizeof name, "/dev/infiniband/uverbs%d", device);
        int fd = open(name, O_RDWR | O_CLOEXEC);
        CHECK(fd >= 0 || device == 1);
        failed += fd < 0;
        for (int i = 0; fd >= 0 && i < 400; i++) {
            memset(bytes, 0, sizeof bytes);
            int real = below(4) != 0;
            // The first call makes the context.
            const struct call *call = &recorded[i ? below(n_recorded) : 0];
            size_t length = real || !i ? changed(call, bytes, room, i > 0) : made_up(bytes, room);
            struct ib_uverbs_ioctl_hdr *h = (void *)bytes;
            if (below(100)) h->length = length; // else as the change left it
            int result = ioctl(fd, below(200) ? RDMA_VERBS_IOCTL : draw(), below(300) ? bytes : (void *)odd_number());
            calls++;
            accepted += result == 0;
            if (below(50) == 0 && write(fd, bytes, below(200)) > 0) CHECK(!"a plain write was taken");
        }
        CHECK(fd < 0 || close(fd) == 0);
    }
    return NULL;
}

// --- rings --------------------------------------------------------------------------------------------------------

// A queue pair has a cache line in a page of doorbells: the word for sends comes first, that for receives in the middle.
enum { LINE = 64 / 4, RECEIVES = LINE / 2 };

static volatile uint32_t *find_doorbell(void)
{
    for (int i = 0; i < n_mappings; i++) {
        volatile uint32_t *words = (volatile uint32_t *)mappings[i].at;
        for (int at = 0; mappings[i].length == PAGE && at < PAGE / 4; at += LINE)
            if (words[at] == 2 && words[at + RECEIVES] == 1) return words + at;
    }
    return NULL;
}

// The ring that holds the requests just posted: the one with the address of the buffer in it.
static uint8_t *find_ring(uint64_t address, size_t size)
{
    for (int i = 0; i < n_mappings; i++)
        for (size_t at = 0; at + size <= mappings[i].length && mappings[i].length >= DEPTH * size; at += size)
            for (size_t j = 0; j + 8 <= size; j += 4)
                if (memcmp(mappings[i].at + at + j, &address, 8) == 0) return mappings[i].at;
    return NULL;
}

static void spoil(uint8_t *bytes, size_t size)
{
    for (unsigned n = below(4); n > 0; n--)
        if (below(2))
            bytes[below(size)] ^= 1u << below(8);
        else
            bytes[below(size)] = draw();
}

static void fuzz_qp(struct end *e)
{
    n_mappings = 0;
    int ud = below(4) == 0;
    if (!make_qp(e, QKEY, ud)) {
        n_mappings = -1;
        return;
    }
    queue_pairs++;
    post_recv(e, 1, 0x100, 256);
    post(e, 2, 0, 0x200, 64);
    post(e, 3, !ud, 0x300, 64);
    volatile uint32_t *doorbell = find_doorbell();
    uint8_t *sends = find_ring((uintptr_t)e->buffer + 0x200, 64), *receives = find_ring((uintptr_t)e->buffer + 0x100, 16);
    CHECK(doorbell && sends && receives);
    uint8_t wqe[2][64], rqe[16];
    memcpy(wqe, sends, sizeof wqe);
    memcpy(rqe, receives, sizeof rqe);
    uint32_t sent = 2, received = 1;
    for (int i = 0; i < 60; i++) {
        for (unsigned n = below(DEPTH / 4); n > 0; n--, sent++, requests++) {
            uint8_t one[64];
            memcpy(one, wqe[below(2)], 64);
            if (below(3)) one[2] = (one[2] & 0xf0) | below(3);
            if (below(2)) spoil(one, 64);
            memcpy(sends + sent % DEPTH * 64, one, 64);
        }
        for (unsigned n = below(DEPTH / 4); n > 0; n--, received++) {
            uint8_t one[16];
            memcpy(one, rqe, 16);
            if (below(20) == 0) spoil(one, 16);
            memcpy(receives + received % DEPTH * 16, one, 16);
        }
        doorbell[0] = below(200) ? sent : draw();
        doorbell[RECEIVES] = below(200) ? received : draw();
        if (below(10) == 0) {
            struct mapping m = mappings[below(n_mappings)];
            spoil(m.at, m.length);
        }
        // A call makes softnic look at once; its own thread looks now and then.
        struct ibv_qp_attr attr;
        struct ibv_qp_init_attr init;
        if (below(3) == 0)
            usleep(below(300));
        else
            went(e, !ibv_query_qp(e->qp, &attr, IBV_QP_STATE, &init));
        if (below(60) == 0) {
            attr.qp_state = below(2) ? IBV_QPS_ERR : IBV_QPS_RESET;
            ibv_modify_qp(e->qp, &attr, IBV_QP_STATE);
        }
    }
    n_mappings = -1;
    CHECK(!ibv_destroy_qp(e->qp));
}

static void *ringer(void *argument)
{
    unsigned thread = (uintptr_t)argument & 0xff;
    sow((uintptr_t)argument >> 8, thread);
    while (now() < stop_at) {
        struct end e;
        int access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE;
        if (!open_end(&e, below(2), ARENA + (1 + thread) * 65536, access, below(2))) continue;
        for (int i = 0; i < 4 && now() < stop_at; i++) fuzz_qp(&e);
        close_end(&e);
    }
    return NULL;
}

// --- who does nothing wrong ------------------------------------------------------------------------------------------

static void *honest(void *argument)
{
    sow((uintptr_t)argument >> 8, 99);
    uint8_t *buffer;
    CHECK(!posix_memalign((void **)&buffer, PAGE, SIZE));
    struct end e;
    CHECK(open_end(&e, 0, buffer, IBV_ACCESS_LOCAL_WRITE, 0));
    // Of its own: a changed request finds its queue pair now and then, but is not let in.
    CHECK(make_qp(&e, HONEST_QKEY, 0));
    for (uint64_t n = 0; now() < stop_at; n++) {
        uint8_t byte = n * 7 + 1;
        memset(buffer, byte, 512);
        memset(buffer + 1024, 0, 512);
        post_recv(&e, 1, 1024, 512);
        post(&e, 2, 0, 0, 512);
        double end = now() + 20;
        for (int seen = 0; seen != 3;) {
            struct ibv_wc wc;
            int got = ibv_poll_cq(e.cq, 1, &wc);
            CHECK(got >= 0);
            CHECK(now() < end);
            if (got == 0) continue;
            CHECK(wc.status == IBV_WC_SUCCESS && (wc.wr_id == 1 || wc.wr_id == 2));
            seen |= wc.wr_id;
        }
        CHECK(buffer[1024] == byte && memcmp(buffer + 1024, buffer + 1025, 511) == 0);
        good++;
    }
    CHECK(!ibv_destroy_qp(e.qp));
    close_end(&e);
    free(buffer);
    return NULL;
}

// --- rounds -----------------------------------------------------------------------------------------------------------

static int descriptors(void)
{
    DIR *dir = opendir("/proc/self/fd");
    CHECK(dir);
    int n = 0;
    while (readdir(dir)) n++;
    closedir(dir);
    return n;
}

static long resident_kib(void)
{
    long pages = 0, size = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    CHECK(f && fscanf(f, "%ld %ld", &size, &pages) == 2);
    fclose(f);
    return pages * (PAGE / 1024);
}

static void one_round(unsigned round, double end, int keep_below)
{
    stop_at = now() + ROUND_MS / 1000.0 < end ? now() + ROUND_MS / 1000.0 : end;
    pthread_t threads[CALLERS + RINGERS + 1];
    int n = 0;
    for (uintptr_t i = 0; i < CALLERS; i++) CHECK(!pthread_create(&threads[n++], NULL, caller, (void *)((uintptr_t)round << 8 | i)));
    for (uintptr_t i = CALLERS; i < CALLERS + RINGERS; i++)
        CHECK(!pthread_create(&threads[n++], NULL, ringer, (void *)((uintptr_t)round << 8 | i)));
    CHECK(!pthread_create(&threads[n++], NULL, honest, (void *)((uintptr_t)round << 8)));
    while (n > 0) CHECK(!pthread_join(threads[--n], NULL));
    // Channels that accepted calls have made. softnic's own descriptors must survive this.
    CHECK(close_range(keep_below, ~0u, 0) == 0);
}

int main(int argc, char **argv)
{
    double seconds = argc > 1 ? atof(argv[1]) : 5;
    seed = argc > 2 ? strtoull(argv[2], NULL, 0) : 1;
    CHECK(mmap(ARENA, ARENA_SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) == ARENA);
    CHECK(mmap(READ_ONLY, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) == READ_ONLY);
    sow(0, 0);
    struct end e;
    recording = 1;
    CHECK(open_end(&e, 0, ARENA, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ, 1));
    CHECK(make_qp(&e, QKEY, 0));
    struct ibv_device_attr attr;
    CHECK(!ibv_query_device(e.ctx, &attr));
    CHECK(!ibv_destroy_qp(e.qp));
    close_end(&e);
    recording = 0;
    CHECK(n_recorded > 10);

    int keep_below = dup(0);
    CHECK(keep_below > 0 && !close(keep_below));
    double end = now() + seconds;
    int first_fds = 0;
    long first_kib = 0;
    unsigned round = 0;
    for (; now() < end || round < 4; round++) {
        one_round(round, now() < end ? end : now() + 0.3, keep_below);
        if (round == 2) first_fds = descriptors(), first_kib = resident_kib();
    }
    int fds = descriptors();
    long kib = resident_kib();
    printf("fuzz: seed %llu, %u rounds: %lu calls (%lu accepted), %lu requests on %lu queue pairs, %lu refused on demand, %lu good messages; "
           "%d descriptors then %d, %ld KiB then %ld\n",
           (unsigned long long)seed, round, calls, accepted, requests, queue_pairs, failed, good, first_fds, fds, first_kib, kib);
    CHECK(fds <= first_fds);
    CHECK(kib < first_kib + 16 * 1024);
    CHECK(accepted > 0 && requests > 0 && good > 0);
    return 0;
}
