// SPDX-License-Identifier: MIT OR Apache-2.0
// softnic copies under a handler of SIGSEGV and SIGBUS. Memory that is gone fails a request, whatever the program does with signals; and
// the program's own faults are its own.
//
//   softnic run --device efa -- ./signals
#define _GNU_SOURCE
#include "srd.h"
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>

enum { PAGE = 4096, LENGTH = 64 };

static struct end end;
static struct ibv_ah *self;
static sigjmp_buf back;
static volatile sig_atomic_t caught, with_info;

static void jumps(int signal)
{
    caught = signal;
    siglongjmp(back, 1);
}

static void jumps_with_info(int signal, siginfo_t *info, void *context)
{
    with_info = info->si_addr != NULL && context != NULL;
    jumps(signal);
}

static int faults(void)
{
    caught = 0;
    // Where nothing is mapped, and not null, so that there is an address to be told.
    if (sigsetjmp(back, 1) == 0) *(volatile int *)(PAGE + 4) = 1;
    return caught;
}

// --- memory that is gone ---

enum { UNMAPPED, FORBIDDEN, READ_ONLY };

static void take_away(char *p, int how)
{
    if (how == UNMAPPED) CHECK(!munmap(p, PAGE));
    if (how == FORBIDDEN) CHECK(!mprotect(p, PAGE, PROT_NONE));
    if (how == READ_ONLY) CHECK(!mprotect(p, PAGE, PROT_READ));
}

static void request(struct ibv_mr *mr, char *local, struct ibv_mr *remote_mr, char *remote, unsigned status)
{
    struct ibv_qp_ex *qp = ibv_qp_to_qp_ex(end.qp);
    struct ibv_wc wc;
    ibv_wr_start(qp);
    qp->wr_id = 5;
    qp->wr_flags = IBV_SEND_SIGNALED;
    ibv_wr_rdma_read(qp, remote_mr->rkey, (uintptr_t)remote);
    ibv_wr_set_sge(qp, mr->lkey, (uintptr_t)local, LENGTH);
    ibv_wr_set_ud_addr(qp, self, end.qp->qp_num, QKEY);
    CHECK(!ibv_wr_complete(qp));
    CHECK(poll_for(&end, &wc, 10) && wc.wr_id == 5);
    if (wc.vendor_err != status) fprintf(stderr, "status %u instead of %u\n", wc.vendor_err, status);
    CHECK(wc.vendor_err == status);
}

static void stale_memory(void)
{
    char *good = (char *)end.buffer;
    for (int how = UNMAPPED; how <= READ_ONLY; how++) {
        for (int local = 0; local < 2; local++) {
            char *p = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
            CHECK(p != MAP_FAILED);
            struct ibv_mr *mr = ibv_reg_mr(end.pd, p, PAGE, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ);
            CHECK(mr);
            if (local) request(mr, p, end.mr, good, 0);
            take_away(p, how);
            if (local)
                request(mr, p, end.mr, good, 5);
            else
                request(end.mr, good, mr, p, how == READ_ONLY ? 0 : 7);
            CHECK(!ibv_dereg_mr(mr));
            if (how != UNMAPPED) CHECK(!munmap(p, PAGE));
        }
    }
    // A file that has become shorter: SIGBUS.
    int file = memfd_create("short", 0);
    CHECK(file >= 0 && !ftruncate(file, PAGE));
    char *p = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    CHECK(p != MAP_FAILED);
    struct ibv_mr *mr = ibv_reg_mr(end.pd, p, PAGE, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ);
    CHECK(mr && !ftruncate(file, 0));
    request(mr, p, end.mr, good, 5);
    request(end.mr, good, mr, p, 7);
    CHECK(!ibv_dereg_mr(mr) && !munmap(p, PAGE) && !close(file));
    request(end.mr, good, end.mr, good + PAGE, 0);
}

static void *in_a_deaf_thread(void *unused)
{
    sigset_t all;
    sigfillset(&all);
    CHECK(!pthread_sigmask(SIG_SETMASK, &all, NULL));
    stale_memory();
    CHECK(!sigprocmask(SIG_BLOCK, &all, NULL));
    stale_memory();
    sigset_t now;
    CHECK(!pthread_sigmask(SIG_SETMASK, NULL, &now) && sigismember(&now, SIGTERM));
    return unused;
}

// --- the program's own faults ---

static int ending(void (*child)(void))
{
    pid_t pid = fork();
    CHECK(pid >= 0);
    if (pid == 0) {
        child();
        _exit(0);
    }
    int status;
    CHECK(waitpid(pid, &status, 0) == pid);
    return WIFSIGNALED(status) ? WTERMSIG(status) : -WEXITSTATUS(status);
}

static void fault_for_good(void) { *(volatile int *)(PAGE + 4) = 1; }
static void send_for_good(void)
{
    kill(getpid(), SIGSEGV);
    sleep(5);
}
static void ignore_sent(void)
{
    signal(SIGSEGV, SIG_IGN);
    kill(getpid(), SIGSEGV);
    raise(SIGSEGV);
    _exit(3);
}
static void fault_once_only(void)
{
    struct sigaction once = {.sa_handler = jumps, .sa_flags = SA_RESETHAND | SA_NODEFER};
    sigaction(SIGSEGV, &once, NULL);
    if (faults() != SIGSEGV) _exit(4);
    fault_for_good();
}

static void own_faults(void)
{
    struct sigaction mine = {.sa_sigaction = jumps_with_info, .sa_flags = SA_SIGINFO}, before, now;
    sigaddset(&mine.sa_mask, SIGUSR1);
    CHECK(!sigaction(SIGSEGV, &mine, &before));
    CHECK(!sigaction(SIGSEGV, NULL, &now));
    CHECK(now.sa_sigaction == jumps_with_info && (now.sa_flags & SA_SIGINFO) && sigismember(&now.sa_mask, SIGUSR1) == 1);
    CHECK(faults() == SIGSEGV && with_info && faults() == SIGSEGV);
    stale_memory();
    CHECK(faults() == SIGSEGV);
    CHECK((void *)signal(SIGSEGV, jumps) == (void *)jumps_with_info && faults() == SIGSEGV);
    CHECK(signal(SIGSEGV, SIG_DFL) == jumps);
    stale_memory();
    CHECK(!sigaction(SIGSEGV, &before, NULL));
}

// A child that shares our memory resets its handlers, as one does before exec. Ours are not its.
static void vforked(void)
{
    CHECK(signal(SIGSEGV, jumps) != SIG_ERR);
    pid_t pid = vfork();
    CHECK(pid >= 0);
    if (pid == 0) {
        signal(SIGSEGV, SIG_DFL);
        _exit(0);
    }
    CHECK(waitpid(pid, NULL, 0) == pid);
    CHECK(faults() == SIGSEGV);
    stale_memory();
    signal(SIGSEGV, SIG_DFL);
}

struct raw {
    void (*handler)(int);
    unsigned long flags;
    void (*restorer)(void);
    uint64_t mask;
};

// Behind softnic's back. Found out at the latest with the next command.
static void replaced(void)
{
    struct raw none = {.handler = SIG_DFL};
    CHECK(!syscall(SYS_rt_sigaction, SIGSEGV, &none, NULL, 8));
    stale_memory();
    CHECK(ending(fault_for_good) == SIGSEGV);
}

int main(void)
{
    // One that is there before softnic's.
    CHECK(signal(SIGSEGV, jumps) == SIG_DFL);
    open_end(&end, 0, -1);
    self = address(&end, end.gid);
    CHECK(faults() == SIGSEGV);
    stale_memory();
    CHECK(signal(SIGSEGV, SIG_DFL) == jumps);
    own_faults();
    CHECK(ending(fault_for_good) == SIGSEGV);
    CHECK(ending(send_for_good) == SIGSEGV);
    CHECK(ending(ignore_sent) == -3);
    CHECK(ending(fault_once_only) == SIGSEGV);
    vforked();
    pthread_t thread;
    CHECK(!pthread_create(&thread, NULL, in_a_deaf_thread, NULL) && !pthread_join(thread, NULL));
    replaced();
    CHECK(!ibv_destroy_ah(self));
    close_end(&end);
    puts("ok");
    return 0;
}
