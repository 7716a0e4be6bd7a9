// SPDX-License-Identifier: MIT OR Apache-2.0
// What happens to devices when the process forks, execs, duplicates or closes descriptors.
//
//   softnic run --device efa -- ./process
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <infiniband/verbs.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#define CHECK(cond)                                                                                                    \
    do {                                                                                                               \
        if (!(cond)) {                                                                                                 \
            fprintf(stderr, "process.c:%d: %s (errno %d)\n", __LINE__, #cond, errno);                                  \
            _exit(1);                                                                                                  \
        }                                                                                                              \
    } while (0)

static struct ibv_context *open_first(void)
{
    struct ibv_device **list = ibv_get_device_list(NULL);
    CHECK(list && list[0]);
    struct ibv_context *ctx = ibv_open_device(list[0]);
    CHECK(ctx);
    ibv_free_device_list(list);
    return ctx;
}

static int works(struct ibv_context *ctx)
{
    struct ibv_pd *pd = ibv_alloc_pd(ctx);
    return pd && ibv_dealloc_pd(pd) == 0;
}

static int run_child(int (*body)(struct ibv_context *), struct ibv_context *ctx, int vforked)
{
    pid_t child = vforked ? vfork() : fork();
    CHECK(child >= 0);
    if (child == 0)
        _exit(body(ctx));
    int status;
    CHECK(waitpid(child, &status, 0) == child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

// The parent's objects are dead here; a new context works; closing the old one touches nothing of the parent's.
static int forked(struct ibv_context *ctx)
{
    struct stat st;
    if (fstat(ctx->cmd_fd, &st) || !S_ISCHR(st.st_mode))
        return 2;
    if (ibv_alloc_pd(ctx) || errno != EIO)
        return 3;
    close(ctx->cmd_fd);
    struct ibv_context *own = open_first();
    return works(own) && ibv_close_device(own) == 0 ? 0 : 4;
}

static int closes_all_and_execs(struct ibv_context *ctx)
{
    close(ctx->cmd_fd);
    close_range(3, ~0U, 0);
    execl("/bin/true", "true", NULL);
    return 5;
}

static void paths(struct ibv_context *ctx)
{
    struct stat st, by_fd;
    CHECK(stat("/dev/infiniband/uverbs0", &st) == 0 && S_ISCHR(st.st_mode));
    CHECK(major(st.st_rdev) == 231 && minor(st.st_rdev) == 192);
    CHECK(fstat(ctx->cmd_fd, &by_fd) == 0 && by_fd.st_rdev == st.st_rdev);
    struct statx sx;
    CHECK(statx(AT_FDCWD, "/dev/infiniband/uverbs0", 0, STATX_ALL, &sx) == 0 && sx.stx_rdev_minor == 192);
    char real[PATH_MAX], link[PATH_MAX];
    CHECK(realpath("/sys//class/infiniband/efa_0/device", real));
    CHECK(strcmp(real, "/sys/devices/pci5af7:00/5af7:00:00.0") == 0);
    CHECK(access("/sys/devices/pci5af7:00/5af7:00:00.0/numa_node", R_OK) == 0);
    CHECK(access("/sys/bus/pci/devices/5af7:00:00.0/vendor", R_OK) == 0);
    CHECK(readlink("/sys/class/infiniband/efa_0", link, sizeof(link)) > 0);
    CHECK(access("/sys/class/infiniband_mad/abi_version", F_OK) == -1 && errno == ENOENT);
    CHECK(open("/dev/infiniband/uverbs9", O_RDWR) == -1 && errno == ENOENT);
    CHECK(open("/dev/infiniband/rdma_cm", O_RDWR) == -1 && errno == ENOENT);
    struct dirent **names;
    CHECK(scandir("/sys/class/infiniband", &names, NULL, NULL) == 3);
    CHECK(socket(AF_NETLINK, SOCK_RAW, 20) == -1 && errno == EPROTONOSUPPORT);
    CHECK(ioctl(ctx->cmd_fd, 0x1234, NULL) == -1 && errno == EOPNOTSUPP);
    CHECK(write(ctx->cmd_fd, "12345678", 8) == -1 && errno == EOPNOTSUPP);
}

static void duplicates(void)
{
    struct ibv_context *ctx = open_first();
    int second = dup(ctx->cmd_fd), third = fcntl(ctx->cmd_fd, F_DUPFD_CLOEXEC, 100), fourth = dup2(ctx->cmd_fd, 90);
    CHECK(second >= 0 && third >= 100 && fourth == 90);
    CHECK(close(second) == 0 && dup2(0, third) == third);
    CHECK(works(ctx));
    // The device lives as long as one descriptor leads to it.
    CHECK(close(ctx->cmd_fd) == 0);
    CHECK(!works(ctx) && dup2(fourth, ctx->cmd_fd) == ctx->cmd_fd && works(ctx));
    CHECK(close(fourth) == 0 && works(ctx) && ibv_close_device(ctx) == 0);
    close(third);
}

static void closing_everything(void)
{
    struct ibv_context *ctx = open_first();
    struct ibv_comp_channel *channel = ibv_create_comp_channel(ctx);
    CHECK(channel);
    // Above what this program has open itself: softnic's own descriptors must survive.
    int top = channel->fd + 1;
    CHECK(close_range(top, ~0U, 0) == 0);
    closefrom(top);
    struct ibv_cq *cq = ibv_create_cq(ctx, 16, NULL, channel, 0);
    CHECK(cq && ibv_req_notify_cq(cq, 0) == 0);
    CHECK(ibv_destroy_cq(cq) == 0 && ibv_destroy_comp_channel(channel) == 0 && ibv_close_device(ctx) == 0);
    // With the program's own closed under its feet the next context must be fine.
    ctx = open_first();
    CHECK(close_range(ctx->cmd_fd, ctx->cmd_fd, 0) == 0);
    CHECK(ibv_alloc_pd(ctx) == NULL);
    ctx = open_first();
    CHECK(works(ctx) && ibv_close_device(ctx) == 0);
}

static int open_descriptors(void)
{
    int n = 0;
    DIR *dir = opendir("/proc/self/fd");
    CHECK(dir);
    while (readdir(dir))
        n++;
    closedir(dir);
    return n;
}

static void leaks_nothing(void)
{
    int before = 0;
    for (int i = 0; i < 40; i++) {
        struct ibv_context *ctx = open_first();
        struct ibv_comp_channel *channel = ibv_create_comp_channel(ctx);
        CHECK(channel && ibv_destroy_comp_channel(channel) == 0 && ibv_close_device(ctx) == 0);
        if (i == 2)
            before = open_descriptors();
    }
    CHECK(open_descriptors() == before);
}

int main(void)
{
    struct ibv_context *ctx = open_first();
    CHECK(works(ctx));
    paths(ctx);
    for (int i = 0; i < 20; i++) {
        CHECK(run_child(forked, ctx, 0) == 0);
        CHECK(works(ctx));
        CHECK(run_child(closes_all_and_execs, ctx, 0) == 0);
        CHECK(works(ctx));
    }
    // vfork: the child runs in our memory, on our tables.
    CHECK(run_child(closes_all_and_execs, ctx, 1) == 0);
    CHECK(works(ctx));
    duplicates();
    closing_everything();
    leaks_nothing();
    CHECK(works(ctx) && ibv_close_device(ctx) == 0);
    puts("ok");
    return 0;
}
