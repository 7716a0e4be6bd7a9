/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Without a device: an empty list, and the reason that fits. In the virtual machine: vmrun -n none, -n bare, or -n lo with the nodes or the provider removed. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common.h"
#include "process.h"

static vbn_device_list_reason_info reason(void) {
    vbn_device_list_reason_info info = {.struct_size = sizeof info};
    CHECK_OK(vbn_device_list_reason(&info));
    test_note("reason %d, errno %d: %s", info.reason, info.sys_errno, info.message);
    return info;
}

static uint32_t count(void) {
    uint32_t count = 99;
    CHECK_OK(vbn_device_list(NULL, sizeof(vbn_device_info), 0, &count));
    return count;
}

/* Which reason the kernel's files call for: no RDMA at all, or no device. */
static int32_t expected(void) {
    if (access("/sys/class/infiniband_verbs", F_OK) != 0) return VBN_REASON_NO_MODULE;
    return VBN_REASON_NO_DEVICE;
}

static int kernel_has_devices(void) {
    return system("ls /sys/class/infiniband 2>/dev/null | grep -q .") == 0;
}

static void empty_list(void) {
    if (kernel_has_devices()) SKIP("the kernel has a device: run with vmrun -n none or -n bare");
    CHECK_UEQ(count(), 0);
    vbn_device_list_reason_info info = reason();
    CHECK_EQ(info.reason, expected());
    CHECK_UEQ(info.count, 0);
    CHECK(strlen(info.message) > 30);
}

static void open_fails(void) {
    if (kernel_has_devices()) SKIP("the kernel has a device: run with vmrun -n none or -n bare");
    vbn_context *context = NULL;
    CHECK_STATUS(vbn_context_open(NULL, NULL, &context), VBN_ERR_NOT_FOUND);
    CHECK(context == NULL);
    test_note("%s", test_last_error());
    CHECK_STATUS(vbn_context_open("mlx5_0", NULL, &context), VBN_ERR_NOT_FOUND);
    CHECK_STR(test_error().object, "mlx5_0");
    CHECK_UEQ(test_error().limit, 0);
}

/* What libverbena says while the kernel has a device that nobody here can open. */
struct answer {
    uint32_t found;
    vbn_device_list_reason_info reason;
    vbn_status status;
    vbn_error_info error;
};

static void ask(struct answer *answer) {
    vbn_context *context = NULL;
    answer->found = count();
    answer->reason = reason();
    answer->status = vbn_context_open(NULL, NULL, &context);
    answer->error.struct_size = sizeof answer->error;
    vbn_last_error(&answer->error);
    test_note("list %u, open: %s", answer->found, answer->error.message);
}

static void need_nodes(void) {
    if (!getenv("VMRUN_GUEST") || !kernel_has_devices()) SKIP("only in the virtual machine with a device");
    CHECK_EQ(reason().reason, VBN_REASON_NONE);
}

static void check_answer(const struct answer *answer, int32_t reason_wanted, int errno_wanted) {
    CHECK_EQ(answer->reason.reason, reason_wanted);
    CHECK_EQ(answer->reason.sys_errno, errno_wanted);
    CHECK_UEQ(answer->reason.count, answer->found);
    CHECK_HAS(answer->reason.message, "/dev/infiniband");
    CHECK_EQ(answer->status, answer->found ? VBN_ERR_DRIVER : VBN_ERR_NOT_FOUND);
    CHECK_EQ(answer->error.sys_errno, answer->found ? errno_wanted : 0);
    CHECK_EQ(reason().reason, VBN_REASON_NONE); /* everything is back in its place */
}

static void without_nodes(void) {
    struct answer answer = {0};
    need_nodes();
    CHECK_EQ(rename("/dev/infiniband", "/dev/infiniband.away"), 0);
    ask(&answer);
    CHECK_EQ(rename("/dev/infiniband.away", "/dev/infiniband"), 0);
    CHECK_UEQ(answer.found, 0); /* libibverbs leaves it out */
    check_answer(&answer, VBN_REASON_NO_NODE, ENOENT);
}

/* The nodes are there, for another user. */
static void not_permitted(void) {
    struct answer answer = {0};
    need_nodes();
    CHECK_EQ(system("chmod 0 /dev/infiniband/uverbs*"), 0);
    CHECK_EQ(seteuid(65534), 0);
    ask(&answer);
    CHECK_EQ(seteuid(0), 0);
    CHECK_EQ(system("chmod 666 /dev/infiniband/uverbs*"), 0);
    CHECK(answer.found > 0);
    check_answer(&answer, VBN_REASON_NOT_PERMITTED, EACCES);
    CHECK_HAS(answer.reason.message, "give this user access");
}

/* libibverbs looks for providers once, so another process asks. */
static void without_provider(void) {
    struct answer answer;
    int fd;
    need_nodes();
    CHECK_EQ(system("for file in /usr/lib/*/libibverbs/librxe-*.so; do mv $file $file.away || exit; done"), 0);
    pid_t pid = process_start("device_none", "ask", &fd);
    hear(fd, &answer, sizeof answer);
    process_end(pid, fd);
    CHECK_EQ(system("for file in /usr/lib/*/libibverbs/librxe-*.so.away; do mv $file ${file%.away} || exit; done"), 0);
    CHECK_UEQ(answer.found, 0);
    CHECK_EQ(answer.reason.reason, VBN_REASON_NO_PROVIDER);
    CHECK_UEQ(answer.reason.count, 0);
    CHECK_HAS(answer.reason.message, "rxe0");
    CHECK_HAS(answer.reason.message, "ibverbs-providers");
    CHECK_EQ(answer.status, VBN_ERR_NOT_FOUND);
}

static void tell_answer(int fd) {
    struct answer answer = {0};
    ask(&answer);
    tell(fd, &answer, sizeof answer);
}

static const struct role roles[] = {{"ask", tell_answer}, {NULL, NULL}};

static const struct test tests[] = {
    {"empty_list", empty_list},
    {"open_fails", open_fails},
    {"without_nodes", without_nodes},
    {"not_permitted", not_permitted},
    {"without_provider", without_provider},
    {NULL, NULL},
};

int main(int argc, char **argv) {
    int status;
    if (process_role("device_none", roles, argc, argv, &status)) return status;
    return test_main("device_none", tests, argc, argv);
}
