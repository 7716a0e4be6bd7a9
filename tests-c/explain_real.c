/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Errors that a kernel and its device give, and whether their records lead to the right explanation. VBN_TEST_SILENT is an address of the device's subnet that
 * no host has, on a network that asks who has it (a wire); VBN_TEST_UNROUTED one to which there is no route (IPv6: for an IPv4
 * address without one the kernel asks on the link itself). What needs one of them is skipped without.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common.h"

static char text[VBN_EXPLAIN_TEXT_SIZE];

/* The last failure's record, explained: its own sentence comes first. */
static const char *explained(void) {
    vbn_error_info error = test_error();
    memset(text, 0, sizeof text);
    CHECK_OK(vbn_explain_error(&error, NULL, text, sizeof text, NULL));
    CHECK_EQ(strncmp(text, error.message, strlen(error.message)), 0);
    return text;
}

/* Takes capabilities out of the effective set, or puts them back; those that are permitted stay so. */
static void set_capability(unsigned capability, int on) {
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct data[2];
    CHECK_EQ(syscall(SYS_capget, &header, data), 0);
    uint32_t bit = 1u << (capability % 32);
    if (on && !(data[capability / 32].permitted & bit)) return;
    data[capability / 32].effective = on ? data[capability / 32].effective | bit : data[capability / 32].effective & ~bit;
    CHECK_EQ(syscall(SYS_capset, &header, data), 0);
}

static void set_limit(rlim_t bytes) {
    struct rlimit limit;
    CHECK_EQ(getrlimit(RLIMIT_MEMLOCK, &limit), 0);
    limit.rlim_cur = bytes;
    CHECK_EQ(setrlimit(RLIMIT_MEMLOCK, &limit), 0);
}

/* A registration beyond the limit on locked memory, of a process that the limit holds for. */
static void locked_memory(void) {
    enum { LIMIT = 256 << 10, SIZE = 1 << 20 };
    struct rlimit before;
    vbn_context *context;
    vbn_pd *pd;
    vbn_mr *mr, *part;
    char number[64];
    if (getenv("VBN_TEST_SOFTNIC")) SKIP("softnic pins no memory");
    CHECK_OK(vbn_context_open(test_device(), NULL, &context));
    CHECK_OK(vbn_pd_alloc(context, NULL, &pd));
    uint8_t *memory = aligned_alloc(4096, SIZE);
    CHECK(memory != NULL);
    memset(memory, 1, SIZE);
    CHECK_EQ(getrlimit(RLIMIT_MEMLOCK, &before), 0);
    set_capability(CAP_IPC_LOCK, 0);
    set_limit(LIMIT);

    vbn_status status = vbn_mr_reg(pd, memory, SIZE, ACCESS_ALL, NULL, &mr);
    vbn_error_info error = test_error();
    explained();
    /* What fits is registered, and counted. */
    vbn_status fits = vbn_mr_reg(pd, memory, LIMIT / 2, ACCESS_ALL, NULL, &part);
    static char later[VBN_EXPLAIN_TEXT_SIZE];
    CHECK_OK(vbn_explain_error(&error, NULL, later, sizeof later, NULL));
    /* None at all. */
    set_limit(0);
    vbn_status none = vbn_mr_reg(pd, memory, 4096, ACCESS_ALL, NULL, &mr);
    vbn_error_info refused = test_error();
    static char forbidden[VBN_EXPLAIN_TEXT_SIZE];
    CHECK_OK(vbn_explain_error(&refused, NULL, forbidden, sizeof forbidden, NULL));
    set_limit(before.rlim_cur);
    set_capability(CAP_IPC_LOCK, 1);

    CHECK_STATUS(status, VBN_ERR_NO_MEMORY);
    CHECK_EQ(error.sys_errno, ENOMEM);
    CHECK_STR(error.op_name, "vbn_mr_reg");
    CHECK_UEQ(error.value, SIZE);
    CHECK_UEQ(error.limit, LIMIT);
    CHECK_HAS(text, "The region asked for has 1048576 bytes.");
    CHECK_HAS(text, "In this process RLIMIT_MEMLOCK (ulimit -l) is 262144 bytes.");
    CHECK_HAS(text, "It has 0 bytes pinned now");
    CHECK_HAS(text, "LimitMEMLOCK=infinity");
    CHECK_EQ(fits, VBN_OK);
    snprintf(number, sizeof number, "It has %d bytes pinned now", LIMIT / 2);
    CHECK_HAS(later, number);
    CHECK(none != VBN_OK);
    CHECK_EQ(refused.sys_errno, EPERM);
    CHECK_HAS(forbidden, "RLIMIT_MEMLOCK is 0 and the process lacks CAP_IPC_LOCK");
    CHECK_HAS(forbidden, "RLIMIT_MEMLOCK (ulimit -l) is 0 bytes.");
    /* The limit of before, and both are told. */
    CHECK_OK(vbn_explain_error(&error, NULL, later, sizeof later, NULL));
    if (before.rlim_cur != LIMIT) CHECK_HAS(later, "At the time of the failure RLIMIT_MEMLOCK (ulimit -l) was 262144 bytes.");
    CHECK_OK(vbn_mr_close(&part));
    CHECK_OK(vbn_mr_reg(pd, memory, SIZE, ACCESS_ALL, NULL, &mr));
    CHECK_OK(vbn_mr_close(&mr));
    CHECK_OK(vbn_pd_close(&pd));
    CHECK_OK(vbn_context_close(&context));
    free(memory);
}

/* Memory that isn't there. */
static void unmapped_memory(void) {
    vbn_context *context;
    vbn_pd *pd;
    vbn_mr *mr;
    CHECK_OK(vbn_context_open(test_device(), NULL, &context));
    CHECK_OK(vbn_pd_alloc(context, NULL, &pd));
    CHECK_STATUS(vbn_mr_reg(pd, (void *)(uintptr_t)0x1000, 4096, ACCESS_ALL, NULL, &mr), VBN_ERR_DRIVER);
    CHECK_EQ(test_error().sys_errno, EFAULT);
    CHECK_HAS(explained(), "/proc/self/maps");
    CHECK_OK(vbn_pd_close(&pd));
    CHECK_OK(vbn_context_close(&context));
}

static struct pair p;

/* The GID that an IP address makes. */
static void gid_of(const char *address, uint8_t gid[16]) {
    static const uint8_t mapped[16] = {[10] = 0xff, 0xff};
    if (inet_pton(AF_INET6, address, gid) == 1) return;
    memcpy(gid, mapped, 16);
    CHECK_EQ(inet_pton(AF_INET, address, gid + 12), 1);
}

/* One's own GID of the family that an address has. */
static uint8_t own_gid(const char *address) {
    vbn_gid_select_attr family = {.struct_size = sizeof family, .family = strchr(address, ':') ? VBN_GID_FAMILY_IPV6 : VBN_GID_FAMILY_IPV4};
    vbn_gid_choice choice = {.struct_size = sizeof choice};
    CHECK_OK(vbn_gid_select(p.a.context, 1, &family, &choice, NULL, 0, 0, NULL));
    return (uint8_t)choice.index;
}

/* The step to RTR fails with this errno, and is explained so. The queue pair stays in INIT, and can still be connected. */
static void no_way_to(const char *address, int sys_errno, const char *cause, const char *remedy) {
    pair_open(&p, NULL);
    vbn_rc_record own, peer = p.b.record;
    gid_of(address, peer.gid);
    vbn_rc_attr from = {.struct_size = sizeof from, .set = VBN_RC_SET_SGID_INDEX, .sgid_index = own_gid(address)};
    CHECK_OK(vbn_rc_record_local(p.a.qp, &from, &own));
    CHECK_OK(vbn_qp_to_init(p.a.qp, NULL));
    CHECK_STATUS(vbn_qp_connect_rc(p.a.qp, &own, &peer, NULL), VBN_ERR_DRIVER);
    CHECK_EQ(test_error().sys_errno, sys_errno);
    CHECK_HAS(explained(), cause);
    CHECK_HAS(text, remedy);
    CHECK_EQ(qp_state(p.a.qp), VBN_QPS_INIT);
    CHECK_STATUS(vbn_qp_to_rtr(p.a.qp, &own, &peer, NULL), VBN_ERR_DRIVER);
    CHECK_EQ(test_error().sys_errno, sys_errno);
    CHECK_HAS(explained(), cause);
    CHECK_OK(vbn_qp_connect_rc(p.a.qp, &p.a.record, &p.b.record, NULL));
    pair_close(&p);
}

/* The same of an address handle. */
static void no_ah_to(const char *address, int sys_errno, const char *cause, const char *remedy) {
    side_open(&p.a, NULL);
    vbn_ah_attr attr = {.struct_size = sizeof attr, .path = {.is_global = 1, .port_num = 1, .sgid_index = own_gid(address), .hop_limit = 64}};
    gid_of(address, attr.path.dgid);
    vbn_ah *ah = NULL;
    CHECK_STATUS(vbn_ah_create(p.a.pd, &attr, &ah), VBN_ERR_DRIVER);
    CHECK(ah == NULL);
    CHECK_EQ(test_error().sys_errno, sys_errno);
    CHECK_HAS(explained(), cause);
    CHECK_HAS(text, remedy);
    side_close(&p.a);
}

static const char *silent(void) {
    const char *address = getenv("VBN_TEST_SILENT");
    if (!address) SKIP("VBN_TEST_SILENT names no address without a host");
    return address;
}

static const char *unrouted(void) {
    const char *address = getenv("VBN_TEST_UNROUTED");
    if (!address) SKIP("VBN_TEST_UNROUTED names no address without a route");
    return address;
}

static void nobody_answers(void) { no_way_to(silent(), ETIMEDOUT, "Nobody answers at the peer's address", "Ping the address"); }
static void nobody_answers_ah(void) { no_ah_to(silent(), ETIMEDOUT, "Nobody answers at the peer's address", "Ping the address"); }
static void no_route(void) { no_way_to(unrouted(), ENETUNREACH, "No route leads from the local GID", "ip route get"); }
static void no_route_ah(void) { no_ah_to(unrouted(), ENETUNREACH, "No route leads from the local GID", "ip route get"); }

/* A place of the GID table that is empty, by the step that doesn't look before. */
static void empty_gid(void) {
    pair_open(&p, NULL);
    CHECK_OK(vbn_qp_to_init(p.a.qp, NULL));
    vbn_qp_attr attr = {
        .struct_size = sizeof attr, .qp_state = VBN_QPS_RTR, .path_mtu = VBN_MTU_256, .dest_qp_num = vbn_qp_num(p.b.qp), .min_rnr_timer = 12, .max_dest_rd_atomic = 1,
        .set = VBN_QP_STATE | VBN_QP_AV | VBN_QP_PATH_MTU | VBN_QP_DEST_QPN | VBN_QP_RQ_PSN | VBN_QP_MAX_DEST_RD_ATOMIC | VBN_QP_MIN_RNR_TIMER,
    };
    attr.path.is_global = 1;
    attr.path.port_num = 1;
    attr.path.sgid_index = 200;
    memcpy(attr.path.dgid, p.b.record.gid, 16);
    CHECK_STATUS(vbn_qp_modify(p.a.qp, &attr), VBN_ERR_DRIVER);
    CHECK_EQ(test_error().sys_errno, ENODATA);
    CHECK_HAS(explained(), "There is no GID at sgid_index.");
    CHECK_HAS(text, "vbn_gid_select");
    pair_close(&p);
}

/* What the kernel keeps to privileged programs. */
static void privileged_qkey(void) {
    struct setup ud = {.qp_type = VBN_QPT_UD};
    side_open(&p.a, &ud);
    set_capability(CAP_NET_RAW, 0);
    vbn_qp_prepare_attr attr = {.struct_size = sizeof attr, .set = VBN_QP_PREPARE_SET_QKEY, .qkey = 0x80000001};
    vbn_status status = vbn_qp_prepare(p.a.qp, &attr);
    vbn_error_info error = test_error();
    if (status != VBN_OK) explained();
    set_capability(CAP_NET_RAW, 1);
    if (status == VBN_OK) {
        side_close(&p.a);
        SKIP("this kernel gives any QKEY to any program");
    }
    CHECK_STATUS(status, VBN_ERR_DRIVER);
    CHECK_EQ(error.sys_errno, EPERM);
    CHECK_HAS(text, "CAP_NET_RAW");
    CHECK_HAS(text, "vbn_qkey_random");
    side_close(&p.a);
}

static const struct test tests[] = {
    {"locked_memory", locked_memory},
    {"unmapped_memory", unmapped_memory},
    {"nobody_answers", nobody_answers},
    {"nobody_answers_ah", nobody_answers_ah},
    {"no_route", no_route},
    {"no_route_ah", no_route_ah},
    {"empty_gid", empty_gid},
    {"privileged_qkey", privileged_qkey},
    {NULL, NULL},
};

int main(int argc, char **argv) {
    return test_main("explain_real", tests, argc, argv);
}
