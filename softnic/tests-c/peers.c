// SPDX-License-Identifier: MIT OR Apache-2.0
// Many processes and devices, and the death of one.
//
//   peers all PROCESSES DEVICES    each process sends one message on each device to each other process
//   peers idle                     a process with open queues that waits uses next to no processor time
//   peers killed                   a process is killed while another sends to it: status 13, soon
#include "srd.h"
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/wait.h>

enum { PROCESSES = 16, DEVICES = 32, LENGTH = 64 };

static struct shared {
    atomic_int arrived[4];
    union ibv_gid gid[PROCESSES][DEVICES];
    uint32_t qpn[PROCESSES][DEVICES];
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
}

static void talk(struct end *e, int me, int processes, int device)
{
    struct ibv_ah *ahs[PROCESSES];
    for (int p = 0; p < processes; p++) ahs[p] = address(e, shared->gid[p][device]);
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
    for (int p = 0; p < processes; p++) CHECK(!ibv_destroy_ah(ahs[p]));
}

static void one_of_all(int me, int processes, int devices)
{
    static struct end ends[DEVICES];
    for (int d = 0; d < devices; d++) {
        publish(&ends[d], me, d);
        for (int r = 0; r < processes - 1; r++) post_recv(&ends[d], r, 4096 + r * LENGTH, LENGTH);
    }
    meet(0, processes);
    for (int d = 0; d < devices; d++) talk(&ends[d], me, processes, d);
    meet(1, processes);
    for (int d = 0; d < devices; d++) close_end(&ends[d]);
}

static int all(int processes, int devices)
{
    pid_t children[PROCESSES];
    for (int p = 0; p < processes; p++) {
        CHECK((children[p] = fork()) >= 0);
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
    pid_t child = fork();
    CHECK(child >= 0);
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
    CHECK(poll_for(&e, &wc, 10) && wc.status == IBV_WC_SUCCESS);
    // The next one waits for a receive request that never comes.
    post(&e, 2, ah, shared->qpn[1][0], 0, 0, 0, LENGTH);
    CHECK(!poll_for(&e, &wc, 0.05));
    CHECK(!kill(child, SIGKILL));
    CHECK(poll_for(&e, &wc, 5));
    CHECK(wc.wr_id == 2 && wc.vendor_err == 13 && wc.status != IBV_WC_SUCCESS);
    CHECK(waitpid(child, NULL, 0) == child);
    // And the rest goes on.
    struct ibv_ah *self = address(&e, e.gid);
    post_recv(&e, 3, 4096, LENGTH);
    post(&e, 4, self, e.qp->qp_num, 0, 0, 0, LENGTH);
    for (int i = 0; i < 2; i++) CHECK(poll_for(&e, &wc, 5) && wc.status == IBV_WC_SUCCESS);
    CHECK(!ibv_destroy_ah(ah) && !ibv_destroy_ah(self));
    close_end(&e);
    return 0;
}

static int idle(void)
{
    static struct end e;
    open_end(&e, 0, -1);
    post_recv(&e, 1, 4096, LENGTH);
    usleep(300000);
    struct timespec before, after;
    CHECK(!clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &before));
    usleep(1000000);
    CHECK(!clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &after));
    double used = after.tv_sec - before.tv_sec + (after.tv_nsec - before.tv_nsec) / 1e9;
    printf("%.4f s of processor time in 1 s\n", used);
    close_end(&e);
    return used > 0.02;
}

int main(int argc, char **argv)
{
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(shared != MAP_FAILED);
    if (argc == 2 && strcmp(argv[1], "killed") == 0) return killed();
    if (argc == 2 && strcmp(argv[1], "idle") == 0) return idle();
    CHECK(argc == 4 && atoi(argv[2]) <= PROCESSES && atoi(argv[3]) <= DEVICES);
    return all(atoi(argv[2]), atoi(argv[3]));
}
