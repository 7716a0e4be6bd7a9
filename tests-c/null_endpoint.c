/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The records by which queue pairs are found: their bytes, and what hostile ones do. They need no device; endpoint.c has those that do. */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "harness.h"

static vbn_endpoint_info srd(void) {
    vbn_endpoint_info info = {.struct_size = sizeof info};
    info.set = VBN_ENDPOINT_SET_QKEY | VBN_ENDPOINT_SET_UNSOLICITED;
    info.qp_type = VBN_QPT_SRD;
    info.qp_num = 0x123456;
    info.qkey = 0x7eadbeef;
    info.num_gids = 1;
    for (uint8_t i = 0; i < 16; i++) info.gids[0].gid[i] = i;
    return info;
}

/* The example of docs/records.md. */
static const uint8_t srd_bytes[] = {
    'V',  'B',  'N',  '1',  0x00, 0x38, 0x00, 0x01, /* 56 bytes, an endpoint */
    0x80, 0x01, 0x00, 0x01, 0xff,                   /* SRD */
    0x80, 0x02, 0x00, 0x04, 0x00, 0x12, 0x34, 0x56, /* qp_num */
    0x80, 0x03, 0x00, 0x12, 0x00, 0x00,             /* a GID: type IB, no family */
    0x00, 0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08, 0x09, 0x0a, 0x0b, 0x0c, 0x0d, 0x0e, 0x0f,
    0x80, 0x05, 0x00, 0x04, 0x7e, 0xad, 0xbe, 0xef, /* qkey */
    0x80, 0x0b, 0x00, 0x01, 0x00,                   /* made without VBN_QP_UNSOLICITED_WRITE_RECV */
};

enum { PAGE = 4096 };

/* The bytes, at the very end of memory that may be read: what reads beyond them crashes, with or without a sanitizer. */
static const uint8_t *at_the_end(const uint8_t *bytes, size_t size) {
    static uint8_t *pages;
    if (!pages) {
        pages = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        CHECK(pages != MAP_FAILED);
        CHECK_EQ(mprotect(pages + PAGE, PAGE, PROT_NONE), 0);
    }
    CHECK(size <= PAGE);
    return memcpy(pages + PAGE - size, bytes, size);
}

static vbn_status decode_exactly(const uint8_t *bytes, size_t size, vbn_endpoint_info *info) {
    memset(info, 0, sizeof *info);
    info->struct_size = sizeof *info;
    return vbn_endpoint_info_decode(at_the_end(bytes, size), size, info);
}

static void check_same(const vbn_endpoint_info *info, const vbn_endpoint_info *wanted) { CHECK_MEM(info, wanted, sizeof *info); }

static void bytes_24(void) {
    static const uint8_t wanted[VBN_ENDPOINT_SIZE] = {
        0x00, 0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08, 0x09, 0x0a, 0x0b,
        0x0c, 0x0d, 0x0e, 0x0f, 0x00, 0x12, 0x34, 0x56, 0xde, 0xad, 0xbe, 0xef,
    };
    vbn_endpoint endpoint = {.qp_num = 0x123456, .qkey = 0xdeadbeef}, back;
    uint8_t bytes[VBN_ENDPOINT_SIZE];
    for (uint8_t i = 0; i < 16; i++) endpoint.gid[i] = i;
    CHECK_OK(vbn_endpoint_encode(&endpoint, bytes, sizeof bytes));
    CHECK_MEM(bytes, wanted, sizeof bytes);
    CHECK_OK(vbn_endpoint_decode(at_the_end(bytes, sizeof bytes), sizeof bytes, &back));
    CHECK_MEM(&back, &endpoint, sizeof back);
    bytes[16] = 1;
    CHECK_STATUS(vbn_endpoint_decode(bytes, sizeof bytes, &back), VBN_ERR_ARGUMENT);
    CHECK_HAS(test_last_error(), "24-bit");
    CHECK_UEQ(test_error().value, 0x1123456);
}

static void bytes_that_grow(void) {
    vbn_endpoint_info info = srd(), back;
    uint8_t bytes[VBN_RECORD_MAX_SIZE];
    size_t size = 0;
    CHECK_OK(vbn_endpoint_info_encode(&info, NULL, 0, &size));
    CHECK_UEQ(size, sizeof srd_bytes);
    memset(bytes, 0xee, sizeof bytes);
    CHECK_OK(vbn_endpoint_info_encode(&info, bytes, sizeof bytes, &size));
    CHECK_UEQ(size, sizeof srd_bytes);
    CHECK_MEM(bytes, srd_bytes, size);
    for (size_t i = size; i < sizeof bytes; i++) CHECK_EQ(bytes[i], 0xee);
    CHECK_OK(decode_exactly(bytes, size, &back));
    check_same(&back, &info);
    /* A slot of fixed size, with anything behind the record. */
    CHECK_OK(decode_exactly(bytes, sizeof bytes, &back));
    check_same(&back, &info);
    /* Room that is too small is left alone. */
    for (size_t room = 1; room < sizeof srd_bytes; room++) {
        memset(bytes, 0xee, sizeof bytes);
        size = 7;
        CHECK_STATUS(vbn_endpoint_info_encode(&info, bytes, room, &size), VBN_ERR_ARGUMENT);
        CHECK_UEQ(test_error().limit, sizeof srd_bytes);
        CHECK_UEQ(size, 7);
        CHECK_EQ(bytes[0], 0xee);
    }
}

/* A program of an older header knows less of the struct; one of a newer header is told nothing of what it alone knows. */
static void other_struct_sizes(void) {
    union {
        vbn_endpoint_info info;
        uint8_t bytes[sizeof(vbn_endpoint_info) + 64];
    } room;
    memset(&room, 0xee, sizeof room);
    room.info.struct_size = offsetof(vbn_endpoint_info, psn);
    CHECK_OK(vbn_endpoint_info_decode(srd_bytes, sizeof srd_bytes, &room.info));
    CHECK_UEQ(room.info.qp_num, 0x123456);
    CHECK_UEQ(room.info.psn, 0xeeeeeeee);
    room.info.struct_size = sizeof room;
    CHECK_OK(vbn_endpoint_info_decode(srd_bytes, sizeof srd_bytes, &room.info));
    CHECK_UEQ(room.info.qkey, 0x7eadbeef);
    for (size_t i = sizeof room.info; i < sizeof room; i++) CHECK_EQ(room.bytes[i], 0);
}

/* Whatever comes is refused, or read as something that is written and read again the same. 1 if it was read. */
static int harmless(const uint8_t *bytes, size_t size) {
    vbn_endpoint_info info, again;
    uint8_t out[VBN_RECORD_MAX_SIZE];
    size_t length = 0;
    vbn_status status = decode_exactly(bytes, size, &info);
    if (status != VBN_OK) {
        CHECK(status == VBN_ERR_ARGUMENT || status == VBN_ERR_TOO_NEW);
        CHECK(strlen(test_error().message) > 40);
        return 0;
    }
    CHECK_OK(vbn_endpoint_info_encode(&info, out, sizeof out, &length));
    CHECK_OK(decode_exactly(out, length, &again));
    check_same(&again, &info);
    return 1;
}

static void every_byte(void) {
    uint8_t bytes[sizeof srd_bytes];
    int read = 0;
    for (size_t at = 0; at < sizeof bytes; at++)
        for (int value = 0; value < 256; value++) {
            memcpy(bytes, srd_bytes, sizeof bytes);
            bytes[at] = (uint8_t)value;
            read += harmless(bytes, sizeof bytes);
        }
    /* Numbers and the GID may be anything: 3 + 16 + 4 bytes with 256 values each, and every other byte has its own. */
    CHECK(read > 23 * 256 && read < 27 * 256);
}

static void every_length(void) {
    for (size_t size = 0; size < sizeof srd_bytes; size++) CHECK(!harmless(srd_bytes, size));
    uint32_t stride = getenv("VBN_TEST_STRIDE") ? 13 : 1; /* under valgrind and the like */
    for (uint32_t told = 0; told < 0x10000; told += told < 256 ? 1 : stride) {
        uint8_t bytes[sizeof srd_bytes];
        memcpy(bytes, srd_bytes, sizeof bytes);
        bytes[4] = (uint8_t)(told >> 8);
        bytes[5] = (uint8_t)told;
        /* Without the last item it is whole too. */
        CHECK_EQ(harmless(bytes, sizeof bytes), told == sizeof bytes || told == sizeof bytes - 5);
    }
}

/* The example with one more item: the type with its bit, and a value of zeros. */
static size_t with_item(uint8_t *bytes, uint16_t type, uint8_t length) {
    size_t size = sizeof srd_bytes;
    memcpy(bytes, srd_bytes, size);
    bytes[size++] = (uint8_t)(type >> 8);
    bytes[size++] = (uint8_t)type;
    bytes[size++] = 0;
    bytes[size++] = length;
    memset(bytes + size, 0, length);
    size += length;
    bytes[5] = (uint8_t)size;
    return size;
}

static void unknown_items(void) {
    vbn_endpoint_info info, wanted = srd();
    uint8_t bytes[128];
    /* 32 to 47 will be memory regions, the others nobody knows yet. */
    static const uint16_t types[] = {0, 15, 32, 47, 0x1234, 0x7fff};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        char name[32];
        CHECK_OK(decode_exactly(bytes, with_item(bytes, types[i], 20), &info));
        check_same(&info, &wanted);
        CHECK_STATUS(decode_exactly(bytes, with_item(bytes, types[i] | 0x8000, 20), &info), VBN_ERR_TOO_NEW);
        CHECK_UEQ(test_error().value, types[i]);
        snprintf(name, sizeof name, "item %d ", types[i]);
        CHECK_HAS(test_last_error(), name);
        CHECK_HAS(test_last_error(), "must be understood");
    }
    CHECK_STATUS(decode_exactly(bytes, with_item(bytes, 11, 1), &info), VBN_ERR_ARGUMENT);
    CHECK_HAS(test_last_error(), "twice");
    CHECK_STATUS(decode_exactly(bytes, with_item(bytes, 6, 3), &info), VBN_ERR_ARGUMENT);
    CHECK_UEQ(test_error().value, 6);
    CHECK_UEQ(test_error().limit, 2);
}

static void other_formats(void) {
    vbn_endpoint_info info;
    uint8_t bytes[sizeof srd_bytes];
    memcpy(bytes, srd_bytes, sizeof bytes);
    bytes[3] = '2';
    CHECK_STATUS(decode_exactly(bytes, sizeof bytes, &info), VBN_ERR_TOO_NEW);
    bytes[0] = 'X';
    CHECK_STATUS(decode_exactly(bytes, sizeof bytes, &info), VBN_ERR_ARGUMENT);
    CHECK_HAS(test_last_error(), "vbn_endpoint_decode");
    memcpy(bytes, srd_bytes, sizeof bytes);
    bytes[7] = 2;
    CHECK_STATUS(decode_exactly(bytes, sizeof bytes, &info), VBN_ERR_ARGUMENT);
    CHECK_HAS(test_last_error(), "kind 2");
}

/* The same for the short record and RC's: each length, and each byte's values. */
static void short_records(void) {
    uint8_t bytes[VBN_ENDPOINT_SIZE + VBN_RC_RECORD_SIZE];
    vbn_endpoint endpoint;
    vbn_rc_record record;
    for (size_t i = 0; i < sizeof bytes; i++) bytes[i] = (uint8_t)(37 * i);
    for (size_t size = 0; size < sizeof bytes; size++) {
        vbn_status status = vbn_endpoint_decode(at_the_end(bytes, size), size, &endpoint);
        CHECK(size == VBN_ENDPOINT_SIZE || status != VBN_OK);
        status = vbn_rc_record_decode(at_the_end(bytes, size), size, &record);
        CHECK(size == VBN_RC_RECORD_SIZE || status != VBN_OK);
    }
    for (size_t at = 0; at < VBN_RC_RECORD_SIZE; at++)
        for (int value = 0; value < 256; value++) {
            uint8_t changed[VBN_RC_RECORD_SIZE], back[VBN_RC_RECORD_SIZE];
            vbn_rc_record good = {.qp_num = 5, .psn = 6, .port_num = 1, .mtu = VBN_MTU_1024};
            CHECK_OK(vbn_rc_record_encode(&good, changed, sizeof changed));
            changed[at] = (uint8_t)value;
            if (vbn_rc_record_decode(at_the_end(changed, sizeof changed), sizeof changed, &record) != VBN_OK) continue;
            CHECK_OK(vbn_rc_record_encode(&record, back, sizeof back));
            CHECK_MEM(back, changed, sizeof back);
        }
}

static const struct test tests[] = {
    {"bytes_24", bytes_24},
    {"bytes_that_grow", bytes_that_grow},
    {"other_struct_sizes", other_struct_sizes},
    {"every_byte", every_byte},
    {"every_length", every_length},
    {"unknown_items", unknown_items},
    {"other_formats", other_formats},
    {"short_records", short_records},
    {NULL, NULL},
};

int main(int argc, char **argv) { return test_main("null_endpoint", tests, argc, argv); }
