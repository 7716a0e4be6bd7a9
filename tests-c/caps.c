/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * What a device says that it can do, held against what it does. VBN_TEST_PROFILE names the profile of softnic that VBN_TEST_DEVICE has, and
 * VBN_TEST_PROFILE2 that of VBN_TEST_DEVICE2; "no_notify": a softnic that refuses the first completion queue. Without them only what
 * holds of every device is looked at.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common.h"

enum { MOST = 32 };

static vbn_context *context;
static vbn_caps caps;
static char text[512];

static const char *variable(const char *name) {
    const char *value = getenv(name);
    return value ? value : "";
}

static int profile_is(const char *name) {
    return strcmp(variable("VBN_TEST_PROFILE"), name) == 0;
}

static void open_device(void) {
    uint32_t devices;
    CHECK_OK(vbn_device_list(NULL, 0, 0, &devices));
    if (!devices && profile_is("p5en")) SKIP("this libefa does not know the device of profile p5en");
    CHECK_OK(vbn_context_open(test_device(), NULL, &context));
    memset(&caps, 0xa5, sizeof caps);
    caps.struct_size = sizeof caps;
    CHECK_OK(vbn_context_caps(context, &caps));
}

static void close_device(void) {
    CHECK_OK(vbn_context_close(&context));
}

static int has(uint64_t cap) {
    return (caps.caps & cap) == cap;
}

static int place(uint64_t cap) {
    int at = 0;
    while (cap >> at != 1) at++;
    return at;
}

static int absence(uint64_t cap) {
    return caps.absence[place(cap)];
}

static const char *reason(uint64_t cap) {
    CHECK_OK(vbn_caps_reason(&caps, cap, text, sizeof text, NULL));
    return text;
}

static void need_profile(void) {
    if (!*variable("VBN_TEST_PROFILE")) SKIP("VBN_TEST_PROFILE names no profile of softnic");
}

static void need_efa(void) {
    open_device();
    if (!caps.efa) {
        close_device();
        SKIP("not an EFA");
    }
}

/* The state of a capability whose bit the device reports to libraries of release `since` and newer. */
static void check_reported(uint64_t cap, int there, uint32_t since) {
    if (there && caps.release_min >= since) {
        CHECK_EQ(absence(cap), VBN_ABSENCE_NONE);
        CHECK(has(cap));
        return;
    }
    CHECK(!has(cap));
    if (caps.release_min >= since) {
        CHECK_EQ(absence(cap), VBN_ABSENCE_DEVICE);
        return;
    }
    /* The test runs on installed rdma-cores, whose files have their usual names. */
    char words[64];
    CHECK_EQ(absence(cap), VBN_ABSENCE_LIBRARY);
    CHECK_EQ(caps.detail[place(cap)], since);
    snprintf(words, sizeof words, "libefa of rdma-core %u ", caps.release_min);
    CHECK_HAS(reason(cap), words);
    snprintf(words, sizeof words, "needs rdma-core %u or newer", since);
    CHECK_HAS(reason(cap), words);
}

static void bit_or_reason(void) {
    open_device();
    CHECK_STR(caps.name, test_device());
    for (int at = 0; at < 64; at++) {
        uint64_t cap = UINT64_C(1) << at;
        if (!(caps.asked & cap)) {
            CHECK(!(caps.caps & cap) && !caps.absence[at] && !caps.detail[at]);
            continue;
        }
        CHECK_EQ(!!(caps.caps & cap), caps.absence[at] == VBN_ABSENCE_NONE);
        CHECK(strcmp(vbn_absence_name(caps.absence[at]), "unknown") != 0);
        CHECK(strcmp(vbn_cap_name(cap), "unknown") != 0);
        /* Sentences name the device, except those about libibverbs. */
        if (strstr(reason(cap), "libibverbs") == NULL) CHECK_HAS(reason(cap), test_device());
    }
    for (unsigned i = 0; i < sizeof caps.reserved0; i++) CHECK_EQ(caps.reserved0[i], 0);
    close_device();
}

static int open_fds(void) {
    int open = 0;
    for (int fd = 0; fd < 256; fd++) open += fcntl(fd, F_GETFD) != -1;
    return open;
}

/* Asking leaves nothing behind, and the answer is the same. */
static void asked_again(void) {
    open_device();
    vbn_caps first = caps;
    int fds = open_fds();
    for (int i = 0; i < 50; i++) {
        memset(&caps, 0xa5, sizeof caps);
        caps.struct_size = sizeof caps;
        CHECK_OK(vbn_context_caps(context, &caps));
        CHECK_MEM(&caps, &first, sizeof caps);
    }
    CHECK_EQ(open_fds(), fds);
    vbn_live_info live = live_info(context);
    CHECK_UEQ(live.pd_open + live.mr_open + live.channel_open + live.cq_open + live.qp_open, 0);
    close_device();
}

static void limits(void) {
    open_device();
    vbn_device_attr device = {.struct_size = sizeof device};
    vbn_port_attr port = {.struct_size = sizeof port};
    CHECK_OK(vbn_context_query_device(context, &device));
    CHECK_OK(vbn_context_query_port(context, 1, &port));
    CHECK_UEQ(caps.max_mr_size, device.max_mr_size);
    CHECK_UEQ(caps.max_cqe, device.max_cqe);
    CHECK_UEQ(caps.max_qp, device.max_qp);
    CHECK_UEQ(caps.max_ah, device.max_ah);
    CHECK_UEQ(caps.num_ports, device.phys_port_cnt);
    CHECK_UEQ(caps.max_send_size, port.max_msg_sz);
    CHECK_EQ(caps.link_layer, port.link_layer);
    CHECK_EQ(caps.max_rdma_size != 0, has(VBN_CAP_READ) || has(VBN_CAP_WRITE));
    CHECK_EQ(caps.max_write_sge != 0, has(VBN_CAP_WRITE));
    CHECK_EQ(caps.max_read_sge != 0, has(VBN_CAP_READ));
    CHECK_EQ(caps.max_datagram_size != 0, has(VBN_CAP_UD));
    CHECK(caps.max_sq_depth > 0 && caps.max_rq_depth > 0 && caps.max_send_sge > 0 && caps.max_recv_sge > 0);
    CHECK(caps.max_sq_depth_ex <= caps.max_sq_depth && caps.max_inline_ex >= caps.max_inline);
    close_device();
}

/* ---- Held against the device ---- */

/* Makes a queue pair of what is wanted, with queues of its own, and closes all again. */
static vbn_status make_qp(vbn_qp_init_attr wanted) {
    vbn_pd *pd = NULL;
    vbn_cq *send_cq = NULL, *recv_cq = NULL;
    vbn_qp *qp = NULL;
    vbn_cq_attr cq_attr = {.struct_size = sizeof cq_attr, .cqe = 4};
    CHECK_OK(vbn_pd_alloc(context, NULL, &pd));
    CHECK_OK(vbn_cq_create(context, &cq_attr, &send_cq));
    if (has(VBN_CAP_UNSOLICITED_WRITE_RECV)) cq_attr.fields = VBN_WC_EX_UNSOLICITED;
    CHECK_OK(vbn_cq_create(context, &cq_attr, &recv_cq));
    wanted.struct_size = sizeof wanted;
    wanted.send_cq = send_cq;
    wanted.recv_cq = recv_cq;
    vbn_status status = vbn_qp_create(pd, &wanted, &qp);
    CHECK_OK(vbn_qp_close(&qp));
    CHECK_OK(vbn_cq_close(&send_cq));
    CHECK_OK(vbn_cq_close(&recv_cq));
    CHECK_OK(vbn_pd_close(&pd));
    return status;
}

#define MADE(...) (make_qp((vbn_qp_init_attr){__VA_ARGS__}) == VBN_OK)

static void types(void) {
    open_device();
    CHECK_EQ(has(VBN_CAP_RC), MADE(.qp_type = VBN_QPT_RC));
    CHECK_EQ(has(VBN_CAP_UC), MADE(.qp_type = VBN_QPT_UC));
    CHECK_EQ(has(VBN_CAP_UD), MADE(.qp_type = VBN_QPT_UD));
    CHECK_EQ(has(VBN_CAP_SRD), MADE(.qp_type = VBN_QPT_SRD));
    if (has(VBN_CAP_RC)) CHECK(MADE(.qp_type = VBN_QPT_RC, .max_inline_data = caps.max_inline));
    if (has(VBN_CAP_RC)) CHECK(MADE(.qp_type = VBN_QPT_RC, .max_send_sge = caps.max_send_sge, .max_recv_sge = caps.max_recv_sge));
    close_device();
}

/* Each operation and each flag is accepted where the capability is told, and refused where it isn't. */
static void srd_operations(void) {
    need_efa();
    static const struct {
        uint64_t cap, op, flag;
    } rows[] = {
        {VBN_CAP_SEND, VBN_QP_OP_SEND, 0},
        {VBN_CAP_SEND_IMM, VBN_QP_OP_SEND_WITH_IMM, 0},
        {VBN_CAP_READ, VBN_QP_OP_RDMA_READ, 0},
        {VBN_CAP_WRITE, VBN_QP_OP_RDMA_WRITE, 0},
        {VBN_CAP_WRITE_IMM, VBN_QP_OP_RDMA_WRITE_WITH_IMM, 0},
        {VBN_CAP_UNSOLICITED_WRITE_RECV, 0, VBN_QP_UNSOLICITED_WRITE_RECV},
        {VBN_CAP_INLINE_WRITE, 0, VBN_QP_INLINE_WRITE},
        {VBN_CAP_PROCESSING_HINTS, 0, VBN_QP_PROCESSING_HINTS},
    };
    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        int made = MADE(.qp_type = VBN_QPT_SRD, .send_ops = rows[i].op, .flags = rows[i].flag);
        if (made != has(rows[i].cap)) FAIL("%s is %s, and its queue pair is %s: %s", vbn_cap_name(rows[i].cap), has(rows[i].cap) ? "there" : "absent", made ? "made" : "refused", made ? reason(rows[i].cap) : test_last_error());
    }
    close_device();
}

/* What the limits allow is made, and one more isn't. */
static void srd_limits(void) {
    need_efa();
    CHECK(MADE(.qp_type = VBN_QPT_SRD, .max_send_wr = caps.max_sq_depth));
    CHECK(!MADE(.qp_type = VBN_QPT_SRD, .max_send_wr = caps.max_sq_depth + 1));
    CHECK(MADE(.qp_type = VBN_QPT_SRD, .max_send_wr = caps.max_sq_depth_ex, .max_inline_data = caps.max_inline_ex));
    CHECK(!MADE(.qp_type = VBN_QPT_SRD, .max_send_wr = caps.max_sq_depth_ex + 1, .max_inline_data = caps.max_inline_ex));
    CHECK(MADE(.qp_type = VBN_QPT_SRD, .max_send_wr = caps.max_sq_depth, .max_inline_data = caps.max_inline));
    CHECK(!MADE(.qp_type = VBN_QPT_SRD, .max_inline_data = caps.max_inline_ex + 1));
    CHECK(MADE(.qp_type = VBN_QPT_SRD, .max_recv_wr = caps.max_rq_depth));
    CHECK(!MADE(.qp_type = VBN_QPT_SRD, .max_recv_wr = caps.max_rq_depth + 1));
    CHECK(MADE(.qp_type = VBN_QPT_SRD, .max_send_sge = caps.max_send_sge, .max_recv_sge = caps.max_recv_sge));
    CHECK(!MADE(.qp_type = VBN_QPT_SRD, .max_send_sge = caps.max_send_sge + 1));
    CHECK(!MADE(.qp_type = VBN_QPT_SRD, .max_recv_sge = caps.max_recv_sge + 1));
    close_device();
}

static void notifications(void) {
    open_device();
    vbn_channel *channel = NULL;
    vbn_cq *cq = NULL;
    CHECK_OK(vbn_channel_create(context, NULL, &channel));
    vbn_cq_attr attr = {.struct_size = sizeof attr, .cqe = 4, .channel = channel};
    vbn_status status = vbn_cq_create(context, &attr, &cq);
    /* The fault of "no_notify" is over after the first queue. */
    if (!profile_is("no_notify")) CHECK_EQ(has(VBN_CAP_NOTIFY), status == VBN_OK);
    if (cq && has(VBN_CAP_NOTIFY)) CHECK_OK(vbn_cq_arm(cq, 0));
    if (cq && has(VBN_CAP_NOTIFY)) CHECK_EQ(has(VBN_CAP_NOTIFY_SOLICITED), vbn_cq_arm(cq, 1) == VBN_OK);
    CHECK_OK(vbn_cq_close(&cq));
    CHECK_OK(vbn_channel_close(&channel));
    close_device();
}

/* A descriptor that is no dma-buf tells them apart: on softnic any that can be mapped is one. */
static void dma_bufs(void) {
    open_device();
    vbn_pd *pd = NULL;
    vbn_mr *mr = NULL;
    int fd = memfd_create("caps", MFD_CLOEXEC);
    CHECK(fd >= 0 && ftruncate(fd, 4096) == 0);
    CHECK_OK(vbn_pd_alloc(context, NULL, &pd));
    vbn_status status = vbn_mr_reg_dmabuf(pd, fd, 0, 4096, 0, VBN_ACCESS_LOCAL_WRITE, NULL, &mr);
    int refused = status == VBN_ERR_NOT_SUPPORTED || status == VBN_ERR_SYMBOL_MISSING;
    CHECK_EQ(has(VBN_CAP_DMABUF), !refused);
    if (refused) CHECK_EQ(absence(VBN_CAP_DMABUF), status == VBN_ERR_SYMBOL_MISSING ? VBN_ABSENCE_LIBRARY : VBN_ABSENCE_DRIVER);
    CHECK_OK(vbn_mr_close(&mr));
    CHECK_OK(vbn_pd_close(&pd));
    close_device();
    close(fd);
}

static void relaxed_ordering(void) {
    open_device();
    CHECK_EQ(absence(VBN_CAP_RELAXED_ORDERING), VBN_ABSENCE_UNKNOWN);
    CHECK_HAS(reason(VBN_CAP_RELAXED_ORDERING), "VBN_ACCESS_RELAXED_ORDERING");
    close_device();
}

/* ---- Kinds of devices ---- */

static void efa(void) {
    need_efa();
    CHECK(has(VBN_CAP_SRD | VBN_CAP_UD | VBN_CAP_SEND | VBN_CAP_SEND_IMM | VBN_CAP_ERRORS_ISOLATED | VBN_CAP_INLINE));
    static const struct {
        uint64_t cap;
        const char *words;
    } never[] = {
        {VBN_CAP_RC, "has no RC queue pairs: EFA offers SRD"},
        {VBN_CAP_UC, "has no UC queue pairs"},
        {VBN_CAP_ATOMICS, "has no atomics"},
        {VBN_CAP_UNSIGNALED, "sq_sig_all"},
        {VBN_CAP_FENCE, "overtake each other"},
        {VBN_CAP_ORDERED, "overtake each other"},
        {VBN_CAP_SOLICITED, "reports every completion"},
        {VBN_CAP_NOTIFY_SOLICITED, "reports every completion"},
    };
    for (unsigned i = 0; i < sizeof never / sizeof never[0]; i++) {
        CHECK(!has(never[i].cap));
        CHECK_EQ(absence(never[i].cap), VBN_ABSENCE_TRANSPORT);
        CHECK_HAS(reason(never[i].cap), never[i].words);
        CHECK_HAS(reason(never[i].cap), "efa device ");
    }
    CHECK(!has(VBN_CAP_SRQ) && !has(VBN_CAP_MW) && !has(VBN_CAP_ODP) && !has(VBN_CAP_MULTICAST) && !has(VBN_CAP_WC_TIMESTAMP));
    CHECK_UEQ(caps.max_recv_segment, 65535);
    CHECK(caps.release_min >= 33);
    close_device();
}

static void by_profile(void) {
    need_profile();
    open_device();
    int p3dn = profile_is("p3dn"), p4d = profile_is("p4d") || p3dn, p5en = profile_is("p5en");
    test_note("libefa of rdma-core %u to below %u, profile %s: %s", caps.release_min, caps.release_below, variable("VBN_TEST_PROFILE"), reason(VBN_CAP_WRITE));
    CHECK_EQ(caps.efa, 1);
    check_reported(VBN_CAP_READ, !p3dn, 27);
    check_reported(VBN_CAP_RNR_RETRY, 1, 32);
    check_reported(VBN_CAP_WC_SGID, !p3dn, 43);
    check_reported(VBN_CAP_WRITE, !p4d, 46);
    check_reported(VBN_CAP_WRITE_IMM, !p4d, 46);
    check_reported(VBN_CAP_UNSOLICITED_WRITE_RECV, p5en, 52);
    if (p4d && caps.release_min >= 46)
        CHECK_EQ(absence(VBN_CAP_INLINE_WRITE), VBN_ABSENCE_DEVICE);
    else
        check_reported(VBN_CAP_INLINE_WRITE, !p4d, 63);
    check_reported(VBN_CAP_PROCESSING_HINTS, 1, 64);
    check_reported(VBN_CAP_COMP_CNTR, 0, 65);
    CHECK_UEQ(caps.max_inline, 32);
    CHECK_UEQ(caps.max_inline_ex, !p4d && caps.release_min >= 63 ? 80 : 32);
    CHECK_UEQ(caps.max_sq_depth, 4096);
    CHECK_UEQ(caps.max_sq_depth_ex, !p4d && caps.release_min >= 63 ? 2048 : 4096);
    CHECK_UEQ(caps.max_send_size, 8928);
    CHECK_UEQ(caps.max_rdma_size, p3dn ? 0 : UINT64_C(1) << 30);
    CHECK_UEQ(caps.max_read_sge, p3dn ? 0 : 1);
    if (p3dn) {
        CHECK(!has(VBN_CAP_NOTIFY));
        CHECK_HAS(reason(VBN_CAP_READ), test_device());
        CHECK_HAS(reason(VBN_CAP_READ), "use SEND");
        CHECK_HAS(reason(VBN_CAP_NOTIFY), "notifications");
    } else if (p4d && caps.release_min >= 46) {
        CHECK_HAS(reason(VBN_CAP_WRITE), "has RDMA READ only (p4d class): no RDMA WRITE; let the peer READ, or use SEND");
        CHECK_HAS(reason(VBN_CAP_WRITE_IMM), "no RDMA WRITE with immediate");
        CHECK_HAS(reason(VBN_CAP_WRITE), test_device());
    }
    close_device();
}

static void refused_notifications(void) {
    if (!profile_is("no_notify")) SKIP("VBN_TEST_PROFILE is not no_notify");
    open_device();
    CHECK_EQ(absence(VBN_CAP_NOTIFY), VBN_ABSENCE_DRIVER);
    CHECK_EQ(caps.detail[place(VBN_CAP_NOTIFY)], 95); /* EOPNOTSUPP */
    CHECK_HAS(reason(VBN_CAP_NOTIFY), "refuses completion notifications");
    CHECK_HAS(reason(VBN_CAP_NOTIFY), "(errno 95)");
    CHECK(has(VBN_CAP_SRD | VBN_CAP_READ));
    close_device();
}

static void soft_roce(void) {
    if (!is_soft_roce(test_device())) SKIP("not soft-RoCE");
    open_device();
    CHECK(has(VBN_CAP_RC | VBN_CAP_UC | VBN_CAP_UD | VBN_CAP_WRITE | VBN_CAP_WRITE_IMM | VBN_CAP_READ | VBN_CAP_ATOMICS | VBN_CAP_ORDERED));
    CHECK(has(VBN_CAP_UNSIGNALED | VBN_CAP_FENCE | VBN_CAP_SOLICITED | VBN_CAP_INLINE | VBN_CAP_NOTIFY | VBN_CAP_NOTIFY_SOLICITED | VBN_CAP_SRQ));
    CHECK(has(VBN_CAP_MW | VBN_CAP_INVALIDATE | VBN_CAP_MULTICAST));
    CHECK_EQ(absence(VBN_CAP_SRD), VBN_ABSENCE_TRANSPORT);
    CHECK_HAS(reason(VBN_CAP_SRD), "RoCE device ");
    CHECK_HAS(reason(VBN_CAP_SRD), "use RC");
    CHECK_EQ(absence(VBN_CAP_UNSOLICITED_WRITE_RECV), VBN_ABSENCE_TRANSPORT);
    CHECK_EQ(caps.transport_type, VBN_TRANSPORT_IB);
    CHECK_UEQ(caps.release_min + caps.release_below, 0);
    test_note("%s", reason(VBN_CAP_DMABUF));
    close_device();
}

/* ---- All devices ---- */

static vbn_device_match found[MOST];
static uint32_t count;

static void find(uint64_t required) {
    memset(found, 0xa5, sizeof found);
    CHECK_OK(vbn_device_find(required, found, sizeof found[0], MOST, &count));
    CHECK(count <= MOST);
    for (uint32_t i = 0; i < count; i++) {
        CHECK_EQ(found[i].matches, found[i].missing == 0 && found[i].open_status == VBN_OK);
        CHECK_EQ(found[i].matches, found[i].reason[0] == 0);
        if (i) CHECK(found[i - 1].matches >= found[i].matches);
        if (found[i].open_status == VBN_OK) CHECK_UEQ(found[i].missing, required & ~found[i].caps);
    }
}

static const vbn_device_match *match_of(const char *name) {
    for (uint32_t i = 0; i < count; i++)
        if (strcmp(found[i].name, name) == 0) return &found[i];
    FAIL("%s is not among the %u devices", name, count);
}

static void find_all(void) {
    vbn_device_info list[MOST];
    uint32_t listed;
    open_device();
    find(0);
    CHECK_OK(vbn_device_list(list, sizeof list[0], MOST, &listed));
    CHECK_UEQ(count, listed);
    const vbn_device_match *match = match_of(test_device());
    CHECK(match->matches);
    CHECK_UEQ(match->caps, caps.caps);
    CHECK_EQ(match->transport_type, caps.transport_type);
    CHECK_EQ(match->efa, caps.efa);
    CHECK_STR(list[match->index].name, test_device());
    /* One element of room, and none. */
    find(VBN_CAP_SEND);
    vbn_device_match first = found[0], alone;
    uint32_t again = 99;
    CHECK_OK(vbn_device_find(VBN_CAP_SEND, &alone, sizeof alone, 1, &again));
    CHECK_UEQ(again, count);
    CHECK_STR(alone.name, first.name);
    CHECK_OK(vbn_device_find(VBN_CAP_SEND, NULL, 0, 0, &again));
    CHECK_UEQ(again, count);
    close_device();
}

/* No device is all of these; each says what it lacks. */
static void find_nothing(void) {
    open_device();
    find(VBN_CAP_RC | VBN_CAP_SRD | VBN_CAP_RELAXED_ORDERING);
    for (uint32_t i = 0; i < count; i++) {
        CHECK(!found[i].matches);
        CHECK_HAS(found[i].reason, found[i].efa ? "has no RC queue pairs" : "has no SRD queue pairs");
        CHECK_HAS(found[i].reason, "; nothing tells whether ");
        CHECK_UEQ(found[i].unknown, VBN_CAP_RELAXED_ORDERING);
    }
    close_device();
}

/* The device that has WRITE comes first, wherever it stands in the list. */
static void two_kinds(void) {
    const char *first = variable("VBN_TEST_DEVICE"), *second = variable("VBN_TEST_DEVICE2");
    if (!*variable("VBN_TEST_PROFILE2")) SKIP("VBN_TEST_PROFILE2 names no second profile");
    const char *read_only = profile_is("p4d") ? first : second, *write = profile_is("p4d") ? second : first;
    open_device();
    find(VBN_CAP_WRITE | VBN_CAP_READ);
    CHECK_UEQ(count, 2);
    const vbn_device_match *old = match_of(read_only), *new = match_of(write);
    test_note("%s, without WRITE, is %s in the list", read_only, old->index < new->index ? "first" : "last");
    CHECK(!old->matches);
    CHECK_UEQ(old->missing, VBN_CAP_WRITE);
    CHECK_HAS(old->reason, read_only);
    if (caps.release_min >= 46) {
        CHECK_STR(found[0].name, write);
        CHECK(new->matches);
        CHECK_HAS(old->reason, "RDMA READ only (p4d class)");
    } else {
        CHECK(!new->matches);
        CHECK_HAS(new->reason, "needs rdma-core 46 or newer");
    }
    /* Asking for less: both will do. */
    find(VBN_CAP_READ | VBN_CAP_SRD);
    CHECK(found[0].matches && found[1].matches);
    close_device();
}

/* No device, no match, and the remedy. Also what an old libefa makes of a new device. */
static void find_none(void) {
    CHECK_OK(vbn_device_list(NULL, 0, 0, &count));
    if (count) SKIP("there is a device");
    count = 99;
    CHECK_OK(vbn_device_find(VBN_CAP_SEND, found, sizeof found[0], MOST, &count));
    CHECK_UEQ(count, 0);
    vbn_device_list_reason_info why = {.struct_size = sizeof why};
    CHECK_OK(vbn_device_list_reason(&why));
    CHECK(why.reason != VBN_REASON_NONE && why.message[0]);
    /* The one way to be here on softnic: the kernel has the device, and this libefa is older than it. */
    const char *profile = getenv("VBN_TEST_PROFILE");
    if (profile && strcmp(profile, "p5en") == 0) {
        CHECK_EQ(why.reason, VBN_REASON_NO_PROVIDER);
        CHECK_HAS(why.message, "older than the device");
    }
}

static const struct test tests[] = {
    {"refused_notifications", refused_notifications}, /* before anything else makes a queue */
    {"bit_or_reason", bit_or_reason},
    {"asked_again", asked_again},
    {"limits", limits},
    {"types", types},
    {"srd_operations", srd_operations},
    {"srd_limits", srd_limits},
    {"notifications", notifications},
    {"dma_bufs", dma_bufs},
    {"relaxed_ordering", relaxed_ordering},
    {"efa", efa},
    {"by_profile", by_profile},
    {"soft_roce", soft_roce},
    {"find_all", find_all},
    {"find_nothing", find_nothing},
    {"two_kinds", two_kinds},
    {"find_none", find_none},
    {NULL, NULL},
};

int main(int argc, char **argv) {
    return test_main("caps", tests, argc, argv);
}
