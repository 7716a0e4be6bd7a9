/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * rc_write: two processes, one RDMA connection, every byte checked.
 *
 *   rc_write --listen PORT [--address ADDRESS] [--device NAME]           the receiver; ADDRESS is 127.0.0.1 unless given
 *   rc_write --connect HOST PORT [--size BYTES] [--device NAME]          the sender; 64 MiB unless told otherwise
 *
 * RDMA needs a few numbers from the other side before the first byte can flow, so the two meet over TCP first. Then the
 * sender writes straight into the receiver's memory, whose processor takes no part in it, and ends with a small message
 * that says "done". The receiver compares every byte and reports back over TCP.
 *
 *   cc -std=c11 rc_write.c $(pkg-config --cflags --libs verbena) -o rc_write
 */
#define _POSIX_C_SOURCE 200809L

#include <arpa/inet.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <verbena.h>

#define PORT 1                         /* the device's first port */
#define CHUNK (UINT64_C(1) << 20)      /* bytes in a write */
#define DEPTH 32                       /* writes under way at once; the device may grant more */
#define BATCH 8                        /* writes handed over in one call */
#define COMPLETIONS 1024               /* room for every completion that can be outstanding */
#define TIMEOUT INT64_C(120000000000)  /* ns: nobody waits for ever for a peer that died */
#define HELLO_SIZE (VBN_RC_RECORD_SIZE + 8 + 4 + 8)
#define DONE_SIZE 24

#include "data.h"
#include "tcp.h"

/* --- what the two tell each other over TCP ---------------------------------------------------------- */

struct hello {
    vbn_rc_record record; /* how to reach the queue pair */
    uint64_t address;     /* the memory that may be written to, if any: where, ... */
    uint32_t rkey;        /* ... the key to it, ... */
    uint64_t length;      /* ... and how long. From the sender: how much it wants to write. */
};

static void send_hello(int fd, const struct hello *hello) {
    uint8_t bytes[HELLO_SIZE];
    check(vbn_rc_record_encode(&hello->record, bytes, VBN_RC_RECORD_SIZE));
    uint8_t *p = put(bytes + VBN_RC_RECORD_SIZE, hello->address, 8);
    p = put(p, hello->rkey, 4);
    put(p, hello->length, 8);
    tcp_write(fd, bytes, sizeof bytes);
}

static struct hello receive_hello(int fd) {
    uint8_t bytes[HELLO_SIZE];
    const uint8_t *p = bytes + VBN_RC_RECORD_SIZE;
    struct hello hello;
    tcp_read(fd, bytes, sizeof bytes);
    check(vbn_rc_record_decode(bytes, VBN_RC_RECORD_SIZE, &hello.record)); /* checks every field too */
    hello.address = get(&p, 8);
    hello.rkey = (uint32_t)get(&p, 4);
    hello.length = get(&p, 8);
    return hello;
}

/* --- the RDMA side ---------------------------------------------------------------------------------- */

struct side {
    vbn_context *context; /* the open device */
    vbn_pd *pd;           /* what ties memory and queue pairs together */
    vbn_channel *channel; /* lets a thread sleep until something has completed */
    vbn_cq *cq;           /* where completions arrive */
    vbn_qp *qp;           /* the connection's end */
    vbn_mr *mr;           /* the registered memory */
    uint8_t *memory;
    vbn_rc_record record; /* what the peer must know to reach qp */
};

static void open_device(struct side *side, const char *device) {
    check(vbn_context_open(device, NULL, &side->context)); /* NULL: the first one that works */
    check(vbn_pd_alloc(side->context, NULL, &side->pd));
    check(vbn_channel_create(side->context, NULL, &side->channel));

    /* A queue that overflows is lost, so it has room for everything that can be under way. */
    vbn_cq_attr cq = {.struct_size = sizeof cq, .cqe = COMPLETIONS, .channel = side->channel};
    check(vbn_cq_create(side->context, &cq, &side->cq));
    vbn_qp_init_attr qp = {
        .struct_size = sizeof qp,
        .send_cq = side->cq,
        .max_send_wr = DEPTH,
        .max_recv_wr = 1,
        .max_inline_data = DONE_SIZE,
    };
    check(vbn_qp_create(side->pd, &qp, &side->qp));

    /* The device may grant deeper queues than were asked for. */
    vbn_qp_info info = {.struct_size = sizeof info};
    check(vbn_qp_query(side->qp, &info));
    if (info.max_send_wr + info.max_recv_wr > COMPLETIONS)
        die("the queues hold %" PRIu32 " + %" PRIu32 " requests, more than the completion queue's %d", info.max_send_wr, info.max_recv_wr, COMPLETIONS);

    /* Number, GID and a random start of the packet numbering: half of the connection. */
    vbn_rc_attr rc = {.struct_size = sizeof rc, .port_num = PORT};
    check(vbn_rc_record_local(side->qp, &rc, &side->record));
}

/* The device reads and writes this memory by itself, so it stays put until the region is closed. */
static void register_memory(struct side *side, uint64_t length, uint64_t access) {
    if (length == 0 || length > SIZE_MAX - 4095) die("%" PRIu64 " bytes can't be allocated", length);
    side->memory = aligned_alloc(4096, (size_t)(length + 4095) & ~(size_t)4095);
    if (!side->memory) die("no memory for %" PRIu64 " bytes", length);
    check(vbn_mr_reg(side->pd, side->memory, length, access, NULL, &side->mr));
}

/* Any order would do: what is still in use is destroyed with its last user. Only the memory must wait for its region. */
static void close_all(struct side *side) {
    check(vbn_qp_close(&side->qp));
    check(vbn_mr_close(&side->mr));
    check(vbn_cq_close(&side->cq));
    check(vbn_channel_close(&side->channel));
    check(vbn_pd_close(&side->pd));
    check(vbn_context_close(&side->context));
    free(side->memory);
}

/* How the two are connected, as the device has it. */
static void print_path(struct side *side) {
    vbn_context_info device = {.struct_size = sizeof device};
    vbn_qp_info qp = {.struct_size = sizeof qp};
    check(vbn_context_query(side->context, &device));
    check(vbn_qp_query(side->qp, &qp));
    vbn_gid_select_attr want = {.struct_size = sizeof want, .set = VBN_GID_SET_INDEX, .index = qp.path.sgid_index};
    vbn_gid_choice gid = {.struct_size = sizeof gid};
    check(vbn_gid_select(side->context, PORT, &want, &gid, NULL, sizeof(vbn_gid_verdict), 0, NULL));

    char text[INET6_ADDRSTRLEN] = "";
    inet_ntop(AF_INET6, gid.gid, text, sizeof text);
    printf("%s: device %s, port %d, queue pair %" PRIu32 " to %" PRIu32 "\n", role, device.name, PORT, vbn_qp_num(side->qp), qp.dest_qp_num);
    printf("%s: path: GID %s (index %" PRIu32 ", %s%s%s), MTU %s\n", role, text, gid.index, vbn_gid_type_name(gid.type), gid.ndev[0] ? ", " : "",
           gid.ndev, vbn_mtu_name(qp.path_mtu));
}

/* A request can fail long after it was posted: its completion tells. When a connection fails, the requests behind the
 * culprit are flushed, and the library remembers which one was the first. */
static void check_completion(struct side *side, const vbn_wc *wc) {
    vbn_wc first;
    if (wc->status == VBN_WC_WR_FLUSH_ERR && vbn_qp_first_error(side->qp, &first) == VBN_OK) wc = &first;
    check(vbn_wc_check(wc));
}

/* Sleeps until something completes, and takes up to n completions. */
static uint32_t wait_completions(struct side *side, vbn_wc *wcs, uint32_t n) {
    uint32_t got = 0;
    check(vbn_cq_wait(side->cq, n, wcs, 0, TIMEOUT, &got));
    for (uint32_t i = 0; i < got; i++) check_completion(side, &wcs[i]);
    return got;
}

/* --- the receiver ---------------------------------------------------------------------------------- */

/* Room for the closing message, which the sender must find. It follows the data in the same region. */
static void post_receive(struct side *side, uint64_t offset) {
    vbn_recv_wr wr = {
        .num_sge = 1,
        .sge = {.addr = vbn_mr_remote_addr(side->mr) + offset, .length = DONE_SIZE, .lkey = vbn_mr_lkey(side->mr)},
    };
    uint32_t posted;
    check(vbn_qp_post_recv(side->qp, &wr, 1, &posted));
}

static int verify(struct side *side, uint64_t length) {
    const uint8_t *done = side->memory + length;
    uint64_t announced = get(&done, 8), seed = get(&done, 8), wanted = get(&done, 8);
    uint64_t sum = checksum(side->memory, length), differs = first_difference(side->memory, length, seed);
    printf("%s: received %" PRIu64 " bytes, checksum %016" PRIx64 "\n", role, length, sum);
    if (announced != length) printf("%s: WRONG: the sender speaks of %" PRIu64 " bytes\n", role, announced);
    if (sum != wanted) printf("%s: WRONG: the sender's checksum is %016" PRIx64 "\n", role, wanted);
    if (differs != length) printf("%s: WRONG: the bytes at %" PRIu64 " are not what the seed %016" PRIx64 " makes\n", role, differs, seed);
    return announced == length && sum == wanted && differs == length;
}

static int serve(const struct options *options) {
    struct side side = {0};
    open_device(&side, options->device);
    int fd = tcp_open(options);
    struct hello theirs = receive_hello(fd);
    if (theirs.length > SIZE_MAX / 2) die("the sender wants to write %" PRIu64 " bytes", theirs.length);
    register_memory(&side, theirs.length + DONE_SIZE, VBN_ACCESS_LOCAL_WRITE | VBN_ACCESS_REMOTE_WRITE);

    /* Connected, and with a receive in place, before the sender hears of us: so nothing can come too early. */
    vbn_rc_attr rc = {.struct_size = sizeof rc, .set = VBN_RC_SET_ACCESS, .access = VBN_ACCESS_REMOTE_WRITE};
    check(vbn_qp_connect_rc(side.qp, &side.record, &theirs.record, &rc));
    post_receive(&side, theirs.length);
    send_hello(fd, &(struct hello){side.record, vbn_mr_remote_addr(side.mr), vbn_mr_rkey(side.mr), theirs.length});
    print_path(&side);

    /* Writes leave no trace here. But the sender's requests are carried out in order, so when its message is in, all
     * writes before it are in as well. */
    vbn_wc wc;
    wait_completions(&side, &wc, 1);
    if (wc.byte_len != DONE_SIZE) die("the closing message has %" PRIu32 " bytes instead of %d", wc.byte_len, DONE_SIZE);
    int good = verify(&side, theirs.length);
    tcp_write(fd, good ? "y" : "n", 1);
    printf("%s: %s\n", role, good ? "every byte is right" : "FAILED");
    close_all(&side);
    close(fd);
    return good ? 0 : 1;
}

/* --- the sender ------------------------------------------------------------------------------------- */

/* The writes of the bytes from `offset` on, BATCH of them at most. */
static uint32_t make_writes(struct side *side, const struct hello *to, uint64_t offset, uint64_t chunk, vbn_send_wr *wrs) {
    uint32_t n = 0;
    for (; n < BATCH && offset < to->length; n++) {
        uint64_t left = to->length - offset, length = left < chunk ? left : chunk;
        wrs[n] = (vbn_send_wr){
            .wr_id = offset,
            .flags = VBN_SEND_SIGNALED, /* completes on success too: that is how we know that a place is free */
            .opcode = VBN_WR_RDMA_WRITE,
            .num_sge = 1,
            .sge = {.addr = vbn_mr_remote_addr(side->mr) + offset, .length = (uint32_t)length, .lkey = vbn_mr_lkey(side->mr)},
            .remote_addr = to->address + offset,
            .rkey = to->rkey,
        };
        offset += length;
    }
    return n;
}

/* Posts n requests, waiting for completions whenever the queue is full. */
static void post_all(struct side *side, const vbn_send_wr *wrs, uint32_t n, uint64_t *completed) {
    vbn_wc wcs[BATCH];
    while (n > 0) {
        uint32_t posted = 0;
        vbn_status status = vbn_qp_post_send(side->qp, wrs, n, &posted);
        wrs += posted; /* whatever the status: the first `posted` are under way */
        n -= posted;
        if (status == VBN_ERR_QUEUE_FULL)
            *completed += wait_completions(side, wcs, BATCH);
        else
            check(status);
    }
}

/* "Done", with what the receiver needs for its check. Inline: the bytes are copied while posting and need no region. */
static void post_done(struct side *side, uint64_t length, uint64_t seed, uint64_t *completed) {
    uint8_t done[DONE_SIZE];
    put(put(put(done, length, 8), seed, 8), checksum(side->memory, length), 8);
    vbn_send_wr wr = {
        .wr_id = length,
        .flags = VBN_SEND_SIGNALED | VBN_SEND_INLINE | VBN_SEND_SOLICITED,
        .opcode = VBN_WR_SEND,
        .num_sge = 1,
        .sge = {.addr = (uintptr_t)done, .length = sizeof done},
    };
    post_all(side, &wr, 1, completed);
}

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Writes everything, keeping the queue full; returns when the last byte is in the peer's memory. */
static void write_all(struct side *side, const struct hello *to, uint64_t chunk) {
    vbn_send_wr wrs[BATCH];
    vbn_wc wcs[BATCH];
    uint64_t offset = 0, posted = 0, completed = 0;
    double start = now();
    while (offset < to->length) {
        uint32_t n = make_writes(side, to, offset, chunk, wrs);
        post_all(side, wrs, n, &completed);
        offset = wrs[n - 1].wr_id + wrs[n - 1].sge.length;
        posted += n;
    }
    while (completed < posted) completed += wait_completions(side, wcs, BATCH);
    double seconds = now() - start;
    printf("%s: wrote %" PRIu64 " bytes in %" PRIu64 " requests in %.3f s: %.1f MB/s\n", role, to->length, posted, seconds,
           (double)to->length / 1e6 / seconds);
}

static int transmit(const struct options *options, uint64_t length) {
    struct side side = {0};
    open_device(&side, options->device);
    register_memory(&side, length, 0); /* read by our own device only */
    uint64_t seed = (uint64_t)time(NULL) << 32 ^ (uint64_t)getpid();
    fill(side.memory, length, seed);

    int fd = tcp_open(options);
    send_hello(fd, &(struct hello){.record = side.record, .length = length});
    struct hello theirs = receive_hello(fd);
    if (theirs.length != length) die("the receiver offers %" PRIu64 " bytes instead of %" PRIu64, theirs.length, length);
    check(vbn_qp_connect_rc(side.qp, &side.record, &theirs.record, NULL));
    print_path(&side);

    /* No request may be longer than the port's largest message. */
    vbn_qp_info info = {.struct_size = sizeof info};
    check(vbn_qp_query(side.qp, &info));
    write_all(&side, &theirs, info.max_message < CHUNK ? info.max_message : CHUNK);

    uint64_t completed = 0;
    vbn_wc wc;
    post_done(&side, length, seed, &completed);
    while (completed < 1) completed += wait_completions(&side, &wc, 1);

    char verdict;
    tcp_read(fd, &verdict, 1);
    printf("%s: the receiver %s\n", role, verdict == 'y' ? "found every byte right" : "found wrong bytes: FAILED");
    close_all(&side);
    close(fd);
    return verdict == 'y' ? 0 : 1;
}

/* --- main ---------------------------------------------------------------------------------------------- */

static int usage(void) {
    fputs("usage: rc_write --listen PORT [--address ADDRESS] [--device NAME]\n"
          "       rc_write --connect HOST PORT [--size BYTES] [--device NAME]\n",
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
    if (!role) return usage();
    return options.host ? transmit(&options, size) : serve(&options);
}
