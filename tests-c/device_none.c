/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Without a device: an empty list, and the reason that fits. In the virtual machine: vmrun -n none, -n bare, or -n lo with the nodes removed. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common.h"

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

/* With the nodes moved away the kernel has a device, but nobody can open it. */
static void without_nodes(void) {
    if (!getenv("VMRUN_GUEST") || !kernel_has_devices()) SKIP("only in the virtual machine with a device");
    CHECK_EQ(rename("/dev/infiniband", "/dev/infiniband.away"), 0);
    uint32_t found = count();
    vbn_device_list_reason_info info = reason();
    vbn_context *context = NULL;
    vbn_status status = vbn_context_open(NULL, NULL, &context);
    test_note("list %u, open: %s", found, test_last_error());
    int back = rename("/dev/infiniband.away", "/dev/infiniband");
    CHECK_EQ(back, 0);
    CHECK(status != VBN_OK);
    CHECK(info.reason == VBN_REASON_NO_NODE || info.reason == VBN_REASON_CANNOT_OPEN);
    CHECK_HAS(info.message, "/dev/infiniband");
    info = reason();
    CHECK_EQ(info.reason, VBN_REASON_NONE);
}

static const struct test tests[] = {
    {"empty_list", empty_list},
    {"open_fails", open_fails},
    {"without_nodes", without_nodes},
    {NULL, NULL},
};

int main(int argc, char **argv) {
    return test_main("device_none", tests, argc, argv);
}
