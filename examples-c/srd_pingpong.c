/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * srd_pingpong: how long a message takes over SRD, AWS EFA's transport, there and back.
 *
 *   srd_pingpong --listen PORT [--address ADDRESS] [--device NAME]       ADDRESS is 127.0.0.1 unless given; PORT 0: a free one
 *   srd_pingpong --connect HOST PORT [--size BYTES] [--count N] [--device NAME] [--json]
 *
 * The client sends a message, the server sends it back, N times (1000 unless told otherwise), of 64 bytes unless told
 * otherwise. First both look at their completion queues without a pause, then they sleep until something has completed.
 * The client prints the percentiles of the round trips; with --json one line of JSON and nothing else. Every message is
 * checked.
 *
 *   cc -std=c11 srd_pingpong.c $(pkg-config --cflags --libs verbena) -o srd_pingpong
 *   softnic run --device efa -- sh -c './srd_pingpong --listen 18515 & ./srd_pingpong --connect 127.0.0.1 18515; wait'
 */
#define _POSIX_C_SOURCE 200809L

#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <verbena.h>

#define WARM_UP 16                   /* round trips that aren't counted */
#define RECEIVES 4                   /* posted ahead; one would do, as only one message is under way */
#define COMPLETIONS 256              /* room for every completion that can be outstanding */
#define TIMEOUT INT64_C(30000000000) /* ns: nobody waits for ever for a peer that died */
#define HELLO_SIZE (VBN_ENDPOINT_SIZE + 4 + 4)
#define SEND_ID RECEIVES             /* wr_id of a send; a receive's is the number of its buffer */

#include "tcp.h"

static int64_t now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* --- what the two tell each other over TCP ---------------------------------------------------------- */

/* The 24 bytes of an endpoint are all that a peer is made of. (srd_write.c has the longer record, which tells more.) */
struct hello {
    vbn_endpoint endpoint;
    uint32_t size, count;
};

static void send_hello(int fd, const struct hello *hello) {
    uint8_t bytes[HELLO_SIZE];
    check(vbn_endpoint_encode(&hello->endpoint, bytes, VBN_ENDPOINT_SIZE));
    put(put(bytes + VBN_ENDPOINT_SIZE, hello->size, 4), hello->count, 4);
    tcp_write(fd, bytes, sizeof bytes);
}

static struct hello receive_hello(int fd) {
    uint8_t bytes[HELLO_SIZE];
    const uint8_t *p = bytes + VBN_ENDPOINT_SIZE;
    struct hello hello;
    tcp_read(fd, bytes, sizeof bytes);
    check(vbn_endpoint_decode(bytes, VBN_ENDPOINT_SIZE, &hello.endpoint));
    hello.size = (uint32_t)get(&p, 4);
    hello.count = (uint32_t)get(&p, 4);
    return hello;
}

/* --- the RDMA side ---------------------------------------------------------------------------------- */

struct side {
    vbn_caps caps;
    vbn_context *context;
    vbn_pd *pd;
    vbn_channel *channel; /* NULL if the device has no notifications */
    vbn_cq *cq;
    vbn_qp *qp;
    vbn_peer *peer;
    vbn_mr *mr;
    uint8_t *memory; /* RECEIVES buffers for what comes in, and one for what goes out */
    int sleeping;    /* wait for completions instead of looking all the time */
    uint32_t sent, heard; /* messages that are out, and that have come, since that was last set */
    struct hello mine, theirs;
};

static void open_device(struct side *side, const char *device) {
    vbn_device_match found = {.matches = 0};
    uint32_t count;
    if (!device) {
        check(vbn_device_find(VBN_CAP_SRD, &found, sizeof found, 1, &count)); /* those that match come first */
        if (!found.matches) die("no device with SRD%s%s", found.reason[0] ? ": " : " here", found.reason);
        device = found.name;
    }
    check(vbn_context_open(device, NULL, &side->context));
    side->caps.struct_size = sizeof side->caps;
    check(vbn_context_caps(side->context, &side->caps));
    check(vbn_pd_alloc(side->context, NULL, &side->pd));

    if (side->caps.caps & VBN_CAP_NOTIFY) check(vbn_channel_create(side->context, NULL, &side->channel));
    vbn_cq_attr cq = {.struct_size = sizeof cq, .cqe = COMPLETIONS, .channel = side->channel};
    check(vbn_cq_create(side->context, &cq, &side->cq));
    vbn_qp_init_attr qp = {
        .struct_size = sizeof qp,
        .qp_type = VBN_QPT_SRD,
        .send_cq = side->cq,
        .max_send_wr = 1,
        .max_recv_wr = RECEIVES,
        .max_inline_data = side->caps.max_inline, /* what is that short travels in the request itself */
        .sq_sig_all = 1,
    };
    check(vbn_qp_create(side->pd, &qp, &side->qp));
    vbn_qp_prepare_attr prepare = {.struct_size = sizeof prepare, .set = VBN_QP_PREPARE_SET_QKEY, .qkey = vbn_qkey_random()};
    check(vbn_qp_prepare(side->qp, &prepare));
    check(vbn_endpoint_local(side->qp, &side->mine.endpoint));
}

static uint8_t *buffer(const struct side *side, uint64_t number) { return side->memory + number * side->mine.size; }

static void post_receive(struct side *side, uint64_t number) {
    vbn_recv_wr wr = {
        .wr_id = number,
        .num_sge = 1,
        .sge = {.addr = (uintptr_t)buffer(side, number), .length = side->mine.size, .lkey = vbn_mr_lkey(side->mr)},
    };
    uint32_t posted;
    check(vbn_qp_post_recv(side->qp, &wr, 1, &posted));
}

static void post_send(struct side *side) {
    vbn_send_wr wr = {
        .wr_id = SEND_ID,
        .flags = side->mine.size <= side->caps.max_inline ? VBN_SEND_INLINE : 0,
        .opcode = VBN_WR_SEND,
        .num_sge = 1,
        .sge = {.addr = (uintptr_t)buffer(side, SEND_ID), .length = side->mine.size, .lkey = vbn_mr_lkey(side->mr)},
        .peer = side->peer,
    };
    uint32_t posted;
    check(vbn_qp_post_send(side->qp, &wr, 1, &posted));
}

static void register_memory(struct side *side) {
    size_t size = (size_t)(RECEIVES + 1) * side->mine.size;
    side->memory = calloc(1, size);
    if (!side->memory) die("no memory for %zu bytes", size);
    check(vbn_mr_reg(side->pd, side->memory, size, VBN_ACCESS_LOCAL_WRITE, NULL, &side->mr));
    for (uint64_t i = 0; i < RECEIVES; i++) post_receive(side, i);
}

static void close_all(struct side *side) {
    check(vbn_qp_close(&side->qp));
    check(vbn_peer_close(&side->peer));
    check(vbn_mr_close(&side->mr));
    check(vbn_cq_close(&side->cq));
    check(vbn_channel_close(&side->channel));
    check(vbn_pd_close(&side->pd));
    check(vbn_context_close(&side->context));
    free(side->memory);
}

/* What usually is behind a failed request, or behind one that never completes. */
static void explain(const struct side *side, int32_t status, uint32_t vendor_err) {
    static char text[VBN_EXPLAIN_TEXT_SIZE];
    vbn_explain_attr attr = {.struct_size = sizeof attr, .context = side->context, .status = status, .vendor_err = vendor_err};
    if (vbn_explain(&attr, text, sizeof text, NULL) == VBN_OK) fputs(text, stderr);
}

/* The next completion, in one of the two ways. Looking all the time has the shortest latency and takes a whole processor. */
static vbn_wc next_completion(struct side *side) {
    vbn_wc wc;
    uint32_t got = 0;
    vbn_status status = VBN_OK;
    if (side->sleeping) {
        status = vbn_cq_wait(side->cq, 1, &wc, 0, TIMEOUT, &got);
    } else {
        int64_t end = now() + TIMEOUT;
        while (status == VBN_OK && got == 0) {
            for (int i = 0; i < 1000 && status == VBN_OK && got == 0; i++) status = vbn_cq_poll(side->cq, 1, &wc, &got);
            if (got == 0 && now() > end) status = VBN_ERR_TIMEOUT;
            if (got == 0) sched_yield(); /* the peer may need this processor */
        }
    }
    if (status == VBN_ERR_TIMEOUT) {
        explain(side, VBN_EXPLAIN_SILENCE, 0);
        die("nothing completed for %d seconds", (int)(TIMEOUT / 1000000000));
    }
    check(status);
    if (wc.status != VBN_WC_SUCCESS) explain(side, wc.status, wc.vendor_err);
    check(vbn_wc_check(&wc));
    return wc;
}

/* --- ping and pong ------------------------------------------------------------------------------------- */

static uint8_t letter(uint32_t round, uint32_t at) { return (uint8_t)(round * 31 + at); }

/* Waits until so many messages of one's own are out and so many of the peer's are in. Nothing orders the two: the answer to a message may come
 * before the completion of that, and the peer's next message as well. */
static void wait_for(struct side *side, uint32_t sent, uint32_t heard) {
    while (side->sent < sent || side->heard < heard) {
        vbn_wc wc = next_completion(side);
        if (wc.wr_id == SEND_ID) {
            side->sent++;
            continue;
        }
        const uint8_t *message = buffer(side, wc.wr_id);
        if (wc.byte_len != side->mine.size) die("WRONG: a message of %" PRIu32 " bytes instead of %" PRIu32, wc.byte_len, side->mine.size);
        for (uint32_t i = 0; i < wc.byte_len; i++)
            if (message[i] != letter(side->heard, i)) die("WRONG: message %" PRIu32 " differs at byte %" PRIu32, side->heard, i);
        post_receive(side, wc.wr_id);
        side->heard++;
    }
}

static void make_message(struct side *side, uint32_t round) {
    for (uint32_t i = 0; i < side->mine.size; i++) buffer(side, SEND_ID)[i] = letter(round, i);
}

static void ping(struct side *side, int64_t *times) {
    for (uint32_t round = 0; round < WARM_UP + side->mine.count; round++) {
        make_message(side, round);
        int64_t start = now();
        post_send(side);
        wait_for(side, round + 1, round + 1);
        if (round >= WARM_UP) times[round - WARM_UP] = now() - start;
    }
}

static void pong(struct side *side) {
    for (uint32_t round = 0; round < WARM_UP + side->mine.count; round++) {
        wait_for(side, round, round + 1);
        make_message(side, round);
        post_send(side);
    }
    wait_for(side, WARM_UP + side->mine.count, WARM_UP + side->mine.count);
}

static int by_size(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* Percentiles as JSON has them or as people read them. */
static void print_times(int64_t *times, uint32_t count, const char *how, int json) {
    static const struct {
        const char *name;
        double part;
    } rows[] = {{"min", 0}, {"p50", 0.5}, {"p90", 0.9}, {"p99", 0.99}, {"p99_9", 0.999}, {"max", 1}};
    qsort(times, count, sizeof *times, by_size);
    printf(json ? ", \"%s\": {" : "client: %s: round trip in us:", how);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        printf(json ? "%s\"%s_us\": %.2f" : "%s %s %.2f", i == 0 ? "" : ",", rows[i].name, (double)times[(size_t)(rows[i].part * (count - 1))] / 1e3);
    printf(json ? "}" : "\n");
}

/* --- main ---------------------------------------------------------------------------------------------- */

static void measure(struct side *side, int fd, int client, int json) {
    int64_t *times = client ? malloc(side->mine.count * sizeof *times) : NULL;
    if (client && !times) die("no memory for %" PRIu32 " times", side->mine.count);
    for (side->sleeping = 0; side->sleeping <= 1; side->sleeping++) {
        side->sent = side->heard = 0;
        tcp_meet(fd, 'm'); /* both are in the same mode, and both have a peer and receives */
        if (!client) {
            pong(side);
            continue;
        }
        ping(side, times);
        print_times(times, side->mine.count, side->sleeping ? "wait" : "poll", json);
    }
    free(times);
}

static int run(const struct options *options, uint32_t size, uint32_t count, int json) {
    static struct side side;
    open_device(&side, options->device);
    int fd = tcp_open(options);
    side.mine.size = size, side.mine.count = count;
    if (options->host) send_hello(fd, &side.mine);
    side.theirs = receive_hello(fd);
    if (!options->host) { /* the client says how many, and of what size */
        side.mine.size = side.theirs.size, side.mine.count = side.theirs.count;
        send_hello(fd, &side.mine);
    }
    if (side.mine.size == 0 || side.mine.size > side.caps.max_send_size)
        die("a message has 1 to %" PRIu64 " bytes here, not %" PRIu32, side.caps.max_send_size, side.mine.size);
    register_memory(&side);
    check(vbn_peer_from_endpoint(side.pd, &side.theirs.endpoint, NULL, &side.peer));

    const char *how = side.channel ? "event" : "sleep";
    if (json)
        printf("{\"device\": \"%s\", \"size\": %" PRIu32 ", \"count\": %" PRIu32 ", \"wait_mode\": \"%s\"", side.caps.name, side.mine.size, side.mine.count, how);
    else
        printf("%s: device %s, %" PRIu32 " messages of %" PRIu32 " bytes, waits by %s\n", role, side.caps.name, side.mine.count, side.mine.size, how);
    measure(&side, fd, options->host != NULL, json);
    tcp_meet(fd, 'm');
    close_all(&side);
    close(fd);
    puts(json ? "}" : "srd_pingpong: OK");
    return 0;
}

static int usage(void) {
    fputs("usage: srd_pingpong --listen PORT [--address ADDRESS] [--device NAME]\n"
          "       srd_pingpong --connect HOST PORT [--size BYTES] [--count N] [--device NAME] [--json]\n",
          stderr);
    return 2;
}

/* A number from 1 to 2^31, or 0. */
static uint32_t number(const char *text) {
    char *end;
    unsigned long long value = strtoull(text, &end, 0);
    return *end == '\0' && value <= UINT32_MAX / 2 ? (uint32_t)value : 0;
}

int main(int argc, char **argv) {
    struct options options = {0};
    uint32_t size = 64, count = 1000;
    int json = 0;
    for (char **arg = argv + 1; arg < argv + argc; arg++) {
        if (take_option(&options, &arg)) continue;
        if (strcmp(arg[0], "--size") == 0 && arg[1]) {
            if ((size = number(*++arg)) == 0) return usage();
        } else if (strcmp(arg[0], "--count") == 0 && arg[1]) {
            if ((count = number(*++arg)) == 0) return usage();
        } else if (strcmp(arg[0], "--json") == 0) {
            json = 1;
        } else {
            return usage();
        }
    }
    if (!role || (json && !options.host)) return usage();
    return run(&options, size, count, json);
}
