/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Every exported function with wrong arguments, on live objects of the null provider: each must answer with a status, tell
 * it in the error record, and leave the outputs as the header says. The table must have every symbol of
 * abi/libverbena.symbols, whose path is in VBN_SYMBOLS.
 */
#include <limits.h>
#include "null_help.h"

static struct rig g;

/* ---- Handles ---- */

enum kind { CONTEXT, PD, MR, CHANNEL, CQ, QP, KINDS };

static void *live(enum kind kind)
{
    void *const all[KINDS] = {g.context, g.pd, g.mr, g.channel, g.cq, g.qp};

    return all[kind];
}

static void close_kind(enum kind kind, void *handle)
{
    vbn_context *context = handle;
    vbn_pd *pd = handle;
    vbn_mr *mr = handle;
    vbn_channel *channel = handle;
    vbn_cq *cq = handle;
    vbn_qp *qp = handle;

    switch (kind) {
    case CONTEXT: OK(vbn_context_close(&context)); break;
    case PD: OK(vbn_pd_close(&pd)); break;
    case MR: OK(vbn_mr_close(&mr)); break;
    case CHANNEL: OK(vbn_channel_close(&channel)); break;
    case CQ: OK(vbn_cq_close(&cq)); break;
    default: OK(vbn_qp_close(&qp)); break;
    }
}

static void *make(enum kind kind)
{
    NEW(vbn_cq_attr, cq_attr);
    NEW(vbn_qp_init_attr, qp_attr);
    vbn_context *context = NULL;
    vbn_pd *pd = NULL;
    vbn_mr *mr = NULL;
    vbn_channel *channel = NULL;
    vbn_cq *cq = NULL;
    vbn_qp *qp = NULL;

    cq_attr.cqe = 8;
    qp_attr.send_cq = g.cq;
    switch (kind) {
    case CONTEXT: OK(vbn_context_open("null1", NULL, &context)); return context;
    case PD: OK(vbn_pd_alloc(g.context, NULL, &pd)); return pd;
    case MR: OK(vbn_mr_reg(g.pd, rig_memory, 64, 0, NULL, &mr)); return mr;
    case CHANNEL: OK(vbn_channel_create(g.context, NULL, &channel)); return channel;
    case CQ: OK(vbn_cq_create(g.context, &cq_attr, &cq)); return cq;
    default: OK(vbn_qp_create(g.pd, &qp_attr, &qp)); return qp;
    }
}

static void *closed(enum kind kind)
{
    void *handle = make(kind);

    close_kind(kind, handle);
    return handle;
}

/* A call whose arguments are all right, but for the one that is handed in. */
typedef vbn_status call(void *argument);

static const char *op;

#define GOT(status, wanted, what) null_want(__FILE__, __LINE__, what, op, (status), (wanted))

static void bad_handles(enum kind kind, call *with)
{
    char *misaligned = (char *)live(kind) + 1;

    GOT(with(NULL), VBN_ERR_ARGUMENT, "NULL handle");
    WANT_TEXT("NULL");
    for (enum kind other = 0; other < KINDS; other++)
        if (other != kind) {
            GOT(with(live(other)), VBN_ERR_ARGUMENT, "handle of another type");
            WANT_TEXT("is not a");
        }
    GOT(with(misaligned), VBN_ERR_ARGUMENT, "misaligned handle");
    GOT(with(closed(kind)), VBN_ERR_CLOSED, "closed handle");
    WANT_TEXT("closed");
}

/* ---- Structs that begin with struct_size ---- */

enum { TAIL = 64, ROOM = 4096 };

static union {
    size_t struct_size;
    unsigned char bytes[ROOM];
} area, copy;

static void fill(const void *from, size_t size)
{
    memset(&area, 0, sizeof(area));
    memcpy(&area, from, size);
}

/* `good` is a struct that works; NULL must give `null`. */
static void bad_input_struct(const void *good, size_t size, const char *type, vbn_status null_gives, call *with)
{
    static const size_t wrong[] = {0, 1, 7, (size_t)1 << 40, SIZE_MAX};

    GOT(with(NULL), null_gives, "NULL struct");
    fill(good, size);
    GOT(with(&area), VBN_OK, "a good struct");
    memmove(area.bytes + 4, good, size);
    GOT(with(area.bytes + 4), VBN_ERR_ARGUMENT, "misaligned struct");
    WANT_TEXT("not aligned");
    for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
        fill(good, size);
        area.struct_size = wrong[i];
        GOT(with(&area), VBN_ERR_ARGUMENT, "wrong struct_size");
        WANT_TEXT("struct_size");
        WANT_TEXT(type);
        WANT_NUMBERS(wrong[i], size);
    }
    fill(good, size);
    area.struct_size = size + TAIL;
    GOT(with(&area), VBN_OK, "larger struct with a zero tail");
    for (size_t at = size; at < size + TAIL; at += TAIL - 1) {
        fill(good, size);
        area.struct_size = size + TAIL;
        area.bytes[at] = 1;
        GOT(with(&area), VBN_ERR_TOO_NEW, "larger struct with something in its tail");
        WANT_TEXT(type);
        WANT_NUMBERS(at, size);
    }
    /* What lies behind a smaller struct isn't read: all bytes there are set. */
    memset(&area, 0xff, sizeof(area));
    memcpy(&area, good, size);
    GOT(with(&area), VBN_OK, "bytes behind the struct");
}

static void bad_output_size(size_t size, const char *type, call *with)
{
    static const size_t wrong[] = {0, 1, 7, (size_t)1 << 40, SIZE_MAX};

    memset(&area, 0xa5, sizeof(area));
    memcpy(area.bytes + 4, &size, sizeof(size));
    memcpy(&copy, &area, sizeof(copy));
    GOT(with(area.bytes + 4), VBN_ERR_ARGUMENT, "misaligned struct");
    CHECK_MEM(&area, &copy, sizeof(area));
    for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
        memset(&area, 0xa5, sizeof(area));
        area.struct_size = wrong[i];
        memcpy(&copy, &area, sizeof(copy));
        GOT(with(&area), VBN_ERR_ARGUMENT, "wrong struct_size");
        WANT_TEXT(type);
        WANT_NUMBERS(wrong[i], size);
        CHECK_MEM(&area, &copy, sizeof(area));
    }
    /* A larger struct is filled up with zeros, and nothing behind it is touched. */
    memset(&area, 0xa5, sizeof(area));
    memcpy(&copy, &area, sizeof(copy));
    area.struct_size = size + TAIL;
    GOT(with(&area), VBN_OK, "larger struct");
    MUST(area.struct_size == size + TAIL, "struct_size has become %zu", area.struct_size);
    for (size_t i = size; i < size + TAIL; i++)
        MUST(!area.bytes[i], "byte %zu of a larger struct is 0x%x", i, area.bytes[i]);
    CHECK_MEM(area.bytes + size + TAIL, copy.bytes, sizeof(area) - size - TAIL);
    /* A smaller one is not overrun. */
    for (size_t small = 8; small < size; small += 8) {
        memset(&area, 0xa5, sizeof(area));
        area.struct_size = small;
        GOT(with(&area), VBN_OK, "smaller struct");
        MUST(area.struct_size == small, "struct_size has become %zu", area.struct_size);
        CHECK_MEM(area.bytes + small, copy.bytes, sizeof(area) - small);
    }
    GOT((area.struct_size = size, with(&area)), VBN_OK, "a good struct");
}

static void bad_output_struct(size_t size, const char *type, call *with)
{
    GOT(with(NULL), VBN_ERR_ARGUMENT, "NULL struct");
    WANT_TEXT(type);
    bad_output_size(size, type, with);
}

/* ---- Outputs ---- */

/* A variable for an output, and one that is misaligned. */
static _Alignas(16) unsigned char out_room[64];

static void bad_out(call *with)
{
    memset(out_room, 0xa5, sizeof(out_room));
    GOT(with(NULL), VBN_ERR_ARGUMENT, "NULL output");
    WANT_TEXT("NULL");
    GOT(with(out_room + 1), VBN_ERR_ARGUMENT, "misaligned output");
    WANT_TEXT("not aligned");
    for (size_t i = 0; i < sizeof(out_room); i++)
        MUST(out_room[i] == 0xa5, "a refused output was written to");
}

/*
 * The constructors' `out`: NULL after every failure, whatever it was before. `body` is a call that stores to `out`; on success
 * the object is closed.
 */
#define CONSTRUCT(kind, body) \
    do { \
        void *out_ = out_room; \
        vbn_status status_; \
        void *out = (void *)&out_; \
        status_ = (body); \
        MUST(status_ ? !out_ : (out_ && out_ != (void *)out_room), "after %s *out is %p", vbn_status_name(status_), out_); \
        if (!status_) \
            close_kind(kind, out_); \
        return status_; \
    } while (0)

/* ---- Close and release take a pointer to the handle ---- */

#define CLOSE_ROW(name, kind_, type) \
    static vbn_status name##_with(void *handle) \
    { \
        type *variable = handle; \
        vbn_status status = vbn_##name##_close(&variable); \
        MUST(status ? variable == handle : !variable, "the handle's variable after %s", vbn_status_name(status)); \
        return status; \
    } \
    static vbn_status name##_release_with(void *handle) \
    { \
        type *variable = handle; \
        void *native = out_room; \
        vbn_status status = vbn_##name##_release(&variable, (void *)&native); \
        MUST(!status || variable == handle, "the handle's variable after %s", vbn_status_name(status)); \
        MUST(!status || native == (void *)out_room, "the native pointer after %s", vbn_status_name(status)); \
        return status; \
    } \
    static vbn_status name##_native_with(void *handle) \
    { \
        void *native = out_room; \
        vbn_status status = vbn_##name##_native(handle, (void *)&native); \
        MUST(!status || native == (void *)out_room, "the native pointer after %s", vbn_status_name(status)); \
        return status; \
    } \
    static vbn_status name##_native_out(void *out) { return vbn_##name##_native(live(kind_), out); } \
    static void bad_##name##_close(void) \
    { \
        type *none = NULL, *twice = make(kind_); \
        GOT(vbn_##name##_close(NULL), VBN_OK, "NULL pointer"); \
        GOT(vbn_##name##_close(&none), VBN_OK, "pointer to NULL"); \
        GOT(vbn_##name##_close((type **)(void *)(out_room + 1)), VBN_ERR_ARGUMENT, "misaligned pointer"); \
        for (enum kind other = 0; other < KINDS; other++) \
            if (other != kind_) \
                GOT(name##_with(live(other)), VBN_ERR_ARGUMENT, "handle of another type"); \
        GOT(name##_with((char *)live(kind_) + 1), VBN_ERR_ARGUMENT, "misaligned handle"); \
        GOT(name##_with(closed(kind_)), VBN_ERR_CLOSED, "closed handle"); \
        GOT(vbn_##name##_close(&twice), VBN_OK, "live handle"); \
        MUST(!twice, "close left the variable"); \
        GOT(vbn_##name##_close(&twice), VBN_OK, "closed again through the same variable"); \
    } \
    static void bad_##name##_release(void) \
    { \
        type *handle = live(kind_); \
        void *native = out_room; \
        bad_handles(kind_, name##_release_with); \
        GOT(vbn_##name##_release(NULL, (void *)&native), VBN_ERR_ARGUMENT, "NULL pointer"); \
        GOT(vbn_##name##_release(&handle, NULL), VBN_ERR_ARGUMENT, "NULL output"); \
        GOT(vbn_##name##_release(&handle, (void *)(out_room + 1)), VBN_ERR_ARGUMENT, "misaligned output"); \
        MUST(handle == live(kind_) && native == (void *)out_room, "a refused release changed a variable"); \
        GOT(vbn_##name##_native(handle, (void *)&native), VBN_OK, "the handle lives on"); \
    } \
    static void bad_##name##_native(void) \
    { \
        bad_handles(kind_, name##_native_with); \
        bad_out(name##_native_out); \
    }

CLOSE_ROW(context, CONTEXT, vbn_context)
CLOSE_ROW(pd, PD, vbn_pd)
CLOSE_ROW(mr, MR, vbn_mr)
CLOSE_ROW(channel, CHANNEL, vbn_channel)
CLOSE_ROW(cq, CQ, vbn_cq)
CLOSE_ROW(qp, QP, vbn_qp)

/* ---- Adopt ---- */

/* Parent and native object for each kind; a native object that belongs to another parent. */
#define ADOPT_ROW(name, kind, parent_kind, native, foreign_type) \
    static vbn_status name##_adopt_parent(void *parent) { CONSTRUCT(kind, vbn_##name##_adopt(parent, native, NULL, out)); } \
    static vbn_status name##_adopt_attr(void *attr) { CONSTRUCT(kind, vbn_##name##_adopt(live(parent_kind), native, attr, out)); } \
    static vbn_status name##_adopt_native(void *object) { CONSTRUCT(kind, vbn_##name##_adopt(live(parent_kind), object, NULL, out)); } \
    static vbn_status name##_adopt_out(void *out) { return vbn_##name##_adopt(live(parent_kind), native, NULL, out); } \
    static void bad_##name##_adopt(void) \
    { \
        bad_handles(parent_kind, name##_adopt_parent); \
        bad_adopt(strcmp(#name, "mr") ? 0 : VBN_ADOPT_SET_IOVA, name##_adopt_attr, name##_adopt_native, name##_adopt_out); \
    }

static int never_called(void *native, void *arg)
{
    (void)native, (void)arg;
    FAIL("destroy was called for an object that was not adopted");
}

/* `known`: the bits of `set` that mean something. Only a region has an address of its own for peers. */
static void bad_adopt(uint64_t known, call *attr_with, call *native_with, call *out_with)
{
    NEW(vbn_adopt_attr, attr);
    static const vbn_adopt_attr zero = {.struct_size = sizeof(zero)};

    bad_input_struct(&attr, sizeof(attr), "vbn_adopt_attr", VBN_OK, attr_with);
    bad_out(out_with);
    GOT(native_with(NULL), VBN_ERR_ARGUMENT, "NULL native");
    for (int bit = known != 0; bit < 64; bit += 31) {
        attr = zero;
        attr.set = (uint64_t)1 << bit;
        GOT(attr_with(&attr), VBN_ERR_ARGUMENT, "unknown bit in set");
        WANT_NUMBERS(attr.set, known);
    }
    attr = zero;
    attr.reserved0 = 1;
    GOT(attr_with(&attr), VBN_ERR_ARGUMENT, "reserved0");
    attr = zero;
    attr.ownership = VBN_ADOPT_CUSTOM;
    GOT(attr_with(&attr), VBN_ERR_ARGUMENT, "CUSTOM without destroy");
    WANT_TEXT("destroy");
    for (int32_t ownership = -1; ownership <= 3; ownership++) {
        attr = zero;
        attr.ownership = ownership;
        attr.destroy = never_called;
        if (ownership != VBN_ADOPT_CUSTOM)
            GOT(attr_with(&attr), VBN_ERR_ARGUMENT, "destroy without CUSTOM, or an unknown ownership");
    }
    attr = zero;
    attr.ownership = INT_MIN;
    GOT(attr_with(&attr), VBN_ERR_ARGUMENT, "an unknown ownership");
}

ADOPT_ROW(pd, PD, CONTEXT, g.ibv_pd, struct ibv_pd)
ADOPT_ROW(channel, CHANNEL, CONTEXT, g.ibv_channel, struct ibv_comp_channel)
ADOPT_ROW(cq, CQ, CONTEXT, g.ibv_cq, struct ibv_cq)
ADOPT_ROW(mr, MR, PD, g.ibv_mr, struct ibv_mr)
ADOPT_ROW(qp, QP, PD, g.ibv_qp, struct ibv_qp)

static vbn_status context_adopt_attr(void *attr) { CONSTRUCT(CONTEXT, vbn_context_adopt(g.ibv_context, attr, out)); }
static vbn_status context_adopt_native(void *native) { CONSTRUCT(CONTEXT, vbn_context_adopt(native, NULL, out)); }
static vbn_status context_adopt_out(void *out) { return vbn_context_adopt(g.ibv_context, NULL, out); }
static void bad_context_adopt(void) { bad_adopt(0, context_adopt_attr, context_adopt_native, context_adopt_out); }

/* ---- Device, library, errors ---- */

static vbn_status list_out(void *out) { return vbn_device_list(NULL, sizeof(vbn_device_info), 0, out); }

/* The rules of arrays whose elements grow. `entries_call` is given the array, its entry_size and its capacity. */
static void bad_entries(vbn_status (*with)(void *entries, size_t entry_size, uint32_t capacity), size_t size, size_t align)
{
    GOT(with(NULL, size, 0), VBN_OK, "no array, only the count");
    GOT(with(NULL, 0, 0), VBN_OK, "no array and no size, only the count");
    GOT(with(NULL, size, 1), VBN_ERR_ARGUMENT, "NULL array with a capacity");
    memset(&area, 0xa5, sizeof(area));
    memcpy(&copy, &area, sizeof(copy));
    GOT(with(area.bytes + 1, size, 1), VBN_ERR_ARGUMENT, "misaligned array");
    GOT(with(&area, size + 1, 1), VBN_ERR_ARGUMENT, "entry_size that would misalign the second element");
    GOT(with(&area, 0, 1), VBN_ERR_ARGUMENT, "entry_size 0");
    GOT(with(&area, (size_t)1 << 40, 1), VBN_ERR_ARGUMENT, "huge entry_size");
    CHECK_MEM(&area, &copy, sizeof(area));
    GOT(with(&area, align, 1), VBN_OK, "short element");
    CHECK_MEM(area.bytes + align, copy.bytes, sizeof(area) - align);
    memset(&area, 0xa5, sizeof(area));
    GOT(with(&area, size + TAIL, 1), VBN_OK, "long element");
    for (size_t i = size; i < size + TAIL; i++)
        MUST(!area.bytes[i], "byte %zu of a long element is 0x%x", i, area.bytes[i]);
    CHECK_MEM(area.bytes + size + TAIL, copy.bytes, sizeof(area) - size - TAIL);
}

static vbn_status list_entries(void *entries, size_t entry_size, uint32_t capacity)
{
    uint32_t count = 77;
    vbn_status status = vbn_device_list(entries, entry_size, capacity, &count);

    MUST(count == (status ? 77 : 2), "count %u after %s", count, vbn_status_name(status));
    return status;
}

static void bad_device_list(void)
{
    bad_out(list_out);
    bad_entries(list_entries, sizeof(vbn_device_info), 8);
}

static vbn_status reason_with(void *info) { return vbn_device_list_reason(info); }
static void bad_device_list_reason(void)
{
    bad_output_struct(sizeof(vbn_device_list_reason_info), "vbn_device_list_reason_info", reason_with);
}

static vbn_status last_error_with(void *info) { return vbn_last_error(info); }
static void bad_last_error(void)
{
    NEW(vbn_pd_info, info);
    vbn_error_info first;

    bad_output_struct(sizeof(vbn_error_info), "vbn_error_info", last_error_with);
    /* Asking changes nothing, and neither does a call that succeeds. */
    null_want(__FILE__, __LINE__, "a failure", "vbn_pd_query", vbn_pd_query(NULL, &info), VBN_ERR_ARGUMENT);
    first = *last();
    OK(vbn_pd_query(g.pd, &info));
    CHECK_MEM(last(), &first, sizeof(first));
    CHECK_MEM(last(), &first, sizeof(first));
}

/* The null provider is loaded already, so only the same setting is accepted again. */
static vbn_status init_with(void *attr) { return vbn_library_init(attr); }
static void *no_lookup(const char *symbol, const char *version, void *arg) { return (void)symbol, (void)version, arg; }

static void bad_library_init(void)
{
    char path[4096];
    static const vbn_library_attr zero = {.struct_size = sizeof(zero)};
    vbn_library_attr attr = zero;

    bad_input_struct(&attr, sizeof(attr), "vbn_library_attr", VBN_OK, init_with);
    for (int32_t library = -1; library < 3; library++) {
        attr = zero;
        attr.library = library;
        GOT(init_with(&attr), library == VBN_LIBRARY_IBVERBS ? VBN_OK : VBN_ERR_ARGUMENT, "library");
    }
    attr = zero;
    attr.reserved0 = 1;
    GOT(init_with(&attr), VBN_ERR_ARGUMENT, "reserved0");
    attr = zero;
    attr.path = "x";
    attr.handle = path;
    GOT(init_with(&attr), VBN_ERR_ARGUMENT, "path and handle");
    attr.handle = NULL;
    attr.lookup = no_lookup;
    GOT(init_with(&attr), VBN_ERR_ARGUMENT, "path and lookup");
    attr.path = NULL;
    attr.handle = path;
    GOT(init_with(&attr), VBN_ERR_ARGUMENT, "handle and lookup");
    attr = zero;
    attr.path = "";
    GOT(init_with(&attr), VBN_ERR_ARGUMENT, "empty path");
    memset(path, 'x', sizeof(path));
    path[sizeof(path) - 1] = '\0';
    attr.path = path;
    GOT(init_with(&attr), VBN_ERR_ARGUMENT, "path of 4095 characters");
    attr.path = "/nonexistent";
    GOT(init_with(&attr), VBN_ERR_BUSY, "another path after loading");
}

static vbn_status library_info_with(void *info) { return vbn_library_query(VBN_LIBRARY_IBVERBS, info); }
static void bad_library_query(void)
{
    NEW(vbn_library_info, info);

    bad_output_struct(sizeof(info), "vbn_library_info", library_info_with);
    GOT(vbn_library_query(-1, &info), VBN_ERR_ARGUMENT, "library -1");
    GOT(vbn_library_query(1, &info), VBN_ERR_ARGUMENT, "library 1");
    GOT(vbn_library_query(INT32_MAX, &info), VBN_ERR_ARGUMENT, "library INT32_MAX");
}

static vbn_status missing_with(void *info) { return vbn_library_missing(VBN_LIBRARY_IBVERBS, 0, info); }
static void bad_library_missing(void)
{
    NEW(vbn_library_info, library);
    NEW(vbn_symbol_info, info);

    OK(vbn_library_query(VBN_LIBRARY_IBVERBS, &library));
    MUST(library.missing_count > 0, "the null provider is as old as rdma-core 44 and must lack something");
    bad_output_struct(sizeof(info), "vbn_symbol_info", missing_with);
    GOT(vbn_library_missing(1, 0, &info), VBN_ERR_ARGUMENT, "library 1");
    GOT(vbn_library_missing(0, library.missing_count, &info), VBN_ERR_NOT_FOUND, "index beyond the last");
    GOT(vbn_library_missing(0, UINT32_MAX, &info), VBN_ERR_NOT_FOUND, "index UINT32_MAX");
    WANT_NUMBERS(UINT32_MAX, library.missing_count);
}

static void bad_fork_init(void)
{
    GOT(vbn_fork_init(), VBN_OK, "first");
    GOT(vbn_fork_init(), VBN_OK, "second");
}

/* ---- Names: never NULL, never empty, whatever the number ---- */

static void bad_names(const char *(*name)(int32_t), int32_t known)
{
    static const int32_t numbers[] = {INT32_MIN, -1002, -2, 60, 100, 254, 256, 65536, INT32_MAX};

    for (int32_t i = -300; i < 300; i++)
        MUST(name(i) && *name(i), "no name for %d", i);
    for (size_t i = 0; i < ARRAY_SIZE(numbers); i++)
        MUST(!strcmp(name(numbers[i]), "unknown"), "%d is called %s", numbers[i], name(numbers[i]));
    MUST(strcmp(name(known), "unknown"), "%d has no name", known);
}

/* Names of single bits: no bit, several bits and unknown bits have none. */
static void bad_bits(const char *(*name)(uint64_t), uint64_t known)
{
    for (int bit = 0; bit < 64; bit++) {
        uint64_t value = 1ull << bit;

        MUST(name(value) && *name(value), "no name for bit %d", bit);
        MUST(!!strcmp(name(value), "unknown") == !!(known & value), "bit %d is called %s", bit, name(value));
        MUST(!strcmp(name(value | value << 1 | 1), "unknown") || bit == 0, "several bits are called %s", name(value | 1));
    }
    CHECK_STR(name(0), "unknown");
    CHECK_STR(name(3), "unknown");
    CHECK_STR(name(UINT64_MAX), "unknown");
}

static const char *wr_opcode_name(int32_t value) { return vbn_wr_opcode_name((uint32_t)value); }
#define NAME_ROW(name, known) \
    static void bad_##name##_name(void) { bad_names(vbn_##name##_name, known); }
NAME_ROW(event_type, VBN_EVENT_CQ_ERR)
NAME_ROW(gid_type, VBN_GID_TYPE_ROCE_V2)
NAME_ROW(link_layer, 2)
NAME_ROW(mtu, VBN_MTU_4096)
NAME_ROW(node_type, 1)
NAME_ROW(port_state, 4)
NAME_ROW(qp_state, VBN_QPS_ERR)
NAME_ROW(qp_type, VBN_QPT_RC)
NAME_ROW(transport, 0)
NAME_ROW(wc_opcode, VBN_WC_RECV)
NAME_ROW(wc_status, VBN_WC_TM_RNDV_INCOMPLETE)
NAME_ROW(device_list_reason, VBN_REASON_LIST_FAILED)
NAME_ROW(element, VBN_ELEMENT_DEVICE)
NAME_ROW(fork_state, VBN_FORK_UNNEEDED)
NAME_ROW(gid_family, VBN_GID_FAMILY_IPV6)
NAME_ROW(gid_verdict, VBN_GID_UNUSED)
NAME_ROW(library_origin, VBN_LIBRARY_FROM_LOOKUP)
NAME_ROW(mr_kind, VBN_MR_ADOPTED)
NAME_ROW(ownership, VBN_ADOPT_CUSTOM)
NAME_ROW(vendor_domain, VBN_VENDOR_WC)
static void bad_access_flag_name(void) { bad_bits(vbn_access_flag_name, 0x1003ff); }
static void bad_send_flag_name(void) { bad_bits(vbn_send_flag_name, 0xf); }
static void bad_qp_attr_name(void) { bad_bits(vbn_qp_attr_name, 0x1fffff | 1 << 25); }
static void bad_wc_flag_name(void) { bad_bits(vbn_wc_flag_name, 0xf); }
static void bad_wr_opcode_name(void) { bad_names(wr_opcode_name, VBN_WR_RDMA_READ); }

static void bad_status_name(void)
{
    for (vbn_status status = -1100; status < 200; status++)
        MUST(!strncmp(vbn_status_name(status), "VBN_", 4), "%d is called %s", status, vbn_status_name(status));
    CHECK_STR(vbn_status_name(INT32_MIN), "VBN_ERR_?");
    CHECK_STR(vbn_status_name(1), "VBN_ERR_?");
    CHECK_STR(vbn_status_name(VBN_ERR_LIMIT), "VBN_ERR_LIMIT");
}

static void bad_status_text(void)
{
    for (vbn_status status = -1100; status < 200; status++)
        MUST(vbn_status_text(status) && *vbn_status_text(status), "%d has no text", status);
    CHECK_STR(vbn_status_text(INT32_MAX), "unknown status");
}

static void bad_version(void)
{
#ifdef VBN_VERSION
    MUST(vbn_version() == VBN_VERSION, "the library is not that of the header");
#else
    FAIL("the header has no VBN_VERSION");
#endif
}

static void bad_version_string(void)
{
    char text[32];

    snprintf(text, sizeof(text), "%u.%u.%u", vbn_version() >> 16, vbn_version() >> 8 & 0xff, vbn_version() & 0xff);
    CHECK_STR(vbn_version_string(), text);
}

/* ---- Context ---- */

static vbn_status open_attr(void *attr) { CONSTRUCT(CONTEXT, vbn_context_open("null1", attr, out)); }
static vbn_status open_name(void *name) { CONSTRUCT(CONTEXT, vbn_context_open(name, NULL, out)); }
static vbn_status open_out(void *out) { return vbn_context_open("null1", NULL, out); }
static void bad_context_open(void)
{
    NEW(vbn_context_attr, attr);
    char path[5000], empty[] = "", unknown[] = "null99", similar[] = "null";

    bad_input_struct(&attr, sizeof(attr), "vbn_context_attr", VBN_OK, open_attr);
    bad_out(open_out);
    GOT(open_name(NULL), VBN_OK, "NULL name");
    GOT(open_name(empty), VBN_OK, "empty name");
    GOT(open_name(similar), VBN_ERR_NOT_FOUND, "the beginning of a name");
    GOT(open_name(unknown), VBN_ERR_NOT_FOUND, "unknown name");
    CHECK_STR(last()->object, "null99");
    MUST(last()->limit == 2, "limit %llu, not the 2 devices there are", (unsigned long long)last()->limit);
    memset(path, 'n', sizeof(path));
    path[sizeof(path) - 1] = '\0';
    GOT(open_name(path), VBN_ERR_NOT_FOUND, "long name");
    MUST(strlen(last()->object) < VBN_NAME_SIZE, "the object isn't cut");
}

#define QUERY_ROW(function, kind, type, ...) \
    static vbn_status function##_handle(void *handle) \
    { \
        NEW(type, info); \
        return vbn_##function(handle, __VA_ARGS__ &info); \
    } \
    static vbn_status function##_info(void *info) { return vbn_##function(live(kind), __VA_ARGS__ info); } \
    static void bad_##function(void) \
    { \
        bad_handles(kind, function##_handle); \
        bad_output_struct(sizeof(type), #type, function##_info); \
        bad_##function##_more(); \
    }

static void bad_context_query_more(void) {}
static void bad_context_query_device_more(void) {}
static void bad_context_live_more(void) {}
static void bad_pd_query_more(void) {}
static void bad_mr_query_more(void) {}
static void bad_channel_query_more(void) {}
static void bad_cq_query_more(void) {}
static void bad_qp_query_more(void) {}

/* Port numbers: 1 is the only one. `with` gets a port. */
static void bad_ports(vbn_status (*with)(uint32_t port))
{
    static const uint32_t ports[] = {2, 255, 256, 257, 65537, UINT32_MAX};

    GOT(with(1), VBN_OK, "port 1");
    GOT(with(0), VBN_ERR_ARGUMENT, "port 0");
    for (size_t i = 0; i < ARRAY_SIZE(ports); i++) {
        GOT(with(ports[i]), VBN_ERR_LIMIT, "port that isn't there");
        WANT_NUMBERS(ports[i], 1);
        CHECK_STR(last()->object, "null0");
    }
}

static vbn_status query_port_number(uint32_t port)
{
    NEW(vbn_port_attr, attr);

    return vbn_context_query_port(g.context, port, &attr);
}
static void bad_context_query_port_more(void) { bad_ports(query_port_number); }

QUERY_ROW(context_query, CONTEXT, vbn_context_info, )
QUERY_ROW(context_query_device, CONTEXT, vbn_device_attr, )
QUERY_ROW(context_live, CONTEXT, vbn_live_info, )
QUERY_ROW(context_query_port, CONTEXT, vbn_port_attr, 1, )
QUERY_ROW(pd_query, PD, vbn_pd_info, )
QUERY_ROW(mr_query, MR, vbn_mr_info, )
QUERY_ROW(channel_query, CHANNEL, vbn_channel_info, )
QUERY_ROW(cq_query, CQ, vbn_cq_info, )
QUERY_ROW(qp_query, QP, vbn_qp_info, )

static vbn_status gid_handle(void *handle)
{
    uint8_t gid[16], before[16];
    vbn_status status;

    memset(gid, 0xa5, sizeof(gid));
    memcpy(before, gid, sizeof(gid));
    status = vbn_context_query_gid(handle, 1, 0, gid);
    MUST(!status || !memcmp(gid, before, sizeof(gid)), "the GID was written after %s", vbn_status_name(status));
    return status;
}
static vbn_status gid_port(uint32_t port) { return vbn_context_query_gid(g.context, port, 0, out_room); }
static void bad_context_query_gid(void)
{
    static const uint32_t indices[] = {4, 65536, INT32_MAX, 0x80000000u, UINT32_MAX};

    bad_handles(CONTEXT, gid_handle);
    bad_ports(gid_port);
    GOT(vbn_context_query_gid(g.context, 1, 0, NULL), VBN_ERR_ARGUMENT, "NULL output");
    for (size_t i = 0; i < ARRAY_SIZE(indices); i++) {
        GOT(vbn_context_query_gid(g.context, 1, indices[i], out_room), VBN_ERR_LIMIT, "index that isn't there");
        WANT_NUMBERS(indices[i], 3);
    }
}

static vbn_status pkey_handle(void *handle)
{
    uint16_t pkey = 77;
    vbn_status status = vbn_context_query_pkey(handle, 1, 0, &pkey);

    MUST(!status || pkey == 77, "the pkey was written after %s", vbn_status_name(status));
    return status;
}
static vbn_status pkey_port(uint32_t port) { return vbn_context_query_pkey(g.context, port, 0, (void *)out_room); }
static vbn_status pkey_out(void *out) { return vbn_context_query_pkey(g.context, 1, 0, out); }
static void bad_context_query_pkey(void)
{
    bad_handles(CONTEXT, pkey_handle);
    bad_ports(pkey_port);
    bad_out(pkey_out);
    GOT(vbn_context_query_pkey(g.context, 1, 1, (void *)out_room), VBN_ERR_LIMIT, "index that isn't there");
    WANT_NUMBERS(1, 0);
    GOT(vbn_context_query_pkey(g.context, 1, UINT32_MAX, (void *)out_room), VBN_ERR_LIMIT, "index UINT32_MAX");
}

static vbn_status table_handle(void *handle)
{
    uint32_t count = 77;
    vbn_status status = vbn_context_gid_table(handle, NULL, sizeof(vbn_gid_entry), 0, &count);

    MUST(count == (status ? 77 : 3), "count %u after %s", count, vbn_status_name(status));
    return status;
}
static vbn_status table_out(void *out) { return vbn_context_gid_table(g.context, NULL, sizeof(vbn_gid_entry), 0, out); }
static vbn_status table_entries(void *entries, size_t entry_size, uint32_t capacity)
{
    uint32_t count;

    return vbn_context_gid_table(g.context, entries, entry_size, capacity, &count);
}
static void bad_context_gid_table(void)
{
    bad_handles(CONTEXT, table_handle);
    bad_out(table_out);
    bad_entries(table_entries, sizeof(vbn_gid_entry), 4);
}

static vbn_status select_handle(void *handle) { return vbn_gid_select(handle, 1, NULL, NULL, NULL, 0, 0, NULL); }
static vbn_status select_attr(void *attr) { return vbn_gid_select(g.context, 1, attr, NULL, NULL, 0, 0, NULL); }
static vbn_status select_choice(void *choice) { return vbn_gid_select(g.context, 1, NULL, choice, NULL, 0, 0, NULL); }
static vbn_status select_port(uint32_t port) { return vbn_gid_select(g.context, port, NULL, NULL, NULL, 0, 0, NULL); }
static vbn_status select_entries(void *entries, size_t entry_size, uint32_t capacity)
{
    return vbn_gid_select(g.context, 1, NULL, NULL, entries, entry_size, capacity, NULL);
}
static void bad_gid_select(void)
{
    NEW(vbn_gid_choice, choice);
    static const vbn_gid_select_attr zero = {.struct_size = sizeof(zero)};
    vbn_gid_select_attr attr = zero;
    uint32_t count = 77;

    bad_handles(CONTEXT, select_handle);
    bad_ports(select_port);
    bad_input_struct(&attr, sizeof(attr), "vbn_gid_select_attr", VBN_OK, select_attr);
    bad_entries(select_entries, sizeof(vbn_gid_verdict), 4);
    GOT(vbn_gid_select(g.context, 1, NULL, NULL, NULL, 0, 0, (void *)(out_room + 1)), VBN_ERR_ARGUMENT, "misaligned count");
    bad_output_size(sizeof(choice), "vbn_gid_choice", select_choice);
    attr.set = 4;
    GOT(select_attr(&attr), VBN_ERR_ARGUMENT, "unknown bit in set");
    WANT_NUMBERS(4, 3);
    attr = zero;
    attr.reserved0 = 1;
    GOT(select_attr(&attr), VBN_ERR_ARGUMENT, "reserved0");
    attr = zero;
    attr.family = 3;
    GOT(select_attr(&attr), VBN_ERR_ARGUMENT, "unknown family");
    attr.family = -1;
    GOT(select_attr(&attr), VBN_ERR_ARGUMENT, "family -1");
    attr = zero;
    attr.set = VBN_GID_SET_TYPE;
    attr.type = 3;
    GOT(select_attr(&attr), VBN_ERR_ARGUMENT, "unknown type");
    attr.type = -1;
    GOT(select_attr(&attr), VBN_ERR_ARGUMENT, "type -1");
    attr = zero;
    memset(attr.ndev, 'x', sizeof(attr.ndev));
    attr.set = VBN_GID_SET_INDEX;
    attr.index = UINT32_MAX;
    GOT(vbn_gid_select(g.context, 1, &attr, &choice, NULL, 0, 0, &count), VBN_ERR_NOT_FOUND,
        "index that isn't there, device name without end");
    MUST(count == 3, "the count is %u when nothing is found", count);
}

static vbn_status async_handle(void *handle)
{
    NEW(vbn_async_event, event);
    vbn_status status = vbn_context_get_async_event(handle, 0, &event);

    return status == VBN_ERR_TIMEOUT ? VBN_OK : status;
}
static vbn_status async_event(void *event)
{
    null.push_port_event(g.ibv_context, IBV_EVENT_PORT_ACTIVE, 1);
    return vbn_context_get_async_event(g.context, 0, event);
}
static void bad_context_get_async_event(void)
{
    NEW(vbn_async_event, event);

    bad_handles(CONTEXT, async_handle);
    bad_output_struct(sizeof(vbn_async_event), "vbn_async_event", async_event);
    /* A refused call took no event: those of the refusals are all still there. */
    for (int i = 0; i < 7; i++)
        GOT(vbn_context_get_async_event(g.context, 0, &event), VBN_OK, "the event of a refused call");
    GOT(vbn_context_get_async_event(g.context, 0, &event), VBN_ERR_TIMEOUT, "no event, no wait");
    GOT(vbn_context_get_async_event(g.context, 1000000, &event), VBN_ERR_TIMEOUT, "no event, 1 ms");
}

/* ---- PD, channel, CQ ---- */

static vbn_status pd_alloc_handle(void *context) { CONSTRUCT(PD, vbn_pd_alloc(context, NULL, out)); }
static vbn_status pd_alloc_attr(void *attr) { CONSTRUCT(PD, vbn_pd_alloc(g.context, attr, out)); }
static vbn_status pd_alloc_out(void *out) { return vbn_pd_alloc(g.context, NULL, out); }
static void bad_pd_alloc(void)
{
    NEW(vbn_pd_attr, attr);

    bad_handles(CONTEXT, pd_alloc_handle);
    bad_input_struct(&attr, sizeof(attr), "vbn_pd_attr", VBN_OK, pd_alloc_attr);
    bad_out(pd_alloc_out);
}

static vbn_status channel_create_handle(void *context) { CONSTRUCT(CHANNEL, vbn_channel_create(context, NULL, out)); }
static vbn_status channel_create_attr(void *attr) { CONSTRUCT(CHANNEL, vbn_channel_create(g.context, attr, out)); }
static vbn_status channel_create_out(void *out) { return vbn_channel_create(g.context, NULL, out); }
static void bad_channel_create(void)
{
    NEW(vbn_channel_attr, attr);

    bad_handles(CONTEXT, channel_create_handle);
    bad_input_struct(&attr, sizeof(attr), "vbn_channel_attr", VBN_OK, channel_create_attr);
    bad_out(channel_create_out);
}

static vbn_status get_event_handle(void *handle)
{
    NEW(vbn_cq_event, event);
    vbn_status status = vbn_channel_get_event(handle, 0, &event);

    return status == VBN_ERR_TIMEOUT ? VBN_OK : status;
}
static vbn_status get_event_event(void *event)
{
    null.push_cq_event(g.ibv_cq);
    return vbn_channel_get_event(g.channel, 0, event);
}
static void bad_channel_get_event(void)
{
    NEW(vbn_cq_event, event);

    bad_handles(CHANNEL, get_event_handle);
    bad_output_struct(sizeof(vbn_cq_event), "vbn_cq_event", get_event_event);
    for (int i = 0; i < 7; i++)
        GOT(vbn_channel_get_event(g.channel, 0, &event), VBN_OK, "the event of a refused call");
    GOT(vbn_channel_get_event(g.channel, 0, &event), VBN_ERR_TIMEOUT, "no event, no wait");
    GOT(vbn_channel_get_event(g.channel, 1000000, &event), VBN_ERR_TIMEOUT, "no event, 1 ms");
}

static vbn_cq_attr cq_default(void)
{
    NEW(vbn_cq_attr, attr);

    attr.cqe = 16;
    return attr;
}
static vbn_status cq_create_handle(void *context)
{
    vbn_cq_attr attr = cq_default();

    CONSTRUCT(CQ, vbn_cq_create(context, &attr, out));
}
static vbn_status cq_create_attr(void *attr) { CONSTRUCT(CQ, vbn_cq_create(g.context, attr, out)); }
static vbn_status cq_create_out(void *out)
{
    vbn_cq_attr attr = cq_default();

    return vbn_cq_create(g.context, &attr, out);
}
static vbn_status cq_create_channel(void *channel)
{
    vbn_cq_attr attr = cq_default();

    attr.channel = channel;
    return channel ? cq_create_attr(&attr) : vbn_cq_create(NULL, &attr, (void *)out_room);
}
static void bad_cq_create(void)
{
    static const uint32_t depths[] = {65537, INT32_MAX, 0x80000000u, UINT32_MAX};
    vbn_cq_attr attr = cq_default();
    vbn_channel *foreign;
    vbn_context *other = make(CONTEXT);

    bad_handles(CONTEXT, cq_create_handle);
    bad_handles(CHANNEL, cq_create_channel);
    bad_input_struct(&attr, sizeof(attr), "vbn_cq_attr", VBN_ERR_ARGUMENT, cq_create_attr);
    bad_out(cq_create_out);
    attr.cqe = 0;
    GOT(cq_create_attr(&attr), VBN_ERR_ARGUMENT, "cqe 0");
    for (size_t i = 0; i < ARRAY_SIZE(depths); i++) {
        attr.cqe = depths[i];
        GOT(cq_create_attr(&attr), VBN_ERR_LIMIT, "cqe too large");
        WANT_NUMBERS(depths[i], 65536);
        CHECK_STR(last()->object, "null0");
    }
    attr.cqe = 65536;
    GOT(cq_create_attr(&attr), VBN_OK, "the largest cqe");
    for (uint32_t vector = (uint32_t)g.ibv_context->num_comp_vectors; vector; vector = vector == UINT32_MAX ? 0 : UINT32_MAX) {
        attr.comp_vector = vector;
        GOT(cq_create_attr(&attr), VBN_ERR_LIMIT, "comp_vector that isn't there");
        WANT_NUMBERS(vector, g.ibv_context->num_comp_vectors - 1);
    }
    attr = cq_default();
    OK(vbn_channel_create(other, NULL, &foreign));
    attr.channel = foreign;
    GOT(cq_create_attr(&attr), VBN_ERR_ARGUMENT, "channel of another context");
    close_kind(CHANNEL, foreign);
    close_kind(CONTEXT, other);
}

static vbn_status arm_handle(void *handle) { return vbn_cq_arm(handle, 0); }
static void bad_cq_arm(void)
{
    vbn_cq *silent = make(CQ);

    bad_handles(CQ, arm_handle);
    GOT(vbn_cq_arm(g.cq, 1), VBN_OK, "solicited_only 1");
    GOT(vbn_cq_arm(g.cq, 2), VBN_ERR_ARGUMENT, "solicited_only 2");
    GOT(vbn_cq_arm(g.cq, 255), VBN_ERR_ARGUMENT, "solicited_only 255");
    GOT(vbn_cq_arm(silent, 0), VBN_ERR_ARGUMENT, "queue without a channel");
    WANT_TEXT("channel");
    close_kind(CQ, silent);
}

static vbn_status poll_handle(void *handle)
{
    vbn_wc wcs[2];
    uint32_t got = 77;
    vbn_status status = vbn_cq_poll(handle, 2, wcs, &got);

    MUST(!got, "got is %u after %s", got, vbn_status_name(status));
    return status;
}
static void bad_cq_poll(void)
{
    vbn_wc wc;
    uint32_t got = 77;

    bad_handles(CQ, poll_handle);
    GOT(vbn_cq_poll(g.cq, 1, &wc, NULL), VBN_ERR_ARGUMENT, "NULL got");
    GOT(vbn_cq_poll(g.cq, 1, NULL, &got), VBN_ERR_ARGUMENT, "NULL array");
    MUST(!got, "got is %u", got);
    GOT((got = 77, vbn_cq_poll(g.cq, 0, &wc, &got)), VBN_OK, "n 0");
    MUST(!got, "got is %u", got);
    GOT((got = 77, vbn_cq_poll(NULL, 1, NULL, NULL)), VBN_ERR_ARGUMENT, "everything NULL");
}

static vbn_status wait_handle(void *handle)
{
    vbn_wc wcs[2];
    uint32_t got = 77;
    vbn_status status = vbn_cq_wait(handle, 2, wcs, 0, 0, &got);

    MUST(!got, "got is %u after %s", got, vbn_status_name(status));
    return status == VBN_ERR_TIMEOUT ? VBN_OK : status;
}
static vbn_status wait_got(void *got)
{
    vbn_wc wc;

    return vbn_cq_wait(g.cq, 1, &wc, 0, 0, got);
}
static void bad_cq_wait(void)
{
    vbn_wc wcs[2];
    uint32_t got = 77;

    bad_handles(CQ, wait_handle);
    bad_out(wait_got);
    GOT(vbn_cq_wait(g.cq, 1, NULL, 0, 0, &got), VBN_ERR_ARGUMENT, "NULL array");
    MUST(!got, "got is %u", got);
    GOT((got = 77, vbn_cq_wait(g.cq, 0, wcs, 0, 0, &got)), VBN_ERR_ARGUMENT, "n 0");
    MUST(!got, "got is %u", got);
    GOT(vbn_cq_wait(g.cq, 1, (vbn_wc *)(void *)((char *)wcs + 1), 0, 0, &got), VBN_ERR_ARGUMENT, "misaligned array");
    GOT(vbn_cq_wait(g.cq, 1, wcs, INT64_MIN, 1000000, &got), VBN_ERR_TIMEOUT, "busy_ns below 0");
    GOT(vbn_cq_wait(g.cq, 1, wcs, INT64_MAX, 1000000, &got), VBN_ERR_TIMEOUT, "busy_ns beyond the time-out");
}

static vbn_status check_with(void *wc) { return vbn_wc_check(wc); }
static void bad_wc_check(void)
{
    _Alignas(8) char room[sizeof(vbn_wc) + 8] = {0};
    vbn_wc wc = {.status = VBN_WC_SUCCESS};
    static const int32_t odd[] = {-1, INT32_MIN, 24, 1000, INT32_MAX};

    GOT(check_with(NULL), VBN_ERR_ARGUMENT, "NULL");
    GOT(check_with(room + 1), VBN_ERR_ARGUMENT, "misaligned");
    GOT(check_with(&wc), VBN_OK, "success");
    for (size_t i = 0; i < ARRAY_SIZE(odd); i++) {
        wc = (vbn_wc){.status = odd[i], .vendor_err = 7, .qp_num = 9};
        GOT(check_with(&wc), VBN_ERR_COMPLETION, "a status that nobody knows");
        MUST(last()->vendor_domain == VBN_VENDOR_WC && last()->vendor_code == 7, "vendor code");
        WANT_NUMBERS((uint64_t)(int64_t)odd[i], 0);
        WANT_TEXT("queue pair 9 failed");
    }
}

/* ---- MR ---- */

static vbn_status reg_pd(void *pd) { CONSTRUCT(MR, vbn_mr_reg(pd, rig_memory, 64, 0, NULL, out)); }
static vbn_status reg_attr(void *attr) { CONSTRUCT(MR, vbn_mr_reg(g.pd, rig_memory, 64, 0, attr, out)); }
static vbn_status reg_out(void *out) { return vbn_mr_reg(g.pd, rig_memory, 64, 0, NULL, out); }
static vbn_status reg(void *addr, uint64_t length, uint64_t access) { CONSTRUCT(MR, vbn_mr_reg(g.pd, addr, length, access, NULL, out)); }

/* A device with a limit of its own. */
static void bad_mr_length(void)
{
    vbn_context *context;
    vbn_mr *mr = (void *)out_room;
    vbn_pd *pd;

    null.device_attr()->orig_attr.max_mr_size = 100;
    OK(vbn_context_open("null1", NULL, &context));
    OK(vbn_pd_alloc(context, NULL, &pd));
    GOT(vbn_mr_reg(pd, rig_memory, 101, 0, NULL, &mr), VBN_ERR_LIMIT, "length above max_mr_size");
    WANT_NUMBERS(101, 100);
    CHECK_STR(last()->object, "null1");
    MUST(!mr, "*out is not NULL");
    GOT(vbn_mr_reg(pd, rig_memory, 100, 0, NULL, &mr), VBN_OK, "length max_mr_size");
    OK(vbn_mr_close(&mr));
    OK(vbn_pd_close(&pd));
    OK(vbn_context_close(&context));
}

static const uint64_t unknown_access[] = {1 << 10, 1 << 19, 1 << 21, 1ull << 31, 1ull << 32, 1ull << 63, UINT64_MAX};

static void bad_mr_reg(void)
{
    static const vbn_mr_attr zero = {.struct_size = sizeof(zero)};
    vbn_mr_attr attr = zero;

    bad_handles(PD, reg_pd);
    bad_input_struct(&attr, sizeof(attr), "vbn_mr_attr", VBN_OK, reg_attr);
    bad_out(reg_out);
    GOT(reg(NULL, 64, 0), VBN_ERR_ARGUMENT, "NULL memory");
    GOT(reg(rig_memory, 0, 0), VBN_ERR_ARGUMENT, "length 0");
    GOT(reg(rig_memory, UINT64_MAX, 0), VBN_ERR_ARGUMENT, "length that runs past 2^64");
    for (size_t i = 0; i < ARRAY_SIZE(unknown_access); i++) {
        GOT(reg(rig_memory, 64, unknown_access[i]), VBN_ERR_ARGUMENT, "unknown access flag");
        WANT_TEXT("access");
    }
    GOT(reg(rig_memory, 64, VBN_ACCESS_REMOTE_WRITE), VBN_ERR_ARGUMENT, "REMOTE_WRITE without LOCAL_WRITE");
    GOT(reg(rig_memory, 64, VBN_ACCESS_REMOTE_ATOMIC), VBN_ERR_ARGUMENT, "REMOTE_ATOMIC without LOCAL_WRITE");
    attr.set = 2;
    GOT(reg_attr(&attr), VBN_ERR_ARGUMENT, "unknown bit in set");
    WANT_NUMBERS(2, 1);
    attr.set = VBN_MR_SET_IOVA;
    attr.iova = (uintptr_t)rig_memory + 1;
    GOT(reg_attr(&attr), VBN_ERR_ARGUMENT, "iova at another place of its page");
    attr.iova = UINT64_MAX - 4095;
    GOT(reg_attr(&attr), VBN_OK, "iova in the last page");
    bad_mr_length();
}

static vbn_status dmabuf_pd(void *pd) { CONSTRUCT(MR, vbn_mr_reg_dmabuf(pd, 5, 0, 64, 0, 0, NULL, out)); }
static vbn_status dmabuf_attr(void *attr) { CONSTRUCT(MR, vbn_mr_reg_dmabuf(g.pd, 5, 0, 64, 0, 0, attr, out)); }
static vbn_status dmabuf_out(void *out) { return vbn_mr_reg_dmabuf(g.pd, 5, 0, 64, 0, 0, NULL, out); }
static vbn_status dmabuf(int fd, uint64_t offset, uint64_t length, uint64_t iova, uint64_t access)
{
    CONSTRUCT(MR, vbn_mr_reg_dmabuf(g.pd, fd, offset, length, iova, access, NULL, out));
}
static void bad_mr_reg_dmabuf(void)
{
    NEW(vbn_mr_attr, attr);

    bad_handles(PD, dmabuf_pd);
    bad_input_struct(&attr, sizeof(attr), "vbn_mr_attr", VBN_OK, dmabuf_attr);
    bad_out(dmabuf_out);
    GOT(dmabuf(-1, 0, 64, 0, 0), VBN_ERR_ARGUMENT, "fd -1");
    GOT(dmabuf(INT_MIN, 0, 64, 0, 0), VBN_ERR_ARGUMENT, "fd INT_MIN");
    GOT(dmabuf(5, 0, 0, 0, 0), VBN_ERR_ARGUMENT, "length 0");
    GOT(dmabuf(5, UINT64_MAX, 64, 4095, 0), VBN_ERR_ARGUMENT, "offset that runs past 2^64");
    GOT(dmabuf(5, 0, 8192, UINT64_MAX - 4095, 0), VBN_ERR_ARGUMENT, "iova that runs past 2^64");
    GOT(dmabuf(5, 1, 64, 0, 0), VBN_ERR_ARGUMENT, "offset and iova at different places of their pages");
    for (size_t i = 0; i < ARRAY_SIZE(unknown_access); i++)
        GOT(dmabuf(5, 0, 64, 0, unknown_access[i]), VBN_ERR_ARGUMENT, "unknown access flag");
    attr.set = VBN_MR_SET_IOVA;
    GOT(dmabuf_attr(&attr), VBN_ERR_ARGUMENT, "iova twice");
    attr.set = 1ull << 63;
    GOT(dmabuf_attr(&attr), VBN_ERR_ARGUMENT, "unknown bit in set");
}

/* The functions that return a value: `none` for every handle that can't be used. */
#define VALUE_ROW(function, kind_, none) \
    static void bad_##function(void) \
    { \
        MUST(vbn_##function(NULL) == none, "NULL gives a value"); \
        for (enum kind other = 0; other < KINDS; other++) \
            MUST(other == kind_ || vbn_##function(live(other)) == none, "a handle of another type gives a value"); \
        MUST(vbn_##function((void *)((char *)live(kind_) + 1)) == none, "a misaligned handle gives a value"); \
        MUST(vbn_##function(closed(kind_)) == none, "a closed handle gives a value"); \
        MUST(vbn_##function(live(kind_)) != none, "a live handle gives nothing"); \
    }
VALUE_ROW(mr_lkey, MR, 0)
VALUE_ROW(mr_rkey, MR, 0)
VALUE_ROW(mr_remote_addr, MR, 0)
VALUE_ROW(qp_num, QP, 0)
VALUE_ROW(channel_fd, CHANNEL, -1)

static vbn_status segments_handle(void *handle)
{
    vbn_sge sges[2];
    uint32_t count = 77;
    uint64_t covered = 77;
    vbn_status status = vbn_mr_segments(handle, 0, 64, 0, sges, 2, &count, &covered);

    MUST(status ? !count && !covered : count == 1 && covered == 64, "%u segments and %llu bytes after %s", count,
         (unsigned long long)covered, vbn_status_name(status));
    return status;
}
static vbn_status segments_count(void *count)
{
    vbn_sge sges[2];
    uint64_t covered;

    return vbn_mr_segments(g.mr, 0, 64, 0, sges, 2, count, &covered);
}
static vbn_status segments_covered(void *covered)
{
    vbn_sge sges[2];
    uint32_t count;

    return vbn_mr_segments(g.mr, 0, 64, 0, sges, 2, &count, covered);
}
static vbn_status segments(uint64_t offset, uint64_t length, vbn_sge *sges, uint32_t capacity)
{
    uint32_t count = 77;
    uint64_t covered = 77;
    vbn_status status = vbn_mr_segments(g.mr, offset, length, 0, sges, capacity, &count, &covered);

    MUST(!status || (!count && !covered), "%u segments and %llu bytes after %s", count, (unsigned long long)covered,
         vbn_status_name(status));
    return status;
}
static void bad_mr_segments(void)
{
    vbn_sge sges[3];

    bad_handles(MR, segments_handle);
    bad_out(segments_count);
    bad_out(segments_covered);
    GOT(segments(0, 0, sges, 2), VBN_ERR_ARGUMENT, "length 0");
    GOT(segments(0, 64, sges, 0), VBN_ERR_ARGUMENT, "capacity 0");
    GOT(segments(0, 64, NULL, 2), VBN_ERR_ARGUMENT, "NULL array");
    GOT(segments(0, 64, (vbn_sge *)(void *)((char *)sges + 1), 2), VBN_ERR_ARGUMENT, "misaligned array");
    GOT(segments(4096, 1, sges, 2), VBN_ERR_ARGUMENT, "offset at the end");
    WANT_NUMBERS(4096, 4096);
    GOT(segments(UINT64_MAX, 1, sges, 2), VBN_ERR_ARGUMENT, "offset UINT64_MAX");
    GOT(segments(1, 4096, sges, 2), VBN_ERR_ARGUMENT, "a byte too long");
    WANT_NUMBERS(4096, 4095);
    GOT(segments(1, UINT64_MAX, sges, 2), VBN_ERR_ARGUMENT, "length UINT64_MAX");
    GOT(segments(4095, 1, sges, 2), VBN_OK, "the last byte");
}

/* ---- QP ---- */

static const vbn_qp_init_attr qp_zero = {.struct_size = sizeof(qp_zero)};

static vbn_status qp_create_pd(void *pd)
{
    vbn_qp_init_attr attr = qp_zero;

    attr.send_cq = g.cq;
    CONSTRUCT(QP, vbn_qp_create(pd, &attr, out));
}
static vbn_status qp_create_attr(void *attr) { CONSTRUCT(QP, vbn_qp_create(g.pd, attr, out)); }
static vbn_status qp_create_out(void *out)
{
    vbn_qp_init_attr attr = qp_zero;

    attr.send_cq = g.cq;
    return vbn_qp_create(g.pd, &attr, out);
}
static vbn_status qp_create_send_cq(void *cq)
{
    vbn_qp_init_attr attr = qp_zero;

    attr.send_cq = cq;
    return qp_create_attr(&attr);
}
static vbn_status qp_create_recv_cq(void *cq)
{
    vbn_qp_init_attr attr = qp_zero;

    attr.send_cq = cq ? g.cq : NULL;
    attr.recv_cq = cq;
    return qp_create_attr(&attr);
}
static void bad_qp_limit(size_t field, uint32_t limit, const char *name)
{
    uint32_t values[] = {limit + 1, INT32_MAX, 0x80000000u, UINT32_MAX};

    for (size_t i = 0; i < ARRAY_SIZE(values); i++) {
        vbn_qp_init_attr attr = qp_zero;

        attr.send_cq = g.cq;
        memcpy((char *)&attr + field, &values[i], sizeof(values[i]));
        GOT(qp_create_attr(&attr), VBN_ERR_LIMIT, name);
        WANT_NUMBERS(values[i], limit);
        WANT_TEXT(name);
        CHECK_STR(last()->object, "null0");
    }
}
static void bad_qp_create(void)
{
    static const int32_t types[] = {VBN_QPT_UC, VBN_QPT_UD, VBN_QPT_RAW_PACKET, VBN_QPT_XRC_SEND, VBN_QPT_DRIVER, 1, -1, INT32_MAX};
    vbn_qp_init_attr attr = qp_zero;
    vbn_context *other = make(CONTEXT);
    vbn_cq_attr cq_attr = cq_default();
    vbn_cq *foreign;

    bad_handles(PD, qp_create_pd);
    bad_handles(CQ, qp_create_send_cq);
    bad_handles(CQ, qp_create_recv_cq);
    bad_out(qp_create_out);
    attr.send_cq = g.cq;
    bad_input_struct(&attr, sizeof(attr), "vbn_qp_init_attr", VBN_ERR_ARGUMENT, qp_create_attr);
    bad_qp_limit(offsetof(vbn_qp_init_attr, max_send_wr), 8192, "max_send_wr");
    bad_qp_limit(offsetof(vbn_qp_init_attr, max_recv_wr), 8192, "max_recv_wr");
    bad_qp_limit(offsetof(vbn_qp_init_attr, max_send_sge), 16, "max_send_sge");
    bad_qp_limit(offsetof(vbn_qp_init_attr, max_recv_sge), 16, "max_recv_sge");
    for (size_t i = 0; i < ARRAY_SIZE(types); i++) {
        attr = qp_zero;
        attr.send_cq = g.cq;
        attr.qp_type = types[i];
        GOT(qp_create_attr(&attr), VBN_ERR_NOT_SUPPORTED, "a type that isn't offered");
    }
    for (int bit = 0; bit < 64; bit++) {
        attr = qp_zero;
        attr.send_cq = g.cq;
        attr.set = 1ull << bit;
        GOT(qp_create_attr(&attr), bit < 3 ? VBN_OK : VBN_ERR_ARGUMENT, "bits of set");
        attr.set = 0;
        attr.send_ops = 1ull << bit;
        GOT(qp_create_attr(&attr), bit < 5 ? VBN_OK : VBN_ERR_ARGUMENT, "bits of send_ops");
    }
    attr = qp_zero;
    attr.send_cq = g.cq;
    attr.sq_sig_all = 2;
    GOT(qp_create_attr(&attr), VBN_ERR_ARGUMENT, "sq_sig_all 2");
    for (size_t i = 0; i < sizeof(attr.reserved0); i++) {
        attr = qp_zero;
        attr.send_cq = g.cq;
        attr.reserved0[i] = 1;
        GOT(qp_create_attr(&attr), VBN_ERR_ARGUMENT, "reserved0");
    }
    OK(vbn_cq_create(other, &cq_attr, &foreign));
    attr = qp_zero;
    attr.send_cq = foreign;
    GOT(qp_create_attr(&attr), VBN_ERR_ARGUMENT, "send_cq of another context");
    attr.send_cq = g.cq;
    attr.recv_cq = foreign;
    GOT(qp_create_attr(&attr), VBN_ERR_ARGUMENT, "recv_cq of another context");
    close_kind(CQ, foreign);
    close_kind(CONTEXT, other);
}

/* A queue pair of its own for the calls that change one. */
static vbn_qp *fresh;

static vbn_status modify_handle(void *qp)
{
    NEW(vbn_qp_attr, attr);

    attr.set = VBN_QP_STATE;
    attr.qp_state = VBN_QPS_ERR;
    return vbn_qp_modify(qp, &attr);
}
static vbn_status modify_attr(void *attr) { return vbn_qp_modify(fresh, attr); }
static void bad_range(uint64_t bit, size_t field, size_t size, uint64_t good, uint64_t bad, const char *name)
{
    NEW(vbn_qp_attr, attr);
    const char *dot = strchr(name, '.');

    attr.set = bit;
    memcpy((char *)&attr + field, &bad, size);
    GOT(modify_attr(&attr), VBN_ERR_ARGUMENT, name);
    WANT_TEXT(dot ? dot + 1 : name);
    memcpy((char *)&attr + field, &good, size);
    GOT(modify_attr(&attr), VBN_OK, name);
    /* Without its bit the field doesn't count. */
    attr.set = VBN_QP_PKEY_INDEX;
    memcpy((char *)&attr + field, &bad, size);
    GOT(modify_attr(&attr), VBN_OK, name);
}
#define RANGE(bit, field, good, bad) bad_range(bit, offsetof(vbn_qp_attr, field), sizeof(((vbn_qp_attr *)0)->field), good, bad, #field)
static void bad_qp_modify(void)
{
    static const vbn_qp_attr zero = {.struct_size = sizeof(zero)};
    vbn_qp_attr attr = zero;

    bad_handles(QP, modify_handle);
    fresh = make(QP);
    attr.set = VBN_QP_PKEY_INDEX;
    bad_input_struct(&attr, sizeof(attr), "vbn_qp_attr", VBN_ERR_ARGUMENT, modify_attr);
    attr = zero;
    GOT(modify_attr(&attr), VBN_ERR_ARGUMENT, "nothing in set");
    for (int bit = 0; bit < 64; bit++) {
        attr = zero;
        attr.set = 1ull << bit;
        attr.path_mtu = VBN_MTU_1024;
        GOT(modify_attr(&attr), bit < 21 || bit == 25 ? VBN_OK : VBN_ERR_ARGUMENT, "bits of set");
    }
    for (size_t i = 0; i < sizeof(attr.reserved0); i++) {
        attr = zero;
        attr.set = VBN_QP_PKEY_INDEX;
        attr.reserved0[i] = 1;
        GOT(modify_attr(&attr), VBN_ERR_ARGUMENT, "reserved0");
    }
    for (size_t i = 0; i < 2; i++) {
        attr = zero;
        attr.set = VBN_QP_AV;
        attr.path.reserved0[i] = 1;
        GOT(modify_attr(&attr), VBN_ERR_ARGUMENT, "reserved0 of path");
        attr = zero;
        attr.set = VBN_QP_ALT_PATH;
        attr.alt_path.reserved0[i] = 1;
        GOT(modify_attr(&attr), VBN_ERR_ARGUMENT, "reserved0 of alt_path");
    }
    RANGE(VBN_QP_STATE, qp_state, VBN_QPS_ERR, 7);
    RANGE(VBN_QP_STATE, qp_state, VBN_QPS_RESET, UINT32_MAX);
    RANGE(VBN_QP_CUR_STATE, cur_qp_state, VBN_QPS_RTS, 7);
    RANGE(VBN_QP_PATH_MTU, path_mtu, VBN_MTU_4096, 6);
    RANGE(VBN_QP_PATH_MTU, path_mtu, VBN_MTU_256, 0);
    RANGE(VBN_QP_PATH_MIG_STATE, path_mig_state, 2, 3);
    RANGE(VBN_QP_RQ_PSN, rq_psn, 0xffffff, 0x1000000);
    RANGE(VBN_QP_SQ_PSN, sq_psn, 0xffffff, 0x1000000);
    RANGE(VBN_QP_DEST_QPN, dest_qp_num, 0xffffff, 0x1000000);
    RANGE(VBN_QP_TIMEOUT, timeout, 31, 32);
    RANGE(VBN_QP_ALT_PATH, alt_timeout, 31, 32);
    RANGE(VBN_QP_RETRY_CNT, retry_cnt, 7, 8);
    RANGE(VBN_QP_RNR_RETRY, rnr_retry, 7, 8);
    RANGE(VBN_QP_MIN_RNR_TIMER, min_rnr_timer, 31, 32);
    RANGE(VBN_QP_EN_SQD_ASYNC_NOTIFY, en_sqd_async_notify, 1, 2);
    RANGE(VBN_QP_AV, path.is_global, 1, 2);
    RANGE(VBN_QP_AV, path.flow_label, 0xfffff, 0x100000);
    bad_range(VBN_QP_ACCESS_FLAGS, offsetof(vbn_qp_attr, qp_access_flags), 4, VBN_ACCESS_REMOTE_READ, 1u << 31, "access");
    close_kind(QP, fresh);
}

static vbn_status post_send_handle(void *qp)
{
    vbn_send_wr wr = {.opcode = VBN_WR_SEND};
    uint32_t posted = 77;
    vbn_status status = vbn_qp_post_send(qp, &wr, 1, &posted);

    MUST(posted == (status ? 0 : 1), "posted is %u after %s", posted, vbn_status_name(status));
    return status;
}
static vbn_status post_recv_handle(void *qp)
{
    vbn_recv_wr wr = {0};
    uint32_t posted = 77;
    vbn_status status = vbn_qp_post_recv(qp, &wr, 1, &posted);

    MUST(posted == (status ? 0 : 1), "posted is %u after %s", posted, vbn_status_name(status));
    return status;
}
static void bad_qp_post_send(void)
{
    vbn_send_wr wr = {.opcode = VBN_WR_SEND};
    uint32_t posted = 77;

    bad_handles(QP, post_send_handle);
    GOT(vbn_qp_post_send(g.qp, &wr, 1, NULL), VBN_ERR_ARGUMENT, "NULL posted");
    GOT(vbn_qp_post_send(g.qp, NULL, 1, &posted), VBN_ERR_ARGUMENT, "NULL array");
    MUST(!posted, "posted is %u", posted);
    GOT((posted = 77, vbn_qp_post_send(g.qp, &wr, 0, &posted)), VBN_OK, "n 0");
    MUST(!posted, "posted is %u", posted);
    GOT((posted = 77, vbn_qp_post_send(g.qp, NULL, 0, &posted)), VBN_OK, "nothing of nothing");
    MUST(!posted, "posted is %u", posted);
    GOT(vbn_qp_post_send(NULL, NULL, 1, NULL), VBN_ERR_ARGUMENT, "everything NULL");
}
static void bad_qp_post_recv(void)
{
    vbn_recv_wr wr = {0};
    uint32_t posted = 77;

    bad_handles(QP, post_recv_handle);
    GOT(vbn_qp_post_recv(g.qp, &wr, 1, NULL), VBN_ERR_ARGUMENT, "NULL posted");
    GOT(vbn_qp_post_recv(g.qp, NULL, 1, &posted), VBN_ERR_ARGUMENT, "NULL array");
    MUST(!posted, "posted is %u", posted);
    GOT((posted = 77, vbn_qp_post_recv(g.qp, NULL, 0, &posted)), VBN_OK, "nothing of nothing");
    MUST(!posted, "posted is %u", posted);
    GOT(vbn_qp_post_recv(NULL, NULL, 1, NULL), VBN_ERR_ARGUMENT, "everything NULL");
}

static vbn_status first_error_handle(void *qp)
{
    vbn_wc wc;
    vbn_status status = vbn_qp_first_error(qp, &wc);

    return status == VBN_ERR_NOT_FOUND ? VBN_OK : status;
}
static vbn_status first_error_wc(void *wc) { return vbn_qp_first_error(g.qp, wc); }
static void bad_qp_first_error(void)
{
    vbn_wc wc;

    bad_handles(QP, first_error_handle);
    bad_out(first_error_wc);
    GOT(vbn_qp_first_error(g.qp, &wc), VBN_ERR_NOT_FOUND, "no failure so far");
}

/* ---- RC records and connecting ---- */

static const vbn_rc_attr rc_zero = {.struct_size = sizeof(rc_zero)};
static vbn_rc_record local, remote;

static vbn_status local_handle(void *qp) { return vbn_rc_record_local(qp, NULL, &local); }
static vbn_status local_attr(void *attr) { return vbn_rc_record_local(g.qp, attr, &local); }
static vbn_status local_record(void *record) { return vbn_rc_record_local(g.qp, NULL, record); }

/* What all functions refuse in a vbn_rc_attr. */
static void bad_rc_attr(call *with)
{
    static const struct {
        uint64_t bit;
        size_t field, size;
        uint64_t bad;
        const char *name;
    } ranges[] = {
#define FIELD(bit, field, bad) {bit, offsetof(vbn_rc_attr, field), sizeof(rc_zero.field), bad, #field}
        FIELD(VBN_RC_SET_PSN, psn, 0x1000000),
        FIELD(0, flow_label, 0x100000),
        FIELD(VBN_RC_SET_IS_GLOBAL, is_global, 2),
        FIELD(VBN_RC_SET_MIN_RNR_TIMER, min_rnr_timer, 32),
        FIELD(VBN_RC_SET_TIMEOUT, timeout, 32),
        FIELD(VBN_RC_SET_RETRY_CNT, retry_cnt, 8),
        FIELD(VBN_RC_SET_RNR_RETRY, rnr_retry, 8),
        FIELD(VBN_RC_SET_ACCESS, access, 1u << 31),
    };
    vbn_rc_attr attr = rc_zero;

    bad_input_struct(&attr, sizeof(attr), "vbn_rc_attr", VBN_OK, with);
    for (int bit = 13; bit < 64; bit++) {
        attr = rc_zero;
        attr.set = 1ull << bit;
        GOT(with(&attr), VBN_ERR_ARGUMENT, "unknown bit in set");
        WANT_NUMBERS(attr.set, 0x1fff);
    }
    for (size_t i = 0; i < ARRAY_SIZE(ranges); i++) {
        attr = rc_zero;
        attr.set = ranges[i].bit;
        memcpy((char *)&attr + ranges[i].field, &ranges[i].bad, ranges[i].size);
        GOT(with(&attr), VBN_ERR_ARGUMENT, ranges[i].name);
        WANT_TEXT(ranges[i].name);
    }
}

static void bad_rc_record_local(void)
{
    vbn_rc_attr attr = rc_zero;

    bad_handles(QP, local_handle);
    bad_out(local_record);
    bad_rc_attr(local_attr);
    attr.port_num = 2;
    GOT(local_attr(&attr), VBN_ERR_LIMIT, "port 2");
    WANT_NUMBERS(2, 1);
    attr = rc_zero;
    attr.set = VBN_RC_SET_SGID_INDEX;
    attr.sgid_index = 4;
    GOT(local_attr(&attr), VBN_ERR_LIMIT, "sgid_index 4");
    WANT_NUMBERS(4, 3);
}

static vbn_rc_record good_record(void)
{
    return (vbn_rc_record){.qp_num = 0xffffff, .psn = 0xffffff, .port_num = 1, .mtu = VBN_MTU_1024, .gid = {0, [10] = 0xff, 0xff, 192, 0, 2, 9}};
}

/* Records that nobody accepts. */
static void bad_records(vbn_status (*with)(const vbn_rc_record *record))
{
    vbn_rc_record record = good_record();
    const vbn_rc_record good = record;
    _Alignas(8) char room[sizeof(record) + 8];

    GOT(with(&record), VBN_OK, "a good record");
    GOT(with(NULL), VBN_ERR_ARGUMENT, "NULL record");
    memcpy(room + 1, &record, sizeof(record));
    GOT(with((void *)(room + 1)), VBN_ERR_ARGUMENT, "misaligned record");
    record.qp_num = 0x1000000;
    GOT(with(&record), VBN_ERR_ARGUMENT, "qp_num of 25 bits");
    record = good;
    record.psn = UINT32_MAX;
    GOT(with(&record), VBN_ERR_ARGUMENT, "psn of 32 bits");
    record = good;
    record.port_num = 0;
    GOT(with(&record), VBN_ERR_ARGUMENT, "port 0");
    record = good;
    record.reserved0 = 1u << 31;
    GOT(with(&record), VBN_ERR_ARGUMENT, "reserved0");
    for (int mtu = 0; mtu < 256; mtu += mtu == 0 ? 6 : 83) {
        record = good;
        record.mtu = (uint8_t)mtu;
        GOT(with(&record), VBN_ERR_ARGUMENT, "an mtu that isn't one");
    }
}

static uint8_t wire[32];
static vbn_status encode(const vbn_rc_record *record)
{
    vbn_status status;

    memset(wire, 0xa5, sizeof(wire));
    status = vbn_rc_record_encode(record, wire, VBN_RC_RECORD_SIZE);
    for (size_t i = status ? 0 : VBN_RC_RECORD_SIZE; i < sizeof(wire); i++)
        MUST(wire[i] == 0xa5, "byte %zu was written after %s", i, vbn_status_name(status));
    return status;
}
static void bad_rc_record_encode(void)
{
    vbn_rc_record record = good_record();
    static const size_t sizes[] = {0, 1, 27, 29, 32, SIZE_MAX};

    bad_records(encode);
    GOT(vbn_rc_record_encode(&record, NULL, VBN_RC_RECORD_SIZE), VBN_ERR_ARGUMENT, "NULL bytes");
    for (size_t i = 0; i < ARRAY_SIZE(sizes); i++)
        GOT(vbn_rc_record_encode(&record, wire, sizes[i]), VBN_ERR_ARGUMENT, "a size other than 28");
}

static vbn_status decode_record(void *record) { return vbn_rc_record_decode(wire, VBN_RC_RECORD_SIZE, record); }
static void bad_rc_record_decode(void)
{
    static const struct {
        int at;
        uint8_t value;
    } wrong[] = {{0, 1}, {4, 1}, {26, 0}, {27, 0}, {27, 6}, {27, 255}};
    vbn_rc_record record = good_record(), back, before;

    OK(vbn_rc_record_encode(&record, wire, VBN_RC_RECORD_SIZE));
    bad_out(decode_record);
    OK(vbn_rc_record_decode(wire, VBN_RC_RECORD_SIZE, &back));
    CHECK_MEM(&back, &record, sizeof(record));
    before = back;
    GOT(vbn_rc_record_decode(NULL, VBN_RC_RECORD_SIZE, &back), VBN_ERR_ARGUMENT, "NULL bytes");
    for (size_t size = 0; size < sizeof(wire); size++)
        if (size != VBN_RC_RECORD_SIZE)
            GOT(vbn_rc_record_decode(wire, size, &back), VBN_ERR_ARGUMENT, "a size other than 28");
    GOT(vbn_rc_record_decode(NULL, SIZE_MAX, &back), VBN_ERR_ARGUMENT, "size SIZE_MAX");
    for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
        OK(vbn_rc_record_encode(&record, wire, VBN_RC_RECORD_SIZE));
        wire[wrong[i].at] = wrong[i].value;
        GOT(vbn_rc_record_decode(wire, VBN_RC_RECORD_SIZE, &back), VBN_ERR_ARGUMENT, "a field out of range");
    }
    CHECK_MEM(&back, &before, sizeof(back));
}

static void renew(void)
{
    if (fresh)
        close_kind(QP, fresh);
    fresh = make(QP);
    OK(vbn_rc_record_local(fresh, NULL, &local));
    remote = good_record();
}

static vbn_status init_handle(void *qp) { return vbn_qp_to_init(qp, NULL); }
static vbn_status to_init_attr(void *attr) { return vbn_qp_to_init(fresh, attr); }
static void bad_qp_to_init(void)
{
    vbn_rc_attr attr = rc_zero;

    bad_handles(QP, init_handle);
    fresh = NULL;
    renew();
    bad_rc_attr(to_init_attr);
    attr.port_num = 2;
    GOT(to_init_attr(&attr), VBN_ERR_LIMIT, "port 2");
    attr = rc_zero;
    attr.set = VBN_RC_SET_PKEY_INDEX;
    attr.pkey_index = 1;
    GOT(to_init_attr(&attr), VBN_ERR_LIMIT, "pkey_index 1");
    WANT_NUMBERS(1, 0);
    close_kind(QP, fresh);
}

static vbn_status rtr_handle(void *qp) { return vbn_qp_to_rtr(qp, &local, &remote, NULL); }
static vbn_status rtr_attr(void *attr) { return vbn_qp_to_rtr(fresh, &local, &remote, attr); }
static vbn_status rtr_local(const vbn_rc_record *record)
{
    vbn_rc_record mine = local;

    if (record == NULL || (uintptr_t)record % 4)
        return vbn_qp_to_rtr(fresh, record, &remote, NULL);
    mine.psn = record->psn;
    mine.mtu = record->mtu;
    mine.port_num = record->port_num;
    mine.reserved0 = record->reserved0;
    mine.qp_num = record->qp_num > 0xffffff ? record->qp_num : mine.qp_num;
    return vbn_qp_to_rtr(fresh, &mine, &remote, NULL);
}
static vbn_status rtr_remote(const vbn_rc_record *record) { return vbn_qp_to_rtr(fresh, &local, record, NULL); }
static void bad_path(vbn_status (*with)(void *attr))
{
    static const struct {
        uint64_t bit;
        size_t field, size;
        uint64_t value, limit;
    } limits[] = {
#define LIMIT(bit, field, value, limit) {bit, offsetof(vbn_rc_attr, field), sizeof(rc_zero.field), value, limit}
        LIMIT(VBN_RC_SET_PATH_MTU, path_mtu, VBN_MTU_2048, VBN_MTU_1024),
        LIMIT(VBN_RC_SET_MAX_DEST_RD_ATOMIC, max_dest_rd_atomic, 17, 16),
    };
    vbn_rc_attr attr;

    for (size_t i = 0; i < ARRAY_SIZE(limits); i++) {
        attr = rc_zero;
        attr.set = limits[i].bit;
        memcpy((char *)&attr + limits[i].field, &limits[i].value, limits[i].size);
        GOT(with(&attr), VBN_ERR_LIMIT, "beyond the port or device");
        WANT_NUMBERS(limits[i].value, limits[i].limit);
    }
    for (int32_t mtu = -1; mtu <= 6; mtu += mtu == 0 ? 6 : 1) {
        attr = rc_zero;
        attr.set = VBN_RC_SET_PATH_MTU;
        attr.path_mtu = mtu;
        GOT(with(&attr), VBN_ERR_ARGUMENT, "a path_mtu that isn't one");
    }
    attr = rc_zero;
    attr.set = VBN_RC_SET_IS_GLOBAL;
    GOT(with(&attr), VBN_ERR_ARGUMENT, "is_global 0 on RoCE");
}
static void bad_qp_to_rtr(void)
{
    fresh = NULL;
    renew();
    OK(vbn_qp_to_init(fresh, NULL));
    bad_handles(QP, rtr_handle);
    bad_records(rtr_local);
    bad_records(rtr_remote);
    bad_rc_attr(rtr_attr);
    bad_path(rtr_attr);
    local.gid[15] ^= 0x80;
    GOT(rtr_handle(fresh), VBN_ERR_NOT_FOUND, "a local GID that the port doesn't have");
    local.gid[15] ^= 0x80;
    memset(remote.gid, 0, sizeof(remote.gid));
    GOT(rtr_handle(fresh), VBN_ERR_ARGUMENT, "a remote GID of zeros");
    close_kind(QP, fresh);
}

static vbn_status rts_handle(void *qp) { return vbn_qp_to_rts(qp, &local, NULL); }
static vbn_status rts_attr(void *attr) { return vbn_qp_to_rts(fresh, &local, attr); }
static vbn_status rts_local(const vbn_rc_record *record) { return vbn_qp_to_rts(fresh, record, NULL); }
static void bad_qp_to_rts(void)
{
    vbn_rc_attr attr = rc_zero;

    fresh = NULL;
    renew();
    OK(vbn_qp_to_init(fresh, NULL));
    OK(vbn_qp_to_rtr(fresh, &local, &remote, NULL));
    bad_handles(QP, rts_handle);
    bad_records(rts_local);
    bad_rc_attr(rts_attr);
    attr.set = VBN_RC_SET_MAX_RD_ATOMIC;
    attr.max_rd_atomic = 17;
    GOT(rts_attr(&attr), VBN_ERR_LIMIT, "max_rd_atomic 17");
    WANT_NUMBERS(17, 16);
    close_kind(QP, fresh);
}

static vbn_status connect_handle(void *qp) { return vbn_qp_connect_rc(qp, &local, &remote, NULL); }
static vbn_status connect_attr(void *attr)
{
    renew();
    return vbn_qp_connect_rc(fresh, &local, &remote, attr);
}
static vbn_status connect_remote(const vbn_rc_record *record)
{
    renew();
    return vbn_qp_connect_rc(fresh, &local, record, NULL);
}
static vbn_status connect_local(const vbn_rc_record *record)
{
    vbn_rc_record mine;

    renew();
    mine = local;
    if (record == NULL || (uintptr_t)record % 4)
        return vbn_qp_connect_rc(fresh, record, &remote, NULL);
    mine.psn = record->psn;
    mine.mtu = record->mtu;
    mine.port_num = record->port_num;
    mine.reserved0 = record->reserved0;
    mine.qp_num = record->qp_num > 0xffffff ? record->qp_num : mine.qp_num;
    return vbn_qp_connect_rc(fresh, &mine, &remote, NULL);
}
static void bad_qp_connect_rc(void)
{
    vbn_rc_attr attr = rc_zero;

    fresh = NULL;
    renew();
    GOT(connect_handle(NULL), VBN_ERR_ARGUMENT, "NULL handle");
    GOT(connect_handle(g.cq), VBN_ERR_ARGUMENT, "handle of another type");
    GOT(connect_handle(closed(QP)), VBN_ERR_CLOSED, "closed handle");
    GOT(connect_handle(g.qp), VBN_ERR_ARGUMENT, "another queue pair's record");
    bad_records(connect_local);
    bad_records(connect_remote);
    bad_rc_attr(connect_attr);
    bad_path(connect_attr);
    attr.port_num = 2;
    GOT(connect_attr(&attr), VBN_ERR_ARGUMENT, "another port than the local record's");
    renew();
    OK(vbn_qp_connect_rc(fresh, &local, &remote, NULL));
    OK(vbn_qp_connect_rc(fresh, &local, &remote, NULL));
    remote.qp_num ^= 1;
    GOT(vbn_qp_connect_rc(fresh, &local, &remote, NULL), VBN_ERR_ARGUMENT, "connected to another peer");
    OK(modify_handle(fresh));
    GOT(vbn_qp_connect_rc(fresh, &local, &remote, NULL), VBN_ERR_ARGUMENT, "in the error state");
    close_kind(QP, fresh);
}

/* ---- The table ---- */

#define SYMBOLS(X) \
    X(access_flag_name) X(channel_adopt) X(channel_close) X(channel_create) X(channel_fd) X(channel_get_event) \
    X(channel_native) X(channel_query) X(channel_release) X(context_adopt) X(context_close) X(context_get_async_event) \
    X(context_gid_table) X(context_live) X(context_native) X(context_open) X(context_query) X(context_query_device) \
    X(context_query_gid) X(context_query_pkey) X(context_query_port) X(context_release) X(cq_adopt) X(cq_arm) X(cq_close) \
    X(cq_create) X(cq_native) X(cq_poll) X(cq_query) X(cq_release) X(cq_wait) X(device_list) X(device_list_reason) \
    X(device_list_reason_name) X(element_name) X(event_type_name) X(fork_init) X(fork_state_name) X(gid_family_name) \
    X(gid_select) X(gid_type_name) X(gid_verdict_name) X(last_error) X(library_init) X(library_missing) \
    X(library_origin_name) X(library_query) X(link_layer_name) X(mr_adopt) X(mr_close) X(mr_kind_name) X(mr_lkey) \
    X(mr_native) X(mr_query) X(mr_reg) X(mr_reg_dmabuf) X(mr_release) X(mr_remote_addr) X(mr_rkey) X(mr_segments) X(mtu_name) \
    X(node_type_name) X(ownership_name) X(pd_adopt) X(pd_alloc) X(pd_close) X(pd_native) X(pd_query) X(pd_release) \
    X(port_state_name) X(qp_adopt) X(qp_attr_name) X(qp_close) X(qp_connect_rc) X(qp_create) X(qp_first_error) X(qp_modify) \
    X(qp_native) X(qp_num) X(qp_post_recv) X(qp_post_send) X(qp_query) X(qp_release) X(qp_state_name) X(qp_to_init) \
    X(qp_to_rtr) X(qp_to_rts) X(qp_type_name) X(rc_record_decode) X(rc_record_encode) X(rc_record_local) X(send_flag_name) \
    X(status_name) X(status_text) X(transport_name) X(vendor_domain_name) X(version) X(version_string) X(wc_check) \
    X(wc_flag_name) X(wc_opcode_name) X(wc_status_name) X(wr_opcode_name)

/* Every row runs on fresh objects, which must still work afterwards and leave nothing. */
static void run_row(const char *name, void (*row)(void))
{
    op = name;
    null_begin();
    g = rig_open();
    row();
    null_want(__FILE__, __LINE__, "the queue pair after all that", NULL, post_send_handle(g.qp), VBN_OK);
    rig_close(&g);
    null_clean();
}

#define X(name) \
    static void run_##name(void) { run_row("vbn_" #name, bad_##name); }
SYMBOLS(X)
#undef X

static void all_symbols(void);

static const struct test tests[] = {
    {"all_symbols", all_symbols},
#define X(name) {"vbn_" #name, run_##name},
    SYMBOLS(X)
#undef X
    {NULL, NULL},
};

/* All but the first and the last are rows. */
static void all_symbols(void)
{
    const char *path = getenv("VBN_SYMBOLS");
    FILE *file = path ? fopen(path, "r") : NULL;
    char line[256], name[128];
    size_t count = 0;

    MUST(file, "VBN_SYMBOLS must be the path of abi/libverbena.symbols");
    while (fgets(line, sizeof(line), file)) {
        size_t i = 1;

        if (sscanf(line, "%127s", name) != 1 || *name == '#')
            continue;
        while (tests[i].name && strcmp(tests[i].name, name))
            i++;
        MUST(tests[i].name, "%s is exported and has no row here", name);
        count++;
    }
    fclose(file);
    MUST(count == ARRAY_SIZE(tests) - 2, "%zu symbols are exported, %zu have rows", count, ARRAY_SIZE(tests) - 2);
}

int main(int argc, char **argv)
{
    null_start();
    return test_main("bad_input", tests, argc, argv);
}
