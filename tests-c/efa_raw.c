/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The same libefa asked twice: by libverbena, and by its own functions with each length that its structs could have. The lengths that it refuses
 * are those that libverbena must not tell it; the answers to the length of its own release must be libverbena's, field by field; and what that
 * release has no field for must be absent there.
 */
#include <dlfcn.h>
#include <errno.h>
#include <infiniband/verbs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "srd.h"

enum { UNTOUCHED = 0xee, ROOM = 128, FIELDS = 9 };

/* libefa's functions, and the objects that they are asked about. */
static struct {
    void *library;
    unsigned release;
    struct srd_side side;
    vbn_ah *ah;
    struct ibv_context *context;
    struct ibv_pd *pd;
    struct ibv_cq *cq;
    struct ibv_qp *qp;
    struct ibv_mr *mr;
    struct ibv_ah *native_ah;
} o;

/* The release that the file's name tells: libefa.so.1.4.65.0. */
static void open_library(void) {
    char file[4096];
    unsigned abi;
    vbn_library_info info = {.struct_size = sizeof info};
    CHECK_OK(vbn_library_query(VBN_LIBRARY_EFA, &info));
    CHECK(realpath(info.path, file) != NULL);
    const char *numbers = strstr(file, "libefa.so.1.");
    if (!numbers || sscanf(numbers, "libefa.so.1.%u.%u.", &abi, &o.release) != 2) {
        srd_close(&o.side);
        SKIP("%s doesn't tell its release", file);
    }
    o.library = dlopen(info.path, RTLD_NOW | RTLD_NOLOAD);
    CHECK(o.library != NULL);
}

static void open_objects(void) {
    vbn_ah_attr attr = {.struct_size = sizeof attr};
    srd_open(&o.side, NULL);
    open_library();
    CHECK_OK(vbn_context_query_gid(o.side.context, 1, 0, attr.path.dgid));
    CHECK_OK(vbn_ah_create(o.side.pd, &attr, &o.ah));
    CHECK_OK(vbn_context_native(o.side.context, &o.context));
    CHECK_OK(vbn_pd_native(o.side.pd, &o.pd));
    CHECK_OK(vbn_cq_native(o.side.cq, &o.cq));
    CHECK_OK(vbn_qp_native(o.side.qp, &o.qp));
    CHECK_OK(vbn_mr_native(o.side.mr, &o.mr));
    CHECK_OK(vbn_ah_native(o.ah, &o.native_ah));
}

static void close_objects(void) {
    CHECK_EQ(dlclose(o.library), 0);
    CHECK_OK(vbn_ah_close(&o.ah));
    srd_close(&o.side);
}

/* ---- the questions, raw ---- */

typedef void any_function(void);

static any_function *find(const char *name) {
    void *symbol = dlsym(o.library, name);
    any_function *function;
    memcpy(&function, &symbol, sizeof function);
    return function;
}

typedef int ask_one(void *, uint8_t *, uint32_t);
typedef int ask_two(void *, uint8_t *, uint8_t *, uint32_t);

static int raw_device(any_function *function, uint8_t *raw, uint32_t length) { return ((ask_one *)function)(o.context, raw, length); }
static int raw_ah(any_function *function, uint8_t *raw, uint32_t length) { return ((ask_one *)function)(o.native_ah, raw, length); }
static int raw_cq(any_function *function, uint8_t *raw, uint32_t length) { return ((ask_one *)function)(o.cq, raw, length); }
static int raw_mr(any_function *function, uint8_t *raw, uint32_t length) { return ((ask_one *)function)(o.mr, raw, length); }

static int raw_sq(any_function *function, uint8_t *raw, uint32_t length) {
    uint8_t other[ROOM];
    return ((ask_two *)function)(o.qp, raw, other, length);
}

static int raw_rq(any_function *function, uint8_t *raw, uint32_t length) {
    uint8_t other[ROOM];
    return ((ask_two *)function)(o.qp, other, raw, length);
}

/* ---- the same, by libverbena: the values of the fields, in libefa's order ---- */

static vbn_status our_device(uint64_t *values) {
    vbn_efa_device_info info = {.struct_size = sizeof info};
    vbn_status status = vbn_efa_query_device(o.side.context, &info);
    const uint64_t all[] = {0, info.max_sq_wr, info.max_rq_wr, info.max_sq_sge, info.max_rq_sge, info.inline_buf_size, info.inline_buf_size_ex, info.caps, info.max_rdma_size};
    memcpy(values, all, sizeof all);
    return status;
}

static vbn_status our_ah(uint64_t *values) {
    uint16_t number = 0;
    vbn_status status = vbn_efa_query_ah(o.ah, &number);
    values[1] = number;
    return status;
}

static vbn_status our_cq(uint64_t *values) {
    vbn_efa_cq_info info = {.struct_size = sizeof info};
    vbn_status status = vbn_efa_query_cq(o.side.cq, &info);
    const uint64_t all[] = {0, (uintptr_t)info.buffer, info.entry_size, info.num_entries, (uintptr_t)info.doorbell};
    memcpy(values, all, sizeof all);
    return status;
}

static vbn_status our_mr(uint64_t *values) {
    vbn_efa_mr_info info = {.struct_size = sizeof info};
    vbn_status status = vbn_efa_query_mr(o.side.mr, &info);
    const uint64_t all[] = {0, info.valid, info.recv_ic_id, info.rdma_read_ic_id, info.rdma_recv_ic_id};
    memcpy(values, all, sizeof all);
    return status;
}

static vbn_status our_wq(uint64_t *values, int receive) {
    vbn_efa_wq_info info = {.struct_size = sizeof info};
    vbn_status status = vbn_efa_query_qp(o.side.qp, receive ? NULL : &info, receive ? &info : NULL);
    const uint64_t all[] = {0, (uintptr_t)info.buffer, info.entry_size, info.num_entries, (uintptr_t)info.doorbell, info.max_batch, info.caps};
    memcpy(values, all, sizeof all);
    return status;
}

static vbn_status our_sq(uint64_t *values) { return our_wq(values, 0); }
static vbn_status our_rq(uint64_t *values) { return our_wq(values, 1); }

/* ---- what is compared ---- */

struct field {
    uint32_t at, size;
    unsigned since; /* 0: as old as the struct */
};

#define WQ_FIELDS {{0, 8, 0}, {8, 8, 0}, {16, 4, 0}, {20, 4, 0}, {24, 8, 0}, {32, 4, 0}, {36, 2, 65}}

static const struct question {
    const char *name;
    int (*raw)(any_function *, uint8_t *, uint32_t);
    vbn_status (*ours)(uint64_t *);
    struct field fields[FIELDS];
    uint32_t last, moved_to; /* where the last field lies that must be in; from `moved` on elsewhere */
    unsigned moved;
} questions[] = {
    {"efadv_query_device", raw_device, our_device, {{0, 8, 0}, {8, 4, 0}, {12, 4, 0}, {16, 2, 0}, {18, 2, 0}, {20, 2, 0}, {22, 2, 63}, {24, 4, 0}, {28, 4, 0}}, 20, 22, 63},
    {"efadv_query_ah", raw_ah, our_ah, {{0, 8, 0}, {8, 2, 0}}, 8, 8, 0},
    {"efadv_query_mr", raw_mr, our_mr, {{0, 8, 0}, {8, 2, 0}, {10, 2, 0}, {12, 2, 0}, {14, 2, 0}}, 14, 14, 0},
    {"efadv_query_cq", raw_cq, our_cq, {{0, 8, 0}, {8, 8, 0}, {16, 4, 0}, {20, 4, 0}, {24, 8, 60}}, 20, 20, 0},
    {"efadv_query_qp_wqs", raw_sq, our_sq, WQ_FIELDS, 32, 32, 0},
    {"efadv_query_qp_wqs", raw_rq, our_rq, WQ_FIELDS, 32, 32, 0},
};
enum { QUESTIONS = sizeof questions / sizeof questions[0] };

static uint64_t value_at(const uint8_t *raw, const struct field *field) {
    uint64_t value = 0;
    memcpy(&value, raw + field->at, field->size);
    return value;
}

static uint32_t rounded(uint32_t bytes) { return (bytes + 7) / 8 * 8; }

/* The struct as long as this release has it. */
static uint32_t own_length(const struct question *q) {
    uint32_t end = 0;
    for (const struct field *f = q->fields; f < q->fields + FIELDS && f->size; f++)
        if (f->since <= o.release && f->at + f->size > end) end = f->at + f->size;
    return rounded(end);
}

/* The answer to a length, compared. What a longer length has besides is nothing that this release knows. */
static void compare(const struct question *q, any_function *function, uint32_t length) {
    uint8_t raw[ROOM];
    uint64_t values[FIELDS] = {0};
    memset(raw, UNTOUCHED, sizeof raw);
    CHECK_EQ(q->raw(function, raw, length), 0);
    for (uint32_t i = length; i < ROOM; i++) CHECK_UEQ(raw[i], UNTOUCHED);
    CHECK_OK(q->ours(values));
    for (int i = 0; i < FIELDS && q->fields[i].size; i++) {
        uint64_t wanted = q->fields[i].since <= o.release ? value_at(raw, &q->fields[i]) : 0;
        if (values[i] != wanted) FAIL("%s, field %d: libverbena says 0x%llx, libefa %u 0x%llx", q->name, i, (unsigned long long)values[i], o.release, (unsigned long long)wanted);
    }
}

/* Each length that is too short is refused, and nothing written. */
static void refusals(const struct question *q, any_function *function, uint32_t own) {
    uint32_t last = q->moved && o.release >= q->moved ? q->moved_to : q->last;
    for (uint32_t length = 0; length <= own + 8; length++) {
        uint8_t raw[ROOM];
        memset(raw, UNTOUCHED, sizeof raw);
        int ret = q->raw(function, raw, length);
        if (ret != (length > last ? 0 : EINVAL)) FAIL("%s, %u bytes: %d", q->name, length, ret);
        for (uint32_t i = 0; ret != 0 && i < ROOM; i++) CHECK_UEQ(raw[i], UNTOUCHED);
    }
}

static void queries(void) {
    int asked = 0;
    open_objects();
    for (int i = 0; i < QUESTIONS; i++) {
        const struct question *q = questions + i;
        any_function *function = find(q->name);
        uint64_t values[FIELDS] = {0};
        if (!function) {
            CHECK_STATUS(q->ours(values), VBN_ERR_SYMBOL_MISSING);
            CHECK_HAS(test_error().message, q->name);
            continue;
        }
        uint32_t own = own_length(q);
        refusals(q, function, own);
        compare(q, function, own);
        compare(q, function, own + 16);
        asked++;
    }
    test_note("libefa %u: %d of %d questions compared", o.release, asked, QUESTIONS);
    close_objects();
}

/* ---- depths, whose answer is a number and whose errors are negative ---- */

static int raw_depth(any_function *function, const uint32_t *fields, uint32_t count, uint32_t length) {
    uint8_t raw[ROOM] = {0};
    memcpy(raw + 8, fields, count * sizeof *fields);
    return ((ask_one *)function)(o.context, raw, length);
}

static void check_depths(any_function *sq, any_function *rq) {
    vbn_efa_device_info info = {.struct_size = sizeof info};
    CHECK_OK(vbn_efa_query_device(o.side.context, &info));
    const uint32_t sq_fields[][4] = {{0, 0, 0, 0}, {0, info.max_sq_sge, 1, 0}, {1, 1, 1, 0}, {0, 1, 0, info.inline_buf_size}, {0, 1, 0, info.inline_buf_size_ex}, {1, 0, 0, 0}};
    for (unsigned i = 0; i < sizeof sq_fields / sizeof sq_fields[0]; i++) {
        const uint32_t *f = sq_fields[i];
        vbn_efa_sq_attr attr = {.struct_size = sizeof attr, .flags = f[0], .max_send_sge = f[1], .max_rdma_sge = f[2], .max_inline_data = f[3]};
        uint32_t depth = 0;
        if (f[3] > info.inline_buf_size_ex) continue;
        CHECK_OK(vbn_efa_max_sq_depth(o.side.context, &attr, &depth));
        CHECK_EQ(raw_depth(sq, f, 4, 24), depth);
    }
    for (uint32_t segments = 1; segments <= info.max_rq_sge; segments++) {
        vbn_efa_rq_attr attr = {.struct_size = sizeof attr, .max_recv_sge = segments};
        uint32_t depth = 0;
        CHECK_OK(vbn_efa_max_rq_depth(o.side.context, &attr, &depth));
        CHECK_EQ(raw_depth(rq, &segments, 1, 16), depth);
    }
    /* What libverbena names by its limit is a negative errno and no more. */
    const uint32_t too_many[4] = {0, info.max_sq_sge + 1, 0, 0}, many = info.max_rq_sge + 1;
    CHECK_EQ(raw_depth(sq, too_many, 4, 24), -EINVAL);
    CHECK_EQ(raw_depth(rq, &many, 1, 16), -EINVAL);
}

static void depths(void) {
    const uint32_t sq_fields[4] = {0, 1, 1, 0}, one = 1;
    open_objects();
    any_function *sq = find("efadv_get_max_sq_depth"), *rq = find("efadv_get_max_rq_depth");
    CHECK_EQ(!sq, !rq);
    CHECK_EQ(!!sq, o.release >= 63);
    if (!sq) {
        close_objects();
        SKIP("needs rdma-core 63, of which libefa tells depths");
    }
    for (uint32_t length = 0; length <= 32; length++) {
        CHECK_EQ(raw_depth(sq, sq_fields, 4, length) > 0, length > 20);
        CHECK_EQ(raw_depth(sq, sq_fields, 4, length) == -EINVAL, length <= 20);
        CHECK_EQ(raw_depth(rq, &one, 1, length) > 0, length > 8);
        CHECK_EQ(raw_depth(rq, &one, 1, length) == -EINVAL, length <= 8);
    }
    check_depths(sq, rq);
    close_objects();
}

/* ---- what is made: libverbena tells the shortest length that has what is asked for ---- */

typedef struct ibv_qp *make_qp(struct ibv_context *, struct ibv_qp_init_attr_ex *, uint8_t *, uint32_t);
typedef struct ibv_cq_ex *make_cq(struct ibv_context *, struct ibv_cq_init_attr_ex *, uint8_t *, uint32_t);

/* 1 if made; else the errno must be EINVAL. `dirty`: this byte is not 0. */
static int qp_made(any_function *function, uint32_t length, uint32_t dirty) {
    uint8_t own[ROOM] = {0};
    struct ibv_qp_init_attr_ex attr = {.qp_type = IBV_QPT_DRIVER, .send_cq = o.cq, .recv_cq = o.cq, .comp_mask = IBV_QP_INIT_ATTR_PD, .pd = o.pd};
    attr.cap.max_send_wr = attr.cap.max_recv_wr = 4;
    attr.cap.max_send_sge = attr.cap.max_recv_sge = 1;
    if (dirty) own[dirty] = 1;
    errno = 0;
    struct ibv_qp *qp = ((make_qp *)function)(o.context, &attr, own, length);
    if (qp) CHECK_EQ(ibv_destroy_qp(qp), 0);
    else CHECK_EQ(errno, EINVAL);
    return qp != NULL;
}

static int cq_made(any_function *function, uint32_t length, uint32_t dirty) {
    uint8_t own[ROOM] = {0};
    struct ibv_cq_init_attr_ex attr = {.cqe = 16};
    if (dirty) own[dirty] = 1;
    errno = 0;
    struct ibv_cq_ex *cq = ((make_cq *)function)(o.context, &attr, own, length);
    if (cq) CHECK_EQ(ibv_destroy_cq(ibv_cq_ex_to_cq(cq)), 0);
    else CHECK_EQ(errno, EINVAL);
    return cq != NULL;
}

/* Lengths of whole words: up to 64 libefa looks at memory far behind others. */
static void made(void) {
    open_objects();
    any_function *qp = find("efadv_create_qp_ex"), *cq = find("efadv_create_cq");
    uint32_t qp_own = o.release < 64 ? 16 : 24, cq_own = o.release < 59 ? 16 : 56;
    CHECK(qp != NULL);
    CHECK_EQ(!!cq, o.release >= 43);
    for (uint32_t length = 0; length <= 64; length += 8) {
        CHECK_EQ(qp_made(qp, length, 0), length > 8);
        if (length > qp_own) CHECK_EQ(qp_made(qp, length, length - 8), 0);
        if (!cq) continue;
        CHECK_EQ(cq_made(cq, length, 0), length > 8);
        if (length > cq_own) CHECK_EQ(cq_made(cq, length, length - 8), 0);
    }
    /* libverbena's were made in open_objects; one whose completions have the sender's GID takes efadv_create_cq. */
    if (cq && o.side.caps & VBN_EFA_CAP_CQ_WITH_SGID) {
        vbn_cq_attr attr = {.struct_size = sizeof attr, .cqe = 16, .fields = VBN_WC_EX_SGID};
        vbn_cq *with_sgid = NULL;
        CHECK_OK(vbn_cq_create(o.side.context, &attr, &with_sgid));
        CHECK_OK(vbn_cq_close(&with_sgid));
    }
    close_objects();
}

/* Completion counters, which nothing here uses yet: too short a length is refused as elsewhere. */
static void counters(void) {
    typedef void *make_counter(struct ibv_context *, uint8_t *, uint8_t *, uint32_t);
    uint8_t attr[ROOM] = {0}, own[ROOM] = {0};
    open_objects();
    make_counter *make = (make_counter *)find("efadv_create_comp_cntr");
    CHECK_EQ(!!make, o.release >= 65);
    for (uint32_t length = 0; make && length <= 48; length += 8) {
        errno = 0;
        CHECK(make(o.context, attr, own, length) == NULL);
        CHECK_EQ(errno, EINVAL);
    }
    close_objects();
    if (!make) SKIP("needs rdma-core 65, of which libefa has completion counters");
}

/* ---- an errno of the kernel's, as libefa hands it on and as libverbena tells it ---- */

static void inner_errnos(void) {
    static const struct {
        int number;
        vbn_status status;
    } errors[] = {{EOPNOTSUPP, VBN_ERR_NOT_SUPPORTED}, {ENOMEM, VBN_ERR_NO_MEMORY}, {EINVAL, VBN_ERR_DRIVER}};
    open_objects();
    any_function *function = find("efadv_query_mr");
    CHECK(function != NULL);
    for (int i = 0; i < 3; i++) {
        uint8_t raw[ROOM];
        uint64_t values[FIELDS] = {0};
        CHECK_EQ(raw_mr(function, raw, 16), errors[i].number);
        CHECK_STATUS(our_mr(values), errors[i].status);
        CHECK_EQ(test_error().sys_errno, errors[i].number);
        CHECK_HAS(test_error().message, "efadv_query_mr");
    }
    close_objects();
}

static void errnos(void) {
    open_objects();
    int there = find("efadv_query_mr") != NULL;
    close_objects();
    if (!there) SKIP("needs rdma-core 50, of which libefa asks the kernel about regions");
    under_faults("fail command query_mr 1 errno 95\nfail command query_mr 2 errno 95\nfail command query_mr 3 errno 12\nfail command query_mr 4 errno 12\n"
                 "fail command query_mr 5 errno 22\nfail command query_mr 6 errno 22\n",
                 "errnos");
}

static const struct test tests[] = {{"queries", queries}, {"depths", depths}, {"made", made}, {"counters", counters}, {"errnos", errnos}, {NULL, NULL}};
static const struct test inner[] = {{"errnos", inner_errnos}, {NULL, NULL}};

int main(int argc, char **argv) { return srd_main("efa_raw", tests, inner, argc, argv); }
