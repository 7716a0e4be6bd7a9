/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * srd_write: two processes swap their data over SRD, AWS EFA's transport, every byte checked.
 *
 *   srd_write --listen PORT [--address ADDRESS] [--device NAME]          ADDRESS is 127.0.0.1 unless given; PORT 0: a free one
 *   srd_write --connect HOST PORT [--size BYTES] [--device NAME]         64 MiB each way unless told otherwise
 *
 * The two meet over TCP, tell each other how their queue pairs and their memory are reached, and then do the same: each
 * WRITEs its data into the other's memory, or, where a device has no WRITE, READs what the other has. A message tells when
 * that is complete.
 *
 *   cc -std=c11 srd_write.c $(pkg-config --cflags --libs verbena) -o srd_write
 *   softnic run --device efa -- sh -c './srd_write --listen 18515 & ./srd_write --connect 127.0.0.1 18515; wait'
 *
 * What differs from a reliable connection (rc_write.c):
 *   - No connection: each request names its peer. Both sides make a peer of the other's record before the first READ or
 *     WRITE, also the side that only serves, or its device answers "unknown peer".
 *   - No order: neither among requests nor within one. So "done" is sent when all completions are in, never before.
 *   - Every request completes, and one that fails fails alone.
 */
#define _POSIX_C_SOURCE 200809L

#include <arpa/inet.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <verbena.h>

#define CHUNK (UINT64_C(1) << 20)     /* bytes in a READ or WRITE; less if the device says so */
#define DEPTH 16                      /* requests under way at once; the device may grant more */
#define BATCH 8                       /* requests handed over in one call */
#define COMPLETIONS 1024              /* room for every completion that can be outstanding */
#define TIMEOUT INT64_C(30000000000)  /* ns: nobody waits for ever for a peer that died */
#define MEMORIES_AT VBN_RECORD_MAX_SIZE
#define HELLO_SIZE (MEMORIES_AT + 8 + 4 + 8 + 4 + 8 + 8 + 1)
#define DONE_SIZE 16
#define DONE_SENT UINT64_MAX           /* wr_id of the closing message, */
#define DONE_RECEIVED (UINT64_MAX - 1) /* of the receive for the peer's; a transfer's requests are numbered from 0 */

#include "data.h"
#include "tcp.h"

/* --- what the two tell each other over TCP ---------------------------------------------------------- */

struct memory {
    uint64_t address;
    uint32_t rkey;
};

struct hello {
    vbn_endpoint_info info; /* how to reach the queue pair */
    struct memory source;   /* what may be read, `length` bytes */
    struct memory landing;  /* what may be written, as many */
    uint64_t length;
    uint64_t seed;          /* what the source is filled from */
    uint8_t can_write;
};

/* The record has a version and can grow, so it gets as much room as a record ever takes. */
static void send_hello(int fd, const struct hello *hello) {
    uint8_t bytes[HELLO_SIZE] = {0}, *p = bytes + MEMORIES_AT;
    size_t size;
    check(vbn_endpoint_info_encode(&hello->info, bytes, VBN_RECORD_MAX_SIZE, &size));
    p = put(p, hello->source.address, 8);
    p = put(p, hello->source.rkey, 4);
    p = put(p, hello->landing.address, 8);
    p = put(p, hello->landing.rkey, 4);
    p = put(p, hello->length, 8);
    p = put(p, hello->seed, 8);
    *p = hello->can_write;
    tcp_write(fd, bytes, sizeof bytes);
}

static struct hello receive_hello(int fd) {
    uint8_t bytes[HELLO_SIZE];
    const uint8_t *p = bytes + MEMORIES_AT;
    struct hello hello = {.info = {.struct_size = sizeof hello.info}};
    tcp_read(fd, bytes, sizeof bytes);
    check(vbn_endpoint_info_decode(bytes, VBN_RECORD_MAX_SIZE, &hello.info)); /* checks every field too */
    hello.source.address = get(&p, 8);
    hello.source.rkey = (uint32_t)get(&p, 4);
    hello.landing.address = get(&p, 8);
    hello.landing.rkey = (uint32_t)get(&p, 4);
    hello.length = get(&p, 8);
    hello.seed = get(&p, 8);
    hello.can_write = *p;
    return hello;
}

/* --- the RDMA side ---------------------------------------------------------------------------------- */

struct side {
    vbn_caps caps;
    vbn_context *context; /* the open device */
    vbn_pd *pd;           /* what ties memory, queue pairs and peers together */
    vbn_channel *channel; /* lets a thread sleep until something has completed; NULL if the device can't */
    vbn_cq *cq;           /* where completions arrive */
    vbn_qp *qp;
    vbn_peer *peer;       /* the other's queue pair, as requests name it */
    vbn_mr *source;       /* `length` bytes */
    vbn_mr *landing;      /* as many, and then room for the peer's closing message */
    uint8_t *source_memory, *landing_memory;
    struct hello mine, theirs;
    uint32_t opcode;      /* VBN_WR_RDMA_WRITE or VBN_WR_RDMA_READ: how the data are moved */
    uint64_t completed;   /* requests of that kind */
    int sent, received;   /* the closing messages */
};

/* Any device that has SRD and READ; WRITE is looked at later. Without one, each device's reason is told. */
static void choose_device(char *name, size_t size) {
    vbn_device_match devices[32];
    uint32_t count = 0;
    check(vbn_device_find(VBN_CAP_SRD | VBN_CAP_READ, devices, sizeof devices[0], 32, &count));
    if (count > 0 && devices[0].matches) { /* those that match come first */
        snprintf(name, size, "%s", devices[0].name);
        return;
    }
    if (count == 0) {
        vbn_device_list_reason_info none = {.struct_size = sizeof none};
        check(vbn_device_list_reason(&none));
        die("no RDMA device: %s", none.message);
    }
    for (uint32_t i = 0; i < count && i < 32; i++) fprintf(stderr, "%s: %s\n", role, devices[i].reason);
    die("none of the RDMA devices can do this");
}

static void need(const struct side *side, uint64_t cap) {
    char text[512] = "";
    if (side->caps.caps & cap) return;
    check(vbn_caps_reason(&side->caps, cap, text, sizeof text, NULL));
    die("%s", text);
}

static void open_device(struct side *side, const char *wanted) {
    char name[64];
    if (!wanted) choose_device(name, sizeof name);
    check(vbn_context_open(wanted ? wanted : name, NULL, &side->context));
    side->caps.struct_size = sizeof side->caps;
    check(vbn_context_caps(side->context, &side->caps));
    need(side, VBN_CAP_SRD);
    need(side, VBN_CAP_READ);
    side->mine.can_write = (side->caps.caps & VBN_CAP_WRITE) != 0;
    check(vbn_pd_alloc(side->context, NULL, &side->pd));
}

static void create_queue_pair(struct side *side) {
    /* Without notifications vbn_cq_wait looks now and then, with growing sleeps in between. */
    if (side->caps.caps & VBN_CAP_NOTIFY) check(vbn_channel_create(side->context, NULL, &side->channel));
    vbn_cq_attr cq = {.struct_size = sizeof cq, .cqe = COMPLETIONS, .channel = side->channel};
    check(vbn_cq_create(side->context, &cq, &side->cq));
    vbn_qp_init_attr qp = {
        .struct_size = sizeof qp,
        .qp_type = VBN_QPT_SRD,
        .send_cq = side->cq,
        .max_send_wr = DEPTH,
        .max_recv_wr = 1,
        .max_inline_data = DONE_SIZE,
        .sq_sig_all = 1, /* SRD has no unsignaled requests */
    };
    check(vbn_qp_create(side->pd, &qp, &side->qp));

    /* A completion queue that overflows is lost, and the device may grant deeper queues than were asked for. */
    vbn_qp_info info = {.struct_size = sizeof info};
    check(vbn_qp_query(side->qp, &info));
    if (info.max_send_wr + info.max_recv_wr > COMPLETIONS)
        die("the queues hold %" PRIu32 " + %" PRIu32 " requests, more than the completion queue's %d", info.max_send_wr, info.max_recv_wr, COMPLETIONS);

    /* A key of its own keeps late packets for a former owner of the queue pair's number out. */
    vbn_qp_prepare_attr prepare = {.struct_size = sizeof prepare, .set = VBN_QP_PREPARE_SET_QKEY, .qkey = vbn_qkey_random()};
    check(vbn_qp_prepare(side->qp, &prepare));
    side->mine.info.struct_size = sizeof side->mine.info;
    check(vbn_endpoint_info_local(side->qp, NULL, &side->mine.info));
}

static uint8_t *allocate(uint64_t length) {
    void *memory = NULL;
    if (length == 0 || length > SIZE_MAX || posix_memalign(&memory, 4096, (size_t)length) != 0) die("no memory for %" PRIu64 " bytes", length);
    return memory;
}

/* Peers may do with a region what its access says, and no more. */
static void register_memory(struct side *side, uint64_t length) {
    if (length == 0 || length > UINT64_MAX / 2) die("%" PRIu64 " bytes can't be moved", length);
    side->source_memory = allocate(length);
    side->landing_memory = allocate(length + DONE_SIZE);
    memset(side->landing_memory, 0, length + DONE_SIZE);
    uint64_t landing = VBN_ACCESS_LOCAL_WRITE | (side->mine.can_write ? VBN_ACCESS_REMOTE_WRITE : 0);
    check(vbn_mr_reg(side->pd, side->source_memory, length, VBN_ACCESS_REMOTE_READ, NULL, &side->source));
    check(vbn_mr_reg(side->pd, side->landing_memory, length + DONE_SIZE, landing, NULL, &side->landing));
    side->mine.source = (struct memory){vbn_mr_remote_addr(side->source), vbn_mr_rkey(side->source)};
    side->mine.landing = (struct memory){vbn_mr_remote_addr(side->landing), vbn_mr_rkey(side->landing)};
    side->mine.length = length;
}

/* Any order would do: what is still in use is destroyed with its last user. Only the memory must wait for its region. */
static void close_all(struct side *side) {
    check(vbn_qp_close(&side->qp));
    check(vbn_peer_close(&side->peer));
    check(vbn_mr_close(&side->source));
    check(vbn_mr_close(&side->landing));
    check(vbn_cq_close(&side->cq));
    check(vbn_channel_close(&side->channel));
    check(vbn_pd_close(&side->pd));
    check(vbn_context_close(&side->context));
    free(side->source_memory);
    free(side->landing_memory);
}

/* --- completions ------------------------------------------------------------------------------------ */

/* A failed completion doesn't say what the request was; its wr_id does. */
static uint32_t opcode_of(const struct side *side, const vbn_wc *wc) {
    return wc->wr_id == DONE_RECEIVED ? VBN_WC_RECV : wc->wr_id == DONE_SENT ? VBN_WR_SEND : side->opcode;
}

/* What usually is behind a failed request, or behind one that never completes. */
static void explain(const struct side *side, const vbn_wc *wc) {
    static char text[VBN_EXPLAIN_TEXT_SIZE];
    vbn_explain_attr attr = {
        .struct_size = sizeof attr,
        .context = side->context,
        .status = wc ? wc->status : VBN_EXPLAIN_SILENCE,
        .vendor_err = wc ? wc->vendor_err : 0,
        .set = wc ? VBN_EXPLAIN_SET_OPCODE : 0,
        .opcode = wc ? opcode_of(side, wc) : 0,
        .qp_num = side->mine.info.qp_num,
        .peer_qp_num = side->theirs.info.qp_num,
    };
    memcpy(attr.peer_gid, side->theirs.info.gids[0].gid, sizeof attr.peer_gid);
    if (vbn_explain(&attr, text, sizeof text, NULL) == VBN_OK) fputs(text, stderr);
}

/* wr_id tells what has completed. The opcode doesn't: a READ completes as a SEND here. */
static void note(struct side *side, const vbn_wc *wc) {
    if (vbn_wc_check(wc) != VBN_OK) {
        const char *message = why(VBN_ERR_COMPLETION);
        explain(side, wc);
        die("request %" PRIu64 ": %s", wc->wr_id, message);
    }
    switch (wc->wr_id) {
    case DONE_SENT: side->sent = 1; break;
    case DONE_RECEIVED:
        if (wc->byte_len != DONE_SIZE) die("the closing message has %" PRIu32 " bytes instead of %d", wc->byte_len, DONE_SIZE);
        side->received = 1;
        break;
    default: side->completed++;
    }
}

/* Waits until something has completed, and takes note of all that has. */
static void wait_some(struct side *side) {
    vbn_wc wcs[BATCH];
    uint32_t got = 0;
    vbn_status status = vbn_cq_wait(side->cq, BATCH, wcs, 0, TIMEOUT, &got);
    if (status == VBN_ERR_TIMEOUT) explain(side, NULL);
    check(status);
    for (uint32_t i = 0; i < got; i++) note(side, &wcs[i]);
}

/* --- the transfer ----------------------------------------------------------------------------------- */

static void post_receive(struct side *side) {
    vbn_recv_wr wr = {
        .wr_id = DONE_RECEIVED,
        .num_sge = 1,
        .sge = {.addr = side->mine.landing.address + side->mine.length, .length = DONE_SIZE, .lkey = vbn_mr_lkey(side->landing)},
    };
    uint32_t posted;
    check(vbn_qp_post_recv(side->qp, &wr, 1, &posted));
}

/* Moves everything, keeping the queue full; returns when all of it has completed. `next` is all that must be remembered:
 * the split makes request number n again whenever it is asked to. */
static uint64_t move_all(struct side *side, const vbn_split_attr *transfer) {
    vbn_send_wr wrs[BATCH];
    uint64_t next = 0, total = 1;
    while (side->completed < total) {
        uint32_t count = 0, posted = 0;
        check(vbn_rdma_split(side->qp, transfer, next, wrs, BATCH, &count, &total));
        vbn_status status = count > 0 ? vbn_qp_post_send(side->qp, wrs, count, &posted) : VBN_OK;
        next += posted; /* whatever the status: the first `posted` are under way */
        if (status != VBN_ERR_QUEUE_FULL) check(status);
        if (status == VBN_ERR_QUEUE_FULL || next == total) wait_some(side);
    }
    return total;
}

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void transfer(struct side *side) {
    int writing = side->opcode == VBN_WR_RDMA_WRITE;
    vbn_split_attr attr = {
        .struct_size = sizeof attr,
        .opcode = side->opcode,
        .mr = writing ? side->source : side->landing,
        .length = side->mine.length,
        .remote_addr = writing ? side->theirs.landing.address : side->theirs.source.address,
        .remote_length = side->theirs.length,
        .rkey = writing ? side->theirs.landing.rkey : side->theirs.source.rkey,
        .chunk = side->caps.max_rdma_size < CHUNK ? side->caps.max_rdma_size : CHUNK,
        .peer = side->peer,
    };
    double start = now();
    uint64_t requests = move_all(side, &attr);
    double seconds = now() - start;
    printf("%s: %s %" PRIu64 " bytes in %" PRIu64 " requests in %.3f s: %.1f MB/s\n", role, writing ? "wrote" : "read", attr.length, requests,
           seconds, (double)attr.length / 1e6 / seconds);
}

/* "Done", with a checksum of what was moved. Inline: the bytes are copied while posting and need no region. */
static void send_done(struct side *side) {
    const uint8_t *moved = side->opcode == VBN_WR_RDMA_WRITE ? side->source_memory : side->landing_memory;
    uint8_t done[DONE_SIZE];
    put(put(done, side->mine.length, 8), checksum(moved, side->mine.length), 8);
    vbn_send_wr wr = {
        .wr_id = DONE_SENT,
        .flags = VBN_SEND_INLINE,
        .opcode = VBN_WR_SEND,
        .num_sge = 1,
        .sge = {.addr = (uintptr_t)done, .length = sizeof done},
        .peer = side->peer,
    };
    uint32_t posted;
    check(vbn_qp_post_send(side->qp, &wr, 1, &posted)); /* nothing else is on the queue now */
}

/* One SEND to the peer, which completes when the peer's device has it, and one from it. */
static void exchange_done(struct side *side) {
    send_done(side);
    double start = now(); /* without the checksum */
    while (!side->sent) wait_some(side);
    printf("%s: sent %d bytes in %.1f us\n", role, DONE_SIZE, (now() - start) * 1e6);
    while (!side->received) wait_some(side);
}

/* Two things must agree: what is here with what the peer said it has, and what the peer moved with what it should have. */
static int verify(const struct side *side) {
    const uint8_t *done = side->landing_memory + side->mine.length;
    uint64_t length = side->mine.length, announced = get(&done, 8), moved = get(&done, 8);
    uint64_t differs = first_difference(side->landing_memory, length, side->theirs.seed);
    uint64_t sum = checksum(side->opcode == VBN_WR_RDMA_WRITE ? side->landing_memory : side->source_memory, length);
    if (announced != length) printf("%s: WRONG: the peer speaks of %" PRIu64 " bytes\n", role, announced);
    if (differs != length) printf("%s: WRONG: the bytes at %" PRIu64 " are not the peer's\n", role, differs);
    if (moved != sum) printf("%s: WRONG: the peer moved bytes with checksum %016" PRIx64 " instead of %016" PRIx64 "\n", role, moved, sum);
    return announced == length && differs == length && moved == sum;
}

/* --- main ---------------------------------------------------------------------------------------------- */

/* The server takes as many bytes as the client says. */
static int meet_peer(struct side *side, const struct options *options, uint64_t size) {
    int fd = tcp_open(options);
    if (!options->host) {
        side->theirs = receive_hello(fd);
        size = side->theirs.length;
    }
    register_memory(side, size);
    side->mine.seed = (uint64_t)time(NULL) << 32 ^ (uint64_t)getpid();
    fill(side->source_memory, size, side->mine.seed);
    send_hello(fd, &side->mine);
    if (options->host) side->theirs = receive_hello(fd);
    if (side->theirs.length != size) die("the peer offers %" PRIu64 " bytes instead of %" PRIu64, side->theirs.length, size);
    return fd;
}

static void print_path(const struct side *side) {
    char gid[INET6_ADDRSTRLEN] = "", reason[512] = "the peer has no WRITE";
    inet_ntop(AF_INET6, side->mine.info.gids[0].gid, gid, sizeof gid);
    printf("%s: device %s, GID %s, queue pair %" PRIu32 " to %" PRIu32 "\n", role, side->caps.name, gid, side->mine.info.qp_num, side->theirs.info.qp_num);
    if (side->caps.efa) {
        vbn_library_info efa = {.struct_size = sizeof efa};
        check(vbn_library_query(VBN_LIBRARY_EFA, &efa));
        printf("%s: libverbena %s above %s\n", role, vbn_version_string(), efa.path);
    }
    if (!side->mine.can_write) check(vbn_caps_reason(&side->caps, VBN_CAP_WRITE, reason, sizeof reason, NULL));
    if (side->opcode == VBN_WR_RDMA_WRITE)
        printf("%s: path: WRITE\n", role);
    else
        printf("%s: path: READ; %s\n", role, reason);
    if (!side->channel) printf("%s: no notifications here, so waits look now and then\n", role);
}

static int run(const struct options *options, uint64_t size) {
    static struct side side;
    open_device(&side, options->device);
    create_queue_pair(&side);
    int fd = meet_peer(&side, options, size);

    /* Compares the two records first: what wouldn't work together is named here. */
    check(vbn_peer_from_info(side.qp, &side.theirs.info, NULL, &side.peer));
    post_receive(&side);
    side.opcode = side.mine.can_write && side.theirs.can_write ? VBN_WR_RDMA_WRITE : VBN_WR_RDMA_READ;
    print_path(&side);
    tcp_meet(fd, 'p'); /* both have their peer, and room for a message */

    transfer(&side);
    exchange_done(&side);

    int good = verify(&side);
    int peer_good = tcp_meet(fd, good ? 'y' : 'n') == 'y'; /* and nobody takes away what the other still uses */
    if (good) printf("%s: every byte is right\n", role);
    if (!peer_good) printf("%s: the peer found wrong bytes\n", role);
    close_all(&side);
    close(fd);
    puts(good && peer_good ? "srd_write: OK" : "srd_write: FAILED");
    return good && peer_good ? 0 : 1;
}

static int usage(void) {
    fputs("usage: srd_write --listen PORT [--address ADDRESS] [--device NAME]\n"
          "       srd_write --connect HOST PORT [--size BYTES] [--device NAME]\n",
          stderr);
    return 2;
}

int main(int argc, char **argv) {
    struct options options = {0};
    uint64_t size = UINT64_C(64) << 20;
    for (char **arg = argv + 1; arg < argv + argc; arg++) {
        if (take_option(&options, &arg)) continue;
        char *end;
        if (strcmp(arg[0], "--size") != 0 || !arg[1]) return usage();
        size = strtoull(*++arg, &end, 0);
        if (size == 0 || *end != '\0') return usage();
    }
    return role ? run(&options, size) : usage();
}
