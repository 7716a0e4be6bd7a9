/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Two devices on one wire, which may lose packets. In the virtual machine: vmrun -n veth2 -l 2%, with VBN_TEST_LOSSY=1. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common.h"

static struct pair p;
static char first[VBN_NAME_SIZE], second[VBN_NAME_SIZE];

/* VBN_TEST_DEVICE and VBN_TEST_DEVICE2, or the first two devices. */
static void choose(void) {
    const char *other = getenv("VBN_TEST_DEVICE2");
    vbn_device_info devices[16];
    uint32_t count = 0;
    snprintf(first, sizeof first, "%s", test_device());
    second[0] = 0;
    if (other) snprintf(second, sizeof second, "%s", other);
    CHECK_OK(vbn_device_list(devices, sizeof devices[0], 16, &count));
    for (uint32_t i = 0; i < count && i < 16 && !second[0]; i++)
        if (devices[i].open_status == VBN_OK && strcmp(devices[i].name, first) != 0) memcpy(second, devices[i].name, sizeof second);
    if (!second[0]) SKIP("only one device: run with vmrun -n veth2, or set VBN_TEST_DEVICE2");
}

static void open_both(const struct setup *setup) {
    struct setup one = *setup, two = *setup;
    choose();
    one.device = first;
    two.device = second;
    side_open(&p.a, &one);
    side_open(&p.b, &two);
    CHECK_OK(vbn_qp_connect_rc(p.a.qp, &p.a.record, &p.b.record, setup->rc));
    CHECK_OK(vbn_qp_connect_rc(p.b.qp, &p.b.record, &p.a.record, setup->rc));
}

static long counter(const char *device, const char *name) {
    char path[256];
    long value = -1;
    snprintf(path, sizeof path, "/sys/class/infiniband/%s/ports/1/hw_counters/%s", device, name);
    FILE *file = fopen(path, "r");
    if (!file) return -1;
    if (fscanf(file, "%ld", &value) != 1) value = -1;
    fclose(file);
    return value;
}

/* Signs of lost packets, of both devices together. */
static long retries(void) {
    static const char *const names[] = {"completer_retry_err", "duplicate_request", "out_of_seq_request", "rcvd_seq_err"};
    long sum = 0;
    for (int i = 0; i < 4; i++) {
        long x = counter(first, names[i]), y = counter(second, names[i]);
        sum += (x > 0 ? x : 0) + (y > 0 ? y : 0);
    }
    return sum;
}

static void names_differ(void) {
    static const struct setup usual;
    open_both(&usual);
    CHECK(memcmp(p.a.record.gid, p.b.record.gid, 16) != 0);
    vbn_context_info x = {.struct_size = sizeof x}, y = {.struct_size = sizeof y};
    CHECK_OK(vbn_context_query(p.a.context, &x));
    CHECK_OK(vbn_context_query(p.b.context, &y));
    CHECK_STR(x.name, first);
    CHECK_STR(y.name, second);
    check_alive(&p);
    pair_close(&p);
}

#define SIZE (2 << 20)
#define PIECE (64 << 10)

/* Many messages both ways: all bytes arrive, whatever the wire loses, and the counters show what it took. */
static void bytes_survive(void) {
    vbn_rc_attr patient = {.struct_size = sizeof patient, .set = VBN_RC_SET_TIMEOUT | VBN_RC_SET_RETRY_CNT, .timeout = 15, .retry_cnt = 6};
    struct setup setup = {.size = 2 * SIZE, .rc = &patient};
    open_both(&setup);
    long before = retries();
    fill(p.a.memory, SIZE, 11);
    fill(p.b.memory + SIZE, SIZE, 12);
    for (uint32_t at = 0; at < SIZE; at += PIECE) {
        vbn_send_wr forth = send_wr(&p.a, &p.b, VBN_WR_RDMA_WRITE, at, at, PIECE);
        vbn_send_wr back = send_wr(&p.a, &p.b, VBN_WR_RDMA_READ, at + 1, SIZE + at, PIECE);
        post_send(&p.a, &forth);
        post_send(&p.a, &back);
        next_ok(&p.a, at);
        next_ok(&p.a, at + 1);
    }
    CHECK_MEM(p.b.memory, p.a.memory, 2 * SIZE);
    CHECK_MEM(p.a.memory + SIZE, p.b.memory + SIZE, SIZE);
    long rise = retries() - before;
    test_note("signs of lost packets: %ld", rise);
    if (getenv("VBN_TEST_LOSSY")) CHECK(rise > 0);
    pair_close(&p);
}

static void sends_in_order(void) {
    vbn_rc_attr patient = {.struct_size = sizeof patient, .set = VBN_RC_SET_TIMEOUT | VBN_RC_SET_RETRY_CNT, .timeout = 15, .retry_cnt = 6};
    struct setup setup = {.rc = &patient};
    open_both(&setup);
    fill(p.a.memory, p.a.size, 13);
    for (uint32_t i = 0; i < 100; i++) post_recv(&p.b, i, 500 * i, 500);
    for (uint32_t i = 0; i < 100; i++) {
        vbn_send_wr wr = send_wr(&p.a, &p.b, VBN_WR_SEND_WITH_IMM, i, 500 * i, 500);
        wr.imm = 7 * i;
        post_send(&p.a, &wr);
    }
    for (uint32_t i = 0; i < 100; i++) {
        next_ok(&p.a, i);
        CHECK_UEQ(next_ok(&p.b, i).imm, 7 * i);
    }
    CHECK_MEM(p.b.memory, p.a.memory, 50000);
    pair_close(&p);
}

static const struct test tests[] = {
    {"names_differ", names_differ},
    {"bytes_survive", bytes_survive},
    {"sends_in_order", sends_in_order},
    {NULL, NULL},
};

int main(int argc, char **argv) {
    return test_main("two_device", tests, argc, argv);
}
