/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* vbn_explain: every EFA code and libibverbs status, whatever rdma-core makes of it. Needs no device, and loads no library. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "harness.h"

static char text[VBN_EXPLAIN_TEXT_SIZE];

static const char *explain(const vbn_explain_attr *attr) {
    size_t needed = 0;
    memset(text, 0x5a, sizeof text);
    CHECK_OK(vbn_explain(attr, text, sizeof text, &needed));
    CHECK_UEQ(needed, strlen(text) + 1);
    return text;
}

static const char *efa(uint32_t vendor_err, int32_t status) {
    vbn_explain_attr attr = {.struct_size = sizeof attr, .driver = VBN_DRIVER_EFA, .vendor_err = vendor_err, .status = status};
    return explain(&attr);
}

static const char *of_driver(const char *name, uint32_t vendor_err, int32_t status) {
    vbn_explain_attr attr = {.struct_size = sizeof attr, .driver_name = name, .vendor_err = vendor_err, .status = status};
    return explain(&attr);
}

/* A cause, and below it a remedy. */
static void check_advice(const char *shown) {
    CHECK_HAS(shown, "\n- ");
    CHECK_HAS(shown, "\n  -> ");
}

/* As rdma-core 65.0 has it; `since` is the release that tells the code from others by its status. */
static const struct {
    uint32_t code;
    int32_t status;
    int since;
    const char *says;
} codes[] = {
    {1, VBN_WC_WR_FLUSH_ERR, 0, "address handle"},
    {2, VBN_WC_LOC_QP_OP_ERR, 0, "internal error"},
    {3, VBN_WC_LOC_QP_OP_ERR, 0, "p4d"},
    {4, VBN_WC_LOC_QP_OP_ERR, 0, "Keep the peer open"},
    {5, VBN_WC_LOC_PROT_ERR, 0, "GPU memory"},
    {6, VBN_WC_LOC_LEN_ERR, 0, "vbn_rdma_split"},
    {7, VBN_WC_REM_ACCESS_ERR, 52, "rkey"},
    {8, VBN_WC_REM_ABORT_ERR, 0, "reset or closed"},
    {9, VBN_WC_REM_INV_RD_REQ_ERR, 0, "Exchange the records again"},
    {10, VBN_WC_RNR_RETRY_EXC_ERR, 0, "no receive posted"},
    {11, VBN_WC_REM_INV_REQ_ERR, 0, "longest message"},
    {12, VBN_WC_BAD_RESP_ERR, 0, "generation"},
    {13, VBN_WC_RESP_TIMEOUT_ERR, 40, "has died"},
    {14, VBN_WC_REM_OP_ERR, 52, "both ways"},
    {15, VBN_WC_RESP_TIMEOUT_ERR, 55, "security group"},
    {18, VBN_WC_REM_INV_REQ_ERR, 62, "unsolicited"},
};

static void every_efa_code(void) {
    for (size_t i = 0; i < sizeof codes / sizeof codes[0]; i++) {
        char number[64];
        snprintf(number, sizeof number, "vendor code %u (", codes[i].code);
        const char *shown = efa(codes[i].code, codes[i].status);
        CHECK_HAS(shown, number);
        CHECK_HAS(shown, vbn_wc_status_name(codes[i].status));
        CHECK_HAS(shown, codes[i].says);
        CHECK(strstr(shown, "doesn't go with") == NULL);
        check_advice(shown);
    }
    CHECK_HAS(efa(0, VBN_WC_SUCCESS), "succeeded");
}

/* Before it had a status of its own a code came with GENERAL_ERR: the same is told, and from what release on it has one. */
static void older_rdma_core(void) {
    static char newer[VBN_EXPLAIN_TEXT_SIZE];
    for (size_t i = 0; i < sizeof codes / sizeof codes[0]; i++) {
        if (codes[i].since == 0) continue;
        char release[64];
        snprintf(release, sizeof release, "before rdma-core %d", codes[i].since);
        strcpy(newer, efa(codes[i].code, codes[i].status));
        CHECK_HAS(newer, release);
        CHECK_STR(efa(codes[i].code, VBN_WC_GENERAL_ERR), newer);
    }
    CHECK_HAS(efa(15, VBN_WC_LOC_LEN_ERR), "LOC_LEN_ERR (1), which doesn't go with this code");
}

static void network_words(const char *shown) {
    CHECK_HAS(shown, "security group");
    CHECK_HAS(shown, "subnet");
    CHECK_HAS(shown, "AZ");
    CHECK_HAS(shown, "secondary CIDR");
}

static void network(void) {
    network_words(efa(15, VBN_WC_RESP_TIMEOUT_ERR));
    network_words(efa(0, VBN_WC_RESP_TIMEOUT_ERR));
    network_words(efa(0, VBN_EXPLAIN_SILENCE));
    CHECK_HAS(text, "no completion has come");
    network_words(of_driver("efa", 0, VBN_EXPLAIN_SILENCE));
}

static void every_status(void) {
    static const char *const drivers[] = {NULL, "", "efa", "mlx5_core", "rdma_rxe", "bnxt_re"};
    for (size_t i = 0; i < sizeof drivers / sizeof drivers[0]; i++)
        for (int32_t status = 1; status <= VBN_WC_TM_RNDV_INCOMPLETE; status++) {
            const char *shown = of_driver(drivers[i], 0, status);
            CHECK_HAS(shown, vbn_wc_status_name(status));
            check_advice(shown);
        }
    CHECK_HAS(of_driver("mlx5_core", 129, VBN_WC_RETRY_EXC_ERR), "mlx5: ");
    CHECK_HAS(text, "129 (0x81)");
    check_advice(of_driver("rdma_rxe", 0, VBN_EXPLAIN_SILENCE));
    CHECK_HAS(text, "retry_cnt is 7");
}

static void unknown_codes(void) {
    static const uint32_t none[] = {16, 17, 19, 4096, UINT32_MAX};
    for (size_t i = 0; i < sizeof none / sizeof none[0]; i++) CHECK_HAS(efa(none[i], VBN_WC_GENERAL_ERR), "isn't known to this version");
    CHECK_HAS(of_driver("bnxt_re", 5, 99), "doesn't know the status");
    CHECK_HAS(text, "no table of this driver's");
    CHECK_HAS(of_driver("mlx5", 77, VBN_WC_REM_ACCESS_ERR), "77 (0x4d) isn't known");
}

static void operation_and_peer(void) {
    vbn_explain_attr attr = {
        .struct_size = sizeof attr,
        .driver = VBN_DRIVER_EFA,
        .vendor_err = 7,
        .set = VBN_EXPLAIN_SET_OPCODE,
        .opcode = VBN_WR_RDMA_READ,
        .qp_num = 17,
        .peer_qp_num = 5,
        .peer_gid = {0xfe, 0x80, [15] = 9},
    };
    CHECK_HAS(explain(&attr), "efa: a request (RDMA_READ) of queue pair 17 to queue pair 5 at fe80::9 failed");
    CHECK_HAS(text, "VBN_ACCESS_REMOTE_READ");
    CHECK(strstr(text, "VBN_ACCESS_REMOTE_WRITE") == NULL);
    attr.set = 0;
    attr.opcode = 0;
    CHECK_HAS(explain(&attr), "VBN_ACCESS_REMOTE_WRITE");
}

static void cut(void) {
    static char whole[VBN_EXPLAIN_TEXT_SIZE];
    vbn_explain_attr attr = {.struct_size = sizeof attr, .driver = VBN_DRIVER_EFA, .vendor_err = 15};
    strcpy(whole, explain(&attr));
    size_t length = strlen(whole), needed = 0;
    CHECK_OK(vbn_explain(&attr, NULL, 0, &needed));
    CHECK_UEQ(needed, length + 1);
    for (size_t capacity = 1; capacity < length + 3; capacity += capacity < length - 2 ? 97 : 1) {
        memset(text, 0x5a, sizeof text);
        CHECK_OK(vbn_explain(&attr, text, capacity, &needed));
        CHECK_UEQ(needed, length + 1);
        size_t shown = capacity - 1 < length ? capacity - 1 : length;
        CHECK_MEM(text, whole, shown);
        CHECK_EQ(text[shown], 0);
        CHECK_EQ(text[capacity], 0x5a);
    }
    CHECK_OK(vbn_explain(&attr, text, 20, NULL));
    CHECK_UEQ(strlen(text), 19);
}

/* vbn_wc_check's sentence is of the same table. */
static void wc_check(void) {
    for (int32_t status = 1; status <= VBN_WC_GENERAL_ERR; status++) {
        vbn_wc wc = {.status = status, .vendor_err = 3, .qp_num = 17};
        CHECK_STATUS(vbn_wc_check(&wc), VBN_ERR_COMPLETION);
        vbn_error_info error = test_error();
        CHECK_HAS(error.message, "queue pair 17 failed: ");
        if (status == VBN_WC_RETRY_EXC_ERR) {
            CHECK_HAS(error.message, "the peer did not answer within the retries");
            CHECK_HAS(of_driver(NULL, 3, status), "the peer did not answer within the retries");
        }
    }
}

static const char *explain_error(const vbn_error_info *error, const vbn_explain_attr *more) {
    size_t needed = 0;
    memset(text, 0x5a, sizeof text);
    CHECK_OK(vbn_explain_error(error, more, text, sizeof text, &needed));
    CHECK_UEQ(needed, strlen(text) + 1);
    return text;
}

/* A record filled by hand: what a program that uses raw verbs has. */
static const char *of_errno(const char *function, int sys_errno) {
    vbn_error_info error = {.struct_size = sizeof error, .sys_errno = sys_errno};
    snprintf(error.op_name, sizeof error.op_name, "%s", function);
    return explain_error(&error, NULL);
}

static void transitions(void) {
    static const struct {
        int sys_errno;
        const char *cause, *remedy;
    } known[] = {
        {EINVAL, "path_mtu is larger", "vbn_qp_query tells the state"}, {ETIMEDOUT, "Nobody answers at the peer's address", "Ping the address"},
        {ENETUNREACH, "different subnets", "ip route get"},             {EHOSTUNREACH, "different subnets", "ip route get"},
        {ENODATA, "GID table is empty", "vbn_gid_select"},              {ENODEV, "network interface that is down", "rdma link"},
        {EADDRNOTAVAIL, "network interface", "ip address"},             {EPROTONOSUPPORT, "different address families", "one type and family"},
        {EOPNOTSUPP, "another type of queue pair", "vbn_qp_prepare"},   {EPERM, "CAP_NET_RAW", "vbn_qkey_random"},
    };
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        char number[32];
        snprintf(number, sizeof number, "(errno %d)", known[i].sys_errno);
        CHECK_HAS(of_errno("vbn_qp_modify", known[i].sys_errno), known[i].cause);
        CHECK_HAS(text, known[i].remedy);
        CHECK_HAS(text, number);
        CHECK_HAS(of_errno("ibv_modify_qp", known[i].sys_errno), known[i].cause);
        check_advice(text);
    }
    /* What can't be at fault on the way to that state is left out. */
    CHECK(strstr(of_errno("vbn_qp_to_init", EINVAL), "path_mtu") == NULL);
    CHECK_HAS(text, "port_num");
    CHECK(strstr(of_errno("vbn_qp_to_rtr", EINVAL), "port_num") == NULL);
    vbn_error_info error = {.struct_size = sizeof error, .sys_errno = ETIMEDOUT, .op_name = "vbn_qp_to_rtr"};
    vbn_explain_attr peer = {.struct_size = sizeof peer, .peer_gid = {0xfe, 0x80, [15] = 9}};
    CHECK_HAS(explain_error(&error, &peer), "Note: fe80::9 is link-local");
}

/* ENOMEM names the size, and the limit that this process has now. */
static void registrations(void) {
    struct rlimit old, small;
    CHECK_EQ(getrlimit(RLIMIT_MEMLOCK, &old), 0);
    small = old;
    small.rlim_cur = 12345;
    CHECK_EQ(setrlimit(RLIMIT_MEMLOCK, &small), 0);
    vbn_error_info error = {.struct_size = sizeof error, .status = VBN_ERR_NO_MEMORY, .sys_errno = ENOMEM, .value = 7654321, .limit = 65536,
                            .op_name = "vbn_mr_reg"};
    CHECK_HAS(explain_error(&error, NULL), "has 7654321 bytes");
    CHECK_HAS(text, "was 65536 bytes");
    CHECK_HAS(text, "RLIMIT_MEMLOCK (ulimit -l) is 12345 bytes");
    CHECK_HAS(text, "VmPin");
    CHECK_HAS(text, "LimitMEMLOCK=infinity");
    CHECK_HAS(of_errno("ibv_reg_mr", ENOMEM), "is 12345 bytes");
    CHECK(strstr(text, " was ") == NULL && strstr(text, "region asked for") == NULL);
    CHECK_HAS(of_errno("vbn_mr_reg", EPERM), "RLIMIT_MEMLOCK is 0 and the process lacks CAP_IPC_LOCK");
    CHECK_EQ(setrlimit(RLIMIT_MEMLOCK, &old), 0);
    CHECK_HAS(of_errno("vbn_mr_reg", EFAULT), "/proc/self/maps");
    CHECK_HAS(text, "read-only");
    CHECK_HAS(text, "vbn_mr_reg_dmabuf");
    CHECK(strstr(of_errno("vbn_mr_reg_dmabuf", EFAULT), "read-only") == NULL);
    CHECK_HAS(of_errno("vbn_mr_reg_dmabuf", EBADF), "no dma-buf");
    check_advice(text);
}

/* What isn't known is called so, and whatever it is there is advice; nothing has failed: no advice. */
static void any_record(void) {
    static const char *const names[] = {"", "vbn_cq_poll", "vbn_ah_create", "vbn_qp_create", "vbn_context_open", "no such function"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        for (int number = -3; number < 140; number++) {
            if (number == 0) continue;
            check_advice(of_errno(names[i], number));
            CHECK_HAS(text, " failed: ");
        }
    CHECK_HAS(of_errno("vbn_cq_poll", EXDEV), "knows nothing special");
    CHECK_STR(of_errno("vbn_cq_poll", 0), "vbn_cq_poll has not failed.\n");
    for (vbn_status status = VBN_ERR_LIMIT; status <= VBN_ERR_ARGUMENT; status++) {
        vbn_error_info error = {.struct_size = sizeof error, .status = status};
        check_advice(explain_error(&error, NULL));
        CHECK_HAS(text, vbn_status_name(status));
    }
    /* Arrays without an end are read to their end only. */
    vbn_error_info full = {.struct_size = sizeof full, .status = VBN_ERR_DRIVER, .sys_errno = EINVAL};
    memset(full.op_name, 'o', sizeof full.op_name);
    memset(full.message, 'm', sizeof full.message);
    explain_error(&full, NULL);
    CHECK_UEQ(strspn(text, "m"), sizeof full.message);
    CHECK_EQ(text[sizeof full.message], '\n');
}

/* Records of real failures: a completion's, and that of a library that isn't there. */
static void recorded(void) {
    static char expected[VBN_EXPLAIN_TEXT_SIZE];
    vbn_wc wc = {.status = VBN_WC_RETRY_EXC_ERR, .vendor_err = 129, .qp_num = 17};
    CHECK_STATUS(vbn_wc_check(&wc), VBN_ERR_COMPLETION);
    vbn_error_info error = test_error();
    strcpy(expected, of_driver("mlx5", 129, VBN_WC_RETRY_EXC_ERR));
    vbn_explain_attr more = {.struct_size = sizeof more, .driver = VBN_DRIVER_MLX5};
    CHECK_STR(explain_error(&error, &more), expected);
    vbn_context *context = NULL;
    CHECK_STATUS(vbn_context_open(NULL, NULL, &context), VBN_ERR_LIBRARY_MISSING);
    error = test_error();
    explain_error(&error, NULL);
    CHECK_UEQ(strncmp(text, error.message, strlen(error.message)), 0);
    check_advice(text);
}

/* main points the library's search at a file that doesn't exist; nothing above has needed it. */
static void without_a_library(void) {
    vbn_library_info info = {.struct_size = sizeof info};
    CHECK_OK(vbn_library_query(VBN_LIBRARY_IBVERBS, &info));
    CHECK_EQ(info.loaded, 0);
    network_words(efa(15, VBN_WC_GENERAL_ERR));
}

/* Each entry of the drivers' own tables, which no other driver's text has. */
static void tables_of_drivers(void) {
    static const struct { int32_t driver, status; uint32_t vendor_err; const char *part; } entries[] = {
        {VBN_DRIVER_RXE, VBN_WC_LOC_QP_OP_ERR, 0, "(Linux 6.1) reports a wrong lkey so"},
        {VBN_DRIVER_RXE, VBN_WC_WR_FLUSH_ERR, 0, "of Linux 6.12 reports a wrong lkey so"},
        {VBN_DRIVER_RXE, VBN_WC_RETRY_EXC_ERR, 0, "below the soft-RoCE device is down"},
        {VBN_DRIVER_RXE, VBN_EXPLAIN_SILENCE, 0, "which soft-RoCE (Linux 6.1) takes for ever"},
        {VBN_DRIVER_MLX5, VBN_WC_RETRY_EXC_ERR, 0x81, "NCCL issue 426"},
        {VBN_DRIVER_MLX5, VBN_WC_REM_ACCESS_ERR, 0x88, "libfabric issue 4283"},
        {VBN_DRIVER_MLX5, VBN_WC_REM_INV_REQ_ERR, 0x8a, "charm++ issue 2532"},
        {VBN_DRIVER_MLX5, VBN_WC_LOC_PROT_ERR, 0x93, "page fault of on-demand paging"},
        {VBN_DRIVER_MLX5, VBN_WC_WR_FLUSH_ERR, 0xf9, "echo of an earlier error"},
    };
    for (size_t i = 0; i < sizeof entries / sizeof *entries; i++) {
        vbn_explain_attr attr = {
            .struct_size = sizeof attr, .driver = entries[i].driver, .status = entries[i].status, .vendor_err = entries[i].vendor_err,
        };
        CHECK_HAS(explain(&attr), entries[i].part);
        attr.driver = VBN_DRIVER_UNKNOWN;
        CHECK(!strstr(explain(&attr), entries[i].part));
    }
}

static const struct test tests[] = {
    {"tables_of_drivers", tables_of_drivers},
    {"every_efa_code", every_efa_code},
    {"older_rdma_core", older_rdma_core},
    {"network", network},
    {"every_status", every_status},
    {"unknown_codes", unknown_codes},
    {"operation_and_peer", operation_and_peer},
    {"cut", cut},
    {"wc_check", wc_check},
    {"transitions", transitions},
    {"registrations", registrations},
    {"any_record", any_record},
    {"recorded", recorded},
    {"without_a_library", without_a_library},
    {NULL, NULL},
};

int main(int argc, char **argv) {
    setenv("VBN_IBVERBS_LIBRARY", "/nonexistent/libibverbs.so.1", 1);
    return test_main("null_explain", tests, argc, argv);
}
