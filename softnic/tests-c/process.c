// SPDX-License-Identifier: MIT OR Apache-2.0
// What happens to devices when the process forks, execs, spawns, duplicates, passes on or closes descriptors.
//
//   softnic run --device efa -- ./process
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <infiniband/verbs.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <time.h>
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
    char text[64] = {0}, gid_text[64];
    int file = open("/sys/class/infiniband/efa_0/device/numa_node", O_RDONLY);
    CHECK(file >= 0 && read(file, text, 63) > 0 && strcmp(text, "0\n") == 0 && close(file) == 0);
    union ibv_gid gid;
    CHECK(ibv_query_gid(ctx, 1, 0, &gid) == 0);
    for (int i = 0, at = 0; i < 16; i++) at += sprintf(gid_text + at, "%02x%s", gid.raw[i], i == 15 ? "\n" : i % 2 ? ":" : "");
    memset(text, 0, sizeof(text));
    file = open("/sys/class/infiniband/efa_0/ports/1/gids/0", O_RDONLY);
    CHECK(file >= 0 && read(file, text, 63) > 0 && strcmp(text, gid_text) == 0 && close(file) == 0);
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

extern char **environ;

// A child made without fork: our objects stay ours, and it opens its own.
static void spawns(struct ibv_context *ctx, const char *self)
{
    char *arguments[] = {(char *)self, (char *)"child", NULL};
    pid_t child;
    int status;
    CHECK(posix_spawn(&child, self, NULL, NULL, arguments, environ) == 0);
    CHECK(waitpid(child, &status, 0) == child && status == 0);
    CHECK(system("test -e /sys/class/infiniband/efa_0/node_guid") == 0);
    CHECK(works(ctx));
}

static struct msghdr with_descriptor(struct iovec *data, char control[CMSG_SPACE(sizeof(int))])
{
    struct msghdr message = {.msg_iov = data, .msg_iovlen = 1, .msg_control = control, .msg_controllen = CMSG_SPACE(sizeof(int))};
    *CMSG_FIRSTHDR(&message) = (struct cmsghdr){.cmsg_len = CMSG_LEN(sizeof(int)), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS};
    return message;
}

static void pass(int link, int fd)
{
    char byte = 0, control[CMSG_SPACE(sizeof(int))] = {0};
    struct iovec data = {&byte, 1};
    struct msghdr message = with_descriptor(&data, control);
    memcpy(CMSG_DATA(CMSG_FIRSTHDR(&message)), &fd, sizeof(int));
    CHECK(sendmsg(link, &message, 0) == 1);
}

static int take(int link)
{
    int fd;
    char byte, control[CMSG_SPACE(sizeof(int))] = {0};
    struct iovec data = {&byte, 1};
    struct msghdr message = with_descriptor(&data, control);
    CHECK(recvmsg(link, &message, 0) == 1);
    memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof(int));
    return fd;
}

// Descriptors that come by a way that nobody saw: the same file, so the same device.
static void passed_on(void)
{
    struct ibv_context *ctx = open_first();
    int ends[2], copy, reopened;
    CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
    pass(ends[0], ctx->cmd_fd);
    copy = take(ends[1]);
    char path[64];
    snprintf(path, sizeof(path), "/proc/self/fd/%d", copy);
    CHECK((reopened = open(path, O_RDWR)) >= 0);
    struct stat st;
    CHECK(fstat(copy, &st) == 0 && S_ISCHR(st.st_mode) && minor(st.st_rdev) == 192);
    int first = ctx->cmd_fd;
    ctx->cmd_fd = reopened;
    CHECK(works(ctx));
    ctx->cmd_fd = copy;
    CHECK(close(reopened) == 0 && close(first) == 0 && works(ctx) && ibv_close_device(ctx) == 0);
    close(ends[0]), close(ends[1]);
}

// The program that `inherits` becomes: the descriptor of before is a device file, but nobody's.
static int after_exec(int fd)
{
    struct stat st;
    CHECK(fstat(fd, &st) == 0 && S_ISCHR(st.st_mode));
    CHECK(ioctl(fd, 0xc0181b01UL, "") == -1 && errno == EIO);
    struct ibv_context *own = open_first();
    CHECK(works(own) && ibv_close_device(own) == 0);
    return 0;
}

static void inherits(const char *self)
{
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        struct ibv_context *ctx = open_first();
        CHECK(fcntl(ctx->cmd_fd, F_SETFD, 0) == 0);
        char number[16];
        snprintf(number, sizeof(number), "%d", ctx->cmd_fd);
        execl(self, self, "inherited", number, NULL);
        _exit(9);
    }
    int status;
    CHECK(waitpid(child, &status, 0) == child && status == 0);
}

// A descriptor that another process opened: a device file, but nobody's, whether that process lives or not.
static void is_nobodys(int fd)
{
    struct stat st;
    CHECK(fstat(fd, &st) == 0 && S_ISCHR(st.st_mode));
    CHECK(ioctl(fd, 0xc0181b01UL, "") == -1 && errno == EIO);
    CHECK(write(fd, "12345678", 8) == -1 && errno == EIO);
    int second = dup(fd);
    CHECK(second >= 0 && !ibv_import_device(second)); // libefa takes none in anyway
    close(second);
}

static void passed_to_another(struct ibv_context *ctx)
{
    int to[2], from[2], status;
    char word;
    CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, to) == 0 && socketpair(AF_UNIX, SOCK_STREAM, 0, from) == 0);
    pid_t taker = fork();
    CHECK(taker >= 0);
    if (taker == 0) {
        alarm(20);
        // Of one that lives, and of one that is killed meanwhile.
        for (int i = 0; i < 2; i++) {
            int fd = take(to[1]);
            is_nobodys(fd);
            struct ibv_context *own = open_first();
            CHECK(works(own) && write(from[1], "a", 1) == 1 && read(from[1], &word, 1) == 1);
            is_nobodys(fd);
            CHECK(close(fd) == 0 && works(own) && ibv_close_device(own) == 0);
        }
        _exit(0);
    }
    close(to[1]), close(from[1]);
    pass(to[0], ctx->cmd_fd);
    CHECK(read(from[0], &word, 1) == 1 && works(ctx) && write(from[0], "b", 1) == 1);
    pid_t giver = fork();
    CHECK(giver >= 0);
    if (giver == 0) {
        struct ibv_context *own = open_first();
        CHECK(works(own));
        pass(to[0], own->cmd_fd);
        for (;;) pause();
    }
    CHECK(read(from[0], &word, 1) == 1 && kill(giver, SIGKILL) == 0 && waitpid(giver, &status, 0) == giver);
    CHECK(write(from[0], "b", 1) == 1);
    CHECK(waitpid(taker, &status, 0) == taker && status == 0);
    CHECK(works(ctx));
    close(to[0]), close(from[0]);
}

static void folders(void)
{
    char cwd[PATH_MAX], before[PATH_MAX];
    struct stat st;
    CHECK(getcwd(before, sizeof(before)));
    CHECK(chdir("/sys/class/infiniband/efa_0/ports/1") == 0 && stat("state", &st) == 0);
    CHECK(getcwd(cwd, sizeof(cwd)) && strcmp(cwd, "/sys/devices/pci5af7:00/5af7:00:00.0/infiniband/efa_0/ports/1") == 0);
    CHECK(realpath("gids", cwd) && strcmp(cwd, "/sys/devices/pci5af7:00/5af7:00:00.0/infiniband/efa_0/ports/1/gids") == 0);
    CHECK(chdir(before) == 0);
    // Ways that begin elsewhere: relative ones, with or without a folder's descriptor, and those with `..` in them.
    static const char type[] = "class/infiniband/efa_0/node_type";
    int root = open("/", O_RDONLY | O_DIRECTORY), sys = open("/sys", O_RDONLY | O_DIRECTORY), file;
    CHECK(root >= 0 && sys >= 0);
    CHECK((file = openat(root, "sys/class/infiniband/efa_0/node_type", O_RDONLY)) >= 0 && close(file) == 0);
    CHECK((file = openat(sys, type, O_RDONLY)) >= 0 && close(file) == 0);
    CHECK(fstatat(root, "dev/infiniband/uverbs0", &st, 0) == 0 && S_ISCHR(st.st_mode));
    CHECK(faccessat(sys, "bus/pci/devices/5af7:00:00.0/vendor", R_OK, 0) == 0);
    CHECK(chdir("/") == 0 && access("sys/class/infiniband/efa_0/node_type", R_OK) == 0);
    CHECK(chdir("sys") == 0 && access(type, R_OK) == 0 && access("./class/../class//infiniband/efa_0", F_OK) == 0);
    CHECK(access("/sys/class/./infiniband/../../class/infiniband/efa_0", F_OK) == 0);
    // Behind a link `..` is the folder above where it leads.
    CHECK(access("/sys/class/infiniband/efa_0/../../infiniband_verbs/uverbs0/dev", R_OK) == 0);
    CHECK(lstat("/sys/class/infiniband/efa_0", &st) == 0 && S_ISLNK(st.st_mode));
    CHECK(lstat("/sys/class/infiniband/efa_0/", &st) == 0 && S_ISDIR(st.st_mode));
    CHECK(access("/sys/class/infiniband/../../etc", F_OK) == -1 && access("/sys/../dev/null", F_OK) == 0);
    CHECK(access("no/infiniband/here", F_OK) == -1 && errno == ENOENT);
    CHECK(close(root) == 0 && close(sys) == 0 && chdir(before) == 0);
    CHECK(getxattr("/sys/class/infiniband", "user.none", cwd, sizeof(cwd)) == -1 && errno != ENOENT);
}

static void quit(int signal)
{
    _exit(signal == SIGALRM ? 7 : 8);
}

// A signal handler may end the process, also in the midst of malloc.
static void quits(void)
{
    for (int i = 0; i < 30; i++) {
        int status = 0;
        pid_t child = fork();
        CHECK(child >= 0);
        if (child == 0) {
            struct ibv_context *own = open_first();
            signal(SIGALRM, quit);
            struct itimerval soon = {.it_value = {.tv_usec = 1000 + i * 100}};
            CHECK(works(own) && setitimer(ITIMER_REAL, &soon, NULL) == 0);
            for (void *volatile piece;; free(piece)) piece = malloc(1 << (10 + rand() % 8));
        }
        time_t end = time(NULL) + 10;
        while (waitpid(child, &status, WNOHANG) == 0 && time(NULL) < end) usleep(1000);
        if (!WIFEXITED(status) || WEXITSTATUS(status) != 7) kill(child, SIGKILL);
        CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 7);
    }
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

int main(int argc, char **argv)
{
    if (argc == 3 && strcmp(argv[1], "inherited") == 0)
        return after_exec(atoi(argv[2]));
    struct ibv_context *ctx = open_first();
    CHECK(works(ctx));
    if (argc == 2 && strcmp(argv[1], "child") == 0)
        return ibv_close_device(ctx);
    paths(ctx);
    folders();
    spawns(ctx, argv[0]);
    passed_on();
    inherits(argv[0]);
    passed_to_another(ctx);
    quits();
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
