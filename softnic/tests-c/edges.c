// SPDX-License-Identifier: MIT OR Apache-2.0
// Requests at the edges of what is allowed, and what memory they move, by raw verbs.
//
//   edges oversized     a SEND of the MTU goes through, one byte more fails with status 6
//   edges receives      the device's receive descriptors, one a piece: as many requests of three pieces as there is room for, and no more
//   edges dmabuf        regions of a memfd and of a file on disk, by offset and iova: READ, SEND and, where libefa has it, WRITE move the file's bytes and no others
//   edges in_turn       with --seed 0, two processes: a message is complete before the one is received that its receiver sent next
//   edges inside        with --seed 0: requests are done inside the calls of the program
//   edges lengths       every short length: at odd offsets, source and target overlapping, and reaching into memory that is gone
//   edges stale         memory that is gone: source of a SEND, receive buffer, target of a READ and a WRITE; to oneself, and to another process
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "srd.h"
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>

enum { PAGE = 4096, LENGTH = 1000 };
enum operation { SEND, READ, WRITE };

struct place {
    uint32_t key;
    uint64_t address;
};

static void request(struct end *e, uint64_t id, enum operation op, struct ibv_ah *ah, uint32_t qpn, struct place local, struct place remote, uint32_t length)
{
    struct ibv_qp_ex *qp = ibv_qp_to_qp_ex(e->qp);
    ibv_wr_start(qp);
    qp->wr_id = id;
    qp->wr_flags = IBV_SEND_SIGNALED;
    if (op == SEND) ibv_wr_send(qp);
    if (op == READ) ibv_wr_rdma_read(qp, remote.key, remote.address);
    if (op == WRITE) ibv_wr_rdma_write(qp, remote.key, remote.address);
    ibv_wr_set_sge(qp, local.key, local.address, length);
    ibv_wr_set_ud_addr(qp, ah, qpn, QKEY);
    CHECK(!ibv_wr_complete(qp));
}

static void receive(struct end *e, uint64_t id, struct place local, uint32_t length)
{
    struct ibv_sge sge = {local.address, length, local.key};
    struct ibv_recv_wr wr = {.wr_id = id, .sg_list = &sge, .num_sge = 1}, *bad;
    CHECK(!ibv_post_recv(e->qp, &wr, &bad));
}

static struct place in(struct end *e, size_t offset) { return (struct place){e->mr->lkey, (uintptr_t)e->buffer + offset}; }

// The completions of these requests, in any order, with these statuses of the device.
static void expect(struct end *e, int n, const uint64_t *ids, const uint32_t *statuses)
{
    for (unsigned seen = 0; seen != (1u << n) - 1;) {
        struct ibv_wc wc;
        CHECK(poll_for(e, &wc, 30));
        int i = 0;
        while (i < n && (ids[i] != wc.wr_id || seen & 1u << i)) i++;
        if (i == n || wc.vendor_err != statuses[i] || (wc.status == IBV_WC_SUCCESS) != (statuses[i] == 0)) {
            fprintf(stderr, "request %lu ended with %s (device status %u), expected %d\n", (unsigned long)wc.wr_id, ibv_wc_status_str(wc.status), wc.vendor_err, i < n ? (int)statuses[i] : -1);
            _exit(1);
        }
        seen |= 1u << i;
    }
}
static void expect1(struct end *e, uint64_t id, uint32_t status) { expect(e, 1, &id, &status); }
static void expect2(struct end *e, uint64_t a, uint32_t status_a, uint64_t b, uint32_t status_b)
{
    expect(e, 2, (uint64_t[]){a, b}, (uint32_t[]){status_a, status_b});
}

static void fill(unsigned char *to, size_t length, int seed)
{
    for (size_t i = 0; i < length; i++) to[i] = i * 7 + i / 256 + seed;
}

static void oversized(void)
{
    static struct end e;
    open_end(&e, 0, -1);
    struct ibv_ah *self = address(&e, e.gid);
    struct ibv_port_attr port;
    CHECK(!ibv_query_port(e.ctx, 1, &port) && port.max_msg_sz > 4096 && port.max_msg_sz < SIZE / 2);
    uint32_t most = port.max_msg_sz;
    fill(e.buffer, most + 1, 3);
    receive(&e, 1, in(&e, SIZE / 2), SIZE / 2);
    request(&e, 2, SEND, self, e.qp->qp_num, in(&e, 0), in(&e, 0), most + 1);
    expect1(&e, 2, 6);
    CHECK(e.buffer[SIZE / 2] == 0 && !memcmp(e.buffer + SIZE / 2, e.buffer + SIZE / 2 + 1, SIZE / 2 - 1));
    // The receive request is still there, and the queue goes on.
    request(&e, 3, SEND, self, e.qp->qp_num, in(&e, 0), in(&e, 0), most);
    expect2(&e, 1, 0, 3, 0);
    CHECK(!memcmp(e.buffer, e.buffer + SIZE / 2, most) && e.buffer[SIZE / 2 + most] == 0);
    CHECK(!ibv_destroy_ah(self));
    close_end(&e);
}

static void receives(void)
{
    static struct end e;
    open_end(&e, 0, -1);
    struct efadv_device_attr efa = {0};
    CHECK(!efadv_query_device(e.ctx, &efa, sizeof efa) && efa.max_rq_sge >= 3);
    for (uint32_t more = 0; more < 2; more++) {
        struct ibv_qp_init_attr init = {
            .send_cq = e.cq,
            .recv_cq = e.cq,
            .qp_type = IBV_QPT_UD,
            .cap = {.max_send_wr = 1, .max_recv_wr = efa.max_rq_wr / 3 + more, .max_send_sge = 1, .max_recv_sge = 3},
        };
        errno = 0;
        struct ibv_qp *qp = ibv_create_qp(e.pd, &init);
        CHECK(more ? !qp && errno == EINVAL : !!qp);
        if (qp) CHECK(!ibv_destroy_qp(qp));
    }
    close_end(&e);
}

enum { PAGES = 8, AT = 2 * PAGE, SPAN = 4 * PAGE };

static struct ibv_mr *region_of(struct end *e, int fd, uint64_t at, uint64_t iova)
{
    return ibv_reg_dmabuf_mr(e->pd, at, SPAN, iova, fd, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ | (e->writes ? IBV_ACCESS_REMOTE_WRITE : 0));
}

static void dmabuf_of(struct end *owner, struct ibv_ah *self, int fd)
{
    struct end e = *owner;
    const uint64_t iova = 0x7000000000;
    CHECK(fd >= 0 && !ftruncate(fd, PAGES * PAGE));
    unsigned char *file = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0), before[PAGES * PAGE];
    CHECK(file != MAP_FAILED);
    fill(file, PAGES * PAGE, 11);
    memcpy(before, file, sizeof before);
    struct ibv_mr *mr = region_of(&e, fd, AT, iova);
    CHECK(mr);
    // The region lives without the descriptor.
    CHECK(!close(fd));
    struct place here = {mr->lkey, iova + 100}, there = {mr->rkey, iova + SPAN - LENGTH};
    // Out of the file: READ from it, SEND from it.
    request(&e, 1, READ, self, e.qp->qp_num, in(&e, 0), there, LENGTH);
    expect1(&e, 1, 0);
    CHECK(!memcmp(e.buffer, file + AT + SPAN - LENGTH, LENGTH));
    receive(&e, 2, in(&e, PAGE), LENGTH);
    request(&e, 3, SEND, self, e.qp->qp_num, here, here, LENGTH);
    expect2(&e, 2, 0, 3, 0);
    CHECK(!memcmp(e.buffer + PAGE, file + AT + 100, LENGTH));
    CHECK(!memcmp(file, before, sizeof before));
    // Into it: READ, SEND, WRITE, each to a place of its own. Nothing else of the file changes.
    fill(e.buffer, 3 * PAGE, 77);
    request(&e, 4, READ, self, e.qp->qp_num, (struct place){mr->lkey, iova}, (struct place){e.mr->rkey, (uintptr_t)e.buffer}, LENGTH);
    expect1(&e, 4, 0);
    memcpy(before + AT, e.buffer, LENGTH);
    receive(&e, 5, (struct place){mr->lkey, iova + PAGE + 1}, LENGTH);
    request(&e, 6, SEND, self, e.qp->qp_num, in(&e, PAGE), in(&e, 0), LENGTH);
    expect2(&e, 5, 0, 6, 0);
    memcpy(before + AT + PAGE + 1, e.buffer + PAGE, LENGTH);
    if (e.writes) {
        request(&e, 7, WRITE, self, e.qp->qp_num, in(&e, 2 * PAGE), there, LENGTH);
        expect1(&e, 7, 0);
        memcpy(before + AT + SPAN - LENGTH, e.buffer + 2 * PAGE, LENGTH);
    }
    CHECK(!memcmp(file, before, sizeof before));
    // One byte behind the end, and the file's own place instead of the iova.
    request(&e, 8, READ, self, e.qp->qp_num, in(&e, 0), (struct place){mr->rkey, there.address + 1}, LENGTH);
    expect1(&e, 8, 7);
    request(&e, 9, READ, self, e.qp->qp_num, in(&e, 0), (struct place){mr->rkey, AT}, LENGTH);
    expect1(&e, 9, 7);
    CHECK(!ibv_dereg_mr(mr) && !munmap(file, PAGES * PAGE));
}

static int disk_file(int flags)
{
    char name[] = "/tmp/edges-XXXXXX";
    int fd = mkstemp(name);
    int again = open(name, flags | O_CLOEXEC);
    CHECK(fd >= 0 && again >= 0 && !unlink(name) && !ftruncate(fd, PAGES * PAGE) && !close(fd));
    return again;
}

static void dmabuf(void)
{
    static struct end e;
    int pipes[2];
    e.writes = 1;
    open_end(&e, 0, -1);
    struct ibv_ah *self = address(&e, e.gid);
    dmabuf_of(&e, self, memfd_create("region", MFD_CLOEXEC));
    dmabuf_of(&e, self, disk_file(O_RDWR));
    // What can't be mapped so is refused: no memory at all, none that may be written, a range beyond the end.
    int sealed = disk_file(O_RDONLY), file = disk_file(O_RDWR);
    CHECK(!pipe(pipes));
    CHECK(!region_of(&e, pipes[0], AT, AT) && !region_of(&e, sealed, AT, AT) && !region_of(&e, 12345, AT, AT));
    CHECK(!region_of(&e, file, (PAGES - 2) * PAGE, 0));
    CHECK(!close(pipes[0]) && !close(pipes[1]) && !close(sealed) && !close(file) && !ibv_destroy_ah(self));
    close_end(&e);
    printf("READ and SEND%s\n", e.writes ? ", WRITE" : "; this libefa has no WRITE");
}

// --- memory that is gone ---

static struct shared {
    atomic_int step;
    union ibv_gid gid[2];
    uint32_t qpn; // the rest is the other process's
    struct place stale, good;
    uint32_t qpns[2];
} *shared;

static void reach(int step) { shared->step = step; }
static void await(int step)
{
    for (double end = seconds() + 30; shared->step < step; usleep(500)) CHECK(seconds() < end);
}

static struct ibv_mr *mr_that_goes(struct end *e, char **at)
{
    // Far from everything else, so that nothing new is mapped where it was.
    *at = mmap((void *)0x100000000000, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    CHECK(*at != MAP_FAILED);
    memset(*at, 0x33, PAGE);
    struct ibv_mr *mr = ibv_reg_mr(e->pd, *at, PAGE, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ | (e->writes ? IBV_ACCESS_REMOTE_WRITE : 0));
    CHECK(mr);
    return mr;
}

// The target has a receive request posted, and still has it afterwards.
static void stale_to(struct end *e, struct ibv_ah *ah, uint32_t qpn, struct place remote_stale, struct place remote_good, struct place stale)
{
    request(e, 1, SEND, ah, qpn, stale, stale, LENGTH);
    expect1(e, 1, 5);
    request(e, 2, READ, ah, qpn, stale, remote_good, LENGTH);
    expect1(e, 2, 5);
    request(e, 3, READ, ah, qpn, in(e, 0), remote_stale, LENGTH);
    expect1(e, 3, 7);
    if (!e->writes) return;
    request(e, 4, WRITE, ah, qpn, stale, remote_good, LENGTH);
    expect1(e, 4, 5);
    request(e, 5, WRITE, ah, qpn, in(e, 0), remote_stale, LENGTH);
    expect1(e, 5, 7);
}

static void other_process(void)
{
    static struct end e;
    e.writes = 1;
    open_end(&e, 0, -1);
    char *at;
    struct ibv_mr *mr = mr_that_goes(&e, &at);
    shared->gid[1] = e.gid;
    shared->qpn = e.qp->qp_num;
    shared->stale = (struct place){mr->rkey, (uintptr_t)at};
    shared->good = (struct place){e.mr->rkey, (uintptr_t)e.buffer};
    receive(&e, 1, (struct place){mr->lkey, (uintptr_t)at}, LENGTH);
    CHECK(!munmap(at, PAGE));
    await(1);
    // A READ's target needs a handle for the requester.
    struct ibv_ah *ah = address(&e, shared->gid[0]);
    reach(2);
    expect1(&e, 1, 5);
    receive(&e, 2, in(&e, 0), LENGTH);
    reach(3);
    expect1(&e, 2, 0);
    await(4);
    CHECK(!ibv_dereg_mr(mr) && !ibv_destroy_ah(ah));
    close_end(&e);
}

static void stale(void)
{
    static struct end e;
    pid_t parent = getpid(), child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        CHECK(!prctl(PR_SET_PDEATHSIG, SIGKILL) && getppid() == parent);
        other_process();
        _exit(0);
    }
    e.writes = 1;
    open_end(&e, 0, -1);
    struct ibv_ah *self = address(&e, e.gid);
    char *at;
    struct ibv_mr *mr = mr_that_goes(&e, &at);
    struct place gone = {mr->lkey, (uintptr_t)at}, gone_there = {mr->rkey, (uintptr_t)at}, good = {e.mr->rkey, (uintptr_t)e.buffer};
    request(&e, 9, READ, self, e.qp->qp_num, gone, good, LENGTH);
    expect1(&e, 9, 0);
    CHECK(!munmap(at, PAGE));
    receive(&e, 6, in(&e, PAGE), LENGTH);
    stale_to(&e, self, e.qp->qp_num, gone_there, good, gone);
    request(&e, 7, SEND, self, e.qp->qp_num, in(&e, 0), good, LENGTH);
    expect2(&e, 6, 0, 7, 0);
    receive(&e, 10, gone, LENGTH);
    request(&e, 11, SEND, self, e.qp->qp_num, in(&e, 0), good, LENGTH);
    expect2(&e, 10, 5, 11, 12);
    // The same with another process.
    shared->gid[0] = e.gid;
    reach(1);
    await(2);
    struct ibv_ah *other = address(&e, shared->gid[1]);
    request(&e, 12, SEND, other, shared->qpn, in(&e, 0), good, LENGTH);
    expect1(&e, 12, 12);
    await(3);
    stale_to(&e, other, shared->qpn, shared->stale, shared->good, gone);
    request(&e, 13, SEND, other, shared->qpn, in(&e, 0), good, LENGTH);
    expect1(&e, 13, 0);
    reach(4);
    int status;
    CHECK(waitpid(child, &status, 0) == child && status == 0);
    CHECK(!ibv_dereg_mr(mr) && !ibv_destroy_ah(self) && !ibv_destroy_ah(other));
    close_end(&e);
    printf("SEND and READ%s\n", e.writes ? ", WRITE" : "; this libefa has no WRITE");
}

// --- short lengths ---

enum { SHORT = 140, ROOM = 1024 };

// A READ within the buffer moves these bytes and no others, as memmove.
static void moves(struct end *e, struct ibv_ah *self, size_t from, size_t to, uint32_t length)
{
    unsigned char wanted[ROOM];
    fill(e->buffer, ROOM, length + 1);
    memcpy(wanted, e->buffer, ROOM);
    memmove(wanted + to, wanted + from, length);
    request(e, length, READ, self, e->qp->qp_num, in(e, to), in(e, from), length);
    expect1(e, length, 0);
    if (memcmp(e->buffer, wanted, ROOM)) fprintf(stderr, "%u bytes from %zu to %zu are not what they should be\n", length, from, to);
    CHECK(!memcmp(e->buffer, wanted, ROOM));
}

static void lengths(void)
{
    static struct end e;
    open_end(&e, 0, -1);
    struct ibv_ah *self = address(&e, e.gid);
    for (uint32_t length = 1; length <= SHORT; length++) {
        for (size_t odd = 0; odd < 3; odd++) moves(&e, self, 200 + 7 * odd, 600 + odd, length);
        // In one piece, where SRD's freedom of order would make it another result.
        for (size_t apart = 1; length <= 128 && apart <= 33; apart += apart < 4 ? 1 : 13) {
            moves(&e, self, 300, 300 + apart, length);
            moves(&e, self, 300 + apart, 300, length);
        }
    }
    char *at = mmap((void *)0x100000000000, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    CHECK(at != MAP_FAILED);
    struct ibv_mr *mr = ibv_reg_mr(e.pd, at, 2 * PAGE, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ);
    CHECK(mr && !munmap(at + PAGE, PAGE));
    for (uint32_t length = 1; length <= SHORT; length++) {
        uint32_t beyond[] = {1, (length + 1) / 2, length};
        for (int i = 0; i < 3; i++) {
            struct place partly = {mr->lkey, (uintptr_t)at + PAGE - length + beyond[i]}, there = {mr->rkey, partly.address};
            request(&e, 1, READ, self, e.qp->qp_num, partly, in(&e, 0), length);
            expect1(&e, 1, 5);
            request(&e, 2, READ, self, e.qp->qp_num, in(&e, 0), there, length);
            expect1(&e, 2, 7);
        }
    }
    CHECK(!ibv_dereg_mr(mr) && !munmap(at, PAGE) && !ibv_destroy_ah(self));
    close_end(&e);
}

// --- order between two processes ---

enum { LONG_READ = 99 };

// Takes one completion, which is not that of a READ; true if it is that of the own message. What was received is counted, and its request posted again.
static int one_is_own(struct end *e, int *received)
{
    struct ibv_wc wc;
    do CHECK(poll_for(e, &wc, 30) && wc.status == IBV_WC_SUCCESS);
    while (wc.wr_id == LONG_READ);
    if (wc.wr_id == 0) return 1;
    post_recv(e, wc.wr_id, 64 * wc.wr_id, 64);
    *received += 1;
    return 0;
}

static void in_turn(void)
{
    enum { ROUNDS = 5000, RECEIVES = 8 };
    static struct end e;
    pid_t parent = getpid(), child = fork();
    CHECK(child >= 0);
    if (child == 0) CHECK(!prctl(PR_SET_PDEATHSIG, SIGKILL) && getppid() == parent);
    int me = child == 0;
    open_end(&e, 0, -1);
    for (uint64_t i = 1; i <= RECEIVES; i++) post_recv(&e, i, 64 * i, 64);
    shared->gid[me] = e.gid;
    shared->qpns[me] = e.qp->qp_num;
    if (me == 0) shared->good = (struct place){e.mr->rkey, (uintptr_t)e.buffer + SIZE / 4};
    if (me == 0) await(1);
    reach(me == 0 ? 2 : 1);
    await(2);
    struct ibv_ah *other = address(&e, shared->gid[!me]);
    int received = 0, early = 0;
    for (int round = 0; round < ROUNDS; round++) {
        while (me == 1 && received == round) CHECK(!one_is_own(&e, &received));
        // What comes for this keeps the receiver busy, until the rest is there as well.
        if (me == 1) request(&e, LONG_READ, READ, other, shared->qpns[0], in(&e, SIZE / 4), shared->good, SIZE / 4 * 3);
        post(&e, 0, other, shared->qpns[!me], 0, 0, 0, 64);
        while (!one_is_own(&e, &received)) early += me == 1;
        while (me == 0 && received == round) CHECK(!one_is_own(&e, &received));
    }
    int status = 0;
    if (me == 1) printf("%d of %d messages came before the one ahead of them was complete\n", early, ROUNDS);
    CHECK(early == 0);
    if (me == 0) CHECK(waitpid(child, &status, 0) == child && status == 0);
    CHECK(!ibv_destroy_ah(other));
    close_end(&e);
}

// --- who does the work ---

// With --seed 0, so that no request is held back. Each READ of oneself is done when the call that posts it returns, by the caller's own thread: no
// other has to run for it, be there one processor or many.
static void inside(void)
{
    enum { ROUNDS = 2000 };
    static struct end e;
    open_end(&e, 0, -1);
    struct ibv_ah *self = address(&e, e.gid);
    struct rusage before, after;
    int done = 0;
    CHECK(!getrusage(RUSAGE_SELF, &before));
    for (int i = 0; i < ROUNDS; i++) {
        fill(e.buffer, 64, i + 1);
        request(&e, i, READ, self, e.qp->qp_num, in(&e, PAGE), in(&e, 0), 64);
        done += !memcmp(e.buffer, e.buffer + PAGE, 64);
        expect1(&e, i, 0);
    }
    CHECK(!getrusage(RUSAGE_SELF, &after));
    long switches = after.ru_nvcsw + after.ru_nivcsw - before.ru_nvcsw - before.ru_nivcsw;
    printf("%d of %d READs done by the call that posts them, %ld switches of threads\n", done, ROUNDS, switches);
    CHECK(done > ROUNDS * 9 / 10 && switches < ROUNDS / 4);
    CHECK(!ibv_destroy_ah(self));
    close_end(&e);
}

int main(int argc, char **argv)
{
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(shared != MAP_FAILED && argc == 2);
    if (!strcmp(argv[1], "oversized")) return oversized(), 0;
    if (!strcmp(argv[1], "receives")) return receives(), 0;
    if (!strcmp(argv[1], "dmabuf")) return dmabuf(), 0;
    if (!strcmp(argv[1], "stale")) return stale(), 0;
    if (!strcmp(argv[1], "lengths")) return lengths(), 0;
    if (!strcmp(argv[1], "in_turn")) return in_turn(), 0;
    if (!strcmp(argv[1], "inside")) return inside(), 0;
    fprintf(stderr, "edges: which?\n");
    return 2;
}
