// SPDX-License-Identifier: MIT OR Apache-2.0
// Many processes and devices, and the death of one.
//
//   peers all PROCESSES DEVICES    each process sends one message on each device to each other process, and READs from the next one
//   peers events                   two processes that sleep until the event of each message: none is lost
//   peers idle                     a process with open queues that waits uses next to no processor time
//   peers killed                   a process is killed while another sends to it: status 13, soon
//   peers became                   a process becomes another program by a call that softnic does not see: status 13, soon
//   peers serves FILE              answers whoever reads its address in FILE, until it is killed
//   peers asks FILE STATUS         sends to that address, unless the status to come is 15, says so by FILE.STATUS, waits for FILE.gone, and sends again
//   peers leaves                   a process exits with open queue pairs, requests in flight, an armed channel and threads in poll and in
//                                  ibv_get_cq_event: alone, and with a peer that sends to it (status 13). It takes no time
//   peers stopped                  a process is stopped: status 13 after the run's --peer-timeout, which is 3 seconds; continued, it gets
//                                  what was sent and takes part again. One that only is not ready is waited for
#include "srd.h"
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>

enum { PROCESSES = 16, DEVICES = 32, LENGTH = 64, BLOCK = 8192 };

static struct shared {
    atomic_int arrived[4];
    double left; // when the process that leaves began to
    union ibv_gid gid[PROCESSES][DEVICES];
    uint32_t qpn[PROCESSES][DEVICES], rkey[PROCESSES][DEVICES];
    uint64_t memory[PROCESSES][DEVICES];
} *shared;

static void meet(int step, int count)
{
    double end = seconds() + 40;
    for (shared->arrived[step]++; shared->arrived[step] < count; usleep(1000)) CHECK(seconds() < end);
}

static void publish(struct end *e, int me, int device)
{
    open_end(e, device, -1);
    shared->gid[me][device] = e->gid;
    shared->qpn[me][device] = e->qp->qp_num;
    shared->rkey[me][device] = e->mr->rkey;
    shared->memory[me][device] = (uintptr_t)e->buffer;
}

static unsigned char byte_of(int process, int device, int at) { return process * 31 + device * 7 + at * 13 + at / 256; }

// A block of the next process's memory on this device.
static void read_next(struct end *e, int me, int processes, int device, struct ibv_ah **ahs)
{
    int next = (me + 1) % processes;
    struct ibv_qp_ex *qp = ibv_qp_to_qp_ex(e->qp);
    ibv_wr_start(qp);
    qp->wr_id = 2000;
    qp->wr_flags = IBV_SEND_SIGNALED;
    ibv_wr_rdma_read(qp, shared->rkey[next][device], shared->memory[next][device] + SIZE / 2);
    ibv_wr_set_sge(qp, e->mr->lkey, (uintptr_t)e->buffer + SIZE / 2 + BLOCK, BLOCK);
    ibv_wr_set_ud_addr(qp, ahs[next], shared->qpn[next][device], QKEY);
    CHECK(!ibv_wr_complete(qp));
    struct ibv_wc wc;
    CHECK(poll_for(e, &wc, 40) && wc.wr_id == 2000 && wc.status == IBV_WC_SUCCESS);
    for (int i = 0; i < BLOCK; i++) CHECK(e->buffer[SIZE / 2 + BLOCK + i] == byte_of(next, device, i));
}

static void talk(struct end *e, int me, int processes, int device, struct ibv_ah **ahs)
{
    memset(e->buffer, 1 + me * DEVICES + device, LENGTH);
    for (int p = 0; p < processes; p++)
        if (p != me) post(e, 1000, ahs[p], shared->qpn[p][device], 0, 0, 0, LENGTH);
    int seen[PROCESSES] = {0}, left = 2 * (processes - 1);
    struct ibv_wc wc;
    for (; left > 0; left--) {
        CHECK(poll_for(e, &wc, 40));
        CHECK(wc.status == IBV_WC_SUCCESS);
        if (wc.wr_id == 1000) continue;
        unsigned char *m = e->buffer + 4096 + wc.wr_id * LENGTH;
        int from = -1;
        for (int p = 0; p < processes; p++)
            if (p != me && wc.src_qp == (shared->qpn[p][device] & 0xffff)) from = p;
        CHECK(from >= 0 && !seen[from]++);
        CHECK(m[0] == (unsigned char)(1 + from * DEVICES + device) && memcmp(m, m + 1, LENGTH - 1) == 0);
    }
    read_next(e, me, processes, device, ahs);
}

static void one_of_all(int me, int processes, int devices)
{
    static struct end ends[DEVICES];
    static struct ibv_ah *ahs[DEVICES][PROCESSES];
    for (int d = 0; d < devices; d++) {
        publish(&ends[d], me, d);
        for (int i = 0; i < BLOCK; i++) ends[d].buffer[SIZE / 2 + i] = byte_of(me, d, i);
        for (int r = 0; r < processes - 1; r++) post_recv(&ends[d], r, 4096 + r * LENGTH, LENGTH);
    }
    meet(0, processes);
    // A READ's target needs a handle for the requester, as long as there are READs.
    for (int d = 0; d < devices; d++)
        for (int p = 0; p < processes; p++) ahs[d][p] = address(&ends[d], shared->gid[p][d]);
    meet(1, processes);
    for (int d = 0; d < devices; d++) talk(&ends[d], me, processes, d, ahs[d]);
    meet(2, processes);
    for (int d = 0; d < devices; d++) {
        for (int p = 0; p < processes; p++) CHECK(!ibv_destroy_ah(ahs[d][p]));
        close_end(&ends[d]);
    }
}

// A child that ends with its parent, also when that fails while the child is stopped: else it would hold the test's output open.
static pid_t start_child(void)
{
    pid_t parent = getpid(), child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        CHECK(!prctl(PR_SET_PDEATHSIG, SIGKILL));
        CHECK(getppid() == parent);
    }
    return child;
}

static int all(int processes, int devices)
{
    pid_t children[PROCESSES];
    for (int p = 0; p < processes; p++) {
        children[p] = start_child();
        if (children[p] == 0) {
            one_of_all(p, processes, devices);
            _exit(0);
        }
    }
    int bad = 0, status;
    for (int p = 0; p < processes; p++) {
        CHECK(waitpid(children[p], &status, 0) == children[p]);
        bad += status != 0;
    }
    return bad > 0;
}

static int killed(void)
{
    pid_t child = start_child();
    static struct end e;
    if (child == 0) {
        publish(&e, 1, 0);
        post_recv(&e, 1, 4096, LENGTH);
        meet(0, 2);
        for (struct ibv_wc wc;;) ibv_poll_cq(e.cq, 1, &wc);
    }
    publish(&e, 0, 0);
    meet(0, 2);
    struct ibv_ah *ah = address(&e, shared->gid[1][0]);
    struct ibv_wc wc;
    post(&e, 1, ah, shared->qpn[1][0], 0, 0, 0, LENGTH);
    CHECK(poll_for(&e, &wc, 30) && wc.status == IBV_WC_SUCCESS);
    // The next one waits for a receive request that never comes.
    post(&e, 2, ah, shared->qpn[1][0], 0, 0, 0, LENGTH);
    CHECK(!poll_for(&e, &wc, 0.05));
    CHECK(!kill(child, SIGKILL));
    CHECK(poll_for(&e, &wc, 30));
    CHECK(wc.wr_id == 2 && wc.vendor_err == 13 && wc.status != IBV_WC_SUCCESS);
    CHECK(waitpid(child, NULL, 0) == child);
    // And the rest goes on.
    struct ibv_ah *self = address(&e, e.gid);
    post_recv(&e, 3, 4096, LENGTH);
    post(&e, 4, self, e.qp->qp_num, 0, 0, 0, LENGTH);
    for (int i = 0; i < 2; i++) CHECK(poll_for(&e, &wc, 30) && wc.status == IBV_WC_SUCCESS);
    CHECK(!ibv_destroy_ah(ah) && !ibv_destroy_ah(self));
    close_end(&e);
    return 0;
}

static int became(void)
{
    pid_t child = start_child();
    static struct end e;
    if (child == 0) {
        publish(&e, 1, 0);
        meet(0, 2);
        meet(1, 2);
        execl("/bin/sleep", "sleep", "30", NULL);
        _exit(9);
    }
    publish(&e, 0, 0);
    meet(0, 2);
    struct ibv_ah *ah = address(&e, shared->gid[1][0]);
    struct ibv_wc wc;
    post(&e, 1, ah, shared->qpn[1][0], 0, 0, 0, LENGTH);
    CHECK(!poll_for(&e, &wc, 0.05));
    meet(1, 2);
    CHECK(poll_for(&e, &wc, 30) && wc.wr_id == 1 && wc.vendor_err == 13);
    CHECK(!kill(child, SIGKILL) && waitpid(child, NULL, 0) == child);
    CHECK(!ibv_destroy_ah(ah));
    close_end(&e);
    return 0;
}

struct card {
    union ibv_gid gid;
    uint32_t qpn;
};

static FILE *opened(const char *path, const char *end, const char *mode)
{
    char name[4096];
    CHECK(snprintf(name, sizeof name, "%s%s", path, end) < (int)sizeof name);
    return fopen(name, mode);
}

static FILE *await(const char *path, const char *end)
{
    FILE *file;
    for (double limit = seconds() + 40; !(file = opened(path, end, "r")); usleep(1000)) CHECK(seconds() < limit);
    return file;
}

static int serves(const char *path)
{
    static struct end e;
    open_end(&e, 0, -1);
    post_recv(&e, 1, 4096, LENGTH);
    struct card card = {e.gid, e.qp->qp_num};
    FILE *file = opened(path, "", "w");
    CHECK(file && fwrite(&card, sizeof card, 1, file) == 1 && !fclose(file));
    for (;;) pause();
}

// A host of the fabric is gone while nothing is under way to it.
static int asks(const char *path, const char *status)
{
    static struct end e;
    struct card card;
    struct ibv_wc wc;
    uint32_t code = atoi(status);
    open_end(&e, 0, -1);
    FILE *file;
    for (size_t got = 0; got != 1; fclose(file)) got = fread(&card, sizeof card, 1, file = await(path, ""));
    struct ibv_ah *ah = address(&e, card.gid);
    if (code != 15) {
        post(&e, 1, ah, card.qpn, 0, 0, 0, LENGTH);
        CHECK(poll_for(&e, &wc, 30) && wc.wr_id == 1 && wc.status == IBV_WC_SUCCESS);
    }
    char end[16];
    snprintf(end, sizeof end, ".%u", code);
    CHECK((file = opened(path, end, "w")) && !fclose(file));
    CHECK(!fclose(await(path, ".gone")));
    for (int i = 2; i < 5; i++) {
        post(&e, i, ah, card.qpn, 0, 0, 0, LENGTH);
        CHECK(poll_for(&e, &wc, 30) && wc.wr_id == (uint64_t)i && wc.vendor_err == code && wc.status != IBV_WC_SUCCESS);
    }
    CHECK(!ibv_destroy_ah(ah));
    close_end(&e);
    return 0;
}

static void *polls_for_ever(void *end)
{
    struct ibv_wc wc;
    for (;;) ibv_poll_cq(((struct end *)end)->cq, 1, &wc);
    return NULL;
}

static void *sleeps_for_ever(void *end)
{
    struct ibv_cq *cq;
    void *context;
    for (;;)
        if (!ibv_get_cq_event(((struct end *)end)->channel, &cq, &context)) ibv_ack_cq_events(cq, 1);
    return NULL;
}

// Exits in the midst of everything, as if main returned.
static void leave(int peered)
{
    static struct end e, other;
    e.events = other.events = 1;
    publish(&e, 1, 0);
    open_end(&other, 0, -1);
    struct ibv_ah *self = address(&e, e.gid);
    if (peered) meet(0, 2);
    // To itself, some that can't end since nobody receives, and with a peer the same to it.
    for (int i = 0; i < 8; i++) {
        post(&e, 10 + i, self, other.qp->qp_num, 0, 0, 0, LENGTH);
        post(&e, 20 + i, self, e.qp->qp_num, 1, 8192, 0, BLOCK);
    }
    if (peered) {
        struct ibv_ah *ah = address(&e, shared->gid[0][0]);
        for (int i = 0; i < 8; i++) post(&e, 30 + i, ah, shared->qpn[0][0], 0, 0, 0, LENGTH);
    }
    pthread_t thread;
    CHECK(!ibv_req_notify_cq(other.cq, 0));
    CHECK(!pthread_create(&thread, NULL, polls_for_ever, &e));
    CHECK(!pthread_create(&thread, NULL, sleeps_for_ever, &other));
    if (peered) meet(1, 2);
    usleep(20000);
    shared->left = seconds();
    exit(0);
}

static void leaves_once(int peered)
{
    static struct end e;
    memset(&e, 0, sizeof e);
    memset(shared, 0, sizeof *shared);
    pid_t child = start_child();
    if (child == 0) leave(peered);
    struct ibv_ah *ah = NULL;
    if (peered) {
        publish(&e, 0, 0);
        meet(0, 2);
        ah = address(&e, shared->gid[1][0]);
        post(&e, 1, ah, shared->qpn[1][0], 0, 0, 0, LENGTH);
        // On its way, which is not so at once: what starts after the child has left gets another status.
        struct ibv_wc none;
        CHECK(!poll_for(&e, &none, 0.05));
        meet(1, 2);
    }
    int status;
    double limit = seconds() + 20;
    for (pid_t found; (found = waitpid(child, &status, WNOHANG)) != child; usleep(1000)) CHECK(found == 0 && seconds() < limit);
    CHECK(status == 0 && seconds() - shared->left < 5);
    if (!peered) return;
    struct ibv_wc wc;
    CHECK(poll_for(&e, &wc, 30) && wc.wr_id == 1 && wc.vendor_err == 13 && wc.status != IBV_WC_SUCCESS);
    // The device is still there, and says that it has no such queue pair.
    post(&e, 2, ah, shared->qpn[1][0], 0, 0, 0, LENGTH);
    CHECK(poll_for(&e, &wc, 30) && wc.wr_id == 2 && wc.vendor_err == 9);
    CHECK(!ibv_destroy_ah(ah));
    close_end(&e);
}

static int leaves(void)
{
    for (int i = 0; i < 10; i++) {
        leaves_once(0);
        leaves_once(1);
    }
    return 0;
}

static int stopped(void)
{
    pid_t child = start_child();
    static struct end e;
    struct ibv_wc wc;
    if (child == 0) {
        publish(&e, 1, 0);
        // Without any poll at first: softnic's own thread is all that moves.
        meet(0, 2);
        meet(1, 2);
        for (int i = 0; i < 3; i++) post_recv(&e, 1, 4096, LENGTH);
        for (int i = 0; i < 3; i++) CHECK(poll_for(&e, &wc, 30) && wc.status == IBV_WC_SUCCESS);
        meet(2, 2);
        _exit(0);
    }
    publish(&e, 0, 0);
    meet(0, 2);
    struct ibv_ah *ah = address(&e, shared->gid[1][0]);
    post(&e, 1, ah, shared->qpn[1][0], 0, 0, 0, LENGTH);
    CHECK(!poll_for(&e, &wc, 4)); // longer than the time-out
    meet(1, 2);
    CHECK(poll_for(&e, &wc, 30) && wc.wr_id == 1 && wc.status == IBV_WC_SUCCESS);
    int status;
    CHECK(!kill(child, SIGSTOP) && waitpid(child, &status, WUNTRACED) == child && WIFSTOPPED(status));
    post(&e, 2, ah, shared->qpn[1][0], 0, 0, 0, LENGTH);
    CHECK(poll_for(&e, &wc, 30) && wc.wr_id == 2 && wc.vendor_err == 13);
    CHECK(!kill(child, SIGCONT) && waitpid(child, &status, WCONTINUED) == child && WIFCONTINUED(status));
    post(&e, 3, ah, shared->qpn[1][0], 0, 0, 0, LENGTH);
    CHECK(poll_for(&e, &wc, 30) && wc.wr_id == 3 && wc.status == IBV_WC_SUCCESS);
    meet(2, 2);
    CHECK(waitpid(child, &status, 0) == child && status == 0);
    CHECK(!ibv_destroy_ah(ah));
    close_end(&e);
    return 0;
}

// Takes completions until so many sends and receives have come, asleep whenever there is none. Often an event comes with nothing to be
// found; none may be missing.
static void sleep_for(struct end *e, int sends, int receives)
{
    for (int armed = 0; sends > 0 || receives > 0;) {
        struct ibv_wc wc;
        int n = ibv_poll_cq(e->cq, 1, &wc);
        CHECK(n >= 0);
        if (n > 0) {
            CHECK(wc.status == IBV_WC_SUCCESS);
            *(wc.opcode & IBV_WC_RECV ? &receives : &sends) -= 1;
            continue;
        }
        if (!armed) {
            CHECK(!ibv_req_notify_cq(e->cq, 0));
            armed = 1;
            continue;
        }
        struct pollfd fd = {.fd = e->channel->fd, .events = POLLIN};
        CHECK(poll(&fd, 1, 20000) == 1);
        struct ibv_cq *cq;
        void *context;
        CHECK(!ibv_get_cq_event(e->channel, &cq, &context));
        ibv_ack_cq_events(cq, 1);
        armed = 0;
    }
}

static void events_of(int me)
{
    enum { TRIPS = 3000 };
    static struct end e;
    e.events = 1;
    publish(&e, me, 0);
    post_recv(&e, 0, 4096, LENGTH);
    meet(0, 2);
    struct ibv_ah *ah = address(&e, shared->gid[!me][0]);
    double start = seconds();
    for (int i = 0; i < TRIPS; i++) {
        if (me == 1) sleep_for(&e, 0, 1);
        if (me == 1 && i < TRIPS - 1) post_recv(&e, 0, 4096, LENGTH);
        post(&e, 1, ah, shared->qpn[!me][0], 0, 0, 0, LENGTH);
        sleep_for(&e, 1, me == 0);
        if (me == 0 && i < TRIPS - 1) post_recv(&e, 0, 4096, LENGTH);
    }
    double took = seconds() - start, before = processor_time();
    // Both sleep on an armed queue, which must cost nothing.
    CHECK(!ibv_req_notify_cq(e.cq, 0));
    struct ibv_wc wc;
    CHECK(ibv_poll_cq(e.cq, 1, &wc) == 0);
    usleep(1000000);
    double used = processor_time() - before;
    printf("%d trips by events, %.1f us each; %.4f s of processor time in 1 s of rest\n", TRIPS, took / TRIPS * 1e6, used);
    fflush(stdout);
    CHECK(used < 0.03);
    meet(1, 2);
    CHECK(!ibv_destroy_ah(ah));
    close_end(&e);
}

static int events(void)
{
    pid_t child = fork();
    CHECK(child >= 0);
    events_of(child == 0);
    int status = 0;
    if (child == 0) _exit(0);
    CHECK(waitpid(child, &status, 0) == child);
    return status != 0;
}

static int idle(void)
{
    static struct end e;
    open_end(&e, 0, -1);
    post_recv(&e, 1, 4096, LENGTH);
    usleep(300000);
    double before = processor_time();
    usleep(1000000);
    double used = processor_time() - before;
    printf("%.4f s of processor time in 1 s\n", used);
    close_end(&e);
    return used > 0.02;
}

int main(int argc, char **argv)
{
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(shared != MAP_FAILED);
    if (argc == 2 && strcmp(argv[1], "killed") == 0) return killed();
    if (argc == 2 && strcmp(argv[1], "became") == 0) return became();
    if (argc == 3 && strcmp(argv[1], "serves") == 0) return serves(argv[2]);
    if (argc == 4 && strcmp(argv[1], "asks") == 0) return asks(argv[2], argv[3]);
    if (argc == 2 && strcmp(argv[1], "leaves") == 0) return leaves();
    if (argc == 2 && strcmp(argv[1], "stopped") == 0) return stopped();
    if (argc == 2 && strcmp(argv[1], "idle") == 0) return idle();
    if (argc == 2 && strcmp(argv[1], "events") == 0) return events();
    CHECK(argc == 4 && atoi(argv[2]) <= PROCESSES && atoi(argv[3]) <= DEVICES);
    return all(atoi(argv[2]), atoi(argv[3]));
}
