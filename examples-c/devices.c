/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * devices: what RDMA devices there are and what they can do, or why there is none.
 *
 *   cc -std=c11 devices.c $(pkg-config --cflags --libs verbena) -o devices
 *
 * Exits with 0 also when there is no device: that is an answer, not a failure.
 */
#define _POSIX_C_SOURCE 200809L

#include <arpa/inet.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <verbena.h>

static void check(vbn_status status) {
    if (status == VBN_OK) return;
    vbn_error_info error = {.struct_size = sizeof error};
    if (vbn_last_error(&error) != VBN_OK) error.message[0] = '\0';
    fprintf(stderr, "devices: %s\n", error.message[0] ? error.message : vbn_status_text(status));
    exit(1);
}

/* The library that everything goes through is opened at run time. It need not be there. */
static void print_library(void) {
    vbn_library_info lib = {.struct_size = sizeof lib};
    check(vbn_library_query(VBN_LIBRARY_IBVERBS, &lib));
    printf("libverbena %s\n", vbn_version_string());
    if (!lib.loaded) {
        printf("libibverbs: not loaded: %s\n", lib.error);
        return;
    }
    printf("libibverbs: %s, of rdma-core %" PRIu32, lib.path, lib.release_min);
    if (lib.release_below)
        printf(" or newer, but older than %" PRIu32 "\n", lib.release_below);
    else
        printf(" or newer\n");
}

static void print_gids(const vbn_context *context, uint32_t port) {
    vbn_gid_choice choice = {.struct_size = sizeof choice};
    vbn_gid_verdict verdicts[64];
    uint32_t count = 0;
    /* Its failure, "none of them will do", is no reason not to show the verdicts. */
    vbn_status status = vbn_gid_select(context, port, NULL, &choice, verdicts, sizeof verdicts[0], 64, &count);
    if (status != VBN_OK && count == 0) {
        printf("    no GIDs: %s\n", vbn_status_text(status));
        return;
    }
    for (uint32_t i = 0; i < count && i < 64; i++) {
        char text[INET6_ADDRSTRLEN] = "";
        inet_ntop(AF_INET6, verdicts[i].gid, text, sizeof text);
        printf("    %s GID %" PRIu32 ": %s, %s%s%s: %s\n", verdicts[i].code == VBN_GID_CHOSEN ? "*" : " ", verdicts[i].index, text,
               vbn_gid_type_name(verdicts[i].type), verdicts[i].ndev[0] ? ", " : "", verdicts[i].ndev, verdicts[i].text);
    }
}

static void print_port(const vbn_context *context, uint32_t number) {
    vbn_port_attr port = {.struct_size = sizeof port};
    check(vbn_context_query_port(context, number, &port));
    printf("  port %" PRIu32 ": %s, %s, MTU %s of %s, messages up to %" PRIu32 " bytes", number, vbn_port_state_name(port.state),
           vbn_link_layer_name(port.link_layer), vbn_mtu_name(port.active_mtu), vbn_mtu_name(port.max_mtu), port.max_msg_sz);
    if (port.lid) printf(", LID %u", port.lid);
    if (port.valid & VBN_PORT_VALID_SPEED) printf(", %.1f Gbit/s", (double)port.speed_100mbps / 10);
    putchar('\n');
    print_gids(context, number);
}

static void print_device(const vbn_device_info *device) {
    printf("%s: %s, %s, GUID %016" PRIx64 ", /dev/infiniband/%s\n", device->name, vbn_node_type_name(device->node_type),
           vbn_transport_name(device->transport_type), device->guid, device->uverbs_name);
    if (device->open_status != VBN_OK) {
        printf("  can't be opened: %s (errno %d)\n", vbn_status_text(device->open_status), device->open_errno);
        return;
    }
    vbn_context *context;
    vbn_device_attr attr = {.struct_size = sizeof attr};
    vbn_context_info info = {.struct_size = sizeof info};
    check(vbn_context_open(device->name, NULL, &context));
    check(vbn_context_query_device(context, &attr));
    check(vbn_context_query(context, &info));
    printf("  vendor 0x%04" PRIx32 ", part %" PRIu32 ", firmware %s, %" PRIu32 " completion vectors\n", attr.vendor_id, attr.vendor_part_id,
           attr.fw_ver[0] ? attr.fw_ver : "without version", info.num_comp_vectors);
    printf("  queue pairs: %d of %d requests, %d segments (READ: %d); %d READs under way, %d served\n", attr.max_qp, attr.max_qp_wr, attr.max_sge,
           attr.max_sge_rd, attr.max_qp_init_rd_atom, attr.max_qp_rd_atom);
    printf("  completion queues: %d of %d; regions: %d of %" PRIu64 " bytes; PDs: %d\n", attr.max_cq, attr.max_cqe, attr.max_mr, attr.max_mr_size,
           attr.max_pd);
    for (uint32_t port = 1; port <= info.num_ports; port++) print_port(context, port);
    check(vbn_context_close(&context));
}

int main(void) {
    print_library();
    vbn_device_info devices[32];
    uint32_t count = 0;
    check(vbn_device_list(devices, sizeof devices[0], 32, &count));
    for (uint32_t i = 0; i < count && i < 32; i++) print_device(&devices[i]);

    vbn_device_list_reason_info why = {.struct_size = sizeof why};
    check(vbn_device_list_reason(&why));
    if (why.reason != VBN_REASON_NONE) printf("no usable RDMA device: %s\n", why.message);
    return 0;
}
