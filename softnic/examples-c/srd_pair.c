/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * srd_pair: two processes, SEND, RDMA READ and RDMA WRITE over EFA's SRD, every byte checked at both ends.
 *
 *   srd_pair --listen PORT [--device NAME] [--size BYTES]          on 127.0.0.1; PORT 0 takes a free one and tells which
 *   srd_pair --connect HOST PORT [--device NAME] [--size BYTES]    both sides must name the same size; 16 MiB unless given
 *
 * This is plain libibverbs and libefa, nothing else:
 *
 *   cc -std=c11 srd_pair.c -libverbs -lefa -o srd_pair
 *   softnic run --device efa -- sh -c './srd_pair --listen 18515 & ./srd_pair --connect 127.0.0.1 18515; wait'
 *
 * What SRD wants to be treated differently from RC:
 *   - There is no connection. Each request names its target: an address handle, a QP number and a key.
 *   - Both sides need an address handle for the other before the first READ or WRITE.
 *   - Nothing is in order: neither the requests of a queue, nor their completions, nor the bytes inside a request. So
 *     each message says by itself which one it is, wr_id tells which request has completed, and the end of a transfer is
 *     told over TCP only when all its completions are in.
 */
#define _POSIX_C_SOURCE 200809L

#include <arpa/inet.h>
#include <errno.h>
#include <infiniband/efadv.h>
#include <infiniband/verbs.h>
#include <inttypes.h>
#include <netdb.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

/* Bit 3 of device_caps is "RDMA WRITE". The name came with rdma-core 46, so headers before it don't have it; and a
 * library before it never sets the bit, whatever the device can do. */
#define CAPS_RDMA_WRITE (1u << 3)

#define PORT 1             /* an EFA device has one port, with one GID */
#define CHUNK (1u << 20)   /* bytes in a READ or WRITE; less if the device says so */
#define WINDOW 8           /* READs and WRITEs under way at once */
#define MESSAGES 64        /* SENDs in each direction, of all lengths up to what the device allows */
#define TIMEOUT 30.0       /* seconds: nobody waits for ever for a peer that died */
#define HELLO_SIZE (16 + 4 + 4 + 8 + 4 + 8 + 8)

static const char *role; /* "server" or "client", at the start of each line */

/* --- errors ------------------------------------------------------------------------------------- */

static void die(const char *format, ...) {
    va_list args;
    va_start(args, format);
    fprintf(stderr, "%s: ", role);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
    exit(1);
}

/* Verbs that make something return NULL and set errno; the others return the error number. */
static void *made(void *object, const char *what) {
    if (!object) die("%s: %s", what, strerror(errno));
    return object;
}

static void check(int error, const char *what) {
    if (error) die("%s: %s", what, strerror(error < 0 ? errno : error));
}

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* --- what the two tell each other over TCP ---------------------------------------------------------- */

struct hello {
    union ibv_gid gid; /* the device, ... */
    uint32_t qpn;      /* ... the queue pair in it, ... */
    uint32_t qkey;     /* ... and the key that every request to it must carry */
    uint64_t address;  /* the memory that may be read and written: source, then landing, `length` bytes each */
    uint32_t rkey;
    uint64_t length;
    uint64_t seed; /* what the source is filled from */
};

static uint8_t *put(uint8_t *bytes, uint64_t value, int size) {
    for (int i = size - 1; i >= 0; i--, value >>= 8) bytes[i] = (uint8_t)value;
    return bytes + size;
}

static uint64_t get(const uint8_t **bytes, int size) {
    uint64_t value = 0;
    while (size-- > 0) value = value << 8 | *(*bytes)++;
    return value;
}

static void tcp_write(int fd, const void *data, size_t size) {
    for (const uint8_t *p = data; size > 0;) {
        ssize_t n = send(fd, p, size, MSG_NOSIGNAL);
        if (n <= 0) die("the TCP connection to the peer broke; see what the peer says");
        p += n;
        size -= (size_t)n;
    }
}

static void tcp_read(int fd, void *data, size_t size) {
    for (uint8_t *p = data; size > 0;) {
        ssize_t n = recv(fd, p, size, 0);
        if (n <= 0) die("the peer closed the TCP connection early; see what the peer says");
        p += n;
        size -= (size_t)n;
    }
}

static struct hello swap_hellos(int fd, const struct hello *mine) {
    uint8_t bytes[HELLO_SIZE], *p = bytes;
    memcpy(p, mine->gid.raw, 16);
    p = put(p + 16, mine->qpn, 4);
    p = put(p, mine->qkey, 4);
    p = put(p, mine->address, 8);
    p = put(p, mine->rkey, 4);
    p = put(p, mine->length, 8);
    put(p, mine->seed, 8);
    tcp_write(fd, bytes, sizeof bytes);

    tcp_read(fd, bytes, sizeof bytes);
    const uint8_t *q = bytes + 16;
    struct hello theirs = {0};
    memcpy(theirs.gid.raw, bytes, 16);
    theirs.qpn = (uint32_t)get(&q, 4);
    theirs.qkey = (uint32_t)get(&q, 4);
    theirs.address = get(&q, 8);
    theirs.rkey = (uint32_t)get(&q, 4);
    theirs.length = get(&q, 8);
    theirs.seed = get(&q, 8);
    return theirs;
}

/* Returns when the other has come as far. Its requests are served meanwhile: a target takes no part in them. */
static void meet(int fd, char step) {
    char theirs;
    tcp_write(fd, &step, 1);
    tcp_read(fd, &theirs, 1);
    if (theirs != step) die("the peer is at step '%c' instead of '%c'", theirs, step);
}

static struct addrinfo *resolve(const char *host, const char *port) {
    struct addrinfo hints = {.ai_family = AF_INET, .ai_socktype = SOCK_STREAM}, *found;
    int error = getaddrinfo(host, port, &hints, &found);
    if (error) die("%s, TCP port %s: %s", host, port, gai_strerror(error));
    return found;
}

static int tcp_accept(const char *port) {
    struct addrinfo *at = resolve("127.0.0.1", port);
    int listener = socket(at->ai_family, at->ai_socktype, at->ai_protocol), yes = 1;
    if (listener < 0 || setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) < 0 ||
        bind(listener, at->ai_addr, at->ai_addrlen) < 0 || listen(listener, 1) < 0)
        die("can't listen on TCP port %s: %s", port, strerror(errno));
    freeaddrinfo(at);
    struct sockaddr_in name = {0};
    socklen_t size = sizeof name;
    if (getsockname(listener, (struct sockaddr *)&name, &size) < 0) die("getsockname: %s", strerror(errno));
    printf("%s: listening on TCP port %d\n", role, ntohs(name.sin_port));
    fflush(stdout);
    int fd = accept(listener, NULL, NULL);
    if (fd < 0) die("no TCP connection came in: %s", strerror(errno));
    close(listener);
    return fd;
}

static int tcp_connect(const char *host, const char *port) {
    struct addrinfo *at = resolve(host, port);
    for (int attempt = 0; attempt < 100; attempt++) { /* the server may not be up yet */
        int fd = socket(at->ai_family, at->ai_socktype, at->ai_protocol);
        if (fd < 0) break;
        if (connect(fd, at->ai_addr, at->ai_addrlen) == 0) {
            freeaddrinfo(at);
            return fd;
        }
        close(fd);
        nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
    }
    die("nobody listens on %s, TCP port %s: start srd_pair --listen %s first", host, port, port);
    return -1;
}

/* --- the RDMA side ---------------------------------------------------------------------------------- */

struct side {
    struct ibv_context *context;
    struct ibv_pd *pd;
    struct ibv_cq *cq;
    struct ibv_qp *qp;
    struct ibv_qp_ex *post; /* the same queue pair, as the ibv_wr_* calls want it */
    struct ibv_mr *mr;
    struct ibv_ah *to_peer;
    struct efadv_device_attr efa;
    uint32_t message; /* the longest SEND */
    uint32_t chunk;   /* the longest READ or WRITE */
    uint64_t length;  /* of source and of landing */
    uint8_t *source, *landing, *outbox, *inbox;
    struct hello mine, theirs;
};

/* A new key for each queue pair: a late packet to a former owner of its number is then refused. The upper half of the
 * numbers is for the privileged. */
static void choose_secrets(struct side *side) {
    uint64_t random[2];
    if (getrandom(random, sizeof random, 0) != sizeof random) die("getrandom: %s", strerror(errno));
    side->mine.qkey = (uint32_t)random[0] & 0x7fffffff;
    side->mine.seed = random[1];
}

static struct ibv_context *open_named(const char *name) {
    int n = 0;
    struct ibv_device **list = ibv_get_device_list(&n), *found = NULL; /* NULL and ENOSYS on a machine without any */
    for (int i = 0; list && i < n && !found; i++)
        if (!name || strcmp(ibv_get_device_name(list[i]), name) == 0) found = list[i];
    if (!found) die("no RDMA device%s%s among the %d here; run this as: softnic run --device efa -- COMMAND", name ? " named " : "", name ? name : "", n);
    struct ibv_context *context = made(ibv_open_device(found), "ibv_open_device");
    ibv_free_device_list(list);
    return context;
}

static void open_device(struct side *side, const char *name) {
    side->context = open_named(name);
    int error = efadv_query_device(side->context, &side->efa, sizeof side->efa);
    if (error) die("%s is not an EFA device: %s", ibv_get_device_name(side->context->device), strerror(error));
    if (!(side->efa.device_caps & EFADV_DEVICE_ATTR_CAPS_RDMA_READ)) die("this device can do no RDMA READ");
    struct ibv_port_attr port;
    check(ibv_query_port(side->context, PORT, &port), "ibv_query_port");
    check(ibv_query_gid(side->context, PORT, 0, &side->mine.gid), "ibv_query_gid");
    side->message = port.max_msg_sz; /* not active_mtu, which can't say more than 4096 */
    side->chunk = side->efa.max_rdma_size < CHUNK ? side->efa.max_rdma_size : CHUNK;
    side->pd = made(ibv_alloc_pd(side->context), "ibv_alloc_pd");
}

static int can_write(const struct side *side) { return (side->efa.device_caps & CAPS_RDMA_WRITE) != 0; }

static void create_queues(struct side *side) {
    /* Room for everything that can be under way: a completion queue that overflows loses completions. */
    side->cq = made(ibv_create_cq(side->context, 2 * MESSAGES + WINDOW, NULL, NULL, 0), "ibv_create_cq");
    struct ibv_qp_init_attr_ex attr = {
        .send_cq = side->cq,
        .recv_cq = side->cq,
        .cap = {.max_send_wr = MESSAGES, .max_recv_wr = MESSAGES, .max_send_sge = 1, .max_recv_sge = 1},
        .qp_type = IBV_QPT_DRIVER,
        .pd = side->pd,
        .comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
        .send_ops_flags = IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_RDMA_READ | (can_write(side) ? IBV_QP_EX_WITH_RDMA_WRITE : 0),
    };
    struct efadv_qp_init_attr srd = {.driver_qp_type = EFADV_QP_DRIVER_TYPE_SRD};
    side->qp = made(efadv_create_qp_ex(side->context, &attr, &srd, sizeof srd), "efadv_create_qp_ex");
    side->post = made(ibv_qp_to_qp_ex(side->qp), "ibv_qp_to_qp_ex");
    side->mine.qpn = side->qp->qp_num;

    struct ibv_qp_attr to = {.qp_state = IBV_QPS_INIT, .port_num = PORT, .qkey = side->mine.qkey};
    check(ibv_modify_qp(side->qp, &to, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY), "to INIT");
    to.qp_state = IBV_QPS_RTR;
    check(ibv_modify_qp(side->qp, &to, IBV_QP_STATE), "to RTR");
    to.qp_state = IBV_QPS_RTS;
    check(ibv_modify_qp(side->qp, &to, IBV_QP_STATE | IBV_QP_SQ_PSN), "to RTS");
}

static void register_memory(struct side *side, uint64_t length) {
    uint64_t messages = (uint64_t)MESSAGES * side->message;
    if (length == 0 || length > SIZE_MAX / 4) die("--size %" PRIu64 ": can't be allocated", length);
    length = (length + 4095) & ~UINT64_C(4095);
    size_t total = (size_t)(2 * length + 2 * messages + 4095) & ~(size_t)4095;
    side->length = length;
    side->source = made(aligned_alloc(4096, total), "memory");
    side->landing = side->source + length;
    side->outbox = side->landing + length;
    side->inbox = side->outbox + messages;
    memset(side->landing, 0, total - length);

    /* One region for all: the peer reads the source and writes the landing. */
    int access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ | (can_write(side) ? IBV_ACCESS_REMOTE_WRITE : 0);
    side->mr = made(ibv_reg_mr(side->pd, side->source, total, access), "ibv_reg_mr");
    side->mine.address = (uintptr_t)side->source;
    side->mine.rkey = side->mr->rkey;
    side->mine.length = length;
}

static void find_peer(struct side *side, int fd) {
    side->theirs = swap_hellos(fd, &side->mine);
    if (side->theirs.length != side->length)
        die("this side has %" PRIu64 " bytes, the peer %" PRIu64 ": give both the same --size", side->length, side->theirs.length);
    struct ibv_ah_attr attr = {.is_global = 1, .port_num = PORT, .grh.dgid = side->theirs.gid};
    side->to_peer = made(ibv_create_ah(side->pd, &attr), "ibv_create_ah");
}

/* In this order: what is in use can't be destroyed. */
static void close_all(struct side *side) {
    check(ibv_destroy_qp(side->qp), "ibv_destroy_qp");
    check(ibv_destroy_ah(side->to_peer), "ibv_destroy_ah");
    check(ibv_dereg_mr(side->mr), "ibv_dereg_mr");
    check(ibv_destroy_cq(side->cq), "ibv_destroy_cq");
    check(ibv_dealloc_pd(side->pd), "ibv_dealloc_pd");
    check(ibv_close_device(side->context), "ibv_close_device");
    free(side->source);
}

static void print_device(const struct side *side) {
    struct ibv_device_attr attr;
    check(ibv_query_device(side->context, &attr), "ibv_query_device");
    char gid[INET6_ADDRSTRLEN] = "";
    inet_ntop(AF_INET6, side->mine.gid.raw, gid, sizeof gid);
    uint32_t caps = side->efa.device_caps;
    printf("%s: device %s, vendor %04x:%04x, firmware %s\n", role, ibv_get_device_name(side->context->device), attr.vendor_id,
           attr.vendor_part_id, attr.fw_ver);
    printf("%s: GID %s, QP %" PRIu32 "\n", role, gid, side->mine.qpn);
    printf("%s: capabilities:%s%s%s%s; SEND up to %" PRIu32 " bytes, RDMA up to %" PRIu32 "\n", role,
           caps & EFADV_DEVICE_ATTR_CAPS_RDMA_READ ? " read" : "", caps & EFADV_DEVICE_ATTR_CAPS_RNR_RETRY ? " rnr-retry" : "",
           caps & EFADV_DEVICE_ATTR_CAPS_CQ_WITH_SGID ? " cq-with-sgid" : "", can_write(side) ? " write" : "", side->message,
           side->efa.max_rdma_size);
    fflush(stdout);
}

/* --- posting and completions ------------------------------------------------------------------------- */

enum operation { READ, WRITE };

/* Every request carries its whole target: that is what being without a connection means. */
static void start_request(struct side *side, uint64_t id) {
    ibv_wr_start(side->post);
    side->post->wr_id = id;
    side->post->wr_flags = IBV_SEND_SIGNALED;
}

static void end_request(struct side *side, const void *local, uint32_t length) {
    ibv_wr_set_sge(side->post, side->mr->lkey, (uintptr_t)local, length);
    ibv_wr_set_ud_addr(side->post, side->to_peer, side->theirs.qpn, side->theirs.qkey);
    check(ibv_wr_complete(side->post), "ibv_wr_complete");
}

static void post_send(struct side *side, uint64_t id, const void *message, uint32_t length) {
    start_request(side, id);
    ibv_wr_send(side->post);
    end_request(side, message, length);
}

static void post_rdma(struct side *side, enum operation operation, uint64_t id, uint64_t offset, uint32_t length) {
    start_request(side, id);
    if (operation == READ)
        ibv_wr_rdma_read(side->post, side->theirs.rkey, side->theirs.address + offset);
    else
        ibv_wr_rdma_write(side->post, side->theirs.rkey, side->theirs.address + side->length + offset);
    end_request(side, (operation == READ ? side->landing : side->source) + offset, length);
}

static void post_receive(struct side *side, uint64_t slot) {
    struct ibv_sge sge = {.addr = (uintptr_t)(side->inbox + slot * side->message), .length = side->message, .lkey = side->mr->lkey};
    struct ibv_recv_wr wr = {.wr_id = slot, .sg_list = &sge, .num_sge = 1}, *bad;
    check(ibv_post_recv(side->qp, &wr, &bad), "ibv_post_recv");
}

/* One completion. An empty queue yields the processor, since the peer may need it. A failed request fails alone: unlike
 * on RC, the queue pair goes on working and nothing is flushed. */
static struct ibv_wc next_completion(struct side *side) {
    struct ibv_wc wc;
    double end = now() + TIMEOUT;
    int n;
    while ((n = ibv_poll_cq(side->cq, 1, &wc)) == 0) {
        if (now() > end) die("nothing completed for %.0f seconds", TIMEOUT);
        sched_yield();
    }
    if (n < 0) die("ibv_poll_cq failed");
    if (wc.status != IBV_WC_SUCCESS)
        die("request %" PRIu64 " failed: %s (the device's status %" PRIu32 ")", wc.wr_id, ibv_wc_status_str(wc.status), wc.vendor_err);
    return wc;
}

/* --- the data -------------------------------------------------------------------------------------- */

/* Eight bytes that depend on the seed and on where they are, so that a piece in the wrong place is noticed too. */
static uint64_t pattern(uint64_t seed, uint64_t word) {
    uint64_t x = seed + (word + 1) * UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

static void fill(uint8_t *memory, uint64_t length, uint64_t seed) {
    for (uint64_t at = 0; at < length; at += 8) {
        uint64_t word = pattern(seed, at / 8);
        memcpy(memory + at, &word, length - at < 8 ? length - at : 8);
    }
}

static void verify(const uint8_t *memory, uint64_t length, uint64_t seed, const char *what) {
    for (uint64_t at = 0; at < length; at += 8) {
        uint64_t word = pattern(seed, at / 8), n = length - at < 8 ? length - at : 8;
        if (memcmp(memory + at, &word, n) != 0) die("WRONG: %s: the bytes at %" PRIu64 " are not the peer's", what, at);
    }
}

static void print_result(const char *operation, uint64_t bytes, uint32_t requests, uint32_t overtook, double seconds) {
    printf("%s: %s: %" PRIu64 " bytes in %" PRIu32 " requests, %" PRIu32 " overtook another, %.1f MB/s, every byte right\n", role,
           operation, bytes, requests, overtook, (double)bytes / 1e6 / seconds);
    fflush(stdout);
}

/* --- SEND both ways ---------------------------------------------------------------------------------- */

/* Message i is `message_length` bytes made from seed + i, with i in front: a receive says nothing of who came when. */
static uint32_t message_length(const struct side *side, uint32_t i) { return 4 + (side->message - 4) * i / (MESSAGES - 1); }

static uint32_t check_message(struct side *side, const struct ibv_wc *wc, uint8_t *seen) {
    const uint8_t *message = side->inbox + wc->wr_id * side->message, *p = message;
    if (wc->byte_len < 4) die("WRONG: a message of %" PRIu32 " bytes", wc->byte_len);
    uint32_t i = (uint32_t)get(&p, 4);
    if (i >= MESSAGES || seen[i]) die("WRONG: message %" PRIu32 " came twice, or was never sent", i);
    if (wc->byte_len != message_length(side, i)) die("WRONG: message %" PRIu32 " has %" PRIu32 " bytes", i, wc->byte_len);
    verify(p, wc->byte_len - 4, side->theirs.seed + i, "a message");
    seen[i] = 1;
    return i;
}

static void swap_messages(struct side *side) {
    uint8_t seen[MESSAGES] = {0};
    uint32_t received = 0, sent = 0, overtook = 0, newest = 0;
    uint64_t bytes = 0;
    double start = now();
    for (uint32_t i = 0; i < MESSAGES; i++) post_send(side, i, side->outbox + (uint64_t)i * side->message, message_length(side, i));
    while (received < MESSAGES || sent < MESSAGES) {
        struct ibv_wc wc = next_completion(side);
        if (wc.opcode & IBV_WC_RECV) {
            uint32_t i = check_message(side, &wc, seen);
            if (i < newest) overtook++;
            if (i > newest) newest = i;
            received++;
            bytes += wc.byte_len;
        } else {
            sent++;
        }
    }
    print_result("SEND", bytes, received, overtook, now() - start);
}

static void prepare_messages(struct side *side) {
    for (uint32_t i = 0; i < MESSAGES; i++) {
        uint8_t *message = side->outbox + (uint64_t)i * side->message;
        put(message, i, 4);
        fill(message + 4, message_length(side, i) - 4, side->mine.seed + i);
        post_receive(side, i);
    }
}

/* --- READ and WRITE ---------------------------------------------------------------------------------- */

/* Moves `length` bytes in chunks, WINDOW of them at once, and returns when all of them have completed. Completions come in
 * any order, so each chunk has its own mark. */
static void move_all(struct side *side, enum operation operation, uint32_t *requests, uint32_t *overtook) {
    uint32_t chunks = (uint32_t)((side->length + side->chunk - 1) / side->chunk), posted = 0, oldest = 0;
    uint8_t *done = made(calloc(chunks, 1), "memory");
    *requests = chunks, *overtook = 0;
    for (uint32_t completed = 0; completed < chunks; completed++) {
        for (; posted < chunks && posted - completed < WINDOW; posted++) {
            uint64_t offset = (uint64_t)posted * side->chunk, left = side->length - offset;
            post_rdma(side, operation, posted, offset, left < side->chunk ? (uint32_t)left : side->chunk);
        }
        uint64_t id = next_completion(side).wr_id;
        if (id >= chunks || done[id]) die("WRONG: request %" PRIu64 " completed twice, or was never posted", id);
        done[id] = 1;
        if (id != oldest) ++*overtook;
        while (oldest < chunks && done[oldest]) oldest++;
    }
    free(done);
}

static void read_peer(struct side *side) {
    uint32_t requests, overtook;
    double start = now();
    move_all(side, READ, &requests, &overtook);
    double seconds = now() - start;
    verify(side->landing, side->length, side->theirs.seed, "what was read");
    print_result("READ", side->length, requests, overtook, seconds);
}

/* Written bytes announce themselves nowhere: the other side looks at them when it was told that all is complete. */
static void write_peer(struct side *side, int fd) {
    uint32_t requests, overtook;
    memset(side->landing, 0, side->length);
    meet(fd, 'w');
    double start = now();
    move_all(side, WRITE, &requests, &overtook);
    double seconds = now() - start;
    meet(fd, 'W');
    verify(side->landing, side->length, side->theirs.seed, "what the peer wrote");
    print_result("WRITE", side->length, requests, overtook, seconds);
}

/* --- main ---------------------------------------------------------------------------------------------- */

static void run(const char *device, const char *host, const char *port, uint64_t size) {
    struct side side = {0};
    choose_secrets(&side);
    open_device(&side, device);
    create_queues(&side);
    register_memory(&side, size);
    fill(side.source, side.length, side.mine.seed);
    print_device(&side);
    prepare_messages(&side);

    int fd = host ? tcp_connect(host, port) : tcp_accept(port);
    find_peer(&side, fd);
    meet(fd, 'a'); /* both have an address handle now */
    swap_messages(&side);
    meet(fd, 's');
    read_peer(&side);
    meet(fd, 'r');
    if (can_write(&side))
        write_peer(&side, fd);
    else
        printf("%s: WRITE: not tried: this libefa or this device does not offer it\n", role);
    meet(fd, 'e'); /* nobody takes memory or queues away that the other still uses */
    close_all(&side);
    close(fd);
    printf("%s: every byte is right\n", role);
}

static int usage(void) {
    fputs("usage: srd_pair --listen PORT [--device NAME] [--size BYTES]\n"
          "       srd_pair --connect HOST PORT [--device NAME] [--size BYTES]\n",
          stderr);
    return 2;
}

int main(int argc, char **argv) {
    const char *device = NULL, *host = NULL, *port = NULL;
    uint64_t size = UINT64_C(16) << 20;
    for (int i = 1; i < argc; i++) {
        int left = argc - i - 1; /* arguments after this one */
        if (strcmp(argv[i], "--listen") == 0 && left >= 1) {
            role = "server", port = argv[++i];
        } else if (strcmp(argv[i], "--connect") == 0 && left >= 2) {
            role = "client", host = argv[++i], port = argv[++i];
        } else if (strcmp(argv[i], "--device") == 0 && left >= 1) {
            device = argv[++i];
        } else if (strcmp(argv[i], "--size") == 0 && left >= 1) {
            char *end;
            size = strtoull(argv[++i], &end, 0);
            if (*end) return usage();
        } else {
            return usage();
        }
    }
    if (!role) return usage();
    run(device, host, port, size);
    return 0;
}
