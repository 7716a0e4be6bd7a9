/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Devices, ports, GIDs and keys, compared with what sysfs and ibv_devinfo say. */
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common.h"

static vbn_context *context;

static void open_device(void) {
    CHECK_OK(vbn_context_open(test_device(), NULL, &context));
}

static void close_device(void) {
    CHECK_OK(vbn_context_close(&context));
    CHECK(context == NULL);
}

/* A file of the device in sysfs, without the line's end; NULL if it can't be read. */
static const char *sysfs(const char *file) {
    static char line[256];
    char path[400];
    snprintf(path, sizeof path, "/sys/class/infiniband/%s/%s", test_device(), file);
    FILE *f = fopen(path, "r");
    if (!f) return NULL;
    char *got = fgets(line, sizeof line, f);
    fclose(f);
    if (!got) return NULL;
    line[strcspn(line, "\n")] = 0;
    return line;
}

static uint64_t guid_of(const char *text) {
    unsigned a, b, c, d;
    if (!text || sscanf(text, "%x:%x:%x:%x", &a, &b, &c, &d) != 4) FAIL("no GUID: %s", text ? text : "");
    return (uint64_t)a << 48 | (uint64_t)b << 32 | (uint64_t)c << 16 | d;
}

static vbn_device_info find_device(void) {
    vbn_device_info devices[32];
    uint32_t count = 0;
    CHECK_OK(vbn_device_list(devices, sizeof devices[0], 32, &count));
    for (uint32_t i = 0; i < count && i < 32; i++) {
        CHECK_UEQ(devices[i].index, i);
        if (strcmp(devices[i].name, test_device()) == 0) return devices[i];
    }
    FAIL("%s is not in the list of %u", test_device(), count);
}

static void list(void) {
    test_device();
    vbn_device_info info = find_device();
    CHECK_UEQ(info.guid, guid_of(sysfs("node_guid")));
    CHECK_EQ(info.open_status, VBN_OK);
    CHECK_EQ(info.open_errno, 0);
    CHECK(strncmp(info.uverbs_name, "uverbs", 6) == 0);
    char node[128];
    snprintf(node, sizeof node, "/dev/infiniband/%s", info.uverbs_name);
    int fd = open(node, O_RDWR | O_CLOEXEC);
    CHECK(fd >= 0);
    close(fd);
    CHECK_HAS(info.sysfs_path, test_device());
    const char *type = sysfs("node_type"); /* "1: CA" */
    CHECK_EQ(strtol(type, NULL, 10), info.node_type);
    if (!strcasestr(type, vbn_node_type_name(info.node_type))) FAIL("sysfs says %s, libverbena %s", type, vbn_node_type_name(info.node_type));
    uint32_t count = 99;
    CHECK_OK(vbn_device_list(NULL, sizeof info, 0, &count));
    CHECK(count >= 1);
    CHECK(count < 99);
    vbn_device_list_reason_info reason = {.struct_size = sizeof reason};
    CHECK_OK(vbn_device_list_reason(&reason));
    CHECK_EQ(reason.reason, VBN_REASON_NONE);
    CHECK_UEQ(reason.count, count);
}

static void open_and_query(void) {
    vbn_context_attr attr = {.struct_size = sizeof attr, .user_data = 12345};
    CHECK_OK(vbn_context_open(test_device(), &attr, &context));
    vbn_context_info info = {.struct_size = sizeof info};
    CHECK_OK(vbn_context_query(context, &info));
    CHECK_UEQ(info.user_data, 12345);
    CHECK_STR(info.name, test_device());
    CHECK_STR(info.uverbs_name, find_device().uverbs_name);
    CHECK_EQ(info.ownership, VBN_ADOPT_OWN);
    CHECK(info.num_comp_vectors >= 1);
    CHECK(info.async_fd >= 0);
    CHECK(fcntl(info.async_fd, F_GETFL) & O_NONBLOCK);
    CHECK(info.num_ports >= 1);
    CHECK_EQ(info.extended, 1);
    vbn_async_event event = {.struct_size = sizeof event};
    CHECK_STATUS(vbn_context_get_async_event(context, 0, &event), VBN_ERR_TIMEOUT);
    close_device();
    CHECK_OK(vbn_context_close(&context));
}

/* The driver is known, and a completion is explained by its rules. */
static void driver(void) {
    open_device();
    vbn_context_info info = {.struct_size = sizeof info};
    vbn_explain_attr attr = {.struct_size = sizeof attr, .status = VBN_WC_GENERAL_ERR, .vendor_err = 14};
    char text[VBN_EXPLAIN_TEXT_SIZE];
    CHECK_OK(vbn_context_query(context, &info));
    if (strncmp(test_device(), "efa", 3) == 0) {
        CHECK_EQ(info.driver, VBN_DRIVER_EFA);
        CHECK_STR(info.driver_name, "efa");
    }
    if (is_soft_roce(test_device())) {
        CHECK_EQ(info.driver, VBN_DRIVER_RXE);
        CHECK_STR(info.driver_name, "rxe");
    }
    attr.context = context;
    CHECK_OK(vbn_explain(&attr, text, sizeof text, NULL));
    CHECK_EQ(strstr(text, "UNKNOWN_PEER") != NULL, info.driver == VBN_DRIVER_EFA);
    close_device();
    CHECK_STATUS(vbn_explain(&attr, text, sizeof text, NULL), VBN_ERR_CLOSED);
}

static void open_first(void) {
    test_device();
    CHECK_OK(vbn_context_open(NULL, NULL, &context));
    close_device();
    CHECK_OK(vbn_context_open("", NULL, &context));
    close_device();
}

static void open_missing(void) {
    uint32_t count = 0;
    CHECK_OK(vbn_device_list(NULL, sizeof(vbn_device_info), 0, &count));
    CHECK_STATUS(vbn_context_open("no_such_device", NULL, &context), VBN_ERR_NOT_FOUND);
    CHECK(context == NULL);
    vbn_error_info error = test_error();
    CHECK_STR(error.object, "no_such_device");
    CHECK_UEQ(error.limit, count);
    CHECK_HAS(error.message, "no_such_device");
    CHECK_STR(error.op_name, "vbn_context_open");
}

static void query_device(void) {
    open_device();
    vbn_device_attr device = {.struct_size = sizeof device};
    CHECK_OK(vbn_context_query_device(context, &device));
    CHECK_UEQ(device.node_guid, guid_of(sysfs("node_guid")));
    CHECK_UEQ(device.sys_image_guid, guid_of(sysfs("sys_image_guid")));
    CHECK(device.max_mr_size >= 1 << 20);
    CHECK(device.page_size_cap & 4096);
    CHECK(device.max_qp > 0);
    CHECK(device.max_qp_wr > 0);
    CHECK(device.max_sge > 0);
    CHECK(device.max_cq > 0);
    CHECK(device.max_cqe > 0);
    CHECK(device.max_mr > 0);
    CHECK(device.max_pd > 0);
    CHECK(device.phys_port_cnt >= 1);
    CHECK_UEQ(device.phys_port_cnt_ex, device.phys_port_cnt);
    close_device();
}

/* The value of a line of ibv_devinfo -v. */
static long devinfo(const char *key) {
    char command[256], line[256];
    snprintf(command, sizeof command, "ibv_devinfo -v -d %s 2>/dev/null", test_device());
    FILE *f = popen(command, "r");
    long value = -1;
    while (f && fgets(line, sizeof line, f)) {
        char *at = line + strspn(line, " \t");
        size_t length = strlen(key);
        if (value == -1 && strncmp(at, key, length) == 0 && at[length] == ':') value = strtol(at + length + 1, NULL, 0);
    }
    if (!f || pclose(f) != 0) SKIP("ibv_devinfo is not installed");
    return value;
}

static void same_as_devinfo(void) {
    open_device();
    vbn_device_attr device = {.struct_size = sizeof device};
    vbn_port_attr port = {.struct_size = sizeof port};
    CHECK_OK(vbn_context_query_device(context, &device));
    CHECK_OK(vbn_context_query_port(context, 1, &port));
    CHECK_EQ(device.max_qp, devinfo("max_qp"));
    CHECK_EQ(device.max_qp_wr, devinfo("max_qp_wr"));
    CHECK_EQ(device.max_sge, devinfo("max_sge"));
    CHECK_EQ(device.max_cqe, devinfo("max_cqe"));
    CHECK_EQ(device.max_mr, devinfo("max_mr"));
    CHECK_EQ(device.max_srq, devinfo("max_srq"));
    CHECK_EQ(device.max_qp_rd_atom, devinfo("max_qp_rd_atom"));
    CHECK_EQ(device.max_qp_init_rd_atom, devinfo("max_qp_init_rd_atom"));
    CHECK_EQ(device.vendor_id, devinfo("vendor_id"));
    CHECK_EQ(device.phys_port_cnt, devinfo("phys_port_cnt"));
    CHECK_EQ(port.max_msg_sz, devinfo("max_msg_sz"));
    CHECK_EQ(port.gid_tbl_len, devinfo("gid_tbl_len"));
    CHECK_EQ(port.pkey_tbl_len, devinfo("pkey_tbl_len"));
    CHECK_EQ(strtol(vbn_mtu_name(port.active_mtu), NULL, 10), devinfo("active_mtu"));
    CHECK_EQ(strtol(vbn_mtu_name(port.max_mtu), NULL, 10), devinfo("max_mtu"));
    close_device();
}

static void query_port(void) {
    open_device();
    vbn_port_attr port = {.struct_size = sizeof port};
    CHECK_OK(vbn_context_query_port(context, 1, &port));
    CHECK_HAS(sysfs("ports/1/state"), vbn_port_state_name(port.state)); /* "4: ACTIVE" */
    CHECK_EQ(port.lid, strtol(sysfs("ports/1/lid"), NULL, 0));
    CHECK_EQ(port.state, strtol(sysfs("ports/1/state"), NULL, 10));
    const char *link = sysfs("ports/1/link_layer"); /* "Ethernet" */
    CHECK_EQ(link[0], vbn_link_layer_name(port.link_layer)[0]);
    CHECK(port.gid_tbl_len > 0);
    CHECK(port.max_msg_sz > 0);
    CHECK(port.active_mtu >= VBN_MTU_256 && port.active_mtu <= port.max_mtu);
    close_device();
}

static void no_such_port(void) {
    open_device();
    vbn_context_info info = {.struct_size = sizeof info};
    vbn_port_attr port = {.struct_size = sizeof port};
    uint8_t gid[16];
    uint16_t pkey;
    CHECK_OK(vbn_context_query(context, &info));
    CHECK_STATUS(vbn_context_query_port(context, 99, &port), VBN_ERR_LIMIT);
    CHECK_UEQ(test_error().value, 99);
    CHECK_UEQ(test_error().limit, info.num_ports);
    CHECK(vbn_context_query_port(context, 0, &port) != VBN_OK);
    CHECK_STATUS(vbn_context_query_gid(context, 99, 0, gid), VBN_ERR_LIMIT);
    CHECK_STATUS(vbn_context_query_gid(context, 1, 1 << 20, gid), VBN_ERR_LIMIT);
    CHECK_UEQ(test_error().value, 1 << 20);
    CHECK_STATUS(vbn_context_query_pkey(context, 1, 60000, &pkey), VBN_ERR_LIMIT);
    CHECK_STATUS(vbn_gid_select(context, 99, NULL, NULL, NULL, 0, 0, NULL), VBN_ERR_LIMIT);
    close_device();
}

static void pkey(void) {
    open_device();
    uint16_t key = 0;
    CHECK_OK(vbn_context_query_pkey(context, 1, 0, &key));
    CHECK_UEQ(key, strtoul(sysfs("ports/1/pkeys/0"), NULL, 0));
    close_device();
}

static void gid_text(const uint8_t *gid, char text[40]) {
    for (int i = 0; i < 8; i++) snprintf(text + 5 * i, 6, i < 7 ? "%02x%02x:" : "%02x%02x", gid[2 * i], gid[2 * i + 1]);
}

#define GIDS 64

static uint32_t gid_table(vbn_gid_entry *entries) {
    uint32_t count = 0;
    CHECK_OK(vbn_context_gid_table(context, entries, sizeof *entries, GIDS, &count));
    CHECK(count >= 1);
    return count < GIDS ? count : GIDS;
}

/* Every entry is what sysfs shows at its place. */
static void gids(void) {
    static vbn_gid_entry entries[GIDS];
    open_device();
    uint32_t count = gid_table(entries);
    for (uint32_t i = 0; i < count; i++) {
        char file[64], text[41];
        uint8_t gid[16];
        snprintf(file, sizeof file, "ports/%u/gids/%u", entries[i].port_num, entries[i].index);
        gid_text(entries[i].gid, text);
        CHECK_STR(text, sysfs(file));
        CHECK_OK(vbn_context_query_gid(context, entries[i].port_num, entries[i].index, gid));
        CHECK_MEM(gid, entries[i].gid, 16);
        snprintf(file, sizeof file, "ports/%u/gid_attrs/ndevs/%u", entries[i].port_num, entries[i].index);
        if (sysfs(file)) CHECK_STR(entries[i].ndev, sysfs(file));
        if (entries[i].ndev[0]) CHECK_UEQ(entries[i].ifindex, if_nametoindex(entries[i].ndev));
        snprintf(file, sizeof file, "ports/%u/gid_attrs/types/%u", entries[i].port_num, entries[i].index);
        if (sysfs(file)) CHECK_EQ(entries[i].type == VBN_GID_TYPE_ROCE_V2, strcmp(sysfs(file), "RoCE v2") == 0);
        test_note("%u: %s %s %s family %d", entries[i].index, text, vbn_gid_type_name(entries[i].type), entries[i].ndev, entries[i].family);
    }
    uint32_t all = 0;
    vbn_gid_entry one;
    CHECK_OK(vbn_context_gid_table(context, &one, sizeof one, 1, &all));
    CHECK(all >= count);
    CHECK_MEM(&one, &entries[0], sizeof one);
    CHECK_OK(vbn_context_gid_table(context, NULL, sizeof one, 0, &all));
    CHECK(all >= count);
    close_device();
}

static void empty_gid(void) {
    static const uint8_t zero[16];
    uint8_t gid[16];
    open_device();
    if (!is_soft_roce(test_device())) SKIP("not known to have an empty place at 1000");
    CHECK_OK(vbn_context_query_gid(context, 1, 1000, gid));
    CHECK_MEM(gid, zero, 16);
    close_device();
}

/* ---- vbn_gid_select ---- */

static vbn_gid_verdict verdicts[GIDS];

static uint32_t count_code(uint32_t count, int32_t code) {
    uint32_t found = 0;
    for (uint32_t i = 0; i < count; i++) found += verdicts[i].code == code;
    return found;
}

static uint32_t ask(const vbn_gid_select_attr *attr, vbn_gid_choice *choice, vbn_status expected) {
    uint32_t count = 0;
    memset(choice, 0, sizeof *choice);
    choice->struct_size = sizeof *choice;
    CHECK_STATUS(vbn_gid_select(context, 1, attr, choice, verdicts, sizeof verdicts[0], GIDS, &count), expected);
    CHECK(count >= 1 && count <= GIDS);
    CHECK_UEQ(count_code(count, VBN_GID_CHOSEN), expected == VBN_OK ? 1 : 0);
    for (uint32_t i = 0; i < count; i++) CHECK(verdicts[i].text[0] != 0);
    return count;
}

static void select_default(void) {
    vbn_gid_choice choice;
    open_device();
    uint32_t count = ask(NULL, &choice, VBN_OK);
    for (uint32_t i = 0; i < count; i++) {
        test_note("%u: %d, %s", verdicts[i].index, verdicts[i].code, verdicts[i].text);
        if (verdicts[i].code == VBN_GID_CHOSEN) {
            CHECK_UEQ(verdicts[i].index, choice.index);
            CHECK_MEM(verdicts[i].gid, choice.gid, 16);
        }
    }
    test_note("chosen: %u, %s", choice.index, choice.text);
    CHECK(choice.text[0] != 0);
    vbn_gid_choice again = {.struct_size = sizeof again};
    CHECK_OK(vbn_gid_select(context, 1, NULL, &again, NULL, 0, 0, NULL));
    CHECK_UEQ(again.index, choice.index);
    if (is_soft_roce(test_device()) && getenv("VMRUN_GUEST")) {
        /* The VM's devices have fe80:: at 0 and an IPv4 address at 1. */
        CHECK_UEQ(choice.index, 1);
        CHECK_EQ(choice.family, VBN_GID_FAMILY_IPV4);
        CHECK_EQ(choice.type, VBN_GID_TYPE_ROCE_V2);
        CHECK(count_code(count, VBN_GID_LAST_RESORT) >= 1);
    }
    close_device();
}

static void select_by_wish(void) {
    vbn_gid_choice choice;
    open_device();
    vbn_gid_select_attr attr = {.struct_size = sizeof attr, .set = VBN_GID_SET_INDEX, .index = 0};
    uint32_t count = ask(&attr, &choice, VBN_OK);
    CHECK_UEQ(choice.index, 0);
    CHECK_UEQ(count_code(count, VBN_GID_OTHER_INDEX), count - 1);
    attr.index = 200;
    ask(&attr, &choice, VBN_ERR_NOT_FOUND);
    attr = (vbn_gid_select_attr){.struct_size = sizeof attr, .ndev = "nosuchdev"};
    count = ask(&attr, &choice, VBN_ERR_NOT_FOUND);
    CHECK_UEQ(count_code(count, VBN_GID_OTHER_NETDEV), count);
    close_device();
}

static void select_roce(void) {
    vbn_gid_choice choice;
    open_device();
    if (!is_soft_roce(test_device())) SKIP("only soft-RoCE is known to have version 2 alone");
    vbn_gid_select_attr attr = {.struct_size = sizeof attr, .set = VBN_GID_SET_TYPE, .type = VBN_GID_TYPE_ROCE_V1};
    uint32_t count = ask(&attr, &choice, VBN_ERR_NOT_FOUND);
    CHECK_UEQ(count_code(count, VBN_GID_OTHER_TYPE), count);
    attr.type = VBN_GID_TYPE_ROCE_V2;
    ask(&attr, &choice, VBN_OK);
    attr = (vbn_gid_select_attr){.struct_size = sizeof attr, .family = VBN_GID_FAMILY_IPV6};
    count = ask(&attr, &choice, VBN_OK);
    CHECK_EQ(choice.family, VBN_GID_FAMILY_IPV6);
    CHECK(count_code(count, VBN_GID_OTHER_FAMILY) >= 1);
    test_note("%s", choice.text);
    if (choice.gid[0] == 0xfe) CHECK_EQ(choice.last_resort, 1);
    close_device();
}

/* A PD keeps the device open. */
static void close_with_pd(void) {
    open_device();
    vbn_pd *pd = NULL;
    vbn_pd_attr attr = {.struct_size = sizeof attr, .user_data = 3};
    CHECK_OK(vbn_pd_alloc(context, &attr, &pd));
    close_device();
    vbn_pd_info info = {.struct_size = sizeof info};
    CHECK_OK(vbn_pd_query(pd, &info));
    CHECK_UEQ(info.user_data, 3);
    CHECK_OK(vbn_pd_close(&pd));
    CHECK(pd == NULL);
    CHECK_OK(vbn_pd_close(&pd));
}

static void library(void) {
    test_device();
    vbn_library_info info = {.struct_size = sizeof info};
    CHECK_OK(vbn_library_query(VBN_LIBRARY_IBVERBS, &info));
    CHECK_EQ(info.loaded, 1);
    CHECK_HAS(info.path, "libibverbs");
    CHECK_STR(info.error, "");
    CHECK(info.release_min >= 17);
    for (uint32_t i = 0; i < info.missing_count; i++) {
        vbn_symbol_info symbol = {.struct_size = sizeof symbol};
        CHECK_OK(vbn_library_missing(VBN_LIBRARY_IBVERBS, i, &symbol));
        CHECK(strncmp(symbol.name, "ibv_", 4) == 0 || strncmp(symbol.name, "_ibv", 4) == 0);
        CHECK_EQ(symbol.required, 0);
        test_note("missing: %s %s, since %s, needed by %s", symbol.name, symbol.version, symbol.since, symbol.needed_by);
    }
    vbn_symbol_info symbol = {.struct_size = sizeof symbol};
    CHECK_STATUS(vbn_library_missing(VBN_LIBRARY_IBVERBS, info.missing_count, &symbol), VBN_ERR_NOT_FOUND);
    char text[32];
    snprintf(text, sizeof text, "%u.%u.%u", vbn_version() >> 16, vbn_version() >> 8 & 255, vbn_version() & 255);
    CHECK_STR(vbn_version_string(), text);
    CHECK_UEQ(vbn_version(), VBN_VERSION);
}

static const struct test tests[] = {
    {"list", list},
    {"open_and_query", open_and_query},
    {"driver", driver},
    {"open_first", open_first},
    {"open_missing", open_missing},
    {"query_device", query_device},
    {"same_as_devinfo", same_as_devinfo},
    {"query_port", query_port},
    {"no_such_port", no_such_port},
    {"pkey", pkey},
    {"gids", gids},
    {"empty_gid", empty_gid},
    {"select_default", select_default},
    {"select_by_wish", select_by_wish},
    {"select_roce", select_roce},
    {"close_with_pd", close_with_pd},
    {"library", library},
    {NULL, NULL},
};

int main(int argc, char **argv) {
    return test_main("device_info", tests, argc, argv);
}
