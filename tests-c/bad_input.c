/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Every exported function with wrong arguments, on live objects of the null provider: each must answer with a status, tell
 * it in the error record, and leave the outputs as the header says. The table must have every symbol of
 * abi/libverbena.symbols, whose path is in VBN_SYMBOLS.
 */
#include <inttypes.h>
#include <limits.h>
#include <unistd.h>
#include "null_efa.h"
#include "null_flow.h"
#include "sysfs_tree.h"

static struct rig g;

/* Beside the rig: an address handle in its PD, and a peer behind it. */
static vbn_ah *rig_ah;
static vbn_peer *rig_peer;
static struct ibv_ah *rig_ibv_ah;

/* ---- Handles ---- */

/* One of the rig's PD, for the length of a row. */
static vbn_srq *shared;

enum kind { CONTEXT, PD, MR, CHANNEL, CQ, SRQ, QP, AH, PEER, MW, TD, DM, FLOW, COUNTERS, MR_SET, KINDS };

/* The rig has no window; made by the first row that wants one. */
static vbn_mw *row_mw;
static vbn_td *row_td;
static vbn_dm *row_dm;
static vbn_flow *row_flow;
static vbn_counters *row_counters;
static vbn_mr_set *row_set;

/* Of a region of its own, so that none of the rig's is kept by it. */
static vbn_mr_set *make_set(void)
{
    vbn_mr_set_attr attr = {.struct_size = sizeof(attr), .take = 1};
    vbn_mr *mr;
    vbn_mr_set *set;

    OK(vbn_mr_reg(g.pd, rig_memory, 64, 0, NULL, &mr));
    OK(vbn_mr_set_create(&mr, 1, &attr, &set));
    return set;
}

static vbn_dm *make_dm(void)
{
    vbn_dm_attr attr = {.struct_size = sizeof(attr), .length = 100};
    vbn_dm *dm;

    OK(vbn_dm_alloc(g.context, &attr, &dm));
    return dm;
}

static void *live(enum kind kind)
{
    void *all[KINDS] = {g.context, g.pd, g.mr, g.channel, g.cq, shared, g.qp, rig_ah, rig_peer, row_mw, row_td, row_dm, row_flow, row_counters, row_set};

    if (kind == MW && !row_mw) {
        OK(vbn_mw_alloc(g.pd, VBN_MW_TYPE_1, NULL, &row_mw));
        all[MW] = row_mw;
    }
    if (kind == TD && !row_td) {
        OK(vbn_td_alloc(g.context, NULL, &row_td));
        all[TD] = row_td;
    }
    if (kind == DM && !row_dm)
        all[DM] = row_dm = make_dm();
    if (kind == FLOW && !row_flow) {
        OK(vbn_flow_create(g.qp, NULL, NULL, 0, &row_flow));
        all[FLOW] = row_flow;
    }
    if (kind == COUNTERS && !row_counters) {
        OK(vbn_counters_create(g.context, NULL, &row_counters));
        all[COUNTERS] = row_counters;
    }
    if (kind == MR_SET && !row_set)
        all[MR_SET] = row_set = make_set();

    return all[kind];
}

static void close_kind(enum kind kind, void *handle)
{
    vbn_context *context = handle;
    vbn_pd *pd = handle;
    vbn_mr *mr = handle;
    vbn_channel *channel = handle;
    vbn_cq *cq = handle;
    vbn_srq *srq = handle;
    vbn_qp *qp = handle;
    vbn_ah *ah = handle;
    vbn_peer *peer = handle;
    vbn_mw *mw = handle;
    vbn_td *td = handle;
    vbn_dm *dm = handle;
    vbn_flow *flow = handle;
    vbn_counters *counters = handle;
    vbn_mr_set *set = handle;

    switch (kind) {
    case CONTEXT: OK(vbn_context_close(&context)); break;
    case PD: OK(vbn_pd_close(&pd)); break;
    case MR: OK(vbn_mr_close(&mr)); break;
    case CHANNEL: OK(vbn_channel_close(&channel)); break;
    case CQ: OK(vbn_cq_close(&cq)); break;
    case SRQ: OK(vbn_srq_close(&srq)); break;
    case QP: OK(vbn_qp_close(&qp)); break;
    case AH: OK(vbn_ah_close(&ah)); break;
    case MW: OK(vbn_mw_close(&mw)); break;
    case TD: OK(vbn_td_close(&td)); break;
    case DM: OK(vbn_dm_close(&dm)); break;
    case FLOW: OK(vbn_flow_close(&flow)); break;
    case COUNTERS: OK(vbn_counters_close(&counters)); break;
    case MR_SET: OK(vbn_mr_set_close(&set)); break;
    default: OK(vbn_peer_close(&peer)); break;
    }
}

static const vbn_ah_attr good_ah = {.struct_size = sizeof(good_ah), .path = {.dgid = {0xfe, 0x80, [15] = 9}, .is_global = 1, .port_num = 1}};

static vbn_peer_attr good_peer(void)
{
    return (vbn_peer_attr){.struct_size = sizeof(vbn_peer_attr), .ah = rig_ah, .qp_num = 0xffffff, .qkey = 7};
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
    vbn_srq *srq = NULL;
    vbn_qp *qp = NULL;
    vbn_ah *ah = NULL;
    vbn_peer *peer = NULL;
    vbn_peer_attr peer_attr = good_peer();
    vbn_mw *mw = NULL;
    vbn_td *td = NULL;
    vbn_flow *flow = NULL;
    vbn_counters *counters = NULL;

    cq_attr.cqe = 8;
    qp_attr.send_cq = g.cq;
    switch (kind) {
    case CONTEXT: OK(vbn_context_open("null1", NULL, &context)); return context;
    case PD: OK(vbn_pd_alloc(g.context, NULL, &pd)); return pd;
    case MR: OK(vbn_mr_reg(g.pd, rig_memory, 64, 0, NULL, &mr)); return mr;
    case CHANNEL: OK(vbn_channel_create(g.context, NULL, &channel)); return channel;
    case CQ: OK(vbn_cq_create(g.context, &cq_attr, &cq)); return cq;
    case SRQ: OK(vbn_srq_create(g.pd, NULL, &srq)); return srq;
    case QP: OK(vbn_qp_create(g.pd, &qp_attr, &qp)); return qp;
    case AH: OK(vbn_ah_create(g.pd, &good_ah, &ah)); return ah;
    case MW: OK(vbn_mw_alloc(g.pd, VBN_MW_TYPE_2, NULL, &mw)); return mw;
    case TD: OK(vbn_td_alloc(g.context, NULL, &td)); return td;
    case DM: return make_dm();
    case FLOW: OK(vbn_flow_create(g.qp, NULL, NULL, 0, &flow)); return flow;
    case COUNTERS: OK(vbn_counters_create(g.context, NULL, &counters)); return counters;
    case MR_SET: return make_set();
    default: OK(vbn_peer_create(g.pd, &peer_attr, &peer)); return peer;
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

#define ONLY_CLOSE_ROW(name, kind_, type) \
    static vbn_status name##_with(void *handle) \
    { \
        type *variable = handle; \
        vbn_status status = vbn_##name##_close(&variable); \
        MUST(status ? variable == handle : !variable, "the handle's variable after %s", vbn_status_name(status)); \
        return status; \
    } \
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
    }

#define CLOSE_ROW(name, kind_, type) \
    ONLY_CLOSE_ROW(name, kind_, type) \
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
CLOSE_ROW(srq, SRQ, vbn_srq)
CLOSE_ROW(qp, QP, vbn_qp)
CLOSE_ROW(ah, AH, vbn_ah)
ONLY_CLOSE_ROW(peer, PEER, vbn_peer)

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

static struct ibv_srq *native_srq(void)
{
    struct ibv_srq *native;

    MUST(!vbn_srq_native(shared, &native), "vbn_srq_native");
    return native;
}

ADOPT_ROW(pd, PD, CONTEXT, g.ibv_pd, struct ibv_pd)
ADOPT_ROW(channel, CHANNEL, CONTEXT, g.ibv_channel, struct ibv_comp_channel)
ADOPT_ROW(cq, CQ, CONTEXT, g.ibv_cq, struct ibv_cq)
ADOPT_ROW(mr, MR, PD, g.ibv_mr, struct ibv_mr)
ADOPT_ROW(srq, SRQ, PD, native_srq(), struct ibv_srq)
ADOPT_ROW(qp, QP, PD, g.ibv_qp, struct ibv_qp)
ADOPT_ROW(ah, AH, PD, rig_ibv_ah, struct ibv_ah)

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

static vbn_status find_out(void *out) { return vbn_device_find(0, NULL, sizeof(vbn_device_match), 0, out); }
static vbn_status find_entries(void *entries, size_t entry_size, uint32_t capacity)
{
    uint32_t count = 77;
    vbn_status status = vbn_device_find(VBN_CAP_RC, entries, entry_size, capacity, &count);

    MUST(count == (status ? 77 : 2), "count %u after %s", count, vbn_status_name(status));
    return status;
}

static void bad_device_find(void)
{
    uint32_t count = 77;

    bad_out(find_out);
    bad_entries(find_entries, sizeof(vbn_device_match), 8);
    for (int bit = 63; bit > 49; bit -= 13) {
        GOT(vbn_device_find(VBN_CAP_RC | 1ull << bit, NULL, 0, 0, &count), VBN_ERR_ARGUMENT, "unknown capability");
        MUST(last()->value == 1ull << bit, "value %llx", (unsigned long long)last()->value);
    }
    MUST(count == 77, "count %u after refusals", count);
}

/* ---- Topology ---- */

/* A GPU beside a NIC of the rig's name. */
static struct tree bad_tree;
static vbn_distance_attr good_distance(void)
{
    return (vbn_distance_attr){.struct_size = sizeof(vbn_distance_attr), .gpu = "0000:02:00.0", .nic = "null0", .sysfs = bad_tree.root};
}

static void bad_tree_open(void)
{
    bad_tree = tree_open();
    tree_device(&bad_tree, "pci0000:00/0000:00:01.0/0000:02:00.0", 0, NULL);
    tree_device(&bad_tree, "pci0000:00/0000:00:02.0/0000:03:00.0", 0, "null0");
}

static vbn_status distance_attr(void *attr)
{
    NEW(vbn_distance_info, info);
    vbn_status status = vbn_gpu_nic_distance(attr, &info);

    MUST(status ? !info.distance : info.distance == VBN_DISTANCE_HOST_BRIDGE, "distance %d after %s", info.distance, vbn_status_name(status));
    return status;
}
static vbn_status distance_info(void *info)
{
    vbn_distance_attr attr = good_distance();

    return vbn_gpu_nic_distance(&attr, info);
}
static vbn_status distance_context(void *context)
{
    vbn_distance_attr attr = good_distance();

    attr.nic = NULL;
    attr.context = context;
    return distance_attr(&attr);
}
static const char *const no_address[] = {"", "gpu0", "0", "0000:02", ":02:00.0", "0000:02:00.8", "0000:02:20.0", "0000:102:00.0",
                                         "000000000:02:00.0", "0000:02:00.", "0000:02:+1.0", "0000:02:00.0 ", "0:0:0:0.0"};

static void bad_gpu_nic_distance(void)
{
    vbn_distance_attr attr;
    char name[5000];

    bad_tree_open();
    attr = good_distance();
    bad_input_struct(&attr, sizeof(attr), "vbn_distance_attr", VBN_ERR_ARGUMENT, distance_attr);
    bad_output_struct(sizeof(vbn_distance_info), "vbn_distance_info", distance_info);
    bad_handles(CONTEXT, distance_context);
    attr = good_distance();
    attr.context = g.context;
    GOT(distance_attr(&attr), VBN_ERR_ARGUMENT, "two NICs");
    for (size_t i = 0; i < ARRAY_SIZE(no_address); i++) {
        attr = good_distance();
        attr.gpu = no_address[i];
        GOT(distance_attr(&attr), VBN_ERR_ARGUMENT, "no PCI address");
        CHECK_STR(last()->object, no_address[i]);
    }
    attr.gpu = NULL;
    GOT(distance_attr(&attr), VBN_ERR_ARGUMENT, "no GPU");
    attr.gpu_kind = 3;
    GOT(distance_attr(&attr), VBN_ERR_ARGUMENT, "no such kind of GPU");
    attr.gpu_kind = VBN_GPU_KIND_CUDA;
    attr.gpu_device = -1;
    GOT(distance_attr(&attr), VBN_ERR_ARGUMENT, "no ordinal");
    attr.gpu = "0000:02:00.0";
    attr.gpu_kind = 0;
    GOT(distance_attr(&attr), VBN_ERR_ARGUMENT, "two GPUs");
    attr.gpu_kind = VBN_GPU_KIND_CUDA;
    attr.gpu_device = 0;
    GOT(distance_attr(&attr), VBN_ERR_ARGUMENT, "two GPUs");
    attr.gpu_kind = 0;
    attr.gpu = "0001:02:00.0";
    GOT(distance_attr(&attr), VBN_ERR_NOT_FOUND, "a GPU that isn't there");
    CHECK_STR(last()->object, "0001:02:00.0");
    memset(name, 'n', sizeof(name));
    name[sizeof(name) - 1] = '\0';
    attr = good_distance();
    for (size_t length = 4999; length > 3; length /= 3) {
        name[length] = '\0';
        attr.nic = name;
        GOT(distance_attr(&attr), VBN_ERR_NOT_FOUND, "no RDMA device");
    }
    attr.nic = "../infiniband/null0";
    GOT(distance_attr(&attr), VBN_ERR_NOT_FOUND, "a path");
    attr.nic = "..";
    GOT(distance_attr(&attr), VBN_ERR_NOT_FOUND, "a path");
    attr.nic = "";
    GOT(distance_attr(&attr), VBN_ERR_NOT_FOUND, "an empty name");
    attr = good_distance();
    attr.sysfs = "";
    GOT(distance_attr(&attr), VBN_ERR_ARGUMENT, "empty sysfs");
    memset(name, '/', VBN_SYSFS_PATH_SIZE);
    name[VBN_SYSFS_PATH_SIZE] = '\0';
    attr.sysfs = name;
    GOT(distance_attr(&attr), VBN_ERR_ARGUMENT, "long sysfs");
    tree_close(&bad_tree);
    attr = good_distance();
    GOT(distance_attr(&attr), VBN_ERR_NOT_FOUND, "a tree that isn't there");
}

static vbn_status nearest_attr(void *attr)
{
    uint32_t count = 77;
    vbn_status status = vbn_nic_nearest(attr, NULL, 0, 0, &count);

    MUST(count == (status ? 77 : 1), "count %u after %s", count, vbn_status_name(status));
    return status;
}
static vbn_status nearest_out(void *out)
{
    vbn_distance_attr attr = good_distance();

    attr.nic = NULL;
    return vbn_nic_nearest(&attr, NULL, 0, 0, out);
}
static vbn_status nearest_entries(void *entries, size_t entry_size, uint32_t capacity)
{
    vbn_distance_attr attr = good_distance();
    uint32_t count = 77;
    vbn_status status;

    attr.nic = NULL;
    status = vbn_nic_nearest(&attr, entries, entry_size, capacity, &count);
    MUST(count == (status ? 77 : 1), "count %u after %s", count, vbn_status_name(status));
    return status;
}

static void bad_nic_nearest(void)
{
    vbn_distance_attr attr;

    bad_tree_open();
    attr = good_distance();
    GOT(nearest_attr(&attr), VBN_ERR_ARGUMENT, "a NIC");
    attr.nic = NULL;
    bad_input_struct(&attr, sizeof(attr), "vbn_distance_attr", VBN_ERR_ARGUMENT, nearest_attr);
    attr.context = g.context;
    GOT(nearest_attr(&attr), VBN_ERR_ARGUMENT, "a context");
    bad_out(nearest_out);
    bad_entries(nearest_entries, sizeof(vbn_distance_info), 8);
    attr = good_distance();
    attr.nic = NULL;
    attr.gpu = "02:00";
    GOT(nearest_attr(&attr), VBN_OK, "a short address");
    attr.gpu = "02:01.0";
    GOT(nearest_attr(&attr), VBN_ERR_NOT_FOUND, "a GPU that isn't there");
    tree_close(&bad_tree);
}

static vbn_status caps_with(void *caps) { return vbn_caps_reason(caps, VBN_CAP_SRD, NULL, 0, NULL); }
static void bad_caps_reason(void)
{
    NEW(vbn_caps, caps);
    char text[400];
    size_t needed = 77;
    static const uint64_t wrong[] = {0, VBN_CAP_RC | VBN_CAP_UC, 1ull << 63, UINT64_MAX};

    OK(vbn_context_caps(g.context, &caps));
    bad_input_struct(&caps, sizeof(caps), "vbn_caps", VBN_ERR_ARGUMENT, caps_with);
    for (size_t i = 0; i < ARRAY_SIZE(wrong); i++)
        GOT(vbn_caps_reason(&caps, wrong[i], text, sizeof(text), &needed), VBN_ERR_ARGUMENT, "not one capability");
    GOT(vbn_caps_reason(&caps, VBN_CAP_SRD, NULL, 1, &needed), VBN_ERR_ARGUMENT, "NULL text with a capacity");
    GOT(vbn_caps_reason(&caps, VBN_CAP_SRD, text, SIZE_MAX, &needed), VBN_ERR_ARGUMENT, "impossible capacity");
    GOT(vbn_caps_reason(&caps, VBN_CAP_SRD, text, sizeof(text), (size_t *)(void *)(out_room + 1)), VBN_ERR_ARGUMENT,
        "misaligned output");
    MUST(needed == 77, "a refused call wrote %zu", needed);
    OK(vbn_caps_reason(&caps, VBN_CAP_SRD, text, sizeof(text), &needed));
    MUST(needed == strlen(text) + 1, "needed %zu for: %s", needed, text);
    memset(text, 'x', sizeof(text));
    OK(vbn_caps_reason(&caps, VBN_CAP_SRD, text, 6, &needed));
    MUST(strlen(text) == 5 && text[6] == 'x' && needed > 6, "cut to: %.10s", text);
    /* A struct of junk gives a text, too. */
    memset(&caps, 0xff, sizeof(caps));
    caps.struct_size = sizeof(caps);
    for (int bit = 0; bit <= 49; bit++)
        if (strcmp(vbn_cap_name(1ull << bit), "unknown"))
            OK(vbn_caps_reason(&caps, 1ull << bit, text, sizeof(text), NULL));
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
    /* Of libefa the first EFA decides. */
    {
        struct efa_rig settled = efa_rig_open();
        efa_rig_close(&settled);
    }
    for (int32_t library = -1; library < 6; library++) {
        if (library >= VBN_LIBRARY_RDMACM && library <= VBN_LIBRARY_ROCM)
            continue; /* null_cm, null_gpu and null_rocm look at them */
        attr = zero;
        attr.library = library;
        GOT(init_with(&attr), library == VBN_LIBRARY_IBVERBS ? VBN_OK : library == VBN_LIBRARY_EFA ? VBN_ERR_BUSY : VBN_ERR_ARGUMENT, "library");
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
    GOT(vbn_library_query(5, &info), VBN_ERR_ARGUMENT, "library 5");
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
    GOT(vbn_library_missing(5, 0, &info), VBN_ERR_ARGUMENT, "library 5");
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
NAME_ROW(library_origin, VBN_LIBRARY_FROM_PROVIDER)
NAME_ROW(mr_kind, VBN_MR_ADOPTED)
NAME_ROW(ownership, VBN_ADOPT_CUSTOM)
NAME_ROW(vendor_domain, VBN_VENDOR_HSA)
NAME_ROW(absence, VBN_ABSENCE_DRIVER)
NAME_ROW(distance, VBN_DISTANCE_SYSTEM)
NAME_ROW(atomic_cap, 2)
NAME_ROW(mig_state, 2)
NAME_ROW(phys_state, 5)
NAME_ROW(mw_type, VBN_MW_TYPE_2)
NAME_ROW(srq_type, VBN_SRQT_TM)
NAME_ROW(advice, VBN_ADVISE_PREFETCH_NO_FAULT)
NAME_ROW(post_path, VBN_POST_PATH_WR)
NAME_ROW(driver, VBN_DRIVER_EFA)
NAME_ROW(port_width, 16)
NAME_ROW(flow_type, VBN_FLOW_SNIFFER)
NAME_ROW(flow_spec, VBN_FLOW_SPEC_ACTION_COUNT)
NAME_ROW(counter, VBN_COUNTER_BYTES)
NAME_ROW(rate, 16)
NAME_ROW(cm_ps, VBN_CM_PS_IB)
NAME_ROW(library, VBN_LIBRARY_ROCM)
NAME_ROW(cq_wait_mode, VBN_CQ_WAIT_EVENT)
static void bad_port_speed_name(void)
{
    for (uint32_t i = 0; i < 1000; i++) {
        int known = i && i <= 256 && !(i & (i - 1));

        MUST(!!strcmp(vbn_port_speed_name(i), "unknown") == known, "%u is called %s", i, vbn_port_speed_name(i));
    }
    CHECK_STR(vbn_port_speed_name(UINT32_MAX), "unknown");
    CHECK_STR(vbn_port_speed_name(32), "EDR (25 Gbit/s)");
}

/* Bits that anybody may invent: one without a name is told by its number. */
static void bad_numbered(const char *(*name)(uint64_t), uint64_t known)
{
    for (int bit = 0; bit < 64; bit++) {
        uint64_t value = 1ull << bit;
        char number[16];

        snprintf(number, sizeof(number), "bit %d", bit);
        MUST(!!strcmp(name(value), number) == !!(known & value), "bit %d is called %s", bit, name(value));
        MUST(strcmp(name(value), "unknown"), "bit %d has no name", bit);
        MUST(!strcmp(name(value | value << 1 | 1), "unknown") || bit == 0, "several bits are called %s", name(value | 1));
    }
    CHECK_STR(name(0), "unknown");
    CHECK_STR(name(3), "unknown");
    CHECK_STR(name(UINT64_MAX), "unknown");
}
static void bad_device_cap_name(void) { bad_numbered(vbn_device_cap_name, 0x21427b67fff); }
static void bad_port_cap_name(void) { bad_numbered(vbn_port_cap_name, 0x7ffdbfe); }
static void bad_odp_cap_name(void) { bad_numbered(vbn_odp_cap_name, 0xff); }
static void bad_port_cap2_name(void) { bad_numbered(vbn_port_cap2_name, 0x143f); }
static void bad_mismatch_name(void) { bad_bits(vbn_mismatch_name, 0x1f); }
static void bad_efa_cap_name(void) { bad_bits(vbn_efa_cap_name, 0x7f); }
static void bad_wc_field_name(void) { bad_bits(vbn_wc_field_name, 0x300000bff); }
static void bad_access_flag_name(void) { bad_bits(vbn_access_flag_name, 0x1003ff); }
static void bad_send_flag_name(void) { bad_bits(vbn_send_flag_name, 0x10000000f); }
static void bad_qp_attr_name(void) { bad_bits(vbn_qp_attr_name, 0x1fffff | 1 << 25); }
static void bad_wc_flag_name(void) { bad_bits(vbn_wc_flag_name, 0xf); }
static void bad_cap_name(void) { bad_bits(vbn_cap_name, 0x31f3f3ff3ff1f); }
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
static void bad_context_caps_more(void) {}
static void bad_context_live_more(void) {}
static void bad_pd_query_more(void) {}
static void bad_mr_query_more(void) {}
static void bad_channel_query_more(void) {}
static void bad_cq_query_more(void) {}
static void bad_qp_query_more(void) {}
static void bad_ah_query_more(void) {}
static void bad_peer_query_more(void) {}

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
QUERY_ROW(context_caps, CONTEXT, vbn_caps, )
QUERY_ROW(context_live, CONTEXT, vbn_live_info, )
QUERY_ROW(context_query_port, CONTEXT, vbn_port_attr, 1, )
QUERY_ROW(pd_query, PD, vbn_pd_info, )
QUERY_ROW(mr_query, MR, vbn_mr_info, )
QUERY_ROW(channel_query, CHANNEL, vbn_channel_info, )
QUERY_ROW(cq_query, CQ, vbn_cq_info, )
QUERY_ROW(qp_query, QP, vbn_qp_info, )
QUERY_ROW(ah_query, AH, vbn_ah_info, )
QUERY_ROW(peer_query, PEER, vbn_peer_info, )

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
    GOT(vbn_context_query_pkey(g.context, 1, 2, (void *)out_room), VBN_ERR_LIMIT, "index that isn't there");
    WANT_NUMBERS(2, 1);
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

static vbn_status poll_ext_handle(void *handle)
{
    vbn_wc_ext wcs[2];
    uint32_t got = 77;
    vbn_status status = vbn_cq_poll_ext(handle, 2, wcs, sizeof(wcs[0]), &got);

    MUST(!got, "got is %u after %s", got, vbn_status_name(status));
    return status;
}
static void bad_cq_poll_ext(void)
{
    static const size_t strides[] = {0, 1, sizeof(vbn_wc_ext) - 8, sizeof(vbn_wc_ext) + 1, sizeof(vbn_wc_ext) + 4, SIZE_MAX};
    vbn_wc_ext wcs[3];
    uint32_t got = 77;
    NEW(vbn_cq_attr, attr);
    vbn_cq *cqs[2] = {g.cq};

    bad_handles(CQ, poll_ext_handle);
    attr.cqe = 8;
    attr.fields = VBN_WC_EX_STANDARD;
    OK(vbn_cq_create(g.context, &attr, &cqs[1]));
    for (int i = 0; i < 2; i++) {
        GOT(vbn_cq_poll_ext(cqs[i], 1, wcs, sizeof(wcs[0]), NULL), VBN_ERR_ARGUMENT, "NULL got");
        GOT((got = 77, vbn_cq_poll_ext(cqs[i], 1, NULL, sizeof(wcs[0]), &got)), VBN_ERR_ARGUMENT, "NULL array");
        MUST(!got, "got is %u", got);
        for (size_t k = 0; k < ARRAY_SIZE(strides); k++) {
            GOT((got = 77, vbn_cq_poll_ext(cqs[i], 1, wcs, strides[k], &got)), VBN_ERR_ARGUMENT, "a wrong stride");
            WANT_TEXT("stride");
            MUST(!got, "got is %u", got);
        }
        GOT((got = 77, vbn_cq_poll_ext(cqs[i], 0, wcs, sizeof(wcs[0]), &got)), VBN_OK, "n 0");
        MUST(!got, "got is %u", got);
        GOT((got = 77, vbn_cq_poll_ext(cqs[i], 1, wcs, sizeof(wcs[0]) + 8, &got)), VBN_OK, "a larger stride");
        MUST(!got, "got is %u", got);
    }
    GOT(vbn_cq_poll_ext(NULL, 1, NULL, 0, NULL), VBN_ERR_ARGUMENT, "everything NULL");
    GOT(vbn_cq_poll_ext(closed(CQ), 1, wcs, 0, &got), VBN_ERR_CLOSED, "closed handle and a wrong stride");
    close_kind(CQ, cqs[1]);
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
    static const int32_t types[] = {VBN_QPT_RAW_PACKET, VBN_QPT_XRC_SEND, VBN_QPT_DRIVER, 1, -1, INT32_MAX};
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
        /* 10, 14 and 15: segmentation offload, flush and atomic write, which the device doesn't have. */
        GOT(qp_create_attr(&attr), bit < 10 ? VBN_OK : bit == 10 || bit == 14 || bit == 15 ? VBN_ERR_NOT_SUPPORTED : VBN_ERR_ARGUMENT,
            "bits of send_ops");
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
    attr.pkey_index = 2;
    GOT(to_init_attr(&attr), VBN_ERR_LIMIT, "pkey_index 2");
    WANT_NUMBERS(2, 1);
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

/* ---- Explaining and splitting ---- */

static const vbn_explain_attr explain_zero = {.struct_size = sizeof explain_zero, .driver = VBN_DRIVER_EFA, .vendor_err = 15};

static vbn_status explain_attr(void *attr) { return vbn_explain(attr, NULL, 0, NULL); }
static vbn_status explain_text(void *text) { return vbn_explain(&explain_zero, text, 8, NULL); }

/* As much room as any text takes. */
static char explanation[VBN_EXPLAIN_TEXT_SIZE];

static void bad_explain(void)
{
    static const int32_t odd[] = {-1, 24, 99, INT32_MIN, INT32_MAX};
    vbn_explain_attr attr = explain_zero;
    char text[64];
    size_t needed;

    bad_input_struct(&attr, sizeof(attr), "vbn_explain_attr", VBN_ERR_ARGUMENT, explain_attr);
    memset(out_room, 0xa5, sizeof(out_room));
    GOT(explain_text(NULL), VBN_ERR_ARGUMENT, "NULL text");
    WANT_TEXT("text is NULL");
    GOT(vbn_explain(&attr, text, sizeof(text), (size_t *)(void *)(out_room + 1)), VBN_ERR_ARGUMENT, "misaligned output");
    MUST(out_room[1] == 0xa5, "a refused output was written to");
    for (int bit = 1; bit < 64; bit += 31) {
        attr = explain_zero;
        attr.set = (uint64_t)1 << bit;
        GOT(explain_attr(&attr), VBN_ERR_ARGUMENT, "unknown bit in set");
        WANT_NUMBERS(attr.set, VBN_EXPLAIN_SET_OPCODE);
    }
    /* Nobody's numbers are explained as such. */
    for (size_t i = 0; i < ARRAY_SIZE(odd); i++) {
        attr = (vbn_explain_attr){.struct_size = sizeof attr, .driver = odd[i], .status = odd[i], .set = 1, .opcode = (uint32_t)odd[i]};
        needed = 0;
        GOT(vbn_explain(&attr, text, sizeof(text), &needed), VBN_OK, "unknown numbers");
        MUST(needed > sizeof(text) && strlen(text) == sizeof(text) - 1, "room for %zu bytes, %zu written", needed, strlen(text));
    }
    /* A capacity out of all proportion isn't believed. */
    GOT(vbn_explain(&explain_zero, explanation, SIZE_MAX, &needed), VBN_OK, "SIZE_MAX bytes");
    MUST(needed == strlen(explanation) + 1, "room for %zu bytes, %zu written", needed, strlen(explanation));
}

static const vbn_error_info error_zero = {.struct_size = sizeof error_zero, .sys_errno = 110, .op_name = "vbn_qp_modify"};

static vbn_status explain_error(void *error) { return vbn_explain_error(error, NULL, NULL, 0, NULL); }
static vbn_status explain_error_more(void *more) { return vbn_explain_error(&error_zero, more, NULL, 0, NULL); }

static void bad_explain_error(void)
{
    static const int32_t odd[] = {-1, 24, 99, INT32_MIN, INT32_MAX};
    vbn_error_info error = error_zero;
    vbn_explain_attr more = {.struct_size = sizeof more};
    char text[64];
    size_t needed;

    bad_input_struct(&error, sizeof(error), "vbn_error_info", VBN_ERR_ARGUMENT, explain_error);
    bad_input_struct(&more, sizeof(more), "vbn_explain_attr", VBN_OK, explain_error_more);
    memset(out_room, 0xa5, sizeof(out_room));
    GOT(vbn_explain_error(&error_zero, NULL, NULL, 8, NULL), VBN_ERR_ARGUMENT, "NULL text");
    WANT_TEXT("text is NULL");
    GOT(vbn_explain_error(&error_zero, NULL, text, sizeof(text), (size_t *)(void *)(out_room + 1)), VBN_ERR_ARGUMENT, "misaligned output");
    MUST(out_room[1] == 0xa5, "a refused output was written to");
    more.set = 2;
    GOT(explain_error_more(&more), VBN_ERR_ARGUMENT, "unknown bit in set");
    WANT_NUMBERS(2, VBN_EXPLAIN_SET_OPCODE);
    for (size_t i = 0; i < ARRAY_SIZE(odd); i++) {
        error = error_zero;
        error.sys_errno = error.status = error.op = error.vendor_domain = odd[i];
        needed = 0;
        GOT(vbn_explain_error(&error, NULL, text, sizeof(text), &needed), VBN_OK, "unknown numbers");
        MUST(needed > sizeof(text) && strlen(text) == sizeof(text) - 1, "room for %zu bytes, %zu written", needed, strlen(text));
    }
    GOT(vbn_explain_error(&error_zero, NULL, explanation, SIZE_MAX, &needed), VBN_OK, "SIZE_MAX bytes");
    MUST(needed == strlen(explanation) + 1, "room for %zu bytes, %zu written", needed, strlen(explanation));
}

static vbn_split_attr split_attr(void)
{
    return (vbn_split_attr){.struct_size = sizeof(vbn_split_attr), .mr = g.mr, .length = 64, .remote_addr = 4096, .chunk = 24};
}

static vbn_status split_handle(void *handle)
{
    vbn_split_attr attr = split_attr();
    vbn_send_wr wrs[4];
    uint32_t count = 77;
    uint64_t total = 77;
    vbn_status status = vbn_rdma_split(handle, &attr, 0, wrs, 4, &count, &total);

    MUST(count == (status ? 0 : 3) && total == count, "count %u and total %" PRIu64 " after %s", count, total, vbn_status_name(status));
    return status;
}

static vbn_status split_with(void *attr)
{
    vbn_send_wr wrs[4];
    uint32_t count = 77;
    uint64_t total = 77;
    vbn_status status = vbn_rdma_split(g.qp, attr, 0, wrs, 4, &count, &total);

    MUST(!status || (count == 0 && total == 0), "count %u and total %" PRIu64 " after %s", count, total, vbn_status_name(status));
    return status;
}

static vbn_status split_mr(void *mr)
{
    vbn_split_attr attr = split_attr();

    attr.mr = mr;
    attr.local_length = mr ? 0 : 64;
    return split_with(&attr);
}

static vbn_status split_count(void *count)
{
    vbn_split_attr attr = split_attr();
    uint64_t total;

    return vbn_rdma_split(g.qp, &attr, 0, NULL, 0, count, &total);
}

static vbn_status split_total(void *total)
{
    vbn_split_attr attr = split_attr();
    uint32_t count;

    return vbn_rdma_split(g.qp, &attr, 0, NULL, 0, &count, total);
}

static vbn_status split_wrs(void *wrs)
{
    vbn_split_attr attr = split_attr();
    uint32_t count;
    uint64_t total;

    return vbn_rdma_split(g.qp, &attr, 0, wrs, 4, &count, &total);
}

#define SPLIT(field, value_, status, what) \
    do { \
        vbn_split_attr attr_ = split_attr(); \
        attr_.field = (value_); \
        GOT(split_with(&attr_), status, what); \
    } while (0)

static void bad_rdma_split(void)
{
    vbn_split_attr attr = split_attr();
    uint32_t count;
    uint64_t total;

    bad_handles(QP, split_handle);
    bad_input_struct(&attr, sizeof(attr), "vbn_split_attr", VBN_ERR_ARGUMENT, split_with);
    GOT(split_mr(NULL), VBN_OK, "no region");
    GOT(split_mr(g.cq), VBN_ERR_ARGUMENT, "handle of another type as region");
    GOT(split_mr((char *)g.mr + 1), VBN_ERR_ARGUMENT, "misaligned region");
    GOT(split_mr(closed(MR)), VBN_ERR_CLOSED, "closed region");
    {
        vbn_split_attr other = split_attr();
        vbn_region_info region = {.struct_size = 1};

        other.mr_set = live(MR_SET);
        GOT(split_with(&other), VBN_ERR_ARGUMENT, "mr and mr_set");
        other.mr = NULL;
        GOT(split_with(&other), VBN_OK, "a set");
        other.mr_set = (void *)g.cq;
        GOT(split_with(&other), VBN_ERR_ARGUMENT, "handle of another type as set");
        other.mr_set = closed(MR_SET);
        GOT(split_with(&other), VBN_ERR_CLOSED, "closed set");
        other = split_attr();
        other.remote_addr = other.remote_length = other.rkey = 0;
        other.region = &region;
        GOT(split_with(&other), VBN_ERR_ARGUMENT, "wrong struct_size of the region");
        region.struct_size = sizeof(region);
        GOT(split_with(&other), VBN_ERR_ARGUMENT, "an empty region");
        other.region = (void *)(out_room + 1);
        GOT(split_with(&other), VBN_ERR_ARGUMENT, "misaligned region record");
    }
    SPLIT(nic, 1, VBN_ERR_ARGUMENT, "nic without region");
    SPLIT(reserved0, 1, VBN_ERR_ARGUMENT, "reserved0");
    bad_out(split_count);
    bad_out(split_total);
    GOT(split_wrs(NULL), VBN_ERR_ARGUMENT, "NULL array");
    GOT(split_wrs(out_room + 1), VBN_ERR_ARGUMENT, "misaligned array");
    SPLIT(local_addr, 1, VBN_ERR_ARGUMENT, "local_addr beside a region");
    SPLIT(local_length, 1, VBN_ERR_ARGUMENT, "local_length beside a region");
    SPLIT(lkey, 1, VBN_ERR_ARGUMENT, "lkey beside a region");
    SPLIT(length, 0, VBN_ERR_ARGUMENT, "length 0");
    WANT_TEXT("length 0");
    SPLIT(length, UINT64_MAX, VBN_ERR_ARGUMENT, "length UINT64_MAX");
    SPLIT(offset, UINT64_MAX, VBN_ERR_ARGUMENT, "offset UINT64_MAX");
    SPLIT(remote_length, 63, VBN_ERR_ARGUMENT, "more than the peer has");
    WANT_NUMBERS(64, 63);
    SPLIT(remote_offset, UINT64_MAX, VBN_ERR_ARGUMENT, "remote_offset UINT64_MAX");
    SPLIT(remote_addr, UINT64_MAX - 62, VBN_ERR_ARGUMENT, "beyond the address space");
    WANT_NUMBERS(64, 63);
    SPLIT(remote_addr, UINT64_MAX - 63, VBN_OK, "up to the end of the address space");
    SPLIT(wr_id, UINT64_MAX - 1, VBN_ERR_ARGUMENT, "wr_ids beyond 2^64");
    SPLIT(wr_id, UINT64_MAX - 2, VBN_OK, "the last wr_ids");
    SPLIT(chunk, UINT64_MAX, VBN_ERR_LIMIT, "chunk above the limit");
    SPLIT(opcode, VBN_WR_SEND, VBN_ERR_ARGUMENT, "not an RDMA operation");
    SPLIT(opcode, UINT32_MAX, VBN_ERR_ARGUMENT, "opcode UINT32_MAX");
    GOT(vbn_rdma_split(g.qp, &attr, 4, NULL, 0, &count, &total), VBN_ERR_ARGUMENT, "first beyond the last");
    WANT_NUMBERS(4, 3);
    GOT(vbn_rdma_split(g.qp, &attr, 3, NULL, 0, &count, &total), VBN_OK, "first behind the last");
    MUST(count == 0 && total == 3, "count %u of %" PRIu64, count, total);
}

/* ---- Endpoints ---- */

static vbn_endpoint endpoint;
static vbn_qp *prepared;

/* A UD queue pair that is up. */
static void prepare_ud(void)
{
    NEW(vbn_qp_init_attr, attr);
    NEW(vbn_qp_prepare_attr, prepare);

    attr.send_cq = g.cq;
    attr.qp_type = VBN_QPT_UD;
    OK(vbn_qp_create(g.pd, &attr, &prepared));
    GOT(vbn_endpoint_local(prepared, &endpoint), VBN_ERR_ARGUMENT, "a queue pair in RESET");
    prepare.set = VBN_QP_PREPARE_SET_QKEY;
    prepare.qkey = 7;
    OK(vbn_qp_prepare(prepared, &prepare));
}

static vbn_status endpoint_handle(void *qp) { return vbn_endpoint_local(qp, &endpoint); }
static vbn_status endpoint_out(void *out) { return vbn_endpoint_local(prepared, out); }
static void bad_endpoint_local(void)
{
    op = "vbn_endpoint_local";
    prepare_ud();
    bad_handles(QP, endpoint_handle);
    bad_out(endpoint_out);
    GOT(vbn_endpoint_local(g.qp, &endpoint), VBN_ERR_ARGUMENT, "an RC queue pair");
    OK(vbn_endpoint_local(prepared, &endpoint));
    close_kind(QP, prepared);
}

static void bad_endpoint_encode(void)
{
    vbn_endpoint good = {.gid = {1}, .qp_num = 0xffffff, .qkey = UINT32_MAX}, bad = good;
    static const size_t sizes[] = {0, 1, 23, 25, 28, SIZE_MAX};
    _Alignas(8) char room[sizeof(good) + 8];
    uint8_t bytes[32];

    OK(vbn_endpoint_encode(&good, bytes, VBN_ENDPOINT_SIZE));
    memset(bytes, 0xa5, sizeof(bytes));
    bad.qp_num = 0x1000000;
    GOT(vbn_endpoint_encode(&bad, bytes, VBN_ENDPOINT_SIZE), VBN_ERR_ARGUMENT, "qp_num of 25 bits");
    GOT(vbn_endpoint_encode(NULL, bytes, VBN_ENDPOINT_SIZE), VBN_ERR_ARGUMENT, "NULL endpoint");
    memcpy(room + 1, &good, sizeof(good));
    GOT(vbn_endpoint_encode((void *)(room + 1), bytes, VBN_ENDPOINT_SIZE), VBN_ERR_ARGUMENT, "misaligned endpoint");
    GOT(vbn_endpoint_encode(&good, NULL, VBN_ENDPOINT_SIZE), VBN_ERR_ARGUMENT, "NULL bytes");
    for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
        GOT(vbn_endpoint_encode(&good, bytes, sizes[i]), VBN_ERR_ARGUMENT, "a size other than 24");
        WANT_NUMBERS(sizes[i], 0);
    }
    for (size_t i = 0; i < sizeof(bytes); i++)
        MUST(bytes[i] == 0xa5, "byte %zu was written", i);
}

static vbn_status decode_endpoint(void *out) { return vbn_endpoint_decode(wire, VBN_ENDPOINT_SIZE, out); }
static void bad_endpoint_decode(void)
{
    vbn_endpoint back, before;

    memset(wire, 0, sizeof(wire));
    bad_out(decode_endpoint);
    OK(vbn_endpoint_decode(wire, VBN_ENDPOINT_SIZE, &back));
    before = back;
    GOT(vbn_endpoint_decode(NULL, VBN_ENDPOINT_SIZE, &back), VBN_ERR_ARGUMENT, "NULL bytes");
    for (size_t size = 0; size < sizeof(wire); size++)
        if (size != VBN_ENDPOINT_SIZE)
            GOT(vbn_endpoint_decode(wire, size, &back), VBN_ERR_ARGUMENT, "a size other than 24");
    GOT(vbn_endpoint_decode(NULL, SIZE_MAX, &back), VBN_ERR_ARGUMENT, "size SIZE_MAX");
    wire[16] = 1;
    GOT(vbn_endpoint_decode(wire, VBN_ENDPOINT_SIZE, &back), VBN_ERR_ARGUMENT, "qp_num of 25 bits");
    CHECK_MEM(&back, &before, sizeof(back));
}

static vbn_endpoint_info endpoint_info;
static vbn_status info_handle(void *qp) { return vbn_endpoint_info_local(qp, NULL, &endpoint_info); }
static vbn_status info_attr(void *attr) { return vbn_endpoint_info_local(g.qp, attr, &endpoint_info); }
static vbn_status info_out(void *out) { return vbn_endpoint_info_local(g.qp, NULL, out); }
static void bad_endpoint_info_local(void)
{
    static const vbn_endpoint_info_attr zero = {.struct_size = sizeof(zero)};
    vbn_endpoint_info_attr attr = zero;

    endpoint_info.struct_size = sizeof(endpoint_info);
    bad_handles(QP, info_handle);
    bad_input_struct(&attr, sizeof(attr), "vbn_endpoint_info_attr", VBN_OK, info_attr);
    bad_output_struct(sizeof(vbn_endpoint_info), "vbn_endpoint_info", info_out);
    for (int bit = 5; bit < 64; bit++) {
        attr = zero;
        attr.set = 1ull << bit;
        GOT(info_attr(&attr), VBN_ERR_ARGUMENT, "unknown bit in set");
        WANT_NUMBERS(attr.set, 0x1f);
    }
    attr = zero;
    attr.psn = 0x1000000;
    GOT(info_attr(&attr), VBN_OK, "a psn that doesn't count");
    attr.set = VBN_ENDPOINT_ATTR_SET_PSN;
    GOT(info_attr(&attr), VBN_ERR_ARGUMENT, "psn of 25 bits");
    attr = zero;
    attr.set = VBN_ENDPOINT_ATTR_SET_UNSOLICITED;
    attr.unsolicited = 2;
    GOT(info_attr(&attr), VBN_ERR_ARGUMENT, "unsolicited 2");
    attr = zero;
    attr.set = VBN_ENDPOINT_ATTR_SET_MAX_RD_ATOMIC;
    attr.max_rd_atomic = 17;
    GOT(info_attr(&attr), VBN_ERR_LIMIT, "max_rd_atomic 17");
    WANT_NUMBERS(17, 16);
    attr = zero;
    attr.set = VBN_ENDPOINT_ATTR_SET_MAX_DEST_RD_ATOMIC;
    attr.max_dest_rd_atomic = 17;
    GOT(info_attr(&attr), VBN_ERR_LIMIT, "max_dest_rd_atomic 17");
    WANT_NUMBERS(17, 16);
    attr = zero;
    attr.port_num = 2;
    GOT(info_attr(&attr), VBN_ERR_LIMIT, "port 2");
    WANT_NUMBERS(2, 1);
    attr = zero;
    attr.set = VBN_ENDPOINT_ATTR_SET_SGID_INDEX;
    attr.sgid_index = 99;
    GOT(info_attr(&attr), VBN_ERR_NOT_FOUND, "sgid_index 99");
    for (size_t i = 0; i < sizeof(attr.reserved0); i++) {
        attr = zero;
        attr.reserved0[i] = 1;
        GOT(info_attr(&attr), VBN_ERR_ARGUMENT, "reserved0");
    }
}

static vbn_endpoint_info good_info(void)
{
    vbn_endpoint_info info = {.struct_size = sizeof(info), .set = VBN_ENDPOINT_SET_QKEY, .qp_type = VBN_QPT_UD, .num_gids = 1};

    info.gids[0].gid[0] = 1;
    return info;
}

static uint8_t grown[VBN_RECORD_MAX_SIZE];
static size_t grown_size;
static vbn_status encode_info(void *info) { return vbn_endpoint_info_encode(info, grown, sizeof(grown), &grown_size); }
static vbn_status encode_size(void *size)
{
    vbn_endpoint_info info = good_info();

    return vbn_endpoint_info_encode(&info, NULL, 0, size);
}
static void bad_endpoint_info_encode(void)
{
    static const struct {
        uint64_t bit;
        size_t field, size;
        uint64_t bad;
        const char *name;
    } wrong[] = {
#define INFO(bit, field, bad) {bit, offsetof(vbn_endpoint_info, field), sizeof(endpoint_info.field), bad, #field}
        INFO(1ull << 11, lid, 0),
        INFO(1ull << 63, lid, 0),
        INFO(0, qp_type, 0),
        INFO(0, qp_type, VBN_QPT_RAW_PACKET),
        INFO(0, qp_type, VBN_QPT_RC), /* without psn */
        INFO(0, qp_num, 0x1000000),
        INFO(VBN_ENDPOINT_SET_PSN, psn, 0x1000000),
        INFO(VBN_ENDPOINT_SET_PORT_NUM, port_num, 0),
        INFO(VBN_ENDPOINT_SET_MTU, mtu, 0),
        INFO(VBN_ENDPOINT_SET_MTU, mtu, 6),
        INFO(VBN_ENDPOINT_SET_UNSOLICITED, unsolicited, 2),
        INFO(0, num_gids, 0),
        INFO(0, num_gids, 2), /* the second is all zero */
        INFO(0, num_gids, 9),
        INFO(0, gids[0].type, 3),
        INFO(0, gids[0].family, UINT64_MAX),
    };
    vbn_endpoint_info info = good_info();

    bad_out(encode_size);
    bad_input_struct(&info, sizeof(info), "vbn_endpoint_info", VBN_ERR_ARGUMENT, encode_info);
    memset(grown, 0xa5, sizeof(grown));
    for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
        info = good_info();
        info.set |= wrong[i].bit;
        memcpy((char *)&info + wrong[i].field, &wrong[i].bad, wrong[i].size);
        GOT(encode_info(&info), VBN_ERR_ARGUMENT, wrong[i].name);
    }
    info = good_info();
    info.set = 0;
    GOT(encode_info(&info), VBN_ERR_ARGUMENT, "no qkey");
    info = good_info();
    GOT(vbn_endpoint_info_encode(&info, NULL, 100, &grown_size), VBN_ERR_ARGUMENT, "NULL bytes");
    GOT(vbn_endpoint_info_encode(&info, grown, SIZE_MAX, &grown_size), VBN_ERR_ARGUMENT, "capacity SIZE_MAX");
    OK(vbn_endpoint_info_encode(&info, NULL, 0, &grown_size));
    GOT(vbn_endpoint_info_encode(&info, grown, grown_size - 1, &grown_size), VBN_ERR_ARGUMENT, "capacity too small by one");
    WANT_NUMBERS(grown_size - 1, grown_size);
    for (size_t i = 0; i < sizeof(grown); i++)
        MUST(grown[i] == 0xa5, "byte %zu was written", i);
}

static vbn_status decode_info(void *info) { return vbn_endpoint_info_decode(grown, grown_size, info); }
static void bad_endpoint_info_decode(void)
{
    vbn_endpoint_info info = good_info(), before;

    OK(vbn_endpoint_info_encode(&info, grown, sizeof(grown), &grown_size));
    bad_output_struct(sizeof(info), "vbn_endpoint_info", decode_info);
    before = info;
    GOT(vbn_endpoint_info_decode(NULL, grown_size, &info), VBN_ERR_ARGUMENT, "NULL bytes");
    GOT(vbn_endpoint_info_decode(NULL, 0, &info), VBN_ERR_ARGUMENT, "no bytes");
    GOT(vbn_endpoint_info_decode(NULL, SIZE_MAX, &info), VBN_ERR_ARGUMENT, "size SIZE_MAX");
    for (size_t size = 0; size < grown_size; size++)
        GOT(vbn_endpoint_info_decode(grown, size, &info), VBN_ERR_ARGUMENT, "a record that was cut");
    grown[3] = '2';
    GOT(decode_info(&info), VBN_ERR_TOO_NEW, "a later format");
    CHECK_MEM(&info, &before, sizeof(info));
}

/* ---- Address handles and peers ---- */

static vbn_status ah_pd(void *pd) { CONSTRUCT(AH, vbn_ah_create(pd, &good_ah, out)); }
static vbn_status ah_attr(void *attr) { CONSTRUCT(AH, vbn_ah_create(g.pd, attr, out)); }
static vbn_status ah_out(void *out) { return vbn_ah_create(g.pd, &good_ah, out); }

/* `status`: what a good attr with this one field gives. */
#define WITH(type, good, field_, value_, call, status, what) \
    do { \
        type attr_ = (good); \
        attr_.field_ = (value_); \
        GOT(call(&attr_), status, what); \
    } while (0)

static void bad_ah_create(void)
{
    vbn_ah_attr attr = good_ah;

    bad_handles(PD, ah_pd);
    bad_input_struct(&good_ah, sizeof(good_ah), "vbn_ah_attr", VBN_ERR_ARGUMENT, ah_attr);
    bad_out(ah_out);
    memset(attr.path.dgid, 0, sizeof(attr.path.dgid));
    GOT(ah_attr(&attr), VBN_ERR_ARGUMENT, "no dgid");
    WANT_TEXT("dgid");
    WITH(vbn_ah_attr, good_ah, path.is_global, 2, ah_attr, VBN_ERR_ARGUMENT, "is_global 2");
    WITH(vbn_ah_attr, good_ah, path.reserved0[1], 1, ah_attr, VBN_ERR_ARGUMENT, "reserved0");
    WITH(vbn_ah_attr, good_ah, path.flow_label, 1 << 20, ah_attr, VBN_ERR_ARGUMENT, "flow_label of 21 bits");
    WITH(vbn_ah_attr, good_ah, path.port_num, 2, ah_attr, VBN_ERR_LIMIT, "port that isn't there");
    WITH(vbn_ah_attr, good_ah, path.port_num, 0, ah_attr, VBN_OK, "port 0");
}

static vbn_status trim_pd(void *pd) { return vbn_pd_trim_ahs(pd, 0, NULL); }
static void bad_pd_trim_ahs(void)
{
    uint32_t count = 77;

    bad_handles(PD, trim_pd);
    GOT(vbn_pd_trim_ahs(g.pd, 0, (uint32_t *)(void *)(out_room + 1)), VBN_ERR_ARGUMENT, "misaligned output");
    GOT(vbn_pd_trim_ahs(g.pd, UINT32_MAX, &count), VBN_OK, "more kept than there are");
    MUST(!count, "%u are gone of none", count);
}

static vbn_status peer_pd(void *pd)
{
    vbn_peer_attr attr = good_peer();

    CONSTRUCT(PEER, vbn_peer_create(pd, &attr, out));
}
static vbn_status peer_attr(void *attr) { CONSTRUCT(PEER, vbn_peer_create(g.pd, attr, out)); }
static vbn_status peer_ah(void *ah)
{
    vbn_peer_attr attr = good_peer();

    attr.ah = ah;
    return peer_attr(&attr);
}
static vbn_status peer_out(void *out)
{
    vbn_peer_attr attr = good_peer();

    return vbn_peer_create(g.pd, &attr, out);
}

static void bad_peer_create(void)
{
    vbn_peer_attr attr = good_peer();
    vbn_pd *other = make(PD);
    vbn_ah *foreign;

    bad_handles(PD, peer_pd);
    bad_handles(AH, peer_ah);
    bad_input_struct(&attr, sizeof(attr), "vbn_peer_attr", VBN_ERR_ARGUMENT, peer_attr);
    bad_out(peer_out);
    OK(vbn_ah_create(other, &good_ah, &foreign));
    GOT(peer_ah(foreign), VBN_ERR_ARGUMENT, "address handle of another PD");
    WANT_TEXT("protection domain");
    close_kind(AH, foreign);
    close_kind(PD, other);
    WITH(vbn_peer_attr, good_peer(), qp_num, 1 << 24, peer_attr, VBN_ERR_ARGUMENT, "qp_num of 25 bits");
    WITH(vbn_peer_attr, good_peer(), path.hop_limit, 1, peer_attr, VBN_ERR_ARGUMENT, "a path beside the address handle");
}

static const vbn_endpoint good_endpoint = {.gid = {0xfe, 0x80, [15] = 9}, .qp_num = 0xffffff, .qkey = UINT32_MAX};

static vbn_status from_pd(void *pd) { CONSTRUCT(PEER, vbn_peer_from_endpoint(pd, &good_endpoint, NULL, out)); }
static vbn_status from_endpoint(void *of) { CONSTRUCT(PEER, vbn_peer_from_endpoint(g.pd, of, NULL, out)); }
static vbn_status from_attr(void *attr) { CONSTRUCT(PEER, vbn_peer_from_endpoint(g.pd, &good_endpoint, attr, out)); }
static vbn_status from_out(void *out) { return vbn_peer_from_endpoint(g.pd, &good_endpoint, NULL, out); }

static void bad_peer_from_endpoint(void)
{
    static const vbn_peer_attr zero = {.struct_size = sizeof(zero)};

    bad_handles(PD, from_pd);
    bad_input_struct(&zero, sizeof(zero), "vbn_peer_attr", VBN_OK, from_attr);
    bad_out(from_out);
    GOT(from_endpoint(NULL), VBN_ERR_ARGUMENT, "NULL record");
    GOT(from_endpoint(out_room + 1), VBN_ERR_ARGUMENT, "misaligned record");
    WITH(vbn_endpoint, good_endpoint, qp_num, 1 << 24, from_endpoint, VBN_ERR_ARGUMENT, "qp_num of 25 bits");
    WITH(vbn_peer_attr, zero, ah, rig_ah, from_attr, VBN_ERR_ARGUMENT, "an address handle beside the record");
    WITH(vbn_peer_attr, zero, qp_num, 1, from_attr, VBN_ERR_ARGUMENT, "qp_num beside the record");
    WITH(vbn_peer_attr, zero, qkey, 1, from_attr, VBN_ERR_ARGUMENT, "qkey beside the record");
    WITH(vbn_peer_attr, zero, path.dgid[3], 1, from_attr, VBN_ERR_ARGUMENT, "dgid beside the record");
    WITH(vbn_peer_attr, zero, path.port_num, 2, from_attr, VBN_ERR_LIMIT, "port that isn't there");
}

static vbn_endpoint_info own_info;

static vbn_status of_info_qp(void *qp) { CONSTRUCT(PEER, vbn_peer_from_info(qp, &own_info, NULL, out)); }
static vbn_status of_info_remote(void *remote) { CONSTRUCT(PEER, vbn_peer_from_info(prepared, remote, NULL, out)); }
static vbn_status of_info_attr(void *attr) { CONSTRUCT(PEER, vbn_peer_from_info(prepared, &own_info, attr, out)); }
static vbn_status of_info_out(void *out) { return vbn_peer_from_info(prepared, &own_info, NULL, out); }

static void bad_peer_from_info(void)
{
    static const vbn_peer_attr zero = {.struct_size = sizeof(zero)};

    op = "vbn_endpoint_local";
    prepare_ud();
    op = "vbn_peer_from_info";
    own_info.struct_size = sizeof(own_info);
    OK(vbn_endpoint_info_local(prepared, NULL, &own_info));
    bad_handles(QP, of_info_qp);
    GOT(of_info_qp(g.qp), VBN_ERR_ARGUMENT, "an RC queue pair");
    bad_input_struct(&own_info, sizeof(own_info), "vbn_endpoint_info", VBN_ERR_ARGUMENT, of_info_remote);
    bad_input_struct(&zero, sizeof(zero), "vbn_peer_attr", VBN_OK, of_info_attr);
    bad_out(of_info_out);
    WITH(vbn_endpoint_info, own_info, qp_type, VBN_QPT_SRD, of_info_remote, VBN_ERR_ARGUMENT, "a queue pair of another type");
    WITH(vbn_endpoint_info, own_info, num_gids, 0, of_info_remote, VBN_ERR_ARGUMENT, "no GID");
    WITH(vbn_peer_attr, zero, qkey, 1, of_info_attr, VBN_ERR_ARGUMENT, "qkey beside the record");
    close_kind(QP, prepared);
}

static const vbn_qp_prepare_attr good_prepare = {.struct_size = sizeof(good_prepare), .set = VBN_QP_PREPARE_SET_QKEY, .qkey = 7};

static vbn_status prepare_handle(void *qp) { return vbn_qp_prepare(qp, &good_prepare); }
static vbn_status prepare_attr(void *attr) { return vbn_qp_prepare(prepared, attr); }

static void bad_qp_prepare(void)
{
    op = "vbn_endpoint_local";
    prepare_ud();
    op = "vbn_qp_prepare";
    bad_handles(QP, prepare_handle);
    GOT(prepare_handle(g.qp), VBN_ERR_ARGUMENT, "an RC queue pair");
    bad_input_struct(&good_prepare, sizeof(good_prepare), "vbn_qp_prepare_attr", VBN_ERR_ARGUMENT, prepare_attr);
    WITH(vbn_qp_prepare_attr, good_prepare, set, 0, prepare_attr, VBN_ERR_ARGUMENT, "no qkey");
    for (int bit = 2; bit < 64; bit++) {
        WITH(vbn_qp_prepare_attr, good_prepare, set, 1 | 1ull << bit, prepare_attr, VBN_ERR_ARGUMENT, "unknown bit in set");
        WANT_NUMBERS(1ull << bit, 3);
    }
    WITH(vbn_qp_prepare_attr, good_prepare, reserved0, 1, prepare_attr, VBN_ERR_ARGUMENT, "reserved0");
    WITH(vbn_qp_prepare_attr, good_prepare, psn, 1 << 24, prepare_attr, VBN_ERR_ARGUMENT, "psn of 25 bits");
    WITH(vbn_qp_prepare_attr, good_prepare, port_num, 2, prepare_attr, VBN_ERR_LIMIT, "port that isn't there");
    WITH(vbn_qp_prepare_attr, good_prepare, set, 3, prepare_attr, VBN_ERR_NOT_SUPPORTED, "rnr_retry of UD");
    WITH(vbn_qp_prepare_attr, good_prepare, qkey, 8, prepare_attr, VBN_ERR_ARGUMENT, "another qkey, when it is up");
    close_kind(QP, prepared);
}

/* Takes nothing and can't fail. */
static void bad_qkey_random(void)
{
    uint32_t all = 0, first = vbn_qkey_random(), different = 0;

    for (int i = 0; i < 100; i++) {
        uint32_t qkey = vbn_qkey_random();

        MUST(qkey && qkey < 0x80000000u, "qkey 0x%x", qkey);
        all |= qkey;
        different += qkey != first;
    }
    MUST(all == 0x7fffffff && different > 90, "bits 0x%x in 100 keys, %u others than the first", all, different);
}

/* ---- Questions to an EFA, which null1 is by a libefa of ours; null0 is none ---- */

static struct efa_rig e;

/* `handle` on an EFA answers, the rig's own doesn't. */
static void bad_efa(enum kind kind, void *handle, call *with)
{
    bad_handles(kind, with);
    GOT(with(live(kind)), VBN_ERR_NOT_SUPPORTED, "a device that is no EFA");
    WANT_TEXT("null0");
    GOT(with(handle), VBN_OK, "an EFA");
}

#define EFA_ROW(function, kind, member, type) \
    static vbn_status function##_handle(void *handle) \
    { \
        NEW(type, info); \
        return vbn_##function(handle, &info); \
    } \
    static vbn_status function##_info(void *info) { return vbn_##function(e.member, info); } \
    static void bad_##function(void) \
    { \
        e = efa_rig_open(); \
        bad_efa(kind, e.member, function##_handle); \
        bad_output_struct(sizeof(type), #type, function##_info); \
        efa_rig_close(&e); \
    }
EFA_ROW(efa_query_device, CONTEXT, context, vbn_efa_device_info)
EFA_ROW(efa_query_cq, CQ, cq, vbn_efa_cq_info)
EFA_ROW(efa_query_mr, MR, mr, vbn_efa_mr_info)

static vbn_status efa_qp_handle(void *handle)
{
    NEW(vbn_efa_wq_info, sq);
    NEW(vbn_efa_wq_info, rq);

    return vbn_efa_query_qp(handle, &sq, &rq);
}
static vbn_status efa_sq(void *sq) { return vbn_efa_query_qp(e.qp, sq, NULL); }
static vbn_status efa_rq(void *rq) { return vbn_efa_query_qp(e.qp, NULL, rq); }
static void bad_efa_query_qp(void)
{
    e = efa_rig_open();
    bad_efa(QP, e.qp, efa_qp_handle);
    bad_output_size(sizeof(vbn_efa_wq_info), "vbn_efa_wq_info", efa_sq);
    bad_output_size(sizeof(vbn_efa_wq_info), "vbn_efa_wq_info", efa_rq);
    GOT(vbn_efa_query_qp(e.qp, NULL, NULL), VBN_OK, "neither");
    efa_rig_close(&e);
}

static vbn_status efa_ah_handle(void *handle)
{
    uint16_t number;

    return vbn_efa_query_ah(handle, &number);
}
static vbn_status efa_ah_out(void *out) { return vbn_efa_query_ah(e.ah, out); }
static void bad_efa_query_ah(void)
{
    vbn_ah *gone;

    e = efa_rig_open();
    GOT(efa_ah_handle(NULL), VBN_ERR_ARGUMENT, "NULL handle");
    for (enum kind other = 0; other <= QP; other++)
        GOT(efa_ah_handle(live(other)), VBN_ERR_ARGUMENT, "handle of another type");
    GOT(efa_ah_handle((char *)(void *)e.ah + 1), VBN_ERR_ARGUMENT, "misaligned handle");
    GOT(efa_ah_handle(e.ah), VBN_OK, "an EFA");
    bad_out(efa_ah_out);
    gone = e.ah;
    OK(vbn_ah_close(&e.ah));
    GOT(efa_ah_handle(gone), VBN_ERR_CLOSED, "closed handle");
    efa_rig_close(&e);
}

static const vbn_efa_sq_attr efa_sq_zero = {.struct_size = sizeof efa_sq_zero};
static const vbn_efa_rq_attr efa_rq_one = {.struct_size = sizeof efa_rq_one, .max_recv_sge = 1};
static uint32_t efa_depth;

static vbn_status max_sq_handle(void *handle) { return vbn_efa_max_sq_depth(handle, NULL, &efa_depth); }
static vbn_status max_sq_attr(void *attr) { return vbn_efa_max_sq_depth(e.context, attr, &efa_depth); }
static vbn_status max_sq_out(void *out) { return vbn_efa_max_sq_depth(e.context, NULL, out); }
static void bad_efa_max_sq_depth(void)
{
    vbn_efa_sq_attr attr = efa_sq_zero;

    e = efa_rig_open();
    bad_efa(CONTEXT, e.context, max_sq_handle);
    bad_input_struct(&efa_sq_zero, sizeof(efa_sq_zero), "vbn_efa_sq_attr", VBN_OK, max_sq_attr);
    bad_out(max_sq_out);
    for (int bit = 1; bit < 64; bit += 31) {
        attr.flags = (uint64_t)1 << bit;
        GOT(max_sq_attr(&attr), VBN_ERR_ARGUMENT, "unknown flag");
        WANT_NUMBERS(attr.flags, VBN_EFA_SQ_INLINE_WRITE);
    }
    attr = efa_sq_zero;
    attr.reserved0 = 1;
    GOT(max_sq_attr(&attr), VBN_ERR_ARGUMENT, "reserved0");
    efa_rig_close(&e);
}

static vbn_status max_rq_handle(void *handle) { return vbn_efa_max_rq_depth(handle, &efa_rq_one, &efa_depth); }
static vbn_status max_rq_attr(void *attr) { return vbn_efa_max_rq_depth(e.context, attr, &efa_depth); }
static vbn_status max_rq_out(void *out) { return vbn_efa_max_rq_depth(e.context, &efa_rq_one, out); }
static void bad_efa_max_rq_depth(void)
{
    vbn_efa_rq_attr attr = efa_rq_one;

    e = efa_rig_open();
    bad_efa(CONTEXT, e.context, max_rq_handle);
    bad_input_struct(&efa_rq_one, sizeof(efa_rq_one), "vbn_efa_rq_attr", VBN_ERR_ARGUMENT, max_rq_attr);
    bad_out(max_rq_out);
    attr.max_recv_sge = 0;
    GOT(max_rq_attr(&attr), VBN_ERR_ARGUMENT, "max_recv_sge 0");
    attr = efa_rq_one;
    attr.reserved0 = 1;
    GOT(max_rq_attr(&attr), VBN_ERR_ARGUMENT, "reserved0");
    efa_rig_close(&e);
}

/* ---- Shared receive queues ---- */

static const vbn_srq_attr srq_zero = {.struct_size = sizeof srq_zero};

static vbn_status srq_create_pd(void *pd) { CONSTRUCT(SRQ, vbn_srq_create(pd, NULL, out)); }
static vbn_status srq_create_attr(void *attr) { CONSTRUCT(SRQ, vbn_srq_create(g.pd, attr, out)); }
static vbn_status srq_create_out(void *out) { return vbn_srq_create(g.pd, NULL, out); }
static vbn_status srq_create_cq(void *cq)
{
    struct ibv_xrcd domain = {0};
    vbn_srq_attr attr = srq_zero;

    attr.srq_type = VBN_SRQT_XRC;
    attr.xrcd = &domain; /* never reached */
    attr.cq = cq;
    return srq_create_attr(&attr);
}
static void bad_srq_create(void)
{
    static const int32_t types[] = {-1, 3, INT32_MIN, INT32_MAX};
    vbn_srq_attr attr = srq_zero;
    struct ibv_xrcd domain = {0};
    vbn_context *other = make(CONTEXT);
    vbn_cq_attr cq_attr = cq_default();
    vbn_cq *foreign;

    bad_handles(PD, srq_create_pd);
    bad_out(srq_create_out);
    bad_input_struct(&attr, sizeof(attr), "vbn_srq_attr", VBN_OK, srq_create_attr);
    GOT(srq_create_cq(NULL), VBN_ERR_ARGUMENT, "XRC without cq");
    GOT(srq_create_cq(g.qp), VBN_ERR_ARGUMENT, "a queue pair as cq");
    GOT(srq_create_cq(closed(CQ)), VBN_ERR_CLOSED, "a closed cq");
    attr.max_wr = 8193;
    GOT(srq_create_attr(&attr), VBN_ERR_LIMIT, "max_wr");
    WANT_NUMBERS(8193, 8192);
    WANT_TEXT("max_wr");
    CHECK_STR(last()->object, "null0");
    attr = srq_zero;
    attr.max_sge = 17;
    GOT(srq_create_attr(&attr), VBN_ERR_LIMIT, "max_sge");
    WANT_NUMBERS(17, 16);
    attr.max_sge = UINT32_MAX;
    GOT(srq_create_attr(&attr), VBN_ERR_LIMIT, "max_sge of 32 bits");
    attr = srq_zero;
    attr.max_wr = 10;
    attr.limit = 11;
    GOT(srq_create_attr(&attr), VBN_ERR_ARGUMENT, "limit above max_wr");
    WANT_NUMBERS(11, 10);
    for (size_t i = 0; i < ARRAY_SIZE(types); i++) {
        attr = srq_zero;
        attr.srq_type = types[i];
        GOT(srq_create_attr(&attr), VBN_ERR_ARGUMENT, "an unknown type");
    }
    attr = srq_zero;
    attr.xrcd = &domain;
    GOT(srq_create_attr(&attr), VBN_ERR_ARGUMENT, "xrcd without XRC");
    attr = srq_zero;
    attr.cq = g.cq;
    GOT(srq_create_attr(&attr), VBN_ERR_ARGUMENT, "cq of a basic one");
    attr = srq_zero;
    attr.max_num_tags = 1;
    GOT(srq_create_attr(&attr), VBN_ERR_ARGUMENT, "tags of a basic one");
    attr = srq_zero;
    attr.max_ops = 1;
    GOT(srq_create_attr(&attr), VBN_ERR_ARGUMENT, "operations on tags of a basic one");
    attr = srq_zero;
    attr.srq_type = VBN_SRQT_XRC;
    attr.cq = g.cq;
    GOT(srq_create_attr(&attr), VBN_ERR_ARGUMENT, "XRC without domain");
    attr.srq_type = VBN_SRQT_TM;
    GOT(srq_create_attr(&attr), VBN_ERR_NOT_SUPPORTED, "tags on a device without");
    WANT_TEXT("not supported by device");
    OK(vbn_cq_create(other, &cq_attr, &foreign));
    attr.cq = foreign;
    GOT(srq_create_attr(&attr), VBN_ERR_ARGUMENT, "cq of another context");
    close_kind(CQ, foreign);
    close_kind(CONTEXT, other);
}

static void bad_srq_query_more(void) {}
QUERY_ROW(srq_query, SRQ, vbn_srq_info,)

static const vbn_srq_modify_attr srq_limit = {.struct_size = sizeof srq_limit, .set = VBN_SRQ_SET_LIMIT, .limit = 1};

static vbn_status srq_modify_handle(void *srq) { return vbn_srq_modify(srq, &srq_limit); }
static vbn_status srq_modify_attr(void *attr) { return vbn_srq_modify(shared, attr); }
static void bad_srq_modify(void)
{
    vbn_srq_modify_attr attr = srq_limit;

    bad_handles(SRQ, srq_modify_handle);
    bad_input_struct(&srq_limit, sizeof(srq_limit), "vbn_srq_modify_attr", VBN_ERR_ARGUMENT, srq_modify_attr);
    attr.set = 0;
    GOT(srq_modify_attr(&attr), VBN_ERR_ARGUMENT, "nothing in set");
    for (int bit = 2; bit < 64; bit++) {
        attr.set = 1ull << bit;
        GOT(srq_modify_attr(&attr), VBN_ERR_ARGUMENT, "unknown bit in set");
        WANT_NUMBERS(attr.set, 3);
    }
    attr.set = VBN_SRQ_SET_MAX_WR;
    GOT(srq_modify_attr(&attr), VBN_ERR_ARGUMENT, "max_wr 0");
    attr.max_wr = 8193;
    GOT(srq_modify_attr(&attr), VBN_ERR_LIMIT, "max_wr above the device's");
    WANT_NUMBERS(8193, 8192);
}

static vbn_status srq_post_handle(void *srq)
{
    vbn_recv_wr wr = {0};
    uint32_t posted = 77;
    vbn_status status = vbn_srq_post_recv(srq, &wr, 1, &posted);

    MUST(posted == (status ? 0 : 1), "posted is %u after %s", posted, vbn_status_name(status));
    return status;
}
static void bad_srq_post_recv(void)
{
    vbn_recv_wr wr = {0};
    uint32_t posted = 77;

    bad_handles(SRQ, srq_post_handle);
    GOT(vbn_srq_post_recv(shared, &wr, 1, NULL), VBN_ERR_ARGUMENT, "NULL posted");
    GOT(vbn_srq_post_recv(shared, NULL, 1, &posted), VBN_ERR_ARGUMENT, "NULL array");
    MUST(!posted, "posted is %u", posted);
    GOT((posted = 77, vbn_srq_post_recv(shared, &wr, 0, &posted)), VBN_OK, "n 0");
    MUST(!posted, "posted is %u", posted);
    GOT((posted = 77, vbn_srq_post_recv(shared, NULL, 0, &posted)), VBN_OK, "nothing of nothing");
    MUST(!posted, "posted is %u", posted);
    GOT(vbn_srq_post_recv(NULL, NULL, 1, NULL), VBN_ERR_ARGUMENT, "everything NULL");
}

/* ---- Connecting by records that grow, multicast, the way back ---- */

static vbn_endpoint_info info_here, info_there;

static void renew_infos(void)
{
    renew();
    info_here = (vbn_endpoint_info){.struct_size = sizeof info_here};
    OK(vbn_endpoint_info_local(fresh, NULL, &info_here));
    info_there = info_here;
    info_there.qp_num ^= 1;
}
static vbn_status connect_info_handle(void *qp) { return vbn_qp_connect(qp, &info_here, &info_there, NULL); }
static vbn_status connect_info_attr(void *attr)
{
    renew_infos();
    return vbn_qp_connect(fresh, &info_here, &info_there, attr);
}
static vbn_status connect_info_local(void *info)
{
    return vbn_qp_connect(fresh, info, &info_there, NULL);
}
static vbn_status connect_info_remote(void *info)
{
    return vbn_qp_connect(fresh, &info_here, info, NULL);
}
static void bad_qp_connect(void)
{
    fresh = NULL;
    renew_infos();
    GOT(connect_info_handle(NULL), VBN_ERR_ARGUMENT, "NULL handle");
    GOT(connect_info_handle(g.cq), VBN_ERR_ARGUMENT, "handle of another type");
    GOT(connect_info_handle(closed(QP)), VBN_ERR_CLOSED, "closed handle");
    GOT(connect_info_handle(g.qp), VBN_ERR_ARGUMENT, "another queue pair's record");
    bad_rc_attr(connect_info_attr);
    renew_infos();
    bad_input_struct(&info_here, sizeof(info_here), "vbn_endpoint_info", VBN_ERR_ARGUMENT, connect_info_local);
    bad_input_struct(&info_there, sizeof(info_there), "vbn_endpoint_info", VBN_ERR_ARGUMENT, connect_info_remote);
    for (int side = 0; side < 2; side++) {
        vbn_endpoint_info *info = side ? &info_there : &info_here;

        renew_infos();
        info->psn = 0x1000000;
        GOT(connect_info_handle(fresh), VBN_ERR_ARGUMENT, "psn of 25 bits");
        renew_infos();
        info->set &= ~VBN_ENDPOINT_SET_PSN;
        GOT(connect_info_handle(fresh), VBN_ERR_ARGUMENT, "no psn");
        renew_infos();
        info->num_gids = 9;
        GOT(connect_info_handle(fresh), VBN_ERR_ARGUMENT, "9 GIDs");
        renew_infos();
        info->set |= 1ull << 63;
        GOT(connect_info_handle(fresh), VBN_ERR_ARGUMENT, "unknown bit in set");
        renew_infos();
        info->qp_type = VBN_QPT_UC;
        GOT(connect_info_handle(fresh), VBN_ERR_ARGUMENT, "another type");
        WANT_NUMBERS(VBN_MISMATCH_TRANSPORT, 0);
    }
    renew_infos();
    OK(vbn_qp_connect(fresh, &info_here, &info_there, NULL));
    close_kind(QP, fresh);
}

static const uint8_t group[16] = {0xff, 0x0e, [15] = 7};

static vbn_status attach_handle(void *qp)
{
    vbn_status status = vbn_qp_attach_mcast(qp, group, 0);

    /* The queue pair of the rig is RC. */
    if (qp == g.qp) {
        MUST(status == VBN_ERR_ARGUMENT, "an RC queue pair");
        return VBN_OK;
    }
    return status;
}
static vbn_status detach_handle(void *qp) { return vbn_qp_detach_mcast(qp, group, 0); }
static void bad_mcast(call *handle, vbn_status (*function)(vbn_qp *qp, const uint8_t *gid, uint16_t lid))
{
    static const uint8_t no_groups[][16] = {{0}, {0xfe, 0x80, [15] = 1}, {[10] = 0xff, 0xff, 192, 0, 2, 1}, {[10] = 0xff, 0xff, 0xdf, 255, 255, 255},
                                            {[10] = 0xff, 0xff, 0xf0, 0, 0, 1}, {1, [10] = 0xff, 0xff, 224, 0, 0, 1}};
    static const uint8_t of_ipv4[16] = {[10] = 0xff, 0xff, 239, 1, 2, 3};
    const char *own = op;

    op = "vbn_endpoint_local";
    prepare_ud();
    op = own;
    bad_handles(QP, handle);
    GOT(function(g.qp, group, 0), VBN_ERR_ARGUMENT, "an RC queue pair");
    WANT_TEXT("UD");
    GOT(function(prepared, NULL, 0), VBN_ERR_ARGUMENT, "NULL gid");
    for (size_t i = 0; i < ARRAY_SIZE(no_groups); i++) {
        GOT(function(prepared, no_groups[i], 0), VBN_ERR_ARGUMENT, "no group");
        WANT_TEXT("multicast");
    }
    GOT(function(prepared, of_ipv4, 0), VBN_OK, "a group of IPv4");
    GOT(function(prepared, group, UINT16_MAX), VBN_OK, "a group with a LID");
    close_kind(QP, prepared);
}
static void bad_qp_attach_mcast(void)
{
    op = "vbn_qp_attach_mcast";
    bad_mcast(attach_handle, vbn_qp_attach_mcast);
}
static void bad_qp_detach_mcast(void)
{
    op = "vbn_qp_detach_mcast";
    bad_mcast(detach_handle, vbn_qp_detach_mcast);
}

static vbn_wc datagram = {.opcode = VBN_WC_RECV, .wc_flags = VBN_WC_GRH};
static uint8_t header[44];

/* As if the first address of the port had been sent to, from itself. */
static void fill_header(void)
{
    OK(vbn_context_query_gid(g.context, 1, 0, header + 8));
    memcpy(header + 24, header + 8, 16);
    header[0] = 0x60;
}
static vbn_status close_ah(vbn_status status, vbn_ah *ah)
{
    MUST(status ? !ah : ah != NULL, "*out after %s", vbn_status_name(status));
    if (!status)
        OK(vbn_ah_close(&ah));
    return status;
}
static vbn_status from_wc_pd(void *pd)
{
    vbn_ah *ah = (void *)out_room;
    vbn_status status = vbn_ah_from_wc(pd, &datagram, header, 1, &ah);

    return close_ah(status, ah);
}
static vbn_status from_wc_wc(void *wc)
{
    vbn_ah *ah = (void *)out_room;
    vbn_status status = vbn_ah_from_wc(g.pd, wc, header, 1, &ah);

    return close_ah(status, ah);
}
static vbn_status from_wc_port(uint32_t port)
{
    vbn_ah *ah = (void *)out_room;
    vbn_status status = vbn_ah_from_wc(g.pd, &datagram, header, port, &ah);

    return close_ah(status, ah);
}
static vbn_status from_wc_out(void *out) { return vbn_ah_from_wc(g.pd, &datagram, header, 1, out); }
static void bad_ah_from_wc(void)
{
    vbn_ah *ah = (void *)out_room;
    vbn_wc wc = datagram;

    fill_header();
    op = "vbn_ah_from_wc";
    bad_handles(PD, from_wc_pd);
    bad_out(from_wc_out);
    bad_ports(from_wc_port);
    GOT(from_wc_wc(NULL), VBN_ERR_ARGUMENT, "NULL wc");
    GOT(from_wc_wc((char *)&wc + 1), VBN_ERR_ARGUMENT, "misaligned wc");
    wc.status = VBN_WC_WR_FLUSH_ERR;
    GOT(from_wc_wc(&wc), VBN_ERR_ARGUMENT, "a failed completion");
    wc = datagram;
    wc.opcode = VBN_WC_SEND;
    GOT(from_wc_wc(&wc), VBN_ERR_ARGUMENT, "the completion of a send");
    wc = datagram;
    wc.wc_flags = 0;
    GOT(from_wc_wc(&wc), VBN_ERR_ARGUMENT, "no GRH on RoCE");
    WANT_TEXT("VBN_WC_GRH");
    GOT(vbn_ah_from_wc(g.pd, &datagram, NULL, 1, &ah), VBN_ERR_ARGUMENT, "NULL grh");
    MUST(!ah, "*out");
    memmove(header + 3, header, 40);
    GOT(vbn_ah_from_wc(g.pd, &datagram, header + 3, 1, &ah), VBN_OK, "a GRH of any alignment");
    OK(vbn_ah_close(&ah));
    fill_header();
    header[39] ^= 1;
    GOT(from_wc_wc(&datagram), VBN_ERR_DRIVER, "a GRH that names no address of the port");
    WANT_TEXT("multicast");
    fill_header();
}

/* ---- Windows ---- */

CLOSE_ROW(mw, MW, vbn_mw)
static void bad_mw_query_more(void) {}
QUERY_ROW(mw_query, MW, vbn_mw_info, )
VALUE_ROW(mw_rkey, MW, 0)

static vbn_status mw_alloc_pd(void *pd) { CONSTRUCT(MW, vbn_mw_alloc(pd, VBN_MW_TYPE_1, NULL, out)); }
static vbn_status mw_alloc_attr(void *attr) { CONSTRUCT(MW, vbn_mw_alloc(g.pd, VBN_MW_TYPE_2, attr, out)); }
static vbn_status mw_alloc_type(int32_t type) { CONSTRUCT(MW, vbn_mw_alloc(g.pd, type, NULL, out)); }
static vbn_status mw_alloc_out(void *out) { return vbn_mw_alloc(g.pd, VBN_MW_TYPE_1, NULL, out); }
static void bad_mw_alloc(void)
{
    static const int32_t types[] = {INT32_MIN, -1, 0, 3, 255, INT32_MAX};
    NEW(vbn_mw_attr, attr);

    bad_handles(PD, mw_alloc_pd);
    bad_input_struct(&attr, sizeof(attr), "vbn_mw_attr", VBN_OK, mw_alloc_attr);
    bad_out(mw_alloc_out);
    for (size_t i = 0; i < ARRAY_SIZE(types); i++)
        GOT(mw_alloc_type(types[i]), VBN_ERR_ARGUMENT, "type");
}

static vbn_status set_rkey_handle(void *handle) { return vbn_mw_set_rkey(handle, vbn_mw_rkey(live(MW))); }
static void bad_mw_set_rkey(void)
{
    uint32_t rkey = vbn_mw_rkey(live(MW));

    bad_handles(MW, set_rkey_handle);
    for (int bit = 8; bit < 32; bit++) {
        GOT(vbn_mw_set_rkey(live(MW), rkey ^ 1u << bit), VBN_ERR_ARGUMENT, "a key of another window");
        WANT_NUMBERS(rkey ^ 1u << bit, rkey);
    }
    MUST(vbn_mw_rkey(live(MW)) == rkey, "a refused key was taken");
}

static vbn_mw_bind_attr bind_attr;
static vbn_status bind_qp(void *qp) { return vbn_mw_bind(qp, live(MW), &bind_attr, NULL); }
static vbn_status bind_mw(void *mw) { return vbn_mw_bind(g.qp, mw, &bind_attr, NULL); }
static vbn_status bind_with(void *attr) { return vbn_mw_bind(g.qp, live(MW), attr, NULL); }
static vbn_status bind_mr(void *mr)
{
    vbn_mw_bind_attr attr = bind_attr;

    attr.mr = mr;
    return bind_with(&attr);
}
static void bad_mw_bind(void)
{
    vbn_mw_bind_attr attr;
    vbn_mr *bindable, *other_mr;
    vbn_pd *other;
    uint32_t rkey = 77;

    OK(vbn_mr_reg(g.pd, rig_memory, 64, VBN_ACCESS_MW_BIND, NULL, &bindable));
    OK(vbn_pd_alloc(g.context, NULL, &other));
    OK(vbn_mr_reg(other, rig_memory, 64, VBN_ACCESS_MW_BIND, NULL, &other_mr));
    bind_attr = (vbn_mw_bind_attr){.struct_size = sizeof(attr), .mr = bindable, .addr = (uintptr_t)rig_memory, .length = 64};
    bad_handles(QP, bind_qp);
    bad_handles(MW, bind_mw);
    bad_input_struct(&bind_attr, sizeof(attr), "vbn_mw_bind_attr", VBN_ERR_ARGUMENT, bind_with);
    GOT(bind_mr(NULL), VBN_ERR_ARGUMENT, "NULL region");
    GOT(bind_mr(g.mr), VBN_ERR_ARGUMENT, "a region without VBN_ACCESS_MW_BIND");
    GOT(bind_mr(other_mr), VBN_ERR_ARGUMENT, "a region of another PD");
    GOT(bind_mr(g.pd), VBN_ERR_ARGUMENT, "a PD for a region");
    GOT(bind_mr(closed(MR)), VBN_ERR_CLOSED, "a closed region");
    GOT(vbn_mw_bind(g.qp, live(MW), &bind_attr, (uint32_t *)(void *)(out_room + 1)), VBN_ERR_ARGUMENT, "misaligned output");
    for (int bit = 0; bit < 64; bit++) {
        attr = bind_attr;
        attr.flags = 1ull << bit;
        GOT(bind_with(&attr), bit < 2 ? VBN_OK : VBN_ERR_ARGUMENT, "bits of flags");
        attr.flags = 0;
        attr.access = 1ull << bit;
        /* REMOTE_READ alone: the region can't be written. */
        GOT(bind_with(&attr), bit == 2 ? VBN_OK : VBN_ERR_ARGUMENT, "bits of access");
    }
    for (uint64_t length = 65; length; length *= 2) {
        attr = bind_attr;
        attr.length = length;
        GOT(bind_with(&attr), VBN_ERR_ARGUMENT, "length beyond the region");
    }
    attr = bind_attr;
    attr.addr--;
    GOT(bind_with(&attr), VBN_ERR_ARGUMENT, "addr before the region");
    attr.length = UINT64_MAX;
    attr.addr = UINT64_MAX;
    GOT(bind_with(&attr), VBN_ERR_ARGUMENT, "the end of the address space");
    GOT(vbn_mw_bind(g.qp, live(MW), &bind_attr, &rkey), VBN_OK, "a good one");
    MUST(rkey == vbn_mw_rkey(live(MW)), "rkey_out 0x%x", rkey);
    OK(vbn_mr_close(&other_mr));
    OK(vbn_pd_close(&other));
    OK(vbn_mr_close(&bindable));
}

/* ---- The connection manager ---- */

#include "bad_cm.h"
#include "bad_gpu.h"

/* ---- What few devices have ---- */

static vbn_cq_modify_attr good_moderation = {.struct_size = sizeof(good_moderation), .set = VBN_CQ_SET_MODERATION, .moderation_count = 3};
static vbn_status cq_modify_cq(void *cq) { return vbn_cq_modify(cq, &good_moderation); }
static vbn_status cq_modify_attr(void *attr) { return vbn_cq_modify(g.cq, attr); }
static void bad_cq_modify(void)
{
    vbn_cq_modify_attr attr = good_moderation;

    bad_handles(CQ, cq_modify_cq);
    bad_input_struct(&attr, sizeof(attr), "vbn_cq_modify_attr", VBN_ERR_ARGUMENT, cq_modify_attr);
    attr.set = 0;
    GOT(cq_modify_attr(&attr), VBN_ERR_ARGUMENT, "nothing to change");
    for (int bit = 1; bit < 64; bit++) {
        attr.set = VBN_CQ_SET_MODERATION | 1ull << bit;
        GOT(cq_modify_attr(&attr), VBN_ERR_ARGUMENT, "unknown bit in set");
        WANT_NUMBERS(1ull << bit, 1);
    }
    for (uint32_t above = 65536; above; above *= 2) {
        attr = good_moderation;
        attr.moderation_count = above;
        GOT(cq_modify_attr(&attr), VBN_ERR_LIMIT, "moderation_count");
        attr.moderation_count = 0;
        attr.moderation_period_us = above;
        GOT(cq_modify_attr(&attr), VBN_ERR_LIMIT, "moderation_period_us");
    }
}

static vbn_status cq_resize_cq(void *cq) { return vbn_cq_resize(cq, 8); }
static void bad_cq_resize(void)
{
    uint32_t most = (uint32_t)null.device_attr()->orig_attr.max_cqe;

    bad_handles(CQ, cq_resize_cq);
    GOT(vbn_cq_resize(g.cq, 0), VBN_ERR_ARGUMENT, "cqe 0");
    GOT(vbn_cq_resize(g.cq, most), VBN_OK, "cqe max_cqe");
    GOT(vbn_cq_resize(g.cq, most + 1), VBN_ERR_LIMIT, "cqe above max_cqe");
    WANT_NUMBERS(most + 1, most);
    GOT(vbn_cq_resize(g.cq, UINT32_MAX), VBN_ERR_LIMIT, "cqe UINT32_MAX");
}

static vbn_status mr_alloc_null_pd(void *pd) { CONSTRUCT(MR, vbn_mr_alloc_null(pd, NULL, out)); }
static vbn_status mr_alloc_null_attr(void *attr) { CONSTRUCT(MR, vbn_mr_alloc_null(g.pd, attr, out)); }
static vbn_status mr_alloc_null_out(void *out) { return vbn_mr_alloc_null(g.pd, NULL, out); }
static void bad_mr_alloc_null(void)
{
    NEW(vbn_mr_attr, attr);

    bad_handles(PD, mr_alloc_null_pd);
    bad_input_struct(&attr, sizeof(attr), "vbn_mr_attr", VBN_OK, mr_alloc_null_attr);
    bad_out(mr_alloc_null_out);
    for (int bit = 0; bit < 64; bit++) {
        attr.set = 1ull << bit;
        GOT(mr_alloc_null_attr(&attr), VBN_ERR_ARGUMENT, "bit in set");
    }
}

static vbn_mr_rereg_attr rereg_attr;
static vbn_status rereg_mr(void *mr) { return vbn_mr_rereg(mr, &rereg_attr); }
static vbn_status rereg_with(void *attr) { return vbn_mr_rereg(g.mr, attr); }
static vbn_status rereg_pd(void *pd)
{
    vbn_mr_rereg_attr attr = rereg_attr;

    attr.pd = pd;
    return rereg_with(&attr);
}
static void bad_mr_rereg(void)
{
    vbn_mr_rereg_attr attr;
    vbn_context *context;
    vbn_pd *foreign;

    rereg_attr = (vbn_mr_rereg_attr){.struct_size = sizeof(attr), .set = 7, .pd = g.pd, .addr = rig_memory, .length = 64};
    bad_handles(MR, rereg_mr);
    bad_handles(PD, rereg_pd);
    bad_input_struct(&rereg_attr, sizeof(attr), "vbn_mr_rereg_attr", VBN_ERR_ARGUMENT, rereg_with);
    OK(vbn_context_open("null1", NULL, &context));
    OK(vbn_pd_alloc(context, NULL, &foreign));
    GOT(rereg_pd(foreign), VBN_ERR_ARGUMENT, "a PD of another context");
    WANT_TEXT("another context");
    OK(vbn_pd_close(&foreign));
    OK(vbn_context_close(&context));
    attr = rereg_attr;
    attr.set = 0;
    GOT(rereg_with(&attr), VBN_ERR_ARGUMENT, "nothing to change");
    for (int bit = 3; bit < 64; bit++) {
        attr.set = 7 | 1ull << bit;
        GOT(rereg_with(&attr), VBN_ERR_ARGUMENT, "unknown bit in set");
        WANT_NUMBERS(1ull << bit, 7);
    }
    attr = rereg_attr;
    attr.addr = NULL;
    GOT(rereg_with(&attr), VBN_ERR_ARGUMENT, "NULL memory");
    attr = rereg_attr;
    attr.length = 0;
    GOT(rereg_with(&attr), VBN_ERR_ARGUMENT, "length 0");
    attr.length = UINT64_MAX;
    GOT(rereg_with(&attr), VBN_ERR_ARGUMENT, "length that runs past 2^64");
    attr = rereg_attr;
    for (size_t i = 0; i < ARRAY_SIZE(unknown_access); i++) {
        attr.access = unknown_access[i];
        GOT(rereg_with(&attr), VBN_ERR_ARGUMENT, "unknown access flag");
    }
    attr.access = VBN_ACCESS_REMOTE_WRITE;
    GOT(rereg_with(&attr), VBN_ERR_ARGUMENT, "REMOTE_WRITE without LOCAL_WRITE");
    attr.access = VBN_ACCESS_ZERO_BASED;
    GOT(rereg_with(&attr), VBN_ERR_ARGUMENT, "ZERO_BASED");
    /* What isn't named isn't looked at. */
    attr = (vbn_mr_rereg_attr){.struct_size = sizeof(attr), .set = VBN_MR_REREG_ACCESS, .pd = (vbn_pd *)(void *)(out_room + 1)};
    GOT(rereg_with(&attr), VBN_OK, "access alone");
}

static const vbn_sge advice_sge = {0x1000, 8, 7};
static vbn_status advise_pd(void *pd) { return vbn_mr_advise(pd, VBN_ADVISE_PREFETCH, 0, &advice_sge, 1); }
static void bad_mr_advise(void)
{
    bad_handles(PD, advise_pd);
    GOT(vbn_mr_advise(g.pd, -1, 0, &advice_sge, 1), VBN_ERR_ARGUMENT, "advice -1");
    GOT(vbn_mr_advise(g.pd, 3, 0, &advice_sge, 1), VBN_ERR_ARGUMENT, "advice 3");
    GOT(vbn_mr_advise(g.pd, INT32_MIN, 0, &advice_sge, 1), VBN_ERR_ARGUMENT, "advice INT32_MIN");
    for (int bit = 1; bit < 32; bit++) {
        GOT(vbn_mr_advise(g.pd, 0, 1u << bit, &advice_sge, 1), VBN_ERR_ARGUMENT, "unknown flag");
        WANT_NUMBERS(1u << bit, 1);
    }
    GOT(vbn_mr_advise(g.pd, 0, 0, &advice_sge, 0), VBN_ERR_ARGUMENT, "no segment");
    GOT(vbn_mr_advise(g.pd, 0, 0, NULL, 1), VBN_ERR_ARGUMENT, "NULL segments");
    GOT(vbn_mr_advise(g.pd, 0, 0, (const vbn_sge *)(const void *)(out_room + 1), 1), VBN_ERR_ARGUMENT, "misaligned segments");
}

CLOSE_ROW(td, TD, vbn_td)
CLOSE_ROW(dm, DM, vbn_dm)

static struct ibv_td *native_td(void)
{
    struct ibv_td *native;

    MUST(!vbn_td_native(live(TD), &native), "vbn_td_native");
    return native;
}

static struct ibv_dm *native_dm(void)
{
    struct ibv_dm *native;

    MUST(!vbn_dm_native(live(DM), &native), "vbn_dm_native");
    return native;
}

static struct ibv_mw *native_mw(void)
{
    struct ibv_mw *native;

    MUST(!vbn_mw_native(live(MW), &native), "vbn_mw_native");
    return native;
}

ADOPT_ROW(td, TD, CONTEXT, native_td(), struct ibv_td)
ADOPT_ROW(mw, MW, PD, native_mw(), struct ibv_mw)

/* With the length of live(DM). */
static vbn_status vbn_whole_dm_adopt(vbn_context *context, struct ibv_dm *native, const vbn_adopt_attr *attr, vbn_dm **out)
{
    return vbn_dm_adopt(context, native, 100, attr, out);
}
ADOPT_ROW(whole_dm, DM, CONTEXT, native_dm(), struct ibv_dm)
static void bad_dm_adopt(void)
{
    struct ibv_dm *native = native_dm();
    vbn_context *context;
    vbn_dm *out;

    bad_whole_dm_adopt();
    GOT(vbn_dm_adopt(g.context, native, 0, NULL, &out), VBN_ERR_ARGUMENT, "length 0");
    context = make(CONTEXT);
    GOT(vbn_dm_adopt(context, native, 100, NULL, &out), VBN_ERR_ARGUMENT, "memory of another context");
    WANT_TEXT("another ibv_context");
    close_kind(CONTEXT, context);
}

static void bad_dm_query_more(void) {}
QUERY_ROW(dm_query, DM, vbn_dm_info, )

static const vbn_dm_attr good_dm = {.struct_size = sizeof(good_dm), .length = 64};
static vbn_status dm_alloc_context(void *context) { CONSTRUCT(DM, vbn_dm_alloc(context, &good_dm, out)); }
static vbn_status dm_alloc_attr(void *attr) { CONSTRUCT(DM, vbn_dm_alloc(g.context, attr, out)); }
static vbn_status dm_alloc_out(void *out) { return vbn_dm_alloc(g.context, &good_dm, out); }
static void bad_dm_alloc(void)
{
    uint64_t most = null.device_attr()->max_dm_size;
    vbn_dm_attr attr = good_dm;

    bad_handles(CONTEXT, dm_alloc_context);
    bad_input_struct(&attr, sizeof(attr), "vbn_dm_attr", VBN_ERR_ARGUMENT, dm_alloc_attr);
    bad_out(dm_alloc_out);
    attr.reserved0 = 1;
    GOT(dm_alloc_attr(&attr), VBN_ERR_ARGUMENT, "reserved0");
    attr = good_dm;
    attr.log_align = 64;
    GOT(dm_alloc_attr(&attr), VBN_ERR_ARGUMENT, "log_align 64");
    attr = good_dm;
    attr.length = 0;
    GOT(dm_alloc_attr(&attr), VBN_ERR_ARGUMENT, "length 0");
    attr.length = most;
    GOT(dm_alloc_attr(&attr), VBN_OK, "length max_dm_size");
    attr.length = most + 1;
    GOT(dm_alloc_attr(&attr), VBN_ERR_LIMIT, "length above max_dm_size");
    WANT_NUMBERS(most + 1, most);
    attr.length = UINT64_MAX;
    GOT(dm_alloc_attr(&attr), VBN_ERR_LIMIT, "length UINT64_MAX");
}

static char dm_bytes[200];
static vbn_status copy_to(uint64_t offset, size_t length) { return vbn_dm_copy_to(live(DM), offset, dm_bytes, length); }
static vbn_status copy_from(uint64_t offset, size_t length) { return vbn_dm_copy_from(live(DM), offset, dm_bytes, length); }
static vbn_status copy_to_dm(void *dm) { return vbn_dm_copy_to(dm, 0, dm_bytes, 8); }
static vbn_status copy_from_dm(void *dm) { return vbn_dm_copy_from(dm, 0, dm_bytes, 8); }

/* Ranges of memory of 100 bytes. */
static void bad_ranges(vbn_status (*with)(uint64_t offset, size_t length))
{
    GOT(with(0, 100), VBN_OK, "all of it");
    GOT(with(99, 1), VBN_OK, "the last byte");
    GOT(with(0, 0), VBN_ERR_ARGUMENT, "nothing");
    GOT(with(0, 101), VBN_ERR_ARGUMENT, "one too many");
    WANT_NUMBERS(101, 100);
    GOT(with(99, 2), VBN_ERR_ARGUMENT, "beyond the end");
    WANT_NUMBERS(2, 1);
    GOT(with(100, 1), VBN_ERR_ARGUMENT, "behind the end");
    GOT(with(UINT64_MAX, 2), VBN_ERR_ARGUMENT, "offset UINT64_MAX");
    GOT(with(8, SIZE_MAX / 4), VBN_ERR_ARGUMENT, "huge length");
}

static void bad_dm_copy_to(void)
{
    bad_handles(DM, copy_to_dm);
    bad_ranges(copy_to);
    GOT(vbn_dm_copy_to(live(DM), 0, NULL, 8), VBN_ERR_ARGUMENT, "NULL bytes");
}

static void bad_dm_copy_from(void)
{
    bad_handles(DM, copy_from_dm);
    bad_ranges(copy_from);
    GOT(vbn_dm_copy_from(live(DM), 0, NULL, 8), VBN_ERR_ARGUMENT, "NULL bytes");
}

static vbn_status reg_dm_pd(void *pd) { CONSTRUCT(MR, vbn_mr_reg_dm(pd, live(DM), 0, 8, 0, NULL, out)); }
static vbn_status reg_dm_dm(void *dm) { CONSTRUCT(MR, vbn_mr_reg_dm(g.pd, dm, 0, 8, 0, NULL, out)); }
static vbn_status reg_dm_attr(void *attr) { CONSTRUCT(MR, vbn_mr_reg_dm(g.pd, live(DM), 0, 8, 0, attr, out)); }
static vbn_status reg_dm_range(uint64_t offset, size_t length) { CONSTRUCT(MR, vbn_mr_reg_dm(g.pd, live(DM), offset, length, 0, NULL, out)); }
static vbn_status reg_dm_out(void *out) { return vbn_mr_reg_dm(g.pd, live(DM), 0, 8, 0, NULL, out); }
static void bad_mr_reg_dm(void)
{
    NEW(vbn_mr_attr, attr);
    vbn_context *context;
    vbn_pd *foreign;
    vbn_mr *mr;

    bad_handles(PD, reg_dm_pd);
    bad_handles(DM, reg_dm_dm);
    bad_input_struct(&attr, sizeof(attr), "vbn_mr_attr", VBN_OK, reg_dm_attr);
    bad_out(reg_dm_out);
    bad_ranges(reg_dm_range);
    attr.set = VBN_MR_SET_IOVA;
    GOT(reg_dm_attr(&attr), VBN_ERR_ARGUMENT, "an iova");
    for (size_t i = 0; i < ARRAY_SIZE(unknown_access); i++)
        GOT(vbn_mr_reg_dm(g.pd, live(DM), 0, 8, unknown_access[i], NULL, &mr), VBN_ERR_ARGUMENT, "unknown access flag");
    OK(vbn_context_open("null1", NULL, &context));
    OK(vbn_pd_alloc(context, NULL, &foreign));
    GOT(reg_dm_pd(foreign), VBN_ERR_ARGUMENT, "dm of another context");
    WANT_TEXT("another context");
    OK(vbn_pd_close(&foreign));
    OK(vbn_context_close(&context));
}

/* The null provider imports nothing; what is wrong is refused before it is asked. */
static const vbn_dm_attr dm_there = {.struct_size = sizeof(dm_there), .length = 64};
static vbn_status dm_import_with(vbn_context *context, const vbn_dm_attr *attr)
{
    vbn_dm *dm = (void *)out_room;
    vbn_status status = vbn_dm_import(context, 1, attr, &dm);

    MUST(status && !dm, "*out");
    return status;
}
/* As far as it goes with a good struct. */
static vbn_status reached(vbn_status status) { return status == VBN_ERR_NOT_SUPPORTED ? VBN_OK : status; }
static vbn_status dm_import_attr(void *attr) { return reached(dm_import_with(g.context, attr)); }
static vbn_status dm_import_context(void *context) { return dm_import_with(context, &dm_there); }
static vbn_status dm_import_out(void *out) { return vbn_dm_import(g.context, 1, &dm_there, out); }
static void bad_dm_import(void)
{
    vbn_dm_attr attr = dm_there;

    bad_handles(CONTEXT, dm_import_context);
    bad_out(dm_import_out);
    bad_input_struct(&attr, sizeof(attr), "vbn_dm_attr", VBN_ERR_ARGUMENT, dm_import_attr);
    attr.length = 0;
    GOT(dm_import_with(g.context, &attr), VBN_ERR_ARGUMENT, "length 0");
    attr = dm_there;
    attr.log_align = 1;
    GOT(dm_import_with(g.context, &attr), VBN_ERR_ARGUMENT, "log_align");
    attr = dm_there;
    attr.reserved0 = 1;
    GOT(dm_import_with(g.context, &attr), VBN_ERR_ARGUMENT, "reserved0");
    GOT(dm_import_with(g.context, &dm_there), VBN_ERR_NOT_SUPPORTED, "a driver that can't");
}

static vbn_status td_alloc_context(void *context) { CONSTRUCT(TD, vbn_td_alloc(context, NULL, out)); }
static vbn_status td_alloc_attr(void *attr) { CONSTRUCT(TD, vbn_td_alloc(g.context, attr, out)); }
static vbn_status td_alloc_out(void *out) { return vbn_td_alloc(g.context, NULL, out); }
static void bad_td_alloc(void)
{
    NEW(vbn_td_attr, attr);

    bad_handles(CONTEXT, td_alloc_context);
    bad_input_struct(&attr, sizeof(attr), "vbn_td_attr", VBN_OK, td_alloc_attr);
    bad_out(td_alloc_out);
    attr.reserved0 = 1;
    GOT(td_alloc_attr(&attr), VBN_ERR_ARGUMENT, "reserved0");
}

static vbn_status parent_pd(void *pd) { CONSTRUCT(PD, vbn_pd_alloc_parent(pd, live(TD), NULL, out)); }
static vbn_status parent_td(void *td) { CONSTRUCT(PD, vbn_pd_alloc_parent(g.pd, td, NULL, out)); }
static vbn_status parent_attr(void *attr) { CONSTRUCT(PD, vbn_pd_alloc_parent(g.pd, NULL, attr, out)); }
static vbn_status parent_out(void *out) { return vbn_pd_alloc_parent(g.pd, NULL, NULL, out); }
static void bad_pd_alloc_parent(void)
{
    NEW(vbn_pd_attr, attr);
    vbn_context *context;
    vbn_td *td;
    vbn_pd *parent;

    bad_handles(PD, parent_pd);
    for (enum kind other = 0; other < KINDS; other++)
        if (other != TD)
            GOT(parent_td(live(other)), VBN_ERR_ARGUMENT, "td of another type");
    GOT(parent_td(closed(TD)), VBN_ERR_CLOSED, "closed td");
    GOT(parent_td(NULL), VBN_OK, "no td");
    bad_input_struct(&attr, sizeof(attr), "vbn_pd_attr", VBN_OK, parent_attr);
    bad_out(parent_out);
    OK(vbn_context_open("null1", NULL, &context));
    OK(vbn_td_alloc(context, NULL, &td));
    GOT(parent_td(td), VBN_ERR_ARGUMENT, "td of another context");
    WANT_TEXT("another context");
    OK(vbn_td_close(&td));
    OK(vbn_context_close(&context));
    OK(vbn_pd_alloc_parent(g.pd, NULL, NULL, &parent));
    GOT(parent_pd(parent), VBN_ERR_ARGUMENT, "a parent domain's parent domain");
    OK(vbn_pd_close(&parent));
}

/* The null provider imports nothing; what is wrong is refused before it is asked. */
static vbn_status pd_import_context(void *context)
{
    vbn_pd *pd = (void *)out_room;
    vbn_status status = vbn_pd_import(context, 1, NULL, &pd);

    MUST(status && !pd, "*out");
    return status;
}
static vbn_status pd_import_attr(void *attr)
{
    vbn_pd *pd;

    return reached(vbn_pd_import(g.context, 1, attr, &pd));
}
static vbn_status pd_import_out(void *out) { return vbn_pd_import(g.context, 1, NULL, out); }
static void bad_pd_import(void)
{
    NEW(vbn_pd_attr, attr);
    vbn_pd *pd;

    bad_handles(CONTEXT, pd_import_context);
    bad_out(pd_import_out);
    GOT(vbn_pd_import(g.context, 1, &attr, &pd), VBN_ERR_NOT_SUPPORTED, "a good struct");
    bad_input_struct(&attr, sizeof(attr), "vbn_pd_attr", VBN_OK, pd_import_attr);
}

static const vbn_mr_attr import_attr = {.struct_size = sizeof(import_attr), .set = VBN_MR_SET_IOVA, .iova = 4096};
static vbn_status mr_import_pd(void *pd)
{
    vbn_mr *mr = (void *)out_room;
    vbn_status status = vbn_mr_import(pd, 1, &import_attr, &mr);

    MUST(status && !mr, "*out");
    return status;
}
static vbn_status mr_import_attr(void *attr)
{
    vbn_mr *mr;

    return reached(vbn_mr_import(g.pd, 1, attr, &mr));
}
static vbn_status mr_import_out(void *out) { return vbn_mr_import(g.pd, 1, &import_attr, out); }
static void bad_mr_import(void)
{
    vbn_mr_attr attr = import_attr;
    vbn_mr *mr;

    bad_handles(PD, mr_import_pd);
    bad_out(mr_import_out);
    GOT(vbn_mr_import(g.pd, 1, &attr, &mr), VBN_ERR_NOT_SUPPORTED, "a good struct");
    bad_input_struct(&attr, sizeof(attr), "vbn_mr_attr", VBN_ERR_ARGUMENT, mr_import_attr);
    attr.set = 0;
    GOT(vbn_mr_import(g.pd, 1, &attr, &mr), VBN_ERR_ARGUMENT, "no iova");
    attr.set = 3;
    GOT(vbn_mr_import(g.pd, 1, &attr, &mr), VBN_ERR_ARGUMENT, "unknown bit in set");
    WANT_NUMBERS(2, 1);
}

static vbn_status context_import_attr(void *attr)
{
    vbn_context *context;

    return reached(vbn_context_import(0, attr, &context));
}
static vbn_status context_import_out(void *out) { return vbn_context_import(0, NULL, out); }
static void bad_context_import(void)
{
    NEW(vbn_context_attr, attr);
    vbn_context *context;

    bad_out(context_import_out);
    GOT(vbn_context_import(-1, NULL, &context), VBN_ERR_ARGUMENT, "fd -1");
    GOT(vbn_context_import(INT_MIN, NULL, &context), VBN_ERR_ARGUMENT, "fd INT_MIN");
    GOT(vbn_context_import(INT_MAX, NULL, &context), VBN_ERR_DRIVER, "a closed fd");
    WANT_ERRNO(EBADF);
    GOT(vbn_context_import(0, &attr, &context), VBN_ERR_NOT_SUPPORTED, "a good struct");
    bad_input_struct(&attr, sizeof(attr), "vbn_context_attr", VBN_OK, context_import_attr);
}

static vbn_status context_export_context(void *context)
{
    int32_t fd = 77;
    vbn_status status = vbn_context_export(context, &fd);

    MUST(status ? fd == -1 : fd > 2, "fd %d after %s", fd, vbn_status_name(status));
    if (!status)
        close(fd);
    return status;
}
static vbn_status context_export_out(void *fd) { return vbn_context_export(g.context, fd); }
static void bad_context_export(void)
{
    bad_handles(CONTEXT, context_export_context);
    bad_out(context_export_out);
}

static void bad_context_query_rt_values_more(void) {}
static void bad_qp_query_ece_more(void) {}
QUERY_ROW(context_query_rt_values, CONTEXT, vbn_rt_values, )
QUERY_ROW(qp_query_ece, QP, vbn_ece, )

static const vbn_ece good_ece = {.struct_size = sizeof(good_ece), .vendor_id = 0x15b3, .options = 1};
static vbn_status set_ece_qp(void *qp) { return vbn_qp_set_ece(qp, &good_ece); }
static vbn_status set_ece_with(void *ece) { return vbn_qp_set_ece(g.qp, ece); }
static void bad_qp_set_ece(void)
{
    vbn_ece ece = good_ece;

    bad_handles(QP, set_ece_qp);
    bad_input_struct(&ece, sizeof(ece), "vbn_ece", VBN_ERR_ARGUMENT, set_ece_with);
    ece.reserved0 = 1;
    GOT(set_ece_with(&ece), VBN_ERR_ARGUMENT, "reserved0");
    ece = good_ece;
    ece.vendor_id = 0;
    GOT(set_ece_with(&ece), VBN_ERR_ARGUMENT, "no vendor");
    WANT_TEXT("vendor_id");
}

static vbn_status in_order_qp(void *qp)
{
    uint32_t caps = 77;
    vbn_status status = vbn_qp_data_in_order(qp, VBN_WR_SEND, 0, &caps);

    MUST(!status == !!caps && caps < 4, "caps %u after %s", caps, vbn_status_name(status));
    return status;
}
static vbn_status in_order_out(void *caps) { return vbn_qp_data_in_order(g.qp, VBN_WR_SEND, 0, caps); }
static void bad_qp_data_in_order(void)
{
    static const uint32_t opcodes[] = {16, 255, 0x10000, UINT32_MAX};
    uint32_t caps;

    bad_handles(QP, in_order_qp);
    bad_out(in_order_out);
    for (size_t i = 0; i < ARRAY_SIZE(opcodes); i++)
        GOT(vbn_qp_data_in_order(g.qp, opcodes[i], 0, &caps), VBN_ERR_ARGUMENT, "unknown opcode");
    for (int bit = 0; bit < 32; bit++)
        GOT(vbn_qp_data_in_order(g.qp, VBN_WR_SEND, 1u << bit, &caps), bit == 1 ? VBN_OK : VBN_ERR_ARGUMENT, "flags");
}

static const vbn_qp_rate_limit_attr good_rate = {.struct_size = sizeof(good_rate), .rate_limit = 1000};
static vbn_status rate_limit_qp(void *qp) { return vbn_qp_modify_rate_limit(qp, &good_rate); }
static vbn_status rate_limit_with(void *attr) { return vbn_qp_modify_rate_limit(g.qp, attr); }
static void bad_qp_modify_rate_limit(void)
{
    vbn_qp_rate_limit_attr attr = good_rate;

    bad_handles(QP, rate_limit_qp);
    bad_input_struct(&attr, sizeof(attr), "vbn_qp_rate_limit_attr", VBN_ERR_ARGUMENT, rate_limit_with);
    attr.reserved0 = 1;
    GOT(rate_limit_with(&attr), VBN_ERR_ARGUMENT, "reserved0");
    attr = good_rate;
    attr.reserved1 = 1;
    GOT(rate_limit_with(&attr), VBN_ERR_ARGUMENT, "reserved1");
}

/* ---- Steering: by functions of null_flow.h ---- */

CLOSE_ROW(flow, FLOW, vbn_flow)
CLOSE_ROW(counters, COUNTERS, vbn_counters)

static struct ibv_flow *native_flow(void)
{
    struct ibv_flow *native;

    MUST(!vbn_flow_native(live(FLOW), &native), "vbn_flow_native");
    return native;
}

static struct ibv_counters *native_counters(void)
{
    struct ibv_counters *native;

    MUST(!vbn_counters_native(live(COUNTERS), &native), "vbn_counters_native");
    return native;
}

ADOPT_ROW(flow, FLOW, QP, native_flow(), struct ibv_flow)
ADOPT_ROW(counters, COUNTERS, CONTEXT, native_counters(), struct ibv_counters)

static vbn_status flow_create_qp(void *qp) { CONSTRUCT(FLOW, vbn_flow_create(qp, NULL, NULL, 0, out)); }
static vbn_status flow_create_attr(void *attr) { CONSTRUCT(FLOW, vbn_flow_create(g.qp, attr, NULL, 0, out)); }
static vbn_status flow_create_specs(void *specs) { CONSTRUCT(FLOW, vbn_flow_create(g.qp, NULL, specs, 1, out)); }
static vbn_status flow_create_out(void *out) { return vbn_flow_create(g.qp, NULL, NULL, 0, out); }
static vbn_status flow_create_counters(void *counters)
{
    vbn_flow_spec spec = {.type = VBN_FLOW_SPEC_ACTION_COUNT, .counters = counters};

    return flow_create_specs(&spec);
}
static void bad_flow_create(void)
{
    static const int32_t types[] = {0, -1, 1, 0x21, 0x33, 0x100, 0x150, 0x151, 0x1002, 0x1004, 0x1100, 0x1101, 0x1103, 0x220, INT32_MIN, INT32_MAX};
    NEW(vbn_flow_attr, attr);
    vbn_context *context;
    struct ibv_context *raw;
    vbn_counters *foreign;
    vbn_flow_spec spec;

    bad_handles(QP, flow_create_qp);
    bad_input_struct(&attr, sizeof(attr), "vbn_flow_attr", VBN_OK, flow_create_attr);
    bad_out(flow_create_out);
    GOT(flow_create_specs(NULL), VBN_ERR_ARGUMENT, "NULL specs");
    GOT(flow_create_specs(out_room + 1), VBN_ERR_ARGUMENT, "misaligned specs");
    for (int i = 0; i < 5; i++) {
        NEW(vbn_flow_attr, other);
        other.reserved0[i] = 1;
        GOT(flow_create_attr(&other), VBN_ERR_ARGUMENT, "reserved0");
    }
    attr.type = 4;
    GOT(flow_create_attr(&attr), VBN_ERR_ARGUMENT, "type 4");
    attr.type = -1;
    GOT(flow_create_attr(&attr), VBN_ERR_ARGUMENT, "type -1");
    attr.type = 0;
    for (int bit = 0; bit < 32; bit++) {
        attr.flags = 1u << bit;
        GOT(flow_create_attr(&attr), bit == 1 || bit == 2 ? VBN_OK : VBN_ERR_ARGUMENT, "flags");
    }
    attr.flags = 0;
    attr.port_num = 2;
    GOT(flow_create_attr(&attr), VBN_ERR_LIMIT, "port 2 of 1");
    for (size_t i = 0; i < ARRAY_SIZE(types); i++) {
        spec = (vbn_flow_spec){.type = types[i]};
        GOT(flow_create_specs(&spec), VBN_ERR_ARGUMENT, "type of a spec");
        MUST(last()->index == 0, "index");
    }
    for (int i = 0; i < 4; i++) {
        spec = (vbn_flow_spec){.type = VBN_FLOW_SPEC_ACTION_DROP};
        spec.reserved[i] = 1;
        GOT(flow_create_specs(&spec), VBN_ERR_ARGUMENT, "reserved");
    }
    spec = (vbn_flow_spec){.type = VBN_FLOW_SPEC_ETH, .tag = 1};
    GOT(flow_create_specs(&spec), VBN_ERR_ARGUMENT, "tag of a header");
    spec = (vbn_flow_spec){.type = VBN_FLOW_SPEC_ACTION_DROP, .counters = live(COUNTERS)};
    GOT(flow_create_specs(&spec), VBN_ERR_ARGUMENT, "counters of a drop");
    bad_handles(COUNTERS, flow_create_counters);
    GOT(flow_create_counters(live(COUNTERS)), VBN_OK, "counters");
    OK(vbn_context_open("null1", NULL, &context));
    OK(vbn_context_native(context, &raw));
    steer(raw);
    OK(vbn_counters_create(context, NULL, &foreign));
    GOT(flow_create_counters(foreign), VBN_ERR_ARGUMENT, "counters of another context");
    WANT_TEXT("another context");
    OK(vbn_counters_close(&foreign));
    OK(vbn_context_close(&context));
}

static vbn_status counters_create_context(void *context)
{
    vbn_counters *counters = (void *)out_room;
    vbn_status status = vbn_counters_create(context, NULL, &counters);

    MUST(status && !counters, "*out");
    return status;
}
static vbn_status counters_create_attr(void *attr) { CONSTRUCT(COUNTERS, vbn_counters_create(g.context, attr, out)); }
static vbn_status counters_create_out(void *out) { return vbn_counters_create(g.context, NULL, out); }
static void bad_counters_create(void)
{
    NEW(vbn_counters_attr, attr);

    bad_handles(CONTEXT, counters_create_context);
    bad_input_struct(&attr, sizeof(attr), "vbn_counters_attr", VBN_OK, counters_create_attr);
    bad_out(counters_create_out);
    attr.reserved0 = 1;
    GOT(counters_create_attr(&attr), VBN_ERR_ARGUMENT, "reserved0");
}

static vbn_status attach_counters(void *counters) { return vbn_counters_attach(counters, NULL, VBN_COUNTER_BYTES, 0); }
static void bad_counters_attach(void)
{
    static const int32_t counters[] = {-1, 2, INT32_MIN, INT32_MAX};
    struct ibv_context *raw;
    vbn_counters *foreign;
    vbn_context *context;

    bad_handles(COUNTERS, attach_counters);
    OK(vbn_context_open("null1", NULL, &context));
    OK(vbn_context_native(context, &raw));
    steer(raw);
    OK(vbn_counters_create(context, NULL, &foreign));
    GOT(vbn_counters_attach(foreign, live(FLOW), 0, 0), VBN_ERR_ARGUMENT, "a rule of another context");
    WANT_TEXT("another context");
    OK(vbn_counters_close(&foreign));
    OK(vbn_context_close(&context));
    for (enum kind other = 0; other < KINDS; other++)
        if (other != FLOW)
            GOT(vbn_counters_attach(live(COUNTERS), live(other), 0, 0), VBN_ERR_ARGUMENT, "flow of another type");
    GOT(vbn_counters_attach(live(COUNTERS), closed(FLOW), 0, 0), VBN_ERR_CLOSED, "closed flow");
    GOT(vbn_counters_attach(live(COUNTERS), live(FLOW), 0, UINT32_MAX), VBN_OK, "a place far away");
    for (size_t i = 0; i < ARRAY_SIZE(counters); i++)
        GOT(vbn_counters_attach(live(COUNTERS), NULL, counters[i], 0), VBN_ERR_ARGUMENT, "unknown counter");
}

static uint64_t counted[2];
static vbn_status read_counters_of(void *counters) { return vbn_counters_read(counters, counted, 2, 0); }
static void bad_counters_read(void)
{
    bad_handles(COUNTERS, read_counters_of);
    GOT(vbn_counters_read(live(COUNTERS), NULL, 1, 0), VBN_ERR_ARGUMENT, "NULL values");
    GOT(vbn_counters_read(live(COUNTERS), (uint64_t *)(void *)(out_room + 1), 1, 0), VBN_ERR_ARGUMENT, "misaligned values");
    GOT(vbn_counters_read(live(COUNTERS), counted, 0, 0), VBN_ERR_ARGUMENT, "no value");
    GOT(vbn_counters_read(live(COUNTERS), counted, SIZE_MAX, 0), VBN_ERR_ARGUMENT, "more than there can be");
    for (int bit = 0; bit < 32; bit++) {
        GOT(vbn_counters_read(live(COUNTERS), counted, 1, 1u << bit), bit ? VBN_ERR_ARGUMENT : VBN_OK, "flags");
        if (bit)
            WANT_NUMBERS(1u << bit, 1);
    }
}

/* ---- Sets and records of regions ---- */

ONLY_CLOSE_ROW(mr_set, MR_SET, vbn_mr_set)
static void bad_mr_set_query_more(void) {}
QUERY_ROW(mr_set_query, MR_SET, vbn_mr_set_info, )
static void bad_mr_set_entry_more(void)
{
    NEW(vbn_mr_entry, entry);

    GOT(vbn_mr_set_entry(live(MR_SET), 1, &entry), VBN_ERR_NOT_FOUND, "index beyond the last");
    WANT_NUMBERS(1, 1);
    GOT(vbn_mr_set_entry(live(MR_SET), UINT32_MAX, &entry), VBN_ERR_NOT_FOUND, "index UINT32_MAX");
}
QUERY_ROW(mr_set_entry, MR_SET, vbn_mr_entry, 0, )

static vbn_status set_mr(void *mr)
{
    vbn_mr *mrs[] = {mr};

    CONSTRUCT(MR_SET, vbn_mr_set_create(mrs, 1, NULL, out));
}
static vbn_status set_attr(void *attr) { CONSTRUCT(MR_SET, vbn_mr_set_create(&g.mr, 1, attr, out)); }
static vbn_status set_array(void *mrs) { CONSTRUCT(MR_SET, vbn_mr_set_create(mrs, 1, NULL, out)); }
static vbn_status set_count(uint32_t count) { CONSTRUCT(MR_SET, vbn_mr_set_create(&g.mr, count, NULL, out)); }
static vbn_status set_out(void *out) { return vbn_mr_set_create(&g.mr, 1, NULL, out); }
static void bad_mr_set_create(void)
{
    static const vbn_mr_set_attr zero = {.struct_size = sizeof(zero)};
    static const struct {
        size_t at;
        int32_t value;
        const char *says;
    } wrong[] = {
        {offsetof(vbn_mr_set_attr, place_set), 8, "place_set"},
        {offsetof(vbn_mr_set_attr, memory), -1, "memory -1"},
        {offsetof(vbn_mr_set_attr, memory), INT32_MAX, "memory"},
        {offsetof(vbn_mr_set_attr, gpu), -1, "gpu -1"},
        {offsetof(vbn_mr_set_attr, numa_node), INT32_MIN, "numa_node"},
    };
    vbn_mr_set_attr attr = zero;

    bad_handles(MR, set_mr);
    bad_input_struct(&attr, sizeof(attr), "vbn_mr_set_attr", VBN_OK, set_attr);
    bad_out(set_out);
    GOT(set_array(NULL), VBN_ERR_ARGUMENT, "NULL array");
    GOT(set_array(out_room + 1), VBN_ERR_ARGUMENT, "misaligned array");
    GOT(set_count(0), VBN_ERR_ARGUMENT, "count 0");
    for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
        attr = zero;
        attr.place_set = VBN_PLACE_SET_GPU | VBN_PLACE_SET_NUMA | VBN_PLACE_SET_PCI;
        memcpy((char *)&attr + wrong[i].at, &wrong[i].value, 4);
        GOT(set_attr(&attr), VBN_ERR_ARGUMENT, wrong[i].says);
        WANT_TEXT(wrong[i].says);
    }
    WITH(vbn_mr_set_attr, zero, take, 2, set_attr, VBN_ERR_ARGUMENT, "take 2");
    WITH(vbn_mr_set_attr, zero, reserved0[3], 1, set_attr, VBN_ERR_ARGUMENT, "reserved0");
    attr = zero;
    attr.place_set = VBN_PLACE_SET_PCI;
    attr.pci_device = 32;
    GOT(set_attr(&attr), VBN_ERR_ARGUMENT, "pci_device 32");
    attr.pci_device = 31;
    attr.pci_function = 8;
    GOT(set_attr(&attr), VBN_ERR_ARGUMENT, "pci_function 8");
}

static vbn_status set_segment(vbn_mr_set *set, uint64_t offset, uint64_t length, vbn_sge *sges, uint32_t capacity)
{
    uint32_t count = 77;
    uint64_t covered = 77;
    vbn_status status = vbn_mr_set_segment(set, offset, length, 0, sges, capacity, &count, &covered);

    MUST(!status || (!count && !covered), "%u segments and %llu bytes after %s", count, (unsigned long long)covered,
         vbn_status_name(status));
    return status;
}
static vbn_status set_segment_handle(void *set)
{
    vbn_sge sges[2];

    return set_segment(set, 0, 64, sges, 2);
}
static vbn_status set_segment_count(void *count)
{
    vbn_sge sges[2];
    uint64_t covered;

    return vbn_mr_set_segment(live(MR_SET), 0, 64, 0, sges, 2, count, &covered);
}
static vbn_status set_segment_covered(void *covered)
{
    vbn_sge sges[2];
    uint32_t count;

    return vbn_mr_set_segment(live(MR_SET), 0, 64, 0, sges, 2, &count, covered);
}
static void bad_mr_set_segment(void)
{
    vbn_mr_set *set = live(MR_SET);
    vbn_sge sges[3];

    bad_handles(MR_SET, set_segment_handle);
    bad_out(set_segment_count);
    bad_out(set_segment_covered);
    GOT(set_segment(set, 0, 0, sges, 2), VBN_ERR_ARGUMENT, "length 0");
    GOT(set_segment(set, 0, 64, sges, 0), VBN_ERR_ARGUMENT, "capacity 0");
    GOT(set_segment(set, 0, 64, NULL, 2), VBN_ERR_ARGUMENT, "NULL array");
    GOT(set_segment(set, 0, 64, (vbn_sge *)(void *)((char *)sges + 1), 2), VBN_ERR_ARGUMENT, "misaligned array");
    GOT(set_segment(set, 64, 1, sges, 2), VBN_ERR_ARGUMENT, "offset at the end");
    WANT_NUMBERS(64, 64);
    GOT(set_segment(set, UINT64_MAX, 1, sges, 2), VBN_ERR_ARGUMENT, "offset UINT64_MAX");
    GOT(set_segment(set, 1, 64, sges, 2), VBN_ERR_ARGUMENT, "a byte too long");
    WANT_NUMBERS(64, 63);
    GOT(set_segment(set, 1, UINT64_MAX, sges, 2), VBN_ERR_ARGUMENT, "length UINT64_MAX");
    GOT(set_segment(set, 63, 1, sges, 2), VBN_OK, "the last byte");
}

static vbn_status region_of(const void *set, const void *attr, void *info)
{
    const vbn_mr_set *sets[] = {set};

    return vbn_region_info_local(sets, 1, attr, info);
}
static vbn_status region_set(void *set)
{
    NEW(vbn_region_info, info);

    return region_of(set, NULL, &info);
}
static vbn_status region_attr(void *attr)
{
    NEW(vbn_region_info, info);

    return region_of(live(MR_SET), attr, &info);
}
static vbn_status region_out(void *info) { return region_of(live(MR_SET), NULL, info); }
static void bad_region_info_local(void)
{
    static const vbn_region_info_attr zero = {.struct_size = sizeof(zero)};
    NEW(vbn_region_info, info);
    vbn_region_info_attr attr = zero;
    const vbn_mr_set *sets[9];

    for (int i = 0; i < 9; i++)
        sets[i] = live(MR_SET);
    bad_handles(MR_SET, region_set);
    bad_input_struct(&attr, sizeof(attr), "vbn_region_info_attr", VBN_OK, region_attr);
    bad_output_struct(sizeof(info), "vbn_region_info", region_out);
    GOT(vbn_region_info_local(NULL, 1, NULL, &info), VBN_ERR_ARGUMENT, "NULL array");
    GOT(vbn_region_info_local(sets, 0, NULL, &info), VBN_ERR_ARGUMENT, "no set");
    GOT(vbn_region_info_local(sets, 8, NULL, &info), VBN_OK, "8 sets");
    GOT(vbn_region_info_local(sets, 9, NULL, &info), VBN_ERR_ARGUMENT, "9 sets");
    GOT(vbn_region_info_local(sets, UINT32_MAX, NULL, NULL), VBN_ERR_ARGUMENT, "NULL output");
    WITH(vbn_region_info_attr, zero, reserved0[6], 1, region_attr, VBN_ERR_ARGUMENT, "reserved0");
    WITH(vbn_region_info_attr, zero, offset, 64, region_attr, VBN_ERR_ARGUMENT, "offset at the end");
    WITH(vbn_region_info_attr, zero, offset, UINT64_MAX, region_attr, VBN_ERR_ARGUMENT, "offset UINT64_MAX");
    WITH(vbn_region_info_attr, zero, length, 65, region_attr, VBN_ERR_ARGUMENT, "a byte too long");
    WITH(vbn_region_info_attr, zero, length, UINT64_MAX, region_attr, VBN_ERR_ARGUMENT, "length UINT64_MAX");
    WITH(vbn_region_info_attr, zero, port_num, 200, region_attr, VBN_ERR_LIMIT, "a port that isn't there");
}

static vbn_region_info good_region(void)
{
    vbn_region_info info = {.struct_size = sizeof(info), .length = 64, .num_nics = 1, .num_entries = 1};

    info.entries[0] = (vbn_region_entry){.addr = 4096, .length = 64, .rkey = 7};
    return info;
}

static vbn_status encode_region(void *info) { return vbn_region_info_encode(info, grown, sizeof(grown), &grown_size); }
static vbn_status encode_region_size(void *size)
{
    vbn_region_info info = good_region();

    return vbn_region_info_encode(&info, NULL, 0, size);
}
static void bad_region_info_encode(void)
{
    vbn_region_info info = good_region();

    bad_input_struct(&info, sizeof(info), "vbn_region_info", VBN_ERR_ARGUMENT, encode_region);
    bad_out(encode_region_size);
    WITH(vbn_region_info, info, set, 2, encode_region, VBN_ERR_ARGUMENT, "unknown bit in set");
    WITH(vbn_region_info, info, place_set, 8, encode_region, VBN_ERR_ARGUMENT, "unknown bit in place_set");
    WITH(vbn_region_info, info, length, 0, encode_region, VBN_ERR_ARGUMENT, "length 0");
    WITH(vbn_region_info, info, length, 63, encode_region, VBN_ERR_ARGUMENT, "entries of more than length");
    WITH(vbn_region_info, info, length, 65, encode_region, VBN_ERR_ARGUMENT, "entries of less than length");
    WITH(vbn_region_info, info, num_nics, 0, encode_region, VBN_ERR_ARGUMENT, "no NIC");
    WITH(vbn_region_info, info, num_nics, 9, encode_region, VBN_ERR_ARGUMENT, "9 NICs");
    WITH(vbn_region_info, info, num_nics, 255, encode_region, VBN_ERR_ARGUMENT, "255 NICs");
    WITH(vbn_region_info, info, num_entries, 0, encode_region, VBN_ERR_ARGUMENT, "no entry");
    WITH(vbn_region_info, info, num_entries, 31, encode_region, VBN_ERR_ARGUMENT, "31 entries");
    WITH(vbn_region_info, info, num_entries, 255, encode_region, VBN_ERR_ARGUMENT, "255 entries");
    WITH(vbn_region_info, info, entries[0].nic, 1, encode_region, VBN_ERR_ARGUMENT, "an entry of no NIC");
    WITH(vbn_region_info, info, entries[0].nic, UINT32_MAX, encode_region, VBN_ERR_ARGUMENT, "an entry of NIC UINT32_MAX");
    WITH(vbn_region_info, info, entries[0].addr, UINT64_MAX - 62, encode_region, VBN_ERR_ARGUMENT, "beyond 2^64");
    WITH(vbn_region_info, info, reserved0[2], 1, encode_region, VBN_ERR_ARGUMENT, "reserved0");
    GOT(vbn_region_info_encode(&info, NULL, 100, &grown_size), VBN_ERR_ARGUMENT, "NULL bytes");
    GOT(vbn_region_info_encode(&info, grown, SIZE_MAX, &grown_size), VBN_ERR_ARGUMENT, "capacity SIZE_MAX");
    OK(vbn_region_info_encode(&info, NULL, 0, &grown_size));
    GOT(vbn_region_info_encode(&info, grown, grown_size - 1, &grown_size), VBN_ERR_ARGUMENT, "capacity too small by one");
    WANT_NUMBERS(grown_size - 1, grown_size);
}

static vbn_status decode_region(void *info) { return vbn_region_info_decode(grown, grown_size, info); }
static void bad_region_info_decode(void)
{
    vbn_region_info info = good_region(), before;

    OK(vbn_region_info_encode(&info, grown, sizeof(grown), &grown_size));
    bad_output_struct(sizeof(info), "vbn_region_info", decode_region);
    before = info;
    GOT(vbn_region_info_decode(NULL, grown_size, &info), VBN_ERR_ARGUMENT, "NULL bytes");
    GOT(vbn_region_info_decode(NULL, SIZE_MAX, &info), VBN_ERR_ARGUMENT, "size SIZE_MAX");
    for (size_t size = 0; size < grown_size; size++)
        GOT(vbn_region_info_decode(grown, size, &info), VBN_ERR_ARGUMENT, "a record that was cut");
    grown[3] = '2';
    GOT(decode_region(&info), VBN_ERR_TOO_NEW, "a later format");
    CHECK_MEM(&info, &before, sizeof(info));
}

static vbn_endpoint_info found_endpoint;
static vbn_status find_in_region(void *info)
{
    uint32_t nic;

    return vbn_region_info_find_nic(info, &found_endpoint, &nic);
}
static vbn_status find_endpoint(void *endpoint)
{
    vbn_region_info info = good_region();
    uint32_t nic;

    info.nics[0].gid[0] = 1;
    return vbn_region_info_find_nic(&info, endpoint, &nic);
}
static void bad_region_info_find_nic(void)
{
    vbn_region_info info = good_region();
    uint32_t nic = 77;

    found_endpoint = good_info();
    info.nics[0].gid[0] = 1;
    GOT(vbn_region_info_find_nic(&info, &found_endpoint, NULL), VBN_ERR_ARGUMENT, "NULL nic");
    GOT(vbn_region_info_find_nic(NULL, &found_endpoint, &nic), VBN_ERR_ARGUMENT, "NULL info");
    GOT(vbn_region_info_find_nic(&info, NULL, &nic), VBN_ERR_ARGUMENT, "NULL endpoint");
    bad_input_struct(&info, sizeof(info), "vbn_region_info", VBN_ERR_ARGUMENT, find_in_region);
    bad_input_struct(&found_endpoint, sizeof(found_endpoint), "vbn_endpoint_info", VBN_ERR_ARGUMENT, find_endpoint);
    WITH(vbn_region_info, info, num_nics, 9, find_in_region, VBN_ERR_ARGUMENT, "9 NICs");
    WITH(vbn_region_info, info, num_nics, 0, find_in_region, VBN_ERR_ARGUMENT, "no NIC");
    WITH(vbn_endpoint_info, found_endpoint, num_gids, 255, find_endpoint, VBN_ERR_ARGUMENT, "255 GIDs");
    info.nics[0].gid[15] = 1;
    GOT(vbn_region_info_find_nic(&info, &found_endpoint, &nic), VBN_ERR_NOT_FOUND, "another NIC's endpoint");
    WANT_NUMBERS(1, 1);
    memset(&info.nics[0].gid, 0, 16);
    GOT(vbn_region_info_find_nic(&info, &found_endpoint, &nic), VBN_ERR_NOT_FOUND, "a NIC without a GID is nobody's");
    CHECK_UEQ(nic, 77);
}

#include "bad_gpu_mr.h"

/* ---- The table ---- */

#define SYMBOLS(X) \
    X(flow_close) X(flow_create) X(flow_native) X(flow_release) X(counters_attach) X(counters_close) X(counters_create) \
    X(counters_native) X(counters_read) X(counters_release) X(flow_adopt) X(counters_adopt) \
    X(mr_set_close) X(mr_set_create) X(mr_set_entry) X(mr_set_query) X(mr_set_segment) \
    X(region_info_decode) X(region_info_encode) X(region_info_find_nic) X(region_info_local) \
    SYMBOLS_GPU_MR(X) \
    X(mw_adopt) X(td_adopt) X(td_native) X(td_release) X(dm_adopt) X(dm_import) X(dm_native) X(dm_release) \
    X(port_width_name) X(port_speed_name) X(device_cap_name) X(port_cap_name) X(port_cap2_name) X(flow_type_name) X(flow_spec_name) X(counter_name) \
    X(rate_name) X(odp_cap_name) X(cm_ps_name) X(library_name) X(cq_wait_mode_name) \
    X(dm_alloc) X(dm_close) X(dm_copy_from) X(dm_copy_to) X(dm_query) X(mr_reg_dm) \
    X(context_export) X(context_import) X(mr_import) X(pd_alloc_parent) X(pd_import) X(td_alloc) X(td_close) \
    X(context_query_rt_values) X(qp_data_in_order) X(qp_modify_rate_limit) X(qp_query_ece) X(qp_set_ece) \
    X(cq_modify) X(cq_resize) X(mr_advise) X(mr_alloc_null) X(mr_rereg) \
    SYMBOLS_CM(X) \
    SYMBOLS_GPU(X) \
    X(srq_adopt) X(srq_close) X(srq_create) X(srq_modify) X(srq_native) X(srq_post_recv) X(srq_query) X(srq_release) \
    X(ah_from_wc) X(qp_attach_mcast) X(qp_connect) X(qp_detach_mcast) \
    X(efa_max_rq_depth) X(efa_max_sq_depth) X(efa_query_ah) X(efa_query_cq) X(efa_query_device) X(efa_query_mr) X(efa_query_qp) \
    X(ah_adopt) X(ah_close) X(ah_create) X(ah_native) X(ah_query) X(ah_release) X(pd_trim_ahs) X(peer_close) X(peer_create) \
    X(peer_from_endpoint) X(peer_from_info) X(peer_query) X(cq_poll_ext) X(qkey_random) X(qp_prepare) \
    X(distance_name) X(gpu_nic_distance) X(nic_nearest) \
    X(absence_name) X(cap_name) X(caps_reason) X(context_caps) X(device_find) \
    X(access_flag_name) X(channel_adopt) X(channel_close) X(channel_create) X(channel_fd) X(channel_get_event) \
    X(channel_native) X(channel_query) X(channel_release) X(context_adopt) X(context_close) X(context_get_async_event) \
    X(context_gid_table) X(context_live) X(context_native) X(context_open) X(context_query) X(context_query_device) \
    X(context_query_gid) X(context_query_pkey) X(context_query_port) X(context_release) X(cq_adopt) X(cq_arm) X(cq_close) \
    X(cq_create) X(cq_native) X(cq_poll) X(cq_query) X(cq_release) X(cq_wait) X(device_list) X(device_list_reason) \
    X(device_list_reason_name) X(element_name) X(endpoint_decode) X(endpoint_encode) X(endpoint_info_decode) X(endpoint_info_encode) X(endpoint_info_local) \
    X(endpoint_local) X(event_type_name) X(explain) X(explain_error) X(fork_init) X(fork_state_name) X(gid_family_name) \
    X(gid_select) X(gid_type_name) X(gid_verdict_name) X(last_error) X(library_init) X(library_missing) \
    X(library_origin_name) X(library_query) X(link_layer_name) X(mr_adopt) X(mr_close) X(mr_kind_name) X(mr_lkey) \
    X(mw_alloc) X(mw_bind) X(mw_close) X(mw_native) X(mw_query) X(mw_release) X(mw_rkey) X(mw_set_rkey) \
    X(mr_native) X(mr_query) X(mr_reg) X(mr_reg_dmabuf) X(mr_release) X(mr_remote_addr) X(mr_rkey) X(mr_segments) X(mtu_name) \
    X(node_type_name) X(ownership_name) X(pd_adopt) X(pd_alloc) X(pd_close) X(pd_native) X(pd_query) X(pd_release) \
    X(port_state_name) X(qp_adopt) X(qp_attr_name) X(qp_close) X(qp_connect_rc) X(qp_create) X(qp_first_error) X(qp_modify) \
    X(qp_native) X(qp_num) X(qp_post_recv) X(qp_post_send) X(qp_query) X(qp_release) X(qp_state_name) X(qp_to_init) \
    X(qp_to_rtr) X(qp_to_rts) X(qp_type_name) X(rc_record_decode) X(rc_record_encode) X(rc_record_local) X(rdma_split) X(send_flag_name) \
    X(status_name) X(status_text) X(transport_name) X(vendor_domain_name) X(version) X(version_string) X(wc_check) \
    X(wc_flag_name) X(wc_opcode_name) X(wc_status_name) X(atomic_cap_name) X(mig_state_name) X(phys_state_name) X(mw_type_name) X(srq_type_name) X(advice_name) X(post_path_name) X(driver_name) X(mismatch_name) X(efa_cap_name) X(wc_field_name) X(wr_opcode_name)

/* Every row runs on fresh objects, which must still work afterwards and leave nothing. */
static void run_row(const char *name, void (*row)(void))
{
    op = name;
    row_mw = NULL;
    row_td = NULL;
    row_dm = NULL;
    row_flow = NULL;
    row_counters = NULL;
    row_set = NULL;
    null_begin();
    memset(&steering, 0, sizeof(steering));
    g = rig_open();
    steer(g.ibv_context);
    MUST(!vbn_srq_create(g.pd, NULL, &shared), "vbn_srq_create");
    rig_ah = make(AH);
    OK(vbn_ah_native(rig_ah, &rig_ibv_ah));
    rig_peer = make(PEER);
    row();
    null_want(__FILE__, __LINE__, "the queue pair after all that", NULL, post_send_handle(g.qp), VBN_OK);
    close_kind(PEER, rig_peer);
    close_kind(AH, rig_ah);
    MUST(!vbn_srq_close(&shared), "vbn_srq_close");
    OK(vbn_mw_close(&row_mw));
    OK(vbn_td_close(&row_td));
    OK(vbn_dm_close(&row_dm));
    OK(vbn_flow_close(&row_flow));
    OK(vbn_counters_close(&row_counters));
    MUST(!steering.flows && !steering.counters, "%d rules and %d counters are left", steering.flows, steering.counters);
    OK(vbn_mr_set_close(&row_set));
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
    efa_use();
    return test_main("bad_input", tests, argc, argv);
}
